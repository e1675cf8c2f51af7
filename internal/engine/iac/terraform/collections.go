package terraform

import (
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"net/netip"
	"net/url"
	"path"
	"strings"
	"time"
	"unicode/utf16"

	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/convert"
	"github.com/zclconf/go-cty/cty/function"
)

// This file holds the functions of Terraform and OpenTofu that cty does not have, or
// has with other rules: about lists and maps, networks, times, files and encodings.

// anyParam takes a value of any type, known or not.
func anyParam(name string) function.Parameter {
	return function.Parameter{Name: name, Type: cty.DynamicPseudoType, AllowNull: true, AllowUnknown: true,
		AllowDynamicType: true}
}

// dynamicFunc makes a function whose result can be of any type.
func dynamicFunc(impl func([]cty.Value) (cty.Value, error), params ...function.Parameter) function.Function {
	return function.New(&function.Spec{Params: params, Type: function.StaticReturnType(cty.DynamicPseudoType),
		Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) { return impl(args) }})
}

// extraFunctions is what cty has not, or has with other rules, and what is the same for
// every module.
var extraFunctions = map[string]function.Function{
	"lookup":   lookupFunc,
	"coalesce": coalesceFunc,
	"ephemeralasnull": dynamicFunc(func(args []cty.Value) (cty.Value, error) { return args[0], nil },
		anyParam("value")),
	"issensitive": function.New(&function.Spec{
		Params: []function.Parameter{{Name: "value", Type: cty.DynamicPseudoType, AllowNull: true, AllowUnknown: true,
			AllowDynamicType: true, AllowMarked: true}},
		Type: function.StaticReturnType(cty.Bool),
		Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) {
			return cty.BoolVal(args[0].HasMark(sensitiveMark{})), nil
		}}),
	"index":     dynamicFunc(indexOf, dynamicParam("list"), anyParam("value")),
	"matchkeys": dynamicFunc(matchKeys, dynamicParam("values"), dynamicParam("keys"), dynamicParam("wanted")),
	"transpose": dynamicFunc(transposeMap, function.Parameter{Name: "map", Type: cty.Map(cty.List(cty.String))}),
	"timecmp": function.New(&function.Spec{
		Params: []function.Parameter{{Name: "a", Type: cty.String}, {Name: "b", Type: cty.String}},
		Type:   function.StaticReturnType(cty.Number),
		Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) {
			a, err := time.Parse(time.RFC3339, args[0].AsString())
			if err != nil {
				return cty.UnknownVal(cty.Number), err
			}
			b, err := time.Parse(time.RFC3339, args[1].AsString())
			return cty.NumberIntVal(int64(a.Compare(b))), err
		}}),
	"cidrnetmask": textFunc(func(s string) (string, error) {
		p, err := netip.ParsePrefix(s)
		if err != nil || !p.Addr().Is4() {
			return "", fmt.Errorf("%q is no IPv4 network", s)
		}
		var mask [4]byte
		binary.BigEndian.PutUint32(mask[:], ^uint32(0)<<(32-p.Bits()))
		return netip.AddrFrom4(mask).String(), nil
	}),
	"cidrsubnets":      cidrSubnetsFunc,
	"cidrcontains":     textTestFunc(containsNetwork),
	"urldecode":        textFunc(url.QueryUnescape),
	"textencodebase64": encodingFunc(encodeText),
	"textdecodebase64": encodingFunc(decodeText),
	// Decompression is left out: a short text in the configuration could expand to gigabytes.
	"base64gunzip": unknownFunc("base64gunzip()"),
	"type":         unknownFunc("type()"),
}

// dynamicParam declares a parameter of any known type.
func dynamicParam(name string) function.Parameter {
	return function.Parameter{Name: name, Type: cty.DynamicPseudoType}
}

// lookupFunc takes maps and objects, and a default or none.
var lookupFunc = function.New(&function.Spec{
	Params: []function.Parameter{dynamicParam("map"), {Name: "key", Type: cty.String}},
	VarParam: &function.Parameter{Name: "default", Type: cty.DynamicPseudoType, AllowNull: true, AllowUnknown: true,
		AllowDynamicType: true},
	Type: function.StaticReturnType(cty.DynamicPseudoType),
	Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) {
		m, name := args[0], args[1].AsString()
		switch t := m.Type(); {
		case t.IsObjectType() && t.HasAttribute(name):
			return m.GetAttr(name), nil
		// An object with other attributes falls through to the default, as a map does.
		case t.IsMapType():
			if has := m.HasIndex(args[1]); has.IsKnown() && has.True() {
				return m.Index(args[1]), nil
			}
		case !t.IsObjectType():
			return cty.DynamicVal, fmt.Errorf("lookup needs a map")
		}
		if len(args) == 3 {
			return args[2], nil
		}
		return cty.DynamicVal, fmt.Errorf("the map has no %q", name)
	}})

// coalesceFunc passes over null and empty text.
var coalesceFunc = function.New(&function.Spec{
	VarParam: &function.Parameter{Name: "values", Type: cty.DynamicPseudoType, AllowNull: true, AllowUnknown: true,
		AllowDynamicType: true},
	Type: function.StaticReturnType(cty.DynamicPseudoType),
	Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) {
		for _, v := range args {
			// An unknown value may be null or not, so that any of those behind it could be the
			// result.
			if !v.IsKnown() {
				return cty.DynamicVal, nil
			}
			if !v.IsNull() && (v.Type() != cty.String || v.AsString() != "") {
				return v, nil
			}
		}
		return cty.DynamicVal, fmt.Errorf("all values are null or empty")
	}})

// indexOf returns where in a list a value is.
func indexOf(args []cty.Value) (cty.Value, error) {
	if !args[0].CanIterateElements() {
		return cty.DynamicVal, fmt.Errorf("index needs a list")
	}
	for it := args[0].ElementIterator(); it.Next(); {
		i, v := it.Element()
		same, err := compareValues(v, args[1])
		if err != nil {
			return cty.DynamicVal, err
		}
		// An unknown element may be the one that is searched for.
		if !same.IsKnown() || same.True() {
			if same.IsKnown() {
				return i, nil
			}
			return cty.UnknownVal(cty.Number), nil
		}
	}
	return cty.DynamicVal, fmt.Errorf("the value is not in the list")
}

// compareValues compares two values, as texts when their types differ: Terraform converts
// before it compares.
func compareValues(a, b cty.Value) (cty.Value, error) {
	if !a.Type().Equals(b.Type()) {
		c, err := convert.Convert(b, a.Type())
		if err != nil {
			return cty.False, nil // values of different types differ
		}
		b = c
	}
	v := a.Equals(b)
	v, _ = v.Unmark()
	return v, nil
}

// matchKeys returns the values whose key is among the wanted.
func matchKeys(args []cty.Value) (cty.Value, error) {
	for _, a := range args {
		if !a.CanIterateElements() || !a.IsWhollyKnown() {
			return cty.DynamicVal, nil
		}
	}
	values, keys := args[0].AsValueSlice(), args[1].AsValueSlice()
	// The comparison is quadratic: the product of both lengths is bounded.
	if len(values) != len(keys) || len(keys)*args[2].LengthInt() > 1_000_000 {
		return cty.DynamicVal, fmt.Errorf("matchkeys needs as many keys as values")
	}
	out := []cty.Value{}
	for i, k := range keys {
		for it := args[2].ElementIterator(); it.Next(); {
			_, want := it.Element()
			if same, err := compareValues(k, want); err == nil && same.IsKnown() && same.True() {
				out = append(out, values[i])
				break
			}
		}
	}
	return cty.TupleVal(out), nil
}

// transposeMap swaps keys and values of a map of lists.
func transposeMap(args []cty.Value) (cty.Value, error) {
	if !args[0].IsWhollyKnown() {
		return cty.DynamicVal, nil
	}
	out := map[string][]cty.Value{}
	for it := args[0].ElementIterator(); it.Next(); {
		k, list := it.Element()
		if list.IsNull() {
			continue
		}
		for in := list.ElementIterator(); in.Next(); {
			if _, v := in.Element(); !v.IsNull() {
				out[v.AsString()] = append(out[v.AsString()], k)
			}
		}
	}
	values := map[string]cty.Value{}
	for name, list := range out {
		values[name] = cty.ListVal(list)
	}
	if len(values) == 0 {
		return cty.MapValEmpty(cty.List(cty.String)), nil
	}
	return cty.MapVal(values), nil
}

// cidrSubnetsFunc cuts a network into subnets that follow each other.
var cidrSubnetsFunc = function.New(&function.Spec{
	Params:   []function.Parameter{{Name: "prefix", Type: cty.String}},
	VarParam: &function.Parameter{Name: "bits", Type: cty.Number},
	Type:     function.StaticReturnType(cty.List(cty.String)),
	Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) {
		p, err := netip.ParsePrefix(args[0].AsString())
		if err != nil {
			return cty.UnknownVal(cty.List(cty.String)), err
		}
		size := p.Addr().BitLen()
		var out []cty.Value
		var next uint64 // in units of the smallest subnet: 32 bits below the network
		for _, a := range args[1:] {
			more, _ := a.AsBigFloat().Int64()
			if more < 1 || more > 32 || p.Bits()+int(more) > size {
				return cty.UnknownVal(cty.List(cty.String)), fmt.Errorf("the subnet does not fit")
			}
			// The start is rounded up to a multiple of the size, as networks are aligned to theirs.
			step := uint64(1) << (32 - more)
			next = (next + step - 1) / step * step
			if next+step > 1<<32 {
				return cty.UnknownVal(cty.List(cty.String)), fmt.Errorf("the network is used up")
			}
			length := p.Bits() + int(more)
			out = append(out, cty.StringVal(netip.PrefixFrom(addToAddress(p.Masked().Addr(), next/step, size-length),
				length).String()))
			next += step
		}
		if len(out) == 0 {
			return cty.ListValEmpty(cty.String), nil
		}
		return cty.ListVal(out), nil
	}})

// containsNetwork reports whether a network contains an address or another network.
func containsNetwork(network, inner string) bool {
	p, err := netip.ParsePrefix(network)
	if err != nil {
		return false
	}
	if a, err := netip.ParseAddr(inner); err == nil {
		return p.Contains(a)
	}
	q, err := netip.ParsePrefix(inner)
	return err == nil && q.Bits() >= p.Bits() && p.Contains(q.Addr())
}

// encodingFunc makes a function of a text and the name of an encoding.
func encodingFunc(f func(text, encoding string) (string, error)) function.Function {
	return function.New(&function.Spec{
		Params: []function.Parameter{{Name: "text", Type: cty.String}, {Name: "encoding", Type: cty.String}},
		Type:   function.StaticReturnType(cty.String),
		Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) {
			s, err := f(args[0].AsString(), args[1].AsString())
			if err != nil {
				return cty.UnknownVal(cty.String), err
			}
			return cty.StringVal(s), nil
		}})
}

// encodeText encodes a text as base64 in one of the encodings that Terraform documents.
// Others would need a table of code pages and are an error.
func encodeText(text, encoding string) (string, error) {
	data := []byte(text)
	switch strings.ToUpper(encoding) {
	case "UTF-8":
	case "UTF-16LE":
		data = nil
		for _, unit := range utf16.Encode([]rune(text)) {
			data = binary.LittleEndian.AppendUint16(data, unit)
		}
	default:
		return "", fmt.Errorf("the encoding %s is not known", encoding)
	}
	return base64.StdEncoding.EncodeToString(data), nil
}

// decodeText is the reverse of encodeText.
func decodeText(text, encoding string) (string, error) {
	data, err := base64.StdEncoding.DecodeString(text)
	if err != nil {
		return "", err
	}
	switch strings.ToUpper(encoding) {
	case "UTF-8":
		return string(data), nil
	case "UTF-16LE":
		var units []uint16
		for i := 0; i+1 < len(data); i += 2 {
			units = append(units, binary.LittleEndian.Uint16(data[i:]))
		}
		return string(utf16.Decode(units)), nil
	}
	return "", fmt.Errorf("the encoding %s is not known", encoding)
}

// maxSet bounds what fileset finds.
const maxSet = 1000

// filesetFunc makes fileset: the files of the tree below a folder whose names match a
// pattern. Files outside of the scanned tree are an error, so that no scan shows names of
// the machine it runs on.
func (l *loader) filesetFunc(s *scope) function.Function {
	return function.New(&function.Spec{
		Params: []function.Parameter{{Name: "path", Type: cty.String}, {Name: "pattern", Type: cty.String}},
		Type:   function.StaticReturnType(cty.Set(cty.String)),
		Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) {
			unknown := cty.UnknownVal(cty.Set(cty.String))
			dir := path.Join(s.module.Root.Dir, args[0].AsString())
			patterns, err := expandBraces(path.Clean(args[1].AsString()), 64)
			if err != nil || strings.HasPrefix(dir, "..") || Symbolic(dir) {
				return unknown, fmt.Errorf("%s is not part of the tree", dir)
			}
			var out []cty.Value
			for name := range l.names {
				l.countStep(cty.Zero)
				rel := name
				if dir != "." {
					// A file outside of the folder.
					if rel = strings.TrimPrefix(name, dir+"/"); rel == name {
						continue
					}
				}
				for _, p := range patterns {
					if matchGlob(strings.Split(p, "/"), strings.Split(rel, "/")) {
						out = append(out, cty.StringVal(rel))
						break
					}
				}
				if len(out) > maxSet {
					return unknown, fmt.Errorf("fileset finds more than %d files", maxSet)
				}
			}
			if len(out) == 0 {
				return cty.SetValEmpty(cty.String), nil
			}
			return cty.SetVal(out), nil
		}})
}

// expandBraces expands "{a,b}" into one pattern for each alternative, up to a number,
// because "{a,b}{a,b}…" grows exponentially.
func expandBraces(pattern string, most int) ([]string, error) {
	open := strings.IndexByte(pattern, '{')
	length := strings.IndexByte(pattern[max(open, 0):], '}')
	if open < 0 || length < 0 {
		return []string{pattern}, nil
	}
	var out []string
	for part := range strings.SplitSeq(pattern[open+1:open+length], ",") {
		rest, err := expandBraces(pattern[:open]+part+pattern[open+length+1:], most-len(out))
		if out = append(out, rest...); err != nil || len(out) > most {
			return nil, fmt.Errorf("the pattern stands for too many")
		}
	}
	return out, nil
}

// matchGlob matches a path by its parts; "**" stands for any number of folders. It takes
// time proportional to pattern times name, where a backtracking matcher takes exponential
// time.
func matchGlob(pattern, name []string) bool {
	// Each part of the name is compared with each of the pattern at most once.
	at := make([]bool, len(pattern)+1)
	at[0] = true
	// at[i] says that the first i parts of the pattern match the parts of the name so far. "**"
	// matches no folder as well, so that its position spreads to the next one.
	spread := func() {
		for i, p := range pattern {
			at[i+1] = at[i+1] || p == "**" && at[i]
		}
	}
	for _, part := range name {
		spread()
		next := make([]bool, len(pattern)+1)
		for i, p := range pattern {
			if !at[i] {
				continue
			}
			if p == "**" {
				next[i] = true
			} else if ok, err := path.Match(p, part); ok && err == nil {
				next[i+1] = true
			}
		}
		at = next
	}
	spread()
	return at[len(pattern)]
}
