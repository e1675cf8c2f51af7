package graphql

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"merlon/internal/engine/dast/activescan"
	"merlon/internal/engine/dast/message"
	"merlon/internal/lazyregexp"
)

// This file asks what the service tells of itself.

// scanDisclosure runs the checks of what the service discloses about itself.
func (a *asker) scanDisclosure() error {
	if err := a.probeIntrospection(); err != nil {
		return err
	}
	if err := a.probeSuggestions(); err != nil {
		return err
	}
	return a.probeDebugErrors(a.Endpoint)
}

// probeIntrospection requests the names of all types (GraphQL, section 4.2). Types that begin with
// "__" belong to introspection itself.
func (a *asker) probeIntrospection() error {
	resp, got, err := a.sendQuery(a.queryRequest("{ __schema { queryType { name } types { name fields { name "+
		"} } } }", nil))
	if err != nil || got == nil {
		return err
	}
	var body struct {
		Data struct {
			Schema struct {
				QueryType struct{ Name string }
				Types     []struct {
					Name   string
					Fields []struct{ Name string }
				}
			} `json:"__schema"`
		}
	}
	if json.Unmarshal(resp.Body, &body) != nil || body.Data.Schema.QueryType.Name == "" {
		return nil
	}
	types, fields, root := 0, 0, []string{}
	for _, t := range body.Data.Schema.Types {
		if strings.HasPrefix(t.Name, "__") || len(t.Fields) == 0 {
			continue
		}
		types++
		fields += len(t.Fields)
		for _, f := range t.Fields {
			if t.Name == body.Data.Schema.QueryType.Name {
				root = append(root, f.Name)
			}
		}
	}
	if len(root) == 0 {
		return nil
	}
	a.RaiseAlert(activescan.Alert{Rule: introspection, Request: resp.Request, Responses: []*message.Response{resp},
		ResponseNotes: []string{"introspection"},
		Proof: []string{fmt.Sprintf("The response names %d types with %d fields; queries "+
			"are %s.", types, fields, someNames(root))}})
	return nil
}

// someNames lists names for the report, ten at most.
func someNames(names []string) string {
	if len(names) > 10 {
		return strings.Join(names[:10], ", ") + fmt.Sprintf(" and %d more", len(names)-10)
	}
	return strings.Join(names, ", ")
}

// corrected finds the names that a message suggests.
var (
	// corrected captures the suggestions of an error: Did you mean "user" or "users"?
	corrected = lazyregexp.New(`(?i)did you mean([^?]{1,300})\?`)
	// quoted captures each name of them.
	quoted = lazyregexp.New("[\"'`]([A-Za-z_][A-Za-z0-9_]*)[\"'`]")
)

// usual are names of root fields that many services have, for services whose schema is not known.
var usual = []string{"user", "users", "me", "viewer", "account", "accounts", "node", "search", "product", "products",
	"order", "orders", "customer", "customers",
	"post", "posts", "comments", "login", "createUser", "updateUser", "settings", "organization", "profile", "messages",
	"notifications", "categories", "system", "health"}

// maxGuessed bounds the names that are guessed in one query.
const maxGuessed = 40

// probeSuggestions requests misspelled names, in up to three rounds that build on each other, and
// counts the names in the errors that the query did not contain. So a schema is read without
// introspection.
func (a *asker) probeSuggestions() error {
	var guesses []string
	for _, o := range a.Operations {
		if o.Call.Kind == "query" && len(o.Call.Field) > 4 && len(guesses) < 3 {
			guesses = append(guesses, misspell(o.Call.Field))
		}
	}
	if len(guesses) == 0 {
		for _, name := range usual {
			guesses = append(guesses, misspell(name))
		}
	}
	known := map[string]bool{}
	var answers []*message.Response
	for range 3 {
		resp, got, err := a.sendQuery(a.queryRequest("{ "+strings.Join(guesses, " ")+" }", nil))
		if err != nil || got == nil {
			return err
		}
		var fresh []string
		for _, m := range corrected.FindAllStringSubmatch(got.errorText(), -1) {
			for _, name := range quoted.FindAllStringSubmatch(m[1], -1) {
				if !known[name[1]] && !slices.Contains(guesses, name[1]) {
					known[name[1]] = true
					fresh = append(fresh, name[1])
				}
			}
		}
		if len(fresh) == 0 {
			break
		}
		answers = append(answers, resp)
		guesses = guesses[:0]
		for _, name := range fresh { // what is alike to these is found next
			guesses = append(guesses, misspell(name), name+"s", name+"ById")
		}
		guesses = guesses[:min(len(guesses), maxGuessed)]
	}
	if len(known) == 0 {
		return nil
	}
	var names []string
	for name := range known {
		names = append(names, name)
	}
	slices.Sort(names)
	a.RaiseAlert(activescan.Alert{Rule: suggestions, Request: answers[0].Request, Responses: answers,
		Proof: []string{fmt.Sprintf("For names that do not exist, the service suggests %d that "+
			"do: %s.", len(names), someNames(names))}})
	return nil
}

// misspell swaps two letters in the middle, or appends one where they are the same. Servers suggest
// names within a small edit distance.
func misspell(name string) string {
	b := []byte(name)
	i := len(b) / 2
	if i+1 >= len(b) || b[i] == b[i+1] {
		return name + "x"
	}
	b[i], b[i+1] = b[i+1], b[i]
	return string(b)
}

// internals matches stack traces of Python, JavaScript, Java, Go, PHP, .NET and Ruby.
var internals = lazyregexp.New(`Traceback \(most recent call last\)|File \\?"[^"\\]{1,200}\\?", line \d+|\bat [\w$.<> ]{1,120} \(?[^()\s"]{1,200}:\d+:\d+\)?|\bat [\w$.]{3,200}\([\w$]{1,80}\.(?:java|kt|scala):\d+\)|` +
	`goroutine \d+ \[running\]|#\d+ [^"\s]{1,200}\.php\(\d+\)|\bin [^"\s]{1,200}\.cs:line \d+|\.rb:\d+:in `)

// findInternals returns the stack trace in the errors of a response; empty: there is none. It is in
// the extensions with Apollo Server, and in the message elsewhere.
func findInternals(resp *message.Response) string {
	got := readResponse(resp)
	if got == nil {
		return ""
	}
	for _, f := range got.Errors {
		text, err := json.Marshal(f.Extensions)
		if err != nil { // it was read from JSON
			continue
		}
		for _, s := range []string{string(text), f.Message} {
			if m := internals.FindString(s); m != "" {
				return m
			}
		}
	}
	return ""
}

// probeDebugErrors sends queries that are invalid in several ways: an unknown field, an error of
// syntax, variables of the wrong type; before these, one that has failed with a stack trace
// already.
func (a *asker) probeDebugErrors(e *Endpoint) error {
	wrong := []*message.Request{e.queryRequest("{ "+a.RandomLetters(8)+" }", nil), e.queryRequest("{", nil)}
	for _, o := range a.Operations {
		if o.Call.Kind == "query" && o.Answer != nil && len(o.sentVariables()) > 0 && len(wrong) < 4 {
			bad := map[string]any{}
			for name := range o.sentVariables() {
				bad[name] = []any{map[string]any{"x": 1}}
			}
			wrong = append(wrong, e.queryRequest(o.Call.Text, bad))
		}
	}
	for _, o := range a.Operations { // that have failed already
		if o.Answer != nil && e == a.Endpoint && findInternals(o.Answer) != "" && o.Call.Kind == "query" {
			wrong = append([]*message.Request{o.Request}, wrong...)
			break
		}
	}
	for _, r := range wrong {
		resp, err := a.Send(r)
		if err != nil {
			return err
		}
		what := findInternals(resp)
		if what == "" {
			continue
		}
		again, err := a.Send(r)
		if err != nil {
			return err
		}
		if findInternals(again) == "" {
			continue
		}
		a.RaiseAlert(activescan.Alert{Rule: debugging, Request: r, Responses: []*message.Response{resp, again},
			Proof: []string{fmt.Sprintf("The response to an invalid query contains internals, twice: %.200q.", what)}})
		return nil
	}
	return nil
}
