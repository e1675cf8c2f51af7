package unsignedstate

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"html"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"merlon/internal/engine/dast/activescan"
	"merlon/internal/engine/dast/activescan/activescantest"
	"merlon/internal/engine/dast/message"
)

// jane sends a cookie.
type jane string

func (j jane) Prepare(_ context.Context, r *http.Request) error {
	r.Header.Set("Cookie", "theme=dark; session="+string(j))
	return nil
}
func (jane) Seen(*message.Response) {}
func (jane) Name() string           { return "jane" }

func sign(b []byte) []byte {
	m := hmac.New(sha256.New, []byte("a key of the server"))
	_, _ = m.Write(b)
	return m.Sum(nil)
}

// member is a page for the user of the name; empty: for nobody.
func member(w http.ResponseWriter, name string) {
	if name == "" {
		w.WriteHeader(http.StatusUnauthorized)
		fmt.Fprint(w, "<html>Please sign in.")
		return
	}
	fmt.Fprintf(w, "<html><h1>Account of %s</h1><p>orders: <ul><li>one<li>two</ul><a href='/leave'>Leave</a>",
		html.EscapeString(name))
}

func TestSessions(t *testing.T) {
	inJSON := func(s string) string {
		var v struct{ User string }
		if json.Unmarshal([]byte(s), &v) != nil {
			return ""
		}
		return v.User
	}
	b64 := func(s string) string {
		b, err := base64.StdEncoding.DecodeString(s)
		if err != nil {
			return ""
		}
		return string(b)
	}
	said := `{"user":"jane.doe","admin":false}`
	code := base64.RawURLEncoding.EncodeToString(sign([]byte("jane.doe")))
	php := `a:2:{s:4:"user";s:8:"jane.doe";s:5:"admin";b:0;}`
	for _, test := range []struct {
		name, cookie string
		user         func(cookie string) string
		flaw         bool
	}{
		{"JSON in base 64", base64.StdEncoding.EncodeToString([]byte(said)), func(c string) string {
			return inJSON(b64(c))
		}, true},
		{"JSON in URL encoding", url.QueryEscape(said), func(c string) string {
			s, _ := url.QueryUnescape(c)
			return inJSON(s)
		}, true},
		{"array of PHP", url.QueryEscape(php), func(c string) string {
			s, _ := url.QueryUnescape(c)
			var n int
			var name string
			if _, rest, ok := strings.Cut(s, `"user";s:`); ok && strings.HasSuffix(s, "}") {
				if _, err := fmt.Sscanf(rest, "%d:%q", &n, &name); err == nil && n == len(name) {
					return name
				}
			}
			return ""
		}, true},
		{"a code within", base64.StdEncoding.EncodeToString([]byte(`{"user":"jane.doe","code":"` + code + `"}`)),
			func(c string) string {
				var v struct{ User, Code string }
				if json.Unmarshal([]byte(b64(c)), &v) != nil ||
					base64.RawURLEncoding.EncodeToString(sign([]byte(v.User))) != v.Code {
					return ""
				}
				return v.User
			}, false},
		{"a code behind", base64.StdEncoding.EncodeToString([]byte(said)) + "." + code, func(c string) string {
			text, mac, _ := strings.Cut(c, ".")
			if mac != code || b64(text) != said {
				return ""
			}
			return "jane.doe"
		}, false},
		{"a name that is looked up", base64.StdEncoding.EncodeToString([]byte(said)), func(c string) string {
			if name := inJSON(b64(c)); name == "jane.doe" {
				return name
			}
			return ""
		}, false},
		{"an identifier", "5f2b9c0e77aa4410", func(c string) string {
			return map[string]string{"5f2b9c0e77aa4410": "jane.doe"}[c]
		}, false},
	} {
		h := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			c, err := r.Cookie("session")
			if err != nil {
				member(w, "")
				return
			}
			member(w, test.user(c.Value))
		})
		got := activescantest.Attack(t, h, []*activescan.Rule{Rule}, []string{"GET /account"},
			func(r *activescan.Engine) {
				r.As = jane(test.cookie)
			})
		if (len(got.Findings) == 1) != test.flaw || len(got.Findings) > 1 {
			t.Errorf("%s: %+v %+v", test.name, got.Findings, got.Reasons)
		}
		if test.flaw && len(got.Findings) == 1 && got.Findings[0].Live.Parameter != "session" {
			t.Errorf("%s: %+v", test.name, got.Findings[0].Live)
		}
	}
	// A text that everybody is shown, with a word that a cookie keeps, is no session.
	greets := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		name := "guest"
		if c, err := r.Cookie("session"); err == nil && inJSON(b64(c.Value)) != "" {
			name = inJSON(b64(c.Value))
		}
		fmt.Fprintf(w, "<html><h1>Shop</h1><p>Hello %s</p><ul><li>one<li>two<li>three</ul><p>a long text that is the "+
			"same for everybody who comes", html.EscapeString(name))
	})
	got := activescantest.Attack(t, greets, []*activescan.Rule{Rule}, []string{"GET /"}, func(r *activescan.Engine) {
		r.As = jane(base64.StdEncoding.EncodeToString([]byte(said)))
	})
	if len(got.Findings) != 0 {
		t.Errorf("a greeting: %+v", got.Findings)
	}
}

func TestState(t *testing.T) {
	body := []byte(stateHead + "\x0f\x0f\x05\x0aLabelTitle\x05\x05hello\x16\x00")
	for _, test := range []struct {
		name  string
		state []byte
		taken func(b []byte) bool
		flaw  bool
	}{
		{"without a code", body, func(b []byte) bool {
			return bytes.HasPrefix(b, []byte(stateHead)) && len(b) == len(body)
		}, true},
		{"with a code", append(bytes.Clone(body), sign(body)...), func(b []byte) bool {
			return len(b) > 32 && hmac.Equal(sign(b[:len(b)-32]), b[len(b)-32:])
		}, false},
		{"that nobody reads", body, func([]byte) bool { return true }, false},
		{"encrypted", sign(body), func(b []byte) bool { return bytes.Equal(b, sign(body)) }, false},
	} {
		h := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			b, err := base64.StdEncoding.DecodeString(r.FormValue("__VIEWSTATE"))
			if err != nil || !test.taken(b) {
				w.WriteHeader(http.StatusInternalServerError)
				fmt.Fprint(w, "<html><h1>Server Error in '/' Application.</h1>")
				return
			}
			fmt.Fprint(w, "<html><form method=post><input name=__VIEWSTATE type=hidden><input name=q></form><p>found "+
				"nothing")
		})
		got := activescantest.Attack(t, h, []*activescan.Rule{State},
			[]string{"POST /find.aspx __VIEWSTATE=" + url.QueryEscape(base64.StdEncoding.EncodeToString(test.state)) +
				"&q=x"})
		if (len(got.Findings) == 1) != test.flaw || len(got.Findings) > 1 {
			t.Errorf("%s: %+v %+v", test.name, got.Findings, got.Reasons)
		}
	}
}
