package mirror

import (
	"crypto/ed25519"
	"encoding/base64"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/crypto/blake2b"
)

// The key, the signature and the file of minisign's own manual.
const (
	manualKey       = "RWQf6LRCGA9i53mlYecO4IzT51TGPpvWucNSCh1CBM0QTaLn73Y7GFO3"
	manualSignature = `untrusted comment: signature from minisign secret key
RUQf6LRCGA9i559r3g7V1qNyJDApGip8MfqcadIgT9CuhV3EMhHoN1mGTkUidF/z7SrlQgXdy8ofjb7bNJJylDOocrCo8KLzZwo=
trusted comment: timestamp:1556193335	file:test
y/rUw2y8/hOUYjZU71eHp/Wo1KZ40fGy2VJEDl34XMJM+TX48Ss/17u3IvIfbVR1FkZZSNCisQbuQY+bHwhEBg==
`
)

func write(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "test")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestSignatureOfTheManual(t *testing.T) {
	key, err := ParseKey("untrusted comment: minisign public key E7620F1842B4E81F\n" + manualKey + "\n")
	if err != nil {
		t.Fatal(err)
	}
	if err := key.Verify(write(t, "test"), manualSignature); err != nil {
		t.Error(err)
	}
	for name, test := range map[string]struct{ file, signature, problem string }{
		"another file":     {"Test", manualSignature, "is invalid"},
		"another comment":  {"test", strings.Replace(manualSignature, "file:test", "file:tesp", 1), "comment"},
		"another key":      {"test", strings.Replace(manualSignature, "RUQf6", "RUQg6", 1), "signed with the key"},
		"another algo":     {"test", strings.Replace(manualSignature, "RUQf6", "RVQf6", 1), "algorithm"},
		"nothing":          {"test", "", "minisign"},
		"a page":           {"test", "<html>\n\n\n\n", "minisign"},
		"half a signature": {"test", strings.Join(strings.SplitAfter(manualSignature, "\n")[:3], ""), "minisign"},
		"no base64":        {"test", strings.Replace(manualSignature, "y/rUw2y8", "????", 1), "minisign"},
	} {
		if err := key.Verify(write(t, test.file), test.signature); err == nil ||
			!strings.Contains(err.Error(), test.problem) {
			t.Errorf("%s: got %v, want %q", name, err, test.problem)
		}
	}
	for _, text := range []string{"", "untrusted comment: x", "AAAA", manualKey[:20], "RUQ" + manualKey[3:], manualKey +
		"AA"} {
		if _, err := ParseKey(text); err == nil {
			t.Errorf("%q is a key", text)
		}
	}
}

// sign makes a signature as minisign does; legacy over the file itself.
func sign(key ed25519.PrivateKey, content []byte, legacy bool) string {
	algorithm, message := "ED", content
	if legacy {
		algorithm = "Ed"
	} else {
		h := blake2b.Sum512(content)
		message = h[:]
	}
	sig := ed25519.Sign(key, message)
	comment := "timestamp:1\tfile:x"
	global := ed25519.Sign(key, append(append([]byte{}, sig...), comment...))
	return fmt.Sprintf("untrusted comment: x\n%s\ntrusted comment: %s\n%s\n",
		base64.StdEncoding.EncodeToString(append([]byte(algorithm+"12345678"), sig...)), comment,
		base64.StdEncoding.EncodeToString(global))
}

// newKey returns a pair of keys.
func newKey(t *testing.T) (ed25519.PrivateKey, *Key) {
	t.Helper()
	public, private, err := ed25519.GenerateKey(nil)
	if err != nil {
		t.Fatal(err)
	}
	key, err := ParseKey(base64.StdEncoding.EncodeToString(append([]byte("Ed12345678"), public...)))
	if err != nil {
		t.Fatal(err)
	}
	return private, key
}

func TestBothAlgorithms(t *testing.T) {
	private, key := newKey(t)
	path := write(t, "content")
	for _, legacy := range []bool{true, false} {
		if err := key.Verify(path, sign(private, []byte("content"), legacy)); err != nil {
			t.Errorf("legacy %t: %v", legacy, err)
		}
		if err := key.Verify(path, sign(private, []byte("Content"), legacy)); err == nil {
			t.Errorf("legacy %t: another file is taken", legacy)
		}
	}
}

func FuzzSignature(f *testing.F) {
	f.Add(manualSignature)
	f.Add("untrusted comment:\n\ntrusted comment: \n\n")
	path := filepath.Join(f.TempDir(), "x")
	if err := os.WriteFile(path, []byte("other"), 0o600); err != nil {
		f.Fatal(err)
	}
	key, err := ParseKey(manualKey)
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if key.Verify(path, text) == nil {
			t.Errorf("%q is a signature of another file", text)
		}
	})
}
