package finding_test

import (
	"testing"

	"merlon/internal/finding"
)

// Triage knows a finding again by its fingerprint: what may change in code without
// making another finding of it, and what may not.
func TestFingerprint(t *testing.T) {
	base := finding.NewFingerprint("sast/sql", "a/b.go", "db.Query(q + id)", 0)
	for name, tt := range map[string]struct {
		other               finding.Fingerprint
		samePlace, sameFlaw bool
	}{
		"reformatted":      {finding.NewFingerprint("sast/sql", "a/b.go", "db.Query(\n\tq+id)", 0), true, true},
		"no-break space":   {finding.NewFingerprint("sast/sql", "a/b.go", "db.Query(q\u00a0+ id)", 0), true, true},
		"renamed file":     {finding.NewFingerprint("sast/sql", "a/c.go", "db.Query(q + id)", 0), false, true},
		"second of a file": {finding.NewFingerprint("sast/sql", "a/b.go", "db.Query(q + id)", 1), false, true},
		"changed code":     {finding.NewFingerprint("sast/sql", "a/b.go", "db.Query(q + name)", 0), false, false},
		"other rule":       {finding.NewFingerprint("sast/xss", "a/b.go", "db.Query(q + id)", 0), false, false},
		"shifted parts":    {finding.NewFingerprint("sast/sqla", "/b.go", "db.Query(q + id)", 0), false, false},
		"in an image":      {base.InComponent("shop"), false, true},
	} {
		if same := tt.other.Place == base.Place; same != tt.samePlace {
			t.Errorf("%s: same place: got %v", name, same)
		}
		if same := tt.other.Flaw == base.Flaw; same != tt.sameFlaw {
			t.Errorf("%s: same flaw: got %v", name, same)
		}
		if len(tt.other.Place) != 32 || len(tt.other.Flaw) != 32 {
			t.Errorf("%s: got %+v, want 32 digits each", name, tt.other)
		}
	}
	if base.InComponent("a") == base.InComponent("b") {
		t.Error("two components have one fingerprint")
	}
}

func TestSeverityFromCVSS(t *testing.T) {
	for score, want := range map[float64]finding.Severity{
		10: finding.Critical, 9: finding.Critical, 8.9: finding.High, 7: finding.High,
		6.9: finding.Medium, 4: finding.Medium, 3.9: finding.Low, 0: finding.Low,
	} {
		if got := finding.FromCVSS(score); got != want {
			t.Errorf("%v: got %s, want %s", score, got, want)
		}
	}
	for i, s := range finding.Severities[1:] {
		if s.Rank() >= finding.Severities[i].Rank() {
			t.Errorf("%s ranks no lower than %s", s, finding.Severities[i])
		}
	}
	if finding.Severity("info").Rank() != 0 {
		t.Error("an unknown severity has a rank")
	}
}

func TestSystemPackages(t *testing.T) {
	for purl, want := range map[string]bool{
		"pkg:deb/debian/bash@5": true, "pkg:rpm/fedora/bash@5": true, "pkg:apk/alpine/bash@5": true,
		"pkg:alpm/arch/bash@5": true, "pkg:npm/bash@5": false, "pkg:debug/bash@5": false, "": false,
	} {
		if got := (&finding.Package{PURL: purl}).System(); got != want {
			t.Errorf("%q: got %v", purl, got)
		}
	}
}

func TestAdvisory(t *testing.T) {
	a := &finding.Advisory{ID: "CVE-1", Details: "long", References: []finding.AdvisoryReference{
		{Type: "ADVISORY", URL: "javascript:alert(1)"}, {Type: "FIX", URL: "https://fix.example"},
		{Type: "WEB", URL: "http://web.example"}}}
	if got := a.Link(); got != "http://web.example" {
		t.Errorf("link: got %q", got)
	}
	if got := (&finding.Advisory{}).Link(); got != "" {
		t.Errorf("link without references: got %q", got)
	}
	r := a.Rule(finding.SCA, "sca/")
	if r.ID != "sca/CVE-1" || r.Name != "CVE-1" || r.Description != "long" || r.Advisory != a {
		t.Errorf("rule: got %+v", r)
	}
	if got := a.Message("left-pad 1", "2"); got != "left-pad 1 is affected by CVE-1 (fixed in 2)" {
		t.Errorf("message: got %q", got)
	}
	if got := a.Message("left-pad 1", ""); got != "left-pad 1 is affected by CVE-1 (no fixed version is known)" {
		t.Errorf("message without a fix: got %q", got)
	}
	a.Malicious = true
	if got := a.Message("left-pad 1", "2"); got != "left-pad 1 is malicious: CVE-1" {
		t.Errorf("message of malware: got %q", got)
	}
}

func TestVEXStatementClears(t *testing.T) {
	for status, want := range map[finding.VEXStatus]bool{finding.VEXNotAffected: true, finding.VEXFixed: true,
		finding.VEXAffected: false, finding.VEXUnderInvestigation: false, "": false} {
		if got := (&finding.VEXStatement{Status: status}).Clears(); got != want {
			t.Errorf("%q: got %v", status, got)
		}
	}
	if (*finding.VEXStatement)(nil).Clears() {
		t.Error("no statement clears a finding")
	}
}
