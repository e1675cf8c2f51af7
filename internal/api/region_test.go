package api_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"merlon/internal/api"
	"merlon/internal/api/apitest"
	"merlon/internal/store"
	"merlon/internal/store/storetest"
	"merlon/internal/tenant"
)

func TestRequestsOfASisterRegion(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB, clock *storetest.Clock) {
		peer := api.Region{Name: "us", BaseURL: "https://api.us.example.test",
			AuthURL: "https://auth.us.example.test"}
		r := apitest.New(t, db, clock, func(c *api.Config) { c.PeerRegions = []api.Region{peer} })
		someone := r.Person("someone")
		there := tenant.NewID("us", time.Unix(0, 0))
		for _, path := range []string{"/organization/" + there, "/project/" + there, "/team/" + there +
			"/projects?page=1&pageSize=1"} {
			a := r.As(someone).Get(path).Want(http.StatusMisdirectedRequest)
			if a.Text("region") != "us" || a.Text("baseUrl") != peer.BaseURL || a.Text("authUrl") != peer.AuthURL {
				t.Errorf("%s: got %s", path, a.Body)
			}
			r.As("").Get(path).Want(http.StatusUnauthorized)
		}
		r.As(someone).Get("/organization/" + tenant.NewID("asia", time.Unix(0, 0))).Want(http.StatusNotFound)
	})
}

func TestKeysAreGone(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB, clock *storetest.Clock) {
		r := apitest.New(t, db, clock)
		someone := r.Person("someone")
		if got := r.As("").With("X-API-Key",
			"k").Get("/organizations").Want(http.StatusGone).Text("message"); !strings.Contains(got,
			"personal access token") {
			t.Errorf("got %q, which does not say what to do", got)
		}
		r.As(someone).With("X-API-Key", "k").Get("/organizations").Want(http.StatusOK)
		if got := r.As("").Get("/organizations").Want(http.StatusUnauthorized).Header.Get("WWW-Authenticate"); got != "Bearer" {
			t.Errorf("got WWW-Authenticate %q", got)
		}
	})
}
