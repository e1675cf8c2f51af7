package tokens

import (
	"crypto/rand"
	"encoding/hex"
)

func newToken() string {
	b := make([]byte, 16)
	// ok: weak-random
	rand.Read(b)
	return hex.EncodeToString(b)
}
