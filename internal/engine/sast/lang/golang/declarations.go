package golang

import (
	"merlon/internal/engine/sast/lang"
	"merlon/internal/engine/sast/tree"
)

// declarationRules are the rules for what has a name: functions, variables, types, imports.
var declarationRules = map[string]lang.Rule{
	"source_file":        lowerFile,
	"package_clause":     lowerPackageClause,
	"import_declaration": lowerChildren,
	"import_spec_list":   lowerChildren,
	"import_spec":        lowerImportSpec,

	"const_declaration": lowerChildren,
	"const_spec":        variablesRule("const"),
	"var_declaration":   lowerChildren,
	"var_spec_list":     lowerChildren,
	"var_spec":          variablesRule("var"),

	"function_declaration":           functionRule("function"),
	"method_declaration":             functionRule("method"),
	"method_elem":                    functionRule("method"),
	"parameter_list":                 lowerChildren,
	"parameter_declaration":          lowerParameters,
	"variadic_parameter_declaration": lowerVariadic,
	"type_parameter_list":            lowerChildren,
	"type_parameter_declaration":     lowerTypeParameters,

	"type_declaration":       lowerChildren,
	"type_spec":              lowerTypeSpec,
	"type_alias":             lowerTypeAlias,
	"field_declaration_list": lowerFields,
	"field_declaration":      lowerFieldDeclaration,
}

// lowerFile opens the root. Its range is that of the whole source, which the concrete root
// does not cover.
// Comments and a build constraint stand in front of the package clause.
func lowerFile(l *lang.Lowering, _ tree.Role, i int32) {
	l.Open(tree.FileKind, tree.RoleNone, 0, uint32(len(l.File.Source)))
	l.Nodes(tree.RoleStatement, i)
	l.Close()
}

// lowerPackageClause lowers "package p".
func lowerPackageClause(l *lang.Lowering, r tree.Role, i int32) {
	name := l.First(i)
	l.BeginText(tree.Package, r, l.Source(name), i)
	l.Need(tree.RoleName, i, name)
	l.Close()
}

// lowerImportSpec lowers an import of one package: "." takes every name of it, any other
// word before the path is its name here. Its range is that of the declaration.
// import . "fmt" takes all names, import _ "embed" is a name that nobody uses, import f "fmt"
// renames.
func lowerImportSpec(l *lang.Lowering, r tree.Role, i int32) {
	path, name := l.Field(i, "path"), l.Field(i, "name")
	declaration := l.CST.Nodes[i].Parent
	// A group in parentheses has a list in between. All imports of a group have the range of the
	// whole declaration.
	if l.Kind(declaration) == "import_spec_list" {
		declaration = l.CST.Nodes[declaration].Parent
	}
	l.BeginText(tree.Import, r, stringValue(l.Source(path)), declaration)
	l.Need(tree.RolePath, i, path)
	switch l.Kind(name) {
	case "":
	case "dot":
		l.Put(tree.Name, tree.RoleName, "*", name)
	default:
		l.Same(tree.Name, tree.RoleAlias, name)
	}
	l.Close()
}

// variablesRule returns the rule for "a, b T = v, w" behind var or const. As many values
// as names, or none, make a Variable for each name; otherwise the names are a Tuple.
// "var a, b = f()" has one value for two names: the results of the call are taken apart by a
// Tuple.
func variablesRule(keyword string) lang.Rule {
	return func(l *lang.Lowering, r tree.Role, i int32) {
		var names, values []int32
		for n := range l.Fields(i, "name") {
			if l.Named(n) {
				names = append(names, n)
			}
		}
		list := l.Field(i, "value")
		if list >= 0 {
			for v := range l.Children(list) {
				values = append(values, v)
			}
		}
		start, end := declarationRange(l, i)
		// The type, if given, applies to all names.
		if len(names) > 1 && len(values) == 1 {
			l.File.Nodes[l.Open(tree.Variable, r, start, end)].Text = keyword
			l.Part(tree.RoleType, i, "type")
			l.Open(tree.Tuple, tree.RoleTarget, l.CST.Nodes[names[0]].Start, l.CST.Nodes[names[len(names)-1]].End)
			for _, n := range names {
				l.Node(tree.RoleElement, n)
			}
			l.Close()
			l.Node(tree.RoleValue, values[0])
			l.Close()
			return
		}
		// k counts names and values alike; in a const group the values of later names may be
		// missing (iota).
		for k, n := range names {
			l.File.Nodes[l.Open(tree.Variable, r, start, end)].Text = keyword
			l.Part(tree.RoleType, i, "type")
			l.Node(tree.RoleTarget, n)
			if k < len(values) {
				l.Node(tree.RoleValue, values[k])
			}
			l.Close()
		}
	}
}

// declarationRange returns the range of a specification: with the keyword, when it
// is the only one behind it.
// With "var x = 1" the finding includes the word var; inside of "var ( … )" each specification
// has its own range.
func declarationRange(l *lang.Lowering, i int32) (start, end uint32) {
	p := l.CST.Nodes[i].Parent
	if p >= 0 && !l.Has(p, "(") {
		switch l.Kind(p) {
		case "const_declaration", "var_declaration", "type_declaration":
			return l.Range(p)
		}
	}
	return l.Range(i)
}

// functionRule returns the rule for a function or a method, which may have no body.
// Functions without a body are implemented in assembler or are methods of an interface.
func functionRule(text string) lang.Rule {
	return func(l *lang.Lowering, r tree.Role, i int32) {
		l.BeginText(tree.Function, r, text, i)
		l.Part(tree.RoleTypeParameter, i, "type_parameters")
		// The receiver is a parameter list of one.
		if receiver := l.Field(i, "receiver"); receiver >= 0 {
			l.Node(tree.RoleReceiver, l.First(receiver))
		}
		l.Part(tree.RoleName, i, "name")
		l.Part(tree.RoleParameter, i, "parameters")
		lowerResult(l, i)
		l.Part(tree.RoleBody, i, "body")
		l.Close()
	}
}

// lowerResult lowers what a function returns: several results, and those with names, are
// a Type "()" of Types or Parameters.
// Without a list the result is a single type.
func lowerResult(l *lang.Lowering, i int32) {
	list := l.Field(i, "result")
	if l.Kind(list) != "parameter_list" {
		l.Node(tree.RoleReturnType, list)
		return
	}
	count, named := 0, false
	for p := range l.Children(list) {
		count++
		named = named || l.Field(p, "name") >= 0
	}
	// "(error)" in parentheses is the type itself.
	if count == 1 && !named {
		l.Part(tree.RoleReturnType, l.First(list), "type")
		return
	}
	l.BeginText(tree.Type, tree.RoleReturnType, "()", list)
	for p := range l.Children(list) {
		if l.Field(p, "name") >= 0 {
			l.Node(tree.RoleElement, p)
		} else {
			l.Part(tree.RoleElement, p, "type")
		}
	}
	l.Close()
}

// lowerParameters lowers "a, b T": a Parameter for each name, or one without a name.
// The range of the first parameter begins with the list, so that "a, b int" is covered
// completely.
func lowerParameters(l *lang.Lowering, r tree.Role, i int32) {
	typ, any := l.Field(i, "type"), false
	start, end := l.Range(i)
	for name := range l.Fields(i, "name") {
		if !l.Named(name) {
			continue
		}
		if any {
			start, _ = l.Range(name)
		}
		l.Open(tree.Parameter, r, start, end)
		l.Node(tree.RoleType, typ)
		l.Node(tree.RoleTarget, name)
		l.Close()
		any = true
	}
	// A parameter of a function type may have a type only: func(int).
	if !any {
		l.Begin(tree.Parameter, r, i)
		l.Node(tree.RoleType, typ)
		l.Close()
	}
}

// lowerVariadic lowers "a ...T" of a parameter list.
func lowerVariadic(l *lang.Lowering, r tree.Role, i int32) {
	l.BeginText(tree.Parameter, r, "*", i)
	l.Part(tree.RoleType, i, "type")
	l.Part(tree.RoleTarget, i, "name")
	l.Close()
}

// lowerTypeParameters lowers "[T, U any]": a TypeParameter for each name.
// The constraint is the base of each name.
func lowerTypeParameters(l *lang.Lowering, r tree.Role, i int32) {
	for name := range l.Fields(i, "name") {
		if !l.Named(name) {
			continue
		}
		start, _ := l.Range(name)
		_, end := l.Range(i)
		l.Open(tree.TypeParameter, r, start, end)
		l.Node(tree.RoleName, name)
		l.Part(tree.RoleBase, i, "type")
		l.Close()
	}
}

// lowerTypeSpec lowers "type T …": a struct or an interface is a Class, any other type a
// TypeAlias, although it is a type of its own.
// "type Celsius float64" has methods of its own, but its values are those of the other type,
// which is what the data flow needs.
func lowerTypeSpec(l *lang.Lowering, r tree.Role, i int32) {
	typ := l.Field(i, "type")
	switch l.Kind(typ) {
	case "struct_type":
		lowerClass(l, r, i, "struct")
	case "interface_type":
		lowerClass(l, r, i, "interface")
	default:
		lowerTypeDeclaration(l, r, i, "")
	}
}

// lowerTypeAlias lowers "type A = B"; the text "=" tells it from a definition.
func lowerTypeAlias(l *lang.Lowering, r tree.Role, i int32) { lowerTypeDeclaration(l, r, i, "=") }

// lowerTypeDeclaration adds the TypeAlias of a type with a name that is no struct or
// interface.
func lowerTypeDeclaration(l *lang.Lowering, r tree.Role, i int32, text string) {
	start, end := declarationRange(l, i)
	l.File.Nodes[l.Open(tree.TypeAlias, r, start, end)].Text = text
	lowerTypeName(l, i)
	l.Part(tree.RoleTypeParameter, i, "type_parameters")
	l.Need(tree.RoleType, i, l.Field(i, "type"))
	l.Close()
}

// lowerTypeName lowers the name that a type is declared with.
func lowerTypeName(l *lang.Lowering, i int32) {
	if name := l.Field(i, "name"); name >= 0 {
		l.Same(tree.Name, tree.RoleName, name)
	}
}

// lowerClass lowers a struct or an interface with a name. Embedded types are its bases,
// since their methods become its own.
// The methods of an embedded type are promoted (Go specification, Selectors), as if they were
// inherited.
func lowerClass(l *lang.Lowering, r tree.Role, i int32, text string) {
	start, end := declarationRange(l, i)
	l.File.Nodes[l.Open(tree.Class, r, start, end)].Text = text
	lowerTypeName(l, i)
	l.Part(tree.RoleTypeParameter, i, "type_parameters")
	typ := l.Field(i, "type")
	if text == "struct" {
		body := l.Find(typ, "field_declaration_list")
		// An embedded field has no name.
		for f := range l.Children(body) {
			if l.Kind(f) == "field_declaration" && l.Field(f, "name") < 0 {
				l.Part(tree.RoleBase, f, "type")
			}
		}
		l.Node(tree.RoleBody, body)
	} else {
		for e := range l.Children(typ) {
			// Type sets of constraints: "~int | ~string".
			if l.Kind(e) == "type_elem" {
				l.Node(tree.RoleInterface, e)
			}
		}
		lowerMembers(l, typ)
	}
	l.Close()
}

// lowerMembers lowers the methods of an interface as its body.
// The range begins with the brace: the word interface belongs to the class.
func lowerMembers(l *lang.Lowering, typ int32) {
	start, end := l.Range(typ)
	if brace := l.Find(typ, "{"); brace >= 0 {
		start, _ = l.Range(brace)
	}
	l.Open(tree.Block, tree.RoleBody, start, end)
	for e := range l.Children(typ) {
		if l.Kind(e) != "type_elem" {
			l.Node(tree.RoleStatement, e)
		}
	}
	l.Close()
}

// lowerFields lowers the fields of a struct.
func lowerFields(l *lang.Lowering, r tree.Role, i int32) {
	l.Begin(tree.Block, r, i)
	l.Nodes(tree.RoleStatement, i)
	l.Close()
}

// lowerFieldDeclaration lowers "a, b T `tag`"; the tag is an Annotation. An embedded type
// is a field of its name.
// Tags decide how a struct is decoded: `json:"name"`. Rules match them as annotations.
func lowerFieldDeclaration(l *lang.Lowering, r tree.Role, i int32) {
	any := false
	for name := range l.Fields(i, "name") {
		if l.Named(name) {
			lowerField(l, r, i, name)
			any = true
		}
	}
	if !any {
		lowerField(l, r, i, -1)
	}
}

// lowerField adds one field; an embedded type is a Field whose name is implied.
func lowerField(l *lang.Lowering, r tree.Role, i, name int32) {
	l.Begin(tree.Field, r, i)
	if tag := l.Field(i, "tag"); tag >= 0 {
		l.Begin(tree.Annotation, tree.RoleAnnotation, tag)
		l.Node(tree.RoleValue, tag)
		l.Close()
	}
	typ := l.Field(i, "type")
	// "*T" of an embedded field is not wrapped in a pointer type by the grammar.
	if star := l.Find(i, "*"); star >= 0 && typ >= 0 {
		l.Open(tree.Type, tree.RoleType, l.CST.Nodes[star].Start, l.CST.Nodes[typ].End)
		l.File.Nodes[len(l.File.Nodes)-1].Text = "*"
		l.Node(tree.RoleElement, typ)
		l.Close()
	} else {
		l.Node(tree.RoleType, typ)
	}
	if name >= 0 {
		l.Node(tree.RoleTarget, name)
	} else {
		// The name of an embedded field is the last part of its type: http.Client is Client,
		// List[int] is List.
		last := typ
		for l.Kind(last) == "generic_type" {
			last = l.Field(last, "type")
		}
		if l.Kind(last) == "qualified_type" {
			last = l.Field(last, "name")
		}
		if last >= 0 {
			l.Flag(l.Same(tree.Name, tree.RoleTarget, last), tree.Implied)
		}
	}
	l.Close()
}
