package findings

import (
	"context"
	"strings"

	"merlon/internal/api/endpoint"
	"merlon/internal/license"
	"merlon/internal/tenant"
	"merlon/internal/triage"
)

// This file takes what people decide about licences.

// A PackagePath names a package of a project.
type PackagePath struct {
	ProjectID string `path:"projectId" format:"uuid"`
	PackageID string `path:"packageId" format:"uuid"`
}

// setPackageLicenseInput is the licence that a person has found a package to have.
type setPackageLicenseInput struct {
	PackagePath
	Body struct {
		SPDXID string `json:"spdxId" maxLength:"1000" doc:"SPDX licence expression, or an ID that the organization has classified. Empty resets to the licence that the package declares."`
	}
}

// SetPackageLicense says under which licence a package is, for every branch and
// later scan.
func (a *Handlers) SetPackageLicense(ctx context.Context, sc tenant.Scope,
	in *setPackageLicenseInput) (*endpoint.OutcomeOutput, error) {
	expression := strings.TrimSpace(in.Body.SPDXID)
	if expression != "" {
		e, err := license.Parse(expression)
		if err != nil {
			return nil, endpoint.Invalid("body.spdxId", "invalid licence expression: "+err.Error())
		}
		classes, err := a.Results.LicenseClasses(ctx, sc)
		if err != nil {
			return nil, err
		}
		// An identifier outside of the SPDX list would have no category. It is refused, so that a
		// typing error such as "Apache2" does not end up as an unknown licence.
		for _, id := range e.IDs() {
			if !classes.Names(id) {
				return nil, endpoint.Invalid("body.spdxId", "unknown licence "+id+": not in the SPDX list and not "+
					"classified "+
					"by the organization")
			}
		}
		expression = e.String()
	}
	if err := a.Results.DecideLicense(ctx, sc, strings.ToLower(in.PackageID),
		triage.LicenseDecision{Expression: &expression}); err != nil {
		return nil, err
	}
	return endpoint.NewOutcome("Licence updated"), nil
}

// ignorePackageLicenseInput excludes a package from the licence counts, or includes it again.
type ignorePackageLicenseInput struct {
	PackagePath
	Body struct {
		Ignored bool `json:"ignored" doc:"Exclude the package from the licence counts."`
	}
}

// IgnorePackageLicense leaves a package out of the numbers of licences, or counts
// it again.
func (a *Handlers) IgnorePackageLicense(ctx context.Context, sc tenant.Scope,
	in *ignorePackageLicenseInput) (*endpoint.OutcomeOutput, error) {
	if err := a.Results.DecideLicense(ctx, sc, strings.ToLower(in.PackageID),
		triage.LicenseDecision{Ignored: &in.Body.Ignored}); err != nil {
		return nil, err
	}
	return endpoint.NewOutcome("Licence updated"), nil
}

// licenseClassBody is the category of a licence, with the default that a reset restores.
type licenseClassBody struct {
	SPDXID          string           `json:"spdxId"`
	Name            string           `json:"name"`
	DefaultCategory license.Category `json:"defaultCategory" enum:"PERMISSIVE,WEAK_COPYLEFT,STRONG_COPYLEFT,UNKNOWN"`
	CurrentCategory license.Category `json:"currentCategory" enum:"PERMISSIVE,WEAK_COPYLEFT,STRONG_COPYLEFT,UNKNOWN"`
	IsOverridden    bool             `json:"isOverridden"`
}

type licenseClassesOutput struct {
	Body struct {
		Success bool `json:"success"`
		Data    struct {
			Licenses []licenseClassBody `json:"licenses" doc:"Built-in licences, followed by those the organization added."`
		} `json:"data"`
	}
}

// GetLicenseClasses lists the licence categories of an organization: the built-in ones with their
// overrides, then the licences that the organization has added.
func (a *Handlers) GetLicenseClasses(ctx context.Context, sc tenant.Scope,
	_ *endpoint.OrganizationInput) (*licenseClassesOutput, error) {
	classes, err := a.Results.LicenseClasses(ctx, sc)
	if err != nil {
		return nil, err
	}
	out := &licenseClassesOutput{}
	out.Body.Success = true
	// Identifiers are compared without case (SPDX specification, annex D.2).
	own := map[string]license.License{}
	for _, l := range classes.Own() {
		own[strings.ToLower(l.ID)] = l
	}
	add := func(l license.License, now license.License, overridden bool) {
		out.Body.Data.Licenses = append(out.Body.Data.Licenses, licenseClassBody{SPDXID: l.ID, Name: l.Name,
			DefaultCategory: l.Category, CurrentCategory: now.Category, IsOverridden: overridden})
	}
	// Built-in licences are removed from own as they are listed; what remains at the end are the
	// licences that only the organization knows.
	for _, l := range license.BuiltIn() {
		now, overridden := own[strings.ToLower(l.ID)]
		if !overridden {
			now = l
		}
		add(l, now, overridden)
		delete(own, strings.ToLower(l.ID))
	}
	for _, l := range classes.Own() {
		if _, custom := own[strings.ToLower(l.ID)]; custom {
			add(license.Classes{}.Of(l.ID), l, true)
		}
	}
	return out, nil
}

// setLicenseClassesInput adds overrides to those of an organization; others stay.
type setLicenseClassesInput struct {
	endpoint.OrganizationInput
	Body struct {
		Overrides []struct {
			SPDXID   string           `json:"spdxId" minLength:"1" maxLength:"200" doc:"Licence ID. An ID outside the SPDX list becomes a licence of the organization."`
			Category license.Category `json:"category" enum:"PERMISSIVE,WEAK_COPYLEFT,STRONG_COPYLEFT,UNKNOWN"`
		} `json:"overrides" minItems:"1" maxItems:"500"`
	}
}

// SetLicenseClasses puts licences into categories, for all projects of an
// organization at once.
func (a *Handlers) SetLicenseClasses(ctx context.Context, sc tenant.Scope,
	in *setLicenseClassesInput) (*endpoint.OutcomeOutput, error) {
	own := make([]license.License, len(in.Body.Overrides))
	for i, o := range in.Body.Overrides {
		e, err := license.Parse(o.SPDXID)
		if err != nil {
			return nil, endpoint.Invalid("body.overrides.spdxId", "invalid licence ID: "+err.Error())
		}
		// An expression such as "MIT OR GPL-2.0-only" parses, but a category belongs to one
		// licence. UNKNOWN is reserved for packages without a licence.
		if ids := e.IDs(); len(ids) != 1 || e.String() != ids[0] || strings.EqualFold(ids[0], noLicense) {
			return nil, endpoint.Invalid("body.overrides.spdxId", "must be a single licence")
		}
		own[i] = license.License{ID: e.String(), Category: o.Category}
	}
	if err := a.Results.ClassifyLicenses(ctx, sc, own); err != nil {
		return nil, err
	}
	return endpoint.NewOutcome("Licence categories updated"), nil
}

// ResetLicenseClasses deletes the licence categories of an organization.
func (a *Handlers) ResetLicenseClasses(ctx context.Context, sc tenant.Scope,
	_ *endpoint.OrganizationInput) (*endpoint.OutcomeOutput, error) {
	if err := a.Results.ResetLicenses(ctx, sc); err != nil {
		return nil, err
	}
	return endpoint.NewOutcome("Licence categories reset to their defaults"), nil
}
