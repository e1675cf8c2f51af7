package registries

import (
	"context"
	"errors"
	"time"

	"merlon/internal/api/endpoint"
	"merlon/internal/audit"
	"merlon/internal/errs"
	"merlon/internal/registry/catalog"
	"merlon/internal/registry/credential"
	"merlon/internal/tenant"
)

// This file serves the operations on GitHub's registry, for which an organization stores one
// personal access token. No project is linked to it: every member may see what it
// shows, and the token itself is handed to nobody.

// githubAccount opens the organization's token.
func (a *Handlers) githubAccount(ctx context.Context, sc tenant.Scope) (*credential.Credential, *credential.Account,
	error) {
	found, err := a.Credentials.Credentials(ctx, sc, credential.GitHub)
	if err != nil {
		return nil, nil, err
	}
	if len(found) == 0 {
		return nil, nil, errs.E(errs.NotFound, "no GitHub registry token: store one with POST …/pat")
	}
	c := &found[0] // there is one at most, for its name is always the same
	account, err := c.Open(a.Box)
	return c, account, err
}

// githubPatStatus is what GitHub reports of the stored token.
type githubPatStatus struct {
	Valid     bool     `json:"valid"`
	User      string   `json:"githubUsername,omitempty"`
	Owner     string   `json:"githubOwner,omitempty"`
	Scopes    []string `json:"scopes"`
	ExpiresAt string   `json:"expiresAt,omitempty"`
	Validated string   `json:"validatedAt,omitempty" format:"date-time"`
	Error     string   `json:"errorMessage,omitempty"`
	Reads     bool     `json:"hasPackagesReadScope"`
}

// showPat returns the status of a token as GitHub has just reported it; failure is why GitHub
// refused it.
func (a *Handlers) showPat(f *credential.Fields, failure string) *githubPatStatus {
	return &githubPatStatus{Valid: failure == "", User: f.GithubUsername, Owner: f.GithubOwner,
		Scopes:    endpoint.OrEmpty(f.Scopes),
		ExpiresAt: f.ExpiresAt,
		Validated: a.Now().UTC().Format(time.RFC3339), Error: failure, Reads: f.ReadsPackages()}
}

// storeGithubPatInput is the token of an organization.
type storeGithubPatInput struct {
	endpoint.OrganizationInput
	Body struct {
		Pat   string `json:"pat" maxLength:"255" doc:"GitHub personal access token (classic) with the scope read:packages."`
		Owner string `json:"githubOwner,omitempty" maxLength:"100" doc:"GitHub organization that owns the images. Default: the owner of the token."`
	}
}

// storeGithubPatOutput has the status that GitHub reported when the token was checked.
type storeGithubPatOutput struct {
	Body struct {
		Success bool             `json:"success"`
		Message string           `json:"message"`
		Status  *githubPatStatus `json:"status"`
	}
}

// StoreGithubPat asks GitHub about the token and stores it in place of the one
// before.
func (a *Handlers) StoreGithubPat(ctx context.Context, sc tenant.Scope,
	in *storeGithubPatInput) (*storeGithubPatOutput, error) {
	c, err := a.saveCredential(ctx, sc,
		stored{kind: credential.GitHub, fields: credential.Fields{GithubOwner: in.Body.Owner},
			secrets: credential.Secrets{AccessToken: in.Body.Pat}})
	if err != nil {
		return nil, err
	}
	out := &storeGithubPatOutput{}
	out.Body.Success, out.Body.Status = true, a.showPat(&c.Fields, "")
	out.Body.Message = "GitHub token of " + c.Fields.GithubUsername + " stored"
	return out, nil
}

// DeleteGithubPat deletes the stored token. GitHub keeps accepting it until it is revoked there.
func (a *Handlers) DeleteGithubPat(ctx context.Context, sc tenant.Scope,
	_ *endpoint.OrganizationInput) (*endpoint.OutcomeOutput, error) {
	c, _, err := a.githubAccount(ctx, sc)
	if err != nil {
		return nil, err
	}
	if err := a.Credentials.DeleteCredential(ctx, sc, credential.GitHub, c.ID); err != nil {
		return nil, err
	}
	return endpoint.NewOutcome("GitHub token deleted; revoke it on GitHub too"), nil
}

// githubPatStatusOutput has no status when no token is stored.
type githubPatStatusOutput struct {
	Body struct {
		HasPat bool             `json:"hasPat"`
		Status *githubPatStatus `json:"status,omitempty"`
	}
}

// GetGithubPatStatus asks GitHub whether it still accepts the stored token. A refusal is part of
// the status; an unreachable GitHub is an error.
func (a *Handlers) GetGithubPatStatus(ctx context.Context, sc tenant.Scope,
	_ *endpoint.OrganizationInput) (*githubPatStatusOutput, error) {
	out := &githubPatStatusOutput{}
	_, account, err := a.githubAccount(ctx, sc)
	if errs.Is(err, errs.NotFound) {
		return out, nil
	}
	if err != nil {
		return nil, err
	}
	failure := ""
	err = a.Catalog.Check(ctx, account)
	var refused *errs.Error
	switch {
	// GitHub refused the token: it expired, was revoked, or lost its scope.
	case errs.Is(err, errs.Invalid) && errors.As(err, &refused):
		failure = refused.Message
	case err != nil:
		return nil, err
	}
	out.Body.HasPat, out.Body.Status = true, a.showPat(&account.Fields, failure)
	return out, nil
}

// GithubPage is a page of a list of GitHub's.
type GithubPage struct {
	Page     int `query:"page" maximum:"2147483647"`
	PageSize int `query:"pageSize" doc:"Page size, at most 100. Default: 30."`
}

// page returns the page; 30 is the default of GitHub's own API.
func (p GithubPage) page() catalog.Page {
	size := p.PageSize
	if size == 0 {
		size = 30
	}
	return catalog.Page{Number: max(p.Page, 1), Size: min(max(size, 1), endpoint.MaxPageSize)}
}

// githubImage is an image of the owner; a reason says why it cannot be scanned.
type githubImage struct {
	ID         int64      `json:"id"`
	Name       string     `json:"name"`
	Package    string     `json:"packageName"`
	Owner      string     `json:"owner"`
	Visibility string     `json:"visibility"`
	URL        string     `json:"htmlUrl,omitempty"`
	CreatedAt  *time.Time `json:"createdAt"`
	UpdatedAt  *time.Time `json:"updatedAt"`
	Versions   int        `json:"versionCount"`
	Scannable  bool       `json:"scannable"`
	Reason     string     `json:"scannableReason,omitempty"`
	Linked     bool       `json:"linkedToRepository"`
}

// unscannableReason is why an image is not scanned; empty when it is.
func unscannableReason(i catalog.Image) string {
	if i.Visibility == "public" {
		return ""
	}
	return "only public images of the GitHub registry can be scanned; this image is " + i.Visibility
}

// showGithubImage returns the image as responses show it.
func showGithubImage(i catalog.Image) githubImage {
	reason := unscannableReason(i)
	return githubImage{i.ID, i.Name, i.Name, i.ProjectName, i.Visibility, i.URL, i.CreatedAt, i.UpdatedAt, i.Tags,
		reason == "", reason, i.Linked}
}

// githubImagesInput selects a page of images.
type githubImagesInput struct {
	endpoint.OrganizationInput
	GithubPage
	Visibility string `query:"visibility" enum:"public,private,internal"`
}

// githubImagesOutput is a page of images of the owner.
type githubImagesOutput struct {
	Body struct {
		Images []githubImage `json:"images"`
		Total  int           `json:"totalCount" doc:"Lower bound, as GitHub reports no total: items up to this page, plus one if there is a next page."`
		Owner  string        `json:"githubOwner"`
	}
}

// ListGithubImages lists the images of the token's owner.
func (a *Handlers) ListGithubImages(ctx context.Context, sc tenant.Scope,
	in *githubImagesInput) (*githubImagesOutput, error) {
	_, account, err := a.githubAccount(ctx, sc)
	if err != nil {
		return nil, err
	}
	found, err := a.Catalog.Images(ctx, account, in.Visibility, in.page())
	if err != nil {
		return nil, err
	}
	out := &githubImagesOutput{}
	out.Body.Images, out.Body.Total, out.Body.Owner = endpoint.Convert(found.Items, showGithubImage), found.Total,
		account.Fields.GithubOwner
	return out, nil
}

// githubTagsInput selects an image of the owner.
type githubTagsInput struct {
	endpoint.OrganizationInput
	GithubPage
	Package string `path:"packageName" doc:"Image name without its owner, with slashes percent-encoded."`
}

// githubTag is a version of an image, with the tags that point to it.
type githubTag struct {
	ID        int64      `json:"id"`
	Name      string     `json:"name"`
	Tags      []string   `json:"tags"`
	Digest    string     `json:"digest"`
	CreatedAt *time.Time `json:"createdAt"`
	UpdatedAt *time.Time `json:"updatedAt"`
	URL       string     `json:"htmlUrl,omitempty"`
}

// githubTagsOutput is a page of versions. An untagged version has an empty list of tags.
type githubTagsOutput struct {
	Body struct {
		Package string      `json:"packageName"`
		Tags    []githubTag `json:"tags" doc:"Versions of the image with their tags."`
		Total   int         `json:"totalCount" doc:"Lower bound, as for images."`
		Owner   string      `json:"githubOwner"`
	}
}

// ListGithubImageTags lists the versions of an image with their tags.
func (a *Handlers) ListGithubImageTags(ctx context.Context, sc tenant.Scope,
	in *githubTagsInput) (*githubTagsOutput, error) {
	image, err := unescapeName(in.Package)
	if err != nil {
		return nil, err
	}
	_, account, err := a.githubAccount(ctx, sc)
	if err != nil {
		return nil, err
	}
	found, err := a.Catalog.Tags(ctx, account, "", image, in.page())
	if err != nil {
		return nil, err
	}
	out := &githubTagsOutput{}
	out.Body.Package, out.Body.Total, out.Body.Owner = image, found.Total, account.Fields.GithubOwner
	out.Body.Tags = endpoint.Convert(found.Items, func(t catalog.Tag) githubTag {
		return githubTag{t.ID, t.Name, endpoint.OrEmpty(t.Names), t.Digest, t.CreatedAt, t.UpdatedAt, t.URL}
	})
	return out, nil
}

// githubTokenInput selects what the pull token is for.
type githubTokenInput struct {
	endpoint.OrganizationInput
	Package string `query:"packageName" maxLength:"255" doc:"Image that the token grants access to. Default: the first 50 images of the owner."`
}

// githubTokenOutput is a token that pulls for a few minutes. The stored token never leaves the service.
type githubTokenOutput struct {
	Body struct {
		Token     string    `json:"token" doc:"Short-lived token with pull access to the images; never the stored token."`
		User      string    `json:"username"`
		Registry  string    `json:"registryUrl"`
		Owner     string    `json:"githubOwner"`
		ExpiresAt time.Time `json:"expiresAt"`
	}
}

// tokenImages bounds the images that a token is for when it is asked for none.
const tokenImages = 50

// GetGithubRegistryToken exchanges the stored token for one that pulls images for a
// short time, and records who was given it.
func (a *Handlers) GetGithubRegistryToken(ctx context.Context, sc tenant.Scope,
	in *githubTokenInput) (*githubTokenOutput, error) {
	c, account, err := a.githubAccount(ctx, sc)
	if err != nil {
		return nil, err
	}
	var names []string
	// The named package is looked up first: the token must not be issued for an image of another
	// owner.
	if in.Package != "" {
		found, err := a.Catalog.Package(ctx, account, in.Package)
		if err != nil {
			return nil, err
		}
		names = []string{found.Name}
	} else {
		found, err := a.Catalog.Images(ctx, account, "", catalog.Page{Number: 1, Size: tokenImages})
		if err != nil {
			return nil, err
		}
		names = endpoint.Convert(found.Items, func(i catalog.Image) string { return i.Name })
	}
	if len(names) == 0 {
		return nil, errs.E(errs.NotFound, "%s has no images in the GitHub registry",
			account.Fields.GithubOwner)
	}
	token, err := a.Catalog.PullToken(ctx, account, names, a.Now())
	if err != nil {
		return nil, err
	}
	// Recorded before the token is returned: without a record nobody gets one.
	if err := a.Tenancy.AppendAudit(ctx, []audit.Event{audit.Event{
		Chain: sc.Organization, Action: "registry_credential.exchange", TargetKind: "registry_credential",
		Target: string(c.ID),
		Detail: map[string]any{"kind": c.Kind, "name": c.Name, "images": len(names),
			"until": token.Expires.UTC().Format(time.RFC3339)},
	}.By(sc.Actor)}); err != nil {
		return nil, err
	}
	out := &githubTokenOutput{}
	out.Body.Token, out.Body.ExpiresAt, out.Body.User = token.Text, token.Expires, account.Fields.GithubUsername
	out.Body.Registry, out.Body.Owner = account.Registry(), account.Fields.GithubOwner
	return out, nil
}

// startGithubScanInput is the image, without a credential.
type startGithubScanInput struct {
	ProjectID string `path:"projectId" format:"uuid"`
	Body      RegistryScanOptions
}

// StartGithubScan starts a scan of a public image of the owner that the token is for.
func (a *Handlers) StartGithubScan(ctx context.Context, sc tenant.Scope,
	in *startGithubScanInput) (*startContainerScanOutput, error) {
	c, account, err := a.githubAccount(ctx, sc)
	if err != nil {
		return nil, err
	}
	// The stored token may read images of other owners. A member of the organization must not
	// scan those with it (confused deputy).
	reference, err := account.Image(in.Body.Image)
	if errs.Is(err, errs.NotFound) {
		return nil, errs.Wrap(errs.Forbidden, err, "image not allowed: the organization may only scan images of %s "+
			"in the GitHub registry", account.Fields.GithubOwner)
	}
	if err != nil {
		return nil, err
	}
	found, err := a.Catalog.Package(ctx, account, account.Path(reference))
	if err != nil {
		return nil, err
	}
	if reason := unscannableReason(*found); reason != "" {
		return nil, errs.E(errs.Forbidden, "%s", reason)
	}
	r, err := a.scanWith(ctx, sc, registryScan{account, string(c.ID), &in.Body})
	if err != nil {
		return nil, err
	}
	return startedContainerScan(r), nil
}
