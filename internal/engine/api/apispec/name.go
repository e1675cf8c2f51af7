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
	// making matches the beginning of names of operations that create something.
	making = lazyregexp.New(`^(?i:create|add|new|insert|make|register|upload|import|post|save)(_|-|[A-Z]|$)`)
	// rewriting matches the beginning of names of operations that change something.
	rewriting = lazyregexp.New(`^(?i:update|edit|change|modify|rename|replace|set|patch|put|move|assign|unassign|toggle|mark|mutate|upsert|archive|restore|cancel|close|approve|reject|publish|enable|disable|lock|unlock|transfer|merge)(_|-|[A-Z]|$)`)
	// others matches the beginning of names of operations that read or remove.
	others = lazyregexp.New(`^(?i:get|fetch|find|list|all|read|show|delete|remove|destroy|erase)(_|-|[A-Z]|$)`)
)

// Makes reports whether the name of an operation says that it creates something.
func Makes(name string) bool { return making.MatchString(name) }

// Rewrites reports whether the name of an operation says that it changes what is there.
func Rewrites(name string) bool { return rewriting.MatchString(name) }

// Subject returns the noun of an operation's name, without its verb and separators, in small
// letters and in the singular: "updateBlogPosts" is about "blogpost".
func Subject(name string) string {
	return Singular(strings.ToLower(strings.NewReplacer("_", "", "-", "", " ", "").Replace(withoutVerb(name))))
}

// withoutVerb returns a name without the verb that it begins with. A capital letter that ends the
// verb begins the noun.
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

// fillers are words in names of members that do not say what the member contains.
var fillers = []string{"detail", "details", "detailed", "info", "information", "data", "new", "created", "added",
	"saved", "inserted", "object", "obj", "item", "entity", "record",
	"result", "content", "value", "payload", "response", "body", "model", "dto", "attributes"}

// Thing returns what a member of a response contains, by its name: "card" for "card_details",
// "newCard" and "cards"; empty: the name does not say, as "data".
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

// verbs matches segments of a path that create something in the collection before them.
var verbs = lazyregexp.New(`(?i)^(create|new|add|insert|make|register|registration|sign-?up|save)$`)

// Noun returns the noun of a path: its last segment that is no parameter, version or verb, in the
// singular. A path of verbs alone gives its last one.
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

// isVersion reports whether a segment is a version, such as "v1" or "v2.1".
func isVersion(s string) bool {
	return len(s) >= 2 && (s[0] == 'v' || s[0] == 'V') && strings.Trim(s[1:], "0123456789.") == ""
}

// Singular returns the singular of an English noun in small letters, by its ending. Irregular
// plurals stay as they are; both sides of a comparison are treated alike.
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
