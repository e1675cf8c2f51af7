package graphql

import (
	"fmt"
	"strings"
	"time"

	"github.com/vektah/gqlparser/v2/ast"

	"merlon/internal/engine/api/apispec"
	"merlon/internal/engine/api/requestgen"
	"merlon/internal/engine/dast/activescan"
	"merlon/internal/engine/dast/message"
)

// This file asks what one request may cost, at small numbers.

// How much is asked for at most.
const (
	// batched is the number of queries in one list.
	batched = 5
	// aliased is the number of aliases of one field.
	aliased = 10
	// duplicated is how often one field is repeated without an alias.
	duplicated = 20
	// directed is how often a directive is repeated.
	directed = 10
	// deepest is the number of levels of a cycle.
	deepest = 8

	// quick is the time of a response that may be requested several times.
	quick = 500 * time.Millisecond
	// heavy is the time from which on a query counts as expensive.
	heavy = 5 * time.Second
	// bulk is the size of a response in bytes, after which nothing deeper is requested.
	bulk = 200 << 10
)

// scanLimits runs the checks of how much one request may demand; the first error ends them.
func (a *asker) scanLimits() error {
	for _, f := range []func() error{a.probeBatching, a.probeAliases, a.probeDirectives, a.probeCycles} {
		if err := f(); err != nil {
			return err
		}
	}
	return nil
}

// probeBatching sends a list of queries, as Apollo and others accept. Limits that count requests do
// not see a thousand sign-ins in one of them.
func (a *asker) probeBatching() error {
	var list []any
	for i := range batched {
		list = append(list, map[string]any{"query": fmt.Sprintf("{ q%d: __typename }", i)})
	}
	resp, err := a.Send(a.postRequest(list))
	if err != nil {
		return err
	}
	if n := countBatchResults(resp); n != batched {
		return nil
	}
	again, err := a.Send(a.postRequest(list))
	if err != nil || countBatchResults(again) != batched {
		return err
	}
	a.RaiseAlert(activescan.Alert{Rule: batching, Request: resp.Request, Responses: []*message.Response{resp, again},
		Proof: []string{fmt.Sprintf("A list of %d queries returns a list of %d results, each with its own "+
			"name, twice.", batched, batched)}})
	return nil
}

// countBatchResults counts the results of a batch that belong to their queries: q0 in the first
// one.
func countBatchResults(resp *message.Response) int {
	var list []answer
	if decodeJSON(resp.Body, &list) != nil {
		return 0
	}
	n := 0
	for i, one := range list {
		if one.isClean() && one.Data[fmt.Sprintf("q%d", i)] != nil {
			n++
		}
	}
	return n
}

// cheapField returns the field with the fastest response, reduced to its type name, with its
// variables; without any such field, the name of the root type.
func (a *asker) cheapField() (doc *ast.QueryDocument, field *ast.Field, variables map[string]any) {
	var best *Operation
	for _, o := range a.Operations {
		if o.Call.Kind == "query" && o.hasData() && o.Answer.Took < quick &&
			(best == nil || o.Answer.Took < best.Answer.Took) {
			best = o
		}
	}
	if best != nil {
		if doc, field = best.rootField(); field != nil {
			if len(field.SelectionSet) > 0 {
				field.SelectionSet = ast.SelectionSet{&ast.Field{Alias: "__typename", Name: "__typename"}}
			}
			return doc, field, best.sentVariables()
		}
	}
	field = &ast.Field{Alias: "__typename", Name: "__typename"}
	return &ast.QueryDocument{Operations: ast.OperationList{{Operation: ast.Query,
		SelectionSet: ast.SelectionSet{field}}}}, field, nil
}

// probeAliases requests a field under several aliases, and several times under one. Aliases execute
// it each time; repetitions are merged (section 5.3.2), but cost validation.
func (a *asker) probeAliases() error {
	doc, field, variables := a.cheapField()
	var answers []*message.Response
	var proof []string
	for _, n := range []int{1, aliased / 2, aliased} {
		var list ast.SelectionSet
		for i := range n {
			one := *field
			one.Alias = fmt.Sprintf("a%d", i)
			list = append(list, &one)
		}
		doc.Operations[0].SelectionSet = list
		resp, got, err := a.sendQuery(a.queryRequest(writeDocument(doc), variables))
		if err != nil {
			return err
		}
		if !got.isClean() || len(got.Data) != n {
			answers = nil
			break
		}
		answers = append(answers, resp)
		proof = append(proof, fmt.Sprintf("%d aliases of %s: %d results "+
			"in %d ms.", n, field.Name, n, resp.Took.Milliseconds()))
	}
	if len(answers) > 0 {
		a.RaiseAlert(activescan.Alert{Rule: aliases, Request: answers[len(answers)-1].Request, Responses: answers,
			Proof: append(proof, "More were not tested.")})
	}
	doc.Operations[0].SelectionSet = nil
	for range duplicated {
		doc.Operations[0].SelectionSet = append(doc.Operations[0].SelectionSet, field)
	}
	resp, got, err := a.sendQuery(a.queryRequest(writeDocument(doc), variables))
	if err != nil || !got.isClean() {
		return err
	}
	a.RaiseAlert(activescan.Alert{Rule: duplicates, Request: resp.Request, Responses: []*message.Response{resp},
		Proof: []string{fmt.Sprintf("A query that names %s %d times is executed. More were not "+
			"tested.", field.Name, duplicated)}})
	return nil
}

// probeDirectives repeats a directive that is allowed once at a location (section 5.7.3).
func (a *asker) probeDirectives() error {
	resp, got, err := a.sendQuery(a.queryRequest("{ __typename"+strings.Repeat(" @include(if: true)", directed)+" }",
		nil))
	if err != nil || !got.isClean() {
		return err
	}
	a.RaiseAlert(activescan.Alert{Rule: directives, Request: resp.Request, Responses: []*message.Response{resp},
		Proof: []string{fmt.Sprintf("A query with the same directive %d times at one location is executed; it is "+
			"not valid.", directed)}})
	return nil
}

// A circle is a path from a type back to itself: author → posts → author.
type circle struct {
	// lead are the fields to the type, loop those from the type back to it.
	lead, loop []string
}

// Limits of the search for circles.
const (
	// maxWay bounds the length of a path, and the nesting of lists.
	maxWay = 6
	// maxVisited bounds the types that the search visits.
	maxVisited = 3000
)

// shortestCycle returns the shortest circle below a type, by breadth-first search; nil: there is
// none.
func shortestCycle(root *apispec.Schema) *circle {
	type way struct {
		at    *apispec.Schema
		types []string
		names []string
	}
	todo := []way{{at: objectType(root)}}
	for visited := 0; len(todo) > 0 && visited < maxVisited; visited++ {
		w := todo[0]
		todo = todo[1:]
		if w.at == nil || w.at.Name == "" || len(w.names) > maxWay {
			continue
		}
		for i, t := range w.types {
			if t == w.at.Name {
				return &circle{w.names[:i], w.names[i:]}
			}
		}
		types := append(w.types[:len(w.types):len(w.types)], w.at.Name)
		for _, p := range w.at.Properties {
			todo = append(todo, way{objectType(p.Schema), types, append(w.names[:len(w.names):len(w.names)], p.Name)})
		}
	}
	return nil
}

// objectType returns the object type of a field, without the lists around it; nil: the field is a
// scalar.
func objectType(s *apispec.Schema) *apispec.Schema {
	for range maxWay {
		s = requestgen.Flat(s)
		if s.Items == nil {
			break
		}
		s = s.Items
	}
	if len(s.Properties) == 0 {
		return nil
	}
	return s
}

// dataSchema returns the schema of the operation's data; nil: unknown.
func (o *Operation) dataSchema() *apispec.Schema {
	if len(o.Responses) == 0 || len(o.Responses[0].Bodies) == 0 {
		return nil
	}
	for _, p := range requestgen.Flat(o.Responses[0].Bodies[0].Schema).Properties {
		if p.Name != "data" {
			continue
		}
		for _, f := range requestgen.Flat(p.Schema).Properties {
			if f.Name == o.Call.Field {
				return f.Schema
			}
		}
	}
	return nil
}

// maxCircles bounds the operations whose circles are followed.
const maxCircles = 3

// probeCycles follows circles of fields, deeper and deeper as long as the responses stay fast and
// small.
func (a *asker) probeCycles() error {
	tried := 0
	for _, o := range a.Operations {
		if o.Call.Kind != "query" || !o.hasData() || o.Answer.Took > quick || tried == maxCircles {
			continue
		}
		c := shortestCycle(o.dataSchema())
		doc, field := o.rootField()
		if c == nil || field == nil {
			continue
		}
		tried++
		if done, err := a.deepenCycle(o, c, doc, field); err != nil || done {
			return err
		}
	}
	return nil
}

// deepenCycle requests a circle two levels deeper each time, and reports that no limit ended it. It
// reports true when the service is proven to have no limit, so other operations need no test.
func (a *asker) deepenCycle(o *Operation, c *circle, doc *ast.QueryDocument, field *ast.Field) (bool, error) {
	var answers []*message.Response
	var proof []string
	stopped := ""
	for n := 2; n <= deepest; n += 2 {
		field.SelectionSet = nestedSelection(c, n)
		resp, got, err := a.sendQuery(a.queryRequest(writeDocument(doc), o.sentVariables()))
		if err != nil {
			return false, err
		}
		if !got.isClean() {
			return false, nil
		}
		answers = append(answers, resp)
		proof = append(proof, fmt.Sprintf("%d levels (%s): response in %d ms with "+
			"%d bytes.", n, strings.Join(c.loop, " → "), resp.Took.Milliseconds(), len(resp.Body)))
		if n < deepest && n > len(c.lead)+len(c.loop) && (resp.Took > time.Second || len(resp.Body) > bulk) {
			stopped = "Deeper queries were not sent: the responses are already too large."
			break
		}
	}
	if stopped == "" {
		stopped = "Deeper queries were not tested."
	}
	at := answers[len(answers)-1].Request.Clone()
	a.RaiseAlert(activescan.Alert{Rule: depth, Request: at, Responses: answers, Proof: append(proof, stopped),
		Message: fmt.Sprintf("%s follows the circle %s without a limit of depth", o.Call.Field,
			strings.Join(c.loop, " → "))})
	return true, nil
}

// nestedSelection returns the selection of a field, n levels deep.
func nestedSelection(c *circle, n int) ast.SelectionSet {
	names := append([]string{}, c.lead...)
	for len(names) < n {
		names = append(names, c.loop[(len(names)-len(c.lead))%len(c.loop)])
	}
	set := ast.SelectionSet{&ast.Field{Alias: "__typename", Name: "__typename"}}
	for i := len(names) - 1; i >= 0; i-- {
		set = ast.SelectionSet{&ast.Field{Alias: names[i], Name: names[i], SelectionSet: set}}
	}
	return set
}

// confirmCost repeats queries that took long, without other load: the rest of the scan may have
// been the reason.
func (a *asker) confirmCost() error {
	for _, o := range a.Operations {
		if o.Call.Kind != "query" || o.Request == nil || !o.Late && (o.Answer == nil || o.Answer.Took < heavy) {
			continue
		}
		control, err := a.SendExclusively(a.queryRequest("{ __typename }", nil))
		if err != nil || control.Took > quick {
			return err
		}
		began := time.Now()
		resp, err := a.SendExclusively(o.Request)
		took := time.Since(began)
		if a.Context.Err() != nil {
			return err
		}
		if took < heavy {
			continue
		}
		f := activescan.Alert{Rule: expensive, Request: o.Request, Message: fmt.Sprintf("%s takes seconds of "+
			"processing time", o.Call.Field), Responses: []*message.Response{control},
			ResponseNotes: []string{"another query"},
			Proof: []string{"Another query takes " + fmt.Sprint(control.Took.Round(time.Millisecond)) + ".",
				"This one, sent at the start of the scan and again without other load, took " +
					fmt.Sprint(took.Round(100*time.Millisecond)) + "."}}
		if err == nil {
			f.Responses = append(f.Responses, resp)
		} else {
			f.Proof = append(f.Proof, "There was no response in that time.")
		}
		a.RaiseAlert(f)
	}
	return nil
}
