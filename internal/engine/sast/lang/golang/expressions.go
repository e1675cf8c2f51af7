package golang

import (
	"merlon/internal/engine/sast/lang"
	"merlon/internal/engine/sast/tree"
)

// expressionRules are the rules for what has a value.
var expressionRules = map[string]lang.Rule{
	"expression_list":    lowerTuple,
	"identifier":         lang.Same(tree.Name),
	"field_identifier":   lang.Same(tree.Name),
	"package_identifier": lang.Same(tree.Name),
	"blank_identifier":   lang.Same(tree.Name),
	"iota":               lang.Same(tree.Name),

	"nil":                        lang.Leaf(tree.Null, "nil"),
	"true":                       lang.Leaf(tree.Bool, "true"),
	"false":                      lang.Leaf(tree.Bool, "false"),
	"int_literal":                lowerNumber,
	"float_literal":              lowerNumber,
	"imaginary_literal":          lowerNumber,
	"rune_literal":               lowerCharacter,
	"interpreted_string_literal": lowerStringLiteral,
	"raw_string_literal":         lowerStringLiteral,

	"parenthesized_expression": lang.Inner,
	"unary_expression":         lowerUnary,
	"binary_expression":        lowerBinary,
	"selector_expression": lang.Slots(tree.Member, ".",
		lang.Slot{Role: tree.RoleObject, Field: "operand"}, lang.Slot{Role: tree.RoleProperty, Field: "field"}),
	"index_expression": lang.Slots(tree.Index, "",
		lang.Slot{Role: tree.RoleObject, Field: "operand"}, lang.Slot{Role: tree.RoleIndex, Field: "index"}),
	"slice_expression":              lowerSlice,
	"type_instantiation_expression": lowerInstantiation,
	"type_assertion_expression": lang.Slots(tree.Cast, ".",
		lang.Slot{Role: tree.RoleType, Field: "type"}, lang.Slot{Role: tree.RoleValue, Field: "operand"}),
	"type_conversion_expression": lowerConversion,
	"call_expression":            lowerCall,
	"argument_list":              lowerChildren,
	"variadic_argument":          lang.Slots(tree.Spread, "...", lang.Slot{Role: tree.RoleValue}),
	"composite_literal":          lowerComposite,
	"literal_element":            lang.Inner,
	"literal_value":              lang.Around(tree.List, "", tree.RoleElement),
	"keyed_element":              lowerKeyed,
	"func_literal":               lowerLambda,
}

// lowerUnary lowers "-a", "*p", "&x" and "<-c".
// The analysis makes a cell of "&x", which "*p" reads.
func lowerUnary(l *lang.Lowering, r tree.Role, i int32) {
	l.BeginText(tree.Unary, r, l.Source(l.Field(i, "operator")), i)
	l.Need(tree.RoleValue, i, l.Field(i, "operand"))
	l.Close()
}

// lowerBinary lowers an operation of two operands.
func lowerBinary(l *lang.Lowering, r tree.Role, i int32) {
	l.BeginText(tree.Binary, r, l.Source(l.Field(i, "operator")), i)
	l.Need(tree.RoleLeft, i, l.Field(i, "left"))
	l.Need(tree.RoleRight, i, l.Field(i, "right"))
	l.Close()
}

// lowerSlice lowers "a[low:high:max]".
// The third index limits the capacity and has no counterpart elsewhere; it takes the role of
// the step.
func lowerSlice(l *lang.Lowering, r tree.Role, i int32) {
	l.Begin(tree.Index, r, i)
	operand := l.Field(i, "operand")
	l.Need(tree.RoleObject, i, operand)
	start, end := l.Range(i)
	// The range of the Slice is that between the brackets.
	if bracket := l.Find(i, "["); bracket >= 0 {
		_, start = l.Range(bracket)
		end--
	}
	l.Open(tree.Slice, tree.RoleIndex, start, max(start, end))
	l.Part(tree.RoleLow, i, "start")
	l.Part(tree.RoleHigh, i, "end")
	l.Part(tree.RoleStep, i, "capacity")
	l.Close()
	l.Close()
}

// lowerInstantiation lowers f[T, U], as an index of types.
// f[int] as a value. To the grammar the function is a type here.
func lowerInstantiation(l *lang.Lowering, r tree.Role, i int32) {
	l.Begin(tree.Index, r, i)
	typ := l.Field(i, "type")
	lowerFunctionName(l, tree.RoleObject, typ)
	for c := range l.Children(i) {
		if c != typ {
			l.Node(tree.RoleIndex, c)
		}
	}
	l.Close()
}

// lowerConversion lowers []T(v). To the grammar a call f[T](v) is one too.
func lowerConversion(l *lang.Lowering, r tree.Role, i int32) {
	typ, operand := l.Field(i, "type"), l.Field(i, "operand")
	// "f[T](v)" and "T[U](v)" look alike; the call is the more frequent one.
	if l.Kind(typ) == "generic_type" {
		l.Begin(tree.Call, r, i)
		lowerFunctionName(l, tree.RoleCallee, l.Field(typ, "type"))
		l.Need(tree.RoleArgument, i, operand)
		l.Close()
		return
	}
	l.Begin(tree.Cast, r, i)
	l.Need(tree.RoleType, i, typ)
	l.Need(tree.RoleValue, i, operand)
	l.Close()
}

// lowerFunctionName lowers the name of a function that the grammar takes for a type.
// The grammar has parsed the name as a type, so that the nodes have other kinds.
func lowerFunctionName(l *lang.Lowering, r tree.Role, i int32) {
	switch l.Kind(i) {
	case "type_identifier":
		l.Same(tree.Name, r, i)
	case "qualified_type":
		l.BeginText(tree.Member, r, ".", i)
		l.Need(tree.RoleObject, i, l.Field(i, "package"))
		if name := l.Field(i, "name"); name >= 0 {
			l.Same(tree.Name, tree.RoleProperty, name)
		}
		l.Close()
	default:
		l.Node(r, i)
	}
}

// lowerCall lowers a call; type arguments are left out. The first argument of new and
// make is a type. What looks like a call of (*T) is a conversion.
func lowerCall(l *lang.Lowering, r tree.Role, i int32) {
	callee, arguments := l.Field(i, "function"), l.Field(i, "arguments")
	// (*T)(p) is a conversion: the parentheses around the pointer type are required by the
	// specification.
	if pointer := pointerType(l, callee); pointer >= 0 && l.First(arguments) >= 0 {
		l.Begin(tree.Cast, r, i)
		l.BeginText(tree.Type, tree.RoleType, "*", callee)
		l.Put(tree.Type, tree.RoleElement, l.Source(pointer), pointer)
		l.Close()
		l.Node(tree.RoleValue, l.First(arguments))
		l.Close()
		return
	}
	l.Begin(tree.Call, r, i)
	l.Need(tree.RoleCallee, i, callee)
	l.Node(tree.RoleArgument, arguments)
	l.Close()
}

// pointerType returns T of the callee (*T), -1 for another one.
func pointerType(l *lang.Lowering, callee int32) int32 {
	if l.Kind(callee) != "parenthesized_expression" {
		return -1
	}
	u := l.First(callee)
	if l.Kind(u) != "unary_expression" || l.Source(l.Field(u, "operator")) != "*" {
		return -1
	}
	operand := l.Field(u, "operand")
	// T or pkg.T.
	if k := l.Kind(operand); k == "identifier" || k == "selector_expression" &&
		l.Kind(l.Field(operand, "operand")) == "identifier" {
		return operand
	}
	return -1
}

// lowerComposite lowers T{…}. An element with a key is a Pair, or a Keyword where the key
// may be the name of a field.
// {a: 1} in T{a: 1} may be the field a or the variable a as a key. Maps, slices and arrays can
// only have keys.
func lowerComposite(l *lang.Lowering, r tree.Role, i int32) {
	l.BeginText(tree.New, r, "{}", i)
	typ := l.Field(i, "type")
	l.Need(tree.RoleType, i, typ)
	lowerElements(l, l.Field(i, "body"), typ)
	l.Close()
}

// lowerElements lowers the elements of a literal of the concrete type, -1 when it is not
// known.
func lowerElements(l *lang.Lowering, body, typ int32) {
	if body < 0 {
		return
	}
	// The element types give a type to elements in braces alone: []T{{1}, {2}}.
	key, value := elementTypes(l, typ)
	for e := range l.Children(body) {
		if l.Kind(e) != "keyed_element" {
			lowerElement(l, tree.RoleArgument, e, value)
			continue
		}
		k := l.Field(e, "key")
		inner := l.First(k)
		// A Keyword lets rules match a field by its name, in any order.
		if name := l.Kind(inner) == "identifier"; name && mayNameFields(l, typ) {
			l.Begin(tree.Keyword, tree.RoleArgument, e)
			l.Node(tree.RoleName, inner)
		} else {
			l.Begin(tree.Pair, tree.RoleArgument, e)
			lowerElement(l, tree.RoleKey, k, key)
		}
		lowerElement(l, tree.RoleValue, l.Field(e, "value"), value)
		l.Close()
	}
}

// mayNameFields reports whether keys of a literal of the type may be names of fields:
// all but those of maps, slices and arrays.
func mayNameFields(l *lang.Lowering, typ int32) bool {
	switch l.Kind(typ) {
	case "map_type", "slice_type", "array_type", "implicit_length_array_type":
		return false
	}
	return true
}

// elementTypes returns the types of keys and elements, -1 when they are not known.
func elementTypes(l *lang.Lowering, typ int32) (key, value int32) {
	switch l.Kind(typ) {
	case "map_type":
		return l.Field(typ, "key"), l.Field(typ, "value")
	case "slice_type", "array_type", "implicit_length_array_type":
		return -1, l.Field(typ, "element")
	}
	return -1, -1
}

// lowerElement lowers an element of a literal. One in braces alone is a literal of the
// type, or of the type that it points to.
// []*T{{…}} takes the address of each literal implicitly.
func lowerElement(l *lang.Lowering, r tree.Role, i, typ int32) {
	if l.Kind(i) == "literal_element" {
		i = l.First(i)
	}
	// Any expression that is not a literal in braces stands for itself.
	if l.Kind(i) != "literal_value" || l.TooDeep() {
		if i >= 0 {
			l.Node(r, i)
		}
		return
	}
	if l.Kind(typ) == "pointer_type" {
		typ = l.First(typ)
	}
	l.BeginText(tree.New, r, "{}", i)
	start, _ := l.Range(i)
	// The type is implied: it is named at the outer literal only.
	if name := l.Kind(typ); name == "type_identifier" || name == "qualified_type" {
		l.Flag(l.Leaf(tree.Type, tree.RoleType, l.Source(typ), start, start), tree.Implied)
	} else if typ >= 0 {
		l.Node(tree.RoleType, typ)
	} else {
		l.Flag(l.Leaf(tree.Type, tree.RoleType, "", start, start), tree.Implied)
	}
	lowerElements(l, i, typ)
	l.Close()
}

// lowerKeyed lowers a pair that stands for itself, in a pattern.
// A pattern such as "..., $K: $V, ..." has a pair without a literal around it.
func lowerKeyed(l *lang.Lowering, r tree.Role, i int32) {
	l.Begin(tree.Pair, r, i)
	lowerElement(l, tree.RoleKey, l.Field(i, "key"), -1)
	lowerElement(l, tree.RoleValue, l.Field(i, "value"), -1)
	l.Close()
}

// lowerLambda lowers a function literal.
func lowerLambda(l *lang.Lowering, r tree.Role, i int32) {
	l.Begin(tree.Lambda, r, i)
	l.Part(tree.RoleParameter, i, "parameters")
	lowerResult(l, i)
	l.Need(tree.RoleBody, i, l.Field(i, "body"))
	l.Close()
}
