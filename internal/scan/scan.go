// Package scan is the contract between the driver and the analyzers. An Analyzer is a value; the
// driver walks the tree, opens files, enforces limits of time and size, calls the analyzer with
// a pass, and records the status of each analyzer. Results leave as a stream of messages to a
// Handler: the report formats, the worker and the command line are handlers.
//
// Neither this package nor an engine depends on tenants, databases or users.
package scan

import (
	"errors"
	"slices"
	"time"

	"merlon/internal/finding"
)

// ErrMissingPart is wrapped by errors of an analyzer that needs something that is not part of
// this build. Results without it are degraded.
var ErrMissingPart = errors.New("missing from this build")

// An Analyzer describes one check. It is a value: declaring it registers
// nothing and runs nothing.
type Analyzer struct {
	// ID is permanent. It is the folder's path below engine: "secrets/credentials".
	ID string

	// Version grows when the same input may give a different result.
	Version int

	// Analysis is the kind of analysis that the analyzer is part of.
	Analysis finding.Analysis

	// Doc is the documentation for users. Its first line is the title.
	Doc string

	// Rules returns the rules of the analyzer, each once, without those derived from
	// advisories. An error is a fault of the build; with ErrMissingPart, the rules of the
	// available parts are returned as well.
	Rules func() ([]*finding.Rule, error)

	// Needs states what the analyzer requires of the host. The driver fails an
	// analyzer whose needs are not met, with the reason.
	Needs Needs

	// Match reports whether the analyzer analyzes the file. It is called for every file of
	// every scan with the path relative to the root, so it must use only the path. File
	// requires it. For Project it may be nil: then every file concerns the analyzer, and each
	// one that cannot be read (too large, unreadable) degrades it.
	Match func(path string) bool

	// Streams reports whether the analyzer reads the file as a stream, through the
	// file system of its pass, so that it may have up to Limits.StreamSize bytes.
	// Nil means none. It needs Project.
	Streams func(path string) bool

	// History states that the analyzer reads the repositories of a tree. A tree with a
	// repository and without files is not empty for it.
	History bool

	// Exactly one of these is set; it is the kind of target that the analyzer handles. An
	// error fails this analyzer, never the scan.
	File    func(*FilePass) error    // one file per call, several calls in parallel
	Project func(*ProjectPass) error // the whole tree
	Image   func(*ImagePass) error   // a container image
	Live    func(*LivePass) error    // a running target
}

// Needs lists what an analyzer requires of the host.
type Needs struct {
	Network    bool // makes outgoing requests
	Advisories bool // looks up known vulnerabilities
}

// A State is the result state of an analyzer. There is no "skipped": an analysis that was
// requested and did not run has failed.
type State string

const (
	Succeeded State = "succeeded" // analyzed all code of the project; see Reason.Skipped
	Degraded  State = "degraded"  // findings are valid, but code of the project was not analyzed
	Failed    State = "failed"    // the result is not usable
)

// A Status is the result status of one analyzer, with the reasons.
type Status struct {
	Analyzer string           `json:"analyzer"`
	Analysis finding.Analysis `json:"analysis"`
	State    State            `json:"state"`
	Reasons  []Reason         `json:"reasons"` // at most MaxReasons; all are Skipped when succeeded
	Omitted  int              `json:"omitted"` // reasons beyond MaxReasons
	Files    int              `json:"files"`   // analyzed files
	Findings int              `json:"findings"`
	Ignored  int              `json:"ignored,omitempty"` // findings removed by the ignore file
	// OutsideProfile counts the findings that the profile of the scan leaves out.
	OutsideProfile int           `json:"outsideProfile,omitempty"`
	Duration       time.Duration `json:"duration"` // nanoseconds

	// Root is set when the scan covered one part of the project, such as a container image: the
	// common prefix of all paths of that part. The status does not apply to other paths.
	Root string `json:"root,omitempty"`

	// OS is the operating system of the scanned container image; nil when the analyzer did not
	// determine it.
	OS *OS `json:"os,omitempty"`
}

// An OS is the operating system in a container image. Its ID is empty when the image has no
// os-release file.
type OS struct {
	ID      string `json:"id"`      // "debian"
	Version string `json:"version"` // "12"; some say none
	Name    string `json:"name"`    // "Debian GNU/Linux 12 (bookworm)"
}

// MaxReasons bounds the reasons of one analyzer. A status with omitted reasons counts as no
// coverage at all, because the paths of the omitted ones are unknown.
const MaxReasons = 1000

// A Reason describes a coverage gap. With a Path, only that file, or with a trailing slash that
// folder, was not analyzed; with Paths, only those. With Rules, only those rules were not applied, to the Path or
// without one to anything. Without both, the coverage is unknown. With Beyond, further
// locations may be missing: only operations that the scan has reached, and that have no reason,
// are covered.
type Reason struct {
	Code    string   `json:"code"` // "too-large", "unreadable", "malformed", "timeout", "panic", "unavailable", …
	Message string   `json:"message"`
	Path    string   `json:"path,omitempty"`
	Line    int      `json:"line,omitempty"`
	Rules   []string `json:"rules,omitempty"` // IDs
	// Paths takes the place of Path where one cause concerns several files.
	Paths  []string `json:"paths,omitempty"`
	Beyond bool     `json:"beyond,omitempty"`
	// Skipped marks what is excluded by design: installed packages, minified and generated
	// files, and what no scan of the same input can know (codes NoData to UnknownValue). It does
	// not degrade the analyzer, because all code of the project itself was read.
	Skipped bool `json:"skipped,omitempty"`
}

// These codes name what was read and could not be checked, because neither the tree nor the
// vulnerability data has it. It is the same in every scan, so it is reported and fails no build.
const (
	NoData       = "no-data"       // the vulnerability data has no record of an ecosystem
	NoLockFile   = "no-lock-file"  // the versions of transitive packages are unknown
	NoVersion    = "no-version"    // a manifest does not fix the version of a package
	Unavailable  = "unavailable"   // a module, chart or file is not part of the tree
	UnknownValue = "unknown-value" // a value is set when the code is deployed
)

// uncheckedCodes are the codes above.
var uncheckedCodes = []string{NoData, NoLockFile, NoVersion, Unavailable, UnknownValue}

// equal reports whether two reasons are the same.
func (r Reason) equal(s Reason) bool {
	return r.Code == s.Code && r.Message == s.Message && r.Path == s.Path && r.Line == s.Line && r.Beyond == s.Beyond &&
		r.Skipped == s.Skipped && slices.Equal(r.Rules, s.Rules) && slices.Equal(r.Paths, s.Paths)
}

// A Handler receives the messages of one scan, from one goroutine at a time. A stream without
// its Progress messages is still complete. An error ends the scan.
type Handler interface {
	// Config is the first message.
	Config(*Config) error
	// Progress reports the progress of the scan.
	Progress(*Progress) error
	// Rule describes a rule, once, before its first finding.
	Rule(*finding.Rule) error
	// Package reports a dependency.
	Package(*finding.Package) error
	// Finding reports a vulnerability.
	Finding(*finding.Finding) error
	// Operation reports the outcome of an operation of an application.
	Operation(*finding.Operation) error
	// Status ends one analyzer. The stream is complete when every analyzer that Config names
	// has its status.
	Status(*Status) error
}

// A Config describes the target and the analyzers of a scan.
type Config struct {
	Tool       string             `json:"tool"`
	Version    string             `json:"version"`
	Root       string             `json:"root"`  // the name of the scanned folder or file, without its parents
	Files      int                `json:"files"` // regular files below it, within the limits
	Started    time.Time          `json:"started"`
	Analyses   []finding.Analysis `json:"analyses"`
	Analyzers  []string           `json:"analyzers"`
	Profile    finding.Profile    `json:"profile,omitempty"`
	Advisories *AdvisoryData      `json:"advisories,omitempty"`
	Sandbox    []string           `json:"sandbox,omitempty"` // missing sandbox protections
	Image      *Image             `json:"image,omitempty"`   // scanned instead of a tree
	// kinds of paths that the tree lacks: the client may have excluded them
	Absent []PathKind `json:"absent,omitempty"`
	// URL of the running application that was scanned instead of a tree
	Target string `json:"target,omitempty"`
}

// An Image identifies the scanned container image.
type Image struct {
	Name     string `json:"name"`             // as requested, or as its archive names it
	Digest   string `json:"digest,omitempty"` // of its manifest; empty for an archive of docker save
	ID       string `json:"id"`               // digest of its configuration
	Platform string `json:"platform"`         // "linux/amd64"
	Base     string `json:"base,omitempty"`   // the base image, if declared
	Layers   int    `json:"layers"`
	Size     int64  `json:"size,omitempty"` // bytes of the layers as stored
}

// AdvisoryData describes the vulnerability data of a scan.
type AdvisoryData struct {
	Digest   string    `json:"digest"`   // of the data file
	Imported time.Time `json:"imported"` // when it was last imported
	Newest   time.Time `json:"newest"`   // the latest modification of a record in it
	Records  int       `json:"records"`

	// Unreadable counts records that the import could not parse, so that their packages are
	// unknown.
	Unreadable int `json:"unreadable,omitempty"`

	// EPSS and KEV describe the data about exploitation; nil when it was not imported.
	EPSS *FeedData `json:"epss,omitempty"`
	KEV  *FeedData `json:"kev,omitempty"`
}

// Freshness says how old the data was when a scan began, in days. What was not
// imported, or has no date, is nil.
type Freshness struct {
	Records  *int `json:"recordsDays,omitempty"`  // since the latest modification of a record
	Imported *int `json:"importedDays,omitempty"` // since the import
	EPSS     *int `json:"epssDays,omitempty"`
	KEV      *int `json:"kevDays,omitempty"`
}

// Freshness returns how old the data is at a time.
func (d *AdvisoryData) Freshness(at time.Time) Freshness {
	days := func(since time.Time) *int {
		if since.IsZero() || at.IsZero() {
			return nil
		}
		n := max(0, int(at.Sub(since).Hours()/24))
		return &n
	}
	out := Freshness{Records: days(d.Newest), Imported: days(d.Imported)}
	if d.EPSS != nil {
		out.EPSS = days(d.EPSS.Date)
	}
	if d.KEV != nil {
		out.KEV = days(d.KEV.Date)
	}
	return out
}

// FeedData says which scores, or which catalogue, a scan used.
type FeedData struct {
	Version string    `json:"version,omitempty"`
	Date    time.Time `json:"date"` // the day that they are of
	Entries int       `json:"entries"`
}

// A Progress tells how far a scan is.
type Progress struct {
	Percent int    `json:"percent"` // 0 to 100, never falls
	Step    string `json:"step"`    // for people
}
