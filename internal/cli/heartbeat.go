package cli

import (
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	"merlon/internal/scan"
)

// This file tells how far a live scan is where no terminal shows it, such as in CI.

// heartbeatEvery is the time between two lines.
const heartbeatEvery = 30 * time.Second

// startHeartbeat writes a line about the scan to w every 30 seconds, unless w is a terminal. The
// function that it returns ends that.
func startHeartbeat(w io.Writer, m *scan.Monitor) (stop func()) {
	if isTerminal(w) {
		return func() {}
	}
	ticker := time.NewTicker(heartbeatEvery)
	done := make(chan struct{})
	var writer sync.WaitGroup
	writer.Go(func() { writeHeartbeats(w, m, ticker.C, done) })
	return func() {
		ticker.Stop()
		close(done)
		writer.Wait()
	}
}

// writeHeartbeats writes a line at each tick until done is closed.
func writeHeartbeats(w io.Writer, m *scan.Monitor, ticks <-chan time.Time, done <-chan struct{}) {
	for {
		select {
		case <-done:
			return
		case at := <-ticks:
			line := "preparing"
			if s, ok := m.Now(); ok {
				line = fmt.Sprintf("%s; %d requests, %d operations attacked, %d left, %d findings", s.Phase, s.Requests,
					s.Done, s.Left, s.Findings)
			}
			_, _ = fmt.Fprintf(w, "%s %s\n", at.UTC().Format(time.RFC3339), line) // nobody is left to tell
		}
	}
}

// isTerminal reports whether the writer is a terminal.
func isTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	if !ok {
		return false
	}
	info, err := f.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}
