package api_test

import (
	"testing"

	"merlon/internal/finding"
)

// TestProven shows a flaw of the source with the live finding that proves it, for as long
// as that is open, and the live finding with the place in the code.
func TestProven(t *testing.T) {
	eachWorld(t, func(t *testing.T, w *world) {
		reader := w.as("read_only")
		s := &scanned{}
		s.code(finding.SAST, finding.High, "b", "src/B.java", 2).code(finding.SAST, finding.High, "b", "src/C.java", 9)
		for _, f := range s.findings {
			f.Entry = []finding.Entry{{Method: "GET", Path: "/search", Parameter: "query:q"}}
		}
		flaw := s.findings[0]
		live := &scanned{}
		live.code(finding.DAST, finding.High, "sql", "shop.example/search", 0)
		live.findings[0].Steps = nil
		live.findings[0].Live = &finding.Live{URL: "https://shop.example/search", Method: "GET", Parameter: "q", In: "query", Proof: []string{"x"}, Exchanges: []finding.Exchange{},
			Code: &finding.Code{Handler: flaw.Location, Flaw: &finding.CodeFlaw{RuleID: flaw.RuleID, Location: flaw.Location, Fingerprint: flaw.Fingerprint}}}
		both := &scanned{rules: append(s.rules, live.rules...), findings: append(s.findings, live.findings...)}
		w.scan("main", both)

		proven := func(path string) []any {
			t.Helper()
			for _, e := range w.as("read_only").Get(w.proj + "/results/sast").Want(200).Value("vulnerabilities").([]any) {
				e := e.(map[string]any)
				if e["path"] != path {
					continue
				}
				if e["entry"] == nil {
					t.Errorf("%s has no entry in the list", path)
				}
				list, _ := reader.Get(w.proj + "/results/sast/" + e["id"].(string)).Want(200).Value("sast.proven").([]any)
				return list
			}
			t.Fatalf("%s is not listed", path)
			return nil
		}
		got := proven("src/B.java")
		if len(got) != 1 {
			t.Fatalf("proven by %v", got)
		}
		one := got[0].(map[string]any)
		if one["type"] != "dast" || one["url"] != "https://shop.example/search" || one["parameter"] != "q" {
			t.Errorf("proven by %v", one)
		}
		if other := proven("src/C.java"); len(other) != 0 {
			t.Errorf("another flaw is proven by %v", other)
		}
		d := reader.Get(w.proj + "/results/dast/" + one["id"].(string)).Want(200)
		if d.Value("dast.live.code.flaw.location.path") != "src/B.java" {
			t.Errorf("the live finding is %s", d.Body)
		}
		w.scan("main", s) // the live scan does not find it any more
		if got := proven("src/B.java"); len(got) != 0 {
			t.Errorf("still proven by %v", got)
		}
	})
}
