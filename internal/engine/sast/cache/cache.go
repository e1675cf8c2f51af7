// Package cache keeps on disk what a scan found out, for the next scan of the same
// folder.
//
// A Cache is one file with entries by key. A key is a digest of everything that an
// entry was made of, so an entry is never stale: what has changed has another key.
// What the last scan did not use is not written again, so the file is as large as
// one scan. Each entry has a checksum; what is damaged counts as missing. Files
// are replaced as a whole, so that several processes can share a folder: the last
// one to end wins.
//
// The format, in little-endian numbers:
//
//	magic    8 bytes
//	version  32 bytes: the program and the rules that wrote it
//	count    uint32
//	index    count times: key 32 bytes, offset uint64, length uint32, checksum 16 bytes
//	checksum 16 bytes, of all that is before
//	entries
//
// A checksum is the first half of a SHA-256. It tells damage, not malice: who may
// write below the folder decides what the next scan says, so the folder is its
// owner's alone.
package cache

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"
)

// Limits of what is kept.
const (
	MaxFile   = 512 << 20           // bytes of one cache
	MaxFolder = 2 << 30             // bytes of all caches in a folder
	MaxAge    = 30 * 24 * time.Hour // of a cache that nobody used
	maxCount  = 1 << 21             // entries of one cache
)

const (
	magic      = "MERLONC1"
	headSize   = len(magic) + sha256.Size + 4
	indexSize  = sha256.Size + 8 + 4 + sumSize
	sumSize    = 16
	extension  = ".cache"
	unfinished = ".cache-*.tmp"
)

// A Key names an entry: a digest of all that it was made of.
type Key [sha256.Size]byte

// NewKey returns the key of the parts. Where one part ends and the next one begins
// makes a difference.
func NewKey(parts ...[]byte) Key {
	h := sha256.New()
	var n [8]byte
	for _, p := range parts {
		binary.LittleEndian.PutUint64(n[:], uint64(len(p)))
		_, _ = h.Write(n[:]) // a hash cannot fail
		_, _ = h.Write(p)
	}
	return Key(h.Sum(nil))
}

// A Cache is what a scan may use of the one before, and leaves for the next one. It
// is safe for concurrent use. The nil Cache is empty and keeps nothing.
type Cache struct {
	path    string
	version Key
	old     map[Key]entry

	mu      sync.Mutex
	kept    map[Key][]byte
	size    int64
	changed bool // there is something to write
}

// entry is a part of the file that was read.
type entry struct {
	body []byte
	sum  [sumSize]byte
}

// Open reads the cache with the name in the folder. The version says which program
// and rules make the entries; what another version wrote is not used, and neither is
// what cannot be read: the cache is then empty.
func Open(folder, name string, version Key) *Cache {
	id := NewKey([]byte(name))
	c := &Cache{path: filepath.Join(folder, hex.EncodeToString(id[:16])+extension), version: version,
		kept: map[Key][]byte{}}
	text, err := readAtMost(c.path, MaxFile)
	if err == nil {
		c.old, err = parseCache(text, version)
	}
	c.changed = err != nil
	return c
}

// readAtMost reads a file that is not larger than the limit. What is larger was not written by
// this build, or was damaged: it is not worth the memory. Pipes and devices are refused, which
// would block.
func readAtMost(path string, limit int64) ([]byte, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() || info.Size() > limit {
		return nil, errDamaged
	}
	return os.ReadFile(path)
}

var errDamaged = errors.New("the cache is damaged, or another program's")

// parseCache finds the entries of a cache. Their bodies are parts of the text. The checksum of the
// index is verified here, that of an entry when it is read.
func parseCache(text []byte, version Key) (map[Key]entry, error) {
	if len(text) < headSize || string(text[:len(magic)]) != magic ||
		Key(text[len(magic):len(magic)+sha256.Size]) != version {
		return nil, errDamaged
	}
	count := int(binary.LittleEndian.Uint32(text[headSize-4:]))
	if count > maxCount || len(text) < headSize+count*indexSize+sumSize {
		return nil, errDamaged
	}
	head := text[:headSize+count*indexSize]
	if checksum(head) != [sumSize]byte(text[len(head):len(head)+sumSize]) {
		return nil, errDamaged
	}
	bodies := text[len(head)+sumSize:]
	out := make(map[Key]entry, count)
	for at := headSize; at < len(head); at += indexSize {
		row := head[at : at+indexSize]
		offset, length := binary.LittleEndian.Uint64(row[sha256.Size:]),
			uint64(binary.LittleEndian.Uint32(row[sha256.Size+8:]))
		if offset > uint64(len(bodies)) || length > uint64(len(bodies))-offset {
			return nil, errDamaged
		}
		out[Key(row[:sha256.Size])] = entry{bodies[offset : offset+length : offset+length],
			[sumSize]byte(row[sha256.Size+12:])}
	}
	return out, nil
}

// checksum returns the first half of the SHA-256 of the bytes.
func checksum(b []byte) [sumSize]byte {
	s := sha256.Sum256(b)
	return [sumSize]byte(s[:sumSize])
}

// Get returns the entry with the key, nil when there is none. It is kept for the
// next scan. The caller does not change it.
func (c *Cache) Get(k Key) []byte {
	if c == nil {
		return nil
	}
	e, ok := c.old[k]
	if !ok || checksum(e.body) != e.sum {
		return nil
	}
	c.keepEntry(k, e.body)
	return e.body
}

// Put adds an entry for the next scan, as long as there is room. The entry was not there before,
// so the file has to be written again. A nil cache keeps nothing.
func (c *Cache) Put(k Key, body []byte) {
	if c == nil {
		return
	}
	c.keepEntry(k, body)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.changed = true
}

// Drop forgets an entry that turned out not to be usable. The next scan makes it again. The file
// on disk is replaced when the cache is saved.
func (c *Cache) Drop(k Key) {
	if c == nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.size -= int64(len(c.kept[k]))
	delete(c.kept, k)
	c.changed = true
}

// keepEntry keeps an entry for the next scan, as long as the cache does not grow beyond its limit.
// Which entries come first depends on the order of the work, so a cache that is full keeps some of
// them and not the best.
func (c *Cache) keepEntry(k Key, body []byte) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if _, ok := c.kept[k]; ok || len(c.kept) >= maxCount {
		return
	}
	if more := int64(len(body) + indexSize); c.size+more <= MaxFile-int64(headSize+sumSize) {
		c.kept[k] = body
		c.size += more
	}
}

// Save writes what was used and what is new, and removes caches of the folder that
// are old or too much. It is called once, at the end of a whole scan. An error
// leaves the file as it was.
func (c *Cache) Save() error {
	if c == nil {
		return nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	folder := filepath.Dir(c.path)
	if !c.changed && len(c.kept) == len(c.old) {
		now := time.Now()
		if err := os.Chtimes(c.path, now, now); err != nil {
			return fmt.Errorf("keep the cache: %w", err)
		}
		return nil
	}
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return fmt.Errorf("make the folder of caches: %w", err)
	}
	if err := c.writeFile(folder); err != nil {
		return fmt.Errorf("write the cache: %w", err)
	}
	if err := cleanFolder(folder, time.Now()); err != nil {
		return fmt.Errorf("remove old caches: %w", err)
	}
	return nil
}

// writeFile replaces the file. It is renamed into place, so that other processes see the old or
// the new one.
func (c *Cache) writeFile(folder string) (err error) {
	f, err := os.CreateTemp(folder, unfinished)
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			_ = os.Remove(f.Name()) // what matters is why it was not written
		}
	}()
	keys := make([]Key, 0, len(c.kept))
	for k := range c.kept {
		keys = append(keys, k)
	}
	slices.SortFunc(keys, func(a, b Key) int { return slices.Compare(a[:], b[:]) })
	head := make([]byte, 0, headSize+len(keys)*indexSize+sumSize)
	head = append(append(head, magic...), c.version[:]...)
	head = binary.LittleEndian.AppendUint32(head, uint32(len(keys)))
	body := make([]byte, 0, c.size)
	for _, k := range keys {
		b := c.kept[k]
		s := checksum(b)
		head = append(head, k[:]...)
		head = binary.LittleEndian.AppendUint64(head, uint64(len(body)))
		head = binary.LittleEndian.AppendUint32(head, uint32(len(b)))
		head = append(head, s[:]...)
		body = append(body, b...)
	}
	s := checksum(head)
	_, err = f.Write(append(head, s[:]...))
	if err == nil {
		_, err = f.Write(body)
	}
	if e := f.Close(); err == nil {
		err = e
	}
	if err != nil {
		return err
	}
	return os.Rename(f.Name(), c.path)
}

// cleanFolder removes caches that nobody has used for long, what was left unfinished, and
// of the others the oldest ones that are too much together.
func cleanFolder(folder string, now time.Time) error {
	files, err := listCaches(folder)
	if err != nil {
		return err
	}
	slices.SortFunc(files, func(a, b cacheFile) int { return b.used.Compare(a.used) })
	total := int64(0)
	for _, f := range files {
		total += f.size
		if now.Sub(f.used) <= MaxAge && total <= MaxFolder {
			continue
		}
		if err := os.Remove(f.path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}

// A cacheFile is a file of a folder of caches.
type cacheFile struct {
	path string
	size int64
	used time.Time
}

// listCaches returns the caches of a folder and what is left of unfinished ones. Other
// files are not ours and stay.
func listCaches(folder string) ([]cacheFile, error) {
	list, err := os.ReadDir(folder)
	if err != nil {
		return nil, err
	}
	var files []cacheFile
	for _, d := range list {
		whole := filepath.Ext(d.Name()) == extension
		if temp, _ := filepath.Match(unfinished, d.Name()); !temp && !whole {
			continue
		}
		info, err := d.Info()
		if errors.Is(err, fs.ErrNotExist) {
			continue // another process removed it
		}
		if err != nil {
			return nil, err
		}
		f := cacheFile{filepath.Join(folder, d.Name()), info.Size(), info.ModTime()}
		if !whole {
			f.used = f.used.Add(time.Hour - MaxAge) // nobody writes for an hour
		}
		files = append(files, f)
	}
	return files, nil
}
