package scan_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"merlon/internal/finding"
	"merlon/internal/scan"
)

// watch lets a project analyzer go on when a step has been shown.
type watch struct {
	record
	mu    sync.Mutex
	steps []string
	seen  chan string
}

func (w *watch) Progress(m *scan.Progress) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.steps = append(w.steps, m.Step)
	w.seen <- m.Step
	return w.record.Progress(m)
}

// await waits until the step is shown.
func (w *watch) await(step string) error {
	for deadline := time.After(time.Minute); ; {
		select {
		case got := <-w.seen:
			if got == step {
				return nil
			}
		case <-deadline:
			return errors.New("not shown: " + step)
		}
	}
}

// What a project analyzer tells is shown while it works, and never falls.
func TestProgressOfProject(t *testing.T) {
	w := &watch{seen: make(chan string, 200)}
	slow := &scan.Analyzer{ID: "sast/slow", Version: 1, Analysis: finding.SAST, Doc: "# Slow\n\nSlow.",
		Project: func(p *scan.ProjectPass) error {
			if err := w.await("analyzed 2 of 2 files"); err != nil {
				return err
			}
			for i, step := range []string{"one", "two"} {
				p.Progress(40+40*i, step)
				p.Progress(7, "back")
				if err := w.await("sast/slow: " + step); err != nil {
					return err
				}
			}
			return nil
		}}
	dir := write(t, map[string]string{"a.txt": "x", "b.txt": strings.Repeat("x", 1000)})
	if err := scan.Run(context.Background(), scan.Options{Root: dir, Analyzers: []*scan.Analyzer{slow}},
		w); err != nil {
		t.Fatal(err)
	}
	if s := w.Statuses[0]; s.State != scan.Succeeded {
		t.Errorf("status %+v", s)
	}
	if !slices.IsSorted(w.percent) || w.percent[len(w.percent)-1] != 100 {
		t.Errorf("progress %v", w.percent)
	}
	if slices.Contains(w.steps, "sast/slow: back") {
		t.Errorf("steps %q", w.steps)
	}
}
