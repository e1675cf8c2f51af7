package application

import (
	"testing"

	"merlon/internal/engine/dast/crawl"
	"merlon/internal/engine/dast/livescan"
	"merlon/internal/engine/dast/sitemap"
	"merlon/internal/finding"
	"merlon/internal/scan"
)

// TestSockets tells of WebSockets of the target that nobody examines them.
func TestSockets(t *testing.T) {
	scope, err := sitemap.NewScope(&scan.Target{URL: "https://shop.example/"})
	if err != nil {
		t.Fatal(err)
	}
	e := &examination{Scan: &livescan.Scan{Scope: scope, Sitemap: sitemap.New(10)}}
	e.sockets(&crawl.Result{Sockets: []string{"wss://shop.example/news", "wss://elsewhere.example/", "ws:"}})
	got := e.Sitemap.Entries()
	if len(got) != 1 || got[0].Seen.URL != "https://shop.example/news" || got[0].Seen.Outcome != finding.NotReached ||
		got[0].Seen.Origin != "socket" || got[0].Seen.Reason == "" {
		t.Errorf("%+v", got)
	}
}
