package rule

import (
	"slices"

	"go.yaml.in/yaml/v3"

	"merlon/internal/engine/sast/pcre"
)

// conditionKeys are the conditions of the older spelling.
var conditionKeys = map[string]bool{
	"metavariable-regex": true, "metavariable-pattern": true, "metavariable-comparison": true,
	"metavariable-type":     true,
	"metavariable-analysis": true, "metavariable-name": true, "semgrep-internal-metavariable-name": true,
}

// oldCondition reads one condition below patterns and adds it to the formula.
func (b *builder) oldCondition(f *Formula, key string, n *yaml.Node) {
	if !b.enter(n) {
		return
	}
	defer b.leave()
	d := b.dict(n, key)
	if d == nil {
		return
	}
	c := Condition{Line: d.line}
	if key != "metavariable-comparison" || d.has("metavariable") {
		c.Metavariable = b.nameOf(d, "metavariable", key)
	}
	switch key {
	case "metavariable-regex":
		b.regexCondition(&c, d)
	case "metavariable-pattern":
		c.Kind = CondFormula
		c.Formula = b.inLanguage(&c, d, func() *Formula { return b.oldRoot(d, key, true) })
	case "metavariable-comparison":
		b.comparison(&c, d)
	case "metavariable-type":
		b.types(&c, d)
	case "metavariable-analysis":
		b.analysis(&c, d)
	default:
		b.nameCondition(&c, d)
	}
	d.finish(key)
	f.Where = append(f.Where, c)
}

// nameOf reads a key that must hold the name of a metavariable.
func (b *builder) nameOf(d *dict, key, where string) string {
	n := d.require(key, where)
	return b.metavariable(n, b.scalar(n, key))
}

// newCondition reads one element of where and adds it to the formula.
func (b *builder) newCondition(f *Formula, n *yaml.Node) {
	d := b.dict(n, "an element of where")
	if d == nil || !b.enter(n) {
		return
	}
	defer b.leave()
	c := Condition{Line: d.line}
	switch {
	case d.has("focus"):
		if n := d.take("focus"); n != nil {
			b.focus(f, n)
		}
		d.finish("focus")
		return
	case d.has("comparison"):
		c.Metavariable = d.str("metavariable")
		b.comparison(&c, d)
	default:
		c.Metavariable = b.nameOf(d, "metavariable", "an element of where")
		switch {
		case d.has("type"), d.has("types"):
			b.types(&c, d)
		case d.has("analyzer"):
			b.analysis(&c, d)
		case d.has("module"), d.has("modules"), d.has("kind"):
			b.nameCondition(&c, d)
		case d.has("regex") && !d.has("where") && !d.has("language"):
			b.regexCondition(&c, d)
		default:
			c.Kind = CondFormula
			c.Formula = b.inLanguage(&c, d, func() *Formula { return b.newRoot(d, "an element of where", true) })
		}
	}
	d.finish("an element of where")
	f.Where = append(f.Where, c)
}

func (b *builder) regexCondition(c *Condition, d *dict) {
	c.Kind = CondRegex
	c.Regex = b.regexp(d.require("regex", "metavariable-regex"), pcre.Anchored)
	c.ConstantPropagation = d.boolean("constant-propagation", false)
}

// inLanguage reads a formula whose patterns are in the language of the condition.
func (b *builder) inLanguage(c *Condition, d *dict, read func() *Formula) *Formula {
	n := d.take("language")
	if n == nil {
		return read()
	}
	c.Language = b.language(n)
	outer := b.regex
	b.regex = c.Language == LanguageRegex
	defer func() { b.regex = outer }()
	return read()
}

func (b *builder) comparison(c *Condition, d *dict) {
	c.Kind = CondCompare
	n := d.require("comparison", "metavariable-comparison")
	options := ExprOption{Base: d.integer("base", 36, 0), Strip: d.boolean("strip", false)}
	if options.Strip && c.Metavariable == "" {
		b.fault(d.line, "strip needs the key metavariable")
	}
	if n == nil {
		return
	}
	var err error
	if c.Expr, err = ParseExpr(b.scalar(n, "comparison"), options); err != nil {
		b.fault(textLine(n), "%v", err)
	}
}

func (b *builder) types(c *Condition, d *dict) {
	c.Kind = CondType
	if n := d.take("type"); n != nil {
		c.Types = append(c.Types, b.scalar(n, "type"))
	}
	c.Types = append(c.Types, b.strs(d.take("types"), "types", false)...)
	if n := d.take("language"); n != nil {
		c.Language = b.language(n)
	}
	if len(c.Types) == 0 || slices.Contains(c.Types, "") {
		b.fault(d.line, "metavariable-type needs the key type or types")
	}
}

// analysis reads "analyzer: entropy" and "analyzer: {kind: entropy_v2, mode: lax}".
func (b *builder) analysis(c *Condition, d *dict) {
	c.Kind = CondAnalysis
	n := d.require("analyzer", "metavariable-analysis")
	if n == nil {
		return
	}
	c.Analyzer, c.Mode = "", "default"
	if to := b.resolve(n); to != nil && to.Kind == yaml.MappingNode {
		a := b.dict(to, "analyzer")
		c.Analyzer = b.scalar(a.require("kind", "analyzer"), "kind")
		if mode := a.take("mode"); mode != nil {
			c.Mode = b.scalar(mode, "mode")
			if c.Analyzer != EntropyV2 || c.Mode != "lax" && c.Mode != "default" && c.Mode != "strict" {
				b.fault(mode.Line, "mode must be lax, default or strict, and belongs to entropy_v2")
			}
		}
		a.finish("analyzer")
	} else {
		c.Analyzer = b.scalar(n, "analyzer")
	}
	switch c.Analyzer {
	case Entropy, EntropyV2, ReDoS, "":
	default:
		b.fault(n.Line, "the analyzer must be entropy, entropy_v2 or redos, not %q", c.Analyzer)
	}
}

func (b *builder) nameCondition(c *Condition, d *dict) {
	c.Kind = CondName
	kind := d.take("kind")
	if kind != nil {
		b.fault(kind.Line, "kinds of names are not supported: say module or modules")
	}
	if n := d.take("module"); n != nil {
		c.Modules = append(c.Modules, b.scalar(n, "module"))
	}
	c.Modules = append(c.Modules, b.strs(d.take("modules"), "modules", false)...)
	if kind == nil && len(c.Modules) == 0 {
		b.fault(d.line, "metavariable-name needs module or modules")
	}
}
