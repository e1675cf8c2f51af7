// Package blob keeps what is too large for the database: uploaded archives and
// recorded streams. A store is a folder, or a bucket that speaks S3. What is put
// appears whole or not at all, and is there to stay when Put returns.
package blob

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"iter"
	"net/url"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"merlon/internal/errs"
)

// identityKey is the object that tells one store from another.
const identityKey = "store-identity"

// A Store holds objects by key. It is safe for concurrent use.
type Store struct{ bucket bucket }

// A bucket is one kind of storage. Keys are checked before they get to it.
type bucket interface {
	// write stores what r has until its end. After an error of r, nothing is stored. With
	// onlyNew, an object that is there is errExists.
	write(ctx context.Context, key string, r io.Reader, onlyNew bool) error
	// open opens an object; without one it is errMissing.
	open(ctx context.Context, key string) (io.ReadCloser, error)
	// remove removes an object; without one it is errMissing or nil.
	remove(ctx context.Context, key string) error
	// list yields the objects whose keys begin with the prefix, by key.
	list(ctx context.Context, prefix string) iter.Seq2[Object, error]
}

var (
	errMissing = errors.New("no such object")
	errExists  = errors.New("the object exists")
)

// An Object is one that List found.
type Object struct {
	Key      string
	Size     int64
	Modified time.Time
}

// Open opens the store at the URL: "file:///absolute/folder", which is made when
// it does not exist, or "s3://bucket?region=R", with the parameters of parseS3URL
// and credentials as the AWS tools take them from the environment. A bucket should
// end incomplete multipart uploads by a lifecycle rule: they are never seen, but
// they are kept.
func Open(_ context.Context, rawURL string) (*Store, error) {
	u, err := url.Parse(rawURL)
	if err != nil {
		return nil, errs.Wrap(errs.Invalid, err, "the address of the blob storage is not a URL")
	}
	switch u.Scheme {
	case "file":
		dir := filepath.FromSlash(u.Path)
		if u.Host != "" || !filepath.IsAbs(dir) {
			return nil, errs.E(errs.Invalid, "the address of the blob storage must be file:///absolute/folder")
		}
		folder, err := openFolder(dir)
		if err != nil {
			return nil, fmt.Errorf("open the blob storage: %w", err)
		}
		return &Store{bucket: folder}, nil
	case "s3":
		bucket, err := openS3(u)
		if err != nil {
			return nil, fmt.Errorf("open the blob storage: %w", err)
		}
		return &Store{bucket: bucket}, nil
	}
	return nil, errs.E(errs.Invalid, "blob storage is file:///absolute/folder or s3://bucket, not %q", u.Scheme)
}

// Close lets go of the store.
func (s *Store) Close() error { return nil }

// keyPattern is what keys look like: parts of letters, digits, '-', '_' and '.',
// none of which begins with a dot.
var keyPattern = regexp.MustCompile(`^[A-Za-z0-9_-][A-Za-z0-9_.-]*(/[A-Za-z0-9_-][A-Za-z0-9_.-]*)*$`)

func checkKey(key string) error {
	if len(key) > 512 || !keyPattern.MatchString(key) {
		return fmt.Errorf("blob: %q is not a key", key)
	}
	return nil
}

// Put stores what r holds, in constant memory, and returns its size in bytes and
// its SHA-256 in hexadecimal. More than max bytes are an errs.TooLarge error.
// After any error, and when the process dies on the way, what was there before is
// still there.
func (s *Store) Put(ctx context.Context, key string, r io.Reader, max int64) (size int64, sum string, err error) {
	if err := checkKey(key); err != nil {
		return 0, "", err
	}
	return s.put(ctx, key, r, max, false)
}

// put is Put; with onlyNew an object that is there is errExists.
func (s *Store) put(ctx context.Context, key string, r io.Reader, max int64, onlyNew bool) (int64, string, error) {
	in := &source{r: r, left: max, sum: sha256.New()}
	err := s.bucket.write(ctx, key, in, onlyNew)
	switch {
	case in.err != nil:
		return 0, "", in.err // of the one who sends, not of the storage
	case err != nil:
		return 0, "", s.failed("write", key, err)
	}
	return in.size, hex.EncodeToString(in.sum.Sum(nil)), nil
}

// A source reads, sums, limits, and remembers whose fault an error was.
type source struct {
	r    io.Reader
	left int64 // bytes that may still come
	size int64
	sum  hash.Hash
	err  error
}

// errSource ends a transfer whose source failed. It is not the error of the source, which
// may be one, such as io.ErrUnexpectedEOF of a connection that was cut, that a storage
// takes for the end of the object.
var errSource = errors.New("the source of the object failed")

func (s *source) Read(p []byte) (int, error) {
	if s.err != nil {
		return 0, errSource
	}
	n, err := s.r.Read(p)
	if s.left -= int64(n); s.left < 0 {
		s.err = errs.E(errs.TooLarge, "more than %d bytes", s.size+int64(n)+s.left)
		return 0, errSource
	}
	s.size += int64(n)
	_, _ = s.sum.Write(p[:n]) // never fails
	if err != nil && !errors.Is(err, io.EOF) {
		s.err, err = err, errSource
	}
	return n, err
}

// Get opens an object for reading. One that does not exist is errs.NotFound.
func (s *Store) Get(ctx context.Context, key string) (io.ReadCloser, error) {
	if err := checkKey(key); err != nil {
		return nil, err
	}
	r, err := s.bucket.open(ctx, key)
	if err != nil {
		return nil, s.failed("read", key, err)
	}
	return r, nil
}

// Download copies an object to w.
func (s *Store) Download(ctx context.Context, key string, w io.Writer) error {
	r, err := s.Get(ctx, key)
	if err != nil {
		return err
	}
	if _, err := io.Copy(w, r); err != nil {
		_ = r.Close() // the first error tells more
		return s.failed("read", key, err)
	}
	return r.Close()
}

// Delete removes an object. That there is none is no error.
func (s *Store) Delete(ctx context.Context, key string) error {
	if err := checkKey(key); err != nil {
		return err
	}
	if err := s.bucket.remove(ctx, key); err != nil && !errors.Is(err, errMissing) {
		return s.failed("delete", key, err)
	}
	return nil
}

// List walks over the objects whose keys begin with the prefix, in order. Left
// over parts of uploads that a crash cut are among them, under keys that nobody
// refers to.
func (s *Store) List(ctx context.Context, prefix string) iter.Seq2[Object, error] {
	return func(yield func(Object, error) bool) {
		for o, err := range s.bucket.list(ctx, prefix) {
			if err != nil {
				yield(Object{}, s.failed("list", prefix, err))
				return
			}
			if o.Key != identityKey && !yield(o, nil) {
				return
			}
		}
	}
}

// Init gives the store an identity when it has none, and returns it. The server
// does so when it starts.
func (s *Store) Init(ctx context.Context) (string, error) {
	id, err := s.Identity(ctx)
	if !errs.Is(err, errs.NotFound) {
		return id, err
	}
	_, _, err = s.put(ctx, identityKey, strings.NewReader(rand.Text()), 64, true)
	if err != nil && !errors.Is(err, errExists) { // then another was faster
		return "", err
	}
	return s.Identity(ctx)
}

// Identity returns the identity of the store, by which a worker sees that it looks
// at the one of its server. A store without one is errs.NotFound.
func (s *Store) Identity(ctx context.Context) (string, error) {
	r, err := s.Get(ctx, identityKey)
	if err != nil {
		return "", err
	}
	id, err := io.ReadAll(io.LimitReader(r, 64))
	if err = errors.Join(err, r.Close()); err != nil {
		return "", s.failed("read", identityKey, err)
	}
	return string(id), nil
}

// failed gives an error its kind.
func (s *Store) failed(verb, key string, err error) error {
	if errs.KindOf(err) != errs.Internal {
		return err
	}
	if errors.Is(err, errMissing) {
		return errs.Wrap(errs.NotFound, err, "no such object in the blob storage")
	}
	return fmt.Errorf("%s %s in the blob storage: %w", verb, key, err)
}
