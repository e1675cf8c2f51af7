package rule

import "strings"

// IsMetavariable says whether a text is a metavariable: $X, $X1, $_, $...ARGS, or $1 for a group
// of a regular expression. Names begin with a capital letter or _. "$_" is the one that binds
// nothing.
func IsMetavariable(s string) bool {
	name, ok := strings.CutPrefix(s, "$")
	if !ok {
		return false
	}
	name = strings.TrimPrefix(name, "...")
	return name != "" && metavariableLength(name) == len(name)
}

// metavariableLength returns the length of the name of a metavariable, without its
// sigil, at the start of s.
func metavariableLength(s string) int {
	n := 0
	for n < len(s) && s[n] >= '0' && s[n] <= '9' {
		n++
	}
	if n > 0 {
		return n
	}
	for n < len(s) && (s[n] == '_' || s[n] >= 'A' && s[n] <= 'Z' || n > 0 && s[n] >= '0' && s[n] <= '9') {
		n++
	}
	return n
}

// Interpolate returns a message or a fix with its metavariables replaced by what they are bound
// to. $X stands for the text; value($X) for the constant that $X is known to hold, which bind is
// asked for by the name "value($X)", and for the text if there is none. What is not bound stays as
// it is. Messages are text of the rule's author, so nothing is escaped.
func Interpolate(text string, bind func(name string) (string, bool)) string {
	var out strings.Builder
	for i := 0; i < len(text); {
		if rest, ok := strings.CutPrefix(text[i:], "value("); ok {
			if name := metavariableAt(rest); name != "" && strings.HasPrefix(rest[len(name):], ")") {
				value, bound := bind("value(" + name + ")")
				if !bound {
					value, bound = bind(name)
				}
				if bound {
					out.WriteString(value)
					i += len("value(") + len(name) + 1
					continue
				}
			}
		}
		if name := metavariableAt(text[i:]); name != "" {
			if value, bound := bind(name); bound {
				out.WriteString(value)
			} else {
				out.WriteString(name)
			}
			i += len(name)
			continue
		}
		out.WriteByte(text[i])
		i++
	}
	return out.String()
}

// metavariableAt returns the metavariable at the start of s, "" for none. "$Xy" is none: a name
// goes on behind it.
func metavariableAt(s string) string {
	name, ok := strings.CutPrefix(s, "$")
	if !ok {
		return ""
	}
	sigil := 1
	if rest, dots := strings.CutPrefix(name, "..."); dots {
		name, sigil = rest, 4
	}
	n := metavariableLength(name)
	if n == 0 || n < len(name) && isNameByte(name[n]) {
		return ""
	}
	return s[:sigil+n]
}
