package catalog

import (
	"cmp"
	"context"
	"encoding/base64"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"merlon/internal/errs"
	"merlon/internal/registry/credential"
)

// This file asks GitHub for the images of a user or an organization
// (https://docs.github.com/en/rest/packages/packages), with a personal access token.

// GitHub holds the addresses of GitHub's interface and of its registry; empty: the
// public ones.
type GitHub struct {
	API      string
	Registry string
}

// github lists the packages of an owner.
type github struct {
	c *Client
	a *credential.Account
}

// getAPI sends a request to the interface.
func (g *github) getAPI(ctx context.Context, q url.Values, out any, parts ...string) (http.Header, error) {
	u, err := credential.Base(cmp.Or(g.c.GitHub.API, "https://api.github.com"))
	if err != nil {
		return nil, err
	}
	for i := range parts {
		parts[i] = url.PathEscape(parts[i])
	}
	u = u.JoinPath(parts...)
	u.RawQuery = q.Encode()
	header, err := g.c.sendRequest(ctx, call{url: u, header: map[string]string{
		"Accept": "application/vnd.github+json", "X-GitHub-Api-Version": "2022-11-28", "Authorization": "Bearer " +
			g.a.Secret}}, out)
	if errs.Is(err, errs.Forbidden) && header.Get("X-Ratelimit-Remaining") == "0" {
		return header, errs.E(errs.TooMany, "%s has had too many requests with this token; try again later", u.Host)
	}
	return header, err
}

// checkAccount asks whose the token is, what it may and until when, and notes all that. It
// asks for the owner's packages where that is somebody else.
func (g *github) checkAccount(ctx context.Context) error {
	var user struct {
		Login string `json:"login"`
	}
	header, err := g.getAPI(ctx, nil, &user, "user")
	if err != nil {
		return err
	}
	if !credential.GithubName.MatchString(user.Login) {
		return errs.E(errs.Unavailable, "GitHub does not return the owner of the token")
	}
	f := &g.a.Fields
	f.GithubUsername, f.Scopes, f.ExpiresAt = user.Login, parseScopes(header.Get("X-Oauth-Scopes")),
		parseExpiry(header.Get("Github-Authentication-Token-Expiration"))
	if f.GithubOwner == "" || strings.EqualFold(f.GithubOwner, user.Login) {
		f.GithubOwner = user.Login
	}
	if !f.ReadsPackages() {
		return errs.E(errs.Invalid, "the token may not read packages: make a classic token with the scope "+
			"read:packages")
	}
	if f.GithubOwner == user.Login {
		return nil
	}
	_, err = g.listImages(ctx, "", Page{Number: 1, Size: 1})
	return err
}

// maxScopes bounds what is kept of a token's scopes; GitHub has some 40.
const maxScopes = 100

// parseScopes reads the header that says what a token may: "repo, read:packages".
func parseScopes(header string) []string {
	out := []string{}
	for part := range strings.SplitSeq(header, ",") {
		if part = strings.TrimSpace(part); part != "" && len(part) <= 100 && len(out) < maxScopes {
			out = append(out, part)
		}
	}
	return out
}

// parseExpiry reads the header that says when a token ends, as RFC 3339; empty: never, or
// it is not said.
func parseExpiry(header string) string {
	for _, layout := range []string{"2006-01-02 15:04:05 MST", "2006-01-02 15:04:05 -0700"} {
		if t, err := time.Parse(layout, header); err == nil {
			return t.UTC().Format(time.RFC3339)
		}
	}
	return ""
}

// listGroups fails: packages are in no groups.
func (g *github) listGroups(context.Context, Page) (*List[Group], error) { return nil, errNoGroups }

// packagesPath is the beginning of the address of the owner's packages.
func (g *github) packagesPath(parts ...string) []string {
	f := &g.a.Fields
	if strings.EqualFold(f.GithubOwner, f.GithubUsername) {
		return append([]string{"user", "packages"}, parts...)
	}
	return append([]string{"orgs", f.GithubOwner, "packages"}, parts...)
}

// A githubPackage is a package as GitHub describes it.
type githubPackage struct {
	ID         int64                  `json:"id"`
	Name       string                 `json:"name"`
	Visibility string                 `json:"visibility"`
	URL        string                 `json:"html_url"`
	Versions   int                    `json:"version_count"`
	Created    time.Time              `json:"created_at"`
	Updated    time.Time              `json:"updated_at"`
	Repository *struct{}              `json:"repository"`
	Owner      struct{ Login string } `json:"owner"`
}

// toImage shows a package as an image.
func (p githubPackage) toImage(owner string) Image {
	return Image{ID: p.ID, Name: p.Name, ProjectName: cmp.Or(p.Owner.Login, owner), Visibility: p.Visibility,
		URL: p.URL, Tags: p.Versions,
		CreatedAt: timeOrNil(p.Created), UpdatedAt: timeOrNil(p.Updated), Linked: p.Repository != nil}
}

// listImages lists the packages of a visibility; the empty one stands for all.
func (g *github) listImages(ctx context.Context, visibility string, p Page) (*List[Image], error) {
	q := p.githubQuery()
	q.Set("package_type", "container")
	if visibility != "" {
		q.Set("visibility", visibility)
	}
	var answer []githubPackage
	header, err := g.getAPI(ctx, q, &answer, g.packagesPath()...)
	if err != nil {
		return nil, err
	}
	out := &List[Image]{Total: p.minTotal(len(answer), header)}
	for _, found := range answer {
		out.Items = append(out.Items, found.toImage(g.a.Fields.GithubOwner))
	}
	return out, nil
}

// githubQuery is the query for a page at GitHub.
func (p Page) githubQuery() url.Values {
	return url.Values{"page": {strconv.Itoa(p.Number)}, "per_page": {strconv.Itoa(p.Size)}}
}

// minTotal is how long a list is at least: GitHub says no more than that there is another
// page.
func (p Page) minTotal(n int, header http.Header) int {
	n += (p.Number - 1) * p.Size
	if nextLink.MatchString(header.Get("Link")) {
		n++
	}
	return n
}

// packageName returns the name of a package of the owner, which may be in front of it.
func (g *github) packageName(image string) (string, error) {
	name := strings.TrimPrefix(strings.ToLower(image), strings.ToLower(g.a.Fields.GithubOwner)+"/")
	if !repository.MatchString(name) || len(name) > 255 {
		return "", errs.E(errs.NotFound, "there is no image of this name")
	}
	return name, nil
}

// listTags lists the versions of a package, each with its tags.
func (g *github) listTags(ctx context.Context, _, image string, p Page) (*List[Tag], error) {
	name, err := g.packageName(image)
	if err != nil {
		return nil, err
	}
	var answer []struct {
		ID       int64     `json:"id"`
		Name     string    `json:"name"`
		URL      string    `json:"html_url"`
		Created  time.Time `json:"created_at"`
		Updated  time.Time `json:"updated_at"`
		Metadata struct {
			Container struct {
				Tags []string `json:"tags"`
			} `json:"container"`
		} `json:"metadata"`
	}
	header, err := g.getAPI(ctx, p.githubQuery(), &answer, g.packagesPath("container", name, "versions")...)
	if err != nil {
		return nil, err
	}
	out := &List[Tag]{Total: p.minTotal(len(answer), header)}
	for _, v := range answer {
		out.Items = append(out.Items, Tag{ID: v.ID, Name: v.Name, Digest: v.Name, Names: v.Metadata.Container.Tags,
			URL:       v.URL,
			CreatedAt: timeOrNil(v.Created), UpdatedAt: timeOrNil(v.Updated)})
	}
	return out, nil
}

// Package returns a package of the account's owner at GitHub, by its name.
func (c *Client) Package(ctx context.Context, a *credential.Account, image string) (*Image, error) {
	g := &github{c, a}
	name, err := g.packageName(image)
	if err != nil {
		return nil, err
	}
	var answer githubPackage
	if _, err := g.getAPI(ctx, nil, &answer, g.packagesPath("container", name)...); err != nil {
		return nil, explainRefusal(a, err)
	}
	found := answer.toImage(a.Fields.GithubOwner)
	return &found, nil
}

// A PullToken lets its bearer pull images for a short time.
type PullToken struct {
	Text    string
	Expires time.Time
}

// PullToken exchanges the account's token at GitHub's registry for one that pulls
// the images alone and soon ends. A registry that answers with the account's token
// itself, as it stands or encoded, is refused: Forbidden.
func (c *Client) PullToken(ctx context.Context, a *credential.Account, images []string,
	now time.Time) (*PullToken, error) {
	u, err := credential.Base(cmp.Or(c.GitHub.Registry, "https://"+a.Registry()))
	if err != nil {
		return nil, err
	}
	q := url.Values{"service": {a.Registry()}}
	for _, image := range images {
		q.Add("scope", "repository:"+strings.ToLower(a.Fields.GithubOwner+"/"+image)+":pull")
	}
	u = u.JoinPath("token")
	u.RawQuery = q.Encode()
	var answer struct {
		Token   string `json:"token"`
		Access  string `json:"access_token"`
		Expires int64  `json:"expires_in"`
	}
	if _, err := c.sendRequest(ctx, call{url: u, user: a.Fields.GithubUsername, secret: a.Secret},
		&answer); err != nil {
		return nil, explainRefusal(a, err)
	}
	token := cmp.Or(answer.Token, answer.Access)
	switch {
	case token == "":
		return nil, errs.E(errs.Unavailable, "the response of %s has no token", u.Host)
	case revealsSecret(token, a.Secret):
		return nil, errs.E(errs.Forbidden, "%s gives no short-lived token for this one, and a stored token is not "+
			"handed out: sign in with one of your own", u.Host)
	}
	if answer.Expires <= 0 || answer.Expires > maxPull {
		answer.Expires = leastPull
	}
	return &PullToken{token, now.Add(time.Duration(answer.Expires) * time.Second)}, nil
}

// A token that says nothing of its end holds for a minute
// (https://distribution.github.io/distribution/spec/auth/token/), and none for more
// than a day.
const (
	leastPull = 60
	maxPull   = 86400
)

// revealsSecret reports whether the secret can be read in the token, as it is or in base64
// that begins anywhere.
func revealsSecret(token, secret string) bool {
	if strings.Contains(token, secret) {
		return true
	}
	token = strings.NewReplacer("-", "+", "_", "/").Replace(token)
	for part := range strings.FieldsFuncSeq(token, func(r rune) bool { return r == '.' || r == '=' }) {
		for begin := range min(4, len(part)) { // four letters hold three bytes
			plain, _ := base64.RawStdEncoding.DecodeString(part[begin:]) // as far as it goes
			if strings.Contains(string(plain), secret) {
				return true
			}
		}
	}
	return false
}
