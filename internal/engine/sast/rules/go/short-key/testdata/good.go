package keys

import (
	"crypto/rand"
	"crypto/rsa"
)

func fresh() (*rsa.PrivateKey, error) {
	// ok: short-key
	return rsa.GenerateKey(rand.Reader, 3072)
}
