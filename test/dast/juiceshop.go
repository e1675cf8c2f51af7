package main

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"merlon/test/table"
)

// This file measures a scan of Juice Shop, which notices itself which of its
// challenges were solved, and whose source declares its REST endpoints.

// A challenge is one of Juice Shop's.
// It is an entry of /api/Challenges.
type challenge struct {
	Key      string `json:"key"`
	Name     string `json:"name"`
	Category string `json:"category"`
	Solved   bool   `json:"solved"`
}

// juiceShop scans the OWASP Juice Shop, and counts the covered REST endpoints and the challenges
// that the scan solved.
func juiceShop(ctx context.Context, b *bench) ([]table.Row, error) {
	s, err := b.startTarget(ctx, "juiceshop")
	if err != nil {
		return nil, err
	}
	defer s.stopTarget()
	// Read from the copy of the target, so that source and program are the same version.
	endpoints, err := restEndpoints(filepath.Join(s.app, "server.ts"))
	if err != nil {
		return nil, err
	}
	// The target is asked directly: that is no request of the scanner. Its own users are
	// not signed in: some challenges are solved by that alone.
	if err := registerCustomer(ctx, s.direct); err != nil {
		return nil, err
	}
	// Some challenges are solved at the start or by the registration.
	before, err := readChallenges(ctx, s.direct)
	if err != nil {
		return nil, err
	}
	got, err := b.scanServer(ctx, s,
		run{command: "dast", name: "juiceshop",
			// Both would end the session of the scan.
			plan: plan{URL: s.baseAddress() + "/", Exclude: []string{"*logout*", "/rest/user/change-password*"},
				Identities: []any{map[string]any{"name": "customer",
					"json": map[string]any{"url": s.baseAddress() + "/rest/user/login",
						"body": customer, "token": "/authentication/token"}}}}})
	if err != nil {
		return nil, err
	}
	after, err := readChallenges(ctx, s.direct)
	if err != nil {
		return nil, err
	}
	solved := newlySolved(before, after)
	unseen := slices.DeleteFunc(slices.Clone(endpoints), got.coveredEndpoint)
	seen := shareOf(len(endpoints)-len(unseen), len(endpoints))
	rows := []table.Row{
		{Measure: fmt.Sprintf("Juice Shop, signed in: challenges solved (%d)", len(after)), Floor: "≥ 12",
			Measured: fmt.Sprint(len(solved)),
			Met:      table.Verdict(len(solved) >= 12), Note: got.describeCost() + listNames("; solved: ", solved)},
		{Measure: fmt.Sprintf("Juice Shop: REST endpoints seen (%d)", len(endpoints)), Floor: "≥ 90 %",
			Measured: table.Percent(seen),
			Met:      table.Verdict(seen >= .9), Note: strings.TrimPrefix(listNames("; not seen: ", unseen), "; ")},
	}
	return rows, table.Keep(filepath.Join(b.out, "juiceshop.jsonl"), after)
}

// customer signs in to Juice Shop.
// It is the body of the registration and of the sign-in, which ignores the other members.
const customer = `{"email":"customer@example.org","password":"Brolly-4711","passwordRepeat":"Brolly-4711","securityQuestion":{"id":2},"securityAnswer":"Miller"}`

// registerCustomer makes an account for the customer.
func registerCustomer(ctx context.Context, base string) error {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, base+"/api/Users", strings.NewReader(customer))
	if err != nil {
		return err
	}
	req.Header.Set("Content-Type", "application/json")
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return err
	}
	defer func() { _ = resp.Body.Close() }() // its status says it all
	if resp.StatusCode != http.StatusCreated {
		return fmt.Errorf("the target does not register a customer: %s", resp.Status)
	}
	return nil
}

// readChallenges asks the target which are solved.
func readChallenges(ctx context.Context, base string) ([]challenge, error) {
	var list struct {
		Data []challenge `json:"data"`
	}
	if err := fetchJSON(ctx, http.MethodGet, base+"/api/Challenges", "", &list); err != nil {
		return nil, err
	}
	return list.Data, nil
}

// newlySolved returns the names of the challenges that the second list has solved
// and the first has not.
func newlySolved(before, after []challenge) []string {
	was := map[string]bool{}
	for _, c := range before {
		// A challenge that disappears from the list counts as not solved.
		was[c.Key] = c.Solved
	}
	var out []string
	for _, c := range after {
		if c.Solved && !was[c.Key] {
			out = append(out, c.Name)
		}
	}
	return out
}

var (
	// routeCall is a route in the source: app.get('/rest/user/whoami', …); one or a list.
	routeCall = regexp.MustCompile(`app\.(?:get|post|put|delete|patch|use|all)\(\s*\[?'(/(?:rest|api)/[^']*)'`)
	// routeName is a parameter of a route.
	routeName = regexp.MustCompile(`:[A-Za-z]+`)
)

// restEndpoints reads the endpoints out of the target's source, parameters as "{}".
func restEndpoints(file string) ([]string, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	var out []string
	for _, m := range routeCall.FindAllStringSubmatch(string(text), -1) {
		out = append(out, routeName.ReplaceAllString(m[1], "{}"))
	}
	slices.Sort(out)
	if out = slices.Compact(out); len(out) == 0 {
		return nil, fmt.Errorf("%s declares no endpoints", file)
	}
	return out, nil
}

// coveredEndpoint reports whether the endpoint was asked for, or told as an operation.
func (s *scan) coveredEndpoint(endpoint string) bool {
	// A parameter is one segment; a slash at the end does not matter.
	pattern := regexp.MustCompile("^" + strings.ReplaceAll(regexp.QuoteMeta(endpoint), `\{\}`, "[^/]+") + "/?$")
	for what := range s.Asked {
		if _, path, _ := strings.Cut(what, " "); pattern.MatchString(path) {
			return true
		}
	}
	return slices.ContainsFunc(s.Operations, func(o operation) bool {
		return pattern.MatchString(withoutParameterNames(pathOf(o.URL)))
	})
}
