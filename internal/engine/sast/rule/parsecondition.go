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

// readOldCondition reads one condition below patterns and adds it to the formula. A comparison may
// name no metavariable: then its expression names them.
func (b *builder) readOldCondition(f *Formula, key string, n *yaml.Node) {
	if !b.enter(n) {
		return
	}
	defer b.leave()
	d := b.readDict(n, key)
	if d == nil {
		return
	}
	c := Condition{Line: d.line}
	if key != "metavariable-comparison" || d.has("metavariable") {
		c.Metavariable = b.readMetavariable(d, "metavariable", key)
	}
	switch key {
	case "metavariable-regex":
		b.readRegexCondition(&c, d)
	case "metavariable-pattern":
		c.Kind = CondFormula
		c.Formula = b.inLanguage(&c, d, func() *Formula { return b.readOldRoot(d, key, true) })
	case "metavariable-comparison":
		b.readComparison(&c, d)
	case "metavariable-type":
		b.readTypes(&c, d)
	case "metavariable-analysis":
		b.readAnalysis(&c, d)
	default:
		b.readNameCondition(&c, d)
	}
	d.reportUnused(key)
	f.Where = append(f.Where, c)
}

// readMetavariable reads a key that must hold the name of a metavariable.
func (b *builder) readMetavariable(d *dict, key, where string) string {
	n := d.require(key, where)
	return b.checkMetavariable(n, b.readScalar(n, key))
}

// readNewCondition reads one element of where and adds it to the formula. The keys that are there
// decide which condition it is; the newer spelling has no name for it.
func (b *builder) readNewCondition(f *Formula, n *yaml.Node) {
	d := b.readDict(n, "an element of where")
	if d == nil || !b.enter(n) {
		return
	}
	defer b.leave()
	c := Condition{Line: d.line}
	switch {
	case d.has("focus"):
		if n := d.take("focus"); n != nil {
			b.readFocus(f, n)
		}
		d.reportUnused("focus")
		return
	case d.has("comparison"):
		c.Metavariable = d.takeString("metavariable")
		b.readComparison(&c, d)
	default:
		c.Metavariable = b.readMetavariable(d, "metavariable", "an element of where")
		switch {
		case d.has("type"), d.has("types"):
			b.readTypes(&c, d)
		case d.has("analyzer"):
			b.readAnalysis(&c, d)
		case d.has("module"), d.has("modules"), d.has("kind"):
			b.readNameCondition(&c, d)
		case d.has("regex") && !d.has("where") && !d.has("language"):
			b.readRegexCondition(&c, d)
		default:
			c.Kind = CondFormula
			c.Formula = b.inLanguage(&c, d, func() *Formula { return b.readNewRoot(d, "an element of where", true) })
		}
	}
	d.reportUnused("an element of where")
	f.Where = append(f.Where, c)
}

// readRegexCondition reads metavariable-regex. The expression is anchored at the start of the
// text.
func (b *builder) readRegexCondition(c *Condition, d *dict) {
	c.Kind = CondRegex
	c.Regex = b.readRegexp(d.require("regex", "metavariable-regex"), pcre.Anchored)
	c.ConstantPropagation = d.takeBool("constant-propagation", false)
}

// inLanguage reads a formula whose patterns are in the language of the condition. Below it "regex"
// makes patterns of regular expressions.
func (b *builder) inLanguage(c *Condition, d *dict, read func() *Formula) *Formula {
	n := d.take("language")
	if n == nil {
		return read()
	}
	c.Language = b.readLanguage(n)
	outer := b.regex
	b.regex = c.Language == LanguageRegex
	defer func() { b.regex = outer }()
	return read()
}

// readComparison reads metavariable-comparison. Its expression is parsed here, so that a malformed
// one is a fault of the rule and not a silent condition.
func (b *builder) readComparison(c *Condition, d *dict) {
	c.Kind = CondCompare
	n := d.require("comparison", "metavariable-comparison")
	options := ExprOption{Base: d.takeInt("base", 36, 0), Strip: d.takeBool("strip", false)}
	if options.Strip && c.Metavariable == "" {
		b.reportFault(d.line, "strip needs the key metavariable")
	}
	if n == nil {
		return
	}
	var err error
	if c.Expr, err = ParseExpr(b.readScalar(n, "comparison"), options); err != nil {
		b.reportFault(textLine(n), "%v", err)
	}
}

// readTypes reads metavariable-type, whose types are patterns of the rule's language. They stay
// text here: only the engine knows the grammar that can parse them.
func (b *builder) readTypes(c *Condition, d *dict) {
	c.Kind = CondType
	if n := d.take("type"); n != nil {
		c.Types = append(c.Types, b.readScalar(n, "type"))
	}
	c.Types = append(c.Types, b.readStrings(d.take("types"), "types", false)...)
	if n := d.take("language"); n != nil {
		c.Language = b.readLanguage(n)
	}
	if len(c.Types) == 0 || slices.Contains(c.Types, "") {
		b.reportFault(d.line, "metavariable-type needs the key type or types")
	}
}

// readAnalysis reads "analyzer: entropy" and "analyzer: {kind: entropy_v2, mode: lax}". The newer
// entropy analyzer has three levels of strictness.
func (b *builder) readAnalysis(c *Condition, d *dict) {
	c.Kind = CondAnalysis
	n := d.require("analyzer", "metavariable-analysis")
	if n == nil {
		return
	}
	c.Analyzer, c.Mode = "", "default"
	if to := b.resolve(n); to != nil && to.Kind == yaml.MappingNode {
		a := b.readDict(to, "analyzer")
		c.Analyzer = b.readScalar(a.require("kind", "analyzer"), "kind")
		if mode := a.take("mode"); mode != nil {
			c.Mode = b.readScalar(mode, "mode")
			if c.Analyzer != EntropyV2 || c.Mode != "lax" && c.Mode != "default" && c.Mode != "strict" {
				b.reportFault(mode.Line, "mode must be lax, default or strict, and belongs to entropy_v2")
			}
		}
		a.reportUnused("analyzer")
	} else {
		c.Analyzer = b.readScalar(n, "analyzer")
	}
	switch c.Analyzer {
	case Entropy, EntropyV2, ReDoS, "":
	default:
		b.reportFault(n.Line, "the analyzer must be entropy, entropy_v2 or redos, not %q", c.Analyzer)
	}
}

// readNameCondition reads metavariable-name. Kinds of names are a feature of the commercial
// engine.
func (b *builder) readNameCondition(c *Condition, d *dict) {
	c.Kind = CondName
	kind := d.take("kind")
	if kind != nil {
		b.reportFault(kind.Line, "kinds of names are not supported: say module or modules")
	}
	if n := d.take("module"); n != nil {
		c.Modules = append(c.Modules, b.readScalar(n, "module"))
	}
	c.Modules = append(c.Modules, b.readStrings(d.take("modules"), "modules", false)...)
	if kind == nil && len(c.Modules) == 0 {
		b.reportFault(d.line, "metavariable-name needs module or modules")
	}
}
