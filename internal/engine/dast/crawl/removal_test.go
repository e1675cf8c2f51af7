package crawl_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"merlon/internal/engine/dast/crawl"
)

// TestRemoval sends nothing that says that it removes something, or that it ends the session,
// as long as it may not: neither by a choice, a button, a hidden field nor an address.
func TestRemoval(t *testing.T) {
	const page = `<form method=post action=/users><select name=action><option value="">---<option value=drop_selected>Delete selected<option value=mail>Mail them</select>
<input type=checkbox name=user value=1><button name=go>Go</button></form>
<form method=post action=/confirm><input type=hidden name=action value=delete_selected><input type=hidden name=user value=1><button>Yes, I'm sure</button></form>
<form method=post action=/users/1/delete/><input type=hidden name=token value=x><button>Yes</button></form>
<form method=post action=/users/1><input name=text value=hello><button>Save</button><button name=remove value=1>Remove this user</button></form>
<form method=post action=/session><input type=hidden name=token value=x><button>Log out</button></form>`
	for _, may := range []bool{false, true} {
		var mu sync.Mutex
		var sent []string
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			mu.Lock()
			defer mu.Unlock()
			if r.Method == http.MethodPost {
				sent = append(sent, r.URL.Path+" "+r.FormValue("action")+r.FormValue("remove"))
			}
			w.Header().Set("Content-Type", "text/html")
			_, _ = w.Write([]byte(page))
		}))
		t.Cleanup(server.Close)
		run(t, server.URL+"/", crawl.Options{Submit: true, Remove: may})
		all := " " + strings.Join(sent, ", ") + ","
		for _, safe := range []string{" /users mail,", " /users/1 ,"} {
			if !strings.Contains(all, safe) {
				t.Errorf("%v: %q was not sent: %s", may, safe, all)
			}
		}
		for _, removes := range []string{" /confirm delete_selected,", " /users/1/delete/ ,", " /users/1 1,"} {
			if strings.Contains(all, removes) != may {
				t.Errorf("%v: %q: %s", may, removes, all)
			}
		}
		if strings.Contains(all, "/session") || strings.Contains(all, "drop_selected") {
			t.Errorf("%v: %s", may, all)
		}
	}
}
