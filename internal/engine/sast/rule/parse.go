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
				r.reportFault(1, "the file is empty")
			}
			break
		}
		if err != nil {
			var e *document.Error
			errors.As(err, &e)
			r.reportFault(max(1, e.Line), "%s", e.Message)
			break
		}
		b.readDocument(doc)
	}
	return b.rules, r.joinFaults()
}

// A builder makes rules of the documents of one file. Rules of one file share nothing but their
// ids, which have to differ.
type builder struct {
	*reader
	parser Parser
	rules  []*Rule
	seen   map[string]int // line of each id

	// Of the rule being read:
	languages []string
	regex     bool // its patterns are regular expressions
}

// readDocument reads the rules of one document. A rule with a fault is left out; the others are
// used.
func (b *builder) readDocument(doc *yaml.Node) {
	d := b.readDict(doc, "a rule file")
	if d == nil {
		return
	}
	for _, n := range b.readList(d.require("rules", "a rule file"), "rules") {
		faults := len(b.faults) + b.more
		rule := b.readRule(n)
		b.rule = ""
		if rule != nil && faults == len(b.faults)+b.more {
			b.rules = append(b.rules, rule)
		}
	}
	d.reportUnused("a rule file")
}

// goodID is what an id may be. The field allows the same characters.
var goodID = regexp.MustCompile(`^[A-Za-z0-9._/-]{1,200}$`)

// readRule reads one rule. The id is read first, so that later faults can name the rule. A rule
// with any fault is dropped by the caller, but it is read to its end first, so that its author
// sees all faults at once.
func (b *builder) readRule(n *yaml.Node) *Rule {
	d := b.readDict(n, "a rule")
	if d == nil {
		return nil
	}
	rule := &Rule{Path: b.path, Line: d.line}
	if id := d.require("id", "a rule"); id != nil {
		rule.ID = b.readScalar(id, "id")
		switch {
		case !goodID.MatchString(rule.ID):
			b.reportFault(id.Line, "id must be letters, digits, dots, slashes, hyphens and underscores, not %q",
				rule.ID)
		case b.seen[rule.ID] > 0:
			b.reportFault(id.Line, "the id %s is that of the rule on line %d", rule.ID, b.seen[rule.ID])
		default:
			b.rule, b.seen[rule.ID] = rule.ID, d.line
		}
	}
	if mode := b.unsupportedMode(d); mode != "" {
		b.reportFault(d.line, "%s is not supported", mode)
		return nil
	}
	b.readHead(d, rule)
	if d.has("options") {
		rule.Options = b.readOptions(d.take("options"))
	} else {
		rule.Options = DefaultOptions()
	}
	b.readMode(d, rule)
	d.reportUnused("a rule")
	return rule
}

// unsupportedMode names what of the format this engine does not do, "" for nothing. It
// takes the keys of it, so that they are not reported one by one.
func (b *builder) unsupportedMode(d *dict) string {
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

// readHead reads what every rule has, whatever its mode. Keys about the rule itself, such as its
// author, are read over.
func (b *builder) readHead(d *dict, rule *Rule) {
	rule.Message = b.readScalar(d.require("message", "a rule"), "message")
	rule.Severity = b.readSeverity(d.require("severity", "a rule"))
	rule.Languages = b.readLanguages(d.require("languages", "a rule"))
	b.languages = rule.Languages
	b.regex = len(rule.Languages) == 1 && rule.Languages[0] == LanguageRegex
	if p := d.byKey["metadata"]; p != nil && p.value.Tag == "!!null" {
		p.used = true // nothing is said, which is fine
	} else if n := d.take("metadata"); n != nil {
		m, ok := b.readValue(n).(map[string]any)
		if !ok {
			b.reportFault(n.Line, "metadata must be a mapping")
		}
		rule.Metadata = m
	}
	if n := d.take("paths"); n != nil {
		if p := b.readDict(n, "paths"); p != nil {
			rule.Include = b.readGlobs(p.take("include"), "include")
			rule.Exclude = b.readGlobs(p.take("exclude"), "exclude")
			p.reportUnused("paths")
		}
	}
	rule.Fix = d.takeString("fix")
	rule.FixRegex = b.readFixRegex(d.take("fix-regex"))
	rule.MinVersion, rule.MaxVersion = d.takeString("min-version"), d.takeString("max-version")
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

// readSeverity reads the severity in one of the two scales of the format. The older scale (ERROR,
// WARNING, INFO) is mapped to high, medium and low.
func (b *builder) readSeverity(n *yaml.Node) finding.Severity {
	text := b.readScalar(n, "severity")
	s, ok := severities[text]
	if n != nil && !ok {
		b.reportFault(n.Line, "severity must be CRITICAL, HIGH, MEDIUM, LOW, ERROR, WARNING or INFO, not %q", text)
	}
	return s
}

// readFixRegex reads a replacement of a part of a match; nil when there is none. The count bounds
// the replacements; 0 is all.
func (b *builder) readFixRegex(n *yaml.Node) *FixRegex {
	if n == nil {
		return nil
	}
	d := b.readDict(n, "fix-regex")
	if d == nil {
		return nil
	}
	fix := &FixRegex{Replacement: b.readScalar(d.require("replacement", "fix-regex"), "replacement")}
	fix.Regex = b.readRegexp(d.require("regex", "fix-regex"), pcre.Multiline)
	fix.Count = d.takeInt("count", 1_000_000, 0)
	d.reportUnused("fix-regex")
	return fix
}

// readRegexp compiles a regular expression, with a fault if it is none. The line is that of the
// expression, so that an editor can jump there.
func (b *builder) readRegexp(n *yaml.Node, flags pcre.Flags) *pcre.Regexp {
	if n == nil {
		return nil
	}
	re, err := pcre.Compile(b.readScalar(n, "a regular expression"), flags)
	if err != nil {
		b.reportFault(textLine(n), "%v", err)
	}
	return re
}

// readMode reads the formula, or the parts of taint mode. A search rule has one formula, a taint
// rule lists of them.
func (b *builder) readMode(d *dict, rule *Rule) {
	mode := d.takeString("mode")
	if mode == "" && d.has("taint") {
		mode = "taint"
	}
	switch mode {
	case "", "search":
		if n := d.take("match"); n != nil {
			rule.Search = b.readFormula(n)
		} else {
			rule.Search = b.readOldRoot(d, "a rule", false)
		}
		if d.has("model") {
			b.reportFault(d.byKey["model"].key.Line, "model is a key of rules in taint mode")
		}
	case "taint":
		if b.regex || len(rule.Languages) == 1 && rule.Languages[0] == LanguageGeneric {
			b.reportFault(d.line, "taint mode needs a programming language")
		}
		rule.Taint = b.readTaint(d)
	default:
		b.reportFault(d.byKey["mode"].key.Line, "mode must be search or taint, not %q", mode)
	}
}
