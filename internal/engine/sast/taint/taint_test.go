package taint_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"sort"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"merlon/internal/engine/sast/callgraph"
	"merlon/internal/engine/sast/cst"
	"merlon/internal/engine/sast/frameworks"
	"merlon/internal/engine/sast/ir"
	"merlon/internal/engine/sast/lang/all"
	"merlon/internal/engine/sast/model"
	"merlon/internal/engine/sast/rule"
	"merlon/internal/engine/sast/scope"
	"merlon/internal/engine/sast/taint"
	"merlon/internal/engine/sast/taint/findings"
	"merlon/internal/engine/sast/taint/rulematch"
	"merlon/internal/engine/sast/taint/scheduler"
)

// load lowers every file below the folder that has a language.
func load(t *testing.T, folder string) []*ir.File {
	t.Helper()
	models, err := frameworks.Models()
	if err != nil {
		t.Fatal(err)
	}
	var files []*ir.File
	err = filepath.WalkDir(folder, func(path string, d os.DirEntry, err error) error {
		l := all.ForFile(path)
		if err != nil || d.IsDir() || l == nil {
			return err
		}
		src, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		name, _ := filepath.Rel(folder, path)
		f, err := l.Parse(filepath.ToSlash(name), src, cst.Limits{})
		if err != nil {
			return err
		}
		files = append(files, ir.Lower(scope.Analyze(f, l, model.NewSet(l.Name, models).Known), l, ir.Limits{}))
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// rules returns a rule for each kind of sinks.
func rules(t *testing.T) []*rulematch.Rule {
	models, err := frameworks.Models()
	if err != nil {
		t.Fatal(err)
	}
	kinds, err := model.Kinds(models)
	if err != nil {
		t.Fatal(err)
	}
	var list []*rulematch.Rule
	for _, k := range kinds {
		list = append(list, &rulematch.Rule{Rule: &rule.Rule{ID: k,
			Taint: &rule.Taint{Model: &rule.Model{Sources: []string{"remote", "argument", model.Library},
				Sinks: []string{k}}}}})
	}
	return list
}

func analyze(t *testing.T, files []*ir.File, workers int) []*findings.Finding {
	t.Helper()
	models, err := frameworks.Models()
	if err != nil {
		t.Fatal(err)
	}
	graph, err := callgraph.Build(context.Background(), files, callgraph.Options{})
	if err != nil {
		t.Fatal(err)
	}
	found, problems, err := taint.Analyze(context.Background(), graph, models, rules(t),
		taint.Options{Workers: workers})
	if err != nil || len(problems) > 0 {
		t.Fatalf("problems %v, error %v", problems, err)
	}
	return found
}

var want = regexp.MustCompile(`(?://|#) want ([a-z ]+)`)

// TestFindings analyses each folder of testdata/<language>. A comment "want sql" says
// that data reaches a sink of the kind on its line; every other line is silent.
func TestFindings(t *testing.T) {
	folders, err := filepath.Glob("testdata/[gjp]*/*")
	if err != nil || len(folders) == 0 {
		t.Fatal(folders, err)
	}
	for _, folder := range folders {
		t.Run(strings.TrimPrefix(filepath.ToSlash(folder), "testdata/"), func(t *testing.T) {
			files := load(t, folder)
			var wanted []string
			for _, f := range files {
				for i, line := range strings.Split(f.Tree.Source, "\n") {
					if m := want.FindStringSubmatch(line); m != nil {
						for _, kind := range strings.Fields(m[1]) {
							wanted = append(wanted, fmt.Sprintf("%s:%d %s", f.Tree.Path, i+1, kind))
						}
					}
				}
			}
			var got []string
			for _, f := range analyze(t, files, 1) {
				got = append(got, f.Sink().String()+" "+f.Kind)
			}
			sort.Strings(wanted)
			sort.Strings(got)
			got = slices.Compact(got)
			if diff := cmp.Diff(wanted, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// TestPathsLeadThroughFiles checks that a path begins at the source, ends at the
// sink and passes the call between.
func TestPathsLeadThroughFiles(t *testing.T) {
	for _, f := range analyze(t, load(t, "testdata/java/files"), 1) {
		var path []string
		for _, p := range f.Path {
			path = append(path, p.String())
		}
		got := slices.Compact(path)
		want := []string{"Handler.java:8", "Handler.java:9", "Store.java:7"}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Error(diff)
		}
	}
}

// TestResultsDoNotDependOnOrder analyses all files in several orders, with several
// workers.
func TestResultsDoNotDependOnOrder(t *testing.T) {
	folders, _ := filepath.Glob("testdata/[gjp]*/*")
	text := func(found []*findings.Finding) string {
		var b strings.Builder
		for _, f := range found {
			fmt.Fprintln(&b, f.Rule.Rule.ID, f.Path)
		}
		return b.String()
	}
	r := rand.New(rand.NewPCG(1, 2))
	for _, folder := range folders {
		first := text(analyze(t, load(t, folder), 1))
		for workers := 1; workers <= 3; workers++ {
			files := load(t, folder)
			r.Shuffle(len(files), func(i, j int) { files[i], files[j] = files[j], files[i] })
			if diff := cmp.Diff(first, text(analyze(t, files, workers))); diff != "" {
				t.Errorf("%s with %d workers: %s", folder, workers, diff)
			}
		}
	}
}

// TestCutsDoNotDependOnOrder analyses all files with budgets that are too small, in several
// orders, with several workers: the same functions are cut, and the same is found.
func TestCutsDoNotDependOnOrder(t *testing.T) {
	models, err := frameworks.Models()
	if err != nil {
		t.Fatal(err)
	}
	all, given := rules(t), 0
	result := func(files []*ir.File, workers int, task int64) string {
		graph, err := callgraph.Build(t.Context(), files, callgraph.Options{})
		if err != nil {
			t.Fatal(err)
		}
		found, problems, err := taint.Analyze(t.Context(), graph, models, all,
			taint.Options{Workers: workers, Budget: scheduler.Budget{Base: 10 * task, Function: 1, Task: task,
				Least: task / 4}})
		if err != nil {
			t.Fatal(err)
		}
		var b strings.Builder
		for _, f := range found {
			fmt.Fprintln(&b, f.Rule.Rule.ID, f.Path)
		}
		for _, p := range problems {
			fmt.Fprintln(&b, p.Function.File.Tree.Path, p.Function.Qualified, p.Function.Node, p.Reason)
		}
		given += len(problems)
		return b.String()
	}
	folders, _ := filepath.Glob("testdata/[gjp]*/*")
	r := rand.New(rand.NewPCG(3, 4))
	for _, folder := range folders {
		for _, task := range []int64{40, 200, 1000} {
			first := result(load(t, folder), 1, task)
			for _, workers := range []int{1, 2, 16} {
				files := load(t, folder)
				r.Shuffle(len(files), func(i, j int) { files[i], files[j] = files[j], files[i] })
				if diff := cmp.Diff(first, result(files, workers, task)); diff != "" {
					t.Errorf("%s with %d workers and %d steps: %s", folder, workers, task, diff)
				}
			}
		}
	}
	if given == 0 {
		t.Error("no function was cut")
	}
}

// TestLargeCallbackKnowsItsArguments checks that a call-back of thousands of instructions
// knows the value of a library that it is called with.
func TestLargeCallbackKnowsItsArguments(t *testing.T) {
	folder := t.TempDir()
	var b strings.Builder
	b.WriteString(`const { exec } = require("child_process")
const { Server } = require("socket.io")
const io = new Server(3000)
io.on("connection", async (socket) => {
`)
	const handlers = 60
	for i := range handlers {
		fmt.Fprintf(&b, "  socket.on('event%d', async (data) => {\n", i)
		for k := range 20 {
			fmt.Fprintf(&b, "    let n%d = data.length + %d; if (n%d > 3) { console.log('n', n%d) }\n", k, k, k, k)
		}
		b.WriteString("    exec(data)\n    exec('ls')\n  })\n")
	}
	b.WriteString("})\n")
	if err := os.WriteFile(filepath.Join(folder, "server.js"), []byte(b.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	found := analyze(t, load(t, folder), 1)
	places := map[string]bool{}
	for _, f := range found {
		if f.Kind == "command" {
			places[f.Sink().String()] = true
		}
	}
	if len(places) != handlers {
		t.Errorf("%d of %d commands were found", len(places), handlers)
	}
}

// TestAnalyzeStops checks that an ended context ends the analysis with its error.
func TestAnalyzeStops(t *testing.T) {
	models, err := frameworks.Models()
	if err != nil {
		t.Fatal(err)
	}
	graph, err := callgraph.Build(context.Background(), load(t, "testdata/java/basics"), callgraph.Options{})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, _, err := taint.Analyze(ctx, graph, models, rules(t), taint.Options{}); err != context.Canceled {
		t.Errorf("got error %v", err)
	}
}
