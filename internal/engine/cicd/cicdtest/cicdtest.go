// Package cicdtest helps the tests of the analyzers of pipelines: it runs one of them on
// texts, and writes what it finds as lines that a table can hold.
package cicdtest

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"merlon/internal/finding"
	"merlon/internal/scan"
)

// A Case is a file with the findings that are expected in it, in the order of their
// lines, each as "line rule severity confidence" without the folder of the rule; "-" is
// what the rule declares.
type Case struct {
	Name string
	Text string
	Want []string
}

// Finds is a case with the findings that are expected.
func Finds(name, text string, want ...string) Case { return Case{name, text, want} }

// CheckFiles runs the analyzer on the text of every case, as a file with the path.
func CheckFiles(t *testing.T, a *scan.Analyzer, path string, cases []Case) {
	t.Helper()
	for _, c := range cases {
		t.Run(c.Name, func(t *testing.T) {
			found, reasons := Analyze(t, a, map[string]string{path: c.Text})
			if len(reasons) > 0 {
				t.Errorf("degraded: %q", reasons)
			}
			if !slices.Equal(found, c.Want) {
				t.Errorf("found\n\t%s\nwant\n\t%s", strings.Join(found, "\n\t"), strings.Join(c.Want, "\n\t"))
			}
		})
	}
}

// Analyze runs the analyzer on a tree, and returns its findings, sorted by file and line,
// and what degraded it as "code path: message". Where the tree has several files, a
// finding begins with the path of its own.
func Analyze(t *testing.T, a *scan.Analyzer, files map[string]string) (found, reasons []string) {
	t.Helper()
	var all []located
	reporter := scan.Reporter{
		Report: func(r *finding.Rule, f finding.Finding) {
			if f.Message == "" || f.Location.StartLine < 1 {
				t.Errorf("finding %+v", f)
			}
			all = append(all, located{f.Location, path.Base(r.ID), f})
		},
		Degrade: func(r scan.Reason) { reasons = append(reasons, r.Code+" "+r.Path+": "+r.Message) },
	}
	if err := run(a, files, reporter); err != nil {
		t.Fatal(err)
	}
	slices.SortStableFunc(all, func(x, y located) int {
		return cmp.Or(cmp.Compare(x.at.Path, y.at.Path), cmp.Compare(x.at.StartLine, y.at.StartLine))
	})
	for _, l := range all {
		line := fmt.Sprintf("%d %s %s %s", l.at.StartLine, l.rule, cmp.Or(string(l.finding.Severity), "-"),
			cmp.Or(string(l.finding.Confidence), "-"))
		if len(files) > 1 {
			line = l.at.Path + ":" + line
		}
		found = append(found, line)
	}
	return found, reasons
}

// located is a finding with its place and the name of its rule.
type located struct {
	at      finding.Location
	rule    string
	finding finding.Finding
}

// run gives the analyzer its files, one by one or as a tree.
func run(a *scan.Analyzer, files map[string]string, reporter scan.Reporter) error {
	names := slices.Sorted(maps.Keys(files))
	if a.Project != nil {
		tree := fstest.MapFS{}
		pass := &scan.ProjectPass{Context: context.Background(), FS: tree, Reporter: reporter}
		for _, name := range names {
			tree[name] = &fstest.MapFile{Data: []byte(files[name])}
			pass.Files = append(pass.Files, scan.File{Path: name, Size: int64(len(files[name]))})
		}
		return a.Project(pass)
	}
	for _, name := range names {
		if !a.Match(name) {
			continue
		}
		pass := &scan.FilePass{Context: context.Background(), Path: name, Size: int64(len(files[name])),
			ReadFile: func() ([]byte, error) { return []byte(files[name]), nil }, Reporter: reporter}
		if err := a.File(pass); err != nil {
			return err
		}
	}
	return nil
}
