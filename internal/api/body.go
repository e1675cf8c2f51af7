package api

import (
	"bytes"
	"encoding/json"
	"errors"
)

// unmarshal reads a body. A NUL inside a text is refused: PostgreSQL cannot hold
// it, and no text of ours has a use for it.
func unmarshal(data []byte, v any) error {
	if hasNUL(data) {
		return errors.New("a text holds the character NUL")
	}
	return json.Unmarshal(data, v)
}

// hasNUL reports whether JSON text holds the escape \u0000: one that an even
// number of backslashes stands before.
func hasNUL(data []byte) bool {
	escape := []byte(`\u0000`)
	for {
		i := bytes.Index(data, escape)
		if i < 0 {
			return false
		}
		n := 0
		for n < i && data[i-1-n] == '\\' {
			n++
		}
		if n%2 == 0 {
			return true
		}
		data = data[i+len(escape):]
	}
}
