package module

import (
	"context"
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/open-policy-agent/opa/v1/ast"
	"github.com/open-policy-agent/opa/v1/storage/inmem"
	"github.com/open-policy-agent/opa/v1/topdown"
)

const library = `package generic.common
import data.generic.common as this

valid(x) = true { x != null } else = false { true }
names[n] { n := ["a", "b"][_] }
pick(list, i) = v { v := list[i] }
default high = 0
high = n { n := input.n; n > 2 }
`

// policy has what rules are made of: functions of another module, comprehensions of each
// kind, objects, sets, negation, "some", "with", "every", and chains of "else".
const policy = `package Cx
import data.generic.common as lib
import future.keywords.every

CxPolicy[result] {
	some i
	d := input.document[i]
	lib.valid(d.name)
	not d.hidden
	lengths := [n | n := count(d.tags[_])]
	kinds := {k | some k; d.tags[k]}
	byName := {x: y | some y; x := d.tags[y]}
	lib.names[d.kind]
	every t in d.tags { t != "" }
	high := lib.high with input.n as 7
	result := {
		"documentId": d.id, "key": sprintf("%s=%d", [d.name, sum(lengths)]), "kinds": kinds, "byName": byName,
		"grade": grade(d), "set": {1, "two", [3.5, null, true]}, "n": lib.pick([d.id, "x"], 1), "high": high,
	}
}

grade(d) = "high" { d.level > 3 } else = "low" { d.level > 1 } else = "none" { not d.level > 1 }

CxPolicy[result] { walk(input.document[0], [path, value]); value == "deep"; result := {"path": path} }
`

const input = `{"document": [
	{"id": "0", "name": "x", "kind": "a", "level": 4, "tags": ["t", "uu"], "below": {"x": ["deep"]}},
	{"id": "1", "name": "y", "kind": "b", "level": 0, "tags": ["v"]},
	{"id": "2", "name": "z", "kind": "b", "hidden": true, "tags": []}]}`

// parsed are the modules as they are written.
func parsed(t testing.TB) map[string]*ast.Module {
	t.Helper()
	out := map[string]*ast.Module{}
	for name, text := range map[string]string{"common": library, "query": policy} {
		m, err := Parse(name, text)
		if err != nil {
			t.Fatal(err)
		}
		out[name] = m
	}
	out["query"].Package.Path = QueryPackage(7)
	return out
}

// written are the tables and rules of compiled modules.
func written(t testing.TB, modules map[string]*ast.Module) (tables []byte, rules map[string][][]byte) {
	t.Helper()
	var all []*ast.Rule
	for _, name := range []string{"common", "query"} {
		all = append(all, modules[name].Rules...)
	}
	w := NewWriter(all)
	rules = map[string][][]byte{}
	for _, name := range []string{"common", "query"} {
		for _, r := range modules[name].Rules {
			b, err := w.Rule(r)
			if err != nil {
				t.Fatal(err)
			}
			rules[name] = append(rules[name], b)
		}
	}
	return w.Tables(), rules
}

// evaluate asks for all results of the policy.
func evaluate(t *testing.T, c *ast.Compiler) string {
	t.Helper()
	value, err := ast.ValueFromReader(strings.NewReader(input))
	if err != nil {
		t.Fatal(err)
	}
	ctx := context.Background()
	store := inmem.New()
	txn, err := store.NewTransaction(ctx)
	if err != nil {
		t.Fatal(err)
	}
	defer store.Abort(ctx, txn)
	question := ast.NewBody(ast.Equality.Expr(ast.VarTerm("all"),
		ast.NewTerm(append(QueryPackage(7), ast.StringTerm("CxPolicy")))))
	found, err := topdown.NewQuery(question).WithCompiler(c).WithStore(store).WithTransaction(txn).WithInput(ast.NewTerm(value)).Run(ctx)
	if err != nil {
		t.Fatal(err)
	}
	if len(found) != 1 {
		t.Fatalf("%d answers", len(found))
	}
	return found[0]["all"].String()
}

func TestAsCompiled(t *testing.T) {
	source := parsed(t)
	whole := ast.NewCompiler().WithDefaultRegoVersion(Language).WithCapabilities(Capabilities())
	if whole.Compile(source); whole.Failed() {
		t.Fatal(whole.Errors)
	}
	want := evaluate(t, whole)
	if n := strings.Count(want, "documentId"); n != 2 || !strings.Contains(want, `"path": ["below", "x", 0]`) ||
		!strings.Contains(want, `"high": 7`) {
		t.Fatalf("the policy itself: %s", want)
	}
	compiled, err := Compile(source)
	if err != nil {
		t.Fatal(err)
	}
	tables, rules := written(t, compiled)
	read, rest, err := ReadTables(tables)
	if err != nil || len(rest) > 0 {
		t.Fatalf("%v, %d bytes are left", err, len(rest))
	}
	r := NewReader(read)
	var modules []*ast.Module
	for _, name := range []string{"common", "query"} {
		m := &ast.Module{Package: &ast.Package{Path: source[name].Package.Path}}
		ast.SetModuleRegoVersion(m, Language) // texts depend on it
		for i, b := range rules[name] {
			rule, err := r.Rule(b, m, name)
			if err != nil {
				t.Fatal(err)
			}
			if original := compiled[name].Rules[i]; numbered(rule) != numbered(original) {
				t.Errorf("%s\nis read as\n%s", original, rule)
			}
			if rule.Location.File != name || rule.Location.Row != compiled[name].Rules[i].Location.Row {
				t.Errorf("a rule of %s is at %s", name, rule.Location)
			}
			m.Rules = append(m.Rules, rule)
		}
		modules = append(modules, m)
	}
	for range 2 { // rules may be linked again
		c, err := Link(modules)
		if err != nil {
			t.Fatal(err)
		}
		if got := evaluate(t, c); got != want {
			t.Errorf("after reading\n%s\nwant\n%s", got, want)
		}
	}
}

var local = regexp.MustCompile(`__local\d+__`)

// numbered is the text of a rule with the compiler's variables numbered in the order in
// which they stand there.
func numbered(r *ast.Rule) string {
	seen := map[string]string{}
	return local.ReplaceAllStringFunc(r.String(), func(name string) string {
		if seen[name] == "" {
			seen[name] = fmt.Sprintf("local%d", len(seen))
		}
		return seen[name]
	})
}

// What several rules say alike is one term.
func TestShared(t *testing.T) {
	compiled, err := Compile(parsed(t))
	if err != nil {
		t.Fatal(err)
	}
	tables, rules := written(t, compiled)
	read, _, err := ReadTables(tables)
	if err != nil {
		t.Fatal(err)
	}
	r := NewReader(read)
	operators := map[string]map[*ast.Term]bool{}
	for _, b := range rules["query"] {
		rule, err := r.Rule(b, &ast.Module{Package: &ast.Package{Path: QueryPackage(1)}}, "query")
		if err != nil {
			t.Fatal(err)
		}
		ast.WalkExprs(rule, func(e *ast.Expr) bool {
			if terms, ok := e.Terms.([]*ast.Term); ok {
				name := terms[0].String()
				if operators[name] == nil {
					operators[name] = map[*ast.Term]bool{}
				}
				operators[name][terms[0]] = true
			}
			return false
		})
	}
	if len(operators["eq"]) != 1 {
		t.Errorf("eq is %d terms", len(operators["eq"]))
	}
}

func TestNoReachOut(t *testing.T) {
	for _, call := range []string{
		`http.send({"method": "GET", "url": "http://localhost"})`, `opa.runtime()`, `net.lookup_ip_addr("localhost")`,
		`uuid.rfc4122("a")`, `rand.intn("a", 2)`, `providers.aws.sign_req({}, {}, 1)`,
	} {
		m, err := Parse("call", "package Cx\np = x { x := "+call+" }")
		if err != nil {
			t.Fatal(err)
		}
		if _, err := Compile(map[string]*ast.Module{"call": m}); err == nil ||
			!strings.Contains(err.Error(), "undefined function") {
			t.Errorf("%s: %v, want an undefined function", call, err)
		}
	}
}

func TestNotWritten(t *testing.T) {
	r := &ast.Rule{Head: ast.NewHead("p"),
		Body: ast.NewBody(ast.NewExpr(&ast.SomeDecl{Symbols: []*ast.Term{ast.VarTerm("x")}}))}
	if _, err := NewWriter([]*ast.Rule{r}).Rule(r); err == nil {
		t.Error("a declaration, which the compiler takes away, is written")
	}
}

// Bytes of something else are refused, wherever they end.
func TestCutOff(t *testing.T) {
	compiled, err := Compile(parsed(t))
	if err != nil {
		t.Fatal(err)
	}
	tables, rules := written(t, compiled)
	if _, _, err := ReadTables(tables[:len(tables)-1]); err == nil {
		t.Error("tables without their last byte are read")
	}
	read, _, err := ReadTables(tables)
	if err != nil {
		t.Fatal(err)
	}
	whole := rules["query"][0]
	for i := range whole {
		if _, err := NewReader(read).Rule(whole[:i], &ast.Module{}, "query"); err == nil {
			t.Errorf("%d of %d bytes are a rule", i, len(whole))
		}
	}
	if _, err := NewReader(read).Rule(append(whole[:len(whole):len(whole)], 0), &ast.Module{}, "query"); err == nil {
		t.Error("a rule with a byte more is read")
	}
}

func FuzzReader(f *testing.F) {
	compiled, err := Compile(parsed(f))
	if err != nil {
		f.Fatal(err)
	}
	tables, rules := written(f, compiled)
	for _, name := range []string{"common", "query"} {
		for _, b := range rules[name] {
			f.Add(tables, b)
		}
	}
	deep := append(append([]byte{1, 1, 'x', 1, 4}, tagShared, 0, tagShared, 0),
		strings.Repeat(fmt.Sprintf("%c\x01", tagArray), 1000)...)
	f.Add(deep[:9], deep[5:])
	f.Fuzz(func(t *testing.T, tables, rule []byte) {
		read, _, err := ReadTables(tables)
		if err != nil {
			return
		}
		if r, err := NewReader(read).Rule(rule, &ast.Module{Package: &ast.Package{Path: QueryPackage(0)}},
			"fuzz"); err == nil && r.String() == "" {
			t.Error("a rule without a text")
		}
	})
}
