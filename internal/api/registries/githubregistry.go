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

// This file answers for GitHub's registry, for which an organization stores one
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

// showPat says how a token stands, of which GitHub has just been asked.
func (a *Handlers) showPat(f *credential.Fields, failure string) *githubPatStatus {
	return &githubPatStatus{Valid: failure == "", User: f.GithubUsername, Owner: f.GithubOwner,
		Scopes:    endpoint.OrEmpty(f.Scopes),
		ExpiresAt: f.ExpiresAt,
		Validated: a.Now().UTC().Format(time.RFC3339), Error: failure, Reads: f.ReadsPackages()}
}

type storeGithubPatIn struct {
	endpoint.OrganizationPath
	Body struct {
		Pat   string `json:"pat" maxLength:"255" doc:"GitHub personal access token (classic) with the scope read:packages."`
		Owner string `json:"githubOwner,omitempty" maxLength:"100" doc:"GitHub organization that owns the images. Default: the owner of the token."`
	}
}

type storeGithubPatAnswer struct {
	Body struct {
		Success bool             `json:"success"`
		Message string           `json:"message"`
		Status  *githubPatStatus `json:"status"`
	}
}

// StoreGithubPat asks GitHub about the token and stores it in place of the one
// before.
func (a *Handlers) StoreGithubPat(ctx context.Context, sc tenant.Scope,
	in *storeGithubPatIn) (*storeGithubPatAnswer, error) {
	c, err := a.saveCredential(ctx, sc,
		stored{kind: credential.GitHub, fields: credential.Fields{GithubOwner: in.Body.Owner},
			secrets: credential.Secrets{AccessToken: in.Body.Pat}})
	if err != nil {
		return nil, err
	}
	out := &storeGithubPatAnswer{}
	out.Body.Success, out.Body.Status = true, a.showPat(&c.Fields, "")
	out.Body.Message = "GitHub token of " + c.Fields.GithubUsername + " stored"
	return out, nil
}

type doneAnswer struct {
	Body struct {
		Success bool   `json:"success"`
		Message string `json:"message"`
	}
}

// DeleteGithubPat deletes the stored token. GitHub keeps accepting it until it is revoked there.
func (a *Handlers) DeleteGithubPat(ctx context.Context, sc tenant.Scope,
	_ *endpoint.OrganizationPath) (*doneAnswer, error) {
	c, _, err := a.githubAccount(ctx, sc)
	if err != nil {
		return nil, err
	}
	if err := a.Credentials.DeleteCredential(ctx, sc, credential.GitHub, c.ID); err != nil {
		return nil, err
	}
	out := &doneAnswer{}
	out.Body.Success, out.Body.Message = true, "GitHub token deleted; revoke it on GitHub too"
	return out, nil
}

type githubPatStatusAnswer struct {
	Body struct {
		HasPat bool             `json:"hasPat"`
		Status *githubPatStatus `json:"status,omitempty"`
	}
}

// GetGithubPatStatus asks GitHub how the token stands.
func (a *Handlers) GetGithubPatStatus(ctx context.Context, sc tenant.Scope,
	_ *endpoint.OrganizationPath) (*githubPatStatusAnswer, error) {
	out := &githubPatStatusAnswer{}
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

func (p GithubPage) page() catalog.Page {
	size := p.PageSize
	if size == 0 {
		size = 30
	}
	return catalog.Page{Number: max(p.Page, 1), Size: min(max(size, 1), endpoint.MaxPageSize)}
}

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

// notPublic is why an image is not scanned; empty when it is.
func notPublic(i catalog.Image) string {
	if i.Visibility == "public" {
		return ""
	}
	return "only public images of the GitHub registry can be scanned; this image is " + i.Visibility
}

func showGithubImage(i catalog.Image) githubImage {
	reason := notPublic(i)
	return githubImage{i.ID, i.Name, i.Name, i.ProjectName, i.Visibility, i.URL, i.CreatedAt, i.UpdatedAt, i.Tags,
		reason == "", reason, i.Linked}
}

type githubImagesIn struct {
	endpoint.OrganizationPath
	GithubPage
	Visibility string `query:"visibility" enum:"public,private,internal"`
}

type githubImagesAnswer struct {
	Body struct {
		Images []githubImage `json:"images"`
		Total  int           `json:"totalCount" doc:"Lower bound, as GitHub reports no total: items up to this page, plus one if there is a next page."`
		Owner  string        `json:"githubOwner"`
	}
}

// ListGithubImages lists the images of the token's owner.
func (a *Handlers) ListGithubImages(ctx context.Context, sc tenant.Scope,
	in *githubImagesIn) (*githubImagesAnswer, error) {
	_, account, err := a.githubAccount(ctx, sc)
	if err != nil {
		return nil, err
	}
	found, err := a.Catalog.Images(ctx, account, in.Visibility, in.page())
	if err != nil {
		return nil, err
	}
	out := &githubImagesAnswer{}
	out.Body.Images, out.Body.Total, out.Body.Owner = endpoint.Convert(found.Items, showGithubImage), found.Total,
		account.Fields.GithubOwner
	return out, nil
}

type githubTagsIn struct {
	endpoint.OrganizationPath
	GithubPage
	Package string `path:"packageName" doc:"Image name without its owner, with slashes percent-encoded."`
}

type githubTag struct {
	ID        int64      `json:"id"`
	Name      string     `json:"name"`
	Tags      []string   `json:"tags"`
	Digest    string     `json:"digest"`
	CreatedAt *time.Time `json:"createdAt"`
	UpdatedAt *time.Time `json:"updatedAt"`
	URL       string     `json:"htmlUrl,omitempty"`
}

type githubTagsAnswer struct {
	Body struct {
		Package string      `json:"packageName"`
		Tags    []githubTag `json:"tags" doc:"Versions of the image with their tags."`
		Total   int         `json:"totalCount" doc:"Lower bound, as for images."`
		Owner   string      `json:"githubOwner"`
	}
}

// ListGithubImageTags lists the versions of an image with their tags.
func (a *Handlers) ListGithubImageTags(ctx context.Context, sc tenant.Scope,
	in *githubTagsIn) (*githubTagsAnswer, error) {
	image, err := unescaped(in.Package)
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
	out := &githubTagsAnswer{}
	out.Body.Package, out.Body.Total, out.Body.Owner = image, found.Total, account.Fields.GithubOwner
	out.Body.Tags = endpoint.Convert(found.Items, func(t catalog.Tag) githubTag {
		return githubTag{t.ID, t.Name, endpoint.OrEmpty(t.Names), t.Digest, t.CreatedAt, t.UpdatedAt, t.URL}
	})
	return out, nil
}

type githubTokenIn struct {
	endpoint.OrganizationPath
	Package string `query:"packageName" maxLength:"255" doc:"Image that the token grants access to. Default: the first 50 images of the owner."`
}

type githubTokenAnswer struct {
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
	in *githubTokenIn) (*githubTokenAnswer, error) {
	c, account, err := a.githubAccount(ctx, sc)
	if err != nil {
		return nil, err
	}
	var names []string
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
	if err := a.Tenancy.AppendAudit(ctx, []audit.Event{audit.Event{
		Chain: sc.Organization, Action: "registry_credential.exchange", TargetKind: "registry_credential",
		Target: string(c.ID),
		Detail: map[string]any{"kind": c.Kind, "name": c.Name, "images": len(names),
			"until": token.Expires.UTC().Format(time.RFC3339)},
	}.By(sc.Actor)}); err != nil {
		return nil, err
	}
	out := &githubTokenAnswer{}
	out.Body.Token, out.Body.ExpiresAt, out.Body.User = token.Text, token.Expires, account.Fields.GithubUsername
	out.Body.Registry, out.Body.Owner = account.Registry(), account.Fields.GithubOwner
	return out, nil
}

type startGithubScanIn struct {
	ProjectID string `path:"projectId" format:"uuid"`
	Body      RegistryScanOptions
}

// StartGithubScan starts a scan of a public image of the owner that the token is for.
func (a *Handlers) StartGithubScan(ctx context.Context, sc tenant.Scope,
	in *startGithubScanIn) (*startContainerScanOut, error) {
	c, account, err := a.githubAccount(ctx, sc)
	if err != nil {
		return nil, err
	}
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
	if reason := notPublic(*found); reason != "" {
		return nil, errs.E(errs.Forbidden, "%s", reason)
	}
	r, err := a.scanWith(ctx, sc, registryScan{account, string(c.ID), &in.Body})
	if err != nil {
		return nil, err
	}
	return startedContainerScan(r), nil
}
