package message

import (
	"encoding/base64"
	"fmt"
	"strings"
	"testing"
)

func encode(s string) string { return base64.StdEncoding.EncodeToString([]byte(s)) }

func TestInner(t *testing.T) {
	url := base64.RawURLEncoding.EncodeToString([]byte("jürgen?>>~~~")) // has a character that only this alphabet has
	for _, c := range []struct {
		name, value string
		want        []string // points as "key=value"
		with        string   // the parameter's value with "x'" at the last point
	}{
		{"a word", "username", nil, ""},
		{"a number", "20261123", nil, ""},
		{"a digest", "9e107d9d372bb6826bd81d3542a419d6", nil, ""},
		{"bytes", encode("\x00\x01\x02\x03"), nil, ""},
		{"text", encode("admin"), []string{"cookie:c (base 64)=admin"}, encode("x'")},
		{"a digit", encode("1"), []string{"cookie:c (base 64)=1"}, encode("x'")},
		{"without padding", base64.RawStdEncoding.EncodeToString([]byte("someone")),
			[]string{"cookie:c (base 64)=someone"}, base64.RawStdEncoding.EncodeToString([]byte("x'"))},
		{"other letters, without padding", url, nil, ""},
		{"JSON", `{"user": {"name":"jane"}, "rows":10, "open":true}`, []string{"cookie:c/user/name " +
			"(JSON)=jane", "cookie:c/rows (JSON)=10", "cookie:c/open (JSON)=true"},
			`{"user": {"name":"jane"}, "rows":10, "open":"x'"}`},
		{"no JSON", "{jane}", nil, ""},
		{"JSON in base 64", encode(`{"u":"jane"}`), []string{"cookie:c/u (base 64, JSON)=jane"}, encode(`{"u":"x'"}`)},
		{"base 64 in JSON", `["` + encode("admin") + `"]`, []string{"cookie:c/0 (JSON, base 64)=admin"},
			`["` + encode("x'") + `"]`},
		{"percent signs in base 64", encode("jane%20doe"), []string{"cookie:c (base 64, percent signs)=jane doe"},
			encode("x%27")},
		{"JSON in percent signs", "%7B%22u%22%3A%22jane%22%7D", []string{"cookie:c/u (percent signs, JSON)=jane"},
			"%7B%22u%22%3A%22x%27%22%7D"},
		{"GraphQL", `query { user(id: 7, where: {name: "jane"}) { name } }`,
			[]string{"cookie:c/user/id (GraphQL)=7", "cookie:c/user/name (GraphQL)=jane"},
			`query { user(id: 7, where: {name: "x'"}) { name } }`},
		{"GraphQL with variables", `query($id: ID = "1") { user(id: $id) { posts(tags: ["a", """b"""]) { id } } }`,
			[]string{"cookie:c/query/id (GraphQL)=1", "cookie:c/posts/tags (GraphQL)=a", "cookie:c/posts/tags/2 " +
				"(GraphQL)=b"},
			`query($id: ID = "1") { user(id: $id) { posts(tags: ["a", "x'"]) { id } } }`},
		{"GraphQL in JSON", `{"query":"{ user(id: \"1\") { name } }"}`, []string{"cookie:c/query/user/id (JSON, " +
			"GraphQL)=1"}, `{"query":"{ user(id: \"x'\") { name } }"}`},
		{"no GraphQL", `query me (by "name`, nil, ""},
		{"GraphQL that is cut off", `{ user(id: "1") `, nil, ""},
		{"percent signs alone", "jane%20doe", nil, ""},
	} {
		r := &Request{Method: "GET", Scheme: "http", Host: "site.example", Path: "/",
			Cookies: []Param{{Name: "c", Value: c.value}}}
		points := r.Inner()
		var got []string
		for _, p := range points {
			got = append(got, p.Key()+"="+p.Value)
			if p.Outer().Key() != "cookie:c" {
				t.Errorf("%s: outer point %s", c.name, p.Outer().Key())
			}
		}
		if fmt.Sprint(got) != fmt.Sprint(c.want) {
			t.Errorf("%s: %q, not %q", c.name, got, c.want)
			continue
		}
		if len(points) > 0 {
			if with := r.With(points[len(points)-1], "x'").Cookies[0].Value; with != c.with {
				t.Errorf("%s: %q, not %q", c.name, with, c.with)
			}
		}
	}
}

func TestInnerPlaces(t *testing.T) {
	r := &Request{Method: "POST", Scheme: "http", Host: "site.example", Path: "/",
		Query: []Param{{Name: "q", Value: encode("who?")}},
		Body:  Body{Kind: JSON, Text: []byte(`{"state":"{\"id\":7}","plain":"text"}`)}}
	points := r.Inner()
	if len(points) != 2 || points[0].Key() != "query:q (base 64)" || points[1].Key() != "json:/state/id (JSON, JSON)" &&
		points[1].Key() != "json:/state/id (JSON)" {
		t.Fatalf("%+v", points)
	}
	if got := string(r.WithJSON(points[1],
		`{"$ne":1}`).Body.Text); got != `{"state":"{\"id\":{\"$ne\":1}}","plain":"text"}` {
		t.Error(got)
	}
	if got := r.WithJSON(points[0], `{"a":1}`).Query[0].Value; got != encode(`{"a":1}`) {
		t.Error(got)
	}
	many := &Request{Method: "GET", Scheme: "http", Host: "site.example", Path: "/",
		Cookies: []Param{{Name: "c", Value: "[" + strings.Repeat("1,", 200) + "1]"}}}
	if n := len(many.Inner()); n != maxInner {
		t.Errorf("%d points", n)
	}
}

func FuzzInner(f *testing.F) {
	for _, s := range []string{encode("admin"), `{"a":{"b":["` + encode("x") + `"]}}`, encode(`{"u":"jane%20doe"}`),
		"%7B%22u%22%3A1%7D", `{"a":1,"a":2}`, `mutation { a(b: "c", d: [1, {e: -2.5e3}]) @f(g: """h""") { i } } # j`,
		`{"":{"~/":""}}`} {
		f.Add(s, "x'")
	}
	f.Fuzz(func(t *testing.T, value, payload string) {
		r := &Request{Method: "GET", Scheme: "http", Host: "site.example", Path: "/",
			Query: []Param{{Name: "q", Value: value}}}
		for _, p := range r.Inner() {
			open := func(r *Request) string {
				text := r.Query[0].Value
				for _, l := range p.Inner.layers {
					text = l.unwrapLayer(text)
				}
				return text
			}
			if got := open(r); got != p.Value {
				t.Errorf("%q at %s: %q is unpacked, not %q", value, p.Key(), got, p.Value)
			}
			if got := open(r.With(p, payload)); got != strings.ToValidUTF8(payload, "\uFFFD") && got != payload {
				if !strings.Contains(p.Packed(), "JSON") &&
					!strings.Contains(p.Packed(), "GraphQL") { // whose texts have no other bytes
					t.Errorf("%q at %s: %q is packed, and %q unpacked", value, p.Key(), payload, got)
				}
			}
		}
	})
}
