package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"text/tabwriter"
	"time"

	"merlon/internal/advisory"
	"merlon/internal/config"
	"merlon/internal/errs"
	"merlon/internal/server"
	"merlon/internal/store"
)

type advisoriesCommand struct {
	Import importCommand           `cmd:"" help:"Take vulnerability records into the database, or into a file."`
	Status advisoriesStatusCommand `cmd:"" help:"Say which vulnerability records there are, and how old they are."`
}

type importCommand struct {
	config.Store `embed:""`
	Source       []string `arg:"" name:"path" type:"path" help:"Folder, zip or file of records in the OSV format, an EPSS table, a KEV catalogue, or a bundle (merlon advisories export). New ones are added to those that are there; of two versions of a record the newer stays."`
	Output       string   `type:"path" placeholder:"FILE" help:"Write a data file for merlon scan --advisories, and leave the database alone. Records that the file holds already stay."`
}

// Run imports records.
func (c importCommand) Run(ctx context.Context, host Host) error {
	if c.Output != "" {
		previous := ""
		if _, err := os.Stat(c.Output); err == nil {
			previous = c.Output
		}
		report, err := advisory.Build(ctx, advisory.BuildOptions{Sources: c.Source, Previous: previous, Output: c.Output})
		if err != nil {
			return err
		}
		return printReport(host.Stdout, report)
	}
	db, err := server.OpenStore(ctx, c.Store)
	if err != nil {
		return err
	}
	report, err := importInto(ctx, db, c.Source)
	if err = errors.Join(err, db.Close()); err != nil {
		return err
	}
	return printReport(host.Stdout, report)
}

// importInto merges the sources with the snapshot in force and saves the result.
func importInto(ctx context.Context, db *store.DB, sources []string) (*advisory.Report, error) {
	dir, err := os.MkdirTemp("", "merlon-import")
	if err != nil {
		return nil, fmt.Errorf("make a temporary folder: %w", err)
	}
	defer func() { _ = os.RemoveAll(dir) }() // a temporary folder
	latest, err := db.LatestAdvisories(ctx)
	if err != nil && !errs.Is(err, errs.NotFound) {
		return nil, err
	}
	cache := advisory.Cache{Dir: dir, Source: db}
	previous, _, err := cache.Path(ctx)
	if err != nil {
		return nil, err
	}
	out := filepath.Join(dir, "new")
	report, err := advisory.Build(ctx, advisory.BuildOptions{Sources: sources, Previous: previous, Output: out})
	if err != nil {
		return nil, err
	}
	f, err := os.Open(out)
	if err != nil {
		return nil, fmt.Errorf("open the data file: %w", err)
	}
	defer func() { _ = f.Close() }() // read only
	return report, db.SaveAdvisories(ctx, report.Snapshot(latest.ID), f)
}

// printReport says what an import did.
func printReport(w io.Writer, r *advisory.Report) error {
	p := printer{w: w}
	p.f("Read %d records: %d new, %d newer, %d unchanged, %d older, %d withdrawn or about no package.\n",
		r.Read, r.Added, r.Updated, r.Unchanged, r.Older, r.Withdrawn)
	if r.Skipped > 0 {
		p.f("Skipped %d JSON files that are no records.\n", r.Skipped)
	}
	if n := len(r.Malformed) + r.MalformedMore; n > 0 {
		p.f("%d malformed records; the packages that they name are reported as undecided:\n", n)
		for _, m := range r.Malformed {
			p.f("  %s: %s\n", m.File, m.Problem)
		}
		if r.MalformedMore > 0 {
			p.f("  and %d more\n", r.MalformedMore)
		}
	}
	for _, text := range r.OlderFeeds {
		p.f("Not taken: %s.\n", text)
	}
	if r.PreviousLost {
		p.f("The data that was there is of another version of merlon and could not be taken over: import all of it again.\n")
	}
	p.f("In force: %d records, the newest of %s, in %d KiB.\n", r.Records, day(r.Newest), r.Size>>10)
	p.feeds(r.Meta)
	p.f("\n")
	return errors.Join(p.err, printEcosystems(w, r.Ecosystems))
}

// feeds says what is known of exploitation.
func (p *printer) feeds(m advisory.Meta) {
	for _, f := range []struct {
		name, what string
		feed       *advisory.Feed
	}{{"EPSS", "scores", m.EPSS}, {"KEV", "known exploited vulnerabilities", m.KEV}} {
		if f.feed == nil {
			p.f("%s: none.\n", f.name)
		} else {
			p.f("%s: %d %s of %s, imported %s.\n", f.name, f.feed.Entries, f.what, day(f.feed.Date), day(f.feed.Imported))
		}
	}
}

func printEcosystems(w io.Writer, all map[string]advisory.Count) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	p := printer{w: t}
	p.f("ecosystem\trecords\tpackages\tnewest\t\n")
	for _, name := range slices.Sorted(maps.Keys(all)) {
		p.f("%s\t%d\t%d\t%s\t\n", name, all[name].Records, all[name].Packages, day(all[name].Newest))
	}
	return errors.Join(p.err, t.Flush())
}

// A printer keeps the first error of a sequence of writes.
type printer struct {
	w   io.Writer
	err error
}

func (p *printer) f(format string, args ...any) {
	if p.err == nil {
		_, p.err = fmt.Fprintf(p.w, format, args...)
	}
}

func day(t time.Time) string {
	if t.IsZero() {
		return "unknown date"
	}
	return t.UTC().Format(time.DateOnly)
}

type advisoriesStatusCommand struct {
	config.Store `embed:""`
	File         string `type:"path" placeholder:"FILE" help:"Look at a data file instead of the database."`
}

// Run says which records there are.
func (c advisoriesStatusCommand) Run(ctx context.Context, host Host) error {
	meta, digest, err := c.meta(ctx)
	if err != nil {
		return err
	}
	p := printer{w: host.Stdout}
	p.f("%d records, imported %s, the newest of %s.\nDigest %s.\n", meta.Records, meta.Imported.Format(time.RFC3339), day(meta.Newest), digest)
	if n := len(meta.Unreadable) + meta.UnreadableMore; n > 0 {
		p.f("%d records could not be read at all; no scan is complete until they are imported again:\n", n)
		for _, name := range meta.Unreadable {
			p.f("  %s\n", name)
		}
	}
	p.feeds(meta)
	p.f("\n")
	return errors.Join(p.err, printEcosystems(host.Stdout, meta.Ecosystems))
}

// meta returns the description of the data file and its digest.
func (c advisoriesStatusCommand) meta(ctx context.Context) (advisory.Meta, string, error) {
	if c.File != "" {
		f, err := advisory.Open(c.File)
		if err != nil {
			return advisory.Meta{}, "", err
		}
		return f.Meta(), f.Data().Digest, f.Close()
	}
	db, err := server.OpenStore(ctx, c.Store)
	if err != nil {
		return advisory.Meta{}, "", err
	}
	s, err := db.LatestAdvisories(ctx)
	if errs.Is(err, errs.NotFound) {
		err = exit{ExitFailed, "no vulnerability records have been imported: merlon advisories import PATH"}
	}
	return s.Meta, s.Digest, errors.Join(err, db.Close())
}
