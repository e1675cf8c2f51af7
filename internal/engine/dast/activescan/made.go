package activescan

import (
	"context"
	"html"
	"maps"
	"net/http"
	"slices"
	"strings"

	"merlon/internal/engine/dast/crawl"
	"merlon/internal/engine/dast/message"
	"merlon/internal/engine/dast/sitemap"
	"merlon/internal/lazyregexp"
)

// This file finds the page of an object that a request makes: each one makes another, so
// that what was stored is on a page that nobody has seen before. The answer leads there, or
// a list names it beside what was sent.

// A way leads from what is sent to the page of the object that it makes.
type way struct {
	plant *plant           // the operation
	list  *message.Request // that names the object; nil: the answer leads to it
	label []label          // what the object was named last
	place int              // of its link beside the name, see beside
	shape string           // of the page's address
}

// A label is a point whose value names the object. Each object gets another one, because
// applications often take no name twice.
type label struct {
	at   message.Point
	word string
}

// maxBehind is how many links behind a text are taken to belong to it.
const maxBehind = 3

// maxMade bounds the pages of new objects that are searched.
const maxMade = 40

// copy returns a way that can be changed while the first one is used: its labels are
// its own.
func (w *way) copy() *way {
	return &way{w.plant, w.list, slices.Clone(w.plant.labels), w.place, w.shape}
}

// renameObject gives the object that r makes names of its own: words that were left are
// replaced, payloads are not.
func (w *way) renameObject(t *OperationScan, r *message.Request) *message.Request {
	for i := range w.label {
		l := &w.label[i]
		for _, p := range r.Points() {
			if p.Key() == l.at.Key() && p.Value == l.word {
				l.word = t.RandomLetters(len(l.word))
				r = r.With(p, l.word)
				break
			}
		}
	}
	return r
}

// recordCreation takes the answer to a request that made an object.
func (w *way) recordCreation(t *OperationScan, resp *message.Response) {
	if w.list != nil {
		return
	}
	if to := landingPage(t, resp); to != nil && sitemap.OperationKey(to) == w.shape {
		t.Request = to
	}
}

// openListPage asks the list where the object is that was made last.
func (w *way) openListPage(t *OperationScan) error {
	if w.list == nil {
		return nil
	}
	resp, err := t.SendFollowingRedirects(w.list)
	if err != nil {
		return err
	}
	for _, l := range w.label {
		if to := adjacentLinks(t, resp, l.word)[w.place]; to != nil && sitemap.OperationKey(to) == w.shape {
			t.Request = to
			return nil
		}
	}
	return nil
}

// landingPage is the page that an answer leads to; nil: none that may be asked.
func landingPage(t *OperationScan, resp *message.Response) *message.Request {
	to := resp.Location()
	if to == nil {
		return nil
	}
	r, err := message.FromURL(to)
	if err != nil || !isSafePage(t, r) {
		return nil
	}
	return r
}

// isSafePage reports whether a page may be asked: nothing in its address says that it removes
// something.
func isSafePage(t *OperationScan, r *message.Request) bool {
	return t.Scope.Allows(r) == nil && sitemap.ForbiddenReason(r) == "" &&
		!slices.ContainsFunc(strings.FieldsFunc(r.Path, func(c rune) bool { return c == '/' }), sitemap.NamesRemoval) &&
		!slices.ContainsFunc(r.Query, func(p message.Param) bool {
			return sitemap.NamesRemoval(p.Name) || sitemap.NamesRemoval(p.Value)
		})
}

// adjacentLinks returns the links of a page that stand next to a text: around it, before it, and
// behind it, each at its place; nil: there is none that may be asked. The page is read as it
// is written: attacks that it holds may have broken its elements.
func adjacentLinks(t *OperationScan, resp *message.Response, text string) (out [2 + maxBehind]*message.Request) {
	page := resp.Text()
	at := strings.Index(page, text)
	if !resp.IsHTML() || at < 0 {
		return out
	}
	take := func(place int, address string) {
		if r := crawl.Resolve(resp.Request.URL(), html.UnescapeString(address), "link"); r != nil && isSafePage(t, r) {
			out[place] = r
		}
	}
	if all := link.FindAllStringSubmatchIndex(page[:at], -1); len(all) > 0 {
		last := all[len(all)-1]
		place := 0
		if strings.Contains(strings.ToLower(page[last[1]:at]), "</a") {
			place = 1
		}
		take(place, page[last[2]:last[3]])
	}
	for i, m := range link.FindAllStringSubmatch(page[at:], maxBehind) {
		take(2+i, m[1])
	}
	return out
}

// link is the beginning of an element that links elsewhere.
var link = lazyregexp.New(`(?i)<a\s(?:[^>]*\s)?href\s*=\s*["']?([^"'\s>]+)`)

// searchCreatedPages searches the pages of objects that what was planted has made, those that its answer
// leads to, and those that a list names.
func (r *Engine) searchCreatedPages(ctx context.Context, planted map[string]*plant, lists []*message.Response,
	seen map[string]bool) error {
	asked := map[string]bool{}
	for _, e := range r.Sitemap.Entries() {
		asked[e.Request.Address()] = true
	}
	left := maxMade
	for _, key := range slices.Sorted(maps.Keys(planted)) {
		p := planted[key]
		if p.answer == nil || p.request.Method == http.MethodGet {
			continue
		}
		t := r.newScan(ctx, p.request, nil, nil)
		var ways []*OperationScan
		if to := landingPage(t, p.answer); to != nil {
			ways = append(ways, p.scanOfPage(t, to, nil, 0))
		}
		for _, list := range lists {
			for _, l := range p.labels {
				for place, to := range adjacentLinks(t, list, l.word) {
					if to != nil {
						ways = append(ways, p.scanOfPage(t, to, list.Request, place))
					}
				}
			}
		}
		for _, t := range ways {
			if asked[t.Request.Address()] || left == 0 {
				continue
			}
			asked[t.Request.Address()] = true
			left--
			if err := r.recoverRule(t, func() error {
				resp, err := t.SendFollowingRedirects(t.Request)
				if err == nil {
					_, err = r.checkStoredPayloads(t, resp, seen)
				}
				return err
			}); err != nil {
				return err
			}
		}
	}
	return nil
}

// scanOfPage asks for the page of an object.
func (p *plant) scanOfPage(t *OperationScan, page, list *message.Request, place int) *OperationScan {
	return &OperationScan{Environment: t.Environment, engine: t.engine, Context: t.Context, Request: page,
		check: &Rule{ID: "stored"},
		op:    newOperation(sitemap.Entry{Request: page}),
		way:   &way{plant: p, list: list, place: place, shape: sitemap.OperationKey(page)}}
}
