package catalog

import (
	"context"
	"net/url"
	"regexp"
	"strings"

	"golang.org/x/sync/errgroup"

	"merlon/internal/errs"
	"merlon/internal/registry/credential"
)

// This file asks Artifactory
// (https://jfrog.com/help/r/jfrog-rest-apis/artifactory-rest-apis): its list of
// repositories, and the distribution specification below each of them.

// jfrog lists the repositories of Artifactory, and their images by the common interface.
type jfrog struct{ distribution }

// artifactoryURL is an address below the interface's root, whether or not people have
// named that.
func artifactoryURL(base *url.URL, parts ...string) *url.URL {
	if !strings.HasSuffix(base.Path, "/artifactory") {
		base = base.JoinPath("artifactory")
	}
	return base.JoinPath(parts...)
}

// repositoryKey matches the key of a repository.
var repositoryKey = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]*$`)

// inRepository is the same account in another repository; empty is its own.
func (j *jfrog) inRepository(key string) (*jfrog, error) {
	other := *j.a
	if key != "" {
		other.Fields.RepositoryKey = key
	}
	if !repositoryKey.MatchString(other.Fields.RepositoryKey) {
		return nil, errs.E(errs.NotFound, "there is no such repository")
	}
	return &jfrog{distribution{j.c, &other}}, nil
}

// checkAccount asks for the images of the repository, which tells whether that is there.
func (j *jfrog) checkAccount(ctx context.Context) error {
	own, err := j.inRepository("")
	if err != nil {
		return err
	}
	_, err = own.getWithToken(ctx, own.baseURL().JoinPath("v2", "_catalog").String()+"?n=1", "", nil)
	return err
}

// listGroups lists the repositories that hold images.
func (j *jfrog) listGroups(ctx context.Context, p Page) (*List[Group], error) {
	u, err := credential.Base(j.a.Fields.JfrogURL)
	if err != nil {
		return nil, err
	}
	u = artifactoryURL(u, "api", "repositories")
	u.RawQuery = "packageType=docker"
	var answer []struct {
		Key         string `json:"key"`
		Type        string `json:"type"`
		Description string `json:"description"`
		URL         string `json:"url"`
	}
	if _, err := j.c.sendRequest(ctx, call{url: u, user: j.a.User(), secret: j.a.Secret}, &answer); err != nil {
		return nil, err
	}
	var all []Group
	for _, r := range answer {
		all = append(all, Group{Name: r.Key, Type: r.Type, Description: r.Description, URL: r.URL})
	}
	return pageOf(all, p), nil
}

// listImages lists the images of a repository.
func (j *jfrog) listImages(ctx context.Context, group string, p Page) (*List[Image], error) {
	own, err := j.inRepository(group)
	if err != nil {
		return nil, err
	}
	found, err := own.distribution.listImages(ctx, "", p)
	if err != nil {
		return nil, err
	}
	for i := range found.Items {
		image, key := &found.Items[i], own.a.Fields.RepositoryKey
		image.RepositoryKey, image.Path = key, key+"/"+image.Name
	}
	return found, nil
}

// listTags lists the tags of an image.
func (j *jfrog) listTags(ctx context.Context, group, image string, p Page) (*List[Tag], error) {
	own, err := j.inRepository(group)
	if err != nil {
		return nil, err
	}
	found, err := own.distribution.listTags(ctx, "", image, p)
	if err != nil {
		return nil, err
	}
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(manifestsAtOnce)
	for i := range found.Items {
		g.Go(func() error { return own.describeTag(ctx, image, &found.Items[i]) })
	}
	return found, g.Wait()
}

// manifestsAtOnce bounds how many manifests are asked for at a time.
const manifestsAtOnce = 4

// describeTag adds a tag's digest and size, which its manifest says. A manifest for
// several platforms says no size, and a tag that went away meanwhile nothing.
func (j *jfrog) describeTag(ctx context.Context, image string, t *Tag) error {
	if !tagForm.MatchString(t.Name) {
		return nil
	}
	var manifest struct {
		Config struct {
			Size int64 `json:"size"`
		} `json:"config"`
		Layers []struct {
			Size int64 `json:"size"`
		} `json:"layers"`
	}
	u := j.baseURL().JoinPath("v2", image, "manifests", t.Name)
	header, err := j.c.sendRequest(ctx, call{url: u, user: j.a.User(), secret: j.a.Secret,
		header: map[string]string{"Accept": manifests}}, &manifest)
	if errs.Is(err, errs.NotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	t.Digest, t.Size = header.Get("Docker-Content-Digest"), manifest.Config.Size
	for _, l := range manifest.Layers {
		t.Size += l.Size
	}
	return nil
}

// tagForm matches a tag, as the specification has it.
var tagForm = regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9._-]{0,127}$`)

// manifests are the forms of manifests that are understood.
const manifests = "application/vnd.oci.image.manifest.v1+json, application/vnd.docker.distribution.manifest.v2+json, " +
	"application/vnd.oci.image.index.v1+json, application/vnd.docker.distribution.manifest.list.v2+json"
