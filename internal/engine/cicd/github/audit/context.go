package audit

import (
	"slices"
	"strings"

	"github.com/rhysd/actionlint"

	"merlon/internal/document"
	"merlon/internal/engine/cicd/github/expression"
	"merlon/internal/engine/cicd/github/workflow"
	"merlon/internal/finding"
	"merlon/internal/lazyregexp"
	"merlon/internal/severity"
)

// This file tells what an attacker gains who runs code in a job: what its token can write, and the
// secrets that it is given. The same weakness is worth a ticket in a release job, and none in a job
// that only runs tests.

// A privilege is what the code of a job can reach.
type privilege struct {
	scope  string // what the token can write: "contents"; "" for nothing of weight
	weight finding.Severity
	secret string // the name of a secret of the job, "" without one
	// known reports whether the file says what the token can do; otherwise the default of the
	// repository applies, which is to read in those made since 2023.
	known bool
}

// privilegeOf returns the privilege of a body. The steps of an action have that of the jobs of the
// tree that use it.
func (p *Pass) privilegeOf(b workflow.Body) privilege {
	if b.Job != nil {
		return jobPrivilege(b.File, b.Job)
	}
	var out privilege
	for i, c := range p.Tree.Callers(b.File) {
		if c.Job == nil || c.From.Workflow == nil {
			continue // an action that another action uses; its callers are followed one step only
		}
		one := jobPrivilege(c.From, c.Job)
		if one.weight.Rank() > out.weight.Rank() {
			out.scope, out.weight = one.scope, one.weight
		}
		if out.secret == "" {
			out.secret = one.secret
		}
		out.known = one.known && (out.known || i == 0)
	}
	return out
}

// jobPrivilege returns the privilege of a job.
func jobPrivilege(f *workflow.File, j *actionlint.Job) privilege {
	out := privilege{secret: jobSecret(f, j)}
	perms := f.Workflow.Permissions
	if j.Permissions != nil {
		perms = j.Permissions
	}
	if out.known = perms != nil; !out.known {
		return out
	}
	if perms.All != nil && perms.All.Value == "write-all" {
		out.scope, out.weight = "everything", finding.High
		return out
	}
	for _, s := range workflow.InOrder(perms.Scopes, func(s *actionlint.PermissionScope) *actionlint.Pos {
		return s.Name.Pos
	}) {
		weight := write[s.Name.Value]
		if s.Value != nil && s.Value.Value == "write" && weight.Rank() > out.weight.Rank() {
			out.scope, out.weight = s.Name.Value, weight
		}
	}
	return out
}

// harmlessSecret matches secrets of little use to a thief: Codecov documents that its upload token
// only adds reports, and public projects can do without.
var harmlessSecret = lazyregexp.New(`(?i)^secrets\.(?:codecov|coveralls)_`)

// jobSecret returns the first secret that a job, or the environment of its workflow, is given. The
// token of the job is none: its permissions say what it can do.
func jobSecret(f *workflow.File, j *actionlint.Job) string {
	found := ""
	search := func(n *document.Node) bool {
		for _, x := range expression.FindAll(n.Value) {
			if path := firstSecret(x.Root); found == "" && path != "" && !harmlessSecret.MatchString(path) {
				found = strings.ToUpper(strings.TrimPrefix(path, "secrets."))
			}
		}
		return found == ""
	}
	if jobs := f.Doc.Get("jobs"); jobs.IsMap() {
		for _, e := range jobs.Entries {
			if strings.EqualFold(e.Key, j.ID.Value) {
				e.Value.Walk(search)
			}
		}
	}
	f.Doc.Get("env").Walk(search)
	if found == "" && j.WorkflowCall != nil && j.WorkflowCall.InheritSecrets {
		return "inherited"
	}
	return found
}

// isHarmless reports whether code in the job gains nothing that a fork of the repository does not
// have: no secret, and a token that is known to read only.
func (v privilege) isHarmless() bool { return v.known && v.weight == "" && v.secret == "" }

// terms returns how the privilege changes the severity of a weakness that lets foreign code run.
func (v privilege) terms() []finding.SeverityTerm {
	var out []finding.SeverityTerm
	if v.weight.Rank() > finding.Low.Rank() {
		out = append(out, finding.SeverityTerm{Points: severity.Raised, Reason: "the token of the job can write " +
			v.scope})
	}
	if v.secret != "" {
		out = append(out, finding.SeverityTerm{Points: severity.Raised, Reason: "the job has the secret " + v.secret})
	}
	if v.isHarmless() {
		out = append(out, lowered("the job has no secret, and its token can only read"))
	}
	return out
}

// capTerms drops terms that raise until the sum is at most limit: an unpinned action never is a
// reason to stop work, whatever its job holds.
func capTerms(terms []finding.SeverityTerm, limit int) []finding.SeverityTerm {
	sum := 0
	for _, t := range terms {
		sum += t.Points
	}
	for sum > limit {
		i := slices.IndexFunc(terms, func(t finding.SeverityTerm) bool { return t.Points > 0 })
		if i < 0 {
			break
		}
		sum -= terms[i].Points
		terms = slices.Delete(slices.Clone(terms), i, i+1)
	}
	return terms
}

// lowered and harmless are terms that take one point and two.
func lowered(reason string) finding.SeverityTerm {
	return finding.SeverityTerm{Points: severity.Lowered, Reason: reason}
}

func harmless(reason string) finding.SeverityTerm {
	return finding.SeverityTerm{Points: severity.Harmless, Reason: reason}
}
