package mirror

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	"merlon/internal/advisory"
	"merlon/internal/errs"
	"merlon/internal/outbound"
)

// This file fetches one file and checks where it comes from.

// errUnchanged says that a file is the one that is known.
var errUnchanged = errors.New("unchanged")

// A get is a file to fetch.
type get struct {
	address *url.URL
	path    string // where it goes
	limit   int64  // bytes
	known   advisory.MirroredFile
	alone   bool // has neither digest nor signature
}

// download fetches a file; errUnchanged when it is the known one, NotFound when it
// is not there. A file that does not match its digest or signature is fetched once
// more, because both may have been replaced between two requests.
func (f *fetch) download(ctx context.Context, g get) (advisory.MirroredFile, error) {
	file, err := f.transfer(ctx, g)
	if err != nil {
		return file, err
	}
	err = f.prove(ctx, g, file.Digest)
	if errs.Is(err, errs.Forbidden) {
		again := g
		again.known = advisory.MirroredFile{}
		if file, err = f.transfer(ctx, again); err == nil {
			err = f.prove(ctx, again, file.Digest)
		}
	}
	if err != nil {
		return file, errors.Join(err, os.Remove(g.path))
	}
	if g.known.Digest != "" && g.known.Digest == file.Digest {
		return file, errUnchanged
	}
	return file, nil
}

// transfer fetches a file into its place.
func (f *fetch) transfer(ctx context.Context, g get) (file advisory.MirroredFile, err error) {
	header := http.Header{}
	if g.known.Tag != "" {
		header.Set("If-None-Match", g.known.Tag)
	} else if g.known.Modified != "" {
		header.Set("If-Modified-Since", g.known.Modified)
	}
	resp, err := f.send(ctx, g.address, header, g.limit)
	if err != nil {
		return file, err
	}
	defer func() { _ = resp.Body.Close() }()
	if resp.StatusCode == http.StatusNotModified && len(header) > 0 {
		return file, errUnchanged
	}
	if err := answered(resp, g.address); err != nil {
		return file, err
	}
	if err := os.MkdirAll(filepath.Dir(g.path), 0o700); err != nil {
		return file, err
	}
	out, err := os.Create(g.path)
	if err != nil {
		return file, err
	}
	h := sha256.New()
	n, err := io.Copy(io.MultiWriter(out, h), resp.Body)
	f.received.Add(n)
	if err = errors.Join(err, out.Close()); err != nil {
		return file, fmt.Errorf("receive %s: %w", public(g.address), err)
	}
	return advisory.MirroredFile{Tag: resp.Header.Get("ETag"), Modified: resp.Header.Get("Last-Modified"),
		Digest: hex.EncodeToString(h.Sum(nil))}, nil
}

func (f *fetch) send(ctx context.Context, u *url.URL, header http.Header, limit int64) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, u.String(), nil)
	if err != nil {
		return nil, errs.E(errs.Invalid, "%s cannot be asked for", public(u))
	}
	req.Header = header
	// Compressed on the way, a file would not be the one that was signed.
	req.Header.Set("Accept-Encoding", "identity")
	return f.Client.Do(req, outbound.Limits{Body: limit, Time: time.Hour})
}

// answered returns an error for an answer that holds no file.
func answered(resp *http.Response, u *url.URL) error {
	switch resp.StatusCode {
	case http.StatusOK:
		return nil
	case http.StatusNotFound, http.StatusForbidden, http.StatusGone: // storage says so of what is not there
		return errs.E(errs.NotFound, "%s is not there (%s)", public(u), resp.Status)
	}
	return errs.E(errs.Unavailable, "%s answers %s", public(u), resp.Status)
}

// text fetches a small file.
func (f *fetch) text(ctx context.Context, u *url.URL, limit int64) (string, error) {
	resp, err := f.send(ctx, u, http.Header{}, limit)
	if err != nil {
		return "", err
	}
	defer func() { _ = resp.Body.Close() }()
	if err := answered(resp, u); err != nil {
		return "", err
	}
	b, err := io.ReadAll(resp.Body)
	f.received.Add(int64(len(b)))
	return string(b), err
}

// beside is the address of what stands beside a file.
func beside(u *url.URL, suffix string) *url.URL {
	v := *u
	v.Path += suffix
	v.RawPath = ""
	return &v
}

// ours reports whether a file is below the base, so that it must prove its origin.
func (f *fetch) ours(u *url.URL) bool {
	return f.base != nil && strings.HasPrefix(public(u), public(f.base)+"/")
}

// prove compares a file with its digest, where there is one, and checks its
// signature, when there is a key. A Forbidden error says what does not match.
func (f *fetch) prove(ctx context.Context, g get, digest string) error {
	if g.alone || !f.ours(g.address) {
		return nil
	}
	text, err := f.text(ctx, beside(g.address, ".sha256"), 4<<10)
	switch {
	case errs.Is(err, errs.NotFound) && !f.Digest:
	case errs.Is(err, errs.NotFound):
		return errs.E(errs.Forbidden, "%s is refused: there is no digest (.sha256) beside it", public(g.address))
	case err != nil:
		return err
	default:
		want, _, _ := strings.Cut(strings.TrimSpace(text), " ")
		if b, err := hex.DecodeString(want); (err != nil || len(b) != sha256.Size) && !f.Digest {
			break // a page that says that there is nothing
		}
		if !strings.EqualFold(want, digest) {
			return errs.E(errs.Forbidden, "%s is refused: its SHA-256 is %s, and %.64q stands "+
				"beside it", public(g.address), digest, want)
		}
	}
	if f.Key == nil {
		return nil
	}
	text, err = f.text(ctx, beside(g.address, ".minisig"), 4<<10)
	if errs.Is(err, errs.NotFound) {
		return errs.E(errs.Forbidden, "%s is refused: there is no signature (.minisig) beside it", public(g.address))
	}
	if err != nil {
		return err
	}
	if err := f.Key.Verify(g.path, text); err != nil {
		return errs.E(errs.Forbidden, "%s is refused: %v", public(g.address), err)
	}
	return nil
}
