package redact

import (
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"html"
	"net/url"
	"reflect"
	"strings"
	"testing"
	"time"

	"merlon/internal/errs"
	"merlon/internal/finding"
)

// forms are ways in which applications reflect what they were sent.
var forms = map[string]func(string) string{
	"plain":        func(s string) string { return s },
	"query":        url.QueryEscape,
	"path":         url.PathEscape,
	"twice":        func(s string) string { return url.QueryEscape(url.QueryEscape(s)) },
	"percent":      func(s string) string { return percentAll(s, "%%%02X") },
	"lower":        func(s string) string { return percentAll(s, "%%%02x") },
	"html":         html.EscapeString,
	"numbers":      func(s string) string { return each(s, "&#%d;") },
	"hex refs":     func(s string) string { return each(s, "&#x%x;") },
	"html in html": func(s string) string { return html.EscapeString(html.EscapeString(s)) },
	"json":         quoted,
	"json in json": func(s string) string { return quoted(quoted(s)) },
	"unicode":      func(s string) string { return each(s, `\u%04x`) },
	"base64":       func(s string) string { return base64.StdEncoding.EncodeToString([]byte(s)) },
	"base64url":    func(s string) string { return base64.RawURLEncoding.EncodeToString([]byte(s)) },
	"base64 in an address": func(s string) string {
		return url.QueryEscape(base64.StdEncoding.EncodeToString([]byte(s)))
	},
	"hex":   func(s string) string { return hex.EncodeToString([]byte(s)) },
	"shell": func(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" },
}

func percentAll(s, format string) string {
	var b strings.Builder
	for i := range len(s) {
		fmt.Fprintf(&b, format, s[i])
	}
	return b.String()
}

func each(s, format string) string {
	var b strings.Builder
	for _, r := range s {
		fmt.Fprintf(&b, format, r)
	}
	return b.String()
}

func quoted(s string) string {
	b, _ := json.Marshal(s)
	return string(b[1 : len(b)-1])
}

// TestEncodings replaces a secret in every form, and what stands around it stays.
func TestEncodings(t *testing.T) {
	for _, value := range []string{"k3y-8f2a91c4", `p<w"d 'q&x\5+/=%`, "pässwörd-42!",
		"eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJtZSJ9.c2lnbmF0dXJl"} {
		s := &Set{}
		s.Add("X-Key", value)
		for name, form := range forms {
			text := "before " + form(value) + " after"
			got := s.RedactText(text)
			if strings.Contains(got, form(value)) || !strings.HasPrefix(got, "before ") ||
				!strings.HasSuffix(got, " after") || !strings.Contains(got, finding.Redacted) {
				t.Errorf("%s of %s: %s became %s", name, value, text, got)
			}
			if again := s.RedactText(got); again != got {
				t.Errorf("%s: a second time makes %s of %s", name, again, got)
			}
		}
		for shift := range 5 { // within a longer text that is encoded as a whole
			whole := base64.StdEncoding.EncodeToString([]byte(strings.Repeat("x", shift) + value +
				strings.Repeat("y", shift)))
			if got := s.RedactText(whole); got == whole {
				t.Errorf("within base64, %d bytes behind the beginning: %s", shift, got)
			}
		}
	}
}

// TestCommonValues leaves a report readable: what says nothing by itself is replaced
// behind its name alone.
func TestCommonValues(t *testing.T) {
	s := &Set{}
	s.AddPublic("https://shop.example.org/staging/")
	s.AddPublic("jane@example.org")
	for _, v := range [][2]string{{"X-Flag", "1"}, {"X-Debug", "true"}, {Password, "admin"}, {"X-Env", "staging"},
		{"pin", "0000"}, {"tenant", "shop.example.org"}, {Password, "jane@example.org"}, {Password, "letmein"},
		{Password, "20241231"}, {"", "x"}} {
		s.Add(v[0], v[1])
	}
	for text, want := range map[string]string{
		"GET /staging/?page=1&debug=true HTTP/1.1\r\nHost: shop.example.org": "",
		"the admin page of jane@example.org is shown, 1 of 11":               "",
		"the rule is true in admin.php":                                      "",
		"X-Flag: 1\r\nX-Debug: true\r\n": "X-Flag: [redacted]\r\nX-Debug: " +
			"[redacted]\r\n",
		"x-flag=1&x-debug=true":                             "x-flag=[redacted]&x-debug=[redacted]",
		`{"password":"admin","user":"admin"}`:               `{"password":"[redacted]","user":"admin"}`,
		`{\"password\": \"admin\", \"user\": \"admin\"}`:    `{\"password\": \"[redacted]\", \"user\": \"admin\"}`,
		"user=admin&user%5Bpassword%5D=admin&x=1":           "user=admin&user%5Bpassword%5D=[redacted]&x=1",
		`<input name="password" type="text" value="admin">`: `<input name="password" type="text" value="[redacted]">`,
		"Content-Disposition: form-data; name=\"passwd\"\r\n\r\nadmin\r\n--": "Content-Disposition: form-data; " +
			"name=\"passwd\"\r\n\r\n[redacted]\r\n--",
		"X-Flag: 10":             "",
		"letmeinside outletmein": "", "you said letmein.": "you said [redacted].",
		"a%20letmein%20b":  "a%20[redacted]%20b",
		"took 20241231 ms": "took [redacted] ms", "120241231": "",
		"pin=0000": "pin=[redacted]", "0000-00-00": "",
		"X-Env: staging":              "X-Env: [redacted]",
		"csrf_token=AbC123dEf456&q=1": "csrf_token=[redacted]&q=1",
		`<input type="hidden" name="authenticity_token" value="AbC123dEf456==">`: `<input type="hidden" name="authenticity_token" value="[redacted]">`,
	} {
		if want == "" {
			want = text
		}
		if got := s.RedactText(text); got != want {
			t.Errorf("%q became %q, want %q", text, got, want)
		}
	}
}

// TestObtained takes credentials for secrets that an application hands out, and nothing else.
func TestObtained(t *testing.T) {
	s := &Set{}
	for _, v := range [][2]string{{"lang", "en-US"}, {"theme", "dark-contrast"}, {"back", "/account/settings/profile"},
		{"consent", `{"necessary":true}`}, {"name", "Jane Doe of Example"}, {"page", "https://shop.example.org/a1b2c3"},
		{"sessionid", "guest"}, {"JSESSIONID", "4F1A9C03B77E2D5A4F1A9C03B77E2D5A"},
		{"x", "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJtZSJ9.c2ln"}, {"token", "ab12cd34"}} {
		s.AddObtained(v[0], v[1])
	}
	if len(s.secrets) != 3 {
		t.Errorf("%v", s.secrets)
	}
}

// TestCut replaces the part of a secret at the end of a text that was cut.
func TestCut(t *testing.T) {
	s := &Set{}
	s.Add("token", "0123456789abcdefghij")
	long := strings.Repeat("text ", 30)
	for text, want := range map[string]string{
		long + "0123456789abc\n[cut]": long + "[redacted]\n[cut]", long + "0123456789abcdefghi…": long + "[redacted]…",
		long + `0123456789abc"`: long + `[redacted]"`,
		"…89abcdefghij" + long:  "…[redacted]" + long, long + "01234": long + "01234",
	} {
		if got := s.RedactText(text); got != want {
			t.Errorf("%q became %q", text, got)
		}
	}
}

// TestCopy redacts every text of a message, those of new fields included, and changes
// nothing of the original.
func TestCopy(t *testing.T) {
	const secret = "s3cret-value-91"
	s := &Set{}
	s.Add("x", secret)
	kept := 0
	for _, m := range []any{&finding.Finding{}, &finding.Operation{}, &finding.Rule{}, &finding.Package{}} {
		v := reflect.ValueOf(m).Elem()
		fill(v, secret, 0)
		before, err := json.Marshal(m)
		if err != nil {
			t.Fatal(err)
		}
		out := s.currentIndex().copyValue(v).Interface()
		after, err := json.Marshal(out)
		if err != nil {
			t.Fatal(err)
		}
		if again, _ := json.Marshal(m); string(again) != string(before) {
			t.Errorf("%T: the original was changed", m)
		}
		var texts map[string]any
		if err := json.Unmarshal(after, &texts); err != nil {
			t.Fatal(err)
		}
		walk(texts, "", func(name, text string) {
			if strings.Contains(text, secret) {
				kept++
				switch name {
				case "ruleId", "analyzer", "place", "flaw", "same", "id", "in", "origin", "method",
					"severity", "impact", "profile", "confidence", "analysis", "kind", "validity", "outcome", "scope", "status",
					"justification", "syntax", "verdict":
				default:
					t.Errorf("%T: %s is %q", m, name, text)
				}
			}
		})
	}
	if kept == 0 {
		t.Error("identifiers are not kept")
	}
}

// fill puts the text into every string of a value.
func fill(v reflect.Value, text string, depth int) {
	if depth > 6 || !v.CanSet() {
		return
	}
	switch v.Kind() {
	case reflect.String:
		v.SetString(text)
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fill(v.Elem(), text, depth+1)
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		fill(v.Index(0), text, depth+1)
	case reflect.Struct:
		if v.Type() == reflect.TypeFor[time.Time]() {
			return
		}
		for i := range v.NumField() {
			fill(v.Field(i), text, depth+1)
		}
	}
}

func walk(v any, name string, f func(name, text string)) {
	switch v := v.(type) {
	case string:
		f(name, v)
	case map[string]any:
		for k, inner := range v {
			walk(inner, k, f)
		}
	case []any:
		for _, inner := range v {
			walk(inner, name, f)
		}
	}
}

// TestError keeps what an error is, and none of its secrets.
func TestError(t *testing.T) {
	s := &Set{}
	s.Add("x", "s3cret-value-91")
	cause := errors.New("with s3cret-value-91")
	err := s.RedactError(fmt.Errorf("scan: %w", errs.Wrap(errs.Invalid, cause, "bad s3cret-value-91")))
	var known *errs.Error
	if !errs.Is(err, errs.Invalid) || !errors.Is(err, cause) || !errors.As(err, &known) ||
		strings.Contains(fmt.Sprint(err, known, known.Err), "s3cret") {
		t.Errorf("%v, %v", err, known)
	}
	var none *Set
	if none.RedactError(nil) != nil || none.RedactText("x") != "x" || none.RedactError(cause) != cause {
		t.Error("no set changes something")
	}
}

// FuzzText looks for a secret in what is left of any text around it, in any encoding.
func FuzzText(f *testing.F) {
	f.Add("before ", "k3y-8f2a91c4", " after")
	f.Add("%", "%25%25%25%25a1", "%25")
	f.Add(`\\\\`, `\\\\\\\\1a`, `\\`)
	f.Add("&amp;#3", "&&&&&&&&1a", "&amp;amp;")
	f.Fuzz(func(t *testing.T, before, value, after string) {
		s := &Set{}
		s.Add("x", value)
		got := s.RedactText(before + value + after)
		if value = strings.TrimSpace(value); classifyValue(value, nil) == anywhere && value != finding.Redacted &&
			!strings.Contains(finding.Redacted, value) && len(value) < maxValue && strings.Contains(got, value) &&
			!strings.Contains(strings.ReplaceAll(before+value+after, value, finding.Redacted), value) {
			t.Errorf("%q stays in %q", value, got)
		}
		if len(before+value+after) < 100 {
			for _, form := range forms {
				_ = s.RedactText(before + form(value) + after)
			}
		}
	})
}
