package authz

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"

	"merlon/internal/engine/api/describe"
	"merlon/internal/engine/dast/attack"
	"merlon/internal/engine/dast/message"
	"merlon/internal/engine/dast/site"
	"merlon/internal/engine/dast/traffic"
	"merlon/internal/lazyregexp"
)

// This file examines objects: who sees and changes what one user has made.

// An object is something that the examination has made.
type object struct {
	of     *Operation // that made it
	as     *User
	words  map[string]string // random values that it was made with, by property: nobody else knows them
	sent   map[string]any
	answer *message.Response
	id     any // by which paths name it; nil: that is not known
	gone   bool
	within []*object // what its path names, in that order
	// private says why it is its owner's alone; empty: that is not known.
	private string
}

// maxObjects bounds the kinds of objects that are examined.
const maxObjects = 40

// fresh returns random words for the free texts of an object.
func (e *examination) fresh(words map[string]string) func(in, name string, s *describe.Schema) (any, bool) {
	return func(in, name string, s *describe.Schema) (any, bool) {
		free := in == "body" && len(s.Enum) == 0 && s.Format == "" && s.Pattern == "" && (len(s.Types) == 0 && len(s.Properties) == 0 && s.Items == nil || s.Is("string")) && (s.MaxLength < 0 || s.MaxLength >= 8)
		if n := plain(name); !free || name == "" || strings.HasSuffix(n, "id") || mail(n) || isPassword(n) || strings.Contains(n, "date") || strings.Contains(n, "url") || strings.Contains(n, "phone") {
			return nil, false
		}
		length := 12
		if s.MaxLength >= 0 {
			length = min(length, s.MaxLength)
		}
		if words == nil {
			return nil, false
		}
		if words[name] == "" {
			words[name] = e.Random(max(length, s.MinLength))
		}
		return words[name], true
	}
}

// create makes an object as the user, and before what its path names; nil: it was
// refused, or nothing tells it from others.
func (e *examination) create(o *Operation, as *User, extra map[string]any) (*object, error) {
	within, err := e.around(o, as)
	if err != nil || len(within) < strings.Count(o.Path, "{") {
		return nil, err
	}
	for _, optional := range []bool{true, false} {
		words := map[string]string{}
		fresh := e.fresh(words)
		r, err := e.request(o, optional, func(in, name string, s *describe.Schema) (any, bool) {
			if v, known := step(o, within, in, name); known {
				return v, true
			}
			return fresh(in, name, s)
		}, extra)
		if err != nil || len(words) == 0 {
			continue
		}
		resp, err := e.send(r, as)
		if err != nil {
			return nil, err
		}
		if ok(resp) {
			sent := map[string]any{}
			for _, at := range objectsOf(decode(r.Body.Text)) {
				for name, v := range at {
					if _, outer := sent[name]; !outer {
						sent[name] = v
					}
				}
			}
			made := &object{of: o, as: as, words: words, sent: sent, answer: resp, within: within}
			e.made = append(e.made, made)
			return made, nil
		}
	}
	return nil, nil
}

// parameters are the names of the parameters of a path, in order.
func parameters(path string) []string {
	var out []string
	for _, s := range strings.Split(path, "/") {
		if strings.HasPrefix(s, "{") && strings.HasSuffix(s, "}") {
			out = append(out, strings.Trim(s, "{}"))
		}
	}
	return out
}

// step returns the value of a parameter of the operation's path: it names what the object
// is made within.
func step(o *Operation, within []*object, in, name string) (any, bool) {
	if i := slices.Index(parameters(o.Path), name); in == "path" && i >= 0 && i < len(within) {
		return within[i].id, true
	}
	return nil, false
}

// around returns the objects that the path of the operation names, which it makes as the
// user where they are not there yet; fewer when one cannot be made.
func (e *examination) around(o *Operation, as *User) ([]*object, error) {
	i := strings.LastIndexByte(o.Path, '{')
	if i < 1 {
		return nil, nil
	}
	name := strings.Trim(o.Path[i:], "{}")
	if end := strings.IndexByte(o.Path[i:], '/'); end > 0 {
		name = strings.Trim(o.Path[i:i+end], "{}")
	}
	maker := e.at(http.MethodPost, strings.TrimRight(o.Path[:i], "/"))
	if maker == nil || maker == e.register || maker == e.login {
		return nil, nil
	}
	for _, m := range e.made {
		if m.of == maker && m.as == as && m.id != nil && !m.gone {
			return append(slices.Clone(m.within), m), nil
		}
	}
	m, err := e.create(maker, as, nil)
	if m == nil || err != nil {
		return nil, err
	}
	if m.id, err = e.id(m, name); m.id == nil || err != nil {
		return nil, err
	}
	return append(slices.Clone(m.within), m), nil
}

// seen are the object's words that the answer holds.
func (m *object) seen(resp *message.Response) []string {
	var out []string
	for _, name := range slices.Sorted(maps.Keys(m.words)) {
		if holds(resp, m.words[name]) {
			out = append(out, name)
		}
	}
	return out
}

// in finds the object in an answer.
func (m *object) in(resp *message.Response) map[string]any {
	v := decode(resp.Body)
	for _, name := range slices.Sorted(maps.Keys(m.words)) {
		if list := holding(v, m.words[name]); len(list) > 0 {
			return list[0]
		}
	}
	return nil
}

// identifier finds the value of a parameter among an object's properties.
func identifier(of map[string]any, parameter string) (any, bool) {
	want := plain(parameter)
	short := want
	for _, end := range []string{"uuid", "guid", "id", "key", "slug", "name", "number", "title"} {
		if strings.HasSuffix(want, end) {
			short = end
			break
		}
	}
	for _, try := range []string{want, short, "id", "_id", "uuid", "guid"} {
		for name, v := range of {
			if plain(name) == plain(try) && scalar(v) && fmt.Sprint(v) != "" {
				return v, true
			}
		}
	}
	return nil, false
}

func scalar(v any) bool {
	switch v.(type) {
	case string, json.Number:
		return true
	}
	return false
}

// id tells by which value the parameter names the object: of the answer that made it, of
// what was sent, or of the list.
func (e *examination) id(m *object, parameter string) (any, error) {
	if at := m.in(m.answer); at != nil {
		if v, found := identifier(at, parameter); found {
			return v, nil
		}
	}
	for _, at := range objectsOf(decode(m.answer.Body)) { // it tells the identifier alone
		if v, found := identifier(at, parameter); found {
			return v, nil
		}
	}
	for name, v := range m.sent {
		if plain(name) == plain(parameter) && scalar(v) {
			return v, nil
		}
	}
	if to := m.answer.Header.Get("Location"); to != "" {
		return to[strings.LastIndexByte(strings.TrimRight(to, "/"), '/')+1:], nil
	}
	list, err := e.list(m.of, m.as, m.within)
	if err != nil {
		return nil, err
	}
	for _, page := range list {
		if v, found := identifier(m.in(page), parameter); found {
			return v, nil
		}
	}
	return nil, nil
}

// maxPages bounds the pages of a list that are read.
const maxPages = 5

var (
	// cursors are names of parameters that take where a list goes on, and nexts those of
	// properties that tell it.
	cursors = lazyregexp.New(`^(cursor|after|next|(next)?pagetoken|continuation(token)?|startingafter|startafter|marker|offsettoken)$`)
	nexts   = lazyregexp.New(`^(next|cursor|nextcursor|after|endcursor|(next)?pagetoken|nextpage|continuation(token)?|nextmarker|marker)$`)
)

// next tells where a list goes on; empty: nowhere.
func next(page *message.Response) string {
	for _, at := range objectsOf(decode(page.Body)) {
		for _, name := range slices.Sorted(maps.Keys(at)) {
			if v := at[name]; nexts.MatchString(plain(name)) && scalar(v) && len(fmt.Sprint(v)) < 2000 {
				return fmt.Sprint(v)
			}
		}
	}
	return ""
}

// list asks for the collection that the operation adds to, page by page; nil: there is
// none, or it is refused.
func (e *examination) list(o *Operation, as *User, within []*object) ([]*message.Response, error) {
	all := e.at(http.MethodGet, o.Path)
	if all == nil {
		return nil, nil
	}
	var pages []*message.Response
	at := ""
	for range maxPages {
		r, err := e.request(all, at != "", func(in, name string, _ *describe.Schema) (any, bool) {
			if in == "query" && at != "" && cursors.MatchString(plain(name)) {
				return at, true
			}
			return step(all, within, in, name)
		}, nil)
		if err != nil {
			return pages, nil
		}
		resp, err := e.send(r, as)
		if err != nil || !ok(resp) {
			return pages, err
		}
		pages = append(pages, resp)
		takes := slices.ContainsFunc(all.Parameters, func(p *describe.Parameter) bool { return p.In == "query" && cursors.MatchString(plain(p.Name)) })
		if then := next(resp); !takes || then == "" || then == at {
			break
		} else {
			at = then
		}
	}
	return pages, nil
}

// listed reports whether one of the pages shows the object.
func (m *object) listed(pages []*message.Response) bool {
	return slices.ContainsFunc(pages, func(p *message.Response) bool { return len(m.seen(p)) > 0 })
}

// item makes the request of an operation about one object, which is within others.
func (e *examination) item(o *Operation, id any, within []*object, words map[string]string) (*message.Request, error) {
	_, parameter := o.collection()
	text := e.fresh(words)
	return e.request(o, true, func(in, name string, s *describe.Schema) (any, bool) {
		if in == "path" && name == parameter {
			return id, true
		}
		if v, known := step(o, within, in, name); known {
			return v, true
		}
		return text(in, name, s)
	}, nil)
}

// objects makes an object of each kind as one user, and asks for it as another one.
func (e *examination) objects() error {
	if len(e.Users) < 2 || !e.changes() {
		return nil
	}
	owner, stranger := e.Users[0], e.Users[1]
	kinds := 0
	outermost := slices.Clone(e.Operations)
	slices.SortStableFunc(outermost, func(a, b *Operation) int { return strings.Count(a.Path, "{") - strings.Count(b.Path, "{") })
	for _, o := range outermost {
		if o.Call != nil || o.Method != http.MethodPost || o == e.register || o == e.login || site.Dangerous(o.Path) || o.body() == nil || kinds == maxObjects {
			continue
		}
		var about []*Operation
		for _, item := range e.Operations {
			if path, _ := item.collection(); item.Call == nil && path == o.path() {
				about = append(about, item)
			}
		}
		read := slices.IndexFunc(about, func(o *Operation) bool { return o.Method == http.MethodGet })
		if read < 0 {
			continue
		}
		kinds++
		if err := e.kind(o, about[read], about, owner, stranger); traffic.Over(err) {
			return err
		}
	}
	return nil
}

// kind examines one kind of object.
func (e *examination) kind(o, read *Operation, about []*Operation, owner, stranger *User) error {
	mine, err := e.create(o, owner, nil)
	if mine == nil || err != nil {
		return err
	}
	_, parameter := read.collection()
	if mine.id, err = e.id(mine, parameter); mine.id == nil || err != nil {
		return err
	}
	r, err := e.item(read, mine.id, mine.within, nil)
	if err != nil {
		return nil
	}
	own, err := e.send(r, owner)
	if err != nil || !ok(own) || len(mine.seen(own)) == 0 {
		return err
	}
	if err := e.stored(o, mine, mine.in(own), read, owner); err != nil {
		return err
	}
	if err := e.reassigned(mine, about, r, own); err != nil {
		return err
	}
	if mine.private, err = e.private(mine, own, owner, stranger); mine.private == "" || err != nil {
		return err
	}
	e.privates[o] = mine.private
	for _, f := range []func() error{
		func() error { return e.foreign(mine, read, r, own, stranger) },
		func() error { return e.referred(mine, parameter, owner, stranger) },
		func() error { return e.changed(mine, about, r, stranger) },
	} {
		if err := f(); traffic.Over(err) {
			return err
		}
	}
	return nil
}

// owns are names of properties that tell whose an object is.
var owns = lazyregexp.New(`^(owner|user|author|creator|createdby|account|customer|member|belongsto|seller|buyer)(id|name|uuid|email)?$|^(userid|username|email)$`)

// secrets are names of properties that are for their owner alone.
var secrets = lazyregexp.New(`secret|private|password|token|apikey|accesskey|creditcard|cardnumber|iban|ssn|passport|salary|medical|diagnosis|(^|phone|home|street|billing|shipping)address$|phone|birth`)

// private says how the API shows that an object is its owner's alone; empty: it does not
// show that, so that others may well see it.
func (e *examination) private(mine *object, own *message.Response, owner, stranger *User) (string, error) {
	if nobody, err := e.send(own.Request, nil); err != nil || ok(nobody) && len(mine.seen(nobody)) > 0 {
		return "", err // it is public, or lacks any sign-in: that is told elsewhere
	}
	if n := len(mine.within); n > 0 {
		if why := e.privates[mine.within[n-1].of]; why != "" {
			return "It is part of another object, which is its owner's alone. " + why, nil
		}
	}
	his, err := e.list(mine.of, owner, mine.within)
	if err != nil {
		return "", err
	}
	others, err := e.list(mine.of, stranger, mine.within)
	if err != nil {
		return "", err
	}
	if mine.listed(his) && len(others) > 0 && !mine.listed(others) {
		return fmt.Sprintf("The list of %s holds the object for its owner, and not for the other user.", mine.of.Path), nil
	}
	named, err := e.owned(mine.in(own), owner)
	if named == "" || err != nil {
		return "", err
	}
	for _, name := range mine.seen(own) {
		if secrets.MatchString(plain(name)) && !slices.ContainsFunc(others, func(p *message.Response) bool { return holds(p, mine.words[name]) }) {
			return fmt.Sprintf("%s, and its %q is shown in no list.", named, name), nil
		}
	}
	return "", nil
}

// owned says by which property an object names the user as its owner; empty: by none.
func (e *examination) owned(object map[string]any, owner *User) (string, error) {
	for _, name := range slices.Sorted(maps.Keys(object)) {
		text := fmt.Sprint(object[name])
		if !owns.MatchString(plain(name)) || !scalar(object[name]) {
			continue
		}
		is := slices.Contains(owner.names(), text)
		if !is {
			self, err := e.self(owner)
			if err != nil {
				return "", err
			}
			is = slices.Contains(self, text)
		}
		if is {
			return fmt.Sprintf("The object names %s as its %s", text, name), nil
		}
	}
	return "", nil
}

// foreign asks for the object as another user. Controls: that user's own object, and one
// that does not exist.
func (e *examination) foreign(mine *object, read *Operation, r *message.Request, own *message.Response, stranger *User) error {
	resp, err := e.send(r, stranger)
	if err != nil || !ok(resp) || !slices.Equal(mine.seen(resp), mine.seen(own)) {
		return err
	}
	absent, err := e.item(read, e.absent(mine, read, own), mine.within, nil)
	if err != nil {
		return nil
	}
	none, err := e.send(absent, stranger)
	if err != nil || ok(none) && len(mine.seen(none)) > 0 {
		return err
	}
	proof := []string{
		fmt.Sprintf("As %s an object was made with random values; %s answers %s with them.", mine.as.Name(), r.Path, mine.as.Name()),
		mine.private,
		fmt.Sprintf("As %s the same request gives the same object (%d), with values that only %s has sent: %s.", stranger.Name(), resp.Status, mine.as.Name(), strings.Join(mine.seen(resp), ", ")),
		fmt.Sprintf("An object that does not exist is answered with %d, and nobody gets the object without a sign-in.", none.Status),
	}
	answers, notes := []*message.Response{own, resp, none}, []string{"the owner reads the object", "another user reads it", "an object that does not exist"}
	if theirs, err := e.create(mine.of, stranger, nil); err != nil {
		return err
	} else if theirs != nil {
		if other, err := e.theirs(theirs, read); err != nil {
			return err
		} else if other != nil {
			if len(mine.seen(other)) > 0 {
				return nil // one answer for all identifiers
			}
			proof = append(proof, fmt.Sprintf("The other user's own object is another one: the answer depends on the identifier alone (%d).", other.Status))
			answers, notes = append(answers, other), append(notes, "the other user's own object")
		}
	}
	e.Flaw(attack.Flaw{Rule: objectRead, Request: r, Answers: answers, Notes: notes, Proof: proof, Message: fmt.Sprintf("%s %s shows the objects of other users", read.Method, read.Path)})
	return nil
}

// theirs reads the other user's own object.
func (e *examination) theirs(theirs *object, read *Operation) (*message.Response, error) {
	_, parameter := read.collection()
	var err error
	if theirs.id, err = e.id(theirs, parameter); theirs.id == nil || err != nil {
		return nil, err
	}
	r, err := e.item(read, theirs.id, theirs.within, nil)
	if err != nil {
		return nil, nil
	}
	return e.send(r, theirs.as)
}

// absent is an identifier of the same kind that names nothing.
func (e *examination) absent(mine *object, read *Operation, own *message.Response) any {
	_, parameter := read.collection()
	if v, found := identifier(mine.in(own), parameter); found {
		if _, number := v.(json.Number); number {
			return json.Number(fmt.Sprint(e.Number(700_000_000, 900_000_000)))
		}
	}
	if text := fmt.Sprint(mine.id); len(text) == 36 && strings.Count(text, "-") == 4 { // a UUID (RFC 9562)
		digits := fmt.Sprintf("%08x%08x%08x", e.Number(0, 1<<31-2), e.Number(0, 1<<31-2), e.Number(0, 1<<31-2))
		return digits[:8] + "-" + digits[8:12] + "-4" + digits[13:16] + "-a" + digits[17:20] + "-" + digits[20:] + digits[:8]
	}
	return e.Random(14)
}

// changed changes and removes the object as another user, and reads it as its owner.
func (e *examination) changed(mine *object, about []*Operation, r *message.Request, stranger *User) error {
	for _, method := range []string{http.MethodPatch, http.MethodPut, http.MethodDelete} {
		i := slices.IndexFunc(about, func(o *Operation) bool { return o.Method == method })
		if i < 0 {
			continue
		}
		words := map[string]string{}
		write, err := e.item(about[i], mine.id, mine.within, words)
		if err != nil || method != http.MethodDelete && len(words) == 0 {
			continue
		}
		resp, err := e.send(write, stranger)
		if err != nil {
			return err
		}
		if !ok(resp) {
			continue
		}
		after, err := e.send(r, mine.as)
		if err != nil {
			return err
		}
		now := object{words: words}
		what := ""
		switch {
		case method == http.MethodDelete && (after.Status == http.StatusNotFound || after.Status == http.StatusGone):
			what, mine.gone = "removes", true
		case method != http.MethodDelete && ok(after) && len(now.seen(after)) > 0:
			what = "changes"
		default:
			continue
		}
		e.Flaw(attack.Flaw{Rule: objectWrite, Request: write, Answers: []*message.Response{resp, after}, Notes: []string{"another user " + what + " the object", "its owner reads it then"},
			Message: fmt.Sprintf("%s %s %s the objects of other users", method, about[i].Path, what),
			Proof: []string{fmt.Sprintf("As %s an object was made.", mine.as.Name()), mine.private,
				fmt.Sprintf("As %s the request that %s it is answered with %d; after that %s reads the result (%d).", stranger.Name(), what, resp.Status, mine.as.Name(), after.Status)}})
	}
	return nil
}

// stored makes the object again with properties that users should not set, and reads
// them back.
func (e *examination) stored(o *Operation, mine *object, shown map[string]any, read *Operation, owner *User) error {
	extra := e.gains(o, shown)
	if len(extra) == 0 {
		return nil
	}
	with, err := e.create(o, owner, extra)
	if with == nil || err != nil {
		return err
	}
	resp, err := e.theirs(with, read)
	if resp == nil || err != nil || !ok(resp) {
		return err
	}
	after := with.in(resp)
	for _, name := range slices.Sorted(maps.Keys(extra)) {
		if fmt.Sprint(after[name]) != fmt.Sprint(extra[name]) {
			continue
		}
		e.Flaw(attack.Flaw{Rule: massAssignment, Request: with.answer.Request, Point: &message.Point{In: message.InJSON, Name: o.pointer(name)}, Payload: fmt.Sprint(extra[name]),
			Answers: []*message.Response{with.answer, resp}, Notes: []string{"an object is made with the property", "it is read"},
			Message: fmt.Sprintf("%s %s stores %q, which its description does not take", o.Method, o.Path, name),
			Proof: []string{fmt.Sprintf("An object that was made without the property has %s = %v.", name, shown[name]),
				fmt.Sprintf("One that was made with %s = %v has that value when it is read.", name, extra[name])}})
	}
	return nil
}

// tidy removes what the examination has made, as the user who made it, and tells what
// stays.
func (e *examination) tidy() error {
	for _, m := range slices.Backward(e.made) { // what is within others first
		if m.gone {
			continue
		}
		gone, err := e.remove(m)
		if traffic.Over(err) {
			return err
		}
		if !gone && e.Created != nil {
			e.Created(fmt.Sprintf("%s %s as %s: %s", m.of.Method, m.of.Path, m.as.Name(), strings.Join(slices.Sorted(maps.Values(m.words)), ", ")))
		}
	}
	return nil
}

// remove removes an object, and reports whether the API says so.
func (e *examination) remove(m *object) (bool, error) {
	for _, o := range e.Operations {
		path, parameter := o.collection()
		if o.Call != nil || o.Method != http.MethodDelete || site.Dangerous(o.Path) {
			continue
		}
		var id any
		switch {
		case m.of == e.register && identifies(parameter) && strings.HasPrefix(m.of.Path, path) && m.as.account != nil:
			if id = m.as.account.name; mail(parameter) {
				id = m.as.account.email
			}
		case m.of != e.register && path == m.of.path():
			var err error
			if id, err = e.id(m, parameter); err != nil {
				return false, err
			}
		}
		if id == nil {
			continue
		}
		r, err := e.item(o, id, m.within, nil)
		if err != nil {
			continue
		}
		resp, err := e.send(r, m.as)
		return err == nil && ok(resp), err
	}
	return false, nil
}
