package callsite

import (
	"slices"
	"strings"

	"merlon/internal/engine/sast/model"
	"merlon/internal/engine/sast/taint/taintset"
	"merlon/internal/engine/sast/taint/value"
)

// This file evaluates the conditions of model entries.
// A condition restricts an entry of a model to some calls: by the number of arguments, a
// constant argument, a type, or the content type of the response.

// AdmittedKinds returns the bits of the kinds for which a guard that asks an expression
// approves: by the characters that the expression lets pass, or, where the guard
// approves of what it does not match, by those that it looks for.
func (c *Site) AdmittedKinds(e *model.Entry) uint64 {
	bits := uint64(taintset.AllKinds)
	for i := range e.If {
		cond := &e.If[i]
		// Other conditions are evaluated by Holds.
		if cond.Test != model.Admits {
			continue
		}
		m := NewPlaceReader(c)
		list := m.Values(cond.Place)
		// Without a value at the location nothing is known: no kind is approved.
		if len(list) == 0 {
			return 0
		}
		// All values that may be at the location must approve.
		for _, v := range list {
			bits &= c.Frame.Run.AdmittedKinds(v, cond.Word == "whole", e.Negated)
		}
	}
	return bits
}

// Holds reports whether every condition of an entry holds for the call. Those on
// what data may choose, and on expressions, say how much: see opens, expressions, admitted.
func (c *Site) Holds(list []model.Condition) bool {
	for i := range list {
		// Judged are the tests whose result is a set of kinds or expressions and not yes or no.
		if cond := &list[i]; !cond.Test.Judged() && c.evaluateCondition(cond) == cond.Not {
			return false
		}
	}
	return true
}

// evaluateCondition computes a condition, whose negation is the caller's.
func (c *Site) evaluateCondition(cond *model.Condition) bool {
	// These three need no value.
	switch cond.Test {
	case model.Page:
		return c.Frame.Run.AnswersPage(c.Frame.Function)
	case model.Count:
		return len(c.Args) == cond.Count
	case model.MoreThan:
		return len(c.Args) > cond.Count
	}
	m := NewPlaceReader(c)
	list := m.Values(cond.Place)
	// "From": the value may come from another location of the call, for example the key of a
	// check.
	if cond.Test == model.From {
		return slices.ContainsFunc(list, func(v *value.Value) bool {
			return slices.ContainsFunc(m.Values(cond.Other), func(w *value.Value) bool {
				return taintset.MayComeFrom(v.Taint, w.Taint)
			})
		})
	}
	// "settled": the state of a variable that an earlier call has set, such as a secured parser
	// (XXE, CWE-611).
	if cond.Word == "settled" {
		return slices.ContainsFunc(c.Variables(cond.Place), c.isSettled)
	}
	// Whether there is an argument at all, for example an optional options object.
	if cond.Word == "absent" || cond.Word == "present" {
		return (len(list) > 0) == (cond.Word == "present")
	}
	// One of several possible values is enough: a sink with an option that may be set is reported.
	for _, v := range list {
		if c.matchesCondition(v, cond) {
			return true
		}
	}
	return false
}

// matchesCondition reports whether a value is known to be what a condition asks.
func (c *Site) matchesCondition(v *value.Value, cond *model.Condition) bool {
	// Need asks the callers for values that hang on parameters; with the constant the condition
	// becomes exact.
	switch cond.Test {
	case model.Equals:
		c.Frame.Need(v)
		return v.IsKnown() && value.EqualsWord(v.Constant, cond.Word)
	case model.Like:
		c.Frame.Need(v)
		return v.IsKnown() && cond.Like.MatchString(v.Constant.String())
	// A prefix is enough for this test: "https://" + host.
	case model.Begins:
		c.Frame.Need(v)
		return cond.Like.MatchString(v.KnownPrefix())
	}
	// The type is compared with all types that the declared one is assignable to.
	if cond.Type {
		for _, t := range c.Frame.Run.TypesOf(c.Frame.Function, v.API) {
			if t == cond.Word {
				return true
			}
		}
		return false
	}
	// Words of conditions that are no kinds of values.
	switch cond.Word {
	case "constant":
		c.Frame.Need(v)
		return c.Frame.AllConstant(c.State, v)
	case "true", "false":
		c.Frame.Need(v)
		b, ok := v.Truth()
		return ok && b == (cond.Word == "true")
	case "null":
		return v.Constant.Kind == value.NullConstant
	}
	return c.kindOf(v) == value.KindByWord[cond.Word]
}

// kindOf returns what a value is known to be.
func (c *Site) kindOf(v *value.Value) value.Kind {
	if v.Kind != value.KindAny {
		return v.Kind
	}
	// Then the type of the only object.
	if id, ok := v.SoleObject(); ok && c.Frame.Objects[id].Kind != value.KindAny {
		return c.Frame.Objects[id].Kind
	}
	switch {
	case c.Frame.IsFunction(v):
		return value.KindFunction
	// The text type of the language, also spelled differently by runtime libraries
	// (java.lang.String, System.String).
	case v.API != "" && v.API == c.Frame.Function.File.Lang.Semantics.TextType,
		v.API == "string" || strings.HasSuffix(v.API, ".String"):

		return value.KindString
	case c.Frame.Run.IsHarmlessType(v.API):
		return value.KindNumber
	case strings.HasSuffix(v.API, "[]"):
		return value.KindList
	}
	return value.KindAny
}

// Expressions returns the slow expressions that may be at the places that an entry's
// conditions name, and inputs that may be one; joint is false for an entry that asks
// for none.
func (c *Site) Expressions(e *model.Entry) (found taintset.Set, joint bool) {
	for i := range e.If {
		cond := &e.If[i]
		if cond.Test != model.Backtracks {
			continue
		}
		joint = true
		m := NewPlaceReader(c)
		for _, v := range m.Values(cond.Place) {
			t := v.Taint
			// A text that a function compiles on its own (matches, split) is an expression only by
			// this call.
			if v.Constant.IsText() && cond.Word != "" {
				t = t.Union(c.Frame.Run.ExpressionTaint(c.Frame.Function, c.Instruction.Node, v.Constant.Text, ""))
			}
			// An anchored match does not restart at each position, so that expressions that are
			// slow because of restarts only are harmless.
			found = found.Union(t.FilterMap(func(x *taintset.Element) bool {
				if s := x.Origin.Source; s != nil {
					return s.IsExpression() && (cond.Word != "anchored" || s.Kind != model.RescanningExpression)
				}
				return true
			}))
		}
	}
	return found, joint
}
