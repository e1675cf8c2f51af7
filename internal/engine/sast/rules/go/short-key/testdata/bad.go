package keys

import (
	"crypto/rand"
	"crypto/rsa"
)

func fresh() (*rsa.PrivateKey, error) {
	// ruleid: short-key
	return rsa.GenerateKey(rand.Reader, 1024)
}
