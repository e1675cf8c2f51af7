package triage

import (
	"encoding/base64"
	"encoding/json"
	"slices"
	"time"

	"merlon/internal/errs"
	"merlon/internal/finding"
	"merlon/internal/run"
)

// This file says how findings are asked for.

// A Filter selects findings of a project. An empty list or text selects all.
type Filter struct {
	Analysis      finding.Analysis // of a list; empty for all of them
	Branch        string
	Severities    []finding.Severity
	Statuses      []Status
	Priorities    []Priority
	Language      string // any case
	Search        string // part of message, path, package, rule name or advisory; any case
	Fixable       *bool
	Origins       []Origin
	RuleID        string // UUID
	Package       string // its exact name
	Path          string // part of the path; any case
	ExcludeID     ID     // left out
	Place         string // finding.Fingerprint.Place
	ConfirmsPlace string // of live scans: that the finding of the source at this place is the same flaw
	Image         string // identifier of a container image that holds them
	Classes       []Class
	MatchNone     bool // select nothing: the filter names something that has no findings
}

// Selects reports whether the filter selects the findings of a cell. It looks at
// what cells tell apart: branch, analysis, severity, status and priority.
func (f Filter) Selects(c BranchBucket) bool {
	return !f.MatchNone && (f.Branch == "" || f.Branch == c.Branch) &&
		(f.Analysis == "" || f.Analysis == c.Bucket.Analysis) &&
		(len(f.Severities) == 0 || slices.Contains(f.Severities, c.Bucket.Severity)) &&
		(len(f.Statuses) == 0 || slices.Contains(f.Statuses, c.Bucket.Status)) &&
		(len(f.Priorities) == 0 || slices.Contains(f.Priorities, c.Bucket.Priority))
}

// An Origin says how a vulnerable package came in, by its name on the wire.
type Origin string

// The origins of a package.
const (
	FromDirect     Origin = "direct"
	FromDev        Origin = "dev"
	FromTransitive Origin = "transitive"
)

// Origins lists every origin.
var Origins = []Origin{FromDirect, FromDev, FromTransitive}

// A SortKey is what a list of findings is sorted by, by its name on the wire.
type SortKey string

// The sort keys. Enumerations sort in their order: critical before high.
const (
	ByDefault  SortKey = "" // active before others, the worst first
	ByStatus   SortKey = "currentState"
	BySeverity SortKey = "currentSeverity"
	ByPriority SortKey = "currentPriority"
	ByLanguage SortKey = "language"
	ByCreated  SortKey = "createdAt"
	ByUpdated  SortKey = "updateAt"
	ByCVSS     SortKey = "currentCVSS"
	ByScore    SortKey = "priorityScore" // no list on the wire offers it
)

// A Query is a page of findings.
type Query struct {
	Filter
	Sort       SortKey
	Descending bool
	Offset     int
	Limit      int     // at least 1
	After      *Cursor // instead of Offset
	Uncounted  bool    // the total is of no interest
}

// A Cursor is the place behind a finding in a sorted list.
type Cursor struct {
	Sort       SortKey `json:"s"`
	Descending bool    `json:"d,omitempty"`
	Keys       []any   `json:"k"` // of the finding: texts and integers
	ID         ID      `json:"i"`
}

// maxCursor bounds the text of a cursor, in bytes.
const maxCursor = 2048

// String returns the cursor as text for an address.
func (c Cursor) String() string {
	b, err := json.Marshal(c)
	if err != nil {
		panic("triage: a cursor has no JSON form: " + err.Error()) // its keys are texts and integers
	}
	return base64.RawURLEncoding.EncodeToString(b)
}

// ParseCursor reads a cursor, or returns an Invalid error. What it names need
// not exist: a cursor gives nobody anything that a filter would not.
func ParseCursor(text string) (Cursor, error) {
	bad := errs.E(errs.Invalid, "the cursor is not one of ours: take it as it is from nextCursor")
	if len(text) > maxCursor {
		return Cursor{}, bad
	}
	b, err := base64.RawURLEncoding.DecodeString(text)
	if err != nil {
		return Cursor{}, bad
	}
	var c Cursor
	if err := json.Unmarshal(b, &c); err != nil || len(c.Keys) > 2 {
		return Cursor{}, bad
	}
	for i, k := range c.Keys {
		switch v := k.(type) {
		case string:
			if hasNUL(v) {
				return Cursor{}, bad
			}
		case float64:
			if v != float64(int64(v)) || v < -1<<53 || v > 1<<53 {
				return Cursor{}, bad
			}
			c.Keys[i] = int64(v)
		default:
			return Cursor{}, bad
		}
	}
	if hasNUL(string(c.ID)) {
		return Cursor{}, bad
	}
	return c, nil
}

// A Page is a page of findings.
type Page struct {
	Findings []Finding
	Total    int     // findings that the filter selects
	Next     *Cursor // where the next page begins; nil at the end
}

// A GroupSort is what groups are sorted by, by its name on the wire.
type GroupSort string

// The sort keys of groups. Descending means the most, the worst or the newest
// first.
const (
	ByOccurrences  GroupSort = "occurrenceCount"
	ByHighest      GroupSort = "highestSeverity"
	ByLastSeen     GroupSort = "lastSeen"
	ByGroupState   GroupSort = "currentSeverity"
	ByGroupUrgency GroupSort = "currentPriority"
	ByGroupAge     GroupSort = "createdAt"
	ByHighestCVSS  GroupSort = "highestCvss"
	ByGroupCVSS    GroupSort = "currentCVSS"
)

// A GroupQuery is a page of groups: findings by rule, or by advisory and package
// when ByPackage is set.
type GroupQuery struct {
	Filter
	ByPackage   bool
	Sort        GroupSort
	Ascending   bool
	Offset      int
	Limit       int
	Occurrences int // how many findings of each group are returned
}

// A Group is the findings of a rule, or of an advisory in a package.
type Group struct {
	RuleID      string
	Package     string
	Rule        finding.Rule
	Count       int
	BySeverity  map[finding.Severity]int
	Highest     finding.Severity
	CVSS        float64 // the highest
	Fixable     bool
	Dev         int
	Direct      int
	Transit     int
	FirstSeen   time.Time
	LastSeen    time.Time
	Occurrences []Occurrence // the worst, up to the limit
}

// An Occurrence is a finding as groups list it.
type Occurrence struct {
	ID        ID
	RuleID    string
	Package   string
	Version   string // of the package
	Path      string
	StartLine int
	EndLine   int
	Status    Status
	Severity  finding.Severity
	Priority  Priority
	CVSS      float64
	Dev       bool
	Transit   bool
	Language  string
	CreatedAt time.Time
}

// A GroupPage is a page of groups.
type GroupPage struct {
	Groups   []Group
	Total    int // groups
	Findings int // findings in all of them
}

// A LastScan is the newest scan of a project.
type LastScan struct {
	ID        run.ID
	State     run.State
	CreatedAt time.Time
	Source    run.Source
}

// A PackageQuery is a page of packages.
type PackageQuery struct {
	Branch     string
	Search     string // part of name, version or path; any case
	Origins    []Origin
	Ecosystems []string // any case; empty for all
	Image      string   // identifier of a container image that holds them
	Classes    []Class  // of packages in images
	Images     bool     // those in container images, instead of those of the project's own files
	Offset     int
	Limit      int
}

// A ListedPackage is a package of a branch.
type ListedPackage struct {
	ID        string
	Branch    string
	Package   finding.Package // with the licence that a person assigned, if one did
	Assigned  bool            // a person assigned the licence
	Declared  []string        // what the package declares, where a person assigned another licence
	Ignored   bool            // a person wants its licence left out of numbers
	CreatedAt time.Time
	UpdatedAt time.Time
}

// A LicenseCount is how many packages are under the same licences.
type LicenseCount struct {
	Licenses []string // expressions that all hold
	Ignored  bool     // left out of numbers
	Packages int
}

// A LicenseDecision is what a person says about the licence of a package. What is
// nil is left as it is.
type LicenseDecision struct {
	Expression *string // under which the package is; empty: what it declares
	Ignored    *bool   // leave it out of numbers
}
