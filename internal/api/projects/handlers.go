// Package projects serves the operations on projects.
package projects

import (
	"merlon/internal/api/endpoint"
	"merlon/internal/api/scancoverage"
	"merlon/internal/finding"
)

// Handlers serves the operations on projects.
type Handlers struct {
	*endpoint.Server
	*scancoverage.Reader
	Tenancy  Projects
	Analyses []finding.Analysis
}
