package server

import (
	"context"
	"log/slog"
	"time"

	"merlon/internal/livetarget"
	"merlon/internal/redact"
)

// redactPatience is how long a process waits before it tries again to clean stored rows.
const redactPatience = time.Minute

// redactStored takes secrets of targets out of what earlier versions have stored. It ends
// when all is clean, and does nothing without the master key.
func redactStored(ctx context.Context, d *deployment, log *slog.Logger) {
	if d.box == nil {
		return
	}
	open := func(t livetarget.Target) (*redact.Set, error) {
		whole, err := t.Open(d.box)
		if err != nil {
			return nil, err
		}
		return whole.Secrets(), nil
	}
	for batches := 0; ; batches++ {
		more, err := d.db.RedactStored(ctx, open)
		if err == nil && !more {
			if batches > 0 {
				log.LogAttrs(ctx, slog.LevelInfo, "what scans of running applications have stored holds no secrets "+
					"of targets any more")
			}
			return
		}
		wait := 10 * time.Millisecond // others write as well
		if err != nil {
			wait = redactPatience
			if ctx.Err() == nil {
				log.LogAttrs(ctx, slog.LevelError, "secrets of targets cannot be taken out of what earlier scans "+
					"have stored; it is tried again", slog.String("error", err.Error()))
			}
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(wait):
		}
	}
}
