package cookies

import (
	"net/http"
	"slices"
	"testing"

	"merlon/internal/engine/dast/activescan"
	"merlon/internal/engine/dast/activescan/activescantest"
	"merlon/internal/scan"
)

func TestCheck(t *testing.T) {
	mux := http.NewServeMux()
	sets := func(path string, cookies ...string) {
		mux.HandleFunc(path, func(w http.ResponseWriter, _ *http.Request) {
			for _, c := range cookies {
				w.Header().Add("Set-Cookie", c)
			}
		})
	}
	const id = "8f14e45fceea167a5a36dedd4bea2543"
	sets("/bad/session", "JSESSIONID="+id+"; Path=/; Secure")
	sets("/bad/again", "JSESSIONID="+id+"; Path=/; Secure") // again
	sets("/bad/plain", "remembered=1; Path=/bad/plain; HttpOnly")
	sets("/bad/other", "remembered=1; Path=/bad/other; HttpOnly") // for another path
	sets("/bad/folder/page", "theme=dark")
	sets("/bad/none", "widget=1; SameSite=None; Path=/")
	sets("/good/all", "sessionid="+id+"; Secure; HttpOnly; SameSite=Lax")
	sets("/good/token", "csrftoken="+id+"; Secure; SameSite=Lax")
	sets("/good/gone", "sessionid=; Path=/", "lang=de; Max-Age=0", "old=1; Expires=Thu, 01 Jan 1970 00:00:00 GMT",
		"x=deleted; Max-Age=0")
	sets("/good/preference", "lang=de; Secure", "sidebar_open=yes-and-it-is-wide; Secure",
		"none=1; SameSite=None; Secure")
	sets("/good/nothing")
	got := activescantest.Attack(t, mux, []*activescan.Rule{Rule}, []string{"GET /bad/session", "POST /bad/again x=1",
		"GET /bad/plain", "GET /bad/other",
		"GET /bad/folder/page", "GET /bad/none", "GET /good/all", "GET /good/token", "GET /good/gone",
		"GET /good/preference", "GET /good/nothing"}, activescantest.Profile(scan.Passive))
	activescantest.Expect(t, got, "dast/cookies/not-http-only GET /", "dast/cookies/not-secure GET /",
		"dast/cookies/not-secure GET /", "dast/cookies/not-secure GET /", "dast/cookies/same-site-none GET /")
	var messages []string
	for _, f := range got.Findings {
		messages = append(messages, f.Message)
	}
	for _, name := range []string{"remembered", "theme", "widget"} {
		if want := "The cookie " + name + " is set without Secure."; !slices.Contains(messages, want) {
			t.Errorf("%q is not among %q", want, messages)
		}
	}
	if got.Requests != 11 {
		t.Errorf("%d requests: the check must send none", got.Requests)
	}
}
