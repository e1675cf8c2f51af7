package browser

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"merlon/internal/engine/dast/message"
)

func TestSplitFragment(t *testing.T) {
	for fragment, want := range map[string]struct {
		route    string
		question bool
		params   int
	}{
		"":               {"", true, 0},
		"#/search":       {"/search", true, 0},
		"#/search?q=a&b": {"/search", true, 2},
		"#q=a&b=c":       {"", false, 2},
		"#part":          {"part", true, 0},
	} {
		route, question, params := splitFragment(fragment)
		if route != want.route || question != want.question || len(params) != want.params {
			t.Errorf("splitFragment(%q) = %q, %v, %v", fragment, route, question, params)
		}
	}
}

// newProber makes a prober of a page with a source for each "kind name".
func newProber(t *testing.T, address, fragment string, sources ...string) *prober {
	t.Helper()
	r, err := message.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	p := &prober{t: DOMProbe{Request: r, Fragment: fragment}, canary: "zq1", joint: "/"}
	for _, s := range sources {
		kind, name, _ := strings.Cut(s, " ")
		if !p.addSource(kind, name) {
			t.Fatalf("source %q is not added", s)
		}
	}
	return p
}

func TestBuildAddress(t *testing.T) {
	sources := []string{"query a", "query new", "fragment q", "fragment ", "query ", "path ", "name "}
	for _, c := range []struct {
		name, address, fragment string
		values                  map[string]string // by source
		want                    string
	}{
		{"nothing", "http://a.example/p?a=1", "#/r?q=2", nil, "http://a.example/p?a=1#/r?q=2"},
		{"a parameter", "http://a.example/p?a=1", "", map[string]string{"query a": "x y"}, "http://a.example/p?a=x%20y"},
		{"a new parameter", "http://a.example/p?a=1", "", map[string]string{"query new": "x"},
			"http://a.example/p?a=1&new=x"},
		{"a parameter of the fragment", "http://a.example/p", "#/r?q=2", map[string]string{"fragment q": "x"},
			"http://a.example/p#/r?q=x"},
		{"a fragment of parameters", "http://a.example/p", "#q=2&b=3", map[string]string{"fragment q": "x"},
			"http://a.example/p#q=x&b=3"},
		{"the whole fragment", "http://a.example/p", "#/r", map[string]string{"fragment ": "<x>"},
			"http://a.example/p#%3Cx%3E"},
		{"both", "http://a.example/p", "#/r?q=2", map[string]string{"fragment q": "x", "fragment ": "y"},
			"http://a.example/p#/r?q=x&y"},
		{"the whole query", "http://a.example/p?a=1", "", map[string]string{"query ": "x#y"},
			"http://a.example/p?a=1&x%23y"},
		{"behind the path", "http://a.example/p/", "", map[string]string{"path ": "x?y"}, "http://a.example/p/x%3Fy"},
		{"the name of the window is no part of it", "http://a.example/p", "", map[string]string{"name ": "x"},
			"http://a.example/p"},
	} {
		p := newProber(t, c.address, c.fragment, sources...)
		v := values{}
		for s, value := range c.values {
			kind, name, _ := strings.Cut(s, " ")
			v[p.findSource(kind, name)] = value
		}
		r, fragment := p.buildAddress(v)
		if got := r.Address() + fragment; got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
		if address := p.t.Request.Address(); address != c.address {
			t.Errorf("%s: the request of the probe is now %s", c.name, address)
		}
	}
}

func TestAddSource(t *testing.T) {
	p := newProber(t, "http://a.example/", "", "query a")
	if p.addSource("query", "a") || !p.addSource("fragment", "a") {
		t.Error("a source is told by its kind and name")
	}
	for i := range maxSources + 5 {
		p.addSource("query", strings.Repeat("x", i+1))
	}
	if len(p.sources) != maxSources {
		t.Errorf("%d sources", len(p.sources))
	}
	ids := map[string]bool{}
	for _, s := range p.sources {
		ids[s.id] = true
	}
	if len(ids) != maxSources {
		t.Errorf("%d ids of %d sources", len(ids), maxSources)
	}
}

// A value belongs to every source whose canary it holds, and a flow is kept once.
func TestRecordFlow(t *testing.T) {
	p := newProber(t, "http://a.example/", "", "query a", "query b")
	a, b := p.sources[0], p.sources[1]
	for range 2 {
		p.recordFlow(flow{sink: "eval", value: "x" + p.canary + a.id + "y" + p.canary + b.id})
	}
	p.recordFlow(flow{sink: "eval", value: "x" + p.canary})
	var got []string
	for _, f := range p.flows {
		got = append(got, f.source.name+" "+f.sink)
	}
	if diff := cmp.Diff([]string{"a eval", "b eval"}, got); diff != "" {
		t.Errorf("flows (-want +got):\n%s", diff)
	}
}

// The text in which a script looks for a parameter says whether it reads the query or
// the fragment.
func TestHandleReport(t *testing.T) {
	p := newProber(t, "http://a.example/", "", "query ", "fragment ")
	p.handleReport("parameter", []byte(`{"name":"q","of":"`+p.canary+p.findSource("fragment", "").id+`"}`))
	p.handleReport("parameter", []byte(`{"name":"r","of":"a=b"}`))
	p.handleReport("parameter", []byte(`{"name":"","of":""}`))
	p.handleReport("kept", []byte(`{"kind":"local","name":"token"}`))
	p.handleReport("kept", []byte(`{"kind":"other","name":"x"}`))
	p.handleReport("message", []byte(`"e => eval(e.data)"`))
	p.handleReport("message", []byte(`"e => eval(e.data)"`))
	p.handleReport("message", []byte(`{`))
	p.handleReport("sink", []byte(`{"sink":"eval","type":"TrustedScript","value":"`+p.canary+p.sources[0].id+
		`","at":"Error\n at http://a.example/x.js?v=1:2:3"}`))
	want := []source{{kind: "fragment", name: "q"}, {kind: "query", name: "r"}, {kind: "local", name: "token"}}
	if diff := cmp.Diff(want, p.read, cmp.AllowUnexported(source{})); diff != "" {
		t.Errorf("read (-want +got):\n%s", diff)
	}
	if len(p.listeners) != 1 || len(p.flows) != 1 || p.flows[0].script != "http://a.example/x.js:2:3" {
		t.Errorf("listeners %q, flows %+v", p.listeners, p.flows)
	}
	if !p.addRead() || p.addRead() {
		t.Error("what is read is added once")
	}
	for i := range 100 {
		p.handleReport("parameter", []byte(`{"name":"`+strings.Repeat("n", i+2)+`"}`))
	}
	if len(p.read) > maxParameters+maxKept {
		t.Errorf("%d names are kept", len(p.read))
	}
}

func TestMessagesFor(t *testing.T) {
	for _, c := range []struct {
		listener string
		want     []any
	}{
		{`e => run(e)`, nil},
		{`e => run(e.data.code)`, []any{map[string]any{"code": "T", "data": "T"}, `{"code":"T","data":"T"}`}},
		{`e => { if (e.data.type === "run") eval(e.data.code) }`, []any{
			map[string]any{"type": "run", "code": "T", "data": "T"}, `{"code":"T","data":"T","type":"run"}`}},
		{`e => { switch (m.type) { case "a": go() } }`, []any{map[string]any{"type": "T"}, `{"type":"T"}`,
			map[string]any{"type": "a"}}},
	} {
		got, err := messagesFor(c.listener, "T")
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.listener, diff)
		}
	}
}

// Origins are tried that a check of a part of the name would let pass.
func TestMessageOrigins(t *testing.T) {
	for listener, want := range map[string][]string{
		"e => run(e.data)": {foreignOrigin},
		`e => { if (e.origin.includes("shop.test")) run(e.data) }`: {foreignOrigin,
			"https://shop.test.message.example", "https://message-shop.test"},
		`e => { if (/^https:\/\/shop\.test/.test(e.origin)) run() }`: {foreignOrigin,
			"https://shop.test.message.example", "https://message-shop.test"},
	} {
		if diff := cmp.Diff(want, messageOrigins(listener)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", listener, diff)
		}
	}
}

func TestFirstCaller(t *testing.T) {
	for stack, want := range map[string]string{
		"": "",
		"Error\n at eval (http://a.example/x.js?v=1#y:10:5)\n at http://a.example/z.js:1:1": "http://a.example/x.js:10:5",
		"Error\n at <anonymous>:1:1": "",
	} {
		if got := firstCaller(stack); got != want {
			t.Errorf("firstCaller(%q) = %q", stack, got)
		}
	}
}

func TestRankSource(t *testing.T) {
	order := []source{{kind: "query", name: "a"}, {kind: "query"}, {kind: "fragment", name: "a"}, {kind: "fragment"},
		{kind: "path"}, {kind: "message"}, {kind: "name"}, {kind: "referrer"}, {kind: "cookie", name: "a"},
		{kind: "session", name: "a"}, {kind: "local", name: "a"}}
	for i := range order[1:] {
		if rankSource(order[i]) >= rankSource(order[i+1]) {
			t.Errorf("%+v does not come before %+v", order[i], order[i+1])
		}
	}
}

func TestAddressShape(t *testing.T) {
	for _, same := range [][2]string{
		{"http://a.example/item/1?q=a", "http://a.example/item/2?q=b"},
		{"http://a.example/p#part1", "http://a.example/p#part2"},
		{"http://a.example/p#/item/1", "http://a.example/p#/item/2"},
	} {
		if addressShape(same[0]) != addressShape(same[1]) {
			t.Errorf("%s and %s differ: %s, %s", same[0], same[1], addressShape(same[0]), addressShape(same[1]))
		}
	}
	for _, different := range [][2]string{
		{"http://a.example/item", "http://a.example/cart"},
		{"http://a.example/p?a=1", "http://a.example/p?b=1"},
		{"http://a.example/p#/item", "http://a.example/p#/cart"},
		{"http://a.example/p", "http://b.example/p"},
	} {
		if addressShape(different[0]) == addressShape(different[1]) {
			t.Errorf("%s and %s are one", different[0], different[1])
		}
	}
	if got := addressShape("http://%zz"); got != "http://%zz" {
		t.Errorf("the shape of what is no address is %q", got)
	}
}

func TestSplitAddress(t *testing.T) {
	r, fragment, err := splitAddress("http://a.example/p?q=1#/r%20s?t=u")
	if err != nil || r.Address() != "http://a.example/p?q=1" || fragment != "#/r%20s?t=u" {
		t.Errorf("splitAddress = %v, %q, %v", r, fragment, err)
	}
	if _, _, err := splitAddress("mailto:a@b.example"); err == nil {
		t.Error("an address of mail is a request")
	}
}

// Routes keeps fragments of each shape once, those with parameters first.
func TestRoutes(t *testing.T) {
	b := &Browser{routes: map[string][]string{}}
	r, err := message.Parse("http://a.example/p")
	if err != nil {
		t.Fatal(err)
	}
	for _, fragment := range []string{"#part", "#/item/1", "#/item/2", "#/search?q=a", "#/item/1", "#a=b"} {
		b.rememberRoute(r, fragment)
	}
	if diff := cmp.Diff([]string{"#/search?q=a", "#a=b", "#/item/1"}, b.Routes(r, 10)); diff != "" {
		t.Errorf("routes (-want +got):\n%s", diff)
	}
	if got := b.Routes(r, 1); len(got) != 1 {
		t.Errorf("%d routes, want 1", len(got))
	}
}

func TestAfterEvent(t *testing.T) {
	start := state{address: "http://a.example/", path: []string{"menu"}}
	page := func(address, document, signature string) *snapshot {
		return &snapshot{Address: address, Document: document, Signature: signature}
	}
	same := start.afterEvent("open", page("http://a.example/", "1", "x"), page("http://a.example/", "1", "y"))
	if same.address != start.address || len(same.path) != 2 || same.looks != "y" || same.other != nil {
		t.Errorf("within the page: %+v", same)
	}
	moved := start.afterEvent("open", page("http://a.example/", "1", "x"), page("http://a.example/#/b", "1", "y"))
	if moved.address != "http://a.example/#/b" || len(moved.path) != 0 || moved.other == nil || len(moved.other.path) != 2 {
		t.Errorf("to a route: %+v", moved)
	}
	left := start.afterEvent("open", page("http://a.example/", "1", "x"), page("http://a.example/b", "2", "y"))
	if left.address != "http://a.example/b" || left.path != nil || left.other != nil {
		t.Errorf("to another document: %+v", left)
	}
	if len(start.path) != 1 {
		t.Errorf("the state that it began in is now %+v", start)
	}
}
