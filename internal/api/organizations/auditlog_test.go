package organizations_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"merlon/internal/api/apitest"
	"merlon/internal/audit"
)

func TestAuditLogAndExport(t *testing.T) {
	apitest.EachWorld(t, func(t *testing.T, w *apitest.World) {
		log := w.Organization + "/audit-log"
		w.AsPerson("member").Get(log).Want(403)
		w.AsPerson("stranger").Get(log).Want(404)
		newest := w.AsPerson("manager").Get(log + "?limit=1").Want(200)
		if newest.Text("records.0.action") != "team.add_member" ||
			newest.Text("records.0.actor") != string(w.People["administrator"]) {
			t.Errorf("got %s", newest.Body)
		}
		w.AsPerson("manager").Get(log + "?cursor=nonsense").Want(400)
		w.AsPerson("manager").Get(log + "?limit=0").Want(400)
		w.AsPerson("manager").Get(log + "?from=yesterday").Want(400)

		// The pages are the whole log, once each.
		var seqs []float64
		for cursor := ""; ; {
			var page struct {
				Records    []map[string]any
				NextCursor string
			}
			w.AsPerson("manager").Get(log + "?limit=4&cursor=" + cursor).Want(200).Into(&page)
			for _, r := range page.Records {
				seqs = append(seqs, r["seq"].(float64))
			}
			if cursor = page.NextCursor; cursor == "" {
				break
			}
		}
		for i, seq := range seqs {
			if int(seq) != len(seqs)-i {
				t.Fatalf("got the numbers %v, want every one from the last to the first", seqs)
			}
		}
		creations := w.AsPerson("manager").Get(log + "?action=organization.create&actor=" +
			string(w.People["administrator"])).Want(200)
		if creations.Value("records.1") != nil || creations.Text("records.0.detail.name") != "Acme" {
			t.Errorf("got %s", creations.Body)
		}

		export := w.AsPerson("manager").Get(log + "/export").Want(200)
		if got := export.Header.Get("Content-Type"); got != "application/x-ndjson" {
			t.Errorf("got the content type %s", got)
		}
		var records []audit.Record
		for line := range bytes.Lines(export.Body) {
			var r audit.Record
			if err := json.Unmarshal(line, &r); err != nil {
				t.Fatal(err)
			}
			records = append(records, r)
		}
		if err := audit.Verify(records); err != nil || len(records) != len(seqs) {
			t.Errorf("got %d records and %v, want %d that hold", len(records), err, len(seqs))
		}
		if got := w.AsPerson("manager").Get(log + "/export?after=" +
			fmt.Sprint(len(seqs))).Want(200).Body; len(got) != 0 {
			t.Errorf("behind the last record there is %s", got)
		}
		for _, secret := range []string{"token", "password"} {
			if bytes.Contains(export.Body, []byte(secret)) {
				t.Errorf("the log speaks of a %s", secret)
			}
		}
		if diff := cmp.Diff("", records[0].Previous); diff != "" {
			t.Errorf("first record (-want +got):\n%s", diff)
		}
	})
}
