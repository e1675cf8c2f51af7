package catalog

import (
	"cmp"
	"context"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"time"

	"merlon/internal/errs"
	"merlon/internal/registry/credential"
)

// This file asks Scaleway (https://www.scaleway.com/en/developers/api/registry/).

// scaleway lists the namespaces of a project, and their images.
type scaleway struct {
	c *Client
	// with the region and the namespace; checkAccount sets its identifier
	a *credential.Account
}

// getAPI asks for something of the account's region.
func (s *scaleway) getAPI(ctx context.Context, path string, q url.Values, out any) error {
	u, err := credential.Base(cmp.Or(s.c.Scaleway, "https://api.scaleway.com"))
	if err != nil {
		return err
	}
	u = u.JoinPath("registry", "v1", "regions", s.a.Fields.Region, path)
	u.RawQuery = q.Encode()
	_, err = s.c.sendRequest(ctx, call{url: u, header: map[string]string{"X-Auth-Token": s.a.Secret}}, out)
	return err
}

// scalewayQuery is the query for a page at Scaleway.
func (p Page) scalewayQuery() url.Values {
	return url.Values{"page": {strconv.Itoa(p.Number)}, "page_size": {strconv.Itoa(p.Size)}}
}

// scalewayNamespaces is an answer with namespaces.
type scalewayNamespaces struct {
	Namespaces []struct {
		ID       string    `json:"id"`
		Name     string    `json:"name"`
		Endpoint string    `json:"endpoint"`
		Status   string    `json:"status"`
		Public   bool      `json:"is_public"`
		Size     int64     `json:"size"`
		Images   int       `json:"image_count"`
		Created  time.Time `json:"created_at"`
		Updated  time.Time `json:"updated_at"`
	} `json:"namespaces"`
	Total int `json:"total_count"`
}

// checkAccount looks for the namespace and notes its identifier.
func (s *scaleway) checkAccount(ctx context.Context) error {
	var answer scalewayNamespaces
	if err := s.getAPI(ctx, "namespaces", url.Values{"name": {s.a.Fields.NamespaceName}}, &answer); err != nil {
		return err
	}
	for _, n := range answer.Namespaces {
		// The filter of the interface may also match parts of a name, so it is compared again.
		if n.Name == s.a.Fields.NamespaceName && identifier.MatchString(n.ID) {
			s.a.Fields.NamespaceID = n.ID
			return nil
		}
	}
	return errs.E(errs.NotFound, "there is no such namespace")
}

// identifier matches what Scaleway names things by.
var identifier = regexp.MustCompile(`^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$`)

// listGroups lists namespaces.
func (s *scaleway) listGroups(ctx context.Context, p Page) (*List[Group], error) {
	var answer scalewayNamespaces
	if err := s.getAPI(ctx, "namespaces", p.scalewayQuery(), &answer); err != nil {
		return nil, err
	}
	out := &List[Group]{Total: answer.Total}
	for _, n := range answer.Namespaces {
		out.Items = append(out.Items, Group{ID: n.ID, Name: n.Name, URL: n.Endpoint, Status: n.Status, Public: n.Public,
			Size:   n.Size,
			Images: n.Images, CreatedAt: n.Created, UpdatedAt: n.Updated})
	}
	return out, nil
}

// A scalewayImage is an image as Scaleway describes it.
type scalewayImage struct {
	// a UUID, by which tags are listed
	ID        string `json:"id"`
	Name      string `json:"name"`
	Namespace string `json:"namespace_id"`
	Status    string `json:"status"`
	// "inherit", "public" or "private"
	Visibility string    `json:"visibility"`
	Size       int64     `json:"size"`
	Tags       []string  `json:"tags"`
	Created    time.Time `json:"created_at"`
	Updated    time.Time `json:"updated_at"`
}

// listImages lists the images of a namespace.
func (s *scaleway) listImages(ctx context.Context, group string, p Page) (*List[Image], error) {
	group = cmp.Or(group, s.a.Fields.NamespaceID)
	if !identifier.MatchString(group) {
		return nil, errs.E(errs.NotFound, "there is no such namespace")
	}
	var answer struct {
		Images []scalewayImage `json:"images"`
		Total  int             `json:"total_count"`
	}
	q := p.scalewayQuery()
	q.Set("namespace_id", group)
	if err := s.getAPI(ctx, "images", q, &answer); err != nil {
		return nil, err
	}
	out := &List[Image]{Total: answer.Total}
	for _, i := range answer.Images {
		out.Items = append(out.Items, Image{UUID: i.ID, Name: i.Name, Namespace: i.Namespace, Tags: len(i.Tags),
			Size:       i.Size,
			Visibility: i.Visibility, Status: i.Status, CreatedAt: timeOrNil(i.Created),
			UpdatedAt: timeOrNil(i.Updated)})
	}
	return out, nil
}

// listTags lists the tags of an image by its identifier; the name comes with them.
func (s *scaleway) listTags(ctx context.Context, _, image string, p Page) (*List[Tag], error) {
	// The identifier becomes part of a path: only a UUID is accepted.
	image = strings.ToLower(image)
	if !identifier.MatchString(image) {
		return nil, errs.E(errs.NotFound, "there is no such image")
	}
	var of scalewayImage
	if err := s.getAPI(ctx, "images/"+image, nil, &of); err != nil {
		return nil, err
	}
	var answer struct {
		Tags []struct {
			ID      string    `json:"id"`
			Name    string    `json:"name"`
			Status  string    `json:"status"`
			Digest  string    `json:"digest"`
			Created time.Time `json:"created_at"`
			Updated time.Time `json:"updated_at"`
		} `json:"tags"`
		Total int `json:"total_count"`
	}
	if err := s.getAPI(ctx, "images/"+image+"/tags", p.scalewayQuery(), &answer); err != nil {
		return nil, err
	}
	out := &List[Tag]{Total: answer.Total, Of: of.Name}
	for _, t := range answer.Tags {
		out.Items = append(out.Items, Tag{UUID: t.ID, Name: t.Name, Status: t.Status, Digest: t.Digest,
			CreatedAt: timeOrNil(t.Created), UpdatedAt: timeOrNil(t.Updated)})
	}
	return out, nil
}
