// Package remediation plans upgrades of a project's vulnerable packages: small
// requests at once, large ones in a job that any process of the service picks up.
package remediation

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"time"

	"merlon/internal/finding"
	"merlon/internal/tenant"
	"merlon/internal/triage"
	"merlon/internal/upgrade"
)

// Limits of a request, in findings: of one, and of one that is answered at once.
const (
	MaxFindings = 5000
	// A request above it would keep its HTTP connection waiting.
	MaxSynchronous = 100
)

// A Request names the findings to remediate and how far an upgrade may go.
// It is stored with the job as JSON, so renaming a member breaks queued jobs.
type Request struct {
	Findings    []triage.ID   `json:"findings"`
	Level       upgrade.Level `json:"level"`
	Single      bool          `json:"single"`
	PullRequest bool          `json:"pullRequest"`
}

// An Answer is the remediation plan for a request, in the wire's names.
type Answer struct {
	Results   []Result `json:"results" doc:"In the order of the request."`
	Total     int      `json:"totalVulnerabilities"`
	Fixable   int      `json:"fixableCount"`
	Unfixable int      `json:"unfixableCount"`
	// Findings that the project does not have or that are not in a package.
	Errors   int            `json:"errorCount"`
	Edits    []upgrade.Edit `json:"edits" doc:"The lines of manifests that change, of all results together."`
	Commands []string       `json:"commands" doc:"What to run then, of all results together."`
	// nil when no pull request was asked for.
	PullResult *PullResult `json:"prResult,omitempty"`
}

// A PullResult says whether a change was proposed.
type PullResult struct {
	Created bool   `json:"created"`
	Error   string `json:"error"`
}

// A Status says what is known about a finding, by its name on the wire.
type Status string

// The statuses. What a direct package needs is a DirectUpdate.
const (
	OK           Status = "ok"
	DirectUpdate Status = "direct_update"
	NoFix        Status = "no_fix"
	Error        Status = "error"
)

// A Result is what is known about a finding.
type Result struct {
	Finding    triage.ID `json:"vulnerabilityId"`
	Advisory   string    `json:"cveId"`
	Severity   string    `json:"severity" enum:"CRITICAL,HIGH,MEDIUM,LOW,INFO"`
	Summary    string    `json:"summary,omitempty"`
	Package    string    `json:"vulnerablePackage"`
	Version    string    `json:"vulnerableVersion"`
	Path       []string  `json:"dependencyPath" doc:"From the direct dependency to the package itself."`
	Ecosystem  string    `json:"ecosystem"`
	Transitive bool      `json:"isTransitive"`
	// Optional members are pointers: null means unknown.
	File         *string        `json:"fileName"`
	Candidates   []Candidate    `json:"fixCandidates" doc:"Versions that are known to clear it, lowest first."`
	Recommended  *Candidate     `json:"recommendedFix,omitempty"`
	HasFix       bool           `json:"hasFixAvailable"`
	Tested       int            `json:"testedVersionsCount" doc:"Versions that were compared: those that advisories name. No registry is asked."`
	Status       Status         `json:"status" enum:"ok,no_fix,error,direct_update"`
	ErrorMessage *string        `json:"errorMessage" doc:"Why there is no fix, or what else there is to know."`
	Command      *string        `json:"installCommand"`
	Edits        []upgrade.Edit `json:"edits" doc:"The lines of manifests that change."`
}

// A Candidate is an upgrade of a package. It is of the vulnerable package itself:
// which version of a package that brings it in brings another one, only a registry
// knows.
// Valid candidates are those of the level; Child is the vulnerable package too.
type Candidate struct {
	Package       string       `json:"parentPackage" doc:"What is upgraded: the vulnerable package itself."`
	Current       string       `json:"currentVersion"`
	Proposed      string       `json:"proposedVersion"`
	Child         string       `json:"vulnerableChild"`
	ChildVersion  string       `json:"vulnerableChildVersion"`
	FixedChild    *string      `json:"fixedChildVersion"`
	RequiredChild string       `json:"requiredChildVersion" doc:"The lowest version that clears it."`
	Step          upgrade.Step `json:"updateType" enum:"patch,minor,major"`
	Valid         bool         `json:"isValid" doc:"The level allows it."`
}

// planFindings plans the upgrades for findings. Those that the project does not have are nil.
func planFindings(r Request, found map[triage.ID]*triage.Finding) Answer {
	out := Answer{Results: make([]Result, len(r.Findings)), Total: len(r.Findings)}
	var needs []upgrade.VulnerablePackage
	// A finding with several affected versions has several needs: those of finding i are
	// needs[begin[i]:begin[i+1]].
	begin := make([]int, len(r.Findings)+1)
	for i, id := range r.Findings {
		if f := found[id]; f != nil && f.Report.Package != nil && f.Report.Analysis == finding.SCA {
			needs = append(needs, upgrade.VulnerablePackages(&f.Report, &f.Rule)...)
		}
		begin[i+1] = len(needs)
	}
	// All findings at once, so that a package with several vulnerabilities gets one version.
	fixes := upgrade.Plan(needs, upgrade.Policy{Level: r.Level, Single: r.Single})
	for i, id := range r.Findings {
		from, to := begin[i], begin[i+1]
		out.Results[i] = planResult(id, found[id], needs[from:to], fixes[from:to])
		switch out.Results[i].Status {
		case Error:
			out.Errors++
		case NoFix:
			out.Unfixable++
		default:
			out.Fixable++
		}
	}
	out.Edits, out.Commands = upgrade.Edits(needs, fixes), emptyIfNil(upgrade.Commands(needs, fixes))
	if r.PullRequest {
		out.PullResult = &PullResult{Error: "the project is linked to no repository: change the manifests, or run " +
			"the commands"}
	}
	return out
}

// emptyIfNil returns an empty list instead of null in JSON.
func emptyIfNil[T any](list []T) []T {
	if list == nil {
		return []T{}
	}
	return list
}

// advisoryOf returns the ID of the advisory of a dependency finding.
func advisoryOf(f *triage.Finding) string {
	if f.Rule.Advisory != nil {
		return f.Rule.Advisory.ID
	}
	return f.Rule.ID
}

// planResult describes one finding. Of several affected versions of its package the first
// speaks, and it is cleared when all of them are.
func planResult(id triage.ID, f *triage.Finding, needs []upgrade.VulnerablePackage, fixes []upgrade.Fix) Result {
	out := Result{Finding: id, Severity: "INFO", Path: []string{}, Candidates: []Candidate{}, Edits: []upgrade.Edit{},
		// The lists are empty and not nil, because the API promises lists.
		Status: Error}
	if f == nil {
		out.ErrorMessage = optionalText("vulnerability not found")
		return out
	}
	out.Advisory, out.Severity = advisoryOf(f), strings.ToUpper(string(f.Report.Severity))
	// For example a finding of source code, or of a package of an image.
	if len(needs) == 0 {
		out.ErrorMessage = optionalText("it is not in a package that a file of the project requires")
		return out
	}
	if f.Rule.Advisory != nil {
		out.Summary = f.Rule.Advisory.Summary
	}
	m := &needs[0].Match
	p := &m.Package
	out.Package, out.Version, out.Ecosystem, out.Transitive = p.Name, p.Version, p.Ecosystem,
		p.Scope == finding.Transitive
	out.File, out.Path = &p.Path, append(append(out.Path, p.Via...), p.Name+"@"+p.Version)
	for _, c := range fixes[0].Candidates {
		candidate := Candidate{
			Package: p.Name, Current: p.Version, Proposed: c.Version, Child: p.Name, ChildVersion: p.Version,
			FixedChild:    optionalText(c.Version),
			RequiredChild: m.Upgrade, Step: c.Step, Valid: c.Allowed,
		}
		out.Candidates = append(out.Candidates, candidate)
	}
	out.setRecommendation(&fixes[0])
	var remarks []string
	cleared := true
	for i := range fixes {
		out.Tested += len(fixes[i].Candidates)
		// One version that stays vulnerable leaves the finding open.
		cleared = cleared && fixes[i].Target != ""
		if fixes[i].Reason != "" {
			remarks = append(remarks, needs[i].Match.Package.Name+" "+needs[i].Match.Package.Version+": "+
				fixes[i].Reason)
		}
	}
	out.setStatus(cleared, remarks, upgrade.Commands(needs, fixes), upgrade.Edits(needs, fixes))
	return out
}

// setRecommendation takes the candidate that is the target; a target that was found for other
// vulnerabilities of the package is one more candidate.
func (r *Result) setRecommendation(f *upgrade.Fix) {
	if f.Target == "" {
		return
	}
	for i := range r.Candidates {
		if r.Candidates[i].Proposed == f.Target {
			chosen := r.Candidates[i]
			r.Recommended = &chosen
			return
		}
	}
	r.Recommended = &Candidate{Package: r.Package, Current: r.Version, Proposed: f.Target, Child: r.Package,
		ChildVersion: r.Version, FixedChild: optionalText(f.Target),
		RequiredChild: f.Target, Step: f.Step, Valid: true}
	if len(r.Candidates) > 0 {
		r.Recommended.RequiredChild = r.Candidates[0].RequiredChild
	}
	r.Candidates = append(r.Candidates, *r.Recommended)
}

// setStatus says how it ends.
func (r *Result) setStatus(cleared bool, remarks, commands []string, edits []upgrade.Edit) {
	r.Edits, r.HasFix = edits, cleared
	switch {
	case !cleared:
		r.Status = NoFix
	case r.Transitive:
		r.Status = OK
	default:
		r.Status = DirectUpdate
	}
	if len(remarks) > 0 {
		r.ErrorMessage = optionalText(strings.Join(remarks, "; "))
	}
	if len(commands) > 0 {
		r.Command = optionalText(strings.Join(commands, " && "))
	}
}

// optionalText returns a pointer to the text, for an optional member in JSON.
func optionalText(s string) *string { return &s }

// Outcome says in a word how a request ended: ok, partial, no_fix or error.
func (a *Answer) Outcome() string {
	switch {
	case a.Fixable == a.Total:
		return "ok"
	case a.Fixable > 0:
		return "partial"
	case a.Errors == a.Total:
		return "error"
	}
	return "no_fix"
}

// Message says it to people.
func (a *Answer) Message() string {
	out := fmt.Sprintf("An upgrade is known for %d of %d vulnerabilities", a.Fixable, a.Total)
	if a.Errors > 0 {
		out += fmt.Sprintf("; %d are no vulnerabilities of packages of this project", a.Errors)
	}
	if a.PullResult != nil {
		out += "; " + a.PullResult.Error
	}
	return out
}

// A Store keeps jobs and reads findings.
// Errors are those of package errs: NotFound for what the scope does not have, Forbidden without
// the permission.
type Store interface {
	// FindingsByID returns those of the findings that the scope's project has.
	FindingsByID(ctx context.Context, sc tenant.Scope, ids []triage.ID) ([]triage.Finding, error)
	// AdmitUpgrade writes that somebody asked for upgrades, with the job if there is one.
	// It needs project.change_vulnerability_state.
	AdmitUpgrade(ctx context.Context, sc tenant.Scope, r Request, j *Job) error
	// UpgradeJob returns a job of the scope's project.
	UpgradeJob(ctx context.Context, sc tenant.Scope, id string) (Job, error)
	// OpenUpgradeJobs returns the jobs that have not ended, the oldest first.
	OpenUpgradeJobs(ctx context.Context) ([]Job, error)
	// ClaimUpgradeJob makes the job the caller's; false when another was faster.
	ClaimUpgradeJob(ctx context.Context, j *Job) (bool, error)
	// SaveUpgradeJob writes what the job has come to; false when another has taken it.
	SaveUpgradeJob(ctx context.Context, j *Job) (bool, error)
}

// A State is how far a job is, by its name on the wire.
type State string

// The states of a job.
const (
	Queued     State = "queued"
	Processing State = "processing"
	Completed  State = "completed"
	Failed     State = "failed"
)

// A Job is a request that is worked on.
type Job struct {
	ID           string
	Organization tenant.OrganizationID
	Project      tenant.ProjectID
	Request      Request
	State        State
	// It tells a process that its job was taken by another one.
	Attempt     int // how often it was taken
	Processed   int // findings
	Answer      Answer
	Error       string // of a failed one, for people
	CreatedAt   time.Time
	StartedAt   time.Time // zero before
	CompletedAt time.Time // zero before
}

// Percent is how far the job is.
func (j *Job) Percent() int {
	if j.State == Completed {
		return 100
	}
	return 99 * j.Processed / max(len(j.Request.Findings), 1)
}

// Message says to people how far the job is.
func (j *Job) Message() string {
	switch j.State {
	case Queued:
		return "Waiting"
	case Processing:
		return fmt.Sprintf("Analyzed %d of %d vulnerabilities", j.Processed, len(j.Request.Findings))
	case Completed:
		return j.Answer.Message()
	}
	return cmp.Or(j.Error, "It failed")
}
