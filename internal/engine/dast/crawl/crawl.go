// Package crawl finds what an application offers by asking for it as a browser
// without script would: links in every attribute that holds one, forms, script that is
// mined for addresses, styles, robots, sitemaps, well-known files, headers. What it
// finds goes to a site.Map.
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
	Client  *traffic.Client
	As      traffic.Session // nil: nobody
	Scope   *sitemap.Scope
	Surface *sitemap.Map
	// Submit sends forms that may store something; without it only those that the
	// method GET sends.
	Submit bool
	// Remove sends requests of the method DELETE; without it they are told, and not sent.
	Remove bool
	// Guard judges what requests do, and which of them are not sent; nil: all are.
	Keeper *sideeffect.Guard
	// Values are typed into fields; nil: those of no scan.
	Values *formvalue.Generator
	// Look sees every answer.
	Look     func(*message.Response)
	Progress func(asked, known int)
	Degrade  func(scan.Reason)
	// Place is the path by which findings name the place of a request.
	Place    func(*message.Request) string
	Pages    int       // asked in all; 5,000
	Parallel int       // at once; 4
	Until    time.Time // when it ends, if that is set
}

// A Result is what a crawl saw beside the operations.
type Result struct {
	Asked   int
	Sockets []string           // addresses of WebSockets, at most maxSockets
	Routes  []string           // that script shows in the browser, in the order of finding
	Pages   []*message.Request // that answered with a page, in the order of asking
	left    leftOut            // that found no room
	cut     leftOut            // that were to be asked when the scan ended
	crumbs  bool               // so did cookies
}

const (
	maxSockets  = 1000
	maxLists    = 1000
	maxRoutes   = 300
	maxPerShape = 4   // requests that differ in values only, and lead to nothing new
	maxSpare    = 100 // of them that are asked if they do
	maxChosen   = 150 // pages of one program that a parameter chooses
	maxPerPlace = 300 // pages of one folder, and programs that forms are sent to
	maxDepth    = 30  // links from a seed
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
		room: map[string]int{}, folders: map[string]int{}, sockets: map[string]bool{}, soft: map[string]*soft{},
		large: map[[sha256.Size]byte]*int{}, cookies: map[string]crumb{},
		codes: map[string]code{}, sent: map[*message.Request]*scripted{}, vain: map[string]int{}}
	c.standing, c.behindForm = map[string]*standing{}, map[*message.Request]*message.Request{}
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
		return nil, errs.Wrap(errs.Invalid, err, "the target cannot be asked")
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
		c.push(item{r: r})
	}
	return c.run(ctx)
}

// An item is a request to be asked, with its distance from a seed.
type item struct {
	r     *message.Request
	depth int
	of    *scripted // that r is a variant of
	list  *chooser  // that r chooses of; nil: of none
	again bool      // it was asked before, see reread
	from  string    // shape of the request whose answer led here
	on    *int      // how often the large page came that names r, see known; nil: it is not large
	// wanted are parameters that r has because an answer missed them.
	wanted []string
}

// A Crawler asks for pages. Run and More are called one after another.
type Crawler struct {
	Options
	mu         sync.Mutex
	ready      *sync.Cond
	queue      []item
	busy       int
	stopped    error
	seen       map[string]bool // exact requests
	shapes     map[string]int
	spare      map[string][]item // by shape, that wait for what others of it lead to
	room       map[string]int    // by shape, beyond maxPerShape
	kinds      sitemap.Variants
	folders    map[string]int
	sockets    map[string]bool
	soft       map[string]*soft
	large      map[[sha256.Size]byte]*int // addresses of a large page, see known
	lists      []*message.Request         // see Lists
	cookies    map[string]crumb           // by name and path
	codes      map[string]code            // by address of the file
	scripts    []*scripted
	sent       map[*message.Request]*scripted        // the same by request
	vain       map[string]int                        // parameters that were added in vain, see want
	wanted     int                                   // requests that want has pushed
	standing   map[string]*standing                  // by fields
	behindForm map[*message.Request]*message.Request // see before
	stored     bool                                  // a form was answered by a redirect, see reread
	renewing   sync.RWMutex                          // held while a request with a fresh token is under way
	renew      func(context.Context, *message.Request) *message.Request
	result     Result
	gaps       sitemap.CoverageGaps // that gave no answer, or none that could be read
}

// run works until the queue is empty and nobody is busy; then it sends forms as script
// might.
func (c *Crawler) run(ctx context.Context) (*Result, error) {
	stop := context.AfterFunc(ctx, func() { c.end(ctx.Err()) })
	defer stop()
	c.work(ctx)
	c.queue = c.formVariants()
	c.work(ctx)
	c.queue = c.reread()
	c.work(ctx)
	for _, last := range []func(context.Context) error{c.bake, c.steps} {
		if err := last(ctx); err != nil {
			c.end(err)
		}
	}
	c.dropFrameForms()
	c.Surface.MarkDuplicates(isSamePage)
	c.limits()
	c.result.Sockets = slices.Sorted(maps.Keys(c.sockets))
	return &c.result, c.stopped
}

// work asks until the queue is empty and nobody is busy.
func (c *Crawler) work(ctx context.Context) {
	var workers sync.WaitGroup
	for range c.Parallel {
		workers.Go(func() {
			for {
				it, ok := c.next()
				if !ok {
					return
				}
				err := c.ask(ctx, it)
				c.done()
				if traffic.IsFinal(err) {
					c.recordCutOff(it)
					c.end(err)
				}
			}
		})
	}
	workers.Wait()
}

// UnreadReasons returns a reason for each place that gave no answer, or none that could be read.
func (c *Crawler) UnreadReasons() []scan.Reason { return c.gaps.Take("unreadable", true) }

// limits says what was left out.
func (c *Crawler) limits() {
	if c.result.left.n > 0 {
		c.Degrade(scan.Reason{Code: "too-many-pages", Beyond: true,
			Message: plural(c.result.left.n, "page was", "pages were") + " not asked: the crawl is limited: " +
				c.result.left.describePages()})
		c.result.left = leftOut{}
	}
	if c.result.cut.n > 0 {
		code := "unavailable"
		if c.stopped == nil || errors.Is(c.stopped, context.DeadlineExceeded) {
			code = "timeout"
		}
		c.Degrade(scan.Reason{Code: code, Beyond: true, Message: plural(c.result.cut.n, "page was", "pages were") +
			" found and not asked before the scan ended: " + c.result.cut.describePages()})
		c.result.cut = leftOut{}
	}
	if c.result.crumbs {
		c.Degrade(scan.Reason{Code: "too-many-parameters", Message: fmt.Sprintf("the target sets too many cookies: "+
			"the first %d were attacked", maxCrumbs)})
		c.result.crumbs = false
	}
	if n := c.Surface.OmittedCount(); n > 0 {
		c.Degrade(scan.Reason{Code: "too-many-operations", Beyond: true,
			Message: plural(n, "operation is", "operations are") + " not examined: there are too many"})
	}
}

func plural(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return itoa(n) + " " + many
}

func (c *Crawler) end(err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.stopped == nil {
		c.stopped = err
	}
	c.ready.Broadcast()
}

func (c *Crawler) next() (item, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	// The first answer may begin a session, which the others shall go on with.
	for (len(c.queue) == 0 || c.result.Asked == 0) && c.busy > 0 && c.stopped == nil {
		c.ready.Wait()
	}
	for len(c.queue) > 0 && c.queue[0].on != nil && *c.queue[0].on > maxSame {
		c.result.left.addPage(c.queue[0].r) // what the page names is most likely the page
		c.queue = c.queue[1:]
	}
	if len(c.queue) == 0 || c.stopped != nil || !c.Until.IsZero() && time.Now().After(c.Until) {
		for _, it := range c.queue {
			c.result.cut.addNew(it)
		}
		c.queue = nil
		c.ready.Broadcast()
		return item{}, false
	}
	it := c.queue[0]
	c.queue = c.queue[1:]
	c.busy++
	return it, true
}

func (c *Crawler) done() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.busy--
	c.result.Asked++
	if c.Progress != nil {
		c.Progress(c.result.Asked, c.result.Asked+len(c.queue)+c.busy)
	}
	c.ready.Broadcast()
}

// push takes a request into the queue when it is new and may be asked.
func (c *Crawler) push(it item) {
	r := it.r
	if c.Scope.Allows(r) != nil {
		return
	}
	content, _ := r.Content()
	key := r.Method + " " + r.Address() + "\x00" + string(content)
	if r.Guest && it.depth == 0 { // what it leads to is asked once, as whoever saw it first
		key += "\x00"
	}
	folder := r.Method + " " + r.Base() + path.Dir(r.Path)
	r.Effect = c.Keeper.Classify(r, "")
	c.mu.Lock()
	defer c.mu.Unlock()
	shape := sitemap.OperationKey(r)
	if page := sitemap.PageKey(r); page != "" && c.shapes[shape+" "] < maxChosen {
		if c.shapes[shape+"="+page] == 0 {
			c.shapes[shape+" "]++
		}
		shape += "=" + page
	}
	if c.seen[key] || it.depth > maxDepth || trap(r.Path) {
		return
	}
	c.seen[key] = true
	if c.shapes[shape] == 0 {
		if taken, covered := c.kinds.Take(r); !taken {
			if !covered {
				c.result.left.addPage(r)
			}
			c.shapes[shape] = maxPerShape
			return
		}
	}
	if r.Method == http.MethodGet && c.shapes[shape] >= maxPerShape+c.room[shape] && len(c.seen) <= c.Pages &&
		len(c.spare[shape]) < maxSpare {
		c.spare[shape] = append(c.spare[shape], it)
		return
	}
	if c.shapes[shape] >= maxPerShape+c.room[shape] || len(c.seen) > c.Pages || len(r.Query) == 0 &&
		c.folders[folder] >= maxPerPlace {
		if c.shapes[shape] == 0 {
			c.result.left.addPage(r)
		}
		return
	}
	c.shapes[shape]++
	c.folders[folder]++
	c.queue = append(c.queue, it)
	c.ready.Signal()
}

// leadsOn makes room for more requests of a shape, one of which has led to an operation
// that is new: pages of a catalogue may differ in more than a number.
func (c *Crawler) leadsOn(shape string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for range 2 {
		if len(c.spare[shape]) == 0 || c.room[shape] >= maxSpare {
			return
		}
		it := c.spare[shape][0]
		c.spare[shape] = c.spare[shape][1:]
		c.room[shape]++
		c.shapes[shape]++
		c.queue = append(c.queue, it)
		c.ready.Signal()
	}
}

// trap reports whether the path looks like one that goes on for ever.
func trap(p string) bool {
	segments := strings.Split(p, "/")
	if len(segments) > maxSegments || len(p) > 2000 {
		return true
	}
	repeated := map[string]int{}
	for _, s := range segments {
		if repeated[s]++; s != "" && repeated[s] > 3 {
			return true
		}
	}
	return false
}

// ask asks for a request and reads the answer.
func (c *Crawler) ask(ctx context.Context, it item) error {
	r := it.r
	if why := sitemap.ForbiddenReason(r); why != "" {
		c.Surface.Add(r)
		c.Surface.RecordFailure(r, why)
		return nil
	}
	if why := c.Keeper.RefusalReason(r); why != "" {
		c.Surface.Withhold(r, why)
		return nil
	}
	if c.Keeper.KindExhausted(r) {
		c.Surface.Withhold(r, sideeffect.Enough)
		return nil
	}
	if r.Method != http.MethodGet && !c.Submit {
		c.Surface.Withhold(r, "the profile sends no forms that may store something")
		return nil
	}
	if sitemap.IsDelete(r) && !c.Remove {
		c.Surface.Add(r)
		c.Surface.RecordFailure(r, "the profile removes nothing")
		return nil
	}
	resp, err := c.send(ctx, r)
	if err != nil {
		if !traffic.IsFinal(err) {
			c.Surface.Add(r)
			c.Surface.RecordFailure(r, err.Error())
			c.gaps.Add(c.Place(r), "", err.Error())
			return nil
		}
		return err
	}
	if err := c.created(ctx, resp); err != nil {
		return err
	}
	on, known := c.known(resp)
	if c.Look != nil && !known {
		c.Look(resp)
	}
	if it.of != nil {
		return c.compareVariant(ctx, it, resp)
	}
	if it.wanted != nil && !c.parametersAreRead(it, resp) {
		return nil
	}
	c.recordFormResponse(r, resp)
	c.choose(it, resp)
	c.leads(resp)
	outcome, _ := sitemap.Outcome(resp)
	there := outcome != finding.NotReached && !c.missing(ctx, resp)
	answer := resp
	if !there {
		if answer = c.behind(ctx, resp); answer != nil {
			there = true
		}
	}
	if there && !IsStatic(answer) {
		if c.Surface.Add(r) && it.from != "" {
			c.leadsOn(it.from)
		}
		c.Surface.RecordResponse(answer, c.name(r))
		c.Surface.CountResponses(r, 1)
	}
	c.keep(it, resp, there)
	c.crumbs(resp, false)
	if known {
		return nil
	}
	// otherwise it was read where it is, and its relative addresses lead nowhere
	if there || resp.Status != http.StatusOK {
		found := ReadPageWith(resp, c.Values)
		c.requestMissing(it, resp, found)
		c.take(found, resp, it.depth+1, on)
		if resp.IsHTML() && resp.ParseError() != nil {
			c.gaps.Add(c.Place(r), "", fmt.Sprintf("the page %s was not read: %v", r.Location(), resp.ParseError()))
		}
	}
	return nil
}

const (
	largePage = 256 << 10 // bytes
	maxSame   = 20        // addresses of one large page that are read
)

// known reports whether the same large page was read often enough, at other addresses, and
// counts them: an application that answers everything with one page of thousands of forms
// would keep the crawl reading for hours. on is nil for any other page.
func (c *Crawler) known(resp *message.Response) (on *int, often bool) {
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

// leads says where the target's own address leads when that is none of the target's.
func (c *Crawler) leads(resp *message.Response) {
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

// name is that of the identity that asks.
func (c *Crawler) name(r *message.Request) string {
	if c.As == nil || r.Guest {
		return ""
	}
	return c.As.Name()
}

// keep remembers what later phases want.
func (c *Crawler) keep(it item, resp *message.Response, there bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if there && !it.again && resp.IsHTML() && resp.Status == http.StatusOK {
		c.result.Pages = append(c.result.Pages, resp.Request)
	}
	c.stored = c.stored || it.r.Method == http.MethodPost && it.list == nil && resp.Location() != nil
}

// take pushes what was found in an answer, of which on is known.
func (c *Crawler) take(f *PageContent, resp *message.Response, depth int, on *int) {
	c.recordScriptForms(f)
	if resp.Request.Method == http.MethodGet {
		c.recordForms(resp.Request, f.Requests)
	}
	from := sitemap.OperationKey(resp.Request)
	c.mu.Lock()
	if before := c.before(resp.Request); before != nil && len(c.behindForm) < maxPerPlace {
		for _, r := range f.Requests {
			if sitemap.OperationKey(r) != sitemap.OperationKey(before) {
				c.behindForm[r] = before
			}
		}
	}
	c.mu.Unlock()
	for _, r := range f.Requests {
		r.Guest = resp.Request.Guest
		if resp.Request.Method != http.MethodGet { // a preview shows what was sent: nothing is stored yet
			r.Shown = slices.DeleteFunc(r.Shown, func(name string) bool {
				return slices.ContainsFunc(r.Body.Params, func(p message.Param) bool {
					return p.Name == name && strings.Contains(p.Value, c.Values.Mark())
				})
			})
		}
		if r.Referer == "" && strings.HasPrefix(r.Origin, "form") {
			r.Referer = resp.Request.Address()
		}
		c.push(item{r: r, depth: depth, list: f.choosers[r], from: from, on: on})
	}
	one, add := collection(resp, c.Values)
	if one != nil {
		c.push(item{r: one, depth: depth, on: on})
	}
	c.mu.Lock()
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
	c.mu.Unlock()
	// Folders above a page often list what is in them.
	if resp.Status == http.StatusOK && len(resp.Request.Query) == 0 && resp.Request.Method == http.MethodGet {
		if dir := path.Dir(strings.TrimSuffix(resp.Request.Path, "/")); dir != "/" && dir != "." {
			up := &message.Request{Method: http.MethodGet, Scheme: resp.Request.Scheme, Host: resp.Request.Host,
				Path: dir + "/", Origin: "folder"}
			c.push(item{r: up, depth: depth, on: on})
		}
	}
}

// IsStatic reports whether the answer is a file that does nothing with a request: an
// image, a style, a script, a font.
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

// soft tells what a part of the site answers to addresses that are not there.
type soft struct {
	once  sync.Once
	page  *message.Response // nil: it answers as it should
	texts [2]string         // what is steady of it, without and with its own address
}

// missing reports whether an answer with status 200 says that there is no such page,
// which is told by asking for one that surely does not exist, once for each kind of
// name.
func (c *Crawler) missing(ctx context.Context, resp *message.Response) bool {
	r := resp.Request
	if resp.Status != http.StatusOK || r.Method != http.MethodGet || r.Path == "/" {
		return false
	}
	key := r.Base() + " " + path.Ext(r.Path)
	c.mu.Lock()
	s := c.soft[key]
	if s == nil {
		s = &soft{}
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
	if s.page == nil || len(r.Query) > 0 {
		return false
	}
	if s.page.Text() == resp.Text() {
		return true
	}
	texts := stableText(resp)
	return texts[0] == s.texts[0] || texts[1] == s.texts[1]
}

// stableText is the text of an answer without what differs from answer to answer: numbers and
// random values, and in the second also its own address.
func stableText(resp *message.Response) [2]string {
	text := resp.Text()
	return [2]string{changing.ReplaceAllString(text, "0"),
		changing.ReplaceAllString(strings.ReplaceAll(text, strings.TrimPrefix(resp.Request.Path, "/"), ""), "0")}
}

// isSamePage reports whether two answers are the same but for what changes by itself and the
// address that they were given for, one of which names the file.
func isSamePage(file string, a, b *message.Response) bool {
	if a.Status != b.Status || a.MediaType() != b.MediaType() {
		return false
	}
	without := func(resp *message.Response) string {
		text := strings.ReplaceAll(resp.Text(), file, "")
		return changing.ReplaceAllString(text, "0")
	}
	if to, other := a.Location(), b.Location(); to != nil || other != nil {
		return to != nil && other != nil && strings.TrimSuffix(to.Path, file) == strings.TrimSuffix(other.Path, file) &&
			to.RawQuery == other.RawQuery
	}
	return without(a) == without(b)
}

// changing are numbers, and hexadecimal texts with numbers.
var changing = lazyregexp.New(`[0-9A-Fa-f]*[0-9][0-9A-Fa-f]*`)

// behind tells a page that is there, and answers that what a query or a form names is not,
// from one that is not: asked without these, once for each path, it answers. That answer
// is returned, as one to the request; nil where there is none.
func (c *Crawler) behind(ctx context.Context, resp *message.Response) *message.Response {
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
		s = &soft{}
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
			!c.missing(ctx, got) {
			s.page = got
		}
	})
	if s.page == nil {
		return nil
	}
	return &message.Response{Request: r, Status: s.page.Status, Header: s.page.Header, Body: s.page.Body}
}

// Resolve returns the GET request of an address as it stands in a document; nil when
// it is none.
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
