package taint

import (
	"cmp"
	"slices"
	"strings"

	"merlon/internal/engine/sast/ir"
)

// An objID names an abstract object within the analysis of one function.
type objID int32

// A value is what is known of a variable at a point of the program. Values do not
// change once they are made. Nil means that the variable was not assigned on any
// path; &value{} that nothing is known.
type value struct {
	c     constant
	objs  []objID // what it may refer to, sorted; none: a primitive, or not known
	taint taint   // who chose it
	api   string  // what the models call it: the name of a global, or its type
	start string  // the text that it is known to begin with, when c is not known
	kind  valueKind
}

// unknown is the value of which nothing is known.
var unknown = &value{}

// A valueKind is what a value is known to be.
type valueKind uint8

const (
	kindAny valueKind = iota
	kindString
	kindNumber
	kindBool
	kindNull
	kindList
	kindMap
	kindFunction
	kindObject
)

// A taint is who chose a value, sorted by origin. Nil is clean.
type taint []elem

// An elem is one origin of a value.
type elem struct {
	atom  *atom
	clean uint64 // bits of the kinds of sinks for which it is harmless
	trace *step
}

// An atom is an origin: a source of the program, or an input of the function
// that is analysed, for which callers fill in their own. Atoms are interned, so
// pointers compare.
type atom struct {
	atomKey
	up   *atom  // the input of which this is the part called name; of a deep or picked one, the atom that is neither
	name string // "" for a whole input, and for a deep or picked one
}

// An atomKey is what makes an atom.
type atomKey struct {
	source *source // nil for an input
	in     input
	path   string // below the input, each part behind a separator
	deep   bool   // any part below the path, too
	picked bool   // not the data itself: an object that it picked as a key
}

// An input is what a function is given.
type input struct {
	kind  inputKind
	index int32 // of a parameter or capture
}

type inputKind uint8

const (
	inParam inputKind = iota
	inThis
	inCapture
	inGlobal // the path begins with the qualified name
)

// separator stands before each part of a path.
const separator = "\x1f"

// maxPath bounds the parts of a path.
const maxPath = 4

// maxTaint bounds the origins of one value. What is beyond is the later part of
// the order of origins: callers' inputs are kept before sources.
const maxTaint = 24

// maxGlobalTaint bounds the globals among the origins of one value: a value with more
// comes from everywhere, and they must not crowd out the others.
const maxGlobalTaint = 4

// global reports whether the atom is a global, or a part of one.
func (a *atom) global() bool { return a.source == nil && a.in.kind == inGlobal }

// fullOfGlobals reports whether the taint has as many globals as it may, all before
// the one.
func (t taint) fullOfGlobals(at *atom) bool {
	n := 0
	for i := range t {
		if t[i].atom.global() && t[i].atom.compare(at) < 0 {
			n++
		}
	}
	return n >= maxGlobalTaint
}

// compare orders atoms: inputs first, then sources by their place; picked ones last.
func (a *atom) compare(b *atom) int {
	if a == b {
		return 0
	}
	if a.picked != b.picked {
		if b.picked {
			return -1
		}
		return 1
	}
	if a.source != nil || b.source != nil {
		switch {
		case a.source == nil:
			return -1
		case b.source == nil:
			return 1
		}
		return a.source.compare(b.source)
	}
	if c := cmp.Compare(a.in.kind, b.in.kind); c != 0 {
		return c
	}
	if c := cmp.Compare(a.in.index, b.in.index); c != 0 {
		return c
	}
	if c := strings.Compare(a.path, b.path); c != 0 {
		return c
	}
	if a.deep == b.deep {
		return 0
	}
	if b.deep {
		return -1
	}
	return 1
}

// A step is one part of the way of data. Ways share their beginnings.
type step struct {
	fn    *ir.Function
	node  int32
	prev  *step // what came before; nil at the origin
	inner *step // the way through the function that is called here
	size  int32
}

// then returns the way with one more step.
func then(prev *step, fn *ir.Function, node int32, inner *step) *step {
	if inner == nil && prev != nil && prev.fn == fn && prev.node == node {
		return prev
	}
	return &step{fn: fn, node: node, prev: prev, inner: inner, size: longer(1, prev.length(), inner.length())}
}

// maxLength bounds the size of a way: ways share their parts, so sizes double.
const maxLength = 1 << 30

// longer returns the sum of sizes, maxLength when it is more.
func longer(sizes ...int32) int32 {
	sum := int64(0)
	for _, n := range sizes {
		sum += int64(n)
	}
	return int32(min(sum, maxLength))
}

func (s *step) length() int32 {
	if s == nil {
		return 0
	}
	return s.size
}

// shorter returns the shorter way, the first when both are equal.
func shorter(a, b *step) *step {
	if b.length() < a.length() {
		return b
	}
	return a
}

// union joins two taints: an origin that comes on two ways is clean only for what
// both ways made it clean for. Parts of an input that is there with all of its parts
// are left out.
func (t taint) union(u taint) taint {
	if len(u) == 0 {
		return t
	}
	if len(t) == 0 {
		return u
	}
	if t.covers(u) {
		return t
	}
	out := make(taint, 0, min(len(t)+len(u), maxTaint))
	var f filter
	i, j := 0, 0
	for (i < len(t) || j < len(u)) && len(out) < maxTaint {
		e := elem{}
		switch c := compareAt(t, i, u, j); {
		case c < 0:
			e = t[i]
			i++
		case c > 0:
			e = u[j]
			j++
		default:
			e = elem{t[i].atom, t[i].clean & u[j].clean, shorter(t[i].trace, u[j].trace)}
			i, j = i+1, j+1
		}
		if f.takes(&e) {
			out = append(out, e)
		}
	}
	return out
}

// A filter leaves out of sorted origins what the others say already, and globals
// beyond maxGlobalTaint.
type filter struct {
	wholes  [maxPath]elem // origins that stand for all of their parts
	n       int           // of wholes
	globals int
}

func (f *filter) takes(e *elem) bool {
	for i := range f.n {
		if f.wholes[i].absorbs(e) {
			return false
		}
	}
	if e.atom.global() {
		if f.globals++; f.globals > maxGlobalTaint {
			return false
		}
	}
	if e.atom.deep {
		for f.n > 0 && (f.n == len(f.wholes) || !f.wholes[f.n-1].atom.above(e.atom)) {
			f.n--
		}
		f.wholes[f.n] = *e
		f.n++
	}
	return true
}

// compareAt orders the elements at two places; what is behind the end is last.
func compareAt(t taint, i int, u taint, j int) int {
	switch {
	case i == len(t):
		return 1
	case j == len(u):
		return -1
	}
	return t[i].atom.compare(u[j].atom)
}

// absorbs reports whether e, an input with all of its parts, says what f says of one
// of the parts.
func (e *elem) absorbs(f *elem) bool {
	return e.atom.deep && e.clean&^f.clean == 0 && e.atom.above(f.atom)
}

// above reports whether b is a part of what a is, or of one of its parts.
func (a *atom) above(b *atom) bool {
	if a.source != nil || b.source != nil || a.in != b.in || a.picked != b.picked {
		return false
	}
	rest, below := strings.CutPrefix(b.path, a.path)
	return below && strings.HasPrefix(rest, separator)
}

// covers reports whether t says all that u says, on ways that are no longer, and would
// not grow by it.
func (t taint) covers(u taint) bool {
	from := 0
	for k := range u {
		e := &u[k]
		i := from
		for i < len(t) && t[i].atom != e.atom {
			i++
		}
		if i == len(t) {
			if len(t) == maxTaint && t[i-1].atom.compare(e.atom) < 0 {
				return true
			}
			if e.atom.global() && t.fullOfGlobals(e.atom) {
				continue
			}
			if !slices.ContainsFunc(t, func(f elem) bool { return f.absorbs(e) }) {
				return false
			}
			continue
		}
		if t[i].clean&^e.clean != 0 || t[i].trace.length() > e.trace.length() {
			return false
		}
		from = i + 1
	}
	return true
}

// same reports whether two taints have the same origins, cleaned for the same.
func (t taint) same(u taint) bool {
	return slices.EqualFunc(t, u, func(a, b elem) bool { return a.atom == b.atom && a.clean == b.clean })
}

// where returns the elements for which f holds: the taint itself when these are all.
func (t taint) where(f func(*elem) bool) taint {
	for i := range t {
		if f(&t[i]) {
			continue
		}
		out := slices.Clone(t[:i])
		for j := i + 1; j < len(t); j++ {
			if f(&t[j]) {
				out = append(out, t[j])
			}
		}
		if len(out) == 0 {
			return nil
		}
		return out
	}
	return t
}

// each returns the taint with every element changed by f; those for which it
// returns false go.
func (t taint) each(f func(*elem) bool) taint {
	if len(t) == 0 {
		return nil
	}
	out := make(taint, 0, len(t))
	for _, e := range t {
		if f(&e) {
			out = append(out, e)
		}
	}
	if len(out) == 0 {
		return nil
	}
	return out
}

// allKinds has the bit of every kind.
const allKinds = ^uint64(0)

// cleaned returns the taint made harmless for the kinds.
func (t taint) cleaned(kinds uint64) taint {
	if !slices.ContainsFunc(t, func(e elem) bool { return kinds&^e.clean != 0 }) {
		return t
	}
	return t.each(func(e *elem) bool {
		e.clean |= kinds
		return true
	})
}

// at returns the taint with one more step in each way.
func (t taint) at(fn *ir.Function, node int32) taint {
	if !slices.ContainsFunc(t, func(e elem) bool {
		return e.trace == nil || e.trace.fn != fn || e.trace.node != node
	}) {
		return t
	}
	return t.through(way{fn: fn, node: node})
}

// through returns the taint with the step of the way added to each way.
func (t taint) through(w way) taint {
	out := slices.Clone(t)
	var s steps
	for i := range out {
		out[i].trace = s.then(out[i].trace, &w, len(out)-i)
	}
	return out
}

// joinObjs unites two sorted sets of objects.
func joinObjs(a, b []objID) []objID {
	if len(b) == 0 || hasObjs(a, b) {
		return a
	}
	if len(a) == 0 {
		return b
	}
	out := slices.Concat(a, b)
	slices.Sort(out)
	out = slices.Compact(out)
	if len(out) > maxObjs {
		out = out[:maxObjs]
	}
	return out
}

// hasObjs reports whether all of b are in a; both are sorted.
func hasObjs(a, b []objID) bool {
	i := 0
	for _, id := range b {
		for i < len(a) && a[i] < id {
			i++
		}
		if i == len(a) || a[i] != id {
			return false
		}
	}
	return true
}

// maxObjs bounds what one variable may refer to.
const maxObjs = 16

// join returns what is known when either may be the case.
func join(a, b *value) *value {
	if a == nil || a == b {
		return b
	}
	if b == nil {
		return a
	}
	v := value{objs: joinObjs(a.objs, b.objs), taint: a.taint.union(b.taint)}
	if a.c == b.c {
		v.c = a.c
	}
	if v.c.kind == 0 {
		v.start = commonStart(a.text(), b.text())
	}
	switch {
	case a.kind == b.kind:
		v.kind = a.kind
	case a.kind == kindNull:
		v.kind = b.kind
	case b.kind == kindNull:
		v.kind = a.kind
	}
	switch {
	case a.api == b.api || b.kind == kindNull:
		v.api = a.api
	case a.kind == kindNull:
		v.api = b.api
	}
	if v.same(a) && a.taint.covers(v.taint) {
		return a
	}
	w := v
	return &w
}

// text returns the text that the value is known to begin with.
func (v *value) text() string {
	if v.c.kind == constString || v.c.kind == constChar {
		return v.c.s
	}
	return v.start
}

// maxStart bounds the known beginning of a text.
const maxStart = 256

func commonStart(a, b string) string {
	n := 0
	for n < len(a) && n < len(b) && n < maxStart && a[n] == b[n] {
		n++
	}
	return a[:n]
}

// same reports whether two values say the same.
func (v *value) same(w *value) bool {
	if v == w {
		return true
	}
	if v == nil || w == nil {
		return false
	}
	return v.c == w.c && v.api == w.api && v.start == w.start && v.kind == w.kind &&
		slices.Equal(v.objs, w.objs) && v.taint.same(w.taint)
}

// with returns the value with another taint.
func (v *value) with(t taint) *value {
	if len(t) == 0 && len(v.taint) == 0 {
		return v
	}
	w := *v
	w.taint = t
	return &w
}

// typed returns the value with a name for the models, if it has none.
func (v *value) typed(api string) *value {
	if v == nil || v.api != "" || api == "" {
		return v
	}
	w := *v
	w.api = api
	return &w
}

// a constant is a known value.
type constant struct {
	kind constKind
	s    string
	n    float64 // numbers, booleans
}

type constKind uint8

const (
	constNone constKind = iota
	constString
	constChar
	constInt
	constFloat
	constBool
	constNull
	constRegex // s is the expression, n its flags; no constant to compute with
)

// valueKind returns what a value that is the constant is.
func (c constant) valueKind() valueKind {
	switch c.kind {
	case constString:
		return kindString
	case constInt, constFloat:
		return kindNumber
	case constBool:
		return kindBool
	case constNull:
		return kindNull
	}
	return kindAny
}

// maxConst bounds constant texts.
const maxConst = 4096

func stringValue(s string) *value {
	if len(s) > maxConst {
		return &value{kind: kindString, start: s[:maxStart]}
	}
	return &value{c: constant{kind: constString, s: s}, kind: kindString}
}

func charValue(s string) *value {
	return &value{c: constant{kind: constChar, s: s}, kind: kindString}
}

func intValue(n float64) *value {
	return &value{c: constant{kind: constInt, n: n}, kind: kindNumber}
}

func floatValue(n float64) *value {
	return &value{c: constant{kind: constFloat, n: n}, kind: kindNumber}
}

func boolValue(b bool) *value {
	v := &value{c: constant{kind: constBool}, kind: kindBool}
	if b {
		v.c.n = 1
	}
	return v
}

var nullValue = &value{c: constant{kind: constNull}, kind: kindNull}
