package credfile

import (
	"strings"

	"merlon/internal/finding"
)

// This file says what a format is: how a file is recognized, how its entries are read and
// which of them are secrets.

// format is a kind of file that holds credentials.
type format struct {
	// The id is the last part of the rule id; it must not change, since fingerprints and
	// exceptions refer to it. name is the title.
	id, name string
	what     string // a sentence about the files, for people
	class    *secretClass
	files    string // names, with * for anything and the folders above, in lower case
	words    string // one of these, in any case, must be in the text; empty: always
	keys     string // names of secret entries, squeezed; "*": by their name; empty: every entry
	under    string // a scope that must be above the entry; may be empty
	// The parser of the syntax; several formats share one. Nil when find does everything.
	read func(*file) []entry
	// loose formats are configuration of all kinds, in which only what looks like
	// a secret by name and value is told; files of the others hold credentials.
	loose bool
	// near tells that a secret counts only beside the name of a host.
	near bool
	find func(*file, *format) // by default the entries of read

	// Made by prepare from class, id, name and what.
	rule *finding.Rule
	// Position in the table. All formats of a file name are tried in this order, and a secret goes
	// by the first that reports it.
	order int
	// keys as a set.
	names map[string]bool
	// keys contains "*": names that sound like a secret count too.
	any bool
	// words as a list; empty: no condition.
	hints []string
}

// prepare makes the rule and the tables of the row.
// It must run once before the format is used. The table is built at the start of the program.
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
// The test comes before any parsing: most files with a general name contain none of the words,
// and a search is much cheaper than a parser.
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
		// The upper-case form of an ASCII letter.
		high = low - 32
	}
	// -2 means not searched yet, -1 that the byte does not occur any more.
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
	// isProse rejects sentences ("Enter your password") in the place of a password; tokens have no
	// spaces anyway.
	if len(splitName(key)) > 1 && strings.EqualFold(normalizeName(value), normalizeName(key)) {
		return false // db_password: db_password
	}
	return !isPlaceholder(value) && !IsPublished(value) && (!x.loose || isPlausible(key, value)) &&
		(x.class != passwordClass || !isProse(value))
}

// hostScopes returns the scopes in which an entry names a host.
// A password beside a host name is in use somewhere; one alone in a YAML file may be a test
// value.
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
	// pairedEntries are those of lists of objects with a name and a value: {"name": "DB_PASSWORD",
	// "value": "x"}.
	for _, e := range append(entries, pairedEntries(f, entries)...) {
		value := f.text[e.start:e.end]
		// In a loose format a value that equals a user or database name (password: postgres) is a
		// default of a development setup.
		if !x.isSecretEntry(e) || x.near && !hosts[e.in] || !x.isSecretValue(e.key, value) || x.loose && names[value] {
			continue
		}
		m := Match{Rule: x.rule, Start: e.start, End: e.end}
		// A trivial value such as "admin" is reported with low confidence: it may be real, but is
		// rarely worth protecting.
		if isTrivial(value) {
			m.Confidence, m.Terms = finding.LowConfidence, weakTerms
		}
		// Guesses are dropped in minified code, in texts of a user interface, and in tests and
		// examples unless they are random.
		if x.loose {
			f.addGuess(m)
			continue
		}
		f.addMatch(m)
	}
}

// findWeakPasswords reports passwords of deployment files that are no secret to an attacker: words
// of examples, and the name of the account itself.
func findWeakPasswords(f *file, x *format) {
	entries := readYAML(f)
	names := accountNames(f, entries)
	for _, e := range append(entries, pairedEntries(f, entries)...) {
		value := f.text[e.start:e.end]
		if !isPasswordName(e.key) || !isSecretName(e.key) || isPlaceholder(value) || len(value) < 3 ||
			!isTrivial(value) && !names[value] || IsExampleContext(f.text, e.start) {
			continue
		}
		if !f.shown && !f.words {
			f.addMatch(Match{Rule: x.rule, Start: e.start, End: e.end})
		}
	}
}

// accountNames returns the names of users and databases: who takes one as password
// does so where it does not matter.
func accountNames(f *file, entries []entry) map[string]bool {
	out := map[string]bool{}
	for _, e := range entries {
		// 100 bytes: longer values are no account names.
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
	// Without keys every entry of the format is a secret.
	if len(x.names) == 0 || x.names[normalizeName(e.key)] {
		return true
	}
	return x.any && isSecretName(e.key)
}
