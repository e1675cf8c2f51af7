// Package sideeffect judges what an operation does before it is asked: whether it reads, signs
// in, creates an object, changes what was there before, settings, accounts or credentials,
// sends messages, moves money, removes something or ends the session. It reads the method,
// the path, the names of parameters, the fields of the form with their types and what the
// page filled in, the button, and the description. A Guard then holds a scan to what its
// profile may do, and lists what was created.
//
// The words are those of English, German, French, Spanish, Italian and Portuguese
// interfaces (words.go). Where nothing tells, an operation that may store something counts
// as one that creates, and the first answer shows whether it does (guard.go).
package sideeffect

import (
	"net/http"
	"path"
	"slices"
	"strconv"
	"strings"

	"merlon/internal/engine/dast/message"
	"merlon/internal/engine/dast/sitemap"
)

// An Operation is what is known of an operation before it is requested.
type Operation struct {
	Request *message.Request
	// Signed says that the scan acts as a user: a form with values then shows what belongs to
	// somebody, while an open page may propose values for what it computes.
	Signed bool
	// Mark is the scan's own; a form that shows it edits an object of the scan.
	Mark string
	// About is the summary of the operation in its description.
	About string
}

// Classify judges an operation.
func Classify(s Operation) message.Effect {
	r := s.Request
	switch {
	case sitemap.EndsSession(r):
		return message.Ends
	// Before the words: "delete" on the page of an object of the scan is allowed.
	case s.editsOwnObject():
		return message.Owned
	case !isUnsafeMethod(r.Method):
		return s.classifyLink()
	case sitemap.IsDelete(r) || r.Method == http.MethodDelete || slices.ContainsFunc(r.Body.Params, saysRemoval):
		return message.Removes
	}
	said := s.collectWords()
	if s.signsIn(said) {
		return message.SignsIn
	}
	if e := said.worstEffect(); e != "" {
		return e
	}
	switch {
	case s.takesPasswordOrRights():
		return message.Accounts
	case s.installsSoftware():
		return message.Settings
	case r.Method == http.MethodPut || r.Method == http.MethodPatch:
		return message.Changes
	case said.hasAny(asking):
		return message.Reads
	}
	return s.classifyForm(said)
}

// saysRemoval reports whether a parameter names a removal as its action: action=delete.
func saysRemoval(p message.Param) bool {
	return isActionParameter(p.Name) && anyIn(wordsOf(p.Value), removing)
}

// signsIn reports whether the operation signs in or recovers a password: its words say so,
// or it takes who somebody is with a password and makes nothing of it.
func (s Operation) signsIn(said said) bool {
	return sitemap.IsPasswordRecovery(s.Request.Path) || said.saysSignIn() && !said.hasAny(register) ||
		s.asksWho() && !said.hasAny(making) && !said.hasAny(accounts)
}

// isUnsafeMethod reports whether a method may change something (RFC 9110, section 9.2.1).
func isUnsafeMethod(method string) bool {
	switch method {
	case http.MethodGet, http.MethodHead, http.MethodOptions, http.MethodTrace, "QUERY":
		return false
	}
	return true
}

// editsOwnObject reports whether the page filled the form in with values of the scan: it edits what
// the scan has made, unless it names other things too.
func (s Operation) editsOwnObject() bool {
	if s.Mark == "" || len(s.Request.Shown) == 0 {
		return false
	}
	return slices.ContainsFunc(s.Request.Body.Params, func(p message.Param) bool {
		return slices.Contains(s.Request.Shown, p.Name) && strings.Contains(p.Value, s.Mark)
	})
}

// classifyLink judges a request that should change nothing. Many applications change something by a
// link all the same: its path or its parameters then say what it does, or it carries the
// token against forgery that such a request needs.
func (s Operation) classifyLink() message.Effect {
	r := s.Request
	if files[strings.ToLower(path.Ext(r.Path))] {
		return message.Reads
	}
	words := wordsOf(r.Path[strings.LastIndexByte(strings.TrimRight(r.Path, "/"), '/')+1:])
	form := strings.HasPrefix(r.Origin, "form")
	if form && anyIn(wordsOf(r.Label), saving) {
		return message.Changes
	}
	for _, p := range r.Query {
		switch {
		case anyIn(wordsOf(p.Name), removing):
			return message.Removes
		case form && isSavingButton(r, p), isForgeryToken(r, p):
			return message.Changes
		}
		if p.Bare || len(p.Value) <= maxToken && isActionParameter(p.Name) {
			words = append(words, wordsOf(p.Value)...)
		}
		if p.Bare {
			words = append(words, wordsOf(p.Name)...)
		}
	}
	if anyIn(words, links) {
		return message.Changes
	}
	return message.Reads
}

// isSavingButton reports whether a parameter is a button that says that it saves.
func isSavingButton(r *message.Request, p message.Param) bool {
	return typeOf(r, p.Name) == "button" && anyIn(slices.Concat(wordsOf(p.Name), wordsOf(p.Value)), saving)
}

// isForgeryToken reports whether a link carries a token against forgery. A parameter called
// token alone is what a link of a mail has.
func isForgeryToken(r *message.Request, p message.Param) bool {
	name := strings.ToLower(p.Name)
	return tokens[name] && len(p.Value) >= minSecret && r.Origin != "form" && (name != "token" || len(r.Query) > 1)
}

// anyIn reports whether one of the words is in a set.
func anyIn(words []string, set map[string]bool) bool {
	return slices.ContainsFunc(words, func(w string) bool { return set[w] })
}

const (
	// maxToken bounds the bytes of a value that names an action: do=delete.
	maxToken = 20 // bytes of a value that says what to do
	// minSecret is the length from which on a value is a token against forgery.
	minSecret = 8 // of a token against forgery
)

// isActionParameter reports whether a parameter says what to do.
func isActionParameter(name string) bool {
	switch strings.ToLower(name) {
	case "action", "act", "do", "op", "cmd", "command", "task", "method", "fn", "func", "function", "event",
		"operation", "mode", "a", "verb":
		return true
	}
	return false
}

// A said contains the words by which an operation says what it does.
type said struct {
	// The words of the last two segments of the path that are no identifiers.
	path []string
	// All words, also those of the button, of values that name an action, and of the description.
	words []string
	// The words of the button that sends the form.
	label []string
	// How many of the words are those of a folder, which says less than the last segment.
	folder int
	// The path ends with an identifier.
	open bool
}

// collectWords collects them.
func (s Operation) collectWords() said {
	r := s.Request
	var out said
	segments := strings.Split(strings.Trim(sitemap.PathShape(r), "/"), "/")
	var last []string
	for _, segment := range segments {
		if segment == "" || strings.Contains(segment, "{") || versions[strings.ToLower(segment)] {
			continue
		}
		last = append(last, segment)
	}
	out.open = len(segments) > 0 && strings.Contains(segments[len(segments)-1], "{")
	for i, segment := range last[max(0, len(last)-2):] {
		if i == 1 {
			out.folder = len(out.path)
		}
		out.path = append(out.path, wordsOf(segment)...)
	}
	out.label = wordsOf(r.Label)
	out.words = slices.Concat(out.path, out.label, wordsOf(r.ID), wordsOf(firstSentence(s.About)))
	for _, p := range slices.Concat(r.Query, r.Body.Params) {
		switch kind := typeOf(r, p.Name); {
		case kind == "button":
			out.words = append(out.words, slices.Concat(wordsOf(p.Name), wordsOf(p.Value))...)
		case isActionParameter(p.Name) && len(p.Value) <= 2*maxToken, kind == "hidden" && len(p.Value) <= maxToken &&
			!slices.Contains(r.Shown, p.Name):
			out.words = append(out.words, wordsOf(p.Value)...)
		}
	}
	out.words = append(out.words, wordsOf(sitemap.PageKey(r))...)
	return out
}

// firstSentence returns the first sentence of a description, at most 80 bytes: later ones describe
// details.
func firstSentence(about string) string {
	if i := strings.IndexAny(about, ".\n"); i >= 0 {
		about = about[:i]
	}
	return about[:min(len(about), 80)]
}

// typeOf returns the type of a field or a parameter by its name; empty: unknown.
func typeOf(r *message.Request, name string) string {
	for _, in := range []message.In{message.InForm, message.InMultipart, message.InQuery} {
		if t := r.Types[string(in)+":"+name]; t != "" {
			return t
		}
	}
	return ""
}

// hasAny reports whether one of the words is in the set.
func (s said) hasAny(words map[string]bool) bool { return anyIn(s.words, words) }

// saysSignIn reports whether the words say that it signs in. A folder named so, as in
// /admin/auth/users, says nothing of what is in it.
func (s said) saysSignIn() bool {
	return anyIn(s.words[s.folder:], signIn)
}

// worstEffect returns the most restricted effect that the words name; empty: they name none.
func (s said) worstEffect() message.Effect {
	if s.hasAny(register) {
		return message.Creates
	}
	for _, kind := range []struct {
		words  map[string]bool
		effect message.Effect
	}{{money, message.Money}, {sending, message.Messages}, {settings, message.Settings}, {altering, message.Changes},
		{structure, message.Changes}} {
		if s.hasAny(kind.words) {
			return kind.effect
		}
	}
	// What is below an account, such as its comments, is another thing.
	if anyIn(s.path[max(0, len(s.path)-3):], accounts) && !s.hasAny(asking) {
		return message.Accounts
	}
	if s.open && s.hasAny(making) {
		return message.Changes
	}
	return ""
}

// fieldNames are those of all fields and properties.
func (s Operation) fieldNames() []string {
	var out []string
	for _, p := range s.Request.Points() {
		switch p.In {
		case message.InForm, message.InMultipart, message.InJSON, message.InXML:
			out = append(out, strings.ToLower(p.Name[strings.LastIndexAny(p.Name, "/[.")+1:]))
		}
	}
	return out
}

// asksWho reports whether the operation takes who somebody is with one password, and little
// else: it signs in.
func (s Operation) asksWho() bool {
	passwords, others, typed := 0, 0, 0
	for _, p := range s.Request.Points() {
		switch p.In {
		case message.InForm, message.InMultipart, message.InJSON:
		default:
			continue
		}
		switch {
		case p.Type == "hidden" || p.Type == "button":
		case p.Type == "password" || sitemap.IsPassword(p.Name):
			passwords++
		case p.Type == "choice" || p.Type == "boolean":
			others++
		default:
			typed++
		}
	}
	return passwords == 1 && typed == 1 && others <= 1 && len(s.Request.Shown) == 0
}

// takesPasswordOrRights reports whether the operation takes a password or a privilege.
func (s Operation) takesPasswordOrRights() bool {
	for _, name := range s.fieldNames() {
		if sitemap.IsPassword(name) || IsPrivilegeField(name) {
			return true
		}
	}
	return slices.ContainsFunc(s.Request.Points(), func(p message.Point) bool {
		return p.Type == "password" && p.Value != ""
	})
}

// installsSoftware reports whether the operation takes the name of a piece of software: the application
// fetches it from elsewhere, and runs it.
func (s Operation) installsSoftware() bool {
	return slices.ContainsFunc(s.Request.Points(), func(p message.Point) bool {
		switch p.In {
		case message.InForm, message.InMultipart, message.InJSON:
			return p.Type != "hidden" && p.Type != "button" && software[strings.ToLower(strings.Trim(p.Name, "/"))]
		}
		return false
	})
}

// replacesObjects reports whether a page sends a list of objects with their identifiers: it stores what
// it has shown.
func (s Operation) replacesObjects() bool {
	return s.Signed && s.Request.Origin == "browser" &&
		slices.ContainsFunc(s.Request.Points(), func(p message.Point) bool {
			names := strings.Split(p.Name, "/")
			if p.In != message.InJSON || len(names) < 2 || p.Value == "" {
				return false
			}
			_, err := strconv.Atoi(names[len(names)-2])
			return err == nil && slices.Contains([]string{"id", "_id", "uuid", "guid"},
				strings.ToLower(names[len(names)-1]))
		})
}

// IsPurchase reports whether a path names a list of orders: an order that can be deleted again is
// an object like others.
func IsPurchase(path string) bool {
	switch words := wordsOf(path[strings.LastIndexByte(strings.TrimRight(path, "/"), '/')+1:]); strings.Join(words,
		" ") {
	case "order", "orders":
		return true
	}
	return false
}

// IsPrivilegeField reports whether a field or property says what somebody may do, or pointers to one.
func IsPrivilegeField(name string) bool {
	name = name[strings.LastIndexAny(name, "/[.")+1:]
	return rights[strings.NewReplacer("_", "", "-", "", "]", "").Replace(strings.ToLower(name))]
}

// classifyForm judges a form, or data, whose words say nothing.
func (s Operation) classifyForm(said said) message.Effect {
	r := s.Request
	if s.replacesObjects() {
		return message.Changes
	}
	if r.Body.Kind != message.Form && r.Body.Kind != message.Multipart {
		return message.Creates
	}
	typed, chosen, token := countFields(r)
	switch {
	case len(r.Shown) > 0 && (s.Signed || token):
		return message.Changes
	case s.Signed && typed == 0 && strings.HasPrefix(r.Origin, "form"):
		return message.Changes
	case s.Signed && chosen >= maxChosen && (!said.hasAny(making) || anyIn(wordsOf(r.Path), administering)):
		return message.Settings
	case s.Signed && s.savesExisting(said):
		return message.Changes
	}
	return message.Creates
}

// countFields counts the fields that a user types in and those that he chooses, and reports
// whether the form has a token against forgery, which only a form that changes something
// needs.
func countFields(r *message.Request) (typed, chosen int, token bool) {
	for _, p := range r.Points() {
		switch {
		case p.In != message.InForm && p.In != message.InMultipart:
		case p.Type == "hidden":
			token = token || len(p.Value) >= minSecret && forgery.MatchString(p.Name)
		case p.Type == "button":
		case p.Type == "choice":
			chosen++
		default:
			typed++
		}
	}
	return typed, chosen, token
}

// savesExisting reports whether a form stores what it shows in an object that it names: its button
// says so, and a hidden field or the address has the identifier. What it shows may be empty.
func (s Operation) savesExisting(said said) bool {
	r := s.Request
	// as buttons are named
	makes := slices.ContainsFunc(said.words, func(w string) bool { return making[w] && w != "submit" })
	if makes || !said.hasAny(saving) {
		return false
	}
	return said.open || slices.ContainsFunc(slices.Concat(r.Query, r.Body.Params), func(p message.Param) bool {
		typed := r.Types["form:"+p.Name] != "hidden" && r.Types["multipart:"+p.Name] != "hidden"
		inBody := !slices.ContainsFunc(r.Query, func(q message.Param) bool { return q.Name == p.Name })
		return !(inBody && typed) && strings.HasSuffix(strings.ToLower(p.Name), "id") &&
			message.LooksLikeIdentifier(p.Value) &&
			strings.Trim(p.Value, "0") != ""
	})
}

// maxChosen is how many things a form lets a user choose that creates something.
const maxChosen = 3

// Explain says why a profile below full does not ask for an operation; empty: it does.
func Explain(e message.Effect) string {
	switch {
	case e == message.Ends:
		return "not asked: it " + string(e)
	case e.Restricted():
		return "not attacked because it " + string(e) + ": the profile full does"
	}
	return ""
}
