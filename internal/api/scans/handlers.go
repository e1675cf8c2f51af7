// Package scans serves the operations on scans, uploads and policy evaluations.
package scans

import (
	"context"

	"merlon/internal/api/endpoint"
	"merlon/internal/api/targets"
	"merlon/internal/finding"
	"merlon/internal/run"
	"merlon/internal/tenant"
)

// Handlers serves the operations on scans.
type Handlers struct {
	*endpoint.Server
	Targets *targets.Handlers // find the target of a scan, and the owners of its hosts
	// Scans is the service that queues scans.
	Scans Scans
	// Results reads what became of the operations of dynamic scans.
	Results Operations
}

// Operations reads the operations of dynamic scans.
type Operations interface {
	Operations(ctx context.Context, sc tenant.Scope,
		q run.OperationQuery) ([]finding.Operation, map[finding.Outcome]int, error)
}
