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

// fileResult is what there is to say of one file without the others. Names and file are
// nil when it comes from the cache.
type fileResult struct {
	tree  *tree.File // nil when nobody asks for it, or it could not be made
	names *scope.Info
	file  *pattern.File
	ruleResults
	plain ruleResults // by rules for texts
	key   cache.Key   // of the file, when there is a cache
}

// scopeInfo returns what the names of the file mean, which an entry of the cache does not
// have.
func (x *fileResult) scopeInfo(l *lang.Language) *scope.Info {
	if x.names != nil {
		return x.names
	}
	return scope.Analyze(x.tree, l, knownNames(l.Name))
}

// ruleResults is what rules say.
type ruleResults struct {
	matches  []Match
	problems []Problem
}

// seenFile looks at a file, or remembers it. The key is a digest of all that the result depends
// on.
func (s *Set) seenFile(ctx context.Context, src Source, l *lang.Language, o Options) *fileResult {
	if o.Cache == nil {
		return s.analyzeFile(ctx, src, l, o.Limits)
	}
	name := ""
	if l != nil {
		name = l.Name
	}
	key := cache.NewKey([]byte("file"), []byte(src.Path), []byte(name), fmt.Append(nil, o.Limits), src.Text)
	if b := o.Cache.Get(key); b != nil {
		if kept := s.decodeSeen(b, src, l); kept != nil {
			kept.key = key
			return kept
		}
		o.Cache.Drop(key)
	}
	out := s.analyzeFile(ctx, src, l, o.Limits)
	out.key = key
	if ctx.Err() != nil {
		return out // it was not looked at to the end
	}
	if b, ok := s.encodeSeen(out); ok {
		o.Cache.Put(key, b)
	}
	return out
}

// encodeSeen writes what was seen of a file. It reports false for what the next look may
// see otherwise, because it hung on the machine's time and memory.
func (s *Set) encodeSeen(x *fileResult) ([]byte, bool) {
	w := &cache.Writer{}
	w.Bool(x.tree != nil)
	if x.tree != nil && !w.Tree(x.tree) {
		return nil, false
	}
	return w.Bytes, s.encodeResults(w, x.ruleResults) && s.encodeResults(w, x.plain)
}

// encodeResults writes what rules have found. It reports false when a problem is transient. A
// problem that may not occur again (a timeout, a cancelled scan) must not be remembered: the next
// scan would not try again.
func (s *Set) encodeResults(w *cache.Writer, x ruleResults) bool {
	w.Uint(uint64(len(x.matches)))
	for i := range x.matches {
		s.encodeMatch(w, &x.matches[i])
	}
	w.Uint(uint64(len(x.problems)))
	for _, p := range x.problems {
		if isTransient(p) {
			return false
		}
		w.Text(p.Rule)
		w.Text(p.Path)
		w.Uint(uint64(p.Line))
		w.Text(p.Err.Error())
	}
	return true
}

// encodeMatch writes a match. Its rule is written as its number, as the version of the cache
// stands for the rules.
func (s *Set) encodeMatch(w *cache.Writer, m *Match) {
	w.Uint(uint64(s.number[m.Rule]))
	encodePlace(w, Step{Path: m.Path, Start: m.Start, End: m.End, Message: m.Message})
	w.Texts(m.Bound)
	w.Bool(m.Fix != nil)
	if m.Fix != nil {
		w.Uint(uint64(m.Fix.Start))
		w.Uint(uint64(m.Fix.End))
		w.Text(m.Fix.Text)
	}
	w.Uint(uint64(len(m.Steps)))
	for _, step := range m.Steps {
		encodePlace(w, step)
	}
}

// encodePlace writes a place and what is said of it. Positions are kept whole, as lines cannot be
// counted without the text.
func encodePlace(w *cache.Writer, s Step) {
	w.Text(s.Path)
	for _, p := range []Position{s.Start, s.End} {
		w.Uint(uint64(p.Offset))
		w.Uint(uint64(p.Line))
		w.Uint(uint64(p.Column))
	}
	w.Text(s.Message)
}

// isTransient reports whether a problem hangs on the time and memory that there were. Of a rule's
// budget, time is a part; what is said of no file is of the whole scan. Such a result must not be
// kept: the next scan may do better.
func isTransient(p Problem) bool {
	for _, err := range []error{context.DeadlineExceeded, context.Canceled, cst.ErrDeadline, cst.ErrMemory,
		errNotFollowed} {
		if errors.Is(p.Err, err) {
			return true
		}
	}
	return p.Path == "" || p.Rule != "" && !errors.Is(p.Err, errTooMany)
}

// decodeSeen reads what was seen of a file; nil when the entry is damaged. A damaged entry is as
// good as none.
func (s *Set) decodeSeen(b []byte, src Source, l *lang.Language) *fileResult {
	r := cache.NewReader(b)
	out := &fileResult{}
	if r.Bool() {
		if l == nil {
			return nil
		}
		out.tree = &tree.File{Path: src.Path, Language: l.Name, Source: unsafe.String(unsafe.SliceData(src.Text),
			len(src.Text))}
		r.Tree(out.tree)
	}
	sizes := map[string]int{src.Path: len(src.Text)}
	out.ruleResults = s.decodeResults(r, sizes)
	out.plain = s.decodeResults(r, sizes)
	if r.End() != nil {
		return nil
	}
	return out
}

// The least that a match, a step and a problem take, in bytes.
const (
	minMatch   = 12
	minStep    = 8
	minProblem = 4
)

// decodeResults reads what rules said of files, whose sizes are given by their paths. Whatever
// does not fit what is scanned now makes the whole entry void, and the file is matched again.
func (s *Set) decodeResults(r *cache.Reader, sizes map[string]int) ruleResults {
	var out ruleResults
	for range r.Count(minMatch) {
		m, ok := s.decodeMatch(r, sizes)
		if !ok {
			return ruleResults{}
		}
		out.matches = append(out.matches, m)
	}
	for range r.Count(minProblem) {
		p := Problem{Rule: r.Text(), Path: r.Text()}
		size, ok := sizes[p.Path]
		if !ok {
			r.Fail()
			return ruleResults{}
		}
		p.Line, p.Err = r.Below(size+2), errors.New(r.Text())
		out.problems = append(out.problems, p)
	}
	return out
}

// decodeMatch reads a match and checks that its places lie in the files. The entry may be older
// than the file, or damaged; a place beyond the end would make the report panic. The rule is
// stored as its number, as the version of the cache covers the set of rules.
func (s *Set) decodeMatch(r *cache.Reader, sizes map[string]int) (Match, bool) {
	n := r.Below(len(s.rules))
	at := decodePlace(r, sizes)
	m := Match{Path: at.Path, Start: at.Start, End: at.End, Message: at.Message, Bound: r.Texts()}
	if r.Bool() {
		size := sizes[m.Path] + 1
		m.Fix = &Edit{Start: r.Below(size), End: r.Below(size), Text: r.Text()}
	}
	for range r.Count(minStep) {
		m.Steps = append(m.Steps, decodePlace(r, sizes))
	}
	if r.Err != nil {
		return Match{}, false
	}
	m.Rule = s.rules[n]
	return m, true
}

// decodePlace reads a place, which lies in one of the files. Numbers outside of the file mean that
// the entry is damaged.
func decodePlace(r *cache.Reader, sizes map[string]int) Step {
	s := Step{Path: r.Text()}
	size, ok := sizes[s.Path]
	if !ok {
		r.Fail()
	}
	for _, p := range []*Position{&s.Start, &s.End} {
		p.Offset, p.Line, p.Column = r.Below(size+1), r.Below(size+2), r.Below(size+2)
	}
	s.Message = r.Text()
	return s
}
