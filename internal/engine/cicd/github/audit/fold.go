package audit

import (
	"fmt"
	"slices"
	"strings"

	"merlon/internal/finding"
)

// This file merges what one decision fixes: all unpinned actions of a repository, or all
// checkouts of a workflow.

// A scope says how far a decision about a rule reaches.
type scope int

const (
	place      scope = iota // each finding is a decision of its own
	file                    // one edit of the workflow
	repository              // one decision for all workflows of the repository
)

// scopes are the rules whose findings are folded, with how far. A rule that is not listed keeps each
// finding: two injections need two edits and two reviews.
var scopes = map[string]scope{
	"unpinned-uses": repository, "unpinned-image": repository, "missing-permissions": repository,
	"secrets-outside-environment": repository, "anonymous-definition": repository,
	"undocumented-permission": repository, "missing-concurrency": repository, "superfluous-action": repository,
	"dependabot-cooldown": repository, "adhoc-packages": repository, "archived-action": repository,
	"persisted-credentials": file, "excessive-permissions": file, "cache-poisoning": file,
	"expression-in-script": file, "secrets-inherit": file, "github-app": file, "use-trusted-publishing": file,
	"unredacted-secret": file, "obfuscation": file, "misfeature": file, "environment-injection": place,
}

// Fold returns where an analyzer reports to, and what ends it: findings that one decision fixes are
// held back, so that each can say what the decision is about as a whole. The driver makes one
// finding of those that have the same cause.
func Fold(out func(*finding.Rule, finding.Finding)) (report func(*finding.Rule, finding.Finding), end func()) {
	var order []string
	held := map[string][]reported{}
	report = func(r *finding.Rule, f finding.Finding) {
		if f.Cause == "" {
			out(r, f)
			return
		}
		key := r.ID + "\x00" + f.Cause
		if held[key] == nil {
			order = append(order, key)
		}
		held[key] = append(held[key], reported{r, f})
	}
	end = func() {
		for _, key := range order {
			all := held[key]
			mergeFixes(all)
			summarize(all)
			for _, h := range all {
				out(h.rule, h.finding)
			}
		}
	}
	return report, end
}

// reported is a finding that waits for the others of its cause.
type reported struct {
	rule    *finding.Rule
	finding finding.Finding
}

// emit reports a finding with the cause that its rule's scope gives it. What belongs to one cause
// differs in root, the repository of the file: a tree can hold several.
func (p *Pass) emit(id string, f finding.Finding) {
	if f.Cause == "" {
		f.Cause = causeOf(id, p.File.Root, p.File.Path)
	} else {
		f.Cause += " " + p.File.Root
	}
	p.Out(Rules.Get(id), f)
}

// causeOf returns the cause of a finding by the scope of its rule, or "".
func causeOf(id, root, path string) string {
	switch scopes[id] {
	case file:
		return path
	case repository:
		return "repository " + root
	}
	return ""
}

// maxNamed is how many subjects a summary names. More do not fit into a line of a terminal.
const maxNamed = 6

// summarize gives the findings of one cause a message about all of them, where they speak of
// several subjects: the unpinned actions of a repository.
func summarize(all []reported) {
	var names []string
	for _, h := range all {
		if name := subjectOf(h); name != "" && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	if len(names) < 2 {
		return
	}
	more := ""
	if n := len(names) - maxNamed; n > 0 {
		names, more = names[:maxNamed], fmt.Sprintf(" and %d more", n)
	}
	for i := range all {
		f := &all[i].finding
		f.Identity = "" // the code of the place, which the message does not change
		f.Message += ". In all: " + strings.Join(names, ", ") + more
	}
}

// subjectOf returns what a finding is about in a summary: the action, or the workflow.
func subjectOf(h reported) string {
	_, id, _ := strings.Cut(h.rule.ID, "cicd/github/")
	switch id {
	case "unpinned-uses", "unpinned-image", "archived-action":
		name, _, _ := strings.Cut(h.finding.Message, " is ")
		return strings.TrimPrefix(name, "The image ")
	case "missing-permissions":
		return h.finding.Location.Path[strings.LastIndexByte(h.finding.Location.Path, '/')+1:]
	}
	return ""
}

// mergeFixes gives the findings of one cause and file one edit that fixes all of them. Edits that
// overlap stay apart: the next scan offers what is left.
func mergeFixes(all []reported) {
	byPath := map[string]*finding.Fix{}
	for _, h := range all {
		fix := h.finding.Fix
		if fix == nil {
			continue
		}
		one := byPath[fix.Path]
		if one == nil {
			byPath[fix.Path] = &finding.Fix{Description: fix.Description, Path: fix.Path,
				Edits: slices.Clone(fix.Edits)}
			continue
		}
		// All edits of a fix or none: a variable that a script expands has to be declared as well.
		if !slices.ContainsFunc(fix.Edits, func(e finding.Edit) bool { return overlaps(one.Edits, e) }) {
			one.Edits = append(one.Edits, fix.Edits...)
		}
	}
	for _, fix := range byPath {
		slices.SortFunc(fix.Edits, func(a, b finding.Edit) int { return a.StartLine - b.StartLine })
	}
	for i := range all {
		if f := &all[i].finding; f.Fix != nil {
			f.Fix = byPath[f.Fix.Path]
		}
	}
}

// overlaps reports whether an edit touches the lines of one of the others.
func overlaps(edits []finding.Edit, e finding.Edit) bool {
	return slices.ContainsFunc(edits, func(o finding.Edit) bool {
		return o.StartLine <= max(e.EndLine, e.StartLine) && e.StartLine <= max(o.EndLine, o.StartLine)
	})
}
