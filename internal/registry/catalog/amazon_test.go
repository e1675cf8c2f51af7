package catalog

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"merlon/internal/errs"
	"merlon/internal/registry/aws"
	"merlon/internal/registry/aws/awstest"
	"merlon/internal/registry/credential"
)

const (
	amazonKey  = "AKIAIOSFODNN7EXAMPLE"
	deployment = "AKIAIOSFODNN7MERLON0"
	pullRole   = "arn:aws:iam::210987654321:role/pull"
)

// amazonClient asks an Amazon of the tests, where the deployment may assume a role
// that demands "agreed".
func amazonClient(t *testing.T) (*Client, *awstest.Amazon) {
	z := awstest.New(t)
	z.Users[deployment] = awstest.User{Account: "999999999999", Secret: "own"}
	z.Roles[pullRole] = awstest.Role{Trusts: deployment, ExternalID: "agreed", Account: "210987654321"}
	z.Images["team/app"] = []aws.Version{{Digest: "sha256:1", Tags: []string{"1.0", "latest"}, Size: 42, Pushed: z.Now},
		{Digest: "sha256:2", Tags: []string{"0.9"}, Size: 41, Pushed: z.Now}}
	z.Images["web"] = nil
	c := client(t)
	c.Now, c.Amazon = z.Clock, Amazon{Own: aws.Keys{ID: deployment, Secret: "own"}, Endpoint: z.Endpoint}
	return c, z
}

func amazonAccount(t *testing.T, f credential.Fields, s credential.Secrets) *credential.Account {
	t.Helper()
	f.AWSRegion = "eu-west-1"
	a, err := credential.NewAccount(credential.Amazon, f, s)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func keyAccount(t *testing.T, secret string) *credential.Account {
	return amazonAccount(t, credential.Fields{AWSAccessKeyID: amazonKey},
		credential.Secrets{AWSSecretAccessKey: secret})
}

func roleAccount(t *testing.T, externalID string) *credential.Account {
	return amazonAccount(t, credential.Fields{CredentialType: credential.Role, RoleARN: pullRole},
		credential.Secrets{ExternalID: externalID})
}

// TestAmazonAccounts asks with the keys of a user, and with those of a role.
func TestAmazonAccounts(t *testing.T) {
	c, z := amazonClient(t)
	for number, a := range map[string]*credential.Account{"123456789012": keyAccount(t, "s3cret"),
		"210987654321": roleAccount(t, "agreed")} {
		if err := c.Check(t.Context(), a); err != nil || a.Fields.AWSAccountID != number {
			t.Fatalf("%v, account %s", err, a.Fields.AWSAccountID)
		}
		images, err := c.Images(t.Context(), a, "", Page{Number: 1, Size: 1})
		if err != nil || images.Next == "" || names(images, imageName) != "[team/app] of 1" {
			t.Fatalf("images %+v, %v", images, err)
		}
		images, err = c.Images(t.Context(), a, "", Page{Number: 1, Size: 1, From: images.Next})
		if err != nil || images.Next != "" || names(images, imageName) != "[web] of 1" {
			t.Errorf("more images %+v, %v", images, err)
		}
		tags, err := c.Tags(t.Context(), a, "", "team/app", Page{Number: 1, Size: 10})
		at := z.Now
		want := &List[Tag]{Total: 3, Items: []Tag{
			{Name: "1.0", Digest: "sha256:1", Size: 42, CreatedAt: &at, PushTime: &at},
			{Name: "latest", Digest: "sha256:1", Size: 42, CreatedAt: &at, PushTime: &at},
			{Name: "0.9", Digest: "sha256:2", Size: 41, CreatedAt: &at, PushTime: &at}}}
		if diff := cmp.Diff(want, tags); err != nil || diff != "" {
			t.Errorf("tags, %v (-want +got):\n%s", err, diff)
		}
		for _, image := range []string{"none", "../x", "", strings.Repeat("a", 300)} {
			if _, err := c.Tags(t.Context(), a, "", image, Page{Number: 1, Size: 10}); !errs.Is(err, errs.NotFound) {
				t.Errorf("tags of %.10q: %v", image, err)
			}
		}
		if _, err := c.Images(t.Context(), a, "", Page{Number: 1, Size: 10, From: "elsewhere"}); !errs.Is(err,
			errs.Invalid) {
			t.Errorf("from nowhere: %v", err)
		}
		if _, err := c.Groups(t.Context(), a, Page{Number: 1, Size: 10}); !errs.Is(err, errs.NotImplemented) {
			t.Errorf("groups: %v", err)
		}
		user, password, err := c.Login(t.Context(), a)
		if err != nil || user != "AWS" || password != awstest.Password(number) {
			t.Errorf("%s signs in with %q, %v", user, password, err)
		}
	}
}

// TestAmazonRefuses says why a credential is not stored, or no longer used.
func TestAmazonRefuses(t *testing.T) {
	c, z := amazonClient(t)
	other := keyAccount(t, "s3cret")
	other.Fields.AWSAccountID = "000000000000"
	for name, a := range map[string]*credential.Account{
		"a wrong secret": keyAccount(t, "wrong"), "another account": other, "an identifier that the role does " +
			"not know": roleAccount(t, "guess"),
	} {
		if err := c.Check(t.Context(), a); !errs.Is(err, errs.Invalid) || strings.Contains(err.Error(), "wrong") {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := c.Images(t.Context(), keyAccount(t, "wrong"), "", Page{Number: 1, Size: 1}); !errs.Is(err,
		errs.Conflict) {
		t.Errorf("a secret that holds no longer: %v", err)
	}
	if _, _, err := c.Login(t.Context(), keyAccount(t, "wrong")); !errs.Is(err, errs.Conflict) {
		t.Errorf("a secret that holds no longer signs in: %v", err)
	}
	// A role that anybody could have us assume.
	z.Roles[pullRole] = awstest.Role{Trusts: deployment, Account: "210987654321"}
	if err := c.Check(t.Context(), roleAccount(t, "agreed")); !errs.Is(err, errs.Invalid) ||
		!strings.Contains(err.Error(), "without the external identifier") {
		t.Errorf("a role that trusts everybody: %v", err)
	}
	z.Calls = nil
	c.Amazon.Own.Secret = "old"
	if err := c.Check(t.Context(), roleAccount(t, "agreed")); !errs.Is(err, errs.Unavailable) {
		t.Errorf("keys of the deployment that do not hold: %v", err)
	}
	c.Amazon.Own = aws.Keys{}
	if err := c.Check(t.Context(), roleAccount(t, "agreed")); !errs.Is(err, errs.Conflict) ||
		slices.Contains(z.Calls, "AssumeRole") {
		t.Errorf("no keys of the deployment: %v after %v", err, z.Calls)
	}
	if err := c.Check(t.Context(), keyAccount(t, "s3cret")); err != nil {
		t.Errorf("keys of a user then: %v", err)
	}
}
