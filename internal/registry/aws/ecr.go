package aws

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"math"
	"strings"
	"time"

	"merlon/internal/errs"
)

// This file asks the Elastic Container Registry.

// sendJSON sends a request of the JSON protocol.
func (s *Session) sendJSON(ctx context.Context, operation string, in, out any) error {
	text, err := json.Marshal(in)
	if err != nil {
		return err
	}
	body, err := s.sendRequest(ctx, serviceRequest{service: "ecr", body: string(text), header: map[string]string{
		"Content-Type": "application/x-amz-json-1.1", "X-Amz-Target": "AmazonEC2ContainerRegistry_V20150921." +
			operation}})
	if err != nil {
		return err
	}
	if err := json.Unmarshal(body, out); err != nil {
		return errs.Wrap(errs.Unavailable, err, "Amazon returned an unknown response")
	}
	return nil
}

// User is what every holder of a password is called by the registry.
const User = "AWS"

// Password returns a password for the registry, which holds for at most 12 hours.
func (s *Session) Password(ctx context.Context) (string, error) {
	var answer struct {
		Data []struct {
			Token string `json:"authorizationToken"`
		} `json:"authorizationData"`
	}
	if err := s.sendJSON(ctx, "GetAuthorizationToken", struct{}{}, &answer); err != nil {
		return "", err
	}
	if len(answer.Data) == 1 {
		if password, ok := parseToken(answer.Data[0].Token); ok {
			return password, nil
		}
	}
	return "", errs.E(errs.Unavailable, "the response of Amazon has no password for the registry")
}

// parseToken reads "AWS:password", which is written in base64.
func parseToken(token string) (string, bool) {
	plain, err := base64.StdEncoding.DecodeString(token)
	if err != nil {
		return "", false
	}
	password, ok := strings.CutPrefix(string(plain), User+":")
	return password, ok && password != ""
}

// A Page is a part of a list: at most Size things (1 to 1000), from where the part
// before it ended.
type Page struct {
	Size int
	From string
}

// A Repository holds versions of an image.
type Repository struct {
	Name    string
	URI     string // with the host
	Created time.Time
}

// A Version of an image; it may have several tags.
type Version struct {
	Digest string
	Tags   []string
	Size   int64 // bytes
	Pushed time.Time
	Pulled time.Time
}

// listRequest is the request for a part of a list.
type listRequest struct {
	Registry string  `json:"registryId"`
	Name     string  `json:"repositoryName,omitempty"`
	Max      int     `json:"maxResults"`
	Next     string  `json:"nextToken,omitempty"`
	Filter   *filter `json:"filter,omitempty"`
}

// A filter limits a list to images with or without a tag.
type filter struct {
	Status string `json:"tagStatus"`
}

// Repositories lists those of an account, and where the next part begins; empty:
// there is none.
func (s *Session) Repositories(ctx context.Context, account string, p Page) ([]Repository, string, error) {
	var answer struct {
		Repositories []struct {
			Name    string  `json:"repositoryName"`
			URI     string  `json:"repositoryUri"`
			Created seconds `json:"createdAt"`
		} `json:"repositories"`
		Next string `json:"nextToken"`
	}
	if err := s.sendJSON(ctx, "DescribeRepositories", listRequest{Registry: account, Max: p.Size, Next: p.From},
		&answer); err != nil {
		return nil, "", err
	}
	var list []Repository
	for _, r := range answer.Repositories {
		list = append(list, Repository{r.Name, r.URI, r.Created.toTime()})
	}
	return list, answer.Next, nil
}

// Versions lists the tagged versions of an image as Repositories does.
func (s *Session) Versions(ctx context.Context, account, name string, p Page) ([]Version, string, error) {
	var answer struct {
		Images []struct {
			Digest string   `json:"imageDigest"`
			Tags   []string `json:"imageTags"`
			Size   int64    `json:"imageSizeInBytes"`
			Pushed seconds  `json:"imagePushedAt"`
			Pulled seconds  `json:"lastRecordedPullTime"`
		} `json:"imageDetails"`
		Next string `json:"nextToken"`
	}
	in := listRequest{Registry: account, Name: name, Max: p.Size, Next: p.From, Filter: &filter{"TAGGED"}}
	if err := s.sendJSON(ctx, "DescribeImages", in, &answer); err != nil {
		return nil, "", err
	}
	var list []Version
	for _, i := range answer.Images {
		list = append(list, Version{i.Digest, i.Tags, i.Size, i.Pushed.toTime(), i.Pulled.toTime()})
	}
	return list, answer.Next, nil
}

// seconds since 1970, with a fraction: the protocol's way to write a time.
type seconds float64

// toTime is the zero time for what is missing or beyond the calendar.
func (s seconds) toTime() time.Time {
	if !(s > 0 && s < 1<<37) { // until the year 6325
		return time.Time{}
	}
	whole, part := math.Modf(float64(s))
	return time.Unix(int64(whole), int64(part*1e9)).UTC().Round(time.Millisecond)
}
