package rule

import (
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"merlon/internal/engine/sast/pcre"
)

// rootKeys are the keys that may be a whole formula in the older spelling.
var rootKeys = []string{"pattern", "patterns", "pattern-either", "pattern-regex"}

// oldRoot reads the formula of a mapping that has other keys too. where says what
// mapping it is. Below metavariable-pattern a formula may be of negations alone.
func (b *builder) oldRoot(d *dict, where string, nested bool) *Formula {
	var keys []string
	for _, k := range rootKeys {
		if d.has(k) {
			keys = append(keys, k)
		}
	}
	if len(keys) != 1 {
		b.fault(d.line, "%s needs exactly one of %s", where, strings.Join(rootKeys, ", "))
		return nil
	}
	n := d.take(keys[0])
	if n == nil {
		return nil
	}
	return b.oldPair(keys[0], n, nested)
}

// oldPair reads one key of the older spelling with its value. It is nil, with a
// fault, for a key that is no formula.
func (b *builder) oldPair(key string, n *yaml.Node, nested bool) *Formula {
	if !b.enter(n) {
		return nil
	}
	defer b.leave()
	switch key {
	case "pattern":
		return b.pattern(n)
	case "pattern-regex":
		return b.regexFormula(n)
	case "pattern-not-regex":
		return wrap(OpNot, b.regexFormula(n), n)
	case "pattern-not":
		return wrap(OpNot, b.oldOperand(key, n), n)
	case "pattern-inside":
		return wrap(OpInside, b.oldOperand(key, n), n)
	case "pattern-not-inside":
		return wrap(OpNot, wrap(OpInside, b.oldOperand(key, n), n), n)
	case "semgrep-internal-pattern-anywhere":
		return wrap(OpAnywhere, b.oldOperand(key, n), n)
	case "patterns":
		return b.conjunction(n, nested)
	case "pattern-either":
		return b.either(n)
	case "pattern-where-python":
		b.fault(n.Line, "pattern-where-python runs code of the rule, which is not supported: use "+
			"metavariable-comparison")
	case "metavariable-regexp":
		b.fault(n.Line, "there is no key metavariable-regexp: use metavariable-regex")
	default:
		if conditionKeys[key] || key == "focus-metavariable" {
			b.fault(n.Line, "%s must stand directly below patterns", key)
		} else {
			b.fault(n.Line, "there is no operator %s", key)
		}
	}
	return nil
}

func wrap(op Op, f *Formula, n *yaml.Node) *Formula {
	if f == nil {
		return nil
	}
	return &Formula{Op: op, Line: n.Line, Children: []*Formula{f}}
}

// pattern reads the text of a pattern.
func (b *builder) pattern(n *yaml.Node) *Formula {
	if b.regex {
		return b.regexFormula(n)
	}
	text := b.scalar(n, "a pattern")
	if strings.TrimSpace(text) == "" {
		b.fault(n.Line, "a pattern is empty")
		return nil
	}
	return &Formula{Op: OpPattern, Line: textLine(n), Text: text}
}

func (b *builder) regexFormula(n *yaml.Node) *Formula {
	re := b.regexp(n, pcre.Multiline)
	if re == nil {
		return nil
	}
	return &Formula{Op: OpRegex, Line: textLine(n), Text: re.String(), Regex: re}
}

// oldOperand reads what pattern-not and its like stand before: text, or a mapping
// of one key.
func (b *builder) oldOperand(key string, n *yaml.Node) *Formula {
	to := b.resolve(n)
	if to == nil {
		return nil
	}
	if to.Kind == yaml.ScalarNode {
		return b.pattern(n)
	}
	k, value := b.single(n, key)
	if value == nil {
		return nil
	}
	if k == "pattern-not" || k == "pattern-not-inside" || k == "pattern-not-regex" {
		b.fault(value.Line, "%s cannot stand directly below %s", k, key)
		return nil
	}
	return b.oldPair(k, value, false)
}

// single reads a mapping of exactly one key.
func (b *builder) single(n *yaml.Node, what string) (string, *yaml.Node) {
	d := b.dict(n, "an element of "+what)
	if d == nil {
		return "", nil
	}
	if len(d.pairs) != 1 {
		b.fault(d.line, "an element of %s must have exactly one key: is a hyphen missing?", what)
		return "", nil
	}
	key := d.pairs[0].key.Value
	return key, d.take(key)
}

// either reads the list below pattern-either.
func (b *builder) either(n *yaml.Node) *Formula {
	out := &Formula{Op: OpAny, Line: n.Line}
	for _, e := range b.list(n, "pattern-either") {
		key, value := b.single(e, "pattern-either")
		if value == nil {
			continue
		}
		f := b.oldPair(key, value, false)
		if f != nil && f.Op == OpNot {
			b.fault(value.Line, "%s cannot stand below pattern-either", key)
			continue
		}
		if f != nil {
			out.Children = append(out.Children, f)
		}
	}
	if len(out.Children) == 0 {
		b.fault(n.Line, "pattern-either has no alternative")
		return nil
	}
	return out
}

// conjunction reads the list below patterns.
func (b *builder) conjunction(n *yaml.Node, nested bool) *Formula {
	out := &Formula{Op: OpAll, Line: n.Line}
	faults := len(b.faults)
	for _, e := range b.list(n, "patterns") {
		key, value := b.single(e, "patterns")
		switch {
		case value == nil:
		case key == "focus-metavariable":
			b.focus(out, value)
		case conditionKeys[key]:
			b.oldCondition(out, key, value)
		default:
			if f := b.oldPair(key, value, false); f != nil {
				out.Children = append(out.Children, f)
			}
		}
	}
	if !nested && !positive(out) && faults == len(b.faults) {
		b.fault(n.Line, "patterns needs at least one operator that is not a negation")
		return nil
	}
	return out
}

// positive says whether a conjunction has a member that can match by itself.
func positive(f *Formula) bool {
	return slices.ContainsFunc(f.Children, func(c *Formula) bool { return c.Op != OpNot })
}

func (b *builder) focus(f *Formula, n *yaml.Node) {
	names := b.strs(n, "focus-metavariable", true)
	for _, name := range names {
		b.metavariable(n, name)
	}
	if len(names) > 0 {
		f.Focus = append(f.Focus, names)
	}
}

// metavariable reports a name that is none.
func (b *builder) metavariable(n *yaml.Node, name string) string {
	if n != nil && !IsMetavariable(name) {
		b.fault(n.Line, "%q is no metavariable: those are $ and capital letters, digits and underscores", name)
	}
	return name
}

// newKeys are the operators of the newer spelling.
var newKeys = map[string]Op{
	"pattern": OpPattern, "regex": OpRegex, "all": OpAll, "any": OpAny, "not": OpNot, "inside": OpInside,
	"anywhere": OpAnywhere,
}

// formula reads a formula in the newer spelling: text, or a mapping.
func (b *builder) formula(n *yaml.Node) *Formula {
	if to := b.resolve(n); to == nil || to.Kind == yaml.ScalarNode {
		if to == nil {
			return nil
		}
		return b.pattern(n)
	}
	d := b.dict(n, "a formula")
	if d == nil {
		return nil
	}
	f := b.newRoot(d, "a formula", false)
	d.finish("a formula")
	return f
}

// newRoot reads the operator of a mapping and what may stand beside it. The
// mapping may have other keys too. Below a condition it may be a negation.
func (b *builder) newRoot(d *dict, where string, nested bool) *Formula {
	var key string
	for _, p := range d.pairs {
		if newKeys[p.key.Value] == 0 {
			continue
		}
		if key != "" {
			b.fault(p.key.Line, "%s has both %s and %s", where, key, p.key.Value)
			p.used = true
			continue
		}
		key = p.key.Value
	}
	if key == "" {
		b.fault(d.line, "%s needs one of pattern, regex, all, any, not, inside, anywhere", where)
		return nil
	}
	n := d.take(key)
	if n == nil || !b.enter(n) {
		return nil
	}
	defer b.leave()
	f := b.newPair(newKeys[key], n, nested)
	if f == nil {
		f = &Formula{} // to find the faults of the rest
	}
	if n := d.take("as"); n != nil {
		f.As = b.metavariable(n, b.scalar(n, "as"))
	}
	f.Fix = d.str("fix")
	for _, e := range b.list(d.take("where"), "where") {
		b.newCondition(f, e)
	}
	if f.Op == 0 {
		return nil
	}
	return f
}

func (b *builder) newPair(op Op, n *yaml.Node, nested bool) *Formula {
	switch op {
	case OpPattern:
		return b.pattern(n)
	case OpRegex:
		return b.regexFormula(n)
	case OpNot, OpInside, OpAnywhere:
		return wrap(op, b.formula(n), n)
	}
	out := &Formula{Op: op, Line: n.Line}
	faults := len(b.faults)
	for _, e := range b.list(n, "all and any") {
		f := b.formula(e)
		if f != nil && f.Op == OpNot && op == OpAny {
			b.fault(e.Line, "not cannot stand below any")
		}
		if f != nil {
			out.Children = append(out.Children, f)
		}
	}
	if faults != len(b.faults) {
		return out
	}
	if len(out.Children) == 0 || op == OpAll && !nested && !positive(out) {
		b.fault(n.Line, "all and any need at least one operator that is not a negation")
	}
	return out
}
