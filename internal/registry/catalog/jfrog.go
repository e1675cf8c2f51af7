package catalog

import (
	"context"
	"net/url"
	"regexp"
	"strings"

	"merlon/internal/errs"
	"merlon/internal/registry/credential"
)

// This file asks Artifactory
// (https://jfrog.com/help/r/jfrog-rest-apis/artifactory-rest-apis): its list of
// repositories, and the distribution specification below each of them.

type jfrog struct{ distribution }

// artifactory is an address below the interface's root, whether or not people have
// named that.
func artifactory(base *url.URL, parts ...string) *url.URL {
	if !strings.HasSuffix(base.Path, "/artifactory") {
		base = base.JoinPath("artifactory")
	}
	return base.JoinPath(parts...)
}

// repositoryKey matches the key of a repository.
var repositoryKey = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]*$`)

// in is the same account in another repository; empty is its own.
func (j *jfrog) in(key string) (*jfrog, error) {
	other := *j.a
	if key != "" {
		other.Fields.RepositoryKey = key
	}
	if !repositoryKey.MatchString(other.Fields.RepositoryKey) {
		return nil, errs.E(errs.NotFound, "there is no such repository")
	}
	return &jfrog{distribution{j.c, &other}}, nil
}

// check asks for the images of the repository, which tells whether that is there.
func (j *jfrog) check(ctx context.Context) error {
	own, err := j.in("")
	if err != nil {
		return err
	}
	_, err = own.get(ctx, own.base().JoinPath("v2", "_catalog").String()+"?n=1", "", nil)
	return err
}

func (j *jfrog) groups(ctx context.Context, p Page) (*List[Group], error) {
	u, err := credential.Base(j.a.Fields.JfrogURL)
	if err != nil {
		return nil, err
	}
	u = artifactory(u, "api", "repositories")
	u.RawQuery = "packageType=docker"
	var answer []struct {
		Key         string `json:"key"`
		Type        string `json:"type"`
		Description string `json:"description"`
		URL         string `json:"url"`
	}
	if _, err := j.c.send(ctx, call{url: u, user: j.a.User(), secret: j.a.Secret}, &answer); err != nil {
		return nil, err
	}
	var all []Group
	for _, r := range answer {
		all = append(all, Group{Name: r.Key, Type: r.Type, Description: r.Description, URL: r.URL})
	}
	return cut(all, p), nil
}

func (j *jfrog) images(ctx context.Context, group string, p Page) (*List[Image], error) {
	own, err := j.in(group)
	if err != nil {
		return nil, err
	}
	found, err := own.distribution.images(ctx, "", p)
	if err != nil {
		return nil, err
	}
	for i := range found.Items {
		image, key := &found.Items[i], own.a.Fields.RepositoryKey
		image.RepositoryKey, image.Path = key, key+"/"+image.Name
	}
	return found, nil
}

func (j *jfrog) tags(ctx context.Context, group, image string, p Page) (*List[Tag], error) {
	own, err := j.in(group)
	if err != nil {
		return nil, err
	}
	return own.distribution.tags(ctx, "", image, p)
}
