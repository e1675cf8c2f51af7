package browser

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/chromedp/cdproto/storage"

	"merlon/internal/engine/dast/message"
	"merlon/internal/scan"
)

const (
	stepLimit  = 15 * time.Second // of one step
	stepPeriod = 100 * time.Millisecond
	maxSteps   = 100
	maxSleep   = 30 * time.Second
)

// Step does one recorded step, waiting for the element that it names.
func (p *Page) Step(ctx context.Context, step scan.BrowserStep) error {
	limited, cancel := context.WithTimeout(ctx, stepLimit)
	defer cancel()
	switch {
	case step.Open != "":
		return p.Open(ctx, step.Open, stepLimit)
	case step.Click != "":
		if err := p.waitUntil(limited, p.scriptCall("click", step.Click), "there is nothing to "+
			"click at "+step.Click); err != nil {
			return err
		}
		return p.Settle(ctx, stepLimit/2)
	case step.Fill != "":
		return p.waitUntil(limited, p.scriptCall("fill", step.Fill, step.Value), "there is nothing to "+
			"fill in at "+step.Fill)
	case step.Wait != "":
		return p.waitUntil(limited, p.scriptCall("present", step.Wait), "nothing appeared at "+step.Wait)
	case step.Sleep > 0:
		select {
		case <-time.After(min(step.Sleep, maxSleep)):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return nil
}

// waitUntil evaluates the expression until it is true. Elements appear when scripts
// have run.
func (p *Page) waitUntil(ctx context.Context, expression, otherwise string) error {
	for {
		done := false
		err := p.Eval(ctx, expression, &done)
		if done {
			return nil
		}
		if err != nil && ctx.Err() == nil && strings.Contains(err.Error(), "SyntaxError") {
			return fmt.Errorf("%s: not a CSS selector", otherwise)
		}
		if dead := p.checkAlive(ctx); dead != nil && ctx.Err() == nil {
			return dead
		}
		select {
		case <-time.After(stepPeriod):
		case <-ctx.Done():
			return fmt.Errorf("%s (in %s)", otherwise, message.Truncate(p.Address(), 200))
		}
	}
}

// A SignInState is what a browser holds after a sign-in.
type SignInState struct {
	Cookies []*http.Cookie
	Storage []Storage // by origin
	// Authorization is the header of the last request of the page that had one.
	Authorization string
	Address       string // where it ended
	Text          string // of that page, cut to 64 KiB, to look for a marker
}

// Storage is what scripts of an origin keep.
type Storage struct {
	Origin  string            `json:"origin"`
	Local   map[string]string `json:"local"`
	Session map[string]string `json:"session"`
}

// A Login says how to sign in with the browser: by steps, or by the form of a page,
// which may be rendered by scripts and may ask in several rounds.
type Login struct {
	Steps []scan.BrowserStep
	Form  *scan.FormLogin
	// TOTP returns a one-time password for {{totp}}; nil: there is none.
	TOTP func() (string, error)
}

// SignIn signs in and returns what the browser then holds.
func (b *Browser) SignIn(ctx context.Context, l Login) (*SignInState, error) {
	if len(l.Steps) > maxSteps {
		return nil, fmt.Errorf("the sign-in has %d steps, more than %d", len(l.Steps), maxSteps)
	}
	var mu sync.Mutex
	authorization := ""
	p, err := b.Page(ctx, PageOptions{Agree: true, Observe: func(e Event) {
		if e.Request == nil || e.Request.Refused != "" {
			return
		}
		if value := e.Request.HeaderValue("Authorization"); value != "" {
			mu.Lock()
			authorization = value
			mu.Unlock()
		}
	}})
	if err != nil {
		return nil, err
	}
	defer p.Close()
	if err := p.runLogin(ctx, l); err != nil {
		return nil, err
	}
	state, err := p.readState(ctx)
	if err != nil {
		return nil, err
	}
	mu.Lock()
	defer mu.Unlock()
	state.Authorization = authorization
	return state, nil
}

// runLogin fills in the form, does the steps, and waits until the page has settled.
func (p *Page) runLogin(ctx context.Context, l Login) error {
	if l.Form != nil {
		if err := p.fillSignInForm(ctx, l); err != nil {
			return err
		}
	}
	for i, step := range l.Steps {
		var err error
		if step.Value, err = insertTOTP(step.Value, l.TOTP); err == nil {
			err = p.Step(ctx, step)
		}
		if err != nil {
			return fmt.Errorf("step %d of the sign-in: %w", i+1, err)
		}
	}
	return p.Settle(ctx, stepLimit/2)
}

// fillSignInForm fills in the form of a sign-in, which may ask for the name first and for the
// password on a second page.
func (p *Page) fillSignInForm(ctx context.Context, l Login) error {
	if err := p.Open(ctx, l.Form.URL, stepLimit); err != nil {
		return err
	}
	_ = p.Eval(ctx, p.scriptCall("dismiss"), nil) // nothing may lie over the page
	fields, err := l.extraFields()
	if err != nil {
		return err
	}
	asked, err := p.submitLogin(ctx, l, fields, false)
	if err == nil && asked == "user" { // the password is asked for next
		_, err = p.submitLogin(ctx, l, fields, true)
	}
	return err
}

// extraFields are the further values of the form.
func (l Login) extraFields() (map[string]string, error) {
	fields := map[string]string{}
	for name, value := range l.Form.Fields {
		value, err := insertTOTP(value, l.TOTP)
		if err != nil {
			return nil, err
		}
		fields[name] = value
	}
	return fields, nil
}

// fillLogin fills in and sends the fields of a sign-in, if the page has them now. It
// returns "password", "user" when only the name was asked for, or nothing.
func (p *Page) fillLogin(ctx context.Context, l Login, fields map[string]string,
	password bool) (asked string, err error) {
	if err := p.Eval(ctx, p.scriptCall("login", l.Form.User, l.Form.Password, fields, password), &asked); err != nil {
		return "", p.checkAlive(ctx)
	}
	if asked != "" {
		return asked, p.Settle(ctx, stepLimit/2)
	}
	return "", nil
}

// submitLogin waits for fields of a sign-in, fills them in and sends them. It returns
// "password", or "user" when only the name was asked for. The form may be made by
// scripts, and appear late.
func (p *Page) submitLogin(ctx context.Context, l Login, fields map[string]string,
	password bool) (asked string, err error) {
	limited, cancel := context.WithTimeout(ctx, stepLimit)
	defer cancel()
	for {
		if asked, err := p.fillLogin(limited, l, fields, password); asked != "" || err != nil && limited.Err() == nil {
			return asked, err
		}
		select {
		case <-time.After(stepPeriod):
		case <-limited.Done():
			if password {
				return "", fmt.Errorf("the page %s never requested the password", message.Truncate(p.Address(), 200))
			}
			return "", fmt.Errorf("the page %s shows no form to sign in", message.Truncate(p.Address(), 200))
		}
	}
}

// insertTOTP puts a one-time password into a value.
func insertTOTP(value string, totp func() (string, error)) (string, error) {
	if !strings.Contains(value, "{{totp}}") {
		return value, nil
	}
	if totp == nil {
		return "", fmt.Errorf("a value contains {{totp}}, and the identity has no TOTP secret")
	}
	code, err := totp()
	if err != nil {
		return "", err
	}
	return strings.ReplaceAll(value, "{{totp}}", code), nil
}

// readState reads cookies and storage. Cookies are those of the whole profile, HttpOnly
// ones included.
func (p *Page) readState(ctx context.Context) (*SignInState, error) {
	out := &SignInState{Address: p.Address()}
	got, err := runCommand(ctx, p.in.root, storage.GetCookies, storage.GetCookiesParams{BrowserContextID: p.context})
	if err != nil {
		return nil, p.pageError(err)
	}
	for _, c := range got.Cookies {
		out.Cookies = append(out.Cookies, &http.Cookie{Name: c.Name, Value: c.Value, Domain: c.Domain, Path: c.Path,
			Secure: c.Secure, HttpOnly: c.HTTPOnly})
	}
	var kept Storage
	if err := p.Eval(ctx, p.scriptCall("stored"), &kept); err == nil && (len(kept.Local) > 0 || len(kept.Session) > 0) {
		out.Storage = append(out.Storage, kept)
	}
	var text string
	if err := p.Eval(ctx, "(document.documentElement?.innerText || '').slice(0, 65536)", &text); err == nil {
		out.Text = text
	}
	return out, nil
}

// storageConfig is how our script reads it.
func storageConfig(list []Storage) json.RawMessage {
	byOrigin := map[string]Storage{}
	for _, s := range list {
		byOrigin[s.Origin] = s
	}
	text, err := json.Marshal(byOrigin)
	if err != nil {
		return json.RawMessage("{}")
	}
	return text
}
