// Package value has the abstract values of the analysis: constants, references to
// abstract objects, the taint of a value, and the name by which models know it. It folds
// operators over constants.
package value

import (
	"slices"
	"strconv"

	"merlon/internal/engine/sast/taint/taintset"
)

// CaptureField returns the field of a function value that holds a captured cell.
func CaptureField(k int) string { return "#" + strconv.Itoa(k) }

// IndexKey returns the key of a position.
func IndexKey(i int) string { return strconv.Itoa(i) }

// SoleObject returns the only object that a value can be.
func (v *Value) SoleObject() (ObjectID, bool) {
	if v == nil || len(v.Objects) != 1 {
		return 0, false
	}
	return v.Objects[0], true
}

// OrUnknown returns the value, Unknown for nil.
func OrUnknown(v *Value) *Value {
	if v == nil {
		return Unknown
	}
	return v
}

// KindByWord has the kinds by the words of conditions in models.
var KindByWord = map[string]Kind{
	"string": KindString, "list": KindList, "map": KindMap, "number": KindNumber, "boolean": KindBool,
	"function": KindFunction,
}

// A Value is what is known of a variable at a point of the program. Values do not
// change once they are made. Nil means that the variable was not assigned on any
// path; &value{} that nothing is known.
type Value struct {
	Constant Constant
	Objects  []ObjectID   // what it may refer to, sorted; none: a primitive, or not known
	Taint    taintset.Set // who chose it
	API      string       // what the models call it: the name of a global, or its type
	Prefix   string       // the text that it is known to begin with, when c is not known
	Kind     Kind
}

// Unknown is the value of which nothing is known.
var Unknown = &Value{}

// A Kind is what a value is known to be.
type Kind uint8

const (
	KindAny Kind = iota
	KindString
	KindNumber
	KindBool
	kindNull
	KindList
	KindMap
	KindFunction
	KindObject
)

// JoinObjects unites two sorted sets of objects.
func JoinObjects(a, b []ObjectID) []ObjectID {
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
func hasObjs(a, b []ObjectID) bool {
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

// Join returns what is known when either may be the case.
func Join(a, b *Value) *Value {
	if a == nil || a == b {
		return b
	}
	if b == nil {
		return a
	}
	v := Value{Objects: JoinObjects(a.Objects, b.Objects), Taint: a.Taint.Union(b.Taint)}
	if a.Constant == b.Constant {
		v.Constant = a.Constant
	}
	if v.Constant.Kind == 0 {
		v.Prefix = commonStart(a.KnownPrefix(), b.KnownPrefix())
	}
	switch {
	case a.Kind == b.Kind:
		v.Kind = a.Kind
	case a.Kind == kindNull:
		v.Kind = b.Kind
	case b.Kind == kindNull:
		v.Kind = a.Kind
	}
	switch {
	case a.API == b.API || b.Kind == kindNull:
		v.API = a.API
	case a.Kind == kindNull:
		v.API = b.API
	}
	if v.Same(a) && a.Taint.Covers(v.Taint) {
		return a
	}
	w := v
	return &w
}

// KnownPrefix returns the text that the value is known to begin with.
func (v *Value) KnownPrefix() string {
	if v.Constant.Kind == StringConstant || v.Constant.Kind == CharacterConstant {
		return v.Constant.Text
	}
	return v.Prefix
}

// MaxPrefix bounds the known beginning of a text.
const MaxPrefix = 256

// commonStart returns what two texts begin with, up to MaxPrefix bytes.
func commonStart(a, b string) string {
	n := 0
	for n < len(a) && n < len(b) && n < MaxPrefix && a[n] == b[n] {
		n++
	}
	return a[:n]
}

// Same reports whether two values say the same.
func (v *Value) Same(w *Value) bool {
	if v == w {
		return true
	}
	if v == nil || w == nil {
		return false
	}
	return v.Constant == w.Constant && v.API == w.API && v.Prefix == w.Prefix && v.Kind == w.Kind &&
		slices.Equal(v.Objects, w.Objects) && v.Taint.Same(w.Taint)
}

// WithTaint returns the value with another taint.
func (v *Value) WithTaint(t taintset.Set) *Value {
	if len(t) == 0 && len(v.Taint) == 0 {
		return v
	}
	w := *v
	w.Taint = t
	return &w
}

// WithAPI returns the value with a name for the models, if it has none.
func (v *Value) WithAPI(api string) *Value {
	if v == nil || v.API != "" || api == "" {
		return v
	}
	w := *v
	w.API = api
	return &w
}

// TaintOrNone returns the taint of a value, none for nil.
func (v *Value) TaintOrNone() taintset.Set {
	if v == nil {
		return nil
	}
	return v.Taint
}
