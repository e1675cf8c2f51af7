// Package gittest writes Git repositories for tests, without a program.
package gittest

import (
	"bytes"
	"compress/zlib"
	"crypto/sha1"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"hash/crc32"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// A Repository is a folder .git that is being written.
type Repository struct {
	t   testing.TB
	Dir string // the folder .git
	// Objects are those that were written, with their headers, by name.
	objects map[string]object
	order   []string
	clock   int
}

// object is an object that is to be written.
type object struct {
	kind string
	body []byte
}

// New makes an empty repository below the folder.
func New(t testing.TB, root string) *Repository {
	r := &Repository{t: t, Dir: filepath.Join(root, ".git"), objects: map[string]object{}, clock: 1_700_000_000}
	r.Write("HEAD", "ref: refs/heads/main\n")
	r.Write("objects/info/readme", "")
	return r
}

// Write writes a file below .git.
func (r *Repository) Write(name, text string) {
	r.t.Helper()
	at := filepath.Join(r.Dir, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(at), 0o755); err != nil {
		r.t.Fatal(err)
	}
	if err := os.WriteFile(at, []byte(text), 0o644); err != nil {
		r.t.Fatal(err)
	}
}

// Add notes an object and returns its name. It is in the repository after Loose
// or Pack.
func (r *Repository) Add(kind string, body []byte) string {
	sum := sha1.Sum(append([]byte(fmt.Sprintf("%s %d\x00", kind, len(body))), body...))
	name := hex.EncodeToString(sum[:])
	if _, ok := r.objects[name]; !ok {
		r.objects[name] = object{kind, body}
		r.order = append(r.order, name)
	}
	return name
}

// Tree notes the folder that holds the files, which are given by their paths.
func (r *Repository) Tree(files map[string]string) string {
	type entry struct{ mode, name, id string }
	var entries []entry
	below := map[string]map[string]string{}
	for path, text := range files {
		if dir, rest, ok := strings.Cut(path, "/"); ok {
			if below[dir] == nil {
				below[dir] = map[string]string{}
			}
			below[dir][rest] = text
			continue
		}
		entries = append(entries, entry{"100644", path, r.Add("blob", []byte(text))})
	}
	for dir, files := range below {
		entries = append(entries, entry{"40000", dir, r.Tree(files)})
	}
	slices.SortFunc(entries, func(a, b entry) int { return strings.Compare(a.name, b.name) })
	var b bytes.Buffer
	for _, e := range entries {
		id, _ := hex.DecodeString(e.id) // it is of Add
		fmt.Fprintf(&b, "%s %s\x00%s", e.mode, e.name, id)
	}
	return r.Add("tree", b.Bytes())
}

// Commit notes a commit of the files, one hour after the last.
func (r *Repository) Commit(files map[string]string, parents ...string) string {
	return r.CommitTree(r.Tree(files), parents...)
}

// CommitTree notes a commit of the folder.
func (r *Repository) CommitTree(tree string, parents ...string) string {
	r.clock += 3600
	var b strings.Builder
	fmt.Fprintf(&b, "tree %s\n", tree)
	for _, p := range parents {
		fmt.Fprintf(&b, "parent %s\n", p)
	}
	fmt.Fprintf(&b, "author Ann Example <ann@example.com> %d +0000\ncommitter Bob <bob@example.com> %d +0000\n\na "+
		"change\n", r.clock, r.clock)
	return r.Add("commit", []byte(b.String()))
}

// Branch lets a reference name the commit.
func (r *Repository) Branch(name, commit string) { r.Write("refs/heads/"+name, commit+"\n") }

// Loose writes every object into a file of its own.
func (r *Repository) Loose() {
	for _, name := range r.order {
		o := r.objects[name]
		r.Write("objects/"+name[:2]+"/"+name[2:],
			deflateBytes(append([]byte(fmt.Sprintf("%s %d\x00", o.kind, len(o.body))), o.body...)))
	}
}

// deflateBytes compresses an object as git stores it (RFC 1950).
func deflateBytes(b []byte) string {
	var out bytes.Buffer
	z := zlib.NewWriter(&out)
	_, _ = z.Write(b) // a buffer takes everything
	_ = z.Close()
	return out.String()
}

// kinds are the numbers of kinds in a pack.
var kinds = map[string]byte{"commit": 1, "tree": 2, "blob": 3, "tag": 4}

// Pack writes every object into one pack, each blob as a delta on the blob before
// it: by distance and by name in turn.
func (r *Repository) Pack() {
	var pack bytes.Buffer
	pack.WriteString("PACK")
	_ = binary.Write(&pack, binary.BigEndian, []uint32{2, uint32(len(r.order))}) // a buffer takes everything
	offsets, sums := map[string]uint32{}, map[string]uint32{}
	last := ""
	for i, name := range r.order {
		o := r.objects[name]
		at := pack.Len()
		offsets[name] = uint32(at)
		switch {
		case o.kind == "blob" && last != "" && i%2 == 0:
			delta := Delta(r.objects[last].body, o.body)
			pack.Write(entryHeader(6, len(delta)))
			pack.Write(baseDistance(at - int(offsets[last])))
			pack.WriteString(deflateBytes(delta))
		case o.kind == "blob" && last != "":
			delta := Delta(r.objects[last].body, o.body)
			pack.Write(entryHeader(7, len(delta)))
			id, _ := hex.DecodeString(last) // it is of Add
			pack.Write(id)
			pack.WriteString(deflateBytes(delta))
		default:
			pack.Write(entryHeader(kinds[o.kind], len(o.body)))
			pack.WriteString(deflateBytes(o.body))
		}
		sums[name] = crc32.ChecksumIEEE(pack.Bytes()[at:])
		if o.kind == "blob" {
			last = name
		}
	}
	trailer := sha1.Sum(pack.Bytes())
	pack.Write(trailer[:])
	r.Write("objects/pack/pack-1.pack", pack.String())
	r.Write("objects/pack/pack-1.idx", Index(offsets, sums))
}

// Delta makes base into body: the common beginning is copied, the rest is new.
func Delta(base, body []byte) []byte {
	n := 0
	for n < len(base) && n < len(body) && n < 0xFFFF && base[n] == body[n] {
		n++
	}
	out := binary.AppendUvarint(nil, uint64(len(base)))
	out = binary.AppendUvarint(out, uint64(len(body)))
	if n > 0 {
		out = append(out, 0x80|0x10|0x20, byte(n), byte(n>>8))
	}
	for rest := body[n:]; len(rest) > 0; {
		k := min(len(rest), 127)
		out = append(append(out, byte(k)), rest[:k]...)
		rest = rest[k:]
	}
	return out
}

// entryHeader is the kind and size before a packed object.
func entryHeader(kind byte, size int) []byte {
	b := []byte{kind<<4 | byte(size&15)}
	for size >>= 4; size > 0; size >>= 7 {
		b[len(b)-1] |= 0x80
		b = append(b, byte(size&0x7F))
	}
	return b
}

// baseDistance is how far back the base of a delta is.
func baseDistance(n int) []byte {
	b := []byte{byte(n & 0x7F)}
	for n >>= 7; n > 0; n >>= 7 {
		n--
		b = append([]byte{0x80 | byte(n&0x7F)}, b...)
	}
	return b
}

// Index makes the index of a pack.
func Index(offsets, sums map[string]uint32) string {
	var names []string
	for name := range offsets {
		names = append(names, name)
	}
	slices.Sort(names)
	var counts [256]uint32
	for _, name := range names {
		id, _ := hex.DecodeString(name) // it is of Add
		for i := int(id[0]); i < 256; i++ {
			counts[i]++
		}
	}
	var b bytes.Buffer
	b.WriteString("\xFFtOc")
	_ = binary.Write(&b, binary.BigEndian, uint32(2)) // a buffer takes everything
	_ = binary.Write(&b, binary.BigEndian, counts)
	for _, name := range names {
		id, _ := hex.DecodeString(name)
		b.Write(id)
	}
	for _, name := range names {
		_ = binary.Write(&b, binary.BigEndian, sums[name])
	}
	for _, name := range names {
		_ = binary.Write(&b, binary.BigEndian, offsets[name])
	}
	b.Write(make([]byte, 40))
	return b.String()
}
