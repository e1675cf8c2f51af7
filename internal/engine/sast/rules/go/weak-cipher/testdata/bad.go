package box

import (
	"crypto/cipher"
	"crypto/des"
)

func box(key []byte) (cipher.Block, error) {
	// ruleid: weak-cipher
	return des.NewCipher(key)
}
