package module

import (
	"encoding/binary"
	"fmt"

	"github.com/open-policy-agent/opa/v1/ast"
)

// The form. Numbers are unsigned varints (encoding/binary). A text is its number in the
// table of texts, with which the form begins: their count, their lengths, their bytes. A
// table of terms follows that stand in several places: their count, their lengths, their
// bytes. A list is its length and its items.
//
//	rule:  flags, [key], [value], line, name, reference, arguments, body, [else: rule]
//	expr:  flags, index, a term or a list of terms or an "every", [list of modifiers]
//	every: key or nothing, value, domain, body
//	term:  tag, what the tag says
//
// What is in brackets is there when its flag is set.

// Tags of terms.
const (
	tagNull = iota
	tagFalse
	tagTrue
	tagNumber // text
	tagString // text
	tagVar    // text
	tagRef    // terms
	tagCall   // terms
	tagArray  // terms
	tagSet    // terms
	tagObject // twice as many terms: key, value
	tagArrayComprehension
	tagSetComprehension
	tagObjectComprehension
	tagShared // number in the table of terms
)

// Flags of rules.
const (
	ruleDefault = 1 << iota
	ruleAssign
	ruleKey
	ruleValue
	ruleElse
)

// Flags of expressions.
const (
	exprNegated = 1 << iota
	exprGenerated
	exprWith
	exprList // terms, not one term
	exprEvery
)

// A Writer puts rules into one form.
type Writer struct {
	mode  mode
	texts map[string]uint64
	text  []string
	seen  map[string]int    // how often a term stands, by its bytes
	terms map[string]uint64 // numbers of the terms that stand in several places
	table [][]byte
	names map[ast.Var]string // of the compiler's variables in the rule
	err   error
}

// A mode is what a writer does with a term that may stand in several places.
type mode int

const (
	counts mode = iota // it notes where terms stand
	shares             // it writes their numbers
	whole              // it writes them where they stand
)

// NewWriter returns a writer of the rules, which it looks through for terms that stand
// in several places.
func NewWriter(rules []*ast.Rule) *Writer {
	w := &Writer{texts: map[string]uint64{}, seen: map[string]int{}, terms: map[string]uint64{}}
	for _, r := range rules {
		w.names = map[ast.Var]string{}
		w.putRule(nil, r)
	}
	w.mode = shares
	return w
}

// Rule returns the bytes of one of the rules. It fails for what the compiler does not
// leave in rules, or what this form does not know.
func (w *Writer) Rule(r *ast.Rule) ([]byte, error) {
	w.names = map[ast.Var]string{}
	b := w.putRule(nil, r)
	return b, w.err
}

// Tables returns the tables with which the form begins. They are complete when all rules
// are written.
func (w *Writer) Tables() []byte {
	b := binary.AppendUvarint(nil, uint64(len(w.text)))
	for _, s := range w.text {
		b = binary.AppendUvarint(b, uint64(len(s)))
	}
	for _, s := range w.text {
		b = append(b, s...)
	}
	b = binary.AppendUvarint(b, uint64(len(w.table)))
	for _, t := range w.table {
		b = binary.AppendUvarint(b, uint64(len(t)))
	}
	for _, t := range w.table {
		b = append(b, t...)
	}
	return b
}

// setError keeps the first error.
func (w *Writer) setError(format string, args ...any) {
	if w.err == nil {
		w.err = fmt.Errorf(format, args...)
	}
}

// putText writes the number of a text, a new one for a text that was not there.
func (w *Writer) putText(b []byte, s string) []byte {
	n, ok := w.texts[s]
	if !ok {
		n = uint64(len(w.text))
		w.texts[s], w.text = n, append(w.text, s)
	}
	return binary.AppendUvarint(b, n)
}

// localName returns the name of a variable. The compiler numbers its own through all
// rules, where they mean something in one: here each rule's are numbered for themselves,
// so that rules are more alike.
func (w *Writer) localName(v ast.Var) string {
	if !v.IsGenerated() && !v.IsWildcard() {
		return string(v)
	}
	name, ok := w.names[v]
	if !ok {
		name = fmt.Sprintf("__local%d__", len(w.names))
		if v.IsWildcard() {
			name = fmt.Sprintf("%s%d", ast.WildcardPrefix, len(w.names))
		}
		w.names[v] = name
	}
	return name
}

// flagIf returns the flag when it is set.
func flagIf(set bool, f uint64) uint64 {
	if set {
		return f
	}
	return 0
}

// putRule writes a rule as readRule reads it.
func (w *Writer) putRule(b []byte, r *ast.Rule) []byte {
	h := r.Head
	b = binary.AppendUvarint(b, flagIf(r.Default, ruleDefault)|flagIf(h.Assign, ruleAssign)|
		flagIf(h.Key != nil, ruleKey)|
		flagIf(h.Value != nil, ruleValue)|flagIf(r.Else != nil, ruleElse))
	if h.Key != nil {
		b = w.putTerm(b, h.Key)
	}
	if h.Value != nil {
		b = w.putTerm(b, h.Value)
	}
	line := 0
	if r.Location != nil {
		line = r.Location.Row
	}
	b = binary.AppendUvarint(b, uint64(line))
	b = w.putText(b, string(h.Name))
	b = w.putTerms(b, h.Reference)
	b = w.putTerms(b, h.Args)
	b = w.putBody(b, r.Body)
	if r.Else != nil {
		b = w.putRule(b, r.Else)
	}
	return b
}

// putBody writes the expressions of a body.
func (w *Writer) putBody(b []byte, body ast.Body) []byte {
	b = binary.AppendUvarint(b, uint64(len(body)))
	for _, e := range body {
		b = w.putExpr(b, e)
	}
	return b
}

// putExpr writes an expression as readExpr reads it.
func (w *Writer) putExpr(b []byte, e *ast.Expr) []byte {
	flags := flagIf(e.Negated, exprNegated) | flagIf(e.Generated, exprGenerated) | flagIf(len(e.With) > 0, exprWith)
	head := func(kind uint64) []byte {
		b = binary.AppendUvarint(b, flags|kind)
		return binary.AppendUvarint(b, uint64(e.Index))
	}
	switch t := e.Terms.(type) {
	case *ast.Term:
		b = w.putTerm(head(0), t)
	case []*ast.Term:
		b = w.putTerms(head(exprList), t)
	case *ast.Every:
		b = head(exprEvery)
		key := t.Key
		if key == nil {
			key = ast.NullTerm()
		}
		b = w.putTerm(w.putTerm(w.putTerm(b, key), t.Value), t.Domain)
		b = w.putBody(b, t.Body)
	default:
		w.setError("an expression of %T: %s", t, e)
	}
	if len(e.With) > 0 {
		b = binary.AppendUvarint(b, uint64(len(e.With)))
		for _, m := range e.With {
			b = w.putTerm(w.putTerm(b, m.Target), m.Value)
		}
	}
	return b
}

// putTerms writes a list of terms.
func (w *Writer) putTerms(b []byte, terms []*ast.Term) []byte {
	b = binary.AppendUvarint(b, uint64(len(terms)))
	for _, t := range terms {
		b = w.putTerm(b, t)
	}
	return b
}

// putTerm writes a term, or its number when it is in several places. A comprehension is
// always written in its place: the compiler indexes each by itself.
func (w *Writer) putTerm(b []byte, t *ast.Term) []byte {
	if w.mode == whole || ast.IsScalar(t.Value) || ast.ContainsComprehensions(t) {
		return w.putValue(b, t.Value)
	}
	if _, ok := t.Value.(ast.Var); ok {
		return w.putValue(b, t.Value)
	}
	mode := w.mode
	w.mode = whole
	key := string(w.putValue(nil, t.Value))
	w.mode = mode
	if mode == counts {
		if w.seen[key]++; w.seen[key] > 1 {
			return b // its parts were counted
		}
		return w.putValue(b, t.Value)
	}
	if w.seen[key] < 2 {
		return w.putValue(b, t.Value)
	}
	n, ok := w.terms[key]
	if !ok {
		bytes := w.putValue(nil, t.Value)
		n = uint64(len(w.table))
		w.terms[key], w.table = n, append(w.table, bytes)
	}
	return binary.AppendUvarint(append(b, tagShared), n)
}

// putValue writes the tag of a term and what follows it.
func (w *Writer) putValue(b []byte, v ast.Value) []byte {
	switch v := v.(type) {
	case ast.Null:
		return append(b, tagNull)
	case ast.Boolean:
		return append(b, byte(tagFalse+flagIf(bool(v), 1)))
	case ast.Number:
		return w.putText(append(b, tagNumber), string(v))
	case ast.String:
		return w.putText(append(b, tagString), string(v))
	case ast.Var:
		return w.putText(append(b, tagVar), w.localName(v))
	case ast.Ref:
		return w.putTerms(append(b, tagRef), v)
	case ast.Call:
		return w.putTerms(append(b, tagCall), v)
	case *ast.Array:
		var terms []*ast.Term
		v.Foreach(func(t *ast.Term) { terms = append(terms, t) })
		return w.putTerms(append(b, tagArray), terms)
	case ast.Set:
		return w.putTerms(append(b, tagSet), v.Slice())
	case ast.Object:
		b = binary.AppendUvarint(append(b, tagObject), uint64(v.Len()))
		v.Foreach(func(key, value *ast.Term) { b = w.putTerm(w.putTerm(b, key), value) })
		return b
	case *ast.ArrayComprehension:
		return w.putBody(w.putTerm(append(b, tagArrayComprehension), v.Term), v.Body)
	case *ast.SetComprehension:
		return w.putBody(w.putTerm(append(b, tagSetComprehension), v.Term), v.Body)
	case *ast.ObjectComprehension:
		return w.putBody(w.putTerm(w.putTerm(append(b, tagObjectComprehension), v.Key), v.Value), v.Body)
	}
	w.setError("a value of %T: %s", v, v)
	return b
}
