// Package registries serves the operations on container registries: credentials,
// images, tags and scans of images.
package registries

import (
	"context"

	"merlon/internal/api/endpoint"
	"merlon/internal/audit"
	"merlon/internal/run"
	"merlon/internal/tenant"
)

// Handlers serves the operations on container registries.
type Handlers struct {
	*endpoint.Server
	Tenancy      AuditAppender
	Credentials  Credentials
	Catalog      Catalog
	Scans        ImageScans
	Images       Images
	Search       ImageSearch
	AWSPrincipal string
}

// AuditAppender appends events to the audit log.
type AuditAppender interface {
	AppendAudit(ctx context.Context, events []audit.Event) error
}

// ImageScans starts scans of container images.
type ImageScans interface {
	StartImage(ctx context.Context, sc tenant.Scope, in run.Start, image run.Image) (run.Run, error)
}
