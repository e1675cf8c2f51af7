package store_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"merlon/internal/errs"
	"merlon/internal/remediation"
	"merlon/internal/triage"
)

// A job belongs to one process at a time: who has lost it writes nothing.
func TestUpgradeJobs(t *testing.T) {
	eachRuns(t, func(t *testing.T, db runs) {
		ctx, sc, foreign := t.Context(), db.organization(1), db.organization(1)
		r := remediation.Request{Findings: []triage.ID{"a", "b"}, Level: "auto"}
		job := &remediation.Job{ID: "j", Organization: sc.Organization, Project: sc.Project, Request: r,
			State: remediation.Queued, CreatedAt: db.clock.Now().Truncate(time.Millisecond)}
		if err := db.AdmitUpgrade(ctx, sc, r, job); err != nil {
			t.Fatal(err)
		}
		read, err := db.UpgradeJob(ctx, sc, "j")
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(*job, read); diff != "" {
			t.Errorf("read (-want +got):\n%s", diff)
		}
		if _, err := db.UpgradeJob(ctx, foreign, "j"); !errs.Is(err, errs.NotFound) {
			t.Errorf("another tenant's job: %v", err)
		}
		first, second := read, read
		for _, tt := range []struct {
			j    *remediation.Job
			want bool
		}{{&first, true}, {&second, false}} {
			if taken, err := db.ClaimUpgradeJob(ctx, tt.j); taken != tt.want || err != nil {
				t.Errorf("taken %v, %v, want %v", taken, err, tt.want)
			}
		}
		second = first
		if taken, err := db.ClaimUpgradeJob(ctx, &second); !taken || err != nil ||
			second.Attempt != 2 { // the first has died
			t.Fatalf("taken %v, attempt %d, %v", taken, second.Attempt, err)
		}
		second.Answer, second.State, second.Processed = remediation.Answer{Total: 2, Fixable: 1}, remediation.Completed, 2
		first.Processed = 1
		for _, tt := range []struct {
			j    *remediation.Job
			want bool
		}{{&first, false}, {&second, true}, {&second, false}} {
			if mine, err := db.SaveUpgradeJob(ctx, tt.j); mine != tt.want || err != nil {
				t.Errorf("saved %v, %v, want %v", mine, err, tt.want)
			}
		}
		if read, err = db.UpgradeJob(ctx, sc, "j"); err != nil || read.State != remediation.Completed ||
			read.Answer.Fixable != 1 || read.Processed != 2 {
			t.Errorf("got %+v, %v", read, err)
		}
		if open, err := db.OpenUpgradeJobs(ctx); err != nil || len(open) != 0 {
			t.Errorf("still open: %v, %v", open, err)
		}
	})
}

// The oldest jobs of a project go.
func TestOldUpgradeJobsGo(t *testing.T) {
	eachRuns(t, func(t *testing.T, db runs) {
		ctx, sc := t.Context(), db.organization(1)
		for i := range 60 {
			db.clock.Advance(time.Second)
			j := &remediation.Job{ID: fmt.Sprint(i), Organization: sc.Organization, Project: sc.Project,
				State: remediation.Queued, CreatedAt: db.clock.Now()}
			if err := db.AdmitUpgrade(ctx, sc, remediation.Request{}, j); err != nil {
				t.Fatal(err)
			}
		}
		open, err := db.OpenUpgradeJobs(ctx)
		if err != nil || len(open) != 50 || open[0].ID != "10" {
			t.Errorf("%d jobs, the oldest %v, %v", len(open), open, err)
		}
	})
}
