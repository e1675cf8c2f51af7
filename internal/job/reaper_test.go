package job

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"testing"
	"time"

	"merlon/internal/run"
)

// leases is a Store of which the reaper uses two methods.
type leases struct {
	Store
	list   []Lease
	err    error
	reaped []int64
}

func (l *leases) Leases(context.Context) ([]Lease, error) { return slices.Clone(l.list), l.err }

func (l *leases) Reap(_ context.Context, lease Lease) (bool, error) {
	l.reaped = append(l.reaped, lease.Job)
	l.list = slices.DeleteFunc(l.list, func(x Lease) bool { return x == lease })
	return true, nil
}

func TestReaper(t *testing.T) {
	store := &leases{list: []Lease{
		{Job: 1, Holder: "dead"}, {Job: 2, Holder: "alive"}, {Job: 3, Holder: "ours"}, {Job: 4, Beat: -1},
	}}
	r := reaper{store: store, looks: 3, ours: func(h string) bool {
		return h == "ours"
	}, log: slog.New(slog.DiscardHandler)}
	look := func(want ...int64) {
		t.Helper()
		store.reaped = nil
		for i := range store.list {
			if store.list[i].Holder == "alive" {
				store.list[i].Beat++
			}
		}
		if _, err := r.checkLeases(t.Context()); !errors.Is(err, store.err) {
			t.Fatal(err)
		}
		if !slices.Equal(store.reaped, want) {
			t.Errorf("reaped %v, want %v", store.reaped, want)
		}
	}
	look()
	look()
	look()
	// The database is away for a look: nobody could renew, so counting begins anew.
	store.err = errors.New("away")
	look()
	store.err = nil
	look()
	look()
	look()
	look(1, 4)
	look()
	// The same job with a new holder is a new lease.
	store.list = append(store.list, Lease{Job: 1, Holder: "next"})
	look()
	look()
	look()
	look(1)
}

func TestRetryDelay(t *testing.T) {
	want := []time.Duration{10 * time.Second, 30 * time.Second, 90 * time.Second, 270 * time.Second, run.MaxRetryDelay,
		run.MaxRetryDelay}
	for i, w := range want {
		if got := retryDelay(i + 1); got != w {
			t.Errorf("retryDelay(%d) = %v, want %v", i+1, got, w)
		}
	}
}

// A killed worker's run must begin again within 30 seconds.
func TestDefaultTimingMeetsTheFloor(t *testing.T) {
	d := DefaultTiming
	worst := d.ReapInterval*time.Duration(d.MaxMissed+1) + d.Sweep + d.Poll
	if worst > 25*time.Second {
		t.Errorf("a dead worker is noticed and replaced after up to %v", worst)
	}
	if best := d.ReapInterval * time.Duration(d.MaxMissed); best < 5*d.Heartbeat {
		t.Errorf("a worker that misses four beats, of %v, is taken for dead after %v", d.Heartbeat, best)
	}
}
