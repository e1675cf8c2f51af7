package rust

import (
	"strings"

	"merlon/internal/engine/sast/lang"
	"merlon/internal/engine/sast/tree"
)

// own are the constructs that are statements of themselves.
// The grammar makes if, match and loops expressions; as statements they need no
// ExpressionStatement around them.
var own = map[string]bool{
	"if_expression": true, "while_expression": true, "loop_expression": true, "for_expression": true,
	"match_expression":  true,
	"return_expression": true, "break_expression": true, "continue_expression": true, "unsafe_block": true,
	"block":                true,
	"expression_statement": true, "let_declaration": true, "use_declaration": true, "extern_crate_declaration": true,
	"macro_definition": true, "associated_type": true, "empty_statement": true, "enum_variant": true,
	"field_declaration": true,
	"shebang":           true, "ERROR": true,
}

// lowerStatement adds a statement or an item; an expression is wrapped.
// Items (functions, structs, impl blocks) end in "_item" in the grammar.
func lowerStatement(l *lang.Lowering, i int32) {
	kind := l.Kind(i)
	if own[kind] || strings.HasSuffix(kind, "_item") {
		l.Node(tree.RoleStatement, i)
		return
	}
	l.Begin(tree.ExpressionStatement, tree.RoleStatement, i)
	l.Need(tree.RoleValue, i, i)
	l.Close()
}

// lowerBlock lowers braces with statements in them; one with a label stands below it.
// 'a: { … break 'a; … }: a Label with the Block as its body.
func lowerBlock(l *lang.Lowering, r tree.Role, i int32) {
	label := l.Find(i, "label")
	if label >= 0 {
		l.Begin(tree.Label, r, i)
		l.Node(tree.RoleName, l.First(label))
		r = tree.RoleBody
	}
	l.Begin(tree.Block, r, i)
	for c := range l.Children(i) {
		// Attributes are lowered with the item that they belong to.
		if kind := l.Kind(c); c != label && kind != "attribute_item" {
			lowerStatement(l, c)
		}
	}
	l.Close()
	if label >= 0 {
		l.Close()
	}
}

// lowerExpressionStatement lowers "e;" and an expression that ends in a brace.
func lowerExpressionStatement(l *lang.Lowering, r tree.Role, i int32) {
	c := l.First(i)
	// A plain block keeps its statement: its last expression is a value.
	if own[l.Kind(c)] && l.Kind(c) != "block" {
		l.Node(r, c)
		return
	}
	l.Begin(tree.ExpressionStatement, r, i)
	l.Need(tree.RoleValue, i, c)
	l.Close()
}

// lowerLetDeclaration lowers let; the block of "let … else" is its Else.
// "let Some(x) = y else { return };" has a block that never reaches the next statement.
func lowerLetDeclaration(l *lang.Lowering, r tree.Role, i int32) {
	l.BeginText(tree.Variable, r, "let", i)
	if m := l.Find(i, "mutable_specifier"); m >= 0 {
		l.Put(tree.Modifier, tree.RoleModifier, "mut", m)
	}
	l.Part(tree.RoleType, i, "type")
	lowerTarget(l, tree.RoleTarget, i, "pattern")
	l.Part(tree.RoleValue, i, "value")
	l.Part(tree.RoleElse, i, "alternative")
	l.Close()
}

// lowerIfExpression lowers if; as a value it is a Conditional.
// The role tells whether the value is used: "let a = if c { 1 } else { 2 };" is a Conditional.
func lowerIfExpression(l *lang.Lowering, r tree.Role, i int32) {
	if r != tree.RoleStatement && r != tree.RoleElse {
		lowerConditional(l, r, i)
		return
	}
	l.Begin(tree.If, r, i)
	l.Need(tree.RoleCondition, i, l.Field(i, "condition"))
	l.Need(tree.RoleThen, i, l.Field(i, "consequence"))
	l.Node(tree.RoleElse, alternativeOf(l, i))
	l.Close()
}

// alternativeOf returns the block or the if behind else, -1 for none.
func alternativeOf(l *lang.Lowering, i int32) int32 {
	if clause := l.Field(i, "alternative"); clause >= 0 {
		return l.First(clause)
	}
	return -1
}

// lowerConditional lowers an if whose value is wanted.
// Branches are reduced to their values, so that taint flows through a conditional as in other
// languages.
func lowerConditional(l *lang.Lowering, r tree.Role, i int32) {
	l.Begin(tree.Conditional, r, i)
	l.Need(tree.RoleCondition, i, l.Field(i, "condition"))
	lowerValue(l, tree.RoleThen, i, l.Field(i, "consequence"))
	lowerValue(l, tree.RoleElse, i, alternativeOf(l, i))
	l.Close()
}

// lowerValue adds the value of a block: its only expression, or a Sequence.
// A missing else has the value (), an empty Tuple.
func lowerValue(l *lang.Lowering, r tree.Role, i, c int32) {
	if c < 0 {
		_, end := l.Range(i)
		l.Flag(l.Leaf(tree.Tuple, r, "", end, end), tree.Implied)
		return
	}
	// else if: a conditional inside of the conditional.
	if l.Kind(c) == "if_expression" && !l.TooDeep() {
		lowerConditional(l, r, c)
		return
	}
	if l.Kind(c) != "block" {
		l.Node(r, c)
		return
	}
	// A semicolon behind the last expression is ignored: the type would be ().
	var parts []int32
	for p := range l.Children(c) {
		if l.Kind(p) == "expression_statement" {
			p = l.First(p)
		}
		if p >= 0 {
			parts = append(parts, p)
		}
	}
	// Several statements are a Sequence, whose last element is the value.
	if len(parts) == 1 {
		l.Node(r, parts[0])
		return
	}
	l.Begin(tree.Sequence, r, c)
	for _, p := range parts {
		l.Node(tree.RoleElement, p)
	}
	l.Close()
}

// lowerLetChain lowers "let a = b && c" to the left.
// "if let Some(a) = b && a > 0" (edition 2024) is a chain of conditions without nested nodes
// in the grammar.
func lowerLetChain(l *lang.Lowering, r tree.Role, i int32) {
	start, _ := l.Range(i)
	m := l.Mark()
	n := 0
	for c := range l.Children(i) {
		// A chain of a fuzzer could nest without limit.
		if n++; n > maxUse {
			break
		}
		if n == 1 {
			l.Node(r, c)
			continue
		}
		_, end := l.Range(c)
		// Wrap puts the operator around everything since the mark: the chain grows to the left.
		b := l.Wrap(m, tree.Binary, r, start, end)
		l.File.Nodes[b].Text = "&&"
		l.File.Nodes[b+1].Role = tree.RoleLeft
		l.Reopen(b)
		l.Node(tree.RoleRight, c)
		l.Close()
	}
}

// labelledRule returns the rule for a loop, with the Label that it may have.
// 'outer: loop { … }: the label is the name that break and continue refer to.
func labelledRule(loop lang.Rule) lang.Rule {
	return func(l *lang.Lowering, r tree.Role, i int32) {
		label := l.Find(i, "label")
		if label < 0 {
			loop(l, r, i)
			return
		}
		l.Begin(tree.Label, r, i)
		l.Need(tree.RoleName, label, l.First(label))
		loop(l, tree.RoleBody, i)
		l.Close()
	}
}

// lowerWhileLoop lowers while, also with "let".
func lowerWhileLoop(l *lang.Lowering, r tree.Role, i int32) {
	l.Begin(tree.While, r, i)
	l.Need(tree.RoleCondition, i, l.Field(i, "condition"))
	l.Need(tree.RoleBody, i, l.Field(i, "body"))
	l.Close()
}

// lowerEndless lowers "loop".
// loop { } is while true, with a condition that the source does not spell.
func lowerEndless(l *lang.Lowering, r tree.Role, i int32) {
	l.Begin(tree.While, r, i)
	start, _ := l.Range(i)
	l.Flag(l.Leaf(tree.Bool, tree.RoleCondition, "true", start, start), tree.Implied)
	l.Need(tree.RoleBody, i, l.Field(i, "body"))
	l.Close()
}

// lowerForLoop lowers "for pattern in xs".
func lowerForLoop(l *lang.Lowering, r tree.Role, i int32) {
	l.BeginText(tree.ForEach, r, "of", i)
	lowerTarget(l, tree.RoleTarget, i, "pattern")
	l.Need(tree.RoleIterable, i, l.Field(i, "value"))
	l.Need(tree.RoleBody, i, l.Field(i, "body"))
	l.Close()
}

// lowerMatch lowers match. The body of an arm is a Block; a sign of a pattern stays one.
// The arms do not run into each other.
func lowerMatch(l *lang.Lowering, r tree.Role, i int32) {
	l.Begin(tree.Switch, r, i)
	l.Part(tree.RoleValue, i, "value")
	if arms := l.Field(i, "body"); arms >= 0 {
		for c := range l.Children(arms) {
			if l.Kind(c) == "match_arm" {
				lowerArm(l, c)
			} else {
				l.Node(tree.RoleCase, c)
			}
		}
	}
	l.Close()
}

// lowerArm lowers "pattern if guard => body".
// The guard is part of the pattern in the grammar, so that "_ if x" is no default.
func lowerArm(l *lang.Lowering, i int32) {
	pattern := l.Field(i, "pattern")
	text := ""
	if pattern >= 0 && l.Source(pattern) == "_" {
		text = "default"
	}
	l.BeginText(tree.Case, tree.RoleCase, text, i)
	// "a | b => …" has several conditions. The pattern itself may be wrapped once more.
	if first := l.First(pattern); pattern >= 0 && l.Kind(first) == "or_pattern" {
		lowerAlternatives(l, tree.RoleCondition, first)
	} else {
		l.Node(tree.RoleCondition, pattern)
	}
	l.Part(tree.RoleGuard, pattern, "condition")
	switch body := l.Field(i, "value"); {
	case body < 0:
		l.Lost(tree.RoleBody, i)
	// A body that is a block, or a sign of a pattern that stands for one, is the body itself.
	case l.Kind(body) == "block" || lang.Holder(l.Source(body)):
		l.Node(tree.RoleBody, body)
	default:
		l.Begin(tree.Block, tree.RoleBody, body)
		lowerStatement(l, body)
		l.Close()
	}
	l.Close()
}

// optionalValueRule returns the rule for an expression with an optional value.
func optionalValueRule(k tree.Kind) lang.Rule {
	return func(l *lang.Lowering, r tree.Role, i int32) {
		l.Begin(k, r, i)
		l.Node(tree.RoleValue, l.First(i))
		l.Close()
	}
}

// jumpRule returns the rule for break, with a label and a value, and continue.
// break 'a value: the label and the value are both children.
func jumpRule(k tree.Kind) lang.Rule {
	return func(l *lang.Lowering, r tree.Role, i int32) {
		l.Begin(k, r, i)
		for c := range l.Children(i) {
			// The name of the label has no quote in the tree.
			if l.Kind(c) == "label" {
				l.Node(tree.RoleLabel, l.First(c))
			} else {
				l.Node(tree.RoleValue, c)
			}
		}
		l.Close()
	}
}

// withRule returns the rule for a block with a word before it.
func withRule(text string) lang.Rule {
	return func(l *lang.Lowering, r tree.Role, i int32) {
		l.BeginText(tree.With, r, text, i)
		l.Need(tree.RoleBody, i, l.Find(i, "block"))
		l.Close()
	}
}
