package crawl_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"

	"merlon/internal/engine/dast/crawl"
)

// TestChooser goes wherever a list leads, and sends no list on that leads to one place.
func TestChooser(t *testing.T) {
	var mu sync.Mutex
	asked := map[string]int{}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		w.Header().Set("Content-Type", "text/html")
		asked[r.Method+" "+r.URL.Path]++
		to := r.FormValue("to")
		switch r.URL.Path {
		case "/":
			_, _ = fmt.Fprint(w, `<form action=/go method=post><select name=to><option value=0>--- Pages ---<option value=1>one<option value=-1>--- More ---<option value=2>two<option>three<option value=4>Log out</select><button name=go value=1>Go</button></form>
<form action=/color method=post><select name=to><option>1<option>2<option>3<option>4<option>5<option>6<option>7</select><button>Set</button></form>
<form action=/drop method=post><select name=to><option>1<option>2<option>3</select><button>Delete it</button></form>
<form action=/send method=post><select name=to><option>1<option>2<option>3</select><input name=text><button>Send</button></form>`)
		case "/go", "/drop", "/send":
			http.Redirect(w, r, map[string]string{"1": "/one", "2": "/two", "3": "/three", "three": "/three", "4": "/four"}[to], http.StatusFound)
		case "/color":
			http.Redirect(w, r, "/", http.StatusFound)
		case "/one", "/two", "/three", "/four":
			_, _ = fmt.Fprint(w, r.URL.Path)
		default:
			http.NotFound(w, r)
		}
	}))
	t.Cleanup(server.Close)
	run(t, server.URL+"/", crawl.Options{Submit: true})
	for _, want := range []string{"GET /one", "GET /two", "GET /three"} {
		if asked[want] != 1 {
			t.Errorf("%s was asked for %d times", want, asked[want])
		}
	}
	for sent, most := range map[string]int{"POST /go": 5, "POST /color": 4, "POST /drop": 1, "POST /send": 1, "GET /four": 0} {
		if asked[sent] > most {
			t.Errorf("%s was sent %d times, not %d", sent, asked[sent], most)
		}
	}
}

// TestFormNotFound takes a form as an operation that answers that what it names is not
// there, where its page is; not one whose page is not there either.
func TestFormNotFound(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		switch {
		case r.URL.Path == "/":
			_, _ = fmt.Fprint(w, `<a href=/file>f</a><form action=/gone method=post><input name=name></form>`)
		case r.URL.Path == "/file" && r.Method == http.MethodGet:
			_, _ = fmt.Fprint(w, `<form method=post><input name=name></form>`)
		default:
			http.Error(w, "there is no such thing", http.StatusNotFound)
		}
	}))
	t.Cleanup(server.Close)
	surface, _, _ := run(t, server.URL+"/", crawl.Options{Submit: true})
	var posts []string
	for _, e := range surface.Entries() {
		if e.Seen.Method == http.MethodPost {
			posts = append(posts, strings.TrimPrefix(e.Seen.URL, server.URL)+" "+string(e.Seen.Outcome))
		}
	}
	if want := []string{"/file reached"}; !slices.Equal(posts, want) {
		t.Errorf("%q, not %q", posts, want)
	}
}
