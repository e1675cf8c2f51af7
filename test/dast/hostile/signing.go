package hostile

import (
	"net/http"
	"regexp"
	"strconv"
	"sync"
)

// This file holds traps for who signs in.

// jane is who signs in by the form of sessions.
// It has the shape of an identity in a target file.
var jane = map[string]any{"name": "jane", "form": map[string]any{"url": "/login", "user": "jane", "password": "secret"}}

// serveSessions serves pages to who has signed in, as often as the session has uses; enter
// answers a sign-in in its place, when it is set.
// uses is how many responses a session is valid for. enter is nil for a sign-in that works.
func serveSessions(uses int, enter http.HandlerFunc) func(*Site) http.Handler {
	return func(*Site) http.Handler {
		// The browser and the crawler send requests at the same time.
		var mu sync.Mutex
		// left has the remaining uses of each session, by the value of the cookie.
		left := map[string]int{}
		use := func(r *http.Request) bool {
			mu.Lock()
			defer mu.Unlock()
			c, err := r.Cookie("sid")
			if err != nil || left[c.Value] == 0 {
				return false
			}
			left[c.Value]--
			return true
		}
		begin := func() string {
			mu.Lock()
			defer mu.Unlock()
			// The count alone would make a session id predictable, which a check could report.
			sid := "s" + strconv.Itoa(len(left)) + numberedWord("session", len(left))
			left[sid] = uses
			return sid
		}
		pages := ordinarySite("<p>Welcome, jane.</p>")
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			setSecurityHeaders(w)
			switch {
			case r.URL.Path == "/login" && r.Method == http.MethodPost && enter != nil:
				enter(w, r)
			case r.URL.Path == "/login" && r.Method == http.MethodPost && r.FormValue("user") == "jane" &&
				r.FormValue("password") == "secret":
				// Secure is false because the application is served by HTTP, where the cookie would
				// not come back.
				http.SetCookie(w, &http.Cookie{Name: "sid", Value: begin(), Path: "/", HttpOnly: true, Secure: false,
					SameSite: http.SameSiteStrictMode})
				http.Redirect(w, r, "/", http.StatusSeeOther)
			case r.URL.Path == "/login":
				writePage(w, `<form method="post" action="/login"><input name="user"><input type="password" name="password"><input type="submit"></form>`)
			case use(r):
				pages(w, r)
			// Without a session every page redirects to the sign-in: a scanner that does not notice
			// analyzes the form only and reports full coverage.
			default:
				http.Redirect(w, r, "/login", http.StatusSeeOther)
			}
		})
	}
}

// signing are targets whose sign-in or session misbehaves.
var signing = []Trap{
	// Each request needs a new sign-in. After some of them the scan must give the identity up.
	{Name: "a session that ends with each answer", Identity: jane,
		Says:  regexp.MustCompile(`signing in as "jane" failed|session of "jane" was lost`),
		build: serveSessions(1, nil)},
	// The reason must have the time of the loss, which a customer looks up in the log of the
	// application.
	{Name: "a session that ends with every tenth answer", Identity: jane,
		Says: regexp.MustCompile(`session of "jane" was lost .* at 20\d\d-`), build: serveSessions(10, nil)},
	{Name: "a sign-in that hangs", Identity: jane, Says: regexp.MustCompile(`the scan goes on without it`),
		build: serveSessions(1, neverRespond)},
	{Name: "a sign-in of one byte a second", Identity: jane, Says: part, build: serveSessions(1, dripResponse)},
}
