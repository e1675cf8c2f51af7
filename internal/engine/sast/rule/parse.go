package rule

import (
	"errors"
	"fmt"
	"io"
	"regexp"

	"go.yaml.in/yaml/v3"

	"merlon/internal/document"
	"merlon/internal/engine/sast/pcre"
	"merlon/internal/finding"
)

// A Parser reads rule files. Its zero value knows no models, and takes every name
// of one.
type Parser struct {
	// KnownSource and KnownSink say whether the build has models of that kind. Nil
	// takes every name.
	KnownSource, KnownSink func(kind string) bool
}

// Parse reads the rules of a file with the zero Parser.
func Parse(path string, text []byte) ([]*Rule, error) { return Parser{}.Parse(path, text) }

// Parse reads the rules of a file: one or more YAML documents, each with a list of
// rules. It returns the rules without fault, and all faults, joined; each is an
// *Error. path only names the file in faults.
func (p Parser) Parse(path string, text []byte) ([]*Rule, error) {
	if len(text) > maxFile {
		return nil, &Error{Path: path, Line: 1, Text: fmt.Sprintf("the file has %d bytes; the "+
			"limit is %d", len(text), maxFile)}
	}
	r := &reader{path: path, limit: maxNodes}
	b := &builder{reader: r, parser: p, seen: map[string]int{}}
	documents := document.NewReader(text)
	for n := 0; ; n++ {
		doc, err := documents.Next()
		if errors.Is(err, io.EOF) {
			if n == 0 {
				r.fault(1, "the file is empty")
			}
			break
		}
		if err != nil {
			var e *document.Error
			errors.As(err, &e)
			r.fault(max(1, e.Line), "%s", e.Message)
			break
		}
		b.document(doc)
	}
	return b.rules, r.err()
}

// A builder makes rules of the documents of one file.
type builder struct {
	*reader
	parser Parser
	rules  []*Rule
	seen   map[string]int // line of each id

	// Of the rule being read:
	languages []string
	regex     bool // its patterns are regular expressions
}

func (b *builder) document(doc *yaml.Node) {
	d := b.dict(doc, "a rule file")
	if d == nil {
		return
	}
	for _, n := range b.list(d.require("rules", "a rule file"), "rules") {
		faults := len(b.faults) + b.more
		rule := b.one(n)
		b.rule = ""
		if rule != nil && faults == len(b.faults)+b.more {
			b.rules = append(b.rules, rule)
		}
	}
	d.finish("a rule file")
}

// goodID is what an id may be. The field allows the same characters.
var goodID = regexp.MustCompile(`^[A-Za-z0-9._/-]{1,200}$`)

// one reads one rule.
func (b *builder) one(n *yaml.Node) *Rule {
	d := b.dict(n, "a rule")
	if d == nil {
		return nil
	}
	rule := &Rule{Path: b.path, Line: d.line}
	if id := d.require("id", "a rule"); id != nil {
		rule.ID = b.scalar(id, "id")
		switch {
		case !goodID.MatchString(rule.ID):
			b.fault(id.Line, "id must be letters, digits, dots, slashes, hyphens and underscores, not %q", rule.ID)
		case b.seen[rule.ID] > 0:
			b.fault(id.Line, "the id %s is that of the rule on line %d", rule.ID, b.seen[rule.ID])
		default:
			b.rule, b.seen[rule.ID] = rule.ID, d.line
		}
	}
	if mode := b.unsupported(d); mode != "" {
		b.fault(d.line, "%s is not supported", mode)
		return nil
	}
	b.head(d, rule)
	if d.has("options") {
		rule.Options = b.options(d.take("options"))
	} else {
		rule.Options = DefaultOptions()
	}
	b.mode(d, rule)
	d.finish("a rule")
	return rule
}

// unsupported names what of the format this engine does not do, "" for nothing. It
// takes the keys of it, so that they are not reported one by one.
func (b *builder) unsupported(d *dict) string {
	switch mode := d.byKey["mode"]; {
	case mode != nil && (mode.value.Value == "join" || mode.value.Value == "extract" || mode.value.Value == "steps"):
		return mode.value.Value + " mode"
	case d.has("equivalences"):
		return "the key equivalences"
	case d.has("validators"):
		return "the key validators"
	case d.has("r2c-internal-project-depends-on"), d.has("project-depends-on"):
		return "a condition on the packages of a project"
	case d.has("steps"):
		return "steps mode"
	}
	return ""
}

// head reads what every rule has, whatever its mode.
func (b *builder) head(d *dict, rule *Rule) {
	rule.Message = b.scalar(d.require("message", "a rule"), "message")
	rule.Severity = b.severity(d.require("severity", "a rule"))
	rule.Languages = b.languageList(d.require("languages", "a rule"))
	b.languages = rule.Languages
	b.regex = len(rule.Languages) == 1 && rule.Languages[0] == LanguageRegex
	if p := d.byKey["metadata"]; p != nil && p.value.Tag == "!!null" {
		p.used = true // nothing is said, which is fine
	} else if n := d.take("metadata"); n != nil {
		m, ok := b.value(n).(map[string]any)
		if !ok {
			b.fault(n.Line, "metadata must be a mapping")
		}
		rule.Metadata = m
	}
	if n := d.take("paths"); n != nil {
		if p := b.dict(n, "paths"); p != nil {
			rule.Include = b.globs(p.take("include"), "include")
			rule.Exclude = b.globs(p.take("exclude"), "exclude")
			p.finish("paths")
		}
	}
	rule.Fix = d.str("fix")
	rule.FixRegex = b.fixRegex(d.take("fix-regex"))
	rule.MinVersion, rule.MaxVersion = d.str("min-version"), d.str("max-version")
	for _, ignored := range []string{"product", "version", "author"} {
		d.take(ignored) // about the rule, not about code
	}
}

// severities maps both scales of the format to ours.
var severities = map[string]finding.Severity{
	"CRITICAL": finding.Critical, "HIGH": finding.High, "MEDIUM": finding.Medium, "LOW": finding.Low,
	"ERROR": finding.High, "WARNING": finding.Medium, "INFO": finding.Low,
	"INVENTORY": finding.Low, "EXPERIMENT": finding.Low,
}

func (b *builder) severity(n *yaml.Node) finding.Severity {
	text := b.scalar(n, "severity")
	s, ok := severities[text]
	if n != nil && !ok {
		b.fault(n.Line, "severity must be CRITICAL, HIGH, MEDIUM, LOW, ERROR, WARNING or INFO, not %q", text)
	}
	return s
}

func (b *builder) fixRegex(n *yaml.Node) *FixRegex {
	if n == nil {
		return nil
	}
	d := b.dict(n, "fix-regex")
	if d == nil {
		return nil
	}
	fix := &FixRegex{Replacement: b.scalar(d.require("replacement", "fix-regex"), "replacement")}
	fix.Regex = b.regexp(d.require("regex", "fix-regex"), pcre.Multiline)
	fix.Count = d.integer("count", 1_000_000, 0)
	d.finish("fix-regex")
	return fix
}

// regexp compiles a regular expression, with a fault if it is none.
func (b *builder) regexp(n *yaml.Node, flags pcre.Flags) *pcre.Regexp {
	if n == nil {
		return nil
	}
	re, err := pcre.Compile(b.scalar(n, "a regular expression"), flags)
	if err != nil {
		b.fault(textLine(n), "%v", err)
	}
	return re
}

// mode reads the formula, or the parts of taint mode.
func (b *builder) mode(d *dict, rule *Rule) {
	mode := d.str("mode")
	if mode == "" && d.has("taint") {
		mode = "taint"
	}
	switch mode {
	case "", "search":
		if n := d.take("match"); n != nil {
			rule.Search = b.formula(n)
		} else {
			rule.Search = b.oldRoot(d, "a rule", false)
		}
		if d.has("model") {
			b.fault(d.byKey["model"].key.Line, "model is a key of rules in taint mode")
		}
	case "taint":
		if b.regex || len(rule.Languages) == 1 && rule.Languages[0] == LanguageGeneric {
			b.fault(d.line, "taint mode needs a programming language")
		}
		rule.Taint = b.taint(d)
	default:
		b.fault(d.byKey["mode"].key.Line, "mode must be search or taint, not %q", mode)
	}
}
