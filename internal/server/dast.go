package server

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"merlon/internal/config"
	"merlon/internal/errs"
	"merlon/internal/livetarget"
	"merlon/internal/livetarget/ownership"
	"merlon/internal/oast"
	"merlon/internal/outbound"
	"merlon/internal/run"
	"merlon/internal/scan"
	"merlon/internal/seal"
	"merlon/internal/store"
	"merlon/internal/store/postgres"
	"merlon/internal/tenant"
	"merlon/internal/worker"
)

// newOwners returns who decides what scans of running applications may attack; nil
// without the master key, which the tokens of owners are made with. Closed are addresses
// that no scan reaches, own are addresses of this service.
func newOwners(d *deployment, c config.Dast, closed []string, log *slog.Logger,
	own ...string) (*ownership.Verifier, error) {
	if d.box == nil {
		return nil, nil
	}
	client, err := outbound.New(outbound.Options{
		Agent: "merlon/" + config.Version, Log: log, Own: hostsOf(own...),
		Allow: c.DastAllow, Setting: "dast-allow", Plain: true, Closed: closed,
	})
	if err != nil {
		return nil, err
	}
	return ownership.New(ownership.Verifier{Store: d.db, Client: client, Key: d.box.Derive("ownership"),
			Now: d.db.Now}),
		nil
}

// newListener starts to listen for what targets send elsewhere, on at most so many
// connections (0: as many as it wants); nil: it is not wanted.
func newListener(c config.Dast, connections int, log *slog.Logger) (*oast.Listener, error) {
	if c.DastOAST == "" {
		if c.DastOASTURL+c.DastOASTDomain+c.DastOASTDNS != "" {
			return nil, errs.E(errs.Invalid, "dast-oast-url, dast-oast-domain and dast-oast-dns need the "+
				"address to listen at in dast-oast")
		}
		return nil, nil
	}
	l, err := oast.Listen(oast.Options{Listen: c.DastOAST, URL: c.DastOASTURL,
		Domain: c.DastOASTDomain, DNS: c.DastOASTDNS, Connections: connections, Log: log})
	if err != nil {
		return nil, fmt.Errorf("dast-oast: %w", err)
	}
	return l, nil
}

// closeListener closes the listener, if there is one.
func closeListener(l *oast.Listener, log *slog.Logger) {
	if l == nil {
		return
	}
	if err := l.Close(); err != nil {
		log.LogAttrs(context.Background(), slog.LevelWarn, "closing the listener for calls of "+
			"targets", slog.String("error", err.Error()))
	}
}

// dastClosed lists where the parts of the service answer: the database, the storage of
// uploads, the listener for calls of targets, and that of the service, as far as they
// are there.
func dastClosed(c config.Store, calls *oast.Listener, listen ...string) []string {
	out := listen
	if calls != nil {
		out = append(out, calls.Addr().String())
	}
	if database, err := c.URL(); err == nil &&
		database != "" { // one that cannot be read has stopped the program before
		out = append(out, postgres.Addresses(database)...)
	}
	if u, err := url.Parse(c.BlobURL); err == nil {
		if end, err := url.Parse(u.Query().Get("endpoint")); err == nil && end.Host != "" {
			out = append(out, withPort(end, map[string]string{"http": "80"}[end.Scheme]))
		}
	}
	return out
}

// withPort returns host and port of an address, with the default of its scheme when it names
// none; port is that default, empty for 443.
func withPort(u *url.URL, port string) string {
	if u.Port() != "" {
		port = u.Port()
	}
	if port == "" {
		port = "443"
	}
	return net.JoinHostPort(u.Hostname(), port)
}

// targets opens running applications for the worker.
type targets struct {
	db     *store.DB
	box    *seal.Box
	owners *ownership.Verifier
}

// newTargets returns what opens targets; nil without the master key.
func newTargets(d *deployment, owners *ownership.Verifier) func(context.Context, *run.Run) (*worker.Target, error) {
	if owners == nil {
		return nil
	}
	return (&targets{d.db, d.box, owners}).openTarget
}

// openTarget returns the run's target after it has looked again at whose it is.
func (t *targets) openTarget(ctx context.Context, r *run.Run) (*worker.Target, error) {
	sc := tenant.System(r.OrganizationID, r.TeamID, r.ProjectID)
	// The target as it is now, and not as it was when the run was queued: an exclusion that was
	// added since is honoured.
	stored, err := t.db.SealedTarget(ctx, sc, livetarget.ID(r.Target.ID))
	if err != nil {
		return nil, err
	}
	whole, err := stored.Open(t.box)
	if err != nil {
		return nil, err
	}
	// The profile is that of the run, which was checked against the target when it started.
	whole.Profile = r.Target.Profile
	// The proof is verified again at the last moment: the domain may have changed hands since
	// the scan was queued.
	grounds, err := t.owners.Authorize(ctx, sc, whole)
	if err != nil {
		return nil, err
	}
	if whole.Routes, err = t.db.Routes(ctx, sc, r.Branch); err != nil {
		return nil, fmt.Errorf("what the code declares: %w", err)
	}
	kept, err := t.db.KeptRun(ctx, r)
	if err == nil && kept != nil {
		kept, err = t.box.Open(kept, keptLabel(r))
	}
	if err != nil {
		return nil, fmt.Errorf("what scan %s has kept: %w", r.ID, err)
	}
	reasons := restrictUnverified(whole, grounds)
	return &worker.Target{Whole: whole, Reasons: reasons, Resume: kept,
		Dial: newGate(t.owners.Client, whole, grounds).dialTarget,
		Keep: (&checkpointStore{targets: t, run: r}).saveCheckpoint}, nil
}

// restrictUnverified limits a scan of hosts that the organization has not shown to control: it is slow
// and short, whatever the target says, and nobody signs in.
func restrictUnverified(t *scan.Target, grounds []ownership.Authorization) []scan.Reason {
	if t.Profile != scan.Passive || len(grounds) == len(livetarget.ScopeOrigins(t)) {
		return nil
	}
	t.LimitPassive()
	before := len(t.Identities) + len(t.Headers)
	t.Identities = nil
	t.Headers = slices.DeleteFunc(t.Headers, func(h scan.Header) bool {
		return strings.EqualFold(h.Name, "Authorization") || strings.EqualFold(h.Name, "Cookie")
	})
	if len(t.Headers) == before {
		return nil
	}
	return []scan.Reason{{Code: "unavailable", Message: "nobody was signed in, because ownership of the target's " +
		"hosts was not shown: pages that need it were not examined"}}
}

// keptLabel binds a checkpoint to its run.
func keptLabel(r *run.Run) string { return "kept/" + string(r.ID) }

// A checkpointStore stores what a scan has kept, at most once in keepEvery: who asks more often
// waits.
type checkpointStore struct {
	*targets
	run  *run.Run
	mu   sync.Mutex
	last time.Time
}

// keepEvery bounds the writes of one scan. Losing two seconds of work costs less than a
// write per request.
const keepEvery = 2 * time.Second

// saveCheckpoint seals and stores a checkpoint. It may have cookies and tokens of test
// users.
func (k *checkpointStore) saveCheckpoint(ctx context.Context, kept []byte) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	select {
	case <-time.After(keepEvery - time.Since(k.last)):
	case <-ctx.Done():
		return ctx.Err()
	}
	k.last = time.Now()
	return k.db.KeepRun(ctx, k.run, k.box.Seal(kept, keptLabel(k.run)))
}

// dialer is a way of making connections.
type dialer func(ctx context.Context, network, address string) (net.Conn, error)

// A gate makes the connections of one scan: to the hosts of its target, held to the
// addresses at which their ownership was seen, or to the administrator's list where that
// stands in for a proof, and to those that it signs in at. Whatever else the scan asks for is refused.
type gate map[string]dialer

// newGate returns the gate of a target. Origins without a ground are reached too, by a
// passive scan; the client still refuses private addresses for them.
func newGate(client *outbound.Client, t *scan.Target, grounds []ownership.Authorization) gate {
	g := gate{}
	for _, o := range livetarget.SignInOrigins(t) {
		g[o.Address()] = client.Dial
	}
	for _, o := range livetarget.ScopeOrigins(t) {
		g[o.Address()] = client.Dial
	}
	for _, ground := range grounds {
		dial := dialer(client.DialListed)
		if ground.Listed == nil {
			dial = func(ctx context.Context, network, address string) (net.Conn, error) {
				// Pinned to the addresses at which ownership was verified: DNS may point elsewhere
				// a moment later (DNS rebinding).
				return client.DialPinned(ctx, network, address, ground.Addresses)
			}
		}
		g[ground.Origin.Address()] = dial
		if ground.Listed == nil && ground.Proof.Method != ownership.DNS {
			continue // shows who controls the one port
		}
		for _, port := range []string{"80", "443"} {
			at := net.JoinHostPort(ground.Origin.Host, port)
			if _, there := g[at]; !there {
				g[at] = dial
			}
		}
	}
	return g
}

// dialTarget connects to an address of the target, or returns a Forbidden error. A redirect
// to another host ends here as well.
func (g gate) dialTarget(ctx context.Context, network, address string) (net.Conn, error) {
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return nil, errs.E(errs.Forbidden, "%q is no host with a port", address)
	}
	at := net.JoinHostPort(livetarget.CleanHost(host), port)
	dial, ok := g[at]
	if !ok {
		return nil, errs.E(errs.Forbidden, "%s is refused: it is not part of the target", at)
	}
	return dial(ctx, network, at)
}
