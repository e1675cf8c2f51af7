package tokens

import (
	"crypto/hmac"
	"crypto/sha256"
	"os"

	"github.com/golang-jwt/jwt/v5"
)

func sign(claims jwt.Claims) (string, error) {
	// ok: hard-coded-key
	return jwt.NewWithClaims(jwt.SigningMethodHS256, claims).SignedString([]byte(os.Getenv("KEY")))
}

func sum(key []byte) []byte {
	h := hmac.New(sha256.New, key)
	// ok: hard-coded-key
	h.Write([]byte("a label"))
	return h.Sum(nil)
}
