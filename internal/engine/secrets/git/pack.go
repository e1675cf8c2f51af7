package git

import (
	"bytes"
	"container/list"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strings"

	"github.com/klauspost/compress/zlib"

	"merlon/internal/errs"
)

// This file reads packs and their indexes (gitformat-pack(5)). Both are untrusted: a
// repository under analysis may have been crafted to make a reader allocate or loop without
// end. Every length is compared with a limit before memory is allocated.

// pack is a file of objects.
// Objects are read in place; nothing but the index is kept in memory.
type pack struct {
	// Open until Close of the repository.
	file fs.File
	// The same file, for reads at an offset.
	at io.ReaderAt
	// Bytes of the pack.
	size int64
	// From the table of counts on; the header of version 2 is cut off.
	idx   []byte
	names []byte // sorted, 20 bytes each; with version 1 behind 4 bytes of offset
	// Objects in the pack.
	count int
	old   bool // version 1 of the index
}

// openPacks opens every pack that has an index.
// The budget for indexes is common to all packs: many small ones may not exceed it together
// either.
func (r *Repository) openPacks() error {
	entries, err := fs.ReadDir(r.fs, "objects/pack")
	// A repository without packs has loose objects only.
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	room := r.limits.Index
	for _, e := range entries {
		name, ok := strings.CutSuffix(e.Name(), ".idx")
		// Symbolic links and folders with such a name are not followed.
		if !ok || !e.Type().IsRegular() {
			continue
		}
		idx, err := r.readFile("objects/pack/"+e.Name(), room)
		if err != nil {
			return err
		}
		room -= int64(len(idx))
		p := &pack{idx: idx}
		if err := p.openPack(r.fs, "objects/pack/"+name+".pack"); err != nil {
			return err
		}
		r.packs = append(r.packs, p)
	}
	return nil
}

// openPack reads the index and opens the pack.
func (p *pack) openPack(fsys fs.FS, name string) error {
	if err := p.parseIndex(); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	f, err := fsys.Open(name)
	if err != nil {
		return err
	}
	// fs.FS does not promise ReadAt; the file systems of the program have it.
	info, err := f.Stat()
	at, ok := f.(io.ReaderAt)
	if err != nil || !ok {
		_ = f.Close() // the first error is the one to tell
		return errs.E(errs.Invalid, "%s cannot be read", name)
	}
	p.file, p.at, p.size = f, at, info.Size()
	return nil
}

// damagedIndex is the error for an index of a pack that does not fit its pack.
var damagedIndex = errs.E(errs.Invalid, "the index of a pack is damaged")

// parseIndex checks the index: a table of 256 counts, then the names and offsets.
func (p *pack) parseIndex() error {
	b := p.idx
	// Version 2 begins with bytes that cannot be a table of counts (its first entry would be too
	// large); version 1 has no header.
	p.old = !bytes.HasPrefix(b, []byte{0xFF, 't', 'O', 'c'})
	if !p.old {
		if len(b) < 8 || binary.BigEndian.Uint32(b[4:]) != 2 {
			return damagedIndex
		}
		b = b[8:]
	}
	if len(b) < 1024 {
		return damagedIndex
	}
	// The table is cumulative: entry i counts the names whose first byte is at most i. It must not
	// decrease, or the search below would leave the slice.
	before := uint32(0)
	for i := range 256 {
		n := binary.BigEndian.Uint32(b[4*i:])
		if n < before {
			return damagedIndex
		}
		before = n
	}
	p.count = int(before)
	// Version 2 keeps names, checksums and offsets in three tables, version 1 offset and name in
	// one.
	width := 20 + 4 + 4 // name, checksum, offset
	if p.old {
		width = 24
	}
	// The division into tables relies on this check; the trailing checksums are not verified,
	// since content is verified by parsing.
	if len(b)-1024 < p.count*width {
		return damagedIndex
	}
	p.idx, p.names = b, b[1024:]
	return nil
}

// findOffset returns the offset of the object in the pack.
// The first byte selects a range of the sorted names, which is searched by bisection.
func (p *pack) findOffset(h Hash) (int64, bool) {
	lo, hi := 0, int(binary.BigEndian.Uint32(p.idx[4*int(h[0]):]))
	if h[0] > 0 {
		lo = int(binary.BigEndian.Uint32(p.idx[4*(int(h[0])-1):]))
	}
	for lo < hi {
		mid := (lo + hi) / 2
		switch bytes.Compare(p.objectName(mid), h[:]) {
		case 0:
			return p.objectOffset(mid)
		case -1:
			lo = mid + 1
		default:
			hi = mid
		}
	}
	return 0, false
}

// objectName returns the name of the object at a place of the index: behind its offset in
// the first version, in a table of names in the second (gitformat-pack(5)).
func (p *pack) objectName(i int) []byte {
	if p.old {
		return p.names[24*i+4 : 24*i+24]
	}
	return p.names[20*i : 20*i+20]
}

// objectOffset returns where object i begins; the offsets of large packs stand in a
// second table.
func (p *pack) objectOffset(i int) (int64, bool) {
	if p.old {
		return int64(binary.BigEndian.Uint32(p.names[24*i:])), true
	}
	// The tables behind the names: checksums of 4 bytes, then offsets of 4 bytes.
	table := p.names[24*p.count:]
	n := binary.BigEndian.Uint32(table[4*i:])
	// The top bit marks an index into the table of 8-byte offsets, for packs above 2 GiB.
	if n < 1<<31 {
		return int64(n), true
	}
	large := table[4*p.count:]
	k := int(n &^ (1 << 31))
	if k >= len(large)/8 {
		return 0, false
	}
	at := binary.BigEndian.Uint64(large[8*k:])
	// Offsets beyond 2^62 cannot exist and would overflow later sums.
	return int64(at), at < 1<<62
}

// readPacked returns the object at the offset, with the deltas that it is made of
// applied from the innermost out.
// A delta refers to a base, which may be a delta itself. The chain is followed to a whole
// object first, then the deltas are applied in reverse. Recursion is avoided because the depth
// is up to the attacker.
func (r *Repository) readPacked(p *pack, at int64) (int, []byte, error) {
	type step struct {
		delta []byte
		at    int64
	}
	var steps []step
	// Bytes of the deltas that are held at once; four times the limit of an object is generous for
	// real chains.
	held := int64(0)
	for depth := 0; ; depth++ {
		// A cycle of references would be endless, too; the limit of depth ends it.
		if depth > r.limits.Depth {
			return 0, nil, errs.E(errs.Invalid, "more than %d deltas on one another", r.limits.Depth)
		}
		kind, body, ok := r.cache.getObject(p, at)
		base := int64(0)
		if !ok {
			var err error
			if kind, base, body, err = r.readEntry(p, at); err != nil {
				return 0, nil, err
			}
		}
		if kind == ofsDelta {
			if held += int64(len(body)); held > 4*r.limits.Object {
				return 0, nil, ErrTooLarge
			}
			steps = append(steps, step{body, at})
			at = base
			continue
		}
		// The base is cached before the deltas are applied: other objects in the pack usually
		// share it.
		r.cache.putObject(p, at, kind, body)
		for i := len(steps) - 1; i >= 0; i-- {
			var err error
			if body, err = r.applyDelta(body, steps[i].delta); err != nil {
				return 0, nil, err
			}
			r.cache.putObject(p, steps[i].at, kind, body)
		}
		return kind, body, nil
	}
}

// parseEntryHead reads the kind and the size that an entry begins with: four bits of the
// size beside the kind, then seven a byte, the lowest first, as long as the top bit is set.
// It returns the number of bytes, 0 when they are damaged.
func parseEntryHead(b []byte) (kind int, size int64, used int) {
	kind, size, used = int(b[0]>>4&7), int64(b[0]&15), 1
	for shift := 4; b[used-1]&0x80 != 0; shift += 7 {
		// Without the limit on shift, endless continuation bytes would overflow the size.
		if used >= len(b) || shift > 56 {
			return 0, 0, 0
		}
		size |= int64(b[used]&0x7F) << shift
		used++
	}
	return kind, size, used
}

// readEntry reads one entry of a pack. A delta, of either kind, is told as ofsDelta
// with the offset of its base.
// ofs-delta gives the distance back in the same pack, ref-delta the name of the base.
func (r *Repository) readEntry(p *pack, at int64) (kind int, base int64, body []byte, err error) {
	// 64 bytes hold every head: size (10), distance (9) or name (20).
	var head [64]byte
	n, err := p.at.ReadAt(head[:], at)
	if n == 0 || err != nil && !errors.Is(err, io.EOF) { // the last object is shorter
		return 0, 0, nil, errs.E(errs.Invalid, "a pack ends before an object that its index names")
	}
	b := head[:n]
	kind, size, used := parseEntryHead(b)
	if used == 0 {
		return 0, 0, nil, errs.E(errs.Invalid, "the size of a packed object is damaged")
	}
	switch kind {
	case ofsDelta:
		// The base must be in front of the delta, so that chains end.
		back, k := parseBaseDistance(b[used:])
		if k == 0 || back <= 0 || back > at {
			return 0, 0, nil, errs.E(errs.Invalid, "a delta names no base")
		}
		base, used = at-back, used+k
	case refDelta:
		if len(b) < used+20 {
			return 0, 0, nil, errs.E(errs.Invalid, "a delta names no base")
		}
		var ok bool
		if base, ok = p.findOffset(Hash(b[used : used+20])); !ok {
			return 0, 0, nil, ErrNotFound
		}
		kind, used = ofsDelta, used+20
	case kindCommit, kindTree, kindBlob, kindTag:
	default:
		return 0, 0, nil, errs.E(errs.Invalid, "a packed object has no kind")
	}
	// The declared size is checked before anything is inflated.
	if size > r.limits.Object {
		return 0, 0, nil, ErrTooLarge
	}
	// A stream that inflates to more than the size is cut at the limit: a zip bomb costs no more
	// than its declared size.
	body, err = r.inflateStream(io.NewSectionReader(p.at, at+int64(used), p.size-at-int64(used)), size)
	if err == nil && int64(len(body)) != size {
		err = errs.E(errs.Invalid, "a packed object is shorter than its declared size")
	}
	return kind, base, body, err
}

// parseBaseDistance reads the distance to the base of a delta.
// Each byte but the last adds one before the shift, so that no distance has two spellings
// (gitformat-pack(5), "offset encoding").
func parseBaseDistance(b []byte) (distance int64, used int) {
	// Nine bytes are enough for 63 bits.
	for used < len(b) && used < 9 {
		c := b[used]
		if used > 0 {
			distance++
		}
		distance = distance<<7 | int64(c&0x7F)
		used++
		if c&0x80 == 0 {
			return distance, used
		}
	}
	return 0, 0
}

// inflateStream returns the content of a zlib stream of at most limit bytes.
func (r *Repository) inflateStream(from io.Reader, limit int64) ([]byte, error) {
	var z io.ReadCloser
	var err error
	buffered := r.cache.newReader(from)
	// The decompressor is reused: it has a window of 32 KiB, and a history has millions of
	// objects.
	if reset, ok := r.cache.zlib.(zlib.Resetter); ok {
		err, z = reset.Reset(buffered, nil), r.cache.zlib
	} else {
		z, err = zlib.NewReader(buffered)
		r.cache.zlib = z
	}
	if err != nil {
		return nil, errs.Wrap(errs.Invalid, err, "an object is no zlib stream")
	}
	var b bytes.Buffer
	// The buffer starts small: a declared size is no reason to allocate it at once.
	b.Grow(int(min(limit, 64<<10)) + bytes.MinRead)
	// One byte above the limit shows that the stream is longer.
	n, err := b.ReadFrom(io.LimitReader(z, limit+1))
	// left is the budget of the whole repository.
	if r.left -= n; r.left < 0 {
		return nil, ErrSpent
	}
	if n > limit {
		return nil, ErrTooLarge
	}
	if err != nil {
		return nil, errs.Wrap(errs.Invalid, err, "an object is damaged")
	}
	return b.Bytes(), nil
}

// damagedDelta is the error for a delta that does not fit its base.
var damagedDelta = errs.E(errs.Invalid, "a delta is damaged")

// readCopy reads the operands of a copy, and returns the piece of the base that it means
// and what follows in the delta. Each of the low four bits of the operation says that a
// byte of the offset follows, the next three the same for the length; a length of 0 is
// 64 KiB (gitformat-pack(5), "Instruction to copy from base object").
func readCopy(op byte, base, delta []byte) (piece, rest []byte, ok bool) {
	var at, length uint64
	// Bits that are not set stand for bytes of zero.
	for i := range 7 {
		if op>>i&1 == 0 {
			continue
		}
		if len(delta) == 0 {
			return nil, nil, false
		}
		if i < 4 {
			at |= uint64(delta[0]) << (8 * i)
		} else {
			length |= uint64(delta[0]) << (8 * (i - 4))
		}
		delta = delta[1:]
	}
	if length == 0 {
		length = 0x10000
	}
	// The sum cannot overflow: offset has 32 bits and length 24.
	if at+length > uint64(len(base)) {
		return nil, nil, false
	}
	return base[at : at+length], delta, true
}

// readDeltaHead reads the lengths that a delta begins with, that of its base and that of
// the result, and returns the latter and what follows.
func readDeltaHead(base, delta []byte) (size uint64, rest []byte, ok bool) {
	// The base has to have exactly the length that the delta was made for.
	from, n := binary.Uvarint(delta)
	if n <= 0 || from != uint64(len(base)) {
		return 0, nil, false
	}
	size, m := binary.Uvarint(delta[n:])
	if m <= 0 {
		return 0, nil, false
	}
	return size, delta[n+m:], true
}

// applyDelta applies a delta: copies from the base, and new bytes.
func (r *Repository) applyDelta(base, delta []byte) ([]byte, error) {
	size, delta, ok := readDeltaHead(base, delta)
	if !ok {
		return nil, damagedDelta
	}
	if size > uint64(r.limits.Object) {
		return nil, ErrTooLarge
	}
	// Applying deltas costs memory like inflating does, so it is taken from the same budget: small
	// deltas can produce large results.
	if r.left -= int64(size); r.left < 0 {
		return nil, ErrSpent
	}
	out := make([]byte, 0, min(size, 1<<20))
	for len(delta) > 0 {
		op := delta[0]
		delta = delta[1:]
		// 0 is reserved for future use.
		if op == 0 {
			return nil, damagedDelta
		}
		var piece []byte
		// The top bit marks a copy from the base; otherwise the value is the number of literal
		// bytes.
		if op&0x80 != 0 {
			if piece, delta, ok = readCopy(op, base, delta); !ok {
				return nil, damagedDelta
			}
		} else {
			if int(op) > len(delta) {
				return nil, damagedDelta
			}
			piece, delta = delta[:op], delta[op:]
		}
		// The result may not exceed the announced size, which was checked against the limit.
		if uint64(len(out)+len(piece)) > size {
			return nil, damagedDelta
		}
		out = append(out, piece...)
	}
	if uint64(len(out)) != size {
		return nil, damagedDelta
	}
	return out, nil
}

// objectCache keeps the objects that were read last, which are the bases of others.
// It is an LRU cache by bytes. Commits of a history change few files, so that the same bases
// are needed again and again.
type objectCache struct {
	// Bytes that may be kept.
	room int
	// Bytes that are kept, with an overhead of 200 for each entry.
	used    int
	order   *list.List // most recent first
	entries map[packPosition]*list.Element
	zlib    io.ReadCloser // used again for each object
	// The buffer in front of the decompressor, also reused.
	buffer *chunkReader
}

// packPosition names an object of a pack.
type packPosition struct {
	pack *pack
	at   int64
}

// cachedObject is an object that is kept.
type cachedObject struct {
	packPosition
	// Kind as in the pack: commit, tree, blob or tag.
	kind int
	body []byte
}

// newObjectCache returns a cache of so many bytes.
func newObjectCache(room int) *objectCache {
	return &objectCache{room: room, order: list.New(), entries: map[packPosition]*list.Element{}}
}

// getObject returns an object that is kept, which then is the last to be dropped.
func (c *objectCache) getObject(p *pack, at int64) (int, []byte, bool) {
	e, ok := c.entries[packPosition{p, at}]
	if !ok {
		return 0, nil, false
	}
	c.order.MoveToFront(e)
	o := e.Value.(*cachedObject)
	return o.kind, o.body, true
}

// putObject keeps an object, and drops the ones that were not used for longest. A large one
// would drop all others and is not kept.
func (c *objectCache) putObject(p *pack, at int64, kind int, body []byte) {
	key := packPosition{p, at}
	if _, ok := c.entries[key]; ok || len(body) > c.room/4 {
		return
	}
	c.entries[key] = c.order.PushFront(&cachedObject{key, kind, body})
	for c.used += len(body) + 200; c.used > c.room; {
		last := c.order.Back()
		o := last.Value.(*cachedObject)
		c.used -= len(o.body) + 200
		c.order.Remove(last)
		delete(c.entries, o.packPosition)
	}
}

// chunkReader reads in pieces of some size, so that small objects cost one call. It
// is an io.ByteReader, as zlib wants.
type chunkReader struct {
	from     io.Reader
	buffer   [4096]byte
	at, have int
	err      error
}

// newReader returns the reader for a stream. One is enough, since objects are read one
// after the other; inflating allocates nothing but the result.
func (c *objectCache) newReader(from io.Reader) *chunkReader {
	if c.buffer == nil {
		c.buffer = &chunkReader{}
	}
	c.buffer.from, c.buffer.at, c.buffer.have, c.buffer.err = from, 0, 0, nil
	return c.buffer
}

// fillBuffer reads the next bytes when none are left.
func (r *chunkReader) fillBuffer() error {
	if r.at < r.have {
		return nil
	}
	if r.err != nil {
		return r.err
	}
	r.at, r.have = 0, 0
	r.have, r.err = r.from.Read(r.buffer[:])
	// A reader that returns nothing without an error would loop for ever.
	if r.have == 0 && r.err == nil {
		r.err = io.ErrNoProgress
	}
	if r.have > 0 {
		return nil
	}
	return r.err
}

// Read implements io.Reader.
func (r *chunkReader) Read(b []byte) (int, error) {
	if err := r.fillBuffer(); err != nil {
		return 0, err
	}
	n := copy(b, r.buffer[r.at:r.have])
	r.at += n
	return n, nil
}

// ReadByte returns the next byte.
func (r *chunkReader) ReadByte() (byte, error) {
	if err := r.fillBuffer(); err != nil {
		return 0, err
	}
	r.at++
	return r.buffer[r.at-1], nil
}
