package crawl_test

import (
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"testing"

	"merlon/internal/engine/dast/crawl"
	"merlon/internal/engine/dast/message"
	"merlon/internal/engine/dast/sitemap"
	"merlon/internal/engine/dast/traffic"
	"merlon/internal/scan"
)

// What a sign-in sets beside its session is a value of the pages that read it, and of no
// other. So is what is named as the session and holds a chosen value, but no number and nothing
// that was drawn.
func TestCookiesOfTheSignIn(t *testing.T) {
	const drawn = "k3J9xQ72bLm0vTz5RfYw81Hs"
	mux := http.NewServeMux()
	page := func(path, text string, reads ...string) {
		mux.HandleFunc("GET "+path, func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "text/html")
			_, _ = fmt.Fprint(w, text)
			for _, name := range reads {
				if c, err := r.Cookie(name); err == nil && c.Value != "1" && c.Value != "dark" && c.Value != "jane" &&
					c.Value != drawn && c.Value != "wide" {
					_, _ = fmt.Fprint(w, "<p>there is nothing for you")
				}
			}
		})
	}
	page("/{$}", "<a href=/mine>mine</a><a href=/user>user</a><a href=/plain>plain</a><a href=/moody>moody</a>")
	page("/mine", "<p>your things", "uid", "sessionid")
	page("/user", "<p>a user", "auth_user", "auth_id", "session_key", "csrf_token")
	page("/plain", "<p>the same for everybody")
	n := 0
	mux.HandleFunc("GET /moody", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		n++
		_, _ = fmt.Fprintf(w, "<p>another %s each time", string(rune('a'+n)))
	})
	server := httptest.NewServer(mux)
	defer server.Close()
	scope, err := sitemap.NewScope(&scan.Target{URL: server.URL + "/"})
	if err != nil {
		t.Fatal(err)
	}
	var dialer net.Dialer
	client := traffic.New(traffic.Options{Scope: scope, Dial: dialer.DialContext, Rate: 1e6})
	defer client.Close()
	surface := sitemap.New(100)
	c := crawl.New(crawl.Options{Client: client, Scope: scope, Surface: surface, Submit: true, Parallel: 1,
		Degrade: func(r scan.Reason) {
			t.Error(r)
		}})
	login, err := message.Parse(server.URL + "/login")
	if err != nil {
		t.Fatal(err)
	}
	c.Signed(&message.Response{Request: login, Status: http.StatusFound,
		Header: http.Header{"Set-Cookie": {"uid=1", "theme=dark", "sessionid=1", "auth_user=jane", "auth_id=1",
			"session_key=" + drawn, "csrf_token=wide"}}})
	if _, err := c.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	for _, e := range surface.Entries() {
		var got []string
		for _, p := range e.Request.Cookies {
			got = append(got, p.Name+"="+p.Value)
		}
		want := map[string][]string{"/mine": {"uid=1"}, "/user": {"auth_user=jane"}}[e.Request.Path]
		if !slices.Equal(got, want) {
			t.Errorf("%s takes the cookies %v, want %v", e.Request.Path, got, want)
		}
	}
}
