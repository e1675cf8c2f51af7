package terraform

import (
	"crypto/md5"
	"crypto/sha1"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"hash"
	"net/netip"
	"net/url"
	"path"
	"regexp"
	"strings"

	"github.com/hashicorp/hcl/v2/ext/tryfunc"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/convert"
	"github.com/zclconf/go-cty/cty/function"
	"github.com/zclconf/go-cty/cty/function/stdlib"
	"go.yaml.in/yaml/v3"
)

// This file holds Terraform's functions, as its documentation describes them
// (https://developer.hashicorp.com/terraform/language/functions). Those that ask
// the clock or a random source answer with what is not known.

// standardFunctions is what cty and hcl have.
var standardFunctions = map[string]function.Function{
	"abs": stdlib.AbsoluteFunc, "can": tryfunc.CanFunc, "ceil": stdlib.CeilFunc, "chomp": stdlib.ChompFunc,
	"chunklist":    stdlib.ChunklistFunc,
	"coalescelist": stdlib.CoalesceListFunc, "compact": stdlib.CompactFunc, "concat": stdlib.ConcatFunc,
	"contains": stdlib.ContainsFunc, "csvdecode": stdlib.CSVDecodeFunc, "distinct": stdlib.DistinctFunc,
	"element": stdlib.ElementFunc,
	"flatten": stdlib.FlattenFunc, "floor": stdlib.FloorFunc, "formatdate": stdlib.FormatDateFunc,
	"indent": stdlib.IndentFunc,
	"join":   stdlib.JoinFunc, "jsondecode": stdlib.JSONDecodeFunc, "jsonencode": stdlib.JSONEncodeFunc,
	"keys": stdlib.KeysFunc,
	"log":  stdlib.LogFunc, "lower": stdlib.LowerFunc, "max": stdlib.MaxFunc, "merge": stdlib.MergeFunc,
	"min":      stdlib.MinFunc,
	"parseint": stdlib.ParseIntFunc, "pow": stdlib.PowFunc, "range": stdlib.RangeFunc, "regex": stdlib.RegexFunc,
	"regexall": stdlib.RegexAllFunc,
	"reverse":  stdlib.ReverseListFunc, "setintersection": stdlib.SetIntersectionFunc,
	"setsubtract": stdlib.SetSubtractFunc,
	"setunion":    stdlib.SetUnionFunc, "signum": stdlib.SignumFunc, "slice": stdlib.SliceFunc, "sort": stdlib.SortFunc,
	"split":  stdlib.SplitFunc,
	"strrev": stdlib.ReverseFunc, "substr": stdlib.SubstrFunc, "timeadd": stdlib.TimeAddFunc, "title": stdlib.TitleFunc,
	"trim":       stdlib.TrimFunc,
	"trimprefix": stdlib.TrimPrefixFunc, "trimspace": stdlib.TrimSpaceFunc, "trimsuffix": stdlib.TrimSuffixFunc,
	"try":   tryfunc.TryFunc,
	"upper": stdlib.UpperFunc, "values": stdlib.ValuesFunc, "zipmap": stdlib.ZipmapFunc, "length": lengthFunc,
	"tostring": stdlib.MakeToFunc(cty.String), "tonumber": stdlib.MakeToFunc(cty.Number),
	"tobool":  stdlib.MakeToFunc(cty.Bool),
	"tolist":  stdlib.MakeToFunc(cty.List(cty.DynamicPseudoType)),
	"toset":   stdlib.MakeToFunc(cty.Set(cty.DynamicPseudoType)),
	"tomap":   stdlib.MakeToFunc(cty.Map(cty.DynamicPseudoType)),
	"replace": replaceFunc, "one": oneFunc, "sum": sumFunc, "alltrue": boolsFunc(true), "anytrue": boolsFunc(false),
	"sensitive": markFunc(true), "nonsensitive": markFunc(false), "yamlencode": yamlEncodeFunc,
	"yamldecode": yamlDecodeFunc,
	"cidrsubnet": cidrSubnetFunc, "cidrhost": cidrHostFunc,
	"base64encode": textFunc(func(s string) (string, error) {
		return base64.StdEncoding.EncodeToString([]byte(s)), nil
	}),
	"base64decode": textFunc(func(s string) (string, error) {
		b, err := base64.StdEncoding.DecodeString(s)
		return string(b), err
	}),
	"urlencode": textFunc(func(s string) (string, error) { return url.QueryEscape(s), nil }),
	"dirname":   textFunc(func(s string) (string, error) { return path.Dir(s), nil }),
	"basename":  textFunc(func(s string) (string, error) { return path.Base(s), nil }),
	// The tree has no absolute location, and no home directory: paths stay as they are.
	"abspath":    textFunc(func(s string) (string, error) { return s, nil }),
	"pathexpand": textFunc(func(s string) (string, error) { return s, nil }),
	"md5":        hashFunc(md5.New, hex.EncodeToString), "sha1": hashFunc(sha1.New, hex.EncodeToString),
	"sha256": hashFunc(sha256.New, hex.EncodeToString), "sha512": hashFunc(sha512.New, hex.EncodeToString),
	"base64sha256": hashFunc(sha256.New, base64.StdEncoding.EncodeToString),
	"base64sha512": hashFunc(sha512.New, base64.StdEncoding.EncodeToString),
	"startswith":   textTestFunc(strings.HasPrefix),
	"endswith":     textTestFunc(strings.HasSuffix),
	"strcontains":  textTestFunc(strings.Contains),
	// Their results differ from run to run or need a key: findings must not depend on them.
	"timestamp": unknownFunc("timestamp()"), "plantimestamp": unknownFunc("plantimestamp()"),
	"uuid": unknownFunc("uuid()"), "uuidv5": unknownFunc("uuidv5()"),
	"bcrypt": unknownFunc("bcrypt()"), "rsadecrypt": unknownFunc("rsadecrypt()"),
	"base64gzip": unknownFunc("base64gzip()"),
}

// functionTable returns the functions as one module sees them: files are looked
// for beside its root module, and every call is counted.
func (l *loader) functionTable(s *scope) map[string]function.Function {
	out := make(map[string]function.Function, 2*(len(standardFunctions)+len(extraFunctions)+12))
	for name, f := range standardFunctions {
		out[name] = f
	}
	for name, f := range extraFunctions {
		out[name] = f
	}
	out["fileset"] = l.filesetFunc(s)
	for name, f := range map[string]function.Function{"format": stdlib.FormatFunc, "formatlist": stdlib.FormatListFunc,
		"setproduct": stdlib.SetProductFunc} {
		out[name] = l.boundResult(f)
	}
	// Only files of the analyzed tree are read; "/etc/passwd" or a link out of it is an error.
	file := func(p string) (string, error) { return l.readTreeFile(s, p) }
	out["file"] = textFunc(file)
	out["filebase64"] = textFunc(func(p string) (string, error) {
		t, err := file(p)
		return base64.StdEncoding.EncodeToString([]byte(t)), err
	})
	for name, f := range map[string]function.Function{"filemd5": standardFunctions["md5"],
		"filesha1":   standardFunctions["sha1"],
		"filesha256": standardFunctions["sha256"], "filesha512": standardFunctions["sha512"],
		"filebase64sha256": standardFunctions["base64sha256"], "filebase64sha512": standardFunctions["base64sha512"]} {
		out[name] = textFunc(func(p string) (string, error) {
			t, err := file(p)
			if err != nil {
				return "", err
			}
			v, err := f.Call([]cty.Value{cty.StringVal(t)})
			if err != nil {
				return "", err
			}
			return v.AsString(), nil
		})
	}
	out["fileexists"] = function.New(&function.Spec{Params: []function.Parameter{{Name: "path", Type: cty.String}},
		Type: function.StaticReturnType(cty.Bool),
		Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) {
			_, err := file(args[0].AsString())
			return cty.BoolVal(err == nil), nil
		}})
	out["templatefile"] = l.templateFunc(s, file)
	out["templatestring"] = l.templateFunc(s, func(text string) (string, error) { return text, nil })
	// Since Terraform 1.8 the built-in functions are also in a namespace: core::join().
	for name, f := range out {
		out["core::"+name] = f
	}
	return out
}

// boundResult limits a function whose result can be far larger than its arguments: the
// product of large sets, a number with a million digits.
func (l *loader) boundResult(f function.Function) function.Function {
	return function.New(&function.Spec{
		VarParam: &function.Parameter{Name: "args", Type: cty.DynamicPseudoType, AllowNull: true, AllowUnknown: true,
			AllowDynamicType: true},
		Type: func(args []cty.Value) (cty.Type, error) {
			// The type function runs before the implementation, so the arguments are measured
			// before any memory is used for the result.
			product := 1
			for i, a := range args {
				if i == 0 && a.Type() == cty.String && a.IsKnown() && !a.IsNull() &&
					wideFormat.MatchString(a.AsString()) {
					return cty.DynamicPseudoType, fmt.Errorf("a width in the format is too large")
				}
				if a.IsKnown() && !a.IsNull() && a.CanIterateElements() {
					product *= max(1, a.LengthInt())
				}
				// setproduct of five sets with 100 elements would have 10^10; real ones have
				// hundreds.
				if product > 10_000 {
					return cty.DynamicPseudoType, fmt.Errorf("the result is too large")
				}
			}
			return f.ReturnTypeForValues(args)
		},
		Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) {
			v, err := f.Call(args)
			if err == nil {
				l.countStep(v)
			}
			return v, err
		},
	})
}

// wideFormat finds a width or precision of more than three digits in a format.
var wideFormat = regexp.MustCompile(`%[^a-zA-Z%]*[0-9]{4}`)

// textFunc makes a function of one text. An error makes the result unknown, not the whole
// expression invalid.
func textFunc(f func(string) (string, error)) function.Function {
	return function.New(&function.Spec{
		Params: []function.Parameter{{Name: "text", Type: cty.String}}, Type: function.StaticReturnType(cty.String),
		Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) {
			s, err := f(args[0].AsString())
			if err != nil {
				return cty.UnknownVal(cty.String), err
			}
			return cty.StringVal(s), nil
		}})
}

// textTestFunc makes a function that tests a text against another.
func textTestFunc(f func(string, string) bool) function.Function {
	return function.New(&function.Spec{
		Params: []function.Parameter{{Name: "text", Type: cty.String}, {Name: "part", Type: cty.String}},
		Type:   function.StaticReturnType(cty.Bool),
		Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) {
			return cty.BoolVal(f(args[0].AsString(), args[1].AsString())), nil
		}})
}

// hashFunc makes a function that hashes a text and encodes the sum.
func hashFunc(make func() hash.Hash, show func([]byte) string) function.Function {
	return textFunc(func(s string) (string, error) {
		h := make()
		h.Write([]byte(s))
		return show(h.Sum(nil)), nil
	})
}

// unknownFunc makes a function whose answer nobody knows before it is asked.
func unknownFunc(name string) function.Function {
	return function.New(&function.Spec{
		VarParam: &function.Parameter{Name: "args", Type: cty.DynamicPseudoType, AllowNull: true, AllowUnknown: true,
			AllowDynamicType: true},
		Type: function.StaticReturnType(cty.String),
		Impl: func([]cty.Value, cty.Type) (cty.Value, error) { return placeholder(name), nil }})
}

// markFunc makes sensitive and nonsensitive.
func markFunc(on bool) function.Function {
	return function.New(&function.Spec{
		Params: []function.Parameter{{Name: "value", Type: cty.DynamicPseudoType, AllowNull: true, AllowUnknown: true,
			AllowDynamicType: true, AllowMarked: true}},
		Type: func(args []cty.Value) (cty.Type, error) { return args[0].Type(), nil },
		Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) {
			if on {
				return args[0].Mark(sensitiveMark{}), nil
			}
			v, marks := args[0].Unmark()
			delete(marks, sensitiveMark{})
			return v.WithMarks(marks), nil
		}})
}

// lengthFunc counts characters of a text, or elements. A text with a placeholder has no
// known length.
var lengthFunc = function.New(&function.Spec{
	Params: []function.Parameter{{Name: "value", Type: cty.DynamicPseudoType, AllowDynamicType: true,
		AllowUnknown: true}},
	Type: function.StaticReturnType(cty.Number),
	Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) {
		switch v := args[0]; {
		case v.Type().IsTupleType():
			return cty.NumberIntVal(int64(v.Type().Length())), nil
		case !v.IsKnown():
			return cty.UnknownVal(cty.Number), nil
		case v.Type() == cty.String:
			if Symbolic(v.AsString()) {
				return cty.UnknownVal(cty.Number), nil
			}
			return cty.NumberIntVal(int64(len([]rune(v.AsString())))), nil
		case v.CanIterateElements():
			return cty.NumberIntVal(int64(v.LengthInt())), nil
		}
		return cty.UnknownVal(cty.Number), fmt.Errorf("the value has no length")
	}})

// replaceFunc replaces a part, or what a regular expression in slashes matches. Go's
// engine is linear in time; the size of the result is bounded before it is made.
var replaceFunc = function.New(&function.Spec{
	Params: []function.Parameter{{Name: "text", Type: cty.String}, {Name: "part", Type: cty.String},
		{Name: "with", Type: cty.String}},
	Type: function.StaticReturnType(cty.String),
	Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) {
		text, part, with := args[0].AsString(), args[1].AsString(), args[2].AsString()
		// Checked before the replacement: the memory for the result would be used already after it.
		if part != "" && strings.Count(text, part)*len(with) > maxValue {
			return cty.UnknownVal(cty.String), fmt.Errorf("the result is too large")
		}
		if len(part) > 1 && part[0] == '/' && part[len(part)-1] == '/' {
			re, err := regexp.Compile(part[1 : len(part)-1])
			if err != nil {
				return cty.UnknownVal(cty.String), err
			}
			if len(re.FindAllStringIndex(text, -1))*len(with) > maxValue {
				return cty.UnknownVal(cty.String), fmt.Errorf("the result is too large")
			}
			return cty.StringVal(re.ReplaceAllString(text, with)), nil
		}
		return cty.StringVal(strings.ReplaceAll(text, part, with)), nil
	}})

// oneFunc returns the only element of a list, or null of an empty one.
var oneFunc = function.New(&function.Spec{
	Params: []function.Parameter{{Name: "list", Type: cty.DynamicPseudoType}},
	Type:   function.StaticReturnType(cty.DynamicPseudoType),
	Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) {
		if !args[0].CanIterateElements() || args[0].LengthInt() > 1 {
			return cty.DynamicVal, fmt.Errorf("the value must be a list with one element or none")
		}
		for it := args[0].ElementIterator(); it.Next(); {
			_, v := it.Element()
			return v, nil
		}
		return cty.NullVal(cty.DynamicPseudoType), nil
	}})

// sumFunc adds the numbers of a list.
var sumFunc = function.New(&function.Spec{
	Params: []function.Parameter{{Name: "list", Type: cty.DynamicPseudoType}},
	Type:   function.StaticReturnType(cty.Number),
	Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) {
		if !args[0].CanIterateElements() {
			return cty.UnknownVal(cty.Number), fmt.Errorf("the value is no list")
		}
		total := cty.Zero
		for it := args[0].ElementIterator(); it.Next(); {
			_, v := it.Element()
			n, err := convert.Convert(v, cty.Number)
			if err != nil || n.IsNull() {
				return cty.UnknownVal(cty.Number), fmt.Errorf("the list must contain numbers")
			}
			total = total.Add(n)
		}
		return total, nil
	}})

// boolsFunc makes alltrue and anytrue.
func boolsFunc(all bool) function.Function {
	return function.New(&function.Spec{
		Params: []function.Parameter{{Name: "list", Type: cty.List(cty.Bool)}},
		Type:   function.StaticReturnType(cty.Bool),
		Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) {
			for it := args[0].ElementIterator(); it.Next(); {
				_, v := it.Element()
				if !v.IsKnown() {
					return cty.UnknownVal(cty.Bool), nil
				}
				if on := !v.IsNull() && v.True(); on != all {
					return cty.BoolVal(!all), nil
				}
			}
			return cty.BoolVal(all), nil
		}})
}

// yamlDecodeFunc decodes YAML. The number of aliases is bounded, because they can multiply
// ("billion laughs").
var yamlDecodeFunc = function.New(&function.Spec{
	Params: []function.Parameter{{Name: "text", Type: cty.String}},
	Type:   function.StaticReturnType(cty.DynamicPseudoType),
	Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) {
		text := args[0].AsString()
		// Every alias is a "*"; a text with more of them than any real file is not decoded.
		if len(text) > maxValue || strings.Count(text, "*") > 1000 {
			return cty.DynamicVal, fmt.Errorf("the text is too large")
		}
		var v any
		if err := yaml.Unmarshal([]byte(text), &v); err != nil {
			return cty.DynamicVal, err
		}
		return valueFromPlain(v, 0)
	}})

// valueFromPlain converts what the YAML decoder returned.
func valueFromPlain(v any, depth int) (cty.Value, error) {
	if depth > maxDepth {
		return cty.DynamicVal, fmt.Errorf("the text is nested too deeply")
	}
	switch v := v.(type) {
	case nil:
		return cty.NullVal(cty.DynamicPseudoType), nil
	case string:
		return cty.StringVal(v), nil
	case bool:
		return cty.BoolVal(v), nil
	// Integers beyond 64 bits and times have other Go types and become unknown below.
	case int:
		return cty.NumberIntVal(int64(v)), nil
	case float64:
		return cty.NumberFloatVal(v), nil
	case []any:
		out := make([]cty.Value, 0, len(v))
		for _, e := range v {
			one, err := valueFromPlain(e, depth+1)
			if err != nil {
				return cty.DynamicVal, err
			}
			out = append(out, one)
		}
		return cty.TupleVal(out), nil
	case map[string]any:
		out := map[string]cty.Value{}
		for k, e := range v {
			one, err := valueFromPlain(e, depth+1)
			if err != nil {
				return cty.DynamicVal, err
			}
			out[k] = one
		}
		return cty.ObjectVal(out), nil
	}
	return cty.DynamicVal, nil
}

// yamlEncodeFunc encodes a value as YAML.
var yamlEncodeFunc = function.New(&function.Spec{
	Params: []function.Parameter{{Name: "value", Type: cty.DynamicPseudoType, AllowNull: true}},
	Type:   function.StaticReturnType(cty.String),
	Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) {
		// An unknown part would be encoded as an empty map, which could pass for a real value.
		if !args[0].IsWhollyKnown() {
			return cty.UnknownVal(cty.String), nil
		}
		b, err := yaml.Marshal(plainOf(args[0]).value)
		return cty.StringVal(string(b)), err
	}})

// cidrSubnetFunc returns the numbered subnet of a network.
var cidrSubnetFunc = function.New(&function.Spec{
	Params: []function.Parameter{{Name: "prefix", Type: cty.String}, {Name: "bits", Type: cty.Number},
		{Name: "number", Type: cty.Number}},
	Type: function.StaticReturnType(cty.String),
	Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) {
		p, err := netip.ParsePrefix(args[0].AsString())
		if err != nil {
			return cty.UnknownVal(cty.String), err
		}
		more, _ := args[1].AsBigFloat().Int64()
		number, _ := args[2].AsBigFloat().Int64()
		length := p.Bits() + int(more)
		if more < 0 || more > 32 || length > p.Addr().BitLen() || number < 0 || number >= 1<<more {
			return cty.UnknownVal(cty.String), fmt.Errorf("the subnet does not fit")
		}
		addr := addToAddress(p.Masked().Addr(), uint64(number), p.Addr().BitLen()-length)
		return cty.StringVal(netip.PrefixFrom(addr, length).String()), nil
	}})

// cidrHostFunc returns the numbered address of a network.
var cidrHostFunc = function.New(&function.Spec{
	Params: []function.Parameter{{Name: "prefix", Type: cty.String}, {Name: "number", Type: cty.Number}},
	Type:   function.StaticReturnType(cty.String),
	Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) {
		p, err := netip.ParsePrefix(args[0].AsString())
		number, _ := args[1].AsBigFloat().Int64()
		if err != nil || number < 0 {
			return cty.UnknownVal(cty.String), fmt.Errorf("the address does not fit")
		}
		return cty.StringVal(addToAddress(p.Masked().Addr(), uint64(number), 0).String()), nil
	}})

// addToAddress writes the number into the address, from the bit at the shift upwards.
func addToAddress(a netip.Addr, number uint64, shift int) netip.Addr {
	b := a.AsSlice()
	for i := range 64 {
		at := shift + i
		if number>>i&1 == 1 && at < 8*len(b) {
			b[len(b)-1-at/8] |= 1 << (at % 8)
		}
	}
	out, _ := netip.AddrFromSlice(b)
	return out
}
