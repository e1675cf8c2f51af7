package jwt

import (
	"context"
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/hmac"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"math/big"
	"net/http"
	"strings"
	"testing"
	"time"

	"merlon/internal/engine/dast/activescan"
	"merlon/internal/engine/dast/activescan/activescantest"
	"merlon/internal/engine/dast/message"
	"merlon/internal/scan"
)

const strong = "8b1ff6a2c94e4d5db0a7f3e2d1c0b9a8"

// A server answers /me to whom its verifier believes.
type server struct {
	key    string
	verify func(s *server, t *token) bool
	keys   string // what /.well-known/jwks.json answers
	cookie bool
}

func (s *server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	switch r.URL.Path {
	case "/":
		fmt.Fprint(w, "<html>welcome to everybody, whoever it may be</html>")
		return
	case "/.well-known/jwks.json":
		if s.keys == "" {
			http.NotFound(w, r)
		}
		fmt.Fprint(w, s.keys)
		return
	}
	text := strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")
	if c, err := r.Cookie("session"); s.cookie && err == nil {
		text = c.Value
	}
	t := parseToken(text)
	if t == nil || !s.verify(s, t) {
		w.WriteHeader(http.StatusUnauthorized)
		fmt.Fprint(w, `{"error":"who are you"}`)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	fmt.Fprintf(w, `{"user":%q,"address":"a street of its own","orders":[1,2,3]}`, t.claims["sub"])
}

// hs256 is what every library does, with an end that counts.
func hs256(s *server, t *token) bool {
	at, ends := t.expiryTime()
	return by(s.key, t) && (!ends || time.Now().Before(at))
}

// by reports whether the token is signed with the key, by HS256.
func by(key string, t *token) bool {
	return t.algorithm() == "HS256" && t.signHMAC([]byte(key)).signature == t.signature
}

func none(s *server, t *token) bool {
	return strings.EqualFold(t.algorithm(), "none") && t.signature == "" || hs256(s, t)
}

// sealed is a session with a token.
type sealed struct {
	text   string
	cookie bool
}

func (s sealed) Prepare(_ context.Context, req *http.Request) error {
	if s.cookie {
		req.Header.Set("Cookie", "lang=en; session="+s.text)
	} else {
		req.Header.Set("Authorization", "Bearer "+s.text)
	}
	return nil
}
func (sealed) Seen(*message.Response) {}
func (sealed) Name() string           { return "jane" }

func issue(key string, header, claims map[string]any) *token {
	h := map[string]any{"alg": "HS256", "typ": "JWT"}
	for k, v := range header {
		h[k] = v
	}
	c := map[string]any{"sub": "jane"}
	for k, v := range claims {
		c[k] = v
	}
	return parseToken((&token{header: h, claims: c}).signHMAC([]byte(key)).text)
}

func TestForged(t *testing.T) {
	soon := map[string]any{"exp": json.Number(fmt.Sprint(time.Now().Add(time.Hour).Unix()))}
	past := map[string]any{"exp": json.Number(fmt.Sprint(time.Now().Add(-time.Hour).Unix()))}
	kid := map[string]any{"kid": "1"}
	noEnd := func(s *server, t *token) bool { return by(s.key, t) }
	for name, c := range map[string]struct {
		server server
		token  *token
		want   []string
	}{
		"safe":             {server{key: strong, verify: hs256}, issue(strong, nil, soon), nil},
		"safe in a cookie": {server{key: strong, verify: hs256, cookie: true}, issue(strong, nil, soon), nil},
		"safe with kid":    {server{key: strong, verify: hs256}, issue(strong, kid, soon), nil},
		"no end":           {server{key: strong, verify: hs256}, issue(strong, nil, nil), []string{"no-expiry"}},
		"over":             {server{key: strong, verify: noEnd}, issue(strong, nil, past), []string{"expired-token"}},
		"not verified": {server{key: strong, verify: func(*server, *token) bool { return true }},
			issue(strong, nil, soon), []string{"forged-token"}},
		"in a cookie": {server{key: strong, cookie: true, verify: func(*server, *token) bool { return true }},
			issue(strong, nil, soon), []string{"forged-token"}},
		"none": {server{key: strong, verify: none}, issue(strong, nil, soon), []string{"forged-token"}},
		"weak": {server{key: "secret", verify: hs256}, issue("secret", nil, soon), []string{"weak-key"}},
		"weak and for ever": {server{key: "secret", verify: noEnd}, issue("secret", nil, soon),
			[]string{"expired-token", "weak-key"}},
		"kid names a file": {server{key: strong, verify: func(s *server, t *token) bool {
			if kid, _ := t.header["kid"].(string); strings.HasSuffix(kid, "../dev/null") {
				return by("", t)
			}
			return hs256(s, t)
		}}, issue(strong, kid, soon), []string{"forged-token"}},
		"kid in SQL": {server{key: strong, verify: func(s *server, t *token) bool {
			if _, rest, ok := strings.Cut(fmt.Sprint(t.header["kid"]), "' UNION SELECT '"); ok {
				key, _, _ := strings.Cut(rest, "'")
				return by(key, t)
			}
			return hs256(s, t)
		}}, issue(strong, kid, soon), []string{"forged-token"}},
		"everybody": {server{verify: func(*server, *token) bool { return true }, key: strong}, nil, nil},
	} {
		t.Run(name, func(t *testing.T) {
			var settings []activescantest.Option
			if c.token != nil {
				settings = append(settings, as(sealed{c.token.text, c.server.cookie}))
			}
			expect(t, &c.server, c.want, settings...)
		})
	}
}

func as(s sealed) activescantest.Option { return func(r *activescan.Engine) { r.As = s } }

func expect(t *testing.T, s *server, want []string, settings ...activescantest.Option) {
	t.Helper()
	got := activescantest.Attack(t, s, []*activescan.Rule{Rule}, []string{"GET /", "GET /me"}, settings...)
	var lines []string
	for _, w := range want {
		lines = append(lines, "dast/jwt/"+w+" GET /")
	}
	activescantest.Expect(t, got, lines...)
	for _, f := range got.Findings {
		for _, x := range f.Live.Exchanges {
			if strings.Contains(x.Request, "eyJ") {
				t.Errorf("%s shows a token", f.RuleID)
			}
		}
	}
}

// A server that verifies with its public key by whatever algorithm the token names, and
// one that believes the key in the header.
func TestPublicKeys(t *testing.T) {
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	n := base64.RawURLEncoding.EncodeToString(key.N.Bytes())
	set := fmt.Sprintf(`{"keys":[{"kty":"oct"},{"kty":"RSA","n":%q,"e":"AQAB"}]}`, n)
	secrets := readJWKS([]byte(set))
	if len(secrets) != 4 {
		t.Fatalf("%d forms of the key", len(secrets))
	}
	theirs := issue(strong, nil, map[string]any{"exp": json.Number(fmt.Sprint(time.Now().Add(time.Hour).Unix()))})
	text := theirs.withClaims(map[string]any{"alg": "RS256"},
		nil).withSignature("c2lnbmVkIGJ5IHRoZSByaWdodCBrZXksIGJlbGlldmUgbWU").text
	genuine := func(t *token) bool { return t.text == text }
	embedded := func(t *token) bool {
		jwk, _ := t.header["jwk"].(map[string]any)
		b, err := base64.RawURLEncoding.DecodeString(fmt.Sprint(jwk["n"]))
		if jwk == nil || err != nil || len(b) != 256 {
			return false
		}
		sum := sha256.Sum256([]byte(t.text[:strings.LastIndexByte(t.text, '.')]))
		sig, _ := base64.RawURLEncoding.DecodeString(t.signature)
		return rsa.VerifyPKCS1v15(&rsa.PublicKey{N: new(big.Int).SetBytes(b), E: 65537}, crypto.SHA256, sum[:],
			sig) == nil
	}
	for name, c := range map[string]struct {
		verify func(*server, *token) bool
		want   []string
	}{
		"safe": {func(_ *server, t *token) bool { return genuine(t) }, nil},
		"confused": {func(_ *server, t *token) bool {
			m := hmac.New(sha256.New, secrets[0])
			m.Write([]byte(t.text[:strings.LastIndexByte(t.text, '.')]))
			return genuine(t) || t.algorithm() == "HS256" &&
				base64.RawURLEncoding.EncodeToString(m.Sum(nil)) == t.signature
		}, []string{"forged-token"}},
		"embedded": {func(_ *server, t *token) bool { return genuine(t) || t.algorithm() == "RS256" && embedded(t) },
			[]string{"forged-token"}},
	} {
		t.Run(name, func(t *testing.T) {
			expect(t, &server{verify: c.verify, keys: set}, c.want, as(sealed{text: text}))
		})
	}
}

// In the profile passive nothing is sent that no user sends; the key is guessed without.
func TestPassive(t *testing.T) {
	s := &server{key: "secret", verify: hs256}
	expect(t, s, []string{"weak-key"}, as(sealed{text: issue("secret", nil, nil).text}),
		activescantest.Profile(scan.Passive))
}

func TestElliptic(t *testing.T) {
	c := (&token{header: map[string]any{"alg": "ES256"}, claims: map[string]any{"sub": "a"}}).signWithOwnKey()
	jwk, _ := c.header["jwk"].(map[string]any)
	point := []byte{4}
	for _, name := range []string{"x", "y"} {
		b, err := base64.RawURLEncoding.DecodeString(fmt.Sprint(jwk[name]))
		if err != nil {
			t.Fatal(err)
		}
		point = append(point, b...)
	}
	key, err := ecdsa.ParseUncompressedPublicKey(elliptic.P256(), point)
	if err != nil {
		t.Fatal(err)
	}
	sig, _ := base64.RawURLEncoding.DecodeString(c.signature)
	sum := sha256.Sum256([]byte(c.signedContent()))
	if len(sig) != 64 || !ecdsa.Verify(key, sum[:], new(big.Int).SetBytes(sig[:32]), new(big.Int).SetBytes(sig[32:])) {
		t.Error("the signature is not that of the key in the header")
	}
	if got := readJWKS([]byte(fmt.Sprintf(`{"keys":[{"kty":"EC","crv":"P-256","x":%q,"y":%q}]}`, jwk["x"],
		jwk["y"]))); len(got) != 2 {
		t.Errorf("%d forms of the key", len(got))
	}
}

func TestWeak(t *testing.T) {
	// The example of jwt.io's debugger, and the example of RFC 7515, A.1, with a strong key.
	const guessed = "eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.eyJzdWIiOiIxMjM0NTY3ODkwIiwibmFtZSI6IkpvaG4gRG9lIiwiaWF0IjoxNTE2MjM5MDIyfQ.SflKxwRJSMeKKF2QT4fwpMeJf36POk6yJV_adQssw5c"
	const secure = "eyJ0eXAiOiJKV1QiLA0KICJhbGciOiJIUzI1NiJ9.eyJpc3MiOiJqb2UiLA0KICJleHAiOjEzMDA4MTkzODAsDQogImh0dHA6Ly9leGFtcGxlLmNvbS9pc19yb290Ijp0cnVlfQ.dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk"
	if key, _ := parseToken(form.FindString("Bearer " +
		guessed)).findWeakKey(commonKeys(nil)); key != "your-256-bit-secret" {
		t.Errorf("%q", key)
	}
	if key, tried := parseToken(form.FindString(secure)).findWeakKey(commonKeys([]string{"joe"})); key != "" ||
		tried < 5000 {
		t.Errorf("%q of %d", key, tried)
	}
	for _, key := range []string{"Joesecret123", "Password2024", "ADMIN!"} {
		if got, _ := issue(key, nil, nil).findWeakKey(commonKeys([]string{"joesecret"})); got != key {
			t.Errorf("%q was guessed as %q", key, got)
		}
	}
	for _, bad := range []string{"", "a.b.c", "eyJhbGciOiJSUzI1NiJ9.eyJ.c2ln", "eyJhbGciOiJSUzI1NiJ9.bnVsbA.c2ln"} {
		if parseToken(bad) != nil {
			t.Errorf("%q is read as a token", bad)
		}
	}
}

func TestShort(t *testing.T) {
	want := []string{"0", "9", "00", "999999", "a", "z", "aa", "zzzz"}
	count := 0
	for key := range shortKeys {
		count++
		if len(want) > 0 && key == want[0] {
			want = want[1:]
		}
	}
	if all := 1_111_110 + 475_254; count != all || len(want) > 0 {
		t.Errorf("%d keys of %d, without %q in this order", count, all, want)
	}
}

// Short keys are tried at the end of a scan; common ones are not told again by then.
func TestSlow(t *testing.T) {
	soon := map[string]any{"exp": json.Number(fmt.Sprint(time.Now().Add(time.Hour).Unix()))}
	for key, want := range map[string][]string{"0417": {"dast/jwt/weak-key GET /"}, "secret": nil} {
		s := &server{key: key, verify: hs256}
		activescantest.Expect(t, activescantest.Attack(t, s, []*activescan.Rule{Slow}, []string{"GET /", "GET /me"},
			as(sealed{text: issue(key, nil, soon).text})), want...)
	}
	over := map[string]any{"exp": json.Number(fmt.Sprint(time.Now().Add(-time.Hour).Unix()))}
	s := &server{key: "0418", verify: func(s *server, t *token) bool { return by(s.key, t) }}
	activescantest.Expect(t, activescantest.Attack(t, s, []*activescan.Rule{Slow}, []string{"GET /", "GET /me"},
		as(sealed{text: issue(s.key, nil, over).text})),
		"dast/jwt/weak-key GET /", "dast/jwt/expired-token GET /")
}

func FuzzParse(f *testing.F) {
	f.Add("eyJhbGciOiJIUzI1NiJ9.eyJleHAiOjFlOTl9.")
	f.Fuzz(func(t *testing.T, text string) {
		if got := parseToken(text); got != nil {
			_, _ = got.expiryTime()
			if again := parseToken(got.withClaims(nil, map[string]any{"mx": "1"}).text); again == nil {
				t.Errorf("%q is written as no token", text)
			}
		}
	})
}

func FuzzPublished(f *testing.F) {
	f.Add([]byte(`{"keys":[{"kty":"RSA","n":"AQAB","e":"AQAB"},{"kty":"EC","crv":"P-256","x":"AA","y":"AA"}]}`))
	f.Fuzz(func(_ *testing.T, set []byte) { readJWKS(set) })
}
