// Package crawl finds what an application offers by requesting it as a browser without script
// would: links in every attribute that contains one, forms, addresses in script (package script),
// styles, robots.txt, sitemaps, well-known files, headers. What it finds is added to a sitemap.Map.
//
// [Crawler.Run] begins with the base and the seeds, CrawlMore goes on from requests that others
// have found, such as a browser. Several workers take requests from one queue. When it is empty,
// later phases send variants of forms, read pages again that stored values may have changed, and
// try cookies and steps of forms (runAll).
//
// Budget: Options.Pages requests. Requests that differ only in values are limited by shape
// (maxPerShape), so that a calendar or a shop with many products does not use it up. What a limit
// leaves out is reported.
package crawl

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"path"
	"slices"
	"strings"
	"sync"
	"time"

	"merlon/internal/engine/dast/formvalue"
	"merlon/internal/engine/dast/message"
	"merlon/internal/engine/dast/sideeffect"
	"merlon/internal/engine/dast/sitemap"
	"merlon/internal/engine/dast/traffic"
	"merlon/internal/errs"
	"merlon/internal/finding"
	"merlon/internal/lazyregexp"
	"merlon/internal/scan"
)

// Options say what to crawl. Zero numbers stand for the defaults.
type Options struct {
	Client *traffic.Client
	// As is the session that requests; nil: nobody's.
	As      traffic.Session
	Scope   *sitemap.Scope
	Surface *sitemap.Map
	// Submit sends forms that may store something; without it only those that the
	// method GET sends.
	Submit bool
	// Remove sends requests of the method DELETE; without it they are recorded, and not sent.
	Remove bool
	// Keeper decides by the effect of requests which are not sent; nil: all are.
	Keeper *sideeffect.Guard
	// Values are typed into fields; nil: those of no scan.
	Values *formvalue.Generator
	// Look gets every response, for checks that only inspect.
	Look     func(*message.Response)
	Progress func(asked, known int)
	Degrade  func(scan.Reason)
	// Place returns the path by which findings name the location of a request.
	Place func(*message.Request) string
	// Pages bounds the requests in all; 0: 5,000.
	Pages int
	// Parallel is the number of workers; 0: 4.
	Parallel int
	// Until is when the crawl ends; zero: with its context.
	Until time.Time
}

// A Result is what a crawl saw beside the operations.
type Result struct {
	// Asked counts the requests.
	Asked int
	// Sockets are addresses of WebSockets, at most maxSockets.
	Sockets []string
	// Routes are those that script shows in the browser, in the order of finding.
	Routes []string
	// Pages are the requests that returned a page, in their order.
	Pages []*message.Request
	// What a limit left out.
	left leftOut
	// What was queued when the scan ended.
	cut leftOut
	// The target sets more cookies than are attacked.
	tooManyCookies bool
}

const (
	// maxSockets, maxLists and maxRoutes bound what a target can make the crawler remember.
	maxSockets = 1000
	maxLists   = 1000
	maxRoutes  = 300
	// maxPerShape bounds requests that differ in values only, and lead to nothing new.
	maxPerShape = 4
	// maxSpare bounds those that wait, and are requested if the others lead to something new.
	maxSpare = 100
	// maxChosen bounds the pages of one program that a parameter chooses: index.php?page=…
	maxChosen = 150
	// maxPerPlace bounds the pages of one folder, and the programs that forms are sent to.
	maxPerPlace = 300
	// maxDepth bounds the links from a seed: some pages link to themselves with a longer address.
	maxDepth = 30
	// maxSegments bounds the segments of a path, for the same reason.
	maxSegments = 20
)

// wellKnown is asked of every site.
var wellKnown = []string{"/robots.txt", "/sitemap.xml", "/.well-known/security.txt", "/favicon.ico"}

// New returns a crawler that has asked for nothing yet.
func New(o Options) *Crawler {
	if o.Pages <= 0 {
		o.Pages = 5000
	}
	if o.Parallel <= 0 {
		o.Parallel = 4
	}
	c := &Crawler{Options: o, seen: map[string]bool{}, shapes: map[string]int{}, spare: map[string][]item{},
		room: map[string]int{}, folders: map[string]int{}, sockets: map[string]bool{}, soft: map[string]*softNotFound{},
		large: map[[sha256.Size]byte]*int{}, cookies: map[string]cookieSource{},
		codes: map[string]scriptCode{}, sent: map[*message.Request]*scriptForm{}, addedInVain: map[string]int{}}
	c.frameForms, c.behindForm = map[string]*frameForm{}, map[*message.Request]*message.Request{}
	c.renew = TokenRenewer(o.Client, o.As)
	c.ready = sync.NewCond(&c.mu)
	return c
}

// Run asks for the base of the scope, its well-known files and the seeds, and crawls
// until nothing is new, or a limit is reached, which is a reason. Its error is one that
// ends the scan.
func (c *Crawler) Run(ctx context.Context, seeds ...*message.Request) (*Result, error) {
	base, err := message.FromURL(c.Scope.Base())
	if err != nil {
		return nil, errs.Wrap(errs.Invalid, err, "the target cannot be requested")
	}
	all := append([]*message.Request{base}, seeds...)
	for _, at := range wellKnown {
		r := *base
		r.Path, r.Query, r.Origin = at, nil, strings.Trim(path.Ext(at), ".")
		if at == "/robots.txt" {
			r.Origin = "robots"
		}
		all = append(all, &r)
	}
	return c.CrawlMore(ctx, all...)
}

// CrawlMore crawls on from requests that somebody else has found. What was asked before is
// not asked again. The result is that of everything so far.
func (c *Crawler) CrawlMore(ctx context.Context, found ...*message.Request) (*Result, error) {
	for _, r := range found {
		c.enqueue(item{r: r})
	}
	return c.runAll(ctx)
}

// An item is a request to be asked, with its distance from a seed.
type item struct {
	r *message.Request
	// Links from a seed.
	depth int
	// The form of script that r is a variant of; nil: of none.
	of *scriptForm
	// The chooser that r takes a value of; nil: none.
	list *chooser
	// It was requested before, and is read again for what was stored.
	again bool
	// The shape of the request whose response led here.
	from string
	// How often the large page came that led here, see countLargePage; nil: it is not large.
	on *int
	// Parameters that were added because a response missed them.
	wanted []string
}

// A Crawler asks for pages. Run and More are called one after another.
type Crawler struct {
	Options
	mu sync.Mutex
	// Wakes workers that wait for the queue.
	ready   *sync.Cond
	queue   []item
	busy    int
	stopped error
	// Requests that were queued, exactly.
	seen map[string]bool
	// How many of each shape were queued.
	shapes map[string]int
	// By shape, requests that wait for what others of the shape lead to.
	spare map[string][]item
	// By shape, how many more are allowed because others led to something new.
	room    map[string]int
	kinds   sitemap.Variants
	folders map[string]int
	sockets map[string]bool
	soft    map[string]*softNotFound
	// By the digest of a large page, at how many addresses it came.
	large       map[[sha256.Size]byte]*int
	lists       []*message.Request      // see Lists
	cookies     map[string]cookieSource // by name and path
	codes       map[string]scriptCode   // by address of the file
	scripts     []*scriptForm
	sent        map[*message.Request]*scriptForm      // the same by request
	addedInVain map[string]int                        // parameters that were added in vain, see want
	wanted      int                                   // requests that want has pushed
	frameForms  map[string]*frameForm                 // by fields
	behindForm  map[*message.Request]*message.Request // see before
	// A form was answered by a redirect, so pages may show what it stored.
	stored bool
	// Held while a request with a fresh token is under way.
	renewing sync.RWMutex
	renew    func(context.Context, *message.Request) *message.Request
	result   Result
	gaps     sitemap.CoverageGaps // that gave no answer, or none that could be read
}

// runAll works until the queue is empty and nobody is busy; then it sends forms as
// script might. Each phase may add requests for the next.
func (c *Crawler) runAll(ctx context.Context) (*Result, error) {
	stop := context.AfterFunc(ctx, func() { c.stopCrawl(ctx.Err()) })
	defer stop()
	c.runWorkers(ctx)
	// Forms first as the page fills them in, then as its script might.
	c.queue = c.formVariants()
	c.runWorkers(ctx)
	c.queue = c.pagesToReread()
	c.runWorkers(ctx)
	for _, last := range []func(context.Context) error{c.enrichWithCookies, c.findFormSteps} {
		if err := last(ctx); err != nil {
			c.stopCrawl(err)
		}
	}
	c.dropFrameForms()
	c.Surface.MarkDuplicates(isSamePage)
	c.reportLimits()
	c.result.Sockets = slices.Sorted(maps.Keys(c.sockets))
	return &c.result, c.stopped
}

// runWorkers asks until the queue is empty and nobody is busy.
func (c *Crawler) runWorkers(ctx context.Context) {
	var workers sync.WaitGroup
	for range c.Parallel {
		workers.Go(func() {
			for {
				it, ok := c.nextItem()
				if !ok {
					return
				}
				err := c.requestItem(ctx, it)
				c.finishItem()
				if traffic.IsFinal(err) {
					c.recordCutOff(it)
					c.stopCrawl(err)
				}
			}
		})
	}
	workers.Wait()
}

// UnreadReasons returns a reason for each place that gave no answer, or none that could be read.
func (c *Crawler) UnreadReasons() []scan.Reason { return c.gaps.Take("unreadable", true) }

// reportLimits says what was left out. A limit that is reached is part of the result:
// the user must know what was not tested.
func (c *Crawler) reportLimits() {
	if c.result.left.n > 0 {
		c.Degrade(scan.Reason{Code: "too-many-pages", Beyond: true,
			Message: pluralize(c.result.left.n, "page was", "pages were") + " not requested: the crawl is limited: " +
				c.result.left.describePages()})
		c.result.left = leftOut{}
	}
	if c.result.cut.n > 0 {
		code := "unavailable"
		if c.stopped == nil || errors.Is(c.stopped, context.DeadlineExceeded) {
			code = "timeout"
		}
		c.Degrade(scan.Reason{Code: code, Beyond: true, Message: pluralize(c.result.cut.n, "page was", "pages were") +
			" found and not requested before the scan ended: " + c.result.cut.describePages()})
		c.result.cut = leftOut{}
	}
	if c.result.tooManyCookies {
		c.Degrade(scan.Reason{Code: "too-many-parameters", Message: fmt.Sprintf("the target sets too many cookies: "+
			"the first %d were attacked", maxCookies)})
		c.result.tooManyCookies = false
	}
	if n := c.Surface.OmittedCount(); n > 0 {
		c.Degrade(scan.Reason{Code: "too-many-operations", Beyond: true,
			Message: pluralize(n, "operation is", "operations are") + " not examined: there are too many"})
	}
}

// pluralize counts for people: "1 page was", "3 pages were".
func pluralize(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return formatInt(n) + " " + many
}

// stopCrawl ends the crawl with the first error; workers that wait are woken.
func (c *Crawler) stopCrawl(err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.stopped == nil {
		c.stopped = err
	}
	c.ready.Broadcast()
}

// requestItem sends a request and reads the response.
func (c *Crawler) requestItem(ctx context.Context, it item) error {
	r := it.r
	if c.isWithheld(r) {
		return nil
	}
	resp, err := c.sendRenewed(ctx, r)
	if err != nil {
		if !traffic.IsFinal(err) {
			c.Surface.Add(r)
			c.Surface.RecordFailure(r, err.Error())
			c.gaps.Add(c.Place(r), "", err.Error())
			return nil
		}
		return err
	}
	if err := c.checkCreated(ctx, resp); err != nil {
		return err
	}
	on, known := c.countLargePage(resp)
	if c.Look != nil && !known {
		c.Look(resp)
	}
	// A variant is compared with the form that it was made of, not read for itself.
	if it.of != nil {
		return c.compareVariant(ctx, it, resp)
	}
	if it.wanted != nil && !c.parametersAreRead(it, resp) {
		return nil
	}
	c.recordFormResponse(r, resp)
	c.enqueueChoice(it, resp)
	c.reportRedirectOutside(resp)
	there := c.recordOperation(ctx, it, resp)
	c.recordPage(it, resp, there)
	c.recordCookies(resp, false)
	// otherwise it was read where it is, and its relative addresses lead nowhere
	if !known && (there || resp.Status != http.StatusOK) {
		c.readResponse(it, resp, on)
	}
	return nil
}

// isWithheld reports whether a request is not sent, and records why: it would end the
// session, the guard against side effects refuses it, or the profile sends no such request.
func (c *Crawler) isWithheld(r *message.Request) bool {
	if why := sitemap.ForbiddenReason(r); why != "" {
		c.Surface.Add(r)
		c.Surface.RecordFailure(r, why)
		return true
	}
	if why := c.Keeper.RefusalReason(r); why != "" {
		c.Surface.Withhold(r, why)
		return true
	}
	switch {
	case c.Keeper.KindExhausted(r):
		c.Surface.Withhold(r, sideeffect.Enough)
	case r.Method != http.MethodGet && !c.Submit:
		c.Surface.Withhold(r, "the profile sends no forms that may store something")
	case sitemap.IsDelete(r) && !c.Remove:
		c.Surface.Add(r)
		c.Surface.RecordFailure(r, "the profile removes nothing")
	default:
		return false
	}
	return true
}

// recordOperation adds the request to the site map when something is there, and reports
// whether it is. A file that does nothing with a request is no operation.
func (c *Crawler) recordOperation(ctx context.Context, it item, resp *message.Response) bool {
	outcome, _ := sitemap.Outcome(resp)
	there := outcome != finding.NotReached && !c.isSoftNotFound(ctx, resp)
	answer := resp
	if !there {
		if answer = c.pageBehind(ctx, resp); answer != nil {
			there = true
		}
	}
	if there && !IsStatic(answer) {
		if c.Surface.Add(it.r) && it.from != "" {
			c.makeRoom(it.from)
		}
		c.Surface.RecordResponse(answer, c.identityName(it.r))
		c.Surface.CountResponses(it.r, 1)
	}
	return there
}

// readResponse enqueues what a response leads to.
func (c *Crawler) readResponse(it item, resp *message.Response, on *int) {
	found := ReadPageWith(resp, c.Values)
	c.requestMissing(it, resp, found)
	c.enqueueFound(found, resp, it.depth+1, on)
	if resp.IsHTML() && resp.ParseError() != nil {
		c.gaps.Add(c.Place(it.r), "", fmt.Sprintf("the page %s was not read: %v", it.r.Location(), resp.ParseError()))
	}
}

const (
	largePage = 256 << 10 // bytes
	maxSame   = 20        // addresses of one large page that are read
)

// countLargePage reports whether the same large page was read often enough, at other
// addresses, and counts them: an application that answers everything with one page of
// thousands of forms would keep the crawl reading for hours. on is nil for any other
// page. The sum of the body tells pages apart without keeping them.
func (c *Crawler) countLargePage(resp *message.Response) (on *int, often bool) {
	if len(resp.Body) < largePage {
		return nil, false
	}
	sum := sha256.Sum256(resp.Body)
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.large[sum] == nil {
		c.large[sum] = new(int)
	}
	on = c.large[sum]
	*on++
	return on, *on > maxSame
}

// reportRedirectOutside says where the target's own address leads when that is none of
// the target's. The scan is then most likely given the wrong address.
func (c *Crawler) reportRedirectOutside(resp *message.Response) {
	to := resp.Location()
	base, err := message.FromURL(c.Scope.Base())
	if err != nil || to == nil || resp.Request.Method != http.MethodGet || resp.Request.Address() != base.Address() {
		return
	}
	if next, err := message.FromURL(to); err == nil && c.Scope.Allows(next) == nil {
		return
	}
	c.Degrade(scan.Reason{Code: "unavailable", Message: fmt.Sprintf("%s leads to %.200s, which is outside of the "+
		"target: what is there was not examined", base.Location(), to.Scheme+"://"+to.Host+to.Path)})
}

// identityName is that of the identity that asks.
func (c *Crawler) identityName(r *message.Request) string {
	if c.As == nil || r.Guest {
		return ""
	}
	return c.As.Name()
}

// recordPage remembers what later phases want.
func (c *Crawler) recordPage(it item, resp *message.Response, there bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if there && !it.again && resp.IsHTML() && resp.Status == http.StatusOK {
		c.result.Pages = append(c.result.Pages, resp.Request)
	}
	c.stored = c.stored || it.r.Method == http.MethodPost && it.list == nil && resp.Location() != nil
}

// enqueueFound enqueues what was found in a response, of which on is known.
func (c *Crawler) enqueueFound(f *PageContent, resp *message.Response, depth int, on *int) {
	c.recordScriptForms(f)
	if resp.Request.Method == http.MethodGet {
		c.recordForms(resp.Request, f.Requests)
	}
	c.recordFormOrder(resp.Request, f.Requests)
	from := sitemap.OperationKey(resp.Request)
	for _, r := range f.Requests {
		r.Guest = resp.Request.Guest
		if resp.Request.Method != http.MethodGet { // a preview shows what was sent: nothing is stored yet
			r.Shown = slices.DeleteFunc(r.Shown, func(name string) bool { return c.holdsMark(r, name) })
		}
		if r.Referer == "" && strings.HasPrefix(r.Origin, "form") {
			r.Referer = resp.Request.Address()
		}
		c.enqueue(item{r: r, depth: depth, list: f.choosers[r], from: from, on: on})
	}
	one, add := collectionRequests(resp, c.Values)
	if one != nil {
		c.enqueue(item{r: one, depth: depth, on: on})
	}
	c.recordContent(f, resp, add)
	if up := parentFolder(resp); up != nil {
		c.enqueue(item{r: up, depth: depth, on: on})
	}
}

// recordFormOrder remembers by which form the requests of a page were come to: they may be
// later pages of the same form, which do nothing by themselves.
func (c *Crawler) recordFormOrder(page *message.Request, found []*message.Request) {
	c.mu.Lock()
	defer c.mu.Unlock()
	before := c.formBefore(page)
	if before == nil || len(c.behindForm) >= maxPerPlace {
		return
	}
	for _, r := range found {
		if sitemap.OperationKey(r) != sitemap.OperationKey(before) {
			c.behindForm[r] = before
		}
	}
}

// holdsMark reports whether a field of a form holds a value of the scan.
func (c *Crawler) holdsMark(r *message.Request, name string) bool {
	return slices.ContainsFunc(r.Body.Params, func(p message.Param) bool {
		return p.Name == name && strings.Contains(p.Value, c.Values.Mark())
	})
}

// recordContent keeps what a response tells beside requests: the one that would add to a
// list, code that sends forms, WebSockets, and routes of script.
func (c *Crawler) recordContent(f *PageContent, resp *message.Response, add *message.Request) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if add != nil && len(c.lists) < maxLists {
		c.lists = append(c.lists, add)
	}
	if f.code.headers || f.code.fields {
		c.codes[resp.Request.Address()] = f.code
	}
	for _, s := range f.Sockets {
		if len(c.sockets) < maxSockets {
			c.sockets[s] = true
		}
	}
	for _, route := range f.Routes {
		if len(c.result.Routes) < maxRoutes && !slices.Contains(c.result.Routes, route) {
			c.result.Routes = append(c.result.Routes, route)
		}
	}
}

// parentFolder returns the request for the folder of a page, which often lists what is in
// it; nil: there is none beside the root.
func parentFolder(resp *message.Response) *message.Request {
	r := resp.Request
	if resp.Status != http.StatusOK || len(r.Query) > 0 || r.Method != http.MethodGet {
		return nil
	}
	dir := path.Dir(strings.TrimSuffix(r.Path, "/"))
	if dir == "/" || dir == "." {
		return nil
	}
	return &message.Request{Method: http.MethodGet, Scheme: r.Scheme, Host: r.Host, Path: dir + "/", Origin: "folder"}
}

// IsStatic reports whether the answer is a file that does nothing with a request: an
// image, a style, a script, a font. Nothing is attacked there.
func IsStatic(resp *message.Response) bool {
	if resp.Request.Method != http.MethodGet || len(resp.Request.Query) > 0 {
		return false
	}
	media := resp.MediaType()
	for _, prefix := range []string{"image/", "font/", "audio/", "video/", "text/css"} {
		if strings.HasPrefix(media, prefix) {
			return true
		}
	}
	switch media {
	case "text/javascript", "application/javascript", "application/x-javascript", "application/ecmascript",
		"application/font-woff", "application/wasm", "application/manifest+json":
		return true
	}
	switch strings.ToLower(path.Ext(resp.Request.Path)) {
	case ".css", ".js", ".mjs", ".map", ".png", ".jpg", ".jpeg", ".gif", ".svg", ".ico", ".woff", ".woff2", ".ttf",
		".eot", ".webp", ".mp4", ".pdf":
		return true
	}
	return resp.Request.Path == "/robots.txt" || strings.HasPrefix(resp.Request.Path, "/sitemap") ||
		strings.HasPrefix(resp.Request.Path, "/.well-known/")
}

// softNotFound tells what a part of the site answers to addresses that are not there.
type softNotFound struct {
	once  sync.Once
	page  *message.Response // nil: it answers as it should
	texts [2]string         // what is steady of it, without and with its own address
}

// isSoftNotFound reports whether an answer with status 200 says that there is no such
// page, which is told by asking for one that surely does not exist, once for each kind
// of name. Such a page is called a soft 404.
func (c *Crawler) isSoftNotFound(ctx context.Context, resp *message.Response) bool {
	r := resp.Request
	if resp.Status != http.StatusOK || r.Method != http.MethodGet || r.Path == "/" {
		return false
	}
	key := r.Base() + " " + path.Ext(r.Path)
	c.mu.Lock()
	s := c.soft[key]
	if s == nil {
		s = &softNotFound{}
		c.soft[key] = s
	}
	c.mu.Unlock()
	s.once.Do(func() {
		absent := &message.Request{Method: http.MethodGet, Scheme: r.Scheme, Host: r.Host,
			Path: path.Join(path.Dir(c.Scope.Base().EscapedPath()+"x"), "m3rl0n-n0t-there"+path.Ext(r.Path))}
		if !strings.HasPrefix(absent.Path, "/") {
			absent.Path = "/" + absent.Path
		}
		if got, err := c.Client.Send(ctx, absent, c.As); err == nil && got.Status == http.StatusOK {
			s.page, s.texts = got, stableText(got)
		}
	})
	// A query may decide whether something is there.
	if s.page == nil || len(r.Query) > 0 {
		return false
	}
	if s.page.Text() == resp.Text() {
		return true
	}
	texts := stableText(resp)
	return texts[0] == s.texts[0] || texts[1] == s.texts[1]
}

// stableText is the text of an answer without what differs from answer to answer:
// numbers and random values, and in the second also its own address. A page that
// repeats the address in its text is then still recognized.
func stableText(resp *message.Response) [2]string {
	text := resp.Text()
	return [2]string{changingText.ReplaceAllString(text, "0"),
		changingText.ReplaceAllString(strings.ReplaceAll(text, strings.TrimPrefix(resp.Request.Path, "/"), ""), "0")}
}

// isSamePage reports whether two answers are the same but for what changes by itself and the
// address that they were given for, one of which names the file.
func isSamePage(file string, a, b *message.Response) bool {
	if a.Status != b.Status || a.MediaType() != b.MediaType() {
		return false
	}
	without := func(resp *message.Response) string {
		text := strings.ReplaceAll(resp.Text(), file, "")
		return changingText.ReplaceAllString(text, "0")
	}
	if to, other := a.Location(), b.Location(); to != nil || other != nil {
		return to != nil && other != nil && strings.TrimSuffix(to.Path, file) == strings.TrimSuffix(other.Path, file) &&
			to.RawQuery == other.RawQuery
	}
	return without(a) == without(b)
}

// changingText are numbers, and hexadecimal texts with numbers.
var changingText = lazyregexp.New(`[0-9A-Fa-f]*[0-9][0-9A-Fa-f]*`)

// pageBehind tells a page that is there, and answers that what a query or a form names
// is not, from one that is not: asked without these, once for each path, it answers.
// That answer is returned, as one to the request; nil where there is none. The request
// without parameters is sent once and kept.
func (c *Crawler) pageBehind(ctx context.Context, resp *message.Response) *message.Response {
	r := resp.Request
	form := r.Method == http.MethodPost && (r.Body.Kind == message.Form || r.Body.Kind == message.Multipart)
	if resp.Status != http.StatusNotFound || !form && (r.Method != http.MethodGet || len(r.Query) == 0) ||
		IsStatic(resp) {
		return nil
	}
	c.mu.Lock()
	key := "bare " + r.Base() + r.Path
	s := c.soft[key]
	if s == nil {
		s = &softNotFound{}
		c.soft[key] = s
	}
	c.mu.Unlock()
	s.once.Do(func() {
		bare := &message.Request{Method: http.MethodGet, Scheme: r.Scheme, Host: r.Host, Path: r.Path}
		got, err := c.Client.Send(ctx, bare, c.As)
		if err != nil {
			return
		}
		if outcome, _ := sitemap.Outcome(got); outcome == finding.Reached && got.Location() == nil &&
			!c.isSoftNotFound(ctx, got) {
			s.page = got
		}
	})
	if s.page == nil {
		return nil
	}
	return &message.Response{Request: r, Status: s.page.Status, Header: s.page.Header, Body: s.page.Body}
}

// Resolve returns the GET request of an address as it stands in a document; nil when it
// is none. It follows the URL standard where browsers differ from RFC 3986: white space
// is removed, and a backslash is a slash.
func Resolve(base *url.URL, text, origin string) *message.Request {
	text = strings.TrimSpace(text)
	if text == "" || len(text) > 4000 || strings.HasPrefix(text, "#") {
		return nil
	}
	if i := strings.IndexByte(text, ':'); i > 0 && !strings.ContainsAny(text[:i], "/?#") {
		switch strings.ToLower(text[:i]) {
		case "http", "https":
		default:
			return nil
		}
	}
	text = strings.NewReplacer("\t", "", "\n", "", "\r", "", " ", "%20", `\`, "/").Replace(text)
	u, err := base.Parse(text)
	if err != nil {
		return nil
	}
	// Credentials in an address are not sent: they would replace those of the session.
	u.User = nil
	r, err := message.FromURL(u)
	if err != nil {
		return nil
	}
	r.Path = cleanPath(r.Path)
	r.Origin = origin
	return r
}

// cleanPath removes what a browser would resolve away, and doubled slashes.
func cleanPath(p string) string {
	for strings.Contains(p, "//") {
		p = strings.ReplaceAll(p, "//", "/")
	}
	return p
}
