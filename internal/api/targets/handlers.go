// Package targets serves the operations on targets, which are running applications,
// and on the ownership of their hosts.
package targets

import "merlon/internal/api/endpoint"

// Handlers serves the operations on targets.
type Handlers struct {
	*endpoint.Server
	Targets Targets
	Owners  Owners
}
