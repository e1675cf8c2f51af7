package scan

import (
	"strings"
	"testing"
)

// TestSecretsOfTargets knows every secret of a target, and leaves what everybody may see.
func TestSecretsOfTargets(t *testing.T) {
	whole := Target{URL: "https://user:b4se-pass-91@shop.example.org/app/",
		Seeds: []string{"/start?token=s33d-91&page=17#access_token=fr4g-91x"},
		Headers: []Header{{"X-Key", "h3ad-k3y"}, {"Accept-Language", "de-CH-1996"},
			{"Authorization", "Basic amFuZTpiNHNpYy05MQ=="}, {"X-Signed", `Token key="qu0ted-91", realm="shop"`}},
		Identities: []Identity{
			{Name: "jane", JSON: &JSONLogin{URL: "/in?api_key=k3y-in-url",
				Body: `{"user": "jane@example.org", "auth": {"password": "js0n-p4ss", "pin": 884422}}`}},
			{Name: "joe", JSON: &JSONLogin{URL: "/in", Body: "user=joe@example.org&password=f0rm%26p4ss"}},
			{Name: "xml", JSON: &JSONLogin{URL: "/in", Body: "<in><user>u</user><password>xm1-p4ss</password></in>"}},
			{Name: "app", OAuth: &OAuthLogin{ClientID: "app-42-client", ClientSecret: "cl13nt-s3cret",
				Refresh: "r3fresh-91"}},
			{Name: "cookie", Cookie: "sid=c00kie-91; lang=en"},
			{Name: "steps", Steps: []BrowserStep{{Open: "/in?key_token=st3p-91a"}, {Fill: "#p", Value: "st3p-p4ss"}}},
		},
		Descriptions: []Description{{Name: "har",
			Text: `{"log": {"entries": [{"request": {"headers": [{"name": "Accept", "value": "text/plain-91"}, {"name": "X-Api-Key", "value": "r3c0rded-91"}, {"name": "Cookie", "value": "a=r3c-c00kie"}]}}], "n": 1}}`},
			{Name: "postman", Text: `{"variable": [{"key": "token", "value": "p0stman-91"}, {"key": "host", "value": "host-91-x"}], "x": [null, true, {"value": "v"}]}`}},
	}
	s := whole.Secrets()
	for _, secret := range []string{"b4se-pass-91", "s33d-91", "fr4g-91x", "h3ad-k3y", "amFuZTpiNHNpYy05MQ==",
		"b4sic-91", "qu0ted-91", "k3y-in-url", "js0n-p4ss", "884422", "f0rm&p4ss", "xm1-p4ss", "cl13nt-s3cret",
		"r3fresh-91",
		"c00kie-91", "st3p-91a", "st3p-p4ss", "r3c0rded-91", "r3c-c00kie", "p0stman-91"} {
		if got := s.RedactText("before " + secret + " after"); strings.Contains(got, secret) {
			t.Errorf("%s is not known", secret)
		}
	}
	const public = "https://shop.example.org/app/start?page=17 jane@example.org joe@example.org app-42-client " +
		"de-CH-1996 lang: text/plain-91 host-91-x user"
	if got := s.RedactText(public); got != public {
		t.Errorf("too much is redacted: %s", got)
	}
}

// TestMasked takes credentials out of addresses alone.
func TestMasked(t *testing.T) {
	for address, want := range map[string]string{
		"https://u:p4ss-word-1@a.example/x?y=1": "https://u:[redacted]@a.example/x?y=1",
		"/x?token=t0ken-91&y=1":                 "/x?token=[redacted]&y=1", "/plain/*": "/plain/*", "": "",
		"https://a.example/?code=1": "https://a.example/?code=[redacted]",
	} {
		if got := MaskAddress(address); got != want {
			t.Errorf("%s became %s, want %s", address, got, want)
		}
	}
}

// FuzzDescription reads what users upload.
func FuzzDescription(f *testing.F) {
	f.Add(`{"a": [{"name": "token", "value": "x"}]}`)
	f.Add(`{"a": {"name": {"value": []}}, 1`)
	f.Add(`[]`)
	f.Add(`{} "x" 1 }`)
	f.Fuzz(func(_ *testing.T, text string) {
		whole := Target{Descriptions: []Description{{Text: text}}}
		whole.Secrets().RedactText(text)
	})
}
