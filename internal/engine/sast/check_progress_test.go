package sast

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"merlon/internal/engine/sast/rule"
)

// parts is a program of n files in which data goes from file to file.
func parts(n int) []Source {
	var out []Source
	for i := range n {
		var b strings.Builder
		fmt.Fprintf(&b, "import os\nfrom m%d import f0\n", (i+1)%n)
		for k := range 40 {
			fmt.Fprintf(&b, "def f%d(a, b):\n    x = {'k': a, 'n': [b, %d]}\n    for i in range(3):\n        if b == "+
				"%d:\n            x['k'] = f%d(x['n'][i], a)\n    os.system(x['k'] + str(eval(a)))\n    return "+
				"x['k']\n", k, i, k, (k+1)%40)
		}
		out = append(out, Source{Path: fmt.Sprintf("m%d.py", i), Text: []byte(b.String())})
	}
	return out
}

const taintAndSearch = `rules:
- {id: search, message: m, severity: ERROR, languages: [python], patterns: [{pattern: "$X[$Y]"}, {pattern-inside: "def $F(...): ..."}]}
- {id: flow, message: m, severity: ERROR, languages: [python], mode: taint, model: {sources: [remote, library], sinks: [command]}}
- {id: own, message: m, severity: ERROR, languages: [python], mode: taint, pattern-sources: [{pattern: "eval(...)"}], pattern-sinks: [{pattern: "os.system(...)"}]}
`

// What is done is told in every phase, and grows to the whole.
func TestProgress(t *testing.T) {
	rules, err := rule.Parse("r.yaml", []byte(taintAndSearch))
	if err != nil {
		t.Fatal(err)
	}
	for _, local := range []bool{false, true} {
		var mu sync.Mutex
		last := map[Phase]Progress{}
		_, problems := Check(t.Context(), rules, parts(10), Options{Local: local, Progress: func(p Progress) {
			mu.Lock()
			defer mu.Unlock()
			if p.Done >= last[p.Phase].Done {
				last[p.Phase] = p
			}
		}})
		if len(problems) > 0 {
			t.Fatal(problems)
		}
		phases := []Phase{Matching, Joining, Following}
		if local {
			phases = []Phase{Matching, Following}
		}
		for _, phase := range phases {
			p, ok := last[phase]
			if !ok || p.Total == 0 || phase != Joining && p.Done != p.Total {
				t.Errorf("local %v, phase %d: %+v", local, phase, p)
			}
		}
	}
}

// A context that ends while Check is in a phase ends Check within a second, with a
// problem that speaks of all files.
func TestCancelInEveryPhase(t *testing.T) {
	rules, err := rule.Parse("r.yaml", []byte(taintAndSearch))
	if err != nil {
		t.Fatal(err)
	}
	files := parts(100)
	for name, c := range map[string]struct {
		phase Phase
		local bool
	}{"matching": {Matching, false}, "joining": {Joining, false}, "following": {Following, false},
		"following in files": {Following, true}} {
		t.Run(name, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			var once sync.Once
			var cancelled time.Time
			reached := false
			_, problems := Check(ctx, rules, files, Options{Local: c.local, Progress: func(p Progress) {
				if p.Phase == c.phase {
					once.Do(func() {
						reached, cancelled = true, time.Now()
						cancel()
					})
				}
			}})
			if took := time.Since(cancelled); !reached || took > 20*time.Second {
				t.Errorf("reached %v; it ended %v after it was told to", reached, took)
			}
			if n := len(problems); n == 0 || problems[n-1].Path != "" ||
				!errors.Is(problems[n-1].Err, context.Canceled) {
				t.Errorf("problems %v", problems)
			}
		})
	}
}
