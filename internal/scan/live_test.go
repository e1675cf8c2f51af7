package scan_test

import (
	"context"
	"errors"
	"net"
	"net/url"
	"strings"
	"testing"

	"merlon/internal/finding"
	"merlon/internal/scan"
	"merlon/internal/scan/scantest"
)

func liveAnalyzer(f func(*scan.LivePass) error) *scan.Analyzer {
	return &scan.Analyzer{ID: "dast/test", Version: 1, Analysis: finding.DAST, Doc: "# Test\n", Live: f}
}

func noDial(context.Context, string, string) (net.Conn, error) { return nil, errors.New("no network") }

func TestLive(t *testing.T) {
	target := scan.Target{URL: "http://shop.example.org:8080/store/"}
	rule := &finding.Rule{ID: "dast/test/flaw", Analysis: finding.DAST, Name: "Flaw", ShortDescription: "A flaw",
		Severity: finding.High}
	file := &scan.Analyzer{ID: "sast/test", Version: 1, Analysis: finding.SAST, Doc: "# F\n", Match: func(string) bool {
		return true
	},
		File: func(*scan.FilePass) error { return errors.New("a live scan has no files") }}
	live := liveAnalyzer(func(p *scan.LivePass) error {
		if p.Target.URL != target.URL || p.ID != "s1" || p.Deadline.IsZero() {
			t.Errorf("pass of %q, id %q, deadline %s", p.Target.URL, p.ID, p.Deadline)
		}
		p.Operation(finding.Operation{Method: "POST", URL: "http://shop.example.org:8080/store/b", Origin: "form",
			Outcome: finding.Refused, Reason: "403", Parameters: []string{}})
		p.Operation(finding.Operation{Method: "GET", URL: "http://shop.example.org:8080/store/a", Origin: "link",
			Outcome: finding.Reached, Parameters: []string{}})
		at, _ := url.Parse("http://shop.example.org:8080/store/a?x=1")
		p.Report(rule, finding.Finding{Location: finding.Location{Path: p.Target.Path(at)}, Identity: "GET query:x",
			Live: &finding.Live{URL: at.String(), Method: "GET"}})
		return nil
	})
	var text strings.Builder
	got := scantest.Kept{}
	err := scan.Run(t.Context(), scan.Options{Live: &scan.Live{Target: target, ID: "s1", Dial: noDial},
		Analyzers: []*scan.Analyzer{file, live}},
		scan.Tee(&got, scan.Encode(&text)))
	if err != nil {
		t.Fatal(err)
	}
	if len(got.Statuses) != 1 || got.Statuses[0].State != scan.Succeeded ||
		got.Statuses[0].Root != "shop.example.org:8080/store" {
		t.Errorf("statuses %+v", got.Statuses)
	}
	if len(got.Findings) != 1 || got.Findings[0].Location.Path != "shop.example.org:8080/store/a" ||
		got.Findings[0].Analysis != finding.DAST {
		t.Errorf("findings %+v", got.Findings)
	}
	if len(got.Operations) != 2 || got.Operations[0].Outcome != finding.Reached || got.Operations[1].Reason != "403" {
		t.Errorf("operations %+v", got.Operations)
	}
	again := scantest.Kept{}
	if err := scan.Decode(strings.NewReader(text.String()), &again); err != nil || len(again.Operations) != 2 ||
		again.Findings[0].Live == nil {
		t.Errorf("decoded %d operations, %v", len(again.Operations), err)
	}
	if again.Setup.Target != target.URL {
		t.Errorf("target %q", again.Setup.Target)
	}
}

func TestLiveWithoutNetworkFails(t *testing.T) {
	live := liveAnalyzer(func(*scan.LivePass) error { return nil })
	got := scantest.Kept{}
	if err := scan.Run(t.Context(), scan.Options{Live: &scan.Live{Target: scan.Target{URL: "http://a/"}},
		Analyzers: []*scan.Analyzer{live}}, &got); err != nil {
		t.Fatal(err)
	}
	if len(got.Statuses) != 1 || got.Statuses[0].State != scan.Failed {
		t.Errorf("statuses %+v", got.Statuses)
	}
}

func TestLiveIsNotAskedOfATree(t *testing.T) {
	live := liveAnalyzer(func(*scan.LivePass) error { return nil })
	got := scantest.Kept{}
	o := scan.Options{Root: t.TempDir(), Analyses: []finding.Analysis{finding.DAST}, Analyzers: []*scan.Analyzer{live}}
	if err := scan.Run(t.Context(), o, &got); err != nil {
		t.Fatal(err)
	}
	if s := got.Statuses; len(s) != 1 || s[0].State != scan.Failed ||
		!strings.Contains(s[0].Reasons[0].Message, "merlon dast") {
		t.Errorf("statuses %+v", s)
	}
}

func TestTargetPath(t *testing.T) {
	for _, c := range []struct{ target, address, want string }{
		{"https://example.org", "https://example.org/", "example.org"},
		{"https://example.org", "https://example.org/a/b?c", "example.org/a/b"},
		{"https://example.org:443", "https://example.org/a", "example.org/a"},
		{"http://example.org:80/app/", "http://example.org/app/x", "example.org/app/x"},
		{"http://example.org:443", "http://example.org:443/a", "example.org:443/a"},
		{"https://example.org/app/", "https://example.org/app/x", "example.org/app/x"},
		{"https://example.org/app/", "https://example.org/other", "example.org/app/example.org/other"},
		{"https://example.org", "https://example.org/../../etc", "example.org/etc"},
		{"https://example.org", "https://example.org/a\x01//b/", "example.org/a\x01/b"},
	} {
		u := &url.URL{Path: c.address}
		if parsed, err := url.Parse(c.address); err == nil {
			u = parsed
		} else {
			u = &url.URL{Host: "example.org", Path: strings.TrimPrefix(c.address, "https://example.org")}
		}
		target := scan.Target{URL: c.target}
		if got := target.Path(u); got != c.want {
			t.Errorf("%s at %s: %q, want %q", c.address, c.target, got, c.want)
		}
	}
}
