package modelindex

import (
	"slices"
	"strings"

	"merlon/internal/engine/sast/ir"
	"merlon/internal/engine/sast/lang"
	"merlon/internal/engine/sast/model"
	"merlon/internal/engine/sast/taint/value"
)

// This file finds the names by which models may know a call.

// A NameKey is a name, or a text, in a language.
type NameKey struct {
	Language *lang.Language
	Name     string
}

// A CallKey is what the names of a call hang on.
type CallKey struct {
	NameKey
	Kind                     ir.CallKind
	Qualified, Type          string
	HasReceiver, HasFunction bool // it has a receiver, a function value
	ReceiverAPI, FunctionAPI string
	ProgramFunction          bool // the function value is of the program
}

// CallNames are the names by which models may know a call.
type CallNames struct {
	Names   []string         // best first
	Matches []*model.Matches // what models say of them, but for those they do not know
	Untyped bool             // it would help to know the type of the receiver
}

// addName adds a name, once.
func (n *CallNames) addName(set *model.Set, name string) {
	if name == "" || slices.Contains(n.Names, name) {
		return
	}
	n.Names = append(n.Names, name)
	if m := set.Match(name); !m.Empty() {
		n.Matches = append(n.Matches, m)
	}
}

// ConventionalName returns what everybody means by a name of a variable, as the models say:
// "named.$ is jQuery". It is "" for most names.
func (r *Index) ConventionalName(fn *ir.Function, name string) string {
	if name == "" {
		return ""
	}
	for _, e := range r.ModelsOf(fn).Match("named." + name)[model.Types] {
		if e.Form == model.Value {
			return e.Type
		}
	}
	return ""
}

// addMethodNames adds the names that a method has as a member of the types of its
// receiver: the type that the value is known to have, before the one that is declared.
func (r *Index) addMethodNames(n *CallNames, fn *ir.Function, k *CallKey) {
	set := r.ModelsOf(fn)
	if k.ReceiverAPI != "" {
		for _, t := range r.TypesOf(fn, k.ReceiverAPI) {
			n.addName(set, r.MemberName(t, k.Name))
		}
	}
	for _, t := range r.TypesOf(fn, k.Type) {
		n.addName(set, r.MemberName(t, k.Name))
	}
}

// FindCallNames finds the names of a call.
func (r *Index) FindCallNames(fn *ir.Function, k *CallKey) *CallNames {
	n, set := &CallNames{}, r.ModelsOf(fn)
	if k.Kind == ir.CallNew {
		n.addName(set, k.Qualified+".new")
		n.addName(set, k.Qualified)
		if k.FunctionAPI != "" {
			n.addName(set, k.FunctionAPI+".new")
			n.addName(set, k.FunctionAPI)
		}
		return n
	}
	typed := k.Type != "" || k.Name != "" && k.HasReceiver && k.ReceiverAPI != ""
	if k.Name != "" && k.HasReceiver {
		r.addMethodNames(n, fn, k)
	}
	if !k.ProgramFunction || strings.Contains(k.Qualified, ".") {
		n.addName(set, k.Qualified)
	}
	if k.HasFunction && (!k.ProgramFunction || strings.Contains(k.FunctionAPI, ".")) {
		n.addName(set, k.FunctionAPI)
	}
	n.Untyped = k.HasReceiver && (!typed || set.HidesSink(k.Type) || set.HidesSink(k.ReceiverAPI))
	if k.HasReceiver && k.Name != "" && (!typed || len(n.Matches) == 0) {
		n.addName(set, "?."+k.Name)
	}
	return n
}

// LiteralEntries returns the entries that make a text a source.
func (r *Index) LiteralEntries(fn *ir.Function, text string) []*model.Entry {
	var list []*model.Entry
	for _, e := range r.ModelsOf(fn).Literals() {
		if e.Literal.MatchString(text) && e.Agrees(text) {
			list = append(list, e)
		}
	}
	return list
}

// LiteralValue gives the value of a literal the taint of the entries.
func (r *Index) LiteralValue(fn *ir.Function, in *ir.Instr, v *value.Value, entries []*model.Entry) *value.Value {
	for _, e := range entries {
		v = v.WithTaint(v.Taint.Union(r.sourceTaint(fn, e, in.Node)))
	}
	return v
}
