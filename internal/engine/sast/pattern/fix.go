package pattern

import (
	"fmt"

	"merlon/internal/engine/sast/rule"
)

// FixRegex replaces what the expression of a fix-regex matches in the text of a
// match. changed is false when it matches nothing.
func FixRegex(f *rule.FixRegex, text string) (out string, changed bool, err error) {
	out, err = f.Regex.Replace(text, f.Replacement, f.Count)
	if err != nil {
		return "", false, fmt.Errorf("run the regex of fix-regex: %w", err)
	}
	return out, out != text, nil
}
