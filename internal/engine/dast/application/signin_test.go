package application_test

import (
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"

	"merlon/internal/scan"
)

// A bank locks an address out after five wrong passwords.
type bank struct {
	mu     sync.Mutex
	wrong  int
	tried  map[string]int // wrong passwords by name
	after  int            // attempts after the lock
	locks  int            // after so many wrong passwords
	beyond bool           // a page behind the sign-in was attacked
}

func (b *bank) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	b.mu.Lock()
	defer b.mu.Unlock()
	w.Header().Set("Content-Type", "text/html")
	c, err := r.Cookie("sid")
	in := err == nil && c.Value == "in"
	switch {
	case r.URL.Path == "/login" && r.Method == http.MethodPost:
		switch name := r.FormValue("user"); {
		case b.wrong >= b.locks:
			b.after++
			fmt.Fprint(w, "<html>Zu viele Versuche. Ihr Zugang ist gesperrt.")
		case name == "jane" && r.FormValue("password") == "s3cret-word":
			http.SetCookie(w, &http.Cookie{Name: "sid", Value: "in", Path: "/"})
			http.Redirect(w, r, "/", http.StatusFound)
		default:
			b.wrong++
			b.tried[name]++
			fmt.Fprint(w, `<html>Falsch. <form method=post><input name=user><input name=password type=password><button>Anmelden</button></form>`)
		}
	case r.URL.Path == "/login":
		fmt.Fprint(w, `<html><form method=post><input name=user><input name=password type=password><button>Anmelden</button></form>`)
	case !in:
		http.Redirect(w, r, "/login", http.StatusFound)
	case r.URL.Path == "/go":
		b.beyond = b.beyond || !strings.HasPrefix(r.FormValue("to"), "/")
		http.Redirect(w, r, r.FormValue("to"), http.StatusFound)
	default:
		fmt.Fprint(w, `<html>hello <a href="/go?to=/">go</a> <a href="/login">another user</a>`)
	}
}

// Nobody is locked out by a scan: a sign-in form refuses three attempts of all checks together,
// never with the account of the scan. The profile full goes on to the first sign of a lock. The
// rest is attacked, and the report says what was left out.
func TestSignInFormsAreSpared(t *testing.T) {
	for profile, most := range map[scan.Profile]int{scan.Standard: 3, scan.Full: 5} {
		b := &bank{tried: map[string]int{}, locks: 5}
		got := examine(t, b, func(o *scan.Options) {
			o.Live.Target.Profile = profile
			o.Live.Target.Identities = []scan.Identity{{Name: "jane", Form: &scan.FormLogin{URL: "/login", User: "jane",
				Password: "s3cret-word"}}}
		})
		// In the profile full, those that are under way at once may still arrive.
		if b.wrong > most || b.after > map[scan.Profile]int{scan.Full: 4}[profile] || b.tried["jane"] > 0 || !b.beyond {
			t.Errorf("%s: %d wrong passwords, %d after the lock, by name %v, attacked behind it %t", profile, b.wrong,
				b.after, b.tried, b.beyond)
		}
		said := ""
		for _, o := range got.Operations {
			if strings.HasSuffix(o.URL, "/login") && o.Method == http.MethodPost {
				said += o.Reason
			}
		}
		reasons := fmt.Sprint(got.Statuses[0].Reasons)
		switch profile {
		case scan.Full:
			if !strings.Contains(reasons, "from the first sign of a lock on") ||
				!strings.Contains(said, "the first sign of a lock") {
				t.Errorf("%s: the operation says %q, the scan %s", profile, said, reasons)
			}
		default:
			if !strings.Contains(said, "has rejected 3 sign-in attempts") || strings.Contains(reasons, "lock") {
				t.Errorf("%s: the operation says %q, the scan %s", profile, said, reasons)
			}
		}
	}
}
