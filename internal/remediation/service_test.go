package remediation

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"testing"
	"time"

	"merlon/internal/finding"
	"merlon/internal/tenant"
	"merlon/internal/triage"
)

// A memory is a Store of one job.
type memory struct {
	job   Job
	fail  error
	moved func(*Job)
}

func (m *memory) FindingsByID(_ context.Context, sc tenant.Scope, ids []triage.ID) ([]triage.Finding, error) {
	if sc.Project != "p" || sc.Organization != "o" {
		return nil, errors.New("another tenant's scope")
	}
	var out []triage.Finding
	for _, id := range ids {
		out = append(out, triage.Finding{ID: id, Report: finding.Finding{Analysis: finding.SCA, Severity: finding.High,
			Package: &finding.PackageMatch{
				Package: finding.Package{Ecosystem: "npm", Name: string(id), Version: "1.0.0", Path: "package.json",
					Scope: finding.Direct}, Fixed: []string{"1.0.1"}, Upgrade: "1.0.1",
			}}})
	}
	return out, m.fail
}

func (m *memory) AdmitUpgrade(_ context.Context, _ tenant.Scope, _ Request, j *Job) error {
	if j != nil {
		m.job = *j
	}
	return nil
}

func (m *memory) UpgradeJob(context.Context, tenant.Scope, string) (Job, error) { return m.job, nil }

func (m *memory) OpenUpgradeJobs(context.Context) ([]Job, error) {
	if m.job.State == Queued || m.job.State == Processing {
		return []Job{m.job}, nil
	}
	return nil, nil
}

func (m *memory) ClaimUpgradeJob(_ context.Context, j *Job) (bool, error) {
	if m.job.Attempt != j.Attempt {
		return false, nil
	}
	j.Attempt, j.State = j.Attempt+1, Processing
	m.job = *j
	return true, nil
}

func (m *memory) SaveUpgradeJob(_ context.Context, j *Job) (bool, error) {
	if m.job.Attempt != j.Attempt {
		return false, nil
	}
	m.job = *j
	if m.moved != nil {
		m.moved(&m.job)
	}
	return true, nil
}

func request(n int) Request {
	r := Request{Level: "auto"}
	for i := range n {
		r.Findings = append(r.Findings, triage.ID(fmt.Sprint("p", i)))
	}
	return r
}

func newService(m *memory) *Service {
	return New(m, slog.New(slog.DiscardHandler), func() time.Time {
		return time.Unix(1, 0)
	}, func() string { return "j" })
}

var scope = tenant.System("o", "t", "p")

func TestAtOnce(t *testing.T) {
	a, job, err := newService(&memory{}).Plan(t.Context(), scope, request(MaxSynchronous))
	if err != nil || job != "" || a.Fixable != MaxSynchronous || a.Outcome() != "ok" ||
		len(a.Commands) != MaxSynchronous {
		t.Errorf("got %d fixable, job %q, %v", a.Fixable, job, err)
	}
}

func TestJobGoesOn(t *testing.T) {
	m := &memory{}
	d := newService(m)
	if _, job, err := d.Plan(t.Context(), scope, request(MaxSynchronous+1)); err != nil || job != "j" ||
		m.job.State != Queued {
		t.Fatalf("job %q, %v", job, err)
	}
	m.fail = errors.New("away")
	if err := d.ProcessJobs(t.Context()); err == nil || m.job.State != Processing {
		t.Fatalf("a failed try left it %s", m.job.State)
	}
	m.fail = nil
	for n := 1; m.job.State == Processing; n++ {
		if n > 2*maxIdlePolls {
			t.Fatal("nobody takes up what a process has left")
		}
		if err := d.ProcessJobs(t.Context()); err != nil {
			t.Fatal(err)
		}
		if n < maxIdlePolls && m.job.State != Processing {
			t.Fatalf("it was taken from its process after %d looks", n)
		}
	}
	if m.job.State != Completed || m.job.Attempt != 2 || m.job.Answer.Fixable != MaxSynchronous+1 ||
		m.job.Percent() != 100 {
		t.Errorf("got %+v", m.job)
	}
}

// A job that moves on has a living process.
func TestMovingJobIsLeftAlone(t *testing.T) {
	m := &memory{job: Job{ID: "j", Organization: "o", Project: "p", State: Processing, Attempt: 1,
		Request: request(5000)}}
	d := newService(m)
	for n := range 10 * maxIdlePolls {
		m.job.Processed = n / (maxIdlePolls - 1)
		if err := d.ProcessJobs(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if m.job.Attempt != 1 {
		t.Errorf("it was taken %d times", m.job.Attempt-1)
	}
}

func TestJobThatKillsItsProcesses(t *testing.T) {
	m := &memory{job: Job{ID: "j", Organization: "o", Project: "p", State: Processing, Attempt: maxAttempts,
		Request: request(500)}}
	d := newService(m)
	for range maxIdlePolls + 1 {
		if err := d.ProcessJobs(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if m.job.State != Failed || m.job.Message() == "" || m.job.CompletedAt.IsZero() {
		t.Errorf("got %+v", m.job)
	}
}

// Who has lost a job writes nothing more of it.
func TestLostJob(t *testing.T) {
	m := &memory{job: Job{ID: "j", Organization: "o", Project: "p", State: Queued, Request: request(500)}}
	saves := 0
	m.moved = func(j *Job) {
		saves++
		j.Attempt++ // another process takes it
	}
	if err := newService(m).ProcessJobs(t.Context()); err != nil || saves != 1 || m.job.State != Processing {
		t.Errorf("%d writes, %s, %v", saves, m.job.State, err)
	}
}

// A vulnerability is cleared when all affected versions of its package are.
func TestSeveralVersions(t *testing.T) {
	f := &triage.Finding{ID: "f", Report: finding.Finding{Analysis: finding.SCA, Severity: finding.High,
		Package: &finding.PackageMatch{
			Package: finding.Package{Ecosystem: "npm", Name: "a", Version: "1.0.0", Path: "package-lock.json",
				Scope: finding.Direct}, Fixed: []string{"1.0.1"}, Upgrade: "1.0.1",
			Also: []finding.PackageMatch{{Package: finding.Package{Ecosystem: "npm", Name: "a", Version: "2.0.0",
				Path: "package-lock.json", Scope: finding.Transitive}}},
		}}}
	found := map[triage.ID]*triage.Finding{"f": f}
	r := Request{Findings: []triage.ID{"f"}, Level: "auto"}
	got := planFindings(r, found).Results[0]
	if got.Status != NoFix || got.HasFix || got.Recommended == nil || *got.ErrorMessage != "a 2.0.0: no later "+
		"version that clears it is known" || *got.Command != "npm install a@1.0.1" {
		t.Errorf("got %+v", got)
	}
	f.Report.Package.Also[0].Fixed, f.Report.Package.Also[0].Upgrade = []string{"2.0.1"}, "2.0.1"
	if got = planFindings(r, found).Results[0]; got.Status != DirectUpdate ||
		*got.Command != "npm install a@1.0.1 && npm "+
			"pkg set 'overrides[a@2.0.0]=2.0.1' && npm install" {
		t.Errorf("got %+v", got)
	}
}
