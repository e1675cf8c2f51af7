package script

import (
	"strings"

	"merlon/internal/lazyregexp"
)

// This file tells what the commands of a script read in from outside of it, as
// far as their arguments say so: fields of pull requests and issues, files, and
// what git knows of commits.

// A Read is something that a command prints and that its script does not fix.
type Read struct {
	Context string // as an expression names it, "github.event.pull_request.title"; "" when it is a file
	File    string // what is read, as it is written; "" when it is no file
	// OneLine is set where the rest of the command leaves a single line of it.
	OneLine bool
}

var (
	ghView  = lazyregexp.New(`\bgh\s+(pr|issue)\s+(?:view|list|status)\b(.*)`)
	ghAPI   = lazyregexp.New(`\b(?:gh\s+api|curl|wget)\b(.*/(pulls|issues|comments|discussions|commits|reviews|branches)\b.*)`)
	ghDiff  = lazyregexp.New(`\bgh\s+pr\s+diff\b.*--name-only`)
	payload = lazyregexp.New(`\bjq\b.*GITHUB_EVENT_PATH|GITHUB_EVENT_PATH.*\|\s*jq\b`)
	jsonArg = lazyregexp.New(`--json[\s=]+["']?([\w,]+)`)
	jqArg   = lazyregexp.New(`(?:\bjq\b(?:\s+-{1,2}[\w-]+)*|--jq|\s-q)[\s=]+["']?\s*(\.[\w.\[\]"?*-]*)`)
	gitLog  = lazyregexp.New(`\bgit\s+(?:-\S+\s+)*(?:log|show)\b.*(?:--(?:format|pretty)[= ]["']?(?:format:|tformat:)?\S*%(?:s|b|B|f|an|ae|cn|ce|D|d)|--name-only|--name-status)`)
	gitDiff = lazyregexp.New(`\bgit\s+(?:-\S+\s+)*(?:diff|diff-tree|diff-index|ls-files)\b.*`)
	reads   = lazyregexp.New(`(?:^|[\s;&|("'` + "`" +
		`])(?:cat|head|tail|tac|sed|awk|grep|egrep|cut|jq|yq|xmllint|sort|uniq)\b([^|;&<]*)`)
	from    = lazyregexp.New(`<\s*["']?([\w./$\{-][^\s;&|)"']*)`)
	listing = lazyregexp.New(`(?:^|[\s;&|("'` + "`" + `])(?:ls|find)\s+[^|;&>]*\S`)
	single  = lazyregexp.New(`\|\s*(?:head\s+(?:-n\s*)?-?1\b|tail\s+(?:-n\s*)?-?1\b|wc\b|tr\s+-d\s+["']?\\n|xargs\b)|\b(?:head|tail)\s+(?:-n\s*)?-?1\s|\btr\s+-d\s+["']?\\n|\bread\s+-r\b`)
)

// JQPath returns the path that jq takes out of a JSON text, with "*" for an index
// or all of a list, and whether the text runs jq with a plain path.
func JQPath(text string) (string, bool) {
	m := jqArg.FindAllStringSubmatch(text, -1)
	if m == nil {
		return "", false
	}
	return normalizePath(m[len(m)-1][1]), true
}

// index matches an index in an expression.
var index = lazyregexp.New(`\[[^\]]*\]`)

// normalizePath makes a dotted path in lower case of a query of jq, so that it can be
// compared with the names of contexts.
func normalizePath(query string) string {
	query = index.ReplaceAllString(query, ".*")
	var out []string
	for _, part := range strings.Split(query, ".") {
		if part = strings.Trim(part, `"?`); part != "" {
			out = append(out, strings.ToLower(part))
		}
	}
	return strings.Join(out, ".")
}

// ParseReads returns what the commands in a text read in. Who chooses what is read is
// the caller's question.
func ParseReads(text string) []Read {
	var out []Read
	one := single.MatchString(text)
	add := func(context string) { out = append(out, Read{Context: context, OneLine: one}) }
	for _, c := range githubContexts(text) {
		add(c)
	}
	if gitLog.MatchString(text) {
		add("git.message")
	}
	if m := gitDiff.FindString(text); ghDiff.MatchString(text) || strings.Contains(m, "--name-only") ||
		strings.Contains(m, "ls-files") {
		add("git.files")
	}
	if listing.MatchString(text) {
		out = append(out, Read{File: "*", OneLine: one})
	}
	for _, name := range readFiles(text) {
		out = append(out, Read{File: name, OneLine: one})
	}
	return out
}

// githubContexts returns the contexts that the text reads from GitHub: with its client,
// with a request to its API, or out of the payload of the event.
func githubContexts(text string) []string {
	var out []string
	if m := ghView.FindStringSubmatch(text); m != nil && strings.Contains(m[2], "--json") {
		out = viewContexts(m[1], m[2])
	}
	if m := ghAPI.FindStringSubmatch(text); m != nil && (strings.Contains(m[1], "api") ||
		strings.Contains(text, "gh api")) {
		out = append(out, responseContext(m[2], m[1]))
	}
	if payload.MatchString(text) {
		if q, ok := JQPath(text); ok {
			out = append(out, strings.TrimSuffix("github.event."+q, "."))
		}
	}
	return out
}

// fields names what the fields of gh are called in the payloads of events.
var fields = map[string]string{"headrefname": "head.ref", "headrefoid": "head.sha", "baserefname": "base.ref",
	"baserefoid":     "base.sha",
	"headrepository": "head.repo", "headrepositoryowner": "head.repo.owner.login", "isdraft": "draft",
	"mergecommit": "merge_commit_sha"}

// viewContexts returns the contexts that gh pr view --json … prints.
func viewContexts(what, args string) []string {
	base := "github.event.issue"
	if what == "pr" {
		base = "github.event.pull_request"
	}
	name := func(f string) string {
		first, rest, _ := strings.Cut(f, ".")
		if known, ok := fields[first]; ok {
			first = known
		}
		return strings.TrimSuffix(base+"."+first+"."+rest, ".")
	}
	if q, ok := JQPath(args); ok && q != "" {
		return []string{name(q)}
	}
	m := jsonArg.FindStringSubmatch(args)
	if m == nil {
		return nil
	}
	if strings.Contains(m[1], ",") {
		return []string{base}
	}
	return []string{name(strings.ToLower(m[1]))}
}

// responseContext returns the context that the response of GitHub's API for a kind of
// resources holds.
func responseContext(kind, args string) string {
	base := map[string]string{"pulls": "github.event.pull_request", "issues": "github.event.issue",
		"comments":    "github.event.comment",
		"discussions": "github.event.discussion", "commits": "github.event.commits.*", "reviews": "github.event.review",
		"branches": "github.event.branch"}[kind]
	q, ok := JQPath(args)
	if !ok || q == "" {
		return base
	}
	return base + "." + strings.TrimPrefix(q, "*.")
}

var (
	fixedArg = lazyregexp.New(`^(?:-|["']?[\^{/.]|["']?\$\d|["']?s[/|#]|["']?\d+$)`)
	fileArg  = lazyregexp.New(`^["']?(?:[\w.$\{\}~*-]*[./][\w./$\{\}*-]*|[A-Za-z][\w-]*)["')]*$`)
)

// readFiles returns the files that the commands of the text read. Options, patterns and
// numbers among the arguments are left out.
func readFiles(text string) []string {
	var out []string
	for _, m := range from.FindAllStringSubmatch(text, -1) {
		if !strings.HasPrefix(m[1], "EOF") {
			out = append(out, m[1])
		}
	}
	for _, at := range reads.FindAllStringSubmatchIndex(text, -1) {
		words := strings.Fields(text[at[2]:at[3]])
		if len(words) == 0 || strings.HasSuffix(strings.TrimSpace(text[:at[0]+1]), "|") {
			continue // behind a pipe it reads the pipe
		}
		last := words[len(words)-1]
		if fileArg.MatchString(last) && !(fixedArg.MatchString(last) && !strings.HasPrefix(last, ".") &&
			!strings.HasPrefix(last, "/")) {
			out = append(out, strings.Trim(last, `"')`))
		}
	}
	return out
}

var checks = lazyregexp.New(`(?:\[\[\s+["']?\$\{?(\w+)\}?["']?\s+=~\s+["']?(\^\S+\$)["']?|\$\{?(\w+)\}?["']?\s*\|\s*grep\s+-\w*q\w*\s+(?:--?\w+\s+)*["']?(\^\S+\$)["']?)`)

// strict matches a pattern that leaves no room for code: classes, groups and
// letters, but no dot that stands for anything and no class of what is left out.
var strict = lazyregexp.New(`^\^(?:\[[^\^\]][^\]]*\]|\\[dw.]|[\w()|+*?{},:/@-])*\$$`)

// ValidatedVariables returns the variables that the script holds against a pattern
// which leaves no room for code. Such a check is how careful authors protect
// themselves, so that a finding behind it would be a false positive.
func ValidatedVariables(text string) map[string]bool {
	out := map[string]bool{}
	for _, m := range checks.FindAllStringSubmatch(text, -1) {
		if strict.MatchString(m[2] + m[4]) {
			out[m[1]+m[3]] = true
		}
	}
	return out
}
