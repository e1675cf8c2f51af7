package python

import (
	"strings"

	"merlon/internal/engine/sast/lang"
	"merlon/internal/engine/sast/tree"
)

// lowerDecorated lowers a definition with its decorators; its range is that of both.
func lowerDecorated(l *lang.Lowering, r tree.Role, i int32) {
	definition := l.Field(i, "definition")
	switch l.Kind(definition) {
	case "function_definition":
		lowerFunction(l, r, definition, i)
	case "class_definition":
		lowerClass(l, r, definition, i)
	default:
		l.Fallback(r, i, l.Node)
	}
}

// lowerDecorators adds the decorators of whole, unless it is the definition itself.
func lowerDecorators(l *lang.Lowering, i, whole int32) {
	if i == whole {
		return
	}
	for c := range l.Children(whole) {
		if c != i {
			l.Node(tree.RoleAnnotation, c)
		}
	}
}

// lowerFunction lowers def; one of a class is a method or, by its name, a constructor.
// whole is the definition with its decorators.
func lowerFunction(l *lang.Lowering, r tree.Role, i, whole int32) {
	text, name := "function", l.Field(i, "name")
	if inClass(l, whole) {
		text = "method"
		if l.Source(name) == "__init__" {
			text = "constructor"
		}
	}
	l.BeginText(tree.Function, r, text, whole)
	lowerDecorators(l, i, whole)
	if async := l.Find(i, "async"); async >= 0 {
		l.Put(tree.Modifier, tree.RoleModifier, "async", async)
	}
	lowerTypeParameters(l, l.Field(i, "type_parameters"))
	l.Node(tree.RoleName, name)
	lowerParameters(l, l.Field(i, "parameters"))
	l.Part(tree.RoleReturnType, i, "return_type")
	l.Part(tree.RoleBody, i, "body")
	l.Close()
}

// inClass reports whether the definition stands directly in the body of a class.
func inClass(l *lang.Lowering, i int32) bool {
	nodes := l.CST.Nodes
	block := nodes[i].Parent
	return block > 0 && l.Kind(block) == "block" && l.Kind(nodes[block].Parent) == "class_definition"
}

// lowerClass lowers a class with its bases and keywords. whole is the definition with its
// decorators.
func lowerClass(l *lang.Lowering, r tree.Role, i, whole int32) {
	l.BeginText(tree.Class, r, "class", whole)
	lowerDecorators(l, i, whole)
	l.Part(tree.RoleName, i, "name")
	lowerTypeParameters(l, l.Field(i, "type_parameters"))
	l.Nodes(tree.RoleBase, l.Field(i, "superclasses"))
	l.Part(tree.RoleBody, i, "body")
	l.Close()
}

// lowerLambda lowers "lambda a: e".
func lowerLambda(l *lang.Lowering, r tree.Role, i int32) {
	l.Begin(tree.Lambda, r, i)
	lowerParameters(l, l.Field(i, "parameters"))
	l.Need(tree.RoleBody, i, l.Field(i, "body"))
	l.Close()
}

// lowerParameters adds the parameters of a function or lambda.
func lowerParameters(l *lang.Lowering, i int32) {
	if i < 0 {
		return
	}
	for c := range l.Children(i) {
		lowerParameter(l, c)
	}
}

// lowerParameter lowers a parameter. The grammar has a kind of its own for each form: with
// a type, with a default, with both, "*a", "**a", and the signs "/" and "*" alone.
func lowerParameter(l *lang.Lowering, i int32) {
	target := i
	switch l.Kind(i) {
	case "keyword_separator", "positional_separator":
		l.Node(tree.RoleParameter, i)
		return
	case "default_parameter", "typed_default_parameter":
		target = l.Field(i, "name")
	case "typed_parameter":
		target = l.First(i)
	}
	text := ""
	switch l.Kind(target) {
	case "list_splat_pattern":
		text, target = "*", l.First(target)
	case "dictionary_splat_pattern":
		text, target = "**", l.First(target)
	case "ERROR":
		l.Node(tree.RoleParameter, i)
		return
	}
	l.BeginText(tree.Parameter, tree.RoleParameter, text, i)
	if target != i {
		l.Part(tree.RoleType, i, "type")
	}
	l.Node(tree.RoleTarget, target)
	if target != i {
		l.Part(tree.RoleValue, i, "value")
	}
	l.Close()
}

// lowerTypeAlias lowers "type X[T] = …".
func lowerTypeAlias(l *lang.Lowering, r tree.Role, i int32) {
	l.Begin(tree.TypeAlias, r, i)
	left := unwrapType(l, l.Field(i, "left"))
	if l.Kind(left) == "generic_type" {
		l.Node(tree.RoleName, l.First(left))
		lowerTypeParameters(l, l.Find(left, "type_parameter"))
	} else {
		l.Node(tree.RoleName, left)
	}
	l.Part(tree.RoleType, i, "right")
	l.Close()
}

// lowerTypeParameters adds the parameters of "[T: int, *Ts, **P]".
func lowerTypeParameters(l *lang.Lowering, i int32) {
	if i < 0 {
		return
	}
	for c := range l.Children(i) {
		l.Begin(tree.TypeParameter, tree.RoleTypeParameter, c)
		switch c := unwrapType(l, c); l.Kind(c) {
		case "constrained_type":
			first := l.First(c)
			l.Node(tree.RoleName, unwrapType(l, first))
			for bound := range l.Children(c) {
				if bound != first {
					l.Node(tree.RoleBase, bound)
				}
			}
		case "splat_type":
			l.Node(tree.RoleName, l.First(c))
		default:
			l.Node(tree.RoleName, c)
		}
		l.Close()
	}
}

// unwrapType unwraps the node that the grammar puts around every type.
func unwrapType(l *lang.Lowering, i int32) int32 {
	for l.Kind(i) == "type" || l.Kind(i) == "parenthesized_expression" {
		i = l.First(i)
	}
	return i
}

// lowerTypeReference lowers an annotation. Names, subscripts and unions are Types; any
// other expression stays one.
func lowerTypeReference(l *lang.Lowering, r tree.Role, i int32) {
	whole := i
	i = unwrapType(l, i)
	if l.TooDeep() || i < 0 {
		l.Lost(r, whole)
		return
	}
	switch l.Kind(i) {
	case "identifier", "attribute", "member_type", "none", "dotted_name":
		if name := compactName(l.Source(i)); plainName(name) {
			l.Put(tree.Type, r, name, i)
			return
		}
	case "string":
		if name := strings.Trim(l.Source(i), `"'`); plainName(name) {
			l.Put(tree.Type, r, name, i)
			return
		}
	case "generic_type":
		lowerGenericType(l, r, i, l.First(i))
		return
	case "subscript":
		if value := l.Field(i, "value"); plainName(compactName(l.Source(value))) {
			lowerGenericType(l, r, i, value)
			return
		}
	case "union_type":
		lowerUnionType(l, r, i)
		return
	case "binary_operator":
		if l.Source(l.Field(i, "operator")) == "|" {
			lowerUnionType(l, r, i)
			return
		}
	}
	if l.Kind(i) == "type" || l.Kind(i) == "constrained_type" || l.Kind(i) == "member_type" {
		l.Fallback(r, i, l.Node)
		return
	}
	l.Node(r, i)
}

// plainName reports whether the text is a dotted name.
func plainName(s string) bool {
	if s == "" {
		return false
	}
	if strings.ContainsFunc(s, func(c rune) bool { return c != '.' && !isNameRune(c) }) {
		return false
	}
	return s[0] != '.' && (s[0] < '0' || s[0] > '9')
}

// isNameRune reports whether the character may stand in a name, the first one apart.
func isNameRune(c rune) bool {
	return c == '_' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= 0x80
}

// lowerGenericType lowers "List[int]".
func lowerGenericType(l *lang.Lowering, r tree.Role, i, name int32) {
	l.BeginText(tree.Type, r, compactName(l.Source(name)), i)
	for c := range l.Children(i) {
		switch {
		case c == name:
		case l.Kind(c) == "type_parameter" || l.Kind(c) == "tuple":
			for a := range l.Children(c) {
				lowerTypeReference(l, tree.RoleArgument, a)
			}
		default:
			lowerTypeReference(l, tree.RoleArgument, c)
		}
	}
	l.Close()
}

// lowerUnionType lowers "int | None".
func lowerUnionType(l *lang.Lowering, r tree.Role, i int32) {
	l.BeginText(tree.Type, r, "|", i)
	for c := range l.Children(i) {
		lowerTypeReference(l, tree.RoleElement, c)
	}
	l.Close()
}

// lowerSplatType lowers the "*T" of an annotation.
func lowerSplatType(l *lang.Lowering, r tree.Role, i int32) {
	text := "*"
	if l.Has(i, "**") {
		text = "**"
	}
	l.BeginText(tree.Spread, r, text, i)
	l.Need(tree.RoleValue, i, l.First(i))
	l.Close()
}
