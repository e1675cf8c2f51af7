package activescan_test

import (
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"merlon/internal/engine/dast/activescan"
	"merlon/internal/engine/dast/activescan/activescantest"
	"merlon/internal/engine/dast/message"
)

// TestAskedOnce counts what three checks send that want to know the same of a point.
func TestAskedOnce(t *testing.T) {
	var first, pages atomic.Int64
	mux := http.NewServeMux()
	mux.HandleFunc("/still", func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprint(w, "you said ", r.FormValue("v"))
	})
	mux.HandleFunc("/moves", func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprint(w, "page ", strings.Repeat("x", int(pages.Add(1))))
	})
	var checks []*activescan.Rule
	for range 3 {
		checks = append(checks, &activescan.Rule{ID: "test", ProbePoint: func(p *activescan.Probe) error {
			r, err := p.ProbeErrorReaction()
			if err != nil {
				return err
			}
			c, err := p.ProbeCanary()
			if err != nil {
				return err
			}
			missing, err := r.UnknownPage()
			if err != nil {
				return err
			}
			if p.Request.Path == "/still" && (r.Changed() || !missing.Equal(r.Base.Page()) ||
				!strings.HasSuffix(c.Response.Text(), c.Word)) {
				t.Errorf("%s: a value that is only repeated changed the page", p.Point.Key())
			}
			first.Add(1)
			return nil
		}})
	}
	// When the operation is found, its second answer, the breaking value, the word and the other value.
	if got := activescantest.Attack(t, mux, checks, []string{"GET /still?v=abcdef"}); got.Requests != 5 ||
		first.Load() != 3 {
		t.Errorf("%d requests of %d checks", got.Requests, first.Load())
	}
	// One that has changed since it was found is asked once more.
	if got := activescantest.Attack(t, mux, checks, []string{"GET /moves?v=abcdef"}); got.Requests != 6 {
		t.Errorf("%d requests for a page that changes", got.Requests)
	}
}

// TestNamesOfValuesThatAreRead looks at names only where nothing says how the parameter
// is read.
func TestNamesOfValuesThatAreRead(t *testing.T) {
	var names []string
	check := &activescan.Rule{ID: "test", AcceptsPoint: func(message.Point) bool {
		return true
	}, ProbePoint: func(p *activescan.Probe) error {
		switch {
		case p.Point.Names():
			names = append(names, p.Point.Name)
		case p.Point.Name == "read":
			p.MarkRead()
		case p.Point.Name == "flawed":
			p.MarkFound("sql")
		}
		return nil
	}}
	activescantest.Attack(t, http.NotFoundHandler(), []*activescan.Rule{check},
		[]string{"GET /?read=1&open=2&flawed=3"})
	if len(names) != 1 || names[0] != "open" {
		t.Errorf("names %v", names)
	}
}
