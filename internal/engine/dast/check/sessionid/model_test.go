package sessionid

import (
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"merlon/internal/engine/dast/message"
)

// at is the time of the first response.
var at = time.Date(2026, 5, 4, 3, 2, 1, 0, time.UTC)

// sampleAt is a value with the date of its response.
func sampleAt(text string, now time.Time) sample {
	return sample{text: text, resp: &message.Response{Header: http.Header{"Date": {now.Format(http.TimeFormat)}}}}
}

// TestModels says what two values in a row are made from, and predicts the third.
func TestModels(t *testing.T) {
	b64 := func(s string) string { return base64.StdEncoding.EncodeToString([]byte(s)) }
	for _, c := range []struct{ name, first, second, what, third string }{
		{"a counter", "41", "42", "a counter", "43"},
		{"one that falls", "42", "41", "a counter", "40"},
		{"a larger step", "100", "110", "a counter", "120"},
		{"a new digit", "98", "99", "a counter", "100"},
		{"zeros in front", "0098", "0099", "a counter", "0100"},
		{"a name around it", "user-7-x", "user-8-x", "a counter", "user-9-x"},
		{"hexadecimal", "1af", "1b0", "a counter in hexadecimal", "1b1"},
		{"in base 64", b64("id:19"), b64("id:20"), "a counter in base 64", b64("id:21")},
		{"in hexadecimal text", hex.EncodeToString([]byte("n:7")), hex.EncodeToString([]byte("n:8")),
			"", hex.EncodeToString([]byte("n:9"))},
		{"in URL encoding", "id%3A7", "id%3A8", "", "id%3A9"},
		{"MD5 of a counter", md5Hex("7"), md5Hex("8"), "the MD5 digest of a counter", md5Hex("9")},
		{"in capital letters", strings.ToUpper(md5Hex("7")), strings.ToUpper(md5Hex("8")), "the MD5 digest of a counter",
			strings.ToUpper(md5Hex("9"))},
		{"SHA-1 with a step", sha1Hex("100"), sha1Hex("105"), "the SHA-1 digest of a counter", sha1Hex("110")},
	} {
		m := findModel(sampleAt(c.first, at), sampleAt(c.second, at.Add(5*time.Second)))
		if m == nil {
			t.Errorf("%s: nothing is known", c.name)
			continue
		}
		third, ok := m.after(c.second)
		if c.what != "" && m.what != c.what || !ok || third != c.third {
			t.Errorf("%s: %q, then %q, want %q", c.name, m.what, third, c.third)
		}
		second := sampleAt(c.second, at)
		if !m.matchesPrediction(second, sampleAt(c.third, at)) || m.matchesPrediction(second, second) ||
			m.matchesPrediction(second, sampleAt(c.third+"1", at)) {
			t.Errorf("%s: the prediction is not compared", c.name)
		}
	}
}

// TestNoModel leaves alone what cannot be computed.
func TestNoModel(t *testing.T) {
	for _, c := range []struct{ name, first, second string }{
		{"the same", "42", "42"},
		{"a great step", "42", "5000"},
		{"another name", "x42", "y43"},
		{"two numbers", "1-7", "2-8"},
		{"random", "8f2a91c4d0", "17be03a9f5"},
		{"digests of what is unknown", md5Hex("x1"), md5Hex("x2")},
		{"a digest and a number", md5Hex("1"), "2"},
		{"a time that nobody has", fmt.Sprint(at.Add(time.Hour).Unix()), fmt.Sprint(at.Add(time.Hour).Unix() + 5)},
		{"words", "guest", "admin"},
		{"nothing", "", ""},
		{"too many digits", strings.Repeat("9", 40), strings.Repeat("9", 39) + "8"},
	} {
		if m := findModel(sampleAt(c.first, at), sampleAt(c.second, at.Add(5*time.Second))); m != nil {
			t.Errorf("%s: %s", c.name, m.what)
		}
	}
}

// TestClocks recognises the time of the response in each unit.
func TestClocks(t *testing.T) {
	second := at.Add(7 * time.Second)
	for _, c := range []struct {
		what  string
		write func(time.Time) string
	}{
		{"the time in seconds", func(n time.Time) string { return fmt.Sprint(n.Unix()) }},
		{"the time in milliseconds", func(n time.Time) string { return fmt.Sprint(n.UnixMilli()) }},
		{"the time in microseconds", func(n time.Time) string { return fmt.Sprint(n.UnixMicro()) }},
		{"the MD5 digest of the time in seconds", func(n time.Time) string { return md5Hex(fmt.Sprint(n.Unix())) }},
		{"the time in seconds in base 64", func(n time.Time) string {
			return base64.StdEncoding.EncodeToString(fmt.Append(nil, n.Unix()))
		}},
	} {
		m := findModel(sampleAt(c.write(at), at), sampleAt(c.write(second), second))
		if m == nil || !strings.HasPrefix(m.what, c.what) {
			t.Errorf("%s: %+v", c.what, m)
			continue
		}
		third := second.Add(3 * time.Second)
		last := sampleAt(c.write(second), second)
		if !m.matchesPrediction(last, sampleAt(c.write(third), third)) ||
			m.matchesPrediction(last, sampleAt(c.write(third.Add(time.Minute)), third)) ||
			m.matchesPrediction(last, last) {
			t.Errorf("%s: the prediction is not compared with the clock", c.what)
		}
	}
}

// TestForms reads a text in the encodings in which values are written, and writes it back.
func TestForms(t *testing.T) {
	for text, plain := range map[string]string{"NDI=": "42", "NDI": "42", "3432": "42", "a%3A1": "a:1", "x": "x"} {
		forms := possibleForms(text)
		f, ok := forms[plain]
		if !ok || f.encode(plain) != text {
			t.Errorf("%s: %v", text, forms)
		}
		if forms[text].name != "" && text != plain {
			t.Errorf("%s does not stand for itself", text)
		}
	}
	if forms := possibleForms(base64.StdEncoding.EncodeToString([]byte("\x00\x01\x02"))); len(forms) != 1 {
		t.Errorf("bytes are read as a text: %v", forms)
	}
}

// TestNumberOrDigest tells values that are worth a second one.
func TestNumberOrDigest(t *testing.T) {
	for text, want := range map[string]bool{"42": true, "user-42": true, "1af": true, md5Hex("x"): true,
		sha1Hex("x"): true, strings.ToUpper(md5Hex("x")): true, base64.StdEncoding.EncodeToString([]byte("id:1")): true,
		url.QueryEscape("a:1"): true, "sign.out": false, "": false, "550e8400-e29b-41d4-a716-446655440000": false,
		"a-long-text-of-words-and-more-words-1": false, strings.Repeat("z", 32): false} {
		if got := isNumberOrDigest(text); got != want {
			t.Errorf("%q: %t", text, got)
		}
	}
}

// TestDifference splits two texts around the number in which they differ.
func TestDifference(t *testing.T) {
	for _, c := range []struct {
		a, b   string
		base   int
		before string
		x, y   int64
		behind string
		ok     bool
	}{
		{"7", "8", 10, "", 7, 8, "", true},
		{"a19z", "a20z", 10, "a", 19, 20, "z", true},
		{"a1-5", "a1-6", 10, "a1-", 5, 6, "", true},
		{"99", "100", 10, "", 99, 100, "", true},
		{"x0a", "x0b", 16, "x", 10, 11, "", true},
		{"a", "b", 10, "", 0, 0, "", false},
		{"1a1", "2a2", 10, "", 0, 0, "", false},
	} {
		before, x, y, behind, ok := splitDifference(c.a, c.b, c.base)
		if ok != c.ok || ok && (before != c.before || x != c.x || y != c.y || behind != c.behind) {
			t.Errorf("%s and %s: %q %d %d %q %t", c.a, c.b, before, x, y, behind, ok)
		}
	}
}

// TestSessionValues takes from responses what stands for somebody, and leaves the rest.
func TestSessionValues(t *testing.T) {
	cookies := func(list ...string) http.Header { return http.Header{"Set-Cookie": list} }
	for _, c := range []struct {
		name   string
		header http.Header
		body   string
		want   map[place]string
	}{
		{"cookies", cookies("SESSID=7; Path=/", "lang=de", "csrf_token=8"), "",
			map[place]string{{cookie, "SESSID"}: "7", {cookie, "csrf_token"}: "8"}},
		{"a cookie that is removed", cookies("session=7; Max-Age=-1"), "", nil},
		{"a cookie that counts", cookies("session_visits=7", "token_expires=9", "sessionLength=3"), "", nil},
		{"hidden fields", http.Header{"Content-Type": {"text/html"}},
			`<input type=HIDDEN name=authenticity_token value=7><input type=hidden name=page value=1><input name=token value=2>`,
			map[place]string{{field, "authenticity_token"}: "7"}},
		{"properties", http.Header{"Content-Type": {"application/json"}},
			`{"data":{"accessToken":"7","author":"x","sid":9},"total":3}`,
			map[place]string{{property, "accessToken"}: "7", {property, "sid"}: "9"}},
		{"a text", http.Header{"Content-Type": {"text/plain"}}, `{"token":"7"}`, nil},
		{"a value that is too long", cookies("session=" + strings.Repeat("7", maxText+1)), "", nil},
	} {
		got := sessionValues(&message.Response{Header: c.header, Body: []byte(c.body)})
		if len(got) != len(c.want) {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
		for where, text := range c.want {
			if got[where] != text {
				t.Errorf("%s: %s is %q, want %q", c.name, where, got[where], text)
			}
		}
	}
}
