package sqlinjection

import (
	"fmt"
	"net/http"
	"regexp"
	"testing"

	"merlon/internal/engine/dast/activescan"
	"merlon/internal/engine/dast/activescan/activescantest"
)

// TestPrograms attacks what evaluates a string as Python and Ruby do, which join those
// that stand beside each other: that is no SQL. MySQL knows comments between them.
func TestPrograms(t *testing.T) {
	mux := http.NewServeMux()
	page := func(path, expression string) {
		literal := regexp.MustCompile(expression)
		mux.HandleFunc(path, func(w http.ResponseWriter, r *http.Request) {
			if !literal.MatchString("'" + r.FormValue("q") + "'") {
				http.Error(w, "Internal error", http.StatusInternalServerError)
				return
			}
			fmt.Fprint(w, "<p>Thank you.</p>")
		})
	}
	page("/python", `^('[^']*'\s*)+$`)
	page("/mysql", `^('[^']*'(?:\s|/\*\*/)*)+$`)
	got := activescantest.Attack(t, mux, []*activescan.Rule{Rule}, []string{"GET /python?q=tea", "GET /mysql?q=tea"})
	activescantest.Expect(t, got, "dast/sqlinjection/error GET /mysql query:q")
}
