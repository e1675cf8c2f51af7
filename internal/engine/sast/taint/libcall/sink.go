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
// The sink is regular expression denial of service (CWE-1333). with has the expressions that
// take super-linear time, as origins; t is the taint of the text.
func meetExpressions(v *value.Value, t, with taintset.Set) taintset.Set {
	if len(t) > 0 {
		// A tainted text meets every one of the expressions: attacker and expression are both
		// reported as origins.
		return t.Union(with)
	}
	if v.IsKnown() {
		return nil
	}
	// The text is neither tainted nor constant. Only exponential expressions matter then: 30
	// characters are enough for them, while polynomial ones need a long text.
	return with.FilterMap(func(e *taintset.Element) bool {
		return e.Origin.Source != nil && e.Origin.Source.Kind == model.ExponentialExpression
	})
}

// NoteSinks notes what arrives at the sinks of a call.
// For each entry of the models that names the call as a sink, the taint of the values at its
// locations is noted. What is tainted only through a parameter becomes part of the summary, so
// that callers report it.
func (m *Call) NoteSinks() {
	for _, e := range m.Entries(model.Sinks, model.Call) {
		if !m.Holds(e.If) {
			continue
		}
		n := m.withoutCallbacks()
		// block has the kinds for which a sanitizer or a check silences this sink, plus what the
		// entry says about the beginning of the text.
		block := m.Frame.Run.KindBits(e.Kind) | m.Frame.Run.OpeningBits(e)
		// joint: the entry is about a pair, a text and an expression that matches it.
		with, joint := m.Expressions(e)
		if len(e.Places) == 0 || joint && len(with) == 0 {
			continue
		}
		for _, place := range e.Places {
			// Some sinks take what a callback returns: $("#x").html(() => text). The callback must
			// run before its result can be read.
			n.callFor(place)
			for _, v := range n.Values(place) {
				t := v.Taint
				// A sink takes the text of an object, with everything that is inside:
				// query({where: {name: tainted}}). An inherited entry is about the value itself.
				if e.Kind != model.Inherited {
					t = m.Frame.DeepTaint(m.State, m.Frame.TextOf(m.State, v))
				}
				if joint {
					// The match of a constant is noted too: the expression has then been used
					// safely, and is reported only where another text reaches it.
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
