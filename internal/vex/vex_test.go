package vex_test

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"merlon/internal/errs"
	"merlon/internal/finding"
	"merlon/internal/scan"
	"merlon/internal/vex"
)

const openDocument = `{"@context": "https://openvex.dev/ns/v0.2.0", "@id": "https://example.test/vex-1", "author": "Jane", "timestamp": "2026-01-01T00:00:00Z", "version": 1,
"statements": [
 {"vulnerability": {"name": "CVE-2026-1", "aliases": ["GHSA-aaaa"]}, "products": [{"@id": "pkg:npm/left-pad@1.3.0"}], "status": "affected", "action_statement": "wait", "timestamp": "2025-12-01T00:00:00Z"},
 {"vulnerability": {"name": "CVE-2026-1"}, "products": [{"@id": "pkg:npm/left-pad@1.3.0"}], "status": "not_affected", "justification": "vulnerable_code_not_in_execute_path"},
 {"vulnerability": {"name": "CVE-2026-2"}, "products": [{"@id": "https://example.test/shop", "subcomponents": [{"identifiers": {"purl": "pkg:npm/%40scope/thing"}}]}], "status": "fixed"},
 {"vulnerability": {"name": "CVE-2026-3"}, "products": [{"@id": "pkg:deb/debian/curl@8.0?arch=amd64"}], "status": "not_affected", "impact_statement": "no network"},
 {"vulnerability": {"name": "CVE-2026-4"}, "products": [{"@id": "pkg:npm/left-pad"}], "status": "fine"}
]}`

const oldDocument = `{"@context": "https://openvex.dev/ns", "author": "Jane", "timestamp": "2026-01-01T00:00:00Z",
"statements": [{"vulnerability": "CVE-2026-1", "products": ["pkg:oci/shop"], "subcomponents": ["pkg:npm/left-pad@1.3.0"], "status": "fixed"}]}`

const cycloneDocument = `{"bomFormat": "CycloneDX", "specVersion": "1.6", "metadata": {"timestamp": "2026-02-01T00:00:00Z"},
"components": [{"bom-ref": "a", "name": "a", "components": [{"bom-ref": "b", "purl": "pkg:npm/left-pad@1.3.0"}]}],
"vulnerabilities": [
 {"id": "SNYK-1", "references": [{"id": "CVE-2026-1"}], "analysis": {"state": "false_positive", "justification": "code_not_reachable", "detail": "never called"}, "affects": [{"ref": "b"}]},
 {"id": "CVE-2026-2", "analysis": {"state": "resolved"}, "affects": [{"ref": "urn:cdx:3e671687-395b-41f5-a30f-a58921a69b79/1#pkg:npm/%40scope/thing@2.0.0"}]},
 {"id": "CVE-2026-3", "affects": [{"ref": "b"}]}
]}`

func read(t *testing.T, documents ...string) *vex.Document {
	t.Helper()
	b := &vex.Document{}
	for _, text := range documents {
		if err := b.Read(strings.NewReader(text), "vex.json"); err != nil {
			t.Fatal(err)
		}
	}
	return b
}

func TestAbout(t *testing.T) {
	for _, tt := range []struct {
		document, purl string
		advisory       finding.Advisory
		want           finding.VEXStatus // empty: nothing is said
	}{
		// the later one
		{openDocument, "pkg:npm/left-pad@1.3.0", finding.Advisory{ID: "CVE-2026-1"}, finding.VEXNotAffected},
		{openDocument, "pkg:npm/left-pad@1.3.0", finding.Advisory{ID: "X", Aliases: []string{"cve-2026-1"}},
			finding.VEXNotAffected},
		{openDocument, "pkg:npm/left-pad@1.3.0", finding.Advisory{ID: "X", GHSA: "GHSA-aaaa"}, finding.VEXAffected},
		{openDocument, "pkg:npm/left-pad@1.3.1", finding.Advisory{ID: "CVE-2026-1"}, ""},
		{openDocument, "pkg:npm/right-pad@1.3.0", finding.Advisory{ID: "CVE-2026-1"}, ""},
		{openDocument, "", finding.Advisory{ID: "CVE-2026-1"}, ""},
		{openDocument, "pkg:npm/%40scope/thing@2.0.0", finding.Advisory{ID: "CVE-2026-2"}, finding.VEXFixed},
		{openDocument, "pkg:npm/thing@2.0.0", finding.Advisory{ID: "CVE-2026-2"}, ""},
		{openDocument, "pkg:deb/debian/curl@8.0?arch=amd64&distro=debian-12", finding.Advisory{ID: "CVE-2026-3"},
			finding.VEXNotAffected},
		{openDocument, "pkg:deb/debian/curl@8.0?arch=arm64", finding.Advisory{ID: "CVE-2026-3"}, ""},
		{openDocument, "pkg:npm/left-pad@1.3.0", finding.Advisory{ID: "CVE-2026-4"}, ""}, // a status that nobody knows
		{oldDocument, "pkg:npm/left-pad@1.3.0", finding.Advisory{ID: "CVE-2026-1"}, finding.VEXFixed},
		{cycloneDocument, "pkg:npm/left-pad@1.3.0", finding.Advisory{ID: "CVE-2026-1"}, finding.VEXNotAffected},
		{cycloneDocument, "pkg:npm/%40scope/thing@2.0.0", finding.Advisory{ID: "CVE-2026-2"}, finding.VEXFixed},
		{cycloneDocument, "pkg:npm/left-pad@1.3.0", finding.Advisory{ID: "CVE-2026-3"}, ""}, // not analysed
	} {
		s := read(t, tt.document).Find(&finding.Package{PURL: tt.purl}, &tt.advisory)
		if got := s; (got == nil) != (tt.want == "") || got != nil && got.Status != tt.want {
			t.Errorf("%s of %s: got %+v, want %q", tt.advisory.ID, tt.purl, got, tt.want)
		}
	}
	want := &finding.VEXStatement{Status: finding.VEXNotAffected, Justification: "code_not_reachable",
		Text: "never called", Time: "2026-02-01T00:00:00Z", File: "vex.json"}
	left := &finding.Package{PURL: "pkg:npm/left-pad@1.3.0"}
	if diff := cmp.Diff(want, read(t, openDocument, cycloneDocument).Find(left,
		&finding.Advisory{ID: "CVE-2026-1"})); diff != "" {
		t.Errorf("of two documents (-want +got):\n%s", diff)
	}
}

// What clears one version clears nothing while another stays.
func TestJudge(t *testing.T) {
	b := read(t, openDocument)
	of := func(urls ...string) *finding.PackageMatch {
		m := &finding.PackageMatch{Package: finding.Package{PURL: urls[0]}}
		for _, u := range urls[1:] {
			m.Also = append(m.Also, finding.PackageMatch{Package: finding.Package{PURL: u}})
		}
		return m
	}
	one, other := "pkg:npm/left-pad@1.3.0", "pkg:npm/another@1.0.0"
	for _, tt := range []struct {
		match *finding.PackageMatch
		want  bool
	}{{of(one), true}, {of(other), false}, {of(one, one), true}, {of(one, other), false}, {of(other, one), false},
		{of(one, other, one), false}} {
		if got := b.Apply(tt.match, &finding.Advisory{ID: "CVE-2026-1"}); got.Clears() != tt.want {
			t.Errorf("%+v: got %+v, want cleared %v", tt.match, got, tt.want)
		}
	}
}

func TestExplain(t *testing.T) {
	s := &finding.VEXStatement{Status: finding.VEXNotAffected, Justification: "component_not_present",
		Text: "not\nbuilt\x00 in", Author: "Jo", Time: "2026-01-01"}
	if got, want := vex.Explain(s), "not affected (component_not_present): not built in – Jo, "+
		"2026-01-01"; got != want || vex.Justification(got) != "component_not_present" {
		t.Errorf("got %q, want %q", got, want)
	}
	s.Text = strings.Repeat("ü\xff", 1000)
	if got := vex.Explain(s); len([]rune(got)) != 500 {
		t.Errorf("got %d characters", len([]rune(got)))
	}
	if got := vex.Justification("why not"); got != "" {
		t.Errorf("got %q", got)
	}
}

// Documents that would cost more than they are worth are refused.
func TestTooManyStatements(t *testing.T) {
	list := func(n int, item string) string { return strings.TrimSuffix(strings.Repeat(item+",", n), ",") }
	head := `{"@context":"https://openvex.dev/ns/v0.2.0","statements":[{"status":"fixed","vulnerability":{"name":"CVE-1","aliases":[`
	for _, text := range []string{
		head + list(101, `"x"`) + `]},"products":[{"@id":"pkg:npm/a@1"}]}]}`,
		head + `"A","B","C","D","E","F","G","H","I"]},"products":[` + list(20_001, `{"@id":"pkg:npm/a@1"}`) + `]}]}`,
	} {
		if err := new(vex.Document).Read(strings.NewReader(text), "vex.json"); !errs.Is(err, errs.TooLarge) {
			t.Errorf("got %v", err)
		}
	}
}

func TestNoDocuments(t *testing.T) {
	for _, text := range []string{"", "[]", "{}", `{"bomFormat": "Other"}`, `{"@context": 1}`,
		`{"@context": "https://openvex.dev/ns", "statements": 1}`,
		`{"bomFormat": "CycloneDX", "vulnerabilities": {}}`} {
		if err := new(vex.Document).Read(strings.NewReader(text), "vex.json"); err == nil ||
			!strings.Contains(err.Error(), "vex.json") {
			t.Errorf("%s: got the error %v", text, err)
		}
	}
	if _, err := vex.Open("missing.json"); err == nil {
		t.Error("a missing file was read")
	}
}

// tell gives a handler a scan with three vulnerable packages.
func tell(t *testing.T, h scan.Handler) {
	t.Helper()
	match := func(purl, upgrade string) *finding.PackageMatch {
		return &finding.PackageMatch{Package: finding.Package{PURL: purl}, Upgrade: upgrade}
	}
	for _, err := range []error{
		h.Config(&scan.Config{Tool: "merlon", Version: "1", Started: time.Date(2026, 1, 2, 0, 0, 0, 0, time.UTC)}),
		h.Rule(&finding.Rule{ID: "sca/CVE-2026-1", Advisory: &finding.Advisory{ID: "CVE-2026-1",
			Aliases: []string{"CVE-2026-1", "GHSA-bbbb"}}}),
		h.Rule(&finding.Rule{ID: "sca/CVE-2026-9", Advisory: &finding.Advisory{ID: "CVE-2026-9"}}),
		h.Rule(&finding.Rule{ID: "sast/x"}),
		h.Finding(&finding.Finding{RuleID: "sca/CVE-2026-1", Severity: finding.High,
			Package: match("pkg:npm/left-pad@1.3.0", "")}),
		h.Finding(&finding.Finding{RuleID: "sca/CVE-2026-9", Severity: finding.Low, Package: match("pkg:npm/b@1", "")}),
		h.Finding(&finding.Finding{RuleID: "sca/CVE-2026-9", Severity: finding.Low, Package: match("pkg:npm/a@1", "")}),
		h.Finding(&finding.Finding{RuleID: "sca/CVE-2026-9", Severity: finding.Low, Package: match("", "")}),
		h.Finding(&finding.Finding{RuleID: "sast/x", Severity: finding.High}),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
}

func TestMark(t *testing.T) {
	var s scan.Summary
	tell(t, read(t, openDocument).Mark(&s))
	if s.Total() != 5 || s.AtLeast(finding.High) != 1 || s.AtLeast(finding.Low) != 4 || s.Cleared[finding.High] != 1 {
		t.Errorf("got %+v", s)
	}
	tell(t, new(vex.Document).Mark(&s))
	if s.AtLeast(finding.High) != 2 || len(s.Cleared) != 0 {
		t.Errorf("without statements: got %+v", s)
	}
}

func TestReport(t *testing.T) {
	var out, again bytes.Buffer
	for _, w := range []*bytes.Buffer{&out, &again} {
		r := vex.NewReport(w)
		tell(t, read(t, openDocument).Mark(r))
		if err := r.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if out.String() != again.String() {
		t.Error("the same scan has another document")
	}
	var d struct {
		Statements []struct {
			Vulnerability struct {
				Name    string   `json:"name"`
				Aliases []string `json:"aliases"`
			} `json:"vulnerability"`
			Products []struct {
				ID string `json:"@id"`
			} `json:"products"`
			Status        string `json:"status"`
			Justification string `json:"justification"`
		} `json:"statements"`
	}
	if err := json.Unmarshal(out.Bytes(), &d); err != nil {
		t.Fatal(err)
	}
	if len(d.Statements) != 2 || d.Statements[0].Status != "not_affected" ||
		d.Statements[0].Justification != "vulnerable_code_not_in_execute_path" ||
		len(d.Statements[0].Vulnerability.Aliases) != 1 || d.Statements[1].Status != "under_investigation" ||
		len(d.Statements[1].Products) != 2 || d.Statements[1].Products[0].ID != "pkg:npm/a@1" {
		t.Errorf("got %s", &out)
	}
	// What is written says the same when it is read.
	left := &finding.Package{PURL: "pkg:npm/left-pad@1.3.0"}
	if s := read(t, again.String()).Find(left, &finding.Advisory{ID: "GHSA-bbbb"}); !s.Clears() {
		t.Errorf("read again: got %+v", s)
	}
	if err := vex.NewReport(&out).Close(); err == nil {
		t.Error("a scan that did not begin has a document")
	}
}

func FuzzRead(f *testing.F) {
	f.Add(openDocument)
	f.Add(oldDocument)
	f.Add(cycloneDocument)
	f.Fuzz(func(t *testing.T, text string) {
		b := &vex.Document{}
		if b.Read(strings.NewReader(text), "vex.json") == nil {
			b.Find(&finding.Package{PURL: "pkg:npm/left-pad@1.3.0"}, &finding.Advisory{ID: "CVE-2026-1"})
		}
	})
}
