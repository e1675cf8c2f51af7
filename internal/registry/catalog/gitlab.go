package catalog

import (
	"context"
	"net/url"
	"strconv"
	"strings"
	"time"

	"merlon/internal/errs"
)

// This file asks GitLab: its registry whether a credential holds, and its interface
// (https://docs.gitlab.com/api/container_registry/) for images.

// gitlab lists the repositories of a project, and their tags by the common interface.
type gitlab struct{ distribution }

// checkAccount asks for a token that may pull images of the project.
func (g *gitlab) checkAccount(ctx context.Context) error {
	if !repository.MatchString(strings.ToLower(g.a.Fields.ProjectPath)) {
		return errs.E(errs.Invalid, "projectPath is not the path of a project")
	}
	_, err := g.distribution.getWithToken(ctx, g.baseURL().JoinPath("v2").String()+"/", "repository:"+
		strings.ToLower(g.a.Fields.ProjectPath)+":pull", nil)
	return err
}

// getPage asks for a page of a list of the project's interface, whose host is the
// registry's without its first label.
func (g *gitlab) getPage(ctx context.Context, p Page, out any, parts ...string) (total int, err error) {
	u := g.baseURL()
	// registry.gitlab.com → gitlab.com; an installation with another scheme of names keeps its
	// host.
	if host, ok := strings.CutPrefix(u.Host, "registry."); ok {
		u.Host = host
	}
	u = u.JoinPath("api", "v4", "projects", strconv.FormatInt(g.a.Fields.GitlabProjectID, 10), "registry",
		"repositories").JoinPath(parts...)
	u.RawQuery = url.Values{"page": {strconv.Itoa(p.Number)}, "per_page": {strconv.Itoa(p.Size)},
		"tags_count": {"true"}}.Encode()
	header, err := g.c.sendRequest(ctx,
		// Access tokens and deploy tokens have different headers; which one the secret is, is
		// not known.
		call{url: u, header: map[string]string{"PRIVATE-TOKEN": g.a.Secret, "Deploy-Token": g.a.Secret}}, out)
	if err != nil {
		return 0, err
	}
	return totalOf(header), nil
}

// listImages lists the repositories of the project.
func (g *gitlab) listImages(ctx context.Context, _ string, p Page) (*List[Image], error) {
	var answer []struct {
		ID      int64     `json:"id"`
		Path    string    `json:"path"`
		Name    string    `json:"name"`
		Tags    int       `json:"tags_count"`
		Created time.Time `json:"created_at"`
	}
	total, err := g.getPage(ctx, p, &answer)
	if err != nil {
		return nil, err
	}
	out := &List[Image]{Total: total}
	for _, r := range answer {
		out.Items = append(out.Items, Image{ID: r.ID, Name: r.Path, RepositoryName: r.Name, Artifacts: r.Tags,
			CreatedAt: timeOrNil(r.Created)})
	}
	return out, nil
}

// listTags lists the tags of an image by its number.
func (g *gitlab) listTags(ctx context.Context, _, image string, p Page) (*List[Tag], error) {
	// The number becomes part of the path.
	if n, err := strconv.ParseInt(image, 10, 64); err != nil || n <= 0 {
		return nil, errs.E(errs.Invalid, "the number of an image is expected")
	}
	var answer []struct {
		Name string `json:"name"`
	}
	total, err := g.getPage(ctx, p, &answer, image, "tags")
	if err != nil {
		return nil, err
	}
	out := &List[Tag]{Total: total}
	for _, t := range answer {
		out.Items = append(out.Items, Tag{Name: t.Name})
	}
	return out, nil
}
