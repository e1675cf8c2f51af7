package audit

import (
	"strings"

	"github.com/rhysd/actionlint"

	"merlon/internal/document"
	"merlon/internal/engine/cicd/github/expression"
	"merlon/internal/engine/cicd/github/workflow"
	"merlon/internal/engine/cicd/image"
	"merlon/internal/finding"
	"merlon/internal/severity"
)

// This file looks at jobs as such: where they run, in which images, and what they
// hand to reusable workflows.

// checkJobs checks where jobs run, the images of their containers and services, and the
// reusable workflows that they call. An action for Docker has an image too.
func checkJobs(p *Pass) {
	for _, j := range p.File.Jobs() {
		p.checkRunner(j)
		p.checkContainer(j, j.Container, "container")
		if j.Services != nil {
			for _, s := range workflow.InOrder(j.Services.Value, func(s *actionlint.Service) *actionlint.Pos {
				return s.Name.Pos
			}) {
				p.checkContainer(j, s.Container, "service "+s.Name.Value)
			}
		}
		if c := j.WorkflowCall; c != nil && c.Uses != nil {
			p.checkWorkflowCall(j, c)
		}
	}
	if a := p.File.Action; a != nil && a.Using == "docker" && a.Image != nil {
		if ref, ok := strings.CutPrefix(a.Image.Text(), "docker://"); ok {
			p.checkImage(workflow.Body{File: p.File}, ref, p.File.Source.Whole(a.Image), "of the action")
		}
	}
}

// checkWorkflowCall checks the reusable workflow that a job calls and what it hands over.
func (p *Pass) checkWorkflowCall(j *actionlint.Job, c *actionlint.WorkflowCall) {
	p.checkReference(workflow.Body{File: p.File, Job: j}, c.Uses, describeJob(j))
	if !c.InheritSecrets {
		return
	}
	f := p.newFinding(p.File.Place(c.Uses), "", "Every secret is handed to %s %s", shorten(c.Uses.Value),
		describeJob(j))
	owner, _, _ := strings.Cut(strings.ToLower(c.Uses.Value), "/")
	switch {
	case isLocalReference(c.Uses.Value): // it could read them by name
		f.Confidence = finding.LowConfidence
		f.Terms = append(f.Terms, harmless("the workflow belongs to the same repository"))
	case p.Tree.IsOwner(owner):
		f.Terms = append(f.Terms, lowered("the workflow belongs to the same owner"))
	}
	f.Fix = p.fixInherit(c)
	p.emit("secrets-inherit", f)
}

// checkRunner finds jobs on machines that somebody keeps. A hosted runner is a fresh
// virtual machine; one's own keeps what a job leaves on it, and stands in one's own
// network. Attackers reach it through a pull request (CICD-SEC-7).
func (p *Pass) checkRunner(j *actionlint.Job) {
	if j.RunsOn == nil {
		return
	}
	own, group := "", j.RunsOn.Group != nil
	labels := append([]*actionlint.String{}, j.RunsOn.Labels...)
	if j.RunsOn.LabelsExpr != nil {
		labels = append(labels, j.RunsOn.LabelsExpr)
	}
	var at *actionlint.Pos
	for _, l := range labels {
		if at == nil {
			at = l.Pos
		}
		for _, text := range p.possibleTexts(j, l.Value) {
			if strings.EqualFold(text, "self-hosted") {
				own = "self-hosted"
			}
		}
	}
	if group {
		at, own = j.RunsOn.Group.Pos, "the group "+j.RunsOn.Group.Value
	}
	if own == "" || at == nil {
		return
	}
	f := p.newFinding(workflow.PlaceAt(at), "", "%s runs on a machine of your own (%s)", "Job "+j.ID.Value, own)
	e := p.startingEvent(public)
	switch {
	case group: // its access can be limited to workflows
		f.Terms = append(f.Terms, lowered("a group can be limited to some workflows"))
	case e == "":
		f.Terms = append(f.Terms, lowered("no event of untrusted users starts the job"))
	default:
		f.Message += ", and " + e + " lets untrusted users start it"
		f.Severity, f.Confidence = finding.High, finding.MediumConfidence
		if isGuarded(p, workflow.Body{File: p.File, Job: j, Steps: j.Steps}, nil) {
			f.Terms = append(f.Terms, harmless("a condition admits only trusted users"))
		}
	}
	p.emit("self-hosted-runner", f)
}

// possibleTexts returns the texts that a value can become, as far as literals and the
// job's matrix tell; an expression of which nothing is known is "". The runner and the
// image of a job are chosen so.
func (p *Pass) possibleTexts(j *actionlint.Job, value string) []string {
	all := expression.FindAll(value)
	if len(all) == 0 {
		return []string{value}
	}
	if len(all) != 1 || all[0].Length != len(strings.TrimSpace(value)) {
		return []string{""}
	}
	return p.literalTexts(j, all[0].Root)
}

// literalTexts evaluates the forms that people use to choose a runner: matrix
// values, a && b || c, and fromJSON of a list. Anything else is unknown, which is
// "".
func (p *Pass) literalTexts(j *actionlint.Job, root actionlint.ExprNode) []string {
	if v, ok := expression.ConstantValue(root); ok {
		if s, ok := v.(string); ok {
			return []string{s}
		}
		return nil
	}
	if path := expression.ContextPath(root); strings.HasPrefix(path, "matrix.") && j != nil {
		return matrixTexts(j, strings.Split(path, ".")[1:])
	}
	if l, ok := root.(*actionlint.LogicalOpNode); ok {
		if l.Kind == actionlint.LogicalOpNodeKindAnd {
			return p.literalTexts(j, l.Right)
		}
		return append(p.literalTexts(j, l.Left), p.literalTexts(j, l.Right)...)
	}
	if c, ok := root.(*actionlint.FuncCallNode); ok && strings.EqualFold(c.Callee, "fromjson") && len(c.Args) == 1 {
		var out []string
		for _, s := range p.literalTexts(j, c.Args[0]) {
			out = append(out, strings.FieldsFunc(s, func(r rune) bool { return strings.ContainsRune(`[]",' `, r) })...)
		}
		return out
	}
	return []string{""}
}

// matrixTexts returns the texts of a value in the job's matrix. Rows are multiplied,
// exclude removes combinations, and include adds values.
func matrixTexts(j *actionlint.Job, path []string) []string {
	if j.Strategy == nil || j.Strategy.Matrix == nil {
		return []string{""}
	}
	m := j.Strategy.Matrix
	if m.Expression != nil {
		return []string{""}
	}
	var out []string
	if row := m.Rows[path[0]]; row != nil {
		if row.Expression != nil {
			out = append(out, "")
		}
		for _, v := range row.Values {
			if !isExcluded(m, path[0], v) {
				out = append(out, rawTexts(v, path[1:])...)
			}
		}
	}
	if m.Include != nil {
		if m.Include.Expression != nil {
			out = append(out, "")
		}
		for _, c := range m.Include.Combinations {
			if a := c.Assigns[path[0]]; a != nil {
				out = append(out, rawTexts(a.Value, path[1:])...)
			}
		}
	}
	return out
}

// isExcluded reports whether a value of a row is left out whatever the others are. An
// exclusion with further names removes only some combinations.
func isExcluded(m *actionlint.Matrix, name string, v actionlint.RawYAMLValue) bool {
	if m.Exclude == nil {
		return false
	}
	for _, c := range m.Exclude.Combinations {
		if a := c.Assigns[name]; a != nil && len(c.Assigns) == 1 && a.Value.Equals(v) {
			return true
		}
	}
	return false
}

// rawTexts returns the texts that a value of a matrix can become, with the path of
// members taken out of it. An expression is "", of which nothing is known.
func rawTexts(v actionlint.RawYAMLValue, path []string) []string {
	switch v := v.(type) {
	case *actionlint.RawYAMLString:
		if strings.Contains(v.Value, "${{") {
			return []string{""}
		}
		return []string{v.Value}
	case *actionlint.RawYAMLArray:
		var out []string
		for _, e := range v.Elems {
			out = append(out, rawTexts(e, path)...)
		}
		return out
	case *actionlint.RawYAMLObject:
		if len(path) > 0 && v.Props[path[0]] != nil {
			return rawTexts(v.Props[path[0]], path[1:])
		}
	}
	return nil
}

// checkContainer checks the password and the image of a job's container or service.
func (p *Pass) checkContainer(j *actionlint.Job, c *actionlint.Container, what string) {
	if c == nil {
		return
	}
	p.checkRegistryPassword(j, c, what)
	if c.Image == nil || c.Image.Value == "" {
		return
	}
	at := p.File.Place(c.Image)
	if !c.Image.ContainsExpression() {
		p.checkImage(workflow.Body{File: p.File, Job: j}, c.Image.Value, at, "of "+what+" "+describeJob(j))
		return
	}
	p.checkChosenImage(j, c.Image, what)
}

// checkRegistryPassword finds a password that is written in the file.
func (p *Pass) checkRegistryPassword(j *actionlint.Job, c *actionlint.Container, what string) {
	if c.Credentials == nil || c.Credentials.Password == nil || c.Credentials.Password.Value == "" ||
		c.Credentials.Password.ContainsExpression() {
		return
	}
	f := p.newFinding(p.File.Place(c.Credentials.Password), "", "The password of the registry for %s %s is in "+
		"the file", what, describeJob(j))
	f.Identity = j.ID.Value + " " + what
	f.Secret = &finding.SecretMatch{Kind: "Registry password", Redacted: finding.Redacted}
	f.Snippet = p.redactedSnippet(c.Credentials.Password)
	p.emit("container-credentials", f)
}

// checkChosenImage checks the loosest of the images that an expression can become. An
// expression of which nothing is known is reported as uncertain, unless the matrix or an
// empty text, which means no container, explains it.
func (p *Pass) checkChosenImage(j *actionlint.Job, name *actionlint.String, what string) {
	unknown, worst := false, ""
	for _, text := range p.possibleTexts(j, name.Value) {
		switch {
		case text == "":
			unknown = unknown || !strings.Contains(name.Value, "matrix.") && !strings.Contains(name.Value, "''")
		case worst == "" || image.Parse(text).IsLooserThan(image.Parse(worst)):
			worst = text
		}
	}
	if worst != "" {
		p.checkImage(workflow.Body{File: p.File, Job: j}, worst, p.File.Place(name), "of "+what+" "+describeJob(j))
	} else if unknown {
		f := p.newFinding(p.File.Place(name), finding.LowConfidence, "The image of %s %s is known only when it "+
			"runs: %s", what, describeJob(j), shorten(name.Value))
		f.Terms = append(f.Terms, lowered("the image may be pinned where it is chosen"))
		p.emit("unpinned-image", f)
	}
}

// redactedSnippet is a snippet without the password. A finding must not carry the
// secret further than the repository does.
func (p *Pass) redactedSnippet(s *actionlint.String) *finding.Snippet {
	line := p.File.Source.Line(s.Pos.Line)
	return &finding.Snippet{StartLine: s.Pos.Line, Lines: []string{strings.ReplaceAll(line, s.Value, finding.Redacted)}}
}

// checkImage reports an image that is not fixed by its digest. "scratch" is Docker's
// empty image and has no version.
func (p *Pass) checkImage(b workflow.Body, ref string, at document.Place, where string) {
	i := image.Parse(ref)
	if i.Name == "" || i.Name == "scratch" {
		return
	}
	switch i.Pin() {
	case image.Floating:
		f := p.newFinding(at, "", "The image %s %s is whatever is newest when the job runs", shorten(ref), where)
		f.Terms = capTerms(p.privilegeOf(b).terms(), severity.Raised)
		p.emit("unpinned-image", f)
	case image.Tagged:
		f := p.newFinding(at, finding.LowConfidence, "The image %s %s is fixed by a tag, which can be moved, not by "+
			"a digest", shorten(ref), where)
		f.Terms = append(capTerms(p.privilegeOf(b).terms(), severity.Raised), harmless("the tag names a version"))
		p.emit("unpinned-image", f)
	}
}
