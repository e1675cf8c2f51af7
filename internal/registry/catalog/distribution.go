package catalog

import (
	"context"
	"net/http"
	"net/url"
	"regexp"
	"strings"

	"merlon/internal/errs"
	"merlon/internal/registry/credential"
)

// This file asks by the OCI distribution specification, with the tokens that
// registries hand out (https://distribution.github.io/distribution/spec/auth/token/).

type distribution struct {
	c *Client
	a *credential.Account
}

func (d *distribution) base() *url.URL {
	f := &d.a.Fields
	u, err := credential.Base(map[credential.Kind]string{credential.GitLab: f.RegistryURL,
		credential.Google: f.RegistryHostname,
		credential.Azure:  f.ACRLoginServer, credential.Quay: f.QuayHost, credential.JFrog: f.JfrogURL}[d.a.Kind])
	if err != nil {
		return &url.URL{} // NewAccount has looked at it
	}
	if d.a.Kind == credential.JFrog {
		return artifactory(u, "api", "docker", f.RepositoryKey)
	}
	return u
}

// prefix is what the names of the account's images begin with.
func (d *distribution) prefix() string {
	switch d.a.Kind {
	case credential.Google:
		return d.a.Fields.GCPProjectID + "/"
	case credential.Quay:
		return d.a.Fields.QuayNamespace + "/"
	}
	return ""
}

func (d *distribution) check(ctx context.Context) error {
	_, err := d.get(ctx, d.base().JoinPath("v2").String()+"/", "", nil)
	return err
}

func (d *distribution) groups(context.Context, Page) (*List[Group], error) { return nil, errNoGroups }

func (d *distribution) images(ctx context.Context, _ string, p Page) (*List[Image], error) {
	found, err := d.names(ctx, listing{"v2/_catalog", "registry:catalog:*", d.prefix()}, p)
	if err != nil {
		return nil, err
	}
	return convert(found, func(name string) Image { return Image{Name: name} }), nil
}

func (d *distribution) tags(ctx context.Context, _, image string, p Page) (*List[Tag], error) {
	if !repository.MatchString(image) || !strings.HasPrefix(image, d.prefix()) {
		return nil, errs.E(errs.NotFound, "the credential is for no image of this name")
	}
	found, err := d.names(ctx, listing{"v2/" + image + "/tags/list", "repository:" + image + ":pull", ""}, p)
	if err != nil {
		return nil, err
	}
	return convert(found, func(name string) Tag { return Tag{Name: name} }), nil
}

// repository matches the name of a repository, as the specification has it.
var repository = regexp.MustCompile(`^[a-z0-9]+([._-]+[a-z0-9]+)*(/[a-z0-9]+([._-]+[a-z0-9]+)*)*$`)

// get asks with the credential, or with the token that the registry wants instead.
func (d *distribution) get(ctx context.Context, address, scope string, out any) (http.Header, error) {
	u, err := url.Parse(address)
	if err != nil {
		return nil, errs.E(errs.Unavailable, "%s answers something that is not understood", d.base().Host)
	}
	if d.a.Kind == credential.JFrog { // which may show something to strangers, and takes a password everywhere
		return d.c.send(ctx, call{url: u, user: d.a.User(), secret: d.a.Secret}, out)
	}
	header, err := d.c.send(ctx, call{url: u}, out)
	if !errs.Is(err, errs.Forbidden) || header == nil {
		return header, err
	}
	challenge := header.Get("WWW-Authenticate")
	scheme, rest, _ := strings.Cut(challenge, " ")
	if strings.EqualFold(scheme, "Basic") {
		return d.c.send(ctx, call{url: u, user: d.a.User(), secret: d.a.Secret}, out)
	}
	if !strings.EqualFold(scheme, "Bearer") {
		return header, err
	}
	token, err := d.token(ctx, rest, scope)
	if err != nil {
		return nil, err
	}
	return d.c.send(ctx, call{url: u, header: map[string]string{"Authorization": "Bearer " + token}}, out)
}

// token asks the place that a challenge names. The credential goes only to the
// registry's own host, or to one below the same registered name, over https.
func (d *distribution) token(ctx context.Context, challenge, scope string) (string, error) {
	fields := map[string]string{}
	for _, m := range challengeField.FindAllStringSubmatch(challenge, -1) {
		fields[strings.ToLower(m[1])] = m[2]
	}
	realm, err := url.Parse(fields["realm"])
	if err != nil || realm.Host == "" || realm.Scheme != d.base().Scheme && realm.Scheme != "https" ||
		!d.a.SignsIn(realm.Hostname()) {
		return "", errs.E(errs.Unavailable, "%s sends its users elsewhere to sign in: refused", d.base().Host)
	}
	q := realm.Query()
	if s := fields["service"]; s != "" {
		q.Set("service", s)
	}
	if scope == "" {
		scope = fields["scope"]
	}
	if scope != "" {
		q.Set("scope", scope)
	}
	realm.RawQuery = q.Encode()
	var answer struct {
		Token  string `json:"token"`
		Access string `json:"access_token"`
	}
	if _, err := d.c.send(ctx, call{url: realm, user: d.a.User(), secret: d.a.Secret}, &answer); err != nil {
		return "", err
	}
	if answer.Token == "" {
		answer.Token = answer.Access
	}
	if answer.Token == "" {
		return "", errs.E(errs.Unavailable, "%s answers without a token", realm.Host)
	}
	return answer.Token, nil
}

var challengeField = regexp.MustCompile(`([A-Za-z_]+)="([^"]*)"`)
