package activescan

import (
	"context"
	"slices"

	"merlon/internal/engine/dast/message"
	"merlon/internal/engine/dast/sitemap"
	"merlon/internal/engine/dast/traffic"
)

// This file attacks parameters that are read only when another one has a certain value, such as
// the recipient of a report that is mailed and not shown.

// maxBranches bounds the other values of lists that are asked for, and attacked, of one operation.
const maxBranches = 4

// scanBranches asks the operation with other values of its lists. Where one has another answer,
// parameters that the operation was not seen to read are attacked beside that value.
func (r *Engine) scanBranches(ctx context.Context, op *operation) error {
	origin, first := op.entry.Request, op.answer
	limited := r.SideEffects.Limited()
	if len(origin.Choices) == 0 || r.editsOwnAccount(origin) || limited && r.SideEffects.Creates(origin) {
		return nil
	}
	values := origin.Points()
	unread := func() []message.Point {
		return slices.DeleteFunc(slices.Clone(values), func(at message.Point) bool {
			return !isTypedPoint(origin, at) || op.readsName(at) || limited && r.SideEffects.SkipsPoint(origin, at)
		})
	}
	defer func() { op.turnTo(origin, first) }()
	left := maxBranches
	for _, list := range values {
		if limited && r.SideEffects.SkipsPoint(origin, list) || sitemap.SelectsPage(origin, list.Name) {
			continue
		}
		for _, value := range origin.Choices[list.Key()] {
			if left == 0 || len(unread()) == 0 {
				return nil
			}
			left--
			if err := r.scanBranch(ctx, branch{op, origin, list, value}, unread); err != nil {
				return err
			}
		}
	}
	return nil
}

// isTypedPoint reports whether a user types the value: it is no list, button or box, and
// neither a cookie nor a header.
func isTypedPoint(origin *message.Request, at message.Point) bool {
	if _, list := origin.Choices[at.Key()]; list || at.In == message.InCookie || at.In == message.InHeader {
		return false
	}
	return at.Type != "choice" && at.Type != "button" && at.Type != "boolean"
}

// A branch is another value of a list of an operation.
type branch struct {
	op     *operation
	origin *message.Request // with the usual value
	list   message.Point
	value  string
}

// scanBranch asks the operation with the value, and attacks the points beside it if the answer is
// another page than the usual one.
func (r *Engine) scanBranch(ctx context.Context, b branch, points func() []message.Point) error {
	b.op.turnTo(b.origin, nil)
	t := &Probe{OperationScan: *r.newScan(ctx, b.origin, &Rule{ID: "branches"}, b.op), Point: b.list}
	usual, err := t.Baseline()
	if err == nil {
		var resp *message.Response
		other := b.origin.With(b.list, b.value)
		if resp, err = t.Send(other); err == nil {
			if resp.Status >= 400 || t.PageOf(resp, b.value).Equal(usual.Page()) {
				return nil
			}
			b.op.turnTo(other, resp)
			return r.probePoints(ctx, b.op, points(), false, func(message.Point) bool { return false })
		}
	}
	if traffic.IsFinal(err) || ctx.Err() != nil {
		return err
	}
	return nil // there is nothing to compare with, or the value is not sent
}

// turnTo goes on with another request of the operation, and forgets what was answered.
func (op *operation) turnTo(r *message.Request, answer *message.Response) {
	op.dropResponses()
	op.entry.Request, op.answer = r, answer
	op.entry.Response = nil
}
