package authz_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"merlon/internal/finding"
	"merlon/internal/scan"
)

// cards is an API that creates objects by an action whose response holds them one level deeper,
// and whose paths name them by a parameter that no collection has.
const cards = `openapi: 3.0.3
info: {title: Cards, version: "1"}
security: [{bearer: []}]
paths:
  /login:
    post:
      security: []
      requestBody: {required: true, content: {application/json: {schema: {type: object, required: [username, password], properties: {username: {type: string}, password: {type: string}}}}}}
      responses: {"200": {description: OK}, "401": {description: no}}
  /health: {get: {security: [], responses: {"200": {description: OK}}}}
  /api/virtual-cards: {get: {responses: {"200": {description: OK}}}}
  /api/virtual-cards/create:
    post:
      requestBody: {required: true, content: {application/json: {schema: {type: object, required: [PROPERTY], properties: {PROPERTY}}}}}
      responses: {"200": {description: OK}}
  /api/virtual-cards/{card_id}/statement:
    parameters: [{in: path, name: card_id, required: true, schema: {type: integer}}]
    get: {responses: {"200": {description: OK}, "404": {description: none}}}
  /api/virtual-cards/{card_id}/toggle-freeze:
    parameters: [{in: path, name: card_id, required: true, schema: {type: integer}}]
    post: {responses: {"200": {description: OK}, "404": {description: none}}}
  /api/virtual-cards/{card_id}/update-limit:
    parameters: [{in: path, name: card_id, required: true, schema: {type: integer}}]
    post:
      requestBody: {required: true, content: {application/json: {schema: {type: object, required: [card_limit], properties: {card_limit: {type: integer}}}}}}
      responses: {"200": {description: OK}, "404": {description: none}}
  /api/virtual-cards/{card_id}/transfer:
    parameters: [{in: path, name: card_id, required: true, schema: {type: integer}}]
    post:
      requestBody: {required: true, content: {application/json: {schema: {type: object, required: [amount], properties: {amount: {type: integer}}}}}}
      responses: {"200": {description: OK}, "404": {description: none}}
  /api/virtual-cards/{card_id}/delete:
    parameters: [{in: path, name: card_id, required: true, schema: {type: integer}}]
    post: {responses: {"200": {description: OK}, "404": {description: none}}}
components: {securitySchemes: {bearer: {type: http, scheme: bearer}}}
`

type wallet struct {
	flawed bool
	polite bool // answers other users' actions with 200, and does nothing

	mu    sync.Mutex
	cards map[int]map[string]any
	last  int
	moved int // requests that move money
	asked int
}

func (b *wallet) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	b.mu.Lock()
	defer b.mu.Unlock()
	answer := func(status int, v any) {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(status)
		_ = json.NewEncoder(w).Encode(v)
	}
	var in map[string]any
	_ = json.NewDecoder(r.Body).Decode(&in)
	b.asked++
	for _, card := range b.cards { // these change by themselves, not with each request
		card["age"], card["seen"] = b.asked/3, fmt.Sprintf("12:00:%02d", b.asked/3%60)
	}
	me := strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer token-")
	switch {
	case r.URL.Path == "/health":
		answer(200, map[string]any{"status": "up"})
	case r.URL.Path == "/login":
		name, _ := in["username"].(string)
		if in["password"] != "pass-"+name {
			answer(401, map[string]any{"error": "wrong"})
			return
		}
		answer(200, map[string]any{"token": "token-" + name})
	case me != "ann" && me != "bob":
		answer(401, map[string]any{"error": "sign in"})
	case r.URL.Path == "/api/virtual-cards/create" && r.Method == "POST":
		b.last++
		card := map[string]any{"id": b.last, "card_number": fmt.Sprintf("4%015d", 7_131_579*b.last), "card_limit": 500,
			"is_frozen": false, "holder": me}
		for _, name := range []string{"label", "card_limit"} {
			if in[name] != nil {
				card[name] = in[name]
			}
		}
		b.cards[b.last] = card
		answer(200, map[string]any{"status": "success", "message": "a card was created", "card_details": card,
			"bank": map[string]any{"id": 1, "name": "Bank"}})
	case r.URL.Path == "/api/virtual-cards":
		list := []any{}
		for id := 1; id <= b.last; id++ {
			if b.cards[id] != nil && b.cards[id]["holder"] == me {
				list = append(list, b.cards[id])
			}
		}
		answer(200, map[string]any{"status": "success", "cards": list})
	default:
		steps := strings.Split(r.URL.Path, "/")
		id := 0
		if len(steps) == 5 {
			id, _ = strconv.Atoi(steps[3])
		}
		card := b.cards[id]
		if card != nil && card["holder"] != me && b.polite && r.Method == "POST" {
			answer(200, map[string]any{"status": "success"})
			return
		}
		if card == nil || card["holder"] != me && !b.flawed {
			answer(404, map[string]any{"error": "no such card"})
			return
		}
		switch r.Method + " " + steps[4] {
		case "GET statement":
			answer(200, map[string]any{"card": card, "lines": []any{}})
			return
		case "POST toggle-freeze":
			card["is_frozen"] = card["is_frozen"] != true
		case "POST update-limit":
			card["card_limit"] = in["card_limit"]
		case "POST transfer":
			b.moved++
		case "POST delete":
			delete(b.cards, id)
		}
		answer(200, map[string]any{"status": "success"})
	}
}

// TestActions creates objects by an action, with a free text and without any, and asks actions
// about them as another user.
func TestActions(t *testing.T) {
	for name, c := range map[string]struct {
		property string // of the request that creates a card
		flawed   bool
		polite   bool
	}{
		"flawed":                   {"label: {type: string}, card_limit: {type: integer}", true, false},
		"flawed without free text": {"card_limit: {type: integer}", true, false},
		"sound":                    {"label: {type: string}, card_limit: {type: integer}", false, false},
		"sound without free text":  {"card_limit: {type: integer}", false, false},
		"sound and polite":         {"label: {type: string}, card_limit: {type: integer}", false, true},
	} {
		t.Run(name, func(t *testing.T) {
			bank := &wallet{flawed: c.flawed, polite: c.polite, last: 2, cards: map[int]map[string]any{}}
			bank.cards[1] = map[string]any{"id": 1, "card_number": "4000000000000001", "holder": "ann",
				"is_frozen": false, "card_limit": 9}
			bank.cards[2] = map[string]any{"id": 2, "card_number": "4000000000000002", "holder": "bob",
				"is_frozen": false, "card_limit": 9}
			required, _, _ := strings.Cut(c.property, ":")
			text := strings.ReplaceAll(strings.Replace(cards, "required: [PROPERTY]", "required: ["+required+"]", 1),
				"{PROPERTY}", "{"+c.property+"}")
			target := notesTarget([]string{"ann", "bob"}, scan.Standard)
			target.Descriptions = []scan.Description{{Name: "cards.yaml", Text: text}}
			var want []string
			if c.flawed {
				want = []string{
					"object-level-authorization GET /api/virtual-cards/{card_id}/statement",
					"object-level-authorization-write POST /api/virtual-cards/{card_id}/delete",
					"object-level-authorization-write POST /api/virtual-cards/{card_id}/toggle-freeze",
					"object-level-authorization-write POST /api/virtual-cards/{card_id}/update-limit",
				}
			}
			if got := examine(t, bank, target); !slices.Equal(got, want) {
				t.Errorf("found:\n\t%s", strings.Join(got, "\n\t"))
			}
			for id := 1; id <= 2; id++ {
				if card := bank.cards[id]; card == nil || card["is_frozen"] != false || card["card_limit"] != 9 {
					t.Errorf("a card that the scan has not created is now %v", card)
				}
			}
			if len(bank.cards) > 2+5 {
				t.Errorf("%d cards are left", len(bank.cards)-2)
			}
			if bank.moved > 0 {
				t.Errorf("%d requests moved money", bank.moved)
			}
		})
	}
}

// TestAuthorizationOutcome says of each operation whether it was tested with another user's
// object, and if not, why.
func TestAuthorizationOutcome(t *testing.T) {
	text := strings.ReplaceAll(strings.Replace(cards, "required: [PROPERTY]", "required: [label]", 1), "{PROPERTY}",
		"{label: {type: string}}")
	tested := "tested"
	for name, c := range map[string]struct {
		users   []string
		profile scan.Profile
		checks  []string
		want    map[string]string // by the end of the path
	}{
		"two users": {[]string{"ann", "bob"}, scan.Standard, nil, map[string]string{
			"/statement": tested, "/toggle-freeze": tested, "/update-limit": tested, "/delete": tested,
			"/transfer": "moves money", "/create": "names no object", "/health": "names no object"}},
		"one user": {[]string{"ann"}, scan.Standard, nil, map[string]string{"/statement": "no second user",
			"/toggle-freeze": "no second user"}},
		"profile safe": {[]string{"ann", "bob"}, scan.Safe, nil, map[string]string{"/statement": "profile safe"}},
		"another check": {[]string{"ann", "bob"}, scan.Standard, []string{"conformance"},
			map[string]string{"/statement": "users were not compared"}},
	} {
		t.Run(name, func(t *testing.T) {
			bank := &wallet{cards: map[int]map[string]any{}}
			target := notesTarget(c.users, c.profile)
			target.Descriptions = []scan.Description{{Name: "cards.yaml", Text: text}}
			target.Checks = c.checks
			server := httptest.NewServer(bank)
			defer server.Close()
			got := visit(t, server, target)
			for _, o := range got.Operations {
				a := o.Authorization
				if a == nil || a.Tested == (a.Reason != "") {
					t.Errorf("%s %s: %+v", o.Method, o.URL, a)
					continue
				}
				if name == "two users" && strings.HasSuffix(o.URL, "/toggle-freeze") && o.Outcome != finding.Reached {
					t.Errorf("%s was not asked about a card that the scan has created: %s", o.URL, o.Reason)
				}
				for end, want := range c.want {
					if strings.HasSuffix(o.URL, end) && (want == tested) != a.Tested || strings.HasSuffix(o.URL, end) &&
						want != tested && !strings.Contains(a.Reason, want) {
						t.Errorf("%s %s: %+v, want %s", o.Method, o.URL, *a, want)
					}
				}
			}
			if len(got.Operations) != 9 {
				t.Errorf("%d operations", len(got.Operations))
			}
		})
	}
}
