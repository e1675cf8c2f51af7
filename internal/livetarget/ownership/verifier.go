package ownership

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"slices"
	"strings"
	"time"

	"merlon/internal/errs"
	"merlon/internal/livetarget"
	"merlon/internal/outbound"
	"merlon/internal/scan"
	"merlon/internal/tenant"
)

// This file decides.

// Verifier finds out what organizations control.
type Verifier struct {
	Store  Store
	Client *outbound.Client // its allow-list is the administrator's of hosts that need no proof
	Key    []byte           // that tokens are made with
	Now    func() time.Time
	TXT    func(ctx context.Context, name string) ([]string, error) // nil: the system's resolver
	// Resolve returns the addresses of a host; nil: those that Client finds.
	Resolve func(ctx context.Context, host string) ([]netip.Addr, error)
}

// New returns Owners.
func New(o Verifier) *Verifier {
	if o.TXT == nil {
		o.TXT = net.DefaultResolver.LookupTXT
	}
	if o.Resolve == nil {
		o.Resolve = o.Client.Addresses
	}
	return &o
}

// A Status is how an origin stands with an organization.
type Status struct {
	Origin     livetarget.Origin
	Challenges []Challenge
	Proofs     []Proof  // that were seen, stale ones included
	Listed     []string // entries of the administrator's list that name it
}

// Verified reports whether scans may attack the origin, as far as is known without looking
// again.
func (s *Status) Verified(now time.Time) bool {
	return len(s.Listed) > 0 || slices.ContainsFunc(s.Proofs, func(p Proof) bool { return !p.Stale(now) })
}

// Status returns how each origin stands that the target attacks.
func (o *Verifier) Status(ctx context.Context, sc tenant.Scope, t *scan.Target) ([]Status, error) {
	var out []Status
	for _, origin := range livetarget.ScopeOrigins(t) {
		s, err := o.originStatus(ctx, sc, origin)
		if err != nil {
			return nil, err
		}
		out = append(out, s)
	}
	return out, nil
}

// originStatus returns the ownership status of an origin: its challenges, its proofs and whether
// the operator's allow-list names it.
func (o *Verifier) originStatus(ctx context.Context, sc tenant.Scope, origin livetarget.Origin) (Status, error) {
	s := Status{Origin: origin, Challenges: Challenges(o.Key, sc.Organization, origin)}
	var subjects []string
	for _, p := range s.Challenges {
		if !slices.Contains(subjects, p.Subject) {
			subjects = append(subjects, p.Subject)
		}
	}
	proofs, err := o.Store.Proofs(ctx, sc, subjects)
	if err != nil {
		return s, err
	}
	for _, p := range proofs { // a subject of the one method may be spelt like one of another
		if slices.ContainsFunc(s.Challenges, func(at Challenge) bool {
			return at.Method == p.Method && at.Subject == p.Subject
		}) {
			s.Proofs = append(s.Proofs, p)
		}
	}
	if s.Listed, err = o.Client.Listed(ctx, origin.Host); errs.Is(err, errs.Unavailable) {
		err = nil // a host without an address is on no list
	}
	return s, err
}

// Verify looks for tokens of every origin of the target, by one method or, when that is
// empty, by all, and records what it sees. Without anything seen for an origin it is a
// Conflict that says what was seen instead.
func (o *Verifier) Verify(ctx context.Context, sc tenant.Scope, t *scan.Target, m Method) ([]Status, error) {
	var out []Status
	for _, origin := range livetarget.ScopeOrigins(t) {
		if err := o.verifyOrigin(ctx, sc, origin, m); err != nil {
			return nil, err
		}
		s, err := o.originStatus(ctx, sc, origin)
		if err != nil {
			return nil, err
		}
		out = append(out, s)
	}
	return out, nil
}

// verifyOrigin checks the challenges of an origin and stores a proof. For a DNS proof it pins
// the addresses that the host resolves to: a later change of DNS must not move the attack to
// another machine.
func (o *Verifier) verifyOrigin(ctx context.Context, sc tenant.Scope, origin livetarget.Origin, m Method) error {
	var why []string
	for _, p := range Challenges(o.Key, sc.Organization, origin) {
		if m != "" && p.Method != m {
			continue
		}
		seen, err := o.checkChallenge(ctx, p, origin.Host)
		if err == nil {
			if _, err = o.Store.SaveProof(ctx, sc, Proof{Subject: p.Subject, Method: p.Method}); err != nil ||
				p.Method != DNS {
				return err
			}
			return o.Store.SaveHostAddresses(ctx, sc, origin.Host, seen)
		}
		var known *errs.Error
		if !errors.As(err, &known) || known.Kind == errs.Internal {
			return err
		}
		why = append(why, known.Message)
	}
	if len(why) == 0 {
		return errs.E(errs.Invalid, "%s cannot be shown by %s", origin.URL(), m)
	}
	return errs.E(errs.Conflict, "%s: %s", origin.URL(), strings.Join(why, "; "))
}

// Authorization say why a scan may attack an origin.
type Authorization struct {
	Origin livetarget.Origin
	Proof  *Proof   // nil when it is listed
	Listed []string // entries of the administrator's list; connections are held to them
	// Addresses are those at which ownership was seen; connections are held to them.
	Addresses []netip.Addr
}

// Authorize looks again whether the organization controls every origin that the target
// attacks, and returns the grounds; none for the passive profile, which needs none. A
// refusal is a Forbidden error that says what to do.
func (o *Verifier) Authorize(ctx context.Context, sc tenant.Scope, t *scan.Target) ([]Authorization, error) {
	var out []Authorization
	for _, origin := range livetarget.ScopeOrigins(t) {
		s, err := o.originStatus(ctx, sc, origin)
		if err != nil {
			return nil, err
		}
		g, err := o.authorizeOrigin(ctx, sc, &s)
		if err != nil && t.Profile != scan.Passive {
			return nil, err
		}
		if err == nil {
			out = append(out, g)
		}
	}
	return out, nil
}

// authorizeOrigin decides whether the origin may be attacked: by a proof that is not expired, or
// by an entry of the operator's allow-list.
func (o *Verifier) authorizeOrigin(ctx context.Context, sc tenant.Scope, s *Status) (Authorization, error) {
	if len(s.Listed) > 0 {
		return Authorization{Origin: s.Origin, Listed: s.Listed}, o.Store.RecordListed(ctx, sc, s.Origin.Host, s.Listed)
	}
	why := "it was never shown that the organization controls it"
	// One proof that is seen again is enough.
	for _, p := range s.Proofs {
		if p.Stale(o.Now()) {
			why = "it was last shown on " + p.Checked.Format(time.DateOnly) + ", and has to be verified again after " +
				"thirty days"
			continue
		}
		at := slices.IndexFunc(s.Challenges, func(at Challenge) bool {
			return at.Method == p.Method && at.Subject == p.Subject
		})
		seen, err := o.checkChallenge(ctx, s.Challenges[at], s.Origin.Host)
		if err == nil && p.Method == DNS {
			seen, err = o.checkAddresses(ctx, sc, s, seen)
		}
		if err == nil {
			p, err = o.Store.SaveProof(ctx, sc, p)
			return Authorization{Origin: s.Origin, Proof: &p, Addresses: seen}, err
		}
		var known *errs.Error
		if !errors.As(err, &known) || known.Kind == errs.Internal {
			return Authorization{}, err
		}
		why = known.Message
		// The token is gone or another one: the proof no longer holds. An unreachable host proves
		// nothing, and its proof stays until it is stale.
		if errs.Is(err, errs.Conflict) && !errors.Is(err, errElsewhere) {
			if err := o.Store.DeleteProof(ctx, sc, p); err != nil {
				return Authorization{}, err
			}
		}
	}
	return Authorization{}, errs.E(errs.Forbidden, "%s may not be attacked: %s. Verify the target's ownership, or "+
		"scan it "+
		"with the profile passive", s.Origin.URL(), why)
}

// errElsewhere says that a host leads to other addresses than before.
var errElsewhere = errors.New("the host leads elsewhere")

// checkAddresses returns the addresses of a host whose ownership a record in the DNS shows, as far as
// they may be attacked. Whoever writes the record also says where the name leads, so it
// proves nothing about the machines there. Addresses in the networks that were recorded
// when a person verified the host stay; for any other, the token has to be there as well.
func (o *Verifier) checkAddresses(ctx context.Context, sc tenant.Scope, s *Status,
	now []netip.Addr) ([]netip.Addr, error) {
	before, err := o.Store.HostAddresses(ctx, sc, s.Origin.Host)
	if err != nil {
		return nil, err
	}
	if len(before) == 0 { // verified for a domain above it, or by an earlier version
		return now, o.Store.SaveHostAddresses(ctx, sc, s.Origin.Host, now)
	}
	var known []netip.Addr
	for _, ip := range now {
		if slices.ContainsFunc(before, func(b netip.Addr) bool { return addressPrefix(b) == addressPrefix(ip) }) {
			known = append(known, ip)
		}
	}
	if len(known) > 0 {
		return known, nil
	}
	for _, p := range s.Challenges {
		if p.Method == DNS {
			continue
		}
		if seen, err := o.checkChallenge(ctx, p, s.Origin.Host); err == nil {
			return seen, nil
		}
	}
	return nil, errs.Wrap(errs.Conflict, errElsewhere, "%s leads to other addresses than when its ownership was "+
		"shown, and the token is not published there: verify it again, or publish the token as a file where the "+
		"addresses change often", s.Origin.Host)
}

// loopback is one machine: the one that scans.
var loopback = netip.MustParsePrefix("127.0.0.0/8")

// addressPrefix is the part of an address that machines of one operator usually share.
func addressPrefix(ip netip.Addr) netip.Prefix {
	if ip.IsLoopback() {
		return loopback
	}
	// A /24 is the smallest network that is routed on the Internet, and a /48 what a site gets
	// in IPv6.
	bits := 24
	if ip.Is6() {
		bits = 48
	}
	p, _ := ip.Prefix(bits) // an address has as many
	return p
}
