package api

import (
	"context"

	"merlon/internal/tenant"
)

// ClientApps are the identifiers of the region's client applications, as the
// specification names them.
type ClientApps struct {
	CLI      ClientApp `json:"cli" doc:"Command-line application, the only one that may exchange a personal access token."`
	VSCode   ClientApp `json:"vscode"`
	IntelliJ ClientApp `json:"intellij"`
}

// A ClientApp is one client application.
type ClientApp struct {
	AppID string `json:"appId" doc:"Client ID. May change between releases: read it before each use."`
}

type clientAppsAnswer struct{ Body ClientApps }

func (a *API) getClientApps(context.Context, tenant.Scope, *struct{}) (*clientAppsAnswer, error) {
	return &clientAppsAnswer{Body: a.ClientApps}, nil
}
