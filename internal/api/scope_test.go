package api_test

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

// scopeOf repeats, independently of the program's table, which scope a permission
// needs.
var scopeOf = map[string][]string{
	"read":   {"org.read", "team.read", "project.read", "project.read_scan_result", "project.report"},
	"scan":   {"project.start_scan"},
	"triage": {"project.change_vulnerability_state"},
	"administer": {"org.manage", "org.members", "org.integrations", "org.billing", "org.teams", "org.audit",
		"team.manage", "project.update"},
}

// accountScopes says which scope the routes need that need no permission.
var accountScopes = map[string]string{
	"GET /user/profile": "read", "GET /organizations": "read", "GET /dockerhub/search/images": "read",
	"PATCH /user/profile": "administer", "POST /user/password": "administer", "GET /user/sessions": "administer",
	"DELETE /user/sessions/{sessionId}": "administer", "GET /user/personal-access-tokens": "administer",
	"POST /user/personal-access-tokens": "administer", "POST /user/personal-access-tokens/delete": "administer",
	"PATCH /user/personal-access-tokens/name": "administer", "POST /organization": "administer",
	"POST /organization/invite/accept": "administer",
}

// wantScopes returns the scopes that a route needs.
func (d documented) wantScopes() (want []string) {
	if d.open {
		return nil
	}
	for _, scope := range []string{"read", "scan", "triage", "administer"} {
		if slices.ContainsFunc(d.needs.Names(), func(p string) bool { return slices.Contains(scopeOf[scope], p) }) {
			want = append(want, scope)
		}
	}
	if d.needs == 0 {
		want = []string{accountScopes[d.method+" "+d.path]}
	}
	return want
}

// TestEveryRouteWithEveryScope calls every route as an administrator with a token
// of each scope.
func TestEveryRouteWithEveryScope(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB, clock *storetest.Clock) {
		r := apitest.New(t, db, clock)
		s := newStage(t, r, 1)
		admin := tenant.TokenLimits{Scopes: tenant.AllTokenScopes}
		calls := 0
		for _, d := range documentedRoutes(t, r) {
			want := d.wantScopes()
			if diff := cmp.Diff(want, d.scopes); diff != "" {
				t.Errorf("%s %s (-want +got):\n%s", d.method, d.path, diff)
			}
			if d.open {
				continue
			}
			for _, scope := range []string{"", "read", "scan", "triage", "administer"} {
				limits := admin
				limits.Scopes = tenant.KnownTokenScopes([]string{scope})
				has := map[string][]string{"": {}, "read": {"read"}}[scope]
				if has == nil {
					has = []string{"read", scope}
				}
				allowed := !slices.ContainsFunc(want, func(w string) bool { return !slices.Contains(has, w) })
				if allowed && d.method == "DELETE" {
					continue // the stage must stay
				}
				calls++
				var body any
				if d.method != "GET" {
					body = map[string]any{}
				}
				a := r.As(r.Limit(s.who["administrator"], limits)).Do(d.method, s.address(d.path, s.ids), body)
				refused := a.Status == 403 && strings.Contains(a.Header.Get("WWW-Authenticate"),
					`error="insufficient_scope"`)
				if refused == allowed {
					t.Errorf("%s %s with %q: got %d, want it allowed: %v\n%s", d.method, d.path, scope, a.Status,
						allowed, a.Body)
				}
				if refused && !strings.Contains(a.Text("message"), "lacks the scope") {
					t.Errorf("the message is %q", a.Text("message"))
				}
			}
		}
		t.Logf("%d calls", calls)
	})
}

// TestTokensOfOneOrganizationAndProject calls every route with a token that is
// limited to another organization, and to another project.
func TestTokensOfOneOrganizationAndProject(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB, clock *storetest.Clock) {
		r := apitest.New(t, db, clock)
		s := newStage(t, r, 1)
		admin := s.who["administrator"]
		elsewhere := r.As(admin).Post("/organization", newOrganization).Want(201).Text("organizationId")
		team2 := r.As(admin).Post(s.org+"/team", map[string]any{"name": "Two"}).Want(200).Text("teamId")
		other := r.As(admin).Post("/team/"+team2+"/project", map[string]any{"name": "Other"}).Want(201).Text("id")
		all := tenant.AllTokenScopes
		org := tenant.OrganizationID(s.ids["organizationId"])
		abroad := r.Limit(admin,
			tenant.TokenLimits{Scopes: all, Organizations: []tenant.OrganizationID{tenant.OrganizationID(elsewhere)}})
		beside := r.Limit(admin, tenant.TokenLimits{Scopes: all, Organizations: []tenant.OrganizationID{org},
			Projects: []tenant.ProjectID{tenant.ProjectID(other)}})
		for _, d := range documentedRoutes(t, r) {
			if d.needs == 0 {
				continue
			}
			if a := r.As(abroad).Do(d.method, s.address(d.path, s.ids), map[string]any{}); a.Status != 404 {
				t.Errorf("%s %s with a token of another organization: got %d, want 404", d.method, d.path, a.Status)
			}
			in := slices.Contains(d.parameters, "projectId") || slices.Contains(d.parameters, "teamId")
			a := r.As(beside).Do(d.method, s.address(d.path, s.ids), map[string]any{})
			switch {
			case in && a.Status != 404 && a.Status != 403 || in && a.Status == 403 && !strings.Contains(a.Text("message"), "restricted to projects"):

				t.Errorf("%s %s with a token of another project: got %d, want 404", d.method, d.path, a.Status)
			case !in && d.method != "GET" && a.Status != 403:
				t.Errorf("%s %s with a token of a project: got %d, want 403", d.method, d.path, a.Status)
			}
		}
		checkRestrictedLists(t, s, abroad, beside, elsewhere, team2, other)
	})
}

// checkRestrictedLists checks that lists name only what the token reaches.
func checkRestrictedLists(t *testing.T, s *stage, abroad, beside tenant.UserID, elsewhere, team, project string) {
	t.Helper()
	r := s.Runner
	if got := r.As(abroad).Get("/organizations").Want(200); len(got.Value("organizations").([]any)) != 1 ||
		got.Text("organizations.0.id") != elsewhere {
		t.Errorf("organizations abroad: %s", got.Body)
	}
	if got := r.As(abroad).Get("/user/profile").Want(200); len(got.Value("myOrganizations").([]any)) != 1 {
		t.Errorf("profile abroad: %s", got.Body)
	}
	as := r.As(beside)
	if got := as.Get(s.org + "/teams").Want(200); len(got.Value("teams").([]any)) != 1 ||
		got.Text("teams.0.id") != team {
		t.Errorf("teams: %s", got.Body)
	}
	if got := as.Get(s.org + "/projects").Want(200); got.Value("totalProjects") != 1.0 {
		t.Errorf("projects of the organization: %s", got.Body)
	}
	if got := as.Get("/team/" + team + "/projects?page=1&pageSize=20").Want(200); got.Value("totalProjects") != 1.0 {
		t.Errorf("projects of the team: %s", got.Body)
	}
	as.Get("/project/" + project).Want(200)
	as.Patch("/project/"+project, map[string]any{"name": "Renamed"}).Want(200)
	as.Get(s.proj).Want(404)
	as.Get(s.org + s.team).Want(404)
	as.Get("/team/" + team + "/members?page=1&pageSize=20").Want(403)
	as.Post("/organization", newOrganization).Want(403)
	as.Get("/user/sessions").Want(403)
	as.Post("/user/password", map[string]any{"currentPassword": "x", "newPassword": "y"}).Want(403)
}

// A token makes no token that outlives or exceeds it.
func TestTokensMadeByTokens(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB, clock *storetest.Clock) {
		r := apitest.New(t, db, clock)
		s := newStage(t, r, 1)
		admin, project, org := s.who["administrator"], s.ids["projectId"], s.ids["organizationId"]
		elsewhere := r.As(admin).Post("/organization", newOrganization).Want(201).Text("organizationId")
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
		account := s.org + "/service-accounts/" + s.ids["accountId"] + "/tokens"
		admin3 := r.As(r.Limit(admin, tenant.TokenLimits{Scopes: tenant.KnownTokenScopes([]string{"administer"}),
			ExpiresAt: end}))
		made := admin3.Post(account, object{"name": "deploy"}).Want(201)
		if diff := cmp.Diff([]any{"read", "administer"}, made.Value("scopes")); diff != "" ||
			made.Value("expiresAt") == nil {
			t.Errorf("%s (-want +got):\n%s", made.Body, diff)
		}
		admin3.Post(account, object{"name": "more", "scopes": []string{"scan"}}).Want(403)
		// Roles are given by the roles that one has, whatever else the token may do.
		admin3.Post(s.org+"/invite", object{"email": "new@example.com", "role": "administrator"}).Want(201)
		// An answer is not repeated for a token with other limits.
		r.As(admin).With("Idempotency-Key", "k").Post(path, object{"name": "once"}).Want(201)
		small.With("Idempotency-Key", "k").Post(path, object{"name": "once"}).Want(http.StatusConflict)
	})
}

func tokenNames(a *apitest.Answer) (names []string) {
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
		s := newStage(t, r, 1)
		admin, org := s.who["administrator"], s.ids["organizationId"]
		elsewhere := r.As(admin).Post("/organization", newOrganization).Want(201).Text("organizationId")
		const path = "/user/personal-access-tokens"
		old := r.As(admin).Post(path, object{"name": "old"}).Want(201).Text("value")
		here := r.As(admin).Post(path, object{"name": "here", "organizationIds": []string{org}}).Want(201).Text("value")
		r.Mails()
		update := object{"name": "Acme", "industry": "software", "country": "FR", "maxTokenLifetimeDays": 30}
		r.As(s.who["developer"]).Put(s.org, update).Want(403)
		for _, bad := range []any{-1, 4000, "x"} {
			r.As(admin).Put(s.org, object{"name": "Acme", "industry": "software", "country": "FR",
				"maxTokenLifetimeDays": bad}).Want(400)
		}
		r.As(admin).Put(s.org, update).Want(200)
		if got := r.As(admin).Get(s.org).Want(200).Value("maxTokenLifetimeDays"); got != 30.0 {
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
		aged.Get(s.org).Want(404)
		aged.Get(s.proj).Want(404)
		aged.Get(s.org + s.team).Want(404)
		aged.Get("/organization/" + elsewhere).Want(200)
		for _, list := range []string{"/organizations", "/user/profile"} {
			if got := aged.Get(list).Want(200); strings.Contains(string(got.Body), org) {
				t.Errorf("%s names the organization: %s", list, got.Body)
			}
		}
		r.As(r.Limit(admin, tenant.TokenLimits{Scopes: tenant.AllTokenScopes,
			Age: 30*24*time.Hour - time.Millisecond})).Get(s.org).Want(200)
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
