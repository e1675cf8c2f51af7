package server

import (
	"net"
	"net/http"
	"net/netip"
	"strings"
)

// This file finds the address of a client behind proxies.

// proxies are those whose word is taken for the address of a client.
type proxies struct {
	networks []netip.Prefix
	header   string // in which they note it; others may come from the client
}

// resolveClientAddress replaces the peer's address by the client's when the peer is a trusted proxy:
// the right-most address that the proxies noted and that is not a trusted proxy itself.
func resolveClientAddress(p proxies, next http.Handler) http.Handler {
	if len(p.networks) == 0 {
		return next
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if client, ok := p.clientAddress(r); ok {
			r.RemoteAddr = net.JoinHostPort(client.String(), "0")
		}
		next.ServeHTTP(w, r)
	})
}

// clientAddress returns the address of the client; false when the peer is no trusted proxy, or
// when a proxy noted what is no address: then nobody knows more than the peer.
func (p proxies) clientAddress(r *http.Request) (netip.Addr, bool) {
	if !containsAddress(p.networks, addressOf(r.RemoteAddr)) {
		return netip.Addr{}, false
	}
	hops := strings.Split(strings.Join(r.Header.Values("X-Forwarded-For"), ","), ",")
	if strings.EqualFold(p.header, "forwarded") {
		hops = forwardedFor(strings.Join(r.Header.Values("Forwarded"), ","))
	}
	// From the right: each proxy appends the peer that it saw. What stands left of the first
	// untrusted address was sent by the client and may be forged (CWE-348).
	for i := len(hops) - 1; i >= 0; i-- {
		addr, ok := parseHop(hops[i])
		if !ok {
			return netip.Addr{}, false
		}
		// If all hops are trusted, the left-most one began the request, such as a health probe.
		if i == 0 || !containsAddress(p.networks, addr) {
			return addr, true
		}
	}
	return netip.Addr{}, false
}

// parseHop reads an address as proxies write it, with or without a port.
func parseHop(text string) (netip.Addr, bool) {
	text = strings.TrimSpace(text)
	if at, err := netip.ParseAddrPort(text); err == nil {
		return at.Addr().Unmap().WithZone(""), true
	}
	if inner, ok := strings.CutPrefix(text, "["); ok {
		if text, ok = strings.CutSuffix(inner, "]"); !ok || !strings.Contains(text, ":") {
			return netip.Addr{}, false
		}
	}
	addr, err := netip.ParseAddr(text)
	return addr.Unmap().WithZone(""), err == nil
}

// forwardedFor returns the parameter for of each element of a Forwarded header (RFC 7239,
// section 4), the text "" for an element that has none or more than one.
func forwardedFor(header string) []string {
	var out []string
	for _, element := range splitQuoted(header, ',') {
		found, count := "", 0
		for _, pair := range splitQuoted(element, ';') {
			name, value, _ := strings.Cut(strings.TrimSpace(pair), "=")
			if strings.EqualFold(name, "for") {
				found, count = unquoteNode(value), count+1
			}
		}
		if count != 1 {
			found = ""
		}
		out = append(out, found)
	}
	return out
}

// splitQuoted splits a header at a separator that is not inside a quoted text.
func splitQuoted(header string, separator byte) []string {
	var out []string
	quoted, begin := false, 0
	for i := 0; i < len(header); i++ {
		switch c := header[i]; {
		case quoted && c == '\\':
			i++
		case c == '"':
			quoted = !quoted
		case c == separator && !quoted:
			out = append(out, header[begin:i])
			begin = i + 1
		}
	}
	return append(out, header[begin:])
}

// unquoteNode returns the content of a quoted text; an address needs no escapes.
func unquoteNode(text string) string {
	text = strings.TrimSpace(text)
	if len(text) >= 2 && text[0] == '"' && text[len(text)-1] == '"' {
		return text[1 : len(text)-1]
	}
	return text
}

// containsAddress reports whether one of the networks contains the address.
func containsAddress(nets []netip.Prefix, a netip.Addr) bool {
	for _, n := range nets {
		if n.Contains(a) {
			return true
		}
	}
	return false
}
