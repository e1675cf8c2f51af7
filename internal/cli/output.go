package cli

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"time"

	"merlon/internal/finding"
	"merlon/internal/scan"
)

// reportOptions say where the report of a scan goes and which findings count.
type reportOptions struct {
	Output string `placeholder:"FILE" help:"Write the report to the file instead of standard output. Written atomically, also when there are no findings."`
	FailOn string `enum:"critical,high,medium,low,none" default:"low" help:"Lowest severity that causes exit code 1, or none."`
}

// writeReport writes the report of what tell tells, and decides the exit code.
func (o *reportOptions) writeReport(host Host, format string, tell func(scan.Handler) error) error {
	out := &output{path: o.Output, stdout: host.Stdout}
	// After commitFile it has nothing to do.
	defer out.discardFile()
	// The summary counts beside the report, whatever its format.
	var summary scan.Summary
	report := newReport(format, out)
	if err := tell(scan.Tee(&summary, report)); err != nil {
		return err
	}
	if err := report.Close(); err != nil {
		return err
	}
	// The report is complete before the exit code is decided, so code 1 never comes without one.
	if err := out.commitFile(); err != nil {
		return err
	}
	return exitError(&summary, finding.Severity(o.FailOn))
}

// output is where a command's result goes: standard output, or a file that
// appears under its name when it is whole. The file is made at the first write,
// which is after a scan has listed its tree, so that a report inside the scanned
// folder is not part of what it reports on.
type output struct {
	path   string // empty: standard output
	stdout io.Writer
	file   *os.File
	// A pipe such as /dev/stdout or a process substitution cannot be renamed over.
	direct bool // a pipe or device, which nothing may replace
}

// Write writes to the file under its temporary name.
func (o *output) Write(b []byte) (int, error) {
	if o.path == "" {
		return o.stdout.Write(b)
	}
	if o.file == nil {
		if err := o.openFile(); err != nil {
			return 0, err
		}
	}
	return o.file.Write(b)
}

// openFile creates the temporary file beside the target, or opens the target itself when it is a
// pipe or a device.
func (o *output) openFile() error {
	info, err := os.Stat(o.path)
	if err == nil && info.IsDir() {
		return fmt.Errorf("write %s: it is a folder", o.path)
	}
	if o.direct = err == nil && !info.Mode().IsRegular(); o.direct {
		o.file, err = os.OpenFile(o.path, os.O_WRONLY, 0)
	} else {
		// Nobody can guess the name: a scanned repository may hold links beside the report (CWE-59).
		name := filepath.Join(filepath.Dir(o.path), fmt.Sprintf(".%s.%s.tmp", filepath.Base(o.path), rand.Text()))
		o.file, err = os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	}
	if err != nil {
		return fmt.Errorf("write %s: %w", o.path, err)
	}
	return nil
}

// commitFile gives the file its name.
func (o *output) commitFile() error {
	if o.path == "" {
		return nil
	}
	// No message was written, for example in an empty stream: the file has to exist all the same.
	if o.file == nil {
		if err := o.openFile(); err != nil {
			return err
		}
	}
	err := o.file.Close()
	if err == nil && !o.direct {
		err = os.Rename(o.file.Name(), o.path)
	}
	if err != nil {
		return fmt.Errorf("write %s: %w", o.path, err)
	}
	o.file = nil
	return nil
}

// discardFile removes what was not finished.
func (o *output) discardFile() {
	if o.file == nil {
		return
	}
	_ = o.file.Close() // what it holds is thrown away
	if !o.direct {
		if err := os.Remove(o.file.Name()); err != nil && !errors.Is(err, fs.ErrNotExist) {
			_, _ = fmt.Fprintln(os.Stderr, "merlon:", err) // the command's own error comes first
		}
	}
	o.file = nil
}

// The rest of this file shows the progress of a live scan where there is no terminal, such as in CI.

// heartbeatEvery is the time between two lines.
const heartbeatEvery = 30 * time.Second

// startHeartbeat writes a line about the scan to w every 30 seconds, unless w is a terminal. The
// function that it returns ends that.
func startHeartbeat(w io.Writer, m *scan.Monitor) (stop func()) {
	// A terminal has the progress line of newProgressHandler.
	if isTerminal(w) {
		return func() {}
	}
	ticker := time.NewTicker(heartbeatEvery)
	done := make(chan struct{})
	var writer sync.WaitGroup
	// The WaitGroup lets stop return after the last line, so no line is written into the report.
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
			// Before the first request there is no state: routes of --source are analyzed, or the
			// browser starts.
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
	// Also true for /dev/null, where nothing is lost.
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}
