// Package seal encrypts the secrets that the service keeps: signing keys,
// credentials of other services, stored answers that hold a token. Everything is
// AES-256-GCM under keys derived from a master key, which lives outside of the
// database. The file of the master key may hold several: the first one seals, all of
// them open.
package seal

import (
	"bytes"
	"crypto/aes"
	"crypto/cipher"
	"crypto/hkdf"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
)

// keySize is the size of a master key in bytes.
const keySize = 32

// The first byte of a sealed text says how it goes on: with the ciphertext, or with the
// name of the key in front of it, when there is more than one key.
const (
	plainVersion = 1
	namedVersion = 2
	nameSize     = 4
)

// maxKeys bounds the keys of a file.
const maxKeys = 16

// A Box seals and opens. It is safe for concurrent use. One that was read from a file
// notices when the file changes.
type Box struct {
	path string // empty: there is no file

	mu    sync.Mutex
	keys  []key // the first seals
	stamp fs.FileInfo
	root  []byte // what Derive begins with; nil: the only key
}

// A key is a master key and what is made of it.
type key struct {
	master []byte
	print  []byte // its fingerprint
	aead   cipher.AEAD
}

// New returns a Box over a master key of 32 bytes.
func New(master []byte) (*Box, error) {
	k, err := newKey(master)
	if err != nil {
		return nil, err
	}
	return &Box{keys: []key{k}}, nil
}

// newKey derives the keys for encryption and for the fingerprint from a master key.
func newKey(master []byte) (key, error) {
	if len(master) != keySize {
		return key{}, fmt.Errorf("the master key has %d bytes, want %d", len(master), keySize)
	}
	k := key{master: master, print: deriveKey(master, "fingerprint")[:8]}
	block, err := aes.NewCipher(deriveKey(master, "seal"))
	if err != nil {
		return key{}, err
	}
	k.aead, err = cipher.NewGCMWithRandomNonce(block)
	return k, err
}

// Load returns a Box over the keys in the file: each 32 bytes as base64, one a line. A
// missing file is made with a new key, mode 0600.
func Load(path string) (*Box, error) {
	box, err := Read(path)
	if errors.Is(err, fs.ErrNotExist) {
		return createFile(path)
	}
	return box, err
}

// Read returns a Box over the keys in the file, which must be there.
func Read(path string) (*Box, error) {
	b := &Box{path: path}
	if err := b.readFile(); err != nil {
		return nil, err
	}
	return b, nil
}

// readFile reads the file.
func (b *Box) readFile() error {
	stamp, err := os.Stat(b.path)
	if err != nil {
		return err
	}
	text, err := os.ReadFile(b.path)
	if err != nil {
		return err
	}
	var keys []key
	for line := range strings.Lines(string(text)) {
		if line = strings.TrimSpace(line); line == "" {
			continue
		}
		master, err := base64.StdEncoding.DecodeString(line)
		if err != nil {
			return fmt.Errorf("%s: the master key is not base64", b.path)
		}
		k, err := newKey(master)
		if err != nil {
			return fmt.Errorf("%s: %w", b.path, err)
		}
		keys = append(keys, k)
	}
	if len(keys) == 0 || len(keys) > maxKeys {
		return fmt.Errorf("%s has %d master keys, want 1 to %d", b.path, len(keys), maxKeys)
	}
	if b.root == nil {
		b.root = keys[0].master
	}
	b.keys, b.stamp = keys, stamp
	return nil
}

// currentKeys returns the keys, read again when the file has changed. A file that cannot be
// read leaves the keys as they are.
func (b *Box) currentKeys() []key {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.path == "" {
		return b.keys
	}
	now, err := os.Stat(b.path)
	if err == nil && (!now.ModTime().Equal(b.stamp.ModTime()) || !os.SameFile(now, b.stamp) ||
		now.Size() != b.stamp.Size()) {
		_ = b.readFile() // as above
	}
	return b.keys
}

// createFile makes the key file; when another process was faster, its key counts.
func createFile(path string) (*Box, error) {
	master, err := randomKey()
	if err != nil {
		return nil, err
	}
	tmp, err := writeKeys(path, [][]byte{master})
	if err != nil {
		return nil, err
	}
	defer func() { _ = os.Remove(tmp) }() // only a link to it stays
	if err := os.Link(tmp, path); err != nil && !errors.Is(err, fs.ErrExist) {
		return nil, err
	}
	return Read(path)
}

// randomKey returns a new master key.
func randomKey() ([]byte, error) {
	master := make([]byte, keySize)
	_, err := rand.Read(master)
	return master, err
}

// writeKeys writes keys to a new file beside the path, so that the file appears whole
// under its name or not at all.
func writeKeys(path string, masters [][]byte) (string, error) {
	tmp, err := os.CreateTemp(filepath.Dir(path), ".key-*") // mode 0600
	if err != nil {
		return "", err
	}
	for _, m := range masters {
		if err == nil {
			_, err = tmp.WriteString(base64.StdEncoding.EncodeToString(m) + "\n")
		}
	}
	if err = errors.Join(err, tmp.Sync(), tmp.Close()); err != nil {
		return "", errors.Join(err, os.Remove(tmp.Name()))
	}
	return tmp.Name(), nil
}

// replaceKeys replaces the keys of the file by what f makes of them.
func (b *Box) replaceKeys(f func(masters [][]byte) ([][]byte, error)) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.path == "" {
		return errors.New("the master key comes from no file")
	}
	var masters [][]byte
	for _, k := range b.keys {
		masters = append(masters, k.master)
	}
	masters, err := f(masters)
	if err != nil {
		return err
	}
	tmp, err := writeKeys(b.path, masters)
	if err != nil {
		return err
	}
	if err := os.Rename(tmp, b.path); err != nil {
		return errors.Join(err, os.Remove(tmp))
	}
	return b.readFile()
}

// Add appends a new key to the file: it opens, and does not seal yet.
func (b *Box) Add() error {
	return b.replaceKeys(func(masters [][]byte) ([][]byte, error) {
		if len(masters) == maxKeys {
			return nil, fmt.Errorf("there are %d master keys already: drop old ones first", len(masters))
		}
		master, err := randomKey()
		return append(masters, master), err
	})
}

// Promote has the last key of the file seal from now on.
func (b *Box) Promote() error {
	return b.replaceKeys(func(masters [][]byte) ([][]byte, error) {
		last := len(masters) - 1
		return slices.Concat(masters[last:], masters[:last]), nil
	})
}

// Drop removes every key but the one that seals.
func (b *Box) Drop() error {
	return b.replaceKeys(func(masters [][]byte) ([][]byte, error) { return masters[:1], nil })
}

// deriveKey derives a key for one use (HKDF, RFC 5869), so that no key is used for two purposes.
func deriveKey(master []byte, use string) []byte {
	key, err := hkdf.Key(sha256.New, master, nil, "merlon/"+use, keySize)
	if err != nil {
		panic("seal: " + err.Error()) // only for a length beyond HKDF's
	}
	return key
}

// Derive returns a key of 32 bytes for another use, such as signing upload addresses. It
// stays when the master key is rotated: see Root.
func (b *Box) Derive(use string) []byte {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.root != nil {
		return deriveKey(b.root, use)
	}
	return deriveKey(b.keys[0].master, use)
}

// Root returns what derived keys are made of: the first master key of the deployment. A
// rotation keeps it, sealed, beside the data.
func (b *Box) Root() []byte {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.root != nil {
		return bytes.Clone(b.root)
	}
	return bytes.Clone(b.keys[0].master)
}

// SetRoot has derived keys be made of what Root returned once.
func (b *Box) SetRoot(root []byte) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.root = bytes.Clone(root)
}

// Fingerprint identifies the key that seals without revealing it.
func (b *Box) Fingerprint() string { return b.Fingerprints()[0] }

// Fingerprints identifies the keys, so that two processes on one database notice that
// theirs differ.
func (b *Box) Fingerprints() []string {
	var out []string
	for _, k := range b.currentKeys() {
		out = append(out, hex.EncodeToString(k.print))
	}
	return out
}

// Prefix is what texts begin with that the key seals while there are several keys.
func (b *Box) Prefix() []byte { return keyPrefix(b.currentKeys()[0]) }

// keyPrefix returns the prefix of a sealed text: the version and the name of its key, by which
// the key is found after a rotation.
func keyPrefix(k key) []byte { return append([]byte{namedVersion}, k.print[:nameSize]...) }

// Seal encrypts the text. The label binds it to its place: a sealed text moved to
// another row does not open there.
func (b *Box) Seal(plain []byte, label string) []byte {
	keys := b.currentKeys()
	head := []byte{plainVersion}
	if len(keys) > 1 {
		head = keyPrefix(keys[0])
	}
	return keys[0].aead.Seal(head, nil, plain, []byte(label))
}

// Open decrypts what Seal returned for the same label, under any of the keys.
func (b *Box) Open(sealed []byte, label string) ([]byte, error) {
	if len(sealed) == 0 || sealed[0] != plainVersion && sealed[0] != namedVersion {
		return nil, errors.New("not a sealed text of a known version")
	}
	for _, k := range b.currentKeys() {
		text := sealed[1:]
		if sealed[0] == namedVersion {
			var found bool
			if text, found = bytes.CutPrefix(sealed, keyPrefix(k)); !found {
				continue
			}
		}
		if plain, err := k.aead.Open(nil, nil, text, []byte(label)); err == nil {
			return plain, nil
		}
	}
	return nil, errors.New("the sealed text cannot be decrypted: another master key, another location, or damage")
}
