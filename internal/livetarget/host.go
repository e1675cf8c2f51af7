package livetarget

import (
	"net"
	"net/url"
	"slices"
	"strings"

	"golang.org/x/net/idna"

	"merlon/internal/scan"
)

// This file says which hosts a target is made of.

// An Origin is a scheme, a host and a port.
type Origin struct {
	Scheme string
	Host   string // lower case, without a dot at the end, ASCII
	Port   string
}

// Address is the host and port as they are dialled.
func (o Origin) Address() string { return net.JoinHostPort(o.Host, o.Port) }

// URL is the address of the origin without a path.
func (o Origin) URL() string {
	u := url.URL{Scheme: o.Scheme, Host: o.Host}
	if strings.Contains(o.Host, ":") {
		u.Host = "[" + o.Host + "]"
	}
	if o.Port != ports[o.Scheme] {
		u.Host = net.JoinHostPort(o.Host, o.Port)
	}
	return u.String()
}

// ports are the default ports of the web.
var ports = map[string]string{"http": "80", "https": "443", "ws": "80", "wss": "443"}

// OriginOf returns the origin of an address.
func OriginOf(u *url.URL) Origin {
	o := Origin{Scheme: strings.ToLower(u.Scheme), Host: CleanHost(u.Hostname()), Port: u.Port()}
	if o.Port == "" {
		o.Port = ports[o.Scheme]
	}
	return o
}

// CleanHost returns the form of a host's name by which it is compared. "Example.ORG." and
// "example.org" are one host; an internationalized name is compared in its ASCII form (RFC
// 5891), which DNS uses.
func CleanHost(host string) string {
	host = strings.TrimSuffix(strings.ToLower(host), ".")
	if ascii, err := idna.Lookup.ToASCII(host); err == nil {
		host = ascii
	}
	return host
}

// ScopeOrigins returns the origins that a scan of the target attacks: its own, and those that
// patterns and seeds add.
func ScopeOrigins(t *scan.Target) []Origin {
	var out []Origin
	add := func(u *url.URL) {
		if u == nil || u.Hostname() == "" {
			return
		}
		if o := OriginOf(u); !slices.Contains(out, o) {
			out = append(out, o)
		}
	}
	if u, err := url.Parse(t.URL); err == nil {
		add(u)
	}
	// Exclusions add no origins.
	for _, list := range [][]string{t.Include, t.Seeds} {
		for _, p := range list {
			if u, err := parsePatternHost(p); err == nil {
				add(u)
			}
		}
	}
	return out
}

// SignInOrigins returns the origins that a scan of the target asks to sign in, and for
// descriptions, beyond the scope. They are never attacked.
func SignInOrigins(t *scan.Target) []Origin {
	scope := ScopeOrigins(t)
	var out []Origin
	add := func(text string) {
		u, err := url.Parse(text)
		if err != nil || u.Hostname() == "" {
			return
		}
		if o := OriginOf(u); !slices.Contains(scope, o) && !slices.Contains(out, o) {
			out = append(out, o)
		}
	}
	for n := range t.Identities {
		for _, text := range Addresses(&t.Identities[n]) {
			add(text)
		}
	}
	for _, d := range t.Descriptions {
		add(d.URL)
	}
	slices.SortFunc(out, func(a, b Origin) int { return strings.Compare(a.URL(), b.URL()) })
	return out
}
