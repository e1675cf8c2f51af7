package kustomize

import (
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"merlon/internal/engine/iac/document"
)

func tree(files map[string]string) (fs.FS, []string) {
	t := fstest.MapFS{}
	for name, text := range files {
		t[name] = &fstest.MapFile{Data: []byte(text)}
	}
	return t, slices.Sorted(maps.Keys(files))
}

const deployment = `apiVersion: apps/v1
kind: Deployment
metadata:
  name: web
  labels: {app: web}
spec:
  replicas: 1
  template:
    spec:
      serviceAccountName: robot
      containers:
        - name: main
          image: registry.example.com:5000/web:1
          env:
            - name: A
              value: "1"
        - name: side
          image: side
---
apiVersion: v1
kind: ServiceAccount
metadata:
  name: robot
`

// show writes a value as one line, and the place of each leaf.
func show(v any, n *document.Node, own string, path string, into map[string]string) {
	switch v := v.(type) {
	case map[string]any:
		for key, e := range v {
			below, _ := n.Find(key)
			show(e, below, own, path+"/"+key, into)
		}
	case []any:
		for i, e := range v {
			below, _ := n.Find(fmt.Sprint(i))
			show(e, below, own, fmt.Sprintf("%s/%d", path, i), into)
		}
	default:
		file := n.Path
		if file == "" {
			file = own
		}
		into[path] = fmt.Sprintf("%v %s:%d", v, file, n.Line)
	}
}

func TestBuild(t *testing.T) {
	tests := []struct {
		name  string
		files map[string]string // beside base/d.yaml
		want  map[string]string // leaves of the deployment
	}{
		{"strategic merge", map[string]string{
			"k/kustomization.yaml": "bases: [../base]\npatchesStrategicMerge:\n- p.yaml\n",
			"k/p.yaml": "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web}\nspec:\n  " +
				"replicas: null\n  template:\n    spec:\n      hostPID: true\n      containers:\n      - name: " +
				"main\n        securityContext: {privileged: true}\n        env: [{name: A, value: two}, {name: B, " +
				"value: three}]\n      - $patch: delete\n        name: side\n",
		}, map[string]string{
			"/spec/replicas":              "",
			"/spec/template/spec/hostPID": "true k/p.yaml:8",
			"/spec/template/spec/containers/0/securityContext/privileged": "true k/p.yaml:11",
			"/spec/template/spec/containers/0/image": "registry.example.com:5000/web:1 " +
				"base/d.yaml:13",
			"/spec/template/spec/containers/0/env/0/value": "two k/p.yaml:12",
			"/spec/template/spec/containers/0/env/1/value": "three k/p.yaml:12",
			"/spec/template/spec/containers/1/name":        "",
			"/metadata/name":                               "web base/d.yaml:4",
		}},
		{"JSON patch in place", map[string]string{
			"k/kustomization.yaml": "resources:\n- ../base\npatches:\n- target: {kind: Deploy.*}\n  patch: |-\n    - " +
				"op: replace\n      path: /spec/replicas\n      value: 5\n    - op: add\n      path: " +
				"/spec/template/spec/containers/-\n      value: {name: more}\n    - op: remove\n      path: " +
				"/spec/template/spec/containers/0/env/0\n    - {op: copy, from: /kind, path: /metadata/labels/a~1b}\n",
		}, map[string]string{
			"/spec/replicas":                               "5 k/kustomization.yaml:8",
			"/spec/template/spec/containers/2/name":        "more k/kustomization.yaml:11",
			"/spec/template/spec/containers/0/env/0/value": "",
			"/metadata/labels/a/b":                         "Deployment base/d.yaml:2",
		}},
		{"JSON patch in a file", map[string]string{
			"k/kustomization.yaml": "resources: [../base]\npatchesJson6902:\n- target: {group: apps, version: v1, " +
				"kind: Deployment, name: web}\n  path: p.json\n",
			"k/p.json": "[\n {\"op\": \"replace\", \"path\": \"/spec/replicas\", \"value\": 2}\n]\n",
		}, map[string]string{"/spec/replicas": "2 k/p.json:2"}},
		{"fields for all", map[string]string{
			"k/kustomization.yaml": "resources: [../base]\nnamespace: prod\nnamePrefix: a-\nnameSuffix: " +
				"-z\ncommonLabels:\n  team: x\nreplicas:\n- name: web\n  count: 3\nimages:\n- name: " +
				"registry.example.com:5000/web\n  newTag: v2\n- name: side\n  newName: other\n  digest: sha256:00\n",
		}, map[string]string{
			"/metadata/namespace":                    "prod k/kustomization.yaml:2",
			"/metadata/name":                         "a-web-z k/kustomization.yaml:3",
			"/metadata/labels/team":                  "x k/kustomization.yaml:6",
			"/metadata/labels/app":                   "web base/d.yaml:5",
			"/spec/replicas":                         "3 k/kustomization.yaml:8",
			"/spec/template/spec/serviceAccountName": "a-robot-z base/d.yaml:10",
			"/spec/template/spec/containers/0/image": "registry.example.com:5000/web:v2 k/kustomization.yaml:11",
			"/spec/template/spec/containers/1/image": "other@sha256:00 k/kustomization.yaml:13",
		}},
		{"component", map[string]string{
			"k/kustomization.yaml": "resources: [../base]\ncomponents: [../c]\n",
			"c/kustomization.yaml": "kind: Component\npatches:\n- patch: '{apiVersion: apps/v1, kind: Deployment, " +
				"metadata: {name: web}, spec: {paused: true}}'\n",
		}, map[string]string{"/spec/paused": "true c/kustomization.yaml:3"}},
		{"labels select", map[string]string{
			"k/kustomization.yaml": "resources: [../base]\nlabels: [{pairs: {x: z}}]\npatches:\n- target: " +
				"{labelSelector: 'app=web,none!=1'}\n  patch: '[{op: add, path: /spec/paused, value: true}]'\n",
		}, map[string]string{"/spec/paused": "true k/kustomization.yaml:5",
			"/metadata/labels/x": "z k/kustomization.yaml:2"}},
		{"replacements", map[string]string{
			"k/kustomization.yaml": `resources: [../base]
namePrefix: a-
configMapGenerator:
- name: settings
  literals:
  - network=host
  - user=0:1000
replacements:
- source: {kind: ConfigMap, name: settings, fieldPath: data.network}
  targets:
  - select: {kind: Deployment, name: web}
    fieldPaths: ["spec.template.spec.network\\.mode", "spec.template.metadata.annotations.[example.com/net]"]
    options: {create: true}
- source:
    kind: ConfigMap
    name: settings
    fieldPath: data.user
    options: {delimiter: ":", index: 0}
  targets:
  - select: {kind: Deploy.*}
    reject: [{name: other}]
    fieldPaths: ["spec.template.spec.containers.[name=main].env.[name=B].value", "spec.template.spec.containers.1.uid"]
    options: {create: true}
- path: image.yaml
`,
			"k/image.yaml": "- sourceValue: v9\n  targets:\n  - select: {kind: Deployment}\n    fieldPaths: " +
				"['spec.template.spec.containers.*.image']\n    options: {delimiter: ':', index: 2}\n- source: " +
				"{kind: ServiceAccount, name: robot}\n  targets:\n  - select: {name: web}\n    fieldPaths: " +
				"[spec.template.spec.serviceAccountName]\n",
		}, map[string]string{
			"/spec/template/spec/network.mode":                    "host k/kustomization.yaml:6",
			"/spec/template/metadata/annotations/example.com/net": "host k/kustomization.yaml:6",
			"/spec/template/spec/containers/0/env/0/value":        "1 base/d.yaml:16",
			"/spec/template/spec/containers/0/env/1/name":         "B base/d.yaml:14",
			"/spec/template/spec/containers/0/env/1/value":        "0 k/kustomization.yaml:7",
			"/spec/template/spec/containers/1/uid":                "0 k/kustomization.yaml:7",
			"/spec/template/spec/containers/0/image":              "registry.example.com:5000/web:v9 base/d.yaml:13",
			"/spec/template/spec/containers/1/image":              "side:v9 base/d.yaml:18",
			"/spec/template/spec/serviceAccountName":              "a-robot k/kustomization.yaml:2",
		}},
		{"variables", map[string]string{
			"other/kustomization.yaml": "resources: [robot.yaml]\nnamePrefix: not-\n",
			"other/robot.yaml":         "apiVersion: v1\nkind: ServiceAccount\nmetadata: {name: robot}\n",
			"k/kustomization.yaml": "resources: [../other, ../mid]\nnameSuffix: -z\npatches:\n- target: {kind: " +
				"Deployment}\n  patch: '[{op: add, path: /spec/template/spec/containers/0/args, value: " +
				"[\"--of=$(ROBOT)-$(NONE)\", $(COUNT)]}]'\n",
			"mid/kustomization.yaml": "resources: [../base]\nvars:\n- name: ROBOT\n  objref: {apiVersion: v1, kind: " +
				"ServiceAccount, name: robot}\n- name: COUNT\n  objref: {kind: Deployment, name: web}\n  fieldref: " +
				"{fieldpath: spec.replicas}\n" +
				"- name: IMAGE\n  objref: {kind: Deployment, name: web}\n  fieldref: {fieldpath: " +
				"'spec.template.spec.containers[0].image'}\n",
		}, map[string]string{
			"/spec/template/spec/containers/0/args/0": "--of=robot-z-$(NONE) k/kustomization.yaml:5",
			"/spec/template/spec/containers/0/args/1": "1 k/kustomization.yaml:5",
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			tt.files["base/kustomization.yaml"] = "resources:\n- d.yaml\n"
			tt.files["base/d.yaml"] = deployment
			docs, problems := Documents(tree(tt.files))
			if len(problems) > 0 {
				t.Errorf("problems: %v", problems)
			}
			got := map[string]string{}
			for _, d := range docs {
				if d.Root["kind"] == "Deployment" {
					show(d.Root, d.Lines, d.Path, "", got)
				}
				if d.Unit != "k" || d.Platform != document.Kubernetes || d.Format != document.Kustomize {
					t.Errorf("document of %q %s %s", d.Unit, d.Platform, d.Format)
				}
			}
			for path, want := range tt.want {
				if got[path] != want {
					t.Errorf("%s is %q, want %q", path, got[path], want)
				}
			}
		})
	}
}

func TestGenerate(t *testing.T) {
	docs, problems := Documents(tree(map[string]string{
		"kustomization.yaml": "configMapGenerator:\n- name: c\n  literals:\n  - a=1\n  files: [f.txt, other=f.txt]\n " +
			" envs: [x.env]\nsecretGenerator:\n- name: s\n  literals:\n  - password=hunter2\n",
		"f.txt": "text", "x.env": "# no\nb=2\n",
	}))
	if len(problems) > 0 || len(docs) != 2 {
		t.Fatalf("%d documents, problems %v", len(docs), problems)
	}
	if diff := cmp.Diff(map[string]any{"a": "1", "f.txt": "text", "other": "text", "b": "2"},
		docs[0].Root["data"]); diff != "" {
		t.Errorf("data (-want +got):\n%s", diff)
	}
	got := map[string]string{}
	show(docs[1].Root, docs[1].Lines, docs[1].Path, "", got)
	want := map[string]string{
		"/apiVersion": "v1 kustomization.yaml:8", "/kind": "Secret kustomization.yaml:8",
		"/type":          "Opaque kustomization.yaml:8",
		"/metadata/name": "s kustomization.yaml:8", "/data/password": "aHVudGVyMg== kustomization.yaml:10",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("secret (-want +got):\n%s", diff)
	}
}

// A kustomization changes its own copy: two overlays of a base do not see each other.
func TestOverlays(t *testing.T) {
	files := map[string]string{"base/kustomization.yaml": "resources: [d.yaml]\n", "base/d.yaml": deployment}
	for _, name := range []string{"a", "b"} {
		files[name+"/kustomization.yaml"] = "resources: [../base]\npatches:\n- target: {kind: Deployment}\n  patch: " +
			"'[{op: add, path: /spec/" + name + ", value: 1}]'\n"
	}
	docs, problems := Documents(tree(files))
	if len(docs) != 2 || len(problems) > 0 {
		t.Fatalf("%d documents, problems %v", len(docs), problems)
	}
	for _, d := range docs {
		spec := d.Root["spec"].(map[string]any)
		if spec[d.Unit] == nil || spec["a"] != nil && spec["b"] != nil {
			t.Errorf("overlay %s has %v", d.Unit, slices.Sorted(maps.Keys(spec)))
		}
	}
}

func TestProblems(t *testing.T) {
	tests := []struct{ name, text, want string }{
		{"remote", "resources:\n- https://example.com/x.yaml\n", "is not fetched"},
		{"remote base", "resources:\n- github.com/a/b?ref=v1\n", "is not fetched"},
		{"outside", "resources:\n- ../../etc/passwd\n", "outside of the tree"},
		{"missing", "resources:\n- none.yaml\n", "none.yaml"},
		{"itself", "resources:\n- .\n", "circle"},
		{"plugin", "resources: []\ntransformers: [x]\n", "not followed"},
		{"no object", "patches:\n- patch: '{kind: Pod, metadata: {name: x}}'\n", "no object"},
		{"no target", "patches:\n- patch: '[{op: add, path: /a, value: 1}]'\n", "without a target"},
		{"no such chart", "helmCharts:\n- {name: web, repo: 'https://charts.example.com'}\n", "chart web: it is not " +
			"in the folder charts and is not fetched"},
		{"a chart elsewhere", "helmCharts:\n- {name: ../../../x}\n", "outside of the tree"},
		{"charts that cannot be read", "helmCharts:\n- name: [a]\n", "the charts cannot be read"},
		{"no source", "replacements:\n- targets: []\n", "no source"},
		{"no such source", "replacements:\n- source: {kind: Pod}\n", "no object that it takes"},
		{"no such part", "configMapGenerator: [{name: a, literals: [b=c]}]\nreplacements:\n- source: {kind: " +
			"ConfigMap, fieldPath: data.b, options: {delimiter: ., index: 3}}\n", "no part 3"},
		{"no such field", "configMapGenerator: [{name: a, literals: [b=c]}]\nreplacements:\n- sourceValue: x\n  " +
			"targets: [{select: {kind: ConfigMap}, fieldPaths: [data.z]}]\n", "no field \"data.z\""},
		{"no replacement file", "replacements:\n- path: none.yaml\n", "none.yaml"},
		{"no such variable", "vars:\n- {name: A, objref: {kind: Pod, name: x}}\n", "variable A: no object"},
		{"a variable of many values", "configMapGenerator: [{name: a}]\nvars:\n- {name: A, objref: {kind: ConfigMap, " +
			"name: a}, fieldref: {fieldpath: data}}\n", "no scalar"},
		{"bad YAML", "resources: [\n", "line 1"},
		{"nothing to merge into", "configMapGenerator: [{name: a, behavior: merge}]\n", "no object \"a\""},
		{"bad entry", "resources:\n- {a: b}\n", "no path"},
		{"empty patch", "patches:\n- {target: {kind: Pod}}\n", "neither path nor patch"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, problems := Documents(tree(map[string]string{"k/kustomization.yaml": tt.text}))
			if len(problems) != 1 || !strings.Contains(problems[0].Message, tt.want) ||
				problems[0].Path != "k/kustomization.yaml" {
				t.Errorf("problems %v, want one that says %q", problems, tt.want)
			}
		})
	}
}

// Each overlay uses the next one twice: 2^30 builds if nothing stopped them.
func TestManyBases(t *testing.T) {
	files := map[string]string{"k30/kustomization.yaml": "resources: [d.yaml]\n", "k30/d.yaml": deployment}
	for i := range 30 {
		files[fmt.Sprintf("k%02d/kustomization.yaml", i)] = fmt.Sprintf("resources: [../k%02d, ../k%02d]\n", i+1, i+1)
	}
	if _, problems := Documents(tree(files)); len(problems) == 0 {
		t.Error("no problem")
	}
}

func TestMergedGenerators(t *testing.T) {
	docs, problems := Documents(tree(map[string]string{
		"base/kustomization.yaml": "namePrefix: p-\nconfigMapGenerator:\n- {name: a, literals: [x=1, " +
			"y=2]}\nsecretGenerator:\n- {name: a, literals: [x=1, y=2]}\n",
		"k/kustomization.yaml": "resources: [../base]\nconfigMapGenerator:\n- name: a\n  behavior: merge\n  " +
			"literals: [y=3]\nsecretGenerator:\n- {name: a, behavior: replace, literals: [z=4]}\n",
	}))
	if len(problems) > 0 || len(docs) != 2 {
		t.Fatalf("%d documents, problems %v", len(docs), problems)
	}
	for i, want := range []map[string]string{
		{"/data/x": "1 base/kustomization.yaml:3", "/data/y": "3 k/kustomization.yaml:5",
			"/metadata/name": "p-a base/kustomization.yaml:1"},
		{"/data/x": "", "/data/z": "NA== k/kustomization.yaml:7"},
	} {
		got := map[string]string{}
		show(docs[i].Root, docs[i].Lines, docs[i].Path, "", got)
		for path, value := range want {
			if got[path] != value {
				t.Errorf("%s is %q, want %q", path, got[path], value)
			}
		}
	}
}

// A chart of the tree is rendered with the values that the kustomization gives it, and
// its objects are changed as all others.
func TestCharts(t *testing.T) {
	files := map[string]string{
		"over/kustomization.yaml": "resources: [../k]\nnamePrefix: b-\n",
		"k/kustomization.yaml": `namespace: prod
namePrefix: a-
helmGlobals: {chartHome: vendor}
helmCharts:
- name: web
  version: 1.2.3
  repo: https://charts.example.com
  releaseName: shop
  namespace: shop
  valuesFile: values.yaml
  additionalValuesFiles: [more.yaml]
  valuesInline:
    tag: "1.10"
    off: null
- {name: web, valuesMerge: merge, version: 1.2.3, valuesFile: values.yaml, valuesInline: {name: other, tag: x}}
patches:
- target: {kind: Deployment, name: shop-web}
  patch: '[{op: add, path: /spec/hostPID, value: true}]'
`,
		"k/values.yaml": "tag: 2\nnetwork: true\n", "k/more.yaml": "replicas: 3\n",
		"k/vendor/web-1.2.3/web/Chart.yaml":  "name: web\n",
		"k/vendor/web-1.2.3/web/values.yaml": "replicas: 1\nnetwork: false\nname: web\noff: {on: true}\n",
		"k/vendor/web-1.2.3/web/templates/d.yaml": "apiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: {{ " +
			".Release.Name }}-{{ .Values.name }}\n  namespace: {{ .Release.Namespace }}\nspec:\n  replicas: {{ " +
			".Values.replicas }}\n" +
			"  image: web:{{ .Values.tag }}\n  hostNetwork: {{ .Values.network }}\n  {{- if .Values.off }}\n  off: " +
			"1\n  {{- end }}\n",
	}
	docs, problems := Documents(tree(files))
	if len(problems) > 0 || len(docs) != 2 {
		t.Fatalf("%d documents, problems %v", len(docs), problems)
	}
	const template = " k/vendor/web-1.2.3/web/templates/d.yaml:"
	for i, want := range []map[string]string{
		{
			"/metadata/name":      "b-a-shop-web over/kustomization.yaml:2",
			"/metadata/namespace": "prod k/kustomization.yaml:1", "/spec/replicas": "3" + template + "7",
			"/spec/image": "web:1.10" + template + "8", "/spec/hostNetwork": "true" + template + "9", "/spec/off": "",
			"/spec/hostPID": "true k/kustomization.yaml:18",
		},
		{"/metadata/name": "b-a-release-name-other over/kustomization.yaml:2", "/spec/replicas": "1" + template + "7",
			"/spec/image": "web:2" + template + "8", "/spec/hostPID": ""},
	} {
		got := map[string]string{}
		show(docs[i].Root, docs[i].Lines, docs[i].Path, "", got)
		for path, value := range want {
			if got[path] != value {
				t.Errorf("%s is %q, want %q", path, got[path], value)
			}
		}
		if docs[i].Unit != "over" {
			t.Errorf("the unit is %q", docs[i].Unit)
		}
	}
}

// Each replacement puts the object into itself, and each text holds another twice.
func TestReplacementsGrow(t *testing.T) {
	var b strings.Builder
	b.WriteString("configMapGenerator: [{name: a, literals: [b=c-c]}]\nreplacements:\n")
	for range 60 {
		b.WriteString("- {source: {kind: ConfigMap, fieldPath: data.b}, targets: [{select: {kind: ConfigMap}, " +
			"fieldPaths: [data.b], options: {delimiter: '-'}}]}\n")
	}
	for range 60 {
		b.WriteString("- {source: {kind: ConfigMap, fieldPath: data}, targets: [{select: {kind: ConfigMap}, " +
			"fieldPaths: [data.x, data.y], options: {create: true}}]}\n")
	}
	_, problems := Documents(tree(map[string]string{"kustomization.yaml": b.String()}))
	for _, want := range []string{"values are put into it", "a text of more than"} {
		if !slices.ContainsFunc(problems, func(p Problem) bool { return strings.Contains(p.Message, want) }) {
			t.Errorf("no problem says %q", want)
		}
	}
}

// FuzzDocuments builds any kustomization with any patch: places fit the values.
func FuzzDocuments(f *testing.F) {
	f.Add("resources: [d.yaml]\npatchesStrategicMerge: [p.yaml]\nnamePrefix: x\n", "kind: Deployment\nmetadata: "+
		"{name: web}\nspec: {a: [{$patch: replace}]}\n")
	f.Add("resources: [d.yaml]\npatches: [{path: p.yaml, target: {kind: .*}}]\nimages: [{name: side, newTag: 1}]\n",
		"- {op: add, path: /spec/template/spec/containers/0/env/-, value: {a: b}}\n- {op: move, from: /spec, "+
			"path: /x}\n")
	f.Add("resources: [d.yaml, .]\ncommonLabels: {a: b}\nreplicas: [{name: web, count: 2}]\nconfigMapGenerator: "+
		"[{name: a, literals: [b=c]}]\n", "")
	f.Add("resources: [d.yaml]\nreplacements: [{path: p.yaml}]\nvars: [{name: A, objref: {kind: Deployment, name: "+
		"web}, fieldref: {fieldpath: 'spec.a[0].b'}}]\n", "source: {kind: Deployment, fieldPath: spec}\ntargets: "+
		"[{select: {}, fieldPaths: [spec.template.spec.containers.*.x, 'spec.[a=b].*'], options: {create: true, "+
		"delimiter: a}}]\n")
	f.Add("helmCharts: [{name: c, valuesInline: {a: b}, valuesFile: p.yaml}]\nhelmGlobals: {chartHome: .}\n", "a: 1\n")
	f.Fuzz(func(t *testing.T, text, patch string) {
		docs, _ := Documents(tree(map[string]string{
			"kustomization.yaml": text, "p.yaml": patch, "d.yaml": deployment, "c/Chart.yaml": "name: c\n",
			"c/templates/a.yaml": "kind: A\napiVersion: v1\na: {{ .Values.a }}\n",
		}))
		for _, d := range docs {
			if d.Lines == nil {
				t.Fatal("a document without places")
			}
			show(d.Root, d.Lines, d.Path, "", map[string]string{})
		}
	})
}
