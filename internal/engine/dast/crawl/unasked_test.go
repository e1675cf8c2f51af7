package crawl_test

import (
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"merlon/internal/engine/dast/crawl"
	"merlon/internal/engine/dast/message"
	"merlon/internal/engine/dast/sitemap"
	"merlon/internal/engine/dast/traffic"
	"merlon/internal/scan"
)

// TestUnasked names the pages that the end of a scan has left, and none where it ends by itself.
func TestUnasked(t *testing.T) {
	const letters = "abcdefghijklmnopqrstuvwxyz"
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/" {
			w.Header().Set("Content-Type", "text/html")
			for _, one := range letters {
				for _, two := range "xy" {
					fmt.Fprintf(w, `<a href="/%c%c">page</a> `, one, two)
				}
			}
			return
		}
		http.NotFound(w, r)
	}))
	defer server.Close()
	for _, limit := range []int{20, 0} {
		scope, err := sitemap.NewScope(&scan.Target{URL: server.URL + "/"})
		if err != nil {
			t.Fatal(err)
		}
		var dialer net.Dialer
		client := traffic.New(traffic.Options{Scope: scope, Dial: dialer.DialContext, Rate: 1e6, Requests: limit})
		var mu sync.Mutex
		var reasons []string
		crawler := crawl.New(crawl.Options{Client: client, Scope: scope, Surface: sitemap.New(1000), Parallel: 2,
			Place: (*message.Request).Location,
			Degrade: func(r scan.Reason) {
				mu.Lock()
				defer mu.Unlock()
				if r.Code != "unavailable" || !r.Beyond {
					t.Errorf("%+v", r)
				}
				reasons = append(reasons, r.Message)
			}})
		_, err = crawler.Run(t.Context())
		client.Close()
		all := strings.Join(reasons, "\n")
		switch {
		case limit == 0 && (err != nil || all != ""):
			t.Errorf("without a limit: %v, %q", err, all)
		case limit > 0 && (err == nil || !strings.Contains(all, "pages were found and not requested before the scan ended: GET /") || !strings.Contains(all, " in all)") || strings.Count(all, "GET /") != 30):

			t.Errorf("with a limit: %v, %q", err, all)
		}
	}
}
