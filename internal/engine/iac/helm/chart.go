// Package helm renders charts in process, as "helm template" with the chart's own
// values does, without a cluster, a network or a clock. A rendered line knows the
// line of the template it comes from. What a chart asks of the outside (lookup,
// environment, host names, random keys) has a fixed answer, so that the same chart
// always renders the same.
//
// The form of charts: https://helm.sh/docs/topics/charts/, of templates:
// https://helm.sh/docs/chart_template_guide/.
package helm

import (
	"fmt"
	"io"
	"io/fs"
	"path"
	"slices"
	"sort"
	"strings"

	"go.yaml.in/yaml/v3"
)

// Limits of one chart with its subcharts.
const (
	maxFile   = 4 << 20  // bytes of one file
	maxBytes  = 64 << 20 // bytes of all files
	maxFiles  = 5000
	maxCharts = 100
	maxNested = 8 // subcharts of subcharts
)

// A Chart is a chart as it is written, with its subcharts.
type Chart struct {
	// Dir is the folder of the chart, relative to the root of the tree.
	Dir string

	name     string         // "alias" of the parent, else "name" of Chart.yaml
	metadata map[string]any // Chart.yaml
	values   map[string]any // values.yaml
	files    []file         // all others
	present  []*Chart       // what charts/ holds
	children []child        // the subcharts as they are named
	archive  string         // the .tgz that holds the chart, when one does
	lacks    bool           // an enabled subchart is missing, here or in a subchart
}

// A child is a subchart with what the parent says of it.
type child struct {
	chart *Chart
	ask   dependency
}

// A file is one file of a chart.
type file struct {
	name string // relative to the chart
	path string // relative to the root of the tree
	data []byte
}

// A dependency is an entry of "dependencies" in Chart.yaml or requirements.yaml.
type dependency struct {
	Name         string   `yaml:"name"`
	Alias        string   `yaml:"alias"`
	Repository   string   `yaml:"repository"`
	Condition    string   `yaml:"condition"`
	Tags         []string `yaml:"tags"`
	ImportValues []any    `yaml:"import-values"`

	line int // of the entry
}

// UnmarshalYAML reads an entry and notes its line.
func (d *dependency) UnmarshalYAML(n *yaml.Node) error {
	type entry dependency
	if err := n.Decode((*entry)(d)); err != nil {
		return fmt.Errorf("line %d: %w", n.Line, err)
	}
	d.line = n.Line
	return nil
}

// A Problem is a part of a chart that could not be looked at.
type Problem struct {
	Code    string // that of a reason: "unavailable", "unknown-value"; "" is "malformed"
	Path    string // relative to the root of the tree
	Line    int    // 0 when it is not known
	Message string
}

// Roots returns the folders among the sorted paths that hold a chart which is not
// a subchart of another, sorted. The root of the tree is ".".
func Roots(paths []string) []string {
	var all []string
	for _, p := range paths {
		if path.Base(p) == "Chart.yaml" {
			all = append(all, path.Dir(p))
		}
	}
	sort.Strings(all)
	var roots []string
	for _, dir := range all {
		if !slices.ContainsFunc(all, func(other string) bool { return Within(path.Join(other, "charts"), dir) }) {
			roots = append(roots, dir)
		}
	}
	return roots
}

// Within reports whether the path is in the folder. Everything is in ".".
func Within(dir, p string) bool {
	return dir == "." || strings.HasPrefix(p, dir+"/")
}

// Load reads the chart in the folder. Paths are the files of the tree. The error
// says why there is no chart; problems say what of it could not be read.
func Load(tree fs.FS, dir string, paths []string) (*Chart, []Problem, error) {
	l := loader{tree: tree, paths: paths, bytes: maxBytes, files: maxFiles, charts: maxCharts}
	c, err := l.readChart(dir, 0)
	return c, l.problems, err
}

// A loader reads one chart with its subcharts, within limits.
type loader struct {
	tree     fs.FS
	paths    []string
	bytes    int64
	files    int
	charts   int
	problems []Problem
}

// addProblem records a part of the chart that cannot be read.
func (l *loader) addProblem(p string, format string, args ...any) {
	l.problems = append(l.problems, Problem{Path: p, Message: fmt.Sprintf(format, args...)})
}

// readChart reads the folder.
func (l *loader) readChart(dir string, depth int) (*Chart, error) {
	start := sort.SearchStrings(l.paths, dir+"/")
	if dir == "." {
		start = 0
	}
	var files []file
	left := l.readIgnores(dir)
	// The paths are sorted, so the files of a folder follow each other.
	for _, p := range l.paths[start:] {
		if !Within(dir, p) {
			break
		}
		name := p
		if dir != "." {
			name = p[len(dir)+1:]
		}
		if left.ignoresFile(name) {
			continue
		}
		data, err := l.readFile(p)
		if err != nil {
			l.addProblem(p, "%v", err)
			continue
		}
		files = append(files, file{name: name, path: p, data: data})
	}
	return l.assembleChart(dir, files, depth)
}

// readIgnores returns what is left out of the chart in the folder.
func (l *loader) readIgnores(dir string) ignores {
	name := path.Join(dir, ".helmignore")
	if _, ok := slices.BinarySearch(l.paths, name); !ok {
		return defaultIgnores
	}
	text, err := l.readFile(name)
	if err != nil {
		l.addProblem(name, "%v", err)
		return defaultIgnores
	}
	list, problems := parseIgnores(name, text)
	l.problems = append(l.problems, problems...)
	return list
}

// readFile returns the content of a file of the tree.
func (l *loader) readFile(p string) ([]byte, error) {
	if l.files--; l.files < 0 {
		return nil, fmt.Errorf("the chart has more than %d files", maxFiles)
	}
	f, err := l.tree.Open(p)
	if err != nil {
		return nil, fmt.Errorf("open file: %w", err)
	}
	defer func() { _ = f.Close() }() // it was only read from
	return l.readLimited(f)
}

// readLimited reads within the limits on bytes.
func (l *loader) readLimited(r io.Reader) ([]byte, error) {
	data, err := io.ReadAll(io.LimitReader(r, maxFile+1))
	if err != nil {
		return nil, fmt.Errorf("read file: %w", err)
	}
	if len(data) > maxFile {
		return nil, fmt.Errorf("the file has more than %d bytes", maxFile)
	}
	if l.bytes -= int64(len(data)); l.bytes < 0 {
		return nil, fmt.Errorf("the chart has more than %d bytes", maxBytes)
	}
	return data, nil
}

// assembleChart makes a chart of its files, whose names are relative to it.
func (l *loader) assembleChart(dir string, files []file, depth int) (*Chart, error) {
	if l.charts--; l.charts < 0 || depth > maxNested {
		return nil, fmt.Errorf("more than %d charts, or more than %d inside of each other", maxCharts, maxNested)
	}
	c := &Chart{Dir: dir, values: map[string]any{}}
	nested := map[string][]file{}
	for _, f := range files {
		rest, below := strings.CutPrefix(f.name, "charts/")
		switch name, inner, folder := strings.Cut(rest, "/"); {
		case below && folder:
			f.name = inner
			nested[name] = append(nested[name], f)
		case below && strings.HasSuffix(name, ".tgz"):
			l.addArchive(c, f, depth)
		case f.name == "Chart.yaml":
			if err := decodeYAML(f, &c.metadata); err != nil {
				return nil, err
			}
		case f.name == "values.yaml":
			if err := decodeYAML(f, &c.values); err != nil {
				l.addProblem(f.path, "%v", err)
			}
		default:
			c.files = append(c.files, f)
		}
	}
	if c.metadata == nil {
		return nil, fmt.Errorf("no Chart.yaml in %s", dir)
	}
	c.name, _ = c.metadata["name"].(string)
	if c.name == "" {
		c.name = path.Base(dir)
	}
	l.addNested(c, nested, depth)
	l.nameSubcharts(c, files, depth)
	return c, nil
}

// addNested makes the charts in the folders of charts/. A folder without Chart.yaml is not
// one.
func (l *loader) addNested(c *Chart, folders map[string][]file, depth int) {
	for _, folder := range sortedKeys(folders) {
		if !slices.ContainsFunc(folders[folder], func(f file) bool { return f.name == "Chart.yaml" }) {
			continue
		}
		sub, err := l.assembleChart(path.Join(c.Dir, "charts", folder), folders[folder], depth+1)
		if err != nil {
			l.addProblem(path.Join(c.Dir, "charts", folder)+"/", "%v", err)
			continue
		}
		c.present = append(c.present, sub)
	}
}

// decodeYAML reads one YAML document into a map with numbers as Go numbers.
func decodeYAML(f file, into *map[string]any) error {
	var m map[string]any
	if err := yaml.Unmarshal(f.data, &m); err != nil {
		return fmt.Errorf("%s: %w", f.name, err)
	}
	if m = plainMap(m); m != nil {
		*into = m
	}
	return nil
}

// nameSubcharts names the subcharts: those that the chart refers to, under their alias,
// and those that are in charts/ without a reference.
func (l *loader) nameSubcharts(c *Chart, files []file, depth int) {
	asked := map[string]bool{}
	for _, f := range files {
		// requirements.yaml is the form of charts with apiVersion v1.
		if f.name != "Chart.yaml" && f.name != "requirements.yaml" {
			continue
		}
		var list struct {
			Dependencies []dependency `yaml:"dependencies"`
		}
		if err := yaml.Unmarshal(f.data, &list); err != nil {
			l.addProblem(f.path, "dependencies: %v", err)
			continue
		}
		for _, d := range list.Dependencies {
			asked[d.Name] = true
			sub, err := l.findSubchart(c, d, depth)
			if err != nil {
				// What the chart's own values switch off is not missed.
				if (child{ask: d}).isEnabled(c.values) {
					c.lacks = true
					l.problems = append(l.problems, Problem{Code: "unavailable", Path: f.path, Line: d.line,
						Message: err.Error()})
				}
				continue
			}
			// A copy: one chart can be a dependency several times, under different aliases.
			named := *sub
			c.lacks = c.lacks || sub.lacks
			if d.Alias != "" {
				named.name = d.Alias
			}
			c.children = append(c.children, child{chart: &named, ask: d})
			if len(c.children) > maxCharts {
				return
			}
		}
	}
	for _, sub := range c.present {
		c.lacks = c.lacks || sub.lacks
		if !asked[sub.name] {
			c.children = append(c.children, child{chart: sub})
		}
	}
}

// findSubchart returns the subchart for a dependency: from charts/, else from a folder of
// the tree that the dependency names, else a chart of the tree with the name: a repository of many
// charts publishes them where the dependency points.
func (l *loader) findSubchart(c *Chart, d dependency, depth int) (*Chart, error) {
	for _, sub := range c.present {
		if sub.name == d.Name {
			return sub, nil
		}
	}
	if target, ok := strings.CutPrefix(d.Repository, "file://"); ok && c.archive == "" {
		// A folder that contains the chart would contain itself as a subchart.
		if dir := path.Join(c.Dir, target); fs.ValidPath(dir) && dir != c.Dir && !Within(dir, c.Dir) {
			sub, err := l.readChart(dir, depth+1)
			if err != nil {
				return nil, fmt.Errorf("dependency %s: %w", d.Name, err)
			}
			return sub, nil
		}
	}
	if dir := l.siblingChart(c, d.Name); dir != "" {
		sub, err := l.readChart(dir, depth+1)
		if err != nil {
			return nil, fmt.Errorf("dependency %s: %w", d.Name, err)
		}
		return sub, nil
	}
	return nil, fmt.Errorf("the subchart %s is not in charts/ and is not fetched", d.Name)
}

// siblingChart returns the folder of a chart of the tree that is called so by its folder and by its
// Chart.yaml, the nearest to the chart first, or "".
func (l *loader) siblingChart(c *Chart, name string) string {
	if c.archive != "" || name == "" || strings.ContainsAny(name, "/\\") {
		return ""
	}
	candidates := []string{path.Join(path.Dir(c.Dir), name)}
	for _, p := range l.paths {
		if dir := path.Dir(p); path.Base(p) == "Chart.yaml" && path.Base(dir) == name {
			candidates = append(candidates, dir)
		}
	}
	for _, dir := range candidates {
		if dir == c.Dir || Within(dir, c.Dir) || Within(c.Dir, dir) {
			continue
		}
		data, err := fs.ReadFile(l.tree, chartFile(dir))
		if err != nil {
			continue
		}
		var about struct {
			Name string `yaml:"name"`
		}
		if yaml.Unmarshal(data, &about) == nil && about.Name == name {
			return dir
		}
	}
	return ""
}

// sortedKeys returns the keys of a map in order.
func sortedKeys[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	sort.Strings(keys)
	return keys
}
