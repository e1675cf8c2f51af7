package crawl

import (
	"slices"
	"strings"

	"golang.org/x/net/html"

	"merlon/internal/engine/dast/message"
	"merlon/internal/engine/dast/sitemap"
)

// This file sends forms in which a user chooses where to go: nothing is typed in them,
// and the answer leads elsewhere. As long as what else can be chosen leads to pages that
// no other choice has led to, the next one is sent; lists have headings, so that some of
// them may lead nowhere.

// A chooser is such a form.
type chooser struct {
	request *message.Request // with the first choice
	name    string           // of the list
	left    []string         // values that were not sent
	led     map[string]bool  // where the others have led to
	again   int              // choices in a row that led to where others had
}

const (
	maxChoices = 300 // values of one list
	maxAgain   = 3   // choices in a row that lead nowhere new
	rich       = 8   // places that a list has led to, for each more that may
)

// chooser returns the form with the list that alone decides what it does; nil: something
// is typed in it, several lists are there, or a button says that it removes something.
func (f *form) chooser(r *message.Request) *chooser {
	var list *html.Node
	for _, n := range f.controls {
		switch kind := strings.ToLower(attributeOf(n, "type")); {
		case slices.ContainsFunc(strings.Fields(Text(n)+" "+attributeOf(n, "value")), sitemap.NamesRemoval) &&
			isSubmitButton(n):

			return nil
		case attributeOf(n, "name") == "", n.Data == "button", kind == "submit", kind == "image", kind == "hidden",
			kind == "button", kind == "reset":
		case n.Data == "select" && list == nil:
			list = n
		default:
			return nil
		}
	}
	if list == nil {
		return nil
	}
	c := &chooser{request: r, name: attributeOf(list, "name"), led: map[string]bool{}}
	chosen := selectedOption(list)
	for o := range list.Descendants() {
		if o.Type != html.ElementNode || o.Data != "option" {
			continue
		}
		value, ok := lookup(o, "value")
		if !ok {
			value = strings.TrimSpace(Text(o))
		}
		if value != "" && value != chosen && !slices.Contains(c.left, value) && len(c.left) < maxChoices &&
			!sitemap.IsDangerous(Text(o)) && !sitemap.IsRemovalLabel(Text(o)) && !sitemap.IsRemovalLabel(value) {
			c.left = append(c.left, value)
		}
	}
	return c
}

// next returns the form with the next choice; nil: the answer leads nowhere, or too many
// have led to where others had.
func (c *chooser) next(resp *message.Response) *message.Request {
	to := resp.Location()
	if to == nil || len(c.left) == 0 {
		return nil
	}
	at, err := message.FromURL(to)
	if err != nil {
		return nil
	}
	place := sitemap.OperationKey(at) + " " + sitemap.PageKey(at)
	if c.again++; !c.led[place] {
		c.led[place], c.again = true, 0
	}
	if c.again >= maxAgain+len(c.led)/rich {
		return nil
	}
	value := c.left[0]
	c.left = c.left[1:]
	r := c.request.Clone()
	for _, list := range [][]message.Param{r.Query, r.Body.Params} {
		for i := range list {
			if list[i].Name == c.name {
				list[i].Value = value
			}
		}
	}
	return r
}

// choose queues the next choice of the form that was answered.
func (c *Crawler) choose(it item, resp *message.Response) {
	if it.list == nil {
		return
	}
	next := it.list.next(resp)
	if next == nil || sitemap.ForbiddenReason(next) != "" {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.queue = append(c.queue, item{r: next, depth: it.depth, list: it.list})
	c.ready.Signal()
}
