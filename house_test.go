package merlon

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"merlon/test/house"
)

// This file holds the rules of the house that a compiler does not know.

const (
	maxFunctionLines = 100 // a function that exceeds a limit says why in its comment: "house: …"
	maxFileLines     = 800
	maxParameters    = 5
	maxInterface     = 8
	maxPackageFiles  = 25
	maxComplexity    = 25 // counted as test/house does
	maxComplexity95  = 12
	maxOneWordNames  = 5    // percent of unexported functions
	minComments      = 13.0 // percent of lines
	maxComments      = 20.0
	minTestRatio     = 0.5 // lines of tests for a line of code
	maxLongLines     = 0   // above test/house.MaxColumns, outside of data
)

// source is a Go file of the module, parsed with its comments.
type source struct {
	path  string // relative, forward slashes
	test  bool
	lines int
	fset  *token.FileSet
	file  *ast.File
	text  string
}

// sources returns every Go file that a person wrote.
func sources(t *testing.T) []source {
	t.Helper()
	out, err := parsed()
	if err != nil {
		t.Fatal(err)
	}
	return out
}

var parsed = sync.OnceValues(func() (out []source, err error) {
	err = filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && (slices.Contains([]string{"testdata", "node_modules", "bin", "tools"}, d.Name()) ||
			strings.HasPrefix(d.Name(), ".") && path != ".") {
			return fs.SkipDir
		}
		if !strings.HasSuffix(path, ".go") {
			return nil
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		fset := token.NewFileSet()
		f, err := parser.ParseFile(fset, path, text, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		if !ast.IsGenerated(f) {
			out = append(out, source{filepath.ToSlash(path), strings.HasSuffix(path, "_test.go"),
				strings.Count(string(text), "\n"), fset, f, string(text)})
		}
		return nil
	})
	return out, err
})

func TestEveryPackageHasOneComment(t *testing.T) {
	comments := map[string]int{}
	for _, s := range sources(t) {
		dir := filepath.Dir(s.path)
		if _, seen := comments[dir]; !seen && !s.test {
			comments[dir] = 0
		}
		if s.file.Doc != nil && !s.test {
			comments[dir]++
		}
	}
	for dir, n := range comments {
		if n != 1 {
			t.Errorf("%s: %d package comments, want 1", dir, n)
		}
	}
}

func TestEveryExportedNameIsDocumented(t *testing.T) {
	for _, s := range sources(t) {
		if s.test {
			continue
		}
		for _, decl := range s.file.Decls {
			for _, name := range undocumented(decl) {
				t.Errorf("%s: %s has no doc comment", s.fset.Position(name.Pos()), name.Name)
			}
		}
	}
}

// undocumented returns the exported names of a declaration that no comment
// describes. A comment on a group of constants or variables covers the group.
func undocumented(decl ast.Decl) []*ast.Ident {
	var out []*ast.Ident
	switch d := decl.(type) {
	case *ast.FuncDecl:
		if d.Name.IsExported() && d.Doc == nil && exportedReceiver(d) {
			out = append(out, d.Name)
		}
	case *ast.GenDecl:
		for _, spec := range d.Specs {
			switch sp := spec.(type) {
			case *ast.TypeSpec:
				if sp.Name.IsExported() && d.Doc == nil && sp.Doc == nil {
					out = append(out, sp.Name)
				}
			case *ast.ValueSpec:
				// Constants of a documented or typed group speak for themselves.
				if d.Doc == nil && sp.Doc == nil && sp.Comment == nil && len(d.Specs) == 1 && sp.Names[0].IsExported() {
					out = append(out, sp.Names[0])
				}
			}
		}
	}
	return out
}

func exportedReceiver(d *ast.FuncDecl) bool {
	if d.Recv == nil {
		return true
	}
	typ := d.Recv.List[0].Type
	if star, ok := typ.(*ast.StarExpr); ok {
		typ = star.X
	}
	if index, ok := typ.(*ast.IndexExpr); ok {
		typ = index.X
	}
	id, ok := typ.(*ast.Ident)
	return ok && id.IsExported()
}

func TestSizes(t *testing.T) {
	for _, s := range sources(t) {
		if s.lines > maxFileLines && !s.test {
			t.Errorf("%s has %d lines: split it by noun, at most %d", s.path, s.lines, maxFileLines)
		}
		ast.Inspect(s.file, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.FuncDecl:
				lines := s.fset.Position(n.End()).Line - s.fset.Position(n.Pos()).Line + 1
				reason := n.Doc != nil && strings.Contains(n.Doc.Text(), "house: ")
				if lines > maxFunctionLines && !reason && !s.test {
					t.Errorf("%s: %s has %d lines, at most %d", s.fset.Position(n.Pos()), n.Name.Name, lines,
						maxFunctionLines)
				}
				if p := n.Type.Params.NumFields(); p > maxParameters && !reason && !s.test {
					t.Errorf("%s: %s has %d parameters, at most %d: make them a struct", s.fset.Position(n.Pos()),
						n.Name.Name, p, maxParameters)
				}
			case *ast.TypeSpec:
				if i, ok := n.Type.(*ast.InterfaceType); ok && methods(i) > maxInterface {
					t.Errorf("%s: interface %s has %d methods, at most %d", s.fset.Position(n.Pos()), n.Name.Name,
						methods(i), maxInterface)
				}
			}
			return true
		})
	}
}

// TestMeasures holds the measurements of test/house to limits. The limits only ever
// become tighter. "make house" prints the measurements.
func TestMeasures(t *testing.T) {
	report, err := house.Measure(".")
	if err != nil {
		t.Fatal(err)
	}
	total := report.Totals()
	for _, m := range []struct {
		name            string
		value, min, max float64
	}{
		{"files of the largest package, " + total.LargestPackage.Path, float64(total.LargestPackage.Files), 0, maxPackageFiles},
		{"highest cyclomatic complexity", float64(total.ComplexityMax), 0, maxComplexity},
		{"95th percentile of cyclomatic complexity", float64(total.Complexity95), 0, maxComplexity95},
		{"unexported functions with a one-word name, in percent", total.OneWordShare(), 0, maxOneWordNames},
		{"comment lines, in percent", total.CommentShare(), minComments, maxComments},
		{"test lines for a line of code", total.TestRatio(), minTestRatio, 100},
		{"long lines outside of data", float64(total.Long), 0, maxLongLines},
	} {
		if m.value < m.min || m.value > m.max {
			t.Errorf("%s: %.2f, want %.2f to %.2f; make house shows where", m.name, m.value, m.min, m.max)
		}
	}
}

// methods counts the methods that an interface lists itself. One that only joins
// others has none.
func methods(i *ast.InterfaceType) int {
	n := 0
	for _, f := range i.Methods.List {
		n += len(f.Names)
	}
	return n
}

// A ban is a name that only some places may use, and why.
type ban struct {
	pattern string // of the source text
	except  string // of paths
	reason  string
}

var bans = []ban{
	{`\bhttp\.(DefaultClient\b|(Get|Post|Head|PostForm)\(|Client\{)`,
		`^(client|internal/cli|internal/outbound|test/dast)/`, "outgoing requests go through the guarded client; " +
			"test/dast asks what it started"},
	{`\bos\.(Getenv|LookupEnv|Environ|Setenv)\b`, `^internal/(cli|sandbox|store/storetest)/`, "only the command line " +
		"reads the environment"},
	{`"math/rand(/v2)?"`, `^client/`, "randomness comes from crypto/rand; a client may spread its retries"},
	{`(?i)SELECT \*`, `^$`, "columns are listed"},
	{`\bfunc init\(\)`, `^internal/oidc/`, "nothing registers itself"},
	{`\bpanic\("?(todo|TODO|not implemented)`, `^$`, "no stubs"},
	{`//\s*(TODO|FIXME|XXX)`, `^$`, "finished or not begun"},
}

func TestBannedNames(t *testing.T) {
	for _, b := range bans {
		pattern, except := regexp.MustCompile(b.pattern), regexp.MustCompile(b.except)
		for _, s := range sources(t) {
			if s.test || except.MatchString(s.path) {
				continue
			}
			for n, line := range strings.Split(s.text, "\n") {
				if pattern.MatchString(line) {
					t.Errorf("%s:%d: %s: %s", s.path, n+1, strings.TrimSpace(line), b.reason)
				}
			}
		}
	}
}

func TestNoPackageIsNamedForNothing(t *testing.T) {
	bad := []string{"util", "utils", "common", "shared", "helpers", "helper", "core", "base", "models", "services",
		"impl", "manager", "misc"}
	for _, s := range sources(t) {
		if slices.Contains(bad, s.file.Name.Name) {
			t.Errorf("%s: package %s says nothing about what it holds", s.path, s.file.Name.Name)
		}
	}
}

func TestMigrationsAreTwins(t *testing.T) {
	lite, err := filepath.Glob("internal/store/sqlite/migrations/*.sql")
	if err != nil {
		t.Fatal(err)
	}
	post, err := filepath.Glob("internal/store/postgres/migrations/*.sql")
	if err != nil {
		t.Fatal(err)
	}
	if len(lite) != len(post) {
		t.Fatalf("%d migrations for SQLite, %d for PostgreSQL", len(lite), len(post))
	}
	number := regexp.MustCompile(`^(\d{4})_[a-z_]+\.sql$`)
	seen := 0
	for i := range lite {
		a, b := filepath.Base(lite[i]), filepath.Base(post[i])
		m := number.FindStringSubmatch(a)
		if a != b || m == nil {
			t.Fatalf("migrations %s and %s: want the same name, NNNN_words.sql", a, b)
		}
		if n, err := strconv.Atoi(m[1]); err != nil || n <= seen {
			t.Errorf("migration %s does not follow %04d", a, seen)
		} else {
			seen = n
		}
	}
}

// TestDocumentsNameWhatExists checks the paths and the links of the documents.
func TestDocumentsNameWhatExists(t *testing.T) {
	docs, err := filepath.Glob("docs/*.md")
	if err != nil {
		t.Fatal(err)
	}
	decisions, err := filepath.Glob("docs/decisions/*.md")
	if err != nil {
		t.Fatal(err)
	}
	link := regexp.MustCompile(`\]\(([^)#:]+)(#[^)]*)?\)`)
	path := regexp.MustCompile("`((?:internal|docs|client|cmd|test|web)/[A-Za-z0-9_./-]+)`")
	for _, doc := range append(append(docs, decisions...), "README.md", "CONTRIBUTING.md") {
		text, err := os.ReadFile(doc)
		if err != nil {
			t.Error(err)
			continue
		}
		for _, m := range link.FindAllStringSubmatch(string(text), -1) {
			if err := exists(filepath.Join(filepath.Dir(doc), m[1])); err != nil {
				t.Errorf("%s: link to %s: %v", doc, m[1], err)
			}
		}
		for _, m := range path.FindAllStringSubmatch(string(text), -1) {
			if err := exists(strings.TrimSuffix(m[1], ".")); err != nil && !strings.ContainsAny(m[1], "<*") {
				t.Errorf("%s: names %s: %v", doc, m[1], err)
			}
		}
	}
}

// Every page of the documentation can be reached from the README by links.
func TestEveryPageIsReachable(t *testing.T) {
	link := regexp.MustCompile(`\]\(([^)#:]+)(?:#[^)]*)?\)`)
	reached := map[string]bool{"README.md": true}
	for todo := []string{"README.md"}; len(todo) > 0; todo = todo[1:] {
		text, err := os.ReadFile(todo[0])
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range link.FindAllStringSubmatch(string(text), -1) {
			page := filepath.Join(filepath.Dir(todo[0]), m[1])
			if !reached[page] && strings.HasSuffix(page, ".md") {
				todo = append(todo, page)
			}
			reached[page] = true
		}
	}
	pages, err := filepath.Glob("docs/*.md")
	if err != nil || len(pages) == 0 {
		t.Fatal(pages, err)
	}
	for _, page := range pages {
		if !reached[page] {
			t.Errorf("no link leads to %s", page)
		}
	}
}

// bannedPhrases are homemade words that readers had to translate, and the terms that
// stand for them. See CONTRIBUTING.md, "Words".
var bannedPhrases = []struct{ pattern, instead string }{
	{`\bstrangers?\b`, "attacker, untrusted"},
	{`\bsaid to be\b`, "reported, declared"},
	{`\bbills? of materials?\b`, "SBOM"},
	{`\bwhat is said of\b`, "statements about"},
	{`\bdoes not hold\b`, "is invalid"},
	{`\bwho asks\b`, "the caller"},
	{`\b(?:is|are) told\b`, "is reported"},
	{`\bquestions? of dns\b`, "DNS queries"},
	{`\bnobody's business\b`, "opaque"},
	{`\bleast level\b`, "minimum level"},
	{`\btook? over what\b`, "import"},
	{`\blooked at in vain\b`, "tested without a finding"},
	{`\bthat is said\b|\bis said here\b`, "is reported, the page describes"},
	{`\bwas not looked at\b|\bcould not be looked at\b`, "was not analyzed, coverage gap"},
	{`\bwhat becomes of\b`, "what happens to, the states of"},
	{`\bknocking\b`, "requesting the base URL"},
}

// TestWords reports homemade phrases in what users read: documentation, help texts,
// settings, and the descriptions of the API. Names of tests and code between
// backticks do not count.
func TestWords(t *testing.T) {
	pages, err := filepath.Glob("docs/*.md")
	if err != nil {
		t.Fatal(err)
	}
	texts := map[string]string{}
	for _, page := range append(pages, "README.md", "CONTRIBUTING.md", "docs/openapi.json") {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		texts[page] = regexp.MustCompile("`[^`\n]*`").ReplaceAllString(string(text), "")
	}
	delete(texts, "docs/benchmark-history.md") // a log of its time
	help := regexp.MustCompile(`help:"[^"]*"`)
	for _, s := range sources(t) {
		if !s.test && (strings.HasPrefix(s.path, "internal/cli/") || strings.HasPrefix(s.path, "internal/config/")) {
			texts[s.path] = strings.Join(help.FindAllString(s.text, -1), "\n")
		}
	}
	for _, b := range bannedPhrases {
		pattern := regexp.MustCompile("(?i)" + b.pattern)
		for path, text := range texts {
			for _, m := range pattern.FindAllStringIndex(text, -1) {
				line := 1 + strings.Count(text[:m[0]], "\n")
				t.Errorf("%s, line %d: %q: write %s", path, line, text[m[0]:m[1]], b.instead)
			}
		}
	}
}

func exists(path string) error {
	if _, err := os.Stat(path); err != nil {
		return fmt.Errorf("there is no such file: %w", err)
	}
	return nil
}
