package scala

import (
	"merlon/internal/engine/sast/lang"
	"merlon/internal/engine/sast/tree"
)

var declarationRules = map[string]lang.Rule{
	"compilation_unit":   file,
	"package_clause":     packageClause,
	"package_object":     class("object"),
	"import_declaration": importDeclaration,
	"annotation":         annotation,

	"class_definition":             class("class"),
	"object_definition":            class("object"),
	"trait_definition":             class("trait"),
	"enum_definition":              class("enum"),
	"template_body":                block,
	"with_template_body":           block,
	"enum_body":                    block,
	"self_type":                    lang.Skip,
	"enum_case_definitions":        children,
	"simple_enum_case":             enumCase,
	"full_enum_case":               enumCase,
	"class_parameters":             children,
	"class_parameter":              parameter,
	"type_parameters":              typeParameters,
	"covariant_type_parameter":     typeParameter,
	"contravariant_type_parameter": typeParameter,

	"function_definition":  function,
	"function_declaration": function,
	"extension_definition": extension,
	"parameters":           children,
	"parameter":            parameter,
	"val_definition":       variable("val"),
	"var_definition":       variable("var"),
	"val_declaration":      variable("val"),
	"var_declaration":      variable("var"),
	"identifiers":          lang.Around(tree.Tuple, "", tree.RoleElement),
	"type_definition":      typeDefinition,
}

func file(l *lang.Lowering, _ tree.Role, i int32) {
	l.Open(tree.FileKind, tree.RoleNone, 0, uint32(len(l.File.Source)))
	l.Nodes(tree.RoleStatement, i)
	l.Close()
}

// dotted returns the text of names with dots between them.
func dotted(l *lang.Lowering, names []int32) string {
	text := ""
	for k, n := range names {
		if k > 0 {
			text += "."
		}
		text += bare(l, n)
	}
	return text
}

// packageClause lowers a package; what stands in its braces becomes its sibling.
func packageClause(l *lang.Lowering, r tree.Role, i int32) {
	name, body := l.Field(i, "name"), l.Field(i, "body")
	var names []int32
	for c := range l.Children(name) {
		names = append(names, c)
	}
	start, end := l.Range(i)
	if body >= 0 && name >= 0 {
		_, end = l.Range(name)
	}
	l.File.Nodes[l.Open(tree.Package, r, start, end)].Text = dotted(l, names)
	l.Chain(tree.RoleName, names)
	l.Close()
	if body >= 0 {
		l.Nodes(r, body)
	}
}

// importDeclaration lowers "import a.b, c.{D, E => F, _}": a node for each name.
func importDeclaration(l *lang.Lowering, r tree.Role, i int32) {
	var path []int32
	done := false
	flush := func() {
		if len(path) > 0 && !done {
			imported{i, path, -1, -1}.lower(l, r)
		}
		path, done = nil, false
	}
	for c := range l.Every(i) {
		switch k := l.Kind(c); {
		case k == ",":
			flush()
		case k == "namespace_wildcard", k == "as_renamed_identifier":
			selected(l, i, path, c).lower(l, r)
			done = true
		case k == "namespace_selectors":
			for s := range l.Children(c) {
				selected(l, i, path, s).lower(l, r)
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

// selected returns the name that a selector takes.
func selected(l *lang.Lowering, i int32, path []int32, s int32) imported {
	switch l.Kind(s) {
	case "as_renamed_identifier", "arrow_renamed_identifier":
		return imported{i, path, l.Field(s, "name"), l.Field(s, "alias")}
	}
	return imported{i, path, s, -1}
}

func (m imported) lower(l *lang.Lowering, r tree.Role) {
	l.BeginText(tree.Import, r, dotted(l, m.path), m.node)
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

// annotation lowers "@A(…)" and "@A", which is the same as "@A()".
func annotation(l *lang.Lowering, r tree.Role, i int32) {
	l.Begin(tree.Annotation, r, i)
	l.Begin(tree.Call, tree.RoleValue, i)
	typeAsExpression(l, tree.RoleCallee, l.Field(i, "name"))
	l.Parts(tree.RoleArgument, i, "arguments")
	l.Close()
	l.Close()
}

// class returns the rule for what has members.
func class(text string) lang.Rule {
	return func(l *lang.Lowering, r tree.Role, i int32) {
		l.BeginText(tree.Class, r, text, i)
		modifiers(l, i, "case")
		l.Part(tree.RoleName, i, "name")
		l.Part(tree.RoleTypeParameter, i, "type_parameters")
		l.Parts(tree.RoleParameter, i, "class_parameters")
		bases(l, l.Field(i, "extend"))
		l.Part(tree.RoleBody, i, "body")
		l.Close()
	}
}

// bases lowers the types that a class extends; the arguments of the first one are
// left out.
func bases(l *lang.Lowering, i int32) {
	for c := range l.Children(i) {
		if l.Kind(c) != "arguments" {
			baseType(l, c)
		}
	}
}

// baseType lowers "A with B" as two bases.
func baseType(l *lang.Lowering, i int32) {
	if l.Kind(i) != "compound_type" || l.TooDeep() {
		l.Node(tree.RoleBase, i)
		return
	}
	baseType(l, l.Field(i, "base"))
	l.Parts(tree.RoleBase, i, "extra")
}

func enumCase(l *lang.Lowering, r tree.Role, i int32) {
	l.BeginText(tree.Field, r, "enum", i)
	l.Need(tree.RoleTarget, i, l.Field(i, "name"))
	l.Close()
}

func block(l *lang.Lowering, r tree.Role, i int32) {
	l.Begin(tree.Block, r, i)
	l.Nodes(tree.RoleStatement, i)
	l.Close()
}

// parameter lowers a parameter of a function or a class; "val" and "var", which make
// it a member, are modifiers.
func parameter(l *lang.Lowering, r tree.Role, i int32) {
	typ := l.Field(i, "type")
	text := ""
	if l.Kind(typ) == "repeated_parameter_type" {
		text = "*"
	}
	l.BeginText(tree.Parameter, r, text, i)
	modifiers(l, i, "val", "var")
	l.Node(tree.RoleType, typ)
	l.Part(tree.RoleTarget, i, "name")
	l.Part(tree.RoleValue, i, "default_value")
	l.Close()
}

// typeParameters lowers a list; the grammar leaves the parts of a plain parameter in
// it.
func typeParameters(l *lang.Lowering, r tree.Role, i int32) {
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

func typeParameter(l *lang.Lowering, r tree.Role, i int32) {
	l.Begin(tree.TypeParameter, r, i)
	if name := l.Field(i, "name"); name >= 0 {
		l.Same(tree.Name, tree.RoleName, name)
	}
	l.Close()
}

// member reports whether the node stands in the body of a class.
func member(l *lang.Lowering, i int32) bool {
	switch l.Kind(l.CST.Nodes[i].Parent) {
	case "template_body", "with_template_body", "enum_body":
		return true
	}
	return false
}

// function lowers "def"; one named "this" is a constructor. All lists of parameters
// become one.
func function(l *lang.Lowering, r tree.Role, i int32) {
	text := "function"
	if member(l, i) {
		text = "method"
	}
	name := l.Field(i, "name")
	if l.Source(name) == "this" {
		text = "constructor"
	}
	l.BeginText(tree.Function, r, text, i)
	modifiers(l, i)
	for p := range l.Fields(i, "parameters") {
		if l.Kind(p) == "type_parameters" {
			l.Node(tree.RoleTypeParameter, p)
		}
	}
	if name >= 0 {
		l.Put(tree.Name, tree.RoleName, bare(l, name), name)
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

// extension lowers the methods that are added to a type.
func extension(l *lang.Lowering, r tree.Role, i int32) {
	parameters := l.Field(i, "parameters")
	for c := range l.Children(i) {
		if c > parameters {
			l.Node(r, c)
		}
	}
}

// variable returns the rule for "val" and "var" with a pattern or with names.
func variable(text string) lang.Rule {
	return func(l *lang.Lowering, r tree.Role, i int32) {
		kind := tree.Variable
		if member(l, i) {
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
			modifiers(l, i)
			l.Part(tree.RoleType, i, "type")
			l.Node(tree.RoleTarget, target)
			l.Part(tree.RoleValue, i, "value")
			l.Close()
		}
	}
}

func typeDefinition(l *lang.Lowering, r tree.Role, i int32) {
	l.BeginText(tree.TypeAlias, r, "=", i)
	modifiers(l, i)
	if name := l.Field(i, "name"); name >= 0 {
		l.Same(tree.Name, tree.RoleName, name)
	}
	l.Part(tree.RoleTypeParameter, i, "type_parameters")
	l.Part(tree.RoleType, i, "type")
	l.Close()
}
