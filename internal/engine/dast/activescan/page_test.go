package activescan

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"merlon/internal/engine/dast/message"
)

func answer(status int, body string) *message.Response {
	return &message.Response{Status: status, Header: http.Header{"Content-Type": {"text/html; charset=utf-8"}},
		Body: []byte(body)}
}

// text is a page of n words that stay.
func text(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "<p>word%c%c</p>\n", 'a'+i%26, 'a'+i/26%26)
	}
	return b.String()
}

func TestBaseline(t *testing.T) {
	page := func(token, seconds, verdict string) string {
		return text(400) + `<input name="csrf" value="` + token + `"> at 12:03:` + seconds + ` <b>` + verdict +
			`</b> <i>served by ` + token + ` node</i>` + text(30)
	}
	b := newBaseline(answer(200, page("xkcdqw", "01", "exists")), answer(200, page("pqzzma", "02", "exists")))
	if !b.Stable {
		t.Error("a page with a token is not stable")
	}
	for _, c := range []struct {
		name string
		resp *message.Response
		same bool
	}{
		{"another token and time", answer(200, page("mmnbvc", "59", "exists")), true},
		{"one word of many differs", answer(200, page("mmnbvc", "59", "missing")), false},
		{"another status", answer(500, page("mmnbvc", "59", "exists")), false},
		{"a word more", answer(200, page("mmnbvc", "59", "exists no")), false},
		{"cut short", answer(200, text(400)), false},
	} {
		if got := b.Matches(c.resp); got != c.same {
			t.Errorf("%s: same is %v", c.name, got)
		}
	}
}

func TestBaselineOfFewWords(t *testing.T) {
	for _, c := range []struct {
		first, second, other string
		stable, same         bool
	}{
		{"true", "true", "false", true, false},
		{"", "", "x", true, false},
		{`{"count":17}`, `{"count":17}`, `{"count":4}`, true, true}, // numbers change too easily
		{`{"count":17}`, `{"count":17}`, `{"count":null}`, true, false},
		{"id=abc", "id=def", "id=ghi", true, true},
		{"alpha beta", "beta alpha", "alpha beta", false, true},
	} {
		b := newBaseline(answer(200, c.first), answer(200, c.second))
		if b.Stable != c.stable {
			t.Errorf("%q and %q: stable is %v", c.first, c.second, b.Stable)
		}
		if got := b.Matches(answer(200, c.other)); c.stable && got != c.same {
			t.Errorf("%q and %q: same is %v", c.first, c.other, got)
		}
	}
}

func TestRepeatedPayload(t *testing.T) {
	b := newBaseline(answer(200, `<input value="apple"> found`), answer(200, `<input value="apple"> found`))
	p := &Probe{Point: message.Point{Value: "apple"}, OperationScan: OperationScan{op: &operation{base: b}}}
	payload := `apple' AND '1'='1`
	for _, form := range Encodings(payload) {
		if got := p.PageOf(answer(200, `<input value="`+form+`"> found`), payload); !got.Equal(b.Page()) {
			t.Errorf("a page that repeats %q is another one", form)
		}
	}
	for _, form := range []string{"a&#39;&quot;(=&lt;", "a&#x27;&quot;(=&lt;", "a&#x27;&quot;(&#x3D;&lt;",
		"a&apos;&quot;(=&lt;", "a&#39;&#34;(=&lt;", "a&#039;&quot;(=&lt;"} {
		if got := p.PageOf(answer(200, `<input value="`+form+`"> found`), `a'"(=<`); !got.Equal(b.Page()) {
			t.Errorf("a page that repeats %q is another one", form)
		}
	}
	if p.PageOf(answer(200, `<input value="`+payload+`"> missing`), payload).Equal(b.Page()) {
		t.Error("a page that says something else is the same")
	}
}

// Fields of several lines come back with other ends of lines than they were sent with.
func TestRepeatedLines(t *testing.T) {
	b := newBaseline(answer(200, "<textarea>one\r\ntwo</textarea>"), answer(200, "<textarea>one\r\ntwo</textarea>"))
	p := &Probe{Point: message.Point{Value: "one\ntwo"}, OperationScan: OperationScan{op: &operation{base: b}}}
	for payload, shown := range map[string]string{"o\\6ee\ntwo": "o\\6ee\r\ntwo", "o\\7be\r\ntwo": "o\\7be\ntwo",
		"<b>\ntwo": "&lt;b&gt;\r\ntwo"} {
		if got := p.PageOf(answer(200, "<textarea>"+shown+"</textarea>"), payload); !got.Equal(b.Page()) {
			t.Errorf("a page that repeats %q as %q is another one", payload, shown)
		}
	}
}

func BenchmarkPage(b *testing.B) {
	base := newBaseline(answer(200, text(5000)), answer(200, text(5000)))
	for b.Loop() {
		base.Matches(answer(200, text(5000)), "apple' AND '1'='1")
	}
}
