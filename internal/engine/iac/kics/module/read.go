package module

import (
	"encoding/binary"
	"fmt"
	"math"

	"github.com/open-policy-agent/opa/v1/ast"
)

// maxDepth bounds how deep terms and rules stand in one another.
const maxDepth = 200

// Tables are the texts and terms that rules of one form stand on.
type Tables struct {
	// names and strings, each once
	texts []string
	// the bytes of terms that several rules use; decoded when first needed
	terms [][]byte
}

// ReadTables reads the tables with which a form begins, and returns what follows them.
func ReadTables(form []byte) (*Tables, []byte, error) {
	r := reader{rest: form}
	texts := r.readTable()
	terms := r.readTable()
	if r.failed {
		return nil, nil, errForm
	}
	t := &Tables{texts: make([]string, len(texts)), terms: terms}
	for i, b := range texts {
		t.texts[i] = string(b)
	}
	return t, r.rest, nil
}

// A Reader makes rules of their bytes. Terms that stand in several places are made once;
// it serves one goroutine.
type Reader struct {
	tables *Tables
	// by the number of the text; nil until the first use
	vars    []*ast.Term
	strings []*ast.Term
	terms   []*ast.Term

	// What is made is taken from pieces: there are many of each.
	spareTerms []ast.Term
	spareExprs []ast.Expr
	spareLists []*ast.Term
	spareBody  []*ast.Expr
}

// NewReader returns a reader of rules that stand on the tables.
func NewReader(t *Tables) *Reader {
	return &Reader{
		tables: t, vars: make([]*ast.Term, len(t.texts)), strings: make([]*ast.Term, len(t.texts)),
		terms: make([]*ast.Term, len(t.terms)),
	}
}

// Rule makes the rule of the bytes, for a module. Errors of the evaluation say that it
// stands in the file. It fails for bytes that are no rule of the form.
func (r *Reader) Rule(rule []byte, m *ast.Module, file string) (*ast.Rule, error) {
	d := reader{Reader: r, rest: rule, module: m, file: file}
	out := d.readRule(0)
	if d.failed || len(d.rest) > 0 {
		return nil, fmt.Errorf("%s: %w", file, errForm)
	}
	return out, nil
}

// A reader reads one piece of a form. After the first failure what it returns means
// nothing.
type reader struct {
	*Reader
	// the bytes that are left
	rest []byte
	// set once and never reset; checked at the end of a rule
	failed bool
	module *ast.Module
	file   string
	at     *ast.Location // of the rule, for all that stands in it
}

// setFailed ends the reading: nothing is left.
func (r *reader) setFailed() {
	r.failed, r.rest = true, nil
}

// readNumber reads an unsigned varint; most are one byte.
func (r *reader) readNumber() uint64 {
	if len(r.rest) > 0 && r.rest[0] < 0x80 {
		n := r.rest[0]
		r.rest = r.rest[1:]
		return uint64(n)
	}
	n, size := binary.Uvarint(r.rest)
	if size <= 0 {
		r.setFailed()
		return 0
	}
	r.rest = r.rest[size:]
	return n
}

// readCount returns the length of a list whose items take at least a byte each.
func (r *reader) readCount() int {
	n := r.readNumber()
	// A count of a damaged form must not allocate: each item takes at least a byte of the rest.
	if n > uint64(len(r.rest)) {
		r.setFailed()
		return 0
	}
	return int(n)
}

// readTable reads a table: the lengths of its items, and the items.
func (r *reader) readTable() [][]byte {
	lengths := make([]int, r.readCount())
	total := 0
	for i := range lengths {
		// Bounded, so that the sum below cannot overflow.
		lengths[i] = int(min(r.readNumber(), math.MaxInt32))
		total += lengths[i]
	}
	if r.failed || total > len(r.rest) {
		r.setFailed()
		return nil
	}
	out := make([][]byte, len(lengths))
	for i, n := range lengths {
		// The capacity ends with the item: an append cannot overwrite the next one.
		out[i], r.rest = r.rest[:n:n], r.rest[n:]
	}
	return out
}

// readText returns the number of a text.
func (r *reader) readText() int {
	n := r.readNumber()
	if n >= uint64(len(r.tables.texts)) {
		r.setFailed()
		return -1
	}
	return int(n)
}

// checkDepth bounds the depth.
func (r *reader) checkDepth(depth int) bool {
	if depth > maxDepth {
		r.setFailed()
	}
	return !r.failed
}

// readRule reads a rule: its head, its body and the one after "else".
func (r *reader) readRule(depth int) *ast.Rule {
	if !r.checkDepth(depth) {
		return nil
	}
	flags := r.readNumber()
	head := &ast.Head{Assign: flags&ruleAssign != 0}
	if flags&ruleKey != 0 {
		head.Key = r.readTerm(depth + 1)
	}
	if flags&ruleValue != 0 {
		head.Value = r.readTerm(depth + 1)
	}
	r.at = &ast.Location{File: r.file, Row: int(min(r.readNumber(), math.MaxInt32)), Col: 1}
	head.Location = r.at
	if n := r.readText(); n >= 0 {
		head.Name = ast.Var(r.tables.texts[n])
	}
	head.Reference = r.readTerms(depth + 1)
	head.Args = r.readTerms(depth + 1)
	out := &ast.Rule{Default: flags&ruleDefault != 0, Head: head, Location: r.at, Module: r.module}
	out.Body = r.readBody(depth + 1)
	if flags&ruleElse != 0 {
		out.Else = r.readRule(depth + 1)
	}
	return out
}

// readBody reads the expressions of a body.
func (r *reader) readBody(depth int) ast.Body {
	n := r.readCount()
	if n == 0 || !r.checkDepth(depth) {
		return nil
	}
	body := takePiece(&r.spareBody, n)
	for i := range body {
		body[i] = r.readExpr(depth)
	}
	return body
}

// readExpr reads an expression: one term, a call, "some" or "every", with what "with" replaces.
func (r *reader) readExpr(depth int) *ast.Expr {
	flags := r.readNumber()
	e := &takePiece(&r.spareExprs, 1)[0]
	e.Index, e.Location = int(min(r.readNumber(), math.MaxInt32)), r.at
	e.Negated, e.Generated = flags&exprNegated != 0, flags&exprGenerated != 0
	switch {
	case flags&exprList != 0:
		e.Terms = r.readTerms(depth + 1)
	case flags&exprEvery != 0:
		every := &ast.Every{Key: r.readTerm(depth + 1), Value: r.readTerm(depth + 1), Domain: r.readTerm(depth + 1),
			Location: r.at}
		// "every x in list" has no key, which is written as null.
		if every.Key != nil && every.Key.Value.Compare(ast.Null{}) == 0 {
			every.Key = nil
		}
		every.Body = r.readBody(depth + 1)
		e.Terms = every
	default:
		e.Terms = r.readTerm(depth + 1)
	}
	if flags&exprWith != 0 {
		e.With = make([]*ast.With, r.readCount())
		for i := range e.With {
			e.With[i] = &ast.With{Target: r.readTerm(depth + 1), Value: r.readTerm(depth + 1), Location: r.at}
		}
	}
	return e
}

// readTerms reads a list of terms.
func (r *reader) readTerms(depth int) []*ast.Term {
	n := r.readCount()
	if n == 0 || !r.checkDepth(depth) {
		return nil
	}
	out := takePiece(&r.spareLists, n)
	for i := range out {
		out[i] = r.readTerm(depth)
	}
	return out
}

// nullTerm stands for what could not be read.
var nullTerm = ast.NullTerm()

// readTerm returns a term; it is never nil.
func (r *reader) readTerm(depth int) *ast.Term {
	if len(r.rest) == 0 || !r.checkDepth(depth) {
		r.setFailed()
		return nullTerm
	}
	tag := r.rest[0]
	r.rest = r.rest[1:]
	switch tag {
	case tagVar:
		return r.textTerm(r.vars, func(s string) ast.Value { return ast.Var(s) })
	case tagString:
		return r.textTerm(r.strings, func(s string) ast.Value { return ast.String(s) })
	case tagShared:
		return r.sharedTerm(depth)
	}
	v := r.readValue(tag, depth+1)
	if r.failed {
		return nullTerm
	}
	return r.newTerm(v)
}

// newTerm makes a term of memory that many share.
func (r *reader) newTerm(v ast.Value) *ast.Term {
	t := &takePiece(&r.spareTerms, 1)[0]
	t.Value = v
	return t
}

// textTerm returns the term of a text, the same each time.
func (r *reader) textTerm(made []*ast.Term, value func(string) ast.Value) *ast.Term {
	n := r.readText()
	if n < 0 {
		return nullTerm
	}
	if made[n] == nil {
		made[n] = r.newTerm(value(r.tables.texts[n]))
	}
	return made[n]
}

// sharedTerm returns a term of the table, the same each time.
func (r *reader) sharedTerm(depth int) *ast.Term {
	n := r.readNumber()
	if n >= uint64(len(r.terms)) {
		r.setFailed()
		return nullTerm
	}
	if r.terms[n] == nil {
		below := reader{Reader: r.Reader, rest: r.tables.terms[n]}
		t := below.readTerm(depth + 1)
		if below.failed || len(below.rest) > 0 {
			r.setFailed()
			return nullTerm
		}
		r.terms[n] = t
	}
	return r.terms[n]
}

// readValue reads what follows the tag of a term.
func (r *reader) readValue(tag byte, depth int) ast.Value {
	switch tag {
	case tagNull:
		return ast.Null{}
	case tagFalse, tagTrue:
		return ast.Boolean(tag == tagTrue)
	case tagNumber:
		if n := r.readText(); n >= 0 {
			return ast.Number(r.tables.texts[n])
		}
		return nil
	case tagRef:
		return ast.Ref(r.readTerms(depth))
	case tagCall:
		return ast.Call(r.readTerms(depth))
	case tagArray:
		return ast.NewArray(r.readTerms(depth)...)
	case tagSet:
		return ast.NewSet(r.readTerms(depth)...)
	case tagObject:
		pairs := make([][2]*ast.Term, r.readCount())
		for i := range pairs {
			pairs[i] = [2]*ast.Term{r.readTerm(depth), r.readTerm(depth)}
		}
		return ast.NewObject(pairs...)
	case tagArrayComprehension:
		return &ast.ArrayComprehension{Term: r.readTerm(depth), Body: r.readBody(depth)}
	case tagSetComprehension:
		return &ast.SetComprehension{Term: r.readTerm(depth), Body: r.readBody(depth)}
	case tagObjectComprehension:
		return &ast.ObjectComprehension{Key: r.readTerm(depth), Value: r.readTerm(depth), Body: r.readBody(depth)}
	}
	r.setFailed()
	return nil
}

// takePiece cuts so many values, all zero, from a piece, and makes a new piece when it
// ends: one allocation for many small values.
func takePiece[T any](piece *[]T, n int) []T {
	const size = 256
	if n > size/4 {
		return make([]T, n)
	}
	if len(*piece) < n {
		*piece = make([]T, size)
	}
	out := (*piece)[:n:n]
	*piece = (*piece)[n:]
	return out
}
