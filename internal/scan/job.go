package scan

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"runtime"
	"strings"
	"sync/atomic"
	"time"

	"merlon/internal/errs"
)

// This file runs one analyzer and records its status.

// A job is one analyzer in one scan.
type job struct {
	*Analyzer
	unavailable bool         // has failed before it began; never changes
	status      Status       // of the goroutine that emits only
	spent       atomic.Int64 // nanoseconds in calls
	stuck       atomic.Int32 // calls that did not end when they were told to
}

// maxStuck bounds the abandoned calls of one analyzer. A goroutine cannot be killed, so each of
// them still occupies a core; beyond the limit the analyzer is not called any more.
const maxStuck = 4

// grace is how long a call may take to end after it was told to.
const grace = 2 * time.Second

// newJob returns a job; with a reason in unmet it has failed already.
func newJob(a *Analyzer, unmet string) *job {
	j := &job{Analyzer: a, status: Status{Analyzer: a.ID, Analysis: a.Analysis, State: Succeeded, Reasons: []Reason{}}}
	if unmet != "" {
		j.unavailable = true
		j.addReason(Reason{Code: "unavailable", Message: unmet})
		j.status.State = Failed
	}
	return j
}

// addReason records a coverage gap.
func (j *job) addReason(r Reason) {
	if j.status.State == Succeeded && !r.Skipped {
		j.status.State = Degraded
	}
	r.Path = printablePath(r.Path)
	if len(j.status.Reasons) == MaxReasons {
		j.status.Omitted++
		return
	}
	j.status.Reasons = append(j.status.Reasons, r)
}

// mergeOutcome adds the result of a call to the status.
func (j *job) mergeOutcome(o *outcome) {
	for _, r := range o.reasons {
		j.addReason(r)
	}
	j.status.Omitted += o.omitted
	if o.degraded && j.status.State == Succeeded {
		j.status.State = Degraded
	}
	j.status.Ignored += o.ignored
	if o.failed {
		j.status.State = Failed
	}
}

// finalStatus returns the status with the total duration of the calls.
func (j *job) finalStatus() *Status {
	j.status.Duration = time.Duration(j.spent.Load())
	return &j.status
}

// wantsFile reports whether the analyzer requests the file. A panic in Match becomes a reason
// in the outcome.
func (j *job) wantsFile(path string, o *outcome) (wanted bool) {
	defer func() {
		if v := recover(); v != nil {
			o.addReason(panicReason(v, path))
			wanted = false
		}
	}()
	return j.Match == nil || j.Match(path)
}

// callAnalyzer runs fn in its own goroutine with a deadline, converts its error or panic into a
// reason, and abandons it when it does not return in time. It reports whether fn returned
// without an error. A crash or an endless loop in one analyzer, on a file that an attacker
// wrote, must not end the scan.
func (j *job) callAnalyzer(ctx context.Context, limit time.Duration, at string, o *outcome,
	fn func(context.Context) error) bool {
	if j.stuck.Load() >= maxStuck {
		o.addReason(Reason{Code: "timeout", Message: "not analyzed: earlier calls of the analyzer " +
			"never ended", Path: at})
		return false
	}
	began := time.Now()
	defer func() { j.spent.Add(int64(time.Since(began))) }()
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	done := make(chan Reason, 1)
	go func() {
		var r Reason
		defer func() {
			if v := recover(); v != nil {
				r = panicReason(v, at)
			}
			done <- r
		}()
		if err := fn(ctx); err != nil {
			r = reasonOf(err, at)
		}
	}()
	var r Reason
	select {
	case r = <-done:
	case <-ctx.Done():
		select {
		case r = <-done:
		case <-time.After(grace):
			j.stuck.Add(1)
		}
	}
	if r.Code == "" && ctx.Err() != nil {
		r = Reason{Code: "timeout", Path: at} // it may have stopped early without an error
	}
	if r.Code == "timeout" {
		r.Message = fmt.Sprintf("took longer than %s", limit)
	}
	if r.Code != "" {
		o.addReason(r)
	}
	o.close()
	return r.Code == ""
}

// reasonOf converts an analyzer's error into a reason.
func reasonOf(err error, at string) Reason {
	r := Reason{Code: "error", Message: err.Error(), Path: at}
	var path *fs.PathError
	switch {
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, context.Canceled):
		r.Code = "timeout"
	case errs.Is(err, errs.Invalid):
		r.Code = "malformed"
	case errs.Is(err, errs.TooLarge):
		r.Code = "too-large"
	case errors.As(err, &path):
		r.Code, r.Message = "unreadable", causeText(err)
	}
	return r
}

// panicReason converts a panic into a reason that names the function. It includes the value
// only of runtime errors: any other value may contain content of the file, such as a secret.
func panicReason(value any, at string) Reason {
	text := fmt.Sprintf("a %T", value)
	if err, ok := value.(runtime.Error); ok {
		text = err.Error()
	}
	return Reason{Code: "panic", Message: fmt.Sprintf("the analyzer crashed: %s in %s", text, panicOrigin()), Path: at}
}

// panicOrigin returns the function, file and line of the panic that is being recovered: the
// first frame below the runtime's own.
func panicOrigin() string {
	pcs := make([]uintptr, 32)
	frames := runtime.CallersFrames(pcs[:runtime.Callers(3, pcs)])
	below := false // the frames above belong to the recovery
	for {
		f, more := frames.Next()
		system := strings.HasPrefix(f.Function, "runtime.")
		below = below || system
		if below && !system {
			return fmt.Sprintf("%s (%s:%d)", f.Function, filepath.Base(f.File), f.Line)
		}
		if !more {
			return "an unknown location"
		}
	}
}
