package rust

import (
	"strings"

	"merlon/internal/engine/sast/lang"
	"merlon/internal/engine/sast/tree"
)

// lowerScoped lowers "a::b" to a Member, and "::a" to the Name.
// A path is a chain of Members with the text "::", so that a rule can tell it from a field
// access.
func lowerScoped(l *lang.Lowering, r tree.Role, i int32) {
	path, name := l.Field(i, "path"), l.Field(i, "name")
	// ::std::fs begins at the root of the crates.
	if path < 0 {
		l.Need(r, i, name)
		return
	}
	l.BeginText(tree.Member, r, "::", i)
	// Vec::<u8>::new(): type arguments in the middle of a path are left out.
	if l.Kind(path) == "generic_type" {
		path = l.Field(path, "type")
	}
	if l.Kind(path) == "type_identifier" {
		l.Same(tree.Name, tree.RoleObject, path)
	} else {
		l.Need(tree.RoleObject, i, path)
	}
	l.Need(tree.RoleProperty, i, name)
	l.Close()
}

// dottedName returns a path as Types have it.
// Types have dots in every language, so that models can name them alike: std.fs.File.
func dottedName(s string) string {
	if strings.Contains(s, "::") {
		return strings.ReplaceAll(strings.Join(strings.Fields(s), ""), "::", ".")
	}
	return s
}

// lowerScopedType lowers "a::T" to a Type with dots.
func lowerScopedType(l *lang.Lowering, r tree.Role, i int32) {
	l.Put(tree.Type, r, dottedName(l.Source(i)), i)
}

// lowerGenericType lowers "T<U>"; lifetimes are left out.
// Lifetimes do not change which data flows.
func lowerGenericType(l *lang.Lowering, r tree.Role, i int32) {
	l.BeginText(tree.Type, r, dottedName(l.Source(l.Field(i, "type"))), i)
	l.Nodes(tree.RoleArgument, l.Field(i, "type_arguments"))
	l.Close()
}

// operationRule returns the rule for an operation on the fields left and right.
func operationRule(k tree.Kind, left, right tree.Role) lang.Rule {
	return func(l *lang.Lowering, r tree.Role, i int32) {
		l.BeginText(k, r, l.Source(l.Field(i, "operator")), i)
		l.Need(left, i, l.Field(i, "left"))
		l.Need(right, i, l.Field(i, "right"))
		l.Close()
	}
}

// lowerUnary lowers "-a", "!a" and "*a".
// The operator is the first byte of the source, as it has no field.
func lowerUnary(l *lang.Lowering, r tree.Role, i int32) {
	text := l.Source(i)
	if text != "" {
		text = text[:1]
	}
	l.BeginText(tree.Unary, r, text, i)
	l.Need(tree.RoleValue, i, l.First(i))
	l.Close()
}

// lowerNegative lowers a number below zero of a pattern.
func lowerNegative(l *lang.Lowering, r tree.Role, i int32) {
	l.BeginText(tree.Unary, r, "-", i)
	l.Need(tree.RoleValue, i, l.First(i))
	l.Close()
}

// lowerRangeOf lowers "a..b"; an open end is an implied Null.
// Both ends may be open: "a..", "..b", "..". The text tells exclusive from inclusive ranges.
func lowerRangeOf(l *lang.Lowering, r tree.Role, i int32) {
	start, end := l.Range(i)
	operator, left, right := "", int32(-1), int32(-1)
	for c := range l.Every(i) {
		switch kind := l.Kind(c); {
		case kind == ".." || kind == "..=" || kind == "...":
			operator = kind
		case !l.Named(c) || l.Extra(c):
		case operator == "":
			left = c
		default:
			right = c
		}
	}
	l.BeginText(tree.Binary, r, operator, i)
	if left >= 0 {
		l.Node(tree.RoleLeft, left)
	} else {
		// The implied Null lies at the edge of the range.
		l.Flag(l.Leaf(tree.Null, tree.RoleLeft, "", start, start), tree.Implied)
	}
	if right >= 0 {
		l.Node(tree.RoleRight, right)
	} else {
		l.Flag(l.Leaf(tree.Null, tree.RoleRight, "", end, end), tree.Implied)
	}
	l.Close()
}

// lowerArray lowers "[a, b]"; "[a; n]" is an Other.
// [0; n] repeats a value; it has no generic form.
func lowerArray(l *lang.Lowering, r tree.Role, i int32) {
	if l.Field(i, "length") >= 0 {
		l.Fallback(r, i, l.Node)
		return
	}
	l.Begin(tree.List, r, i)
	l.Nodes(tree.RoleElement, i)
	l.Close()
}

// lowerCall lowers a call. One that stands for a typed metavariable has the type in its
// type arguments.
// A typed metavariable of a rule, (T $X), has been prepared as a call of a generic function:
// qztyped::<T>(x).
func lowerCall(l *lang.Lowering, r tree.Role, i int32) {
	callee := l.Field(i, "function")
	l.Begin(tree.Call, r, i)
	l.Need(tree.RoleCallee, i, callee)
	if l.Kind(callee) == "generic_function" && l.Source(l.Field(callee, "function")) == lang.TypedName {
		l.Nodes(tree.RoleArgument, l.Field(callee, "type_arguments"))
	}
	l.Nodes(tree.RoleArgument, l.Field(i, "arguments"))
	l.Close()
}

// lowerIndex lowers "a[b]".
func lowerIndex(l *lang.Lowering, r tree.Role, i int32) {
	l.Begin(tree.Index, r, i)
	object := l.First(i)
	l.Need(tree.RoleObject, i, object)
	for c := range l.Children(i) {
		if c != object {
			l.Node(tree.RoleIndex, c)
		}
	}
	l.Close()
}

// lowerClosure lowers "|a, b| e", with "move" as a Modifier.
// "move" says that captured variables are taken over, which matters for their lifetime only.
func lowerClosure(l *lang.Lowering, r tree.Role, i int32) {
	l.Begin(tree.Lambda, r, i)
	for c := range l.Every(i) {
		if kind := l.Kind(c); kind == "async" || kind == "move" || kind == "static" {
			l.Put(tree.Modifier, tree.RoleModifier, kind, c)
		}
	}
	lowerParameters(l, l.Field(i, "parameters"))
	l.Part(tree.RoleReturnType, i, "return_type")
	lowerTarget(l, tree.RoleBody, i, "body")
	l.Close()
}

// lowerTypePath lowers the name of a struct where a value is made of it: as the path that
// it is.
// S::<T> { … } and m::S { … }: the type arguments are left out, the path is a chain of
// Members.
func lowerTypePath(l *lang.Lowering, r tree.Role, i, name int32) {
	if kind := l.Kind(name); kind == "generic_type_with_turbofish" || kind == "generic_type" {
		name = l.Field(name, "type")
	}
	switch l.Kind(name) {
	case "type_identifier":
		l.Same(tree.Name, r, name)
	case "scoped_type_identifier":
		l.BeginText(tree.Member, r, "::", name)
		l.Need(tree.RoleObject, name, l.Field(name, "path"))
		if last := l.Field(name, "name"); last >= 0 {
			l.Same(tree.Name, tree.RoleProperty, last)
		}
		l.Close()
	default:
		l.Need(r, i, name)
	}
}

// lowerStructure lowers "S { a: 1, ..b }".
// ..b takes the remaining fields of another value: a Spread among the arguments.
func lowerStructure(l *lang.Lowering, r tree.Role, i int32) {
	l.BeginText(tree.New, r, "{}", i)
	lowerTypePath(l, tree.RoleType, i, l.Field(i, "name"))
	l.Nodes(tree.RoleArgument, l.Field(i, "body"))
	l.Close()
}

// lowerShorthand lowers the "a" of "S { a }".
func lowerShorthand(l *lang.Lowering, r tree.Role, i int32) {
	name := l.Find(i, "identifier")
	if name < 0 {
		l.Lost(r, i)
		return
	}
	// S { a } stands for S { a: a }; the value is implied.
	l.Begin(tree.Keyword, r, i)
	l.Same(tree.Name, tree.RoleName, name)
	l.Flag(l.Same(tree.Name, tree.RoleValue, name), tree.Implied)
	l.Close()
}

// lowerAlternative lowers what stands for the pattern in it; "_" is a token.
// Wrappers such as match_pattern have one child that counts. The wildcard is a token.
func lowerAlternative(l *lang.Lowering, r tree.Role, i int32) {
	for c := range l.Every(i) {
		if l.FieldName(c) == "condition" || l.Kind(c) == "mutable_specifier" || l.Extra(c) {
			continue
		}
		if l.Named(c) {
			l.Node(r, c)
			return
		}
		if l.Source(c) == "_" {
			l.Put(tree.Name, r, "_", c)
			return
		}
	}
	l.Lost(r, i)
}

// lowerParts adds the parts of a pattern but the one given; "_" is a token.
// The function is common to all patterns with parts.
func lowerParts(l *lang.Lowering, r tree.Role, i, but int32) {
	for c := range l.Every(i) {
		switch {
		case c == but || l.Extra(c):
		case l.Named(c):
			l.Node(r, c)
		case l.Source(c) == "_":
			l.Put(tree.Name, r, "_", c)
		}
	}
}

// lowerTuplePattern lowers "Some(a)", which is written as a call.
// A rule for Some($X) matches both a call and a pattern.
func lowerTuplePattern(l *lang.Lowering, r tree.Role, i int32) {
	l.Begin(tree.Call, r, i)
	name := l.Field(i, "type")
	l.Need(tree.RoleCallee, i, name)
	lowerParts(l, tree.RoleArgument, i, name)
	l.Close()
}

// lowerStructPattern lowers "S { a, b: p, .. }", which is written as a literal.
func lowerStructPattern(l *lang.Lowering, r tree.Role, i int32) {
	l.BeginText(tree.New, r, "{}", i)
	name := l.Field(i, "type")
	lowerTypePath(l, tree.RoleType, i, name)
	lowerParts(l, tree.RoleArgument, i, name)
	l.Close()
}

// lowerFieldPattern lowers one field of such a pattern; "a" alone stands for "a: a".
// "S { a }" binds the field a to a variable of that name.
func lowerFieldPattern(l *lang.Lowering, r tree.Role, i int32) {
	name := l.Field(i, "name")
	if name < 0 {
		l.Lost(r, i)
		return
	}
	l.Begin(tree.Keyword, r, i)
	l.Same(tree.Name, tree.RoleName, name)
	if l.Field(i, "pattern") >= 0 {
		lowerTarget(l, tree.RoleValue, i, "pattern")
	} else {
		l.Flag(l.Same(tree.Name, tree.RoleValue, name), tree.Implied)
	}
	l.Close()
}

// sequencePatternRule returns the rule for "(a, b)" and "[a, b]" of patterns.
func sequencePatternRule(k tree.Kind) lang.Rule {
	return func(l *lang.Lowering, r tree.Role, i int32) {
		l.Begin(k, r, i)
		lowerParts(l, tree.RoleElement, i, -1)
		l.Close()
	}
}

// lowerOrPattern lowers "a | b" inside of another pattern.
func lowerOrPattern(l *lang.Lowering, r tree.Role, i int32) {
	l.BeginText(tree.Other, r, "or_pattern", i)
	lowerAlternatives(l, tree.RoleElement, i)
	l.Close()
}

// lowerAlternatives adds all alternatives of nested or-patterns.
// a | b | c nests to the left. The loop goes down without recursion, since generated code has
// hundreds of alternatives.
func lowerAlternatives(l *lang.Lowering, r tree.Role, i int32) {
	for depth := 0; ; depth++ {
		var list []int32
		for c := range l.Every(i) {
			if !l.Extra(c) && (l.Named(c) || l.Source(c) == "_") {
				list = append(list, c)
			}
		}
		if len(list) == 0 {
			return
		}
		for _, c := range list[1:] { // the order of alternatives has no meaning
			if l.Named(c) {
				l.Node(r, c)
			} else {
				l.Put(tree.Name, r, "_", c)
			}
		}
		if l.Kind(list[0]) != "or_pattern" || depth > tree.MaxDepth {
			if l.Named(list[0]) {
				l.Node(r, list[0])
			} else {
				l.Put(tree.Name, r, "_", list[0])
			}
			return
		}
		i = list[0]
	}
}

// lowerCaptured lowers "a @ b".
// n @ 1..=9 binds the whole to a name and tests it.
func lowerCaptured(l *lang.Lowering, r tree.Role, i int32) {
	l.BeginText(tree.Assign, r, "@", i)
	name := l.First(i)
	l.Need(tree.RoleTarget, i, name)
	before := l.Mark()
	lowerParts(l, tree.RoleValue, i, name)
	// Nothing behind the "@": damaged code.
	if l.Mark() == before {
		l.Lost(tree.RoleValue, i)
	}
	l.Close()
}
