package browser

import (
	"bytes"
	"context"
	"errors"
	"io"
	"maps"
	"mime"
	"mime/multipart"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/chromedp/cdproto/fetch"
	"github.com/chromedp/cdproto/network"

	"merlon/internal/engine/dast/message"
)

// errForeign is why a request to another host is not sent.
var errForeign = errors.New("another host, which is not part of the target")

// errUnneeded is why pictures and the like are not loaded.
var errUnneeded = errors.New("nothing that a scan needs")

// unneeded are kinds that are seen, and not loaded: they change no document, and each
// would count.
var unneeded = map[network.ResourceType]bool{
	network.ResourceTypeImage: true, network.ResourceTypeMedia: true, network.ResourceTypeFont: true,
	network.ResourceTypeTextTrack: true,
	network.ResourceTypeManifest:  true, network.ResourceTypeCSPViolationReport: true,
}

// paused decides about a request, or an answer, that Chromium holds.
func (p *Page) paused(s *session, e *fetch.EventRequestPaused) {
	p.mu.Lock()
	p.held++
	over := p.held > maxHeld
	p.mu.Unlock()
	done := func() {
		p.mu.Lock()
		p.held--
		p.mu.Unlock()
	}
	if over {
		p.fail("it made more requests at once than can be held")
		done()
		return
	}
	go func() {
		defer done()
		ctx, cancel := context.WithTimeout(p.ctx, time.Minute)
		defer cancel()
		switch {
		case e.ResponseStatusCode != 0 || e.ResponseErrorReason != "":
			p.answered(ctx, s, e)
		default:
			p.decide(ctx, s, e)
		}
	}()
}

// decide lets a request through or fails it.
func (p *Page) decide(ctx context.Context, s *session, e *fetch.EventRequestPaused) {
	u, err := url.Parse(e.Request.URL)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" {
		p.local(ctx, s, e)
		return
	}
	if host := u.Hostname(); p.o.lure != "" && (host == p.o.lure || strings.HasSuffix(host, "."+p.o.lure)) {
		p.lured(ctx, s, e)
		return
	}
	out := fetch.ContinueRequestParams{RequestID: e.RequestID}
	r, err := p.replaced(e, &out)
	if r == nil {
		r, err = observed(e.Request)
	}
	if err != nil {
		p.refuse(ctx, s, e)
		return
	}
	if answer := p.browser.cache.get(p.cacheKey(e)); answer != nil {
		answer.RequestID = e.RequestID
		_, _ = call(ctx, s, fetch.FulfillRequest, *answer)
		return
	}
	sent := Sent{Request: r, Kind: strings.ToLower(string(e.ResourceType)), Foreign: !p.browser.o.Within(r)}
	if err := p.admit(ctx, &sent, e.ResourceType); err != nil {
		sent.Refused = err.Error()
		p.observe(Event{Request: &sent})
		p.refuse(ctx, s, e)
		return
	}
	p.observe(Event{Request: &sent})
	if sent.Foreign {
		p.foreign(ctx, s, e)
		return
	}
	p.browser.guard.admit(u)
	if err := p.identify(ctx, r, e, &out); err != nil {
		p.refuse(ctx, s, e)
		return
	}
	if p.cacheKey(e) != "" || p.o.trusted && e.ResourceType == network.ResourceTypeDocument {
		out.InterceptResponse = ptr(true)
	}
	_, _ = call(ctx, s, fetch.ContinueRequest, out)
}

// lured answers for a host of an attacker, which nothing is sent to: scripts and data
// that anybody may read. A page from there would be his own, and proves nothing.
func (p *Page) lured(ctx context.Context, s *session, e *fetch.EventRequestPaused) {
	kind := map[network.ResourceType]string{network.ResourceTypeScript: "text/javascript",
		network.ResourceTypeOther: "text/javascript",
		network.ResourceTypeXHR:   "text/html", network.ResourceTypeFetch: "text/html",
		network.ResourceTypePreflight: "text/html"}[e.ResourceType]
	if kind == "" || p.o.lureBody == "" {
		p.refuse(ctx, s, e)
		return
	}
	headers := http.Header{"Content-Type": {kind}, "Access-Control-Allow-Origin": {"*"},
		"Access-Control-Allow-Headers": {"*"}}
	_, _ = call(ctx, s, fetch.FulfillRequest, fetch.FulfillRequestParams{RequestID: e.RequestID,
		ResponseCode: http.StatusOK, ResponseHeaders: entries(headers), Body: []byte(p.o.lureBody)})
}

// foreign answers for another host.
func (p *Page) foreign(ctx context.Context, s *session, e *fetch.EventRequestPaused) {
	answer, err := p.browser.library(ctx, e)
	if err != nil {
		p.refuse(ctx, s, e)
		return
	}
	p.browser.cache.put(p.cacheKey(e), answer)
	out := *answer
	out.RequestID = e.RequestID
	_, _ = call(ctx, s, fetch.FulfillRequest, out)
}

// admit says why a request is not sent.
func (p *Page) admit(ctx context.Context, sent *Sent, kind network.ResourceType) error {
	if sent.Foreign {
		needed := kind == network.ResourceTypeScript || kind == network.ResourceTypeStylesheet
		if !needed || sent.Method != http.MethodGet || !p.browser.takeForeign(sent.Host) {
			return errForeign
		}
		return nil
	}
	if unneeded[kind] || kind == network.ResourceTypeOther && strings.HasSuffix(sent.Path, "/favicon.ico") {
		return errUnneeded
	}
	if p.o.allow != nil {
		if err := p.o.allow(sent); err != nil {
			return err
		}
	}
	return p.browser.o.Gate.Admit(ctx, sent.Request)
}

// replaced makes the main document's request the one of Send.
func (p *Page) replaced(e *fetch.EventRequestPaused, out *fetch.ContinueRequestParams) (*message.Request, error) {
	if e.ResourceType != network.ResourceTypeDocument || string(e.FrameID) != string(p.target) {
		return nil, nil
	}
	p.mu.Lock()
	r := p.o.first
	p.o.first = nil
	p.mu.Unlock()
	if r == nil {
		return nil, nil
	}
	content, contentType := r.Content()
	headers := http.Header{}
	for name, value := range e.Request.Headers {
		if text, ok := value.(string); ok {
			headers.Set(name, text)
		}
	}
	if contentType != "" {
		headers.Set("Content-Type", contentType)
	}
	for _, h := range r.Header {
		headers.Set(h.Name, h.Value)
	}
	out.Method, out.PostData, out.Headers = r.Method, content, entries(headers)
	return r, nil
}

// identify adds the headers of the scan and of the session.
func (p *Page) identify(ctx context.Context, r *message.Request, e *fetch.EventRequestPaused,
	out *fetch.ContinueRequestParams) error {
	headers := http.Header{}
	if out.Headers != nil {
		for _, h := range out.Headers {
			headers.Set(h.Name, h.Value)
		}
	} else {
		for name, value := range e.Request.Headers {
			if text, ok := value.(string); ok {
				headers.Set(name, text)
			}
		}
	}
	for _, h := range p.browser.o.Headers {
		headers.Set(h.Name, h.Value)
	}
	if p.o.As != nil {
		req, err := http.NewRequestWithContext(ctx, r.Method, e.Request.URL, nil)
		if err == nil {
			err = p.o.As.Prepare(ctx, req)
		}
		if err != nil {
			return err
		}
		req.Header.Del("Cookie") // they are in the profile
		maps.Copy(headers, req.Header)
	}
	out.Headers = entries(headers)
	return nil
}

func entries(h http.Header) []*fetch.HeaderEntry {
	var out []*fetch.HeaderEntry
	for _, name := range slices.Sorted(maps.Keys(h)) {
		for _, value := range h[name] {
			out = append(out, &fetch.HeaderEntry{Name: name, Value: value})
		}
	}
	return out
}

// local lets addresses through that lead nowhere.
func (p *Page) local(ctx context.Context, s *session, e *fetch.EventRequestPaused) {
	for _, scheme := range []string{"data:", "blob:", "about:"} {
		if strings.HasPrefix(e.Request.URL, scheme) {
			_, _ = call(ctx, s, fetch.ContinueRequest, fetch.ContinueRequestParams{RequestID: e.RequestID})
			return
		}
	}
	p.refuse(ctx, s, e)
}

// refuse fails a request. A page that wanted to go elsewhere stays where it is.
func (p *Page) refuse(ctx context.Context, s *session, e *fetch.EventRequestPaused) {
	reason := network.ErrorReasonBlockedByClient
	if e.ResourceType == network.ResourceTypeDocument {
		reason = network.ErrorReasonAborted
	}
	_, _ = call(ctx, s, fetch.FailRequest, fetch.FailRequestParams{RequestID: e.RequestID, ErrorReason: reason})
}

// authenticate answers our proxy, and nobody else.
func (p *Page) authenticate(s *session, e *fetch.EventAuthRequired) {
	answer := fetch.AuthChallengeResponse{Response: fetch.AuthChallengeResponseResponseCancelAuth}
	if c := e.AuthChallenge; c.Source == fetch.AuthChallengeSourceProxy &&
		strings.HasSuffix(c.Origin, "://"+p.in.process.Proxy.Addr().String()) {
		answer = fetch.AuthChallengeResponse{Response: fetch.AuthChallengeResponseResponseProvideCredentials,
			Username: p.browser.guard.user, Password: p.browser.guard.password}
	}
	ctx, cancel := context.WithTimeout(p.ctx, commandLimit)
	defer cancel()
	_, _ = call(ctx, s, fetch.ContinueWithAuth, fetch.ContinueWithAuthParams{RequestID: e.RequestID,
		AuthChallengeResponse: &answer})
}

// socket decides about a WebSocket, which is not held: its host is admitted or not.
func (p *Page) socket(address string) {
	p.observe(Event{Socket: message.Truncate(address, 8000)})
	u, err := url.Parse(address)
	if err != nil {
		return
	}
	asked := *u
	asked.Scheme = map[string]string{"ws": "http", "wss": "https"}[u.Scheme]
	r, err := message.FromURL(&asked)
	if err != nil || !p.browser.o.Within(r) {
		return
	}
	go func() {
		ctx, cancel := context.WithTimeout(p.ctx, guardAdmission)
		defer cancel()
		if p.browser.o.Gate.Admit(ctx, r) == nil {
			p.browser.guard.admit(u)
		}
	}()
}

// answered looks at an answer that was asked for: a script is kept, a document gets
// the policy that makes sinks tell.
func (p *Page) answered(ctx context.Context, s *session, e *fetch.EventRequestPaused) {
	if e.ResponseErrorReason == "" && e.ResponseStatusCode == http.StatusOK {
		if key := p.cacheKey(e); key != "" && p.browser.cache.wants(e.ResponseHeaders) {
			if body, err := call(ctx, s, fetch.GetResponseBody,
				fetch.GetResponseBodyParams{RequestID: e.RequestID}); err == nil {
				p.browser.cache.put(key, &fetch.FulfillRequestParams{ResponseCode: e.ResponseStatusCode,
					ResponseHeaders: plainHeaders(e.ResponseHeaders), Body: body.Body})
			}
		}
	}
	if p.o.trusted && e.ResourceType == network.ResourceTypeDocument && e.ResponseErrorReason == "" &&
		!hasTrustedTypes(e.ResponseHeaders) {
		if p.restrict(ctx, s, e) == nil {
			return
		}
	}
	_, _ = call(ctx, s, fetch.ContinueRequest, fetch.ContinueRequestParams{RequestID: e.RequestID})
}

// restrict answers with the same document under a policy by which all sinks ask our
// script. Headers that are changed without the body have no effect on policies.
func (p *Page) restrict(ctx context.Context, s *session, e *fetch.EventRequestPaused) error {
	body, err := call(ctx, s, fetch.GetResponseBody, fetch.GetResponseBodyParams{RequestID: e.RequestID})
	if err != nil {
		return err
	}
	headers := append(plainHeaders(e.ResponseHeaders), &fetch.HeaderEntry{Name: "Content-Security-Policy",
		Value: "require-trusted-types-for 'script'"})
	_, err = call(ctx, s, fetch.FulfillRequest, fetch.FulfillRequestParams{RequestID: e.RequestID,
		ResponseCode: e.ResponseStatusCode, ResponseHeaders: headers, Body: body.Body})
	return err
}

func hasTrustedTypes(headers []*fetch.HeaderEntry) bool {
	return slices.ContainsFunc(headers, func(h *fetch.HeaderEntry) bool {
		return strings.EqualFold(h.Name, "Content-Security-Policy") && strings.Contains(h.Value, "trusted-types")
	})
}

// plainHeaders leaves out what a body that was decoded does not have.
func plainHeaders(headers []*fetch.HeaderEntry) []*fetch.HeaderEntry {
	return slices.DeleteFunc(slices.Clone(headers), func(h *fetch.HeaderEntry) bool {
		return strings.EqualFold(h.Name, "Content-Encoding") || strings.EqualFold(h.Name, "Content-Length") ||
			strings.EqualFold(h.Name, "Transfer-Encoding")
	})
}

// track and untrack keep the requests that are under way. Streams never end, so
// nobody waits for them.
func (p *Page) track(id network.RequestID, kind network.ResourceType) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.active = time.Now()
	if kind != network.ResourceTypeEventSource && kind != network.ResourceTypePing && len(p.pending) < maxHeld {
		p.pending[id] = p.active
	}
}

func (p *Page) untrack(id network.RequestID) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.active = time.Now()
	delete(p.pending, id)
}

// observed makes a request of ours from one of the protocol.
func observed(in *network.Request) (*message.Request, error) {
	r, err := message.Parse(in.URL)
	if err != nil {
		return nil, err
	}
	r.Method, r.Origin = strings.ToUpper(in.Method), "browser"
	contentType := ""
	for _, name := range slices.Sorted(maps.Keys(in.Headers)) {
		value, ok := in.Headers[name].(string)
		switch lower := strings.ToLower(name); {
		case !ok:
		case lower == "content-type":
			contentType = value
		case lower == "referer":
			r.Referer = value
		case lower == "accept" || lower == "authorization" || strings.HasPrefix(lower, "x-"):
			r.Header = append(r.Header, message.Param{Name: name, Value: value})
		}
	}
	if in.HasPostData {
		var content []byte
		for _, part := range in.PostDataEntries {
			content = append(content, part.Bytes...)
		}
		r.Body = body(content, contentType)
	}
	return r, nil
}

// body reads the body of a request by its type.
func body(content []byte, contentType string) message.Body {
	media, params, err := mime.ParseMediaType(contentType)
	if err != nil {
		media = message.MediaType(contentType)
	}
	text := message.Body{Kind: message.Text, Text: content, Type: contentType}
	switch {
	case media == "application/x-www-form-urlencoded":
		return message.Body{Kind: message.Form, Params: message.ParseQuery(string(content)), Type: contentType}
	case media == "multipart/form-data":
		if parts, ok := parts(content, params["boundary"]); ok {
			return message.Body{Kind: message.Multipart, Params: parts}
		}
	case media == "application/json" || strings.HasSuffix(media, "+json"):
		text.Kind = message.JSON
	case media == "application/xml" || media == "text/xml" || strings.HasSuffix(media, "+xml"):
		text.Kind = message.XML
	}
	return text
}

func parts(content []byte, boundary string) ([]message.Param, bool) {
	if boundary == "" {
		return nil, false
	}
	var out []message.Param
	for r := multipart.NewReader(bytes.NewReader(content), boundary); len(out) < 1000; {
		part, err := r.NextPart()
		if err != nil {
			return out, errors.Is(err, io.EOF) && len(out) > 0
		}
		value, err := io.ReadAll(io.LimitReader(part, 1<<20))
		if err != nil {
			return out, false
		}
		out = append(out, message.Param{Name: part.FormName(), Value: string(value), File: part.FileName(),
			Type: part.Header.Get("Content-Type")})
	}
	return out, true
}

const (
	maxCached    = 4 << 20  // bytes of one script
	maxCachedAll = 48 << 20 // of all
)

// A cache keeps scripts and style sheets, so that a page that is loaded a hundred
// times asks the target for them once.
type cache struct {
	mu    sync.Mutex
	kept  map[string]*fetch.FulfillRequestParams
	bytes int
}

func newCache() *cache { return &cache{kept: map[string]*fetch.FulfillRequestParams{}} }

// cacheKey is empty for what is not kept. Users do not share what they see.
func (p *Page) cacheKey(e *fetch.EventRequestPaused) string {
	if e.Request.Method != http.MethodGet || e.ResourceType != network.ResourceTypeScript &&
		e.ResourceType != network.ResourceTypeStylesheet {
		return ""
	}
	who := ""
	if named, ok := p.o.As.(interface{ Name() string }); ok {
		who = named.Name()
	}
	return who + " " + e.Request.URL
}

// get returns a copy of what is kept; nil: nothing is.
func (c *cache) get(key string) *fetch.FulfillRequestParams {
	if key == "" {
		return nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if answer := c.kept[key]; answer != nil {
		clone := *answer
		return &clone
	}
	return nil
}

// wants reports whether an answer with the headers may be kept.
func (c *cache) wants(headers []*fetch.HeaderEntry) bool {
	for _, h := range headers {
		switch strings.ToLower(h.Name) {
		case "set-cookie":
			return false
		case "cache-control":
			if strings.Contains(strings.ToLower(h.Value), "no-store") {
				return false
			}
		}
	}
	return true
}

func (c *cache) put(key string, answer *fetch.FulfillRequestParams) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(answer.Body) > maxCached || c.bytes+len(answer.Body) > maxCachedAll || c.kept[key] != nil {
		return
	}
	c.bytes += len(answer.Body)
	c.kept[key] = answer
}
