package analyzer

import (
	"testing"

	"merlon/internal/engine/iac/document"
	"merlon/internal/engine/iac/kics"
	"merlon/internal/finding"
	"merlon/internal/scan"
)

// TestTerms lowers flaws of build images, agents of nodes and modules of a registry.
func TestTerms(t *testing.T) {
	image := func(name, text string) kics.Flaw {
		return kics.Flaw{Rule: &finding.Rule{ID: "iac/dockerfile/missing-user-instruction"}, Path: name,
			Document: &document.Document{Platform: document.Dockerfile, Path: name, Text: []byte(text)}}
	}
	object := func(rule, kind string) kics.Flaw {
		return kics.Flaw{Rule: &finding.Rule{ID: "iac/kubernetes/" + rule}, Document: &document.Document{
			Platform: document.Kubernetes, Root: map[string]any{"kind": kind}}}
	}
	workload := func(fragment string) kics.Flaw {
		f := object("pod-security-restricted", "Deployment")
		f.Fragment = fragment
		return f
	}
	flawed := func(rule string, f kics.Flaw) kics.Flaw {
		f.Rule = &finding.Rule{ID: "iac/" + rule}
		return f
	}
	module := func(key, actual string) kics.Flaw {
		return kics.Flaw{Rule: &finding.Rule{ID: "iac/terraform/x"}, Key: key, Actual: actual,
			Document: &document.Document{Platform: document.Terraform}}
	}
	for _, c := range []struct {
		name string
		flaw kics.Flaw
		want int
	}{
		{"an image", image("docker/Dockerfile", "FROM node AS build\nFROM node\n"), 0},
		{"a release stage", image("Dockerfile", "FROM node AS build\nFROM node AS release\n"), 0},
		{"a name for builds", image("docker/builder-go.dockerfile", "FROM go\n"), meant},
		{"a suffix for builds", image("Dockerfile.tilt", "FROM go\n"), meant},
		{"a folder for builds", image("scripts/tooling/Dockerfile", "FROM go\n"), meant},
		{"a folder above", image("test-infra/vagrant-docker/Dockerfile", "FROM debian\n"), meant},
		{"another flaw of a build image", flawed("dockerfile/remote-script-run", image("docker/builder.dockerfile", "FROM a\n")),
			lowered},
		{"a last stage for builds", image("Dockerfile", "FROM go AS base\nFROM base AS dev-tools\n"), meant},
		{"a word that begins like one", image("Dockerfile.citus", "FROM a AS testimony\n"), 0},
		{"an agent of the node", object("container-is-privileged", "DaemonSet"), lowered},
		{"a driver that mounts the host", object("non-kube-system-pod-with-host-mount", "DaemonSet"), meant},
		{"a server that mounts the host", object("non-kube-system-pod-with-host-mount", "Deployment"), 0},
		{"only seccomp", workload("seccompProfile:\n  type: RuntimeDefault\n"), lowered},
		{"seccomp and more", workload("runAsNonRoot: true\nseccompProfile:\n  type: RuntimeDefault\n"), 0},
		{"a privileged server", object("container-is-privileged", "Deployment"), 0},
		{"another flaw of an agent", object("secret-in-environment", "DaemonSet"), 0},
		{"a default of a module", module("module[b].versioning", "'versioning' is undefined or null"), hidden},
		{"a value given to a module", module("module[b].acl", "'acl' equals 'public-read'"), 0},
		{"a resource", module("aws_s3_bucket[b].versioning", "'versioning' is undefined or null"), 0},
	} {
		got := 0
		for _, term := range termsOf(c.flaw) {
			got += term.Points
		}
		if got != c.want {
			t.Errorf("%s: %d points, want %d", c.name, got, c.want)
		}
	}
}

// TestModuleLibrary tells trees that publish modules from those that deploy them.
func TestModuleLibrary(t *testing.T) {
	for name, c := range map[string]struct {
		files []string
		want  bool
	}{
		"a library":          {[]string{"examples/simple/main.tf", "main.tf", "outputs.tf", "variables.tf"}, true},
		"a deployment":       {[]string{"main.tf", "outputs.tf", "variables.tf"}, false},
		"examples only":      {[]string{"examples/simple/main.tf"}, false},
		"examples of others": {[]string{"examples/app.py", "main.tf", "outputs.tf", "variables.tf"}, false},
		"modules of a deployment": {[]string{"live/main.tf", "modules/a/outputs.tf", "modules/a/variables.tf"},
			false},
	} {
		var files []scan.File
		for _, path := range c.files {
			files = append(files, scan.File{Path: path})
		}
		if got := isModuleLibrary(files); got != c.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}
