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

// request is a file to fetch.
type request struct {
	address *url.URL
	path    string // where it goes
	limit   int64  // bytes
	// tag, time and digest of the last download; empty for the first
	known advisory.MirroredFile
	alone bool // has neither digest nor signature
}

// fetchFile fetches a file; errUnchanged when it is the known one, NotFound when it is not
// there. A file that does not match its digest or signature is fetched once more, because
// both may have been replaced between two requests.
func (f *fetch) fetchFile(ctx context.Context, g request) (advisory.MirroredFile, error) {
	file, err := f.transferFile(ctx, g)
	if err != nil {
		return file, err
	}
	err = f.verifyOrigin(ctx, g, file.Digest)
	if errs.Is(err, errs.Forbidden) {
		again := g
		// Without a condition: a cache in between may have kept the file but not its signature.
		again.known = advisory.MirroredFile{}
		if file, err = f.transferFile(ctx, again); err == nil {
			err = f.verifyOrigin(ctx, again, file.Digest)
		}
	}
	if err != nil {
		return file, errors.Join(err, os.Remove(g.path))
	}
	// Servers without ETag send the same file again; the digest recognizes it.
	if g.known.Digest != "" && g.known.Digest == file.Digest {
		return file, errUnchanged
	}
	return file, nil
}

// transferFile fetches a file into its place. A conditional request (RFC 9110, 13.1) makes
// a file that has not changed cost one response without a body.
func (f *fetch) transferFile(ctx context.Context, g request) (file advisory.MirroredFile, err error) {
	header := http.Header{}
	// The entity tag is exact, the time has a resolution of one second (RFC 9110, 13.1.3).
	if g.known.Tag != "" {
		header.Set("If-None-Match", g.known.Tag)
	} else if g.known.Modified != "" {
		header.Set("If-Modified-Since", g.known.Modified)
	}
	resp, err := f.sendRequest(ctx, g.address, header, g.limit)
	if err != nil {
		return file, err
	}
	defer func() { _ = resp.Body.Close() }()
	if resp.StatusCode == http.StatusNotModified && len(header) > 0 {
		return file, errUnchanged
	}
	if err := checkStatus(resp, g.address); err != nil {
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
	// The digest is computed on the way: the file may have gigabytes and is not read twice.
	n, err := io.Copy(io.MultiWriter(out, h), resp.Body)
	f.received.Add(n)
	if err = errors.Join(err, out.Close()); err != nil {
		return file, fmt.Errorf("receive %s: %w", publicURL(g.address), err)
	}
	return advisory.MirroredFile{Tag: resp.Header.Get("ETag"), Modified: resp.Header.Get("Last-Modified"),
		Digest: hex.EncodeToString(h.Sum(nil))}, nil
}

// sendRequest sends a GET request. Its body is bounded in size and time.
func (f *fetch) sendRequest(ctx context.Context, u *url.URL, header http.Header, limit int64) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, u.String(), nil)
	if err != nil {
		return nil, errs.E(errs.Invalid, "%s cannot be requested", publicURL(u))
	}
	req.Header = header
	// Compressed on the way, a file would not be the one that was signed.
	req.Header.Set("Accept-Encoding", "identity")
	return f.Client.Do(req, outbound.Limits{Body: limit, Time: time.Hour})
}

// checkStatus returns an error for a response without a file.
func checkStatus(resp *http.Response, u *url.URL) error {
	switch resp.StatusCode {
	case http.StatusOK:
		return nil
	case http.StatusNotFound, http.StatusForbidden, http.StatusGone: // storage says so of what is not there
		return errs.E(errs.NotFound, "%s is not there (%s)", publicURL(u), resp.Status)
	}
	return errs.E(errs.Unavailable, "%s answers %s", publicURL(u), resp.Status)
}

// fetchText fetches a small file.
func (f *fetch) fetchText(ctx context.Context, u *url.URL, limit int64) (string, error) {
	resp, err := f.sendRequest(ctx, u, http.Header{}, limit)
	if err != nil {
		return "", err
	}
	defer func() { _ = resp.Body.Close() }()
	if err := checkStatus(resp, u); err != nil {
		return "", err
	}
	b, err := io.ReadAll(resp.Body)
	f.received.Add(int64(len(b)))
	return string(b), err
}

// siblingURL is the address of a file that is beside another.
func siblingURL(u *url.URL, suffix string) *url.URL {
	v := *u
	v.Path += suffix
	v.RawPath = ""
	return &v
}

// isOfMirror reports whether a file is below the base, so that it must prove its origin.
func (f *fetch) isOfMirror(u *url.URL) bool {
	return f.base != nil && strings.HasPrefix(publicURL(u), publicURL(f.base)+"/")
}

// verifyOrigin compares a file with its digest, where there is one, and checks its
// signature, when there is a key. A Forbidden error says what does not match.
func (f *fetch) verifyOrigin(ctx context.Context, g request, digest string) error {
	// Single records have no digest of their own: TLS alone protects them. Feeds of other sites are
	// not signed by the mirror.
	if g.alone || !f.isOfMirror(g.address) {
		return nil
	}
	text, err := f.fetchText(ctx, siblingURL(g.address, ".sha256"), 4<<10)
	switch {
	// A digest beside the file finds a broken transfer, not an attacker, who could replace both. It
	// is optional unless the configuration requires it; the signature below proves the origin.
	case errs.Is(err, errs.NotFound) && !f.Digest:
	case errs.Is(err, errs.NotFound):
		return errs.E(errs.Forbidden, "%s is refused: there is no digest (.sha256) beside it", publicURL(g.address))
	case err != nil:
		return err
	default:
		// "DIGEST  all.zip", as sha256sum prints it.
		want, _, _ := strings.Cut(strings.TrimSpace(text), " ")
		if b, err := hex.DecodeString(want); (err != nil || len(b) != sha256.Size) && !f.Digest {
			break // a page that says that there is nothing
		}
		if !strings.EqualFold(want, digest) {
			return errs.E(errs.Forbidden, "%s is refused: its SHA-256 is %s, and %.64q stands "+
				"beside it", publicURL(g.address), digest, want)
		}
	}
	if f.Key == nil {
		return nil
	}
	text, err = f.fetchText(ctx, siblingURL(g.address, ".minisig"), 4<<10)
	if errs.Is(err, errs.NotFound) {
		return errs.E(errs.Forbidden, "%s is refused: there is no signature (.minisig) beside it", publicURL(g.address))
	}
	if err != nil {
		return err
	}
	if err := f.Key.Verify(g.path, text); err != nil {
		return errs.E(errs.Forbidden, "%s is refused: %v", publicURL(g.address), err)
	}
	return nil
}
