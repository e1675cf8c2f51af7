package activescan_test

import (
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"merlon/internal/engine/dast/activescan"
	"merlon/internal/engine/dast/activescan/activescantest"
	"merlon/internal/engine/dast/message"
	"merlon/internal/finding"
	"merlon/internal/scan"
)

var fetches = &finding.Rule{ID: "dast/test/fetches"}

// lured asks each point with an address.
func lured(fetch bool) *activescan.Rule {
	return &activescan.Rule{ID: "test", FindingRules: []*finding.Rule{fetches},
		ProbePoint: func(p *activescan.Probe) error {
			_, err := p.SendOAST(func(bait func() activescan.OASTPayload) (*message.Request,
				[]activescan.ExpectedInteraction) {
				b := bait()
				return p.Request.With(p.Point, b.URL),
					[]activescan.ExpectedInteraction{{OASTPayload: b, Rule: fetches, Point: &p.Point, Payload: b.URL,
						RequiresHTTP: fetch,
						Proof:        "It was asked for."}}
			})
			return err
		}}
}

// memory is a listener that hears at once what it is told.
type memory struct {
	mu    sync.Mutex
	count int
	calls []scan.Interaction
}

func (m *memory) NewToken() string {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.count++
	return fmt.Sprintf("token%d", m.count)
}
func (m *memory) Address(token string) (url, host string)     { return "http://" + token + ".example/", "" }
func (m *memory) Response(token string) (t scan.OASTResponse) { return t }
func (m *memory) Interactions(from int) []scan.Interaction {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.calls[min(from, len(m.calls)):]
}

// hear notes that an address was asked for, or that its name was looked up.
func (m *memory) hear(address, protocol string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	token, _, _ := strings.Cut(strings.TrimPrefix(address, "http://"), ".")
	m.calls = append(m.calls, scan.Interaction{Token: token, Protocol: protocol, From: "192.0.2.53", Request: token + ".example"})
}

func TestLure(t *testing.T) {
	var heard memory
	listening := func(r *activescan.Engine) { r.OAST, r.OASTTimeout = &heard, 100*time.Millisecond }
	mux := http.NewServeMux()
	page := func(path string, f func(v string)) {
		mux.HandleFunc(path, func(w http.ResponseWriter, r *http.Request) {
			f(r.FormValue("v"))
			fmt.Fprint(w, "thank you")
		})
	}
	page("/now", func(v string) { heard.hear(v, "http") })
	page("/later", func(v string) {
		time.AfterFunc(250*time.Millisecond, func() { heard.hear(v, "http") }) // longer than a proof waits
	})
	page("/never", func(string) {})
	operations := []string{"GET /now?v=a", "GET /later?v=a", "GET /never?v=a"}
	got := activescantest.Timed(t, mux, []*activescan.Rule{lured(true)}, operations, listening)
	activescantest.Expect(t, got, "dast/test/fetches GET /now query:v", "dast/test/fetches GET /later query:v")
	for _, f := range got.Findings {
		proof := strings.Join(f.Live.Proof, " ")
		if late := strings.Contains(f.Live.URL, "later"); late != (f.Confidence == finding.MediumConfidence) ||
			!strings.Contains(proof, "from 192.0.2.53") || late && len(f.Live.Exchanges) != 1 ||
			!late && len(f.Live.Exchanges) != 2 {
			t.Errorf("%+v %+v", f, f.Live)
		}
	}
	if got := activescantest.Timed(t, mux, []*activescan.Rule{lured(true)}, operations); len(got.Findings) > 0 ||
		got.Requests != len(operations) {
		t.Errorf("nobody listens: %+v", got)
	}
}

// TestLureBehindADevice tells nothing where every address that is seen is asked for.
func TestLureBehindADevice(t *testing.T) {
	fetch := activescantest.Fetch(t)
	mux := http.NewServeMux()
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		for _, values := range r.URL.Query() {
			fetch(values[0])
		}
		fmt.Fprint(w, "hello")
	})
	got := activescantest.Attack(t, mux, []*activescan.Rule{lured(true)}, []string{"GET /a?v=a"},
		activescantest.Listening(t))
	if len(got.Findings) != 0 || len(got.Reasons) != 1 ||
		!strings.Contains(got.Reasons[0].Message, "in front of the target") {
		t.Errorf("%+v", got)
	}
}

// TestLureByName makes vulnerabilities likely that only a name shows, where a request should have
// come.
func TestLureByName(t *testing.T) {
	for _, wanted := range []bool{true, false} {
		heard := &memory{}
		mux := http.NewServeMux()
		mux.HandleFunc("/", func(_ http.ResponseWriter, r *http.Request) {
			if v := r.FormValue("v"); v != "a" {
				heard.hear(v, "dns")
			}
		})
		got := activescantest.Attack(t, mux, []*activescan.Rule{lured(wanted)}, []string{"GET /a?v=a"},
			func(r *activescan.Engine) {
				r.OAST, r.OASTTimeout = heard, 20*time.Millisecond
			})
		activescantest.Expect(t, got, "dast/test/fetches GET /a query:v")
		if f := got.Findings[0]; wanted != (f.Confidence == finding.MediumConfidence) {
			t.Errorf("%+v", f)
		}
	}
}
