package redact

import (
	"fmt"
	"strings"
	"sync"
	"testing"

	"merlon/internal/finding"
)

// TestClassify decides where a value is replaced.
func TestClassify(t *testing.T) {
	public := []string{"https://shop.example.org/summer-sale", "jane@example.org"}
	for value, want := range map[string]place{
		"": behindName, "1": behindName, "abcd": behindName, "12345": behindName, "admin": behindName,
		"Password": behindName, "application/json": behindName, "********": behindName,
		"shop.example.org": behindName, "summer-sale": behindName, "summer": behindName,
		"hunter": alone, "123456": alone, "letmein": alone, "20241231": alone, "a1b2c": alone, "p@ssw": alone,
		"summers": alone, "correcthorse": alone, "123456789012345": alone,
		"1234567890123456": anywhere, "hunter22": anywhere, "correcthorsebatterystaple": anywhere,
		"p@ss-w0rd": anywhere, "summer-sale-2": anywhere,
	} {
		if got := classifyValue(value, public); got != want {
			t.Errorf("%q: %d, want %d", value, got, want)
		}
	}
}

// TestRandom tells what a program has made up from what somebody has typed.
func TestRandom(t *testing.T) {
	for value, want := range map[string]bool{
		"4F1A9C03B77E2D5A": true, "a1B2c3D4e5F6": true, "550e8400-e29b-41d4-a716-446655440000": true,
		"eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJtZSJ9.c2ln": true, "1234567890123456": true, "dGhpcyBpcyBhIHRlc3QxMjM0NQ==": true,
		"short1A": false, "123456789012": false, "dark-contrast": false, "en-US,en;q=0.9": false,
		"hello wonderful world 1": false, "/account/settings/1": false, "https://a.example/1a2b3c": false,
		`{"a":"1b2c3d4e5f6a"}`: false, "%7B%22a%22%3A1%7D": false, "Mozilla/5.0": false, "JaneDoeOfExample": false,
		strings.Repeat("a1", maxValue): false,
	} {
		if got := isRandom(value); got != want {
			t.Errorf("%.60q: %t", value, got)
		}
	}
}

// TestCredentialNames knows names under which credentials are handed out or typed.
func TestCredentialNames(t *testing.T) {
	for name, want := range map[string]bool{
		"PHPSESSID": true, "connect.sid": true, "csrf_token": true, "X-Api-Key": true, "Authorization": true, "jwt": true,
		".ASPXAUTH": true, "new_password": true, "pwd": true, "pin": true, "otp": true, "postcode": true, "Kennwort": true,
		"remember_me": true, "lang": false, "theme": false, "cart": false, "page": false, "sidebar": false, "": false,
	} {
		if got := IsCredentialName(name); got != want {
			t.Errorf("%q: %t", name, got)
		}
	}
}

// TestNamesBefore replaces a weak value behind its name in each form in which a name may stand.
func TestNamesBefore(t *testing.T) {
	s := &Set{}
	s.Add("pin", "42")
	s.Add("X-Level", "on")
	for text, want := range map[string]string{
		"pin=42":                           "pin=[redacted]",
		"PIN = 42":                         "PIN = [redacted]",
		"user.pin=42":                      "", // another name
		"a=1&pin=42&b=2":                   "a=1&pin=[redacted]&b=2",
		"form[pin]=42":                     "form[pin]=[redacted]",
		"form%5Bpin%5D=42":                 "form%5Bpin%5D=[redacted]",
		"pin%3D42":                         "pin%3D[redacted]",
		`"pin":42`:                         `"pin":[redacted]`,
		`"pin" : "42"`:                     `"pin" : "[redacted]"`,
		`{\"pin\":\"42\"}`:                 `{\"pin\":\"[redacted]\"}`,
		"'pin' => '42'":                    "'pin' => '[redacted]'",
		"pin: 42":                          "pin: [redacted]",
		"&quot;pin&quot;:42":               "&quot;pin&quot;:[redacted]",
		`<input name="pin" value="42">`:    `<input name="pin" value="[redacted]">`,
		`<input name=pin value=42>`:        `<input name=pin value=[redacted]>`,
		`<input name="other" value="42">`:  "",
		`<i name="pin"><input value="42">`: "",
		"x-level: on\r\n":                  "x-level: [redacted]\r\n",
		"x-level: one":                     "",
		"pin=421":                          "",
		"pin 42":                           "",
		"on the 42nd day, pin it":          "",
		"--b\r\nContent-Disposition: form-data; name=\"pin\"\r\n\r\n42\r\n--b": "--b\r\nContent-Disposition: " +
			"form-data; name=\"pin\"\r\n\r\n[redacted]\r\n--b",
		"pin=42&pin=42":                 "pin=[redacted]&pin=[redacted]",
		strings.Repeat(" ", 500) + "42": "",
	} {
		if want == "" {
			want = text
		}
		if got := s.RedactText(text); got != want {
			t.Errorf("%q became %q, want %q", text, got, want)
		}
	}
}

// TestPasswordNames replaces a weak password behind every name of a password, and behind no other.
func TestPasswordNames(t *testing.T) {
	s := &Set{}
	s.Add(Password, "test")
	for _, name := range []string{"password", "passwd", "pass", "user_pwd", "NewPassword", "login-pin", "otp", "senha"} {
		if got := s.RedactText(name + "=test"); got != name+"=[redacted]" {
			t.Errorf("behind %s: %s", name, got)
		}
	}
	for _, name := range []string{"user", "mode", "pinned", "q"} {
		if got := s.RedactText(name + "=test"); got != name+"=test" {
			t.Errorf("behind %s: %s", name, got)
		}
	}
}

// TestBindings replaces the values that bind a form to a session, of which nobody tells the set.
func TestBindings(t *testing.T) {
	s := &Set{}
	for text, want := range map[string]string{
		"X-CSRF-Token: a1b2c3d4e5\r\n":         "X-CSRF-Token: [redacted]\r\n",
		"_csrf=a1b2c3d4e5&x=1":                 "_csrf=[redacted]&x=1",
		`{"xsrfToken":"a1b2c3d4e5"}`:           `{"xsrfToken":"[redacted]"}`,
		"XSRF-TOKEN=a1b2c3d4e5; Path=/":        "XSRF-TOKEN=[redacted]; Path=/",
		"__RequestVerificationToken=CfDJ8a-_b": "__RequestVerificationToken=[redacted]",
		`<input name="__RequestVerificationToken" type="hidden" value="CfDJ8a-_bc" />`: `<input ` +
			`name="__RequestVerificationToken" type="hidden" value="[redacted]" />`,
		`<meta name="csrf-token" content="x">`: "",
		"csrf=short":                           "",
		"csrf protection is missing":           "",
		"csrfmiddlewaretoken=a1b2c3d4e5 and authenticity_token=f6a7b8c9d0": "csrfmiddlewaretoken=[redacted] and " +
			"authenticity_token=[redacted]",
		"É csrf=a1b2c3d4e5": "É csrf=[redacted]",
	} {
		if want == "" {
			want = text
		}
		if got := s.RedactText(text); got != want {
			t.Errorf("%q became %q, want %q", text, got, want)
		}
	}
}

// TestLongestFirst replaces the whole of a secret that begins with another one.
func TestLongestFirst(t *testing.T) {
	s := &Set{}
	s.Add("a", "k3y-8f2a91c4")
	s.Add("b", "k3y-8f2a91c4-extended")
	s.Add("c", "x-k3y-8f2a91c4")
	for text, want := range map[string]string{
		"k3y-8f2a91c4-extended":    "[redacted]",
		"k3y-8f2a91c4-ext":         "[redacted]-ext",
		"x-k3y-8f2a91c4":           "[redacted]",
		"k3y-8f2a91c4k3y-8f2a91c4": "[redacted][redacted]",
		"ak3y-8f2a91c4b":           "a[redacted]b",
		"k3y-8f2a91c":              "k3y-8f2a91c",
		"K3Y-8F2A91C4":             "K3Y-8F2A91C4",
	} {
		if got := s.RedactText(text); got != want {
			t.Errorf("%q became %q, want %q", text, got, want)
		}
	}
}

// TestMixedEncodings replaces secrets that are encoded in part, and twice.
func TestMixedEncodings(t *testing.T) {
	s := &Set{}
	s.Add("x", "a b&c/d=91f3")
	for _, text := range []string{"a+b&c/d=91f3", "a%20b&amp;c%2fd%3D91f3", "a%2520b%26c/d=91f3", `a b\u0026c\/d=91f3`,
		"a b&amp;amp;c/d=91f3", "a b&#38;c&#x2F;d=91f3", "a b&amp;#38;c/d=91f3", `a\x20b\x26c/d=91f3`} {
		if got := s.RedactText("<" + text + ">"); got != "<[redacted]>" {
			t.Errorf("%s became %s", text, got)
		}
	}
	for _, text := range []string{"a-b&c/d=91f3", "a%2b&c/d=91f3", "a%20b&amp;c%2gd%3D91f3", `a b\u0027c\/d=91f3`} {
		if got := s.RedactText(text); got != text {
			t.Errorf("%s became %s", text, got)
		}
	}
}

// TestAdd leaves out what is no secret, and bounds how many are kept.
func TestAdd(t *testing.T) {
	s := &Set{}
	for _, value := range []string{"", "   ", finding.Redacted, strings.Repeat("x", maxValue+1)} {
		s.Add("x", value)
	}
	if len(s.secrets) > 0 {
		t.Errorf("kept %v", s.secrets)
	}
	s.Add("x", "  k3y-8f2a91c4\n")
	if got := s.RedactText("=k3y-8f2a91c4="); got != "=[redacted]=" {
		t.Errorf("spaces around a secret: %s", got)
	}
	for n := range maxSecrets + 100 {
		s.Add("x", fmt.Sprintf("k3y-%08d-f2a91c4", n))
	}
	if len(s.secrets) != maxSecrets {
		t.Errorf("%d secrets", len(s.secrets))
	}
}

// TestObtainedLeaveRoom keeps room for the secrets of users when a target hands out new cookies
// with each response.
func TestObtainedLeaveRoom(t *testing.T) {
	s := &Set{}
	for n := range maxSecrets {
		s.AddObtained("sid", fmt.Sprintf("4F1A9C03B77E2D5A%08x", n))
		s.AddObtained("sid", fmt.Sprintf("4F1A9C03B77E2D5A%08x", n)) // again
	}
	if len(s.secrets) != maxObtained {
		t.Errorf("%d values are kept", len(s.secrets))
	}
	s.Add("X-Key", "k3y-8f2a91c4")
	if got := s.RedactText("k3y-8f2a91c4"); got != finding.Redacted {
		t.Errorf("the user's secret is shown: %s", got)
	}
}

// TestAddAll takes the secrets and the public texts of another set.
func TestAddAll(t *testing.T) {
	other, s := &Set{}, &Set{}
	other.Add("x", "k3y-8f2a91c4")
	other.Add("env", "staging-7")
	other.AddPublic("https://staging-7.example.org")
	s.AddAll(other)
	s.AddAll(nil)
	const text = "k3y-8f2a91c4 on staging-7, env=staging-7"
	if got := s.RedactText(text); got != "[redacted] on staging-7, env=[redacted]" {
		t.Errorf("%s became %s", text, got)
	}
}

// TestNone does nothing without a set.
func TestNone(t *testing.T) {
	var s *Set
	s.Add("x", "k3y-8f2a91c4")
	s.AddObtained("sid", "4F1A9C03B77E2D5A")
	s.AddPublic("x")
	s.AddAll(&Set{})
	f := &finding.Finding{Message: "k3y-8f2a91c4"}
	if Copy(s, f) != f || Copy[finding.Finding](&Set{}, nil) != nil {
		t.Error("a message was copied")
	}
}

// TestConcurrentUse adds secrets while texts are redacted: what was added before is never shown.
func TestConcurrentUse(t *testing.T) {
	s := &Set{}
	s.Add("x", "k3y-8f2a91c4")
	var all sync.WaitGroup
	for worker := range 4 {
		all.Go(func() {
			for n := range 50 {
				s.Add("y", fmt.Sprintf("other-%d-%d-8f2a", worker, n))
				if got := s.RedactText("k3y-8f2a91c4"); got != finding.Redacted {
					t.Errorf("shown: %s", got)
				}
			}
		})
	}
	all.Wait()
}

// TestRedactLive removes credentials by their names from evidence of which nobody knows the values
// any more.
func TestRedactLive(t *testing.T) {
	const head = "POST /login?next=/ HTTP/1.1\r\nHost: a.example\r\nUser-Agent: x\r\n"
	for _, c := range []struct {
		name, parameter   string
		request, response string
		wantRequest       string // "": as it is
		wantResponse      string
	}{
		{"headers", "", head + "X-Tenant-Key: abc\r\nCookie: sid=[redacted]\r\n\r\n", "",
			head + "X-Tenant-Key: [redacted]\r\nCookie: sid=[redacted]\r\n\r\n", ""},
		{"the header that was attacked", "X-Tenant", head + "x-tenant: ' OR 1=1\r\nX-Other: 1\r\n\r\n", "",
			head + "x-tenant: ' OR 1=1\r\nX-Other: [redacted]\r\n\r\n", ""},
		{"headers that describe the client", "", head + "Accept: */*\r\nSec-Fetch-Mode: cors\r\nX-Forwarded-For: " +
			"::1\r\nX-Merlon-Scan: 7\r\n\r\n", "", "", ""},
		{"a request without a body", "", head + "X-A: 1", "", head + "X-A: [redacted]", ""},
		{"a form", "", head + "\r\nuser=jane&password=pw&note=x", "",
			head + "\r\nuser=jane&password=[redacted]&note=x", ""},
		{"the field that was attacked", "password", head + "\r\nuser=jane&password=' OR 1", "", "", ""},
		{"tokens in an answer", "", "", "HTTP/1.1 200 OK\r\n\r\n" + `{"access_token":"8f2a91c47be0","expires":60}`, "",
			"HTTP/1.1 200 OK\r\n\r\n" + `{"access_token":"[redacted]","expires":60}`},
		{"escaped JSON in an answer", "", "", `{\"api_key\": \"8f2a91c47be0\"}`, "", `{\"api_key\": \"[redacted]\"}`},
		{"a word that says nothing", "", "", "secret: true, session_id=0", "", ""},
		{"redacted already", "", "", "api_key=[redacted]", "", ""},
		{"names that are none of credentials", "", "", "compass=north-8f2a91c4 monkey: k3y-8f2a91c4", "", ""},
	} {
		l := &finding.Live{Parameter: c.parameter,
			Exchanges: []finding.Exchange{{Request: c.request, Response: c.response}}}
		out := RedactLive(l)
		want := finding.Exchange{Request: c.wantRequest, Response: c.wantResponse}
		if want.Request == "" {
			want.Request = c.request
		}
		if want.Response == "" {
			want.Response = c.response
		}
		if out.Exchanges[0] != want {
			t.Errorf("%s: got %+q, want %+q", c.name, out.Exchanges[0], want)
		}
		if l.Exchanges[0].Request != c.request || l.Exchanges[0].Response != c.response {
			t.Errorf("%s: the original was changed", c.name)
		}
	}
	if RedactLive(nil) != nil {
		t.Error("nothing became something")
	}
}

// TestRedactCurl removes the headers of a command, but for those that describe the client and the one
// that was attacked.
func TestRedactCurl(t *testing.T) {
	for _, c := range []struct{ parameter, curl, want string }{
		{"", "curl -i -H 'X-Key: abc' -H 'Accept: */*' --path-as-is http://a.example/",
			"curl -i -H 'X-Key: [redacted]' -H 'Accept: */*' --path-as-is http://a.example/"},
		{"X-Key", "curl -i -H 'X-Key: abc' --path-as-is http://a.example/",
			"curl -i -H 'X-Key: abc' --path-as-is http://a.example/"},
		{"", "curl -i -X POST --data-binary 'password=pw' http://a.example/",
			"curl -i -X POST --data-binary 'password=[redacted]' http://a.example/"},
		{"", "curl -i 'http://a.example/?api_key=8f2a91c47be0&x=1'", "curl -i 'http://a.example/?api_key=[redacted]&x=1'"},
	} {
		if got := RedactLive(&finding.Live{Parameter: c.parameter, Curl: c.curl}).Curl; got != c.want {
			t.Errorf("got  %s\nwant %s", got, c.want)
		}
	}
}
