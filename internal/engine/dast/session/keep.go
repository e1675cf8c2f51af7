package session

import (
	"cmp"
	"context"
	"net/http"
	"time"

	"merlon/internal/engine/dast/message"
)

// This file proves during the scan that the session still holds.

// The session is proven again after so many requests or after so much time, whichever comes first.
// At the usual rates that is one request in a few hundred, and an attack without a session is
// noticed within minutes.
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
	// A doubt is proven at once. A session that is lost needs no proof but a sign-in.
	if !s.ever || s.lost || s.doubt == "" && s.asked < proveEvery && now.Sub(s.proved) < proveAfter {
		return false
	}
	// Reset before the proof: workers that come meanwhile do not send it again.
	s.asked, s.proved = 0, now
	return true
}

// maxLed is how many responses in a row may lead to the sign-in page until the session counts as
// lost, where there is no proof page. Fewer would sign in again after each area that the user must
// not enter, and spend maxSigns.
const maxLed = 5

// detectLoss searches a response for signs that the session is lost. With a proof page a sign is
// only a doubt, which the next request verifies (isProofDue): an application may redirect a user to
// its sign-in page for what he must not see. mu is held.
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
	// The session was valid when this route led to the sign-in page before.
	if s.kept[route] {
		return
	}
	s.doubt = cmp.Or(s.doubt, why)
	if s.kept == nil {
		s.kept = map[string]bool{}
	}
	if len(s.kept) < maxNames {
		// verifySession clears the routes when the session proves to be lost.
		s.kept[route] = true
	}
}

// proofPage returns the page that shows whether the session is valid: that of the marker, the base
// of the target where a marker has no page, else one that was found to differ for a visitor; nil:
// none is known.
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

// hasMarker reports whether the identity says how a response shows the session: by a pattern or a
// status.
func (s *Session) hasMarker() bool { return s.in != nil || s.out != nil || s.status != 0 }

// findProofPage searches for a page that shows a signed-in user something and a visitor the sign-in
// form or a refusal: the page on which the sign-in ended, else the base. It sends each at most
// twice.
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
		// As a visitor first: most start pages are public, and then the second request is saved.
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

// isSignedInPage reports whether a response is a page that requests no sign-in.
func (s *Session) isSignedInPage(resp *message.Response) bool {
	return resp.Status < 300 && !s.asks(resp)
}

// verifySession requests the proof page. Where it does not show the session, the session is lost
// from now on, and is renewed where the identity can sign in.
func (s *Session) verifySession(ctx context.Context) error {
	page := s.proofPage()
	if page == nil {
		return nil
	}
	// The proof must not cause a proof.
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
	// Those routes may have been refused because the session was already lost.
	s.kept = nil
	s.lose(why)
	s.mu.Unlock()
	if !s.signsIn() {
		return nil
	}
	return s.renew(ctx)
}

// showResponse passes a response of the first sign-in to the analysis of responses. The request
// body and the response body of a POST are left out: both may contain credentials. Responses of the
// issuer are not those of the target.
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
