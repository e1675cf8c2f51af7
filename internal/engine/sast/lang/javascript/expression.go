package javascript

import (
	"merlon/internal/engine/sast/lang"
	"merlon/internal/engine/sast/tree"
)

// expressions are the rules for what has a value.
var expressions = map[string]lang.Rule{
	"identifier":                  lowerName,
	"property_identifier":         lowerName,
	"private_property_identifier": lowerName,
	"type_identifier":             lowerTypeName,
	"nested_identifier": lang.Slots(tree.Member, ".",
		lang.Slot{Role: tree.RoleObject, Field: "object"}, lang.Slot{Role: tree.RoleProperty, Field: "property"}),
	"shorthand_property_identifier":         lowerShorthand,
	"shorthand_property_identifier_pattern": lowerShorthand,
	"import":                                lang.Leaf(tree.Name, "import"),
	"this":                                  lang.Leaf(tree.This, ""),
	"super":                                 lang.Leaf(tree.Super, ""),
	"meta_property":                         lowerMetaProperty,
	"call_expression":                       lowerCall,
	"new_expression":                        lowerNewExpression,
	"member_expression":                     lowerMember,
	"subscript_expression":                  lowerIndex,
	"parenthesized_expression":              lowerParenthesized,
	"non_null_expression":                   lang.Inner,
	"instantiation_expression":              lang.Inner,
	"as_expression":                         lowerCast,
	"satisfies_expression":                  lowerCast,
	"type_assertion":                        lowerTypeAssertion,
	"assignment_expression": lang.Slots(tree.Assign, "=", lang.Slot{Role: tree.RoleTarget, Field: "left"},
		lang.Slot{Role: tree.RoleValue, Field: "right"}),
	"assignment_pattern": lang.Slots(tree.Assign, "=", lang.Slot{Role: tree.RoleTarget, Field: "left"},
		lang.Slot{Role: tree.RoleValue, Field: "right"}),
	"augmented_assignment_expression": operationRule(tree.Assign, tree.RoleTarget, "left", tree.RoleValue, "right"),
	"binary_expression":               lowerBinary,
	"unary_expression":                operationRule(tree.Unary, tree.RoleValue, "argument", tree.RoleNone, ""),
	"update_expression":               lowerUpdate,
	"ternary_expression": lang.Slots(tree.Conditional, "", lang.Slot{Role: tree.RoleCondition, Field: "condition"},
		lang.Slot{Role: tree.RoleThen, Field: "consequence"}, lang.Slot{Role: tree.RoleElse, Field: "alternative"}),
	"sequence_expression": lang.Around(tree.Sequence, "", tree.RoleElement),
	"await_expression":    lang.Slots(tree.Await, "", lang.Slot{Role: tree.RoleValue}),
	"yield_expression":    lowerYield,
	"spread_element":      lang.Slots(tree.Spread, "...", lang.Slot{Role: tree.RoleValue}),
	"rest_pattern":        lang.Slots(tree.Spread, "...", lang.Slot{Role: tree.RoleValue}),
}

// lowerName lowers an identifier, with the escapes that it may hold resolved.
func lowerName(l *lang.Lowering, r tree.Role, i int32) {
	l.Put(tree.Name, r, unescapeIdentifier(l.Source(i)), i)
}

// lowerTypeName lowers a name in the place of a type; that of a declaration is a Name.
func lowerTypeName(l *lang.Lowering, r tree.Role, i int32) {
	k := tree.Type
	if r == tree.RoleName || r == tree.RoleAlias {
		k = tree.Name
	}
	l.Put(k, r, unescapeIdentifier(l.Source(i)), i)
}

// lowerMetaProperty lowers new.target and import.meta.
func lowerMetaProperty(l *lang.Lowering, r tree.Role, i int32) {
	start, end := l.Range(i)
	object, property := "new", "target"
	if l.Source(i)[0] == 'i' {
		object, property = "import", "meta"
	}
	l.BeginText(tree.Member, r, ".", i)
	l.Leaf(tree.Name, tree.RoleObject, object, start, start+uint32(len(object)))
	l.Leaf(tree.Name, tree.RoleProperty, property, end-uint32(len(property)), end)
	l.Close()
}

// lowerCall lowers a call and a tagged template.
func lowerCall(l *lang.Lowering, r tree.Role, i int32) {
	n := l.Begin(tree.Call, r, i)
	if l.Has(i, "optional_chain") || l.Has(i, "?.") {
		l.Flag(n, tree.Optional)
	}
	l.Need(tree.RoleCallee, i, l.Field(i, "function"))
	if arguments := l.Field(i, "arguments"); l.Kind(arguments) == "template_string" {
		l.File.Nodes[n].Text = "tag"
		l.Node(tree.RoleArgument, arguments)
	} else {
		l.Nodes(tree.RoleArgument, arguments)
	}
	l.Close()
}

// lowerNewExpression lowers "new T(a)" and "new T".
func lowerNewExpression(l *lang.Lowering, r tree.Role, i int32) {
	l.BeginText(tree.New, r, "new", i)
	l.Need(tree.RoleType, i, l.Field(i, "constructor"))
	l.Nodes(tree.RoleArgument, l.Field(i, "arguments"))
	l.Close()
}

// lowerMember lowers "a.b", "a?.b" and "a.#b".
func lowerMember(l *lang.Lowering, r tree.Role, i int32) {
	n := l.BeginText(tree.Member, r, ".", i)
	if l.Has(i, "optional_chain") || l.Has(i, "?.") {
		l.Flag(n, tree.Optional)
	}
	l.Need(tree.RoleObject, i, l.Field(i, "object"))
	l.Part(tree.RoleProperty, i, "property")
	l.Close()
}

// lowerIndex lowers "a[b]" and "a?.[b]".
func lowerIndex(l *lang.Lowering, r tree.Role, i int32) {
	n := l.Begin(tree.Index, r, i)
	if l.Has(i, "optional_chain") || l.Has(i, "?.") {
		l.Flag(n, tree.Optional)
	}
	l.Need(tree.RoleObject, i, l.Field(i, "object"))
	l.Part(tree.RoleIndex, i, "index")
	l.Close()
}

// lowerParenthesized lowers "(e)" to e, and "(e: T)", which only patterns have, to what
// stands for a typed metavariable.
func lowerParenthesized(l *lang.Lowering, r tree.Role, i int32) {
	t := l.Field(i, "type")
	if t < 0 {
		lang.Inner(l, r, i)
		return
	}
	l.Begin(tree.Call, r, i)
	l.Put(tree.Name, tree.RoleCallee, lang.TypedName, i)
	l.Node(tree.RoleArgument, t)
	l.Need(tree.RoleArgument, i, l.First(i))
	l.Close()
}

// lowerCast lowers "e as T" and "e satisfies T".
func lowerCast(l *lang.Lowering, r tree.Role, i int32) {
	text, value, to := "as", l.First(i), int32(-1)
	if l.Has(i, "satisfies") {
		text = "satisfies"
	}
	for c := range l.Every(i) {
		if c != value && (l.Named(c) && !l.Extra(c) || l.Kind(c) == "const") {
			to = c
		}
	}
	l.BeginText(tree.Cast, r, text, i)
	if l.Kind(to) == "const" {
		l.Put(tree.Type, tree.RoleType, "const", to)
	} else {
		l.Need(tree.RoleType, i, to)
	}
	l.Need(tree.RoleValue, i, value)
	l.Close()
}

// lowerTypeAssertion lowers "<T>e".
func lowerTypeAssertion(l *lang.Lowering, r tree.Role, i int32) {
	to, value := int32(-1), int32(-1)
	for c := range l.Children(i) {
		if l.Kind(c) == "type_arguments" {
			to = l.First(c)
		} else {
			value = c
		}
	}
	l.Begin(tree.Cast, r, i)
	l.Need(tree.RoleType, i, to)
	l.Need(tree.RoleValue, i, value)
	l.Close()
}

// operationRule returns the rule for a node whose text is its operator.
func operationRule(k tree.Kind, left tree.Role, leftField string, right tree.Role, rightField string) lang.Rule {
	return func(l *lang.Lowering, r tree.Role, i int32) {
		l.BeginText(k, r, l.Source(l.Field(i, "operator")), i)
		l.Need(left, i, l.Field(i, leftField))
		if rightField != "" {
			l.Need(right, i, l.Field(i, rightField))
		}
		l.Close()
	}
}

// lowerBinary lowers an operation; "a instanceof T" is a TypeTest.
func lowerBinary(l *lang.Lowering, r tree.Role, i int32) {
	operator := l.Source(l.Field(i, "operator"))
	if operator == ">" && genericCall(l, r, i) {
		return
	}
	k, left, right := tree.Binary, tree.RoleLeft, tree.RoleRight
	if operator == "instanceof" {
		k, left, right = tree.TypeTest, tree.RoleValue, tree.RoleType
	}
	l.BeginText(k, r, operator, i)
	l.Need(left, i, l.Field(i, "left"))
	l.Need(right, i, l.Field(i, "right"))
	l.Close()
}

// genericCall lowers "f<T>(x)", which the grammar of JavaScript takes for two
// comparisons: sources with types are found under its names of files, too.
func genericCall(l *lang.Lowering, r tree.Role, i int32) bool {
	left, right := l.Field(i, "left"), l.Field(i, "right")
	if l.Kind(left) != "binary_expression" || l.Source(l.Field(left, "operator")) != "<" ||
		l.Kind(right) != "parenthesized_expression" {
		return false
	}
	l.Begin(tree.Call, r, i)
	l.Need(tree.RoleCallee, i, l.Field(left, "left"))
	for c := range l.Children(right) {
		lowerParts(l, tree.RoleArgument, c)
	}
	l.Close()
	return true
}

// lowerUpdate lowers "i++" and "--i"; the former yields the old value.
func lowerUpdate(l *lang.Lowering, r tree.Role, i int32) {
	operator, argument := l.Field(i, "operator"), l.Field(i, "argument")
	n := l.BeginText(tree.Update, r, l.Source(operator), i)
	if operator > argument {
		l.Flag(n, tree.Postfix)
	}
	l.Need(tree.RoleValue, i, argument)
	l.Close()
}

// lowerYield lowers "yield a" and "yield* a".
func lowerYield(l *lang.Lowering, r tree.Role, i int32) {
	text := ""
	if l.Has(i, "*") {
		text = "*"
	}
	l.BeginText(tree.Yield, r, text, i)
	l.Nodes(tree.RoleValue, i)
	l.Close()
}
