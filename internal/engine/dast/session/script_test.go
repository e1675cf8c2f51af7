package session

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"testing"

	"merlon/internal/engine/dast/browser"
	"merlon/internal/engine/dast/message"
	"merlon/internal/errs"
	"merlon/internal/scan"
)

// scripted is an application whose script signs in with a request of JSON; its page has a form.
type scripted struct {
	form string
	mu   sync.Mutex
	seen []string // addresses and bodies of requests
}

func (a *scripted) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "text/html")
	body, _ := io.ReadAll(r.Body)
	a.mu.Lock()
	defer a.mu.Unlock()
	a.seen = append(a.seen, r.Method+" "+r.URL.String()+" "+string(body))
	sent, _ := url.ParseQuery(string(body)) // of the plain form
	switch c, _ := r.Cookie("sid"); {
	case r.URL.Path == "/login" && sent.Get("name") == "jane" && sent.Get("word") == "s3cret-word" && strings.Contains(a.form, "plain"):

		http.SetCookie(w, &http.Cookie{Name: "sid", Value: "in", Path: "/"})
		fmt.Fprint(w, "hello")
	case r.URL.Path == "/login":
		fmt.Fprint(w, a.form)
	case c == nil:
		http.Redirect(w, r, "/login", http.StatusFound)
	default:
		fmt.Fprint(w, "hello")
	}
}

// A password is sent in the body of a form or by the script of its page, never in an address.
// Where the form as it stands does not work, the browser signs in.
func TestFormsOfScript(t *testing.T) {
	for name, tt := range map[string]struct {
		form    string
		browser bool
		scripts bool   // the browser is needed
		fails   string // the error; empty: it signs in
	}{
		"no method": {`<form><input name=name><input name=word type=password></form>`, true, true,
			""},
		"the method GET": {`<form method=get><input name=name><input name=word type=password></form>`,
			true, true, ""},
		"no method, no browser": {`<form><input name=name><input name=word type=password></form>`, false, true,
			"is not possible because the form of"},
		"script sends what is not sent": {`<form method=post><input name=name><input name=word type=password></form>`,
			true, true, ""},
		"no form":               {`<input id=name><input id=word type=password>`, true, true, ""},
		"the name is filled in": {`<form method=post class=plain><input name=name value=guest><input name=team value=blue><input name=word type=password></form>`, false, false, ""},
	} {
		a := &scripted{form: tt.form}
		s, client, base := open(t, a,
			scan.Identity{Form: &scan.FormLogin{URL: "/login", User: "jane", Password: "s3cret-word"},
				Marker: scan.Marker{URL: "/home", In: "hello"}})
		browsed := 0
		s.o.Browse = func(_ context.Context, _ *Session, l browser.Login) (*browser.SignInState, error) {
			if !tt.browser {
				return nil, errs.E(errs.Unavailable, "there is no browser")
			}
			browsed++
			if l.Form.URL != base+"/login" || l.Form.User != "jane" {
				t.Errorf("%s: the browser gets %+v", name, l.Form)
			}
			return &browser.SignInState{Cookies: []*http.Cookie{{Name: "sid", Value: "in", Path: "/"}}}, nil
		}
		err := s.SignIn(t.Context())
		if tt.fails == "" && err != nil || tt.fails != "" && (err == nil || !strings.Contains(err.Error(), tt.fails)) {
			t.Errorf("%s: %v", name, err)
		}
		if want := map[bool]int{true: 1}[tt.browser && tt.scripts]; browsed != want {
			t.Errorf("%s: %d sign-ins by the browser, not %d", name, browsed, want)
		}
		for _, line := range a.seen {
			if address := strings.Fields(line)[1]; strings.Contains(address, "s3cret-word") {
				t.Errorf("%s: %s", name, line)
			}
		}
		if browsed == 0 {
			continue
		}
		before := len(a.seen)
		s.mu.Lock()
		s.lose("the test says so")
		s.mu.Unlock()
		r, err := message.Parse(base + "/page")
		if err != nil {
			t.Fatal(err)
		}
		if _, err := client.Send(t.Context(), r, s); err != nil || browsed != 2 ||
			strings.Contains(strings.Join(a.seen[before:], " "), "POST") {
			t.Errorf("%s: renewed by %d, %v: %v", name, browsed, err, a.seen[before:])
		}
	}
}
