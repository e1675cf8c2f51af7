package rule

import (
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"merlon/internal/engine/sast/pcre"
)

// This file reads formulas in both spellings of the format.

// rootKeys are the keys that may be a whole formula in the older spelling.
var rootKeys = []string{"pattern", "patterns", "pattern-either", "pattern-regex"}

// readOldRoot reads the formula of a mapping that has other keys too. where says what
// mapping it is. Below metavariable-pattern a formula may be of negations alone.
func (b *builder) readOldRoot(d *dict, where string, nested bool) *Formula {
	var keys []string
	for _, k := range rootKeys {
		if d.has(k) {
			keys = append(keys, k)
		}
	}
	if len(keys) != 1 {
		b.reportFault(d.line, "%s needs exactly one of %s", where, strings.Join(rootKeys, ", "))
		return nil
	}
	n := d.take(keys[0])
	if n == nil {
		return nil
	}
	return b.readOldPair(keys[0], n, nested)
}

// readOldPair reads one key of the older spelling with its value. It is nil, with a
// fault, for a key that is no formula.
func (b *builder) readOldPair(key string, n *yaml.Node, nested bool) *Formula {
	if !b.enter(n) {
		return nil
	}
	defer b.leave()
	switch key {
	case "pattern":
		return b.readPattern(n)
	case "pattern-regex":
		return b.readRegexFormula(n)
	case "pattern-not-regex":
		return wrapFormula(OpNot, b.readRegexFormula(n), n)
	case "pattern-not":
		return wrapFormula(OpNot, b.readOldOperand(key, n), n)
	case "pattern-inside":
		return wrapFormula(OpInside, b.readOldOperand(key, n), n)
	case "pattern-not-inside":
		return wrapFormula(OpNot, wrapFormula(OpInside, b.readOldOperand(key, n), n), n)
	case "semgrep-internal-pattern-anywhere":
		return wrapFormula(OpAnywhere, b.readOldOperand(key, n), n)
	case "patterns":
		return b.readConjunction(n, nested)
	case "pattern-either":
		return b.readEither(n)
	}
	b.reportWrongKey(key, n)
	return nil
}

// reportWrongKey reports a key that is no operator, and says what to write instead where
// that is known.
func (b *builder) reportWrongKey(key string, n *yaml.Node) {
	switch {
	case key == "pattern-where-python":
		b.reportFault(n.Line, "pattern-where-python runs code of the rule, which is not supported: use "+
			"metavariable-comparison")
	case key == "metavariable-regexp":
		b.reportFault(n.Line, "there is no key metavariable-regexp: use metavariable-regex")
	case conditionKeys[key] || key == "focus-metavariable":
		b.reportFault(n.Line, "%s must stand directly below patterns", key)
	default:
		b.reportFault(n.Line, "there is no operator %s", key)
	}
}

// wrapFormula puts an operator around a formula; nil stays nil, as its fault is reported.
func wrapFormula(op Op, f *Formula, n *yaml.Node) *Formula {
	if f == nil {
		return nil
	}
	return &Formula{Op: op, Line: n.Line, Children: []*Formula{f}}
}

// readPattern reads the text of a pattern. It is parsed by the engine, which knows the grammar;
// here it only must not be empty.
func (b *builder) readPattern(n *yaml.Node) *Formula {
	if b.regex {
		return b.readRegexFormula(n)
	}
	text := b.readScalar(n, "a pattern")
	if strings.TrimSpace(text) == "" {
		b.reportFault(n.Line, "a pattern is empty")
		return nil
	}
	return &Formula{Op: OpPattern, Line: textLine(n), Text: text}
}

// readRegexFormula reads a regular expression, in which ^ and $ match at lines.
func (b *builder) readRegexFormula(n *yaml.Node) *Formula {
	re := b.readRegexp(n, pcre.Multiline)
	if re == nil {
		return nil
	}
	return &Formula{Op: OpRegex, Line: textLine(n), Text: re.String(), Regex: re}
}

// readOldOperand reads what pattern-not and its like stand before: text, or a mapping
// of one key.
func (b *builder) readOldOperand(key string, n *yaml.Node) *Formula {
	to := b.resolve(n)
	if to == nil {
		return nil
	}
	if to.Kind == yaml.ScalarNode {
		return b.readPattern(n)
	}
	k, value := b.singleKey(n, key)
	if value == nil {
		return nil
	}
	if k == "pattern-not" || k == "pattern-not-inside" || k == "pattern-not-regex" {
		b.reportFault(value.Line, "%s cannot stand directly below %s", k, key)
		return nil
	}
	return b.readOldPair(k, value, false)
}

// singleKey reads a mapping of exactly one key. A second key is nearly always a forgotten hyphen,
// which the message says.
func (b *builder) singleKey(n *yaml.Node, what string) (string, *yaml.Node) {
	d := b.readDict(n, "an element of "+what)
	if d == nil {
		return "", nil
	}
	if len(d.pairs) != 1 {
		b.reportFault(d.line, "an element of %s must have exactly one key: is a hyphen missing?", what)
		return "", nil
	}
	key := d.pairs[0].key.Value
	return key, d.take(key)
}

// readEither reads the list below pattern-either. A negation among alternatives would match
// everything else and is refused.
func (b *builder) readEither(n *yaml.Node) *Formula {
	out := &Formula{Op: OpAny, Line: n.Line}
	for _, e := range b.readList(n, "pattern-either") {
		key, value := b.singleKey(e, "pattern-either")
		if value == nil {
			continue
		}
		f := b.readOldPair(key, value, false)
		if f != nil && f.Op == OpNot {
			b.reportFault(value.Line, "%s cannot stand below pattern-either", key)
			continue
		}
		if f != nil {
			out.Children = append(out.Children, f)
		}
	}
	if len(out.Children) == 0 {
		b.reportFault(n.Line, "pattern-either has no alternative")
		return nil
	}
	return out
}

// readConjunction reads the list below patterns. Conditions and focus-metavariable stand in the
// list beside the operators, and their place in it does not matter. When an element had a fault,
// nothing more is said of what the list lacks.
func (b *builder) readConjunction(n *yaml.Node, nested bool) *Formula {
	out := &Formula{Op: OpAll, Line: n.Line}
	faults := len(b.faults)
	for _, e := range b.readList(n, "patterns") {
		key, value := b.singleKey(e, "patterns")
		switch {
		case value == nil:
		case key == "focus-metavariable":
			b.readFocus(out, value)
		case conditionKeys[key]:
			b.readOldCondition(out, key, value)
		default:
			if f := b.readOldPair(key, value, false); f != nil {
				out.Children = append(out.Children, f)
			}
		}
	}
	if !nested && !hasPositive(out) && faults == len(b.faults) {
		b.reportFault(n.Line, "patterns needs at least one operator that is not a negation")
		return nil
	}
	return out
}

// hasPositive says whether a conjunction has a member that can match by itself. Without one a
// conjunction would match the whole file.
func hasPositive(f *Formula) bool {
	return slices.ContainsFunc(f.Children, func(c *Formula) bool { return c.Op != OpNot })
}

// readFocus reads focus-metavariable: a name, or a list of names any of which may be the range.
// The names are checked one by one, though a list with a wrong one is kept: the rule is dropped
// for its fault anyway.
func (b *builder) readFocus(f *Formula, n *yaml.Node) {
	names := b.readStrings(n, "focus-metavariable", true)
	for _, name := range names {
		b.checkMetavariable(n, name)
	}
	if len(names) > 0 {
		f.Focus = append(f.Focus, names)
	}
}

// checkMetavariable reports a name that is none. A typing error would otherwise be a name that is
// never bound.
func (b *builder) checkMetavariable(n *yaml.Node, name string) string {
	if n != nil && !IsMetavariable(name) {
		b.reportFault(n.Line, "%q is no metavariable: those are $ and capital letters, digits and underscores", name)
	}
	return name
}

// newKeys are the operators of the newer spelling.
var newKeys = map[string]Op{
	"pattern": OpPattern, "regex": OpRegex, "all": OpAll, "any": OpAny, "not": OpNot, "inside": OpInside,
	"anywhere": OpAnywhere,
}

// readFormula reads a formula in the newer spelling: text, or a mapping. Keys that nothing read
// are faults, as a misspelled condition would let the rule match too much.
func (b *builder) readFormula(n *yaml.Node) *Formula {
	if to := b.resolve(n); to == nil || to.Kind == yaml.ScalarNode {
		if to == nil {
			return nil
		}
		return b.readPattern(n)
	}
	d := b.readDict(n, "a formula")
	if d == nil {
		return nil
	}
	f := b.readNewRoot(d, "a formula", false)
	d.reportUnused("a formula")
	return f
}

// readNewRoot reads the operator of a mapping and what may stand beside it. The mapping may have
// other keys too. Below a condition it may be a negation. The faults of all of it are reported,
// also behind a malformed operator.
func (b *builder) readNewRoot(d *dict, where string, nested bool) *Formula {
	var key string
	for _, p := range d.pairs {
		if newKeys[p.key.Value] == 0 {
			continue
		}
		if key != "" {
			b.reportFault(p.key.Line, "%s has both %s and %s", where, key, p.key.Value)
			p.used = true
			continue
		}
		key = p.key.Value
	}
	if key == "" {
		b.reportFault(d.line, "%s needs one of pattern, regex, all, any, not, inside, anywhere", where)
		return nil
	}
	n := d.take(key)
	if n == nil || !b.enter(n) {
		return nil
	}
	defer b.leave()
	f := b.readNewPair(newKeys[key], n, nested)
	if f == nil {
		f = &Formula{} // to find the faults of the rest
	}
	if n := d.take("as"); n != nil {
		f.As = b.checkMetavariable(n, b.readScalar(n, "as"))
	}
	f.Fix = d.takeString("fix")
	for _, e := range b.readList(d.take("where"), "where") {
		b.readNewCondition(f, e)
	}
	if f.Op == 0 {
		return nil
	}
	return f
}

// readNewPair reads an operator of the newer spelling with its value. The children of all and any
// are formulas in turn, which may be text alone. Their faults are counted, for a list whose
// element is at fault says nothing of what it lacks.
func (b *builder) readNewPair(op Op, n *yaml.Node, nested bool) *Formula {
	switch op {
	case OpPattern:
		return b.readPattern(n)
	case OpRegex:
		return b.readRegexFormula(n)
	case OpNot, OpInside, OpAnywhere:
		return wrapFormula(op, b.readFormula(n), n)
	}
	out := &Formula{Op: op, Line: n.Line}
	faults := len(b.faults)
	for _, e := range b.readList(n, "all and any") {
		f := b.readFormula(e)
		if f == nil {
			continue
		}
		if f.Op == OpNot && op == OpAny {
			b.reportFault(e.Line, "not cannot stand below any")
		}
		out.Children = append(out.Children, f)
	}
	if faults != len(b.faults) {
		return out
	}
	if len(out.Children) == 0 || op == OpAll && !nested && !hasPositive(out) {
		b.reportFault(n.Line, "all and any need at least one operator that is not a negation")
	}
	return out
}
