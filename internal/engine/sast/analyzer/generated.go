package analyzer

import (
	"bytes"
	"path"
	"regexp"
	"strings"
)

// This file knows what of a tree is not worth reading.

// A script below a folder of what a site serves, or of what others made, whose banner
// names a release is a library that somebody copied there.
var (
	published = regexp.MustCompile(`(?:^|/)(?:static|public|assets|vendor|wwwroot|webjars|libs|externals?|third[-_]?party)/`)
	banner    = regexp.MustCompile(`^\s*/\*!?[^/]*\bv?\d+\.\d+\.\d+`)
)

// longLine is the mean length of a line, in bytes, from which code is no longer
// what somebody wrote.
const longLine = 400

// isMinified reports whether a script or style was made by a program, or is a copy of a published
// library: by its name, its banner, or because its lines are longer than anybody writes them.
// Findings in them cannot be fixed there.
func isMinified(name string, text []byte) bool {
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
	".handlebars": true, ".mustache": true, ".pug": true, ".jade": true, ".erb": true, ".rhtml": true,
	".jsp": true, ".jspf": true, ".jspx": true, ".tag": true, ".nunjucks": true,
}

// isTemplate reports whether a file is a template. Rules for text look at them.
func isTemplate(name string) bool { return templates[strings.ToLower(path.Ext(name))] }
