package activescan_test

import (
	"net/http"
	"slices"
	"sync"
	"testing"

	"merlon/internal/engine/dast/activescan"
	"merlon/internal/engine/dast/activescan/activescantest"
	"merlon/internal/scan"
)

// TestOwn leaves the name of the identity in a form that shows its account, and attacks the rest of it as any other
// form.
func TestOwn(t *testing.T) {
	var mu sync.Mutex
	attacked := map[string][]string{}
	note := &activescan.Rule{ID: "note", ProbePoint: func(p *activescan.Probe) error {
		mu.Lock()
		defer mu.Unlock()
		attacked[p.Request.Path] = append(attacked[p.Request.Path], string(p.Point.In)+" "+p.Point.Name)
		return nil
	}}
	h := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("saved")) })
	activescantest.Attack(t, h, []*activescan.Rule{note}, []string{"POST /profile " +
		"name=jane&motto=hello&city=Ulm", "POST /guest name=test&motto=hello&city=Ulm", "POST /sign-in name=jane"},
		func(r *activescan.Engine) {
			r.Target.Identities = []scan.Identity{{Name: "user", Form: &scan.FormLogin{User: "jane"}}}
		})
	for path, want := range map[string][]string{
		"/profile": {"form motto", "form city"},
		"/guest":   {"form name", "form motto", "form city"},
		"/sign-in": {"form name"},
	} {
		if got := attacked[path]; !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", path, got, want)
		}
	}
}
