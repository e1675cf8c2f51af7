// Package git reads the objects of a Git repository from a file system: commits,
// trees and blobs, loose or packed. It runs no program, follows no reference
// outside of the folder, and reads no hook and no setting but the object format.
//
// A repository is somebody else's: every object has a largest size, every chain
// of deltas a largest length, and all reading together a budget. The formats are
// those of gitformat-pack(5), gitformat-index and gitrepository-layout(5).
package git

import (
	"bytes"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"slices"
	"strings"

	"merlon/internal/errs"
)

// A Hash names an object: SHA-1.
type Hash [20]byte

// String returns the 40 hexadecimal digits.
func (h Hash) String() string { return hex.EncodeToString(h[:]) }

// parseHash reads 40 hexadecimal digits.
func parseHash(s string) (h Hash, ok bool) {
	if len(s) != 40 {
		return h, false
	}
	_, err := hex.Decode(h[:], []byte(s))
	return h, err == nil
}

// Limits bound what a repository may cost. A zero field takes its default.
type Limits struct {
	Object int64 // bytes of one object; 16 MiB
	Total  int64 // bytes of all objects that are read; 16 GiB
	Depth  int   // deltas on one another; 4,096
	Refs   int   // references; 100,000
	Index  int64 // bytes of all indexes of packs; 512 MiB
}

// withDefaults returns the limits with what they do not say filled in.
func (l Limits) withDefaults() Limits {
	l.Object = orDefault(l.Object, 16<<20)
	l.Total = orDefault(l.Total, 16<<30)
	l.Depth = orDefault(l.Depth, 4096)
	l.Refs = orDefault(l.Refs, 100_000)
	l.Index = orDefault(l.Index, 512<<20)
	return l
}

// orDefault returns the value, or the default when it is zero.
func orDefault[T int | int64](v, d T) T {
	if v <= 0 {
		return d
	}
	return v
}

var (
	// ErrNotFound tells that the repository does not hold the object.
	ErrNotFound = errors.New("the object is not in the repository")
	// ErrTooLarge tells that an object is larger than the limit.
	ErrTooLarge = errors.New("the object is too large")
	// ErrSpent tells that the budget of reading is used up.
	ErrSpent = errors.New("the repository is larger than the limit of a scan")
)

// A Repository is open for reading. It is not safe for concurrent use.
type Repository struct {
	fs      fs.FS // the folder .git
	limits  Limits
	packs   []*pack
	cache   *objectCache
	left    int64         // bytes of the budget
	shallow map[Hash]bool // commits whose parents were not fetched

	// Missing says in words what of the history lies elsewhere.
	Missing []string
}

// Open opens the folder .git. The error is Invalid for one that is none or is
// damaged, or in a format that cannot be read.
func Open(fsys fs.FS, limits Limits) (*Repository, error) {
	r := &Repository{fs: fsys, limits: limits.withDefaults(), shallow: map[Hash]bool{}}
	r.left, r.cache = r.limits.Total, newObjectCache(96<<20)
	if _, err := fs.Stat(fsys, "HEAD"); err != nil {
		return nil, errs.E(errs.Invalid, "the folder is no Git repository: it has no HEAD")
	}
	config, _ := r.readSettings("config") // a repository without settings has the default format
	if bytes.Contains(bytes.ToLower(config), []byte("objectformat = sha256")) {
		return nil, errs.E(errs.Invalid, "the repository names objects by SHA-256, which is not read")
	}
	if _, err := fs.Stat(fsys, "reftable"); err == nil {
		return nil, errs.E(errs.Invalid, "the repository stores references in a reftable, which is not supported")
	}
	if _, err := fs.Stat(fsys, "objects/info/alternates"); err == nil {
		r.Missing = append(r.Missing, "objects that the repository borrows from another one")
	}
	if text, err := r.readSettings("shallow"); err == nil {
		for _, line := range strings.Fields(string(text)) {
			if h, ok := parseHash(line); ok {
				r.shallow[h] = true
			}
		}
		if len(r.shallow) > 0 {
			r.Missing = append(r.Missing, fmt.Sprintf("what came before %d commits, because the clone is "+
				"shallow", len(r.shallow)))
		}
	}
	return r, r.openPacks()
}

// Close closes the packs.
func (r *Repository) Close() {
	for _, p := range r.packs {
		_ = p.file.Close() // it was only read from
	}
}

// readSettings reads a file of settings.
func (r *Repository) readSettings(name string) ([]byte, error) {
	return r.readFile(name, 32<<20)
}

// readFile reads a file of at most limit bytes.
func (r *Repository) readFile(name string, limit int64) ([]byte, error) {
	f, err := r.fs.Open(name)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }() // it was only read from
	b, err := io.ReadAll(io.LimitReader(f, limit+1))
	if err == nil && int64(len(b)) > limit {
		err = errs.E(errs.TooLarge, "%s has more than %d bytes", name, limit)
	}
	return b, err
}

// Tips returns the commits that references, HEAD included, name.
func (r *Repository) Tips() ([]Hash, error) {
	seen := map[Hash]bool{}
	var out []Hash
	add := func(text string) {
		if h, ok := parseHash(strings.TrimSpace(text)); ok && !seen[h] {
			seen[h] = true
			out = append(out, h)
		}
	}
	if text, err := r.readSettings("HEAD"); err == nil {
		add(string(text)) // a detached one
	}
	packed, err := r.readSettings("packed-refs")
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	for _, line := range strings.Split(string(packed), "\n") {
		if name, _, ok := strings.Cut(line, " "); ok && !strings.HasPrefix(line, "#") {
			add(name)
		}
	}
	count := 0
	err = fs.WalkDir(r.fs, "refs", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !d.Type().IsRegular() {
			return nil // a reference that cannot be read names nothing
		}
		if count++; count > r.limits.Refs {
			return errs.E(errs.TooLarge, "more than %d references", r.limits.Refs)
		}
		if text, err := r.readFile(name, 4096); err == nil {
			add(string(text))
		}
		return nil
	})
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	return r.peelTags(out), nil
}

// peelTags replaces tags by what they name, and leaves out what is no commit.
func (r *Repository) peelTags(tips []Hash) []Hash {
	var out []Hash
	for _, h := range tips {
		for range 16 {
			kind, b, err := r.readObject(h)
			if err != nil || kind == kindCommit {
				out = append(out, h) // one that is missing is found out by who asks for it
				break
			}
			rest, ok := bytes.CutPrefix(b, []byte("object "))
			if kind != kindTag || !ok || len(rest) < 40 {
				break
			}
			if h, ok = parseHash(string(rest[:40])); !ok {
				break
			}
		}
	}
	slices.SortFunc(out, func(a, b Hash) int { return bytes.Compare(a[:], b[:]) })
	return slices.Compact(out)
}

// The kinds of objects, as packs number them.
const (
	kindCommit = 1
	kindTree   = 2
	kindBlob   = 3
	kindTag    = 4
	ofsDelta   = 6
	refDelta   = 7
)

// kinds are the names of kinds of objects, as loose objects spell them.
var kinds = map[string]int{"commit": kindCommit, "tree": kindTree, "blob": kindBlob, "tag": kindTag}

// readObject returns the kind and content of an object, which must not be changed.
func (r *Repository) readObject(h Hash) (int, []byte, error) {
	for _, p := range r.packs {
		if at, ok := p.findOffset(h); ok {
			return r.readPacked(p, at)
		}
	}
	return r.readLoose(h)
}

// readLoose reads an object from a file of its own.
func (r *Repository) readLoose(h Hash) (int, []byte, error) {
	name := h.String()
	f, err := r.fs.Open(path.Join("objects", name[:2], name[2:]))
	if errors.Is(err, fs.ErrNotExist) {
		return 0, nil, ErrNotFound
	}
	if err != nil {
		return 0, nil, err
	}
	defer func() { _ = f.Close() }() // it was only read from
	b, err := r.inflateStream(f, r.limits.Object+32)
	if err != nil {
		return 0, nil, err
	}
	head, body, ok := bytes.Cut(b, []byte{0})
	kind, _, _ := strings.Cut(string(head[:min(len(head), 16)]), " ")
	if !ok || kinds[kind] == 0 {
		return 0, nil, errs.E(errs.Invalid, "the object %s is damaged", name)
	}
	return kinds[kind], body, nil
}
