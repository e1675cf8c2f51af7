package apispec

import (
	"cmp"
	"slices"
	"strings"
	"unicode"

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
	return Singular(strings.ToLower(strings.NewReplacer("_", "", "-", "", " ", "").Replace(withoutVerb(name))))
}

// withoutVerb is a name without the verb that it begins with.
func withoutVerb(name string) string {
	for _, verb := range []*lazyregexp.Regexp{making, rewriting, others} {
		if m := verb.FindString(name); m != "" && len(m) < len(name) {
			if end := m[len(m)-1]; end >= 'A' && end <= 'Z' {
				m = m[:len(m)-1]
			}
			return name[len(m):]
		}
	}
	return name
}

// fillers are words in names of members that do not say what the member holds.
var fillers = []string{"detail", "details", "detailed", "info", "information", "data", "new", "created", "added",
	"saved", "inserted", "object", "obj", "item", "entity", "record",
	"result", "content", "value", "payload", "response", "body", "model", "dto", "attributes"}

// Thing is what a member of a response holds, by its name: "card" of "card_details",
// "newCard" and "cards"; empty: the name does not tell, as "data".
func Thing(name string) string {
	var words []string
	start := 0
	name = withoutVerb(name)
	end := func(i int) {
		if w := strings.ToLower(name[start:i]); w != "" && !slices.Contains(fillers, w) {
			words = append(words, w)
		}
	}
	lower := false
	for i, c := range name {
		switch {
		case c == '_' || c == '-' || c == ' ' || c == '.':
			end(i)
			start = i + 1
		case lower && unicode.IsUpper(c):
			end(i)
			start = i
		}
		lower = unicode.IsLower(c) || unicode.IsDigit(c)
	}
	end(len(name))
	return Singular(strings.Join(words, ""))
}

// Same reports whether two nouns name the same thing, one of them perhaps more exactly: a
// "virtualcard" is a "card".
func Same(a, b string) bool {
	return a == b || len(a) >= 3 && len(b) >= 3 && (strings.HasSuffix(a, b) || strings.HasSuffix(b, a))
}

// verbs are steps of a path that make something of what stands before them.
var verbs = lazyregexp.New(`(?i)^(create|new|add|insert|make|register|registration|sign-?up|save)$`)

// Noun is what a path is about: its last word that is no parameter and no verb, in the
// singular.
func Noun(path string) string {
	steps := strings.Split(strings.Trim(path, "/"), "/")
	said := ""
	for _, s := range slices.Backward(steps) {
		if s == "" || strings.Contains(s, "{") || isVersion(s) {
			continue
		}
		noun := Singular(strings.ToLower(strings.NewReplacer("_", "", "-", "", " ", "").Replace(s)))
		if said = cmp.Or(said, noun); !verbs.MatchString(s) {
			return noun
		}
	}
	return said
}

// isVersion reports whether a step of a path is "v1".
func isVersion(s string) bool {
	return len(s) >= 2 && (s[0] == 'v' || s[0] == 'V') && strings.Trim(s[1:], "0123456789.") == ""
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
