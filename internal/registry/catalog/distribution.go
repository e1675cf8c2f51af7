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

// distribution lists what a registry with the common interface has.
type distribution struct {
	c *Client
	a *credential.Account
}

// baseURL is the address of the account's registry.
func (d *distribution) baseURL() *url.URL {
	f := &d.a.Fields
	u, err := credential.Base(map[credential.Kind]string{credential.GitLab: f.RegistryURL,
		credential.Google: f.RegistryHostname,
		credential.Azure:  f.ACRLoginServer, credential.Quay: f.QuayHost, credential.JFrog: f.JfrogURL}[d.a.Kind])
	if err != nil {
		return &url.URL{} // NewAccount has looked at it
	}
	if d.a.Kind == credential.JFrog {
		return artifactoryURL(u, "api", "docker", f.RepositoryKey)
	}
	return u
}

// namePrefix is what the names of the account's images begin with.
func (d *distribution) namePrefix() string {
	switch d.a.Kind {
	case credential.Google:
		return d.a.Fields.GCPProjectID + "/"
	case credential.Quay:
		return d.a.Fields.QuayNamespace + "/"
	}
	return ""
}

// checkAccount asks for the root of the interface, which holds nothing.
func (d *distribution) checkAccount(ctx context.Context) error {
	_, err := d.getWithToken(ctx, d.baseURL().JoinPath("v2").String()+"/", "", nil)
	return err
}

// listGroups fails: the interface knows no groups.
func (d *distribution) listGroups(context.Context, Page) (*List[Group], error) {
	return nil, errNoGroups
}

// listImages lists the repositories of the catalog.
func (d *distribution) listImages(ctx context.Context, _ string, p Page) (*List[Image], error) {
	found, err := d.listNames(ctx, listing{"v2/_catalog", "registry:catalog:*", d.namePrefix()}, p)
	if err != nil {
		return nil, err
	}
	return convertList(found, func(name string) Image { return Image{Name: name} }), nil
}

// listTags lists the tags of a repository.
func (d *distribution) listTags(ctx context.Context, _, image string, p Page) (*List[Tag], error) {
	if !repository.MatchString(image) || !strings.HasPrefix(image, d.namePrefix()) {
		return nil, errs.E(errs.NotFound, "the credential is for no image of this name")
	}
	found, err := d.listNames(ctx, listing{"v2/" + image + "/tags/list", "repository:" + image + ":pull", ""}, p)
	if err != nil {
		return nil, err
	}
	return convertList(found, func(name string) Tag { return Tag{Name: name} }), nil
}

// repository matches the name of a repository, as the specification has it.
var repository = regexp.MustCompile(`^[a-z0-9]+([._-]+[a-z0-9]+)*(/[a-z0-9]+([._-]+[a-z0-9]+)*)*$`)

// getWithToken sends a request with the credential, or with the token that the registry
// wants instead.
func (d *distribution) getWithToken(ctx context.Context, address, scope string, out any) (http.Header, error) {
	u, err := url.Parse(address)
	if err != nil {
		return nil, errs.E(errs.Unavailable, "%s returned an unknown response", d.baseURL().Host)
	}
	if d.a.Kind == credential.JFrog { // which may show something to strangers, and takes a password everywhere
		return d.c.sendRequest(ctx, call{url: u, user: d.a.User(), secret: d.a.Secret}, out)
	}
	// The first request is anonymous: its response says where and how to sign in (RFC 9110, section
	// 11.6.1).
	header, err := d.c.sendRequest(ctx, call{url: u}, out)
	if !errs.Is(err, errs.Forbidden) || header == nil {
		return header, err
	}
	challenge := header.Get("WWW-Authenticate")
	scheme, rest, _ := strings.Cut(challenge, " ")
	if strings.EqualFold(scheme, "Basic") {
		return d.c.sendRequest(ctx, call{url: u, user: d.a.User(), secret: d.a.Secret}, out)
	}
	if !strings.EqualFold(scheme, "Bearer") {
		return header, err
	}
	token, err := d.fetchToken(ctx, rest, scope)
	if err != nil {
		return nil, err
	}
	return d.c.sendRequest(ctx, call{url: u, header: map[string]string{"Authorization": "Bearer " + token}}, out)
}

// fetchToken asks the realm of a challenge for a token. The credential goes only to the
// registry's own host, or to one below the same registered name, over https: a registry
// must not have it sent elsewhere.
func (d *distribution) fetchToken(ctx context.Context, challenge, scope string) (string, error) {
	fields := map[string]string{}
	for _, m := range challengeField.FindAllStringSubmatch(challenge, -1) {
		fields[strings.ToLower(m[1])] = m[2]
	}
	realm, err := url.Parse(fields["realm"])
	if err != nil || realm.Host == "" || realm.Scheme != d.baseURL().Scheme && realm.Scheme != "https" ||
		!d.a.SignsIn(realm.Hostname()) {
		return "", errs.E(errs.Unavailable, "%s sends its users elsewhere to sign in: refused", d.baseURL().Host)
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
	if _, err := d.c.sendRequest(ctx, call{url: realm, user: d.a.User(), secret: d.a.Secret}, &answer); err != nil {
		return "", err
	}
	if answer.Token == "" {
		answer.Token = answer.Access
	}
	if answer.Token == "" {
		return "", errs.E(errs.Unavailable, "the response of %s has no token", realm.Host)
	}
	return answer.Token, nil
}

// challengeField matches a field of what a registry asks for.
var challengeField = regexp.MustCompile(`([A-Za-z_]+)="([^"]*)"`)
