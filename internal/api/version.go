package api

import (
	"context"

	"merlon/internal/tenant"
)

type versionAnswer struct{ Body Version }

func (a *API) getVersion(context.Context, tenant.Scope, *struct{}) (*versionAnswer, error) {
	return &versionAnswer{Body: a.Version}, nil
}
