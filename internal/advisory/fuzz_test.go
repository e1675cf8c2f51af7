package advisory

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func FuzzParse(f *testing.F) {
	f.Add([]byte(one("X-1", "npm", "x",
		`"ranges":[{"type":"SEMVER","events":[{"introduced":"0"},{"fixed":"1.2.3"}]}]`)))
	f.Add([]byte(one("X-1", "PyPI", "x",
		`"versions":["1.0","2.0rc1"],"database_specific":{"severity":"HIGH","cwe_ids":["CWE-1"]}`)))
	f.Add([]byte(one("X-1", "Packagist", "a/b",
		`"ranges":[{"type":"ECOSYSTEM","events":[{"introduced":"dev-x"},{"last_affected":"v1-beta"}]}]`)))
	f.Add([]byte(`{"id":"X","modified":3,"affected":[{"package":{"ecosystem":"Go","name":"y"}}]}`))
	f.Add([]byte(`{"id":"X","withdrawn":"2024-01-01T00:00:00Z"}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		r, err := parseRecord("X-1.json", data)
		if r == nil {
			if err == nil {
				t.Fatal("neither a record nor an error")
			}
			return
		}
		var e encoder
		e.putDetails(&r.details)
		d := decoder{s: string(e.b)}
		if got := d.takeDetails(); d.err != nil || got.id != r.id || d.s != "" {
			t.Fatalf("encoded as %q, read back as %q: %v", r.id, got.id, d.err)
		}
		for i := range r.affected {
			a := &r.affected[i]
			blk, err := decodeBlock(encodeBlock(newPackageKey(a.ecosystem, a.name), []affected{*a}))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(*a, blk.list[0], cmp.AllowUnexported(affected{}, event{})); diff != "" &&
				!emptyLists(a) {
				t.Fatalf("read back differs:\n%s", diff)
			}
			for _, version := range []string{"1.0", "1.2.3-rc.1", "latest", ""} {
				c := newComparer(a.ecosystem)
				if _, err := c.isAffected(a, version); err == nil {
					c.listFixes([]*affected{a}, version)
				}
			}
		}
	})
}

// emptyLists reports whether the record has lists that are there but empty;
// they come back as absent.
func emptyLists(a *affected) bool {
	return a.versions != nil && len(a.versions) == 0 ||
		slices.ContainsFunc(a.ranges, func(e []event) bool { return len(e) == 0 })
}

func FuzzOpen(f *testing.F) {
	dir := f.TempDir()
	path, source := filepath.Join(dir, "file"), filepath.Join(dir, "X-1.json")
	if err := os.WriteFile(source, []byte(one("X-1", "npm", "x", `"versions":["1.0.0"]`)), 0o600); err != nil {
		f.Fatal(err)
	}
	if _, err := Build(context.Background(), BuildOptions{Sources: []string{source}, Output: path,
		Now: now}); err != nil {
		f.Fatal(err)
	}
	good, err := os.ReadFile(path)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(good)
	f.Add(good[:len(good)-1])
	f.Add([]byte(magic))
	f.Fuzz(func(t *testing.T, data []byte) {
		// Checksums are mended, so that what they guard is reached too.
		if n := len(data); n >= len(magic)+tailSize+digestLen {
			mend(data)
		}
		file, err := newFile(bytes.NewReader(data), int64(len(data)))
		if err != nil {
			return
		}
		defer file.zstd.Close()
		// must not panic
		_, _ = file.Match(t.Context(), "npm", "x", "1.0.0")
		// must not panic
		_ = file.eachRecord(func(_ uint32, raw string) error { d := decoder{s: raw}; d.takeDetails(); return d.err })
		for i := range file.places {
			_, _ = file.readBlock(i) // must not panic
		}
	})
}

// mend writes the checksum of the tables, if the tail says where they are.
func mend(data []byte) {
	var e encoder
	end := len(data) - tailSize - digestLen
	d := data[end:]
	at := uint64(d[0]) | uint64(d[1])<<8 | uint64(d[2])<<16 | uint64(d[3])<<24
	if at > uint64(end) {
		return
	}
	e.putUint32(checksum(append(slices.Clone(d[:tailSize-4]), data[at:end]...)))
	copy(d[tailSize-4:], e.b)
}
