package endpoint

import (
	"fmt"
	"slices"
	"strings"
	"unicode"

	"merlon/internal/errs"
)

// Parser collects what is wrong with a query, and what of it was ignored.
type Parser struct {
	// details are the invalid parameters, in the order of parsing.
	details []errs.Detail
	// ignored are the texts of the warnings.
	ignored []string
}

// Ignore records that a parameter had a value that means nothing to this list.
func (p *Parser) Ignore(name, value, known string) {
	p.ignored = append(p.ignored, fmt.Sprintf("unknown value ignored: %s=%s; "+
		"supported: %s", name, headerText(value), known))
}

// Warning returns what was ignored, as the value of the header Warning; "" for
// nothing. 299 is the code of a warning that lasts.
func (p *Parser) Warning() string {
	if len(p.ignored) == 0 {
		return ""
	}
	return `299 merlon "` + strings.Join(p.ignored, "; ") + `"`
}

// headerText returns a short text in which everything but letters, digits and a few
// signs is replaced, so that it is safe in a header. A line feed in the value would start
// another header (CWE-113), and a quote would end the text of the warning.
func headerText(s string) string {
	return strings.Map(func(r rune) rune {
		if r < 128 && (unicode.IsLetter(r) || unicode.IsDigit(r) || strings.ContainsRune("_-.", r)) {
			return r
		}
		return '?'
	}, s[:min(len(s), 64)])
}

// Wrong records an invalid query parameter, so that one response lists all of them.
func (p *Parser) Wrong(name, message string) {
	p.details = append(p.details, errs.Detail{Location: "query." + name, Message: message})
}

// Err returns an Invalid error that lists what was wrong, or nil.
func (p *Parser) Err() error {
	if p.details == nil {
		return nil
	}
	return &errs.Error{Kind: errs.Invalid, Message: p.details[0].Location + ": " + p.details[0].Message,
		Details: p.details}
}

// Words splits a list parameter. It trims spaces, drops empty words and lower-cases the
// others: "SAST, sca," becomes sast and sca. Aliases of one parameter are passed together.
func Words(texts ...string) []string {
	var out []string
	for _, text := range texts {
		for w := range strings.SplitSeq(text, ",") {
			if w = strings.ToLower(strings.TrimSpace(w)); w != "" {
				out = append(out, w)
			}
		}
	}
	return out
}

// Enum reads a list of values of an enumeration, in any case. It returns nil when none is
// named and when one is unknown; the latter is recorded as an error.
func Enum[T ~string](p *Parser, name string, allowed []T, texts ...string) []T {
	var out []T
	for _, w := range Words(texts...) {
		i := slices.IndexFunc(allowed, func(v T) bool { return strings.EqualFold(string(v), w) })
		if i < 0 {
			p.Wrong(name, "must be any of "+Joined(allowed))
			return nil
		}
		if !slices.Contains(out, allowed[i]) {
			out = append(out, allowed[i])
		}
	}
	return out
}

// Joined lists the values of an enumeration for an error message.
func Joined[T ~string](list []T) string {
	var b strings.Builder
	for i, v := range list {
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString(string(v))
	}
	return b.String()
}

// Boolean reads a parameter that may be missing. It returns nil for a missing one.
func (p *Parser) Boolean(name, text string) *bool {
	var v bool
	switch strings.ToLower(text) {
	case "":
		return nil
	case "true", "1":
		v = true
	case "false", "0":
	default:
		p.Wrong(name, "must be true or false")
	}
	return &v
}
