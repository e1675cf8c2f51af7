package run

import (
	"context"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/google/go-cmp/cmp"

	"merlon/internal/errs"
	"merlon/internal/finding"
	"merlon/internal/project"
	"merlon/internal/tenant"
)

var (
	now = time.Date(2026, 11, 20, 9, 0, 0, 0, time.UTC)
	key = []byte("0123456789abcdef0123456789abcdef")
	sc  = tenant.Scope{Actor: tenant.Actor{UserID: "u"}, Organization: "o", Team: "t", Project: "p"}
)

// world is everything that a Service reaches, in memory. Methods of Store that it
// does not declare panic.
type world struct {
	Store
	clock    time.Time
	settings project.Settings
	run      *Run
	finished string // the key of the run's archive
	blobs    map[string]string
	ended    *Failure
	woken    int
	room     int64   // bytes that an upload may take up; 0 for no limit
	touched  []int64 // bytes that uploads took up
}

func (w *world) RunProject(context.Context, tenant.Scope) (project.Project, error) {
	return project.Project{ID: "p", OrganizationID: "o", TeamID: "t", Languages: []string{"Go"}, Settings: w.settings},
		nil
}
func (w *world) CreateRun(_ context.Context, _ tenant.Scope, r *Run) error { w.run = r; return nil }

func (w *world) BeginUpload(_ context.Context, id ID, _ string) error {
	switch {
	case w.run == nil || w.run.ID != id:
		return errs.E(errs.NotFound, "scan not found")
	case w.finished != "":
		return errs.E(errs.Gone, "used")
	}
	return nil
}
func (w *world) TouchUpload(_ context.Context, _ string, bytes int64) error {
	if w.room > 0 && bytes > w.room {
		return StorageFull(0, w.room)
	}
	w.touched = append(w.touched, bytes)
	return nil
}
func (w *world) FinishUpload(_ context.Context, _ ID, key string, _ int64) error {
	w.finished = key
	return nil
}
func (w *world) ForgetUpload(context.Context, string) error { return nil }
func (w *world) AbandonRun(_ context.Context, _ ID, f *Failure) error {
	w.ended = f
	return nil
}

func (w *world) Put(_ context.Context, key string, r io.Reader, max int64) (int64, string, error) {
	b, err := io.ReadAll(io.LimitReader(r, max+1))
	if err != nil {
		return 0, "", err
	}
	w.blobs[key] = string(b)
	return int64(len(b)), "", nil
}
func (w *world) Delete(_ context.Context, key string) error {
	delete(w.blobs, key)
	return nil
}

func newWorld(available ...finding.Analysis) (*world, *Service) {
	w := &world{clock: now, blobs: map[string]string{}, settings: project.DefaultSettings(available)}
	return w, New(Config{
		Store: w, Uploads: w, Blobs: w, Key: key, BaseURL: "https://merlon.test", Available: available,
		Now: func() time.Time { return w.clock }, Wake: func() { w.woken++ },
	})
}

func TestStart(t *testing.T) {
	w, s := newWorld(finding.SCA, finding.Secret)
	w.settings.SASTEnabled = true // by a person; there is no analyzer for it
	got, err := s.Start(t.Context(), sc, Start{Branch: " next "})
	if err != nil {
		t.Fatal(err)
	}
	want := Run{
		ID: got.Run.ID, OrganizationID: "o", TeamID: "t", ProjectID: "p", Branch: "next", Source: "manual",
		Initiator: "u",
		Analyses:  []finding.Analysis{finding.SAST, finding.SCA, finding.Secret}, State: Queued,
		FindingProfile: finding.DefaultProfile,
		UploadExpires:  now.Add(time.Hour), Step: "waiting for the upload", Languages: []string{}, CreatedAt: now,
		UpdatedAt: now,
	}
	if diff := cmp.Diff(want, got.Run); diff != "" {
		t.Errorf("run (-want +got):\n%s", diff)
	}
	if !strings.HasPrefix(got.UploadURL, "https://merlon.test/uploads/") || !cmp.Equal(got.Languages, []string{"Go"}) {
		t.Errorf("got address %s, languages %v", got.UploadURL, got.Languages)
	}
}

func TestStartRefuses(t *testing.T) {
	_, s := newWorld(finding.SCA)
	for _, in := range []Start{{Branch: strings.Repeat("x", 256)}, {Branch: "a\nb"}, {Branch: "\xff"},
		{Source: "fax"}} {
		if _, err := s.Start(t.Context(), sc, in); !errs.Is(err, errs.Invalid) {
			t.Errorf("%+v: got %v, want invalid", in, err)
		}
	}
	w, s := newWorld()
	if _, err := s.Start(t.Context(), sc, Start{}); !errs.Is(err, errs.Conflict) || w.run != nil {
		t.Errorf("nothing to look for: got %v, want a conflict", err)
	}
}

func token(t *testing.T, s *Service) string {
	t.Helper()
	started, err := s.Start(t.Context(), sc, Start{})
	if err != nil {
		t.Fatal(err)
	}
	return started.UploadURL[strings.LastIndexByte(started.UploadURL, '/')+1:]
}

const archive = "PK\x03\x04 and so on"

func TestUpload(t *testing.T) {
	w, s := newWorld(finding.SCA)
	tok := token(t, s)
	ctx := t.Context()
	cut := []struct {
		name string
		body io.Reader
	}{
		{"cut", io.MultiReader(strings.NewReader(archive), iotest.ErrReader(io.ErrUnexpectedEOF))},
		{"cut at once", iotest.ErrReader(errors.New("connection reset"))},
	}
	for _, tt := range cut {
		if err := s.Upload(ctx, tok, tt.body, -1); !errs.Is(err, errs.Invalid) {
			t.Errorf("%s: got %v, want invalid", tt.name, err)
		}
	}
	if len(w.blobs) != 0 || w.finished != "" || w.woken != 0 || w.ended != nil {
		t.Fatalf("cut uploads left %v, archive %q, end %v", w.blobs, w.finished, w.ended)
	}
	// The address is still good, once.
	if err := s.Upload(ctx, tok, iotest.OneByteReader(strings.NewReader(archive)), int64(len(archive))); err != nil {
		t.Fatal(err)
	}
	if w.blobs[w.finished] != archive || w.woken != 1 {
		t.Errorf("stored %q under the run's key %q", w.blobs[w.finished], w.finished)
	}
	if err := s.Upload(ctx, tok, strings.NewReader(archive), -1); !errs.Is(err, errs.Gone) || len(w.blobs) != 1 {
		t.Errorf("again: got %v, %d blobs", err, len(w.blobs))
	}
}

// An upload that cannot become good ends its run at once, with the reason.
func TestUploadRefused(t *testing.T) {
	for name, c := range map[string]struct {
		body string
		size int64
		kind errs.Kind
		text string
	}{
		"empty":     {"", 0, errs.Invalid, "empty"},
		"not a zip": {"hello, this is text", 19, errs.Invalid, "not a zip archive"},
		"short":     {"PK", -1, errs.Invalid, "not a zip archive"},
		"too large": {archive, MaxUpload + 1, errs.TooLarge, "at most 5 GiB"},
	} {
		w, s := newWorld(finding.SCA)
		err := s.Upload(t.Context(), token(t, s), strings.NewReader(c.body), c.size)
		if !errs.Is(err, c.kind) || len(w.blobs) != 0 || w.woken != 0 {
			t.Errorf("%s: got %v, stored %v", name, err, w.blobs)
		}
		if w.ended == nil || w.ended.Code != CodeBadUpload || !strings.Contains(w.ended.Message, c.text) {
			t.Errorf("%s: the run ended with %+v", name, w.ended)
		}
	}
}

// An upload for which there is no room ends its run, before anything is read when its
// length is known. One of unknown length takes room in steps, never less than it has sent.
func TestUploadWithoutRoom(t *testing.T) {
	body := archive + strings.Repeat("x", 5<<20)
	for name, size := range map[string]int64{"known length": int64(len(body)), "unknown length": -1} {
		w, s := newWorld(finding.SCA)
		w.room = 3 << 20
		sent := strings.NewReader(body)
		err := s.Upload(t.Context(), token(t, s), sent, size)
		if !errs.Is(err, errs.TooLarge) || !strings.Contains(err.Error(), "storage limit exceeded") || len(w.blobs) != 0 {
			t.Errorf("%s: got %v, %d blobs", name, err, len(w.blobs))
		}
		if w.ended == nil || w.ended.Code != CodeBadUpload {
			t.Errorf("%s: the run ended with %+v", name, w.ended)
		}
		if read := len(body) - sent.Len(); size > 0 && read > 8 {
			t.Errorf("%s: %d bytes were read", name, read)
		}
		w, s = newWorld(finding.SCA)
		w.room = 20 << 20
		if err := s.Upload(t.Context(), token(t, s), strings.NewReader(body), size); err != nil {
			t.Errorf("%s: with room: %v", name, err)
		}
		if last := w.touched[len(w.touched)-1]; last < int64(len(body)) || size > 0 && last != size {
			t.Errorf("%s: %d bytes take up %v", name, len(body), w.touched)
		}
	}
}

func TestToken(t *testing.T) {
	w, s := newWorld(finding.SCA)
	tok := token(t, s)
	other := New(s.Config)
	other.Key = []byte("another key of 32 bytes or so...")
	changed := []byte(tok)
	if changed[4] != 'A' {
		changed[4] = 'A'
	} else {
		changed[4] = 'B'
	}
	for name, bad := range map[string]string{
		"empty": "", "short": tok[:20], "changed": string(changed), "longer": tok + "AA",
		"not base64": strings.Repeat("!", len(tok)), "of another key": token(t, other),
	} {
		if _, err := readToken(key, bad, now); !errs.Is(err, errs.NotFound) {
			t.Errorf("%s: got %v, want not found", name, err)
		}
	}
	tok = token(t, s)
	id, err := readToken(key, tok, now.Add(time.Hour-time.Second))
	if err != nil || id != w.run.ID {
		t.Errorf("got %s, %v, want %s", id, err, w.run.ID)
	}
	w.clock = now.Add(time.Hour)
	if err := s.Upload(t.Context(), tok, strings.NewReader(archive), -1); !errs.Is(err, errs.Gone) {
		t.Errorf("expired: got %v, want gone", err)
	}
}

func FuzzReadToken(f *testing.F) {
	good, err := makeToken(key, "0198c0de-0000-8000-8000-000000000000", now)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(good)
	f.Add("")
	f.Add(strings.Repeat("A", len(good)))
	f.Fuzz(func(t *testing.T, text string) {
		id, err := readToken(key, text, now.Add(-time.Minute))
		if err == nil && text != good {
			t.Errorf("%q was taken for a token of %s", text, id)
		}
	})
}

func TestStartWith(t *testing.T) {
	w, s := newWorld(finding.SCA)
	if _, err := s.StartWith(t.Context(), sc, Start{}, strings.NewReader(archive)); err != nil || w.finished == "" {
		t.Errorf("got %v, archive %q", err, w.finished)
	}
	w, s = newWorld(finding.SCA)
	_, err := s.StartWith(t.Context(), sc, Start{}, strings.NewReader("text text"))
	if !errs.Is(err, errs.Invalid) || w.ended == nil || w.ended.Code != CodeBadUpload {
		t.Errorf("got %v, the run ended with %+v", err, w.ended)
	}
}

func TestGivenUp(t *testing.T) {
	last := Fail(CodeDiskFull, "no room")
	got := RetriesExhausted(3, last)
	if got.Code != CodeDiskFull || got.Message != "the scan was attempted 3 times, the last error: no room" ||
		last.Message != "no room" {
		t.Errorf("got %+v, last %+v", got, last)
	}
	if got := RetriesExhausted(3, nil); got.Code != CodeWorkerLost {
		t.Errorf("got %+v", got)
	}
}
