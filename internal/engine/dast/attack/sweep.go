package attack

import (
	"context"
	"maps"
	"net/http"
	"slices"
	"strings"

	"merlon/internal/engine/dast/message"
	"merlon/internal/engine/dast/site"
)

// This file asks pages again, in the end, for what was left in the application.

// sweep asks every page once, and gives those that hold a token to its check.
func (r *Run) sweep(ctx context.Context) error {
	if len(r.tokens) == 0 {
		return nil
	}
	if err := r.plant(ctx); err != nil {
		return err
	}
	for _, e := range r.Surface.Entries() {
		if e.Withheld || e.Request.Method != http.MethodGet || site.Never(e.Request) != "" {
			continue
		}
		t := &Trial{Run: r, Context: ctx, Request: e.Request, op: newOperation(e)}
		resp, err := t.Follow(e.Request)
		if err != nil {
			if ended := r.guard(&Trial{Run: r, Context: ctx, Request: e.Request, check: &Check{ID: "stored"}}, func() error { return err }); ended != nil {
				return ended
			}
			continue
		}
		if err := r.held(ctx, e, resp); err != nil {
			return err
		}
	}
	return nil
}

// plant sends what was left once more, all of an operation's in one request: what came
// later may have replaced it.
func (r *Run) plant(ctx context.Context) error {
	merged := map[string]*message.Request{}
	for _, name := range slices.Sorted(maps.Keys(r.tokens)) {
		t := r.tokens[name]
		key := site.Shape(t.Request)
		whole := merged[key]
		if whole == nil {
			whole = t.Request
		}
		merged[key] = whole.With(t.Point, t.Payload)
	}
	for _, key := range slices.Sorted(maps.Keys(merged)) {
		t := &Trial{Run: r, Context: ctx, Request: merged[key], check: &Check{ID: "stored"}, op: newOperation(site.Entry{Request: merged[key]})}
		if err := r.guard(t, func() error { _, err := t.Send(t.Request); return err }); err != nil {
			return err
		}
	}
	return nil
}

// held gives a page to the checks whose tokens it holds.
func (r *Run) held(ctx context.Context, e site.Entry, resp *message.Response) error {
	text := resp.Text()
	for name, token := range r.tokens {
		if token.Check.Stored == nil || !strings.Contains(text, name) {
			continue
		}
		t := &Trial{Run: r, Context: ctx, Request: e.Request, check: token.Check, op: newOperation(e)}
		if err := r.guard(t, func() error { return token.Check.Stored(t, token, resp) }); err != nil {
			return err
		}
	}
	return nil
}

// Look gives an answer to an ordinary request to the checks that only look. The
// crawler and the reader of descriptions call it for what they see.
func (r *Run) Look(ctx context.Context, resp *message.Response) {
	for _, c := range r.Checks {
		if c.Response == nil || !r.allowed(c) {
			continue
		}
		t := &Trial{Run: r, Context: ctx, Request: resp.Request, check: c, op: newOperation(site.Entry{Request: resp.Request})}
		_ = r.guard(t, func() error { c.Response(t, resp); return nil }) // it sends nothing, so nothing ends
	}
}
