package livescan

import (
	"testing"

	"merlon/internal/engine/dast/sitemap"
	"merlon/internal/scan"
)

func TestElsewhere(t *testing.T) {
	scope, err := sitemap.NewScope(&scan.Target{URL: "http://shop.example:8080/"})
	if err != nil {
		t.Fatal(err)
	}
	v := &Scan{Scope: scope}
	for host, want := range map[string]bool{"cdn.example": true, "cdn.example:8443": true, "shop.example:9090": false,
		"SHOP.example": false, "127.0.0.1:9090": false, "[::1]:9090": false, "[::ffff:7f00:1]": false,
		"169.254.169.254": false, "localhost": false, "localhost:9090": false, "x.localhost": false,
		"localhost.": false, "intranet": false, "192.0.2.1": false} {
		if got := v.allowsScriptHost(host); got != want {
			t.Errorf("%s: %t", host, got)
		}
	}
}
