package java

import (
	"merlon/internal/engine/sast/lang"
	"merlon/internal/engine/sast/tree"
)

var expressionRules = map[string]lang.Rule{
	"identifier":         lang.Same(tree.Name),
	"underscore_pattern": lang.Same(tree.Name),
	"scoped_identifier": lang.Slots(tree.Member, ".",
		lang.Slot{Role: tree.RoleObject, Field: "scope"}, lang.Slot{Role: tree.RoleProperty, Field: "name"}),
	"this":  lang.Leaf(tree.This, ""),
	"super": lang.Leaf(tree.Super, ""),

	"decimal_integer_literal":        number,
	"hex_integer_literal":            number,
	"octal_integer_literal":          number,
	"binary_integer_literal":         number,
	"decimal_floating_point_literal": number,
	"hex_floating_point_literal":     number,
	"true":                           lang.Leaf(tree.Bool, "true"),
	"false":                          lang.Leaf(tree.Bool, "false"),
	"null_literal":                   lang.Leaf(tree.Null, "null"),
	"character_literal":              character,
	"string_literal":                 stringLiteral,
	"string_interpolation":           lang.Inner,
	"template_expression":            template,

	"parenthesized_expression": lang.Inner,
	"assignment_expression":    assignment,
	"binary_expression":        binary,
	"unary_expression":         unary,
	"update_expression":        update,
	"ternary_expression": lang.Slots(tree.Conditional, "",
		lang.Slot{Role: tree.RoleCondition, Field: "condition"},
		lang.Slot{Role: tree.RoleThen, Field: "consequence"},
		lang.Slot{Role: tree.RoleElse, Field: "alternative"}),
	"cast_expression":       cast,
	"instanceof_expression": typeTest,
	"lambda_expression":     lambda,

	"field_access":      fieldAccess,
	"class_literal":     classLiteral,
	"method_reference":  methodReference,
	"method_invocation": call,
	"argument_list":     children,
	"array_access": lang.Slots(tree.Index, "", lang.Slot{Role: tree.RoleObject, Field: "array"},
		lang.Slot{Role: tree.RoleIndex, Field: "index"}),
	"array_initializer":          lang.Around(tree.List, "", tree.RoleElement),
	"object_creation_expression": newObject,
	"array_creation_expression":  newArray,
	"dimensions_expr":            dimension,
}

func number(l *lang.Lowering, r tree.Role, i int32) {
	suffixes := "lLfFdD"
	l.Put(tree.Number, r, lang.NumberText(l.Source(i), suffixes), i)
}

func assignment(l *lang.Lowering, r tree.Role, i int32) {
	l.BeginText(tree.Assign, r, l.Source(l.Field(i, "operator")), i)
	l.Need(tree.RoleTarget, i, l.Field(i, "left"))
	l.Need(tree.RoleValue, i, l.Field(i, "right"))
	l.Close()
}

func binary(l *lang.Lowering, r tree.Role, i int32) {
	l.BeginText(tree.Binary, r, l.Source(l.Field(i, "operator")), i)
	l.Need(tree.RoleLeft, i, l.Field(i, "left"))
	l.Need(tree.RoleRight, i, l.Field(i, "right"))
	l.Close()
}

func unary(l *lang.Lowering, r tree.Role, i int32) {
	l.BeginText(tree.Unary, r, l.Source(l.Field(i, "operator")), i)
	l.Need(tree.RoleValue, i, l.Field(i, "operand"))
	l.Close()
}

func update(l *lang.Lowering, r tree.Role, i int32) {
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

// cast lowers a cast; one to several types is to their intersection, "&".
func cast(l *lang.Lowering, r tree.Role, i int32) {
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

func typeTest(l *lang.Lowering, r tree.Role, i int32) {
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

func lambda(l *lang.Lowering, r tree.Role, i int32) {
	l.Begin(tree.Lambda, r, i)
	switch parameters := l.Field(i, "parameters"); l.Kind(parameters) {
	case "formal_parameters":
		l.Node(tree.RoleParameter, parameters)
	case "inferred_parameters":
		for c := range l.Children(parameters) {
			inferredParameter(l, c)
		}
	case "identifier":
		inferredParameter(l, parameters)
	}
	l.Need(tree.RoleBody, i, l.Field(i, "body"))
	l.Close()
}

func inferredParameter(l *lang.Lowering, i int32) {
	l.Begin(tree.Parameter, tree.RoleParameter, i)
	l.Node(tree.RoleTarget, i)
	l.Close()
}

// fieldAccess lowers "a.b"; "A.this" and "A.super.b" are the receiver of an
// enclosing class and the superclass' part of it, with the class as text.
func fieldAccess(l *lang.Lowering, r tree.Role, i int32) {
	object, field := l.Field(i, "object"), l.Field(i, "field")
	if l.Kind(field) == "this" {
		l.Put(tree.This, r, l.Source(object), i)
		return
	}
	l.BeginText(tree.Member, r, ".", i)
	receiver(l, i, object)
	l.Need(tree.RoleProperty, i, field)
	l.Close()
}

// receiver lowers the object of a member; in "A.super.b" that is a Super.
func receiver(l *lang.Lowering, i, object int32) {
	for c := range l.Children(i) {
		if l.Kind(c) == "super" && c != object && object >= 0 {
			_, end := l.Range(c)
			l.Leaf(tree.Super, tree.RoleObject, l.Source(object), l.CST.Nodes[object].Start, end)
			return
		}
	}
	l.Need(tree.RoleObject, i, object)
}

func classLiteral(l *lang.Lowering, r tree.Role, i int32) {
	l.BeginText(tree.Member, r, ".", i)
	l.Need(tree.RoleObject, i, l.First(i))
	if word := l.Find(i, "class"); word >= 0 {
		l.Same(tree.Name, tree.RoleProperty, word)
	}
	l.Close()
}

// methodReference lowers "a::b" and "A::new"; type arguments are left out.
func methodReference(l *lang.Lowering, r tree.Role, i int32) {
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

// call lowers a call. Its explicit type arguments say nothing that a rule or the
// flow of data could use, and are left out.
func call(l *lang.Lowering, r tree.Role, i int32) {
	l.Begin(tree.Call, r, i)
	object, name := l.Field(i, "object"), l.Field(i, "name")
	if object < 0 || name < 0 {
		l.Need(tree.RoleCallee, i, name)
	} else {
		m := l.Open(tree.Member, tree.RoleCallee, l.CST.Nodes[i].Start, l.CST.Nodes[name].End)
		l.File.Nodes[m].Text = "."
		receiver(l, i, object)
		l.Node(tree.RoleProperty, name)
		l.Close()
	}
	l.Part(tree.RoleArgument, i, "arguments")
	l.Close()
}

// newObject lowers "new T(…)"; the object of "a.new T(…)" comes first.
func newObject(l *lang.Lowering, r tree.Role, i int32) {
	l.BeginText(tree.New, r, "new", i)
	if first := l.First(i); first >= 0 && l.CST.Nodes[first].Start == l.CST.Nodes[i].Start {
		l.Node(tree.RoleObject, first)
	}
	l.Need(tree.RoleType, i, l.Field(i, "type"))
	l.Part(tree.RoleArgument, i, "arguments")
	l.Node(tree.RoleBody, l.Find(i, "class_body"))
	l.Close()
}

// newArray lowers "new T[n]", whose arguments are the lengths, and "new T[]{…}",
// whose arguments are the elements.
func newArray(l *lang.Lowering, r tree.Role, i int32) {
	value, depth := l.Field(i, "value"), 0
	for d := range l.Fields(i, "dimensions") {
		if l.Kind(d) == "dimensions" {
			depth += brackets(l, d)
		} else {
			depth++
		}
	}
	text := "new"
	if value >= 0 {
		text = "{}"
	}
	l.BeginText(tree.New, r, text, i)
	nestedArray(l, tree.RoleType, l.Field(i, "type"), depth)
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

// dimension lowers the length in "[n]".
func dimension(l *lang.Lowering, r tree.Role, i int32) {
	for c := range l.Children(i) {
		if k := l.Kind(c); k != "annotation" && k != "marker_annotation" {
			l.Node(r, c)
			return
		}
	}
	l.Need(r, i, -1)
}

// template lowers STR."…", a call of the processor.
func template(l *lang.Lowering, r tree.Role, i int32) {
	l.BeginText(tree.Call, r, "tag", i)
	l.Need(tree.RoleCallee, i, l.Field(i, "template_processor"))
	l.Part(tree.RoleArgument, i, "template_argument")
	l.Close()
}
