package requestgen_test

import (
	"net/url"
	"reflect"
	"testing"

	"merlon/internal/engine/api/apispec"
	"merlon/internal/engine/api/requestgen"
)

// TestChoices notes the other values of parameters of which the description lists all.
func TestChoices(t *testing.T) {
	api, err := apispec.Read([]byte(`openapi: 3.0.3
info: {title: T, version: "1"}
paths:
  /reports:
    post:
      parameters: [{in: query, name: way, schema: {type: string, enum: [shown, mailed]}}, {in: query, name: text, schema: {type: string}}]
      requestBody: {content: {application/json: {schema: {type: object, properties: {form: {type: object, properties: {kind: {type: string, enum: [a, b, c]}}}}}}}}
      responses: {"200": {description: OK}}
`))
	if err != nil {
		t.Fatal(err)
	}
	base, err := url.Parse("http://site.example/")
	if err != nil {
		t.Fatal(err)
	}
	r, err := requestgen.ValidInput(api.Operations[0], requestgen.Options{Optional: true}).Request(base, "openapi")
	if err != nil {
		t.Fatal(err)
	}
	want := map[string][]string{"query:way": {"mailed"}, "json:/form/kind": {"b", "c"}}
	if !reflect.DeepEqual(r.Choices, want) {
		t.Errorf("got %q, want %q", r.Choices, want)
	}
}
