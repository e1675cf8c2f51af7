package server

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"time"

	"merlon/internal/advisory"
	"merlon/internal/advisory/mirror"
	"merlon/internal/config"
	"merlon/internal/errs"
	"merlon/internal/store"
)

// ImportAdvisories merges sources with the vulnerability data in force and saves
// the result. A Conflict error says that another import ended in the meantime.
func ImportAdvisories(ctx context.Context, db *store.DB, sources []string) (*advisory.Report, error) {
	held, err := holdAdvisories(ctx, db)
	if err != nil {
		return nil, err
	}
	defer held.removeFolder()
	return held.buildAndSave(ctx, sources, nil)
}

// advisoryWorkspace is the vulnerability data in force in a temporary folder.
type advisoryWorkspace struct {
	// db has the data in force.
	db *store.DB
	// dir is removed when the work is done, whatever its outcome.
	dir  string
	path string // of the data file; empty when there is none
	// latest is what the result replaces; another latest one at the end is a Conflict.
	latest advisory.Snapshot
}

// holdAdvisories copies the data in force into a temporary folder.
func holdAdvisories(ctx context.Context, db *store.DB) (*advisoryWorkspace, error) {
	latest, err := db.LatestAdvisories(ctx)
	if err != nil && !errs.Is(err, errs.NotFound) {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "merlon-import")
	if err != nil {
		return nil, fmt.Errorf("make a temporary folder: %w", err)
	}
	h := &advisoryWorkspace{db: db, dir: dir, latest: latest}
	cache := advisory.Cache{Dir: dir, Source: db}
	if h.path, _, err = cache.Path(ctx); err != nil {
		h.removeFolder()
		return nil, err
	}
	return h, nil
}

func (h *advisoryWorkspace) removeFolder() { _ = os.RemoveAll(h.dir) } // a temporary folder

// buildAndSave merges sources with the data and puts the result in force.
func (h *advisoryWorkspace) buildAndSave(ctx context.Context, sources []string,
	m *advisory.Mirror) (*advisory.Report, error) {
	out := filepath.Join(h.dir, "new")
	report, err := advisory.Build(ctx, advisory.BuildOptions{Sources: sources, Previous: h.path, Output: out, Mirror: m,
		Now: h.db.Now()})
	if err != nil {
		return nil, err
	}
	f, err := os.Open(out)
	if err != nil {
		return nil, fmt.Errorf("open the data file: %w", err)
	}
	defer func() { _ = f.Close() }() // read only
	return report, h.db.SaveAdvisories(ctx, report.Snapshot(h.latest.ID), f)
}

// An Update is what an update of the vulnerability data did. Report is nil when
// nothing has changed.
type Update struct {
	*mirror.Fetched
	Report *advisory.Report
}

// UpdateAdvisories fetches what has changed at the mirror and puts it in force.
func UpdateAdvisories(ctx context.Context, db *store.DB, c config.Advisories, client mirror.Client) (*Update, error) {
	h, err := holdAdvisories(ctx, db)
	if err != nil {
		return nil, err
	}
	defer h.removeFolder()
	fetched, err := fetchAdvisories(ctx, c, client, fetchTo{dir: h.dir, previous: h.path, known: h.latest.Mirror,
		now: db.Now})
	if err != nil {
		return nil, err
	}
	out := &Update{Fetched: fetched}
	if len(fetched.Sources) > 0 {
		out.Report, err = h.buildAndSave(ctx, fetched.Sources, fetched.Mirror)
		return out, err
	}
	// Nothing has changed: only the time of the check is stored.
	h.latest.Mirror = fetched.Mirror
	return out, db.DescribeAdvisories(ctx, h.latest)
}

// UpdateAdvisoryFile does the same for a data file.
func UpdateAdvisoryFile(ctx context.Context, path string, c config.Advisories, client mirror.Client) (*Update, error) {
	dir, err := os.MkdirTemp("", "merlon-update")
	if err != nil {
		return nil, fmt.Errorf("make a temporary folder: %w", err)
	}
	defer func() { _ = os.RemoveAll(dir) }() // a temporary folder
	to := fetchTo{dir: dir, now: time.Now}
	if _, err := os.Stat(path); err == nil {
		f, err := advisory.Open(path)
		if err != nil {
			return nil, err
		}
		to.previous, to.known = path, f.Meta().Mirror
		if err := f.Close(); err != nil {
			return nil, err
		}
	}
	fetched, err := fetchAdvisories(ctx, c, client, to)
	if err != nil || len(fetched.Sources) == 0 {
		return &Update{Fetched: fetched}, err
	}
	report, err := advisory.Build(ctx, advisory.BuildOptions{Sources: fetched.Sources, Previous: to.previous,
		Output: path, Mirror: fetched.Mirror})
	return &Update{fetched, report}, err
}

// fetchTo says what is at hand, and where to put what is fetched.
type fetchTo struct {
	dir      string
	previous string // data file; empty when there is none
	known    *advisory.Mirror
	now      func() time.Time
}

// fetchAdvisories fetches what is new at the mirror since the data at hand.
func fetchAdvisories(ctx context.Context, c config.Advisories, client mirror.Client,
	to fetchTo) (*mirror.Fetched, error) {
	text, err := c.Key()
	if err != nil {
		return nil, err
	}
	var key *mirror.Key
	if text != "" {
		if key, err = mirror.ParseKey(text); err != nil {
			return nil, err
		}
	}
	return mirror.Fetch(ctx, mirror.Options{
		Base: c.AdvisoriesMirror, Ecosystems: c.AdvisoriesEcosystem, EPSS: c.AdvisoriesEPSS, KEV: c.AdvisoriesKEV,
		Licenses: c.AdvisoriesLicenses,
		Key:      key, Digest: c.AdvisoriesDigest, Client: client, Dir: filepath.Join(to.dir, "fetched"), Now: to.now,
	}, mirror.Known{Mirror: to.known, Modified: func() (map[string]int64, error) {
		if to.previous == "" {
			return nil, nil
		}
		return advisory.Modified(to.previous)
	}})
}

// keepAdvisories updates the vulnerability data whenever the interval has passed
// since the last update of any server, until ctx ends.
func keepAdvisories(ctx context.Context, db *store.DB, c config.Server, client mirror.Client, log *slog.Logger) {
	if !c.Updates() {
		return
	}
	failed := false
	for {
		wait, err := untilUpdate(ctx, db, c.AdvisoriesInterval)
		// After a failure at least an hour passes, or the interval if that is shorter: many
		// deployments share one mirror.
		if failed || err != nil {
			wait = max(wait, min(c.AdvisoriesInterval, time.Hour)) // not again at once
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(wait):
		}
		update, err := UpdateAdvisories(ctx, db, c.Advisories, client)
		failed = err != nil
		switch {
		case ctx.Err() != nil:
			return
		case errs.Is(err, errs.Conflict):
			log.InfoContext(ctx, "another import of vulnerability data ended first")
		case err != nil:
			log.ErrorContext(ctx, "update the vulnerability data", "error", err)
		default:
			failed = len(update.Problems) > 0
			if failed {
				log.WarnContext(ctx, "parts of the vulnerability data could not be updated", "error",
					errors.Join(update.Problems...))
			}
			log.InfoContext(ctx, "updated the vulnerability data", "changed", update.Changed, "unchanged",
				len(update.Unchanged), "bytes", update.Bytes)
		}
	}
}

// untilUpdate is how long the data in force is still new.
func untilUpdate(ctx context.Context, db *store.DB, interval time.Duration) (time.Duration, error) {
	latest, err := db.LatestAdvisories(ctx)
	if errs.Is(err, errs.NotFound) || err == nil && latest.Mirror == nil {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	return max(0, latest.Mirror.Checked.Add(interval).Sub(db.Now())), nil
}
