package crawl

import (
	"cmp"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"golang.org/x/net/html"

	"merlon/internal/engine/dast/message"
	"merlon/internal/engine/dast/site"
	"merlon/internal/lazyregexp"
)

// This file reads forms and fills them in as a user would.

// A form is an element form with the controls that belong to it (HTML 5, section
// 4.10), wherever they stand.
type form struct {
	node     *html.Node // nil: controls without a form
	controls []*html.Node
}

// control reports whether an element is one of a form.
func control(n *html.Node) bool {
	return n.Type == html.ElementNode && (n.Data == "input" || n.Data == "select" || n.Data == "textarea" || n.Data == "button")
}

// forms returns the forms of a document. Where an element form begins between the parts
// of a table, or ends with an element around it, the parser leaves it empty, and what
// follows still belongs to it (HTML 5, section 13.2.4.4: the form element pointer).
func forms(doc *html.Node) []*form {
	var out []*form
	var open *form // the last one, if it holds no control
	by := map[*html.Node]*form{}
	ids := map[string]*form{}
	for n := range doc.Descendants() {
		if n.Type == html.ElementNode && n.Data == "form" {
			f := &form{node: n}
			out, by[n] = append(out, f), f
			if id := attribute(n, "id"); id != "" {
				ids[id] = f
			}
		}
	}
	for n := range doc.Descendants() {
		if f := by[n]; f != nil {
			if open = f; slices.ContainsFunc(slices.Collect(n.Descendants()), control) {
				open = nil
			}
		}
		if !control(n) {
			continue
		}
		if f := owner(n, by, ids, open); f != nil {
			f.controls = append(f.controls, n)
		}
		if at := attribute(n, "formaction"); at != "" && len(out) == 0 {
			out = append(out, &form{controls: []*html.Node{n}})
		}
	}
	return out
}

// owner is the form that a control belongs to; nil: none.
func owner(n *html.Node, by map[*html.Node]*form, ids map[string]*form, open *form) *form {
	if id, ok := lookup(n, "form"); ok && ids[id] != nil {
		return ids[id]
	}
	for up := range n.Ancestors() {
		if f := by[up]; f != nil {
			return f
		}
	}
	return open
}

// requests returns what the form sends: once for each button that has a name or an
// address of its own, once where none has.
func (f *form) requests(base *url.URL) []*message.Request {
	var out []*message.Request
	plain := false
	for _, n := range f.controls {
		if !submits(n) {
			continue
		}
		_, own := lookup(n, "formaction")
		if attribute(n, "name") == "" && !own {
			plain = true
			continue
		}
		if r := f.request(base, n); r != nil && len(out) < 10 {
			out = append(out, r)
		}
	}
	if plain || len(out) == 0 {
		if r := f.request(base, nil); r != nil {
			out = append(out, r)
		}
	}
	for _, part := range f.parts() {
		out = append(out, part.requests(base)...)
	}
	return out
}

// parts are the form without the lists of which nothing has to be chosen, and without the
// lines in which nothing has to be typed, where it has both: a search that takes the one
// or the other does nothing with both.
func (f *form) parts() []*form {
	chosen := func(n *html.Node) bool {
		return n.Data == "select" && slices.ContainsFunc(slices.Collect(n.Descendants()), func(o *html.Node) bool {
			value, ok := lookup(o, "value")
			return o.Data == "option" && ok && value == ""
		})
	}
	typed := func(n *html.Node) bool {
		kind := strings.ToLower(attribute(n, "type"))
		return n.Data == "input" && (kind == "" || kind == "text" || kind == "search") && attribute(n, "value") == ""
	}
	var out []*form
	for _, leave := range []func(*html.Node) bool{chosen, typed} {
		part := &form{node: f.node}
		for _, n := range f.controls {
			if _, required := lookup(n, "required"); required || attribute(n, "name") == "" || !leave(n) {
				part.controls = append(part.controls, n)
			}
		}
		if len(part.controls) == len(f.controls) {
			return nil
		}
		out = append(out, part)
	}
	return out
}

// submits reports whether a control is a button that sends its form.
func submits(n *html.Node) bool {
	kind := strings.ToLower(attribute(n, "type"))
	return n.Data == "button" && (kind == "" || kind == "submit") || n.Data == "input" && (kind == "submit" || kind == "image")
}

// byScript reports whether the form is most likely sent by script: nothing else sends
// it, or script looks at it first.
func (f *form) byScript() bool {
	if f.node == nil {
		return false
	}
	_, handled := lookup(f.node, "onsubmit")
	return handled || !slices.ContainsFunc(f.controls, submits)
}

// typed returns the fields that a user types or chooses, those with a value that the
// page proposes; as they are filled in where it proposes none.
func (f *form) typed() []message.Param {
	var proposed []message.Param
	all := &form{node: f.node}
	for _, n := range f.controls {
		name, kind := attribute(n, "name"), strings.ToLower(attribute(n, "type"))
		if name == "" || n.Data == "button" || n.Data == "input" && kind != "" && kind != "text" && kind != "search" {
			continue
		}
		all.controls = append(all.controls, n)
		if value := attribute(n, "value"); n.Data == "input" && value != "" {
			proposed = append(proposed, message.Param{Name: name, Value: value})
		}
	}
	if len(proposed) > 0 {
		return proposed
	}
	params, _, _ := all.fill(nil)
	return params
}

// request fills the form in and sends it by the button.
func (f *form) request(base *url.URL, button *html.Node) *message.Request {
	action, method, enctype := "", "get", ""
	if f.node != nil {
		action, method, enctype = attribute(f.node, "action"), strings.ToLower(attribute(f.node, "method")), strings.ToLower(attribute(f.node, "enctype"))
	}
	if button != nil {
		if a, ok := lookup(button, "formaction"); ok {
			action = a
		}
		if m := attribute(button, "formmethod"); m != "" {
			method = strings.ToLower(m)
		}
		if e := attribute(button, "formenctype"); e != "" {
			enctype = strings.ToLower(e)
		}
	}
	if strings.TrimSpace(action) == "" || strings.HasPrefix(action, "#") {
		action = base.String()
	}
	r := Resolve(base, action, "form")
	if r == nil {
		return nil
	}
	params, types, file := f.fill(button)
	r.Types, r.Label = types, f.label(button)
	if method != "post" {
		if method == "dialog" {
			return nil
		}
		r.Query = params
		retype(r.Types, message.InQuery)
		return r
	}
	r.Method = http.MethodPost
	r.Body = message.Body{Kind: message.Form, Params: params}
	if strings.Contains(enctype, "multipart") || file {
		r.Body.Kind = message.Multipart
		retype(r.Types, message.InMultipart)
	} else {
		retype(r.Types, message.InForm)
	}
	return r
}

// label is what the button says, or the first that sends the form.
func (f *form) label(button *html.Node) string {
	if i := slices.IndexFunc(f.controls, submits); button == nil && i >= 0 {
		button = f.controls[i]
	}
	if button == nil {
		return ""
	}
	return cmp.Or(strings.TrimSpace(inner(button)), attribute(button, "value"), attribute(button, "title"), attribute(button, "aria-label"))
}

// retype puts the place before the names.
func retype(types map[string]string, in message.In) {
	for name, t := range types {
		delete(types, name)
		types[string(in)+":"+name] = t
	}
}

// fill returns the values that the form sends, and the types of its fields.
func (f *form) fill(button *html.Node) (params []message.Param, types map[string]string, file bool) {
	types = map[string]string{}
	radios := map[string]bool{}
	typed := 0 // fields that the page has filled in as a user would
	for _, n := range f.controls {
		name := attribute(n, "name")
		kind := strings.ToLower(attribute(n, "type"))
		if _, off := lookup(n, "disabled"); off || name == "" {
			continue
		}
		value := attribute(n, "value")
		switch {
		case n == button:
			params = append(params, message.Param{Name: name, Value: value})
			types[name] = "button"
			continue
		case n.Data == "button", kind == "submit", kind == "image", kind == "reset", kind == "button":
			continue
		case n.Data == "select":
			value = option(n)
			types[name] = "choice"
		case n.Data == "textarea":
			if value = strings.TrimSpace(inner(n)); value != "" {
				typed++
			} else {
				value = valueFor(name, "text")
			}
		case kind == "radio":
			if radios[name] {
				continue
			}
			radios[name] = true
			types[name] = "choice"
			if value == "" {
				value = "on"
			}
		case kind == "checkbox":
			types[name] = "choice"
			if value == "" {
				value = "on"
			}
		case kind == "file":
			file = true
			params = append(params, message.Param{Name: name, Value: "test\n", File: "test.txt", Type: "text/plain"})
			types[name] = "file"
			continue
		case kind == "hidden":
			types[name] = "hidden"
		case value == "" || kind == "password":
			value = valueFor(name, kind)
		case kind == "" || kind == "text" || kind == "email" || kind == "tel":
			typed++
		}
		switch kind {
		case "number", "range":
			types[name] = "number"
		case "email", "url", "password", "date", "tel":
			types[name] = kind
		}
		params = append(params, message.Param{Name: name, Value: value})
	}
	if typed > 0 {
		params = leavePasswords(params, types, typed)
	}
	keepPassword(params, types)
	return params, types, file
}

// leavePasswords empties the passwords of a form that shows somebody's account to change
// it, as one does who changes another thing of it: several fields, or several passwords,
// beside what is filled in already. One name beside one password signs in. A password
// without a confirmation is left out, so that no attack on it becomes somebody's password.
func leavePasswords(params []message.Param, types map[string]string, typed int) []message.Param {
	var passwords []int
	for i, p := range params {
		if types[p.Name] == "password" {
			passwords = append(passwords, i)
		}
	}
	if len(passwords) == 0 || typed+len(passwords) < 3 {
		return params
	}
	if len(passwords) == 1 {
		return slices.Delete(params, passwords[0], passwords[0]+1)
	}
	for _, i := range passwords {
		params[i].Value = ""
	}
	return params
}

// keepPassword makes the new password of a form that changes it differ from its
// confirmation: nobody shall be locked out, this scan neither. Such a form has two
// passwords or more and nothing that a user types beside them; one that registers does.
func keepPassword(params []message.Param, types map[string]string) {
	var passwords []int
	for i, p := range params {
		switch types[p.Name] {
		case "password":
			passwords = append(passwords, i)
		case "hidden", "button":
		default:
			return
		}
	}
	if len(passwords) > 1 {
		params[passwords[len(passwords)-1]].Value += "-other"
	}
}

// option returns the value of the selected option, else of the first that has one. What
// removes something is not chosen.
func option(n *html.Node) string {
	var firstValue, selected string
	for o := range n.Descendants() {
		if o.Type != html.ElementNode || o.Data != "option" {
			continue
		}
		value, ok := lookup(o, "value")
		if !ok {
			value = strings.TrimSpace(inner(o))
		}
		if site.Removal(value) || site.Removal(inner(o)) {
			continue
		}
		if _, on := lookup(o, "selected"); on && selected == "" {
			selected = value
		}
		if firstValue == "" {
			firstValue = value
		}
	}
	if selected != "" {
		return selected
	}
	return firstValue
}

func inner(n *html.Node) string {
	var b strings.Builder
	for d := range n.Descendants() {
		if d.Type == html.TextNode {
			b.WriteString(d.Data)
		}
	}
	return b.String()
}

// values are what a user might enter, by words in the name of a field.
var values = []struct {
	name  *lazyregexp.Regexp
	value string
}{
	{lazyregexp.New(`(?i)e?-?mail`), "jane.roe@example.com"},
	{lazyregexp.New(`(?i)url|website|homepage|link|uri`), "https://www.example.com/"},
	{lazyregexp.New(`(?i)pass(word|wd)?|pwd|secret`), "Merl0n!Scan"},
	{lazyregexp.New(`(?i)phone|tel|mobile|fax`), "+15555550123"},
	{lazyregexp.New(`(?i)zip|postal|plz`), "10115"},
	{lazyregexp.New(`(?i)date|birth|dob`), "2001-02-03"},
	{lazyregexp.New(`(?i)year`), "2001"},
	{lazyregexp.New(`(?i)month|day|hour|minute`), "3"},
	{lazyregexp.New(`(?i)age|count|number|num|qty|quantity|amount|price|size|limit|offset|page|(^|_|-)id$|Id$`), "1"},
	{lazyregexp.New(`(?i)(first|last|full|sur|real|display)[-_ ]?name`), "Jane"},
	{lazyregexp.New(`(?i)user|login|account|nick`), "janeroe"},
	{lazyregexp.New(`(?i)city|town`), "Berlin"},
	{lazyregexp.New(`(?i)country`), "DE"},
	{lazyregexp.New(`(?i)(^|_)(ip|addr)(_|$)|host|address_?ip`), "127.0.0.1"},
	{lazyregexp.New(`(?i)color|colour`), "#336699"},
	{lazyregexp.New(`(?i)lang|locale`), "en"},
}

// valueFor returns a plausible value of a field.
func valueFor(name, kind string) string {
	switch kind {
	case "email":
		return "jane.roe@example.com"
	case "url":
		return "https://www.example.com/"
	case "number", "range":
		return "1"
	case "date":
		return "2001-02-03"
	case "datetime-local":
		return "2001-02-03T04:05"
	case "time":
		return "04:05"
	case "month":
		return "2001-02"
	case "week":
		return "2001-W05"
	case "color":
		return "#336699"
	case "tel":
		return "+15555550123"
	case "password":
		return "Merl0n!Scan"
	}
	for _, v := range values {
		if v.name.MatchString(name) {
			return v.value
		}
	}
	return "test"
}
