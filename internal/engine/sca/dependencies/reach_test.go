package dependencies

import (
	"testing"
	"testing/fstest"

	"merlon/internal/finding"
)

// A finding says whether the program calls what is flawed.
func TestReach(t *testing.T) {
	tree := fstest.MapFS{
		"package.json":      {Data: []byte(`{"name":"app","dependencies":{"lodash":"4.17.15"}}`)},
		"package-lock.json": {Data: []byte(`{"name":"app","lockfileVersion":3,"packages":{"":{"dependencies":{"lodash":"4.17.15"}},"node_modules/lodash":{"version":"4.17.15"}}}`)},
		"index.js": {Data: []byte("const _ = require('lodash')\nmodule.exports = (o) => " +
			"_.zipObjectDeep(o)\n")},
	}
	r := examine(t, tree, openAdvisories(t, `{"id":"GHSA-a","modified":"2024-01-01T00:00:00Z","summary":"Pollution through `+"`zipObjectDeep`"+`",
		"affected":[{"package":{"ecosystem":"npm","name":"lodash"},"versions":["4.17.15"]}]}`))
	if len(r.reported) != 1 {
		t.Fatalf("%d findings: %q", len(r.reported), r.findings)
	}
	got := r.reported[0].Package.Reach
	if got == nil || got.Verdict != finding.Reachable || got.Reason != "lodash.zipObjectDeep is called" ||
		len(got.Steps) == 0 {
		t.Errorf("reach %+v", got)
	}
}
