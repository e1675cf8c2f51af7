package triage

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"merlon/internal/errs"
	"merlon/internal/finding"
	"merlon/internal/run"
	"merlon/internal/scan"
	"merlon/internal/tenant"
)

// started is when the run of the tests was created.
var started = time.Date(2026, 5, 4, 3, 2, 1, 0, time.UTC)

// newDiffer returns a differ of a run on a branch with the decisions.
func newDiffer(decisions map[Digest]PriorDecision) *differ {
	in := &ingest{size: 1000, run: &run.Run{ID: "this", CreatedAt: started}, branch: &Branch{Decisions: decisions}}
	return &differ{in: in, w: &writer{in: in, batch: newBatch(in.run)}}
}

// high is the bucket of findings of high severity with the status.
func high(s Status) Bucket {
	return Bucket{Analysis: finding.SAST, Severity: finding.High, Status: s, Priority: Normal}
}

// TestOpened gives a new finding what was decided about its flaw on other branches.
func TestOpened(t *testing.T) {
	flaw := Digest{1}
	for _, c := range []struct {
		name    string
		decided PriorDecision
		status  Status
		pinned  Priority // empty: the one that was computed
	}{
		{"nothing was decided", PriorDecision{}, ToVerify, ""},
		{"ignored", PriorDecision{Status: Ignored}, Ignored, ""},
		{"confirmed", PriorDecision{Status: Confirmed}, Confirmed, ""},
		{"resolved elsewhere is open here", PriorDecision{Status: Resolved}, ToVerify, ""},
		{"a priority", PriorDecision{Priority: Urgent}, ToVerify, Urgent},
		{"both", PriorDecision{Status: Ignored, Priority: VeryLow}, Ignored, VeryLow},
	} {
		d := newDiffer(map[Digest]PriorDecision{flaw: c.decided})
		row := FindingRow{Flaw: flaw, Bucket: high(ToVerify), Risk: 7500}
		d.openFinding(&row)
		want := high(c.status)
		if c.pinned != "" {
			want.Priority = c.pinned
		}
		if row.Bucket != want || row.Pinned != (c.pinned != "") || !row.New || row.ID == "" || row.Effect != Opened {
			t.Errorf("%s: %+v, want %+v", c.name, row, want)
		}
		if diff := cmp.Diff(Counts{want: {1, 7500}}, d.w.batch.Counts); diff != "" {
			t.Errorf("%s, counted (-want +got):\n%s", c.name, diff)
		}
		if d.w.batch.Opened[AnalysisSeverity{finding.SAST, finding.High}] != 1 {
			t.Errorf("%s: it is not counted as opened: %v", c.name, d.w.batch.Opened)
		}
	}
}

// TestChanged brings a known finding to what a scan reports, with what people want to know of it.
func TestChanged(t *testing.T) {
	before, after := started.Add(-time.Hour), started.Add(time.Hour)
	flaw := Digest{1}
	for _, c := range []struct {
		name     string
		known    Existing
		decided  Status
		report   finding.Finding
		severity finding.Severity // of the report
		status   Status
		effect   Effect
		history  string // kinds with values
	}{
		{"its text alone", Existing{Bucket: high(Confirmed), Path: "a.go", Line: 3}, "",
			finding.Finding{Location: finding.Location{Path: "a.go", StartLine: 3}}, finding.High, Confirmed, Changed, ""},
		{"another line", Existing{Bucket: high(ToVerify), Path: "a.go", Line: 3}, "",
			finding.Finding{Location: finding.Location{Path: "a.go", StartLine: 9}}, finding.High, ToVerify, Moved, ""},
		{"another file", Existing{Bucket: high(Ignored), Path: "a.go", Line: 3}, "",
			finding.Finding{Location: finding.Location{Path: "b.go", StartLine: 3}}, finding.High, Ignored, Moved,
			"path a.go>b.go"},
		{"another severity", Existing{Bucket: high(ToVerify)}, "", finding.Finding{}, finding.Low, ToVerify, Changed,
			"severity high>low"},
		{"gone and back", Existing{Bucket: high(Resolved), Gone: true}, "", finding.Finding{}, finding.High, ToVerify,
			Reopened, "status resolved>to_verify"},
		{"gone, ignored and back", Existing{Bucket: high(Resolved), Gone: true}, Ignored, finding.Finding{},
			finding.High, Ignored, Reopened, "status resolved>ignored"},
		{"gone, confirmed and back", Existing{Bucket: high(Resolved), Gone: true}, Confirmed, finding.Finding{},
			finding.High, ToVerify, Reopened, "status resolved>to_verify"},
		{"called resolved before the scan", Existing{Bucket: high(Resolved), UpdatedAt: before}, Resolved,
			finding.Finding{}, finding.High, ToVerify, Reopened, "status resolved>to_verify"},
		{"called resolved while the scan ran", Existing{Bucket: high(Resolved), UpdatedAt: after}, Resolved,
			finding.Finding{}, finding.High, Resolved, Changed, ""},
	} {
		d := newDiffer(map[Digest]PriorDecision{flaw: {Status: c.decided}})
		known := c.known
		known.ID, known.Flaw, known.Risk = "id", flaw, 7500
		bucket := high(ToVerify)
		bucket.Severity = c.severity
		row := FindingRow{Flaw: flaw, Bucket: bucket, Risk: 1000, Report: &c.report}
		d.changeFinding(&row, &known)
		if row.ID != "id" || row.New || row.Bucket.Status != c.status || row.Effect != c.effect {
			t.Errorf("%s: %+v", c.name, row)
		}
		var history []string
		for _, h := range d.w.batch.Changes {
			history = append(history, string(h.Kind)+" "+h.Previous+">"+h.Value)
			if h.Finding != "id" || h.Flaw != flaw || h.Run != "this" || h.Reason == "" || h.By != "" {
				t.Errorf("%s: entry %+v", c.name, h)
			}
		}
		if strings.Join(history, ", ") != c.history {
			t.Errorf("%s: history %q, want %q", c.name, history, c.history)
		}
		total := Count{}
		for _, n := range d.w.batch.Counts {
			total.N, total.Risk = total.N+n.N, total.Risk+n.Risk
		}
		if total != (Count{0, 1000 - 7500}) {
			t.Errorf("%s: counted %v", c.name, d.w.batch.Counts)
		}
		if known.LastRun != "this" || known.LastEffect != c.effect {
			t.Errorf("%s: the run is not recorded: %+v", c.name, known)
		}
	}
}

// TestPinned keeps the priority that a person chose, whatever the scan computes.
func TestPinned(t *testing.T) {
	for _, pinned := range []bool{false, true} {
		d := newDiffer(nil)
		known := Existing{Bucket: high(ToVerify), Pinned: pinned}
		row := FindingRow{Bucket: high(ToVerify), Score: 804, Report: &finding.Finding{}}
		row.Bucket.Priority = CriticalUrgent
		d.changeFinding(&row, &known)
		want, changes := CriticalUrgent, 1
		if pinned {
			want, changes = Normal, 0
		}
		if row.Bucket.Priority != want || row.Pinned != pinned || len(d.w.batch.Changes) != changes {
			t.Errorf("pinned %t: %+v, %+v", pinned, row, d.w.batch.Changes)
		}
		if !pinned && d.w.batch.Changes[0].Reason != "computed score 80" {
			t.Errorf("the reason is %q", d.w.batch.Changes[0].Reason)
		}
	}
}

// TestAppliedAgain keeps what an earlier try of the same run has done first.
func TestAppliedAgain(t *testing.T) {
	for _, c := range []struct {
		last   run.ID
		first  Effect
		effect Effect
	}{{"this", Opened, Opened}, {"this", Reopened, Reopened}, {"other", Opened, Changed}} {
		d := newDiffer(nil)
		known := Existing{Bucket: high(ToVerify), LastRun: c.last, LastEffect: c.first}
		row := FindingRow{Bucket: high(ToVerify), Report: &finding.Finding{}}
		d.changeFinding(&row, &known)
		if row.Effect != c.effect {
			t.Errorf("after %d by %s: %d, want %d", c.first, c.last, row.Effect, c.effect)
		}
	}
}

// TestResolvedByScan ends findings that a scan looked for in vain.
func TestResolvedByScan(t *testing.T) {
	for _, c := range []struct {
		status          Status
		effect          Effect
		solved, changes int
	}{{ToVerify, Closed, 1, 1}, {Confirmed, Closed, 1, 1}, {Ignored, Dropped, 1, 1}, {Resolved, Dropped, 0, 0}} {
		d := newDiffer(nil)
		known := Existing{ID: "id", Bucket: high(c.status), Risk: 7500}
		d.w.resolveFinding(&known)
		if known.LastEffect != c.effect || len(d.w.batch.Changes) != c.changes ||
			d.w.batch.Solved[known.Bucket.AnalysisSeverity()] != c.solved || len(d.w.batch.Resolved) != 1 {
			t.Errorf("%s: effect %d, changes %v, solved %v", c.status, known.LastEffect, d.w.batch.Changes,
				d.w.batch.Solved)
		}
		want := Counts{}
		want.Move(high(c.status), high(Resolved), 7500)
		if diff := cmp.Diff(want, d.w.batch.Counts); diff != "" {
			t.Errorf("%s, counted (-want +got):\n%s", c.status, diff)
		}
	}
}

// TestCountChanges counts what a run did, in all of its tries.
func TestCountChanges(t *testing.T) {
	in := newDiffer(nil).in
	in.report = &report{entries: make([]entry, 6)}
	by := func(effect Effect, s Status) Existing {
		return Existing{Bucket: high(s), LastRun: "this", LastEffect: effect}
	}
	in.known = []Existing{by(Opened, ToVerify), by(Reopened, ToVerify), by(Moved, ToVerify), by(Changed, Ignored),
		by(Closed, Resolved), by(Dropped, Resolved), {Bucket: high(Confirmed), LastRun: "other", LastEffect: Closed}}
	in.plan = []step{{known: -1}, {known: 0}, {known: 1}, {known: 2}, {known: 3}, {known: -1, quiet: true}}
	want := run.Changes{Found: 5, New: 2, Reopened: 1, Moved: 1, Unchanged: 1, Resolved: 2, Open: 3}
	if diff := cmp.Diff(want, in.countChanges()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestSuspicious doubts a scan by which many findings went at once.
func TestSuspicious(t *testing.T) {
	for _, c := range []struct {
		closed, left int
		want         bool
	}{{20, 0, false}, {21, 0, true}, {21, 49, false}, {21, 48, true}, {300, 701, false}, {301, 699, true}} {
		in := newDiffer(nil).in
		in.report = &report{}
		for n := range c.closed + c.left {
			k := Existing{Bucket: high(ToVerify)}
			if n < c.closed {
				k = Existing{Bucket: high(Resolved), LastRun: "this", LastEffect: Closed}
			}
			in.known = append(in.known, k)
		}
		if got := in.countChanges(); got.Suspicious != c.want {
			t.Errorf("%d of %d gone: %+v", c.closed, c.closed+c.left, got)
		}
	}
}

// TestReportRefuses gives messages that no scanner of ours writes: each is refused with what is wrong.
func TestReportRefuses(t *testing.T) {
	rule := finding.Rule{ID: "sast/x", Analysis: finding.SAST, Severity: finding.High}
	good := finding.Finding{RuleID: "sast/x", Analysis: finding.SAST, Severity: finding.High, Analyzer: "sast/a",
		Location:    finding.Location{Path: "a.go", StartLine: 1},
		Fingerprint: finding.Fingerprint{Place: strings.Repeat("0a", 16), Flaw: strings.Repeat("0b", 16)}}
	for _, c := range []struct {
		name   string
		change func(*finding.Finding)
		want   string // of the error; "": it is taken
	}{
		{"a finding", func(*finding.Finding) {}, ""},
		{"a rule that is not described", func(f *finding.Finding) { f.RuleID = "sast/y" }, `"sast/y", which is not described`},
		{"an analysis", func(f *finding.Finding) { f.Analysis = "guess" }, `no analysis "guess"`},
		{"a severity", func(f *finding.Finding) { f.Severity = "bad" }, `no severity "bad"`},
		{"an analyzer", func(f *finding.Finding) { f.Analyzer = "sast/b" }, `"sast/b" is not part of the scan`},
		{"a long path", func(f *finding.Finding) { f.Location.Path = strings.Repeat("x", maxPath+1) }, "too long"},
		{"a long message", func(f *finding.Finding) { f.Message = strings.Repeat("x", maxText+1) }, "too long"},
		{"a NUL", func(f *finding.Finding) { f.Message = "a\x00b" }, "NUL"},
		{"a line below zero", func(f *finding.Finding) { f.Location.StartLine = -1 }, "lines"},
		{"a line of no file", func(f *finding.Finding) { f.Location.EndLine = 1<<30 + 1 }, "lines"},
		{"no fingerprint", func(f *finding.Finding) { f.Fingerprint.Place = "" }, "not a fingerprint"},
		{"a fingerprint of letters", func(f *finding.Finding) { f.Fingerprint.Flaw = strings.Repeat("z", 32) },
			"not a fingerprint"},
		{"a package without a name", func(f *finding.Finding) { f.Package = &finding.PackageMatch{} }, "not whole"},
		{"a package with a NUL", func(f *finding.Finding) {
			f.Package = &finding.PackageMatch{Package: finding.Package{Name: "a", Version: "\x00"}}
		}, "NUL"},
	} {
		r := newReport(tenant.Scope{}, &run.Run{})
		if err := r.Config(&scan.Config{Analyzers: []string{"sast/a"}}); err != nil {
			t.Fatal(err)
		}
		if err := r.Rule(&rule); err != nil {
			t.Fatal(err)
		}
		f := good
		c.change(&f)
		err := r.Finding(&f)
		switch {
		case c.want == "" && (err != nil || len(r.entries) != 1):
			t.Errorf("%s: %v", c.name, err)
		case c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want) || len(r.entries) > 0):
			t.Errorf("%s: error %v, want %q", c.name, err, c.want)
		}
	}
}

// TestReportedOnce keeps a flaw once that is reported at its place twice.
func TestReportedOnce(t *testing.T) {
	r := newReport(tenant.Scope{}, &run.Run{})
	if err := r.Config(&scan.Config{Analyzers: []string{"a"}}); err != nil {
		t.Fatal(err)
	}
	if err := r.Rule(&finding.Rule{ID: "x", Analysis: finding.SAST, Severity: finding.Low}); err != nil {
		t.Fatal(err)
	}
	f := finding.Finding{RuleID: "x", Analysis: finding.SAST, Severity: finding.Low, Analyzer: "a", Language: "Go",
		Fingerprint: finding.Fingerprint{Place: strings.Repeat("0a", 16), Flaw: strings.Repeat("0b", 16)}}
	for range 2 {
		if err := r.Finding(&f); err != nil {
			t.Fatal(err)
		}
	}
	if len(r.entries) != 1 || !r.repeated[1] || r.repeated[0] || !r.languages["Go"] {
		t.Errorf("entries %v, repeated %v, languages %v", r.entries, r.repeated, r.languages)
	}
}

// TestReportedRules refuses rules that are not whole, or come twice.
func TestReportedRules(t *testing.T) {
	whole := finding.Rule{ID: "x", Analysis: finding.SAST, Severity: finding.Low}
	for _, c := range []struct {
		name string
		rule finding.Rule
		want string
	}{
		{"no name", finding.Rule{Analysis: finding.SAST, Severity: finding.Low}, "not whole"},
		{"a long name", finding.Rule{ID: strings.Repeat("x", maxRuleID+1), Analysis: finding.SAST, Severity: finding.Low},
			"not whole"},
		{"no analysis", finding.Rule{ID: "y", Severity: finding.Low}, "not whole"},
		{"no severity", finding.Rule{ID: "y", Analysis: finding.SAST}, "not whole"},
		{"twice", whole, `"x" is described twice`},
	} {
		r := newReport(tenant.Scope{Organization: "org"}, &run.Run{})
		if err := r.Rule(&whole); err != nil {
			t.Fatal(err)
		}
		if err := r.Rule(&c.rule); err == nil || !strings.Contains(err.Error(), c.want) || len(r.rules) != 1 {
			t.Errorf("%s: %v", c.name, err)
		}
		if r.rules["x"].id != RuleID("org", "x") {
			t.Errorf("the rule's identifier is %s", r.rules["x"].id)
		}
	}
}

// TestReportedNames refuses what a scan says of its image and system that a database cannot store.
func TestReportedNames(t *testing.T) {
	r := newReport(tenant.Scope{}, &run.Run{})
	if err := r.Config(&scan.Config{Image: &scan.Image{Name: "a\x00"}}); !errs.Is(err, errs.Invalid) {
		t.Errorf("an image with a NUL: %v", err)
	}
	if err := r.Status(&scan.Status{OS: &scan.OS{ID: strings.Repeat("x", maxText+1)}}); !errs.Is(err, errs.Invalid) {
		t.Errorf("a system with a long name: %v", err)
	}
	if err := r.Status(&scan.Status{OS: &scan.OS{ID: "debian", Version: "12"}}); err != nil {
		t.Errorf("a system: %v", err)
	}
	for _, o := range []finding.Operation{{URL: "http://a/", Outcome: "perhaps"},
		{URL: "http://a/\x00", Outcome: finding.Reached},
		{URL: strings.Repeat("x", maxText+1), Outcome: finding.Reached}} {
		if err := r.Operation(&o); err == nil {
			t.Errorf("operation %.40q with outcome %q is taken", o.URL, o.Outcome)
		}
	}
	if err := r.Operation(&finding.Operation{URL: "http://a/", Outcome: finding.Reached}); err != nil ||
		len(r.operations) != 1 {
		t.Errorf("an operation: %v", err)
	}
}

// TestFilter selects the findings of a bucket by what buckets tell apart.
func TestFilter(t *testing.T) {
	b := BranchBucket{Branch: "main", Bucket: high(ToVerify)}
	for _, c := range []struct {
		name   string
		filter Filter
		want   bool
	}{
		{"nothing is asked", Filter{}, true},
		{"its branch", Filter{Branch: "main"}, true},
		{"another branch", Filter{Branch: "dev"}, false},
		{"its analysis", Filter{Analysis: finding.SAST}, true},
		{"another analysis", Filter{Analysis: finding.SCA}, false},
		{"one of its severities", Filter{Severities: []finding.Severity{finding.Low, finding.High}}, true},
		{"another severity", Filter{Severities: []finding.Severity{finding.Low}}, false},
		{"its status", Filter{Statuses: []Status{ToVerify}}, true},
		{"other statuses", Filter{Statuses: []Status{Ignored, Resolved}}, false},
		{"its priority", Filter{Priorities: []Priority{Normal}}, true},
		{"another priority", Filter{Priorities: []Priority{Urgent}}, false},
		{"all of it", Filter{Branch: "main", Analysis: finding.SAST, Statuses: []Status{ToVerify}}, true},
		{"all but one", Filter{Branch: "main", Analysis: finding.SAST, Statuses: []Status{Ignored}}, false},
		{"what has no findings", Filter{MatchNone: true}, false},
	} {
		if got := c.filter.Selects(b); got != c.want {
			t.Errorf("%s: %t", c.name, got)
		}
	}
}

// TestExploitedByScan tells an attack that a live scan has made from what it has only seen.
func TestExploitedByScan(t *testing.T) {
	two := make([]finding.Exchange, 2)
	for _, c := range []struct {
		name string
		f    finding.Finding
		want bool
	}{
		{"of the source", finding.Finding{Severity: finding.Critical}, false},
		{"a payload", finding.Finding{Severity: finding.High, Live: &finding.Live{Payload: "'"}}, true},
		{"responses that are compared", finding.Finding{Severity: finding.High, Live: &finding.Live{Exchanges: two}}, true},
		{"one response", finding.Finding{Severity: finding.High, Live: &finding.Live{Exchanges: two[:1]}}, false},
		{"of low severity", finding.Finding{Severity: finding.Low, Live: &finding.Live{Payload: "'"}}, false},
		{"of low confidence", finding.Finding{Severity: finding.High, Confidence: finding.LowConfidence,
			Live: &finding.Live{Payload: "'"}}, false},
	} {
		if got := isExploitedByScan(&c.f); got != c.want {
			t.Errorf("%s: %t", c.name, got)
		}
	}
}

// TestImageRecord records what a scan saw of its image, and nothing of one that it could not fetch.
func TestImageRecord(t *testing.T) {
	image := &run.Image{Reference: "docker.io/library/web:1.2", Repository: "docker.io/library/web"}
	status := func(state scan.State) []scan.Status {
		return []scan.Status{{Analysis: finding.Container, State: state, OS: &scan.OS{ID: "alpine"}}}
	}
	for _, c := range []struct {
		name     string
		run      run.Run
		statuses []scan.Status
		entries  int
		want     bool
	}{
		{"source", run.Run{}, status(scan.Succeeded), 0, false},
		{"an image", run.Run{Image: image}, status(scan.Succeeded), 0, true},
		{"one that was not fetched", run.Run{Image: image}, status(scan.Failed), 0, false},
		{"one that failed later", run.Run{Image: image}, status(scan.Failed), 1, true},
		{"no analyzer of images", run.Run{Image: image}, []scan.Status{{Analysis: finding.SCA}}, 1, false},
	} {
		in := &ingest{run: &c.run, report: &report{statuses: c.statuses, entries: make([]entry, c.entries),
			config: &scan.Config{Image: &scan.Image{Digest: "sha256:aa", Platform: "linux/amd64"}}}}
		got := in.imageRecord()
		if (got != nil) != c.want {
			t.Errorf("%s: %+v", c.name, got)
			continue
		}
		if got != nil && (got.Tag != "1.2" || got.Digest != "sha256:aa" || got.OS.ID != "alpine" ||
			got.State != c.statuses[0].State || got.Repository != image.Repository) {
			t.Errorf("%s: %+v", c.name, got)
		}
	}
}

// TestLanguages names the languages of source: those that the run counted, or those of findings.
func TestLanguages(t *testing.T) {
	found := map[string]bool{"Go": true, "C": true}
	for _, c := range []struct {
		name string
		run  run.Run
		want []string
	}{
		{"of findings", run.Run{}, []string{"C", "Go"}},
		{"of the run", run.Run{Languages: []string{"Java", "Ada", "Java"}}, []string{"Ada", "Java"}},
		{"of an image", run.Run{Image: &run.Image{}, Languages: []string{"Java"}}, nil},
		{"of an application", run.Run{Target: &run.Target{}}, nil},
	} {
		in := &ingest{run: &c.run, report: &report{languages: found}}
		if diff := cmp.Diff(c.want, in.languageNames()); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.name, diff)
		}
	}
}
