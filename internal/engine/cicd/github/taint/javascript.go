package taint

import (
	"slices"
	"strings"

	"github.com/rhysd/actionlint"

	"merlon/internal/engine/cicd/github/expression"
	"merlon/internal/engine/cicd/github/workflow"
	"merlon/internal/lazyregexp"
)

// This file follows values through the scripts of actions/github-script, by the
// forms in which people write them: the calls of the client, members of their
// answers, context.payload, and what is returned or set as output.

// maxExpressions bounds the texts that are looked at in one script.
const maxExpressions = 64

var (
	// returns, setOutput and exported match what a script hands on; declares matches
	// what sets a variable, and called the calls of GitHub's client that give an object
	// of an event.
	returns   = lazyregexp.New(`\breturn\s+([^;\n]+)`)
	setOutput = lazyregexp.New(`\bcore\s*\.\s*setOutput\(\s*['"` + "`" + `]([\w-]+)['"` + "`" +
		`]\s*,\s*([^;\n]+?)\)?\s*;?\s*(?:\n|$)`)
	exported = lazyregexp.New(`\bcore\s*\.\s*(?:exportVariable|addPath)\(\s*(?:[^,\n]*,\s*)?([^;\n]+?)\)?\s*;?\s*(?:\n|$)`)
	declares = lazyregexp.New(`(?m)(?:\b(?:const|let|var)\s+)?(\{[^}]*\}|\[[^\]]*\]|[A-Za-z_$][\w$]*)\s*=\s*(?:await\s+)?\(?\s*(?:await\s+)?([^=;\n][^;\n]*)`)
	chain    = lazyregexp.New(`[A-Za-z_$][\w$]*(?:\s*\??\.\s*[A-Za-z_$][\w$]*|\[\s*(?:\d+|'[^']*'|"[^"]*"|[\w$.]+)\s*\])*`)
	renamed  = lazyregexp.New(`([A-Za-z_$][\w$]*)\s*(?::\s*([A-Za-z_$][\w$]*))?`)
	called   = lazyregexp.New(`\b(pulls|issues|repos|checks)\s*\.\s*(get|list\w*|getComment|getCommit|getBranch)\b|\b(?:request|paginate)\(.*?(pull_request|pulls|issue|comments)`)
)

// scriptOrigins returns the origins of an output of a step of actions/github-script,
// and whether the script sets it. The script is read by its forms and not as
// JavaScript: a parser would not know more about the types of GitHub's client.
func (f *Tracker) scriptOrigins(a *actionlint.ExecAction, name string, at Site, depth int) ([]Origin, bool) {
	in := a.Inputs["script"]
	if in == nil || in.Value == nil {
		return nil, false
	}
	js := in.Value.Value
	var texts []string
	if name == "result" {
		for _, m := range returns.FindAllStringSubmatch(js, maxExpressions) {
			texts = append(texts, m[1])
		}
	}
	for _, m := range setOutput.FindAllStringSubmatch(js, maxExpressions) {
		if strings.EqualFold(m[1], name) {
			texts = append(texts, m[2])
		}
	}
	var out []Origin
	set := findDeclarations(js)
	for _, t := range texts {
		out = append(out, f.javascriptOrigins(t, set, at, depth+1)...)
	}
	return out, len(texts) > 0
}

// ExportedOrigins returns the origins of what a step of actions/github-script makes a
// variable of later steps.
func (f *Tracker) ExportedOrigins(a *actionlint.ExecAction, at Site) []Origin {
	in := a.Inputs["script"]
	if in == nil || in.Value == nil {
		return nil
	}
	f.work = 0
	var out []Origin
	set := findDeclarations(in.Value.Value)
	for _, m := range exported.FindAllStringSubmatch(in.Value.Value, maxExpressions) {
		out = append(out, f.javascriptOrigins(m[1], set, at, 1)...)
	}
	return out
}

// A declaration is what sets variables in a script.
type declaration struct {
	target string // "name", "{ name: other }" or "[a, b]"
	value  string
}

// findDeclarations returns those of a script.
func findDeclarations(js string) []declaration {
	var out []declaration
	for _, m := range declares.FindAllStringSubmatch(js, maxExpressions) {
		out = append(out, declaration{m[1], m[2]})
	}
	return out
}

// javascriptOrigins returns the origins of an expression of a script that sets
// variables. Chains of members are matched to the payload and to variables of the
// script.
func (f *Tracker) javascriptOrigins(text string, set []declaration, at Site, depth int) []Origin {
	if f.work++; depth > maxDepth || f.work > maxWork {
		return nil
	}
	var out []Origin
	for _, e := range expression.FindAll(text) {
		out = append(out, f.expressionOrigins(e.Root, at, depth)...)
	}
	if m := called.FindStringSubmatch(text); m != nil {
		return append(out, responseOrigins(m, text)...)
	}
	for _, c := range chain.FindAllString(blankQuotedText(text), maxExpressions) {
		out = append(out, f.variableOrigins(splitChain(c), set, at, depth)...)
	}
	if len(out) > maxOrigins {
		out = out[:maxOrigins]
	}
	return out
}

// quoted matches strings of JavaScript, whose contents are no code.
var quoted = lazyregexp.New(`'[^'\n]*'|"[^"\n]*"`)

// blankQuotedText removes literals, so that words in a message are not taken for
// variables.
func blankQuotedText(text string) string { return quoted.ReplaceAllString(text, "''") }

// splitChain splits a chain of members. An index is "*".
func splitChain(c string) []string {
	c = strings.NewReplacer("?.", ".", " ", "", "\n", "", "\t", "").Replace(c)
	c = regexpIndex.ReplaceAllString(c, ".*")
	return strings.Split(strings.ToLower(c), ".")
}

// regexpIndex matches an index in an expression of JavaScript.
var regexpIndex = lazyregexp.New(`\[[^\]]*\]`)

// responseOrigins returns the origin of a call of the client. m is a match of called,
// whose groups name the resource.
func responseOrigins(m []string, text string) []Origin {
	base := map[string]string{"pulls": "github.event.pull_request", "pull_request": "github.event.pull_request",
		"issues": "github.event.issue",
		"issue":  "github.event.issue", "comments": "github.event.comment", "repos": "github.event.commits.*",
		"checks": "github.event.check_run"}[m[1]+m[3]]
	if strings.Contains(m[2], "omment") {
		base = "github.event.comment"
	}
	o := originOfField(base)
	if at := strings.LastIndex(text, ")"); at >= 0 { // (await …).data.head.sha
		o = memberOrigin(o, strings.TrimPrefix(strings.Join(splitChain(strings.Trim(text[at+1:], "; \n")), "."), "."))
	}
	return []Origin{o}
}

// variableOrigins returns the origins of a chain of members: of the event's payload, or of
// a variable that the script sets.
func (f *Tracker) variableOrigins(c []string, set []declaration, at Site, depth int) []Origin {
	if out, ok := f.builtinOrigins(c, at, depth); ok {
		return out
	}
	var out []Origin
	for i, d := range set {
		taken, ok := destructuredPath(d.target, c[0])
		if !ok || strings.Contains(strings.ToLower(d.value), "await "+c[0]) {
			continue
		}
		rest := strings.Join(append(taken, c[1:]...), ".")
		without := slices.Delete(slices.Clone(set), i, i+1) // x = x + 1
		for _, o := range f.javascriptOrigins(d.value, without, at, depth+1) {
			out = append(out, memberOrigin(o, rest))
		}
	}
	return out
}

// builtinOrigins returns the origins of what actions/github-script gives every script,
// and whether the chain begins with one of those names.
func (f *Tracker) builtinOrigins(c []string, at Site, depth int) ([]Origin, bool) {
	switch {
	case len(c) > 2 && c[0] == "context" && c[1] == "payload":
		return []Origin{originOfField("github.event." + strings.Join(c[2:], "."))}, true
	case len(c) > 2 && c[0] == "process" && c[1] == "env":
		return f.envOrigins(c[2], "env."+c[2], at, depth+1), true
	case len(c) > 1 && c[0] == "github" && c[1] == "event":
		return []Origin{originOfField(strings.Join(c, "."))}, true
	case c[0] == "context" || c[0] == "github" || c[0] == "core":
		return nil, true
	}
	return nil, false
}

// destructuredPath reports whether a declaration sets the variable, and which member of
// the value it is. `{ title: name }` sets name to the member title.
func destructuredPath(target, name string) ([]string, bool) {
	if !strings.HasPrefix(target, "{") {
		return nil, strings.EqualFold(target, name)
	}
	for _, m := range renamed.FindAllStringSubmatch(target, maxExpressions) {
		own := m[2]
		if own == "" {
			own = m[1]
		}
		if strings.EqualFold(own, name) {
			return []string{strings.ToLower(m[1])}, true
		}
	}
	return nil, false
}

// requestOrigins returns the origin of what octokit/request-action answers.
func requestOrigins(a *actionlint.ExecAction) []Origin {
	m := routes.FindString(strings.ToLower(workflow.InputText(a, "route")))
	base := map[string]string{"pulls": "github.event.pull_request", "pull_request": "github.event.pull_request",
		"issue":   "github.event.issue",
		"comment": "github.event.comment"}[m]
	if base == "" {
		return nil
	}
	return []Origin{originOfField(base)}
}

// routes matches routes of GitHub's API whose answers hold texts of strangers.
var routes = lazyregexp.New(`pulls|pull_request|comment|issue`)
