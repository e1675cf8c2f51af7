package taintset

import (
	"cmp"
	"strings"

	"merlon/internal/engine/sast/taint/syncmap"
)

// isUnrelated reports whether nothing tells what an input has to do with another: only
// who made a function value knows what it shares and what it will be called with.
func isUnrelated(part, whole *Origin) bool {
	return part.Source == nil && whole.Source == nil && part.In.Kind == Parameter && whole.In.Kind == Capture
}

// MayComeFrom reports whether data with the one taint may be a part of data with the
// other: a key of an object, a text of a request.
func MayComeFrom(part, whole Set) bool {
	for _, p := range part {
		for _, w := range whole {
			if p.Origin.Picked || w.Origin.Picked {
				continue
			}
			if p.Origin == w.Origin || isUnrelated(p.Origin, w.Origin) || p.Origin.Source == nil &&
				w.Origin.Source == nil &&
				p.Origin.In == w.Origin.In &&
				(p.Origin.Path == w.Origin.Path || strings.HasPrefix(p.Origin.Path, w.Origin.Path+Separator)) {
				return true
			}
		}
	}
	return false
}

// Origins are the interned origins of data: pointers compare.
type Origins struct {
	atomsByKey syncmap.Map[OriginKey, *Origin]
	Sources    syncmap.Map[Source, *Source]
}

// Intern returns the interned atom.
func (r *Origins) Intern(k OriginKey) *Origin {
	if at, ok := r.atomsByKey.Load(k); ok {
		return at
	}
	at := &Origin{OriginKey: k}
	if i := strings.LastIndex(k.Path, Separator); k.Deep || k.Picked {
		if k.Source == nil {
			at.Up = r.Intern(OriginKey{In: k.In, Path: k.Path})
		}
	} else if i >= 0 {
		at.Up, at.Name = r.Intern(OriginKey{In: k.In, Path: k.Path[:i]}), k.Path[i+len(Separator):]
	}
	at, _ = r.atomsByKey.LoadOrStore(k, at)
	return at
}

// Deep returns the atom of an input with all of its parts.
func (r *Origins) Deep(at *Origin) *Origin {
	if at.Deep {
		return at
	}
	return r.Intern(OriginKey{In: at.In, Path: at.Path, Deep: true})
}

// FromSource returns the atom of a source.
func (r *Origins) FromSource(s Source) *Origin {
	p, ok := r.Sources.Load(s)
	if !ok {
		p, _ = r.Sources.LoadOrStore(s, &s)
	}
	return r.Intern(OriginKey{Source: p})
}

// An Origin is an origin: a source of the program, or an input of the function
// that is analysed, for which callers fill in their own. Atoms are interned, so
// pointers compare.
type Origin struct {
	OriginKey
	Up   *Origin // the input of which this is the part called name; of a deep or picked one, the atom that is neither
	Name string  // "" for a whole input, and for a deep or picked one
}

// An OriginKey is what makes an atom.
type OriginKey struct {
	Source *Source // nil for an input
	In     Input
	Path   string // below the input, each part behind a separator
	Deep   bool   // any part below the path, too
	Picked bool   // not the data itself: an object that it picked as a key
}

// An Input is what a function is given.
type Input struct {
	Kind  inputKind
	Index int32 // of a parameter or capture
}

// inputKind says how data comes into a function.
type inputKind uint8

const (
	Parameter inputKind = iota
	Receiver
	Capture
	Global // the path begins with the qualified name
)

// Separator stands before each part of a path.
const Separator = "\x1f"

// MaxPath bounds the parts of a path.
const MaxPath = 4

// IsGlobal reports whether the atom is a global, or a part of one.
func (a *Origin) IsGlobal() bool { return a.Source == nil && a.In.Kind == Global }

// Compare orders atoms: inputs first, then sources by their place; picked ones last.
func (a *Origin) Compare(b *Origin) int {
	if a == b {
		return 0
	}
	if a.Picked != b.Picked {
		return compareBools(a.Picked, b.Picked)
	}
	if a.Source != nil || b.Source != nil {
		switch {
		case a.Source == nil:
			return -1
		case b.Source == nil:
			return 1
		}
		return a.Source.Compare(b.Source)
	}
	if c := cmp.Compare(a.In.Kind, b.In.Kind); c != 0 {
		return c
	}
	if c := cmp.Compare(a.In.Index, b.In.Index); c != 0 {
		return c
	}
	if c := strings.Compare(a.Path, b.Path); c != 0 {
		return c
	}
	return compareBools(a.Deep, b.Deep)
}

// compareBools orders false before true.
func compareBools(a, b bool) int {
	switch {
	case a == b:
		return 0
	case b:
		return -1
	}
	return 1
}

// isAbove reports whether b is a part of what a is, or of one of its parts.
func (a *Origin) isAbove(b *Origin) bool {
	if a.Source != nil || b.Source != nil || a.In != b.In || a.Picked != b.Picked {
		return false
	}
	rest, below := strings.CutPrefix(b.Path, a.Path)
	return below && strings.HasPrefix(rest, Separator)
}
