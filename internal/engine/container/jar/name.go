package jar

import (
	"path"
	"strings"

	"merlon/internal/lazyregexp"
)

// versionStart matches what a version in the name of a file begins with.
var versionStart = lazyregexp.New(`^(?:[0-9]|build[0-9]|rc?[0-9]+(?:[^a-zA-Z]|$))`)

// parseFileName takes artifact and version from the name of a file, such as
// guava-31.1-jre.jar. Old packages have the group of their artifact (junit:junit); an
// artifact with dots begins with its group (org.apache.felix.framework).
func parseFileName(name string) (coordinates, bool) {
	base := path.Base(name)
	base = strings.TrimSuffix(base, path.Ext(base))
	artifact, version := splitVersion(base)
	if version == "" {
		return coordinates{}, false
	}
	group := artifact
	if dot := strings.LastIndex(artifact, "."); dot > 0 {
		group = strings.ToLower(artifact[:dot])
	}
	return coordinates{group: group, artifact: artifact, version: version}, true
}

// splitVersion splits a name at the first dash behind which a version begins, else at the
// first underscore or dot.
func splitVersion(base string) (artifact, version string) {
	for i, c := range base {
		if c == '-' && versionStart.MatchString(base[i+1:]) {
			return base[:i], base[i+1:]
		}
	}
	for _, separator := range []string{"_", "."} {
		if before, after, ok := strings.Cut(base, separator); ok && versionStart.MatchString(after) {
			return before, after
		}
	}
	return base, ""
}
