package audit

import (
	"strings"

	"github.com/rhysd/actionlint"

	"merlon/internal/document"
	"merlon/internal/engine/cicd/github/expression"
	"merlon/internal/engine/cicd/github/workflow"
	"merlon/internal/finding"
	"merlon/internal/lazyregexp"
)

// This file looks at conditions that do not decide what they seem to.

func checkConditions(p *Pass, b workflow.Body) {
	if b.Job != nil && b.Job.If != nil {
		p.checkCondition(b.Job.If, describeJob(b.Job))
	}
	for i, s := range runnableSteps(b) {
		if s.If != nil {
			p.checkCondition(s.If, describeStep(b, i))
		}
	}
}

func (p *Pass) checkCondition(s *actionlint.String, where string) {
	all := expression.FindAll(s.Value)
	if len(all) > 0 && (len(all) > 1 || all[0].Length != len(s.Value)) {
		p.report("unsound-condition", p.File.Place(s), "", "The condition is always true: there is text around the "+
			"expression, %s", where)
	}
	if len(all) == 0 {
		root := expression.ParseCondition(s.Value)
		if root != nil {
			p.checkConditionParts(root, s, 0, len(s.Value), where)
		}
		return
	}
	for _, e := range all {
		if e.Root != nil {
			p.checkConditionParts(e.Root, s, e.Offset, e.Length, where)
		}
	}
}

// checkConditionParts checks the comparisons and calls of a condition.
func (p *Pass) checkConditionParts(root actionlint.ExprNode, s *actionlint.String, offset, length int, where string) {
	at := p.File.PartPlace(s, offset, length)
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
			if callee := strings.ToLower(n.Callee); len(n.Args) == 2 && (callee == "contains" || callee == "endswith" ||
				callee == "startswith") {
				spoofed = spoofed || callee != "contains" && isBotCheck(n.Args[0], n.Args[1]) || callee == "contains" &&
					isBotCheck(n.Args[0], n.Args[1])
				if _, text := n.Args[0].(*actionlint.StringNode); text && callee == "contains" {
					if path := expression.ContextPath(n.Args[1]); path != "" {
						loose = path
					}
				}
			}
		}
	})
	if spoofed {
		f := p.newFinding(at, "", "The actor of the last event is taken for the author, %s", where)
		if p.startingEvent(privileged) == "" {
			f.Severity, f.Confidence = finding.Low, finding.Uncertain
		} else if !dominatesCondition(root) {
			f.Confidence = finding.Likely
		}
		p.Out(Rules["spoofable-actor"], f)
	}
	if loose != "" {
		f := p.newFinding(at, "", "contains looks for %s within a text, so that a part of a listed name passes "+
			"too, %s", loose, where)
		if !chosen.MatchString(loose) {
			f.Severity, f.Confidence = finding.Low, finding.Uncertain
		}
		p.Out(Rules["unsound-contains"], f)
	}
}

var (
	actor   = lazyregexp.New(`^github\.(?:actor|actor_id|triggering_actor|event\.sender\.(?:login|id)|event\.pull_request\.sender\.login)$`)
	actorID = lazyregexp.New(`^github\.(?:actor_id|event\.sender\.id)$`)
	chosen  = lazyregexp.New(`^(?:github\.(?:ref|ref_name|head_ref|base_ref|actor|triggering_actor)|env\.|inputs\.|github\.event\.)`)
	botIDs  = map[string]bool{"49699333": true, "29139614": true, "27856297": true, "41898282": true, "29110": true,
		"66853113": true}
	botNames = lazyregexp.New(`(?i)\[bot\]'?$`)
)

// isBotCheck reports whether the operands compare the actor with a bot.
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

// dominatesCondition reports whether the comparison alone can make the condition true.
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
	for _, b := range p.File.Bodies() { // conditions without braces
		conds := []*actionlint.String{}
		if b.Job != nil && b.Job.If != nil {
			conds = append(conds, b.Job.If)
		}
		for _, s := range b.Steps {
			if s.If != nil {
				conds = append(conds, s.If)
			}
		}
		for _, c := range conds {
			if strings.Contains(c.Value, "${{") {
				continue
			}
			root := expression.ParseCondition(c.Value)
			if _, plain := root.(*actionlint.BoolNode); root != nil &&
				!plain { // if: false is how people switch things off
				p.checkExpression(root, func() document.Place { return p.File.Place(c) })
			}
		}
	}
}

func (p *Pass) checkExpression(root actionlint.ExprNode, at func() document.Place) {
	var allSecrets, unredacted, roundabout, falsy bool
	actionlint.VisitExprNode(root, func(n, parent actionlint.ExprNode, entering bool) {
		if !entering {
			return
		}
		switch n := n.(type) {
		case *actionlint.VariableNode:
			_, member := parent.(*actionlint.ObjectDerefNode)
			x, indexed := parent.(*actionlint.IndexAccessNode)
			if indexed && x.Operand == actionlint.ExprNode(n) {
				_, member = expression.ConstantValue(x.Index)
			}
			allSecrets = allSecrets || strings.EqualFold(n.Name, "secrets") && !member
		case *actionlint.FuncCallNode:
			unredacted = unredacted || readsSecret(n)
			roundabout = roundabout || isReducible(n)
		case *actionlint.LogicalOpNode:
			falsy = falsy || isBrokenTernary(n)
		}
	})
	if allSecrets {
		p.report("overprovisioned-secrets", at(), "", "Every secret of the repository is handed over, not just the "+
			"one that is needed")
	}
	if unredacted {
		p.report("unredacted-secret", at(), "", "A part of a secret is taken out; the log hides only the whole")
	}
	if roundabout || isConstantRoot(root) {
		p.report("obfuscation", at(), "", "The expression says in a roundabout way what is always the same")
	}
	if falsy {
		p.report("unsound-ternary", at(), "", "The value behind && is false or empty, so that the one behind || is "+
			"taken in every case")
	}
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

// isReducible reports whether a call gives a fixed text, or undoes another.
func isReducible(c *actionlint.FuncCallNode) bool {
	callee := strings.ToLower(c.Callee)
	if len(c.Args) == 1 && (callee == "fromjson" || callee == "tojson") {
		if inner, ok := c.Args[0].(*actionlint.FuncCallNode); ok {
			other := strings.ToLower(inner.Callee)
			return other != callee && (other == "fromjson" || other == "tojson")
		}
	}
	switch callee {
	case "format", "join", "startswith", "endswith", "contains", "tojson", "fromjson":
	default:
		return false
	}
	for _, a := range c.Args {
		if _, ok := expression.ConstantValue(a); !ok {
			if inner, ok := a.(*actionlint.FuncCallNode); !ok || !isReducible(inner) {
				return false
			}
		}
	}
	if callee == "fromjson" { // a list or a map cannot be written otherwise
		s, ok := c.Args[0].(*actionlint.StringNode)
		return ok && !strings.HasPrefix(strings.TrimSpace(s.Value), "[") &&
			!strings.HasPrefix(strings.TrimSpace(s.Value), "{")
	}
	return len(c.Args) > 0
}

// isConstantRoot reports whether the whole expression is a fixed value.
func isConstantRoot(root actionlint.ExprNode) bool {
	_, ok := expression.ConstantValue(root)
	return ok
}

// checkSecretsOutsideEnvironment finds secrets that no environment guards.
func checkSecretsOutsideEnvironment(p *Pass, b workflow.Body) {
	if b.Job == nil || b.Job.Environment != nil || b.Job.WorkflowCall != nil || len(p.File.Workflow.On) == 1 &&
		p.File.StartsOn("workflow_call") {
		return
	}
	jobs := p.File.Doc.Get("jobs")
	for _, e := range jobs.Entries {
		if !strings.EqualFold(e.Key, b.Job.ID.Value) {
			continue
		}
		e.Value.Walk(func(n *document.Node) bool {
			for _, x := range expression.FindAll(n.Value) {
				for _, u := range expression.AllUses(x.Root) {
					if strings.HasPrefix(u.Path, "secrets.") && u.Path != "secrets.github_token" {
						p.report("secrets-outside-environment", p.File.Source.Part(n, x.Offset, x.Length), "",
							"%s is not bound to an environment, %s", u.Path, describeJob(b.Job))
						break
					}
				}
			}
			return true
		})
	}
}
