package cors

import (
	"context"
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"merlon/internal/engine/dast/activescan"
	"merlon/internal/engine/dast/activescan/activescantest"
	"merlon/internal/engine/dast/message"
)

// user is a session that is a cookie.
type user struct{}

func (user) Prepare(_ context.Context, req *http.Request) error {
	req.Header.Set("Cookie", "sid=1")
	return nil
}
func (user) Seen(*message.Response) {}
func (user) Name() string           { return "jane" }

// shop allows origins as the function says.
func shop(allowed func(origin string) bool, credentials bool) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if o := r.Header.Get("Origin"); o != "" && allowed(o) {
			w.Header().Set("Access-Control-Allow-Origin", o)
			if credentials {
				w.Header().Set("Access-Control-Allow-Credentials", "true")
			}
		}
		if c, err := r.Cookie("sid"); err == nil && c.Value == "1" && r.URL.Path == "/me" {
			fmt.Fprint(w, "<p>Jane's secrets</p>")
			return
		}
		fmt.Fprint(w, "<p>hello</p>")
	}
}

func TestCORS(t *testing.T) {
	any := func(string) bool { return true }
	prefix := func(o string) bool { return strings.HasPrefix(o, "http://127.0.0.1") }
	suffix := func(o string) bool { return strings.HasSuffix(o, "127.0.0.1") }
	list := regexp.MustCompile(`^https://(?:app|www)\.shop\.example$`).MatchString
	for name, c := range map[string]struct {
		allowed     func(string) bool
		credentials bool
		path        string
		want        bool
	}{
		"reflected": {any, true, "/me", true}, "null": {func(o string) bool { return o == "null" }, true, "/me", true},
		"prefix": {prefix, true, "/me", true}, "suffix": {suffix, true, "/me", true},
		"without credentials": {any, false, "/me", false}, "public": {any, true, "/news", false},
		"a list": {list, true, "/me", false},
	} {
		got := activescantest.Attack(t, shop(c.allowed, c.credentials), []*activescan.Rule{Rule},
			[]string{"GET " + c.path},
			func(r *activescan.Engine) { r.As = user{} })
		if (len(got.Findings) == 1) != c.want {
			t.Errorf("%s: %+v", name, got.Findings)
		}
	}
}
