package catalog

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"merlon/internal/errs"
	"merlon/internal/outbound"
)

func TestSearch(t *testing.T) {
	var asked []string
	answer := ""
	hub := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/v2/search/repositories/" || r.Header.Get("Authorization") != "" {
			t.Errorf("asked for %s", r.URL)
		}
		asked = append(asked, r.URL.Query().Get("query"))
		if answer == "" {
			w.WriteHeader(http.StatusTooManyRequests)
			return
		}
		_, _ = fmt.Fprint(w, answer)
	})
	now := time.Date(2026, 11, 20, 9, 0, 0, 0, time.UTC)
	c := client(t)
	c.Hub, c.Now = hub, func() time.Time { return now }
	answer = `{"count":3,"next":"https://example.test","results":[
		{"repo_name":"nginx","short_description":"` + strings.Repeat("x", 2000) + `","star_count":20000,"pull_count":12345678901,"is_official":true},
		{"repo_name":"../etc"}, {"repo_name":"bitnami/nginx","repo_owner":"bitnami"}]}`
	want := &Found{Count: 3, Results: []Repository{
		{Name: "nginx", Description: strings.Repeat("x", 1000) + "…", Stars: 20000, Pulls: 12345678901, Official: true},
		{Name: "bitnami/nginx", Owner: "bitnami"}}}
	for _, text := range []string{"nginx", " NGINX  ", "nginx"} { // asked once
		got, err := c.Search(t.Context(), text)
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("%q (-want +got):\n%s", text, d)
		}
	}
	if got, err := c.Search(t.Context(), "  "); err != nil || len(got.Results) != 0 {
		t.Errorf("without a text: %+v, %v", got, err)
	}

	// While the hub refuses, what is known is answered, and nobody asks again at once.
	answer = ""
	for _, text := range []string{"redis", "redis", "mysql"} {
		if _, err := c.Search(t.Context(), text); !errs.Is(err, errs.Unavailable) ||
			!strings.Contains(err.Error(), "docker.io/library/nginx") {
			t.Errorf("%s: %v", text, err)
		}
	}
	if _, err := c.Search(t.Context(), "nginx"); err != nil {
		t.Errorf("what is kept: %v", err)
	}
	answer = `{"count":0,"results":null}`
	now = now.Add(searchFailed)
	if got, err := c.Search(t.Context(), "redis"); err != nil || got.Results == nil {
		t.Errorf("later: %+v, %v", got, err)
	}
	now = now.Add(searchKept)
	if got, err := c.Search(t.Context(), "nginx"); err != nil || got.Count != 0 {
		t.Errorf("after the answer got old: %+v, %v", got, err)
	}
	if d := cmp.Diff([]string{"nginx", "redis", "redis", "nginx"}, asked); d != "" {
		t.Errorf("asked (-want +got):\n%s", d)
	}
}

// TestSearchFails searches a hub that may not be reached, that says nonsense, and for
// somebody who does not wait.
func TestSearchFails(t *testing.T) {
	hub := serve(t, func(w http.ResponseWriter, _ *http.Request) { _, _ = fmt.Fprint(w, "<html>") })
	guarded, err := outbound.New(outbound.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := (&Client{HTTP: guarded, Hub: hub}).Search(t.Context(), "nginx"); !errs.Is(err, errs.Unavailable) {
		t.Errorf("a hub on loopback: %v", err)
	}
	c := client(t)
	c.Hub = hub
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := c.Search(gone, "nginx"); !errors.Is(err, context.Canceled) {
		t.Errorf("for nobody: %v", err)
	}
	if _, err := c.Search(t.Context(), "nginx"); !errs.Is(err, errs.Unavailable) {
		t.Errorf("nonsense: %v", err)
	}
}

// TestSearchIsBounded searches for more texts than are kept.
func TestSearchIsBounded(t *testing.T) {
	hub := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		many := Found{Count: 40, Results: make([]Repository, 40)}
		for i := range many.Results {
			many.Results[i].Name = fmt.Sprint("r", i)
		}
		_ = json.NewEncoder(w).Encode(many)
	})
	c := client(t)
	c.Hub = hub
	for i := range maxSearches + 10 {
		found, err := c.Search(t.Context(), fmt.Sprint("text ", i))
		if err != nil {
			t.Fatal(err)
		}
		if len(found.Results) != searchResults {
			t.Fatalf("%d repositories", len(found.Results))
		}
	}
	if n := len(c.searches.kept); n > maxSearches {
		t.Errorf("%d answers are kept", n)
	}
}
