package activescan_test

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"merlon/internal/engine/dast/activescan"
	"merlon/internal/engine/dast/activescan/activescantest"
	"merlon/internal/finding"
)

var late = &finding.Rule{ID: "dast/test/late", Analysis: finding.DAST, Name: "Late", Severity: finding.Low}

// sleeps is a check for values that are slept for.
func sleeps(how activescan.DelayKind) *activescan.Rule {
	return &activescan.Rule{ID: "test", FindingRules: []*finding.Rule{late}, Slow: true, Concurrent: true,
		ProbePoint: func(p *activescan.Probe) error {
			d, err := p.MeasureDelay(how, func(d time.Duration) string { return fmt.Sprintf("sleep %g", d.Seconds()) })
			if d != nil {
				p.RaiseAlert(activescan.Alert{Rule: late, Payload: d.Payload, Responses: d.Responses,
					ResponseNotes: d.ResponseNotes,
					Proof:         d.Proof})
			}
			return err
		}}
}

// asked is how long the value asks to sleep.
func asked(r *http.Request) time.Duration {
	n, ok := strings.CutPrefix(r.FormValue("q"), "sleep ")
	if !ok {
		return 0
	}
	f, err := strconv.ParseFloat(n, 64)
	if err != nil {
		return 0
	}
	return time.Duration(f * float64(time.Second))
}

// random is a duration up to a bound that depends on nothing but how often it was asked for.
func random(n *atomic.Uint64, bound time.Duration) time.Duration {
	x := n.Add(1) * 0x9e3779b97f4a7c15
	x = (x ^ x>>31) * 0xbf58476d1ce4e5b9
	return time.Duration((x ^ x>>29) % uint64(bound))
}

// single is the lock of a server that answers one request after the other: a channel that
// is made where it is used first, inside of the bubble.
func single() func() chan struct{} {
	return sync.OnceValue(func() chan struct{} { return make(chan struct{}, 1) })
}

func TestDelay(t *testing.T) {
	var count atomic.Uint64
	noise := func(bound time.Duration) { time.Sleep(random(&count, bound)) }
	var busy atomic.Int64
	for name, c := range map[string]struct {
		handler func(r *http.Request, one chan struct{})
		found   bool // of /a to /h
		within  time.Duration
		most    int // requests for each operation
	}{
		"sleeps": {func(r *http.Request, _ chan struct{}) { time.Sleep(asked(r)) }, true,
			20 * time.Second, 5},
		"sleeps, with noise": {func(r *http.Request, _ chan struct{}) {
			noise(40 * time.Millisecond)
			time.Sleep(asked(r))
		}, true, 100 * time.Second, 16},
		"sleeps, much noise": {func(r *http.Request, _ chan struct{}) {
			noise(400 * time.Millisecond)
			time.Sleep(asked(r))
		}, true, 250 * time.Second, 16},
		"sleeps twice": {func(r *http.Request, _ chan struct{}) { time.Sleep(2 * asked(r)) }, true,
			150 * time.Second, 8},
		"answers at once": {func(*http.Request, chan struct{}) {}, false, time.Second, 3},
		"always takes 900 ms": {func(*http.Request, chan struct{}) { time.Sleep(900 * time.Millisecond) }, false,
			25 * time.Second, 3},
		"at random up to 2 s": {func(*http.Request, chan struct{}) { noise(2 * time.Second) }, false,
			300 * time.Second, 16},
		"at random up to 5 s": {func(*http.Request, chan struct{}) { noise(5 * time.Second) }, false,
			450 * time.Second, 16},
		"now and then for 2 s": {func(*http.Request, chan struct{}) {
			time.Sleep(random(&count, 3) / 2 * 2 * time.Second)
		}, false, 300 * time.Second, 16},
		"one after the other, and sleeps": {func(r *http.Request, one chan struct{}) {
			one <- struct{}{}
			time.Sleep(asked(r))
			<-one
		}, true, 250 * time.Second, 16},
		"slower under load": {func(*http.Request, chan struct{}) {
			time.Sleep(time.Duration(busy.Add(1)-1) * 700 * time.Millisecond)
			busy.Add(-1)
		}, false, 250 * time.Second, 16},
		"a filter that waits for long values": {func(r *http.Request, _ chan struct{}) {
			if len(r.FormValue("q")) > 7 {
				time.Sleep(1900 * time.Millisecond)
			}
		}, false, 60 * time.Second, 8},
	} {
		for _, how := range []activescan.DelayKind{activescan.PreciseSleep, activescan.WholeSeconds} {
			t.Run(fmt.Sprintf("%s/%d", name, how), func(t *testing.T) {
				var began, took atomic.Int64
				one := single()
				h := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					began.CompareAndSwap(0, time.Now().UnixNano())
					c.handler(r, one())
					took.Store(time.Now().UnixNano() - began.Load())
					fmt.Fprint(w, "thank you")
				})
				var operations []string
				for p := 'a'; p <= 'h'; p++ {
					operations = append(operations, fmt.Sprintf("GET /%c?q=1", p))
				}
				got := activescantest.Timed(t, h, []*activescan.Rule{sleeps(how)}, operations)
				want := 0
				if c.found {
					want = len(operations)
				}
				if len(got.Findings) != want {
					t.Errorf("%d findings", len(got.Findings))
				}
				for _, f := range got.Findings {
					if len(f.Live.Proof) < 4 || !strings.Contains(strings.Join(f.Live.Proof, " "),
						"nothing else under way") {
						t.Errorf("proof: %s", f.Live.Proof)
					}
				}
				if whole := time.Duration(took.Load()); whole > c.within {
					t.Errorf("took %s", whole)
				}
				if got.Requests > c.most*len(operations) {
					t.Errorf("%d requests", got.Requests)
				}
			})
		}
	}
}

// One operation sleeps, and all of a session wait for it: only that one is told.
func TestDelayBehindOthers(t *testing.T) {
	session := single()
	h := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		session() <- struct{}{}
		defer func() { <-session() }()
		if r.URL.Path == "/sleeps" {
			time.Sleep(asked(r))
		}
		fmt.Fprint(w, "thank you")
	})
	operations := []string{"GET /a?q=1", "GET /b?q=1", "GET /sleeps?q=1&z=1", "GET /c?q=1", "GET /d?q=1"}
	activescantest.Expect(t, activescantest.Timed(t, h, []*activescan.Rule{sleeps(activescan.PreciseSleep)},
		operations),
		"dast/test/late "+
			"GET /sleeps query:q")
}

// Work is told where more of it takes longer, and not where answers vary by themselves,
// however often they are asked for.
func TestDelayByWork(t *testing.T) {
	var count atomic.Uint64
	h := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/works" {
			time.Sleep(40*time.Millisecond + asked(r)/4 + random(&count, 60*time.Millisecond))
		} else { // as where passwords are digested
			time.Sleep(700*time.Millisecond + random(&count, 800*time.Millisecond))
		}
		fmt.Fprint(w, "thank you")
	})
	operations := []string{"GET /works?q=1"}
	for i := range 400 {
		operations = append(operations, fmt.Sprintf("GET /digests%c%c?q=1", 'a'+i/26, 'a'+i%26))
	}
	activescantest.Expect(t, activescantest.Timed(t, h, []*activescan.Rule{sleeps(activescan.Computation)}, operations),
		"dast/test/late "+
			"GET /works query:q")
}

// Where answers vary without a delay, one that is met once and not again is chance; one that
// is met each time is told.
func TestDelayIsShownAgain(t *testing.T) {
	var asks, sleepsOnce atomic.Int64
	h := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch d := asked(r); {
		case d > 0 && (r.URL.Path == "/sleeps" || sleepsOnce.Add(1) <= 2):
			time.Sleep(d)
		case r.FormValue("q") == "ordinary" && asks.Add(1)%3 == 0:
			time.Sleep(600 * time.Millisecond)
		}
		fmt.Fprint(w, "thank you")
	})
	ordinary := &activescan.Rule{ID: "ordinary", FindingRules: []*finding.Rule{late},
		ProbePoint: func(p *activescan.Probe) error {
			for range 12 {
				if _, err := p.SendValue("ordinary"); err != nil {
					return err
				}
			}
			return nil
		}}
	operations := []string{"GET /once?q=1", "GET /sleeps?q=1"}
	activescantest.Expect(t, activescantest.Timed(t, h, []*activescan.Rule{ordinary, sleeps(activescan.PreciseSleep)},
		operations),
		"dast/test/late GET /sleeps query:q")
}
