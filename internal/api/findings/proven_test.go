package findings_test

import (
	"testing"

	"merlon/internal/api/apitest"
	"merlon/internal/finding"
)

// TestProven shows a flaw of the source with the live finding that proves it, for as long
// as that is open, and the live finding with the place in the code.
func TestProven(t *testing.T) {
	apitest.EachWorld(t, func(t *testing.T, w *apitest.World) {
		reader := w.AsPerson("read_only")
		s := &apitest.ScanResult{}
		s.Code(finding.SAST, finding.High, "b", "src/B.java", 2).Code(finding.SAST, finding.High, "b", "src/C.java", 9)
		for _, f := range s.Findings {
			f.Entry = []finding.EntryPoint{{Method: "GET", Path: "/search", Parameter: "query:q"}}
		}
		flaw := s.Findings[0]
		live := &apitest.ScanResult{}
		live.Code(finding.DAST, finding.High, "sql", "shop.example/search", 0)
		live.Findings[0].Steps = nil
		live.Findings[0].Live = &finding.Live{URL: "https://shop.example/search", Method: "GET", Parameter: "q",
			In: "query", Proof: []string{"x"}, Exchanges: []finding.Exchange{},
			Code: &finding.Code{Handler: flaw.Location,
				Flaw: &finding.CodeFinding{RuleID: flaw.RuleID, Location: flaw.Location,
					Fingerprint: flaw.Fingerprint}}}
		both := &apitest.ScanResult{Rules: append(s.Rules, live.Rules...),
			Findings: append(s.Findings, live.Findings...)}
		w.Scan("main", both)

		proven := func(path string) []any {
			t.Helper()
			for _, e := range w.AsPerson("read_only").Get(w.Project +
				"/results/sast?view=full").Want(200).Value("vulnerabilities").([]any) {
				e := e.(map[string]any)
				if e["path"] != path {
					continue
				}
				if e["entry"] == nil {
					t.Errorf("%s has no entry in the list", path)
				}
				list, _ := reader.Get(w.Project + "/results/sast/" +
					e["id"].(string)).Want(200).Value("sast.proven").([]any)
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
		if one["type"] != "dast" || one["url"] != "https://shop.example/search" || one["parameter"] != "q" ||
			one["currentState"] != "to_verify" {
			t.Errorf("proven by %v", one)
		}
		if other := proven("src/C.java"); len(other) != 0 {
			t.Errorf("another flaw is proven by %v", other)
		}
		d := reader.Get(w.Project + "/results/dast/" + one["id"].(string)).Want(200)
		if d.Value("dast.live.code.flaw.location.path") != "src/B.java" ||
			d.Value("dast.source.path") != "src/B.java" || d.Value("dast.source.currentState") != "to_verify" {
			t.Errorf("the live finding is %s", d.Body)
		}
		w.Scan("main", s) // the live scan does not find it any more
		if got := proven("src/B.java"); len(got) != 0 {
			t.Errorf("still proven by %v", got)
		}
	})
}

// TestRankOfTheProven makes a flaw of the source more urgent while an open finding of a
// live scan shows it, and decides about both sides only when asked to.
func TestRankOfTheProven(t *testing.T) {
	apitest.EachWorld(t, func(t *testing.T, w *apitest.World) {
		analyst := w.AsPerson("analyst_developer")
		source := (&apitest.ScanResult{}).Code(finding.SAST, finding.High, "b", "src/B.java", 2).Code(finding.SAST,
			finding.High,
			"b", "src/C.java", 9)
		flaw := source.Findings[0]
		live := (&apitest.ScanResult{}).Code(finding.DAST, finding.High, "sql", "shop.example/search", 0)
		live.Findings[0].Live = &finding.Live{URL: "https://shop.example/search", Method: "GET", Payload: "'",
			Proof: []string{"x"}, Exchanges: []finding.Exchange{},
			Code: &finding.Code{Handler: flaw.Location,
				Flaw: &finding.CodeFinding{RuleID: flaw.RuleID, Location: flaw.Location,
					Fingerprint: flaw.Fingerprint}}}
		both := &apitest.ScanResult{Rules: append(source.Rules, live.Rules...),
			Findings: append(source.Findings, live.Findings...)}

		find := func(analysis, path string) map[string]any {
			t.Helper()
			for _, e := range w.AsPerson("read_only").Get(w.Project + "/results/" +
				analysis).Want(200).Value("vulnerabilities").([]any) {
				if e := e.(map[string]any); e["path"] == path {
					return e
				}
			}
			t.Fatalf("%s is not listed", path)
			return nil
		}
		rank := func(when, path, priority string, score float64) {
			t.Helper()
			e := find("sast", path)
			if e["currentPriority"] != priority || e["priorityScore"] != score {
				t.Errorf("%s, %s is %v with %v, want %s with %v", when, path, e["currentPriority"], e["priorityScore"],
					priority, score)
			}
			n := 0
			for _, p := range []string{"critical_urgent", "urgent", "normal", "low", "very_low"} {
				n += int(w.AsPerson("read_only").Get(w.Project + "/results/sast?limit=1&priority=" +
					p).Want(200).Value("total").(float64))
			}
			if n != 2 {
				t.Errorf("%s, the numbers of the branch add up to %d findings", when, n)
			}
		}
		w.Scan("main", source)
		rank("before a live scan", "src/B.java", "normal", 59)
		w.Scan("main", both)
		rank("shown", "src/B.java", "urgent", 72)
		rank("shown", "src/C.java", "normal", 59)
		for range 2 { // what has not changed stays, and what is reported otherwise keeps its rank
			flaw.Message += "!"
			w.Scan("main", both)
			rank("shown again", "src/B.java", "urgent", 72)
		}
		b := find("sast", "src/B.java")
		detail := w.AsPerson("read_only").Get(w.Project + "/results/sast/" + b["id"].(string) +
			"/priority-decomposition").Want(200)
		if detail.Value("decomposition.factors.exploitabilityVerdict") != "proven" {
			t.Errorf("the priority is made of %s", detail.Body)
		}

		shown := find("dast", "shop.example/search")["id"].(string)
		decide := func(id string, body map[string]any) { analyst.Patch(w.Project+"/results/"+id, body).Want(200) }
		decide(shown, map[string]any{"status": "ignored", "comment": "test data"})
		rank("after the live finding is ignored", "src/B.java", "normal", 59)
		d := w.AsPerson("read_only").Get(w.Project + "/results/sast/" + b["id"].(string)).Want(200)
		if d.Value("sast.base.currentState") != "to_verify" || d.Value("sast.proven.0.currentState") != "ignored" ||
			d.Value("sast.proven.0.reason") != "test data" {
			t.Errorf("one side is ignored: %s", d.Body)
		}
		decide(shown, map[string]any{"status": "confirmed"})
		rank("confirmed", "src/B.java", "urgent", 72)
		decide(b["id"].(string), map[string]any{"status": "ignored", "comment": "internal", "bothSides": true})
		if got := find("dast", "shop.example/search")["currentState"]; got != "ignored" {
			t.Errorf("after a decision about both sides the live finding is %v", got)
		}
		decide(shown, map[string]any{"status": "to_verify", "bothSides": true})
		if got := find("sast", "src/B.java")["currentState"]; got != "to_verify" {
			t.Errorf("after a decision about both sides the finding of the source is %v", got)
		}
		rank("open again", "src/B.java", "urgent", 72)
		w.Scan("main", source) // mended in what runs
		rank("gone", "src/B.java", "normal", 59)
	})
}
