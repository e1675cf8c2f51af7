package credfile

import (
	"encoding/base64"
	"strings"
	"testing"
	"time"
)

// words joins pieces, so that no scanner takes this file for one with secrets.
func words(pieces ...string) string { return strings.Join(pieces, "") }

func TestIsPhrase(t *testing.T) {
	for value, want := range map[string]bool{
		"this_is_a_secret_value": true, "a_not_so_secure_encryption_key": true, "SomeRandomStringForExample": true,
		"enterprise-metrics": true, "hosted-grafana-id": true, "k8s_etcd": true, "WOODPECKER_GITEA_CLIENT": true,
		"secret_from_config": true, "this_is_a_secret_abc123abc123abc": true, "my.module.name": true,
		"": false, "1234": false, "Tr0ub4dor&3": false, "q8Zk2LwTv91mNc": false,
		words("IVPWBkAdJHje3u", "z7LtFTDU2pFUfh39Xm"): false, words("2H9gNG9obnAQ9qn", "R9BDTQUph6CbXKCzF"): false,
		words("nvropikx1e0vzx", "pad8upkf8696icmidx"): false, "a+token=": false,
	} {
		if got := isPhrase(value); got != want {
			t.Errorf("isPhrase(%q) = %v, want %v", value, got, want)
		}
	}
}

// Names of migrations, formats and filters are no secrets; tokens with separators are.
func TestIsIdentifier(t *testing.T) {
	for value, want := range map[string]bool{
		"0008_alter_user_username_max_length": true, "MonthDateYear_TIME_12H": true, "DDMMYYYY_DASH_TIME_12H": true,
		"overlay_rkrga=eof_action=pass:repeatlast=0:format=nv12": true, "com.example.shop": true,
		words("sk_live", "_4eC39HqLyjWDarjtT1zdp7dc"): false, words("ghp_a8Kd0s", "Jq2LmZx81Qw_rT5yU"): false,
		words("xoxb-1234567", "89012-abcDEF123456"): false, words("q8Zk-2LwTv9-", "1mNcX4-s7Rb"): false,
		words("aBcD-eFgH-", "iJkL-mNoP-qRsT"): false, "": false, "correct-horse": false, "a_b_c": false,
		words("c2VjcmV0", "L3ZhbHVl="): false, "shallow": false,
	} {
		if got := isIdentifier(value); got != want {
			t.Errorf("isIdentifier(%q) = %v, want %v", value, got, want)
		}
	}
}

func TestIsRun(t *testing.T) {
	for value, want := range map[string]bool{
		"abcdefghijklmnop": true, "0123456789abcdef0123456789abcdef": true, "TestTestTestTest": true,
		"1a2b3c4d5e6f7a8b": true, "deadbeefdeadbeef": true, "aaaaaaaa": true, "abcabcabcabc": true,
		"87654321-4321-4321": true,
		"3fa85c917be2d406":   false, "q8Zk2LwTv91mNc": false, "": false, "ab": false,
		words("IVPWBkAdJHje3u", "z7LtFTDU2pFUfh39Xm"): false,
	} {
		if got := IsRun(value); got != want {
			t.Errorf("IsRun(%q) = %v, want %v", value, got, want)
		}
	}
}

// What everybody may read is no secret, whatever it is called.
func TestIsPublicValue(t *testing.T) {
	for value, want := range map[string]bool{
		"ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIE": true, "AAAAB3NzaC1yc2EAAAADAQABAAAB": true,
		"sha256-47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=": true, "sha256:e3b0c44298fc1c14": true,
		"43:51:43:a1:b5:fc:8b:b7:0a": true, "7.5.4": true, "v1.2.3-rc.1": true, "2024-03-01T00:00:00Z": true,
		"age1zvkyg2lqzraa2lnjvqej32nkuu0ues2s82hzrye869xeexvn73equnujwj": true,
		"q8Zk2LwTv91mNc": false, "3fa85c917be2d406": false, "shallow-water-9": false,
	} {
		if got := IsPublicValue(value); got != want {
			t.Errorf("IsPublicValue(%q) = %v, want %v", value, got, want)
		}
	}
}

// Vendors publish these for everybody; a value of the same form is not published.
func TestIsPublished(t *testing.T) {
	for _, value := range []string{
		words("Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/", "K1SZFPTOtr/KBHBeksoGMGw=="),
		words("AKIA", "IOSFODNN7EXAMPLE"), words("JBSWY3DP", "EHPK3PXP"),
		words("sk_test_", "4eC39HqLyjWDarjtT1zdp7dc"), words("QWxhZGRpbjp", "vcGVuIHNlc2FtZQ=="),
	} {
		if !IsPublished(value) {
			t.Errorf("%s… is not known", value[:8])
		}
		if IsPublished(value[1:] + "x") {
			t.Errorf("another value than %s… is taken for it", value[:8])
		}
	}
	if IsPublished("short") {
		t.Error("a short value is taken for a published one")
	}
}

// A value in Base64 is judged by what it hides.
func TestIsExampleValue(t *testing.T) {
	encode := base64.StdEncoding.EncodeToString
	for value, want := range map[string]bool{
		encode([]byte("mypassword")): true, encode([]byte("test-password")): true, encode([]byte("change_me")): true,
		encode([]byte("q8Zk2LwTv91m")): false, encode([]byte{1, 2, 3, 250, 251, 252}): false,
		"your-token": true, "q8Zk2LwTv91mNc": false,
	} {
		if got := IsExampleValue(value); got != want {
			t.Errorf("IsExampleValue(%q) = %v, want %v", value, got, want)
		}
	}
}

func TestJudgeToken(t *testing.T) {
	now := time.Date(2026, 1, 2, 0, 0, 0, 0, time.UTC)
	token := func(header, payload string) string {
		encode := base64.RawURLEncoding.EncodeToString
		return encode([]byte(header)) + "." + encode([]byte(payload)) + ".c2lnbmF0dXJl"
	}
	for _, c := range []struct {
		what, token string
		want        TokenState
	}{
		{"a usable one", token(`{"alg":"HS256"}`, `{"iss":"https://id.corp.net","sub":"u7"}`), TokenUsable},
		{"one that is valid for years", token(`{"alg":"HS256"}`, `{"sub":"u7","exp":4102444800}`), TokenUsable},
		{"an expired one", token(`{"alg":"HS256"}`, `{"sub":"u7","exp":1700000000}`), TokenExpired},
		{"the sample of manuals", token(`{"alg":"HS256"}`, `{"sub":"1234567890","name":"John Doe"}`), TokenExample},
		{"an example host", token(`{"alg":"HS256"}`, `{"iss":"https://auth.example.com"}`), TokenExample},
		{"an unsigned one", token(`{"alg":"none"}`, `{"sub":"u7"}`), TokenExample},
		{"a key for browsers", token(`{"alg":"HS256"}`, `{"iss":"supabase","role":"anon","exp":4102444800}`),
			TokenPublic},
		{"no JSON", "eyJub3QganNvbg.eyJub3QganNvbg.abc", TokenBroken},
		{"no token", "abc", TokenBroken},
	} {
		if got := JudgeToken(c.token, now); got != c.want {
			t.Errorf("%s: got %v, want %v", c.what, got, c.want)
		}
	}
}

// A value of an example or a hint is known by its line, or by a line that contains it.
func TestIsExampleContext(t *testing.T) {
	for text, want := range map[string]bool{
		"example: VALUE": true, "  examples:\n    - VALUE": true, "token:\n  example:\n    a:\n      b: VALUE": true,
		`<input placeholder="VALUE">`: true, "<pre><code>curl -H 'X-Api-Key: VALUE'</code></pre>": true,
		"# for example, VALUE": true,
		"token: VALUE":         false, "example: 1\ntoken: VALUE": false, "  example: 1\n  token: VALUE": false,
		"<p>VALUE</p>": false,
	} {
		if got := IsExampleContext(text, strings.Index(text, "VALUE")); got != want {
			t.Errorf("IsExampleContext(%q) = %v, want %v", text, got, want)
		}
	}
}

// Sections for development and tests enclose their lines; a key above on the same level does not.
func TestIsDevelopmentSection(t *testing.T) {
	for text, want := range map[string]bool{
		"development:\n  secret_key_base: VALUE\n":                true,
		"production:\n  a: b\ntest:\n  database:\n    p: VALUE\n": true,
		"when@test:\n  framework:\n    secret: VALUE\n":           true,
		"{\n  \"test\": {\n    \"secret\": \"VALUE\"\n  }\n}\n":   true,
		"development:\n  a: b\nproduction:\n  p: VALUE\n":         false,
		"development: VALUE\n":                                    false,
		"testament:\n  p: VALUE\n":                                false,
		"VALUE":                                                   false,
	} {
		if got := IsDevelopmentSection(text, strings.Index(text, "VALUE")); got != want {
			t.Errorf("IsDevelopmentSection(%q) = %v, want %v", text, got, want)
		}
	}
}
