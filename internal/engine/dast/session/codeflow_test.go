package session

import (
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"

	"merlon/internal/scan"
)

// issuer is an OpenID provider with a form, a question for consent and PKCE. Some of its
// clients make it do something else.
type issuer struct {
	*httptest.Server
	opened    atomic.Int64 // the redirect address, which nobody may open
	redirect  string
	challenge string
	state     string
	method    string // of authentication at the token endpoint
}

const signInPage = `<form method=post action=/in><input type=hidden name=csrf value=t0k3n-t0k3n><input name=email type=email><input name=password type=password></form>`

func (p *issuer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "text/html")
	c, _ := r.Cookie("issuer")
	signed := c != nil && c.Value == "jane"
	switch r.URL.Path {
	case "/.well-known/openid-configuration":
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprintf(w, `{"issuer": %q, "authorization_endpoint": "%s/authorize?tenant=1", "token_endpoint": "%s/token", "token_endpoint_auth_methods_supported": [%q]}`, p.URL, p.URL, p.URL, p.method)
	case "/authorize":
		q := r.URL.Query()
		p.challenge, p.state, p.redirect = q.Get("code_challenge"), q.Get("state"), q.Get("redirect_uri")
		switch {
		case q.Get("tenant") != "1" || q.Get("response_type") != "code" || q.Get("code_challenge_method") != "S256" || q.Get("scope") == "openid" && q.Get("nonce") == "":

			w.WriteHeader(http.StatusBadRequest)
		case q.Get("client_id") == "unknown":
			http.Redirect(w, r, p.redirect+"?error=unauthorized_client&state="+p.state, http.StatusFound)
		case q.Get("client_id") == "two-pages":
			fmt.Fprint(w, `<form method=post action=/name><input name=username><button>Next</button></form>`)
		case q.Get("client_id") == "script":
			fmt.Fprint(w, `<div id=app></div>`)
		case q.Get("client_id") == "elsewhere":
			fmt.Fprint(w, `<form method=post action=http://elsewhere.example/in><input name=email type=email><input name=password type=password></form>`)
		default:
			fmt.Fprint(w, signInPage)
		}
	case "/name":
		if r.FormValue("username") != "jane" {
			w.WriteHeader(http.StatusBadRequest)
		}
		fmt.Fprint(w, strings.Replace(signInPage, "<input name=email type=email>", "<input name=email type=hidden "+
			"value=jane>", 1))
	case "/in":
		if r.FormValue("email") != "jane" || r.FormValue("password") != "s3cret" ||
			r.FormValue("csrf") != "t0k3n-t0k3n" || r.Header.Get("Origin") != p.URL {
			fmt.Fprint(w, signInPage)
			return
		}
		http.SetCookie(w, &http.Cookie{Name: "issuer", Value: "jane", Path: "/"})
		http.Redirect(w, r, "/consent", http.StatusSeeOther)
	case "/consent":
		if !signed {
			w.WriteHeader(http.StatusForbidden)
			return
		}
		fmt.Fprint(w, `<form method=post action=/decide><button name=decision value=deny>No</button><button name=decision value=allow>Yes</button></form>`)
	case "/decide":
		if !signed || r.FormValue("decision") != "allow" {
			http.Redirect(w, r, p.redirect+"?error=access_denied", http.StatusFound)
			return
		}
		http.Redirect(w, r, p.redirect+"?code=c0de&state="+url.QueryEscape(p.state), http.StatusFound)
	case "/token":
		digest := sha256.Sum256([]byte(r.FormValue("code_verifier")))
		user, secret, _ := r.BasicAuth()
		if p.method == "client_secret_post" {
			user, secret = r.FormValue("client_id"), r.FormValue("client_secret")
		}
		if r.FormValue("code") != "c0de" || base64.RawURLEncoding.EncodeToString(digest[:]) != p.challenge ||
			r.FormValue("redirect_uri") != p.redirect || user == "" || secret != "cl1ent" {
			w.WriteHeader(http.StatusBadRequest)
			return
		}
		fmt.Fprint(w, `{"access_token": "oauth", "token_type": "Bearer"}`)
	default:
		p.opened.Add(1)
	}
}

func newIssuer(t *testing.T, method string) *issuer {
	p := &issuer{method: method}
	p.Server = httptest.NewServer(p)
	t.Cleanup(p.Close)
	return p
}

func TestCodeFlow(t *testing.T) {
	for _, tt := range []struct{ client, method, password, fault string }{
		{"web", "client_secret_post", "s3cret", ""},
		{"web", "client_secret_basic", "s3cret", ""},
		{"two-pages", "client_secret_post", "s3cret", ""},
		{"web", "client_secret_post", "wrong", "requests the password again"},
		{"unknown", "client_secret_post", "s3cret", "unauthorized_client"},
		{"script", "client_secret_post", "s3cret", "use steps"},
		{"elsewhere", "client_secret_post", "s3cret", "outside of the scope"},
	} {
		p := newIssuer(t, tt.method)
		s, _, base := open(t, &app{}, scan.Identity{Marker: scan.Marker{URL: "/home", In: "sign out"},
			OAuth: &scan.OAuthLogin{Issuer: p.URL, ClientID: tt.client, ClientSecret: "cl1ent",
				Redirect: p.URL + "/callback", Scope: "openid", User: "jane", Password: tt.password}})
		err := s.SignIn(t.Context())
		if (err == nil) != (tt.fault == "") || err != nil && (!strings.Contains(err.Error(), tt.fault) ||
			strings.Contains(err.Error(), tt.password)) {
			t.Errorf("%s, %s: %v", tt.client, tt.password, err)
		}
		if p.opened.Load() != 0 {
			t.Errorf("%s: the redirect address was opened", tt.client)
		}
		r, _ := http.NewRequest(http.MethodGet, base+"/", nil) //nolint:noctx // it is not sent
		other, _ := http.NewRequest(http.MethodGet, p.URL+"/", nil)
		if err == nil && (s.Prepare(t.Context(), r) != nil || r.Header.Get("Authorization") != "Bearer oauth" ||
			s.Prepare(t.Context(), other) != nil || other.Header.Get("Authorization") != "") {
			t.Errorf("%s: the target gets %v, the issuer %v", tt.client, r.Header, other.Header)
		}
	}
}

// TestCodeFlowNeedsARedirect names what is missing, and a state that is not the flow's.
func TestCodeFlowNeedsARedirect(t *testing.T) {
	p := newIssuer(t, "client_secret_post")
	s, _, _ := open(t, &app{}, scan.Identity{OAuth: &scan.OAuthLogin{Issuer: p.URL, ClientID: "web"}})
	if err := s.SignIn(t.Context()); err == nil || !strings.Contains(err.Error(), "redirect") {
		t.Errorf("without a redirect: %v", err)
	}
	f := &flow{Session: s, state: "mine"}
	if _, err := f.extractCode(url.Values{"code": {"x"}, "state": {"other"}}); err == nil {
		t.Error("another state was taken")
	}
}
