package endpoint

import (
	"fmt"
	"strings"
	"unicode"

	"merlon/internal/errs"
	"merlon/internal/tenant"
)

// ParseUserID returns the canonical form of a user's id.
func ParseUserID(id string) tenant.UserID { return tenant.UserID(strings.ToLower(id)) }

// ParseRoleID returns the canonical form of a role: names and ids are lower case.
func ParseRoleID(id string) tenant.RoleID { return tenant.RoleID(strings.ToLower(id)) }

// maxName bounds a name, in characters.
const maxName = 200

// ParseLabel returns a name without the blanks around it; it is one line, and not
// empty.
func ParseLabel(location, text string) (string, error) {
	text = strings.TrimSpace(text)
	switch {
	case text == "":
		return "", Invalid(location, "is required")
	case len([]rune(text)) > maxName:
		return "", Invalid(location, fmt.Sprintf("must be at most %d characters", maxName))
	case strings.ContainsFunc(text, unicode.IsControl):
		return "", Invalid(location, "must not contain control characters")
	}
	return text, nil
}

// Invalid returns an Invalid error about one part of the request.
func Invalid(location, message string) error {
	return &errs.Error{Kind: errs.Invalid, Message: location + " " + message,
		Details: []errs.Detail{{Location: location, Message: message}}}
}

// Convert maps a list; the result is never nil.
func Convert[T, U any](list []T, f func(T) U) []U {
	out := make([]U, 0, len(list))
	for _, v := range list {
		out = append(out, f(v))
	}
	return out
}

// Assign assigns what the request holds.
func Assign[T any](to *T, from *T) {
	if from != nil {
		*to = *from
	}
}

// OrEmpty returns an empty list for nil.
func OrEmpty[T any](list []T) []T {
	if list == nil {
		return []T{}
	}
	return list
}

// pointerTo returns a pointer to a value that has no address, such as a constant.
func pointerTo[T any](v T) *T { return &v }
