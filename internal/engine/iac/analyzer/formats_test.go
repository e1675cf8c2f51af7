package analyzer

import (
	"maps"
	"slices"
	"strings"
	"testing"
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

// lines returns the lines of findings, by "PATH:RULE".
func lines(found []string) map[string][]string {
	out := map[string][]string{}
	for _, f := range found {
		at, rule, _ := strings.Cut(f, " ")
		file, line, _ := strings.Cut(at, ":")
		out[file+":"+rule] = append(out[file+":"+rule], line)
	}
	return out
}

// Flaws are told where they are written, in formats whose files do not hold what
// is deployed.
func TestFormats(t *testing.T) {
	all, reasons := scanned(t, map[string]string{
		"store.bicep": "var plain = false\nresource s 'Microsoft.Storage/storageAccounts@2021-02-01' " +
			"= {\n  name: 'store'\n  properties: {\n    supportsHttpsTrafficOnly: plain\n  }\n}\n",
		"chart/Chart.yaml":  "apiVersion: v2\nname: web\nversion: 1.0.0\n",
		"chart/values.yaml": "privileged: true\n",
		"chart/templates/pod.yaml": "{{- if .Values.privileged }}\n" + pod + "      securityContext:\n        " +
			"privileged: {{ .Values.privileged }}\n{{- end }}\n",
		"base/kustomization.yaml": "resources: [pod.yaml]\n",
		"base/pod.yaml":           pod,
		"overlay/kustomization.yaml": "resources: [../base]\npatches:\n  - target: {kind: Pod}\n    patch: |-\n      " +
			"- op: add\n        path: /spec/hostPID\n        value: true\n",
		"build.sh":  "c=$(buildah from fedora)\nbuildah run $c -- apt install x\n",
		"hosts.ini": "[tower]\n150.50.1.1 ansible_port=22\n",
		"api.proto": "syntax = \"proto3\";\nenum lower_case {\n  ZERO = 0;\n}\n",
	})
	if len(reasons) > 0 {
		t.Errorf("degraded: %v", reasons)
	}
	found := lines(all)
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
