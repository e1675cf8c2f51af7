package lint

import (
	"context"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"merlon/internal/finding"
	"merlon/internal/scan"
	"merlon/internal/scan/scantest"
)

// The test data holds findings of every profile.
func TestAnalyzer(t *testing.T) {
	scantest.Run(t, Analyzer, func(o *scan.Options) { o.Profile = finding.AllProfile })
}

func TestRulesAreWhole(t *testing.T) {
	for _, r := range texts.All() {
		if !strings.HasPrefix(r.OWASP[0], "API") {
			t.Errorf("%s names no risk of the API Security Top 10 first: %v", r.ID, r.OWASP)
		}
	}
	for id := range same {
		texts.Get(id) // panics if there is none
	}
}

func TestSecret(t *testing.T) {
	for name, want := range map[string]bool{"token": true, "access_token": true, "appToken": true, "oauth_token": true,
		"newEmailToken": true, "reset-token": true, "secretKey": true, "consumer_secret": true,
		"tempPassword": true, "api_key": true, "client_secret": true, "callback-secret": true,
		"pageToken": false, "nextToken": false, "tokens": false, "tokenId": false, "tokensymbol": false,
		"include_token": false, "DeviceToken": false, "secretary": false, "passwordPolicy": false} {
		if got := credentialName.MatchString(name); got != want {
			t.Errorf("%s: %v", name, got)
		}
	}
}

// lint returns what the rules find in a description, as "line rule", and the reasons
// why something was not analyzed. Rules that are not named are left out.
func lint(t *testing.T, text string, rules ...string) ([]string, []scan.Reason) {
	t.Helper()
	var found []string
	var reasons []scan.Reason
	err := Analyzer.File(&scan.FilePass{Context: context.Background(), Path: "api.yaml", Size: int64(len(text)),
		ReadFile: func() ([]byte, error) { return []byte(text), nil },
		Reporter: scan.Reporter{
			Report: func(r *finding.Rule, f finding.Finding) {
				if id := path.Base(r.ID); slices.Contains(rules, id) {
					found = append(found, fmt.Sprintf("%d %s", f.Location.StartLine, id))
				}
			},
			Degrade: func(r scan.Reason) { reasons = append(reasons, r) },
		}})
	if err != nil {
		t.Fatal(err)
	}
	slices.SortStableFunc(found, func(a, b string) int {
		var x, y int
		_, _ = fmt.Sscan(a, &x) // every line begins with a number
		_, _ = fmt.Sscan(b, &y)
		return x - y
	})
	return found, reasons
}

func TestFindings(t *testing.T) {
	const head = "openapi: 3.0.0\ninfo: {title: A, version: '1'}\n"
	for _, c := range []struct {
		name, text string
		rules      []string
		want       []string
	}{
		{"values of a request", head + `paths:
  /a:
    post:
      requestBody:
        content:
          application/json:
            schema:
              type: object
              properties:
                open: {type: string}
                closed: {type: string, maxLength: 10, pattern: '^a$'}
                date: {type: string, format: date}
                bytes: {type: string, format: byte}
                file: {type: string, format: binary}
                choice: {type: string, enum: [a]}
                number: {type: integer}
                bounded: {type: integer, format: int32, minimum: 0, maximum: 9}
                list: {type: array, items: {type: string, enum: [a]}}
                short: {type: array, maxItems: 3, items: {type: string, enum: [a]}}
                shown: {type: string, readOnly: true}
      responses: {}
`, []string{"string-limit", "string-restricted", "integer-format", "integer-limit", "array-limit"},
			[]string{"12 string-limit", "12 string-restricted", "15 string-limit", "18 integer-format",
				"18 integer-limit", "20 array-limit"}},
		{"values of a response, which the server bounds, but for lists", head + `paths:
  /a:
    get:
      responses:
        '200':
          description: A
          headers: {X-A: {schema: {type: string}}}
          content:
            application/json:
              schema:
                type: object
                properties:
                  open: {type: string}
                  list: {type: array, items: {type: integer}}
`, []string{"string-limit", "string-restricted", "integer-format", "integer-limit", "array-limit"},
			[]string{"16 array-limit"}},
		{"a schema of both is checked", head + `paths:
  /a:
    get:
      responses: {'200': {description: A, content: {application/json: {schema: {$ref: '#/components/schemas/S'}}}}}
    post:
      requestBody: {content: {application/json: {schema: {$ref: '#/components/schemas/S'}}}}
      responses: {}
components:
  schemas:
    S: {type: object, properties: {next: {$ref: '#/components/schemas/S'}, open: {type: string}}}
`, []string{"string-limit"}, []string{"12 string-limit"}},
		{"authentication of operations", head + `security: [{key: []}]
paths:
  /a:
    get: {security: [], responses: {}}
    post: {security: [], responses: {}}
    put: {security: [{}, {key: []}], responses: {}}
    delete: {responses: {}}
    options: {security: [], responses: {}}
components:
  securitySchemes:
    key: {type: apiKey, in: header, name: X-Key}
`, []string{"protection-global-safe", "protection-global-unsafe", "protection-global-unsafe-strict"},
			[]string{"7 protection-global-unsafe-strict", "8 protection-global-unsafe-strict"}},
		{"no authentication at all", head + `paths:
  /a:
    get: {responses: {}}
    patch: {responses: {}}
`, []string{"protection-global-safe", "protection-global-unsafe", "protection-global-unsafe-strict"},
			[]string{"5 protection-global-safe", "6 protection-global-unsafe"}},
		{"security schemes", head + `paths: {}
components:
  securitySchemes:
    basic: {type: http, scheme: basic}
    negotiate: {type: http, scheme: negotiate}
    query: {type: apiKey, in: query, name: key}
    header: {type: apiKey, in: header, name: key}
    jwt: {type: http, scheme: bearer, bearerFormat: JWT}
    opaque: {type: http, scheme: bearer}
    oauth: {type: oauth2, flows: {}}
    careful: {type: http, scheme: bearer, bearerFormat: jwt, description: Follows RFC 8725.}
`, []string{"no-http-basic", "auth-insecure-schemes", "no-api-keys-in-url", "jwt-best-practices"},
			[]string{"6 no-http-basic", "7 auth-insecure-schemes", "8 no-api-keys-in-url", "10 jwt-best-practices",
				"12 jwt-best-practices"}},
		{"servers", head + `servers:
  - url: http://api.example.com
  - url: https://api.example.com
  - url: http://localhost:8080
  - url: http://127.0.0.1
  - url: /relative
paths:
  /a:
    servers: [{url: 'ws://api.example.com'}]
    get:
      servers: [{url: 'HTTP://api.example.com'}]
      responses: {}
`, []string{"security-hosts-https"}, []string{"4 security-hosts-https", "11 security-hosts-https",
			"13 security-hosts-https"}},
		{"schemes of OpenAPI 2", `swagger: '2.0'
info: {title: A, version: '1'}
host: api.example.com
schemes: [https, http]
paths:
  /a:
    get:
      schemes:
        - ws
        - https
      responses: {}
securityDefinitions:
  basic: {type: basic}
`, []string{"security-hosts-https", "no-http-basic"}, []string{"4 security-hosts-https", "9 security-hosts-https",
			"13 no-http-basic"}},
		{"schemes of a developer's machine", `swagger: '2.0'
info: {title: A, version: '1'}
host: localhost:8080
schemes: [http]
paths: {}
`, []string{"security-hosts-https"}, nil},
		{"parameters in the address", head + `paths:
  /users/{userId}/{id}/{slug}:
    parameters:
      - {name: userId, in: path, required: true, schema: {type: integer}}
      - {name: id, in: path, required: true, schema: {type: string, format: uuid}}
      - {name: slug, in: path, required: true, schema: {type: integer}}
      - {name: access_token, in: query, schema: {type: string}}
      - {name: page_token, in: query, schema: {type: string}}
      - {name: X-Token, in: header, schema: {type: string}}
    get: {responses: {}}
    post: {responses: {}}
`, []string{"no-numeric-ids", "no-credentials-in-url"}, []string{"6 no-numeric-ids", "9 no-credentials-in-url"}},
		{"described refusals", head + `paths:
  /all:
    get:
      parameters: [{name: q, in: query, schema: {type: string}}]
      responses: {4XX: {description: A}, 5XX: {description: B}}
  /default:
    post:
      requestBody: {content: {application/json: {schema: {type: string}}}}
      responses: {default: {description: A}}
  /none:
    get:
      parameters: [{name: q, in: query, schema: {type: string}}]
      responses: {'200': {description: A}}
  /public:
    get:
      security: []
      responses: {'200': {description: A}}
`, []string{"define-error-responses-401", "define-error-responses-429", "define-error-responses-500",
			"define-error-validation"},
			[]string{"15 define-error-responses-401", "15 define-error-responses-429", "15 define-error-responses-500",
				"15 define-error-validation", "19 define-error-responses-429", "19 define-error-responses-500"}},
		{"rate limits", head + `paths:
  /told:
    get:
      responses:
        '200': {description: A, headers: {X-RateLimit-Limit: {schema: {type: integer}}}}
        '429': {description: B, headers: {Retry-After: {schema: {type: integer}}}}
  /silent:
    get:
      responses:
        '200': {description: A}
        '429': {description: B}
  /moved:
    get:
      responses:
        '301': {description: A}
`, []string{"rate-limit", "rate-limit-retry-after"}, []string{"11 rate-limit", "13 rate-limit-retry-after"}},
	} {
		got, _ := lint(t, c.text, c.rules...)
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.name, diff)
		}
	}
}

// What is no description is left alone; what is one and cannot be read is a reason.
func TestUnreadable(t *testing.T) {
	for _, c := range []struct {
		name, text, code string
		line             int
	}{
		{"another document", "a: {openapi: 3}\n", "", 0},
		{"another version", "openapi: 4.0.0\npaths: {}\n", "", 0},
		{"malformed", "openapi: 3.0.0\npaths: [\n", "malformed", 2},
		{"parts in other files", "openapi: 3.0.0\npaths:\n  /a:\n    $ref: other.yaml#/a\n  /b:\n    $ref: b.yaml\n",
			"unavailable", 4},
	} {
		found, reasons := lint(t, c.text)
		if len(found) > 0 || (len(reasons) == 1) != (c.code != "") {
			t.Errorf("%s: findings %q, reasons %+v", c.name, found, reasons)
		}
		if len(reasons) == 1 && (reasons[0].Code != c.code || reasons[0].Line < c.line ||
			reasons[0].Path != "api.yaml") {
			t.Errorf("%s: reason %+v", c.name, reasons[0])
		}
	}
	broken := errors.New("broken disk")
	err := Analyzer.File(&scan.FilePass{Path: "a.yaml", ReadFile: func() ([]byte, error) { return nil, broken }})
	if !errors.Is(err, broken) {
		t.Errorf("the error of reading is %v", err)
	}
}

func TestNameSchema(t *testing.T) {
	for pointer, want := range map[string]string{
		"/components/schemas/User":                             `schema "User"`,
		"/definitions/a~1b":                                    `schema "a/b"`,
		"/components/schemas/User/properties/name":             `property "name"`,
		"/components/schemas/User/properties/tags/items":       `items of property "tags"`,
		"/components/schemas/User/properties/a~1b/items/items": `items of items of property "a/b"`,
		"/paths/~1a/get/parameters/0/schema":                   "a parameter",
		"/paths/~1a/get/responses/200":                         "a schema",
	} {
		if got := nameSchema(pointer); got != want {
			t.Errorf("nameSchema(%q) = %q, want %q", pointer, got, want)
		}
	}
}

func TestIdentifierName(t *testing.T) {
	for name, want := range map[string]bool{"id": true, "ID": true, "userId": true, "user_id": true, "user-ID": true,
		"userID": true, "slug": false, "idea": false, "identity": false} {
		if got := identifierName.MatchString(name); got != want {
			t.Errorf("%s: %v", name, got)
		}
	}
}
