package libcall

import (
	"merlon/internal/engine/sast/model"
	"merlon/internal/engine/sast/taint/callsite"
	"merlon/internal/engine/sast/taint/modelindex"
	"merlon/internal/engine/sast/taint/taintset"
	"merlon/internal/engine/sast/taint/value"
)

// returnType returns the type that a model says the result has, "" when none does.
func (m *Call) returnType() string {
	for _, e := range m.Matches(model.Types) {
		if e.Type != "" && m.Holds(e.If) && modelindex.IsReturn(e.Places) {
			return e.Type
		}
	}
	return ""
}

// Finish gives the result of a call its type, and what sources and sanitizers say.
func (m *Call) Finish(v *value.Value) *value.Value {
	a := m.Frame
	switch typ := m.returnType(); {
	case typ != "" && (v.API == "" || !a.IsProgramType(v.API)):
		w := *v
		w.API = typ
		v = &w
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
	if a.Run.Plain && modelindex.PrimitiveTypes[v.API] {
		v = v.WithTaint(v.Taint.Sanitized(a.Run.SafePrimitives))
	}
	if v.API != "" && a.Run.IsHarmlessType(v.API) && len(v.Taint) > 0 {
		v = &value.Value{Constant: v.Constant, Kind: v.Kind, API: v.API}
	}
	return v
}

// applySanitizer makes the place that a sanitizer speaks of harmless.
func (m *Call) applySanitizer(e *model.Entry, v *value.Value) *value.Value {
	bits := m.Frame.Run.KindBits(e.Kind)
	for _, p := range e.Places {
		switch p.Base {
		case model.Return:
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
func (m *Call) applySource(e *model.Entry, v *value.Value) *value.Value {
	for _, p := range e.Places {
		if callsite.HasStep(p, model.Formal) || p.Base == model.Parameter {
			continue
		}
		s := m.Frame.Run.SourceValue(m.Frame.Function, e, m.Instruction.Node)
		if p.Base == model.Return && len(p.Steps) == 0 {
			w := v.WithTaint(v.Taint.Union(s.Taint))
			if m.Frame.Function != nil {
				m.Frame.TaintObject(m.State, v, s.Taint)
			}
			v = &value.Value{Objects: w.Objects, Taint: w.Taint, API: w.API, Kind: w.Kind}
			continue
		}
		n := m.withoutCallbacks()
		n.Result = v
		n.moveValues([]*value.Value{s}, p)
		v = value.OrUnknown(n.Result)
	}
	return v
}
