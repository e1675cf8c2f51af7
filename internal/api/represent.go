package api

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"io"
	"mime"
	"net/http"
	"strings"

	"github.com/go-chi/chi/v5/middleware"
	"github.com/klauspost/compress/zstd"

	"merlon/internal/api/endpoint"
	"merlon/internal/api/findings"
)

// This file is how responses travel: compressed, and not at all when the client has them.

// compressed are the content types of responses that are compressed.
var compressed = []string{"application/json", endpoint.Ndjson, findings.SarifType, findings.CycloneType,
	findings.SpdxType, findings.VexType}

// compressResponses compresses responses for clients that take it (RFC 9110, section 12.5.3).
// Nothing that a response holds is both secret and mixed with what somebody else can
// choose, so that its length reveals nothing (BREACH).
func compressResponses(next http.Handler) http.Handler {
	// Level 5 of gzip: higher levels cost several times the time for a few percent.
	c := middleware.NewCompressor(5, compressed...)
	c.SetEncoder("zstd", func(w io.Writer, _ int) io.Writer {
		// A megabyte is the least window that every decoder must have (RFC 8878, section
		// 3.1.1.1.2, names eight).
		e, err := zstd.NewWriter(w, zstd.WithEncoderConcurrency(1), zstd.WithWindowSize(1<<20),
			zstd.WithLowerEncoderMem(true))
		if err != nil {
			panic("api: create zstd encoder: " + err.Error())
		}
		return e
	})
	return c.Handler(next)
}

// maxTagged bounds a response that is held back for its entity tag, in bytes. A larger
// response is sent as it is produced, without a tag; it would otherwise be held in memory
// once per request.
const maxTagged = 4 << 20

// tagResponses gives the JSON responses to reads of organizations, teams and projects an
// entity tag, and responds with 304 when the client names it (RFC 9110, section 13.1.2).
// The tag is weak: it is the same for every content coding.
func tagResponses(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		// Changes have no tag: If-Match is not supported, and a stored response to a POST is served
		// by the Idempotency-Key alone.
		if r.Method != http.MethodGet && r.Method != http.MethodHead || !isCacheable(r.URL.Path) {
			next.ServeHTTP(w, r)
			return
		}
		t := &tagger{ResponseWriter: w, request: r}
		next.ServeHTTP(t, r)
		t.sendTagged()
	})
}

// isCacheable reports whether responses of the address may be kept by the client. Others,
// such as tokens, are not to be stored anywhere.
func isCacheable(path string) bool {
	for _, prefix := range []string{"/organization", "/team/", "/project/", "/projects/"} {
		if strings.HasPrefix(path, prefix) {
			return true
		}
	}
	return false
}

// A tagger holds a response back until its tag is known. Anything but a whole JSON
// response of moderate size is passed on as it comes.
type tagger struct {
	http.ResponseWriter
	request *http.Request
	// status is 0 until the handler has written a header.
	status int
	// body is what was held back so far, at most maxTagged bytes.
	body bytes.Buffer
	// direct is set once the response is passed on; nothing is held back from then on.
	direct bool
}

// WriteHeader decides whether the response is held back.
func (t *tagger) WriteHeader(status int) {
	// Only the first call counts, as for http.ResponseWriter.
	if t.status != 0 {
		return
	}
	t.status = status
	kind, _, err := mime.ParseMediaType(t.Header().Get("Content-Type"))
	if status != http.StatusOK || err != nil || kind != "application/json" ||
		t.Header().Get("Content-Disposition") != "" {
		t.passThrough()
	}
}

// Write keeps or passes on a part of the body.
func (t *tagger) Write(b []byte) (int, error) {
	if t.status == 0 {
		t.WriteHeader(http.StatusOK)
	}
	if !t.direct && t.body.Len()+len(b) > maxTagged {
		t.passThrough()
	}
	if t.direct {
		return t.ResponseWriter.Write(b)
	}
	return t.body.Write(b)
}

// passThrough sends what was held back, and holds nothing back from here on.
func (t *tagger) passThrough() {
	if t.direct {
		return
	}
	t.direct = true
	t.ResponseWriter.WriteHeader(t.status)
	if t.body.Len() > 0 {
		_, _ = t.ResponseWriter.Write(t.body.Bytes()) // the next write fails as well
	}
}

// Flush sends what is there.
func (t *tagger) Flush() {
	if t.status == 0 {
		t.WriteHeader(http.StatusOK)
	}
	t.passThrough()
	_ = http.NewResponseController(t.ResponseWriter).Flush() // the client may be gone
}

// Unwrap gives http.ResponseController the writer below.
func (t *tagger) Unwrap() http.ResponseWriter { return t.ResponseWriter }

// sendTagged sends the response with its tag, or 304.
func (t *tagger) sendTagged() {
	if t.direct || t.status == 0 {
		return
	}
	// 128 bits are enough: a collision needs two responses of one address for one caller.
	sum := sha256.Sum256(t.body.Bytes())
	tag := `W/"` + base64.RawURLEncoding.EncodeToString(sum[:16]) + `"`
	h := t.Header()
	h.Set("ETag", tag)
	h.Set("Cache-Control", "private, no-cache") // the client may keep it, and asks before it is used
	// A cache between must not serve the response of one caller to another.
	h.Add("Vary", "Authorization")
	t.direct = true
	if matchesETag(t.request.Header.Values("If-None-Match"), tag) {
		// A 304 has no content, and these headers would describe it (RFC 9110, section 15.4.5).
		h.Del("Content-Type")
		h.Del("Content-Length")
		t.ResponseWriter.WriteHeader(http.StatusNotModified)
		return
	}
	t.ResponseWriter.WriteHeader(t.status)
	_, _ = t.ResponseWriter.Write(t.body.Bytes()) // the client may be gone
}

// matchesETag reports whether a list of entity tags names the tag, by weak comparison.
func matchesETag(lists []string, tag string) bool {
	for _, list := range lists {
		for one := range strings.SplitSeq(list, ",") {
			if one = strings.TrimSpace(one); one == "*" || strings.TrimPrefix(one, "W/") == strings.TrimPrefix(tag,
				"W/") {
				return true
			}
		}
	}
	return false
}
