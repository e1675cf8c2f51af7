package inventory

import (
	"path"
	"regexp"
	"strings"

	"go.yaml.in/yaml/v3"

	"merlon/internal/finding"
	"merlon/internal/scan"
)

// This file reads which actions workflows and actions of GitHub use
// (https://docs.github.com/actions/reference/workflow-syntax-for-github-actions).

// isWorkflow reports whether the file is a workflow or the description of an action.
func isWorkflow(file string) bool {
	ext := path.Ext(file)
	if ext != ".yml" && ext != ".yaml" {
		return false
	}
	dir, base := path.Split(file)
	return strings.HasSuffix("/"+dir, "/.github/workflows/") || strings.TrimSuffix(base, ext) == "action"
}

var (
	commitID       = regexp.MustCompile(`^[0-9a-f]{40}$|^[0-9a-f]{64}$`)
	commentVersion = regexp.MustCompile(`^#\s*(?:[\w./@-]*@)?(?:tag[=:]\s*|pin\s+@?)?(v?[0-9]+(?:\.[0-9A-Za-z_-]+)*)\b`)
)

// addWorkflow adds the actions that a file uses. One that is pinned to a commit has the
// version that the comment behind it names, as tools that keep such commits up to date
// write it.
func (inv *inventory) addWorkflow(f scan.File) {
	content, ok := inv.readFile(f)
	if !ok {
		return
	}
	var doc yaml.Node
	if err := yaml.Unmarshal(content, &doc); err != nil {
		inv.Degrade(scan.Reason{Code: "malformed", Path: f.Path, Message: "cannot be read as a list of " +
			"packages: " + OneLine(err.Error())})
		return
	}
	for _, s := range workflowSteps(&doc) {
		uses := mappingValue(s, "uses")
		name, version, ok := usedAction(uses)
		if !ok {
			continue
		}
		inv.packages = append(inv.packages, finding.Package{
			Ecosystem: "GitHub Actions", Name: name, Version: version, PURL: makePURL("GitHub Actions", name, version),
			Path: f.Path, Line: uses.Line, Scope: finding.Direct,
		})
	}
}

// workflowSteps returns the jobs, which may use a workflow, and the steps of a workflow or an
// action.
func workflowSteps(doc *yaml.Node) []*yaml.Node {
	var steps []*yaml.Node
	for _, root := range doc.Content {
		if jobs := mappingValue(root, "jobs"); jobs != nil && jobs.Kind == yaml.MappingNode {
			for i := 1; i < len(jobs.Content); i += 2 {
				steps = append(steps, jobs.Content[i])
				steps = append(steps, sequenceItems(mappingValue(jobs.Content[i], "steps"))...)
			}
		}
		steps = append(steps, sequenceItems(mappingValue(mappingValue(root, "runs"), "steps"))...)
	}
	return steps
}

// usedAction returns the repository and the version of an action. It is false for an action
// of the tree, an image, and one that is computed.
func usedAction(uses *yaml.Node) (name, version string, ok bool) {
	if uses == nil || uses.Kind != yaml.ScalarNode {
		return "", "", false
	}
	name, version, ok = strings.Cut(uses.Value, "@")
	parts := strings.Split(name, "/")
	if !ok || len(parts) < 2 || strings.HasPrefix(name, ".") || strings.Contains(name, ":") ||
		strings.Contains(uses.Value, "${{") {
		return "", "", false
	}
	if m := commentVersion.FindStringSubmatch(uses.LineComment); m != nil && commitID.MatchString(version) {
		version = m[1]
	}
	return parts[0] + "/" + parts[1], version, true
}

// mappingValue returns the value of a name in a mapping, or nil.
func mappingValue(n *yaml.Node, name string) *yaml.Node {
	if n == nil || n.Kind != yaml.MappingNode {
		return nil
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		if n.Content[i].Value == name {
			return n.Content[i+1]
		}
	}
	return nil
}

// sequenceItems returns the items of a sequence.
func sequenceItems(n *yaml.Node) []*yaml.Node {
	if n == nil || n.Kind != yaml.SequenceNode {
		return nil
	}
	return n.Content
}
