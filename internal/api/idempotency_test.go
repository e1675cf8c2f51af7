package api_test

import (
	"bytes"
	"context"
	"net/http"
	"sync"
	"testing"
	"time"

	"merlon/internal/api"
	"merlon/internal/api/apitest"
	"merlon/internal/store"
	"merlon/internal/store/storetest"
	"merlon/internal/tenant"
)

func TestIdempotencyKey(t *testing.T) {
	apitest.EachWorld(t, func(t *testing.T, w *apitest.World) {
		keyed := func(who, key string) apitest.Caller { return w.AsPerson(who).With("Idempotency-Key", key) }
		path, body := w.Team+"/project", map[string]any{"name": "Once"}
		first := keyed("administrator", "k").Post(path, body).Want(201)
		again := keyed("administrator", "k").Post(path, body).Want(201)
		if !bytes.Equal(first.Body, again.Body) || again.Header.Get("Idempotent-Replayed") != "true" ||
			first.Header.Get("Idempotent-Replayed") != "" {
			t.Errorf("got %v %s, want the first answer, said to be repeated: %s", again.Header, again.Body, first.Body)
		}
		if got := again.Header.Get("Content-Type"); got != first.Header.Get("Content-Type") {
			t.Errorf("got the content type %q", got)
		}
		keyed("administrator", "k").Post(path, map[string]any{"name": "Other"}).Want(409)
		if got := keyed("team_manager", "k").Post(path, body).Want(201).Text("id"); got == first.Text("id") {
			t.Error("somebody else was given the answer")
		}
		keyed("administrator", "k").Post(w.Organization+"/roles",
			map[string]any{"name": "k", "level": "team", "permissions": []string{"team.read"}}).Want(201)
		keyed("administrator", string(make([]byte, 256))).Post(path, body).Want(400)
		if got := w.AsPerson("administrator").Get(w.Team +
			"/projects?page=1&pageSize=20").Want(200).Value("totalProjects"); got != 3.0 {
			t.Errorf("the team has %v projects, want 3", got)
		}

		// A failure is not kept.
		keyed("administrator", "f").Post(path, map[string]any{"name": ""}).Want(400)
		keyed("administrator", "f").Post(path, body).Want(201)
		// Whoever lost the permission is not told the answer.
		keyed("team_manager", "k").Post(path, body).Want(201)
		w.AsPerson("administrator").Put(w.Team+"/member/role", map[string]any{"userId": w.People["team_manager"],
			"role": "developer"}).Want(200)
		keyed("team_manager", "k").Post(path, body).Want(403)
		// A secret is there again, and nowhere in the database.
		invitation := map[string]any{"email": "x@example.com", "role": "member"}
		token := keyed("administrator", "i").Post(w.Organization+"/invite", invitation).Want(201).Text("token")
		if got := keyed("administrator", "i").Post(w.Organization+"/invite",
			invitation).Want(201).Text("token"); got != token {
			t.Errorf("got the token %s, want %s", got, token)
		}
		var sealed []byte
		if err := w.DB.QueryRow(t.Context(), "SELECT answer FROM idempotent_request WHERE route = "+
			"'inviteMember'").Scan(&sealed); err != nil || bytes.Contains(sealed, []byte(token)) {
			t.Errorf("the answer is kept as %q, %v", sealed, err)
		}
		// A day later the key is new.
		w.Clock.Advance(24 * time.Hour)
		if got := keyed("administrator", "k").Post(path, body).Want(201).Text("id"); got == first.Text("id") {
			t.Error("the answer was kept for longer than a day")
		}
	})
}

func TestIdempotencyKeyOfARequestUnderWay(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB, clock *storetest.Clock) {
		r := apitest.New(t, db, clock)
		owner := r.Person("owner")
		k := tenant.RequestKey{Actor: owner, Route: "createOrganization", Key: "k"}
		// Another process is at it, or died at it: the digest is that of the request below.
		var digest string
		slow := apitest.New(t, db, clock, func(c *api.Config) { c.Requests = spy{c.Requests, &digest} })
		slow.As(owner).With("Idempotency-Key", "other").Post("/organization", apitest.NewOrganization).Want(201)
		if _, _, err := db.BeginRequest(t.Context(), k, digest); err != nil {
			t.Fatal(err)
		}
		waiting := r.As(owner).With("Idempotency-Key", "k").Post("/organization",
			apitest.NewOrganization).Want(http.StatusConflict)
		if waiting.Header.Get("Retry-After") == "" {
			t.Error("nothing says when to ask again")
		}
		clock.Advance(2 * time.Minute)
		r.As(owner).With("Idempotency-Key", "k").Post("/organization", apitest.NewOrganization).Want(http.StatusCreated)
	})
}

// spy remembers the digest of a request.
type spy struct {
	api.Requests
	digest *string
}

func (s spy) BeginRequest(ctx context.Context, k tenant.RequestKey, digest string) (string, []byte, error) {
	*s.digest = digest
	return s.Requests.BeginRequest(ctx, k, digest)
}

func TestManyRequestsWithOneKeyAreDoneOnce(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB, clock *storetest.Clock) {
		r := apitest.New(t, db, clock)
		owner := r.Person("owner")
		const n = 8
		answers := make([]*apitest.Response, n)
		var wg sync.WaitGroup
		for i := range n {
			wg.Go(func() {
				answers[i] = r.As(owner).With("Idempotency-Key", "k").Post("/organization", apitest.NewOrganization)
			})
		}
		wg.Wait()
		ids := map[string]bool{}
		for _, a := range answers {
			switch a.Status {
			case http.StatusCreated:
				ids[a.Text("organizationId")] = true
			case http.StatusConflict:
			default:
				t.Errorf("got %d\n%s", a.Status, a.Body)
			}
		}
		if got := r.As(owner).Get("/organizations").Want(200).Value("organizations"); len(ids) != 1 ||
			len(got.([]any)) != 1 {
			t.Errorf("got the answers %v and the organizations %v, want one of each", ids, got)
		}
	})
}
