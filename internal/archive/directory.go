package archive

import (
	"archive/zip"
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"strings"
)

// This file reads the directory at the end of a zip, after PKWARE's APPNOTE.TXT
// 6.3.10; sections are given in brackets. The directory counts: what stands only
// in front of an entry's data is not believed.

const (
	recordSignature    = 0x02014b50 // [4.3.12]
	localSignature     = 0x04034b50 // [4.3.7]
	endSignature       = 0x06054b50 // [4.3.16]
	end64Signature     = 0x06064b50 // [4.3.14]
	locator64Signature = 0x07064b50 // [4.3.15]

	// Sizes of the fixed parts of the records of a zip file, in bytes [4.3.7 to 4.3.16].
	recordSize, localSize, endSize, end64Size, locator64Size = 46, 30, 22, 56, 20

	flagEncrypted = 1 // bit 0 of an entry's flags [4.4.4]
)

// A directory is where the directory of a zip lies.
type directory struct {
	start   int64 // in the file
	end     int64
	base    int64  // of the offsets in it; what stands in front of the zip
	entries uint16 // as claimed, the low half of it: old tools write no more
}

// A record is an entry of the directory.
type record struct {
	name       string
	flags      uint16
	method     uint16
	crc        uint32
	compressed int64
	size       int64
	offset     int64 // of the local header in the file
	creator    uint8 // system whose attributes these are
	attributes uint32
}

// findDirectory finds the directory of a zip.
func findDirectory(src *io.SectionReader) (directory, error) {
	tail := make([]byte, min(src.Size(), endSize+1<<16))
	at := src.Size() - int64(len(tail))
	if _, err := src.ReadAt(tail, at); err != nil && !errors.Is(err, io.EOF) {
		return directory{}, err
	}
	i := len(tail) - endSize
	for ; i >= 0; i-- {
		if binary.LittleEndian.Uint32(tail[i:]) == endSignature &&
			i+endSize+int(binary.LittleEndian.Uint16(tail[i+20:])) <= len(tail) {
			break
		}
	}
	if i < 0 {
		return directory{}, zip.ErrFormat
	}
	end := tail[i:]
	at += int64(i)
	entries := binary.LittleEndian.Uint16(end[10:])
	size := uint64(binary.LittleEndian.Uint32(end[12:]))
	offset := uint64(binary.LittleEndian.Uint32(end[16:]))
	if entries == 0xffff || size == 0xffffffff || offset == 0xffffffff {
		end64, where, err := findEnd64(src, at)
		if err != nil {
			return directory{}, err
		}
		if end64 != nil {
			entries = binary.LittleEndian.Uint16(end64[32:])
			size = binary.LittleEndian.Uint64(end64[40:])
			offset = binary.LittleEndian.Uint64(end64[48:])
			at = where
		}
	}
	if size > uint64(at) || offset > uint64(at)-size {
		return directory{}, zip.ErrFormat
	}
	start := at - int64(size)
	return directory{start: start, end: at, base: start - int64(offset), entries: entries}, nil
}

// findEnd64 reads the end record of a zip64 and where it is; nil when there is
// none in front of the end record at the position.
func findEnd64(src io.ReaderAt, at int64) ([]byte, int64, error) {
	locator := make([]byte, locator64Size)
	if at < locator64Size {
		return nil, 0, nil
	}
	if _, err := src.ReadAt(locator, at-locator64Size); err != nil {
		return nil, 0, err
	}
	if binary.LittleEndian.Uint32(locator) != locator64Signature {
		return nil, 0, nil
	}
	// What stands in front of the zip is not counted in the locator; the end
	// record itself is found right before it.
	where := at - locator64Size - end64Size
	if where < 0 {
		return nil, 0, zip.ErrFormat
	}
	end := make([]byte, end64Size)
	if _, err := src.ReadAt(end, where); err != nil {
		return nil, 0, err
	}
	if binary.LittleEndian.Uint32(end) != end64Signature {
		return nil, 0, zip.ErrFormat
	}
	return end, where, nil
}

// forEachRecord reads the records one after the other. The directory must hold exactly as
// many as it claims: one with more or fewer is read differently by others.
func (d directory) forEachRecord(src io.ReaderAt, f func(record) error) error {
	r := bufio.NewReaderSize(io.NewSectionReader(src, d.start, d.end-d.start), 64<<10)
	for n := uint16(0); ; n++ {
		_, err := r.Peek(1)
		if errors.Is(err, io.EOF) {
			if n != d.entries {
				return zip.ErrFormat
			}
			return nil
		}
		rec, err := readRecord(r, d.base)
		if err != nil {
			return err
		}
		if err := f(rec); err != nil {
			return err
		}
	}
}

// readRecord reads one record [4.3.12].
func readRecord(r *bufio.Reader, base int64) (record, error) {
	var h [recordSize]byte
	if _, err := io.ReadFull(r, h[:]); err != nil {
		return record{}, err
	}
	u16 := func(i int) uint16 { return binary.LittleEndian.Uint16(h[i:]) }
	u32 := func(i int) uint32 { return binary.LittleEndian.Uint32(h[i:]) }
	if u32(0) != recordSignature {
		return record{}, zip.ErrFormat
	}
	names := make([]byte, int(u16(28))+int(u16(30)))
	if _, err := io.ReadFull(r, names); err != nil {
		return record{}, err
	}
	if _, err := r.Discard(int(u16(32))); err != nil {
		return record{}, err
	}
	name, extra := names[:u16(28)], names[u16(28):]
	sizes := [3]uint64{uint64(u32(24)), uint64(u32(20)), uint64(u32(42))}
	if err := readExtra64(extra, &sizes); err != nil {
		return record{}, err
	}
	const most = 1 << 60 // far beyond any file, and no overflow below it
	if sizes[0] > most || sizes[1] > most || sizes[2] > most {
		return record{}, zip.ErrFormat
	}
	return record{
		name: string(name), flags: u16(8), method: u16(10), crc: u32(16),
		size: int64(sizes[0]), compressed: int64(sizes[1]), offset: base + int64(sizes[2]),
		creator: uint8(u16(4) >> 8), attributes: u32(38),
	}, nil
}

// readExtra64 replaces the sizes and the offset that do not fit 32 bits with
// those of the zip64 field [4.5.3], which has them in this order.
func readExtra64(extra []byte, sizes *[3]uint64) error {
	var field []byte
	for len(extra) >= 4 {
		id, n := binary.LittleEndian.Uint16(extra), int(binary.LittleEndian.Uint16(extra[2:]))
		extra = extra[4:]
		if n > len(extra) {
			break // other tools write crippled fields here; they are not ours
		}
		if id == 1 {
			field = extra[:n]
			break
		}
		extra = extra[n:]
	}
	for i := range sizes {
		if sizes[i] != 0xffffffff {
			continue
		}
		if len(field) < 8 {
			return zip.ErrFormat
		}
		sizes[i], field = binary.LittleEndian.Uint64(field), field[8:]
	}
	return nil
}

// dataOffset returns where an entry's data starts: behind its local header [4.3.7].
func (r record) dataOffset(src io.ReaderAt) (int64, error) {
	var h [localSize]byte
	if _, err := src.ReadAt(h[:], r.offset); err != nil {
		return 0, err
	}
	if binary.LittleEndian.Uint32(h[:]) != localSignature {
		return 0, zip.ErrFormat
	}
	// Both names must be one, or another reader would see another tree.
	name := make([]byte, binary.LittleEndian.Uint16(h[26:]))
	if _, err := src.ReadAt(name, r.offset+localSize); err != nil {
		return 0, err
	}
	if !bytes.Equal(name, []byte(r.name)) {
		return 0, zip.ErrFormat
	}
	return r.offset + localSize + int64(len(name)) + int64(binary.LittleEndian.Uint16(h[28:])), nil
}

// A kind is what an entry is.
type kind int

const (
	kindFile kind = iota
	kindFolder
	kindLink
	kindOther
)

// entryKind reads the attributes of the systems that have them [4.4.2, 4.4.15].
func (r record) entryKind() kind {
	const unix, macOS = 3, 19
	if strings.HasSuffix(r.name, "/") {
		return kindFolder
	}
	if r.creator != unix && r.creator != macOS {
		return kindFile
	}
	switch r.attributes >> 16 & 0xf000 {
	case 0, 0x8000:
		return kindFile
	case 0x4000:
		return kindFolder
	case 0xa000:
		return kindLink
	}
	return kindOther
}
