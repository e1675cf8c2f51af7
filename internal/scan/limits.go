package scan

import "time"

// Limits bounds the cost of one scan, because the tree is untrusted input. A zero field takes
// its default. What a limit excludes is a Reason in the status of every analyzer that would
// have analyzed it.
type Limits struct {
	Files        int           // regular files; 1,000,000
	FileSize     int64         // bytes of one file; 32 MiB
	StreamSize   int64         // bytes of one file that is read as a stream; 1 GiB
	TotalSize    int64         // bytes of all files together; 16 GiB
	Depth        int           // nested folders; 128
	Findings     int           // of one analyzer in one file, or in one project; 100,000
	FileTime     time.Duration // one analyzer on one file, as a last resort; 10 minutes
	AnalyzerTime time.Duration // one analyzer on all files together, or on the project; 1 hour
	LiveTime     time.Duration // one analyzer on a running application; 4 hours
	Operations   int           // of a running application, reported by one analyzer; 20,000
}

// withDefaults returns the limits with defaults for zero fields.
func (l Limits) withDefaults() Limits {
	setDefault(&l.Files, 1_000_000)
	setDefault(&l.FileSize, 32<<20)
	setDefault(&l.StreamSize, 1<<30)
	setDefault(&l.TotalSize, 16<<30)
	setDefault(&l.Depth, 128)
	setDefault(&l.Findings, 100_000)
	setDefault(&l.FileTime, 10*time.Minute)
	setDefault(&l.AnalyzerTime, time.Hour)
	setDefault(&l.LiveTime, 4*time.Hour)
	setDefault(&l.Operations, 20_000)
	return l
}

// setDefault sets a field that is not positive to its default.
func setDefault[T int | int64 | time.Duration](field *T, value T) {
	if *field <= 0 {
		*field = value
	}
}

// These limits bound a single finding, so that it always fits into a message.
const (
	maxText      = 4 << 10 // bytes of a message or an identity that is shown
	maxSteps     = 200
	maxLine      = 400      // bytes of a line in a snippet
	maxSnippet   = 40       // lines
	maxCode      = 16 << 10 // bytes of flagged code that identify a finding
	contextLines = 3        // lines above and below the flagged ones
)
