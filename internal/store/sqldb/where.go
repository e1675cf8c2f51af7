package sqldb

import (
	"fmt"
	"strings"
)

// This file builds WHERE clauses. Values are always bound, never written into the text.

// A Condition is the text of a WHERE clause with the arguments of its placeholders.
type Condition struct {
	Text strings.Builder
	Args []any
}

// And adds a term that must hold as well, with the arguments of its placeholders.
func (w *Condition) And(cond string, args ...any) {
	if w.Text.Len() > 0 {
		w.Text.WriteString(" AND ")
	}
	w.Text.WriteString(cond)
	w.Args = append(w.Args, args...)
}

// AnyOf adds that column is the number of one of the values, unless there are
// none.
func AnyOf[T comparable](w *Condition, column string, list, values []T) {
	if len(values) == 0 {
		return
	}
	var codes []string
	for _, v := range values {
		if n := EnumCode(list, v); n > 0 {
			codes = append(codes, fmt.Sprint(n))
		}
	}
	if codes == nil {
		codes = []string{"0"}
	}
	w.And(column + " IN (" + strings.Join(codes, ", ") + ")") // our own small numbers
}

// LikePattern returns the pattern of a LIKE … ESCAPE '\' that matches texts with the part.
func LikePattern(part string) string {
	return "%" + strings.NewReplacer(`\`, `\\`, "%", `\%`, "_", `\_`).Replace(part) + "%"
}

// PageOffset returns how many rows stand before a page, without overflow.
func PageOffset(page, size int) int {
	const most = 1 << 40
	if page > most/max(size, 1) {
		return most
	}
	return (page - 1) * size
}
