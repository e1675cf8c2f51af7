package api

import (
	"context"

	"merlon/internal/tenant"
)

// ClientApps are the identifiers of the region's client applications, as the
// specification names them.
type ClientApps struct {
	// The only one whose tokens come from a personal access token; the others sign users in with
	// a device or authorization code.
	CLI      ClientApp `json:"cli" doc:"Command-line application, the only one that may exchange a personal access token."`
	VSCode   ClientApp `json:"vscode"`
	IntelliJ ClientApp `json:"intellij"`
}

// A ClientApp is one client application.
type ClientApp struct {
	AppID string `json:"appId" doc:"Client ID. May change between releases: read it before each use."`
}

// clientAppsOutput has no secrets: all of these are public clients (RFC 6749, section 2.1).
type clientAppsOutput struct{ Body ClientApps }

// getClientApps lists the OAuth client IDs that the region's own applications use.
func (a *API) getClientApps(context.Context, tenant.Scope, *struct{}) (*clientAppsOutput, error) {
	return &clientAppsOutput{Body: a.ClientApps}, nil
}
