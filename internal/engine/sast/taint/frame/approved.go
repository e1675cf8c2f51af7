package frame

import (
	"slices"
	"strings"

	"merlon/internal/engine/sast/ir"
	"merlon/internal/engine/sast/taint/survey"
	"merlon/internal/engine/sast/taint/taintset"
)

// MaxApproved bounds the paths that one state remembers.
const MaxApproved = 16

// An ApprovedPath is a member, and what it is harmless for.
type ApprovedPath struct {
	Root  ir.Var // a local, or NoVar
	Path  string // ".query.page"; behind NoVar it begins with the name of a global
	Kinds uint64
}

// Within reports whether the path is the one at a root, or leads to a part of it.
func (p *ApprovedPath) Within(root ir.Var, path string) bool {
	return p.Root == root && strings.HasPrefix(path, p.Path) && (len(path) == len(p.Path) || path[len(p.Path)] == '.')
}

// bothApproved returns what both of two states approve of.
func bothApproved(a, b []ApprovedPath) []ApprovedPath {
	if slices.Equal(a, b) {
		return a
	}
	var out []ApprovedPath
	for _, p := range a {
		for _, q := range b {
			if p.Root == q.Root && p.Path == q.Path && p.Kinds&q.Kinds != 0 {
				p.Kinds &= q.Kinds
				out = append(out, p)
				break
			}
		}
	}
	return out
}

// SettledMark begins the path of what is settled, among the paths of a state.
const SettledMark = ".#"

// NoteSettled notes that a call has made what is at the place safe.
func (a *Frame) NoteSettled(st *State, p survey.Place) {
	if p.Root == ir.NoVar && p.Path == "" || len(st.Approved) >= MaxApproved {
		return
	}
	st.Approved = append(slices.Clone(st.Approved), ApprovedPath{p.Root, SettledMark + p.Path, taintset.AllKinds})
}
