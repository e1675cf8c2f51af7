package ir_test

import (
	"flag"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"merlon/internal/engine/sast/cst"
	"merlon/internal/engine/sast/ir"
	"merlon/internal/engine/sast/lang/all"
	"merlon/internal/engine/sast/scope"
	"merlon/internal/engine/sast/tree"
)

var (
	update = flag.Bool("update", false, "write the forms that the tests expect")
	corpus = flag.String("corpus", "", "lower every file below the folder")
)

// lower makes the form of a source; its language is that of its name.
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
	file := ir.Lower(scope.Analyze(f, l, nil), l, ir.Limits{})
	if err := file.Check(); err != nil {
		t.Errorf("%s: %v\n%s", name, err, file)
	}
	return file
}

// TestLower compares forms with those in testdata. An archive holds a section for
// each source and, behind it, one with the form, whose name ends in ".ir".
func TestLower(t *testing.T) {
	paths, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(paths) == 0 {
		t.Fatalf("no archives: %v", err)
	}
	for _, path := range paths {
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		want, names := map[string]string{}, []string(nil)
		for line := range strings.Lines(string(data)) {
			name, ok := strings.CutPrefix(line, "-- ")
			if name, ends := strings.CutSuffix(strings.TrimRight(name, "\n"), " --"); ok && ends {
				names = append(names, name)
			} else if n := len(names); n > 0 {
				want[names[n-1]] += line
			}
		}
		var out strings.Builder
		for _, name := range names {
			if strings.HasSuffix(name, ".ir") {
				continue
			}
			t.Run(filepath.Base(path)+"/"+name, func(t *testing.T) {
				got := lower(t, name, want[name]).String()
				fmt.Fprintf(&out, "-- %s --\n%s-- %s.ir --\n%s", name, want[name], name, got)
				if diff := cmp.Diff(want[name+".ir"], got); diff != "" && !*update {
					t.Errorf("the form differs (-want +got):\n%s", diff)
				}
			})
		}
		if *update {
			if err := os.WriteFile(path, []byte(out.String()), 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// TestCorpus lowers every file below -corpus and checks the forms.
func TestCorpus(t *testing.T) {
	if *corpus == "" {
		t.Skip("no -corpus")
	}
	var files, bytes, nodes, instrs, skipped, valued, expressions int
	start, lowering := time.Now(), time.Duration(0)
	err := filepath.WalkDir(*corpus, func(path string, d fs.DirEntry, err error) error {
		l := all.ForFile(path)
		if err != nil || d.IsDir() || l == nil || !l.Semantics.Flow {
			return err
		}
		src, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		f, err := l.Parse(path, src, cst.Limits{})
		if err != nil {
			t.Logf("%s: %v", path, err)
			return nil
		}
		begin := time.Now()
		file := ir.Lower(scope.Analyze(f, l, nil), l, ir.Limits{})
		lowering += time.Since(begin)
		if err := file.Check(); err != nil {
			t.Errorf("%s: %v", path, err)
		}
		files++
		bytes += len(src)
		nodes += len(f.Nodes)
		skipped += len(file.Skipped)
		for _, fn := range file.Functions {
			instrs += len(fn.Code)
		}
		for i := range f.Nodes {
			if k := f.Nodes[i].Kind; (k == tree.Call || k == tree.New) && f.Enclosing(int32(i), tree.Annotation) < 0 {
				expressions++
				if fn, _, _ := file.Value(int32(i)); fn != nil {
					valued++
				} else if testing.Verbose() && expressions-valued < 200 {
					line, _ := f.Position(f.Nodes[i].Start)
					t.Logf("%s:%d: no value: %.60q", path, line, f.Code(int32(i)))
				}
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%d files, %d bytes, %d nodes, %d instructions, %d skipped, %d of %d calls with a value, %v in all, %v "+
		"for scopes and forms",
		files, bytes, nodes, instrs, skipped, valued, expressions, time.Since(start), lowering)
}
