package access

import (
	"strings"

	"merlon/internal/tenant"
)

// EncodeScopes is how the scopes of a token are kept: all of them as nothing, so that
// they stay all when there are more.
func EncodeScopes(s tenant.TokenScopes) string {
	if s == tenant.AllTokenScopes {
		return ""
	}
	return strings.Join(s.Names(), " ")
}

// DecodeScopes reads what EncodeScopes wrote.
func DecodeScopes(text string) tenant.TokenScopes {
	if text == "" {
		return tenant.AllTokenScopes
	}
	return tenant.KnownTokenScopes(strings.Fields(text))
}

// JoinIDs encodes a list of identifiers as text; see SplitIDs.
func JoinIDs[T ~string](ids []T) string {
	text := make([]string, len(ids))
	for i, id := range ids {
		text[i] = string(id)
	}
	return strings.Join(text, " ")
}

// SplitIDs decodes what JoinIDs encoded; no identifiers are nil.
func SplitIDs[T ~string](text string) (ids []T) {
	for _, id := range strings.Fields(text) {
		ids = append(ids, T(id))
	}
	return ids
}
