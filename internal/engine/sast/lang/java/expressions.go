package java

import (
	"merlon/internal/engine/sast/lang"
	"merlon/internal/engine/sast/tree"
)

// expressionRules are the rules for what has a value.
var expressionRules = map[string]lang.Rule{
	"identifier":         lang.Same(tree.Name),
	"underscore_pattern": lang.Same(tree.Name),
	"scoped_identifier": lang.Slots(tree.Member, ".",
		lang.Slot{Role: tree.RoleObject, Field: "scope"}, lang.Slot{Role: tree.RoleProperty, Field: "name"}),
	"this":  lang.Leaf(tree.This, ""),
	"super": lang.Leaf(tree.Super, ""),

	"decimal_integer_literal":        lowerNumber,
	"hex_integer_literal":            lowerNumber,
	"octal_integer_literal":          lowerNumber,
	"binary_integer_literal":         lowerNumber,
	"decimal_floating_point_literal": lowerNumber,
	"hex_floating_point_literal":     lowerNumber,
	"true":                           lang.Leaf(tree.Bool, "true"),
	"false":                          lang.Leaf(tree.Bool, "false"),
	"null_literal":                   lang.Leaf(tree.Null, "null"),
	"character_literal":              lowerCharacter,
	"string_literal":                 lowerStringLiteral,
	"string_interpolation":           lang.Inner,
	"template_expression":            lowerTemplate,

	"parenthesized_expression": lang.Inner,
	"assignment_expression":    lowerAssignment,
	"binary_expression":        lowerBinary,
	"unary_expression":         lowerUnary,
	"update_expression":        lowerUpdate,
	"ternary_expression": lang.Slots(tree.Conditional, "",
		lang.Slot{Role: tree.RoleCondition, Field: "condition"},
		lang.Slot{Role: tree.RoleThen, Field: "consequence"},
		lang.Slot{Role: tree.RoleElse, Field: "alternative"}),
	"cast_expression":       lowerCast,
	"instanceof_expression": lowerTypeTest,
	"lambda_expression":     lowerLambda,

	"field_access":      lowerFieldAccess,
	"class_literal":     lowerClassLiteral,
	"method_reference":  lowerMethodReference,
	"method_invocation": lowerCall,
	"argument_list":     lowerChildren,
	"array_access": lang.Slots(tree.Index, "", lang.Slot{Role: tree.RoleObject, Field: "array"},
		lang.Slot{Role: tree.RoleIndex, Field: "index"}),
	"array_initializer":          lang.Around(tree.List, "", tree.RoleElement),
	"object_creation_expression": lowerNewObject,
	"array_creation_expression":  lowerNewArray,
	"dimensions_expr":            lowerDimension,
}

// lowerNumber lowers a number without its separators and its suffix.
func lowerNumber(l *lang.Lowering, r tree.Role, i int32) {
	suffixes := "lLfFdD"
	l.Put(tree.Number, r, lang.NumberText(l.Source(i), suffixes), i)
}

// lowerAssignment lowers "a = b" and the assignments with an operator.
func lowerAssignment(l *lang.Lowering, r tree.Role, i int32) {
	l.BeginText(tree.Assign, r, l.Source(l.Field(i, "operator")), i)
	l.Need(tree.RoleTarget, i, l.Field(i, "left"))
	l.Need(tree.RoleValue, i, l.Field(i, "right"))
	l.Close()
}

// lowerBinary lowers an operation of two operands.
func lowerBinary(l *lang.Lowering, r tree.Role, i int32) {
	l.BeginText(tree.Binary, r, l.Source(l.Field(i, "operator")), i)
	l.Need(tree.RoleLeft, i, l.Field(i, "left"))
	l.Need(tree.RoleRight, i, l.Field(i, "right"))
	l.Close()
}

// lowerUnary lowers "-a", "!a" and "~a".
func lowerUnary(l *lang.Lowering, r tree.Role, i int32) {
	l.BeginText(tree.Unary, r, l.Source(l.Field(i, "operator")), i)
	l.Need(tree.RoleValue, i, l.Field(i, "operand"))
	l.Close()
}

// lowerUpdate lowers "i++" and "--i"; the grammar tells them by the order of their
// children.
func lowerUpdate(l *lang.Lowering, r tree.Role, i int32) {
	n := l.Begin(tree.Update, r, i)
	operand := l.First(i)
	for c := range l.Every(i) {
		if !l.Named(c) {
			l.File.Nodes[n].Text = l.Source(c)
			if c > operand {
				l.Flag(n, tree.Postfix)
			}
		}
	}
	l.Need(tree.RoleValue, i, operand)
	l.Close()
}

// lowerCast lowers a cast; one to several types is to their intersection, "&".
func lowerCast(l *lang.Lowering, r tree.Role, i int32) {
	l.Begin(tree.Cast, r, i)
	first, last := int32(-1), int32(-1)
	for t := range l.Fields(i, "type") {
		if l.Named(t) {
			if first < 0 {
				first = t
			}
			last = t
		}
	}
	if first == last {
		l.Need(tree.RoleType, i, first)
	} else {
		t := l.Open(tree.Type, tree.RoleType, l.CST.Nodes[first].Start, l.CST.Nodes[last].End)
		l.File.Nodes[t].Text = "&"
		l.Parts(tree.RoleElement, i, "type")
		l.Close()
	}
	l.Need(tree.RoleValue, i, l.Field(i, "value"))
	l.Close()
}

// lowerTypeTest lowers "x instanceof T", with the name or the record pattern behind it.
func lowerTypeTest(l *lang.Lowering, r tree.Role, i int32) {
	l.BeginText(tree.TypeTest, r, "instanceof", i)
	l.Need(tree.RoleValue, i, l.Field(i, "left"))
	typ := l.Field(i, "right")
	if typ < 0 {
		typ = l.Field(i, "pattern")
	}
	l.Need(tree.RoleType, i, typ)
	l.Part(tree.RoleTarget, i, "name")
	l.Close()
}

// lowerLambda lowers "(a, b) -> e". Parameters may lack their types.
func lowerLambda(l *lang.Lowering, r tree.Role, i int32) {
	l.Begin(tree.Lambda, r, i)
	switch parameters := l.Field(i, "parameters"); l.Kind(parameters) {
	case "formal_parameters":
		l.Node(tree.RoleParameter, parameters)
	case "inferred_parameters":
		for c := range l.Children(parameters) {
			lowerInferredParameter(l, c)
		}
	case "identifier":
		lowerInferredParameter(l, parameters)
	}
	l.Need(tree.RoleBody, i, l.Field(i, "body"))
	l.Close()
}

// lowerInferredParameter adds a parameter of a lambda that has no type.
func lowerInferredParameter(l *lang.Lowering, i int32) {
	l.Begin(tree.Parameter, tree.RoleParameter, i)
	l.Node(tree.RoleTarget, i)
	l.Close()
}

// lowerFieldAccess lowers "a.b"; "A.this" and "A.super.b" are the receiver of an
// enclosing class and the superclass' part of it, with the class as text.
func lowerFieldAccess(l *lang.Lowering, r tree.Role, i int32) {
	object, field := l.Field(i, "object"), l.Field(i, "field")
	if l.Kind(field) == "this" {
		l.Put(tree.This, r, l.Source(object), i)
		return
	}
	l.BeginText(tree.Member, r, ".", i)
	lowerReceiver(l, i, object)
	l.Need(tree.RoleProperty, i, field)
	l.Close()
}

// lowerReceiver lowers the object of a member; in "A.super.b" that is a Super.
func lowerReceiver(l *lang.Lowering, i, object int32) {
	for c := range l.Children(i) {
		if l.Kind(c) == "super" && c != object && object >= 0 {
			_, end := l.Range(c)
			l.Leaf(tree.Super, tree.RoleObject, l.Source(object), l.CST.Nodes[object].Start, end)
			return
		}
	}
	l.Need(tree.RoleObject, i, object)
}

// lowerClassLiteral lowers "T.class", a Member of the type.
func lowerClassLiteral(l *lang.Lowering, r tree.Role, i int32) {
	l.BeginText(tree.Member, r, ".", i)
	l.Need(tree.RoleObject, i, l.First(i))
	if word := l.Find(i, "class"); word >= 0 {
		l.Same(tree.Name, tree.RoleProperty, word)
	}
	l.Close()
}

// lowerMethodReference lowers "a::b" and "A::new"; type arguments are left out.
func lowerMethodReference(l *lang.Lowering, r tree.Role, i int32) {
	l.BeginText(tree.Member, r, "::", i)
	l.Need(tree.RoleObject, i, l.First(i))
	last := int32(-1)
	for c := range l.Every(i) {
		if k := l.Kind(c); k == "identifier" || k == "new" {
			last = c
		}
	}
	if last >= 0 {
		l.Same(tree.Name, tree.RoleProperty, last)
	}
	l.Close()
}

// lowerCall lowers a call. Its explicit type arguments say nothing that a rule or the
// flow of data could use, and are left out.
func lowerCall(l *lang.Lowering, r tree.Role, i int32) {
	l.Begin(tree.Call, r, i)
	object, name := l.Field(i, "object"), l.Field(i, "name")
	if object < 0 || name < 0 {
		l.Need(tree.RoleCallee, i, name)
	} else {
		m := l.Open(tree.Member, tree.RoleCallee, l.CST.Nodes[i].Start, l.CST.Nodes[name].End)
		l.File.Nodes[m].Text = "."
		lowerReceiver(l, i, object)
		l.Node(tree.RoleProperty, name)
		l.Close()
	}
	l.Part(tree.RoleArgument, i, "arguments")
	l.Close()
}

// lowerNewObject lowers "new T(…)"; the object of "a.new T(…)" comes first.
func lowerNewObject(l *lang.Lowering, r tree.Role, i int32) {
	l.BeginText(tree.New, r, "new", i)
	if first := l.First(i); first >= 0 && l.CST.Nodes[first].Start == l.CST.Nodes[i].Start {
		l.Node(tree.RoleObject, first)
	}
	l.Need(tree.RoleType, i, l.Field(i, "type"))
	l.Part(tree.RoleArgument, i, "arguments")
	l.Node(tree.RoleBody, l.Find(i, "class_body"))
	l.Close()
}

// lowerNewArray lowers "new T[n]", whose arguments are the lengths, and "new T[]{…}",
// whose arguments are the elements.
func lowerNewArray(l *lang.Lowering, r tree.Role, i int32) {
	value, depth := l.Field(i, "value"), 0
	for d := range l.Fields(i, "dimensions") {
		if l.Kind(d) == "dimensions" {
			depth += countBrackets(l, d)
		} else {
			depth++
		}
	}
	text := "new"
	if value >= 0 {
		text = "{}"
	}
	l.BeginText(tree.New, r, text, i)
	lowerNestedArray(l, tree.RoleType, l.Field(i, "type"), depth)
	if value >= 0 {
		l.Nodes(tree.RoleArgument, value)
	} else {
		for d := range l.Fields(i, "dimensions") {
			if l.Kind(d) == "dimensions_expr" {
				l.Node(tree.RoleArgument, d)
			}
		}
	}
	l.Close()
}

// lowerDimension lowers the length in "[n]".
func lowerDimension(l *lang.Lowering, r tree.Role, i int32) {
	for c := range l.Children(i) {
		if k := l.Kind(c); k != "annotation" && k != "marker_annotation" {
			l.Node(r, c)
			return
		}
	}
	l.Need(r, i, -1)
}

// lowerTemplate lowers STR."…", a call of the processor.
func lowerTemplate(l *lang.Lowering, r tree.Role, i int32) {
	l.BeginText(tree.Call, r, "tag", i)
	l.Need(tree.RoleCallee, i, l.Field(i, "template_processor"))
	l.Part(tree.RoleArgument, i, "template_argument")
	l.Close()
}
