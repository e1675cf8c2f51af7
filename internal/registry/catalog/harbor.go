package catalog

import (
	"cmp"
	"context"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"merlon/internal/errs"
	"merlon/internal/registry/credential"
)

// This file asks Harbor (https://goharbor.io/docs/latest/build-customize-contribute/configure-swagger/).

// harbor lists projects, their repositories and artifacts.
type harbor struct {
	c *Client
	// a user or a robot account; HarborURL is the root of the installation
	a *credential.Account
}

// getPage asks for a page of a list below the interface's root.
func (h *harbor) getPage(ctx context.Context, p Page, out any, parts ...string) (total int, err error) {
	u, err := credential.Base(h.a.Fields.HarborURL)
	if err != nil {
		return 0, err
	}
	u = u.JoinPath("api", "v2.0").JoinPath(parts...)
	q := url.Values{"page": {strconv.Itoa(p.Number)}, "page_size": {strconv.Itoa(p.Size)}}
	// Without it artifacts come without the names of their tags.
	if parts[len(parts)-1] == "artifacts" {
		q.Set("with_tag", "true")
	}
	u.RawQuery = q.Encode()
	header, err := h.c.sendRequest(ctx, call{url: u, user: h.a.Fields.Username, secret: h.a.Secret}, out)
	if err != nil {
		return 0, err
	}
	return totalOf(header), nil
}

// totalOf is the length of a whole list, as Harbor and GitLab say it.
func totalOf(h http.Header) int {
	n, err := strconv.Atoi(cmp.Or(h.Get("X-Total-Count"), h.Get("X-Total")))
	// 0 means that the length is not known: the header is optional.
	if err != nil || n < 0 {
		return 0
	}
	return n
}

// checkAccount asks for the project's images: the project itself is shown to everybody
// when it is public.
func (h *harbor) checkAccount(ctx context.Context) error {
	u, err := credential.Base(h.a.Fields.HarborURL)
	if err != nil {
		return err
	}
	// The token service tells users from strangers also for public projects.
	u = u.JoinPath("service", "token")
	u.RawQuery = url.Values{"service": {"harbor-registry"},
		"scope": {"repository:" + h.a.Fields.HarborProject + "/x:pull"}}.Encode()
	if _, err := h.c.sendRequest(ctx, call{url: u, user: h.a.Fields.Username, secret: h.a.Secret}, nil); err != nil {
		return err
	}
	_, err = h.getPage(ctx, Page{Number: 1, Size: 1}, nil, "projects", h.a.Fields.HarborProject, "repositories")
	return err
}

// listGroups lists projects.
func (h *harbor) listGroups(ctx context.Context, p Page) (*List[Group], error) {
	var answer []struct {
		ID       int64     `json:"project_id"`
		Name     string    `json:"name"`
		Images   int       `json:"repo_count"`
		Created  time.Time `json:"creation_time"`
		Updated  time.Time `json:"update_time"`
		Metadata struct {
			Public string `json:"public"`
		} `json:"metadata"`
	}
	total, err := h.getPage(ctx, p, &answer, "projects")
	if err != nil {
		return nil, err
	}
	out := &List[Group]{Total: total}
	for _, g := range answer {
		out.Items = append(out.Items, Group{ProjectID: g.ID, Name: g.Name, Public: g.Metadata.Public == "true",
			Images: g.Images, CreatedAt: g.Created, UpdatedAt: g.Updated})
	}
	return out, nil
}

// projectName is the one that is asked for, or the credential's own.
func (h *harbor) projectName(group string) (string, error) {
	group = cmp.Or(group, h.a.Fields.HarborProject)
	if !repository.MatchString(group) || strings.Contains(group, "/") {
		return "", errs.E(errs.NotFound, "there is no such project")
	}
	return group, nil
}

// listImages lists the repositories of a project.
func (h *harbor) listImages(ctx context.Context, group string, p Page) (*List[Image], error) {
	project, err := h.projectName(group)
	if err != nil {
		return nil, err
	}
	var answer []struct {
		Name        string    `json:"name"`
		Description string    `json:"description"`
		Artifacts   int       `json:"artifact_count"`
		Pulls       int       `json:"pull_count"`
		Created     time.Time `json:"creation_time"`
		Updated     time.Time `json:"update_time"`
	}
	total, err := h.getPage(ctx, p, &answer, "projects", project, "repositories")
	if err != nil {
		return nil, err
	}
	out := &List[Image]{Total: total}
	for _, r := range answer {
		out.Items = append(out.Items,
			Image{Name: r.Name, ProjectName: project, RepositoryName: strings.TrimPrefix(r.Name, project+"/"),
				Description: r.Description, Artifacts: r.Artifacts, Pulls: r.Pulls, CreatedAt: timeOrNil(r.Created),
				UpdatedAt: timeOrNil(r.Updated)})
	}
	return out, nil
}

// listTags lists the artifacts of a repository with their tags.
func (h *harbor) listTags(ctx context.Context, group, image string, p Page) (*List[Tag], error) {
	project, err := h.projectName(group)
	if err != nil {
		return nil, err
	}
	image = strings.TrimPrefix(image, project+"/")
	if !repository.MatchString(image) {
		return nil, errs.E(errs.NotFound, "there is no such image")
	}
	var answer []struct {
		Digest string    `json:"digest"`
		Size   int64     `json:"size"`
		Pushed time.Time `json:"push_time"`
		Pulled time.Time `json:"pull_time"`
		Tags   []struct {
			Name   string    `json:"name"`
			Pushed time.Time `json:"push_time"`
			Pulled time.Time `json:"pull_time"`
		} `json:"tags"`
	}
	// A slash in the name is encoded twice: the interface takes it apart once more.
	total, err := h.getPage(ctx, p, &answer, "projects", project, "repositories",
		strings.ReplaceAll(image, "/", "%252F"),
		"artifacts")
	if err != nil {
		return nil, err
	}
	out := &List[Tag]{Total: total}
	for _, r := range answer {
		// An artifact without tags is not listed: it cannot be selected by name.
		for _, t := range r.Tags {
			out.Items = append(out.Items, Tag{Name: t.Name, Digest: r.Digest, Size: r.Size,
				CreatedAt: timeOrNil(t.Pushed),
				PushTime:  timeOrNil(t.Pushed), PullTime: timeOrNil(t.Pulled)})
		}
	}
	return out, nil
}
