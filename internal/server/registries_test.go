package server

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"merlon/internal/config"
	"merlon/internal/errs"
	"merlon/internal/registry/aws"
)

// TestRegistries reads the deployment's key at Amazon, and refuses half of it.
func TestRegistries(t *testing.T) {
	file := func(text string) string {
		path := filepath.Join(t.TempDir(), "key")
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	const user, id = "arn:aws:iam::123456789012:user/merlon", "AKIAIOSFODNN7EXAMPLE"
	for name, test := range map[string]struct {
		c    config.Registries
		want aws.Keys
		bad  bool
	}{
		"none": {},
		"whole": {c: config.Registries{AWSPrincipalARN: user, AWSAccessKeyID: id,
			AWSSecretKeyFile: file("s3cret\n")}, want: aws.Keys{ID: id, Secret: "s3cret"}},
		"no user": {c: config.Registries{AWSAccessKeyID: id, AWSSecretKeyFile: file("s3cret")}, bad: true},
		"no key":  {c: config.Registries{AWSPrincipalARN: user}, bad: true},
		"no such file": {c: config.Registries{AWSPrincipalARN: user, AWSAccessKeyID: id,
			AWSSecretKeyFile: "/nowhere/key"}, bad: true},
		"an empty file": {c: config.Registries{AWSPrincipalARN: user, AWSAccessKeyID: id,
			AWSSecretKeyFile: file("\n")}, bad: true},
		"not a user": {c: config.Registries{AWSPrincipalARN: "merlon", AWSAccessKeyID: id,
			AWSSecretKeyFile: file("s3cret")}, bad: true},
		"not a key's part": {c: config.Registries{AWSPrincipalARN: user, AWSAccessKeyID: "x y",
			AWSSecretKeyFile: file("s3cret")}, bad: true},
	} {
		t.Run(name, func(t *testing.T) {
			client, err := Registries(test.c, nil, time.Now)
			if test.bad {
				if !errs.Is(err, errs.Invalid) {
					t.Errorf("got %v", err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, client.Amazon.Own); diff != "" {
				t.Errorf("keys (-want +got):\n%s", diff)
			}
		})
	}
}
