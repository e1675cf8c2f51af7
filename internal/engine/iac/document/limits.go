package document

import (
	"fmt"

	"merlon/internal/errs"
)

// These bound what one file may become in memory. Files come from strangers: a
// list of aliases of aliases is a few lines of text and billions of values.
const (
	MaxSize   = 16 << 20  // bytes of a file
	MaxDepth  = 200       // values inside each other
	MaxValues = 1_000_000 // values of one file, aliases followed
)

// A Malformed is text that is not what it seems to be, with the place.
type Malformed struct {
	Line    int // 0 is unknown
	Message string
}

// Error says the line and what is wrong.
func (m *Malformed) Error() string {
	if m.Line > 0 {
		return fmt.Sprintf("line %d: %s", m.Line, m.Message)
	}
	return m.Message
}

// budget counts what a decoder makes.
type budget struct{ values, depth int }

// enter counts one value, and one level; leave ends the level.
func (b *budget) enter(line int) error {
	b.values++
	b.depth++
	if b.values > MaxValues {
		return errs.E(errs.TooLarge, "line %d: more than %d values", line, MaxValues)
	}
	if b.depth > MaxDepth {
		return errs.E(errs.TooLarge, "line %d: more than %d values inside each other", line, MaxDepth)
	}
	return nil
}

func (b *budget) leave() { b.depth-- }

// fits checks the size of a file before anything is made of it.
func fits(text []byte) error {
	if len(text) > MaxSize {
		return errs.E(errs.TooLarge, "%d bytes; infrastructure code is read up to %d", len(text), MaxSize)
	}
	return nil
}
