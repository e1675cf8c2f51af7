package api

import (
	"context"
	"path"
	"strings"
	"time"

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
	CreatedAt      time.Time        `json:"createdAt"`
	UpdatedAt      time.Time        `json:"updatedAt"`
}

type packagesOut struct {
	Body struct {
		ProjectID  tenant.ProjectID `json:"projectId" format:"uuid"`
		Page       int              `json:"page"`
		Limit      int              `json:"limit"`
		Total      int              `json:"total"`
		TotalPages int              `json:"totalPages"`
		Packages   []packageBody    `json:"packages"`
	}
}

// listPackages answers the packages that the last scans of a branch saw. The
// parameters that speak of findings are taken and checked, but choose nothing:
// packages have no severity.
func (a *API) listPackages(ctx context.Context, sc tenant.Scope, in *listResultsIn) (*packagesOut, error) {
	return a.packages(ctx, sc, in, false)
}

// packages answers a page of packages, of images or of the project's own files.
func (a *API) packages(ctx context.Context, sc tenant.Scope, in *listResultsIn, images bool) (*packagesOut, error) {
	p, err := a.Results.Project(ctx, sc)
	if err != nil {
		return nil, err
	}
	q, err := in.query(finding.SCA, p.Settings)
	if err != nil {
		return nil, err
	}
	found, total, err := a.Results.Packages(ctx, sc, triage.PackageQuery{
		Branch: q.Branch, Search: q.Search, Origins: q.Origins, Offset: q.Offset, Limit: q.Limit, Images: images,
	})
	if err != nil {
		return nil, err
	}
	out := &packagesOut{}
	number, size := in.get()
	out.Body.ProjectID, out.Body.Page, out.Body.Limit = sc.Project, number, size
	out.Body.Total, out.Body.TotalPages = total, pages(total, size)
	out.Body.Packages = make([]packageBody, len(found))
	for i, k := range found {
		out.Body.Packages[i] = packageBody{
			ID: k.ID, ProjectID: sc.Project, Branch: k.Branch, PackageName: k.Package.Name, PackageVersion: k.Package.Version,
			FileName: path.Base(k.Package.Path), Path: k.Package.Path, Ecosystem: k.Package.Ecosystem, PURL: k.Package.PURL,
			Licenses: notNull(k.Package.Licenses), IsDev: k.Package.Dev, IsTransitive: k.Package.Scope == finding.Transitive,
			CreatedAt: k.CreatedAt, UpdatedAt: k.UpdatedAt,
		}
	}
	return out, nil
}

// listImagePackages answers the packages that the last scans of images saw on a
// branch.
func (a *API) listImagePackages(ctx context.Context, sc tenant.Scope, in *listResultsIn) (*packagesOut, error) {
	return a.packages(ctx, sc, in, true)
}

type listImagesIn struct {
	ProjectID string `path:"projectId" format:"uuid"`
	ResultPaging
	Branch      string `query:"branch"`
	Sort        string `query:"sort" doc:"repositoryName, tagCount or latestScanAt."`
	Order       string `query:"order" doc:"ASC or DESC."`
	SearchQuery string `query:"searchQuery" maxLength:"200"`
}

// check refuses a sort or an order that does not exist.
func (in *listImagesIn) check() error {
	var p parser
	enum(&p, "sort", []string{"repositoryName", "tagCount", "latestScanAt"}, in.Sort)
	enum(&p, "order", []string{"asc", "desc"}, in.Order)
	return p.err()
}

// imageCounts are numbers of findings in an image.
type imageCounts struct {
	SeverityCounts
	Unknown int `json:"unknown"`
}

type imageBody struct {
	ID           string      `json:"id" format:"uuid"`
	ProjectID    string      `json:"projectId" format:"uuid"`
	ArtifactName string      `json:"artifactName"`
	OSFamily     string      `json:"osFamily"`
	OSName       string      `json:"osName"`
	CreatedAt    time.Time   `json:"createdAt"`
	UpdatedAt    time.Time   `json:"updatedAt"`
	VulnCounts   imageCounts `json:"vulnCounts"`
}

type imagesOut struct {
	Body struct {
		ProjectName string      `json:"projectName"`
		Images      []imageBody `json:"images"`
		TotalImages int         `json:"totalImages"`
		ImagesPage
	}
}

// An ImagesPage says which page of images an answer is.
type ImagesPage struct {
	TotalPages  int `json:"totalPages"`
	CurrentPage int `json:"currentPage"`
	PageSize    int `json:"pageSize"`
}

// listImages answers the images of a project that were analysed: none, because
// the program has no analyzer for images yet.
func (a *API) listImages(ctx context.Context, sc tenant.Scope, in *listImagesIn) (*imagesOut, error) {
	if err := in.check(); err != nil {
		return nil, err
	}
	p, err := a.Results.Project(ctx, sc)
	if err != nil {
		return nil, err
	}
	out := &imagesOut{}
	number, size := in.get()
	out.Body.ProjectName, out.Body.Images, out.Body.ImagesPage = p.Name, []imageBody{}, ImagesPage{CurrentPage: number, PageSize: size}
	return out, nil
}

type imageTagBody struct {
	ID         string      `json:"id" format:"uuid"`
	Tag        string      `json:"tag"`
	ScanID     string      `json:"scanId" format:"uuid"`
	CreatedAt  time.Time   `json:"createdAt"`
	UpdatedAt  time.Time   `json:"updatedAt"`
	VulnCounts imageCounts `json:"vulnCounts"`
}

type imageGroupBody struct {
	RepositoryName       string         `json:"repositoryName"`
	ProjectID            string         `json:"projectId" format:"uuid"`
	OSFamily             string         `json:"osFamily"`
	OSName               string         `json:"osName"`
	Branch               string         `json:"branch"`
	TagCount             int            `json:"tagCount"`
	Tags                 []imageTagBody `json:"tags"`
	AggregatedVulnCounts imageCounts    `json:"aggregatedVulnCounts"`
	LatestScanAt         time.Time      `json:"latestScanAt"`
}

type imageGroupsOut struct {
	Body struct {
		ProjectName       string           `json:"projectName"`
		GroupedImages     []imageGroupBody `json:"groupedImages"`
		TotalRepositories int              `json:"totalRepositories"`
		TotalTags         int              `json:"totalTags"`
		ImagesPage
	}
}

// listImageGroups answers the same by repository.
func (a *API) listImageGroups(ctx context.Context, sc tenant.Scope, in *listImagesIn) (*imageGroupsOut, error) {
	plain, err := a.listImages(ctx, sc, in)
	if err != nil {
		return nil, err
	}
	out := &imageGroupsOut{}
	out.Body.ProjectName, out.Body.GroupedImages, out.Body.ImagesPage = plain.Body.ProjectName, []imageGroupBody{}, plain.Body.ImagesPage
	return out, nil
}

type branchesIn struct {
	ProjectID string `path:"projectId" format:"uuid"`
}

type branchesOut struct {
	Body struct {
		ProjectID tenant.ProjectID `json:"projectId" format:"uuid"`
		Branches  []string         `json:"branches"`
	}
}

// listBranches answers the branches that have findings.
func (a *API) listBranches(ctx context.Context, sc tenant.Scope, _ *branchesIn) (*branchesOut, error) {
	branches, err := a.Numbers.FindingBranches(ctx, sc)
	if err != nil {
		return nil, err
	}
	out := &branchesOut{}
	out.Body.ProjectID, out.Body.Branches = sc.Project, branches
	return out, nil
}

// plainList splits a list parameter whose values keep their case.
func plainList(text string) []string {
	var out []string
	for v := range strings.SplitSeq(text, ",") {
		if v = strings.TrimSpace(v); v != "" {
			out = append(out, v)
		}
	}
	return out
}
