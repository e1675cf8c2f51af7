package crawl

import (
	"net/http"
	"path"
	"strings"
	"time"

	"merlon/internal/engine/dast/message"
	"merlon/internal/engine/dast/sitemap"
)

// This file holds the queue of the crawl: what is asked next, and what is not asked at all.

// nextItem takes the next request from the queue, waiting while others may still add to
// it; false: the crawl is over. What is left then is recorded as not requested.
func (c *Crawler) nextItem() (item, bool) {
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

// finishItem counts a request that has been sent, and wakes who waits for what it led
// to.
func (c *Crawler) finishItem() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.busy--
	c.result.Asked++
	if c.Progress != nil {
		c.Progress(c.result.Asked, c.result.Asked+len(c.queue)+c.busy)
	}
	c.ready.Broadcast()
}

// enqueue takes a request into the queue when it is new and may be sent.
func (c *Crawler) enqueue(it item) {
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
	shape := c.shapeOf(r)
	if c.seen[key] || it.depth > maxDepth || isCrawlTrap(r.Path) {
		return
	}
	c.seen[key] = true
	if c.shapes[shape] == 0 && !c.takesKind(r) {
		c.shapes[shape] = maxPerShape
		return
	}
	full := c.shapes[shape] >= maxPerShape+c.room[shape]
	if r.Method == http.MethodGet && full && len(c.seen) <= c.Pages && len(c.spare[shape]) < maxSpare {
		c.spare[shape] = append(c.spare[shape], it)
		return
	}
	if full || len(c.seen) > c.Pages || len(r.Query) == 0 && c.folders[folder] >= maxPerPlace {
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

// shapeOf is the same for requests that differ in values only. Pages that a parameter
// chooses are shapes of their own, up to maxChosen. mu is held.
func (c *Crawler) shapeOf(r *message.Request) string {
	shape := sitemap.OperationKey(r)
	if page := sitemap.PageKey(r); page != "" && c.shapes[shape+" "] < maxChosen {
		if c.shapes[shape+"="+page] == 0 {
			c.shapes[shape+" "]++
		}
		shape += "=" + page
	}
	return shape
}

// takesKind reports whether there is room for another shape of its kind. One that is left
// out counts unless another stands for it. mu is held.
func (c *Crawler) takesKind(r *message.Request) bool {
	taken, covered := c.kinds.Take(r)
	if !taken && !covered {
		c.result.left.addPage(r)
	}
	return taken
}

// makeRoom makes room for more requests of a shape, one of which has led to an
// operation that is new: pages of a catalogue may differ in more than a number. Two at
// a time, so that a catalogue whose pages are alike ends soon.
func (c *Crawler) makeRoom(shape string) {
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

// isCrawlTrap reports whether the path looks like one that goes on for ever. Calendars
// and relative links that resolve below themselves make such paths.
func isCrawlTrap(p string) bool {
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
