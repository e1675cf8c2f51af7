package guard

import (
	"slices"
	"strings"

	"merlon/internal/engine/sast/ir"
	"merlon/internal/engine/sast/taint/frame"
	"merlon/internal/engine/sast/taint/taintset"
	"merlon/internal/engine/sast/taint/value"
)

// This file remembers which members guards have approved of. A member of an object of
// the program is sanitized where it is kept; a member of something that a library made,
// req.query.page, is read anew each time, so its path is kept beside the state.
//
// An example is if (isSafe(req.query.page)) { read(req.query.page) }: both reads are different
// instructions with different values; only the path (req, ".query.page") says that they mean
// the same.

// memberPath returns the local, or global, and the members that lead to a variable's value.
// The path is followed back through the definitions of temporaries to a local variable or a
// global. Only constant member names are allowed; a path with an unknown index could be
// another element the second time.
func (a *Guards) memberPath(st *frame.State, v ir.Var) (root ir.Var, path string, ok bool) {
	// MaxPath bounds the members; longer paths are rare and expensive to compare.
	for range taintset.MaxPath {
		if v < 0 {
			return 0, "", false
		}
		if a.Function.IsLocal(v) {
			return v, path, true
		}
		def := a.Function.Def(v)
		if def < 0 {
			return 0, "", false
		}
		in := &a.Function.Code[def]
		switch in.Op {
		// A copy or a cast is the same value.
		case ir.Copy, ir.Cast:
		case ir.LoadGlobal:
			return ir.NoVar, in.Text + path, true
		// A getter with constant arguments counts as a member: request.getParameter("page").
		case ir.Invoke:
			name, receiver := a.getterPath(st, in)
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
func (a *Guards) memberName(st *frame.State, in *ir.Instr) (string, bool) {
	switch in.Op {
	case ir.LoadField, ir.StoreField:
		return in.Text, true
	case ir.LoadIndex, ir.StoreIndex:
		return a.IndexKey(st, in)
	}
	return "", false
}

// getterPath returns what a call asks of its receiver, when all that it says are constants
// and its name says that it only looks: "get(page)".
// The name must begin with "get" in any case: other methods may return something new at each
// call (next, read).
func (a *Guards) getterPath(st *frame.State, in *ir.Instr) (string, ir.Var) {
	c := a.Function.Call(in)
	args := a.Function.Args(c)
	if c.Kind != ir.CallMethod || c.Receiver == ir.NoVar || len(args) == 0 ||
		!strings.HasPrefix(strings.ToLower(c.Name), "get") {
		return "", ir.NoVar
	}
	words := make([]string, len(args))
	for i, arg := range args {
		v := a.Read(st, arg.Value)
		// An argument that is not constant or is spread makes the call unpredictable.
		if !v.IsKnown() || arg.Rest != ir.One {
			return "", ir.NoVar
		}
		words[i] = v.Constant.String()
	}
	return c.Name + "(" + strings.Join(words, ",") + ")", c.Receiver
}

// Recall cleans the answer of a call that was approved of when it was asked before.
// It is applied right after the call: the result of the second call is new and has the full
// taint.
func (a *Guards) Recall(st *frame.State, in *ir.Instr) {
	if len(st.Approved) == 0 || in.Dst == ir.NoVar {
		return
	}
	name, receiver := a.getterPath(st, in)
	root, path, ok := a.memberPath(st, receiver)
	if name == "" || !ok {
		return
	}
	// Within: an approved path also approves what is below it.
	for i := range st.Approved {
		if p := &st.Approved[i]; p.Within(root, path+"."+name) {
			a.Assign(st, in.Dst, a.Sanitize(st, a.Read(st, in.Dst), p.Kinds))
		}
	}
}

// rememberMember notes that the member a variable was read from is harmless.
// MaxApproved bounds the list; states are copied and compared often.
func (a *Guards) rememberMember(st *frame.State, v ir.Var, kinds uint64) {
	root, path, ok := a.memberPath(st, v)
	if !ok || path == "" || len(st.Approved) >= frame.MaxApproved {
		return
	}
	// The list is shared between states and is therefore cloned before it grows.
	st.Approved = append(slices.Clone(st.Approved), frame.ApprovedPath{Root: root, Path: path, Kinds: kinds})
}

// RecallMember cleans what an instruction read of a member that was approved of.
func (a *Guards) RecallMember(st *frame.State, in *ir.Instr, v *value.Value) *value.Value {
	if len(st.Approved) == 0 || v == nil || len(v.Taint) == 0 {
		return v
	}
	root, path, ok := a.memberPath(st, in.A)
	name, known := a.memberName(st, in)
	if !ok || !known {
		return v
	}
	for i := range st.Approved {
		if p := &st.Approved[i]; p.Within(root, path+"."+name) {
			v = v.WithTaint(v.Taint.Sanitized(p.Kinds))
		}
	}
	return v
}

// Forget drops what was approved of and is written now.
// An assignment to x.a drops x.a and everything below it, and an assignment to x everything.
func (a *Guards) Forget(st *frame.State, in *ir.Instr) {
	if len(st.Approved) == 0 {
		return
	}
	root, path := in.Dst, ""
	if in.Op == ir.StoreField || in.Op == ir.StoreIndex {
		r, p, ok := a.memberPath(st, in.A)
		if !ok {
			return
		}
		root, path = r, p
		// With an unknown index the whole collection is dropped.
		if name, known := a.memberName(st, in); known {
			path += "." + name
		}
	} else if in.Op == ir.StoreGlobal {
		root, path = ir.NoVar, in.Text
	} else if in.Dst == ir.NoVar || !a.Function.IsLocal(in.Dst) {
		return
	}
	written := frame.ApprovedPath{Root: root, Path: path}
	st.Approved = slices.DeleteFunc(slices.Clone(st.Approved), func(p frame.ApprovedPath) bool {
		return written.Within(p.Root, p.Path)
	})
}
