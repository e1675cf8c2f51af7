package remediation

import (
	"context"
	"log/slog"
	"time"

	"merlon/internal/tenant"
	"merlon/internal/triage"
)

// A Service plans remediation and processes its jobs. Every process runs one.
type Service struct {
	Store Store
	Log   *slog.Logger
	Now   func() time.Time
	NewID func() string

	// Wait is how long Run waits between two looks; a second when zero.
	PollInterval time.Duration

	wakeup   chan struct{}
	progress map[string]jobProgress
}

// A jobProgress is what was last seen of a job that another process works on. No clocks are
// compared: a job that looks the same for many looks has lost its process.
type jobProgress struct{ attempt, processed, looks int }

// Limits of the work on jobs: how many looks a job may stay the same, how often it is
// tried, and how many findings are read at a time.
const (
	// 20 s with the usual interval, long for a batch of 200 findings.
	maxIdlePolls = 20
	// A job that ends its process each time, for example by its memory, must not do so forever.
	maxAttempts = 3
	// Progress is saved after each batch, which shows other processes that this one lives.
	batchSize = 200
)

// New returns a Service.
func New(store Store, log *slog.Logger, now func() time.Time, newID func() string) *Service {
	return &Service{Store: store, Log: log, Now: now, NewID: newID, PollInterval: time.Second,
		// One signal is enough for any number of jobs.
		wakeup:   make(chan struct{}, 1),
		progress: map[string]jobProgress{}}
}

// Plan answers a request, or queues a job for it: then the answer is empty, and the job
// has its identifier.
func (d *Service) Plan(ctx context.Context, sc tenant.Scope, r Request) (Answer, string, error) {
	if len(r.Findings) > MaxSynchronous {
		j := &Job{ID: d.NewID(), Organization: sc.Organization, Project: sc.Project, Request: r, State: Queued,
			CreatedAt: d.Now()}
		if err := d.Store.AdmitUpgrade(ctx, sc, r, j); err != nil {
			return Answer{}, "", err
		}
		select {
		case d.wakeup <- struct{}{}:
		default: // it looks soon anyway
		}
		// An empty answer has empty lists instead of null.
		return planFindings(Request{}, nil), j.ID, nil
	}
	if err := d.Store.AdmitUpgrade(ctx, sc, r, nil); err != nil {
		return Answer{}, "", err
	}
	found := map[triage.ID]*triage.Finding{}
	if err := d.readFindings(ctx, sc, r.Findings, found); err != nil {
		return Answer{}, "", err
	}
	return planFindings(r, found), "", nil
}

// Job returns a job of the scope's project.
func (d *Service) Job(ctx context.Context, sc tenant.Scope, id string) (Job, error) {
	return d.Store.UpgradeJob(ctx, sc, id)
}

// readFindings adds findings of the scope's project to what was found.
func (d *Service) readFindings(ctx context.Context, sc tenant.Scope, ids []triage.ID,
	found map[triage.ID]*triage.Finding) error {
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
func (d *Service) Run(ctx context.Context) {
	ticker := time.NewTicker(d.PollInterval)
	defer ticker.Stop()
	// An outage of the database is logged once and not at each poll.
	away := false
	for {
		err := d.ProcessJobs(ctx)
		if err != nil && ctx.Err() == nil && !away {
			d.Log.LogAttrs(ctx, slog.LevelError, "jobs of upgrades cannot be "+
				"worked on", slog.String("error", err.Error()))
		}
		away = err != nil
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		case <-d.wakeup:
		}
	}
}

// ProcessJobs works on every queued job, and on every job whose process has died.
func (d *Service) ProcessJobs(ctx context.Context) error {
	open, err := d.Store.OpenUpgradeJobs(ctx)
	if err != nil {
		return err
	}
	still := map[string]jobProgress{}
	for i := range open {
		j := &open[i]
		if j.State == Processing {
			s := d.progress[j.ID]
			// The job has moved since the last look: its process lives.
			if s.attempt != j.Attempt || s.processed != j.Processed {
				s = jobProgress{j.Attempt, j.Processed, 0}
			}
			if s.looks++; s.looks <= maxIdlePolls {
				still[j.ID] = s
				continue
			}
		}
		if err := d.processJob(ctx, j); err != nil {
			return err
		}
	}
	// Jobs that have ended drop out of the map.
	d.progress = still
	return nil
}

// processJob takes a job and answers it. Another process that takes it meanwhile ends this
// one's work without a word.
func (d *Service) processJob(ctx context.Context, j *Job) error {
	taken, err := d.Store.ClaimUpgradeJob(ctx, j)
	if err != nil || !taken {
		return err
	}
	if j.Attempt > maxAttempts {
		j.State, j.Error, j.CompletedAt = Failed, "the processes that worked on it have ended; ask again", d.Now()
		_, err := d.Store.SaveUpgradeJob(ctx, j)
		return err
	}
	// The permission was checked when the request was admitted.
	sc := tenant.System(j.Organization, "", j.Project)
	found := map[triage.ID]*triage.Finding{}
	for j.Processed = 0; j.Processed < len(j.Request.Findings); {
		next := min(j.Processed+batchSize, len(j.Request.Findings))
		if err := d.readFindings(ctx, sc, j.Request.Findings[j.Processed:next], found); err != nil {
			return err // it is taken up again
		}
		j.Processed = next
		// Saving fails when another process has taken the job: its attempt is higher.
		if mine, err := d.Store.SaveUpgradeJob(ctx, j); err != nil || !mine {
			return err
		}
	}
	j.Answer = planFindings(j.Request, found)
	j.State, j.CompletedAt = Completed, d.Now()
	_, err = d.Store.SaveUpgradeJob(ctx, j)
	return err
}
