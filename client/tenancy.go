package client

import (
	"context"
	"net/http"
	"net/url"
	"strconv"
	"time"
)

// This file holds people, organizations, teams, projects and tokens.

// A Profile is the caller, with every role that the caller has.
type Profile struct {
	ID            string       `json:"id"`
	FirstName     string       `json:"firstName"`
	LastName      string       `json:"lastName"`
	Email         string       `json:"email"`
	Organizations []Membership `json:"myOrganizations"`
}

// A Membership is an organization that the caller belongs to.
type Membership struct {
	ID    string `json:"id"`
	Name  string `json:"name"`
	Role  string `json:"myRole"`
	Teams []struct {
		ID   string `json:"id"`
		Name string `json:"name"`
		Role string `json:"myRole"`
	} `json:"myTeams"`
}

// Profile returns the caller.
func (c *Client) Profile(ctx context.Context) (Profile, error) {
	var out Profile
	err := c.do(ctx, call{method: http.MethodGet, path: []string{"user", "profile"}, out: &out})
	return out, err
}

// A PersonalToken is a personal access token; times are milliseconds since 1970.
type PersonalToken struct {
	Name       string `json:"name"`
	Value      string `json:"value"` // only when it is made
	CreatedAt  int64  `json:"createdAt"`
	ExpiresAt  *int64 `json:"expiresAt"` // nil: never
	LastUsedAt *int64 `json:"lastUsedAt"`
}

// PersonalTokens lists the caller's personal access tokens.
func (c *Client) PersonalTokens(ctx context.Context) ([]PersonalToken, error) {
	var out []PersonalToken
	err := c.do(ctx, call{method: http.MethodGet, path: []string{"user", "personal-access-tokens"}, out: &out})
	return out, err
}

// CreatePersonalToken makes a personal access token; a zero time means that it
// never ends.
func (c *Client) CreatePersonalToken(ctx context.Context, name string, expires time.Time) (PersonalToken, error) {
	in := struct {
		Name      string `json:"name"`
		ExpiresAt *int64 `json:"expiresAt"`
	}{Name: name}
	if !expires.IsZero() {
		ms := expires.UnixMilli()
		in.ExpiresAt = &ms
	}
	var out PersonalToken
	err := c.do(ctx, call{method: http.MethodPost, path: []string{"user", "personal-access-tokens"}, in: in, out: &out})
	return out, err
}

// DeletePersonalToken ends a personal access token.
func (c *Client) DeletePersonalToken(ctx context.Context, name string) error {
	in := map[string]string{"name": name}
	return c.do(ctx, call{method: http.MethodPost, path: []string{"user", "personal-access-tokens", "delete"}, in: in})
}

// An Organization is a tenant.
type Organization struct {
	ID                  string `json:"id"`
	Name                string `json:"name"`
	Description         string `json:"description"`
	Website             string `json:"website"`
	Email               string `json:"email"`
	ConcurrentScanLimit int    `json:"concurrentScanLimit"`
}

// Organizations lists the caller's organizations.
func (c *Client) Organizations(ctx context.Context) ([]Organization, error) {
	var out struct {
		Organizations []Organization `json:"organizations"`
	}
	err := c.do(ctx, call{method: http.MethodGet, path: []string{"organizations"}, out: &out})
	return out.Organizations, err
}

// A NewOrganization describes an organization that is to be made.
type NewOrganization struct {
	Name         string `json:"name"`
	Industry     string `json:"industry"`     // "software", "finance", … as the API lists them
	Country      string `json:"country"`      // in words
	CustomerType string `json:"customerType"` // "individual" or "company"
}

// CreateOrganization makes an organization, with the caller as administrator, and
// returns its id.
func (c *Client) CreateOrganization(ctx context.Context, n NewOrganization) (string, error) {
	var out struct {
		ID string `json:"organizationId"`
	}
	err := c.do(ctx, call{method: http.MethodPost, path: []string{"organization"}, in: n, out: &out})
	return out.ID, err
}

// A Team is part of an organization and owns projects.
type Team struct {
	ID          string    `json:"id"`
	Name        string    `json:"name"`
	Description string    `json:"description"`
	CreatedAt   time.Time `json:"createdAt"`
	UpdatedAt   time.Time `json:"updatedAt"`
}

// Teams lists the teams of an organization that the caller may see.
func (c *Client) Teams(ctx context.Context, organizationID string) ([]Team, error) {
	var out struct {
		Teams []Team `json:"teams"`
	}
	err := c.do(ctx, call{method: http.MethodGet, path: []string{"organization", organizationID, "teams"}, out: &out})
	return out.Teams, err
}

// CreateTeam makes a team and returns its id.
func (c *Client) CreateTeam(ctx context.Context, organizationID, name, description string) (string, error) {
	var out struct {
		ID string `json:"teamId"`
	}
	in := map[string]string{"name": name, "description": description}
	err := c.do(ctx, call{method: http.MethodPost, path: []string{"organization", organizationID, "team"}, in: in,
		out: &out})
	return out.ID, err
}

// A Project is what is scanned.
type Project struct {
	ID             string    `json:"projectId"`
	TeamID         string    `json:"teamId"`
	TeamName       string    `json:"teamName"`
	OrganizationID string    `json:"organizationId"` // not in lists
	Name           string    `json:"name"`
	CreatedAt      time.Time `json:"createdAt"`
	UpdatedAt      time.Time `json:"updatedAt"`
}

// A Page asks for a part of a list.
type Page struct {
	Number int    // from 1
	Size   int    // 1 to 20
	Search string // in names; empty: all
}

// Projects is a page of projects.
type Projects struct {
	Projects []Project
	Total    int // projects on all pages
	Pages    int
}

// TeamProjects returns a page of a team's projects.
func (c *Client) TeamProjects(ctx context.Context, teamID string, p Page) (Projects, error) {
	query := url.Values{"page": {strconv.Itoa(p.Number)}, "pageSize": {strconv.Itoa(p.Size)}}
	if p.Search != "" {
		query.Set("search", p.Search)
	}
	var out struct {
		Projects [][]Project `json:"projects"`
		Total    int         `json:"totalProjects"`
		Pages    int         `json:"totalPages"`
	}
	err := c.do(ctx, call{method: http.MethodGet, path: []string{"team", teamID, "projects"}, query: query, out: &out})
	page := Projects{Total: out.Total, Pages: out.Pages}
	for _, part := range out.Projects {
		page.Projects = append(page.Projects, part...)
	}
	return page, err
}

// Project returns a project.
func (c *Client) Project(ctx context.Context, projectID string) (Project, error) {
	var out Project
	err := c.do(ctx, call{method: http.MethodGet, path: []string{"project", projectID}, out: &out})
	return out, err
}

// CreateProject makes a project.
func (c *Client) CreateProject(ctx context.Context, teamID, name string) (Project, error) {
	var out Project
	in := map[string]string{"name": name}
	err := c.do(ctx, call{method: http.MethodPost, path: []string{"team", teamID, "project"}, in: in, out: &out})
	return out, err
}
