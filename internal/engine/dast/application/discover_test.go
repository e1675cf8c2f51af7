package application

import (
	"testing"

	"merlon/internal/engine/dast/crawl"
	"merlon/internal/engine/dast/site"
	"merlon/internal/engine/dast/visit"
	"merlon/internal/finding"
	"merlon/internal/scan"
)

// TestSockets tells of WebSockets of the target that nobody examines them.
func TestSockets(t *testing.T) {
	scope, err := site.NewScope(&scan.Target{URL: "https://shop.example/"})
	if err != nil {
		t.Fatal(err)
	}
	e := &examination{Visit: &visit.Visit{Scope: scope, Surface: site.NewSurface(10)}}
	e.sockets(&crawl.Result{Sockets: []string{"wss://shop.example/news", "wss://elsewhere.example/", "ws:"}})
	got := e.Surface.Entries()
	if len(got) != 1 || got[0].Seen.URL != "https://shop.example/news" || got[0].Seen.Outcome != finding.NotReached ||
		got[0].Seen.Origin != "socket" || got[0].Seen.Reason == "" {
		t.Errorf("%+v", got)
	}
}
