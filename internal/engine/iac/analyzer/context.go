package analyzer

import (
	"path"
	"regexp"
	"strings"

	"merlon/internal/engine/iac/document"
	"merlon/internal/engine/iac/kics"
	"merlon/internal/finding"
	"merlon/internal/scan"
	"merlon/internal/severity"
)

// This file knows what makes a flaw weigh less at its place. The driver knows tests, examples and
// development set-ups by their paths.

// Points of the severity model for contexts of infrastructure.
const (
	// It runs, but not in production, or with rights that its purpose needs.
	lowered = severity.Lowered
	// The purpose of the object needs it.
	meant = severity.Harmless
	// Whether it is a flaw is unknown: for audits only.
	hidden = severity.Harmless + severity.Lowered
)

// buildImage matches names of Dockerfiles, and of last stages, whose images build or test software.
var buildImage = regexp.MustCompile(`(?i)(^|[._/-])(build|builder|ci|compile|coverage|dev|dev-?tools|devcontainer|lint|` +
	`pipeline|test|tests|tilt|toolchain|tooling|tools)([._/-]|$)`)

// termsOf returns what the context of the flaw changes.
func termsOf(f kics.Flaw) []finding.SeverityTerm {
	switch {
	case f.Document == nil:
	case f.Document.Platform == document.Dockerfile && isBuildImage(f) && buildsAsRoot[nameOf(f)]:
		return []finding.SeverityTerm{{Points: meant, Reason: "image for builds or tests"}}
	case f.Document.Platform == document.Dockerfile && isBuildImage(f):
		return []finding.SeverityTerm{{Points: lowered, Reason: "image for builds or tests"}}
	case f.Document.Platform == document.Kubernetes && f.Document.Root["kind"] == "DaemonSet" &&
		needsHost[nameOf(f)] != 0:

		return []finding.SeverityTerm{{Points: needsHost[nameOf(f)], Reason: "agent of the node (DaemonSet)"}}
	case nameOf(f) == "pod-security-restricted" && lacksOnlySeccomp(f.Fragment):
		return []finding.SeverityTerm{{Points: lowered, Reason: "only the seccomp profile is missing"}}
	case f.Document.Platform == document.Compose && nameOf(f) == "volume-has-sensitive-host-directory" &&
		isAnonymousVolume(f):
		return []finding.SeverityTerm{{Points: hidden, Reason: "volume without a source"}}
	case f.Document.Platform == document.Terraform && strings.HasPrefix(f.Key, "module[") &&
		missingWords.MatchString(f.Actual):
		return []finding.SeverityTerm{{Points: hidden, Reason: "default of a module outside of the tree"}}
	}
	return nil
}

// publishedModule is the term of flaws in Terraform modules that the tree only publishes: the
// arguments of whoever calls them decide, and the defaults are documented.
var publishedModule = finding.SeverityTerm{Points: meant, Reason: "published module, whose callers decide"}

// isModuleLibrary reports whether the tree publishes Terraform modules, in the structure that the
// registry asks for (https://developer.hashicorp.com/terraform/language/modules/develop/structure):
// a module at the root with variables and outputs, and examples that call it.
func isModuleLibrary(files []scan.File) bool {
	var variables, outputs, examples bool
	for _, f := range files {
		switch {
		case f.Path == "variables.tf":
			variables = true
		case f.Path == "outputs.tf":
			outputs = true
		case strings.HasPrefix(f.Path, "examples/") && isTerraform(f.Path):
			examples = true
		}
	}
	return variables && outputs && examples
}

// isTerraform reports whether the file is Terraform code.
func isTerraform(name string) bool {
	return strings.HasSuffix(name, ".tf") || strings.HasSuffix(name, ".tf.json")
}

// nameOf returns the last part of the rule's id.
func nameOf(f kics.Flaw) string { return path.Base(f.Rule.ID) }

// buildsAsRoot are rules about the user of an image. Builds install packages, and leave nothing running.
var buildsAsRoot = map[string]bool{"missing-user-instruction": true, "last-user-is-root": true}

// needsHost are rules about rights over the host, which an agent of the node has to have, with what
// that changes: drivers and log collectors mount folders and share namespaces, while a privileged
// container has all of the node.
var needsHost = map[string]int{
	"container-is-privileged": lowered, "shared-host-pid-namespace": meant, "shared-host-network-namespace": meant,
	"shared-host-ipc-namespace": meant, "workload-mounting-with-sensitive-os-directory": meant,
	"non-kube-system-pod-with-host-mount": meant, "containers-with-sys-admin-capabilities": lowered,
	"containers-with-added-capabilities": lowered,
}

// lacksOnlySeccomp reports whether the settings that a workload lacks are a seccomp profile alone.
func lacksOnlySeccomp(fragment string) bool {
	return strings.Contains(fragment, "seccompProfile") && !strings.Contains(fragment, "runAs") &&
		!strings.Contains(fragment, "allowPrivilegeEscalation") && !strings.Contains(fragment, "capabilities")
}

// isBuildImage reports whether the Dockerfile makes an image that builds or tests software: its name
// or folder says so, or the name of its last stage.
func isBuildImage(f kics.Flaw) bool {
	folder, base := path.Split(f.Path)
	if buildImage.MatchString(strings.TrimSuffix(strings.ToLower(base), "dockerfile")) ||
		buildImage.MatchString(folder) {
		return true
	}
	stages := lastStage.FindAllSubmatch(f.Document.Text, -1)
	return len(stages) > 0 && buildImage.Match(stages[len(stages)-1][1])
}

// lastStage finds the names of stages.
var lastStage = regexp.MustCompile(`(?im)^\s*FROM\s+(?:--\S+\s+)*\S+(?:[ \t]+AS[ \t]+(\S+))?`)
