package operations_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"

	"merlon/internal/finding"
	"merlon/internal/scan"
)

const bank = `
openapi: 3.0.3
info: {title: Bank, version: "1"}
paths:
  /transfers:
    post:
      operationId: makeTransfer
      requestBody: {content: {application/json: {schema: {type: object, required: [to, amount], properties: {to: {type: string}, amount: {type: number}}}}}}
      responses: {"201": {description: OK}}
  /tx:
    post:
      summary: Pay a bill of the account
      requestBody: {content: {application/json: {schema: {type: object, required: [bill], properties: {bill: {type: string}}}}}}
      responses: {"200": {description: OK}}
  /me/picture:
    post:
      requestBody: {content: {multipart/form-data: {schema: {type: object, properties: {file: {type: string, format: binary}}}}}}
      responses: {"200": {description: OK}}
  /team/invitations:
    post:
      requestBody: {content: {application/json: {schema: {type: object, properties: {email: {type: string, format: email}}}}}}
      responses: {"200": {description: OK}}
  /memos:
    get: {responses: {"200": {description: OK}}}
    post:
      requestBody: {content: {application/json: {schema: {type: object, required: [text], properties: {text: {type: string}, role: {type: string}}}}}}
      responses: {"201": {description: OK}}
  /memos/{id}:
    parameters: [{in: path, name: id, required: true, schema: {type: integer}}]
    get: {responses: {"200": {description: OK}}}
    delete: {responses: {"204": {description: OK}}}
`

// teller is an account with a balance, a picture and memos; memo 1 was there before.
type teller struct {
	mu      sync.Mutex
	memos   map[int]any
	all     map[int]any // that were created
	next    int
	changed []string
}

func (b *teller) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	b.mu.Lock()
	defer b.mu.Unlock()
	answer := func(status int, v any) {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(status)
		_ = json.NewEncoder(w).Encode(v)
	}
	var in map[string]any
	_ = json.NewDecoder(r.Body).Decode(&in)
	var id int
	_, _ = fmt.Sscanf(strings.TrimPrefix(r.URL.Path, "/api"), "/memos/%d", &id)
	switch path := strings.TrimPrefix(r.URL.Path, "/api"); {
	case path == "/memos" && r.Method == http.MethodPost:
		if text, _ := in["text"].(string); text == "" {
			answer(400, "no text")
			return
		}
		b.next++
		in["id"] = b.next
		b.memos[b.next], b.all[b.next] = in, in
		answer(201, in)
	case path == "/memos":
		list := []any{}
		for _, memo := range b.memos {
			list = append(list, memo)
		}
		answer(200, list)
	case b.memos[id] != nil && r.Method == http.MethodDelete:
		if id == 1 {
			b.changed = append(b.changed, "memo 1")
		}
		delete(b.memos, id)
		w.WriteHeader(204)
	case b.memos[id] != nil:
		answer(200, b.memos[id])
	case r.Method == http.MethodPost && (path == "/transfers" || path == "/tx" || path == "/me/picture" || path == "/team/invitations"):

		b.changed = append(b.changed, path)
		answer(200, map[string]any{"id": 1})
	default:
		answer(404, "none")
	}
}

// Below the profile full, nothing moves money, reaches people or changes the account, and the
// outcome says why; what is created is listed and removed.
func TestTheAccountStaysAsItIs(t *testing.T) {
	for _, profile := range []scan.Profile{scan.Standard, scan.Full} {
		api := &teller{memos: map[int]any{1: map[string]any{"id": 1, "text": "Kept"}}, all: map[int]any{}, next: 1}
		got, _ := scanTarget(t, api, func(o *scan.Target) {
			o.Profile, o.Descriptions = profile, []scan.Description{{Name: "bank.yaml", Text: bank}}
			o.Identities = []scan.Identity{{Name: "ann", Bearer: "t"}}
			o.Checks = []string{"validation", "xss", "look"}
		})
		if profile == scan.Full {
			if all := strings.Join(api.changed, " "); !strings.Contains(all, "/transfers") ||
				!strings.Contains(all, "/tx") || !strings.Contains(all, "/me/picture") {
				t.Errorf("full: changed %q", api.changed)
			}
			continue
		}
		if len(api.changed) > 0 || api.memos[1] == nil {
			t.Errorf("changed %q", api.changed)
		}
		for op, want := range map[string]string{"POST /transfers": "money", "POST /tx": "money",
			"POST /me/picture": "settings", "POST /team/invitations": "messages"} {
			found := false
			for name, o := range got.operations {
				if strings.HasSuffix(name, op[strings.Index(op, "/"):]) && strings.HasPrefix(name, "POST") {
					found = true
					if o.Outcome != finding.NotReached || !strings.Contains(o.Reason, want) {
						t.Errorf("%s: %s, %q", op, o.Outcome, o.Reason)
					}
				}
			}
			if !found {
				t.Errorf("%s is not among the operations", op)
			}
		}
		listed, removed := 0, 0
		for _, o := range got.operations {
			for _, c := range o.Created {
				listed++
				if c.Removed {
					removed++
				}
			}
		}
		for id, memo := range api.all {
			if text, _ := memo.(map[string]any)["text"].(string); !strings.Contains(text, "merlon-") {
				t.Errorf("memo %d has no mark: %v", id, memo)
			}
		}
		if made := api.next - 1; made < 2 || made > 5 || listed != made || removed != made || len(api.memos) != 1 {
			t.Errorf("%d created, %d listed, %d removed, left %v", made, listed, removed, api.memos)
		}
	}
}
