package run

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"syscall"
	"time"

	"github.com/google/uuid"

	"merlon/internal/errs"
)

// This file takes what a run is to scan. An upload becomes the run's archive
// only when it is whole; until then its address stays good, and what a cut
// upload left in storage is removed.

// MaxUpload bounds an archive, in bytes: 5 GiB.
const MaxUpload = 5 << 30

// Steps of a run before a worker has it, for people.
const (
	stepUpload = "waiting for the upload"
	// StepQueued is the step of an uploaded run without a worker.
	StepQueued = "waiting for a free worker"
	// StepPaused is the step of a paused run.
	StepPaused = "paused"
	// stepSealed is that of a run that needs the master key.
	stepSealed = "waiting for a worker that has the master key"
)

// touchEvery is how often an upload under way says that it is alive; one that has
// not for UploadIdle is taken for dead and removed.
const (
	touchEvery = 30 * time.Second
	UploadIdle = 10 * time.Minute
)

// Uploads keeps track of uploads.
type Uploads interface {
	// BeginUpload records that something is being put under the key for the run:
	// NotFound when there is no such run, Gone when it has its upload already,
	// Conflict when it has ended.
	BeginUpload(ctx context.Context, id ID, key string) error
	// TouchUpload records that the upload is alive and takes up so many bytes: StorageFull
	// when its organization may not store that many.
	TouchUpload(ctx context.Context, key string, bytes int64) error
	// FinishUpload makes the upload the run's archive; errors as BeginUpload.
	FinishUpload(ctx context.Context, id ID, key string, size int64) error
	// ForgetUpload records that nothing is stored under the key.
	ForgetUpload(ctx context.Context, key string) error
	// AbandonRun ends a run that waits for its upload.
	AbandonRun(ctx context.Context, id ID, f *Failure) error
}

// Blobs is where archives are put.
type Blobs interface {
	// Put stores what it reads, at most max bytes, and returns how many there
	// were and their SHA-256. After an error nothing is stored.
	Put(ctx context.Context, key string, r io.Reader, max int64) (int64, string, error)
	// Delete removes what is stored under the key; nothing there is no error.
	Delete(ctx context.Context, key string) error
}

// Upload takes the archive that the token's run is to scan. size is its length in
// bytes as its sender states it; -1 when unknown. An upload that was cut can be sent
// again. One that is refused for what it is ends the run at once.
func (s *Service) Upload(ctx context.Context, token string, archive io.Reader, size int64) error {
	id, err := readToken(s.Key, token, s.Now())
	if err != nil {
		return err
	}
	if size > MaxUpload {
		err = tooLarge(nil)
	} else {
		err = s.receiveArchive(ctx, id, archive, size)
	}
	var refused *errs.Error
	if !errors.As(err, &refused) || refused.Code != codeRefused {
		return err
	}
	f := &Failure{Message: "the upload was refused: " + refused.Message, Code: CodeBadUpload, Category: CategoryAPI}
	if endErr := s.Uploads.AbandonRun(context.WithoutCancel(ctx), id, f); endErr != nil &&
		!errs.Is(endErr, errs.Conflict) {
		return fmt.Errorf("%w (and the run could not be ended: %w)", err, endErr)
	}
	return err
}

// codeRefused is the code of an error about an upload that no repetition would make
// good.
const codeRefused = "upload_refused"

// rejectUpload returns an error that ends the run of the upload.
func rejectUpload(kind errs.Kind, format string, args ...any) *errs.Error {
	e := errs.E(kind, format, args...)
	e.Code = codeRefused
	return e
}

// tooLarge is the error for an upload beyond the limit.
func tooLarge(cause error) error {
	e := errs.Wrap(errs.TooLarge, cause, "an archive has at most %d GiB", MaxUpload>>30)
	e.Code = codeRefused
	return e
}

// StorageFull is the error of an upload that would make an organization store more bytes than
// it may, beside the present ones.
func StorageFull(present, most int64) error {
	e := rejectUpload(errs.TooLarge, "storage limit exceeded: the uploads of other queued or running scans use %d "+
		"MiB of the %d MiB of the organization; start the scan again when some have ended", present>>20, most>>20)
	e.Members = map[string]string{"retryAfter": roomWait}
	return e
}

// roomWait is after how many seconds a client may start again when there was no room.
const roomWait = "60"

// receiveArchive takes an archive; size is its length in bytes, -1 when unknown.
func (s *Service) receiveArchive(ctx context.Context, id ID, archive io.Reader, size int64) error {
	key := "uploads/" + string(id) + "/" + uuid.NewString()
	if err := s.Uploads.BeginUpload(ctx, id, key); err != nil {
		return err
	}
	err := s.storeArchive(ctx, id, key, archive, size)
	if err == nil {
		s.Wake()
		return nil
	}
	// The upload is not the run's. If this fails as well, the worker's collection
	// of garbage finds the key.
	clean := context.WithoutCancel(ctx)
	if cleanErr := s.Blobs.Delete(clean, key); cleanErr != nil {
		return errors.Join(err, fmt.Errorf("remove a cut upload: %w", cleanErr))
	}
	if cleanErr := s.Uploads.ForgetUpload(clean, key); cleanErr != nil {
		return errors.Join(err, fmt.Errorf("forget a cut upload: %w", cleanErr))
	}
	return err
}

// storeArchive stores the archive in the blob storage while it arrives, and renews the lease of
// the upload.
func (s *Service) storeArchive(ctx context.Context, id ID, key string, archive io.Reader, size int64) error {
	zip, err := checkZip(archive)
	if err != nil {
		return err
	}
	alive := &leaseRenewal{Reader: zip, last: time.Now(), touch: func(bytes int64) error {
		return s.Uploads.TouchUpload(ctx, key, bytes)
	}}
	if size > 0 {
		if err := alive.reportBytes(size); err != nil {
			return err
		}
	}
	size, _, err = s.Blobs.Put(ctx, key, alive, MaxUpload)
	if err != nil {
		if alive.refused != nil {
			return alive.refused
		}
		if alive.err != nil && !errs.Is(err, errs.TooLarge) {
			return errs.Wrap(errs.Invalid, alive.err, "the upload was cut: send it again to the same address")
		}
		if errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) {
			return errs.Wrap(errs.Unavailable, err, "there is no room for the upload at the moment: send it again to "+
				"the same address later")
		}
		if errs.Is(err, errs.TooLarge) {
			return tooLarge(err)
		}
		return err
	}
	// A client that goes away now has sent everything.
	return s.Uploads.FinishUpload(context.WithoutCancel(ctx), id, key, size)
}

// The signatures that a zip archive may begin with (APPNOTE.TXT 6.3.10, sections
// 4.3.7, 4.3.16, 8.5.3): a file, an empty archive, a single-segment split one.
var zipSignatures = [][]byte{[]byte("PK\x03\x04"), []byte("PK\x05\x06"), []byte("PK00PK\x03\x04")}

// checkZip returns the same bytes, or an Invalid error when they do not begin as
// a zip archive does.
func checkZip(r io.Reader) (io.Reader, error) {
	head := make([]byte, 8)
	n, err := io.ReadFull(r, head)
	switch {
	case n == 0 && errors.Is(err, io.EOF):
		return nil, rejectUpload(errs.Invalid, "the upload is empty: send a zip archive as the body of the request")
	case err != nil && !errors.Is(err, io.ErrUnexpectedEOF):
		return nil, errs.Wrap(errs.Invalid, err, "the upload was cut: send it again to the same address")
	}
	head = head[:n]
	for _, sig := range zipSignatures {
		if bytes.HasPrefix(head, sig) {
			return io.MultiReader(bytes.NewReader(head), r), nil
		}
	}
	return nil, rejectUpload(errs.Invalid, "the upload is not a zip archive: it does not begin with a zip signature")
}

// leaseRenewal is a Reader that says every now and then that it is being read, says how many
// bytes that will take up before it hands them out, and remembers an error of its source.
type leaseRenewal struct {
	io.Reader
	last    time.Time // of the system's clock: real time passes here
	touch   func(bytes int64) error
	read    int64
	taken   int64 // bytes that were told
	err     error
	refused error // of touch
}

// maxAhead bounds how many bytes an upload of unknown length takes in advance.
const maxAhead = 64 << 20

// Read counts the bytes of an upload and renews its lease, so that a slow upload is not
// considered abandoned.
func (t *leaseRenewal) Read(p []byte) (int, error) {
	n, err := t.Reader.Read(p)
	if err != nil && !errors.Is(err, io.EOF) {
		t.err = err
	}
	t.read += int64(n)
	bytes := t.taken
	if t.read > t.taken {
		bytes = t.read + min(max(t.read, 1<<20), maxAhead)
	}
	if bytes > t.taken || time.Since(t.last) >= touchEvery {
		if touchErr := t.reportBytes(bytes); touchErr != nil {
			return n, touchErr
		}
	}
	return n, err
}

// reportBytes says that the bytes are taken up.
func (t *leaseRenewal) reportBytes(bytes int64) error {
	t.last = time.Now()
	t.refused = t.touch(bytes)
	if t.refused == nil {
		t.taken = bytes
	}
	return t.refused
}

// publicMessage is what of an error may be told.
func publicMessage(err error) string {
	var e *errs.Error
	if errors.As(err, &e) && e.Kind != errs.Internal {
		return e.Message
	}
	return "internal error"
}
