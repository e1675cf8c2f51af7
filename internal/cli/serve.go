package cli

import (
	"context"
	"fmt"

	"merlon/internal/config"
	"merlon/internal/server"
)

// serveCommand runs the server: API, identity service, and by default workers.
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
// Open sign-up on a public address is a decision, so the start message names it either way.
func signUpText(open bool) string {
	if open {
		return "Sign-up is open: anybody with an e-mail address can create an account (--no-sign-up closes it)."
	}
	return "Sign-up is closed: only people who are invited can create an account (--sign-up opens it; " +
		"merlon admin bootstrap creates the first administrator)."
}

// workerCommand runs workers without a server. They need only the database and the blob storage,
// so they can run in a separate network.
type workerCommand struct {
	config.Worker `embed:""`
}

// Run runs scans until the process is asked to stop.
func (c workerCommand) Run(ctx context.Context) error { return server.RunWorker(ctx, c.Worker) }
