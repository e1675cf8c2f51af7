package analyzer

import (
	"bytes"
	"cmp"
	"hash/maphash"
	"path"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"merlon/internal/engine/sast"
	"merlon/internal/engine/sast/lang"
	"merlon/internal/finding"
)

// This file joins what is found again in a copy of the code: a tree often holds a
// source, what was built of it for one loader or another, and both in one bundle. To
// mend the one is to mend them all, so it is one flaw.

// A joinedMatch is a match with the locations of the same vulnerability in copies of its code.
type joinedMatch struct {
	match int
	also  []finding.Location
}

// Limits of what is looked at for copies, so that a thousand files with one line in
// common cost no more than they say.
const (
	maxAlso  = 20 // that a finding names
	maxFirst = 30 // that a match is compared with
)

// copies finds copies among the files that rules have matched.
type copies struct {
	texts  map[string][]byte
	starts []packageStart
	lines  map[string]map[uint64]bool // distinct lines, by path; see linesOf
	pairs  map[[2]string]bool         // what same has answered
	seed   maphash.Seed
}

// newCopies indexes the texts of the files. Lines and pairs are computed when a rule first asks:
// most files have no finding, and need neither.
func newCopies(files []sast.Source, starts []packageStart) *copies {
	c := &copies{texts: map[string][]byte{}, starts: starts, lines: map[string]map[uint64]bool{},
		pairs: map[[2]string]bool{},
		seed:  maphash.MakeSeed()}
	for _, f := range files {
		c.texts[f.Path] = f.Text
	}
	return c
}

// joinCopies returns the matches of the list, each with those that are copies of it. Two matches
// are copies when a rule of the build flags the same code in files that are; those between the
// same lines first, for one file may hold the code more than once. What is in the copy that runs
// is the finding; see before. Only rules of the build are joined: what the user's rules mean is
// not known.
func (c *copies) joinCopies(matches []sast.Match, list []int, own func(*sast.Match) bool) []joinedMatch {
	w := copyJoin{c, matches, map[int][]finding.Location{}, map[int]bool{}}
	for _, key := range []func(*sast.Match) string{c.codeWithContext, c.flaggedCode} {
		groups := map[[2]string][]int{}
		for _, i := range list {
			if m := &matches[i]; !w.gone[i] && own(m) {
				if text := key(m); text != "" {
					k := [2]string{m.Rule.ID, text}
					groups[k] = append(groups[k], i)
				}
			}
		}
		for _, group := range groups {
			slices.SortFunc(group, func(a, b int) int {
				return cmp.Or(c.compareCopies(matches[a].Path, matches[b].Path), cmp.Compare(a, b))
			})
			w.joinGroup(group)
		}
	}
	var out []joinedMatch
	for _, i := range list {
		if !w.gone[i] {
			out = append(out, joinedMatch{i, w.also[i]})
		}
	}
	return out
}

// copyJoin is the work of join.
type copyJoin struct {
	*copies
	matches []sast.Match
	also    map[int][]finding.Location
	gone    map[int]bool // joined to another
}

// joinGroup joins matches of the same code, the first ones first. The number of copies that a
// finding names is bounded.
func (j *copyJoin) joinGroup(list []int) {
	for n, i := range list {
		first := j.firstCopied(list[:n], j.matches[i].Path)
		if first < 0 {
			continue
		}
		j.gone[i] = true
		if m := &j.matches[i]; len(j.also[first]) < maxAlso {
			j.also[first] = append(j.also[first], locationOf(m.Path, m.Start, m.End))
		}
	}
}

// firstCopied returns the first match of the list in a file that the file is a copy of, and
// that has no copy there yet; -1 for none.
func (j *copyJoin) firstCopied(list []int, name string) int {
	compared := 0
	for _, i := range list {
		if j.gone[i] || slices.ContainsFunc(j.also[i], func(at finding.Location) bool { return at.Path == name }) {
			continue
		}
		if compared++; compared > maxFirst {
			break
		}
		if j.areCopies(j.matches[i].Path, name) {
			return i
		}
	}
	return -1
}

// codeWithContext returns the flagged code with the lines before and behind it. The same line
// often stands in one file more than once.
func (c *copies) codeWithContext(m *sast.Match) string {
	code, text := c.flaggedCode(m), c.texts[m.Path]
	if code == "" {
		return ""
	}
	start := bytes.LastIndexByte(text[:m.Start.Offset], '\n')
	before := text[bytes.LastIndexByte(text[:max(start, 0)], '\n')+1 : max(start, 0)]
	_, rest, _ := bytes.Cut(text[m.End.Offset:], []byte{'\n'})
	behind, _, _ := bytes.Cut(rest, []byte{'\n'})
	return string(stripSpace(before)) + "\n" + code + "\n" + string(stripSpace(behind))
}

// flaggedCode returns the flagged code without white space. Formatters and minifiers change the
// layout only.
func (c *copies) flaggedCode(m *sast.Match) string {
	text := c.texts[m.Path]
	if m.Start.Offset >= m.End.Offset || m.End.Offset > len(text) {
		return ""
	}
	return string(stripSpace(text[m.Start.Offset:m.End.Offset]))
}

// stripSpace removes all white space.
func stripSpace(text []byte) []byte {
	return bytes.Map(func(r rune) rune {
		if unicode.IsSpace(r) {
			return -1
		}
		return r
	}, text)
}

// compareCopies orders copies: code that serves users, code that runs, sources before what is
// built of them, then the path that is shorter.
func (c *copies) compareCopies(a, b string) int {
	return cmp.Or(orderBools(!lang.Aside(a), !lang.Aside(b)), orderBools(c.isStarted(a), c.isStarted(b)),
		cmp.Compare(buildRole(a), buildRole(b)),
		cmp.Compare(strings.Count(a, "/"), strings.Count(b, "/")), cmp.Compare(len(a), len(b)), cmp.Compare(a, b))
}

// orderBools puts what holds first.
func orderBools(a, b bool) int {
	switch {
	case a == b:
		return 0
	case a:
		return -1
	}
	return 1
}

// isStarted reports whether the package of the file is started there, or in another file
// that was made in the same way.
func (c *copies) isStarted(name string) bool {
	folder := ""
	for _, s := range c.starts {
		if len(s.folder) >= len(folder) && (s.folder == "" || strings.HasPrefix(name, s.folder+"/")) {
			folder = s.folder
		}
	}
	rest := strings.TrimPrefix(strings.TrimPrefix(name, folder), "/")
	return slices.ContainsFunc(c.starts, func(s packageStart) bool {
		return s.folder == folder && folderRolesOf(s.file) == folderRolesOf(rest)
	})
}

// A role of a folder tells what its files were made for.
type role uint8

const (
	source role = iota + 1
	either
	made
)

var folderRoles = map[string]role{
	"src": source, "source": source, "sources": source, "lib": either, "libs": either, "module": either,
	"modules": either,
	"node":    either, "browser": either, "web": either, "public": either, "static": either, "assets": either,
	"dist": made, "build": made, "built": made, "out": made, "output": made, "release": made, "compiled": made,
	"bundle":  made,
	"bundles": made, "es": made, "es5": made, "es6": made, "es2015": made, "esm": made, "esnext": made, "cjs": made,
	"commonjs": made, "amd": made, "umd": made, "iife": made, "min": made, "legacy": made, "modern": made,
}

// folderRolesOf returns the folders of a path that tell what the file was made for. Two copies of
// a library differ in these folders.
func folderRolesOf(name string) string {
	var out []string
	for part := range strings.SplitSeq(path.Dir(name), "/") {
		if folderRoles[part] != 0 {
			out = append(out, part)
		}
	}
	return strings.Join(out, "/")
}

// buildRole tells how much a path says that the file was built of another. The folder that says
// most decides.
func buildRole(name string) role {
	most := source
	for part := range strings.SplitSeq(path.Dir(name), "/") {
		most = max(most, folderRoles[part])
	}
	return most
}

// The shares of the smaller file's lines that are in its copy: in one that was made in
// another way, in a bundle, and in an example.
const (
	mostOfMade   = 0.5
	mostInBundle = 0.7
	mostOfCopy   = 0.9
	fewLines     = 10 // of which all have to be there
	shortLine    = 10 // bytes; what is shorter is in every file
)

// areCopies reports whether two files are copies: most lines of the one are in the other, and
// their paths say why. It answers for a pair once. Pairs are compared for each rule that matched
// in both, so results are kept.
func (c *copies) areCopies(a, b string) bool {
	answer, ok := c.pairs[[2]string{a, b}]
	if !ok {
		answer = a != b && (path.Ext(a) == path.Ext(b) || scriptFile.MatchString(a) && scriptFile.MatchString(b)) &&
			c.areAlike(a, b)
		c.pairs[[2]string{a, b}] = answer
	}
	return answer
}

// areAlike reports whether most lines of the smaller file are in the other one. How many
// have to be depends on why the paths say that one is a copy.
func (c *copies) areAlike(a, b string) bool {
	most, ok := requiredShare(a, b)
	if !ok {
		return false
	}
	x, y := c.linesOf(a), c.linesOf(b)
	if len(x) > len(y) {
		x, y = y, x
	}
	if len(x) < fewLines {
		most = 1
	}
	n := 0
	for line := range x {
		if y[line] {
			n++
		}
	}
	return n > 0 && float64(n) >= most*float64(len(x))
}

// requiredShare returns the share of lines that two files must have in common to be
// copies; false when their paths do not say why they should be.
func requiredShare(a, b string) (float64, bool) {
	switch otherwise := folderRolesOf(a) != folderRolesOf(b); {
	case fileStem(a) != fileStem(b):
		return mostInBundle, otherwise && (buildRole(a) == made || buildRole(b) == made)
	case !otherwise && path.Base(a) == path.Base(b): // somebody copied it by hand: each has to be fixed
		return mostOfCopy, lang.Aside(a) || lang.Aside(b)
	}
	return mostOfMade, true
}

var (
	scriptFile = regexp.MustCompile(`\.[cm]?[jt]sx?$`)
	// variant matches what builds and releases add to a name.
	variant = regexp.MustCompile(`[-._](v?\d+(\.\d+)+|min|dev|development|prod|production|debug|node|browser|umd|amd|esm|cjs|es5|es6|common|global|bundle|all)$`)
)

// fileStem returns the name of a file without what builds and releases add to it. "app.min.js" and
// "app-1.2.3.js" are both "app".
func fileStem(name string) string {
	base := path.Base(name)
	base = strings.TrimSuffix(base, path.Ext(base))
	for {
		short := variant.ReplaceAllString(base, "")
		if short == base || short == "" {
			return base
		}
		base = short
	}
}

// linesOf returns the distinct lines of a file that are not short, hashed. They are kept as
// hashes: whole texts of all files would not fit.
func (c *copies) linesOf(name string) map[uint64]bool {
	if lines, ok := c.lines[name]; ok {
		return lines
	}
	lines := map[uint64]bool{}
	for line := range bytes.Lines(c.texts[name]) {
		if line = bytes.TrimSpace(line); len(line) >= shortLine {
			lines[maphash.Bytes(c.seed, line)] = true
		}
	}
	c.lines[name] = lines
	return lines
}
