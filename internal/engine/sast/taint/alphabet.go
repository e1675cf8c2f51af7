package taint

import (
	"merlon/internal/engine/sast/ir"
	"merlon/internal/engine/sast/model"
	"merlon/internal/engine/sast/pcre"
)

// This file knows which characters are left in a text that a regular expression has
// let pass, or from which one has taken some out.

// dangers has, by kind of sinks, the characters of which data must hold one to do
// harm. A text of letters and digits alone does none anywhere but as a name of a member:
// those kinds are not here.
var dangers = map[string]string{
	"command":  " \t\r\n;|&$`<>()\\'\"*?[]{}#!~",
	"sql":      "'\"`\\;()<>=-/*#\x00",
	"path":     "/\\",
	"html":     "<\"'`",
	"url":      ":",
	"script":   "'\"`\\<;()/",
	"code":     "()[]{}.;=`'\"+/\\,\n",
	"template": "{}<>%$#",
	"redirect": "/\\:",
	"ssrf":     "./\\:@?#",
	"header":   "\r\n", "log": "\r\n", "mail": "\r\n", "cookie": "\r\n;",
	"xpath":      "'\"/[]()@|",
	"ldap":       "*()\\&|=!",
	"nosql":      "[${",
	"regexp":     "+*{}()[]|\\^$?",
	"format":     "%{",
	"argument":   "-",
	"expression": "(){}.$#",
	"module":     "./\\",
}

// globally marks the flags of an expression that is for all matches in a text.
const globally = 1 << 16

// regexOf returns the value of a literal expression.
func (r *run) regexOf(fn *ir.Function, in *ir.Instr) *value {
	text, letters, ok := pcre.SplitLiteral(in.Text)
	if !ok {
		return unknown
	}
	v := &value{c: r.patternOf(fn, text, letters), kind: kindObject}
	return v.with(r.expression(fn, in.Node, text, letters))
}

// patternOf returns the constant that stands for an expression.
func (r *run) patternOf(fn *ir.Function, text, letters string) constant {
	var flags pcre.Flags
	n := globally
	switch fn.File.Lang.Name {
	case "javascript", "typescript", "tsx", "component":
		text, flags = pcre.FromScript(text, letters)
		n = 0
		for _, c := range letters {
			if c == 'g' {
				n = globally
			}
		}
	}
	return constant{kind: constRegex, s: text, n: float64(n | int(flags))}
}

// pattern returns the expression that a value is, or that its text spells.
func (v *value) pattern() (expr string, flags pcre.Flags, ok bool) {
	switch {
	case v == nil:
	case v.c.kind == constRegex:
		return v.c.s, pcre.Flags(int(v.c.n) &^ globally), true
	case v.c.kind == constString:
		return v.c.s, 0, true
	}
	return "", 0, false
}

// harmlessWith returns the bits of the kinds of sinks at which a text of only these
// characters does no harm.
func (r *run) harmlessWith(a pcre.Alphabet) uint64 {
	bits := uint64(0)
	for kind, chars := range dangers {
		if !a.HasAny(chars) || kind == "path" && !a.HasAny(".") {
			bits |= r.kindBits(kind)
		}
	}
	return bits
}

// admitted returns the bits of the kinds for which a guard that asks an expression
// approves: by the characters that the expression lets pass, or, where the guard
// approves of what it does not match, by those that it looks for.
func (c *callSite) admitted(e *model.Entry) uint64 {
	bits := uint64(allKinds)
	for i := range e.If {
		cond := &e.If[i]
		if cond.Test != model.Admits {
			continue
		}
		m := &modelCall{callSite: c, callbacks: map[int]*callback{}}
		list := m.values(cond.Place)
		if len(list) == 0 {
			return 0
		}
		for _, v := range list {
			bits &= c.a.run.lets(v, cond.Word == "whole", e.Negated)
		}
	}
	return bits
}

// lets returns the bits of the kinds for which a text is harmless that an expression
// matches, or one that it does not match.
func (r *run) lets(v *value, whole, not bool) uint64 {
	expr, flags, ok := v.pattern()
	if !ok {
		return 0
	}
	if whole {
		expr = "^(?:" + expr + ")$"
	}
	if not {
		if a, ok := pcre.Class(expr, flags); ok {
			return r.harmlessWith(a.Without())
		}
		return 0
	}
	if a, ok := pcre.Admits(expr, flags); ok {
		return r.harmlessWith(a)
	}
	return 0
}

// escaped has the character that must not stay as it is, where programs escape what
// harms: with it, the others can do no harm in the places where such texts go.
var escaped = map[string]string{"html": "<", "sql": "'"}

// remove computes "regexp.remove": the text without some characters. It reports false
// when the expression is another one, or only the first match goes.
func (m *modelCall) remove(args []*value) (*value, bool) {
	if len(args) != 3 || args[1].c.kind != constRegex || int(args[1].c.n)&globally == 0 || !args[2].c.isText() {
		return nil, false
	}
	expr, flags, _ := args[1].pattern()
	gone, ok := pcre.Class(expr, flags)
	if !ok {
		return nil, false
	}
	text := m.a.textOf(m.st, args[0])
	left := gone.Without()
	if with := args[2].c.s; with != "" {
		left = left.With(with)
	}
	bits := m.a.run.harmlessWith(left)
	for kind, char := range escaped {
		if gone.HasAny(char) && args[2].c.s != char {
			bits |= m.a.run.kindBits(kind)
		}
	}
	t := text.taint.cleaned(bits)
	return (&value{kind: kindString}).with(t.at(m.a.fn, m.in.Node)), true
}
