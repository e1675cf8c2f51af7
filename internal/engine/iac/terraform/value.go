package terraform

import (
	"math/big"
	"strings"

	"github.com/zclconf/go-cty/cty"
)

// This file turns values of the evaluator into plain ones. Marks travel with the
// values: which resource one came from, whether it is sensitive, and whether it
// was made from something that is not known.

type (
	// the value was read of the resource
	refMark struct{ resource *Resource }
	// a placeholder such as "${var.name}" went into it
	symbolicMark struct{}
	// declared as sensitive, or of an attribute that providers treat as a secret
	sensitiveMark struct{}
)

// placeholder returns the text that stands for a value that is not known.
func placeholder(ref string) cty.Value {
	return cty.StringVal("${" + ref + "}").Mark(symbolicMark{})
}

// Symbolic reports whether the text holds a reference to something that is not
// known.
func Symbolic(s string) bool { return strings.Contains(s, "${") }

// plainValue is what of a value leaves the evaluator.
type plainValue struct {
	value     any
	refs      []*Resource
	sensitive bool
}

// plainOf converts a value of the evaluator to a plain one, with the resources it refers
// to.
func plainOf(v cty.Value) plainValue {
	var p plainValue
	if v == cty.NilVal {
		p.value = Unknown{}
		return p
	}
	if v.ContainsMarked() {
		// The paths are not needed: the walk below looks at the marks of each level.
		_, marks := v.UnmarkDeep()
		for m := range marks {
			switch m := m.(type) {
			case refMark:
				p.refs = append(p.refs, m.resource)
			case sensitiveMark:
				p.sensitive = true
			}
		}
	}
	// Marks are a set without an order; findings must not depend on it.
	sortResources(p.refs)
	w := &valueWalk{left: maxValue}
	p.value = w.convert(v)
	if w.left < 0 {
		p.value = Unknown{}
	}
	return p
}

// valueWalk converts values, and stops when they are too large.
type valueWalk struct{ left int }

// convert converts a value. One that was computed from a placeholder and does not show it
// is Unknown: its text would be wrong.
func (w *valueWalk) convert(v cty.Value) any {
	// Each value costs eight bytes besides its text, so that empty lists count too.
	if w.left -= 8; w.left < 0 {
		return Unknown{}
	}
	v, marks := v.Unmark()
	if !v.IsKnown() {
		return Unknown{}
	}
	if v.IsNull() {
		return nil
	}
	out := w.convertKnown(v)
	// For example length("${var.name}"), or upper() of it, which would spoil the placeholder.
	if _, ok := marks[symbolicMark{}]; ok && !hasPlaceholder(out) {
		return Unknown{}
	}
	return out
}

// convertKnown converts a value that is neither null nor unknown.
func (w *valueWalk) convertKnown(v cty.Value) any {
	t := v.Type()
	switch {
	case t == cty.String:
		w.left -= len(v.AsString())
		return v.AsString()
	case t == cty.Bool:
		return v.True()
	case t == cty.Number:
		// Rules compare with float64; numbers beyond 2^53 lose their last digits.
		f, _ := v.AsBigFloat().Float64()
		return f
	case t.IsListType(), t.IsSetType(), t.IsTupleType():
		out := []any{}
		for it := v.ElementIterator(); it.Next() && w.left >= 0; {
			_, e := it.Element()
			out = append(out, w.convert(e))
		}
		return out
	case t.IsMapType(), t.IsObjectType():
		out := map[string]any{}
		for it := v.ElementIterator(); it.Next() && w.left >= 0; {
			k, e := it.Element()
			k, _ = k.Unmark()
			out[k.AsString()] = w.convert(e)
		}
		return out
	}
	return Unknown{}
}

// hasPlaceholder reports whether a value shows that something in it is not known.
func hasPlaceholder(v any) bool {
	switch v := v.(type) {
	case string:
		return Symbolic(v)
	case Unknown:
		return true
	case []any:
		for _, e := range v {
			if hasPlaceholder(e) {
				return true
			}
		}
	case map[string]any:
		for _, e := range v {
			if hasPlaceholder(e) {
				return true
			}
		}
	}
	return false
}

// estimateSize estimates the bytes of a value, up to a bound.
func estimateSize(v cty.Value, left int) int {
	if v == cty.NilVal || left <= 0 {
		return 8
	}
	v, _ = v.Unmark()
	n := 16
	if !v.IsKnown() || v.IsNull() {
		return n
	}
	switch t := v.Type(); {
	case t == cty.String:
		return n + len(v.AsString())
	case v.CanIterateElements():
		for it := v.ElementIterator(); it.Next() && n < left; {
			k, e := it.Element()
			n += estimateSize(e, left-n)
			if k, _ = k.Unmark(); k.Type() == cty.String && k.IsKnown() && !k.IsNull() {
				n += len(k.AsString())
			}
		}
	}
	return n
}

// intOf returns the number as an int, and false when it is none or not known.
func intOf(v cty.Value) (int, bool) {
	v, marks := v.Unmark()
	if _, ok := marks[symbolicMark{}]; ok || !v.IsKnown() || v.IsNull() {
		return 0, false
	}
	var f *big.Float
	switch v.Type() {
	case cty.Number:
		f = v.AsBigFloat()
	case cty.Bool: // an old habit: count = var.enabled
		if v.True() {
			return 1, true
		}
		return 0, true
	case cty.String:
		parsed, _, err := big.ParseFloat(v.AsString(), 10, 64, big.ToNearestEven)
		if err != nil {
			return 0, false
		}
		f = parsed
	default:
		return 0, false
	}
	n, _ := f.Int64()
	// A negative or huge count is cut to a bound that the caller reports as too large.
	if n < 0 || n > 1<<40 {
		return 1 << 40, true
	}
	return int(n), true
}
