package crawl_test

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"merlon/internal/engine/dast/crawl"
	"merlon/internal/engine/dast/message"
	"merlon/internal/engine/dast/sitemap"
	"merlon/internal/engine/dast/traffic"
	"merlon/internal/finding"
	"merlon/internal/scan"
)

// entry returns the operation of a method and a path.
func entry(s *sitemap.Map, method, path string) *sitemap.Entry {
	for _, e := range s.Entries() {
		if e.Request.Method == method && e.Request.Path == path {
			return &e
		}
	}
	return nil
}

// A token counts once, and a new one makes the old one worthless, as in applications that
// renew it with each page. Forms are taken all the same.
func TestCrawlWithTokensOfEachPage(t *testing.T) {
	var mu sync.Mutex
	n, token := 0, ""
	mux := http.NewServeMux()
	page := func(text string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			mu.Lock()
			defer mu.Unlock()
			n++
			token = fmt.Sprintf("t0ken-%06d", n)
			w.Header().Set("Content-Type", "text/html")
			_, _ = fmt.Fprint(w, strings.ReplaceAll(text, "TOKEN", "<input type=hidden "+
				"name=csrf_token value="+token+">"))
		}
	}
	for i := range 5 {
		mux.HandleFunc(fmt.Sprintf("GET /p%d", i), page(fmt.Sprintf("<a href=/p%d>on</a><form method=post "+
			"action=/save%d>TOKEN<input name=text></form>", i+1, i)))
		mux.HandleFunc(fmt.Sprintf("POST /save%d", i), func(w http.ResponseWriter, r *http.Request) {
			mu.Lock()
			good := r.FormValue("csrf_token") == token
			token = ""
			mu.Unlock()
			if !good {
				http.Error(w, "the token is not valid", http.StatusForbidden)
				return
			}
			page(fmt.Sprintf("<a href=/behind%d>on", i))(w, r)
		})
		mux.HandleFunc(fmt.Sprintf("GET /behind%d", i), page("you are there"))
	}
	mux.HandleFunc("GET /{$}", page("<a href=/p0>on</a>"))
	server := httptest.NewServer(mux)
	defer server.Close()
	surface, _, _ := run(t, server.URL+"/", crawl.Options{Submit: true})
	for i := range 5 {
		if e := entry(surface, http.MethodGet, fmt.Sprintf("/behind%d", i)); e == nil ||
			e.Seen.Outcome != finding.Reached {
			t.Errorf("what is behind form %d was not found: %+v", i, e)
		}
	}
}

// A list that was empty when it was asked for names what the crawl itself has added.
func TestCrawlAsksAgainForWhatFormsHaveAdded(t *testing.T) {
	var mu sync.Mutex
	var notes []string
	mux := http.NewServeMux()
	html := func(w http.ResponseWriter, text string) {
		w.Header().Set("Content-Type", "text/html")
		_, _ = fmt.Fprint(w, text)
	}
	mux.HandleFunc("GET /{$}", func(w http.ResponseWriter, _ *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		text := "<a href=/new>new</a>"
		for i := range notes {
			text += fmt.Sprintf("<a href=/note/%d>read</a>", i+1)
		}
		html(w, text)
	})
	mux.HandleFunc("GET /new", func(w http.ResponseWriter, _ *http.Request) {
		html(w, "<form method=post><input "+
			"name=text></form>")
	})
	mux.HandleFunc("POST /new", func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		notes = append(notes, r.FormValue("text"))
		http.Redirect(w, r, "/new", http.StatusSeeOther)
	})
	mux.HandleFunc("GET /note/{n}", func(w http.ResponseWriter, r *http.Request) {
		html(w, "<form method=post action=/note/"+r.PathValue("n")+"><input name=comment></form>")
	})
	mux.HandleFunc("POST /note/{n}", func(w http.ResponseWriter, _ *http.Request) { html(w, "thank you") })
	server := httptest.NewServer(mux)
	defer server.Close()
	surface, _, _ := run(t, server.URL+"/", crawl.Options{Submit: true})
	if entry(surface, http.MethodPost, "/note/1") == nil {
		t.Error("the form on the page of a new object was not found")
	}
}

// wizard takes a name, then a color, then a size, each on a page of its own, and forgets
// where somebody is when it is asked for another page. led says that each step is a page that
// the one before leads to.
func wizard(led bool) http.Handler {
	var mu sync.Mutex
	step := 1
	forms := []string{"", "name", "color", "size"}
	form := func(n int) string {
		return fmt.Sprintf("<form method=post action=/step%d><input name=%s></form>", n, forms[n])
	}
	mux := http.NewServeMux()
	html := func(w http.ResponseWriter, text string) {
		w.Header().Set("Content-Type", "text/html")
		_, _ = fmt.Fprint(w, text)
	}
	for n := 1; n <= 3; n++ {
		mux.HandleFunc(fmt.Sprintf("GET /step%d", n), func(w http.ResponseWriter, r *http.Request) {
			mu.Lock()
			defer mu.Unlock()
			if n != step {
				step = 1
			}
			if n != step {
				http.Redirect(w, r, "/step1", http.StatusSeeOther)
				return
			}
			html(w, form(n))
		})
		mux.HandleFunc(fmt.Sprintf("POST /step%d", n), func(w http.ResponseWriter, r *http.Request) {
			mu.Lock()
			defer mu.Unlock()
			if n != step && n != 1 || r.FormValue(forms[n]) == "" {
				step = 1
				http.Redirect(w, r, "/step1", http.StatusSeeOther)
				return
			}
			if step = n + 1; n == 3 {
				step = 1
				html(w, "<h1>done</h1><p>your size is "+r.FormValue("size"))
				return
			}
			if led {
				http.Redirect(w, r, fmt.Sprintf("/step%d", n+1), http.StatusSeeOther)
				return
			}
			html(w, form(n+1))
		})
	}
	mux.HandleFunc("GET /{$}", func(w http.ResponseWriter, _ *http.Request) { html(w, "<a href=/step1>begin</a>") })
	return mux
}

// The pages of a wizard are found, and what is sent to the last one is sent behind the others.
func TestCrawlOfWizards(t *testing.T) {
	for _, led := range []bool{false, true} {
		server := httptest.NewServer(wizard(led))
		defer server.Close()
		surface, _, _ := run(t, server.URL+"/", crawl.Options{Submit: true, Parallel: 1})
		e := entry(surface, http.MethodPost, "/step3")
		if e == nil {
			t.Errorf("led %v: the last page was not found", led)
			continue
		}
		if e.Request.Via == nil || e.Request.Via.Path != "/step2" {
			t.Errorf("led %v: the last page is sent behind %v", led, e.Request.Via)
		}
		scope, err := sitemap.NewScope(&scan.Target{URL: server.URL})
		if err != nil {
			t.Fatal(err)
		}
		var dialer net.Dialer
		client := traffic.New(traffic.Options{Scope: scope, Dial: dialer.DialContext, Rate: 1e6})
		defer client.Close()
		renew := crawl.TokenRenewer(client, nil)
		for range 2 {
			r := e.Request.With(message.Point{In: message.InForm, Name: "size", Index: 0}, "attacked")
			resp, err := client.Send(context.WithoutCancel(t.Context()), renew(t.Context(), r), nil)
			if err != nil {
				t.Fatal(err)
			}
			if !strings.Contains(resp.Text(), "your size is attacked") {
				t.Errorf("led %v: %d %s", led, resp.Status, resp.Text())
			}
		}
	}
}

// A choice of the language that every page sends to itself is attacked twice, and a form of
// each page's own on every page. Where a page has nothing but the form, it is the page's own.
func TestCrawlOfFormsOnEveryPage(t *testing.T) {
	mux := http.NewServeMux()
	links := ""
	for i := range 10 {
		links += fmt.Sprintf("<a href=/p%d>%d</a><a href=/alone%d>%d</a>", i, i, i, i)
	}
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		own := ""
		if n, ok := strings.CutPrefix(r.URL.Path, "/p"); ok {
			own = fmt.Sprintf("<form method=post><input name=own%s></form><form method=post><select "+
				"name=language><option>en<option>de</select></form>", n)
		} else if strings.HasPrefix(r.URL.Path, "/alone") {
			own = "<form method=post><input name=value></form>"
		}
		fmt.Fprintf(w, "%s<p>%s %s</p>%s", links, r.Method, r.URL.Path, own)
	})
	server := httptest.NewServer(mux)
	defer server.Close()
	surface, _, _ := run(t, server.URL+"/", crawl.Options{Submit: true})
	attacked := map[string]int{}
	for _, e := range surface.Entries() {
		if e.Request.Method == http.MethodPost && !e.Withheld {
			attacked[strings.TrimRight(e.Request.Body.Params[0].Name, "0123456789")]++
		}
	}
	if attacked["language"] != 2 || attacked["own"] != 10 || attacked["value"] != 10 {
		t.Errorf("attacked: %v", attacked)
	}
}
