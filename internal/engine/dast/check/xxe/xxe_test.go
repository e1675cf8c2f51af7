package xxe

import (
	"encoding/xml"
	"fmt"
	"html"
	"io"
	"net/http"
	"os"
	"regexp"
	"strings"
	"sync"
	"testing"

	"merlon/internal/engine/dast/activescan"
	"merlon/internal/engine/dast/activescan/activescantest"
	"merlon/internal/engine/dast/message"
	"merlon/internal/scan"
)

var entity = regexp.MustCompile(`<!ENTITY (?:% )?(\w+) (SYSTEM )?"([^"]*)">`)

// parse reads the name of an order. Entities of the document are expanded as a parser
// does that is not told otherwise; those at addresses are asked for.
func parse(body []byte, files bool, fetch func(string) string) string {
	dec := xml.NewDecoder(strings.NewReader(string(body)))
	dec.Entity = map[string]string{}
	for _, m := range entity.FindAllStringSubmatch(string(body), -1) {
		value := m[3]
		if m[2] != "" {
			value = ""
			if name, ok := strings.CutPrefix(m[3], "file://"); ok && files {
				content, _ := os.ReadFile(name)
				value = string(content)
			} else if files {
				fetch(m[3])
			}
		}
		dec.Entity[m[1]] = value
	}
	var order struct {
		Name string `xml:"name"`
	}
	if err := dec.Decode(&order); err != nil {
		return "bad document"
	}
	return order.Name
}

func TestCheck(t *testing.T) {
	fetch := activescantest.Fetch(t)
	mux := http.NewServeMux()
	page := func(path string, f func(body []byte) string) {
		mux.HandleFunc(path, func(w http.ResponseWriter, r *http.Request) {
			body, _ := io.ReadAll(r.Body)
			fmt.Fprintf(w, "<p>Thank you for %s</p>", html.EscapeString(f(body)))
		})
	}
	page("/bad/external", func(b []byte) string { return parse(b, true, fetch) })
	page("/bad/silent", func(b []byte) string { parse(b, true, fetch); return "your order" })
	page("/bad/internal", func(b []byte) string { return parse(b, false, fetch) })
	page("/good/none", func(b []byte) string {
		if strings.Contains(string(b), "<!DOCTYPE") {
			return "no document types"
		}
		return parse(b, false, fetch)
	})
	page("/good/echo", func(b []byte) string { return string(b) })
	page("/good/plain", func(b []byte) string { return parse(entity.ReplaceAll(b, nil), false, fetch) })
	var operations []string
	for _, p := range []string{"/bad/external", "/bad/silent", "/bad/internal", "/good/none", "/good/echo",
		"/good/plain"} {
		operations = append(operations, "POST "+p+" <order><name>tea</name></order>")
	}
	activescantest.Expect(t, activescantest.Attack(t, mux, []*activescan.Rule{Rule}, operations),
		"dast/xxe/external POST "+
			"/bad/external xml:order/name", "dast/xxe/internal POST /bad/internal xml:order/name")
	called := activescantest.Attack(t, mux, []*activescan.Rule{Rule}, operations[1:2], activescantest.Listening(t))
	activescantest.Expect(t, called, "dast/xxe/external POST /bad/silent xml:order/name")
}

// What asks for JSON is sent XML: some read that too.
func TestOtherType(t *testing.T) {
	fetch := activescantest.Fetch(t)
	mux := http.NewServeMux()
	var mu sync.Mutex
	asked := map[string]int{}
	page := func(path string, f func(w http.ResponseWriter, body []byte) string) {
		mux.HandleFunc(path, func(w http.ResponseWriter, r *http.Request) {
			body, _ := io.ReadAll(r.Body)
			w.Header().Set("Content-Type", "application/json")
			name := "tea"
			if strings.Contains(r.Header.Get("Content-Type"), "xml") {
				mu.Lock()
				asked[path]++
				mu.Unlock()
				name = f(w, body)
			}
			fmt.Fprintf(w, `{"thanks":%q}`, name)
		})
	}
	page("/bad/orders", func(_ http.ResponseWriter, b []byte) string { return parse(b, true, fetch) })
	page("/bad/quiet", func(w http.ResponseWriter, b []byte) string {
		parse(b, true, fetch)
		w.WriteHeader(http.StatusBadRequest)
		return "jaxb: unexpected element"
	})
	page("/good/type", func(w http.ResponseWriter, _ []byte) string {
		w.WriteHeader(http.StatusUnsupportedMediaType)
		return "no"
	})
	page("/good/json", func(w http.ResponseWriter, _ []byte) string {
		w.WriteHeader(http.StatusBadRequest)
		return "invalid character '<' looking for beginning of value"
	})
	page("/good/plain", func(_ http.ResponseWriter, b []byte) string {
		return parse(entity.ReplaceAll(b, nil), false, fetch)
	})
	page("/good/any", func(http.ResponseWriter, []byte) string { return "you" })
	var operations []string
	for _, p := range []string{"/bad/orders", "/bad/quiet", "/good/type", "/good/json", "/good/plain", "/good/any"} {
		operations = append(operations, "POST "+p+` {"name":"tea","count":2,"at":{"street":"x"}}`)
	}
	got := activescantest.Attack(t, mux, []*activescan.Rule{Rule}, operations, activescantest.Listening(t))
	activescantest.Expect(t, got, "dast/xxe/external POST /bad/orders xml:order/at/street", "dast/xxe/external POST "+
		"/bad/quiet xml:quiet/at/street")
	if asked["/good/type"] != 1 || asked["/good/json"] != 1 {
		t.Errorf("asked %v", asked)
	}
}

// upload adds a form that uploads a file to what is attacked.
func upload(path string) activescantest.Option {
	return func(r *activescan.Engine) {
		q, err := message.FromURL(r.Scope.Base())
		if err != nil {
			panic(err)
		}
		q.Method, q.Path = http.MethodPost, path
		q.Body = message.Body{Kind: message.Multipart, Params: []message.Param{{Name: "note", Value: "n"},
			{Name: "list", Value: "x", File: "list.txt", Type: "text/plain"}}}
		r.Sitemap.Add(q)
	}
}

func TestUploads(t *testing.T) {
	fetch := activescantest.Fetch(t)
	mux := http.NewServeMux()
	page := func(path string, files bool) {
		mux.HandleFunc(path, func(w http.ResponseWriter, r *http.Request) {
			file, header, err := r.FormFile("list")
			if err != nil || !strings.HasSuffix(header.Filename, ".xml") {
				http.Error(w, "documents only", http.StatusBadRequest)
				return
			}
			body, _ := io.ReadAll(file)
			if !files {
				body = entity.ReplaceAll(body, nil)
			}
			fmt.Fprintf(w, "<p>%s was read: %s", html.EscapeString(header.Filename),
				html.EscapeString(read(body, files, fetch)))
		})
	}
	page("/bad/list", true)
	page("/good/list", false)
	got := activescantest.Attack(t, mux, []*activescan.Rule{Rule}, nil, upload("/bad/list"), upload("/good/list"))
	activescantest.Expect(t, got, "dast/xxe/external POST /bad/list multipart:list")
	safe := activescantest.Attack(t, mux, []*activescan.Rule{Rule}, nil, upload("/bad/list"),
		activescantest.Profile(scan.Safe))
	activescantest.Expect(t, safe)
}

// read is parse for documents whose text is in their first element.
func read(body []byte, files bool, fetch func(string) string) string {
	return parse([]byte(strings.NewReplacer("<a>", "<name>", "</a>", "</name>").Replace(string(body))), files, fetch)
}

// A parameter holds a document.
func TestValues(t *testing.T) {
	fetch := activescantest.Fetch(t)
	mux := http.NewServeMux()
	for path, read := range map[string]func(body []byte) string{
		"/bad/value":  func(b []byte) string { return parse(b, true, fetch) },
		"/good/value": func(b []byte) string { return parse(entity.ReplaceAll(b, nil), false, fetch) },
		"/good/text":  func(b []byte) string { return string(b) },
	} {
		mux.HandleFunc(path, func(w http.ResponseWriter, r *http.Request) {
			fmt.Fprintf(w, "<p>Thank you for %s</p>", html.EscapeString(read([]byte(r.FormValue("xml")))))
		})
	}
	document := "?xml=%3Corder%3E%3Cname%3Etea%3C%2Fname%3E%3C%2Forder%3E"
	got := activescantest.Attack(t, mux, []*activescan.Rule{Rule},
		[]string{"GET /bad/value" + document, "GET /good/value" +
			document, "GET /good/text" + document, "GET /good/text?xml=%3Cb"})
	activescantest.Expect(t, got, "dast/xxe/external GET /bad/value query:xml")
	root := func(b []byte) []byte { // the text of the root
		return []byte(strings.NewReplacer("<d>", "<order><name>", "<a>", "</name><a>", "</d>",
			"</order>").Replace(string(b)))
	}
	for path, read := range map[string]func(body []byte) string{
		"/bad/named":  func(b []byte) string { return parse(root(b), true, fetch) },
		"/good/named": func(b []byte) string { return parse(root(entity.ReplaceAll(b, nil)), false, fetch) },
		"/bad/failing": func(b []byte) string {
			if !strings.HasPrefix(string(b), "<") {
				return "parser error : Start tag expected, '<' not found"
			}
			return parse(root(b), true, fetch)
		},
		"/unsaid": func(b []byte) string { return parse(root(b), true, fetch) },
	} {
		mux.HandleFunc(path, func(w http.ResponseWriter, r *http.Request) {
			fmt.Fprintf(w, "<p>Thank you for %s</p>",
				html.EscapeString(read([]byte(r.FormValue("xml")+r.FormValue("t")))))
		})
	}
	got = activescantest.Attack(t, mux, []*activescan.Rule{Rule},
		[]string{"GET /bad/named?xml=test", "GET /good/named?xml=test", "GET /bad/failing?t=test",
			"GET /unsaid?t=test"})
	activescantest.Expect(t, got, "dast/xxe/external GET /bad/named query:xml", "dast/xxe/external GET /bad/failing "+
		"query:t")
}

// What a user types into a field is sent as it is by the page's script: a crawler types a word,
// which is no document.
func TestTypedDocuments(t *testing.T) {
	fetch := activescantest.Fetch(t)
	mux := http.NewServeMux()
	for path, safe := range map[string]bool{"/bad/typed": false, "/good/typed": true, "/bad/text": false,
		"/good/text": true, "/none/text": true} {
		mux.HandleFunc(path, func(w http.ResponseWriter, r *http.Request) {
			body, _ := io.ReadAll(r.Body)
			text := strings.NewReplacer("<d>", "<order><name>", "<a>", "</name><a>", "</d>", "</order>").Replace(string(body))
			switch {
			case path == "/none/text":
				fmt.Fprint(w, "<p>Thank you.</p>")
			case !strings.HasPrefix(text, "<?xml"):
				http.Error(w, "parser error : Start tag expected, '<' not found", http.StatusBadRequest)
			case safe:
				fmt.Fprintf(w, "<p>%s</p>", html.EscapeString(parse(entity.ReplaceAll([]byte(text), nil), false, fetch)))
			default:
				fmt.Fprintf(w, "<p>%s</p>", html.EscapeString(parse([]byte(text), true, fetch)))
			}
		})
	}
	sent := 0
	got := activescantest.Attack(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/none/text" {
			sent++
		}
		mux.ServeHTTP(w, r)
	}), []*activescan.Rule{Rule}, []string{"POST /bad/typed <word", "POST /good/typed <word", "POST /bad/text <word",
		"POST /good/text <word", "POST /none/text <word"}, func(r *activescan.Engine) {
		r.Parallel = 1
		for _, e := range r.Sitemap.Entries() {
			if strings.HasSuffix(e.Request.Path, "/text") {
				e.Request.Body.Kind, e.Request.Body.Type = message.Text, "text/plain"
			}
		}
	})
	activescantest.Expect(t, got, "dast/xxe/external POST /bad/typed xml:document", "dast/xxe/external POST /bad/text "+
		"xml:document")
	if sent > 2 {
		t.Errorf("%d requests where nothing speaks of XML", sent)
	}
}
