// Package credfile finds credentials by the format of the file that they are in:
// files that programs keep their passwords in, such as .netrc or .pgpass,
// configuration of frameworks, key stores, and addresses with a password in any
// text.
//
// A format is a row of a table: the names its files go by, how they are read
// into entries, and which entries are secret. What no program would accept as a
// credential, such as a placeholder or a reference to a variable, is left out.
// Nothing here opens a file, and every reader takes time and memory in
// proportion to the text.
package credfile

import (
	"cmp"
	"path"
	"slices"
	"strings"

	"merlon/internal/finding"
	"merlon/internal/severity"
)

// A Match is a credential in a file.
type Match struct {
	Rule *finding.Rule
	// Start and End are offsets in bytes. Both are zero for a file as a whole.
	Start, End int
	// Confidence is set where it is less than the rule's.
	Confidence finding.Confidence
	// Terms say what the value tells about its severity.
	Terms []finding.SeverityTerm
	// Note is added to the message; it may be empty.
	Note string
}

// Rules returns every rule, by its id.
func Rules() []*finding.Rule {
	var out []*finding.Rule
	for i := range formats {
		out = append(out, formats[i].rule)
	}
	for _, r := range textRules {
		out = append(out, r)
	}
	for _, s := range signatures {
		out = append(out, s.rule)
	}
	slices.SortFunc(out, func(a, b *finding.Rule) int { return cmp.Compare(a.ID, b.ID) })
	return slices.Compact(out)
}

// IsCredentialFile reports whether the name is that of a credential file, so that it is to
// be looked at whatever its ending.
func IsCredentialFile(name string) bool {
	f := newFile(name, "")
	return slices.ContainsFunc(f.possibleFormats(), func(x *format) bool { return !x.loose }) || f.hasStoreName()
}

// Find returns the credentials of a text file, by their place. whole is false
// when the file is made to cost more than any file of people does, so that the
// rest of it was not looked at.
func Find(name, text string) (matches []Match, whole bool) {
	f := newFile(name, text)
	for _, x := range f.possibleFormats() {
		if f.words || x.loose && f.sample || !x.isMentioned(text) {
			continue
		}
		x.find(f, x)
	}
	f.findConnections()
	return f.sortedMatches(), f.spent <= budget
}

// budget is the work for one file, in bytes that are read once more around
// something that may be a secret.
const budget = 128 << 20

// spendWork notes work, and reports whether there may be more of it.
func (f *file) spendWork(bytes int) bool {
	f.spent += bytes
	return f.spent <= budget
}

// MayConcern reports whether a part of the file speaks of what Find may find in the
// whole of it.
func MayConcern(name, part string) bool {
	f := newFile(name, "")
	for _, x := range f.possibleFormats() {
		if x.isMentioned(part) {
			return true
		}
	}
	for _, mark := range []string{"@", "=", "-----BEGIN ", "PuTTY-User-Key-File-", "== ed25519v1-secret:"} {
		if strings.Contains(part, mark) {
			f.text = part
			f.findConnections()
			return len(f.found) > 0 || strings.Contains(part, "PuTTY") || strings.Contains(part, "-----BEGIN ")
		}
	}
	return false
}

// file is a file that is looked at.
type file struct {
	path   string // lower case
	base   string // lower case
	text   string
	sample bool // the name says that it is an example
	shown  bool // it belongs to tests, examples or manuals
	words  bool // it holds the words of a user interface
	found  []Match
	spent  int // see budget
}

// newFile returns a file with what its path says of it. Names are compared in lower case;
// the leading slash lets a folder be asked for with slashes on both sides.
func newFile(name, text string) *file {
	lower := strings.ToLower(name)
	f := &file{path: "/" + lower, base: path.Base(lower), text: text, shown: severity.ContextOf(name).Harmless(),
		words: isTranslation("/" + lower)}
	for _, word := range []string{"example", "sample", "template", ".dist", "default", ".tpl", ".tmpl", "skeleton"} {
		f.sample = f.sample || strings.Contains(f.base, word)
	}
	return f
}

// possibleFormats returns the formats that the file may have.
func (f *file) possibleFormats() []*format {
	var out []*format
	add := func(list []int) {
		for _, i := range list {
			if p := &table.patterns[i]; p.matchesFile(f) && !slices.Contains(out, p.format) {
				out = append(out, p.format)
			}
		}
	}
	add(table.byBase[f.base])
	add(table.byEnd[path.Ext(f.base)])
	add(table.others)
	slices.SortStableFunc(out, func(a, b *format) int { return cmp.Compare(a.order, b.order) })
	return out
}

// addMatch notes a secret, unless it stands in one that is known: earlier formats
// say more.
func (f *file) addMatch(m Match) {
	if m.Start < 0 || m.End > len(f.text) || m.Start > m.End {
		return
	}
	f.found = append(f.found, m)
}

// addGuess notes what is likely a secret by its name or the words around it: not in
// the words of a user interface and in code that a program made, and in tests and
// manuals only where it looks like one by itself.
func (f *file) addGuess(m Match) {
	if !f.spendWork(longLine) || f.words || IsExampleContext(f.text, m.Start) ||
		f.shown && !IsRandom(f.text[m.Start:m.End]) ||
		IsMinified(f.text, m.Start, m.End) {
		return
	}
	f.addMatch(m)
}

// sortedMatches returns what was found by its place, and what was found twice once.
func (f *file) sortedMatches() []Match {
	slices.SortStableFunc(f.found, func(a, b Match) int {
		return cmp.Or(cmp.Compare(a.Start, b.Start), cmp.Compare(b.End, a.End))
	})
	var out []Match
	reach := -1
	for _, m := range f.found {
		if m.Start < reach && m.End <= reach {
			continue
		}
		out = append(out, m)
		reach = max(reach, m.End)
	}
	return out
}

// namePattern is one of the names that the files of a format go by.
type namePattern struct {
	format *format
	dir    string // what the path above the base ends with; may be empty
	base   string // with * for anything
}

// matchesFile reports whether the file has the name, in a folder of the name where the
// pattern has one.
func (p *namePattern) matchesFile(f *file) bool {
	if p.dir != "" && !strings.HasSuffix(f.path[:len(f.path)-len(f.base)], "/"+p.dir+"/") {
		return false
	}
	ok, err := path.Match(p.base, f.base)
	return ok && err == nil
}

// formatIndex holds the names of the formats: all of them, and those to be tried by the
// base of a name, by its ending, and always.
type formatIndex struct {
	patterns []namePattern
	byBase   map[string][]int
	byEnd    map[string][]int
	others   []int
}

// table is the index of the formats, which it completes.
var table = newFormatIndex(formats)

// newFormatIndex returns an index of the formats, so that a file is compared only with the
// few whose names end as its own does.
func newFormatIndex(formats []format) *formatIndex {
	t := &formatIndex{byBase: map[string][]int{}, byEnd: map[string][]int{}}
	for i := range formats {
		x := &formats[i]
		x.order = i
		x.prepare()
		for _, name := range strings.Fields(x.files) {
			n := len(t.patterns)
			dir, base := path.Split(name)
			t.patterns = append(t.patterns, namePattern{x, strings.TrimSuffix(dir, "/"), base})
			switch ext := path.Ext(base); {
			case !strings.Contains(base, "*"):
				t.byBase[base] = append(t.byBase[base], n)
			case ext != "" && !strings.Contains(ext, "*"):
				t.byEnd[ext] = append(t.byEnd[ext], n)
			default:
				t.others = append(t.others, n)
			}
		}
	}
	return t
}
