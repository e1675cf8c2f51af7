// Package seal encrypts the secrets that the service keeps: signing keys,
// credentials of other services, stored answers that hold a token. Everything is
// AES-256-GCM under keys derived from one master key, which lives outside of the
// database.
package seal

import (
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
	"strings"
)

// keySize is the size of the master key in bytes.
const keySize = 32

// version is the first byte of a sealed text; a change of algorithm raises it.
const version = 1

// A Box seals and opens. It is safe for concurrent use.
type Box struct {
	master []byte
	aead   cipher.AEAD
}

// New returns a Box over a master key of 32 bytes.
func New(master []byte) (*Box, error) {
	if len(master) != keySize {
		return nil, fmt.Errorf("the master key has %d bytes, want %d", len(master), keySize)
	}
	b := &Box{master: master}
	block, err := aes.NewCipher(b.Derive("seal"))
	if err != nil {
		return nil, err
	}
	if b.aead, err = cipher.NewGCMWithRandomNonce(block); err != nil {
		return nil, err
	}
	return b, nil
}

// Load returns a Box over the key in the file: 32 bytes as base64. A missing file
// is made with a new key, mode 0600.
func Load(path string) (*Box, error) {
	box, err := Read(path)
	if errors.Is(err, fs.ErrNotExist) {
		return create(path)
	}
	return box, err
}

// Read returns a Box over the key in the file, which must be there.
func Read(path string) (*Box, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	master, err := base64.StdEncoding.DecodeString(strings.TrimSpace(string(text)))
	if err != nil {
		return nil, fmt.Errorf("%s: the master key is not base64", path)
	}
	return New(master)
}

// create makes the key file; when another process was faster, its key counts.
func create(path string) (*Box, error) {
	master := make([]byte, keySize)
	if _, err := rand.Read(master); err != nil {
		return nil, err
	}
	// The file appears whole under its name or not at all.
	tmp, err := os.CreateTemp(dirOf(path), ".key-*") // mode 0600
	if err != nil {
		return nil, err
	}
	defer func() { _ = os.Remove(tmp.Name()) }() // only a link to it stays
	_, err = tmp.WriteString(base64.StdEncoding.EncodeToString(master) + "\n")
	if err = errors.Join(err, tmp.Sync(), tmp.Close()); err != nil {
		return nil, err
	}
	if err := os.Link(tmp.Name(), path); errors.Is(err, fs.ErrExist) {
		return Load(path)
	} else if err != nil {
		return nil, err
	}
	return New(master)
}

func dirOf(path string) string {
	if i := strings.LastIndexByte(path, '/'); i >= 0 {
		return path[:i+1]
	}
	return "."
}

// Derive returns a key of 32 bytes for another use, such as signing upload
// addresses.
func (b *Box) Derive(use string) []byte {
	key, err := hkdf.Key(sha256.New, b.master, nil, "merlon/"+use, keySize)
	if err != nil {
		panic("seal: " + err.Error()) // only for a length beyond HKDF's
	}
	return key
}

// Fingerprint identifies the master key without revealing it, so that two
// processes on one database notice that theirs differ.
func (b *Box) Fingerprint() string { return hex.EncodeToString(b.Derive("fingerprint")[:8]) }

// Seal encrypts the text. The label binds it to its place: a sealed text moved to
// another row does not open there.
func (b *Box) Seal(plain []byte, label string) []byte {
	return b.aead.Seal([]byte{version}, nil, plain, []byte(label))
}

// Open decrypts what Seal returned for the same label.
func (b *Box) Open(sealed []byte, label string) ([]byte, error) {
	if len(sealed) == 0 || sealed[0] != version {
		return nil, errors.New("not a sealed text of a known version")
	}
	plain, err := b.aead.Open(nil, nil, sealed[1:], []byte(label))
	if err != nil {
		return nil, errors.New("the sealed text does not open: another master key, another place, or damage")
	}
	return plain, nil
}
