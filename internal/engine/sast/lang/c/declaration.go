package c

import (
	"strings"

	"merlon/internal/engine/sast/lang"
	"merlon/internal/engine/sast/tree"
)

// lowerFile lowers the translation unit.
func lowerFile(l *lang.Lowering, r tree.Role, i int32) {
	l.Open(tree.FileKind, r, 0, uint32(len(l.File.Source)))
	l.Nodes(tree.RoleStatement, i)
	l.Close()
}

// lowerInline lowers the parts of a list in its place.
func lowerInline(l *lang.Lowering, r tree.Role, i int32) { l.Nodes(r, i) }

// lowerLastChild is the rule for what only says something about the declaration in it.
func lowerLastChild(l *lang.Lowering, r tree.Role, i int32) {
	last := int32(-1)
	for c := range l.Children(i) {
		last = c
	}
	l.Need(r, i, last)
}

// lowerBranches lowers "#if" and the like: all branches, one after the other, without the
// conditions.
func lowerBranches(l *lang.Lowering, r tree.Role, i int32) {
	condition, name, alternative := l.Field(i, "condition"), l.Field(i, "name"), l.Field(i, "alternative")
	for c := range l.Children(i) {
		if c != condition && c != name && c != alternative {
			l.Node(r, c)
		}
	}
	l.Node(r, alternative)
}

// lowerLinkage lowers "extern "C" { … }": what it declares stands in its place.
func lowerLinkage(l *lang.Lowering, r tree.Role, i int32) { l.Part(r, i, "body") }

// lowerDeclaration lowers a declaration of variables, fields and prototypes: a node for
// each name. A type that is declared in it is a Class before them.
func lowerDeclaration(l *lang.Lowering, r tree.Role, i int32) {
	specifier := l.Field(i, "type")
	before := l.Mark()
	if l.Field(specifier, "body") >= 0 {
		l.Node(r, specifier)
	}
	for c := range l.Fields(i, "declarator") {
		if l.Named(c) {
			lowerDeclarator(l, r, i, c)
		}
	}
	if l.Mark() != before {
		return
	}
	if specifier < 0 {
		l.Lost(r, i)
		return
	}
	l.Begin(variableKind(l, i), r, i) // "int;", and the signs of patterns
	lowerModifiers(l, i)
	lowerTypeName(l, tree.RoleType, specifier)
	l.Close()
}

// variableKind says whether a declaration in that place is that of a member, by the body
// around it.
func variableKind(l *lang.Lowering, i int32) tree.Kind {
	if l.Kind(i) == "field_declaration" {
		return tree.Field
	}
	return tree.Variable
}

// lowerDeclarator lowers one name of a declaration.
func lowerDeclarator(l *lang.Lowering, r tree.Role, i, c int32) {
	specifier, d := l.Field(i, "type"), readDeclarator(l, c)
	if d.functionLayer(l) >= 0 || l.Kind(d.name) == "operator_cast" {
		lowerFunction(l, definition{role: r, whole: i, specifier: specifier, declarator: d, body: -1})
		return
	}
	l.Begin(variableKind(l, i), r, i)
	lowerModifiers(l, i)
	lowerFullType(l, tree.RoleType, specifier, d.layers)
	l.Need(tree.RoleTarget, c, d.name)
	if value := l.Field(c, "value"); l.Kind(c) == "init_declarator" {
		lowerInitialValue(l, specifier, value)
	} else {
		lowerInitialValue(l, specifier, defaultOf(l, i, c))
	}
	l.Close()
}

// lowerInitialValue adds the value of a variable: "T x(1)" makes a New.
func lowerInitialValue(l *lang.Lowering, specifier, value int32) {
	if l.Kind(value) != "argument_list" {
		l.Node(tree.RoleValue, value)
		return
	}
	l.BeginText(tree.New, tree.RoleValue, "new", value)
	if specifier >= 0 {
		lowerTypeName(l, tree.RoleType, specifier)
	} else {
		l.Lost(tree.RoleType, value)
	}
	l.Nodes(tree.RoleArgument, value)
	l.Close()
}

// defaultOf returns the default value that follows a declarator of a field.
func defaultOf(l *lang.Lowering, i, after int32) int32 {
	for c := range l.Every(i) {
		switch name := l.FieldName(c); {
		case c <= after:
		case name == "declarator":
			return -1
		case name == "default_value":
			return c
		}
	}
	return -1
}

// A definition is a function or its prototype.
type definition struct {
	role      tree.Role
	whole     int32
	specifier int32 // of the return type; -1 for none
	declarator
	body int32 // -1 for none
}

// lowerFunctionDefinition lowers a function with a body, "= default" and "= delete"
// included.
func lowerFunctionDefinition(l *lang.Lowering, r tree.Role, i int32) {
	d := readDeclarator(l, l.Field(i, "declarator"))
	lowerFunction(l, definition{role: r, whole: i, specifier: l.Field(i, "type"), declarator: d,
		body: l.Field(i, "body")})
}

// lowerFunction adds a Function: its modifiers, parameters and result come from the layers
// of the declarator around the name.
func lowerFunction(l *lang.Lowering, d definition) {
	l.BeginText(tree.Function, d.role, functionText(l, d), d.whole)
	lowerModifiers(l, d.whole)
	lowerTypeParameters(l, d.whole)
	l.Need(tree.RoleName, d.whole, d.name)
	layer := d.functionLayer(l)
	if list := l.Field(layer, "parameters"); list >= 0 {
		lowerParameters(l, list)
	}
	if layer >= 0 && d.specifier >= 0 {
		lowerFullType(l, tree.RoleReturnType, d.specifier, d.layers[:len(d.layers)-1])
	}
	lowerFunctionBody(l, d)
	l.Close()
}

// lowerFunctionBody adds the body; the initializers of a constructor are the first
// statements of it, as assignments to members.
func lowerFunctionBody(l *lang.Lowering, d definition) {
	initializers := l.Find(d.whole, "field_initializer_list")
	switch {
	case d.body < 0:
	case initializers < 0 || l.Kind(d.body) != "compound_statement":
		if l.Kind(d.body) == "compound_statement" {
			l.Node(tree.RoleBody, d.body)
			return
		}
		l.Begin(tree.Block, tree.RoleBody, d.body)
		l.Node(tree.RoleStatement, d.body)
		l.Close()
	default:
		l.Begin(tree.Block, tree.RoleBody, d.body)
		for c := range l.Children(initializers) {
			lowerInitializer(l, c)
		}
		l.Nodes(tree.RoleStatement, d.body)
		l.Close()
	}
}

// lowerInitializer lowers an initializer of a constructor, "a(b)", to the assignment that
// it is; several values are a List.
func lowerInitializer(l *lang.Lowering, i int32) {
	name := l.First(i)
	l.Flag(l.Begin(tree.ExpressionStatement, tree.RoleStatement, i), tree.Implied)
	l.BeginText(tree.Assign, tree.RoleValue, "=", i)
	l.Need(tree.RoleTarget, i, name)
	value, n := int32(-1), 0
	for c := range l.Children(i) {
		if c != name {
			value = c
		}
	}
	for range l.Children(max(value, 0)) {
		n++
	}
	if value >= 0 && n == 1 {
		l.Node(tree.RoleValue, l.First(value))
	} else if value >= 0 {
		l.Begin(tree.List, tree.RoleValue, value)
		l.Nodes(tree.RoleElement, value)
		l.Close()
	} else {
		l.Lost(tree.RoleValue, i)
	}
	l.Close()
	l.Close()
}

// functionText says what kind of function it is: one with "~" is a destructor, a member
// without a type a constructor.
func functionText(l *lang.Lowering, d definition) string {
	parent := l.CST.Nodes[d.whole].Parent
	for l.Kind(parent) == "template_declaration" {
		parent = l.CST.Nodes[parent].Parent
	}
	switch member := l.Kind(parent) == "field_declaration_list"; {
	case strings.Contains(l.Source(d.name), "~"):
		return "destructor"
	case member && d.specifier < 0 && l.Kind(d.name) == "identifier":
		return "constructor"
	case member:
		return "method"
	}
	return "function"
}

// lowerTypeParameters adds the parameters of the template that a declaration is.
func lowerTypeParameters(l *lang.Lowering, i int32) {
	parent := l.CST.Nodes[i].Parent
	if parent < 0 || l.Kind(parent) != "template_declaration" {
		return
	}
	list := l.Field(parent, "parameters")
	if list < 0 {
		return
	}
	for c := range l.Children(list) {
		l.Begin(tree.TypeParameter, tree.RoleTypeParameter, c)
		name := readDeclarator(l, l.Field(c, "declarator")).name
		if name < 0 {
			name = l.Field(c, "name")
		}
		if name < 0 {
			name = l.First(c)
		}
		if name >= 0 {
			lowerPart(l, tree.RoleName, name)
		}
		l.Close()
	}
}

// lowerParameters lowers a list; "..." in it is a Parameter "*" without a name.
func lowerParameters(l *lang.Lowering, list int32) {
	for c := range l.Every(list) {
		switch kind := l.Kind(c); {
		case kind == "..." || kind == "variadic_parameter":
			l.Put(tree.Parameter, tree.RoleParameter, "*", c)
		case strings.HasSuffix(kind, "parameter_declaration"):
			lowerParameter(l, c)
		case l.Named(c) && !l.Extra(c):
			l.Begin(tree.Parameter, tree.RoleParameter, c) // the names of an old definition
			l.Node(tree.RoleTarget, c)
			l.Close()
		}
	}
}

// lowerParameter lowers a parameter; "(void)" has none.
func lowerParameter(l *lang.Lowering, i int32) {
	if l.Source(i) == "void" {
		return
	}
	d := readDeclarator(l, l.Field(i, "declarator"))
	text := ""
	if l.Kind(i) == "variadic_parameter_declaration" {
		text = "*"
	}
	l.BeginText(tree.Parameter, tree.RoleParameter, text, i)
	lowerModifiers(l, i)
	lowerFullType(l, tree.RoleType, l.Field(i, "type"), d.layers)
	l.Node(tree.RoleTarget, d.name)
	l.Part(tree.RoleValue, i, "default_value")
	l.Close()
}

// classRule returns the rule for the specifiers of classes and enums. One without a body
// is a mere name.
func classRule(text string) lang.Rule {
	return func(l *lang.Lowering, r tree.Role, i int32) {
		list := l.Field(i, "body")
		if list < 0 && r != tree.RoleStatement {
			lowerTypeName(l, r, i)
			return
		}
		l.BeginText(tree.Class, r, text, i)
		if name := l.Field(i, "name"); name >= 0 {
			lowerPart(l, tree.RoleName, name)
		}
		lowerTypeParameters(l, i)
		if bases := l.Find(i, "base_class_clause"); bases >= 0 {
			for c := range l.Children(bases) {
				if l.Kind(c) != "access_specifier" {
					lowerTypeName(l, tree.RoleBase, c)
				}
			}
		}
		if list >= 0 {
			l.Begin(tree.Block, tree.RoleBody, list)
			l.Nodes(tree.RoleStatement, list)
			l.Close()
		}
		l.Close()
	}
}

// lowerEnumerator lowers a constant of an enum.
func lowerEnumerator(l *lang.Lowering, r tree.Role, i int32) {
	l.BeginText(tree.Field, r, "enum", i)
	l.Part(tree.RoleTarget, i, "name")
	l.Part(tree.RoleValue, i, "value")
	l.Close()
}

// lowerNamespace lowers a namespace as a Class "module": its names are members of it.
func lowerNamespace(l *lang.Lowering, r tree.Role, i int32) {
	l.BeginText(tree.Class, r, "module", i)
	l.Part(tree.RoleName, i, "name")
	if list := l.Field(i, "body"); list >= 0 {
		l.Begin(tree.Block, tree.RoleBody, list)
		l.Nodes(tree.RoleStatement, list)
		l.Close()
	}
	l.Close()
}

// lowerTypeDefinition lowers a typedef: a TypeAlias for each name.
func lowerTypeDefinition(l *lang.Lowering, r tree.Role, i int32) {
	specifier := l.Field(i, "type")
	before := l.Mark()
	if l.Field(specifier, "body") >= 0 {
		l.Node(r, specifier)
	}
	for c := range l.Fields(i, "declarator") {
		if !l.Named(c) {
			continue
		}
		d := readDeclarator(l, c)
		l.Begin(tree.TypeAlias, r, i)
		if d.name >= 0 {
			l.Same(tree.Name, tree.RoleName, d.name)
		}
		lowerFullType(l, tree.RoleType, specifier, d.layers)
		l.Close()
	}
	if l.Mark() == before {
		l.Lost(r, i)
	}
}

// lowerNamespaceAlias lowers "namespace a = b::c".
func lowerNamespaceAlias(l *lang.Lowering, r tree.Role, i int32) {
	name := l.Field(i, "name")
	for c := range l.Children(i) {
		if c != name {
			l.BeginText(tree.Import, r, dottedName(l.Source(c)), i)
			l.Node(tree.RolePath, c)
			l.Node(tree.RoleAlias, name)
			l.Close()
			return
		}
	}
	l.Lost(r, i)
}

// lowerUsing lowers "using a::b" and "using namespace a".
func lowerUsing(l *lang.Lowering, r tree.Role, i int32) {
	c := l.First(i)
	if c < 0 {
		l.Lost(r, i)
		return
	}
	path := strings.Split(dottedName(l.Source(c)), ".")
	n := len(path) - 1
	if l.Has(i, "namespace") || n == 0 {
		l.BeginText(tree.Import, r, dottedName(l.Source(c)), i)
		l.Node(tree.RolePath, c)
		if l.Has(i, "namespace") {
			l.Put(tree.Name, tree.RoleName, "*", c)
		}
		l.Close()
		return
	}
	l.BeginText(tree.Import, r, strings.Join(path[:n], "."), i)
	l.Put(tree.Name, tree.RolePath, strings.Join(path[:n], "."), c)
	l.Put(tree.Name, tree.RoleName, path[n], c)
	l.Close()
}

// lowerInclude lowers "#include": an Import of the file's name.
func lowerInclude(l *lang.Lowering, r tree.Role, i int32) {
	path := l.Field(i, "path")
	start, end := l.Range(i)
	if path >= 0 {
		_, end = l.Range(path) // without the end of the line
	}
	n := l.Open(tree.Import, r, start, end)
	l.File.Nodes[n].Text = strings.Trim(l.Source(path), `"<>`)
	l.Need(tree.RolePath, i, path)
	l.Close()
}
