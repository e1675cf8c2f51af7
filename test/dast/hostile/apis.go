package hostile

import (
	"encoding/json"
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"sync"
)

// This file holds traps that lie in descriptions of APIs.

// serveDescription serves a description, and answers everything else with a small object.
// path is where the description is. text is called on the first request only: some descriptions
// have megabytes.
func serveDescription(path string, text func() string) func(*Site) http.Handler {
	return func(*Site) http.Handler {
		text := sync.OnceValue(text)
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			setSecurityHeaders(w)
			w.Header().Set("Content-Type", "application/json")
			if r.URL.Path == path {
				writeText(w, text())
				return
			}
			writeText(w, `{"id":1,"name":"thing"}`)
		})
	}
}

// openapi is the beginning of an API description.
// It has no closing brace: each description appends its paths and ends the object.
const openapi = `{"openapi":"3.0.0","info":{"title":"t","version":"1"},`

var (
	// Reasons that a scan gives for descriptions beyond its limits.
	tooLarge = regexp.MustCompile(`too large|too many|too long|has more than|read only in part`)
	deep     = regexp.MustCompile(`deep|cycl|circular|too many|too large|alias|anchor|excessive|more than \d+ values`)
)

// descriptions are targets with API descriptions that exhaust a parser: deep, cyclic or huge
// ones, and YAML alias bombs.
var descriptions = []Trap{
	// References in a circle, in parameters, responses and schemas, with required properties: an
	// example of A never ends, and minItems asks for a billion of them.
	{Name: "schemas that hold themselves", API: true, Whole: true, Descriptions: []string{"/openapi.json"},
		build: serveDescription("/openapi.json", func() string {
			return openapi + `"paths":{"/a/{id}":{"parameters":[{"$ref":"#/components/parameters/P"}],"get":{"responses":{"200":{"$ref":"#/components/responses/R"}}},"post":{"requestBody":{"content":{"application/json":{"schema":{"$ref":"#/components/schemas/A"}}}},"responses":{"200":{"description":"d","content":{"application/json":{"schema":{"$ref":"#/components/schemas/A"}}}}}}},"/b":{"$ref":"#/paths/~1b"}},
"components":{"parameters":{"P":{"$ref":"#/components/parameters/Q"},"Q":{"$ref":"#/components/parameters/P"}},"responses":{"R":{"$ref":"#/components/responses/R"}},
"schemas":{"A":{"type":"object","required":["a","b","c"],"properties":{"a":{"$ref":"#/components/schemas/A"},"b":{"type":"array","minItems":1000000000,"items":{"$ref":"#/components/schemas/B"}},"c":{"type":"string","minLength":2000000000,"pattern":"(a+)+$"}}},
"B":{"allOf":[{"$ref":"#/components/schemas/A"},{"$ref":"#/components/schemas/B"}],"oneOf":[{"$ref":"#/components/schemas/B"}]}}}}`
		})},
	// Schema n needs two of schema n+1: without sharing, an example has 2^40 values.
	{Name: "schemas that double forty times", API: true, Whole: true, Descriptions: []string{"/openapi.json"},
		build: serveDescription("/openapi.json", func() string {
			var b strings.Builder
			b.WriteString(openapi +
				`"paths":{"/a":{"post":{"requestBody":{"content":{"application/json":{"schema":{"$ref":"#/components/schemas/S0"}}}},"responses":{"200":{"description":"d"}}}}},"components":{"schemas":{`)
			for i := range 40 {
				fmt.Fprintf(&b,
					`"S%d":{"type":"object","required":["a","b"],"properties":{"a":{"$ref":"#/components/schemas/S%d"},"b":{"$ref":"#/components/schemas/S%d"}}},`, i, i+1, i+1)
			}
			return b.String() + `"S40":{"type":"string"}}}}`
		})},
	// 20,000 operations are within the limit and must be scanned; the trap below is beyond it.
	{Name: "20,000 operations", API: true, Whole: true, Descriptions: []string{"/openapi.json"},
		build: serveDescription("/openapi.json", func() string { return manyOperations(20_000) })},
	{Name: "100,000 operations", API: true, Says: tooLarge, Descriptions: []string{"/openapi.json"},
		build: serveDescription("/openapi.json", func() string { return manyOperations(100_000) })},
	// The YAML variant of the billion laughs: each anchor is a list of ten aliases of the one
	// before, 10^13 values in a file of a kilobyte.
	{Name: "aliases that multiply", API: true, Says: deep, Descriptions: []string{"/openapi.yaml"},
		build: serveDescription("/openapi.yaml", func() string {
			var b strings.Builder
			b.WriteString("openapi: 3.0.0\ninfo: {title: t, version: '1'}\na0: &a0 [x,x,x,x,x,x,x,x,x,x]\n")
			for i := range 12 {
				fmt.Fprintf(&b, "a%d: &a%d [%s]\n", i+1, i+1,
					strings.TrimSuffix(strings.Repeat(fmt.Sprintf("*a%d,", i), 10), ","))
			}
			return b.String() + "paths: {/a: {get: {responses: {'200': {description: d}}, x: *a12}}}\n"
		})},
	// A recursive parser runs out of stack, which ends a Go process and cannot be recovered from.
	{Name: "a description 1,000,000 lists deep", API: true, Says: regexp.MustCompile(`not read`),
		Descriptions: []string{"/openapi.json"}, build: serveDescription("/openapi.json", func() string {
			return openapi + `"paths":` + strings.Repeat(`{"a":`, 500_000)
		})},
	// Each type has fields of the others, so a query that selects every field never ends.
	{Name: "GraphQL, types that hold each other", API: true, Whole: true, Descriptions: []string{"/graphql"},
		build: serveGraphQL(100, 30)},
	{Name: "GraphQL, 5,000 types", API: true, Says: tooLarge, Descriptions: []string{"/graphql"},
		build: serveGraphQL(5000, 4)},
	// Each response names new addresses to follow and a next page, so that pagination has no end;
	// other responses are nested 5,000 objects deep.
	{Name: "an API that answers with itself without end", API: true, Whole: true,
		Descriptions: []string{"/openapi.json"}, build: func(*Site) http.Handler {
			text := openapi + `"paths":{"/items":{"get":{"parameters":[{"name":"cursor","in":"query","schema":{"type":"string"}}],"responses":{"200":{"description":"d"}}},"post":{"requestBody":{"content":{"application/json":{"schema":{"type":"object","properties":{"name":{"type":"string"}}}}}},"responses":{"201":{"description":"d"}}}},"/items/{id}":{"get":{"parameters":[{"name":"id","in":"path","required":true,"schema":{"type":"string"}}],"responses":{"200":{"description":"d"}}}}}}`
			return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				setSecurityHeaders(w)
				w.Header().Set("Content-Type", "application/json")
				switch {
				case r.URL.Path == "/openapi.json":
					writeText(w, text)
				case r.URL.Path == "/items":
					next := numberedWord(r.URL.RawQuery, 1)
					w.Header().Set("Link", "</items?cursor="+next+`>; rel="next"`)
					writeText(w, `{"next":"/items?cursor=`+next+`","items":[`+
						strings.Repeat(fmt.Sprintf(`{"id":%q,"self":"/items/%s"},`, next, next), 1000)+`{}]}`)
				default:
					writeText(w, strings.Repeat(`{"item":`, 5000)+`1`+strings.Repeat(`}`, 5000))
				}
			})
		}},
}

// manyOperations is a description of many operations.
// The names do not differ in a number only, so that operations are not grouped as one pattern.
func manyOperations(n int) string {
	var b strings.Builder
	b.WriteString(openapi + `"paths":{`)
	for i := range n {
		fmt.Fprintf(&b, `"/%s/{id}":{"get":{}},`, numberedWord("operation", i))
	}
	return b.String() + `"/z":{"get":{}}}}`
}

// serveGraphQL serves a schema of types each of which has fields of others.
func serveGraphQL(types, fields int) func(*Site) http.Handler {
	return func(*Site) http.Handler {
		schema := sync.OnceValue(func() string { return introspectionText(types, fields) })
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			setSecurityHeaders(w)
			w.Header().Set("Content-Type", "application/json")
			var q struct {
				Query string `json:"query"`
			}
			// The limit keeps the trap itself from reading an endless body of the scanner.
			_ = json.NewDecoder(http.MaxBytesReader(w, r.Body, 1<<20)).Decode(&q) // others get no data
			switch {
			case r.URL.Path != "/graphql":
				http.NotFound(w, r)
			case strings.Contains(q.Query, "__schema"):
				writeText(w, schema())
			default:
				writeText(w, `{"data":null,"errors":[{"message":"no"}]}`)
			}
		})
	}
}

// introspectionText returns the response to an introspection query, of types whose fields lead
// to all others.
// All object types are NON_NULL: a client that builds a query or a value cannot stop at null.
func introspectionText(types, fields int) string {
	type ref = map[string]any
	object := func(i int) ref {
		return ref{"kind": "NON_NULL", "ofType": ref{"kind": "OBJECT", "name": fmt.Sprintf("T%d", i%types)}}
	}
	args := []ref{{"name": "id", "type": ref{"kind": "SCALAR", "name": "String"}, "defaultValue": nil},
		{"name": "in", "type": ref{"kind": "INPUT_OBJECT", "name": "In"}, "defaultValue": nil}}
	list := []ref{{"kind": "SCALAR", "name": "String"},
		// The input type In requires itself, so there is no valid value of it at all.
		{"kind": "INPUT_OBJECT", "name": "In",
			"inputFields": []ref{{"name": "in",
				"type": ref{"kind": "NON_NULL", "ofType": ref{"kind": "INPUT_OBJECT", "name": "In"}}},
				{"name": "s", "type": ref{"kind": "SCALAR", "name": "String"}}}}}
	for i := range types {
		of := []ref{{"name": "s", "type": ref{"kind": "SCALAR", "name": "String"}, "args": args}}
		for k := range fields {
			of = append(of, ref{"name": fmt.Sprintf("f%d", k), "type": object(i + k + 1), "args": args})
		}
		list = append(list, ref{"kind": "OBJECT", "name": fmt.Sprintf("T%d", i), "fields": of, "interfaces": []ref{}})
	}
	text, err := json.Marshal(ref{"data": ref{"__schema": ref{"queryType": ref{"name": "T0"},
		"mutationType": ref{"name": "T1"}, "types": list, "directives": []ref{}}}})
	if err != nil {
		panic(err) // maps of texts can be written
	}
	return string(text)
}
