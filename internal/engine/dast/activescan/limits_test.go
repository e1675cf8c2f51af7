package activescan_test

import (
	"context"
	"crypto/rand"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"merlon/internal/engine/dast/activescan"
	"merlon/internal/engine/dast/activescan/activescantest"
	"merlon/internal/engine/dast/crawl"
	"merlon/internal/engine/dast/message"
	"merlon/internal/finding"
)

// An operation that takes long to answer is set aside, begun again alone, and left in
// the end; one that has only waited for it is examined.
func TestLimits(t *testing.T) {
	rule := &finding.Rule{ID: "dast/test/flaw", Analysis: finding.DAST, Name: "Flaw", Severity: finding.Low}
	check := &activescan.Rule{ID: "test", FindingRules: []*finding.Rule{rule},
		ProbePoint: func(p *activescan.Probe) error {
			for range 5 {
				resp, err := p.SendValue(p.RandomLetters(5))
				if err != nil {
					return err
				}
				if resp.Request.Path == "/sleeps" && resp.Request.Query[0].Name == "b" {
					t.Error("it was waited for too long")
				}
			}
			p.RaiseAlert(activescan.Alert{Rule: rule, Proof: []string{"it was examined"}})
			return nil
		}}
	var busy, asked atomic.Int64
	h := http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		asked.Add(1)
		if r.URL.Path == "/sleeps" {
			busy.Add(1)
			time.Sleep(40 * time.Millisecond)
			busy.Add(-1)
		}
		for r.URL.Path == "/waits" && busy.Load() > 0 { // as behind the lock of a session
			time.Sleep(5 * time.Millisecond)
		}
	})
	limits := func(r *activescan.Engine) {
		r.Limits = activescan.Limits{Deferred: 60 * time.Millisecond, Slow: 20 * time.Millisecond,
			Total: 110 * time.Millisecond}
	}
	got := activescantest.Timed(t, h, []*activescan.Rule{check}, []string{"GET /sleeps?a=1&b=1", "GET /waits?a=1"},
		limits)
	if len(got.Findings) != 1 || got.Findings[0].Live.Parameter != "a" ||
		!strings.HasSuffix(got.Findings[0].Live.URL, "/waits") {
		t.Errorf("found %+v", got.Findings)
	}
	if len(got.Reasons) != 1 || got.Reasons[0].Code != "timeout" ||
		!strings.Contains(got.Reasons[0].Message, "GET /sleeps takes") {
		t.Errorf("reasons %+v", got.Reasons)
	}
	if n := asked.Load(); n > 25 {
		t.Errorf("%d requests", n)
	}
}

// An operation of many values is left when it has cost enough, however soon it answers.
func TestMost(t *testing.T) {
	check := &activescan.Rule{ID: "test", ProbePoint: func(p *activescan.Probe) error {
		_, err := p.SendValue(p.RandomLetters(5))
		return err
	}}
	var asked atomic.Int64
	h := http.HandlerFunc(func(http.ResponseWriter, *http.Request) { asked.Add(1); time.Sleep(10 * time.Millisecond) })
	many := "GET /many?a0=1"
	for i := range 200 {
		many += fmt.Sprintf("&a%d=1", i+1)
	}
	got := activescantest.Timed(t, h, []*activescan.Rule{check}, []string{many}, func(r *activescan.Engine) {
		r.Limits.Longest = 500 * time.Millisecond
	})
	if len(got.Reasons) != 1 || got.Reasons[0].Code != "timeout" ||
		!strings.Contains(got.Reasons[0].Message, "GET /many takes 10ms") {
		t.Errorf("reasons %+v", got.Reasons)
	}
	if n := asked.Load(); n < 50 || n > 60 {
		t.Errorf("%d requests", n)
	}
}

// A token that is renewed with every request is no point.
func TestRenewed(t *testing.T) {
	check := &activescan.Rule{ID: "test", ProbePoint: func(p *activescan.Probe) error {
		if p.Point.Name == "user_token" {
			t.Errorf("asked about %s", p.Point.Key())
		}
		_, err := p.SendValue("x")
		return err
	}}
	form := &message.Request{Method: http.MethodPost, Scheme: "http", Path: "/send", Origin: "form",
		Types: map[string]string{"form:user_token": "hidden"}}
	form.Body = message.Body{Kind: message.Form,
		Params: []message.Param{{Name: "user_token", Value: "0123456789abcdef"}, {Name: "text", Value: "a"}}}
	h := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "thanks") })
	activescantest.Attack(t, h, []*activescan.Rule{check}, nil, func(r *activescan.Engine) {
		form.Host = r.Scope.Base().Host
		form.Referer = r.Scope.Base().String()
		r.Sitemap.Add(form)
		r.RenewCSRFToken = func(_ context.Context, r *message.Request) *message.Request { return r }
	})
}

// Nobody else gets a token between the page that gives one and the form that takes it.
func TestOneToken(t *testing.T) {
	var mu sync.Mutex
	token := ""
	var refused atomic.Int64
	h := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		if r.Method == http.MethodPost && r.PostFormValue("csrf") != token {
			refused.Add(1)
		}
		token = rand.Text()
		w.Header().Set("Content-Type", "text/html")
		fmt.Fprintf(w, "<form method=post action=%s><input type=hidden name=csrf value=%s><input name=text></form>",
			r.URL.Path, token)
	})
	check := &activescan.Rule{ID: "test", ProbePoint: func(p *activescan.Probe) error {
		for range 10 {
			if _, err := p.SendValue("x"); err != nil {
				return err
			}
		}
		return nil
	}}
	activescantest.Attack(t, h, []*activescan.Rule{check}, []string{"GET /page?a=1"}, func(r *activescan.Engine) {
		r.RenewCSRFToken = crawl.TokenRenewer(r.Client, nil)
		for _, path := range []string{"/a", "/b", "/c"} {
			form := &message.Request{Method: http.MethodPost, Scheme: "http", Host: r.Scope.Base().Host, Path: path,
				Origin: "form", Types: map[string]string{"form:csrf": "hidden"}}
			form.Body = message.Body{Kind: message.Form,
				Params: []message.Param{{Name: "csrf", Value: "0123456789abcdef"}, {Name: "text", Value: "a"}}}
			form.Referer = form.Address()
			r.Sitemap.Add(form)
		}
	})
	if n := refused.Load(); n > 3 { // as they were found, when the surface is looked at
		t.Errorf("%d requests had an old token", n)
	}
}

// Of an operation with thousands of parameters the first ones are attacked, more of them
// where one has a vulnerability, which is said.
func TestCrowdedOperation(t *testing.T) {
	rule := &finding.Rule{ID: "dast/test/flaw", Analysis: finding.DAST, Name: "Flaw", Severity: finding.Low}
	for flaw, attacked := range map[string]int{"": 100, "a60": 500, "a150": 100} {
		points := map[string]bool{}
		check := &activescan.Rule{ID: "test", FindingRules: []*finding.Rule{rule},
			ProbePoint: func(p *activescan.Probe) error {
				points[p.Point.Key()] = true // one after the other, in one operation
				if p.Point.Name == flaw {
					p.RaiseAlert(activescan.Alert{Rule: rule})
				}
				return nil
			}}
		query := "GET /many?a0=1"
		for i := range 2000 {
			query += fmt.Sprintf("&a%d=1", i+1)
		}
		h := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "thanks") })
		got := activescantest.Attack(t, h, []*activescan.Rule{check}, []string{query})
		if len(points) != attacked || !points["query:a0"] {
			t.Errorf("a flaw at %q: %d points", flaw, len(points))
		}
		if len(got.Reasons) != 1 || got.Reasons[0].Code != "too-many-parameters" {
			t.Errorf("reasons %+v", got.Reasons)
		}
	}
}

// A parameter is attacked a few times on its page, whatever sorts or filters beside it.
func TestRepeatedParameters(t *testing.T) {
	var mu sync.Mutex
	attacked := map[string]int{}
	check := &activescan.Rule{ID: "test", ProbePoint: func(p *activescan.Probe) error {
		mu.Lock()
		defer mu.Unlock()
		attacked[p.Request.Path+" "+p.Point.Name]++
		return nil
	}}
	operations := []string{"GET /one?q=1", "POST /one q=1"}
	for i := range 10 {
		operations = append(operations, fmt.Sprintf("GET /list?q=1&x%dx=1", i),
			fmt.Sprintf("GET /app?do=page%c&id=1", 'a'+i))
	}
	activescantest.Attack(t, http.NotFoundHandler(), []*activescan.Rule{check}, operations)
	for key, want := range map[string]int{"/list q": 3, "/list x0x": 1, "/list x9x": 1, "/app do": 3, "/app id": 10,
		"/one q": 2} {
		if attacked[key] != want {
			t.Errorf("%s was attacked %d times, not %d", key, attacked[key], want)
		}
	}
}
