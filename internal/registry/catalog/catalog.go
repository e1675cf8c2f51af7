// Package catalog asks registries of container images what they hold, with
// credentials that people have stored: whether a credential holds, which images
// there are, and which tags. Each kind of registry has a file; those without an
// interface of their own are asked by the OCI distribution specification
// (https://github.com/opencontainers/distribution-spec/blob/v1.1.0/spec.md).
package catalog

import (
	"cmp"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"merlon/internal/errs"
	"merlon/internal/outbound"
	"merlon/internal/registry/credential"
)

// A Group is what a registry keeps images in. What has no name in JSON is told by
// some kinds of registry only.
type Group struct {
	ProjectID int64     `json:"projectId"`
	Name      string    `json:"name"`
	Public    bool      `json:"isPublic"`
	Images    int       `json:"repoCount"`
	CreatedAt time.Time `json:"createdAt"`
	UpdatedAt time.Time `json:"updatedAt"`

	ID          string `json:"-"`
	Status      string `json:"-"`
	Size        int64  `json:"-"` // bytes
	Type        string `json:"-"` // whether it is a proxy, or the registry's own
	Description string `json:"-"`
	URL         string `json:"-"`
}

// An Image is a repository of images. What a registry does not tell is left out.
type Image struct {
	ID             int64      `json:"id,omitempty"`
	Name           string     `json:"name"`
	ProjectName    string     `json:"projectName,omitempty"`
	RepositoryName string     `json:"repositoryName,omitempty"`
	Description    string     `json:"description,omitempty"`
	Path           string     `json:"path,omitempty"`
	RepositoryKey  string     `json:"repositoryKey,omitempty"`
	Artifacts      int        `json:"artifactCount,omitempty"`
	Pulls          int        `json:"pullCount,omitempty"`
	Private        *bool      `json:"isPrivate,omitempty"`
	CreatedAt      *time.Time `json:"createdAt,omitempty"`
	UpdatedAt      *time.Time `json:"updatedAt,omitempty"`

	// Scaleway and GitHub alone tell these.
	URL        string `json:"-"` // for people
	Linked     bool   `json:"-"` // to a repository of code
	UUID       string `json:"-"`
	Namespace  string `json:"-"` // its identifier
	Tags       int    `json:"-"` // how many there are
	Size       int64  `json:"-"` // bytes
	Visibility string `json:"-"`
	Status     string `json:"-"`
}

// A Tag is a version of an image.
type Tag struct {
	Name      string     `json:"name"`
	Digest    string     `json:"digest,omitempty"`
	Size      int64      `json:"size,omitempty"` // bytes
	CreatedAt *time.Time `json:"createdAt,omitempty"`
	PushTime  *time.Time `json:"pushTime,omitempty"`
	PullTime  *time.Time `json:"pullTime,omitempty"`

	// Scaleway and GitHub alone tell these.
	ID        int64      `json:"-"`
	Names     []string   `json:"-"` // where a version has several
	URL       string     `json:"-"` // for people
	UUID      string     `json:"-"`
	Status    string     `json:"-"`
	UpdatedAt *time.Time `json:"-"`
}

// A Page says which part of a list is wanted.
type Page struct {
	Number int    // from 1; 0: what begins at From, of a registry that is asked so
	Size   int    // at most 100
	From   string // List.Next of the page before, where a registry counts no pages
}

// A List is a page of a list. Total is the length of the whole list where the
// registry tells it, else of what was seen of it.
type List[T any] struct {
	Items []T
	Total int
	Of    string // name of the image whose tags these are, when it was asked for by another
	Next  string // where the next page begins, of a registry that counts none; empty: there is none
}

// A Client asks registries. It is safe for concurrent use.
type Client struct {
	HTTP interface {
		Do(req *http.Request, l outbound.Limits) (*http.Response, error)
	}
	Hub      string // address of Docker Hub's interface; empty: the public one
	Scaleway string // address of Scaleway's interface; empty: the public one
	Amazon   Amazon
	GitHub   GitHub

	Now      func() time.Time // nil: the clock of the machine
	searches searches
}

// A registry is one kind, asked with one account.
type registry interface {
	checkAccount(ctx context.Context) error
	listGroups(ctx context.Context, p Page) (*List[Group], error)
	listImages(ctx context.Context, group string, p Page) (*List[Image], error)
	listTags(ctx context.Context, group, image string, p Page) (*List[Tag], error)
}

// registryOf returns the registry of an account's kind.
func (c *Client) registryOf(a *credential.Account) registry {
	switch a.Kind {
	case credential.DockerHub:
		return &hub{c, a, ""}
	case credential.GitLab:
		return &gitlab{distribution{c, a}}
	case credential.Harbor:
		return &harbor{c, a}
	case credential.Scaleway:
		return &scaleway{c, a}
	case credential.JFrog:
		return &jfrog{distribution{c, a}}
	case credential.Amazon:
		return &amazon{c, a}
	case credential.GitHub:
		return &github{c, a}
	}
	return &distribution{c, a}
}

// Check returns an Invalid error when the registry refuses the credential. It fills
// in what the registry tells of the account.
func (c *Client) Check(ctx context.Context, a *credential.Account) error {
	err := c.registryOf(a).checkAccount(ctx)
	if errs.Is(err, errs.Forbidden) && !outbound.Refused(err) || errs.Is(err, errs.NotFound) {
		return errs.Wrap(errs.Invalid, err, "%s does not accept the credential", cmp.Or(a.Registry(), "Amazon"))
	}
	return err
}

// Login returns who pulls the account's images. Kinds whose secret is no password
// ask the registry for one.
func (c *Client) Login(ctx context.Context, a *credential.Account) (user, password string, err error) {
	if a.Kind == credential.Amazon {
		password, err = (&amazon{c, a}).fetchPassword(ctx)
		return a.User(), password, explainRefusal(a, err)
	}
	return a.User(), a.Secret, nil
}

// Groups lists what the registry keeps images in; NotImplemented where there is
// no such thing.
func (c *Client) Groups(ctx context.Context, a *credential.Account, p Page) (*List[Group], error) {
	return listOrExplain(a, func() (*List[Group], error) { return c.registryOf(a).listGroups(ctx, p) })
}

// Images lists images; group may be empty.
func (c *Client) Images(ctx context.Context, a *credential.Account, group string, p Page) (*List[Image], error) {
	return listOrExplain(a, func() (*List[Image], error) { return c.registryOf(a).listImages(ctx, group, p) })
}

// Tags lists the tags of an image, which is named as Images does, or by its number
// where that has one.
func (c *Client) Tags(ctx context.Context, a *credential.Account, group, image string, p Page) (*List[Tag], error) {
	return listOrExplain(a, func() (*List[Tag], error) { return c.registryOf(a).listTags(ctx, group, image, p) })
}

// listOrExplain says what to do when a credential is no longer valid.
func listOrExplain[T any](a *credential.Account, ask func() (*List[T], error)) (*List[T], error) {
	l, err := ask()
	if err != nil {
		return nil, explainRefusal(a, err)
	}
	return l, nil
}

// explainRefusal says so where the registry refuses a stored credential.
func explainRefusal(a *credential.Account, err error) error {
	if errs.Is(err, errs.Forbidden) && !outbound.Refused(err) {
		return errs.Wrap(errs.Conflict, err, "%s does not accept the credential any more, or not for this: store "+
			"it again", a.Registry())
	}
	return err
}

// maxResponse bounds what is read of a response, in bytes.
const maxResponse = 8 << 20

// call is a request and how it is authorized.
type call struct {
	method string // empty: GET
	url    *url.URL
	body   string // JSON
	header map[string]string
	user   string // basic authentication, when it is not empty
	secret string
}

// sendRequest sends a request and decodes the response into out, which may be nil. A
// status of refusal is a Forbidden error, a missing thing NotFound, others Unavailable.
func (c *Client) sendRequest(ctx context.Context, q call, out any) (http.Header, error) {
	req, err := q.newRequest(ctx)
	if err != nil {
		return nil, err
	}
	resp, err := c.HTTP.Do(req, outbound.Limits{Body: maxResponse, Time: 30 * time.Second})
	if err != nil {
		return nil, err
	}
	defer func() { _ = resp.Body.Close() }()
	if err := q.checkStatus(resp.StatusCode); err != nil || out == nil {
		return resp.Header, err
	}
	if err := json.NewDecoder(resp.Body).Decode(out); err != nil {
		return resp.Header, errs.Wrap(errs.Unavailable, err, "%s returned an unknown response", q.url.Host)
	}
	return resp.Header, nil
}

// newRequest makes the request of a call.
func (q call) newRequest(ctx context.Context) (*http.Request, error) {
	method := q.method
	if method == "" {
		method = http.MethodGet
	}
	var body io.Reader
	if q.body != "" {
		body = strings.NewReader(q.body)
	}
	req, err := http.NewRequestWithContext(ctx, method, q.url.String(), body)
	if err != nil {
		return nil, errs.E(errs.Invalid, "the request to the registry is not possible")
	}
	req.Header.Set("Accept", "application/json")
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	for name, value := range q.header {
		req.Header.Set(name, value)
	}
	if q.user != "" {
		req.SetBasicAuth(q.user, q.secret)
	}
	return req, nil
}

// checkStatus returns the error of a status. Registries refuse the data of a form with any
// status of the client's faults, but too many requests say nothing of the credential.
func (q call) checkStatus(status int) error {
	refused := q.method == http.MethodPost && status >= 400 && status < 500 && status != http.StatusTooManyRequests
	switch {
	case status == http.StatusNotFound:
		return errs.E(errs.NotFound, "%s has no such image or project", q.url.Host)
	case status == http.StatusUnauthorized, status == http.StatusForbidden, refused:
		return errs.E(errs.Forbidden, "%s answers %d", q.url.Host, status)
	case status < 200 || status > 299:
		return errs.E(errs.Unavailable, "%s answers %d", q.url.Host, status)
	}
	return nil
}

// errNoGroups answers for registries that keep images in nothing.
var errNoGroups = errs.E(errs.NotImplemented, "this kind of registry has no such groups")

// pageOf returns the page of a whole list.
func pageOf[T any](all []T, p Page) *List[T] {
	from := min(len(all), (p.Number-1)*p.Size)
	return &List[T]{Items: all[from:min(len(all), from+p.Size)], Total: len(all)}
}

// timeOrNil is a time, or nil for none.
func timeOrNil(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	return &t
}
