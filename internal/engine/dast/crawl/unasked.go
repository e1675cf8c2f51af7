package crawl

import (
	"fmt"
	"slices"
	"strings"

	"merlon/internal/engine/dast/message"
	"merlon/internal/engine/dast/sitemap"
)

// This file names the pages that were found and not asked for.

// leftOut counts pages, and names the first of them.
type leftOut struct {
	n     int
	names []string
}

// maxNamed bounds the pages that a reason names.
const maxNamed = 30

// addPage counts a page that is left out, and names it while there are few.
func (l *leftOut) addPage(r *message.Request) {
	l.n++
	if name := r.Method + " " + sitemap.PathShape(r); len(l.names) < maxNamed && !slices.Contains(l.names, name) {
		l.names = append(l.names, name)
	}
}

// addNew adds the page of an item, unless it was asked for before in another way.
func (l *leftOut) addNew(it item) {
	if it.of == nil && !it.again {
		l.addPage(it.r)
	}
}

// describePages names the pages, "GET /path".
func (l *leftOut) describePages() string {
	text := strings.Join(l.names, ", ")
	if l.n > len(l.names) {
		text += fmt.Sprintf(" (%d in all)", l.n)
	}
	return text
}

// recordCutOff records that the end of the scan has cut off the request of an item.
func (c *Crawler) recordCutOff(it item) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.result.cut.addNew(it)
}
