package describe

import (
	"strings"

	"merlon/internal/lazyregexp"
)

// This file reads names of operations.

var (
	// making is how names of operations begin that make something.
	making = lazyregexp.New(`^(?i:create|add|new|insert|make|register|upload|import|post|save)(_|-|[A-Z]|$)`)
	// rewriting is how names of operations begin that change what is there.
	rewriting = lazyregexp.New(`^(?i:update|edit|change|modify|rename|replace|set|patch|put|move|assign|unassign|toggle|mark|mutate|upsert|archive|restore|cancel|close|approve|reject|publish|enable|disable|lock|unlock|transfer|merge)(_|-|[A-Z]|$)`)
	// others are how names begin that read, or remove.
	others = lazyregexp.New(`^(?i:get|fetch|find|list|all|read|show|delete|remove|destroy|erase)(_|-|[A-Z]|$)`)
)

// Makes reports whether the name of an operation says that it makes something.
func Makes(name string) bool { return making.MatchString(name) }

// Rewrites reports whether the name of an operation says that it changes what is there.
func Rewrites(name string) bool { return rewriting.MatchString(name) }

// Subject is the name of an operation, without marks, in small letters and in the
// singular, behind the verb that it begins with: "updateBlogPosts" is about "blogpost".
func Subject(name string) string {
	for _, verb := range []*lazyregexp.Regexp{making, rewriting, others} {
		if m := verb.FindString(name); m != "" && len(m) < len(name) {
			if end := m[len(m)-1]; end >= 'A' && end <= 'Z' {
				m = m[:len(m)-1]
			}
			name = name[len(m):]
			break
		}
	}
	return Singular(strings.ToLower(strings.NewReplacer("_", "", "-", "", " ", "").Replace(name)))
}

// Singular is an English noun in small letters, in the singular.
func Singular(s string) string {
	if rest, ok := strings.CutSuffix(s, "ies"); ok && rest != "" {
		return rest + "y"
	}
	for _, end := range []string{"sses", "xes", "ches", "shes"} {
		if strings.HasSuffix(s, end) {
			return strings.TrimSuffix(s, "es")
		}
	}
	if strings.HasSuffix(s, "s") && !strings.HasSuffix(s, "ss") && len(s) > 3 {
		return strings.TrimSuffix(s, "s")
	}
	return s
}
