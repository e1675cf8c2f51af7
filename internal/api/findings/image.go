package findings

import (
	"context"
	"strings"
	"time"

	"merlon/internal/api/endpoint"
	"merlon/internal/finding"
	"merlon/internal/project"
	"merlon/internal/scan"
	"merlon/internal/tenant"
	"merlon/internal/triage"
)

// This file shows and deletes the container images that scans looked at.

// ImageRecords keeps the images of a scope's project.
type ImageRecords interface {
	// Images lists images and counts all that match, not only those of the page.
	Images(ctx context.Context, sc tenant.Scope, q triage.ImageQuery) ([]triage.Image, int, error)
	// ImageGroups lists images by repository and branch.
	ImageGroups(ctx context.Context, sc tenant.Scope, q triage.ImageQuery) (triage.ImageGroupPage, error)
	// Holders lists the images that contain a container finding.
	Holders(ctx context.Context, sc tenant.Scope, id triage.ID) ([]triage.Image, error)
	// DeleteImage deletes an image, and the findings that no other image contains.
	DeleteImage(ctx context.Context, sc tenant.Scope, id string) error
}

// listImagesInput selects and orders images.
type listImagesInput struct {
	ProjectID string `path:"projectId" format:"uuid"`
	ResultPaging
	Branch      string `query:"branch"`
	Sort        string `query:"sort" doc:"Sort key: repositoryName, tagCount or latestScanAt (default)."`
	Order       string `query:"order" doc:"ASC or DESC. Default: ASC for repositoryName, DESC otherwise."`
	SearchQuery string `query:"searchQuery" maxLength:"200" doc:"Substring of the image name with its tag."`
}

// parseQuery reads the parameters. What the project's settings hide is not counted.
func (in *listImagesInput) parseQuery(settings project.Settings) (q triage.ImageQuery, p queryParser, err error) {
	q = triage.ImageQuery{Branch: in.Branch, Search: strings.TrimSpace(in.SearchQuery)}
	q.Sort = sortOf(&p, []triage.ImageSort{triage.ByLatestScan, triage.ByRepository, triage.ByTags}, in.Sort)
	// Names are read from A to Z; times and numbers of tags with the highest first.
	q.Descending = q.Sort != triage.ByRepository
	if orders := endpoint.Enum(&p.Parser, "order", []string{"asc", "desc"}, in.Order); len(orders) > 0 {
		q.Descending = orders[0] == "desc"
	}
	// The store counts only these severities, so that the counts agree with the list of
	// findings, which the settings filter in the same way.
	for _, s := range finding.Severities {
		if settings.Shown(finding.Container, s) {
			q.Severities = append(q.Severities, s)
		}
	}
	number, size := in.pageAndSize()
	size = min(size, endpoint.MaxPageSize)
	q.Offset, q.Limit = (number-1)*size, size
	return q, p, p.Err()
}

// imageCounts are numbers of findings in an image.
type imageCounts struct {
	SeverityCounts
	Unknown int `json:"unknown" doc:"Always 0: unrated findings count as medium."`
}

// An ImageSystem is what an image is made of, under the names of the contract.
type ImageSystem struct {
	OSFamily string `json:"osFamily" doc:"ID of the distribution, such as debian; none if the image has no os-release, unknown if no scan detected it."`
	OSName   string `json:"osName" doc:"Version of the distribution, such as 12.7."`
	OS       string `json:"os" doc:"Display name, such as Debian GNU/Linux 12 (bookworm)."`
}

// viewSystem returns the distribution of an image. No scan, no distribution and an unknown one are
// three different states.
func viewSystem(os *scan.OS) ImageSystem {
	switch {
	case os == nil:
		return ImageSystem{OSFamily: "unknown", OS: "unknown: no scan detected the distribution"}
	case os.ID == "":
		return ImageSystem{OSFamily: "none", OS: "none: the image has no os-release"}
	}
	return ImageSystem{OSFamily: os.ID, OSName: os.Version, OS: os.Name}
}

// A ScannedImage is what both lists have of an image beyond the contract.
type ScannedImage struct {
	Branch   string     `json:"branch"`
	Digest   string     `json:"digest" doc:"Digest of the manifest that was scanned last."`
	Platform string     `json:"platform"`
	Base     string     `json:"baseImage,omitempty" doc:"Base image, if the image declares it."`
	Size     int64      `json:"size" doc:"Compressed size of the layers in bytes."`
	Layers   int        `json:"layers"`
	State    scan.State `json:"state" doc:"Result of the last scan: succeeded, or degraded if the coverage is incomplete."`
}

// viewScanned returns what the last scan recorded of an image.
func viewScanned(i *triage.Image) ScannedImage {
	return ScannedImage{i.Branch, i.Digest, i.Platform, i.Base, i.Size, i.Layers, i.State}
}

// imageBody is an image in the flat list.
type imageBody struct {
	ID             string           `json:"id" format:"uuid"`
	ProjectID      tenant.ProjectID `json:"projectId" format:"uuid"`
	ArtifactName   string           `json:"artifactName" doc:"Full image reference, such as docker.io/library/nginx:1.27."`
	RepositoryName string           `json:"repositoryName"`
	Tag            string           `json:"tag" doc:"Tag, or the digest if the image was referenced by digest."`
	ScanID         string           `json:"scanId" format:"uuid" doc:"ID of the last scan."`
	ImageSystem
	ScannedImage
	CreatedAt  time.Time   `json:"createdAt" doc:"Time of the first scan."`
	UpdatedAt  time.Time   `json:"updatedAt" doc:"Time of the last scan."`
	VulnCounts imageCounts `json:"vulnCounts" doc:"Number of active findings by severity."`
}

// imagesOutput is a page of the flat list. The warning names parameters that were ignored.
type imagesOutput struct {
	Warning string `header:"Warning"`
	Body    struct {
		ProjectName string      `json:"projectName"`
		Images      []imageBody `json:"images"`
		TotalImages int         `json:"totalImages"`
		ImagesPage
	}
}

// An ImagesPage says which page of images a response has.
type ImagesPage struct {
	TotalPages  int `json:"totalPages"`
	CurrentPage int `json:"currentPage"`
	PageSize    int `json:"pageSize"`
}

// ListImages lists the scanned images of a project.
func (a *Handlers) ListImages(ctx context.Context, sc tenant.Scope, in *listImagesInput) (*imagesOutput, error) {
	p, err := a.Results.Project(ctx, sc)
	if err != nil {
		return nil, err
	}
	q, parsed, err := in.parseQuery(p.Settings)
	if err != nil {
		return nil, err
	}
	found, total, err := a.Results.Images(ctx, sc, q)
	if err != nil {
		return nil, err
	}
	out := &imagesOutput{Warning: parsed.Warning()}
	out.Body.ProjectName, out.Body.TotalImages = p.Name, total
	out.Body.ImagesPage = ImagesPage{endpoint.Pages(total, q.Limit), q.Offset/q.Limit + 1, q.Limit}
	out.Body.Images = make([]imageBody, len(found))
	for n := range found {
		i := &found[n]
		out.Body.Images[n] = imageBody{
			ID: i.ID, ProjectID: i.ProjectID, ArtifactName: i.Reference, RepositoryName: i.Repository, Tag: i.Tag,
			ScanID:      string(i.Run),
			ImageSystem: viewSystem(i.OS), ScannedImage: viewScanned(i), CreatedAt: i.CreatedAt, UpdatedAt: i.ScannedAt,
			VulnCounts: imageCounts{SeverityCounts: countsOf(i.Open)},
		}
	}
	return out, nil
}

// imageTagBody is one tag of a repository in the grouped list.
type imageTagBody struct {
	ID     string `json:"id" format:"uuid"`
	Tag    string `json:"tag" doc:"Tag, or the digest if the image was referenced by digest."`
	ScanID string `json:"scanId" format:"uuid" doc:"ID of the last scan."`
	ImageSystem
	ScannedImage
	CreatedAt  time.Time   `json:"createdAt" doc:"Time of the first scan."`
	UpdatedAt  time.Time   `json:"updatedAt" doc:"Time of the last scan."`
	VulnCounts imageCounts `json:"vulnCounts" doc:"Number of active findings of the image by severity."`
}

// imageGroupBody is a repository of images on one branch.
type imageGroupBody struct {
	RepositoryName string           `json:"repositoryName"`
	ProjectID      tenant.ProjectID `json:"projectId" format:"uuid"`
	ImageSystem
	Branch               string         `json:"branch"`
	TagCount             int            `json:"tagCount"`
	Tags                 []imageTagBody `json:"tags" doc:"Most recently scanned tags, at most 500."`
	AggregatedVulnCounts imageCounts    `json:"aggregatedVulnCounts" doc:"Number of active findings of all tags; a finding in several tags counts once."`
	LatestScanAt         time.Time      `json:"latestScanAt"`
}

// imageGroupsOutput is a page of repositories. A repository that was scanned on two branches
// is in the list twice, because its findings differ by branch.
type imageGroupsOutput struct {
	Warning string `header:"Warning"`
	Body    struct {
		ProjectName       string           `json:"projectName"`
		GroupedImages     []imageGroupBody `json:"groupedImages"`
		TotalRepositories int              `json:"totalRepositories" doc:"Number of repositories, counted once per branch."`
		TotalTags         int              `json:"totalTags"`
		ImagesPage
	}
}

// ListImageGroups lists the scanned images by repository. The operating system is that of the
// image that was scanned last.
func (a *Handlers) ListImageGroups(ctx context.Context, sc tenant.Scope,
	in *listImagesInput) (*imageGroupsOutput, error) {
	p, err := a.Results.Project(ctx, sc)
	if err != nil {
		return nil, err
	}
	q, parsed, err := in.parseQuery(p.Settings)
	if err != nil {
		return nil, err
	}
	page, err := a.Results.ImageGroups(ctx, sc, q)
	if err != nil {
		return nil, err
	}
	out := &imageGroupsOutput{Warning: parsed.Warning()}
	out.Body.ProjectName, out.Body.TotalRepositories, out.Body.TotalTags = p.Name, page.Total, page.Tags
	out.Body.ImagesPage = ImagesPage{endpoint.Pages(page.Total, q.Limit), q.Offset/q.Limit + 1, q.Limit}
	out.Body.GroupedImages = make([]imageGroupBody, len(page.Groups))
	for n := range page.Groups {
		out.Body.GroupedImages[n] = viewImageGroup(p.ID, &page.Groups[n])
	}
	return out, nil
}

// viewImageGroup returns the repository as the grouped list shows it.
func viewImageGroup(of tenant.ProjectID, g *triage.ImageGroup) imageGroupBody {
	out := imageGroupBody{
		RepositoryName: g.Repository, ProjectID: of, ImageSystem: viewSystem(nil), Branch: g.Branch, TagCount: g.Tags,
		Tags: make([]imageTagBody, len(g.Images)), AggregatedVulnCounts: imageCounts{SeverityCounts: countsOf(g.Open)},
		LatestScanAt: g.ScannedAt,
	}
	for n := range g.Images {
		i := &g.Images[n]
		// The images are ordered by their last scan, newest first.
		if n == 0 {
			out.ImageSystem = viewSystem(i.OS)
		}
		out.Tags[n] = imageTagBody{
			ID: i.ID, Tag: i.Tag, ScanID: string(i.Run), ImageSystem: viewSystem(i.OS), ScannedImage: viewScanned(i),
			CreatedAt: i.CreatedAt, UpdatedAt: i.ScannedAt, VulnCounts: imageCounts{SeverityCounts: countsOf(i.Open)},
		}
	}
	return out
}

// listHolders returns the images that hold a finding.
func (a *Handlers) listHolders(ctx context.Context, sc tenant.Scope, id triage.ID) ([]heldBody, error) {
	found, err := a.Results.Holders(ctx, sc, id)
	out := make([]heldBody, len(found))
	for n, i := range found {
		out[n] = heldBody{i.ID, i.Reference, i.Tag}
	}
	return out, err
}

// deleteImageInput names an image of a project.
type deleteImageInput struct {
	ProjectID string `path:"projectId" format:"uuid"`
	ImageID   string `path:"imageId"`
}

// DeleteImage deletes an image and what it alone holds.
func (a *Handlers) DeleteImage(ctx context.Context, sc tenant.Scope,
	in *deleteImageInput) (*endpoint.OutcomeOutput, error) {
	id, err := tenant.ParseID("imageId", in.ImageID)
	if err != nil {
		return nil, err
	}
	if err := a.Results.DeleteImage(ctx, sc, id); err != nil {
		return nil, err
	}
	return endpoint.NewOutcome("Image deleted"), nil
}
