package git

import (
	"errors"
	"os"
	"strings"
	"testing"
	"testing/fstest"

	"merlon/internal/engine/secrets/git/gittest"
	"merlon/internal/errs"
)

// contents returns the text of the file in every commit that the tips lead to.
func contents(t *testing.T, r *Repository, file string) map[string]bool {
	t.Helper()
	tips, err := r.Tips()
	if err != nil {
		t.Fatal(err)
	}
	out, seen := map[string]bool{}, map[Hash]bool{}
	for len(tips) > 0 {
		id := tips[0]
		tips = tips[1:]
		if seen[id] {
			continue
		}
		seen[id] = true
		c, err := r.Commit(id)
		if err != nil {
			t.Fatal(err)
		}
		tips = append(tips, c.Parents...)
		if c.Author != "Ann Example" || c.Date.Year() != 2023 {
			t.Errorf("author %q at %s", c.Author, c.Date)
		}
		list, err := r.Tree(c.Tree)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range list {
			if e.Name == file {
				b, err := r.Blob(e.ID)
				if err != nil {
					t.Fatal(err)
				}
				out[string(b)] = true
			}
		}
	}
	return out
}

// What was written is read: loose, and packed with deltas of both kinds.
func TestRead(t *testing.T) {
	for name, write := range map[string]func(*gittest.Repository){"loose": (*gittest.Repository).Loose,
		"packed": (*gittest.Repository).Pack} {
		dir := t.TempDir()
		g := gittest.New(t, dir)
		long := strings.Repeat("a line that stays\n", 500)
		first := g.Commit(map[string]string{"a": long + "one"})
		second := g.Commit(map[string]string{"a": long + "two", "b/c": "x"}, first)
		side := g.Commit(map[string]string{"a": long + strings.Repeat("three ", 100)}, first)
		g.Branch("main", second)
		g.Write("packed-refs", "# pack-refs with: peeled\n"+side+" refs/heads/side\n")
		tag := g.Add("tag", []byte("object "+second+"\ntype commit\ntag v1\n\nx\n"))
		g.Write("refs/tags/v1", tag)
		write(g)
		r, err := Open(os.DirFS(g.Dir), Limits{})
		if err != nil {
			t.Fatal(err)
		}
		got := contents(t, r, "a")
		if len(got) != 3 || !got[long+"one"] || !got[long+"two"] || !got[long+strings.Repeat("three ", 100)] {
			t.Errorf("%s: %d versions were read, want 3", name, len(got))
		}
		r.Close()
	}
}

// Limits hold, and what they leave out is told apart.
func TestLimits(t *testing.T) {
	g := gittest.New(t, t.TempDir())
	big := g.Add("blob", []byte(strings.Repeat("x", 5000)))
	small := g.Add("blob", []byte("small"))
	g.Loose()
	open := func(l Limits) *Repository {
		r, err := Open(os.DirFS(g.Dir), l)
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	hash := func(s string) Hash { h, _ := parseHash(s); return h }
	r := open(Limits{Object: 1000})
	if _, err := r.Blob(hash(big)); !errors.Is(err, ErrTooLarge) {
		t.Errorf("a large object: %v", err)
	}
	if b, err := r.Blob(hash(small)); err != nil || string(b) != "small" {
		t.Errorf("a small object: %q, %v", b, err)
	}
	if _, err := r.Blob(Hash{1}); !errors.Is(err, ErrNotFound) || !IsDamaged(err) {
		t.Errorf("an object that is not there: %v", err)
	}
	if _, err := open(Limits{Total: 100}).Blob(hash(big)); !errors.Is(err, ErrSpent) || IsDamaged(err) {
		t.Errorf("beyond the budget: %v", err)
	}
}

// A delta on itself, and two on each other, end.
func TestCycle(t *testing.T) {
	a, b := strings.Repeat("aa", 20), strings.Repeat("bb", 20)
	pack := "PACK\x00\x00\x00\x02\x00\x00\x00\x02"
	delta := string([]byte{0x73}) // kind 7, size 3
	one := delta + strings.Repeat("\xbb", 20) + "\x78\x9c\x63\x60\x60\x60\x00\x00\x00\x04\x00\x01"
	two := delta + strings.Repeat("\xaa", 20) + "\x78\x9c\x63\x60\x60\x60\x00\x00\x00\x04\x00\x01"
	idx := gittest.Index(map[string]uint32{a: uint32(len(pack)), b: uint32(len(pack) + len(one))}, map[string]uint32{})
	fsys := fstest.MapFS{"HEAD": {Data: []byte("x")}, "objects/pack/p.pack": {Data: []byte(pack + one + two)},
		"objects/pack/p.idx": {Data: []byte(idx)}}
	r, err := Open(fsys, Limits{Depth: 50})
	if err != nil {
		t.Fatal(err)
	}
	h, _ := parseHash(a)
	if _, err := r.Blob(h); err == nil {
		t.Error("a cycle of deltas was read")
	}
}

func TestOpen(t *testing.T) {
	for name, fsys := range map[string]fstest.MapFS{
		"nothing":  {},
		"sha256":   {"HEAD": {}, "config": {Data: []byte("[extensions]\n\tobjectFormat = sha256\n")}},
		"reftable": {"HEAD": {}, "reftable/tables.list": {}},
		"index": {"HEAD": {}, "objects/pack/p.idx": {Data: []byte("\xFFtOc\x00\x00\x00\x02")},
			"objects/pack/p.pack": {}},
	} {
		if _, err := Open(fsys, Limits{}); !errs.Is(err, errs.Invalid) {
			t.Errorf("%s: got %v, want Invalid", name, err)
		}
	}
	r, err := Open(fstest.MapFS{"HEAD": {}, "shallow": {Data: []byte(strings.Repeat("ab", 20) + "\n")},
		"objects/info/alternates": {Data: []byte("/elsewhere\n")}}, Limits{})
	if err != nil || len(r.Missing) != 2 {
		t.Errorf("a shallow clone that borrows: %v, %q", err, r.Missing)
	}
}

// Whatever a repository holds, reading it ends without a panic.
func FuzzRepository(f *testing.F) {
	dir := f.TempDir()
	g := gittest.New(f, dir)
	first := g.Commit(map[string]string{"a": "one", "b": "one and more"})
	g.Branch("main", g.Commit(map[string]string{"a": "one two"}, first))
	g.Pack()
	pack, err := os.ReadFile(g.Dir + "/objects/pack/pack-1.pack")
	if err != nil {
		f.Fatal(err)
	}
	idx, err := os.ReadFile(g.Dir + "/objects/pack/pack-1.idx")
	if err != nil {
		f.Fatal(err)
	}
	f.Add(pack, idx, []byte("x"))
	f.Add([]byte("PACK"), []byte{}, []byte("\x78\x9c\x4b\xca\xc9\x4f\x52\x30\x60\x00\x00\x09\xb0\x01\xf0"))
	f.Fuzz(func(t *testing.T, pack, idx, loose []byte) {
		id := strings.Repeat("ab", 20)
		fsys := fstest.MapFS{"HEAD": {Data: []byte(id)}, "objects/pack/p.pack": {Data: pack},
			"objects/pack/p.idx": {Data: idx}, "objects/ab/" + id[2:]: {Data: loose}}
		r, err := Open(fsys, Limits{Object: 1 << 16, Total: 1 << 20})
		if err != nil {
			return
		}
		defer r.Close()
		ids := []Hash{}
		if h, ok := parseHash(id); ok {
			ids = append(ids, h)
		}
		for _, p := range r.packs {
			for i := range min(p.count, 50) {
				ids = append(ids, Hash(p.objectName(i)))
			}
		}
		for _, h := range ids {
			_, _ = r.Commit(h) // errors are expected
			_, _ = r.Tree(h)
			_, _ = r.Blob(h)
		}
	})
}
