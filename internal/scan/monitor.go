package scan

import "sync/atomic"

// A Monitor shows the state of a live scan at any time, also while no new percentage is
// reached. The zero value is ready, and it is safe for concurrent use.
type Monitor struct {
	source atomic.Pointer[func() Snapshot]
}

// A Snapshot is the state of a live scan at one time.
type Snapshot struct {
	Phase    string // current phase, for display
	Requests int    // sent so far
	Done     int    // attacked operations
	Left     int    // known operations that are not attacked yet
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
