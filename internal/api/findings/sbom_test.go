package findings_test

import (
	"strings"
	"testing"

	cdx "github.com/CycloneDX/cyclonedx-go"

	"merlon/internal/api/apitest"
	"merlon/internal/finding"
	"merlon/internal/sbom"
)

func TestBill(t *testing.T) {
	apitest.EachWorld(t, func(t *testing.T, w *apitest.World) {
		caller := w.AsPerson("analyst_developer")
		caller.Get(w.Project + "/sbom").Want(404)
		s := (&apitest.ScanResult{}).Vulnerable("CVE-2026-1", "left-pad", "1.0.0",
			finding.Direct).Vulnerable("CVE-2026-2",
			"right-pad", "2.0.0", finding.Transitive)
		s.Packages = append(s.Packages, &finding.Package{Ecosystem: "Debian:12", Name: "bash", Version: "5.2",
			Path: "app:/var/lib/dpkg/status", Layer: &finding.Layer{Index: 1}})
		w.Scan("master", s)
		for list, want := range map[string]float64{"sca": 2, "container": 1} { // an image's packages are the image's
			if got := caller.Get(w.Project + "/results/" + list +
				"/packages?branch=master").Want(200).Value("total"); got != want {
				t.Errorf("%s: %v packages, want %v", list, got, want)
			}
		}
		var bom cdx.BOM
		answer := caller.Get(w.Project + "/sbom").Want(200)
		if err := cdx.NewBOMDecoder(strings.NewReader(string(answer.Body)),
			cdx.BOMFileFormatJSON).Decode(&bom); err != nil {
			t.Fatal(err)
		}
		if got := answer.Header.Get("Content-Type"); got != "application/vnd.cyclonedx+json" {
			t.Errorf("content type %q", got)
		}
		if len(*bom.Components) != 2 || len(*bom.Vulnerabilities) != 2 ||
			(*bom.Vulnerabilities)[0].Analysis.State != cdx.IASInTriage {
			t.Errorf("bill %+v", bom)
		}
		bill, err := sbom.Read(strings.NewReader(string(caller.Get(w.Project +
			"/sbom?format=spdx&branch=master").Want(200).Body)))
		if err != nil || bill.Format != "SPDX" || bill.Unnamed != 2 { // the packages of the test bear no package URL
			t.Errorf("SPDX: %+v, %v", bill, err)
		}
		packages := caller.Get(w.Project + "/results/sca/packages?branch=master&searchQuery=left").Want(200)
		caller.Put(w.Project+"/sca/packages/"+packages.Text("packages.0.id")+"/license",
			map[string]any{"spdxId": "WTFPL"}).Want(200)
		for format, want := range map[string]string{"spdx": `"licenseConcluded":"WTFPL","licenseDeclared":"NOASSERTION"`, "cyclonedx": `"expression":"WTFPL","acknowledgement":"concluded"`} {
			if text := string(caller.Get(w.Project + "/sbom?format=" + format).Want(200).Body); strings.Count(text,
				want) != 1 {
				t.Errorf("%s: not once %s in %s", format, want, text)
			}
		}
		caller.Get(w.Project + "/sbom?branch=other").Want(404)
		caller.Get(w.Project + "/sbom?format=paper").Want(400)
		w.AsPerson("read_only").Get(w.Project + "/sbom").Want(403)
	})
}
