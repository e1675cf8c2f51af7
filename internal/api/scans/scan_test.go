package scans_test

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"mime/multipart"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"merlon/internal/api"
	"merlon/internal/api/apitest"
	"merlon/internal/api/scans"
	"merlon/internal/errs"
	"merlon/internal/finding"
	"merlon/internal/run"
	"merlon/internal/scan"
	"merlon/internal/tenant"
)

// An upload that is refused ends its scan, and the scan says why.
func TestRefusedUpload(t *testing.T) {
	apitest.EachWorld(t, func(t *testing.T, w *apitest.World) {
		for body, want := range map[string]string{"this is text": "not a zip archive", "": "empty"} {
			started := w.AsPerson("developer").Post(w.Project+"/scan/start", map[string]any{"branch": "main"}).Want(200)
			address := strings.TrimPrefix(started.Text("url"), apitest.BaseURL)
			w.Runner.As("").Do("PUT", address, strings.NewReader(body)).Want(400)
			got := w.AsPerson("developer").Get(w.Project + "/scan/" + started.Text("scanId")).Want(200)
			if got.Text("state") != "failed" || !strings.Contains(got.Text("errorMessage"), want) ||
				got.Value("errorCode") != 102.0 {
				t.Errorf("the scan is %s: %v", got.Text("state"), got.Value("errorMessage"))
			}
			if status := w.Runner.As("").Do("PUT", address,
				strings.NewReader("PK\x03\x04")).Status; !slices.Contains([]int{409, 410}, status) {
				t.Errorf("the address takes another upload: %d", status)
			}
		}
	})
}

const (
	projectID = "0198c0de-0000-8000-8000-000000000001"
	scanID    = "0198c0de-0000-8000-8000-000000000002"
)

// fakeScans records what it was asked for. Methods that a test does not set
// panic.
type fakeScans struct {
	scans.Scans
	start    run.Start
	archive  string
	token    string
	run      run.Run
	query    run.Query
	uploaded error

	cancelled run.ID
}

func (f *fakeScans) started() run.Started {
	return run.Started{Run: run.Run{ID: scanID, FindingProfile: finding.DefaultProfile},
		UploadURL: "https://merlon.test/uploads/xyz"}
}

func (f *fakeScans) Start(_ context.Context, _ tenant.Scope, in run.Start) (run.Started, error) {
	f.start = in
	return f.started(), nil
}

func (f *fakeScans) StartWith(_ context.Context, _ tenant.Scope, in run.Start, r io.Reader) (run.Started, error) {
	f.start = in
	b, err := io.ReadAll(r)
	f.archive = string(b)
	return f.started(), err
}

func (f *fakeScans) Upload(_ context.Context, token string, r io.Reader, size int64) error {
	if size > run.MaxUpload {
		return errs.E(errs.TooLarge, "too large")
	}
	b, err := io.ReadAll(r)
	if err != nil {
		return errs.Wrap(errs.Invalid, err, "cut")
	}
	f.token, f.archive = token, string(b)
	return f.uploaded
}

func (f *fakeScans) Run(_ context.Context, _ tenant.Scope, id run.ID) (run.Run, error) {
	if id != f.run.ID {
		return run.Run{}, errs.E(errs.NotFound, "scan not found")
	}
	return f.run, nil
}

func (f *fakeScans) Runs(_ context.Context, _ tenant.Scope, q run.Query) ([]run.Run, int, error) {
	f.query = q
	return []run.Run{f.run}, 41, nil
}

func (f *fakeScans) Cancel(_ context.Context, _ tenant.Scope, id run.ID) (run.Run, error) {
	f.cancelled = id
	return f.run, nil
}

type everybody struct{}

func (everybody) Scope(_ context.Context, actor tenant.Actor, t tenant.Target) (tenant.Scope, error) {
	return tenant.Scope{Actor: actor, Organization: "o", Team: "t", Project: t.Project,
		Permissions: tenant.AllPermissions}, nil
}

// scanServer serves the API with fake scans.
func scanServer(t *testing.T) (*httptest.Server, *fakeScans) {
	t.Helper()
	fake := &fakeScans{}
	a := api.New(api.Config{
		Region: api.Region{BaseURL: "https://merlon.test"}, Now: time.Now, Log: slog.New(slog.DiscardHandler),
		Scans:  fake,
		Scopes: everybody{},
		Authenticate: func(_ context.Context, token string) (tenant.Actor, error) {
			if token != "good" {
				return tenant.Actor{}, errs.E(errs.Unauthenticated, "bad token")
			}
			return tenant.Actor{UserID: "u", Limits: &tenant.TokenLimits{Scopes: tenant.AllTokenScopes}}, nil
		},
	})
	srv := httptest.NewServer(a.Handler())
	t.Cleanup(srv.Close)
	return srv, fake
}

// call sends a request as a signed-in caller, and returns the status and the
// body as JSON.
func call(t *testing.T, method, url, contentType string, body io.Reader) (int, map[string]any) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, url, body)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer good")
	if contentType != "" {
		req.Header.Set("Content-Type", contentType)
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = res.Body.Close() }()
	out := map[string]any{}
	if err := json.NewDecoder(res.Body).Decode(&out); err != nil {
		t.Fatalf("%s %s: status %d, body: %v", method, url, res.StatusCode, err)
	}
	return res.StatusCode, out
}

// form returns a multipart body of fields and one file.
func form(t *testing.T, fields map[string]string, part, file, content string) (string, io.Reader) {
	t.Helper()
	var b bytes.Buffer
	w := multipart.NewWriter(&b)
	for name, value := range fields {
		if err := w.WriteField(name, value); err != nil {
			t.Fatal(err)
		}
	}
	if part != "" {
		p, err := w.CreateFormFile(part, file)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := io.WriteString(p, content); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return w.FormDataContentType(), &b
}

func TestStartScan(t *testing.T) {
	srv, fake := scanServer(t)
	formType, withFile := form(t, map[string]string{"branch": "dev", "sourceType": "vscode"}, "anything", "x.zip",
		"PK data")
	noFileType, noFile := form(t, map[string]string{"branch": "dev"}, "", "", "")
	tests := []struct {
		name, contentType string
		body              io.Reader
		status            int
		want              run.Start
		archive           string
	}{
		{"JSON", "application/json", strings.NewReader(`{"branch":"next","sourceType":"CLI","autoFix":true}`), 200,
			run.Start{Branch: "next", Source: "cli"}, ""},
		{"empty object", "application/json", strings.NewReader(`{}`), 200, run.Start{}, ""},
		{"nothing", "", nil, 200, run.Start{}, ""},
		{"nothing, with a type", "application/json; charset=utf-8", strings.NewReader(""), 200, run.Start{}, ""},
		{"JSON under a form's type", "application/x-www-form-urlencoded", strings.NewReader(`{"branch":"b"}`), 200,
			run.Start{Branch: "b"}, ""},
		{"form", formType, withFile, 200, run.Start{Branch: "dev", Source: "vscode"}, "PK data"},
		{"form without a file", noFileType, noFile, 400, run.Start{}, ""},
		{"form without a boundary", "multipart/form-data", strings.NewReader("x"), 400, run.Start{}, ""},
		{"not JSON", "application/json", strings.NewReader(`{"branch":`), 400, run.Start{}, ""},
		{"wrong type", "application/json", strings.NewReader(`{"branch":7}`), 400, run.Start{}, ""},
		{"too much", "application/json", strings.NewReader(strings.Repeat(" ", 64<<10+1)), 413, run.Start{}, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			*fake = fakeScans{}
			status, body := call(t, "POST", srv.URL+"/project/"+projectID+"/scan/start", tt.contentType, tt.body)
			if status != tt.status {
				t.Fatalf("status %d, want %d: %v", status, tt.status, body)
			}
			if diff := cmp.Diff(tt.want, fake.start); diff != "" || fake.archive != tt.archive {
				t.Errorf("archive %q, start (-want +got):\n%s", fake.archive, diff)
			}
			if status != 200 {
				return
			}
			delete(body, "message")
			want := map[string]any{"success": true, "scanId": scanID, "url": "https://merlon.test/uploads/xyz",
				"detectedLanguages": []any{}}
			if diff := cmp.Diff(want, body); diff != "" {
				t.Errorf("answer (-want +got):\n%s", diff)
			}
		})
	}
}

func TestFieldBehindTheFile(t *testing.T) {
	srv, fake := scanServer(t)
	var b bytes.Buffer
	w := multipart.NewWriter(&b)
	part, err := w.CreateFormFile("scan", "x.zip")
	if err == nil {
		_, err = io.WriteString(part, "PK data")
	}
	if err == nil {
		err = w.WriteField("branch", "late")
	}
	if err != nil {
		t.Fatal(err, w.Close())
	}
	fake.run = run.Run{ID: scanID, FindingProfile: finding.DefaultProfile}
	status, got := call(t, "POST", srv.URL+"/project/"+projectID+"/scan/start", w.FormDataContentType(), &b)
	if status != 400 || !strings.Contains(got["message"].(string), "form field branch after the file") ||
		fake.cancelled != scanID {
		t.Errorf("status %d, %v; cancelled %q", status, got, fake.cancelled)
	}
}

func TestUploadNeedsNoCaller(t *testing.T) {
	srv, fake := scanServer(t)
	for _, h := range []http.Header{
		{}, {"Authorization": {"Bearer stranger"}}, {"X-Api-Key": {"old"}}, {"Content-Type": {"application/zip"}},
		{"Content-Type": {"text/plain; x"}},
	} {
		// chunked
		req, err := http.NewRequestWithContext(t.Context(), "PUT", srv.URL+"/uploads/a-b_c",
			io.MultiReader(strings.NewReader("PK")))
		if err != nil {
			t.Fatal(err)
		}
		req.Header = h
		res, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		_ = res.Body.Close()
		if res.StatusCode != 200 || fake.token != "a-b_c" || fake.archive != "PK" {
			t.Errorf("%v: status %d, token %q, archive %q", h, res.StatusCode, fake.token, fake.archive)
		}
	}
	fake.uploaded = errs.E(errs.Gone, "used")
	if status, _ := call(t, "PUT", srv.URL+"/uploads/x", "", strings.NewReader("PK")); status != 410 {
		t.Errorf("a used address: status %d, want 410", status)
	}
}

func TestUploadBeyondTheLimitIsRefusedEarly(t *testing.T) {
	fake := &fakeScans{}
	a := api.New(api.Config{Log: slog.New(slog.DiscardHandler), Scans: fake})
	req := httptest.NewRequest("PUT", "/uploads/x", strings.NewReader("PK"))
	req.ContentLength = run.MaxUpload + 1
	req.Header.Set("Content-Length", "5368709121")
	w := httptest.NewRecorder()
	a.Handler().ServeHTTP(w, req)
	if w.Code != 413 || fake.archive != "" {
		t.Errorf("status %d, want 413; read %q", w.Code, fake.archive)
	}
}

func TestGetScan(t *testing.T) {
	srv, fake := scanServer(t)
	at := time.Date(2026, 11, 20, 9, 0, 0, 0, time.UTC)
	fake.run = run.Run{
		FindingProfile: finding.AllProfile,
		ID:             scanID, ProjectID: projectID, Branch: "main", Source: "cli",
		Analyses: []finding.Analysis{finding.SCA},
		State:    run.CompletedDegraded, Progress: 100, Step: "done", Attempt: 1, Languages: []string{"Go"},
		CreatedAt: at, UpdatedAt: at, StartedAt: at, EndedAt: at.Add(time.Minute),
		Outcome: run.Outcome{
			Statuses: []scan.Status{{
				Analyzer: "sca/osv", Analysis: finding.SCA, State: scan.Degraded, Files: 3, Findings: 4,
				Duration: 1500 * time.Millisecond,
				Reasons:  []scan.Reason{{Code: "too-large", Message: "too large", Path: "a/b"}},
			}},
			Advisories: &scan.AdvisoryData{Digest: "d", Records: 9, Imported: at.Add(-50 * time.Hour), Newest: at},
			Changes:    run.Changes{Found: 4, Resolved: 30, Open: 60, Suspicious: true},
		},
	}
	status, got := call(t, "GET", srv.URL+"/project/"+projectID+"/scan/"+scanID, "", nil)
	if status != 200 {
		t.Fatalf("status %d: %v", status, got)
	}
	want := map[string]any{
		"id": scanID, "name": "Scan of main", "state": "completed_degraded", "language": []any{"Go"},
		"projectId": projectID, "private": false,
		"createAt": "2026-11-20T09:00:00Z", "updatedAt": "2026-11-20T09:00:00Z", "scanType": "source",
		"startTime": "2026-11-20T09:00:00Z", "endTime": "2026-11-20T09:01:00Z", "containers": []any{},
		"progress": 100.0, "step": "done",
		"vulnerabilityDetected": 4.0, "branch": "main", "sourceType": "cli", "analyses": []any{"sca"}, "fast": false,
		"findingProfile": "all",
		"cancelled":      false, "attempt": 1.0, "suspicious": true,
		"changes": map[string]any{"found": 4.0, "new": 0.0, "reopened": 0.0, "unchanged": 0.0, "moved": 0.0,
			"resolved": 30.0, "open": 60.0, "suspicious": true},
		"analyzers": []any{map[string]any{
			"analyzer": "sca/osv", "analysis": "sca", "state": "degraded", "omitted": 0.0, "files": 3.0,
			"findings": 4.0, "ignored": 0.0, "outsideProfile": 0.0, "durationMs": 1500.0,
			"reasons": []any{map[string]any{"code": "too-large", "message": "too large", "path": "a/b"}},
		}},
		"warnings": []any{},
		"advisories": map[string]any{"digest": "d", "records": 9.0, "imported": "2026-11-18T07:00:00Z",
			"newest": "2026-11-20T09:00:00Z", "ageHours": 50.0,
			"ages": map[string]any{"importedDays": 2.0, "recordsDays": 0.0}},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("answer (-want +got):\n%s", diff)
	}
	for id, want := range map[string]int{"not-a-uuid": 400, projectID: 404} {
		if status, body := call(t, "GET", srv.URL+"/project/"+projectID+"/scan/"+id, "", nil); status != want {
			t.Errorf("scan %s: status %d, want %d: %v", id, status, want, body)
		}
	}
}

func TestFailedScanSaysWhy(t *testing.T) {
	srv, fake := scanServer(t)
	fake.run = run.Run{ID: scanID, FindingProfile: finding.DefaultProfile, State: run.Failed,
		Failure: run.Fail(run.CodeTimeLimit, "it took too long")}
	_, got := call(t, "POST", srv.URL+"/project/"+projectID+"/scan/"+scanID+"/cancel", "", nil)
	if got["errorMessage"] != "it took too long" || got["errorCode"] != 201.0 || got["errorCategory"] != "scan" ||
		got["vulnerabilityDetected"] != nil {
		t.Errorf("got %v", got)
	}
	// What the last try of a run that is to be tried again said is not its end.
	fake.run.State = run.Queued
	if _, got = call(t, "GET", srv.URL+"/project/"+projectID+"/scan/"+scanID, "", nil); got["errorMessage"] != nil {
		t.Errorf("a waiting scan has the error %v", got["errorMessage"])
	}
}

func TestListScans(t *testing.T) {
	srv, fake := scanServer(t)
	fake.run = run.Run{ID: scanID, FindingProfile: finding.DefaultProfile}
	status, got := call(t, "GET", srv.URL+"/project/"+projectID+"/scans?branch=x&page=3&pageSize=10", "", nil)
	if status != 200 || got["totalScans"] != 41.0 || got["totalPages"] != 5.0 || len(got["scans"].([]any)) != 1 {
		t.Errorf("status %d, got %v", status, got)
	}
	if diff := cmp.Diff(run.Query{Branch: "x", Offset: 20, Limit: 10}, fake.query); diff != "" {
		t.Errorf("query (-want +got):\n%s", diff)
	}
	call(t, "GET", srv.URL+"/project/"+projectID+"/scans?pageSize=500", "", nil)
	if diff := cmp.Diff(run.Query{Limit: 100}, fake.query); diff != "" {
		t.Errorf("a page beyond the limit is cut (-want +got):\n%s", diff)
	}
	if status, _ := call(t, "GET", srv.URL+"/project/"+projectID+"/scans?page=9000000000000000000", "",
		nil); status != 400 {
		t.Errorf("a page beyond all bounds: status %d, want 400", status)
	}
}
