package kustomize

import (
	"encoding/json"
	"strings"
	"testing"
)

// pod is a small object that the tables change.
const pod = `apiVersion: v1
kind: Pod
metadata: {name: web, labels: {app: web, tier: front}, annotations: {note: x}}
spec:
  hostNetwork: true
  nodeName: n1
  containers:
  - {name: main, image: "reg.example.com:5000/web:1", args: [a, b], ports: [{containerPort: 80}]}
  - {name: side, image: side}
  volumes: [{name: v, emptyDir: {}}]
`

// buildPod applies the text of a kustomization to the pod, with further files, and returns the object
// at the path in it as JSON; "" when nothing of it was changed.
func buildPod(t *testing.T, text string, files map[string]string, steps ...string) (string, []Problem) {
	t.Helper()
	all := map[string]string{"kustomization.yaml": "resources: [pod.yaml]\n" + text, "pod.yaml": pod}
	for name, content := range files {
		all[name] = content
	}
	docs, problems := Documents(tree(all))
	for _, d := range docs {
		if d.Root["kind"] != "Pod" {
			continue
		}
		v, _, err := findValue(d.Root, d.Lines, steps)
		if err != nil {
			return "none", problems
		}
		b, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		return string(b), problems
	}
	return "", problems
}

// TestStrategicMerge lays patches over an object as Kubernetes does.
func TestStrategicMerge(t *testing.T) {
	const head = "patches:\n- patch: |-\n    apiVersion: v1\n    kind: Pod\n    metadata: {name: web}\n    spec: "
	for _, c := range []struct{ name, spec, at, want string }{
		{"a field is replaced", "{nodeName: n2}", "spec/nodeName", `"n2"`},
		{"others stay", "{nodeName: n2}", "spec/hostNetwork", `true`},
		{"null removes", "{nodeName: null}", "spec/nodeName", "null"},
		{"a list with keys is merged", "{containers: [{name: side, image: new}]}", "spec/containers/1",
			`{"image":"new","name":"side"}`},
		{"the others of the list stay", "{containers: [{name: side, image: new}]}", "spec/containers/0/name", `"main"`},
		{"a new item is added", "{containers: [{name: more, image: x}]}", "spec/containers/2", `{"image":"x","name":"more"}`},
		{"an item is removed", "{containers: [{$patch: delete, name: main}]}", "spec/containers/0/name", `"side"`},
		{"what is not there is removed", "{containers: [{$patch: delete, name: none}]}", "spec/containers/1/name", `"side"`},
		{"a list is replaced", "{containers: [{$patch: replace}, {name: only}]}", "spec/containers", `[{"name":"only"}]`},
		{"a list without keys is replaced", "{containers: [{name: main, args: [c]}]}", "spec/containers/0/args", `["c"]`},
		{"ports are merged by their number", "{containers: [{name: main, ports: [{containerPort: 80, name: http}]}]}",
			"spec/containers/0/ports", `[{"containerPort":80,"name":"http"}]`},
		{"a map is replaced", "{volumes: [{name: v, $patch: replace, hostPath: {path: /}}]}", "spec/volumes/0/hostPath/path",
			`"/"`},
		{"a map in a map", "{securityContext: {runAsUser: 0}}", "spec/securityContext", `{"runAsUser":0}`},
	} {
		got, problems := buildPod(t, head+c.spec+"\n", nil, strings.Split(c.at, "/")...)
		if got != c.want || len(problems) > 0 {
			t.Errorf("%s: %s, want %s, problems %v", c.name, got, c.want, problems)
		}
	}
}

// TestJSONPatch applies each operation of RFC 6902.
func TestJSONPatch(t *testing.T) {
	for _, c := range []struct{ name, operations, at, want, problem string }{
		{"add a field", `{op: add, path: /spec/hostPID, value: true}`, "spec/hostPID", "true", ""},
		{"add over a field", `{op: add, path: /spec/nodeName, value: n2}`, "spec/nodeName", `"n2"`, ""},
		{"add an item", `{op: add, path: /spec/containers/0/args/1, value: x}`, "spec/containers/0/args", `["a","x","b"]`, ""},
		{"add behind the last item", `{op: add, path: /spec/containers/0/args/-, value: x}`, "spec/containers/0/args",
			`["a","b","x"]`, ""},
		{"replace", `{op: replace, path: /spec/containers/0/args/0, value: x}`, "spec/containers/0/args", `["x","b"]`, ""},
		{"remove a field", `{op: remove, path: /spec/nodeName}`, "spec/nodeName", "null", ""},
		{"remove an item", `{op: remove, path: /spec/containers/0}`, "spec/containers/0/name", `"side"`, ""},
		{"move", `{op: move, from: /spec/nodeName, path: /metadata/labels/node}`, "metadata/labels",
			`{"app":"web","node":"n1","tier":"front"}`, ""},
		{"copy", `{op: copy, from: /spec/containers/0/args, path: /spec/args}`, "spec/args", `["a","b"]`, ""},
		{"escaped names", `{op: add, path: /metadata/annotations/a~1b~0c, value: y}`, "metadata/annotations",
			`{"a/b~c":"y","note":"x"}`, ""},
		{"several operations", `{op: remove, path: /spec/containers/0}, {op: replace, path: /spec/containers/0/name, value: x}`,
			"spec/containers/0/name", `"x"`, ""},
		{"test that holds", `{op: test, path: /spec/nodeName, value: n1}, {op: add, path: /spec/x, value: 1}`, "spec/x",
			"1", ""},
		{"below what is not there", `{op: add, path: /spec/none/x, value: 1}`, "", "", `nothing at "none"`},
		{"an item that is not there", `{op: replace, path: /spec/containers/7/name, value: x}`, "", "", `no item "7"`},
		{"an item that is no number", `{op: remove, path: /spec/containers/x}`, "", "", `no item "x"`},
		{"below a text", `{op: add, path: /spec/nodeName/x, value: 1}`, "", "", `nothing at "x"`},
		{"no pointer", `{op: add, path: spec, value: 1}`, "", "", `"spec" names nothing`},
		{"no operation", `{op: grow, path: /spec/x, value: 1}`, "", "", `no operation "grow"`},
		{"move from nowhere", `{op: move, from: /spec/containers/9, path: /spec/x}`, "", "", `no item "9"`},
	} {
		got, problems := buildPod(t, "patches:\n- target: {kind: Pod}\n  patch: '["+c.operations+"]'\n", nil,
			strings.Split(c.at, "/")...)
		switch {
		case c.problem == "" && (got != c.want || len(problems) > 0):
			t.Errorf("%s: %s, want %s, problems %v", c.name, got, c.want, problems)
		case c.problem != "" && (len(problems) != 1 || !strings.Contains(problems[0].Message, c.problem)):
			t.Errorf("%s: problems %v, want one that says %q", c.name, problems, c.problem)
		}
	}
}

// TestTargets selects the objects that a patch is for.
func TestTargets(t *testing.T) {
	for target, want := range map[string]bool{
		"{kind: Pod}": true, "{kind: pod}": false, "{kind: P.d}": true, "{kind: Po}": false, "{kind: Pod|Job}": true,
		"{name: web}": true, "{name: w.*}": true, "{name: eb}": false, "{kind: Pod, name: other}": false,
		"{version: v1}": true, "{version: v2}": false, "{group: apps}": false,
		"{namespace: x}": false, "{labelSelector: app=web}": true, "{labelSelector: 'app=web,tier=back'}": false,
		"{labelSelector: tier!=back}": true, "{labelSelector: app}": true, "{labelSelector: none}": false,
		"{labelSelector: none!=x}": true, "{labelSelector: 'app == web'}": true,
		"{annotationSelector: note=x}": true, "{annotationSelector: note=y}": false, "{kind: '['}": false,
	} {
		got, problems := buildPod(t, "patches:\n- target: "+target+"\n  patch: '[{op: add, path: /spec/x, value: 1}]'\n",
			nil, "spec", "x")
		if (got == "1") != want || (len(problems) == 0) != want {
			t.Errorf("%s: %q, problems %v", target, got, problems)
		}
	}
}

// TestPatchFiles reads patches from files of either form, one or several in a file.
func TestPatchFiles(t *testing.T) {
	const merge = "apiVersion: v1\nkind: Pod\nmetadata: {name: web}\nspec: "
	for _, c := range []struct{ name, text, file, content, want string }{
		{"merge in YAML", "patches: [{path: p.yaml}]\n", "p.yaml", merge + "{x: 1}\n", "1"},
		{"merge in JSON", "patches: [{path: p.json}]\n", "p.json",
			`{"kind":"Pod","metadata":{"name":"web"},"apiVersion":"v1","spec":{"x":2}}`, "2"},
		{"two in a file", "patches: [{path: p.yaml}]\n", "p.yaml", merge + "{x: 1}\n---\n" + merge + "{x: 3}\n", "3"},
		{"operations in YAML", "patches: [{path: p.yaml, target: {kind: Pod}}]\n", "p.yaml",
			"- op: add\n  path: /spec/x\n  value: 4\n", "4"},
		{"operations in JSON", "patchesJson6902: [{path: p.json, target: {kind: Pod, name: web}}]\n", "p.json",
			`[{"op":"add","path":"/spec/x","value":5}]`, "5"},
		{"a list of files", "patchesStrategicMerge: [p.yaml]\n", "p.yaml", merge + "{x: 6}\n", "6"},
		{"the later one", "patchesStrategicMerge: [p.yaml]\npatches: [{path: p.yaml, target: {kind: Pod}}]\n", "p.yaml",
			merge + "{x: 7}\n", "7"},
	} {
		got, problems := buildPod(t, c.text, map[string]string{c.file: c.content}, "spec", "x")
		if got != c.want || len(problems) > 0 {
			t.Errorf("%s: %s, want %s, problems %v", c.name, got, c.want, problems)
		}
	}
}

// TestImages changes names, tags and digests of images.
func TestImages(t *testing.T) {
	for _, c := range []struct{ image, change, want string }{
		{"web", `{"name":"web","newTag":"2"}`, "web:2"},
		{"web:1", `{"name":"web","newTag":"2"}`, "web:2"},
		{"web:1@sha256:aa", `{"name":"web","newTag":"2"}`, "web:2"},
		{"web:1", `{"name":"web","newName":"other"}`, "other:1"},
		{"web@sha256:aa", `{"name":"web","newName":"other"}`, "other@sha256:aa"},
		{"web:1", `{"name":"web","digest":"sha256:bb"}`, "web@sha256:bb"},
		{"web:1", `{"name":"web","newName":"r:5000/o","newTag":"2"}`, "r:5000/o:2"},
		{"r:5000/web", `{"name":"r:5000/web","newTag":"2"}`, "r:5000/web:2"},
		{"r:5000/web:1", `{"name":"web","newTag":"2"}`, "r:5000/web:1"},
		{"webs:1", `{"name":"web","newTag":"2"}`, "webs:1"},
		{"web:1", `{"name":"web","newTag":""}`, "web:1"},
		{"web:1", `{"name":"web","newTag":3}`, "web:3"},
	} {
		var change map[string]any
		if err := json.Unmarshal([]byte(c.change), &change); err != nil {
			t.Fatal(err)
		}
		if got := newImage(c.image, change); got != c.want {
			t.Errorf("%s with %s: %s, want %s", c.image, c.change, got, c.want)
		}
	}
}

// TestFields sets the fields that change all objects.
func TestFields(t *testing.T) {
	for _, c := range []struct{ name, text, at, want string }{
		{"labels", "commonLabels: {team: a}\n", "metadata/labels/team", `"a"`},
		{"a label over another", "commonLabels: {app: b}\n", "metadata/labels/app", `"b"`},
		{"annotations", "commonAnnotations: {by: a}\n", "metadata/annotations", `{"by":"a","note":"x"}`},
		{"a namespace", "namespace: prod\n", "metadata/namespace", `"prod"`},
		{"a prefix", "namePrefix: p-\n", "metadata/name", `"p-web"`},
		{"a suffix", "nameSuffix: -s\n", "metadata/name", `"web-s"`},
		{"the list of labels", "labels: [{pairs: {a: b}, includeSelectors: true}]\n", "metadata/labels/a", `"b"`},
	} {
		// What only changes such fields is not another object: a patch makes it one.
		text := c.text + "patches:\n- target: {kind: Pod}\n  patch: '[{op: add, path: /spec/x, value: 1}]'\n"
		got, problems := buildPod(t, text, nil, strings.Split(c.at, "/")...)
		if got != c.want || len(problems) > 0 {
			t.Errorf("%s: %s, want %s, problems %v", c.name, got, c.want, problems)
		}
	}
	if got, _ := buildPod(t, "commonLabels: {team: a}\n", nil); got != "" {
		t.Errorf("an object that only has another label is told: %s", got)
	}
}

// TestRenamedReferences renames what refers to a renamed object, and no other text of that name.
func TestRenamedReferences(t *testing.T) {
	docs, problems := Documents(tree(map[string]string{
		"kustomization.yaml": "resources: [all.yaml]\nnamePrefix: p-\nimages: [{name: i, newTag: '2'}]\n",
		"all.yaml": `apiVersion: v1
kind: Secret
metadata: {name: s}
---
apiVersion: v1
kind: Namespace
metadata: {name: ns}
---
apiVersion: v1
kind: Pod
metadata: {name: web}
spec:
  containers:
  - name: s
    image: i
    env: [{name: s, valueFrom: {secretKeyRef: {name: s, key: s}}}]
    envFrom: [{secretRef: {name: s}}, {configMapRef: {name: other}}]
  volumes: [{name: s, secret: {secretName: s}}]
  imagePullSecrets: [{name: s}]
`,
	}))
	if len(docs) != 1 || len(problems) > 0 {
		t.Fatalf("%d documents, problems %v", len(docs), problems)
	}
	b, err := json.Marshal(docs[0].Root["spec"])
	if err != nil {
		t.Fatal(err)
	}
	const want = `{"containers":[{"env":[{"name":"s","valueFrom":{"secretKeyRef":{"key":"s","name":"p-s"}}}],` +
		`"envFrom":[{"secretRef":{"name":"p-s"}},{"configMapRef":{"name":"other"}}],"image":"i:2","name":"s"}],` +
		`"imagePullSecrets":[{"name":"p-s"}],"volumes":[{"name":"s","secret":{"secretName":"p-s"}}]}`
	if string(b) != want {
		t.Errorf("got  %s\nwant %s", b, want)
	}
}

// TestPatterns compares names with the patterns of selectors.
func TestPatterns(t *testing.T) {
	for _, c := range []struct {
		pattern, text string
		want          bool
	}{
		{"", "x", true}, {"x", "x", true}, {"x", "xy", false}, {"x.*", "xy", true}, {"x|y", "y", true},
		{"^x$", "x", true}, {"(", "(", true}, {"(", "x", false}, {"x", "", false}, {".*", "", true},
		{strings.Repeat("x?", 600), "x", false},
	} {
		if got := matchesPattern(c.pattern, c.text); got != c.want {
			t.Errorf("%.20q and %q: %t", c.pattern, c.text, got)
		}
	}
}
