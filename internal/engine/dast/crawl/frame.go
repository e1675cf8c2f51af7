package crawl

import (
	"fmt"
	"slices"
	"strings"

	"merlon/internal/engine/dast/message"
)

// This file tells forms that stand on every page of an application, such as a search or a
// choice of the language that each page sends to itself, from the pages' own.

// A frameForm is a form that pages send to themselves, of the same fields on each.
type frameForm struct {
	on     []*message.Request // as it is sent on each page
	beside map[string]bool    // other forms of these pages, by their fields
}

const (
	maxStanding = 2 // pages on which such a form is attacked
	minPages    = 6 // that it stands on, at least
	minBeside   = 3 // other forms that it stands beside, at least
	maxForms    = 2000
)

// recordForms takes note of the forms of a page. The kind of a form is what it sends,
// not where it stands.
func (c *Crawler) recordForms(page *message.Request, found []*message.Request) {
	kinds := map[string]*message.Request{}
	for _, r := range found {
		if r.Origin == "form" && kinds[fieldsKey(r)] == nil {
			kinds[fieldsKey(r)] = r
		}
	}
	if len(kinds) < 2 || len(kinds) > 20 {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for kind, r := range kinds {
		if r.Path != page.Path {
			continue
		}
		s := c.frameForms[kind]
		if s == nil {
			if len(c.frameForms) >= maxForms {
				continue
			}
			s = &frameForm{beside: map[string]bool{}}
			c.frameForms[kind] = s
		}
		s.recordPage(kind, r, kinds)
	}
}

// recordPage adds a page on which the form stands, beside the others of that page.
func (s *frameForm) recordPage(kind string, r *message.Request, kinds map[string]*message.Request) {
	if len(s.on) < maxForms && !slices.ContainsFunc(s.on, func(has *message.Request) bool {
		return has.Path == r.Path
	}) {
		s.on = append(s.on, r)
	}
	for other := range kinds {
		if other != kind && len(s.beside) < minBeside {
			s.beside[other] = true
		}
	}
}

// fieldsKey are the method, the names and the types of what a form sends. Two forms
// with the same key are taken for the same.
func fieldsKey(r *message.Request) string {
	var out []string
	for _, p := range r.Points() {
		if p.In != message.InPath {
			out = append(out, p.Key()+"="+r.Types[p.Key()])
		}
	}
	slices.Sort(out)
	return r.Method + " " + strings.Join(out, "&")
}

// dropFrameForms leaves out the forms that stand on many pages beside other ones, but
// for those of the first pages. They are left out of the attack, and not of the site
// map.
func (c *Crawler) dropFrameForms() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, s := range c.frameForms {
		if len(s.on) < minPages || len(s.beside) < minBeside {
			continue
		}
		for _, r := range s.on[maxStanding:] {
			c.Surface.ExcludeFromScan(r, fmt.Sprintf("the same form stands on %d pages beside others: it is attacked "+
				"on %d of "+
				"them, such as %s", len(s.on), maxStanding, s.on[0].Location()))
		}
	}
}
