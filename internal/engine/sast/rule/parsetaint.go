package rule

import (
	"fmt"

	"go.yaml.in/yaml/v3"
)

// taint reads taint mode, in either spelling.
func (b *builder) taint(d *dict) *Taint {
	t := &taintReader{builder: b, out: &Taint{}}
	if n := d.take("taint"); n != nil {
		t.newer = true
		inner := b.dict(n, "taint")
		if inner == nil {
			return nil
		}
		t.parts(inner, "")
		t.model(d.take("model"))
		inner.finish("taint")
	} else {
		t.parts(d, "pattern-")
		t.model(d.take("model"))
	}
	if len(t.out.Sources) == 0 && (t.out.Model == nil || len(t.out.Model.Sources) == 0) {
		b.fault(d.line, "taint mode needs at least one source")
	}
	if len(t.out.Sinks) == 0 && (t.out.Model == nil || len(t.out.Model.Sinks) == 0) {
		b.fault(d.line, "taint mode needs at least one sink")
	}
	return t.out
}

// A taintReader reads the parts of one rule in taint mode.
type taintReader struct {
	*builder
	newer bool // spelling
	out   *Taint
}

// parts reads the four lists, whose keys begin with prefix.
func (t *taintReader) parts(d *dict, prefix string) {
	for _, p := range []struct {
		key  string
		read func(d *dict, what string)
	}{
		{"sources", t.source}, {"sinks", t.sink}, {"sanitizers", t.sanitizer}, {"propagators", t.propagator},
	} {
		key := prefix + p.key
		for _, n := range t.list(d.take(key), key) {
			t.part(n, key, p.read)
		}
	}
}

// part reads one element with read. In the newer spelling it may be text alone.
func (t *taintReader) part(n *yaml.Node, key string, read func(*dict, string)) {
	if !t.enter(n) {
		return
	}
	defer t.leave()
	if to := t.resolve(n); t.newer && to != nil && to.Kind == yaml.ScalarNode {
		n = &yaml.Node{Kind: yaml.MappingNode, Line: to.Line,
			Content: []*yaml.Node{{Kind: yaml.ScalarNode, Value: "pattern", Line: to.Line}, to}}
	}
	what := "an element of " + key
	if d := t.dict(n, what); d != nil {
		read(d, what)
		d.finish(what)
	}
}

func (t *taintReader) formulaOf(d *dict, what string) *Formula {
	if t.newer {
		return t.newRoot(d, what, false)
	}
	return t.oldRoot(d, what, false)
}

func (t *taintReader) source(d *dict, what string) {
	s := Source{Formula: t.formulaOf(d, what), Line: d.line}
	s.Label = t.label(d)
	s.Requires = t.requires(d)
	s.BySideEffect = t.sideEffect(d, SideEffectNo)
	s.Control = d.boolean("control", false)
	s.Exact = d.boolean("exact", false)
	t.out.Sources = append(t.out.Sources, s)
}

func (t *taintReader) sanitizer(d *dict, what string) {
	s := Sanitizer{Formula: t.formulaOf(d, what), Line: d.line}
	s.BySideEffect = t.sideEffect(d, SideEffectNo)
	s.Exact = d.boolean("exact", false)
	s.NotConflicting = d.boolean("not_conflicting", false)
	if d.has("not-conflicting") {
		s.NotConflicting = d.boolean("not-conflicting", false)
	}
	t.out.Sanitizers = append(t.out.Sanitizers, s)
}

func (t *taintReader) propagator(d *dict, what string) {
	p := Propagator{Formula: t.formulaOf(d, what), Line: d.line}
	p.From, p.To = t.nameOf(d, "from", what), t.nameOf(d, "to", what)
	p.BySideEffect = t.sideEffect(d, SideEffectYes)
	p.Label = t.label(d)
	p.Requires = t.requires(d)
	p.ReplaceLabels = t.strs(d.take("replace-labels"), "replace-labels", false)
	t.out.Propagators = append(t.out.Propagators, p)
}

func (t *taintReader) sink(d *dict, what string) {
	s := Sink{Formula: t.formulaOf(d, what), Line: d.line}
	s.Exact = d.boolean("exact", true)
	s.AtExit = d.boolean("at-exit", false)
	n := d.byKey["requires"]
	if n == nil || n.value.Kind != yaml.SequenceNode {
		s.Requires = t.requires(d)
	} else {
		for _, e := range t.list(d.take("requires"), "requires") {
			name, value := t.single(e, "requires")
			if value != nil {
				s.RequiresEach = append(s.RequiresEach, MetavariableRequires{t.metavariable(value, name),
					t.labels(value)})
			}
		}
	}
	t.out.Sinks = append(t.out.Sinks, s)
}

func (t *taintReader) sideEffect(d *dict, otherwise SideEffect) SideEffect {
	n := d.take("by-side-effect")
	if n == nil {
		return otherwise
	}
	switch text := t.scalar(n, "by-side-effect"); text {
	case "true", "True":
		return SideEffectYes
	case "false", "False":
		return SideEffectNo
	case "only":
		return SideEffectOnly
	default:
		t.fault(n.Line, "by-side-effect must be true, false or only, not %q", text)
	}
	return otherwise
}

func (t *taintReader) label(d *dict) string {
	n := d.take("label")
	text := t.scalar(n, "label")
	if n != nil && !isLabel(text) {
		t.fault(n.Line, "a label must be letters, digits and underscores, not %q", text)
	}
	return text
}

func isLabel(s string) bool {
	for i := 0; i < len(s); i++ {
		if !isNameByte(s[i]) || i == 0 && s[i] >= '0' && s[i] <= '9' {
			return false
		}
	}
	return s != ""
}

func (t *taintReader) requires(d *dict) *LabelExpr {
	n := d.take("requires")
	if n == nil {
		return nil
	}
	return t.labels(n)
}

// labels reads a label expression, with a fault for a malformed one.
func (t *taintReader) labels(n *yaml.Node) *LabelExpr {
	e, err := ParseLabels(t.scalar(n, "requires"))
	if err != nil {
		t.fault(n.Line, "%v", err)
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
	if err := p.next(); err != nil {
		return nil, fmt.Errorf("malformed requires: %w", err)
	}
	e, err := p.labelOr(0)
	if err == nil && p.tok.kind != tokEnd {
		err = fmt.Errorf("%q was not expected", p.tok.text)
	}
	if err != nil {
		return nil, fmt.Errorf("malformed requires: %w", err)
	}
	return e, nil
}

func (p *exprParser) labelOr(depth int) (*LabelExpr, error) {
	return p.labelChain(LabelOr, "or", func() (*LabelExpr, error) {
		return p.labelChain(LabelAnd, "and", func() (*LabelExpr, error) { return p.labelUnary(depth + 1) })
	})
}

// labelChain reads operands between the same operator.
func (p *exprParser) labelChain(op LabelOp, word string, operand func() (*LabelExpr, error)) (*LabelExpr, error) {
	first, err := operand()
	if err != nil || p.tok.text != word {
		return first, err
	}
	args := []*LabelExpr{first}
	for p.tok.text == word {
		if err := p.next(); err != nil {
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

func (p *exprParser) labelUnary(depth int) (*LabelExpr, error) {
	if depth > maxExprDepth {
		return nil, fmt.Errorf("it is nested more than %d deep", maxExprDepth)
	}
	tok := p.tok
	if err := p.next(); err != nil {
		return nil, err
	}
	switch {
	case tok.kind == tokOperator && tok.text == "(":
		e, err := p.labelOr(depth + 1)
		if err == nil && p.tok.text != ")" {
			err = fmt.Errorf(") is missing")
		}
		if err != nil {
			return nil, err
		}
		return e, p.next()
	case tok.kind == tokName && tok.text == "not":
		e, err := p.labelUnary(depth + 1)
		return &LabelExpr{Op: LabelNot, Args: []*LabelExpr{e}}, err
	case tok.kind == tokName && (tok.text == "True" || tok.text == "False"):
		return &LabelExpr{Op: LabelConst, Value: tok.text == "True"}, nil
	case tok.kind == tokName && isLabel(tok.text) && tok.text != "and" && tok.text != "or":
		return &LabelExpr{Op: LabelIs, Label: tok.text}, nil
	case tok.kind == tokEnd:
		return nil, fmt.Errorf("it ends too early")
	}
	return nil, fmt.Errorf("%q is no label", tok.text)
}

// model reads our own key.
func (t *taintReader) model(n *yaml.Node) {
	if n == nil {
		return
	}
	d := t.dict(n, "model")
	if d == nil {
		return
	}
	m := &Model{Line: d.line}
	m.Sources = t.kinds(d.take("sources"), "sources", t.parser.KnownSource)
	m.Sinks = t.kinds(d.take("sinks"), "sinks", t.parser.KnownSink)
	m.Behind = d.boolean("behind", false)
	d.finish("model")
	t.out.Model = m
}

func (t *taintReader) kinds(n *yaml.Node, what string, known func(string) bool) []string {
	if n == nil {
		return nil
	}
	var out []string
	for _, e := range t.list(n, what) {
		kind := t.scalar(e, "an element of "+what)
		out = append(out, kind)
		if known != nil && !known(kind) {
			t.fault(e.Line, "this build has no model of %s of the kind %q", what, kind)
		}
	}
	return out
}
