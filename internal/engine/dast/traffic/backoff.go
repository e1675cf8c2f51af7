package traffic

import (
	"context"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"merlon/internal/engine/dast/message"
	"merlon/internal/engine/dast/sitemap"
	"merlon/internal/errs"
)

// This file holds requests back where the target asks for it.

// A backoff holds back what the target limits. An application limits signing in more
// than all else, and a scan that waited with everything for one such route would never
// end: only the route waits. Where several wait at once the application as a whole is
// limited, and everything waits. A route that is answered much less often than others
// is given up after a while.
type backoff struct {
	now   func() time.Time
	sleep func(context.Context, time.Duration) error

	mu     sync.Mutex
	routes map[string]*hold
	all    time.Time // until then everything waits
	spent  time.Duration
	last   time.Time // the latest end of all waiting, which spent counts once
	since  time.Time // when the first answer came of those that all said to wait; zero: the last one did not
}

// A hold is what is known of one route.
type hold struct {
	until time.Time
	step  time.Duration // of the last pause that the target did not say
	spent time.Duration // of all its pauses
	run   int           // answers since it was limited
	best  int           // the most answers in a row
	got   int           // answers between the last two limits
	over  bool          // it is asked no more
}

const (
	firstBack = 500 * time.Millisecond
	maxBack   = 30 * time.Second
	// wide is how many routes that wait at once are the whole application.
	wide = 3
	// patience is how long a scan waits for one route that is limited more than others,
	// and narrow how many times more others have to be answered.
	patience = time.Minute
	narrow   = 4
	// longest is how long a scan waits for a target that says nothing but that it has to.
	longest = 5 * time.Minute
	// maxRoutes bounds the routes that are told apart.
	maxRoutes = 10_000
)

// newBackoff returns the state in which nothing was limited yet. Tests replace its
// clock.
func newBackoff() *backoff {
	return &backoff{now: time.Now, routes: map[string]*hold{}, sleep: func(ctx context.Context, d time.Duration) error {
		select {
		case <-time.After(d):
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	}}
}

// routeKey is the operation of a request as far as applications limit it.
func routeKey(r *message.Request) string { return r.Method + " " + r.Base() + sitemap.PathShape(r) }

// stateOf returns what is known of the route. b.mu is held.
func (b *backoff) stateOf(route string) *hold {
	h := b.routes[route]
	if h == nil {
		if len(b.routes) >= maxRoutes {
			route = ""
			if h = b.routes[route]; h != nil {
				return h
			}
		}
		h = &hold{}
		b.routes[route] = h
	}
	return h
}

// recordRateLimit reads 429 and 503: the target's own wish, else ever longer pauses.
func (b *backoff) recordRateLimit(route string, got *http.Response) {
	b.mu.Lock()
	defer b.mu.Unlock()
	h, now := b.stateOf(route), b.now()
	if got.StatusCode != http.StatusTooManyRequests && got.StatusCode != http.StatusServiceUnavailable {
		b.since = time.Time{}
		h.step = 0
		h.run++
		h.best = max(h.best, h.run)
		return
	}
	h.step = min(max(2*h.step, firstBack), maxBack)
	pause := h.step
	if seconds, err := strconv.Atoi(strings.TrimSpace(got.Header.Get("Retry-After"))); err == nil && seconds > 0 {
		pause = min(time.Duration(seconds)*time.Second, maxBack)
	} else if at, err := http.ParseTime(got.Header.Get("Retry-After")); err == nil {
		pause = min(max(at.Sub(now), 0), maxBack)
	} else if got.StatusCode == http.StatusServiceUnavailable {
		return // the application is broken at this address, not busy
	}
	if b.since.IsZero() {
		b.since = now
	}
	until := now.Add(pause)
	if until.After(h.until) {
		h.spent += until.Sub(laterTime(h.until, now))
		h.until = until
	}
	h.got, h.run = h.run, 0
	h.over = h.over || h.spent > patience && b.longestRunOfOthers(h) > narrow*max(h.got, 1)
	waiting := 0
	for _, other := range b.routes {
		if other.until.After(now) && !other.over {
			waiting++
		}
	}
	if waiting >= wide && until.After(b.all) {
		b.all = until
	}
}

// longestRunOfOthers is the most answers in a row of another route. b.mu is held.
func (b *backoff) longestRunOfOthers(h *hold) int {
	most := 0
	for _, other := range b.routes {
		if other != h {
			most = max(most, other.best)
		}
	}
	return most
}

// laterTime returns the later of two times.
func laterTime(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// totalPause is the time that requests have waited so far, all together.
func (b *backoff) totalPause() time.Duration {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.spent
}

// limitedRoutes lists the routes that were given up.
func (b *backoff) limitedRoutes() []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.DeleteFunc(slices.Sorted(maps.Keys(b.routes)), func(route string) bool {
		return !b.routes[route].over
	})
}

// waitForRoute returns when the route may be asked; an error of the kind Forbidden says that it
// was given up, and one that wraps ErrLimited that everything was.
func (b *backoff) waitForRoute(ctx context.Context, route string) error {
	b.mu.Lock()
	h, now := b.stateOf(route), b.now()
	over := h.over
	nothing := !b.since.IsZero() && now.Sub(b.since) > longest
	until := laterTime(h.until, b.all)
	if from := laterTime(b.last, now); until.After(from) {
		b.spent += until.Sub(from)
		b.last = until
	}
	b.mu.Unlock()
	switch {
	case nothing:
		return fmt.Errorf("%w: every response of the last %s was one", ErrLimited, longest)
	case over:
		return errs.E(errs.Forbidden, "the target rate-limits this URL much more than others: it was not requested "+
			"any more")
	case until.After(now):
		return b.sleep(ctx, until.Sub(now))
	}
	return nil
}
