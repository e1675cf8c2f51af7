// Package operations is the analyzer of running APIs. It reads their descriptions (OpenAPI,
// GraphQL, Postman, HAR, and routes found in source code), requests every operation as its
// description says, those that give identifiers before those that take them, compares the responses
// with the description, and attacks. Every operation ends reached, refused or not reached, with the
// reason.
//
// gather.go finds descriptions, explore.go requests operations, store.go remembers the values of
// their responses, made.go decides what the scan may change, keys.go uses credentials that
// responses contain, checks.go and sizes.go are the checks that need a description, authorize.go
// connects the comparison of users (authz). What every live scan does is in livescan, how values
// are made in requestgen.
//
// Budget: maxAttempts requests for each operation before the attack.
package operations

import (
	"cmp"
	"context"
	_ "embed" // the manual
	"net/http"
	"slices"

	"merlon/internal/engine/api/apispec"
	"merlon/internal/engine/api/authz"
	"merlon/internal/engine/api/graphql"
	"merlon/internal/engine/dast/check"
	"merlon/internal/engine/dast/livescan"
	"merlon/internal/engine/dast/message"
	"merlon/internal/engine/dast/sitemap"
	"merlon/internal/finding"
	"merlon/internal/scan"
)

//go:embed doc.md
var doc string

// Analyzer examines a running API by its descriptions.
var Analyzer = &scan.Analyzer{
	ID: "api/operations", Version: 1, Analysis: finding.API, Doc: doc, Rules: listRules,
	Needs: scan.Needs{Network: true}, Live: scanTarget,
}

// An examination is one scan of one API.
type examination struct {
	*livescan.Scan
	// All operations of all descriptions, in the order of the descriptions; at most
	// livescan.MaxOperations.
	calls []*call
	// The operations that are attacked, by sitemap.OperationKey of their request.
	byShape map[string]*call
	// The values of responses so far.
	store *store
	// The header that the descriptions put tokens into; empty: Authorization.
	header string
	// The account that the scan has registered and explores as; nil: the target has identities, or
	// the API offers no registration.
	joined *authz.User
	// The identities beside the first that are signed in.
	others []*authz.User
	// Keys that responses contain, at most maxKeys; see keys.go.
	keys []key
	// Where the session sends one of them.
	opens []place
}

// A call is an operation with what became of it.
type call struct {
	operation *apispec.Operation
	// The kind of its description: "openapi", "graphql", "postman", "har", or "code" for a route.
	origin string
	// The security schemes of its description, by name.
	schemes map[string]apispec.SecurityScheme
	// The request with the best response, or the last without one; nil: none could be made.
	request *message.Request
	// The response to request; nil: none.
	answer *message.Response
	// What the report says of the operation.
	seen finding.Operation
	// The path of the last request names an object that the scan has created.
	created bool
	// No response came in time.
	late bool
}

// scanTarget runs the live scan of one target.
func scanTarget(p *scan.LivePass) error {
	e := &examination{byShape: map[string]*call{}, store: newStore()}
	v, err := livescan.New(p, slices.Concat(e.describedRules(), graphql.Checks(e.graphQLEndpoints), check.All))
	if err != nil {
		return err
	}
	defer v.Close()
	e.Scan = v
	return v.Execute(livescan.Plan{Discover: e.discoverOperations, Found: 40, Operations: e.operationOutcomes})
}

// discoverOperations reads the descriptions and asks every operation of them.
func (e *examination) discoverOperations(ctx context.Context) error {
	if err := e.signOthersIn(ctx); err != nil {
		return err
	}
	e.Progress(5, "read descriptions")
	if err := e.gatherSpecs(ctx); err != nil {
		return err
	}
	if err := e.addDeclaredRoutes(); err != nil {
		return err
	}
	if len(e.calls) == 0 {
		e.Degrade(scan.Reason{Code: "unavailable", Message: "there is no description of the API: none was given, and " +
			"none is where descriptions usually are"})
		e.Engine.Rules = nil // there is nothing to attack
		return nil
	}
	if err := e.registerAccount(ctx); err != nil {
		return err
	}
	if err := e.exploreOperations(ctx); err != nil {
		return err
	}
	if slices.ContainsFunc(e.Sitemap.Entries(), func(s sitemap.Entry) bool {
		return s.Request.Method != http.MethodGet
	}) {
		// What one operation changes, another one shows: comparisons need the application to stand
		// still.
		e.Engine.Parallel = 1
	}
	return nil
}

// operationOutcomes returns the outcome of each operation, with the requests of the attack added.
func (e *examination) operationOutcomes() []finding.Operation {
	var out []finding.Operation
	attacked := map[string]sitemap.Entry{}
	for _, entry := range e.Sitemap.Entries() {
		attacked[sitemap.OperationKey(entry.Request)] = entry
	}
	for _, c := range e.calls {
		if c.request != nil {
			shape := sitemap.OperationKey(c.request)
			// Two operations of one shape are attacked once, and its requests count for the first.
			if e.byShape[shape] == c {
				c.seen.Requests += attacked[shape].Seen.Requests
				c.seen.Reason = cmp.Or(c.seen.Reason, attacked[shape].Unfinished)
			}
		}
		if c.seen.Authorization == nil {
			c.seen.Authorization = &finding.Authorization{Reason: "users were not compared: the profile or the " +
				"selected checks leave that out, or the scan ended before"}
		}
		out = append(out, c.seen)
	}
	return out
}
