package template

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/net/html"

	"merlon/internal/engine/dast/message"
	"merlon/internal/lazyregexp"
)

// This file takes values out of answers.

// maxExtracts bounds the values that one extractor takes.
const maxExtracts = 100

// extractFrom returns the values that an extractor takes out of an answer. Each value
// is given once, in the order in which they stand.
func (x *extractor) extractFrom(e *evaluation) []string {
	var out []string
	add := func(s string) {
		if s != "" && len(out) < maxExtracts && !slices.Contains(out, s) {
			out = append(out, s)
		}
	}
	if x.Type == "kval" || x.Type == "dsl" {
		x.extractValues(e, add)
		return out
	}
	from, ok := responsePart(x.Part, e.values)
	if !ok {
		return nil
	}
	for _, re := range x.regex {
		for _, m := range re.FindAllStringSubmatch(from, maxExtracts) {
			// A group that the pattern does not have gives nothing.
			if x.Group >= 0 && x.Group < len(m) {
				add(m[x.Group])
			}
		}
	}
	x.extractPaths(from, add)
	return out
}

// extractValues gives add the values that are known by name, and those of expressions.
func (x *extractor) extractValues(e *evaluation, add func(string)) {
	for _, name := range x.KVal {
		name = strings.ToLower(strings.ReplaceAll(name, "-", "_"))
		if v, ok := e.values[name]; ok {
			add(textOf(v))
		}
	}
	for _, d := range x.dsl {
		if v, err := d.root.eval(e); err == nil {
			add(textOf(v))
		}
	}
}

// extractPaths gives add what is at the ends of paths in a text that is JSON, or a page.
func (x *extractor) extractPaths(from string, add func(string)) {
	if len(x.json) > 0 {
		if root := message.DecodeJSON([]byte(from)); root != nil {
			for _, path := range x.json {
				followPath(root, path, add)
			}
		}
	}
	if len(x.xpath) > 0 {
		if doc, err := html.Parse(bytes.NewReader([]byte(from))); err == nil {
			for _, path := range x.xpath {
				descendPath(doc, path, x.Attribute, add)
			}
		}
	}
}

// A step is one step of a path in JSON.
type step struct {
	// The member of an object; empty: the step is an item or all.
	name string
	// The index in a list, negative from its end; -1 also where the step is a member or all.
	item int
	// All members or items: .[].
	all bool
}

// jsonStep matches one step of a path in JSON: an item by its number, all items, or a
// member in one of three notations. A question mark behind it is allowed: nothing fails
// here anyway.
var jsonStep = lazyregexp.New(`^(?:\.?\[(-?\d+)\]|\.?\[\]|\.?\["((?:[^"\\]|\\.){1,200})"\]|\."([^"]{1,200})"|\.([A-Za-z_][A-Za-z0-9_]*))\??`)

// jsonPath reads the paths among the expressions of jq: .a.b[0].c[], ."x-y". What is a
// program beyond paths is refused: a wrong value would be worse than none.
func jsonPath(s string) ([]step, error) {
	rest := strings.TrimSpace(s)
	var out []step
	for rest != "" && rest != "." {
		m := jsonStep.FindStringSubmatch(rest)
		if m == nil || len(out) == 50 {
			return nil, unsupported(fmt.Sprintf("the JSON expression %.60q", s))
		}
		rest = rest[len(m[0]):]
		switch {
		case m[1] != "":
			n, err := strconv.Atoi(m[1])
			if err != nil {
				return nil, unsupported(fmt.Sprintf("the JSON expression %.60q", s))
			}
			out = append(out, step{item: n})
		case m[2]+m[3]+m[4] != "":
			out = append(out, step{name: m[2] + m[3] + m[4], item: -1})
		default:
			out = append(out, step{all: true, item: -1})
		}
	}
	return out, nil
}

// followPath gives what is at the end of a path to add. Where there is nothing, nothing
// is given, and the order of members of an object is not fixed.
func followPath(v any, path []step, add func(string)) {
	if len(path) == 0 {
		addDocument(v, add)
		return
	}
	switch s := path[0]; at := v.(type) {
	case map[string]any:
		if s.all {
			for _, inner := range at {
				followPath(inner, path[1:], add)
			}
		} else if s.name != "" {
			followPath(at[s.name], path[1:], add)
		}
	case []any:
		n := s.item
		if n < 0 {
			n += len(at)
		}
		switch {
		case s.all:
			for _, inner := range at {
				followPath(inner, path[1:], add)
			}
		case s.name == "" && n >= 0 && n < len(at):
			followPath(at[n], path[1:], add)
		}
	}
}

// addDocument gives a value of a document to add: texts and numbers as they are, all else
// as JSON.
func addDocument(v any, add func(string)) {
	switch v := v.(type) {
	case nil:
	case string:
		add(v)
	case json.Number:
		add(v.String())
	default:
		if b, err := json.Marshal(v); err == nil {
			add(string(b))
		}
	}
}

// place is one step of a path in a page.
type place struct {
	// At any depth: "//".
	deep bool
	// The element in small letters, or "*".
	tag string
	// Which of the matching children of one parent, from 1; 0: each.
	nth int
	// An attribute with the value that it has to have; empty: none.
	attribute string
	value     string
	// An attribute whose value is the result; it ends the path. Empty: the text is.
	take string
}

// xmlStep matches one step of a path in a page, and predicate one condition in brackets
// behind it.
var xmlStep = lazyregexp.New(`^(//?)(?:@([A-Za-z][A-Za-z0-9_-]*)|(\*|[A-Za-z][A-Za-z0-9_-]*))((?:\[[^\]]{1,200}\])*)`)
var predicate = lazyregexp.New(`\[(?:(\d{1,4})|@([A-Za-z][A-Za-z0-9_-]*)\s*=\s*(?:"([^"]*)"|'([^']*)'))\]`)

// xmlPath reads the paths among the expressions of XPath: /html/body/div[1],
// //input[@name='x']/@value. Conditions are the number of an element or the value of an
// attribute.
func xmlPath(s string) ([]place, error) {
	fail := unsupported(fmt.Sprintf("the XPath expression %.60q", s))
	rest := strings.TrimSpace(s)
	var out []place
	for rest != "" {
		m := xmlStep.FindStringSubmatch(rest)
		if m == nil || len(out) == 50 {
			return nil, fail
		}
		rest = rest[len(m[0]):]
		p := place{deep: m[1] == "//", tag: strings.ToLower(m[3]), take: strings.ToLower(m[2])}
		if p.take != "" && (rest != "" || m[4] != "" || p.deep) {
			return nil, fail
		}
		for m[4] != "" {
			q := predicate.FindStringSubmatch(m[4])
			if q == nil || !strings.HasPrefix(m[4], q[0]) {
				return nil, fail
			}
			m[4] = m[4][len(q[0]):]
			if q[1] != "" {
				p.nth, _ = strconv.Atoi(q[1]) // digits
			} else {
				p.attribute, p.value = strings.ToLower(q[2]), q[3]+q[4]
			}
		}
		out = append(out, p)
	}
	if len(out) == 0 {
		return nil, fail
	}
	return out, nil
}

// descendPath gives the texts or attributes at the end of a path to add. An element
// counts among the children of the same parent that match, as XPath counts.
func descendPath(n *html.Node, path []place, attribute string, add func(string)) {
	if len(path) == 0 {
		if attribute != "" {
			add(attributeOf(n, attribute))
		} else {
			add(elementText(n))
		}
		return
	}
	p := path[0]
	if p.take != "" {
		add(attributeOf(n, p.take))
		return
	}
	parents := []*html.Node{n}
	if p.deep {
		for d := range n.Descendants() {
			if d.Type == html.ElementNode {
				parents = append(parents, d)
			}
		}
	}
	for _, parent := range parents {
		count := 0
		for c := range parent.ChildNodes() {
			if !p.accepts(c) {
				continue
			}
			if count++; p.nth == 0 || p.nth == count {
				descendPath(c, path[1:], attribute, add)
			}
		}
	}
}

// accepts reports whether an element has the name and the attribute of the step.
func (p *place) accepts(n *html.Node) bool {
	return n.Type == html.ElementNode && (p.tag == "*" || n.Data == p.tag) &&
		(p.attribute == "" || attributeOf(n, p.attribute) == p.value)
}

// elementText returns the text inside an element, up to a limit. Text inside of the
// elements below belongs to it, and blanks around it do not.
func elementText(n *html.Node) string {
	var b strings.Builder
	for d := range n.Descendants() {
		if d.Type == html.TextNode && b.Len() < maxText {
			b.WriteString(d.Data)
		}
	}
	return strings.TrimSpace(b.String())
}

// attributeOf returns the value of an attribute; an empty text where there is none.
func attributeOf(n *html.Node, name string) string {
	for _, a := range n.Attr {
		if strings.EqualFold(a.Key, name) {
			return a.Val
		}
	}
	return ""
}
