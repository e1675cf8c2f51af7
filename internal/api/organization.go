package api

import (
	"context"
	"fmt"
	"strings"
	"unicode"

	"merlon/internal/errs"
	"merlon/internal/identity"
	"merlon/internal/tenant"
	"merlon/internal/triage"
)

// Organizations is what the API needs of the store for organizations.
type Organizations interface {
	CreateOrganization(ctx context.Context, actor tenant.Actor, o tenant.Organization) (tenant.Organization, error)
	Organizations(ctx context.Context, actor tenant.Actor) ([]tenant.Organization, error)
	Organization(ctx context.Context, sc tenant.Scope) (tenant.Organization, error)
	UpdateOrganization(ctx context.Context, sc tenant.Scope, needs tenant.Permissions,
		edit func(*tenant.Organization) error) (tenant.Organization, error)
	DeleteOrganization(ctx context.Context, sc tenant.Scope) error
}

// messageBody says in words what was done.
type messageBody struct {
	Message string `json:"message"`
}

type messageAnswer struct{ Body messageBody }

func said(message string) *messageAnswer { return &messageAnswer{Body: messageBody{Message: message}} }

// outcomeBody is messageBody for clients that look for success.
type outcomeBody struct {
	Success bool   `json:"success"`
	Message string `json:"message"`
}

type outcomeAnswer struct{ Body outcomeBody }

func succeeded(message string) *outcomeAnswer {
	return &outcomeAnswer{Body: outcomeBody{Success: true, Message: message}}
}

// maxName bounds a name, in characters.
const maxName = 200

// label returns a name without the blanks around it; it is one line, and not
// empty.
func label(location, text string) (string, error) {
	text = strings.TrimSpace(text)
	switch {
	case text == "":
		return "", invalid(location, "is required")
	case len([]rune(text)) > maxName:
		return "", invalid(location, fmt.Sprintf("must be at most %d characters", maxName))
	case strings.ContainsFunc(text, unicode.IsControl):
		return "", invalid(location, "must not contain control characters")
	}
	return text, nil
}

// invalid returns an Invalid error about one part of the request.
func invalid(location, message string) error {
	return &errs.Error{Kind: errs.Invalid, Message: location + " " + message,
		Details: []errs.Detail{{Location: location, Message: message}}}
}

// OrganizationBody is an organization as every answer shows it.
type OrganizationBody struct {
	ID                  tenant.OrganizationID `json:"id" format:"uuid"`
	Name                string                `json:"name"`
	Description         string                `json:"description"`
	Website             string                `json:"website"`
	Email               string                `json:"email"`
	ConcurrentScanLimit int                   `json:"concurrentScanLimit" doc:"Maximum number of concurrent scans."`
	MaxTokenDays        int                   `json:"maxTokenLifetimeDays" doc:"Maximum lifetime of personal access tokens in days; 0 for no limit."`
}

func showOrganization(o tenant.Organization) OrganizationBody {
	return OrganizationBody{ID: o.ID, Name: o.Name, Description: o.Description, Website: o.Website, Email: o.Email,
		ConcurrentScanLimit: o.ConcurrentScanLimit, MaxTokenDays: o.MaxTokenDays}
}

type organizationsAnswer struct {
	Body struct {
		Organizations []OrganizationBody `json:"organizations"`
	}
}

func (a *API) listOrganizations(ctx context.Context, sc tenant.Scope, _ *struct{}) (*organizationsAnswer, error) {
	list, err := a.Tenancy.Organizations(ctx, sc.Actor)
	if err != nil {
		return nil, err
	}
	out := &organizationsAnswer{}
	out.Body.Organizations = each(list, showOrganization)
	return out, nil
}

// each maps a list; the result is never nil.
func each[T, U any](list []T, f func(T) U) []U {
	out := make([]U, 0, len(list))
	for _, v := range list {
		out = append(out, f(v))
	}
	return out
}

type organizationAnswer struct {
	Body struct {
		OrganizationBody
		RiskScore *int64            `json:"riskScore" doc:"Highest risk score of the projects that the caller can read; null if none was scanned."`
		RiskLevel *triage.RiskLevel `json:"riskLevel" doc:"Risk level of the score: critical, high, medium or low."`
	}
}

// OrganizationPath is the input of a route that names an organization and nothing
// else; the scope holds the id.
type OrganizationPath struct {
	OrganizationID string `path:"organizationId" format:"uuid"`
}

func (a *API) getOrganization(ctx context.Context, sc tenant.Scope, _ *OrganizationPath) (*organizationAnswer, error) {
	o, err := a.Tenancy.Organization(ctx, sc)
	if err != nil {
		return nil, err
	}
	t, err := a.Stats.Totals(ctx, sc)
	if err != nil {
		return nil, err
	}
	out := &organizationAnswer{}
	out.Body.OrganizationBody = showOrganization(o)
	if t.Scanned > 0 {
		level := triage.LevelOf(t.Risk)
		out.Body.RiskScore, out.Body.RiskLevel = &t.Risk, &level
	}
	return out, nil
}

type createOrganization struct {
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

type createdOrganizationAnswer struct {
	Body struct {
		Message        string                `json:"message"`
		OrganizationID tenant.OrganizationID `json:"organizationId" format:"uuid"`
		Name           string                `json:"name"`
		Description    string                `json:"description"`
		Email          string                `json:"email"`
	}
}

func (a *API) createOrganization(ctx context.Context, sc tenant.Scope,
	in *createOrganization) (*createdOrganizationAnswer, error) {
	b := in.Body
	name, err := label("body.name", b.Name)
	if err != nil {
		return nil, err
	}
	country, err := label("body.country", b.Country)
	if err != nil {
		return nil, err
	}
	if err := a.countQuotas(ctx, sc.Actor, quota{"organization-user", string(sc.Actor.UserID),
		a.Quotas.UserOrganizations}); err != nil {
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
	out := &createdOrganizationAnswer{}
	out.Body.Message, out.Body.OrganizationID = "Organization created", o.ID
	out.Body.Name, out.Body.Description, out.Body.Email = o.Name, o.Description, o.Email
	return out, nil
}

type updateOrganization struct {
	OrganizationPath
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

func (a *API) updateOrganization(ctx context.Context, sc tenant.Scope, in *updateOrganization) (*messageAnswer, error) {
	b := in.Body
	_, err := a.Tenancy.UpdateOrganization(ctx, sc, tenant.OrgManage, func(o *tenant.Organization) error {
		var err error
		if o.Name, err = label("body.name", b.Name); err != nil {
			return err
		}
		if o.Country, err = label("body.country", b.Country); err != nil {
			return err
		}
		o.Industry = b.Industry
		set(&o.Description, b.Description)
		set(&o.ConcurrentScanLimit, b.ConcurrentScanLimit)
		set(&o.MaxTokenDays, b.MaxTokenDays)
		if set(&o.Website, b.Website); o.Website != "" && !strings.HasPrefix(o.Website, "https://") &&
			!strings.HasPrefix(o.Website, "http://") {
			return invalid("body.website", "must be an http or https URL")
		}
		if b.Email != nil && *b.Email != "" {
			o.Email, err = identity.NormalizeEmail(*b.Email)
			return err
		}
		set(&o.Email, b.Email)
		return nil
	})
	if err != nil {
		return nil, err
	}
	return said("Organization updated"), nil
}

// set assigns what the request holds.
func set[T any](to *T, from *T) {
	if from != nil {
		*to = *from
	}
}

func (a *API) deleteOrganization(ctx context.Context, sc tenant.Scope, _ *OrganizationPath) (*messageAnswer, error) {
	if err := a.Tenancy.DeleteOrganization(ctx, sc); err != nil {
		return nil, err
	}
	return said("Organization deleted"), nil
}

type billingBody struct {
	ID   tenant.OrganizationID `json:"id" format:"uuid"`
	Name string                `json:"name"`
	tenant.BillingProfile
}

type billingAnswer struct{ Body billingBody }

func showBilling(o tenant.Organization) *billingAnswer {
	return &billingAnswer{Body: billingBody{ID: o.ID, Name: o.Name, BillingProfile: o.Billing}}
}

func (a *API) getBilling(ctx context.Context, sc tenant.Scope, _ *OrganizationPath) (*billingAnswer, error) {
	o, err := a.Tenancy.Organization(ctx, sc)
	if err != nil {
		return nil, err
	}
	return showBilling(o), nil
}

type updateBilling struct {
	OrganizationPath
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

func (a *API) updateBilling(ctx context.Context, sc tenant.Scope, in *updateBilling) (*billingAnswer, error) {
	b := in.Body
	o, err := a.Tenancy.UpdateOrganization(ctx, sc, tenant.OrgBilling, func(o *tenant.Organization) error {
		p := &o.Billing
		set(&p.CustomerType, b.CustomerType)
		set(&p.Country, b.Country)
		set(&p.FirstName, b.FirstName)
		set(&p.LastName, b.LastName)
		set(&p.CompanyName, b.CompanyName)
		set(&p.VATNumber, b.VATNumber)
		set(&p.AddressLine1, b.AddressLine1)
		set(&p.AddressLine2, b.AddressLine2)
		set(&p.City, b.City)
		set(&p.PostalCode, b.PostalCode)
		set(&p.Region, b.Region)
		return nil
	})
	if err != nil {
		return nil, err
	}
	return showBilling(o), nil
}
