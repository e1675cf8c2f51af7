package headers

import (
	"net/http"
	"testing"

	"merlon/internal/engine/dast/activescan"
	"merlon/internal/engine/dast/activescan/activescantest"
	"merlon/internal/engine/dast/message"
	"merlon/internal/finding"
	"merlon/internal/scan"
)

const form = `<!doctype html><form method="post"><input name="a"></form>`

// serve answers with the headers, which are pairs, and the body.
func serve(status int, body string, headers ...string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		for i := 0; i < len(headers); i += 2 {
			w.Header().Add(headers[i], headers[i+1])
		}
		w.WriteHeader(status)
		_, _ = w.Write([]byte(body))
	}
}

func TestCheck(t *testing.T) {
	const nosniff = "X-Content-Type-Options"
	for name, c := range map[string]struct {
		h    http.HandlerFunc
		want []string
	}{
		"bare":    {serve(200, form), []string{"clickjacking", "no-content-policy", "no-nosniff"}},
		"no form": {serve(200, "<p>text", nosniff, "nosniff", "Content-Security-Policy", "default-src 'self'"), nil},
		"old": {serve(200, form, nosniff, "nosniff", "X-Frame-Options", "DENY", "Content-Security-Policy",
			"script-src 'self'"), nil},
		"new": {serve(200, form, nosniff, "nosniff", "Content-Security-Policy", "script-src 'nonce-abc' "+
			"'unsafe-inline' https: 'strict-dynamic'; frame-ancestors 'none'"), nil},
		"inline": {serve(200, form, nosniff, "nosniff", "Content-Security-Policy", "script-src 'self' "+
			"'unsafe-inline'; frame-ancestors 'none'"), []string{"weak-content-policy"}},
		"anywhere": {serve(200, form, nosniff, "nosniff", "Content-Security-Policy", "default-src *; "+
			"frame-ancestors 'none'"), []string{"weak-content-policy"}},
		"two": {serve(200, form, nosniff, "nosniff", "Content-Security-Policy", "default-src *",
			"Content-Security-Policy", "script-src 'self'; frame-ancestors 'self'"), nil},
		"meta": {serve(200, `<meta http-equiv="Content-Security-Policy" content="script-src 'self'; frame-ancestors 'none'">`+form, nosniff, "nosniff"),
			[]string{"clickjacking"}},
		"error":    {serve(404, form), nil},
		"redirect": {serve(302, form, "Location", "/elsewhere"), nil},
		"data": {func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			_, _ = w.Write([]byte(`{"form":1}`))
		}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			got := activescantest.Attack(t, c.h, []*activescan.Rule{Rule}, []string{"GET /a", "GET /b"},
				activescantest.Profile(scan.Passive))
			var want []string
			for _, w := range c.want {
				want = append(want, "dast/headers/"+w+" GET /")
			}
			activescantest.Expect(t, got, want...)
			if got.Requests != 2 {
				t.Errorf("%d requests: the check must send none", got.Requests)
			}
		})
	}
}

func TestTransport(t *testing.T) {
	for _, c := range []struct {
		address, header string
		want            bool
	}{
		{"https://a.example/", "", true},
		{"https://a.example/", "max-age=0", true},
		{"https://a.example/", `includeSubDomains; max-age="31536000"`, false},
		{"https://192.0.2.1:8443/", "", false},
		{"http://a.example/", "", false},
	} {
		r, err := message.Parse(c.address)
		if err != nil {
			t.Fatal(err)
		}
		resp := &message.Response{Request: r, Status: 200, Body: []byte("<p>x"),
			Header: http.Header{"Content-Type": {"text/html"}, "X-Content-Type-Options": {"nosniff"},
				"Content-Security-Policy": {"default-src 'self'"}}}
		if c.header != "" {
			resp.Header.Set("Strict-Transport-Security", c.header)
		}
		found := false
		run := &activescan.Engine{Rules: []*activescan.Rule{Rule},
			Target:        &scan.Target{URL: c.address, Profile: scan.Passive},
			ReportFinding: func(rule *finding.Rule, _ finding.Finding) { found = found || rule == transport }}
		run.InspectResponse(t.Context(), resp)
		if found != c.want {
			t.Errorf("%s with %q: %v, want %v", c.address, c.header, found, c.want)
		}
	}
}
