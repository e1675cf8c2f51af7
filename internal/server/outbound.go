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
	return outbound.New(outbound.Options{
		Agent: "merlon/" + config.Version, Log: log, Own: hostsOf(own...),
		Allow: c.OutboundAllow, Proxy: c.OutboundProxy, NoProxy: c.OutboundNoProxy, CAFile: c.OutboundCAFile,
	})
}

// hostsOf returns the hosts of addresses.
func hostsOf(addresses ...string) []string {
	var hosts []string
	for _, text := range addresses {
		if u, err := url.Parse(text); err == nil && u.Hostname() != "" {
			hosts = append(hosts, u.Hostname())
		}
	}
	return hosts
}
