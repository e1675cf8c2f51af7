package livetarget

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"merlon/internal/errs"
	"merlon/internal/scan"
	"merlon/internal/seal"
)

const hidden = "s3cret-"

// everySecret is a target with a secret in every place that holds one.
func everySecret() *scan.Target {
	return &scan.Target{
		URL: "https://shop.example.org/", Headers: []scan.Header{{Name: "X-Key", Value: hidden + "1"}},
		Identities: []scan.Identity{
			{Name: "form", Form: &scan.FormLogin{URL: "/login", User: "u", Password: hidden + "2",
				Fields: map[string]string{"pin": hidden + "3"}}, TOTP: "JBSWY3DPEHPK3PXP"},
			{Name: "json", JSON: &scan.JSONLogin{URL: "/api/login", Body: `{"password":"` + hidden + `4"}`}},
			{Name: "oauth", OAuth: &scan.OAuthLogin{Issuer: "https://id.example.org", ClientID: "c",
				ClientSecret: hidden + "5", Refresh: hidden + "6", Password: hidden + "7"}},
			{Name: "bearer", Bearer: hidden + "8"},
			{Name: "basic", Basic: &scan.BasicLogin{User: "u", Password: hidden + "9"}},
			{Name: "cookie", Cookie: hidden + "10"},
			{Name: "header", Header: []scan.Header{{Name: "Authorization", Value: hidden + "11"}}},
			{Name: "steps", Steps: []scan.BrowserStep{{Open: "https://shop.example.org/login"},
				{Fill: "#p", Value: hidden + "12"}}},
		},
		Descriptions: []scan.Description{{Name: "api.yaml", Text: hidden + "13"}},
	}
}

// TestNothingSecretIsShown looks for the secrets in what is shown, and finds them in
// what is sealed.
func TestNothingSecretIsShown(t *testing.T) {
	whole := everySecret()
	if err := Validate("Shop", "staging", whole); err != nil {
		t.Fatal(err)
	}
	box, err := seal.New(make([]byte, 32))
	if err != nil {
		t.Fatal(err)
	}
	it := Target{ID: "i", Organization: "o", Project: "p", Environment: Production}
	if err := it.Seal(box, whole); err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(it.Shown)
	if err != nil || bytes.Contains(text, []byte(hidden)) || bytes.Contains(text, []byte("JBSWY")) ||
		bytes.Contains(it.Sealed, []byte(hidden)) {
		t.Errorf("shown: %s, %v", text, err)
	}
	n := 0
	for _, names := range it.Kept {
		n += len(names)
	}
	if n != 13 || !slices.Contains(it.Kept["form"], "totp") || !slices.Contains(it.Kept["steps"], "steps.1.value") ||
		len(it.Kept[""]) != 1 {
		t.Errorf("%d secrets are told: %v", n, it.Kept)
	}
	got, err := it.Open(box)
	if err != nil || got.Identities[1].JSON.Body != whole.Identities[1].JSON.Body || !got.Production {
		t.Errorf("opened %+v, %v", got, err)
	}
	it.Project = "another"
	if _, err := it.Open(box); err == nil {
		t.Error("opens in another project")
	}
}

// TestWhatListsShowIsBounded refuses a target whose fields besides texts and secrets are
// large: lists show them for a hundred targets at once.
func TestWhatListsShowIsBounded(t *testing.T) {
	box, err := seal.New(make([]byte, 32))
	if err != nil {
		t.Fatal(err)
	}
	for name, change := range map[string]func(*scan.Target){
		"user": func(n *scan.Target) { n.Identities[0].Form.User = strings.Repeat("u", maxShown) },
		"fields": func(n *scan.Target) {
			n.Identities[0].Form.Fields = map[string]string{strings.Repeat("f", maxShown): "v"}
		},
		"seeds": func(n *scan.Target) {
			n.Seeds = slices.Repeat([]string{"https://shop.example.org/" + strings.Repeat("s", 1900)}, 100)
		},
	} {
		whole := everySecret()
		change(whole)
		if err := (&Target{}).Seal(box, whole); !errs.Is(err, errs.Invalid) {
			t.Errorf("%s: got %v, want an invalid error", name, err)
		}
	}
}

// TestAddressesAreMasked shows addresses without their credentials, and takes them back
// when the rest of the address stays.
func TestAddressesAreMasked(t *testing.T) {
	stored := everySecret()
	stored.Seeds = []string{"/start?api_token=" + hidden + "20&page=1", "/plain?page=1"}
	stored.Identities[0].Form.URL = "/login?key_token=" + hidden + "21"
	shown, _ := RedactSecrets(stored)
	if text, err := json.Marshal(shown); err != nil || bytes.Contains(text, []byte(hidden)) ||
		shown.Seeds[1] != "/plain?page=1" || !strings.HasPrefix(shown.Seeds[0], "/start?api_token=[") {
		t.Errorf("shown: %s, %v", text, err)
	}
	next := *deepCopy(&shown)
	if err := MergeSecrets(&next, stored); err != nil || next.Seeds[0] != stored.Seeds[0] ||
		next.Identities[0].Form.URL != stored.Identities[0].Form.URL || next.Identities[0].Form.Password != hidden+"2" {
		t.Errorf("merged %+v, %v", next.Seeds, err)
	}
	next = *deepCopy(&shown)
	next.Seeds[0] = strings.Replace(shown.Seeds[0], "/start", "https://evil.example.org/start", 1)
	if err := MergeSecrets(&next, stored); err != nil || strings.Contains(next.Seeds[0], hidden) {
		t.Errorf("a credential goes elsewhere: %s, %v", next.Seeds[0], err)
	}
}

// TestMerge keeps secrets while they go where they went, and asks for them otherwise.
func TestMerge(t *testing.T) {
	stored := everySecret()
	for name, tt := range map[string]struct {
		change func(*scan.Target)
		again  string // what has to be given again; empty: all is kept
	}{
		"nothing":           {func(*scan.Target) {}, ""},
		"the rate":          {func(n *scan.Target) { n.Rate = 5 }, ""},
		"one identity less": {func(n *scan.Target) { n.Identities = n.Identities[1:] }, ""},
		"what is left out":  {func(n *scan.Target) { n.Exclude = []string{"/logout"} }, ""},
		"the address":       {func(n *scan.Target) { n.URL = "https://evil.example.org/" }, "header X-Key"},
		"another host beside": {func(n *scan.Target) { n.Include = []string{"https://evil.example.org/*"} },
			"header X-Key"},
		"the form's address": {func(n *scan.Target) { n.Identities[0].Form.URL = "https://evil.example.org/" },
			"form."},
		"the user": {func(n *scan.Target) { n.Identities[0].Form.User = "v" }, "form."},
		"the issuer": {func(n *scan.Target) { n.Identities[2].OAuth.Issuer = "https://evil.example.org" },
			"oauth"},
		"a step": {func(n *scan.Target) { n.Identities[7].Steps[0].Open = "https://evil.example.org/" },
			"steps.1.value"},
		"a step between": {func(n *scan.Target) { n.Identities[7].Steps[1].Fill = "#search" }, "steps.1.value"},
		"the marker's address": {func(n *scan.Target) { n.Identities[3].Marker.URL = "https://evil.example.org/" },
			"bearer"},
		"another header beside": {func(n *scan.Target) {
			n.Headers = append(n.Headers, scan.Header{Name: "Host", Value: "x"})
		}, "header X-Key"},
		"all of it, given again": {func(n *scan.Target) { *n = *everySecret(); n.URL = "https://evil.example.org/" },
			""},
	} {
		t.Run(name, func(t *testing.T) {
			next, _ := RedactSecrets(stored)
			tt.change(&next)
			err := MergeSecrets(&next, stored)
			if tt.again != "" {
				if !errs.Is(err, errs.Invalid) || !strings.Contains(err.Error(), tt.again) ||
					strings.Contains(err.Error(), hidden) {
					t.Errorf("got %v, want a demand for %s", err, tt.again)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			for n := range next.Identities {
				eachSecret(&next.Identities[n], func(secret, value string) string {
					if value == "" && strings.HasPrefix(secret, next.Identities[n].Name) &&
						!strings.Contains(secret, "steps.0") {
						t.Errorf("%s lost %s", next.Identities[n].Name, secret)
					}
					return value
				})
			}
			if next.Headers[0].Value == "" || next.Descriptions[0].Text == "" {
				t.Errorf("lost a header or a description: %+v", next)
			}
		})
	}
}

// TestValidate refuses what cannot be.
func TestValidate(t *testing.T) {
	for name, change := range map[string]func(*scan.Target){
		"no scheme":          func(n *scan.Target) { n.URL = "shop.example.org" },
		"a file":             func(n *scan.Target) { n.URL = "file:///etc/passwd" },
		"a user":             func(n *scan.Target) { n.URL = "https://u:p@shop.example.org/" },
		"a query":            func(n *scan.Target) { n.URL = "https://shop.example.org/?a=b" },
		"a profile":          func(n *scan.Target) { n.Profile = "brutal" },
		"a rate":             func(n *scan.Target) { n.Rate = 1e9 },
		"a wild host":        func(n *scan.Target) { n.Include = []string{"https://*.example.org/*"} },
		"a wild host's end":  func(n *scan.Target) { n.Include = []string{"https://example.org*"} },
		"a control":          func(n *scan.Target) { n.Exclude = []string{"/a\nb"} },
		"a header's name":    func(n *scan.Target) { n.Headers[0].Name = "X Key" },
		"a header's value":   func(n *scan.Target) { n.Headers[0].Value = "a\r\nHost: b" },
		"two of a name":      func(n *scan.Target) { n.Identities[1].Name = "form" },
		"two ways":           func(n *scan.Target) { n.Identities[1].Bearer = "x" },
		"no way":             func(n *scan.Target) { n.Identities[3].Bearer = "" },
		"a one-time secret":  func(n *scan.Target) { n.Identities[0].TOTP = "not base 32!" },
		"a login elsewhere":  func(n *scan.Target) { n.Identities[0].Form.URL = "gopher://x/" },
		"a long sleep":       func(n *scan.Target) { n.Identities[7].Steps[0].Sleep = 1e12 },
		"a long secret":      func(n *scan.Target) { n.Identities[3].Bearer = strings.Repeat("x", maxSecret+1) },
		"a description":      func(n *scan.Target) { n.Descriptions[0].URL = "/openapi.json" },
		"no description":     func(n *scan.Target) { n.Descriptions[0].Text = "" },
		"large descriptions": func(n *scan.Target) { n.Descriptions[0].Text = strings.Repeat("x", MaxTexts+1) },
	} {
		n := everySecret()
		change(n)
		if err := Validate("Shop", "staging", n); !errs.Is(err, errs.Invalid) || strings.Contains(err.Error(), hidden) {
			t.Errorf("%s: %v", name, err)
		}
	}
	for _, name := range []string{"", " ", "a\x00", strings.Repeat("x", maxName+1)} {
		if err := Validate(name, "staging", everySecret()); !errs.Is(err, errs.Invalid) {
			t.Errorf("the name %.20q: %v", name, err)
		}
	}
	if err := Validate("Shop", "moon", everySecret()); !errs.Is(err, errs.Invalid) {
		t.Errorf("the environment: %v", err)
	}
}

// TestOrigins tells what is attacked from what is asked to sign in.
func TestOrigins(t *testing.T) {
	n := everySecret()
	n.URL = "https://Shop.Example.org./"
	n.Include = []string{"http://api.example.org:8080/v2/*", "/more/*", "https://shop.example.org/x"}
	var scope, sign []string
	for _, o := range ScopeOrigins(n) {
		scope = append(scope, o.URL()+" "+o.Address())
	}
	for _, o := range SignInOrigins(n) {
		sign = append(sign, o.URL())
	}
	if want := []string{"https://shop.example.org shop.example.org:443", "http://api.example.org:8080 " +
		"api.example.org:8080"}; !slices.Equal(scope, want) {
		t.Errorf("scope %q", scope)
	}
	if want := []string{"https://id.example.org"}; !slices.Equal(sign, want) {
		t.Errorf("sign-in %q", sign)
	}
}
