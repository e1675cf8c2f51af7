// Package graphql holds the checks that only services of GraphQL need
// (https://spec.graphql.org/October2021/, https://graphql.github.io/graphql-over-http/):
// what they tell of themselves, what one request may cost, who may send one from where,
// and whom they believe. Injection through arguments is the business of the checks of
// dynamic analysis: variables are leaves of the JSON body.
//
// Every check asks first what the service answers when nothing is wrong; what is said of
// limits is proven at small numbers and no more.
package graphql

import (
	"bytes"
	"encoding/json"
	"net/http"
	"strings"

	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/formatter"
	"github.com/vektah/gqlparser/v2/parser"

	"merlon/internal/engine/api/apispec"
	"merlon/internal/engine/dast/activescan"
	"merlon/internal/engine/dast/message"
	"merlon/internal/finding"
	"merlon/internal/scan"
)

// An Endpoint is an address that speaks GraphQL.
type Endpoint struct {
	At         *message.Request // POST, without a body
	Operations []*Operation
}

// An Operation is a field of a root type, as it was asked.
type Operation struct {
	*apispec.Operation // with a Call
	Request            *message.Request
	Answer             *message.Response // nil: none came
	Late               bool              // none came in time
}

// Checks returns the checks. endpoints is called while they run, when all operations have
// been asked.
func Checks(endpoints func() []*Endpoint) []*activescan.Rule {
	each := func(f func(*asker) error) func(*activescan.OperationScan) error {
		return func(t *activescan.OperationScan) error {
			for _, e := range endpoints() {
				a := &asker{OperationScan: t, Endpoint: e}
				if alive, err := a.isAlive(); err != nil {
					return err
				} else if !alive {
					continue
				}
				if err := f(a); err != nil {
					return err
				}
			}
			return nil
		}
	}
	return []*activescan.Rule{
		{ID: "graphql-disclosure", FindingRules: []*finding.Rule{introspection, suggestions, debugging},
			Profile:  scan.Safe,
			ScanSite: each((*asker).scanDisclosure)},
		{ID: "graphql-console", FindingRules: []*finding.Rule{console, consoleBypass, debugging}, Profile: scan.Safe,
			ScanSite: each((*asker).probeConsoles)},
		{ID: "graphql-forgery", FindingRules: []*finding.Rule{overGET, asForm}, Profile: scan.Safe,
			ScanSite: each((*asker).probeCSRF)},
		{ID: "graphql-limits", FindingRules: []*finding.Rule{batching, aliases, duplicates, directives, depth},
			Profile: scan.Standard, ScanSite: each((*asker).scanLimits)},
		{ID: "graphql-access", FindingRules: []*finding.Rule{unsignedToken, denyList, openMutation},
			Profile:  scan.Standard,
			ScanSite: each((*asker).scanAccess)},
		{ID: "graphql-requests", FindingRules: []*finding.Rule{serverForgery},
			OASTRules: []*finding.Rule{serverForgery},
			Profile:   scan.Standard, ScanSite: each((*asker).scanForSSRF)},
		{ID: "graphql-cost", FindingRules: []*finding.Rule{expensive}, Profile: scan.Standard, Slow: true,
			ScanSite: each((*asker).confirmCost)},
	}
}

// asker is an endpoint in the hands of a check.
type asker struct {
	*activescan.OperationScan
	*Endpoint
}

// queryRequest returns the endpoint's request with a query.
func (e *Endpoint) queryRequest(text string, variables any) *message.Request {
	body := map[string]any{"query": text}
	if variables != nil {
		body["variables"] = variables
	}
	return e.postRequest(body)
}

// postRequest returns the endpoint's request with a body of JSON.
func (e *Endpoint) postRequest(body any) *message.Request {
	r := e.At.Clone()
	text, err := json.Marshal(body)
	if err != nil { // texts, numbers, lists and maps
		panic(err)
	}
	r.Body = message.Body{Kind: message.JSON, Text: text}
	return r
}

// answer is what a service says.
type answer struct {
	Data   map[string]any
	Errors []fault
}

// fault is an error of an answer, as GraphQL writes it.
type fault struct {
	Message    string         `json:"message"`
	Extensions map[string]any `json:"extensions"`
}

// readResponse reads an answer; nil: it is none of GraphQL.
func readResponse(resp *message.Response) *answer {
	var a answer
	if json.Unmarshal(resp.Body, &a) != nil || a.Data == nil && len(a.Errors) == 0 {
		return nil
	}
	return &a
}

// isClean reports whether the service did what it was asked.
func (a *answer) isClean() bool { return a != nil && a.Data != nil && len(a.Errors) == 0 }

// errorText is the text of the errors.
func (a *answer) errorText() string {
	if a == nil {
		return ""
	}
	var all []string
	for _, f := range a.Errors {
		all = append(all, f.Message)
	}
	return strings.Join(all, "\n")
}

// sendQuery sends a query and reads the answer.
func (a *asker) sendQuery(r *message.Request) (*message.Response, *answer, error) {
	resp, err := a.Send(r)
	if err != nil {
		return nil, nil, err
	}
	return resp, readResponse(resp), nil
}

// isAlive reports whether the endpoint speaks GraphQL at all: it answers the name of its
// type of queries, or says in its own words why not.
func (a *asker) isAlive() (bool, error) {
	_, got, err := a.sendQuery(a.queryRequest("{ __typename }", nil))
	return got != nil, err
}

// maxTokens bounds the text of a query that is taken apart.
const maxTokens = 20_000

// rootField is the root field of an operation with its document; nil when it cannot be read.
func (o *Operation) rootField() (*ast.QueryDocument, *ast.Field) {
	doc, err := parser.ParseQueryWithTokenLimit(&ast.Source{Input: o.Call.Text}, maxTokens)
	if err != nil || len(doc.Operations) != 1 || len(doc.Operations[0].SelectionSet) != 1 {
		return nil, nil
	}
	f, _ := doc.Operations[0].SelectionSet[0].(*ast.Field)
	return doc, f
}

// writeDocument writes a document as text.
func writeDocument(doc *ast.QueryDocument) string {
	var b bytes.Buffer
	formatter.NewFormatter(&b, formatter.WithCompacted()).FormatQueryDocument(doc)
	return b.String()
}

// sentVariables are those that the operation was asked with.
func (o *Operation) sentVariables() map[string]any {
	if o.Request == nil {
		return nil
	}
	var body struct {
		Variables map[string]any `json:"variables"`
	}
	d := json.NewDecoder(bytes.NewReader(o.Request.Body.Text))
	d.UseNumber()
	_ = d.Decode(&body) // what cannot be read has none
	return body.Variables
}

// hasData reports whether the operation gave data.
func (o *Operation) hasData() bool {
	return o.Answer != nil && readResponse(o.Answer).isClean() && readResponse(o.Answer).Data[o.Call.Field] != nil
}

// Introspection asks a service for its schema, without what older services do not know.
const Introspection = `query IntrospectionQuery { __schema { queryType { name } mutationType { name } subscriptionType { name } types { kind name ` +
	`fields(includeDeprecated: true) { name isDeprecated args { name defaultValue type { ...T } } type { ...T } } inputFields { name defaultValue type { ...T } } ` +
	`enumValues(includeDeprecated: true) { name } possibleTypes { name } } } } ` +
	`fragment T on __Type { kind name ofType { kind name ofType { kind name ofType { kind name ofType { kind name ofType { kind name } } } } } }`

// Introspect returns the request that asks the address for its schema.
func Introspect(at *message.Request) *message.Request {
	r := at.Clone()
	r.Method = http.MethodPost
	return (&Endpoint{At: r}).queryRequest(Introspection, nil)
}
