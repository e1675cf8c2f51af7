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
	request      *message.Request // with the first choice
	name         string           // of the list
	left         []string         // values that were not sent
	destinations map[string]bool  // where the others have led to
	again        int              // choices in a row that led to where others had
}

const (
	maxChoices = 300 // values of one list
	maxAgain   = 3   // choices in a row that lead nowhere new
	rich       = 8   // places that a list has led to, for each more that may
)

// choiceList returns the form with the list that alone decides what it does; nil: something
// is typed in it, several lists are there, or a button says that it removes something.
func (f *form) choiceList(r *message.Request) *chooser {
	list := f.soleList()
	if list == nil {
		return nil
	}
	c := &chooser{request: r, name: attributeValue(list, "name"), destinations: map[string]bool{}}
	chosen := selectedOption(list)
	for value, o := range optionsOf(list) {
		if value != "" && value != chosen && !slices.Contains(c.left, value) && len(c.left) < maxChoices &&
			isHarmlessOption(value, Text(o)) {
			c.left = append(c.left, value)
		}
	}
	return c
}

// soleList returns the list of a form that has no other control but buttons and hidden
// ones; nil: it has, or a button of it removes something.
func (f *form) soleList() *html.Node {
	var list *html.Node
	for _, n := range f.controls {
		switch kind := strings.ToLower(attributeValue(n, "type")); {
		case isSubmitButton(n) && isRemovalButton(n):
			return nil
		case attributeValue(n, "name") == "", n.Data == "button",
			slices.Contains([]string{"submit", "image", "hidden", "button", "reset"}, kind):
		case n.Data == "select" && list == nil:
			list = n
		default:
			return nil
		}
	}
	return list
}

// isRemovalButton reports whether a word on the button says that it removes something.
func isRemovalButton(n *html.Node) bool {
	return slices.ContainsFunc(strings.Fields(Text(n)+" "+attributeValue(n, "value")), sitemap.NamesRemoval)
}

// nextChoice returns the form with the next choice; nil: the answer leads nowhere, or
// too many have led to where others had. The list is given up after some choices that
// lead to known pages.
func (c *chooser) nextChoice(resp *message.Response) *message.Request {
	to := resp.Location()
	if to == nil || len(c.left) == 0 {
		return nil
	}
	at, err := message.FromURL(to)
	if err != nil {
		return nil
	}
	place := sitemap.OperationKey(at) + " " + sitemap.PageKey(at)
	if c.again++; !c.destinations[place] {
		c.destinations[place], c.again = true, 0
	}
	if c.again >= maxAgain+len(c.destinations)/rich {
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

// enqueueChoice queues the next choice of the form that was answered.
func (c *Crawler) enqueueChoice(it item, resp *message.Response) {
	if it.list == nil {
		return
	}
	next := it.list.nextChoice(resp)
	if next == nil || sitemap.ForbiddenReason(next) != "" {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.queue = append(c.queue, item{r: next, depth: it.depth, list: it.list})
	c.ready.Signal()
}
