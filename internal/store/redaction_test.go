package store_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"merlon/internal/finding"
	"merlon/internal/livetarget"
	"merlon/internal/redact"
	"merlon/internal/run"
	"merlon/internal/scan"
	"merlon/internal/store"
	"merlon/internal/store/storetest"
	"merlon/internal/triage"
)

// Secrets of a stored target, one that it had before, and the password of a deleted one.
const (
	storedKey = `k3y-"91&ab`
	formerKey = "former-k3y-19cd"
	gonePass  = "g0ne-password"
	seedToken = "s33d-token-91"
)

// oldFinding is a finding as scans wrote it before secrets were redacted by value.
func oldFinding(n int) *finding.Finding {
	quoted, _ := json.Marshal(storedKey)
	path := fmt.Sprintf("shop.example.org/page-%d", n)
	f := &finding.Finding{RuleID: "dast/xss/reflected", Analyzer: "dast/application", Analysis: finding.DAST,
		Severity: finding.High, Message: "The page shows " + storedKey,
		Location: finding.Location{Path: path}, Live: &finding.Live{URL: "https://shop.example.org/", Method: "POST",
			Parameter: "X-Attacked", In: "header", Payload: "<b>", Proof: []string{"with " + storedKey},
			Exchanges: []finding.Exchange{{
				Request: "POST /page HTTP/1.1\r\nHost: shop.example.org\r\nUser-Agent: u\r\nX-Key: " + formerKey +
					"\r\nX-Attacked: <b>\r\n\r\nuser=jane&password=" + gonePass + "&q=1",
				Response: `{"echo": ` + string(quoted) + `, "access_token": "` + gonePass + `", "page": 1}`,
			}},
			Curl: "curl -i -X POST -H 'X-Key: " + formerKey + "' -H 'Accept: */*' --data-binary 'user=jane&password=" +
				gonePass + "' https://shop.example.org/page",
		}}
	f.Fingerprint = finding.NewFingerprint(f.RuleID, path, "x", 0)
	return f
}

// TestRedactStored cleans what earlier versions have written: nothing of a secret is left
// in any table, an interruption loses nothing, and a finding stays the same.
func TestRedactStored(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB, clock *storetest.Clock) {
		s := newFindingStore(t, db, clock)
		var stream bytes.Buffer
		h := scan.Encode(&stream)
		must := func(err error) {
			t.Helper()
			if err != nil {
				t.Fatal(err)
			}
		}
		must(h.Config(&scan.Config{Tool: "merlon", Analyses: []finding.Analysis{finding.DAST},
			Analyzers: []string{"dast/application"}}))
		must(h.Rule(&finding.Rule{ID: "dast/xss/reflected", Analysis: finding.DAST, Name: "XSS",
			Severity: finding.High}))
		const findings = 120
		for n := range findings {
			must(h.Finding(oldFinding(n)))
			must(h.Operation(&finding.Operation{Method: "GET", URL: "https://shop.example.org/",
				Outcome: finding.Refused, Reason: "refused " + storedKey, Parameters: []string{}}))
		}
		must(h.Status(&scan.Status{Analyzer: "dast/application", Analysis: finding.DAST, State: scan.Degraded,
			Reasons: []scan.Reason{{Code: "unavailable", Message: "refused " + storedKey}}, Findings: findings}))
		r := s.start("main")
		r.Target = &run.Target{ID: "target", Name: "Shop", URL: "https://shop.example.org/", Profile: scan.Standard}
		out, err := triage.New(db).Ingest(t.Context(), s.sc, r, opener(stream.Bytes()))
		must(err)
		outcome, err := json.Marshal(out)
		must(err)
		failure, err := json.Marshal(run.Failure{Message: "with " + storedKey, Code: 1})
		must(err)
		shown, err := json.Marshal(r.Target)
		must(err)
		s.exec("UPDATE run SET target = ?, target_id = 'target', step = ?, failure = ?, outcome = ? WHERE id = ?",
			string(shown), "asked with "+storedKey, string(failure), string(outcome), string(r.ID))
		s.exec("UPDATE finding_history SET previous = ?", "shop.example.org/"+storedKey)
		s.exec(`INSERT INTO target (id, organization_id, project_id, name, environment, root, shown, kept, sealed, created_at, updated_at) VALUES ('target', ?, ?, 'Shop', 'staging', 'shop.example.org', ?, '{}', 'sealed', 1, 1)`,
			string(s.sc.Organization), string(s.sc.Project),
			`{"url": "https://shop.example.org/", "seeds": ["/?api_token=`+seedToken+`"]}`)
		for _, secret := range []string{storedKey, formerKey, gonePass, seedToken} {
			if !strings.Contains(storetest.Dump(t, db), secret) {
				t.Fatalf("the old rows do not hold %s", secret)
			}
		}
		opened := 0
		open := func(found livetarget.Target) (*redact.Set, error) {
			if opened++; found.ID != "target" || string(found.Sealed) != "sealed" {
				t.Errorf("opened %+v", found)
			}
			if opened == 2 {
				return nil, errors.New("interrupted")
			}
			whole := scan.Target{URL: "https://shop.example.org/",
				Headers: []scan.Header{{Name: "X-Key", Value: storedKey}}}
			return whole.Secrets(), nil
		}
		batches, failed := 0, 0
		for more := true; more && batches < 100; batches++ {
			next, err := db.RedactStored(t.Context(), open)
			if more = next || err != nil; err != nil {
				failed++
			}
		}
		if batches != 7 || failed != 1 {
			t.Errorf("%d batches, %d failed", batches, failed)
		}
		all := storetest.Dump(t, db)
		quoted, _ := json.Marshal(storedKey)
		for _, secret := range []string{storedKey, string(quoted[1 : len(quoted)-1]), formerKey, gonePass, seedToken} {
			if at := strings.Index(all, secret); at >= 0 {
				t.Errorf("%s is left: %s", secret, all[max(0, at-300):min(len(all), at+100)])
			}
		}
		page, err := db.Findings(t.Context(), s.sc, triage.Query{Sort: triage.ByDefault, Limit: 200})
		must(err)
		if len(page.Findings) != findings {
			t.Fatalf("%d findings", len(page.Findings))
		}
		live := page.Findings[0].Report.Live
		for _, kept := range []string{"X-Attacked: <b>", "User-Agent: u", "user=jane&password=[redacted]&q=1",
			"X-Key: [redacted]"} {
			if !strings.Contains(live.Exchanges[0].Request, kept) {
				t.Errorf("the request has no %s: %s", kept, live.Exchanges[0].Request)
			}
		}
		if !strings.Contains(live.Curl, "-H 'Accept: */*'") || !strings.Contains(live.Exchanges[0].Response,
			`"page": 1`) {
			t.Errorf("too much was redacted: %+v", live)
		}
		if again := s.ingest("main", stream.Bytes()); again.Changes.New != 0 || again.Changes.Found != findings {
			t.Errorf("the next scan opens findings again: %+v", again.Changes)
		}
	})
}
