package registries

import (
	"context"
	"time"

	"merlon/internal/api/endpoint"
	"merlon/internal/errs"
	"merlon/internal/registry/aws"
	"merlon/internal/registry/catalog"
	"merlon/internal/registry/credential"
	"merlon/internal/tenant"
)

// This file serves the operations on Amazon's registry, whose credentials have names, may be
// roles that the service assumes, and whose lists go on at a token.

// ecrCredential is a credential for ECR without its secret.
type ecrCredential struct {
	ID          string    `json:"id" format:"uuid"`
	Account     string    `json:"awsAccountId"`
	Region      string    `json:"awsRegion"`
	KeyID       string    `json:"awsAccessKeyId,omitempty"`
	Type        string    `json:"credentialType"`
	RoleARN     string    `json:"roleArn,omitempty"`
	Description string    `json:"description"`
	CreatedAt   time.Time `json:"createdAt"`
}

// showEcr returns the credential as responses show it.
func showEcr(c credential.Credential) ecrCredential {
	f := &c.Fields
	return ecrCredential{string(c.ID), f.AWSAccountID, f.AWSRegion, f.AWSAccessKeyID, f.CredentialType, f.RoleARN,
		c.Description, c.CreatedAt}
}

// storeEcrInput is a credential for ECR: access keys, or a role that the service assumes.
type storeEcrInput struct {
	endpoint.OrganizationInput
	Body struct {
		Name         string `json:"name" minLength:"1" maxLength:"255" doc:"Name, unique per registry in the organization. Storing a credential with an existing name and registry replaces its secret."`
		CredentialID string `json:"credentialId,omitempty" format:"uuid" doc:"ID of the credential to update. It must belong to the same registry."`
		ProjectID    string `json:"projectId,omitempty" format:"uuid" doc:"ID of a project in the organization that may use the credential."`
		Type         string `json:"credentialType,omitempty" enum:"static_keys,iam_role" default:"static_keys"`
		Account      string `json:"awsAccountId,omitempty" pattern:"^[0-9]{12}$" doc:"AWS account ID. Default: the account of the keys or role; must match it."`
		Region       string `json:"awsRegion" maxLength:"30"`
		KeyID        string `json:"awsAccessKeyId,omitempty" maxLength:"128"`
		Secret       string `json:"awsSecretAccessKey,omitempty" maxLength:"10000"`
		RoleARN      string `json:"roleArn,omitempty" maxLength:"600"`
		ExternalID   string `json:"externalId,omitempty" maxLength:"1224" doc:"External ID from the prepare-iam-role response."`
		Description  string `json:"description,omitempty" maxLength:"1000"`
	}
}

// ecrCredentialOutput is one credential.
type ecrCredentialOutput struct{ Body ecrCredential }

// StoreEcrCredential verifies a credential for Amazon ECR against the registry and stores it.
func (a *Handlers) StoreEcrCredential(ctx context.Context, sc tenant.Scope, k credential.Kind,
	in *storeEcrInput) (*ecrCredentialOutput, error) {
	b := &in.Body
	s := stored{
		kind: k, id: b.CredentialID, title: b.Name, description: b.Description,
		fields: credential.Fields{CredentialType: b.Type, AWSAccountID: b.Account, AWSRegion: b.Region,
			AWSAccessKeyID: b.KeyID, RoleARN: b.RoleARN},
		secrets: credential.Secrets{AWSSecretAccessKey: b.Secret, ExternalID: b.ExternalID},
	}
	if b.ProjectID != "" {
		s.projects = []string{b.ProjectID}
	}
	if b.CredentialID != "" {
		// A credential keeps its registry: projects that are linked to it would otherwise scan
		// images of another account from one day to the next.
		old, err := a.Credentials.Credential(ctx, sc, k, credential.ID(b.CredentialID))
		if err != nil {
			return nil, err
		}
		if account := old.Fields.AWSAccountID; old.Fields.AWSRegion != b.Region || b.Account != "" &&
			b.Account != account {
			return nil, errs.E(errs.Invalid, "the credential belongs to the registry of account %s in region %s: "+
				"create a new credential for another registry", account, old.Fields.AWSRegion)
		}
		s.fields.AWSAccountID = old.Fields.AWSAccountID // the registry is asked whether it still is
	}
	c, err := a.saveCredential(ctx, sc, s)
	if err != nil {
		return nil, err
	}
	return &ecrCredentialOutput{showEcr(c)}, nil
}

// externalIDs is what the key for external identifiers is derived for.
const externalIDs = "AWS external IDs"

// checkRole refuses a role with an external identifier that was not made for the
// scope's organization: it is another's role then.
func (a *Handlers) checkRole(sc tenant.Scope, account *credential.Account) error {
	if account.Kind != credential.Amazon || account.Fields.CredentialType != credential.Role ||
		aws.IsExternalID(a.Box.Derive(externalIDs), string(sc.Organization), account.Secret) {
		return nil
	}
	return errs.E(errs.Invalid, "invalid externalId: not issued to this organization; get one from prepare-iam-role "+
		"and use its trust policy")
}

// prepareEcrRoleInput selects the region, whose partition the role must be in.
type prepareEcrRoleInput struct {
	endpoint.OrganizationInput
	Body struct {
		ProjectID string `json:"projectId,omitempty" format:"uuid"`
		Region    string `json:"awsRegion" maxLength:"30"`
	}
}

// prepareEcrRoleOutput has the policies of the role. The external ID in the trust policy prevents the
// confused deputy: another organization cannot make the service assume this role.
type prepareEcrRoleOutput struct {
	Body struct {
		ExternalID  string `json:"externalId" doc:"External ID, unique to the organization and new on each call."`
		Principal   string `json:"trustedPrincipalArn" doc:"ARN of the service, which assumes the role."`
		Trust       string `json:"trustPolicyJson"`
		Permissions string `json:"permissionPolicyJson"`
	}
}

// PrepareEcrRole says how to make a role that the service may assume.
func (a *Handlers) PrepareEcrRole(ctx context.Context, sc tenant.Scope,
	in *prepareEcrRoleInput) (*prepareEcrRoleOutput, error) {
	region, err := aws.ParseRegion(in.Body.Region)
	if err != nil {
		return nil, err
	}
	if in.Body.ProjectID != "" {
		if _, err := a.Scopes.Scope(ctx, sc.Actor,
			tenant.Target{Organization: sc.Organization, Project: tenant.ProjectID(in.Body.ProjectID)}); err != nil {
			return nil, err
		}
	}
	if a.AWSPrincipal == "" {
		e := errs.E(errs.Invalid, "IAM roles are not available: the deployment has no AWS principal (setting "+
			"aws-principal-arn). Use access keys instead")
		e.Code = "not_configured"
		return nil, e
	}
	principal, err := aws.ParsePrincipal(a.AWSPrincipal)
	if err != nil {
		return nil, err
	}
	// Partitions such as aws-cn and aws-us-gov have separate accounts; no role crosses them.
	if principal.Partition != region.Partition {
		return nil, errs.E(errs.Invalid, "cannot assume roles across AWS partitions: the deployment is in %s, the "+
			"region in %s", principal.Partition, region.Partition)
	}
	out := &prepareEcrRoleOutput{}
	b := &out.Body
	b.ExternalID, b.Principal = aws.NewExternalID(a.Box.Derive(externalIDs), string(sc.Organization)), principal.ARN
	b.Trust, b.Permissions = aws.TrustPolicy(principal, b.ExternalID), aws.PullPolicy(region, "")
	return out, nil
}

// ecrOrganizationCredential is an element of the list of an organization.
type ecrOrganizationCredential struct {
	ID          string    `json:"id" format:"uuid"`
	Name        string    `json:"name"`
	Account     string    `json:"awsAccountId"`
	Region      string    `json:"awsRegion"`
	Registry    string    `json:"registryUrl"`
	Type        string    `json:"credentialType"`
	Description string    `json:"description"`
	CreatedAt   time.Time `json:"createdAt"`
	Projects    int       `json:"linkedProjectCount"`
}

// ecrOrganizationCredentialsOutput has the credentials with the number of their projects.
type ecrOrganizationCredentialsOutput struct{ Body []ecrOrganizationCredential }

// ListEcrOrganizationCredentials lists the ECR credentials of an organization.
func (a *Handlers) ListEcrOrganizationCredentials(ctx context.Context, sc tenant.Scope, k credential.Kind,
	_ *endpoint.OrganizationInput) (*ecrOrganizationCredentialsOutput, error) {
	found, err := a.Credentials.Credentials(ctx, sc, k)
	if err != nil {
		return nil, err
	}
	return &ecrOrganizationCredentialsOutput{endpoint.Convert(found,
		func(c credential.Credential) ecrOrganizationCredential {
			f := &c.Fields
			return ecrOrganizationCredential{string(c.ID), c.Title(), f.AWSAccountID, f.AWSRegion,
				c.Account("").Registry(),
				f.CredentialType,
				c.Description, c.CreatedAt, len(c.Projects)}
		})}, nil
}

// ListEcrCredentialProjects lists the projects that may use an ECR credential.
func (a *Handlers) ListEcrCredentialProjects(ctx context.Context, sc tenant.Scope,
	in *organizationCredentialInput) (*credentialProjectsOutput, error) {
	return a.ListCredentialProjects(ctx, sc, &CredentialLinksInput{in.OrganizationInput, credential.Amazon,
		in.CredentialPath})
}

// setEcrCredentialProjectsInput is setCredentialProjectsInput without a registry type.
type setEcrCredentialProjectsInput struct {
	endpoint.OrganizationInput
	CredentialPath
	Body linksBody
}

// SetEcrCredentialProjects replaces the projects that may use an ECR credential.
func (a *Handlers) SetEcrCredentialProjects(ctx context.Context, sc tenant.Scope,
	in *setEcrCredentialProjectsInput) (*credentialProjectsOutput, error) {
	return a.SetCredentialProjects(ctx, sc,
		&setCredentialProjectsInput{CredentialLinksInput{in.OrganizationInput, credential.Amazon, in.CredentialPath},
			in.Body})
}

// GetEcrCredential responds with an ECR credential of a project, without its secret.
func (a *Handlers) GetEcrCredential(ctx context.Context, sc tenant.Scope, k credential.Kind,
	in *projectCredentialInput) (*ecrCredentialOutput, error) {
	c, err := a.Credentials.Credential(ctx, sc, k, credential.ID(in.CredentialID))
	if err != nil {
		return nil, err
	}
	return &ecrCredentialOutput{showEcr(c)}, nil
}

// ecrListItem is an element of the list of a project.
type ecrListItem struct {
	ID          string    `json:"id" format:"uuid"`
	Account     string    `json:"awsAccountId"`
	Region      string    `json:"awsRegion"`
	Description string    `json:"description"`
	CreatedAt   time.Time `json:"createdAt"`
}

// ecrCredentialsOutput has the credentials of a project.
type ecrCredentialsOutput struct{ Body []ecrListItem }

// ListEcrCredentials lists the ECR credentials that a project may use.
func (a *Handlers) ListEcrCredentials(ctx context.Context, sc tenant.Scope, k credential.Kind,
	_ *projectPathInput) (*ecrCredentialsOutput, error) {
	found, err := a.Credentials.Credentials(ctx, sc, k)
	if err != nil {
		return nil, err
	}
	return &ecrCredentialsOutput{endpoint.Convert(found, func(c credential.Credential) ecrListItem {
		return ecrListItem{string(c.ID), c.Fields.AWSAccountID, c.Fields.AWSRegion, c.Description, c.CreatedAt}
	})}, nil
}

// EcrPageInput asks for a part of a list that goes on where a token says.
type EcrPageInput struct {
	ProjectID    string `path:"projectId" format:"uuid"`
	CredentialID string `query:"credentialId" required:"true" format:"uuid"`
	Max          int    `query:"maxResults" doc:"Page size, at most 100. Default: 50."`
	Next         string `query:"nextToken" maxLength:"4096" doc:"Continuation token of the previous response."`
}

// page returns the part behind the token. ECR has no page numbers: Number is always 1.
func (q EcrPageInput) page() catalog.Page {
	size := q.Max
	if size == 0 {
		size = 50
	}
	return catalog.Page{Number: 1, Size: min(max(size, 1), endpoint.MaxPageSize), From: q.Next}
}

// ecrImage is a repository of the registry.
type ecrImage struct {
	Name       string     `json:"name"`
	Repository string     `json:"repositoryName"`
	URI        string     `json:"repositoryUri"`
	CreatedAt  *time.Time `json:"createdAt,omitempty"`
}

// ecrImagesOutput is a part of the repositories; Next is empty in the last one.
type ecrImagesOutput struct {
	Body struct {
		Images []ecrImage `json:"images"`
		Next   string     `json:"nextToken,omitempty"`
	}
}

// ListEcrImages lists repositories of an ECR registry.
func (a *Handlers) ListEcrImages(ctx context.Context, sc tenant.Scope, k credential.Kind,
	in *EcrPageInput) (*ecrImagesOutput, error) {
	account, err := a.openAccount(ctx, sc, k, in.CredentialID)
	if err != nil {
		return nil, err
	}
	found, err := a.Catalog.Images(ctx, account, "", in.page())
	if err != nil {
		return nil, err
	}
	out := &ecrImagesOutput{}
	out.Body.Next = found.Next
	out.Body.Images = endpoint.Convert(found.Items, func(i catalog.Image) ecrImage {
		return ecrImage{i.Name, i.RepositoryName, i.Path, i.CreatedAt}
	})
	return out, nil
}

// ecrTagsInput selects a repository.
type ecrTagsInput struct {
	EcrPageInput
	Image string `path:"repositoryId" doc:"Repository name, with slashes percent-encoded."`
}

// ecrTagsOutput is a part of the tags of a repository.
type ecrTagsOutput struct {
	Body struct {
		Name string        `json:"repositoryName"`
		Tags []catalog.Tag `json:"tags"`
		Next string        `json:"nextToken,omitempty"`
	}
}

// ListEcrTags lists the tags of a repository of an ECR registry.
func (a *Handlers) ListEcrTags(ctx context.Context, sc tenant.Scope, k credential.Kind,
	in *ecrTagsInput) (*ecrTagsOutput, error) {
	image, err := unescapeName(in.Image)
	if err != nil {
		return nil, err
	}
	account, err := a.openAccount(ctx, sc, k, in.CredentialID)
	if err != nil {
		return nil, err
	}
	found, err := a.Catalog.Tags(ctx, account, "", image, in.page())
	if err != nil {
		return nil, err
	}
	out := &ecrTagsOutput{}
	out.Body.Name, out.Body.Tags, out.Body.Next = image, endpoint.OrEmpty(found.Items), found.Next
	return out, nil
}
