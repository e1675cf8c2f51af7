package reach

import (
	_ "embed"
	"path"
	"slices"
	"strings"

	"merlon/internal/finding"
)

// This file says under which names a program imports a package. npm and Go say it
// themselves; PyPI and Maven do not, so the names are known of common packages
// (names.txt), and for others they are what authors usually choose.

// names.txt holds a line for each package: ecosystem, name, and the modules or Java
// packages that it provides. A "-" among them says that programs use it without an
// import, so that nothing follows from there being none.
//
//go:embed names.txt
var namesText string

// stdlib.txt lists the modules of Python's standard library
// (https://docs.python.org/3/py-modindex.html).
//
//go:embed stdlib.txt
var stdlibText string

// provided is the table of names.txt, by ecosystem and name.
var provided = func() map[string][]string {
	out := map[string][]string{}
	for line := range strings.Lines(namesText) {
		if f := strings.Fields(line); len(f) > 2 && f[0] != "#" {
			out[f[0]+" "+f[1]] = f[2:]
		}
	}
	return out
}()

// stdlib are the modules of Python's standard library.
var stdlib = func() map[string]bool {
	out := map[string]bool{}
	for _, name := range strings.Fields(stdlibText) {
		out[name] = true
	}
	return out
}()

// importNames returns the names under which a package is imported, whether they are
// certain, and whether it is used without any.
func (p *Program) importNames(pkg *finding.Package) (names []string, certain, silent bool) {
	switch pkg.Ecosystem {
	case "Packagist":
		known := p.composer[strings.ToLower(pkg.Name)]
		return known.namespaces, len(known.namespaces) > 0, known.silent
	case "npm", "Go":
		return []string{pkg.Name}, true, false
	case "PyPI":
		name := strings.ToLower(strings.NewReplacer("_", "-", ".", "-").Replace(pkg.Name))
		if list, ok := provided["PyPI "+name]; ok {
			return cutSilent(list)
		}
		return guessPythonNames(name), false, false
	case "Maven":
		if list, ok := provided["Maven "+pkg.Name]; ok {
			return cutSilent(list)
		}
		group, artifact, _ := strings.Cut(pkg.Name, ":")
		if list, ok := provided["Maven "+group+":*"]; ok {
			return cutSilent(list)
		}
		return guessJavaPackages(group, artifact), false, false
	}
	return nil, false, false
}

// guessPythonNames returns the names that authors usually choose for the module of a
// package: its own, without what says that it is of Python or of a framework.
func guessPythonNames(name string) []string {
	flat := strings.ReplaceAll(name, "-", "_")
	names := []string{flat, strings.ReplaceAll(name, "-", ".")}
	for _, affix := range []string{"python_", "py", "django_", "flask_"} {
		if rest := strings.TrimPrefix(flat, affix); rest != flat && rest != "" {
			names = append(names, strings.TrimPrefix(rest, "_"))
		}
	}
	for _, affix := range []string{"_python", "_py", "py"} {
		if rest := strings.TrimSuffix(flat, affix); rest != flat && rest != "" {
			names = append(names, rest)
		}
	}
	return names
}

// guessJavaPackages returns the packages of Java that an artifact usually has.
func guessJavaPackages(group, artifact string) []string {
	var names []string
	if strings.Contains(group, ".") { // an old group is no package of Java
		names = append(names, group)
	}
	parts := strings.FieldsFunc(artifact, func(r rune) bool { return r == '-' || r == '.' || r == '_' })
	names = append(names, strings.Join(parts, "."))
	if i := strings.LastIndexByte(group, '.'); i > 0 && strings.Count(group, ".") > 1 {
		names = append(names, group[:i]) // org.acme.tools:web is often org.acme.web
	}
	return names
}

// cutSilent cuts the sign for use without an import off a list.
func cutSilent(list []string) (names []string, certain, silent bool) {
	names = slices.DeleteFunc(slices.Clone(list), func(s string) bool { return s == "-" })
	return names, true, len(names) < len(list)
}

// isOfModule reports whether the used name is of a module, in the language's way to join
// them.
func isOfModule(language, module, name string) bool {
	rest, ok := strings.CutPrefix(name, module)
	if language == "python" && !ok {
		rest, ok = cutFold(name, module)
	}
	return ok && (rest == "" || rest[0] == '.' || rest[0] == '/' && (language == "javascript" || language == "go"))
}

// cutFold is CutPrefix without regard to case: PyPI does not tell it apart.
func cutFold(s, prefix string) (string, bool) {
	if len(s) < len(prefix) || !strings.EqualFold(s[:len(prefix)], prefix) {
		return s, false
	}
	return s[len(prefix):], true
}

// findUnexplained looks for imports that no package of the inventory, no file of the
// program and no standard library accounts for: such an import may be of any package whose
// names are not certain.
func (p *Program) findUnexplained() {
	p.unexplained = map[string]string{}
	claimed := map[string][]string{}
	for i := range p.tree.Packages {
		pkg := &p.tree.Packages[i]
		if language := ecosystems[pkg.Ecosystem]; p.read[language] {
			names, _, _ := p.importNames(pkg)
			claimed[language] = append(claimed[language], names...)
		}
	}
	for language, list := range claimed {
		slices.Sort(list)
		claimed[language] = slices.Compact(list)
	}
	own := p.ownModules()
	for _, language := range []string{"python", "java"} {
		seen := map[string]bool{}
		for _, u := range p.uses[language] {
			if u.call || seen[u.name] || p.unexplained[language] != "" {
				continue
			}
			seen[u.name] = true
			if !isStandard(language, u.name) && !slices.ContainsFunc(own[language], func(m string) bool {
				return isOfModule(language, m, u.name)
			}) &&
				!slices.ContainsFunc(claimed[language], func(m string) bool {
					return isOfModule(language, m, u.name)
				}) {
				p.unexplained[language] = u.name
			}
		}
	}
}

// ownModules lists what the files of the program provide themselves. A module of Python
// can be imported from any folder that is on the path.
func (p *Program) ownModules() map[string][]string {
	out := map[string][]string{}
	for _, f := range p.graph.Files {
		language := languageFamily(f.Lang)
		switch language {
		case "java":
			out[language] = append(out[language], f.Module)
		case "python":
			for part := range strings.SplitSeq(path.Dir(f.Tree.Path), "/") {
				out[language] = append(out[language], part)
			}
			out[language] = append(out[language], strings.TrimSuffix(path.Base(f.Tree.Path), path.Ext(f.Tree.Path)))
		}
	}
	for language, list := range out {
		slices.Sort(list)
		out[language] = slices.DeleteFunc(slices.Compact(list), func(s string) bool { return s == "" || s == "." })
	}
	return out
}

// isStandard reports whether the language itself provides the name.
func isStandard(language, name string) bool {
	first, rest, _ := strings.Cut(name, ".")
	switch language {
	case "python":
		return first == "" || stdlib[first] // a relative import begins with a point
	case "java":
		second, _, _ := strings.Cut(rest, ".")
		return isStandardJava(first, second)
	}
	return false
}

// isStandardJava tells by the first two parts of a package's name whether it comes with Java.
func isStandardJava(first, second string) bool {
	switch first {
	case "java", "jdk", "sun":
		return true
	case "javax":
		return second != "servlet" && second != "persistence" && second != "ws"
	case "com":
		return second == "sun"
	case "org":
		return second == "w3c" || second == "xml"
	}
	return false
}
