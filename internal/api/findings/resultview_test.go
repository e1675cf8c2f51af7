package findings

import (
	"encoding/json"
	"testing"
	"time"

	"merlon/internal/finding"
)

// A secret shows what is known of it, and no more.
func TestViewSecret(t *testing.T) {
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	for _, c := range []struct {
		match finding.SecretMatch
		want  string
	}{
		{finding.SecretMatch{Kind: "k", Redacted: "r", Key: "never shown"}, `{"kind":"k","redacted":"r"}`},
		{finding.SecretMatch{Kind: "k", Validity: finding.Valid,
			History: &finding.History{FirstCommit: "a", LastCommit: "b", Author: "Ann", Date: at, LastDate: at,
				Path: "p", InTree: true}},
			`{"kind":"k","redacted":"","validity":"valid","history":{"firstCommit":"a","lastCommit":"b","author":"Ann","date":"2026-01-02T03:04:05Z","lastDate":"2026-01-02T03:04:05Z","path":"p","inTree":true}}`},
	} {
		got, err := json.Marshal(viewSecret(&c.match))
		if err != nil || string(got) != c.want {
			t.Errorf("got %s, %v, want %s", got, err, c.want)
		}
	}
}
