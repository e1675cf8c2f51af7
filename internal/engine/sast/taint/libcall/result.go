package libcall

import (
	"merlon/internal/engine/sast/model"
	"merlon/internal/engine/sast/taint/callsite"
	"merlon/internal/engine/sast/taint/modelindex"
	"merlon/internal/engine/sast/taint/taintset"
	"merlon/internal/engine/sast/taint/value"
)

// returnType returns the type that a model says the result has, "" when none does.
// The type names what models know about further calls on the result: "java.sql.Statement" for
// connection.createStatement().
func (m *Call) returnType() string {
	for _, e := range m.Matches(model.Types) {
		if e.Type != "" && m.Holds(e.If) && modelindex.IsReturn(e.Places) {
			return e.Type
		}
	}
	return ""
}

// Finish gives the result of a call its type, and what sources and sanitizers say.
// The order matters: the type first, since conditions of sources may ask for it; sanitizers
// before sources, since a call that is both (a read that decodes) yields fresh data.
func (m *Call) Finish(v *value.Value) *value.Value {
	a := m.Frame
	// A declared type of a library replaces an unknown one or another of a library. A class of the
	// program is more exact than what a model promises.
	switch typ := m.returnType(); {
	case typ != "" && (v.API == "" || !a.IsProgramType(v.API)):
		w := *v
		w.API = typ
		v = &w
	// Without a model the declared result type of the call is better than nothing.
	case v.API == "":
		v = v.WithAPI(m.ResultType())
	}
	for _, e := range m.Matches(model.Sanitizers) {
		if e.Form == model.Call && m.Holds(e.If) {
			v = m.applySanitizer(e, v)
		}
	}
	for _, e := range m.Matches(model.Sources) {
		if m.Holds(e.If) {
			v = m.applySource(e, v)
		}
	}
	// In rules of users, numbers and truth values can be declared safe
	// ("taint_assume_safe_numbers", "taint_assume_safe_booleans").
	if a.Run.Plain && modelindex.PrimitiveTypes[v.API] {
		v = v.WithTaint(v.Taint.Sanitized(a.Run.SafePrimitives))
	}
	// A result of a harmless type (a number, a truth value) keeps its constant but no taint,
	// whatever went into the call.
	if v.API != "" && a.Run.IsHarmlessType(v.API) && len(v.Taint) > 0 {
		v = &value.Value{Constant: v.Constant, Kind: v.Kind, API: v.API}
	}
	return v
}

// applySanitizer makes the place that a sanitizer speaks of harmless.
// The location is the result (escape(x) returns clean text), the receiver, or an argument that
// a check has validated: after validate(x) the variable x itself is clean.
func (m *Call) applySanitizer(e *model.Entry, v *value.Value) *value.Value {
	bits := m.Frame.Run.KindBits(e.Kind)
	for _, p := range e.Places {
		switch p.Base {
		case model.Return:
			// For a sanitizer of all kinds the taint goes completely, so that no later rule has to
			// filter it.
			w := *m.Frame.Sanitize(m.State, v, bits)
			if bits == taintset.AllKinds {
				w.Taint = nil
			}
			v = &w
		case model.This:
			m.guards.SanitizeVariable(m.State, m.Call.Receiver, bits)
		case model.Argument:
			for _, i := range m.Positions(p) {
				m.guards.SanitizeVariable(m.State, m.Args[i].From, bits)
			}
		}
	}
	return v
}

// applySource adds what a source says to the result, or to what the call fills.
// The location of a source is usually the result. It may be an argument: recv(socket, buf)
// fills the buffer.
func (m *Call) applySource(e *model.Entry, v *value.Value) *value.Value {
	for _, p := range e.Places {
		// Sources that are parameters of callbacks or handlers are applied where these are called.
		if callsite.HasStep(p, model.Formal) || p.Base == model.Parameter {
			continue
		}
		s := m.Frame.Run.SourceValue(m.Frame.Function, e, m.Instruction.Node)
		if p.Base == model.Return && len(p.Steps) == 0 {
			// The whole result is tainted, its objects included. Constant and prefix are dropped:
			// nothing is known about data from outside.
			w := v.WithTaint(v.Taint.Union(s.Taint))
			if m.Frame.Function != nil {
				m.Frame.TaintObject(m.State, v, s.Taint)
			}
			v = &value.Value{Objects: w.Objects, Taint: w.Taint, API: w.API, Kind: w.Kind}
			continue
		}
		// A part of the result or an argument: the source moves there as in a flow of a summary.
		n := m.withoutCallbacks()
		n.Result = v
		n.moveValues([]*value.Value{s}, p)
		v = value.OrUnknown(n.Result)
	}
	return v
}
