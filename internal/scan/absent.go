package scan

import "strings"

// This file reports which kinds of paths a tree lacks. Clients exclude hidden and built files
// from uploads. A missing file was not analyzed, so the absence of a finding in it does not
// mean that the finding is resolved.

// A PathKind is a kind of paths that some clients exclude from uploads.
type PathKind string

// The kinds of paths.
const (
	HiddenPaths PathKind = "hidden" // names that begin with a dot
	BuiltPaths  PathKind = "built"  // folders of dependencies and of results of builds
)

// builtFolders are names of folders that clients consider build output.
var builtFolders = map[string]bool{"node_modules": true, "dist": true, "build": true, "out": true, "target": true,
	"vendor": true, "bin": true, "obj": true}

// KindOfPath returns the kind of a path, and its prefix up to the file or folder that decides
// the kind; a folder ends with a slash. Both are empty for an ordinary path.
func KindOfPath(path string) (kind PathKind, part string) {
	for start := 0; start < len(path); {
		name, _, folder := strings.Cut(path[start:], "/")
		end := start + len(name)
		if folder {
			end++
		}
		switch {
		case len(name) > 1 && name[0] == '.' && name != "..":
			return HiddenPaths, path[:end]
		case folder && builtFolders[name]:
			return BuiltPaths, path[:end]
		}
		start = end
	}
	return "", ""
}

// absentPathKinds returns the kinds of paths that the tree lacks. A tree with the folder .git
// is a complete checkout, not an upload with exclusions.
func (t *tree) absentPathKinds() []PathKind {
	if len(t.repos) > 0 || t.dir == "" {
		return nil
	}
	seen := map[PathKind]bool{}
	look := func(path string) {
		if kind, _ := KindOfPath(path); kind != "" {
			seen[kind] = true
		}
		if kind, part := KindOfPath(path); kind == HiddenPaths { // it may be built as well
			if inner, _ := KindOfPath(path[len(part):]); inner != "" {
				seen[inner] = true
			}
		}
	}
	for _, f := range t.files {
		look(f.Path)
	}
	for _, f := range t.large {
		look(f.Path)
	}
	for _, r := range t.gaps {
		look(r.Path)
	}
	var out []PathKind
	for _, k := range []PathKind{HiddenPaths, BuiltPaths} {
		if !seen[k] {
			out = append(out, k)
		}
	}
	return out
}
