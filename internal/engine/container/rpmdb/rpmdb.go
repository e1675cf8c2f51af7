// Package rpmdb reads the databases in which rpm keeps what is installed: SQLite,
// rpm's own NDB, and Berkeley DB of older systems. A database is somebody else's:
// every length in it is checked against the file, and chains end.
package rpmdb

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"io"

	"merlon/internal/errs"
)

// A Package is an installed package.
type Package struct {
	Name, Version, Release string
	Epoch                  int // 0 when there is none
	Arch                   string
	// the file name of the source package, "openssl-3.0.7-27.el9.src.rpm"
	SourceRPM string
	License   string
}

// Limits of a database.
const (
	// far more than a whole distribution has
	maxPackages = 200_000
	maxHeader   = 64 << 20 // bytes of one package
)

// Read returns the packages of a database. The error is errs.Invalid for one that
// cannot be read on, with the packages before it.
func Read(ctx context.Context, r io.ReaderAt, size int64) ([]Package, error) {
	head := make([]byte, 16)
	if n, err := r.ReadAt(head, 0); n < len(head) {
		return nil, errs.E(errs.Invalid, "the database of rpm has %d bytes: %v", n, err)
	}
	l := &packageList{ctx: ctx}
	var err error
	// A sound database is read about once; the factor leaves room for pages that are read again.
	left := 8*size + 1<<20
	file := dbFile{r, size, &left}
	switch {
	case bytes.Equal(head, []byte("SQLite format 3\x00")):
		err = readSQLite(file, l)
	case string(head[:4]) == "RpmP":
		err = readNDB(file, l)
	case binary.LittleEndian.Uint32(head[12:]) == hashMagic:
		err = readBDB(file, binary.LittleEndian, l)
	case binary.BigEndian.Uint32(head[12:]) == hashMagic:
		err = readBDB(file, binary.BigEndian, l)
	default:
		return nil, errs.E(errs.Invalid, "the database of rpm is of an unknown form")
	}
	return l.packages, err
}

// dbFile is a database with its size.
type dbFile struct {
	io.ReaderAt
	size int64
	left *int64 // bytes that may still be read: places of a hostile one may lead to the same pages again and again
}

// readAt returns a part of the file.
func (f dbFile) readAt(at, n int64) ([]byte, error) {
	if at < 0 || n < 0 || at > f.size || n > f.size-at {
		return nil, errs.E(errs.Invalid, "the database of rpm is damaged: it has no %d bytes at %d", n, at)
	}
	if *f.left -= n; *f.left < 0 {
		return nil, errs.E(errs.Invalid, "the database of rpm is damaged: its parts lie over each other")
	}
	b := make([]byte, n)
	if _, err := io.ReadFull(io.NewSectionReader(f, at, n), b); err != nil {
		return nil, fmt.Errorf("read the database of rpm: %w", err)
	}
	return b, nil
}

// packageList collects packages.
type packageList struct {
	ctx      context.Context
	packages []Package
}

// addHeader adds the package of a header.
func (l *packageList) addHeader(header []byte) error {
	if err := l.ctx.Err(); err != nil {
		return err
	}
	if len(l.packages) == maxPackages {
		return errs.E(errs.TooLarge, "the database of rpm has more than %d packages", maxPackages)
	}
	p, err := parseHeader(header)
	if err != nil {
		return err
	}
	if p.Name != "" && p.Name != "gpg-pubkey" { // a key, which is kept like a package
		l.packages = append(l.packages, p)
	}
	return nil
}

// Tags of a header
// (https://github.com/rpm-software-management/rpm/blob/rpm-4.19.1-release/include/rpm/rpmtag.h).
const (
	tagName    = 1000
	tagVersion = 1001
	tagRelease = 1002
	tagEpoch   = 1003
	tagLicense = 1014
	tagArch    = 1022
	tagSource  = 1044
)

const (
	typeInt32      = 4
	typeString     = 6
	typeI18NString = 9
)

// parseHeader reads the header of a package: the number of entries and of bytes of
// data, the entries (tag, type, offset, count), the data, all big-endian
// (https://rpm-software-management.github.io/rpm/manual/format_header.html).
func parseHeader(b []byte) (Package, error) {
	var p Package
	if len(b) < 8 {
		return p, errs.E(errs.Invalid, "the database of rpm is damaged: a header of %d bytes", len(b))
	}
	entries, length := int64(binary.BigEndian.Uint32(b)), int64(binary.BigEndian.Uint32(b[4:]))
	// Computed in 64 bits: both numbers are 32 bits wide and could overflow their sum.
	if 8+16*entries+length > int64(len(b)) {
		return p, errs.E(errs.Invalid, "the database of rpm is damaged: a header of %d entries and %d bytes in %d",
			entries, length, len(b))
	}
	data := b[8+16*entries : 8+16*entries+length]
	for i := range entries {
		e := b[8+16*i:]
		tag, kind, offset := binary.BigEndian.Uint32(e), binary.BigEndian.Uint32(e[4:]),
			int64(binary.BigEndian.Uint32(e[8:]))
		if offset >= length {
			continue
		}
		text := ""
		if kind == typeString || kind == typeI18NString {
			value, _, _ := bytes.Cut(data[offset:], []byte{0})
			text = string(value)
		}
		if tag == tagEpoch && kind == typeInt32 && offset+4 <= length {
			p.Epoch = int(int32(binary.BigEndian.Uint32(data[offset:])))
		}
		p.setText(tag, text)
	}
	return p, nil
}

// setText sets what an entry of a header tells, if it is asked for.
func (p *Package) setText(tag uint32, text string) {
	switch tag {
	case tagName:
		p.Name = text
	case tagVersion:
		p.Version = text
	case tagRelease:
		p.Release = text
	case tagLicense:
		p.License = text
	case tagArch:
		p.Arch = text
	case tagSource:
		p.SourceRPM = text
	}
}
