package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"merlon/test/table"
)

// This file measures attacks on the APIs VAmPI and DVGA.

// A known flaw of an API.
type known struct {
	name   string
	method string // empty: any
	// Path without parameters' values: a parameter is any segment.
	path  *regexp.Regexp // of the operation; nil: any
	class class          // one of these weaknesses, or
	// For flaws that have no CWE number of their own, such as batched queries of GraphQL.
	rule *regexp.Regexp // a rule with such a name; nil: none
	text string         // what must be in the evidence; empty: nothing
	twin bool           // also true of the target's safe twin
}

// matchesFlaw reports whether a flaw is the known one.
func (k known) matchesFlaw(f flaw) bool {
	return (k.method == "" || k.method == f.Method) && (k.path == nil || k.path.MatchString(f.Path)) &&
		// A finding of another kind on the same operation does not count.
		(k.class.includesFlaw(f) || k.rule != nil && k.rule.MatchString(f.Rule)) &&
		(k.text == "" || strings.Contains(f.Text, k.text))
}

// A knownCase is what was told of a known flaw.
type knownCase struct {
	Target, Flaw string
	Told         []string // rules
}

// reportedRules returns the names of the rules that told of each known flaw.
func reportedRules(target string, s *scan, list []known) []knownCase {
	var out []knownCase
	for _, k := range list {
		c := knownCase{Target: target, Flaw: k.name}
		for _, f := range s.Flaws {
			if k.matchesFlaw(f) && !slices.Contains(c.Told, f.Rule) {
				c.Told = append(c.Told, f.Rule)
			}
		}
		out = append(out, c)
	}
	return out
}

// splitFound splits the names of the known flaws into those told and those not.
func splitFound(cases []knownCase) (yes, no []string) {
	for _, c := range cases {
		if len(c.Told) > 0 {
			yes = append(yes, c.Flaw)
		} else {
			no = append(no, c.Flaw)
		}
	}
	return yes, no
}

// vampiFlaws is the list of its documentation. Three of them are in its safe twin
// too, as that documentation says of one and its code shows of all.
// To add a flaw: its operation and class; twin if the safe variant has it as well.
var vampiFlaws = []known{
	{name: "SQL injection", path: regexp.MustCompile(`^/users/v1/[^/]+$`), class: sqlInjection},
	{name: "unauthorized password change", path: regexp.MustCompile(`^/users/v1/[^/]+/password$`),
		class: authorization.joinClasses("CWE-620")},
	{name: "broken object level authorization", path: regexp.MustCompile(`^/books/v1/[^/]+$`), class: authorization},
	{name: "mass assignment", path: regexp.MustCompile(`^/users/v1/register$`), class: massAssignment},
	{name: "excessive data exposure", path: regexp.MustCompile(`^/users/v1/_debug$`), class: exposure, twin: true},
	{name: "user and password enumeration", path: regexp.MustCompile(`^/users/v1/login$`), class: enumeration},
	{name: "slow regular expression", path: regexp.MustCompile(`^/users/v1/[^/]+/email$`), class: slowExpression},
	{name: "no rate limit", class: noLimit, twin: true},
	// No path: the key is the same for all operations.
	{name: "weak signing key of tokens", class: weakToken, twin: true},
}

// vampiRuns are the scans of VAmPI and of its safe twin. What shows a flaw only by changing an
// account, or by wrong passwords in a row, belongs to the profile full.
// The full profile may change accounts and try wrong passwords, which shows two more.
var vampiRuns = []struct {
	target, profile string
	floor           int // flaws to be found
}{{"vampi", "full", 8}, {"vampi", "standard", 6}, {"vampi-secure", "full", 0}, {"vampi-secure", "standard", 0}}

// measureVAmPI scans VAmPI, a vulnerable REST API, and its secure twin: the known
// vulnerabilities must be found in the one, and nothing in the other.
func measureVAmPI(ctx context.Context, b *bench) ([]table.Row, error) {
	var rows []table.Row
	var cases []knownCase
	for _, run := range vampiRuns {
		s, err := b.startTarget(ctx, run.target)
		if err != nil {
			return rows, err
		}
		got, outcomes, err := b.attackVAmPI(ctx, s, run.profile)
		s.stopTarget()
		if err != nil {
			return rows, err
		}
		list := vampiFlaws
		// What the safe twin has as well is no false positive there.
		if run.floor == 0 {
			list = slices.DeleteFunc(slices.Clone(list), func(k known) bool { return k.twin })
		}
		judged := reportedRules(run.target+", "+run.profile, got, list)
		cases = append(cases, judged...)
		rows = append(rows, vampiRow(run.profile, run.floor, got, judged), outcomes)
	}
	return rows, table.Keep(filepath.Join(b.out, "vampi.jsonl"), cases)
}

// vampiRow is the row of a scan; a floor of 0 is that of the safe twin.
func vampiRow(profile string, floor int, got *scan, judged []knownCase) table.Row {
	yes, no := splitFound(judged)
	if floor > 0 {
		return table.Row{Measure: fmt.Sprintf("VAmPI, profile %s: flaws found (%d)", profile, len(judged)),
			Floor: fmt.Sprintf("≥ %d", floor), Measured: fmt.Sprint(len(yes)),
			Met: table.Verdict(len(yes) >= floor), Note: got.describeCost() + listNames("; missed: ", no)}
	}
	return table.Row{Measure: fmt.Sprintf("VAmPI's secure twin, profile %s: false positives (%d)", profile,
		len(judged)), Floor: "0", Measured: fmt.Sprint(len(yes)),
		Met: table.Verdict(len(yes) == 0), Note: got.describeCost() + listNames("; told: ", yes)}
}

// attackVAmPI scans the API by its description, as two users and an administrator.
func (b *bench) attackVAmPI(ctx context.Context, s *server, profile string) (*scan, table.Row, error) {
	user := func(name, password string, role int) any {
		return map[string]any{"name": name, "role": role,
			"json": map[string]any{"url": s.baseAddress() + "/users/v1/login",
				"body": fmt.Sprintf(`{"username":%q,"password":%q}`, name, password), "token": "/auth_token"}}
	}
	got, err := b.scanServer(ctx, s,
		run{command: "api", name: s.name + "-" + profile, plan: plan{URL: s.baseAddress() + "/", Profile: profile,
			// It resets the database, with the accounts that the scan is signed in as.
			Exclude: []string{"/createdb"},
			// Two users of the same role show broken object level authorization, the
			// administrator broken function level authorization.
			Identities: []any{user("name1", "pass1", 1), user("name2", "pass2", 1), user("admin", "pass1", 2)},
			Descriptions: []described{{Name: "openapi.json", Kind: "openapi", URL: s.baseAddress() +
				"/openapi.json"}}}})
	if err != nil {
		return nil, table.Row{}, err
	}
	declared, err := declaredOperations(ctx, s.direct+"/openapi.json")
	if err != nil {
		return nil, table.Row{}, err
	}
	return got, outcomeRow(s.name+", "+profile, declared, got.Operations), nil
}

// outcomeRow is the row of the declared operations that have an outcome.
// An operation that the report does not mention would read as tested.
func outcomeRow(target string, declared []string, operations []operation) table.Row {
	without := operationsWithoutOutcome(declared, operations)
	return table.Row{Measure: fmt.Sprintf("%s: operations with a stated outcome (%d)", target, len(declared)),
		Floor:    "100 %",
		Measured: table.Percent(shareOf(len(declared)-len(without), len(declared))),
		Met:      table.Verdict(len(declared) > 0, len(without) == 0),
		Note:     strings.TrimPrefix(listNames("; without: ", without), "; ")}
}

// declaredOperations reads the operations of an OpenAPI description: "GET /users/{}".
func declaredOperations(ctx context.Context, address string) ([]string, error) {
	var d struct {
		Paths map[string]map[string]json.RawMessage `json:"paths"`
	}
	if err := fetchJSON(ctx, http.MethodGet, address, "", &d); err != nil {
		return nil, err
	}
	var out []string
	for path, methods := range d.Paths {
		// Other members of a path item, such as "parameters", are no methods.
		for method := range methods {
			if m := strings.ToUpper(method); slices.Contains([]string{"GET", "PUT", "POST", "DELETE", "PATCH", "HEAD",
				"OPTIONS", "TRACE"}, m) {
				out = append(out, m+" "+withoutParameterNames(path))
			}
		}
	}
	slices.Sort(out)
	return out, nil
}

// declaredFields asks a service of GraphQL for the fields of its root types:
// "Query.users".
// They are the operations of GraphQL: each field of the root types is called by itself.
func declaredFields(ctx context.Context, address string) ([]string, error) {
	type root struct {
		Name   string `json:"name"`
		Fields []struct {
			Name string `json:"name"`
		} `json:"fields"`
	}
	var d struct {
		Data struct {
			Schema map[string]*root `json:"__schema"`
		} `json:"data"`
	}
	const query = `{"query":"{__schema{queryType{name fields{name}} mutationType{name fields{name}} subscriptionType{name fields{name}}}}"}`
	if err := fetchJSON(ctx, http.MethodPost, address, query, &d); err != nil {
		return nil, err
	}
	var out []string
	for _, r := range d.Data.Schema {
		// A schema without mutations or subscriptions has null there.
		if r == nil {
			continue
		}
		for _, f := range r.Fields {
			out = append(out, r.Name+"."+f.Name)
		}
	}
	slices.Sort(out)
	return out, nil
}

// fetchJSON asks a target for JSON.
func fetchJSON(ctx context.Context, method, address, body string, to any) error {
	ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, method, address, strings.NewReader(body))
	if err != nil {
		return err
	}
	req.Header.Set("Content-Type", "application/json")
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return err
	}
	defer func() { _ = resp.Body.Close() }() // it was only read
	if err := json.NewDecoder(resp.Body).Decode(to); err != nil {
		return fmt.Errorf("%s: %w", address, err)
	}
	return nil
}

// inBraces is a parameter of a path.
// It matches "{id}", also percent-encoded, as scanners report it.
var inBraces = regexp.MustCompile(`(\{|%7B)[^/]*?(\}|%7D)`)

// withoutParameterNames leaves the names of parameters out of a path.
func withoutParameterNames(path string) string { return inBraces.ReplaceAllString(path, "{}") }

// operationsWithoutOutcome returns the declared operations that have no outcome, or one other than
// reached without a reason.
func operationsWithoutOutcome(declared []string, operations []operation) []string {
	stated := map[string]bool{}
	for _, o := range operations {
		if o.Outcome == "reached" || o.Outcome != "" && o.Reason != "" {
			// By method and path for REST, by ID for a field of GraphQL.
			stated[o.Method+" "+withoutParameterNames(pathOf(o.URL))], stated[o.ID] = true, true
		}
	}
	return slices.DeleteFunc(slices.Clone(declared), func(name string) bool { return stated[name] })
}

// dvgaFlaws is the list of its documentation without the two lessons about finding
// the interface. A rule is known by the field's words where weaknesses have no
// number of their own.
// text is searched in the evidence, since all fields share the address /graphql.
var dvgaFlaws = []known{
	{name: "batched queries", rule: regexp.MustCompile(`batch`)},
	{name: "deep recursion", rule: regexp.MustCompile(`depth|recurs|circular`)},
	{name: "resource intensive query", rule: regexp.MustCompile(`cost|complexity|intensive|resource`)},
	{name: "field duplication", rule: regexp.MustCompile(`duplic`)},
	{name: "aliases", rule: regexp.MustCompile(`alias`)},
	{name: "introspection", rule: regexp.MustCompile(`introspect`)},
	{name: "GraphiQL", rule: regexp.MustCompile(`graphiql|console|playground`)},
	{name: "field suggestions", rule: regexp.MustCompile(`suggest`)},
	{name: "server side request forgery", class: serverForgery, text: "importPaste"},
	{name: "stack traces", class: errorMessages},
	{name: "command injection in importPaste", class: commandInjection, text: "importPaste"},
	{name: "command injection in systemDiagnostics", class: commandInjection, text: "systemDiagnostics"},
	{name: "stored cross site scripting", class: crossSiteScripting, text: "Paste"},
	{name: "log injection", class: logInjection},
	{name: "HTML injection", class: crossSiteScripting, text: "createPaste"},
	{name: "SQL injection", class: sqlInjection, text: "pastes"},
	// JWT without a verified signature.
	{name: "forged token", class: class{"CWE-345", "CWE-347", "CWE-290"}},
	{name: "interface protection bypass", rule: regexp.MustCompile(`graphiql|console`), text: "graphiql:enable"},
	{name: "deny list bypass", rule: regexp.MustCompile(`deny|bypass`)},
	{name: "weak password", class: weakPassword},
	{name: "file write", class: pathTraversal, text: "uploadPaste"},
}

// measureDVGA scans DVGA, a vulnerable GraphQL service, by its published list of
// vulnerabilities.
func measureDVGA(ctx context.Context, b *bench) ([]table.Row, error) {
	s, err := b.startTarget(ctx, "dvga")
	if err != nil {
		return nil, err
	}
	defer s.stopTarget()
	got, err := b.scanServer(ctx, s,
		run{command: "api", name: "dvga",
			plan: plan{URL: s.baseAddress() + "/",
				Descriptions: []described{{Name: "graphql", Kind: "graphql", URL: s.baseAddress() + "/graphql"}}}})
	if err != nil {
		return nil, err
	}
	declared, err := declaredFields(ctx, s.direct+"/graphql")
	if err != nil {
		return nil, err
	}
	cases := reportedRules("dvga", got, dvgaFlaws)
	yes, no := splitFound(cases)
	rows := []table.Row{{Measure: fmt.Sprintf("DVGA: listed flaws "+
		"found (%d)", len(cases)), Floor: "≥ 10", Measured: fmt.Sprint(len(yes)),
		Met: table.Verdict(len(yes) >= 10), Note: got.describeCost() + listNames("; found: ", yes) +
			listNames("; missed: ", no)},
		outcomeRow("DVGA", declared, got.Operations)}
	return rows, table.Keep(filepath.Join(b.out, "dvga.jsonl"), cases)
}
