package livescan

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"merlon/internal/engine/dast/message"
	"merlon/internal/engine/dast/sideeffect"
	"merlon/internal/finding"
	"merlon/internal/scan"
)

// An objectServer holds objects by path, and counts what it is asked to change.
type objectServer struct {
	mu      sync.Mutex
	pages   map[string]string // path → body
	kinds   map[string]string // path → Content-Type; HTML without
	removes map[string]string // "METHOD path?query" → path of the page that it removes, "403" to refuse
	changed []string          // requests that are no reads, and links that remove
}

func (s *objectServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := r.ParseForm(); err != nil {
		http.Error(w, "bad", http.StatusBadRequest)
		return
	}
	key := r.Method + " " + r.URL.RequestURI()
	if r.Method == http.MethodPost && len(r.PostForm) > 0 {
		key += " " + r.PostForm.Encode()
	}
	what, known := s.removes[key]
	if known || r.Method != http.MethodGet {
		s.changed = append(s.changed, key)
	}
	switch {
	case what == "403":
		http.Error(w, "no", http.StatusForbidden)
		return
	case strings.HasPrefix(what, "page:"):
		w.Header().Set("Content-Type", "text/html")
		fmt.Fprint(w, strings.TrimPrefix(what, "page:"))
		return
	case known:
		delete(s.pages, what)
		w.WriteHeader(http.StatusNoContent)
		return
	}
	body, ok := s.pages[r.URL.Path]
	if !ok {
		http.NotFound(w, r)
		return
	}
	if kind := s.kinds[r.URL.Path]; kind != "" {
		w.Header().Set("Content-Type", kind)
	} else {
		w.Header().Set("Content-Type", "text/html")
	}
	fmt.Fprint(w, body)
}

// newScan prepares a scan of the address, and collects its reasons.
func newScan(t *testing.T, address string) (*Scan, *[]scan.Reason) {
	t.Helper()
	var dialer net.Dialer
	reasons := &[]scan.Reason{}
	v, err := New(&scan.LivePass{Context: t.Context(), Deadline: time.Now().Add(time.Minute),
		Live: scan.Live{Target: scan.Target{URL: address + "/", Profile: scan.Standard}, ID: "t", Dial: dialer.DialContext},
		Reporter: scan.Reporter{Report: func(*finding.Rule, finding.Finding) {}, Degrade: func(r scan.Reason) {
			*reasons = append(*reasons, r)
		}}, Progress: func(int, string) {}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(v.Close)
	return v, reasons
}

// TestRemoveObjects removes what the scan has made by what the application offers, and touches nothing
// that does not show the mark of the scan.
func TestRemoveObjects(t *testing.T) {
	for _, c := range []struct {
		name    string
		where   string
		pages   map[string]string // MARK stands for the mark of the scan
		json    bool
		removes map[string]string
		removed bool
		reason  string
		changed []string // what the server was asked to change
	}{
		{"an object of an API", "/api/notes/7", map[string]string{"/api/notes/7": `{"text":"MARK"}`}, true,
			map[string]string{"DELETE /api/notes/7": "/api/notes/7"}, true, "", []string{"DELETE /api/notes/7"}},
		{"one without the mark", "/api/notes/7", map[string]string{"/api/notes/7": `{"text":"yours"}`}, true,
			map[string]string{"DELETE /api/notes/7": "/api/notes/7"}, false, "", nil},
		{"a list", "/api/notes/7", map[string]string{"/api/notes/7": `[{"text":"MARK"}]`}, true,
			map[string]string{"DELETE /api/notes/7": "/api/notes/7"}, false, "", nil},
		{"an address that names no object", "/api/notes", map[string]string{"/api/notes": `{"text":"MARK"}`}, true,
			map[string]string{"DELETE /api/notes": "/api/notes"}, false, "", nil},
		{"an API that refuses", "/api/notes/7", map[string]string{"/api/notes/7": `{"text":"MARK"}`}, true,
			map[string]string{"DELETE /api/notes/7": "403"}, false, "does not delete it", []string{"DELETE /api/notes/7"}},
		{"an API that only says so", "/api/notes/7", map[string]string{"/api/notes/7": `{"text":"MARK"}`}, true,
			map[string]string{"DELETE /api/notes/7": "/other"}, false, "", []string{"DELETE /api/notes/7"}},
		{"what is not there", "/api/notes/7", nil, true, nil, false, "could not be read", nil},
		{"a form of the page", "/notes/7", map[string]string{"/notes/7": `<p>MARK<form method=post action="/notes/7/delete">` +
			`<button>Delete</button></form>`}, false, map[string]string{"POST /notes/7/delete": "/notes/7"}, true, "",
			[]string{"POST /notes/7/delete"}},
		{"a link of the page", "/notes/7", map[string]string{"/notes/7": `<p>MARK<a href="/notes/7/delete">x</a>`}, false,
			map[string]string{"GET /notes/7/delete": "/notes/7"}, true, "", []string{"GET /notes/7/delete"}},
		{"a form about another object", "/notes/7", map[string]string{"/notes/7": `<p>MARK<form method=post ` +
			`action="/notes/1/delete"><button>Delete</button></form>`}, false,
			map[string]string{"POST /notes/1/delete": "/notes/7"}, false, "", nil},
		{"a page without the mark", "/notes/7", map[string]string{"/notes/7": `<p>yours<form method=post ` +
			`action="/notes/7/delete"><button>Delete</button></form>`}, false,
			map[string]string{"POST /notes/7/delete": "/notes/7"}, false, "", nil},
		{"a form that removes nothing", "/notes/7", map[string]string{"/notes/7": `<p>MARK<form method=post ` +
			`action="/notes/7/pin"><button>Pin</button></form>`}, false, nil, false, "", nil},
		{"a link with a method", "/notes/7", map[string]string{"/notes/7": `<meta name=csrf-param content=tok>` +
			`<meta name=csrf-token content=abc><p>MARK<a href="/notes/7" data-method=delete>x</a>`}, false,
			map[string]string{"POST /notes/7 _method=delete&tok=abc": "/notes/7"}, true, "",
			[]string{"POST /notes/7 _method=delete&tok=abc"}},
		{"a question that is confirmed", "/notes/7", map[string]string{"/notes/7": `<p>MARK<a href="/notes/7/delete">x</a>`},
			false, map[string]string{"GET /notes/7/delete": `page:Delete MARK?<form method=post action="/notes/7/delete">` +
				`<button>Yes</button></form>`, "POST /notes/7/delete": "/notes/7"}, true, "",
			[]string{"GET /notes/7/delete", "POST /notes/7/delete"}},
		{"the page of the list that names it", "/notes", map[string]string{"/notes": `<a href="/notes/7">MARK</a>` +
			`<a href="/notes/1">yours</a>`, "/notes/7": `<p>MARK<form method=post action="/notes/7/delete"><button>Delete` +
			`</button></form>`, "/notes/1": `<p>MARK-less<form method=post action="/notes/1/delete"><button>Delete</button></form>`},
			false, map[string]string{"POST /notes/7/delete": "/notes/7", "POST /notes/1/delete": "/notes/1"}, true, "",
			[]string{"POST /notes/7/delete"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			app := &objectServer{removes: map[string]string{}, pages: map[string]string{}, kinds: map[string]string{}}
			server := httptest.NewServer(app)
			defer server.Close()
			v, _ := newScan(t, server.URL)
			mark := func(s string) string { return strings.ReplaceAll(s, "MARK", v.Values.Mark()) }
			for path, body := range c.pages {
				app.pages[path] = mark(body)
				if c.json {
					app.kinds[path] = "application/json"
				}
			}
			for key, what := range c.removes {
				app.removes[key] = mark(what)
			}
			made := &sideeffect.CreatedObjects{Count: 1, Objects: []finding.CreatedObject{{Mark: v.Values.Mark(),
				Where: server.URL + c.where}}}
			v.removeObjects(t.Context(), made, map[string]bool{})
			o := made.Objects[0]
			if o.Removed != c.removed || !strings.Contains(o.Reason, c.reason) || c.reason == "" && o.Reason != "" {
				t.Errorf("object %+v, want removed %t, reason %q", o, c.removed, c.reason)
			}
			if !slices.Equal(app.changed, c.changed) {
				t.Errorf("the server was asked for %q, want %q", app.changed, c.changed)
			}
		})
	}
}

// TestRemovalEnds leaves objects outside of the scope alone, those that are gone, and all when there is
// no time left.
func TestRemovalEnds(t *testing.T) {
	app := &objectServer{pages: map[string]string{}, kinds: map[string]string{"/n/7": "application/json"},
		removes: map[string]string{"DELETE /n/7": "/n/7"}}
	server := httptest.NewServer(app)
	defer server.Close()
	v, _ := newScan(t, server.URL)
	app.pages["/n/7"] = `{"text":"` + v.Values.Mark() + `"}`
	ended, end := context.WithCancel(t.Context())
	end()
	full := map[string]bool{}
	for n := range maxRemoved {
		full[fmt.Sprint(n)] = true
	}
	for _, c := range []struct {
		name   string
		ctx    context.Context
		object finding.CreatedObject
		tried  map[string]bool
	}{
		{"no time", ended, finding.CreatedObject{Where: server.URL + "/n/7"}, map[string]bool{}},
		{"too many", t.Context(), finding.CreatedObject{Where: server.URL + "/n/7"}, full},
		{"another host", t.Context(), finding.CreatedObject{Where: "http://other.example/n/7"}, map[string]bool{}},
		{"no address", t.Context(), finding.CreatedObject{}, map[string]bool{}},
		{"no address of HTTP", t.Context(), finding.CreatedObject{Where: "mailto:x"}, map[string]bool{}},
		{"gone", t.Context(), finding.CreatedObject{Where: server.URL + "/n/7", Removed: true}, map[string]bool{}},
	} {
		made := &sideeffect.CreatedObjects{Objects: []finding.CreatedObject{c.object}}
		v.removeObjects(c.ctx, made, c.tried)
		if made.Objects[0] != c.object || len(app.changed) > 0 {
			t.Errorf("%s: %+v, requests %q", c.name, made.Objects[0], app.changed)
		}
	}
}

// TestObjectIdentifiers names the object that a request is about.
func TestObjectIdentifiers(t *testing.T) {
	hidden := func(kind message.BodyKind, in string, pairs ...string) *message.Request {
		r := &message.Request{Path: "/delete", Body: message.Body{Kind: kind}, Types: map[string]string{}}
		for i := 0; i < len(pairs); i += 2 {
			r.Body.Params = append(r.Body.Params, message.Param{Name: pairs[i], Value: pairs[i+1]})
			r.Types[in+":"+pairs[i]] = "hidden"
		}
		return r
	}
	visible := hidden(message.Form, "form", "id", "7")
	visible.Types = nil
	for _, c := range []struct {
		name string
		r    *message.Request
		want []string
	}{
		{"in the path", &message.Request{Path: "/a/7/b/9/delete"}, []string{"7", "9"}},
		{"in the query", &message.Request{Path: "/delete", Query: []message.Param{{Name: "noteID", Value: "7"},
			{Name: "page", Value: "3"}}}, []string{"7"}},
		{"in both", &message.Request{Path: "/a/7", Query: []message.Param{{Name: "id", Value: "8"}}}, []string{"7", "8"}},
		{"in a hidden field", hidden(message.Form, "form", "id", "7", "token", "9"), []string{"7"}},
		{"in a hidden field of multipart", hidden(message.Multipart, "multipart", "note_id", "7"), []string{"7"}},
		{"twice in fields", hidden(message.Form, "form", "id", "7", "noteid", "7"), []string{"7"}},
		{"in a field that people fill in", visible, nil},
		{"nowhere", &message.Request{Path: "/a/b"}, nil},
	} {
		if got := objectIdentifiers(c.r); !slices.Equal(got, c.want) {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

// TestMarkedName names an object by what the scan has called it, and by nothing else.
func TestMarkedName(t *testing.T) {
	v, _ := newScan(t, "http://a.example")
	mark := v.Values.Mark()
	param := func(name, value string) []message.Param { return []message.Param{{Name: name, Value: value}} }
	for _, c := range []struct {
		name string
		r    *message.Request
		want string
	}{
		{"in the path", &message.Request{Path: "/topics/" + mark + "/delete"}, mark},
		{"in the query", &message.Request{Path: "/delete", Query: param("name", mark+"x")}, mark + "x"},
		{"in a hidden field", &message.Request{Path: "/delete", Types: map[string]string{"form:n": "hidden"},
			Body: message.Body{Kind: message.Form, Params: param("n", mark)}}, mark},
		{"in a field for people", &message.Request{Path: "/delete",
			Body: message.Body{Kind: message.Form, Params: param("n", mark)}}, ""},
		{"twice the same", &message.Request{Path: "/t/" + mark, Query: param("name", mark)}, mark},
		{"two names", &message.Request{Path: "/t/" + mark, Query: param("name", mark+"2")}, ""},
		{"within another name", &message.Request{Path: "/t/all-" + mark}, ""},
		{"beside an identifier", &message.Request{Path: "/t/7/" + mark}, ""},
		{"no mark", &message.Request{Path: "/t/yours"}, ""},
	} {
		if got := v.markedName(c.r); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

// TestIsRemoval knows requests that say that they remove something.
func TestIsRemoval(t *testing.T) {
	for _, c := range []struct {
		method, address string
		want            bool
	}{
		{"DELETE", "/notes/7", true}, {"POST", "/notes/7/delete", true}, {"GET", "/notes/7/delete", true},
		{"GET", "/delete/7", true}, {"GET", "/notes?action=remove&id=7", true}, {"GET", "/notes?delete=7", true},
		{"GET", "/notes/7", false}, {"POST", "/notes/7", false}, {"GET", "/deleted", false}, {"POST", "/notes/7/pin", false},
	} {
		r, err := message.Parse("http://a.example" + c.address)
		if err != nil {
			t.Fatal(err)
		}
		r.Method = c.method
		if got := isRemoval(r); got != c.want {
			t.Errorf("%s %s: %t", c.method, c.address, got)
		}
	}
}

// TestNothingExamined doubts a scan of which no operation responded with a page.
func TestNothingExamined(t *testing.T) {
	reached := func(status int) finding.Operation { return finding.Operation{Outcome: finding.Reached, Status: status} }
	for _, c := range []struct {
		name       string
		operations []finding.Operation
		want       string // of the reason; "": none
	}{
		{"no operations", nil, ""},
		{"one that responds", []finding.Operation{reached(500), reached(200)}, ""},
		{"one that is not found", []finding.Operation{reached(404)}, ""},
		{"redirects alone", []finding.Operation{reached(302), reached(301)}, "none of the 2 operations"},
		{"errors alone", []finding.Operation{reached(503)}, "503: Service Unavailable"},
		{"denials", []finding.Operation{{Outcome: finding.Refused, Reason: "403: the identity may not"}}, "may not"},
		{"what was not asked", []finding.Operation{{Outcome: finding.NotReached, Reason: "it ends the session"}},
			"it ends the session"},
	} {
		v, reasons := newScan(t, "http://a.example")
		v.warnIfNothingExamined(c.operations)
		switch {
		case c.want == "" && len(*reasons) > 0, c.want != "" && len(*reasons) != 1:
			t.Errorf("%s: %v", c.name, *reasons)
		case c.want != "" && !strings.Contains((*reasons)[0].Message, c.want):
			t.Errorf("%s: %q, want %q", c.name, (*reasons)[0].Message, c.want)
		}
	}
}

// TestIndexOfOperation finds the operation by which something was made, by its address or its template.
func TestIndexOfOperation(t *testing.T) {
	operations := []finding.Operation{{Method: "GET", URL: "http://a/x"}, {Method: "POST", URL: "http://a/x"},
		{Method: "POST", URL: "http://a/y/{id}"}}
	for _, c := range []struct {
		method, path, template string
		want                   int
	}{{"POST", "/x", "", 1}, {"GET", "/x", "", 0}, {"POST", "/y/7", "/y/{id}", 2}, {"POST", "/y/7", "", -1},
		{"PUT", "/x", "", -1}} {
		made := sideeffect.CreatedObjects{Request: &message.Request{Method: c.method, Scheme: "http", Host: "a",
			Path: c.path, Template: c.template}}
		if got := indexOfOperation(operations, made); got != c.want {
			t.Errorf("%s %s: %d, want %d", c.method, c.path, got, c.want)
		}
	}
}
