package helm

import (
	"path"
	"strings"

	"merlon/internal/lazyregexp"
)

// This file finds the files of values beside a chart's own: values-prod.yaml is what the
// chart is installed with somewhere.

// maxVariants bounds the files of values with which a chart is looked at.
const maxVariants = 8

var (
	valuesName = lazyregexp.New(`(?i)^(values?[-_.].+|.+[-_.]values?|values)\.ya?ml$`)
	notValues  = lazyregexp.New(`(?i)example|sample|template|schema`)
	foreign    = lazyregexp.New(`^(templates|charts|crds|ci|tests?|examples?)/`)
)

// A variant is a file of values.
type variant struct {
	path   string
	values map[string]any
}

// listVariants returns the files of values that the chart is installed with, in order of
// their names, and those that cannot be read: the ones in its folder that are called so,
// and all in a folder called values, if they name something that the chart knows. Those
// for tests of the chart and examples are left out.
func (c *Chart) listVariants() ([]variant, []Problem) {
	var out []variant
	var problems []Problem
	for _, f := range c.files {
		base, dir := path.Base(f.name), path.Dir(f.name)
		ext := path.Ext(base)
		called := valuesName.MatchString(base) || path.Base(dir) == "values" && (ext == ".yaml" || ext == ".yml")
		if !called || notValues.MatchString(f.name) || foreign.MatchString(f.name) || strings.Count(f.name, "/") > 2 {
			continue
		}
		var values map[string]any
		if err := decodeYAML(f, &values); err != nil {
			problems = append(problems, Problem{Path: f.path, Message: err.Error()})
			continue
		}
		if !c.knowsValues(values) {
			continue
		}
		if len(out) == maxVariants {
			problems = append(problems, Problem{Code: "too-complex", Path: f.path, Line: 1, Message: "the chart is " +
				"analyzed only with the first of its values files, and not with this one"})
			break
		}
		out = append(out, variant{f.path, values})
	}
	return out, problems
}

// knowsValues reports whether values are for the chart: it has one of them, or a subchart
// of the name.
func (c *Chart) knowsValues(values map[string]any) bool {
	for key := range values {
		if _, ok := c.values[key]; ok || key == "global" {
			return true
		}
		for _, sub := range c.children {
			if sub.chart.name == key {
				return true
			}
		}
	}
	return false
}
