package cli

import (
	"context"
	"fmt"

	"merlon/internal/config"
	"merlon/internal/server"
)

type serveCommand struct {
	config.Server `embed:""`
}

// Run serves until the process is asked to stop.
func (c serveCommand) Run(ctx context.Context, host Host) error {
	return server.Run(ctx, c.Server, func(at server.Addresses) {
		_, _ = fmt.Fprintf(host.Stdout, "merlon is serving on %s\n", at.BaseURL) // the log says so too
	})
}

type workerCommand struct {
	config.Worker `embed:""`
}

// Run runs scans until the process is asked to stop.
func (c workerCommand) Run(ctx context.Context) error { return server.RunWorker(ctx, c.Worker) }
