package activescan

import (
	"cmp"
	"context"
	"hash/maphash"
	"maps"
	"net/http"
	"slices"
	"strings"

	"merlon/internal/engine/dast/crawl"
	"merlon/internal/engine/dast/message"
	"merlon/internal/engine/dast/sitemap"
	"merlon/internal/engine/dast/traffic"
)

// This file asks pages again, in the end, for what was left in the application.

// maxShown bounds the pages that are asked for again as each further identity.
const maxShown = 500

// searchStoredPayloads asks every page once, and gives those that hold a token to its check; then as
// the other identities, who may be shown what the one that attacks is not.
func (r *Engine) searchStoredPayloads(ctx context.Context) error {
	if len(r.tokens) == 0 {
		return nil
	}
	planted, err := r.submitFreshWords(ctx)
	if err != nil {
		return err
	}
	entries := r.Sitemap.Entries()
	slices.SortStableFunc(entries, func(a, b sitemap.Entry) int { // what keeps a value keeps its own again
		return cmp.Compare(storedCount(planted, a), storedCount(planted, b))
	})
	seen, barren := map[string]bool{}, map[uint64]bool{}
	var lists []*message.Response // pages that hold what was left
	readers := []traffic.Session{nil}
	for _, o := range r.OtherIdentities {
		readers = append(readers, o.Session)
	}
	for _, reader := range readers {
		asked, theirs, leads := 0, entries, newLeads(r, entries)
		for i := 0; i < len(theirs); i++ {
			e := theirs[i]
			if e.Withheld || e.Request.Method != http.MethodGet || sitemap.ForbiddenReason(e.Request) != "" {
				continue
			}
			if asked++; reader != nil && asked > maxShown {
				break
			}
			t := r.newScan(ctx, e.Request, nil, newOperation(e))
			t.reader = reader
			resp, err := t.SendAsReader()
			if err != nil {
				if ended := r.recoverRule(r.newScan(ctx, e.Request, &Rule{ID: "stored"}, nil),
					func() error { return err }); ended != nil {
					return ended
				}
				continue
			}
			if reader != nil {
				theirs = append(slices.Clip(theirs), leads.linkedPages(resp)...)
			}
			page := maphash.String(r.answers.hashSeed(), resp.Text())
			if barren[page] {
				continue
			}
			found, err := r.checkStoredPayloads(t, resp, seen)
			if err != nil {
				return err
			}
			barren[page] = !found
			if found && reader == nil {
				lists = append(lists, resp)
			}
		}
	}
	return r.searchCreatedPages(ctx, planted, lists, seen)
}

// leads are links that only a further identity is shown, such as an administrator.
type leads struct {
	run   *Engine
	times map[string]int // pages by shape
}

// maxLike bounds the pages of one shape that are asked for because a further identity was shown
// links to them.
const maxLike = 5

// newLeads knows the operations that the identity that attacks has found.
func newLeads(r *Engine, entries []sitemap.Entry) *leads {
	l := &leads{run: r, times: map[string]int{}}
	for _, e := range entries {
		l.times[sitemap.OperationKey(e.Request)] = maxLike
	}
	return l
}

// linkedPages returns the pages that an answer links to and that were not asked for: those that only
// read, since whoever may do more may do more harm.
func (l *leads) linkedPages(resp *message.Response) []sitemap.Entry {
	if !resp.IsHTML() || resp.Status >= http.StatusBadRequest {
		return nil
	}
	var out []sitemap.Entry
	seen := map[string]bool{}
	for _, req := range crawl.ReadPage(resp).Requests {
		shape := sitemap.OperationKey(req)
		switch {
		case req.Method != http.MethodGet || req.Origin != "link" || req.Guest || seen[req.Address()] ||
			l.times[shape] >= maxLike,
			l.run.Scope.Allows(req) != nil, sitemap.ForbiddenReason(req) != "", sitemap.NamesRemoval(req.Path),
			l.run.SideEffects.Classify(req, "") != message.Reads:
			continue
		}
		req.Effect = message.Reads
		seen[req.Address()] = true
		l.times[shape]++
		out = append(out, sitemap.Entry{Request: req})
	}
	return out
}

// storedCount is 1 for an operation that something was left at.
func storedCount(planted map[string]*plant, e sitemap.Entry) int {
	if planted[sitemap.OperationKey(e.Request)] != nil {
		return 1
	}
	return 0
}

// A plant is what was left at an operation.
type plant struct {
	request *message.Request // with all words
	labels  []label
	answer  *message.Response // nil: there was none
}

// submitFreshWords leaves new words where others were left, all of an operation's in one request: what
// came later may have replaced the others, and many applications take no name twice. It
// returns the operations by shape.
func (r *Engine) submitFreshWords(ctx context.Context) (map[string]*plant, error) {
	planted, old := map[string]*plant{}, map[string][]string{}
	for _, name := range slices.Sorted(maps.Keys(r.tokens)) {
		t := r.tokens[name]
		key := sitemap.OperationKey(t.sentRequest())
		p := planted[key]
		if p == nil {
			p = &plant{request: t.Request}
			planted[key] = p
		}
		word := r.RandomLetters(len(name))
		p.request = p.request.With(t.Point, word)
		p.labels = append(p.labels, label{t.Point, word})
		old[key] = append(old[key], name)
	}
	for _, key := range slices.Sorted(maps.Keys(planted)) {
		p := planted[key]
		t := r.newScan(ctx, p.request, &Rule{ID: "stored"}, newOperation(sitemap.Entry{Request: p.request}))
		if err := r.recoverRule(t, func() (err error) { p.answer, err = t.Send(t.Request); return err }); err != nil {
			return nil, err
		}
		if p.answer == nil || p.answer.Status >= http.StatusBadRequest {
			continue // the others may be there none the less
		}
		for i, name := range old[key] {
			token := r.tokens[name]
			delete(r.tokens, name)
			token.Token, token.Payload = p.labels[i].word, p.labels[i].word
			r.tokens[token.Token] = token
		}
	}
	return planted, nil
}

// checkStoredPayloads gives a page to the checks whose tokens it holds, each token of a page once,
// whoever was shown it. It reports whether the page holds one.
func (r *Engine) checkStoredPayloads(page *OperationScan, resp *message.Response,
	seen map[string]bool) (found bool, err error) {
	text := resp.Text()
	for name, token := range r.tokens {
		key := name + " " + page.Request.Address()
		if !strings.Contains(text, name) {
			continue
		}
		found = true
		if token.Rule.CheckStored == nil || seen[key] || page.way != nil &&
			sitemap.OperationKey(token.sentRequest()) != sitemap.OperationKey(page.way.plant.request) {
			continue
		}
		seen[key] = true
		t := r.newScan(page.Context, page.Request, token.Rule, page.op)
		t.reader = page.reader
		if page.way != nil {
			t.way, token.Request = page.way.copy(), page.way.plant.request
		}
		if err := r.recoverRule(t, func() error { return token.Rule.CheckStored(t, token, resp) }); err != nil {
			return true, err
		}
	}
	return found, nil
}

// InspectResponse gives an answer to an ordinary request to the checks that only look. The
// crawler and the reader of descriptions call it for what they see.
func (r *Engine) InspectResponse(ctx context.Context, resp *message.Response) {
	for _, c := range r.Rules {
		if c.InspectResponse == nil || !r.isAllowed(c) {
			continue
		}
		t := r.newScan(ctx, resp.Request, c, newOperation(sitemap.Entry{Request: resp.Request}))
		// it sends nothing, so nothing ends
		_ = r.recoverRule(t, func() error { c.InspectResponse(t, resp); return nil })
	}
}
