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

type hub struct {
	c     *Client
	a     *credential.Account
	token string
}

func (h *hub) at(parts ...string) *url.URL {
	text := h.c.Hub
	if text == "" {
		text = "https://hub.docker.com"
	}
	u, err := credential.Base(text)
	if err != nil {
		return &url.URL{}
	}
	return u.JoinPath(append([]string{"v2"}, parts...)...)
}

func (h *hub) check(ctx context.Context) error {
	body, err := json.Marshal(map[string]string{"username": h.a.Fields.DockerhubUsername, "password": h.a.Secret})
	if err != nil {
		return err
	}
	var answer struct {
		Token string `json:"token"`
	}
	if _, err := h.c.send(ctx, call{method: "POST", url: h.at("users", "login"), body: string(body)},
		&answer); err != nil {
		return err
	}
	h.token = answer.Token
	return nil
}

// get asks for a page of a list.
func (h *hub) get(ctx context.Context, u *url.URL, p Page, out any) error {
	if err := h.check(ctx); err != nil {
		return err
	}
	u.RawQuery = url.Values{"page": {strconv.Itoa(p.Number)}, "page_size": {strconv.Itoa(p.Size)}}.Encode()
	_, err := h.c.send(ctx, call{url: u, header: map[string]string{"Authorization": "Bearer " + h.token}}, out)
	return err
}

func (h *hub) groups(context.Context, Page) (*List[Group], error) { return nil, errNoGroups }

func (h *hub) images(ctx context.Context, _ string, p Page) (*List[Image], error) {
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
	if err := h.get(ctx, h.at("namespaces", h.a.Fields.DockerhubUsername, "repositories"), p, &answer); err != nil {
		return nil, err
	}
	out := &List[Image]{Total: answer.Count}
	for _, r := range answer.Results {
		out.Items = append(out.Items, Image{Name: r.Namespace + "/" + r.Name, RepositoryName: r.Name,
			Description: r.Description,
			Pulls:       r.Pulls, Private: &r.Private, CreatedAt: when(r.Created), UpdatedAt: when(r.Updated)})
	}
	return out, nil
}

func (h *hub) tags(ctx context.Context, _, image string, p Page) (*List[Tag], error) {
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
	if err := h.get(ctx, h.at("namespaces", h.a.Fields.DockerhubUsername, "repositories", name, "tags"), p,
		&answer); err != nil {
		return nil, err
	}
	out := &List[Tag]{Total: answer.Count}
	for _, r := range answer.Results {
		out.Items = append(out.Items, Tag{Name: r.Name, Digest: r.Digest, Size: r.Size, CreatedAt: when(r.Updated),
			PushTime: when(r.Pushed), PullTime: when(r.Pulled)})
	}
	return out, nil
}
