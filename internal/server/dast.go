package server

import (
	"log/slog"
	"net"
	"net/url"

	"merlon/internal/config"
	"merlon/internal/outbound"
	"merlon/internal/target/ownership"
)

// newOwners returns who decides what scans of running applications may attack; nil
// without the master key, which the tokens of owners are made with. Closed are addresses
// that no scan reaches, own are addresses of this service.
func newOwners(d *deployment, c config.Dast, closed []string, log *slog.Logger, own ...string) (*ownership.Owners, error) {
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
	return ownership.New(ownership.Owners{Store: d.db, Client: client, Key: d.box.Derive("ownership"), Now: d.db.Now}), nil
}

// dastClosed lists where the parts of the service answer: the database, the storage of
// uploads, and the listener, if there is one.
func dastClosed(c config.Store, listen ...string) []string {
	out := listen
	database, _ := c.URL() // one that cannot be read has stopped the program before
	for _, text := range []string{database, c.BlobURL} {
		u, err := url.Parse(text)
		if err != nil {
			continue
		}
		if u.Scheme == "postgres" || u.Scheme == "postgresql" {
			out = append(out, withPort(u, "5432"))
		}
		if end, err := url.Parse(u.Query().Get("endpoint")); err == nil && end.Host != "" {
			out = append(out, withPort(end, map[string]string{"http": "80"}[end.Scheme]))
		}
	}
	return out
}

func withPort(u *url.URL, port string) string {
	if u.Port() != "" {
		port = u.Port()
	}
	if port == "" {
		port = "443"
	}
	return net.JoinHostPort(u.Hostname(), port)
}
