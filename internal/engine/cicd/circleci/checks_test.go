package circleci

import (
	"testing"

	"merlon/internal/engine/cicd/cicdtest"
)

func check(t *testing.T, cases ...cicdtest.Case) {
	t.Helper()
	cicdtest.CheckFiles(t, Analyzer, ".circleci/config.yml", cases)
}

func TestOrbs(t *testing.T) {
	check(t,
		cicdtest.Finds("full version", "orbs: {a: b/c@1.2.3}\n"),
		cicdtest.Finds("part of a version", "orbs: {a: b/c@1.2}\n", "1 unpinned-dependency low medium"),
		cicdtest.Finds("newest", "orbs: {a: b/c@volatile}\n", "1 unpinned-dependency high high"),
		cicdtest.Finds("no version", "orbs: {a: b/c}\n", "1 unpinned-dependency high high"),
		cicdtest.Finds("in development", "orbs: {a: \"b/c@dev:x\"}\n", "1 unpinned-dependency high high"),
		cicdtest.Finds("parameter", "orbs: {a: \"b/c@<< pipeline.parameters.v >>\"}\n"),
		cicdtest.Finds("in the file", "orbs:\n  own:\n    jobs:\n      a:\n        docker: [{image: alpine:latest}]\n",
			"5 unpinned-image - -"),
		cicdtest.Finds("in each other", "orbs:\n  a: {orbs: {b: {orbs: {c: {orbs: {d: {orbs: {e: f/g}}}}}}}}\n",
			"2 unpinned-dependency high high"),
		cicdtest.Finds("too deep", "orbs:\n  a: {orbs: {b: {orbs: {c: {orbs: {d: {orbs: {e: {orbs: {f: g/h}}}}}}}}}}\n"),
	)
}

func TestScriptsOfWhatOthersChoose(t *testing.T) {
	step := func(text string) string { return "jobs:\n  a:\n    steps:\n      - run: " + text + "\n" }
	check(t,
		cicdtest.Finds("branch", step("echo << pipeline.git.branch >>"), "4 script-injection high high"),
		cicdtest.Finds("event", step("echo <<pipeline.event.name>>"), "4 script-injection high high"),
		cicdtest.Finds("number", step("echo << pipeline.number >>")),
		cicdtest.Finds("parameter of the pipeline", step("echo << pipeline.parameters.p >>"),
			"4 script-injection medium medium"),
		cicdtest.Finds("parameter of a type", "parameters: {p: {type: boolean}}\n"+step("echo << pipeline.parameters.p >>")),
		cicdtest.Finds("variable evaluated", step("eval \"$CIRCLE_BRANCH\""), "4 script-injection high high"),
		cicdtest.Finds("variable", step("echo \"$CIRCLE_BRANCH\"")),
		cicdtest.Finds("command in a map", "jobs:\n  a:\n    steps:\n      - run:\n          command: echo << pipeline.git.tag >>\n",
			"5 script-injection high high"),
		cicdtest.Finds("step under a condition", "jobs:\n  a:\n    steps:\n      - when:\n          steps:\n"+
			"            - run: echo << pipeline.git.tag >>\n", "6 script-injection high high"),
		cicdtest.Finds("before the others", "jobs:\n  a:\n    pre-steps: [{run: echo << pipeline.git.tag >>}]\n",
			"3 script-injection high high"),
		cicdtest.Finds("default of a parameter", "commands:\n  c:\n    parameters:\n      p:\n        type: steps\n"+
			"        default: [{run: echo << pipeline.git.tag >>}]\n", "6 script-injection high high"),
	)
}

func TestParametersOfCommands(t *testing.T) {
	command := "commands:\n  say:\n    parameters: {text: {type: string}}\n    steps:\n" +
		"      - run: echo << parameters.text >>\n"
	check(t,
		cicdtest.Finds("nobody passes it", command, "5 script-injection low low"),
		cicdtest.Finds("a fixed text is passed", command+"jobs:\n  a:\n    steps:\n      - say: {text: hello}\n",
			"5 script-injection low low"),
		cicdtest.Finds("a branch is passed", command+"jobs:\n  a:\n    steps:\n      - say: {text: << pipeline.git.branch >>}\n",
			"5 script-injection high high"),
		cicdtest.Finds("a choice", "commands:\n  say:\n    parameters: {text: {type: enum, enum: [a]}}\n    steps:\n"+
			"      - run: echo << parameters.text >>\n"),
	)
}

func TestImagesAndEnvironments(t *testing.T) {
	check(t,
		cicdtest.Finds("image", "executors:\n  e:\n    docker: [{image: alpine:latest}]\n", "3 unpinned-image - -"),
		cicdtest.Finds("password of a registry",
			"jobs:\n  a:\n    docker:\n      - auth: {username: a, password: tr0ub4dor&3xyz}\n", "4 plaintext-secret - -"),
		cicdtest.Finds("variable of the registry",
			"jobs:\n  a:\n    docker:\n      - auth: {username: a, password: $REGISTRY_PASSWORD}\n"),
		cicdtest.Finds("map", "jobs:\n  a:\n    environment: {DB_PASSWORD: tr0ub4dor&3xyz}\n", "3 plaintext-secret - -"),
		cicdtest.Finds("list", "jobs:\n  a:\n    environment:\n      - DB_PASSWORD: tr0ub4dor&3xyz\n",
			"4 plaintext-secret - -"),
		cicdtest.Finds("step", "jobs:\n  a:\n    steps:\n      - run:\n          command: make\n"+
			"          environment: {DB_PASSWORD: tr0ub4dor&3xyz}\n", "6 plaintext-secret - -"),
	)
}

func TestContextsOfJobs(t *testing.T) {
	workflow := func(jobs string) string { return "workflows:\n  w:\n    jobs:\n" + jobs }
	check(t,
		cicdtest.Finds("open", workflow("      - a: {context: c}\n"), "4 context-in-open-job - -"),
		cicdtest.Finds("filter", workflow("      - a: {context: c, filters: {branches: {only: main}}}\n")),
		cicdtest.Finds("approval", workflow("      - hold: {type: approval}\n      - a: {context: c, requires: [hold]}\n")),
		cicdtest.Finds("behind another job", workflow("      - b\n      - a: {context: c, requires: [b]}\n"),
			"5 context-in-open-job - -"),
		cicdtest.Finds("no context", workflow("      - a: {requires: [b]}\n")),
	)
}

func TestPathsOfConfigurations(t *testing.T) {
	for name, want := range map[string]bool{".circleci/config.yml": true, "app/.circleci/more.yaml": true,
		"x.circleci/config.yml": false, ".circleci/a/config.yml": false, ".circleci/readme.md": false} {
		if got := isConfigPath(name); got != want {
			t.Errorf("%s: %t", name, got)
		}
	}
}
