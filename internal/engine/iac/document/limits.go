package document

import "merlon/internal/document"

// These bound what one file may become in memory.
const (
	MaxSize   = 16 << 20  // bytes of a file
	MaxDepth  = 200       // values inside each other
	MaxValues = 1_000_000 // values of one file, aliases followed
)

// A Malformed is text that is not what it seems to be, with the line.
type Malformed = document.Error
