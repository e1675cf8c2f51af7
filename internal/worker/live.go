package worker

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"merlon/internal/chromium"
	"merlon/internal/connbroker"
	"merlon/internal/errs"
	"merlon/internal/redact"
	"merlon/internal/run"
	"merlon/internal/sandbox"
	"merlon/internal/scan"
)

// This file scans running applications. The child has no network: the worker lends it
// connections, each of which it decides about.

// A Target is a running application with what a scan of it may have.
type Target struct {
	Whole  *scan.Target // with its secrets
	Resume []byte       // what an earlier attempt has kept
	// Reasons are what of the target is not looked at.
	Reasons []scan.Reason
	// Dial makes the connections that the scan asks for, or refuses them.
	Dial func(ctx context.Context, network, address string) (net.Conn, error)
	// Keep stores what the scan wants to find again.
	Keep func(ctx context.Context, kept []byte) error
}

// noListener is why nobody hears what a target sends elsewhere.
const noListener = "the worker has no listener for calls of targets: set dast-oast"

// scanTarget examines the run's target.
func (w *Worker) scanTarget(ctx context.Context, rec *recorder, c child) error {
	if w.OpenTarget == nil {
		return &run.Failure{Message: "the target is sealed, and this worker has no master key: set master-key-file",
			Code: run.CodeNoKey, Category: run.CategoryAuthentication}
	}
	rec.meter.recordProgress(0, "verifying the ownership of the target")
	t, err := w.OpenTarget(ctx, c.run)
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case errs.Is(err, errs.Forbidden):
		return &run.Failure{Message: publicMessage(err), Code: run.CodeOwnership, Category: run.CategoryAuthentication}
	case errs.Is(err, errs.NotFound):
		return run.Fail(run.CodeTarget, "the target that the scan was started for was deleted")
	case err != nil:
		return markRetry(err)
	}
	if err := os.Mkdir(c.tree, 0o700); err != nil { // the child's working folder, empty
		return markRetry(err)
	}
	rec.skipped = t.Reasons
	c.live, c.limit, c.secrets = t, w.LiveTime, t.Whole.Secrets()
	return w.recordChild(ctx, rec, c)
}

// redactHandler keeps the secrets of the target out of what is recorded. The child has done so
// already, and knows more of them; but it reads what a hostile application answers.
func (c *child) redactHandler(h scan.Handler) scan.Handler {
	if c.live == nil {
		return h
	}
	return scan.Redact(h, c.secrets)
}

// redactError keeps them out of the reason why a scan failed, which is stored and logged.
func (c *child) redactError(err error) error {
	var f *run.Failure
	var s *run.RetryError
	switch {
	case c.live == nil || err == nil:
		return err
	case errors.As(err, &s):
		return &run.RetryError{Failure: redact.Copy(c.secrets, s.Failure), Err: c.secrets.RedactError(s.Err)}
	case errors.As(err, &f):
		return redact.Copy(c.secrets, f)
	}
	return c.secrets.RedactError(err)
}

// liveMargin is how long before the limit a scan ends by itself, with what it has.
const liveMargin = 3 * time.Minute

// liveSpec says what a child may have that examines a running application: an empty
// folder, and the tunnel. Nothing of the target stands in its arguments.
func (w *Worker) liveSpec(ctx context.Context, c child) (sandbox.Spec, error) {
	temp := filepath.Join(c.dir, "temp")
	if err := os.Mkdir(temp, 0o700); err != nil {
		return sandbox.Spec{}, err
	}
	names := make([]string, len(c.run.Analyses))
	for i, a := range c.run.Analyses {
		names[i] = string(a)
	}
	limits := w.Limits
	limits.CPU = max(limits.CPU, w.LiveTime)
	spec := sandbox.Spec{
		Path: w.Program,
		Args: []string{"scan", "--format", "stream", "--fail-on", "none", "--analyses", strings.Join(names, ","),
			"--profile", string(c.run.FindingProfile), "--conn-fd", strconv.Itoa(sandbox.FirstFile)},
		Env: []string{"TMPDIR=" + temp, fmt.Sprintf("GOMEMLIMIT=%d", w.Limits.Memory/10*8)},
		Dir: c.tree, ReadOnly: []string{c.tree}, ReadWrite: []string{temp}, Limits: limits,
	}
	return spec, w.addAdvisories(ctx, &spec)
}

// startBroker gives the child its tunnel, and returns a function that ends it. A child that
// scans files gets none.
func (w *Worker) startBroker(ctx context.Context, c child, spec *sandbox.Spec) (end func(), err error) {
	if c.live == nil {
		return func() {}, nil
	}
	lender, theirs, err := connbroker.New()
	if err != nil {
		return nil, err
	}
	spec.Files = append(spec.Files, theirs)
	host := connbroker.Host{Dial: c.live.Dial, SaveCheckpoint: c.live.Keep, Job: &connbroker.Job{
		ID: string(c.run.ID), Target: *c.live.Whole, Limit: c.limit - min(liveMargin, c.limit/10),
		Resume: c.live.Resume, BrowserReason: w.NoBrowser,
	}}
	if w.Browser != "" {
		host.Job.Browser = true
		host.Chromium = func(ctx context.Context) (*scan.Chromium, error) {
			return chromium.StartAlone(ctx, chromium.Options{Path: w.Browser, IgnoreCertificates: true})
		}
	}
	forget := func() {}
	if w.Listener == nil {
		host.Job.OASTReason = noListener
	} else {
		heard := w.Listener.Scan()
		host.Job.OAST, host.Interactions, forget = &heard.Tokens, heard.Interactions, heard.Close
	}
	ctx, cancel := context.WithCancel(ctx)
	served := make(chan error, 1)
	go func() { served <- lender.Serve(ctx, host) }()
	return func() {
		cancel()
		err := <-served
		forget()
		_ = theirs.Close() // the child is gone
		t := lender.Traffic()
		attrs := []slog.Attr{slog.String("scan", string(c.run.ID)), slog.Int64("connections", t.Connections),
			slog.Int64("refused", t.Refused),
			slog.Int64("sent", t.Sent), slog.Int64("received", t.Received)}
		if err != nil {
			attrs = append(attrs, slog.String("error", err.Error()))
		}
		w.Log.LogAttrs(context.WithoutCancel(ctx), slog.LevelInfo, "brokered connections of a scan", attrs...)
	}, nil
}
