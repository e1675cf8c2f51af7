package scan

import "sync"

// This file joins what the files and the project analyzers say of how far they are.

// fileShare is the part of a scan, in percent, that the analyzers of files are when
// there are project analyzers too; these look at the same files again, together.
const fileShare = 30

// A progress is how far a scan is. Analyzers tell it from any goroutine; the driver
// shows it from its own.
type progress struct {
	changed chan struct{} // holds one element when there is something new

	mu       sync.Mutex
	files    int          // percent
	projects map[*job]int // percent, of those that were started
	step     string       // the latest
}

// newProgress returns the progress of a scan with the project analyzers.
func newProgress(projects []*job) *progress {
	p := &progress{changed: make(chan struct{}, 1), projects: map[*job]int{}, step: "starting"}
	for _, j := range projects {
		p.projects[j] = 0
	}
	return p
}

// reportProject records how far a project analyzer is. What falls does not count.
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
	default: // the driver has not yet looked at what came before
	}
}

// reportFiles records how far the analyzers of files are.
func (p *progress) reportFiles(percent int, step string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.files, p.step = percent, step
}

// overallPercent returns how far all is, up to 99, and what was told last.
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
