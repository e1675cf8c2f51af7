package credential

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"merlon/internal/errs"
)

// TestAmazon puts credentials for Amazon together, and refuses what does not belong
// together.
func TestAmazon(t *testing.T) {
	const key, role = "AKIAIOSFODNN7EXAMPLE", "arn:aws:iam::210987654321:role/pull"
	keys := Fields{AWSRegion: "eu-west-1", AWSAccessKeyID: key}
	secrets := Secrets{AWSSecretAccessKey: "s3cret", ExternalID: "agreed"}
	for name, test := range map[string]struct {
		fields Fields
		want   *Account
	}{
		"keys": {keys,
			&Account{Kind: Amazon, Secret: "s3cret", Fields: Fields{CredentialType: StaticKeys, AWSRegion: "eu-west-1",
				AWSAccessKeyID: key}}},
		"a role": {Fields{CredentialType: Role, AWSRegion: "eu-west-1", RoleARN: role},
			&Account{Kind: Amazon, Secret: "agreed", Fields: Fields{CredentialType: Role, AWSRegion: "eu-west-1",
				RoleARN: role, AWSAccountID: "210987654321"}}},
		"a role and a key": {Fields{CredentialType: Role, AWSRegion: "eu-west-1", RoleARN: role, AWSAccessKeyID: key},
			&Account{Kind: Amazon, Secret: "agreed", Fields: Fields{CredentialType: Role, AWSRegion: "eu-west-1",
				RoleARN: role, AWSAccountID: "210987654321"}}},
		"no region":       {Fields{AWSAccessKeyID: key}, nil},
		"no such region":  {Fields{AWSRegion: "evil.example", AWSAccessKeyID: key}, nil},
		"no key":          {Fields{AWSRegion: "eu-west-1"}, nil},
		"no such key":     {Fields{AWSRegion: "eu-west-1", AWSAccessKeyID: "a/b"}, nil},
		"no such account": {Fields{AWSRegion: "eu-west-1", AWSAccessKeyID: key, AWSAccountID: "12"}, nil},
		"no such type":    {Fields{AWSRegion: "eu-west-1", AWSAccessKeyID: key, CredentialType: "password"}, nil},
		"no role":         {Fields{CredentialType: Role, AWSRegion: "eu-west-1"}, nil},
		"no such role": {Fields{CredentialType: Role, AWSRegion: "eu-west-1", RoleARN: "arn:aws:iam::1:role/x"},
			nil},
		"another partition": {Fields{CredentialType: Role, AWSRegion: "cn-north-1", RoleARN: role}, nil},
		"another's role": {Fields{CredentialType: Role, AWSRegion: "eu-west-1", RoleARN: role,
			AWSAccountID: "123456789012"}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := NewAccount(Amazon, test.fields, secrets)
			if test.want == nil && errs.Is(err, errs.Invalid) {
				return
			}
			if diff := cmp.Diff(test.want, got); err != nil || diff != "" {
				t.Errorf("%v (-want +got):\n%s", err, diff)
			}
			if _, err := NewAccount(Amazon, test.fields, Secrets{}); !errs.Is(err, errs.Invalid) {
				t.Errorf("without a secret: %v", err)
			}
		})
	}
	a, err := NewAccount(Amazon, keys, secrets)
	if err != nil || a.Registry() != "" {
		t.Fatalf("%q before its account is known, %v", a.Registry(), err)
	}
	a.Title, a.Fields.AWSAccountID = "CI / build", "123456789012"
	c := &Credential{Kind: Amazon, Fields: a.Fields, Name: a.Name()}
	if want := "123456789012.dkr.ecr.eu-west-1.amazonaws.com/CI / build"; c.Name != want || c.Title() != a.Title {
		t.Errorf("called %q, for people %q", c.Name, c.Title())
	}
}

// TestGitHub reads tokens of GitHub.
func TestGitHub(t *testing.T) {
	const token = "ghp_0123456789abcdefghij0123456789abcdef"
	for _, test := range []struct {
		token, owner string
		good         bool
	}{
		{token, "", true}, {token, "acme-corp", true}, {strings.Repeat("a1", 20), "", true}, {"", "", false},
		{"short", "", false},
		{token + "\n", "", false}, {token + " x", "", false}, {token, "a/b", false}, {token, "-a", false},
		{token, "..", false},
	} {
		a, err := NewAccount(GitHub, Fields{GithubOwner: test.owner}, Secrets{AccessToken: test.token})
		if test.good != (err == nil) || err != nil && (!errs.Is(err, errs.Invalid) ||
			strings.Contains(err.Error(), token)) {
			t.Errorf("%q for %q: %v", test.token, test.owner, err)
		}
		if err == nil && (a.Name() != "ghcr.io" || a.Secret != test.token) {
			t.Errorf("called %s", a.Name())
		}
	}
	for scope, want := range map[string]bool{"read:packages": true, "write:packages": true, "repo": false,
		"delete:packages": false} {
		if f := (Fields{Scopes: []string{"user", scope}}); f.ReadsPackages() != want {
			t.Errorf("%s: %t", scope, !want)
		}
	}
}
