package modelindex

import (
	"merlon/internal/engine/sast/ir"
	"merlon/internal/engine/sast/model"
	"merlon/internal/engine/sast/taint/taintset"
	"merlon/internal/engine/sast/taint/value"
)

// LibrarySource returns the source that a parameter of the program's interface is.
func (r *Index) LibrarySource(fn *ir.Function, param int32) *taintset.Origin {
	return r.FromSource(taintset.Source{File: fn.File, Node: fn.Params[param].Node, Kind: model.Library, Rule: -1})
}

// A memberKey names a member of a type of a language.
type memberKey struct{ language, owner, name string }

// SourceValue returns the value of a source of a model.
func (r *Index) SourceValue(fn *ir.Function, e *model.Entry, node int32) *value.Value {
	return &value.Value{Taint: r.sourceTaint(fn, e, node)}
}

// sourceTaint returns the taint of a source of a model.
func (r *Index) sourceTaint(fn *ir.Function, e *model.Entry, node int32) taintset.Set {
	at := r.FromSource(taintset.Source{File: fn.File, Node: node, Kind: e.Kind, Rule: -1})
	return taintset.Set{{Origin: at, Trace: taintset.Extend(nil, fn, node, nil)}}
}

// A MemberInfo is what models say of a member that is read.
type MemberInfo struct {
	api        string
	sources    []*model.Entry
	Sanitizers []*model.Entry // sanitizers: what the member can never hold
}

// MemberInfo returns what the models say of a member.
func (r *Index) MemberInfo(fn *ir.Function, owner, name string) *MemberInfo {
	k := memberKey{fn.File.Lang.Name, owner, name}
	x, ok := r.values.Load(k)
	if !ok {
		x = &MemberInfo{}
		for _, t := range r.TypesOf(fn, owner) {
			x.Add(r.ModelsOf(fn).Match(t + "." + name))
		}
		x, _ = r.values.LoadOrStore(k, x)
	}
	return x
}

// PartOf returns a part of a value whose owner models know by a name, with what they
// say makes it harmless: a function that is given the owner does not know of it.
func (r *Index) PartOf(fn *ir.Function, owner, name string, v *value.Value) *value.Value {
	return r.MemberInfo(fn, owner, name).applySanitizers(r, v)
}

// Add adds what entries with one name say of a value.
func (x *MemberInfo) Add(m *model.Matches) {
	for _, e := range m[model.Types] {
		if e.Form == model.Value && e.Type != "" && x.api == "" {
			x.api = e.Type
		}
	}
	for _, e := range m[model.Sources] {
		if e.Form == model.Value {
			x.sources = append(x.sources, e)
		}
	}
	for _, e := range m[model.Sanitizers] {
		if e.Form == model.Value {
			x.Sanitizers = append(x.Sanitizers, e)
		}
	}
}

// Apply gives a value that was read at a node its name, its sources and its sanitizers.
func (x *MemberInfo) Apply(r *Index, fn *ir.Function, node int32, v *value.Value) *value.Value {
	if x.api != "" {
		w := *v
		w.API = x.api
		v = &w
	}
	for _, e := range x.sources {
		v = v.WithTaint(v.Taint.Union(r.SourceValue(fn, e, node).Taint))
	}
	return x.applySanitizers(r, v)
}

// applySanitizers removes from a value the taint of what the member can never hold.
func (x *MemberInfo) applySanitizers(r *Index, v *value.Value) *value.Value {
	for _, e := range x.Sanitizers {
		v = v.WithTaint(v.Taint.Sanitized(r.KindBits(e.Kind)))
	}
	return v
}
