// Package house measures the source code of the module: names, comments,
// complexity, line lengths, tests and packages. The rules of the house
// (house_test.go at the root) hold the measurements to limits, and "make house"
// prints them.
//
// The measures are those that the anchors of the project were measured by, so that
// the numbers can be compared:
//
//   - Cyclomatic complexity is 1 plus one for each if, for, range, case of a
//     switch, case of a select, && and || (McCabe 1976, with short-circuit
//     operators counted as branches). Function literals count for the function
//     around them.
//   - A line counts as a comment when nothing but a comment stands on it. Blank
//     lines do not count at all.
//   - A tab is four columns wide.
package house

import (
	"cmp"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode"
)

// MaxColumns is the width above which a line is long.
const MaxColumns = 120

// skippedFolders hold no code of the module: test data, packages of npm, built
// programs, and the module of the linters.
var skippedFolders = []string{"testdata", "node_modules", "bin", "tools"}

// Function is the measurement of one function or method outside of tests.
type Function struct {
	Name       string
	Position   token.Position
	Complexity int
}

// Line is a line of code that is longer than MaxColumns.
type Line struct {
	Path   string // relative to the root, with forward slashes
	Number int    // from 1
	Width  int    // in columns
}

// Package is the measurement of one folder.
type Package struct {
	Path         string // relative to the root, with forward slashes
	Files        int    // without tests
	CodeLines    int
	CommentLines int
	TestLines    int // in tests, blank lines left out
	Unexported   int // unexported functions and methods
	OneWord      int // those of them whose name is a single word
	Long         []Line
	Functions    []Function
}

// Report is the measurement of all packages below a folder, ordered by path.
type Report struct {
	Packages []*Package
}

// Measure reads every Go file below root that a person wrote. It fails on the first
// file that cannot be read or parsed.
func Measure(root string) (*Report, error) {
	packages := map[string]*Package{}
	err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if entry.IsDir() {
			hidden := strings.HasPrefix(entry.Name(), ".") && path != root
			if hidden || slices.Contains(skippedFolders, entry.Name()) {
				return fs.SkipDir
			}
			return nil
		}
		if !strings.HasSuffix(path, ".go") {
			return nil
		}
		return measureFile(packages, root, path)
	})
	if err != nil {
		return nil, err
	}
	report := &Report{}
	for _, p := range packages {
		report.Packages = append(report.Packages, p)
	}
	slices.SortFunc(report.Packages, func(a, b *Package) int { return cmp.Compare(a.Path, b.Path) })
	return report, nil
}

// measureFile adds the file to the measurement of its package.
func measureFile(packages map[string]*Package, root, path string) error {
	text, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	relative, err := filepath.Rel(root, path)
	if err != nil {
		return err
	}
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, filepath.ToSlash(relative), text,
		parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		return err
	}
	if ast.IsGenerated(file) {
		return nil
	}
	folder := filepath.ToSlash(filepath.Dir(relative))
	p := packages[folder]
	if p == nil {
		p = &Package{Path: folder}
		packages[folder] = p
	}
	lines := strings.Split(string(text), "\n")
	if strings.HasSuffix(path, "_test.go") {
		p.TestLines += countFilled(lines)
		return nil
	}
	p.Files++
	p.countLines(fset, file, lines)
	p.measureFunctions(fset, file)
	return nil
}

// countFilled returns how many lines are not blank.
func countFilled(lines []string) int {
	n := 0
	for _, line := range lines {
		if strings.TrimSpace(line) != "" {
			n++
		}
	}
	return n
}

// countLines counts lines of code and of comments, and finds the long ones. Lines
// that a formatter cannot break do not count as long: struct tags, strings over
// several lines, lines that consist of one string, and comments that consist of one URL.
func (p *Package) countLines(fset *token.FileSet, file *ast.File, lines []string) {
	comments, data := commentLines(fset, file, lines), dataLines(fset, file)
	for i, line := range lines {
		switch {
		case strings.TrimSpace(line) == "":
			continue
		case comments[i+1]:
			p.CommentLines++
		default:
			p.CodeLines++
		}
		width := len([]rune(strings.ReplaceAll(line, "\t", "    ")))
		unbroken := comments[i+1] && len(strings.Fields(line)) == 2 // a comment that is one URL
		if width > MaxColumns && !data[i+1] && !unbroken {
			p.Long = append(p.Long, Line{fset.Position(file.Pos()).Filename, i + 1, width})
		}
	}
}

// commentLines returns the numbers of the lines on which nothing but a comment
// stands.
func commentLines(fset *token.FileSet, file *ast.File, lines []string) map[int]bool {
	out := map[int]bool{}
	for _, group := range file.Comments {
		for _, c := range group.List {
			first, last := fset.Position(c.Pos()).Line, fset.Position(c.End()).Line
			for n := first; n <= last; n++ {
				if n > first || strings.HasPrefix(strings.TrimSpace(lines[n-1]), c.Text[:2]) {
					out[n] = true
				}
			}
		}
	}
	return out
}

// dataLines returns the numbers of the lines that hold data: a string of 60 columns
// or more, a tag of a struct field, or a row of a table (an element of a composite
// literal, or a call in one, that takes exactly one line).
func dataLines(fset *token.FileSet, file *ast.File) map[int]bool {
	out := map[int]bool{}
	mark := func(n ast.Node) {
		for line := fset.Position(n.Pos()).Line; line <= fset.Position(n.End()).Line; line++ {
			out[line] = true
		}
	}
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.BasicLit:
			if n.Kind == token.STRING && len(n.Value) >= 60 {
				mark(n)
			}
		case *ast.Field:
			if n.Tag != nil {
				mark(n.Tag)
			}
		case *ast.CompositeLit:
			for _, row := range n.Elts {
				if fset.Position(row.Pos()).Line == fset.Position(row.End()).Line {
					mark(row)
				}
			}
		}
		return true
	})
	return out
}

// measureFunctions records name and complexity of each function of the file.
func (p *Package) measureFunctions(fset *token.FileSet, file *ast.File) {
	for _, decl := range file.Decls {
		f, ok := decl.(*ast.FuncDecl)
		if !ok {
			continue
		}
		p.Functions = append(p.Functions, Function{f.Name.Name, fset.Position(f.Pos()), Complexity(f)})
		if ast.IsExported(f.Name.Name) || f.Name.Name == "main" || f.Name.Name == "init" {
			continue
		}
		p.Unexported++
		if isOneWord(f.Name.Name) {
			p.OneWord++
		}
	}
}

// isOneWord reports whether an unexported name has a single word: no capital and no
// underscore after its first letter.
func isOneWord(name string) bool {
	return !strings.ContainsFunc(name[1:], func(r rune) bool { return unicode.IsUpper(r) || r == '_' })
}

// Complexity returns the cyclomatic complexity of a node, such as a function.
func Complexity(node ast.Node) int {
	n := 1
	ast.Inspect(node, func(node ast.Node) bool {
		switch node := node.(type) {
		case *ast.IfStmt, *ast.ForStmt, *ast.RangeStmt:
			n++
		case *ast.CaseClause:
			if node.List != nil {
				n++
			}
		case *ast.CommClause:
			if node.Comm != nil {
				n++
			}
		case *ast.BinaryExpr:
			if node.Op == token.LAND || node.Op == token.LOR {
				n++
			}
		}
		return true
	})
	return n
}

// Totals are the measurements of the whole module.
type Totals struct {
	Packages, Functions           int
	CodeLines, CommentLines, Long int
	TestLines                     int
	Unexported, OneWord           int
	// ComplexityMedian, Complexity95 and ComplexityMax are the median, the 95th
	// percentile and the maximum over all functions.
	ComplexityMedian, Complexity95, ComplexityMax int
	// LargestPackage has the most files.
	LargestPackage *Package
}

// OneWordShare returns the share of unexported functions with a name of one word,
// in percent.
func (t Totals) OneWordShare() float64 { return percentOf(t.OneWord, t.Unexported) }

// CommentShare returns the share of comments in the lines that are not blank, in
// percent.
func (t Totals) CommentShare() float64 { return percentOf(t.CommentLines, t.CommentLines+t.CodeLines) }

// LongShare returns the share of long lines, in percent.
func (t Totals) LongShare() float64 { return percentOf(t.Long, t.CommentLines+t.CodeLines) }

// TestRatio returns the lines of tests for each line of code.
func (t Totals) TestRatio() float64 { return percentOf(t.TestLines, t.CodeLines) / 100 }

// percentOf returns a share in percent.
func percentOf(part, whole int) float64 {
	if whole == 0 {
		return 0
	}
	return 100 * float64(part) / float64(whole)
}

// Totals adds the packages up.
func (r *Report) Totals() Totals {
	t := Totals{Packages: len(r.Packages), LargestPackage: &Package{}}
	var complexities []int
	for _, p := range r.Packages {
		t.CodeLines += p.CodeLines
		t.CommentLines += p.CommentLines
		t.TestLines += p.TestLines
		t.Long += len(p.Long)
		t.Unexported += p.Unexported
		t.OneWord += p.OneWord
		for _, f := range p.Functions {
			complexities = append(complexities, f.Complexity)
		}
		if p.Files > t.LargestPackage.Files {
			t.LargestPackage = p
		}
	}
	if t.Functions = len(complexities); t.Functions > 0 {
		slices.Sort(complexities)
		t.ComplexityMedian = complexities[t.Functions/2]
		t.Complexity95 = complexities[t.Functions*95/100]
		t.ComplexityMax = complexities[t.Functions-1]
	}
	return t
}

// Write prints the table of totals, and what stands out: the packages with the most
// names of one word, the functions with the highest complexity, and long lines.
func (r *Report) Write(w io.Writer) error {
	t := r.Totals()
	p := &printer{w: w}
	p.printf("%d packages, %d functions, %d lines of code\n\n", t.Packages, t.Functions, t.CodeLines)
	p.printf("| measure | value | goal |\n|---|---|---|\n")
	p.printf("| unexported functions with a one-word name | %.1f %% (%d of %d) | ≤ 35 %% |\n", t.OneWordShare(), t.OneWord, t.Unexported)
	p.printf("| comment lines | %.1f %% | 13 to 20 %% |\n", t.CommentShare())
	p.printf("| cyclomatic complexity, median / 95th percentile / maximum | %d / %d / %d | 3 / 12 / 25 |\n",
		t.ComplexityMedian, t.Complexity95, t.ComplexityMax)
	p.printf("| lines above %d columns, outside of data | %.2f %% (%d) | 0 |\n", MaxColumns, t.LongShare(), t.Long)
	p.printf("| test lines for a line of code | %.2f | ≥ 0.5 |\n", t.TestRatio())
	p.printf("| files of the largest package | %d (%s) | ≤ 25 |\n", t.LargestPackage.Files, t.LargestPackage.Path)
	r.writeOutliers(p)
	return p.err
}

// outliers is how many rows each list of outliers has.
const outliers = 10

// writeOutliers prints the functions and files that exceed the targets most.
func (r *Report) writeOutliers(p *printer) {
	packages := slices.Clone(r.Packages)
	slices.SortStableFunc(packages, func(a, b *Package) int { return cmp.Compare(b.OneWord, a.OneWord) })
	p.printf("\nMost one-word names:\n")
	for _, q := range packages[:min(outliers, len(packages))] {
		p.printf("  %4d of %4d  %s\n", q.OneWord, q.Unexported, q.Path)
	}
	var functions []Function
	var long []Line
	for _, q := range r.Packages {
		functions = append(functions, q.Functions...)
		long = append(long, q.Long...)
	}
	slices.SortStableFunc(functions, func(a, b Function) int { return cmp.Compare(b.Complexity, a.Complexity) })
	p.printf("\nHighest complexity:\n")
	for _, f := range functions[:min(outliers, len(functions))] {
		p.printf("  %4d  %s  %s\n", f.Complexity, f.Name, f.Position)
	}
	slices.SortStableFunc(long, func(a, b Line) int { return cmp.Compare(b.Width, a.Width) })
	p.printf("\nLongest lines:\n")
	for _, l := range long[:min(outliers, len(long))] {
		p.printf("  %4d  %s:%d\n", l.Width, l.Path, l.Number)
	}
}

// printer keeps the first error of a series of prints.
type printer struct {
	w   io.Writer
	err error
}

// printf writes unless an earlier write has failed.
func (p *printer) printf(format string, values ...any) {
	if p.err == nil {
		_, p.err = fmt.Fprintf(p.w, format, values...)
	}
}
