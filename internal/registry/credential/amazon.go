package credential

import (
	"cmp"
	"slices"
	"strings"

	"merlon/internal/errs"
	"merlon/internal/lazyregexp"
	"merlon/internal/registry/aws"
)

// This file reads credentials for the registries of two clouds that have forms of
// their own.

// The types of credentials for Amazon.
const (
	StaticKeys = "static_keys" // of a user; the secret is theirs
	Role       = "iam_role"    // that the deployment assumes; the secret is the external identifier
)

// finishAmazon finishes an account at Amazon. That of static keys may have no account
// number before the registry has told it.
func finishAmazon(a *Account, s Secrets) (*Account, error) {
	p := &a.Fields
	p.CredentialType = cmp.Or(p.CredentialType, StaticKeys)
	if strings.TrimSpace(p.AWSRegion) == "" {
		return nil, missingError("awsRegion")
	}
	region, err := aws.ParseRegion(p.AWSRegion)
	if err != nil {
		return nil, err
	}
	if p.AWSAccountID != "" && !aws.IsAccount(p.AWSAccountID) {
		return nil, errs.E(errs.Invalid, "awsAccountId is not the number of an account, twelve digits")
	}
	switch p.CredentialType {
	case StaticKeys:
		p.RoleARN, a.Secret = "", s.AWSSecretAccessKey
		switch {
		case p.AWSAccessKeyID == "":
			return nil, missingError("awsAccessKeyId")
		case strings.TrimSpace(a.Secret) == "":
			return nil, missingError("awsSecretAccessKey")
		case !aws.IsKeyID(p.AWSAccessKeyID):
			return nil, errs.E(errs.Invalid, "awsAccessKeyId is not the identifier of a key")
		}
		return a, nil
	case Role:
		p.AWSAccessKeyID, a.Secret = "", s.ExternalID
		switch {
		case p.RoleARN == "":
			return nil, missingError("roleArn")
		case a.Secret == "":
			return nil, missingError("externalId")
		}
		return a, setRoleAccount(p, region)
	}
	return nil, errs.E(errs.Invalid, "credentialType is neither %s nor %s", StaticKeys, Role)
}

// setRoleAccount takes the number of the account from the role.
func setRoleAccount(p *Fields, region aws.Region) error {
	role, err := aws.ParseRole(p.RoleARN)
	switch {
	case err != nil:
		return err
	case role.Partition != region.Partition:
		return errs.E(errs.Invalid, "roleArn is of the partition %s, and awsRegion of %s", role.Partition,
			region.Partition)
	case p.AWSAccountID != "" && p.AWSAccountID != role.Account:
		return errs.E(errs.Invalid, "awsAccountId is not the account of roleArn")
	}
	p.AWSAccountID = role.Account
	return nil
}

// GithubName matches the name of a user or an organization of GitHub.
var GithubName = lazyregexp.New(`^[A-Za-z0-9](-?[A-Za-z0-9]){0,99}$`)

// finishGitHub finishes an account at GitHub: a personal access token and perhaps whose
// images it is for.
func finishGitHub(a *Account, s Secrets) (*Account, error) {
	a.Secret = s.AccessToken
	switch {
	case a.Secret == "":
		return nil, missingError("pat")
	case !githubToken.MatchString(a.Secret):
		return nil, errs.E(errs.Invalid, "pat is not a token of GitHub")
	case a.Fields.GithubOwner != "" && !GithubName.MatchString(a.Fields.GithubOwner):
		return nil, errs.E(errs.Invalid, "githubOwner is not the name of a user or an organization of GitHub")
	}
	return a, nil
}

// githubToken matches a personal access token, of the present forms and of the
// older one.
var githubToken = lazyregexp.New(`^[A-Za-z0-9_]{20,255}$`)

// ReadsPackages reports whether a token of GitHub may read packages, by its scopes.
func (f *Fields) ReadsPackages() bool {
	return slices.Contains(f.Scopes, "read:packages") || slices.Contains(f.Scopes, "write:packages")
}
