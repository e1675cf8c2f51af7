package box

import (
	"crypto/aes"
	"crypto/cipher"
)

func block() (cipher.Block, error) {
	// ruleid: hard-coded-key
	return aes.NewCipher([]byte("sixteen byte key"))
}
