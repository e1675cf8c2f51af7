package scan

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"merlon/internal/scan/glob"
)

// This file reads the ignore file at the root of a tree. Its syntax is that of .gitignore
// (gitignore(5), "PATTERN FORMAT"). It suppresses only findings of static analysis in the
// matching files: secrets, dependencies and the rest must not be suppressed by a file that
// every committer can change.

// IgnoreFile is the name of the ignore file.
const IgnoreFile = ".merlonignore"

const (
	maxIgnoreFile  = 1 << 20
	maxIgnoreLines = 10_000
)

// ignore is the list of patterns of an ignore file.
type ignore []pattern

// pattern is one line of an ignore file.
type pattern struct {
	*glob.Glob
	negated bool
	folder  bool // matches folders only
}

// readIgnore reads the tree's ignore file, if there is one.
func readIgnore(t *tree) (ignore, error) {
	b, err := t.readFile(IgnoreFile, maxIgnoreFile)
	if errors.Is(err, fs.ErrNotExist) || t.dir == "" {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return parseIgnore(string(b))
}

// parseIgnore reads the text of an ignore file.
func parseIgnore(text string) (ignore, error) {
	var ig ignore
	for n, line := range strings.Split(strings.TrimPrefix(text, "\uFEFF"), "\n") {
		p, ok, err := parsePattern(strings.TrimSuffix(line, "\r"))
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", n+1, err)
		}
		if ok {
			ig = append(ig, p)
		}
		if len(ig) > maxIgnoreLines {
			return nil, fmt.Errorf("more than %d patterns", maxIgnoreLines)
		}
	}
	return ig, nil
}

// ignoresFile reports whether the file at the path is ignored: the last matching pattern
// decides, and a negated pattern cannot re-include a file of an ignored folder.
func (ig ignore) ignoresFile(path string) bool {
	if len(ig) == 0 {
		return false
	}
	for i, c := range path {
		if c == '/' && ig.ignoresPath(path[:i], true) {
			return true
		}
	}
	return ig.ignoresPath(path, false)
}

// ignoresPath applies the last pattern that matches the path itself.
func (ig ignore) ignoresPath(path string, folder bool) bool {
	for i := len(ig) - 1; i >= 0; i-- {
		if p := ig[i]; (folder || !p.folder) && p.Match(path) {
			return !p.negated
		}
	}
	return false
}

// parsePattern reads one line; ok is false when it contains no pattern.
func parsePattern(line string) (p pattern, ok bool, err error) {
	for strings.HasSuffix(line, " ") && !strings.HasSuffix(line, `\ `) {
		line = strings.TrimSuffix(line, " ")
	}
	if line == "" || line[0] == '#' {
		return p, false, nil
	}
	if line[0] == '!' {
		p.negated, line = true, line[1:]
	}
	if strings.HasSuffix(line, "/") {
		p.folder, line = true, strings.TrimSuffix(line, "/")
	}
	if line == "" {
		return p, false, nil
	}
	if p.Glob, err = glob.Compile(line); err != nil {
		return p, false, fmt.Errorf("pattern %q: %w", truncateText(line, 100), err)
	}
	return p, true, nil
}
