package livescan

import (
	"context"
	"net/http"
	"slices"
	"strings"
	"time"

	"golang.org/x/net/html"

	"merlon/internal/engine/dast/crawl"
	"merlon/internal/engine/dast/message"
	"merlon/internal/engine/dast/sideeffect"
	"merlon/internal/engine/dast/sitemap"
	"merlon/internal/engine/dast/traffic"
	"merlon/internal/finding"
)

// This file removes, at the end, what the scan has created, where the application offers it:
// an object of an API by DELETE at its own address, one of pages by the form or the link on
// its own page. Nothing is removed but what shows the mark of the scan, and only by a request
// that names the same object as the page.

const (
	// removeTime bounds the removal of what one scan has created.
	removeTime = time.Minute
	// maxRemoved bounds the objects and pages that are tried, at three requests each.
	maxRemoved = 60
	// maxOffered bounds the requests of one page, such as a list with a link in each row.
	maxOffered = 5000
)

// removeObjects removes objects, and marks those that are gone. Each object has the address where
// it was shown after it was created. tried contains the addresses of all calls, because several
// operations may create the same object.
func (v *Scan) removeObjects(ctx context.Context, made *sideeffect.CreatedObjects, tried map[string]bool) {
	for i := range made.Objects {
		o := &made.Objects[i]
		if o.Removed || o.Where == "" || ctx.Err() != nil || len(tried) >= maxRemoved {
			continue
		}
		where, err := message.Parse(o.Where)
		// The address may be one for signing out, or of another host.
		if err != nil || v.Scope.Allows(where) != nil || sitemap.ForbiddenReason(where) != "" {
			continue
		}
		resp := v.fetchPage(ctx, where)
		switch {
		case resp == nil:
			o.Reason = "it could not be read"
		case resp.IsData():
			v.removeData(ctx, where, resp, o, tried)
		case resp.IsHTML():
			// A list that names its objects, then the page of the object, then pages that link to
			// it.
			if o.Removed = v.removeNamed(ctx, resp, tried); o.Removed {
				continue
			}
			for _, page := range append([]*message.Request{where}, v.markedLinks(resp)...) {
				if key := page.Address(); !tried[key] && len(tried) < maxRemoved {
					tried[key] = true
					if v.removePage(ctx, page) {
						o.Removed = true
						break
					}
				}
			}
		}
	}
}

// fetchPage requests a page as the identity of the scan and follows up to five redirects within the
// scope; nil: there is no such page.
func (v *Scan) fetchPage(ctx context.Context, r *message.Request) *message.Response {
	for range 5 {
		resp, err := v.Client.Send(traffic.WithoutSideEffectCheck(ctx), r, v.As)
		if err != nil {
			return nil
		}
		to := resp.Location()
		if to == nil {
			if resp.Status >= 300 {
				return nil
			}
			return resp
		}
		if r, err = message.FromURL(to); err != nil || v.Scope.Allows(r) != nil || sitemap.ForbiddenReason(r) != "" {
			return nil
		}
	}
	return nil
}

// removeData removes an object of an API by DELETE at its own address. The response has to contain
// the mark of the scan, and the path an identifier, because DELETE /users may empty the collection.
func (v *Scan) removeData(ctx context.Context, where *message.Request, resp *message.Response, o *finding.CreatedObject,
	tried map[string]bool) {
	if tried[where.Address()] || !strings.Contains(resp.Text(), v.Values.Mark()) ||
		!strings.Contains(sitemap.PathShape(where), "{}") {
		return
	}
	tried[where.Address()] = true
	// A filtered list at an address with an identifier, such as /users/7/orders.
	if _, list := message.DecodeJSON(resp.Body).([]any); list {
		return
	}
	r := where.Clone()
	r.Method = http.MethodDelete
	answer, err := v.Client.Send(traffic.WithoutSideEffectCheck(ctx), r, v.As)
	if err != nil || answer.Status >= 300 {
		o.Reason = "the application does not delete it at its address"
		return
	}
	o.Removed = v.isRemoved(ctx, where)
}

// isRemoved reports whether an object is no longer shown at its address. An error of the server
// proves nothing.
func (v *Scan) isRemoved(ctx context.Context, where *message.Request) bool {
	resp, err := v.Client.Send(traffic.WithoutSideEffectCheck(ctx), where, v.As)
	return err == nil && resp.Status < 500 && (resp.Status >= 300 || !strings.Contains(resp.Text(), v.Values.Mark()))
}

// markedLinks returns the pages that links with the mark in their text lead to: in a list the name
// of an object is mostly the link to its page. Links that change something are left out.
func (v *Scan) markedLinks(resp *message.Response) []*message.Request {
	var out []*message.Request
	for n := range resp.Document().Descendants() {
		if n.Type != html.ElementNode || n.Data != "a" || !strings.Contains(crawl.Text(n), v.Values.Mark()) {
			continue
		}
		for _, a := range n.Attr {
			if a.Key != "href" {
				continue
			}
			r := crawl.Resolve(resp.Request.URL(), a.Val, "link")
			if r != nil && v.Scope.Allows(r) == nil &&
				sideeffect.Classify(sideeffect.Operation{Request: r}) == message.Reads &&
				len(out) < maxRemoved {
				out = append(out, r)
			}
		}
	}
	return out
}

// removePage removes the object of a page by a form or a link of the page. That request must name
// the same identifiers as the page, and be one that removes: a page of an order also has forms that
// remove its items.
func (v *Scan) removePage(ctx context.Context, page *message.Request) bool {
	id := objectIdentifiers(page)
	resp := v.fetchPage(ctx, page)
	if len(id) == 0 || resp == nil || !strings.Contains(resp.Text(), v.Values.Mark()) {
		return false
	}
	for _, r := range v.offeredRequests(resp) {
		if v.Scope.Allows(r) != nil || sitemap.EndsSession(r) || !slices.Equal(objectIdentifiers(r), id) ||
			!isRemoval(r) {
			continue
		}
		if v.sendRemoval(ctx, resp, r, func(f *message.Request) bool { return slices.Equal(objectIdentifiers(f), id) },
			func() bool { return v.isRemoved(ctx, page) }) {
			return true
		}
	}
	return false
}

// offeredRequests returns the requests of a page, also those of links that a script of the
// framework sends by another method, as Rails does: <a href="/posts/7" data-method="delete">. They
// become a form with the method in the field _method and the CSRF token of the page's head.
func (v *Scan) offeredRequests(resp *message.Response) []*message.Request {
	out := crawl.ReadPageWith(resp, v.Values).Requests
	attribute := func(n *html.Node, name string) string {
		i := slices.IndexFunc(n.Attr, func(a html.Attribute) bool { return a.Key == name })
		if i < 0 {
			return ""
		}
		return n.Attr[i].Val
	}
	field, token := "authenticity_token", ""
	for n := range resp.Document().Descendants() {
		switch {
		case n.Type != html.ElementNode:
		case n.Data == "meta" && attribute(n, "name") == "csrf-param":
			field = attribute(n, "content")
		case n.Data == "meta" && attribute(n, "name") == "csrf-token":
			token = attribute(n, "content")
		case n.Data == "a" && (strings.EqualFold(attribute(n, "data-method"), "delete") ||
			strings.EqualFold(attribute(n, "data-turbo-method"), "delete")):
			r := crawl.Resolve(resp.Request.URL(), attribute(n, "href"), "form")
			if r == nil || len(out) >= maxOffered {
				continue
			}
			r.Method = http.MethodPost
			r.Body = message.Body{Kind: message.Form, Params: []message.Param{{Name: "_method", Value: "delete"},
				{Name: field, Value: token}}}
			r.Types = map[string]string{"form:_method": "hidden", "form:" + field: "hidden"}
			out = append(out, r)
		}
	}
	return out
}

// sendRemoval sends a request that removes an object. Where the response asks for a confirmation,
// it sends the form for that, if the form names the same object. It reports whether gone says that
// the object is removed.
func (v *Scan) sendRemoval(ctx context.Context, page *message.Response, r *message.Request,
	same func(*message.Request) bool,
	gone func() bool) bool {
	r.Referer = page.Request.Address()
	answer, err := v.Client.Send(traffic.WithoutSideEffectCheck(ctx), r, v.As)
	if err != nil {
		return false
	}
	if gone() {
		return true
	}
	// A page of confirmation names the object that it is about.
	if !answer.IsHTML() || !strings.Contains(answer.Text(), v.Values.Mark()) {
		return false
	}
	for _, f := range crawl.ReadPageWith(answer, v.Values).Requests {
		if f.Method != http.MethodPost || v.Scope.Allows(f) != nil || sitemap.EndsSession(f) || !same(f) ||
			!isRemoval(f) && f.Location() != r.Location() {
			continue
		}
		f.Referer = answer.Request.Address()
		if _, err := v.Client.Send(traffic.WithoutSideEffectCheck(ctx), f, v.As); err == nil && gone() {
			return true
		}
	}
	return false
}

// removeNamed removes an object of a list that has no page of its own, if the list names the object
// by a name with the mark of the scan and by nothing else, as in /tags/delete?name=MARK.
func (v *Scan) removeNamed(ctx context.Context, list *message.Response, tried map[string]bool) bool {
	for _, r := range v.offeredRequests(list) {
		name := v.markedName(r)
		if name == "" || tried[r.Address()] || len(tried) >= maxRemoved || v.Scope.Allows(r) != nil ||
			sitemap.EndsSession(r) ||
			!isRemoval(r) {
			continue
		}
		tried[r.Address()] = true
		// The list is requested again: the object is gone when no request names it any more.
		gone := func() bool {
			now := v.fetchPage(ctx, list.Request)
			return now != nil && now.Status < 300 && !slices.ContainsFunc(crawl.ReadPageWith(now, v.Values).Requests,
				func(o *message.Request) bool { return o.Location() == r.Location() && v.markedName(o) == name })
		}
		if v.sendRemoval(ctx, list, r, func(f *message.Request) bool { return v.markedName(f) == name }, gone) {
			return true
		}
	}
	return false
}

// markedName returns the name with the mark of the scan by which a request names an object in its
// path, its query or a hidden field. Empty: there is none, or the request names something else as
// well, such as another object by its identifier, or a page to return to.
func (v *Scan) markedName(r *message.Request) string {
	if len(objectIdentifiers(r)) > 0 {
		return ""
	}
	var values []string
	for segment := range strings.SplitSeq(r.Path, "/") {
		values = append(values, segment)
	}
	for _, p := range r.Query {
		values = append(values, p.Value)
	}
	for _, p := range r.Body.Params {
		if t := r.Types["form:"+p.Name]; t == "hidden" || t == "button" {
			values = append(values, p.Value)
		}
	}
	name := ""
	for _, value := range values {
		switch {
		case !strings.Contains(value, v.Values.Mark()) || value == name:
		// The mark in the middle is an address or a text that merely contains it:
		// return=/tags/MARK.
		case name != "" || !strings.HasPrefix(value, v.Values.Mark()):
			return ""
		default:
			name = value
		}
	}
	return name
}

// isRemoval reports whether a request removes something by its method, its path or its query.
func isRemoval(r *message.Request) bool {
	if sitemap.IsDelete(r) {
		return true
	}
	return slices.ContainsFunc(strings.Split(r.Path, "/"), sitemap.NamesRemoval) ||
		slices.ContainsFunc(r.Query, func(p message.Param) bool {
			return sitemap.NamesRemoval(p.Value) || sitemap.NamesRemoval(p.Name)
		})
}

// objectIdentifiers returns the values of a request that name an object: segments of the path and
// parameters of the query whose names end in id. Where there are none, hidden fields count; beside
// an identifier in the address they often name the parent.
func objectIdentifiers(r *message.Request) []string {
	var out []string
	shape := strings.Split(sitemap.PathShape(r), "/")
	for i, segment := range strings.Split(r.Path, "/") {
		if i < len(shape) && shape[i] == "{}" {
			out = append(out, segment)
		}
	}
	for _, p := range r.Query {
		if message.LooksLikeIdentifier(p.Value) && strings.HasSuffix(strings.ToLower(p.Name), "id") {
			out = append(out, p.Value)
		}
	}
	if len(out) > 0 {
		return out
	}
	for _, p := range r.Body.Params {
		hidden := r.Types["form:"+p.Name] == "hidden" || r.Types["multipart:"+p.Name] == "hidden"
		if hidden && message.LooksLikeIdentifier(p.Value) && strings.HasSuffix(strings.ToLower(p.Name), "id") &&
			!slices.Contains(out, p.Value) {
			out = append(out, p.Value)
		}
	}
	return out
}
