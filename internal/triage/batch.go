package triage

import (
	"errors"
	"time"

	"merlon/internal/finding"
	"merlon/internal/run"
	"merlon/internal/scan"
)

// This file declares what passes between triage and the store while a scan is
// applied.

// ErrBranchChanged says that somebody else changed the branch or decided something
// since it was read. Whoever gets it reads again and starts over.
var ErrBranchChanged = errors.New("the branch was changed meanwhile")

// A Branch is how a branch of a project stands.
type Branch struct {
	Name     string
	Version  int64 // grows with every change of the branch by a scan
	Revision int64 // grows with every decision in the project
	Scanned  bool  // a scan of source has been applied as a whole
	// Base is the branch whose flaws a branch that was never scanned is compared
	// with; empty when there is none.
	Base      string
	Decisions map[Digest]PriorDecision // by flaw
}

// PriorDecision is what was decided about a flaw.
type PriorDecision struct {
	Status   Status   // empty when nothing was
	Priority Priority // empty when nothing was
}

// Existing is what is known of a finding on a branch before a scan.
type Existing struct {
	ID         ID
	Place      Digest // finding.Fingerprint.Place
	Code       Digest // finding.Fingerprint.Flaw
	Flaw       Digest
	Analyzer   string
	Rule       string // see RuleID
	Path       string
	Line       int
	Gone       bool
	Sum        uint64 // of what was reported last
	Proves     Digest // of a live scan: the place of the finding of the source that is the same flaw
	Proven     bool   // of the source: the priority counts that a live scan shows it
	Bucket     Bucket
	Risk       int64 // thousandths of the project's score
	Pinned     bool
	UpdatedAt  time.Time
	LastRun    run.ID // the last run that changed it
	LastEffect Effect // what that run did
}

// An Effect is what a run did to a finding.
type Effect uint8

// The effects of a run.
const (
	NoEffect Effect = iota
	Opened
	Reopened
	Moved
	Changed
	Closed  // resolved while it was active
	Dropped // resolved while it was not
)

// A FindingRow is a finding as a scan leaves it: a new one, or one whose content
// changed.
type FindingRow struct {
	ID     ID
	New    bool
	Place  Digest
	Code   Digest
	Flaw   Digest
	RuleID string // UUID
	Bucket Bucket
	Pinned bool
	Score  int // of the priority, thousandths
	CVSS   float64
	Risk   int64 // thousandths
	Sum    uint64
	Proves Digest // as Known's
	Effect Effect
	Report *finding.Finding
}

// A Bucket is what findings are counted by.
type Bucket struct {
	Analysis finding.Analysis
	Severity finding.Severity
	Status   Status
	Priority Priority
}

// A AnalysisSeverity is what days are counted by.
type AnalysisSeverity struct {
	Analysis finding.Analysis
	Severity finding.Severity
}

// AnalysisSeverity returns what the days of the cell are counted by.
func (c Bucket) AnalysisSeverity() AnalysisSeverity { return AnalysisSeverity{c.Analysis, c.Severity} }

// A Count is the number of findings in a cell and what they add to the risk
// score, in thousandths; both may be negative in a difference.
type Count struct {
	N    int
	Risk int64
}

// A Counts is a difference in the number of findings by cell.
type Counts map[Bucket]Count

// addCount counts n findings with the risk each.
func (c Counts) addCount(cell Bucket, n int, risk int64) {
	v := c[cell]
	v.N += n
	v.Risk += int64(n) * risk
	if v == (Count{}) {
		delete(c, cell)
		return
	}
	c[cell] = v
}

// Move counts that a finding with the risk went from one cell to another.
func (c Counts) Move(from, to Bucket, risk int64) {
	c.addCount(from, -1, risk)
	c.addCount(to, 1, risk)
}

// Remove counts that a finding with the risk is no more.
func (c Counts) Remove(cell Bucket, risk int64) { c.addCount(cell, -1, risk) }

// A Batch is a part of what a scan changes, written in one transaction.
type Batch struct {
	Run      *run.Run // the batch is refused when the run has another attempt by now
	Branch   string
	Version  int64 // the batch is refused when the branch or the decisions have others
	Revision int64

	Rules    []StoredRule
	Rows     []FindingRow
	Resolved []ID // resolved, because the scan did not find them
	Changes  []Change
	Renamed  map[Digest]Digest // place → flaw, for places that are later places of a flaw
	Packages []StoredPackage

	// Operations are recorded with the run, from the number FirstOperation on.
	Operations     []finding.Operation
	FirstOperation int

	Removed []string // identifiers of packages
	// What the scanned image holds now and did not before, and findings and packages that
	// it holds no longer.
	AddedFindings, AddedPackages, RemovedFromImage []string
	Counts                                         Counts
	Opened                                         map[AnalysisSeverity]int // new findings
	Solved                                         map[AnalysisSeverity]int // resolved findings

	Summary *ScanSummary // set in the last batch of a scan
}

// ScanSummary is what the last batch of a scan says of the scan as a whole.
type ScanSummary struct {
	Statuses      []scan.Status
	Analyses      []AnalysisCoverage // what of the branch was looked at
	Languages     []string           // empty to leave the project's
	Image         *Image             // what was scanned; nil for source
	ExpiredImages []string           // images that are kept no longer

	Operations int // how many the run has told of; what an earlier attempt told beyond is gone
}

// A StoredRule is a rule with its identifier inside the organization.
type StoredRule struct {
	ID   string
	Sum  uint64
	Rule finding.Rule
}

// A StoredPackage is a package of a branch with its identifier.
type StoredPackage struct {
	ID      string
	Sum     uint64
	Package finding.Package
}

// A ExistingPackage is what is known of a package before a scan.
type ExistingPackage struct {
	ID      string
	Path    string
	InImage bool // a container image holds it
	Sum     uint64
}

// analysis returns the analysis that looks for the package.
func (p *ExistingPackage) analysis() finding.Analysis {
	if p.InImage {
		return finding.Container
	}
	return finding.SCA
}

// rowCount is the number of rows that the batch writes.
func (b *Batch) rowCount() int {
	return len(b.Rows) + len(b.Resolved) + len(b.Rules) + len(b.Packages) + len(b.Removed) + len(b.AddedFindings) +
		len(b.AddedPackages) + len(b.RemovedFromImage) + len(b.Operations)
}

// newBatch returns an empty batch.
func newBatch(r *run.Run) *Batch {
	return &Batch{
		Run: r, Branch: r.Branch, Counts: Counts{}, Renamed: map[Digest]Digest{},
		Opened: map[AnalysisSeverity]int{}, Solved: map[AnalysisSeverity]int{},
	}
}
