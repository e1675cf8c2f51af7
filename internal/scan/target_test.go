package scan_test

import (
	"encoding/json"
	"testing"
	"time"

	"merlon/internal/scan"
)

func TestProfileAllows(t *testing.T) {
	for i, p := range scan.Profiles {
		for k, what := range scan.Profiles {
			if got := p.Allows(what); got != (k <= i) {
				t.Errorf("%s allows %s: got %v", p, what, got)
			}
		}
	}
	if none := scan.Profile(""); !none.Allows(scan.Standard) || none.Allows(scan.Full) {
		t.Error("the default profile is not standard")
	}
}

func TestLimitPassive(t *testing.T) {
	for _, c := range []struct{ have, want scan.Target }{
		{scan.Target{}, scan.Target{Rate: scan.PassiveRate, Requests: scan.PassiveRequests, Parallel: 1}},
		{scan.Target{Rate: 300, Requests: 200_000, Parallel: 8},
			scan.Target{Rate: scan.PassiveRate, Requests: scan.PassiveRequests, Parallel: 1}},
		{scan.Target{Rate: 2, Requests: 20}, scan.Target{Rate: 2, Requests: 20, Parallel: 1}},
	} {
		got := c.have
		got.LimitPassive()
		if got.Rate != c.want.Rate || got.Requests != c.want.Requests || got.Parallel != c.want.Parallel {
			t.Errorf("%+v: got rate %v, %d requests, %d parallel", c.have, got.Rate, got.Requests, got.Parallel)
		}
	}
}

func TestLoginBody(t *testing.T) {
	for text, want := range map[string]string{
		`"a=b"`: "a=b", `{"user": "x"}`: `{"user": "x"}`, ` [1, 2] `: `[1, 2]`, `""`: "",
	} {
		var b scan.LoginBody
		if err := json.Unmarshal([]byte(text), &b); err != nil || string(b) != want {
			t.Errorf("%s: got %q, %v, want %q", text, b, err, want)
		}
	}
	var b scan.LoginBody
	if err := json.Unmarshal([]byte("12"), &b); err == nil {
		t.Errorf("a number is accepted as %q", b)
	}
}

func TestMonitor(t *testing.T) {
	var m scan.Monitor
	if _, ok := m.Now(); ok {
		t.Error("there is a state before Watch")
	}
	m.Watch(func() scan.Snapshot { return scan.Snapshot{Requests: 7} })
	if s, ok := m.Now(); !ok || s.Requests != 7 {
		t.Errorf("got %+v, %v", s, ok)
	}
	(*scan.Monitor)(nil).Watch(func() scan.Snapshot { return scan.Snapshot{} }) // must not panic
}

func TestFreshness(t *testing.T) {
	now := time.Date(2026, 3, 10, 12, 0, 0, 0, time.UTC)
	days := func(p *int) int {
		if p == nil {
			return -1
		}
		return *p
	}
	for _, c := range []struct {
		name string
		data scan.AdvisoryData
		want [4]int // records, imported, EPSS, KEV; -1: none
	}{
		{"nothing", scan.AdvisoryData{}, [4]int{-1, -1, -1, -1}},
		{"all", scan.AdvisoryData{Newest: now.AddDate(0, 0, -3), Imported: now.Add(-time.Hour),
			EPSS: &scan.FeedData{Date: now.AddDate(0, 0, -1)}, KEV: &scan.FeedData{Date: now.AddDate(0, 0, -40)}},
			[4]int{3, 0, 1, 40}},
		{"a clock that is behind", scan.AdvisoryData{Newest: now.Add(time.Hour)}, [4]int{0, -1, -1, -1}},
		{"a feed without a date", scan.AdvisoryData{KEV: &scan.FeedData{}}, [4]int{-1, -1, -1, -1}},
	} {
		f := c.data.Freshness(now)
		if got := [4]int{days(f.Records), days(f.Imported), days(f.EPSS), days(f.KEV)}; got != c.want {
			t.Errorf("%s: got %v, want %v", c.name, got, c.want)
		}
	}
}
