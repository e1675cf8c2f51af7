package browser

import (
	"net/http"
	"testing"

	"github.com/chromedp/cdproto/fetch"
	"github.com/chromedp/cdproto/network"
	"github.com/google/go-cmp/cmp"

	"merlon/internal/engine/dast/message"
)

func TestParseBody(t *testing.T) {
	const multipart = "--b\r\nContent-Disposition: form-data; name=\"a\"\r\n\r\n1\r\n" +
		"--b\r\nContent-Disposition: form-data; name=\"f\"; filename=\"x.txt\"\r\nContent-Type: text/plain\r\n\r\nhi\r\n--b--\r\n"
	for _, c := range []struct {
		name, content, contentType string
		want                       message.Body
	}{
		{"a form", "a=1&b=%20x", "application/x-www-form-urlencoded", message.Body{Kind: message.Form,
			Params: message.ParseQuery("a=1&b=%20x"), Type: "application/x-www-form-urlencoded"}},
		{"parts", multipart, "multipart/form-data; boundary=b", message.Body{Kind: message.Multipart,
			Params: []message.Param{{Name: "a", Value: "1"},
				{Name: "f", Value: "hi", File: "x.txt", Type: "text/plain"}}}},
		{"parts that do not end", multipart[:40], "multipart/form-data; boundary=b", message.Body{Kind: message.Text,
			Text: []byte(multipart[:40]), Type: "multipart/form-data; boundary=b"}},
		{"parts without a boundary", multipart, "multipart/form-data", message.Body{Kind: message.Text,
			Text: []byte(multipart), Type: "multipart/form-data"}},
		{"JSON", `{"a":1}`, "application/json; charset=utf-8", message.Body{Kind: message.JSON, Text: []byte(`{"a":1}`),
			Type: "application/json; charset=utf-8"}},
		{"a vocabulary of JSON", `{}`, "application/vnd.api+json", message.Body{Kind: message.JSON, Text: []byte(`{}`),
			Type: "application/vnd.api+json"}},
		{"XML", "<a/>", "text/xml", message.Body{Kind: message.XML, Text: []byte("<a/>"), Type: "text/xml"}},
		{"a vocabulary of XML", "<a/>", "application/soap+xml", message.Body{Kind: message.XML, Text: []byte("<a/>"),
			Type: "application/soap+xml"}},
		{"a text", "a=1", "text/plain", message.Body{Kind: message.Text, Text: []byte("a=1"), Type: "text/plain"}},
		{"no type", "a", "", message.Body{Kind: message.Text, Text: []byte("a")}},
	} {
		if diff := cmp.Diff(c.want, parseBody([]byte(c.content), c.contentType)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.name, diff)
		}
	}
}

// A request of a page keeps what an attack needs and loses what belongs to the browser.
func TestToRequest(t *testing.T) {
	r, err := toRequest(&network.Request{URL: "http://a.example/b?c=1", Method: "post", HasPostData: true,
		Headers: network.Headers{"Content-Type": "application/json", "Referer": "http://a.example/", "X-Token": "t",
			"User-Agent": "Chromium", "Accept": "*/*", "Authorization": "Bearer x", "Odd": 7},
		PostDataEntries: []*network.PostDataEntry{{Bytes: []byte(`{"a"`)}, {Bytes: []byte(`:1}`)}}})
	if err != nil {
		t.Fatal(err)
	}
	if r.Method != http.MethodPost || r.Path != "/b" || r.Origin != "browser" || r.Referer != "http://a.example/" ||
		r.Body.Kind != message.JSON || string(r.Body.Text) != `{"a":1}` {
		t.Errorf("request %+v", r)
	}
	want := []message.Param{{Name: "Accept", Value: "*/*"}, {Name: "Authorization", Value: "Bearer x"},
		{Name: "X-Token", Value: "t"}}
	if diff := cmp.Diff(want, r.Header); diff != "" {
		t.Errorf("headers (-want +got):\n%s", diff)
	}
	if _, err := toRequest(&network.Request{URL: "http://%zz/"}); err == nil {
		t.Error("an address that cannot be read is a request")
	}
}

func TestHeaders(t *testing.T) {
	list := headerEntries(http.Header{"B": {"1", "2"}, "A": {"3"}, "Content-Length": {"4"}, "Content-Encoding": {"gzip"}})
	var got []string
	for _, h := range plainHeaders(list) {
		got = append(got, h.Name+"="+h.Value)
	}
	if diff := cmp.Diff([]string{"A=3", "B=1", "B=2"}, got); diff != "" {
		t.Errorf("headers (-want +got):\n%s", diff)
	}
	for value, want := range map[string]bool{"trusted-types default": true, "default-src 'self'": false, "": false} {
		headers := []*fetch.HeaderEntry{{Name: "content-security-policy", Value: value}}
		if got := hasTrustedTypes(headers); got != want {
			t.Errorf("hasTrustedTypes(%q) = %v", value, got)
		}
	}
}

func TestCache(t *testing.T) {
	c := newCache()
	if c.findEntry("") != nil || c.findEntry("a") != nil {
		t.Error("an empty cache has entries")
	}
	c.storeEntry("a", &fetch.FulfillRequestParams{ResponseCode: 200, Body: []byte("first")})
	c.storeEntry("a", &fetch.FulfillRequestParams{ResponseCode: 200, Body: []byte("second")})
	got := c.findEntry("a")
	if got == nil || string(got.Body) != "first" {
		t.Fatalf("entry %+v", got)
	}
	got.RequestID = "1" // the caller's copy
	if c.findEntry("a").RequestID != "" {
		t.Error("a caller changes the entry")
	}
	c.storeEntry("large", &fetch.FulfillRequestParams{Body: make([]byte, maxCached+1)})
	if c.findEntry("large") != nil {
		t.Error("a script above the limit is kept")
	}
	for i := range maxCachedAll/maxCached + 3 {
		c.storeEntry(string(rune('b'+i)), &fetch.FulfillRequestParams{Body: make([]byte, maxCached)})
	}
	if c.bytes > maxCachedAll {
		t.Errorf("the cache holds %d bytes", c.bytes)
	}
	for name, want := range map[string]bool{"set-cookie: a=b": false, "Cache-Control: no-Store": false,
		"Cache-Control: max-age=1": true, "ETag: x": true} {
		var h fetch.HeaderEntry
		for i := range name {
			if name[i] == ':' {
				h = fetch.HeaderEntry{Name: name[:i], Value: name[i+2:]}
				break
			}
		}
		if got := c.mayKeep([]*fetch.HeaderEntry{&h}); got != want {
			t.Errorf("mayKeep(%s) = %v", name, got)
		}
	}
}

type namedSession struct {
	Session
	name string
}

func (s namedSession) Name() string { return s.name }

// Users do not share what they are shown, and only scripts and style sheets are kept.
func TestCacheKey(t *testing.T) {
	event := func(method string, kind network.ResourceType) *fetch.EventRequestPaused {
		return &fetch.EventRequestPaused{Request: &network.Request{Method: method, URL: "http://a.example/x.js"},
			ResourceType: kind}
	}
	alice, bob := &Page{o: PageOptions{As: namedSession{name: "alice"}}}, &Page{o: PageOptions{As: namedSession{name: "bob"}}}
	nobody := &Page{}
	script := event(http.MethodGet, network.ResourceTypeScript)
	keys := map[string]bool{alice.cacheKey(script): true, bob.cacheKey(script): true, nobody.cacheKey(script): true}
	if len(keys) != 3 || keys[""] {
		t.Errorf("keys %v", keys)
	}
	for _, e := range []*fetch.EventRequestPaused{event(http.MethodPost, network.ResourceTypeScript),
		event(http.MethodGet, network.ResourceTypeDocument), event(http.MethodGet, network.ResourceTypeXHR)} {
		if key := alice.cacheKey(e); key != "" {
			t.Errorf("%s %s is kept as %q", e.Request.Method, e.ResourceType, key)
		}
	}
	if nobody.cacheKey(event(http.MethodGet, network.ResourceTypeStylesheet)) == "" {
		t.Error("a style sheet is not kept")
	}
}

func TestIsAttackerHost(t *testing.T) {
	p := &Page{o: PageOptions{attackerHost: "abc.example"}}
	for host, want := range map[string]bool{"abc.example": true, "x.abc.example": true, "xabc.example": false,
		"example": false, "": false} {
		if got := p.isAttackerHost(host); got != want {
			t.Errorf("isAttackerHost(%q) = %v", host, got)
		}
	}
	if (&Page{}).isAttackerHost("") {
		t.Error("without such a host every address is one")
	}
}
