package server

import (
	"time"

	"merlon/internal/config"
	"merlon/internal/errs"
	"merlon/internal/outbound"
	"merlon/internal/registry/aws"
	"merlon/internal/registry/catalog"
)

// Registries returns the client for registries of images, which goes through the
// guarded one, and at Amazon assumes roles as whom the settings say.
func Registries(c config.Registries, client *outbound.Client, now func() time.Time) (*catalog.Client, error) {
	id, secret, err := c.AWSKey()
	if err != nil {
		return nil, err
	}
	if c.AWSPrincipalARN != "" {
		if _, err := aws.ParsePrincipal(c.AWSPrincipalARN); err != nil {
			return nil, errs.Wrap(errs.Invalid, err, "aws-principal-arn")
		}
		if !aws.IsKeyID(id) {
			return nil, errs.E(errs.Invalid, "aws-access-key-id is not the identifier of a key")
		}
	}
	return &catalog.Client{HTTP: client, Now: now, Amazon: catalog.Amazon{Own: aws.Keys{ID: id, Secret: secret}}}, nil
}
