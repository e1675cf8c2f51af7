package catalog

import (
	"context"
	"encoding/json"
	"net/url"
	"strconv"
	"strings"
	"time"

	"merlon/internal/errs"
	"merlon/internal/registry/credential"
)

// This file asks Docker Hub (https://docs.docker.com/reference/api/hub/latest/).

// hub lists the repositories of a user of Docker Hub.
type hub struct {
	c *Client
	// the user name in DockerhubUsername, the password or access token as secret
	a *credential.Account
	// of checkAccount; "" before it
	token string
}

// apiURL is an address of Docker Hub's interface.
func (h *hub) apiURL(parts ...string) *url.URL {
	text := h.c.Hub
	// Tests set another address; the real one is fixed.
	if text == "" {
		text = "https://hub.docker.com"
	}
	u, err := credential.Base(text)
	if err != nil {
		return &url.URL{}
	}
	return u.JoinPath(append([]string{"v2"}, parts...)...)
}

// checkAccount signs in.
func (h *hub) checkAccount(ctx context.Context) error {
	body, err := json.Marshal(map[string]string{"username": h.a.Fields.DockerhubUsername, "password": h.a.Secret})
	if err != nil {
		return err
	}
	var answer struct {
		Token string `json:"token"`
	}
	if _, err := h.c.sendRequest(ctx, call{method: "POST", url: h.apiURL("users", "login"), body: string(body)},
		&answer); err != nil {
		return err
	}
	h.token = answer.Token
	return nil
}

// getPage asks for a page of a list.
func (h *hub) getPage(ctx context.Context, u *url.URL, p Page, out any) error {
	// Each page signs in anew: a token that expires between two pages does no harm.
	if err := h.checkAccount(ctx); err != nil {
		return err
	}
	u.RawQuery = url.Values{"page": {strconv.Itoa(p.Number)}, "page_size": {strconv.Itoa(p.Size)}}.Encode()
	_, err := h.c.sendRequest(ctx, call{url: u, header: map[string]string{"Authorization": "Bearer " + h.token}}, out)
	return err
}

// listGroups fails: repositories are in no groups.
func (h *hub) listGroups(context.Context, Page) (*List[Group], error) { return nil, errNoGroups }

// listImages lists repositories.
func (h *hub) listImages(ctx context.Context, _ string, p Page) (*List[Image], error) {
	var answer struct {
		Count   int `json:"count"`
		Results []struct {
			Name        string    `json:"name"`
			Namespace   string    `json:"namespace"`
			Description string    `json:"description"`
			Private     bool      `json:"is_private"`
			Pulls       int       `json:"pull_count"`
			Created     time.Time `json:"date_registered"`
			Updated     time.Time `json:"last_updated"`
		} `json:"results"`
	}
	if err := h.getPage(ctx, h.apiURL("namespaces", h.a.Fields.DockerhubUsername, "repositories"), p,
		&answer); err != nil {
		return nil, err
	}
	out := &List[Image]{Total: answer.Count}
	for _, r := range answer.Results {
		out.Items = append(out.Items, Image{Name: r.Namespace + "/" + r.Name, RepositoryName: r.Name,
			Description: r.Description,
			Pulls:       r.Pulls, Private: &r.Private, CreatedAt: timeOrNil(r.Created),
			UpdatedAt: timeOrNil(r.Updated)})
	}
	return out, nil
}

// listTags lists the tags of a repository with their digests, sizes and times.
func (h *hub) listTags(ctx context.Context, _, image string, p Page) (*List[Tag], error) {
	// The name becomes part of the path of the request: a slash would lead to another endpoint.
	name := strings.TrimPrefix(image, h.a.Fields.DockerhubUsername+"/")
	if !repository.MatchString(name) || strings.Contains(name, "/") {
		return nil, errs.E(errs.NotFound, "the credential is for no image of this name")
	}
	var answer struct {
		Count   int `json:"count"`
		Results []struct {
			Name    string    `json:"name"`
			Digest  string    `json:"digest"`
			Size    int64     `json:"full_size"`
			Updated time.Time `json:"last_updated"`
			Pulled  time.Time `json:"tag_last_pulled"`
			Pushed  time.Time `json:"tag_last_pushed"`
		} `json:"results"`
	}
	if err := h.getPage(ctx, h.apiURL("namespaces", h.a.Fields.DockerhubUsername, "repositories", name, "tags"), p,
		&answer); err != nil {
		return nil, err
	}
	out := &List[Tag]{Total: answer.Count}
	for _, r := range answer.Results {
		out.Items = append(out.Items, Tag{Name: r.Name, Digest: r.Digest, Size: r.Size, CreatedAt: timeOrNil(r.Updated),
			PushTime: timeOrNil(r.Pushed), PullTime: timeOrNil(r.Pulled)})
	}
	return out, nil
}
