package taint

import (
	"slices"
	"strconv"
	"strings"

	"merlon/internal/engine/sast/model"
)

// This file evaluates the conditions of model entries.

// holds reports whether every condition of an entry holds for the call. Those on
// what data may choose, and on expressions, say how much: see opens, expressions, admitted.
func (c *callSite) holds(list []model.Condition) bool {
	for i := range list {
		if cond := &list[i]; !cond.Test.Judged() && c.condition(cond) == cond.Not {
			return false
		}
	}
	return true
}

func (c *callSite) condition(cond *model.Condition) bool {
	switch cond.Test {
	case model.Page:
		return c.a.run.answersPage(c.a.fn)
	case model.Count:
		return len(c.args) == cond.Count
	case model.MoreThan:
		return len(c.args) > cond.Count
	}
	m := &modelCall{callSite: c, callbacks: map[int]*callback{}}
	list := m.values(cond.Place)
	if cond.Test == model.From {
		return slices.ContainsFunc(list, func(v *value) bool {
			return slices.ContainsFunc(m.values(cond.Other), func(w *value) bool { return comesFrom(v.taint, w.taint) })
		})
	}
	if cond.Word == "settled" {
		return slices.ContainsFunc(c.variables(cond.Place), c.isSettled)
	}
	if cond.Word == "absent" || cond.Word == "present" {
		return (len(list) > 0) == (cond.Word == "present")
	}
	for _, v := range list {
		if c.is(v, cond) {
			return true
		}
	}
	return false
}

// is reports whether a value is known to be what a condition asks.
func (c *callSite) is(v *value, cond *model.Condition) bool {
	switch cond.Test {
	case model.Equals:
		c.a.need(v)
		return v.known() && equalsWord(v.c, cond.Word)
	case model.Like:
		c.a.need(v)
		return v.known() && cond.Like.MatchString(v.c.String())
	case model.Begins:
		c.a.need(v)
		return cond.Like.MatchString(v.text())
	}
	if cond.Type {
		for _, t := range c.a.run.types(c.a.fn, v.api) {
			if t == cond.Word {
				return true
			}
		}
		return false
	}
	switch cond.Word {
	case "constant":
		c.a.need(v)
		return c.a.allConstant(c.st, v)
	case "true", "false":
		c.a.need(v)
		b, ok := v.truth()
		return ok && b == (cond.Word == "true")
	case "null":
		return v.c.kind == constNull
	}
	return c.kindOf(v) == kindWords[cond.Word]
}

var kindWords = map[string]valueKind{
	"string": kindString, "list": kindList, "map": kindMap, "number": kindNumber, "boolean": kindBool,
	"function": kindFunction,
}

// kindOf returns what a value is known to be.
func (c *callSite) kindOf(v *value) valueKind {
	if v.kind != kindAny {
		return v.kind
	}
	if id, ok := v.sole(); ok && c.a.objects[id].kind != kindAny {
		return c.a.objects[id].kind
	}
	switch {
	case c.a.isFunction(v):
		return kindFunction
	case v.api != "" && v.api == c.a.fn.File.Lang.Meaning.TextType, v.api == "string" || strings.HasSuffix(v.api, ".String"):

		return kindString
	case c.a.run.harmless(v.api):
		return kindNumber
	case strings.HasSuffix(v.api, "[]"):
		return kindList
	}
	return kindAny
}

func equalsWord(c constant, word string) bool {
	if n, err := strconv.ParseFloat(word, 64); err == nil && c.number() {
		return n == c.n
	}
	return c.String() == word
}

// opens returns the bits of which one makes data harmless for the entry: it stands
// behind the start, or behind the host.
func (r *run) opens(e *model.Entry) uint64 {
	bits := uint64(0)
	for _, cond := range e.If {
		if cond.Test == model.Opens {
			if cond.Word == "host" {
				bits |= r.hostBit
			} else {
				bits |= r.startBit
			}
		}
	}
	return bits
}

// unrelated reports whether nothing tells what an input has to do with another: only
// who made a function value knows what it shares and what it will be called with.
func unrelated(part, whole *atom) bool {
	return part.source == nil && whole.source == nil && part.in.kind == inParam && whole.in.kind == inCapture
}

// comesFrom reports whether data with the one taint may be a part of data with the
// other: a key of an object, a text of a request.
func comesFrom(part, whole taint) bool {
	for _, p := range part {
		for _, w := range whole {
			if p.atom.picked || w.atom.picked {
				continue
			}
			if p.atom == w.atom || unrelated(p.atom, w.atom) || p.atom.source == nil && w.atom.source == nil &&
				p.atom.in == w.atom.in &&
				(p.atom.path == w.atom.path || strings.HasPrefix(p.atom.path, w.atom.path+separator)) {
				return true
			}
		}
	}
	return false
}
