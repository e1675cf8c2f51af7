package server

import (
	"log/slog"
	"net/url"

	"merlon/internal/config"
	"merlon/internal/outbound"
)

// Outbound returns the client for requests to others. Own are addresses of this
// service, whose hosts it refuses.
func Outbound(c config.Outbound, log *slog.Logger, own ...string) (*outbound.Client, error) {
	var hosts []string
	for _, text := range own {
		if u, err := url.Parse(text); err == nil && u.Hostname() != "" {
			hosts = append(hosts, u.Hostname())
		}
	}
	return outbound.New(outbound.Options{
		Agent: "merlon/" + config.Version, Log: log, Own: hosts,
		Allow: c.OutboundAllow, Proxy: c.OutboundProxy, NoProxy: c.OutboundNoProxy, CAFile: c.OutboundCAFile,
	})
}
