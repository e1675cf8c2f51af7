package template

import (
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/net/html"

	"merlon/internal/engine/dast/message"
)

// takeAll returns a function that collects, and what it has collected.
func takeAll() (add func(string), taken *[]string) {
	taken = &[]string{}
	return func(s string) { *taken = append(*taken, s) }, taken
}

func TestPathsInJSON(t *testing.T) {
	const text = `{"user": {"name": "ada", "roles": ["admin", "dev"], "x-y": 1.50, "id": 12345678901234567890},
		"items": [{"id": 1}, {"id": 2, "tags": {"a": true}}], "none": null, "": "empty"}`
	for path, want := range map[string]string{
		".user.name":          "ada",
		`.user["name"]`:       "ada",
		`."user"."name"`:      "ada",
		".user?.name?":        "ada",
		`.user["x-y"]`:        "1.50", // as it is written
		".user.id":            "12345678901234567890",
		".user.roles[1]":      "dev",
		".user.roles[-1]":     "dev",
		".user.roles[-3]":     "",
		".user.roles.[0]":     "admin",
		".user.roles[]":       "admin dev",
		".user.roles":         `["admin","dev"]`,
		".items[].id":         "1 2",
		".items[].tags.a":     "true",
		".items[1].tags":      `{"a":true}`,
		".items[5]":           "",
		".items.id":           "", // a list has no members
		".user[0]":            "", // an object has no items
		".user.name.first":    "",
		".none":               "",
		".absent":             "",
		" .user.name ":        "ada",
		".user.roles[] ":      "admin dev",
		".items[].tags.[].b?": "",
	} {
		steps, err := jsonPath(path)
		if err != nil {
			t.Errorf("%s: %v", path, err)
			continue
		}
		add, taken := takeAll()
		followPath(message.DecodeJSON([]byte(text)), steps, add)
		if got := strings.Join(*taken, " "); got != want {
			t.Errorf("%s: %q, want %q", path, got, want)
		}
	}
	for _, path := range []string{"user", ".a | .b", ".a[1:2]", ".. | .id", ".a[99999999999999999999]", "keys",
		strings.Repeat(".a", 60)} {
		if steps, err := jsonPath(path); err == nil {
			t.Errorf("%.20s was read: %v", path, steps)
		}
	}
	if steps, err := jsonPath("."); err != nil || len(steps) != 0 {
		t.Errorf("the whole document: %v, %v", steps, err)
	}
}

func TestPathsInPages(t *testing.T) {
	const page = `<html><body><h1> Shop </h1><form><input name="csrf" value="c1"><input name="q">
		<div><p>one</p><p class="x">two <b>bold</b></p></div></form><a href="/next">more</a></body></html>`
	doc, err := html.Parse(strings.NewReader(page))
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct{ path, attribute, want string }{
		{"/html/body/h1", "", "Shop"},
		{"//p", "", "one|two bold"},
		{"//p[1]", "", "one"},
		{"//P[@class='x']", "", "two bold"},
		{`//p[@class="x"]/b`, "", "bold"},
		{"//div/*[2]", "", "two bold"},
		{"//form//b", "", "bold"},
		{"//input[@name='csrf']/@value", "", "c1"},
		{"//input[@name='csrf']", "value", "c1"},
		{"//input[@name='csrf'][2]", "value", ""},
		{"//a", "HREF", "/next"},
		{"/body", "", ""},
		{"//table", "", ""},
	} {
		places, err := xmlPath(tt.path)
		if err != nil {
			t.Errorf("%s: %v", tt.path, err)
			continue
		}
		add, taken := takeAll()
		descendPath(doc, places, tt.attribute, add)
		if got := strings.Join(*taken, "|"); got != tt.want {
			t.Errorf("%s %s: %q, want %q", tt.path, tt.attribute, got, tt.want)
		}
	}
	for _, path := range []string{"", "html", "//p[last()]", "//p[text()='one']", "//@href", "/a/@href/b", "/a/@b[1]",
		"//p[@x='a'", strings.Repeat("/a", 60)} {
		if places, err := xmlPath(path); err == nil {
			t.Errorf("%.20s was read: %v", path, places)
		}
	}
}

// answer is an answer as a template sees it.
func answer(t *testing.T, status int, body string, headers ...string) values {
	t.Helper()
	req, err := message.Parse("https://shop.example/a?b=c")
	if err != nil {
		t.Fatal(err)
	}
	header := http.Header{}
	for i := 0; i < len(headers); i += 2 {
		header.Add(headers[i], headers[i+1])
	}
	return responseValues(&message.Response{Request: req, Status: status, Header: header, Body: []byte(body),
		Took: 1500 * time.Millisecond, Sent: "GET /a?b=c HTTP/1.1"})
}

func TestValuesOfAnswers(t *testing.T) {
	v := answer(t, 201, "created", "X-Frame-Options", "DENY", "Set-Cookie", "Role=admin; Path=/", "Via", "a", "Via",
		"b")
	for name, want := range map[string]string{"status_code": "201", "body": "created", "content_length": "7",
		"duration": "1.5", "x_frame_options": "DENY", "role": "admin", "via": "a b", "content_type": "",
		"host": "shop.example", "type": "http", "request": "GET /a?b=c HTTP/1.1",
		"matched": "https://shop.example/a?b=c"} {
		if got := textOf(v[name]); got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
	for part, want := range map[string]string{"": "created", "body": "created", "via": "a b"} {
		if got, ok := responsePart(part, v); !ok || got != want {
			t.Errorf("part %q: %q, %t", part, got, ok)
		}
	}
	if all, ok := responsePart("all", v); !ok || !strings.Contains(all, "X-Frame-Options: DENY") ||
		!strings.HasSuffix(all, "\r\ncreated") {
		t.Errorf("the whole answer: %q, %t", all, ok)
	}
	if got, ok := responsePart("cookie_of_nobody", v); ok {
		t.Errorf("a part that is not there: %q", got)
	}
	numbered := values{}
	numberAnswer(numbered, v, 2)
	if all, ok := responsePart("all_2", numbered); !ok || !strings.HasSuffix(all, "created") {
		t.Errorf("the second answer: %q, %t", all, ok)
	}
}

func TestExtractorsTakeValues(t *testing.T) {
	v := answer(t, 200, `{"id": 7, "token": "abc", "also": "ABC"}`, "X-Version", "1.2")
	for _, tt := range []struct {
		name string
		raw  extract
		want []string
	}{
		{"whole match", extract{Type: "regex", Regex: []string{`"token": "\w+"`}}, []string{`"token": "abc"`}},
		{"group", extract{Type: "regex", Regex: []string{`"token": "(\w+)"`}, Group: 1}, []string{"abc"}},
		{"letter case", extract{Type: "regex", Regex: []string{`"abc"`}, NoCase: true}, []string{`"abc"`, `"ABC"`}},
		{"no such group", extract{Type: "regex", Regex: []string{`abc`}, Group: 3}, nil},
		{"negative group", extract{Type: "regex", Regex: []string{`abc`}, Group: -1}, nil},
		{"once each", extract{Type: "regex", Regex: []string{`abc`, `abc`}}, []string{"abc"}},
		{"another part", extract{Type: "regex", Part: "x_version", Regex: []string{`\d`}}, []string{"1", "2"}},
		{"no such part", extract{Type: "regex", Part: "x_absent", Regex: []string{`.`}}, nil},
		{"header", extract{Type: "kval", KVal: []string{"X-Version", "x-absent"}}, []string{"1.2"}},
		{"JSON", extract{Type: "json", JSON: []string{".id", ".token"}}, []string{"7", "abc"}},
		{"expression", extract{Type: "dsl", DSL: []string{"status_code + 1", "absent"}}, []string{"201"}},
		{"page", extract{Type: "xpath", XPath: []string{"/html/body"}},
			[]string{`{"id": 7, "token": "abc", "also": "ABC"}`}},
	} {
		x, err := compileExtractor(&tt.raw)
		if err != nil {
			t.Errorf("%s: %v", tt.name, err)
			continue
		}
		if got := x.extractFrom(&evaluation{values: v, number: low}); !slices.Equal(got, tt.want) {
			t.Errorf("%s: %q, want %q", tt.name, got, tt.want)
		}
	}
}

func TestMatchersOfEachType(t *testing.T) {
	v := answer(t, 200, "Welcome\x00root", "Server", "demo/1.0")
	v["who"] = "root"
	for _, tt := range []struct {
		name string
		raw  match
		want bool
	}{
		{"status", match{Type: "status", Status: []int{301, 200}}, true},
		{"other status", match{Type: "status", Status: []int{301}}, false},
		{"not the status", match{Type: "status", Status: []int{301}, Negative: true}, true},
		{"word", match{Type: "word", Words: []string{"nobody", "root"}}, true},
		{"all words", match{Type: "word", Words: []string{"nobody", "root"}, Condition: "and"}, false},
		{"letter case", match{Type: "word", Words: []string{"welcome"}}, false},
		{"no letter case", match{Type: "word", Words: []string{"wELcome"}, NoCase: true}, true},
		{"not the word", match{Type: "word", Words: []string{"nobody"}, Negative: true}, true},
		{"not all words", match{Type: "word", Words: []string{"Welcome", "nobody"}, Condition: "and", Negative: true},
			true},
		{"word with a name", match{Type: "word", Words: []string{"{{who}}"}}, true},
		{"word with an unknown name", match{Type: "word", Words: []string{"{{absent}}"}}, false},
		{"word in hexadecimal", match{Type: "word", Words: []string{"726f6f74"}, Encoding: "hex"}, true},
		{"header", match{Type: "word", Part: "header", Words: []string{"demo/1.0"}}, true},
		{"no such part", match{Type: "word", Part: "x_absent", Words: []string{"a"}, Negative: true}, false},
		{"regex", match{Type: "regex", Regex: []string{"^Wel.*", "^x"}}, true},
		{"binary", match{Type: "binary", Binary: []string{"00726f"}}, true},
		{"size", match{Type: "size", Size: []int{12}}, true},
		{"expression", match{Type: "dsl", DSL: []string{"status_code == 200", "absent"}}, true},
		{"all expressions", match{Type: "dsl", DSL: []string{"status_code == 200", "absent"}, Condition: "and"}, false},
		{"no truth", match{Type: "dsl", DSL: []string{"status_code"}}, false},
		{"expression to fill in", match{Type: "dsl", DSL: []string{"contains(body, '{{who}}')"}}, true},
		{"expression that is none", match{Type: "dsl", DSL: []string{"{{who}}("}}, false},
	} {
		m, err := compileMatcher(tt.raw)
		if err != nil {
			t.Errorf("%s: %v", tt.name, err)
			continue
		}
		if got := m.matchesResponse(&evaluation{values: v, number: low}); got != tt.want {
			t.Errorf("%s: %t, want %t", tt.name, got, tt.want)
		}
	}
}

func TestMatchersAreJoined(t *testing.T) {
	yes := match{Type: "status", Status: []int{200}, Name: "yes"}
	hidden := match{Type: "status", Status: []int{200}, Name: "hidden", Internal: true}
	no := match{Type: "status", Status: []int{500}, Name: "no"}
	for _, tt := range []struct {
		name   string
		joined string
		list   []match
		want   bool
		names  string
	}{
		{"none", "or", nil, false, ""},
		{"none of all", "and", nil, false, ""},
		{"one of two", "or", []match{no, yes}, true, "yes"},
		{"one of all", "and", []match{yes, no}, false, ""},
		{"all", "and", []match{yes, yes}, true, "yes yes"},
		{"every name", "or", []match{yes, no, yes}, true, "yes yes"},
		{"a step", "and", []match{hidden}, true, ""},
		{"no condition", "", []match{yes, no}, true, "yes"},
	} {
		j, err := compileJudge(tt.list, tt.joined)
		if err != nil {
			t.Errorf("%s: %v", tt.name, err)
			continue
		}
		ok, names := j.matchResponse(&evaluation{values: values{"status_code": 200.0}, number: low})
		if ok != tt.want || strings.Join(names, " ") != tt.names {
			t.Errorf("%s: %t %q, want %t %q", tt.name, ok, names, tt.want, tt.names)
		}
	}
	if j, err := compileJudge([]match{hidden}, ""); err != nil || j.isReportable() {
		t.Errorf("a step would be reported: %v", err)
	}
	if j, err := compileJudge([]match{hidden, no}, ""); err != nil || !j.isReportable() {
		t.Errorf("a match would not be reported: %v", err)
	}
}
