package forcedbrowsing

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"merlon/internal/engine/dast/activescan"
	"merlon/internal/engine/dast/activescan/activescantest"
	"merlon/internal/engine/dast/message"
	"merlon/internal/scan"
)

// A user is signed in by his name.
type user string

func (u user) Prepare(_ context.Context, r *http.Request) error {
	r.Header.Set("Cookie", "user="+string(u))
	return nil
}
func (user) Seen(*message.Response) {}
func (u user) Name() string         { return string(u) }

const page = "<h1>Users of the shop</h1><p>Here are all users, with their names, their roles, their addresses and " +
	"what they have bought in the last years.</p>"

// shop shows users to administrators only; it looks who asks, or does not.
func shop(looks string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		who, _ := strings.CutPrefix(r.Header.Get("Cookie"), "user=")
		switch {
		case who == "":
			fmt.Fprint(w, "<p>Please sign in")
		case r.URL.Path == "/":
			fmt.Fprint(w, "<a href=/news>News</a>")
			if who == "admin" {
				fmt.Fprint(w, "<a href=/users>Users</a>")
			}
		case r.URL.Path == "/news":
			fmt.Fprint(w, "<p>There is nothing new in the shop today; come back tomorrow, or the day after, when "+
				"there will be something for everybody.")
		case r.URL.Path == "/users" && (who == "admin" || looks == "not"):
			fmt.Fprint(w, page)
		case looks == "status":
			http.Error(w, "forbidden", http.StatusForbidden)
		default:
			fmt.Fprint(w, "<p>This is not for you")
		}
	}
}

func TestCheck(t *testing.T) {
	const found = "dast/access/hidden-page GET /users"
	for name, c := range map[string]struct {
		h      http.Handler
		others []activescan.Identity
		want   []string
	}{
		"open": {shop("not"), []activescan.Identity{{Session: user("jane"), LessPrivileged: true}},
			[]string{found}},
		"refused":   {shop("status"), []activescan.Identity{{Session: user("jane"), LessPrivileged: true}}, nil},
		"said":      {shop("text"), []activescan.Identity{{Session: user("jane"), LessPrivileged: true}}, nil},
		"same role": {shop("not"), []activescan.Identity{{Session: user("jane")}}, nil},
		"alone":     {shop("not"), nil, nil},
		"nobody":    {shop("not"), []activescan.Identity{{Session: user(""), LessPrivileged: true}}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			got := activescantest.Attack(t, c.h, []*activescan.Rule{Rule}, nil, activescantest.Profile(scan.Safe),
				func(r *activescan.Engine) {
					r.As, r.OtherIdentities = user("admin"), c.others
					for _, path := range []string{"/", "/news", "/users"} {
						r.Sitemap.Add(&message.Request{Method: http.MethodGet, Scheme: "http",
							Host: r.Scope.Base().Host,
							Path: path, Origin: "link"})
					}
				})
			activescantest.Expect(t, got, c.want...)
			if name == "nobody" && len(got.Reasons) == 0 {
				t.Error("no reason")
			}
		})
	}
}
