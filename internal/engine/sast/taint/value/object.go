package value

import (
	"slices"
	"strconv"
	"strings"

	"merlon/internal/engine/sast/taint/taintset"
)

// CellContent is the field of a cell.
const CellContent = "="

// AnyKey is the part of a path that stands for an element whose key is not known.
const AnyKey = "*"

// KeysPart is the part of a path that stands for the keys.
const KeysPart = "#keys"

// JoinElements notes that an element whose key is not known may be the value: so may each
// part that is known. What is set later replaces both.
func (o *Object) JoinElements(x *Value) {
	o.Elements = Join(o.Elements, x)
	for i := range o.Fields {
		if f := &o.Fields[i]; !strings.HasPrefix(f.Name, "#") {
			f.Value = Join(f.Value, x)
		}
	}
}

// GrowTo makes room in a list whose element was set.
func (o *Object) GrowTo(name string) {
	n := 0
	for _, c := range name {
		if n = n*10 + int(c-'0'); n > maxList {
			o.ForgetPositions()
			return
		}
	}
	for ; int(o.Size) <= n; o.Size++ {
	}
}

// An Object is the state of an abstract object. Objects are shared between states:
// whoever changes one clones it first.
type Object struct {
	Fields   []Field      // sorted by name
	Elements *Value       // elements whose key is not known; nil for none
	Keys     *Value       // keys that are not known
	Self     taintset.Set // of the object as a whole: it is in everything that is read
	Text     *Value       // of a text that grows
	Size     int32        // of a list whose elements are the fields "0", "1" and so on; unsized
	Weak     bool         // stands for several objects: never overwritten
}

// Unsized is the size of an object that is no list, or one whose size is unknown.
const Unsized = -1

// A Field is a named part of an object. A nil value is a removed one.
type Field struct {
	Name  string
	Value *Value
}

// MaxFields bounds the fields of an object; more become elements.
const MaxFields = 64

// MaxGlobals bounds the globals that one function knows of.
const MaxGlobals = 4096

// Clone returns a copy that may be changed; of nil, an object of which nothing is known.
func (o *Object) Clone() *Object {
	if o == nil {
		return &Object{Size: Unsized}
	}
	c := *o
	c.Fields = slices.Clone(o.Fields)
	return &c
}

// findMember returns the index of a field, or where it would be: fields are sorted by name.
func (o *Object) findMember(name string) (int, bool) {
	return slices.BinarySearchFunc(o.Fields, name, func(f Field, name string) int {
		return strings.Compare(f.Name, name)
	})
}

// Get returns the field, and whether it is known.
func (o *Object) Get(name string) (*Value, bool) {
	if o == nil {
		return nil, false
	}
	if i, ok := o.findMember(name); ok {
		return o.Fields[i].Value, true
	}
	return nil, false
}

// Set sets the field of an object that nobody else has.
func (o *Object) Set(name string, v *Value, limit int) {
	i, ok := o.findMember(name)
	switch {
	case ok:
		o.Fields[i].Value = v
	case len(o.Fields) >= limit:
		o.Elements = Join(o.Elements, v)
	default:
		o.Fields = slices.Insert(o.Fields, i, Field{name, v})
	}
}

// List returns the elements of a list whose size is known.
func (o *Object) List() ([]*Value, bool) {
	if o == nil || o.Size < 0 {
		return nil, false
	}
	out := make([]*Value, o.Size)
	for i := range out {
		out[i], _ = o.Get(strconv.Itoa(i))
	}
	return out, true
}

// SetList makes the object a list of the elements.
func (o *Object) SetList(list []*Value) {
	if len(list) > maxList {
		o.ForgetPositions()
		for _, v := range list {
			o.Elements = Join(o.Elements, v)
		}
		return
	}
	o.Fields = slices.DeleteFunc(o.Fields, func(f Field) bool { return IsIndex(f.Name) })
	o.Size = int32(len(list))
	for i, v := range list {
		o.Set(strconv.Itoa(i), v, MaxFields)
	}
}

// maxList bounds the lists whose elements are kept apart.
const maxList = 40

// ForgetPositions forgets which element of a list is where.
func (o *Object) ForgetPositions() {
	for _, f := range o.Fields {
		if IsIndex(f.Name) {
			o.Elements = Join(o.Elements, f.Value)
		}
	}
	o.Fields = slices.DeleteFunc(o.Fields, func(f Field) bool { return IsIndex(f.Name) })
	o.Size = Unsized
}

// IsIndex reports whether the name is a number.
func IsIndex(name string) bool {
	for i := 0; i < len(name); i++ {
		if name[i] < '0' || name[i] > '9' {
			return false
		}
	}
	return name != ""
}

// Same reports whether two states of an object say the same.
func (o *Object) Same(p *Object) bool {
	if o == p {
		return true
	}
	if o == nil || p == nil {
		return false
	}
	return o.Size == p.Size && o.Weak == p.Weak && o.Elements.Same(p.Elements) && o.Keys.Same(p.Keys) &&
		o.Self.Same(p.Self) && o.Text.Same(p.Text) &&
		slices.EqualFunc(o.Fields, p.Fields, func(a, b Field) bool { return a.Name == b.Name && a.Value.Same(b.Value) })
}

// IsOpaque reports whether nothing is known of the object's parts.
func (o *Object) IsOpaque() bool {
	return len(o.Self) > 0 && len(o.Fields) == 0 && o.Elements == nil && o.Text == nil
}
