package crawl

import (
	"context"
	"net/http"
	"slices"

	"golang.org/x/net/http/httpguts"

	"merlon/internal/engine/dast/message"
	"merlon/internal/lazyregexp"
)

// This file sends forms as script might. Script that sends a form can put what a user
// typed where no form puts it: into a header, or into the name of a field. Which one it
// is, code alone does not tell, since it reads the names from the page. So a form that
// script sends, on a page whose script computes such names, is sent in these ways: where
// the answer is another one, the application reads what was sent there. What is typed may
// change nothing although it is read, so it is sent a second time with signs that break
// expressions of many languages.

// scriptCode is what the script of an answer tells.
type scriptCode struct {
	headers, fields bool     // see script.Mined
	files           []string // addresses of the scripts that a page includes
}

// A scriptForm is a form that script sends.
type scriptForm struct {
	request *message.Request // as the form itself would send it
	typed   []message.Param  // what a user types
	page    scriptCode
	plain   *message.Response // the answer to the request
}

const (
	maxScripted = 5000
	maxTyped    = 4 // fields of a form that are sent elsewhere
)

// recordScriptForms keeps the forms of a page that script sends.
func (c *Crawler) recordScriptForms(f *PageContent) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, s := range f.scripted {
		if len(c.scripts) < maxScripted {
			s.page = f.code
			c.scripts = append(c.scripts, s)
			c.sent[s.request] = s
		}
	}
}

// recordFormResponse keeps the answer to such a form.
func (c *Crawler) recordFormResponse(r *message.Request, resp *message.Response) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if s := c.sent[r]; s != nil {
		s.plain = resp
	}
}

// formVariants returns the forms of which there are answers, as script might send them.
// They are sent once the crawl has found the scripts that each page includes.
func (c *Crawler) formVariants() []item {
	var out []item
	for _, s := range c.scripts {
		if s.plain == nil || !c.Submit {
			continue
		}
		told := s.page
		for _, file := range s.page.files {
			told.headers = told.headers || c.codes[file].headers
			told.fields = told.fields || c.codes[file].fields
		}
		if told.headers {
			out = append(out, item{r: s.headerVariant(""), of: s})
		}
		if told.fields {
			out = append(out, item{r: s.nameVariant(""), of: s})
		}
	}
	c.scripts, c.sent = nil, map[*message.Request]*scriptForm{}
	return out
}

// headerVariant is the form with what was typed, and the end behind it, in headers with
// the names of the fields too. Names and values that no header can have are left out.
func (s *scriptForm) headerVariant(end string) *message.Request {
	r := s.request.Clone()
	for _, p := range s.typed[:min(len(s.typed), maxTyped)] {
		if p.Value != "" && httpguts.ValidHeaderFieldName(p.Name) && httpguts.ValidHeaderFieldValue(p.Value) &&
			message.IsAttackableHeader(p.Name) {
			r.Header = append(r.Header, message.Param{Name: p.Name, Value: p.Value + end})
		}
	}
	return r
}

// nameVariant is the form with what was typed, and the end behind it, as names of more
// fields, and the names of its fields as their values. The fields themselves are those of
// the form, and no points.
func (s *scriptForm) nameVariant(end string) *message.Request {
	r := s.request.Clone()
	r.Types = map[string]string{}
	for _, p := range slices.Concat(r.Points(), r.Names()) {
		r.Types[p.Key()] = message.Constant
	}
	list := &r.Query
	if r.Body.Kind != message.NoBody {
		list = &r.Body.Params
	}
	for _, p := range s.typed[:min(len(s.typed), maxTyped)] {
		if p.Value != "" {
			*list = append(*list, message.Param{Name: p.Value + end, Value: p.Name})
		}
	}
	r.Origin = "script"
	return r
}

// breaking ends strings and expressions of many languages.
const breaking = `'"(`

// compareVariant looks at the answer to a variant: where it is another one than that to
// the form, the application has read what is new in the variant. The error is one of
// sending. The second request tells a value that is read from one that is ignored.
func (c *Crawler) compareVariant(ctx context.Context, it item, resp *message.Response) error {
	headers := len(it.r.Header) > len(it.of.request.Header)
	if it.of.isSameResponse(resp) {
		broken := it.of.nameVariant(breaking)
		if headers {
			broken = it.of.headerVariant(breaking)
		}
		again, err := c.Client.Send(ctx, broken, c.As)
		if err != nil || it.of.isSameResponse(again) {
			return err
		}
	}
	if headers {
		c.Surface.Enrich(it.of.request, it.r.Header, nil)
		return nil
	}
	c.Surface.Add(it.r)
	c.Surface.RecordResponse(resp, c.identityName(it.r))
	c.Surface.CountResponses(it.r, 1)
	return nil
}

// isSameResponse reports whether the answer is the one that the form gets, or says that the
// request is none.
func (s *scriptForm) isSameResponse(resp *message.Response) bool {
	return resp.Status == http.StatusBadRequest || isAlike(resp, s.plain)
}

// digits differ in answers that are the same: times, counters.
var digits = lazyregexp.New(`[0-9]+`)
