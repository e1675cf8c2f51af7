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

// This file reads packs and their indexes.

// pack is a file of objects.
type pack struct {
	file  fs.File
	at    io.ReaderAt
	size  int64
	idx   []byte
	names []byte // sorted, 20 bytes each; with version 1 behind 4 bytes of offset
	count int
	old   bool // version 1 of the index
}

// openPacks opens every pack that has an index.
func (r *Repository) openPacks() error {
	entries, err := fs.ReadDir(r.fs, "objects/pack")
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	room := r.limits.Index
	for _, e := range entries {
		name, ok := strings.CutSuffix(e.Name(), ".idx")
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
	before := uint32(0)
	for i := range 256 {
		n := binary.BigEndian.Uint32(b[4*i:])
		if n < before {
			return damagedIndex
		}
		before = n
	}
	p.count = int(before)
	width := 20 + 4 + 4 // name, checksum, offset
	if p.old {
		width = 24
	}
	if len(b)-1024 < p.count*width {
		return damagedIndex
	}
	p.idx, p.names = b, b[1024:]
	return nil
}

// findOffset returns the offset of the object in the pack.
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
	table := p.names[24*p.count:]
	n := binary.BigEndian.Uint32(table[4*i:])
	if n < 1<<31 {
		return int64(n), true
	}
	large := table[4*p.count:]
	k := int(n &^ (1 << 31))
	if k >= len(large)/8 {
		return 0, false
	}
	at := binary.BigEndian.Uint64(large[8*k:])
	return int64(at), at < 1<<62
}

// readPacked returns the object at the offset, with the deltas that it is made of
// applied from the innermost out.
func (r *Repository) readPacked(p *pack, at int64) (int, []byte, error) {
	type step struct {
		delta []byte
		at    int64
	}
	var steps []step
	held := int64(0)
	for depth := 0; ; depth++ {
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
func (r *Repository) readEntry(p *pack, at int64) (kind int, base int64, body []byte, err error) {
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
	if size > r.limits.Object {
		return 0, 0, nil, ErrTooLarge
	}
	body, err = r.inflateStream(io.NewSectionReader(p.at, at+int64(used), p.size-at-int64(used)), size)
	if err == nil && int64(len(body)) != size {
		err = errs.E(errs.Invalid, "a packed object is shorter than its declared size")
	}
	return kind, base, body, err
}

// parseBaseDistance reads the distance to the base of a delta.
func parseBaseDistance(b []byte) (distance int64, used int) {
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
	b.Grow(int(min(limit, 64<<10)) + bytes.MinRead)
	n, err := b.ReadFrom(io.LimitReader(z, limit+1))
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
	if at+length > uint64(len(base)) {
		return nil, nil, false
	}
	return base[at : at+length], delta, true
}

// readDeltaHead reads the lengths that a delta begins with, that of its base and that of
// the result, and returns the latter and what follows.
func readDeltaHead(base, delta []byte) (size uint64, rest []byte, ok bool) {
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
	if r.left -= int64(size); r.left < 0 {
		return nil, ErrSpent
	}
	out := make([]byte, 0, min(size, 1<<20))
	for len(delta) > 0 {
		op := delta[0]
		delta = delta[1:]
		if op == 0 {
			return nil, damagedDelta
		}
		var piece []byte
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
type objectCache struct {
	room    int
	used    int
	order   *list.List // most recent first
	entries map[packPosition]*list.Element
	zlib    io.ReadCloser // used again for each object
	buffer  *chunkReader
}

// packPosition names an object of a pack.
type packPosition struct {
	pack *pack
	at   int64
}

// cachedObject is an object that is kept.
type cachedObject struct {
	packPosition
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
