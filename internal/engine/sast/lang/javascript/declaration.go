package javascript

import (
	"strings"

	"merlon/internal/engine/sast/lang"
	"merlon/internal/engine/sast/tree"
)

// declarations are the rules for what has a name: functions, classes, variables, and the
// types of TypeScript.
var declarations = map[string]lang.Rule{
	"variable_declaration": lowerVariables,
	"lexical_declaration":  lowerVariables,
	"using_declaration":    lowerVariables,

	"function_declaration":           functionRule("function"),
	"generator_function_declaration": functionRule("function"),
	"function_signature":             functionRule("function"),
	"method_definition":              functionRule("method"),
	"method_signature":               functionRule("method"),
	"abstract_method_signature":      functionRule("method"),
	"call_signature":                 functionRule("method"),
	"construct_signature":            functionRule("constructor"),
	"function_expression":            lowerLambda,
	"generator_function":             lowerLambda,
	"arrow_function":                 lowerLambda,

	"class":                      classRule("class"),
	"class_declaration":          classRule("class"),
	"abstract_class_declaration": classRule("class"),
	"interface_declaration":      classRule("interface"),
	"enum_declaration":           classRule("enum"),
	"internal_module":            classRule("module"),
	"module":                     classRule("module"),

	"class_body":              lowerClassBody,
	"interface_body":          lang.Around(tree.Block, "", tree.RoleStatement),
	"class_static_block":      lowerStaticBlock,
	"field_definition":        lowerField,
	"public_field_definition": lowerField,
	"property_signature":      lowerField,
	"enum_body":               lowerEnumBody,
	"decorator":               lang.Slots(tree.Annotation, "", lang.Slot{Role: tree.RoleValue}),
}

// modifiers are the words that may stand in front of a declaration's name.
// The star marks a generator function.
var modifiers = map[string]bool{
	"static": true, "async": true, "*": true, "readonly": true, "abstract": true, "declare": true, "accessor": true,
	"accessibility_modifier": true, "override_modifier": true,
}

// openDeclaration begins a declaration with its decorators and modifiers, those of the export
// or "declare" around it included.
// The concrete tree has "export" and "declare" as statements around the declaration, and
// decorators of a class on the outside of an export. In the generic tree all of them are
// children of the declaration, in the order of the source.
func openDeclaration(l *lang.Lowering, k tree.Kind, r tree.Role, i int32) int32 {
	outer := findWrappers(l, i)
	outermost := i
	if len(outer) > 0 {
		outermost = outer[len(outer)-1]
	}
	// before has the nearest first, so it is walked from its end.
	before := decoratorsBefore(l, i)
	start, end := l.Range(outermost)
	if len(before) > 0 {
		start, _ = l.Range(before[len(before)-1])
	}
	n := l.Open(k, r, start, end)
	for d := len(before) - 1; d >= 0; d-- {
		l.Node(tree.RoleAnnotation, before[d])
	}
	for o := len(outer) - 1; o >= 0; o-- {
		l.Parts(tree.RoleAnnotation, outer[o], "decorator")
	}
	l.Parts(tree.RoleAnnotation, i, "decorator")
	for o := len(outer) - 1; o >= 0; o-- {
		for c := range l.Every(outer[o]) {
			if kind := l.Kind(c); kind == "export" || kind == "default" || kind == "declare" {
				l.Same(tree.Modifier, tree.RoleModifier, c)
			}
		}
	}
	lowerOwnModifiers(l, i)
	return n
}

// lowerOwnModifiers lowers the modifiers among the children of a declaration.
// What follows one of these fields belongs to the inside of the declaration.
func lowerOwnModifiers(l *lang.Lowering, i int32) {
	for c := range l.Every(i) {
		switch l.FieldName(c) {
		case "name", "property", "pattern", "body", "parameters", "value":
			return
		}
		// "const enum": the word const is a modifier there; elsewhere it is the keyword of a
		// variable.
		if kind := l.Kind(c); modifiers[kind] || kind == "const" && l.Kind(i) == "enum_declaration" {
			l.Same(tree.Modifier, tree.RoleModifier, c)
		}
	}
}

// findWrappers returns the export and "declare" statements around a declaration, from
// the inside. A class that is an expression has none.
// (class {}) is an expression: an export around it exports its value, and is no modifier of
// it.
func findWrappers(l *lang.Lowering, i int32) []int32 {
	if l.Kind(i) == "class" {
		return nil
	}
	var outer []int32
	// The loop ends at the first parent that is no wrapper.
	for p := l.CST.Nodes[i].Parent; p >= 0; p = l.CST.Nodes[p].Parent {
		if kind := l.Kind(p); kind != "export_statement" && kind != "ambient_declaration" {
			break
		}
		outer = append(outer, p)
	}
	return outer
}

// decoratorsBefore returns the decorators that stand beside a member, in front of
// it, the nearest first.
func decoratorsBefore(l *lang.Lowering, i int32) []int32 {
	parent := l.CST.Nodes[i].Parent
	// Decorators of parameters and of classes are children of the thing itself.
	if l.Kind(parent) != "class_body" {
		return nil
	}
	var found []int32
	for {
		// The node before, among the children of the body: the concrete tree is an array in
		// pre-order, so the previous node is the last descendant of the previous sibling.
		p := i - 1
		for p > parent && l.CST.Nodes[p].Parent != parent {
			p = l.CST.Nodes[p].Parent
		}
		// Comments between decorator and member are skipped.
		if p <= parent || l.Kind(p) != "decorator" && !l.Extra(p) {
			return found
		}
		if l.Kind(p) == "decorator" {
			found = append(found, p)
		}
		i = p
	}
}

// lowerVariables lowers a declaration of variables, one node each.
func lowerVariables(l *lang.Lowering, r tree.Role, i int32) {
	// keyword is everything in front of the first name: "const", "await using".
	keyword, last, count := "", int32(-1), 0
	for c := range l.Every(i) {
		if l.Kind(c) == "variable_declarator" {
			last = c
			count++
		} else if count == 0 && !l.Named(c) {
			keyword = joinWords(keyword, l.Source(c))
		}
	}
	// Comments and damaged parts between the names are lowered in place.
	for c := range l.Children(i) {
		if l.Kind(c) != "variable_declarator" {
			l.Node(r, c)
			continue
		}
		v := openDeclaration(l, tree.Variable, r, i)
		l.File.Nodes[v].Text = keyword
		// "const a = 1, b = 2" are two nodes with the same beginning: each contains the keyword,
		// but ends with its own name. The last of a single declaration includes the semicolon.
		if c != last || count > 1 {
			_, l.File.Nodes[v].End = l.Range(c)
		}
		l.Part(tree.RoleType, c, "type")
		l.Need(tree.RoleTarget, c, l.Field(c, "name"))
		l.Part(tree.RoleValue, c, "value")
		l.Close()
	}
}

// functionRule returns the rule for a declared function or method.
func functionRule(text string) lang.Rule {
	return func(l *lang.Lowering, r tree.Role, i int32) {
		name := l.Field(i, "name")
		kind := text
		// get and set make accessors; a method named constructor is one only in a class, not in an
		// object literal.
		switch {
		case kind != "method":
		case l.Has(i, "get"), l.Has(i, "static get"):
			kind = "getter"
		case l.Has(i, "set"):
			kind = "setter"
		case l.Source(name) == "constructor" && l.Kind(l.CST.Nodes[i].Parent) == "class_body":
			kind = "constructor"
		}
		n := openDeclaration(l, tree.Function, r, i)
		l.File.Nodes[n].Text = kind
		// The grammar has "static get" as a single token.
		if s := l.Find(i, "static get"); s >= 0 {
			l.Put(tree.Modifier, tree.RoleModifier, "static", s)
		}
		l.Nodes(tree.RoleTypeParameter, l.Field(i, "type_parameters"))
		lowerMemberName(l, tree.RoleName, name)
		lowerSignature(l, i)
		l.Part(tree.RoleBody, i, "body")
		l.Close()
	}
}

// lowerSignature lowers the parameters and the type of the result.
func lowerSignature(l *lang.Lowering, i int32) {
	if p := l.Field(i, "parameters"); p >= 0 {
		for c := range l.Children(p) {
			lowerParameter(l, c)
		}
	}
	// The type behind "new (…) => T" is in another field.
	if t := l.Field(i, "return_type"); t >= 0 {
		l.Node(tree.RoleReturnType, t)
	} else if l.Kind(i) == "construct_signature" || l.Kind(i) == "constructor_type" {
		l.Part(tree.RoleReturnType, i, "type")
	}
}

// lowerLambda lowers a function value.
func lowerLambda(l *lang.Lowering, r tree.Role, i int32) {
	n := l.Begin(tree.Lambda, r, i)
	// An arrow function shares "this" with the function around it.
	if l.Kind(i) != "arrow_function" {
		l.Flag(n, tree.OwnThis)
	}
	for c := range l.Every(i) {
		// "async" can also be the name of a parameter, which the grammar names.
		if kind := l.Kind(c); kind == "async" && !l.Named(c) || kind == "*" {
			l.Same(tree.Modifier, tree.RoleModifier, c)
		}
	}
	l.Part(tree.RoleName, i, "name")
	// x => x has a single parameter without parentheses.
	if p := l.Field(i, "parameter"); p >= 0 {
		lowerParameter(l, p)
	}
	lowerSignature(l, i)
	l.Need(tree.RoleBody, i, l.Field(i, "body"))
	l.Close()
}

// lowerParameter lowers a parameter. "this" of TypeScript is none: it only has a type.
func lowerParameter(l *lang.Lowering, i int32) {
	switch l.Kind(i) {
	case "required_parameter", "optional_parameter":
		pattern := l.Field(i, "pattern")
		if pattern < 0 {
			pattern = l.Field(i, "name") // of a member of a tuple type
		}
		// A declaration "this: T" is erased by the compiler.
		if l.Kind(pattern) == "this" {
			return
		}
		n := l.Begin(tree.Parameter, tree.RoleParameter, i)
		l.Parts(tree.RoleAnnotation, i, "decorator")
		// Parameter properties: constructor(private readonly db: Db) declares a field, too.
		for c := range l.Every(i) {
			if l.FieldName(c) == "pattern" {
				break
			}
			if modifiers[l.Kind(c)] {
				l.Same(tree.Modifier, tree.RoleModifier, c)
			}
		}
		l.Part(tree.RoleType, i, "type")
		lowerParameterTarget(l, n, pattern)
		l.Part(tree.RoleValue, i, "value")
		l.Close()
	// JavaScript without types: a parameter with a default value.
	case "assignment_pattern":
		n := l.Begin(tree.Parameter, tree.RoleParameter, i)
		lowerParameterTarget(l, n, l.Field(i, "left"))
		l.Part(tree.RoleValue, i, "right")
		l.Close()
	default:
		// Patterns nest without limit: f({a: {b: {c: …}}}).
		if l.TooDeep() {
			l.Lost(tree.RoleParameter, i)
			return
		}
		n := l.Begin(tree.Parameter, tree.RoleParameter, i)
		lowerParameterTarget(l, n, i)
		l.Close()
	}
}

// lowerParameterTarget lowers the name or pattern of the parameter.
func lowerParameterTarget(l *lang.Lowering, parameter, i int32) {
	// ...rest is marked by the text, as in Python.
	if l.Kind(i) == "rest_pattern" {
		l.File.Nodes[parameter].Text = "*"
		i = l.First(i)
	}
	l.Node(tree.RoleTarget, i)
}

// classRule returns the rule for a type with members.
func classRule(text string) lang.Rule {
	return func(l *lang.Lowering, r tree.Role, i int32) {
		n := openDeclaration(l, tree.Class, r, i)
		l.File.Nodes[n].Text = text
		l.Nodes(tree.RoleTypeParameter, l.Field(i, "type_parameters"))
		l.Part(tree.RoleName, i, "name")
		for c := range l.Children(i) {
			lowerHeritage(l, c)
		}
		l.Part(tree.RoleBody, i, "body")
		l.Close()
	}
}

// lowerHeritage lowers what a class is made of.
// JavaScript has the expression directly below "class_heritage", TypeScript has clauses.
func lowerHeritage(l *lang.Lowering, i int32) {
	switch l.Kind(i) {
	case "class_heritage":
		for c := range l.Children(i) {
			if kind := l.Kind(c); kind == "extends_clause" || kind == "implements_clause" {
				lowerHeritage(l, c)
			} else {
				l.Node(tree.RoleBase, c)
			}
		}
	case "extends_clause":
		// A base may be a call: class A extends mixin(B).
		l.Parts(tree.RoleBase, i, "value")
	case "extends_type_clause":
		l.Parts(tree.RoleBase, i, "type")
	case "implements_clause":
		l.Nodes(tree.RoleInterface, i)
	}
}

// lowerClassBody lowers the members; their decorators are lowered with them.
func lowerClassBody(l *lang.Lowering, r tree.Role, i int32) {
	l.Begin(tree.Block, r, i)
	for c := range l.Children(i) {
		if l.Kind(c) != "decorator" {
			l.Node(tree.RoleStatement, c)
		}
	}
	l.Close()
}

// lowerStaticBlock lowers statements that run when the class is made.
// static { } has its own scope, which its Block has as well.
func lowerStaticBlock(l *lang.Lowering, r tree.Role, i int32) { l.Need(r, i, l.Field(i, "body")) }

// lowerField lowers a member variable.
func lowerField(l *lang.Lowering, r tree.Role, i int32) {
	name := l.Field(i, "name")
	if name < 0 {
		name = l.Field(i, "property")
	}
	openDeclaration(l, tree.Field, r, i)
	l.Part(tree.RoleType, i, "type")
	lowerMemberName(l, tree.RoleTarget, name)
	l.Part(tree.RoleValue, i, "value")
	l.Close()
}

// lowerMemberName lowers the name of a member. A computed one that is no literal is a
// Sequence of one, so that nobody takes it for a name.
// An example is {[key]: value}: the name is known when the program runs. {["a"]: 1} is as good
// as {a: 1}.
func lowerMemberName(l *lang.Lowering, r tree.Role, i int32) {
	switch l.Kind(i) {
	case "":
	case "string":
		l.Put(tree.Name, r, stringValue(l, i), i)
	// A private name keeps its "#", which is part of the name.
	case "number", "property_identifier", "private_property_identifier", "identifier":
		l.Put(tree.Name, r, unescapeIdentifier(l.Source(i)), i)
	case "computed_property_name":
		inner := l.First(i)
		if l.Kind(inner) == "string" {
			lowerMemberName(l, r, inner)
			return
		}
		l.Begin(tree.Sequence, r, i)
		l.Node(tree.RoleElement, inner)
		l.Close()
	default:
		l.Node(r, i)
	}
}

// lowerEnumBody lowers the constants of an enum.
func lowerEnumBody(l *lang.Lowering, r tree.Role, i int32) {
	l.Begin(tree.Block, r, i)
	for c := range l.Children(i) {
		// An enum member is a Field with the text "enum", as a constant of Java's enum.
		l.BeginText(tree.Field, tree.RoleStatement, "enum", c)
		if l.Kind(c) == "enum_assignment" {
			lowerMemberName(l, tree.RoleTarget, l.Field(c, "name"))
			l.Part(tree.RoleValue, c, "value")
		} else {
			lowerMemberName(l, tree.RoleTarget, c)
		}
		l.Close()
	}
	l.Close()
}

// unescapeIdentifier resolves the escapes that an identifier may hold.
// \u0061bc and \u{61}bc are the identifier abc (ECMA-262, section 12.7); attackers use this to
// hide names from scanners.
func unescapeIdentifier(source string) string {
	if strings.IndexByte(source, '\\') < 0 {
		return source
	}
	return unescapeText(source)
}
