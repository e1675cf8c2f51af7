package analyzer

import (
	"bytes"
	"flag"
	"math/rand/v2"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"merlon/internal/engine/sast"
	"merlon/internal/scan"
)

// This file proves that a scan with a cache says what one without says, however the
// files were edited in between.

var (
	rounds = flag.Int("rescan.rounds", 25, "rounds of random edits")
	seed   = flag.Uint64("rescan.seed", 0, "seed of the random edits; 0 takes another one each time")
)

// TestMain compiles the rules of the build once for all scans of these tests, which is a third of
// their time.
func TestMain(m *testing.M) {
	programs = new(sast.Programs)
	os.Exit(m.Run())
}

func TestRescanSaysTheSame(t *testing.T) {
	if *seed == 0 {
		*seed = uint64(time.Now().UnixNano())
	}
	t.Logf("seed %d: go test -run TestRescan -rescan.seed=%d", *seed, *seed)
	p := newProject(t, rand.New(rand.NewPCG(*seed, 1)))
	folder := t.TempDir()
	changed, last := 0, ""
	for round := range *rounds {
		want := p.scan(scan.Code{})
		got := p.scan(scan.Code{Cache: folder})
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatalf("round %d, after %v (-full +cached):\n%s", round, p.edits, diff)
		}
		if diff := cmp.Diff(want, p.scan(scan.Code{Cache: folder})); diff != "" {
			t.Fatalf("round %d, nothing changed (-full +cached):\n%s", round, diff)
		}
		if found := findings(got); found != last {
			changed, last = changed+1, found
		}
		p.edits = nil
		for range 1 + p.rnd.IntN(6) {
			p.edit()
		}
	}
	t.Logf("%d of %d rounds found something else", changed, *rounds)
	if changed < *rounds/5 {
		t.Errorf("only %d of %d rounds found something else: the edits prove little", changed, *rounds)
	}
}

// findings returns which rules found something where, in what a scan says: what moved
// by a line is not another finding.
func findings(said string) string {
	var out []string
	for line := range strings.Lines(said) {
		if strings.HasPrefix(line, `{"finding":`) {
			out = append(out, place.FindString(line))
		}
	}
	slices.Sort(out)
	return strings.Join(out, "\n")
}

var place = regexp.MustCompile(`"ruleId":"[^"]*".*?"path":"[^"]*"`)

// project is code that is edited.
type project struct {
	t     *testing.T
	rnd   *rand.Rand
	root  string
	files map[string]string
	pool  map[string]string // what files may become, by path
	edits []string          // since the last scan
}

func newProject(t *testing.T, rnd *rand.Rand) *project {
	p := &project{t: t, rnd: rnd, root: t.TempDir(), files: map[string]string{}, pool: map[string]string{}}
	paths, err := filepath.Glob("../rules/*/*/testdata/*")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range paths {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		parts := strings.Split(filepath.ToSlash(name), "/")
		p.pool[path.Join("cases", parts[2]+parts[3], parts[5])] = string(text)
	}
	for i, name := range p.names(p.pool) {
		if i%3 == 0 {
			p.write(name, p.pool[name])
		}
	}
	for name, variants := range shop {
		p.write(name, variants[0])
	}
	return p
}

// names returns the sorted names of files.
func (p *project) names(files map[string]string) []string {
	names := make([]string, 0, len(files))
	for n := range files {
		names = append(names, n)
	}
	slices.Sort(names)
	return names
}

func (p *project) write(name, text string) {
	file := filepath.Join(p.root, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		p.t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		p.t.Fatal(err)
	}
	p.files[name] = text
}

func (p *project) remove(name string) {
	if err := os.Remove(filepath.Join(p.root, filepath.FromSlash(name))); err != nil {
		p.t.Fatal(err)
	}
	delete(p.files, name)
}

var times = regexp.MustCompile(`"(duration":\d+|started":"[^"]*")`)

// scan returns what a scan says, without times.
func (p *project) scan(c scan.Code) string {
	p.t.Helper()
	var b bytes.Buffer
	o := scan.Options{Root: p.root, Analyzers: []*scan.Analyzer{Analyzer}, Code: c}
	if err := scan.Run(p.t.Context(), o, still{scan.Encode(&b)}); err != nil {
		p.t.Fatal(err)
	}
	return times.ReplaceAllString(b.String(), "")
}

// edit changes the project somehow.
func (p *project) edit() {
	if p.rnd.IntN(3) > 0 { // the files that use each other
		name := pick(p.rnd, p.names(first(shop)))
		text, there := p.files[name]
		switch variants := shop[name]; {
		case there && p.rnd.IntN(6) == 0:
			p.remove(name)
			p.edits = append(p.edits, "remove "+name)
		case there && p.rnd.IntN(6) == 0:
			p.change(name, text)
		default:
			n := p.rnd.IntN(len(variants))
			p.write(name, variants[n])
			p.edits = append(p.edits, "variant "+strconv.Itoa(n)+" of "+name)
		}
		return
	}
	if name := pick(p.rnd, p.names(p.pool)); p.rnd.IntN(6) == 0 || len(p.files) < 20 {
		p.write(name, p.pool[name])
		p.edits = append(p.edits, "add "+name)
		return
	}
	name := pick(p.rnd, p.names(p.files))
	text := p.files[name]
	switch p.rnd.IntN(8) {
	case 0:
		p.remove(name)
		p.edits = append(p.edits, "remove "+name)
	case 1:
		p.remove(name)
		to := path.Join(path.Dir(name), "moved"+strconv.Itoa(p.rnd.IntN(3)), path.Base(name))
		p.write(to, text)
		p.edits = append(p.edits, "move "+name+" to "+to)
	default:
		p.change(name, text)
	}
}

var (
	word    = regexp.MustCompile(`[A-Za-z_]\w{2,}`)
	literal = regexp.MustCompile(`"[^"\n]*"|'[^'\n]*'|\b\d+\b`)
	include = regexp.MustCompile(`(?m)^(import|from|const .*require).*$`)
)

// change edits the text of a file: its lines, names, constants and imports.
func (p *project) change(name, text string) {
	lines := strings.Split(text, "\n")
	at := p.rnd.IntN(len(lines))
	what := ""
	switch p.rnd.IntN(7) {
	case 0:
		what, lines = "drop lines of ", slices.Delete(lines, at, min(len(lines), at+1+p.rnd.IntN(3)))
		text = strings.Join(lines, "\n")
	case 1:
		what, lines = "double a line of ", slices.Insert(lines, at, lines[at])
		text = strings.Join(lines, "\n")
	case 2: // a line of another file of the kind
		for _, other := range p.names(p.files) {
			if path.Ext(other) == path.Ext(name) && p.rnd.IntN(4) == 0 {
				lines = slices.Insert(lines, at, pick(p.rnd, strings.Split(p.files[other], "\n")))
				break
			}
		}
		what, text = "bring a line to ", strings.Join(lines, "\n")
	case 3:
		if words := word.FindAllString(text, -1); len(words) > 0 {
			old := pick(p.rnd, words)
			what, text = "rename "+old+" in ", regexp.MustCompile(`\b`+old+`\b`).ReplaceAllString(text, old+"2")
		}
	case 4:
		if found := literal.FindAllString(text, -1); len(found) > 0 {
			old := pick(p.rnd, found)
			what, text = "change "+old+" in ",
				strings.Replace(text, old, pick(p.rnd, []string{"7", `"x"`, old + "+" + old}), 1)
		}
	case 5:
		if found := include.FindAllString(text, -1); len(found) > 0 {
			what, text = "lose an import of ", strings.Replace(text, pick(p.rnd, found), "", 1)
		}
	case 6:
		what, text = "a blank line in front of ", "\n"+text
	}
	p.write(name, text)
	p.edits = append(p.edits, what+name)
}

func pick[T any](rnd *rand.Rand, list []T) T { return list[rnd.IntN(len(list))] }

func first(m map[string][]string) map[string]string {
	out := map[string]string{}
	for n, v := range m {
		out[n] = v[0]
	}
	return out
}

func TestRescanReadsADamagedCache(t *testing.T) {
	p := newProject(t, rand.New(rand.NewPCG(1, 1)))
	folder := t.TempDir()
	want := p.scan(scan.Code{Cache: folder})
	files, err := filepath.Glob(filepath.Join(folder, "*.cache"))
	if err != nil || len(files) != 1 {
		t.Fatalf("caches %v, error %v, want one", files, err)
	}
	text, err := os.ReadFile(files[0])
	if err != nil {
		t.Fatal(err)
	}
	for range 3 {
		damaged := bytes.Clone(text)
		for range 20 {
			damaged[p.rnd.IntN(len(damaged))] ^= byte(1 + p.rnd.IntN(255))
		}
		if err := os.WriteFile(files[0], damaged, 0o600); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, p.scan(scan.Code{Cache: folder})); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	}
}

func TestCacheIsOfTheRules(t *testing.T) {
	root, folder := t.TempDir(), t.TempDir()
	p := &project{t: t, root: root, files: map[string]string{}}
	p.write("a.py", "f(1)\ng(1)\n")
	rules := filepath.Join(t.TempDir(), "rules.yaml")
	for _, name := range []string{"f", "g", "f"} {
		rule := "rules:\n- {id: r, languages: [python], severity: ERROR, message: m, pattern: " + name + "(1)}\n"
		if err := os.WriteFile(rules, []byte(rule), 0o600); err != nil {
			t.Fatal(err)
		}
		code := scan.Code{Rules: []string{rules}, OnlyRules: true}
		want := p.scan(code)
		code.Cache = folder
		if diff := cmp.Diff(want, p.scan(code)); diff != "" {
			t.Errorf("rule of %s (-full +cached):\n%s", name, diff)
		}
	}
}

// still passes on everything but progress, which depends on who is quicker.
type still struct{ scan.Handler }

func (still) Progress(*scan.Progress) error { return nil }
