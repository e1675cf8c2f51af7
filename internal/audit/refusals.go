package audit

import (
	"context"
	"sync"
	"time"

	"merlon/internal/tenant"
)

// How many kinds of refusals one process keeps apart between two writes. What is
// beyond is counted together, so that nobody fills the log by being refused.
const (
	maxKnownRefusals   = 100 // of callers who are known
	maxUnknownRefusals = 20  // of callers who are not
)

// refusalInterval is how often refusals are written.
const refusalInterval = time.Minute

// Refusals collects refused requests and writes them to the audit log once a
// minute: those of the same caller, address, operation and status as one record
// with their number. It is safe for concurrent use.
type Refusals struct {
	append func(context.Context, []Event) error
	now    func() time.Time

	mu    sync.Mutex
	kinds map[refusal]*tally
	order []refusal // as they came
	count [2]int    // of kinds: unknown callers, known ones
}

// A refusal is what is counted together.
type refusal struct {
	chain     tenant.OrganizationID
	actor     tenant.UserID
	client    string
	ip        string
	operation string
	status    int
}

type tally struct {
	n           int64
	first, last time.Time
}

// NewRefusals returns an empty collection that writes with append.
func NewRefusals(append func(context.Context, []Event) error, now func() time.Time) *Refusals {
	return &Refusals{append: append, now: now, kinds: map[refusal]*tally{}}
}

// Add counts a refused request: the operation that was refused to the actor with
// the status, in the chain of an organization that the actor belongs to, or in the
// deployment's.
func (r *Refusals) Add(chain tenant.OrganizationID, by tenant.Actor, operation string, status int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	k := refusal{chain, by.UserID, text(by.ClientID), text(by.IP), operation, status}
	if r.kinds[k] == nil {
		known, most := 0, maxUnknownRefusals
		if by.UserID != "" {
			known, most = 1, maxKnownRefusals
		}
		if r.count[known] >= most {
			k = refusal{operation: "others", status: status} // of whoever it was
		} else {
			r.count[known]++
		}
	}
	t := r.kinds[k]
	if t == nil {
		t = &tally{first: r.now()}
		r.kinds[k], r.order = t, append(r.order, k)
	}
	t.n++
	t.last = r.now()
}

// Write writes what was collected.
func (r *Refusals) Write(ctx context.Context) error {
	r.mu.Lock()
	kinds, order := r.kinds, r.order
	r.kinds, r.order, r.count = map[refusal]*tally{}, nil, [2]int{}
	r.mu.Unlock()
	events := make([]Event, 0, len(order))
	for _, k := range order {
		t := kinds[k]
		events = append(events, Event{
			Chain: k.chain, Actor: k.actor, Client: k.client, IP: k.ip, Action: "request.refuse", TargetKind: "operation", Target: k.operation,
			Detail: map[string]any{"status": k.status, "count": t.n, "first": t.first.UTC().Format(TimeFormat), "last": t.last.UTC().Format(TimeFormat)},
		})
	}
	if len(events) == 0 {
		return nil
	}
	return r.append(ctx, events)
}

// Run writes once a minute, and a last time when ctx ends. Failures are told to
// report.
func (r *Refusals) Run(ctx context.Context, report func(error)) {
	tick := time.NewTicker(refusalInterval)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
		case <-tick.C:
		}
		last, cancel := context.WithTimeout(context.WithoutCancel(ctx), 10*time.Second)
		if err := r.Write(last); err != nil {
			report(err)
		}
		cancel()
		if ctx.Err() != nil {
			return
		}
	}
}
