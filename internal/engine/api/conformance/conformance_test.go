package conformance

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"merlon/internal/engine/api/apispec"
	"merlon/internal/engine/dast/message"
)

const users = `openapi: 3.0.0
info: {title: x}
paths:
  /u:
    get:
      responses:
        "200":
          content:
            application/json: {schema: {type: array, maxItems: 3, items: {$ref: "#/components/schemas/U"}}}
        "204": {description: none}
        4XX: {description: bad, content: {application/problem+json: {schema: {type: object}}}}
components:
  schemas:
    U:
      type: object
      required: [id, name, pin]
      properties:
        id: {type: integer, minimum: 1}
        name: {type: string, maxLength: 5, pattern: "^[a-z]+$"}
        pin: {type: string, writeOnly: true}
        kind: {type: string, enum: [a, b], nullable: true}
        rate: {type: number}
        any: {}
        way: {oneOf: [{type: string}, {type: object, required: [x], properties: {x: {type: integer}}}]}
        friend: {$ref: "#/components/schemas/U"}
        map: {type: object, additionalProperties: {type: integer}}
        shut: {type: object, additionalProperties: false, properties: {y: {type: boolean}}}
`

func TestCheck(t *testing.T) {
	api, err := apispec.Read([]byte(users))
	if err != nil {
		t.Fatal(err)
	}
	o := api.Operations[0]
	for _, c := range []struct {
		status      int
		media, body string
		want        string
	}{
		{200, "application/json", `[]`, ""},
		{200, "application/json; charset=utf-8",
			`[{"id": 1, "name": "ann", "kind": null, "rate": 2, "any": [null], "way": "w", "map": {"q": 1}, "friend": {"id": 2, "name": "bob"}}]`, ""},
		{200, "application/json", `[{"id": 1.0, "name": "ann", "way": {"x": 1}, "shut": {"y": true}}]`, ""},
		{204, "", "", ""},
		{404, "application/problem+json", `{"a": 1}`, ""},
		{400, "text/html", "<p>", "media-type"},
		{302, "", "", "status"},
		{500, "text/plain", "x", "failure"},
		{200, "text/plain", "x", "media-type"},
		{200, "application/json", `{}`, "body"},
		{200, "application/json", `[{"id": 0, "name": "ann"}]`, "body /0/id"},
		{200, "application/json", `[{"id": "1", "name": "ann"}]`, "body /0/id"},
		{200, "application/json", `[{"id": 1}]`, "body /0/name"},
		{200, "application/json", `[{"id": 1, "name": "Ann"}]`, "body /0/name"},
		{200, "application/json", `[{"id": 1, "name": "annabella"}]`, "body /0/name"},
		{200, "application/json", `[{"id": 1, "name": null}]`, "body /0/name"},
		{200, "application/json", `[{"id": 1, "name": "a", "kind": "c"}, {"id": 1, "name": "a", "kind": "d"}]`,
			"body /0/kind"},
		{200, "application/json", `[{"id": 1, "name": "a", "way": {"x": "1"}}]`, "body /0/way"},
		{200, "application/json", `[{"id": 1, "name": "a", "friend": {"id": 1}}]`, "body /0/friend/name"},
		{200, "application/json", `[{"id": 1, "name": "a", "map": {"q": true}}]`, "body /0/map/q"},
		{200, "application/json", `[{"id": 1, "name": "a", "shut": {"z": true}}]`, "body /0/shut/z"},
		{200, "application/json", `[{"id": 1, "name": "a", "pin": "1234"}]`, "property /0/pin"},
		{200, "application/json", `[{"id": 1, "name": "a", "admin": true}]`, "property /0/admin"},
		{200, "application/json", `[{"id": 1, "name": "a", "any": {"password": "hunter2"}}]`,
			"credential /0/any/password"},
		{200, "application/json", `[{"id": 1, "name": "a", "any": {"password": "****", "passwordResetUrl": "xyz"}}]`,
			""},
		{200, "application/json", `[1, 2, 3, 4]`, "body, body /0"},
		{200, "application/json", `not json`, ""},
	} {
		resp := &message.Response{Status: c.status, Header: http.Header{"Content-Type": {c.media}},
			Body: []byte(c.body), Request: &message.Request{Method: "GET"}}
		var got []string
		for _, b := range Compare(o, resp) {
			got = append(got, strings.TrimSpace(string(b.Kind)+" "+b.Pointer))
		}
		slices.Sort(got)
		if strings.Join(got, ", ") != c.want {
			t.Errorf("%d %s %s: got %q, want %q", c.status, c.media, c.body, got, c.want)
		}
	}
}

// A description that foresees no answers at all cannot be broken.
func TestNothingDescribed(t *testing.T) {
	resp := &message.Response{Status: 418, Header: http.Header{}, Body: []byte("x")}
	if got := Compare(&apispec.Operation{}, resp); len(got) != 0 {
		t.Error(got)
	}
}

// A folder is no password, whatever shells call it.
func TestWorkingDirectory(t *testing.T) {
	for body, want := range map[string]int{`{"OLDPWD": "/srv/app"}`: 0, `{"pwd": "hunter2"}`: 1} {
		resp := &message.Response{Status: 200, Header: http.Header{"Content-Type": {"application/json"}},
			Body: []byte(body)}
		if got := Compare(&apispec.Operation{}, resp); len(got) != want {
			t.Errorf("%s: %v", body, got)
		}
	}
}

func FuzzCheck(f *testing.F) {
	api, err := apispec.Read([]byte(users))
	if err != nil {
		f.Fatal(err)
	}
	f.Add([]byte(`[{"id": 1, "friend": {"friend": {}}}]`))
	f.Fuzz(func(t *testing.T, b []byte) {
		resp := &message.Response{Status: 200, Header: http.Header{"Content-Type": {"application/json"}}, Body: b}
		if got := Compare(api.Operations[0], resp); len(got) > maxBreaches+1 {
			t.Error(len(got))
		}
	})
}
