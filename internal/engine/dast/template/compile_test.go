package template

import (
	"fmt"
	"net/url"
	"slices"
	"sort"
	"strings"
	"testing"

	"merlon/internal/engine/dast/message"
	"merlon/internal/finding"
	"merlon/internal/scan"
)

// load reads one template with files of words beside it.
func load(text string, files map[string]string) (*Template, error) {
	return loadFile(scan.Description{Name: "test.yaml", Text: text}, files)
}

// home is a section that asks for the base address, with more members behind it.
func home(more string) string {
	return "  - method: GET\n    path: [\"{{BaseURL}}\"]\n    matchers:\n      - {type: status, status: [200]}\n" + more
}

func TestTemplatesThatAreRefused(t *testing.T) {
	for _, tt := range []struct{ name, text, why string }{
		{"no text", "", "it has no text"},
		{"no document", "# nothing\n", "the template is empty"},
		{"a list", "- a\n", "a map is needed"},
		{"another protocol", "id: a\ninfo: {name: a}\ndns: []\n", "uses the protocol dns"},
		{"no id", "info: {name: a}\nhttp:\n" + home(""), `"" is no id of a template`},
		{"bad id", small("a/b", home("")), `"a/b" is no id of a template`},
		{"no name", "id: a\nhttp:\n" + home(""), "info has no name"},
		{"no sections", "id: a\ninfo: {name: a}\n", "0 sections of http"},
		{"other hosts", small("a", home("")) + "self-contained: true\n", "uses requests to other hosts"},
		{"no requests", small("a", "  - method: GET\n"), "a section without requests"},
		{"section is a text", "id: a\ninfo: {name: a}\nhttp: [b]\n", "line 3: a map is needed"},
		{"malformed requests", small("a", home("    unsafe: true\n")), "uses malformed requests (unsafe)"},
		{"unknown member", small("a", home("    teleport: 1\n")), `uses the member "teleport"`},
		{"attack", small("a", home("    attack: blitz\n")), `uses the attack "blitz"`},
		{"condition", small("a", home("    matchers-condition: xor\n")), `the condition "xor" is neither`},
		{"flow", small("a", home("")) + "flow: |\n  for (let a of b) { http() }\n", "uses a flow that is a program"},
		{"flow with names", small("a", home("")) + "flow: http(1) && x\n", "uses a flow that is a program"},
		{"flow with a sum", small("a", home("")) + "flow: http(1+1)\n", "uses a flow that is a program"},
		{"variables", small("a", home("")) + "variables: [a]\n", "variables: line"},
		{"variable", small("a", home("")) + "variables: {a: [b]}\n", "a text is needed"},
		{"function", small("a", home("")) + "variables: {a: \"{{aes_cbc('k')}}\"}\n", "uses the function aes_cbc"},
		{"annotation", small("a", "  - raw: [\"@tls-sni: a\\nGET / HTTP/1.1\"]\n"), "uses the annotation @tls-sni"},
		{"raw request", small("a", "  - raw: [\"GET\"]\n"), "a raw request without a method and a path"},
		{"payload", small("a", home("    payloads: {a: []}\n")), `payload "a" has no values`},
		{"payload of lists", small("a", home("    payloads: {a: [[b]]}\n")), `payload "a": a list of texts is needed`},
		{"payload of a file", small("a", home("    payloads: {a: words.txt}\n")), `uses the file "words.txt"`},
		{"fuzzed part", small("a", "  - fuzzing: [{part: cloud, fuzz: [a]}]\n"), `uses fuzzing of the part "cloud"`},
		{"fuzzing type", small("a", "  - fuzzing: [{part: query, type: melt, fuzz: [a]}]\n"),
			`uses fuzzing of the type "melt"`},
		{"fuzzing mode", small("a", "  - fuzzing: [{part: query, mode: all, fuzz: [a]}]\n"),
			`uses fuzzing in the mode "all"`},
		{"fuzzing without payloads", small("a", "  - fuzzing: [{part: query}]\n"), "fuzz is neither a list nor a map"},
		{"fuzzing beside requests", small("a", home("    fuzzing: [{part: query, fuzz: [a]}]\n")),
			"uses requests beside fuzzing"},
		{"values of the wrong kind", "id: a\ninfo: {name: a}\nhttp:\n  - {max-redirects: many}\n", "not a template:"},
	} {
		_, err := load(tt.text, nil)
		if err == nil || !strings.Contains(err.Error(), tt.why) {
			t.Errorf("%s: %v, want %s", tt.name, err, tt.why)
		}
	}
	if _, err := readTemplate([]byte(strings.Repeat("#", maxTemplate+1))); err == nil {
		t.Error("a template of more than the limit was read")
	}
}

func TestMatchersThatAreRefused(t *testing.T) {
	for why, raw := range map[string]match{
		"uses matchers of the type":                   {Type: "smell"},
		"a matcher of the type word without values":   {Type: "word"},
		`the condition "nor"`:                         {Type: "word", Words: []string{"a"}, Condition: "nor"},
		"regular expression":                          {Type: "regex", Regex: []string{"("}},
		`"xy" is not hexadecimal`:                     {Type: "binary", Binary: []string{"xy"}},
		"dsl: ":                                       {Type: "dsl", DSL: []string{"1 +"}},
		"a matcher of the type status without values": {Type: "status", Status: []int{}},
		"dsl: the function \"teleport\" is not known": {Type: "dsl", DSL: []string{"teleport(1)"}},
	} {
		if _, err := compileMatcher(raw); err == nil || !strings.Contains(err.Error(), why) {
			t.Errorf("%v: %v, want %s", raw, err, why)
		}
	}
	for _, raw := range []extract{{Type: "smell"}, {Type: "regex", Regex: []string{"("}},
		{Type: "dsl", DSL: []string{"{{a}}"}}, {Type: "json", JSON: []string{"keys"}},
		{Type: "xpath", XPath: []string{"html"}}} {
		if _, err := compileExtractor(&raw); err == nil {
			t.Errorf("an extractor was read: %v", raw)
		}
	}
}

func TestExtractorsThatCannotBeDoneAreLeftOut(t *testing.T) {
	const shown = "    extractors:\n      - {type: json, json: [keys]}\n      - {type: kval, kval: [server]}\n"
	tpl, err := load(small("a", home(shown)), nil)
	if err != nil || len(tpl.sections[0].extractors) != 1 {
		t.Fatalf("%v: want the other extractor", err)
	}
	if _, err := load(small("a", home(strings.Replace(shown, "json,", "json, internal: true,", 1))), nil); err == nil {
		t.Error("a later request may need what is not extracted")
	}
}

func TestProfilesThatTemplatesNeed(t *testing.T) {
	const tags = "  tags: intrusive,other\nhttp:"
	method := func(name string) string { return strings.Replace(home(""), "GET", name, 1) }
	for _, tt := range []struct {
		name, text string
		want       scan.Profile
		why        string
	}{
		{"base address", small("a", home("")), scan.Safe, ""},
		{"base address with a slash", small("a", strings.Replace(home(""), "URL}}", "URL}}/", 1)), scan.Safe, ""},
		{"path", small("a", strings.Replace(home(""), "URL}}", "URL}}/x", 1)), scan.Standard, "more than the base URL"},
		{"header", small("a", home("    headers: {a: b}\n")), scan.Standard, "more than the base URL"},
		{"post", small("a", method("POST")), scan.Standard, "more than the base URL"},
		{"delete", small("a", method("delete")), scan.Full, "it sends DELETE"},
		{"raw put", small("a", "  - raw: [\"PUT /a HTTP/1.1\"]\n"), scan.Full, "it sends PUT"},
		{"payloads", small("a", home("    payloads: {a: [b]}\n")), scan.Standard, "more than the base URL"},
		{"fuzzing", small("a", "  - fuzzing: [{part: query, fuzz: [a]}]\n"), scan.Standard, "payloads into requests"},
		{"tags", strings.Replace(small("a", home("")), "http:", tags, 1), scan.Full, "its tags are intrusive"},
	} {
		tpl, err := load(tt.text, nil)
		if err != nil {
			t.Errorf("%s: %v", tt.name, err)
		} else if tpl.Needs != tt.want || !strings.Contains(tpl.Why, tt.why) {
			t.Errorf("%s: %s, %q, want %s, %q", tt.name, tpl.Needs, tpl.Why, tt.want, tt.why)
		}
	}
}

func TestWhatTemplatesAreKnownToDo(t *testing.T) {
	for _, tt := range []struct {
		name, text                         string
		listens, slow, fuzzes, isAnonymous bool
	}{
		{"nothing", small("a", home("")), false, false, false, false},
		{"listens", small("a", home("    headers: {a: \"{{interactsh-url}}\"}\n")), true, false, false, false},
		{"measures time", small("a", home("      - {type: dsl, dsl: ['duration >= 5']}\n")), false, true, false, false},
		{"fuzzes", small("a", "  - fuzzing: [{part: query, fuzz: [a]}]\n"), false, false, true, false},
		{"speaks of guests", strings.Replace(small("a", home("")), "http:", "  tags: unauth\nhttp:", 1), false, false,
			false, true},
	} {
		tpl, err := load(tt.text, nil)
		if err != nil {
			t.Errorf("%s: %v", tt.name, err)
		} else if tpl.Listens != tt.listens || tpl.Slow != tt.slow || tpl.Fuzzes != tt.fuzzes ||
			tpl.Anonymous != tt.isAnonymous {
			t.Errorf("%s: listens %t, slow %t, fuzzes %t, anonymous %t", tt.name, tpl.Listens, tpl.Slow, tpl.Fuzzes,
				tpl.Anonymous)
		}
	}
}

func TestPayloadsAreCombined(t *testing.T) {
	payloads := []payload{{"user", []string{"a", "b", "c"}}, {"word", []string{"1", "2"}}}
	for attack, want := range map[string]string{
		"pitchfork":   "a1 b2",
		"clusterbomb": "a1 a2 b1 b2 c1 c2",
		"":            "1 2 a b c",
	} {
		b := &block{payloads: payloads, attack: attack}
		var got []string
		for _, set := range b.payloadSets() {
			got = append(got, set["user"]+set["word"])
		}
		sort.Strings(got)
		if strings.Join(got, " ") != want || len(got) != countCombinations(b) {
			t.Errorf("%q: %q, counted as %d, want %s", attack, got, countCombinations(b), want)
		}
	}
	if sets := (&block{}).payloadSets(); len(sets) != 1 || sets[0] != nil {
		t.Errorf("without payloads: %v", sets)
	}
	var many []string
	for i := range 100 {
		many = append(many, fmt.Sprint(i))
	}
	big := &block{attack: "clusterbomb", payloads: []payload{{"a", many}, {"b", many}, {"c", many}}}
	if n := countCombinations(big); n != maxRequests+1 {
		t.Errorf("counted %d, want no more than is refused", n)
	}
}

func TestPayloadsComeFromListsTextsAndFiles(t *testing.T) {
	files := map[string]string{"lists/words.txt": "one\r\n\ntwo\n", "other.txt": "x"}
	text := small("a", home(`    payloads:
      list: [a, 1]
      text: |
        b
        c
      file: helpers/lists/words.txt
      graded:
        high: [never]
        low: [first]
`))
	tpl, err := load(text, files)
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{"list": "a 1", "text": "b c", "file": "one two", "graded": "first"}
	for _, p := range tpl.sections[0].payloads {
		if got := strings.Join(p.values, " "); got != want[p.name] {
			t.Errorf("%s: %q, want %q", p.name, got, want[p.name])
		}
	}
	if n := len(tpl.sections[0].payloads); n != len(want) {
		t.Errorf("%d payloads", n)
	}
}

func TestRulesOfTemplates(t *testing.T) {
	tpl, err := load(`id: shop-leak
info:
  name: Shop shows its orders
  severity: Critical
  description: |
    First line.
    Second line.
  impact: Everybody reads them.
  remediation: Ask who is there.
  reference: ["https://example.org/a", "ftp://example.org/b", " http://example.org/c "]
  classification: {cwe-id: "cwe-200, CWE-x"}
http:
`+home(""), nil)
	if err != nil {
		t.Fatal(err)
	}
	r := tpl.Rule
	if r.ID != "template/shop-leak" || r.Name != "Shop shows its orders" || r.Severity != finding.Critical ||
		r.ShortDescription != "First line." || r.HowToPrevent != "Ask who is there." ||
		!slices.Equal(r.CWE, []string{"CWE-200"}) || r.Link != "https://example.org/a" {
		t.Errorf("%+v", r)
	}
	for _, want := range []string{"Second line.", "Everybody reads them.", "Reference: http://example.org/c"} {
		if !strings.Contains(r.Description, want) {
			t.Errorf("%q lacks %q", r.Description, want)
		}
	}
	if strings.Contains(r.Description, "ftp:") {
		t.Errorf("%q refers to what is no page", r.Description)
	}
	plain, err := load("id: a\ninfo: {name: Name alone, severity: info}\nhttp:\n"+home(""), nil)
	if err != nil {
		t.Fatal(err)
	}
	if r := plain.Rule; r.Description != "Name alone" || r.ShortDescription != "Name alone" || r.HowToPrevent == "" ||
		r.Severity != finding.Low {
		t.Errorf("%+v", r)
	}
}

func TestFailuresAreToldByCause(t *testing.T) {
	var list []scan.Description
	for i := range 7 {
		list = append(list, scan.Description{Name: fmt.Sprintf("dns%d.yaml", i), Text: "id: a\ndns: []\n"})
	}
	list = append(list, scan.Description{Name: "put.yaml", Text: small("put", "  - raw: [\"PUT / HTTP/1.1\"]\n")},
		scan.Description{Name: "words.txt", Text: "a\n"}, scan.Description{Name: "home.yaml", Text: small("a", home(""))},
		scan.Description{Name: "again.yaml", Text: small("a", home(""))})
	var told []string
	checks := Checks(&scan.Target{Profile: scan.Safe, Templates: list}, false, func(r scan.Reason) {
		told = append(told, r.Message)
	})
	want := []string{
		"7 templates were not run: uses the protocol dns (dns0.yaml, dns1.yaml, dns2.yaml, dns3.yaml, dns4.yaml and 2 more)",
		"1 templates were not run: needs the profile full: it sends PUT (put.yaml)",
		`1 templates were not run: the id "a" is that of another template (again.yaml)`,
	}
	if !slices.Equal(told, want) {
		t.Errorf("told %q", told)
	}
	if len(checks) != 2 || len(checks[0].FindingRules) != 1 {
		t.Errorf("%d checks", len(checks))
	}
	if checks := Checks(&scan.Target{}, false, nil); checks != nil {
		t.Errorf("checks without templates: %d", len(checks))
	}
}

// targetAt are the values of a target by its address.
func targetAt(t *testing.T, address string) values {
	t.Helper()
	u, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	return targetValues(u)
}

func TestValuesOfTargets(t *testing.T) {
	v := targetAt(t, "https://www.shop.example.co.uk/app/start.php?x=1")
	for name, want := range map[string]string{"BaseURL": "https://www.shop.example.co.uk/app/start.php",
		"RootURL": "https://www.shop.example.co.uk", "Hostname": "www.shop.example.co.uk", "Port": "443",
		"Scheme": "https", "Path": "/app", "RDN": "example.co.uk", "DN": "example", "TLD": "co.uk", "SD": "www.shop"} {
		if got := textOf(v[name]); got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
	v = targetAt(t, "http://127.0.0.1:8080/")
	for name, want := range map[string]string{"BaseURL": "http://127.0.0.1:8080", "Hostname": "127.0.0.1:8080",
		"Host": "127.0.0.1", "Port": "8080", "TLD": "", "Path": ""} {
		if got := textOf(v[name]); got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
}

func TestAddressesOfRequests(t *testing.T) {
	v := targetAt(t, "https://shop.example/app")
	for _, tt := range []struct {
		at    string
		merge bool
		want  string
	}{
		{"/x", false, "https://shop.example/x"},
		{"/x", true, "https://shop.example/app/x"},
		{"x?y=1#z", false, "https://shop.example/x?y=1"},
		{"https://other.example/a b?c=ä", true, "https://other.example/a%20b?c=%C3%A4"},
		{"/..;/%2e%2e/%00", false, "https://shop.example/..;/%2e%2e/%00"}, // as it is written
		{"/x?", false, "https://shop.example/x"},
	} {
		r, err := resolveTarget(tt.at, v, tt.merge)
		if err != nil {
			t.Errorf("%s: %v", tt.at, err)
		} else if got := r.Address(); got != tt.want {
			t.Errorf("%s: %s, want %s", tt.at, got, tt.want)
		}
	}
	for _, at := range []string{"https://user@other.example/", "http:///x", "https://a b/"} {
		if r, err := resolveTarget(at, v, false); err == nil {
			t.Errorf("%s was read: %s", at, r.Address())
		}
	}
}

func TestRawRequestsAreRead(t *testing.T) {
	r, err := parseRaw("\n POST /login?a=b HTTP/1.1\r\nHost: other\r\nCookie: a=1; b=2; \r\nContent-Length: 99\r\n"+
		"Content-Type: application/json\r\nno header\r\nX-Empty:\r\n\r\n{\"a\": 1}\r\n",
		targetAt(t, "https://shop.example/app"), true)
	if err != nil {
		t.Fatal(err)
	}
	if r.Method != "POST" || r.Address() != "https://shop.example/app/login?a=b" {
		t.Errorf("%s %s", r.Method, r.Address())
	}
	if string(r.Body.Text) != `{"a": 1}` || r.Body.Type != "application/json" {
		t.Errorf("body %q of %q", r.Body.Text, r.Body.Type)
	}
	var names []string
	for _, h := range r.Header {
		names = append(names, h.Name)
	}
	if got := strings.Join(names, " "); got != "Host X-Empty" {
		t.Errorf("headers %q", got)
	}
	if len(r.Cookies) != 2 || r.Cookies[1].Value != "2" {
		t.Errorf("cookies %v", r.Cookies)
	}
}

func TestBodiesOfManyPartsKeepTheirLineEnds(t *testing.T) {
	r, err := parseRaw("POST / HTTP/1.1\nContent-Type: multipart/form-data; boundary=b\n\n--b\n\nx\n--b--\n",
		targetAt(t, "https://shop.example/"), false)
	if err != nil {
		t.Fatal(err)
	}
	if got := string(r.Body.Text); got != "--b\r\n\r\nx\r\n--b--\r\n" {
		t.Errorf("body %q", got)
	}
	if _, err := parseRaw("nonsense", targetAt(t, "https://shop.example/"), false); err == nil {
		t.Error("a request line without a path was read")
	}
}

func TestRequestsAreNotSentWithoutTheirValues(t *testing.T) {
	v := targetAt(t, "https://shop.example/")
	v["name"] = "a b"
	e := &evaluation{values: v, number: low}
	full := &shape{method: "POST", path: "{{BaseURL}}/{{name}}", body: "n={{name}}", headers: []pair{{"X-N", "{{name}}"}}}
	r, err := (&block{}).buildRequest(full, e)
	if err != nil || r.Address() != "https://shop.example/a%20b" || string(r.Body.Text) != "n=a b" ||
		r.HeaderValue("X-N") != "a b" {
		t.Errorf("%v, %v", r, err)
	}
	for _, s := range []*shape{{method: "GET", path: "{{BaseURL}}/{{nobody}}"}, {raw: "GET /{{nobody}} HTTP/1.1"},
		{method: "GET", path: "/", headers: []pair{{"A", "{{nobody}}"}}}, {method: "GET", path: "/", body: "{{nobody}}"}} {
		if _, err := (&block{}).buildRequest(s, e); err != (errMissing{"nobody"}) {
			t.Errorf("%+v: %v", s, err)
		}
		if _, err := (&block{lenient: true}).buildRequest(s, e); err != nil {
			t.Errorf("%+v without the check: %v", s, err)
		}
	}
}

func TestPayloadsArePutToValues(t *testing.T) {
	for _, tt := range []struct{ kind, value, want string }{
		{"replace", "shop", "X"},
		{"prefix", "shop", "Xshop"},
		{"postfix", "shop", "shopX"},
		{"infix", "shop", "shXop"},
		{"infix", "", "X"},
		{"replace-regex", "s1h2", "sXhX"},
	} {
		r, err := compileRule(ruleOf(fuzzing{Part: "query", Type: tt.kind, ReplaceRegex: `\d`}))
		if err != nil {
			t.Fatal(err)
		}
		if got := r.applyPayload(tt.value, "X"); got != tt.want {
			t.Errorf("%s of %q: %q, want %q", tt.kind, tt.value, got, tt.want)
		}
	}
}

// ruleOf gives a rule the payload X.
func ruleOf(f fuzzing) *fuzzing {
	_ = f.Fuzz.Encode([]string{"X"}) // a list of texts has a form
	return &f
}

func TestPointsThatRulesAccept(t *testing.T) {
	req, err := message.Parse("https://shop.example/item/5?id=7&q=word")
	if err != nil {
		t.Fatal(err)
	}
	req.Cookies = []message.Param{{Name: "sid", Value: "1"}}
	for _, tt := range []struct {
		name string
		rule fuzzing
		want string
	}{
		{"query", fuzzing{Part: "query"}, "id q"},
		{"cookie", fuzzing{Part: "cookie"}, "sid"},
		{"keys", fuzzing{Part: "query", Keys: []string{"ID"}}, "id"},
		{"patterns of keys", fuzzing{Part: "query", KeysRegex: []string{"^Q"}}, "q"},
		{"values", fuzzing{Part: "query", Values: []string{`^\d+$`}}, "id"},
		{"two parts", fuzzing{Parts: []string{"query", "cookie"}, Keys: []string{"id", "sid"}}, "id sid"},
		{"nothing", fuzzing{Part: "body"}, ""},
	} {
		r, err := compileRule(ruleOf(tt.rule))
		if err != nil {
			t.Errorf("%s: %v", tt.name, err)
			continue
		}
		var got []string
		for _, p := range r.acceptedPoints(req) {
			got = append(got, p.Name)
		}
		if strings.Join(got, " ") != tt.want {
			t.Errorf("%s: %q, want %q", tt.name, got, tt.want)
		}
	}
}

func TestPartsOfRequests(t *testing.T) {
	accepted := map[message.In]string{message.InQuery: "query request ", message.InPath: "path request ",
		message.InHeader: "header headers request", message.InCookie: "cookie request",
		message.InForm: "body request", message.InMultipart: "body request", message.InJSON: "body request",
		message.InXML: "body request", message.InFileName: "none"}
	for in, want := range accepted {
		names := strings.Split(want, " ")
		for _, name := range []string{"", "query", "path", "header", "headers", "cookie", "body", "request"} {
			if got := isInPart(name, in); got != slices.Contains(names, name) {
				t.Errorf("%s in %q: %t", in, name, got)
			}
		}
	}
}

func TestParametersThatAreNotThereAreAdded(t *testing.T) {
	req, err := message.Parse("https://shop.example/?id=7")
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		part, name string
		want       string
	}{
		{"query", "id", "https://shop.example/?id=X"},
		{"query", "next", "https://shop.example/?id=7&next=X"},
		{"cookie", "sid", ""},
	} {
		r := rule{parts: []string{tt.part}}
		p, ok := r.pointOf(req, tt.name)
		if !ok {
			if tt.want != "" {
				t.Errorf("%s of the %s has no place", tt.name, tt.part)
			}
			continue
		}
		if got := req.With(p, "X").Address(); got != tt.want {
			t.Errorf("%s of the %s: %s, want %s", tt.name, tt.part, got, tt.want)
		}
	}
	header := rule{parts: []string{"header"}}
	if p, ok := header.pointOf(req, "X-Test"); !ok || req.With(p, "X").HeaderValue("X-Test") != "X" {
		t.Errorf("a header has no place: %v", p)
	}
}

func TestFilesAreFoundByTheEndOfTheirPaths(t *testing.T) {
	files := map[string]string{"a/words.txt": "1", "b/words.txt": "2", "words.csv": "3"}
	for name, want := range map[string]string{"a/words.txt": "1", "words.txt": "1", "helpers/words.csv": "3"} {
		if got, ok := findFile(files, name); !ok || got != want {
			t.Errorf("%s: %q, %t", name, got, ok)
		}
	}
	if got, ok := findFile(files, "ords.txt"); ok {
		t.Errorf("a part of a name was found: %q", got)
	}
}
