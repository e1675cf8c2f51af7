package sign

import (
	"crypto/hmac"
	"crypto/sha256"
)

func genuine(key, text, signature []byte) bool {
	mac := hmac.New(sha256.New, key)
	mac.Write(text)
	sum := mac.Sum(nil)
	// ok: timing-unsafe-comparison
	return hmac.Equal(sum, signature)
}
