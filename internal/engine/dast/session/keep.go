package session

import (
	"cmp"
	"context"
	"net/http"
	"time"

	"merlon/internal/engine/dast/message"
)

// This file proves during the scan that the session still holds.

// A session is proven again after so many requests, or after so much time.
const (
	proveEvery = 500
	proveAfter = 2 * time.Minute
)

// isProofDue counts a request and reports whether the session is to be proven again.
func (s *Session) isProofDue() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.asked++
	now := s.o.Now()
	if !s.ever || s.lost || s.doubt == "" && s.asked < proveEvery && now.Sub(s.proved) < proveAfter {
		return false
	}
	s.asked, s.proved = 0, now
	return true
}

// maxLed is how many answers in a row may lead to the sign-in page until the session counts as
// lost, where no page is known that would show it.
const maxLed = 5

// detectLoss looks at an answer for signs that the session is lost. The next request asks the page
// that shows it first (due): an application may send a user to its sign-in page for what he may
// not see. mu is held.
func (s *Session) detectLoss(resp *message.Response) {
	why := s.tellsOut(resp)
	if why == "" {
		s.led = 0
		return
	}
	route := resp.Request.Method + " " + resp.Request.Base() + resp.Request.Path
	if s.page == nil && !s.hasMarker() && s.learnt == nil {
		if s.led++; s.led >= maxLed {
			s.lose(why)
		}
		return
	}
	if s.kept[route] {
		return
	}
	s.doubt = cmp.Or(s.doubt, why)
	if s.kept == nil {
		s.kept = map[string]bool{}
	}
	if len(s.kept) < maxNames {
		s.kept[route] = true // until the page says that the session is lost
	}
}

// proofPage is the page that shows whether the session holds: that of the marker, else one
// that was found to differ for a visitor; nil: none is known.
func (s *Session) proofPage() *message.Request {
	if s.page != nil {
		return s.page
	}
	if s.hasMarker() {
		base, err := message.FromURL(s.o.Scope.Base())
		if err != nil {
			return nil
		}
		return base
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.learnt
}

// hasMarker reports whether the identity says how an answer shows the session.
func (s *Session) hasMarker() bool { return s.in != nil || s.out != nil || s.status != 0 }

// findProofPage looks for a page that differs for a visitor: the one on which the sign-in ended,
// else the base.
func (s *Session) findProofPage(ctx context.Context, landed *message.Response) error {
	if s.proofPage() != nil || !s.signsIn() {
		return nil
	}
	var pages []*message.Request
	if landed != nil && landed.Request.Method == http.MethodGet {
		pages = append(pages, landed.Request)
	}
	if base, err := message.FromURL(s.o.Scope.Base()); err == nil &&
		(len(pages) == 0 || base.Address() != pages[0].Address()) {
		pages = append(pages, base)
	}
	for _, r := range pages {
		visitor, err := s.o.Client.Send(ctx, r, nil)
		if err != nil {
			return err
		}
		if s.isSignedInPage(visitor) {
			continue
		}
		if resp, err := s.o.Client.Send(ctx, r, s); err != nil || !s.isSignedInPage(resp) {
			continue
		}
		s.mu.Lock()
		s.learnt = r
		s.mu.Unlock()
		return nil
	}
	return nil
}

// isSignedInPage reports whether an answer is a page that asks for no sign-in.
func (s *Session) isSignedInPage(resp *message.Response) bool {
	return resp.Status < 300 && !s.asks(resp)
}

// verifySession asks for the page that shows whether the session holds. Where it does not, it is
// lost from now on, and signs in again where it can.
func (s *Session) verifySession(ctx context.Context) error {
	page := s.proofPage()
	if page == nil {
		return nil
	}
	ctx = context.WithValue(ctx, signingIn{}, true)
	resp, err := s.follow(ctx, page, 3)
	if err != nil {
		return err
	}
	holds := s.holds
	if s.page == nil && !s.hasMarker() {
		holds = s.isSignedInPage
	}
	s.mu.Lock()
	why := cmp.Or(s.doubt, "the page of the marker does not show the session")
	s.doubt = ""
	if holds(resp) {
		s.mu.Unlock()
		return nil
	}
	s.kept = nil
	s.lose(why)
	s.mu.Unlock()
	if !s.signsIn() {
		return nil
	}
	return s.renew(ctx)
}

// showResponse gives an answer of the first sign-in to those who look at answers, without what
// the request sent and what came back for it: both may hold credentials.
func (s *Session) showResponse(resp *message.Response) {
	s.mu.Lock()
	again := s.ever
	s.mu.Unlock()
	if s.o.Look == nil || again || !s.o.Scope.Hosts(resp.Request.Host) {
		return
	}
	if resp.Request.Method != http.MethodGet {
		r := resp.Request.Clone()
		r.Body = message.Body{}
		sent, err := r.HTTP(context.Background())
		if err != nil {
			return
		}
		resp = &message.Response{Request: r, Status: resp.Status, Proto: resp.Proto, Header: resp.Header,
			Took: resp.Took, Sent: message.Dump(sent, []byte("[credentials]"))}
	}
	s.o.Look(resp)
}
