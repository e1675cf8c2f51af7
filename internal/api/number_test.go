package api_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"
	"testing"

	"merlon/internal/api/apitest"
	"merlon/internal/store"
	"merlon/internal/store/storetest"
)

// This file sends unusual numbers in every place of every operation that takes a
// number, as the OpenAPI document lists them.

// A schema is what the test needs of a schema of the document.
type schema struct {
	Ref        string             `json:"$ref"`
	Type       any                `json:"type"` // a text or a list of texts
	Enum       []any              `json:"enum"`
	Format     string             `json:"format"`
	MinLength  int                `json:"minLength"`
	Minimum    *float64           `json:"minimum"`
	Required   []string           `json:"required"`
	Properties map[string]*schema `json:"properties"`
	Items      *schema            `json:"items"`
}

// A numberPlace is where an operation takes a number.
type numberPlace struct {
	method, path string
	in           string // query, path, header or body
	name         string
	whole        bool                 // an integer
	body         func(raw string) any // with the number in its place
}

type raw = json.RawMessage

// numberPlaces lists the places of the document.
func numberPlaces(t *testing.T, r *apitest.Runner) []numberPlace {
	t.Helper()
	text, err := r.API.OpenAPI()
	if err != nil {
		t.Fatal(err)
	}
	var doc struct {
		Paths map[string]map[string]struct {
			Parameters []struct {
				Name, In string
				Schema   *schema
			}
			RequestBody struct {
				Content map[string]struct{ Schema *schema }
			}
		}
		Components struct{ Schemas map[string]*schema }
	}
	if err := json.Unmarshal(text, &doc); err != nil {
		t.Fatal(err)
	}
	d := schemas(doc.Components.Schemas)
	var out []numberPlace
	for _, path := range slices.Sorted(maps.Keys(doc.Paths)) {
		for _, method := range slices.Sorted(maps.Keys(doc.Paths[path])) {
			op := doc.Paths[path][method]
			at := numberPlace{method: strings.ToUpper(method), path: path}
			for _, p := range op.Parameters {
				if p.Schema.is("integer") || p.Schema.is("number") {
					one := at
					one.in, one.name, one.whole = p.In, p.Name, p.Schema.is("integer")
					out = append(out, one)
				}
			}
			if body := op.RequestBody.Content["application/json"].Schema; body != nil {
				d.walk(body, nil, func(name string, whole bool, build func(string) any) {
					one := at
					one.in, one.name, one.whole, one.body = "body", name, whole, build
					out = append(out, one)
				})
			}
		}
	}
	return out
}

func (s *schema) is(name string) bool {
	if s == nil {
		return false
	}
	if list, ok := s.Type.([]any); ok {
		return slices.Contains(list, any(name))
	}
	return s.Type == name
}

type schemas map[string]*schema

func (d schemas) resolve(s *schema) *schema {
	if s != nil && s.Ref != "" {
		return d[strings.TrimPrefix(s.Ref, "#/components/schemas/")]
	}
	return s
}

// walk calls found for every number below the schema. The way leads there: names of
// members, and the empty name for an entry of a list.
func (d schemas) walk(top *schema, way []string, found func(name string, whole bool, build func(string) any)) {
	s := top
	for _, name := range way {
		if s = d.resolve(s); name == "" {
			s = s.Items
		} else {
			s = s.Properties[name]
		}
	}
	s = d.resolve(s)
	switch {
	case len(way) > 5:
	case s.is("integer"), s.is("number"):
		found(strings.Join(way, "."), s.is("integer"), func(number string) any { return d.sample(top, way, number) })
	case s.is("array"):
		d.walk(top, append(slices.Clone(way), ""), found)
	case s.is("object"):
		for _, name := range slices.Sorted(maps.Keys(s.Properties)) {
			d.walk(top, append(slices.Clone(way), name), found)
		}
	}
}

// sample returns a value of the schema with what it requires, and with the number at the
// end of the way.
func (d schemas) sample(s *schema, way []string, number string) any {
	s = d.resolve(s)
	if way != nil && len(way) == 0 {
		return raw(number)
	}
	switch {
	case len(s.Enum) > 0:
		return s.Enum[0]
	case s.is("array"):
		if len(way) > 0 {
			return []any{d.sample(s.Items, way[1:], number)}
		}
		return []any{}
	case s.is("object"):
		out := map[string]any{}
		for _, name := range s.Required {
			out[name] = d.sample(s.Properties[name], nil, number)
		}
		if len(way) > 0 {
			out[way[0]] = d.sample(s.Properties[way[0]], way[1:], number)
		}
		return out
	case s.is("integer"), s.is("number"):
		if s.Minimum != nil {
			return *s.Minimum
		}
		return 1
	case s.is("boolean"):
		return false
	case s.Format == "uuid":
		return "00000000-0000-4000-8000-000000000000"
	case s.Format == "date-time":
		return "2026-11-20T09:00:00Z"
	}
	return strings.Repeat("x", max(1, s.MinLength))
}

// Numbers that every place gets. Those of wrongNumbers are no integers, or none that 64
// bits can hold.
var (
	oddNumbers = []string{"0", "-1", "2147483647", "2147483648", "9223372036854775807", "1e3", "1.0",
		"-9223372036854775808"}
	wrongNumbers = []string{"9223372036854775808", "-9223372036854775809", "1000000000000000000000000000000", "1e30",
		"1.5", "NaN", "Infinity", "0x10", "1_000"}
)

// isPage reports whether a parameter is the number of a page.
func isPage(name string) bool {
	return strings.HasSuffix(strings.ToLower(name), "page") && name != "perPage" || name == "pageNumber"
}

func TestEveryNumberOfEveryOperation(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB, clock *storetest.Clock) {
		r := apitest.New(t, db, clock)
		s := newStage(t, r, 1)
		places, calls := numberPlaces(t, r), 0
		for _, p := range places {
			plain := s.number(p, "1")
			for _, number := range slices.Concat(oddNumbers, wrongNumbers, []string{"", "1&" + p.name + "=2"}) {
				if p.in == "body" && (number == "" || strings.Contains(number, "&")) {
					continue
				}
				calls++
				a := s.number(p, number)
				where := fmt.Sprintf("%s %s, %s %s = %q", p.method, p.path, p.in, p.name, number)
				switch {
				case a.Status >= 500 && a.Status != 501:
					t.Errorf("%s: got %d\n%s", where, a.Status, a.Body)
				case plain.Status == 501 || p.in == "header" || p.method == "DELETE":
				case (p.whole || p.in == "body" && !json.Valid([]byte(number))) &&
					slices.Contains(wrongNumbers, number) && a.Status < 400,
					p.in == "query" && strings.Contains(number, "&") && a.Status < 400,
					p.in == "query" && isPage(p.name) && (number == "2147483648" || number == "9223372036854775807") &&
						a.Status != 400:
					t.Errorf("%s: got %d, want 400", where, a.Status)
				case p.in == "query" && number == "1.0" && a.Status != plain.Status:
					t.Errorf("%s: got %d, but %d for 1\n%s", where, a.Status, plain.Status, a.Body)
				case p.in == "query" && isPage(p.name) && number == "2147483647" && a.Status == 200 && wrapped(a):
					t.Errorf("%s: another page than the one asked for: %s", where, a.Body)
				}
			}
		}
		if len(places) < 100 {
			t.Errorf("only %d places take a number", len(places))
		}
		t.Logf("%d calls at %d places", calls, len(places))
	})
}

// wrapped reports whether an answer names another page than 2147483647, or has rows.
func wrapped(a *apitest.Response) bool {
	var page struct{ CurrentPage *float64 }
	if json.Unmarshal(a.Body, &page) != nil || page.CurrentPage == nil {
		return false
	}
	return *page.CurrentPage != 1<<31-1
}

// number calls an operation with the number in its place.
func (s *stage) number(p numberPlace, number string) *apitest.Response {
	s.T.Helper()
	address := s.address(p.path, s.ids)
	var body any
	switch p.in {
	case "query":
		if !strings.Contains(number, "&") {
			number = url.QueryEscape(number)
		}
		separator := "?"
		if strings.Contains(address, "?") {
			separator = "&"
		}
		address += separator + p.name + "=" + number
		if p.path == "/team/{teamId}/projects" { // demands both
			address += map[string]string{"page": "&pageSize=1", "pageSize": "&page=1"}[p.name]
		}
	case "path":
		address = strings.Replace(p.path, "{"+p.name+"}", url.PathEscape(number), 1)
		address = s.address(address, s.ids)
	case "body":
		body = strings.NewReader(text(p.body, number))
	}
	if body == nil && p.method != "GET" {
		body = map[string]any{}
	}
	return s.AsPerson("administrator").Do(p.method, address, body)
}

// text returns the body as JSON with the number as it is, which need not be JSON.
func text(build func(string) any, number string) string {
	const mark = `"number-goes-here"`
	encoded, err := json.Marshal(build(mark))
	if err != nil {
		panic(err) // made of texts and numbers only
	}
	return strings.Replace(string(encoded), mark, number, 1)
}

// TestNamesInDifferentCase refuses a body in which the member that is validated would not be
// the one that is taken.
func TestNamesInDifferentCase(t *testing.T) {
	apitest.EachWorld(t, func(t *testing.T, w *apitest.World) {
		long := strings.Repeat("x", 201) // a name has at most 200 characters
		for body, status := range map[string]int{
			`{"name": "Good", "NAME": "` + long + `"}`:          400,
			`{"NAME": "` + long + `", "name": "Good"}`:          400,
			`{"name": "Good", "x": [{"Ab": 1, "aB": 2}]}`:       400,
			`{"NAME": "` + long + `"}`:                          400,
			`{"Name": "Good", "description": "", "other": "y"}`: 200,
		} {
			w.AsPerson("administrator").Post(w.Organization+"/team", strings.NewReader(body)).Want(status)
		}
	})
}
