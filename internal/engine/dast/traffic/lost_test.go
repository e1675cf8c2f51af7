package traffic_test

import (
	"net"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"merlon/internal/engine/dast/message"
	"merlon/internal/engine/dast/site"
	"merlon/internal/engine/dast/traffic"
	"merlon/internal/scan"
)

// One answer that does not come is no end of the scan.
func TestLateAnswerIsNoEnd(t *testing.T) {
	release := make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/late" {
			<-release
		}
	}))
	defer server.Close()
	defer close(release)
	scope, err := site.NewScope(&scan.Target{URL: server.URL + "/"})
	if err != nil {
		t.Fatal(err)
	}
	var dialer net.Dialer
	client := traffic.New(traffic.Options{Scope: scope, Dial: dialer.DialContext, Timeout: 50 * time.Millisecond})
	defer client.Close()
	for path, fails := range map[string]bool{"/late": true, "/": false} {
		r, err := message.Parse(server.URL + path)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := client.Send(t.Context(), r, nil); (err != nil) != fails || traffic.Over(err) {
			t.Errorf("%s: %v, over %v", path, err, traffic.Over(err))
		}
	}
}
