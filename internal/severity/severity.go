// Package severity computes how severe a finding is, in the same way for every analyzer: the
// impact of the weakness, changed by the context of the place. The result tells a team when to
// act: critical now, high this week, medium when it plans, low as hygiene.
//
// The model counts steps. The impact is worth 4 points for critical, 3 for high, 2 for medium
// and 1 for low. Each term of the context adds or subtracts points. The sum, at most 4, is the
// severity. A finding whose sum is below 1 is still of low severity, but belongs to the profile
// for audits: nobody acts on a hardening advice in a test fixture.
package severity

import (
	"fmt"
	"slices"
	"strings"

	"merlon/internal/finding"
)

// The changes of the severity that a context makes. Analyzers use them for their own terms.
const (
	// Raised is for what gives an attacker more than the weakness alone: a mounted container
	// socket, a token with write access, a vulnerable function that the program calls.
	Raised = 1
	// Lowered is for what runs, but not in production or not with the flaw: development set-ups,
	// builder stages, development dependencies, vendored and generated code.
	Lowered = -1
	// Harmless is for what does not run in any deployment: tests, fixtures, examples and
	// documentation.
	Harmless = -2
)

// Weigh computes the severity of the finding from its impact, which the analyzer has set as its
// severity, its terms, and the context of its path, whose term it adds. It returns the sum of
// points, which is below 1 for a finding that belongs to the profile for audits.
func Weigh(f *finding.Finding) int {
	if t, ok := pathTerm(f); ok {
		f.Terms = append(slices.Clip(f.Terms), t)
	}
	points := f.Severity.Rank()
	for _, t := range f.Terms {
		points += t.Points
	}
	if len(f.Terms) > 0 {
		f.Impact = f.Severity
	}
	f.Severity = fromPoints(points)
	return points
}

// pathTerm returns the term for the context of the path. Findings of running applications and of
// images have none: their paths are URLs, or files of a file system that is deployed.
func pathTerm(f *finding.Finding) (finding.SeverityTerm, bool) {
	if f.Live != nil || f.Layer != nil || f.Analysis == finding.Container {
		return finding.SeverityTerm{}, false
	}
	c := ContextOf(f.Location.Path)
	return finding.SeverityTerm{Points: c.Points(), Reason: string(c)}, c != Production
}

// fromPoints returns the severity of a sum of points.
func fromPoints(points int) finding.Severity {
	return finding.Severities[4-min(max(points, 1), 4)]
}

// Explain returns how the severity of the finding came about, for people: "impact critical, -1
// development set-up". It is empty for a finding whose context changes nothing.
func Explain(f *finding.Finding) string {
	if len(f.Terms) == 0 {
		return ""
	}
	var b strings.Builder
	fmt.Fprintf(&b, "impact %s", f.Impact)
	for _, t := range f.Terms {
		fmt.Fprintf(&b, ", %+d %s", t.Points, t.Reason)
	}
	return b.String()
}
