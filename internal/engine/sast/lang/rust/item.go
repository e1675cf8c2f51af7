package rust

import (
	"slices"
	"strings"

	"merlon/internal/engine/sast/lang"
	"merlon/internal/engine/sast/tree"
)

// lowerFile lowers the crate's file.
func lowerFile(l *lang.Lowering, r tree.Role, i int32) {
	l.Open(tree.FileKind, r, 0, uint32(len(l.File.Source)))
	lowerList(l, i)
	l.Close()
}

// lowerMembers lowers the body of a declaration.
func lowerMembers(l *lang.Lowering, r tree.Role, i int32) {
	l.Begin(tree.Block, r, i)
	lowerList(l, i)
	l.Close()
}

// lowerList lowers items and statements. Attributes stand before the item that they
// belong to, which takes them.
func lowerList(l *lang.Lowering, i int32) {
	for c := range l.Children(i) {
		if l.Kind(c) != "attribute_item" {
			lowerStatement(l, c)
		}
	}
}

// lowerHead adds the attributes and the modifiers of an item.
func lowerHead(l *lang.Lowering, i int32) {
	attributes := attributesOf(l, i)
	slices.Reverse(attributes)
	for _, a := range attributes {
		l.Node(tree.RoleAnnotation, a)
	}
	for c := range l.Every(i) {
		switch l.Kind(c) {
		case "visibility_modifier", "mutable_specifier", "unsafe":
			l.Put(tree.Modifier, tree.RoleModifier, l.Source(c), c)
		case "function_modifiers":
			for m := range l.Every(c) {
				l.Put(tree.Modifier, tree.RoleModifier, l.Source(m), m)
			}
		}
	}
}

// maxAttributes bounds the attributes of one item.
const maxAttributes = 100

// attributesOf returns the attributes that stand right before an item, the last first.
func attributesOf(l *lang.Lowering, i int32) []int32 {
	var out []int32
	for a := l.Before(i); a >= 0 && l.Kind(a) == "attribute_item" && len(out) < maxAttributes; a = l.Before(a) {
		out = append(out, a)
	}
	return out
}

// itemStart is where an item begins with its attributes.
func itemStart(l *lang.Lowering, i int32) uint32 {
	if a := attributesOf(l, i); len(a) > 0 {
		i = a[len(a)-1]
	}
	at, _ := l.Range(i)
	return at
}

// openItem opens the node of an item, with its attributes and modifiers.
func openItem(l *lang.Lowering, k tree.Kind, r tree.Role, text string, i int32) {
	_, end := l.Range(i)
	n := l.Open(k, r, itemStart(l, i), end)
	l.File.Nodes[n].Text = text
	lowerHead(l, i)
}

// lowerAttribute lowers "a(b)" and "a = b" of an attribute.
func lowerAttribute(l *lang.Lowering, r tree.Role, i int32) {
	name, arguments, value := l.First(i), l.Field(i, "arguments"), l.Field(i, "value")
	switch {
	case arguments >= 0:
		l.Begin(tree.Call, r, i)
		l.Need(tree.RoleCallee, i, name)
		lowerTokens(l, arguments)
		l.Close()
	case value >= 0:
		l.BeginText(tree.Assign, r, "=", i)
		l.Need(tree.RoleTarget, i, name)
		l.Node(tree.RoleValue, value)
		l.Close()
	default:
		l.Need(r, i, name)
	}
}

// enclosingItem returns the item in whose body the item stands, -1 at the top.
func enclosingItem(l *lang.Lowering, i int32) int32 {
	parent := l.CST.Nodes[i].Parent
	if parent < 0 || l.Kind(parent) != "declaration_list" {
		return -1
	}
	return l.CST.Nodes[parent].Parent
}

// lowerFunction lowers fn, in a body or without one.
func lowerFunction(l *lang.Lowering, r tree.Role, i int32) {
	text := "function"
	if in := l.Kind(enclosingItem(l, i)); in == "impl_item" || in == "trait_item" {
		text = "method"
	}
	openItem(l, tree.Function, r, text, i)
	lowerTypeParameters(l, i)
	l.Part(tree.RoleName, i, "name")
	lowerParameters(l, l.Field(i, "parameters"))
	l.Part(tree.RoleReturnType, i, "return_type")
	l.Part(tree.RoleBody, i, "body")
	l.Close()
}

// lowerParameters lowers the parameters of a function or a closure. "self" in all its forms
// is a Parameter; its "&" is left out, its "mut" a Modifier. "_" is a mere token of the
// grammar.
func lowerParameters(l *lang.Lowering, i int32) {
	if i < 0 {
		return
	}
	for c := range l.Children(i) {
		switch kind := l.Kind(c); {
		case kind == "attribute_item":
		case kind == "parameter":
			lowerParameter(l, c)
		case kind == "self_parameter":
			l.Begin(tree.Parameter, tree.RoleParameter, c)
			if m := l.Find(c, "mutable_specifier"); m >= 0 {
				l.Put(tree.Modifier, tree.RoleModifier, "mut", m)
			}
			l.Put(tree.Name, tree.RoleTarget, "self", max(l.Find(c, "self"), c))
			l.Close()
		case kind == "variadic_parameter":
			l.Put(tree.Parameter, tree.RoleParameter, "*", c)
		case lang.Holder(l.Source(c)):
			l.Begin(tree.Parameter, tree.RoleParameter, c)
			l.Same(tree.Name, tree.RoleTarget, c)
			l.Close()
		default: // a type alone, or the pattern of a closure
			role := tree.RoleTarget
			if l.Kind(i) == "parameters" {
				role = tree.RoleType
			}
			l.Begin(tree.Parameter, tree.RoleParameter, c)
			l.Node(role, c)
			l.Close()
		}
	}
	for c := range l.Every(i) {
		if l.Source(c) == "_" && !l.Named(c) {
			l.Begin(tree.Parameter, tree.RoleParameter, c)
			l.Put(tree.Name, tree.RoleTarget, "_", c)
			l.Close()
		}
	}
}

// lowerParameter lowers "pattern: T".
func lowerParameter(l *lang.Lowering, i int32) {
	l.Begin(tree.Parameter, tree.RoleParameter, i)
	if m := l.Find(i, "mutable_specifier"); m >= 0 {
		l.Put(tree.Modifier, tree.RoleModifier, "mut", m)
	}
	l.Part(tree.RoleType, i, "type")
	lowerTarget(l, tree.RoleTarget, i, "pattern")
	l.Close()
}

// lowerTarget adds the pattern in a field; "_" is a token.
func lowerTarget(l *lang.Lowering, r tree.Role, i int32, field string) {
	c := l.Field(i, field)
	if c >= 0 && l.Source(c) == "_" {
		l.Put(tree.Name, r, "_", c)
		return
	}
	l.Need(r, i, c)
}

// lowerTypeParameters adds the type parameters; those that are lifetimes are left out.
func lowerTypeParameters(l *lang.Lowering, i int32) {
	list := l.Field(i, "type_parameters")
	if list < 0 {
		return
	}
	for c := range l.Children(list) {
		name := l.Field(c, "name")
		if l.Kind(c) != "type_parameter" && l.Kind(c) != "const_parameter" || name < 0 {
			continue
		}
		l.Begin(tree.TypeParameter, tree.RoleTypeParameter, c)
		l.Same(tree.Name, tree.RoleName, name)
		l.Nodes(tree.RoleBase, l.Field(c, "bounds"))
		l.Close()
	}
}

// classRule returns the rule for an item with a name and members.
func classRule(text string) lang.Rule {
	return func(l *lang.Lowering, r tree.Role, i int32) {
		openItem(l, tree.Class, r, text, i)
		if name := l.Field(i, "name"); name >= 0 {
			l.Same(tree.Name, tree.RoleName, name)
		}
		lowerTypeParameters(l, i)
		l.Nodes(tree.RoleBase, l.Field(i, "bounds"))
		if body := l.Field(i, "body"); l.Kind(body) == "ordered_field_declaration_list" {
			l.Begin(tree.Block, tree.RoleBody, body)
			for c := range l.Fields(body, "type") {
				l.Begin(tree.Field, tree.RoleStatement, c)
				l.Node(tree.RoleType, c)
				l.Close()
			}
			l.Close()
		} else {
			l.Node(tree.RoleBody, body)
		}
		l.Close()
	}
}

// lowerImplementation lowers "impl A for B": a Class "impl" of B, with A as Interface.
func lowerImplementation(l *lang.Lowering, r tree.Role, i int32) {
	openItem(l, tree.Class, r, "impl", i)
	l.Need(tree.RoleName, i, l.Field(i, "type"))
	lowerTypeParameters(l, i)
	l.Part(tree.RoleInterface, i, "trait")
	l.Part(tree.RoleBody, i, "body")
	l.Close()
}

// lowerForeign lowers "extern { … }" to its items.
func lowerForeign(l *lang.Lowering, r tree.Role, i int32) {
	if list := l.Field(i, "body"); list >= 0 {
		l.Nodes(r, list)
		return
	}
	l.Put(tree.Empty, r, "", i)
}

// lowerVariant lowers a member of an enum.
func lowerVariant(l *lang.Lowering, r tree.Role, i int32) {
	openItem(l, tree.Field, r, "enum", i)
	if body := l.Field(i, "body"); body >= 0 {
		l.BeginText(tree.Type, tree.RoleType, "()", body)
		l.Parts(tree.RoleElement, body, "type")
		for c := range l.Children(body) {
			l.Part(tree.RoleElement, c, "type")
		}
		l.Close()
	}
	l.Part(tree.RoleTarget, i, "name")
	l.Part(tree.RoleValue, i, "value")
	l.Close()
}

// constantRule returns the rule for const and static.
func constantRule(text string) lang.Rule {
	return func(l *lang.Lowering, r tree.Role, i int32) {
		k := tree.Variable
		if in := l.Kind(enclosingItem(l, i)); in == "impl_item" || in == "trait_item" {
			k = tree.Field
		}
		openItem(l, k, r, text, i)
		l.Part(tree.RoleType, i, "type")
		l.Part(tree.RoleTarget, i, "name")
		l.Part(tree.RoleValue, i, "value")
		l.Close()
	}
}

// lowerTypeItem lowers "type A = B;", also as a member of a trait.
func lowerTypeItem(l *lang.Lowering, r tree.Role, i int32) {
	openItem(l, tree.TypeAlias, r, "", i)
	if name := l.Field(i, "name"); name >= 0 {
		l.Same(tree.Name, tree.RoleName, name)
	}
	lowerTypeParameters(l, i)
	l.Part(tree.RoleType, i, "type")
	l.Close()
}

// lowerExternCrate lowers "extern crate a as b;".
func lowerExternCrate(l *lang.Lowering, r tree.Role, i int32) {
	l.BeginText(tree.Import, r, l.Source(l.Field(i, "name")), i)
	l.Part(tree.RolePath, i, "name")
	l.Part(tree.RoleAlias, i, "alias")
	l.Close()
}

// lowerUse lowers an import: a node for each name in the tree of names.
func lowerUse(l *lang.Lowering, r tree.Role, i int32) {
	before := l.Mark()
	lowerUseTree(l, usage{whole: i, role: r}, l.Field(i, "argument"), 0)
	if l.Mark() == before {
		l.Lost(r, i)
	}
}

// A usage is an import with the path so far.
type usage struct {
	whole int32
	role  tree.Role
	path  []int32 // its names
	alias int32   // 0 for none
}

// lowerUseTree adds the Imports of a tree of names. The depth bounds the recursion.
func lowerUseTree(l *lang.Lowering, u usage, i int32, depth int) {
	if i < 0 || depth > maxUse || len(u.path) > maxUse {
		return
	}
	switch l.Kind(i) {
	case "scoped_use_list":
		u.path = append(u.path[:len(u.path):len(u.path)], pathNames(l, l.Field(i, "path"))...)
		lowerUseTree(l, u, l.Field(i, "list"), depth+1)
	case "use_list":
		for c := range l.Children(i) {
			lowerUseTree(l, u, c, depth+1)
		}
	case "use_as_clause":
		u.alias = l.Field(i, "alias")
		lowerUseTree(l, u, l.Field(i, "path"), depth+1)
	case "use_wildcard":
		u.path = append(u.path[:len(u.path):len(u.path)], pathNames(l, l.First(i))...)
		lowerBinding(l, u, "*", i)
	case "self":
		lowerBinding(l, u, "", i)
	default:
		names := pathNames(l, i)
		if len(names) == 0 {
			return
		}
		u.path = append(u.path[:len(u.path):len(u.path)], names...)
		if len(u.path) == 1 {
			lowerBinding(l, u, "", i)
			return
		}
		last := u.path[len(u.path)-1]
		u.path = u.path[:len(u.path)-1]
		lowerBinding(l, u, l.Source(last), last)
	}
}

// maxUse bounds the nesting and the length of an import's path.
const maxUse = 100

// pathNames returns the names of "a::b::c".
func pathNames(l *lang.Lowering, i int32) []int32 {
	var names []int32
	for i >= 0 && len(names) < maxUse {
		if l.Kind(i) != "scoped_identifier" {
			names = append([]int32{i}, names...)
			break
		}
		names = append([]int32{l.Field(i, "name")}, names...)
		i = l.Field(i, "path")
	}
	return names
}

// lowerBinding adds an Import of a name below the path; "" is the path's module itself.
func lowerBinding(l *lang.Lowering, u usage, name string, i int32) {
	var text []string
	for _, p := range u.path {
		text = append(text, l.Source(p))
	}
	l.BeginText(tree.Import, u.role, strings.Join(text, "."), u.whole)
	if len(u.path) > 0 {
		lowerChain(l, tree.RolePath, u.path)
	} else {
		l.Node(tree.RolePath, i)
	}
	if name != "" {
		l.Put(tree.Name, tree.RoleName, name, i)
	}
	if u.alias > 0 {
		l.Node(tree.RoleAlias, u.alias)
	}
	l.Close()
}

// lowerChain lowers names to Members.
func lowerChain(l *lang.Lowering, r tree.Role, names []int32) {
	last := names[len(names)-1]
	if len(names) == 1 {
		l.Node(r, last)
		return
	}
	start, _ := l.Range(names[0])
	_, end := l.Range(last)
	m := l.Open(tree.Member, r, min(start, end), max(start, end))
	l.File.Nodes[m].Text = "::"
	lowerChain(l, tree.RoleObject, names[:len(names)-1])
	l.Node(tree.RoleProperty, last)
	l.Close()
}

// lowerMacroDefinition lowers "macro_rules! m { … }" to its name: its tokens are no code
// yet.
func lowerMacroDefinition(l *lang.Lowering, r tree.Role, i int32) {
	openItem(l, tree.Other, r, "macro_definition", i)
	l.Part(tree.RoleName, i, "name")
	l.Close()
}
