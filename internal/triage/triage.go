// Package triage decides what becomes of findings from scan to scan: it matches
// what a scan reports with what is known of the branch, opens, resolves and
// reopens findings, carries people's decisions along, and scores the result.
//
// A flaw is one mistake in the code of a project; a finding is that flaw on one
// branch. Findings of the same flaw share their Flaw, and a decision is about the
// flaw: it holds on every branch and for every later scan.
//
// The rules of the life of a finding, in one place:
//
//   - new on its branch: to_verify, or what was decided about the flaw elsewhere;
//   - not reported by a scan whose analyzer looked at its place: resolved;
//   - reported again: the same finding, ignored if that was decided, else
//     to_verify;
//   - marked resolved by a person, but reported by a later scan: to_verify;
//   - an analyzer that did not run, failed, or did not look at the place changes
//     nothing there;
//   - a scan of a container image looks at the paths of that image's repository and
//     at no others; what another image of the repository holds is not gone, and
//     packages in images are the business of such scans alone.
package triage

import (
	"context"
	"time"

	"merlon/internal/finding"
	"merlon/internal/run"
	"merlon/internal/tenant"
)

// ID identifies a finding: a UUID in lower-case text.
type ID string

// A Status says what the team makes of a finding, by its name on the wire.
type Status string

// The statuses of a finding.
const (
	ToVerify  Status = "to_verify"
	Confirmed Status = "confirmed"
	Resolved  Status = "resolved"
	Ignored   Status = "ignored"
)

// Statuses lists every status, in the order in which they sort.
var Statuses = []Status{ToVerify, Confirmed, Resolved, Ignored}

// Active reports whether a finding with the status still asks for work.
func (s Status) Active() bool { return s == ToVerify || s == Confirmed }

// A Priority says what to do first, by its name on the wire.
type Priority string

// The priorities of a finding.
const (
	CriticalUrgent Priority = "critical_urgent"
	Urgent         Priority = "urgent"
	Normal         Priority = "normal"
	LowPriority    Priority = "low"
	VeryLow        Priority = "very_low"
)

// Priorities lists every priority, the most urgent first.
var Priorities = []Priority{CriticalUrgent, Urgent, Normal, LowPriority, VeryLow}

// A Finding is a flaw on a branch: what the last scan that saw it reported, and
// what is known of it beyond that.
type Finding struct {
	ID        ID
	ProjectID tenant.ProjectID
	Branch    string
	Flaw      Digest // shared by the findings of the same flaw on all branches
	Status    Status
	Gone      bool // the last scan that looked at its place did not report it
	Priority  Priority
	Score     int  // priority score in thousandths, 0 to 1000
	Pinned    bool // a person chose the priority
	Proven    bool // of the source: an open finding of a live scan of the branch shows it
	CVSS      float64
	Fixable   bool // an upgrade or an edit that clears it is known
	Report    finding.Finding
	Rule      finding.Rule
	RuleID    string // UUID of the rule inside the organization
	FirstRun  run.ID
	LastRun   run.ID // the last run that changed it
	CreatedAt time.Time
	UpdatedAt time.Time
	// ResolvedAt is when the finding was last resolved; zero while it is not.
	ResolvedAt time.Time
	History    []Change // oldest first
}

// A Change is an entry of a finding's history.
type Change struct {
	ID       string
	Flaw     Digest
	Finding  ID // empty for a decision, which holds on every branch
	At       time.Time
	Kind     ChangeKind
	Value    string
	Previous string
	Reason   string         // for people
	Run      run.ID         // set for an automatic change
	By       tenant.UserID  // set for a person's change
	User     *tenant.Member // who By is; read with the change, nil when the account is gone
}

// A ChangeKind says what of a finding changed.
type ChangeKind string

// The kinds of change.
const (
	StatusChange   ChangeKind = "status"
	PriorityChange ChangeKind = "priority"
	SeverityChange ChangeKind = "severity"
	CommentChange  ChangeKind = "comment"
	PathChange     ChangeKind = "path"
)

// A Store is what Ingest needs of the database.
type Store interface {
	// Branch reads how a branch of the scope's project stands.
	Branch(ctx context.Context, sc tenant.Scope, branch string) (*Branch, error)
	// Known calls each for every finding of the branch.
	Known(ctx context.Context, sc tenant.Scope, branch string, each func(Existing) error) error
	// KnownPackages calls each for every package of the branch.
	KnownPackages(ctx context.Context, sc tenant.Scope, branch string, each func(ExistingPackage) error) error
	// Holdings returns what the images hold whose repository the run looks at.
	Holdings(ctx context.Context, sc tenant.Scope, r *run.Run) (*ImageContents, error)
	// RuleSums returns the sums of those of the rules that the organization has.
	RuleSums(ctx context.Context, sc tenant.Scope, ids []string) (map[string]uint64, error)
	// Renamed returns the flaws of those places that are later places of a flaw.
	Renamed(ctx context.Context, sc tenant.Scope, places []Digest) (map[Digest]Digest, error)
	// Apply writes a batch in one transaction, or returns ErrBranchChanged.
	Apply(ctx context.Context, sc tenant.Scope, b *Batch) error
}

// A Triage applies scans to findings.
type Triage struct {
	store Store

	// BatchSize is how many rows a transaction writes, about. Smaller ones keep
	// other writers waiting for a shorter time, and write more.
	BatchSize int
}

// New returns a Triage over the store.
func New(store Store) *Triage { return &Triage{store, batchSize} }
