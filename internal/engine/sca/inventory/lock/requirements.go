package lock

import (
	"bytes"
	"regexp"
	"strings"
)

// compiledLine matches a requirement that pip-compile or uv wrote.
var compiledLine = regexp.MustCompile(`^([A-Za-z0-9][A-Za-z0-9._-]*)(?:\[[^\]]*\])?==([^\s;\\]+)`)

// Requirements returns the graph of a requirements file whose comments say what
// brought a package, as pip-compile and uv write them
// (https://pip-tools.readthedocs.io/en/stable/): "# via flask", "# via -r x.in", or
// a list of such lines. It returns nil for any other file.
func Requirements(path string, content []byte) *Graph {
	if !bytes.Contains(content, []byte("# via")) {
		return nil
	}
	b := builder{File: File{Path: path}, Graph: &Graph{Ecosystem: "PyPI"}, index: map[string]int{}}
	edges := b.readCompiled(string(content))
	root := b.addNode(Node{Local: true})
	for _, e := range edges {
		from, ok := b.index[PythonName(e.parent)]
		if !ok || strings.HasPrefix(e.parent, "-") || strings.Contains(e.parent, "(") {
			from = root // a file, or the project itself
			b.Rooted = true
		}
		b.Nodes[from].Deps = append(b.Nodes[from].Deps, Dep{To: e.to})
	}
	if b.full || !b.Rooted || len(edges) > maxEdges {
		return nil
	}
	return b.Graph
}

// A viaEdge says that a comment names what brought a package.
type viaEdge struct {
	to     int
	parent string
}

// readCompiled adds the packages of the file and returns what their comments say. A comment
// "# via" begins a list that goes on in the comments of the lines below.
func (b *builder) readCompiled(content string) []viaEdge {
	var edges []viaEdge
	at, line, list := -1, 0, false
	for raw := range strings.Lines(content) {
		line++
		text := strings.TrimSpace(raw)
		if m := compiledLine.FindStringSubmatch(text); m != nil {
			at, list = b.addNode(Node{Name: PythonName(m[1]), Version: m[2], Line: line}, PythonName(m[1])), false
		}
		i := strings.IndexByte(text, '#')
		if i < 0 || at < 0 {
			continue
		}
		comment := strings.TrimSpace(text[i+1:])
		if rest, ok := strings.CutPrefix(comment, "via"); ok && (rest == "" || rest[0] == ' ') {
			comment, list = strings.TrimSpace(rest), true
		} else if i > 0 {
			continue
		}
		for _, parent := range strings.Split(comment, ",") {
			if parent = strings.TrimSpace(parent); list && parent != "" {
				edges = append(edges, viaEdge{at, parent})
			}
		}
	}
	return edges
}
