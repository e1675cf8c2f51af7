package authz_test

import (
	"encoding/json"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"merlon/internal/scan"
)

// The shop has goods that staff put in, lists that show them, and no address of one.
const shopDescription = `openapi: 3.0.3
info: {title: Shop, version: "1"}
security: [{bearer: []}]
paths:
  /login:
    post:
      security: []
      requestBody: {required: true, content: {application/json: {schema: {type: object, required: [username, password], properties: {username: {type: string}, password: {type: string}}}}}}
      responses: {"200": {description: OK}}
  /register:
    post:
      security: []
      requestBody: {required: true, content: {application/json: {schema: {type: object, required: [username, password], properties: {username: {type: string}, password: {type: string}}}}}}
      responses: {"201": {description: OK}}
  /goods:
    get: {security: [], responses: {"200": {description: OK}}}
    put:
      requestBody: {required: true, content: {application/json: {schema: {type: object, required: [title], properties: {title: {type: string}}}}}}
      responses: {"201": {description: OK}}
  /goods/{goodId}:
    parameters: [{in: path, name: goodId, required: true, schema: {type: integer}}]
    put:
      requestBody: {required: true, content: {application/json: {schema: {type: object, required: [title], properties: {title: {type: string}}}}}}
      responses: {"200": {description: OK}}
    delete: {responses: {"204": {description: gone}}}
  /users/{username}:
    parameters: [{in: path, name: username, required: true, schema: {type: string}}]
    delete: {responses: {"204": {description: gone}}}
components: {securitySchemes: {bearer: {type: http, scheme: bearer}}}
`

// A shop lets those remove goods, or change them, whose role is at least that; 0 is nobody.
type shop struct {
	removes, changes int
	hides            bool // what somebody else than staff removes is only hidden from him
	accounts         bool // everybody removes every account

	mu    sync.Mutex
	words map[string]string // passwords of accounts that were registered
	roles map[string]int
	goods map[int]string
	next  int
}

func newShop(removes, changes int) *shop {
	return &shop{removes: removes, changes: changes, words: map[string]string{"cid": "pass-cid", "sam": "pass-sam"},
		roles: map[string]int{"cid": 1, "sam": 2}, goods: map[int]string{1: "bread", 2: "milk"}, next: 2}
}

func (s *shop) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	answer := func(status int, v any) {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(status)
		if status != 204 {
			_ = json.NewEncoder(w).Encode(v)
		}
	}
	var in struct{ Username, Password, Title string }
	_ = json.NewDecoder(r.Body).Decode(&in)
	role := s.roles[strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer of-")]
	refuse := func(needs int) bool {
		if role < needs {
			answer(map[bool]int{true: 401, false: 403}[role == 0], "no")
		}
		return role < needs
	}
	id, _ := strconv.Atoi(strings.TrimPrefix(r.URL.Path, "/goods/"))
	switch at := r.Method + " " + strings.TrimRight(r.URL.Path, "0123456789"); {
	case at == "POST /register" && s.roles[in.Username] == 0:
		s.roles[in.Username], s.words[in.Username] = 1, in.Password
		answer(201, map[string]any{"username": in.Username})
	case at == "POST /login" && s.roles[in.Username] > 0 && s.words[in.Username] == in.Password:
		answer(200, map[string]any{"token": "of-" + in.Username})
	case at == "POST /login":
		w.Header().Set("RateLimit-Limit", "5")
		answer(401, "no")
	case at == "GET /goods":
		list := []any{}
		for n := range s.next {
			if title, is := s.goods[n+1]; is {
				list = append(list, map[string]any{"id": n + 1, "title": title})
			}
		}
		answer(200, list)
	case at == "PUT /goods":
		if !refuse(2) {
			s.next++
			s.goods[s.next] = in.Title
			answer(201, map[string]any{"id": s.next, "title": in.Title})
		}
	case at == "PUT /goods/" && s.goods[id] != "":
		if !refuse(s.changes) {
			s.goods[id] = in.Title
			answer(200, map[string]any{"id": id, "title": in.Title})
		}
	case at == "DELETE /goods/" && s.goods[id] != "":
		if !refuse(s.removes) {
			if !s.hides || role > 1 {
				delete(s.goods, id)
			}
			answer(204, nil)
		}
	case r.Method == "DELETE" && strings.HasPrefix(r.URL.Path, "/users/"):
		name := strings.TrimPrefix(r.URL.Path, "/users/")
		if own := r.Header.Get("Authorization") == "Bearer of-"+name; !own && !s.accounts {
			answer(403, "no")
			return
		}
		delete(s.roles, name)
		answer(204, nil)
	default:
		answer(404, "none")
	}
}

// Who may not make an object changes and removes it all the same.
func TestRanks(t *testing.T) {
	removes, changes := "function-level-authorization DELETE /goods/{goodId}", "function-level-authorization PUT "+
		"/goods/{goodId}"
	tests := []struct {
		name string
		shop *shop
		who  []string
		want []string
	}{
		{"secure", newShop(2, 2), []string{"cid", "sam"}, nil},
		{"hidden from him alone", func() *shop {
			s := newShop(1, 2)
			s.hides = true
			return s
		}(), []string{"cid", "sam"}, nil},
		{"customers remove", newShop(1, 2), []string{"cid", "sam"}, []string{removes}},
		{"customers change", newShop(2, 1), []string{"cid", "sam"}, []string{changes}},
		{"customers do both, staff first", newShop(1, 1), []string{"sam", "cid"}, []string{removes, changes}},
		{"an account is a customer", newShop(1, 1), []string{"sam"}, []string{removes, changes}},
		{"nobody removes", newShop(0, 2), []string{"cid", "sam"}, []string{"write-without-authentication DELETE " +
			"/goods/{goodId}"}},
		{"nobody changes", newShop(2, 0), []string{"sam", "cid"}, []string{"write-without-authentication PUT " +
			"/goods/{goodId}"}},
		{"accounts of others", func() *shop {
			s := newShop(2, 2)
			s.accounts = true
			return s
		}(), []string{"cid", "sam"}, []string{"object-level-authorization-write DELETE /users/{username}"}},
	}
	for _, test := range tests {
		target := scan.Target{Profile: scan.Standard, Checks: []string{"authorization"},
			Descriptions: []scan.Description{{Name: "shop.yaml", Text: shopDescription}}}
		for _, name := range test.who {
			target.Identities = append(target.Identities, scan.Identity{Name: name, Role: test.shop.roles[name],
				JSON: &scan.JSONLogin{URL: "/login",
					Body: scan.LoginBody(`{"username":"` + name + `","password":"pass-` + name + `"}`)}})
		}
		if got := examine(t, test.shop, target); !slices.Equal(got, test.want) {
			t.Errorf("%s: found:\n\t%s", test.name, strings.Join(got, "\n\t"))
		}
		if test.shop.goods[1] == "" || test.shop.goods[2] == "" {
			t.Errorf("%s: the goods are %v", test.name, test.shop.goods)
		}
		for name := range test.shop.roles {
			if strings.HasPrefix(name, "mx") && !test.shop.accounts {
				t.Errorf("%s: the account %s stays", test.name, name)
			}
		}
		if test.shop.roles["cid"] != 1 || test.shop.roles["sam"] != 2 {
			t.Errorf("%s: the accounts are %v", test.name, test.shop.roles)
		}
	}
}
