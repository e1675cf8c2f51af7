package model

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestBraces writes out the braces of names.
func TestBraces(t *testing.T) {
	for text, want := range map[string][]string{
		"a.b()":                        {"a.b()"},
		"a.{b,c}()":                    {"a.b()", "a.c()"},
		"a.{b, c}()":                   {"a.b()", "a.c()"},
		"{a,b}.{c,d}":                  {"a.c", "a.d", "b.c", "b.d"},
		"a{,b}":                        {"a", "ab"},
		"a.b(arg0{,.c})":               {"a.b(arg0)", "a.b(arg0.c)"},
		"a() if arg0 like /b{2,3}/":    {"a() if arg0 like /b{2,3}/"},
		"{a,b}() if arg0 = '{c,d}'":    {"a() if arg0 = '{c,d}'", "b() if arg0 = '{c,d}'"},
		"literal /a{2,3}/":             {"literal /a{2,3}/"},
		"{a,b} is T":                   {"a is T", "b is T"},
		"{a,b}(arg0 -> {this,return})": {"a(arg0 -> this)", "a(arg0 -> return)", "b(arg0 -> this)", "b(arg0 -> return)"},
	} {
		got, err := expandBraces(text)
		if diff := cmp.Diff(want, got); diff != "" || err != nil {
			t.Errorf("%s: %v (-want +got):\n%s", text, err, diff)
		}
	}
	for text, want := range map[string]string{
		"a.{b":                               "{ without }",
		strings.Repeat("{a,b}", 9):           "more than 256 names",
		"{" + strings.Repeat(",", 256) + "}": "more than 256 names",
	} {
		if _, err := expandBraces(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.20s: got error %v, want %q", text, err, want)
		}
	}
}

// TestForms reads the same name as what each section makes of it, and the place that an entry
// without one speaks of.
func TestForms(t *testing.T) {
	forms := map[Form]string{Call: "call", Value: "value", Assignment: "assignment", Annotation: "annotation",
		Literal: "literal"}
	for _, c := range []struct {
		section Section
		text    string
		want    string
	}{
		{Sources, "a.b", "value a.b: return"},
		{Sources, "a.b()", "call a.b: return"},
		{Sources, "@a.b", "annotation a.b: param self"},
		{Sources, "@a/b.c", "value @a/b.c: return"},
		{Sources, "@a/b.c()", "call @a/b.c: return"},
		{Sources, "a().b", "value a().b: return"},
		{Sources, "a().b()", "call a().b: return"},
		{Sources, "a.b( )", "call a.b: return"},
		{Sources, "literal /x/i", "literal : return"},
		{Sinks, "a.b =", "assignment a.b: value"},
		{Sinks, "a.b", "value a.b: return"},
		{Sinks, "a.b(this, arg0)", "call a.b: this; arg 0"},
		{Sinks, "a.b() if count = 1", "call a.b: return"},
		{Sanitizers, "a.b", "value a.b: return"},
		{Guards, "a.b", "call a.b: arg 0"},
		{Guards, "a.b(this)", "call a.b: this"},
		{Summaries, "a.b(none)", "call a.b: "},
		{Types, "a.b is c.D", "value a.b: return"},
		{Types, "a.b() is c.D", "call a.b: return"},
		{Types, "@a.b is c.D", "annotation a.b: param self"},
		{Types, "a.b(param0) is c.D", "call a.b: param 0"},
		{Types, "a.B extends c.D", "value a.B: "},
		{Operations, "a.b", "call a.b: "},
		{Entrypoints, "a.b", "call a.b: "},
		{Entrypoints, "@a.b", "annotation a.b: "},
		{Entrypoints, "a.b =", "assignment a.b: "},
		{Exits, "a.b", "call a.b: "},
	} {
		e, err := ParseEntry(c.section, "k", c.text)
		if err != nil {
			t.Errorf("%v %s: %v", c.section, c.text, err)
			continue
		}
		var places []string
		for _, p := range e.Places {
			places = append(places, printPlace(p))
		}
		if got := forms[e.Form] + " " + e.Name + ": " + strings.Join(places, "; "); got != c.want {
			t.Errorf("%v %s: got %q, want %q", c.section, c.text, got, c.want)
		}
	}
}

// TestNames matches names with stars: one is within a part, two are anything.
func TestNames(t *testing.T) {
	for pattern, c := range map[string]struct{ is, isNot []string }{
		"a.b":     {[]string{"a.b"}, []string{"a.bc", "x.a.b", "a", "a.b.c"}},
		"a.*":     {[]string{"a.b", "a."}, []string{"a", "a.b.c", "b.a"}},
		"a.get*":  {[]string{"a.get", "a.getX"}, []string{"a.forget", "a.get.x"}},
		"*.b":     {[]string{"a.b", ".b"}, []string{"a.c.b", "b"}},
		"**.b":    {[]string{"a.b", "a.c.b"}, []string{"b", "a.bb"}},
		"a.**":    {[]string{"a.b", "a.b.c"}, []string{"a", "ab"}},
		"a.*.c":   {[]string{"a.b.c"}, []string{"a.c", "a.b.b.c"}},
		"a.**.c":  {[]string{"a.b.c", "a.b.b.c"}, []string{"a.c"}},
		"*":       {[]string{"a", ""}, []string{"a.b"}},
		"a+.b?":   {[]string{"a+.b?"}, []string{"a.b", "aa.b"}},
		"a().b*":  {[]string{"a().b", "a().bc"}, []string{"a.b"}},
		"$.fn.*":  {[]string{"$.fn.x"}, []string{"x.fn.x"}},
		"@s/p.f*": {[]string{"@s/p.f", "@s/p.fx"}, []string{"@s/q.f"}},
	} {
		s := NewSet("x", []*Model{{Languages: []string{"x"}, Entries: []*Entry{{Section: Exits, Name: pattern}}}})
		for _, name := range c.is {
			if len(s.Match(name)[Exits]) != 1 {
				t.Errorf("%s is not %q", pattern, name)
			}
		}
		for _, name := range c.isNot {
			if !s.Match(name).Empty() {
				t.Errorf("%s is %q", pattern, name)
			}
		}
	}
}

// TestSetOrder joins models in the order of their files, whatever order they come in, and leaves
// out those of other languages.
func TestSetOrder(t *testing.T) {
	parse := func(file, text string) *Model {
		m, err := Parse(file, "typescript", file, []byte(text))
		if err != nil {
			t.Fatal(err)
		}
		return m
	}
	list := []*Model{
		parse("c", "sources: {third: a.b()}"),
		parse("a", "sources: {first: a.b(), later: 'a.*()'}\nguards: {all: a.check}"),
		parse("b", "sources: {second: a.b()}"),
		parse("d", "languages: [go]\nsources: {other: a.b()}"),
	}
	for range 2 {
		s := NewSet("tsx", list)
		var kinds []string
		for _, e := range s.Match("a.b")[Sources] {
			kinds = append(kinds, e.Kind)
		}
		if diff := cmp.Diff([]string{"first", "second", "third", "later"}, kinds); diff != "" {
			t.Error(diff)
		}
		if !s.Guards("check") || s.Guards("b") {
			t.Error("the names of guards")
		}
		slices.Reverse(list)
	}
	known := Speaks(list, Sources)
	for kind, want := range map[string]bool{"first": true, "other": true, Library: true, "fourth": false, "all": false} {
		if known(kind) != want {
			t.Errorf("sources of the kind %s: %v", kind, !want)
		}
	}
	if Speaks(list, Sinks)(Library) {
		t.Error("there are sinks of the kind library")
	}
}

// TestHiddenSinks asks for types whose subtypes have sinks.
func TestHiddenSinks(t *testing.T) {
	m, err := Parse("m", "x", "m", []byte(`
sinks: {html: page.Writer.write(arg0)}
sources: {remote: net.Socket.read()}
types:
  - page.Writer extends io.PrintWriter
  - io.PrintWriter extends io.Writer
  - io.Writer extends io.PrintWriter
  - net.Socket extends io.Reader
`))
	if err != nil {
		t.Fatal(err)
	}
	s := NewSet("x", []*Model{m})
	for name, want := range map[string]bool{"io.PrintWriter": true, "io.Writer": true, "page.Writer": false,
		"io.Reader": false} {
		if got := s.HidesSink(name); got != want {
			t.Errorf("%s: %v", name, got)
		}
	}
}

// TestAgrees tests literals with their conditions.
func TestAgrees(t *testing.T) {
	e, err := ParseEntry(Sources, "key", "literal /^k/ if value like /[0-9]/ and value not like /test/")
	if err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]bool{"k1": true, "k": false, "k1test": false, "test": false} {
		if got := e.Agrees(text); got != want {
			t.Errorf("%s: %v", text, got)
		}
	}
}

// TestKinds numbers kinds, which must fit a word.
func TestKinds(t *testing.T) {
	m := &Model{Entries: []*Entry{
		{Section: Guards, Kind: All}, {Section: Guards, Kind: "b"}, {Section: Sanitizers, Kind: "c"},
		{Section: Sinks, Kind: "a"}, {Section: Sinks, Kind: "b"}, {Section: Sources, Kind: "d"},
	}}
	kinds, err := Kinds([]*Model{m})
	if diff := cmp.Diff([]string{"a", "b", "c"}, kinds); diff != "" || err != nil {
		t.Error(err, diff)
	}
	for i := range maxKinds {
		m.Entries = append(m.Entries, &Entry{Section: Sinks, Kind: strings.Repeat("x", i+1)})
	}
	if _, err := Kinds([]*Model{m}); err == nil {
		t.Error("more than 60 kinds were taken")
	}
}
