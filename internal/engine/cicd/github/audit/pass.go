// Package audit holds the checks of GitHub Actions: each looks at one workflow or
// action, with the rest of the tree at hand, and reports what is wrong in it.
package audit

import (
	"context"
	"fmt"
	"iter"
	"strconv"
	"strings"

	"github.com/rhysd/actionlint"

	"merlon/internal/document"
	"merlon/internal/engine/cicd/github/expression"
	"merlon/internal/engine/cicd/github/taint"
	"merlon/internal/engine/cicd/github/workflow"
	"merlon/internal/finding"
	"merlon/internal/scan"
)

// A Pass is one file with what its checks need.
type Pass struct {
	Context    context.Context
	File       *workflow.File
	Tree       *workflow.Tree
	Flow       *taint.Tracker
	Advisories scan.Advisories // may be nil
	Out        func(*finding.Rule, finding.Finding)
}

// checks lists every check of a file; bodyChecks those of a job or an action.
var checks = []func(*Pass){
	checkTriggers, checkPermissions, checkNames, checkConcurrency, checkUndocumentedPermissions, checkJobs,
	checkExpressions, checkMisfeatures,
}

// bodyChecks run on each job of a workflow, or on the steps of an action.
var bodyChecks = []func(*Pass, workflow.Body){
	checkInjection, checkProgramArguments, checkOutputClobbering, checkCheckouts, checkTokenInRemote,
	checkUntrustedCheckout, checkCommentTrigger, checkCaches,
	checkUntrustedCache, checkPublishing, checkEnvironmentFiles,
	checkInsecureCommands,
	checkConditions, checkUses, checkToolVersions, checkScripts, checkArtifacts, checkSecretsOutsideEnvironment,
	checkDebugging, checkAppTokens,
}

// Run runs every check on the file. A cancelled scan stops between two checks.
func (p *Pass) Run() error {
	for _, c := range checks {
		if err := p.Context.Err(); err != nil {
			return err
		}
		c(p)
	}
	for _, b := range p.File.Bodies() {
		for _, c := range bodyChecks {
			if err := p.Context.Err(); err != nil {
				return err
			}
			c(p, b)
		}
	}
	return nil
}

// report tells a finding. An empty confidence is the rule's.
func (p *Pass) report(id string, at document.Place, c finding.Confidence, format string, args ...any) {
	p.emit(id, p.newFinding(at, c, format, args...))
}

// newFinding makes a finding without reporting it, so that a check can still change its
// severity, its confidence and its path.
func (p *Pass) newFinding(at document.Place, c finding.Confidence, format string, args ...any) finding.Finding {
	return finding.Finding{Message: fmt.Sprintf(format, args...), Confidence: c, Location: locationOf(p.File.Path, at)}
}

// locationOf makes the location of a place in the file.
func locationOf(path string, at document.Place) finding.Location {
	return finding.Location{Path: path, StartLine: at.Line, EndLine: at.EndLine, StartColumn: at.Column,
		EndColumn: at.EndColumn}
}

// describeStep names a step of a body for people: in job "build", step 2 "Test".
func describeStep(b workflow.Body, i int) string {
	var out string
	if b.Job != nil {
		out = "in job " + strconv.Quote(b.Job.ID.Value) + ", "
	} else {
		out = "in the action, "
	}
	return out + stepName(b, i)
}

// stepName names a step by its name, or else by its action. GitHub counts steps from
// one.
func stepName(b workflow.Body, i int) string {
	s := b.Steps[i]
	if s.Name != nil && s.Name.Value != "" {
		return fmt.Sprintf("step %d %q", i+1, shorten(s.Name.Value))
	}
	if a := workflow.UsesOf(s); a != nil {
		return fmt.Sprintf("step %d (%s)", i+1, shorten(a.Uses.Value))
	}
	return "step " + strconv.Itoa(i+1)
}

// describeJob names a job for people: in job "build".
func describeJob(j *actionlint.Job) string { return "in job " + strconv.Quote(j.ID.Value) }

// shorten cuts a text for a message.
func shorten(s string) string {
	s = strings.Join(strings.Fields(s), " ")
	if r := []rune(s); len(r) > 80 {
		return string(r[:79]) + "…"
	}
	return s
}

// runnableSteps yields the steps that can run: whose condition, and whose job's, is not
// always false.
func runnableSteps(b workflow.Body) iter.Seq2[int, *actionlint.Step] {
	return func(yield func(int, *actionlint.Step) bool) {
		if b.Job != nil && isNeverTrue(b.Job.If) {
			return
		}
		for i, s := range b.Steps {
			if !isNeverTrue(s.If) && !yield(i, s) {
				return
			}
		}
	}
}

// isNeverTrue reports whether the condition is always false. Such a step is documentation; a
// finding in it would be a false positive.
func isNeverTrue(cond *actionlint.String) bool {
	if cond == nil {
		return false
	}
	v, ok := expression.ConstantValue(expression.ParseCondition(cond.Value))
	return ok && !expression.IsTruthy(v)
}

// stepPlace is the place of a step.
func (p *Pass) stepPlace(s *actionlint.Step) document.Place {
	if a := workflow.UsesOf(s); a != nil {
		return p.File.Place(a.Uses)
	}
	if r := workflow.RunOf(s); r != nil && r.RunPos != nil {
		return workflow.PlaceAt(r.RunPos)
	}
	return workflow.PlaceAt(s.Pos)
}

// strings calls visit for every text of the file that GitHub evaluates, which is every
// scalar of the document. Keys are left out: GitHub evaluates no expressions in them.
func (p *Pass) visitScalars(visit func(*document.Node)) {
	p.File.Doc.Walk(func(n *document.Node) bool {
		if n.IsScalar() {
			visit(n)
		}
		return true
	})
}
