package ir_test

import (
	"strings"
	"testing"
)

// TestFolderModules checks that folders are modules by the name of their index.
func TestFolderModules(t *testing.T) {
	for _, test := range []struct{ path, source, want string }{
		{"index.js", "exports.run = 1", "setglobal index.run"},
		{"lib/index.js", "exports.run = 1", "setglobal lib.run"},
		{"a.js", `require(".").run()`, "index.run"},
		{"a.js", `require("./").run()`, "index.run"},
		{"a.js", `require("./index").run()`, "index.run"},
		{"a.js", `require("./index.js").run()`, "index.run"},
		{"lib/a.js", `require("..").run()`, "index.run"},
		{"lib/a.js", `require("../").run()`, "index.run"},
		{"lib/a.js", `require(".").run()`, "lib.run"},
		{"lib/x/a.js", `require("..").run()`, "lib.run"},
		{"lib/x/a.js", `require("../..").run()`, "index.run"},
		{"lib/a.js", `require("./.hidden/b").run()`, "lib/.hidden/b.run"},
	} {
		if got := lower(t, test.path, test.source).String(); !strings.Contains(got, test.want) {
			t.Errorf("%s: %s lacks %q:\n%s", test.path, test.source, test.want, got)
		}
	}
}
