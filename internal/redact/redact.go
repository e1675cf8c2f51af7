// Package redact removes the secrets of a scan from what the scan reports. A Set knows
// the secrets: what users have entered about a target, and what the scan was given when
// it signed in. Text and Copy replace each of them by finding.Redacted, plain, in part of
// a longer text, and in the encodings by which applications reflect what they were sent.
//
// A value that is long or random is replaced wherever it stands, and one that is a word
// where it stands alone. One that says nothing by itself ("1", "true", "admin") would
// take the report with it: it is replaced only where its name stands before it.
package redact

import (
	"errors"
	"maps"
	"slices"
	"strings"
	"sync"

	"merlon/internal/errs"
	"merlon/internal/finding"
)

// A Set is the secrets of one scan. The zero value and nil know none. It is safe for
// concurrent use.
type Set struct {
	mu      sync.RWMutex
	secrets map[secret]bool
	// In lower case; see AddPublic.
	public []string
	// obtained counts the values that the application has handed out.
	obtained int
	index    *index // nil: something was added since
}

// A secret is a value and the names under which it is sent.
type secret struct {
	name  string // a header, cookie or parameter
	value string
}

// Bounds of a Set. A hostile application that sets new cookies with every answer must
// not slow down the scan; the values that users have entered come first.
const (
	// All values of a set: each text is searched for all of them and their encodings.
	maxSecrets = 2000
	// Values from the application, which an attacker could choose to fill the set.
	maxObtained = 300
	// Bytes; a longer value is a document and not a secret.
	maxValue    = 64 << 10
	minValue    = 1
	minAnywhere = 8 // bytes of a value that is replaced within other words
)

// Add adds a value that a user has entered as a secret, with the name of the header,
// cookie or parameter that carries it; Password stands for all names of passwords.
func (s *Set) Add(name, value string) {
	value = strings.TrimSpace(value)
	// Redacting the mark itself would nest marks.
	if s == nil || len(value) < minValue || len(value) > maxValue || value == finding.Redacted {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.secrets == nil {
		s.secrets = map[secret]bool{}
	}
	if k := (secret{name, value}); !s.secrets[k] && len(s.secrets) < maxSecrets {
		s.secrets[k], s.index = true, nil
	}
}

// AddAll adds everything that another set knows.
func (s *Set) AddAll(other *Set) {
	if other == nil {
		return
	}
	other.mu.RLock()
	defer other.mu.RUnlock()
	for k := range other.secrets {
		s.Add(k.name, k.value)
	}
	for _, text := range other.public {
		s.AddPublic(text)
	}
}

// Password is the name of a value that is sent under one of the names of passwords.
const Password = "\x00password"

// AddObtained adds a value that the application has handed out, such as a cookie, if it
// looks like a credential: applications also hand out languages and themes.
func (s *Set) AddObtained(name, value string) {
	if s == nil {
		return
	}
	// A name such as "session" with a value such as "dark-mode" is no credential.
	if value = strings.TrimSpace(value); isRandom(value) || len(value) >= minAnywhere && credential.MatchString(name) &&
		classifyValue(value, nil) == anywhere {
		s.mu.Lock()
		// Counted under the lock and added without it, since Add takes the lock itself.
		room := !s.secrets[secret{name, value}] && s.obtained < maxObtained
		if room {
			s.obtained++
		}
		s.mu.Unlock()
		if room {
			s.Add(name, value)
		}
	}
}

// AddPublic adds a text that everybody may see, such as the address of the target. A word
// of it that is a secret as well is replaced only behind its name.
func (s *Set) AddPublic(text string) {
	if s == nil || text == "" {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if text = strings.ToLower(text); !slices.Contains(s.public, text) {
		s.public, s.index = append(s.public, text), nil
	}
}

// RedactText returns the text with every secret replaced.
func (s *Set) RedactText(text string) string {
	if s == nil || text == "" {
		return text
	}
	return s.currentIndex().replaceSecrets(text)
}

// RedactError returns the error with every secret of its text replaced. errors.Is sees what it
// was, and errors.As finds an *errs.Error whose text is redacted as well.
func (s *Set) RedactError(err error) error {
	if err == nil {
		return nil
	}
	text := s.RedactText(err.Error())
	// Unchanged errors keep their type for errors.As.
	if text == err.Error() {
		return err
	}
	r := &redacted{text: text, err: err}
	if known := (*errs.Error)(nil); errors.As(err, &known) {
		shown := *known
		shown.Message, shown.Err = s.RedactText(known.Message), s.RedactError(known.Err)
		r.known = &shown
	}
	return r
}

// redacted is an error with a redacted text that keeps its kind and message for errors.As.
type redacted struct {
	text  string
	err   error
	known *errs.Error // nil: it is none
}

// Error returns the text without secrets.
func (e *redacted) Error() string { return e.text }

// Is sees what the error was.
func (e *redacted) Is(target error) bool { return errors.Is(e.err, target) }

// Unwrap returns what the error tells of itself.
func (e *redacted) Unwrap() error {
	if e.known == nil {
		return nil
	}
	return e.known
}

// currentIndex returns the index of the present secrets.
func (s *Set) currentIndex() *index {
	s.mu.RLock()
	x := s.index
	s.mu.RUnlock()
	if x != nil {
		return x
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.index == nil {
		s.index = newIndex(s.secrets, s.public)
	}
	return s.index
}

// An index finds secrets.
type index struct {
	patterns []pattern
	// Indexes in patterns, in the order of patterns.
	first [256][]int // patterns by their first byte
	// The first two bytes choose among thousands of patterns in one look-up.
	pairs map[uint16][]int // and by their first two
	weak  []weakSecret
}

// A pattern is a text that is replaced.
type pattern struct {
	text  string
	whole bool // only where it is a word of its own
}

// newIndex builds the search structure of the secrets. It is built once for many texts, because
// evidence has thousands of them.
func newIndex(secrets map[secret]bool, public []string) *index {
	x := &index{pairs: map[uint16][]int{}}
	known := map[pattern]bool{}
	add := func(p pattern) {
		if !known[p] {
			known[p] = true
			x.patterns = append(x.patterns, p)
		}
	}
	byValue := map[string]*weakSecret{}
	for s := range secrets {
		place := classifyValue(s.value, public)
		// Only values that are replaced by themselves are searched in encodings.
		if place != behindName {
			for _, text := range encodeValue(s.value) {
				add(pattern{text: text, whole: place == alone})
			}
			continue
		}
		w := byValue[s.value]
		if w == nil {
			w = &weakSecret{value: s.value}
			byValue[s.value] = w
		}
		if s.name == Password {
			w.password = true
		} else if s.name != "" {
			w.names = append(w.names, strings.ToLower(s.name))
		}
	}
	// The longest first: a secret may be part of another one.
	slices.SortFunc(x.patterns, func(a, b pattern) int {
		if n := len(b.text) - len(a.text); n != 0 {
			return n
		}
		return strings.Compare(a.text, b.text)
	})
	for i, p := range x.patterns {
		x.first[p.text[0]] = append(x.first[p.text[0]], i)
		if len(p.text) > 1 {
			pair := uint16(p.text[0])<<8 | uint16(p.text[1])
			x.pairs[pair] = append(x.pairs[pair], i)
		}
	}
	for _, value := range slices.Sorted(maps.Keys(byValue)) {
		x.weak = append(x.weak, *byValue[value])
	}
	return x
}

// replaceSecrets returns the text with every secret replaced.
// Strong values first: what they leave is searched for weak values behind their names.
func (x *index) replaceSecrets(text string) string {
	if len(x.patterns) > 0 {
		text = x.replaceCutEnds(x.replacePatterns(text))
	}
	for i := range x.weak {
		text = x.weak[i].replaceBehind(text)
	}
	return replaceBindings(text)
}

// replacePatterns replaces secrets in any mixture of encodings, which plain string search cannot
// find: an attacker can make the target reflect a token partly percent-encoded.
func (x *index) replacePatterns(text string) string {
	var b strings.Builder
	done := 0
	for i := 0; i < len(text); {
		end := x.secretEnd(text, i)
		// No secret begins here.
		if end <= i {
			i++
			continue
		}
		b.WriteString(text[done:i])
		b.WriteString(finding.Redacted)
		i, done = end, end
	}
	if done == 0 {
		return text
	}
	b.WriteString(text[done:])
	return b.String()
}

// secretEnd returns where a secret ends that begins at i; 0: none begins there.
func (x *index) secretEnd(text string, i int) int {
	end := 0
	try := func(patterns []int) {
		for _, n := range patterns {
			p := &x.patterns[n]
			if e := matchEncoded(text, i, p.text); e > end && (!p.whole || isWholeWord(text, i, e)) {
				end = e
			}
		}
	}
	// Only where neither of two bytes can begin an escaped character is the pair known.
	if i+1 < len(text) && !escapes[text[i]] && !escapes[text[i+1]] { // as almost everywhere
		try(x.pairs[uint16(text[i])<<8|uint16(text[i+1])])
		return end
	}
	try(x.first[text[i]])
	// The secret may begin with an escaped character: then its decoded first byte selects.
	for _, u := range decodeAt(text, i) {
		if u.text != "" && u.text[0] != text[i] {
			try(x.first[u.text[0]])
		}
	}
	return end
}

// Cut texts end within a secret, or begin within one.
const (
	cutBelow = "\n[cut]"
	cutSign  = "…"
	// Fewer bytes of a secret say little, and would match by chance.
	minPart = 8 // bytes of a secret that are replaced at an end
	// Shorter texts are never cut.
	minCut = 100 // bytes that a text has at least which was cut
)

// replaceCutEnds replaces the part of a secret that stands at the end of a text that was cut, or at
// its beginning.
func (x *index) replaceCutEnds(text string) string {
	if len(text) < minCut {
		return text
	}
	body, tail := text, ""
	// The end may be a sign, a quote, or a quote with a sign behind it.
	for _, sign := range []string{cutBelow, cutSign, `"`, "'"} {
		if rest, ok := strings.CutSuffix(body, sign); ok {
			body, tail = rest, sign+tail
		}
	}
	body = x.endOf(body)
	if rest, ok := strings.CutPrefix(body, cutSign); ok {
		for _, p := range x.patterns {
			// The longest end of the secret first.
			for n := min(len(p.text)-1, len(rest)); n >= minPart; n-- {
				if strings.HasPrefix(rest, p.text[len(p.text)-n:]) {
					rest = finding.Redacted + rest[n:]
					break
				}
			}
		}
		body = cutSign + rest
	}
	return body + tail
}

// endOf replaces the beginning of a secret with which a text ends.
func (x *index) endOf(text string) string {
	if len(x.patterns) == 0 {
		return text
	}
	longest := len(x.patterns[0].text) // they are sorted
	// The first position has the longest part, so the first match is taken.
	for at := max(0, len(text)-longest); at <= len(text)-minPart; at++ {
		for _, n := range x.pairs[uint16(text[at])<<8|uint16(text[at+1])] {
			if strings.HasPrefix(x.patterns[n].text, text[at:]) {
				return text[:at] + finding.Redacted
			}
		}
	}
	return text
}
