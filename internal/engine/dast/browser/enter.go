package browser

import (
	"context"
	"maps"
	"slices"
	"strings"
	"time"

	"merlon/internal/engine/dast/message"
	"merlon/internal/lazyregexp"
)

// This file begins an exploration: it finds out how the application writes its routes,
// and signs in by its own form, since its scripts show little to who they do not know.

// Keep makes the pages of a session begin with what scripts of a signed-in user hold. A
// token in the storage is what many applications sign in with.
func (b *Browser) Keep(as Session, storage []Storage) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.kept[as] = storage
}

// storageOf is what was kept for a session.
func (b *Browser) storageOf(as Session) []Storage {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.kept[as]
}

// startExploration opens the first address, plans the routes and signs in.
func (e *explorer) startExploration(ctx context.Context) error {
	if len(e.Seeds) == 0 || len(e.Routes) == 0 && e.Login == nil {
		return nil
	}
	if err := e.p.Open(ctx, e.Seeds[0], openLimit); err != nil {
		return e.p.checkAlive(ctx)
	}
	s, err := e.waitForContent(ctx)
	if err != nil {
		return err
	}
	var routes []string
	for _, r := range e.Routes {
		routes = append(routes, e.routeAddress(s, r))
	}
	if e.Login != nil {
		if err := e.findEntrance(ctx, slices.Concat([]string{e.Seeds[0]}, routes, s.Links)); err != nil {
			return err
		}
	}
	for _, r := range slices.Backward(routes) { // those with fragments are put in front
		e.enqueueAddress(r, false)
	}
	return nil
}

// showLimit bounds how long an application may take until it shows something.
const showLimit = 10 * time.Second

// waitForContent collects what the page offers when it offers anything: scripts may be
// read for longer than a page takes to settle. Large applications are read and compiled
// for seconds.
func (e *explorer) waitForContent(ctx context.Context) (*snapshot, error) {
	for end := time.Now().Add(showLimit); ; {
		s, err := e.collectSnapshot(ctx)
		if err != nil || len(s.Elements)+len(s.Forms) > 0 || time.Now().After(end) {
			return s, err
		}
		select {
		case <-time.After(stepPeriod):
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// routeAddress is where the router of the application shows a path: in the fragment
// when the page that it shows now, or one that it links to, is there, in the path below
// the first address otherwise. Both ways of writing routes are in use (hash and
// history).
func (e *explorer) routeAddress(s *snapshot, route string) string {
	here, _, err := splitAddress(s.Address)
	if err != nil {
		return s.Address
	}
	for _, address := range slices.Concat([]string{s.Address}, s.Links) {
		there, fragment, err := splitAddress(address)
		if mark := routeFragment.FindString(fragment); err == nil && mark != "" && there.Address() == here.Address() {
			return here.Address() + mark + strings.TrimPrefix(route, "/")
		}
	}
	base, _, err := splitAddress(e.Seeds[0])
	if err != nil {
		return s.Address
	}
	folder := &message.Request{Scheme: base.Scheme, Host: base.Host,
		Path: base.Path[:strings.LastIndexByte(base.Path, '/')+1]}
	return folder.Address() + strings.TrimPrefix(route, "/")
}

// signInAddress are addresses of pages that ask for a sign-in.
var signInAddress = lazyregexp.New(`(?i)(log|sign)[-_]?in([^a-z]|$)|[/#]auth([^a-z]|$)`)

// maxEntrances bounds the pages that are tried.
const maxEntrances = 4

// findEntrance looks for a page that asks for a password, and signs in there, once. An
// application that cannot be entered is explored as it is. One failed sign-in is
// enough: more could lock the account.
func (e *explorer) findEntrance(ctx context.Context, addresses []string) error {
	tried := map[string]bool{}
	for i, address := range addresses {
		r, fragment, err := splitAddress(address)
		if err != nil || !e.b.o.Within(r) || tried[address] || len(tried) > maxEntrances ||
			i > 0 && !signInAddress.MatchString(r.Path+fragment) {
			continue
		}
		tried[address] = true
		if err := e.p.Open(ctx, address, openLimit); err == nil {
			err = e.trySignIn(ctx, signInAddress.MatchString(r.Path+fragment))
			if err == nil && e.result.Entered != nil {
				return nil
			}
		}
		if err := e.p.checkAlive(ctx); err != nil {
			return err
		}
	}
	return nil
}

// trySignIn signs in at the page that is open, if it asks for it. A page that is named like
// one may ask for the name alone first.
func (e *explorer) trySignIn(ctx context.Context, named bool) error {
	if err := e.p.Eval(ctx, e.p.scriptCall("dismiss"), nil); err != nil {
		return err
	}
	fields, err := e.Login.extraFields()
	if err != nil {
		return err
	}
	before, err := e.p.readState(ctx)
	if err != nil {
		return err
	}
	asked, err := e.p.fillLogin(ctx, *e.Login, fields, !named)
	if err != nil || asked == "" {
		return err
	}
	if asked == "user" {
		if _, err := e.p.submitLogin(ctx, *e.Login, fields, true); err != nil {
			return err
		}
	}
	return e.confirmSignIn(ctx, before)
}

// confirmSignIn keeps what the browser holds when the sign-in has worked: the page asks for
// no password any more, and cookies or storage have changed.
func (e *explorer) confirmSignIn(ctx context.Context, before *SignInState) error {
	after, err := e.p.readState(ctx)
	if err != nil {
		return err
	}
	still := false
	if err := e.p.Eval(ctx, e.p.scriptCall("present", "input[type=password]"), &still); err != nil || still ||
		!after.holdsMore(before) {
		return err
	}
	e.result.Entered = after
	if e.As != nil {
		e.b.Keep(e.As, after.Storage)
	}
	return nil
}

// holdsMore reports whether cookies or storage have something that they had not before.
func (s *SignInState) holdsMore(before *SignInState) bool {
	held := before.heldValues()
	for name, value := range s.heldValues() {
		if held[name] != value {
			return true
		}
	}
	return false
}

// heldValues are the names and values of cookies and storage.
func (s *SignInState) heldValues() map[string]string {
	out := map[string]string{}
	for _, c := range s.Cookies {
		out["cookie "+c.Name] = c.Value
	}
	for _, kept := range s.Storage {
		for name, value := range maps.All(kept.Local) {
			out["local "+kept.Origin+" "+name] = value
		}
		for name, value := range maps.All(kept.Session) {
			out["session "+kept.Origin+" "+name] = value
		}
	}
	return out
}
