package cli

import (
	"context"
	"fmt"

	"merlon/internal/config"
	"merlon/internal/connbroker"
	"merlon/internal/engine/all"
	"merlon/internal/finding"
	"merlon/internal/oast"
	"merlon/internal/scan"
)

// This file is what a worker runs for a scan of a running application.

// runLent examines the running application that a worker tells of. The process is in a
// sandbox, and all of its connections are the worker's.
// The target comes through the connection and not from the command line, which other users can
// read.
func (c *scanCommand) runLent(ctx context.Context, host Host, analyses []finding.Analysis) error {
	lender, err := connbroker.Open(c.ConnFD)
	if err != nil {
		return err
	}
	job, err := lender.Job()
	if err != nil {
		return err
	}
	advisories, err := openAdvisories(c.Advisories)
	if err != nil {
		return err
	}
	options := scan.Options{
		// so that none waits for the other
		// At least two workers: an analyzer may wait for what another one collects.
		Analyzers: all.Analyzers, Analyses: analyses, Profile: finding.Profile(c.Profile), Version: config.Version,
		Workers: max(c.Parallel, 2),
		Limits:  scan.Limits{LiveTime: job.Limit},
		Live: &scan.Live{
			Target: job.Target, ID: job.ID, Dial: lender.Dial, BrowserReason: job.BrowserReason, Resume: job.Resume,
			SaveCheckpoint: lender.Keep,
		},
	}
	if advisories != nil {
		defer func() { _ = advisories.Close() }() // read only
		options.Advisories = advisories
	}
	// The worker starts the browser, as the sandbox cannot.
	if job.Browser {
		options.Live.Chromium = lender.Chromium
	}
	options.Live.OASTReason = job.OASTReason
	if job.OAST != nil {
		options.Live.OAST = workerOAST{*job.OAST, lender}
	}
	return c.writeReport(host, c.Format, func(h scan.Handler) error {
		if err := scan.Run(ctx, options, h); err != nil {
			return fmt.Errorf("scan %s: %w", job.ID, err)
		}
		return nil
	})
}

// A workerOAST is the listener of the worker.
// Tokens make the addresses of payloads; the interactions with them are recorded by the worker.
type workerOAST struct {
	oast.Tokens
	lender *connbroker.Client
}

// Interactions implements scan.OASTListener. A worker that does not answer any more ends the scan
// by other ways.
// n is how many interactions the caller has seen already.
func (c workerOAST) Interactions(n int) []scan.Interaction {
	calls, err := c.lender.Calls(n)
	if err != nil {
		return nil
	}
	return calls
}
