package triage

import (
	"math"
	"slices"

	"merlon/internal/finding"
	"merlon/internal/severity"
)

// This file holds the formulas: what to do first, and how a project stands.

// A RiskLevel is a band of a project's risk score, by its name on the wire.
type RiskLevel string

// The risk levels.
const (
	CriticalRisk RiskLevel = "critical"
	HighRisk     RiskLevel = "high"
	MediumRisk   RiskLevel = "medium"
	LowRisk      RiskLevel = "low"
)

// RiskLevels lists every risk level, the worst first.
var RiskLevels = []RiskLevel{CriticalRisk, HighRisk, MediumRisk, LowRisk}

// LevelOf returns the band of a risk score.
func LevelOf(score int64) RiskLevel {
	switch {
	case score >= 80:
		return CriticalRisk
	case score >= 50:
		return HighRisk
	case score >= 20:
		return MediumRisk
	}
	return LowRisk
}

// Risk returns what an active finding adds to its project's risk score, in
// thousandths, so that sums of it are exact. cvss is 0 when there is none; one
// outside of the severity's band counts as the end of the band.
func Risk(s finding.Severity, cvss float64) int64 {
	if cvss <= 0 {
		cvss = typicalCVSS(s)
	}
	var points float64
	switch s {
	case finding.Critical:
		points = 15 + (clamp(cvss, 9, 10)-9)*5
	case finding.High:
		points = 5 + (clamp(cvss, 7, 8.9)-7)*5/1.9
	case finding.Medium:
		points = 2 + (clamp(cvss, 4, 6.9)-4)*2/2.9
	default:
		points = 1
	}
	return int64(math.Round(points * 1000))
}

// RiskScore rounds a sum of thousandths.
func RiskScore(thousandths int64) int64 { return int64(math.Round(float64(thousandths) / 1000)) }

// typicalCVSS is the score of a flaw that has none: the middle of its severity's
// band.
func typicalCVSS(s finding.Severity) float64 {
	switch s {
	case finding.Critical:
		return 9.5
	case finding.High:
		return 7.95
	case finding.Medium:
		return 5.45
	}
	return 2
}

// clamp limits a value to a range.
func clamp(v, low, high float64) float64 { return max(low, min(high, v)) }

// The weights of a priority's parts. Where there is no probability of exploitation
// (EPSS), the others share its weight.
const (
	weightCVSS    = 0.35
	weightEPSS    = 0.25
	weightExploit = 0.25
	weightContext = 0.15
)

// Factors are what a priority is made of.
type Factors struct {
	CVSS           float64 // 0 to 10
	Scored         bool    // EPSS is known
	EPSS           float64 // percentile, 0 to 1
	Exploitability float64 // 0 to 1
	Context        float64 // how much the project matters, 0 to 1
}

// The exploitability of a flaw of which nothing is known, of one in code that does
// not reach production, of one that a live scan has used, and of one that attackers are
// known to use.
const (
	Theoretical       = 0.35
	NotExploitable    = 0.05
	Proven            = 0.75
	ActivelyExploited = 0.95
)

// Unspecified is the context of a project of which nothing is known.
const Unspecified = 0.5

// Composite returns the priority score in thousandths.
func (f Factors) Composite() int {
	score := weightCVSS*f.CVSS/10 + weightExploit*f.Exploitability + weightContext*f.Context
	weight := weightCVSS + weightExploit + weightContext
	if f.Scored {
		score += weightEPSS * f.EPSS
		weight += weightEPSS
	}
	return int(math.Round(score / weight * 1000))
}

// PriorityOf returns the band of a priority score in thousandths.
func PriorityOf(score int) Priority {
	switch {
	case score >= 800:
		return CriticalUrgent
	case score >= 600:
		return Urgent
	case score >= 400:
		return Normal
	case score >= 200:
		return LowPriority
	}
	return VeryLow
}

// A threat is what a rule's advisory says of how bad a flaw is.
type threat struct {
	cvss      float64 // 0 when there is none
	epss      float64 // percentile
	scored    bool    // epss is known
	exploited bool    // by somebody, as is known
}

// threatOf returns what is known of the exploitation of the rule's advisory.
func threatOf(r *finding.Rule) threat {
	a := r.Advisory
	if a == nil {
		return threat{}
	}
	// A malicious package is an attack that goes on.
	t := threat{cvss: clamp(a.CVSS, 0, 10), exploited: a.KEV != nil || a.Malicious}
	if a.EPSS != nil {
		t.epss, t.scored = clamp(a.EPSS.Percentile, 0, 1), true
	}
	return t
}

// factorsOf returns what is known of a reported finding, which a live scan may have
// proven.
func factorsOf(f *finding.Finding, t threat, proven bool) Factors {
	out := Factors{CVSS: t.cvss, Scored: t.scored, EPSS: t.epss, Exploitability: Theoretical, Context: Unspecified}
	if t.exploited {
		out.Exploitability = ActivelyExploited
	}
	if t.cvss <= 0 {
		out.CVSS = typicalCVSS(f.Severity)
	}
	if f.Package != nil && isUnreachable(f.Package.Reach) && !t.exploited {
		out.Exploitability = 0
	}
	// A dependency's file says where it is declared, not where it runs.
	if f.Package == nil && isOutsideProduction(f.Location.Path) {
		out.Exploitability = NotExploitable
	}
	if proven && !t.exploited {
		out.Exploitability = Proven
	}
	return out
}

// isExploitedByScan reports whether a live scan has used the flaw that it reports: by a payload, or by
// answers that it compares. What is seen in one answer, such as a header that is missing,
// is a fact and no attack, and what is of low severity does no harm by being shown.
func isExploitedByScan(f *finding.Finding) bool {
	l := f.Live
	return l != nil && (l.Payload != "" || len(l.Exchanges) > 1) && f.Severity != finding.Low &&
		f.Confidence != finding.LowConfidence
}

// Rank returns the score of the finding's priority, in thousandths, and the priority that
// follows from it, with what its rule says now.
func (f *Finding) Rank() (int, Priority) {
	t := threatOf(&f.Rule)
	score := factorsOf(&f.Report, t, f.Proven || isExploitedByScan(&f.Report)).Composite()
	return score, priorityOf(&f.Report, score, t)
}

// isUnreachable reports whether no source of the program imports a package.
func isUnreachable(r *finding.Reach) bool { return r != nil && r.Verdict == finding.NotFound }

// priorityOf returns the priority of a reported finding. That flawed code of a
// dependency is called makes it one step more urgent; that nothing imports the
// dependency makes it the least urgent, unless it is known to be attacked: what is
// installed can do harm by that alone.
func priorityOf(f *finding.Finding, score int, t threat) Priority {
	p := PriorityOf(score)
	if f.Package == nil || f.Package.Reach == nil {
		return p
	}
	switch f.Package.Reach.Verdict {
	case finding.Reachable:
		return Priorities[max(slices.Index(Priorities, p)-1, 0)]
	case finding.NotFound:
		if !t.exploited {
			return VeryLow
		}
	}
	return p
}

// isOutsideProduction reports whether the file's path says that it is a test, an example,
// documentation or vendored code.
func isOutsideProduction(file string) bool {
	c := severity.ContextOf(file)
	return c.Harmless() || c == severity.Vendored
}
