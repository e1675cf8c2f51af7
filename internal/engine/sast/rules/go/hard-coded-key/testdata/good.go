package box

import (
	"crypto/aes"
	"crypto/cipher"
	"os"
)

func block() (cipher.Block, error) {
	// ok: hard-coded-key
	return aes.NewCipher([]byte(os.Getenv("BOX_KEY")))
}
