package requestgen

import (
	"encoding/json"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"merlon/internal/engine/api/apispec"
	"merlon/internal/engine/dast/message"
)

const shop = `openapi: 3.1.0
info: {title: Shop}
paths:
  /users/{id}/orders/{day}:
    post:
      operationId: order
      parameters:
        - {in: path, name: id, schema: {type: integer, minimum: 5}}
        - {in: path, name: day, schema: {type: string, format: date}}
        - {in: query, name: tags, schema: {type: array, items: {type: string, enum: [a, b]}, minItems: 2}}
        - {in: query, name: flat, explode: false, schema: {type: array, items: {type: integer}}}
        - {in: query, name: where, style: deepObject, schema: {type: object, properties: {x: {type: integer}}}}
        - {in: query, name: page, required: true, schema: {type: integer, minimum: 1, maximum: 9}}
        - {in: header, name: X-Trace, schema: {type: string, format: uuid}}
        - {in: header, name: Authorization, schema: {type: string}}
        - {in: cookie, name: theme, schema: {type: string, default: dark}}
      requestBody:
        required: true
        content:
          text/plain: {schema: {type: string}}
          application/json: {schema: {$ref: "#/components/schemas/Order"}}
  /form:
    post:
      requestBody: {content: {multipart/form-data: {schema: {type: object, properties: {photo: {type: string, format: binary}, n: {type: integer}, list: {type: array, items: {type: string}, minItems: 2}}}}}}
  /xml:
    put:
      requestBody: {content: {application/xml: {schema: {$ref: "#/components/schemas/Order"}}}}
components:
  schemas:
    Base: {type: object, required: [name], properties: {name: {type: string, minLength: 3, maxLength: 12}}}
    Order:
      allOf: [{$ref: "#/components/schemas/Base"}]
      type: object
      required: [code, count, mail, kind, ok, price, items]
      properties:
        id: {type: integer, readOnly: true}
        code: {type: string, pattern: "^[A-Z]{2}-\\d{4}(x|y)$"}
        count: {type: integer, exclusiveMinimum: 10, maximum: 20, multipleOf: 4}
        mail: {type: string, format: email}
        kind: {type: string, enum: [one, two]}
        ok: {type: boolean}
        price: {type: number, minimum: 0.5}
        items: {type: array, minItems: 2, uniqueItems: true, items: {type: string}}
        next: {$ref: "#/components/schemas/Order"}
        either: {oneOf: [{type: "null"}, {type: string, format: uuid}]}
        at: {type: string, format: date-time}
        inner: {type: object, additionalProperties: false, properties: {a: {type: string, maxLength: 5}}}
`

func operation(t *testing.T, method, path string) (*apispec.API, *apispec.Operation) {
	t.Helper()
	api, err := apispec.Read([]byte(shop))
	if err != nil {
		t.Fatal(err)
	}
	for _, o := range api.Operations {
		if o.Method == method && o.Path == path {
			return api, o
		}
	}
	t.Fatalf("there is no %s %s", method, path)
	return nil, nil
}

var base = &url.URL{Scheme: "http", Host: "h", Path: "/"}

// validator returns the schema of orders by a library that was written by others.
func validator(t *testing.T, api *apispec.API) *jsonschema.Schema {
	t.Helper()
	b, err := json.Marshal(api.Root.Any())
	if err != nil {
		t.Fatal(err)
	}
	doc, err := jsonschema.UnmarshalJSON(strings.NewReader(string(b)))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	c.AssertFormat()
	if err := c.AddResource("http://h/doc.json", doc); err != nil {
		t.Fatal(err)
	}
	s, err := c.Compile("http://h/doc.json#/components/schemas/Order")
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func validate(t *testing.T, s *jsonschema.Schema, body []byte) error {
	t.Helper()
	v, err := jsonschema.UnmarshalJSON(strings.NewReader(string(body)))
	if err != nil {
		t.Fatalf("%s: %v", body, err)
	}
	return s.Validate(v)
}

func TestValid(t *testing.T) {
	api, o := operation(t, "POST", "/users/{id}/orders/{day}")
	s := validator(t, api)
	for _, optional := range []bool{false, true} {
		r, err := ValidInput(o, Options{Optional: optional, Seed: 1}).Request(base, "openapi")
		if err != nil {
			t.Fatal(err)
		}
		if err := validate(t, s, r.Body.Text); err != nil {
			t.Errorf("optional %v: %s: %v", optional, r.Body.Text, err)
		}
		want := "http://h/users/5/orders/2026-01-15?page=1"
		if optional {
			want = "http://h/users/5/orders/2026-01-15?tags=a&tags=a&flat=1&where%5Bx%5D=1&page=1"
		}
		if got := r.Address(); got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
		if got := len(r.Header); optional != (got == 1) || r.HeaderValue("Authorization") != "" {
			t.Errorf("headers %v", r.Header)
		}
		if r.Template != "/users/{id}/orders/{day}" || r.ID != "order" {
			t.Errorf("%+v", r)
		}
		if strings.Contains(string(r.Body.Text), `"id"`) {
			t.Errorf("%s has what only the server sets", r.Body.Text)
		}
		again, _ := ValidInput(o, Options{Optional: optional, Seed: 1}).Request(base, "openapi")
		other, _ := ValidInput(o, Options{Optional: optional, Seed: 2}).Request(base, "openapi")
		if string(again.Body.Text) != string(r.Body.Text) || string(other.Body.Text) == string(r.Body.Text) {
			t.Error("the same seed and another one give", string(again.Body.Text), string(other.Body.Text))
		}
		if points := r.Points(); !slices.ContainsFunc(points, func(p message.Point) bool {
			return p.Key() == "path:id" && p.Type == "integer"
		}) {
			t.Errorf("points %v", points)
		}
	}
}

func TestKnownValues(t *testing.T) {
	_, o := operation(t, "POST", "/users/{id}/orders/{day}")
	r, err := ValidInput(o, Options{Known: func(in, name string, _ *apispec.Schema) (any, bool) {
		return int64(77), in == "path" && name == "id"
	}}).Request(base, "openapi")
	if err != nil || !strings.HasPrefix(r.Path, "/users/77/") {
		t.Error(r, err)
	}
}

func TestOtherBodies(t *testing.T) {
	_, form := operation(t, "POST", "/form")
	r, err := ValidInput(form, Options{Seed: 1}).Request(base, "openapi")
	if err != nil {
		t.Fatal(err)
	}
	if got := len(r.Body.Params); got != 4 || r.Body.Params[3].File == "" || r.Types["multipart:n"] != "integer" {
		t.Errorf("%+v", r.Body.Params)
	}
	_, xml := operation(t, "PUT", "/xml")
	r, err = ValidInput(xml, Options{Seed: 1}).Request(base, "openapi")
	if text := string(r.Body.Text); err != nil || !strings.HasPrefix(text, "<Order><") ||
		!strings.Contains(text, "<count>12</count>") {
		t.Error(text, err)
	}
}

// Each violation breaks the description, and what it breaks is one thing.
func TestViolations(t *testing.T) {
	api, o := operation(t, "POST", "/users/{id}/orders/{day}")
	s := validator(t, api)
	valid := ValidInput(o, Options{Optional: true, Seed: 1})
	before := encodeJSON(valid.Body)
	seen := map[string]int{}
	for _, v := range NegativeCases(valid) {
		r, err := v.Input.Request(base, "openapi")
		if err != nil {
			t.Fatal(err)
		}
		seen[v.Kind]++
		err = validate(t, s, r.Body.Text)
		if strings.HasPrefix(v.At, "json:") && err == nil {
			t.Errorf("%s %s: %s is valid", v.At, v.Note, r.Body.Text)
		}
		if !strings.HasPrefix(v.At, "json:") && err != nil {
			t.Errorf("%s %s changes the body too: %v", v.At, v.Note, err)
		}
	}
	for _, k := range []string{"type", "required", "minimum", "maximum", "length", "enum", "format", "property"} {
		if seen[k] == 0 {
			t.Errorf("no violation of the kind %s", k)
		}
	}
	if encodeJSON(valid.Body) != before {
		t.Error("the valid input was changed")
	}
}

func TestPatterns(t *testing.T) {
	for pattern, ok := range map[string]bool{`^\d{3}-[a-f]+$`: true, `^(foo|bar)?x*y$`: true, `^[^a-z]{2,}$`: true,
		`(?=x)y`: false, `^.{5,9}$`: true, `^$`: false, `[`: false, `^(a{1000}){1000}$`: false} {
		if v, got := textMatching(pattern, -1, -1); got != ok {
			t.Errorf("%s: %q %v", pattern, v, got)
		}
	}
}

func FuzzRequests(f *testing.F) {
	f.Add([]byte(shop))
	f.Add([]byte(`{"swagger":"2.0","paths":{"/a/{b}":{"post":{"parameters":[{"in":"path","name":"b","type":"array"},{"in":"body","name":"c","schema":{"$ref":"#/definitions/D"}}]}}},"definitions":{"D":{"type":"object","required":["d"],"properties":{"d":{"$ref":"#/definitions/D"}},"allOf":[{"$ref":"#/definitions/D"}]}}}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		api, err := apispec.Read(text)
		if err != nil {
			return
		}
		for _, o := range api.Operations[:min(len(api.Operations), 20)] {
			valid := ValidInput(o, Options{Optional: true})
			if r, err := valid.Request(base, "openapi"); err == nil && r.Host != "h" {
				t.Errorf("%+v", r)
			}
			for _, v := range NegativeCases(valid)[:min(5, len(NegativeCases(valid)))] {
				_, _ = v.Input.Request(base, "openapi") // must not panic
			}
		}
	})
}

// Schemas that multiply make a value of bounded size.
func TestValuesAreBounded(t *testing.T) {
	api, err := apispec.Read([]byte(`{"openapi":"3.0.0","info":{"title":"t","version":"1"},"paths":{"/a":{"post":{"requestBody":{"required":true,"content":{"application/json":{"schema":{"$ref":"#/components/schemas/A"}}}}}}},
"components":{"schemas":{"A":{"type":"object","required":["a","b","c"],"properties":{"a":{"$ref":"#/components/schemas/A"},"b":{"type":"array","minItems":1000000000,"items":{"$ref":"#/components/schemas/A"}},"c":{"type":"string","minLength":2000000000}}}}}}`))
	if err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(ValidInput(api.Operations[0], Options{Optional: true}).Body)
	if err != nil || len(text) > 200<<10 || len(text) < 10<<10 {
		t.Errorf("%d bytes, %v", len(text), err)
	}
}

// What lasts until a time lasts longer than it has begun.
func TestEnds(t *testing.T) {
	api, err := apispec.Read([]byte(`{"openapi":"3.0.3","info":{"title":"x","version":"1"},"paths":{"/silences":{"post":{"requestBody":{"content":{"application/json":{"schema":{"type":"object","properties":{
		"startsAt":{"type":"string","format":"date-time"},"endsAt":{"type":"string","format":"date-time"},"gender":{"type":"string","format":"date"},"valid_until":{"type":"string","format":"date"},"tokenExpiresAt":{"type":"string","format":"date-time"}}}}}},"responses":{"200":{"description":"OK"}}}}}}`))
	if err != nil {
		t.Fatal(err)
	}
	body := ValidInput(api.Operations[0], Options{Optional: true}).Body.(map[string]any)
	for name, want := range map[string]string{"startsAt": "2026", "endsAt": "2036", "gender": "2026",
		"valid_until": "2036", "tokenExpiresAt": "2036"} {
		if text, _ := body[name].(string); !strings.HasPrefix(text, want) {
			t.Errorf("%s: %s", name, text)
		}
	}
}
