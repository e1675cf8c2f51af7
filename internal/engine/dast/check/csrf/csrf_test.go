package csrf

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"merlon/internal/engine/dast/activescan"
	"merlon/internal/engine/dast/activescan/activescantest"
	"merlon/internal/engine/dast/message"
	"merlon/internal/scan"
)

// jane is a user who is signed in.
type jane struct{ header, value string }

func (j jane) Prepare(_ context.Context, r *http.Request) error {
	r.Header.Set(j.header, j.value)
	return nil
}
func (jane) Seen(*message.Response) {}
func (jane) Name() string           { return "jane" }

func TestCheck(t *testing.T) {
	const id = "q8w7e6r5t4z3u2i1o0p9"
	cookie := jane{"Cookie", "sid=" + id}
	// site is an application; it may look at the origin.
	site := func(set string, looks, open bool) http.HandlerFunc {
		var book []string
		return func(w http.ResponseWriter, r *http.Request) {
			if set != "" {
				w.Header().Set("Set-Cookie", set)
			}
			c, _ := r.Cookie("sid")
			in := c != nil && c.Value == id || r.Header.Get("Authorization") == "Bearer "+id
			switch {
			case !in && !open:
				http.Redirect(w, r, "/login", http.StatusFound)
			case looks && !strings.HasSuffix(r.Header.Get("Origin"), r.Host):
				http.Error(w, "from elsewhere", http.StatusForbidden)
			case r.URL.Path == "/book": // keeps what is written into it
				if text := r.PostFormValue("comment"); text != "" {
					book = append(book, text)
				}
				fmt.Fprint(w, "<p>The book of our guests, who wrote on many days and in many ways: ", book)
			case r.URL.Path == "/encode":
				fmt.Fprint(w, "<p>Your message in a form that can be sent by every way: ",
					url.QueryEscape(r.PostFormValue("comment")))
			default:
				fmt.Fprint(w, "<p>Your profile is as you wish, and we have sent you a message about it")
			}
		}
	}
	form := func(typed map[string]string, params ...string) *message.Request {
		r := &message.Request{Method: http.MethodPost, Scheme: "http", Path: "/profile/edit", Origin: "form",
			Types: map[string]string{}}
		r.Body.Kind = message.Form
		for _, p := range params {
			name, value, _ := strings.Cut(p, "=")
			r.Body.Params = append(r.Body.Params, message.Param{Name: name, Value: value})
		}
		for name, kind := range typed {
			r.Types["form:"+name] = kind
		}
		return r
	}
	plain := form(nil, "email=jane.roe@example.com", "name=Jane")
	get := form(nil)
	get.Method, get.Body, get.Query = http.MethodGet, message.Body{},
		[]message.Param{{Name: "password_new", Value: "x"}, {Name: "password_conf", Value: "y"}}
	search := form(nil, "query=shoes", "order=price")
	book, encode := form(nil, "comment=nice"), form(nil, "comment=nice")
	book.Path, encode.Path = "/book", "/encode"
	link := plain.Clone()
	link.Origin = "script"
	for name, c := range map[string]struct {
		h    http.Handler
		r    *message.Request
		as   jane
		want string
	}{
		"plain":  {site("", false, false), plain, cookie, "dast/csrf/forgery POST /profile/edit"},
		"book":   {site("", false, false), book, cookie, "dast/csrf/forgery POST /book"},
		"encode": {site("", false, false), encode, cookie, ""},
		"get":    {site("", false, false), get, cookie, "dast/csrf/forgery GET /profile/edit"},
		"lax get": {site("sid="+id+"; SameSite=Lax", false, false), get, cookie, "dast/csrf/forgery GET " +
			"/profile/edit"},
		"origin": {site("", true, false), plain, cookie, ""},
		"lax":    {site("sid="+id+"; SameSite=Lax", false, false), plain, cookie, ""},
		"strict": {site("sid="+id+"; SameSite=Strict", false, false), get, cookie, ""},
		"public": {site("", false, true), plain, cookie, ""},
		"bearer": {site("", false, false), plain, jane{"Authorization", "Bearer " + id}, ""},
		"token": {site("", false, false), form(map[string]string{"t": "hidden"}, "email=a@example.com",
			"t=8f14e45fceea167a5a36dedd4bea2543"), cookie, ""},
		"old":    {site("", false, false), form(nil, "current_password=x", "password=y", "password2=y"), cookie, ""},
		"search": {site("", false, false), search, cookie, ""},
		"sign-in": {site("", false, false), form(map[string]string{"p": "password"}, "user=jane", "p=x", "profile=1"),
			cookie, ""},
		"not form": {site("", false, false), link, cookie, ""},
	} {
		t.Run(name, func(t *testing.T) {
			got := activescantest.Attack(t, c.h, []*activescan.Rule{Rule}, nil, activescantest.Profile(scan.Standard),
				func(r *activescan.Engine) {
					r.As = c.as
					c.r.Host = r.Scope.Base().Host
					c.r.Referer = c.r.Address()
					r.Sitemap.Add(c.r)
				})
			var want []string
			if c.want != "" {
				want = append(want, c.want)
			}
			activescantest.Expect(t, got, want...)
			if got.Requests > 7 {
				t.Errorf("%d requests", got.Requests)
			}
		})
	}
}
