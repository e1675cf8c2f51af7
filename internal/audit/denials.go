package audit

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"sync"
	"time"

	"merlon/internal/tenant"
)

// How many kinds of refusals one process keeps apart between two writes. What is
// beyond is counted together, so that nobody fills the log by being refused.
const (
	maxKnownRefusals   = 100  // of callers who are known
	maxUnknownRefusals = 20   // of callers who are not
	maxMissedReads     = 1000 // of which it is looked up whether they are refusals
)

// refusalInterval is how often refusals are written.
const refusalInterval = time.Minute

// AccessDenials collects refused requests and writes them to the audit log once a
// minute: those of the same caller, address, operation and status as one record
// with their number. It is safe for concurrent use.
type AccessDenials struct {
	log DenialStore
	now func() time.Time

	mu    sync.Mutex
	kinds *tallies
	// Reads of what the caller does not see. Whether there is such a thing is looked up
	// when they are written, and not while the caller waits, who could measure it.
	missed map[missedRead]*tally
	beyond *tally // those for which there was no room
}

// A DenialStore is where refusals are written.
type DenialStore interface {
	AppendAudit(ctx context.Context, events []Event) error
	// HiddenChain reports whether the target is there, and in whose chain it belongs that the
	// user does not see it: in that of its organization for a member, else in the
	// deployment's.
	HiddenChain(ctx context.Context, user tenant.UserID, target tenant.Target) (chain tenant.OrganizationID, there bool,
		err error)
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

// refusalOf returns what a refusal is counted as.
func refusalOf(by tenant.Actor, operation string, status int) refusal {
	return refusal{actor: by.UserID, client: storableText(by.ClientID), ip: storableText(by.IP), operation: operation,
		status: status}
}

// A missedRead is a read of something that the caller does not see.
type missedRead struct {
	refusal
	target tenant.Target
}

// tally counts equal refusals in an interval, so that an attacker cannot flood the audit log.
type tally struct {
	n           int64
	first, last time.Time
}

// addTally adds the hits of another tally.
func (t *tally) addTally(o tally) {
	if t.n == 0 || o.first.Before(t.first) {
		t.first = o.first
	}
	if o.last.After(t.last) {
		t.last = o.last
	}
	t.n += o.n
}

// tallies count refusals by their kinds, of which there are only so many.
type tallies struct {
	kinds map[refusal]*tally
	order []refusal // as they came
	count [2]int    // of kinds: unknown callers, known ones
}

// newTallies returns empty tallies.
func newTallies() *tallies { return &tallies{kinds: map[refusal]*tally{}} }

// addTally adds a refusal. Beyond the limit of kinds it is counted under a common one.
func (s *tallies) addTally(k refusal, n tally) {
	if s.kinds[k] == nil {
		known, most := 0, maxUnknownRefusals
		if k.actor != "" {
			known, most = 1, maxKnownRefusals
		}
		if s.count[known] >= most {
			k = overflowRefusal(k.status)
		} else {
			s.count[known]++
		}
	}
	t := s.kinds[k]
	if t == nil {
		t = &tally{}
		s.kinds[k], s.order = t, append(s.order, k)
	}
	t.addTally(n)
}

// overflowRefusal is what refusals are counted as for which there is no room, of whoever it was.
func overflowRefusal(status int) refusal { return refusal{operation: "others", status: status} }

// NewAccessDenials returns an empty collection that writes to the log.
func NewAccessDenials(log DenialStore, now func() time.Time) *AccessDenials {
	return &AccessDenials{log: log, now: now, kinds: newTallies(), missed: map[missedRead]*tally{}, beyond: &tally{}}
}

// Add counts a refused request: the operation that was refused to the actor with
// the status, in the chain of an organization that the actor belongs to, or in the
// deployment's.
func (r *AccessDenials) Add(chain tenant.OrganizationID, by tenant.Actor, operation string, status int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	k := refusalOf(by, operation, status)
	k.chain = chain
	r.kinds.addTally(k, r.newTally())
}

// AddNotFound counts a read of a target that the actor does not see, and that may not be
// there at all: then it is no refusal, and will not be written. When the reads of a
// minute name too many targets, the rest is counted together.
func (r *AccessDenials) AddNotFound(by tenant.Actor, operation string, target tenant.Target) {
	r.mu.Lock()
	defer r.mu.Unlock()
	k := missedRead{refusalOf(by, operation, http.StatusNotFound), target}
	t := r.missed[k]
	switch {
	case t != nil:
	case len(r.missed) < maxMissedReads:
		t = &tally{}
		r.missed[k] = t
	default:
		t = r.beyond
	}
	t.addTally(r.newTally())
}

// newTally is a tally of one hit at this moment.
func (r *AccessDenials) newTally() tally {
	now := r.now()
	return tally{1, now, now}
}

// Write writes what was collected.
func (r *AccessDenials) Write(ctx context.Context) error {
	r.mu.Lock()
	s, missed, beyond := r.kinds, r.missed, r.beyond
	r.kinds, r.missed, r.beyond = newTallies(), map[missedRead]*tally{}, &tally{}
	r.mu.Unlock()
	failed := r.resolveMissedReads(ctx, s, missed)
	if beyond.n > 0 {
		s.addTally(overflowRefusal(http.StatusNotFound), *beyond)
	}
	events := make([]Event, 0, len(s.order))
	for _, k := range s.order {
		t := s.kinds[k]
		events = append(events, Event{
			Chain: k.chain, Actor: k.actor, Client: k.client, IP: k.ip, Action: "request.refuse",
			TargetKind: "operation", Target: k.operation,
			Detail: map[string]any{"status": k.status, "count": t.n, "first": t.first.UTC().Format(TimeFormat),
				"last": t.last.UTC().Format(TimeFormat)},
		})
	}
	if len(events) == 0 {
		return failed
	}
	return errors.Join(failed, r.log.AppendAudit(ctx, events))
}

// resolveMissedReads adds the missed reads of targets that are there, in the order of their time.
func (r *AccessDenials) resolveMissedReads(ctx context.Context, s *tallies, missed map[missedRead]*tally) error {
	var failed error
	byTime := func(a, b missedRead) int { return missed[a].first.Compare(missed[b].first) }
	for _, k := range slices.SortedFunc(maps.Keys(missed), byTime) {
		chain, there, err := r.log.HiddenChain(ctx, k.actor, k.target)
		if err != nil {
			failed = fmt.Errorf("look for what was asked for: %w", err)
			continue
		}
		if there {
			of := k.refusal
			of.chain = chain
			s.addTally(of, *missed[k])
		}
	}
	return failed
}

// Run writes once a minute, and a last time when ctx ends. Failures are told to
// report.
func (r *AccessDenials) Run(ctx context.Context, report func(error)) {
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
