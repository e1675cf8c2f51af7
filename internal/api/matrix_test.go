package api_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/uuid"

	"merlon/internal/api/apitest"
	"merlon/internal/finding"
	"merlon/internal/store"
	"merlon/internal/store/storetest"
	"merlon/internal/tenant"
)

// This file calls every route as everybody. What is expected is computed from
// the permissions that the OpenAPI document names and from the table of roles,
// never from what the store says.

// A documented route.
type documented struct {
	method, path string
	open         bool               // needs no caller
	needs        tenant.Permissions // all of them
	scopes       []string           // of the access token, all of them
	parameters   []string           // of the path, as the operation declares them
}

func documentedRoutes(t *testing.T, r *apitest.Runner) []documented {
	t.Helper()
	text, err := r.API.OpenAPI()
	if err != nil {
		t.Fatal(err)
	}
	var doc struct {
		Paths map[string]map[string]struct {
			Security    []any                       `json:"security"`
			Permissions []string                    `json:"x-permissions"`
			Scopes      []string                    `json:"x-scopes"`
			Parameters  []struct{ Name, In string } `json:"parameters"`
		} `json:"paths"`
	}
	if err := json.Unmarshal(text, &doc); err != nil {
		t.Fatal(err)
	}
	var routes []documented
	for _, path := range slices.Sorted(maps.Keys(doc.Paths)) {
		for _, method := range slices.Sorted(maps.Keys(doc.Paths[path])) {
			op := doc.Paths[path][method]
			d := documented{method: strings.ToUpper(method), path: path, open: len(op.Security) == 0, scopes: op.Scopes}
			if d.needs, err = tenant.ParsePermissions(op.Permissions); err != nil {
				t.Fatal(err)
			}
			for _, p := range op.Parameters {
				if p.In == "path" {
					d.parameters = append(d.parameters, p.Name)
				}
			}
			routes = append(routes, d)
		}
	}
	return routes
}

// placeholders finds the parameters of a path.
var placeholders = regexp.MustCompile(`\{(\w+)\}`)

// An actor of the matrix, with the roles that it holds.
type role struct {
	name         string
	organization tenant.RoleID // empty for no member
	team         tenant.RoleID
	project      tenant.RoleID
}

var actors = []role{
	{name: "nobody"},
	{name: "stranger"},
	{name: "foreign_administrator"}, // of another tenant
	{name: "administrator", organization: tenant.Administrator, team: tenant.TeamManager},
	{name: "manager", organization: tenant.Manager},
	{name: "billing_manager", organization: tenant.BillingManager},
	{name: "member", organization: tenant.OrgMember},
	{name: "team_manager", organization: tenant.OrgMember, team: tenant.TeamManager},
	{name: "analyst_developer", organization: tenant.OrgMember, team: tenant.AnalystDeveloper},
	{name: "developer", organization: tenant.OrgMember, team: tenant.Developer},
	{name: "read_only", organization: tenant.OrgMember, team: tenant.ReadOnly},
	{name: "account", organization: tenant.OrgMember, team: tenant.Developer}, // a service account
	{name: "guest", organization: tenant.OrgMember, project: tenant.ReadOnly}, // of one project
}

// holds returns the permissions that the actor has at the level, by the table of
// roles.
func (a role) holds(level tenant.Level) tenant.Permissions {
	var p tenant.Permissions
	add := func(id tenant.RoleID, at tenant.Level) {
		if id == "" {
			return
		}
		r, ok := tenant.BuiltIn(id, at)
		if !ok {
			panic("there is no role " + id)
		}
		p |= r.Permissions.GrantedAt(at)
	}
	add(a.organization, tenant.OrganizationLevel)
	if level != tenant.OrganizationLevel {
		add(a.team, tenant.TeamLevel)
	}
	if level == tenant.ProjectLevel {
		add(a.project, tenant.ProjectLevel)
	}
	return p
}

// admitted is what expect returns for a caller whom the route's rule admits.
const admitted = 0

// expect returns the status that the rule answers the actor with.
func (d documented) expect(a role) int {
	if d.open {
		return admitted
	}
	if a.name == "nobody" {
		return 401
	}
	if d.needs == 0 {
		return admitted
	}
	level, sees := tenant.OrganizationLevel, tenant.Permissions(0)
	switch {
	case slices.Contains(d.parameters, "projectId"):
		level, sees = tenant.ProjectLevel, tenant.ProjectRead
	case slices.Contains(d.parameters, "teamId"):
		level, sees = tenant.TeamLevel, tenant.TeamRead
	}
	has := a.holds(level)
	switch {
	case a.organization == "" || sees&^has != 0:
		return 404
	case d.needs&^has != 0:
		return 403
	}
	return admitted
}

// A stage is a world with one of everything that an address can name.
type stage struct {
	*world
	ids map[string]string
}

// newStage makes a stage whose people no other stage has.
func newStage(t *testing.T, r *apitest.Runner, n int) *stage {
	t.Helper()
	s := &stage{world: populate(t, r, fmt.Sprintf("s%d.", n))}
	admin := s.as("administrator")
	s.join("guest", "member")
	admin.Post(s.proj+"/member", map[string]any{"userId": s.who["guest"], "role": "read_only"}).Want(200)
	caller := admin.Post(s.org+"/service-accounts", map[string]any{"name": "CI", "role": "member"}).Want(201).Text("id")
	s.who["account"] = tenant.UserID(caller)
	admin.Post(s.team+"/member", map[string]any{"userId": caller, "role": "developer"}).Want(200)
	// The account that addresses name has no role in a team, so that a manager may
	// act for it.
	account := admin.Post(s.org+"/service-accounts",
		map[string]any{"name": "Other", "role": "member"}).Want(201).Text("id")
	s.who["foreign_administrator"] = s.Person(fmt.Sprintf("s%d.foreign", n))
	foreign := s.as("foreign_administrator").Post("/organization", newOrganization).Want(201).Text("organizationId")
	s.ids = map[string]string{
		"organizationId": strings.TrimPrefix(s.org, "/organization/"),
		"teamId":         strings.TrimPrefix(s.team, "/team/"),
		"projectId":      strings.TrimPrefix(s.proj, "/project/"),
		"foreign":        foreign,
		"userId":         string(s.who["developer"]),
		"accountId":      account,
		"tokenId": admin.Post(s.org+"/service-accounts/"+account+"/tokens",
			map[string]any{"name": "t"}).Want(201).Text("id"),
		"invitationId": admin.Post(s.org+"/invite", map[string]any{"email": fmt.Sprintf("s%d.invited@example.com", n),
			"role": "member"}).Want(201).Text("id"),
		"roleId": admin.Post(s.org+"/roles",
			map[string]any{"name": "R", "level": "team", "permissions": []string{"team.read"}}).
			Want(201).Text("id"),
		"token":     "not-signed",
		"sessionId": uuid.NewString(), // whose session is the handler's business
		"scanId":    admin.Post(s.proj+"/scan/start", map[string]any{}).Want(200).Text("scanId"),
	}
	s.ids["targetId"] = admin.Post(s.proj+"/target",
		map[string]any{"name": "Shop", "url": "https://shop.example.test/"}).Want(201).Text("id")
	s.addFindings()
	s.ids["jobId"] = admin.Post(s.proj+"/results/sca/autofix",
		map[string]any{"vulnerabilityIds": manyIDs(101)}).Want(200).Text("jobId")
	for kind, body := range credentialBodies(s.ids["projectId"]) {
		s.ids["/"+kind+"/"] = admin.Post("/integrations/"+kind+"/container-registry"+s.org+"/credentials",
			body).Want(201).Text(registryEnvelopes[kind] + "id")
	}
	s.ids["credentialId"] = s.ids["/harbor/"]
	admin.Post("/integrations/github-container-registry"+s.org+"/pat", map[string]any{"pat": githubPat}).Want(201)
	for name, value := range map[string]string{ // what only operations that are not built name
		"conversationId": "", "policyId": "", "repositoryId": "",
		"format": "json", "reportType": "owasp", "type": "sast", "spdxId": "MIT", "registryType": "harbor",
		"packageName": "image", "repositoryName": "image", "repository": "image", "imageName": "image",
	} {
		if s.ids[name] = value; value == "" {
			s.ids[name] = uuid.NewString()
		}
	}
	return s
}

// addFindings gives the project a finding of each analysis, and a package.
func (s *stage) addFindings() {
	scanned := &scanned{}
	for _, a := range finding.Analyses {
		scanned.code(a, finding.High, "x", "x."+string(a), 1)
	}
	scanned.packages = append(scanned.packages, &finding.Package{Ecosystem: "npm", Name: "left-pad", Version: "1.0.0",
		Path: "package-lock.json"})
	s.scan("main", scanned)
	for _, a := range finding.Analyses {
		s.ids["/"+string(a)+"/"] = s.as("administrator").Get(s.proj + "/results/" +
			string(a)).Want(200).Text("vulnerabilities.0.id")
	}
	s.scanImage("main", "app:1", nothing())
	s.ids["imageId"] = s.as("administrator").Get(s.proj + "/results/container/images").Want(200).Text("images.0.id")
	s.ids["vulnerabilityId"] = s.ids["/sast/"]
	s.ids["packageId"] = s.as("administrator").Get(s.proj + "/results/sca/packages").Want(200).Text("packages.0.id")
}

// address fills in the parameters of a path. The identifier of a finding is one of
// the analysis that the path names.
func (s *stage) address(path string, ids map[string]string) string {
	if analysis, rest, ok := strings.Cut(strings.TrimPrefix(path, "/project/{projectId}/results/"), "/"); ok &&
		rest == "{vulnerabilityId}" && ids["vulnerabilityId"] == s.ids["vulnerabilityId"] {
		ids = maps.Clone(ids)
		ids["vulnerabilityId"] = s.ids["/"+analysis+"/"]
	}
	if kind, _, ok := strings.Cut(strings.TrimPrefix(path, "/integrations/"), "/container-registry"); ok &&
		s.ids["/"+kind+"/"] != "" {
		if ids["credentialId"] == s.ids["credentialId"] {
			ids = maps.Clone(ids)
			ids["credentialId"] = s.ids["/"+kind+"/"]
		}
		if strings.Contains(path, "/images") && !strings.Contains(path, "{credentialId}") {
			path += "?credentialId=" + ids["credentialId"]
		}
	}
	return placeholders.ReplaceAllStringFunc(path, func(p string) string { return ids[strings.Trim(p, "{}")] })
}

func TestEveryRouteAsEverybody(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB, clock *storetest.Clock) {
		r := apitest.New(t, db, clock)
		stages := 0
		next := func() *stage {
			stages++
			return newStage(t, r, stages)
		}
		s := next()
		calls := 0
		for _, d := range documentedRoutes(t, r) {
			if missing := s.missing(d); missing != "" {
				t.Errorf("%s %s: %s", d.method, d.path, missing)
				continue
			}
			for _, a := range actors {
				calls++
				if used := s.check(d, a); used {
					s = next()
				}
			}
		}
		t.Logf("%d calls in %d worlds", calls, stages)
	})
}

// missing says what keeps a route from being called.
func (s *stage) missing(d documented) string {
	for _, m := range placeholders.FindAllStringSubmatch(d.path, -1) {
		if s.ids[m[1]] == "" {
			return "add something that {" + m[1] + "} can name to the stage of this test"
		}
		if !slices.Contains(d.parameters, m[1]) {
			return "the operation does not declare {" + m[1] + "}"
		}
	}
	return ""
}

// check calls the route as the actor and reports whether something of the stage
// is gone: the bodies are empty, so that nothing else is changed for others.
func (s *stage) check(d documented, a role) (used bool) {
	s.t.Helper()
	var body any
	if d.method != "GET" {
		body = map[string]any{}
	}
	caller := s.as(a.name)
	if a.name == "nobody" {
		caller = s.As("")
	}
	answer := caller.Do(d.method, s.address(d.path, s.ids), body)
	want := d.expect(a)
	if want == admitted && !wasAdmitted(d, answer) || want != admitted && answer.Status != want {
		s.t.Errorf("%s %s as %s: got %d, want %s\n%s", d.method, d.path, a.name, answer.Status, wanted(want),
			answer.Body)
	}
	return d.method == "DELETE" && answer.Status < 300
}

func wanted(status int) string {
	if status == admitted {
		return "to be admitted"
	}
	return fmt.Sprint(status)
}

// wasAdmitted reports whether an answer comes from behind the rule: the request
// was done, or refused for what it asks. Routes that take what is the caller's
// own may refuse that by themselves.
func wasAdmitted(d documented, a *apitest.Answer) bool {
	if d.open || d.needs == 0 {
		return a.Status != 401
	}
	return a.Status != 401 && a.Status != 403 && a.Status != 404 && a.Status < 500 || a.Status == 501
}

// freeNames are parameters that anything can be the value of.
var freeNames = map[string]bool{"repository": true, "repositoryName": true, "repositoryId": true, "imageName": true,
	"packageName": true, "spdxId": true}

// An address whose parts belong to two tenants is not found by anybody, and one
// that is no identifier is a bad request.
func TestAddressesThatDoNotHoldTogether(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB, clock *storetest.Clock) {
		r := apitest.New(t, db, clock)
		s := newStage(t, r, 1)
		for _, d := range documentedRoutes(t, r) {
			if d.open || d.needs == 0 {
				continue
			}
			for _, name := range d.parameters {
				if freeNames[name] {
					continue
				}
				broken := maps.Clone(s.ids)
				broken[name] = "nonsense"
				if a := s.as("administrator").Do(d.method, s.address(d.path, broken),
					map[string]any{}); a.Status != 400 && a.Status != 501 {
					t.Errorf("%s %s with the %s nonsense: got %d, want 400, or 501 where nothing is "+
						"built\n%s", d.method, d.path, name, a.Status, a.Body)
				}
			}
			if !slices.Contains(d.parameters, "organizationId") || len(d.parameters) < 2 {
				continue
			}
			mixed := maps.Clone(s.ids)
			mixed["organizationId"] = s.ids["foreign"]
			for _, who := range []string{"administrator", "foreign_administrator"} {
				a := s.as(who).Do(d.method, s.address(d.path, mixed), map[string]any{"name": "x"})
				if own := who == "foreign_administrator" && !slices.Contains(d.parameters, "projectId"); own &&
					a.Status == 501 {
					continue // the organization is the caller's, and nothing is built that could be missing in it
				}
				if a.Status != 404 {
					t.Errorf("%s %s with another tenant's organization as %s: got %d, want 404\n%s", d.method, d.path,
						who, a.Status, a.Body)
				}
			}
		}
	})
}
