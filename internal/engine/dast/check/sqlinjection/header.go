package sqlinjection

import (
	"net/http"
	"path"
	"slices"
	"strings"

	"merlon/internal/engine/dast/activescan"
	"merlon/internal/engine/dast/message"
	"merlon/internal/engine/dast/sitemap"
	"merlon/internal/scan"
)

// This file chooses pages whose headers are attacked: applications write who asks, from
// where and with what into tables.

// logged are headers that applications keep.
var logged = []string{"User-Agent", "Referer", "X-Forwarded-For"}

// maxVain bounds the pages that answer broken headers otherwise, and of which no header
// turns out to be part of a statement: something in front refuses them, or the page reads
// them for something else.
const maxVain = 8

// maxPages bounds the pages of a folder that are asked for with GET: what keeps who asks for
// one page does so for the others, most likely.
const maxPages = 1

// missingHeaders are the logged headers that the request does not have.
func missingHeaders(r *message.Request) []message.Point {
	var points []message.Point
	for _, name := range logged {
		if !slices.ContainsFunc(r.Header, func(h message.Param) bool { return strings.EqualFold(h.Name, name) }) {
			points = append(points, message.HeaderPoint(name))
		}
	}
	return points
}

// probeHeader attacks a header that the request does not have, where the page answers otherwise
// when all of them hold a value that breaks statements, which is asked once for a page, and
// for one of a folder where it is a GET. A header that is found is not looked at again in the same folder: it is most
// likely the
// same program.
func probeHeader(p *activescan.Probe) error {
	if !p.Target.Profile.Allows(scan.Standard) {
		return nil
	}
	page := "sql headers " + p.Request.Method + " " + p.Request.Base() + sitemap.PathShape(p.Request)
	found := "sql header " + p.Point.Name + " " + p.Request.Base() + path.Dir(p.Request.Path)
	if p.HasFact(injectedKey(p.Request)) || p.HasFact(found) || p.HasFact("sql headers in vain") {
		return nil
	}
	if p.FirstTime(page) && (p.Request.Method != http.MethodGet ||
		p.IncrementCount("sql headers of "+p.Request.Base()+path.Dir(p.Request.Path)) <= maxPages) {
		breaks, err := probeHeadersTogether(p)
		if err != nil {
			return err
		}
		if breaks {
			p.RecordFact(page)
		}
	}
	if !p.HasFact(page) {
		return nil
	}
	if err := probeAll(p); err != nil {
		return err
	}
	switch {
	case p.AlreadyFound(Mark):
		p.RecordFact(found)
	case p.IncrementCount("sql headers in vain") >= maxVain*len(logged):
		p.RecordFact("sql headers in vain")
	}
	return nil
}

// probeHeadersTogether sends the breaking value in all headers at once, and, where that changes the
// page, one that names nothing: a page that only shows who asks changes in the same way.
func probeHeadersTogether(p *activescan.Probe) (breaks bool, err error) {
	first, err := p.FirstResponse()
	if err != nil {
		return false, err
	}
	send := func(value string) (*message.Response, error) {
		r := p.Request
		for _, at := range missingHeaders(p.Request) {
			r = r.With(at, value)
		}
		return p.Send(r)
	}
	broken, err := send(p.BreakingValue())
	if err != nil {
		return false, err
	}
	s := &prober{Probe: p, first: first, base: p.CachedBaseline()}
	if s.isFailure(broken) || errorSignature(broken.Text(), first.Text()) != "" {
		return true, nil
	}
	if usual, err := s.isUsual(broken, p.BreakingValue()); usual || err != nil || s.base != nil && !s.base.Stable {
		return false, err
	}
	other, err := send(p.UnknownValue())
	if err != nil {
		return false, err
	}
	return !s.PageOf(other, p.UnknownValue()).Equal(s.PageOf(broken, p.BreakingValue())), nil
}

// injectedKey is what is noted of an operation of which a value is part of a statement.
func injectedKey(r *message.Request) string {
	return "sql in " + r.Method + " " + r.Base() + sitemap.PathShape(r)
}
