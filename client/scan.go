package client

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"
)

// This file starts scans, uploads what they look at, and waits for them.

// A NewScan describes a scan that is to be started.
type NewScan struct {
	Branch     string `json:"branch,omitempty"`     // default "main"
	SourceType string `json:"sourceType,omitempty"` // "cli", "manual", …
}

// A StartedScan is a scan that waits for its upload.
type StartedScan struct {
	ID        string `json:"scanId"`
	UploadURL string `json:"url"` // needs no further authority; holds for one upload
}

// StartScan starts a scan of a project.
func (c *Client) StartScan(ctx context.Context, projectID string, n NewScan) (StartedScan, error) {
	var out StartedScan
	err := c.do(ctx, call{method: http.MethodPost, path: []string{"project", projectID, "scan", "start"}, in: n,
		out: &out})
	if err == nil && (out.ID == "" || out.UploadURL == "") {
		err = errors.New("the service started a scan without an address for the upload")
	}
	return out, err
}

// Upload sends a zip archive to the address of a started scan. The size is in
// bytes; -1 when it is not known. It is not repeated: what was read is gone.
func (c *Client) Upload(ctx context.Context, uploadURL string, archive io.Reader, size int64) error {
	// The transport closes what can be closed; the archive stays the caller's.
	req, err := http.NewRequestWithContext(ctx, http.MethodPut, uploadURL, io.NopCloser(archive))
	if err != nil {
		return err
	}
	req.ContentLength = size
	if size == 0 {
		req.Body = http.NoBody
	}
	req.Header.Set("Content-Type", "application/zip")
	req.Header.Set("Accept", "application/json")
	return c.once(req, nil)
}

// States of a scan.
const (
	Queued            = "queued"
	Running           = "running"
	Completed         = "completed"
	CompletedDegraded = "completed_degraded" // results hold, but something was not looked at
	Failed            = "failed"
)

// A Scan is a scan as it stands.
type Scan struct {
	ID            string     `json:"id"`
	ProjectID     string     `json:"projectId"`
	State         string     `json:"state"`
	Branch        string     `json:"branch"`
	Progress      int        `json:"progress"` // 0 to 100
	Step          string     `json:"step"`     // for people
	Languages     []string   `json:"language"`
	CreatedAt     time.Time  `json:"createAt"`
	StartTime     *time.Time `json:"startTime"`
	EndTime       *time.Time `json:"endTime"`
	Detected      int        `json:"vulnerabilityDetected"`
	ErrorMessage  string     `json:"errorMessage"`  // when it failed
	ErrorCategory string     `json:"errorCategory"` // when it failed
	Analyses      []string   `json:"analyses"`
	Analyzers     []Analyzer `json:"analyzers"`
	Warnings      []string   `json:"warnings"`
	Suspicious    bool       `json:"suspicious"` // resolved so much that something else was probably uploaded
}

// Final reports whether the scan has ended.
func (s Scan) Final() bool {
	return s.State == Completed || s.State == CompletedDegraded || s.State == Failed
}

// An Analyzer says how one analyzer of a scan ended.
type Analyzer struct {
	ID       string   `json:"analyzer"`
	Analysis string   `json:"analysis"`
	State    string   `json:"state"` // "succeeded", "degraded" or "failed"
	Reasons  []Reason `json:"reasons"`
	Omitted  int      `json:"omitted"` // further reasons that were not kept
	Files    int      `json:"files"`
	Findings int      `json:"findings"`
	Millis   int64    `json:"durationMs"`
}

// A Reason says what an analyzer did not look at.
type Reason struct {
	Code    string   `json:"code"`
	Message string   `json:"message"`
	Path    string   `json:"path"`
	Line    int      `json:"line"`
	Rules   []string `json:"rules"` // that the reason is about; empty: all
	// Paths takes the place of Path where one cause concerns several files.
	Paths []string `json:"paths,omitempty"`
	// Beyond says that other places may be missing besides.
	Beyond bool `json:"beyond"`
	// Skipped marks what was passed over by design, such as minified files.
	Skipped bool `json:"skipped,omitempty"`
}

// Scan returns a scan as it stands.
func (c *Client) Scan(ctx context.Context, projectID, scanID string) (Scan, error) {
	var out Scan
	err := c.do(ctx, call{method: http.MethodGet, path: []string{"project", projectID, "scan", scanID}, out: &out})
	return out, err
}

// pollEvery is how often WaitScan asks at most; it begins at a tenth of it.
const pollEvery = 5 * time.Second

// WaitScan waits until a scan has ended, for as long as the context lasts. Each
// time that it asks, seen gets the scan as it stands.
func (c *Client) WaitScan(ctx context.Context, projectID, scanID string, seen func(Scan)) (Scan, error) {
	for every := pollEvery / 10; ; every = min(every*3/2, pollEvery) {
		s, err := c.Scan(ctx, projectID, scanID)
		if err != nil {
			return s, fmt.Errorf("ask for scan %s: %w", scanID, err)
		}
		seen(s)
		if s.Final() {
			return s, nil
		}
		if err := wait(ctx, every); err != nil {
			return s, err
		}
	}
}

// CancelScan asks for the end of a scan.
func (c *Client) CancelScan(ctx context.Context, projectID, scanID string) error {
	return c.do(ctx, call{method: http.MethodPost, path: []string{"project", projectID, "scan", scanID, "cancel"}})
}
