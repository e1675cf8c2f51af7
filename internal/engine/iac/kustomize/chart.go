package kustomize

import (
	"fmt"
	"path"
	"slices"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"merlon/internal/engine/iac/helm"
)

// This file makes the objects of charts that a kustomization takes ("helmCharts") and
// that are part of the tree. See
// https://kubectl.docs.kubernetes.io/references/kustomize/builtins/#_helmchartinflationgenerator_.

// maxChartTime bounds the time after which no further chart is rendered, as a last resort:
// the steps of each chart are counted.
const maxChartTime = 5 * time.Minute

// chartEntry is an entry of "helmCharts".
type chartEntry struct {
	// the folder below the chart home
	Name string `yaml:"name"`
	// part of the folder "NAME-VERSION" into which kustomize unpacks; otherwise not compared
	Version          string   `yaml:"version"`
	ReleaseName      string   `yaml:"releaseName"`
	Namespace        string   `yaml:"namespace"`
	ValuesFile       string   `yaml:"valuesFile"`
	AdditionalValues []string `yaml:"additionalValuesFiles"`
	// nil when absent
	ValuesInline map[string]any `yaml:"valuesInline"`
	// "override" (the default), "merge" or "replace": which of inline and files wins
	ValuesMerge string `yaml:"valuesMerge"`
}

// renderCharts returns the objects of the charts of a kustomization.
func (b *builder) renderCharts(k *kustomization) []*object {
	entries := k.listEntries("helmCharts")
	if len(entries) == 0 {
		return nil
	}
	// Rendering is the most expensive step, so each kustomization does it once.
	made, ok := b.rendered[k.path]
	if !ok {
		var fields struct {
			Globals struct {
				Home string `yaml:"chartHome"`
			} `yaml:"helmGlobals"`
			Charts []chartEntry `yaml:"helmCharts"`
		}
		if err := yaml.Unmarshal([]byte(strings.Join(k.text, "\n")), &fields); err != nil ||
			len(fields.Charts) != len(entries) {
			b.addProblem(k.path, k.lines.Fields["helmCharts"].Line, "the charts cannot be read: %v", err)
			fields.Charts = nil
		}
		home := fields.Globals.Home
		if home == "" {
			home = "charts"
		}
		for i, c := range fields.Charts {
			objects, err := b.renderChart(k, home, c, entries[i])
			if err != nil {
				b.addProblem(k.path, entries[i].lines.Line, "chart %s: %w", c.Name, err)
			}
			made = append(made, objects...)
		}
		b.rendered[k.path] = made
	}
	// A base is built for each that uses it, and each changes objects of its own.
	out := make([]*object, len(made))
	for i, o := range made {
		own := *o
		own.names = slices.Clone(o.names)
		out[i] = &own
	}
	return out
}

// renderChart renders one chart.
func (b *builder) renderChart(k *kustomization, home string, c chartEntry, e entry) ([]*object, error) {
	dir := ""
	// Charts are never fetched: only those that lie in the tree are rendered.
	for _, name := range []string{c.Name, c.Name + "-" + c.Version + "/" + c.Name} {
		p, err := k.localPath(entry{path.Join(home, name), e.lines})
		if err != nil {
			return nil, err
		}
		if _, ok := slices.BinarySearch(b.paths, path.Join(p, "Chart.yaml")); ok && c.Name != "" {
			dir = p
		}
	}
	if dir == "" {
		return nil, fmt.Errorf("it is not in the folder %s and is %w", home, errAbsent)
	}
	values, err := b.chartValues(k, c, e)
	if err != nil {
		return nil, err
	}
	// The time begins with the first chart, not with the analysis of the tree.
	if b.until.IsZero() {
		b.until = time.Now().Add(maxChartTime)
	}
	if time.Now().After(b.until) {
		return nil, fmt.Errorf("the charts of kustomizations take too long")
	}
	loaded, _, err := helm.Load(b.tree, dir, b.paths) // its problems are told where the chart itself is looked at
	if err != nil {
		return nil, err
	}
	docs, problems := loaded.Documents(helm.Given{Values: values, Release: c.ReleaseName, Namespace: c.Namespace})
	for _, p := range problems {
		b.told = append(b.told, Problem(p))
	}
	var out []*object
	for i, d := range docs {
		if i > 0 && docs[i-1].Lines == d.Lines {
			continue // the same, as a document of another platform
		}
		o := &object{root: d.Root, lines: d.Lines.In(d.Path), path: d.Path, index: d.Index, changed: true}
		o.names = []string{o.name()}
		out = append(out, o)
	}
	return out, nil
}

// chartValues returns what the kustomization gives a chart, the last first in rank.
func (b *builder) chartValues(k *kustomization, c chartEntry, e entry) ([]map[string]any, error) {
	var out []map[string]any
	for _, name := range append([]string{c.ValuesFile}, c.AdditionalValues...) {
		if name == "" || c.ValuesMerge == "replace" {
			continue
		}
		p, err := k.localPath(entry{name, e.lines})
		if err != nil {
			return nil, err
		}
		text, err := b.readFile(p)
		if err != nil {
			return nil, err
		}
		var values map[string]any
		if err := yaml.Unmarshal(text, &values); err != nil {
			return nil, fmt.Errorf("%s: %w", p, err)
		}
		out = append(out, values)
	}
	// With "merge" the files take precedence over the inline values, otherwise the inline ones do.
	if c.ValuesMerge == "merge" {
		return append([]map[string]any{c.ValuesInline}, out...), nil
	}
	return append(out, c.ValuesInline), nil
}
