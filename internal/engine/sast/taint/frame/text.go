package frame

import (
	"regexp"
	"strings"

	"merlon/internal/engine/sast/taint/value"
)

// This file joins texts. It keeps apart data that can choose how a text begins, or the
// host of an address, from data that stands behind.

// fixedHost matches the beginning of an address whose host is complete; schemes may
// stand in each other: "jdbc:postgresql://".
var fixedHost = regexp.MustCompile(`^(?:[A-Za-z][A-Za-z0-9+.-]*:){0,3}//[^/?#]+[/?#]|^/$|^/[^/\\]|^[?#]|^[A-Za-z0-9_.-]+/`)

// behindHost matches text that stands behind something unknown, as which the address
// has a host already, or is one of the own host: base + "/users/".
var behindHost = regexp.MustCompile(`(^|[^:/\\])[/?#]([^/\\]|$)`)

// Concat joins texts. What stands behind the first part cannot choose how the
// text begins, and what stands behind a host cannot choose the host.
func (a *Frame) Concat(st *State, node int32, parts ...*value.Value) *value.Value {
	v := &value.Value{Kind: value.KindString}
	var start strings.Builder
	exact, inPath := true, false
	for _, p := range parts {
		p = a.TextOf(st, p)
		t := p.Taint
		if start.Len() > 0 || !exact {
			bits := a.Run.StartBit
			if inPath || fixedHost.MatchString(start.String()) {
				bits |= a.Run.HostBit
			}
			t = t.Sanitized(bits)
		}
		v.Taint = v.Taint.Union(t.At(a.Function, node).Sanitized(a.Run.AssignOnly))
		inPath = inPath || !exact && p.IsKnown() && behindHost.MatchString(p.Constant.String())
		switch {
		case exact && p.IsKnown():
			start.WriteString(p.Constant.String())
		case exact:
			start.WriteString(p.Prefix)
			exact = false
		}
		if start.Len() > value.MaxConstant {
			exact = false
		}
	}
	if exact {
		return value.FromString(start.String()).WithTaint(v.Taint)
	}
	v.Prefix = start.String()
	if len(v.Prefix) > value.MaxPrefix {
		v.Prefix = v.Prefix[:value.MaxPrefix]
	}
	return v
}

// TextOf returns the value that a value has as a text.
func (a *Frame) TextOf(st *State, v *value.Value) *value.Value {
	if v == nil {
		return value.Unknown
	}
	if o := a.SoleObject(st, v); o != nil && o.Text != nil {
		return o.Text.WithTaint(o.Text.Taint.Union(o.Self).Union(v.Taint))
	}
	if len(v.Objects) > 0 {
		return v.WithTaint(a.DeepTaint(st, v))
	}
	return v
}

// Format fills the values into a format as far as its beginning is known.
func (a *Frame) Format(st *State, node int32, format *value.Value, args []*value.Value) *value.Value {
	if len(args) == 1 {
		if list, ok := a.SoleObject(st, args[0]).List(); ok {
			args = list
		}
	}
	if !format.Constant.IsText() {
		parts := append([]*value.Value{format}, args...)
		v := a.Concat(st, node, parts...)
		return &value.Value{Kind: value.KindString, Taint: v.Taint, Prefix: format.Prefix}
	}
	var parts []*value.Value
	rest := format.Constant.Text
	used := 0
	for {
		verb := verbs.FindStringIndex(rest)
		if verb == nil {
			break
		}
		parts = append(parts, value.FromString(rest[:verb[0]]))
		text := rest[verb[0]:verb[1]]
		rest = rest[verb[1]:]
		if text == "%%" {
			parts = append(parts, value.FromString("%"))
			continue
		}
		if used < len(args) {
			x := args[used]
			if strings.ContainsAny(text[len(text)-1:], "dfxXoeg") {
				x = &value.Value{Constant: x.Constant, Kind: value.KindNumber}
			}
			parts = append(parts, x)
		} else {
			parts = append(parts, value.Unknown)
		}
		used++
	}
	parts = append(parts, value.FromString(rest))
	for ; used < len(args); used++ { // named and positional verbs
		if strings.ContainsAny(format.Constant.Text, "({$") {
			parts = append(parts, args[used])
		}
	}
	return a.Concat(st, node, parts...)
}

// verbs matches the verbs of printf, and the braces of other formats.
var verbs = regexp.MustCompile(`%%|%(?:\d+\$)?(?:\([^)]*\))?[-+ #0]*[\d*]*(?:\.[\d*]+)?[a-zA-Z]|\{[^{}]*\}`)
