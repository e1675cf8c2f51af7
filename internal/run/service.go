package run

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/google/uuid"

	"merlon/internal/errs"
	"merlon/internal/finding"
	"merlon/internal/project"
	"merlon/internal/tenant"
)

// This file holds what a person can do with runs: start, see, list, cancel.

// A Service starts and shows runs and takes their uploads.
type Service struct{ Config }

// A Config is what a Service is made of.
type Config struct {
	Store     Store
	Uploads   Uploads
	Blobs     Blobs
	Key       []byte             // signs upload addresses
	BaseURL   string             // of the API, without a slash at the end
	Available []finding.Analysis // what the program can look for
	Now       func() time.Time
	Wake      func() // says that a run may be ready; may be nil
}

// New returns a Service.
func New(c Config) *Service {
	if c.Wake == nil {
		c.Wake = func() {}
	}
	return &Service{c}
}

// Store keeps runs. Each method looks only at what the scope covers.
type Store interface {
	// RunProject returns the project of the scope.
	RunProject(ctx context.Context, sc tenant.Scope) (project.Project, error)
	// CreateRun writes a new run.
	CreateRun(ctx context.Context, sc tenant.Scope, r *Run) error
	// Run returns a run, or a NotFound error.
	Run(ctx context.Context, sc tenant.Scope, id ID) (Run, error)
	// Runs returns a page of runs, newest first, and how many there are.
	Runs(ctx context.Context, sc tenant.Scope, q Query) ([]Run, int, error)
	// CancelRun ends a run that waits, and marks one that is at work.
	CancelRun(ctx context.Context, sc tenant.Scope, id ID) (Run, error)
	// PauseRun pauses a run of a running application, or lets it go on; a Conflict when
	// it is neither or has ended.
	PauseRun(ctx context.Context, sc tenant.Scope, id ID, paused bool) (Run, error)
}

// A Query selects runs of the scope's project.
type Query struct {
	Branch string // empty for every branch
	Offset int
	Limit  int // at least 1
}

// A Start says what is to be scanned.
type Start struct {
	Branch string // empty for DefaultBranch
	Source Source // empty for the first of Sources

	Private bool // a mark that is shown with the run; it changes nothing
}

// DefaultBranch is the branch of a run that names none.
const DefaultBranch = "main"

// maxBranch bounds the name of a branch, in bytes.
const maxBranch = 255

// A Started is a new run, where to send what it is to scan, and what languages
// the project's last scan saw.
type Started struct {
	Run       Run
	UploadURL string
	Languages []string
}

// Start begins a run of the scope's project: it waits for its upload.
func (s *Service) Start(ctx context.Context, sc tenant.Scope, in Start) (Started, error) {
	if err := in.normalize(); err != nil {
		return Started{}, err
	}
	p, err := s.Store.RunProject(ctx, sc)
	if err != nil {
		return Started{}, err
	}
	now := s.Now().UTC().Truncate(time.Millisecond)
	r := Run{
		ID: ID(uuid.NewString()), OrganizationID: p.OrganizationID, TeamID: p.TeamID, ProjectID: p.ID,
		Branch: in.Branch, Source: in.Source, Analyses: s.enabledAnalyses(p.Settings),
		Fast: p.Settings.SASTFastScanEnabled, FindingProfile: p.Settings.FindingProfile,
		Initiator: sc.Actor.UserID,
		State:     Queued, UploadExpires: now.Add(tokenLifetime), Step: stepUpload,
		Languages: []string{}, CreatedAt: now, UpdatedAt: now,
	}
	if len(r.Analyses) == 0 {
		return Started{}, errs.E(errs.Conflict, "every analysis is switched off in the settings of the project")
	}
	token, err := makeToken(s.Key, r.ID, r.UploadExpires)
	if err != nil {
		return Started{}, fmt.Errorf("make an upload address: %w", err)
	}
	if err := s.Store.CreateRun(ctx, sc, &r); err != nil {
		return Started{}, err
	}
	return Started{Run: r, UploadURL: s.BaseURL + "/uploads/" + token, Languages: p.Languages}, nil
}

// StartWith begins a run with the archive that came with the request.
func (s *Service) StartWith(ctx context.Context, sc tenant.Scope, in Start, archive io.Reader) (Started, error) {
	started, err := s.Start(ctx, sc, in)
	if err != nil {
		return Started{}, err
	}
	if err := s.receiveArchive(ctx, started.Run.ID, archive, -1); err != nil {
		// Nobody has the address of this run: it would wait for nothing.
		f := &Failure{Message: "the upload failed: " + publicMessage(err), Code: CodeBadUpload, Category: CategoryAPI}
		if endErr := s.Uploads.AbandonRun(context.WithoutCancel(ctx), started.Run.ID, f); endErr != nil {
			return Started{}, fmt.Errorf("%w (and the run could not be ended: %w)", err, endErr)
		}
		return Started{}, err
	}
	return started, nil
}

// Run returns a run of the scope's project.
func (s *Service) Run(ctx context.Context, sc tenant.Scope, id ID) (Run, error) {
	return s.Store.Run(ctx, sc, id)
}

// Runs returns a page of the runs of the scope's project, newest first, and how
// many there are.
func (s *Service) Runs(ctx context.Context, sc tenant.Scope, q Query) ([]Run, int, error) {
	return s.Store.Runs(ctx, sc, q)
}

// Cancel asks for the end of a run. One that waits has ended when Cancel
// returns; one that is at work ends within seconds; one that has ended is a
// Conflict.
func (s *Service) Cancel(ctx context.Context, sc tenant.Scope, id ID) (Run, error) {
	r, err := s.Store.CancelRun(ctx, sc, id)
	if err == nil {
		s.Wake() // its place may be free now
	}
	return r, err
}

// ofSource lists the analyses that look at source code.
var ofSource = []finding.Analysis{finding.SAST, finding.SCA, finding.IaC, finding.Secret, finding.CICD}

// enabledAnalyses returns what a run of a project with the settings looks for. An
// analysis that a person switched on is part of it even when this program cannot
// make it: it ends as failed, so that nobody takes its silence for a result. The
// ones without a switch are made when they can be.
func (s *Service) enabledAnalyses(set project.Settings) []finding.Analysis {
	out := []finding.Analysis{}
	for _, a := range ofSource {
		switchless := a == finding.Secret || a == finding.CICD
		if set.Enabled(a) && (!switchless || slices.Contains(s.Available, a)) {
			out = append(out, a)
		}
	}
	return out
}

// normalize fills in the defaults, or returns an Invalid error.
func (in *Start) normalize() error {
	in.Branch = strings.TrimSpace(in.Branch)
	if in.Branch == "" {
		in.Branch = DefaultBranch
	}
	if len(in.Branch) > maxBranch || !utf8.ValidString(in.Branch) ||
		strings.ContainsFunc(in.Branch, unicode.IsControl) {
		return invalidField("branch", fmt.Sprintf("a branch is a text of at most %d bytes without control "+
			"characters", maxBranch))
	}
	if in.Source == "" {
		in.Source = Sources[0]
	}
	if !slices.Contains(Sources, in.Source) {
		return invalidField("sourceType", fmt.Sprintf("%q is not one of %v", in.Source, Sources))
	}
	return nil
}

// invalidField returns an Invalid error that names the field.
func invalidField(field, message string) error {
	return &errs.Error{Kind: errs.Invalid, Message: message,
		Details: []errs.Detail{{Location: "body." + field, Message: message}}}
}
