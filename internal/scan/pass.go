package scan

import (
	"context"
	"io/fs"
	"time"

	"merlon/internal/finding"
	"merlon/internal/image"
)

// This file declares what the driver hands to an analyzer. A pass is the only
// way in and the only way out.

// A FilePass is one file offered to an analyzer.
type FilePass struct {
	Context context.Context
	Path    string // relative to the root, forward slashes
	Size    int64

	// ReadFile returns the content. The slice is shared between analyzers and
	// must not be changed.
	ReadFile func() ([]byte, error)

	// Verify asks the issuers of credentials; nil when nobody has switched it on.
	Verify Verifier

	Reporter
}

// A Verifier asks the issuer of a credential whether it works.
type Verifier interface {
	// Verify says whether the credential that the rule found works. It may be called
	// from several goroutines.
	Verify(ctx context.Context, ruleID, value string) finding.Validity
}

// A ProjectPass is the whole tree.
type ProjectPass struct {
	Context context.Context

	// FS is the scanned tree: regular files only, without links, within the
	// limits of the scan. It cannot reach outside of the root.
	FS fs.FS

	// Dir is the root in the file system of the host, for libraries that need one.
	// It is empty when a single file is scanned: its folder is not the tree.
	Dir string

	// Files lists the regular files, sorted.
	Files []File

	// Repositories are the Git repositories in the tree, whose folders .git are no
	// part of FS and Files.
	Repositories []Repository

	// Advisories looks up known vulnerabilities, for an analyzer that needs them.
	// It is nil when there is no data: the analyzer then reports the packages and
	// degrades.
	Advisories Advisories

	// Verify asks the issuers of credentials; nil when nobody has switched it on.
	Verify Verifier

	// Code says how source code is analysed.
	Code Code

	// Workers is the number of goroutines that the analyzer may keep busy.
	Workers int

	// Progress tells how far the analyzer is, from 0 to 100, and what it does, for
	// people. It may be called from several goroutines and as often as one likes: a
	// number that is not new costs little and is not shown.
	Progress func(percent int, step string)

	// Operation tells of an operation that the code declares.
	Operation func(finding.Operation)

	Reporter
}

// Code says how source code is analysed. The zero value is the whole analysis with
// the rules of the build.
type Code struct {
	// Rules are files and folders of the host with more rules.
	Rules []string
	// OnlyRules leaves out the rules of the build.
	OnlyRules bool
	// Fast keeps the analysis inside of files, and within this time. The analyzer
	// then ends degraded, because it did not look at what crosses files. 0 is off.
	Fast time.Duration
	// Cache is a folder of the host for what the next scan can use; "" keeps nothing.
	// What is found does not depend on it.
	Cache string
	// CacheName tells the trees apart that share the folder.
	CacheName string
}

// A Repository is a Git repository in the scanned tree.
type Repository struct {
	// Path is the folder that holds .git, relative to the root; "." is the root.
	Path string
	// FS is the folder .git, read only. Links in it lead nowhere outside of the
	// tree. It is nil when .git is a file that names a folder elsewhere.
	FS fs.FS
}

// A File is an entry of the scanned tree.
type File struct {
	Path string
	Size int64
}

// An ImagePass is a container image on the disk.
type ImagePass struct {
	Context context.Context

	// Image is open for as long as the pass lasts.
	Image *image.Image

	// Advisories looks up known vulnerabilities, as in a ProjectPass.
	Advisories Advisories

	// Limits holds for the files of the layers.
	Limits Limits

	// Workers is the number of goroutines that the analyzer may keep busy.
	Workers int

	// Progress tells how far the analyzer is, as in a ProjectPass.
	Progress func(percent int, step string)

	// Looked tells how many files were looked at, for the status.
	CountFiles func(files int)

	// System tells which operating system the image is of, for the status.
	ReportOS func(OS)

	Reporter
}

// A Reporter takes what an analyzer has to say. Its functions may be called
// from several goroutines.
type Reporter struct {
	// Report reports a flaw that is an instance of the rule. The driver fills in
	// what can be derived: analyzer, analysis, missing severity, message and
	// language, the snippet, the fingerprint. A finding with a Secret must bring
	// its own redacted Snippet and its Identity: nothing is derived from the file.
	Report func(*finding.Rule, finding.Finding)

	// Package reports a dependency that was seen.
	Package func(finding.Package)

	// Degrade records something that the analyzer did not look at. The analyzer
	// then ends degraded.
	Degrade func(Reason)
}

// Advisories looks up known vulnerabilities, in OSV's terms.
type Advisories interface {
	// Match returns the advisories that affect the version of the package. It
	// returns an error when the ecosystem's versions cannot be compared or the
	// version cannot be read: never an empty answer for "I do not know".
	Match(ctx context.Context, ecosystem, name, version string) ([]AdvisoryMatch, error)
	// Knows reports whether there is any data for the ecosystem.
	Knows(ecosystem string) bool
	// Data says which data this is.
	Data() AdvisoryData
}

// An AdvisoryMatch is an advisory that affects a version.
type AdvisoryMatch struct {
	Advisory   *finding.Advisory
	Introduced string
	Fixed      []string // lowest first
	Upgrade    string   // smallest version above the present one that clears it; empty when none
	// smallest version above the present one that no known advisory affects; empty when none
	UpgradeAll string
	Symbols    []finding.Symbols // the flawed parts, where a record names them
}
