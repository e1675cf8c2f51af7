package run

import "fmt"

// This file lists every way in which a run fails. A failed run has changed no
// finding.

// A Failure says why a run failed.
type Failure struct {
	Message  string   `json:"message"` // for people
	Code     int      `json:"code"`    // permanent; see the constants
	Category Category `json:"category"`
}

// Error returns the message: a Failure that is returned as an error ends the run
// for good, while any other error is tried again.
func (f *Failure) Error() string { return f.Message }

// A Category is a class of failure, by its name on the wire.
type Category string

const (
	CategoryAuthentication Category = "authentication"
	CategoryCloudProvider  Category = "cloud_provider"
	CategoryNetwork        Category = "network"
	CategoryScan           Category = "scan"
	CategoryAPI            Category = "api"
	CategoryUnknown        Category = "unknown"
)

// The codes of failures.
const (
	CodeNoUpload    = 101 // nothing was uploaded in time
	CodeBadUpload   = 102 // what was uploaded with the request is no archive, or was cut
	CodeCancelled   = 103 // somebody asked for the end
	CodeArchive     = 104 // the archive cannot be read, or is refused
	CodeArchiveGone = 105 // the archive is no longer in storage
	CodeImage       = 106 // there is no such image, or it is refused
	CodeImageAccess = 107 // the registry does not give out the image
	CodeCredential  = 108 // the credential that the scan was started with is gone
	CodeTarget      = 109 // the target is gone
	CodeOwnership   = 110 // it was not shown that the organization controls the target
	CodeTimeLimit   = 201 // the scan took too long
	CodeCrashed     = 202 // the scan ended without its results
	CodeMemory      = 203 // the scan was ended for its use of memory
	CodeIncomplete  = 204 // the scan's results are not whole
	CodeNothing     = 205 // every analyzer failed
	CodeResults     = 206 // the scan's results are larger than allowed
	CodeWorkerLost  = 301 // the workers that took it stopped before the end
	CodeDiskFull    = 302 // the worker has no room
	CodeUnavailable = 303 // something the worker needs is away
	CodeRegistry    = 304 // the registry does not answer
	CodeNoKey       = 305 // the worker has no master key
)

// Fail returns a Failure of the scan itself.
func Fail(code int, format string, args ...any) *Failure {
	return &Failure{Message: fmt.Sprintf(format, args...), Code: code, Category: CategoryScan}
}

// Cancelled is how a run ends that somebody asked to end.
func Cancelled() *Failure {
	return &Failure{Message: "the scan was cancelled", Code: CodeCancelled, Category: CategoryAPI}
}

// UploadMissing is how a run ends whose address was never used.
func UploadMissing() *Failure {
	return &Failure{
		Message: "nothing was uploaded before the upload address expired", Code: CodeNoUpload, Category: CategoryAPI,
	}
}

// RetriesExhausted is how a run ends after its last try; last is how that one went, or
// nil when its worker stopped without a word.
func RetriesExhausted(tries int, last *Failure) *Failure {
	if last == nil {
		return Fail(CodeWorkerLost,
			"the scan was started %d times, and each time its worker stopped before the end", tries)
	}
	f := *last
	f.Message = fmt.Sprintf("the scan was attempted %d times, the last error: %s", tries, last.Message)
	return &f
}

// A RetryError is an error that has nothing to do with what is scanned: the run is
// tried again, and after its last try it ends with the Failure.
type RetryError struct {
	Failure *Failure
	Err     error // for the log
}

// Error returns both texts.
func (s *RetryError) Error() string { return s.Failure.Message + ": " + s.Err.Error() }

// Unwrap returns the cause.
func (s *RetryError) Unwrap() error { return s.Err }
