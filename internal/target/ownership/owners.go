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
	"merlon/internal/outbound"
	"merlon/internal/scan"
	"merlon/internal/target"
	"merlon/internal/tenant"
)

// This file decides.

// Owners finds out what organizations control.
type Owners struct {
	Store  Store
	Client *outbound.Client // its allow-list is the administrator's of hosts that need no proof
	Key    []byte           // that tokens are made with
	Now    func() time.Time
	TXT    func(ctx context.Context, name string) ([]string, error) // nil: the system's resolver
	// Resolve returns the addresses of a host; nil: those that Client finds.
	Resolve func(ctx context.Context, host string) ([]netip.Addr, error)
}

// New returns Owners.
func New(o Owners) *Owners {
	if o.TXT == nil {
		o.TXT = net.DefaultResolver.LookupTXT
	}
	if o.Resolve == nil {
		o.Resolve = o.Client.Addresses
	}
	return &o
}

// A Standing is how an origin stands with an organization.
type Standing struct {
	Origin target.Origin
	Places []Place
	Proofs []Proof  // that were seen, stale ones included
	Listed []string // entries of the administrator's list that name it
}

// Shown reports whether scans may attack the origin, as far as is known without looking
// again.
func (s *Standing) Shown(now time.Time) bool {
	return len(s.Listed) > 0 || slices.ContainsFunc(s.Proofs, func(p Proof) bool { return !p.Stale(now) })
}

// Standing returns how each origin stands that the target attacks.
func (o *Owners) Standing(ctx context.Context, sc tenant.Scope, t *scan.Target) ([]Standing, error) {
	var out []Standing
	for _, origin := range target.Scope(t) {
		s, err := o.standing(ctx, sc, origin)
		if err != nil {
			return nil, err
		}
		out = append(out, s)
	}
	return out, nil
}

func (o *Owners) standing(ctx context.Context, sc tenant.Scope, origin target.Origin) (Standing, error) {
	s := Standing{Origin: origin, Places: Places(o.Key, sc.Organization, origin)}
	var subjects []string
	for _, p := range s.Places {
		if !slices.Contains(subjects, p.Subject) {
			subjects = append(subjects, p.Subject)
		}
	}
	proofs, err := o.Store.Proofs(ctx, sc, subjects)
	if err != nil {
		return s, err
	}
	for _, p := range proofs { // a subject of the one method may be spelt like one of another
		if slices.ContainsFunc(s.Places, func(at Place) bool {
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
func (o *Owners) Verify(ctx context.Context, sc tenant.Scope, t *scan.Target, m Method) ([]Standing, error) {
	var out []Standing
	for _, origin := range target.Scope(t) {
		if err := o.verify(ctx, sc, origin, m); err != nil {
			return nil, err
		}
		s, err := o.standing(ctx, sc, origin)
		if err != nil {
			return nil, err
		}
		out = append(out, s)
	}
	return out, nil
}

func (o *Owners) verify(ctx context.Context, sc tenant.Scope, origin target.Origin, m Method) error {
	var why []string
	for _, p := range Places(o.Key, sc.Organization, origin) {
		if m != "" && p.Method != m {
			continue
		}
		seen, err := o.look(ctx, p, origin.Host)
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

// Grounds say why a scan may attack an origin.
type Grounds struct {
	Origin target.Origin
	Proof  *Proof   // nil when it is listed
	Listed []string // entries of the administrator's list; connections are held to them
	// Addresses are those at which ownership was seen; connections are held to them.
	Addresses []netip.Addr
}

// Admit looks again whether the organization controls every origin that the target
// attacks, and returns the grounds; none for the passive profile, which needs none. A
// refusal is a Forbidden error that says what to do.
func (o *Owners) Admit(ctx context.Context, sc tenant.Scope, t *scan.Target) ([]Grounds, error) {
	var out []Grounds
	for _, origin := range target.Scope(t) {
		s, err := o.standing(ctx, sc, origin)
		if err != nil {
			return nil, err
		}
		g, err := o.admit(ctx, sc, &s)
		if err != nil && t.Profile != scan.Passive {
			return nil, err
		}
		if err == nil {
			out = append(out, g)
		}
	}
	return out, nil
}

func (o *Owners) admit(ctx context.Context, sc tenant.Scope, s *Standing) (Grounds, error) {
	if len(s.Listed) > 0 {
		return Grounds{Origin: s.Origin, Listed: s.Listed}, o.Store.RecordListed(ctx, sc, s.Origin.Host, s.Listed)
	}
	why := "it was never shown that the organization controls it"
	for _, p := range s.Proofs {
		if p.Stale(o.Now()) {
			why = "it was last shown on " + p.Checked.Format(time.DateOnly) + ", and has to be verified again after " +
				"thirty days"
			continue
		}
		at := slices.IndexFunc(s.Places, func(at Place) bool {
			return at.Method == p.Method && at.Subject == p.Subject
		})
		seen, err := o.look(ctx, s.Places[at], s.Origin.Host)
		if err == nil && p.Method == DNS {
			seen, err = o.stays(ctx, sc, s, seen)
		}
		if err == nil {
			p, err = o.Store.SaveProof(ctx, sc, p)
			return Grounds{Origin: s.Origin, Proof: &p, Addresses: seen}, err
		}
		var known *errs.Error
		if !errors.As(err, &known) || known.Kind == errs.Internal {
			return Grounds{}, err
		}
		why = known.Message
		if errs.Is(err, errs.Conflict) && !errors.Is(err, errElsewhere) {
			if err := o.Store.DropProof(ctx, sc, p); err != nil {
				return Grounds{}, err
			}
		}
	}
	return Grounds{}, errs.E(errs.Forbidden, "%s may not be attacked: %s. Verify the target's ownership, or scan it "+
		"with the profile passive", s.Origin.URL(), why)
}

// errElsewhere says that a host leads to other addresses than before.
var errElsewhere = errors.New("the host leads elsewhere")

// stays returns the addresses of a host whose ownership a record in the DNS shows, as far as
// they may be attacked. Whoever writes the record also says where the name leads, so it
// proves nothing about the machines there. Addresses in the networks that were recorded
// when a person verified the host stay; for any other, the token has to be there as well.
func (o *Owners) stays(ctx context.Context, sc tenant.Scope, s *Standing, now []netip.Addr) ([]netip.Addr, error) {
	before, err := o.Store.HostAddresses(ctx, sc, s.Origin.Host)
	if err != nil {
		return nil, err
	}
	if len(before) == 0 { // verified for a domain above it, or by an earlier version
		return now, o.Store.SaveHostAddresses(ctx, sc, s.Origin.Host, now)
	}
	var known []netip.Addr
	for _, ip := range now {
		if slices.ContainsFunc(before, func(b netip.Addr) bool { return network(b) == network(ip) }) {
			known = append(known, ip)
		}
	}
	if len(known) > 0 {
		return known, nil
	}
	for _, p := range s.Places {
		if p.Method == DNS {
			continue
		}
		if seen, err := o.look(ctx, p, s.Origin.Host); err == nil {
			return seen, nil
		}
	}
	return nil, errs.Wrap(errs.Conflict, errElsewhere, "%s leads to other addresses than when its ownership was "+
		"shown, and the token is not published there: verify it again, or publish the token as a file where the "+
		"addresses change often", s.Origin.Host)
}

// loopback is one machine: the one that scans.
var loopback = netip.MustParsePrefix("127.0.0.0/8")

// network is the part of an address that machines of one operator usually share.
func network(ip netip.Addr) netip.Prefix {
	if ip.IsLoopback() {
		return loopback
	}
	bits := 24
	if ip.Is6() {
		bits = 48
	}
	p, _ := ip.Prefix(bits) // an address has as many
	return p
}
