package registries

import (
	"context"
	"errors"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"merlon/internal/api/endpoint"
	"merlon/internal/errs"
	"merlon/internal/registry/catalog"
	"merlon/internal/registry/credential"
	"merlon/internal/tenant"
)

// This file holds the credentials for registries of images: an organization
// stores them, its projects are linked to them and see what the registry holds.

// Credentials is what the API needs of the store for them.
type Credentials interface {
	// SaveCredential replaces the secret of the credential with the same kind and name, or
	// creates one.
	SaveCredential(ctx context.Context, sc tenant.Scope, c credential.Credential) (credential.Credential, error)
	// Credentials lists the credentials of a kind, or with an empty kind of all kinds: in a
	// project's scope those linked to it, else those of the organization.
	Credentials(ctx context.Context, sc tenant.Scope, k credential.Kind) ([]credential.Credential, error)
	// Credential returns one of them, or a NotFound error.
	Credential(ctx context.Context, sc tenant.Scope, k credential.Kind, id credential.ID) (credential.Credential, error)
	DeleteCredential(ctx context.Context, sc tenant.Scope, k credential.Kind, id credential.ID) error
	// SetCredentialProjects replaces the links, and returns those that were stored.
	SetCredentialProjects(ctx context.Context, sc tenant.Scope, k credential.Kind, id credential.ID,
		projects []tenant.ProjectID) ([]tenant.ProjectID, error)
}

// Catalog asks registries.
type Catalog interface {
	// Check signs in to the registry, and completes the fields that only it knows.
	Check(ctx context.Context, a *credential.Account) error
	// Groups lists what a registry keeps images in: projects, repositories or namespaces.
	Groups(ctx context.Context, a *credential.Account, p catalog.Page) (*catalog.List[catalog.Group], error)
	// Images lists the images of a group; of the credential's own when group is empty.
	Images(ctx context.Context, a *credential.Account, group string,
		p catalog.Page) (*catalog.List[catalog.Image], error)
	// Tags lists the tags of an image.
	Tags(ctx context.Context, a *credential.Account, group, image string,
		p catalog.Page) (*catalog.List[catalog.Tag], error)
	// Package returns one image of GitHub's registry with its visibility.
	Package(ctx context.Context, a *credential.Account, image string) (*catalog.Image, error)
	// PullToken exchanges the account for a token that pulls the images for a short time.
	PullToken(ctx context.Context, a *credential.Account, images []string, now time.Time) (*catalog.PullToken, error)
}

// credentialBody is a credential as responses show it: never the secret.
type credentialBody struct {
	ID string `json:"id" format:"uuid"`
	credential.Fields
	Description string    `json:"description"`
	CreatedAt   time.Time `json:"createdAt"`
}

// showCredential returns the credential without its secret.
func showCredential(c credential.Credential) credentialBody {
	return credentialBody{ID: string(c.ID), Fields: c.Fields, Description: c.Description, CreatedAt: c.CreatedAt}
}

// credentialOutput is one credential.
type credentialOutput struct{ Body credentialBody }

// storeCredentialInput is a credential of any kind but Amazon's and GitHub's.
type storeCredentialInput struct {
	endpoint.OrganizationInput
	Body struct {
		ProjectID string `json:"projectId" format:"uuid" doc:"ID of a project in the organization that may use the credential."`
		credential.Fields
		credential.Secrets
		Description string `json:"description,omitempty" maxLength:"1000"`
	}
}

// StoreCredential checks a credential against the registry and stores it.
func (a *Handlers) StoreCredential(ctx context.Context, sc tenant.Scope, k credential.Kind,
	in *storeCredentialInput) (*credentialOutput, error) {
	b := &in.Body
	c, err := a.saveCredential(ctx, sc, stored{kind: k, fields: b.Fields, secrets: b.Secrets,
		description: b.Description, projects: []string{b.ProjectID}})
	if err != nil {
		return nil, err
	}
	return &credentialOutput{showCredential(c)}, nil
}

// stored is what a request wants to be stored.
type stored struct {
	kind        credential.Kind
	fields      credential.Fields
	secrets     credential.Secrets
	description string
	projects    []string
	id          string // of the credential that gets the secret; empty: the one of the same name, or a new one
	title       string // what people call it; of Amazon's alone
}

// saveCredential checks the credential against the registry, seals its secret and stores it. The check
// comes first: a credential that never worked is not stored.
func (a *Handlers) saveCredential(ctx context.Context, sc tenant.Scope, s stored) (credential.Credential, error) {
	account, err := credential.NewAccount(s.kind, s.fields, s.secrets)
	if err != nil {
		return credential.Credential{}, err
	}
	// Only Amazon's credentials have a title: an account and region may have several.
	if account.Title = strings.TrimSpace(s.title); account.Title == "" && s.kind == credential.Amazon {
		return credential.Credential{}, errs.E(errs.Invalid, "name is required")
	}
	// Before the registry is asked: assuming another organization's role would be the attack.
	if err := a.checkRole(sc, account); err != nil {
		return credential.Credential{}, err
	}
	if len(s.projects) == 1 { // the only one must be there before anything is asked or stored
		if _, err := a.Scopes.Scope(ctx, sc.Actor,
			tenant.Target{Organization: sc.Organization, Project: tenant.ProjectID(s.projects[0])}); err != nil {
			return credential.Credential{}, err
		}
	}
	if err := a.Catalog.Check(ctx, account); err != nil {
		return credential.Credential{}, err
	}
	// The label binds the ciphertext to organization, kind and name: a row that is copied to
	// another organization cannot be opened there.
	sealed := a.Box.Seal([]byte(account.Secret), credential.Label(sc.Organization, s.kind, account.Name()))
	return a.Credentials.SaveCredential(ctx, sc, credential.Credential{
		ID: credential.ID(s.id), Kind: s.kind, Name: account.Name(), Fields: account.Fields, Sealed: sealed,
		Description: s.description,
		Projects:    endpoint.Convert(s.projects, func(id string) tenant.ProjectID { return tenant.ProjectID(id) }),
	})
}

// CredentialPath names a credential.
type CredentialPath struct {
	CredentialID string `path:"credentialId" format:"uuid"`
}

// organizationCredentialInput names a credential of an organization.
type organizationCredentialInput struct {
	endpoint.OrganizationInput
	CredentialPath
}

// DeleteCredential deletes a credential of an organization.
func (a *Handlers) DeleteCredential(ctx context.Context, sc tenant.Scope, k credential.Kind,
	in *organizationCredentialInput) (*struct{}, error) {
	return nil, a.Credentials.DeleteCredential(ctx, sc, k, credential.ID(in.CredentialID))
}

// projectPathInput names a project.
type projectPathInput struct {
	ProjectID string `path:"projectId" format:"uuid"`
}

// credentialsOutput is a list of credentials.
type credentialsOutput struct{ Body []credentialBody }

// ListCredentials lists the credentials of one kind that a project may use.
func (a *Handlers) ListCredentials(ctx context.Context, sc tenant.Scope, k credential.Kind,
	_ *projectPathInput) (*credentialsOutput, error) {
	list, err := a.Credentials.Credentials(ctx, sc, k)
	if err != nil {
		return nil, err
	}
	return &credentialsOutput{endpoint.Convert(list, showCredential)}, nil
}

// projectCredentialInput names a credential that a project uses.
type projectCredentialInput struct {
	ProjectID string `path:"projectId" format:"uuid"`
	CredentialPath
}

// GetCredential responds with a credential of a project, without its secret.
func (a *Handlers) GetCredential(ctx context.Context, sc tenant.Scope, k credential.Kind,
	in *projectCredentialInput) (*credentialOutput, error) {
	c, err := a.Credentials.Credential(ctx, sc, k, credential.ID(in.CredentialID))
	if err != nil {
		return nil, err
	}
	return &credentialOutput{showCredential(c)}, nil
}

// openAccount opens a credential that the scope's project may use.
func (a *Handlers) openAccount(ctx context.Context, sc tenant.Scope, k credential.Kind,
	id string) (*credential.Account, error) {
	c, err := a.Credentials.Credential(ctx, sc, k, credential.ID(id))
	if err != nil {
		return nil, err
	}
	return c.Open(a.Box)
}

// A registryQuery is a question for a page of what a registry holds.
type registryQuery interface {
	// credential is the ID of the credential that is used.
	credential() string
	// group is the part of the registry; empty for the one that the credential names.
	group() string
	// image is the decoded name; empty where images are listed.
	image() (string, error)
	// page is the page with its size inside the limits.
	page() catalog.Page
}

// CredentialQueryInput names the credential behind the question mark.
type CredentialQueryInput struct {
	ProjectID    string `path:"projectId" format:"uuid"`
	CredentialID string `query:"credentialId" required:"true" format:"uuid"`
	CatalogPage
}

func (q CredentialQueryInput) credential() string     { return q.CredentialID }
func (q CredentialQueryInput) group() string          { return "" }
func (q CredentialQueryInput) image() (string, error) { return "", nil }

// A CatalogPage selects a page of what a registry lists.
type CatalogPage struct{ endpoint.ClampedPage }

func (p CatalogPage) page() catalog.Page {
	number, size := p.Get()
	return catalog.Page{Number: number, Size: size}
}

// RepositoryIDInput selects a repository whose path parameter is named repositoryId.
type RepositoryIDInput struct {
	CredentialQueryInput
	Image string `path:"repositoryId" doc:"ID or name of the repository, with slashes percent-encoded."`
}

func (q RepositoryIDInput) image() (string, error) { return unescapeName(q.Image) }

// RepositoryNameInput selects a repository whose path parameter is named repositoryName.
type RepositoryNameInput struct {
	CredentialQueryInput
	Image string `path:"repositoryName" doc:"Repository name, with slashes percent-encoded."`
}

func (q RepositoryNameInput) image() (string, error) { return unescapeName(q.Image) }

// RegistryInput names the credential in the path. Each kind of registry that is asked so has
// its own word for what it keeps images in.
type RegistryInput struct {
	ProjectID string `path:"projectId" format:"uuid"`
	CredentialPath
	CatalogPage
}

func (q RegistryInput) credential() string     { return q.CredentialID }
func (q RegistryInput) image() (string, error) { return "", nil }

// HarborProjectInput asks for a project's part of what the registry holds.
type HarborProjectInput struct {
	RegistryInput
	Project string `query:"harborProject" doc:"Project of the registry. Default: that of the credential."`
}

func (q HarborProjectInput) group() string { return q.Project }

// HarborRepositoryInput selects a repository of a Harbor project.
type HarborRepositoryInput struct {
	HarborProjectInput
	Image string `path:"repository" doc:"Repository name, with slashes percent-encoded."`
}

func (q HarborRepositoryInput) image() (string, error) { return unescapeName(q.Image) }

// unescapeName is a name that stood in one segment of an address.
func unescapeName(text string) (string, error) {
	name, err := url.PathUnescape(text)
	if err != nil {
		return "", errs.E(errs.Invalid, "invalid percent-encoding of the image name")
	}
	return name, nil
}

// registryGroupsOutput is a page of the groups of a registry.
type registryGroupsOutput struct {
	Body struct {
		Projects   []catalog.Group `json:"projects"`
		TotalCount int             `json:"totalCount"`
		Page       int             `json:"page"`
		PageSize   int             `json:"pageSize"`
	}
}

// ListRegistryGroups lists the projects of a Harbor registry.
func (a *Handlers) ListRegistryGroups(ctx context.Context, sc tenant.Scope, k credential.Kind,
	in *RegistryInput) (*registryGroupsOutput, error) {
	account, err := a.openAccount(ctx, sc, k, in.CredentialID)
	if err != nil {
		return nil, err
	}
	found, err := a.Catalog.Groups(ctx, account, in.page())
	if err != nil {
		return nil, err
	}
	out := &registryGroupsOutput{}
	out.Body.Projects, out.Body.TotalCount = endpoint.OrEmpty(found.Items), found.Total
	out.Body.Page, out.Body.PageSize = in.Get()
	return out, nil
}

// registryImagesOutput is a page of images.
type registryImagesOutput struct {
	Body struct {
		Images     []catalog.Image `json:"images"`
		TotalCount int             `json:"totalCount"`
		Page       int             `json:"page"`
		PageSize   int             `json:"pageSize"`
	}
}

// ListRegistryImages lists the images of a registry. It is a function, because a method cannot
// have type parameters.
func ListRegistryImages[Q registryQuery](a *Handlers, ctx context.Context, sc tenant.Scope, k credential.Kind,
	in Q) (*registryImagesOutput, error) {
	account, err := a.openAccount(ctx, sc, k, in.credential())
	if err != nil {
		return nil, err
	}
	found, err := a.Catalog.Images(ctx, account, in.group(), in.page())
	if err != nil {
		return nil, err
	}
	out := &registryImagesOutput{}
	out.Body.Images, out.Body.TotalCount = endpoint.OrEmpty(found.Items), found.Total
	out.Body.Page, out.Body.PageSize = in.page().Number, in.page().Size
	return out, nil
}

// registryTagsOutput is a page of tags. The name of the image has three members, one for
// each generation of clients.
type registryTagsOutput struct {
	Body struct {
		Repository string        `json:"repository"`
		Name       string        `json:"repositoryName"`
		ImageName  string        `json:"imageName"`
		Tags       []catalog.Tag `json:"tags"`
		TotalCount int           `json:"totalCount"`
		Page       int           `json:"page"`
		PageSize   int           `json:"pageSize"`
	}
}

// ListRegistryTags lists the tags of an image of a registry.
func ListRegistryTags[Q registryQuery](a *Handlers, ctx context.Context, sc tenant.Scope, k credential.Kind,
	in Q) (*registryTagsOutput, error) {
	image, err := in.image()
	if err != nil {
		return nil, err
	}
	account, err := a.openAccount(ctx, sc, k, in.credential())
	if err != nil {
		return nil, err
	}
	found, err := a.Catalog.Tags(ctx, account, in.group(), image, in.page())
	if err != nil {
		return nil, err
	}
	out := &registryTagsOutput{}
	out.Body.Repository, out.Body.Name, out.Body.ImageName = image, image, image
	out.Body.Tags, out.Body.TotalCount = endpoint.OrEmpty(found.Items), found.Total
	out.Body.Page, out.Body.PageSize = in.page().Number, in.page().Size
	return out, nil
}

// organizationCredential is a credential among all of an organization.
type organizationCredential struct {
	ID               string   `json:"id" format:"uuid"`
	ProjectID        string   `json:"projectId" doc:"First linked project; empty if none."`
	LinkedProjectIDs []string `json:"linkedProjectIds"`
	Name             string   `json:"name"`
	RegistryURL      string   `json:"registryUrl"`
	Description      string   `json:"description"`
	CreatedAt        string   `json:"createdAt" format:"date-time"`

	Dockerhub *dockerhubDetails `json:"dockerhubDetails,omitempty"`
	Gitlab    *gitlabDetails    `json:"gitlabDetails,omitempty"`
	Acr       *acrDetails       `json:"acrDetails,omitempty"`
	Gcr       *gcrDetails       `json:"gcrDetails,omitempty"`
	Quay      *quayDetails      `json:"quayDetails,omitempty"`
	Harbor    *harborDetails    `json:"harborDetails,omitempty"`
	Jfrog     *jfrogDetails     `json:"jfrogDetails,omitempty"`
	Scaleway  *scalewayDetails  `json:"scalewayDetails,omitempty"`
	Ecr       *ecrDetails       `json:"ecrDetails,omitempty"`
}

// ecrDetails and the types below are what distinguishes two credentials of one kind for a
// person; none has a secret.
type ecrDetails struct {
	Account string `json:"awsAccountId"`
	Region  string `json:"region"`
}

type dockerhubDetails struct {
	Username string `json:"dockerhubUsername"`
}

type gitlabDetails struct {
	URL  string `json:"gitlabUrl"`
	Path string `json:"registryPath"`
}

type acrDetails struct {
	SubscriptionID string `json:"subscriptionId"`
	ResourceGroup  string `json:"resourceGroup"`
	Name           string `json:"registryName"`
}

type gcrDetails struct {
	ProjectID string `json:"projectId"`
	Location  string `json:"location"`
}

type quayDetails struct {
	Organization string `json:"quayOrganization"`
	SelfHosted   bool   `json:"isSelfHosted"`
}

type harborDetails struct {
	Project string `json:"harborProject"`
}

type scalewayDetails struct {
	Region    string `json:"region"`
	Namespace string `json:"namespaceId"`
}

type jfrogDetails struct {
	URL string `json:"artifactoryUrl"`
	Key string `json:"repositoryKey"`
}

// showOrganizationCredential returns the credential with the details of its kind.
func showOrganizationCredential(c credential.Credential) organizationCredential {
	account := credential.Account{Kind: c.Kind, Fields: c.Fields}
	out := organizationCredential{
		ID: string(c.ID), LinkedProjectIDs: endpoint.Convert(c.Projects, func(p tenant.ProjectID) string {
			return string(p)
		}),
		Name: c.Title(), RegistryURL: account.Registry(), Description: c.Description,
		CreatedAt: c.CreatedAt.UTC().Format(time.RFC3339),
	}
	if len(c.Projects) > 0 {
		out.ProjectID = string(c.Projects[0])
	}
	f := &c.Fields
	switch c.Kind {
	case credential.DockerHub:
		out.Dockerhub = &dockerhubDetails{f.DockerhubUsername}
	case credential.GitLab:
		out.Gitlab = &gitlabDetails{f.RegistryURL, f.ProjectPath}
	case credential.Azure:
		// A login server is NAME.azurecr.io; subscription and resource group are not known.
		name, _, _ := strings.Cut(credential.Host(f.ACRLoginServer), ".")
		out.Acr = &acrDetails{Name: name}
	case credential.Google:
		out.Gcr = &gcrDetails{f.GCPProjectID, f.RegistryHostname}
	case credential.Quay:
		out.Quay = &quayDetails{f.QuayNamespace, credential.Host(f.QuayHost) != "quay.io"}
	case credential.Harbor:
		out.Harbor = &harborDetails{f.HarborProject}
	case credential.JFrog:
		out.Jfrog = &jfrogDetails{f.JfrogURL, f.RepositoryKey}
	case credential.Scaleway:
		out.Scaleway = &scalewayDetails{f.Region, f.NamespaceID}
	case credential.Amazon:
		out.Ecr = &ecrDetails{f.AWSAccountID, f.AWSRegion}
	}
	return out
}

// organizationCredentials are those of an organization by kind.
type organizationCredentials struct {
	Github struct {
		// GitHub has one token per organization and therefore no list.
		Available bool   `json:"available"`
		Owner     string `json:"githubOwner"`
	} `json:"github"`
	Gitlab    []organizationCredential `json:"gitlab"`
	Dockerhub []organizationCredential `json:"dockerhub"`
	Acr       []organizationCredential `json:"acr"`
	Gcr       []organizationCredential `json:"gcr"`
	Ecr       []organizationCredential `json:"ecr"`
	Quay      []organizationCredential `json:"quay"`
	Harbor    []organizationCredential `json:"harbor"`
	Jfrog     []organizationCredential `json:"jfrog"`
	Scaleway  []organizationCredential `json:"scaleway"`
}

// organizationCredentialsOutput has the credentials of all kinds.
type organizationCredentialsOutput struct{ Body organizationCredentials }

// ListRegistryCredentials lists the credentials of an organization by registry type.
func (a *Handlers) ListRegistryCredentials(ctx context.Context, sc tenant.Scope,
	_ *endpoint.OrganizationInput) (*organizationCredentialsOutput, error) {
	// One query for all kinds, then split: an organization has tens of them, not thousands.
	all, err := a.Credentials.Credentials(ctx, sc, "")
	if err != nil {
		return nil, err
	}
	of := func(k credential.Kind) []organizationCredential {
		return endpoint.Convert(slices.DeleteFunc(slices.Clone(all), func(c credential.Credential) bool {
			return c.Kind != k
		}),
			showOrganizationCredential)
	}
	out := &organizationCredentialsOutput{organizationCredentials{
		Gitlab: of(credential.GitLab), Dockerhub: of(credential.DockerHub), Acr: of(credential.Azure),
		Gcr:  of(credential.Google),
		Quay: of(credential.Quay), Harbor: of(credential.Harbor), Ecr: of(credential.Amazon),
		Jfrog: of(credential.JFrog), Scaleway: of(credential.Scaleway),
	}}
	if i := slices.IndexFunc(all, func(c credential.Credential) bool { return c.Kind == credential.GitHub }); i >= 0 {
		out.Body.Github.Available, out.Body.Github.Owner = true, all[i].Fields.GithubOwner
	}
	return out, nil
}

// CredentialLinksInput names a credential among all kinds.
type CredentialLinksInput struct {
	endpoint.OrganizationInput
	Kind credential.Kind `path:"registryType" enum:"gcr,acr,dockerhub,gitlab,quay,harbor,jfrog,scaleway,ecr"`
	CredentialPath
}

// credentialProjectsOutput has the IDs of the linked projects.
type credentialProjectsOutput struct {
	Body struct {
		ProjectIDs []string `json:"projectIds"`
	}
}

// showLinks returns the projects that may use a credential.
func showLinks(list []tenant.ProjectID) *credentialProjectsOutput {
	out := &credentialProjectsOutput{}
	out.Body.ProjectIDs = endpoint.Convert(list, func(p tenant.ProjectID) string { return string(p) })
	return out
}

// ListCredentialProjects lists the projects that may use a credential.
func (a *Handlers) ListCredentialProjects(ctx context.Context, sc tenant.Scope,
	in *CredentialLinksInput) (*credentialProjectsOutput, error) {
	c, err := a.Credentials.Credential(ctx, sc, in.Kind, credential.ID(in.CredentialID))
	if err != nil {
		return nil, err
	}
	return showLinks(c.Projects), nil
}

// setCredentialProjectsInput names a credential and its new links.
type setCredentialProjectsInput struct {
	CredentialLinksInput
	Body linksBody
}

// linksBody is the complete list of projects that may use a credential.
type linksBody struct {
	ProjectIDs []string `json:"projectIds,omitempty" nullable:"true" maxItems:"1000" doc:"IDs of all projects that may use the credential. Required; may be empty."`
}

// SetCredentialProjects replaces the projects that may use a credential.
func (a *Handlers) SetCredentialProjects(ctx context.Context, sc tenant.Scope,
	in *setCredentialProjectsInput) (*credentialProjectsOutput, error) {
	c, err := a.Credentials.Credential(ctx, sc, in.Kind, credential.ID(in.CredentialID))
	if err != nil {
		return nil, err
	}
	// A missing list is most likely a mistake, and would unlink all projects.
	if in.Body.ProjectIDs == nil {
		return nil, errs.E(errs.Invalid, "projectIds is required")
	}
	ids, bad := projectIDs(in.Body.ProjectIDs)
	if bad != "" {
		return nil, errs.E(errs.Invalid, "invalid project ID %q: must be a UUID", bad)
	}
	linked, err := a.Credentials.SetCredentialProjects(ctx, sc, in.Kind, c.ID, ids)
	if err != nil {
		return nil, err
	}
	return showLinks(linked), nil
}

// projectIDs reads identifiers; bad is the first that is none.
func projectIDs(list []string) (ids []tenant.ProjectID, bad string) {
	ids = []tenant.ProjectID{}
	for _, text := range list {
		if _, err := uuid.Parse(text); err != nil {
			return nil, text
		}
		ids = append(ids, tenant.ProjectID(text))
	}
	return ids, ""
}

// bulkApplyInput is a credential and the projects that may use it.
type bulkApplyInput struct {
	endpoint.OrganizationInput
	Body struct {
		RegistryType credential.Kind `json:"registryType" enum:"gcr,acr,dockerhub,gitlab,quay,harbor,jfrog,scaleway,ecr"`
		ProjectIDs   []string        `json:"projectIds" maxItems:"1000"`
		Name         string          `json:"name" maxLength:"255"`
		Description  string          `json:"description,omitempty" maxLength:"1000"`
		credential.Fields
		credential.Secrets
	}
}

// bulkApplyOutput reports the projects that were skipped, instead of failing for all.
type bulkApplyOutput struct {
	Body struct {
		CredentialID string   `json:"credentialId" format:"uuid"`
		Applied      []string `json:"applied" doc:"IDs of the projects that may now use the credential."`
		Skipped      []string `json:"skipped" doc:"IDs of projects that do not exist or belong to another organization."`
	}
}

// ApplyCredential stores a credential for several projects at once.
func (a *Handlers) ApplyCredential(ctx context.Context, sc tenant.Scope, in *bulkApplyInput) (*bulkApplyOutput, error) {
	b := &in.Body
	if len(b.ProjectIDs) == 0 {
		return nil, errs.E(errs.Invalid, "projectIds must not be empty")
	}
	var known []string
	for _, id := range b.ProjectIDs {
		if _, bad := projectIDs([]string{id}); bad != "" {
			continue
		}
		_, err := a.Scopes.Scope(ctx, sc.Actor,
			tenant.Target{Organization: sc.Organization, Project: tenant.ProjectID(id)})
		var refused *errs.Error
		// A project of another organization is skipped in the same way as one that does not exist.
		if errors.As(err, &refused) {
			continue
		}
		if err != nil {
			return nil, err
		}
		known = append(known, id)
	}
	if len(known) == 0 {
		return nil, errs.E(errs.Invalid, "none of the projects belongs to the organization")
	}
	c, err := a.saveCredential(ctx, sc, stored{kind: b.RegistryType, fields: b.Fields, secrets: b.Secrets,
		description: b.Description, projects: known, title: b.Name})
	if err != nil {
		return nil, err
	}
	out := &bulkApplyOutput{}
	out.Body.CredentialID, out.Body.Applied, out.Body.Skipped = string(c.ID), showLinks(c.Projects).Body.ProjectIDs,
		[]string{}
	for _, id := range b.ProjectIDs {
		if !slices.Contains(out.Body.Applied, id) {
			out.Body.Skipped = append(out.Body.Skipped, id)
		}
	}
	return out, nil
}

// OfKind binds a handler to one kind of registry.
func OfKind[I, O any](k credential.Kind,
	h func(context.Context, tenant.Scope, credential.Kind, *I) (*O, error),
) func(context.Context, tenant.Scope, *I) (*O, error) {
	return func(ctx context.Context, sc tenant.Scope, in *I) (*O, error) { return h(ctx, sc, k, in) }
}

// OfQuery binds a handler that takes its query by value to one kind of registry.
func OfQuery[Q registryQuery, O any](a *Handlers, k credential.Kind,
	h func(*Handlers, context.Context, tenant.Scope, credential.Kind, Q) (*O, error),
) func(context.Context, tenant.Scope, *Q) (*O, error) {
	return func(ctx context.Context, sc tenant.Scope, in *Q) (*O, error) { return h(a, ctx, sc, k, *in) }
}
