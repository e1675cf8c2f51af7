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

// itself matches paths of what belongs to the requesting user.
var itself = lazyregexp.New(`(?i)/(me|self|whoami|my|profile|account|userinfo|user|current[-_]?user)/?$`)

// ownIdentifiers returns the identifiers by which the API shows the user his own account. They are
// requested once for each user.
func (e *examination) ownIdentifiers(u *User) ([]string, error) {
	if known, is := e.selves[u]; is {
		return known, nil
	}
	var out []string
	for _, o := range e.Operations {
		if !o.isFixedRead() || !itself.MatchString(o.Path) {
			continue
		}
		r, err := e.buildRequest(o, false, knowNothing, nil)
		if err != nil {
			continue
		}
		resp, err := e.sendAs(r, u)
		if traffic.IsFinal(err) {
			return nil, err
		}
		if err != nil || !isSuccess(resp) {
			continue
		}
		body, one := message.DecodeJSON(resp.Body).(map[string]any)
		if !one {
			continue // it lists several
		}
		out = append(out, selfIdentifiers(body, u.userNames())...)
	}
	e.selves[u] = out
	return out, nil
}

// selfIdentifiers returns the identifiers of a user in the response of an operation about
// himself: of the outermost object, and of every object that holds one of his names.
func selfIdentifiers(body map[string]any, names []string) []string {
	var out []string
	objects := objectsOf(body)
	for name, v := range objects[0] { // it tells of him, or holds the one that does
		if isAccountIdentifier(name) && isScalar(v) && len(fmt.Sprint(v)) > 2 {
			out = append(out, fmt.Sprint(v))
		}
	}
	for _, at := range objects {
		if v, found := identifierAmong(at, "id"); found && slices.ContainsFunc(names, func(name string) bool {
			return slices.Contains(slices.Collect(textValues(at)), name)
		}) {
			out = append(out, fmt.Sprint(v))
		}
	}
	return out
}

// isAccountIdentifier reports whether a member of an account identifies it.
func isAccountIdentifier(name string) bool {
	n := normalizeName(name)
	return n == "id" || n == "uuid" || isUserIdentifier(n) || strings.HasSuffix(n, "userid") ||
		strings.HasSuffix(n, "accountid")
}

// textValues yields the string values of an object.
func textValues(of map[string]any) func(func(string) bool) {
	return func(yield func(string) bool) {
		for _, v := range of {
			if s, is := v.(string); is && !yield(s) {
				return
			}
		}
	}
}

// probeOtherLists reads, as the second user, objects that are listed for the first one alone.
func (e *examination) probeOtherLists() error {
	if len(e.Users) < 2 {
		return nil
	}
	kinds := 0
	for _, read := range e.Operations {
		path, parameter := read.collectionPath()
		if read.Call != nil || read.Method != http.MethodGet || path == "" || strings.Contains(path, "{") ||
			sitemap.IsDangerous(path) || kinds == maxObjects {
			continue
		}
		all := e.operationAt(http.MethodGet, path)
		if all == nil {
			continue
		}
		kinds++
		if err := e.compareLists(all, read, parameter); traffic.IsFinal(err) {
			return err
		}
	}
	return nil
}

// listedFor returns what the list shows one user, by identifier.
func (e *examination) listedFor(all *Operation, parameter string, as *User) (map[string]map[string]any, error) {
	pages, err := e.fetchList(all, as, nil)
	if err != nil {
		return nil, err
	}
	out := map[string]map[string]any{}
	for _, page := range pages {
		for _, at := range objectsOf(message.DecodeJSON(page.Body)) {
			if v, found := identifierAmong(at, parameter); found {
				out[fmt.Sprint(v)] = at
			}
		}
	}
	return out, nil
}

// compareLists compares the lists of two users: an object that only one of them is shown, and that
// names him as its owner, is requested as the other. Nothing is changed and no object of the scan
// is needed, so this runs in every profile. Controls: the other's own object, one that does not
// exist, nobody.
func (e *examination) compareLists(all, read *Operation, parameter string) error {
	owner, stranger := e.Users[0], e.Users[1]
	his, theirs, err := e.separateLists(all, parameter)
	if err != nil || len(his) == 0 {
		return err
	}
	mine, other := slices.Min(slices.Collect(maps.Keys(his))), slices.Min(slices.Collect(maps.Keys(theirs)))
	ask := func(id any, as *User) (*message.Response, error) {
		r, err := e.itemRequest(read, id, nil, nil)
		if err != nil {
			return nil, err
		}
		return e.sendAs(r, as)
	}
	own, err := ask(mine, owner)
	if err != nil || !isSuccess(own) {
		return err
	}
	why, err := e.namedOwner(own, owner)
	if why == "" || err != nil {
		return err
	}
	resp, err := ask(mine, stranger)
	if err == nil {
		e.recordVerdict(read, resp)
	}
	if err != nil || !isSuccess(resp) || !bytes.Equal(canonicalBody(own), canonicalBody(resp)) {
		return err
	}
	control, err := ask(other, stranger)
	if err != nil || !isSuccess(control) || bytes.Equal(canonicalBody(control), canonicalBody(resp)) {
		return err
	}
	absent := e.absentIdentifier(&object{id: mine, words: map[string]string{"": mine}}, parameter, own)
	none, err := ask(absent, stranger)
	if err != nil || isSuccess(none) {
		return err
	}
	nobody, err := ask(mine, nil)
	if err != nil || isSuccess(nobody) {
		return err
	}
	e.RaiseAlert(activescan.Alert{Rule: objectRead, Request: resp.Request,
		Responses: []*message.Response{own, resp, control, none, nobody},
		ResponseNotes: []string{"the owner reads the object", "another user reads it", "that user's own object",
			"one that does not exist", "nobody"},
		Message: fmt.Sprintf("%s %s shows the objects of other users", read.Method, read.Path),
		Proof: []string{fmt.Sprintf("The list %s shows %s %d objects and %s %d; none is "+
			"in both.", all.Path, owner.Name(), len(his), stranger.Name(), len(theirs)), why + ".",
			fmt.Sprintf("As %s the object of %s is returned with the same content (%d).", stranger.Name(), owner.Name(),
				resp.Status),
			fmt.Sprintf("That user's own object is a different one; one that does not exist returns %d, and without "+
				"a session the response is %d.", none.Status, nobody.Status)}})
	return nil
}

// separateLists returns what a list shows each of the first two users; nothing where one is
// shown nothing, or both are shown the same object: the list is not a user's own.
func (e *examination) separateLists(all *Operation, parameter string) (his, theirs map[string]map[string]any,
	err error) {
	his, err = e.listedFor(all, parameter, e.Users[0])
	if err != nil || len(his) == 0 {
		return nil, nil, err
	}
	theirs, err = e.listedFor(all, parameter, e.Users[1])
	if err != nil || len(theirs) == 0 {
		return nil, nil, err
	}
	for id := range his {
		if theirs[id] != nil {
			return nil, nil, nil
		}
	}
	return his, theirs, nil
}

// namedOwner says by which property an object of a response names the user as its owner;
// empty: none does.
func (e *examination) namedOwner(resp *message.Response, owner *User) (string, error) {
	for _, at := range objectsOf(message.DecodeJSON(resp.Body)) {
		if why, err := e.ownerProperty(at, owner); why != "" || err != nil {
			return why, err
		}
	}
	return "", nil
}

// canonicalBody returns the body without differences in spaces and in the order of members; as it
// is when it is no JSON.
func canonicalBody(resp *message.Response) []byte {
	v := message.DecodeJSON(resp.Body)
	b, err := json.Marshal(v)
	if v == nil || err != nil {
		return resp.Body
	}
	return b
}

// refersTo reports whether a parameter of a query or a property of a body names objects of the
// collection whose paths have the parameter: card_id, cardId or card for /cards/{card_id}.
func refersTo(name, path, parameter string) bool {
	n, p := normalizeName(name), normalizeName(parameter)
	if n == p && p != "id" {
		return true
	}
	noun := normalizeName(path[strings.LastIndexByte(path, '/')+1:])
	for _, one := range []string{noun, strings.TrimSuffix(noun, "s"), strings.TrimSuffix(noun, "es"),
		strings.TrimSuffix(noun, "ies") + "y"} {
		if len(one) > 2 && (n == one+"id" || n == one+"uuid" || n == one) {
			return true
		}
	}
	return false
}

// reading matches names of operations that change nothing, though their method is POST.
var reading = lazyregexp.New(`(?i)search|query|find|list|get|read|show|view|fetch|lookup|export|download|preview|render|report|compare|summary|details`)

// maxReferences bounds the operations that are requested for one kind of object.
const maxReferences = 10

// probeReferences requests, as another user, operations that name the object in a query or a body:
// a check of authorization that reads the path does not see those.
func (e *examination) probeReferences(mine *object, parameter string, stranger *User) error {
	asked := 0
	for _, o := range e.Operations {
		if o.Call != nil || strings.Contains(o.Path, "{") || sitemap.IsDangerous(o.Path) || o == mine.of ||
			asked == maxReferences {
			continue
		}
		point := referenceOf(o, e.collectionOf(mine.of), parameter)
		if point == nil {
			continue
		}
		asked++
		if err := e.proveReference(mine, o, point, parameter, stranger); traffic.IsFinal(err) {
			return err
		}
	}
	return nil
}

// referenceOf returns where the operation takes the identifier of an object; nil: nowhere, or it
// may change something.
func referenceOf(o *Operation, path, parameter string) *message.Point {
	if o.Method == http.MethodGet {
		for _, p := range o.Parameters {
			if p.In == "query" && refersTo(p.Name, path, parameter) {
				return &message.Point{In: message.InQuery, Name: p.Name}
			}
		}
		return nil
	}
	if o.Method != http.MethodPost || !reading.MatchString(o.nameWords()) || o.bodySchema() == nil {
		return nil
	}
	for _, p := range o.bodySchema().Properties {
		if refersTo(p.Name, path, parameter) {
			return &message.Point{In: message.InJSON, Name: p.Name}
		}
	}
	return nil
}

// proveReference proves that the operation shows another user the object. Controls: the
// owner, one that does not exist, nobody.
func (e *examination) proveReference(mine *object, o *Operation, at *message.Point, parameter string,
	stranger *User) error {
	owner := mine.as
	ask := func(id any, as *User) (*message.Response, error) {
		r, err := e.buildRequest(o, true, func(in, name string, s *apispec.Schema) (any, bool) {
			if name == at.Name && (in == "query") == (at.In == message.InQuery) {
				return id, true
			}
			return nil, false
		}, nil)
		if err != nil {
			return nil, err
		}
		return e.sendAs(r, as)
	}
	own, err := ask(mine.id, owner)
	if err != nil || !isSuccess(own) || len(mine.seenWords(own)) == 0 {
		return err
	}
	resp, err := ask(mine.id, stranger)
	if err == nil {
		e.recordVerdict(o, resp)
	}
	if err != nil || !isSuccess(resp) || len(mine.seenWords(resp)) == 0 {
		return err
	}
	none, err := ask(e.absentIdentifier(mine, parameter, own), stranger)
	if err != nil || len(mine.seenWords(none)) > 0 {
		return err
	}
	nobody, err := ask(mine.id, nil)
	if err != nil || isSuccess(nobody) && len(mine.seenWords(nobody)) > 0 {
		return err
	}
	point := *at
	if at.In == message.InJSON {
		point.Name = o.propertyPointer(at.Name)
	}
	e.RaiseAlert(activescan.Alert{Rule: objectRead, Request: resp.Request, Point: &point,
		Responses:     []*message.Response{own, resp, none, nobody},
		ResponseNotes: []string{"the owner", "another user", "an object that does not exist", "nobody"},
		Message:       fmt.Sprintf("%s %s shows the objects of other users that %q names", o.Method, o.Path, at.Name),
		Proof: []string{fmt.Sprintf("As %s an object was made with random values.", owner.Name()), mine.private,
			fmt.Sprintf("As %s, with its identifier as %q, the response (%d) contains values that only %s has "+
				"sent: %s.", stranger.Name(), at.Name, resp.Status, owner.Name(),
				strings.Join(mine.seenWords(resp), ", ")),
			fmt.Sprintf("An identifier that does not exist returns %d without them; without a session the "+
				"response is %d.", none.Status, nobody.Status)}})
	return nil
}

// rewriting matches names of operations that change or remove something by POST.
var rewriting = lazyregexp.New(`(?i)update|edit|change|modif|rename|replace|save|set|delet|remov|cancel|archive|transfer`)

// targetOf is the parameter or property by which the operation, whose path names nothing,
// takes which object of the kind it changes; nil: it changes none, or nothing says which.
func (e *examination) targetOf(o *Operation, k *kind) *message.Point {
	if o.Call != nil || strings.Contains(o.Path, "{") || sitemap.IsDangerous(o.Path) || o == k.maker ||
		!slices.Contains(writing, o.Method) && (o.Method != http.MethodPost || !rewriting.MatchString(o.nameWords())) {
		return nil
	}
	names := func(name string) bool {
		return refersTo(name, e.collectionOf(k.maker), k.parameter) || o.trimmedPath() == e.collectionOf(k.maker) &&
			(normalizeName(name) == "id" || normalizeName(name) == normalizeName(k.parameter))
	}
	if b := o.bodySchema(); b != nil {
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

// probeRetargeting changes and removes the object as another user, by operations that
// take its identifier in a query or a body, and reads it as its owner. What removes
// comes last. Such operations are often written later, and without the check of the
// path.
func (e *examination) probeRetargeting(k *kind, mine *object, stranger *User) error {
	last := slices.Clone(e.Operations)
	removes := func(o *Operation) int {
		return map[bool]int{true: 1}[o.Method == http.MethodDelete || sitemap.NamesRemoval(o.nameWords())]
	}
	slices.SortStableFunc(last, func(a, b *Operation) int { return removes(a) - removes(b) })
	asked := 0
	for _, o := range last {
		at := e.targetOf(o, k)
		if at == nil || mine.gone || asked == maxReferences {
			continue
		}
		words := map[string]string{}
		fresh := e.freshWords(words)
		r, err := e.buildRequest(o, true, func(in, name string, s *apispec.Schema) (any, bool) {
			if name == at.Name && (in == "query") == (at.In == message.InQuery) {
				return mine.id, true
			}
			return fresh(in, name, s)
		}, nil)
		if err != nil {
			continue
		}
		asked++
		what, answers, err := e.sendChange(k, r, words, mine, stranger)
		if traffic.IsFinal(err) {
			return err
		}
		if err == nil && len(answers) > 0 {
			e.recordVerdict(o, answers[0])
		}
		if err != nil || what == "" {
			continue
		}
		point := *at
		if at.In == message.InJSON {
			point.Name = o.propertyPointer(at.Name)
		}
		e.RaiseAlert(activescan.Alert{Rule: objectWrite, Request: r, Point: &point, Responses: answers,
			ResponseNotes: []string{"another user " + what + " the object", "its owner reads it then"},
			Message: fmt.Sprintf("%s %s %s the objects of other users that %q names", o.Method, o.Path, what,
				at.Name),
			Proof: []string{fmt.Sprintf("As %s an object was made.", mine.as.Name()), mine.private,
				fmt.Sprintf("As %s, with its identifier as %q, the request returns %d; after that %s reads the "+
					"result (%d).", stranger.Name(), at.Name, answers[0].Status, mine.as.Name(),
					answers[1].Status)}})
	}
	return nil
}
