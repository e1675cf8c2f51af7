package graphql_test

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/vektah/gqlparser/v2"
	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/gqlerror"
	"github.com/vektah/gqlparser/v2/parser"
	"github.com/vektah/gqlparser/v2/validator"
	"github.com/vektah/gqlparser/v2/validator/rules"

	"merlon/internal/engine/api/apispec"
	"merlon/internal/engine/api/graphql"
	"merlon/internal/engine/api/operations"
	"merlon/internal/engine/dast/activescan"
	"merlon/internal/engine/dast/activescan/activescantest"
	"merlon/internal/engine/dast/message"
	"merlon/internal/oast"
	"merlon/internal/scan"
	"merlon/internal/scan/scantest"
)

const schema = `
type Query {
  users: [User!]!
  me(token: String): User
  health: String
  fetch(url: String!): String
}
type User { id: ID! username: String! posts: [Post!]! }
type Post { id: ID! title: String! author: User! }
type Mutation {
  addPost(title: String!): Post
  editPost(id: ID!, title: String!): Post
  markPost(id: ID!): Post
  archivePost(id: ID!): Post
}
`

// service is a small service of GraphQL, flawed or hardened.
type service struct {
	flawed bool
	schema *ast.Schema

	mu    sync.Mutex
	posts int
}

func newService(t *testing.T, flawed bool) *service {
	t.Helper()
	s, err := gqlparser.LoadSchema(&ast.Source{Name: "schema", Input: schema})
	if err != nil {
		t.Fatal(err)
	}
	return &service{flawed: flawed, schema: s, posts: 1}
}

type resolver func(args map[string]any) (any, error)

type objectType map[string]any // values, or resolvers

func (s *service) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	switch {
	case r.URL.Path == "/" && s.flawed:
		http.SetCookie(w, &http.Cookie{Name: "env", Value: "graphiql:disable"})
		fmt.Fprint(w, "<h1>Shop</h1>")
	case r.URL.Path == "/graphiql" && r.Method == http.MethodGet && s.flawed:
		w.Header().Set("Content-Type", "text/html")
		fmt.Fprint(w, `<title>GraphiQL</title><script src="//cdn.example/graphiql@1/graphiql.min.js"></script>`)
	case r.URL.Path == "/graphiql" && s.flawed:
		if c, err := r.Cookie("env"); err != nil || c.Value != "graphiql:enable" {
			s.write(w, s.fail(errors.New("GraphiQL access rejected")))
			return
		}
		s.serve(w, r)
	case r.URL.Path == "/graphql":
		s.serve(w, r)
	default:
		http.NotFound(w, r)
	}
}

func (s *service) write(w http.ResponseWriter, v any) {
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(v)
}

func (s *service) fail(err error) map[string]any {
	if !s.flawed {
		return map[string]any{"errors": []any{map[string]any{"message": err.Error()}}}
	}
	return map[string]any{"errors": []any{map[string]any{"message": err.Error(),
		"extensions": map[string]any{"exception": map[string]any{"stack": string(debug.Stack())}}}}}
}

type question struct {
	Query     string
	Variables map[string]any
}

func (s *service) serve(w http.ResponseWriter, r *http.Request) {
	media, _, _ := strings.Cut(r.Header.Get("Content-Type"), ";")
	var q question
	switch {
	case s.flawed && r.Method == http.MethodGet:
		q.Query = r.URL.Query().Get("query")
	case s.flawed && media == "application/x-www-form-urlencoded":
		q.Query = r.FormValue("query")
	case r.Method != http.MethodPost:
		w.WriteHeader(http.StatusMethodNotAllowed)
		return
	case !s.flawed && media != "application/json":
		w.WriteHeader(http.StatusUnsupportedMediaType)
		return
	default:
		body, _ := io.ReadAll(io.LimitReader(r.Body, 1<<20))
		var batch []question
		if json.Unmarshal(body, &batch) == nil && s.flawed {
			out := []any{}
			for _, one := range batch {
				out = append(out, s.execute(r, one))
			}
			s.write(w, out)
			return
		}
		if json.Unmarshal(body, &q) != nil {
			s.write(w, s.fail(errors.New("no query")))
			return
		}
	}
	s.write(w, s.execute(r, q))
}

func (s *service) execute(r *http.Request, q question) map[string]any {
	doc, err := parser.ParseQueryWithTokenLimit(&ast.Source{Input: q.Query}, 5000)
	if err != nil || len(doc.Operations) != 1 {
		return s.fail(errors.New("the query cannot be read"))
	}
	checks := rules.NewDefaultRules()
	if s.flawed {
		checks.RemoveRule("UniqueDirectivesPerLocation")
	}
	if list := validator.ValidateWithRules(s.schema, doc, checks); len(list) > 0 {
		if s.flawed {
			return s.fail(errors.New(join(list)))
		}
		return s.fail(errors.New("the query is not valid"))
	}
	op := doc.Operations[0]
	if !s.flawed && (size(op.SelectionSet) > 30 || depth(op.SelectionSet) > 5 || len(op.SelectionSet) > 4 ||
		hidden(op.SelectionSet)) {
		return s.fail(errors.New("the query is too large"))
	}
	if strings.Join(strings.Fields(q.Query), "") == "query{health}" && s.flawed {
		return s.fail(errors.New("the query is on the deny list"))
	}
	variables, err := validator.VariableValues(s.schema, op, q.Variables)
	if err != nil {
		return s.fail(errors.New("the variables are not valid"))
	}
	root := s.query()
	if op.Operation == ast.Mutation {
		root = s.mutation(r.Header.Get("Authorization") == "Bearer good")
	}
	data, err := resolve(root, op.SelectionSet, variables)
	if err != nil {
		out := s.fail(err)
		out["data"] = nil
		return out
	}
	return map[string]any{"data": data}
}

func join(list gqlerror.List) string {
	var all []string
	for _, e := range list {
		all = append(all, e.Message)
	}
	return strings.Join(all, "; ")
}

func size(set ast.SelectionSet) int {
	n := 0
	for _, one := range set {
		n++
		if f, ok := one.(*ast.Field); ok {
			n += size(f.SelectionSet)
		}
	}
	return n
}

func depth(set ast.SelectionSet) int {
	deep := 0
	for _, one := range set {
		if f, ok := one.(*ast.Field); ok {
			deep = max(deep, 1+depth(f.SelectionSet))
		}
	}
	return deep
}

func hidden(set ast.SelectionSet) bool {
	return slices.ContainsFunc(set, func(one ast.Selection) bool {
		f, ok := one.(*ast.Field)
		return ok && (f.Name == "__schema" || f.Name == "__type")
	})
}

func resolve(from objectType, set ast.SelectionSet, variables map[string]any) (map[string]any, error) {
	out := map[string]any{}
	for _, one := range set {
		switch one := one.(type) {
		case *ast.FragmentSpread:
			more, err := resolve(from, one.Definition.SelectionSet, variables)
			if err != nil {
				return nil, err
			}
			for k, v := range more {
				out[k] = v
			}
		case *ast.Field:
			v := from[one.Name]
			if one.Name == "__typename" {
				v = one.ObjectDefinition.Name
			}
			if f, ok := v.(resolver); ok {
				var err error
				if v, err = f(one.ArgumentMap(variables)); err != nil {
					return nil, err
				}
			}
			below, err := inside(v, one.SelectionSet, variables)
			if err != nil {
				return nil, err
			}
			out[one.Alias] = below
		}
	}
	return out, nil
}

func inside(v any, set ast.SelectionSet, variables map[string]any) (any, error) {
	switch v := v.(type) {
	case objectType:
		if v == nil {
			return nil, nil
		}
		return resolve(v, set, variables)
	case []objectType:
		out := []any{}
		for _, item := range v {
			below, err := resolve(item, set, variables)
			if err != nil {
				return nil, err
			}
			out = append(out, below)
		}
		return out, nil
	}
	return v, nil
}

func user() objectType {
	return objectType{"id": "1", "username": "ann", "posts": resolver(func(map[string]any) (any, error) {
		return []objectType{post(1, "first")}, nil
	})}
}

func post(id int, title string) objectType {
	return objectType{"id": fmt.Sprint(id), "title": title, "author": resolver(func(map[string]any) (any, error) {
		return user(), nil
	})}
}

func (s *service) query() objectType {
	return objectType{
		"users":  []objectType{user()},
		"health": "good",
		"me":     resolver(s.me),
		"fetch":  resolver(s.fetch),
		"__schema": resolver(func(map[string]any) (any, error) {
			return s.introspect(), nil
		}),
	}
}

// me believes every token when flawed, and those that are signed otherwise.
func (s *service) me(args map[string]any) (any, error) {
	text, _ := args["token"].(string)
	parts := strings.Split(text, ".")
	var claims struct{ Sub string }
	if len(parts) != 3 {
		return nil, errors.New("this is no token")
	}
	if head, err := base64.RawURLEncoding.DecodeString(parts[0]); err != nil || !json.Valid(head) {
		return nil, errors.New("this is no token")
	}
	signature := hmac.New(sha256.New, []byte("a key of this test"))
	signature.Write([]byte(parts[0] + "." + parts[1]))
	if !s.flawed && base64.RawURLEncoding.EncodeToString(signature.Sum(nil)) != parts[2] {
		return nil, errors.New("this is no token")
	}
	body, _ := base64.RawURLEncoding.DecodeString(parts[1])
	if json.Unmarshal(body, &claims) != nil || claims.Sub != "ann" {
		return objectType(nil), nil
	}
	return user(), nil
}

// fetch asks for any address when flawed, and says of each alike that it may not
// otherwise.
func (s *service) fetch(args map[string]any) (any, error) {
	address, _ := args["url"].(string)
	if !s.flawed {
		return nil, errors.New("this address is not known")
	}
	host, _, _ := strings.Cut(strings.TrimPrefix(address, "http://"), "/")
	if _, err := netip.ParseAddrPort(host); err != nil { // nothing asks the machine's resolver
		return nil, &net.DNSError{Err: "no such host", Name: host, IsNotFound: true}
	}
	c, err := net.Dial("tcp", host)
	if err != nil {
		return nil, err
	}
	defer func() { _ = c.Close() }()
	fmt.Fprintf(c, "GET %s HTTP/1.0\r\n\r\n", address)
	_, _ = io.Copy(io.Discard, c)
	return "done", nil
}

func (s *service) mutation(signedIn bool) objectType {
	write := func(name string) resolver {
		return func(args map[string]any) (any, error) {
			if !signedIn && (!s.flawed || name != "archivePost") {
				return nil, errors.New("sign in first")
			}
			s.mu.Lock()
			defer s.mu.Unlock()
			s.posts++
			return post(s.posts, "new"), nil
		}
	}
	return objectType{"addPost": write("addPost"), "editPost": write("editPost"), "markPost": write("markPost"),
		"archivePost": write("archivePost")}
}

// introspect is the schema as far as clients ask for it.
func (s *service) introspect() objectType {
	var types []objectType
	for _, d := range s.schema.Types {
		var fields []objectType
		for _, f := range d.Fields {
			var args []objectType
			for _, a := range f.Arguments {
				args = append(args, objectType{"name": a.Name, "type": reference(a.Type)})
			}
			fields = append(fields, objectType{"name": f.Name, "isDeprecated": false, "args": args,
				"type": reference(f.Type)})
		}
		types = append(types, objectType{"kind": string(d.Kind), "name": d.Name, "fields": fields})
	}
	return objectType{"queryType": objectType{"name": "Query"}, "mutationType": objectType{"name": "Mutation"},
		"types": types}
}

func reference(t *ast.Type) objectType {
	switch {
	case t.NonNull:
		inner := *t
		inner.NonNull = false
		return objectType{"kind": "NON_NULL", "ofType": reference(&inner)}
	case t.Elem != nil:
		return objectType{"kind": "LIST", "ofType": reference(t.Elem)}
	}
	kind := "OBJECT"
	if t.NamedType == "String" || t.NamedType == "ID" || t.NamedType == "Boolean" {
		kind = "SCALAR"
	}
	return objectType{"kind": kind, "name": t.NamedType}
}

// listen starts a listener for what the service can be made to send.
func listen(t *testing.T) scan.OASTListener {
	l, err := oast.Listen(oast.Options{Listen: "127.0.0.1:0"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := l.Close(); err != nil {
			t.Error(err)
		}
	})
	return l.Scan()
}

// examine scans the service and returns the rules of this package that told of it, with
// the places.
func examine(t *testing.T, h http.Handler, listener scan.OASTListener, d ...scan.Description) ([]string, *scantest.Kept) {
	t.Helper()
	server := httptest.NewServer(h)
	defer server.Close()
	var dialer net.Dialer
	target := scan.Target{URL: server.URL + "/", Rate: 1e6, Descriptions: d,
		Identities: []scan.Identity{{Name: "ann", Bearer: "good"}}}
	got := &scantest.Kept{}
	o := scan.Options{Live: &scan.Live{Target: target, ID: "t", Dial: dialer.DialContext,
		BrowserReason: "none in this test", OAST: listener, OASTTimeout: 300 * time.Millisecond},
		Analyzers: []*scan.Analyzer{operations.Analyzer}}
	if err := scan.Run(t.Context(), o, got); err != nil {
		t.Fatal(err)
	}
	var lines []string
	for _, f := range got.Findings {
		if len(f.Live.Proof) == 0 || len(f.Live.Exchanges) == 0 {
			t.Errorf("%s has no proof", f.RuleID)
		}
		if strings.HasPrefix(f.RuleID, "dast/headers/") || strings.HasPrefix(f.RuleID, "dast/cookies/") {
			continue // of the service's ordinary answers
		}
		lines = append(lines, strings.TrimPrefix(f.RuleID, "api/graphql/")+" "+f.Live.Method+" "+
			strings.TrimPrefix(f.Live.URL, server.URL))
	}
	slices.Sort(lines)
	return lines, got
}

// Nothing is given: the service is found, and tells its schema.
func TestFlawed(t *testing.T) {
	for _, c := range []struct {
		name, forgery string // the flaw is told once, by the check of all parameters where somebody listens
		callback      scan.OASTListener
	}{{"listener", "dast/ssrf/request POST /graphql#Query.fetch", listen(t)}, {"none", "server-side-request POST " +
		"/graphql", nil}} {
		lines, _ := examine(t, newService(t, true), c.callback)
		want := []string{
			"aliases POST /graphql", "batching POST /graphql", "console GET /graphiql", "console-protection-bypass " +
				"POST /graphiql",
			"deny-list-bypass POST /graphql", "depth POST /graphql", "directive-overloading POST /graphql",
			"field-duplication POST /graphql",
			"field-suggestions POST /graphql", "form-content-type POST /graphql", "introspection POST /graphql",
			"mutation-over-get GET /graphql",
			"open-mutation POST /graphql#Mutation.archivePost", "stack-trace POST /graphiql",
			"stack-trace POST /graphql#Query.me", "unsigned-token POST /graphql", c.forgery,
		}
		slices.Sort(want)
		if !slices.Equal(lines, want) {
			t.Errorf("%s: found:\n\t%s\nwant:\n\t%s", c.name, strings.Join(lines, "\n\t"), strings.Join(want, "\n\t"))
		}
	}
}

func TestHardened(t *testing.T) {
	lines, got := examine(t, newService(t, false), listen(t), scan.Description{Name: "schema.graphql", Text: schema})
	if len(lines) != 0 {
		t.Errorf("found:\n\t%s", strings.Join(lines, "\n\t"))
	}
	if len(got.Operations) != 8 {
		t.Errorf("%d operations", len(got.Operations))
	}
}

// A query that takes long does so again, alone; one that is late by chance does not.
func TestCost(t *testing.T) {
	late := map[string]int{}
	h := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		if strings.Contains(string(body), "report") {
			time.Sleep(5100 * time.Millisecond)
		}
		fmt.Fprint(w, `{"data":{"__typename":"Query"}}`)
	})
	for _, field := range []string{"report", "busy"} {
		var run *activescan.Engine
		var checks []*activescan.Rule
		for _, c := range graphql.Checks(func() []*graphql.Endpoint {
			at, err := message.FromURL(run.Scope.Base())
			if err != nil {
				t.Error(err)
			}
			at.Method = http.MethodPost
			asked := at.Clone()
			asked.Body = message.Body{Kind: message.JSON, Text: []byte(`{"query":"{ ` + field + ` }"}`)}
			return []*graphql.Endpoint{{At: at, Operations: []*graphql.Operation{{
				Operation: &apispec.Operation{Call: &apispec.GraphQLCall{Kind: "query", Field: field, Text: "{ " +
					field +
					" }"}}, Request: asked, Late: true}}}}
		}) {
			if c.Slow {
				checks = append(checks, c)
			}
		}
		got := activescantest.Timed(t, h, checks, nil, func(r *activescan.Engine) { run = r })
		late[field] = len(got.Findings)
	}
	if late["report"] != 1 || late["busy"] != 0 {
		t.Errorf("found %v", late)
	}
}
