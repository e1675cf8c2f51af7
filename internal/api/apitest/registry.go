package apitest

import (
	"cmp"
	"context"
	"strings"
	"time"

	"merlon/internal/errs"
	"merlon/internal/registry/catalog"
	"merlon/internal/registry/credential"
	"merlon/internal/run"
)

// A Registry stands for every registry of images. It accepts each secret but
// "wrong", and holds one image with one tag.
type Registry struct{}

// Check accepts the account, or not.
func (Registry) Check(_ context.Context, a *credential.Account) error {
	// Tests choose the outcome by the secret.
	if a.Secret == "wrong" {
		return errs.E(errs.Invalid, "%s does not accept the credential", a.Registry())
	}
	if a.Kind == credential.Scaleway {
		a.Fields.NamespaceID = "11111111-2222-4333-8444-555555555555"
	}
	if a.Kind == credential.Amazon && a.Fields.AWSAccountID == "" {
		a.Fields.AWSAccountID = "123456789012"
	}
	if a.Kind == credential.GitHub {
		f := &a.Fields
		f.GithubUsername, f.Scopes, f.ExpiresAt = "ada", []string{"read:packages"}, "2027-01-01T00:00:00Z"
		f.GithubOwner = cmp.Or(f.GithubOwner, f.GithubUsername)
		if strings.Contains(a.Secret, "scopeless") {
			f.Scopes = nil
			return errs.E(errs.Invalid, "the token may not read packages")
		}
	}
	return nil
}

// Groups lists the account's project.
func (Registry) Groups(_ context.Context, a *credential.Account, _ catalog.Page) (*catalog.List[catalog.Group], error) {
	return &catalog.List[catalog.Group]{Items: []catalog.Group{{ProjectID: 1, Name: a.Fields.HarborProject}}, Total: 1},
		nil
}

// Images lists the image, named for the account and its secret, so that a test
// sees which was used.
func (Registry) Images(_ context.Context, a *credential.Account, group string,
	_ catalog.Page) (*catalog.List[catalog.Image], error) {
	visibility := "public"
	if group == "private" {
		visibility = group
	}
	return &catalog.List[catalog.Image]{Items: []catalog.Image{{Name: a.Name() + "/" + group + "/" + a.Secret,
		Visibility: visibility}}, Total: 1, Next: "next"}, nil
}

// Tags lists the tag, named for the image.
func (Registry) Tags(_ context.Context, _ *credential.Account, _, image string,
	p catalog.Page) (*catalog.List[catalog.Tag], error) {
	return &catalog.List[catalog.Tag]{Items: []catalog.Tag{{Name: "of " + image, Size: int64(p.Size),
		Names: []string{"1.0"}}}, Total: 1, Of: "name of " + image, Next: "after " + p.From}, nil
}

// Package returns an image: "app", or one whose name begins with how visible it is.
func (Registry) Package(_ context.Context, _ *credential.Account, image string) (*catalog.Image, error) {
	name := image[strings.LastIndexByte(image, '/')+1:]
	visibility, _, _ := strings.Cut(name, "-")
	switch visibility {
	case "app":
		visibility = "public"
	case "public", "private":
	default:
		return nil, errs.E(errs.NotFound, "there is no such image")
	}
	return &catalog.Image{Name: name, Visibility: visibility}, nil
}

// PullToken returns a token that names the images.
func (Registry) PullToken(_ context.Context, _ *credential.Account, images []string,
	now time.Time) (*catalog.PullToken, error) {
	return &catalog.PullToken{Text: "for " + strings.Join(images, " "), Expires: now.Add(time.Minute)}, nil
}

// Public stands for registries whose only images are called "app".
type Public struct{}

// Search finds one repository, named for the text; "away" stands for a hub that cannot
// be reached.
func (Public) Search(_ context.Context, text string) (*catalog.Found, error) {
	if text == "away" {
		return nil, errs.E(errs.Unavailable, "the hub cannot be searched from here")
	}
	return &catalog.Found{Count: 1, Results: []catalog.Repository{{Name: "library/" + text, Stars: 7, Official: true}}},
		nil
}

// Find returns the image, or the errors of registries.
func (Public) Find(_ context.Context, reference string) (run.Image, error) {
	repository, _, _ := strings.Cut(reference, ":")
	switch {
	case strings.Contains(reference, " "):
		return run.Image{}, errs.E(errs.Invalid, "%q is not the name of an image", reference)
	case repository != "app":
		return run.Image{}, errs.E(errs.NotFound, "there is no image %s", reference)
	}
	return run.Image{Reference: "docker.io/library/" + reference, Repository: "docker.io/library/" + repository}, nil
}

// FindPrivate does the same as an account whose secret is not "revoked".
func (p Public) FindPrivate(ctx context.Context, a *credential.Account, name string) (run.Image, error) {
	if a.Secret == "revoked" {
		return run.Image{}, errs.E(errs.Conflict, "%s does not accept the credential any more", a.Registry())
	}
	if _, err := p.Find(ctx, name); err != nil {
		return run.Image{}, err
	}
	reference, err := a.Image(name)
	if err != nil {
		return run.Image{}, err
	}
	repository, _, _ := strings.Cut(strings.TrimPrefix(reference, a.Registry()), ":")
	return run.Image{Reference: reference, Repository: a.Registry() + repository}, nil
}

// CredentialBodies are the bodies that store a credential of each kind.
func CredentialBodies(project string) map[string]map[string]any {
	out := map[string]map[string]any{
		"dockerhub": {"dockerhubUsername": "ada", "accessToken": "s3cret"},
		"gitlab": {"gitlabProjectId": 7, "username": "ada", "projectPath": "group/app", "deployToken": "s3cret",
			"scopes": []string{"read_registry"}},
		"gcr": {"gcpProjectId": "proj", "registryHostname": "eu.gcr.io", "serviceAccountKey": "s3cret"},
		"acr": {"acrLoginServer": "shop.azurecr.io", "servicePrincipalId": "id",
			"servicePrincipalPassword": "s3cret"},
		"quay": {"quayNamespace": "shop", "robotUsername": "shop+ci", "robotToken": "s3cret"},
		"harbor": {"harborUrl": "https://harbor.example", "harborProject": "shop", "username": "robot$ci",
			"password": "s3cret"},
		"scaleway": {"region": "fr-par", "namespaceName": "shop", "secretKey": "s3cret"},
		"ecr": {"name": "CI", "awsRegion": "eu-west-1", "awsAccessKeyId": "AKIAIOSFODNN7EXAMPLE",
			"awsSecretAccessKey": "s3cret"},
		"jfrog": {"jfrogUrl": "https://shop.example", "repositoryKey": "local", "username": "ci",
			"password": "s3cret"},
	}
	for _, body := range out {
		body["projectId"] = project
	}
	return out
}

// RegistryEnvelopes are the members that hold the data of a response, by kind of registry.
var RegistryEnvelopes = map[string]string{"scaleway": "data."}

// GithubPat has the format of a personal access token of GitHub.
const GithubPat = "ghp_0123456789abcdefghij0123456789abcdef"
