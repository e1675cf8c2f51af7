package findings

import (
	"time"

	"merlon/internal/finding"
	"merlon/internal/tenant"
	"merlon/internal/triage"
)

// This file holds how a finding looks on the wire. Clients of three generations
// read it: each element is flat for some, and wrapped in base for others.

// resultBody is a finding with both parts that public clients read.
type resultBody struct {
	FlatResult
	// The same object as library and package: each generation of clients reads it under its own
	// name.
	ScaDetectedPackage *libraryBody `json:"scaDetectedPackage,omitempty"`
	WrappedResult
}

// FlatResult is a finding in the form of the clients that read its members side by side.
type FlatResult struct {
	ResultFields
	HistoryItems []historyBody `json:"historyItems"`
	// A *ruleBody, or an *advisoryBody for a vulnerable package.
	Vulnerability any `json:"vulnerability" doc:"Rule ID; for a vulnerable package the advisory ID."`
	// Only for vulnerable packages, as library, metadata and autofixRecords below.
	Package *libraryBody `json:"package,omitempty"`
}

// WrappedResult is a finding in the form of the clients that read it out of base. What
// no public client knows stands here alone.
type WrappedResult struct {
	Base     resultBase    `json:"base"`
	Library  *libraryBody  `json:"library,omitempty"`
	Metadata *advisoryBody `json:"metadata,omitempty"`
	// A pointer to a list: it is absent for findings that are not of packages, and an empty list
	// for a package without a fixed version.
	AutofixRecords *[]autofixBody         `json:"autofixRecords,omitempty"`
	Secret         *secretBody            `json:"secret,omitempty" doc:"Type of the secret and its redacted value."`
	Live           *finding.Live          `json:"live,omitempty" doc:"Evidence of a vulnerability in a running application. Lists omit the HTTP exchanges and the command."`
	Entry          []finding.EntryPoint   `json:"entry,omitempty" doc:"API operations, as declared in code, through which the tainted data enters."`
	Proven         []sideBody             `json:"proven,omitempty" doc:"Dynamic findings on the same branch that confirm the vulnerability in the running application, including ignored ones; only active ones raise the priority. Omitted in lists."`
	Source         *sideBody              `json:"source,omitempty" doc:"Static finding of the same vulnerability on the same branch. Omitted in lists."`
	Impact         finding.Severity       `json:"impact,omitempty" doc:"Severity of the weakness without its context; omitted if the context changes nothing. Omitted in lists, as the next four members."`
	SeverityTerms  []finding.SeverityTerm `json:"severityTerms,omitempty" doc:"How the context changes the impact: points and reason of each term."`
	Confidence     finding.Confidence     `json:"confidence,omitempty" doc:"Confidence of the analyzer in this finding: high, medium or low."`
	Also           []finding.Location     `json:"also,omitempty" doc:"Further locations of the same vulnerability."`
	Fix            *fixBody               `json:"fix,omitempty" doc:"Edit that removes the finding; merlon fix applies it."`
	ClassType      triage.Class           `json:"classType,omitempty" doc:"Part of the container image that the finding affects."`
	Layer          *layerBody             `json:"layer,omitempty" doc:"Layer of the most recently scanned container image."`
}

// sideBody is a finding of the same flaw as the other side sees it: a live scan, or an
// analysis of the source. It is decided about by itself.
type sideBody struct {
	ID              triage.ID        `json:"id" format:"uuid"`
	Type            finding.Analysis `json:"type"`
	CurrentState    triage.Status    `json:"currentState"`
	CurrentPriority triage.Priority  `json:"currentPriority"`
	Reason          string           `json:"reason,omitempty" doc:"Comment of the last status change."`
	Method          string           `json:"method,omitempty" doc:"Only for dynamic findings, as all following members except message."`
	URL             string           `json:"url,omitempty"`
	Parameter       string           `json:"parameter,omitempty"`
	In              string           `json:"in,omitempty"`
	Path            string           `json:"path,omitempty" doc:"Only for findings in source code."`
	Line            int              `json:"line,omitempty"`
	Message         string           `json:"message"`
	UpdatedAt       time.Time        `json:"updatedAt"`
}

// layerBody is a layer of a container image.
type layerBody struct {
	Index       int    `json:"index" doc:"Index of the layer, from 0 for the lowest."`
	Digest      string `json:"digest"`
	Instruction string `json:"instruction" doc:"Build instruction that created the layer."`
	IsBase      bool   `json:"isBase" doc:"The layer belongs to the base image."`
	IsDeleted   bool   `json:"isDeleted" doc:"A later layer deletes or replaces the file, but this layer still contains it."`
}

// heldBody is an image that holds a finding.
type heldBody struct {
	ID           string `json:"id" format:"uuid"`
	ArtifactName string `json:"artifactName"`
	Tag          string `json:"tag"`
}

// resultBase is the finding as other clients read it.
type resultBase struct {
	ResultFields
	HistoryItems  historyList `json:"historyItems"`
	Vulnerability any         `json:"vulnerability" doc:"Rule ID; null for a vulnerable package."`
}

// historyList wraps the history as the clients expect it that read base.
type historyList struct {
	Items []historyBody `json:"items"`
}

// ResultFields are the fields that both forms have.
type ResultFields struct {
	ID        triage.ID        `json:"id" format:"uuid"`
	ProjectID tenant.ProjectID `json:"projectId" format:"uuid"`
	CreatedAt time.Time        `json:"createdAt"`
	UpdateAt  time.Time        `json:"updateAt"`
	// Part of the contract; the value is always null.
	TimeToFix       *string          `json:"timeToFix" doc:"Always null: not estimated."`
	CurrentState    triage.Status    `json:"currentState"`
	CurrentSeverity finding.Severity `json:"currentSeverity"`
	CurrentPriority triage.Priority  `json:"currentPriority"`
	// The composite score of 0 to 1000, divided by ten and rounded.
	PriorityScore         int              `json:"priorityScore" doc:"Confidence, from 0 to 100."`
	PriorityManual        bool             `json:"priorityManualOverride" doc:"The priority was set manually."`
	ContextualExplanation *string          `json:"contextualExplanation"`
	Message               string           `json:"message"`
	Language              string           `json:"language"`
	Path                  string           `json:"path"`
	VulnerableStartLine   int              `json:"vulnerableStartLine"`
	VulnerableEndLine     int              `json:"vulnerableEndLine"`
	Branch                string           `json:"branch"`
	ScannerType           finding.Analysis `json:"scannerType"`
	VulnerabilityType     finding.Analysis `json:"vulnerabilityType"`
	// At most one snippet, around the finding.
	CodeSnippets []snippetBody `json:"codeSnippets"`
	// The data flow from source to sink; empty when the finding has none.
	DataFlowItems []flowBody `json:"dataFlowItems"`
	CVSSScore     *float64   `json:"cvssScore,omitempty" doc:"Omitted if none."`
}

// ruleBody is a rule.
type ruleBody struct {
	ID     string   `json:"id" format:"uuid"`
	RuleID string   `json:"ruleId" doc:"Stable name of the rule."`
	CWE    []string `json:"cwe"`
	// The same as cwe, under the name that newer clients read.
	CWEArray         []string `json:"cweArray,omitempty"`
	Name             string   `json:"name"`
	ShortDescription string   `json:"shortDescription"`
	Description      string   `json:"description"`
	HowToPrevent     string   `json:"howToPrevent"`
	OWASPTop10       []string `json:"owaspTop10"`
	ASVS             []string `json:"asvs,omitempty" doc:"Requirements of OWASP ASVS 5.0.0."`
	// In upper case, unlike the severity of the finding.
	Severity          string           `json:"severity" enum:"CRITICAL,HIGH,MEDIUM,LOW"`
	Language          string           `json:"language"`
	VulnerabilityType finding.Analysis `json:"vulnerabilityType"`
	Link              string           `json:"link,omitempty"`
}

// libraryBody is a package with a known vulnerability.
type libraryBody struct {
	ID             string           `json:"id" format:"uuid"`
	ProjectID      tenant.ProjectID `json:"projectId" format:"uuid"`
	PackageName    string           `json:"packageName"`
	PackageVersion string           `json:"packageVersion"`
	FileName       string           `json:"fileName"`
	Ecosystem      string           `json:"ecosystem"`
	// Names of packages, not the path of a file; empty if none is known.
	Path         []string   `json:"path" doc:"Dependency path from the root package to the parent."`
	IsDev        bool       `json:"isDev"`
	IsTransitive bool       `json:"isTransitive"`
	Reachability *reachBody `json:"reachability,omitempty" doc:"Whether the vulnerable code is reachable; omitted if not analyzed."`
}

// reachBody says whether the program uses the flawed code of a package.
type reachBody struct {
	Verdict   string          `json:"verdict" enum:"used,potentially used,unused,unknown"`
	Reason    string          `json:"reason"`
	Locations []reachLocation `json:"locations" doc:"Call path to the vulnerable code, or its imports."`
}

// reachLocation is one step of the call path to the vulnerable code.
type reachLocation struct {
	Path string `json:"path"`
	Line int    `json:"line"`
	Text string `json:"text"`
}

// advisoryBody is a known vulnerability.
type advisoryBody struct {
	ID                string                `json:"id" format:"uuid" doc:"Title of the advisory's rule."`
	Name              string                `json:"name"`
	Description       string                `json:"description" doc:"Summary; details has the full text."`
	HowToPrevent      string                `json:"howToPrevent"`
	Severity          string                `json:"severity" enum:"CRITICAL,HIGH,MEDIUM,LOW" doc:"Severity of the finding."`
	GHSAID            string                `json:"ghsaId"`
	CVE               string                `json:"cve"`
	InternalID        string                `json:"internalId"`
	Summary           string                `json:"summary"`
	Details           string                `json:"details"`
	SeverityGH        string                `json:"severityGh"`
	SchemaVersion     string                `json:"schemaVersion"`
	ModifiedAt        string                `json:"modifiedAt,omitempty"`
	PublishedAt       string                `json:"publishedAt,omitempty"`
	CWEs              []advisoryCWE         `json:"cwes"`
	Aliases           []advisoryAlias       `json:"aliases"`
	References        []advisoryReference   `json:"references"`
	Severities        []advisorySeverity    `json:"severities"`
	Packages          []advisoryPackageBody `json:"packages"`
	VulnerabilityType finding.Analysis      `json:"vulnerabilityType"`
	EPSS              *finding.EPSS         `json:"epss,omitempty" doc:"Exploit Prediction Scoring System (EPSS) score."`
	KEV               *finding.KEV          `json:"kev,omitempty" doc:"Set if listed as a known exploited vulnerability (KEV)."`
}

// advisoryCWE is one weakness of an advisory. Clients key their lists by the ID, which is
// derived from rule and position and so stays the same from one response to the next. The
// same applies to the types below.
type advisoryCWE struct {
	ID    string `json:"id"`
	CWEID string `json:"cweId"`
}

// advisoryAlias is another name of the vulnerability, for example a CVE or GHSA ID.
type advisoryAlias struct {
	ID    string `json:"id"`
	Alias string `json:"alias"`
}

// advisoryReference is a link of the advisory with its type in OSV, for example ADVISORY.
type advisoryReference struct {
	ID   string `json:"id"`
	Type string `json:"type"`
	URL  string `json:"url"`
}

// advisorySeverity is a CVSS vector with its type in OSV, for example CVSS_V3.
type advisorySeverity struct {
	ID    string `json:"id"`
	Type  string `json:"type"`
	Score string `json:"score"`
}

// advisoryPackageBody is the affected package with the versions that matter for the finding:
// where the vulnerability was introduced, and the next version that fixes it.
type advisoryPackageBody struct {
	ID           string `json:"id"`
	Ecosystem    string `json:"ecosystem"`
	PackageName  string `json:"packageName"`
	Introduced   string `json:"introduced"`
	Fixed        string `json:"fixed"`
	FixAvailable bool   `json:"fixAvailable"`
	FixedAll     string `json:"fixedAll" doc:"Lowest later version without known vulnerabilities."`
}

// autofixBody is an upgrade that clears an advisory.
type autofixBody struct {
	CVEID                      string `json:"cveId"`
	VulnerablePackage          string `json:"vulnerablePackage"`
	VulnerableVersion          string `json:"vulnerableVersion"`
	RecommendedProposedVersion string `json:"recommendedProposedVersion"`
	InstallCommand             string `json:"installCommand"`
	HasFixAvailable            bool   `json:"hasFixAvailable"`
}

// secretBody is a secret with its value redacted: a report must not leak what it reports.
type secretBody struct {
	// Type of the secret, such as "AWS access key".
	Kind     string         `json:"kind"`
	Redacted string         `json:"redacted"`
	Validity string         `json:"validity,omitempty" enum:"valid,invalid,unknown" doc:"Result of validating the secret with its issuer; omitted if not validated."`
	History  *secretHistory `json:"history,omitempty" doc:"Commits that contain the secret, if the scan covered the Git history."`
}

// secretHistory says which commits hold a secret.
type secretHistory struct {
	FirstCommit string    `json:"firstCommit"`
	LastCommit  string    `json:"lastCommit" doc:"Latest commit that wrote a file with the secret."`
	Author      string    `json:"author,omitempty" doc:"Author of the first commit."`
	Date        time.Time `json:"date" doc:"Author of the first commit."`
	LastDate    time.Time `json:"lastDate"`
	Path        string    `json:"path" doc:"File in the first commit."`
	InTree      bool      `json:"inTree" doc:"The secret is still in the scanned files."`
}

// viewSecret shows a secret that was found.
func viewSecret(s *finding.SecretMatch) *secretBody {
	out := &secretBody{Kind: s.Kind, Redacted: s.Redacted, Validity: string(s.Validity)}
	if s.History != nil {
		h := secretHistory(*s.History)
		out.History = &h
	}
	return out
}

// codeLine is one line of code with its number.
type codeLine struct {
	Line    int    `json:"line"`
	Content string `json:"content"`
}

// snippetBody is the code around a finding.
type snippetBody struct {
	ID                  string     `json:"id"`
	VulnerableStartLine int        `json:"vulnerableStartLine"`
	VulnerableEndLine   int        `json:"vulnerableEndLine"`
	StartLine           int        `json:"startLine"`
	EndLine             int        `json:"endLine"`
	Code                []codeLine `json:"code"`
	Language            string     `json:"language"`
}

// flowBody is one step of a data flow, from source to sink.
type flowBody struct {
	ID            string           `json:"id"`
	NameHighlight string           `json:"nameHighlight"`
	Path          string           `json:"path"`
	Line          int              `json:"line"`
	Language      string           `json:"language"`
	Code          []codeLine       `json:"code"`
	Type          finding.StepKind `json:"type" enum:"source,intermediate,sink"`
	// From 0 for the source.
	Order int `json:"order"`
}

// historyBody is a change of a finding: who, when, what and why.
type historyBody struct {
	ID    string            `json:"id"`
	Type  triage.ChangeKind `json:"type"`
	Value string            `json:"value"`
	// Value before the change; empty for the first entry and for comments.
	Previous string    `json:"previous,omitempty"`
	Reason   string    `json:"reason,omitempty"`
	ScanID   string    `json:"scanId,omitempty" doc:"Scan that caused the change."`
	Date     time.Time `json:"date"`
	// Empty for changes that a scan made.
	UserID string       `json:"userId,omitempty"`
	User   *historyUser `json:"user,omitempty"`
}

// historyUser is the profile of the user who made a change. It is absent for changes of
// scans.
type historyUser struct {
	ID        string `json:"id"`
	FirstName string `json:"firstName"`
	LastName  string `json:"lastName"`
	Email     string `json:"email"`
	Picture   string `json:"picture"`
}
