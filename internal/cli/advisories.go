package cli

import (
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"merlon/internal/advisory"
	"merlon/internal/config"
	"merlon/internal/errs"
	"merlon/internal/server"
	"merlon/internal/store"
)

// advisoriesCommand groups the commands that manage vulnerability records.
type advisoriesCommand struct {
	Import importCommand           `cmd:"" help:"Import vulnerability records into the database or a data file."`
	Update updateCommand           `cmd:"" help:"Download changed vulnerability records, EPSS scores and the KEV catalogue from the configured sources."`
	Export exportCommand           `cmd:"" help:"Export the vulnerability data to one file, for merlon advisories import on an offline machine."`
	Status advisoriesStatusCommand `cmd:"" help:"Show number and age of the vulnerability records."`
}

// importCommand imports vulnerability records from a folder or an archive, for deployments
// without access to a mirror.
type importCommand struct {
	config.Store `embed:""`
	// Source may mix folders, archives and bundles; of two records with one id the newer is kept.
	Source []string `arg:"" name:"path" type:"path" help:"Folder, zip or file of OSV records, EPSS scores, a KEV catalogue, a table of licences, or a bundle (merlon advisories export). Records are added; the newer version of a record wins."`
	Output string   `type:"path" placeholder:"FILE" help:"Write a data file for merlon scan --advisories instead of the database. Records in an existing file are kept."`
}

// Run imports records.
func (c importCommand) Run(ctx context.Context, host Host) error {
	if c.Output != "" {
		// Existing data is extended, so a small import does not lose the rest.
		previous := ""
		if _, err := os.Stat(c.Output); err == nil {
			previous = c.Output
		}
		report, err := advisory.Build(ctx, advisory.BuildOptions{Sources: c.Source, Previous: previous,
			Output: c.Output})
		if err != nil {
			return err
		}
		return printReport(host.Stdout, report)
	}
	db, err := server.OpenStore(ctx, c.Store)
	if err != nil {
		return err
	}
	report, err := server.ImportAdvisories(ctx, db, c.Source)
	if err = errors.Join(err, db.Close()); err != nil {
		return err
	}
	return printReport(host.Stdout, report)
}

// printReport says what an import did.
func printReport(w io.Writer, r *advisory.Report) error {
	p := printer{w: w}
	// Older are records that are already there in a newer version, which stay.
	p.printf("Read %d records: %d new, %d newer, %d unchanged, %d older, %d withdrawn or about no package.\n",
		r.Read, r.Added, r.Updated, r.Unchanged, r.Older, r.Withdrawn)
	if r.Skipped > 0 {
		p.printf("Skipped %d JSON files that are no records.\n", r.Skipped)
	}
	// A malformed record is not ignored: packages that it names are reported as undecided.
	if n := len(r.Malformed) + r.MalformedMore; n > 0 {
		p.printf("%d malformed records; the packages that they name are reported as undecided:\n", n)
		for _, m := range r.Malformed {
			p.printf("  %s: %s\n", m.File, m.Problem)
		}
		if r.MalformedMore > 0 {
			p.printf("  and %d more\n", r.MalformedMore)
		}
	}
	// A feed (EPSS, KEV) older than the one in force is refused: an outdated mirror must not
	// lower scores.
	for _, text := range r.OlderFeeds {
		p.printf("Not taken: %s.\n", text)
	}
	if r.PreviousLost {
		p.printf("The data that was there is of another version of merlon and could not be taken over: import " +
			"all of it " +
			"again.\n")
	}
	p.printf("In force: %d records, the newest of %s, in %d KiB.\n", r.Records, formatDay(r.Newest), r.Size>>10)
	p.printFeeds(r.Meta, r.Imported)
	p.printf("\n")
	return errors.Join(p.err, printEcosystems(w, r.Meta, r.Imported))
}

// printFeeds says what is known of exploitation.
// EPSS is the probability of exploitation within 30 days (FIRST), KEV the catalogue of known
// exploited vulnerabilities (CISA). now is the time that ages are relative to.
func (p *printer) printFeeds(m advisory.Meta, now time.Time) {
	for _, f := range []struct {
		name, what string
		feed       *advisory.Feed
	}{{"EPSS", "scores", m.EPSS}, {"KEV", "known exploited vulnerabilities", m.KEV}} {
		if f.feed == nil {
			p.printf("%s: none.\n", f.name)
		} else {
			p.printf("%s: %d %s of %s (%s), imported %s.\n", f.name, f.feed.Entries, f.what, formatDay(f.feed.Date),
				describeAge(f.feed.Date, now), formatDay(f.feed.Imported))
		}
	}
	if m.Licenses > 0 {
		p.printf("Licences of %s.\n", countNoun(m.Licenses, "package"))
	}
}

// printEcosystems prints the number and the age of the records of each ecosystem, because stale
// data of one ecosystem is not visible in the total.
func printEcosystems(w io.Writer, m advisory.Meta, now time.Time) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	p := printer{w: t}
	p.printf("ecosystem\trecords\tpackages\tnewest\tmirror asked\t\n")
	for _, name := range slices.Sorted(maps.Keys(m.Ecosystems)) {
		asked := "-"
		if m.Mirror != nil {
			// The file of each ecosystem in OSV's export, such as "npm/all.zip".
			if file, ok := m.Mirror.Files[name+"/all.zip"]; ok {
				asked = describeAge(file.Checked, now)
			}
		}
		c := m.Ecosystems[name]
		p.printf("%s\t%d\t%d\t%s\t%s\t\n", name, c.Records, c.Packages, formatDay(c.Newest), asked)
	}
	return errors.Join(p.err, t.Flush())
}

// A printer keeps the first error of a sequence of writes.
// It lets a report be written line by line with one check at the end.
type printer struct {
	w   io.Writer
	err error
}

// printf writes unless an earlier write has failed; the first error is kept.
func (p *printer) printf(format string, args ...any) {
	if p.err == nil {
		_, p.err = fmt.Fprintf(p.w, format, args...)
	}
}

// formatDay formats the day of a time, and a dash for none.
func formatDay(t time.Time) string {
	if t.IsZero() {
		return "unknown date"
	}
	return t.UTC().Format(time.DateOnly)
}

// advisoriesStatusCommand prints the age and the origin of the vulnerability records.
type advisoriesStatusCommand struct {
	config.Store `embed:""`
	File         string `type:"path" placeholder:"FILE" help:"Data file to inspect instead of the database."`
}

// Run says which records there are.
// An empty database is an error with the command that fills it, not a table of zeros.
func (c advisoriesStatusCommand) Run(ctx context.Context, host Host) error {
	meta, digest, err := c.readMeta(ctx)
	if err != nil {
		return err
	}
	return printStatus(host.Stdout, meta, digest, time.Now())
}

// printStatus says what there is, and how old each part is.
func printStatus(w io.Writer, meta advisory.Meta, digest string, now time.Time) error {
	p := printer{w: w}
	p.printf("%d records, imported %s, the newest of %s (%s).\nDigest %s.\n", meta.Records,
		meta.Imported.Format(time.RFC3339), formatDay(meta.Newest), describeAge(meta.Newest, now), digest)
	// A record that cannot be read names no package, so it is unknown which results it would
	// change.
	if n := len(meta.Unreadable) + meta.UnreadableMore; n > 0 {
		p.printf("%d records could not be read at all; no scan is complete until they are imported again:\n", n)
		for _, name := range meta.Unreadable {
			p.printf("  %s\n", name)
		}
	}
	p.printFeeds(meta, now)
	if m := meta.Mirror; m != nil {
		p.printf("Updated from %s, whole %s.\n", cmp.Or(m.Base, "feeds only"), describeAge(m.Checked, now))
	}
	p.printf("\n")
	return errors.Join(p.err, printEcosystems(w, meta, now))
}

// describeAge is how long ago a time was, in words.
// Unix time 0 or before is a missing date.
func describeAge(t, now time.Time) string {
	if t.Unix() <= 0 {
		return "of unknown age"
	}
	switch hours := int(now.Sub(t).Hours()); {
	case hours < 1:
		return "less than an hour ago"
	// Up to two days in hours, as feeds are updated daily.
	case hours < 48:
		return fmt.Sprintf("%d hours ago", hours)
	default:
		return fmt.Sprintf("%d days ago", hours/24)
	}
}

// readMeta returns the description of the data file and its digest.
func (c advisoriesStatusCommand) readMeta(ctx context.Context) (advisory.Meta, string, error) {
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
	// The error replaces "not found", which does not say what to do.
	if errs.Is(err, errs.NotFound) {
		err = errNoAdvisories
	}
	return s.Meta, s.Digest, errors.Join(err, db.Close())
}

// errNoAdvisories tells the user how to import records.
var errNoAdvisories = exit{ExitFailed, "no vulnerability records have been imported: merlon advisories import PATH"}

// updateCommand updates the vulnerability records from the configured mirror.
// Outbound says how other hosts are reached, for example through a proxy.
type updateCommand struct {
	config.Store      `embed:""`
	config.Advisories `embed:""`
	config.Outbound   `embed:""`
	Output            string `type:"path" placeholder:"FILE" help:"Data file for merlon scan --advisories to update instead of the database."`
}

// Run updates the data. A part that could not be had makes the command fail after
// the others were taken.
func (c updateCommand) Run(ctx context.Context, host Host) error {
	// Warnings only: the summary of the update is on standard output.
	log := slog.New(slog.NewTextHandler(host.Stderr, &slog.HandlerOptions{Level: slog.LevelWarn}))
	client, err := server.Outbound(c.Outbound, log)
	if err != nil {
		return err
	}
	var update *server.Update
	if c.Output != "" {
		update, err = server.UpdateAdvisoryFile(ctx, c.Output, c.Advisories, client)
	} else {
		var db *store.DB
		if db, err = server.OpenStore(ctx, c.Store); err != nil {
			return err
		}
		update, err = server.UpdateAdvisories(ctx, db, c.Advisories, client)
		err = errors.Join(err, db.Close())
	}
	if err != nil {
		return err
	}
	return printUpdate(host.Stdout, update)
}

// printUpdate says what an update did.
// It fails when a part failed, so that a scheduled job reports it; everything else is updated
// already.
func printUpdate(w io.Writer, u *server.Update) error {
	p := printer{w: w}
	p.printf("Received %d KiB. Changed: %s. Unchanged: %s.\n", u.Bytes>>10, joinList(u.Changed), joinList(u.Unchanged))
	if u.Report != nil {
		if err := errors.Join(p.err, printReport(w, u.Report)); err != nil {
			return err
		}
	}
	if len(u.Problems) == 0 {
		return p.err
	}
	p.printf("Could not be updated; what was known of it stays:\n")
	for _, err := range u.Problems {
		p.printf("  %v\n", err)
	}
	return errors.Join(p.err, exit{ExitFailed, fmt.Sprintf("%d parts could not be updated", len(u.Problems))})
}

// joinList joins names for a sentence.
func joinList(parts []string) string { return cmp.Or(strings.Join(parts, ", "), "nothing") }

// exportCommand writes the vulnerability records to a data file, for hosts without a connection
// to the mirror.
// The digest file has the format of sha256sum, so that "sha256sum -c" verifies it after the
// transport.
type exportCommand struct {
	config.Store `embed:""`
	Path         string `arg:"" name:"file" type:"path" help:"File to write: records, EPSS, KEV and their digest; also writes FILE.sha256."`
}

// Run writes the data in force.
func (c exportCommand) Run(ctx context.Context, host Host) error {
	db, err := server.OpenStore(ctx, c.Store)
	if err != nil {
		return err
	}
	meta, err := exportAdvisories(ctx, db, c.Path)
	if errs.Is(err, errs.NotFound) {
		err = errNoAdvisories
	}
	if err = errors.Join(err, db.Close()); err != nil {
		return err
	}
	p := printer{w: host.Stdout}
	p.printf("%s: %d records, the newest of %s.\n", c.Path, meta.Records, formatDay(meta.Newest))
	p.printFeeds(meta, time.Now())
	return p.err
}

// exportAdvisories writes the data file in force, checks it, and writes its
// digest beside it.
func exportAdvisories(ctx context.Context, db *store.DB, path string) (advisory.Meta, error) {
	s, err := db.LatestAdvisories(ctx)
	if err != nil {
		return advisory.Meta{}, err
	}
	// The temporary file is beside the target: a rename across file systems is not atomic.
	f, err := os.CreateTemp(filepath.Dir(path), ".advisories-*")
	if err != nil {
		return advisory.Meta{}, fmt.Errorf("write the bundle: %w", err)
	}
	defer func() { _ = os.Remove(f.Name()) }() // after the rename there is none
	h := sha256.New()
	// The digest is computed while writing, so the file is not read twice.
	err = db.CopyAdvisories(ctx, s.ID, io.MultiWriter(f, h))
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		return advisory.Meta{}, err
	}
	// A damaged copy must not reach an offline machine, where nobody can fetch it again.
	if err := advisory.VerifyFile(f.Name()); err != nil {
		return advisory.Meta{}, err
	}
	if err := os.Rename(f.Name(), path); err != nil {
		return advisory.Meta{}, fmt.Errorf("write the bundle: %w", err)
	}
	digest := fmt.Sprintf("%x  %s\n", h.Sum(nil), filepath.Base(path))
	if err := os.WriteFile(path+".sha256", []byte(digest), 0o600); err != nil {
		return advisory.Meta{}, fmt.Errorf("write the bundle's digest: %w", err)
	}
	return s.Meta, nil
}
