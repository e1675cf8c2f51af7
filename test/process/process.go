// Package process runs programs as a user does and measures what they cost: wall
// and processor time, and memory over the whole process group.
package process

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// A Cost is what one run of a program used.
// Costs of several runs can be added; Peak is then that of the most expensive run.
type Cost struct {
	Wall time.Duration
	CPU  time.Duration // user and system, of the process and the children it waited for
	Peak int64         // bytes resident in the whole process group at once
}

// Add sums times and keeps the higher peak.
func (c *Cost) Add(other Cost) {
	c.Wall += other.Wall
	c.CPU += other.CPU
	c.Peak = max(c.Peak, other.Peak)
}

// A Command is a program to run.
// Args begins with the program. Timeout has to be set: zero ends the run at once.
type Command struct {
	Dir     string // working folder; empty for the present one
	Args    []string
	Timeout time.Duration
}

// An Output is what a program said and cost.
type Output struct {
	Stdout, Stderr []byte
	Code           int // exit code
	Cost
}

// sampleEvery is how often the memory of the group is looked at.
// Short against the seconds of a scan, and rare enough not to cost processor time itself.
const sampleEvery = 200 * time.Millisecond

// Run runs the command to its end. A program that ends with an exit code is no
// error; one that does not start, or is killed, is. Of one that was stopped, what it
// said and cost until then comes with the error.
func (c Command) Run(ctx context.Context) (*Output, error) {
	ctx, cancel := context.WithTimeout(ctx, c.Timeout)
	defer cancel()
	cmd := exec.CommandContext(ctx, c.Args[0], c.Args[1:]...)
	cmd.Dir = c.Dir
	// A group of its own, so that its children can be measured and ended with it.
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	// After that the pipes are closed, in case a child in another group keeps them open.
	cmd.WaitDelay = time.Second
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	began := time.Now()
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("start %s: %w", c.Args[0], err)
	}
	stop, peak := make(chan struct{}), make(chan int64)
	go watchMemory(cmd.Process.Pid, stop, peak)
	err := cmd.Wait()
	wall := time.Since(began)
	close(stop)
	out := &Output{Stdout: stdout.Bytes(), Stderr: stderr.Bytes(), Cost: readCost(cmd.ProcessState, wall, <-peak)}
	var exited *exec.ExitError
	// The order matters: a process that was killed by the timeout also has an ExitError.
	switch {
	case ctx.Err() != nil:
		return out, fmt.Errorf("%s: stopped after %s: %w", c.Args[0], wall.Round(time.Second), ctx.Err())
	case errors.As(err, &exited) && exited.Exited():
		out.Code = exited.ExitCode()
	case err != nil:
		return nil, fmt.Errorf("run %s: %w: %s", c.Args[0], err, Tail(out.Stderr))
	}
	return out, nil
}

// readCost reads what the kernel counted. Its peak is that of the largest process,
// and does not miss what falls between two samples of the group.
func readCost(state *os.ProcessState, wall time.Duration, peak int64) Cost {
	out := Cost{Wall: wall, CPU: state.UserTime() + state.SystemTime(), Peak: peak}
	if usage, ok := state.SysUsage().(*syscall.Rusage); ok {
		// Linux reports Maxrss in kilobytes (getrusage(2)).
		out.Peak = max(out.Peak, usage.Maxrss<<10)
	}
	return out
}

// watchMemory sends the highest sum of the resident memory of the group's processes.
func watchMemory(group int, stop <-chan struct{}, peak chan<- int64) {
	tick := time.NewTicker(sampleEvery)
	// Shared pages are counted once for each process, so the sum is an upper bound.
	defer tick.Stop()
	var highest int64
	for {
		select {
		case <-stop:
			peak <- highest
			return
		case <-tick.C:
			highest = max(highest, residentBytes(group))
		}
	}
}

// residentBytes returns the bytes resident in the processes of the group, from
// /proc/PID/stat (proc(5): field 5 is the group, field 24 the resident pages).
func residentBytes(group int) int64 {
	names, err := filepath.Glob("/proc/[0-9]*/stat")
	if err != nil {
		return 0
	}
	var pages int64
	for _, name := range names {
		b, err := os.ReadFile(name)
		if err != nil {
			continue // it has ended
		}
		// The name of the program is in parentheses and may hold spaces.
		// In proc(5) the fields are numbered from 1 and the name is field 2, so rest begins with
		// field 3.
		_, rest, _ := strings.Cut(string(b), ") ")
		fields := strings.Fields(rest)
		if len(fields) < 22 || fields[2] != strconv.Itoa(group) {
			continue
		}
		n, err := strconv.ParseInt(fields[21], 10, 64)
		if err == nil {
			pages += n
		}
	}
	return pages * int64(os.Getpagesize())
}

// Tail returns the end of what a program wrote, for an error.
// 400 bytes are the last lines, which have the error in most programs.
func Tail(b []byte) string {
	const most = 400
	s := strings.TrimSpace(string(b))
	if len(s) > most {
		s = "…" + s[len(s)-most:]
	}
	return s
}
