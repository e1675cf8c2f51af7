package kotlin

import (
	"strings"

	"merlon/internal/engine/sast/lang"
	"merlon/internal/engine/sast/tree"
)

// declarationRules are the rules for what has a name: types, functions, properties,
// imports.
var declarationRules = map[string]lang.Rule{
	"source_file":    lowerFile,
	"shebang":        lang.Skip,
	"package_header": lowerPackageHeader,
	"import":         lowerImportDeclaration,
	"annotation":     lowerAnnotation,

	"class_declaration":  lowerClass,
	"object_declaration": lowerClass,
	"companion_object":   lowerClass,
	"class_body":         lowerBody,
	"enum_class_body":    lowerBody,
	"enum_entry":         lowerEnumEntry,
	"class_parameter":    lowerClassParameter,
	"type_parameters":    lowerChildren,
	"type_parameter":     lowerTypeParameter,

	"function_declaration":       lowerFunction,
	"anonymous_initializer":      lowerInitializer,
	"secondary_constructor":      lowerConstructor,
	"getter":                     accessorRule("getter"),
	"setter":                     accessorRule("setter"),
	"function_body":              lang.Inner,
	"type_alias":                 lowerTypeAlias,
	"property_declaration":       lowerProperty,
	"variable_declaration":       lowerVariable,
	"multi_variable_declaration": lang.Around(tree.Tuple, "", tree.RoleElement),
}

// lowerFile opens the root. Its range is that of the whole source, which the concrete root
// does not cover.
func lowerFile(l *lang.Lowering, _ tree.Role, i int32) {
	l.Open(tree.FileKind, tree.RoleNone, 0, uint32(len(l.File.Source)))
	l.Nodes(tree.RoleStatement, i)
	l.Close()
}

// readPath returns the identifiers of a qualified name and the name.
func readPath(l *lang.Lowering, i int32) (parts []int32, dotted string) {
	var names []string
	for c := range l.Children(i) {
		parts = append(parts, c)
		names = append(names, strings.Trim(l.Source(c), "`"))
	}
	return parts, strings.Join(names, ".")
}

// lowerPackageHeader lowers "package a.b".
func lowerPackageHeader(l *lang.Lowering, r tree.Role, i int32) {
	parts, name := readPath(l, l.Find(i, "qualified_identifier"))
	l.BeginText(tree.Package, r, name, i)
	l.Chain(tree.RoleName, parts)
	l.Close()
}

// lowerImportDeclaration lowers "import a.b", with ".*" or an alias.
func lowerImportDeclaration(l *lang.Lowering, r tree.Role, i int32) {
	parts, name := readPath(l, l.Find(i, "qualified_identifier"))
	l.BeginText(tree.Import, r, name, i)
	l.Chain(tree.RolePath, parts)
	if star := l.Find(i, "*"); star >= 0 {
		l.Same(tree.Name, tree.RoleName, star)
	}
	l.Node(tree.RoleAlias, findIdentifier(l, i))
	l.Close()
}

// lowerAnnotation lowers "@A(…)" and "@A", which is the same as "@A()"; several in
// brackets are one each.
func lowerAnnotation(l *lang.Lowering, r tree.Role, i int32) {
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
		lowerTypeAsExpression(l, tree.RoleCallee, typ)
		l.Node(tree.RoleArgument, arguments)
		l.Close()
		l.Close()
	}
}

// lowerTypeAsExpression lowers a type by its name alone, as a Name or Member.
func lowerTypeAsExpression(l *lang.Lowering, r tree.Role, i int32) {
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

// lowerClass lowers a class, an interface or an object. What it extends and what it
// implements look the same and are all bases; arguments of the superclass'
// constructor are left out.
func lowerClass(l *lang.Lowering, r tree.Role, i int32) {
	l.BeginText(tree.Class, r, classWord(l, i), i)
	lowerModifiers(l, l.Find(i, "modifiers"))
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
		inner := findBehind(l, i, -1, func(k string) bool {
			return isType(k) || k == "constructor_invocation" || k == "explicit_delegation"
		})
		if inner < 0 || isType(l.Kind(inner)) {
			return inner
		}
		i = inner
	}
}

// lowerBody lowers the members of a class.
func lowerBody(l *lang.Lowering, r tree.Role, i int32) {
	l.Begin(tree.Block, r, i)
	l.Nodes(tree.RoleStatement, i)
	l.Close()
}

// lowerEnumEntry lowers a constant; one with arguments or members is a New of its enum.
func lowerEnumEntry(l *lang.Lowering, r tree.Role, i int32) {
	l.BeginText(tree.Field, r, "enum", i)
	lowerModifiers(l, l.Find(i, "modifiers"))
	l.Need(tree.RoleTarget, i, findIdentifier(l, i))
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

// lowerClassParameter lowers a parameter of a class; "val" and "var", which make it a
// member, are modifiers.
func lowerClassParameter(l *lang.Lowering, r tree.Role, i int32) {
	l.BeginText(tree.Parameter, r, variadicMark(l, l.Find(i, "modifiers")), i)
	lowerModifiers(l, l.Find(i, "modifiers"))
	for _, word := range []string{"val", "var"} {
		if m := l.Find(i, word); m >= 0 {
			l.Same(tree.Modifier, tree.RoleModifier, m)
		}
	}
	l.Node(tree.RoleType, findBehind(l, i, -1, isType))
	l.Node(tree.RoleTarget, findIdentifier(l, i))
	l.Node(tree.RoleValue, behindToken(l, i, "="))
	l.Close()
}

// variadicMark returns "*" when the modifiers have "vararg".
func variadicMark(l *lang.Lowering, modifiers int32) string {
	for m := range l.Children(modifiers) {
		if l.Source(m) == "vararg" {
			return "*"
		}
	}
	return ""
}

// lowerTypeParameter lowers "T : A" of a declaration; its variance is left out.
func lowerTypeParameter(l *lang.Lowering, r tree.Role, i int32) {
	l.Begin(tree.TypeParameter, r, i)
	l.Need(tree.RoleName, i, findIdentifier(l, i))
	l.Node(tree.RoleBase, findBehind(l, i, -1, isType))
	l.Close()
}

// isMember reports whether the node stands in the body of a class.
func isMember(l *lang.Lowering, i int32) bool {
	switch l.Kind(l.CST.Nodes[i].Parent) {
	case "class_body", "enum_class_body":
		return true
	}
	return false
}

// lowerFunction lowers "fun"; the type before the name of an extension is its receiver.
func lowerFunction(l *lang.Lowering, r tree.Role, i int32) {
	text := "function"
	if isMember(l, i) {
		text = "method"
	}
	l.BeginText(tree.Function, r, text, i)
	lowerModifiers(l, l.Find(i, "modifiers"))
	l.Node(tree.RoleTypeParameter, l.Find(i, "type_parameters"))
	name := l.Field(i, "name")
	if receiver := findBehind(l, i, -1, isType); receiver >= 0 && receiver < name {
		l.Begin(tree.Parameter, tree.RoleReceiver, receiver)
		l.Node(tree.RoleType, receiver)
		l.Close()
	}
	l.Node(tree.RoleName, name)
	lowerSignature(l, i)
	l.Node(tree.RoleBody, l.Find(i, "function_body"))
	l.Close()
}

// lowerSignature lowers the parameters and the type of the result.
func lowerSignature(l *lang.Lowering, i int32) {
	list := l.Find(i, "function_value_parameters")
	modified := int32(-1)
	for c := range l.Children(list) {
		if l.Kind(c) == "parameter_modifiers" {
			modified = c
			continue
		}
		if l.Kind(c) == "parameter" {
			lowerParameter(l, list, modified, c)
			modified = -1
		}
	}
	if list >= 0 {
		l.Node(tree.RoleReturnType, findBehind(l, i, list, isType))
	}
}

// lowerParameter lowers a parameter; its modifiers stand before it and its default value
// behind it.
func lowerParameter(l *lang.Lowering, list, modified, i int32) {
	start, end := l.Range(i)
	if modified >= 0 {
		start, _ = l.Range(modified)
	}
	value := findBehind(l, list, i, func(string) bool { return true })
	if value >= 0 {
		if k := l.Kind(value); k == "parameter" || k == "parameter_modifiers" {
			value = -1
		} else {
			_, end = l.Range(value)
		}
	}
	l.File.Nodes[l.Open(tree.Parameter, tree.RoleParameter, start, end)].Text = variadicMark(l, modified)
	lowerModifiers(l, modified)
	l.Node(tree.RoleType, findBehind(l, i, -1, isType))
	l.Node(tree.RoleTarget, findIdentifier(l, i))
	l.Node(tree.RoleValue, value)
	l.Close()
}

// lowerInitializer lowers "init { … }", which runs when an object is made.
func lowerInitializer(l *lang.Lowering, r tree.Role, i int32) {
	l.BeginText(tree.Function, r, "initializer", i)
	l.Node(tree.RoleBody, l.Find(i, "block"))
	l.Close()
}

// lowerConstructor lowers a second constructor; its call of another one is the first
// statement of its body.
func lowerConstructor(l *lang.Lowering, r tree.Role, i int32) {
	l.BeginText(tree.Function, r, "constructor", i)
	lowerModifiers(l, l.Find(i, "modifiers"))
	lowerSignature(l, i)
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

// accessorRule returns the rule for "get() …" and "set(value) …" of a property.
func accessorRule(text string) lang.Rule {
	return func(l *lang.Lowering, r tree.Role, i int32) {
		l.BeginText(tree.Function, r, text, i)
		lowerModifiers(l, l.Find(i, "modifiers"))
		if word := l.Find(i, text[:3]); word >= 0 {
			l.Same(tree.Name, tree.RoleName, word)
		}
		if name := findIdentifier(l, i); name >= 0 {
			l.Begin(tree.Parameter, tree.RoleParameter, name)
			l.Node(tree.RoleTarget, name)
			l.Close()
		}
		l.Node(tree.RoleBody, l.Find(i, "function_body"))
		l.Close()
	}
}

// lowerTypeAlias lowers "typealias A = B".
func lowerTypeAlias(l *lang.Lowering, r tree.Role, i int32) {
	l.BeginText(tree.TypeAlias, r, "=", i)
	lowerModifiers(l, l.Find(i, "modifiers"))
	l.Part(tree.RoleName, i, "type")
	l.Node(tree.RoleTypeParameter, l.Find(i, "type_parameters"))
	l.Need(tree.RoleType, i, findBehind(l, i, -1, isType))
	l.Close()
}

// lowerProperty lowers "val" and "var"; accessors become functions beside it. What a
// property is delegated to is its value.
func lowerProperty(l *lang.Lowering, r tree.Role, i int32) {
	kind, text := tree.Variable, "val"
	if isMember(l, i) {
		kind = tree.Field
	}
	if l.Has(i, "var") {
		text = "var"
	}
	l.BeginText(kind, r, text, i)
	lowerModifiers(l, l.Find(i, "modifiers"))
	if v := l.Find(i, "variable_declaration"); v >= 0 {
		l.Node(tree.RoleType, findBehind(l, v, -1, isType))
		l.Need(tree.RoleTarget, v, findIdentifier(l, v))
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

// lowerVariable lowers a variable of a loop or a part of several ones.
func lowerVariable(l *lang.Lowering, r tree.Role, i int32) {
	typ := findBehind(l, i, -1, isType)
	if r == tree.RoleElement && typ < 0 {
		l.Need(r, i, findIdentifier(l, i))
		return
	}
	k := tree.Variable
	if r == tree.RoleParameter {
		k = tree.Parameter
	}
	l.Begin(k, r, i)
	l.Node(tree.RoleType, typ)
	l.Need(tree.RoleTarget, i, findIdentifier(l, i))
	l.Close()
}
