package template

import (
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"merlon/internal/engine/dast/activescan"
	"merlon/internal/engine/dast/activescan/activescantest"
	"merlon/internal/scan"
)

// small is a template around sections of http.
func small(id, http string) string {
	return "id: " + id + "\ninfo:\n  name: Test of " + id + "\n  severity: high\n  classification:\n    cwe-id: " +
		"CWE-200\n  reference:\n    - https://example.org/" + id + "\nhttp:\n" + http
}

// attackWith runs templates against a handler.
func attackWith(t *testing.T, handler http.HandlerFunc, operations []string,
	templates ...string) activescantest.Result {
	t.Helper()
	target := &scan.Target{Profile: scan.Full}
	for i, text := range templates {
		target.Templates = append(target.Templates, scan.Description{Name: fmt.Sprintf("%d.yaml", i), Text: text})
	}
	l := &listener{}
	checks := Checks(target, true, func(r scan.Reason) { t.Errorf("not run: %s", r.Message) })
	lookUp := func(w http.ResponseWriter, r *http.Request) {
		if strings.HasPrefix(r.URL.Path, "/bad/") {
			l.look(r.URL.Query().Get("q"))
		}
		handler(w, r)
	}
	return activescantest.Attack(t, http.HandlerFunc(lookUp), checks, operations, func(r *activescan.Engine) {
		r.OAST, r.OASTTimeout = l, 10*time.Millisecond
	})
}

// listener hears of what applications of the test look up.
type listener struct {
	mu    sync.Mutex
	count int
	calls []scan.Interaction
}

func (l *listener) NewToken() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.count++
	return fmt.Sprintf("token%d", l.count)
}
func (l *listener) Address(token string) (url, host string) {
	return "http://127.0.0.1:1/" + token, token + ".listener.example"
}
func (l *listener) Response(string) (t scan.OASTResponse) { return t }
func (l *listener) Interactions(from int) []scan.Interaction {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.calls[min(from, len(l.calls)):]
}

// look looks a name up.
func (l *listener) look(address string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if token, _, ok := strings.Cut(strings.TrimPrefix(address, "http://"), ".listener.example"); ok {
		l.calls = append(l.calls, scan.Interaction{Token: token, Protocol: "dns", From: "192.0.2.1", Request: "A " + token})
	}
}

// application is vulnerable below /bad and safe below /good.
func application(w http.ResponseWriter, r *http.Request) {
	safe := !strings.HasPrefix(r.URL.Path, "/bad")
	switch path := strings.TrimPrefix(strings.TrimPrefix(r.URL.Path, "/bad"), "/good"); {
	case path == "/":
		fmt.Fprint(w, "<title>welcome</title>")
	case path == "/version":
		version := map[bool]string{true: "2.10.0", false: "2.9.1"}[safe]
		fmt.Fprintf(w, `{"product":{"name":"shop","version":%q}}`, version)
	case path == "/token":
		fmt.Fprint(w, `<form><input name="nonce" value="n123"></form>`)
	case path == "/submit":
		if r.FormValue("nonce") == "n123" && !safe {
			http.SetCookie(w, &http.Cookie{Name: "role", Value: "admin"})
		}
	case path == "/admin":
		if c, err := r.Cookie("role"); err == nil && c.Value == "admin" && !safe {
			fmt.Fprint(w, "control panel")
		}
	case path == "/login":
		user, password, _ := r.BasicAuth()
		if user == "root" && password == "toor" && !safe {
			fmt.Fprint(w, "signed in")
			return
		}
		w.WriteHeader(http.StatusUnauthorized)
	case path == "/old":
		http.Redirect(w, r, strings.TrimSuffix(r.URL.Path, "old")+"new", http.StatusFound)
	case path == "/new" && !safe:
		fmt.Fprint(w, "moved secret")
	case path == "/echo" && !safe:
		fmt.Fprint(w, r.URL.Query().Get("q"))
	case path == "/echo":
		fmt.Fprint(w, strings.ReplaceAll(r.URL.Query().Get("q"), "<", "&lt;"))
	case path == "/xml" && !safe:
		body, _ := io.ReadAll(r.Body)
		fmt.Fprintf(w, "%s|%s", r.Header.Get("Content-Type"), body)
	default:
		w.WriteHeader(http.StatusNotFound)
	}
}

// templates are written once, with BASE for the folder that they ask.
var templates = map[string]string{
	"version": `  - method: GET
    path: ["{{BaseURL}}BASE/version"]
    extractors:
      - {type: json, part: body, name: version, internal: true, json: [".product.version"]}
    matchers-condition: and
    matchers:
      - {type: status, status: [200]}
      - {type: dsl, dsl: ["compare_versions(version, '< 2.10.0', '>= 2.0')", "len(body) > 3"], condition: and}
`,
	"chain": `  - raw:
      - |
        GET BASE/token HTTP/1.1
        Host: {{Hostname}}
      - |
        POST BASE/submit HTTP/1.1
        Host: {{Hostname}}
        Content-Type: application/x-www-form-urlencoded

        nonce={{nonce}}
      - |
        GET BASE/admin HTTP/1.1
        Host: {{Hostname}}
    extractors:
      - {type: xpath, name: nonce, internal: true, attribute: value, xpath: ["//input[@name='nonce']"]}
    matchers:
      - type: dsl
        dsl: ['status_code_2 == 200 && contains(to_lower(body_3), "control") && !contains(body_1, "control")']
`,
	"login": `  - raw:
      - |
        GET BASE/login HTTP/1.1
        Host: {{Hostname}}
        Authorization: Basic {{base64(concat(user, ':', password))}}
    attack: clusterbomb
    payloads:
      user: [admin, root]
      password: [admin, toor, "1234"]
    stop-at-first-match: true
    matchers:
      - {type: word, words: ["signed in"]}
`,
	"moved": `  - method: GET
    path: ["{{BaseURL}}BASE/old"]
    host-redirects: true
    max-redirects: 2
    matchers:
      - {type: word, words: ["MOVED SECRET"], case-insensitive: true}
`,
	"raw": `  - raw:
      - |
        POST BASE/xml?x=<y>&z HTTP/1.1
        Host: {{Hostname}}
        Content-Type: text/xml

        <a>{{md5(randstr)}}</a>
    matchers-condition: and
    matchers:
      - {type: word, part: all, words: ["text/xml|<a>{{md5(randstr)}}</a>"]}
      - {type: word, part: body, words: ["error"], negative: true}
      - {type: regex, part: header, regex: ["(?i)content-length: \\d+"]}
`,
	"called": `  - method: GET
    path: ["{{BaseURL}}BASE/echo?q=http://{{interactsh-url}}/x"]
    matchers-condition: and
    matchers:
      - {type: word, part: interactsh_protocol, words: [dns]}
      - {type: word, words: ["listener.example/x"]}
`,
}

func TestTemplatesFindWhatIsThere(t *testing.T) {
	var bad, good []string
	for id, text := range templates {
		bad = append(bad, small(id, strings.ReplaceAll(text, "BASE", "/bad")))
		good = append(good, small(id, strings.ReplaceAll(text, "BASE", "/good")))
	}
	got := attackWith(t, application, nil, bad...)
	activescantest.Expect(t, got, "template/version GET /bad/version", "template/chain GET "+
		"/bad/admin", "template/login "+
		"GET /bad/login", "template/moved GET /bad/new",
		"template/raw POST /bad/xml", "template/called GET /bad/echo")
	for _, f := range got.Findings {
		if f.RuleID == "template/login" && f.Live.Payload != "password=toor, user=root" {
			t.Errorf("payload %q", f.Live.Payload)
		}
	}
	activescantest.Expect(t, attackWith(t, application, nil, good...))
}

func TestFuzzing(t *testing.T) {
	text := small("reflected", `  - pre-condition:
      - {type: dsl, dsl: ['method == "GET"']}
    payloads:
      mark: ["'><{{rand}}>", "<{{rand}}/>"]
    fuzzing:
      - {part: query, type: postfix, mode: single, fuzz: ["{{mark}}"]}
    stop-at-first-match: true
    matchers:
      - {type: word, words: ["{{mark}}"]}
`)
	text = strings.Replace(text, "http:\n", "variables:\n  rand: \"{{rand_text_alpha(8)}}\"\nhttp:\n", 1)
	got := attackWith(t, application, []string{"GET /bad/echo?q=1", "GET /good/echo?q=1", "POST /bad/echo?q=1 a=1"},
		text)
	activescantest.Expect(t, got, "template/reflected GET /bad/echo query:q")
}

func TestWeakMatchesAreToldAsSuch(t *testing.T) {
	text := small("anything", "  - method: GET\n    path: [\"{{BaseURL}}/admin.php\"]\n    matchers:\n      - {type: "+
		"status, status: [200]}\n")
	got := attackWith(t, func(w http.ResponseWriter, r *http.Request) { fmt.Fprint(w, "hello") }, nil, text)
	if len(got.Findings) != 1 || got.Findings[0].Confidence != "low" {
		t.Errorf("%+v", got.Findings)
	}
}

func TestMatchesThatDoNotComeBackAreNone(t *testing.T) {
	text := small("once", "  - method: GET\n    path: [\"{{BaseURL}}/\"]\n    matchers:\n      - {type: word, words: "+
		"[now]}\n")
	asked := false
	got := attackWith(t, func(w http.ResponseWriter, r *http.Request) {
		if !asked {
			asked = true
			fmt.Fprint(w, "now")
		}
	}, nil, text)
	activescantest.Expect(t, got)
}

func TestTemplatesShareAnswers(t *testing.T) {
	var all []string
	for i := range 10 {
		all = append(all, small(fmt.Sprintf("t%d", i), fmt.Sprintf("  - method: GET\n    path: [\"{{BaseURL}}/\"]\n  "+
			"  matchers:\n      - {type: word, words: [missing%d]}\n", i)))
	}
	if got := attackWith(t, application, nil, all...); got.Requests > 4 { // as many as ask at once
		t.Errorf("%d requests for one page", got.Requests)
	}
}

func TestWhatIsNotRunIsSaid(t *testing.T) {
	section := "  - method: GET\n    path: [\"{{BaseURL}}\"]\n    matchers:\n      - {type: status, status: [200]}\n"
	for want, text := range map[string]string{
		"the protocol dns":     "id: a\ninfo: {name: x}\ndns:\n  - name: x\n",
		"self-contained":       small("a", section) + "self-contained: true\n",
		"unsafe":               small("a", section+"    unsafe: true\n"),
		"a flow that is":       small("a", section) + "flow: |\n  for (let i = 0; i < 2; i++) { http(1) }\n",
		"the member \"magic\"": small("a", section+"    magic: 1\n"),
		"is no id":             small("../a", section),
		"generate_java_gadget": small("a",
			strings.ReplaceAll(section, "{{BaseURL}}", "{{BaseURL}}/{{generate_java_gadget('dns', 'x')}}")),
		"matchers of the type": small("a", strings.ReplaceAll(section, "type: status, status",
			"type: magic, status")),
		"the function \"magic\"": small("a", "  - method: GET\n    path: [\"{{BaseURL}}\"]\n    matchers:\n      - "+
			"{type: dsl, dsl: [\"magic(body)\"]}\n"),
		"not valid YAML": "id: [",
		"is empty":       "",
		"the file \"words.lst\"": small("a", strings.ReplaceAll(section, "    matchers", "    payloads: {x: "+
			"words.lst}\n    matchers")),
		"more than 5000": small("a", strings.ReplaceAll(section, "    matchers", "    attack: clusterbomb\n  "+
			"  payloads: {x: big.txt, y: big.txt}\n    matchers")),
	} {
		templates, failures := Load([]scan.Description{{Name: "a.yaml", Text: text},
			{Name: "big.txt", Text: strings.Repeat("x\n", 100)}})
		if len(failures) != 1 || !strings.Contains(failures[0].Why, want) && text != "" {
			t.Errorf("%s: %v %v", want, templates, failures)
		}
	}
}

func TestProfiles(t *testing.T) {
	head := "  - method: %s\n    path: [\"{{BaseURL}}%s\"]\n    matchers:\n      - {type: status, status: [200]}\n"
	for _, c := range []struct {
		text string
		want scan.Profile
	}{
		{small("a", fmt.Sprintf(head, "GET", "")), scan.Safe},
		{small("a", fmt.Sprintf(head, "GET", "/admin")), scan.Standard},
		{small("a", fmt.Sprintf(head, "DELETE", "/")), scan.Full},
		{strings.Replace(small("a", fmt.Sprintf(head, "GET", "")), "info:", "info:\n  tags: x,intrusive", 1),
			scan.Full},
	} {
		got, failures := Load([]scan.Description{{Name: "a.yaml", Text: c.text}})
		if len(got) != 1 || got[0].Needs != c.want {
			t.Errorf("%v %v, want %s", got, failures, c.want)
		}
	}
	var reasons []string
	target := &scan.Target{Profile: scan.Safe, Production: true,
		Templates: []scan.Description{{Name: "x.yaml", Text: small("x", fmt.Sprintf(head, "GET", "/admin"))},
			{Name: "y.yaml", Text: small("y", "  - method: GET\n    path: [\"{{BaseURL}}\"]\n    matchers:\n      - "+
				"{type: dsl, dsl: [\"duration >= 6\"]}\n")},
			{Name: "z.yaml", Text: small("z", "  - method: GET\n    path: [\"{{BaseURL}}\"]\n    matchers:\n      - "+
				"{type: word, part: interactsh_protocol, words: [dns]}\n")}}}
	Checks(target, false, func(r scan.Reason) { reasons = append(reasons, r.Message) })
	slices.Sort(reasons)
	if len(reasons) != 3 || !strings.Contains(reasons[0], "measures time") ||
		!strings.Contains(reasons[1], "needs the profile standard") ||
		!strings.Contains(reasons[2], "nothing listens") {
		t.Errorf("reasons %q", reasons)
	}
}

func TestExpressions(t *testing.T) {
	e := &evaluation{values: values{"body": "Hello World", "status_code": 200.0, "version": "1.2.3",
		"list": []any{"a", "b"}}, number: func(low, _ int) int {
		return low
	}}
	for text, want := range map[string]any{
		`status_code == 200 && contains(body, "World")`:  true,
		`status_code != 200 || !contains(body, 'x')`:     true,
		`status_code in (200, 302)`:                      true,
		`body =~ "^Hel+o"`:                               true,
		`1 + 2 * 3 - -4`:                                 11.0,
		`"a" + 1`:                                        "a1",
		`len(body) > 10 ? "long" : "short"`:              "long",
		`md5("a")`:                                       "0cc175b9c0f1b6a831c399e269772661",
		`base64_decode(base64("é"))`:                     "é",
		`hex_encode(xor("ab", "  "))`:                    "4142",
		`mmh3("hello")`:                                  "613153351",
		`mmh3("foo")`:                                    "-156908512",
		`base64_py("a")`:                                 "YQ==\n",
		`url_encode("a b&c")`:                            "a+b%26c",
		`compare_versions("v1.2.3", ">= 1.2", "< 1.10")`: true,
		`compare_versions("2.0-beta", "< 2.0")`:          true,
		`compare_versions("1.2.9", "~> 1.2.3")`:          true,
		`compare_versions("1.3.0", "~> 1.2.3")`:          false,
		`regex("wor(ld|m)", to_lower(body))`:             true,
		`regex("\\d+\\.\\d+", version)`:                  true,
		`contains_all(body, "Hello", "World") && contains_any(body, "x", "W")`:    true,
		`replace_regex(version, "[.]", "-")`:                                      "1-2-3",
		`rand_int(5, 9)`:                                                          5.0,
		`rand_text_alpha(3)`:                                                      "aaa",
		`hmac("sha256", "data", "key")`:                                           "5031fe3d989c6d1537a013fa6e739da23463fdaec3b70137d828e36ace221bd0",
		`gzip_decode(gzip("x")) + inflate(deflate("y")) + zlib_decode(zlib("z"))`: "xyz",
		`join("-", "a", "b") + index(split("c,d", ","), 1)`:                       "a-bd",
		`join("+", list)`:                                                         "a+b",
		`date_time("%Y", 0)`:                                                      "1970",
		`to_number("7") % 4`:                                                      3.0,
		`substr("abcdef", 1, 3)`:                                                  "bc",
		`padding("a", "b", 3, "prefix")`:                                          "bba",
		`line_starts_with("x\\y", "x")`:                                           true,
		`0x10`:                                                                    16.0,
		`missing ?? "none"`:                                                       "none",
		`generate_jwt("{\"a\":1}", "HS256", "k")`:                                 "eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.eyJhIjoxfQ.",
	} {
		x, err := parseExpression(text)
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		got, err := x.root.eval(e)
		if s, ok := got.(string); ok && strings.HasPrefix(text, "generate_jwt") {
			got = s[:min(len(s), len(want.(string)))]
		}
		if err != nil || got != want {
			t.Errorf("%s = %#v, %v; want %#v", text, got, err, want)
		}
	}
	for _, text := range []string{"", "(", "1 +", "a b", `"x`, "nope(1)", "md5()", `regex("(", body)`,
		strings.Repeat("(", 1000), "a ? b"} {
		if _, err := parseExpression(text); err == nil {
			t.Errorf("%.20q was read", text)
		}
	}
	for _, text := range []string{"missing", "1 + true", `repeat("x", 99999999)`, `base64_decode("!")`, "!1",
		`replace("", "", "")+missing`} {
		x, err := parseExpression(text)
		if err != nil {
			t.Errorf("%s: %v", text, err)
		} else if v, err := x.root.eval(e); err == nil {
			t.Errorf("%s = %v", text, v)
		}
	}
}

func TestFill(t *testing.T) {
	e := &evaluation{values: values{"name": "Bob", "q": `it's`, "evil": "{{md5('x')}}"}, number: func(low, _ int) int {
		return low
	}}
	for text, want := range map[string]string{
		"hi {{name}}":                      "hi Bob",
		"{{base64('{{name}}')}}":           "Qm9i",
		"{{7*7}}":                          "{{7*7}}",
		"{{to_upper(q)}} {{len('{{q}}')}}": "IT'S 4",
		"{{evil}}":                         "{{md5('x')}}",
		"a{{{name}}}":                      "a{Bob}",
		"{{name":                           "{{name",
		"{{alert(1)}}":                     "{{alert(1)}}",
	} {
		if got, missing := fillExpressions(text, e); got != want || missing != "" {
			t.Errorf("%s: %q, %q; want %q", text, got, missing, want)
		}
	}
	if _, missing := fillExpressions("/x?{{token}}", e); missing != "token" {
		t.Errorf("missing %q", missing)
	}
}

func TestFlow(t *testing.T) {
	section := "  - method: GET\n    path: [\"{{BaseURL}}%s\"]\n    matchers:\n      - {type: word, words: [%q], " +
		"internal: %v}\n"
	two := func(first string) string {
		return small("flow", fmt.Sprintf(section, "/", first, true)+fmt.Sprintf(section, "/bad/new", "moved", false)) +
			"flow: http(1) && http(2)\n"
	}
	activescantest.Expect(t, attackWith(t, application, nil, two("welcome")), "template/flow GET /bad/new")
	activescantest.Expect(t, attackWith(t, application, nil, two("elsewhere")))
}

func TestHostileTemplatesAreQuick(t *testing.T) {
	began := time.Now()
	bomb := "a: &a [x,x,x,x,x,x,x,x,x,x]\n"
	for i := range 8 {
		bomb += fmt.Sprintf("%c: &%c [*%c,*%c,*%c,*%c,*%c,*%c,*%c,*%c]\n", 'b'+i, 'b'+i, 'a'+i, 'a'+i, 'a'+i, 'a'+i,
			'a'+i, 'a'+i, 'a'+i, 'a'+i)
	}
	for _, text := range []string{bomb + "id: x\ninfo: {name: x}\nhttp: *i\n", strings.Repeat("[", 100_000),
		"id: x\nhttp:\n  - path: " + strings.Repeat("{{", 50_000)} {
		if _, failures := Load([]scan.Description{{Name: "x.yaml", Text: text}}); len(failures) != 1 {
			t.Errorf("%.30q was taken", text)
		}
	}
	if took := time.Since(began); took > time.Minute {
		t.Errorf("hostile templates took %s", took)
	}
}

func FuzzLoad(f *testing.F) {
	for _, text := range templates {
		f.Add(small("x", text))
	}
	f.Fuzz(func(t *testing.T, text string) {
		got, _ := Load([]scan.Description{{Name: "x.yaml", Text: text}})
		for _, tpl := range got {
			for _, b := range tpl.sections {
				for i := range b.shapes {
					e := &evaluation{values: values{"BaseURL": "http://a.example", "RootURL": "http://a.example",
						"Hostname": "a.example"}, number: func(low, _ int) int {
						return low
					}}
					if req, err := b.buildRequest(&b.shapes[i], e); err == nil {
						_, _ = req.HTTP(t.Context())
					}
				}
			}
		}
	})
}

func FuzzExpression(f *testing.F) {
	for _, text := range []string{`status_code == 200 && contains(body, "x")`, `rand_int(1, 2) ** 3`,
		`padding("a","b",-1,"x")`, `substr("abc",-1,99)`, `index("",0)`, `{{md5("x")}}`} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		e := &evaluation{values: values{"body": "x", "status_code": 200.0}, number: func(low, _ int) int { return low }}
		if x, err := parseExpression(text); err == nil {
			_, _ = x.root.eval(e)
		}
		_, _ = fillExpressions(text, e)
		_, _ = jsonPath(text)
		_, _ = xmlPath(text)
	})
}
