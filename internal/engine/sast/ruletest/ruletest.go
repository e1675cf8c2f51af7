// Package ruletest runs the tests that authors of rules write: files of code beside
// the rules, with comments that say what is found on the next line
// (https://semgrep.dev/docs/writing-rules/testing-rules).
//
//	# ruleid: my-rule       found
//	# ok: my-rule           not found
//	# todoruleid: my-rule   ought to be found, and is not yet
//	# todook: my-rule       is found, and ought not to be
//
// The tests of x.yaml are x.py, x.go, x.test.yaml and so on in its folder; those of
// rule-x.yaml are also test-x.py.
package ruletest

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"sync"

	"merlon/internal/engine/sast"
	"merlon/internal/engine/sast/lang/all"
	"merlon/internal/engine/sast/rule"
)

// A Case is one rule on one file of code that speaks of it. Lines are counted from
// 1 and sorted.
type Case struct {
	Rules  string `json:"rules"` // path of the rule file, below the tested folder
	ID     string `json:"id"`
	Target string `json:"target"`         // path of the code
	Expect []int  `json:"expect"`         // where the rule is to be found
	Got    []int  `json:"got"`            // where it was found
	Todo   []int  `json:"todo,omitempty"` // lines that do not count
	Pass   bool   `json:"pass"`
	Error  string `json:"error,omitempty"` // what kept the rule from being run
}

// A Report is what a run of tests says.
type Report struct {
	Cases  []Case   `json:"cases"`
	Passed int      `json:"passed"`
	Failed int      `json:"failed"`
	Faults []string `json:"faults"` // of the rule files themselves
}

// Run runs the tests of a rule file, or of all rule files in a folder and below.
func Run(ctx context.Context, path string, parser rule.Parser) (*Report, error) {
	files, err := rule.Files(path)
	if err != nil {
		return nil, err
	}
	root := path
	if len(files) == 1 && files[0] == path {
		root = filepath.Dir(path)
	}
	results := make([]result, len(files))
	next := make(chan int)
	var wg sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), len(files)) {
		wg.Go(func() {
			for i := range next {
				results[i] = testFile(ctx, root, files[i], parser)
			}
		})
	}
	for i := range files {
		next <- i
	}
	close(next)
	wg.Wait()
	out := &Report{Cases: []Case{}, Faults: []string{}}
	for _, r := range results {
		if r.err != nil {
			return nil, r.err
		}
		out.Cases = append(out.Cases, r.cases...)
		out.Faults = append(out.Faults, r.faults...)
	}
	for _, c := range out.Cases {
		if c.Pass {
			out.Passed++
		} else {
			out.Failed++
		}
	}
	return out, ctx.Err()
}

// A result is what the tests of one rule file said.
type result struct {
	cases  []Case
	faults []string
	err    error
}

// testFile runs the tests of one rule file.
func testFile(ctx context.Context, root, path string, parser rule.Parser) (out result) {
	rules, err := parser.Load(path)
	for _, fault := range strings.Split(fmt.Sprint(err), "\n") {
		if err != nil {
			out.faults = append(out.faults, fault)
		}
	}
	targets, err := findTargets(path)
	if err != nil {
		return result{err: err}
	}
	for _, target := range targets {
		text, err := os.ReadFile(target)
		if err != nil {
			return result{err: fmt.Errorf("read the test: %w", err)}
		}
		notes := readAnnotations(string(text))
		for _, r := range rules {
			if ctx.Err() != nil {
				return out
			}
			note := noteOf(notes, r.ID, len(rules) == 1)
			if note == nil {
				continue
			}
			c := Case{Rules: relativePath(root, path), ID: r.ID, Target: relativePath(root, target),
				Expect: sortUnique(note.found),
				Todo:   note.todo}
			if c.Got, err = matchLines(ctx, r, target, text); err != nil {
				c.Error = err.Error()
			}
			c.Pass = err == nil && slices.Equal(removeLines(c.Got, note.todo), removeLines(c.Expect, note.todo))
			out.cases = append(out.cases, c)
		}
	}
	return out
}

// relativePath returns the path below the root, with slashes, as rules name files.
func relativePath(root, path string) string {
	if rel, err := filepath.Rel(root, path); err == nil {
		path = rel
	}
	return filepath.ToSlash(path)
}

// findTargets returns the files of code that belong to a rule file.
func findTargets(path string) ([]string, error) {
	dir, name := filepath.Split(path)
	if dir == "" {
		dir = "."
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, fmt.Errorf("look for tests: %w", err)
	}
	stem := strings.TrimSuffix(name, filepath.Ext(name))
	var out []string
	for _, e := range entries {
		if e.Type().IsRegular() && e.Name() != name && isTarget(e.Name(), stem) {
			out = append(out, filepath.Join(dir, e.Name()))
		}
	}
	return out, nil
}

// isTarget reports whether a file is code that a rule file is tested with, by the names
// that Semgrep uses: rule-a.yaml and test-a.py, or a.yaml and a.py. Fixed files are what a
// fix makes.
func isTarget(name, stem string) bool {
	if rest, ok := strings.CutPrefix(stem, "rule-"); ok && strings.HasPrefix(name, "test-"+rest+".") {
		return true
	}
	if !strings.HasPrefix(name, stem+".") || strings.Contains(name, ".fixed.") {
		return false
	}
	ext := filepath.Ext(name)
	return ext != ".yaml" && ext != ".yml" || strings.Contains(name, ".test.")
}

// A note is the lines that a file speaks of for one id.
type note struct{ found, todo []int }

// comment begins an annotation, in whatever language.
const comment = `(?:#|//|<!--|\(\*|/\*|--|;+|%|\{/\*|\{#|'|REM )`

var (
	annotation = regexp.MustCompile(comment +
		`\s*(todoruleid|todook|proruleid|prook|deepruleid|deepok|ruleid|rule-id|ok)\s*:\s*(.+)`)
	closing   = regexp.MustCompile(`(-->|\*\)|\*/|#\}).*$`)
	separator = regexp.MustCompile(`[, ]+`)
)

// readAnnotations returns the notes of a file by id. An id counts from its last dot.
func readAnnotations(text string) map[string]*note {
	out := map[string]*note{}
	for i, line := range strings.Split(text, "\n") {
		m := annotation.FindStringSubmatch(line)
		if m == nil {
			continue
		}
		for _, id := range separator.Split(strings.TrimSpace(closing.ReplaceAllString(m[2], "")), -1) {
			id = id[strings.LastIndexByte(id, '.')+1:]
			if id == "" {
				continue
			}
			n := out[id]
			if n == nil {
				n = &note{}
				out[id] = n
			}
			switch next := i + 2; m[1] {
			case "ruleid", "rule-id":
				n.found = append(n.found, next)
			case "todoruleid", "todook":
				n.todo = append(n.todo, next)
			}
		}
	}
	return out
}

// noteOf returns what a file says of a rule, nil for nothing. A file that speaks of
// one id means the one rule that there is.
func noteOf(notes map[string]*note, id string, only bool) *note {
	short := id[strings.LastIndexAny(id, "./")+1:]
	for _, name := range []string{short, id} {
		if n := notes[name]; n != nil {
			return n
		}
	}
	if only && len(notes) == 1 {
		for _, n := range notes {
			return n
		}
	}
	return nil
}

// matchLines returns the lines on which a rule is found in a text. The rule's own paths
// do not count: a test is about its patterns.
func matchLines(ctx context.Context, r *rule.Rule, path string, text []byte) ([]int, error) {
	r, as := inLanguage(r, path)
	r.Include, r.Exclude = nil, nil
	source := sast.Source{Path: path, Text: text, Language: as}
	matches, problems := sast.Check(ctx, []*rule.Rule{r}, []sast.Source{source}, sast.Options{Workers: 1})
	lines := []int{}
	for _, m := range matches {
		lines = append(lines, m.Start.Line)
	}
	var errs []error
	for _, p := range problems {
		if p.Line == 0 { // tests hold fragments: a part that is not valid fails none
			errs = append(errs, p.Err)
		}
	}
	return sortUnique(lines), errors.Join(errs...)
}

// inLanguage returns the rule for one of its languages alone, and what the code is
// read as: "" where its name says that it is in a language of the rule, else the first
// language of the rule that the build knows.
func inLanguage(r *rule.Rule, path string) (*rule.Rule, string) {
	one := *r
	one.Include, one.Exclude = nil, nil
	if l := all.ForFile(path); l != nil {
		if i := slices.IndexFunc(r.Languages, l.Is); i >= 0 {
			one.Languages = r.Languages[i : i+1]
			return &one, ""
		}
	}
	for i, name := range r.Languages {
		if l := all.ByName(name); l != nil {
			one.Languages = r.Languages[i : i+1]
			return &one, l.Name
		}
	}
	return &one, ""
}

// sortUnique returns each line once.
func sortUnique(lines []int) []int {
	out := append([]int{}, lines...)
	slices.Sort(out)
	return slices.Compact(out)
}

// removeLines returns the lines without those of drop.
func removeLines(lines, drop []int) []int {
	return slices.DeleteFunc(slices.Clone(lines), func(l int) bool { return slices.Contains(drop, l) })
}
