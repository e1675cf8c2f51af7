package jenkins

import (
	"fmt"
	"strings"

	"merlon/internal/document"
	"merlon/internal/engine/cicd/pipeline"
	"merlon/internal/finding"
	"merlon/internal/lazyregexp"
)

// jenkinsfile is a file with what its assignments say of names.
type jenkinsfile struct {
	file    *pipeline.File
	tokens  []token
	chosen  map[string]string // name to the origin that others choose
	secrets map[string]bool   // names that hold credentials
	stage   string
}

// chosenEnv matches variables that whoever pushes, or opens a change, chooses.
// https://www.jenkins.io/doc/book/pipeline/multibranch/
var chosenEnv = lazyregexp.New(`^(?:env\.)?(CHANGE_(?:TITLE|BRANCH|AUTHOR_DISPLAY_NAME|FORK)|BRANCH_NAME|GIT_BRANCH|GIT_LOCAL_BRANCH|TAG_NAME|ghprb(?:PullTitle|PullLongDescription|SourceBranch|CommentBody|ActualCommitAuthor)|gitlab(?:SourceBranch|MergeRequestTitle|MergeRequestDescription|TriggerPhrase|Branch)|gitlabActionType|BITBUCKET_SOURCE_BRANCH|BITBUCKET_PULL_REQUEST_TITLE)\b`)

// param matches a parameter of the build, as a member or by index.
var param = lazyregexp.New(`^params\.(\w+)|^params\[['"](\w+)['"]\]`)

// checkFile reads the assignments twice, and then checks every word by its name, in the
// order of the file, so that each finding can name its stage.
func (j *jenkinsfile) checkFile() {
	j.chosen, j.secrets = map[string]string{}, map[string]bool{}
	j.readAssignments()
	j.readAssignments() // names may be used before the line that sets them
	for i, t := range j.tokens {
		if t.kind != word {
			continue
		}
		j.enterStage(i)
		switch t.value {
		case "sh", "bat", "powershell", "pwsh":
			j.checkScriptStep(i)
		case "evaluate", "me":
			j.checkEvaluate(i)
		case "Library", "library":
			j.checkLibrary(i)
		case "image", "inside", "args", "withRun":
			j.checkContainer(i)
		case "ignoreSslErrors", "skipTlsVerify":
			if j.isTrueArgument(i) {
				j.reportToken("no-verification", t, pipeline.Rating{}, "%s: true switches the check of "+
					"certificates off %s",
					t.value, j.describeStage())
			}
		case "url":
			j.checkTransport(i)
		default:
			j.checkAssignedSecret(i)
		}
	}
}

// checkTransport finds sources that are fetched over a protocol without encryption.
func (j *jenkinsfile) checkTransport(i int) {
	v := j.firstArgument(i)
	if v == nil || !strings.HasPrefix(v.value, "http://") && !strings.HasPrefix(v.value, "git://") ||
		strings.Contains(v.value, "localhost") {
		return
	}
	j.reportToken("insecure-transport", *v, pipeline.Rating{}, "%s is fetched without encryption %s",
		pipeline.Shorten(v.value), j.describeStage())
}

// isTrueArgument reports whether the word at i is given the value true, as an argument
// or as a step.
func (j *jenkinsfile) isTrueArgument(i int) bool {
	return j.tokenAt(i, 1).value == ":" && j.tokenAt(i, 2).value == "true" || j.tokenAt(i, 1).value == "true"
}

// tokenAt returns the token n behind i, or an empty one.
func (j *jenkinsfile) tokenAt(i, n int) token {
	if i+n < len(j.tokens) && i+n >= 0 {
		return j.tokens[i+n]
	}
	return token{kind: newline}
}

// firstArgument returns the first text behind the word, through a bracket or a colon.
// Four tokens cover the forms that people use.
func (j *jenkinsfile) firstArgument(i int) *token {
	for n := i + 1; n < len(j.tokens) && n < i+4; n++ {
		t := &j.tokens[n]
		switch {
		case t.kind == text || t.kind == gstring:
			return t
		case t.kind == sign && (t.value == "(" || t.value == ":" || t.value == "="):
		default:
			return nil
		}
	}
	return nil
}

// enterStage remembers the stage that the words are in.
func (j *jenkinsfile) enterStage(i int) {
	if j.tokens[i].value == "stage" {
		if v := j.firstArgument(i); v != nil {
			j.stage = v.value
		}
	}
}

// describeStage names the present stage for people.
func (j *jenkinsfile) describeStage() string {
	if j.stage == "" {
		return "in the pipeline"
	}
	return fmt.Sprintf("in stage %q", pipeline.Shorten(j.stage))
}

// readAssignments reads the assignments: x = params.Y, X = credentials('…'), variables of
// withCredentials.
func (j *jenkinsfile) readAssignments() {
	for i, t := range j.tokens {
		if t.kind != word {
			continue
		}
		if strings.HasSuffix(t.value, "ariable") && j.tokenAt(i, 1).value == ":" { // variable, passwordVariable, …
			if v := j.firstArgument(i); v != nil && t.value != "usernameVariable" {
				j.secrets[v.value] = true
			}
			continue
		}
		if j.tokenAt(i, 1).value != "=" || j.tokenAt(i, 2).value == "=" || j.tokenAt(i, 0).kind != word {
			continue
		}
		j.readValue(t.value, i+2)
	}
}

// readValue reads what is assigned to the name, up to the end of the line.
func (j *jenkinsfile) readValue(name string, i int) {
	var expr strings.Builder
	for n := i; n < len(j.tokens) && n < i+40 && j.tokens[n].kind != newline; n++ {
		t := j.tokens[n]
		if t.kind == word && t.value == "credentials" && j.tokenAt(n, 1).value == "(" {
			j.secrets[name] = true
		}
		j.readInterpolations(name, t)
		if t.kind == word || t.kind == sign && t.value == "." {
			expr.WriteString(t.value)
			if origin := j.taintOrigin(expr.String()); origin != "" && j.tokenAt(n, 1).value != "." &&
				!isCompared(j.tokens, n) {
				j.chosen[name] = origin
			}
		} else {
			expr.Reset()
		}
	}
}

// readInterpolations keeps the origin of the last interpolation that others choose.
func (j *jenkinsfile) readInterpolations(name string, t token) {
	for _, p := range t.parts {
		if origin := j.taintOrigin(p.expr); origin != "" {
			j.chosen[name] = origin
		}
	}
}

// isCompared reports whether the value only decides: it is compared.
func isCompared(tokens []token, n int) bool {
	for _, t := range tokens[n+1 : min(n+3, len(tokens))] {
		if t.kind == sign && (t.value == "=" || t.value == "!" || t.value == "?" || t.value == "~") {
			return true
		}
	}
	return false
}

// taintOrigin returns what others choose and the expression holds, or "".
func (j *jenkinsfile) taintOrigin(expr string) string {
	if m := chosenEnv.FindStringSubmatch(expr); m != nil {
		return m[1]
	}
	if m := param.FindStringSubmatch(expr); m != nil {
		return "params." + m[1] + m[2]
	}
	name, _, _ := strings.Cut(expr, ".")
	if name == "env" {
		name = strings.TrimPrefix(expr, "env.")
	}
	return j.chosen[name]
}

// isSecret reports whether the expression is a credential.
func (j *jenkinsfile) isSecret(expr string) bool { return j.secrets[strings.TrimPrefix(expr, "env.")] }

// checkScriptStep checks the text of a step that runs a script: sh "…", sh(script: "…").
func (j *jenkinsfile) checkScriptStep(i int) {
	if i > 0 && j.tokens[i-1].kind == sign && j.tokens[i-1].value == "." {
		return
	}
	depth := 0
	for n := i + 1; n < len(j.tokens) && n < i+maxStep; n++ {
		t := j.tokens[n]
		switch {
		case t.kind == sign:
			if depth += bracketDepth(t.value); endsStep(t.value, depth) {
				return
			}
		case t.kind == newline && depth == 0:
			return
		case t.kind == text || t.kind == gstring:
			if before := j.tokenAt(n, -2).value; j.tokenAt(n, -1).value == ":" && before != "script" { // label: "…"
				continue
			}
			j.checkScriptText(t)
		case t.kind == word && j.isScriptPart(n, i):
			j.checkJoinedName(n)
		}
	}
}

// maxStep bounds the tokens of one step.
const maxStep = 60

// bracketDepth returns by how much a sign opens or closes the brackets of an argument.
func bracketDepth(sign string) int {
	switch sign {
	case "(", "[":
		return 1
	case ")", "]":
		return -1
	}
	return 0
}

// endsStep reports whether the arguments of a step end with the sign, behind which the
// brackets have that depth.
func endsStep(sign string, depth int) bool {
	switch sign {
	case "{", "}", ";":
		return true
	case ")", "]":
		return depth <= 0
	}
	return false
}

// isScriptPart reports whether the word at n is a value that the script of the step at i
// is made of, not the name of an argument.
func (j *jenkinsfile) isScriptPart(n, i int) bool {
	before := j.tokenAt(n, -1).value
	return (before == "+" || before == "(" || n == i+1) && j.tokenAt(n, 1).value != ":"
}

// checkJoinedName checks a name that is put together with a text, or is the script itself.
func (j *jenkinsfile) checkJoinedName(n int) {
	expr := j.tokens[n].value
	for m := n; j.tokenAt(m, 1).value == "." && j.tokenAt(m, 2).kind == word; m += 2 {
		expr += "." + j.tokenAt(m, 2).value
	}
	if origin := j.taintOrigin(expr); origin != "" {
		j.reportInjection(j.tokens[n], expr, origin, nil)
	}
}

// checkScriptText checks the text of a script as a shell script, and what Groovy puts
// into it: a credential shows in the list of processes, and a value that others choose
// is code.
func (j *jenkinsfile) checkScriptText(t token) {
	node := &document.Node{Kind: document.String, Value: t.value, Line: t.line, Column: t.column}
	j.file.CheckScript(pipeline.Script{Text: node, Where: j.describeStage(), HasSecret: len(j.secrets) > 0,
		Tainted: j.taintedEnvironment()})
	for _, p := range t.parts {
		switch {
		case j.isSecret(p.expr):
			j.file.Report("secret-interpolation", j.interpolationPlace(t, p), pipeline.Rating{}, "The credential %s "+
				"is put into "+
				"the script by Groovy %s", p.expr, j.describeStage())
		case j.taintOrigin(p.expr) != "":
			p := p
			j.reportInjection(t, p.expr, j.taintOrigin(p.expr), &p)
		}
	}
}

// reportInjection grades by who chooses the value: anybody who opens a change, or only
// whoever may start the build with parameters. p is the interpolation, or nil where the
// value is joined to the text.
func (j *jenkinsfile) reportInjection(t token, expr, origin string, p *interpolation) {
	severity, confidence, by := finding.High, finding.HighConfidence, "is attacker-controlled"
	if strings.HasPrefix(origin, "params.") {
		severity, confidence, by = finding.Medium, finding.MediumConfidence, "is controlled by whoever starts the build"
	}
	via := ""
	if !strings.HasSuffix(expr, origin) {
		via = " (" + origin + ")"
	}
	message := fmt.Sprintf("%s%s, which %s, becomes part of the script %s", expr, via, by, j.describeStage())
	if p != nil {
		j.file.Report("script-injection", j.interpolationPlace(t, *p), pipeline.NewRating(severity, confidence), "%s",
			message)
		return
	}
	j.reportToken("script-injection", t, pipeline.NewRating(severity, confidence), "%s", message)
}

// taintedEnvironment returns the variables that others choose, as the shell sees them.
// Jenkins sets them for builds of branches and of changes.
func (j *jenkinsfile) taintedEnvironment() map[string]string {
	out := map[string]string{}
	for _, name := range strings.Fields("CHANGE_TITLE CHANGE_BRANCH BRANCH_NAME GIT_BRANCH TAG_NAME ghprbPullTitle " +
		"ghprbSourceBranch ghprbCommentBody gitlabSourceBranch gitlabMergeRequestTitle") {
		out[name] = name
	}
	return out
}

// checkEvaluate finds Groovy that is made of what others choose. Such code runs in the
// controller, beyond the sandbox of an agent.
func (j *jenkinsfile) checkEvaluate(i int) {
	if j.tokens[i].value == "me" && j.tokenAt(i, -2).value != "Eval" || j.tokenAt(i, 1).value != "(" {
		return
	}
	for n := i + 2; n < len(j.tokens) && n < i+30 && j.tokens[n].value != ")"; n++ {
		t := j.tokens[n]
		if t.kind == word {
			j.checkJoinedName(n)
		}
		for _, p := range t.parts {
			if origin := j.taintOrigin(p.expr); origin != "" {
				j.file.Report("script-injection", j.interpolationPlace(t, p),
					pipeline.NewRating(finding.High, finding.HighConfidence),
					"%s (%s) becomes part of a program in Groovy %s", p.expr, origin, j.describeStage())
			}
		}
	}
}

var (
	commit  = lazyregexp.New(`^[0-9a-f]{40}$`)
	version = lazyregexp.New(`^v?\d+(?:\.\d+)+$`)
)

// checkLibrary finds shared libraries that can change. A library runs with the rights
// of the pipeline, often outside of the sandbox.
func (j *jenkinsfile) checkLibrary(i int) {
	if j.tokens[i].value == "Library" && j.tokenAt(i, -1).value != "@" {
		return
	}
	for n := i + 1; n < len(j.tokens) && n < i+20; n++ {
		t := j.tokens[n]
		if t.kind == newline || t.value == ")" {
			return
		}
		if t.kind != text && t.kind != gstring || j.tokenAt(n, -1).value == ":" &&
			j.tokenAt(n, -2).value != "identifier" {
			continue
		}
		j.checkLibraryVersion(t)
	}
}

// checkLibraryVersion grades how firmly a text names a library, as name@version. One
// with an interpolation is known only when it runs.
func (j *jenkinsfile) checkLibraryVersion(t token) {
	name, ref, ok := strings.Cut(t.value, "@")
	switch {
	case commit.MatchString(ref) || len(t.parts) > 0:
	case !ok:
		j.reportToken("unpinned-dependency", t, pipeline.NewRating(finding.Low, finding.MediumConfidence),
			"The library %s is taken in its default version", name)
	case version.MatchString(ref):
		j.reportToken("unpinned-dependency", t, pipeline.NewRating(finding.Low, finding.LowConfidence),
			"The library %s is fixed by the tag %s, which can be moved", name, ref)
	default:
		j.reportToken("unpinned-dependency", t, pipeline.Rating{},
			"The library %s is taken from %s, which can be moved", name, ref)
	}
}

// checkContainer checks the images and the rights of containers. An agent shares its
// Docker daemon with the builds of others.
func (j *jenkinsfile) checkContainer(i int) {
	v := j.firstArgument(i)
	if v == nil {
		return
	}
	if j.tokens[i].value == "image" {
		node := &document.Node{Kind: document.String, Value: v.value, Line: v.line, Column: v.column}
		j.file.CheckImage(node, j.describeStage())
		return
	}
	for _, bad := range []string{"--privileged", "docker.sock", "--pid=host", "--net=host", "SYS_ADMIN"} {
		if strings.Contains(v.value, bad) {
			j.reportToken("privileged-container", *v, pipeline.Rating{}, "The container has the rights of its host "+
				"(%s) %s", bad,
				j.describeStage())
			return
		}
	}
}

// checkAssignedSecret finds secrets in plain text: NAME = '…', defaultValue: '…' of
// a parameter that is a secret by its name. The default value of a parameter is shown
// to everybody who may start the build.
func (j *jenkinsfile) checkAssignedSecret(i int) {
	t := j.tokens[i]
	name, at := t.value, i
	if t.value == "defaultValue" && j.tokenAt(i, 1).value == ":" {
		name = j.parameterName(i)
	} else if j.tokenAt(i, 1).value != "=" || j.tokenAt(i, 2).value == "=" {
		return
	}
	v := j.firstArgument(at)
	if v == nil || len(v.parts) > 0 {
		return
	}
	node := &document.Node{Kind: document.String, Value: v.value, Line: v.line, Column: v.column}
	j.file.CheckSecretText(name, v.value, node, j.describeStage())
}

// parameterName returns the name of the parameter whose default value is at i.
// Arguments come in any order, so the words on both sides are searched.
func (j *jenkinsfile) parameterName(i int) string {
	for n := max(i-12, 0); n < i+12 && n < len(j.tokens); n++ {
		if j.tokens[n].value == "name" && j.tokenAt(n, 1).value == ":" {
			if v := j.firstArgument(n); v != nil {
				return v.value
			}
		}
		if n < i && (j.tokens[n].value == "string" || j.tokens[n].value == "password") &&
			j.tokenAt(n, 1).value == "(" &&
			j.tokens[n].value == "password" {
			return "password"
		}
	}
	return ""
}

// reportToken reports at a token of the file.
func (j *jenkinsfile) reportToken(id string, t token, w pipeline.Rating, format string, args ...any) {
	n := &document.Node{Kind: document.String, Value: t.value, Line: t.line, Column: t.column}
	j.file.Report(id, j.file.Source.Whole(n), w, format, args...)
}

// interpolationPlace is the place of an interpolation.
func (j *jenkinsfile) interpolationPlace(t token, p interpolation) document.Place {
	return j.file.Source.Find(t.line, t.column, t.value, p.offset, p.length)
}
