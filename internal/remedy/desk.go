package remedy

import (
	"context"
	"log/slog"
	"time"

	"merlon/internal/tenant"
	"merlon/internal/triage"
)

// A Desk answers requests, and works on jobs. Every process of the service has one.
type Desk struct {
	Store Store
	Log   *slog.Logger
	Now   func() time.Time
	NewID func() string

	// Wait is how long Run waits between two looks; a second when zero.
	Wait time.Duration

	wake chan struct{}
	seen map[string]sight
}

// A sight is what was last seen of a job that another process works on. No clocks are
// compared: a job that looks the same for many looks has lost its process.
type sight struct{ attempt, processed, looks int }

// Limits of the work on jobs: how many looks a job may stay the same, how often it is
// tried, and how many findings are read at a time.
const (
	maxLooks    = 20
	maxAttempts = 3
	batch       = 200
)

// New returns a Desk.
func New(store Store, log *slog.Logger, now func() time.Time, newID func() string) *Desk {
	return &Desk{Store: store, Log: log, Now: now, NewID: newID, Wait: time.Second, wake: make(chan struct{}, 1),
		seen: map[string]sight{}}
}

// Ask answers a request, or makes a job of it: then the answer is empty, and the job
// has its identifier.
func (d *Desk) Ask(ctx context.Context, sc tenant.Scope, r Request) (Answer, string, error) {
	if len(r.Findings) > AtOnce {
		j := &Job{ID: d.NewID(), Organization: sc.Organization, Project: sc.Project, Request: r, State: Queued,
			CreatedAt: d.Now()}
		if err := d.Store.AdmitUpgrade(ctx, sc, r, j); err != nil {
			return Answer{}, "", err
		}
		select {
		case d.wake <- struct{}{}:
		default: // it looks soon anyway
		}
		return answer(Request{}, nil), j.ID, nil
	}
	if err := d.Store.AdmitUpgrade(ctx, sc, r, nil); err != nil {
		return Answer{}, "", err
	}
	found := map[triage.ID]*triage.Finding{}
	if err := d.read(ctx, sc, r.Findings, found); err != nil {
		return Answer{}, "", err
	}
	return answer(r, found), "", nil
}

// Job returns a job of the scope's project.
func (d *Desk) Job(ctx context.Context, sc tenant.Scope, id string) (Job, error) {
	return d.Store.UpgradeJob(ctx, sc, id)
}

// read adds findings of the scope's project to what was found.
func (d *Desk) read(ctx context.Context, sc tenant.Scope, ids []triage.ID, found map[triage.ID]*triage.Finding) error {
	list, err := d.Store.FindingsByID(ctx, sc, ids)
	if err != nil {
		return err
	}
	for i := range list {
		found[list[i].ID] = &list[i]
	}
	return nil
}

// Run works on jobs until ctx ends.
func (d *Desk) Run(ctx context.Context) {
	ticker := time.NewTicker(d.Wait)
	defer ticker.Stop()
	away := false
	for {
		err := d.Look(ctx)
		if err != nil && ctx.Err() == nil && !away {
			d.Log.LogAttrs(ctx, slog.LevelError, "jobs of upgrades cannot be "+
				"worked on", slog.String("error", err.Error()))
		}
		away = err != nil
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		case <-d.wake:
		}
	}
}

// Look works on every job that waits, or that its process has left.
func (d *Desk) Look(ctx context.Context) error {
	open, err := d.Store.OpenUpgradeJobs(ctx)
	if err != nil {
		return err
	}
	still := map[string]sight{}
	for i := range open {
		j := &open[i]
		if j.State == Processing {
			s := d.seen[j.ID]
			if s.attempt != j.Attempt || s.processed != j.Processed {
				s = sight{j.Attempt, j.Processed, 0}
			}
			if s.looks++; s.looks <= maxLooks {
				still[j.ID] = s
				continue
			}
		}
		if err := d.work(ctx, j); err != nil {
			return err
		}
	}
	d.seen = still
	return nil
}

// work takes a job and answers it. Another process that takes it meanwhile ends this
// one's work without a word.
func (d *Desk) work(ctx context.Context, j *Job) error {
	taken, err := d.Store.TakeUpgradeJob(ctx, j)
	if err != nil || !taken {
		return err
	}
	if j.Attempt > maxAttempts {
		j.State, j.Error, j.CompletedAt = Failed, "the processes that worked on it have ended; ask again", d.Now()
		_, err := d.Store.SaveUpgradeJob(ctx, j)
		return err
	}
	sc := tenant.System(j.Organization, "", j.Project)
	found := map[triage.ID]*triage.Finding{}
	for j.Processed = 0; j.Processed < len(j.Request.Findings); {
		next := min(j.Processed+batch, len(j.Request.Findings))
		if err := d.read(ctx, sc, j.Request.Findings[j.Processed:next], found); err != nil {
			return err // it is taken up again
		}
		j.Processed = next
		if mine, err := d.Store.SaveUpgradeJob(ctx, j); err != nil || !mine {
			return err
		}
	}
	j.Answer = answer(j.Request, found)
	j.State, j.CompletedAt = Completed, d.Now()
	_, err = d.Store.SaveUpgradeJob(ctx, j)
	return err
}
