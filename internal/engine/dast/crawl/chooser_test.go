package crawl_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"merlon/internal/engine/dast/crawl"
)

// TestChooser goes wherever a list leads, and sends no list on that leads to one place.
func TestChooser(t *testing.T) {
	var mu sync.Mutex
	asked := map[string]int{}
	var many []string
	for i := range 16 {
		many = append(many, fmt.Sprintf("<option>page%c", 'a'+i))
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		w.Header().Set("Content-Type", "text/html")
		asked[r.Method+" "+r.URL.Path]++
		to := r.FormValue("to")
		switch r.URL.Path {
		case "/":
			_, _ = fmt.Fprintf(w, `<form action=/go method=post><select name=to><option value=0>--- Pages ---<option value=1>one<option value=-1>--- More ---<option value=2>two<option>three<option value=4>Log out</select><button name=go value=1>Go</button></form>
<form action=/many method=post><select name=to>%s<option>-1<option>-2<option>-3<option>-4<option>last</select></form>
<form action=/color method=post><select name=to><option>1<option>2<option>3<option>4<option>5<option>6<option>7</select><button>Set</button></form>
<form action=/drop method=post><select name=to><option>1<option>2<option>3</select><button>Delete it</button></form>
<form action=/send method=post><select name=to><option>1<option>2<option>3</select><input name=text><button>Send</button></form>`, strings.Join(many, ""))
		case "/many":
			if to = "/many-" + to; strings.HasPrefix(to, "/many--") {
				to = "/"
			}
			http.Redirect(w, r, to, http.StatusFound)
		case "/go", "/drop", "/send":
			http.Redirect(w, r, map[string]string{"1": "/one", "2": "/two", "3": "/three", "three": "/three",
				"4": "/four"}[to], http.StatusFound)
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
	for _, want := range []string{"GET /one", "GET /two", "GET /three", "GET /many-pageo", "GET /many-last"} {
		if asked[want] < 1 || asked[want] > 2 { // again, since /send may have stored something
			t.Errorf("%s was asked for %d times", want, asked[want])
		}
	}
	for sent, most := range map[string]int{"POST /go": 5, "POST /color": 4, "POST /drop": 0, "POST /send": 1,
		"GET /four": 0} {
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

// TestTwins examines a folder and the file that it is answered with once, and two programs
// as two.
func TestTwins(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		switch r.URL.Path {
		case "/":
			_, _ = fmt.Fprint(w,
				`<a href="/same/">1</a><a href="/same/index.php">2</a><a href="/other/">3</a><a href="/other/index.html">4</a>`)
		case "/same/", "/same/index.php":
			_, _ = fmt.Fprintf(w, `<p>%d at %s</p><form><input name=q></form>%s`, time.Now().UnixNano(), r.URL.Path,
				r.FormValue("q"))
		case "/other/":
			_, _ = fmt.Fprint(w, `<p>A list`)
		case "/other/index.html":
			_, _ = fmt.Fprint(w, `<p>A text`)
		default:
			http.NotFound(w, r)
		}
	}))
	t.Cleanup(server.Close)
	surface, _, _ := run(t, server.URL+"/", crawl.Options{Submit: true})
	var left []string
	for _, e := range surface.Entries() {
		if e.Withheld {
			left = append(left, strings.TrimPrefix(e.Request.Address(), server.URL)+" "+
				strings.ReplaceAll(e.Seen.Reason, server.URL, ""))
		}
	}
	slices.Sort(left)
	if want := []string{"/same/index.php it is the same as /same/, which is examined", "/same/index.php?q=test it is " +
		"the same as /same/, which is examined"}; !slices.Equal(left, want) {
		t.Errorf("%q, not %q", left, want)
	}
}

// TestCatalogue asks for all pages of a kind as long as they lead to pages of other kinds,
// and for a few of those that lead to nothing new.
func TestCatalogue(t *testing.T) {
	var mu sync.Mutex
	asked := map[string]int{}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		w.Header().Set("Content-Type", "text/html")
		_, number, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
		kind := strings.Split(r.URL.Path, "/")[1]
		asked[kind]++
		switch kind {
		case "":
			for i := range 30 {
				_, _ = fmt.Fprintf(w, `<a href="/kind/%d">k</a><a href="/item/%d">i</a>`, i+1, i+1)
			}
		case "kind":
			var n int
			_, _ = fmt.Sscan(number, &n)
			_, _ = fmt.Fprintf(w, `<a href="/lab-%c%c/">lab</a>`, 'a'+n/26, 'a'+n%26)
		case "item":
			_, _ = fmt.Fprintf(w, `<img src="/picture-%s.png"><a href="/item/%s0">next</a>`, number, number)
		default:
			if !strings.HasPrefix(kind, "lab-") {
				http.NotFound(w, r)
			}
		}
	}))
	t.Cleanup(server.Close)
	run(t, server.URL+"/", crawl.Options{})
	labs := 0
	for kind := range asked {
		if strings.HasPrefix(kind, "lab-") {
			labs++
		}
	}
	if labs < 30 || asked["item"] > 6 {
		t.Errorf("%d labs, %d items", labs, asked["item"])
	}
}
