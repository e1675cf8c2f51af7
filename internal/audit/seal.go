package audit

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"strconv"

	"merlon/internal/tenant"
)

// A Seal says that a process with the deployment's key wrote the chain up to the
// head. Whoever can only write to the database cannot make one, so a chain that
// was rewritten from some record on no longer contains its sealed head.
type Seal struct {
	Head
	MAC string // HMAC-SHA256 in lower-case hexadecimal; empty: never sealed
}

// Seal returns the seal of the chain's head under the key: the MAC over the texts
// "merlon audit head", chain, seq and hash, each as a netstring.
func (h Head) Seal(key []byte, chain tenant.OrganizationID) Seal {
	mac := hmac.New(sha256.New, key)
	for _, s := range []string{"merlon audit head", string(chain), strconv.FormatInt(h.Seq, 10), h.Hash} {
		mac.Write([]byte(strconv.Itoa(len(s)) + ":" + s + ","))
	}
	return Seal{Head: h, MAC: hex.EncodeToString(mac.Sum(nil))}
}

// Valid reports whether the seal was made under the key for the chain.
func (s Seal) Valid(key []byte, chain tenant.OrganizationID) bool {
	return hmac.Equal([]byte(s.MAC), []byte(s.Head.Seal(key, chain).MAC))
}

// Verified is the result of checking a whole audit log.
type Verified struct {
	Records  int64 // that are whole
	Sealed   bool  // the seals were checked
	Unsealed int64 // records behind the last seal of their chain, written by processes without the key
}
