package application_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"merlon/internal/finding"
	"merlon/internal/scan"
)

// What no page links to is found because the code declares it, and the finding names
// its place in the code. What would remove something is not sent.
func TestDeclaredRoutes(t *testing.T) {
	mux := shop()
	mux.HandleFunc("/hidden/go", func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, r.FormValue("next"), http.StatusFound)
	})
	mux.HandleFunc("/things/", func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodGet {
			t.Errorf("%s %s was sent", r.Method, r.URL)
		}
		fmt.Fprint(w, "<html>thing")
	})
	mux.HandleFunc("/reset-owner", func(_ http.ResponseWriter, r *http.Request) {
		t.Errorf("%s %s was sent", r.Method, r.URL)
	})
	mux.HandleFunc("/account", func(_ http.ResponseWriter, r *http.Request) {
		var sent map[string]string
		if err := json.NewDecoder(r.Body).Decode(&sent); err == nil && sent["password"] == sent["passwordAgain"] {
			t.Errorf("a new password was sent: %v", sent)
		}
	})
	code := finding.Location{Path: "shop.go", StartLine: 12, EndLine: 14}
	got := examine(t, mux, func(o *scan.Options) {
		o.Live.Target.Checks = []string{"redirect"}
		o.Live.Target.Routes = []scan.Route{
			{Method: "GET", Path: "/hidden/go", Parameters: []string{"query:next"}, Location: code,
				Sinks: []scan.Sink{{CWE: []string{"CWE-601"}, RuleID: "sast/r", Parameter: "query:next",
					Location: finding.Location{Path: "shop.go", StartLine: 13}}}},
			{Method: "DELETE", Path: "/things/{id}", Location: code},
			{Method: "PUT", Path: "/things/{id}", Parameters: []string{"json:/name"}, Location: code},
			{Method: "GET", Path: "/gone", Location: code},
			{Method: "GET", Path: "/reset-owner", Location: code},
			{Method: "POST", Path: "/account", Parameters: []string{"json:/name", "json:/password",
				"json:/passwordAgain"}, Location: code},
		}
	})
	found := 0
	for _, f := range got.Findings {
		if f.RuleID == "dast/redirect/open-redirect" && f.Live.Parameter == "next" {
			found++
			if c := f.Live.Code; c == nil || c.Handler != code || c.Flaw == nil || c.Flaw.Location.StartLine != 13 {
				t.Errorf("the code is %+v", c)
			}
		}
	}
	if found != 1 {
		t.Errorf("%d redirects behind the route", found)
	}
	outcomes := map[string]finding.Operation{}
	for _, o := range got.Operations {
		if o.Origin == "code" && o.Code != nil && !strings.HasSuffix(o.URL, "/reset-owner") {
			outcomes[o.Method] = o
		}
	}
	if o := outcomes["GET"]; o.Outcome != finding.Reached || o.Code == nil {
		t.Errorf("the route is %+v", o)
	}
	for _, method := range []string{"DELETE", "PUT"} {
		if o := outcomes[method]; o.Outcome != finding.NotReached || o.Reason == "" || o.Requests != 0 {
			t.Errorf("%s is %+v", method, o)
		}
	}
}

// A profile that stores nothing sends no form that may, not even to attack it.
func TestSafeProfileStoresNothing(t *testing.T) {
	got := examine(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPost {
			t.Errorf("%s %s was sent", r.Method, r.URL)
		}
		shop().ServeHTTP(w, r)
	}), func(o *scan.Options) {
		o.Live.Target.Profile, o.Live.Target.Checks = scan.Safe, []string{"redirect", "xss"}
	})
	withheld := 0
	for _, o := range got.Operations {
		if o.Method == http.MethodPost && o.Outcome == finding.NotReached && o.Reason != "" {
			withheld++
		}
	}
	if withheld != 1 {
		t.Errorf("%d forms are told to be withheld", withheld)
	}
}
