package api_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"merlon/internal/api/apitest"
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
				a := r.As(r.Limit(s.People["administrator"], limits)).Do(d.method, s.address(d.path, s.ids), body)
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
		admin := s.People["administrator"]
		elsewhere := r.As(admin).Post("/organization", apitest.NewOrganization).Want(201).Text("organizationId")
		team2 := r.As(admin).Post(s.Organization+"/team", map[string]any{"name": "Two"}).Want(200).Text("teamId")
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
	if got := as.Get(s.Organization + "/teams").Want(200); len(got.Value("teams").([]any)) != 1 ||
		got.Text("teams.0.id") != team {
		t.Errorf("teams: %s", got.Body)
	}
	if got := as.Get(s.Organization + "/projects").Want(200); got.Value("totalProjects") != 1.0 {
		t.Errorf("projects of the organization: %s", got.Body)
	}
	if got := as.Get("/team/" + team + "/projects?page=1&pageSize=20").Want(200); got.Value("totalProjects") != 1.0 {
		t.Errorf("projects of the team: %s", got.Body)
	}
	as.Get("/project/" + project).Want(200)
	as.Patch("/project/"+project, map[string]any{"name": "Renamed"}).Want(200)
	as.Get(s.Project).Want(404)
	as.Get(s.Organization + s.Team).Want(404)
	as.Get("/team/" + team + "/members?page=1&pageSize=20").Want(403)
	as.Post("/organization", apitest.NewOrganization).Want(403)
	as.Get("/user/sessions").Want(403)
	as.Post("/user/password", map[string]any{"currentPassword": "x", "newPassword": "y"}).Want(403)
}
