package store_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"merlon/internal/project"
	"merlon/internal/store"
	"merlon/internal/store/storetest"
	"merlon/internal/tenant"
)

// orchard is an organization with enough projects for every way of listing them.
type orchard struct {
	*testing.T
	db       *store.DB
	org      tenant.OrganizationID
	projects []planted // by name
}

type planted struct{ id, name, team string }

// exec runs a statement in a transaction of its own.
func (o *orchard) exec(query string, args ...any) {
	o.Helper()
	err := o.db.Tx(o.Context(), func(tx *store.Tx) error {
		_, err := tx.Exec(o.Context(), query, args...)
		return err
	})
	if err != nil {
		o.Fatal(err)
	}
}

func (o *orchard) person(name string) tenant.Actor {
	o.Helper()
	o.exec("INSERT INTO app_user (id, email, created_at, updated_at) VALUES (?, ?, 0, 0)", name, name)
	return tenant.Actor{UserID: tenant.UserID(name)}
}

// plant makes 40 teams with 60 projects each; the names of the projects in the
// last ten teams stand at the end.
func plant(t *testing.T, db *store.DB) *orchard {
	t.Helper()
	o := &orchard{T: t, db: db}
	org, err := db.CreateOrganization(t.Context(), o.person("administrator"),
		tenant.Organization{Name: "A", Industry: "other", Country: "DE"})
	if err != nil {
		t.Fatal(err)
	}
	o.org = org.ID
	random := rand.New(rand.NewPCG(1, 2))
	err = db.Tx(t.Context(), func(tx *store.Tx) error {
		for team := range 40 {
			id := fmt.Sprintf("t%02d", team)
			if _, err := tx.Exec(t.Context(), "INSERT INTO team (id, organization_id, name, projects, created_at, "+
				"updated_at) VALUES (?, ?, ?, 60, 0, 0)", id, o.org, id); err != nil {
				return err
			}
			for i := range 60 {
				p := planted{fmt.Sprintf("p%02d-%02d", team, i), fmt.Sprintf("n%04d", random.IntN(2000)), id}
				if team >= 30 {
					p.name = "z" + p.name
				}
				if _, err := tx.Exec(t.Context(), `INSERT INTO project (id, organization_id, team_id, name, settings, created_at, updated_at)
					VALUES (?, ?, ?, ?, '{}', 0, 0)`, p.id, o.org, id, p.name); err != nil {
					return err
				}
				o.projects = append(o.projects, p)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	slices.SortFunc(o.projects, func(a, b planted) int { return strings.Compare(a.name+a.id, b.name+b.id) })
	return o
}

// grant makes somebody a member with the roles in teams and projects.
func (o *orchard) grant(name string, role tenant.RoleID, teams []int, projects ...string) tenant.Actor {
	o.Helper()
	a := o.person(name)
	o.exec("INSERT INTO organization_member (organization_id, user_id, role, created_at) VALUES (?, ?, 'member', 0)",
		o.org, name)
	for _, t := range teams {
		o.exec("INSERT INTO team_member (team_id, user_id, role, created_at) VALUES (?, "+
			"?, ?, 0)", fmt.Sprintf("t%02d", t), name, role)
	}
	for _, p := range projects {
		o.exec("INSERT INTO project_member (project_id, user_id, role, created_at) VALUES (?, ?, 'read_only', 0)", p,
			name)
	}
	return a
}

// Whatever index is used, a page holds what sorting and cutting by hand gives.
func TestProjectListsAreComplete(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB, _ *storetest.Clock) {
		o := plant(t, db)
		blind := "11111111-0000-4000-8000-000000000000"
		o.exec("INSERT INTO custom_role (id, organization_id, name, level, permissions, created_at, updated_at) "+
			"VALUES (?, ?, 'blind', 'team', ?, 0, 0)",
			blind, o.org, int64(tenant.TeamRead))
		first, last := make([]int, 20), make([]int, 10)
		for i := range first {
			first[i] = i
		}
		for i := range last {
			last[i] = 30 + i
		}
		for _, tt := range []struct {
			actor tenant.Actor
			sees  func(planted) bool
		}{
			{tenant.Actor{UserID: "administrator"}, func(planted) bool { return true }},
			{o.grant("few", tenant.ReadOnly, []int{3, 33}), func(p planted) bool {
				return p.team == "t03" || p.team == "t33"
			}},
			{o.grant("many", tenant.ReadOnly, first), func(p planted) bool { return p.team < "t20" }},
			{o.grant("end", tenant.ReadOnly, last), func(p planted) bool { return p.team >= "t30" }},
			{o.grant("both", tenant.ReadOnly, first, "p05-01", "p39-07", "p22-00"),
				func(p planted) bool { return p.team < "t20" || p.id == "p39-07" || p.id == "p22-00" }},
			{o.grant("guest", "", nil, "p00-00", "p39-59"), func(p planted) bool {
				return p.id == "p00-00" || p.id == "p39-59"
			}},
			{o.grant("blind", tenant.RoleID(blind), first), func(planted) bool { return false }},
		} {
			sc, err := db.Scope(t.Context(), tt.actor, tenant.Target{Organization: o.org})
			if err != nil {
				t.Fatal(err)
			}
			for _, search := range []string{"", "N1", "z"} {
				var want []string
				for _, p := range o.projects {
					if tt.sees(p) && strings.Contains(p.name, strings.ToLower(search)) {
						want = append(want, p.id)
					}
				}
				o.check(sc, search, want)
			}
		}
	})
}

// check compares the first pages, one in the middle and the last two with what is
// wanted.
func (o *orchard) check(sc tenant.Scope, search string, want []string) {
	o.Helper()
	const size = 20
	pages := len(want)/size + 1
	for _, n := range []int{1, 2, pages/2 + 1, pages, pages + 1} {
		page, _, err := o.db.OrganizationProjects(o.Context(), sc, project.Query{Search: search, Page: n, Size: size})
		if err != nil {
			o.Fatal(err)
		}
		var got []string
		for _, p := range page.Projects {
			got = append(got, string(p.ID))
		}
		from := min((n-1)*size, len(want))
		part := want[from:min(from+size, len(want))]
		if len(part) == 0 {
			part = nil
		}
		if diff := cmp.Diff(part, got); diff != "" || page.Total != len(want) {
			o.Errorf("%s, search %q, page %d: total %d, want %d (-want +got):\n%s", sc.Actor.UserID, search, n,
				page.Total, len(want), diff)
		}
	}
}
