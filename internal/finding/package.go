package finding

import (
	"cmp"
	"net/url"
	"strings"
)

// This file describes packages and the vulnerabilities known of them.

// A Package is a dependency that was seen in a manifest, a lock file or an
// image.
type Package struct {
	Ecosystem string           `json:"ecosystem"` // as OSV spells it: "npm", "PyPI", "Maven", "Go"
	Name      string           `json:"name"`
	Version   string           `json:"version"` // empty when the file does not fix it
	PURL      string           `json:"purl,omitempty"`
	Path      string           `json:"path"`           // the file that names it
	Line      int              `json:"line,omitempty"` // in that file; 0 when unknown
	Scope     Dependency       `json:"scope"`
	Dev       bool             `json:"dev,omitempty"`
	Licenses  []string         `json:"licenses,omitempty"` // SPDX expressions
	Via       []string         `json:"via,omitempty"`      // "name@version" from the root to this package's parent
	Manifest  *PackageLocation `json:"manifest,omitempty"` // where the project asks for it, when Path is a lock file

	// Source is the source package that an operating system's package was built
	// from, where that has another name or version: advisories speak of it.
	Source        string `json:"source,omitempty"`
	SourceVersion string `json:"sourceVersion,omitempty"`
	Layer         *Layer `json:"layer,omitempty"` // of the image, which brought it
}

// System reports whether the package is one of an operating system's, which its
// package URL tells (https://github.com/package-url/purl-spec/blob/main/PURL-TYPES.rst).
func (p *Package) System() bool {
	for _, kind := range []string{"pkg:deb/", "pkg:rpm/", "pkg:apk/", "pkg:alpm/"} {
		if strings.HasPrefix(p.PURL, kind) {
			return true
		}
	}
	return false
}

// A PackageLocation is a line of a file.
type PackageLocation struct {
	Path string `json:"path"`
	Line int    `json:"line"` // starts at 1
}

// A Dependency says how a package came in.
type Dependency string

const (
	Direct            Dependency = "direct"
	Transitive        Dependency = "transitive"
	UnknownDependency Dependency = ""
)

// An Advisory is a known vulnerability, merged over all its names.
type Advisory struct {
	ID          string              `json:"id"`      // the name it is keyed by: a CVE where there is one
	GHSA        string              `json:"ghsa"`    // may be empty
	CVE         string              `json:"cve"`     // may be empty
	Aliases     []string            `json:"aliases"` // every name, ID included, sorted
	Summary     string              `json:"summary"`
	Details     string              `json:"details"` // Markdown
	Published   string              `json:"published,omitempty"`
	Modified    string              `json:"modified,omitempty"`
	SchemaVer   string              `json:"schemaVersion,omitempty"`
	Severities  []AdvisorySeverity  `json:"severities"`
	References  []AdvisoryReference `json:"references"`
	CWE         []string            `json:"cwe"`
	Malicious   bool                `json:"malicious,omitempty"` // the package itself is an attack
	Severity    Severity            `json:"severity"`
	CVSS        float64             `json:"cvss"` // 0 when no vector can be scored
	CVSSVersion string              `json:"cvssVersion,omitempty"`
	CVSSVector  string              `json:"cvssVector,omitempty"`
	// Estimated says that the vulnerability has no score: severity and vector are typical of
	// its weakness.
	Estimated bool `json:"estimated,omitempty"`

	// What is known of its exploitation; nil when the data says nothing of it.
	EPSS *EPSS `json:"epss,omitempty"`
	KEV  *KEV  `json:"kev,omitempty"`
}

// Link is a page about the advisory: the first reference that calls itself one, or
// "". It is an address of http or https.
func (a *Advisory) Link() string {
	for _, kind := range []string{"ADVISORY", "WEB", "REPORT", "FIX"} {
		for _, r := range a.References {
			if u, err := url.Parse(r.URL); err == nil && r.Type == kind && (u.Scheme == "https" || u.Scheme == "http") {
				return r.URL
			}
		}
	}
	return ""
}

// Rule describes the advisory to people, as a rule of the analysis. Its id is the
// advisory's behind the prefix; HowToPrevent and Language are the caller's to say.
func (a *Advisory) Rule(analysis Analysis, prefix string) *Rule {
	return &Rule{
		ID: prefix + a.ID, Analysis: analysis, Name: cmp.Or(a.Summary, a.ID), ShortDescription: cmp.Or(a.Summary, a.ID),
		Description: cmp.Or(a.Details, a.Summary, a.ID), CWE: a.CWE,
		OWASP: []string{"A06:2021", "A03:2025"}, ASVS: []string{"V15.2.1"},
		Severity: a.Severity, Confidence: HighConfidence, Link: a.Link(), Advisory: a,
	}
}

// Message says that the package is affected, and which version clears it where
// upgrade names one.
func (a *Advisory) Message(pkg, upgrade string) string {
	switch {
	case a.Malicious:
		return pkg + " is malicious: " + a.ID
	case upgrade != "":
		return pkg + " is affected by " + a.ID + " (fixed in " + upgrade + ")"
	}
	return pkg + " is affected by " + a.ID + " (no fixed version is known)"
}

// An AdvisorySeverity is a severity as the record spells it.
type AdvisorySeverity struct {
	Type  string `json:"type"` // CVSS_V2, CVSS_V3, CVSS_V4
	Score string `json:"score"`
}

// EPSS is how likely a flaw is exploited within thirty days, by the Exploit
// Prediction Scoring System (https://www.first.org/epss/).
type EPSS struct {
	Score      float64 `json:"score"`      // probability, 0 to 1
	Percentile float64 `json:"percentile"` // share of all flaws that score lower or the same, 0 to 1
}

// KEV says that a flaw is in the catalogue of known exploited vulnerabilities.
type KEV struct {
	Added      string `json:"added,omitempty"` // day, "2021-12-10"; empty when unknown
	Due        string `json:"due,omitempty"`   // the day by which the catalogue wants it mended
	Ransomware bool   `json:"ransomware,omitempty"`
}

// Symbols are flawed functions and types of one package or module of a library.
type Symbols struct {
	Path  string   `json:"path,omitempty"`  // import path
	Names []string `json:"names,omitempty"` // "Parse", "Decoder.Decode"; none: the whole of it
}

// An AdvisoryReference is an address that tells more.
type AdvisoryReference struct {
	Type string `json:"type"` // ADVISORY, FIX, WEB, …
	URL  string `json:"url"`
}

// A PackageMatch is a package that an advisory affects.
type PackageMatch struct {
	Package    Package  `json:"package"`
	Introduced string   `json:"introduced,omitempty"` // the first affected version of the matching range
	Fixed      []string `json:"fixed,omitempty"`      // versions that clear this advisory, lowest first
	Upgrade    string   `json:"upgrade,omitempty"`    // the smallest version above the present one that clears it
	// the smallest version above the present one that no known advisory affects
	UpgradeAll string        `json:"upgradeAll,omitempty"`
	Reach      *Reach        `json:"reach,omitempty"` // nil when it was not looked at
	VEX        *VEXStatement `json:"vex,omitempty"`   // what somebody said of it; nil for nothing
	// where the project asks for the version; nil when that is not known
	Requirement *Requirement `json:"demand,omitempty"`

	// Also are further affected versions of the package in the same file; they have no
	// Also, Reach and VEX of their own.
	Also []PackageMatch `json:"also,omitempty"`
}

// A Requirement is where a manifest asks for versions of a package: what has to change for
// an upgrade.
type Requirement struct {
	Path   string `json:"path"`
	Line   int    `json:"line"`   // starts at 1
	Text   string `json:"text"`   // of the line, without its end
	Start  int    `json:"start"`  // where in Text the versions stand, in bytes
	End    int    `json:"end"`    // behind them
	Syntax string `json:"syntax"` // how they are written: a word of the package upgrade
}

// A VEXStatement is what somebody said about a vulnerability in a package: an
// exchange of exploitability, VEX.
type VEXStatement struct {
	Status        VEXStatus `json:"status"`
	Justification string    `json:"justification,omitempty"` // a word of the format
	Text          string    `json:"text,omitempty"`          // for people
	Author        string    `json:"author,omitempty"`
	Time          string    `json:"time,omitempty"` // RFC 3339
	File          string    `json:"file"`           // where it was said
}

// Clears reports whether nothing is to be done any more.
func (s *VEXStatement) Clears() bool {
	return s != nil && (s.Status == VEXNotAffected || s.Status == VEXFixed)
}

// A VEXStatus is the status of a vulnerability in a product, by its name in
// OpenVEX.
type VEXStatus string

// The statuses of a vulnerability.
const (
	VEXNotAffected        VEXStatus = "not_affected"
	VEXFixed              VEXStatus = "fixed"
	VEXAffected           VEXStatus = "affected"
	VEXUnderInvestigation VEXStatus = "under_investigation"
)

// A Reach says whether the program uses the flawed code of a package.
type Reach struct {
	Verdict ReachVerdict `json:"verdict"`
	Reason  string       `json:"reason"`          // for people
	Steps   []Step       `json:"steps,omitempty"` // a way to the call, or the imports
	// TestsOnly says that the program imports the package in its tests only.
	TestsOnly bool `json:"testsOnly,omitempty"`
}

// A ReachVerdict says how far a program uses the flawed code of a package.
type ReachVerdict string

// The verdicts.
const (
	Reachable    ReachVerdict = "reachable" // code that can run calls a function that the advisory names
	Imported     ReachVerdict = "imported"  // the package is used; whether the flawed code is, is not known
	NotFound     ReachVerdict = "not-found" // no source of the program imports the package
	UnknownReach ReachVerdict = "unknown"
)
