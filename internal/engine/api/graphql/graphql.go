// Package graphql contains the checks that only GraphQL services need
// (https://spec.graphql.org/October2021/, https://graphql.github.io/graphql-over-http/): what they
// disclose (disclosure.go), what one request may cost (limits.go), who may send one from where, and
// which tokens they trust (access.go), and where they send requests themselves (request.go).
// Injection by arguments is left to the checks of DAST: variables are leaves of the JSON body.
//
// Each check requests first what the service returns when nothing is wrong. Limits are proven with
// small numbers: ten aliases show that a thousand would be executed, without the load.
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

// An Endpoint is an address that speaks GraphQL, with its operations.
type Endpoint struct {
	// At is a POST without a body.
	At         *message.Request
	Operations []*Operation
}

// An Operation is a field of a root type, as it was requested.
type Operation struct {
	*apispec.Operation // with a Call
	// Request is the best valid request; nil: none could be made.
	Request *message.Request
	// Answer is its response; nil: there is none.
	Answer *message.Response
	// Late: no response came in time.
	Late bool
}

// Checks returns the checks. endpoints is called while they run, when all operations have been
// requested. Each check runs once per endpoint that still responds.
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

// An asker sends the requests of one check to one endpoint.
type asker struct {
	*activescan.OperationScan
	*Endpoint
}

// queryRequest returns a request of the endpoint with a query; nil variables are left out.
func (e *Endpoint) queryRequest(text string, variables any) *message.Request {
	body := map[string]any{"query": text}
	if variables != nil {
		body["variables"] = variables
	}
	return e.postRequest(body)
}

// postRequest returns a request of the endpoint with a JSON body.
func (e *Endpoint) postRequest(body any) *message.Request {
	r := e.At.Clone()
	text, err := json.Marshal(body)
	if err != nil { // texts, numbers, lists and maps
		panic(err)
	}
	r.Body = message.Body{Kind: message.JSON, Text: text}
	return r
}

// An answer is the response of a service (GraphQL, section 7.1).
type answer struct {
	// Data is nil when the request was not executed at all.
	Data   map[string]any
	Errors []fault
}

// A fault is an error of a response (section 7.1.2).
type fault struct {
	Message    string         `json:"message"`
	Extensions map[string]any `json:"extensions"`
}

// readResponse parses a response; nil: it is none of GraphQL.
func readResponse(resp *message.Response) *answer {
	var a answer
	if json.Unmarshal(resp.Body, &a) != nil || a.Data == nil && len(a.Errors) == 0 {
		return nil
	}
	return &a
}

// isClean reports whether the service executed everything without an error. It is false for nil.
func (a *answer) isClean() bool { return a != nil && a.Data != nil && len(a.Errors) == 0 }

// errorText returns the messages of the errors, one a line.
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

// isAlive reports whether the endpoint speaks GraphQL: it returns the name of its query type, or an
// error in the form of GraphQL.
func (a *asker) isAlive() (bool, error) {
	_, got, err := a.sendQuery(a.queryRequest("{ __typename }", nil))
	return got != nil, err
}

// maxTokens bounds the tokens of a query that is parsed.
const maxTokens = 20_000

// rootField returns the document of an operation with its only root field; nil when it cannot be
// parsed.
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

// sentVariables returns a new map of the variables that the operation was sent with. Callers change
// it.
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

// Introspection queries a service for its schema, without what older services do not know, such as
// specifiedByURL and isRepeatable. Five levels of ofType cover [[T!]!]!.
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
