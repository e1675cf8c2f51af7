package activescan

import (
	"fmt"
	"net/http"
	"path"
	"strings"

	"merlon/internal/engine/dast/message"
	"merlon/internal/engine/dast/sitemap"
)

// This file finds words of paths that are values, as in /users/alice beside /users/bob and
// /users/carol.

// fewWords is from how many paths on that differ in their last word, and answer alike, this
// is taken for a value.
const fewWords = 3

// pathWords returns the last word of the path of one operation for each group of pages that
// differ in it and answer alike (site.Outline), by the shape of the operation. Pages right
// below the base, names of files and words that are values anyway do not count.
func pathWords(base *message.Request, entries []sitemap.Entry) map[string]message.Point {
	group, out := map[string][]sitemap.Entry{}, map[string]message.Point{}
	for _, e := range entries {
		r := e.Request
		folder, word := path.Split(r.Path)
		if r.Method != http.MethodGet || r.Template != "" || len(r.Query) > 0 || e.Outline == 0 ||
			e.Seen.Status != http.StatusOK ||
			word == "" || strings.Contains(word, ".") || message.LooksLikeIdentifier(word) ||
			strings.TrimSuffix(base.Path, "/")+
				"/" == folder {
			continue
		}
		key := fmt.Sprint(r.Base(), folder, " ", e.Outline)
		if group[key] = append(group[key], e); len(group[key]) == fewWords {
			first := group[key][0].Request
			out[sitemap.OperationKey(first)] = first.Segment(strings.Count(folder, "/") - 1)
		}
	}
	return out
}
