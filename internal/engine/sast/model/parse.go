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
	err := p.sections(document.Content[0])
	return p.model, err
}

// parser reads one file.
type parser struct{ model *Model }

func (p *parser) fault(n *yaml.Node, format string, args ...any) error {
	return fmt.Errorf("%s:%d: %s", p.model.File, n.Line, fmt.Sprintf(format, args...))
}

// sections reads the top of the file.
func (p *parser) sections(n *yaml.Node) error {
	return p.mapping(n, func(key, value *yaml.Node) error {
		if key.Value == "languages" {
			p.model.Languages = nil
			return p.lines(value, func(_ *yaml.Node, text string) error {
				p.model.Languages = append(p.model.Languages, text)
				return nil
			})
		}
		for s := Section(0); s < sections; s++ {
			if s.String() == key.Value {
				return p.section(s, value)
			}
		}
		return p.fault(key, "unknown key %q; there are languages, %s", key.Value, strings.Join(sectionNames[:], ", "))
	})
}

// section reads the entries of a section, by kind where it has kinds.
func (p *parser) section(s Section, n *yaml.Node) error {
	switch s {
	case Summaries, Types, Entrypoints, Exits:
		return p.entries(s, "", n)
	}
	return p.mapping(n, func(key, value *yaml.Node) error {
		if s == Operations && OperationNames[key.Value] == "" {
			return p.fault(key, "unknown operation %q", key.Value)
		}
		if !kindName.MatchString(key.Value) {
			return p.fault(key, "%q is not a kind: lower case letters, digits, hyphens", key.Value)
		}
		return p.entries(s, key.Value, value)
	})
}

var kindName = lazyregexp.New(`^[a-z][a-z0-9.-]{0,39}$`)

// entries reads the lines of one kind.
func (p *parser) entries(s Section, kind string, n *yaml.Node) error {
	return p.lines(n, func(line *yaml.Node, text string) error {
		names, err := expand(text)
		if err != nil {
			return p.fault(line, "%v", err)
		}
		for _, text := range names {
			e, err := ParseEntry(s, kind, text)
			if err != nil {
				return p.fault(line, "%v", err)
			}
			e.Line = line.Line
			if p.model.Entries = append(p.model.Entries, e); len(p.model.Entries) > maxEntries {
				return p.fault(line, "more than %d entries", maxEntries)
			}
		}
		return nil
	})
}

// mapping calls f for each pair of a mapping.
func (p *parser) mapping(n *yaml.Node, f func(key, value *yaml.Node) error) error {
	if n.Kind != yaml.MappingNode {
		return p.fault(n, "want a mapping")
	}
	seen := map[string]bool{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		key := n.Content[i]
		if seen[key.Value] {
			return p.fault(key, "key %q is there twice", key.Value)
		}
		seen[key.Value] = true
		if err := f(key, n.Content[i+1]); err != nil {
			return err
		}
	}
	return nil
}

// lines calls f for each text of a list, or for a single text.
func (p *parser) lines(n *yaml.Node, f func(*yaml.Node, string) error) error {
	list := []*yaml.Node{n}
	if n.Kind == yaml.SequenceNode {
		list = n.Content
	}
	for _, line := range list {
		if line.Kind != yaml.ScalarNode || line.Value == "" {
			return p.fault(line, "want a text, or a list of texts")
		}
		if len(line.Value) > maxEntry {
			return p.fault(line, "a line has %d bytes, more than %d", len(line.Value), maxEntry)
		}
		if err := f(line, line.Value); err != nil {
			return err
		}
	}
	return nil
}

// expand writes out the braces of the name: "a.{b,c}.d()" is two entries. Braces
// behind the name, in regular expressions for instance, are left alone.
func expand(text string) ([]string, error) {
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
		more, err := expand(text[:open] + strings.TrimSpace(part) + text[open+shut+1:])
		if err != nil {
			return nil, err
		}
		if out = append(out, more...); len(out) > maxNames {
			return nil, fmt.Errorf("%q: more than %d names", text, maxNames)
		}
	}
	return out, nil
}

// ParseEntry reads one line, whose braces are written out.
func ParseEntry(s Section, kind, text string) (*Entry, error) {
	e := &Entry{Section: s, Kind: kind}
	head, conditions, _ := strings.Cut(text, " if ")
	if err := e.head(strings.TrimSpace(head)); err != nil {
		return nil, fmt.Errorf("%q: %w", text, err)
	}
	if conditions != "" {
		var err error
		if e.If, err = parseConditions(conditions); err != nil {
			return nil, fmt.Errorf("%q: %w", text, err)
		}
	}
	if err := e.check(); err != nil {
		return nil, fmt.Errorf("%q: %w", text, err)
	}
	return e, nil
}

// head reads what stands before the conditions.
func (e *Entry) head(text string) error {
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
			return e.target(strings.TrimSpace(name), false)
		}
		place, name, ok := strings.Cut(text, " is ")
		if !ok {
			return fmt.Errorf(`want "x is T" or "T extends U"`)
		}
		e.Type, text = strings.TrimSpace(name), strings.TrimSpace(place)
	}
	return e.target(text, e.Section == Summaries)
}

// target reads the name, what it names, and the places or flows.
func (e *Entry) target(text string, flows bool) error {
	if rest, ok := strings.CutPrefix(text, "@"); ok && !scopedName.MatchString(text) {
		e.Form, text = Annotation, rest
	}
	name, inside, called := cutCall(text)
	switch {
	case called && e.Form == Annotation:
	case called:
		e.Form = Call
	case e.Form == Annotation:
	case strings.HasSuffix(text, "="):
		e.Form, name = Assignment, strings.TrimSpace(strings.TrimSuffix(text, "="))
	case e.Section == Operations || e.Section == Exits || e.Section == Entrypoints || e.Section == Guards:
		e.Form = Call
	default:
		e.Form = Value
	}
	if !targetName.MatchString(name) {
		return fmt.Errorf("%q is not a name", name)
	}
	e.Name = name
	if strings.TrimSpace(inside) == "" {
		return nil
	}
	for _, part := range strings.Split(inside, ",") {
		if err := e.place(strings.TrimSpace(part), flows); err != nil {
			return err
		}
	}
	return nil
}

// scopedName matches the beginning of a name in a package of npm with a scope, which is
// no annotation.
var scopedName = lazyregexp.New(`^@[a-z0-9~][\w.~-]*/`)

// targetName allows what names of modules, members and calls hold.
var targetName = lazyregexp.New(`^[\pL\pN_$@*/:.\-+~#?!=\[\]]*(\(\)[\pL\pN_$@*/:.\-+~#?!=\[\]]*)*$`)

// place adds a place or a flow.
func (e *Entry) place(text string, flows bool) error {
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

// cutCall cuts "name(inside)" at the last balanced parentheses.
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

// check verifies what a section demands.
func (e *Entry) check() error {
	if e.Section == Sinks && len(e.Places) == 0 && e.Form == Call && len(e.If) == 0 {
		return fmt.Errorf("a sink that is a call says which argument")
	}
	if e.Section == Summaries && e.Form != Call {
		return fmt.Errorf("a summary is of a call")
	}
	if e.Form == Literal && e.Section != Sources {
		return fmt.Errorf("only a source can be a literal")
	}
	for _, c := range e.If {
		if e.Form == Literal && (c.Test != Like || c.Place.Base != Assigned) {
			return fmt.Errorf(`a condition of a literal is "value like" or "value not like"`)
		}
	}
	if e.Form == Assignment && e.Section != Sinks && e.Section != Entrypoints {
		return fmt.Errorf("only a sink and an entry point can be assignments")
	}
	for _, place := range e.Places {
		if place.Base == Parameter && e.Section != Sources && e.Section != Types && e.Section != Entrypoints {
			return fmt.Errorf("parameters are for sources, types and entry points")
		}
	}
	if len(e.Places) == 0 {
		e.Places = e.fallback()
	}
	return nil
}

// fallback is the place that an entry without one speaks of.
func (e *Entry) fallback() []Place {
	switch {
	case e.Section == Sinks && e.Form == Assignment:
		return []Place{{Base: Assigned}}
	case e.Section == Guards:
		return []Place{{Base: Argument}}
	case e.Form == Annotation && e.Section != Entrypoints:
		return []Place{{Base: Parameter, Index: Self}}
	case e.Section == Summaries || e.Section == Operations || e.Section == Exits || e.Section == Entrypoints || len(e.Extends) > 0:

		return nil
	}
	return []Place{{Base: Return}}
}

// parseRegexp reads "/re/" or "/re/i".
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

// parseConditions reads "c and c and c".
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

// parseCondition reads one condition: place, test, operand.
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
	return c, c.operand(verb, operand)
}

// operand reads what a condition compares with.
func (c *Condition) operand(verb, operand string) error {
	switch verb {
	case "is":
		c.Test, c.Word = Is, operand
		c.Type = !Words[operand]
		if c.Type && !strings.ContainsAny(operand, ".:/") && !targetName.MatchString(operand) || operand == "" {
			return fmt.Errorf("%q is neither a type nor one of the words", operand)
		}
	case "=", "!=":
		c.Test, c.Not = Equals, c.Not != (verb == "!=")
		if len(operand) >= 2 && operand[0] == '\'' && operand[len(operand)-1] == '\'' {
			operand = operand[1 : len(operand)-1]
		}
		c.Word = operand
	case "like":
		re, err := parseRegexp(operand)
		c.Test, c.Like = Like, re
		return err
	case "begins":
		re, err := parseRegexp(operand)
		c.Test, c.Like = Begins, re
		return err
	case "from":
		c.Test = From
		var err error
		c.Other, err = parsePlace(operand)
		return err
	case "backtracks":
		c.Test, c.Word = Backtracks, operand
		if c.Not || operand != "" && operand != "text" && operand != "anchored" {
			return fmt.Errorf(`an expression "backtracks", "backtracks text" or "backtracks anchored", not %q`, operand)
		}
	case "admits":
		c.Test, c.Word = Admits, operand
		if c.Not || operand != "" && operand != "whole" {
			return fmt.Errorf(`an expression "admits" or "admits whole", not %q`, operand)
		}
	case "opens":
		c.Test, c.Word = Opens, operand
		if operand != "start" && operand != "host" {
			return fmt.Errorf(`data opens "start" or "host", not %q`, operand)
		}
	default:
		return fmt.Errorf(`unknown test %q; there are is, =, !=, like, begins, from, opens, backtracks, admits, each but = with "not"`, verb)
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
