package jwt

import (
	"bytes"
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/hmac"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/sha512"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"hash"
	"iter"
	"maps"
	"math"
	"math/big"
	"slices"
	"strings"
	"time"

	"merlon/internal/lazyregexp"
)

// This file reads and writes tokens (RFC 7515, compact; RFC 7519).

// form matches a token in a header or a cookie: three parts of base64url, the first of which begins
// with `{"`. An unsigned token has an empty third part.
var form = lazyregexp.New(`eyJ[A-Za-z0-9_-]{5,}\.[A-Za-z0-9_-]{2,}\.[A-Za-z0-9_-]*`)

// A token is a signed token. Its maps are never changed: withClaims makes another token.
type token struct {
	// text is the whole token, as it is sent.
	text string
	// header and claims are the decoded first two parts; numbers are json.Number, so that an
	// identifier of 64 bits is written as it was read.
	header map[string]any
	claims map[string]any
	// signature is the third part in base64url; empty: unsigned.
	signature string
}

// parseToken parses a token in compact serialization (RFC 7515, section 7.1); nil: it is none.
// Encrypted tokens have five parts (RFC 7516) and are left out.
func parseToken(text string) *token {
	parts := strings.Split(text, ".")
	if len(parts) != 3 {
		return nil
	}
	t := &token{text: text, signature: parts[2]}
	for i, into := range []*map[string]any{&t.header, &t.claims} {
		b, err := base64.RawURLEncoding.DecodeString(parts[i])
		if err != nil {
			return nil
		}
		d := json.NewDecoder(strings.NewReader(string(b)))
		d.UseNumber()
		if d.Decode(into) != nil || *into == nil {
			return nil
		}
	}
	return t
}

// algorithm returns the member alg of the header, such as "RS256"; empty: there is none.
func (t *token) algorithm() string {
	name, _ := t.header["alg"].(string)
	return name
}

// withClaims returns a token without a signature whose header and claims have more members,
// or other values.
func (t *token) withClaims(header, claims map[string]any) *token {
	c := &token{header: maps.Clone(t.header), claims: maps.Clone(t.claims)}
	maps.Copy(c.header, header)
	maps.Copy(c.claims, claims)
	return c.withSignature("")
}

// withSignature returns the token with this signature, as it is written.
func (t *token) withSignature(signature string) *token {
	c := *t
	c.signature = signature
	c.text = c.signedContent() + "." + signature
	return &c
}

// signedContent returns what the signature is made of: header and claims, encoded, with a dot
// between them (RFC 7515, section 5.1).
func (t *token) signedContent() string { return encodePart(t.header) + "." + encodePart(t.claims) }

// encodePart writes a header or claims. Go sorts the members; the order has no meaning in a token.
func encodePart(v map[string]any) string {
	b, err := json.Marshal(v)
	if err != nil { // what was decoded from JSON can be encoded
		panic(err)
	}
	return base64.RawURLEncoding.EncodeToString(b)
}

// expiryTime returns when the token expires, by its claim exp in seconds since 1970; false: it has
// no such claim, or one that is no time.
func (t *token) expiryTime() (time.Time, bool) {
	n, ok := t.claims["exp"].(json.Number)
	if !ok {
		return time.Time{}, false
	}
	seconds, err := n.Float64()
	if err != nil || math.Abs(seconds) > 1e14 {
		return time.Time{}, false
	}
	if seconds > 1e11 { // milliseconds, against the standard
		seconds /= 1000
	}
	return time.Unix(int64(seconds), 0), true
}

// hashes are the hash functions of the algorithms with a shared key (RFC 7518, section 3.2).
var hashes = map[string]func() hash.Hash{"HS256": sha256.New, "HS384": sha512.New384, "HS512": sha512.New}

// signHMAC signs with a shared key. The algorithm of the token has to be a key of hashes.
func (t *token) signHMAC(key []byte) *token {
	m := hmac.New(hashes[t.algorithm()], key)
	m.Write([]byte(t.signedContent()))
	return t.withSignature(base64.RawURLEncoding.EncodeToString(m.Sum(nil)))
}

// common are keys from examples, documentation and templates of frameworks, such as
// "your-256-bit-secret" of jwt.io and "shhhhh" of the package jsonwebtoken. Separated by spaces;
// commonKeys adds capitals and endings.
var common = strings.Fields(`secret secret123 secretkey secret_key secret-key mysecret mysecretkey my_secret_key my-secret-key supersecret super-secret supersecretkey super_secret_key
	super-secret-key topsecret jwt jwtsecret jwt_secret jwt-secret jwtkey jwt_key key mykey privatekey private_key private password password1 password123 passw0rd admin admin123
	root test test123 testing demo dev development debug example changeme change_me change-me changeit default random token tokensecret token_secret auth authsecret auth_secret
	session app application api apikey api_key hmac signature signing signingkey qwerty letmein welcome hello 123 1234 12345 123456 12345678 123456789 1234567890 abc123 abcdef
	your-256-bit-secret your-secret-key your_secret_key yoursecretkey YOUR_SECRET SECRET SECRET_KEY JWT_SECRET JWT_SECRET_KEY secretOrPrivateKey shhhhh keyboardcat notasecret none null undefined`)

// endings are what is often appended to a word to make it a password: digits, signs, years.
var endings = strings.Fields(`1 12 123 1234 12345 123456 ! @ @123 #123 !123 2020 2021 2022 2023 2024 2025 2026`)

// commonKeys yields the common keys and the words as they are, and then each in small letters, with
// a first capital, and in capitals, with all endings. The likeliest come first, because most weak
// keys are on the list as they are.
func commonKeys(words []string) iter.Seq[string] {
	return func(yield func(string) bool) {
		all := slices.Concat(common, words)
		for _, word := range all {
			if !yield(word) {
				return
			}
		}
		for _, word := range all {
			small := strings.ToLower(word)
			for _, form := range []string{small, strings.ToUpper(small[:1]) + small[1:], strings.ToUpper(small)} {
				if form != word && !yield(form) {
					return
				}
				for _, end := range endings {
					if !yield(form + end) {
						return
					}
				}
			}
		}
	}
}

// shortKeys yields all keys of up to six digits, and of up to four small letters: some 1.6 million,
// which take a second or two. Six digits are a date or a PIN.
func shortKeys(yield func(string) bool) {
	for _, alphabet := range []struct {
		letters string
		most    int
	}{{"0123456789", 6}, {"abcdefghijklmnopqrstuvwxyz", 4}} {
		for length := 1; length <= alphabet.most; length++ {
			places, key := make([]int, length), make([]byte, length)
			for more := true; more; {
				for i, at := range places {
					key[i] = alphabet.letters[at]
				}
				if !yield(string(key)) {
					return
				}
				more = false
				// A counter with the letters as its digits; a carry out of the first place ends
				// this length.
				for i := length - 1; i >= 0 && !more; i-- {
					places[i] = (places[i] + 1) % len(alphabet.letters)
					more = places[i] != 0
				}
			}
		}
	}
}

// findWeakKey returns the key among these that signs the token, and how many were tried; empty:
// none of them does, or the token has no shared key. It sends nothing.
func (t *token) findWeakKey(keys iter.Seq[string]) (key string, tried int) {
	sum := hashes[t.algorithm()]
	signature, err := base64.RawURLEncoding.DecodeString(t.signature)
	if sum == nil || err != nil {
		return "", 0
	}
	signed := []byte(t.text[:strings.LastIndexByte(t.text, '.')])
	var made []byte
	for key := range keys {
		tried++
		m := hmac.New(sum, []byte(key))
		m.Write(signed)
		if made = m.Sum(made[:0]); bytes.Equal(made, signature) {
			return key, tried
		}
	}
	return "", tried
}

// signWithOwnKey signs with a new key pair, and puts the public key into the header (jwk, RFC 7515,
// section 4.1.3), which a server must not trust; nil: not for this algorithm.
func (t *token) signWithOwnKey() *token {
	encode := base64.RawURLEncoding.EncodeToString
	switch t.algorithm() {
	case "RS256":
		key, err := rsa.GenerateKey(rand.Reader, 2048)
		if err != nil {
			return nil
		}
		c := t.withClaims(map[string]any{"jwk": map[string]any{"kty": "RSA", "use": "sig", "alg": "RS256",
			"n": encode(key.N.Bytes()), "e": "AQAB"}}, nil)
		sum := sha256.Sum256([]byte(c.signedContent()))
		signature, err := rsa.SignPKCS1v15(nil, key, crypto.SHA256, sum[:])
		if err != nil {
			return nil
		}
		return c.withSignature(base64.RawURLEncoding.EncodeToString(signature))
	case "ES256":
		key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
		if err != nil {
			return nil
		}
		// The uncompressed point: 0x04, then 32 bytes for each coordinate.
		point, err := key.PublicKey.Bytes()
		if err != nil || len(point) != 65 {
			return nil
		}
		c := t.withClaims(map[string]any{"jwk": map[string]any{"kty": "EC", "crv": "P-256", "use": "sig",
			"alg": "ES256",
			"x":   encode(point[1:33]), "y": encode(point[33:])}}, nil)
		sum := sha256.Sum256([]byte(c.signedContent()))
		r, s, err := ecdsa.Sign(rand.Reader, key, sum[:])
		if err != nil {
			return nil
		}
		// Two numbers of 32 bytes, not the ASN.1 of other formats (RFC 7518, section 3.4).
		return c.withSignature(encode(append(r.FillBytes(make([]byte, 32)), s.FillBytes(make([]byte, 32))...)))
	}
	return nil
}

// maxKeys bounds the keys of a set that are tried: each has two or four forms, and each form is a
// request. Sets have the current key and the next one.
const maxKeys = 4

// A webKey is a public key of a set (RFC 7517).
type webKey struct {
	// Type is "RSA" or "EC"; keys of other types are left out.
	Type string `json:"kty"`
	// N and E are the modulus and the exponent of an RSA key, as big-endian numbers in base64url.
	N string `json:"n"`
	E string `json:"e"`
	// Crv is the curve, X and Y the coordinates of a point on it (RFC 7518, section 6.2.1).
	Crv string `json:"crv"`
	X   string `json:"x"`
	Y   string `json:"y"`
}

// readJWKS parses a set of public keys and returns each in the forms in which programs keep such
// keys as text: the HMAC has to be made with exactly the bytes that the server has. Keys that
// cannot be read are left out.
func readJWKS(set []byte) [][]byte {
	var doc struct {
		Keys []webKey `json:"keys"`
	}
	if json.Unmarshal(set, &doc) != nil {
		return nil
	}
	var out [][]byte
	for _, k := range doc.Keys[:min(len(doc.Keys), maxKeys)] {
		switch k.Type {
		case "RSA":
			if key := k.readRSA(); key != nil {
				out = append(out, writePublicKey(key)...)
				out = append(out, writePEM("RSA PUBLIC KEY", x509.MarshalPKCS1PublicKey(key))...)
			}
		case "EC":
			if key := k.readEC(); key != nil {
				out = append(out, writePublicKey(key)...)
			}
		}
	}
	return out
}

// readRSA returns an RSA key; nil: it is none, or its size is no RSA key's (256 to 16,384 bits).
// Some servers pad base64url against the RFC.
func (k *webKey) readRSA() *rsa.PublicKey {
	n, err := base64.RawURLEncoding.DecodeString(strings.TrimRight(k.N, "="))
	e, bad := base64.RawURLEncoding.DecodeString(strings.TrimRight(k.E, "="))
	exponent := new(big.Int).SetBytes(e)
	if err != nil || bad != nil || len(n) > 2048 || len(n) < 32 || !exponent.IsInt64() ||
		exponent.Int64() > math.MaxInt32 || exponent.Int64() < 2 {
		return nil
	}
	return &rsa.PublicKey{N: new(big.Int).SetBytes(n), E: int(exponent.Int64())}
}

// readEC returns a key on one of the curves of RFC 7518; nil: it is none.
func (k *webKey) readEC() *ecdsa.PublicKey {
	x, err := base64.RawURLEncoding.DecodeString(k.X)
	y, bad := base64.RawURLEncoding.DecodeString(k.Y)
	curve := map[string]elliptic.Curve{"P-256": elliptic.P256(), "P-384": elliptic.P384(),
		"P-521": elliptic.P521()}[k.Crv]
	if err != nil || bad != nil || curve == nil || len(x) != len(y) {
		return nil
	}
	key, err := ecdsa.ParseUncompressedPublicKey(curve, slices.Concat([]byte{4}, x, y))
	if err != nil {
		return nil
	}
	return key
}

// writePublicKey writes a key as SubjectPublicKeyInfo in PEM, which is what most programs read.
func writePublicKey(key any) [][]byte {
	der, err := x509.MarshalPKIXPublicKey(key)
	if err != nil {
		return nil
	}
	return writePEM("PUBLIC KEY", der)
}

// writePEM writes a key as PEM, with the final line end and without: both occur where the text of a
// file is used as a secret.
func writePEM(kind string, der []byte) [][]byte {
	text := pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der})
	return [][]byte{text, []byte(strings.TrimSpace(string(text)))}
}
