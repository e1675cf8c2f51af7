package upgrade

import (
	"strings"

	"merlon/internal/lazyregexp"
)

// This file raises what a manifest asks for, and keeps how it is written: operators,
// white space, the v of Go.

// The syntaxes of requirements.
const (
	caretSyntax = "caret"   // npm, Composer, Cargo, Pub, Poetry: ^1.2, ~1.2, >=1 <2, 1.x, a || b
	pepSyntax   = "pep440"  // ==1.2, >=1,<2, ~=1.2
	twiddle     = "twiddle" // RubyGems, Hex: ~> 1.2, >= 1
	exactSyntax = "exact"   // Maven, Gradle, NuGet, Go: one version, or a range in brackets
)

// term is one comparison with a version.
// The groups are operator, white space, v, and version, which may contain wildcards such as
// 1.2.*.
var term = lazyregexp.New(`^(===|==|~=|~>|!=|<=|>=|=|<|>|\^|~|)(\s*)(v?)([0-9][0-9A-Za-z.+_!*-]*)$`)

// splitTerms takes the terms of a range apart.
// Comma, "and" (Elixir) and white space all mean that both terms have to hold.
var splitTerms = lazyregexp.New(`(\s*,\s*|\s+and\s+|\s+)`)

// spacedOperator is an operator with white space behind it.
var spacedOperator = lazyregexp.New(`(===|==|~=|~>|!=|<=|>=|=|<|>|\^|~)\s+`)

// raiseRequirement returns the requirement that allows the version and none below it, written as
// the old one is; false when the old one is none that can be changed.
func raiseRequirement(syntax, old, version string) (string, bool) {
	// A version from an advisory must not break out of the quotes of the manifest.
	if !plainVersion.MatchString(version) || syntax != exactSyntax && (version[0] < '0' || version[0] > '9') {
		return "", false
	}
	text := strings.TrimSpace(old)
	lead, tail, _ := strings.Cut(old, text)
	if text == "" {
		return "", false
	}
	// An alias of npm, "npm:real-name@^1.2": only the part after the last @ is the requirement.
	prefix := ""
	if at := strings.LastIndex(text, "@"); syntax == caretSyntax && strings.HasPrefix(text, "npm:") && at > 4 {
		prefix, text = text[:at+1], text[at+1:]
	}
	raised, ok := raiseText(syntax, text, version)
	return lead + prefix + raised + tail, ok
}

// plainVersion is a version that can stand in any manifest without quoting.
var plainVersion = lazyregexp.New(`^[0-9A-Za-z](?:[0-9A-Za-z.+_!-]*[0-9A-Za-z])?$`)

// raiseText returns the version requirement with the new version, in the syntax of the
// ecosystem; false when the requirement cannot be changed safely.
func raiseText(syntax, text, version string) (string, bool) {
	if syntax == exactSyntax {
		return raiseExact(text, version)
	}
	if m := term.FindStringSubmatch(text); m != nil {
		return raiseTerm(syntax, m, version), true
	}
	switch {
	case strings.ContainsAny(text, ":/@#${}"):
		return "", false // an address, a place, a variable
	// "^1 || ^2" and "1.0 - 2.0": a range of alternatives is replaced as a whole.
	case syntax == caretSyntax && (strings.Contains(text, "|") || strings.Contains(text, " - ")):
		return "^" + version, true
	}
	return raiseRange(syntax, text, version)
}

// raiseTerm raises one comparison, as term takes it apart.
func raiseTerm(syntax string, m []string, version string) string {
	operator, space, v, old := m[1], m[2], m[3], m[4]
	// "1.2.x" or "1.*" would stay below the new version if only its numbers changed.
	wild := strings.Contains(old, "*") || strings.HasSuffix(old, ".x") || strings.Contains(old, ".x.")
	switch {
	case wild && syntax == caretSyntax:
		return "^" + version
	// An upper bound alone says nothing of the lower end: it becomes one.
	case operator == "<" || operator == "<=" || operator == "!=":
		return lowerBoundPrefix(syntax) + version
	// "> 1.2" excludes the version that is wanted.
	case operator == ">":
		operator = ">="
	}
	return operator + space + v + version
}

// lowerBoundPrefix is what stands before the lowest version that will do.
func lowerBoundPrefix(syntax string) string {
	switch syntax {
	case caretSyntax:
		return "^"
	case twiddle:
		return ">= "
	}
	return ">="
}

// raiseRange raises the lower end of a range; an upper end that would forbid the version
// goes away.
func raiseRange(syntax, text, version string) (string, bool) {
	// ">= 1.2 < 2" would otherwise be split between operator and version.
	tight := spacedOperator.ReplaceAllString(text, "$1")
	terms := splitTerms.Split(tight, -1)
	separators := splitTerms.FindAllString(tight, -1)
	lower := -1
	for i, t := range terms {
		m := term.FindStringSubmatch(t)
		if m == nil {
			return "", false
		}
		switch m[1] {
		case "<", "<=":
			n, ok := compareVersions("npm", m[4], version) // the plain order is enough for an end
			// The upper end forbids the new version, or cannot be compared with it.
			if !ok || n < 0 || n == 0 && m[1] == "<" {
				return lowerBoundPrefix(syntax) + version, true
			}
		case "!=":
		default:
			// Two lower ends: which of them is in force is not decided here.
			if lower >= 0 {
				return lowerBoundPrefix(syntax) + version, true
			}
			lower = i
		}
	}
	if lower < 0 {
		return lowerBoundPrefix(syntax) + version, true
	}
	terms[lower] = raiseTerm(syntax, term.FindStringSubmatch(terms[lower]), version)
	var out strings.Builder
	for i, t := range terms {
		if i > 0 {
			out.WriteString(separators[i-1])
		}
		out.WriteString(t)
	}
	return out.String(), true
}

// brackets is a range as Maven and NuGet write it.
var brackets = lazyregexp.New(`^([\[(])\s*([^,\[\]()]*?)\s*(?:(,\s*)([^,\[\]()]*?)\s*)?([\])])$`)

// raiseExact raises a version that stands alone, or in brackets.
func raiseExact(text, version string) (string, bool) {
	if m := brackets.FindStringSubmatch(text); m != nil {
		// "[1.2]" is exactly this version.
		if m[3] == "" {
			return "[" + version + "]", true
		}
		// The upper end would forbid the version: the range is opened upwards.
		if n, ok := compareVersions("Maven", m[4], version); m[4] != "" && (!ok || n < 0 || n == 0 && m[5] == ")") {
			return "[" + version + ",)", true
		}
		return "[" + version + m[3] + m[4] + m[5], true
	}
	v := ""
	if strings.HasPrefix(text, "v") && len(text) > 1 && text[1] >= '0' && text[1] <= '9' {
		v = "v"
	}
	// For example a property that was not resolved.
	if !floating.MatchString(text) {
		return "", false
	}
	return v + version, true
}

// floating is a version, which may end with a star or a plus.
var floating = lazyregexp.New(`^[0-9A-Za-z][0-9A-Za-z._+-]*[*+]?$`)
