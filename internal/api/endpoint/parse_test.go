package endpoint

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"merlon/internal/errs"
)

// color is an enumeration of the tests.
type color string

func TestEnum(t *testing.T) {
	all := []color{"red", "Green", "blue"}
	for name, c := range map[string]struct {
		texts []string
		want  []color
		bad   bool
	}{
		"nothing":            {nil, nil, false},
		"empty values":       {[]string{"", " , ,"}, nil, false},
		"one":                {[]string{"red"}, []color{"red"}, false},
		"any case":           {[]string{"RED,green"}, []color{"red", "Green"}, false},
		"several parameters": {[]string{"blue", "red"}, []color{"blue", "red"}, false},
		"the same twice":     {[]string{"red, red", "Red"}, []color{"red"}, false},
		"unknown":            {[]string{"red,violet"}, nil, true},
	} {
		var p Parser
		got := Enum(&p, "color", all, c.texts...)
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
		err := p.Err()
		if (err != nil) != c.bad {
			t.Errorf("%s: error %v", name, err)
		}
		if c.bad && (!errs.Is(err, errs.Invalid) || !strings.Contains(err.Error(), "query.color: must be any of "+
			"red, Green, blue")) {
			t.Errorf("%s: the error is %v", name, err)
		}
	}
}

// TestParserCollects checks that one error has all details, and the message of the first.
func TestParserCollects(t *testing.T) {
	var p Parser
	p.Boolean("first", "perhaps")
	Enum(&p, "second", []color{"red"}, "violet")
	var e *errs.Error
	if err := p.Err(); !errors.As(err, &e) {
		t.Fatalf("got %v", err)
	}
	var at []string
	for _, d := range e.Details {
		at = append(at, d.Location)
	}
	if !slices.Equal(at, []string{"query.first", "query.second"}) || !strings.HasPrefix(e.Message, "query.first: ") {
		t.Errorf("details at %v, message %q", at, e.Message)
	}
}

func TestBoolean(t *testing.T) {
	yes, no := true, false
	for text, want := range map[string]*bool{"": nil, "true": &yes, "TRUE": &yes, "1": &yes, "false": &no, "0": &no} {
		var p Parser
		if diff := cmp.Diff(want, p.Boolean("flag", text)); diff != "" || p.Err() != nil {
			t.Errorf("%q: %v (-want +got):\n%s", text, p.Err(), diff)
		}
	}
	for _, text := range []string{"yes", "2", " true"} {
		var p Parser
		if p.Boolean("flag", text); p.Err() == nil {
			t.Errorf("%q is taken", text)
		}
	}
}

// TestWarning checks that nothing of a request can break out of the header.
func TestWarning(t *testing.T) {
	var p Parser
	if got := p.Warning(); got != "" {
		t.Errorf("without anything ignored: %q", got)
	}
	p.Ignore("sort", "a\"b\r\nSet-Cookie: x=é", "name, age")
	p.Ignore("sort", strings.Repeat("x", 100), "name")
	want := `299 merlon "unknown value ignored: sort=a?b??Set-Cookie??x??; supported: name, age; ` +
		`unknown value ignored: sort=` + strings.Repeat("x", 64) + `; supported: name"`
	if got := p.Warning(); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

func TestClampedPage(t *testing.T) {
	for name, c := range map[string]struct {
		in         ClampedPage
		page, size int
	}{
		"defaults":           {ClampedPage{}, 1, 10},
		"names of clients":   {ClampedPage{PageNumber: 3, PerPage: 20}, 3, 20},
		"too large":          {ClampedPage{Page: 2, PageSize: 1000}, 2, MaxPageSize},
		"negative":           {ClampedPage{Page: -1, Limit: -5}, 1, 1},
		"the largest counts": {ClampedPage{Page: 2, PageNumber: 4, PageSize: 5, Limit: 7}, 4, 7},
	} {
		if page, size := c.in.Get(); page != c.page || size != c.size {
			t.Errorf("%s: page %d of %d, want %d of %d", name, page, size, c.page, c.size)
		}
	}
	for _, c := range [][3]int{{0, 10, 0}, {1, 10, 1}, {10, 10, 1}, {11, 10, 2}} {
		if got := Pages(c[0], c[1]); got != c[2] {
			t.Errorf("%d elements have %d pages of %d, want %d", c[0], got, c[1], c[2])
		}
	}
}

func TestParseLabel(t *testing.T) {
	for text, want := range map[string]string{"Web": "Web", "  Web \t": "Web", "Größe": "Größe",
		strings.Repeat("ä", maxName): strings.Repeat("ä", maxName)} {
		if got, err := ParseLabel("body.name", text); err != nil || got != want {
			t.Errorf("%q: got %q, %v", text, got, err)
		}
	}
	for text, reason := range map[string]string{"": "is required", " \n": "is required",
		"a\nb": "control characters", "a\x00b": "control characters",
		strings.Repeat("ä", maxName+1): "at most 200 characters"} {
		if _, err := ParseLabel("body.name", text); !errs.Is(err, errs.Invalid) ||
			!strings.Contains(err.Error(), "body.name") || !strings.Contains(err.Error(), reason) {
			t.Errorf("%q: %v, want %q", text, err, reason)
		}
	}
}

// TestCanonicalQuery checks the five spellings of a list, and queries that are refused.
func TestCanonicalQuery(t *testing.T) {
	for query, want := range map[string]string{
		"": "", "a=1": "a=1", "a=1&a=2": "a=1%2C2", "a[]=1&a[]=2": "a=1%2C2", "a%5B0%5D=1&a%5B1%5D=2": "a=1%2C2",
		"a=1,2": "a=1%2C2", "b=2&a=1": "a=1&b=2",
	} {
		if got, err := canonicalizeQuery(query); err != nil || got != want {
			t.Errorf("%q: got %q, %v; want %q", query, got, err, want)
		}
	}
	for _, query := range []string{"%zz", "a;b", "a=%ff", "a=%00", "%00=a"} {
		if got, err := canonicalizeQuery(query); err == nil {
			t.Errorf("%q is taken as %q", query, got)
		}
	}
}

// TestUnmarshalRefuses checks what reaches the decoder of a struct unvalidated otherwise.
func TestUnmarshalRefuses(t *testing.T) {
	for body, reason := range map[string]string{
		`{"name":"a","NAME":"b"}`:        "duplicate member",
		`[{"x":{"k":1,"\u212a":2}}]`:     "duplicate member", // the Kelvin sign is a k to the decoder
		`{"name":"a\u0000b"}`:            "NUL",
		`{"name":`:                       "unexpected end",
		`{"a":{"b":[{"c":1,"C":true}]}}`: "duplicate member",
	} {
		var v any
		if err := Unmarshal([]byte(body), &v); err == nil || !strings.Contains(err.Error(), reason) {
			t.Errorf("%s: %v, want %q", body, err, reason)
		}
	}
	for _, body := range []string{`{"name":"a","names":"b"}`, `[{"a":1},{"A":2}]`, `{"a":"\\u0000"}`} {
		var v any
		if err := Unmarshal([]byte(body), &v); err != nil {
			t.Errorf("%s: %v", body, err)
		}
	}
}
