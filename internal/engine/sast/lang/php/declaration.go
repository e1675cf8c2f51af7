package php

import (
	"strings"

	"merlon/internal/engine/sast/lang"
	"merlon/internal/engine/sast/tree"
)

// declarations are the rules for what has a name: namespaces, functions, classes and their
// members.
var declarations = map[string]lang.Rule{
	"namespace_definition":         lowerNamespace,
	"namespace_use_declaration":    lowerUse,
	"const_declaration":            lowerConstants,
	"function_static_declaration":  lowerStaticVariables,
	"function_definition":          functionRule("function"),
	"method_declaration":           functionRule("method"),
	"anonymous_function":           lowerLambda,
	"arrow_function":               lowerLambda,
	"simple_parameter":             lowerParameter,
	"variadic_parameter":           lowerParameter,
	"property_promotion_parameter": lowerParameter,
	"class_declaration":            classRule("class"),
	"interface_declaration":        classRule("interface"),
	"trait_declaration":            classRule("trait"),
	"enum_declaration":             classRule("enum"),
	"anonymous_class":              classRule("class"),
	"declaration_list":             lowerMembers,
	"enum_declaration_list":        lowerMembers,
	"enum_case":                    lowerEnumCase,
	"property_declaration":         lowerProperties,
	"property_hook_list":           lang.Around(tree.Block, "", tree.RoleStatement),
	"property_hook":                lowerHook,
	"attribute":                    lowerAttribute,
}

// lowerNamespace lowers a namespace; the statements of one with a body stand beside it.
// The statements of "namespace A { … }" stand beside it, as those of "namespace A;" do. The
// range ends in front of the body.
func lowerNamespace(l *lang.Lowering, r tree.Role, i int32) {
	name, b := l.Field(i, "name"), l.Field(i, "body")
	n := l.BeginText(tree.Package, r, dottedName(l.Source(name)), i)
	if b >= 0 {
		l.File.Nodes[n].End, _ = l.Range(b)
	}
	l.Node(tree.RoleName, name)
	l.Close()
	l.Nodes(r, b)
}

// dottedName returns a name of a namespace with dots and without the first backslash.
// A leading backslash says that the name is absolute; in the tree all names of types are.
func dottedName(name string) string {
	name = strings.Join(strings.Fields(name), "")
	return strings.ReplaceAll(strings.Trim(name, `\`), `\`, ".")
}

// lowerUse lowers the imports of a file, one node for each name.
// "use A\B\{C, D as E}" is a group: every name gets the prefix.
func lowerUse(l *lang.Lowering, r tree.Role, i int32) {
	prefix, group := l.Find(i, "namespace_name"), l.Field(i, "body")
	from := i
	if group >= 0 {
		from = group
	}
	for c := range l.Children(from) {
		if l.Kind(c) != "namespace_use_clause" {
			continue
		}
		// The name is the last one without a field; the alias has one.
		name := int32(-1)
		for n := range l.Children(c) {
			if kind := l.Kind(n); l.FieldName(n) == "" && (kind == "name" || kind == "qualified_name") {
				name = n
			}
		}
		text := dottedName(l.Source(name))
		if group >= 0 {
			text = dottedName(l.Source(prefix)) + "." + text
		}
		l.BeginText(tree.Import, r, text, i)
		lowerPath(l, tree.RolePath, c, text)
		l.Part(tree.RoleAlias, c, "alias")
		l.Close()
	}
}

// lowerPath adds a dotted name as Members.
// The text has dots in place of backslashes; the recursion is bounded by the depth of the
// tree.
func lowerPath(l *lang.Lowering, r tree.Role, at int32, text string) {
	cut := strings.LastIndexByte(text, '.')
	if cut < 0 || l.TooDeep() {
		l.Put(tree.Name, r, text, at)
		return
	}
	l.BeginText(tree.Member, r, `\`, at)
	lowerPath(l, tree.RoleObject, at, text[:cut])
	l.Put(tree.Name, tree.RoleProperty, text[cut+1:], at)
	l.Close()
}

// modifiers are the kinds of words in front of a declaration.
// "var" is the modifier of PHP 4 for public properties. "&" marks a function that returns a
// reference.
var modifiers = map[string]bool{
	"abstract_modifier": true, "final_modifier": true, "readonly_modifier": true, "static_modifier": true,
	"var_modifier": true, "visibility_modifier": true, "reference_modifier": true,
}

// lowerHead lowers the attributes and modifiers of a declaration.
// Attributes are grouped: #[A, B] #[C].
func lowerHead(l *lang.Lowering, i int32) {
	if list := l.Field(i, "attributes"); list >= 0 {
		for group := range l.Children(list) {
			l.Nodes(tree.RoleAnnotation, group)
		}
	}
	for c := range l.Children(i) {
		if modifiers[l.Kind(c)] {
			l.Same(tree.Modifier, tree.RoleModifier, c)
		}
	}
}

// lowerAttribute lowers #[A(x)].
// #[Route("/a")] is an annotation with a call, #[Pure] one with a name.
func lowerAttribute(l *lang.Lowering, r tree.Role, i int32) {
	name, parameters := l.First(i), l.Field(i, "parameters")
	l.Begin(tree.Annotation, r, i)
	if parameters < 0 {
		l.Need(tree.RoleValue, i, name)
	} else {
		l.Begin(tree.Call, tree.RoleValue, i)
		l.Need(tree.RoleCallee, i, name)
		l.Nodes(tree.RoleArgument, parameters)
		l.Close()
	}
	l.Close()
}

// lowerConstants lowers constants of a class to Fields, others to Variables.
// const A = 1 inside of a class is a member, outside a global constant.
func lowerConstants(l *lang.Lowering, r tree.Role, i int32) {
	k := tree.Variable
	if kind := l.Kind(l.CST.Nodes[i].Parent); kind == "declaration_list" || kind == "enum_declaration_list" {
		k = tree.Field
	}
	for c := range l.Children(i) {
		if l.Kind(c) != "const_element" {
			continue
		}
		n := l.BeginText(k, r, "const", i)
		// An ellipsis of a rule stands for any member and not only for constants.
		if k == tree.Field && l.Source(l.First(c)) == lang.EllipsisName {
			l.File.Nodes[n].Text = ""
		}
		lowerHead(l, i)
		l.Part(tree.RoleType, i, "type")
		name := l.First(c)
		l.Node(tree.RoleTarget, name)
		// The name and the value have no fields in the grammar.
		for v := range l.Children(c) {
			if v != name {
				l.Node(tree.RoleValue, v)
			}
		}
		l.Close()
	}
}

// lowerStaticVariables lowers "static $a = 1;" of a function: a Variable for each name.
// The value is assigned in the first call only and is kept afterwards. The text "static" tells
// it.
func lowerStaticVariables(l *lang.Lowering, r tree.Role, i int32) {
	for c := range l.Children(i) {
		l.BeginText(tree.Variable, r, "static", c)
		l.Part(tree.RoleTarget, c, "name")
		l.Part(tree.RoleValue, c, "value")
		l.Close()
	}
}

// functionRule returns the rule for a declared function or method.
func functionRule(text string) lang.Rule {
	return func(l *lang.Lowering, r tree.Role, i int32) {
		name, kind := l.Field(i, "name"), text
		// Names of methods are not case-sensitive.
		switch strings.ToLower(l.Source(name)) {
		case "__construct":
			kind = "constructor"
		case "__destruct":
			kind = "destructor"
		}
		// A function that happens to be called __construct outside of a class is an ordinary one.
		if text == "function" {
			kind = text
		}
		l.BeginText(tree.Function, r, kind, i)
		lowerHead(l, i)
		// Names of functions are not case-sensitive either: they are stored in lower case.
		if text == "function" {
			lowerFunctionName(l, tree.RoleName, name)
		} else {
			l.Node(tree.RoleName, name)
		}
		l.Nodes(tree.RoleParameter, l.Field(i, "parameters"))
		l.Part(tree.RoleReturnType, i, "return_type")
		l.Part(tree.RoleBody, i, "body")
		l.Close()
	}
}

// lowerLambda lowers a function value. What it takes along with "use" is not listed: the
// names are those of the function around it.
// function () use ($a) { }: by listing the names again, each would look like a parameter.
func lowerLambda(l *lang.Lowering, r tree.Role, i int32) {
	l.Begin(tree.Lambda, r, i)
	lowerHead(l, i)
	l.Nodes(tree.RoleParameter, l.Field(i, "parameters"))
	l.Part(tree.RoleReturnType, i, "return_type")
	l.Need(tree.RoleBody, i, l.Field(i, "body"))
	l.Close()
}

// lowerParameter lowers a parameter; "..." before it takes the rest, and "&" is a Modifier.
// The parameter f(&$a) writes back to the caller's variable.
func lowerParameter(l *lang.Lowering, r tree.Role, i int32) {
	text := ""
	if l.Kind(i) == "variadic_parameter" {
		text = "*"
	}
	l.BeginText(tree.Parameter, r, text, i)
	lowerHead(l, i)
	l.Part(tree.RoleType, i, "type")
	name := l.Field(i, "name")
	// A reference is wrapped in a node of its own.
	if l.Kind(name) == "by_ref" {
		name = l.First(name)
	}
	l.Node(tree.RoleTarget, name)
	l.Part(tree.RoleValue, i, "default_value")
	l.Close()
}

// classRule returns the rule for a type with members. The traits that it uses are Bases.
// PHP has single inheritance; traits are copied into the class, so they count as bases.
func classRule(text string) lang.Rule {
	return func(l *lang.Lowering, r tree.Role, i int32) {
		l.BeginText(tree.Class, r, text, i)
		lowerHead(l, i)
		l.Part(tree.RoleName, i, "name")
		base := tree.RoleBase
		if text == "interface" { // may extend several, whose order means nothing
			base = tree.RoleInterface
		}
		for c := range l.Children(i) {
			if l.Kind(c) == "base_clause" {
				lowerTypeNames(l, base, c)
			}
		}
		b := l.Field(i, "body")
		// "use T;" stands in the body.
		if b >= 0 {
			for c := range l.Children(b) {
				if l.Kind(c) == "use_declaration" {
					lowerTypeNames(l, tree.RoleBase, c)
				}
			}
		}
		// Interfaces come after all bases, as the order of roles demands.
		for c := range l.Children(i) {
			if l.Kind(c) == "class_interface_clause" {
				lowerTypeNames(l, tree.RoleInterface, c)
			}
		}
		l.Node(tree.RoleBody, b)
		l.Close()
	}
}

// lowerTypeNames lowers the names in a clause to Types.
func lowerTypeNames(l *lang.Lowering, r tree.Role, i int32) {
	for c := range l.Children(i) {
		if kind := l.Kind(c); kind == "name" || kind == "qualified_name" || kind == "relative_name" {
			lowerTypeName(l, r, c)
		}
	}
}

// lowerMembers lowers the body of a class.
// A use of traits with rules ("use A, B { A::f insteadof B; }") is kept as a statement; one
// without has become a Base.
func lowerMembers(l *lang.Lowering, r tree.Role, i int32) {
	l.Begin(tree.Block, r, i)
	for c := range l.Children(i) {
		if l.Kind(c) != "use_declaration" || l.Has(c, "use_list") {
			l.Node(tree.RoleStatement, c)
		}
		// Promoted parameters declare a property of the class, behind the constructor.
		if l.Kind(c) == "method_declaration" {
			lowerPromoted(l, l.Field(c, "parameters"))
		}
	}
	l.Close()
}

// lowerPromoted lowers the parameters that declare a property to Fields, too.
// public function __construct(private Db $db) declares and assigns a property $db. The
// assignment itself is made from the Parameter.
func lowerPromoted(l *lang.Lowering, parameters int32) {
	if parameters < 0 {
		return
	}
	for c := range l.Children(parameters) {
		if l.Kind(c) != "property_promotion_parameter" {
			continue
		}
		l.Flag(l.Begin(tree.Field, tree.RoleStatement, c), tree.Implied)
		lowerHead(l, c)
		l.Part(tree.RoleType, c, "type")
		l.Part(tree.RoleTarget, c, "name")
		l.Close()
	}
}

// lowerEnumCase lowers "case A = 1;" of an enum.
// An enum case is a Field with the text "enum", as in Java.
func lowerEnumCase(l *lang.Lowering, r tree.Role, i int32) {
	l.BeginText(tree.Field, r, "enum", i)
	lowerHead(l, i)
	l.Part(tree.RoleTarget, i, "name")
	l.Part(tree.RoleValue, i, "value")
	l.Close()
}

// lowerProperties lowers the properties of a declaration, one Field each.
// private $a, $b = 1; are two Fields of the same range.
func lowerProperties(l *lang.Lowering, r tree.Role, i int32) {
	for c := range l.Children(i) {
		if l.Kind(c) != "property_element" {
			continue
		}
		l.Begin(tree.Field, r, i)
		lowerHead(l, i)
		l.Part(tree.RoleType, i, "type")
		l.Part(tree.RoleTarget, c, "name")
		l.Part(tree.RoleValue, c, "default_value")
		l.Node(tree.RoleBody, l.Find(i, "property_hook_list"))
		l.Close()
	}
}

// lowerHook lowers a get or set hook of a property.
// PHP 8.4: public string $a { get => …; set => …; }.
func lowerHook(l *lang.Lowering, r tree.Role, i int32) {
	text := "getter"
	name := l.Find(i, "name")
	if l.Source(name) == "set" {
		text = "setter"
	}
	l.BeginText(tree.Function, r, text, i)
	lowerHead(l, i)
	l.Node(tree.RoleName, name)
	l.Nodes(tree.RoleParameter, l.Field(i, "parameters"))
	l.Part(tree.RoleBody, i, "body")
	l.Close()
}
