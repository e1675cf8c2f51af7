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

const shelves = `openapi: 3.0.3
info: {title: Two, version: "1"}
security: [{bearer: []}]
paths:
  /one/item:
    post:
      requestBody: {content: {application/json: {schema: {type: object, properties: {label: {type: string}}}}}}
      responses: {"201": {description: OK}}
  /one/item/{itemId}:
    parameters: [{in: path, name: itemId, required: true, schema: {type: integer}}]
    get: {responses: {"200": {description: OK}}}
  /two/item:
    post:
      requestBody: {content: {application/json: {schema: {type: object, properties: {label: {type: string}}}}}}
      responses: {"201": {description: OK}}
  /two/item/{itemId}:
    parameters: [{in: path, name: itemId, required: true, schema: {type: integer}}]
    get: {responses: {"200": {description: OK}}}
  /boxes: {get: {responses: {"200": {description: OK}}}}
components: {securitySchemes: {bearer: {type: http, scheme: bearer}}}
`

// Things of one name are told apart by where they are made, and what shows nobody nothing
// lacks no sign-in.
func TestPlace(t *testing.T) {
	var mu sync.Mutex
	made := map[string]int{"one": 100, "two": 200}
	h := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		answer := func(status int, v any) {
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(status)
			_ = json.NewEncoder(w).Encode(v)
		}
		kind, rest, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
		var id int
		_, _ = fmt.Sscanf(rest, "item/%d", &id)
		switch {
		case r.URL.Path == "/boxes":
			answer(200, map[string]any{"boxes": []any{}, "count": 0, "next": nil})
		case r.Header.Get("Authorization") != "Bearer good":
			answer(401, "sign in")
		case made[kind] > 0 && rest == "item" && r.Method == http.MethodPost:
			made[kind]++
			answer(201, map[string]any{"data": map[string]any{"id": made[kind]}})
		case made[kind] > 0 && id > map[string]int{"one": 100, "two": 200}[kind] && id <= made[kind]:
			answer(200, map[string]any{"id": id})
		default:
			answer(500, "none of these")
		}
	})
	got, lines := scanTarget(t, h, func(o *scan.Target) {
		o.Descriptions = []scan.Description{{Name: "two.yaml", Text: shelves}}
	})
	for _, op := range []string{"GET /one/item/{itemId}", "GET /two/item/{itemId}"} {
		if o := got.operations[op]; o.Outcome != finding.Reached || o.Status != http.StatusOK {
			t.Errorf("%s: %+v", op, o)
		}
	}
	for _, l := range lines {
		if strings.HasPrefix(l, "missing-authentication") {
			t.Errorf("found %s", l)
		}
	}
}

// A directive of the schema is a promise that nobody is answered without a sign-in.
func TestGuardedField(t *testing.T) {
	for _, flawed := range []bool{true, false} {
		h := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			var in struct{ Query string }
			_ = json.NewDecoder(r.Body).Decode(&in)
			data := map[string]any{"__typename": "Query"}
			switch {
			case r.URL.Path != "/graphql" || in.Query == "":
				http.NotFound(w, r)
				return
			case strings.Contains(in.Query, "salaries") && !flawed && r.Header.Get("Authorization") != "Bearer good":
				data = map[string]any{"salaries": nil}
			case strings.Contains(in.Query, "salaries"):
				data = map[string]any{"salaries": []any{"3,100"}}
			case strings.Contains(in.Query, "news"):
				data = map[string]any{"news": "none"}
			}
			w.Header().Set("Content-Type", "application/json")
			_ = json.NewEncoder(w).Encode(map[string]any{"data": data})
		})
		_, lines := scanTarget(t, h, func(o *scan.Target) {
			o.Checks = []string{"authentication"}
			o.Descriptions = []scan.Description{{Name: "pay.graphql", Text: "directive @auth(requires: String) on " +
				"FIELD_DEFINITION\ntype Query { news: String, salaries: [String!] @auth(requires: \"ADMIN\") }\n"}}
		})
		want := map[bool]string{true: "[missing-authentication POST /graphql#Query.salaries]", false: "[]"}[flawed]
		if fmt.Sprint(lines) != want {
			t.Errorf("flawed %v: %v", flawed, lines)
		}
	}
}
