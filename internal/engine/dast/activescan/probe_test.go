package activescan_test

import (
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"merlon/internal/engine/dast/activescan"
	"merlon/internal/engine/dast/activescan/activescantest"
)

// TestBroken tells of pages that break under the scan, and of those alone.
func TestBroken(t *testing.T) {
	compare := &activescan.Rule{ID: "compare", ScanOperation: func(t *activescan.OperationScan) error {
		_, err := t.Baseline()
		return err
	}}
	var asked atomic.Int64
	h := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.URL.Path == "/breaks" && asked.Add(1) > 1, r.URL.Path == "/broken":
			http.Error(w, "too many connections", http.StatusInternalServerError)
		default:
			_, _ = w.Write([]byte("a page"))
		}
	})
	got := activescantest.Attack(t, h, []*activescan.Rule{compare}, []string{"GET /breaks?x=1", "GET /broken?x=1",
		"GET /stays?x=1"})
	if len(got.Reasons) != 1 || !strings.HasSuffix(got.Reasons[0].Path, "/breaks") ||
		!strings.Contains(got.Reasons[0].Message, "returned 200 when it was crawled, and 500") {
		t.Errorf("reasons: %+v", got.Reasons)
	}
}
