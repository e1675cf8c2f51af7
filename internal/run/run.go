// Package run describes a run: one scan of one project as the service sees it,
// from the request to the findings. What a scan is for an analyzer stands in
// package scan.
package run

import (
	"slices"
	"strings"
	"time"

	"merlon/internal/finding"
	"merlon/internal/scan"
	"merlon/internal/tenant"
)

// ID identifies a run: the scanId of the wire.
type ID string

// A State is where a run stands, by its name on the wire. The last three are
// final.
type State string

const (
	Queued            State = "queued"             // waits for its upload, or for a free place
	Running           State = "running"            // a worker is at it
	Completed         State = "completed"          // every analyzer looked at everything
	CompletedDegraded State = "completed_degraded" // results hold, but something was not looked at
	Failed            State = "failed"             // nothing was changed in the findings
)

// States lists every state.
var States = []State{Queued, Running, Completed, CompletedDegraded, Failed}

// Final reports whether the run has ended.
func (s State) Final() bool { return s == Completed || s == CompletedDegraded || s == Failed }

// A Source says what started a run, by its name on the wire.
type Source string

// Sources lists every source, the default first.
var Sources = []Source{"manual", "cli", "github", "gitlab", "jetbrains", "vscode"}

// A Run is one scan of one project. A worker that takes it raises Attempt; only
// the holder of the present attempt may change the run or the findings.
type Run struct {
	ID             ID
	OrganizationID tenant.OrganizationID
	TeamID         tenant.TeamID // read with the run, never written
	ProjectID      tenant.ProjectID
	Branch         string
	Source         Source
	Private        bool
	Analyses       []finding.Analysis // what was asked for when it started
	Fast           bool               // source code is analysed file by file, in limited time
	FindingProfile finding.Profile    // which findings the run reports
	Image          *Image             // what is scanned instead of an upload; nil for source
	Target         *Target            // a running application that is scanned instead; nil for others
	Paused         bool               // waits, or is about to wait, until somebody resumes it
	Initiator      tenant.UserID      // empty when nobody asked
	State          State
	Uploaded       bool      // what is to be scanned is there
	UploadExpires  time.Time // when the upload address ends to hold
	Archive        string    // key in blob storage; empty before the upload and after the end
	Size           int64     // of the archive in bytes
	Attempt        int       // how many workers have taken it: later than any other, it holds the run
	Tries          int       // how many of them count against MaxTries
	Cancelled      bool      // somebody asked for its end
	Progress       int       // 0 to 100
	Step           string    // for people
	Languages      []string
	Failure        *Failure // set when State is Failed
	Outcome        Outcome
	CreatedAt      time.Time
	UpdatedAt      time.Time
	StartedAt      time.Time // zero before
	EndedAt        time.Time // zero before
}

// An Image names a container image in a registry. The worker that takes the run
// fetches it.
type Image struct {
	Reference string `json:"reference"` // in full: "docker.io/library/nginx:1.27"
	// Repository is what stays of the name when the image is built again. Paths of
	// findings begin with it.
	Repository string `json:"repository"` // "docker.io/library/nginx"
	// Credential is the identifier of the stored credential that the worker fetches it
	// with; empty for a public image. The secret itself is never part of a run.
	Credential string `json:"credential,omitempty"`
	// Severities are the only ones that the run speaks of: it opens no finding of
	// another, and resolves none. Empty: all.
	Severities []finding.Severity `json:"severities,omitempty"`
}

// NeedsMasterKey reports whether the run needs a worker with the deployment's master key.
func (r *Run) NeedsMasterKey() bool {
	return r.Target != nil || r.Image != nil && r.Image.Credential != ""
}

// WaitingStep is the step of the run while no worker has it.
func (r *Run) WaitingStep() string {
	switch {
	case r.Paused:
		return StepPaused
	case r.NeedsMasterKey():
		return stepSealed
	}
	return StepQueued
}

// CoversSeverity reports whether the run says something of findings of the severity.
func (r *Run) CoversSeverity(s finding.Severity) bool {
	return r.Image == nil || len(r.Image.Severities) == 0 || slices.Contains(r.Image.Severities, s)
}

// Root returns what the paths in images of the repository begin with. No name of a
// repository holds the colon and slash at its end, so that no root is the beginning of
// another.
func (i *Image) Root() string { return i.Repository + ":/" }

// Tag returns what tells the image from others of its repository: its tag, or the
// digest that it was asked for by.
func (i *Image) Tag() string {
	rest := strings.TrimPrefix(i.Reference, i.Repository)
	if tag, ok := strings.CutPrefix(rest, ":"); ok {
		return tag
	}
	return strings.TrimPrefix(rest, "@")
}

// An Outcome is what a run found out: written once, when it ends, and stored as
// JSON.
type Outcome struct {
	Statuses   []scan.Status      `json:"statuses"`
	Warnings   []string           `json:"warnings"` // protections the scan had to do without, and the like
	Advisories *scan.AdvisoryData `json:"advisories,omitempty"`
	Changes    Changes            `json:"changes"`
}

// Changes count what a run did to the findings of its branch.
type Changes struct {
	Found     int `json:"found"`     // reported by the scan
	New       int `json:"new"`       // never seen on the branch before
	Reopened  int `json:"reopened"`  // were resolved and are back
	Unchanged int `json:"unchanged"` // still there
	Moved     int `json:"moved"`     // still there, in another place
	Resolved  int `json:"resolved"`  // gone
	Open      int `json:"open"`      // open on the branch before the run

	// Suspicious is set when the run resolved more than 30 % of what was open and
	// more than 20 findings: probably something else was uploaded.
	Suspicious bool `json:"suspicious"`
}

// MaxTries bounds how often a run is begun before it is given up, and
// MaxRetryDelay how long it waits in between.
const (
	MaxTries      = 3
	MaxRetryDelay = 5 * time.Minute
)
