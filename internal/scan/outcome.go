package scan

import (
	"cmp"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"sync"

	"merlon/internal/finding"
)

// This file collects and sorts the results of one analyzer call.

// outcome is the result of one analyzer call.
type outcome struct {
	limit int // findings

	mu         sync.Mutex
	closed     bool // the call was abandoned; later results are discarded
	hits       []hit
	packages   []finding.Package
	operations []finding.Operation
	reasons    []Reason
	omitted    int
	degraded   bool // an omitted reason was of code of the project
	ignored    int
	failed     bool // the result is not usable
	files      int  // files that an Image analyzer analyzed
}

// hit is a finding with its rule.
type hit struct {
	rule *finding.Rule
	finding.Finding
	points int // of the severity model
}

// newReporter returns the functions through which the analyzer reports. A finding without a
// path is in the file at.
func (o *outcome) newReporter(at string) Reporter {
	return Reporter{
		Report: func(rule *finding.Rule, f finding.Finding) {
			if f.Location.Path == "" {
				f.Location.Path = at
			}
			o.addHit(hit{rule: rule, Finding: f}, at)
		},
		Package: func(p finding.Package) {
			o.mu.Lock()
			defer o.mu.Unlock()
			if !o.closed {
				o.packages = append(o.packages, p)
			}
		},
		Degrade: func(r Reason) {
			if r.Path == "" {
				r.Path = at
			}
			o.addReason(r)
		},
	}
}

// addHit validates and records a finding, up to the limit. An analyzer derives paths and
// identities from untrusted files, so a malformed finding is a reason and not a crash.
func (o *outcome) addHit(h hit, at string) {
	if name := strings.ToValidUTF8(h.Location.Path, "?"); h.rule == nil || !fs.ValidPath(name) || name == "." {
		o.addReason(Reason{Code: "error", Message: fmt.Sprintf("a finding without a rule, or at the impossible "+
			"path %q", h.Location.Path), Path: at})
		return
	}
	if h.Secret != nil && h.Identity == "" {
		o.addReason(Reason{Code: "error", Message: "a secret without an identity", Path: at})
		return
	}
	o.mu.Lock()
	full := !o.closed && len(o.hits) == o.limit
	if !full && !o.closed {
		o.hits = append(o.hits, h)
	}
	o.mu.Unlock()
	if full {
		o.addReason(Reason{Code: "too-many-findings", Message: fmt.Sprintf("more than %d findings; the rest is "+
			"left out", o.limit), Path: at})
	}
}

// addReason records a reason unless it repeats the previous one.
func (o *outcome) addReason(r Reason) {
	o.mu.Lock()
	defer o.mu.Unlock()
	r.Message = truncateText(r.Message, maxText)
	switch {
	case o.closed || len(o.reasons) > 0 && o.reasons[len(o.reasons)-1].equal(r):
	case len(o.reasons) == MaxReasons:
		o.omitted++
		o.degraded = o.degraded || !r.Skipped
	default:
		o.reasons = append(o.reasons, r)
	}
}

// addOperation records the outcome of an operation, up to a limit.
func (o *outcome) addOperation(op finding.Operation, limit int) {
	o.mu.Lock()
	full := !o.closed && len(o.operations) >= limit
	if !full && !o.closed {
		op.URL, op.Reason = truncateText(op.URL, maxText), truncateText(op.Reason, maxText)
		o.operations = append(o.operations, op)
	}
	o.mu.Unlock()
	if full {
		o.addReason(Reason{Code: "too-many-operations", Message: fmt.Sprintf("more than %d operations; the rest is "+
			"left out", limit)})
	}
}

// close closes the outcome: an abandoned goroutine cannot change it later.
func (o *outcome) close() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.closed = true
}

// sortAll sorts by position and removes duplicates, so that the result does not depend on the
// scheduling of the analyzer's goroutines.
func (o *outcome) sortAll() {
	slices.SortStableFunc(o.hits, func(a, b hit) int {
		return cmp.Or(compareLocations(a.Location, b.Location), cmp.Compare(a.rule.ID, b.rule.ID),
			cmp.Compare(a.Message, b.Message), cmp.Compare(a.Identity, b.Identity))
	})
	o.hits = slices.CompactFunc(o.hits, func(a, b hit) bool {
		return a.Location == b.Location && a.rule.ID == b.rule.ID && a.Message == b.Message && a.Identity == b.Identity
	})
	slices.SortStableFunc(o.packages, func(a, b finding.Package) int {
		return cmp.Or(cmp.Compare(a.Path, b.Path), cmp.Compare(a.Line, b.Line), cmp.Compare(a.Ecosystem, b.Ecosystem),
			cmp.Compare(a.Name, b.Name), cmp.Compare(a.Version, b.Version))
	})
	slices.SortStableFunc(o.operations, func(a, b finding.Operation) int {
		return cmp.Or(cmp.Compare(a.URL, b.URL), cmp.Compare(a.Method, b.Method))
	})
	slices.SortStableFunc(o.reasons, func(a, b Reason) int {
		return cmp.Or(cmp.Compare(a.Path, b.Path), cmp.Compare(a.Line, b.Line), cmp.Compare(a.Code, b.Code),
			cmp.Compare(a.Message, b.Message))
	})
}

// compareLocations orders locations by path and position.
func compareLocations(a, b finding.Location) int {
	return cmp.Or(cmp.Compare(a.Path, b.Path), cmp.Compare(a.StartLine, b.StartLine),
		cmp.Compare(a.StartColumn, b.StartColumn),
		cmp.Compare(a.EndLine, b.EndLine), cmp.Compare(a.EndColumn, b.EndColumn))
}
