package license

import (
	"slices"
	"strings"

	"merlon/internal/errs"
)

// Limits of an expression. A text beyond them is no expression.
const (
	maxText  = 4096 // bytes
	maxDepth = 50   // of brackets
)

// An Expression is what licences a package is under: one, all of several, or a
// choice of several. Its zero value says nothing.
type Expression struct {
	id    string // of one licence
	any   bool   // one of the parts may be chosen
	parts []*Expression
}

// Parse reads an SPDX licence expression. Operators are taken in any case.
// Identifiers become those that SPDX has now; others stay as they are.
func Parse(text string) (*Expression, error) {
	if len(text) > maxText {
		return nil, errs.E(errs.Invalid, "a licence expression has at most %d bytes", maxText)
	}
	p := &parser{words: splitWords(text)}
	e, err := p.parseOr(0)
	if err != nil {
		return nil, err
	}
	if len(p.words) > 0 {
		return nil, errs.E(errs.Invalid, "expected AND, OR or WITH before %q in the licence expression", p.words[0])
	}
	return e, nil
}

// Read returns what the licences that a package declares come to, all of them
// together. A text that is no expression is a licence of that name; one that says
// that nothing is known counts as none.
func Read(declared []string) *Expression {
	all := &Expression{}
	for _, text := range declared {
		text = strings.TrimSpace(text)
		if says := strings.ToUpper(text); says == "" || says == "NOASSERTION" || says == "NONE" || says == "UNKNOWN" {
			continue
		}
		e, err := Parse(text)
		if err != nil {
			e = &Expression{id: text}
		}
		all.parts = append(all.parts, e)
	}
	if len(all.parts) == 1 {
		return all.parts[0]
	}
	return all
}

// IDs returns the licences of the expression, each once, in its order. None: it
// says nothing.
func (e *Expression) IDs() []string {
	var out []string
	seen := map[string]bool{}
	var visit func(*Expression)
	visit = func(e *Expression) {
		if e.id != "" && !seen[e.id] {
			seen[e.id] = true
			out = append(out, e.id)
		}
		for _, part := range e.parts {
			visit(part)
		}
	}
	visit(e)
	return out
}

// String returns the expression as SPDX writes it.
func (e *Expression) String() string {
	if e.parts == nil {
		return e.id
	}
	operator := " AND "
	if e.any {
		operator = " OR "
	}
	texts := make([]string, len(e.parts))
	for i, part := range e.parts {
		if texts[i] = part.String(); part.parts != nil {
			texts[i] = "(" + texts[i] + ")"
		}
	}
	return strings.Join(texts, operator)
}

// How much categories weigh. What is not known may be worse than anything where
// one chooses, and may be permissive or worse where all hold: it weighs less than
// strong copyleft there, which holds in any case.
var (
	choice = []Category{Permissive, WeakCopyleft, StrongCopyleft, Unknown}
	union  = []Category{Permissive, WeakCopyleft, Unknown, StrongCopyleft}
)

// Category returns what the expression comes to: the least restrictive where one
// may choose, else the most restrictive. Nothing is Unknown.
func (e *Expression) Category(c Classes) Category {
	if e.parts == nil {
		if e.id == "" {
			return Unknown
		}
		return c.Of(e.id).Category
	}
	order := union
	if e.any {
		order = choice
	}
	weights := make([]int, len(e.parts))
	for i, part := range e.parts {
		weights[i] = slices.Index(order, part.Category(c))
	}
	if e.any {
		return order[slices.Min(weights)]
	}
	return order[slices.Max(weights)]
}

// parser reads the words of an expression.
type parser struct{ words []string }

// splitWords splits a text at blanks and brackets.
func splitWords(text string) []string {
	return strings.Fields(strings.NewReplacer("(", " ( ", ")", " ) ").Replace(text))
}

// takeOperator removes the next word if it is the operator.
func (p *parser) takeOperator(operator string) bool {
	if len(p.words) == 0 || !strings.EqualFold(p.words[0], operator) {
		return false
	}
	p.words = p.words[1:]
	return true
}

// parseOr reads what OR joins.
func (p *parser) parseOr(depth int) (*Expression, error) {
	return p.parseJoined("OR", depth, p.parseAnd)
}

// parseAnd reads what AND joins, which binds more tightly.
func (p *parser) parseAnd(depth int) (*Expression, error) {
	return p.parseJoined("AND", depth, p.parseTerm)
}

// parseJoined reads parts with an operator between them.
func (p *parser) parseJoined(operator string, depth int, read func(int) (*Expression, error)) (*Expression, error) {
	first, err := read(depth)
	if err != nil {
		return nil, err
	}
	parts := []*Expression{first}
	for p.takeOperator(operator) {
		next, err := read(depth)
		if err != nil {
			return nil, err
		}
		parts = append(parts, next)
	}
	if len(parts) == 1 {
		return first, nil
	}
	return &Expression{any: operator == "OR", parts: parts}, nil
}

// parseTerm reads a licence, with its exception, or an expression in brackets.
func (p *parser) parseTerm(depth int) (*Expression, error) {
	if p.takeOperator("(") {
		if depth == maxDepth {
			return nil, errs.E(errs.Invalid, "the licence expression has more than %d brackets in each other", maxDepth)
		}
		e, err := p.parseOr(depth + 1)
		if err == nil && !p.takeOperator(")") {
			err = errs.E(errs.Invalid, "a bracket of the licence expression is not closed")
		}
		return e, err
	}
	id, err := p.parseIdentifier()
	if err != nil {
		return nil, err
	}
	id, _ = Canonical(id)
	if !p.takeOperator("WITH") {
		return &Expression{id: id}, nil
	}
	exception, err := p.parseIdentifier()
	if err != nil {
		return nil, err
	}
	if known, ok := spdx().exceptions[strings.ToLower(exception)]; ok {
		exception = known
	}
	return &Expression{id: id + " WITH " + exception}, nil
}

// parseIdentifier reads the identifier of a licence, an exception or a reference.
func (p *parser) parseIdentifier() (string, error) {
	if len(p.words) == 0 {
		return "", errs.E(errs.Invalid, "the licence expression ends where a licence is expected")
	}
	id := p.words[0]
	operator := slices.ContainsFunc([]string{"AND", "OR", "WITH"}, func(o string) bool {
		return strings.EqualFold(o, id)
	})
	if operator || strings.ContainsFunc(id, func(r rune) bool { return !idLetter(r) }) {
		return "", errs.E(errs.Invalid, "expected a licence at %q in the licence expression", id)
	}
	p.words = p.words[1:]
	return id, nil
}

// idLetter reports whether identifiers have the letter: those of SPDX, "+" at the
// end, and ":" between a document and its reference.
func idLetter(r rune) bool {
	return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("-.+:_", r)
}
