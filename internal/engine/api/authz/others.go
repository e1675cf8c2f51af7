package authz

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"

	"merlon/internal/engine/api/apispec"
	"merlon/internal/engine/dast/activescan"
	"merlon/internal/engine/dast/message"
	"merlon/internal/engine/dast/sitemap"
	"merlon/internal/engine/dast/traffic"
	"merlon/internal/lazyregexp"
)

// This file reads, as one user, objects that belong to another one: those that are there
// already, and those that a query or a body names.

// itself are paths of what belongs to the user who asks.
var itself = lazyregexp.New(`(?i)/(me|self|whoami|my|profile|account|userinfo|user|current[-_]?user)/?$`)

// self are the identifiers by which the API shows the user his own account.
func (e *examination) self(u *User) ([]string, error) {
	if known, is := e.selves[u]; is {
		return known, nil
	}
	var out []string
	for _, o := range e.Operations {
		if o.Call != nil || o.Method != http.MethodGet || !itself.MatchString(o.Path) ||
			strings.Contains(o.Path, "{") || sitemap.IsDangerous(o.Path) {
			continue
		}
		r, err := e.request(o, false, unknown, nil)
		if err != nil {
			continue
		}
		resp, err := e.send(r, u)
		if traffic.IsFinal(err) {
			return nil, err
		}
		if err != nil || !ok(resp) {
			continue
		}
		body, one := message.DecodeJSON(resp.Body).(map[string]any)
		if !one {
			continue // it lists several
		}
		for _, at := range objectsOf(body) {
			for name, v := range at {
				if n := plain(name); (n == "id" || n == "uuid" || identifies(n) || strings.HasSuffix(n, "userid") ||
					strings.HasSuffix(n, "accountid")) && scalar(v) && len(fmt.Sprint(v)) > 2 {
					out = append(out, fmt.Sprint(v))
				}
			}
			break // the outermost ones tell of him, or hold the one that does
		}
		for _, at := range objectsOf(message.DecodeJSON(resp.Body)) {
			if v, found := identifier(at, "id"); found &&
				slices.ContainsFunc(u.names(), func(name string) bool {
					return slices.Contains(slices.Collect(texts(at)), name)
				}) {
				out = append(out, fmt.Sprint(v))
			}
		}
	}
	e.selves[u] = out
	return out, nil
}

// texts yields the values of an object that are texts.
func texts(of map[string]any) func(func(string) bool) {
	return func(yield func(string) bool) {
		for _, v := range of {
			if s, is := v.(string); is && !yield(s) {
				return
			}
		}
	}
}

// others reads, as the second user, objects that are listed for the first one alone.
func (e *examination) others() error {
	if len(e.Users) < 2 {
		return nil
	}
	kinds := 0
	for _, read := range e.Operations {
		path, parameter := read.collection()
		if read.Call != nil || read.Method != http.MethodGet || path == "" || strings.Contains(path, "{") ||
			sitemap.IsDangerous(path) || kinds == maxObjects {
			continue
		}
		all := e.at(http.MethodGet, path)
		if all == nil {
			continue
		}
		kinds++
		if err := e.apart(all, read, parameter); traffic.IsFinal(err) {
			return err
		}
	}
	return nil
}

// listing is what the list shows one user, by identifier.
func (e *examination) listing(all *Operation, parameter string, as *User) (map[string]map[string]any, error) {
	pages, err := e.list(all, as, nil)
	if err != nil {
		return nil, err
	}
	out := map[string]map[string]any{}
	for _, page := range pages {
		for _, at := range objectsOf(message.DecodeJSON(page.Body)) {
			if v, found := identifier(at, parameter); found {
				out[fmt.Sprint(v)] = at
			}
		}
	}
	return out, nil
}

// apart compares the lists of two users: what only one of them is shown, and names him
// as its owner, is asked for as the other. Nothing is changed. Controls: the other's own
// object, one that does not exist, nobody.
func (e *examination) apart(all, read *Operation, parameter string) error {
	owner, stranger := e.Users[0], e.Users[1]
	his, err := e.listing(all, parameter, owner)
	if err != nil || len(his) == 0 {
		return err
	}
	theirs, err := e.listing(all, parameter, stranger)
	if err != nil || len(theirs) == 0 {
		return err
	}
	for id := range his {
		if theirs[id] != nil {
			return nil // the list is not a user's own
		}
	}
	mine, other := slices.Min(slices.Collect(maps.Keys(his))), slices.Min(slices.Collect(maps.Keys(theirs)))
	ask := func(id any, as *User) (*message.Response, error) {
		r, err := e.item(read, id, nil, nil)
		if err != nil {
			return nil, err
		}
		return e.send(r, as)
	}
	own, err := ask(mine, owner)
	if err != nil || !ok(own) {
		return err
	}
	why := ""
	for _, at := range objectsOf(message.DecodeJSON(own.Body)) {
		if why, err = e.owned(at, owner); why != "" || err != nil {
			break
		}
	}
	if why == "" || err != nil {
		return err
	}
	resp, err := ask(mine, stranger)
	if err == nil {
		e.judge(read, resp)
	}
	if err != nil || !ok(resp) || !bytes.Equal(canonical(own), canonical(resp)) {
		return err
	}
	control, err := ask(other, stranger)
	if err != nil || !ok(control) || bytes.Equal(canonical(control), canonical(resp)) {
		return err
	}
	none, err := ask(e.absent(&object{id: mine, words: map[string]string{"": mine}}, parameter, own), stranger)
	if err != nil || ok(none) {
		return err
	}
	nobody, err := ask(mine, nil)
	if err != nil || ok(nobody) {
		return err
	}
	e.RaiseAlert(activescan.Alert{Rule: objectRead, Request: resp.Request,
		Responses: []*message.Response{own, resp, control,
			none,
			nobody},
		ResponseNotes: []string{"the owner reads the object", "another user reads it", "that user's own object",
			"one that does not exist", "nobody"},
		Message: fmt.Sprintf("%s %s shows the objects of other users", read.Method, read.Path),
		Proof: []string{fmt.Sprintf("The list %s shows %s %d objects and %s %d; none is "+
			"in both.", all.Path, owner.Name(), len(his), stranger.Name(), len(theirs)), why + ".",
			fmt.Sprintf("As %s the object of %s is answered with the same content (%d).", stranger.Name(), owner.Name(),
				resp.Status),
			fmt.Sprintf("That user's own object is another one, one that does not exist is answered with %d, and "+
				"nobody gets %d.", none.Status, nobody.Status)}})
	return nil
}

// canonical is the body without differences of form; as it is when it is no JSON.
func canonical(resp *message.Response) []byte {
	v := message.DecodeJSON(resp.Body)
	b, err := json.Marshal(v)
	if v == nil || err != nil {
		return resp.Body
	}
	return b
}

// refers reports whether a parameter of a query or a property of a body names objects of
// the collection whose paths have the parameter.
func refers(name, path, parameter string) bool {
	n, p := plain(name), plain(parameter)
	if n == p && p != "id" {
		return true
	}
	noun := plain(path[strings.LastIndexByte(path, '/')+1:])
	for _, one := range []string{noun, strings.TrimSuffix(noun, "s"), strings.TrimSuffix(noun, "es"),
		strings.TrimSuffix(noun, "ies") + "y"} {
		if len(one) > 2 && (n == one+"id" || n == one+"uuid" || n == one) {
			return true
		}
	}
	return false
}

// reading are names of operations that change nothing for good, though they take a body.
var reading = lazyregexp.New(`(?i)search|query|find|list|get|read|show|view|fetch|lookup|export|download|preview|render|report|compare|summary|details`)

// maxReferences bounds the operations that are asked for one kind of object.
const maxReferences = 10

// referred asks, as another user, operations that name the object in a query or a body.
func (e *examination) referred(mine *object, parameter string, stranger *User) error {
	asked := 0
	for _, o := range e.Operations {
		if o.Call != nil || strings.Contains(o.Path, "{") || sitemap.IsDangerous(o.Path) || o == mine.of ||
			asked == maxReferences {
			continue
		}
		point := reference(o, e.home(mine.of), parameter)
		if point == nil {
			continue
		}
		asked++
		if err := e.reference(mine, o, point, parameter, stranger); traffic.IsFinal(err) {
			return err
		}
	}
	return nil
}

// reference is where the operation takes the identifier of an object; nil: nowhere, or
// it is not one that reads.
func reference(o *Operation, path, parameter string) *message.Point {
	if o.Method == http.MethodGet {
		for _, p := range o.Parameters {
			if p.In == "query" && refers(p.Name, path, parameter) {
				return &message.Point{In: message.InQuery, Name: p.Name}
			}
		}
		return nil
	}
	if o.Method != http.MethodPost || !reading.MatchString(o.named()) || o.body() == nil {
		return nil
	}
	for _, p := range o.body().Properties {
		if refers(p.Name, path, parameter) {
			return &message.Point{In: message.InJSON, Name: p.Name}
		}
	}
	return nil
}

// reference proves that the operation shows another user the object. Controls: the
// owner, one that does not exist, nobody.
func (e *examination) reference(mine *object, o *Operation, at *message.Point, parameter string, stranger *User) error {
	owner := mine.as
	ask := func(id any, as *User) (*message.Response, error) {
		r, err := e.request(o, true, func(in, name string, s *apispec.Schema) (any, bool) {
			if name == at.Name && (in == "query") == (at.In == message.InQuery) {
				return id, true
			}
			return nil, false
		}, nil)
		if err != nil {
			return nil, err
		}
		return e.send(r, as)
	}
	own, err := ask(mine.id, owner)
	if err != nil || !ok(own) || len(mine.seen(own)) == 0 {
		return err
	}
	resp, err := ask(mine.id, stranger)
	if err == nil {
		e.judge(o, resp)
	}
	if err != nil || !ok(resp) || len(mine.seen(resp)) == 0 {
		return err
	}
	none, err := ask(e.absent(mine, parameter, own), stranger)
	if err != nil || len(mine.seen(none)) > 0 {
		return err
	}
	nobody, err := ask(mine.id, nil)
	if err != nil || ok(nobody) && len(mine.seen(nobody)) > 0 {
		return err
	}
	point := *at
	if at.In == message.InJSON {
		point.Name = o.pointer(at.Name)
	}
	e.RaiseAlert(activescan.Alert{Rule: objectRead, Request: resp.Request, Point: &point,
		Responses:     []*message.Response{own, resp, none, nobody},
		ResponseNotes: []string{"the owner", "another user", "an object that does not exist", "nobody"},
		Message:       fmt.Sprintf("%s %s shows the objects of other users that %q names", o.Method, o.Path, at.Name),
		Proof: []string{fmt.Sprintf("As %s an object was made with random values.", owner.Name()), mine.private,
			fmt.Sprintf("As %s, with its identifier as %q, the answer (%d) holds values that only %s has "+
				"sent: %s.", stranger.Name(), at.Name, resp.Status, owner.Name(), strings.Join(mine.seen(resp), ", ")),
			fmt.Sprintf("An identifier that does not exist is answered with %d without them, and nobody "+
				"gets %d.", none.Status, nobody.Status)}})
	return nil
}

// rewriting are names of operations that change or remove something, though they are
// asked by POST.
var rewriting = lazyregexp.New(`(?i)update|edit|change|modif|rename|replace|save|set|delet|remov|cancel|archive|transfer`)

// target is the parameter or property by which the operation, whose path names nothing,
// takes which object of the kind it changes; nil: it changes none, or nothing says which.
func (e *examination) target(o *Operation, k *kind) *message.Point {
	if o.Call != nil || strings.Contains(o.Path, "{") || sitemap.IsDangerous(o.Path) || o == k.maker ||
		!slices.Contains(writing, o.Method) && (o.Method != http.MethodPost || !rewriting.MatchString(o.named())) {
		return nil
	}
	names := func(name string) bool {
		return refers(name, e.home(k.maker), k.parameter) || o.path() == e.home(k.maker) &&
			(plain(name) == "id" || plain(name) == plain(k.parameter))
	}
	if b := o.body(); b != nil {
		for _, p := range b.Properties {
			if names(p.Name) {
				return &message.Point{In: message.InJSON, Name: p.Name}
			}
		}
	}
	for _, p := range o.Parameters {
		if p.In == "query" && names(p.Name) {
			return &message.Point{In: message.InQuery, Name: p.Name}
		}
	}
	return nil
}

// retargeted changes and removes the object as another user, by operations that take its
// identifier in a query or a body, and reads it as its owner. What removes comes last.
func (e *examination) retargeted(k *kind, mine *object, stranger *User) error {
	last := slices.Clone(e.Operations)
	removes := func(o *Operation) int {
		return map[bool]int{true: 1}[o.Method == http.MethodDelete || sitemap.NamesRemoval(o.named())]
	}
	slices.SortStableFunc(last, func(a, b *Operation) int { return removes(a) - removes(b) })
	asked := 0
	for _, o := range last {
		at := e.target(o, k)
		if at == nil || mine.gone || asked == maxReferences {
			continue
		}
		words := map[string]string{}
		fresh := e.fresh(words)
		r, err := e.request(o, true, func(in, name string, s *apispec.Schema) (any, bool) {
			if name == at.Name && (in == "query") == (at.In == message.InQuery) {
				return mine.id, true
			}
			return fresh(in, name, s)
		}, nil)
		if err != nil {
			continue
		}
		asked++
		what, answers, err := e.written(k, r, words, mine, stranger)
		if traffic.IsFinal(err) {
			return err
		}
		if err == nil && len(answers) > 0 {
			e.judge(o, answers[0])
		}
		if err != nil || what == "" {
			continue
		}
		point := *at
		if at.In == message.InJSON {
			point.Name = o.pointer(at.Name)
		}
		e.RaiseAlert(activescan.Alert{Rule: objectWrite, Request: r, Point: &point, Responses: answers,
			ResponseNotes: []string{"another user " + what + " the object", "its owner reads it then"},
			Message: fmt.Sprintf("%s %s %s the objects of other users that %q names", o.Method, o.Path, what,
				at.Name),
			Proof: []string{fmt.Sprintf("As %s an object was made.", mine.as.Name()), mine.private,
				fmt.Sprintf("As %s, with its identifier as %q, the request is answered with %d; after that %s reads "+
					"the result (%d).", stranger.Name(), at.Name, answers[0].Status, mine.as.Name(),
					answers[1].Status)}})
	}
	return nil
}
