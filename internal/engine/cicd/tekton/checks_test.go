package tekton

import (
	"strings"
	"testing"

	"merlon/internal/engine/cicd/cicdtest"
)

func check(t *testing.T, cases ...cicdtest.Case) {
	t.Helper()
	cicdtest.CheckFiles(t, Analyzer, "task.yaml", cases)
}

// resource is a resource with a spec that begins in line 5.
func resource(kind, spec string) string {
	return "apiVersion: tekton.dev/v1\nkind: " + kind + "\nmetadata: {name: n}\nspec:\n" + spec
}

var digest = "@sha256:" + strings.Repeat("0a", 32)

func TestScriptsOfParameters(t *testing.T) {
	step := func(text string) string {
		return resource("Task", "  params: [{name: p}, {name: choice, enum: [a, b]}]\n  steps:\n    - image: alpine"+digest+"\n"+
			"      "+text+"\n")
	}
	check(t,
		cicdtest.Finds("parameter", step("script: echo $(params.p)"), "8 script-injection - -"),
		cicdtest.Finds("old form", step("script: echo $(inputs.params.p)"), "8 script-injection - -"),
		cicdtest.Finds("by index", step("script: echo $(params[\"p\"])"), "8 script-injection - -"),
		cicdtest.Finds("list", step("script: echo $(params.p[*])"), "8 script-injection - -"),
		cicdtest.Finds("one of a list", step("script: echo $(params.choice)")),
		cicdtest.Finds("result", step("script: echo $(tasks.a.results.b)"), "8 script-injection medium low"),
		cicdtest.Finds("variable", step("script: echo \"$P\"")),
		cicdtest.Finds("arguments of a shell", step("command: [sh, -c, echo $(params.p)]"), "8 script-injection - -"),
		cicdtest.Finds("arguments of a tool", step("args: [$(params.p)]")),
	)
}

func TestShells(t *testing.T) {
	step := func(text string) string {
		return resource("Task", "  steps:\n    - "+text+"\n")
	}
	for text, found := range map[string]bool{
		"{command: [sh, -c, x $(params.p)]}":              true,
		"{command: [sh, -ec], args: [x $(params.p)]}":     true,
		"{command: [/bin/bash], args: [-c, $(params.p)]}": true,
		"{command: [sh], args: [$(params.p)]}":            false,
		"{command: [tool, -x], args: [$(params.p)]}":      false,
		"{command: [-c], args: [$(params.p)]}":            false,
	} {
		c := cicdtest.Finds(text, step(text))
		if found {
			c.Want = []string{"6 script-injection - -"}
		}
		check(t, c)
	}
}

func TestReferencesThatCanChange(t *testing.T) {
	run := func(reference string) string { return resource("TaskRun", "  taskRef:\n    "+reference+"\n") }
	resolver := func(name, param, value string) string {
		return run("{resolver: " + name + ", params: [{name: " + param + ", value: " + value + "}]}")
	}
	check(t,
		cicdtest.Finds("bundle", run("bundle: a.example/b:1"), "6 unpinned-dependency - -"),
		cicdtest.Finds("bundle by digest", run("bundle: a.example/b"+digest)),
		cicdtest.Finds("bundle of a resolver", resolver("bundles", "bundle", "a.example/b:1"), "6 unpinned-dependency - -"),
		cicdtest.Finds("branch", resolver("git", "revision", "main"), "6 unpinned-dependency - -"),
		cicdtest.Finds("commit", resolver("git", "revision", strings.Repeat("0a", 20))),
		cicdtest.Finds("revision of a parameter", resolver("git", "revision", "$(params.r)")),
		cicdtest.Finds("another parameter", resolver("git", "url", "https://a.example/b")),
		cicdtest.Finds("address", resolver("http", "url", "https://a.example/b.yaml"), "6 unpinned-dependency - -"),
		cicdtest.Finds("pipeline", resource("PipelineRun", "  pipelineRef:\n    bundle: a.example/b:1\n"),
			"6 unpinned-dependency - -"),
		cicdtest.Finds("task of a pipeline", resource("Pipeline", "  finally:\n    - taskRef:\n        bundle: a.example/b:1\n"),
			"7 unpinned-dependency - -"),
	)
}

func TestContainersOfTasks(t *testing.T) {
	check(t,
		cicdtest.Finds("image", resource("Task", "  steps: [{image: alpine:latest}]\n"), "5 unpinned-image - -"),
		cicdtest.Finds("sidecar", resource("ClusterTask", "  sidecars: [{image: alpine:latest}]\n"), "5 unpinned-image - -"),
		cicdtest.Finds("step action", resource("StepAction", "  image: alpine:latest\n"), "5 unpinned-image - -"),
		cicdtest.Finds("rights", resource("Task", "  stepTemplate:\n    securityContext: {privileged: true}\n"),
			"6 privileged-container - -"),
		cicdtest.Finds("no rights", resource("Task", "  stepTemplate:\n    securityContext: {privileged: false}\n")),
		cicdtest.Finds("folder of the host", resource("Task", "  volumes:\n    - hostPath: {path: /var/run}\n"),
			"6 privileged-container - -"),
		cicdtest.Finds("secret of a step", resource("Task", "  steps:\n    - env: [{name: DB_PASSWORD, value: tr0ub4dor&3xyz}]\n"),
			"6 plaintext-secret - -"),
		cicdtest.Finds("secret of a run",
			resource("PipelineRun", "  params: [{name: db-password, value: tr0ub4dor&3xyz}]\n"), "5 plaintext-secret - -"),
		cicdtest.Finds("secret of a task", resource("Pipeline", "  tasks:\n    - params: [{name: db-password, value: tr0ub4dor&3xyz}]\n"),
			"6 plaintext-secret - -"),
		cicdtest.Finds("task in a pipeline", resource("PipelineRun",
			"  pipelineSpec:\n    tasks:\n      - taskSpec:\n          steps: [{image: alpine:latest}]\n"), "8 unpinned-image - -"),
	)
}

func TestFilesOfOthersAreLeftAlone(t *testing.T) {
	check(t,
		cicdtest.Finds("another interface", "apiVersion: v1\nkind: Task\nspec: {steps: [{image: alpine:latest}]}\n"),
		cicdtest.Finds("only named", "# see tekton.dev/docs\na: [\n"),
		cicdtest.Finds("template of Helm", resource("Task", "  steps: [{image: alpine:latest}]\n{{- end }}\n")),
		cicdtest.Finds("another kind", resource("EventListener", "  steps: [{image: alpine:latest}]\n")),
		cicdtest.Finds("second document", "a: b\n---\n"+resource("Task", "  steps: [{image: alpine:latest}]\n"),
			"7 unpinned-image - -"),
	)
}
