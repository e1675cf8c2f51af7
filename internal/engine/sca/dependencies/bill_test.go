package dependencies

import (
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
)

func TestBill(t *testing.T) {
	tree := fstest.MapFS{
		"app.cdx.json": {Data: []byte(`{"bomFormat":"CycloneDX","metadata":{"component":{"bom-ref":"app","name":"app"}},"components":[
{"bom-ref":"a","name":"left-pad","version":"1.3.0","purl":"pkg:npm/left-pad@1.3.0"},
{"bom-ref":"b","name":"ours","version":"1"}],
"dependencies":[{"ref":"app","dependsOn":["a"]}]}`)},
		"broken/bom.json": {Data: []byte(`{"bomFormat":"CycloneDX","components":[`)},
		"other/bom.json":  {Data: []byte(`{"parts":["bolt"]}`)},
	}
	r := examine(t, tree, nil)
	if len(r.packages) != 1 {
		t.Errorf("packages %q", r.packages)
	}
	want := []string{
		" unavailable: there is no vulnerability data, so no package was checked: run merlon advisories import",
		"app.cdx.json no-package-url: 1 component has no package URL of a known ecosystem, so nothing was looked up " +
			"for them: ours 1",
		"broken/bom.json malformed: cannot be read as a bill of materials: line 1: unexpected EOF",
	}
	if diff := cmp.Diff(want, r.degraded); diff != "" {
		t.Errorf("reasons (-want +got):\n%s", diff)
	}
}
