package rule

import (
	"fmt"

	"go.yaml.in/yaml/v3"
)

// This file reads taint mode: sources, sinks, sanitizers, propagators, and labels with their
// expressions.

// readTaint reads taint mode, in either spelling. Sources or sinks may come from a model instead
// of patterns.
func (b *builder) readTaint(d *dict) *Taint {
	t := &taintReader{builder: b, out: &Taint{}}
	if n := d.take("taint"); n != nil {
		t.newer = true
		inner := b.readDict(n, "taint")
		if inner == nil {
			return nil
		}
		t.readParts(inner, "")
		t.readModel(d.take("model"))
		inner.reportUnused("taint")
	} else {
		t.readParts(d, "pattern-")
		t.readModel(d.take("model"))
	}
	if len(t.out.Sources) == 0 && (t.out.Model == nil || len(t.out.Model.Sources) == 0) {
		b.reportFault(d.line, "taint mode needs at least one source")
	}
	if len(t.out.Sinks) == 0 && (t.out.Model == nil || len(t.out.Model.Sinks) == 0) {
		b.reportFault(d.line, "taint mode needs at least one sink")
	}
	return t.out
}

// A taintReader reads the parts of one rule in taint mode. The two spellings of the format differ
// in keys and in what an element may be.
type taintReader struct {
	*builder
	newer bool // spelling
	out   *Taint
}

// readParts reads the four lists, whose keys begin with prefix. All faults of a rule are reported
// at once.
func (t *taintReader) readParts(d *dict, prefix string) {
	for _, p := range []struct {
		key  string
		read func(d *dict, what string)
	}{
		{"sources", t.readSource}, {"sinks", t.readSink}, {"sanitizers", t.readSanitizer},
		{"propagators", t.readPropagator},
	} {
		key := prefix + p.key
		for _, n := range t.readList(d.take(key), key) {
			t.readPart(n, key, p.read)
		}
	}
}

// readPart reads one element with read. In the newer spelling it may be text alone. Text alone is
// turned into the mapping {pattern: text} with the same line, so that one reader does for both
// spellings.
func (t *taintReader) readPart(n *yaml.Node, key string, read func(*dict, string)) {
	if !t.enter(n) {
		return
	}
	defer t.leave()
	if to := t.resolve(n); t.newer && to != nil && to.Kind == yaml.ScalarNode {
		n = &yaml.Node{Kind: yaml.MappingNode, Line: to.Line,
			Content: []*yaml.Node{{Kind: yaml.ScalarNode, Value: "pattern", Line: to.Line}, to}}
	}
	what := "an element of " + key
	if d := t.readDict(n, what); d != nil {
		read(d, what)
		d.reportUnused(what)
	}
}

// readFormulaOf reads the formula of an element in the spelling of the rule.
func (t *taintReader) readFormulaOf(d *dict, what string) *Formula {
	if t.newer {
		return t.readNewRoot(d, what, false)
	}
	return t.readOldRoot(d, what, false)
}

// readSource reads an element of pattern-sources. Which of its keys mean something depends on the
// others; a label without requires, for instance, is always given.
func (t *taintReader) readSource(d *dict, what string) {
	s := Source{Formula: t.readFormulaOf(d, what), Line: d.line}
	s.Label = t.readLabel(d)
	s.Requires = t.readRequires(d)
	s.BySideEffect = t.readSideEffect(d, SideEffectNo)
	s.Control = d.takeBool("control", false)
	s.Exact = d.takeBool("exact", false)
	t.out.Sources = append(t.out.Sources, s)
}

// readSanitizer reads an element of pattern-sanitizers. The format has two spellings of
// not_conflicting.
func (t *taintReader) readSanitizer(d *dict, what string) {
	s := Sanitizer{Formula: t.readFormulaOf(d, what), Line: d.line}
	s.BySideEffect = t.readSideEffect(d, SideEffectNo)
	s.Exact = d.takeBool("exact", false)
	s.NotConflicting = d.takeBool("not_conflicting", false)
	if d.has("not-conflicting") {
		s.NotConflicting = d.takeBool("not-conflicting", false)
	}
	t.out.Sanitizers = append(t.out.Sanitizers, s)
}

// readPropagator reads an element of pattern-propagators. Without the key by-side-effect the
// variable is tainted as well, unlike for sources.
func (t *taintReader) readPropagator(d *dict, what string) {
	p := Propagator{Formula: t.readFormulaOf(d, what), Line: d.line}
	p.From, p.To = t.readMetavariable(d, "from", what), t.readMetavariable(d, "to", what)
	p.BySideEffect = t.readSideEffect(d, SideEffectYes)
	p.Label = t.readLabel(d)
	p.Requires = t.readRequires(d)
	p.ReplaceLabels = t.readStrings(d.take("replace-labels"), "replace-labels", false)
	t.out.Propagators = append(t.out.Propagators, p)
}

// readSink reads an element of pattern-sinks. Its requires is an expression, or a list of
// expressions for metavariables.
func (t *taintReader) readSink(d *dict, what string) {
	s := Sink{Formula: t.readFormulaOf(d, what), Line: d.line}
	s.Exact = d.takeBool("exact", true)
	s.AtExit = d.takeBool("at-exit", false)
	n := d.byKey["requires"]
	if n == nil || n.value.Kind != yaml.SequenceNode {
		s.Requires = t.readRequires(d)
	} else {
		for _, e := range t.readList(d.take("requires"), "requires") {
			name, value := t.singleKey(e, "requires")
			if value != nil {
				s.RequiresEach = append(s.RequiresEach, MetavariableRequires{t.checkMetavariable(value, name),
					t.parseLabels(value)})
			}
		}
	}
	t.out.Sinks = append(t.out.Sinks, s)
}

// readSideEffect reads by-side-effect, which is true, false or "only". Python's spellings of the
// booleans occur in published rules and are read too.
func (t *taintReader) readSideEffect(d *dict, otherwise SideEffect) SideEffect {
	n := d.take("by-side-effect")
	if n == nil {
		return otherwise
	}
	switch text := t.readScalar(n, "by-side-effect"); text {
	case "true", "True":
		return SideEffectYes
	case "false", "False":
		return SideEffectNo
	case "only":
		return SideEffectOnly
	default:
		t.reportFault(n.Line, "by-side-effect must be true, false or only, not %q", text)
	}
	return otherwise
}

// readLabel reads the label of a source or propagator, "" when there is none. Labels are names of
// expressions in requires.
func (t *taintReader) readLabel(d *dict) string {
	n := d.take("label")
	text := t.readScalar(n, "label")
	if n != nil && !isLabel(text) {
		t.reportFault(n.Line, "a label must be letters, digits and underscores, not %q", text)
	}
	return text
}

// isLabel reports whether a text is an identifier of Python, as the format wants it.
func isLabel(s string) bool {
	for i := 0; i < len(s); i++ {
		if !isNameByte(s[i]) || i == 0 && s[i] >= '0' && s[i] <= '9' {
			return false
		}
	}
	return s != ""
}

// readRequires reads the key requires, nil when there is none.
func (t *taintReader) readRequires(d *dict) *LabelExpr {
	n := d.take("requires")
	if n == nil {
		return nil
	}
	return t.parseLabels(n)
}

// parseLabels reads a label expression, with a fault for a malformed one.
func (t *taintReader) parseLabels(n *yaml.Node) *LabelExpr {
	e, err := ParseLabels(t.readScalar(n, "requires"))
	if err != nil {
		t.reportFault(n.Line, "%v", err)
	}
	return e
}

// ParseLabels reads a boolean expression over labels: not, and, or, parentheses,
// True and False.
func ParseLabels(text string) (*LabelExpr, error) {
	if len(text) > maxExpr {
		return nil, fmt.Errorf("requires has %d bytes; the limit is %d", len(text), maxExpr)
	}
	p := exprParser{in: text}
	if err := p.nextToken(); err != nil {
		return nil, fmt.Errorf("malformed requires: %w", err)
	}
	e, err := p.parseLabelOr(0)
	if err == nil && p.tok.kind != tokEnd {
		err = fmt.Errorf("%q was not expected", p.tok.text)
	}
	if err != nil {
		return nil, fmt.Errorf("malformed requires: %w", err)
	}
	return e, nil
}

// parseLabelOr reads alternatives, which are chains of "and".
func (p *exprParser) parseLabelOr(depth int) (*LabelExpr, error) {
	return p.parseLabelChain(LabelOr, "or", func() (*LabelExpr, error) {
		return p.parseLabelChain(LabelAnd, "and", func() (*LabelExpr, error) { return p.parseLabelUnary(depth + 1) })
	})
}

// parseLabelChain reads operands between the same operator. A chain is flat, so that printing and
// evaluation need no nesting.
func (p *exprParser) parseLabelChain(op LabelOp, word string, operand func() (*LabelExpr, error)) (*LabelExpr, error) {
	first, err := operand()
	if err != nil || p.tok.text != word {
		return first, err
	}
	args := []*LabelExpr{first}
	for p.tok.text == word {
		if err := p.nextToken(); err != nil {
			return nil, err
		}
		next, err := operand()
		if err != nil {
			return nil, err
		}
		args = append(args, next)
	}
	return &LabelExpr{Op: op, Args: args}, nil
}

// parseLabelUnary reads a label, a constant, a negation or a parenthesis. The depth is counted
// over parentheses and negations, which are all that nests: a hostile rule must not overflow the
// stack.
func (p *exprParser) parseLabelUnary(depth int) (*LabelExpr, error) {
	if depth > maxExprDepth {
		return nil, fmt.Errorf("it is nested more than %d deep", maxExprDepth)
	}
	tok := p.tok
	if err := p.nextToken(); err != nil {
		return nil, err
	}
	switch {
	case tok.kind == tokOperator && tok.text == "(":
		e, err := p.parseLabelOr(depth + 1)
		if err == nil && p.tok.text != ")" {
			err = fmt.Errorf(") is missing")
		}
		if err != nil {
			return nil, err
		}
		return e, p.nextToken()
	case tok.kind == tokName && tok.text == "not":
		e, err := p.parseLabelUnary(depth + 1)
		return &LabelExpr{Op: LabelNot, Args: []*LabelExpr{e}}, err
	case tok.kind == tokEnd:
		return nil, fmt.Errorf("it ends too early")
	}
	return labelOf(tok)
}

// labelOf returns the label or the constant that a token is. The words of the grammar are no
// labels: "A and or" is malformed.
func labelOf(tok exprToken) (*LabelExpr, error) {
	switch {
	case tok.kind != tokName:
	case tok.text == "True" || tok.text == "False":
		return &LabelExpr{Op: LabelConst, Value: tok.text == "True"}, nil
	case isLabel(tok.text) && tok.text != "and" && tok.text != "or":
		return &LabelExpr{Op: LabelIs, Label: tok.text}, nil
	}
	return nil, fmt.Errorf("%q is no label", tok.text)
}

// readModel reads our own key. The kinds are those of the build's model files. It stands beside
// the patterns of the format and adds to them: a rule may name kinds of sources and still have
// patterns of its own for sinks.
func (t *taintReader) readModel(n *yaml.Node) {
	if n == nil {
		return
	}
	d := t.readDict(n, "model")
	if d == nil {
		return
	}
	m := &Model{Line: d.line}
	m.Sources = t.readKinds(d.take("sources"), "sources", t.parser.KnownSource)
	m.Sinks = t.readKinds(d.take("sinks"), "sinks", t.parser.KnownSink)
	m.Behind = d.takeBool("behind", false)
	d.reportUnused("model")
	t.out.Model = m
}

// readKinds reads kinds of sources or sinks. One that the build does not know is a fault: the rule
// would find nothing.
func (t *taintReader) readKinds(n *yaml.Node, what string, known func(string) bool) []string {
	if n == nil {
		return nil
	}
	var out []string
	for _, e := range t.readList(n, what) {
		kind := t.readScalar(e, "an element of "+what)
		out = append(out, kind)
		if known != nil && !known(kind) {
			t.reportFault(e.Line, "this build has no model of %s of the kind %q", what, kind)
		}
	}
	return out
}
