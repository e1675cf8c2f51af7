package findings

import (
	"context"
	"path"
	"strings"
	"time"

	"merlon/internal/api/endpoint"
	"merlon/internal/finding"
	"merlon/internal/tenant"
	"merlon/internal/triage"
)

// packageBody is a package of a branch.
type packageBody struct {
	ID             string           `json:"id" format:"uuid"`
	ProjectID      tenant.ProjectID `json:"projectId" format:"uuid"`
	Branch         string           `json:"branch"`
	PackageName    string           `json:"packageName"`
	PackageVersion string           `json:"packageVersion"`
	FileName       string           `json:"fileName"`
	Path           string           `json:"path"`
	Ecosystem      string           `json:"ecosystem"`
	PURL           string           `json:"purl,omitempty"`
	Licenses       []string         `json:"licenses"`
	IsDev          bool             `json:"isDev"`
	IsTransitive   bool             `json:"isTransitive"`
	ClassType      triage.Class     `json:"classType,omitempty" doc:"Image of the package."`
	CreatedAt      time.Time        `json:"createdAt"`
	UpdatedAt      time.Time        `json:"updatedAt"`
}

// packagesOutput is a page of packages.
type packagesOutput struct {
	Body struct {
		ProjectID  tenant.ProjectID `json:"projectId" format:"uuid"`
		Page       int              `json:"page"`
		Limit      int              `json:"limit"`
		Total      int              `json:"total"`
		TotalPages int              `json:"totalPages"`
		Packages   []packageBody    `json:"packages"`
	}
}

// ListPackages lists the packages that the last scans of a branch saw. The
// parameters that speak of findings are taken and checked, but choose nothing:
// packages have no severity.
func (a *Handlers) ListPackages(ctx context.Context, sc tenant.Scope, in *listResultsInput) (*packagesOutput, error) {
	return a.packagePage(ctx, sc, in, false)
}

// packagePage returns a page of packages, of images or of the project's own files.
func (a *Handlers) packagePage(ctx context.Context, sc tenant.Scope, in *listResultsInput,
	images bool) (*packagesOutput, error) {
	p, err := a.Results.Project(ctx, sc)
	if err != nil {
		return nil, err
	}
	// The parameters are those of the list of findings. The warning about ignored ones is
	// dropped: here most of them have no meaning.
	q, _, err := in.parseQuery(finding.SCA, p.Settings)
	if err != nil {
		return nil, err
	}
	found, total, err := a.Results.Packages(ctx, sc, triage.PackageQuery{
		Branch: q.Branch, Search: q.Search, Origins: q.Origins, Offset: q.Offset, Limit: q.Limit,
		Images: images, Image: q.Image, Classes: q.Classes,
	})
	if err != nil {
		return nil, err
	}
	out := &packagesOutput{}
	number, size := in.pageAndSize()
	out.Body.ProjectID, out.Body.Page, out.Body.Limit = sc.Project, number, size
	out.Body.Total, out.Body.TotalPages = total, endpoint.Pages(total, size)
	out.Body.Packages = make([]packageBody, len(found))
	for i, k := range found {
		out.Body.Packages[i] = packageBody{
			ID: k.ID, ProjectID: sc.Project, Branch: k.Branch, PackageName: k.Package.Name,
			PackageVersion: k.Package.Version,
			FileName:       path.Base(k.Package.Path), Path: k.Package.Path, Ecosystem: k.Package.Ecosystem,
			PURL:     k.Package.PURL,
			Licenses: endpoint.OrEmpty(k.Package.Licenses), IsDev: k.Package.Dev,
			IsTransitive: k.Package.Scope == finding.Transitive,
			ClassType:    triage.PackageClass(&k.Package), CreatedAt: k.CreatedAt, UpdatedAt: k.UpdatedAt,
		}
	}
	return out, nil
}

// ListImagePackages lists the packages that the last scans of images saw on a
// branch.
func (a *Handlers) ListImagePackages(ctx context.Context, sc tenant.Scope,
	in *listResultsInput) (*packagesOutput, error) {
	return a.packagePage(ctx, sc, in, true)
}

// branchesInput names a project.
type branchesInput struct {
	ProjectID string `path:"projectId" format:"uuid"`
}

// branchesOutput has the names of branches, in alphabetical order; empty before the first
// scan.
type branchesOutput struct {
	Body struct {
		ProjectID tenant.ProjectID `json:"projectId" format:"uuid"`
		Branches  []string         `json:"branches"`
	}
}

// ListBranches lists the branches that have findings.
func (a *Handlers) ListBranches(ctx context.Context, sc tenant.Scope, _ *branchesInput) (*branchesOutput, error) {
	branches, err := a.Numbers.FindingBranches(ctx, sc)
	if err != nil {
		return nil, err
	}
	out := &branchesOutput{}
	out.Body.ProjectID, out.Body.Branches = sc.Project, branches
	return out, nil
}

// plainList splits a list parameter whose values keep their case. Branch names and UUIDs are
// such values. It returns nil for an empty text, which callers read as "no filter".
func plainList(text string) []string {
	var out []string
	for v := range strings.SplitSeq(text, ",") {
		if v = strings.TrimSpace(v); v != "" {
			out = append(out, v)
		}
	}
	return out
}
