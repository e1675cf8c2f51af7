package livescan_test

import (
	"context"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"merlon/internal/engine/dast/activescan"
	"merlon/internal/engine/dast/livescan"
	"merlon/internal/engine/dast/message"
	"merlon/internal/engine/dast/traffic"
	"merlon/internal/finding"
	"merlon/internal/scan"
)

// run visits the target with an analysis that only discovers.
func run(t *testing.T, target scan.Target, discover func(context.Context, *livescan.Scan) error) (scan.Summary, bool) {
	t.Helper()
	told := false
	a := &scan.Analyzer{ID: "dast/application", Version: 1, Analysis: finding.DAST, Doc: "# Visits\n\nA test.\n",
		Needs: scan.Needs{Network: true}, Live: func(p *scan.LivePass) error {
			v, err := livescan.New(p, []*activescan.Rule{{ID: "nothing"}})
			if err != nil {
				return err
			}
			defer v.Close()
			return v.Execute(livescan.Plan{Found: 30, Discover: func(ctx context.Context) error {
				return discover(ctx, v)
			}, Operations: func() []finding.Operation {
				told = true
				var out []finding.Operation
				for _, e := range v.Sitemap.Entries() {
					out = append(out, e.Seen)
				}
				return out
			}})
		}}
	var dialer net.Dialer
	var got scan.Summary
	o := scan.Options{Live: &scan.Live{Target: target, ID: "t", Dial: dialer.DialContext,
		BrowserReason: "none in this test"}, Analyzers: []*scan.Analyzer{a}}
	if err := scan.Run(t.Context(), o, &got); err != nil {
		t.Fatal(err)
	}
	return got, told
}

// A target that refuses or fails with everything, or begins to, was not examined.
func TestDoubts(t *testing.T) {
	for _, test := range []struct {
		name   string
		status func(asked int) int
		reason string
	}{
		{"answers", func(int) int { return 200 }, ""},
		{"always fails", func(int) int { return 500 }, "none of the 2 operations that were found responded with " +
			"anything but an error, a denial or a redirect (500: Internal Server Error)"},
		{"always refuses", func(int) int { return 403 }, "none of the 2 operations that were found responded " +
			"with anything but an error, a denial or a redirect (403: the identity may not)"},
		{"has a refusal among others", func(asked int) int { return 200 + 203*(asked%2) }, ""},
		{"refuses from the sixth request on", func(asked int) int {
			if asked > 5 {
				return 403
			}
			return 200
		}, "the target denies with 403 what it allowed before: nothing was scanned from request 6 on"},
		{"refuses for a while", func(asked int) int {
			if asked > 5 && asked < 60 {
				return 403
			}
			return 200
		}, ""},
	} {
		var asked atomic.Int64
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(test.status(int(asked.Add(1))))
		}))
		got, _ := run(t, scan.Target{URL: server.URL, Parallel: 1}, func(ctx context.Context, v *livescan.Scan) error {
			for i := range 60 {
				r, err := message.Parse(server.URL + "/" + string(rune('a'+i%2)))
				if err != nil {
					return err
				}
				resp, err := v.Client.Send(ctx, r, v.As)
				if err != nil {
					return err
				}
				v.Sitemap.Add(r)
				v.Sitemap.RecordResponse(resp, "")
			}
			return nil
		})
		server.Close()
		reasons := got.Statuses[0].Reasons
		if (len(reasons) > 0) != (test.reason != "") || len(reasons) > 0 && !strings.Contains(reasons[0].Message,
			test.reason) {
			t.Errorf("%s: %v", test.name, reasons)
		}
	}
}

func TestVisit(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	defer server.Close()
	breaks := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Length", "100")
		_, _ = io.WriteString(w, "a part") // the client sees what came
	}))
	defer breaks.Close()
	ask := func(ctx context.Context, v *livescan.Scan) error {
		r, err := message.FromURL(v.Scope.Base())
		if err != nil {
			return err
		}
		resp, err := v.Client.Send(ctx, r, v.As)
		if err == nil {
			v.Sitemap.Add(r)
			v.Sitemap.RecordResponse(resp, "")
		}
		return err
	}
	dies := func(ctx context.Context, v *livescan.Scan) error {
		server.Close()
		for {
			if err := ask(ctx, v); traffic.IsFinal(err) {
				return err
			}
		}
	}
	for _, test := range []struct {
		name     string
		target   scan.Target
		discover func(context.Context, *livescan.Scan) error
		state    scan.State
		told     bool
		reason   string
	}{
		{"all is well", scan.Target{URL: server.URL}, ask, scan.Succeeded, true, ""},
		{"answers that break off", scan.Target{URL: breaks.URL}, ask, scan.Degraded, true, "returns responses that " +
			"were read only in part"},
		{"a check that is not there", scan.Target{URL: server.URL, Checks: []string{"nosuch"}}, ask, scan.Failed, false,
			`there is no check "nosuch"`},
		{"no address", scan.Target{URL: "ftp://x"}, ask, scan.Failed, false, "ftp"},
		{"steps without a browser",
			scan.Target{URL: server.URL,
				Identities: []scan.Identity{{Name: "jane", Steps: []scan.BrowserStep{{Open: "/"}}}}}, ask,
			scan.Failed, true, "to sign in needs a browser: none in this test"},
		{"a target that dies", scan.Target{URL: server.URL, Parallel: 1}, dies, scan.Degraded, true, "in a row"},
		{"a target that is dead", scan.Target{URL: server.URL}, ask, scan.Failed, true, "does not respond"},
	} {
		got, told := run(t, test.target, test.discover)
		if len(got.Statuses) != 1 {
			t.Fatalf("%s: %d analyzers", test.name, len(got.Statuses))
		}
		status := got.Statuses[0]
		var reasons []string
		for _, r := range status.Reasons {
			reasons = append(reasons, r.Message)
		}
		if status.State != test.state || told != test.told || !strings.Contains(strings.Join(reasons, "\n"),
			test.reason) {
			t.Errorf("%s: %s, told %t: %q", test.name, status.State, told, reasons)
		}
	}
}
