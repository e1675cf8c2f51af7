package pattern

import (
	"strconv"
	"strings"

	"merlon/internal/engine/sast/cst"
	"merlon/internal/engine/sast/rule"
	"merlon/internal/engine/sast/scope"
	"merlon/internal/engine/sast/tree"
)

// This file evaluates the conditions metavariable-*.

// maxNesting bounds conditions in conditions.
const maxNesting = 10

// filterMatches keeps the matches for which the condition is valid. What the condition
// itself binds (groups, metavariables of a nested formula) is added in copies of the match.
func (ev *evaluation) filterMatches(c *condition, ms []Match) []Match {
	var out []Match
	for i := range ms {
		if ev.file.clock.spendSteps(formulaSteps) {
			ev.spent = true
			break
		}
		m := &ms[i]
		switch c.Kind {
		case rule.CondRegex:
			out = append(out, ev.regexCondition(c, m)...)
		case rule.CondFormula:
			out = append(out, ev.formulaCondition(c, m)...)
		default:
			if ev.testCondition(c, m) {
				out = append(out, *m)
			}
		}
	}
	return out
}

// testCondition evaluates a condition that binds nothing. A condition of another kind is false:
// what is not known must not report anything.
func (ev *evaluation) testCondition(c *condition, m *Match) bool {
	switch c.Kind {
	case rule.CondCompare:
		return ev.compareCondition(c, m)
	case rule.CondType:
		return ev.typeCondition(c, m)
	case rule.CondAnalysis:
		return ev.analysisCondition(c, m)
	case rule.CondName:
		return ev.nameCondition(c, m)
	}
	return false
}

// compareCondition evaluates a metavariable-comparison. The text of the metavariable counts as
// read, since converting it takes time linear in its length.
func (ev *evaluation) compareCondition(c *condition, m *Match) bool {
	if b := m.env.get(c.Metavariable); b != nil && !ev.file.clock.countRead(ev.file.textOf(b)) {
		ev.spent = true
		return false
	}
	return c.Expr.Holds(func(name string) (rule.Value, bool) { return ev.valueOf(m.env.get(name)) }, c.now())
}

// regexCondition evaluates a metavariable-regex. The expression is anchored at the start, as
// re.match of Python is, on which the format is built. With constant propagation a variable that
// is known to hold one text is compared by that text.
func (ev *evaluation) regexCondition(c *condition, m *Match) []Match {
	b := m.env.get(c.Metavariable)
	if b == nil {
		return nil
	}
	text := ev.file.textOf(b)
	if c.ConstantPropagation && ev.options.ConstantPropagation && b.Node >= 0 && ev.file.Scope != nil {
		if v, ok := ev.file.constantOf(b.Node); ok {
			text = v.Text
		}
	}
	if !ev.file.clock.countRead(text) {
		ev.spent = true
		return nil
	}
	spans, err := c.Regex.Find(text)
	if err != nil {
		ev.spent = true
	}
	if spans == nil {
		return nil
	}
	e := bindGroups(m.env, b, text, spans, c.Regex.Names())
	if e == m.env {
		return []Match{*m}
	}
	extended := *m
	extended.env = e
	return []Match{extended}
}

// bindGroups binds the groups of an expression by their numbers and names. Names that are
// bound already stay, so that a condition cannot change what a pattern has matched.
func bindGroups(e *env, b *Binding, text string, spans []int, names []string) *env {
	for i := 2; i+1 < len(spans); i += 2 {
		if spans[i] < 0 {
			continue
		}
		group := Binding{Node: tree.None, Last: tree.None, declaration: tree.None, Text: text[spans[i]:spans[i+1]],
			Start: min(b.Start+uint32(spans[i]), b.End), End: min(b.Start+uint32(spans[i+1]), b.End)}
		if name := "$" + strconv.Itoa(i/2); e.get(name) == nil {
			e = e.with(name, group)
		}
		if i/2 < len(names) && names[i/2] != "" {
			if name := "$" + names[i/2]; e.get(name) == nil {
				e = e.with(name, group)
			}
		}
	}
	return e
}

// formulaCondition evaluates a metavariable-pattern: whether the formula matches in what
// the metavariable is bound to.
func (ev *evaluation) formulaCondition(c *condition, m *Match) []Match {
	b := m.env.get(c.Metavariable)
	if b == nil || ev.depth >= maxNesting {
		return nil
	}
	inner := ev.nestedEvaluation(c, b)
	if inner == nil {
		return nil
	}
	inner.options, inner.outer, inner.depth = &c.program.setting.Options, m.env, ev.depth+1
	if inner.file != ev.file {
		inner.outer = ev.textBindings(m.env)
	}
	found := inner.evalFormula(c.program.root)
	ev.spent = ev.spent || inner.spent
	if len(found) == 0 {
		return nil
	}
	out := []Match{*m}
	for _, f := range found {
		if len(out) > maxEnvs {
			break
		}
		extended := *m
		added := false
		f.env.each(func(name string, v *Binding) bool {
			if m.env.get(name) == nil {
				extended.env, added = extended.env.with(name, ev.outwardBinding(inner, v, b)), true
			}
			return true
		})
		if added {
			out = append(out, extended)
		}
	}
	return dropDuplicates(out)
}

// nestedEvaluation returns the evaluation of a nested formula on what the metavariable is
// bound to: a part of this file, or a text in another language; nil when the formula's
// language cannot read it.
func (ev *evaluation) nestedEvaluation(c *condition, b *Binding) *evaluation {
	same := c.program.setting.Language != nil && c.program.setting.Language == ev.file.Language
	switch {
	case c.Language != "" && !(same && b.Node >= 0 && !ev.file.Tree.Is(b.Node, tree.String)):
		return ev.parseNested(c, b)
	case b.Node >= 0:
		return &evaluation{file: ev.file, lo: b.Node, hi: ev.file.Tree.Nodes[b.Last].Next,
			text: ev.file.Tree.Source[b.Start:b.End], base: b.Start}
	case ev.file.Language != nil: // plain text is matched by a rule for plain text
		return nil
	}
	return ev.parseNested(c, b)
}

// textBindings makes texts of bindings, so that they can be compared with those of another file.
// Nodes are indices of one tree and mean nothing in another one.
func (ev *evaluation) textBindings(e *env) *env {
	out := empty
	e.each(func(name string, b *Binding) bool {
		out = out.with(name, Binding{Node: tree.None, Last: tree.None, Start: b.Start, End: b.End,
			Text: ev.file.textOf(b), declaration: tree.None})
		return true
	})
	return out
}

// outwardBinding makes a binding of a nested text one of the file around it. Its range is shifted
// to where the text stands in the file, so that a finding can point there.
func (ev *evaluation) outwardBinding(inner *evaluation, v, around *Binding) Binding {
	if inner.file == ev.file {
		return *v
	}
	text := inner.file.textOf(v)
	return Binding{Node: tree.None, Last: tree.None, Start: min(around.Start+v.Start, around.End),
		End:  min(around.Start+v.End, around.End),
		Text: text, declaration: tree.None}
}

// parseNested parses what a metavariable is bound to as another language: the content of a string,
// or for plain text any code. The parsed file is kept, as several rules often ask for the same
// text.
func (ev *evaluation) parseNested(c *condition, b *Binding) *evaluation {
	text := ev.file.textOf(b)
	isText := b.IsText()
	start := b.Start
	if !ev.file.clock.countRead(text) {
		ev.spent = true
		return nil
	}
	if b.Node >= 0 && b.Node == b.Last {
		if n := &ev.file.Tree.Nodes[b.Node]; n.Kind == tree.String {
			isText = true
			text = n.Text
			start++
		}
	}
	l := c.program.setting.Language
	if l == nil {
		return &evaluation{file: ev.plainText(text), lo: 0, hi: 1, text: text}
	}
	if !isText {
		return nil
	}
	key := nestedKey{l.Name, start, b.End, text}
	f := ev.file.nested[key]
	if f == nil {
		t, err := l.Parse(ev.file.Tree.Path, []byte(text), cst.Limits{})
		if err != nil {
			return nil // the text is not of that language
		}
		f = NewFile(t, l, scope.Analyze(t, l, nil))
		f.clock = ev.file.clock
		if ev.file.nested == nil {
			ev.file.nested = map[nestedKey]*File{}
		}
		ev.file.nested[key] = f
	}
	return &evaluation{file: f, hi: int32(len(f.Tree.Nodes)), text: text}
}

// plainText makes a file of plain text. It shares the clock, so that its matches count for the
// rule.
func (ev *evaluation) plainText(text string) *File {
	out := NewText(&tree.File{Path: ev.file.Tree.Path, Source: text})
	out.clock = ev.file.clock
	return out
}

// NewText prepares a file that has no tree, for the languages generic and regex. Only Path and
// Source of f are used. Such a file is one node, so conditions on nodes are never true in it.
func NewText(f *tree.File) *File {
	b := tree.Builder{File: &tree.File{Path: f.Path, Source: f.Source}}
	b.Open(tree.FileKind, tree.RoleNone, 0, uint32(len(f.Source)))
	return NewFile(b.Finish(), nil, nil)
}

// valueOf returns what a metavariable is in a comparison: a constant, or its text. Code that is no
// constant is compared as the text that it is.
func (ev *evaluation) valueOf(b *Binding) (rule.Value, bool) {
	if b == nil {
		return rule.Value{}, false
	}
	if b.Node < 0 || b.Node != b.Last {
		return rule.StringValue(ev.file.textOf(b)), true
	}
	if ev.file.Scope != nil {
		if n := &ev.file.Tree.Nodes[b.Node]; ev.options.ConstantPropagation || isLiteral(n.Kind) {
			if v, ok := ev.file.constantOf(b.Node); ok {
				return constantValue(v), true
			}
		}
	}
	return rule.LiteralValue(ev.file.textOf(b)), true
}

// constantValue returns a constant of the source as a value of a comparison.
func constantValue(v scope.Value) rule.Value {
	switch v.Kind {
	case tree.Number:
		if len(v.Text) > 1 && v.Text[0] == '0' && strings.Trim(v.Text, "01234567") == "" {
			return rule.LiteralValue("0o" + v.Text[1:]) // the octal numbers of C
		}
		return rule.LiteralValue(v.Text)
	case tree.Bool:
		return rule.BoolValue(v.Text == "true")
	case tree.Null:
		return rule.CodeValue(v.Text)
	}
	return rule.StringValue(v.Text)
}

// typeCondition evaluates a metavariable-type. A type is compared as types match, and also by its text:
// a rule may write what the language's grammar does not parse alone.
func (ev *evaluation) typeCondition(c *condition, m *Match) bool {
	b := m.env.get(c.Metavariable)
	if b == nil || b.Node < 0 {
		return false
	}
	matcher := &matcher{file: ev.file, options: ev.options, steps: budget}
	for _, t := range c.types {
		if len(matcher.hasType(t, b.Node, empty)) > 0 {
			return true
		}
		if d := matcher.declaredType(b.Node); d >= 0 && stripSpaces(ev.file.Tree.Code(d)) == stripSpaces(t.text) {
			return true
		}
	}
	return false
}

// stripSpaces returns the text without white space. Types are compared without regard to their
// layout.
func stripSpaces(s string) string { return strings.Join(strings.Fields(s), "") }

// nameCondition evaluates a metavariable-name: whether the name comes from one of the
// modules. A class or function of the file itself does not, whatever it is called.
func (ev *evaluation) nameCondition(c *condition, m *Match) bool {
	b := m.env.get(c.Metavariable)
	if b == nil || b.Node < 0 || ev.file.Scope == nil || ev.declaredHere(b.Node) {
		return false
	}
	q := ev.file.Scope.Qualified(b.Node)
	for _, module := range c.Modules {
		if q == module || strings.HasPrefix(q, module+".") {
			return true
		}
	}
	return false
}

// declaredHere reports whether a dotted name begins with a class or a function that the file
// declares. So a local function with the name of a library's does not count as the library's.
func (ev *evaluation) declaredHere(i int32) bool {
	f := ev.file.Tree
	for f.Is(i, tree.Member) {
		i = f.Child(i, tree.RoleObject)
	}
	switch by := ev.file.Scope.Declarator(ev.file.Scope.Declaration(i)); {
	case by < 0:
		return false
	default:
		return f.Is(by, tree.Class) || f.Is(by, tree.Function) || f.Is(by, tree.TypeAlias)
	}
}

// analysisCondition evaluates a metavariable-analysis: of the text of a string, or of the constant that
// an expression is. Such analyzers are entropy (is this a random key?) and ReDoS (does this
// expression backtrack?).
func (ev *evaluation) analysisCondition(c *condition, m *Match) bool {
	b := m.env.get(c.Metavariable)
	if b == nil {
		return false
	}
	text := ev.file.textOf(b)
	if b.Node >= 0 {
		n := &ev.file.Tree.Nodes[b.Node]
		switch {
		case n.Kind == tree.Regex:
			text, _ = cutRegex(n.Text)
		case ev.file.Scope == nil:
			return false
		default:
			v, ok := ev.file.constantOf(b.Node)
			if !ok || v.Kind != tree.String {
				return false
			}
			text = v.Text
		}
	}
	return c.analyze(c.Analyzer, c.Mode, text)
}
