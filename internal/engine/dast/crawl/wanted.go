package crawl

import (
	"html"
	"net/http"
	"slices"
	"strings"

	"merlon/internal/engine/dast/message"
	"merlon/internal/lazyregexp"
)

// This file reads answers that say which parameter the request lacks: warnings of
// interpreters, and refusals of frameworks and of programs. The request is sent once more
// with what it lacks, first in the query, then in a form. What no answer misses any more
// is an operation, whose parameters no page and no script had named.

const (
	maxWanted    = 10        // parameters of one request
	maxWantedAll = 300       // requests with them
	maxInVain    = 3         // requests to which a parameter was added in vain
	maxErrorPage = 256 << 10 // bytes that are read for such words
)

// missingHints are words one of which each of missed holds.
var missingHints = []string{"Undefined ", "KeyError", "is missing", "issing ", "equired", `"loc"`}

// missingPatterns say that a parameter is missing, and name it:
//
//	PHP               Undefined array key "NAME"; Undefined index: NAME
//	Spring            Required request parameter 'NAME' for method parameter type String is not present
//	Django            MultiValueDictKeyError at /path 'NAME'
//	Werkzeug          KeyError: 'NAME'
//	Rails             param is missing or the value is empty: NAME
//	FastAPI           {"loc": ["query", "NAME"], …}
//	their programs    missing parameter "NAME"; the parameter 'NAME' is required
var missingPatterns = []*lazyregexp.Regexp{
	lazyregexp.New(`Undefined (?:array key|index):? "?([A-Za-z_][\w-]{0,40})"?`),
	lazyregexp.New(`Required (?:\w+ )?(?:request )?parameter '([A-Za-z_][\w-]{0,40})'`),
	lazyregexp.New(`KeyError[^'"]{0,200}['"]([A-Za-z_][\w-]{0,40})['"]`),
	lazyregexp.New(`param is missing or the value is empty[\w ]{0,20}: ([A-Za-z_][\w-]{0,40})`),
	lazyregexp.New(`"loc":\s*\[\s*"query",\s*"([A-Za-z_][\w-]{0,40})"`),
	lazyregexp.New("(?i)(?:missing|required) (?:[a-z]+ ){0,2}(?:parameter|argument|field|param|key)s?:? " +
		"?['\"`]([A-Za-z_][\\w-]{0,40})['\"`]"),
	lazyregexp.New("(?i)['\"`]([A-Za-z_][\\w-]{0,40})['\"`] (?:parameter |argument |field |param )?(?:is|was) " +
		"(?:required|missing)"),
}

// missingParameters are the names of the parameters that the answer says to lack,
// without those that the request has. The hints are searched first, because the
// expressions are slow on long pages.
func missingParameters(resp *message.Response) []string {
	text := resp.Text()
	text = text[:min(len(text), maxErrorPage)]
	if IsStatic(resp) ||
		!slices.ContainsFunc(missingHints, func(hint string) bool { return strings.Contains(text, hint) }) {
		return nil
	}
	text = html.UnescapeString(text)
	var names []string
	for _, pattern := range missingPatterns {
		for _, m := range pattern.FindAllStringSubmatch(text, maxWanted) {
			if len(names) < maxWanted && !slices.Contains(names, m[1]) {
				names = append(names, m[1])
			}
		}
	}
	return names
}

// hasParameter reports whether the request sends a parameter of this name.
func hasParameter(r *message.Request, name string) bool {
	named := func(p message.Param) bool { return p.Name == name }
	return slices.ContainsFunc(r.Query, named) || slices.ContainsFunc(r.Body.Params, named)
}

// requestMissing pushes the request of an answer with the parameters that the answer
// misses, but for those that a form or a link of the same answer sends. Error pages
// name parameters that no link and no form has.
func (c *Crawler) requestMissing(it item, resp *message.Response, found *PageContent) {
	names := missingParameters(resp)
	c.mu.Lock()
	names = slices.DeleteFunc(names, func(name string) bool {
		return hasParameter(it.r, name) || c.addedInVain[name] >= maxInVain ||
			slices.ContainsFunc(found.Requests, func(r *message.Request) bool { return hasParameter(r, name) })
	})
	full := c.wanted >= maxWantedAll
	c.mu.Unlock()
	body := it.r.Body.Kind
	if len(names) == 0 || full || body != message.NoBody && body != message.Form {
		return
	}
	r := it.r.Clone()
	list := &r.Query
	if body == message.Form {
		list = &r.Body.Params
	}
	for _, name := range names {
		*list = append(*list, message.Param{Name: name, Value: filling{values: c.Values, of: it.r.Path}.valueOf(name,
			"")})
	}
	c.requestWithMore(it, r, names)
}

// requestWithMore pushes a request that has more parameters than the one of the item.
func (c *Crawler) requestWithMore(it item, r *message.Request, names []string) {
	r.Origin = "error"
	c.mu.Lock()
	c.wanted++
	c.mu.Unlock()
	c.enqueue(item{r: r, depth: it.depth + 1, wanted: names})
}

// parametersAreRead reports whether the parameters that were added to a request are
// read there: an answer that still misses them all reads none of them. Those of a query
// are then sent in a form. A parameter that helped nowhere is not tried again and
// again.
func (c *Crawler) parametersAreRead(it item, resp *message.Response) bool {
	still := missingParameters(resp)
	if slices.ContainsFunc(it.wanted, func(name string) bool { return !slices.Contains(still, name) }) {
		return true
	}
	if it.r.Method == http.MethodGet && c.Submit {
		r := it.r.Clone()
		added := func(p message.Param) bool { return slices.Contains(it.wanted, p.Name) }
		r.Method, r.Body.Kind = http.MethodPost, message.Form
		for _, p := range r.Query {
			if added(p) {
				r.Body.Params = append(r.Body.Params, p)
			}
		}
		r.Query = slices.DeleteFunc(r.Query, added)
		c.requestWithMore(it, r, it.wanted)
		return false
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, name := range it.wanted {
		c.addedInVain[name]++
	}
	return false
}
