package findings

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"merlon/internal/api/endpoint"
	"merlon/internal/errs"
	"merlon/internal/finding"
	"merlon/internal/license"
	"merlon/internal/tenant"
	"merlon/internal/triage"
)

// Licenses keeps what people say about licences, and counts the licences of
// packages.
type Licenses interface {
	// ReferenceBranch returns the branch that stands for the project; empty before the first
	// scan.
	ReferenceBranch(ctx context.Context, sc tenant.Scope) (string, error)
	// LicenseCounts counts packages by their list of declared licences, as it is written in the
	// packages: expressions are parsed by the caller.
	LicenseCounts(ctx context.Context, sc tenant.Scope, q triage.PackageQuery) ([]triage.LicenseCount, error)
	// LicensePackages lists the packages whose declared licences satisfy wanted. SPDX
	// expressions cannot be compared in SQL, so the store reads all packages and asks for each
	// distinct list.
	LicensePackages(ctx context.Context, sc tenant.Scope, q triage.PackageQuery,
		wanted func([]string) bool) ([]triage.ListedPackage, int, error)
	// DecideLicense assigns a licence to a package or excludes it from the counts.
	DecideLicense(ctx context.Context, sc tenant.Scope, packageID string, d triage.LicenseDecision) error
	// LicenseClasses returns the built-in categories with the overrides of the organization.
	LicenseClasses(ctx context.Context, sc tenant.Scope) (license.Classes, error)
	// ClassifyLicenses adds overrides to those of the organization, or replaces them.
	ClassifyLicenses(ctx context.Context, sc tenant.Scope, own []license.License) error
	ResetLicenses(ctx context.Context, sc tenant.Scope) error
}

// noLicense stands for packages of which no licence is known, where others are
// named.
const noLicense = "UNKNOWN"

// LicenseFilterInput are the parameters that choose packages.
type LicenseFilterInput struct {
	ProjectID      string `path:"projectId" format:"uuid"`
	Branch         string `query:"branch" maxLength:"255" doc:"Branch. Default: the reference branch."`
	OrganizationID string `query:"organizationId" format:"uuid" doc:"Organization of the project. With another organization the result is empty."`
	PackageType    string `query:"packageType" maxLength:"1000" doc:"Dependency types (direct, dev, transitive) and ecosystems, such as npm."`
	Ecosystem      string `query:"ecosystem" maxLength:"1000" doc:"Ecosystems, such as npm."`
}

// query reads the parameters.
func (a *Handlers) licenseQuery(ctx context.Context, sc tenant.Scope,
	in *LicenseFilterInput) (triage.PackageQuery, error) {
	q := triage.PackageQuery{Branch: in.Branch, Ecosystems: endpoint.Words(in.Ecosystem)}
	// The parameter is redundant: the project determines the organization. A mismatch is
	// reported as not found, as it would be for a project of another organization.
	if in.OrganizationID != "" && !strings.EqualFold(in.OrganizationID, string(sc.Organization)) {
		return q, errs.E(errs.NotFound, "project not found")
	}
	// Clients send both kinds of words in one parameter, for example "direct,npm".
	for _, w := range endpoint.Words(in.PackageType) {
		if origin := triage.Origin(w); slices.Contains(triage.Origins, origin) {
			q.Origins = append(q.Origins, origin)
		} else {
			q.Ecosystems = append(q.Ecosystems, w)
		}
	}
	if len(q.Ecosystems) > maxEcosystems {
		return q, endpoint.Invalid("query.ecosystem", "too many ecosystems")
	}
	if q.Branch != "" {
		return q, nil
	}
	var err error
	q.Branch, err = a.Results.ReferenceBranch(ctx, sc)
	return q, err
}

// maxEcosystems bounds a filter.
const maxEcosystems = 100

// LicenseFields describe a licence.
type LicenseFields struct {
	SPDXID          string           `json:"spdxId" doc:"SPDX ID; UNKNOWN for packages without a known licence."`
	Name            string           `json:"name"`
	Category        license.Category `json:"category" enum:"PERMISSIVE,WEAK_COPYLEFT,STRONG_COPYLEFT,UNKNOWN"`
	Risk            string           `json:"risk" enum:"NONE,MEDIUM,HIGH,UNKNOWN"`
	RiskDescription string           `json:"riskDescription"`
}

// showLicense returns the licence with the risk that its category means.
func showLicense(l license.License) LicenseFields {
	return LicenseFields{SPDXID: l.ID, Name: l.Name, Category: l.Category, Risk: l.Category.Risk(),
		RiskDescription: l.Category.RiskDescription()}
}

// unknownLicense describes what is known of packages without a licence.
func unknownLicense() license.License {
	return license.License{ID: noLicense, Name: "Unknown licence", Category: license.Unknown}
}

// licenseCountBody is a licence and the number of packages that name it.
type licenseCountBody struct {
	LicenseFields
	Count int `json:"count" doc:"Number of packages with the licence, without ignored ones."`
}

// licenseSummaryBody counts packages. A package with several licences counts once in the category that
// its expression allows, and once for each licence that it names.
type licenseSummaryBody struct {
	ProjectID               tenant.ProjectID   `json:"projectId" format:"uuid"`
	TotalPackages           int                `json:"totalPackages"`
	PackagesWithLicenses    int                `json:"packagesWithLicenses"`
	PackagesWithoutLicenses int                `json:"packagesWithoutLicenses"`
	PermissiveCount         int                `json:"permissiveCount"`
	WeakCopyleftCount       int                `json:"weakCopyleftCount"`
	StrongCopyleftCount     int                `json:"strongCopyleftCount"`
	UnknownCount            int                `json:"unknownCount" doc:"Number of packages without a licence or with an unclassified one."`
	IgnoredCount            int                `json:"ignoredCount" doc:"Number of packages whose licence is ignored. With the four counts above it adds up to all packages."`
	Licenses                []licenseCountBody `json:"licenses" doc:"Licences by number of packages, descending."`
}

type licenseSummaryOutput struct {
	Body struct {
		Success bool               `json:"success"`
		Data    licenseSummaryBody `json:"data"`
	}
}

// GetLicenseSummary counts the packages of a branch by licence and category.
func (a *Handlers) GetLicenseSummary(ctx context.Context, sc tenant.Scope,
	in *LicenseFilterInput) (*licenseSummaryOutput, error) {
	q, err := a.licenseQuery(ctx, sc, in)
	if err != nil {
		return nil, err
	}
	classes, err := a.Results.LicenseClasses(ctx, sc)
	if err != nil {
		return nil, err
	}
	counts, err := a.Results.LicenseCounts(ctx, sc, q)
	if err != nil {
		return nil, err
	}
	out := &licenseSummaryOutput{}
	out.Body.Success, out.Body.Data = true, licenseSummaryBody{ProjectID: sc.Project, Licenses: []licenseCountBody{}}
	// A package under "MIT OR Apache-2.0" counts under both licences, so that the sum over the
	// licences may exceed the number of packages.
	byID := map[string]int{}
	for _, c := range counts {
		out.Body.Data.addPackages(c, classes, byID)
	}
	for id, n := range byID {
		l := unknownLicense()
		if id != noLicense {
			l = classes.Of(id)
		}
		out.Body.Data.Licenses = append(out.Body.Data.Licenses, licenseCountBody{LicenseFields: showLicense(l),
			Count: n})
	}
	slices.SortFunc(out.Body.Data.Licenses, func(a, b licenseCountBody) int {
		return cmp.Or(cmp.Compare(b.Count, a.Count), cmp.Compare(a.SPDXID, b.SPDXID))
	})
	return out, nil
}

// addPackages counts packages under the same licences, and each licence that they name.
func (b *licenseSummaryBody) addPackages(c triage.LicenseCount, classes license.Classes, byID map[string]int) {
	e := license.Read(c.Licenses)
	ids := e.IDs()
	b.TotalPackages += c.Packages
	if len(ids) == 0 {
		b.PackagesWithoutLicenses += c.Packages
		ids = []string{noLicense}
	} else {
		b.PackagesWithLicenses += c.Packages
	}
	// Ignored packages stay in the total, but neither in a category nor under a licence.
	if c.Ignored {
		b.IgnoredCount += c.Packages
		return
	}
	for _, id := range ids {
		byID[id] += c.Packages
	}
	// The category of the whole expression: of the alternatives of OR the most permissive, of
	// the parts of AND the most restrictive.
	switch e.Category(classes) {
	case license.Permissive:
		b.PermissiveCount += c.Packages
	case license.WeakCopyleft:
		b.WeakCopyleftCount += c.Packages
	case license.StrongCopyleft:
		b.StrongCopyleftCount += c.Packages
	default:
		b.UnknownCount += c.Packages
	}
}

type licensePackagesInput struct {
	LicenseFilterInput
	SPDXID string `path:"spdxId" doc:"SPDX ID from the summary; UNKNOWN for packages without a known licence."`
	Page   int    `query:"page" maximum:"2147483647" doc:"Page number, from 1."`
	Limit  int    `query:"limit" doc:"Page size, at most 10000 (default)."`
}

// maxLicensePackages bounds a page of packages.
const maxLicensePackages = 10_000

// licensePackageBody is a package of a licence.
type licensePackageBody struct {
	ID                string   `json:"id" format:"uuid"`
	PackageName       string   `json:"packageName"`
	PackageVersion    string   `json:"packageVersion"`
	Ecosystem         string   `json:"ecosystem"`
	Licenses          []string `json:"licenses"`
	IsTransitive      bool     `json:"isTransitive"`
	IsDev             bool     `json:"isDev"`
	IsLicenseIgnored  bool     `json:"isLicenseIgnored"`
	IsLicenseAssigned bool     `json:"isLicenseAssigned" doc:"The licence was assigned manually."`
}

type licensePackagesOutput struct {
	Body struct {
		Success bool `json:"success"`
		Data    struct {
			LicenseFields
			TotalCount int                  `json:"totalCount" doc:"Number of packages, including ignored ones."`
			Packages   []licensePackageBody `json:"packages"`
		} `json:"data"`
	}
}

// ListLicensePackages lists the packages of a branch that name a licence.
func (a *Handlers) ListLicensePackages(ctx context.Context, sc tenant.Scope,
	in *licensePackagesInput) (*licensePackagesOutput, error) {
	q, err := a.licenseQuery(ctx, sc, &in.LicenseFilterInput)
	if err != nil {
		return nil, err
	}
	q.Limit = maxLicensePackages
	if in.Limit != 0 {
		q.Limit = min(max(in.Limit, 1), maxLicensePackages)
	}
	q.Offset = (max(in.Page, 1) - 1) * q.Limit
	classes, err := a.Results.LicenseClasses(ctx, sc)
	if err != nil {
		return nil, err
	}
	l := unknownLicense()
	wanted := func(declared []string) bool { return len(license.Read(declared).IDs()) == 0 }
	if in.SPDXID != noLicense {
		id := in.SPDXID
		if e, err := license.Parse(id); err == nil && len(e.IDs()) == 1 {
			id = e.IDs()[0]
		}
		l = classes.Of(id)
		wanted = func(declared []string) bool {
			return slices.ContainsFunc(license.Read(declared).IDs(), func(other string) bool {
				return strings.EqualFold(other, id)
			})
		}
	}
	found, total, err := a.Results.LicensePackages(ctx, sc, q, wanted)
	if err != nil {
		return nil, err
	}
	out := &licensePackagesOutput{}
	out.Body.Success, out.Body.Data.LicenseFields, out.Body.Data.TotalCount = true, showLicense(l), total
	out.Body.Data.Packages = endpoint.Convert(found, func(k triage.ListedPackage) licensePackageBody {
		return licensePackageBody{ID: k.ID, PackageName: k.Package.Name, PackageVersion: k.Package.Version,
			Ecosystem: k.Package.Ecosystem,
			Licenses:  endpoint.OrEmpty(k.Package.Licenses), IsTransitive: k.Package.Scope == finding.Transitive,
			IsDev:            k.Package.Dev,
			IsLicenseIgnored: k.Ignored, IsLicenseAssigned: k.Assigned}
	})
	return out, nil
}
