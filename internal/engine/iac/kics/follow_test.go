package kics

import (
	"testing"

	"merlon/internal/engine/iac/document"
)

func TestFollow(t *testing.T) {
	trees, err := document.DecodeYAML([]byte(`kind: Pod
metadata:
  name: web
  annotations: {a.b/c: d}
spec:
  hostPID: true
  containers:
  - name: one
    image: x
  - name: two
    securityContext:
      privileged: true
      drop: [ALL, NET]
  volumes:
  - hostPath: {path: /}
`))
	if err != nil {
		t.Fatal(err)
	}
	d := &document.Document{Root: trees[0].Root, Lines: trees[0].Lines}
	for key, want := range map[string]int{
		"metadata.name={{web}}":              3,
		"metadata.name={{web}}.spec.hostPID": 6,
		"metadata.name={{web}}.spec.containers.name={{two}}.securityContext.privileged": 12,
		"metadata.name={{web}}.spec.containers.name={{two}}.securityContext.runAsUser":  11,
		"metadata.name={{web}}.spec.containers.name={{one}}.securityContext":            8,
		"spec.containers":                 7,
		"metadata.annotations.{{a.b/c}}":  4,
		"metadata.annotations[{{a.b/c}}]": 4,
		"spec.volumes.hostPath.path":      15,
		"nothing.at.all":                  0,
		"spec.nothing.hostPID":            6,
		"metadata.name={{other}}":         2,
	} {
		line := 0
		if n, _ := followKey(d, key); n != nil {
			line = n.Line
		}
		if line != want {
			t.Errorf("%s leads to line %d, want %d", key, line, want)
		}
	}
	if n, _ := followKey(&document.Document{}, "a"); n != nil {
		t.Error("a document without places leads somewhere")
	}
}
