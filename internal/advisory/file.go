package advisory

import (
	"container/list"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"sort"

	"github.com/klauspost/compress/zstd"

	"merlon/internal/errs"
)

// This file reads the data file.

// newFile reads the tables of a data file of the size.
func newFile(src io.ReaderAt, size int64) (*File, error) {
	f := &File{src: src, close: func() error { return nil }, held: map[int]*list.Element{}, used: list.New()}
	tail, err := f.readTail(size)
	if err != nil {
		return nil, err
	}
	if err := f.readTables(tail); err != nil {
		return nil, err
	}
	// The decoder is used by several scans at once, so its concurrency is that of the machine; the
	// memory limit keeps a forged chunk from expanding without end.
	f.zstd, err = zstd.NewReader(nil, zstd.WithDecoderConcurrency(0), zstd.WithDecoderMaxMemory(maxChunk+chunkSize))
	if err != nil {
		return nil, fmt.Errorf("prepare to read advisories: %w", err)
	}
	return f, nil
}

// errOtherFormat says that another version of the program wrote a data file.
var errOtherFormat = errors.New("the data file is of another version of merlon")

// tables is the part of the file that is read when it is opened.
type tables struct {
	// chunkEntry and indexEntry bytes for each entry
	chunks, index string
	// EPSS and KEV, sorted by CVE
	feeds [feedKinds]feedTable
	// JSON: the sources, their dates and counts
	meta string
}

// readTail finds and checks the tables.
func (f *File) readTail(size int64) (tables, error) {
	if size < int64(len(magic)+tailSize+digestLen) {
		return tables{}, damagedError("it is too short")
	}
	head := make([]byte, len(magic))
	if _, err := f.src.ReadAt(head, 0); err != nil {
		return tables{}, fmt.Errorf("read the beginning: %w", err)
	}
	if string(head) != magic {
		return tables{}, errs.Wrap(errs.Invalid, errOtherFormat, "import the vulnerability records again")
	}
	b := make([]byte, tailSize+digestLen)
	end := size - int64(len(b))
	if _, err := f.src.ReadAt(b, end); err != nil {
		return tables{}, fmt.Errorf("read the tail: %w", err)
	}
	// All integers are little-endian; the layout is described in format.go.
	var at [6]uint64 // chunk table, index, EPSS, KEV, meta, records
	for i := range at {
		at[i] = binary.LittleEndian.Uint64(b[8*i:])
	}
	sum := binary.LittleEndian.Uint32(b[tailSize-4:])
	f.digest = hex.EncodeToString(b[tailSize:])
	// Checked before any of the offsets is used: the file may be truncated or forged.
	if at[0] < uint64(len(magic)) || !slices.IsSorted(at[:5]) || at[4] > uint64(end) || at[5] > 1<<31 {
		return tables{}, damagedError("its parts are not where they should be")
	}
	body := make([]byte, uint64(end)-at[0])
	if _, err := f.src.ReadAt(body, int64(at[0])); err != nil {
		return tables{}, fmt.Errorf("read the tables: %w", err)
	}
	// The checksum covers the tail, without the checksum itself, and the tables. Chunks have those
	// of zstd.
	if checksum(append(slices.Clone(b[:tailSize-4]), body...)) != sum {
		return tables{}, damagedError("the checksum of its tables is wrong")
	}
	f.total = uint32(at[5])
	s := string(body)
	part := func(i int) string { return s[at[i]-at[0] : at[i+1]-at[0]] }
	return tables{part(0), part(1), [...]feedTable{feedTable(part(2)), feedTable(part(3))}, s[at[4]-at[0]:]}, nil
}

// readTables decodes the tables.
func (f *File) readTables(t tables) error {
	if err := json.Unmarshal([]byte(t.meta), &f.meta); err != nil {
		return damagedError("its description cannot be read")
	}
	if len(t.chunks)%chunkEntry != 0 || len(t.index)%indexEntry != 0 {
		return damagedError("a table has a wrong length")
	}
	u32, u64 := func(s string) uint32 { return binary.LittleEndian.Uint32([]byte(s[:4])) },
		func(s string) uint64 { return binary.LittleEndian.Uint64([]byte(s[:8])) }
	for s := t.chunks; s != ""; s = s[chunkEntry:] {
		f.chunks = append(f.chunks, chunkExtent{u32(s), extent{u64(s[8:]), u32(s[16:])}})
	}
	f.hashes = make([]uint64, 0, len(t.index)/indexEntry)
	f.places = make([]extent, 0, len(t.index)/indexEntry)
	for s := t.index; s != ""; s = s[indexEntry:] {
		f.hashes = append(f.hashes, u64(s))
		f.places = append(f.places, extent{u64(s[8:]), u32(s[16:])})
	}
	f.feeds = t.feeds
	if !f.feeds[epss].isSorted() || !f.feeds[kev].isSorted() {
		return damagedError("a table is not sorted")
	}
	// The look-ups are binary searches: in an unsorted table they would miss packages silently.
	if !slices.IsSorted(f.hashes) || !slices.IsSortedFunc(f.chunks, func(a, b chunkExtent) int {
		return int(a.first) - int(b.first)
	}) {
		return damagedError("a table is not sorted")
	}
	return nil
}

// readExtent returns a part of the file. The limit keeps a damaged table from asking for
// more memory than a part can need.
func (f *File) readExtent(p extent, limit int) ([]byte, error) {
	if int64(p.length) > int64(limit) || p.offset > 1<<50 {
		return nil, damagedError("a part is too long")
	}
	b := make([]byte, p.length)
	if _, err := f.src.ReadAt(b, int64(p.offset)); err != nil {
		if errors.Is(err, io.EOF) {
			return nil, damagedError("it ends too early")
		}
		return nil, fmt.Errorf("read advisories: %w", err)
	}
	return b, nil
}

// findPackage returns what records say of a package.
func (f *File) findPackage(k packageKey) ([]affected, error) {
	// Two packages may have one hash, so the key in the block decides.
	h := k.hashKey()
	i, _ := slices.BinarySearch(f.hashes, h)
	for ; i < len(f.hashes) && f.hashes[i] == h; i++ {
		b, err := f.readBlock(i)
		if err != nil {
			return nil, err
		}
		if b.key == k {
			return b.list, nil
		}
	}
	return nil, nil
}

// readBlock reads the i-th package of the index.
func (f *File) readBlock(i int) (block, error) {
	b, err := f.readExtent(f.places[i], maxBlock)
	if err != nil {
		return block{}, err
	}
	return decodeBlock(b)
}

// readRecord returns what a record says.
func (f *File) readRecord(number uint32) (details, error) {
	// The chunk is the last one whose first record is not behind the number.
	n := sort.Search(len(f.chunks), func(i int) bool { return f.chunks[i].first > number }) - 1
	if n < 0 {
		return details{}, damagedError("a record is missing")
	}
	records, err := f.cachedChunk(n)
	if err != nil {
		return details{}, err
	}
	at := int(number - f.chunks[n].first)
	if at >= len(records) {
		return details{}, damagedError("a record is missing")
	}
	d := decoder{s: records[at]}
	return d.takeDetails(), d.err
}

// cachedChunk returns the encoded records of a chunk, and keeps them for a while.
func (f *File) cachedChunk(n int) ([]string, error) {
	f.mu.Lock()
	if e := f.held[n]; e != nil {
		f.used.MoveToFront(e)
		f.mu.Unlock()
		return e.Value.(cachedChunk).records, nil
	}
	f.mu.Unlock()
	// The lock is not held while reading: two scans may decode one chunk twice, which costs less
	// than waiting for the disk under a lock.
	records, err := f.readChunk(n)
	if err != nil {
		return nil, err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.held[n] == nil {
		f.held[n] = f.used.PushFront(cachedChunk{n, records})
	}
	if f.used.Len() > maxCachedChunks {
		delete(f.held, f.used.Remove(f.used.Back()).(cachedChunk).n)
	}
	return records, nil
}

// readChunk decodes a chunk.
func (f *File) readChunk(n int) ([]string, error) {
	b, err := f.readExtent(f.chunks[n].extent, maxChunk)
	if err != nil {
		return nil, err
	}
	raw, err := f.zstd.DecodeAll(b, nil)
	if err != nil {
		return nil, damagedError("records cannot be decompressed")
	}
	d := decoder{s: string(raw)}
	var records []string
	for d.s != "" {
		records = append(records, d.takeText())
	}
	return records, d.err
}

// eachRecord calls do for every encoded record of the file.
func (f *File) eachRecord(do func(number uint32, raw string) error) error {
	for n := range f.chunks {
		records, err := f.readChunk(n)
		if err != nil {
			return err
		}
		for i, raw := range records {
			if err := do(f.chunks[n].first+uint32(i), raw); err != nil {
				return err
			}
		}
	}
	return nil
}
