// Package scan is the contract between the driver, which owns the world, and the
// analyzers, which know one thing each. An Analyzer is a value; the driver
// walks the tree, opens files, limits time and size, calls the analyzer with a
// pass, and records for each analyzer how it ended. What is found leaves as a
// stream of messages to a Handler: the report formats, the worker and the
// command line are handlers.
//
// Nothing here or in an engine knows of tenants, databases or users.
package scan

import (
	"errors"
	"slices"
	"time"

	"merlon/internal/finding"
)

// ErrMissingPart is wrapped by what an analyzer says when the program was built without
// something that it needs. What the analyzer finds without it is degraded.
var ErrMissingPart = errors.New("missing from this build")

// An Analyzer describes one check. It is a value: declaring it registers
// nothing and runs nothing.
type Analyzer struct {
	// ID is permanent. It is the folder's path below engine: "secrets/credentials".
	ID string

	// Version grows when the same input may give a different result.
	Version int

	// Analysis is the kind of examination that the analyzer is part of.
	Analysis finding.Analysis

	// Doc is the page users read. Its first line is the title.
	Doc string

	// Rules returns the rules by which the analyzer reports findings, each once. An
	// error is a fault of the build; with ErrMissingPart come the rules of the
	// parts that are there. Rules made of advisories are not among them.
	Rules func() ([]*finding.Rule, error)

	// Needs states what the analyzer requires of the host. The driver fails an
	// analyzer whose needs are not met, with the reason.
	Needs Needs

	// Match reports whether the analyzer wants the file. It is called for every
	// file of every scan with the path relative to the root, so it looks at that
	// only. File needs it. For Project it may be nil: then every file concerns
	// the analyzer, and each one out of reach (too large, unreadable) degrades it.
	Match func(path string) bool

	// Streams reports whether the analyzer reads the file as a stream, through the
	// file system of its pass, so that it may have up to Limits.StreamSize bytes.
	// Nil means none. It needs Project.
	Streams func(path string) bool

	// History states that the analyzer reads the repositories of a tree: a tree of a
	// repository without any file is not empty to it.
	History bool

	// Exactly one of these is set; it says what the analyzer looks at. An error
	// fails this analyzer here; it never fails the scan.
	File    func(*FilePass) error    // one file at a time, several at once
	Project func(*ProjectPass) error // the whole tree
	Image   func(*ImagePass) error   // a container image
	Live    func(*LivePass) error    // a running target
}

// Needs lists what an analyzer requires of the host.
type Needs struct {
	Network    bool // makes outgoing requests
	Advisories bool // looks up known vulnerabilities
}

// A State is how an analyzer ended. There is no "skipped": what was asked for
// and not done has failed.
type State string

const (
	Succeeded State = "succeeded" // analyzed all code of the project; see Reason.Skipped
	Degraded  State = "degraded"  // findings are valid, but code of the project was not analyzed
	Failed    State = "failed"    // no claim can be made
)

// A Status says how one analyzer ended, and why.
type Status struct {
	Analyzer string           `json:"analyzer"`
	Analysis finding.Analysis `json:"analysis"`
	State    State            `json:"state"`
	Reasons  []Reason         `json:"reasons"` // at most MaxReasons; one that is not Skipped unless succeeded
	Omitted  int              `json:"omitted"` // reasons beyond MaxReasons
	Files    int              `json:"files"`   // files looked at
	Findings int              `json:"findings"`
	Ignored  int              `json:"ignored,omitempty"` // findings removed by the ignore file
	Duration time.Duration    `json:"duration"`          // nanoseconds

	// Root is set when the scan was of one part of the project, a container image:
	// what all paths of that part begin with. Of other paths the status says nothing.
	Root string `json:"root,omitempty"`

	// OS is what the scanned container image is made of; nil where the analyzer did
	// not come so far as to tell.
	OS *OS `json:"os,omitempty"`
}

// An OS is the operating system in a container image. An image that does not say
// which one it is (it has no os-release) has one without an ID.
type OS struct {
	ID      string `json:"id"`      // "debian"
	Version string `json:"version"` // "12"; some say none
	Name    string `json:"name"`    // "Debian GNU/Linux 12 (bookworm)"
}

// MaxReasons bounds the reasons kept for one analyzer. A status with omitted
// reasons counts as not having looked at anything, because the paths are lost.
const MaxReasons = 1000

// A Reason says what was not looked at. With a Path, everything else was: a
// file, or with a trailing slash a folder. With Rules, what those rules find was
// not looked for there, or without a Path nowhere; everything else was. Without
// both, nothing is sure. With Beyond, other places may be missing besides: all that is
// sure is what was looked at in operations that the scan has reached, without a reason.
type Reason struct {
	Code    string   `json:"code"` // "too-large", "unreadable", "malformed", "timeout", "panic", "unavailable", …
	Message string   `json:"message"`
	Path    string   `json:"path,omitempty"`
	Line    int      `json:"line,omitempty"`
	Rules   []string `json:"rules,omitempty"` // IDs
	Beyond  bool     `json:"beyond,omitempty"`
	// Skipped marks what is passed over by design: packages that a tool installed,
	// minified and generated files. It does not make the analyzer degraded, because
	// no code of the project itself is missing.
	Skipped bool `json:"skipped,omitempty"`
}

func (r Reason) equal(s Reason) bool {
	return r.Code == s.Code && r.Message == s.Message && r.Path == s.Path && r.Line == s.Line && r.Beyond == s.Beyond &&
		r.Skipped == s.Skipped && slices.Equal(r.Rules, s.Rules)
}

// A Handler receives the messages of one scan, from one goroutine at a time. A
// stream with all Progress messages removed is still whole. An error ends the
// scan.
type Handler interface {
	// Config is the first message.
	Config(*Config) error
	// Progress tells how far the scan is.
	Progress(*Progress) error
	// Rule describes a rule, once, before the first finding that names it.
	Rule(*finding.Rule) error
	// Package reports a dependency that was seen.
	Package(*finding.Package) error
	// Finding reports a flaw.
	Finding(*finding.Finding) error
	// Operation tells what became of an operation of a running application.
	Operation(*finding.Operation) error
	// Status ends one analyzer. The stream is whole when every analyzer that
	// Config names has its status.
	Status(*Status) error
}

// A Config says what is about to be scanned, by what.
type Config struct {
	Tool       string             `json:"tool"`
	Version    string             `json:"version"`
	Root       string             `json:"root"`  // the name of the scanned folder or file, without its parents
	Files      int                `json:"files"` // regular files below it that can be looked at
	Started    time.Time          `json:"started"`
	Analyses   []finding.Analysis `json:"analyses"`
	Analyzers  []string           `json:"analyzers"`
	Advisories *AdvisoryData      `json:"advisories,omitempty"`
	Sandbox    []string           `json:"sandbox,omitempty"` // protections that could not be had, in words
	Image      *Image             `json:"image,omitempty"`   // what was scanned instead of a tree
	// kinds of paths that the tree shows none of: they may have been left out
	Absent []PathKind `json:"absent,omitempty"`
	// address of the running application that was scanned instead of a tree
	Target string `json:"target,omitempty"`
}

// An Image names the container image that is scanned.
type Image struct {
	Name     string `json:"name"`             // as it was asked for, or as its archive names it
	Digest   string `json:"digest,omitempty"` // of its manifest; an archive of the older form has none
	ID       string `json:"id"`               // digest of its configuration
	Platform string `json:"platform"`         // "linux/amd64"
	Base     string `json:"base,omitempty"`   // the image that it was built from, where it tells
	Layers   int    `json:"layers"`
	Size     int64  `json:"size,omitempty"` // bytes of the layers as they are stored
}

// AdvisoryData says which vulnerability data a scan used.
type AdvisoryData struct {
	Digest   string    `json:"digest"`   // of the data file
	Imported time.Time `json:"imported"` // when it was last imported
	Newest   time.Time `json:"newest"`   // the latest modification of a record in it
	Records  int       `json:"records"`

	// Unreadable counts records that could not be read at the import, so that it
	// is not known which packages they are about.
	Unreadable int `json:"unreadable,omitempty"`

	// What is known of exploitation; nil when it was not imported.
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
