package model

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

func TestParseEntry(t *testing.T) {
	arg := func(n int, steps ...Step) Place { return Place{Base: Argument, Index: n, Steps: steps} }
	tests := []struct {
		section Section
		text    string
		want    Entry
	}{
		{Sources, "a.B.get()", Entry{Form: Call, Name: "a.B.get", Places: []Place{{Base: Return}}}},
		{Sources, "a.request.args", Entry{Form: Value, Name: "a.request.args", Places: []Place{{Base: Return}}}},
		{Sources, "@a.Param", Entry{Form: Annotation, Name: "a.Param",
			Places: []Place{{Base: Parameter, Index: Self}}}},
		{Sources, "@a.route(param*)",
			Entry{Form: Annotation, Name: "a.route", Places: []Place{{Base: Parameter, Index: Any}}}},
		{Sources, "x().on(arg*(0).body)", Entry{Form: Call, Name: "x().on",
			Places: []Place{arg(Any, Step{Kind: Formal}, Step{Kind: Field, Name: "body"})}}},
		{Sinks, "s.run(arg0:args, arg2+)", Entry{Form: Call, Name: "s.run",
			Places: []Place{{Base: Argument, Name: "args"}, {Base: Argument, Index: 2, Rest: true}}}},
		{Sinks, "Element.innerHTML =", Entry{Form: Assignment, Name: "Element.innerHTML",
			Places: []Place{{Base: Assigned}}}},
		{Sinks, "s.run(arg0) if arg:shell is true and arg0 is " +
			"not list", Entry{Form: Call, Name: "s.run", Places: []Place{arg(0)},
			If: []Condition{{Place: Place{Base: Argument, Index: Only, Name: "shell"}, Word: "true"},
				{Place: arg(0), Not: true, Word: "list"}}}},
		{Sinks, "s.go(arg0) if arg1 is a.Type and count > 1 and arg0 " +
			"opens host", Entry{Form: Call, Name: "s.go", Places: []Place{arg(0)},
			If: []Condition{{Place: arg(1), Word: "a.Type", Type: true}, {Test: MoreThan, Count: 1},
				{Place: arg(0), Test: Opens, Word: "host"}}}},
		{Sinks, "s.go(arg0) if arg1 != 'a b'", Entry{Form: Call, Name: "s.go", Places: []Place{arg(0)},
			If: []Condition{{Place: arg(1), Test: Equals, Not: true, Word: "a b"}}}},
		{Sinks, "@a.Get(return) if here is page and return " +
			"is string", Entry{Form: Annotation, Name: "a.Get", Places: []Place{{Base: Return}},
			If: []Condition{{Test: Page}, {Place: Place{Base: Return}, Word: "string"}}}},
		{Sources, "@a.Get(param*) if param is bare",
			Entry{Form: Annotation, Name: "a.Get", Places: []Place{{Base: Parameter, Index: Any}},
				If: []Condition{{Place: Place{Base: Parameter, Index: Self}, Word: "bare"}}}},
		{Guards, "a.has(arg0) if arg0 not from this", Entry{Form: Call, Name: "a.has", Places: []Place{arg(0)},
			If: []Condition{{Place: arg(0), Test: From, Not: true, Other: Place{Base: This}}}}},
		{Guards, "not a.bad(arg0)", Entry{Form: Call, Name: "a.bad", Places: []Place{arg(0)}, Negated: true}},
		{Sanitizers, "a.clean()", Entry{Form: Call, Name: "a.clean", Places: []Place{{Base: Return}}}},
		{Sanitizers, "a.harmless", Entry{Form: Value, Name: "a.harmless", Places: []Place{{Base: Return}}}},
		{Summaries, "m.put(arg1 -> this[arg0], this -> return)", Entry{Form: Call, Name: "m.put", Flows: []Flow{
			{From: arg(1), To: Place{Base: This, Steps: []Step{{Kind: KeyOf}}}},
			{From: Place{Base: This}, To: Place{Base: Return}}}}},
		{Summaries, "m.length(none)", Entry{Form: Call, Name: "m.length"}},
		{Summaries, "m.each(this[*] -> arg0(1), arg0() -> return[+])", Entry{Form: Call, Name: "m.each", Flows: []Flow{
			{From: Place{Base: This, Steps: []Step{{Kind: Elements}}}, To: arg(0, Step{Kind: Formal, Index: 1})},
			{From: arg(0, Step{Kind: Result}), To: Place{Base: Return, Steps: []Step{{Kind: Append}}}}}}},
		{Types, "a.open() is a.File", Entry{Form: Call, Name: "a.open", Type: "a.File",
			Places: []Place{{Base: Return}}}},
		{Types, "node:fs is fs", Entry{Form: Value, Name: "node:fs", Type: "fs", Places: []Place{{Base: Return}}}},
		{Types, "A extends B, C", Entry{Form: Value, Name: "A", Extends: []string{"B", "C"}}},
		{Entrypoints, "@a.Handler", Entry{Form: Annotation, Name: "a.Handler"}},
		{Entrypoints, "$.fn.* =", Entry{Form: Assignment, Name: "$.fn.*"}},
	}
	for _, test := range tests {
		test.want.Section = test.section
		got, err := ParseEntry(test.section, "", test.text)
		if err != nil {
			t.Errorf("%s: %v", test.text, err)
			continue
		}
		if diff := cmp.Diff(&test.want, got, cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("%s (-want +got):\n%s", test.text, diff)
		}
	}
}

func TestParseFaults(t *testing.T) {
	tests := map[string]string{
		"sorces:\n  remote: a()":                      "m.yaml:1: unknown key",
		"sources:\n  remote: a()\nsources:\n  x: b()": "m.yaml:3: key \"sources\" is there twice",
		"sources:\n  Remote: a()":                     "m.yaml:2: \"Remote\" is not a kind",
		"sinks:\n  sql:\n    - a(arg0)\n    - b()": "m.yaml:4: \"b()\": a sink that is a call says which " +
			"argument",
		"sinks:\n  sql: a(org0)":                          "\"org0\" is not a place",
		"sinks:\n  sql: a(arg0[x])":                       "not a number",
		"sinks:\n  sql: a(arg0) if arg1 is of type X":     "neither a type",
		"sinks:\n  sql: a(arg0) if arg1 eats X":           "unknown test",
		"sinks:\n  sql: a(arg0) if arg1 like /(/":         "missing closing",
		"sinks:\n  sql: a(param0)":                        "parameters are for sources",
		"summaries:\n  - a(arg0)":                         "from -> to",
		"operations:\n  string.reverse: a":                "unknown operation",
		"types:\n  - a":                                   "x is T",
		"sources:\n  x: a.{b,c()":                         "{ without }",
		"sources:\n  x: {a: b}":                           "want a text",
		"sinks:\n  sql: literal /x/":                      "only a source",
		"sources:\n  x: 'a b()'":                          "is not a name",
		"exits: [":                                        "m.yaml: ",
		"sinks:\n  sql: a(arg0.a.b.c.d.e.f.g)":            "more than 6 steps",
		"sinks:\n  sql: a(arg0) if arg0 opens everything": "data opens",
		"sinks:\n  html: a(arg0) if here is closed":       "want \"here is page\"",
		"sinks:\n  html: a(arg0) if arg0 begins x":        "regular expression between slashes",
		"sinks:\n  match: a(arg0) if this backtracks far": "an expression \"backtracks\"",
		"sources:\n  x: literal /a/ if arg0 like /b/":     "a condition of a literal",
	}
	for src, want := range tests {
		if _, err := Parse("m.yaml", "x", "m", []byte(src)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: got error %v, want %q", src, err, want)
		}
	}
}

func TestSet(t *testing.T) {
	m, err := Parse("m.yaml", "x", "m", []byte(`
languages: [x, y]
sources:
  remote: ["a.{R,S}.get*()", "literal /^k/"]
sinks:
  sql: ["?.query(arg0)", "**.Db.exec(arg0)"]
types: A extends B
`))
	if err != nil {
		t.Fatal(err)
	}
	s := NewSet("y", []*Model{m})
	tests := []struct {
		name    string
		section Section
		want    int
	}{
		{"a.R.getX", Sources, 1}, {"a.S.get", Sources, 1}, {"a.T.get", Sources, 0}, {"b.a.R.get", Sources, 0},
		{"?.query", Sinks, 1}, {"q.query", Sinks, 0}, {"x.y.Db.exec", Sinks, 1}, {"Db.exec", Sinks, 0},
	}
	for _, test := range tests {
		if got := len(s.Match(test.name)[test.section]); got != test.want {
			t.Errorf("%s: got %d entries, want %d", test.name, got, test.want)
		}
	}
	if len(s.Literals()) != 1 || !s.Match("zzz").Empty() {
		t.Errorf("literals %d", len(s.Literals()))
	}
	if diff := cmp.Diff([]string{"B"}, s.Supertypes("A")); diff != "" {
		t.Error(diff)
	}
	if !NewSet("z", []*Model{m}).Match("a.R.getX").Empty() {
		t.Error("a set of another language has the entry")
	}
	for name, want := range map[string]bool{"a.R": true, "a": true, "a.R.get": false, "A": true, "B": true, "Db": false,
		"x": false} {
		if got := s.Known(name); got != want {
			t.Errorf("Known(%q) = %v", name, got)
		}
	}
	kinds, err := Kinds([]*Model{m})
	if diff := cmp.Diff([]string{"sql"}, kinds); diff != "" || err != nil {
		t.Error(diff, err)
	}
}

func FuzzParse(f *testing.F) {
	f.Add("sources:\n  remote:\n    - a.{b,c}.d(arg*(0).x['y'][*]) if arg0 is not string and count > 1\n")
	f.Add("summaries:\n  - a.b(arg1 -> this[arg0], this.** -> return())\ntypes:\n  - a() is b\n")
	f.Add("guards:\n  all: not a(arg0:x) if this like /x/i\n")
	f.Add("sources:\n a: 0{0}(arg0.0['0']])")
	f.Fuzz(func(t *testing.T, src string) {
		m, err := Parse("f", "x", "m", []byte(src))
		if err == nil {
			NewSet("x", []*Model{m}).Match("a.b.c")
		}
	})
}
