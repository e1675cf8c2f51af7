package apispec

import (
	"fmt"
	"net/url"
	"slices"
	"strings"
	"testing"

	"merlon/internal/document"
)

func read(t *testing.T, text string) *API {
	t.Helper()
	api, err := Read([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return api
}

func one(t *testing.T, api *API, method, path string) *Operation {
	t.Helper()
	for _, o := range api.Operations {
		if o.Method == method && o.Path == path {
			return o
		}
	}
	var have []string
	for _, o := range api.Operations {
		have = append(have, o.Method+" "+o.Path)
	}
	t.Fatalf("there is no %s %s in %q", method, path, have)
	return nil
}

// names lists the parameters as "in:name", the required ones with a mark.
func names(o *Operation) string {
	var out []string
	for _, p := range o.Parameters {
		name := p.In + ":" + p.Name
		if p.Required {
			name += "!"
		}
		out = append(out, name)
	}
	return strings.Join(out, " ")
}

func faults(api *API) string {
	var out []string
	for _, f := range api.Defects {
		out = append(out, fmt.Sprintf("%d: %s", f.Line, f.Message))
	}
	return strings.Join(out, "\n")
}

const openapi3 = `openapi: 3.0.3
info: {title: Shop, version: "1"}
servers:
  - url: https://{region}.example.org/api/v1/
    variables: {region: {default: eu}}
security: [{bearer: []}]
paths:
  /users/{id}:
    parameters:
      - {in: path, name: id, required: true, schema: {type: integer, format: int64, minimum: 1}}
    get:
      operationId: getUser
      tags: [users]
      parameters:
        - $ref: '#/components/parameters/Fields'
      responses:
        200:
          description: OK
          content: {application/json: {schema: {$ref: '#/components/schemas/User'}}}
          links: {orders: {operationId: listOrders, parameters: {user: '$response.body#/id'}}}
        4XX: {description: bad}
    put:
      security: []
      requestBody: {$ref: '#/components/requestBodies/User'}
      responses: {default: {description: any}}
  /orders:
    servers: [{url: /other}]
    get:
      operationId: listOrders
      security: [{}, {bearer: [read]}]
      parameters: [{in: query, name: user, schema: {type: integer}}]
components:
  parameters:
    Fields: {in: query, name: fields, explode: false, schema: {type: array, items: {type: string, enum: [id, name]}}}
  requestBodies:
    User:
      required: true
      content: {"application/json; charset=utf-8": {schema: {$ref: '#/components/schemas/User'}, example: {name: Ann}}}
  schemas:
    User:
      type: object
      required: [name]
      properties:
        id: {type: integer, readOnly: true}
        name: {type: string, maxLength: 20}
        friends: {type: array, items: {$ref: '#/components/schemas/User'}}
  securitySchemes:
    bearer: {type: http, scheme: Bearer}
`

func TestOpenAPI3(t *testing.T) {
	api := read(t, openapi3)
	if f := faults(api); f != "" {
		t.Error("faults:", f)
	}
	get := one(t, api, "GET", "/users/{id}")
	if got := names(get); got != "query:fields path:id!" {
		t.Error("parameters:", got)
	}
	if get.Line != 11 || get.ID != "getUser" || get.Pointer != "/paths/~1users~1{id}/get" {
		t.Errorf("operation: %+v", get)
	}
	if get.Server != "https://eu.example.org/api/v1/" || !get.RequiresAuthentication() {
		t.Errorf("server %s, security %v", get.Server, get.Security)
	}
	user := get.Responses[0].Bodies[0].Schema
	if user.Name != "User" || user.Property("friends").Items != user {
		t.Errorf("the schema does not hold itself: %+v", user)
	}
	if l := get.Links[0]; l.Operation != "listOrders" || l.Parameters["user"] != "$response.body#/id" {
		t.Errorf("link: %+v", l)
	}
	put := one(t, api, "PUT", "/users/{id}")
	if put.RequiresAuthentication() || len(put.Security) != 0 || !put.BodyRequired ||
		put.Bodies[0].Type != "application/json" ||
		put.Bodies[0].Schema != user {
		t.Errorf("put: %+v", put)
	}
	orders := one(t, api, "GET", "/orders")
	if orders.RequiresAuthentication() || orders.Server != "/other" {
		t.Errorf("orders: %+v", orders)
	}
	if s := api.SecuritySchemes["bearer"]; s.Type != "http" || s.Scheme != "bearer" {
		t.Errorf("scheme: %+v", s)
	}
}

func TestAddress(t *testing.T) {
	for _, c := range []struct{ base, server, want string }{
		{"http://h:1", "https://prod.example/api/v1/", "http://h:1/api/v1/x"},
		{"http://h/", "", "http://h/x"},
		{"http://h/api", "https://prod.example/api/v1", "http://h/api/v1/x"},
		{"http://h/gw", "/api", "http://h/gw/x"},
		{"http://h/api/v1/", "/", "http://h/api/v1/x"},
		{"http://h", "//prod/v2", "http://h/v2/x"},
		{"http://h", "../v2", "http://h/v2/x"},
		{"http://h", "%zz", "http://h/x"},
	} {
		base, err := url.Parse(c.base)
		if err != nil {
			t.Fatal(err)
		}
		if got := (&Operation{Server: c.server, Path: "/x"}).Address(base); got != c.want {
			t.Errorf("%s with %s: got %s, want %s", c.base, c.server, got, c.want)
		}
	}
}

func TestSwagger(t *testing.T) {
	api := read(t, `{"swagger": "2.0", "info": {"title": "x"}, "host": "h.example", "basePath": "/v1", "schemes": ["https"],
 "consumes": ["application/json"], "securityDefinitions": {"b": {"type": "basic"}},
 "paths": {"/pets/{id}": {"post": {"parameters": [
   {"in": "path", "name": "id", "required": true, "type": "integer", "maximum": 10},
   {"in": "body", "name": "body", "required": true, "schema": {"$ref": "#/definitions/Pet"}}],
   "responses": {"201": {"description": "", "schema": {"$ref": "#/definitions/Pet"}}}}},
  "/upload": {"post": {"consumes": ["multipart/form-data"], "parameters": [
   {"in": "formData", "name": "file", "type": "file", "required": true}, {"in": "formData", "name": "note", "type": "string"}]}}},
 "definitions": {"Pet": {"type": "object", "properties": {"name": {"type": "string"}}}}}`)
	o := one(t, api, "POST", "/pets/{id}")
	if o.Server != "https://h.example/v1" || len(o.Bodies) != 1 || o.Bodies[0].Schema.Property("name") == nil ||
		!o.BodyRequired {
		t.Errorf("%+v", o)
	}
	if p := o.Parameters[0]; *p.Schema.Maximum != 10 || !p.Schema.Is("integer") {
		t.Errorf("%+v", p.Schema)
	}
	if len(o.Responses) != 1 || o.Responses[0].Bodies[0].Schema.Name != "Pet" {
		t.Errorf("%+v", o.Responses)
	}
	up := one(t, api, "POST", "/upload")
	if m := up.Bodies[0]; m.Type != "multipart/form-data" || m.Schema.Property("file").Format != "binary" ||
		!slices.Equal(m.Schema.Required, []string{"file"}) {
		t.Errorf("%+v", up.Bodies[0])
	}
	if s := api.SecuritySchemes["b"]; s.Type != "http" || s.Scheme != "basic" {
		t.Errorf("%+v", s)
	}
	if f := faults(api); f != "" {
		t.Error(f)
	}
}

// One bad part must not take the rest of the document with it.
func TestBrokenParts(t *testing.T) {
	api := read(t, `openapi: 3.1.0
paths:
  /a/{x}:
    get:
      parameters:
        - {in: query}
        - {in: query, name: q, schema: {type: strin, $ref: 7}}
        - {$ref: 'other.yaml#/x'}
        - {$ref: '#/nowhere'}
      responses:
        200: {content: {application/json: {schema: {$ref: '#/components/schemas/Loop'}}}}
    post: nonsense
  /b: [1]
  /c:
    $ref: '#/paths/~1c'
  /d:
    delete:
      requestBody: {content: {application/json: {schema: {type: object, required: true, properties: {p: {type: string, required: true}}}}}}
components:
  schemas:
    Loop: {$ref: '#/components/schemas/Pool'}
    Pool: {$ref: '#/components/schemas/Loop'}
`)
	if len(api.Operations) != 2 {
		t.Fatalf("%d operations", len(api.Operations))
	}
	if got := names(one(t, api, "GET", "/a/{x}")); got != "query:q path:x!" {
		t.Error(got)
	}
	body := one(t, api, "DELETE", "/d").Bodies[0].Schema
	if !slices.Equal(body.Required, []string{"p"}) {
		t.Errorf("%+v", body)
	}
	for _, want := range []string{
		"6: a parameter without a name", `7: "strin" is no type`,
		`8: the reference "other.yaml#/x" leads out of the document`,
		"9: the reference \"#/nowhere\" leads nowhere", "the path has {x}", "12: an operation is expected to be a map",
		"13: a path is expected to be a map",
		"the reference leads in a circle", "18: required is a list",
	} {
		if !strings.Contains(faults(api), want) {
			t.Errorf("no fault %q in\n%s", want, faults(api))
		}
	}
}

func TestPostman(t *testing.T) {
	api := read(t, `{"info": {"name": "Shop", "schema": "https://schema.getpostman.com/json/collection/v2.1.0/collection.json"},
 "variable": [{"key": "base", "value": "https://{{host}}/api"}, {"key": "host", "value": "shop.example"}],
 "auth": {"type": "bearer", "bearer": [{"key": "token", "value": "{{token}}"}]},
 "item": [{"name": "Users", "item": [
   {"name": "One user", "request": {"method": "GET", "header": [{"key": "X-Tenant", "value": "t1"}], "url": {"raw": "{{base}}/users/:id?full=true&x={{y}}",
     "variable": [{"key": "id", "value": "7"}]}},
    "response": [{"code": 200, "body": "{\"id\": 7, \"name\": \"Ann\"}"}]},
   {"name": "Her order", "request": {"method": "GET", "url": "{{base}}/users/7/orders/11"}},
   {"name": "New user", "request": {"method": "POST", "auth": {"type": "noauth"}, "url": "{{base}}/users",
     "body": {"mode": "raw", "raw": "{\"name\": \"Ann\", \"age\": {{age}}}"}}},
   {"name": "Sign in", "request": {"method": "POST", "url": {"host": ["{{unknown}}"], "path": ["login", "{{realm}}"]},
     "body": {"mode": "urlencoded", "urlencoded": [{"key": "user", "value": "ann"}, {"key": "old", "disabled": true}]}}}]},
  {"name": "empty"}]}`)
	if api.Version != "2.1" {
		t.Error(api.Version)
	}
	get := one(t, api, "GET", "/api/users/{id}")
	if got := names(get); got != "path:id! query:full query:x header:X-Tenant" || get.Server != "https://shop.example" {
		t.Error(got, get.Server)
	}
	if get.Parameters[0].Example != "7" || get.Parameters[2].Example != nil || !get.RequiresAuthentication() ||
		get.Tags[0] != "Users" {
		t.Errorf("%+v", get)
	}
	sent := one(t, api, "GET", "/api/users/{userId}/orders/{orderId}") // what names one of many may be another one
	if got := names(sent); got != "path:userId! path:orderId!" || sent.Parameters[1].Example != "11" {
		t.Errorf("%s %+v", got, sent.Parameters)
	}
	if s := get.Responses[0].Bodies[0].Schema.Property("id"); !s.Is("integer") {
		t.Errorf("%+v", s)
	}
	post := one(t, api, "POST", "/api/users")
	if post.RequiresAuthentication() || !post.Bodies[0].Schema.Property("age").Is("integer") ||
		post.Bodies[0].Type != "application/json" {
		t.Errorf("%+v", post)
	}
	login := one(t, api, "POST", "/login/{realm}")
	if login.Server != "" || len(login.Bodies[0].Schema.Properties) != 1 {
		t.Errorf("%+v", login)
	}
	if got := faults(api); !strings.Contains(got, "an item without a request") {
		t.Error(got)
	}
}

func TestHAR(t *testing.T) {
	entry := func(method, address, status, mime, extra string) string {
		return fmt.Sprintf(`{"request": {"method": %q, "url": %q%s}, "response": {"status": %s, "content": {"mimeType": %q, "text": "{\"id\": 1}"}}}`, method, address, extra, status, mime)
	}
	api := read(t, `{"log": {"version": "1.2", "entries": [`+strings.Join([]string{
		entry("GET", "https://h/api/users/17?full=1", "200", "application/json",
			`, "headers": [{"name": "User-Agent", "value": "x"}, {"name": "X-App", "value": "1"}]`),
		entry("GET", "https://h/api/users/18?full=0", "404", "application/json", ""),
		entry("GET", "https://h/logo.png", "200", "image/png", ""),
		entry("POST", "https://h/api/users", "201", "application/json",
			`, "postData": {"mimeType": "application/json;charset=UTF-8", "text": "{\"name\": \"Ann\"}"}`),
		entry("POST", "https://h/login", "302", "text/html",
			`, "postData": {"mimeType": "application/x-www-form-urlencoded", "text": "u=a&p=b"}`),
		`{"request": {}}`,
	}, ",")+`]}}`)
	if len(api.Operations) != 3 {
		t.Fatalf("%d operations", len(api.Operations))
	}
	get := one(t, api, "GET", "/api/users/{userId}")
	if got := names(get); got != "path:userId! query:full header:X-App" || len(get.Responses) != 2 ||
		get.Parameters[0].Example != "17" {
		t.Error(got, len(get.Responses))
	}
	if m := one(t, api, "POST", "/api/users").Bodies[0]; m.Type != "application/json" ||
		m.Schema.Property("name") == nil {
		t.Errorf("%+v", m)
	}
	if m := one(t, api, "POST", "/login").Bodies[0]; m.Schema.Property("p") == nil {
		t.Errorf("%+v", m)
	}
}

const sdl = `"""A shop"""
type Query {
  user(id: ID!, deep: Boolean = false): User
  search(filter: Filter): [User!]!
}
type Mutation { rename(id: ID!, to: String!, kind: Kind): User }
type User { id: ID! name: String friends(first: Int!): [User] best: User kind: Kind created: DateTime }
input Filter { text: String! kind: Kind and: [Filter!] }
enum Kind { A B }
scalar DateTime
`

func checkGraph(t *testing.T, api *API) {
	t.Helper()
	if len(api.Operations) != 3 {
		t.Fatalf("%d operations: %s", len(api.Operations), faults(api))
	}
	user := api.Operations[0]
	if user.ID != "Query.user" || user.Call.Kind != "query" || user.Line == 0 {
		t.Errorf("%+v", user)
	}
	want := "query($id: ID!, $deep: Boolean) { user(id: $id, deep: $deep) { id name best { id name best { id name " +
		"kind created } kind created } kind created } }"
	if user.Call.Text != want {
		t.Errorf("got  %s\nwant %s", user.Call.Text, want)
	}
	variables := user.Bodies[0].Schema.Property("variables")
	if !slices.Equal(variables.Required, []string{"id"}) || !variables.Property("deep").Nullable {
		t.Errorf("%+v", variables)
	}
	filter := api.Operations[1].Bodies[0].Schema.Property("variables").Property("filter").AllOf[0]
	if filter.Property("and").Items != filter || !slices.Equal(filter.Required, []string{"text"}) ||
		!filter.Property("kind").AllOf[0].Is("string") {
		t.Errorf("%+v", filter)
	}
}

func TestGraphQL(t *testing.T) {
	checkGraph(t, read(t, sdl))
	broken := read(t, sdl+"type Broken { x: }\ntype Fine { y: Int }\n")
	checkGraph(t, broken)
	if got := faults(broken); !strings.Contains(got, "12: a definition cannot be read") &&
		!strings.Contains(got, "11: a definition cannot be read") {
		t.Error(got)
	}
}

// The same schema as the answer to an introspection.
func TestIntrospection(t *testing.T) {
	named := func(kind, name string) string { return fmt.Sprintf(`{"kind": %q, "name": %q}`, kind, name) }
	must := func(t string) string { return `{"kind": "NON_NULL", "ofType": ` + t + `}` }
	list := func(t string) string { return `{"kind": "LIST", "ofType": ` + t + `}` }
	field := func(name, typ string, args ...string) string {
		return fmt.Sprintf(`{"name": %q, "type": %s, "args": [%s]}`, name, typ, strings.Join(args, ","))
	}
	arg := func(name, typ, preset string) string {
		return fmt.Sprintf(`{"name": %q, "type": %s, "defaultValue": %s}`, name, typ, preset)
	}
	id, str, user := named("SCALAR", "ID"), named("SCALAR", "String"), named("OBJECT", "User")
	kind := named("ENUM", "Kind")
	text := `{"data": {"__schema": {"queryType": {"name": "Query"}, "mutationType": {"name": "Mutation"}, "types": [
{"kind": "OBJECT", "name": "Query", "fields": [` + field("user", user, arg("id", must(id), "null"), arg("deep", named("SCALAR", "Boolean"), `"false"`)) + "," +
		field("search", must(list(must(user))), arg("filter", named("INPUT_OBJECT", "Filter"), "null")) + `]},
{"kind": "OBJECT", "name": "Mutation", "fields": [` + field("rename", user, arg("id", must(id), "null")) + `]},
{"kind": "OBJECT", "name": "User", "fields": [` + strings.Join([]string{field("id", must(id)), field("name", str), field("friends", list(user), arg("first", must(named("SCALAR", "Int")), "null")),
		field("best", user), field("kind", kind), field("created", named("SCALAR", "DateTime"))}, ",") + `]},
{"kind": "INPUT_OBJECT", "name": "Filter", "inputFields": [` + strings.Join([]string{arg("text", must(str), "null"), arg("kind", kind, "null"), arg("and", list(must(named("INPUT_OBJECT", "Filter"))), "null")}, ",") + `]},
{"kind": "ENUM", "name": "Kind", "enumValues": [{"name": "A"}, {"name": "B"}]}, {"name": "nothing"}]}}}`
	checkGraph(t, read(t, text))
}

func TestNoDescription(t *testing.T) {
	for _, text := range []string{"", "{}", "hello", "a: b", `{"openapi": "3.0.0"}`, "type: x\n",
		"kind: Service\ntype: y {", strings.Repeat("[", 1000)} {
		if api, err := Read([]byte(text)); err == nil {
			t.Errorf("%.40q was read as %s", text, api.Format)
		}
	}
}

// big is a description of many operations.
func big(n int) string {
	var b strings.Builder
	b.WriteString("openapi: 3.0.0\ninfo: {title: x}\npaths:\n")
	for i := range n {
		fmt.Fprintf(&b, "  /a/b%d/{id}:\n    post:\n      operationId: op%d\n      parameters:\n        - in: path\n "+
			"         name: id\n          required: true\n          schema:\n            type: string\n        - in: "+
			"query\n          name: q\n          schema:\n            type: integer\n            minimum: 1\n      "+
			"requestBody:\n        content:\n          application/json:\n            schema:\n              $ref: "+
			"'#/components/schemas/S%d'\n      responses:\n        '200':\n          description: OK\n", i, i, i)
	}
	b.WriteString("components:\n  schemas:\n")
	for i := range n {
		fmt.Fprintf(&b, "    S%d:\n      type: object\n      properties:\n        a:\n          type: string\n       "+
			" next:\n          $ref: '#/components/schemas/S%d'\n", i, (i+1)%n)
	}
	return b.String()
}

func TestChainOfSchemas(t *testing.T) {
	api := read(t, big(3000))
	if len(api.Operations) != 3000 || len(api.Defects) != 0 {
		t.Fatalf("%d operations, faults %s", len(api.Operations), faults(api))
	}
	s := api.Operations[0].Bodies[0].Schema
	for range 3000 {
		s = s.Property("next")
	}
	if s != api.Operations[0].Bodies[0].Schema {
		t.Error("the circle of schemas does not close")
	}
}

func BenchmarkRead(b *testing.B) {
	text := []byte(big(2740))
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		if _, err := Read(text); err != nil {
			b.Fatal(err)
		}
	}
}

func fuzz(f *testing.F, seeds ...string) {
	for _, s := range seeds {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		api, err := Read(text)
		if err != nil {
			return
		}
		base := &url.URL{Scheme: "http", Host: "h", Path: "/x"}
		for _, o := range api.Operations {
			if o.Method == "" || o.Call == nil && !strings.HasPrefix(o.Path, "/") ||
				!strings.HasPrefix(o.Address(base), "http://h/") && o.Path != "" {
				t.Errorf("operation %+v at %s", o, o.Address(base))
			}
			for _, p := range o.Parameters {
				if p.Schema == nil {
					t.Errorf("parameter %+v has no schema", p)
				}
			}
		}
	})
}

func FuzzOpenAPI(f *testing.F) { fuzz(f, openapi3, `{"swagger":"2.0","paths":{"/a":{"get":{}}}}`) }
func FuzzPostman(f *testing.F) {
	fuzz(f, `{"info":{},"item":[{"request":{"method":"GET","url":{"raw":"{{a}}/:b?c=d","host":["x"],"path":["y"]},"body":{"mode":"raw","raw":"{}"}}}]}`)
}
func FuzzHAR(f *testing.F) {
	fuzz(f, `{"log":{"entries":[{"request":{"method":"POST","url":"http://h/1","postData":{"mimeType":"text/json","text":"{}"}},"response":{"status":200}}]}}`)
}
func FuzzGraphQL(f *testing.F) {
	fuzz(f, sdl, `{"__schema":{"queryType":{"name":"Q"},"types":[{"kind":"OBJECT","name":"Q","fields":[{"name":"a","type":{"kind":"SCALAR","name":"Int"}}]}]}}`)
}

func TestFormat(t *testing.T) {
	n, err := document.ParseFirst([]byte("swagger: '2.0'\ninfo: {}"), Limits)
	if err != nil || Detect(n) != OpenAPI2 {
		t.Error(err, Detect(n))
	}
}
