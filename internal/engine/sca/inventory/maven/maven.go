// Package maven resolves what the pom.xml files of a tree ask for, from what is
// present: parents, properties, profiles that are active by default, dependency
// management and imported lists (https://maven.apache.org/pom.html). Nothing is
// fetched: what stands outside of the tree is named.
package maven

import (
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"

	"merlon/internal/document"
	"merlon/internal/engine/sca/inventory/manifest"
)

// maxDepth bounds parents of parents, and imports of imports.
const maxDepth = 50

// A Project is the pom.xml files of a tree.
type Project struct {
	read  func(path string) []byte
	files map[string]bool
	poms  map[string]*pom
	byID  map[string][]*pom // by group:artifact
}

// New returns the project of the files. Those that are not called pom.xml belong to
// a repository that lies in the tree: they are no modules, but may be parents and
// lists. Read returns a file, or nil.
func New(files []string, read func(path string) []byte) *Project {
	p := &Project{read: read, files: map[string]bool{}, poms: map[string]*pom{}}
	for _, f := range files {
		p.files[f] = true
	}
	return p
}

// A dependency is an element <dependency>.
type dependency struct {
	group, artifact, version, scope, kind string
	line                                  int
}

// coordinates is group and artifact.
func (d dependency) coordinates() string { return d.group + ":" + d.artifact }

// A pom is one file as it is written, with the profiles that are active by default
// taken in.
type pom struct {
	path                     string
	group, artifact, version string
	parent                   *dependency
	// of the parent; "../pom.xml" unless the file says otherwise
	relative              string
	properties            map[string]string
	managed, dependencies []dependency
	// nil until it is resolved
	model *model
	// being resolved: a pom that is its own ancestor is found by it
	busy bool
}

// A model is what a pom is with its parents.
type model struct {
	properties map[string]string
	managed    map[string]string // version by group:artifact
	outside    []string          // parents and lists that are not in the tree
}

// readPOM reads a file, at most once.
func (p *Project) readPOM(file string) (*pom, error) {
	if known, ok := p.poms[file]; ok {
		return known, nil
	}
	n, err := document.ParseXML(p.read(file), document.PackageLimits)
	if err != nil {
		return nil, err
	}
	root := n.Get("project")
	m := &pom{
		path: file, group: root.TextOf("groupId"), artifact: root.TextOf("artifactId"), version: root.TextOf("version"),
		relative: "../pom.xml", properties: map[string]string{},
	}
	if parent := root.Get("parent"); parent != nil {
		d := dependencyOf(parent)
		m.parent = &d
		// An empty <relativePath/> says that the parent comes from a repository only.
		if r := parent.Get("relativePath"); r != nil {
			m.relative = r.Text()
		}
		// Group and version are inherited from the parent.
		if m.group == "" {
			m.group = d.group
		}
		if m.version == "" {
			m.version = d.version
		}
	}
	m.addElements(root)
	for _, profile := range root.Get("profiles").Members() {
		if profile.At("activation", "activeByDefault").Text() == "true" {
			m.addElements(profile.Node)
		}
	}
	p.poms[file] = m
	return m, nil
}

// addElements adds the properties and dependencies of a project or a profile.
func (m *pom) addElements(n *document.Node) {
	for _, e := range n.Get("properties").Members() {
		m.properties[e.Key] = e.Text()
	}
	for _, e := range n.At("dependencyManagement", "dependencies").Members() {
		if e.Key == "dependency" {
			m.managed = append(m.managed, dependencyOf(e.Node))
		}
	}
	for _, e := range n.Get("dependencies").Members() {
		if e.Key == "dependency" {
			m.dependencies = append(m.dependencies, dependencyOf(e.Node))
		}
	}
}

// dependencyOf reads an element "dependency".
func dependencyOf(n *document.Node) dependency {
	return dependency{
		group: n.TextOf("groupId"), artifact: n.TextOf("artifactId"), version: n.TextOf("version"),
		scope: n.TextOf("scope"),
		kind:  n.TextOf("type"),
		line:  n.Get("artifactId").LineOr(n.Line),
	}
}

// Requirements returns what a pom asks for, without the modules of the tree, and
// the parents and lists outside of the tree that may fix versions.
func (p *Project) Requirements(file string) (asks []manifest.Requirement, outside []string, err error) {
	m, err := p.readPOM(file)
	if err != nil {
		return nil, nil, err
	}
	model := p.modelOf(m, 0)
	for _, d := range m.dependencies {
		d = d.expandProperties(model.properties)
		if d.group == "" || d.artifact == "" || strings.Contains(d.group+d.artifact, "${") || p.isModule(d) {
			continue
		}
		if d.version == "" {
			d.version = model.managed[d.coordinates()]
		}
		asks = append(asks, manifest.Requirement{Name: d.coordinates(), Version: fixedVersion(d.version),
			Wanted: d.version,
			Dev:    d.scope == "test", Line: d.line})
	}
	return asks, model.outside, nil
}

// isModule reports whether the dependency is another module of the tree.
func (p *Project) isModule(d dependency) bool {
	p.indexPOMs()
	return slices.ContainsFunc(p.byID[d.coordinates()], func(m *pom) bool { return path.Base(m.path) == "pom.xml" })
}

// indexPOMs reads all files, once, to know them by group and artifact.
func (p *Project) indexPOMs() {
	if p.byID != nil {
		return
	}
	p.byID = map[string][]*pom{}
	for _, file := range slices.Sorted(keysOf(p.files)) {
		m, err := p.readPOM(file)
		if err != nil {
			continue // said when the file itself is read
		}
		p.byID[m.group+":"+m.artifact] = append(p.byID[m.group+":"+m.artifact], m)
	}
}

// keysOf iterates over the keys of a set.
func keysOf(m map[string]bool) func(func(string) bool) {
	return func(yield func(string) bool) {
		for k := range m {
			if !yield(k) {
				return
			}
		}
	}
}

// findPOM returns the pom of the tree with these coordinates, or nil. A version that has a
// property may be any.
func (p *Project) findPOM(d dependency) *pom {
	p.indexPOMs()
	for _, m := range p.byID[d.coordinates()] {
		if d.version == "" || m.version == d.version || strings.Contains(m.version+d.version, "${") {
			return m
		}
	}
	return nil
}

// parentOf returns the parent when it is in the tree, else nil.
func (p *Project) parentOf(m *pom) *pom {
	if m.relative != "" {
		at := path.Join(path.Dir(m.path), m.relative)
		if !p.files[at] {
			at = path.Join(at, "pom.xml")
		}
		if p.files[at] && at != m.path {
			if parent, err := p.readPOM(at); err == nil && parent.artifact == m.parent.artifact &&
				(parent.group == m.parent.group || parent.group == "") {
				return parent
			}
		}
	}
	if parent := p.findPOM(*m.parent); parent != m {
		return parent
	}
	return nil
}

// modelOf resolves a pom with its parents and imports. One that is its own
// ancestor stands alone.
func (p *Project) modelOf(m *pom, depth int) *model {
	if m.model != nil {
		return m.model
	}
	out := &model{properties: map[string]string{}, managed: map[string]string{}}
	if m.busy || depth > maxDepth {
		return out
	}
	m.busy = true
	defer func() { m.busy = false }()
	if m.parent != nil {
		if parent := p.parentOf(m); parent != nil {
			above := p.modelOf(parent, depth+1)
			for k, v := range above.properties {
				out.properties[k] = v
			}
			for k, v := range above.managed {
				out.managed[k] = v
			}
			out.outside = append(out.outside, above.outside...)
		} else {
			out.outside = append(out.outside, "the parent "+m.parent.coordinates()+" "+m.parent.version)
		}
		for _, prefix := range []string{"project.parent.", "parent."} {
			out.properties[prefix+"version"], out.properties[prefix+"groupId"] = m.parent.version, m.parent.group
		}
	}
	for k, v := range m.properties {
		out.properties[k] = v
	}
	// "pom." and the bare names are the forms of Maven 2; both are still interpolated.
	for _, prefix := range []string{"project.", "pom.", ""} {
		out.properties[prefix+"version"], out.properties[prefix+"groupId"],
			out.properties[prefix+"artifactId"] = m.version, m.group, m.artifact
	}
	p.addManaged(m, out, depth)
	m.model = out
	return out
}

// addManaged adds the dependency management of a pom; its own entries count more than
// imported ones, and those more than the parents', of which properties may have been set
// anew.
func (p *Project) addManaged(m *pom, out *model, depth int) {
	imported := map[string]string{}
	own := map[string]string{}
	for _, d := range m.managed {
		d = d.expandProperties(out.properties)
		if d.scope != "import" || d.kind != "pom" {
			own[d.coordinates()] = d.version
			continue
		}
		p.importManaged(d, out, imported, depth)
	}
	maps.Copy(out.managed, imported)
	maps.Copy(out.managed, own)
	p.expandInherited(m, out, own)
}

// importManaged adds the entries of a list that is imported ("bill of materials" in Maven's
// words). Of equal ones the first import wins.
func (p *Project) importManaged(d dependency, out *model, imported map[string]string, depth int) {
	list := p.findPOM(d)
	if list == nil {
		out.outside = append(out.outside, "the list "+d.coordinates()+" "+d.version)
		return
	}
	model := p.modelOf(list, depth+1)
	for k, v := range model.managed {
		if _, known := imported[k]; !known {
			imported[k] = v
		}
	}
	out.outside = append(out.outside, model.outside...)
}

// expandInherited resolves the versions of the parents' entries anew: a child may give a
// property of its parent another value.
func (p *Project) expandInherited(m *pom, out *model, own map[string]string) {
	for parent, n := m, 0; parent.parent != nil && n < maxDepth; n++ {
		if parent = p.parentOf(parent); parent == nil {
			break
		}
		for _, d := range parent.managed {
			if !strings.Contains(d.version, "${") || strings.Contains(d.version, "${project.") || d.scope == "import" {
				continue
			}
			d = d.expandProperties(out.properties)
			if _, known := own[d.coordinates()]; !known {
				out.managed[d.coordinates()] = d.version
			}
		}
	}
}

// expandProperties replaces the properties in all parts.
func (d dependency) expandProperties(properties map[string]string) dependency {
	d.group, d.artifact, d.version = expandText(d.group, properties), expandText(d.artifact, properties),
		expandText(d.version, properties)
	d.scope, d.kind = expandText(d.scope, properties), expandText(d.kind, properties)
	return d
}

// reference matches a property that is put in: "${name}".
var reference = regexp.MustCompile(`\$\{([^${}]+)\}`)

// expandText replaces ${name} by what is known; else it stays.
func expandText(text string, properties map[string]string) string {
	for range 20 {
		if !strings.Contains(text, "${") || len(text) > 1000 {
			break
		}
		next := reference.ReplaceAllStringFunc(text, func(ref string) string {
			if v, ok := properties[ref[2:len(ref)-1]]; ok && v != ref {
				return v
			}
			return ref
		})
		if next == text {
			break
		}
		text = next
	}
	return text
}

// fixedVersion returns the version when the text allows only one.
func fixedVersion(text string) string {
	text = strings.TrimSpace(text)
	if inner, ok := strings.CutPrefix(text, "["); ok && strings.HasSuffix(inner, "]") && !strings.Contains(inner, ",") {
		text = strings.TrimSuffix(inner, "]")
	}
	if strings.ContainsAny(text, "[](),${} ") || !strings.ContainsAny(text, "0123456789") {
		return ""
	}
	return text
}
