package sums

import (
	"crypto/md5"
	"crypto/sha1"
	"encoding/hex"
)

func sum(data []byte) [16]byte {
	// ruleid: weak-hash-any-purpose
	return md5.Sum(data)
}

func stored(password string) string {
	// ruleid: weak-hash
	sum := sha1.Sum([]byte(password))
	return hex.EncodeToString(sum[:])
}

func signRequest(data []byte) []byte {
	// ruleid: weak-hash
	h := md5.New()
	h.Write(data)
	return h.Sum(nil)
}
