package apitest

import (
	"testing"

	"github.com/google/uuid"

	"merlon/internal/store"
	"merlon/internal/store/storetest"
	"merlon/internal/tenant"
)

// NewOrganization is the smallest body that creates an organization.
var NewOrganization = map[string]any{"name": "Acme", "industry": "software", "country": "DE", "customerType": "company"}

// A World is an organization with one person in every built-in role.
type World struct {
	*Runner
	T            *testing.T
	Organization string                   // path of the organization
	Team         string                   // path of its team, whose managers are the administrator and "team_manager"
	Project      string                   // path of a project in it
	People       map[string]tenant.UserID // by role; "stranger" is no member

	prefix string // of the people's addresses
}

// newWorld makes a world through the API alone.
func newWorld(t *testing.T, db *store.DB, clock *storetest.Clock) *World {
	t.Helper()
	return Populate(t, New(t, db, clock), "")
}

// Populate makes a world beside others; the prefix keeps its people apart from theirs.
func Populate(t *testing.T, r *Runner, prefix string) *World {
	t.Helper()
	w := &World{Runner: r, T: t, People: map[string]tenant.UserID{}, prefix: prefix}
	admin := w.Person(prefix + "administrator")
	w.People["administrator"] = admin
	w.Organization = "/organization/" +
		w.As(admin).Post("/organization", NewOrganization).Want(201).Text("organizationId")
	w.Team = "/team/" + w.As(admin).Post(w.Organization+"/team",
		map[string]any{"name": "Red", "description": ""}).Want(200).Text("teamId")
	w.Project = "/project/" + w.As(admin).Post(w.Team+"/project", map[string]any{"name": "Web"}).Want(201).Text("id")
	for _, role := range []string{"manager", "billing_manager", "member"} {
		w.Join(role, role)
	}
	for _, role := range []string{"team_manager", "analyst_developer", "developer", "read_only"} {
		w.Join(role, "member")
		w.AsPerson("administrator").Post(w.Team+"/member",
			map[string]any{"userId": w.People[role], "role": role}).Want(200)
	}
	w.People["stranger"] = w.Person(prefix + "stranger")
	return w
}

// AsPerson returns a caller with the token of the person with the name.
func (w *World) AsPerson(name string) Caller { return w.As(w.People[name]) }

// Join invites a new person with the name, who accepts.
func (w *World) Join(name, role string) {
	w.T.Helper()
	w.People[name] = w.Person(w.prefix + name)
	token := w.AsPerson("administrator").Post(w.Organization+"/invite",
		map[string]any{"email": Email(w.prefix + name),
			"role": role}).Want(201).Text("token")
	w.AsPerson(name).Post("/organization/invite/accept", map[string]any{"token": token}).Want(200)
}

// EachWorld runs a test in a world on each database, and checks the audit log at
// the end.
func EachWorld(t *testing.T, test func(t *testing.T, w *World)) {
	storetest.Each(t, func(t *testing.T, db *store.DB, clock *storetest.Clock) {
		test(t, newWorld(t, db, clock))
		if _, err := db.VerifyAudit(t.Context()); err != nil {
			t.Error(err)
		}
	})
}

// A Neighbour is another tenant of the deployment, whose data nobody of the world may see.
type Neighbour struct {
	Admin   tenant.UserID
	Project string // path of its project
}

// AddNeighbour makes another organization in the same deployment.
func AddNeighbour(t *testing.T, w *World) Neighbour {
	t.Helper()
	n := Neighbour{Admin: w.Person("neighbour")}
	org := "/organization/" + w.As(n.Admin).Post("/organization", NewOrganization).Want(201).Text("organizationId")
	team := "/team/" + w.As(n.Admin).Post(org+"/team",
		map[string]any{"name": "Red", "description": ""}).Want(200).Text("teamId")
	n.Project = "/project/" + w.As(n.Admin).Post(team+"/project", map[string]any{"name": "Web"}).Want(201).Text("id")
	return n
}

// TargetBody is the body of a target with secrets.
func TargetBody(url string) map[string]any {
	return map[string]any{
		"name": "Shop", "url": url, "environment": "production", "profile": "safe", "exclude": []string{"/logout*"},
		"headers": []map[string]any{{"name": "X-Key", "value": "s3cret-1"}},
		"identities": []map[string]any{
			{"name": "alice", "role": 1, "form": map[string]any{"url": "/login", "user": "alice",
				"password": "s3cret-2"}, "marker": map[string]any{"in": "Sign out"}},
			{"name": "bob", "bearer": "s3cret-3"},
		},
		"descriptions": []map[string]any{{"name": "openapi.json", "text": `{"openapi":"3.1.0","x":"s3cret-4"}`}},
	}
}

// RandomIDs returns identifiers that name nothing.
func RandomIDs(n int) []string {
	out := make([]string, n)
	for i := range out {
		out[i] = uuid.NewString()
	}
	return out
}
