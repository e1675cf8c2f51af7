package c

import (
	"strings"

	"merlon/internal/engine/sast/lang"
	"merlon/internal/engine/sast/tree"
)

// dottedName returns the name of a type as Types have it.
// Blanks are normalized ("unsigned  int"), and the scope operator of C++ becomes a dot:
// std::vector is std.vector, ::a::b is a.b.
func dottedName(s string) string {
	s = strings.Join(strings.Fields(s), " ")
	if strings.Contains(s, "::") {
		s = strings.ReplaceAll(strings.TrimPrefix(strings.ReplaceAll(s, " ", ""), "::"), "::", ".")
	}
	return s
}

// lowerTypeName lowers the name of a type, with its arguments.
func lowerTypeName(l *lang.Lowering, r tree.Role, i int32) {
	if l.TooDeep() {
		l.Lost(r, i)
		return
	}
	switch l.Kind(i) {
	// The name is the innermost part: a::b<T>::c nests to the right.
	case "qualified_identifier":
		inner := i
		for l.Kind(inner) == "qualified_identifier" {
			inner = l.Field(inner, "name")
		}
		// The prefix is taken from the source, as it may contain template arguments of outer
		// classes.
		prefix := ""
		if start, _ := l.Range(i); inner >= 0 {
			at, _ := l.Range(inner)
			prefix = l.File.Source[start:at]
		}
		name := inner
		if l.Kind(inner) == "template_type" {
			name = l.Field(inner, "name")
		}
		l.BeginText(tree.Type, r, dottedName(prefix+l.Source(name)), i)
		lowerTypeArguments(l, inner)
		l.Close()
	case "template_type":
		l.BeginText(tree.Type, r, dottedName(l.Source(l.Field(i, "name"))), i)
		lowerTypeArguments(l, i)
		l.Close()
	// "struct stat s": the type is known by its name, without the keyword. An anonymous struct has
	// none.
	case "struct_specifier", "union_specifier", "class_specifier", "enum_specifier":
		if name := l.Field(i, "name"); name >= 0 {
			lowerTypeName(l, r, name)
			return
		}
		l.Put(tree.Type, r, "", i)
	default:
		l.Put(tree.Type, r, dottedName(l.Source(i)), i)
	}
}

// lowerTypeArguments adds the arguments of a template_type.
func lowerTypeArguments(l *lang.Lowering, i int32) {
	if l.Kind(i) == "template_type" {
		l.Nodes(tree.RoleArgument, l.Field(i, "arguments"))
	}
}

// A declarator is what a declaration says about one name.
// The syntax of C declares a name by its use: in "char *argv[]", argv is indexed first and
// dereferenced then. The layers are therefore the reverse of the type.
type declarator struct {
	name   int32   // -1 for none
	layers []int32 // pointers, arrays and functions around it, from the outside in
}

// readDeclarator takes a declarator apart.
func readDeclarator(l *lang.Lowering, i int32) declarator {
	d := declarator{name: -1}
	// The bound keeps a declarator such as "(((((…x)))))" of a fuzzer from being followed forever.
	for depth := 0; i >= 0 && depth < tree.MaxDepth/4; depth++ {
		switch l.Kind(i) {
		case "pointer_declarator", "array_declarator", "function_declarator", "pointer_type_declarator",
			"abstract_pointer_declarator", "abstract_array_declarator", "abstract_function_declarator":
			d.layers = append(d.layers, i)
			i = l.Field(i, "declarator")
		// The value belongs to the declaration and not to the type.
		case "init_declarator":
			i = l.Field(i, "declarator")
		// Parentheses, references and attributes do not change the data that a name refers to.
		case "parenthesized_declarator", "reference_declarator", "attributed_declarator", "variadic_declarator",
			"abstract_parenthesized_declarator", "abstract_reference_declarator":
			i = l.First(i)
		default:
			d.name = i
			return d
		}
	}
	return d
}

// functionLayer returns the layer that makes the name a function: the innermost one.
// In "int (*f)(int)" the innermost layer is the pointer: f is a variable, not a function.
func (d declarator) functionLayer(l *lang.Lowering) int32 {
	if n := len(d.layers); n > 0 && l.Kind(d.layers[n-1]) == "function_declarator" {
		return d.layers[n-1]
	}
	return -1
}

// lowerFullType adds the Type of a name: the specifier, with the layers around it.
// The innermost layer is the outermost type: "char *a[3]" is an array of pointers, Type "[]"
// of Type "*" of Type char.
func lowerFullType(l *lang.Lowering, r tree.Role, specifier int32, layers []int32) {
	n := len(layers)
	if n == 0 {
		if specifier >= 0 {
			lowerTypeName(l, r, specifier)
		}
		return
	}
	last := layers[n-1] // the innermost layer is the outermost type
	switch l.Kind(last) {
	case "function_declarator", "abstract_function_declarator":
		l.BeginText(tree.Type, r, "func", last)
		lowerFullType(l, tree.RoleElement, specifier, layers[:n-1])
	case "array_declarator", "abstract_array_declarator":
		l.BeginText(tree.Type, r, "[]", last)
		lowerFullType(l, tree.RoleElement, specifier, layers[:n-1])
		// The size may be an expression; rules for buffer overflows (CWE-121) need it.
		l.Part(tree.RoleArgument, last, "size")
	default:
		l.BeginText(tree.Type, r, "*", last)
		lowerFullType(l, tree.RoleElement, specifier, layers[:n-1])
	}
	l.Close()
}

// lowerTypeDescriptor lowers the type of a cast and the like.
// sizeof(T), casts and template arguments have a type without a name.
func lowerTypeDescriptor(l *lang.Lowering, r tree.Role, i int32) {
	d := readDeclarator(l, l.Field(i, "declarator"))
	specifier := l.Field(i, "type")
	if specifier < 0 {
		l.Lost(r, i)
		return
	}
	lowerFullType(l, r, specifier, d.layers)
}

// lowerModifiers adds the words and attributes before a declaration.
// Their order and number are free: "static const int", "int static const".
func lowerModifiers(l *lang.Lowering, i int32) {
	for c := range l.Every(i) {
		switch l.Kind(c) {
		case "attribute_declaration":
			for a := range l.Children(c) {
				lowerAnnotation(l, a)
			}
		case "type_qualifier", "storage_class_specifier", "virtual_specifier", "explicit_function_specifier", "virtual",
			"inline":

			l.Put(tree.Modifier, tree.RoleModifier, l.Source(c), c)
		}
	}
}

// lowerAnnotation lowers "[[a::b(c)]]".
// An example is [[deprecated("use b")]]: an annotation with arguments is a Call.
func lowerAnnotation(l *lang.Lowering, i int32) {
	l.Begin(tree.Annotation, tree.RoleAnnotation, i)
	name, arguments := l.Field(i, "name"), l.Find(i, "argument_list")
	if arguments >= 0 {
		l.Begin(tree.Call, tree.RoleValue, i)
		l.Need(tree.RoleCallee, i, name)
		l.Nodes(tree.RoleArgument, arguments)
		l.Close()
	} else {
		l.Need(tree.RoleValue, i, name)
	}
	l.Close()
}

// lowerModifier lowers a word before a declaration, such as const or static.
func lowerModifier(l *lang.Lowering, r tree.Role, i int32) { l.Same(tree.Modifier, r, i) }
