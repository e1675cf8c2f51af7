package scan

import (
	"context"
	"io/fs"
	"time"

	"merlon/internal/finding"
	"merlon/internal/image"
)

// This file declares what the driver passes to an analyzer. A pass is the only input and the
// only output of an analyzer.

// A FilePass is one file offered to an analyzer.
type FilePass struct {
	Context context.Context
	Path    string // relative to the root, forward slashes
	Size    int64

	// ReadFile returns the content. The slice is shared between analyzers and
	// must not be changed.
	ReadFile func() ([]byte, error)

	// Verify verifies credentials with their issuers; nil when verification is disabled.
	Verify Verifier

	Reporter
}

// A Verifier asks the issuer of a credential whether it is valid.
type Verifier interface {
	// Verify returns whether the credential that the rule detected is valid. It is safe for
	// concurrent use.
	Verify(ctx context.Context, ruleID, value string) finding.Validity
}

// A ProjectPass is the whole tree.
type ProjectPass struct {
	Context context.Context

	// FS is the scanned tree: regular files only, without links, within the
	// limits of the scan. It cannot reach outside of the root.
	FS fs.FS

	// Dir is the root in the file system of the host, for libraries that need one. It is empty
	// when a single file is scanned: its folder is out of scope.
	Dir string

	// Files lists the regular files, sorted.
	Files []File

	// Repositories are the Git repositories in the tree, whose folders .git are not part of FS
	// and Files.
	Repositories []Repository

	// Advisories looks up known vulnerabilities, for an analyzer that needs them. It is nil when
	// there is no data: the analyzer then reports the packages and degrades.
	Advisories Advisories

	// Verify verifies credentials with their issuers; nil when verification is disabled.
	Verify Verifier

	// Code configures source code analysis.
	Code Code

	// Workers is the number of goroutines that the analyzer may keep busy.
	Workers int

	// Progress reports the progress of the analyzer, from 0 to 100, and its current step, for
	// display. It is safe for concurrent use and cheap: a percentage that has not grown is
	// dropped.
	Progress func(percent int, step string)

	// Operation reports an operation that the code declares.
	Operation func(finding.Operation)

	Reporter
}

// Code configures source code analysis. The zero value is the full analysis with the built-in
// rules.
type Code struct {
	// Rules are files and folders of the host with additional rules.
	Rules []string
	// OnlyRules disables the built-in rules.
	OnlyRules bool
	// Fast limits the analysis to single files and to this time. The analyzer then ends
	// degraded, because data flow across files was not analyzed. 0 disables it.
	Fast time.Duration
	// Cache is a folder of the host for the result cache; empty: no cache. Findings do not
	// depend on it.
	Cache string
	// CacheName distinguishes the trees that share the folder.
	CacheName string
}

// A Repository is a Git repository in the scanned tree.
type Repository struct {
	// Path is the folder that contains .git, relative to the root; "." is the root.
	Path string
	// FS is the folder .git, read only. Links in it cannot lead outside of the tree. It is nil
	// when .git is a file that names a folder elsewhere.
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

	// Limits applies to the files of the layers.
	Limits Limits

	// Workers is the number of goroutines that the analyzer may keep busy.
	Workers int

	// Progress reports the progress of the analyzer, as in a ProjectPass.
	Progress func(percent int, step string)

	// Looked tells how many files were looked at, for the status.
	CountFiles func(files int)

	// System tells which operating system the image is of, for the status.
	ReportOS func(OS)

	Reporter
}

// A Reporter receives the results of an analyzer. Its functions are safe for concurrent use.
type Reporter struct {
	// Report reports a vulnerability as an instance of the rule. The driver fills in the
	// derived fields: analyzer, analysis, missing severity, message and language, the snippet,
	// the fingerprint. A finding with a Secret must provide its own redacted Snippet and its
	// Identity: nothing is derived from the file.
	Report func(*finding.Rule, finding.Finding)

	// Package reports a dependency.
	Package func(finding.Package)

	// Degrade records a coverage gap. The analyzer then ends degraded.
	Degrade func(Reason)
}

// Advisories looks up known vulnerabilities, in OSV's terms.
type Advisories interface {
	// Match returns the advisories that affect the version of the package. It returns an error
	// when the ecosystem's versions cannot be compared or the version cannot be parsed: an
	// empty result always means that the version is not affected.
	Match(ctx context.Context, ecosystem, name, version string) ([]AdvisoryMatch, error)
	// Knows reports whether there is any data for the ecosystem.
	Knows(ecosystem string) bool
	// Data describes the data.
	Data() AdvisoryData
}

// An AdvisoryMatch is an advisory that affects a version.
type AdvisoryMatch struct {
	Advisory   *finding.Advisory
	Introduced string
	Fixed      []string // lowest first
	Upgrade    string   // smallest version above the current one that fixes it; empty when none
	// smallest version above the current one that no known advisory affects; empty when none
	UpgradeAll string
	Symbols    []finding.Symbols // the vulnerable functions, where a record names them
	// OpenEnded says that the range that holds the version ends nowhere: no fixed version, no
	// last affected one and no list of versions.
	OpenEnded bool
}
