package taint

import (
	"slices"
	"strings"

	"merlon/internal/engine/sast/ir"
)

// This file remembers which members guards have approved of. A member of an object
// of the program is cleaned where it is kept; a member of something that a library
// made, req.query.page, is read anew each time, so its path is kept beside the state.

// maxApproved bounds the paths that one state remembers.
const maxApproved = 16

// An approvedPath is a member, and what it is harmless for.
type approvedPath struct {
	root  ir.Var // a local, or NoVar
	path  string // ".query.page"; behind NoVar it begins with the name of a global
	kinds uint64
}

// within reports whether the path is the one at a root, or leads to a part of it.
func (p *approvedPath) within(root ir.Var, path string) bool {
	return p.root == root && strings.HasPrefix(path, p.path) && (len(path) == len(p.path) || path[len(p.path)] == '.')
}

// path returns the local, or global, and the members that lead to a variable's value.
func (a *analysis) path(st *state, v ir.Var) (root ir.Var, path string, ok bool) {
	for range maxPath {
		if v < 0 {
			return 0, "", false
		}
		if a.fn.IsLocal(v) {
			return v, path, true
		}
		def := a.fn.Def(v)
		if def < 0 {
			return 0, "", false
		}
		in := &a.fn.Code[def]
		switch in.Op {
		case ir.Copy, ir.Cast:
		case ir.LoadGlobal:
			return ir.NoVar, in.Text + path, true
		case ir.Invoke:
			name, receiver := a.asked(st, in)
			if name == "" {
				return 0, "", false
			}
			path, v = "."+name+path, receiver
			continue
		default:
			name, known := a.memberName(st, in)
			if !known {
				return 0, "", false
			}
			path = "." + name + path
		}
		v = in.A
	}
	return 0, "", false
}

// memberName returns the name of the member that an instruction reads or writes.
func (a *analysis) memberName(st *state, in *ir.Instr) (string, bool) {
	switch in.Op {
	case ir.LoadField, ir.StoreField:
		return in.Text, true
	case ir.LoadIndex, ir.StoreIndex:
		return a.indexKey(st, in)
	}
	return "", false
}

// asked returns what a call asks of its receiver, when all that it says are constants
// and its name says that it only looks: "get(page)".
func (a *analysis) asked(st *state, in *ir.Instr) (string, ir.Var) {
	c := a.fn.Call(in)
	args := a.fn.Args(c)
	if c.Kind != ir.CallMethod || c.Receiver == ir.NoVar || len(args) == 0 ||
		!strings.HasPrefix(strings.ToLower(c.Name), "get") {
		return "", ir.NoVar
	}
	words := make([]string, len(args))
	for i, arg := range args {
		v := a.read(st, arg.Value)
		if !v.known() || arg.Rest != ir.One {
			return "", ir.NoVar
		}
		words[i] = v.c.String()
	}
	return c.Name + "(" + strings.Join(words, ",") + ")", c.Receiver
}

// recalled cleans the answer of a call that was approved of when it was asked before.
func (a *analysis) recalled(st *state, in *ir.Instr) {
	if len(st.approved) == 0 || in.Dst == ir.NoVar {
		return
	}
	name, receiver := a.asked(st, in)
	root, path, ok := a.path(st, receiver)
	if name == "" || !ok {
		return
	}
	for i := range st.approved {
		if p := &st.approved[i]; p.within(root, path+"."+name) {
			a.assign(st, in.Dst, a.approved(st, a.read(st, in.Dst), p.kinds))
		}
	}
}

// remember notes that the member a variable was read from is harmless.
func (a *analysis) remember(st *state, v ir.Var, kinds uint64) {
	root, path, ok := a.path(st, v)
	if !ok || path == "" || len(st.approved) >= maxApproved {
		return
	}
	st.approved = append(slices.Clone(st.approved), approvedPath{root, path, kinds})
}

// remembered cleans what an instruction read of a member that was approved of.
func (a *analysis) remembered(st *state, in *ir.Instr, v *value) *value {
	if len(st.approved) == 0 || v == nil || len(v.taint) == 0 {
		return v
	}
	root, path, ok := a.path(st, in.A)
	name, known := a.memberName(st, in)
	if !ok || !known {
		return v
	}
	for i := range st.approved {
		if p := &st.approved[i]; p.within(root, path+"."+name) {
			v = v.with(v.taint.cleaned(p.kinds))
		}
	}
	return v
}

// forget drops what was approved of and is written now.
func (a *analysis) forget(st *state, in *ir.Instr) {
	if len(st.approved) == 0 {
		return
	}
	root, path := in.Dst, ""
	if in.Op == ir.StoreField || in.Op == ir.StoreIndex {
		r, p, ok := a.path(st, in.A)
		if !ok {
			return
		}
		root, path = r, p
		if name, known := a.memberName(st, in); known {
			path += "." + name
		}
	} else if in.Op == ir.StoreGlobal {
		root, path = ir.NoVar, in.Text
	} else if in.Dst == ir.NoVar || !a.fn.IsLocal(in.Dst) {
		return
	}
	written := approvedPath{root: root, path: path}
	st.approved = slices.DeleteFunc(slices.Clone(st.approved), func(p approvedPath) bool {
		return written.within(p.root, p.path)
	})
}

// bothApproved returns what both of two states approve of.
func bothApproved(a, b []approvedPath) []approvedPath {
	if slices.Equal(a, b) {
		return a
	}
	var out []approvedPath
	for _, p := range a {
		for _, q := range b {
			if p.root == q.root && p.path == q.path && p.kinds&q.kinds != 0 {
				p.kinds &= q.kinds
				out = append(out, p)
				break
			}
		}
	}
	return out
}
