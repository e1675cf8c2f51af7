// Package all lists the languages of this build and finds one by the name that a
// rule gives or by the path of a file. The list is generated: a language is one
// folder below lang and one line here, which "go generate ./internal/engine/sast/lang/all"
// writes.
package all

import (
	"slices"
	"strings"
	"sync"

	"merlon/internal/engine/sast/cst"
	"merlon/internal/engine/sast/lang"
)

//go:generate go run ./generate

// Languages returns every language of this build, by folder. The slice is the
// caller's.
func Languages() []*lang.Language { return slices.Clone(languages) }

// ByName returns the language that rules call by the name, in any case; nil when
// there is none. Of several that share a spelling it is the one whose Name it is.
func ByName(spelling string) *lang.Language { return bySpelling()[strings.ToLower(spelling)] }

// Named returns every language that rules mean by the name, in any case: "typescript"
// means TypeScript and TSX.
func Named(spelling string) []*lang.Language {
	spelling = strings.ToLower(spelling)
	var named []*lang.Language
	for _, l := range languages {
		if l.Is(spelling) {
			named = append(named, l)
		}
	}
	return named
}

// ForFile returns the language in which a file of the path is written, by its name
// alone; nil when there is none. Where two languages claim a name, the order of
// cst.Languages decides.
func ForFile(path string) *lang.Language {
	for _, l := range byRank() {
		if l.Grammar.Matches(path) {
			return l
		}
	}
	return nil
}

// bySpelling maps the names that rules use to languages. It is built once, at the first
// rule.
var bySpelling = sync.OnceValue(func() map[string]*lang.Language {
	spellings := map[string]*lang.Language{}
	for _, l := range languages {
		for _, s := range l.Spellings {
			// The spellings of a dialect that another language has, too, are that one's.
			if other := spellings[s]; other == nil || len(l.Spellings) < len(other.Spellings) {
				spellings[s] = l
			}
		}
	}
	return spellings
})

// byRank lists the languages in the order in which they claim files.
var byRank = sync.OnceValue(func() []*lang.Language {
	ranked := slices.Clone(languages)
	slices.SortStableFunc(ranked, func(a, b *lang.Language) int { return grammarRank(a) - grammarRank(b) })
	return ranked
})

// grammarRank is the place of the language's grammar in cst.Languages; grammars that are
// not listed there come last.
func grammarRank(l *lang.Language) int {
	if i := slices.Index(cst.Languages, l.Grammar); i >= 0 {
		return i
	}
	return len(cst.Languages)
}
