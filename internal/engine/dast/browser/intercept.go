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

// handlePaused decides about a request, or an answer, that Chromium holds. Each is
// decided in a goroutine of its own, because the gate may wait for its turn.
func (p *Page) handlePaused(s *session, e *fetch.EventRequestPaused) {
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
		p.failPage("it sent more concurrent requests than the limit")
		done()
		return
	}
	go func() {
		defer done()
		ctx, cancel := context.WithTimeout(p.ctx, time.Minute)
		defer cancel()
		switch {
		case e.ResponseStatusCode != 0 || e.ResponseErrorReason != "":
			p.handleResponse(ctx, s, e)
		default:
			p.decideRequest(ctx, s, e)
		}
	}()
}

// decideRequest lets a request through or fails it.
func (p *Page) decideRequest(ctx context.Context, s *session, e *fetch.EventRequestPaused) {
	u, err := url.Parse(e.Request.URL)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" {
		p.continueLocal(ctx, s, e)
		return
	}
	if p.isAttackerHost(u.Hostname()) {
		p.answerAttackerHost(ctx, s, e)
		return
	}
	out := fetch.ContinueRequestParams{RequestID: e.RequestID}
	r, err := p.replaceFirst(e, &out)
	if r == nil {
		r, err = toRequest(e.Request)
	}
	if err != nil {
		p.failRequest(ctx, s, e)
		return
	}
	if answer := p.browser.cache.findEntry(p.cacheKey(e)); answer != nil {
		answer.RequestID = e.RequestID
		_, _ = runCommand(ctx, s, fetch.FulfillRequest, *answer)
		return
	}
	sent := Sent{Request: r, Kind: strings.ToLower(string(e.ResourceType)), Foreign: !p.browser.o.Within(r)}
	if err := p.admitRequest(ctx, &sent, e.ResourceType); err != nil {
		sent.Refused = err.Error()
		p.notifyObserver(Event{Request: &sent})
		p.failRequest(ctx, s, e)
		return
	}
	p.notifyObserver(Event{Request: &sent})
	if sent.Foreign {
		p.fulfillForeign(ctx, s, e)
		return
	}
	p.browser.guard.admitHost(u)
	p.continueRequest(ctx, s, e, r, out)
}

// isAttackerHost reports whether the host is the one that is answered for here, or below it.
func (p *Page) isAttackerHost(host string) bool {
	return p.o.attackerHost != "" && (host == p.o.attackerHost || strings.HasSuffix(host, "."+p.o.attackerHost))
}

// continueRequest sends a request of the target on with the headers of the scan. The
// response is held too when it is kept or gets another policy.
func (p *Page) continueRequest(ctx context.Context, s *session, e *fetch.EventRequestPaused, r *message.Request,
	out fetch.ContinueRequestParams) {
	if err := p.addIdentity(ctx, r, e, &out); err != nil {
		p.failRequest(ctx, s, e)
		return
	}
	if p.cacheKey(e) != "" || p.o.trusted && e.ResourceType == network.ResourceTypeDocument {
		out.InterceptResponse = pointerTo(true)
	}
	_, _ = runCommand(ctx, s, fetch.ContinueRequest, out)
}

// answerAttackerHost answers for a host of an attacker, which nothing is sent to: scripts and data
// that anybody may read. A page from there would be his own, and proves nothing.
func (p *Page) answerAttackerHost(ctx context.Context, s *session, e *fetch.EventRequestPaused) {
	kind := map[network.ResourceType]string{network.ResourceTypeScript: "text/javascript",
		network.ResourceTypeOther: "text/javascript",
		network.ResourceTypeXHR:   "text/html", network.ResourceTypeFetch: "text/html",
		network.ResourceTypePreflight: "text/html"}[e.ResourceType]
	if kind == "" || p.o.attackerBody == "" {
		p.failRequest(ctx, s, e)
		return
	}
	headers := http.Header{"Content-Type": {kind}, "Access-Control-Allow-Origin": {"*"},
		"Access-Control-Allow-Headers": {"*"}}
	_, _ = runCommand(ctx, s, fetch.FulfillRequest, fetch.FulfillRequestParams{RequestID: e.RequestID,
		ResponseCode: http.StatusOK, ResponseHeaders: headerEntries(headers), Body: []byte(p.o.attackerBody)})
}

// fulfillForeign answers for another host.
func (p *Page) fulfillForeign(ctx context.Context, s *session, e *fetch.EventRequestPaused) {
	answer, err := p.browser.fetchLibrary(ctx, e)
	if err != nil {
		p.failRequest(ctx, s, e)
		return
	}
	p.browser.cache.storeEntry(p.cacheKey(e), answer)
	out := *answer
	out.RequestID = e.RequestID
	_, _ = runCommand(ctx, s, fetch.FulfillRequest, out)
}

// admitRequest says why a request is not sent. A request that is refused is still
// recorded, since its address tells of the application.
func (p *Page) admitRequest(ctx context.Context, sent *Sent, kind network.ResourceType) error {
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

// replaceFirst makes the main document's request the one of Send.
func (p *Page) replaceFirst(e *fetch.EventRequestPaused, out *fetch.ContinueRequestParams) (*message.Request, error) {
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
	out.Method, out.PostData, out.Headers = r.Method, content, headerEntries(headers)
	return r, nil
}

// addIdentity adds the headers of the scan and of the session. Cookies are left out:
// the profile of the page has them.
func (p *Page) addIdentity(ctx context.Context, r *message.Request, e *fetch.EventRequestPaused,
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
	out.Headers = headerEntries(headers)
	return nil
}

// headerEntries writes headers as the protocol does, in a fixed order.
func headerEntries(h http.Header) []*fetch.HeaderEntry {
	var out []*fetch.HeaderEntry
	for _, name := range slices.Sorted(maps.Keys(h)) {
		for _, value := range h[name] {
			out = append(out, &fetch.HeaderEntry{Name: name, Value: value})
		}
	}
	return out
}

// continueLocal lets addresses through that lead nowhere.
func (p *Page) continueLocal(ctx context.Context, s *session, e *fetch.EventRequestPaused) {
	for _, scheme := range []string{"data:", "blob:", "about:"} {
		if strings.HasPrefix(e.Request.URL, scheme) {
			_, _ = runCommand(ctx, s, fetch.ContinueRequest, fetch.ContinueRequestParams{RequestID: e.RequestID})
			return
		}
	}
	p.failRequest(ctx, s, e)
}

// failRequest fails a request. A page that wanted to go elsewhere stays where it is.
func (p *Page) failRequest(ctx context.Context, s *session, e *fetch.EventRequestPaused) {
	reason := network.ErrorReasonBlockedByClient
	if e.ResourceType == network.ResourceTypeDocument {
		reason = network.ErrorReasonAborted
	}
	_, _ = runCommand(ctx, s, fetch.FailRequest, fetch.FailRequestParams{RequestID: e.RequestID, ErrorReason: reason})
}

// authenticateProxy answers our proxy, and nobody else.
func (p *Page) authenticateProxy(s *session, e *fetch.EventAuthRequired) {
	answer := fetch.AuthChallengeResponse{Response: fetch.AuthChallengeResponseResponseCancelAuth}
	if c := e.AuthChallenge; c.Source == fetch.AuthChallengeSourceProxy &&
		strings.HasSuffix(c.Origin, "://"+p.in.process.Proxy.Addr().String()) {
		answer = fetch.AuthChallengeResponse{Response: fetch.AuthChallengeResponseResponseProvideCredentials,
			Username: p.browser.guard.user, Password: p.browser.guard.password}
	}
	ctx, cancel := context.WithTimeout(p.ctx, commandLimit)
	defer cancel()
	_, _ = runCommand(ctx, s, fetch.ContinueWithAuth, fetch.ContinueWithAuthParams{RequestID: e.RequestID,
		AuthChallengeResponse: &answer})
}

// decideSocket decides about a WebSocket, which is not held: its host is admitted or not.
func (p *Page) decideSocket(address string) {
	p.notifyObserver(Event{Socket: message.Truncate(address, 8000)})
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
			p.browser.guard.admitHost(u)
		}
	}()
}

// handleResponse looks at an answer that was asked for: a script is kept, a document
// gets the policy that makes sinks tell. The body is read only where it is needed.
func (p *Page) handleResponse(ctx context.Context, s *session, e *fetch.EventRequestPaused) {
	if e.ResponseErrorReason == "" && e.ResponseStatusCode == http.StatusOK {
		if key := p.cacheKey(e); key != "" && p.browser.cache.mayKeep(e.ResponseHeaders) {
			if body, err := runCommand(ctx, s, fetch.GetResponseBody,
				fetch.GetResponseBodyParams{RequestID: e.RequestID}); err == nil {
				p.browser.cache.storeEntry(key, &fetch.FulfillRequestParams{ResponseCode: e.ResponseStatusCode,
					ResponseHeaders: plainHeaders(e.ResponseHeaders), Body: body.Body})
			}
		}
	}
	if p.o.trusted && e.ResourceType == network.ResourceTypeDocument && e.ResponseErrorReason == "" &&
		!hasTrustedTypes(e.ResponseHeaders) {
		if p.enforceTrustedTypes(ctx, s, e) == nil {
			return
		}
	}
	_, _ = runCommand(ctx, s, fetch.ContinueRequest, fetch.ContinueRequestParams{RequestID: e.RequestID})
}

// enforceTrustedTypes answers with the same document under a policy by which all sinks
// ask our script. Headers that are changed without the body have no effect on policies.
// The default policy of our script then sees every text that reaches a sink.
func (p *Page) enforceTrustedTypes(ctx context.Context, s *session, e *fetch.EventRequestPaused) error {
	body, err := runCommand(ctx, s, fetch.GetResponseBody, fetch.GetResponseBodyParams{RequestID: e.RequestID})
	if err != nil {
		return err
	}
	headers := append(plainHeaders(e.ResponseHeaders), &fetch.HeaderEntry{Name: "Content-Security-Policy",
		Value: "require-trusted-types-for 'script'"})
	_, err = runCommand(ctx, s, fetch.FulfillRequest, fetch.FulfillRequestParams{RequestID: e.RequestID,
		ResponseCode: e.ResponseStatusCode, ResponseHeaders: headers, Body: body.Body})
	return err
}

// hasTrustedTypes reports whether the page has a policy of Trusted Types already. A
// second one would be stricter than the page expects and break it.
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

// trackRequest and untrack keep the requests that are under way. Streams never end, so
// nobody waits for them.
func (p *Page) trackRequest(id network.RequestID, kind network.ResourceType) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.active = time.Now()
	if kind != network.ResourceTypeEventSource && kind != network.ResourceTypePing && len(p.pending) < maxHeld {
		p.pending[id] = p.active
	}
}

// untrackRequest forgets a request that has ended.
func (p *Page) untrackRequest(id network.RequestID) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.active = time.Now()
	delete(p.pending, id)
}

// toRequest makes a request of ours from one of the protocol.
func toRequest(in *network.Request) (*message.Request, error) {
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
		r.Body = parseBody(content, contentType)
	}
	return r, nil
}

// parseBody reads the body of a request by its type.
func parseBody(content []byte, contentType string) message.Body {
	media, params, err := mime.ParseMediaType(contentType)
	if err != nil {
		media = message.MediaType(contentType)
	}
	text := message.Body{Kind: message.Text, Text: content, Type: contentType}
	switch {
	case media == "application/x-www-form-urlencoded":
		return message.Body{Kind: message.Form, Params: message.ParseQuery(string(content)), Type: contentType}
	case media == "multipart/form-data":
		if parts, ok := parseMultipart(content, params["boundary"]); ok {
			return message.Body{Kind: message.Multipart, Params: parts}
		}
	case media == "application/json" || strings.HasSuffix(media, "+json"):
		text.Kind = message.JSON
	case media == "application/xml" || media == "text/xml" || strings.HasSuffix(media, "+xml"):
		text.Kind = message.XML
	}
	return text
}

// parseMultipart reads the parts of a body; false: it is malformed. The number and size
// of parts are bounded, since the page makes them.
func parseMultipart(content []byte, boundary string) ([]message.Param, bool) {
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

// newCache makes an empty cache.
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

// findEntry returns a copy of what is kept; nil: nothing is.
func (c *cache) findEntry(key string) *fetch.FulfillRequestParams {
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

// mayKeep reports whether an answer with the headers may be kept.
func (c *cache) mayKeep(headers []*fetch.HeaderEntry) bool {
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

// storeEntry keeps an answer while there is room. The first one of an address stays.
func (c *cache) storeEntry(key string, answer *fetch.FulfillRequestParams) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(answer.Body) > maxCached || c.bytes+len(answer.Body) > maxCachedAll || c.kept[key] != nil {
		return
	}
	c.bytes += len(answer.Body)
	c.kept[key] = answer
}
