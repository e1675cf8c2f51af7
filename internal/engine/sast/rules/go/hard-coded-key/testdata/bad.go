package tokens

import (
	"crypto/aes"
	"crypto/cipher"

	"github.com/golang-jwt/jwt/v5"
	"github.com/gorilla/sessions"
)

var key = []byte("a word that is in the source")

func sign(claims jwt.Claims) (string, error) {
	// ruleid: hard-coded-key
	return jwt.NewWithClaims(jwt.SigningMethodHS256, claims).SignedString(key)
}

func block() (cipher.Block, error) {
	k := []byte("0123456789abcdef")
	// ruleid: hard-coded-key
	return aes.NewCipher(k)
}

// ruleid: hard-coded-key
var store = sessions.NewCookieStore([]byte("cookies"))

func check(text string) (*jwt.Token, error) {
	// ruleid: hard-coded-key
	return jwt.Parse(text, func(*jwt.Token) (any, error) { return []byte("another"), nil })
}
