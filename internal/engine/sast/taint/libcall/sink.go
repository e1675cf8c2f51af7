package libcall

import (
	"merlon/internal/engine/sast/model"
	"merlon/internal/engine/sast/taint/callsite"
	"merlon/internal/engine/sast/taint/taintset"
	"merlon/internal/engine/sast/taint/value"
)

// meetExpressions returns what arrives where a value is matched with expressions. Of a text of
// which nothing is known, only what needs exponential time is worth a word; a constant
// text takes the time that it takes.
func meetExpressions(v *value.Value, t, with taintset.Set) taintset.Set {
	if len(t) > 0 {
		return t.Union(with)
	}
	if v.IsKnown() {
		return nil
	}
	return with.FilterMap(func(e *taintset.Element) bool {
		return e.Origin.Source != nil && e.Origin.Source.Kind == model.ExponentialExpression
	})
}

// NoteSinks notes what arrives at the sinks of a call.
func (m *Call) NoteSinks() {
	for _, e := range m.Entries(model.Sinks, model.Call) {
		if !m.Holds(e.If) {
			continue
		}
		n := m.withoutCallbacks()
		block := m.Frame.Run.KindBits(e.Kind) | m.Frame.Run.OpeningBits(e)
		with, joint := m.Expressions(e)
		if len(e.Places) == 0 || joint && len(with) == 0 {
			continue
		}
		for _, place := range e.Places {
			n.callFor(place)
			for _, v := range n.Values(place) {
				t := v.Taint
				if e.Kind != model.Inherited {
					t = m.Frame.DeepTaint(m.State, m.Frame.TextOf(m.State, v))
				}
				if joint {
					if v.IsKnown() && len(t) == 0 {
						m.Frame.Run.NoteConstantMatch(with)
					}
					t = meetExpressions(v, t, with)
				}
				m.Frame.NoteSink(m.Frame.SinkAt(m.Instruction.Node, e.Kind), block, t)
			}
		}
	}
}

// callFor calls the callbacks whose results a place asks for.
func (m *Call) callFor(p model.Place) {
	if p.Base != model.Argument || !callsite.HasStep(p, model.Result) {
		return
	}
	for _, i := range m.Positions(p) {
		if cb := m.Callback(i); !cb.Called {
			m.callWith(cb, i)
		}
	}
}
