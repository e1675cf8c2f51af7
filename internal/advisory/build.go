package advisory

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/klauspost/compress/zstd"

	"merlon/internal/errs"
)

// This file writes the data file. Texts go straight into the output as records
// arrive; what records say of packages goes into a spill file and is brought
// together by package at the end. Memory holds an identifier for each record and
// 32 bytes for each package that a record names.

// BuildOptions say what to build from what.
type BuildOptions struct {
	Sources  []string // OSV folders, zips and files, feeds, and data files
	Previous string   // a data file whose records stay unless a source has them at least as new; may be empty
	Output   string   // replaced when the build succeeds
	Mirror   *Mirror  // where the sources come from; nil: what the previous data file says stays
	Now      time.Time
}

// MaxMalformed bounds the malformed records that a report names.
const MaxMalformed = 1000

// A Report says what an import did.
type Report struct {
	Meta
	Digest string // of the data file
	Size   int64  // of the data file, bytes

	Read      int // records in the sources
	Added     int
	Updated   int
	Unchanged int
	Older     int // than the same record already there; not taken
	Withdrawn int // or about no package; they match nothing
	Skipped   int // JSON and CSV files that are something else
	Feeds     int // EPSS and KEV files

	OlderFeeds []string // than those already there; not taken

	PreviousLost bool // the previous data file was of another version of the format

	Malformed     []Malformed // at most MaxMalformed
	MalformedMore int         // beyond those
}

// A Malformed is a record that breaks the format.
type Malformed struct {
	File    string // "npm/all.zip: GHSA-….json"
	Problem string
}

// Build reads the sources and writes a data file. A malformed record does not
// fail it; a source that cannot be read, or holds no record at all, does.
func Build(ctx context.Context, o BuildOptions) (*Report, error) {
	if o.Now.IsZero() {
		o.Now = time.Now()
	}
	// In the folder of the output, so that the rename does not cross file systems and is atomic:
	// readers see the old file or the new one.
	dir, err := os.MkdirTemp(filepath.Dir(o.Output), ".advisories")
	if err != nil {
		return nil, fmt.Errorf("make a temporary folder: %w", err)
	}
	defer func() { _ = os.RemoveAll(dir) }() // what stays is named as temporary
	b, err := newBuilder(dir)
	if err != nil {
		return nil, err
	}
	defer b.closeFiles()
	if err := b.importSources(ctx, o); err != nil {
		return nil, err
	}
	if err := os.Rename(filepath.Join(dir, "out"), o.Output); err != nil {
		return nil, fmt.Errorf("replace the data file: %w", err)
	}
	return &b.report, nil
}

// builder is one run of Build.
type builder struct {
	report     Report
	out, spill *output
	// by record identifier
	ids        map[string]knownRecord
	unreadable map[string]string // id by file name → name for people
	// 32 bytes for each package of each record
	refs     []affectedRef
	held     []*File // data files whose records are taken over
	feeds    [feedKinds]*feed
	modified []int64         // of each record, in milliseconds
	dead     map[uint32]bool // records replaced by a later one of the same import
	// the number of the next record
	numbers uint32

	zstd  *zstd.Encoder
	chunk encoder
	first uint32  // number of the first record in chunk
	table encoder // of chunks
	buf   encoder // scratch
}

// knownRecord is what the builder remembers of a record.
type knownRecord struct {
	// in milliseconds; 0 when the record does not say
	modified int64
	// in the file that is written, or in the data file when previous is set
	number   uint32
	previous bool // only in a data file, so far
	held     int  // in which
	salvaged bool
}

// affectedRef is where in the spill file is what a record says of a package.
type affectedRef struct {
	// of the package key; blocks are written in its order
	hash   uint64
	offset uint64
	length uint32
	number uint32
}

// newBuilder opens the temporary files of a build in a folder.
func newBuilder(dir string) (*builder, error) {
	b := &builder{ids: map[string]knownRecord{}, dead: map[uint32]bool{}, unreadable: map[string]string{}}
	var err error
	if b.zstd, err = zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1),
		zstd.WithEncoderLevel(zstd.SpeedDefault)); err != nil {
		return nil, fmt.Errorf("prepare to compress: %w", err)
	}
	if b.out, err = createOutput(filepath.Join(dir, "out")); err != nil {
		return nil, err
	}
	if b.spill, err = createOutput(filepath.Join(dir, "spill")); err != nil {
		return nil, errors.Join(err, b.out.file.Close())
	}
	if err := b.out.writeBytes([]byte(magic)); err != nil {
		b.closeFiles()
		return nil, err
	}
	return b, nil
}

// closeFiles closes the files. Both are on their way to be removed or have been synced, so
// errors change nothing.
func (b *builder) closeFiles() {
	_ = b.out.file.Close()
	_ = b.spill.file.Close()
	_ = b.zstd.Close()
}

// importSources reads the sources, copies what stays of older data files, and writes the
// tables.
func (b *builder) importSources(ctx context.Context, o BuildOptions) error {
	defer b.closeDataFiles()
	sources, err := b.openDataFiles(o)
	if err != nil {
		return err
	}
	for _, source := range sources {
		before := b.report.Read + b.report.Feeds
		if err := readSource(ctx, source, b.takeInput); err != nil {
			return err
		}
		// A wrong path, such as the folder above, would otherwise succeed with nothing imported.
		if b.report.Read+b.report.Feeds == before && len(b.report.Malformed) == 0 {
			return errs.E(errs.Invalid, "%s contains no OSV records, EPSS scores, KEV catalogue or table of licences",
				source)
		}
	}
	for i := range b.held {
		if err := b.copyRecords(ctx, i); err != nil {
			return fmt.Errorf("copy advisories: %w", err)
		}
	}
	if err := b.flushChunk(); err != nil {
		return err
	}
	if o.Mirror != nil {
		b.report.Mirror = o.Mirror
	}
	return b.writeIndex(o.Now)
}

// fromMillis returns the time of milliseconds since 1970; 0 is no time.
func fromMillis(ms int64) time.Time {
	if ms == 0 {
		return time.Time{}
	}
	return time.UnixMilli(ms).UTC()
}

// toMillis returns the milliseconds of a time since 1970; 0 for a time that is not known.
func toMillis(t time.Time) int64 {
	if t.Unix() <= 0 {
		return 0
	}
	return t.UnixMilli()
}

// countChange counts what a record changes, and reports whether it takes the place of what is
// known of it.
func (b *builder) countChange(name string, r *record, modified int64) bool {
	old, exists := b.ids[r.id]
	switch {
	case !exists:
		b.report.Added++
	case r.salvaged: // what was known of it stays, and is not the whole truth
		b.noteUnreadable(name)
		return false
	case old.previous && modified < old.modified:
		b.report.Older++
		return false
	case !old.previous && !old.salvaged && modified <= old.modified:
		b.report.Unchanged++ // the same record in another place
		return false
	// The record was already written in this import: it cannot be removed from the output and is
	// left out of the index.
	case !old.previous:
		b.dead[old.number] = true
	case modified == old.modified && modified != 0:
		b.report.Unchanged++
	default:
		b.report.Updated++
	}
	return true
}

// takeInput takes one file of a source, as it was read.
func (b *builder) takeInput(in input) error {
	if errors.Is(in.err, errNotOSV) {
		b.report.Skipped++
		return nil
	}
	if in.feed != nil {
		b.takeFeed(in.name, in.feed)
		return nil
	}
	if in.licenses != nil {
		return b.takeLicenses(in.name, in.licenses)
	}
	b.report.Read++
	if in.err != nil {
		b.reportMalformed(in)
	}
	if in.record == nil {
		return nil
	}
	return b.takeRecord(in.name, in.record)
}

// takeLicenses takes the licences of a table: those of a package replace what was known of it.
func (b *builder) takeLicenses(name string, t *licenseTable) error {
	for _, text := range t.bad {
		b.addMalformed(Malformed{name, text})
	}
	b.report.MalformedMore += t.more
	before := b.report
	b.report.Feeds++
	for _, r := range t.records {
		if err := b.takeRecord(name, r); err != nil {
			return err
		}
	}
	// The counts of the report are those of vulnerability records.
	b.report.Added, b.report.Updated, b.report.Unchanged = before.Added, before.Updated, before.Unchanged
	return nil
}

// takeRecord takes a record that takes the place of what is known of it.
func (b *builder) takeRecord(name string, r *record) error {
	modified := toMillis(r.modified)
	if !b.countChange(name, r, modified) {
		return nil
	}
	if !r.salvaged {
		delete(b.unreadable, r.id)
	}
	if r.dropped {
		b.report.Withdrawn++
	}
	number, err := b.addRecord(r)
	b.ids[r.id] = knownRecord{modified: modified, number: number, salvaged: r.salvaged}
	return err
}

// reportMalformed records a record that breaks the format.
func (b *builder) reportMalformed(in input) {
	b.addMalformed(Malformed{in.name, truncate(in.err.Error(), 300)})
	if in.record == nil && !in.isFeed {
		b.noteUnreadable(in.name)
	}
}

// addMalformed adds a problem to the report, up to MaxMalformed; the rest is counted.
func (b *builder) addMalformed(m Malformed) {
	if len(b.report.Malformed) < MaxMalformed {
		b.report.Malformed = append(b.report.Malformed, m)
	} else {
		b.report.MalformedMore++
	}
}

// noteUnreadable remembers a file whose packages are not known, up to MaxMalformed.
func (b *builder) noteUnreadable(name string) {
	if len(b.unreadable) < MaxMalformed {
		b.unreadable[fileID(name)] = name
	} else {
		b.report.UnreadableMore++
	}
}

// addRecord writes a record and returns its number.
func (b *builder) addRecord(r *record) (uint32, error) {
	b.buf.b = b.buf.b[:0]
	b.buf.putDetails(&r.details)
	number, err := b.addEncoded(string(b.buf.b), r.modified)
	if err != nil {
		return 0, err
	}
	for i := range r.affected {
		r.affected[i].number = number
		if err := b.addAffected(&r.affected[i]); err != nil {
			return 0, err
		}
	}
	if entry, ok := r.scoreEntry(); ok {
		entry.number = number
		if err := b.addAffected(&entry); err != nil {
			return 0, err
		}
	}
	return number, nil
}

// noteNewest keeps the latest modification of all records.
func (b *builder) noteNewest(t time.Time) {
	if t.After(b.report.Newest) {
		b.report.Newest = t
	}
}

// addEncoded writes an encoded record and returns its number.
func (b *builder) addEncoded(raw string, modified time.Time) (uint32, error) {
	number := b.numbers
	b.modified = append(b.modified, toMillis(modified))
	b.noteNewest(modified)
	b.numbers++
	b.chunk.putText(raw)
	if len(b.chunk.b) >= chunkSize {
		return number, b.flushChunk()
	}
	return number, nil
}

// flushChunk compresses and writes the records that wait.
func (b *builder) flushChunk() error {
	if len(b.chunk.b) == 0 {
		return nil
	}
	b.table.putUint32(b.first)
	b.table.putUint32(0)
	b.table.putUint64(b.out.offset)
	packed := b.zstd.EncodeAll(b.chunk.b, b.buf.b[:0])
	b.table.putUint32(uint32(len(packed)))
	b.buf.b = packed
	b.chunk.b = b.chunk.b[:0]
	b.first = b.numbers
	return b.out.writeBytes(packed)
}

// addAffected spills what a record says of a package.
func (b *builder) addAffected(a *affected) error {
	k := newPackageKey(a.ecosystem, a.name)
	raw := encodeBlock(k, []affected{*a})
	b.refs = append(b.refs, affectedRef{hash: k.hashKey(), offset: b.spill.offset, length: uint32(len(raw)),
		number: a.number})
	return b.spill.writeBytes(raw)
}

// writeIndex writes blocks and tables.
func (b *builder) writeIndex(now time.Time) error {
	if err := b.spill.syncFile(); err != nil {
		return err
	}
	// The offset as last key makes the order, and with it the file, the same in every build.
	slices.SortFunc(b.refs, func(x, y affectedRef) int {
		return cmp.Or(cmp.Compare(x.hash, y.hash), cmp.Compare(x.number, y.number), cmp.Compare(x.offset, y.offset))
	})
	c := newCounter(b.modified)
	var index encoder
	for rest := b.refs; len(rest) > 0; {
		n := 1
		// All parts of one hash are neighbours now, also those of different packages that collide.
		for n < len(rest) && rest[n].hash == rest[0].hash {
			n++
		}
		blocks, err := b.collectBlocks(rest[:n])
		if err != nil {
			return err
		}
		for _, blk := range blocks {
			raw := encodeBlock(blk.key, blk.list)
			index.putUint64(rest[0].hash)
			index.putUint64(b.out.offset)
			index.putUint32(uint32(len(raw)))
			if len(raw) > maxBlock {
				return fmt.Errorf("the records of %s %s are larger than %d MiB", blk.key.base, blk.key.name,
					maxBlock>>20)
			}
			if err := b.out.writeBytes(raw); err != nil {
				return err
			}
			c.addBlock(&blk)
		}
		rest = rest[n:]
	}
	b.report.Imported = now.UTC().Truncate(time.Millisecond)
	b.report.Ecosystems, b.report.Records, b.report.Licenses = c.countByEcosystem(), c.all.n, c.licenses
	for _, name := range b.unreadable {
		b.report.Unreadable = append(b.report.Unreadable, name)
	}
	slices.Sort(b.report.Unreadable)
	return b.writeTables(index)
}

// collectBlocks reads what was spilled under one hash, by package.
func (b *builder) collectBlocks(refs []affectedRef) ([]block, error) {
	var out []block
	for _, r := range refs {
		if b.dead[r.number] {
			continue
		}
		raw := make([]byte, r.length)
		if _, err := b.spill.file.ReadAt(raw, int64(r.offset)); err != nil {
			return nil, fmt.Errorf("read back: %w", err)
		}
		one, err := decodeBlock(raw)
		if err != nil {
			return nil, fmt.Errorf("read back: %w", err)
		}
		i := slices.IndexFunc(out, func(o block) bool { return o.key == one.key })
		if i < 0 {
			out = append(out, one)
		} else {
			out[i].list = append(out[i].list, one.list...)
		}
	}
	return out, nil
}
