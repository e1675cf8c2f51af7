// Package operations is the analyzer of running APIs: it reads their descriptions, asks
// every operation as the description says, those that give identifiers before those
// that take them, compares the answers with the description, and attacks. Every
// operation ends reached, refused or not reached, with the reason.
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
	calls   []*call
	byShape map[string]*call // those that are attacked
	store   *store
	header  string        // that the descriptions put tokens into; empty: Authorization
	joined  *authz.User   // that the scan has registered and explores as; nil: none
	others  []*authz.User // the identities beside the first that are signed in
	keys    []key         // that responses have handed out, see keys.go
	opens   []place       // where the session sends one of them
}

// A call is an operation with what became of it.
type call struct {
	operation *apispec.Operation
	origin    string
	schemes   map[string]apispec.SecurityScheme // of its description
	request   *message.Request                  // the best one, or the last without an answer; nil: none could be made
	answer    *message.Response                 // to it; nil: none
	seen      finding.Operation
	created   bool // its path names an object that the scan has made
	late      bool // no answer came in time
}

// scanTarget visits the target.
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
		e.Engine.Parallel = 1 // what one operation changes, another one shows: comparisons need it to stand still
	}
	return nil
}

// operationOutcomes are what became of each operation, with the requests of the attack.
func (e *examination) operationOutcomes() []finding.Operation {
	var out []finding.Operation
	attacked := map[string]sitemap.Entry{}
	for _, entry := range e.Sitemap.Entries() {
		attacked[sitemap.OperationKey(entry.Request)] = entry
	}
	for _, c := range e.calls {
		if c.request != nil {
			shape := sitemap.OperationKey(c.request)
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
