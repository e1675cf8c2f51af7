package rpmdb

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/binary"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"merlon/internal/errs"
)

// header returns the header of a package as rpm stores it.
func header(p Package) []byte {
	var index, data []byte
	entry := func(tag, kind uint32, value []byte) {
		for _, n := range []uint32{tag, kind, uint32(len(data)), 1} {
			index = binary.BigEndian.AppendUint32(index, n)
		}
		data = append(data, value...)
	}
	if p.Epoch > 0 {
		entry(tagEpoch, typeInt32, binary.BigEndian.AppendUint32(nil, uint32(p.Epoch)))
	}
	for tag, text := range map[uint32]string{tagName: p.Name, tagVersion: p.Version, tagRelease: p.Release,
		tagArch: p.Arch, tagSource: p.SourceRPM, tagLicense: p.License} {
		entry(tag, typeString, append([]byte(text), 0))
	}
	out := binary.BigEndian.AppendUint32(nil, uint32(len(index)/16))
	out = binary.BigEndian.AppendUint32(out, uint32(len(data)))
	return append(append(out, index...), data...)
}

var (
	openssl = Package{Name: "openssl-libs", Version: "3.0.7", Release: "24.el9", Epoch: 1, Arch: "x86_64",
		SourceRPM: "openssl-3.0.7-24.el9.src.rpm", License: "ASL 2.0"}
	bash = Package{Name: "bash", Version: "5.1.8", Release: "6.el9", Arch: "x86_64",
		SourceRPM: "bash-5.1.8-6.el9.src.rpm", License: strings.Repeat("GPL ", 400)}
	key = Package{Name: "gpg-pubkey", Version: "1", Release: "1"}
)

// sqlite returns a database with the headers.
func sqlite(t testing.TB, headers ...[]byte) []byte {
	t.Helper()
	at := filepath.Join(t.TempDir(), "rpmdb.sqlite")
	db, err := sql.Open("sqlite", at)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := db.Exec("CREATE TABLE Packages (hnum INTEGER PRIMARY KEY, blob BLOB NOT NULL)"); err != nil {
		t.Fatal(err)
	}
	for _, h := range headers {
		if _, err := db.Exec("INSERT INTO Packages (blob) VALUES (?)", h); err != nil {
			t.Fatal(err)
		}
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(at)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// ndb returns a database with the headers.
func ndb(headers ...[]byte) []byte {
	le := binary.LittleEndian
	out := make([]byte, ndbPage)
	copy(out, "RpmP")
	le.PutUint32(out[12:], 1)
	for at := ndbHeader; at < ndbPage; at += ndbSlot {
		le.PutUint32(out[at:], slotMagic)
	}
	for i, h := range headers {
		slot := out[ndbHeader+ndbSlot*i:]
		le.PutUint32(slot[4:], uint32(i+1))
		le.PutUint32(slot[8:], uint32(len(out)/ndbSlot))
		blob := le.AppendUint32(le.AppendUint32(nil, blobMagic), uint32(i+1))
		blob = append(le.AppendUint32(le.AppendUint32(blob, 0), uint32(len(h))), h...)
		out = append(out, append(blob, make([]byte, (ndbSlot-len(blob)%ndbSlot)%ndbSlot)...)...)
	}
	return out
}

// counter is the size of the key, and of the value, of what rpm writes first: the
// number of the last package. It is too short to stand on pages of its own.
const counter = 5

// berkeley returns a hash table with the headers, in pages of 512 bytes.
func berkeley(order binary.ByteOrder, headers ...[]byte) []byte {
	const size = 512
	meta, hash := make([]byte, size), make([]byte, size)
	order.PutUint32(meta[12:], hashMagic)
	order.PutUint32(meta[20:], size)
	meta[25], hash[25] = 8, kindHash
	order.PutUint16(hash[20:], uint16(2+2*len(headers)))
	order.PutUint16(hash[pageHead:], size-counter)
	order.PutUint16(hash[pageHead+2:], size-2*counter)
	hash[size-counter], hash[size-2*counter] = 1, 1
	out := append(meta, hash...)
	for i, h := range headers {
		value := size - 2*counter - offPageSize*(i+1)
		order.PutUint16(out[size+pageHead+4*(i+1)+2:], uint16(value))
		out[size+value] = valueOffPage
		order.PutUint32(out[size+value+4:], uint32(len(out)/size))
		order.PutUint32(out[size+value+8:], uint32(len(h)))
		for len(h) > 0 {
			page := make([]byte, size)
			page[25] = kindOverflow
			n := copy(page[pageHead:], h)
			if h = h[n:]; len(h) > 0 {
				order.PutUint32(page[16:], uint32(len(out)/size+1))
			}
			out = append(out, page...)
		}
	}
	order.PutUint32(out[32:], uint32(len(out)/size-1))
	return out
}

func TestRead(t *testing.T) {
	headers := [][]byte{header(openssl), header(key), header(bash)}
	for form, b := range map[string][]byte{"SQLite": sqlite(t, headers...), "NDB": ndb(headers...),
		"Berkeley DB": berkeley(binary.LittleEndian, headers...), "of another machine": berkeley(binary.BigEndian,
			headers...)} {
		got, err := Read(context.Background(), bytes.NewReader(b), int64(len(b)))
		if err != nil {
			t.Errorf("%s: %v", form, err)
		}
		if diff := cmp.Diff([]Package{openssl, bash}, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", form, diff)
		}
	}
}

// What is damaged says so, and never takes more memory than the file has bytes.
func TestReadDamaged(t *testing.T) {
	good := header(openssl)
	huge := append([]byte{0xff, 0xff, 0xff, 0xff}, good[4:]...)
	loop := berkeley(binary.LittleEndian, header(bash))
	// the second page of the value is its first
	binary.LittleEndian.PutUint32(loop[2*512+16:], 2)
	binary.LittleEndian.PutUint32(loop[512+512-2*counter-offPageSize+8:], 5<<20) // and it goes on
	for name, b := range map[string][]byte{
		"empty": nil, "unknown": bytes.Repeat([]byte("x"), 100), "huge header": ndb(huge),
		"huge in SQLite": sqlite(t, huge), "cut NDB": ndb(good)[:4000], "cut blob": ndb(good)[:4150],
		"no slot": append(ndb(good)[:40], make([]byte, 8000)...), "loop": loop,
		"cut table": berkeley(binary.LittleEndian, good)[:1200],
		"no table":  []byte("SQLite format 3\x00" + strings.Repeat("\x00", 100)),
	} {
		if got, err := Read(context.Background(), bytes.NewReader(b), int64(len(b))); !errs.Is(err, errs.Invalid) {
			t.Errorf("%s: %v, %v", name, got, err)
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	b := ndb(good)
	if _, err := Read(ctx, bytes.NewReader(b), int64(len(b))); err != context.Canceled {
		t.Errorf("canceled: %v", err)
	}
}

// FuzzRead reads databases of any bytes; those in SQLite are the driver's affair.
func FuzzRead(f *testing.F) {
	f.Add(ndb(header(openssl), header(bash)))
	f.Add(berkeley(binary.LittleEndian, header(bash)))
	f.Add(berkeley(binary.BigEndian, header(openssl)))
	f.Fuzz(func(t *testing.T, b []byte) {
		if bytes.HasPrefix(b, []byte("SQLite")) {
			t.Skip()
		}
		got, err := Read(context.Background(), bytes.NewReader(b), int64(len(b)))
		if err == nil && len(got) > len(b) {
			t.Errorf("%d packages of %d bytes", len(got), len(b))
		}
	})
}

// A thousand packages that share one value are not worth a thousand readings.
func TestSharedValues(t *testing.T) {
	b := ndb(header(bash))
	slot := append([]byte(nil), b[ndbHeader:ndbHeader+ndbSlot]...)
	for at := ndbHeader; at < ndbPage; at += ndbSlot {
		copy(b[at:], slot)
	}
	for range 200 { // larger, so that reading it once for each slot is much
		b = append(b, make([]byte, 4096)...)
	}
	copy(b[ndbPage:], ndb(append(header(bash), make([]byte, 200<<12)...))[ndbPage:])
	if got, err := Read(context.Background(), bytes.NewReader(b), int64(len(b))); !errs.Is(err, errs.Invalid) ||
		len(got) == 0 || len(got) > 20 {
		t.Errorf("%d packages, %v", len(got), err)
	}
}
