package sast

import (
	"context"
	"errors"
	"fmt"
	"unsafe"

	"merlon/internal/engine/sast/cache"
	"merlon/internal/engine/sast/cst"
	"merlon/internal/engine/sast/lang"
	"merlon/internal/engine/sast/pattern"
	"merlon/internal/engine/sast/scope"
	"merlon/internal/engine/sast/tree"
)

// This file keeps what depends on one file alone: its tree, and what the search rules
// say of it. What the tree means and where its data goes is worked out anew by each
// scan, from trees that are equal, so it cannot differ.

// seen is what there is to say of one file without the others. Names and file are
// nil when it comes from the cache.
type seen struct {
	tree  *tree.File // nil when nobody asks for it, or it could not be made
	names *scope.Info
	file  *pattern.File
	said
	plain said // by rules for texts
}

// said is what rules say.
type said struct {
	matches  []Match
	problems []Problem
}

// seen looks at a file, or remembers it.
func (s *Set) seen(ctx context.Context, src Source, l *lang.Language, o Options) *seen {
	if o.Cache == nil {
		return s.look(ctx, src, l, o.Limits)
	}
	name := ""
	if l != nil {
		name = l.Name
	}
	key := cache.NewKey([]byte("file"), []byte(src.Path), []byte(name), fmt.Append(nil, o.Limits), src.Text)
	if b := o.Cache.Get(key); b != nil {
		if kept := s.remember(b, src, l); kept != nil {
			return kept
		}
		o.Cache.Drop(key)
	}
	out := s.look(ctx, src, l, o.Limits)
	if b, ok := s.keep(out); ok {
		o.Cache.Put(key, b)
	}
	return out
}

// keep writes what was seen of a file. It reports false for what the next look may
// see otherwise, because it hung on the machine's time and memory.
func (s *Set) keep(x *seen) ([]byte, bool) {
	w := &cache.Writer{}
	w.Bool(x.tree != nil)
	if x.tree != nil && !w.Tree(x.tree) {
		return nil, false
	}
	return w.Bytes, s.keepSaid(w, x.said) && s.keepSaid(w, x.plain)
}

func (s *Set) keepSaid(w *cache.Writer, x said) bool {
	w.Uint(uint64(len(x.matches)))
	for i := range x.matches {
		m := &x.matches[i]
		w.Uint(uint64(s.number[m.Rule]))
		keepPosition(w, m.Start)
		keepPosition(w, m.End)
		w.Text(m.Message)
		w.Texts(m.Bound)
		w.Bool(m.Fix != nil)
		if m.Fix != nil {
			w.Uint(uint64(m.Fix.Start))
			w.Uint(uint64(m.Fix.End))
			w.Text(m.Fix.Text)
		}
	}
	w.Uint(uint64(len(x.problems)))
	for _, p := range x.problems {
		if passing(p) {
			return false
		}
		w.Text(p.Rule)
		w.Uint(uint64(p.Line))
		w.Text(p.Err.Error())
	}
	return true
}

// passing reports whether a problem hangs on the time and memory that there were. Of
// a rule's budget, time is a part.
func passing(p Problem) bool {
	for _, err := range []error{context.DeadlineExceeded, context.Canceled, cst.ErrDeadline, cst.ErrMemory} {
		if errors.Is(p.Err, err) {
			return true
		}
	}
	return p.Rule != "" && !errors.Is(p.Err, errTooMany)
}

func keepPosition(w *cache.Writer, p Position) {
	w.Uint(uint64(p.Offset))
	w.Uint(uint64(p.Line))
	w.Uint(uint64(p.Column))
}

// remember reads what was seen of a file; nil when the entry is damaged.
func (s *Set) remember(b []byte, src Source, l *lang.Language) *seen {
	r := cache.NewReader(b)
	out := &seen{}
	if r.Bool() {
		if l == nil {
			return nil
		}
		out.tree = &tree.File{Path: src.Path, Language: l.Name, Source: unsafe.String(unsafe.SliceData(src.Text), len(src.Text))}
		r.Tree(out.tree)
	}
	out.said = s.rememberSaid(r, src)
	out.plain = s.rememberSaid(r, src)
	if r.End() != nil {
		return nil
	}
	return out
}

// The least that a match and a problem take, in bytes.
const (
	minMatch   = 10
	minProblem = 3
)

func (s *Set) rememberSaid(r *cache.Reader, src Source) said {
	var out said
	for range r.Count(minMatch) {
		m := Match{Path: src.Path}
		if n := r.Below(len(s.rules)); r.Err == nil {
			m.Rule = s.rules[n]
		}
		m.Start, m.End = rememberPosition(r, src), rememberPosition(r, src)
		m.Message, m.Bound = r.Text(), r.Texts()
		if r.Bool() {
			m.Fix = &Edit{Start: r.Below(len(src.Text) + 1), End: r.Below(len(src.Text) + 1), Text: r.Text()}
		}
		out.matches = append(out.matches, m)
		if r.Err != nil {
			return said{}
		}
	}
	for range r.Count(minProblem) {
		out.problems = append(out.problems, Problem{Rule: r.Text(), Path: src.Path, Line: r.Below(len(src.Text) + 2), Err: errors.New(r.Text())})
	}
	return out
}

func rememberPosition(r *cache.Reader, src Source) Position {
	n := len(src.Text) + 2
	return Position{Offset: r.Below(n), Line: r.Below(n), Column: r.Below(n)}
}
