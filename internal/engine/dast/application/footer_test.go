package application_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"merlon/internal/finding"
)

// A footer that shows the User-Agent on every page is one vulnerability with its places, and so is the
// parameter that chooses the page of a program. Vulnerabilities of different parameters stay apart.
func TestOneFlawOnce(t *testing.T) {
	got := examine(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		switch {
		case r.URL.Path == "/":
			for i := range 8 {
				fmt.Fprintf(w, `<a href="/folder%d/page">page</a> <a href="/index.php?page=item%d.php&sort=1">item</a>`,
					i, i)
			}
		case r.URL.Path == "/index.php":
			fmt.Fprintf(w, "<p>%s</p>", r.FormValue("page"))
		case strings.HasSuffix(r.URL.Path, "/page"):
			fmt.Fprintf(w, "<footer>%s</footer>", r.UserAgent())
		default:
			http.NotFound(w, r)
		}
	}), nil)
	count := map[string][]finding.Finding{}
	for _, f := range got.Findings {
		if f.RuleID == "dast/xss/reflected" {
			count[f.Live.In+":"+f.Live.Parameter] = append(count[f.Live.In+":"+f.Live.Parameter], f)
		}
	}
	agent, page := count["header:User-Agent"], count["query:page"]
	if len(agent) != 1 || len(agent[0].Also) < 5 || !slices.ContainsFunc(agent[0].Live.Proof, func(p string) bool {
		return strings.HasPrefix(p, "The same flaw showed in ")
	}) {
		t.Errorf("%d findings of the User-Agent: %+v", len(agent), agent)
	}
	if len(page) != 1 || len(count) != 2 {
		t.Errorf("%d findings of the page: %v", len(page), count)
	}
}
