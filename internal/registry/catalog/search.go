package catalog

import (
	"context"
	"net/url"
	"strings"
	"sync"
	"time"

	"merlon/internal/errs"
)

// This file searches Docker Hub for public images, without an account. The search is
// not part of the documented interface; what it answers is taken field by field.

// A Repository is a public repository that a search found, under the names that the
// hub has for its parts.
type Repository struct {
	Name        string `json:"repo_name"` // "nginx", "bitnami/nginx"
	Owner       string `json:"repo_owner"`
	Description string `json:"short_description"`
	Stars       int64  `json:"star_count"`
	Pulls       int64  `json:"pull_count"`
	Official    bool   `json:"is_official"`
	Automated   bool   `json:"is_automated"`
}

// Found is the answer of a search.
type Found struct {
	Count   int64        `json:"count"` // of all that there are
	Results []Repository `json:"results"`
}

// Bounds of a search: how long the hub may take, how long an answer and a failure are
// kept, how many of them, and how many repositories and characters of each text.
const (
	searchTime     = 10 * time.Second
	searchKept     = 5 * time.Minute
	searchFailed   = 30 * time.Second
	maxSearches    = 500
	searchResults  = 25
	maxDescription = 1000
)

// searches keeps answers: people type names letter by letter, and the hub refuses who
// asks too often.
type searches struct {
	mu   sync.Mutex
	kept map[string]cachedSearch
}

// cachedSearch is a kept response, or failure, of a search.
type cachedSearch struct {
	found *Found
	err   error
	until time.Time
}

// cachedResult returns a response that is still kept.
func (s *searches) cachedResult(text string, now time.Time) (cachedSearch, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	k, ok := s.kept[text]
	return k, ok && now.Before(k.until)
}

// storeResult keeps a response, and drops old ones when there are too many.
func (s *searches) storeResult(text string, k cachedSearch, now time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.kept) >= maxSearches {
		for text, old := range s.kept {
			if !now.Before(old.until) {
				delete(s.kept, text)
			}
		}
	}
	if s.kept == nil || len(s.kept) >= maxSearches {
		s.kept = map[string]cachedSearch{}
	}
	s.kept[text] = k
}

// unreachable is the key of the failure that holds for every search: at a site
// without a way out nobody waits twice in a row.
const unreachable = ""

// Search looks for public repositories on Docker Hub whose names or descriptions hold
// the text, the best matches first. Answers are kept for a few minutes. It is an
// Unavailable error when the hub does not answer or may not be asked.
func (c *Client) Search(ctx context.Context, text string) (*Found, error) {
	text = strings.ToLower(strings.Join(strings.Fields(text), " "))
	if text == "" {
		return &Found{Results: []Repository{}}, nil
	}
	now := c.currentTime()
	for _, key := range []string{text, unreachable} {
		if k, ok := c.searches.cachedResult(key, now); ok {
			return k.found, k.err
		}
	}
	asking, cancel := context.WithTimeout(ctx, searchTime)
	defer cancel()
	u := (&hub{c: c}).apiURL("search", "repositories")
	u.Path += "/"
	u.RawQuery = url.Values{"query": {text}, "page_size": {"25"}}.Encode()
	found := &Found{}
	if _, err := c.sendRequest(asking, call{url: u}, found); err != nil {
		if ctx.Err() != nil {
			return nil, ctx.Err() // the caller went away: that says nothing of the hub
		}
		err = errs.Wrap(errs.Unavailable, err, "Docker Hub cannot be searched from here: write the name of the image "+
			"in full, such as docker.io/library/nginx:1.27")
		c.searches.storeResult(unreachable, cachedSearch{nil, err, now.Add(searchFailed)}, now)
		return nil, err
	}
	found.trimResults()
	c.searches.storeResult(text, cachedSearch{found, nil, now.Add(searchKept)}, now)
	return found, nil
}

// trimResults cuts a response to what is kept of it.
func (f *Found) trimResults() {
	f.Count = max(f.Count, 0)
	kept := []Repository{}
	for _, r := range f.Results[:min(len(f.Results), searchResults)] {
		if !repository.MatchString(r.Name) || len(r.Name) > 255 {
			continue // nothing that could be scanned
		}
		r.Description, r.Owner = clipText(r.Description), clipText(r.Owner)
		kept = append(kept, r)
	}
	f.Results = kept
}

// clipText cuts a text at maxDescription characters.
func clipText(text string) string {
	if runes := []rune(text); len(runes) > maxDescription {
		return string(runes[:maxDescription]) + "…"
	}
	return text
}

// currentTime is the time of the clock.
func (c *Client) currentTime() time.Time {
	if c.Now != nil {
		return c.Now()
	}
	return time.Now()
}
