package accounts_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"merlon/internal/api/apitest"
	"merlon/internal/identity"
	"merlon/internal/store"
	"merlon/internal/store/storetest"
	"merlon/internal/tenant"
)

// A token makes no token that outlives or exceeds it.
func TestTokensMadeByTokens(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB, clock *storetest.Clock) {
		r := apitest.New(t, db, clock)
		w := apitest.Populate(t, r, "")
		admin, project, org := w.People["administrator"], strings.TrimPrefix(w.Project, "/project/"),
			strings.TrimPrefix(w.Organization, "/organization/")
		elsewhere := r.As(admin).Post("/organization", apitest.NewOrganization).Want(201).Text("organizationId")
		const path = "/user/personal-access-tokens"
		end := clock.Now().Add(time.Hour)
		r.As(admin).Post(path, object{"name": "full"}).Want(201)
		small := r.As(r.Limit(admin, tenant.TokenLimits{
			Scopes: tenant.KnownTokenScopes([]string{"administer", "scan"}), ExpiresAt: end,
			Organizations: []tenant.OrganizationID{tenant.OrganizationID(org)},
			Projects:      []tenant.ProjectID{tenant.ProjectID(project)},
		}))
		got := small.Post(path, object{"name": "same"}).Want(201)
		want := object{"scopes": []any{"read", "scan", "administer"}, "organizationIds": []any{org},
			"projectIds": []any{project}, "expiresAt": float64(end.UnixMilli())}
		for name, value := range want {
			if diff := cmp.Diff(value, got.Value(name)); diff != "" {
				t.Errorf("%s (-want +got):\n%s", name, diff)
			}
		}
		less := small.Post(path, object{"name": "less", "scopes": []string{"scan"}, "projectIds": []string{project},
			"expiresAt": end.Add(-time.Minute).UnixMilli()}).Want(201)
		if diff := cmp.Diff([]any{"read", "scan"}, less.Value("scopes")); diff != "" {
			t.Errorf("scopes (-want +got):\n%s", diff)
		}
		for name, c := range map[string]struct {
			status int
			body   object
		}{
			"more scopes":          {403, object{"scopes": []string{"triage"}}},
			"later":                {403, object{"expiresAt": end.Add(time.Millisecond).UnixMilli()}},
			"another organization": {400, object{"organizationIds": []string{elsewhere}}},
			"an unknown scope":     {400, object{"scopes": []string{"everything"}}},
			"a project elsewhere": {400,
				object{"organizationIds": []string{org},
					"projectIds": []string{"00000000-0000-4000-8000-000000000009"}}},
			"no identifier": {400, object{"projectIds": []string{"x"}}},
		} {
			c.body["name"] = name
			small.Post(path, c.body).Want(c.status)
		}
		// It sees, renames and deletes only what it could have made.
		if names := tokenNames(small.Get(path).Want(200)); !slices.Equal(names, []string{"less", "same"}) {
			t.Errorf("tokens: %v", names)
		}
		small.Post(path+"/delete", object{"name": "full"}).Want(404)
		small.Patch(path+"/name", object{"currentName": "full", "name": "mine"}).Want(404)
		small.Post(path+"/delete", object{"name": "less"}).Want(200)
		// Nor does a service account's token exceed it.
		account := w.Organization + "/service-accounts"
		account += "/" + r.As(admin).Post(account, object{"name": "CI", "role": "member"}).Want(201).Text("id") +
			"/tokens"
		admin3 := r.As(r.Limit(admin, tenant.TokenLimits{Scopes: tenant.KnownTokenScopes([]string{"administer"}),
			ExpiresAt: end}))
		made := admin3.Post(account, object{"name": "deploy"}).Want(201)
		if diff := cmp.Diff([]any{"read", "administer"}, made.Value("scopes")); diff != "" ||
			made.Value("expiresAt") == nil {
			t.Errorf("%s (-want +got):\n%s", made.Body, diff)
		}
		admin3.Post(account, object{"name": "more", "scopes": []string{"scan"}}).Want(403)
		// Roles are given by the roles that one has, whatever else the token may do.
		admin3.Post(w.Organization+"/invite",
			object{"email": "new@example.com", "role": "administrator"}).Want(201)
		// An answer is not repeated for a token with other limits.
		r.As(admin).With("Idempotency-Key", "k").Post(path, object{"name": "once"}).Want(201)
		small.With("Idempotency-Key", "k").Post(path, object{"name": "once"}).Want(http.StatusConflict)
	})
}

func tokenNames(a *apitest.Response) (names []string) {
	var list []struct{ Name string }
	a.Into(&list)
	for _, one := range list {
		names = append(names, one.Name)
	}
	slices.Sort(names)
	return names
}

// An organization says how old tokens may be that reach it.
func TestLifetimeOfTokensInAnOrganization(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB, clock *storetest.Clock) {
		r := apitest.New(t, db, clock)
		w := apitest.Populate(t, r, "")
		admin, org := w.People["administrator"], strings.TrimPrefix(w.Organization, "/organization/")
		elsewhere := r.As(admin).Post("/organization", apitest.NewOrganization).Want(201).Text("organizationId")
		const path = "/user/personal-access-tokens"
		old := r.As(admin).Post(path, object{"name": "old"}).Want(201).Text("value")
		here := r.As(admin).Post(path, object{"name": "here", "organizationIds": []string{org}}).Want(201).Text("value")
		r.Mails()
		update := object{"name": "Acme", "industry": "software", "country": "FR", "maxTokenLifetimeDays": 30}
		r.As(w.People["developer"]).Put(w.Organization, update).Want(403)
		for _, bad := range []any{-1, 4000, "x"} {
			r.As(admin).Put(w.Organization, object{"name": "Acme", "industry": "software", "country": "FR",
				"maxTokenLifetimeDays": bad}).Want(400)
		}
		r.As(admin).Put(w.Organization, update).Want(200)
		if got := r.As(admin).Get(w.Organization).Want(200).Value("maxTokenLifetimeDays"); got != 30.0 {
			t.Errorf("maxTokenLifetimeDays is %v", got)
		}
		last := clock.Now().Add(30 * 24 * time.Hour)
		r.As(admin).Post(path, object{"name": "late", "expiresAt": last.Add(time.Millisecond).UnixMilli()}).Want(400)
		r.As(admin).Post(path, object{"name": "in time", "expiresAt": last.UnixMilli()}).Want(201)
		if got := r.As(admin).Post(path,
			object{"name": "not said"}).Want(201).Value("expiresAt"); got != float64(last.UnixMilli()) {
			t.Errorf("expiresAt is %v, want %d", got, last.UnixMilli())
		}
		if got := r.As(admin).Post(path,
			object{"name": "elsewhere",
				"organizationIds": []string{elsewhere}}).Want(201).Value("expiresAt"); got != nil {
			t.Errorf("a token of another organization ends at %v", got)
		}
		// Tokens from before: refused when no organization takes them, and otherwise
		// without those that do not.
		clock.Advance(30*24*time.Hour - time.Millisecond)
		verify := func(value string) error {
			_, _, err := r.Identity.VerifyToken(t.Context(), value, identity.Origin{})
			return err
		}
		if err := verify(here); err != nil {
			t.Errorf("before its end: %v", err)
		}
		clock.Advance(time.Millisecond)
		if err := verify(here); err == nil || !strings.Contains(err.Error(), "maximum lifetime of the "+
			"organization Acme") {
			t.Errorf("a token that is too old: %v", err)
		}
		if err := verify(old); err != nil {
			t.Errorf("a token that another organization takes: %v", err)
		}
		aged := r.As(r.Limit(admin, tenant.TokenLimits{Scopes: tenant.AllTokenScopes, Age: 30 * 24 * time.Hour}))
		aged.Get(w.Organization).Want(404)
		aged.Get(w.Project).Want(404)
		aged.Get(w.Organization + w.Team).Want(404)
		aged.Get("/organization/" + elsewhere).Want(200)
		for _, list := range []string{"/organizations", "/user/profile"} {
			if got := aged.Get(list).Want(200); strings.Contains(string(got.Body), org) {
				t.Errorf("%s names the organization: %s", list, got.Body)
			}
		}
		r.As(r.Limit(admin, tenant.TokenLimits{Scopes: tenant.AllTokenScopes,
			Age: 30*24*time.Hour - time.Millisecond})).Get(w.Organization).Want(200)
	})
}

// The owner of a new token gets a mail about it.
func TestMailAboutToken(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB, clock *storetest.Clock) {
		r := apitest.New(t, db, clock)
		ada := r.Person("Ada")
		r.As(ada).Post("/user/personal-access-tokens", object{"name": "ci", "scopes": []string{"scan"},
			"expiresAt": clock.Now().Add(time.Hour).UnixMilli()}).Want(201)
		mails := r.Mails()
		if len(mails) != 1 || mails[0].To != "ada@example.com" {
			t.Fatalf("mails %+v", mails)
		}
		for _, text := range []string{"“ci”", "the scopes read, scan", "20 November 2026, 10:00 UTC", apitest.AuthURL +
			"/auth/account"} {
			if !strings.Contains(mails[0].Text, text) {
				t.Errorf("the mail does not say %q: %s", text, mails[0].Text)
			}
		}
	})
}

func TestPersonalAccessTokens(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB, clock *storetest.Clock) {
		r := apitest.New(t, db, clock)
		ada, eve := r.Person("Ada"), r.Person("Eve")
		const path = "/user/personal-access-tokens"
		expires := clock.Now().Add(time.Hour).UnixMilli()
		made := r.As(ada).Post(path, object{"name": "ci", "expiresAt": expires}).Want(201)
		want := object{
			"id": made.Text("id"), "name": "ci", "createdAt": float64(clock.Now().UnixMilli()),
			"expiresAt": float64(expires), "lastUsedAt": nil,
			"scopes": []any{"read", "scan", "triage", "administer"}, "organizationIds": []any{}, "projectIds": []any{},
		}
		var list []object
		r.As(ada).Get(path).Want(200).Into(&list)
		if diff := cmp.Diff([]object{want}, list); diff != "" {
			t.Errorf("list (-want +got):\n%s", diff)
		}
		if _, u, err := r.Identity.VerifyToken(t.Context(), made.Text("value"), identity.Origin{}); err != nil ||
			u.ID != ada {
			t.Errorf("the token is %v's, %v", u.ID, err)
		}
		r.As(ada).Post(path, object{"name": "ci"}).Want(409)
		forever := r.As(ada).Post(path, object{"name": "forever", "expiresAt": nil}).Want(201)
		if v := forever.Value("expiresAt"); v != nil {
			t.Errorf("expiresAt is %v, want null", v)
		}
		for name, body := range map[string]object{
			"no name": {}, "an empty name": {"name": ""}, "the past": {"name": "x", "expiresAt": 1},
			"no time":     {"name": "x", "expiresAt": "soon"},
			"beyond time": {"name": "x", "expiresAt": 1e300}, "before time": {"name": "x", "expiresAt": -1},
		} {
			t.Run(name, func(t *testing.T) { r.As(ada).Post(path, body).Want(400) })
		}

		r.As(eve).Patch(path+"/name", object{"currentName": "ci", "name": "mine"}).Want(404)
		r.As(eve).Post(path+"/delete", object{"name": "ci"}).Want(404)
		if body := string(r.As(eve).Get(path).Want(200).Body); body != "[]\n" {
			t.Errorf("another user sees %s", body)
		}
		r.As(ada).Patch(path+"/name", object{"currentName": "ci", "name": "forever"}).Want(409)
		r.As(ada).Patch(path+"/name", object{"currentName": "ci", "name": "build"}).Want(200)
		r.As(ada).Post(path+"/delete", object{"name": "build"}).Want(200)
		r.As(ada).Post(path+"/delete", object{"name": "build"}).Want(404)

		service := serviceAccount(t, r)
		r.As(service).Post(path, object{"name": "more"}).Want(403)
		for _, call := range []struct{ method, path string }{{"GET", path}, {"POST", path}, {"POST", path + "/delete"},
			{"PATCH", path + "/name"}} {
			r.As("").Do(call.method, call.path, object{"name": "x", "currentName": "x"}).Want(401)
		}
	})
}
