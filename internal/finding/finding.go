// Package finding describes what a scan reports: findings with their place and
// evidence, the rules they come from, and the packages that were seen. Every
// analyzer speaks in these terms and nothing downstream has a case for a single
// analyzer.
package finding

import "time"

// An Analysis is a kind of examination, by its name on the wire.
type Analysis string

const (
	SAST      Analysis = "sast"
	SCA       Analysis = "sca"
	IaC       Analysis = "iac"
	Secret    Analysis = "secret"
	CICD      Analysis = "cicd"
	Container Analysis = "container"
	DAST      Analysis = "dast"
	API       Analysis = "api"
)

// Analyses lists every analysis, in the order in which results are shown.
var Analyses = []Analysis{SAST, SCA, IaC, Secret, CICD, Container, DAST, API}

// A Severity says how bad a flaw is.
type Severity string

const (
	Critical Severity = "critical"
	High     Severity = "high"
	Medium   Severity = "medium"
	Low      Severity = "low"
)

// Severities lists every severity, worst first.
var Severities = []Severity{Critical, High, Medium, Low}

// Rank returns 4 for critical down to 1 for low, and 0 for anything else.
func (s Severity) Rank() int {
	switch s {
	case Critical:
		return 4
	case High:
		return 3
	case Medium:
		return 2
	case Low:
		return 1
	}
	return 0
}

// FromCVSS returns the severity of a CVSS score between 0 and 10 by the bands
// of the CVSS 4.0 specification, section 6. A score of 0 is low.
func FromCVSS(score float64) Severity {
	switch {
	case score >= 9:
		return Critical
	case score >= 7:
		return High
	case score >= 4:
		return Medium
	}
	return Low
}

// A Confidence says how sure an analyzer is that a finding is a flaw.
type Confidence string

const (
	HighConfidence   Confidence = "high"
	MediumConfidence Confidence = "medium"
	LowConfidence    Confidence = "low"
)

// A Profile selects the findings that a scan reports.
type Profile string

const (
	// DefaultProfile reports what a team fixes now or plans to fix.
	DefaultProfile Profile = "default"
	// AllProfile also reports rules of form, naming conventions and hardening checklists, and
	// findings whose context makes them weigh less than low. It is meant for audits.
	AllProfile Profile = "all"
)

// Profiles lists every profile, the smallest first.
var Profiles = []Profile{DefaultProfile, AllProfile}

// A Rule is what a finding is an instance of. ID is permanent: stored findings
// and users' decisions are keyed by it.
type Rule struct {
	ID               string     `json:"id"` // "secrets/credentials/aws-access-token"; at most 200 bytes
	Analysis         Analysis   `json:"analysis"`
	Name             string     `json:"name"`
	ShortDescription string     `json:"shortDescription"`
	Description      string     `json:"description"`     // Markdown: what and why
	HowToPrevent     string     `json:"howToPrevent"`    // Markdown: how to fix
	CWE              []string   `json:"cwe,omitempty"`   // "CWE-89"
	OWASP            []string   `json:"owasp,omitempty"` // "A03:2021", "A05:2025", "API1:2023", "CICD-SEC-4"
	ASVS             []string   `json:"asvs,omitempty"`  // requirements of OWASP ASVS 5.0.0: "V1.2.4"
	Severity         Severity   `json:"severity"`
	Confidence       Confidence `json:"confidence"`
	Language         string     `json:"language"`
	Link             string     `json:"link,omitempty"` // a page about the rule
	// Profile is the smallest profile that applies the rule; empty: DefaultProfile.
	Profile Profile `json:"profile,omitempty"`

	// Advisory is set when the rule is a known vulnerability of a package.
	Advisory *Advisory `json:"advisory,omitempty"`
}

// A Finding is one flaw in one place.
type Finding struct {
	RuleID   string   `json:"ruleId"`
	Analyzer string   `json:"analyzer"`
	Analysis Analysis `json:"analysis"`
	// Severity is what package severity computes from Impact and Terms. An analyzer sets it to
	// the impact of the weakness, or leaves it empty for that of the rule.
	Severity Severity `json:"severity"`
	// Impact is the severity without its context; empty where the context changes nothing.
	Impact Severity `json:"impact,omitempty"`
	// Terms say how the context changes the impact. An analyzer sets the terms that it knows;
	// the driver adds those of the path.
	Terms []SeverityTerm `json:"severityTerms,omitempty"`
	// Confidence says how sure the analyzer is of this finding: of three findings with high
	// confidence in four, the flaw is real. Empty from an analyzer: the rule's.
	Confidence Confidence `json:"confidence,omitempty"`
	Message    string     `json:"message"`
	Language   string     `json:"language"`
	Location   Location   `json:"location"`
	Snippet    *Snippet   `json:"snippet,omitempty"`
	// Also lists where else the same flaw shows: copies of the code, or other places of a
	// running application.
	Also []Location `json:"also,omitempty"`
	// Same lists other rules, by id, that say the same of the place.
	EquivalentRules []string `json:"same,omitempty"`

	// Evidence: which of these are set depends on what was seen, not on who
	// reports it.
	Steps   []Step        `json:"steps,omitempty"`   // a path through the code, source first
	Package *PackageMatch `json:"package,omitempty"` // a vulnerable package
	Secret  *SecretMatch  `json:"secret,omitempty"`  // a redacted secret
	Layer   *Layer        `json:"layer,omitempty"`   // the layer of the image in which it was seen
	Live    *Live         `json:"live,omitempty"`    // requests and answers of a running application
	Entry   []EntryPoint  `json:"entry,omitempty"`   // operations through which the data of the path comes in
	Fix     *Fix          `json:"fix,omitempty"`     // an edit that removes the flaw

	// Cause is what findings of several places have in common when one change fixes them all;
	// it never leaves the process. The driver makes one finding of them.
	Cause string `json:"-"`

	// Identity is what of the flaw stays the same when it moves; it never leaves
	// the process. When an analyzer leaves it empty, the driver takes the flagged
	// code. The driver makes Fingerprint from it.
	Identity    string      `json:"-"`
	Fingerprint Fingerprint `json:"fingerprint"`
}

// A SeverityTerm is one reason why a finding is more or less severe than its impact alone.
type SeverityTerm struct {
	Points int    `json:"points"` // steps of severity: 1 makes high of medium, -1 low of medium
	Reason string `json:"reason"` // "test fixture", "Docker socket mounted"
}

// A Fix is a change of one file that removes the flaw.
type Fix struct {
	Description string `json:"description"` // what the change does: "Pin the action to a commit"
	Path        string `json:"path"`        // as in Location
	Edits       []Edit `json:"edits"`       // in the order of their lines, without overlap
}

// An Edit replaces whole lines. Lines start at 1.
type Edit struct {
	StartLine int      `json:"startLine"` // the first replaced line
	EndLine   int      `json:"endLine"`   // the last replaced line; StartLine-1 inserts before StartLine
	Lines     []string `json:"lines"`     // without line ends; none deletes the lines
}

// A Location is a place in a file below the scanned root. Lines and columns
// start at 1; a zero line means the file as a whole, a zero column is unknown.
// Columns count characters (Unicode code points), not bytes.
type Location struct {
	Path        string `json:"path"` // relative, forward slashes
	StartLine   int    `json:"startLine"`
	EndLine     int    `json:"endLine"`
	StartColumn int    `json:"startColumn,omitempty"`
	EndColumn   int    `json:"endColumn,omitempty"` // one past the last character
}

// A Snippet is some lines of a file around a place. Lines are cut at 400 bytes
// and hold valid UTF-8.
type Snippet struct {
	StartLine int      `json:"startLine"`
	Lines     []string `json:"lines"`
}

// A Step is one station of a path.
type Step struct {
	Kind     StepKind `json:"kind"`
	Message  string   `json:"message,omitempty"`
	Location Location `json:"location"`
	Snippet  *Snippet `json:"snippet,omitempty"`
}

// A StepKind is the part that a step plays in a path.
type StepKind string

const (
	Source       StepKind = "source"
	Intermediate StepKind = "intermediate"
	Sink         StepKind = "sink"
)

// Redacted stands in snippets where a secret was.
const Redacted = "[redacted]"

// A SecretMatch is a secret that was found; the secret itself never leaves the
// analyzer.
type SecretMatch struct {
	Kind     string `json:"kind"`     // "AWS access key"
	Redacted string `json:"redacted"` // "AKIA…(20)"

	// History is set for a secret that commits of the repository hold.
	History *History `json:"history,omitempty"`

	// Validity says whether the credential works; empty when nobody was asked.
	Validity Validity `json:"validity,omitempty"`

	// Key is the same for the same secret within one process and tells nothing
	// outside of it. By it the driver joins what the tree and the history hold.
	Key string `json:"-"`
}

// A Validity is what the issuer of a credential says of it.
type Validity string

const (
	Valid   Validity = "valid"
	Invalid Validity = "invalid" // it was revoked, or never was one
	Unknown Validity = "unknown" // nobody could be asked, or the answer says neither
)

// A History says which commits hold a secret. The location of a finding that is
// not in the tree any more is that in its first commit.
type History struct {
	FirstCommit string    `json:"firstCommit"`      // 40 hexadecimal digits
	LastCommit  string    `json:"lastCommit"`       // the latest that wrote a file with the secret
	Author      string    `json:"author,omitempty"` // of the first commit
	Date        time.Time `json:"date"`             // when the author wrote the first commit
	LastDate    time.Time `json:"lastDate"`
	Path        string    `json:"path"` // in the first commit
	InTree      bool      `json:"inTree"`
}

// A Layer is the part of a container image in which something was seen. Nothing of
// it enters a fingerprint: an image that is built again has other digests.
type Layer struct {
	Index       int    `json:"index"`                 // from 0, the lowest
	Digest      string `json:"digest"`                // of its uncompressed content, "sha256:…"
	Instruction string `json:"instruction,omitempty"` // of the build, which made it
	Base        bool   `json:"base,omitempty"`        // belongs to the image that this one was built from
	// a later layer removes or replaces the file; the layer still holds it
	Deleted bool `json:"deleted,omitempty"`
}
