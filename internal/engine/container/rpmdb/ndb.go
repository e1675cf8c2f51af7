package rpmdb

import (
	"encoding/binary"

	"merlon/internal/errs"
)

// This file reads rpm's own form of a database
// (https://github.com/rpm-software-management/rpm/blob/rpm-4.19.1-release/lib/backend/ndb/rpmpkg.c):
// a header of 32 bytes with the number of pages of slots, the slots of 16 bytes, and
// blobs at multiples of 16 bytes, each behind a header of 16. All little-endian.

const (
	ndbHeader = 32
	ndbSlot   = 16
	ndbPage   = 4096
	// "Slot" in little-endian
	slotMagic = 'S' | 'l'<<8 | 'o'<<16 | 't'<<24
	// "BlbS" in little-endian
	blobMagic  = 'B' | 'l'<<8 | 'b'<<16 | 'S'<<24
	ndbVersion = 0
	// 16 MiB of slots, a million packages: far above maxPackages
	maxPages = 4096
)

// readNDB reads the headers of a database of rpm's own form.
func readNDB(f dbFile, l *packageList) error {
	head, err := f.readAt(0, ndbHeader)
	if err != nil {
		return err
	}
	version, pages := binary.LittleEndian.Uint32(head[4:]), binary.LittleEndian.Uint32(head[12:])
	if version != ndbVersion || pages == 0 || pages > maxPages {
		return errs.E(errs.Invalid, "the database of rpm is of an unknown form: version %d, %d pages", version, pages)
	}
	slots, err := f.readAt(ndbHeader, int64(pages)*ndbPage-ndbHeader)
	if err != nil {
		return err
	}
	// The slots begin behind the header inside of the first page.
	for ; len(slots) >= ndbSlot; slots = slots[ndbSlot:] {
		if binary.LittleEndian.Uint32(slots) != slotMagic {
			return errs.E(errs.Invalid, "the database of rpm is damaged: a slot without its mark")
		}
		index, block := binary.LittleEndian.Uint32(slots[4:]), binary.LittleEndian.Uint32(slots[8:])
		if index == 0 {
			continue // free
		}
		at := int64(block) * ndbSlot
		head, err := f.readAt(at, ndbSlot)
		if err != nil {
			return err
		}
		// The header repeats the index of its slot: a mismatch means that the file was damaged or
		// changed while it was copied.
		length := binary.LittleEndian.Uint32(head[12:])
		if binary.LittleEndian.Uint32(head) != blobMagic || binary.LittleEndian.Uint32(head[4:]) != index ||
			length > maxHeader {
			return errs.E(errs.Invalid, "the database of rpm is damaged: package %d is not where it should be", index)
		}
		header, err := f.readAt(at+ndbSlot, int64(length))
		if err != nil {
			return err
		}
		if err := l.addHeader(header); err != nil {
			return err
		}
	}
	return nil
}
