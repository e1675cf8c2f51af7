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
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"gocloud.dev/blob"
	"gocloud.dev/blob/fileblob"
	_ "gocloud.dev/blob/s3blob" // the scheme "s3"
	"gocloud.dev/gcerrors"

	"merlon/internal/errs"
)

// identityKey is the object that tells one store from another.
const identityKey = "store-identity"

// A Store holds objects by key. It is safe for concurrent use.
type Store struct {
	bucket *blob.Bucket
	dir    string // of a store in files; empty for others
}

// An Object is one that List found.
type Object struct {
	Key      string
	Size     int64
	Modified time.Time
}

// Open opens the store at the URL: "file:///absolute/folder", which is made when
// it does not exist, or "s3://bucket?region=R", with the parameters of
// https://gocloud.dev/howto/blob/#s3 (endpoint, use_path_style) and credentials
// as the AWS tools take them from the environment. A bucket should end incomplete
// multipart uploads by a lifecycle rule: they are never seen, but they are kept.
func Open(ctx context.Context, rawURL string) (*Store, error) {
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
		// Temporary files lie beside the others, for a rename does not cross file
		// systems. One that a crash leaves is an object that nobody refers to.
		bucket, err := fileblob.OpenBucket(dir, &fileblob.Options{
			CreateDir: true, DirFileMode: 0o700, NoTempDir: true, Metadata: fileblob.MetadataDontWrite,
		})
		if err != nil {
			return nil, fmt.Errorf("open the blob storage: %w", err)
		}
		return &Store{bucket: bucket, dir: dir}, nil
	case "s3":
		bucket, err := blob.OpenBucket(ctx, rawURL)
		if err != nil {
			return nil, fmt.Errorf("open the blob storage: %w", err)
		}
		return &Store{bucket: bucket}, nil
	}
	return nil, errs.E(errs.Invalid, "blob storage is file:///absolute/folder or s3://bucket, not %q", u.Scheme)
}

// Close lets go of the store.
func (s *Store) Close() error { return s.bucket.Close() }

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

func (s *Store) put(ctx context.Context, key string, r io.Reader, max int64, onlyNew bool) (int64, string, error) {
	// The end of this context is what undoes an upload.
	writing, cancel := context.WithCancel(ctx)
	defer cancel()
	w, err := s.bucket.NewWriter(writing, key, &blob.WriterOptions{
		ContentType: "application/octet-stream",
		IfNotExist:  onlyNew,
		// Of S3: at most 10,000 parts of this size, two at a time in memory.
		BufferSize: 8 << 20, MaxConcurrency: 2,
	})
	if err != nil {
		return 0, "", s.failed("write", key, err)
	}
	in := &source{r: r, sum: sha256.New()}
	size, err := io.Copy(w, io.LimitReader(in, max+1))
	if err == nil && size > max {
		err = errs.E(errs.TooLarge, "more than %d bytes", max)
	}
	if err != nil {
		cancel()
		_ = w.Close() // says that the context ended
		if in.err != nil {
			return 0, "", in.err // of the one who sends, not of the storage
		}
		return 0, "", s.failed("write", key, err)
	}
	if err := w.Close(); err != nil {
		return 0, "", s.failed("write", key, err)
	}
	if err := s.sync(key); err != nil {
		return 0, "", s.failed("write", key, err)
	}
	return size, hex.EncodeToString(in.sum.Sum(nil)), nil
}

// A source reads, sums, and remembers whose fault an error was.
type source struct {
	r   io.Reader
	sum hash.Hash
	err error
}

func (s *source) Read(p []byte) (int, error) {
	n, err := s.r.Read(p)
	_, _ = s.sum.Write(p[:n]) // never fails
	if err != nil && !errors.Is(err, io.EOF) {
		s.err = err
	}
	return n, err
}

// sync brings a file and the folders above it to the disk.
func (s *Store) sync(key string) error {
	if s.dir == "" {
		return nil
	}
	for name := key; ; name = filepath.Dir(name) {
		f, err := os.Open(filepath.Join(s.dir, name))
		if err != nil {
			return err
		}
		if err := errors.Join(f.Sync(), f.Close()); err != nil {
			return err
		}
		if name == "." {
			return nil
		}
	}
}

// Get opens an object for reading. One that does not exist is errs.NotFound.
func (s *Store) Get(ctx context.Context, key string) (io.ReadCloser, error) {
	if err := checkKey(key); err != nil {
		return nil, err
	}
	r, err := s.bucket.NewReader(ctx, key, nil)
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
	if err := s.bucket.Delete(ctx, key); err != nil && gcerrors.Code(err) != gcerrors.NotFound {
		return s.failed("delete", key, err)
	}
	return nil
}

// List walks over the objects whose keys begin with the prefix, in order. Left
// over parts of uploads that a crash cut are among them, under keys that nobody
// refers to.
func (s *Store) List(ctx context.Context, prefix string) iter.Seq2[Object, error] {
	return func(yield func(Object, error) bool) {
		it := s.bucket.List(&blob.ListOptions{Prefix: prefix})
		for {
			o, err := it.Next(ctx)
			if errors.Is(err, io.EOF) {
				return
			}
			if err != nil {
				yield(Object{}, s.failed("list", prefix, err))
				return
			}
			if o.IsDir || o.Key == identityKey {
				continue
			}
			if !yield(Object{Key: o.Key, Size: o.Size, Modified: o.ModTime}, nil) {
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
	if err != nil && gcerrors.Code(err) != gcerrors.FailedPrecondition { // then another was faster
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
	if gcerrors.Code(err) == gcerrors.NotFound {
		return errs.Wrap(errs.NotFound, err, "no such object in the blob storage")
	}
	return fmt.Errorf("%s %s in the blob storage: %w", verb, key, err)
}
