package clienttrust

import (
	"context"
	"crypto/rand"
	"fmt"
	"net"
	"net/http"
	"testing"

	"merlon/internal/chromium"
	"merlon/internal/engine/dast/activescan"
	"merlon/internal/engine/dast/activescan/activescantest"
	"merlon/internal/engine/dast/browser"
	"merlon/internal/engine/dast/message"
	"merlon/internal/scan"
)

// reversed is what the script of the pages makes.
func reversed(s string) string {
	out := []rune("zz" + s)
	for i := range out {
		out[i] = []rune("zz" + s)[len(out)-1-i]
	}
	return string(out)
}

const script = `<script>f.token.value = ("zz" + f.phrase.value).split("").reverse().join("")</script>`

// pages answer to a value and a token.
var pages = map[string]struct {
	script string
	token  func() string // as the page has it
	answer func(phrase, token string) string
}{
	"/checks": {`<p>Write "please" to go on.</p><script>setTimeout(() => { f.token.value = ("zz" + f.phrase.value).split("").reverse().join("") }, 50)</script>`, nil, func(phrase, token string) string {
		switch {
		case phrase != "please":
			return "not that"
		case token != reversed(phrase):
			return "the form was changed"
		}
		return "thanks"
	}},
	"/ignores": {script, nil, func(string, string) string { return "thanks" }},
	"/server": {`<script>console.log(f.token.value)</script>`, rand.Text, func(_, token string) string {
		if len(token) != 26 {
			return "the form was changed"
		}
		return "thanks"
	}},
	"/copies": {`<script>f.token.value = f.phrase.value</script>`, nil, func(phrase, token string) string {
		if token != phrase {
			return "the form was changed"
		}
		return "thanks"
	}},
}

func TestCheck(t *testing.T) {
	path, err := chromium.Find()
	if err != nil {
		t.Fatal(err, "(scripts/deps.sh installs it)")
	}
	mux := http.NewServeMux()
	for path, p := range pages {
		mux.HandleFunc(path, func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "text/html; charset=utf-8")
			answer, token := "", ""
			if r.Method == http.MethodPost {
				answer = p.answer(r.PostFormValue("phrase"), r.PostFormValue("token"))
			}
			if p.token != nil {
				token = p.token()
			}
			fmt.Fprintf(w, `<!doctype html><p>%s</p><form id=f method=post><input type=hidden name=token value="%s"><input name=phrase value="change me"><button>Go</button></form>%s`, answer, token, p.script)
		})
	}
	got := activescantest.Attack(t, mux, []*activescan.Rule{Rule}, nil, activescantest.Profile(scan.Standard),
		func(r *activescan.Engine) {
			dial := func(ctx context.Context, network, address string) (net.Conn, error) {
				return (&net.Dialer{}).DialContext(ctx, network, address)
			}
			b, err := browser.Start(t.Context(), browser.Options{Path: path, Dial: dial, Gate: r.Client,
				Within: func(m *message.Request) bool {
					return r.Scope.Allows(m) == nil
				}})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(b.Close)
			r.Browser = browser.Prover{Browser: b}
			for path := range pages {
				form := &message.Request{Method: http.MethodPost, Scheme: "http", Host: r.Scope.Base().Host, Path: path,
					Origin: "form", Types: map[string]string{"form:token": "hidden"}}
				form.Body = message.Body{Kind: message.Form,
					Params: []message.Param{{Name: "token"}, {Name: "phrase", Value: "change me"}}}
				form.Referer = form.Address()
				r.Sitemap.Add(form)
			}
		})
	activescantest.Expect(t, got, "dast/enforcement/client-side POST /checks form:token")
	t.Logf("%d requests", got.Requests)
}
