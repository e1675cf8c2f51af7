// Package glob matches paths with patterns of git's ignore files (gitignore(5),
// "PATTERN FORMAT"): "*" and "?" within a part, "[a-z]" for one character, "**" for
// any number of parts. A pattern with a slash begins at the root, one without fits a
// part anywhere.
//
// What lies around a pattern in such a file (comments, "!", a slash at the end) is its
// reader's affair.
package glob

import (
	"fmt"
	"regexp"
	"strings"
	"unicode/utf8"
)

// maxPattern bounds a pattern, in bytes.
const maxPattern = 4096

// A Glob is a compiled pattern. It is safe for concurrent use.
type Glob struct {
	re *regexp.Regexp // nil for a pattern that is plain

	// Most patterns are plain: parts of paths in which nothing but "*" is special, or
	// paths in which nothing is. They are asked of every file, and need no expression.
	plain    string
	anywhere bool // the plain pattern fits a part anywhere, else a path
}

// Compile compiles a pattern.
func Compile(pattern string) (*Glob, error) {
	if len(pattern) > maxPattern {
		return nil, fmt.Errorf("the pattern has %d bytes; the limit is %d", len(pattern), maxPattern)
	}
	anywhere := !strings.Contains(pattern, "/")
	special := `*?[\`
	if anywhere {
		special = `?[\`
	}
	if utf8.ValidString(pattern) && !strings.ContainsAny(pattern, special) {
		return &Glob{plain: strings.TrimPrefix(pattern, "/"), anywhere: anywhere}, nil
	}
	re, err := regexp.Compile(patternExpression(pattern))
	if err != nil {
		return nil, err
	}
	return &Glob{re: re}, nil
}

// patternExpression returns the regular expression of a pattern.
func patternExpression(pattern string) string {
	body := translateGlob(strings.TrimPrefix(pattern, "/"))
	if !strings.Contains(pattern, "/") {
		body = "(?:.*/)?" + body
	}
	return "(?s)^" + body + "$"
}

// Match reports whether the pattern names the path: slash-separated, relative to the
// root.
func (g *Glob) Match(path string) bool {
	switch {
	case g.re != nil:
		return g.re.MatchString(path)
	case g.anywhere:
		return matchStars(g.plain, path[strings.LastIndexByte(path, '/')+1:])
	}
	return path == g.plain
}

// Covers reports whether the pattern names the path or a folder that it is in.
func (g *Glob) Covers(path string) bool {
	if g.re == nil {
		return g.coversPlainly(path)
	}
	for i, c := range path {
		if c == '/' && g.Match(path[:i]) {
			return true
		}
	}
	return g.Match(path)
}

// coversPlainly is Covers for a plain pattern.
func (g *Glob) coversPlainly(path string) bool {
	if !g.anywhere {
		return strings.HasPrefix(path, g.plain) && (len(path) == len(g.plain) || path[len(g.plain)] == '/')
	}
	for part := range strings.SplitSeq(path, "/") {
		if matchStars(g.plain, part) {
			return true
		}
	}
	return false
}

// matchStars reports whether a pattern whose "*" stand for any text fits the whole text. Each
// star takes as little as it can: if that does not do, more would not either.
func matchStars(pattern, text string) bool {
	before, rest, found := strings.Cut(pattern, "*")
	if !found {
		return pattern == text
	}
	if !strings.HasPrefix(text, before) {
		return false
	}
	text = text[len(before):]
	for {
		before, rest, found = strings.Cut(rest, "*")
		if !found {
			return strings.HasSuffix(text, before)
		}
		i := strings.Index(text, before)
		if i < 0 {
			return false
		}
		text = text[i+len(before):]
	}
}

// translateGlob turns a pattern into a regular expression.
func translateGlob(glob string) string {
	var b strings.Builder
	for i := 0; i < len(glob); {
		rest := glob[i:]
		start := i == 0 || glob[i-1] == '/'
		switch {
		case start && strings.HasPrefix(rest, "**/"):
			b.WriteString("(?:.*/)?")
			i += 3
		case start && i > 0 && rest == "**":
			b.WriteString(".+")
			i += 2
		case rest[0] == '*':
			b.WriteString("[^/]*")
			for i < len(glob) && glob[i] == '*' {
				i++
			}
		case rest[0] == '?':
			b.WriteString("[^/]")
			i++
		case rest[0] == '[':
			class, n := translateClass(rest)
			b.WriteString(class)
			i += n
		case rest[0] == '\\' && len(rest) > 1:
			b.WriteString(regexp.QuoteMeta(rest[1:2]))
			i += 2
		default:
			b.WriteString(regexp.QuoteMeta(rest[:1]))
			i++
		}
	}
	return b.String()
}

// translateClass turns the bracket expression at the start of the pattern into
// one of a regular expression, and returns its length. A bracket that is never
// closed matches nothing, as in git.
func translateClass(glob string) (string, int) {
	i := 1
	negated := i < len(glob) && (glob[i] == '!' || glob[i] == '^')
	if negated {
		i++
	}
	var set strings.Builder
	for first := true; ; first = false {
		if i >= len(glob) {
			return `[^\x00-\x{10FFFF}]`, len(glob)
		}
		c := glob[i]
		switch {
		case c == ']' && !first:
			if negated {
				return "[^/" + set.String() + "]", i + 1
			}
			return "[" + set.String() + "]", i + 1
		case c == '[' && strings.HasPrefix(glob[i:], "[:") && strings.Contains(glob[i:], ":]"):
			n := strings.Index(glob[i:], ":]") + 2
			set.WriteString(glob[i : i+n])
			i += n
			continue
		case c == '\\' && i+1 < len(glob):
			i++
			set.WriteString(`\` + string(rune(glob[i])))
		case c == '-':
			set.WriteByte('-')
		case strings.IndexByte(`[]\^&~`, c) >= 0:
			set.WriteString(`\` + string(rune(c)))
		default:
			set.WriteByte(c)
		}
		i++
	}
}
