package credentials

import (
	"context"
	"encoding/base64"
	"strings"
	"testing"
)

// samples are the characters of the alphabets.
var samples = map[byte]string{'A': letters, 's': small, 'Z': strings.ToUpper(small), 'h': hexa,
	'H': strings.ToUpper(hexa), 'd': "0123456789", 'U': letters + "_-", 'B': letters + "+/", 'P': letters + "._"}

// makeToken returns a token of the form, with random parts of their least length less the given
// number of characters.
func makeToken(f *tokenForm, less int) string {
	literals, random := f.parts()
	var b strings.Builder
	for i, literal := range literals {
		b.WriteString(literal)
		if i == len(random) {
			break
		}
		if random[i] == "u" {
			b.WriteString("3fa85c91-7be2-4d06-9c1f-0b6e2d8a4c57")
			continue
		}
		least, _ := lengthRange(random[i])
		if least > 9 {
			least -= less
		}
		b.WriteString(mixed(samples[random[i][0]], least))
	}
	return b.String()
}

// Each form is found with random parts that the issuer could have made, in code and in prose; it
// is silent when a part is too short, inside of a longer word, and when it is an example.
func TestTokenForms(t *testing.T) {
	e, err := load()
	if err != nil {
		t.Fatal(err)
	}
	reports := func(text, id string) bool {
		found, err := e.findSecrets(context.Background(), "notes.txt", text)
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range found {
			if s.rule == id {
				return true
			}
		}
		return false
	}
	for i := range tokenForms {
		f := &tokenForms[i]
		if f.id == "private-key-base64" {
			continue // see TestEncodedKey
		}
		token := makeToken(f, 0)
		word := "" // that tells the form from others
		if words := strings.Fields(f.words); len(words) > 0 && !f.isMentioned(token) {
			word = words[0]
		}
		if text := word + " x = \"" + token + "\"\n"; !isTold(e, t, text, token) {
			t.Errorf("%s is not found in %q", f.id, text)
		}
		if text := word + " see " + token + " here\n"; !isTold(e, t, text, token) {
			t.Errorf("%s is not found in %q", f.id, text)
		}
		if short := makeToken(f, 3); short != token && reports("x = \""+short+"\"\n", f.id) {
			t.Errorf("%s tells a text that is too short: %q", f.id, short)
		}
		if strings.HasPrefix(f.form, "{") {
			continue
		}
		if text := "x = \"abc" + token + "\"\n"; reports(text, f.id) {
			t.Errorf("%s tells a piece of a longer word: %q", f.id, text)
		}
	}
}

// isTold reports whether a rule found the token in the text.
func isTold(e *engine, t *testing.T, text, token string) bool {
	t.Helper()
	found, err := e.findSecrets(context.Background(), "notes.txt", text)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range found {
		if strings.Contains(s.value, token) {
			return true
		}
	}
	return false
}

// A private key that is encoded once more is found; a certificate is none.
func TestEncodedKey(t *testing.T) {
	for kind, want := range map[string]string{"EC PRIVATE KEY": "private-key-base64:4", "CERTIFICATE": ""} {
		pem := "-----BEGIN " + kind + "-----\n" + mixed(letters, 200) + "\n-----END " + kind + "-----\n"
		if got := judged(t, "deploy.yaml", "tls.x: "+base64.StdEncoding.EncodeToString([]byte(pem))+"\n"); got != want {
			t.Errorf("%s: got %q, want %q", kind, got, want)
		}
	}
}

// A token with a regularity, which the rule set drops, is an example and stays for audits.
func TestKnownForms(t *testing.T) {
	e, err := load()
	if err != nil {
		t.Fatal(err)
	}
	for i := range knownForms {
		f := &knownForms[i]
		if e.rules[f.id] == nil {
			t.Errorf("the rule set has no rule %s", f.id)
			continue
		}
		token := makeToken(f, 0)
		if text := "x = \"" + token + "\"\n"; !isTold(e, t, text, token) {
			t.Errorf("%s is not found in %q", f.id, text)
		}
		literals, _ := f.parts()
		dull := literals[0] + strings.Repeat(token[len(token)-1:], len(token)-len(literals[0]))
		if len(literals) > 2 || literals[1] != "" || strings.ContainsAny(f.form, "Ed") && f.form[4] == 'd' {
			continue // a literal within
		}
		for _, told := range strings.Fields(judged(t, "notes.txt", "x = \""+dull+"\"\n")) {
			if id, points, _ := strings.Cut(told, ":"); id == f.id && points > "0" && points[0] != '-' {
				t.Errorf("%s: %q is no example: %s", f.id, dull, told)
			}
		}
	}
}
