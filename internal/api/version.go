package api

import (
	"context"

	"merlon/internal/tenant"
)

type versionOutput struct{ Body Version }

// getVersion responds with the version of the program. It is a health probe and reads nothing.
func (a *API) getVersion(context.Context, tenant.Scope, *struct{}) (*versionOutput, error) {
	return &versionOutput{Body: a.Version}, nil
}
