package sqldb

import (
	"fmt"
	"slices"
	"strings"
)

// This file encodes enumerations: columns hold a number instead of the text.

// EnumCode returns the number of an enumeration's value: its place in the list, from
// 1, and 0 for the empty value. New values are appended to a list: codes are stored, so
// their order must not change.
func EnumCode[T comparable](list []T, v T) int { return slices.Index(list, v) + 1 }

// EnumValue is the inverse of EnumCode. An unknown number is the zero value.
func EnumValue[T any](list []T, n int) T {
	var zero T
	if n < 1 || n > len(list) {
		return zero
	}
	return list[n-1]
}

// EnumCodes lists the numbers of values; 0, which nothing has, for none.
func EnumCodes[T comparable](list, values []T) string {
	out := []string{"0"}
	for _, v := range values {
		out = append(out, fmt.Sprint(EnumCode(list, v)))
	}
	return strings.Join(out, ", ")
}

// Strings returns identifiers as text.
func Strings[T ~string](ids []T) []string {
	out := make([]string, len(ids))
	for i, id := range ids {
		out[i] = string(id)
	}
	return out
}
