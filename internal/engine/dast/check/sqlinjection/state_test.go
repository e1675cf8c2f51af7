package sqlinjection

import (
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"net/http"
	"os"
	"strconv"
	"sync"
	"testing"
	"time"

	"merlon/internal/engine/dast/activescan"
	"merlon/internal/engine/dast/activescan/activescantest"
)

// simulated is how many applications of each kind TestPagesWithState scans. 1,000 of each take
// some minutes: MERLON_SIMULATED=1000.
func simulated(t *testing.T) int {
	t.Helper()
	if text := os.Getenv("MERLON_SIMULATED"); text != "" {
		n, err := strconv.Atoi(text)
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	return 40
}

// Pages whose responses depend on a state, and never on what is asked: nothing is reported.
// Each is an application of its own, scanned by itself.
func TestPagesWithState(t *testing.T) {
	type page func(r *http.Request, n int) string
	words := []string{"frozen", "unfrozen", "melting", "boiling", "cooling", "gone", "new"}
	write := func(n int) string { return "<p>The account is " + words[n%len(words)] + ".</p>" }
	hash := func(text string, kinds int) string {
		h := fnv.New32a()
		_, _ = h.Write([]byte(text))
		return write(int(h.Sum32()>>8) % kinds)
	}
	perPath := func() page {
		asked := map[string]int{}
		return func(r *http.Request, _ int) string {
			asked[r.URL.Path]++
			return write(asked[r.URL.Path] % 2)
		}
	}
	for name, make := range map[string]func(seed int) page{
		"toggles at each request": func(int) page {
			return func(_ *http.Request, n int) string { return write(n % 2) }
		},
		"toggles at each request of the path": func(int) page { return perPath() },
		"toggles at every second request": func(seed int) page {
			return func(_ *http.Request, n int) string { return write((n + seed) / 2 % 2) }
		},
		"counts to a small number": func(seed int) page {
			return func(_ *http.Request, n int) string { return write(n % (2 + seed%6)) }
		},
		"differs at every n-th request": func(seed int) page {
			return func(_ *http.Request, n int) string { return write(min(n%(2+seed%6), 1)) }
		},
		"shows three values in turns": func(int) page {
			return func(_ *http.Request, n int) string { return write(n % 3) }
		},
		"shows one of two values at random": func(int) page {
			return func(*http.Request, int) string { return write(rand.IntN(2)) }
		},
		"shows one of three values at random": func(int) page {
			return func(*http.Request, int) string { return write(rand.IntN(3)) }
		},
		"keeps a value for a random time": func(int) page {
			v := 0
			return func(*http.Request, int) string { v = (v + rand.IntN(3)/2) % 2; return write(v) }
		},
		"differs by a hash of the user agent": func(int) page {
			return func(r *http.Request, _ int) string { return hash(r.UserAgent(), 2) }
		},
		"differs by a hash of the value": func(int) page {
			return func(r *http.Request, _ int) string { return hash(r.FormValue("q"), 2) }
		},
		"differs by one of three hashes": func(int) page {
			return func(r *http.Request, _ int) string { return hash(r.FormValue("q"), 3) }
		},
		"differs by the length of the request": func(int) page {
			return func(r *http.Request, _ int) string { return write(len(r.URL.RawQuery) % 2) }
		},
		"changes with the time": func(int) page {
			return func(*http.Request, int) string { return write(int(time.Now().UnixMilli()/7) % 2) }
		},
		"fails at each second request": nil,
		"fails at random":              nil,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			found := 0
			for seed := range simulated(t) {
				var mu sync.Mutex
				n, toggles := 0, name == "fails at each second request"
				var p page
				if make != nil {
					p = make(seed)
				}
				h := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					mu.Lock()
					defer mu.Unlock()
					n++
					switch {
					case p != nil:
						fmt.Fprint(w, p(r, n))
					case toggles && n%2 == 0, !toggles && rand.IntN(2) == 0:
						http.Error(w, "sorry", http.StatusInternalServerError)
					default:
						fmt.Fprint(w, "all is well")
					}
				})
				got := activescantest.Attack(t, h, []*activescan.Rule{Rule},
					[]string{"GET /a/?q=alice", "POST /b/ id=2&name=bob"}, func(r *activescan.Engine) {
						r.Seed = uint64(seed) + 1
					})
				found += len(got.Findings)
			}
			if found > 0 {
				t.Errorf("%d findings in %d applications", found, simulated(t))
			}
		})
	}
}
