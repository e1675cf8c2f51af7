package server

import (
	"fmt"
	"log/slog"

	"merlon/internal/advisory"
	"merlon/internal/archive"
	"merlon/internal/chromium"
	"merlon/internal/config"
	"merlon/internal/livetarget/ownership"
	"merlon/internal/oast"
	"merlon/internal/sandbox"
	"merlon/internal/triage"
	"merlon/internal/worker"
)

// subjects are what scans look at besides uploads.
type subjects struct {
	images images
	owners *ownership.Verifier // of running applications; nil without the master key
	calls  *oast.Listener      // for what they send elsewhere; nil: nobody listens
	script string              // the setting dast-browser: what runs their script
}

// newWorker returns what runs scans in this process. With no slots it only
// dispatches and tidies.
func newWorker(d *deployment, c config.Store, w config.Work, s subjects, log *slog.Logger) (*worker.Worker, error) {
	if err := makeData(c); err != nil {
		return nil, err
	}
	budget := archive.DefaultBudget
	budget.Bytes, budget.Files = w.ExtractBytes<<20, w.ExtractFiles
	cache := advisory.Cache{Dir: c.Path("advisories"), Source: d.db}
	browser, noBrowser := chromium.Choose(s.script)
	work, err := worker.New(worker.Config{
		Jobs: d.db, Runs: d.db, DB: d.db.Write, Pool: d.db.Pool, Blobs: d.blobs,
		Ingest:     triage.New(d.db).Ingest,
		Advisories: cache.Path, FetchImage: s.images.fetchImage, OpenTarget: newTargets(d, s.owners),
		LiveTime: w.LiveTimeout, Listener: s.calls, Browser: browser, NoBrowser: noBrowser, Sealed: d.box != nil,
		Scratch: c.Path(scratchFolder), Slots: w.Workers, TimeLimit: w.ScanTimeout,
		Limits: sandbox.Limits{Memory: w.ScanMemory << 20},
		Budget: budget, Log: log,
	})
	if err != nil {
		return nil, fmt.Errorf("worker: %w", err)
	}
	return work, nil
}
