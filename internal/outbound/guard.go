package outbound

import (
	"context"
	"log/slog"
	"net"
	"net/netip"
	"slices"
	"strings"

	"merlon/internal/errs"
)

// This file decides which addresses may be reached.

// special are the networks that are not for the public, beside those that
// netip.Addr names itself (RFC 6890 and the registries that it made).
var special = []struct {
	prefix netip.Prefix
	what   string
}{
	{netip.MustParsePrefix("0.0.0.0/8"), "this network"},
	{netip.MustParsePrefix("100.64.0.0/10"), "a provider's network"},
	{netip.MustParsePrefix("192.0.0.0/24"), "a reserved address"},
	{netip.MustParsePrefix("192.0.2.0/24"), "an address for documentation"},
	{netip.MustParsePrefix("198.18.0.0/15"), "an address for measurements"},
	{netip.MustParsePrefix("198.51.100.0/24"), "an address for documentation"},
	{netip.MustParsePrefix("203.0.113.0/24"), "an address for documentation"},
	{netip.MustParsePrefix("240.0.0.0/4"), "a reserved address"},
	{netip.MustParsePrefix("100::/64"), "a reserved address"},
	{netip.MustParsePrefix("2001:db8::/32"), "an address for documentation"},
	{netip.MustParsePrefix("3fff::/20"), "an address for documentation"},
	{netip.MustParsePrefix("fec0::/10"), "a private address"},
}

// metadata are the addresses where clouds hand credentials to whoever asks from
// the machine. Two of them look like others: Azure's is public.
var metadata = []netip.Addr{
	netip.MustParseAddr("169.254.169.254"),
	netip.MustParseAddr("169.254.170.2"),
	netip.MustParseAddr("169.254.170.23"),
	netip.MustParseAddr("168.63.129.16"),
	netip.MustParseAddr("100.100.100.200"),
	netip.MustParseAddr("192.0.0.192"),
	netip.MustParseAddr("fd00:ec2::254"),
	netip.MustParseAddr("fd00:ec2::23"),
	netip.MustParseAddr("fd20:ce::254"),
}

// classifyAddress says what kind of address this is when it is not a public one of
// another machine; empty when it is.
func classifyAddress(ip netip.Addr, own []netip.Addr) string {
	ip = ip.Unmap()
	switch {
	case !ip.IsValid() || ip.IsUnspecified():
		return "no address"
	case slices.Contains(metadata, ip):
		return "a cloud's metadata service"
	case ip.IsLoopback():
		return "a loopback address"
	case ip.IsLinkLocalUnicast():
		return "a link-local address"
	case ip.IsMulticast():
		return "a multicast address"
	case ip.IsPrivate():
		return "a private address"
	case slices.Contains(own, ip):
		return "an address of this machine"
	}
	for _, s := range special {
		if s.prefix.Contains(ip) {
			return s.what
		}
	}
	if inner, ok := embeddedIPv4(ip); ok {
		return classifyAddress(inner, own)
	}
	return ""
}

// embeddedIPv4 returns the IPv4 address that an IPv6 address leads to: NAT64
// (RFC 6052, RFC 8215), 6to4 (RFC 3056), Teredo (RFC 4380) and the form that
// RFC 4291 calls compatible.
func embeddedIPv4(ip netip.Addr) (netip.Addr, bool) {
	if !ip.Is6() {
		return netip.Addr{}, false
	}
	b := ip.As16()
	four := func(at int) (netip.Addr, bool) { return netip.AddrFrom4([4]byte(b[at : at+4])), true }
	switch {
	case nat64.Contains(ip), compatible.Contains(ip), localNAT64.Contains(ip):
		return four(12)
	case sixToFour.Contains(ip):
		return four(2)
	case teredo.Contains(ip):
		for i := 12; i < 16; i++ {
			b[i] = ^b[i]
		}
		return four(12)
	}
	return netip.Addr{}, false
}

var (
	nat64      = netip.MustParsePrefix("64:ff9b::/96")
	localNAT64 = netip.MustParsePrefix("64:ff9b:1::/48")
	compatible = netip.MustParsePrefix("::/96")
	sixToFour  = netip.MustParsePrefix("2002::/16")
	teredo     = netip.MustParsePrefix("2001::/32")
)

// machineAddress returns the address that stands for the machine behind an address: all of
// 127.0.0.0/8, ::1, this machine's own addresses and the wrapped forms of these are one.
func machineAddress(ip netip.Addr, own []netip.Addr) netip.Addr {
	ip = ip.Unmap()
	if inner, ok := embeddedIPv4(ip); ok && !ip.IsLoopback() {
		ip = inner
	}
	if ip.IsLoopback() || slices.Contains(own, ip) {
		return netip.AddrFrom4([4]byte{127, 0, 0, 1})
	}
	return ip
}

// A list names hosts and networks.
type list struct {
	prefixes []netip.Prefix
	hosts    []string // lower case; ".example.org" is every host below it
}

// parseList reads entries such as "10.1.0.0/16", "10.1.2.3", "mirror.example.org"
// and ".example.org".
func parseList(setting string, entries []string) (list, error) {
	var out list
	for _, text := range entries {
		text = strings.ToLower(strings.TrimSpace(text))
		if p, err := netip.ParsePrefix(text); err == nil {
			out.prefixes = append(out.prefixes, p.Masked())
			continue
		}
		if ip, err := netip.ParseAddr(strings.Trim(text, "[]")); err == nil && ip.Zone() == "" {
			ip = ip.Unmap()
			out.prefixes = append(out.prefixes, netip.PrefixFrom(ip, ip.BitLen()))
			continue
		}
		host := strings.TrimSuffix(strings.TrimPrefix(text, "*"), ".")
		if strings.Trim(host, ".") == "" || strings.ContainsAny(host, "/:*@ \t") {
			return list{}, errs.E(errs.Invalid, "%s %q is no network, address or host name", setting, text)
		}
		out.hosts = append(out.hosts, host)
	}
	return out, nil
}

// containsHost reports whether the list names the host.
func (l list) containsHost(name string) bool {
	name = strings.TrimSuffix(strings.ToLower(name), ".")
	if ip, err := netip.ParseAddr(name); err == nil {
		return l.containsAddress(ip)
	}
	return slices.ContainsFunc(l.hosts, func(h string) bool {
		return h == name || strings.HasPrefix(h, ".") && strings.HasSuffix(name, h)
	})
}

// containsAddress reports whether a network of the list holds the address.
func (l list) containsAddress(ip netip.Addr) bool {
	ip = ip.Unmap()
	return slices.ContainsFunc(l.prefixes, func(p netip.Prefix) bool { return p.Contains(ip) })
}

// checkAddress returns a Forbidden error when the address may not be reached for the
// host. A host name on the allow-list stands for whatever its operator points it
// at, except credentials of the machine: those must be named by their address.
func (c *Client) checkAddress(host string, ip netip.Addr) error {
	if ip.Zone() != "" {
		return c.refuseAddress(host, ip, "a link-local address")
	}
	own, err := c.own()
	if err != nil {
		return errs.Wrap(errs.Unavailable, err, "cannot determine the addresses of this machine")
	}
	what := classifyAddress(ip, own)
	if what == "" {
		return nil
	}
	if c.allowEntry(host, ip) != "" {
		return nil
	}
	return c.refuseAddress(host, ip, what)
}

// allowEntry returns the entry of the allow-list that names the address for the host;
// empty when there is none.
func (c *Client) allowEntry(host string, ip netip.Addr) string {
	ip = ip.Unmap()
	if ip.Zone() != "" {
		return ""
	}
	narrow := slices.Contains(metadata, ip)
	if inner, ok := embeddedIPv4(ip); ok && slices.Contains(metadata, inner) {
		narrow = true
	}
	for _, p := range c.allow.prefixes {
		if p.Contains(ip) && (!narrow || p.IsSingleIP()) {
			return p.String()
		}
	}
	if !narrow && !ip.IsLinkLocalUnicast() && c.allow.containsHost(host) {
		return strings.ToLower(host)
	}
	return ""
}

// refuseAddress logs and returns the error for a forbidden address. The error names the host,
// not the address: a user must not learn the internal network from it.
func (c *Client) refuseAddress(host string, ip netip.Addr, what string) error {
	// Where a name leads within a network is nothing for who asks; the log tells it.
	c.log.LogAttrs(context.Background(), slog.LevelWarn, "an outgoing connection was "+
		"refused", slog.String("host", host), slog.String("address", ip.String()), slog.String("why", what))
	it := "it leads to " + what
	if literal, err := netip.ParseAddr(host); err == nil && literal.Unmap() == ip.Unmap() {
		it = "it is " + what
	}
	e := errs.E(errs.Forbidden, "%s is refused: %s; an administrator can allow it with %s", host, it, c.setting)
	e.Code = CodeRefused
	return e
}

// ownAddresses are those of the machine's interfaces.
func ownAddresses() ([]netip.Addr, error) {
	all, err := net.InterfaceAddrs()
	if err != nil {
		return nil, err
	}
	var out []netip.Addr
	for _, a := range all {
		if p, err := netip.ParsePrefix(a.String()); err == nil {
			out = append(out, p.Addr().Unmap())
		}
	}
	return out, nil
}
