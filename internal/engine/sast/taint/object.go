package taint

import (
	"slices"
	"strconv"
	"strings"

	"merlon/internal/engine/sast/ir"
)

// An object is the state of an abstract object. Objects are shared between states:
// whoever changes one clones it first.
type object struct {
	fields []field // sorted by name
	elems  *value  // elements whose key is not known; nil for none
	keys   *value  // keys that are not known
	self   taint   // of the object as a whole: it is in everything that is read
	text   *value  // of a text that grows
	size   int32   // of a list whose elements are the fields "0", "1" and so on; unsized
	many   bool    // stands for several objects: never overwritten
}

// unsized is the size of an object that is no list, or one whose size is unknown.
const unsized = -1

// A field is a named part of an object. A nil value is a removed one.
type field struct {
	name string
	val  *value
}

// maxFields bounds the fields of an object; more become elements.
const maxFields = 64

// maxGlobals bounds the globals that one function knows of.
const maxGlobals = 4096

// An objInfo says what an object is, for as long as its function is analysed.
type objInfo struct {
	key  objKey
	atom *atom  // the input that it is, or nil for one made in the function
	typ  string // the class of one that the function made
	kind valueKind
	fn   *ir.Function // of a function value
	// own: every field it has was written by the program; a missing one is not there.
	own bool
	// keeps names the global in which such a function keeps what it is given.
	keeps string
	// promised: it is called like the function in its part content, but answers a promise of
	// what that function calls back with.
	promised bool
	// bare: it inherits nothing.
	bare bool
	// accessors: it has functions that run when a member is read or written.
	accessors bool
	// makes: it is a map that makes a collection for a key that is missing.
	makes bool
	// made is where the program makes the object, and depth by how many calls it came
	// from there.
	made  madeAt
	depth int
	// take: a function of a library that keeps what it is called with, for others
	// to take: its elements.
	take bool

	walk int64 // the last walk that looked at it
	deep taint // of an input with all of its parts, once somebody asks
}

// A madeAt is the place where an object is made.
type madeAt struct {
	fn    *ir.Function
	instr int32
	sub   int32
}

// An objKey identifies an object: an input, or what an instruction makes.
type objKey struct {
	atom  *atom
	instr int32
	from  *ir.Function // whose object was brought by a call
	id    objID
	sub   int32
}

func (o *object) clone() *object {
	if o == nil {
		return &object{size: unsized}
	}
	c := *o
	c.fields = slices.Clone(o.fields)
	return &c
}

func (o *object) find(name string) (int, bool) {
	return slices.BinarySearchFunc(o.fields, name, func(f field, name string) int {
		return strings.Compare(f.name, name)
	})
}

// get returns the field, and whether it is known.
func (o *object) get(name string) (*value, bool) {
	if o == nil {
		return nil, false
	}
	if i, ok := o.find(name); ok {
		return o.fields[i].val, true
	}
	return nil, false
}

// set sets the field of an object that nobody else has.
func (o *object) set(name string, v *value, limit int) {
	i, ok := o.find(name)
	switch {
	case ok:
		o.fields[i].val = v
	case len(o.fields) >= limit:
		o.elems = join(o.elems, v)
	default:
		o.fields = slices.Insert(o.fields, i, field{name, v})
	}
}

// list returns the elements of a list whose size is known.
func (o *object) list() ([]*value, bool) {
	if o == nil || o.size < 0 {
		return nil, false
	}
	out := make([]*value, o.size)
	for i := range out {
		out[i], _ = o.get(strconv.Itoa(i))
	}
	return out, true
}

// setList makes the object a list of the elements.
func (o *object) setList(list []*value) {
	if len(list) > maxList {
		o.blur()
		for _, v := range list {
			o.elems = join(o.elems, v)
		}
		return
	}
	o.fields = slices.DeleteFunc(o.fields, func(f field) bool { return isIndex(f.name) })
	o.size = int32(len(list))
	for i, v := range list {
		o.set(strconv.Itoa(i), v, maxFields)
	}
}

// maxList bounds the lists whose elements are kept apart.
const maxList = 40

// blur forgets which element of a list is where.
func (o *object) blur() {
	for _, f := range o.fields {
		if isIndex(f.name) {
			o.elems = join(o.elems, f.val)
		}
	}
	o.fields = slices.DeleteFunc(o.fields, func(f field) bool { return isIndex(f.name) })
	o.size = unsized
}

// isIndex reports whether the name is a number.
func isIndex(name string) bool {
	for i := 0; i < len(name); i++ {
		if name[i] < '0' || name[i] > '9' {
			return false
		}
	}
	return name != ""
}

// same reports whether two states of an object say the same.
func (o *object) same(p *object) bool {
	if o == p {
		return true
	}
	if o == nil || p == nil {
		return false
	}
	return o.size == p.size && o.many == p.many && o.elems.same(p.elems) && o.keys.same(p.keys) &&
		o.self.same(p.self) && o.text.same(p.text) &&
		slices.EqualFunc(o.fields, p.fields, func(a, b field) bool { return a.name == b.name && a.val.same(b.val) })
}

// A state is what is known at a point of a function.
type state struct {
	vars []*value
	heap []*object // by objID; shorter than the table: the rest is untouched

	control taint // of the fact that the point is reached

	approved []approvedPath // members that guards have approved of; never changed in place
}

// object returns the state of an object, nil when nothing was written to it.
func (s *state) object(id objID) *object {
	if int(id) < len(s.heap) {
		return s.heap[id]
	}
	return nil
}

// put replaces the state of an object.
func (s *state) put(id objID, o *object) {
	if int(id) >= len(s.heap) {
		s.heap = append(s.heap, make([]*object, int(id)+1-len(s.heap))...)
	}
	s.heap[id] = o
}

// opaque reports whether nothing is known of the object's parts.
func (o *object) opaque() bool {
	return len(o.self) > 0 && len(o.fields) == 0 && o.elems == nil && o.text == nil
}
