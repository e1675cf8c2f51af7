package scans

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"mime"
	"mime/multipart"
	"strings"
	"time"

	"merlon/internal/api/endpoint"
	"merlon/internal/errs"
	"merlon/internal/finding"
	"merlon/internal/run"
	"merlon/internal/scan"
	"merlon/internal/tenant"
)

// Scans starts, shows and ends scans, and takes what they are to look at.
type Scans interface {
	// Start creates a scan that waits for its archive, and returns the URL for the upload.
	Start(ctx context.Context, sc tenant.Scope, in run.Start) (run.Started, error)
	// StartWith creates a scan with its archive, read from the request.
	StartWith(ctx context.Context, sc tenant.Scope, in run.Start, archive io.Reader) (run.Started, error)
	// StartImage queues a scan of a container image, which the worker pulls.
	StartImage(ctx context.Context, sc tenant.Scope, in run.Start, image run.Image) (run.Run, error)
	// Upload takes the archive for a token; size is -1 when the request does not declare it.
	Upload(ctx context.Context, token string, archive io.Reader, size int64) error
	Run(ctx context.Context, sc tenant.Scope, id run.ID) (run.Run, error)
	Runs(ctx context.Context, sc tenant.Scope, q run.Query) ([]run.Run, int, error)
	// Cancel ends a scan. A running one ends with the next heartbeat of its worker.
	Cancel(ctx context.Context, sc tenant.Scope, id run.ID) (run.Run, error)
	TargetScans
}

// TargetScans starts scans of running applications, and has them wait.
type TargetScans interface {
	// StartTarget queues a dynamic scan. described says that the target has API descriptions.
	StartTarget(ctx context.Context, sc tenant.Scope, in run.Start, t run.Target, described bool) (run.Run, error)
	// Pause and Resume apply to dynamic scans only; others give a Conflict error.
	Pause(ctx context.Context, sc tenant.Scope, id run.ID) (run.Run, error)
	Resume(ctx context.Context, sc tenant.Scope, id run.ID) (run.Run, error)
}

// startScanInput is read as a stream: the body is JSON, a form, or missing.
type startScanInput struct {
	ProjectID string `path:"projectId" format:"uuid"`
	endpoint.Stream
}

// startScanOutput has the URL for the upload, which is used up when the archive came with a form.
type startScanOutput struct {
	Body struct {
		Success           bool     `json:"success"`
		Message           string   `json:"message"`
		ScanID            string   `json:"scanId" format:"uuid"`
		URL               string   `json:"url" doc:"Signed URL for the PUT of the zip archive. Valid for one upload within one hour; needs no access token."`
		DetectedLanguages []string `json:"detectedLanguages" doc:"Languages detected by the last scan of the project."`
	}
}

// StartScan takes all three ways of starting: JSON, nothing at all, and a form
// with the archive in it.
func (a *Handlers) StartScan(ctx context.Context, sc tenant.Scope, in *startScanInput) (*startScanOutput, error) {
	out := &startScanOutput{}
	var started run.Started
	// A missing or malformed content type is treated as JSON.
	kind, params, err := mime.ParseMediaType(in.Content.ContentType)
	if err == nil && kind == "multipart/form-data" {
		started, err = a.startFromForm(ctx, sc, multipart.NewReader(in.Content, params["boundary"]))
		out.Body.Message = "Archive uploaded; scan queued"
	} else {
		started, err = a.startFromJSON(ctx, sc, in.Content)
		out.Body.Message = "Scan created: upload the archive to the upload URL"
	}
	if err != nil {
		return nil, err
	}
	out.Body.Success, out.Body.ScanID, out.Body.URL = true, string(started.Run.ID), started.UploadURL
	out.Body.DetectedLanguages = started.Languages
	if out.Body.DetectedLanguages == nil {
		out.Body.DetectedLanguages = []string{}
	}
	return out, nil
}

// maxStartBody bounds a JSON body, and each field of a form, in bytes.
const maxStartBody = 64 << 10

// startFromJSON starts a scan whose archive is uploaded later. An empty body has all defaults.
func (a *Handlers) startFromJSON(ctx context.Context, sc tenant.Scope, body io.Reader) (run.Started, error) {
	text, err := readSmall(body)
	if err != nil {
		return run.Started{}, err
	}
	var in struct {
		Branch     string `json:"branch"`
		SourceType string `json:"sourceType"`
	}
	if text = bytes.TrimSpace(text); len(text) > 0 {
		if err := json.Unmarshal(text, &in); err != nil {
			return run.Started{}, errs.E(errs.Invalid,
				"invalid body: must be empty, a JSON object with the strings branch and sourceType, or "+
					"multipart/form-data with a file")
		}
	}
	return a.Scans.Start(ctx, sc, run.Start{Branch: in.Branch, Source: run.Source(strings.ToLower(in.SourceType))})
}

// readSmall reads a text of at most maxStartBody.
func readSmall(r io.Reader) ([]byte, error) {
	text, err := io.ReadAll(io.LimitReader(r, maxStartBody+1))
	if err != nil {
		return nil, errs.Wrap(errs.Invalid, err, "incomplete request body")
	}
	if len(text) > maxStartBody {
		return nil, errs.E(errs.TooLarge, "a form field or JSON body must be at most %d bytes; send the archive to "+
			"the upload URL or as a file of the form", maxStartBody)
	}
	return text, nil
}

// maxFormParts bounds the fields before the file of a form.
const maxFormParts = 32

// startFromForm starts a scan with the first file of a form.
func (a *Handlers) startFromForm(ctx context.Context, sc tenant.Scope, form *multipart.Reader) (run.Started, error) {
	var in run.Start
	for range maxFormParts {
		part, err := form.NextPart()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return run.Started{}, errs.Wrap(errs.Invalid, err, "invalid multipart form: malformed part or boundary")
		}
		// The archive: any part with a file name, or the part with the documented name. It is
		// passed on as a stream; fields behind it cannot be read before it.
		if part.FileName() != "" || part.FormName() == "scan" {
			started, err := a.Scans.StartWith(ctx, sc, in, part)
			if err != nil {
				return started, err
			}
			return started, a.checkNoFieldFollows(ctx, sc, started, form)
		}
		text, err := readSmall(part)
		if err != nil {
			return run.Started{}, err
		}
		switch part.FormName() {
		case "branch":
			in.Branch = string(text)
		case "sourceType":
			in.Source = run.Source(strings.ToLower(string(text)))
		}
	}
	return run.Started{}, errs.E(errs.Invalid, "missing file in the form: send the zip archive as the part named scan")
}

// checkNoFieldFollows makes sure that no field stands behind the file: it would have
// come too late to count, and the findings would go to another branch than its
// sender thinks. Such a scan is cancelled.
func (a *Handlers) checkNoFieldFollows(ctx context.Context, sc tenant.Scope, started run.Started,
	form *multipart.Reader) error {
	part, err := form.NextPart()
	if err != nil || part.FormName() != "branch" && part.FormName() != "sourceType" {
		return nil // the file is whole: how the form ends does not matter
	}
	_, err = a.Scans.Cancel(ctx, sc, started.Run.ID)
	return errors.Join(errs.E(errs.Invalid, "form field %s after the file: send it before the file", part.FormName()),
		err)
}

// uploadInput has the signed token of the URL and the archive, unread.
type uploadInput struct {
	Token string `path:"token"`
	endpoint.Stream
}

// PutUpload takes the source archive of a scan. The signed token in the URL authorizes it: the
// client that uploads need not be the one that started the scan.
func (a *Handlers) PutUpload(ctx context.Context, _ tenant.Scope, in *uploadInput) (*endpoint.OutcomeOutput, error) {
	if err := a.Scans.Upload(ctx, in.Token, in.Content, in.Content.Size); err != nil {
		return nil, err
	}
	return endpoint.NewOutcome("Archive uploaded; scan queued"), nil
}

// scanInput names a scan.
type scanInput struct {
	ProjectID string `path:"projectId" format:"uuid"`
	ScanID    string `path:"scanId" format:"uuid"`
}

// scanOutput is one scan.
type scanOutput struct{ Body ScanBody }

// runID returns the run that the address names.
func (in *scanInput) runID() (run.ID, error) {
	id, err := tenant.ParseID("scanId", in.ScanID)
	return run.ID(id), err
}

// GetScan responds with a scan and the status of each analyzer.
func (a *Handlers) GetScan(ctx context.Context, sc tenant.Scope, in *scanInput) (*scanOutput, error) {
	r, err := a.findScan(ctx, sc, in)
	if err != nil {
		return nil, err
	}
	return &scanOutput{Body: a.showScan(r)}, nil
}

// findScan reads the scan that the address names.
func (a *Handlers) findScan(ctx context.Context, sc tenant.Scope, in *scanInput) (run.Run, error) {
	id, err := in.runID()
	if err != nil {
		return run.Run{}, err
	}
	return a.Scans.Run(ctx, sc, id)
}

// CancelScan cancels a scan that has not ended.
func (a *Handlers) CancelScan(ctx context.Context, sc tenant.Scope, in *scanInput) (*scanOutput, error) {
	id, err := in.runID()
	if err != nil {
		return nil, err
	}
	r, err := a.Scans.Cancel(ctx, sc, id)
	if err != nil {
		return nil, err
	}
	return &scanOutput{Body: a.showScan(r)}, nil
}

// ScanSummary is a scan in a list.
type ScanSummary struct {
	ID              string           `json:"id" format:"uuid"`
	Name            string           `json:"name"`
	State           run.State        `json:"state" enum:"queued,running,completed,completed_degraded,failed"`
	Language        []string         `json:"language"`
	ProjectID       tenant.ProjectID `json:"projectId" format:"uuid"`
	Private         bool             `json:"private"`
	InitiatorUserID tenant.UserID    `json:"initializerUserId,omitempty"`
	CreatedAt       time.Time        `json:"createAt"`
	UpdatedAt       time.Time        `json:"updatedAt"`
	ScanType        string           `json:"scanType" enum:"source,container,live"`
	StartTime       *time.Time       `json:"startTime,omitempty"`
	EndTime         *time.Time       `json:"endTime,omitempty"`
	// Always empty; clients of the first generation iterate over it.
	Containers   []struct{} `json:"containers"`
	Progress     int        `json:"progress" minimum:"0" maximum:"100"`
	Step         string     `json:"step"`
	Detected     *int       `json:"vulnerabilityDetected,omitempty" doc:"Number of findings that the scan reported."`
	ErrorMessage string     `json:"errorMessage,omitempty"`
	// Set for failed scans only, as the message and category beside it.
	ErrorCode     *int         `json:"errorCode,omitempty"`
	ErrorCategory run.Category `json:"errorCategory,omitempty" enum:"authentication,cloud_provider,network,scan,api,unknown"`

	Image      string             `json:"image,omitempty" doc:"Full reference of the scanned container image."`
	Credential string             `json:"credentialId,omitempty" doc:"ID of the registry credential used to pull the image."`
	Severities []finding.Severity `json:"severities,omitempty" doc:"Severities that the scan opens and resolves findings of; omitted for all."`
	TargetID   string             `json:"targetId,omitempty" format:"uuid" doc:"ID of the scanned target (running application)."`
	TargetURL  string             `json:"targetUrl,omitempty" doc:"Base URL of the target."`
	Profile    scan.Profile       `json:"profile,omitempty" enum:"passive,safe,standard,full" doc:"Profile of the dynamic scan: how intrusive it is."`
	Paused     *bool              `json:"paused,omitempty" doc:"Only for dynamic scans: the scan is paused until it is resumed."`
	Branch     string             `json:"branch"`
	SourceType run.Source         `json:"sourceType"`
	Analyses   []finding.Analysis `json:"analyses" doc:"Type of the scan, as requested when it started."`
	Findings   finding.Profile    `json:"findingProfile" enum:"default,all" doc:"Profile of findings: which findings the scan reports."`
	Fast       bool               `json:"fast" doc:"Source code was analyzed file by file within a time limit."`
	Cancelled  bool               `json:"cancelled"`
	Attempt    int                `json:"attempt" doc:"Number of attempts to run the scan."`
	Suspicious bool               `json:"suspicious" doc:"The scan resolved more than 30 % and more than 20 findings at once; the wrong archive may have been uploaded."`
	Changes    *run.Changes       `json:"changes,omitempty" doc:"Changes to the findings of the branch."`
}

// ScanBody is everything about a scan.
type ScanBody struct {
	ScanSummary
	Analyzers  []AnalyzerStatus  `json:"analyzers" doc:"Status and coverage gaps of each analyzer."`
	Warnings   []string          `json:"warnings" doc:"Warnings, such as unavailable sandbox protections."`
	Advisories *AdvisoryDataBody `json:"advisories,omitempty" doc:"Vulnerability data that the scan used."`
}

// AnalyzerStatus says how one analyzer ended.
type AnalyzerStatus struct {
	Analyzer   string           `json:"analyzer"`
	Analysis   finding.Analysis `json:"analysis"`
	State      scan.State       `json:"state" enum:"succeeded,degraded,failed"`
	Reasons    []scan.Reason    `json:"reasons"`
	Omitted    int              `json:"omitted" doc:"Number of reasons not stored."`
	Files      int              `json:"files"`
	Findings   int              `json:"findings"`
	Ignored    int              `json:"ignored" doc:"Number of findings suppressed by the ignore file."`
	Outside    int              `json:"outsideProfile" doc:"Number of findings that the profile of the project leaves out."`
	DurationMS int64            `json:"durationMs"`
}

// AdvisoryDataBody says which vulnerability data a scan used, and how old it was.
type AdvisoryDataBody struct {
	Digest   string         `json:"digest"`
	Records  int            `json:"records"`
	Imported time.Time      `json:"imported"`
	Newest   time.Time      `json:"newest" doc:"Time of the latest modification of a record."`
	AgeHours int64          `json:"ageHours" doc:"Age of the data at the scan, in hours."`
	Ages     scan.Freshness `json:"ages" doc:"Age of each data source at the end of the scan, in days."`

	EPSS *scan.FeedData `json:"epss,omitempty" doc:"Version of the EPSS scores used."`
	KEV  *scan.FeedData `json:"kev,omitempty" doc:"Version of the KEV catalogue used."`
}

// scanSummary returns the run in the terms of the wire.
func scanSummary(r *run.Run) ScanSummary {
	s := ScanSummary{
		ID: string(r.ID), Name: "Scan of " + r.Branch, State: r.State, Language: endpoint.OrEmpty(r.Languages),
		ProjectID: r.ProjectID,
		Private:   r.Private, InitiatorUserID: r.Initiator, CreatedAt: r.CreatedAt, UpdatedAt: r.UpdatedAt,
		ScanType:   "source",
		Containers: []struct{}{}, Progress: r.Progress, Step: r.Step,
		Branch: r.Branch, SourceType: r.Source, Analyses: endpoint.OrEmpty(r.Analyses), Fast: r.Fast,
		Findings:  r.FindingProfile,
		Cancelled: r.Cancelled,
		Attempt:   r.Attempt,
	}
	if r.Image != nil {
		s.Name, s.ScanType, s.Image = "Scan of "+r.Image.Reference, "container", r.Image.Reference
		s.Credential, s.Severities = r.Image.Credential, r.Image.Severities
	}
	if t := r.Target; t != nil {
		s.Name, s.ScanType, s.TargetID, s.TargetURL, s.Profile = "Scan of "+t.Name, "live", t.ID, t.URL, t.Profile
		s.Paused = &r.Paused
	}
	if !r.StartedAt.IsZero() {
		s.StartTime = &r.StartedAt
	}
	if !r.EndedAt.IsZero() {
		s.EndTime = &r.EndedAt
	}
	if r.State == run.Failed && r.Failure != nil {
		s.ErrorMessage, s.ErrorCode, s.ErrorCategory = r.Failure.Message, &r.Failure.Code, r.Failure.Category
	}
	// A failed scan changed nothing: it has no numbers.
	if r.State == run.Completed || r.State == run.CompletedDegraded {
		c := r.Outcome.Changes
		s.Detected, s.Changes, s.Suspicious = &c.Found, &c, c.Suspicious
	}
	return s
}

// showScan returns the scan with the status of each analyzer and the data that it used.
func (a *Handlers) showScan(r run.Run) ScanBody {
	out := ScanBody{ScanSummary: scanSummary(&r), Analyzers: []AnalyzerStatus{},
		Warnings: endpoint.OrEmpty(r.Outcome.Warnings)}
	for _, s := range r.Outcome.Statuses {
		out.Analyzers = append(out.Analyzers, AnalyzerStatus{
			Analyzer: s.Analyzer, Analysis: s.Analysis, State: s.State, Reasons: endpoint.OrEmpty(s.Reasons),
			Omitted: s.Omitted,
			Files:   s.Files, Findings: s.Findings, Ignored: s.Ignored,
			Outside: s.OutsideProfile, DurationMS: s.Duration.Milliseconds(),
		})
	}
	if d := r.Outcome.Advisories; d != nil {
		out.Advisories = &AdvisoryDataBody{
			Digest: d.Digest, Records: d.Records, Imported: d.Imported, Newest: d.Newest,
			// The clock of the importing machine may be ahead of the worker's.
			AgeHours: int64(max(0, r.EndedAt.Sub(d.Imported)) / time.Hour), Ages: d.Freshness(r.EndedAt), EPSS: d.EPSS,
			KEV: d.KEV,
		}
	}
	return out
}

// listScansInput selects a page of scans.
type listScansInput struct {
	ProjectID string `path:"projectId" format:"uuid"`
	Branch    string `query:"branch" doc:"Only scans of this branch."`
	endpoint.ClampedPage
}

// listScansOutput is a page of scans without the details of their analyzers.
type listScansOutput struct {
	Body struct {
		Scans      []ScanSummary `json:"scans" doc:"Records, newest first."`
		TotalScans int           `json:"totalScans"`
		TotalPages int           `json:"totalPages"`
	}
}

// ListScans lists the scans of a project, newest first.
func (a *Handlers) ListScans(ctx context.Context, sc tenant.Scope, in *listScansInput) (*listScansOutput, error) {
	page, size := in.Get()
	// The offset must fit into 32 bits.
	if page > 1<<31/endpoint.MaxPageSize {
		return nil, errs.E(errs.Invalid, "page %d not found", page)
	}
	runs, total, err := a.Scans.Runs(ctx, sc, run.Query{Branch: in.Branch, Offset: (page - 1) * size, Limit: size})
	if err != nil {
		return nil, err
	}
	out := &listScansOutput{}
	out.Body.Scans = []ScanSummary{}
	for i := range runs {
		out.Body.Scans = append(out.Body.Scans, scanSummary(&runs[i]))
	}
	out.Body.TotalScans, out.Body.TotalPages = total, endpoint.Pages(total, size)
	return out, nil
}
