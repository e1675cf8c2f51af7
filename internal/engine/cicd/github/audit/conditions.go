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

// This file looks at conditions that do not decide what they seem to.

// checkConditions checks the conditions of a job and of its steps.
func checkConditions(p *Pass, b workflow.Body) {
	if b.Job != nil && b.Job.If != nil {
		p.checkCondition(b.Job.If, nil, describeJob(b.Job))
	}
	for i, s := range runnableSteps(b) {
		if s.If != nil {
			var outer *actionlint.String
			if b.Job != nil {
				outer = b.Job.If
			}
			p.checkCondition(s.If, outer, describeStep(b, i))
		}
	}
}

// checkCondition checks one condition. GitHub evaluates a text with expressions in it
// as a text, and every text that is not empty is true: `${{ false }} || ${{ false }}`
// runs. The outer condition is that of the job, for a step.
func (p *Pass) checkCondition(s, outer *actionlint.String, where string) {
	all := expression.FindAll(s.Value)
	if len(all) > 0 && (len(all) > 1 || all[0].Length != len(s.Value)) {
		f := p.newFinding(p.File.Place(s), "", "The condition is always true: there is text around the expression, %s",
			where)
		f.Fix = p.fixCondition(s, s.Value[all[0].Offset:all[0].Offset+all[0].Length])
		p.emit("unsound-condition", f)
	}
	if len(all) == 0 {
		root := expression.ParseCondition(s.Value)
		if root != nil {
			p.checkConditionParts(root, s, outer, expression.Expression{Length: len(s.Value)}, where)
		}
		return
	}
	for _, e := range all {
		if e.Root != nil {
			p.checkConditionParts(e.Root, s, outer, e, where)
		}
	}
}

// checkConditionParts checks the comparisons and calls of a condition. It reports a
// spoofable actor once, and the last of the loose calls of contains.
func (p *Pass) checkConditionParts(root actionlint.ExprNode, s, outer *actionlint.String, part expression.Expression,
	where string) {
	at := p.File.PartPlace(s, part.Offset, part.Length)
	spoofed, loose := false, ""
	actionlint.VisitExprNode(root, func(n, _ actionlint.ExprNode, entering bool) {
		if !entering {
			return
		}
		switch n := n.(type) {
		case *actionlint.CompareOpNode:
			spoofed = spoofed || n.Kind == actionlint.CompareOpNodeKindEq &&
				(isBotCheck(n.Left, n.Right) || isBotCheck(n.Right, n.Left))
		case *actionlint.FuncCallNode:
			if comparesTexts(n) {
				spoofed = spoofed || isBotCheck(n.Args[0], n.Args[1])
				if path := looseContains(n); path != "" {
					loose = path
				}
			}
		}
	})
	if spoofed {
		p.reportSpoofableActor(root, s, at, asksAuthor(s) || asksAuthor(outer), where)
	}
	if loose != "" {
		f := p.newFinding(at, "", "contains looks for %s within a text, so that a part of a listed name passes "+
			"too, %s", loose, where)
		if !chosen.MatchString(loose) {
			f.Severity, f.Confidence = finding.Low, finding.LowConfidence
		}
		p.emit("unsound-contains", f)
	}
}

// comparesTexts reports whether the call compares its two arguments.
func comparesTexts(c *actionlint.FuncCallNode) bool {
	if len(c.Args) != 2 {
		return false
	}
	switch strings.ToLower(c.Callee) {
	case "contains", "endswith", "startswith":
		return true
	}
	return false
}

// looseContains returns the context that contains looks for in a literal text, or "":
// in a text, unlike in a list, a part of a listed name is found too.
func looseContains(c *actionlint.FuncCallNode) string {
	if _, literal := c.Args[0].(*actionlint.StringNode); !literal || !strings.EqualFold(c.Callee, "contains") {
		return ""
	}
	return expression.ContextPath(c.Args[1])
}

// reportSpoofableActor grades by what an attacker gains: github.actor is whoever caused
// the last event, so an attacker's pull request passes once the bot touches it. Without
// a privileged event there is little to gain.
func (p *Pass) reportSpoofableActor(root actionlint.ExprNode, s *actionlint.String, at document.Place, checked bool,
	where string) {
	f := p.newFinding(at, "", "The actor of the last event is taken for the author, %s", where)
	f.Fix = p.fixActor(s)
	if p.startingEvent(privileged) == "" {
		f.Severity, f.Confidence = finding.Low, finding.LowConfidence
		f.Terms = append(f.Terms, lowered("no event of untrusted users has more than their rights"))
	} else if checked {
		f.Confidence = finding.LowConfidence
		f.Terms = append(f.Terms, finding.SeverityTerm{Points: severity.Harmless + severity.Lowered,
			Reason: "the author of the pull request is checked too"})
	} else if !dominatesCondition(root) {
		f.Confidence = finding.MediumConfidence
	}
	p.emit("spoofable-actor", f)
}

var (
	// actor matches contexts with the account that caused the event, and chosen
	// contexts whose text an attacker can name. botIDs are the numbers of GitHub's own
	// bots and the best-known others.
	actor   = lazyregexp.New(`^github\.(?:actor|actor_id|triggering_actor|event\.sender\.(?:login|id)|event\.pull_request\.sender\.login)$`)
	actorID = lazyregexp.New(`^github\.(?:actor_id|event\.sender\.id)$`)
	chosen  = lazyregexp.New(`^(?:github\.(?:ref|ref_name|head_ref|base_ref|actor|triggering_actor)|env\.|inputs\.|github\.event\.)`)
	botIDs  = map[string]bool{"49699333": true, "29139614": true, "27856297": true, "41898282": true, "29110": true,
		"66853113": true}
	botNames = lazyregexp.New(`(?i)\[bot\]'?$`)
)

// author matches what says who made a pull request, and cannot be changed by a later event.
var author = lazyregexp.New(`pull_request\.user\.(?:login|id)|head\.repo\.(?:full_name|fork|owner)|head_repository|author_association`)

// asksAuthor reports whether a condition also depends on the author of the pull request.
func asksAuthor(cond *actionlint.String) bool { return cond != nil && author.MatchString(cond.Value) }

// isBotCheck reports whether the operands compare the actor with a bot. An account's number is
// compared too, because names can be taken over.
func isBotCheck(context, value actionlint.ExprNode) bool {
	path := expression.ContextPath(context)
	if !actor.MatchString(path) {
		return false
	}
	v, ok := expression.ConstantValue(value)
	if !ok {
		return false
	}
	switch v := v.(type) {
	case string:
		return botNames.MatchString(v) || actorID.MatchString(path) && botIDs[v]
	case float64:
		return actorID.MatchString(path)
	}
	return false
}

// dominatesCondition reports whether the comparison alone can make the condition true. Behind &&
// another operand may still refuse.
func dominatesCondition(root actionlint.ExprNode) bool {
	l, ok := root.(*actionlint.LogicalOpNode)
	return !ok || l.Kind == actionlint.LogicalOpNodeKindOr
}

// checkExpressions checks every expression of the file: which secrets it takes, and
// whether it says plainly what it means.
func checkExpressions(p *Pass) {
	p.visitScalars(func(n *document.Node) {
		for _, e := range expression.FindAll(n.Value) {
			if e.Root == nil {
				continue
			}
			p.checkExpression(e.Root, func() document.Place { return p.File.Source.Part(n, e.Offset, e.Length) })
		}
	})
	for _, b := range p.File.Bodies() {
		for _, c := range bareConditions(b) {
			root := expression.ParseCondition(c.Value)
			if _, plain := root.(*actionlint.BoolNode); root != nil &&
				!plain { // if: false is how people switch things off
				p.checkExpression(root, func() document.Place { return p.File.Place(c) })
			}
		}
	}
}

// bareConditions returns the conditions of a job and its steps that are written without
// braces; those with braces are found among the texts of the file.
func bareConditions(b workflow.Body) []*actionlint.String {
	var conds []*actionlint.String
	if b.Job != nil && b.Job.If != nil {
		conds = append(conds, b.Job.If)
	}
	for _, s := range b.Steps {
		if s.If != nil {
			conds = append(conds, s.If)
		}
	}
	return slices.DeleteFunc(conds, func(c *actionlint.String) bool { return strings.Contains(c.Value, "${{") })
}

// expressionFaults are the faults that one expression can have. Each is reported at
// most once.
type expressionFaults struct {
	allSecrets bool // hands over the whole secrets context
	unredacted bool // takes a part of a secret, which the log does not hide
	roundabout bool // calls functions for what is always the same
	falsy      bool // a && b || c with a b that is never true
}

// checkExpression reports each fault of an expression once. at is called only for a
// finding, because a place costs a search in the source.
func (p *Pass) checkExpression(root actionlint.ExprNode, at func() document.Place) {
	faults := findExpressionFaults(root)
	if faults.allSecrets {
		p.report("overprovisioned-secrets", at(), "", "Every secret of the repository is handed over, not just the "+
			"one that is needed")
	}
	if faults.unredacted {
		p.report("unredacted-secret", at(), "", "A part of a secret is taken out; the log hides only the whole")
	}
	if faults.roundabout || isConstantRoot(root) {
		p.report("obfuscation", at(), "", "The expression says in a roundabout way what is always the same")
	}
	if faults.falsy {
		p.report("unsound-ternary", at(), "", "The value behind && is false or empty, so that the one behind || is "+
			"taken in every case")
	}
}

// findExpressionFaults walks an expression once for all faults.
func findExpressionFaults(root actionlint.ExprNode) expressionFaults {
	var out expressionFaults
	actionlint.VisitExprNode(root, func(n, parent actionlint.ExprNode, entering bool) {
		if !entering {
			return
		}
		switch n := n.(type) {
		case *actionlint.VariableNode:
			out.allSecrets = out.allSecrets || strings.EqualFold(n.Name, "secrets") && !takesFixedMember(n, parent)
		case *actionlint.FuncCallNode:
			out.unredacted = out.unredacted || readsSecret(n)
			out.roundabout = out.roundabout || isReducible(n)
		case *actionlint.LogicalOpNode:
			out.falsy = out.falsy || isBrokenTernary(n)
		}
	})
	return out
}

// takesFixedMember reports whether the parent takes one fixed member of a context:
// secrets.A or secrets['A'], but not secrets[matrix.name].
func takesFixedMember(n *actionlint.VariableNode, parent actionlint.ExprNode) bool {
	_, member := parent.(*actionlint.ObjectDerefNode)
	x, indexed := parent.(*actionlint.IndexAccessNode)
	if indexed && x.Operand == actionlint.ExprNode(n) {
		_, member = expression.ConstantValue(x.Index)
	}
	return member
}

// readsSecret reports whether the call takes a secret apart.
func readsSecret(c *actionlint.FuncCallNode) bool {
	return strings.EqualFold(c.Callee, "fromjson") && len(c.Args) == 1 &&
		strings.HasPrefix(expression.ContextPath(c.Args[0]),
			"secrets.")
}

// isBrokenTernary reports whether the node is a && b || c with a b that is never true.
func isBrokenTernary(n *actionlint.LogicalOpNode) bool {
	if n.Kind != actionlint.LogicalOpNodeKindOr {
		return false
	}
	l, ok := n.Left.(*actionlint.LogicalOpNode)
	if !ok || l.Kind != actionlint.LogicalOpNodeKindAnd {
		return false
	}
	v, ok := expression.ConstantValue(l.Right)
	if !ok || expression.IsTruthy(v) {
		return false
	}
	r, ok := expression.ConstantValue(n.Right)
	return !ok || r != v // the same in both cases harms nobody
}

// isReducible reports whether a call gives a fixed text, or undoes another. Attackers
// write so to hide a command from a reviewer; nobody else needs it.
func isReducible(c *actionlint.FuncCallNode) bool {
	callee := strings.ToLower(c.Callee)
	if undone, ok := undoesInner(c, callee); ok {
		return undone
	}
	switch callee {
	case "format", "join", "startswith", "endswith", "contains", "tojson", "fromjson":
	default:
		return false
	}
	for _, a := range c.Args {
		if !isFixedArgument(a) {
			return false
		}
	}
	if callee == "fromjson" { // a list or a map cannot be written otherwise
		s, ok := c.Args[0].(*actionlint.StringNode)
		return ok && !strings.HasPrefix(strings.TrimSpace(s.Value), "[") &&
			!strings.HasPrefix(strings.TrimSpace(s.Value), "{")
	}
	return len(c.Args) > 0
}

// undoesInner reports whether a call of fromJSON or toJSON has the other one as its
// argument. Where its argument is no call, ok is false.
func undoesInner(c *actionlint.FuncCallNode, callee string) (undone, ok bool) {
	if len(c.Args) != 1 || callee != "fromjson" && callee != "tojson" {
		return false, false
	}
	inner, ok := c.Args[0].(*actionlint.FuncCallNode)
	if !ok {
		return false, false
	}
	other := strings.ToLower(inner.Callee)
	return other != callee && (other == "fromjson" || other == "tojson"), true
}

// isFixedArgument reports whether an argument has the same value in every run.
func isFixedArgument(a actionlint.ExprNode) bool {
	if _, ok := expression.ConstantValue(a); ok {
		return true
	}
	inner, ok := a.(*actionlint.FuncCallNode)
	return ok && isReducible(inner)
}

// isConstantRoot reports whether the whole expression is a fixed value.
func isConstantRoot(root actionlint.ExprNode) bool {
	_, ok := expression.ConstantValue(root)
	return ok
}

// checkSecretsOutsideEnvironment finds secrets that no environment guards. An
// environment can demand a review and limit the branches before its secrets are given
// out; a secret of the repository is there for every branch that somebody pushes.
func checkSecretsOutsideEnvironment(p *Pass, b workflow.Body) {
	if b.Job == nil || b.Job.Environment != nil || b.Job.WorkflowCall != nil || len(p.File.Workflow.On) == 1 &&
		p.File.StartsOn("workflow_call") {
		return
	}
	for _, e := range p.File.Doc.Get("jobs").Entries {
		if !strings.EqualFold(e.Key, b.Job.ID.Value) {
			continue
		}
		e.Value.Walk(func(n *document.Node) bool {
			for _, x := range expression.FindAll(n.Value) {
				if path := firstSecret(x.Root); path != "" {
					p.report("secrets-outside-environment", p.File.Source.Part(n, x.Offset, x.Length), "",
						"%s is not bound to an environment, %s", path, describeJob(b.Job))
				}
			}
			return true
		})
	}
}

// firstSecret returns the first secret that an expression names, or "". The token of
// the job is bound to its run and needs no environment.
func firstSecret(root actionlint.ExprNode) string {
	for _, u := range expression.AllUses(root) {
		if strings.HasPrefix(u.Path, "secrets.") && u.Path != "secrets.github_token" {
			return u.Path
		}
	}
	return ""
}
