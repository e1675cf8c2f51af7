package job

import (
	"context"
	"log/slog"
	"time"
)

// reapLoop looks at the leases now and then.
func (q *Queue) reapLoop(ctx context.Context) {
	ticker := time.NewTicker(q.Timing.ReapInterval)
	defer ticker.Stop()
	r := reaper{store: q.Store, looks: q.Timing.MaxMissed, ours: q.isLocalHolder, log: q.Log}
	away := false
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
		reaped, err := r.checkLeases(ctx)
		if err != nil && ctx.Err() == nil && !away {
			q.Log.LogAttrs(ctx, slog.LevelError, "leases cannot be checked", slog.String("error", err.Error()))
		}
		away = err != nil
		if reaped > 0 {
			q.Wake()
		}
	}
}

// A reaper remembers what it saw of each lease, and how often in a row.
type reaper struct {
	store Store
	looks int
	ours  func(holder string) bool
	log   *slog.Logger
	seen  map[Lease]int
}

// checkLeases counts one look at every lease, and ends the jobs whose lease has stood
// still for r.looks after the first. After a failed look it begins anew: while
// the database was away, nobody could renew a lease.
func (r *reaper) checkLeases(ctx context.Context) (reaped int, err error) {
	leases, err := r.store.Leases(ctx)
	if err != nil {
		r.seen = nil
		return 0, err
	}
	now := map[Lease]int{}
	for _, l := range leases {
		if r.ours(l.Holder) {
			continue // alive: it is this very process
		}
		now[l] = r.seen[l] + 1
		if now[l] <= r.looks {
			continue
		}
		done, err := r.store.Reap(ctx, l)
		if err != nil {
			r.seen = nil
			return reaped, err
		}
		delete(now, l)
		if done {
			reaped++
			r.log.LogAttrs(ctx, slog.LevelWarn, "a worker stopped without a word: its scan begins again",
				slog.Int64("job", l.Job))
		}
	}
	r.seen = now
	return reaped, nil
}
