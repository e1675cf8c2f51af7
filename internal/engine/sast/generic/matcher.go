package generic

import (
	"errors"
	"fmt"
	"sync"
	"unsafe"

	"merlon/internal/engine/sast/rule"
)

// ErrGivenUp is the error of a search that ended before the text did: it offers too
// many ways to match.
var ErrGivenUp = errors.New("the text offers too many ways to match")

const (
	maxText    = 16 << 20 // bytes of a document
	maxMatches = 100_000  // of one pattern in one text
)

// A Matcher is a pattern with the options of its rule. It is safe for concurrent use.
type Matcher struct {
	comments string
	pattern  *Pattern // nil for the second engine
	alien    *alien
}

// Compile reads a pattern for the engine that the options choose. The other engine is not tried:
// their syntaxes differ.
func Compile(pattern string, o rule.Options) (*Matcher, error) {
	m := &Matcher{comments: o.GenericComments}
	var err error
	if o.GenericEngine == rule.Aliengrep {
		m.alien, err = parseAlien(pattern, o)
	} else {
		m.pattern, err = Parse(pattern, o.GenericMaxSpan)
	}
	if err != nil {
		return nil, err
	}
	return m, nil
}

// Find returns the matches in a text, by their start. With ErrGivenUp come those that
// were found in time.
func (m *Matcher) Find(text string) ([]Match, error) {
	if len(text) > maxText {
		return nil, fmt.Errorf("the text has %d bytes; the limit is %d", len(text), maxText)
	}
	if m.alien != nil {
		return m.alien.findMatches(text)
	}
	matches, complete := m.pattern.Find(documents.getDocument(text, m.comments))
	if !complete {
		return matches, ErrGivenUp
	}
	return matches, nil
}

// documents are the last few: the patterns of many rules ask for the same text one
// after the other.
var documents recent

// recent keeps documents of moderate size. Rules are matched file by file, so a few are enough.
type recent struct {
	mu   sync.Mutex
	next int
	kept [8]struct {
		doc      *Document
		comments string
	}
}

const maxKept = 1 << 20 // bytes of a text whose document is kept

// getDocument returns the document of a text. A text is known again by its place in memory: equal
// texts in two places are two documents. Comparing the memory is cheap and never wrong: strings do
// not change.
func (r *recent) getDocument(text, comments string) *Document {
	r.mu.Lock()
	for _, k := range r.kept {
		if k.doc != nil && k.comments == comments && len(k.doc.text) == len(text) &&
			unsafe.StringData(k.doc.text) == unsafe.StringData(text) {
			r.mu.Unlock()
			return k.doc
		}
	}
	r.mu.Unlock()
	d := NewDocument(text, comments)
	if len(text) <= maxKept {
		r.mu.Lock()
		r.kept[r.next].doc, r.kept[r.next].comments = d, comments
		r.next = (r.next + 1) % len(r.kept)
		r.mu.Unlock()
	}
	return d
}

// Readable says whether a file looks like text that people write: its lines are short
// enough, and it has few control characters. Files that are not are left to the
// grammars: words and lines say nothing about minified code. It looks at the
// beginning only.
func Readable(text string) bool {
	const (
		peek     = 4096 // bytes
		short    = 500  // bytes that need no lines
		lineMean = 150  // bytes
	)
	text = text[:min(peek, len(text))]
	lines, control, printable := 1, 0, 0
	for i := range len(text) {
		switch c := text[i]; {
		case c == '\n':
			lines++
			printable++
		case c == '\t' || c == '\r' || c >= ' ' && c < 0x7f:
			printable++
		case c < 0x80:
			control++
		}
	}
	if control*100 > printable+control {
		return false
	}
	return len(text) <= short || lines*lineMean >= len(text)
}
