package c

import (
	"strings"

	"merlon/internal/engine/sast/lang"
	"merlon/internal/engine/sast/tree"
)

// lowerQualified lowers "a::b" to Members; as a type it is a Type.
func lowerQualified(l *lang.Lowering, r tree.Role, i int32) {
	var parts []int32
	for c := i; c >= 0; {
		if l.Kind(c) == "nested_namespace_specifier" {
			inner := int32(-1)
			for part := range l.Children(c) {
				if l.Kind(part) == "nested_namespace_specifier" {
					inner = part
				} else {
					parts = append(parts, part)
				}
			}
			c = inner
			continue
		}
		if l.Kind(c) != "qualified_identifier" {
			parts = append(parts, c)
			break
		}
		if scope := l.Field(c, "scope"); scope >= 0 {
			parts = append(parts, scope)
		}
		c = l.Field(c, "name")
	}
	if len(parts) == 0 || len(parts) > maxParts {
		l.Lost(r, i)
		return
	}
	lowerMembers(l, r, parts)
}

// maxParts bounds a qualified name.
const maxParts = 200

// lowerMembers chains the parts of "a::b::c" as Members, from the left.
func lowerMembers(l *lang.Lowering, r tree.Role, parts []int32) {
	last := parts[len(parts)-1]
	if len(parts) == 1 {
		lowerPart(l, r, last)
		return
	}
	start, _ := l.Range(parts[0])
	_, end := l.Range(last)
	m := l.Open(tree.Member, r, start, end)
	l.File.Nodes[m].Text = "::"
	lowerMembers(l, tree.RoleObject, parts[:len(parts)-1])
	lowerPart(l, tree.RoleProperty, last)
	l.Close()
}

// lowerPart lowers one part of a qualified name: names of types are names here.
func lowerPart(l *lang.Lowering, r tree.Role, i int32) {
	switch l.Kind(i) {
	case "type_identifier":
		l.Same(tree.Name, r, i)
	case "template_type":
		l.Put(tree.Name, r, l.Source(l.Field(i, "name")), i)
	default:
		l.Node(r, i)
	}
}

// lowerTemplateName lowers "f<int>": the Name.
func lowerTemplateName(l *lang.Lowering, r tree.Role, i int32) {
	l.Put(tree.Name, r, l.Source(l.Field(i, "name")), i)
}

// operatorRule returns the rule for an operation on the fields left and right.
func operatorRule(k tree.Kind, left, right tree.Role) lang.Rule {
	return func(l *lang.Lowering, r tree.Role, i int32) {
		l.BeginText(k, r, l.Source(l.Field(i, "operator")), i)
		l.Need(left, i, l.Field(i, "left"))
		l.Need(right, i, l.Field(i, "right"))
		l.Close()
	}
}

// lowerUnary lowers the operators with one operand, "*p" and "&x" included.
func lowerUnary(l *lang.Lowering, r tree.Role, i int32) {
	l.BeginText(tree.Unary, r, l.Source(l.Field(i, "operator")), i)
	l.Need(tree.RoleValue, i, l.Field(i, "argument"))
	l.Close()
}

// lowerUpdate lowers "i++" and "--i"; the former yields the old value.
func lowerUpdate(l *lang.Lowering, r tree.Role, i int32) {
	op, argument := l.Field(i, "operator"), l.Field(i, "argument")
	n := l.BeginText(tree.Update, r, l.Source(op), i)
	if op > argument {
		l.Flag(n, tree.Postfix)
	}
	l.Need(tree.RoleValue, i, argument)
	l.Close()
}

// lowerConditional lowers "a ? b : c"; "a ?: c" has the condition as value, too.
func lowerConditional(l *lang.Lowering, r tree.Role, i int32) {
	l.Begin(tree.Conditional, r, i)
	test, then := l.Field(i, "condition"), l.Field(i, "consequence")
	l.Need(tree.RoleCondition, i, test)
	if then < 0 {
		then = test
	}
	l.Need(tree.RoleThen, i, then)
	l.Need(tree.RoleElse, i, l.Field(i, "alternative"))
	l.Close()
}

// lowerComma lowers "a, b, c" to one Sequence.
func lowerComma(l *lang.Lowering, r tree.Role, i int32) {
	l.Begin(tree.Sequence, r, i)
	for l.Kind(i) == "comma_expression" {
		l.Part(tree.RoleElement, i, "left")
		i = l.Field(i, "right")
	}
	l.Node(tree.RoleElement, i)
	l.Close()
}

// lowerCast lowers "(T)x". The cast of a typed metavariable is that.
func lowerCast(l *lang.Lowering, r tree.Role, i int32) {
	value := l.Field(i, "value")
	if l.Kind(value) == "call_expression" && l.Source(l.Field(value, "function")) == lang.TypedName {
		l.Begin(tree.Call, r, i)
		l.Part(tree.RoleCallee, value, "function")
		l.Part(tree.RoleArgument, i, "type")
		l.Nodes(tree.RoleArgument, l.Field(value, "arguments"))
		l.Close()
		return
	}
	l.Begin(tree.Cast, r, i)
	l.Need(tree.RoleType, i, l.Field(i, "type"))
	l.Need(tree.RoleValue, i, value)
	l.Close()
}

// lowerCall lowers a call; "static_cast<T>(x)" and the like are Casts, "int(x)" is one
// too.
func lowerCall(l *lang.Lowering, r tree.Role, i int32) {
	callee, arguments := l.Field(i, "function"), l.Field(i, "arguments")
	name := l.Source(l.Field(callee, "name"))
	if l.Kind(callee) == "template_function" && strings.HasSuffix(name, "_cast") && l.First(arguments) >= 0 {
		l.BeginText(tree.Cast, r, name, i)
		l.Need(tree.RoleType, i, l.First(l.Field(callee, "arguments")))
		l.Need(tree.RoleValue, i, l.First(arguments))
		l.Close()
		return
	}
	l.Begin(tree.Call, r, i)
	if l.Kind(callee) == "primitive_type" {
		l.Same(tree.Name, tree.RoleCallee, callee)
	} else {
		l.Need(tree.RoleCallee, i, callee)
	}
	l.Nodes(tree.RoleArgument, arguments)
	l.Close()
}

// lowerMember lowers "a.b" and "a->b": the operator stays as text, because only the latter
// follows a pointer.
func lowerMember(l *lang.Lowering, r tree.Role, i int32) {
	l.BeginText(tree.Member, r, l.Source(l.Field(i, "operator")), i)
	l.Need(tree.RoleObject, i, l.Field(i, "argument"))
	l.Need(tree.RoleProperty, i, l.Field(i, "field"))
	l.Close()
}

// lowerSubscript lowers "a[b]", whose index is a field in C and a list in C++.
func lowerSubscript(l *lang.Lowering, r tree.Role, i int32) {
	l.Begin(tree.Index, r, i)
	l.Need(tree.RoleObject, i, l.Field(i, "argument"))
	l.Part(tree.RoleIndex, i, "index")
	if list := l.Field(i, "indices"); list >= 0 {
		l.Nodes(tree.RoleIndex, list)
	}
	l.Close()
}

// typeCallRule returns the rule for sizeof and the like.
func typeCallRule(name string) lang.Rule {
	return func(l *lang.Lowering, r tree.Role, i int32) {
		l.Begin(tree.Call, r, i)
		start, _ := l.Range(i)
		l.Leaf(tree.Name, tree.RoleCallee, name, start, start+uint32(len(name)))
		l.Nodes(tree.RoleArgument, i)
		l.Close()
	}
}

// lowerNewExpression lowers "new T(a)" and "new T[n]".
func lowerNewExpression(l *lang.Lowering, r tree.Role, i int32) {
	l.BeginText(tree.New, r, "new", i)
	specifier := l.Field(i, "type")
	switch length := l.Field(i, "declarator"); {
	case specifier < 0:
		l.Lost(tree.RoleType, i)
	case length >= 0:
		l.BeginText(tree.Type, tree.RoleType, "[]", specifier)
		lowerTypeName(l, tree.RoleElement, specifier)
		l.Part(tree.RoleArgument, length, "length")
		l.Close()
	default:
		lowerTypeName(l, tree.RoleType, specifier)
	}
	l.Nodes(tree.RoleArgument, l.Field(i, "arguments"))
	l.Close()
}

// lowerLambda lowers "[captures](parameters) { … }". Captures are not listed: the names are
// those of the function around it.
func lowerLambda(l *lang.Lowering, r tree.Role, i int32) {
	l.Begin(tree.Lambda, r, i)
	d := l.Field(i, "declarator")
	if list := l.Field(d, "parameters"); list >= 0 {
		lowerParameters(l, list)
	}
	if result := l.Find(d, "trailing_return_type"); result >= 0 {
		l.Node(tree.RoleReturnType, l.First(result))
	}
	l.Need(tree.RoleBody, i, l.Field(i, "body"))
	l.Close()
}

// lowerCompoundLiteral lowers "(T){a, .b = c}" and "T{a}".
func lowerCompoundLiteral(l *lang.Lowering, r tree.Role, i int32) {
	l.BeginText(tree.New, r, "{}", i)
	switch specifier := l.Field(i, "type"); l.Kind(specifier) {
	case "":
		l.Lost(tree.RoleType, i)
	case "type_descriptor":
		l.Node(tree.RoleType, specifier)
	default:
		lowerTypeName(l, tree.RoleType, specifier)
	}
	l.Nodes(tree.RoleArgument, l.Field(i, "value"))
	l.Close()
}

// lowerInitializerPair lowers ".a = 1" and "[1] = 2"; the name of a member is a String.
func lowerInitializerPair(l *lang.Lowering, r tree.Role, i int32) {
	key := l.Field(i, "designator")
	l.Begin(tree.Pair, r, i)
	if inner := l.First(key); l.Kind(key) == "field_designator" && inner >= 0 && !lang.Holder(l.Source(inner)) {
		l.Same(tree.String, tree.RoleKey, inner)
	} else {
		l.Need(tree.RoleKey, i, key)
	}
	l.Need(tree.RoleValue, i, l.Field(i, "value"))
	l.Close()
}
