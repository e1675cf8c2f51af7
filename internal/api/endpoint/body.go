package endpoint

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
)

// Unmarshal reads a body. A NUL inside a text is refused: PostgreSQL cannot hold
// it, and no text of ours has a use for it.
func Unmarshal(data []byte, v any) error {
	if hasNUL(data) {
		return errors.New("the body contains a NUL character")
	}
	if err := json.Unmarshal(data, v); err != nil {
		return err
	}
	if decoded, ok := v.(*any); ok { // what is validated
		return checkDuplicateMembers(*decoded)
	}
	return nil
}

// checkDuplicateMembers returns an error when two names of an object differ in case only. The member
// that is validated is the one that is spelt as declared; the decoder of structs takes the
// last one of any case, which would then not have been validated.
func checkDuplicateMembers(v any) error {
	switch v := v.(type) {
	case []any:
		for _, e := range v {
			if err := checkDuplicateMembers(e); err != nil {
				return err
			}
		}
	case map[string]any:
		seen := make(map[string]bool, len(v))
		for name, e := range v {
			// encoding/json folds by Unicode: the long s (U+017F) and the Kelvin sign (U+212A)
			// match s and k. Upper and then lower case brings these to their ASCII letters, too.
			folded := strings.ToLower(strings.ToUpper(name))
			if seen[folded] {
				return fmt.Errorf("duplicate member %q in an object (names that differ only in case)", name)
			}
			seen[folded] = true
			if err := checkDuplicateMembers(e); err != nil {
				return err
			}
		}
	}
	return nil
}

// hasNUL reports whether JSON text holds the escape \u0000: one that an even
// number of backslashes precedes.
func hasNUL(data []byte) bool {
	escape := []byte(`\u0000`)
	for {
		i := bytes.Index(data, escape)
		if i < 0 {
			return false
		}
		// Count the backslashes before the escape: in \\u0000 the first one escapes the second, and
		// the text has a backslash and the letters u0000.
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
