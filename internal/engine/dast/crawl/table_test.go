package crawl_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"

	"merlon/internal/engine/dast/crawl"
)

// Forms that begin inside of a table, or end with an element around them, have the
// controls that follow.
func TestFormsInTables(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		if r.URL.Path != "/" {
			_, _ = fmt.Fprint(w, "done")
			return
		}
		_, _ = fmt.Fprint(w, `<table><form action=/between method=post><tr><td><input name=a></td></tr><tr><td><select name=b><option>1</select><input type=submit></td></tr></form></table>
			<div><form action=/around method=post></div><input name=c><textarea name=d></textarea></form>
			<form action=/whole method=post><input name=e></form><input name=nobody>`)
	}))
	t.Cleanup(server.Close)
	surface, _, _ := run(t, server.URL, crawl.Options{Submit: true})
	for path, want := range map[string]string{"/between": "[[form:a form:b]]", "/around": "[[form:c form:d]]",
		"/whole": "[[form:e]]"} {
		if got := fmt.Sprint(parametersOf(surface, "POST", path)); got != want {
			t.Errorf("%s takes %s, want %s", path, got, want)
		}
	}
}
