package inventory

import (
	"path"

	"golang.org/x/mod/modfile"

	"merlon/internal/engine/sca/inventory/lock"
	"merlon/internal/finding"
)

// This file tells direct dependencies from those that others bring, for the files
// that readers of the library read.

// packageRoles is what a project says of its packages.
type packageRoles struct {
	known  bool
	direct map[string]bool
	graph  map[string]finding.Package // by name, where comments say what brought it
}

// setScope sets the scope of a package.
func (r packageRoles) setScope(pkg *finding.Package) {
	if g, ok := r.graph[lock.PythonName(pkg.Name)]; ok {
		pkg.Scope, pkg.Via = g.Scope, g.Via
		return
	}
	switch {
	case !r.known || pkg.Scope != finding.UnknownDependency:
	case r.direct[pkg.Name]:
		pkg.Scope = finding.Direct
	default:
		pkg.Scope = finding.Transitive
	}
}

// rolesOf reads the roles of the packages of a file. What cannot be read stays
// unknown: the reader of the format itself says when a file is malformed.
func rolesOf(file string, content []byte) packageRoles {
	if path.Base(file) != "go.mod" {
		return compiledRoles(file, content)
	}
	f, err := modfile.Parse(file, content, nil)
	if err != nil {
		return packageRoles{}
	}
	r := packageRoles{known: true, direct: map[string]bool{"stdlib": true}}
	for _, req := range f.Require {
		r.direct[req.Mod.Path] = !req.Indirect
	}
	for _, rep := range f.Replace {
		if r.direct[rep.Old.Path] {
			r.direct[rep.New.Path] = true
		}
	}
	return r
}

// compiledRoles reads the comments of a requirements file that a tool wrote.
func compiledRoles(file string, content []byte) packageRoles {
	if path.Ext(file) != ".txt" {
		return packageRoles{}
	}
	g := lock.Requirements(file, content)
	if g == nil {
		return packageRoles{}
	}
	r := packageRoles{graph: map[string]finding.Package{}}
	for _, found := range g.Packages() {
		r.graph[found.Name] = found.Package
	}
	return r
}
