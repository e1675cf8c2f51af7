package tenant

import (
	"crypto/rand"
	"encoding/binary"
	"hash/fnv"
	"time"

	"github.com/google/uuid"

	"merlon/internal/errs"
)

// This file makes and reads identifiers. Those of organizations, teams and
// projects carry the region they were made in, so that a deployment can tell
// "not here, but in our peer region" from "nowhere" without asking anybody.

// NewID returns a new UUID of version 8 (RFC 9562, section 5.8): 48 bits of
// milliseconds, so that new rows stand side by side in an index, 16 bits that
// name the region, and 58 random bits.
func NewID(region string, now time.Time) string {
	var id uuid.UUID
	if _, err := rand.Read(id[6:]); err != nil {
		panic("tenant: no randomness: " + err.Error()) // crypto/rand never fails on a supported system
	}
	ms := uint64(now.UnixMilli())
	binary.BigEndian.PutUint16(id[0:], uint16(ms>>32))
	binary.BigEndian.PutUint32(id[2:], uint32(ms))
	binary.BigEndian.PutUint16(id[14:], regionTag(region))
	id[6] = id[6]&0x0f | 0x80 // version 8
	id[8] = id[8]&0x3f | 0x80 // variant of RFC 9562
	return id.String()
}

// MadeIn reports whether an identifier made by NewID carries the region. Two
// region names share a tag with a probability of 1 in 65,536; config refuses
// such a pair.
func MadeIn(id, region string) bool {
	u, err := uuid.Parse(id)
	return err == nil && u.Version() == 8 && binary.BigEndian.Uint16(u[14:]) == regionTag(region)
}

// regionTag folds a hash of the region's name into 16 bits.
func regionTag(region string) uint16 {
	h := fnv.New32a()
	_, _ = h.Write([]byte(region)) // a hash's Write never fails
	sum := h.Sum32()
	return uint16(sum>>16) ^ uint16(sum)
}

// ParseID returns the canonical lower-case text of a UUID, or an Invalid error
// that names the parameter.
func ParseID(name, text string) (string, error) {
	id, err := uuid.Parse(text)
	if err != nil || len(text) != 36 {
		return "", &errs.Error{
			Kind: errs.Invalid, Message: name + " is not a UUID",
			Details: []errs.Detail{{Location: "path." + name, Message: "expected a UUID"}},
		}
	}
	return id.String(), nil
}
