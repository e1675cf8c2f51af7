package graphql

import (
	"testing"

	"merlon/internal/engine/api/apispec"
	"merlon/internal/engine/dast/message"
)

// What a service answers and what a description says may be anything.
func FuzzRead(f *testing.F) {
	f.Add([]byte(`{"data":{"a":{"username":"ann","posts":[{"email":"x"}]}}}`), "query($url: String) { a(url: $url) "+
		"{ b } }")
	f.Add([]byte(`[{"data":{"q0":1}}]`), "{ a }")
	f.Add([]byte(`{"errors":[{"message":"Did you mean \"a\"?","extensions":{"stack":["at f (x.js:1:2)"]}}]}`),
		"mutation { a { ...B } } fragment B on T { c }")
	f.Fuzz(func(t *testing.T, body []byte, text string) {
		resp := &message.Response{Status: 200, Body: body}
		got := readResponse(resp)
		if got.isClean() && got.errorText() != "" {
			t.Errorf("clean with errors: %q", got.errorText())
		}
		if countBatchResults(resp) > 0 && got != nil {
			t.Error("a batch is read as one answer")
		}
		if findInternals(resp) != "" && len(got.Errors) == 0 {
			t.Error("internals without errors")
		}
		o := &Operation{Operation: &apispec.Operation{Call: &apispec.GraphQLCall{Kind: "query", Field: "a",
			Text: text}},
			Answer:  resp,
			Request: &message.Request{Body: message.Body{Kind: message.JSON, Text: body}}}
		if n := len((&asker{Endpoint: &Endpoint{Operations: []*Operation{o}}}).userNames()); n > maxUsers {
			t.Errorf("%d users", n)
		}
		_ = o.sentVariables()
		if doc, field := o.rootField(); field != nil && writeDocument(doc) == "" {
			t.Error("a query that was read is written as nothing")
		}
	})
}
