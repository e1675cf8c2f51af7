package callgraph_test

import (
	"flag"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"merlon/internal/engine/sast/callgraph"
	"merlon/internal/engine/sast/cst"
	"merlon/internal/engine/sast/ir"
	"merlon/internal/engine/sast/lang/all"
	"merlon/internal/engine/sast/scope"
)

var (
	update = flag.Bool("update", false, "write the graphs that the tests expect")
	corpus = flag.String("corpus", "", "build the graph of every file below the folder")
)

// lower makes the form of a source.
func lower(t testing.TB, name, text string) *ir.File {
	t.Helper()
	l := all.ForFile(name)
	if l == nil {
		t.Fatalf("no language for %s", name)
	}
	f, err := l.Parse(name, []byte(text), cst.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	return ir.Lower(scope.Analyze(f, l, nil), l, ir.Limits{})
}

// show prints the calls of a graph with their targets.
func show(g *callgraph.Graph) string {
	var b strings.Builder
	name := func(fn *ir.Function) string {
		if fn.Kind == ir.LambdaFunction || fn.Kind == ir.TopLevel {
			line, _ := fn.File.Tree.Position(fn.File.Tree.Nodes[fn.Node].Start)
			return fmt.Sprintf("%s#%d", fn.Qualified, line)
		}
		return fn.Qualified
	}
	for _, fn := range g.Functions {
		for i := range fn.Calls {
			c := &fn.Calls[i]
			targets, callbacks := g.Targets(fn, c), g.Callbacks(fn, c)
			code := c.Name
			if n := fn.Code[c.Instr].Node; n >= 0 {
				code = strings.Join(strings.Fields(fn.File.Tree.Code(n)), " ")
			}
			if len(code) > 60 {
				code = code[:60] + "…"
			}
			fmt.Fprintf(&b, "%s: %s", name(fn), code)
			for k, f := range targets {
				b.WriteString([]string{" → ", ", "}[min(k, 1)] + name(f))
			}
			if len(targets) == 0 && c.Qualified+c.Type != "" {
				fmt.Fprintf(&b, " (%s|%s)", c.Qualified, c.Type)
			}
			for k, f := range callbacks {
				b.WriteString([]string{" calls back ", ", "}[min(k, 1)] + name(f))
			}
			if a := g.Allocates(fn, c); a != nil {
				b.WriteString(" makes " + a.Qualified)
			}
			b.WriteByte('\n')
		}
	}
	for _, scc := range g.SCCs() {
		if len(scc) > 1 {
			b.WriteString("together:")
			for _, f := range scc {
				b.WriteString(" " + name(f))
			}
			b.WriteByte('\n')
		}
	}
	return b.String()
}

// build makes the graph of sources.
func build(t testing.TB, files []*ir.File, o callgraph.Options) *callgraph.Graph {
	t.Helper()
	g, err := callgraph.Build(t.Context(), files, o)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// TestBuild compares graphs with those in testdata: an archive is a program, and its
// last section, "graph", what is known of its calls. Neither the order of the files
// nor the number of workers may change it.
func TestBuild(t *testing.T) {
	paths, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(paths) == 0 {
		t.Fatalf("no archives: %v", err)
	}
	for _, path := range paths {
		t.Run(filepath.Base(path), func(t *testing.T) {
			data, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			var names []string
			text := map[string]string{}
			for line := range strings.Lines(string(data)) {
				name, ok := strings.CutPrefix(line, "-- ")
				if name, ends := strings.CutSuffix(strings.TrimRight(name, "\n"), " --"); ok && ends {
					names = append(names, name)
				} else if n := len(names); n > 0 {
					text[names[n-1]] += line
				}
			}
			want := text["graph"]
			var out strings.Builder
			forms := func(reverse bool) []*ir.File {
				var files []*ir.File
				for i := range names {
					if reverse {
						i = len(names) - 1 - i
					}
					if names[i] != "graph" {
						files = append(files, lower(t, names[i], text[names[i]]))
					}
				}
				return files
			}
			o := callgraph.Options{Workers: 1, Modules: []callgraph.Module{{Path: "example.org/app"}}}
			got := show(build(t, forms(false), o))
			o.Workers = 4
			if diff := cmp.Diff(got, show(build(t, forms(true), o))); diff != "" {
				t.Errorf("the order of files changes the graph:\n%s", diff)
			}
			for _, n := range names {
				if n != "graph" {
					fmt.Fprintf(&out, "-- %s --\n%s", n, text[n])
				}
			}
			if *update {
				if err := os.WriteFile(path, []byte(out.String()+"-- graph --\n"+got), 0o600); err != nil {
					t.Fatal(err)
				}
			} else if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("the graph differs (-want +got):\n%s", diff)
			}
		})
	}
}

// TestCorpus builds the graph of every file below -corpus.
func TestCorpus(t *testing.T) {
	if *corpus == "" {
		t.Skip("no -corpus")
	}
	var files []*ir.File
	start := time.Now()
	err := filepath.WalkDir(*corpus, func(path string, d fs.DirEntry, err error) error {
		l := all.ForFile(path)
		if err != nil || d.IsDir() || l == nil || !l.Semantics.Flow {
			return err
		}
		src, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(*corpus, path)
		if err != nil {
			return err
		}
		f, err := l.Parse(filepath.ToSlash(rel), src, cst.Limits{})
		if err != nil {
			t.Logf("%s: %v", path, err)
			return nil
		}
		files = append(files, ir.Lower(scope.Analyze(f, l, nil), l, ir.Limits{}))
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%d files lowered in %v", len(files), time.Since(start))
	start = time.Now()
	g := build(t, files, callgraph.Options{Workers: 2})
	took := time.Since(start)
	calls, resolved, edges := 0, 0, 0
	for _, fn := range g.Functions {
		calls += len(fn.Calls)
		for i := range fn.Calls {
			n := len(g.Targets(fn, &fn.Calls[i]))
			edges += n
			if n > 0 {
				resolved++
			}
		}
	}
	biggest := 0
	for _, scc := range g.SCCs() {
		biggest = max(biggest, len(scc))
	}
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	t.Logf("%d functions, %d classes, %d calls, %d with targets, %d edges, largest component %d, %d truncated, %d "+
		"full; graph %v, heap %d MB",
		len(g.Functions), len(g.Classes), calls, resolved, edges, biggest, g.Truncated, g.Full, took, m.HeapAlloc>>20)
	if testing.Verbose() && os.Getenv("SHOW") != "" {
		t.Log(show(g))
	}
}
