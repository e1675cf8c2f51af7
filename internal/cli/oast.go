package cli

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"net/url"

	"merlon/internal/errs"
	"merlon/internal/oast"
	"merlon/internal/scan"
)

// This file listens for what a running application sends elsewhere when it is attacked.

// oastOptions say where to listen.
// The old names of the options, from before the term OAST was used, are aliases.
type oastOptions struct {
	OAST       string `name:"oast" aliases:"callback" default:"auto" placeholder:"ADDR" help:"Address (host:port) of the listener for out-of-band interactions (OAST); auto: an address that an application on this machine or in a private network can reach; none: no listener."`
	OASTURL    string `name:"oast-url" aliases:"callback-url" placeholder:"URL" help:"URL at which the application reaches the listener. Default: http:// and the address."`
	OASTDomain string `name:"oast-domain" aliases:"callback-domain" placeholder:"DOMAIN" help:"Domain for which the listener is the authoritative name server."`
	OASTDNS    string `name:"oast-dns" aliases:"callback-dns" placeholder:"ADDR" help:"Address (host:port) on which the listener receives DNS queries. Default: the same address."`
}

// openListener starts to listen for a scan of the target, or says why not: an empty reason means
// that it is not wanted.
func (o *oastOptions) openListener(ctx context.Context, t *scan.Target) (l *oast.Listener, reason string, err error) {
	settings := oast.Options{Listen: o.OAST, URL: o.OASTURL, Domain: o.OASTDomain, DNS: o.OASTDNS}
	switch o.OAST {
	// auto listens only where the target is likely to reach this machine; any other value is an
	// address to listen on, whose errors end the command: it was asked for.
	case "auto", "none":
		if o.OASTURL+o.OASTDomain+o.OASTDNS != "" {
			return nil, "", errs.E(errs.Invalid, "--oast-url, --oast-domain and --oast-dns need the "+
				"address to listen at in --oast")
		}
		if o.OAST == "none" || t.Profile == scan.Passive {
			return nil, "", nil
		}
		at, reason := reachableAddress(ctx, t)
		if reason != "" {
			return nil, reason, nil
		}
		// Port 0: any free port, since no firewall rule has to know it.
		settings.Listen = net.JoinHostPort(at.String(), "0")
	}
	if l, err = oast.Listen(settings); err != nil {
		return nil, "", err
	}
	return l, "", nil
}

// reachableAddress returns this machine's address on the way to the target, if the target is
// likely to reach it: it is here, or both are in a private network.
func reachableAddress(ctx context.Context, t *scan.Target) (at netip.Addr, reason string) {
	u, err := url.Parse(t.URL)
	if err != nil {
		return at, "the target is no address"
	}
	// Only the route is computed for the port, so it need not be open.
	port := u.Port()
	if port == "" {
		port = "443"
	}
	// Connecting a UDP socket makes the kernel choose the source address of the route, without a
	// packet.
	conn, err := new(net.Dialer).DialContext(ctx, "udp", net.JoinHostPort(u.Hostname(), port)) // sends nothing
	if err != nil {
		return at, "the target has no address that can be reached from here"
	}
	defer func() { _ = conn.Close() }()
	here, err := netip.ParseAddrPort(conn.LocalAddr().String())
	there, otherErr := netip.ParseAddrPort(conn.RemoteAddr().String())
	if err != nil || otherErr != nil {
		return at, "the way to the target has no address"
	}
	// A target on the internet sees another address than ours (NAT), and a listener would be open
	// to everyone.
	if to := there.Addr().Unmap(); !to.IsLoopback() && !to.IsPrivate() {
		return at, "the target is not in a private network, and --oast does not say where it reaches this " +
			"machine (none: it is not wanted)"
	}
	// An IPv6 zone, such as "%eth0", has a meaning on this machine only.
	return here.Addr().Unmap().WithZone(""), ""
}

// refuseListener makes connections to everything but the listener: what a target says leads there
// is not followed.
func refuseListener(l *oast.Listener,
	dial func(ctx context.Context, network, address string) (net.Conn, error)) func(context.Context, string,
	string) (net.Conn, error) {
	own := l.Addr().String()
	return func(ctx context.Context, network, address string) (net.Conn, error) {
		conn, err := dial(ctx, network, address)
		if err != nil {
			return nil, err
		}
		// It is checked on the connection and not on the name: a name may resolve to anything
		// (DNS rebinding). Otherwise a redirect of the target to our own listener would look like
		// an interaction, and every check of that kind would report a false positive.
		if conn.RemoteAddr().String() == own {
			return nil, errors.Join(errs.E(errs.Forbidden, "%s is refused: the listener for calls of the target "+
				"is there", own), conn.Close())
		}
		return conn, nil
	}
}
