package csharp

import (
	"merlon/internal/engine/sast/cst"
	"merlon/internal/engine/sast/lang"
	"merlon/internal/engine/sast/tree"
)

// declarationRules are the rules for what has a name: types, members, parameters, imports.
var declarationRules = map[string]lang.Rule{
	"compilation_unit":                  lowerFile,
	"global_statement":                  lowerChildren,
	"shebang_directive":                 lang.Skip,
	"preproc_if":                        lowerPreprocessed,
	"preproc_else":                      lowerChildren,
	"preproc_elif":                      lowerPreprocessed,
	"using_directive":                   lowerUsing,
	"namespace_declaration":             lowerNamespace,
	"file_scoped_namespace_declaration": lowerNamespace,

	"attribute_list":             lowerChildren,
	"attribute":                  lowerAttribute,
	"attribute_argument_list":    lowerChildren,
	"attribute_argument":         lowerAttributeArgument,
	"attribute_target_specifier": lang.Skip,

	"class_declaration":            classRule("class"),
	"struct_declaration":           classRule("struct"),
	"interface_declaration":        classRule("interface"),
	"record_declaration":           classRule("record"),
	"enum_declaration":             classRule("enum"),
	"declaration_list":             lowerBlock,
	"enum_member_declaration_list": lowerBlock,
	"enum_member_declaration":      lowerEnumMember,
	"delegate_declaration":         lowerDelegate,

	"method_declaration":              functionRule("method"),
	"constructor_declaration":         functionRule("constructor"),
	"destructor_declaration":          functionRule("destructor"),
	"operator_declaration":            functionRule("method"),
	"conversion_operator_declaration": functionRule("method"),
	"local_function_statement":        functionRule("function"),
	"arrow_expression_clause":         lowerInner,
	"parameter_list":                  lowerParameters,
	"bracketed_parameter_list":        lowerParameters,
	"parameter":                       lowerParameter,

	"field_declaration":           lowerFields,
	"event_field_declaration":     lowerFields,
	"local_declaration_statement": lowerLocal,
	"property_declaration":        lowerProperty,
	"indexer_declaration":         lowerProperty,
	"event_declaration":           lowerProperty,
}

// lowerFile lowers the compilation unit.
func lowerFile(l *lang.Lowering, _ tree.Role, i int32) {
	l.Open(tree.FileKind, tree.RoleNone, 0, uint32(len(l.File.Source)))
	lowerChildren(l, tree.RoleStatement, i)
	l.Close()
}

// lowerPreprocessed lowers what stands behind "#if": all branches, without the condition.
func lowerPreprocessed(l *lang.Lowering, r tree.Role, i int32) {
	condition := l.Field(i, "condition")
	for c := range childParts(l, i) {
		if c != condition {
			l.Node(r, c)
		}
	}
}

// lowerUsing lowers an import: of all names of a namespace or a type, or of one type
// under another name.
func lowerUsing(l *lang.Lowering, r tree.Role, i int32) {
	alias, path := l.Field(i, "name"), int32(-1)
	for c := range l.Children(i) {
		if c != alias {
			path = c
		}
	}
	l.BeginText(tree.Import, r, dottedName(l, path), i)
	l.Need(tree.RolePath, i, path)
	if alias >= 0 {
		l.Node(tree.RoleAlias, alias)
	} else {
		_, end := l.Range(i)
		l.Flag(l.Leaf(tree.Name, tree.RoleName, "*", end, end), tree.Implied)
	}
	l.Close()
}

// lowerNamespace lowers a namespace as the package of what stands in it, which becomes
// its sibling.
func lowerNamespace(l *lang.Lowering, r tree.Role, i int32) {
	name := l.Field(i, "name")
	start, end := l.Range(i)
	if name >= 0 {
		_, end = l.Range(name)
	}
	l.File.Nodes[l.Open(tree.Package, r, start, end)].Text = dottedName(l, name)
	l.Need(tree.RoleName, i, name)
	l.Close()
	if body := l.Field(i, "body"); body >= 0 {
		lowerChildren(l, r, body)
	}
}

// lowerAttribute lowers "[A(…)]" and "[A]", which is the same as "[A()]".
func lowerAttribute(l *lang.Lowering, r tree.Role, i int32) {
	l.Begin(tree.Annotation, r, i)
	l.Begin(tree.Call, tree.RoleValue, i)
	l.Need(tree.RoleCallee, i, l.Field(i, "name"))
	l.Node(tree.RoleArgument, l.Find(i, "attribute_argument_list"))
	l.Close()
	l.Close()
}

// lowerAttributeArgument lowers an argument of an attribute; "A = 1" is a Keyword.
func lowerAttributeArgument(l *lang.Lowering, r tree.Role, i int32) {
	if a := partBehind(l, i, -1); l.Kind(a) == "assignment_expression" {
		i = a // which is how the grammar reads "name = value"
	}
	if !l.Has(i, "=") && !l.Has(i, ":") {
		lowerInner(l, r, i)
		return
	}
	l.Begin(tree.Keyword, r, i)
	name := l.First(i)
	l.Need(tree.RoleName, i, name)
	l.Need(tree.RoleValue, i, partBehind(l, i, name))
	l.Close()
}

// lowerBlock lowers braces with statements in them.
func lowerBlock(l *lang.Lowering, r tree.Role, i int32) {
	l.Begin(tree.Block, r, i)
	lowerChildren(l, tree.RoleStatement, i)
	l.Close()
}

// classRule returns the rule for a declaration of a type. A base class and interfaces
// look the same and are all bases.
func classRule(text string) lang.Rule {
	return func(l *lang.Lowering, r tree.Role, i int32) {
		l.BeginText(tree.Class, r, text, i)
		lowerAttributes(l, i)
		l.Part(tree.RoleName, i, "name")
		l.Node(tree.RoleTypeParameter, l.Find(i, "type_parameter_list"))
		l.Node(tree.RoleParameter, l.Find(i, "parameter_list"))
		for b := range l.Children(l.Find(i, "base_list")) {
			switch arguments := argumentsBehind(l, b); {
			case l.Kind(b) == "argument_list":
			case l.Kind(b) == "primary_constructor_base_type":
				lowerBase(l, l.Field(b, "type"), l.Find(b, "argument_list"))
			case arguments >= 0:
				lowerBase(l, b, arguments)
			default:
				lowerType(l, tree.RoleBase, b)
			}
		}
		l.Part(tree.RoleBody, i, "body")
		l.Close()
	}
}

// argumentsBehind returns the arguments that stand directly behind a base, -1 for none.
func argumentsBehind(l *lang.Lowering, i int32) int32 {
	next := l.CST.Nodes[i].SubtreeEnd
	if int(next) < len(l.CST.Nodes) && l.CST.Nodes[next].Parent == l.CST.Nodes[i].Parent &&
		l.Kind(next) == "argument_list" {
		return next
	}
	return -1
}

// lowerBase lowers a base whose constructor is called, as that call.
func lowerBase(l *lang.Lowering, t, arguments int32) {
	if t < 0 || arguments < 0 {
		return
	}
	l.Open(tree.Call, tree.RoleBase, l.CST.Nodes[t].Start, l.CST.Nodes[arguments].End)
	lowerType(l, tree.RoleCallee, t)
	l.Node(tree.RoleArgument, arguments)
	l.Close()
}

// lowerEnumMember lowers a constant of an enum.
func lowerEnumMember(l *lang.Lowering, r tree.Role, i int32) {
	l.BeginText(tree.Field, r, "enum", i)
	lowerAttributes(l, i)
	l.Need(tree.RoleTarget, i, l.Field(i, "name"))
	l.Part(tree.RoleValue, i, "value")
	l.Close()
}

// lowerDelegate lowers the declaration of a type of functions.
func lowerDelegate(l *lang.Lowering, r tree.Role, i int32) {
	l.Begin(tree.TypeAlias, r, i)
	lowerAttributes(l, i)
	l.Part(tree.RoleName, i, "name")
	l.Part(tree.RoleTypeParameter, i, "type_parameters")
	l.BeginText(tree.Type, tree.RoleType, "func", i)
	l.Part(tree.RoleParameter, i, "parameters")
	lowerType(l, tree.RoleReturnType, l.Field(i, "type"))
	l.Close()
	l.Close()
}

// functionRule returns the rule for what has parameters and a body. An operator is
// named for itself.
func functionRule(text string) lang.Rule {
	return func(l *lang.Lowering, r tree.Role, i int32) {
		l.BeginText(tree.Function, r, text, i)
		lowerAttributes(l, i)
		l.Part(tree.RoleTypeParameter, i, "type_parameters")
		if name := l.Field(i, "name"); name >= 0 {
			l.Node(tree.RoleName, name)
		} else if word := l.Find(i, "operator"); word >= 0 {
			l.Put(tree.Name, tree.RoleName, "operator"+l.Source(l.Field(i, "operator")), word)
		}
		l.Part(tree.RoleParameter, i, "parameters") // "this T x" is the receiver
		result := l.Field(i, "returns")
		if result < 0 {
			result = l.Field(i, "type")
		}
		lowerType(l, tree.RoleReturnType, result)
		lowerBody(l, i)
		l.Close()
	}
}

// lowerBody lowers the body of a function. The call of another constructor, which stands
// before it, is its first statement.
func lowerBody(l *lang.Lowering, i int32) {
	body, call := l.Field(i, "body"), l.Find(i, "constructor_initializer")
	if call < 0 {
		l.Node(tree.RoleBody, body)
		return
	}
	at := body
	if at < 0 {
		at = call
	}
	l.Begin(tree.Block, tree.RoleBody, at)
	l.Begin(tree.ExpressionStatement, tree.RoleStatement, call)
	l.Begin(tree.Call, tree.RoleValue, call)
	for _, word := range []string{"base", "this"} {
		l.Node(tree.RoleCallee, l.Find(call, word))
	}
	l.Node(tree.RoleArgument, l.Find(call, "argument_list"))
	l.Close()
	l.Close()
	if l.Kind(body) == "arrow_expression_clause" {
		l.Begin(tree.ExpressionStatement, tree.RoleStatement, body)
		l.Node(tree.RoleValue, body)
		l.Close()
	} else {
		lowerChildren(l, tree.RoleStatement, body)
	}
	l.Close()
}

// lowerParameters lowers a list; the grammar leaves the parts of "params T[] a" in it.
func lowerParameters(l *lang.Lowering, r tree.Role, i int32) {
	rest := int32(-1)
	for c := range l.Every(i) {
		switch {
		case l.Kind(c) == "params":
			rest = c
		case l.Kind(c) == "parameter" && l.Source(l.Find(c, "modifier")) == "this":
			l.Node(tree.RoleReceiver, c)
		case l.Kind(c) == "parameter":
			l.Node(r, c)
		case rest >= 0 && l.FieldName(c) == "name":
			start, _ := l.Range(rest)
			_, end := l.Range(c)
			l.File.Nodes[l.Open(tree.Parameter, r, start, end)].Text = "*"
			lowerType(l, tree.RoleType, l.Field(i, "type"))
			l.Node(tree.RoleTarget, c)
			l.Close()
			rest = -1
		case l.CST.Nodes[c].Flags&(cst.Missing|cst.Error) != 0:
			l.Lost(r, c)
		}
	}
}

// lowerParameter lowers a parameter; ref, out, in and this are Modifiers.
func lowerParameter(l *lang.Lowering, r tree.Role, i int32) {
	l.Begin(tree.Parameter, r, i)
	lowerAttributes(l, i)
	lowerVariableType(l, l.Field(i, "type"))
	name := l.Field(i, "name")
	l.Need(tree.RoleTarget, i, name)
	if l.Has(i, "=") {
		l.Node(tree.RoleValue, partBehind(l, i, name))
	}
	l.Close()
}

// lowerFields lowers member variables, and events that look like them.
func lowerFields(l *lang.Lowering, r tree.Role, i int32) {
	lowerVariables(l, declaration{kind: tree.Field, role: r, node: i, list: l.Find(i, "variable_declaration"),
		words: []string{"event"}})
}

// lowerLocal lowers variables of a block.
func lowerLocal(l *lang.Lowering, r tree.Role, i int32) {
	lowerVariables(l, declaration{kind: tree.Variable, role: r, node: i, list: l.Find(i, "variable_declaration"),
		words: []string{"using"}})
}

// A declaration declares a list of variables.
type declaration struct {
	kind       tree.Kind
	role       tree.Role
	node, list int32 // the whole, and the variables in it
	words      []string
}

// lowerVariables lowers a node for each variable. The first one begins where the
// declaration does, the last one ends where it does.
func lowerVariables(l *lang.Lowering, d declaration) {
	start, whole := l.Range(d.node)
	t := l.Field(d.list, "type")
	last := int32(-1)
	for v := range l.Children(d.list) {
		if l.Kind(v) == "variable_declarator" {
			last = v
		}
	}
	for v := range l.Children(d.list) {
		if l.Kind(v) != "variable_declarator" {
			continue
		}
		_, end := l.Range(v)
		if v == last {
			end = whole
		}
		l.File.Nodes[l.Open(d.kind, d.role, start, end)].Text = variableKeyword(l, t)
		lowerAttributes(l, d.node, d.words...)
		lowerVariableType(l, t)
		lowerDeclarator(l, v)
		l.Close()
		start = end
	}
}

// lowerDeclarator adds the name and the value of a variable.
func lowerDeclarator(l *lang.Lowering, i int32) {
	target := l.Field(i, "name")
	if target < 0 {
		target = l.Find(i, "tuple_pattern")
	}
	l.Need(tree.RoleTarget, i, target)
	if equals := l.Find(i, "="); equals >= 0 {
		l.Node(tree.RoleValue, partBehind(l, i, equals))
	}
}

// lowerProperty lowers a property, indexer or event as a Field; its accessors are
// functions beside it.
func lowerProperty(l *lang.Lowering, r tree.Role, i int32) {
	l.Begin(tree.Field, r, i)
	lowerAttributes(l, i, "event")
	lowerType(l, tree.RoleType, l.Field(i, "type"))
	name, value := l.Field(i, "name"), l.Field(i, "value")
	if name < 0 {
		name = l.Find(i, "this")
	}
	if name >= 0 {
		l.Put(tree.Name, tree.RoleTarget, dottedName(l, name), name)
	}
	if l.Kind(value) != "arrow_expression_clause" {
		l.Node(tree.RoleValue, value)
	}
	l.Close()
	if l.Kind(value) == "arrow_expression_clause" {
		lowerAccessor(l, r, i, value)
	}
	for a := range l.Children(l.Field(i, "accessors")) {
		if l.Kind(a) == "accessor_declaration" {
			lowerAccessor(l, r, i, a)
		}
	}
}

// lowerAccessor lowers "get …" and "set …" of a property; an expression is what get
// returns. The parameter of set is "value", which the source does not spell.
func lowerAccessor(l *lang.Lowering, r tree.Role, property, i int32) {
	word, text := l.Source(l.Field(i, "name")), "setter"
	if word == "get" || word == "" {
		text = "getter"
	}
	start, _ := l.Range(i)
	l.BeginText(tree.Function, r, text, i)
	lowerAttributes(l, i)
	if name := l.Field(property, "name"); name >= 0 {
		l.Flag(l.Leaf(tree.Name, tree.RoleName, dottedName(l, name), start, start), tree.Implied)
	}
	l.Part(tree.RoleParameter, property, "parameters")
	if text == "setter" {
		l.Flag(l.Open(tree.Parameter, tree.RoleParameter, start, start), tree.Implied)
		l.Flag(l.Leaf(tree.Name, tree.RoleTarget, "value", start, start), tree.Implied)
		l.Close()
	}
	if l.Kind(i) == "arrow_expression_clause" {
		l.Node(tree.RoleBody, i)
	} else {
		l.Part(tree.RoleBody, i, "body")
	}
	l.Close()
}
