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
	*apitest.World
	ids map[string]string
}

// newStage makes a stage whose people no other stage has.
func newStage(t *testing.T, r *apitest.Runner, n int) *stage {
	t.Helper()
	s := &stage{World: apitest.Populate(t, r, fmt.Sprintf("s%d.", n))}
	admin := s.AsPerson("administrator")
	s.Join("guest", "member")
	admin.Post(s.Project+"/member", map[string]any{"userId": s.People["guest"], "role": "read_only"}).Want(200)
	caller := admin.Post(s.Organization+"/service-accounts",
		map[string]any{"name": "CI", "role": "member"}).Want(201).Text("id")
	s.People["account"] = tenant.UserID(caller)
	admin.Post(s.Team+"/member", map[string]any{"userId": caller, "role": "developer"}).Want(200)
	// The account that addresses name has no role in a team, so that a manager may
	// act for it.
	account := admin.Post(s.Organization+"/service-accounts",
		map[string]any{"name": "Other", "role": "member"}).Want(201).Text("id")
	s.People["foreign_administrator"] = s.Person(fmt.Sprintf("s%d.foreign", n))
	foreign := s.AsPerson("foreign_administrator").Post("/organization",
		apitest.NewOrganization).Want(201).Text("organizationId")
	s.ids = map[string]string{
		"organizationId": strings.TrimPrefix(s.Organization, "/organization/"),
		"teamId":         strings.TrimPrefix(s.Team, "/team/"),
		"projectId":      strings.TrimPrefix(s.Project, "/project/"),
		"foreign":        foreign,
		"userId":         string(s.People["developer"]),
		"accountId":      account,
		"tokenId": admin.Post(s.Organization+"/service-accounts/"+account+"/tokens",
			map[string]any{"name": "t"}).Want(201).Text("id"),
		"invitationId": admin.Post(s.Organization+"/invite",
			map[string]any{"email": fmt.Sprintf("s%d.invited@example.com", n),
				"role": "member"}).Want(201).Text("id"),
		"roleId": admin.Post(s.Organization+"/roles",
			map[string]any{"name": "R", "level": "team", "permissions": []string{"team.read"}}).
			Want(201).Text("id"),
		"token":     "not-signed",
		"sessionId": uuid.NewString(), // whose session is the handler's business
		"scanId":    admin.Post(s.Project+"/scan/start", map[string]any{}).Want(200).Text("scanId"),
	}
	s.ids["targetId"] = admin.Post(s.Project+"/target",
		map[string]any{"name": "Shop", "url": "https://shop.example.test/"}).Want(201).Text("id")
	s.addFindings()
	s.ids["jobId"] = admin.Post(s.Project+"/results/sca/autofix",
		map[string]any{"vulnerabilityIds": apitest.RandomIDs(101)}).Want(200).Text("jobId")
	for kind, body := range apitest.CredentialBodies(s.ids["projectId"]) {
		s.ids["/"+kind+"/"] = admin.Post("/integrations/"+kind+"/container-registry"+s.Organization+"/credentials",
			body).Want(201).Text(apitest.RegistryEnvelopes[kind] + "id")
	}
	s.ids["credentialId"] = s.ids["/harbor/"]
	admin.Post("/integrations/github-container-registry"+s.Organization+"/pat",
		map[string]any{"pat": apitest.GithubPat}).Want(201)
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
	scanned := &apitest.ScanResult{}
	for _, a := range finding.Analyses {
		scanned.Code(a, finding.High, "x", "x."+string(a), 1)
	}
	scanned.Packages = append(scanned.Packages, &finding.Package{Ecosystem: "npm", Name: "left-pad", Version: "1.0.0",
		Path: "package-lock.json"})
	s.Scan("main", scanned)
	for _, a := range finding.Analyses {
		s.ids["/"+string(a)+"/"] = s.AsPerson("administrator").Get(s.Project + "/results/" +
			string(a)).Want(200).Text("vulnerabilities.0.id")
	}
	s.ScanImage("main", "app:1", apitest.NoResults())
	s.ids["imageId"] = s.AsPerson("administrator").Get(s.Project +
		"/results/container/images").Want(200).Text("images.0.id")
	s.ids["vulnerabilityId"] = s.ids["/sast/"]
	s.ids["packageId"] = s.AsPerson("administrator").Get(s.Project +
		"/results/sca/packages").Want(200).Text("packages.0.id")
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
	s.T.Helper()
	var body any
	if d.method != "GET" {
		body = map[string]any{}
	}
	caller := s.AsPerson(a.name)
	if a.name == "nobody" {
		caller = s.As("")
	}
	answer := caller.Do(d.method, s.address(d.path, s.ids), body)
	want := d.expect(a)
	if want == admitted && !wasAdmitted(d, answer) || want != admitted && answer.Status != want {
		s.T.Errorf("%s %s as %s: got %d, want %s\n%s", d.method, d.path, a.name, answer.Status, wanted(want),
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
func wasAdmitted(d documented, a *apitest.Response) bool {
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
				if a := s.AsPerson("administrator").Do(d.method, s.address(d.path, broken),
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
				a := s.AsPerson(who).Do(d.method, s.address(d.path, mixed), map[string]any{"name": "x"})
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
