package lint

import (
	"cmp"
	"context"
	"fmt"
	"path"
	"slices"
	"testing"

	"merlon/internal/engine/api/apispec"
	"merlon/internal/finding"
	"merlon/internal/scan"
)

func TestIsPublicByPurpose(t *testing.T) {
	for _, c := range []struct {
		path, id string
		want     bool
	}{
		{"/self-service/login", "", true}, {"/api/signIn", "", true}, {"/sign-in/email", "", true},
		{"/users", "registerUser", true}, {"/recovery", "", true}, {"/oauth2/token", "", true},
		{"/health/ready", "", true},
		{"/version", "", true}, {"/.well-known/jwks.json", "", true}, {"/hooks", "receive-webhook", true},
		{"/items", "createItem", false}, {"/admin/test-login-flows", "", false}, {"/catalog/{version}", "", false},
		{"/tokenizers", "", false}, {"/registries", "", false},
	} {
		if got := isPublicByPurpose(&apispec.Operation{Path: c.path, ID: c.id}); got != c.want {
			t.Errorf("%s %s: %v", c.path, c.id, got)
		}
	}
}

func TestTakesSession(t *testing.T) {
	for _, c := range []struct {
		in, name string
		want     bool
	}{
		{"header", "X-Session-Token", true}, {"header", "Cookie", true}, {"header", "Authorization", true},
		{"cookie", "sid_session", true}, {"query", "token", false}, {"header", "X-CSRF-Token", false},
		{"header", "X-Request-ID", false},
	} {
		o := &apispec.Operation{Parameters: []*apispec.Parameter{{Name: c.name, In: c.in}}}
		if got := takesSession(o); got != c.want {
			t.Errorf("%s %s: %v", c.in, c.name, got)
		}
	}
}

// Operations that change something without signing in weigh by the document and by their purpose.
func TestWeighUnprotected(t *testing.T) {
	const scheme = "components: {securitySchemes: {key: {type: apiKey, in: header, name: K}}}\n"
	const other = "  /other: {get: {security: [{key: []}], responses: {200: {description: a}}}}\n"
	one := func(path, more string) string {
		return "openapi: 3.0.3\ninfo: {title: a, version: '1'}\n" + scheme + "paths:\n" + more + "  " + path +
			":\n    post: {responses: {200: {description: a}}}\n"
	}
	for name, c := range map[string]struct{ text, want string }{
		"no document security": {one("/items", ""), "low +0"},
		"others sign in":       {one("/items", other), "medium +0"},
		"others of the path": {one("/items", other) + "    get: {security: [{key: []}], responses: {200: " +
			"{description: a}}}\n", "medium +1"},
		"for administrators": {one("/admin/items", other), "medium +1"},
		"signing in":         {one("/login", other), "medium -4"},
		"session as parameter": {one("/items", other) + "    parameters: [{in: header, name: X-Session-Token, " +
			"schema: {type: string}}]\n", "medium -4"},
		"global security alone": {"security: [{key: []}]\n" + one("/items", ""), ""},
	} {
		if got := weighed(t, c.text, "protection-global-unsafe"); len(got) > 1 || cmp.Or(append(got, "")...) != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

// A scheme without encryption weighs less where encryption is offered too.
func TestWeighSchemes(t *testing.T) {
	const text = "swagger: '2.0'\ninfo: {title: a, version: '1'}\nhost: api.example.com\npaths: {}\nschemes: "
	for schemes, want := range map[string]string{"[http]": " +0", "[http, https]": " -2", "[https]": ""} {
		if got := weighed(t, text+schemes+"\n", "security-hosts-https"); cmp.Or(append(got, "")...) != want {
			t.Errorf("%s: %q, want %q", schemes, got, want)
		}
	}
}

// The findings of a rule in one document are one, and say how many there are.
func TestOneCauseByDocument(t *testing.T) {
	const text = "openapi: 3.0.3\ninfo: {title: a, version: '1'}\npaths:\n  /a: {post: {responses: {200: " +
		"{description: a}}}}\n" +
		"  /b: {post: {responses: {200: {description: a}}}}\n"
	found := find(t, text, "protection-global-unsafe")
	if len(found) != 2 || found[0].Cause == "" || found[0].Cause != found[1].Cause ||
		found[0].Message != "POST /a changes something and needs no sign-in; 2 places of the document are like this" {
		t.Errorf("%+v", found)
	}
}

// weighed returns the findings of a rule as "severity +points".
func weighed(t *testing.T, text, rule string) []string {
	t.Helper()
	var out []string
	for _, f := range find(t, text, rule) {
		sum := 0
		for _, term := range f.Terms {
			sum += term.Points
		}
		out = append(out, fmt.Sprintf("%s %+d", f.Severity, sum))
	}
	return slices.Compact(out)
}

// find returns the findings of a rule in a description.
func find(t *testing.T, text, rule string) []finding.Finding {
	t.Helper()
	var out []finding.Finding
	err := Analyzer.File(&scan.FilePass{Context: context.Background(), Path: "api.yaml", Size: int64(len(text)),
		ReadFile: func() ([]byte, error) { return []byte(text), nil },
		Reporter: scan.Reporter{
			Report: func(r *finding.Rule, f finding.Finding) {
				if path.Base(r.ID) == rule {
					out = append(out, f)
				}
			},
			Degrade: func(r scan.Reason) { t.Errorf("degraded: %+v", r) },
		}})
	if err != nil {
		t.Fatal(err)
	}
	return out
}
