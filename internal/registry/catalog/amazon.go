package catalog

import (
	"context"
	"net/http"
	"time"

	"merlon/internal/errs"
	"merlon/internal/outbound"
	"merlon/internal/registry/aws"
	"merlon/internal/registry/credential"
)

// This file asks Amazon's registries, with the keys of a user or of a role.

// Amazon says how Amazon is asked.
type Amazon struct {
	// Own are the keys of the deployment, with which it assumes the roles that
	// organizations name; without them it cannot.
	Own aws.Keys
	// Endpoint is as of aws.Client.
	Endpoint func(service string, r aws.Region) string
}

// amazon lists what an account of Amazon has.
type amazon struct {
	c *Client
	a *credential.Account
}

// newSession returns a session with the keys.
func (z *amazon) newSession(k aws.Keys) (*aws.Session, error) {
	region, err := aws.ParseRegion(z.a.Fields.AWSRegion)
	if err != nil {
		return nil, err
	}
	send := func(req *http.Request) (*http.Response, error) {
		// No redirects: a signature is only valid for the host that it was made for.
		return z.c.HTTP.Do(req, outbound.Limits{Body: maxResponse + 1, Time: 30 * time.Second, Redirects: -1})
	}
	return &aws.Session{Client: &aws.Client{Send: send, Endpoint: z.c.Amazon.Endpoint, Now: z.c.Now}, Region: region,
		Keys: k}, nil
}

// accountSession returns a session with the keys of the account.
func (z *amazon) accountSession(ctx context.Context) (*aws.Session, error) {
	f := &z.a.Fields
	if f.CredentialType != credential.Role {
		return z.newSession(aws.Keys{ID: f.AWSAccessKeyID, Secret: z.a.Secret})
	}
	own, err := z.ownSession()
	if err != nil {
		return nil, err
	}
	// The policy limits the session to pulling images, whatever the role allows.
	keys, err := own.Assume(ctx, aws.Role{ARN: f.RoleARN, ExternalID: z.a.Secret,
		Policy: aws.PullPolicy(own.Region, f.AWSAccountID)})
	if err != nil {
		return nil, err
	}
	return z.newSession(keys)
}

// ownSession returns a session with the keys of the deployment.
func (z *amazon) ownSession() (*aws.Session, error) {
	if z.c.Amazon.Own.ID == "" {
		return nil, errs.E(errs.Conflict, "this deployment has no keys of its own at Amazon and can assume no role: "+
			"store the keys of a user")
	}
	return z.newSession(z.c.Amazon.Own)
}

// checkAccount asks whose the keys are and for a password. A role must not trust us when we
// do not name the external identifier: another organization could use it then.
func (z *amazon) checkAccount(ctx context.Context) error {
	f := &z.a.Fields
	s, err := z.accountSession(ctx)
	if err != nil {
		return err
	}
	if f.CredentialType == credential.Role {
		if err := z.checkTrust(ctx); err != nil {
			return err
		}
	}
	account, err := s.Account(ctx)
	if err != nil {
		return err
	}
	if f.AWSAccountID != "" && f.AWSAccountID != account {
		return errs.E(errs.Invalid, "the credential is of another account than %s", f.AWSAccountID)
	}
	f.AWSAccountID = account
	_, err = s.Password(ctx)
	return err
}

// checkTrust assumes the role without the external identifier. A role that allows it could
// be assumed for another organization, too (confused deputy, CWE-441).
func (z *amazon) checkTrust(ctx context.Context) error {
	own, err := z.ownSession()
	if err != nil {
		return err
	}
	_, err = own.Assume(ctx, aws.Role{ARN: z.a.Fields.RoleARN,
		Policy: aws.PullPolicy(own.Region, z.a.Fields.AWSAccountID)})
	switch {
	case err == nil:
		return errs.E(errs.Invalid, "the role can be assumed without the external identifier: give it the trust "+
			"policy of prepare-iam-role")
	// Amazon denied it, and not our own policy for outgoing connections.
	case errs.Is(err, errs.Forbidden) && !outbound.Refused(err):
		return nil
	}
	return err
}

// listGroups fails: repositories are in no groups.
func (z *amazon) listGroups(context.Context, Page) (*List[Group], error) { return nil, errNoGroups }

// listImages lists repositories.
func (z *amazon) listImages(ctx context.Context, _ string, p Page) (*List[Image], error) {
	s, err := z.accountSession(ctx)
	if err != nil {
		return nil, err
	}
	found, next, err := s.Repositories(ctx, z.a.Fields.AWSAccountID, aws.Page{Size: p.Size, From: p.From})
	if err != nil {
		return nil, err
	}
	out := &List[Image]{Total: len(found), Next: next}
	for _, r := range found {
		out.Items = append(out.Items, Image{Name: r.Name, RepositoryName: r.Name, Path: r.URI,
			CreatedAt: timeOrNil(r.Created)})
	}
	return out, nil
}

// listTags lists the images of a repository by their tags.
func (z *amazon) listTags(ctx context.Context, _, image string, p Page) (*List[Tag], error) {
	if !repository.MatchString(image) || len(image) > 256 {
		return nil, errs.E(errs.NotFound, "there is no image of this name")
	}
	s, err := z.accountSession(ctx)
	if err != nil {
		return nil, err
	}
	found, next, err := s.Versions(ctx, z.a.Fields.AWSAccountID, image, aws.Page{Size: p.Size, From: p.From})
	if err != nil {
		return nil, err
	}
	out := &List[Tag]{Next: next}
	for _, v := range found {
		for _, tag := range v.Tags {
			out.Items = append(out.Items, Tag{Name: tag, Digest: v.Digest, Size: v.Size, CreatedAt: timeOrNil(v.Pushed),
				PushTime: timeOrNil(v.Pushed), PullTime: timeOrNil(v.Pulled)})
		}
	}
	out.Total = len(out.Items)
	return out, nil
}

// fetchPassword is one for the registry, which Amazon gives out for 12 hours at most.
func (z *amazon) fetchPassword(ctx context.Context) (string, error) {
	s, err := z.accountSession(ctx)
	if err != nil {
		return "", err
	}
	return s.Password(ctx)
}
