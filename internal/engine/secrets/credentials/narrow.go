package credentials

import (
	"maps"
	"slices"
	"sort"
	"strings"

	"github.com/betterleaks/betterleaks/config"
)

// This file spares work. Two rules begin with words as common as "key", so that
// the library would run them over nearly every file, and they took four fifths
// of the time. Each gets a rule set of its own, which sees only the parts of a
// text in which it can match at all; what it finds is the same.

const (
	genericRule = "generic-api-key"
	storageRule = "azure-storage-account-key"
	storageName = "azure-storage-account-name" // the companion of storageRule
)

// filterRules returns the configuration with those of its rules that keep says.
func filterRules(cfg *config.Config, keep func(id string) bool) *config.Config {
	drop := func(id string) bool { return !keep(id) }
	c := *cfg
	c.Rules = maps.Clone(cfg.Rules)
	maps.DeleteFunc(c.Rules, func(id string, _ config.Rule) bool { return drop(id) })
	c.OrderedRules = slices.DeleteFunc(slices.Clone(cfg.OrderedRules), drop)
	c.NoKeywordRules = slices.DeleteFunc(slices.Clone(cfg.NoKeywordRules), drop)
	c.Keywords, c.KeywordToRules = map[string]struct{}{}, map[string][]string{}
	for word, ids := range cfg.KeywordToRules {
		if kept := slices.DeleteFunc(slices.Clone(ids), drop); len(kept) > 0 {
			c.Keywords[word], c.KeywordToRules[word] = struct{}{}, kept
		}
	}
	return &c
}

// An excerpt is some lines of a text.
type excerpt struct {
	text string
	at   []int // offsets in the excerpt at which a part begins
	from []int // and where it stands in the text
}

// wholeExcerpt returns all of the text.
func wholeExcerpt(text string) excerpt { return excerpt{text, []int{0}, []int{0}} }

// originalSpan returns where a place of the excerpt stands in the text.
func (x excerpt) originalSpan(s span) span {
	i := sort.SearchInts(x.at, s.start+1) - 1
	return s.shiftBy(x.from[i] - x.at[i])
}

// separator ends a part of an excerpt: no pattern matches across it.
const separator = "\n\x00\n"

// words are the beginnings of the words that the generic rule looks for.
var words = []string{"access", "auth", "api", "cred", "key", "passw", "secret", "token"}

// How far behind the beginning of the word the rest stands: the rest of the word,
// 20 characters of a name, three of quotes and space, then the sign that gives it
// a value (assignment); three characters of that, five of quotes and space, some
// of them line breaks, then the value (worth).
const (
	assignment = 36
	worth      = assignment + 12
)

// assignmentLines returns the lines in which a word of the generic rule is followed
// by a sign of assignment, each with the lines on which the value may stand.
func assignmentLines(text string) excerpt {
	lower := strings.ToLower(text)
	if len(lower) != len(text) {
		return wholeExcerpt(text) // a letter whose lower case is longer; offsets would be off
	}
	var starts []int
	for _, word := range words {
		for at := 0; ; {
			i := strings.Index(lower[at:], word)
			if i < 0 {
				break
			}
			at += i + len(word)
			if strings.ContainsAny(lower[at:min(at+assignment, len(lower))], "=>|:?,") {
				starts = append(starts, at)
			}
		}
	}
	slices.Sort(starts)
	var x excerpt
	var b strings.Builder
	for i := 0; i < len(starts); {
		start, end := lineStart(text, starts[i]), 0
		for ; i < len(starts) && (end == 0 || starts[i] < end); i++ {
			end = lineEnd(text, starts[i]+worth)
		}
		x.at, x.from = append(x.at, b.Len()), append(x.from, start)
		b.WriteString(text[start:end])
		b.WriteString(separator)
	}
	x.text = b.String()
	return x
}

// lineEnd returns the offset behind the line of the byte.
func lineEnd(text string, at int) int {
	at = min(at, len(text))
	if i := strings.IndexByte(text[at:], '\n'); i >= 0 {
		return at + i + 1
	}
	return len(text)
}

// hasStorageKey reports whether the text holds something of the form of an Azure
// storage key: 86 characters of Base64 and "==".
func hasStorageKey(text string) bool {
	for at := 0; ; {
		i := strings.Index(text[at:], "==")
		if i < 0 {
			return false
		}
		run := at + i
		for run > at && isBase64Byte(text[run-1]) {
			run--
		}
		if at+i-run >= 86 {
			return true
		}
		at += i + 2
	}
}
