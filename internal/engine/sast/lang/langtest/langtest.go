// Package langtest examines the lowering of a language: the trees that it makes,
// the patterns that it understands, and how it copes with hostile source.
package langtest

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"merlon/internal/engine/sast/cst"
	"merlon/internal/engine/sast/lang"
	"merlon/internal/engine/sast/tree"
)

var (
	update = flag.Bool("update", false, "write the trees that the tests expect")
	corpus = flag.String("corpus", "", "lower every file of the language below the folder")
	rules  = flag.String("patterns", "", "parse the patterns of the file, a JSON list of objects with pattern and from")
)

// A section is one file of an archive: what stands behind a line "-- name --".
type section struct{ name, text string }

// Trees lowers the sources in testdata/*.txtar and compares the trees. An archive
// holds a section for each source and, behind it, one with the tree, whose name is
// that of the source with ".tree". "go test -update" writes the trees. A source
// may have faults only if its name begins with "broken".
func Trees(t *testing.T, l *lang.Language) {
	compareArchives(t, "testdata/*.txtar", func(t *testing.T, name, text string) string {
		f, err := l.Parse(name, []byte(text), cst.Limits{})
		if err != nil {
			t.Fatal(err)
		}
		if err := f.Check(); err != nil {
			t.Error(err)
		}
		if len(f.Unknown) > 0 && !strings.HasPrefix(name, "broken") {
			t.Errorf("not understood: %s", describeUnknown(f))
		}
		return f.String()
	})
}

// Patterns parses the patterns in testdata/patterns/*.txtar and compares the trees,
// as Trees does.
func Patterns(t *testing.T, l *lang.Language) {
	compareArchives(t, "testdata/patterns/*.txtar", func(t *testing.T, name, text string) string {
		f, err := l.ParsePattern(text)
		if err != nil {
			t.Error(err)
			return ""
		}
		if err := f.Check(); err != nil {
			t.Error(err)
		}
		return f.String()
	})
}

// compareArchives calls show for every source of the archives and compares, or updates,
// what it returns.
func compareArchives(t *testing.T, glob string, show func(t *testing.T, name, text string) string) {
	paths, err := filepath.Glob(glob)
	if err != nil || len(paths) == 0 {
		t.Fatalf("no archives %s: %v", glob, err)
	}
	for _, path := range paths {
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		want := map[string]string{}
		sections := splitArchive(string(data))
		for _, s := range sections {
			want[s.name] = s.text
		}
		var out strings.Builder
		for _, s := range sections {
			if strings.HasSuffix(s.name, ".tree") {
				continue
			}
			t.Run(filepath.Base(path)+"/"+s.name, func(t *testing.T) {
				got := show(t, s.name, s.text)
				fmt.Fprintf(&out, "-- %s --\n%s-- %s.tree --\n%s", s.name, s.text, s.name, got)
				if diff := cmp.Diff(want[s.name+".tree"], got); diff != "" && !*update {
					t.Errorf("the tree differs (-want +got):\n%s", diff)
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

// splitArchive reads an archive.
func splitArchive(data string) []section {
	var sections []section
	for line := range strings.Lines(data) {
		name, ok := strings.CutPrefix(line, "-- ")
		if name, ends := strings.CutSuffix(strings.TrimRight(name, "\n"), " --"); ok && ends {
			sections = append(sections, section{name: name})
		} else if n := len(sections); n > 0 {
			sections[n-1].text += line
		}
	}
	return sections
}

// PatternCorpus parses the patterns of the file that "go test -patterns" names and
// reports those that the language does not understand. Without a file it is skipped.
func PatternCorpus(t *testing.T, l *lang.Language) {
	if *rules == "" {
		t.Skip("no -patterns")
	}
	data, err := os.ReadFile(*rules)
	if err != nil {
		t.Fatal(err)
	}
	var list []struct{ Pattern, From string }
	if err := json.Unmarshal(data, &list); err != nil {
		t.Fatal(err)
	}
	bad := 0
	for _, p := range list {
		f, err := l.ParsePattern(p.Pattern)
		if err != nil {
			bad++
			t.Logf("%s\n%s", p.From, p.Pattern)
		} else if err := f.Check(); err != nil {
			t.Errorf("%s\n%s\n%v", p.From, p.Pattern, err)
		}
	}
	t.Logf("%d of %d patterns understood", len(list)-bad, len(list))
}

// describeUnknown lists the parts of a file that were not understood.
func describeUnknown(f *tree.File) string {
	var parts []string
	for _, r := range f.Unknown {
		parts = append(parts, fmt.Sprintf("line %d: %.60q", f.Line(r.Start), f.Source[r.Start:r.End]))
	}
	return strings.Join(parts, "; ")
}

// limits are those of the tests: a file that breaks them is refused, not a fault.
var limits = cst.Limits{Time: time.Second}

// requireValidTree lowers an untrusted source: it must give a valid tree or one of the
// errors of package cst.
func requireValidTree(t *testing.T, l *lang.Language, src []byte) {
	t.Helper()
	f, err := l.Parse("hostile", src, limits)
	switch {
	case errors.Is(err, cst.ErrDeadline), errors.Is(err, cst.ErrSteps), errors.Is(err, cst.ErrMemory),
		errors.Is(err, cst.ErrBinary), errors.Is(err, cst.ErrTooLarge):
		return
	case err != nil:
		t.Fatal(err)
	}
	if err := f.Check(); err != nil {
		t.Fatalf("%.200q: %v", src, err)
	}
	if most := 64 + 8*len(src); len(f.Nodes) > most {
		t.Errorf("%d bytes became %d nodes", len(src), len(f.Nodes))
	}
}

// Hostile lowers each seed cut off at every byte (at most 150 places), and
// without each of its parts; the first one repeated on one line of two megabytes; and
// openings of brackets, operators and names without end.
func Hostile(t *testing.T, l *lang.Language, seeds ...string) {
	for _, seed := range seeds {
		step := max(1, len(seed)/40)
		for i := 0; i < len(seed); i += step {
			requireValidTree(t, l, []byte(seed[:i]))
		}
		for i := 0; i+20 < len(seed); i += max(20, step) {
			requireValidTree(t, l, []byte(seed[:i]+seed[i+20:]))
		}
	}
	if len(seeds) > 0 {
		requireValidTree(t, l, []byte(oneLine(seeds[0], 2<<20)))
	}
	for _, part := range []string{"(", "[", "{", "a.b(", "a+", "!", "a?b:", "if(a)", "f(x){", "<a>", "a:\n ", "\"",
		"/*", "é", "\xff"} {
		requireValidTree(t, l, []byte(strings.Repeat(part, 5000)))
	}
}

// oneLine repeats a text without its line breaks to about the size.
func oneLine(text string, size int) string {
	text = strings.ReplaceAll(text, "\n", " ")
	return strings.Repeat(text, size/(len(text)+1)+1)
}

// Fuzz lowers what the fuzzer makes of the seeds, as a file and as a pattern.
func Fuzz(f *testing.F, l *lang.Language, seeds ...string) {
	for _, s := range seeds {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, src []byte) {
		if len(src) > 64<<10 {
			return
		}
		requireValidTree(t, l, src)
		if p, err := l.ParsePattern(string(src)); err == nil {
			if err := p.Check(); err != nil {
				t.Fatalf("pattern %.200q: %v", src, err)
			}
		}
	})
}

// Corpus lowers every file of the language below the folder that "go test -corpus"
// names and reports what was not understood. Without a folder it is skipped.
func Corpus(t *testing.T, l *lang.Language) {
	if *corpus == "" {
		t.Skip("no -corpus")
	}
	var files, bytes, faulty, nodes int
	var parse, whole time.Duration
	err := filepath.WalkDir(*corpus, func(path string, d os.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() || !l.Grammar.Matches(path) {
			return err
		}
		src, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		start := time.Now()
		if _, err := l.Grammar.Parse(src, cst.Limits{}); err != nil {
			t.Logf("%s: %v", path, err)
			return nil
		}
		parse += time.Since(start)
		start = time.Now()
		f, err := l.Parse(path, src, cst.Limits{})
		whole += time.Since(start)
		if err != nil {
			return fmt.Errorf("lower %s: %w", path, err)
		}
		files, bytes, nodes = files+1, bytes+len(src), nodes+len(f.Nodes)
		if err := f.Check(); err != nil {
			t.Errorf("%s: %v", path, err)
		}
		if len(f.Unknown) > 0 {
			faulty++
			if faulty <= 20 {
				t.Logf("%s: %s", path, describeUnknown(f))
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	rate := func(d time.Duration) float64 { return float64(bytes) / 1e6 / d.Seconds() }
	t.Logf("%d files, %.1f MB, %d nodes; %d files not understood whole; parse %.1f MB/s, parse and lower %.1f MB/s",
		files, float64(bytes)/1e6, nodes, faulty, rate(parse), rate(whole))
}
