package pattern

import (
	"errors"
	"time"
)

// ErrTimeout says that a rule took longer on a file than it may. As in the format, it
// has then found nothing there: what it would have excluded is not known.
var ErrTimeout = errors.New("matching the rule took longer than its timeout")

// A clock bounds the time of one rule on a file and on the texts inside of it.
type clock struct {
	until time.Time // zero: there is no bound
	late  bool
}

// Limit starts the time of the next rule on the file; 0 is without end.
func (f *File) Limit(d time.Duration) {
	f.clock.late, f.clock.until = false, time.Time{}
	if d > 0 {
		f.clock.until = time.Now().Add(d)
	}
}

// over reports whether the time is over.
func (c *clock) over() bool {
	if !c.late && !c.until.IsZero() && time.Now().After(c.until) {
		c.late = true
	}
	return c.late
}

// clockSteps is how many steps of a matcher go by between two looks at the clock.
const clockSteps = 1 << 12
