package helm

import (
	"errors"
	"io/fs"

	"merlon/internal/engine/iac/document"
)

// Documents renders the chart in the folder and returns the Kubernetes objects that
// it becomes. Their places are those of the templates' lines; columns are not
// known. The documents of a chart with its subcharts are one unit.
func Documents(tree fs.FS, dir string, paths []string) ([]*document.Document, []Problem) {
	c, problems, err := Load(tree, dir, paths)
	if err != nil {
		return nil, append(problems, Problem{Path: chartFile(dir), Message: err.Error()})
	}
	manifests, more := c.Render()
	problems = append(problems, more...)
	var docs []*document.Document
	for _, m := range manifests {
		trees, err := document.DecodeYAML(m.Text)
		if err != nil {
			p := Problem{Path: m.Path, Message: "what the template renders is not YAML: " + err.Error()}
			var malformed *document.Malformed
			if errors.As(err, &malformed) {
				p.Line = m.line(malformed.Line)
				p.Message = "what the template renders is not YAML: " + malformed.Message
			}
			problems = append(problems, p)
		}
		for i, t := range trees {
			m.place(t.Lines)
			for _, platform := range document.Detect(m.Path, t.Root) {
				docs = append(docs, &document.Document{
					Platform: platform, Format: document.Helm, Path: m.Path, Index: i, Unit: dir, Root: t.Root, Lines: t.Lines,
				})
			}
		}
	}
	return docs, problems
}

// chartFile is the file that stands for a chart.
func chartFile(dir string) string {
	if dir == "." {
		return "Chart.yaml"
	}
	return dir + "/Chart.yaml"
}

// line returns the line of the template for a line of the text; 1 when there is none.
func (m *Manifest) line(n int) int {
	if n < 1 || n > len(m.Lines) {
		return 1
	}
	return m.Lines[n-1]
}

// place gives the nodes the lines of the template.
func (m *Manifest) place(n *document.Node) {
	n.Line, n.Column = m.line(n.Line), 0
	for _, below := range n.Fields {
		m.place(below)
	}
	for _, below := range n.Items {
		m.place(below)
	}
}
