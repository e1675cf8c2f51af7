package audit

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"merlon/internal/tenant"
)

var at = time.Date(2026, 11, 20, 9, 0, 0, 0, time.UTC)

// chain returns three records.
func chain(t *testing.T) []Record {
	t.Helper()
	var records []Record
	var head Head
	for _, e := range []Event{
		{Chain: "o1", At: at, Action: "organization.create", TargetKind: "organization", Target: "o1"},
		{Chain: "o1", At: at.Add(time.Second), Action: "team.create", TargetKind: "team", Target: "t1",
			Detail: map[string]any{"name": "A", "b": 2}},
		{Chain: "o1", At: at.Add(time.Minute), Action: "team.delete", TargetKind: "team", Target: "t1"},
	} {
		r, err := Append(head, e.By(tenant.Actor{UserID: "u1", ClientID: "cli", IP: "192.0.2.1"}))
		if err != nil {
			t.Fatal(err)
		}
		records = append(records, r)
		head = r.Head()
	}
	return records
}

// The hash below was computed by hand, with coreutils:
//
//	printf
//
// '2:o1,1:1,24:2026-11-20T09:00:00.000Z,2:u1,3:cli,9:192.0.2.1,19:organization.create,12:organization,2:o1,2:{},0:,' |
// sha256sum
//
// It must never change, or exported logs can no longer be verified.
func TestRecordFormat(t *testing.T) {
	got, err := json.Marshal(chain(t)[0])
	if err != nil {
		t.Fatal(err)
	}
	const want = `{"chain":"o1","seq":1,"at":"2026-11-20T09:00:00.000Z","actor":"u1","client":"cli","ip":"192.0.2.1",` +
		`"action":"organization.create","targetKind":"organization","target":"o1","detail":"{}","previous":"",` +
		`"hash":"c62942be108fd92765140b8da35db1c0e50144626b374d7dcfd94ccfb3a9abe3"}`
	if diff := cmp.Diff(want, string(got)); diff != "" {
		t.Errorf("record (-want +got):\n%s", diff)
	}
}

func TestVerify(t *testing.T) {
	tests := []struct {
		name   string
		tamper func([]Record) []Record
		want   string // part of the error; empty for none
	}{
		{"whole", func(r []Record) []Record { return r }, ""},
		{"a part of a chain", func(r []Record) []Record { return r[1:] }, ""},
		{"nothing", func([]Record) []Record { return nil }, ""},
		{"changed", func(r []Record) []Record { r[1].Detail = `{"name":"B"}`; return r }, "record 2 was changed"},
		{"changed with its hash", func(r []Record) []Record {
			r[1].Detail = `{"name":"B"}`
			r[1].Hash = r[1].Sum()
			return r
		}, "record 3 does not continue record 2"},
		{"removed", func(r []Record) []Record { return append(r[:1], r[2:]...) }, "record 3 follows record 1"},
		{"another chain", func(r []Record) []Record { r[2].Chain = "o2"; return r }, `belongs to chain "o2"`},
		{"a forged start", func(r []Record) []Record {
			r[0].Previous = "00"
			r[0].Hash = r[0].Sum()
			return r
		}, "record 1 does not continue record 0"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			err := Verify(tt.tamper(chain(t)))
			if tt.want == "" && err != nil || tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want)) {
				t.Errorf("got %v, want an error with %q", err, tt.want)
			}
		})
	}
}

func TestAppendKeepsTextsWhole(t *testing.T) {
	r, err := Append(Head{}, Event{At: at, Action: "a", Client: "x\x00y\xff", Target: strings.Repeat("é", 200)})
	if err != nil {
		t.Fatal(err)
	}
	if r.Client != "xy" || len(r.Target) != maxText {
		t.Errorf("got client %q and a target of %d bytes, want \"xy\" and %d", r.Client, len(r.Target), maxText)
	}
	if err := Verify([]Record{r}); err != nil {
		t.Error(err)
	}
	if _, err := Append(Head{},
		Event{Action: "a", Detail: map[string]any{"x": strings.Repeat("x", maxDetail)}}); err == nil {
		t.Error("a detail that is too long was accepted")
	}
}
