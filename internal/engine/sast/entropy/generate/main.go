// Command generate counts the letters of the comments in the standard library of Go
// and writes the table of package entropy.
package main

import (
	"fmt"
	"go/parser"
	"go/token"
	"io/fs"
	"log"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

const (
	letters = 26
	groups  = letters * letters * letters

	// seen is how much a count is believed; the rest is what the single letters say, so
	// that a group that never occurs is rare, not impossible.
	seen = 0.95
)

// main writes the table to the file that is its argument.
func main() {
	if len(os.Args) != 2 {
		log.Fatal("usage: generate FILE")
	}
	root, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		log.Fatal(err)
	}
	count, err := countGroups(filepath.Join(strings.TrimSpace(string(root)), "src"))
	if err != nil {
		log.Fatal(err)
	}
	if err := os.WriteFile(os.Args[1], buildTable(count), 0o644); err != nil {
		log.Fatal(err)
	}
}

// countGroups counts the groups of three letters in the comments below a folder.
func countGroups(root string) ([]int, error) {
	count := make([]int, groups)
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && d.Name() == "testdata" {
			return fs.SkipDir
		}
		if !strings.HasSuffix(path, ".go") {
			return nil
		}
		f, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			return fmt.Errorf("parse %s: %w", path, err)
		}
		for _, c := range f.Comments {
			addText(count, strings.ToLower(c.Text()))
		}
		return nil
	})
	return count, err
}

// addText counts the groups of a text; none goes over the end of a word.
func addText(count []int, text string) {
	for i := 0; i+3 <= len(text); i++ {
		if a, b, c := text[i], text[i+1], text[i+2]; isLetter(a) && isLetter(b) && isLetter(c) {
			count[(int(a-'a')*letters+int(b-'a'))*letters+int(c-'a')]++
		}
	}
}

// isLetter reports whether the byte is a small letter.
func isLetter(c byte) bool { return c >= 'a' && c <= 'z' }

// buildTable turns counts into information: of each group, then of each letter, in eighths
// of a bit.
func buildTable(count []int) []byte {
	var single [letters]float64
	total := 0.0
	for i, n := range count {
		single[i/letters/letters] += float64(n)
		total += float64(n)
	}
	for i := range single {
		single[i] = (single[i] + 1) / (total + letters)
	}
	out := make([]byte, 0, groups+letters)
	for i, n := range count {
		byLetters := single[i/letters/letters] * single[i/letters%letters] * single[i%letters]
		out = append(out, toEighths(seen*float64(n)/total+(1-seen)*byLetters))
	}
	for _, p := range single {
		out = append(out, toEighths(p))
	}
	return out
}

// toEighths returns the information of an event of the probability, in eighths of a bit.
func toEighths(p float64) byte { return byte(min(255, math.Round(-8*math.Log2(p)))) }
