package authz

import (
	"crypto/hmac"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"hash"
	"net/http"
	"strings"

	"merlon/internal/engine/dast/attack"
	"merlon/internal/engine/dast/message"
	"merlon/internal/lazyregexp"
)

// This file examines the tokens that users sign in with.

// common are keys that examples, frameworks and hurry put into applications.
var common = strings.Fields(`secret secret123 secretkey secret_key secret-key mysecret mysecretkey my_secret_key my-secret-key supersecret super-secret supersecretkey super_secret_key
	super-secret-key topsecret jwt jwtsecret jwt_secret jwt-secret jwtkey jwt_key key mykey privatekey private_key private password password1 password123 passw0rd admin admin123
	root test test123 testing demo dev development debug example changeme change_me change-me changeit default random token tokensecret token_secret auth authsecret auth_secret
	session app application api apikey api_key hmac signature signing signingkey qwerty letmein welcome hello 123 1234 12345 123456 12345678 123456789 1234567890 abc123 abcdef
	your-256-bit-secret your-secret-key your_secret_key yoursecretkey YOUR_SECRET SECRET SECRET_KEY JWT_SECRET JWT_SECRET_KEY secretOrPrivateKey shhhhh keyboardcat notasecret none null undefined`)

// token is a JSON Web Token in a header (RFC 7519, compact).
var token = lazyregexp.New(`eyJ[A-Za-z0-9_-]{5,}\.[A-Za-z0-9_-]{5,}\.[A-Za-z0-9_-]{20,}`)

// weakKey finds the key that a token is signed with among the common ones, and the
// algorithm; the key is empty when it is none of them.
func weakKey(jwt string) (key, algorithm string) {
	parts := strings.Split(jwt, ".")
	if len(parts) != 3 {
		return "", ""
	}
	header, err := base64.RawURLEncoding.DecodeString(parts[0])
	signature, bad := base64.RawURLEncoding.DecodeString(parts[2])
	var h struct {
		Alg string `json:"alg"`
	}
	if err != nil || bad != nil || json.Unmarshal(header, &h) != nil {
		return "", ""
	}
	sum := map[string]func() hash.Hash{"HS256": sha256.New, "HS384": sha512.New384, "HS512": sha512.New}[h.Alg]
	if sum == nil {
		return "", h.Alg
	}
	for _, word := range common {
		mac := hmac.New(sum, []byte(word))
		mac.Write([]byte(parts[0] + "." + parts[1]))
		if hmac.Equal(mac.Sum(nil), signature) {
			return word, h.Alg
		}
	}
	return "", h.Alg
}

// tokens looks at the token of each user; it sends nothing.
func (e *examination) tokens() error {
	for _, u := range e.Users {
		req, err := http.NewRequestWithContext(e.Context, http.MethodGet, e.Base.String(), nil)
		if err != nil {
			return nil
		}
		if err := u.Session.Prepare(e.Context, req); err != nil {
			return err
		}
		for name, values := range req.Header {
			jwt := token.FindString(strings.Join(values, " "))
			key, algorithm := weakKey(jwt)
			if key == "" {
				continue
			}
			var answers []*message.Response
			for _, o := range e.Operations {
				if o.Answer != nil && ok(o.Answer) && o.Secured() {
					answers = append(answers, o.Answer)
					break
				}
			}
			if len(answers) == 0 {
				continue
			}
			e.Flaw(attack.Flaw{Rule: weakSigning, Request: answers[0].Request, Place: "/", Answers: answers, Notes: []string{"a request with such a token"},
				Message: "Tokens are signed with a key that can be guessed",
				Proof: []string{fmt.Sprintf("The token of %s in the header %s is signed with %s.", u.Name(), name, algorithm),
					fmt.Sprintf("The signature is that of a key from a list of %d common words; the key has %d characters. Whoever tries the list can sign tokens for any user.", len(common), len(key))}})
			return nil
		}
	}
	return nil
}
