package store_test

import (
	"sync"
	"testing"

	"merlon/internal/errs"
	"merlon/internal/project"
	"merlon/internal/store"
	"merlon/internal/store/storetest"
	"merlon/internal/tenant"
)

// founded makes an organization with two administrators, who are both managers
// of a team, and returns the scopes of each in the team.
func founded(t *testing.T, db *store.DB) (first, second tenant.Scope) {
	t.Helper()
	o := &orchard{T: t, db: db}
	a := o.person("first")
	org, err := db.CreateOrganization(t.Context(), a, tenant.Organization{Name: "A", Industry: "other", Country: "DE"})
	if err != nil {
		t.Fatal(err)
	}
	o.org = org.ID
	sc, err := db.Scope(t.Context(), a, tenant.Target{Organization: org.ID})
	if err != nil {
		t.Fatal(err)
	}
	team, err := db.CreateTeam(t.Context(), sc, tenant.Team{Name: "T"})
	if err != nil {
		t.Fatal(err)
	}
	b := o.person("second")
	o.exec("INSERT INTO organization_member (organization_id, user_id, role, created_at) VALUES (?, 'second', "+
		"'administrator', 0)", org.ID)
	o.exec("INSERT INTO team_member (team_id, user_id, role, created_at) VALUES (?, 'second', 'team_manager', 0)",
		team.ID)
	for actor, to := range map[tenant.Actor]*tenant.Scope{a: &first, b: &second} {
		if *to, err = db.Scope(t.Context(), actor, tenant.Target{Team: team.ID}); err != nil {
			t.Fatal(err)
		}
	}
	return first, second
}

// Two who remove each other at the same moment leave one of them.
func TestTheLastOneStays(t *testing.T) {
	tests := []struct {
		name   string
		remove func(db *store.DB, t *testing.T, sc tenant.Scope, who tenant.UserID) error
		count  string
	}{
		{"administrators", func(db *store.DB, t *testing.T, sc tenant.Scope, who tenant.UserID) error {
			sc.Team = ""
			return db.RemoveOrganizationMember(t.Context(), sc, who)
		}, "SELECT COUNT(*) FROM organization_member WHERE role = 'administrator'"},
		{"team managers", func(db *store.DB, t *testing.T, sc tenant.Scope, who tenant.UserID) error {
			return db.RemoveTeamMember(t.Context(), sc, who)
		}, "SELECT COUNT(*) FROM team_member WHERE role = 'team_manager'"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			storetest.Each(t, func(t *testing.T, db *store.DB, _ *storetest.Clock) {
				first, second := founded(t, db)
				failures := make(chan error, 2)
				var wg sync.WaitGroup
				wg.Go(func() { failures <- tt.remove(db, t, first, "second") })
				wg.Go(func() { failures <- tt.remove(db, t, second, "first") })
				wg.Wait()
				close(failures)
				failed := 0
				for err := range failures {
					if err != nil {
						failed++
					}
				}
				var left int
				if err := db.QueryRow(t.Context(), tt.count).Scan(&left); err != nil {
					t.Fatal(err)
				}
				if failed != 1 || left != 1 {
					t.Errorf("%d of two removals failed and %d stayed, want one of each", failed, left)
				}
			})
		})
	}
}

// A scope that was made before a role was taken away admits to nothing any more.
func TestWritesReadPermissionsAgain(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB, _ *storetest.Clock) {
		first, second := founded(t, db)
		p, err := db.CreateProject(t.Context(), second, project.Project{Name: "P"})
		if err != nil {
			t.Fatal(err)
		}
		inProject := second
		inProject.Project = p.ID
		organization := first
		organization.Team = ""
		if err := db.RemoveOrganizationMember(t.Context(), organization, "second"); err != nil {
			t.Fatal(err)
		}
		late := second
		late.Team = ""
		fail := func(any) error { t.Error("a write went on"); return nil }
		for name, err := range map[string]error{
			"create a project": second2(db.CreateProject(t.Context(), second, project.Project{Name: "Q"})),
			"update a project": second2(db.UpdateProject(t.Context(), inProject, func(p *project.Project) error {
				return fail(p)
			})),
			"delete a project": db.DeleteProject(t.Context(), inProject),
			"create a team":    second2(db.CreateTeam(t.Context(), late, tenant.Team{Name: "U"})),
			"update a team": second2(db.UpdateTeam(t.Context(), second, func(t *tenant.Team) error {
				return fail(t)
			})),
			"delete a team": db.DeleteTeam(t.Context(), second, true),
			"change an organization": second2(db.UpdateOrganization(t.Context(), late, tenant.OrgManage,
				func(o *tenant.Organization) error {
					return fail(o)
				})),
			"delete an organization": db.DeleteOrganization(t.Context(), late),
			"create a role": second2(db.CreateRole(t.Context(), late,
				tenant.Role{Name: "R", Level: tenant.TeamLevel, Permissions: tenant.TeamRead})),
			"make an account": second2(db.CreateServiceAccount(t.Context(), late, "CI", tenant.OrgMember)),
			"change a role":   db.SetTeamRole(t.Context(), second, "first", tenant.Developer),
		} {
			if !errs.Is(err, errs.NotFound) {
				t.Errorf("%s: got %v, want that nothing is found", name, err)
			}
		}
		if _, err := db.VerifyAudit(t.Context()); err != nil {
			t.Error(err)
		}
	})
}

// second2 returns the second of two values.
func second2[T any](_ T, err error) error { return err }
