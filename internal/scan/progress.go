package scan

import (
	"sync"
	"sync/atomic"
)

// This file combines the progress of the file analyzers and the project analyzers.

// fileShare is the share of the file analyzers in the progress, in percent, when there are
// project analyzers too. Project analyzers take longer, because they follow data across files.
const fileShare = 30

// A progress is the progress of a scan. Analyzers report it from any goroutine; the driver
// emits it from its own, because a Handler is not safe for concurrent use.
type progress struct {
	changed chan struct{} // has one element when there is new progress to emit

	mu       sync.Mutex
	files    int          // percent
	projects map[*job]int // percent of the started project analyzers
	step     string       // reported last
}

// newProgress returns the progress of a scan with the project analyzers.
func newProgress(projects []*job) *progress {
	p := &progress{changed: make(chan struct{}, 1), projects: map[*job]int{}, step: "starting"}
	for _, j := range projects {
		p.projects[j] = 0
	}
	return p
}

// reportProject records the progress of a project analyzer. A smaller percentage is ignored.
func (p *progress) reportProject(j *job, percent int, step string) {
	percent = min(max(percent, 0), 100)
	p.mu.Lock()
	risen := percent > p.projects[j]
	if risen {
		p.projects[j] = percent
		p.step = j.ID + ": " + printablePath(truncateText(step, maxText))
	}
	p.mu.Unlock()
	if !risen {
		return
	}
	select {
	case p.changed <- struct{}{}:
	default: // the driver has not yet received the previous signal
	}
}

// reportFiles records the progress of the file analyzers.
func (p *progress) reportFiles(percent int, step string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.files, p.step = percent, step
}

// overallPercent returns the overall percentage, up to 99, and the last step. 100 is reserved
// for the end of the scan.
func (p *progress) overallPercent() (percent int, step string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.projects) == 0 {
		return p.files * 99 / 100, p.step
	}
	sum := 0
	for _, n := range p.projects {
		sum += n
	}
	return (p.files*fileShare + sum*(99-fileShare)/len(p.projects)) / 100, p.step
}

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
