package server

import (
	"context"

	"merlon/internal/config"
	"merlon/internal/engine/all"
	"merlon/internal/finding"
	"merlon/internal/identity"
	"merlon/internal/project"
	"merlon/internal/tenant"
)

// A Bootstrap names the first tenant of a deployment.
type Bootstrap struct {
	Email        string // of its administrator
	Organization string
	Team         string
	Project      string
	Password     string // that the operator has chosen; empty for a random one
}

// Bootstrapped is what a Bootstrap made. Password and token can be read nowhere
// else; a password that the operator has chosen is left out.
type Bootstrapped struct {
	OrganizationID      tenant.OrganizationID `json:"organizationId"`
	TeamID              tenant.TeamID         `json:"teamId"`
	ProjectID           tenant.ProjectID      `json:"projectId"`
	UserID              tenant.UserID         `json:"userId"`
	Email               string                `json:"email"`
	Password            string                `json:"password,omitempty"`
	PersonalAccessToken string                `json:"personalAccessToken"`
}

// Run makes an administrator with a password and a personal access token, an
// organization, a team and a project. It works on a database that a running
// service uses. An address that has an account already is a Conflict error.
func (b Bootstrap) Run(ctx context.Context, c config.Store) (*Bootstrapped, error) {
	db, err := OpenKeyed(ctx, c)
	if err != nil {
		return nil, err
	}
	defer func() { _ = db.Close() }() // everything is committed by then
	// Without a mail post: the administrator gets the password on the terminal.
	service := identity.New(identity.Options{Store: db, Region: db.Region, Now: db.Now})
	user, password, err := b.createAdministrator(ctx, service)
	if err != nil {
		return nil, err
	}
	actor := tenant.Actor{UserID: user.ID, ClientID: "merlon admin"}
	org, err := db.CreateOrganization(ctx, actor, tenant.Organization{
		Name: b.Organization, Industry: "other", Country: "", Email: user.Email, ConcurrentScanLimit: 1,
		Billing: tenant.BillingProfile{CustomerType: "company"},
	})
	if err != nil {
		return nil, err
	}
	sc, err := db.Scope(ctx, actor, tenant.Target{Organization: org.ID})
	if err != nil {
		return nil, err
	}
	team, err := db.CreateTeam(ctx, sc, tenant.Team{Name: b.Team})
	if err != nil {
		return nil, err
	}
	if sc, err = db.Scope(ctx, actor, tenant.Target{Team: team.ID}); err != nil {
		return nil, err
	}
	p, err := db.CreateProject(ctx, sc, project.Project{Name: b.Project, Settings: project.DefaultSettings(Analyses())})
	if err != nil {
		return nil, err
	}
	_, token, err := service.CreateToken(ctx, actor, identity.NewToken{Owner: user.ID, Name: "bootstrap"})
	if err != nil {
		return nil, err
	}
	return &Bootstrapped{
		OrganizationID: org.ID, TeamID: team.ID, ProjectID: p.ID, UserID: user.ID,
		Email: user.Email, Password: password, PersonalAccessToken: token,
	}, nil
}

// createAdministrator makes the administrator, and returns the password that was made.
func (b Bootstrap) createAdministrator(ctx context.Context, service *identity.Service) (identity.User, string, error) {
	names := identity.Names{FirstName: "Administrator"}
	if b.Password == "" {
		return service.Provision(ctx, b.Email, names)
	}
	user, err := service.ProvisionWith(ctx, b.Email, names, b.Password)
	return user, "", err
}

// Analyses are those that this build has an analyzer for, in the order in which
// results are shown.
func Analyses() []finding.Analysis {
	has := map[finding.Analysis]bool{}
	for _, a := range all.Analyzers {
		has[a.Analysis] = true
	}
	var out []finding.Analysis
	for _, a := range finding.Analyses {
		if has[a] {
			out = append(out, a)
		}
	}
	return out
}
