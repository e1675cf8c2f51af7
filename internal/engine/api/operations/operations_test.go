package operations_test

import (
	"encoding/json"
	"fmt"
	"html"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"merlon/internal/engine/api/operations"
	"merlon/internal/finding"
	"merlon/internal/scan"
	"merlon/internal/scan/scantest"
)

const description = `openapi: 3.0.3
info: {title: Shop, version: "1"}
servers: [{url: "https://shop.example/api"}]
security: [{bearer: []}]
paths:
  /orders/{orderId}:
    parameters: [{in: path, name: orderId, required: true, schema: {type: integer}}]
    get:
      responses: {"200": {description: OK, content: {application/json: {schema: {$ref: "#/components/schemas/Order"}}}}, "404": {description: none}}
    delete:
      responses: {"204": {description: gone}, "403": {description: no}}
  /orders:
    get:
      parameters: [{in: query, name: limit, schema: {type: integer, minimum: 1, maximum: 50}}]
      responses: {"200": {description: OK, content: {application/json: {schema: {type: array, items: {$ref: "#/components/schemas/Order"}}}}}, "400": {description: bad}}
    post:
      requestBody: {required: true, content: {application/json: {schema: {$ref: "#/components/schemas/Order"}}}}
      responses: {"201": {description: OK, content: {application/json: {schema: {$ref: "#/components/schemas/Order"}}}}, "400": {description: bad}}
  /admin/reports: {get: {responses: {"200": {description: OK}, "403": {description: no}}}}
  /profile: {get: {responses: {"200": {description: OK, content: {application/json: {schema: {type: object, properties: {name: {type: string}}}}}}}}}
  /logout: {post: {responses: {"204": {description: bye}}}}
  /old: {get: {responses: {"200": {description: OK}}}}
components:
  schemas:
    Order:
      type: object
      required: [item, count]
      properties:
        id: {type: integer, readOnly: true}
        item: {type: string, maxLength: 30}
        count: {type: integer, minimum: 1, maximum: 9}
  securitySchemes: {bearer: {type: http, scheme: bearer}}
`

// shop is an API that keeps its description, or with vulnerabilities breaks it.
type shop struct {
	flawed bool

	mu      sync.Mutex
	orders  map[int]map[string]any
	deleted []int
	asked   []string
}

func (s *shop) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.asked = append(s.asked, r.Method+" "+r.URL.Path)
	path, ok := strings.CutPrefix(r.URL.Path, "/api")
	answer := func(status int, v any) {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(status)
		_ = json.NewEncoder(w).Encode(v)
	}
	open := s.flawed && (path == "/orders" || strings.HasPrefix(path, "/orders/")) && r.Method == http.MethodGet
	switch {
	case r.URL.Path == "/openapi.json":
		fmt.Fprint(w, description)
		return
	case !ok || path == "/":
		http.NotFound(w, r)
		return
	case !open && r.Header.Get("Authorization") != "Bearer good":
		answer(http.StatusUnauthorized, map[string]any{"error": "sign in"})
		return
	}
	var id int
	_, _ = fmt.Sscanf(path, "/orders/%d", &id)
	switch {
	case path == "/orders" && r.Method == http.MethodPost:
		s.post(answer, r)
	case path == "/orders":
		list := []any{}
		for id := range len(s.orders) {
			list = append(list, s.orders[id+1])
		}
		answer(http.StatusOK, list)
	case id > 0 && s.orders[id] == nil:
		answer(http.StatusNotFound, map[string]any{"error": "none"})
	case id > 0 && r.Method == http.MethodDelete:
		s.deleted = append(s.deleted, id)
		w.WriteHeader(http.StatusNoContent)
	case id > 0:
		answer(http.StatusOK, s.orders[id])
	case path == "/admin/reports":
		answer(http.StatusForbidden, map[string]any{"error": "no"})
	case path == "/profile" && s.flawed:
		answer(http.StatusOK, map[string]any{"name": "ann", "email": "a@example.org", "password": "hunter2"})
	case path == "/profile":
		answer(http.StatusOK, map[string]any{"name": "ann"})
	default:
		http.NotFound(w, r)
	}
}

func (s *shop) post(answer func(int, any), r *http.Request) {
	var order map[string]any
	if err := json.NewDecoder(r.Body).Decode(&order); err != nil {
		answer(http.StatusBadRequest, map[string]any{"error": "json"})
		return
	}
	item, text := order["item"].(string)
	count, number := order["count"].(float64)
	if s.flawed && !number {
		answer(http.StatusInternalServerError, map[string]any{"error": "cannot convert"})
		return
	}
	if !s.flawed && (!text || !number || len(item) > 30 || count < 1 || count > 9) {
		answer(http.StatusBadRequest, map[string]any{"error": "order"})
		return
	}
	order["id"] = len(s.orders) + 1
	s.orders[len(s.orders)+1] = order
	answer(http.StatusCreated, order)
}

// told is what a scan says, with its operations as "METHOD /path".
type told struct {
	scantest.Kept
	operations map[string]finding.Operation
}

// scanTarget scans the API and returns what was found as "rule METHOD /path".
func scanTarget(t *testing.T, h http.Handler, change func(*scan.Target)) (*told, []string) {
	t.Helper()
	server := httptest.NewServer(h)
	defer server.Close()
	var dialer net.Dialer
	target := scan.Target{URL: server.URL + "/", Rate: 1e6, Identities: []scan.Identity{{Name: "ann", Bearer: "good"}}}
	if change != nil {
		change(&target)
	}
	got := &told{operations: map[string]finding.Operation{}}
	o := scan.Options{Live: &scan.Live{Target: target, ID: "t", Dial: dialer.DialContext,
		BrowserReason: "none in this test"}, Analyzers: []*scan.Analyzer{operations.Analyzer}}
	if err := scan.Run(t.Context(), o, got); err != nil {
		t.Fatal(err)
	}
	for _, o := range got.Operations {
		got.operations[o.Method+" "+strings.TrimPrefix(o.URL, server.URL)] = o
	}
	var lines []string
	for _, f := range got.Findings {
		line := strings.TrimPrefix(f.RuleID, "api/operations/") + " " + f.Live.Method + " " +
			strings.TrimPrefix(f.Live.URL, server.URL)
		if !slices.Contains(lines, line) {
			lines = append(lines, line)
		}
		if len(f.Live.Proof) == 0 || len(f.Live.Exchanges) == 0 {
			t.Errorf("%s has no proof", line)
		}
	}
	slices.Sort(lines)
	return got, lines
}

func given(t *scan.Target) {
	t.Descriptions = []scan.Description{{Name: "shop.yaml", Text: description}}
}

func stock() map[int]map[string]any {
	return map[int]map[string]any{1: {"id": 1, "item": "x", "count": 1}}
}

func TestSafe(t *testing.T) {
	api := &shop{orders: stock()}
	got, lines := scanTarget(t, api, given)
	if len(lines) != 0 {
		t.Errorf("found %q", lines)
	}
	for op, want := range map[string]finding.Outcome{"GET /api/orders": finding.Reached,
		"POST /api/orders": finding.Reached, "GET /api/orders/{orderId}": finding.Reached,
		"DELETE /api/orders/{orderId}": finding.Reached, "GET /api/admin/reports": finding.Refused,
		"GET /api/profile": finding.Reached,
		"POST /api/logout": finding.NotReached, "GET /api/old": finding.NotReached} {
		o := got.operations[op]
		if o.Outcome != want || want != finding.Reached && o.Reason == "" {
			t.Errorf("%s: %+v", op, o)
		}
		delete(got.operations, op)
	}
	if len(got.operations) != 0 {
		t.Errorf("more operations: %v", got.operations)
	}
	if slices.Contains(api.deleted, 1) || len(api.deleted) == 0 {
		t.Errorf("removed %v: what the scan has made may go, and nothing else", api.deleted)
	}
	if slices.Contains(api.asked, "POST /api/logout") {
		t.Error("the session was ended")
	}
}

func TestFlawed(t *testing.T) {
	_, lines := scanTarget(t, &shop{orders: stock(), flawed: true}, func(o *scan.Target) {
		given(o)
		o.Profile = scan.Full
	})
	want := []string{
		"credential-in-answer GET /api/profile",
		"invalid-input-accepted POST /api/orders",
		"missing-authentication GET /api/orders",
		"missing-authentication GET /api/orders/{orderId}",
		"server-error POST /api/orders",
		"undescribed-property GET /api/profile",
	}
	// of orders that are not valid
	lines = slices.DeleteFunc(lines, func(l string) bool {
		return strings.HasPrefix(l, "body-breaks-schema GET "+
			"/api/orders")
	})
	if !slices.Equal(lines, want) {
		t.Errorf("found:\n\t%s\nwant:\n\t%s", strings.Join(lines, "\n\t"), strings.Join(want, "\n\t"))
	}
}

// Without a description, the one that the API itself shows is used.
func TestDiscovered(t *testing.T) {
	got, _ := scanTarget(t, &shop{orders: stock()}, nil)
	if len(got.operations) != 8 {
		t.Errorf("%d operations", len(got.operations))
	}
}

func TestNoDescription(t *testing.T) {
	got, _ := scanTarget(t, http.NotFoundHandler(), nil)
	if s := got.Statuses[0]; s.State != scan.Degraded || !strings.Contains(s.Reasons[0].Message, "no description") {
		t.Errorf("%+v", s)
	}
}

// The careful profiles change nothing.
func TestSafeProfileReads(t *testing.T) {
	for _, profile := range []scan.Profile{scan.Passive, scan.Safe} {
		api := &shop{orders: stock()}
		got, _ := scanTarget(t, api, func(t *scan.Target) { given(t); t.Profile = profile })
		for _, a := range api.asked {
			if !strings.HasPrefix(a, "GET ") && !strings.HasPrefix(a, "HEAD ") {
				t.Errorf("%s: %s was sent", profile, a)
			}
		}
		if o := got.operations["POST /api/orders"]; o.Outcome != finding.NotReached ||
			!strings.Contains(o.Reason, "profile") {
			t.Errorf("%s: %+v", profile, o)
		}
	}
}

func TestBrokenDescriptionDegrades(t *testing.T) {
	got, _ := scanTarget(t, &shop{orders: stock()}, func(t *scan.Target) {
		t.Descriptions = []scan.Description{{Name: "bad", Text: "nothing"},
			{Name: "half.yaml", Text: description + "  parameters: 7\npaths2: 1\n"},
			{Name: "far", URL: "http://127.0.0.2:1/x"}}
	})
	if s := got.Statuses[0]; s.State != scan.Degraded || len(got.operations) != 8 || len(s.Reasons) != 2 {
		t.Errorf("%+v, %d operations", s, len(got.operations))
	}
}

// What the budget leaves out has a reason.
func TestBudget(t *testing.T) {
	got, _ := scanTarget(t, &shop{orders: stock()}, func(t *scan.Target) { given(t); t.Requests = 4 })
	if s := got.Statuses[0]; s.State != scan.Degraded || len(got.operations) != 8 {
		t.Errorf("%+v", s)
	}
	for name, o := range got.operations {
		if o.Outcome != finding.Reached && o.Reason == "" {
			t.Errorf("%s has no reason", name)
		}
	}
}

const guestbook = `openapi: 3.0.3
info: {title: Guests, version: "1"}
paths:
  /entries:
    post:
      requestBody: {required: true, content: {application/json: {schema: {type: object, required: [text], properties: {text: {type: string}}}}}}
      responses: {"201": {description: OK}}
  /entries/{entryId}/print:
    parameters: [{in: path, name: entryId, required: true, schema: {type: integer}}]
    get: {responses: {"200": {description: OK, content: {text/html: {}}}}}
  /board: {get: {responses: {"200": {description: OK}}}}
`

// What one operation stores is script where another one shows it as a page.
func TestStoredScripting(t *testing.T) {
	for _, safe := range []bool{false, true} {
		var mu sync.Mutex
		var entries []string
		page := func(w http.ResponseWriter, list []string) {
			w.Header().Set("Content-Type", "text/html")
			for _, e := range list {
				if safe {
					e = html.EscapeString(e)
				}
				fmt.Fprintf(w, "<p>%s</p>", e)
			}
		}
		mux := http.NewServeMux()
		mux.HandleFunc("POST /entries", func(w http.ResponseWriter, r *http.Request) {
			var in struct{ Text string }
			_ = json.NewDecoder(r.Body).Decode(&in)
			mu.Lock()
			defer mu.Unlock()
			entries = append(entries, in.Text)
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(201)
			_ = json.NewEncoder(w).Encode(map[string]any{"id": len(entries), "text": in.Text})
		})
		mux.HandleFunc("GET /entries/{id}/print", func(w http.ResponseWriter, r *http.Request) {
			mu.Lock()
			defer mu.Unlock()
			n, err := strconv.Atoi(r.PathValue("id"))
			if err != nil || n < 1 || n > len(entries) {
				http.NotFound(w, r)
				return
			}
			page(w, entries[n-1:n])
		})
		mux.HandleFunc("GET /board", func(w http.ResponseWriter, _ *http.Request) {
			mu.Lock()
			defer mu.Unlock()
			page(w, entries[max(0, len(entries)-20):])
		})
		got, _ := scanTarget(t, mux, func(o *scan.Target) {
			o.Descriptions = []scan.Description{{Name: "guestbook.yaml", Text: guestbook}}
		})
		var lines []string
		for _, f := range got.Findings {
			if strings.HasPrefix(f.RuleID, "dast/xss/") {
				lines = append(lines, f.RuleID+" "+f.Live.Method+" "+f.Live.URL[strings.Index(f.Live.URL[8:], "/")+
					8:]+" "+f.Live.Parameter)
			}
		}
		if want := map[bool]string{false: "[dast/xss/stored POST /entries /text]",
			true: "[]"}[safe]; fmt.Sprint(lines) != want {
			t.Errorf("safe %v: %v", safe, lines)
		}
	}
}
