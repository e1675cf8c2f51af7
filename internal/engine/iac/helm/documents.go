package helm

import (
	"errors"
	"io/fs"
	"path"
	"reflect"
	"slices"
	"strings"
	"time"

	"merlon/internal/engine/iac/document"
)

// Documents renders the chart in the folder and returns the Kubernetes objects that
// it becomes: with its own values, and again with each file of values beside them if it
// becomes something else then. Places are those of the templates' lines; columns are
// not known. The documents of one rendering of a chart with its subcharts are one unit.
func Documents(tree fs.FS, dir string, paths []string) ([]*document.Document, []Problem) {
	c, problems, err := Load(tree, dir, paths)
	if err != nil {
		return nil, append(problems, Problem{Path: chartFile(dir), Message: err.Error()})
	}
	own, told := c.Documents(Given{})
	all, first := own, slices.Clone(told)
	files, more := c.listVariants()
	problems = append(problems, more...)
	end := time.Now().Add(maxTime)
	for _, v := range files {
		if time.Now().After(end) {
			problems = append(problems, Problem{Code: "too-complex", Path: v.path, Line: 1, Message: "rendering the " +
				"chart takes too long: it is not analyzed with these values"})
			break
		}
		docs, others := c.Documents(Given{Values: []map[string]any{v.values}})
		// What stands in the way of the chart's own values, and not of these, was looked
		// at: a value that one of the files gives is no riddle.
		told = slices.DeleteFunc(told, func(p Problem) bool { return !slices.Contains(others, p) })
		for _, p := range others {
			if !slices.Contains(first, p) && p.Code != "unknown-value" {
				p.Message += " (with " + v.path + ")"
				problems = append(problems, p)
			}
		}
		if slices.EqualFunc(own, docs, equalDocuments) {
			continue
		}
		for _, d := range docs {
			d.Unit, d.Variant = dir+"\x00"+v.path, v.path
		}
		all = append(all, docs...)
	}
	return all, append(problems, told...)
}

// equalDocuments reports whether two documents say the same at the same place.
func equalDocuments(a, b *document.Document) bool {
	return a.Path == b.Path && a.Index == b.Index && reflect.DeepEqual(a.Root, b.Root)
}

// Documents renders the chart and returns the objects that it becomes. If a subchart is missing, which
// is a reason of its own, templates that need what it defines are no further reasons.
func (c *Chart) Documents(given Given) ([]*document.Document, []Problem) {
	manifests, problems := c.Render(given)
	if c.lacks {
		problems = slices.DeleteFunc(problems, func(p Problem) bool {
			return p.Code == "" && strings.HasPrefix(p.Message, "template: ")
		})
	}
	var docs []*document.Document
	for _, m := range manifests {
		trees, err := document.DecodeYAML(m.Text)
		if err != nil {
			p := Problem{Path: m.Path, Message: "what the template renders is not YAML: " + err.Error()}
			var malformed *document.Malformed
			if errors.As(err, &malformed) {
				p.Line = m.templateLine(malformed.Line)
				p.Message = "what the template renders is not YAML: " + malformed.Message
			}
			problems = append(problems, p)
		}
		for i, t := range trees {
			m.relocate(t.Lines, t.Root)
			for _, platform := range document.Detect(m.Path, t.Root) {
				docs = append(docs, &document.Document{
					Platform: platform, Format: document.Helm, Path: m.Path, Index: i, Unit: c.Dir, Root: t.Root,
					Lines: t.Lines,
				})
			}
		}
	}
	return docs, problems
}

// chartFile is the file that stands for a chart.
func chartFile(dir string) string { return path.Join(dir, "Chart.yaml") }

// templateLine returns the line of the template for a line of the text; 1 when there is
// none.
func (m *Manifest) templateLine(n int) int {
	if n < 1 || n > len(m.Lines) {
		return 1
	}
	return m.Lines[n-1]
}

// relocate gives the nodes of a value the lines of the template, and marks those whose
// value is to be given.
func (m *Manifest) relocate(n *document.Node, value any) {
	n.Line, n.Column = m.templateLine(n.Line), 0
	switch v := value.(type) {
	case string:
		n.Unknown = strings.Contains(v, Unknown)
	case map[string]any:
		for key, below := range n.Fields {
			m.relocate(below, v[key])
		}
	case []any:
		for i, below := range n.Items {
			m.relocate(below, v[i])
		}
	}
}
