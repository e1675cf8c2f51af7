package credfile

import (
	"strings"

	"merlon/internal/finding"
)

// This file says what a format is.

// format is a kind of file that holds credentials.
type format struct {
	id, name string
	what     string // a sentence about the files, for people
	class    *secretClass
	files    string // names, with * for anything and the folders above, in lower case
	words    string // one of these, in any case, must be in the text; empty: always
	keys     string // names of secret entries, squeezed; "*": by their name; empty: every entry
	under    string // a scope that must be above the entry; may be empty
	read     func(*file) []entry
	// loose formats are configuration of all kinds, in which only what looks like
	// a secret by name and value is told; files of the others hold credentials.
	loose bool
	// near tells that a secret counts only beside the name of a host.
	near bool
	find func(*file, *format) // by default the entries of read

	rule  *finding.Rule
	order int
	names map[string]bool
	any   bool
	hints []string
}

// prepare makes the rule and the tables of the row.
func (x *format) prepare() {
	x.rule = x.class.newRule(x.id, x.name, x.what)
	x.names = map[string]bool{}
	for _, key := range strings.Fields(x.keys) {
		x.any = x.any || key == "*"
		x.names[key] = true
	}
	x.hints = strings.Fields(x.words)
	if x.find == nil {
		x.find = findEntries
	}
}

// isMentioned reports whether the text can hold anything of the format.
func (x *format) isMentioned(text string) bool {
	if len(x.hints) == 0 {
		return true
	}
	for _, w := range x.hints {
		if containsFold(text, w) {
			return true
		}
	}
	return false
}

// containsFold reports whether the lower-case ASCII word is in the text in any
// case.
func containsFold(text, word string) bool { return indexFold(text, word, 0) >= 0 }

// indexFold returns where the lower-case ASCII word begins in the text from the
// offset on, in any case, or -1. It looks for the rarer spellings of the first
// byte at once, so that it does without a copy of the text.
func indexFold(text, word string, from int) int {
	low, high := word[0], word[0]
	if 'a' <= low && low <= 'z' {
		high = low - 32
	}
	nextLow, nextHigh := -2, -2
	for at := from; at+len(word) <= len(text); {
		if nextLow != -1 && nextLow < at {
			nextLow = nextByte(text, low, at)
		}
		if nextHigh != -1 && nextHigh < at {
			nextHigh = nextByte(text, high, at)
		}
		at = nextLow
		if at < 0 || nextHigh >= 0 && nextHigh < at {
			at = nextHigh
		}
		if at < 0 || at+len(word) > len(text) {
			return -1
		}
		if strings.EqualFold(text[at:at+len(word)], word) {
			return at
		}
		at++
	}
	return -1
}

// nextByte returns the next place of a byte, -1 when there is none.
func nextByte(text string, b byte, from int) int {
	if i := strings.IndexByte(text[from:], b); i >= 0 {
		return from + i
	}
	return -1
}

// isSecretValue reports whether the value may be a secret in a file of the format. Where
// names are only likely to be those of secrets, the value must look like one.
func (x *format) isSecretValue(key, value string) bool {
	return !isPlaceholder(value) && (!x.loose || isPlausible(key, value)) &&
		(x.class != passwordClass || !isProse(value))
}

// hostScopes returns the scopes in which an entry names a host.
func hostScopes(entries []entry) map[*scope]bool {
	hosts := map[*scope]bool{}
	for _, e := range entries {
		if isHostName(e.key) {
			hosts[e.in] = true
		}
	}
	return hosts
}

// findEntries reports the secret entries of a file.
func findEntries(f *file, x *format) {
	entries := x.read(f)
	var hosts map[*scope]bool
	if x.near {
		hosts = hostScopes(entries)
	}
	var names map[string]bool
	if x.loose {
		names = accountNames(f, entries)
	}
	for _, e := range append(entries, pairedEntries(f, entries)...) {
		value := f.text[e.start:e.end]
		if !x.isSecretEntry(e) || x.near && !hosts[e.in] || !x.isSecretValue(e.key, value) || x.loose && names[value] {
			continue
		}
		m := Match{Rule: x.rule, Start: e.start, End: e.end}
		if isTrivial(value) {
			m.Confidence = finding.LowConfidence
		}
		if x.loose {
			f.addGuess(m)
			continue
		}
		f.addMatch(m)
	}
}

// accountNames returns the names of users and databases: who takes one as password
// does so where it does not matter.
func accountNames(f *file, entries []entry) map[string]bool {
	out := map[string]bool{}
	for _, e := range entries {
		words := splitName(e.key)
		if len(words) == 0 || e.end-e.start > 100 {
			continue
		}
		switch words[len(words)-1] {
		case "user", "username", "name", "db", "database", "login", "schema":
			out[f.text[e.start:e.end]] = true
		}
	}
	return out
}

// isSecretEntry reports whether the entry is one of those that hold a secret.
func (x *format) isSecretEntry(e entry) bool {
	if x.under != "" && !e.in.isBelow(x.under) {
		return false
	}
	if len(x.names) == 0 || x.names[normalizeName(e.key)] {
		return true
	}
	return x.any && isSecretName(e.key)
}
