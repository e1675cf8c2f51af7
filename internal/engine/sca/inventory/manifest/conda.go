package manifest

import (
	"bytes"
	"strings"

	"merlon/internal/document"
	"merlon/internal/lazyregexp"
)

// condaSpec matches what an environment asks for: name, channel::name,
// name=1.2.3=build, name >=1.2
// (https://docs.conda.io/projects/conda/en/stable/user-guide/concepts/pkg-specs.html).
var condaSpec = lazyregexp.New(`^(?:[^\s=<>!~]*::)?([A-Za-z0-9_][A-Za-z0-9_.-]*)\s*(?:\[[^\]]*\])?\s*(.*)$`)

// condaOnly matches a requirement that one version fulfils. A version of one or two
// numbers after a single "=" is the beginning of several.
var condaOnly = lazyregexp.New(`^(?:==\s*([0-9][^\s,|=*<>]*)(?:=\S*)?|=\s*([0-9][^\s,|=*<>]*)=\S+|=\s*([0-9]+\.[0-9]+\.[^\s,|=*<>]+))$`)

// Conda reads the packages of conda that an environment.yml asks for. Vulnerability
// records do not know them; lists of packages do.
func Conda(content []byte) ([]Requirement, error) {
	list, err := condaList(content)
	var out []Requirement
	for _, item := range list.Members() {
		m := condaSpec.FindStringSubmatch(item.Text())
		if m == nil {
			continue
		}
		r := Requirement{Name: strings.ToLower(m[1]), Wanted: m[2], Line: item.Line}
		if v := condaOnly.FindStringSubmatch(m[2]); v != nil {
			r.Version = v[1] + v[2] + v[3]
		}
		out = append(out, r)
	}
	return out, err
}

// CondaPip reads the packages of PyPI that an environment.yml asks for.
func CondaPip(content []byte) ([]Requirement, error) {
	list, err := condaList(content)
	var out []Requirement
	for _, m := range list.Members() {
		out = pythonList(out, m.Node.Get("pip"), false)
	}
	return out, err
}

// condaList returns the dependencies of an environment; nil for a file that only has
// the name of one.
func condaList(content []byte) (*document.Node, error) {
	if !bytes.Contains(content, []byte("dependencies:")) {
		return nil, nil
	}
	n, err := document.ParseBlockYAML(content, document.PackageLimits)
	if err != nil {
		return nil, err
	}
	return n.Get("dependencies"), nil
}

// stackDep matches a package of Hackage with its version and digest.
var stackDep = lazyregexp.New(`^([A-Za-z0-9][A-Za-z0-9-]*)-([0-9]+(?:\.[0-9]+)*)(?:@.*)?$`)

// Stack reads the packages of a stack.yaml that are not of its resolver
// (https://docs.haskellstack.org/en/stable/configure/yaml/project/#extra-deps).
func Stack(content []byte) ([]Requirement, error) {
	n, err := document.ParseBlockYAML(content, document.PackageLimits)
	if err != nil {
		return nil, err
	}
	var out []Requirement
	for _, item := range n.Get("extra-deps").Members() {
		if m := stackDep.FindStringSubmatch(item.Text()); m != nil {
			out = append(out, Requirement{Name: m[1], Version: m[2], Line: item.Line})
		}
	}
	return out, nil
}
