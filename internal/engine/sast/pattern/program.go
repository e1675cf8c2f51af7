package pattern

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"merlon/internal/engine/sast/lang"
	"merlon/internal/engine/sast/pcre"
	"merlon/internal/engine/sast/rule"
	"merlon/internal/engine/sast/tree"
)

// A Setting is what a formula is compiled for. A rule for several languages is compiled once for
// each.
type Setting struct {
	// Language parses the patterns; nil for a rule that has no tree (regex).
	Language *lang.Language
	Options  rule.Options
	// Languages finds the languages of metavariable-pattern; nil: there are none.
	Languages func(name string) *lang.Language
	// Text matches patterns of languages without a tree: generic. Nil: an error.
	Text func(pattern string, o rule.Options) (TextPattern, error)
	// Now is the time that today() of a comparison returns; nil is the clock's.
	Now func() time.Time
	// Analyze runs an analyzer of metavariable-analysis on a text; nil: an error.
	Analyze func(analyzer, mode, text string) bool
}

// A TextPattern is a pattern that matches plain text. The engines for text are in other packages;
// this interface keeps them out of this one.
type TextPattern interface {
	// Find returns the matches in the text. An error says that it took too long.
	Find(text string) ([]TextMatch, error)
}

// A TextMatch is a match in plain text, in bytes.
type TextMatch struct {
	Start, End int
	Bindings   []TextBinding
}

// A TextBinding is what a metavariable stands for in plain text.
type TextBinding struct {
	Name       string
	Start, End int
}

// ErrBudget says that a rule needed more steps than it may take on one file: what it
// found until then may not be all.
var ErrBudget = errors.New("matching the rule took too many steps")

// A Program is a compiled formula. It is safe for concurrent use.
type Program struct {
	setting Setting
	root    *compiledFormula
}

// A compiledFormula is a compiled formula. Its key identifies equal formulas of different rules.
type compiledFormula struct {
	op       rule.Op
	line     int
	kids     []*compiledFormula
	leaf     *leaf
	regex    *pcre.Regexp
	text     TextPattern
	selector string // the pattern is only this metavariable
	where    []condition
	focus    [][]string
	as       string
	fix      string
	key      string // equal formulas with equal options have equal keys
}

// A condition is a compiled rule.Condition. The program is that of a nested formula, in its own
// language.
type condition struct {
	*rule.Condition
	program *Program // CondFormula
	analyze func(analyzer, mode, text string) bool
	now     func() time.Time
	types   []*node // CondType
}

// Compile compiles a formula. Errors name the line of the rule file.
func Compile(f *rule.Formula, s Setting) (*Program, error) {
	c := compiler{setting: s}
	root, err := c.compileFormula(f, false)
	if err != nil {
		return nil, err
	}
	return &Program{setting: s, root: root}, nil
}

// A compiler compiles the formulas of one rule.
type compiler struct{ setting Setting }

// compileFormula compiles a formula. inside says that only the extent of matches counts. Errors
// name the line of the formula's part and not that of the rule.
func (c *compiler) compileFormula(f *rule.Formula, inside bool) (*compiledFormula, error) {
	out := &compiledFormula{op: f.Op, line: f.Line, regex: f.Regex, focus: f.Focus, as: f.As, fix: f.Fix}
	if f.Op == rule.OpPattern {
		if err := c.compilePattern(out, f, inside); err != nil {
			return nil, fmt.Errorf("line %d: %w", f.Line, err)
		}
	}
	for _, child := range f.Children {
		kid, err := c.compileFormula(child, inside || f.Op == rule.OpInside)
		if err != nil {
			return nil, err
		}
		out.kids = append(out.kids, kid)
	}
	for i := range f.Where {
		cond, err := c.compileCondition(&f.Where[i])
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", f.Where[i].Line, err)
		}
		out.where = append(out.where, cond)
	}
	out.key = fmt.Sprintf("%s %v %v", optionsKey(&c.setting.Options), inside, f)
	return out, nil
}

// compilePattern compiles a pattern. Without a language the pattern is text. The key of a leaf
// says all that its matches depend on; rules that share a pattern with the same options share its
// matches. A lone metavariable matches every expression, so it is kept aside and used to select
// among other matches.
func (c *compiler) compilePattern(out *compiledFormula, f *rule.Formula, inside bool) error {
	if c.setting.Language == nil {
		if c.setting.Text == nil {
			return errors.New("no such language")
		}
		var err error
		out.text, err = c.setting.Text(f.Text, c.setting.Options)
		return err
	}
	var err error
	out.leaf, err = compileLeaf(c.setting.Language, f.Text, inside)
	if err != nil {
		return err
	}
	out.leaf.key = optionsKey(&c.setting.Options) + fmt.Sprint(inside) + f.Text
	if r := out.leaf.root; out.leaf.stmts == nil && r.kind == tree.Metavariable {
		out.selector = r.meta
	}
	return nil
}

// optionsKey tells sets of options apart that match patterns differently. It is part of the key of
// cached results.
func optionsKey(o *rule.Options) string {
	var b strings.Builder
	for _, v := range []bool{o.ConstantPropagation, o.SymbolicPropagation, o.ACMatching, o.CommutativeBoolOp,
		o.SymmetricEq,
		o.VardefAssign, o.FlddefAssign, o.AttrExpr, o.UnifyIDsStrictly, o.ArrowIsFunction, o.LetIsVar, o.DeeperExpr,
		o.DeeperStmt, o.ImplicitDeepExprStmt, o.ImplicitEllipsis, o.ImplicitReturn, o.DecoratorsOrderMatters,
		o.XMLSingletonLoose, o.XMLAttrsImplicitEllips, o.XMLChildrenOrdered} {
		b.WriteByte("01"[boolDigit(v)])
	}
	return b.String()
}

// boolDigit returns 1 for true.
func boolDigit(b bool) int {
	if b {
		return 1
	}
	return 0
}

// compileCondition compiles a condition. Analyzers and languages that do not exist are errors here
// and not silently false.
func (c *compiler) compileCondition(w *rule.Condition) (condition, error) {
	out := condition{Condition: w, analyze: c.setting.Analyze, now: c.setting.Now}
	if out.now == nil {
		out.now = time.Now
	}
	switch w.Kind {
	case rule.CondFormula:
		s, err := c.nestedSetting(w.Language)
		if err != nil {
			return out, err
		}
		out.program, err = Compile(w.Formula, s)
		return out, err
	case rule.CondAnalysis:
		if c.setting.Analyze == nil {
			return out, fmt.Errorf("there is no analyzer %q", w.Analyzer)
		}
	case rule.CondType:
		for _, text := range w.Types {
			n := &node{kind: tree.Type, text: text, ground: true}
			n.dotted = n.dottedParts()
			out.types = append(out.types, n)
		}
	}
	return out, nil
}

// nestedSetting returns the setting of a nested formula, whose language may be another
// one; "" is that of the rule.
func (c *compiler) nestedSetting(language string) (Setting, error) {
	s := c.setting
	switch language {
	case "":
	case rule.LanguageGeneric, rule.LanguageRegex:
		s.Language = nil
	default:
		if s.Languages != nil {
			s.Language = s.Languages(language)
		}
		if s.Languages == nil || s.Language == nil {
			return s, fmt.Errorf("there is no language %q", language)
		}
	}
	return s, nil
}

// MayMatch reports whether the file holds the words without which the program
// matches nothing. It is quick.
func (p *Program) MayMatch(f *File) bool { return p.root.mayMatch(f) }

// mayMatch reports whether the words of the formula are in the file. Negations say nothing: what
// they exclude need not be there.
func (g *compiledFormula) mayMatch(f *File) bool {
	switch g.op {
	case rule.OpPattern:
		return g.leaf == nil || f.hasWords(g.leaf.words)
	case rule.OpAll:
		for _, k := range g.kids {
			if k.op != rule.OpNot && !k.mayMatch(f) {
				return false
			}
		}
	case rule.OpAny:
		for _, k := range g.kids {
			if k.mayMatch(f) {
				return true
			}
		}
		return false
	case rule.OpInside, rule.OpAnywhere:
		return g.kids[0].mayMatch(f)
	}
	return true
}

// A Match is one place where a program matched. Nodes are those of the file's tree; without one,
// as for an expression on the text, only the bytes are set.
type Match struct {
	Start, End uint32 // bytes of the file
	Node, Last int32  // the node, or the first and last of several; tree.None for a text
	Fix        string // of the formula that made it, with metavariables; "" for none

	env  *env
	kind rangeKind
	file *File
}

// Binding returns what a metavariable is bound to, nil when it is not.
func (m *Match) Binding(name string) *Binding { return m.env.get(name) }

// Names returns the metavariables that are bound, in the order in which they were. The order is
// that of the first binding, which messages rely on.
func (m *Match) Names() []string {
	var names []string
	m.env.each(func(name string, _ *Binding) bool {
		names = append(names, name)
		return true
	})
	return names
}

// Text returns the text of a metavariable: the content of a string that it is the
// whole of, otherwise the code. It is false when the metavariable is not bound.
func (m *Match) Text(name string) (string, bool) {
	b := m.env.get(name)
	if b == nil {
		return "", false
	}
	return m.file.textOf(b), true
}

// textOf returns the text of a binding. Texts of strings are kept with the binding, code is a part
// of the source.
func (f *File) textOf(b *Binding) string {
	if b.IsText() {
		return b.Text
	}
	return f.Tree.Source[b.Start:b.End]
}

// Value returns the constant that a metavariable is known to hold, as text without
// quotes. It is false for anything else.
func (m *Match) Value(name string) (string, bool) {
	b := m.env.get(name)
	if b == nil || b.Node < 0 || m.file.Scope == nil {
		return "", false
	}
	if v, ok := m.file.constantOf(b.Node); ok {
		return v.Text, true
	}
	return "", false
}

// Interpolate replaces the metavariables of a message or fix. "value($X)" is replaced by the
// constant, "$X" by the code.
func (m *Match) Interpolate(text string) string {
	return rule.Interpolate(text, func(name string) (string, bool) {
		if inner, ok := strings.CutPrefix(name, "value("); ok {
			return m.Value(strings.TrimSuffix(inner, ")"))
		}
		return m.Text(name)
	})
}

// Matches returns what the program matches in the file, by place; places with equal
// bindings once. With ErrBudget come the matches that were found in time, with
// ErrTimeout (see File.Limit) come none.
func (p *Program) Matches(f *File) ([]Match, error) {
	if !p.MayMatch(f) {
		return nil, nil
	}
	ev := &evaluation{file: f, options: &p.setting.Options, hi: int32(len(f.Tree.Nodes)), text: f.Tree.Source,
		whole: true}
	out := sortMatches(ev.evalFormula(p.root))
	if f.clock.late {
		return nil, ErrTimeout
	}
	if ev.spent {
		return out, ErrBudget
	}
	return out, nil
}
