package run

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"time"

	"github.com/google/uuid"

	"merlon/internal/errs"
)

// This file makes and reads upload tokens: the last part of an upload address,
// which is all the authority that an upload needs. A token is bound to one run
// and expires; that it is used once is seen from the run.
//
// Layout, then base64 of RFC 4648, section 5, without padding:
//
//	1 byte    version
//	16 bytes  run id
//	8 bytes   expiry, seconds since 1970, big-endian
//	8 bytes   nonce
//	32 bytes  HMAC-SHA256 of all before
const (
	tokenVersion = 1
	tokenBody    = 1 + 16 + 8 + 8
	tokenSize    = tokenBody + sha256.Size
)

// tokenLifetime is how long an upload may begin after the start of the run.
const tokenLifetime = time.Hour

// makeToken returns the token of a run.
func makeToken(key []byte, id ID, expires time.Time) (string, error) {
	u, err := uuid.Parse(string(id))
	if err != nil {
		return "", err
	}
	b := make([]byte, tokenBody, tokenSize)
	b[0] = tokenVersion
	copy(b[1:], u[:])
	binary.BigEndian.PutUint64(b[17:], uint64(expires.Unix()))
	if _, err := rand.Read(b[25:]); err != nil {
		return "", err
	}
	return base64.RawURLEncoding.EncodeToString(appendMAC(key, b)), nil
}

// appendMAC appends the code of b.
func appendMAC(key, b []byte) []byte {
	mac := hmac.New(sha256.New, key)
	_, _ = mac.Write(b) // a hash's Write never fails
	return mac.Sum(b)
}

// readToken returns the run that a token is for. One that was not made here is
// NotFound; an expired one is Gone.
func readToken(key []byte, token string, now time.Time) (ID, error) {
	unknown := errs.E(errs.NotFound, "this is not an upload address: start a scan to get one")
	if len(token) != base64.RawURLEncoding.EncodedLen(tokenSize) {
		return "", unknown
	}
	b, err := base64.RawURLEncoding.Strict().DecodeString(token)
	if err != nil || b[0] != tokenVersion || !hmac.Equal(appendMAC(key, b[:tokenBody:tokenBody]), b) {
		return "", unknown
	}
	if expires := time.Unix(int64(binary.BigEndian.Uint64(b[17:])), 0); !now.Before(expires) {
		return "", errs.E(errs.Gone, "this upload address expired at %s: start a "+
			"new scan", expires.UTC().Format(time.RFC3339))
	}
	return ID(uuid.UUID(b[1:17]).String()), nil
}
