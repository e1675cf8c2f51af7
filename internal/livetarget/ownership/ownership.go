// Package ownership finds out whether an organization controls a host before a scan
// attacks it. The organization publishes a token that is made for it and the host: in
// the DNS, in a file, in a header or in the start page. What was seen is kept, looked at
// again before each scan, and stale after thirty days. Without it a scan only follows
// links, except where the deployment's administrator has listed the host.
package ownership

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"net/netip"
	"strings"
	"time"

	"golang.org/x/net/publicsuffix"

	"merlon/internal/livetarget"
	"merlon/internal/tenant"
)

// A Method is a way of publishing a token, by its name on the wire.
type Method string

// The methods.
const (
	DNS    Method = "dns"    // a TXT record
	File   Method = "file"   // a file at a well-known address
	Header Method = "header" // a header of the answer to a request for "/"
	Meta   Method = "meta"   // an element of the head of the start page
)

// Methods lists every method.
var Methods = []Method{DNS, File, Header, Meta}

// ProofLifetime is how long a proof holds that nobody has looked at again.
const ProofLifetime = 30 * 24 * time.Hour

// Names by which tokens are published.
const (
	recordName = "_merlon-verification"
	filePath   = "/.well-known/merlon-verification.txt"
	headerName = "Merlon-Verification"
	metaName   = "merlon-verification"
	prefix     = "merlon-verification="
)

// A Challenge is where a token can be published.
type Challenge struct {
	Method  Method
	Subject string // what it shows: a domain with everything below it, or host:port
	Where   string // name of the record, or address
	Value   string // what has to stand there, as it is
	token   string
}

// A Proof says that a token was seen.
type Proof struct {
	Subject string
	Method  Method
	First   time.Time // when it was first seen
	Checked time.Time // when it was last seen
}

// Stale reports whether the proof is too old to count.
func (p Proof) Stale(now time.Time) bool { return now.Sub(p.Checked) > ProofLifetime }

// challengeToken returns what the organization publishes for the subject. It is an HMAC, so
// that nothing has to be kept of those that are never published.
func challengeToken(key []byte, org tenant.OrganizationID, subject string) string {
	mac := hmac.New(sha256.New, key)
	_, _ = mac.Write([]byte(string(org) + "\x00" + subject)) // a hash's Write never fails
	return hex.EncodeToString(mac.Sum(nil)[:20])
}

// Challenges returns where the organization can publish that the origin is its own.
//
// A record in the DNS of a domain stands for everything below the domain, so it may also
// be made above the host, up to the domain that can be registered. Where a suffix belongs
// to a company and not to a registry (the list of https://publicsuffix.org tells), hosts
// below it are different people's: there only the exact host counts. A file, a header or
// a page shows who controls the port that answers, and no other.
func Challenges(key []byte, org tenant.OrganizationID, o livetarget.Origin) []Challenge {
	var out []Challenge
	add := func(m Method, subject, where string, value func(token string) string) {
		t := challengeToken(key, org, subject)
		out = append(out, Challenge{Method: m, Subject: subject, Where: where, Value: value(t), token: t})
	}
	line := func(t string) string { return prefix + t }
	for _, domain := range parentDomains(o.Host) {
		add(DNS, domain, recordName+"."+domain, line)
	}
	add(File, o.Address(), o.URL()+filePath, line)
	add(Header, o.Address(), o.URL()+"/", func(t string) string { return headerName + ": " + t })
	add(Meta, o.Address(), o.URL()+"/", func(t string) string {
		return `<meta name="` + metaName + `" content="` + t + `">`
	})
	return out
}

// parentDomains returns the host and the domains above it whose owner owns the host.
func parentDomains(host string) []string {
	if _, err := netip.ParseAddr(host); err == nil || !strings.Contains(host, ".") {
		return nil // an address has no records, and a name without a dot is nobody's
	}
	out := []string{host}
	suffix, registry := publicsuffix.PublicSuffix(host)
	if !registry || suffix == host {
		return out
	}
	top, err := publicsuffix.EffectiveTLDPlusOne(host)
	if err != nil {
		return out
	}
	for name := host; name != top; {
		_, above, ok := strings.Cut(name, ".")
		if !ok {
			break
		}
		name = above
		out = append(out, name)
	}
	return out
}

// Store keeps proofs.
type Store interface {
	// Proofs returns those of the scope's organization for the subjects.
	Proofs(ctx context.Context, sc tenant.Scope, subjects []string) ([]Proof, error)
	// SaveProof records that a token was seen now. The first time, or after it was
	// stale, is an entry of the audit log.
	SaveProof(ctx context.Context, sc tenant.Scope, p Proof) (Proof, error)
	// DeleteProof records that a token is not there any more.
	DeleteProof(ctx context.Context, sc tenant.Scope, p Proof) error
	// HostAddresses returns the addresses that the host had when its ownership was shown by
	// a record in the DNS; none when that was not recorded.
	HostAddresses(ctx context.Context, sc tenant.Scope, host string) ([]netip.Addr, error)
	// SaveHostAddresses records the addresses of the host, in the place of earlier ones.
	SaveHostAddresses(ctx context.Context, sc tenant.Scope, host string, seen []netip.Addr) error
	// RecordListed records in the audit log that entries of the administrator's list
	// let a scan attack a host.
	RecordListed(ctx context.Context, sc tenant.Scope, host string, entries []string) error
}
