package pattern

import (
	"errors"
	"time"
)

// ErrTimeout says that a rule took longer on a file than it may. As in the format, it
// has then found nothing there: what it would have excluded is not known.
var ErrTimeout = errors.New("matching the rule took longer than its timeout")

// A clock bounds the work of one rule on a file and on the texts inside of it, and how much text
// its conditions read. It counts steps: which rules time out must not depend on the machine. A
// rule from outside may hold a pattern that is exponential on some file; it must cost that rule
// its result, and not the scan its end.
type clock struct {
	left      int64 // steps; meaningless without a bound
	bounded   bool  // there is a bound
	late      bool
	read      int // bytes of text that conditions read
	readLimit int // bytes that they may read
}

// Conditions of a rule may read so many bytes in one file, and a file so many times:
// expressions lie in each other, and a long one is read as often as it is deep.
const (
	readBytes = 32 << 20
	readTimes = 8
)

// stepsPerSecond is how many steps of a matcher a second of a rule's timeout stands for.
const stepsPerSecond = 50_000_000

// countRead counts text that a condition reads, and reports whether it may. Regular expressions
// run in time linear in the text, so counting bytes bounds them.
func (c *clock) countRead(text string) bool {
	c.read += len(text)
	return c.read <= c.readLimit
}

// Limit bounds the next rule on the file by a timeout, as steps; 0 is without end. Programs share
// the clock with the texts of other languages that they parse inside of the file.
func (f *File) Limit(d time.Duration) {
	*f.clock = clock{readLimit: readBytes + readTimes*len(f.Tree.Source)}
	if d > 0 {
		f.clock.bounded, f.clock.left = true, int64(d.Seconds()*stepsPerSecond)
	}
}

// spendSteps takes so many steps, and reports whether there are none left. Once the bound is
// passed it stays passed: every part of the rule's evaluation then ends quickly.
func (c *clock) spendSteps(steps int64) bool {
	if c.bounded && !c.late {
		c.left -= steps
		c.late = c.left < 0
	}
	return c.late
}

// clockSteps is how many steps of a matcher are counted at once, and formulaSteps what
// evaluating a part of a formula, or a condition for one match, stands for.
const (
	clockSteps   = 1 << 12
	formulaSteps = 1 << 7
)
