package traffic_test

import (
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"merlon/internal/engine/dast/message"
	"merlon/internal/engine/dast/sitemap"
	"merlon/internal/engine/dast/traffic"
	"merlon/internal/engine/dast/traffic/traffictest"
	"merlon/internal/scan"
)

// One answer that does not come is no end of the scan.
func TestLateAnswerIsNoEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := &http.Server{Handler: http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
			if r.URL.Path == "/late" {
				time.Sleep(time.Minute)
			}
		})}
		l := traffictest.Listen()
		go func() { _ = server.Serve(l) }() // ends with an error when it is closed
		const base = "http://127.0.0.1:80"
		scope, err := sitemap.NewScope(&scan.Target{URL: base + "/"})
		if err != nil {
			t.Fatal(err)
		}
		client := traffic.New(traffic.Options{Scope: scope, Dial: l.Dial})
		for path, fails := range map[string]bool{"/late": true, "/": false} {
			r, err := message.Parse(base + path)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := client.Send(t.Context(), r, nil); (err != nil) != fails || traffic.IsFinal(err) {
				t.Errorf("%s: %v, over %v", path, err, traffic.IsFinal(err))
			}
		}
		client.Close()
		if err := server.Close(); err != nil {
			t.Error(err)
		}
		time.Sleep(time.Minute) // the handler of what was late ends
	})
}
