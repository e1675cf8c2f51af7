package imageref

import (
	"strings"

	"merlon/internal/lazyregexp"
)

// This file reads the base images of Dockerfiles
// (https://docs.docker.com/reference/dockerfile/#from).

// variable matches $NAME, ${NAME}, ${NAME:-default} and ${NAME-default}.
var variable = lazyregexp.New(`\$(?:([A-Za-z_]\w*)|\{([A-Za-z_]\w*)(?::?-([^}]*))?\})`)

// maxStages bounds the stages that are remembered; more are written by programs.
const maxStages = 1000

// readDockerfile returns the base images. A stage that is built on another one names none.
func readDockerfile(text string) []Reference {
	args, stages := map[string]string{}, map[string]bool{}
	var out []Reference
	line := 0
	begun := false // an ARG before the first FROM counts for FROM lines; those of stages do not
	for raw := range strings.Lines(text) {
		line++
		words := strings.Fields(strings.TrimSpace(raw))
		if len(words) < 2 {
			continue
		}
		switch strings.ToUpper(words[0]) {
		case "ARG":
			name, value, ok := strings.Cut(words[1], "=")
			if !begun && ok {
				args[name] = expand(strings.Trim(value, `"'`), args)
			}
		case "FROM":
			begun = true
			rest := words[1:]
			for len(rest) > 0 && strings.HasPrefix(rest[0], "--") {
				rest = rest[1:]
			}
			if len(rest) == 0 || len(stages) > maxStages {
				continue
			}
			image := expand(rest[0], args)
			if r, ok := Parse(image); ok && !stages[strings.ToLower(image)] {
				r.Line = line
				out = append(out, r)
			}
			if len(rest) == 3 && strings.EqualFold(rest[1], "AS") {
				stages[strings.ToLower(rest[2])] = true
			}
		}
	}
	return out
}

// expand replaces the variables of a text. One without a value stays, and makes the text no
// reference.
func expand(text string, values map[string]string) string {
	return variable.ReplaceAllStringFunc(text, func(use string) string {
		m := variable.FindStringSubmatch(use)
		if value := values[m[1]+m[2]]; value != "" {
			return value
		}
		if m[3] != "" {
			return m[3]
		}
		return use
	})
}
