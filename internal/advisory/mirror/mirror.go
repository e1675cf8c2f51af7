// Package mirror fetches what has changed of vulnerability data: records from a
// mirror that is laid out as OSV's export (https://google.github.io/osv.dev/data/),
// EPSS and KEV from wherever they are.
//
//	<base>/ecosystems.txt               the ecosystems, one a line
//	<base>/<ecosystem>/all.zip          all records
//	<base>/<ecosystem>/modified_id.csv  when each record was modified, newest first; may be missing
//	<base>/<ecosystem>/<id>.json        one record
//	….sha256, ….minisig                 digest and signature of the file before; may be missing
//
// A file is asked for with what is known of it (ETag, Last-Modified), so that one
// that has not changed costs a question. Where there is modified_id.csv, only the
// records that differ from those at hand are fetched, or taken out of the zip.
package mirror

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"time"

	"merlon/internal/advisory"
	"merlon/internal/errs"
	"merlon/internal/outbound"
)

// Options say what to fetch from where.
type Options struct {
	Base       string   // of the mirror; empty: no records
	Ecosystems []string // empty: those that the mirror lists
	EPSS       string   // address of the scores; empty: none
	KEV        string   // address of the catalogue; empty: none
	Licenses   string   // address of a table of licences; empty: none

	Key    *Key // what is below the base must be signed with it; nil: need not be
	Digest bool // what is below the base must have a digest beside it

	Client Client
	Dir    string // for what is fetched
	Now    func() time.Time
}

// A Client sends requests: an outbound.Client.
type Client interface {
	Do(req *http.Request, l outbound.Limits) (*http.Response, error)
}

// Known tells what is at hand.
type Known struct {
	Mirror *advisory.Mirror // how far the last update came; may be nil

	// Modified returns when the records at hand were modified, in milliseconds, by
	// id. It is called at most once, and only when it is needed.
	Modified func() (map[string]int64, error)
}

// Fetched is what there is to import.
type Fetched struct {
	Sources   []string         // files and folders; empty when nothing has changed
	Mirror    *advisory.Mirror // how far this update came; to be kept with the data
	Changed   []string         // parts that Sources hold, in words
	Unchanged []string         // parts that have not changed
	Problems  []error          // parts that could not be had, each with its name
	Bytes     int64            // received
}

// Fetch fetches what has changed. A part that cannot be had does not keep the
// others from coming; an error is returned when nothing could be had at all.
func Fetch(ctx context.Context, o Options, known Known) (*Fetched, error) {
	f, err := newFetch(o, known)
	if err != nil {
		return nil, err
	}
	ecosystems, err := f.listEcosystems(ctx)
	if err != nil {
		f.addProblem("ecosystems.txt", err)
	}
	for _, name := range ecosystems {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if err := f.fetchEcosystem(ctx, name); err != nil {
			f.addProblem(name, err)
		}
	}
	for _, part := range []struct{ name, address string }{{"EPSS", o.EPSS}, {"KEV", o.KEV},
		{"licences", o.Licenses}} {
		if part.address == "" {
			continue
		}
		if err := f.fetchFeed(ctx, part.name, part.address); err != nil {
			f.addProblem(part.name, err)
		}
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	out := f.out
	out.Bytes = f.received.Load()
	if len(out.Problems) > 0 && len(out.Changed)+len(out.Unchanged) == 0 {
		return nil, errors.Join(out.Problems...)
	}
	if len(out.Problems) == 0 {
		out.Mirror.Checked = f.currentTime()
	}
	return out, nil
}

// fetch is one run of Fetch.
type fetch struct {
	Options
	base     *url.URL // nil without a mirror
	known    Known
	modified map[string]int64
	received atomic.Int64
	pending  func() // notes the list of changes, once they are taken
	out      *Fetched
}

// newFetch checks the addresses of the options.
func newFetch(o Options, known Known) (*fetch, error) {
	f := &fetch{Options: o, known: known,
		out: &Fetched{Mirror: &advisory.Mirror{Files: map[string]advisory.MirroredFile{}}}}
	if o.Base+o.EPSS+o.KEV+o.Licenses == "" {
		return nil, errs.E(errs.Invalid, "there is nothing to update from: set advisories-mirror, advisories-epss, "+
			"advisories-kev or advisories-licenses")
	}
	for name, text := range map[string]string{"advisories-mirror": o.Base, "advisories-epss": o.EPSS,
		"advisories-kev": o.KEV, "advisories-licenses": o.Licenses} {
		u, err := parseAddress(name, text)
		if err != nil {
			return nil, err
		}
		if name == "advisories-mirror" && text != "" {
			u.Path = strings.TrimRight(u.Path, "/")
			f.base = u
		}
	}
	if f.base != nil {
		f.out.Mirror.Base = publicURL(f.base)
	}
	if old := known.Mirror; old != nil {
		f.out.Mirror.Checked = old.Checked
		for name, file := range old.Files {
			if old.Base == f.out.Mirror.Base || strings.Contains(name, "://") {
				f.out.Mirror.Files[name] = file
			}
		}
	}
	return f, nil
}

// publicURL is an address without credentials and query, for messages and for the keys of
// what is known.
func publicURL(u *url.URL) string {
	v := *u
	v.User, v.RawQuery, v.Fragment = nil, "", ""
	return v.String()
}

// currentTime is the time by the clock that is given.
func (f *fetch) currentTime() time.Time { return f.Now().UTC().Truncate(time.Second) }

// addProblem records a part that could not be fetched.
func (f *fetch) addProblem(part string, err error) {
	f.out.Problems = append(f.out.Problems, fmt.Errorf("%s: %w", part, err))
}

// mirrorURL is the address of a file of the mirror.
func (f *fetch) mirrorURL(parts ...string) *url.URL { return f.base.JoinPath(parts...) }

// parseAddress reads the address that a setting has; an empty one is allowed.
func parseAddress(setting, text string) (*url.URL, error) {
	u, err := url.Parse(text)
	if err != nil || text != "" && (u.Host == "" || u.Scheme != "http" && u.Scheme != "https") {
		return nil, errs.E(errs.Invalid, "%s is not an http or https address", setting) // it may hold a password
	}
	return u, nil
}

// listEcosystems are those that are configured, or else those that the mirror lists.
func (f *fetch) listEcosystems(ctx context.Context) ([]string, error) {
	if f.base == nil {
		return nil, nil
	}
	list := f.Ecosystems
	if len(list) == 0 {
		text, err := f.fetchText(ctx, f.mirrorURL("ecosystems.txt"), 1<<20)
		if errs.Is(err, errs.NotFound) {
			return nil, errs.E(errs.NotFound, "the mirror does not list its ecosystems: set advisories-ecosystem")
		}
		if err != nil {
			return nil, err
		}
		list = strings.Split(text, "\n")
	}
	return f.usableNames(list)
}

// usableNames returns the names of ecosystems that have a folder of their own in the mirror.
func (f *fetch) usableNames(list []string) ([]string, error) {
	var out []string
	for _, name := range list {
		name = strings.TrimSpace(name)
		_, suffix, _ := strings.Cut(name, ":")
		switch {
		case name == "" || strings.HasPrefix(name, "["): // "[EMPTY]" are records of no ecosystem
		case strings.ContainsAny(name, "/\\\x00") || strings.HasPrefix(name, "."):
			return nil, errs.E(errs.Invalid, "%q cannot be the name of an ecosystem", name)
		case suffix != "" && len(f.Ecosystems) == 0: // a release; the ecosystem without it holds the same
		default:
			out = append(out, name)
		}
	}
	if len(out) == 0 {
		return nil, errs.E(errs.Invalid, "the mirror lists no ecosystem")
	}
	return out, nil
}

// fetchEcosystem fetches what has changed of an ecosystem.
func (f *fetch) fetchEcosystem(ctx context.Context, name string) error {
	f.pending = func() {}
	err := f.ecosystemFiles(ctx, name)
	if err == nil {
		f.pending()
	}
	return err
}

// ecosystemFiles fetches the changed records one by one when they are few, else the zip of
// all, reduced to the changed ones.
func (f *fetch) ecosystemFiles(ctx context.Context, name string) error {
	zip := name + "/all.zip"
	changed, err := f.listChanges(ctx, name)
	switch {
	case err != nil:
		return err
	case changed != nil && len(changed) == 0:
		f.recordUnchanged(name, zip)
		return nil
	case len(changed) > 0 && len(changed) <= maxSingle && !f.requiresProof():
		err := f.fetchRecords(ctx, name, changed)
		if err == nil {
			f.recordFile(zip, f.out.Mirror.Files[zip])
			f.out.Changed = append(f.out.Changed, fmt.Sprintf("%s (%d records)", name, len(changed)))
			return nil
		}
		if !errs.Is(err, errs.NotFound) {
			return err
		}
	}
	path := f.localPath(name, "all.zip")
	file, err := f.fetchFile(ctx, request{address: f.mirrorURL(name, "all.zip"), path: path, limit: maxZip,
		known: f.out.Mirror.Files[zip]})
	if errors.Is(err, errUnchanged) {
		if changed != nil { // the list is ahead of the zip: look again next time
			f.pending = func() {}
		}
		f.recordUnchanged(name, zip)
		return nil
	}
	if err != nil {
		return err
	}
	text := name
	if changed == nil {
		err = checkZip(path)
	} else {
		var all bool
		if all, err = keepRecords(path, changed); !all {
			f.pending = func() {}
		}
		text = fmt.Sprintf("%s (%d records)", name, len(changed))
	}
	if err != nil {
		return err
	}
	f.recordFile(zip, file)
	f.out.Sources = append(f.out.Sources, path)
	f.out.Changed = append(f.out.Changed, text)
	return nil
}

// fetchFeed fetches EPSS, KEV or a table of licences.
func (f *fetch) fetchFeed(ctx context.Context, name, address string) error {
	u, err := url.Parse(address)
	if err != nil {
		return errs.E(errs.Invalid, "the address of %s is none", name)
	}
	key := publicURL(u)
	path := f.localPath("feeds", strings.ToLower(name)+".csv")
	file, err := f.fetchFile(ctx, request{address: u, path: path, limit: maxFeed, known: f.out.Mirror.Files[key]})
	if errors.Is(err, errUnchanged) {
		f.recordUnchanged(name, key)
		return nil
	}
	if err != nil {
		return err
	}
	if err := nameByContent(&path); err != nil {
		return err
	}
	f.recordFile(key, file)
	f.out.Sources = append(f.out.Sources, path)
	f.out.Changed = append(f.out.Changed, name)
	return nil
}

// nameByContent gives a file that holds JSON a name that says so.
func nameByContent(path *string) error {
	f, err := os.Open(*path)
	if err != nil {
		return err
	}
	var first [1]byte
	_, err = f.Read(first[:])
	if err = errors.Join(err, f.Close()); err != nil || first[0] != '{' {
		return err
	}
	named := strings.TrimSuffix(*path, ".csv") + ".json"
	err = os.Rename(*path, named)
	*path = named
	return err
}

// requiresProof reports whether what is below the base must prove where it comes from.
func (f *fetch) requiresProof() bool { return f.Key != nil || f.Digest }

// recordFile remembers a file that was fetched.
func (f *fetch) recordFile(name string, file advisory.MirroredFile) {
	file.Checked = f.currentTime()
	f.out.Mirror.Files[name] = file
}

// recordUnchanged remembers that a part has not changed since the last update.
func (f *fetch) recordUnchanged(part, name string) {
	f.recordFile(name, f.out.Mirror.Files[name])
	f.out.Unchanged = append(f.out.Unchanged, part)
}

// localPath is where a file of a part goes.
func (f *fetch) localPath(part, name string) string {
	return filepath.Join(f.Dir, strings.ReplaceAll(part, ":", "_"), name)
}
