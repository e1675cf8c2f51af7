package application_test

import (
	"fmt"
	"html"
	"net/http"
	"slices"
	"sync"
	"testing"

	"merlon/internal/scan"
)

// A parameter that is read only when a list has a certain value is attacked beside that value,
// if the page is another one then.
func TestConditionalFields(t *testing.T) {
	const page = `<form action="/report" method="%s"><input name="recipient"> %s <button>Go</button></form>`
	list := `<select name="way"><option>shown<option>mailed<option>printed<option>folded<option>sent<option>kept</select>`
	radio := `<input type=radio name=way value=shown checked><input type=radio name=way value=mailed>`
	plain := func(s string) string { return s }
	for _, test := range []struct {
		name, method, list string
		write              func(string) string
		mailed             string // the value of the list that reads the recipient
		flawed             bool
	}{
		{"list", "get", list, plain, "mailed", true},
		{"radio", "get", radio, plain, "mailed", true},
		{"body", "post", list, plain, "mailed", true},
		{"encoded", "get", list, html.EscapeString, "mailed", false},
		{"never read", "get", list, plain, "", false},
	} {
		t.Run(test.name, func(t *testing.T) {
			var mu sync.Mutex
			others, attacked := map[string]int{}, 0
			recipients := map[string]bool{}
			got := examine(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				mu.Lock()
				defer mu.Unlock()
				w.Header().Set("Content-Type", "text/html")
				switch way := r.FormValue("way"); {
				case r.URL.Path == "/":
					fmt.Fprintf(w, page, test.method, test.list)
				case r.URL.Path != "/report":
					http.NotFound(w, r)
				case way == test.mailed:
					recipients[r.FormValue("recipient")] = true
					fmt.Fprintf(w, "<p>The report goes to %s.</p>", test.write(r.FormValue("recipient")))
				default:
					if slices.Contains([]string{"mailed", "printed", "folded", "sent", "kept"}, way) {
						others[way]++
						attacked++
					}
					fmt.Fprint(w, "<p>Here is the report.</p>")
				}
			}), func(o *scan.Options) {
				o.Live.Target.Profile = scan.Standard
				if test.method == "post" { // what shows a value that was sent may have kept it
					o.Live.Target.Profile = scan.Full
				}
			})
			found := false
			for _, f := range got.Findings {
				found = found || f.RuleID == "dast/xss/reflected" && f.Live.Parameter == "recipient"
			}
			if found != test.flawed {
				t.Errorf("found %v, want %v", found, test.flawed)
			}
			if test.mailed != "" && len(recipients) < 3 {
				t.Errorf("%d recipients were tried", len(recipients))
			}
			if len(others) > 4 || test.mailed == "" && attacked > 4 {
				t.Errorf("%d requests with values that change nothing: %v", attacked, others)
			}
		})
	}
}
