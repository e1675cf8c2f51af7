package scan

import "sync/atomic"

// A Monitor shows the state of a live scan at any time, also while no new percentage is
// reached. The zero value is ready, and it is safe for concurrent use.
type Monitor struct {
	source atomic.Pointer[func() Snapshot]
}

// A Snapshot is the state of a live scan at one time.
type Snapshot struct {
	Phase    string // what the scan does now, for people
	Requests int    // sent so far
	Done     int    // operations that were attacked
	Left     int    // known operations that are still to be attacked
	Findings int    // reported so far
}

// Watch sets the function that returns the state. A nil Monitor ignores it.
func (m *Monitor) Watch(state func() Snapshot) {
	if m != nil {
		m.source.Store(&state)
	}
}

// Now returns the state; ok is false before Watch was called.
func (m *Monitor) Now() (s Snapshot, ok bool) {
	state := m.source.Load()
	if state == nil {
		return s, false
	}
	return (*state)(), true
}
