package helm

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"maps"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"text/template"
	"time"
)

// A Manifest is what one template became.
type Manifest struct {
	// Path is the template's, relative to the root of the tree. For a packed
	// subchart it is the archive's.
	Path string
	// Text is YAML, of any number of documents.
	Text []byte
	// Lines gives for each line of the text the line of the template, from 1. It is
	// nil for a packed subchart: there is no line to point at.
	Lines []int
}

// A Given is what the person who installs a chart gives. The zero value is nothing.
type Given struct {
	Values    []map[string]any // in the order in which they are given: the last one counts
	Release   string           // the name of the release
	Namespace string
}

// maxCalls bounds how deep templates call each other.
const maxCalls = 256

// sharedFunctions are the functions that need no chart; they cost milliseconds to make.
var sharedFunctions = sync.OnceValue(newFunctions)

// Render renders the chart with its subcharts. What cannot be rendered is told,
// and everything else goes on: where the chart stops itself, and where it asks for a
// value that nobody gives.
func (c *Chart) Render(given Given) ([]Manifest, []Problem) {
	r := &renderer{
		given:  given,
		set:    template.New("").Option("missingkey=zero"),
		marks:  textMarks{},
		budget: budget{until: time.Now().Add(maxTime)},
		texts:  map[string]*template.Template{},
	}
	funcs := maps.Clone(sharedFunctions())
	funcs["include"] = r.includeTemplate
	funcs["tpl"] = r.renderText
	funcs["required"] = r.requireValue
	funcs["fail"] = r.continueAfterFail
	r.set.Funcs(funcs)
	// Templates can change values; those of the chart are rendered more than once.
	var values map[string]any
	for _, one := range given.Values {
		values = layerValues(plainMap(one), values, 0)
	}
	r.addChart(c, c.name, plainMap(c.coalesceValues(values)), nil)
	r.markTemplates()
	var out []Manifest
	for _, t := range r.targets {
		m, err := r.renderTemplate(t)
		if t.notes {
			continue // it is for who installs the chart; it may stop the installation
		}
		if err != nil {
			r.problems = append(r.problems, templateProblem(t.path, err))
		}
		if m.Text != nil {
			out = append(out, m)
		}
	}
	return out, r.problems
}

// A renderer is one rendering of one chart.
type renderer struct {
	set      *template.Template
	marks    textMarks
	budget   budget
	sources  []source
	targets  []target
	texts    map[string]*template.Template // what "tpl" was given
	problems []Problem
	given    Given
	at       *writer // the template that is rendered
	bare     bool    // nothing stands for a value that nobody gives
	asked    bool    // a value stands for one that nobody gives
}

// Unknown is the text that stands for a value that who installs the chart must give.
const Unknown = "value-to-be-given"

// requireValue returns the value. One that the person who installs must give is not there,
// and is reported; a text stands for it.
func (r *renderer) requireValue(message string, v any) any {
	if v != nil && v != "" {
		return v
	}
	r.addProblem("unknown-value", "a value must be given to install the chart: "+strings.TrimSpace(message))
	if r.bare {
		return v
	}
	r.asked = true
	return Unknown
}

// continueAfterFail goes on where the chart stops itself, and reports it.
func (r *renderer) continueAfterFail(message string) string {
	r.addProblem("unknown-value",
		"the chart refuses the values that it has: "+strings.Join(strings.Fields(message), " "))
	return ""
}

// addProblem adds a problem of the line that is rendered.
func (r *renderer) addProblem(code, message string) {
	p := Problem{Code: code, Message: message[:min(len(message), maxMessage)]}
	if r.at != nil {
		p.Path, p.Line = r.at.path, r.at.at
	}
	if !slices.Contains(r.problems, p) && len(r.problems) < maxCharts {
		r.problems = append(r.problems, p)
	}
}

// maxMessage bounds what a chart says, in bytes.
const maxMessage = 1000

// A source is a parsed file.
type source struct {
	name string
	path string
	data []byte
}

// A target is a template to be rendered with what it sees.
type target struct {
	name    string
	path    string
	archive string
	notes   bool // NOTES.txt
	data    map[string]any
}

// addChart parses the templates of the chart and its subcharts. The name is the chain of
// charts: templates are known by it, as "parent/charts/sub/templates/x.yaml".
func (r *renderer) addChart(c *Chart, name string, values map[string]any, parent map[string]any) {
	subcharts := map[string]any{}
	top := c.templateContext(values, parent, subcharts)
	release, _ := top["Release"].(map[string]any)
	release["Name"], release["Namespace"] = cmp.Or(r.given.Release, "release-name"),
		cmp.Or(r.given.Namespace, "default")
	for _, sub := range c.children {
		if !sub.isEnabled(values) {
			continue
		}
		own, _ := values[sub.chart.name].(map[string]any)
		if own == nil {
			own = map[string]any{}
		}
		r.addChart(sub.chart, name+"/charts/"+sub.chart.name, own, top)
		subcharts[sub.chart.name] = map[string]any{"Values": own, "Chart": sub.chart.chartFields(),
			"Release": top["Release"]}
	}
	kind, _ := c.metadata["type"].(string)
	for _, f := range c.files {
		if !strings.HasPrefix(f.name, "templates/") || !isTemplate(f.name) {
			continue
		}
		full := name + "/" + f.name
		if _, err := r.set.New(full).Parse(string(f.data)); err != nil {
			r.problems = append(r.problems, templateProblem(f.path, err))
			continue
		}
		r.sources = append(r.sources, source{full, f.path, f.data})
		base := path.Base(f.name)
		notes := base == "NOTES.txt"
		if kind == "library" || strings.HasPrefix(base, "_") || strings.HasSuffix(base, ".txt") && !notes ||
			strings.HasSuffix(base, ".tpl") {
			continue
		}
		data := maps.Clone(top)
		data["Template"] = map[string]any{"Name": full, "BasePath": name + "/templates"}
		r.targets = append(r.targets, target{full, f.path, c.archive, notes, data})
	}
}

// isTemplate reports whether Helm renders a file of the name.
func isTemplate(name string) bool {
	switch path.Ext(name) {
	case ".yaml", ".yml", ".tpl", ".txt", ".json":
		return true
	}
	return false
}

// templateContext is what templates of the chart see as ".".
func (c *Chart) templateContext(values, parent, subcharts map[string]any) map[string]any {
	return map[string]any{
		"Values":       values,
		"Chart":        c.chartFields(),
		"Files":        c.otherFiles(),
		"Capabilities": capabilities,
		"Subcharts":    subcharts,
		"Release": map[string]any{
			"Service":   "Helm",
			"IsInstall": true, "IsUpgrade": false, "Revision": 1,
			// Values of the parent are not seen, as in Helm.
			"IsRoot": parent == nil,
		},
	}
}

// chartFields is the chart as templates see it: keys of Chart.yaml with a capital.
func (c *Chart) chartFields() map[string]any {
	out := map[string]any{"Name": c.name, "Version": "", "AppVersion": "", "Description": "", "Type": "application"}
	for k, v := range c.metadata {
		if k == "" {
			continue
		}
		if n, ok := v.(float64); ok { // an unquoted version
			v = strconv.FormatFloat(n, 'f', -1, 64)
		}
		out[strings.ToUpper(k[:1])+k[1:]] = v
	}
	out["Name"] = c.name
	out["IsRoot"] = true
	return out
}

// markTemplates puts marks into all templates, once they are all parsed: a later file may
// define a template of an earlier one anew.
func (r *renderer) markTemplates() {
	byName := map[string]source{}
	for _, s := range r.sources {
		byName[s.name] = s
	}
	for _, t := range r.set.Templates() {
		if s, ok := byName[t.Tree.ParseName]; ok && t.Tree.Root != nil {
			r.marks.addMarks(t.Tree, s.path, s.data)
		}
	}
}

// renderTemplate renders one template. Where a text cannot stand for a value that nobody
// gives, nothing does.
func (r *renderer) renderTemplate(t target) (Manifest, error) {
	before := r.asked
	r.bare, r.asked = false, false
	m, err := r.executeTemplate(t)
	if err != nil && r.asked {
		r.bare = true
		m, err = r.executeTemplate(t)
	}
	r.asked = r.asked || before
	return m, err
}

// executeTemplate renders one template and keeps the documents before an error, which are
// whole.
func (r *renderer) executeTemplate(t target) (Manifest, error) {
	w := &writer{budget: &r.budget, marks: r.marks, path: t.path, at: 1}
	r.at = w
	err := r.set.ExecuteTemplate(w, t.name, t.data)
	if errors.Is(err, errBudget) {
		return Manifest{}, err
	}
	m := Manifest{Path: t.path, Text: w.text.Bytes(), Lines: w.lines}
	if err != nil {
		// The documents before that of the error are whole.
		m.Text = m.Text[:max(0, bytes.LastIndex(m.Text, []byte("\n---")))]
	}
	if t.archive != "" {
		m.Path, m.Lines = t.archive, nil
	}
	if len(bytes.TrimSpace(m.Text)) == 0 {
		m.Text = nil
	}
	return m, err
}

// includeTemplate renders a named template into text.
func (r *renderer) includeTemplate(name string, data any) (string, error) {
	t := r.set.Lookup(name)
	if t == nil {
		return "", fmt.Errorf("no template %q", name)
	}
	return r.runTemplate(t, data)
}

// renderText renders text as a template.
func (r *renderer) renderText(text string, data any) (string, error) {
	if !strings.Contains(text, "{{") {
		return text, nil
	}
	t := r.texts[text]
	if t == nil {
		// Into a set of its own, so that what it defines stays inside. Templates of
		// the chart are shared, with the marks they have.
		set, err := r.set.Clone()
		if err != nil {
			return "", fmt.Errorf("copy templates: %w", err)
		}
		if t, err = set.New("tpl").Parse(text); err != nil {
			return "", err
		}
		r.marks.addMarks(t.Tree, "", []byte(text))
		r.texts[text] = t
	}
	return r.runTemplate(t, data)
}

// runTemplate executes a template that another one called.
func (r *renderer) runTemplate(t *template.Template, data any) (string, error) {
	if r.budget.depth++; r.budget.depth > maxCalls {
		return "", fmt.Errorf("templates call each other more than %d times deep", maxCalls)
	}
	defer func() { r.budget.depth-- }()
	w := &writer{budget: &r.budget}
	err := t.Execute(w, data)
	return w.text.String(), err
}

// errorLine finds the line in an error of a template.
var errorLine = regexp.MustCompile(`template: [^\s]*?:(\d+):`)

// templateProblem turns an error of text/template into one with a position.
func templateProblem(p string, err error) Problem {
	out := Problem{Path: p, Message: err.Error()}
	if errors.Is(err, errBudget) {
		out.Message = errBudget.Error()
	}
	if m := errorLine.FindStringSubmatch(err.Error()); m != nil {
		out.Line, _ = strconv.Atoi(m[1]) // digits
	}
	return out
}
