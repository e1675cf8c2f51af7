package box

import (
	"crypto/aes"
	"crypto/cipher"
)

func box(key []byte) (cipher.Block, error) {
	// ok: weak-cipher
	return aes.NewCipher(key)
}
