package scala

import (
	"merlon/internal/engine/sast/lang"
	"merlon/internal/engine/sast/tree"
)

// declarationRules are the rules for what has a name: types, functions, values, imports.
var declarationRules = map[string]lang.Rule{
	"compilation_unit":   lowerFile,
	"package_clause":     lowerPackageClause,
	"package_object":     classRule("object"),
	"import_declaration": lowerImportDeclaration,
	"annotation":         lowerAnnotation,

	"class_definition":             classRule("class"),
	"object_definition":            classRule("object"),
	"trait_definition":             classRule("trait"),
	"enum_definition":              classRule("enum"),
	"template_body":                lowerBlock,
	"with_template_body":           lowerBlock,
	"enum_body":                    lowerBlock,
	"self_type":                    lang.Skip,
	"enum_case_definitions":        lowerChildren,
	"simple_enum_case":             lowerEnumCase,
	"full_enum_case":               lowerEnumCase,
	"class_parameters":             lowerChildren,
	"class_parameter":              lowerParameter,
	"type_parameters":              lowerTypeParameters,
	"covariant_type_parameter":     lowerTypeParameter,
	"contravariant_type_parameter": lowerTypeParameter,

	"function_definition":  lowerFunction,
	"function_declaration": lowerFunction,
	"extension_definition": lowerExtension,
	"parameters":           lowerChildren,
	"parameter":            lowerParameter,
	"val_definition":       variableRule("val"),
	"var_definition":       variableRule("var"),
	"val_declaration":      variableRule("val"),
	"var_declaration":      variableRule("var"),
	"identifiers":          lang.Around(tree.Tuple, "", tree.RoleElement),
	"type_definition":      lowerTypeDefinition,
}

// lowerFile opens the root. Its range is that of the whole source, which the concrete root
// does not cover.
func lowerFile(l *lang.Lowering, _ tree.Role, i int32) {
	l.Open(tree.FileKind, tree.RoleNone, 0, uint32(len(l.File.Source)))
	l.Nodes(tree.RoleStatement, i)
	l.Close()
}

// joinNames returns the text of names with dots between them.
func joinNames(l *lang.Lowering, names []int32) string {
	text := ""
	for k, n := range names {
		if k > 0 {
			text += "."
		}
		text += bareName(l, n)
	}
	return text
}

// lowerPackageClause lowers a package; what stands in its braces becomes its sibling.
func lowerPackageClause(l *lang.Lowering, r tree.Role, i int32) {
	name, body := l.Field(i, "name"), l.Field(i, "body")
	var names []int32
	for c := range l.Children(name) {
		names = append(names, c)
	}
	start, end := l.Range(i)
	if body >= 0 && name >= 0 {
		_, end = l.Range(name)
	}
	l.File.Nodes[l.Open(tree.Package, r, start, end)].Text = joinNames(l, names)
	l.Chain(tree.RoleName, names)
	l.Close()
	if body >= 0 {
		l.Nodes(r, body)
	}
}

// lowerImportDeclaration lowers "import a.b, c.{D, E => F, _}": a node for each name.
func lowerImportDeclaration(l *lang.Lowering, r tree.Role, i int32) {
	var path []int32
	done := false
	flush := func() {
		if len(path) > 0 && !done {
			imported{i, path, -1, -1}.lowerImport(l, r)
		}
		path, done = nil, false
	}
	for c := range l.Every(i) {
		switch k := l.Kind(c); {
		case k == ",":
			flush()
		case k == "namespace_wildcard", k == "as_renamed_identifier":
			selectedName(l, i, path, c).lowerImport(l, r)
			done = true
		case k == "namespace_selectors":
			for s := range l.Children(c) {
				selectedName(l, i, path, s).lowerImport(l, r)
			}
			done = true
		case l.Named(c) && !l.Extra(c) && l.FieldName(c) == "path":
			path = append(path, c)
		}
	}
	flush()
}

// imported is one name that is taken from a path, or with -1 the path itself.
type imported struct {
	node        int32
	path        []int32
	name, alias int32
}

// selectedName returns the name that a selector takes.
func selectedName(l *lang.Lowering, i int32, path []int32, s int32) imported {
	switch l.Kind(s) {
	case "as_renamed_identifier", "arrow_renamed_identifier":
		return imported{i, path, l.Field(s, "name"), l.Field(s, "alias")}
	}
	return imported{i, path, s, -1}
}

// lowerImport adds the Import of the name.
func (m imported) lowerImport(l *lang.Lowering, r tree.Role) {
	l.BeginText(tree.Import, r, joinNames(l, m.path), m.node)
	l.Chain(tree.RolePath, m.path)
	switch l.Kind(m.name) {
	case "":
	case "namespace_wildcard", "wildcard":
		l.Put(tree.Name, tree.RoleName, "*", m.name)
	default:
		l.Node(tree.RoleName, m.name)
	}
	l.Node(tree.RoleAlias, m.alias)
	l.Close()
}

// lowerAnnotation lowers "@A(…)" and "@A", which is the same as "@A()".
func lowerAnnotation(l *lang.Lowering, r tree.Role, i int32) {
	l.Begin(tree.Annotation, r, i)
	l.Begin(tree.Call, tree.RoleValue, i)
	lowerTypeAsExpression(l, tree.RoleCallee, l.Field(i, "name"))
	l.Parts(tree.RoleArgument, i, "arguments")
	l.Close()
	l.Close()
}

// classRule returns the rule for what has members.
func classRule(text string) lang.Rule {
	return func(l *lang.Lowering, r tree.Role, i int32) {
		l.BeginText(tree.Class, r, text, i)
		lowerModifiers(l, i, "case")
		l.Part(tree.RoleName, i, "name")
		l.Part(tree.RoleTypeParameter, i, "type_parameters")
		l.Parts(tree.RoleParameter, i, "class_parameters")
		lowerBases(l, l.Field(i, "extend"))
		l.Part(tree.RoleBody, i, "body")
		l.Close()
	}
}

// lowerBases lowers the types that a class extends; the arguments of the first one are
// left out.
func lowerBases(l *lang.Lowering, i int32) {
	for c := range l.Children(i) {
		if l.Kind(c) != "arguments" {
			lowerBaseType(l, c)
		}
	}
}

// lowerBaseType lowers "A with B" as two bases.
func lowerBaseType(l *lang.Lowering, i int32) {
	if l.Kind(i) != "compound_type" || l.TooDeep() {
		l.Node(tree.RoleBase, i)
		return
	}
	lowerBaseType(l, l.Field(i, "base"))
	l.Parts(tree.RoleBase, i, "extra")
}

// lowerEnumCase lowers the cases of an enum of Scala 3.
func lowerEnumCase(l *lang.Lowering, r tree.Role, i int32) {
	l.BeginText(tree.Field, r, "enum", i)
	l.Need(tree.RoleTarget, i, l.Field(i, "name"))
	l.Close()
}

// lowerBlock lowers braces with statements in them.
func lowerBlock(l *lang.Lowering, r tree.Role, i int32) {
	l.Begin(tree.Block, r, i)
	l.Nodes(tree.RoleStatement, i)
	l.Close()
}

// lowerParameter lowers a parameter of a function or a class; "val" and "var", which make
// it a member, are modifiers.
func lowerParameter(l *lang.Lowering, r tree.Role, i int32) {
	typ := l.Field(i, "type")
	text := ""
	if l.Kind(typ) == "repeated_parameter_type" {
		text = "*"
	}
	l.BeginText(tree.Parameter, r, text, i)
	lowerModifiers(l, i, "val", "var")
	l.Node(tree.RoleType, typ)
	l.Part(tree.RoleTarget, i, "name")
	l.Part(tree.RoleValue, i, "default_value")
	l.Close()
}

// lowerTypeParameters lowers a list; the grammar leaves the parts of a plain parameter in
// it.
func lowerTypeParameters(l *lang.Lowering, r tree.Role, i int32) {
	for c := range l.Children(i) {
		switch {
		case l.FieldName(c) == "name":
			l.Begin(tree.TypeParameter, r, c)
			l.Same(tree.Name, tree.RoleName, c)
			l.Close()
		case l.Kind(c) == "covariant_type_parameter", l.Kind(c) == "contravariant_type_parameter":
			l.Node(r, c)
		}
	}
}

// lowerTypeParameter lowers "T" of a declaration; its bounds are left out.
func lowerTypeParameter(l *lang.Lowering, r tree.Role, i int32) {
	l.Begin(tree.TypeParameter, r, i)
	if name := l.Field(i, "name"); name >= 0 {
		l.Same(tree.Name, tree.RoleName, name)
	}
	l.Close()
}

// isMember reports whether the node stands in the body of a class.
func isMember(l *lang.Lowering, i int32) bool {
	switch l.Kind(l.CST.Nodes[i].Parent) {
	case "template_body", "with_template_body", "enum_body":
		return true
	}
	return false
}

// lowerFunction lowers "def"; one named "this" is a constructor. All lists of parameters
// become one.
func lowerFunction(l *lang.Lowering, r tree.Role, i int32) {
	text := "function"
	if isMember(l, i) {
		text = "method"
	}
	name := l.Field(i, "name")
	if l.Source(name) == "this" {
		text = "constructor"
	}
	l.BeginText(tree.Function, r, text, i)
	lowerModifiers(l, i)
	for p := range l.Fields(i, "parameters") {
		if l.Kind(p) == "type_parameters" {
			l.Node(tree.RoleTypeParameter, p)
		}
	}
	if name >= 0 {
		l.Put(tree.Name, tree.RoleName, bareName(l, name), name)
	}
	for p := range l.Fields(i, "parameters") {
		if l.Kind(p) == "parameters" {
			l.Node(tree.RoleParameter, p)
		}
	}
	l.Part(tree.RoleReturnType, i, "return_type")
	l.Part(tree.RoleBody, i, "body")
	l.Close()
}

// lowerExtension lowers the methods that are added to a type.
func lowerExtension(l *lang.Lowering, r tree.Role, i int32) {
	parameters := l.Field(i, "parameters")
	for c := range l.Children(i) {
		if c > parameters {
			l.Node(r, c)
		}
	}
}

// variableRule returns the rule for "val" and "var" with a pattern or with names.
func variableRule(text string) lang.Rule {
	return func(l *lang.Lowering, r tree.Role, i int32) {
		kind := tree.Variable
		if isMember(l, i) {
			kind = tree.Field
		}
		targets := []int32{l.Field(i, "pattern")}
		if targets[0] < 0 {
			targets = nil
			for n := range l.Fields(i, "name") {
				if l.Named(n) {
					targets = append(targets, n)
				}
			}
		}
		for _, target := range targets {
			l.BeginText(kind, r, text, i)
			lowerModifiers(l, i)
			l.Part(tree.RoleType, i, "type")
			l.Node(tree.RoleTarget, target)
			l.Part(tree.RoleValue, i, "value")
			l.Close()
		}
	}
}

// lowerTypeDefinition lowers "type A = B".
func lowerTypeDefinition(l *lang.Lowering, r tree.Role, i int32) {
	l.BeginText(tree.TypeAlias, r, "=", i)
	lowerModifiers(l, i)
	if name := l.Field(i, "name"); name >= 0 {
		l.Same(tree.Name, tree.RoleName, name)
	}
	l.Part(tree.RoleTypeParameter, i, "type_parameters")
	l.Part(tree.RoleType, i, "type")
	l.Close()
}
