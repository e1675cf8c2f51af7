// Package workload holds our own rules for workloads and templates: Kubernetes
// objects, Dockerfiles, Compose files and CloudFormation. They are functions over documents, and
// add to the query library what it does not ask.
package workload

import (
	_ "embed"
	"fmt"
	"strings"

	"merlon/internal/engine/iac/document"
	"merlon/internal/engine/iac/kics"
	"merlon/internal/engine/iac/rules/calibration"
	"merlon/internal/finding"
	"merlon/internal/finding/ruletext"
)

// A check is one rule.
type check struct {
	rule *finding.Rule
	find func(*look)
}

//go:embed rules.md
var rulesPage string

// texts are the rules that rules.md describes, by platform and name.
var texts = calibration.ApplyAll(ruletext.MustLoad(rulesPage, finding.Rule{ID: "iac", Analysis: finding.IaC}))

// byPlatform lists the checks of each platform.
var byPlatform = map[document.Platform][]check{
	document.Kubernetes:     kubernetes(),
	document.Dockerfile:     containerFile(),
	document.CloudFormation: cloudFormation(),
	document.Compose:        compose(),
}

// Rules returns every rule.
func Rules() []*finding.Rule {
	var out []*finding.Rule
	for _, platform := range document.Platforms {
		for _, c := range byPlatform[platform] {
			out = append(out, c.rule)
		}
	}
	return out
}

// Run asks all checks about the documents.
func Run(docs []*document.Document) []kics.Flaw {
	var out []kics.Flaw
	for _, d := range docs {
		for _, c := range byPlatform[d.Platform] {
			l := &look{doc: d, rule: c.rule}
			c.find(l)
			out = append(out, l.flaws...)
		}
	}
	return out
}

// A look is one check at one document.
type look struct {
	doc   *document.Document
	rule  *finding.Rule
	flaws []kics.Flaw
}

// A spot is a value with its place, and the resource that it belongs to.
type spot struct {
	value any
	node  *document.Node
	kind  string
	name  string
	path  string // what of the resource it is: "spec.containers.web"
}

// rootValue is the whole document.
func (l *look) rootValue() spot { return spot{value: l.doc.Root, node: l.doc.Lines} }

// report reports the value.
func (l *look) report(s spot, actual, expected string) {
	f := kics.Flaw{
		Rule: l.rule, Document: l.doc, Path: l.doc.File(s.node), Line: 1,
		Kind: s.kind, Name: s.name, Actual: actual, Expected: expected, Key: s.path,
	}
	if s.node != nil && s.node.Line > 0 {
		f.Line, f.Column = s.node.Line, s.node.Column
	}
	l.flaws = append(l.flaws, f)
}

// valueAt goes down by keys. What is not there has no value, and the position of the last
// that is there.
func (s spot) valueAt(keys ...string) spot {
	for _, key := range keys {
		m, _ := s.value.(map[string]any)
		s.value = m[key]
		s.path = strings.TrimPrefix(s.path+"."+key, ".")
		if s.node != nil && s.node.Fields[key] != nil {
			s.node = s.node.Fields[key]
		}
	}
	return s
}

func (s spot) isPresent() bool { return s.value != nil }

func (s spot) textValue() string { t, _ := s.value.(string); return t }

// intValue returns a whole number that is written as one, or as text.
func (s spot) intValue() (int64, bool) {
	switch v := s.value.(type) {
	case int64:
		return v, true
	case float64:
		return int64(v), true
	case string:
		var n int64
		_, err := fmt.Sscanf(v, "%d", &n)
		return n, err == nil && fmt.Sprint(n) == v
	}
	return 0, false
}

// isBool reports whether the value is true or false, however it is written.
func (s spot) isBool(want bool) bool {
	return s.value == want || strings.EqualFold(s.textValue(), fmt.Sprint(want))
}

// listItems returns the entries of a list; those of a value that is none are the value.
func (s spot) listItems() []spot {
	list, ok := s.value.([]any)
	if !ok {
		if s.value == nil {
			return nil
		}
		return []spot{s}
	}
	out := make([]spot, 0, len(list))
	for i, v := range list {
		one := s
		one.value = v
		if s.node != nil && i < len(s.node.Items) {
			one.node = s.node.Items[i]
		}
		one.path = fmt.Sprintf("%s.%d", s.path, i)
		if m, ok := v.(map[string]any); ok {
			if name, ok := m["name"].(string); ok {
				one.path = s.path + "." + name
			}
		}
		out = append(out, one)
	}
	return out
}

// hasAny reports whether a list has one of the words.
func (s spot) hasAny(words ...string) bool {
	for _, one := range s.listItems() {
		for _, w := range words {
			if strings.EqualFold(one.textValue(), w) {
				return true
			}
		}
	}
	return false
}
