package model

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"merlon/internal/lazyregexp"
)

// Limits of a model file.
const (
	maxFile    = 1 << 20
	maxEntries = 20000
	maxEntry   = 4096 // bytes of a line
	maxNames   = 256  // that the braces of one line make
	maxKinds   = 60
)

// Parse reads a model file. The language is that of its folder; a file may name
// others under "languages". Errors begin with "file:line: ".
func Parse(file, language, name string, src []byte) (*Model, error) {
	if len(src) > maxFile {
		return nil, fmt.Errorf("%s: has %d bytes, more than %d", file, len(src), maxFile)
	}
	var document yaml.Node
	if err := yaml.Unmarshal(src, &document); err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	p := &parser{model: &Model{Name: name, File: file, Languages: []string{language}}}
	if len(document.Content) == 0 {
		return p.model, nil
	}
	err := p.readSections(document.Content[0])
	return p.model, err
}

// parser reads one file.
type parser struct{ model *Model }

// faultAt returns an error that names the file and the line of a node.
func (p *parser) faultAt(n *yaml.Node, format string, args ...any) error {
	return fmt.Errorf("%s:%d: %s", p.model.File, n.Line, fmt.Sprintf(format, args...))
}

// readSections reads the top of the file. An unknown key is an error, as a misspelled one would
// drop its entries.
func (p *parser) readSections(n *yaml.Node) error {
	return p.readMapping(n, func(key, value *yaml.Node) error {
		if key.Value == "languages" {
			p.model.Languages = nil
			return p.readLines(value, func(_ *yaml.Node, text string) error {
				p.model.Languages = append(p.model.Languages, text)
				return nil
			})
		}
		for s := Section(0); s < sections; s++ {
			if s.String() == key.Value {
				return p.readSection(s, value)
			}
		}
		return p.faultAt(key, "unknown key %q; there are languages, %s", key.Value, strings.Join(sectionNames[:], ", "))
	})
}

// readSection reads the entries of a section, by kind where it has kinds. Sections without kinds
// are plain lists.
func (p *parser) readSection(s Section, n *yaml.Node) error {
	switch s {
	case Summaries, Types, Entrypoints, Exits:
		return p.readEntries(s, "", n)
	}
	return p.readMapping(n, func(key, value *yaml.Node) error {
		if s == Operations && OperationNames[key.Value] == "" {
			return p.faultAt(key, "unknown operation %q", key.Value)
		}
		if !kindName.MatchString(key.Value) {
			return p.faultAt(key, "%q is not a kind: lower case letters, digits, hyphens", key.Value)
		}
		return p.readEntries(s, key.Value, value)
	})
}

var kindName = lazyregexp.New(`^[a-z][a-z0-9.-]{0,39}$`)

// readEntries reads the lines of one kind. Each name of the braces is an entry of its own. They
// share the line, which findings and faults point to. The number of entries is bounded over the
// whole file.
func (p *parser) readEntries(s Section, kind string, n *yaml.Node) error {
	return p.readLines(n, func(line *yaml.Node, text string) error {
		names, err := expandBraces(text)
		if err != nil {
			return p.faultAt(line, "%v", err)
		}
		for _, text := range names {
			e, err := ParseEntry(s, kind, text)
			if err != nil {
				return p.faultAt(line, "%v", err)
			}
			e.Line = line.Line
			if p.model.Entries = append(p.model.Entries, e); len(p.model.Entries) > maxEntries {
				return p.faultAt(line, "more than %d entries", maxEntries)
			}
		}
		return nil
	})
}

// readMapping calls f for each pair of a mapping. Keys that are there twice are errors: YAML
// itself would let the last one win.
func (p *parser) readMapping(n *yaml.Node, f func(key, value *yaml.Node) error) error {
	if n.Kind != yaml.MappingNode {
		return p.faultAt(n, "want a mapping")
	}
	seen := map[string]bool{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		key := n.Content[i]
		if seen[key.Value] {
			return p.faultAt(key, "key %q is there twice", key.Value)
		}
		seen[key.Value] = true
		if err := f(key, n.Content[i+1]); err != nil {
			return err
		}
	}
	return nil
}

// readLines calls f for each text of a list, or for a single text. The length of a line is
// bounded.
func (p *parser) readLines(n *yaml.Node, f func(*yaml.Node, string) error) error {
	list := []*yaml.Node{n}
	if n.Kind == yaml.SequenceNode {
		list = n.Content
	}
	for _, line := range list {
		if line.Kind != yaml.ScalarNode || line.Value == "" {
			return p.faultAt(line, "want a text, or a list of texts")
		}
		if len(line.Value) > maxEntry {
			return p.faultAt(line, "a line has %d bytes, more than %d", len(line.Value), maxEntry)
		}
		if err := f(line, line.Value); err != nil {
			return err
		}
	}
	return nil
}

// expandBraces writes out the braces of the name: "a.{b,c}.d()" is two entries. Braces behind the
// name, in regular expressions for instance, are left alone. Braces nest by recursion, and their
// number is bounded.
func expandBraces(text string) ([]string, error) {
	end := len(text)
	if i := strings.IndexAny(text, " /"); i >= 0 && strings.HasPrefix(text, "literal ") {
		end = 0
	} else if i := strings.Index(text, " if "); i >= 0 {
		end = i
	}
	open := strings.IndexByte(text[:end], '{')
	if open < 0 {
		return []string{text}, nil
	}
	shut := strings.IndexByte(text[open:end], '}')
	if shut < 0 {
		return nil, fmt.Errorf("%q: { without }", text)
	}
	var out []string
	for _, part := range strings.Split(text[open+1:open+shut], ",") {
		more, err := expandBraces(text[:open] + strings.TrimSpace(part) + text[open+shut+1:])
		if err != nil {
			return nil, err
		}
		if out = append(out, more...); len(out) > maxNames {
			return nil, fmt.Errorf("%q: more than %d names", text, maxNames)
		}
	}
	return out, nil
}

// ParseEntry reads one line, whose braces are written out. Messages repeat the line, since editors
// show it without its file.
func ParseEntry(s Section, kind, text string) (*Entry, error) {
	e := &Entry{Section: s, Kind: kind}
	head, conditions, _ := strings.Cut(text, " if ")
	if err := e.parseHead(strings.TrimSpace(head)); err != nil {
		return nil, fmt.Errorf("%q: %w", text, err)
	}
	if conditions != "" {
		var err error
		if e.If, err = parseConditions(conditions); err != nil {
			return nil, fmt.Errorf("%q: %w", text, err)
		}
	}
	if err := e.checkEntry(); err != nil {
		return nil, fmt.Errorf("%q: %w", text, err)
	}
	return e, nil
}

// parseHead reads what stands before the conditions. The sections differ in what it holds: types
// have a relation, guards may be negated.
func (e *Entry) parseHead(text string) error {
	if pattern, ok := strings.CutPrefix(text, "literal "); ok {
		re, err := parseRegexp(strings.TrimSpace(pattern))
		e.Form, e.Literal = Literal, re
		return err
	}
	if rest, ok := strings.CutPrefix(text, "not "); ok && e.Section == Guards {
		e.Negated, text = true, rest
	}
	if e.Section == Types {
		if name, supers, ok := strings.Cut(text, " extends "); ok {
			for _, super := range strings.Split(supers, ",") {
				e.Extends = append(e.Extends, strings.TrimSpace(super))
			}
			return e.parseTarget(strings.TrimSpace(name), false)
		}
		place, name, ok := strings.Cut(text, " is ")
		if !ok {
			return fmt.Errorf(`want "x is T" or "T extends U"`)
		}
		e.Type, text = strings.TrimSpace(name), strings.TrimSpace(place)
	}
	return e.parseTarget(text, e.Section == Summaries)
}

// parseTarget reads the name, what it names, and the places or flows. A name with parentheses is a
// call, one with "=" an assignment, one with "@" an annotation.
func (e *Entry) parseTarget(text string, flows bool) error {
	if rest, ok := strings.CutPrefix(text, "@"); ok && !scopedName.MatchString(text) {
		e.Form, text = Annotation, rest
	}
	name, inside, called := cutCall(text)
	switch {
	case e.Form == Annotation:
	case called:
		e.Form = Call
	case strings.HasSuffix(text, "="):
		e.Form, name = Assignment, strings.TrimSpace(strings.TrimSuffix(text, "="))
	default:
		e.Form = e.bareForm()
	}
	if !targetName.MatchString(name) {
		return fmt.Errorf("%q is not a name", name)
	}
	e.Name = name
	if strings.TrimSpace(inside) == "" {
		return nil
	}
	for _, part := range strings.Split(inside, ",") {
		if err := e.addPlace(strings.TrimSpace(part), flows); err != nil {
			return err
		}
	}
	return nil
}

// bareForm is the form of an entry that is only a name: a call in the sections that are
// about functions, else a value.
func (e *Entry) bareForm() Form {
	switch e.Section {
	case Operations, Exits, Entrypoints, Guards:
		return Call
	}
	return Value
}

// scopedName matches the beginning of a name in a package of npm with a scope, which is
// no annotation.
var scopedName = lazyregexp.New(`^@[a-z0-9~][\w.~-]*/`)

// targetName allows what names of modules, members and calls hold.
var targetName = lazyregexp.New(`^[\pL\pN_$@*/:.\-+~#?!=\[\]]*(\(\)[\pL\pN_$@*/:.\-+~#?!=\[\]]*)*$`)

// addPlace adds a place or a flow. Summaries have flows, all others places. "none" is a summary
// that says that nothing flows: without it the analysis would have to guess.
func (e *Entry) addPlace(text string, flows bool) error {
	if !flows {
		place, err := parsePlace(text)
		e.Places = append(e.Places, place)
		return err
	}
	if text == "none" {
		return nil
	}
	from, to, ok := strings.Cut(text, "->")
	if !ok {
		return fmt.Errorf(`want "from -> to" instead of %q`, text)
	}
	var f Flow
	var err error
	if f.From, err = parsePlace(strings.TrimSpace(from)); err != nil {
		return err
	}
	if f.To, err = parsePlace(strings.TrimSpace(to)); err != nil {
		return err
	}
	e.Flows = append(e.Flows, f)
	return nil
}

// cutCall cuts "name(inside)" at the last balanced parentheses. Names of calls may hold
// parentheses themselves, "a().b(arg0)".
func cutCall(text string) (name, inside string, ok bool) {
	if !strings.HasSuffix(text, ")") {
		return text, "", false
	}
	depth := 0
	for i := len(text) - 1; i >= 0; i-- {
		switch text[i] {
		case ')':
			depth++
		case '(':
			if depth--; depth == 0 {
				return text[:i], text[i+1 : len(text)-1], true
			}
		}
	}
	return text, "", false
}

// checkEntry verifies what a section demands, and gives an entry without a place the usual
// one.
func (e *Entry) checkEntry() error {
	if err := e.checkForm(); err != nil {
		return err
	}
	for _, place := range e.Places {
		if place.Base == Parameter && e.Section != Sources && e.Section != Types && e.Section != Entrypoints {
			return fmt.Errorf("parameters are for sources, types and entry points")
		}
	}
	if len(e.Places) == 0 {
		e.Places = e.defaultPlaces()
	}
	return nil
}

// checkForm verifies that the section may have entries of the form. What a section cannot use
// would be read and never asked for, so it is a fault.
func (e *Entry) checkForm() error {
	switch e.Form {
	case Call:
		if e.Section == Sinks && len(e.Places) == 0 && len(e.If) == 0 {
			return fmt.Errorf("a sink that is a call says which argument")
		}
		return nil
	case Literal:
		if e.Section == Summaries {
			break
		}
		if e.Section != Sources {
			return fmt.Errorf("only a source can be a literal")
		}
		for _, c := range e.If {
			if c.Test != Like || c.Place.Base != Assigned {
				return fmt.Errorf(`a condition of a literal is "value like" or "value not like"`)
			}
		}
	case Assignment:
		if e.Section != Sinks && e.Section != Entrypoints && e.Section != Summaries {
			return fmt.Errorf("only a sink and an entry point can be assignments")
		}
	}
	if e.Section == Summaries {
		return fmt.Errorf("a summary is of a call")
	}
	return nil
}

// defaultPlaces is the place that an entry without one speaks of. A source is the result of its
// call, a guard tests its argument.
func (e *Entry) defaultPlaces() []Place {
	switch {
	case e.Section == Sinks && e.Form == Assignment:
		return []Place{{Base: Assigned}}
	case e.Section == Guards:
		return []Place{{Base: Argument}}
	case e.Form == Annotation && e.Section != Entrypoints:
		return []Place{{Base: Parameter, Index: Self}}
	case e.Section == Summaries, e.Section == Operations, e.Section == Exits, e.Section == Entrypoints,
		len(e.Extends) > 0:
		return nil
	}
	return []Place{{Base: Return}}
}

// parseRegexp reads "/re/" or "/re/i". The expression is compiled once, when the model is read.
// The last slash ends it: slashes within need no escape. Conditions use the syntax of Go, whose
// time is linear in the text.
func parseRegexp(text string) (*regexp.Regexp, error) {
	end := strings.LastIndexByte(text, '/')
	if len(text) < 2 || text[0] != '/' || end == 0 {
		return nil, fmt.Errorf("want a regular expression between slashes instead of %q", text)
	}
	re := text[1:end]
	switch text[end+1:] {
	case "":
	case "i":
		re = "(?i)" + re
	default:
		return nil, fmt.Errorf("unknown flags of the regular expression %q", text)
	}
	return regexp.Compile(re)
}

// parseConditions reads "c and c and c". All of them restrict the entry.
func parseConditions(text string) ([]Condition, error) {
	var list []Condition
	for _, part := range strings.Split(text, " and ") {
		c, err := parseCondition(strings.TrimSpace(part))
		if err != nil {
			return nil, err
		}
		list = append(list, c)
	}
	return list, nil
}

// parseCondition reads one condition: place, test, operand. "is not" and "not like" both negate.
// "count" and "here" ask of the call and of the function around, all others of a place. The words
// are cut at single spaces, since a name has none.
func parseCondition(text string) (Condition, error) {
	var c Condition
	subject, rest, _ := strings.Cut(text, " ")
	rest = strings.TrimSpace(rest)
	if subject == "count" {
		return parseCount(rest)
	}
	if subject == "here" {
		if rest != "is page" {
			return c, fmt.Errorf(`want "here is page" instead of %q`, text)
		}
		return Condition{Test: Page}, nil
	}
	var err error
	if c.Place, err = parsePlace(subject); err != nil {
		return c, err
	}
	verb, operand, _ := strings.Cut(rest, " ")
	operand = strings.TrimSpace(operand)
	if verb == "not" {
		c.Not = true
		verb, operand, _ = strings.Cut(operand, " ")
	}
	if verb == "is" {
		if word, ok := strings.CutPrefix(operand, "not "); ok {
			c.Not, operand = true, word
		}
	}
	err = c.parseOperand(verb, operand)
	return c, err
}

// parseOperand reads what a condition compares with. Constants may be in single quotes, for those
// with spaces. A type is spelled as models name it.
func (c *Condition) parseOperand(verb, operand string) (err error) {
	switch verb {
	case "is":
		return c.parseIs(operand)
	case "=", "!=":
		c.Test, c.Not = Equals, c.Not != (verb == "!=")
		if len(operand) >= 2 && operand[0] == '\'' && operand[len(operand)-1] == '\'' {
			operand = operand[1 : len(operand)-1]
		}
		c.Word = operand
	case "like":
		c.Test = Like
		c.Like, err = parseRegexp(operand)
	case "begins":
		c.Test = Begins
		c.Like, err = parseRegexp(operand)
	case "from":
		c.Test = From
		c.Other, err = parsePlace(operand)
	case "backtracks", "admits", "opens":
		return c.parseJudged(verb, operand)
	default:
		return fmt.Errorf(`unknown test %q; there are is, =, !=, like, begins, from, opens, backtracks, admits, each `+
			`but = with "not"`, verb)
	}
	return err
}

// parseIs reads the type or the word that a place must be. Anything that is no word is the name of
// a type.
func (c *Condition) parseIs(operand string) error {
	c.Test, c.Word = Is, operand
	c.Type = !Words[operand]
	if c.Type && !strings.ContainsAny(operand, ".:/") && !targetName.MatchString(operand) || operand == "" {
		return fmt.Errorf("%q is neither a type nor one of the words", operand)
	}
	return nil
}

// parseJudged reads a test that says how far an entry goes, see Test.Judged. Such a test has no
// negation, except "opens", whose answer is one of two.
func (c *Condition) parseJudged(verb, operand string) error {
	c.Word = operand
	switch verb {
	case "backtracks":
		c.Test = Backtracks
		if c.Not || operand != "" && operand != "text" && operand != "anchored" {
			return fmt.Errorf(`an expression "backtracks", "backtracks text" or "backtracks anchored", not %q`, operand)
		}
	case "admits":
		c.Test = Admits
		if c.Not || operand != "" && operand != "whole" {
			return fmt.Errorf(`an expression "admits" or "admits whole", not %q`, operand)
		}
	case "opens":
		c.Test = Opens
		if operand != "start" && operand != "host" {
			return fmt.Errorf(`data opens "start" or "host", not %q`, operand)
		}
	}
	return nil
}

// parseCount reads "= 2" or "> 1".
func parseCount(text string) (Condition, error) {
	sign, number, _ := strings.Cut(text, " ")
	n, err := strconv.Atoi(strings.TrimSpace(number))
	if err != nil || n < 0 || n > 100 || sign != "=" && sign != ">" {
		return Condition{}, fmt.Errorf(`want "count = 2" or "count > 2" instead of %q`, "count "+text)
	}
	if sign == ">" {
		return Condition{Test: MoreThan, Count: n}, nil
	}
	return Condition{Test: Count, Count: n}, nil
}
