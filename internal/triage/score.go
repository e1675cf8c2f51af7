package triage

import (
	"math"
	"path"
	"strings"

	"merlon/internal/finding"
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

func clamp(v, low, high float64) float64 { return max(low, min(high, v)) }

// The weights of a priority's parts. The probability of exploitation (EPSS)
// would weigh 0.25; no data source for it is connected, so the others share its
// weight.
const (
	weightCVSS    = 0.35
	weightExploit = 0.25
	weightContext = 0.15
)

// Factors are what a priority is made of.
type Factors struct {
	CVSS           float64 // 0 to 10
	Exploitability float64 // 0 to 1
	Context        float64 // how much the project matters, 0 to 1
}

// The exploitability of a flaw of which nothing is known, and of one in code that
// does not reach production.
const (
	Theoretical    = 0.35
	NotExploitable = 0.05
)

// Unspecified is the context of a project of which nothing is known.
const Unspecified = 0.5

// Composite returns the priority score in thousandths.
func (f Factors) Composite() int {
	score := weightCVSS*f.CVSS/10 + weightExploit*f.Exploitability + weightContext*f.Context
	return int(math.Round(score / (weightCVSS + weightExploit + weightContext) * 1000))
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

// factorsOf returns what is known of a reported finding.
func factorsOf(f *finding.Finding, cvss float64) Factors {
	out := Factors{CVSS: cvss, Exploitability: Theoretical, Context: Unspecified}
	if cvss <= 0 {
		out.CVSS = typicalCVSS(f.Severity)
	}
	// A dependency's file says where it is declared, not where it runs.
	if f.Package == nil && Demoted(f.Location.Path) {
		out.Exploitability = NotExploitable
	}
	return out
}

// demotedFolders are names of folders whose code does not reach production.
var demotedFolders = map[string]bool{
	"test": true, "tests": true, "__tests__": true, "testdata": true, "spec": true, "fixtures": true, "e2e": true,
	"vendor": true, "node_modules": true, "third_party": true,
	"example": true, "examples": true, "sample": true, "samples": true, "demo": true,
}

// Demoted reports whether the file's path says that it is a test, an example or
// somebody else's code.
func Demoted(file string) bool {
	dir, base := path.Split(strings.ToLower(file))
	for _, folder := range strings.Split(dir, "/") {
		if demotedFolders[folder] {
			return true
		}
	}
	stem, _, _ := strings.Cut(base, ".")
	return strings.HasSuffix(stem, "_test") || strings.HasPrefix(stem, "test_") ||
		strings.Contains(base, ".test.") || strings.Contains(base, ".spec.")
}
