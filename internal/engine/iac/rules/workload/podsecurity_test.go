package workload

import (
	"slices"
	"strings"
	"testing"

	"merlon/internal/engine/iac/document"
	"merlon/internal/finding"
)

// confined is a security context that meets the restricted profile.
const confined = "{allowPrivilegeEscalation: false, runAsNonRoot: true, capabilities: {drop: [ALL]}, seccompProfile: " +
	"{type: RuntimeDefault}}"

// podFlaw returns the message and severity of the finding about the pod, or "".
func podFlaw(t *testing.T, text string) (string, finding.Severity) {
	t.Helper()
	trees, err := document.DecodeYAML([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	d := &document.Document{Platform: document.Kubernetes, Format: document.YAML, Path: "x", Root: trees[0].Root,
		Lines: trees[0].Lines, Text: []byte(text)}
	for _, f := range Run([]*document.Document{d}) {
		if strings.HasSuffix(f.Rule.ID, "pod-security-restricted") {
			return f.Actual, f.Severity
		}
	}
	return "", ""
}

// TestRestrictedProfile compares pods with the restricted profile: what is missing, for which
// container, and how severe it is.
func TestRestrictedProfile(t *testing.T) {
	tests := []struct {
		name, text string
		want       []string // parts of the message; none: no finding
		not        []string
		severity   finding.Severity
	}{
		{"nothing set", podHead + "  containers:\n  - name: app\n", []string{"runAsNonRoot is not true;",
			"allowPrivilegeEscalation is not false;", "capabilities.drop does not contain ALL;",
			"seccompProfile is not set.", "readOnlyRootFilesystem is not true", "resources.limits.memory"},
			[]string{"(app)", "runAsUser"}, finding.Medium},
		{"all set", podHead + "  containers:\n  - {name: app, securityContext: " + confined + "}\n", nil, nil, ""},
		{"set by the pod", podHead + "  securityContext: {runAsNonRoot: true, seccompProfile: {type: Localhost}}\n" +
			"  containers:\n  - name: app\n    securityContext: {allowPrivilegeEscalation: false, capabilities: " +
			"{drop: [all]}}\n",
			nil, nil, ""},
		{"one of two containers", podHead + "  containers:\n  - {name: app, securityContext: " + confined +
			"}\n  - name: proxy\n", []string{"runAsNonRoot is not true (proxy)"}, []string{"(app"}, finding.Medium},
		{"the container overrides the pod", podHead + "  securityContext: {runAsNonRoot: true, seccompProfile: " +
			"{type: RuntimeDefault}}\n  containers:\n  - name: app\n    securityContext: {runAsNonRoot: false, " +
			"allowPrivilegeEscalation: false, capabilities: {drop: [ALL]}}\n", []string{"runAsNonRoot is not true"},
			[]string{"capabilities.drop", "seccomp"}, finding.Low},
		{"root by number", podHead + "  containers:\n  - name: app\n    securityContext: {runAsUser: 0}\n",
			[]string{"runAsUser is 0"}, []string{"runAsNonRoot"}, finding.Medium},
		{"a user by number", podHead + "  containers:\n  - name: app\n    securityContext: {runAsUser: 1000}\n",
			[]string{"allowPrivilegeEscalation"}, []string{"runAs"}, finding.Low},
		{"only seccomp", podHead + "  containers:\n  - name: app\n    securityContext: {runAsNonRoot: true, " +
			"allowPrivilegeEscalation: false, capabilities: {drop: [ALL]}}\n", []string{"seccompProfile is not set"},
			[]string{"runAs", "capabilities"}, finding.Low},
		{"init container", podHead + "  initContainers: [{name: setup}]\n  containers: [{name: app, securityContext: " +
			confined + "}]\n", []string{"(setup)"}, nil, finding.Medium},
		{"privileged has its own rule", podHead + "  containers: [{name: app, securityContext: {privileged: true}}]\n",
			nil, nil, ""},
		{"Windows", podHead + "  os: {name: windows}\n  containers: [{name: app}]\n", nil, nil, ""},
		{"another controller", "kind: Rollout\nmetadata: {name: r}\nspec: {template: {spec: {containers: [{name: " +
			"app}]}}}\n", []string{"runAsNonRoot"}, nil, finding.Medium},
		{"no pods", "kind: Rollout\nmetadata: {name: r}\nspec: {template: {spec: {containers: 5}}}\n", nil, nil, ""},
		{"unknown value", podHead + "  containers: [{name: app, securityContext: {runAsNonRoot: '{{ x }}', " +
			"allowPrivilegeEscalation: '{{ x }}', seccompProfile: {type: '{{ x }}'}, capabilities: {drop: '{{ x " +
			"}}'}}}]\n",
			nil, nil, ""},
	}
	for _, c := range tests {
		got, severity := podFlaw(t, c.text)
		if (got == "") != (c.want == nil) || severity != c.severity {
			t.Errorf("%s: %q, %s, want %s", c.name, got, severity, c.severity)
		}
		for _, part := range c.want {
			if !strings.Contains(got, part) {
				t.Errorf("%s: %q, want %q", c.name, got, part)
			}
		}
		for _, part := range c.not {
			if strings.Contains(got, part) {
				t.Errorf("%s: %q, which has %q", c.name, got, part)
			}
		}
	}
}

// TestPatch writes the settings into manifests, and checks that these meet the profile then.
func TestPatch(t *testing.T) {
	for name, text := range map[string]string{
		"nothing set": podHead + "  containers:\n  - name: app\n    image: x\n  - image: y\n    name: proxy\n",
		"empty":       podHead + "  securityContext: {}\n  containers:\n    - name: app\n      securityContext: {}\n",
		"partly set": "kind: Deployment\nmetadata: {name: d}\nspec:\n  template:\n    spec:\n      securityContext:\n" +
			"        fsGroup: 5\n        runAsUser: 0\n      initContainers:\n      - name: setup\n        " +
			"securityContext:\n" +
			"          runAsUser: 0\n          allowPrivilegeEscalation: true\n      containers:\n      - name: app\n" +
			"        securityContext:\n          capabilities:\n            add: [NET_BIND_SERVICE]\n          " +
			"runAsNonRoot: false\n",
	} {
		p, d := podOf(t, text)
		changes := p.editsOf(d)
		if len(changes) == 0 {
			t.Errorf("%s: no edit", name)
			continue
		}
		lines := strings.Split(text, "\n")
		for _, c := range slices.Backward(changes) {
			lines = slices.Replace(lines, c.StartLine-1, c.EndLine, c.Lines...)
		}
		after := strings.Join(lines, "\n")
		if left, _ := podFlaw(t, after); left != "" {
			t.Errorf("%s: after the edit: %s\n%s", name, left, after)
		}
	}
}

// TestPatchRefusesOtherForms leaves manifests alone whose lines it cannot place.
func TestPatchRefusesOtherForms(t *testing.T) {
	for name, text := range map[string]string{
		"flow style":   podHead + "  containers: [{name: app}]\n",
		"flow context": podHead + "  containers:\n  - name: app\n    securityContext: {runAsGroup: 5}\n",
		"a drop list": podHead + "  containers:\n  - name: app\n    securityContext:\n      capabilities:\n        " +
			"drop:\n        - MKNOD\n",
	} {
		p, d := podOf(t, text)
		if got := p.editsOf(d); got != nil {
			t.Errorf("%s: %+v", name, got)
		}
		if p.fragment() == "" {
			t.Errorf("%s: no fragment to merge by hand", name)
		}
	}
	p, d := podOf(t, podHead+"  containers:\n  - name: app\n")
	d.Format = document.Helm
	if got := p.editsOf(d); got != nil {
		t.Errorf("a rendered template is edited: %+v", got)
	}
}

// TestFragment writes what is to be merged for the pod and for each container.
func TestFragment(t *testing.T) {
	p, _ := podOf(t, podHead+"  initContainers:\n  - {name: setup, securityContext: "+confined+
		"}\n  containers:\n  - name: app\n  - name: proxy\n    securityContext: {allowPrivilegeEscalation: false}\n")
	want := `securityContext:
  runAsNonRoot: true
  seccompProfile:
    type: RuntimeDefault
containers:
  - name: app
    securityContext:
      allowPrivilegeEscalation: false
      capabilities:
        drop: [ALL]
  - name: proxy
    securityContext:
      capabilities:
        drop: [ALL]
`
	if got := p.fragment(); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// podOf compares the pod of a text with the profile.
func podOf(t *testing.T, text string) (*podSecurity, *document.Document) {
	t.Helper()
	trees, err := document.DecodeYAML([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	d := &document.Document{Platform: document.Kubernetes, Format: document.YAML, Path: "x", Root: trees[0].Root,
		Lines: trees[0].Lines, Text: []byte(text)}
	pod, all := (&look{doc: d}).listContainers()
	p := &podSecurity{pod: pod, containers: all}
	p.compare()
	return p, d
}
