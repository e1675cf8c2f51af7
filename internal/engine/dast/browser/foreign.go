package browser

import (
	"context"
	"io"
	"net/http"
	"time"

	"github.com/chromedp/cdproto/fetch"
)

// foreignLimit bounds the time in which a library of another host has to arrive.
const foreignLimit = 15 * time.Second

// fetchLibrary fetches a script or style sheet of another host for a page, without
// anything that tells who asks. The browser itself never connects there: a host that it
// may connect to could be sent anything. The browser gets the answer from us.
func (b *Browser) fetchLibrary(ctx context.Context, e *fetch.EventRequestPaused) (*fetch.FulfillRequestParams, error) {
	ctx, cancel := context.WithTimeout(ctx, foreignLimit)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, e.Request.URL, nil)
	if err != nil {
		return nil, err
	}
	for _, name := range []string{"Accept", "Origin"} {
		if value, ok := e.Request.Headers[name].(string); ok {
			req.Header.Set(name, value)
		}
	}
	req.Header.Set("User-Agent", b.o.Agent)
	// a redirect is the answer: the page asks for it again, and is decided about again
	got, err := b.guard.plain.RoundTrip(req)
	if err != nil {
		return nil, err
	}
	defer func() { _ = got.Body.Close() }()
	body, err := io.ReadAll(io.LimitReader(got.Body, maxCached))
	if err != nil {
		return nil, err
	}
	got.Header.Del("Set-Cookie")
	return &fetch.FulfillRequestParams{ResponseCode: int64(got.StatusCode),
		ResponseHeaders: plainHeaders(headerEntries(got.Header)), Body: body}, nil
}
