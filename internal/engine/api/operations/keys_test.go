package operations_test

import (
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"merlon/internal/engine/api/operations"
	"merlon/internal/finding"
	"merlon/internal/scan"
	"merlon/internal/scan/scantest"
)

const handedKey = "mk_7Qz19fT4cXw82LpVb6"

// TestKeys uses a key that a response hands out where the description, or the refusal, names
// a place for it, and shows it nowhere.
func TestKeys(t *testing.T) {
	const text = `openapi: 3.0.3
info: {title: Partners, version: "1"}
paths:
  /me:
    get: {security: [{bearer: []}], responses: {"200": {description: OK}}}
  /partner/report:
    get: {%s responses: {"200": {description: OK}, "401": {description: no}}}
components:
  securitySchemes:
    bearer: {type: http, scheme: bearer}
    partner: {type: apiKey, in: %s, name: %s}
`
	for _, test := range []struct {
		name, in, place string
		described       bool
		challenge       string
		shown           func(key string) any // what the user is shown of himself
		opens           bool
	}{
		{"described header", "header", "X-Partner", true, "no", func(k string) any {
			return map[string]any{"name": "jane", "api_key": k}
		}, true},
		{"described query", "query", "key", true, "no", func(k string) any {
			return map[string]any{"name": "jane", "keys": []any{map[string]any{"token": k}}}
		}, true},
		{"described cookie", "cookie", "partner_key", true, "no", func(k string) any {
			return map[string]any{"apiKey": k}
		}, true},
		{"named by the refusal", "header", "X-API-Key", false, "the header X-API-Key is " +
			"missing", func(k string) any { return map[string]any{"access_token": k} }, true},
		{"named nowhere", "header", "X-Other", false, "no", func(k string) any { return map[string]any{"api_key": k} },
			false},
		{"a worthless key", "header", "X-Partner", true, "no", func(string) any {
			return map[string]any{"api_key": "mk_notthisone12345"}
		}, false},
		{"keys of others", "header", "X-Partner", true, "no", func(k string) any {
			return []any{map[string]any{"id": 1, "api_key": k}, map[string]any{"id": 2, "api_key": k + "2"}}
		}, false},
		{"another kind of token", "header", "X-Partner", true, "no", func(k string) any {
			return map[string]any{"csrf_token": k, "next_page_token": k}
		}, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			var mu sync.Mutex
			tries := 0
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				mu.Lock()
				defer mu.Unlock()
				w.Header().Set("Content-Type", "application/json")
				switch r.URL.Path {
				case "/me":
					if r.Header.Get("Authorization") == "Bearer good-4f9a77c1" {
						_ = json.NewEncoder(w).Encode(test.shown(handedKey))
						return
					}
				case "/partner/report":
					sent := r.Header.Get(test.place)
					switch c, err := r.Cookie(test.place); {
					case test.in == "query":
						sent = r.URL.Query().Get(test.place)
					case test.in == "cookie" && err == nil:
						sent = c.Value
					}
					if strings.HasPrefix(sent, "mk_") {
						tries++
					}
					if sent == handedKey {
						fmt.Fprint(w, `{"partner": "Ann", "password": "5f4dcc3b5aa765d61d8327deb882cf99"}`)
						return
					}
				default:
					http.NotFound(w, r)
					return
				}
				w.WriteHeader(http.StatusUnauthorized)
				fmt.Fprintf(w, `{"error": %q}`, test.challenge)
			}))
			defer server.Close()
			security := ""
			if test.described {
				security = "security: [{partner: []}],"
			}
			var dialer net.Dialer
			got := &scantest.Kept{}
			target := scan.Target{URL: server.URL + "/", Rate: 1e6, Profile: scan.Standard,
				Identities: []scan.Identity{{Name: "jane", Bearer: "good-4f9a77c1"}},
				Descriptions: []scan.Description{{Name: "partners.yaml",
					Text: fmt.Sprintf(text, security, test.in, test.place)}}}
			o := scan.Options{Live: &scan.Live{Target: target, ID: "t", Dial: dialer.DialContext,
				BrowserReason: "none in this test"}, Analyzers: []*scan.Analyzer{operations.Analyzer}}
			if err := scan.Run(t.Context(), o, got); err != nil {
				t.Fatal(err)
			}
			reached, leaked := false, false
			for _, o := range got.Operations {
				reached = reached || strings.HasSuffix(o.URL, "/partner/report") && o.Outcome == finding.Reached
			}
			for _, f := range got.Findings {
				leaked = leaked || f.RuleID == "api/operations/credential-in-answer" &&
					strings.HasSuffix(f.Live.URL, "/partner/report")
				if f.RuleID == "api/operations/missing-authentication" {
					t.Errorf("%s is told to need no sign-in", f.Live.URL)
				}
			}
			if reached != test.opens || leaked != test.opens {
				t.Errorf("the operation behind the key: reached %v, its flaw told %v; want %v", reached, leaked,
					test.opens)
			}
			if !test.opens && tries > 2 {
				t.Errorf("%d requests with a key that opens nothing", tries)
			}
			if all, err := json.Marshal(got); err != nil || test.opens && strings.Contains(string(all), handedKey) {
				t.Errorf("the key stands in what the scan tells (%v)", err)
			}
		})
	}
}
