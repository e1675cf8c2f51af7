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
		// the log says so too
		_, _ = fmt.Fprintf(host.Stdout, "merlon is serving on %s\n%s\n", at.BaseURL, signUpText(c.SignUp))
	})
}

// signUpText says who can make an account.
func signUpText(open bool) string {
	if open {
		return "sign-up is open: anybody with an e-mail address can make an account (close it: --no-sign-up)"
	}
	return "sign-up is off: only people who are invited can make an account (open it: --sign-up; first " +
		"administrator: merlon admin bootstrap)"
}

type workerCommand struct {
	config.Worker `embed:""`
}

// Run runs scans until the process is asked to stop.
func (c workerCommand) Run(ctx context.Context) error { return server.RunWorker(ctx, c.Worker) }
