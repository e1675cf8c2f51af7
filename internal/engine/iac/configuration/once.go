package configuration

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"merlon/internal/engine/iac/document"
	"merlon/internal/engine/iac/queries"
)

// once leaves one of the flaws that are the same: one rule on one line of one file
// about one resource, whichever document and module instance shows it. Of several, that with the
// shortest key is left: it is about the whole.
func once(flaws []queries.Flaw) []queries.Flaw {
	slices.SortStableFunc(flaws, func(a, b queries.Flaw) int {
		return cmp.Or(
			strings.Compare(a.Path, b.Path), cmp.Compare(a.Line, b.Line), strings.Compare(a.Rule.ID, b.Rule.ID),
			strings.Compare(a.Key, b.Key), strings.Compare(a.Actual, b.Actual),
		)
	})
	// What a kustomization does not change is told of the file itself already, with
	// the name that the object has there.
	told := map[string]bool{}
	for _, f := range flaws {
		told[place(f)] = told[place(f)] || !built(f)
	}
	seen := map[string]bool{}
	var out []queries.Flaw
	for _, f := range flaws {
		if built(f) {
			if told[place(f)] {
				continue
			}
			told[place(f)] = true
		}
		key := fmt.Sprintf("%s\x00%d\x00%s\x00%s\x00%s", f.Path, f.Line, f.Rule.ID, f.Key, f.Actual)
		if !seen[key] {
			seen[key] = true
			out = append(out, f)
		}
	}
	return out
}

func built(f queries.Flaw) bool { return f.Document != nil && f.Document.Format == document.Kustomize }

// place is one rule on one line.
func place(f queries.Flaw) string { return fmt.Sprintf("%s\x00%d\x00%s", f.Path, f.Line, f.Rule.ID) }
