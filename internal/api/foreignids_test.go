package api_test

import (
	"maps"
	"strings"
	"testing"

	"merlon/internal/api/apitest"
	"merlon/internal/store"
	"merlon/internal/store/storetest"
)

// Under one's own organization, team or project, something of another tenant is not
// found, whatever the route would do with it.
func TestForeignIdentifiersUnderOwnAddresses(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB, clock *storetest.Clock) {
		r := apitest.New(t, db, clock)
		own, foreign := newStage(t, r, 1), newStage(t, r, 2)
		asked := 0
		for _, d := range documentedRoutes(t, r) {
			if d.open || d.needs == 0 || len(d.parameters) < 2 {
				continue
			}
			for _, name := range d.parameters[1:] {
				if own.ids[name] == foreign.ids[name] || freeNames[name] ||
					strings.HasPrefix(d.path, "/integrations/") && name == "imageId" {
					continue // no identifier of ours: registries name their images
				}
				mixed := maps.Clone(own.ids)
				mixed[name] = foreign.ids[name]
				path := own.address(d.path, mixed)
				asked++
				a := own.AsPerson("administrator").Do(d.method, path, foreignBody(d.path))
				if a.Status != 404 && a.Status != 501 {
					t.Errorf("%s %s with the %s of another tenant: got %d, want 404\n%s", d.method, d.path, name,
						a.Status, a.Body)
				}
			}
		}
		if asked == 0 {
			t.Error("no route was asked")
		}
		t.Logf("%d requests", asked)
	})
}

// foreignBody returns a body that the route accepts, where an empty one is refused before
// the address is looked at.
func foreignBody(path string) map[string]any {
	switch {
	case strings.HasSuffix(path, "/tokens"):
		return map[string]any{"name": "x"}
	case path == "/project/{projectId}/results/{vulnerabilityId}":
		return map[string]any{"comment": "x"}
	case strings.HasSuffix(path, "/license"):
		return map[string]any{"spdxId": "MIT"}
	case strings.HasSuffix(path, "/license-ignore"):
		return map[string]any{"ignored": true}
	}
	return map[string]any{}
}

// Bodies and queries reach nothing of another tenant either.
func TestForeignIdentifiersInBodiesAndQueries(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB, clock *storetest.Clock) {
		r := apitest.New(t, db, clock)
		own, foreign := newStage(t, r, 1), newStage(t, r, 2)
		admin := own.AsPerson("administrator")
		stranger := string(foreign.People["administrator"])
		for _, c := range []struct {
			method, path string
			body         any
			empty        string // where the answer is 200, what says that nothing was found
		}{
			{"PATCH", own.Project, map[string]any{"teamId": foreign.ids["teamId"]}, ""},
			{"POST", own.Organization + "/invite", map[string]any{"email": "someone@example.com", "role": "member",
				"teamAssignments": []map[string]any{{"teamId": foreign.ids["teamId"], "role": "developer"}}}, ""},
			{"POST", own.Team + "/member", map[string]any{"userId": stranger, "role": "developer"}, ""},
			{"POST", own.Project + "/member", map[string]any{"userId": stranger, "role": "developer"}, ""},
			{"PUT", own.Organization + "/member/role", map[string]any{"userId": stranger, "role": "member"}, ""},
			{"PUT", own.Team + "/member/role", map[string]any{"userId": stranger, "role": "developer"}, ""},
			{"PUT", own.Project + "/member/role", map[string]any{"userId": stranger, "role": "developer"}, ""},
			{"DELETE", own.Organization + "/member", map[string]any{"userId": stranger}, ""},
			{"DELETE", own.Team + "/member", map[string]any{"userId": stranger}, ""},
			{"DELETE", own.Project + "/member", map[string]any{"userId": stranger}, ""},
			{"PUT", "/integrations/container-registry" + own.Organization + "/credentials/harbor/" +
				own.ids["/harbor/"] + "/projects",
				map[string]any{"projectIds": []string{foreign.ids["projectId"]}}, `"projectIds":[]`},
			{"POST", "/integrations/harbor/container-registry" + own.Project + "/scan",
				map[string]any{"credentialId": foreign.ids["/harbor/"], "imageName": "app:1"}, ""},
			{"GET", own.Organization + "/results/overview?teamIds=" + foreign.ids["teamId"], nil, `"totalProjects":0`},
			{"GET", own.Project + "/results/sca/licenses/summary?organizationId=" + foreign.ids["organizationId"], nil,
				""},
			{"GET", own.Project + "/results/container?imageId=" + foreign.ids["imageId"], nil, `"total":0`},
		} {
			a := admin.Do(c.method, c.path, c.body)
			switch {
			case c.empty == "" && a.Status != 404:
				t.Errorf("%s %s with an id of another tenant: got %d, want 404\n%s", c.method, c.path, a.Status, a.Body)
			case c.empty != "" && (a.Status != 200 || !strings.Contains(string(a.Body), c.empty)):
				t.Errorf("%s %s with an id of another tenant: got %d, want 200 and %s\n%s", c.method, c.path, a.Status,
					c.empty, a.Body)
			}
		}
	})
}
