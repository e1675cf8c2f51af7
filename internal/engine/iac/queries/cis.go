package queries

import (
	"path"

	"merlon/internal/engine/iac/document"
)

// benchmark names the section of a CIS benchmark that asks for the same as the
// query, as text for its description; "" when none is known.
func benchmark(platform document.Platform, query string) string {
	section := sections[path.Base(query)]
	if section == "" {
		return ""
	}
	return "\n\nReference: " + section + "."
}

// sections is by the name of the query's folder, which is the same on all platforms.
var sections = map[string]string{}
