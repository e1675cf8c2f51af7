package code

import (
	"bytes"
	"path"
	"regexp"
	"strings"
)

// This file knows what of a tree is not worth reading.

// thirdParty are folders that hold code of others, by the tools that make them.
var thirdParty = map[string]bool{
	"node_modules": true, "bower_components": true, "jspm_packages": true, ".yarn": true,
	"site-packages": true, ".venv": true, "__pypackages__": true, ".tox": true, ".eggs": true,
	".gradle": true, ".m2": true, ".terraform": true, ".git": true, "Pods": true,
}

// left returns the folder for which the file is left out, with a trailing slash,
// and "" for a file that is read. The folder "vendor" of Go and PHP is one only
// where it stands at the top or holds what package managers put there.
func left(name string) string {
	for i := 0; i < len(name); {
		n := strings.IndexByte(name[i:], '/')
		if n < 0 {
			return ""
		}
		part := name[i : i+n]
		if thirdParty[part] || part == "vendor" && vendored(name[i+n+1:]) {
			return name[:i+n+1]
		}
		i += n + 1
	}
	return ""
}

// vendored reports whether a path below a folder "vendor" is one that a package
// manager makes: a host name (Go), or autoload and bundle files (PHP, Ruby).
func vendored(rest string) bool {
	first, _, _ := strings.Cut(rest, "/")
	return strings.Contains(first, ".") || first == "composer" || first == "bundle" || first == "cache"
}

// A script below a folder of what a site serves, or of what others made, whose banner
// names a release is a library that somebody copied there.
var (
	published = regexp.MustCompile(`(?:^|/)(?:static|public|assets|vendor|wwwroot|webjars|libs|externals?|third[-_]?party)/`)
	banner    = regexp.MustCompile(`^\s*/\*!?[^/]*\bv?\d+\.\d+\.\d+`)
)

// longLine is the mean length of a line, in bytes, from which code is no longer
// what somebody wrote.
const longLine = 400

// minified reports whether a script or style was made by a program, or is a copy of a
// published library: by its name, its banner, or because its lines are longer than
// anybody writes them.
func minified(name string, text []byte) bool {
	switch path.Ext(name) {
	case ".js", ".mjs", ".cjs", ".ts", ".css":
	default:
		return false
	}
	base := path.Base(name)
	if strings.Contains(base, ".min.") || strings.HasSuffix(base, ".bundle.js") {
		return true
	}
	if published.MatchString(name) && banner.Match(text[:min(len(text), 400)]) {
		return true
	}
	return len(text) > 10_000 && len(text) > longLine*(1+bytes.Count(text, []byte{'\n'}))
}

// templates are the file extensions of templates that are in no language of their own.
var templates = map[string]bool{
	".jinja": true, ".jinja2": true, ".j2": true, ".njk": true, ".twig": true, ".ejs": true, ".hbs": true,
	".handlebars": true, ".mustache": true, ".pug": true, ".jade": true, ".erb": true, ".jsp": true,
}

// template reports whether a file is a template.
func template(name string) bool { return templates[strings.ToLower(path.Ext(name))] }
