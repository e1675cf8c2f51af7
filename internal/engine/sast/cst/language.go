package cst

import (
	"path"
	"slices"
	"strings"
	"sync"
	"unsafe"
)

// A Language is a grammar with its tables of names. It is safe for concurrent
// use.
type Language struct {
	Name       string   // as rules spell it: "java", "javascript"
	Extensions []string // with the dot, lower case
	Filenames  []string // whole names, lower case; "*" stands for anything

	grammar func() unsafe.Pointer
	tables  func() tables
	parsers sync.Pool
}

// tables are the names of a grammar. One name can belong to several kinds, such
// as a keyword that is a node of its own too.
type tables struct {
	kinds, fields []string
	kindOf        map[string][]Kind
	fieldOf       map[string]Field
}

// newLanguage returns a language whose tables are read when they are first asked
// for: a scan of one language pays for one.
func newLanguage(name string, grammar func() unsafe.Pointer, files ...string) *Language {
	l := &Language{Name: name, grammar: grammar}
	for _, f := range files {
		if strings.HasPrefix(f, ".") {
			l.Extensions = append(l.Extensions, f)
		} else {
			l.Filenames = append(l.Filenames, f)
		}
	}
	l.tables = sync.OnceValue(func() tables {
		t := tables{kindOf: map[string][]Kind{}, fieldOf: map[string]Field{}}
		t.kinds, t.fields = grammarNames(grammar())
		for i, name := range t.kinds {
			t.kindOf[name] = append(t.kindOf[name], Kind(i))
		}
		for i, name := range t.fields[1:] {
			t.fieldOf[name] = Field(i + 1)
		}
		return t
	})
	return l
}

// newText returns a language without a grammar. Its trees are one node, the text.
func newText(name string, files ...string) *Language {
	l := newLanguage(name, nil, files...)
	l.tables = func() tables { return tables{kinds: []string{"text"}} }
	return l
}

// KindName returns the name of a kind.
func (l *Language) KindName(k Kind) string {
	if k == KindError {
		return "ERROR"
	}
	if kinds := l.tables().kinds; int(k) < len(kinds) {
		return kinds[k]
	}
	return ""
}

// Kinds returns the kinds with the name; none for an unknown one.
func (l *Language) Kinds(name string) []Kind { return l.tables().kindOf[name] }

// FieldName returns the name of a field, "" for none.
func (l *Language) FieldName(f Field) string {
	if fields := l.tables().fields; int(f) < len(fields) {
		return fields[f]
	}
	return ""
}

// FieldOf returns the field with the name, 0 for an unknown one.
func (l *Language) FieldOf(name string) Field { return l.tables().fieldOf[name] }

// Matches reports whether a file of the path is written in the language, by its
// name alone.
func (l *Language) Matches(file string) bool {
	base := strings.ToLower(path.Base(file))
	return slices.Contains(l.Extensions, path.Ext(base)) || slices.ContainsFunc(l.Filenames, func(name string) bool {
		ok, err := path.Match(name, base)
		return ok && err == nil // the patterns are ours and valid
	})
}
