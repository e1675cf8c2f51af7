package activescan_test

import (
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"sync"
	"testing"
	"time"

	"merlon/internal/engine/dast/activescan"
	"merlon/internal/engine/dast/activescan/activescantest"
	"merlon/internal/engine/dast/message"
	"merlon/internal/engine/dast/sitemap"
	"merlon/internal/engine/dast/traffic"
	"merlon/internal/finding"
	"merlon/internal/scan"
)

// A later attempt attacks what has shown something, or was not reached, and nothing
// else.
func TestResume(t *testing.T) {
	rule := &finding.Rule{ID: "dast/example/told", Analysis: finding.DAST, Name: "Example", Severity: finding.Low,
		Confidence: finding.HighConfidence}
	check := &activescan.Rule{ID: "example", FindingRules: []*finding.Rule{rule}, Profile: scan.Safe,
		ProbePoint: func(p *activescan.Probe) error {
			resp, err := p.SendValue("payload")
			if err != nil {
				return err
			}
			if resp.Status == http.StatusTeapot {
				p.RaiseAlert(activescan.Alert{Rule: rule, Request: resp.Request, Responses: []*message.Response{resp}})
			}
			if p.Request.Path == "/left" {
				p.RecordStoredPayload("word", "word")
			}
			return nil
		}}
	var mu sync.Mutex
	asked := map[string]int{}
	h := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		if r.FormValue("q") == "payload" {
			asked[r.URL.Path]++
		}
		mu.Unlock()
		if r.URL.Path == "/flaw" && r.FormValue("q") == "payload" {
			w.WriteHeader(http.StatusTeapot)
		}
		fmt.Fprint(w, "page")
	})
	var operations []string
	for i := range 20 {
		operations = append(operations, fmt.Sprintf("GET /quiet%c?q=1", 'a'+rune(i)))
	}
	operations = append([]string{"GET /flaw?q=1", "GET /left?q=1"}, operations...)
	server := httptest.NewServer(h)
	defer server.Close()
	var kept []byte
	attempt := func(operations []string, checks ...*activescan.Rule) (flaws int) {
		t.Helper()
		clear(asked)
		target := &scan.Target{URL: server.URL + "/", Profile: scan.Full}
		scope, err := sitemap.NewScope(target)
		if err != nil {
			t.Fatal(err)
		}
		surface := sitemap.New(100)
		for _, o := range operations {
			surface.Add(activescantest.Request(t, server.URL, o))
		}
		var dialer net.Dialer
		client := traffic.New(traffic.Options{Scope: scope, Dial: dialer.DialContext, ID: "test", Rate: 1e6,
			Parallel: 1})
		defer client.Close()
		run := &activescan.Engine{Client: client, Sitemap: surface, Target: target, Scope: scope, Rules: checks,
			Parallel:      1,
			Seed:          1,
			ReportFinding: func(*finding.Rule, finding.Finding) { flaws++ },
			ReportGap:     func(r scan.Reason) { t.Errorf("reason %+v", r) },
			Checkpoint:    kept, CheckpointInterval: time.Nanosecond, SaveCheckpoint: func(b []byte) {
				kept = slices.Clone(b)
			}}
		if err := run.Run(t.Context()); err != nil {
			t.Fatal(err)
		}
		return flaws
	}
	if n := attempt(operations[:12], check); n != 1 {
		t.Fatalf("%d flaws in the first attempt, want 1", n)
	}
	// What was finished last is not kept yet.
	if n := attempt(operations, check); n != 1 || asked["/flaw"] == 0 || asked["/left"] == 0 || asked["/quieta"] != 0 ||
		asked["/quieti"] != 0 || asked["/quietk"] == 0 || asked["/quiett"] == 0 {
		t.Errorf("%d flaws, asked in the second attempt: %v", n, asked)
	}
	other := *check
	other.ID = "other"
	if attempt(operations, check, &other); len(asked) != len(operations) {
		t.Errorf("%d operations were attacked with another check, want all %d", len(asked), len(operations))
	}
	kept = []byte(`{"version":2,"done":["x"]}`)
	if attempt(operations, check); len(asked) != len(operations) {
		t.Errorf("%d operations were attacked after what cannot be read, want all %d", len(asked), len(operations))
	}
}
