package configuration

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/fstest"

	"merlon/internal/finding"
	"merlon/internal/scan"
)

const pod = `apiVersion: v1
kind: Pod
metadata:
  name: web
spec:
  containers:
    - name: main
      image: example.com/web:1.0.0
`

// look scans a tree: the lines of flaws by "path:rule", the reasons as "path:line code".
func look(t *testing.T, files map[string]string) (found map[string][]string, reasons []string) {
	t.Helper()
	tree := fstest.MapFS{}
	for name, text := range files {
		tree[name] = &fstest.MapFile{Data: []byte(text)}
	}
	p := &scan.ProjectPass{Context: context.Background(), FS: tree, Workers: 2, Progress: func(int, string) {}}
	for _, name := range slices.Sorted(maps.Keys(tree)) {
		p.Files = append(p.Files, scan.File{Path: name})
	}
	found = map[string][]string{}
	p.Degrade = func(r scan.Reason) { reasons = append(reasons, fmt.Sprintf("%s:%d %s", r.Path, r.Line, r.Code)) }
	p.Report = func(rule *finding.Rule, f finding.Finding) {
		for _, id := range append([]string{rule.ID}, f.Same...) {
			at := f.Location.Path + ":" + id[strings.LastIndexByte(id, '/')+1:]
			found[at] = append(found[at], strconv.Itoa(f.Location.StartLine))
		}
	}
	if err := run(p); err != nil {
		t.Fatal(err)
	}
	slices.Sort(reasons)
	return found, reasons
}

// Flaws are told where they are written, in formats whose files do not hold what
// is deployed.
func TestFormats(t *testing.T) {
	found, reasons := look(t, map[string]string{
		"store.bicep":                "var plain = false\nresource s 'Microsoft.Storage/storageAccounts@2021-02-01' = {\n  name: 'store'\n  properties: {\n    supportsHttpsTrafficOnly: plain\n  }\n}\n",
		"chart/Chart.yaml":           "apiVersion: v2\nname: web\nversion: 1.0.0\n",
		"chart/values.yaml":          "privileged: true\n",
		"chart/templates/pod.yaml":   "{{- if .Values.privileged }}\n" + pod + "      securityContext:\n        privileged: {{ .Values.privileged }}\n{{- end }}\n",
		"base/kustomization.yaml":    "resources: [pod.yaml]\n",
		"base/pod.yaml":              pod,
		"overlay/kustomization.yaml": "resources: [../base]\npatches:\n  - target: {kind: Pod}\n    patch: |-\n      - op: add\n        path: /spec/hostPID\n        value: true\n",
		"build.sh":                   "c=$(buildah from fedora)\nbuildah run $c -- apt install x\n",
		"hosts.ini":                  "[tower]\n150.50.1.1 ansible_port=22\n",
		"api.proto":                  "syntax = \"proto3\";\nenum lower_case {\n  ZERO = 0;\n}\n",
	})
	if len(reasons) > 0 {
		t.Errorf("degraded: %v", reasons)
	}
	for at, line := range map[string]string{
		"chart/templates/pod.yaml:container-is-privileged":     "11",
		"overlay/kustomization.yaml:shared-host-pid-namespace": "7",
		"store.bicep:storage-account-allows-unsecure-transfer": "5",
		"build.sh:run-using-apt":                               "2",
		"hosts.ini:hosts-ansible-tower-exposed-to-internet":    "1",
		"api.proto:enum-name-not-camel-case":                   "2",
	} {
		if !slices.Equal(found[at], []string{line}) {
			t.Errorf("%s at lines %v, want %s", at, found[at], line)
		}
	}
	if t.Failed() {
		t.Logf("found %v", slices.Sorted(maps.Keys(found)))
	}
}
