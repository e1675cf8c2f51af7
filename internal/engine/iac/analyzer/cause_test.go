package analyzer

import (
	"testing"

	"merlon/internal/engine/iac/document"
	"merlon/internal/engine/iac/kics"
)

// causeOfText returns the cause of a flaw in an object.
func causeOfText(t *testing.T, platform document.Platform, text, actual string) string {
	t.Helper()
	trees, err := document.DecodeYAML([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return causeOf(kics.Flaw{Document: &document.Document{Platform: platform, Root: trees[0].Root}, Actual: actual})
}

// TestCause compares flaws of two objects: those of variants have one cause.
func TestCause(t *testing.T) {
	const web = "kind: Deployment\nmetadata: {name: web}\nspec: {replicas: 1, template: {spec: {containers: " +
		"[{name: a, " +
		"image: 'r.example/web:1'}]}}}"
	const binding = "kind: ClusterRoleBinding\nmetadata: {name: b}\nroleRef: {name: admin}\nsubjects: [{name: s, " +
		"namespace: one}]"
	for name, c := range map[string]struct {
		a, b string
		same bool
	}{
		"replicas, version and registry": {web, "kind: Deployment\nmetadata: {name: web, namespace: x}\nspec: " +
			"{replicas: 3, " +
			"template: {spec: {containers: [{name: a, image: 'mirror.example/web:2@sha256:00'}]}}}", true},
		"another image": {web, "kind: Deployment\nmetadata: {name: web}\nspec: {template: {spec: {containers: " +
			"[{name: a, " +
			"image: 'r.example/other:1'}]}}}", false},
		"another container": {web, "kind: Deployment\nmetadata: {name: web}\nspec: {template: {spec: {containers: " +
			"[{name: b, " +
			"image: 'r.example/web:1'}]}}}", false},
		"another name": {web, "kind: Deployment\nmetadata: {name: api}\nspec: {template: {spec: {containers: " +
			"[{name: a, " +
			"image: 'r.example/web:1'}]}}}", false},
		"another namespace of the subject": {binding, "kind: ClusterRoleBinding\nmetadata: {name: b, labels: {c: " +
			"d}}\nroleRef: " +
			"{name: admin}\nsubjects: [{name: s, namespace: two}]", true},
		"another role": {binding, "kind: ClusterRoleBinding\nmetadata: {name: b}\nroleRef: {name: view}\nsubjects: " +
			"[{name: s, " +
			"namespace: one}]", false},
	} {
		a, b := causeOfText(t, document.Kubernetes, c.a, "x"), causeOfText(t, document.Kubernetes, c.b, "x")
		if a == "" || (a == b) != c.same {
			t.Errorf("%s: %q and %q, want the same: %t", name, a, b, c.same)
		}
	}
	if a, b := causeOfText(t, document.Kubernetes, web, "x"), causeOfText(t, document.Kubernetes, web, "y"); a == b {
		t.Error("two flaws of one rule in an object have one cause")
	}
	if got := causeOfText(t, document.Compose, "services: {web: {image: a}}", "x"); got != "" {
		t.Errorf("a file of Compose has the cause %q", got)
	}
	if got := causeOfText(t, document.Kubernetes, "kind: Deployment\nmetadata: {generateName: web-}", "x"); got != "" {
		t.Errorf("an object without a name has the cause %q", got)
	}
}
