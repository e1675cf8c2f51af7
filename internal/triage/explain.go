package triage

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"merlon/internal/finding"
)

// This file takes a priority apart, for those who want to know where it comes from.

// A PriorityExplanation is what a finding's priority is made of today. What its parts
// weigh adds up to one, and what they contribute to the score, exactly.
type PriorityExplanation struct {
	Factors Factors
	Score   int // thousandths

	// Of the score, in thousandths.
	CVSSPart, EPSSPart, ExploitPart, ContextPart int
	// 0 to 1.
	CVSSWeight, EPSSWeight, ExploitWeight, ContextWeight float64

	Verdict    Exploitability
	Reason     string // of the verdict, for people
	Adjustment string // why the priority is not that of the score, for people; empty when it is
}

// An Exploitability says in a word what is known of attacks, by its name on the wire.
type Exploitability string

// The verdicts on exploitability.
const (
	NotExploitableVerdict Exploitability = "not_exploitable"
	TheoreticalVerdict    Exploitability = "theoretical"
	ProvenVerdict         Exploitability = "proven"
	ExploitedVerdict      Exploitability = "actively_exploited"
)

// ExplainPriority takes the priority of a finding apart, with what its rule says now: its
// advisory may have been renewed by a scan of another project.
func ExplainPriority(f *Finding) PriorityExplanation {
	t := threatOf(&f.Rule)
	d := PriorityExplanation{Factors: factorsOf(&f.Report, t, f.Proven || isExploitedByScan(&f.Report))}
	d.Score = d.Factors.Composite()
	total := weightCVSS + weightExploit + weightContext
	if d.Factors.Scored {
		total += weightEPSS
		d.EPSSWeight = weightEPSS / total
	}
	d.CVSSWeight, d.ExploitWeight, d.ContextWeight = weightCVSS/total, weightExploit/total, weightContext/total
	parts := roundShares(d.Score, []float64{d.CVSSWeight * d.Factors.CVSS / 10, d.EPSSWeight * d.Factors.EPSS,
		d.ExploitWeight * d.Factors.Exploitability, d.ContextWeight * d.Factors.Context})
	d.CVSSPart, d.EPSSPart, d.ExploitPart, d.ContextPart = parts[0], parts[1], parts[2], parts[3]
	d.setExploitability(f, t)
	d.explainAdjustment(f, t)
	return d
}

// roundShares rounds shares of one to thousandths that add up to the sum: those that
// lose most by rounding down get what is left.
func roundShares(sum int, shares []float64) []int {
	out, order := make([]int, len(shares)), make([]int, len(shares))
	lost := make([]float64, len(shares))
	for i, s := range shares {
		down := math.Floor(s * 1000)
		out[i], order[i], lost[i] = int(down), i, s*1000-down
		sum -= out[i]
	}
	slices.SortStableFunc(order, func(a, b int) int {
		switch {
		case lost[a] > lost[b]:
			return -1
		case lost[a] < lost[b]:
			return 1
		}
		return 0
	})
	for _, i := range order {
		if sum <= 0 {
			break
		}
		out[i]++
		sum--
	}
	return out
}

// setExploitability says what is known of attacks.
func (d *PriorityExplanation) setExploitability(f *Finding, t threat) {
	a, match := f.Rule.Advisory, f.Report.Package
	switch {
	case t.exploited && a.KEV == nil:
		d.Verdict, d.Reason = ExploitedVerdict, "the package itself is an attack"
	case t.exploited:
		d.Verdict, d.Reason = ExploitedVerdict, "it is in the catalogue of known exploited vulnerabilities"
		if a.KEV.Added != "" {
			d.Reason += " since " + a.KEV.Added
		}
		if a.KEV.Ransomware {
			d.Reason += ", and ransomware uses it"
		}
	case isExploitedByScan(&f.Report):
		d.Verdict, d.Reason = ProvenVerdict, "the scan has used it in the running application"
	case f.Proven:
		d.Verdict, d.Reason = ProvenVerdict, "a live scan has used it in the running application"
	case match != nil && isUnreachable(match.Reach):
		d.Verdict, d.Reason = NotExploitableVerdict, "nothing uses the package: "+match.Reach.Reason
	case match == nil && isOutsideProduction(f.Report.Location.Path):
		d.Verdict, d.Reason = NotExploitableVerdict, "the file's path indicates a test, an example or third-party code"
	default:
		d.Verdict, d.Reason = TheoreticalVerdict, "no attack is known"
		if t.scored {
			d.Reason += fmt.Sprintf("; its probability of exploitation is higher than that of %.1f %% of all "+
				"vulnerabilities", 100*t.epss)
		}
	}
}

// explainAdjustment says why the priority is not the one of the score.
func (d *PriorityExplanation) explainAdjustment(f *Finding, t threat) {
	band := PriorityOf(d.Score)
	after := priorityOf(&f.Report, d.Score, t)
	switch {
	case f.Pinned:
		d.Adjustment = "the priority was set manually"
	case after != band && f.Report.Package.Reach.Verdict == finding.Reachable:
		d.Adjustment = fmt.Sprintf("the score alone says %s; one step more urgent, because the flawed code "+
			"is called", spellPriority(band))
	case after != band:
		d.Adjustment = fmt.Sprintf("the score alone says %s; the least urgent, because nothing imports the "+
			"package", spellPriority(band))
	case after != f.Priority:
		d.Adjustment = "what is known of the vulnerability has changed since the last scan: the next one will " +
			"make it " +
			spellPriority(after)
	}
}

// spellPriority is a priority as people write it.
func spellPriority(p Priority) string { return strings.ReplaceAll(string(p), "_", " ") }
