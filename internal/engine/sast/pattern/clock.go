package pattern

import (
	"errors"
	"time"
)

// ErrTimeout says that a rule took longer on a file than it may. As in the format, it
// has then found nothing there: what it would have excluded is not known.
var ErrTimeout = errors.New("matching the rule took longer than its timeout")

// A clock bounds the time of one rule on a file and on the texts inside of it, and
// how much text its conditions read.
type clock struct {
	until time.Time // zero: there is no bound
	late  bool
	read  int // bytes of text that conditions read
	room  int // bytes that they may read
}

// Conditions of a rule may read so many bytes in one file, and a file so many times:
// expressions lie in each other, and a long one is read as often as it is deep.
const (
	roomBytes = 32 << 20
	roomTimes = 8
)

// reads counts text that a condition reads, and reports whether it may.
func (c *clock) reads(text string) bool {
	c.read += len(text)
	return c.read <= c.room
}

// Limit starts the time of the next rule on the file; 0 is without end.
func (f *File) Limit(d time.Duration) {
	*f.clock = clock{room: roomBytes + roomTimes*len(f.Tree.Source)}
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
