package redos

import (
	"fmt"
	"math"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"merlon/internal/engine/dast/activescan"
	"merlon/internal/engine/dast/activescan/activescantest"
	"merlon/internal/scan"
)

// A matcher takes the time that an engine with backtracking takes, without the work:
// each character of the run at the beginning multiplies it.
type matcher struct {
	run     string        // characters of the repetition
	step    time.Duration // of 2^18 tries
	grows   float64       // by one character
	longest atomic.Int64
}

func (m *matcher) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	text := r.FormValue("email") + r.FormValue("q")
	n := len(text) - len(strings.TrimLeft(text, m.run))
	if n < len(text) && n > 1 {
		took := float64(m.step) * math.Pow(m.grows, float64(n-18))
		took = min(took, float64(20*time.Second))
		if int64(took) > m.longest.Load() {
			m.longest.Store(int64(took))
		}
		time.Sleep(time.Duration(took))
	}
	fmt.Fprint(w, "no address")
}

func TestCheck(t *testing.T) {
	for name, c := range map[string]struct {
		m    *matcher
		want []string
	}{
		"exponential": {&matcher{run: "a", step: 200 * time.Millisecond, grows: 1.45},
			[]string{"dast/slowexpression/exponential GET / query:email"}},
		"linear": {&matcher{run: "a0", step: 20 * time.Millisecond, grows: 1.02}, nil},
		"slow":   {&matcher{run: "a0", step: 400 * time.Millisecond, grows: 1.02}, nil},
		"fast":   {&matcher{run: "a0", step: 0, grows: 2}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			got := activescantest.Timed(t, c.m, []*activescan.Rule{Rule}, []string{"GET /?email=a@example.com"})
			activescantest.Expect(t, got, c.want...)
			if l := time.Duration(c.m.longest.Load()); l > 8*time.Second {
				t.Errorf("one answer took %s", l)
			}
			if got.Requests > 40 {
				t.Errorf("%d requests", got.Requests)
			}
		})
	}
}

func TestNotInProduction(t *testing.T) {
	m := &matcher{run: "a", step: 200 * time.Millisecond, grows: 1.45}
	activescantest.Expect(t, activescantest.Timed(t, m, []*activescan.Rule{Rule},
		[]string{"GET /?email=a@example.com"},
		func(r *activescan.Engine) {
			r.Target.Production = true
		}))
	activescantest.Expect(t, activescantest.Timed(t, m, []*activescan.Rule{Rule},
		[]string{"GET /?email=a@example.com"},
		activescantest.Profile(scan.Safe)))
	if l := m.longest.Load(); l > int64(time.Millisecond) {
		t.Errorf("an answer took %s", time.Duration(l))
	}
}
