package rpmdb

import (
	"encoding/binary"
	"math/bits"

	"merlon/internal/errs"
)

// This file reads a hash table of Berkeley DB
// (https://github.com/berkeleydb/libdb/blob/v5.3.28/src/dbinc/db_page.h), in whose
// values rpm keeps the headers. Pages are numbered; a hash page holds offsets of
// pairs of key and value; a value of the size of a header stands on a chain of
// overflow pages.

const (
	hashMagic = 0x061561

	pageHead     = 26 // bytes of the head of a page
	kindUnsorted = 2  // hash page of versions before 4.6
	kindOverflow = 7
	kindHash     = 13
	valueOffPage = 3  // kind of a value that stands on overflow pages
	offPageSize  = 12 // its bytes: kind, three unused, page, length
)

// bdb is a database with the size and the byte order of its pages.
type bdb struct {
	dbFile
	order binary.ByteOrder
	size  int64
}

// readBDB reads the headers of a hash table of Berkeley DB. Two byte orders are tried by
// the caller: the file has that of the machine that wrote it.
func readBDB(f dbFile, order binary.ByteOrder, l *packageList) error {
	head, err := f.readAt(0, 72)
	if err != nil {
		return err
	}
	db := bdb{dbFile: f, order: order, size: int64(order.Uint32(head[20:]))}
	// Page sizes are powers of two from 512 bytes to 64 KiB; an encrypted database is not read.
	if bits.OnesCount64(uint64(db.size)) != 1 || db.size < 512 || db.size > 64<<10 || head[24] != 0 {
		return errs.E(errs.Invalid, "the database of rpm is of an unknown form: pages of %d bytes, encryption %d",
			db.size, head[24])
	}
	// The number of the last page, as the head states and the file has.
	last := min(int64(order.Uint32(head[32:])), f.size/db.size-1)
	for n := int64(1); n <= last; n++ {
		page, err := db.readPage(n)
		if err != nil {
			return err
		}
		if kind := page[25]; kind != kindHash && kind != kindUnsorted {
			continue
		}
		if err := db.addValues(page, l); err != nil {
			return err
		}
	}
	return nil
}

// readPage returns a page of the database.
func (db bdb) readPage(n int64) ([]byte, error) { return db.readAt(n*db.size, db.size) }

// addValues adds the headers that the values of a hash page lead to.
func (db bdb) addValues(page []byte, l *packageList) error {
	entries := int(db.order.Uint16(page[20:]))
	if pageHead+2*entries > len(page) {
		return errs.E(errs.Invalid, "the database of rpm is damaged: a page with %d entries", entries)
	}
	for i := 1; i < entries; i += 2 { // a key, then its value
		at := int(db.order.Uint16(page[pageHead+2*i:]))
		if at < len(page) && page[at] != valueOffPage {
			continue // too short for a header: the number of the last package
		}
		if at+offPageSize > len(page) {
			return errs.E(errs.Invalid, "the database of rpm is damaged: a value outside of its page")
		}
		header, err := db.readChain(int64(db.order.Uint32(page[at+4:])), int64(db.order.Uint32(page[at+8:])))
		if err != nil {
			return err
		}
		if err := l.addHeader(header); err != nil {
			return err
		}
	}
	return nil
}

// readChain returns the bytes on a chain of overflow pages. The length bounds it, so that
// a chain that leads into itself ends.
func (db bdb) readChain(n, length int64) ([]byte, error) {
	if length > maxHeader || length > db.dbFile.size {
		return nil, errs.E(errs.Invalid, "the database of rpm is damaged: a value of %d bytes", length)
	}
	out := make([]byte, 0, length)
	for n != 0 && int64(len(out)) < length {
		page, err := db.readPage(n)
		if err != nil {
			return nil, err
		}
		if page[25] != kindOverflow {
			return nil, errs.E(errs.Invalid, "the database of rpm is damaged: page %d is none of a value", n)
		}
		part := page[pageHead:]
		if left := length - int64(len(out)); int64(len(part)) > left {
			part = part[:left]
		}
		out, n = append(out, part...), int64(db.order.Uint32(page[16:]))
	}
	if int64(len(out)) < length {
		return nil, errs.E(errs.Invalid, "the database of rpm is damaged: a value ends after %d of %d bytes", len(out),
			length)
	}
	return out, nil
}
