package analyzer

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"merlon/internal/engine/iac/kics"
	"merlon/internal/finding"
	"merlon/internal/scan"
)

// scanned runs the analysis on a tree and returns its findings, "PATH:LINE RULE", and
// its reasons, "PATH:LINE CODE: MESSAGE", both sorted.
func scanned(t *testing.T, files map[string]string) (found, reasons []string) {
	t.Helper()
	tree := fstest.MapFS{}
	p := &scan.ProjectPass{Context: context.Background(), FS: tree, Workers: 2, Progress: func(int, string) {}}
	for _, name := range slices.Sorted(maps.Keys(files)) {
		tree[name] = &fstest.MapFile{Data: []byte(files[name])}
		p.Files = append(p.Files, scan.File{Path: name})
	}
	p.Degrade = func(r scan.Reason) {
		reasons = append(reasons, fmt.Sprintf("%s:%d %s: %s", r.Path, r.Line, r.Code, r.Message))
	}
	p.Report = func(rule *finding.Rule, f finding.Finding) {
		id := rule.ID[strings.LastIndexByte(rule.ID, '/')+1:]
		found = append(found, fmt.Sprintf("%s:%d %s", f.Location.Path, f.Location.StartLine, id))
	}
	if err := analyzeTree(p, kics.Run); err != nil {
		t.Fatal(err)
	}
	slices.Sort(found)
	slices.Sort(reasons)
	return found, reasons
}

// Flaws are told where they are written, in whichever file that a reference leads to;
// what is not flawed as it is deployed is silent, and what leads nowhere is a reason.
func TestReferences(t *testing.T) {
	const hardened = "    cap_drop: [ALL]\n    security_opt: [\"no-new-privileges:true\"]\n    healthcheck: {test: " +
		"[CMD, true]}\n    mem_limit: 64m\n    pids_limit: 9\n"
	tests := []struct {
		name    string
		files   map[string]string
		only    []string // rules; nil is all
		found   []string
		reasons []string
	}{
		{
			name: "Compose",
			files: map[string]string{
				"compose.yaml": "include: [db/compose.yaml, gone.yaml]\nservices:\n  web:\n    image: " +
					"web:1\n" + hardened,
				"compose.override.yaml": "services:\n  web:\n    privileged: true\n",
				"compose.prod.yaml":     "services:\n  web:\n    restart: always\n",
				"db/compose.yaml": "services:\n  db:\n    image: db:1\n    network_mode: ${MODE:-none}\n" +
					hardened,
				".env":                    "MODE=host\n",
				"parts/compose.part.yaml": "services:\n  part:\n    mem_limit: 1g\n",
				"parts/compose.yaml": "services:\n  part:\n    image: part:1\n    extends: {file: " +
					"compose.part.yaml, service: part}\n" + hardened,
				"alone/compose.extra.yaml": "services:\n  extra:\n    mem_limit: 1g\n",
				"bad/docker-compose.yml":   "services: [\n",
			},
			found: []string{"compose.override.yaml:3 privileged-containers-enabled", "db/compose.yaml:4 " +
				"shared-host-network-namespace"},
			reasons: []string{
				"alone/compose.extra.yaml:1 unavailable: its services have neither an image nor a build: it is laid " +
					"over a file that is not beside it",
				"bad/docker-compose.yml:1 malformed: it cannot be read: not valid YAML: did not find expected node " +
					"content",
				"compose.yaml:1 unavailable: the included file gone.yaml is not analyzed: it is not part of the " +
					"tree, and nothing is fetched",
			},
		},
		{
			name: "Kustomize",
			files: map[string]string{
				"base/kustomization.yaml": "resources: [pod.yaml, settings.yaml]\nvars:\n- {name: TAG, objref: " +
					"{kind: Settings, name: settings, apiVersion: example.com/v1}, fieldref: {fieldpath: spec.tag}}\n",
				"base/pod.yaml": pod + "    - name: side\n      image: example.com/side:$(TAG)\n",
				"base/settings.yaml": "apiVersion: example.com/v1\nkind: Settings\nmetadata: {name: " +
					"settings}\nspec:\n  host: true\n  quiet: false\n  tag: latest\n",
				"prod/kustomization.yaml": "resources: [../base]\nreplacements:\n- source: {kind: Settings, " +
					"fieldPath: spec.host}\n  targets:\n  - {select: {kind: Pod}, fieldPaths: [spec.hostNetwork], " +
					"options: {create: true}}\n" +
					"- source: {kind: Settings, fieldPath: spec.quiet}\n  targets:\n  - {select: {kind: Pod}, " +
					"fieldPaths: [spec.hostPID], options: {create: true}}\n" +
					"- source: {kind: Settings, fieldPath: spec.none}\n  targets: []\n",
			},
			only:  []string{"shared-host-network-namespace", "shared-host-pid-namespace", "invalid-image"},
			found: []string{"base/pod.yaml:10 invalid-image", "base/settings.yaml:5 shared-host-network-namespace"},
			reasons: []string{"prod/kustomization.yaml:9 malformed: replacement: the source Settings/settings has no " +
				"field \"spec.none\""},
		},
		{
			name: "Helm",
			files: map[string]string{
				"chart/Chart.yaml": "apiVersion: v2\nname: web\nversion: 1.0.0\ndependencies:\n  - {name: far, " +
					"repository: 'https://example.com'}\n",
				"chart/.helmignore":      "templates/debug*\n",
				"chart/values.yaml":      "host: false\ntag: 1.0.0\n",
				"chart/values-prod.yaml": "host: true\n",
				"chart/templates/pod.yaml": strings.Replace(pod, "web:1.0.0",
					`{{ required "an image" .Values.image }}:{{ .Values.tag }}`, 1) +
					"  hostNetwork: {{ .Values.host }}\n  hostPID: {{ .Values.pid | default false }}\n{{- if not " +
					".Values.image }}{{ fail \"no image\" }}{{ end }}\n",
				"chart/templates/debug.yaml": pod + "  hostIPC: true\n",
			},
			only: []string{"shared-host-network-namespace", "shared-host-pid-namespace", "shared-host-ipc-namespace",
				"image-without-digest"},
			found: []string{"chart/templates/pod.yaml:9 shared-host-network-namespace"},
			reasons: []string{
				"chart/Chart.yaml:5 unavailable: the subchart far is not in charts/ and is not fetched",
				"chart/templates/pod.yaml:11 unknown-value: the chart refuses the values that it has: no image",
				"chart/templates/pod.yaml:8 unknown-value: a value must be given to install the chart: an image",
				"chart/templates/pod.yaml:8 unknown-value: the value is unknown before deployment, and a rule " +
					"depends on it: Image without digest",
			},
		},
		{
			name: "charts of Kustomize",
			files: map[string]string{
				"k/kustomization.yaml": "helmCharts:\n- name: web\n  valuesInline: {host: true}\n- name: " +
					"far\n  repo: https://charts.example.com\n",
				"k/charts/web/Chart.yaml":        "apiVersion: v2\nname: web\nversion: 1.0.0\n",
				"k/charts/web/values.yaml":       "host: false\n",
				"k/charts/web/templates/p.yaml":  pod + "  hostNetwork: {{ .Values.host }}\n  hostPID: true\n",
				"k/charts/web/templates/no.yaml": "{{ .Values.a.b }}\n",
			},
			only: []string{"shared-host-network-namespace", "shared-host-pid-namespace", "shared-host-ipc-namespace"},
			found: []string{"k/charts/web/templates/p.yaml:10 shared-host-pid-namespace",
				"k/charts/web/templates/p.yaml:9 shared-host-network-namespace"},
			reasons: []string{
				"k/charts/web/templates/no.yaml:1 malformed: template: web/templates/no.yaml:1:10: executing " +
					"\"web/templates/no.yaml\" at <.Values.a.b>: nil pointer evaluating interface {}.b",
				"k/kustomization.yaml:4 unavailable: chart far: it is not in the folder charts and is not fetched",
			},
		},
		{
			name: "tags of the provider",
			files: map[string]string{
				"main.tf": "provider \"aws\" {\n  default_tags { tags = { Team = \"web\" } }\n}\nmodule \"m\" { " +
					"source = \"./m\" }\nresource \"aws_sns_topic\" \"a\" {}\n",
				"m/main.tf":    "resource \"aws_sns_topic\" \"m\" {}\n",
				"bare/main.tf": "provider \"aws\" {}\nresource \"aws_sns_topic\" \"bare\" {}\n",
				"plan.json": `{"format_version": "1.2", "terraform_version": "1.9.0", "resource_changes": [], "planned_values": {"root_module": {"resources": [
{"address": "aws_sns_topic.a", "mode": "managed", "type": "aws_sns_topic", "name": "a", "values": {"tags": null, "tags_all": {"Team": "web"}}},
{"address": "aws_sns_topic.b", "mode": "managed", "type": "aws_sns_topic", "name": "b", "values": {"tags": null, "tags_all": {}}}]}}}`,
			},
			only: []string{"aws-resource-not-using-tags"},
			found: []string{"bare/main.tf:2 aws-resource-not-using-tags", "plan.json:1 aws-resource-not-using-tags",
				"plan.json:1 aws-resource-not-using-tags"},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			found, reasons := scanned(t, tt.files)
			found = slices.DeleteFunc(found, func(f string) bool {
				_, rule, _ := strings.Cut(f, " ")
				return tt.only != nil && !slices.Contains(tt.only, rule)
			})
			if diff := cmp.Diff(tt.found, found); diff != "" {
				t.Errorf("findings (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(tt.reasons, reasons); diff != "" {
				t.Errorf("reasons (-want +got):\n%s", diff)
			}
		})
	}
}
