package mirror

import (
	"bytes"
	"crypto/ed25519"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"golang.org/x/crypto/blake2b"

	"merlon/internal/errs"
)

// This file checks signatures as minisign makes them
// (https://jedisct1.github.io/minisign/#signature-format): Ed25519 over the BLAKE2b
// digest of a file, and over the first signature with a trusted comment.

// A Key is a public key of minisign.
type Key struct {
	id  [8]byte
	key ed25519.PublicKey
}

// maxLegacy bounds files whose signature is over the file itself, which must be
// held in memory for that.
const maxLegacy = 64 << 20

// ParseKey reads a public key: the line of base64 alone, or the file that minisign
// writes, with its comment.
func ParseKey(text string) (*Key, error) {
	var last string
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "untrusted comment:") {
			last = line
		}
	}
	b, err := base64.StdEncoding.DecodeString(last)
	if err != nil || len(b) != 2+8+ed25519.PublicKeySize || string(b[:2]) != "Ed" {
		return nil, errs.E(errs.Invalid, "the key of the mirror is no minisign public key")
	}
	return &Key{id: [8]byte(b[2:10]), key: ed25519.PublicKey(b[10:])}, nil
}

// signature is a signature file of minisign.
type signature struct {
	algorithm string // "ED" over the digest, "Ed" over the file
	id        [8]byte
	sig       []byte
	comment   string
	global    []byte
}

// parseSignature reads a signature file: an untrusted comment, the signature, a trusted
// comment, and the signature of both.
func parseSignature(text string) (*signature, error) {
	lines := strings.Split(strings.ReplaceAll(text, "\r\n", "\n"), "\n")
	if len(lines) < 4 || !strings.HasPrefix(lines[0], "untrusted comment:") ||
		!strings.HasPrefix(lines[2], "trusted comment: ") {
		return nil, errors.New("is not one of minisign's")
	}
	b, err := base64.StdEncoding.DecodeString(lines[1])
	if err != nil || len(b) != 2+8+ed25519.SignatureSize {
		return nil, errors.New("is not one of minisign's")
	}
	global, err := base64.StdEncoding.DecodeString(lines[3])
	if err != nil || len(global) != ed25519.SignatureSize {
		return nil, errors.New("is not one of minisign's")
	}
	return &signature{
		algorithm: string(b[:2]), id: [8]byte(b[2:10]), sig: b[10:],
		comment: strings.TrimPrefix(lines[2], "trusted comment: "), global: global,
	}, nil
}

// Verify checks the signature of a file. The error says what is wrong with it.
func (k *Key) Verify(path, text string) error {
	s, err := parseSignature(text)
	if err != nil {
		return fmt.Errorf("its signature %w", err)
	}
	if s.id != k.id {
		return fmt.Errorf("it is signed with the key %X, not with %X", reverseID(s.id), reverseID(k.id))
	}
	message, err := signedContent(path, s.algorithm)
	if err != nil {
		return err
	}
	if !ed25519.Verify(k.key, message, s.sig) {
		return errors.New("its signature is invalid")
	}
	if !ed25519.Verify(k.key, append(bytes.Clone(s.sig), s.comment...), s.global) {
		return errors.New("the comment of its signature is invalid")
	}
	return nil
}

// reverseID is a key's name as minisign prints it.
func reverseID(id [8]byte) []byte {
	out := make([]byte, 8)
	for i, b := range id {
		out[7-i] = b
	}
	return out
}

// signedContent is what a signature of the algorithm is made over.
func signedContent(path, algorithm string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }() // read only
	switch algorithm {
	case "ED":
		h, err := blake2b.New512(nil)
		if err != nil {
			return nil, err
		}
		if _, err := io.Copy(h, f); err != nil {
			return nil, err
		}
		return h.Sum(nil), nil
	case "Ed":
		b, err := io.ReadAll(io.LimitReader(f, maxLegacy+1))
		if err == nil && len(b) > maxLegacy {
			err = fmt.Errorf("it is larger than %d MiB and signed in the old way: sign its digest (minisign -H)",
				maxLegacy>>20)
		}
		return b, err
	}
	return nil, fmt.Errorf("its signature has the unknown algorithm %q", algorithm)
}
