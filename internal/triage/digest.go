package triage

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"fmt"

	"github.com/google/uuid"

	"merlon/internal/finding"
	"merlon/internal/tenant"
)

// This file makes the names that triage knows things by.

// A Digest is 128 bits of a hash: half of a finding.Fingerprint, or the name of
// a flaw.
type Digest [16]byte

// ParseDigest reads 32 hexadecimal digits.
func ParseDigest(s string) (Digest, error) {
	var d Digest
	if len(s) != 2*len(d) {
		return d, fmt.Errorf("%.40q is not a fingerprint: it has %d characters instead of 32", s, len(s))
	}
	if _, err := hex.Decode(d[:], []byte(s)); err != nil {
		return d, fmt.Errorf("%.40q is not a fingerprint: %w", s, err)
	}
	return d, nil
}

// String returns 32 hexadecimal digits.
func (d Digest) String() string { return hex.EncodeToString(d[:]) }

// nextDigest returns the name of another flaw at a place that had one before.
func (d Digest) nextDigest() Digest {
	sum := sha256.Sum256(d[:])
	return Digest(sum[:16])
}

// RuleID returns the identifier of a rule inside an organization. Each tenant
// has its own copy of a rule: what one tenant's scanner says is never shown to
// another.
func RuleID(org tenant.OrganizationID, ruleID string) string {
	return Derived("rule", string(org), ruleID)
}

// PackageID returns the identifier of a package on a branch of a project.
func PackageID(project tenant.ProjectID, branch string, p *finding.Package) string {
	return Derived("package", string(project), branch, p.Ecosystem, p.Name, p.Version, p.Path)
}

// Derived returns the UUID of version 8 (RFC 9562, section 5.8) that is a hash of
// the parts, each with its length.
func Derived(parts ...string) string {
	h := sha256.New()
	var n [8]byte
	for _, p := range parts {
		binary.BigEndian.PutUint64(n[:], uint64(len(p)))
		h.Write(n[:])
		h.Write([]byte(p))
	}
	id := uuid.UUID(h.Sum(nil)[:16])
	id[6] = id[6]&0x0f | 0x80
	id[8] = id[8]&0x3f | 0x80
	return id.String()
}

// checksum returns 64 bits of a hash of v's JSON form, to see whether it changed.
func checksum(v any) (uint64, error) {
	b, err := json.Marshal(v)
	if err != nil {
		return 0, fmt.Errorf("encode %T: %w", v, err)
	}
	h := sha256.Sum256(b)
	return binary.BigEndian.Uint64(h[:]), nil
}
