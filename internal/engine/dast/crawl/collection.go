package crawl

import (
	"encoding/json"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"merlon/internal/engine/dast/formvalue"
	"merlon/internal/engine/dast/message"
	"merlon/internal/lazyregexp"
)

// This file knows the convention of APIs by which a list at /things has its things at
// /things/ID, and takes new ones by POST.

// listMembers are members of an answer that hold the list itself.
var listMembers = []string{"data", "items", "results", "content", "rows", "records", "value"}

// identifierMembers are members that name an object.
var identifierMembers = []string{"id", "_id", "uuid", "guid"}

// generatedMember are members that the application sets by itself.
var generatedMember = lazyregexp.New(`(?i)^(_?id|uuid|guid|__v|_links|links|href|self|url|(created|updated|deleted|modified)_?(at|on|by|date)?|version)$`)

// freeTextMember are members that people choose freely.
var freeTextMember = lazyregexp.New(`(?i)^(name|title|label|subject|text|comment|message|content|body|description|note)$`)

// listObjects returns the objects of an answer that is a list of objects with
// identifiers; nil: it is none. Every object needs an identifier, or the list is
// something else.
func listObjects(text []byte) []map[string]any {
	var root any
	if json.Unmarshal(text, &root) != nil {
		return nil
	}
	if object, ok := root.(map[string]any); ok {
		for _, name := range listMembers {
			if list, ok := object[name].([]any); ok {
				root = list
				break
			}
		}
	}
	list, ok := root.([]any)
	if !ok || len(list) == 0 {
		return nil
	}
	var out []map[string]any
	for _, e := range list {
		object, ok := e.(map[string]any)
		if !ok || objectIdentifier(object) == "" {
			return nil
		}
		out = append(out, object)
	}
	return out
}

// objectIdentifier is the identifier of an object, as it stands in an address; empty:
// it has none. A text above 100 characters is no identifier.
func objectIdentifier(object map[string]any) string {
	for _, name := range identifierMembers {
		switch v := object[name].(type) {
		case string:
			if len(v) < 100 {
				return url.PathEscape(v)
			}
		case float64:
			return strconv.FormatFloat(v, 'f', -1, 64)
		}
	}
	return ""
}

// collectionRequests returns the request for the first object of a list, and the one
// that would add another like it; nil: the answer is no list. The new object has the
// members of the first one, but those that the application sets.
func collectionRequests(resp *message.Response, values *formvalue.Generator) (item, add *message.Request) {
	r := resp.Request
	if r.Method != http.MethodGet || resp.Status != http.StatusOK || !strings.Contains(resp.MediaType(), "json") {
		return nil, nil
	}
	all := listObjects(resp.Body)
	if all == nil {
		return nil, nil
	}
	at := strings.TrimSuffix(r.Path, "/")
	item = &message.Request{Method: http.MethodGet, Scheme: r.Scheme, Host: r.Host, Path: at + "/" + objectIdentifier(all[0]),
		Origin: "list"}
	fields := map[string]any{}
	for name, value := range all[0] {
		switch value.(type) {
		case string, float64, bool:
			if generatedMember.MatchString(name) {
				continue
			}
			if _, text := value.(string); text && freeTextMember.MatchString(name) {
				value = values.Mark()
			}
			fields[name] = value
		}
	}
	body, err := json.Marshal(fields)
	if err != nil || len(fields) == 0 {
		return item, nil
	}
	add = &message.Request{Method: http.MethodPost, Scheme: r.Scheme, Host: r.Host, Path: r.Path, Origin: "list",
		Body: message.Body{Kind: message.JSON, Text: body}}
	return item, add
}

// ListPages returns the requests that would add to the lists that were seen, for paths at
// which nothing is known to be added.
func (c *Crawler) ListPages() []*message.Request {
	c.mu.Lock()
	all := slices.Clone(c.lists)
	c.mu.Unlock()
	known := map[string]bool{}
	for _, e := range c.Surface.Entries() {
		if e.Request.Method == http.MethodPost && e.Request.Body.Kind != message.NoBody {
			known[strings.TrimSuffix(e.Request.Base()+e.Request.Path, "/")] = true
		}
	}
	return slices.DeleteFunc(all, func(r *message.Request) bool {
		at := strings.TrimSuffix(r.Base()+r.Path, "/")
		again := known[at]
		known[at] = true
		return again
	})
}
