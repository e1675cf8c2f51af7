package credentials

import (
	"context"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/pem"
	"strings"
	"testing"
)

// newKey returns a fresh private key in PEM, so that no key lies in this file.
func newKey(t *testing.T) string {
	t.Helper()
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	return string(pem.EncodeToMemory(&pem.Block{Type: "RSA PRIVATE KEY", Bytes: x509.MarshalPKCS1PrivateKey(key)}))
}

// TestKeyBehindPlaceholder has placeholders of all forms before, between and behind real keys.
// Only the keys are reported, each at its own first line.
func TestKeyBehindPlaceholder(t *testing.T) {
	const begin, end = "-----BEGIN RSA PRIVATE KEY-----\n", "-----END RSA PRIVATE KEY-----\n"
	one, two := newKey(t), newKey(t)
	for name, tt := range map[string]struct {
		text string
		want []string
	}{
		"dots with a last line":    {begin + "...\n" + end + "\n" + one, []string{one}},
		"cut key with a last line": {begin + "MIIEpAIBAAKCAQEA...\n" + end + "\n" + one, []string{one}},
		"no last line":             {begin + "<your key>\n\n" + one, []string{one}},
		"first line in a sentence": {"It begins with -----BEGIN PRIVATE KEY----- and so on.\n" + one, []string{one}},
		"between two keys":         {one + begin + "...\n" + end + two, []string{one, two}},
		"behind a key":             {one + "\n" + begin + "...\n" + end, []string{one}},
		"two keys":                 {one + two, []string{one, two}},
		"placeholders alone":       {begin + "...\n" + end + "\n" + begin + "YOUR KEY HERE\n" + end, nil},
		"code that looks for both": {`if strings.Contains(s, "-----BEGIN PRIVATE KEY-----") || strings.Contains(s, "-----BEGIN EC PRIVATE KEY-----") { return }`, nil},
		"indented, as in YAML values": {"a: |\n  " + begin + "  PASTE\nb: |\n  " +
			strings.ReplaceAll(one, "\n", "\n  "), []string{strings.ReplaceAll(one, "\n", "\n  ")}},
	} {
		t.Run(name, func(t *testing.T) {
			e, err := load()
			if err != nil {
				t.Fatal(err)
			}
			found, err := e.findSecrets(context.Background(), "config.txt", tt.text)
			if err != nil {
				t.Fatal(err)
			}
			var got []secret
			for _, s := range found {
				if s.rule == keyRule {
					got = append(got, s)
				}
			}
			if len(got) != len(tt.want) {
				t.Fatalf("%d keys, want %d: %+v", len(got), len(tt.want), got)
			}
			for i, s := range got {
				if want := strings.TrimSpace(tt.want[i]); s.value != want || tt.text[s.at.start:s.at.end] != want {
					t.Errorf("key %d is %.60q at %v", i, s.value, s.at)
				}
			}
		})
	}
}

func FuzzKeyBlock(f *testing.F) {
	f.Add("-----BEGIN PRIVATE KEY-----\nx\n-----BEGIN PRIVATE KEY-----\ny\n-----END PRIVATE KEY-----")
	f.Fuzz(func(t *testing.T, text string) {
		for _, begin := range blockBegin.FindAllStringIndex(text, -1) {
			at := keyBlock(text, begin[0])
			if at.start != begin[0] || at.end < begin[1] || at.end > len(text) {
				t.Errorf("the block at %v is %v of %d bytes", begin, at, len(text))
			}
		}
	})
}
