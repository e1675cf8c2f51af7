package analyzer

import (
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"merlon/internal/engine/iac/bicep"
	"merlon/internal/engine/iac/document"
	"merlon/internal/scan"
)

// A file that others deploy is looked at with what each of them gives it, once for the
// same values, and not with its own defaults.
func TestDeployed(t *testing.T) {
	files := map[string]string{
		"main.bicep": "module a 'm.bicep' = { params: { v: 1 } }\nmodule b 'm.bicep' = { params: { v: 1 } }\nmodule " +
			"c 'm.bicep' = { params: { v: 2 } }\nmodule far 'br:x.test/a:1' = {}\n",
		"m.bicep": "param v int = 0\nresource r 'T@1' = { name: 'r', properties: { p: v } }\nmodule round " +
			"'main.bicep' = {}\n",
		"alone.bicep": "param v int = 3\nresource r 'T@1' = { name: 'r', properties: { p: v } }\n",
	}
	tree := fstest.MapFS{}
	var reasons []string
	pass := &scan.ProjectPass{FS: tree}
	pass.Degrade = func(r scan.Reason) { reasons = append(reasons, r.Code+" "+r.Path) }
	r := &treeReading{pass: pass, parts: map[string][]*document.Document{}}
	for name, text := range files {
		tree[name] = &fstest.MapFile{Data: []byte(text)}
		d, err := bicep.Decode(name, []byte(text))
		if err != nil {
			t.Fatal(err)
		}
		r.parts[name] = []*document.Document{d}
	}
	delete(tree, "main.bicep") // nothing is read twice
	r.parts["m.bicep"][0].Deploys = nil
	r.applyDeployments()
	got := map[string]any{}
	for _, docs := range r.parts {
		for _, d := range docs {
			for _, one := range d.Root["resources"].([]any) {
				got[d.Path+" "+
					strings.TrimSuffix(d.Prefix, ".")] = one.(map[string]any)["properties"].(map[string]any)["p"]
			}
		}
	}
	slices.Sort(reasons)
	if diff := cmp.Diff([]string{"too-complex m.bicep", "too-complex m.bicep", "unavailable main.bicep"},
		reasons); diff != "" {
		t.Errorf("reasons (-want +got):\n%s", diff)
	}
	want := map[string]any{"m.bicep a": int64(1), "m.bicep c": int64(2), "alone.bicep ": int64(3)}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("values (-want +got):\n%s", diff)
	}
}
