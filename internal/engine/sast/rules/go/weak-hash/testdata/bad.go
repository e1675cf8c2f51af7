package sums

import "crypto/md5"

func sum(data []byte) [16]byte {
	// ruleid: weak-hash
	return md5.Sum(data)
}
