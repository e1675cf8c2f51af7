package template

import (
	"path"
	"strings"

	"merlon/internal/engine/iac/document"
	"merlon/internal/lazyregexp"
)

// This file puts variables into Compose files: those of the file .env beside it, and the
// defaults that the places themselves name. A variable that neither knows stays as it is
// written.
// See https://docs.docker.com/reference/compose-file/interpolation/.

// variable matches $$, $NAME and ${NAME}, the latter also with a default behind - or :-.
// Forms that ask for a message or for another value are left.
var variable = lazyregexp.New(`\$\$|\$([A-Za-z_][A-Za-z0-9_]*)|\$\{([A-Za-z_][A-Za-z0-9_]*)(:?-)?([^{}]*)\}`)

// interpolate returns the tree with the variables that are known.
func interpolate(tree document.Tree, file string, source Source) document.Tree {
	var known map[string]string
	r := &rewrite{replace: func(v any, _ *document.Node) (any, bool) {
		text, ok := v.(string)
		if !ok || !strings.Contains(text, "$") {
			return nil, false
		}
		if known == nil {
			known = environment(path.Join(path.Dir(file), ".env"), source)
		}
		out := variable.ReplaceAllStringFunc(text, func(found string) string { return substitute(found, known) })
		return out, out != text
	}}
	root, changed := r.value(tree.Root, tree.Lines)
	if fields, ok := root.(map[string]any); ok && changed {
		tree.Root = fields
	}
	return tree
}

// substitute returns what stands for one variable, or the variable itself.
func substitute(found string, known map[string]string) string {
	m := variable.FindStringSubmatch(found)
	name, operator, otherwise := m[1]+m[2], m[3], m[4]
	value, ok := known[name]
	switch {
	case found == "$$":
		return found // a dollar of the program that runs
	case ok && (value != "" || operator != ":-"):
		if operator == "" && otherwise != "" {
			return found
		}
		return value
	case operator != "":
		return otherwise
	}
	return found
}

// maxEnvironment bounds the variables of a file.
const maxEnvironment = 1000

// secret matches names of variables whose values must not come into a finding.
var secret = lazyregexp.New(`(?i)pass|pwd|secret|token|key|cred|auth|dsn|salt`)

// environment reads a file of NAME=value lines; an empty map where there is none. Secrets
// are left out.
func environment(name string, source Source) map[string]string {
	out := map[string]string{}
	if source == nil {
		return out
	}
	text, err := source(name)
	if err != nil {
		return out
	}
	for line := range strings.Lines(string(text)) {
		key, value, ok := strings.Cut(strings.TrimSpace(line), "=")
		if key = strings.TrimSpace(strings.TrimPrefix(key, "export ")); !ok || strings.HasPrefix(key, "#") || len(out) >= maxEnvironment || secret.MatchString(key) {
			continue
		}
		value = strings.TrimSpace(value)
		if n := len(value); n > 1 && (value[0] == '"' || value[0] == '\'') && value[n-1] == value[0] {
			value = value[1 : n-1]
		} else {
			value, _, _ = strings.Cut(value, " #")
		}
		out[key] = value
	}
	return out
}
