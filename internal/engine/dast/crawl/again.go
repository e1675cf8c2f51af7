package crawl

import (
	"context"
	"net/http"
	"slices"
	"strings"

	"merlon/internal/engine/dast/message"
	"merlon/internal/engine/dast/sideeffect"
	"merlon/internal/engine/dast/sitemap"
	"merlon/internal/engine/dast/traffic"
)

// This file asks again: with fresh tokens, for pages that forms may have put something on,
// and for forms that other forms lead to.

// sendRenewed asks for a request. One that is refused, of a form with a token, is asked
// again with the token of a new copy of its page, while nothing else is asked: pages
// that were asked for meanwhile may have made the first one worthless. Requests with
// fresh tokens exclude all others for that reason.
func (c *Crawler) sendRenewed(ctx context.Context, r *message.Request) (*message.Response, error) {
	c.renewing.RLock()
	resp, err := c.Client.Send(ctx, r, c.As)
	c.renewing.RUnlock()
	if err != nil || resp.Status < 400 || resp.Status >= 500 || len(Tokens(r)) == 0 {
		return resp, err
	}
	c.renewing.Lock()
	defer c.renewing.Unlock()
	again, err := c.Client.Send(ctx, c.renew(ctx, r), c.As)
	if traffic.IsFinal(err) {
		return nil, err
	}
	if err != nil || again.Status >= 400 {
		return resp, nil //nolint:nilerr // the first answer is what it says
	}
	return again, nil
}

// maxReread bounds the pages that are asked for again.
const maxReread = 40

// pagesToReread returns pages that may name more since a form was taken: one that is
// answered by a redirect has most likely stored something, and lists name what there
// is. One page of each shape is enough.
func (c *Crawler) pagesToReread() []item {
	if !c.stored {
		return nil
	}
	c.stored = false
	var out []item
	shapes := map[string]bool{}
	for _, r := range c.result.Pages {
		if shape := sitemap.OperationKey(r); r.Method == http.MethodGet && len(r.Query) == 0 && !shapes[shape] &&
			len(out) < maxReread {
			shapes[shape] = true
			out = append(out, item{r: r, again: true})
		}
	}
	return out
}

// maxSteps bounds the forms behind forms that are tried, and those before one.
const (
	maxSteps = 20
	maxChain = 4
)

// formBefore is the form by which a request was come to; nil: none.
func (c *Crawler) formBefore(r *message.Request) *message.Request {
	if r.Method != http.MethodGet {
		return r
	}
	return c.behindForm[r]
}

// findFormSteps finds the forms that are taken after another one alone, such as the second page of
// several: they get another answer by themselves, and the same as before after the other one.
func (c *Crawler) findFormSteps(ctx context.Context) error {
	tried := 0
	chain := map[*message.Request]*message.Request{} // forms with those before them
	for _, e := range c.Surface.Entries() {
		via := c.behindForm[e.Request]
		if via == nil || e.Request.Via != nil || e.Request.Method == http.MethodGet || e.Response == nil ||
			tried == maxSteps || sitemap.ForbiddenReason(e.Request) != "" {
			continue
		}
		delete(c.behindForm, e.Request)
		tried++
		if whole := chain[via]; whole != nil {
			via = whole
		}
		next := e.Request.Clone()
		next.Via = via
		behind, err := c.needsFormBefore(ctx, e, next)
		if err != nil {
			return err
		}
		if behind {
			chain[e.Request] = next
			c.Surface.RecordProxyPath(e.Request, via)
		}
	}
	return nil
}

// needsFormBefore reports whether the form gets another response by itself than after the
// other form, which next is sent behind. It is tried alone twice: what came before may have
// led here, and not a second time.
func (c *Crawler) needsFormBefore(ctx context.Context, e sitemap.Entry, next *message.Request) (bool, error) {
	for range 2 {
		alone, err := c.repeatsResponse(ctx, e, e.Request)
		if err != nil {
			return false, err
		}
		if !alone {
			return c.repeatsResponse(ctx, e, next)
		}
	}
	return false, nil
}

// repeatsResponse reports whether the request gets the answer that the operation got when it was found.
// Its error is one that ends the scan.
func (c *Crawler) repeatsResponse(ctx context.Context, e sitemap.Entry, r *message.Request) (bool, error) {
	resp, err := c.Client.Send(ctx, c.renew(ctx, r), c.As)
	if traffic.IsFinal(err) {
		return false, err
	}
	return err == nil && isSameDestination(resp, e.Response), nil
}

// isSameDestination reports whether two answers are the same page, or lead to the same.
// Values in the address of a redirect differ between requests.
func isSameDestination(a, b *message.Response) bool {
	to, other := a.Location(), b.Location()
	if to != nil && other != nil {
		return to.Path == other.Path
	}
	return to == nil && other == nil && sitemap.Outline(a) == sitemap.Outline(b)
}

// checkCreated looks at the page of a form whose answer does not tell whether it has
// stored something: the page then shows what was sent. Such an object is then known to
// be the scan's own.
func (c *Crawler) checkCreated(ctx context.Context, resp *message.Response) error {
	r := resp.Request
	mark := c.Values.Mark()
	if c.Keeper == nil || r.Effect != message.Creates || resp.Status != http.StatusOK || !resp.IsHTML() ||
		r.Referer == "" {
		return nil
	}
	page, err := message.Parse(r.Referer)
	if err != nil || c.Scope.Allows(page) != nil || !slices.ContainsFunc(r.Body.Params, func(p message.Param) bool {
		return strings.Contains(p.Value, mark)
	}) {
		return nil
	}
	page.Guest = r.Guest
	shown, err := c.Client.Send(ctx, page, c.As)
	if traffic.IsFinal(err) {
		return err
	}
	switch {
	case err != nil:
	case strings.Contains(shown.Text(), mark):
		c.Keeper.RecordCreated(r, page.Address())
	case sideeffect.ReportsSuccess(resp, shown):
		c.Keeper.RecordCreated(r, "")
	}
	return nil
}
