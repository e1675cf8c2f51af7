package bom_test

import (
	"bytes"
	"testing"
	"time"

	"merlon/internal/finding"
	"merlon/internal/report/bom"
	"merlon/internal/sbom"
	"merlon/internal/scan"

	cdx "github.com/CycloneDX/cyclonedx-go"
)

func TestReport(t *testing.T) {
	var out bytes.Buffer
	r := bom.New(&out, sbom.CycloneDX)
	pkg := finding.Package{Ecosystem: "npm", Name: "left-pad", Version: "1.3.0", PURL: "pkg:npm/left-pad@1.3.0",
		Path: "package-lock.json"}
	for _, err := range []error{
		r.Config(&scan.Config{Tool: "merlon", Version: "1", Root: "shop",
			Started: time.Date(2026, 1, 2, 0, 0, 0, 0, time.UTC)}),
		r.Package(&pkg),
		r.Rule(&finding.Rule{ID: "other"}),
		r.Rule(&finding.Rule{ID: "sca/CVE-1", Advisory: &finding.Advisory{ID: "CVE-1"}}),
		r.Finding(&finding.Finding{RuleID: "other", Severity: finding.High}),
		r.Finding(&finding.Finding{RuleID: "sca/CVE-1", Severity: finding.High,
			Package: &finding.PackageMatch{Package: pkg, Upgrade: "1.3.1",
				VEX: &finding.VEXStatement{Status: finding.VEXNotAffected, Text: "never called"}}}),
		r.Close(),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	var document cdx.BOM
	if err := cdx.NewBOMDecoder(&out, cdx.BOMFileFormatJSON).Decode(&document); err != nil {
		t.Fatal(err)
	}
	if document.Metadata.Component.Name != "shop" || document.Metadata.Timestamp != "2026-01-02T00:00:00Z" ||
		len(*document.Components) != 1 ||
		len(*document.Vulnerabilities) != 1 || (*document.Vulnerabilities)[0].ID != "CVE-1" ||
		(*document.Vulnerabilities)[0].Analysis.State != cdx.IASNotAffected {
		t.Errorf("bill %+v", document)
	}
	if err := bom.New(&out, sbom.SPDX).Close(); err == nil {
		t.Error("a scan that did not begin has a bill")
	}
}
