// Package modelindex answers what models of libraries and the declarations of the
// program say of names: types and their supertypes, members, parameters, annotations and
// calls. What it has looked up it keeps in typed caches.
package modelindex

import (
	"slices"
	"strings"

	"merlon/internal/engine/sast/ir"
	"merlon/internal/engine/sast/model"
	"merlon/internal/engine/sast/pcre"
	"merlon/internal/engine/sast/taint/syncmap"
	"merlon/internal/engine/sast/taint/taintset"
)

// JoinModels returns the models of a language.
func (r *Index) JoinModels(language string) (*model.Set, error) {
	if r.Models != nil && r.LoadSet != nil {
		return r.LoadSet(language)
	}
	return model.NewSet(language, r.Models), nil
}

// The bits that no kind of sinks and no rule has.
const (
	StartBit = 1 << 62
	HostBit  = 1 << 63
	MaxBits  = 62
)

// OpeningBits returns the bits of which one makes data harmless for the entry: it stands
// behind the start, or behind the host.
func (r *Index) OpeningBits(e *model.Entry) uint64 {
	bits := uint64(0)
	for _, cond := range e.If {
		if cond.Test == model.Opens {
			if cond.Word == "host" {
				bits |= r.HostBit
			} else {
				bits |= r.StartBit
			}
		}
	}
	return bits
}

// IsReturn reports whether the places of an entry begin with the result of a call.
func IsReturn(places []model.Place) bool {
	return len(places) > 0 && places[0].Base == model.Return && len(places[0].Steps) == 0
}

// PickedBy returns the taint of an object under a key with the taint.
func (r *Index) PickedBy(t taintset.Set) taintset.Set {
	var out taintset.Set
	for _, e := range t {
		if e.Origin.Picked || e.Clean&r.KeyBits != 0 {
			continue
		}
		at := e.Origin.OriginKey
		at.Picked = true
		out = append(out, taintset.Element{Origin: r.Intern(at), Clean: ^r.InheritedBit, Trace: e.Trace})
	}
	slices.SortFunc(out, func(x, y taintset.Element) int { return x.Origin.Compare(y.Origin) })
	return out
}

// An Index answers what models and the declarations of the program say of names:
// types, members, parameters and calls. It keeps what it has looked up.
type Index struct {
	*taintset.Origins
	Program Program
	Models  []*model.Model
	LoadSet func(language string) (*model.Set, error) // nil: they are joined here
	Sets    map[string]*model.Set                     // by language
	Bits    map[string]uint64                         // by kind of sink

	StartBit, HostBit uint64

	InheritedBit uint64 // of model.Inherited
	KeyBits      uint64 // of what is harmless as a key: model.Prototype
	Plain        bool   // no models
	Local        bool   // calls of functions of the program are not looked into

	declaredTypes syncmap.Map[typeMember, string]
	members       syncmap.Map[typeMember, string]
	sharedTypes   syncmap.Map[typeName, string]
	supers        syncmap.Map[typeName, []string]
	values        syncmap.Map[memberKey, *MemberInfo]
	Parameters    syncmap.Map[*ir.Function, [][]*model.Entry]
	roots         syncmap.Map[*ir.File, []string]
	growths       syncmap.Map[expressionKey, pcre.Growth]
}

// A typeMember names a member of a type.
type typeMember struct{ owner, name string }

// A typeName names a type of a language.
type typeName struct{ language, name string }

// ModelsOf returns the models of the function's language.
func (r *Index) ModelsOf(fn *ir.Function) *model.Set {
	if s := r.Sets[fn.File.Lang.Name]; s != nil {
		return s
	}
	return noModels
}

// noModels is what a language without models has.
var noModels = model.NewSet("", nil)

// KindBits returns the bits of a kind of sinks.
func (r *Index) KindBits(kind string) uint64 {
	if kind == model.All {
		return taintset.AllKinds
	}
	return r.Bits[kind]
}

// MemberName returns the name of a member for the models.
func (r *Index) MemberName(owner, name string) string {
	k := typeMember{owner, name}
	if s, ok := r.members.Load(k); ok {
		return s
	}
	s := owner + "." + name
	if strings.Count(s, ".") > 12 || len(s) > 300 {
		s = ""
	}
	r.members.LoadOrStore(k, s)
	return s
}

// FieldType returns the type that the program declares for a field of a class, or of
// one above it.
func (r *Index) FieldType(fn *ir.Function, class, name string) string {
	k := typeMember{class, name}
	if t, ok := r.declaredTypes.Load(k); ok {
		return t
	}
	found := ""
	for _, t := range r.TypesOf(fn, class) {
		c := r.Program.Class(t)
		if c == nil || found != "" {
			continue
		}
		for i := range c.Fields {
			if c.Fields[i].Name == name {
				found = c.Fields[i].Type
			}
		}
	}
	r.declaredTypes.LoadOrStore(k, found)
	return found
}

// TypesOf returns a type and its supertypes, nearest first.
func (r *Index) TypesOf(fn *ir.Function, name string) []string {
	if name == "" {
		return nil
	}
	k := typeName{fn.File.Lang.Name, name}
	if list, ok := r.supers.Load(k); ok {
		return list
	}
	set := r.ModelsOf(fn)
	list := []string{name}
	for i := 0; i < len(list) && len(list) < 100; i++ {
		more := set.Supertypes(list[i])
		if c := r.Program.Class(list[i]); c != nil {
			more = append(slices.Clone(c.Bases), more...)
		}
		for _, t := range more {
			if !slices.Contains(list, t) {
				list = append(list, t)
			}
		}
	}
	r.supers.LoadOrStore(k, list)
	return list
}

// PrimitiveTypes are the names of types whose values hold no text.
var PrimitiveTypes = map[string]bool{
	"int": true, "long": true, "short": true, "byte": true, "float": true, "double": true, "boolean": true,
	"bool":   true,
	"number": true, "bigint": true, "Number": true, "Boolean": true, "complex": true, "char": true, "uint": true,
	"int8": true, "int16": true, "int32": true, "int64": true, "uint8": true, "uint16": true, "uint32": true,
	"uint64":  true,
	"float32": true, "float64": true, "uintptr": true, "rune": true, "decimal": true,
	"java.lang.Integer": true, "java.lang.Long": true, "java.lang.Boolean": true, "java.lang.Double": true,
	"java.lang.Float": true, "java.lang.Short": true, "java.lang.Byte": true, "java.lang.Character": true,
	"java.util.UUID": true, "java.math.BigInteger": true, "java.math.BigDecimal": true,
}

// IsHarmlessType reports whether values of the type cannot hold what somebody wrote.
func (r *Index) IsHarmlessType(typ string) bool { return !r.Plain && PrimitiveTypes[typ] }

// SharedField returns the global that stands for a field of a shared object, "" when
// objects of the type are not shared.
func (r *Index) SharedField(fn *ir.Function, owner, name string) string {
	if owner == "" || r.Local {
		return ""
	}
	k := typeName{fn.File.Lang.Name, owner}
	shared, ok := r.sharedTypes.Load(k)
	if !ok {
		found := ""
		for _, t := range r.TypesOf(fn, owner) {
			if found == "" && slices.ContainsFunc(r.ModelsOf(fn).Match(t)[model.Operations], func(e *model.Entry) bool {
				return e.Kind == "value.shared"
			}) {
				found = t
			}
		}
		shared, _ = r.sharedTypes.LoadOrStore(k, found)
	}
	if shared == "" {
		return ""
	}
	return shared + "#" + name
}
