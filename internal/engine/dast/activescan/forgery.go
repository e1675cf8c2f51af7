package activescan

import (
	"context"
	"net/http"
	"strings"

	"merlon/internal/engine/dast/message"
	"merlon/internal/engine/dast/traffic"
	"merlon/internal/errs"
)

// A ForgedSession is a session that sends something else in the place of what proves it.
type ForgedSession struct {
	traffic.Session
	Old, New string // in the values of headers
}

// Prepare implements traffic.Session. Its error is Invalid when the session does not send
// Old any more: what would be sent is no forgery.
func (c ForgedSession) Prepare(ctx context.Context, req *http.Request) error {
	if err := c.Session.Prepare(ctx, req); err != nil {
		return err
	}
	replaced := false
	for _, values := range req.Header {
		for i, v := range values {
			if strings.Contains(v, c.Old) {
				values[i], replaced = strings.ReplaceAll(v, c.Old, c.New), true
			}
		}
	}
	if !replaced {
		return errs.E(errs.Invalid, "the session has another token now")
	}
	return nil
}

// Seen implements traffic.Session: what the target says to a forgery does not concern the
// session.
func (ForgedSession) Seen(*message.Response) {}
