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
	texts []string
	terms [][]byte
}

// ReadTables reads the tables with which a form begins, and returns what follows them.
func ReadTables(form []byte) (*Tables, []byte, error) {
	r := reader{rest: form}
	texts := r.cut()
	terms := r.cut()
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
	tables  *Tables
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
	out := d.rule(0)
	if d.failed || len(d.rest) > 0 {
		return nil, fmt.Errorf("%s: %w", file, errForm)
	}
	return out, nil
}

// A reader reads one piece of a form. After the first failure what it returns means
// nothing.
type reader struct {
	*Reader
	rest   []byte
	failed bool
	module *ast.Module
	file   string
	at     *ast.Location // of the rule, for all that stands in it
}

// fail ends the reading: nothing is left.
func (r *reader) fail() {
	r.failed, r.rest = true, nil
}

func (r *reader) number() uint64 {
	if len(r.rest) > 0 && r.rest[0] < 0x80 {
		n := r.rest[0]
		r.rest = r.rest[1:]
		return uint64(n)
	}
	n, size := binary.Uvarint(r.rest)
	if size <= 0 {
		r.fail()
		return 0
	}
	r.rest = r.rest[size:]
	return n
}

// count returns the length of a list whose items take at least a byte each.
func (r *reader) count() int {
	n := r.number()
	if n > uint64(len(r.rest)) {
		r.fail()
		return 0
	}
	return int(n)
}

// cut reads a table: the lengths of its items, and the items.
func (r *reader) cut() [][]byte {
	lengths := make([]int, r.count())
	total := 0
	for i := range lengths {
		lengths[i] = int(min(r.number(), math.MaxInt32))
		total += lengths[i]
	}
	if r.failed || total > len(r.rest) {
		r.fail()
		return nil
	}
	out := make([][]byte, len(lengths))
	for i, n := range lengths {
		out[i], r.rest = r.rest[:n:n], r.rest[n:]
	}
	return out
}

// text returns the number of a text.
func (r *reader) text() int {
	n := r.number()
	if n >= uint64(len(r.tables.texts)) {
		r.fail()
		return -1
	}
	return int(n)
}

// deeper bounds the depth.
func (r *reader) deeper(depth int) bool {
	if depth > maxDepth {
		r.fail()
	}
	return !r.failed
}

func (r *reader) rule(depth int) *ast.Rule {
	if !r.deeper(depth) {
		return nil
	}
	flags := r.number()
	head := &ast.Head{Assign: flags&ruleAssign != 0}
	if flags&ruleKey != 0 {
		head.Key = r.term(depth + 1)
	}
	if flags&ruleValue != 0 {
		head.Value = r.term(depth + 1)
	}
	r.at = &ast.Location{File: r.file, Row: int(min(r.number(), math.MaxInt32)), Col: 1}
	head.Location = r.at
	if n := r.text(); n >= 0 {
		head.Name = ast.Var(r.tables.texts[n])
	}
	head.Reference = r.list(depth + 1)
	head.Args = r.list(depth + 1)
	out := &ast.Rule{Default: flags&ruleDefault != 0, Head: head, Location: r.at, Module: r.module}
	out.Body = r.body(depth + 1)
	if flags&ruleElse != 0 {
		out.Else = r.rule(depth + 1)
	}
	return out
}

func (r *reader) body(depth int) ast.Body {
	n := r.count()
	if n == 0 || !r.deeper(depth) {
		return nil
	}
	body := take(&r.spareBody, n)
	for i := range body {
		body[i] = r.expr(depth)
	}
	return body
}

func (r *reader) expr(depth int) *ast.Expr {
	flags := r.number()
	e := &take(&r.spareExprs, 1)[0]
	e.Index, e.Location = int(min(r.number(), math.MaxInt32)), r.at
	e.Negated, e.Generated = flags&exprNegated != 0, flags&exprGenerated != 0
	switch {
	case flags&exprList != 0:
		e.Terms = r.list(depth + 1)
	case flags&exprEvery != 0:
		every := &ast.Every{Key: r.term(depth + 1), Value: r.term(depth + 1), Domain: r.term(depth + 1), Location: r.at}
		if every.Key != nil && every.Key.Value.Compare(ast.Null{}) == 0 {
			every.Key = nil
		}
		every.Body = r.body(depth + 1)
		e.Terms = every
	default:
		e.Terms = r.term(depth + 1)
	}
	if flags&exprWith != 0 {
		e.With = make([]*ast.With, r.count())
		for i := range e.With {
			e.With[i] = &ast.With{Target: r.term(depth + 1), Value: r.term(depth + 1), Location: r.at}
		}
	}
	return e
}

func (r *reader) list(depth int) []*ast.Term {
	n := r.count()
	if n == 0 || !r.deeper(depth) {
		return nil
	}
	out := take(&r.spareLists, n)
	for i := range out {
		out[i] = r.term(depth)
	}
	return out
}

// null stands for what could not be read.
var null = ast.NullTerm()

// term returns a term; it is never nil.
func (r *reader) term(depth int) *ast.Term {
	if len(r.rest) == 0 || !r.deeper(depth) {
		r.fail()
		return null
	}
	tag := r.rest[0]
	r.rest = r.rest[1:]
	switch tag {
	case tagVar:
		return r.named(r.vars, func(s string) ast.Value { return ast.Var(s) })
	case tagString:
		return r.named(r.strings, func(s string) ast.Value { return ast.String(s) })
	case tagShared:
		return r.shared(depth)
	}
	v := r.value(tag, depth+1)
	if r.failed {
		return null
	}
	return r.newTerm(v)
}

func (r *reader) newTerm(v ast.Value) *ast.Term {
	t := &take(&r.spareTerms, 1)[0]
	t.Value = v
	return t
}

// named returns the term of a text, the same each time.
func (r *reader) named(made []*ast.Term, value func(string) ast.Value) *ast.Term {
	n := r.text()
	if n < 0 {
		return null
	}
	if made[n] == nil {
		made[n] = r.newTerm(value(r.tables.texts[n]))
	}
	return made[n]
}

// shared returns a term of the table, the same each time.
func (r *reader) shared(depth int) *ast.Term {
	n := r.number()
	if n >= uint64(len(r.terms)) {
		r.fail()
		return null
	}
	if r.terms[n] == nil {
		below := reader{Reader: r.Reader, rest: r.tables.terms[n]}
		t := below.term(depth + 1)
		if below.failed || len(below.rest) > 0 {
			r.fail()
			return null
		}
		r.terms[n] = t
	}
	return r.terms[n]
}

func (r *reader) value(tag byte, depth int) ast.Value {
	switch tag {
	case tagNull:
		return ast.Null{}
	case tagFalse, tagTrue:
		return ast.Boolean(tag == tagTrue)
	case tagNumber:
		if n := r.text(); n >= 0 {
			return ast.Number(r.tables.texts[n])
		}
		return nil
	case tagRef:
		return ast.Ref(r.list(depth))
	case tagCall:
		return ast.Call(r.list(depth))
	case tagArray:
		return ast.NewArray(r.list(depth)...)
	case tagSet:
		return ast.NewSet(r.list(depth)...)
	case tagObject:
		pairs := make([][2]*ast.Term, r.count())
		for i := range pairs {
			pairs[i] = [2]*ast.Term{r.term(depth), r.term(depth)}
		}
		return ast.NewObject(pairs...)
	case tagArrayComprehension:
		return &ast.ArrayComprehension{Term: r.term(depth), Body: r.body(depth)}
	case tagSetComprehension:
		return &ast.SetComprehension{Term: r.term(depth), Body: r.body(depth)}
	case tagObjectComprehension:
		return &ast.ObjectComprehension{Key: r.term(depth), Value: r.term(depth), Body: r.body(depth)}
	}
	r.fail()
	return nil
}

// take cuts so many values, all zero, from a piece, and makes a new piece when it ends.
func take[T any](piece *[]T, n int) []T {
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
