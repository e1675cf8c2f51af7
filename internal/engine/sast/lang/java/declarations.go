package java

import (
	"strings"

	"merlon/internal/engine/sast/lang"
	"merlon/internal/engine/sast/tree"
)

// declarationRules are the rules for what has a name: types, members, parameters, imports.
var declarationRules = map[string]lang.Rule{
	"program":             func(l *lang.Lowering, r tree.Role, i int32) { openFile(l, i) },
	"package_declaration": lowerPackageDeclaration,
	"import_declaration":  lowerImportDeclaration,

	"class_declaration":           classRule("class"),
	"interface_declaration":       classRule("interface"),
	"enum_declaration":            classRule("enum"),
	"record_declaration":          classRule("record"),
	"annotation_type_declaration": classRule("annotation"),
	"class_body":                  lowerBody,
	"interface_body":              lowerBody,
	"annotation_type_body":        lowerBody,
	"enum_body":                   lowerBody,
	"enum_constant":               lowerEnumConstant,
	"permits":                     lowerPermits,

	"method_declaration":                  functionRule("method"),
	"constructor_declaration":             functionRule("constructor"),
	"compact_constructor_declaration":     functionRule("constructor"),
	"annotation_type_element_declaration": functionRule("method"),
	"constructor_body":                    lowerBlock,
	"static_initializer":                  lowerInitializer,
	"formal_parameters":                   lowerChildren,
	"formal_parameter":                    lowerParameter,
	"spread_parameter":                    lowerSpreadParameter,
	"receiver_parameter":                  lowerReceiverParameter,
	"type_parameters":                     lowerChildren,
	"type_parameter":                      lowerTypeParameter,

	"field_declaration":          variablesRule(tree.Field),
	"constant_declaration":       variablesRule(tree.Field),
	"local_variable_declaration": variablesRule(tree.Variable),

	"marker_annotation":        lowerAnnotation,
	"annotation":               lowerAnnotation,
	"annotation_argument_list": lowerChildren,
	"element_value_pair": lang.Slots(tree.Keyword, "", lang.Slot{Role: tree.RoleName, Field: "key"},
		lang.Slot{Role: tree.RoleValue, Field: "value"}),
	"element_value_array_initializer": lang.Around(tree.List, "", tree.RoleElement),
}

// openFile opens the root. Its range is that of the whole source, of which the
// concrete root leaves out blanks at both ends.
// Blanks and comments at both ends belong to no node of the grammar.
func openFile(l *lang.Lowering, i int32) {
	l.Open(tree.FileKind, tree.RoleNone, 0, uint32(len(l.File.Source)))
	lowerStatements(l, i)
	l.Close()
}

// lowerPackageDeclaration lowers "package a.b;".
// Annotations of a package occur in package-info.java only.
func lowerPackageDeclaration(l *lang.Lowering, r tree.Role, i int32) {
	p := l.Begin(tree.Package, r, i)
	lowerAnnotations(l, i)
	name := dottedChild(l, i)
	l.Need(tree.RoleName, i, name)
	l.File.Nodes[p].Text = dottedName(l, name)
	l.Close()
}

// lowerImportDeclaration lowers the four forms: a type, the types of a package, a member
// of a type ("static"), and all members of a type.
func lowerImportDeclaration(l *lang.Lowering, r tree.Role, i int32) {
	// import static a.B.c binds the member c of the type a.B: the path is the type, the name the
	// member.
	n := l.Begin(tree.Import, r, i)
	path, name := dottedChild(l, i), l.Find(i, "asterisk")
	if name < 0 && l.Has(i, "static") && l.Field(path, "scope") >= 0 {
		path, name = l.Field(path, "scope"), l.Field(path, "name")
	}
	l.File.Nodes[n].Text = dottedName(l, path)
	l.Need(tree.RolePath, i, path)
	if name >= 0 {
		l.Same(tree.Name, tree.RoleName, name)
	}
	l.Close()
}

// dottedChild returns the child that is a name, -1 when there is none.
// The child may be anywhere behind annotations and "static".
func dottedChild(l *lang.Lowering, i int32) int32 {
	for c := range l.Children(i) {
		if k := l.Kind(c); k == "identifier" || k == "scoped_identifier" {
			return c
		}
	}
	return -1
}

// dottedName returns the source of a name without the blanks and comments that may
// stand in it.
// Usually there are none, so the source itself is the name.
func dottedName(l *lang.Lowering, i int32) string {
	if i < 0 {
		return ""
	}
	if s := l.Source(i); !strings.ContainsAny(s, " \t\r\n/@<") {
		return s
	}
	var parts []string
	var walk func(int32)
	walk = func(i int32) {
		switch l.Kind(i) {
		case "identifier", "type_identifier":
			parts = append(parts, l.Source(i))
		case "scoped_identifier", "scoped_type_identifier", "generic_type":
			// Type arguments and annotations between the parts are skipped.
			for c := range l.Children(i) {
				walk(c)
			}
		}
	}
	walk(i)
	return strings.Join(parts, ".")
}

// classRule returns the rule for a declaration of a type.
func classRule(text string) lang.Rule {
	return func(l *lang.Lowering, r tree.Role, i int32) {
		l.BeginText(tree.Class, r, text, i)
		lowerModifiers(l, i)
		l.Part(tree.RoleName, i, "name")
		l.Part(tree.RoleTypeParameter, i, "type_parameters")
		// The components of a record are parameters of the type itself.
		l.Part(tree.RoleParameter, i, "parameters")
		lowerBases(l, tree.RoleBase, l.Find(i, "superclass"))
		interfaces := l.Field(i, "interfaces")
		// Interfaces extend interfaces in a node of another name.
		if interfaces < 0 {
			interfaces = l.Find(i, "extends_interfaces")
		}
		lowerBases(l, tree.RoleInterface, interfaces)
		l.Part(tree.RoleElement, i, "permits")
		l.Part(tree.RoleBody, i, "body")
		l.Close()
	}
}

// lowerBases lowers the types after "extends" or "implements".
func lowerBases(l *lang.Lowering, r tree.Role, i int32) {
	if i < 0 {
		return
	}
	// Several interfaces are wrapped in a list.
	for c := range l.Children(i) {
		if l.Kind(c) == "type_list" {
			l.Nodes(r, c)
		} else {
			l.Node(r, c)
		}
	}
}

// lowerPermits lowers the types that may extend a sealed one: an Other with Element*.
func lowerPermits(l *lang.Lowering, r tree.Role, i int32) {
	l.BeginText(tree.Other, r, "permits", i)
	lowerBases(l, tree.RoleElement, i)
	l.Close()
}

// lowerBody lowers the members of a type.
func lowerBody(l *lang.Lowering, r tree.Role, i int32) {
	l.Begin(tree.Block, r, i)
	lowerMembers(l, i)
	l.Close()
}

// lowerMembers lowers the members below the node. A block among them initializes an
// object.
// Members of an enum are nested below its constants. A block without a name runs for each new
// object.
func lowerMembers(l *lang.Lowering, i int32) {
	for c := range l.Children(i) {
		switch l.Kind(c) {
		case "enum_body_declarations":
			lowerMembers(l, c)
		case "block":
			l.BeginText(tree.Function, tree.RoleStatement, "initializer", c)
			l.Node(tree.RoleBody, c)
			l.Close()
		default:
			l.Node(tree.RoleStatement, c)
		}
	}
}

// lowerEnumConstant lowers a constant; one with arguments or members is a New of its
// enum.
// RED(255) { … } is an object of the enum's type, or of an anonymous class of it. A constant
// without either has no value.
func lowerEnumConstant(l *lang.Lowering, r tree.Role, i int32) {
	l.BeginText(tree.Field, r, "enum", i)
	lowerModifiers(l, i)
	name, arguments, body := l.Field(i, "name"), l.Field(i, "arguments"), l.Field(i, "body")
	l.Need(tree.RoleTarget, i, name)
	if arguments >= 0 || body >= 0 {
		// The New begins with the name and ends with the constant, behind annotations.
		_, end := l.Range(i)
		start := end
		if name >= 0 {
			start, _ = l.Range(name)
		}
		n := l.Open(tree.New, tree.RoleValue, start, end)
		l.File.Nodes[n].Text = "new"
		l.Flag(l.Leaf(tree.Type, tree.RoleType, enumName(l, i), start, start), tree.Implied)
		l.Node(tree.RoleArgument, arguments)
		l.Node(tree.RoleBody, body)
		l.Close()
	}
	l.Close()
}

// enumName returns the name of the enum of a constant.
// Enums nest: the nearest one is the type.
func enumName(l *lang.Lowering, i int32) string {
	for ; i >= 0; i = l.CST.Nodes[i].Parent {
		if l.Kind(i) == "enum_declaration" {
			return l.Source(l.Field(i, "name"))
		}
	}
	return ""
}

// functionRule returns the rule for a method or constructor. The default value of an
// element of an annotation type is its Value.
func functionRule(text string) lang.Rule {
	return func(l *lang.Lowering, r tree.Role, i int32) {
		l.BeginText(tree.Function, r, text, i)
		lowerModifiers(l, i)
		// Annotations may also stand behind the modifiers, beside the type.
		lowerAnnotations(l, i)
		l.Part(tree.RoleTypeParameter, i, "type_parameters")
		parameters := l.Field(i, "parameters")
		// "void m(A this)" declares the receiver for annotations.
		l.Node(tree.RoleReceiver, l.Find(parameters, "receiver_parameter"))
		l.Part(tree.RoleName, i, "name")
		if parameters >= 0 {
			for c := range l.Children(parameters) {
				if l.Kind(c) != "receiver_parameter" {
					l.Node(tree.RoleParameter, c)
				}
			}
		}
		// "int f()[]" has its brackets behind the parameters, a form from the first version of
		// Java.
		lowerArrayType(l, tree.RoleReturnType, l.Field(i, "type"), l.Field(i, "dimensions"))
		if throws := l.Find(i, "throws"); throws >= 0 {
			l.Nodes(tree.RoleThrows, throws)
		}
		l.Part(tree.RoleBody, i, "body")
		// The default of an annotation element: int value() default 1.
		l.Part(tree.RoleValue, i, "value")
		l.Close()
	}
}

// lowerInitializer lowers "static { … }".
// Static initializers run when the class is loaded, those of objects with each constructor.
func lowerInitializer(l *lang.Lowering, r tree.Role, i int32) {
	l.BeginText(tree.Function, r, "initializer", i)
	if static := l.Find(i, "static"); static >= 0 {
		l.Same(tree.Modifier, tree.RoleModifier, static)
	}
	l.Node(tree.RoleBody, l.Find(i, "block"))
	l.Close()
}

// lowerParameter lowers "T a".
func lowerParameter(l *lang.Lowering, r tree.Role, i int32) {
	l.Begin(tree.Parameter, r, i)
	lowerModifiers(l, i)
	lowerVariableType(l, l.Field(i, "type"), l.Field(i, "dimensions"))
	l.Part(tree.RoleTarget, i, "name")
	l.Close()
}

// lowerSpreadParameter lowers "T... name"; the type is that of one element.
// The parameter is an array of that type in the method; callers pass single values.
func lowerSpreadParameter(l *lang.Lowering, r tree.Role, i int32) {
	l.BeginText(tree.Parameter, r, "*", i)
	lowerModifiers(l, i)
	lowerAnnotations(l, i)
	for c := range l.Children(i) {
		switch l.Kind(c) {
		case "modifiers", "annotation", "marker_annotation":
		case "variable_declarator":
			l.Part(tree.RoleTarget, c, "name")
		default:
			l.Node(tree.RoleType, c)
		}
	}
	l.Close()
}

// lowerReceiverParameter lowers "T this", which is there for its annotations alone.
func lowerReceiverParameter(l *lang.Lowering, r tree.Role, i int32) {
	l.Begin(tree.Parameter, r, i)
	lowerAnnotations(l, i)
	for c := range l.Children(i) {
		switch l.Kind(c) {
		case "annotation", "marker_annotation", "identifier":
		case "this":
			l.Node(tree.RoleTarget, c)
		default:
			l.Node(tree.RoleType, c)
		}
	}
	l.Close()
}

// lowerTypeParameter lowers "T extends A & B" of a declaration.
// "T extends A & B" has several bounds, each of which is a base.
func lowerTypeParameter(l *lang.Lowering, r tree.Role, i int32) {
	l.Begin(tree.TypeParameter, r, i)
	lowerAnnotations(l, i)
	for c := range l.Children(i) {
		switch l.Kind(c) {
		case "type_identifier", "identifier":
			l.Same(tree.Name, tree.RoleName, c)
		case "type_bound":
			l.Nodes(tree.RoleBase, c)
		}
	}
	l.Close()
}

// variablesRule returns the rule for a declaration of variables: a node for each. The
// first one begins where the declaration does, the last one ends where it does.
func variablesRule(k tree.Kind) lang.Rule {
	return func(l *lang.Lowering, r tree.Role, i int32) {
		start, last := l.CST.Nodes[i].Start, int32(-1)
		for d := range l.Fields(i, "declarator") {
			last = d
		}
		// No declarator: damaged code.
		if last < 0 {
			l.Fallback(r, i, l.Node)
			return
		}
		for d := range l.Fields(i, "declarator") {
			// The ranges together cover the declaration once, without gaps that belong to none.
			end := l.CST.Nodes[d].End
			if d == last {
				end = l.CST.Nodes[i].End
			}
			if start > l.CST.Nodes[i].Start {
				start = l.CST.Nodes[d].Start
			}
			n := l.Open(k, r, start, end)
			l.File.Nodes[n].Text = inferredKeyword(l, l.Field(i, "type"))
			lowerModifiers(l, i)
			lowerVariableType(l, l.Field(i, "type"), l.Field(d, "dimensions"))
			l.Need(tree.RoleTarget, d, l.Field(d, "name"))
			l.Part(tree.RoleValue, d, "value")
			l.Close()
			start = end
		}
	}
}

// inferredKeyword returns "var" when it stands in the place of a type, else "".
// To the grammar "var" is the name of a type (Java 10).
func inferredKeyword(l *lang.Lowering, typ int32) string {
	if l.Kind(typ) == "type_identifier" && l.Source(typ) == "var" {
		return "var"
	}
	return ""
}

// lowerVariableType lowers the type of a variable, unless it is inferred. The brackets
// may stand behind the name.
func lowerVariableType(l *lang.Lowering, typ, dimensions int32) {
	if typ >= 0 && inferredKeyword(l, typ) == "" {
		lowerArrayType(l, tree.RoleType, typ, dimensions)
	}
}

// lowerAnnotation lowers "@A(…)" and "@A", which is the same as "@A()".
// An annotation is always a Call, so that one pattern, @A(...), matches both forms.
func lowerAnnotation(l *lang.Lowering, r tree.Role, i int32) {
	l.Begin(tree.Annotation, r, i)
	name := l.Field(i, "name")
	if name < 0 {
		name = i
	}
	start, _ := l.Range(name)
	_, end := l.Range(i)
	l.Open(tree.Call, tree.RoleValue, start, end)
	l.Need(tree.RoleCallee, i, l.Field(i, "name"))
	l.Part(tree.RoleArgument, i, "arguments")
	l.Close()
	l.Close()
}
