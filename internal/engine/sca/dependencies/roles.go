package dependencies

import (
	"encoding/json"
	"io/fs"
	"path"
	"regexp"
	"strings"

	"golang.org/x/mod/modfile"

	"merlon/internal/finding"
)

// This file tells direct dependencies from those that others bring, where the
// lock file or the manifest beside it says so.

// roles is what a project says of its packages.
type roles struct {
	known  bool
	direct map[string]bool
	ours   map[string]bool // name@version of what is part of the project itself
}

// apply sets the scope of a package.
func (r roles) apply(pkg *finding.Package) {
	switch {
	case !r.known || pkg.Scope != finding.UnknownDependency:
	case r.direct[pkg.Name], pkg.Ecosystem == "PyPI" && r.direct[pythonName(pkg.Name)]:
		pkg.Scope = finding.Direct
	default:
		pkg.Scope = finding.Transitive
	}
}

// rolesOf reads the roles of the packages of a file. What cannot be read stays
// unknown: the reader of the format itself says when a file is malformed.
func rolesOf(inv *inventory, file string, content []byte) roles {
	dir := path.Dir(file)
	switch path.Base(file) {
	case "go.mod":
		return goRoles(file, content)
	case "package-lock.json", "npm-shrinkwrap.json", "yarn.lock", "pnpm-lock.yaml", "bun.lock":
		return packageJSONRoles(inv, path.Join(dir, "package.json"))
	case "composer.lock":
		return composerRoles(inv, path.Join(dir, "composer.json"))
	case "Gemfile.lock", "gems.locked":
		return gemRoles(content)
	case "Cargo.lock", "uv.lock":
		return tomlLockRoles(content)
	case "poetry.lock", "pdm.lock", "pylock.toml":
		return askedRoles(inv, path.Join(dir, "pyproject.toml"), askPyproject)
	case "Pipfile.lock":
		return askedRoles(inv, path.Join(dir, "Pipfile"), askPipfile)
	case "pubspec.lock":
		return pubRoles(content)
	case "packages.lock.json":
		return nugetRoles(content)
	}
	return roles{}
}

func goRoles(file string, content []byte) roles {
	f, err := modfile.Parse(file, content, nil)
	if err != nil {
		return roles{}
	}
	r := roles{known: true, direct: map[string]bool{"stdlib": true}}
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

// An npmPackage is a package.json.
type npmPackage struct {
	Dependencies map[string]string `json:"dependencies"`
	Dev          map[string]string `json:"devDependencies"`
	Optional     map[string]string `json:"optionalDependencies"`
	Peer         map[string]string `json:"peerDependencies"`
}

func (p npmPackage) direct(into map[string]bool) {
	for _, m := range []map[string]string{p.Dependencies, p.Dev, p.Optional, p.Peer} {
		for name := range m {
			into[name] = true
		}
	}
}

func packageJSONRoles(inv *inventory, file string) roles {
	var manifest npmPackage
	if !inv.decode(file, &manifest) {
		return roles{}
	}
	r := roles{known: true, direct: map[string]bool{}}
	manifest.direct(r.direct)
	return r
}

func composerRoles(inv *inventory, file string) roles {
	var manifest struct {
		Require map[string]any `json:"require"`
		Dev     map[string]any `json:"require-dev"`
	}
	if !inv.decode(file, &manifest) {
		return roles{}
	}
	r := roles{known: true, direct: map[string]bool{}}
	for _, m := range []map[string]any{manifest.Require, manifest.Dev} {
		for name := range m {
			r.direct[strings.ToLower(name)] = true
		}
	}
	return r
}

// decode reads a JSON manifest beside a lock file; false when it is not there or
// cannot be read.
func (inv *inventory) decode(file string, into any) bool {
	if !inv.files[file] {
		return false
	}
	content, err := fs.ReadFile(inv.FS, file)
	return err == nil && len(content) <= maxManifest && json.Unmarshal(content, into) == nil
}

// gemRoles reads the section DEPENDENCIES of Gemfile.lock, and the gems of the
// sections PATH, which lie in the tree.
func gemRoles(content []byte) roles {
	r := roles{direct: map[string]bool{}, ours: map[string]bool{}}
	section := ""
	for line := range strings.Lines(string(content)) {
		line = strings.TrimRight(line, "\r\n")
		text := strings.TrimLeft(line, " ")
		name, version, _ := strings.Cut(text, " ")
		switch indent := len(line) - len(text); {
		case indent == 0 && text != "":
			section = text
			r.known = r.known || section == "DEPENDENCIES"
		case section == "DEPENDENCIES" && indent == 2:
			r.direct[strings.TrimSuffix(name, "!")] = true
		case section == "PATH" && indent == 4:
			r.ours[name+"@"+strings.Trim(version, "()")] = true
		}
	}
	return r
}

// tomlLockRoles reads the packages of Cargo.lock and uv.lock that are the
// project itself or lie beside it, and what these depend on.
func tomlLockRoles(content []byte) roles {
	r := roles{direct: map[string]bool{}, ours: map[string]bool{}}
	eachSection(string(content), tomlSection, func(heading, body string) {
		m := tomlName.FindStringSubmatch(body)
		if heading != "package" || m == nil {
			return
		}
		if source := tomlSource.FindString(body); source != "" && !tomlLocal.MatchString(source) {
			return
		}
		r.known = true
		if version := tomlVersion.FindStringSubmatch(body); version != nil {
			r.ours[m[1]+"@"+version[1]] = true
		}
		if _, list, ok := strings.Cut(body, "\ndependencies = ["); ok {
			end := "\n" // the list stands on one line
			if strings.HasPrefix(list, "\n") {
				end = "\n]"
			}
			list, _, _ = strings.Cut(list, end)
			text := tomlText
			if strings.Contains(list, `name = "`) {
				text = tomlTable
			}
			for _, dep := range text.FindAllStringSubmatch(list, -1) {
				r.direct[dep[1]] = true
			}
		}
	})
	return r
}

var (
	tomlName    = regexp.MustCompile(`(?m)^name = "([^"]+)"`)
	tomlVersion = regexp.MustCompile(`(?m)^version = "([^"]+)"`)
	tomlSource  = regexp.MustCompile(`(?m)^source = .*$`)
	tomlLocal   = regexp.MustCompile(`^source = \{ (?:virtual|editable|directory|path|workspace) = `)
	tomlText    = regexp.MustCompile(`"([^" ]+)[^"]*"`)
	tomlTable   = regexp.MustCompile(`name = "([^"]+)"`)
)

// askedRoles takes what the manifest beside a lock file asks for as direct.
func askedRoles(inv *inventory, file string, asks func([]byte) []requirement) roles {
	if !inv.files[file] {
		return roles{}
	}
	content, err := fs.ReadFile(inv.FS, file)
	if err != nil || len(content) > maxManifest {
		return roles{}
	}
	r := roles{direct: map[string]bool{}}
	for _, q := range asks(content) {
		r.known = true
		r.direct[pythonName(q.name)] = true
	}
	return r
}

// pythonName is the normalised name of a Python project, as PEP 503 says.
func pythonName(name string) string {
	return strings.ToLower(pythonSeparators.ReplaceAllString(name, "-"))
}

var pythonSeparators = regexp.MustCompile(`[-_.]+`)

// pubRoles reads the member "dependency" of each package of pubspec.lock.
func pubRoles(content []byte) roles {
	r := roles{known: true, direct: map[string]bool{}}
	name := ""
	for line := range strings.Lines(string(content)) {
		text := strings.TrimRight(line, "\r\n")
		switch {
		case strings.HasPrefix(text, "  ") && !strings.HasPrefix(text, "   ") && strings.HasSuffix(text, ":"):
			name = strings.Trim(strings.TrimSuffix(strings.TrimSpace(text), ":"), `"'`)
		case strings.HasPrefix(text, "    dependency:"):
			r.direct[name] = strings.Contains(text, "direct")
		}
	}
	return r
}

// nugetRoles reads the type of each package of packages.lock.json.
func nugetRoles(content []byte) roles {
	var lock struct {
		Frameworks map[string]map[string]struct {
			Type string `json:"type"`
		} `json:"dependencies"`
	}
	if json.Unmarshal(content, &lock) != nil {
		return roles{}
	}
	r := roles{known: true, direct: map[string]bool{}, ours: map[string]bool{}}
	for _, framework := range lock.Frameworks {
		for name, pkg := range framework {
			r.direct[name] = r.direct[name] || pkg.Type == "Direct"
			if pkg.Type == "Project" {
				r.ours[name+"@"] = true
			}
		}
	}
	return r
}
