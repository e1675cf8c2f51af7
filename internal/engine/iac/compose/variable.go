package compose

import (
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"

	"merlon/internal/engine/iac/document"
	"merlon/internal/lazyregexp"
)

// This file puts variables into the values: those of the file .env beside the file or
// that an inclusion names, and the defaults that the places themselves name. A variable
// that nobody knows stays as it is written.
// See https://docs.docker.com/reference/compose-file/interpolation/.

// An environment is the variables of a file. They are read when one is asked for.
type environment struct {
	source Source
	outer  *environment // of the file that includes this one, which is stronger
	files  []string
	// nil until the first variable
	known map[string]string
}

// withFiles returns the environment of a file that another includes: the project is in the
// folder, and the other names files of variables.
func (e *environment) withFiles(project, dir string, files []string) *environment {
	inner := &environment{source: e.source, outer: e, files: []string{path.Join(project, ".env")}}
	if len(files) > 0 {
		inner.files = nil
	}
	for _, name := range files {
		inner.files = append(inner.files, path.Join(dir, name))
	}
	return inner
}

// variableValue returns the value of a variable.
func (e *environment) variableValue(name string) (string, bool) {
	if e.outer != nil {
		if v, ok := e.outer.variableValue(name); ok {
			return v, true
		}
	}
	if e.known == nil {
		e.known = map[string]string{}
		for _, file := range e.files {
			readVariables(file, e.source, e.known)
		}
	}
	v, ok := e.known[name]
	return v, ok
}

// variable matches $$, $NAME and ${NAME}, the latter also with a default behind - or :-.
// Forms that ask for a message or for another value are left.
var variable = lazyregexp.New(`\$\$|\$([A-Za-z_][A-Za-z0-9_]*)|\$\{([A-Za-z_][A-Za-z0-9_]*)(:?-)?([^{}]*)\}`)

// interpolateTree returns the tree with the variables that are known.
func (e *environment) interpolateTree(tree document.Tree) document.Tree {
	if root, ok := e.interpolateValue(tree.Root).(map[string]any); ok {
		tree.Root = root
	}
	return tree
}

// interpolateValue returns the value with variables; nil when there are none in it.
func (e *environment) interpolateValue(v any) any {
	switch v := v.(type) {
	case string:
		if !strings.Contains(v, "$") {
			return nil
		}
		switch out := variable.ReplaceAllStringFunc(v, e.substituteVar); out {
		case v:
			return nil
		case "true", "false": // what is a flag is none before this
			return out == "true"
		default:
			return out
		}
	case map[string]any:
		if out := e.interpolateFields(v); out != nil {
			return out
		}
	case []any:
		if out := e.interpolateItems(v); out != nil {
			return out
		}
	}
	return nil
}

// interpolateFields returns the map with the variables of its fields put in; nil without any.
func (e *environment) interpolateFields(m map[string]any) map[string]any {
	var out map[string]any
	for key, below := range m {
		with := e.interpolateValue(below)
		if with == nil {
			continue
		}
		if out == nil {
			out = maps.Clone(m)
		}
		out[key] = with
	}
	return out
}

// interpolateItems returns the list with the variables of its items put in; nil without any.
func (e *environment) interpolateItems(list []any) []any {
	var out []any
	for i, below := range list {
		with := e.interpolateValue(below)
		if with == nil {
			continue
		}
		if out == nil {
			out = slices.Clone(list)
		}
		out[i] = with
	}
	return out
}

// substituteVar returns what stands for one variable, or the variable itself.
func (e *environment) substituteVar(found string) string {
	m := variable.FindStringSubmatch(found)
	name, operator, otherwise := m[1]+m[2], m[3], m[4]
	if found == "$$" {
		return found // a dollar of the program that runs
	}
	value, ok := e.variableValue(name)
	switch {
	case ok && (value != "" || operator != ":-"):
		// "${NAME:?message}" and "${NAME:+other}"
		if operator == "" && otherwise != "" {
			return found
		}
		return value
	case operator != "":
		return otherwise
	}
	return found
}

// maxVariables bounds the variables of a file.
const maxVariables = 1000

// secret matches names of variables whose values must not come into a finding.
var secret = lazyregexp.New(`(?i)pass|pwd|secret|token|key|cred|auth|dsn|salt`)

// readVariables reads a file of NAME=value lines, if there is one. Secrets are left out.
func readVariables(name string, source Source, into map[string]string) {
	if !fs.ValidPath(name) {
		return
	}
	text, err := source(name)
	if err != nil {
		return
	}
	for line := range strings.Lines(string(text)) {
		key, value, ok := strings.Cut(strings.TrimSpace(line), "=")
		if key = strings.TrimSpace(strings.TrimPrefix(key, "export ")); !ok || strings.HasPrefix(key, "#") ||
			len(into) >= maxVariables || secret.MatchString(key) {
			continue
		}
		value = strings.TrimSpace(value)
		if n := len(value); n > 1 && (value[0] == '"' || value[0] == '\'') && value[n-1] == value[0] {
			value = value[1 : n-1]
		} else {
			// An unquoted value ends before a comment.
			value, _, _ = strings.Cut(value, " #")
		}
		into[key] = value
	}
}
