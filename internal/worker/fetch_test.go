package worker

import (
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"merlon/internal/archive"
	"merlon/internal/run"
	"merlon/internal/scan"
)

func TestReasons(t *testing.T) {
	got := skippedReasons(archive.Summary{Skipped: []archive.Skip{{Path: "a", Reason: "a device"}}, More: 4})
	want := []scan.Reason{
		{Code: "not-extracted", Message: "a device", Path: "a"},
		{Code: "not-extracted", Message: "4 further entries of the archive were not unpacked"},
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, want %+v", got, want)
	}
}

func TestLanguages(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"z.go", "a/b.py", "a/c.go", "data.json", "README.md", ".git/hooks/x.sh"} {
		path := filepath.Join(dir, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, nil, 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	if got, err := listLanguages(dir); err != nil || !slices.Equal(got, []string{"go", "python"}) {
		t.Errorf("got %v, %v", got, err)
	}
}

func TestConclude(t *testing.T) {
	st := func(states ...scan.State) *run.Run {
		r := &run.Run{State: run.Running}
		for _, s := range states {
			r.Outcome.Statuses = append(r.Outcome.Statuses, scan.Status{State: s})
		}
		return r
	}
	for _, tt := range []struct {
		r    *run.Run
		want run.State
		fail bool
	}{
		{st(scan.Succeeded, scan.Succeeded), run.Completed, false},
		{st(scan.Succeeded, scan.Failed), run.CompletedDegraded, false},
		{st(scan.Degraded), run.CompletedDegraded, false},
		{st(scan.Failed, scan.Failed), run.Running, true},
		{st(), run.Running, true},
	} {
		err := setOutcome(tt.r)
		var f *run.Failure
		if tt.r.State != tt.want || errors.As(err, &f) != tt.fail {
			t.Errorf("%v: got %s, %v", tt.r.Outcome.Statuses, tt.r.State, err)
		}
	}
}

func TestStatusKeepsItsBound(t *testing.T) {
	var got scan.Status
	rec := &recorder{Handler: keep{&scan.Summary{}, &got}, skipped: []scan.Reason{{Path: "x"}, {Path: "y"}}}
	if err := rec.Status(&scan.Status{State: scan.Failed,
		Reasons: make([]scan.Reason, scan.MaxReasons-1)}); err != nil {
		t.Fatal(err)
	}
	if len(got.Reasons) != scan.MaxReasons || got.Omitted != 1 || got.State != scan.Failed {
		t.Errorf("%d reasons, %d omitted, state %s", len(got.Reasons), got.Omitted, got.State)
	}
}

type keep struct {
	scan.Handler
	got *scan.Status
}

func (k keep) Status(s *scan.Status) error { *k.got = *s; return nil }

func TestBounded(t *testing.T) {
	var b strings.Builder
	w := &bounded{w: &b, left: 5}
	if _, err := w.Write([]byte("12345")); err != nil {
		t.Fatal(err)
	}
	if _, err := w.Write([]byte("6")); !errors.Is(err, errTooMuch) || !errors.Is(w.err, errTooMuch) ||
		b.String() != "12345" {
		t.Errorf("got %v, wrote %q", err, b.String())
	}
}

func TestLastWords(t *testing.T) {
	var c complaint
	for range 100 {
		if n, err := c.Write([]byte(strings.Repeat("a\xff", 500))); n != 1000 || err != nil {
			t.Fatal(n, err)
		}
	}
	if len(c.String()) > 3*maxComplaint {
		t.Errorf("kept %d bytes", len(c.String()))
	}
	if got := (ended{complaints: "\n\n  panic: x  \nmore"}).lastWords(); got != " (panic: x)" {
		t.Errorf("got %q", got)
	}
}
