package kics

import (
	"bytes"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"

	"merlon/internal/engine/iac/document"
)

// This file finds the line that a search key leads to. A search key is how queries
// name places: words that the lines of the written file hold, from the outside in,
// with dots between. "a=b" and "a[b]" are two words on one line; what stands in
// "{{" and "}}" is taken as it is, dots and all. Each word is looked for from the
// line of the one before it on, in the line where it stands most alone. This is
// the search of the project that the queries come from: they are written for it.

// keyStep is the word, or the two, of one line.
type keyStep struct{ first, second string }

// indexedWord matches a word of a key with an index or a name in brackets.
var indexedWord = regexp.MustCompile(`^([A-Za-z\d-_]+)\[([A-Za-z\d-_\x00]+)\]$`)

// parseKey reads a search key.
func parseKey(key string) []keyStep {
	plain, quoted := cutQuoted(key)
	var out []keyStep
	words := strings.Split(plain, ".")
	for i, w := range words {
		if strings.Contains(w, "$ref") { // the dots of a reference are its own
			words = append(words[:i], strings.Join(words[i:], "."))
			break
		}
	}
	take := func(s string) string {
		n := strings.Count(s, "\x00")
		s = restoreQuoted(s, quoted)
		quoted = quoted[min(n, len(quoted)):]
		return s
	}
	for _, w := range words {
		if at := indexedWord.FindStringSubmatch(w); at != nil {
			out = append(out, keyStep{take(at[1]), take(at[2])})
		} else if first, second, ok := strings.Cut(w, "="); ok && !strings.Contains(second, "=") {
			out = append(out, keyStep{take(first), take(second)})
		} else {
			out = append(out, keyStep{take(w), ""})
		}
	}
	return out
}

// restoreQuoted puts what was in braces where cutQuoted left a zero byte.
func restoreQuoted(s string, quoted []string) string {
	for i := 0; i < len(quoted) && strings.IndexByte(s, 0) >= 0; i++ {
		s = strings.Replace(s, "\x00", quoted[i], 1)
	}
	return s
}

// cutQuoted takes out what is in braces and leaves a zero byte in its place.
func cutQuoted(key string) (plain string, quoted []string) {
	var b strings.Builder
	depth, from := 0, 0
	for i := 0; i < len(key); i++ {
		switch {
		case strings.HasPrefix(key[i:], "{{"):
			if depth == 0 {
				from = i + 2
			}
			depth++
			i++
		case depth > 0 && strings.HasPrefix(key[i:], "}}"):
			if depth == 1 {
				for i+2 < len(key) && key[i+2] == '}' { // "{{a}}}" quotes "a}"
					i++
				}
				quoted = append(quoted, key[from:i])
				b.WriteByte(0)
			}
			depth--
			i++
		case depth == 0 && key[i] != 0:
			b.WriteByte(key[i])
		}
	}
	return b.String(), quoted
}

// searchText is a text to search in.
type searchText struct {
	text  []string
	bicep bool
}

// newLines returns the lines of a file. In a Dockerfile and a shell script, an
// instruction of several lines stands on its first.
func newLines(text []byte, format document.Format) *searchText {
	l := &searchText{bicep: format == document.Bicep}
	text = bytes.ReplaceAll(text, []byte("\r\n"), []byte("\n"))
	l.text = strings.Split(string(text), "\n")
	if format == document.Containers || format == document.Shell {
		joinContinued(l.text)
	}
	for i, line := range l.text {
		l.text[i] = strings.TrimLeft(line, " \t\r\f\v")
	}
	return l
}

// continues matches a line that goes on in the next one.
var continues = regexp.MustCompile(`.\s+\\\s*$`)

// joinContinued puts continued lines together, in place; comments between them do not end
// the instruction.
func joinContinued(text []string) {
	for i := 0; i < len(text); i++ {
		if strings.HasPrefix(strings.TrimSpace(text[i]), "#") || !continues.MatchString(text[i]) {
			continue
		}
		var b strings.Builder
		j := i
		for {
			line := text[j]
			more := continues.MatchString(line) || j > i && strings.HasPrefix(strings.TrimSpace(line), "#") ||
				strings.TrimSpace(line) == ""
			b.WriteString(strings.TrimSuffix(strings.TrimRight(line, " \t\r"), `\`))
			if j > i {
				text[j] = ""
			}
			if j++; !more || j >= len(text) {
				break
			}
		}
		text[i] = b.String()
		i = j - 1
	}
}

// findLine returns the line, from 1, that the search key leads to as far as its words are
// found; 0 when the first is nowhere.
func (l *searchText) findLine(key string) int {
	at, found := 0, false
	if i := strings.LastIndexByte(key, '^'); i >= 0 { // the line to begin with
		if n, err := strconv.Atoi(key[i+1:]); err == nil && n >= 0 {
			key, at = key[:i], n
		}
	}
	for _, s := range parseKey(key) {
		if l.bicep {
			s.first = strings.NewReplacer("resources", "resource", "parameters", "param", "variables",
				"variable").Replace(s.first)
		}
		next, ok := l.nearestLine(s, at)
		if !ok {
			break
		}
		at, found = next, true
	}
	if !found {
		return 0
	}
	return at + 1
}

// nearestLine returns the first line, from one on, in which the words of a step have the
// least text around them.
func (l *searchText) nearestLine(s keyStep, from int) (int, bool) {
	if s.first == "" {
		return 0, false
	}
	best, at := -1, 0
	for i := max(from, 0); i < len(l.text) && best != 0; i++ {
		d, ok := measureStep(l.text[i], s)
		if ok && (best < 0 || d < best) {
			best, at = d, i
		}
	}
	return at, best >= 0
}

// measureStep says how much more than the words of a step is with them in a line.
func measureStep(line string, s keyStep) (int, bool) {
	i := strings.Index(line, s.first)
	if i < 0 {
		return 0, false
	}
	d := editDistance(wordAround(line, s.first), s.first)
	if s.second != "" {
		rest := line[i+len(s.first):]
		if !strings.Contains(rest, s.second) {
			return 0, false
		}
		d += editDistance(wordAround(rest, s.second), s.second)
	}
	return d, true
}

// wordAround returns the word of the line, between spaces, that contains the string,
// without the quotes and the colon of a key.
func wordAround(line, s string) string {
	start := strings.Index(line, s)
	end := start + len(s)
	start = strings.LastIndexByte(line[:start], ' ') + 1
	if i := strings.IndexByte(line[end:], ' '); i >= 0 {
		end += i
	} else {
		end = len(line)
	}
	f := line[start:end]
	f = strings.TrimSuffix(f, ":")
	f = strings.TrimSuffix(f, `"`)
	return strings.TrimPrefix(f, `"`)
}

// editDistance is the Levenshtein distance of two strings of which one contains the other:
// the letters to delete.
func editDistance(a, b string) int {
	n := utf8.RuneCountInString(a) - utf8.RuneCountInString(b)
	return max(n, -n)
}
