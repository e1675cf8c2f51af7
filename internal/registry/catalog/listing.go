package catalog

import (
	"context"
	"encoding/base64"
	"net/http"
	"net/url"
	"regexp"
	"strconv"
	"strings"

	"merlon/internal/errs"
)

// This file reads lists of the distribution specification, which come in parts: each
// says where the next one begins.

// A listing is a list and what is wanted of it.
type listing struct {
	path   string // below the registry's address
	scope  string // of the token for it
	prefix string // what the names begin with
}

// maxPages bounds how many parts of a list are fetched for one page of ours.
const maxPages = 20

// listNames returns a page of the list.
func (d *distribution) listNames(ctx context.Context, l listing, p Page) (*List[string], error) {
	if p.Number == 0 {
		return d.listFrom(ctx, l, p)
	}
	var all []string
	query := "n=1000"
	for range maxPages {
		part, next, err := d.fetchPart(ctx, l, query)
		if err != nil {
			return nil, err
		}
		if all = append(all, part...); next == "" {
			break
		}
		query = next
	}
	return pageOf(all, p), nil
}

// listFrom returns what follows a page, and what follows that. A registry may send less
// than a page, and more if it does not know of pages; it sends nothing at the end only, or
// where none of very many names begins as it should.
func (d *distribution) listFrom(ctx context.Context, l listing, p Page) (*List[string], error) {
	query := "n=" + strconv.Itoa(p.Size)
	if p.From != "" {
		text, err := base64.RawURLEncoding.DecodeString(p.From)
		if _, bad := url.ParseQuery(string(text)); err != nil || bad != nil {
			return nil, errs.E(errs.Invalid, "invalid cursor: pass the one from the previous response")
		}
		query = string(text)
	}
	for range maxPages {
		part, next, err := d.fetchPart(ctx, l, query)
		if err != nil {
			return nil, err
		}
		if query = next; len(part) > 0 || next == "" {
			return &List[string]{Items: part, Total: len(part),
				Next: base64.RawURLEncoding.EncodeToString([]byte(next))}, nil
		}
	}
	return &List[string]{Next: base64.RawURLEncoding.EncodeToString([]byte(query))}, nil
}

// fetchPart returns the names that a request for a part of the list is answered with, and
// the query for the next part; empty at the end.
func (d *distribution) fetchPart(ctx context.Context, l listing,
	query string) (names []string, next string, err error) {
	u := d.baseURL().JoinPath(l.path)
	u.RawQuery = query
	var body struct {
		Repositories []string `json:"repositories"`
		Tags         []string `json:"tags"`
	}
	header, err := d.getWithToken(ctx, u.String(), l.scope, &body)
	if err != nil {
		return nil, "", err
	}
	for _, name := range append(body.Repositories, body.Tags...) {
		if strings.HasPrefix(name, l.prefix) {
			names = append(names, name)
		}
	}
	next, err = d.nextQuery(header, query)
	return names, next, err
}

// nextQuery reads the header of RFC 8288 that leads to the next part. Only its query is
// taken, so that it leads nowhere else.
func (d *distribution) nextQuery(h http.Header, query string) (string, error) {
	link := nextLink.FindStringSubmatch(h.Get("Link"))
	if link == nil {
		return "", nil
	}
	u, err := d.baseURL().Parse(link[1])
	if err != nil || u.Host != d.baseURL().Host || u.RawQuery == "" || u.RawQuery == query {
		return "", errs.E(errs.Unavailable, "%s returned an unknown response", d.baseURL().Host)
	}
	return u.RawQuery, nil
}

// nextLink matches the link to the next part.
var nextLink = regexp.MustCompile(`<([^>]*)>\s*;\s*rel="?next"?`)

// convertList makes a list of another kind.
func convertList[A, B any](l *List[A], of func(A) B) *List[B] {
	out := &List[B]{Total: l.Total, Of: l.Of, Next: l.Next}
	for _, v := range l.Items {
		out.Items = append(out.Items, of(v))
	}
	return out
}
