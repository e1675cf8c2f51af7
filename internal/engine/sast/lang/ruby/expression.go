package ruby

import (
	"strings"

	"merlon/internal/engine/sast/lang"
	"merlon/internal/engine/sast/tree"
)

// lowerCall lowers "a.b(c) { … }" in all its forms. Without arguments, parentheses and
// block it is the Member alone.
func lowerCall(l *lang.Lowering, r tree.Role, i int32) {
	receiver, arguments, block := l.Field(i, "receiver"), l.Field(i, "arguments"), l.Field(i, "block")
	if arguments < 0 && block < 0 && receiver >= 0 {
		lowerCallee(l, r, i)
		return
	}
	l.Begin(tree.Call, r, i)
	lowerCallee(l, tree.RoleCallee, i)
	if arguments >= 0 {
		for c := range l.Children(arguments) {
			lowerArgument(l, c)
		}
	}
	l.Node(tree.RoleArgument, block)
	l.Close()
}

// lowerCallee adds what is called: a Name, or a Member of the receiver. "a.(b)" calls
// the method call.
func lowerCallee(l *lang.Lowering, r tree.Role, i int32) {
	receiver, method := l.Field(i, "receiver"), l.Field(i, "method")
	if receiver < 0 {
		if method < 0 {
			l.Lost(r, i)
			return
		}
		l.Node(r, method)
		return
	}
	operator := l.Field(i, "operator")
	start, _ := l.Range(receiver)
	_, end := l.Range(max(receiver, operator, method))
	m := l.Open(tree.Member, r, start, end)
	switch text := l.Source(operator); text {
	case "&.":
		l.File.Nodes[m].Text = "."
		l.Flag(m, tree.Optional)
	default:
		l.File.Nodes[m].Text = text
	}
	l.Node(tree.RoleObject, receiver)
	if method >= 0 {
		l.Node(tree.RoleProperty, method)
	} else {
		l.Flag(l.Leaf(tree.Name, tree.RoleProperty, "call", end, end), tree.Implied)
	}
	l.Close()
}

// lowerArgument adds an argument. A pair whose key is a symbol is a Keyword.
func lowerArgument(l *lang.Lowering, i int32) {
	key := l.Field(i, "key")
	if l.Kind(i) != "pair" || !isSymbol(l, i, key) {
		l.Node(tree.RoleArgument, i)
		return
	}
	l.Begin(tree.Keyword, tree.RoleArgument, i)
	if name, plain := symbolName(l, key); plain {
		start, end := nameRange(l, key)
		l.Leaf(tree.Name, tree.RoleName, name, start, end)
	} else {
		lowerSymbol(l, tree.RoleName, key)
	}
	lowerPairValue(l, i, key)
	l.Close()
}

// lowerPair lowers a part of a hash, and a part of a hash pattern.
func lowerPair(l *lang.Lowering, r tree.Role, i int32) {
	l.Begin(tree.Pair, r, i)
	key := l.Field(i, "key")
	switch {
	case key < 0:
		l.Lost(tree.RoleKey, i)
	case isSymbol(l, i, key):
		lowerSymbol(l, tree.RoleKey, key)
	default:
		l.Need(tree.RoleKey, i, key)
	}
	lowerPairValue(l, i, key)
	l.Close()
}

// lowerPairValue adds the value; "{a:}" stands for "{a: a}".
func lowerPairValue(l *lang.Lowering, i, key int32) {
	if c := l.Field(i, "value"); c >= 0 {
		l.Need(tree.RoleValue, i, c)
		return
	}
	name, _ := symbolName(l, key)
	l.Flag(l.Put(tree.Name, tree.RoleValue, name, max(key, i)), tree.Implied)
}

// isSymbol reports whether a key is a symbol: "a:", "'a':" or ":a =>".
func isSymbol(l *lang.Lowering, i, key int32) bool {
	switch l.Kind(key) {
	case "hash_key_symbol", "simple_symbol", "delimited_symbol":
		return true
	case "string":
		return !l.Has(i, "=>")
	}
	return false
}

// lowerElement lowers "a[b]".
func lowerElement(l *lang.Lowering, r tree.Role, i int32) {
	l.Begin(tree.Index, r, i)
	object, block := l.Field(i, "object"), l.Field(i, "block")
	l.Need(tree.RoleObject, i, object)
	for c := range l.Children(i) {
		if c != object && c != block {
			l.Node(tree.RoleIndex, c)
		}
	}
	l.Close()
}

// lowerScopeResolution lowers "A::B" to a Member, and "::A" to the Name.
func lowerScopeResolution(l *lang.Lowering, r tree.Role, i int32) {
	scope, name := l.Field(i, "scope"), l.Field(i, "name")
	if scope < 0 {
		l.Need(r, i, name)
		return
	}
	l.BeginText(tree.Member, r, "::", i)
	l.Node(tree.RoleObject, scope)
	l.Need(tree.RoleProperty, i, name)
	l.Close()
}

// lowerTuple is the rule for several values without brackets.
func lowerTuple(l *lang.Lowering, r tree.Role, i int32) {
	l.Begin(tree.Tuple, r, i)
	l.Nodes(tree.RoleElement, i)
	l.Close()
}

// lowerOperatorAssignment lowers "a ||= b" and "a += b".
func lowerOperatorAssignment(l *lang.Lowering, r tree.Role, i int32) {
	l.BeginText(tree.Assign, r, l.Source(l.Field(i, "operator")), i)
	l.Need(tree.RoleTarget, i, l.Field(i, "left"))
	l.Need(tree.RoleValue, i, l.Field(i, "right"))
	l.Close()
}

// lowerBinary lowers an operation of two operands.
func lowerBinary(l *lang.Lowering, r tree.Role, i int32) {
	l.BeginText(tree.Binary, r, l.Source(l.Field(i, "operator")), i)
	l.Need(tree.RoleLeft, i, l.Field(i, "left"))
	l.Need(tree.RoleRight, i, l.Field(i, "right"))
	l.Close()
}

// lowerUnary lowers "!a", "-a", "not a" and "defined? a".
func lowerUnary(l *lang.Lowering, r tree.Role, i int32) {
	l.BeginText(tree.Unary, r, l.Source(l.Field(i, "operator")), i)
	l.Need(tree.RoleValue, i, l.Field(i, "operand"))
	l.Close()
}

// lowerRangeOf lowers "a..b" and "a...b"; an open end is an implied Null.
func lowerRangeOf(l *lang.Lowering, r tree.Role, i int32) {
	l.BeginText(tree.Binary, r, l.Source(l.Field(i, "operator")), i)
	start, end := l.Range(i)
	if c := l.Field(i, "begin"); c >= 0 {
		l.Node(tree.RoleLeft, c)
	} else {
		l.Flag(l.Leaf(tree.Null, tree.RoleLeft, "nil", start, start), tree.Implied)
	}
	if c := l.Field(i, "end"); c >= 0 {
		l.Node(tree.RoleRight, c)
	} else {
		l.Flag(l.Leaf(tree.Null, tree.RoleRight, "nil", end, end), tree.Implied)
	}
	l.Close()
}

// splatRule returns the rule for "*a" and the like. The value may have no name.
func splatRule(text string) lang.Rule {
	return func(l *lang.Lowering, r tree.Role, i int32) {
		l.BeginText(tree.Spread, r, text, i)
		switch c := l.First(i); {
		case c >= 0:
			l.Node(tree.RoleValue, c)
		case l.Has(i, "nil"):
			l.Put(tree.Null, tree.RoleValue, "nil", l.Find(i, "nil"))
		default:
			l.Flag(l.Put(tree.Name, tree.RoleValue, text, i), tree.Implied)
		}
		l.Close()
	}
}

// lowerForward lowers the "..." that passes all arguments on.
func lowerForward(l *lang.Lowering, r tree.Role, i int32) {
	l.BeginText(tree.Spread, r, "...", i)
	l.Flag(l.Put(tree.Name, tree.RoleValue, "...", i), tree.Implied)
	l.Close()
}

// patternMatchRule returns the rule for "a => pattern" and "a in pattern".
func patternMatchRule(operator string) lang.Rule {
	return lang.Slots(tree.Binary, operator, lang.Slot{Role: tree.RoleLeft, Field: "value"},
		lang.Slot{Role: tree.RoleRight, Field: "pattern"})
}

// classPatternRule returns the rule for patterns of lists and hashes; one with a class
// is written as a call, and is one.
func classPatternRule(k tree.Kind) lang.Rule {
	return func(l *lang.Lowering, r tree.Role, i int32) {
		class, role := l.Field(i, "class"), tree.RoleElement
		if class >= 0 {
			l.Begin(tree.Call, r, i)
			l.Node(tree.RoleCallee, class)
			role = tree.RoleArgument
		} else {
			l.Begin(k, r, i)
		}
		for c := range l.Children(i) {
			if c != class {
				l.Node(role, c)
			}
		}
		l.Close()
	}
}

// lowerAlternatives lowers "a | b | c" to the left.
func lowerAlternatives(l *lang.Lowering, r tree.Role, i int32) {
	start, _ := l.Range(i)
	m := l.Mark()
	n := 0
	for c := range l.Fields(i, "alternatives") {
		if n == 0 {
			l.Node(r, c)
			n++
			continue
		}
		_, end := l.Range(c)
		b := l.Wrap(m, tree.Binary, r, start, end)
		l.File.Nodes[b].Text = "|"
		l.File.Nodes[b+1].Role = tree.RoleLeft
		l.Reopen(b)
		l.Node(tree.RoleRight, c)
		l.Close()
		n++
		if n > maxAlternatives {
			break
		}
	}
	if n == 0 {
		l.Lost(r, i)
	}
}

// maxAlternatives bounds the depth of one pattern, as each wraps those before it.
const maxAlternatives = 200

// lowerNumber lowers a number without its separators; "2r" and "3i" keep their letters.
func lowerNumber(l *lang.Lowering, r tree.Role, i int32) {
	l.Put(tree.Number, r, strings.ReplaceAll(l.Source(i), "_", ""), i)
}
