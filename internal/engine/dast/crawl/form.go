package crawl

import (
	"cmp"
	"iter"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"golang.org/x/net/html"

	"merlon/internal/engine/dast/formvalue"
	"merlon/internal/engine/dast/message"
	"merlon/internal/engine/dast/sitemap"
	"merlon/internal/lazyregexp"
)

// This file reads forms and fills them in as a user would.

// A form is an element form with the controls that belong to it (HTML 5, section
// 4.10), wherever they stand.
type form struct {
	node     *html.Node // nil: controls without a form
	controls []*html.Node
	values   *formvalue.Generator
}

// isControl reports whether an element is one of a form.
func isControl(n *html.Node) bool {
	return n.Type == html.ElementNode && (n.Data == "input" || n.Data == "select" || n.Data == "textarea" ||
		n.Data == "button")
}

// formsOf returns the forms of a document. Where an element form begins between the parts
// of a table, or ends with an element around it, the parser leaves it empty, and what
// follows still belongs to it (HTML 5, section 13.2.4.4: the form element pointer).
func formsOf(doc *html.Node) []*form {
	var out []*form
	var open *form // the last one, if it holds no control
	by := map[*html.Node]*form{}
	ids := map[string]*form{}
	for n := range doc.Descendants() {
		if n.Type == html.ElementNode && n.Data == "form" {
			f := &form{node: n}
			out, by[n] = append(out, f), f
			if id := attributeValue(n, "id"); id != "" {
				ids[id] = f
			}
		}
	}
	for n := range doc.Descendants() {
		if f := by[n]; f != nil {
			if open = f; slices.ContainsFunc(slices.Collect(n.Descendants()), isControl) {
				open = nil
			}
		}
		if !isControl(n) {
			continue
		}
		if f := owningForm(n, by, ids, open); f != nil {
			f.controls = append(f.controls, n)
		}
		if at := attributeValue(n, "formaction"); at != "" && len(out) == 0 {
			out = append(out, &form{controls: []*html.Node{n}})
		}
	}
	return out
}

// owningForm is the form that a control belongs to; nil: none.
func owningForm(n *html.Node, by map[*html.Node]*form, ids map[string]*form, open *form) *form {
	if id, ok := lookupAttribute(n, "form"); ok && ids[id] != nil {
		return ids[id]
	}
	for up := range n.Ancestors() {
		if f := by[up]; f != nil {
			return f
		}
	}
	return open
}

// submitRequests returns what the form sends: once for each button that has a name or
// an address of its own, once where none has. Buttons with names tell the server what
// to do.
func (f *form) submitRequests(base *url.URL) []*message.Request {
	var out []*message.Request
	plain := false
	for _, n := range f.controls {
		if !isSubmitButton(n) {
			continue
		}
		_, own := lookupAttribute(n, "formaction")
		if attributeValue(n, "name") == "" && !own {
			plain = true
			continue
		}
		if r := f.fillAndSubmit(base, n); r != nil && len(out) < 10 {
			out = append(out, r)
		}
	}
	if plain || len(out) == 0 {
		if r := f.fillAndSubmit(base, nil); r != nil {
			out = append(out, r)
		}
	}
	for _, part := range f.splitParts() {
		out = append(out, part.submitRequests(base)...)
	}
	return out
}

// splitParts are the form without the lists of which nothing has to be chosen, and without the
// lines in which nothing has to be typed, where it has both: a search that takes the one
// or the other does nothing with both.
func (f *form) splitParts() []*form {
	var out []*form
	for _, leave := range []func(*html.Node) bool{isOptionalList, isEmptyLine} {
		part := &form{node: f.node, values: f.values}
		for _, n := range f.controls {
			if _, required := lookupAttribute(n, "required"); required || attributeValue(n, "name") == "" || !leave(n) {
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

// isOptionalList reports whether nothing has to be chosen of a list: it has an empty value.
func isOptionalList(n *html.Node) bool {
	return n.Data == "select" && slices.ContainsFunc(slices.Collect(n.Descendants()), func(o *html.Node) bool {
		value, ok := lookupAttribute(o, "value")
		return o.Data == "option" && ok && value == ""
	})
}

// isEmptyLine reports whether a control is a line of text without a value.
func isEmptyLine(n *html.Node) bool {
	kind := strings.ToLower(attributeValue(n, "type"))
	return n.Data == "input" && (kind == "" || kind == "text" || kind == "search") && attributeValue(n, "value") == ""
}

// isSubmitButton reports whether a control is a button that sends its form.
func isSubmitButton(n *html.Node) bool {
	kind := strings.ToLower(attributeValue(n, "type"))
	return n.Data == "button" && (kind == "" || kind == "submit") || n.Data == "input" &&
		(kind == "submit" || kind == "image")
}

// isSentByScript reports whether the form is most likely sent by script: nothing else sends
// it, or script looks at it first.
func (f *form) isSentByScript() bool {
	if f.node == nil {
		return false
	}
	_, handled := lookupAttribute(f.node, "onsubmit")
	return handled || !slices.ContainsFunc(f.controls, isSubmitButton)
}

// typedFields returns the fields that a user types or chooses, those with a value that
// the page proposes; as they are filled in where it proposes none. A value that the
// page proposes is accepted more likely than one that is made up.
func (f *form) typedFields() []message.Param {
	var proposed []message.Param
	all := &form{node: f.node, values: f.values}
	for _, n := range f.controls {
		name, kind := attributeValue(n, "name"), strings.ToLower(attributeValue(n, "type"))
		if name == "" || n.Data == "button" || n.Data == "input" && kind != "" && kind != "text" && kind != "search" {
			continue
		}
		all.controls = append(all.controls, n)
		if value := attributeValue(n, "value"); n.Data == "input" && value != "" {
			proposed = append(proposed, message.Param{Name: name, Value: value})
		}
	}
	if len(proposed) > 0 {
		return proposed
	}
	return all.fillForm(nil, filling{values: f.values}).params
}

// fillAndSubmit fills the form in and sends it by the button. The button's attributes
// override those of the form (HTML, section 4.10.18.6).
func (f *form) fillAndSubmit(base *url.URL, button *html.Node) *message.Request {
	action, method, enctype := "", "get", ""
	if f.node != nil {
		action, method, enctype = attributeValue(f.node, "action"), strings.ToLower(attributeValue(f.node, "method")),
			strings.ToLower(attributeValue(f.node, "enctype"))
	}
	if button != nil {
		if a, ok := lookupAttribute(button, "formaction"); ok {
			action = a
		}
		if m := attributeValue(button, "formmethod"); m != "" {
			method = strings.ToLower(m)
		}
		if e := attributeValue(button, "formenctype"); e != "" {
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
	filled := f.fillForm(button, filling{values: f.values, of: r.Location(), stores: method == "post"})
	r.Types, r.Label, r.Shown, r.Choices = filled.types, f.buttonLabel(button), filled.shown, filled.choices
	if method != "post" {
		if method == "dialog" {
			return nil
		}
		r.Query = filled.params
		qualifyTypes(r.Types, message.InQuery)
		qualifyTypes(r.Choices, message.InQuery)
		return r
	}
	r.Method = http.MethodPost
	r.Body = message.Body{Kind: message.Form, Params: filled.params}
	if strings.Contains(enctype, "multipart") || filled.file {
		r.Body.Kind = message.Multipart
		qualifyTypes(r.Types, message.InMultipart)
		qualifyTypes(r.Choices, message.InMultipart)
	} else {
		qualifyTypes(r.Types, message.InForm)
		qualifyTypes(r.Choices, message.InForm)
	}
	return r
}

// buttonLabel is what the button says, or the first that sends the form.
func (f *form) buttonLabel(button *html.Node) string {
	if i := slices.IndexFunc(f.controls, isSubmitButton); button == nil && i >= 0 {
		button = f.controls[i]
	}
	if button == nil {
		return ""
	}
	return cmp.Or(strings.TrimSpace(Text(button)), attributeValue(button, "value"), attributeValue(button, "title"),
		attributeValue(button, "aria-label"))
}

// qualifyTypes puts the place before the names.
func qualifyTypes[T any](types map[string]T, in message.In) {
	for _, name := range slices.Collect(maps.Keys(types)) {
		types[string(in)+":"+name] = types[name]
		delete(types, name)
	}
}

// alternativeChoices are, by the names of lists and of groups of radio buttons, the values beside the one
// that is chosen.
func (f *form) alternativeChoices(params []message.Param) map[string][]string {
	chosen, out := map[string]string{}, map[string][]string{}
	for _, p := range params {
		chosen[p.Name] = p.Value
	}
	add := func(name, value, text string) {
		usual, sent := chosen[name]
		if sent && value != "" && value != usual && len(out[name]) < maxListed && !slices.Contains(out[name], value) &&
			isHarmlessOption(value, text) {
			out[name] = append(out[name], value)
		}
	}
	for _, n := range f.controls {
		name := attributeValue(n, "name")
		switch _, off := lookupAttribute(n, "disabled"); {
		case off || name == "":
		case n.Data == "select":
			for value, o := range optionsOf(n) {
				add(name, value, Text(o))
			}
		case n.Data == "input" && strings.EqualFold(attributeValue(n, "type"), "radio"):
			add(name, attributeValue(n, "value"), "")
		}
	}
	return out
}

// isHarmlessOption reports whether neither the value nor the text of an option says that
// choosing it removes something or ends the session.
func isHarmlessOption(value, text string) bool {
	return !sitemap.IsDangerous(text) && !sitemap.IsRemovalLabel(text) && !sitemap.IsRemovalLabel(value)
}

// optionsOf yields the options of a list with their values; one without is its text.
func optionsOf(list *html.Node) iter.Seq2[string, *html.Node] {
	return func(yield func(string, *html.Node) bool) {
		for o := range list.Descendants() {
			if o.Type != html.ElementNode || o.Data != "option" {
				continue
			}
			value, ok := lookupAttribute(o, "value")
			if !ok {
				value = strings.TrimSpace(Text(o))
			}
			if !yield(value, o) {
				return
			}
		}
	}
}

// maxListed bounds the values of a list that are kept.
const maxListed = 8

// A filling says how a form is filled in.
type filling struct {
	values *formvalue.Generator
	of     string // what the form is sent to: passwords of one form are the same
	stores bool   // it may store what is typed, which then carries the scan's mark
}

// filled is a form that is filled in.
type filled struct {
	params  []message.Param
	types   map[string]string   // of the fields
	choices map[string][]string // of lists, see message.Request.Choices
	shown   []string            // fields that a user may change, with the values of the page
	file    bool
}

// A submission is a form while its controls are filled in.
type submission struct {
	filled
	with   filling
	button *html.Node
	radios map[string]*html.Node // those that are chosen, by name
	boxes  map[string]*html.Node // of those that are ticked, one for each name
	typed  int                   // fields that the page has filled in as a user would
}

// fillForm returns what the form sends. Disabled controls send nothing.
func (f *form) fillForm(button *html.Node, with filling) filled {
	s := &submission{with: with, button: button, radios: f.checkedControls("radio"),
		boxes: f.checkedControls("checkbox"), filled: filled{types: map[string]string{}}}
	for _, n := range f.controls {
		name := attributeValue(n, "name")
		if _, off := lookupAttribute(n, "disabled"); !off && name != "" {
			s.fillControl(n, name, strings.ToLower(attributeValue(n, "type")))
		}
	}
	if s.typed > 0 {
		s.params = leavePasswords(s.params, s.types, s.typed)
	}
	keepPassword(s.params, s.types)
	s.choices = f.alternativeChoices(s.params)
	return s.filled
}

// fillControl adds what a control with a name sends, if it sends something. The type of
// the field goes with the parameter, since it says how the value may be changed.
func (s *submission) fillControl(n *html.Node, name, kind string) {
	value := attributeValue(n, "value")
	switch {
	case n == s.button:
		s.addParam(name, value, "button")
		return
	case n.Data == "button", kind == "submit", kind == "image", kind == "reset", kind == "button":
		return
	case n.Data == "select":
		value = selectedOption(n)
		s.types[name] = "choice"
	case n.Data == "textarea":
		if value = strings.TrimSpace(Text(n)); value != "" {
			s.typed++
			s.shown = append(s.shown, name)
		} else {
			value = s.with.valueOf(name, "text")
		}
	case kind == "radio" || kind == "checkbox":
		if !s.isTicked(n, name, kind) {
			return
		}
		s.types[name] = "choice"
		value = cmp.Or(value, "on")
	case kind == "file":
		s.file = true
		s.params = append(s.params, message.Param{Name: name, Value: s.with.values.Mark() + "\n",
			File: s.with.values.Mark() + ".txt", Type: "text/plain"})
		s.types[name] = "file"
		return
	default:
		value = s.fillInput(name, kind, value)
	}
	switch kind {
	case "number", "range":
		s.addParam(name, value, "number")
	case "email", "url", "password", "date", "tel":
		s.addParam(name, value, kind)
	default:
		s.params = append(s.params, message.Param{Name: name, Value: value})
	}
}

// addParam adds a value with the type of its field.
func (s *submission) addParam(name, value, kind string) {
	s.params = append(s.params, message.Param{Name: name, Value: value})
	s.types[name] = kind
}

// isTicked reports whether a radio button or a box is sent: of radio buttons one of each name, of
// boxes all, but only those that the page has ticked where the form stores something: another
// box may give rights, or switch something on.
func (s *submission) isTicked(n *html.Node, name, kind string) bool {
	if kind == "radio" {
		if chosen := s.radios[name]; chosen != n && chosen != nil {
			return false
		}
		s.radios[name] = n
		return true
	}
	if !s.with.stores || isConsentBox(n) {
		return true
	}
	_, on := lookupAttribute(n, "checked")
	return on && s.boxes[name] != nil
}

// fillInput returns the value of an input that a user types in, or that is hidden.
func (s *submission) fillInput(name, kind, value string) string {
	switch {
	case kind == "hidden":
		s.types[name] = "hidden"
	case value == "" || kind == "password":
		return s.with.valueOf(name, kind)
	case kind == "" || kind == "text" || kind == "email" || kind == "tel":
		s.typed++
		s.shown = append(s.shown, name)
	case kind == "url" || kind == "number" || kind == "date" || kind == "time" || kind == "color":
		s.shown = append(s.shown, name)
	}
	return value
}

// checkedControls returns, by name, the controls of a type that the page has ticked.
func (f *form) checkedControls(kind string) map[string]*html.Node {
	out := map[string]*html.Node{}
	for _, n := range f.controls {
		if _, on := lookupAttribute(n, "checked"); on && strings.EqualFold(attributeValue(n, "type"), kind) &&
			out[attributeValue(n, "name")] == nil {
			out[attributeValue(n, "name")] = n
		}
	}
	return out
}

// isConsentBox reports whether a box has to be ticked for the form to be taken.
func isConsentBox(n *html.Node) bool {
	_, required := lookupAttribute(n, "required")
	return required || agreement.MatchString(attributeValue(n, "name"))
}

// agreement matches boxes that agree to something, in the languages of the targets that
// were measured.
var agreement = lazyregexp.New(`(?i)agree|accept|terms|consent|tos$|privacy|agb|datenschutz|conditions|accepte`)

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

// selectedOption returns the value of the selected option, else of the first that has one. What
// removes something is not chosen.
func selectedOption(n *html.Node) string {
	var firstValue, selected string
	for value, o := range optionsOf(n) {
		if sitemap.IsRemovalLabel(value) || sitemap.IsRemovalLabel(Text(o)) {
			continue
		}
		if _, on := lookupAttribute(o, "selected"); on && selected == "" {
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

// Text returns the text inside an element.
func Text(n *html.Node) string {
	var b strings.Builder
	for d := range n.Descendants() {
		if d.Type == html.TextNode {
			b.WriteString(d.Data)
		}
	}
	return b.String()
}

// fieldSamples are what a user might enter, by words in the name of a field: a value, or the
// type of a field that has it.
var fieldSamples = []struct {
	name        *lazyregexp.Regexp
	kind, value string
}{
	{lazyregexp.New(`(?i)e?-?mail`), "email", ""},
	{lazyregexp.New(`(?i)url|website|homepage|link|uri`), "url", ""},
	{lazyregexp.New(`(?i)pass(word|wd)?|pwd|secret`), "password", ""},
	{lazyregexp.New(`(?i)phone|tel|mobile|fax`), "tel", ""},
	{lazyregexp.New(`(?i)zip|postal|plz`), "", "10115"},
	{lazyregexp.New(`(?i)date|birth|dob`), "date", ""},
	{lazyregexp.New(`(?i)year`), "", "2001"},
	{lazyregexp.New(`(?i)month|day|hour|minute`), "", "3"},
	{lazyregexp.New(`(?i)age|count|number|num|qty|quantity|amount|price|size|limit|offset|page|(^|_|-)id$|Id$`), "",
		"1"},
	{lazyregexp.New(`(?i)(first|last|full|sur|real|display)[-_ ]?name`), "", "Jane"},
	{lazyregexp.New(`(?i)user|login|account|nick`), "user", ""},
	{lazyregexp.New(`(?i)city|town`), "", "Berlin"},
	{lazyregexp.New(`(?i)country`), "", "DE"},
	{lazyregexp.New(`(?i)(^|_)(ip|addr)(_|$)|address_?ip`), "", "192.0.2.1"},
	{lazyregexp.New(`(?i)host|domain|server`), "host", ""},
	{lazyregexp.New(`(?i)color|colour`), "color", ""},
	{lazyregexp.New(`(?i)lang|locale`), "", "en"},
}

// typeSamples are values of the types of fields.
var typeSamples = map[string]string{"number": "1", "range": "1", "date": "2001-02-03", "datetime-local": "2001-02-03T04:05",
	"time":  "04:05",
	"month": "2001-02", "week": "2001-W05", "color": "#336699", "tel": "+15555550123"}

// valueOf returns a plausible value of a field. The type of the field decides, then its
// name, then whether the value is found again.
func (f filling) valueOf(name, kind string) string {
	if value, known := f.valueOfType(kind); known {
		return value
	}
	for _, s := range fieldSamples {
		if s.name.MatchString(name) {
			value, _ := f.valueOfType(s.kind)
			return cmp.Or(s.value, value)
		}
	}
	if f.stores {
		return f.values.Mark()
	}
	return "test"
}

// valueOfType returns the value of a field of a type.
func (f filling) valueOfType(kind string) (string, bool) {
	switch kind {
	case "email":
		return f.values.Email(), true
	case "url":
		return f.values.URL(), true
	case "host":
		return f.values.Host(), true
	case "password":
		return f.values.Password(f.of), true
	case "user":
		return f.values.Mark(), true
	}
	value, known := typeSamples[kind]
	return value, known
}
