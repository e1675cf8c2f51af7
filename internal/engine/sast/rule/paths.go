package rule

import (
	"strings"

	"go.yaml.in/yaml/v3"

	"merlon/internal/scan/glob"
)

// Glob compiles a pattern of the key paths. It is one of .gitignore, but for a pattern with a
// slash: it fits at any depth, unless it begins with a slash. The trailing slash of a folder and
// the leading "./" mean nothing.
func Glob(pattern string) (*glob.Glob, error) {
	pattern = strings.TrimSuffix(strings.TrimPrefix(pattern, "./"), "/")
	if strings.Contains(pattern, "/") && !strings.HasPrefix(pattern, "/") {
		pattern = "**/" + pattern
	}
	return glob.Compile(pattern)
}

// readGlobs reads a list of patterns of paths. They are compiled when they are used; here they
// only have to be well formed.
func (b *builder) readGlobs(n *yaml.Node, what string) []string {
	if n == nil {
		return nil
	}
	var out []string
	for _, e := range b.readList(n, what) {
		pattern := b.readScalar(e, "an element of "+what)
		if _, err := Glob(pattern); err != nil {
			b.reportFault(e.Line, "%s has the malformed pattern %q", what, pattern)
		}
		out = append(out, pattern)
	}
	return out
}
