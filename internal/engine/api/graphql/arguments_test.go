package graphql_test

import (
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/vektah/gqlparser/v2"
	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/parser"
	"github.com/vektah/gqlparser/v2/validator"
	"github.com/vektah/gqlparser/v2/validator/rules"
	_ "modernc.org/sqlite" // the driver

	"merlon/internal/scan"
)

const arguments = `
input Where { name: String, near: Near }
input Near { city: String }
type Person { name: String, notes(containing: String): [String!] }
type Query {
  byName(name: String!): [String!]
  byWhere(where: Where!): [String!]
  byNames(names: [String!]!): [String!]
  greet(name: String!): String
  file(path: String!): String
  ping(host: String!): String
  me: Person
}
type Mutation { note(text: String!): String }
`

// directory is a service whose resolvers put arguments into statements, templates and paths,
// or, safe, do not.
type directory struct {
	db     *sql.DB
	schema *ast.Schema
	safe   bool
}

func newDirectory(t *testing.T, safe bool) *directory {
	t.Helper()
	db, err := sql.Open("sqlite", fmt.Sprintf("file:%s%v?mode=memory&cache=shared", t.Name(), safe))
	if err != nil {
		t.Fatal(err)
	}
	db.SetMaxOpenConns(1)
	t.Cleanup(func() { _ = db.Close() })
	for _, statement := range []string{"CREATE TABLE people (name TEXT, city TEXT)", "CREATE TABLE notes (text TEXT)",
		"INSERT INTO people VALUES ('ann','rome'),('bob','oslo')", "INSERT INTO notes VALUES ('first')"} {
		if _, err := db.Exec(statement); err != nil {
			t.Fatal(err)
		}
	}
	schema, err := gqlparser.LoadSchema(&ast.Source{Name: "schema", Input: arguments})
	if err != nil {
		t.Fatal(err)
	}
	return &directory{db, schema, safe}
}

// find runs a statement with one value: bound, or as a part of the text.
func (d *directory) find(format, value string) ([]string, error) {
	query, args := fmt.Sprintf(format, "'"+value+"'"), []any(nil)
	if d.safe {
		query, args = fmt.Sprintf(format, "?"), []any{value}
	}
	rows, err := d.db.Query(query, args...)
	if err != nil {
		return nil, err
	}
	defer func() { _ = rows.Close() }()
	out := []string{}
	for rows.Next() {
		var s string
		if err := rows.Scan(&s); err != nil {
			return nil, err
		}
		out = append(out, s)
	}
	return out, rows.Err()
}

var product = regexp.MustCompile(`\{\{\s*(\d+)\s*\*\s*(\d+)\s*\}\}`)

// render is as much of an engine of templates as computes products.
func render(text string) string {
	return product.ReplaceAllStringFunc(text, func(s string) string {
		m := product.FindStringSubmatch(s)
		a, _ := strconv.Atoi(m[1])
		b, _ := strconv.Atoi(m[2])
		return strconv.Itoa(a * b)
	})
}

// read opens a file of a folder, or, flawed, wherever the path leads.
func (d *directory) read(path string) (any, error) {
	if d.safe && path != "readme" {
		return nil, errors.New("there is no such document")
	}
	text, err := os.ReadFile(filepath.Join("testdata", path))
	return string(text), err
}

var echo = regexp.MustCompile(`\|echo (\w+)\$\(\((\d+)-(\d+)\)\)(\w+)`)

// ping says what a shell would write.
func (d *directory) ping(host string) string {
	m := echo.FindStringSubmatch(host)
	if d.safe || m == nil {
		return "no answer"
	}
	a, _ := strconv.Atoi(m[2])
	b, _ := strconv.Atoi(m[3])
	return m[1] + strconv.Itoa(a-b) + m[4] + "\n"
}

func (d *directory) root() objectType {
	return objectType{
		"byName": resolver(func(args map[string]any) (any, error) {
			return d.find("SELECT name FROM people WHERE name=%s", args["name"].(string))
		}),
		"byWhere": resolver(func(args map[string]any) (any, error) {
			near, _ := args["where"].(map[string]any)["near"].(map[string]any)
			city, _ := near["city"].(string)
			return d.find("SELECT name FROM people WHERE city=%s", city)
		}),
		"byNames": resolver(func(args map[string]any) (any, error) {
			name := ""
			if list := args["names"].([]any); len(list) > 0 {
				name = list[len(list)-1].(string)
			}
			return d.find("SELECT name FROM people WHERE name IN (%s)", name)
		}),
		"greet": resolver(func(args map[string]any) (any, error) {
			if d.safe {
				return "Hello " + args["name"].(string), nil
			}
			return render("Hello " + args["name"].(string)), nil
		}),
		"file": resolver(func(args map[string]any) (any, error) { return d.read(args["path"].(string)) }),
		"ping": resolver(func(args map[string]any) (any, error) { return d.ping(args["host"].(string)), nil }),
		"me": objectType{"name": "ann", "notes": resolver(func(args map[string]any) (any, error) {
			text, given := args["containing"].(string)
			if !given {
				text = "first"
			}
			return d.find("SELECT text FROM notes WHERE text=%s", text)
		})},
		"note": resolver(func(args map[string]any) (any, error) {
			_, err := d.find("INSERT INTO notes VALUES (%s)", args["text"].(string))
			return "noted", err
		}),
	}
}

func (d *directory) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.URL.Path != "/graphql" || r.Method != http.MethodPost {
		http.NotFound(w, r)
		return
	}
	body, _ := io.ReadAll(io.LimitReader(r.Body, 1<<20))
	var q question
	out := map[string]any{"errors": []any{map[string]any{"message": "the query is not valid"}}}
	if json.Unmarshal(body, &q) == nil {
		if data, err := d.execute(q); err == nil {
			out = map[string]any{"data": data}
		} else if data != nil { // of a resolver
			out = map[string]any{"errors": []any{map[string]any{"message": "something went wrong"}}, "data": nil}
		}
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(out)
}

// execute answers with data and an error where a resolver has failed.
func (d *directory) execute(q question) (map[string]any, error) {
	doc, err := parser.ParseQueryWithTokenLimit(&ast.Source{Input: q.Query}, 5000)
	if err != nil || len(doc.Operations) != 1 {
		return nil, errors.New("the query cannot be read")
	}
	if list := validator.ValidateWithRules(d.schema, doc, rules.NewDefaultRules()); len(list) > 0 {
		return nil, list
	}
	variables, err := validator.VariableValues(d.schema, doc.Operations[0], q.Variables)
	if err != nil {
		return nil, err
	}
	data, err := resolve(d.root(), doc.Operations[0].SelectionSet, variables)
	if err != nil {
		return map[string]any{}, err
	}
	return data, nil
}

// Every kind of argument is attacked: of queries and mutations, within objects and lists, and
// of fields below the first.
func TestArguments(t *testing.T) {
	description := scan.Description{Name: "schema.graphql", Text: arguments}
	attacks := func(safe bool) []string {
		_, got := examine(t, newDirectory(t, safe), nil, description)
		var lines []string
		for _, f := range got.Findings {
			if strings.HasPrefix(f.RuleID, "dast/") && f.Live.Parameter != "" {
				_, operation, _ := strings.Cut(f.Live.URL, "#")
				lines = append(lines, f.RuleID+" "+operation+" "+f.Live.Parameter)
			}
		}
		slices.Sort(lines)
		return lines
	}
	want := []string{
		"dast/command/output Query.ping /variables/host",
		"dast/pathtraversal/folder Query.file /variables/path",
		"dast/sqlinjection/error Mutation.note /variables/text",
		"dast/sqlinjection/error Query.byName /variables/name",
		"dast/sqlinjection/error Query.byNames /variables/names/0",
		"dast/sqlinjection/error Query.byWhere /variables/where/near/city",
		"dast/sqlinjection/error Query.me /variables/notesContaining",
		"dast/templateinjection/expression Query.greet /variables/name",
	}
	if got := attacks(false); !slices.Equal(got, want) {
		t.Errorf("found:\n\t%s\nwant:\n\t%s", strings.Join(got, "\n\t"), strings.Join(want, "\n\t"))
	}
	if got := attacks(true); len(got) > 0 {
		t.Errorf("found in what is safe:\n\t%s", strings.Join(got, "\n\t"))
	}
}
