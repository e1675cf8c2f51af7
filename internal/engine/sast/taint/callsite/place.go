package callsite

import (
	"slices"

	"merlon/internal/engine/sast/ir"
	"merlon/internal/engine/sast/model"
	"merlon/internal/engine/sast/taint/value"
)

// This file reads what is at the places of a call that models name: the receiver, an
// argument, the result, and parts of them.

// MaxFormals bounds the parameters of callbacks.
const MaxFormals = 8

// A Callback is what a library calls one function value with.
type Callback struct {
	Function   *value.Value
	Parameters [MaxFormals]*value.Value
	Any        *value.Value // every parameter
	Result     *value.Value
	Called     bool
}

// Callback returns the callback of an argument.
func (m *PlaceReader) Callback(arg int) *Callback {
	if cb := m.Callbacks[arg]; cb != nil {
		return cb
	}
	cb := &Callback{Function: m.Receiver}
	if arg >= 0 {
		cb.Function = m.Args[arg].Value
	}
	m.Callbacks[arg] = cb
	return cb
}

// A PlaceReader reads what is at the places of a call that models name.
type PlaceReader struct {
	*Site
	Result    *value.Value
	Callbacks map[int]*Callback // by argument; -1 is the receiver
}

// NewPlaceReader returns a reader that knows of no callbacks yet.
func NewPlaceReader(c *Site) *PlaceReader {
	return &PlaceReader{Site: c, Callbacks: map[int]*Callback{}}
}

// HasStep reports whether a place has a step of the kind.
func HasStep(p model.Place, kind model.StepKind) bool {
	return slices.ContainsFunc(p.Steps, func(s model.Step) bool { return s.Kind == kind })
}

// TakesFormal reports whether the place is what a callback passes to a function
// that it is given: "arg0(0)(0)".
func TakesFormal(p model.Place) bool {
	n := 0
	for _, s := range p.Steps {
		if s.Kind == model.Formal {
			n++
		}
	}
	return n > 1
}

// Positions returns the indexes of the arguments that a place means.
func (c *Site) Positions(p model.Place) []int {
	var list []int
	pos := 0
	for i, arg := range c.Args {
		named := arg.Name != ""
		switch {
		case p.Index == model.Any:
			list = append(list, i)
		case named && p.Name != "" && (arg.Name == p.Name || arg.Name == "**"):
			list = append(list, i)
		case named || p.Index == model.Only:
		case pos == p.Index, p.Rest && pos >= p.Index, arg.Many && pos <= p.Index:
			list = append(list, i)
		}
		if !named {
			pos++
		}
	}
	return list
}

// Values returns what is at a place.
func (m *PlaceReader) Values(p model.Place) []*value.Value {
	switch p.Base {
	case model.This:
		if m.Receiver == nil {
			return nil
		}
		return []*value.Value{m.followSteps(m.Receiver, -1, p.Steps)}
	case model.Return:
		return []*value.Value{m.followSteps(value.OrUnknown(m.Result), -1, p.Steps)}
	case model.Argument:
		var list []*value.Value
		for _, i := range m.Positions(p) {
			list = append(list, m.followSteps(m.Args[i].Value, i, p.Steps))
		}
		return list
	}
	return nil
}

// followSteps follows the steps from a value.
func (m *PlaceReader) followSteps(v *value.Value, arg int, steps []model.Step) *value.Value {
	formal := -1
	for _, s := range steps {
		switch s.Kind {
		case model.Result:
			if formal < 0 {
				v = value.OrUnknown(m.Callback(arg).Result)
			}
		case model.Formal:
			if formal >= 0 {
				return m.Frame.Load(m.State, m.Collector(arg, formal), value.AnyKey)
			}
			formal = s.Index
		default:
			v = m.Step(v, s)
		}
	}
	return m.Frame.WholeValue(m.State, v)
}

// Step reads one part of a value.
func (m *PlaceReader) Step(v *value.Value, s model.Step) *value.Value {
	switch s.Kind {
	case model.Field:
		return m.Frame.Load(m.State, v, s.Name)
	case model.Elements, model.Append:
		return m.Frame.Load(m.State, v, value.AnyKey)
	case model.Keys:
		return m.Frame.KeysOf(m.State, v)
	case model.KeyOf:
		return m.Frame.Load(m.State, v, m.KeyName(s.Index))
	case model.Deep:
		return v.WithTaint(m.Frame.DeepTaint(m.State, v))
	}
	return v
}

// KeyName returns the part that an argument is the key of.
func (c *Site) KeyName(arg int) string {
	if arg >= len(c.Args) {
		return value.AnyKey
	}
	name, _ := c.Frame.KeyOf(c.Args[arg].Value)
	return name
}

// Collector returns the function that keeps what a callback passes to it, which was
// given it as one of its parameters.
func (m *PlaceReader) Collector(arg, formal int) *value.Value {
	info := value.ObjectInfo{Kind: value.KindFunction, Complete: true, Collector: true}
	return &value.Value{Objects: []value.ObjectID{m.Frame.ObjectOf(value.ObjectKey{Instruction: m.Index,
		Sub: int32(5000 + (arg+1)*MaxFormals + formal)}, info)}}
}

// Variables returns the variables at a place, for guards.
func (c *Site) Variables(p model.Place) []ir.Var {
	switch p.Base {
	case model.This:
		return []ir.Var{c.Call.Receiver}
	case model.Argument:
		var list []ir.Var
		for _, i := range c.Positions(p) {
			list = append(list, c.Args[i].From)
		}
		return list
	}
	return nil
}
