package box

import (
	"crypto/cipher"
	"crypto/rand"
)

func seal(a cipher.AEAD, text []byte) ([]byte, error) {
	nonce := make([]byte, a.NonceSize())
	if _, err := rand.Read(nonce); err != nil {
		return nil, err
	}
	// ok: static-initialization-vector
	return a.Seal(nonce, nonce, text, nil), nil
}
