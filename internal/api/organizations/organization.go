package organizations

import (
	"context"
	"strings"

	"merlon/internal/api/endpoint"
	"merlon/internal/identity"
	"merlon/internal/tenant"
	"merlon/internal/triage"
)

// Organizations is what the API needs of the store for organizations.
type Organizations interface {
	CreateOrganization(ctx context.Context, actor tenant.Actor, o tenant.Organization) (tenant.Organization, error)
	Organizations(ctx context.Context, actor tenant.Actor) ([]tenant.Organization, error)
	Organization(ctx context.Context, sc tenant.Scope) (tenant.Organization, error)
	// UpdateOrganization calls edit with the stored organization inside of a transaction, after
	// it has checked that the caller still has the permissions.
	UpdateOrganization(ctx context.Context, sc tenant.Scope, needs tenant.Permissions,
		edit func(*tenant.Organization) error) (tenant.Organization, error)
	// DeleteOrganization deletes it with its teams, projects, scans and findings.
	DeleteOrganization(ctx context.Context, sc tenant.Scope) error
}

// OrganizationBody is an organization as responses show it.
type OrganizationBody struct {
	ID                  tenant.OrganizationID `json:"id" format:"uuid"`
	Name                string                `json:"name"`
	Description         string                `json:"description"`
	Website             string                `json:"website"`
	Email               string                `json:"email"`
	ConcurrentScanLimit int                   `json:"concurrentScanLimit" doc:"Maximum number of concurrent scans."`
	MaxTokenDays        int                   `json:"maxTokenLifetimeDays" doc:"Maximum lifetime of personal access tokens in days; 0 for no limit."`
}

// showOrganization returns the organization as responses show it.
func showOrganization(o tenant.Organization) OrganizationBody {
	return OrganizationBody{ID: o.ID, Name: o.Name, Description: o.Description, Website: o.Website, Email: o.Email,
		ConcurrentScanLimit: o.ConcurrentScanLimit, MaxTokenDays: o.MaxTokenDays}
}

// organizationsOutput has all organizations of the caller, without pages: a user has few.
type organizationsOutput struct {
	Body struct {
		Organizations []OrganizationBody `json:"organizations"`
	}
}

// ListOrganizations lists the organizations that the caller is a member of.
func (a *Handlers) ListOrganizations(ctx context.Context, sc tenant.Scope, _ *struct{}) (*organizationsOutput, error) {
	list, err := a.Tenancy.Organizations(ctx, sc.Actor)
	if err != nil {
		return nil, err
	}
	out := &organizationsOutput{}
	out.Body.Organizations = endpoint.Convert(list, showOrganization)
	return out, nil
}

// organizationOutput is an organization with its risk.
type organizationOutput struct {
	Body struct {
		OrganizationBody
		RiskScore *int64            `json:"riskScore" doc:"Highest risk score of the projects that the caller can read; null if none was scanned."`
		RiskLevel *triage.RiskLevel `json:"riskLevel" doc:"Risk level of the score: critical, high, medium or low."`
	}
}

// GetOrganization responds with an organization and its risk. The risk is that of the projects
// that the caller can read.
func (a *Handlers) GetOrganization(ctx context.Context, sc tenant.Scope,
	_ *endpoint.OrganizationInput) (*organizationOutput, error) {
	o, err := a.Tenancy.Organization(ctx, sc)
	if err != nil {
		return nil, err
	}
	t, err := a.Stats.Totals(ctx, sc)
	if err != nil {
		return nil, err
	}
	out := &organizationOutput{}
	out.Body.OrganizationBody = showOrganization(o)
	if t.Scanned > 0 {
		level := triage.LevelOf(t.Risk)
		out.Body.RiskScore, out.Body.RiskLevel = &t.Risk, &level
	}
	return out, nil
}

// createOrganizationInput is a new organization with its billing profile.
type createOrganizationInput struct {
	Body struct {
		Name         string `json:"name" minLength:"1" maxLength:"200"`
		Industry     string `json:"industry" enum:"software,finance,healthcare,education,manufacturing,retail,government,energy,telecom,freelance,other"`
		Country      string `json:"country" minLength:"1" maxLength:"100"`
		CustomerType string `json:"customerType" enum:"individual,company"`
		FirstName    string `json:"firstName,omitempty" maxLength:"200"`
		LastName     string `json:"lastName,omitempty" maxLength:"200"`
		CompanyName  string `json:"companyName,omitempty" maxLength:"200"`
		VATNumber    string `json:"vatNumber,omitempty" maxLength:"200"`
		AddressLine1 string `json:"billingAddressLine1,omitempty" maxLength:"200"`
		AddressLine2 string `json:"billingAddressLine2,omitempty" maxLength:"200"`
		City         string `json:"billingCity,omitempty" maxLength:"200"`
		PostalCode   string `json:"billingPostalCode,omitempty" maxLength:"200"`
		Region       string `json:"billingRegion,omitempty" maxLength:"200"`
	}
}

// createdOrganizationOutput is the new organization in the flat form of the contract.
type createdOrganizationOutput struct {
	Body struct {
		Message        string                `json:"message"`
		OrganizationID tenant.OrganizationID `json:"organizationId" format:"uuid"`
		Name           string                `json:"name"`
		Description    string                `json:"description"`
		Email          string                `json:"email"`
	}
}

// CreateOrganization creates an organization, whose administrator the caller becomes.
func (a *Handlers) CreateOrganization(ctx context.Context, sc tenant.Scope,
	in *createOrganizationInput) (*createdOrganizationOutput, error) {
	b := in.Body
	name, err := endpoint.ParseLabel("body.name", b.Name)
	if err != nil {
		return nil, err
	}
	country, err := endpoint.ParseLabel("body.country", b.Country)
	if err != nil {
		return nil, err
	}
	// After validation: a request with a mistake does not use up the quota.
	if err := a.CountQuotas(ctx, sc.Actor, endpoint.Quota{Name: "organization-user",
		Key: string(sc.Actor.UserID), Most: a.Quotas.UserOrganizations}); err != nil {
		return nil, err
	}
	o, err := a.Tenancy.CreateOrganization(ctx, sc.Actor, tenant.Organization{
		Name: name, Industry: b.Industry, Country: country,
		Billing: tenant.BillingProfile{
			CustomerType: b.CustomerType, Country: country, FirstName: b.FirstName, LastName: b.LastName,
			CompanyName: b.CompanyName, VATNumber: b.VATNumber, AddressLine1: b.AddressLine1,
			AddressLine2: b.AddressLine2,
			City:         b.City, PostalCode: b.PostalCode, Region: b.Region,
		},
	})
	if err != nil {
		return nil, err
	}
	out := &createdOrganizationOutput{}
	out.Body.Message, out.Body.OrganizationID = "Organization created", o.ID
	out.Body.Name, out.Body.Description, out.Body.Email = o.Name, o.Description, o.Email
	return out, nil
}

// updateOrganizationInput has the settings to change; optional ones that are absent stay.
type updateOrganizationInput struct {
	endpoint.OrganizationInput
	Body struct {
		Name                string  `json:"name" minLength:"1" maxLength:"200"`
		Industry            string  `json:"industry" enum:"software,finance,healthcare,education,manufacturing,retail,government,energy,telecom,other"`
		Country             string  `json:"country" minLength:"1" maxLength:"100"`
		Description         *string `json:"description,omitempty" maxLength:"2000"`
		Website             *string `json:"website,omitempty" maxLength:"200"`
		Email               *string `json:"email,omitempty" maxLength:"254"`
		ConcurrentScanLimit *int    `json:"concurrentScanLimit,omitempty" minimum:"1" maximum:"20" doc:"Maximum number of concurrent scans."`
		MaxTokenDays        *int    `json:"maxTokenLifetimeDays,omitempty" minimum:"0" maximum:"3650" doc:"Maximum lifetime of personal access tokens in days; 0 for no limit. Older tokens are rejected immediately."`
	}
}

// UpdateOrganization updates the settings of an organization.
func (a *Handlers) UpdateOrganization(ctx context.Context, sc tenant.Scope,
	in *updateOrganizationInput) (*endpoint.MessageOutput, error) {
	b := in.Body
	_, err := a.Tenancy.UpdateOrganization(ctx, sc, tenant.OrgManage, func(o *tenant.Organization) error {
		var err error
		if o.Name, err = endpoint.ParseLabel("body.name", b.Name); err != nil {
			return err
		}
		if o.Country, err = endpoint.ParseLabel("body.country", b.Country); err != nil {
			return err
		}
		o.Industry = b.Industry
		endpoint.Assign(&o.Description, b.Description)
		endpoint.Assign(&o.ConcurrentScanLimit, b.ConcurrentScanLimit)
		endpoint.Assign(&o.MaxTokenDays, b.MaxTokenDays)
		// The website is shown as a link: a javascript: URL would be stored XSS (CWE-79).
		if endpoint.Assign(&o.Website, b.Website); o.Website != "" && !strings.HasPrefix(o.Website, "https://") &&
			!strings.HasPrefix(o.Website, "http://") {
			return endpoint.Invalid("body.website", "must be an http or https URL")
		}
		if b.Email != nil && *b.Email != "" {
			o.Email, err = identity.NormalizeEmail(*b.Email)
			return err
		}
		endpoint.Assign(&o.Email, b.Email)
		return nil
	})
	if err != nil {
		return nil, err
	}
	return endpoint.NewMessage("Organization updated"), nil
}

// DeleteOrganization deletes an organization with everything in it.
func (a *Handlers) DeleteOrganization(ctx context.Context, sc tenant.Scope,
	_ *endpoint.OrganizationInput) (*endpoint.MessageOutput, error) {
	if err := a.Tenancy.DeleteOrganization(ctx, sc); err != nil {
		return nil, err
	}
	return endpoint.NewMessage("Organization deleted"), nil
}

// billingBody is the billing profile of an organization.
type billingBody struct {
	ID   tenant.OrganizationID `json:"id" format:"uuid"`
	Name string                `json:"name"`
	tenant.BillingProfile
}

// billingOutput is the billing profile.
type billingOutput struct{ Body billingBody }

// showBilling returns the billing profile as responses show it.
func showBilling(o tenant.Organization) *billingOutput {
	return &billingOutput{Body: billingBody{ID: o.ID, Name: o.Name, BillingProfile: o.Billing}}
}

// GetBilling responds with the billing profile of an organization.
func (a *Handlers) GetBilling(ctx context.Context, sc tenant.Scope,
	_ *endpoint.OrganizationInput) (*billingOutput, error) {
	o, err := a.Tenancy.Organization(ctx, sc)
	if err != nil {
		return nil, err
	}
	return showBilling(o), nil
}

// updateBillingInput has the fields to change; absent ones stay as they are.
type updateBillingInput struct {
	endpoint.OrganizationInput
	Body struct {
		CustomerType *string `json:"customerType,omitempty" enum:"individual,company"`
		Country      *string `json:"country,omitempty" maxLength:"100"`
		FirstName    *string `json:"firstName,omitempty" maxLength:"200"`
		LastName     *string `json:"lastName,omitempty" maxLength:"200"`
		CompanyName  *string `json:"companyName,omitempty" maxLength:"200"`
		VATNumber    *string `json:"vatNumber,omitempty" maxLength:"200"`
		AddressLine1 *string `json:"billingAddressLine1,omitempty" maxLength:"200"`
		AddressLine2 *string `json:"billingAddressLine2,omitempty" maxLength:"200"`
		City         *string `json:"billingCity,omitempty" maxLength:"200"`
		PostalCode   *string `json:"billingPostalCode,omitempty" maxLength:"200"`
		Region       *string `json:"billingRegion,omitempty" maxLength:"200"`
	}
}

// UpdateBilling updates the fields of the billing profile that the request has.
func (a *Handlers) UpdateBilling(ctx context.Context, sc tenant.Scope, in *updateBillingInput) (*billingOutput, error) {
	b := in.Body
	// Another permission than for the organization itself: accounting needs no access to
	// findings.
	o, err := a.Tenancy.UpdateOrganization(ctx, sc, tenant.OrgBilling, func(o *tenant.Organization) error {
		p := &o.Billing
		endpoint.Assign(&p.CustomerType, b.CustomerType)
		endpoint.Assign(&p.Country, b.Country)
		endpoint.Assign(&p.FirstName, b.FirstName)
		endpoint.Assign(&p.LastName, b.LastName)
		endpoint.Assign(&p.CompanyName, b.CompanyName)
		endpoint.Assign(&p.VATNumber, b.VATNumber)
		endpoint.Assign(&p.AddressLine1, b.AddressLine1)
		endpoint.Assign(&p.AddressLine2, b.AddressLine2)
		endpoint.Assign(&p.City, b.City)
		endpoint.Assign(&p.PostalCode, b.PostalCode)
		endpoint.Assign(&p.Region, b.Region)
		return nil
	})
	if err != nil {
		return nil, err
	}
	return showBilling(o), nil
}
