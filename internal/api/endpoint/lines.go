package endpoint

import (
	"bufio"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"

	"github.com/danielgtaylor/huma/v2"
)

// Ndjson is the content type of one JSON value a line (RFC 8259 values, each
// ended by a line feed).
const Ndjson = "application/x-ndjson"

// Lines responds with the values that produce passes to line, one a line, as a
// file of the name.
func (a *Server) Lines(filename string, produce func(line func(any) error) error) *huma.StreamResponse {
	return a.Download(filename, Ndjson, func(w io.Writer) error {
		enc := json.NewEncoder(w)
		// The type is no HTML: escaping < as \u003c would only make source code longer.
		enc.SetEscapeHTML(false)
		return produce(enc.Encode)
	})
}

// Download responds with what produce writes, as a file of the name. Nothing is kept
// in memory but a few kilobytes. A failure before the first of them is reported as
// any other; a later one cuts the connection, so that no client takes a part for the
// whole.
func (a *Server) Download(filename, contentType string, produce func(io.Writer) error) *huma.StreamResponse {
	return &huma.StreamResponse{Body: func(hc huma.Context) {
		out := &downloadWriter{hc: hc, filename: filename, contentType: contentType}
		// Until the buffer is full, nothing has been sent, and a failure can still become a problem
		// response with its status.
		buffer := bufio.NewWriterSize(out, 32<<10)
		err := produce(buffer)
		if err == nil {
			err = buffer.Flush()
		}
		switch {
		case err == nil && !out.yes: // nothing at all was written
			_, _ = out.Write(nil) // the client may be gone
		case err != nil && !out.yes:
			a.writeProblem(hc, err)
		case err != nil:
			a.Log.LogAttrs(hc.Context(), slog.LevelWarn, "response aborted", slog.String("file", filename),
				slog.String("error", err.Error()))
			panic(http.ErrAbortHandler) // the server's way to cut a connection
		}
	}}
}

// downloadWriter sends the head of the response with its first bytes.
type downloadWriter struct {
	hc          huma.Context
	filename    string
	contentType string
	// yes says that the head of the response was sent.
	yes bool
}

// Write sends the head of the response before the first bytes.
func (b *downloadWriter) Write(p []byte) (int, error) {
	if !b.yes {
		b.yes = true
		b.hc.SetHeader("Content-Type", b.contentType)
		// File names are made of fixed words and UUIDs, so they need no escaping (RFC 6266).
		b.hc.SetHeader("Content-Disposition", `attachment; filename="`+b.filename+`"`)
		b.hc.SetStatus(http.StatusOK)
	}
	return b.hc.BodyWriter().Write(p)
}

// Downloads says that the route responds with a file of one of the types.
func (r Route) Downloads(description string, types ...string) Route {
	r.answer = map[string]*huma.MediaType{}
	for _, t := range types {
		r.answer[t] = &huma.MediaType{Schema: &huma.Schema{Type: huma.TypeString, Description: description}}
	}
	return r
}

// Lists says that the route responds with lines, unless it is asked for another type.
func (r Route) Lists(others ...string) Route {
	r = r.Downloads("The complete document.", others...)
	r.answer[Ndjson] = &huma.MediaType{Schema: &huma.Schema{Type: huma.TypeString,
		Description: "One JSON object per line (NDJSON)."}}
	return r
}
