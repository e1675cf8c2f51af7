package cipher

import (
	"bytes"
	"crypto/aes"
	stdcipher "crypto/cipher"
	"crypto/rand"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"merlon/internal/engine/dast/activescan"
	"merlon/internal/engine/dast/activescan/activescantest"
	"merlon/internal/scan"
)

var key = []byte("0123456789abcdef")

func xor(text string) []byte {
	out := []byte(text)
	for i := range out {
		out[i] ^= "wonderful"[i%9]
	}
	return out
}

func filled(text string) []byte {
	n := 16 - len(text)%16
	return append([]byte(text), bytes.Repeat([]byte{byte(n)}, n)...)
}

func ecbOf(text string) []byte {
	block, _ := aes.NewCipher(key)
	out := filled(text)
	for i := 0; i < len(out); i += 16 {
		block.Encrypt(out[i:], out[i:])
	}
	return out
}

func cbcOf(text string) []byte {
	iv := make([]byte, 16)
	_, _ = rand.Read(iv)
	return cbcFrom(iv, text)
}

func cbcFrom(iv []byte, text string) []byte {
	block, _ := aes.NewCipher(key)
	out := filled(text)
	stdcipher.NewCBCEncrypter(block, iv).CryptBlocks(out, out)
	return append(iv, out...)
}

func ctrOf(text string, fresh bool) []byte {
	block, _ := aes.NewCipher(key)
	iv := make([]byte, 16)
	if fresh {
		_, _ = rand.Read(iv)
	}
	out := make([]byte, len(text))
	stdcipher.NewCTR(block, iv).XORKeyStream(out, []byte(text))
	return append(iv, out...)
}

func TestEncryption(t *testing.T) {
	b64 := base64.StdEncoding.EncodeToString
	for name, c := range map[string]struct {
		encrypt func(text string) string
		want    string
	}{
		"xor":         {func(s string) string { return b64(xor(s)) }, "keystream"},
		"xor in hex":  {func(s string) string { return hex.EncodeToString(xor(s)) }, "keystream"},
		"same nonce":  {func(s string) string { return b64(ctrOf(s, false)) }, "keystream"},
		"fresh nonce": {func(s string) string { return b64(ctrOf(s, true)) }, ""},
		"ecb":         {func(s string) string { return b64(ecbOf(s)) }, "blocks"},
		"cbc":         {func(s string) string { return b64(cbcOf(s)) }, ""},
		"base 64":     {func(s string) string { return b64([]byte(s)) }, ""},
		"upper case":  {func(s string) string { return b64([]byte(strings.ToUpper(s))) }, ""},
		"plain":       {func(s string) string { return s }, ""},
	} {
		t.Run(name, func(t *testing.T) {
			h := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				fmt.Fprintf(w, "<p>Your message:<textarea>%s</textarea>", c.encrypt(r.FormValue("message")))
			})
			got := activescantest.Attack(t, h, []*activescan.Rule{Rule}, []string{"POST /encode message=hello+there"},
				activescantest.Profile(scan.Safe))
			var want []string
			if c.want != "" {
				want = []string{"dast/cipher/" + c.want + " POST /encode form:message"}
			}
			activescantest.Expect(t, got, want...)
			if got.Requests > 14 {
				t.Errorf("%d requests", got.Requests)
			}
		})
	}
}

func TestPadding(t *testing.T) {
	block, _ := aes.NewCipher(key)
	// A padding of 11 bytes; first in characters that both alphabets of base 64 have,
	// then in some of the one for addresses alone.
	iv := make([]byte, 16)
	token := base64.RawURLEncoding.EncodeToString(cbcFrom(iv, "user=jane;level=2;x=1"))
	iv[0] = 1
	own := base64.RawURLEncoding.EncodeToString(cbcFrom(iv, "user=jane;level=2;x=1"))
	if strings.ContainsAny(token, "-_") || !strings.ContainsAny(own, "-_") {
		t.Fatal(token, own)
	}
	open := func(s string) (text string, padding, whole bool) {
		b, err := base64.RawURLEncoding.DecodeString(s)
		if err != nil || len(b)%16 != 0 || len(b) < 32 {
			return "", false, false
		}
		out := make([]byte, len(b)-16)
		stdcipher.NewCBCDecrypter(block, b[:16]).CryptBlocks(out, b[16:])
		n := int(out[len(out)-1])
		if n == 0 || n > 16 || !bytes.Equal(out[len(out)-n:], bytes.Repeat([]byte{byte(n)}, n)) {
			return "", false, true
		}
		return string(out[:len(out)-n]), true, true
	}
	for name, c := range map[string]struct {
		answer func(s string) string
		want   bool
	}{
		"tells": {func(s string) string {
			switch text, padding, whole := open(s); {
			case !whole:
				return "malformed"
			case !padding:
				return "cannot decrypt"
			case !strings.HasPrefix(text, "user=jane;level=2"):
				return "no such user"
			}
			return "welcome back"
		}, true},
		"says one thing": {func(s string) string {
			if text, padding, _ := open(s); !padding || !strings.HasPrefix(text, "user=jane;level=2") {
				return "wrong token"
			}
			return "welcome back"
		}, false},
		"compares": {func(s string) string {
			if s != token && s != own {
				return "wrong token"
			}
			return "welcome back"
		}, false},
		"does not look": {func(string) string { return "welcome back" }, false},
		"repeats":       {func(s string) string { return "searched for " + s }, false},
	} {
		for alphabet, a := range map[string]struct {
			token string
			most  int // requests
		}{"both alphabets": {token, 48}, "one alphabet": {own, 30}} {
			t.Run(name+"/"+alphabet, func(t *testing.T) {
				h := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					fmt.Fprint(w, "<p>", c.answer(r.FormValue("token")))
				})
				got := activescantest.Attack(t, h, []*activescan.Rule{Rule}, []string{"GET /show?token=" + a.token},
					activescantest.Profile(scan.Safe))
				var want []string
				if c.want {
					want = []string{"dast/cipher/padding-oracle GET /show query:token"}
				}
				activescantest.Expect(t, got, want...)
				if got.Requests > a.most {
					t.Errorf("%d requests", got.Requests)
				}
			})
		}
	}
}

func FuzzCiphertexts(f *testing.F) {
	f.Add("Lg4WGlQZChhSFBYSEB8bBQtPGxdNQSwEHREOAQY=")
	f.Add("00112233445566778899aabbccddeeff")
	f.Fuzz(func(_ *testing.T, s string) {
		if b, e := decodeText(s); e != nil {
			blockSize(b)
		}
	})
}
