package kotlin

import (
	"strings"

	"merlon/internal/engine/sast/lang"
	"merlon/internal/engine/sast/tree"
)

var declarationRules = map[string]lang.Rule{
	"source_file":    file,
	"shebang":        lang.Skip,
	"package_header": packageHeader,
	"import":         importDeclaration,
	"annotation":     annotation,

	"class_declaration":  class,
	"object_declaration": class,
	"companion_object":   class,
	"class_body":         body,
	"enum_class_body":    body,
	"enum_entry":         enumEntry,
	"class_parameter":    classParameter,
	"type_parameters":    children,
	"type_parameter":     typeParameter,

	"function_declaration":       function,
	"anonymous_initializer":      initializer,
	"secondary_constructor":      constructor,
	"getter":                     accessor("getter"),
	"setter":                     accessor("setter"),
	"function_body":              lang.Inner,
	"type_alias":                 typeAlias,
	"property_declaration":       property,
	"variable_declaration":       variable,
	"multi_variable_declaration": lang.Around(tree.Tuple, "", tree.RoleElement),
}

func file(l *lang.Lowering, _ tree.Role, i int32) {
	l.Open(tree.FileKind, tree.RoleNone, 0, uint32(len(l.File.Source)))
	l.Nodes(tree.RoleStatement, i)
	l.Close()
}

// path returns the identifiers of a qualified name and the name.
func path(l *lang.Lowering, i int32) (parts []int32, dotted string) {
	var names []string
	for c := range l.Children(i) {
		parts = append(parts, c)
		names = append(names, strings.Trim(l.Source(c), "`"))
	}
	return parts, strings.Join(names, ".")
}

func packageHeader(l *lang.Lowering, r tree.Role, i int32) {
	parts, name := path(l, l.Find(i, "qualified_identifier"))
	l.BeginText(tree.Package, r, name, i)
	l.Chain(tree.RoleName, parts)
	l.Close()
}

func importDeclaration(l *lang.Lowering, r tree.Role, i int32) {
	parts, name := path(l, l.Find(i, "qualified_identifier"))
	l.BeginText(tree.Import, r, name, i)
	l.Chain(tree.RolePath, parts)
	if star := l.Find(i, "*"); star >= 0 {
		l.Same(tree.Name, tree.RoleName, star)
	}
	l.Node(tree.RoleAlias, identifier(l, i))
	l.Close()
}

// annotation lowers "@A(…)" and "@A", which is the same as "@A()"; several in
// brackets are one each.
func annotation(l *lang.Lowering, r tree.Role, i int32) {
	for c := range l.Children(i) {
		if l.Kind(c) == "use_site_target" {
			continue
		}
		l.Begin(tree.Annotation, r, i)
		l.Begin(tree.Call, tree.RoleValue, c)
		typ, arguments := c, int32(-1)
		if l.Kind(c) == "constructor_invocation" {
			typ, arguments = l.First(c), l.Find(c, "value_arguments")
		}
		typeAsExpression(l, tree.RoleCallee, typ)
		l.Node(tree.RoleArgument, arguments)
		l.Close()
		l.Close()
	}
}

// typeAsExpression lowers a type by its name alone, as a Name or Member.
func typeAsExpression(l *lang.Lowering, r tree.Role, i int32) {
	var parts []int32
	for c := range l.Children(i) {
		if l.Kind(c) == "identifier" {
			parts = append(parts, c)
		}
	}
	if len(parts) == 0 {
		l.Need(r, i, i)
		return
	}
	l.Chain(r, parts)
}

// classWord returns what kind of class is declared.
func classWord(l *lang.Lowering, i int32) string {
	switch {
	case l.Kind(i) != "class_declaration":
		return "object"
	case l.Has(i, "interface"):
		return "interface"
	}
	for m := range l.Children(l.Find(i, "modifiers")) {
		if word := l.Source(m); l.Kind(m) == "class_modifier" && (word == "enum" || word == "annotation") {
			return word
		}
	}
	return "class"
}

// class lowers a class, an interface or an object. What it extends and what it
// implements look the same and are all bases; arguments of the superclass'
// constructor are left out.
func class(l *lang.Lowering, r tree.Role, i int32) {
	l.BeginText(tree.Class, r, classWord(l, i), i)
	modifiers(l, l.Find(i, "modifiers"))
	if companion := l.Find(i, "companion"); companion >= 0 {
		l.Same(tree.Modifier, tree.RoleModifier, companion)
	}
	l.Part(tree.RoleName, i, "name")
	l.Node(tree.RoleTypeParameter, l.Find(i, "type_parameters"))
	if p := l.Find(i, "primary_constructor"); p >= 0 {
		l.Nodes(tree.RoleParameter, l.Find(p, "class_parameters"))
	}
	for s := range l.Children(l.Find(i, "delegation_specifiers")) {
		l.Node(tree.RoleBase, baseType(l, s))
	}
	for _, kind := range []string{"class_body", "enum_class_body"} {
		l.Node(tree.RoleBody, l.Find(i, kind))
	}
	l.Close()
}

// baseType returns the type of a delegation specifier.
func baseType(l *lang.Lowering, i int32) int32 {
	for {
		inner := find(l, i, -1, func(k string) bool {
			return isType(k) || k == "constructor_invocation" || k == "explicit_delegation"
		})
		if inner < 0 || isType(l.Kind(inner)) {
			return inner
		}
		i = inner
	}
}

func body(l *lang.Lowering, r tree.Role, i int32) {
	l.Begin(tree.Block, r, i)
	l.Nodes(tree.RoleStatement, i)
	l.Close()
}

// enumEntry lowers a constant; one with arguments or members is a New of its enum.
func enumEntry(l *lang.Lowering, r tree.Role, i int32) {
	l.BeginText(tree.Field, r, "enum", i)
	modifiers(l, l.Find(i, "modifiers"))
	l.Need(tree.RoleTarget, i, identifier(l, i))
	arguments, members := l.Find(i, "value_arguments"), l.Find(i, "class_body")
	if arguments >= 0 || members >= 0 {
		l.BeginText(tree.New, tree.RoleValue, "new", i)
		start, _ := l.Range(i)
		name := ""
		for p := i; p >= 0; p = l.CST.Nodes[p].Parent {
			if l.Kind(p) == "class_declaration" {
				name = l.Source(l.Field(p, "name"))
				break
			}
		}
		l.Flag(l.Leaf(tree.Type, tree.RoleType, name, start, start), tree.Implied)
		l.Node(tree.RoleArgument, arguments)
		l.Node(tree.RoleBody, members)
		l.Close()
	}
	l.Close()
}

// classParameter lowers a parameter of a class; "val" and "var", which make it a
// member, are modifiers.
func classParameter(l *lang.Lowering, r tree.Role, i int32) {
	l.BeginText(tree.Parameter, r, rest(l, l.Find(i, "modifiers")), i)
	modifiers(l, l.Find(i, "modifiers"))
	for _, word := range []string{"val", "var"} {
		if m := l.Find(i, word); m >= 0 {
			l.Same(tree.Modifier, tree.RoleModifier, m)
		}
	}
	l.Node(tree.RoleType, find(l, i, -1, isType))
	l.Node(tree.RoleTarget, identifier(l, i))
	l.Node(tree.RoleValue, behindToken(l, i, "="))
	l.Close()
}

// rest returns "*" when the modifiers have "vararg".
func rest(l *lang.Lowering, modifiers int32) string {
	for m := range l.Children(modifiers) {
		if l.Source(m) == "vararg" {
			return "*"
		}
	}
	return ""
}

func typeParameter(l *lang.Lowering, r tree.Role, i int32) {
	l.Begin(tree.TypeParameter, r, i)
	l.Need(tree.RoleName, i, identifier(l, i))
	l.Node(tree.RoleBase, find(l, i, -1, isType))
	l.Close()
}

// member reports whether the node stands in the body of a class.
func member(l *lang.Lowering, i int32) bool {
	switch l.Kind(l.CST.Nodes[i].Parent) {
	case "class_body", "enum_class_body":
		return true
	}
	return false
}

func function(l *lang.Lowering, r tree.Role, i int32) {
	text := "function"
	if member(l, i) {
		text = "method"
	}
	l.BeginText(tree.Function, r, text, i)
	modifiers(l, l.Find(i, "modifiers"))
	l.Node(tree.RoleTypeParameter, l.Find(i, "type_parameters"))
	name := l.Field(i, "name")
	if receiver := find(l, i, -1, isType); receiver >= 0 && receiver < name {
		l.Begin(tree.Parameter, tree.RoleReceiver, receiver)
		l.Node(tree.RoleType, receiver)
		l.Close()
	}
	l.Node(tree.RoleName, name)
	signature(l, i)
	l.Node(tree.RoleBody, l.Find(i, "function_body"))
	l.Close()
}

// signature lowers the parameters and the type of the result.
func signature(l *lang.Lowering, i int32) {
	list := l.Find(i, "function_value_parameters")
	modified := int32(-1)
	for c := range l.Children(list) {
		if l.Kind(c) == "parameter_modifiers" {
			modified = c
			continue
		}
		if l.Kind(c) == "parameter" {
			parameter(l, list, modified, c)
			modified = -1
		}
	}
	if list >= 0 {
		l.Node(tree.RoleReturnType, find(l, i, list, isType))
	}
}

// parameter lowers a parameter; its modifiers stand before it and its default value
// behind it.
func parameter(l *lang.Lowering, list, modified, i int32) {
	start, end := l.Range(i)
	if modified >= 0 {
		start, _ = l.Range(modified)
	}
	value := find(l, list, i, func(string) bool { return true })
	if value >= 0 {
		if k := l.Kind(value); k == "parameter" || k == "parameter_modifiers" {
			value = -1
		} else {
			_, end = l.Range(value)
		}
	}
	l.File.Nodes[l.Open(tree.Parameter, tree.RoleParameter, start, end)].Text = rest(l, modified)
	modifiers(l, modified)
	l.Node(tree.RoleType, find(l, i, -1, isType))
	l.Node(tree.RoleTarget, identifier(l, i))
	l.Node(tree.RoleValue, value)
	l.Close()
}

func initializer(l *lang.Lowering, r tree.Role, i int32) {
	l.BeginText(tree.Function, r, "initializer", i)
	l.Node(tree.RoleBody, l.Find(i, "block"))
	l.Close()
}

// constructor lowers a second constructor; its call of another one is the first
// statement of its body.
func constructor(l *lang.Lowering, r tree.Role, i int32) {
	l.BeginText(tree.Function, r, "constructor", i)
	modifiers(l, l.Find(i, "modifiers"))
	signature(l, i)
	call, block := l.Find(i, "constructor_delegation_call"), l.Find(i, "block")
	at := block
	if at < 0 {
		at = i
	}
	l.Begin(tree.Block, tree.RoleBody, at)
	if call >= 0 {
		l.Begin(tree.ExpressionStatement, tree.RoleStatement, call)
		l.Begin(tree.Call, tree.RoleValue, call)
		start, end := l.Range(call)
		k := tree.Super
		if l.Has(call, "this") {
			k = tree.This
		}
		l.Leaf(k, tree.RoleCallee, "", start, min(end, start+5))
		l.Node(tree.RoleArgument, l.Find(call, "value_arguments"))
		l.Close()
		l.Close()
	}
	l.Nodes(tree.RoleStatement, block)
	l.Close()
	l.Close()
}

// accessor returns the rule for "get() …" and "set(value) …" of a property.
func accessor(text string) lang.Rule {
	return func(l *lang.Lowering, r tree.Role, i int32) {
		l.BeginText(tree.Function, r, text, i)
		modifiers(l, l.Find(i, "modifiers"))
		if word := l.Find(i, text[:3]); word >= 0 {
			l.Same(tree.Name, tree.RoleName, word)
		}
		if name := identifier(l, i); name >= 0 {
			l.Begin(tree.Parameter, tree.RoleParameter, name)
			l.Node(tree.RoleTarget, name)
			l.Close()
		}
		l.Node(tree.RoleBody, l.Find(i, "function_body"))
		l.Close()
	}
}

func typeAlias(l *lang.Lowering, r tree.Role, i int32) {
	l.BeginText(tree.TypeAlias, r, "=", i)
	modifiers(l, l.Find(i, "modifiers"))
	l.Part(tree.RoleName, i, "type")
	l.Node(tree.RoleTypeParameter, l.Find(i, "type_parameters"))
	l.Need(tree.RoleType, i, find(l, i, -1, isType))
	l.Close()
}

// property lowers "val" and "var"; accessors become functions beside it. What a
// property is delegated to is its value.
func property(l *lang.Lowering, r tree.Role, i int32) {
	kind, text := tree.Variable, "val"
	if member(l, i) {
		kind = tree.Field
	}
	if l.Has(i, "var") {
		text = "var"
	}
	l.BeginText(kind, r, text, i)
	modifiers(l, l.Find(i, "modifiers"))
	if v := l.Find(i, "variable_declaration"); v >= 0 {
		l.Node(tree.RoleType, find(l, v, -1, isType))
		l.Need(tree.RoleTarget, v, identifier(l, v))
	} else {
		l.Need(tree.RoleTarget, i, l.Find(i, "multi_variable_declaration"))
	}
	if d := l.Find(i, "property_delegate"); d >= 0 {
		l.Node(tree.RoleValue, l.First(d))
	} else {
		l.Node(tree.RoleValue, behindToken(l, i, "="))
	}
	l.Close()
	for c := range l.Children(i) {
		if k := l.Kind(c); k == "getter" || k == "setter" {
			l.Node(r, c)
		}
	}
}

// variable lowers a variable of a loop or a part of several ones.
func variable(l *lang.Lowering, r tree.Role, i int32) {
	typ := find(l, i, -1, isType)
	if r == tree.RoleElement && typ < 0 {
		l.Need(r, i, identifier(l, i))
		return
	}
	k := tree.Variable
	if r == tree.RoleParameter {
		k = tree.Parameter
	}
	l.Begin(k, r, i)
	l.Node(tree.RoleType, typ)
	l.Need(tree.RoleTarget, i, identifier(l, i))
	l.Close()
}
