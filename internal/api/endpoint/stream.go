package endpoint

import (
	"io"
	"strconv"

	"github.com/danielgtaylor/huma/v2"

	"merlon/internal/run"
)

// A Stream is the part of an input that holds the body of the request unread, so
// that a handler can pass gigabytes on without keeping them.
type Stream struct {
	Content unread
}

// unread is a body that nobody has read. The server cuts off a client that sends too
// slowly, while one that goes on sending may take as long as it needs.
type unread struct {
	io.Reader
	ContentType string
	Size        int64 // as declared; -1 when it was not
}

// Resolve keeps the body.
func (s *Stream) Resolve(ctx huma.Context) []error {
	size, err := strconv.ParseInt(ctx.Header("Content-Length"), 10, 64)
	if err != nil {
		size = -1
	}
	s.Content = unread{Reader: ctx.BodyReader(), ContentType: ctx.Header("Content-Type"), Size: size}
	return nil
}

// Streams says what the body of the route is that its handler reads by itself.
func (r Route) Streams(description string, types ...string) Route {
	r.body = &huma.RequestBody{Description: description, Content: map[string]*huma.MediaType{}}
	for _, t := range types {
		r.body.Content[t] = &huma.MediaType{Schema: bodySchemas[t]}
	}
	return r
}

// DescribeStream puts the body of a route that streams into the document. It comes
// after the registration: the HTTP library reads the body of an operation that
// declares one.
func (a *Server) DescribeStream(r Route) {
	if r.body == nil {
		return
	}
	item := a.Huma.OpenAPI().Paths[r.path]
	for _, op := range []*huma.Operation{item.Put, item.Post} {
		if op != nil && op.OperationID == r.id {
			op.RequestBody = r.body
		}
	}
}

// bodySchemas describes the bodies that handlers read by themselves.
var bodySchemas = map[string]*huma.Schema{
	"application/zip": {Type: huma.TypeString, Format: "binary"},
	"application/json": {Type: huma.TypeObject, Properties: map[string]*huma.Schema{
		"branch":     {Type: huma.TypeString, Description: "Branch that the findings belong to. Default: main."},
		"sourceType": {Type: huma.TypeString, Description: "Source of the scan. Default: manual.", Enum: sourceEnum()},
	}},
	"multipart/form-data": {Type: huma.TypeObject, Properties: map[string]*huma.Schema{
		"branch":     {Type: huma.TypeString, Description: "Must precede the file."},
		"sourceType": {Type: huma.TypeString, Description: "Must precede the file."},
		"scan": {Type: huma.TypeString, Format: "binary", Description: "Zip archive. The name of the part is " +
			"not significant."},
	}},
}

// sourceEnum lists the sources of scans for the schema of a body that is described by hand.
func sourceEnum() []any {
	out := []any{}
	for _, s := range run.Sources {
		out = append(out, string(s))
	}
	return out
}
