package authz

import (
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"

	"merlon/internal/engine/api/apispec"
	"merlon/internal/engine/api/requestgen"
	"merlon/internal/engine/dast/activescan"
	"merlon/internal/engine/dast/message"
	"merlon/internal/engine/dast/sitemap"
	"merlon/internal/engine/dast/traffic"
	"merlon/internal/finding"
	"merlon/internal/lazyregexp"
)

// This file compares users of a service of GraphQL. What the identifier of an object is
// given to are the arguments of fields; whether a field did something is told by its data.

// A node is a kind of object of GraphQL.
type node struct {
	// maker is the mutation that creates one.
	maker *Operation
	// subject is its noun: "note" of createNote.
	subject string
	// read is the query that shows one by its identifier.
	read *Operation
	// lists are queries without arguments that may show several.
	lists []*Operation
}

// scanGraphQL compares what users see and change by GraphQL. Names of fields say what they do:
// there are no paths and methods, and the status is 200 for refusals too.
func (e *examination) scanGraphQL() error {
	if len(e.Users) < 2 || !slices.ContainsFunc(e.Operations, func(o *Operation) bool { return o.Call != nil }) {
		return nil
	}
	owner, stranger := e.Users[0], e.Users[1]
	if err := e.scanFields(owner, stranger); traffic.IsFinal(err) {
		return err
	}
	kinds := 0
	for _, o := range e.Operations {
		if o.Call == nil || o.Call.Kind != "mutation" || !apispec.Makes(o.Call.Field) ||
			sitemap.IsDangerous("/"+o.Call.Field) || joins.MatchString(o.Call.Field) || !e.mayChange() ||
			kinds == maxObjects {
			continue
		}
		kinds++
		if err := e.scanGraphQLKind(o, owner, stranger); traffic.IsFinal(err) {
			return err
		} else if err != nil {
			e.Untried(o, []*finding.Rule{objectRead, objectWrite}, fmt.Sprintf("authorization for objects that %s "+
				"creates was not tested: %v", o.Call.Field, err))
		}
	}
	return nil
}

// argumentNames returns the names of the values that the operation takes, those of input objects
// included. none reports whether it can be sent without any.
func (o *Operation) argumentNames() (names []string, none bool) {
	none = true
	for _, m := range o.Bodies {
		variables := requestgen.Flat(m.Schema).Property("variables")
		if variables == nil {
			continue
		}
		v := requestgen.Flat(variables)
		none = none && len(v.Required) == 0
		names = append(names, propertyNames(v, 0)...)
	}
	return names, none
}

// objectArgument returns the name of the argument that identifies the object of the kind: noteId,
// or id where the field is about notes, or the field node of Relay; empty: there is none.
func (o *Operation) objectArgument(subject string) string {
	names, _ := o.argumentNames()
	about := apispec.Subject(o.Call.Field)
	for _, name := range names {
		switch n := normalizeName(name); n {
		case subject + "id", subject + "uuid":
			return name
		case "id", "uuid":
			if about == subject || about == "node" {
				return name
			}
		}
	}
	return ""
}

// fieldData returns the data of the operation's field; nil: it is null or missing, which is a
// refusal.
func fieldData(o *Operation, resp *message.Response) any {
	body, _ := message.DecodeJSON(resp.Body).(map[string]any)
	fields, _ := body["data"].(map[string]any)
	return fields[o.Call.Field]
}

// queryObject sends an operation about the object of an identifier as somebody. words, where it is
// not nil, gets the random words of its free texts.
func (e *examination) queryObject(o *Operation, subject string, id any, words map[string]string,
	as *User) (*message.Response, error) {
	argument := o.objectArgument(subject)
	text := e.freshWords(words)
	r, err := e.buildRequest(o, words != nil, func(in, name string, s *apispec.Schema) (any, bool) {
		if in == "body" && name == argument && len(s.Properties) == 0 {
			return fmt.Sprint(id), true
		}
		return text(in, name, s)
	}, nil)
	if err != nil {
		return nil, err
	}
	return e.sendAs(r, as)
}

// createByMutation creates an object by a mutation as the user, and finds its identifier. An error
// that does not end the scan says why there is none.
func (e *examination) createByMutation(o *Operation, as *User) (*object, error) {
	for _, optional := range []bool{true, false} {
		m, resp, err := e.attemptCreation(o, as, nil, optional, nil)
		if err != nil {
			return nil, err
		}
		if m == nil || fieldData(o, resp) == nil {
			if m != nil {
				e.made = slices.DeleteFunc(e.made, func(one *object) bool { return one == m })
			}
			continue
		}
		m.id, err = e.requireIdentifier(m, "id")
		return m, err
	}
	return nil, fmt.Errorf("%s made nothing of a free text", o.Call.Field)
}

// scanGraphQLKind examines one kind of object. An error that does not end the scan says why that
// could not be done.
func (e *examination) scanGraphQLKind(maker *Operation, owner, stranger *User) error {
	n := &node{maker: maker, subject: apispec.Subject(maker.Call.Field)}
	readers := e.findReaders(n)
	mine, err := e.createByMutation(maker, owner)
	if err != nil {
		return err
	}
	var own *message.Response
	for _, n.read = range readers {
		if own, err = e.queryObject(n.read, n.subject, mine.id, nil, owner); err != nil {
			return err
		}
		if len(mine.seenWords(own)) > 0 {
			break
		}
		own = nil
	}
	if own == nil {
		return fmt.Errorf("no query shows one by its identifier")
	}
	if mine.private, err = e.isolationReason(n, mine, own, owner, stranger); mine.private == "" || err != nil {
		return err
	}
	refused, err := e.probeGraphQLRead(n, mine, own, stranger)
	if err != nil {
		return err
	}
	return e.probeMutations(n, mine, refused, stranger)
}

// findReaders returns the queries that take the identifier of such an object, and records in the
// node those that list them.
func (e *examination) findReaders(n *node) []*Operation {
	var readers []*Operation
	for _, o := range e.Operations {
		if !isSafeQuery(o) {
			continue
		}
		if _, none := o.argumentNames(); o.objectArgument(n.subject) != "" && len(readers) < maxReferences {
			readers = append(readers, o)
		} else if none && apispec.Subject(o.Call.Field) == n.subject {
			n.lists = append(n.lists, o)
		}
	}
	return readers
}

// isolationReason returns how the service shows that an object is its owner's alone, as
// privacyReason does; empty: it does not.
func (e *examination) isolationReason(n *node, mine *object, own *message.Response, owner,
	stranger *User) (string, error) {
	list, open, err := e.compareQueryLists(n, mine, owner, stranger)
	if open || err != nil {
		return "", err
	}
	if list != "" {
		return fmt.Sprintf("%s shows the object to its owner, and not to the other user.", list), nil
	}
	nobody, err := e.sendAs(own.Request, nil)
	if err != nil || len(mine.seenWords(nobody)) > 0 {
		return "", err
	}
	named, err := e.ownerProperty(mine.findObject(own), owner)
	if named == "" || err != nil {
		return "", err
	}
	for _, name := range mine.seenWords(own) {
		if secrets.MatchString(normalizeName(name)) {
			return fmt.Sprintf("%s, and has a %q.", named, name), nil
		}
	}
	return "", nil
}

// compareQueryLists returns the last query that lists the object for its owner and not for
// the other user, and whether one shows it to both. A query called "my…" lists the asking
// user's own, which says nothing of who may read others'.
func (e *examination) compareQueryLists(n *node, mine *object, owner, stranger *User) (list string, open bool,
	err error) {
	for _, o := range n.lists {
		r, err := e.buildRequest(o, false, knowNothing, nil)
		if err != nil {
			continue
		}
		his, err := e.sendAs(r, owner)
		if err != nil {
			return "", false, err
		}
		if len(mine.seenWords(his)) == 0 {
			continue
		}
		theirs, err := e.sendAs(r, stranger)
		if err != nil || len(mine.seenWords(theirs)) > 0 {
			return "", true, err
		}
		if fieldData(o, theirs) != nil && !strings.HasPrefix(o.Call.Field, "my") {
			list = o.Call.Field
		}
	}
	return list, false, nil
}

// unknownIdentifier returns an identifier of the object's form that names nothing. GraphQL writes
// numbers of the type ID as strings.
func (e *examination) unknownIdentifier(mine *object, n *node, own *message.Response) any {
	if text := fmt.Sprint(mine.id); text != "" && strings.Trim(text, "0123456789") == "" {
		return fmt.Sprint(e.RandomNumber(700_000_000, 900_000_000))
	}
	return e.absentIdentifier(mine, "", own)
}

// probeGraphQLRead queries the object as another user, and as nobody, and reports whether the other
// user is refused. Controls: an object that does not exist, and the other user's own.
func (e *examination) probeGraphQLRead(n *node, mine *object, own *message.Response,
	stranger *User) (refused bool, err error) {
	resp, err := e.queryObject(n.read, n.subject, mine.id, nil, stranger)
	if err != nil {
		return false, err
	}
	e.recordVerdict(n.read, resp)
	none, err := e.queryObject(n.read, n.subject, e.unknownIdentifier(mine, n, own), nil, stranger)
	if err != nil {
		return false, err
	}
	nobody, err := e.queryObject(n.read, n.subject, mine.id, nil, nil)
	if err != nil {
		return false, err
	}
	seen, open := mine.seenWords(resp), len(mine.seenWords(nobody)) > 0
	if len(mine.seenWords(none)) > 0 || len(seen) == 0 && !open {
		return len(seen) == 0, nil
	}
	proof := []string{fmt.Sprintf("As %s, %s was requested with random values; %s returns "+
		"them to %s.", mine.as.Name(), n.maker.Call.Field, n.read.Call.Field, mine.as.Name()), mine.private}
	if len(seen) > 0 {
		proof = append(proof, fmt.Sprintf("As %s the same query gives the same object, with values that only %s has "+
			"sent: %s.", stranger.Name(), mine.as.Name(), strings.Join(seen, ", ")))
	}
	proof = append(proof, map[bool]string{true: "Even without a session they are " +
		"returned.", false: "Without a session they are not returned."}[open], "For an identifier that does not "+
		"exist they are not returned.")
	answers, notes := []*message.Response{own, resp, nobody, none},
		[]string{"the owner reads the object", "another user reads it", "nobody", "an object that does not exist"}
	if theirs, err := e.createByMutation(n.maker, stranger); traffic.IsFinal(err) {
		return false, err
	} else if err == nil {
		other, err := e.queryObject(n.read, n.subject, theirs.id, nil, stranger)
		if err != nil || len(mine.seenWords(other)) > 0 {
			return false, err // one answer for all identifiers
		}
		answers, notes = append(answers, other), append(notes, "the other user's own object")
		proof = append(proof, "The other user's own object is a different one: the response depends only on the "+
			"identifier.")
	}
	f := activescan.Alert{Rule: objectRead, Request: resp.Request, Responses: answers, ResponseNotes: notes,
		Proof:   proof,
		Message: fmt.Sprintf("%s shows the objects of other users", n.read.Call.Field)}
	if len(seen) == 0 {
		f.Request, f.Message = nobody.Request, fmt.Sprintf("%s shows the objects of users to nobody", n.read.Call.Field)
	}
	e.RaiseAlert(f)
	return len(seen) == 0, nil
}

// probeMutations sends mutations that take the identifier of the object as another user. Two things
// count: a response with what the query refuses him, and an object that its owner then finds
// changed or gone. Mutations that remove come last.
func (e *examination) probeMutations(n *node, mine *object, refused bool, stranger *User) error {
	var list []*Operation
	for _, o := range e.Operations {
		if o.Call != nil && o.Call.Kind == "mutation" && o != n.maker && o.objectArgument(n.subject) != "" &&
			!sitemap.IsDangerous("/"+o.Call.Field) && len(list) < maxReferences {
			list = append(list, o)
		}
	}
	slices.SortStableFunc(list, func(a, b *Operation) int {
		order := map[bool]int{true: 1}
		return order[sitemap.NamesRemoval(a.Call.Field)] - order[sitemap.NamesRemoval(b.Call.Field)]
	})
	for _, o := range list {
		if mine.gone {
			return nil
		}
		if err := e.probeMutation(n, o, mine, refused, stranger); traffic.IsFinal(err) {
			return err
		}
	}
	return nil
}

// probeMutation asks one of them.
func (e *examination) probeMutation(n *node, o *Operation, mine *object, refused bool, stranger *User) error {
	words := map[string]string{}
	resp, err := e.queryObject(o, n.subject, mine.id, words, stranger)
	if err != nil {
		return err
	}
	e.recordVerdict(o, resp)
	after, err := e.queryObject(n.read, n.subject, mine.id, nil, mine.as)
	if err != nil {
		return err
	}
	point := &message.Point{In: message.InJSON, Name: "/variables/" + o.objectArgument(n.subject)}
	if refused {
		if err := e.reportMutationRead(n, o, mine, [2]*message.Response{resp, after}, stranger); err != nil {
			return err
		}
	}
	now, what := &object{words: words}, ""
	switch {
	case len(now.seenWords(after)) > 0:
		what = "changes"
		maps.Copy(mine.words, words)
	case sitemap.NamesRemoval(o.Call.Field) && len(mine.seenWords(after)) == 0 && (fieldData(n.read, after) == nil ||
		mine.findObject(after) == nil) && after.Status < 500:
		what, mine.gone = "removes", true
	default:
		return nil
	}
	e.RaiseAlert(activescan.Alert{Rule: objectWrite, Request: resp.Request, Point: point,
		Responses: []*message.Response{resp, after}, ResponseNotes: []string{"another user " + what + " the object",
			"its owner reads it then"},
		Message: fmt.Sprintf("%s %s the objects of other users", o.Call.Field, what),
		Proof: []string{fmt.Sprintf("As %s an object was made.", mine.as.Name()), mine.private,
			fmt.Sprintf("As %s, %s was called for it; after that %s shows %s the result.", stranger.Name(),
				o.Call.Field, n.read.Call.Field, mine.as.Name())}})
	return nil
}

// reportMutationRead reports a mutation whose response shows another user the object that
// the query refuses him. The responses are that one and what the owner reads then.
func (e *examination) reportMutationRead(n *node, o *Operation, mine *object, responses [2]*message.Response,
	stranger *User) error {
	resp := responses[0]
	shown := mine.seenWords(resp)
	if len(shown) == 0 {
		return nil
	}
	none, err := e.queryObject(o, n.subject, e.unknownIdentifier(mine, n, responses[1]), map[string]string{}, stranger)
	if err != nil || len(mine.seenWords(none)) > 0 {
		return err
	}
	e.RaiseAlert(activescan.Alert{Rule: objectRead, Request: resp.Request,
		Point:     &message.Point{In: message.InJSON, Name: "/variables/" + o.objectArgument(n.subject)},
		Responses: []*message.Response{resp, none}, ResponseNotes: []string{"another user calls the mutation for " +
			"the object", "an object that does not exist"},
		Message: fmt.Sprintf("%s returns objects of other users, which %s denies", o.Call.Field,
			n.read.Call.Field),
		Proof: []string{fmt.Sprintf("As %s an object was made with random values.", mine.as.Name()),
			mine.private, fmt.Sprintf("As %s %s does not show it.", stranger.Name(), n.read.Call.Field),
			fmt.Sprintf("As %s, %s returns values that only %s has sent: %s.", stranger.Name(),
				o.Call.Field, mine.as.Name(), strings.Join(shown, ", "))}})
	return nil
}

// removeByMutation removes what a mutation has created, as its owner, and reports whether that
// worked.
func (e *examination) removeByMutation(m *object) (bool, error) {
	subject := apispec.Subject(m.of.Call.Field)
	for _, o := range e.Operations {
		if o.Call == nil || o.Call.Kind != "mutation" || !sitemap.NamesRemoval(o.Call.Field) ||
			sitemap.IsDangerous("/"+o.Call.Field) || apispec.Subject(o.Call.Field) != subject ||
			o.objectArgument(subject) == "" || m.id == nil {
			continue
		}
		resp, err := e.queryObject(o, subject, m.id, nil, m.as)
		return err == nil && resp.Status == http.StatusOK && fieldData(o, resp) != nil, err
	}
	return false, nil
}

// selfish matches names of queries that show the requesting user himself.
var selfish = lazyregexp.New(`(?i)^(me|self|viewer|whoami|profile|account|(get)?(my|current|logged_?in)_?(self|profile|account|user)|getme|user_?info)$`)

// minPrivate is the length from which on a value counts as a user's own; shorter ones are equal by
// chance.
const minPrivate = 6

// A self is what a query shows a user of himself.
type self struct {
	of *Operation
	// id is his identifier; nil: the query shows none.
	id any
	// values contains his contacts and secrets, by name.
	values map[string]string
}

// ownProfileQuery sends the query that shows users themselves; nil: there is none.
func (e *examination) ownProfileQuery(as *User) (*self, error) {
	for _, o := range e.Operations {
		if o.Call == nil || o.Call.Kind != "query" || !selfish.MatchString(o.Call.Field) {
			continue
		}
		r, err := e.buildRequest(o, false, knowNothing, nil)
		if err != nil {
			continue
		}
		resp, err := e.sendAs(r, as)
		if err != nil {
			return nil, err
		}
		at, one := fieldData(o, resp).(map[string]any)
		if !one {
			continue
		}
		s := &self{of: o, values: map[string]string{}}
		s.id, _ = identifierAmong(at, "id")
		for name, v := range at {
			if text, is := v.(string); is && len(text) >= minPrivate && IsPersonal(name) {
				s.values[name] = text
			}
		}
		return s, nil
	}
	return nil, nil
}

// scanFields searches the responses of other queries to one user for the addresses and secrets of
// another one: a field that one query guards may be reached by another, as in comments { author {
// email } }.
func (e *examination) scanFields(owner, stranger *User) error {
	if stranger.Identity.Role > owner.Identity.Role {
		return nil // who may do more may see more
	}
	his, err := e.ownProfileQuery(owner)
	if his == nil || err != nil {
		return err
	}
	theirs, err := e.ownProfileQuery(stranger)
	if theirs == nil || err != nil || theirs.id == his.id && his.id != nil {
		return err
	}
	maps.DeleteFunc(his.values, func(name, v string) bool { return v == theirs.values[name] })
	if len(his.values) == 0 {
		return nil
	}
	asked := 0
	for _, o := range e.Operations {
		if !isSafeQuery(o) || o == his.of || selfish.MatchString(o.Call.Field) || asked == maxShown {
			continue
		}
		resp, err := e.queryAboutUser(o, his, stranger)
		if traffic.IsFinal(err) {
			return err
		}
		if err != nil || resp == nil {
			continue
		}
		asked++
		if err := e.reportField(o, his, resp, owner, stranger); err != nil {
			return err
		}
	}
	return nil
}

// isSafeQuery reports whether the operation is a query of GraphQL that ends no session.
func isSafeQuery(o *Operation) bool {
	return o.Call != nil && o.Call.Kind == "query" && !sitemap.IsDangerous("/"+o.Call.Field)
}

// queryAboutUser asks a query about one user as another one: by the identifier where it
// takes one, and else a query that takes nothing; nil: it takes something else.
func (e *examination) queryAboutUser(o *Operation, his *self, as *User) (*message.Response, error) {
	_, none := o.argumentNames()
	switch {
	case his.id != nil && o.objectArgument("user") != "":
		return e.queryObject(o, "user", his.id, nil, as)
	case none:
		r, err := e.buildRequest(o, false, knowNothing, nil)
		if err != nil {
			return nil, err
		}
		return e.sendAs(r, as)
	}
	return nil, nil
}

// reportField reports values of one user that a response to another one contains.
func (e *examination) reportField(o *Operation, his *self, resp *message.Response, owner, stranger *User) error {
	var names []string
	severe := false
	for _, name := range slices.Sorted(maps.Keys(his.values)) {
		if holdsValue(resp, his.values[name]) {
			names = append(names, name)
			severe = severe || !contacts.MatchString(normalizeName(name))
		}
	}
	if len(names) == 0 {
		return nil
	}
	nobody, err := e.sendAs(resp.Request, nil)
	if err != nil {
		return err
	}
	f := activescan.Alert{Rule: personalData, Request: resp.Request, Responses: []*message.Response{resp, nobody},
		ResponseNotes: []string{"another user", "nobody"},
		Message:       fmt.Sprintf("%s shows users the %s of other users", o.Call.Field, strings.Join(names, " and ")),
		Proof: []string{fmt.Sprintf("%s shows %s his own: %s.", his.of.Call.Field, owner.Name(),
			strings.Join(names, ", ")),
			fmt.Sprintf("As %s, whom %s shows others, %s returns the same values.", stranger.Name(),
				his.of.Call.Field, o.Call.Field)}}
	if severe {
		f.Severity = finding.High
	}
	if slices.ContainsFunc(names, func(name string) bool { return holdsValue(nobody, his.values[name]) }) {
		f.Proof = append(f.Proof, "Even without a session they are returned.")
	}
	e.RaiseAlert(f)
	return nil
}
