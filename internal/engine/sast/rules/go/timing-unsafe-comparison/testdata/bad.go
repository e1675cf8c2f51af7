package sign

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
)

func genuine(key, text, signature []byte) bool {
	mac := hmac.New(sha256.New, key)
	mac.Write(text)
	sum := mac.Sum(nil)
	// ruleid: timing-unsafe-comparison
	return bytes.Equal(sum, signature)
}
