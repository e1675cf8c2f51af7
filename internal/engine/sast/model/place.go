package model

import (
	"fmt"
	"strconv"
	"strings"
)

// maxSteps bounds the path of a place.
const maxSteps = 6

// parsePlace reads a place: a base and steps. The number of steps is bounded: deeper paths are not
// tracked.
func parsePlace(text string) (Place, error) {
	base := text
	if i := strings.IndexAny(text, ".[("); i >= 0 {
		base = text[:i]
	}
	p, err := parseBase(base)
	if err != nil {
		return p, err
	}
	for rest := text[len(base):]; rest != ""; {
		step, n, err := parseStep(rest)
		if err != nil {
			return p, err
		}
		if p.Steps = append(p.Steps, step); len(p.Steps) > maxSteps {
			return p, fmt.Errorf("%q has more than %d steps", text, maxSteps)
		}
		rest = rest[n:]
	}
	return p, nil
}

// parseBase reads "this", "return", "value", "arg0:name", "arg1+", "arg*",
// "arg:name", "param0" and so on.
func parseBase(text string) (Place, error) {
	switch text {
	case "this":
		return Place{Base: This}, nil
	case "return":
		return Place{Base: Return}, nil
	case "value":
		return Place{Base: Assigned}, nil
	case "param":
		return Place{Base: Parameter, Index: Self}, nil
	}
	p := Place{Base: Argument}
	rest, ok := strings.CutPrefix(text, "arg")
	if !ok {
		if rest, ok = strings.CutPrefix(text, "param"); !ok {
			return p, fmt.Errorf("%q is not a place: this, return, value, arg0, arg1+, arg*, arg0:name, param0", text)
		}
		p.Base = Parameter
	}
	err := p.parsePosition(text, rest)
	return p, err
}

// parsePosition reads the number and the name of an argument or a parameter. A name lets the
// argument be given by keyword.
func (p *Place) parsePosition(text, rest string) (err error) {
	number, name, named := strings.Cut(rest, ":")
	if p.Name = name; named && (name == "" || !targetName.MatchString(name)) {
		return fmt.Errorf("%q: %q is not a name", text, name)
	}
	if number, p.Rest = strings.CutSuffix(number, "+"); p.Rest && named {
		return fmt.Errorf("%q: several arguments have no name", text)
	}
	switch {
	case number == "*" && !p.Rest:
		p.Index = Any
	case number == "" && named:
		p.Index = Only
	default:
		if p.Index, err = parseIndex(number); err != nil {
			return fmt.Errorf("%q: %w", text, err)
		}
	}
	return nil
}

// parseIndex reads the number of an argument. More arguments than that are a mistake.
func parseIndex(text string) (int, error) {
	n, err := strconv.Atoi(text)
	if err != nil || n < 0 || n > 63 {
		return 0, fmt.Errorf("%q is not a number from 0 to 63", text)
	}
	return n, nil
}

// parseStep reads the step at the start of the text and returns its length. Steps are read from
// left to right.
func parseStep(text string) (Step, int, error) {
	switch {
	case strings.HasPrefix(text, ".**"):
		return Step{Kind: Deep}, 3, nil
	case strings.HasPrefix(text, ".("):
		step, n, err := parseStep(text[1:])
		return step, n + 1, err
	case text[0] == '.':
		end := strings.IndexAny(text[1:], ".[(")
		if end < 0 {
			end = len(text) - 1
		}
		if end == 0 {
			return Step{}, 0, fmt.Errorf("%q: a name is missing", text)
		}
		return Step{Kind: Field, Name: text[1 : 1+end]}, 1 + end, nil
	case text[0] == '(':
		end := strings.IndexByte(text, ')')
		if end < 0 {
			return Step{}, 0, fmt.Errorf("%q: ( without )", text)
		}
		switch inside := text[1:end]; inside {
		case "":
			return Step{Kind: Result}, end + 1, nil
		case "*":
			return Step{Kind: Formal, Index: Any}, end + 1, nil
		default:
			n, err := parseIndex(inside)
			return Step{Kind: Formal, Index: n}, end + 1, err
		}
	default:
		return parseKey(text)
	}
}

// parseKey reads "[*]", "[keys]", "[+]", "[arg0]", "['key']" or "[0]". A constant index is a
// field.
func parseKey(text string) (Step, int, error) {
	end := strings.IndexByte(text, ']')
	if text[0] != '[' || end < 0 {
		return Step{}, 0, fmt.Errorf("%q is not a step", text)
	}
	inside := text[1:end]
	switch {
	case inside == "*":
		return Step{Kind: Elements}, end + 1, nil
	case inside == "keys":
		return Step{Kind: Keys}, end + 1, nil
	case inside == "+":
		return Step{Kind: Append}, end + 1, nil
	case strings.HasPrefix(inside, "arg"):
		n, err := parseIndex(inside[3:])
		return Step{Kind: KeyOf, Index: n}, end + 1, err
	case len(inside) > 2 && inside[0] == '\'' && inside[len(inside)-1] == '\'':
		return Step{Kind: Field, Name: inside[1 : len(inside)-1]}, end + 1, nil
	}
	n, err := parseIndex(inside)
	return Step{Kind: Field, Name: strconv.Itoa(n)}, end + 1, err
}
