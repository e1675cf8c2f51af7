package traffic

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"merlon/internal/errs"
)

// clocked returns a backoff whose pauses take no time, and its clock.
func clocked() (*backoff, *time.Time) {
	b, at := newBackoff(), time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	b.now = func() time.Time { return at }
	b.sleep = func(_ context.Context, d time.Duration) error { at = at.Add(d); return nil }
	return b, &at
}

func answer(status int, after string) *http.Response {
	r := &http.Response{StatusCode: status, Header: http.Header{}}
	if after != "" {
		r.Header.Set("Retry-After", after)
	}
	return r
}

// ask waits for the route and gives it an answer; it returns how long it waited.
func ask(t *testing.T, b *backoff, at *time.Time, route string, resp *http.Response) time.Duration {
	t.Helper()
	began := *at
	if err := b.waitForRoute(t.Context(), route); err != nil {
		t.Fatal(err)
	}
	waited := at.Sub(began)
	b.recordRateLimit(route, resp)
	return waited
}

func TestOneRouteWaits(t *testing.T) {
	b, at := clocked()
	ask(t, b, at, "login", answer(429, "10"))
	if d := ask(t, b, at, "books", answer(200, "")); d != 0 {
		t.Errorf("another route waited %s", d)
	}
	if d := ask(t, b, at, "login", answer(429, "")); d != 10*time.Second {
		t.Errorf("the route waited %s", d)
	}
	if d := ask(t, b, at, "login", answer(429, "")); d != time.Second { // twice as long as the first of its own
		t.Errorf("the route waited %s", d)
	}
	if d := b.totalPause(); d != 11*time.Second {
		t.Errorf("%s in all", d)
	}
}

// A target that says for minutes only that it limits requests is given up, and one that
// answers in between is not.
func TestNothingButLimits(t *testing.T) {
	b, at := clocked()
	for n := 0; ; n++ {
		err := b.waitForRoute(t.Context(), "a")
		if err != nil {
			if waited := at.Sub(time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)); !errors.Is(err, ErrLimited) ||
				!IsFinal(err) || waited <= longest || waited > longest+maxBack {
				t.Errorf("after %d answers and %s: %v", n, waited, err)
			}
			break
		}
		b.recordRateLimit("a", answer(429, "999999"))
	}
	b, at = clocked()
	for range 100 {
		ask(t, b, at, "a", answer(503, "999999"))
		ask(t, b, at, "a", answer(200, ""))
	}
}

func TestWholeApplicationWaits(t *testing.T) {
	b, at := clocked()
	for _, route := range []string{"a", "b", "c"} {
		if d := ask(t, b, at, route, answer(429, "20")); d != 0 {
			t.Errorf("%s waited %s", route, d)
		}
	}
	if d := ask(t, b, at, "d", answer(200, "")); d != 20*time.Second {
		t.Errorf("the fourth route waited %s", d)
	}
	if d := b.totalPause(); d != 20*time.Second {
		t.Errorf("%s in all", d)
	}
}

func TestBrokenIsNotBusy(t *testing.T) {
	b, at := clocked()
	ask(t, b, at, "a", answer(503, ""))
	if d := ask(t, b, at, "a", answer(503, "Thu, 01 Jan 2026 00:00:07 GMT")); d != 0 {
		t.Errorf("waited %s", d)
	}
	if d := ask(t, b, at, "a", answer(200, "")); d != 7*time.Second {
		t.Errorf("waited %s", d)
	}
}

// A route that is limited much more than others is given up; where all are limited
// alike, none is.
func TestGivenUp(t *testing.T) {
	b, at := clocked()
	for range 100 {
		ask(t, b, at, "GET books", answer(200, ""))
	}
	asked := 0
	for ; asked < 1000; asked++ {
		if err := b.waitForRoute(t.Context(), "POST login"); err != nil {
			if !errs.Is(err, errs.Forbidden) || IsFinal(err) {
				t.Error(err)
			}
			break
		}
		if asked%6 == 5 {
			b.recordRateLimit("POST login", answer(429, "30"))
		} else {
			b.recordRateLimit("POST login", answer(401, ""))
		}
	}
	if asked > 30 || strings.Join(b.limitedRoutes(), " ") != "POST login" {
		t.Errorf("given up after %d requests: %v", asked, b.limitedRoutes())
	}
	b, at = clocked()
	for i := range 6000 {
		resp := answer(200, "")
		if i%100 == 99 {
			resp = answer(429, "30")
		}
		ask(t, b, at, []string{"a", "b", "c"}[i/300%3], resp)
	}
	if len(b.limitedRoutes()) > 0 {
		t.Errorf("given up: %v", b.limitedRoutes())
	}
}
