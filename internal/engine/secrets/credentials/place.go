package credentials

import "strings"

// This file says what the place of a file tells about it.

// isGenerated reports whether the name is that of code that a program made smaller,
// or of the table that leads back from it. The name is in lower case.
func isGenerated(name string) bool {
	for _, end := range []string{".min.js", ".min.css", ".min.mjs", ".js.map", ".css.map", ".mjs.map", ".cjs.map",
		".ts.map", ".bundle.js.map"} {
		if strings.HasSuffix(name, end) {
			return true
		}
	}
	return false
}

// isInstalled reports whether the file is one of an installed package.
func isInstalled(name string) bool {
	for _, dir := range []string{"node_modules", "bower_components", "site-packages", "dist-packages", "vendor"} {
		if strings.HasPrefix(name, dir+"/") || strings.Contains(name, "/"+dir+"/") {
			return true
		}
	}
	return false
}
