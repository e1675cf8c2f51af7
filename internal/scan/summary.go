package scan

import (
	"slices"
	"strings"

	"merlon/internal/finding"
)

// A Summary is a Handler that counts the messages of a scan. The zero value is ready.
type Summary struct {
	Setup      Config                   // the scan's first message
	Findings   map[finding.Severity]int // by severity
	Cleared    map[finding.Severity]int // those that a VEX statement clears
	ByAnalysis map[finding.Analysis]int
	Packages   int
	Operations map[finding.Outcome]int // of a running application
	Created    []finding.Operation     // operations that created objects in the application
	// Authorization counts the operations of an API by the reason why their authorization was
	// not tested; "": it was tested.
	Authorization map[string]int
	Statuses      []Status
}

// Complete reports whether every analyzer analyzed all code of the project.
func (s *Summary) Complete() bool { return len(s.Incomplete()) == 0 }

// Incomplete returns the statuses of the analyzers with coverage gaps.
func (s *Summary) Incomplete() []Status {
	var out []Status
	for _, st := range s.Statuses {
		if st.State != Succeeded {
			out = append(out, st)
		}
	}
	return out
}

// Skipped returns the files that analyzers excluded by design, each path once, in order.
func (s *Summary) Skipped() []Reason {
	out := s.skippedReasons(func(r Reason) bool { return !slices.Contains(uncheckedCodes, r.Code) })
	slices.SortStableFunc(out, func(a, b Reason) int { return strings.Compare(a.Path, b.Path) })
	return slices.CompactFunc(out, func(a, b Reason) bool { return a.Path == b.Path })
}

// Unchecked returns the reasons for what was read and could not be checked, because neither the
// tree nor the vulnerability data has it.
func (s *Summary) Unchecked() []Reason {
	return s.skippedReasons(func(r Reason) bool { return slices.Contains(uncheckedCodes, r.Code) })
}

// skippedReasons returns the reasons that degrade nothing and that keep accepts.
func (s *Summary) skippedReasons(keep func(Reason) bool) []Reason {
	var out []Reason
	for _, st := range s.Statuses {
		for _, r := range st.Reasons {
			if r.Skipped && keep(r) {
				out = append(out, r)
			}
		}
	}
	return out
}

// AtLeast counts the findings of the severity and above, without those that a VEX statement
// clears.
func (s *Summary) AtLeast(least finding.Severity) int {
	n := 0
	for severity, count := range s.Findings {
		if severity.Rank() >= least.Rank() {
			n += count - s.Cleared[severity]
		}
	}
	return n
}

// Total counts the findings.
func (s *Summary) Total() int {
	n := 0
	for _, count := range s.Findings {
		n += count
	}
	return n
}

// Config resets the summary for a new scan.
func (s *Summary) Config(m *Config) error {
	*s = Summary{Setup: *m, Findings: map[finding.Severity]int{}, Cleared: map[finding.Severity]int{},
		ByAnalysis: map[finding.Analysis]int{}, Operations: map[finding.Outcome]int{}, Authorization: map[string]int{}}
	return nil
}

// Progress does nothing.
func (s *Summary) Progress(*Progress) error { return nil }

// Rule does nothing.
func (s *Summary) Rule(*finding.Rule) error { return nil }

// Package counts a dependency.
func (s *Summary) Package(*finding.Package) error {
	s.Packages++
	return nil
}

// Finding counts a finding.
func (s *Summary) Finding(m *finding.Finding) error {
	s.Findings[m.Severity]++
	s.ByAnalysis[m.Analysis]++
	if m.Package != nil && m.Package.VEX.Clears() {
		s.Cleared[m.Severity]++
	}
	return nil
}

// Operation counts the outcome of an operation.
func (s *Summary) Operation(m *finding.Operation) error {
	s.Operations[m.Outcome]++
	if a := m.Authorization; a != nil {
		s.Authorization[a.Reason]++
	}
	if len(m.Created) > 0 {
		s.Created = append(s.Created, *m)
	}
	return nil
}

// Status records the status of an analyzer.
func (s *Summary) Status(m *Status) error {
	s.Statuses = append(s.Statuses, *m)
	return nil
}

// Tee returns a Handler that sends every message to each of the handlers, in order, and stops at
// the first error.
func Tee(handlers ...Handler) Handler { return tee(handlers) }

// tee is a list of handlers that receive the same messages.
type tee []Handler

// forEach calls f with each handler until one fails.
func (t tee) forEach(f func(Handler) error) error {
	for _, h := range t {
		if err := f(h); err != nil {
			return err
		}
	}
	return nil
}

func (t tee) Config(m *Config) error { return t.forEach(func(h Handler) error { return h.Config(m) }) }
func (t tee) Progress(m *Progress) error {
	return t.forEach(func(h Handler) error { return h.Progress(m) })
}
func (t tee) Rule(m *finding.Rule) error {
	return t.forEach(func(h Handler) error { return h.Rule(m) })
}
func (t tee) Package(m *finding.Package) error {
	return t.forEach(func(h Handler) error { return h.Package(m) })
}
func (t tee) Finding(m *finding.Finding) error {
	return t.forEach(func(h Handler) error { return h.Finding(m) })
}
func (t tee) Operation(m *finding.Operation) error {
	return t.forEach(func(h Handler) error { return h.Operation(m) })
}
func (t tee) Status(m *Status) error { return t.forEach(func(h Handler) error { return h.Status(m) }) }
