package bitbucket

import (
	"strings"
	"testing"

	"merlon/internal/engine/cicd/cicdtest"
)

func check(t *testing.T, cases ...cicdtest.Case) {
	t.Helper()
	cicdtest.CheckFiles(t, Analyzer, "bitbucket-pipelines.yml", cases)
}

// step is a step of the pipeline that runs on every push; its members begin in line 5.
func step(members ...string) string {
	return "pipelines:\n  default:\n    - step:\n        name: build\n        " + strings.Join(members, "\n        ") + "\n"
}

func TestScriptsAndPipes(t *testing.T) {
	check(t,
		cicdtest.Finds("evaluated", step("script: ['eval \"$BITBUCKET_BRANCH\"']"), "5 script-injection high high"),
		cicdtest.Finds("printed", step("script: ['echo \"$BITBUCKET_BRANCH\"']")),
		cicdtest.Finds("afterwards", step("after-script: ['eval \"$BITBUCKET_TAG\"']"), "5 script-injection high high"),
		cicdtest.Finds("pipe", step("script: [{pipe: 'atlassian/a:1'}]"), "5 unpinned-dependency - -"),
		cicdtest.Finds("pipe with a full version", step("script: [{pipe: 'atlassian/a:1.2.3'}]")),
		cicdtest.Finds("pipe by digest", step("script: [{pipe: 'docker://a/b@sha256:"+strings.Repeat("0a", 32)+"'}]")),
		cicdtest.Finds("pipe that prints", step("script:", "  - pipe: a/b:1.2.3", "    variables: {DEBUG: 'true'}"),
			"7 debug-mode low medium"),
		cicdtest.Finds("pipe with a secret", step("script:", "  - pipe: a/b:1.2.3",
			"    variables: {PASSWORD: tr0ub4dor&3xyz}"), "7 plaintext-secret - -"),
		cicdtest.Finds("pipe with a variable", step("script:", "  - pipe: a/b:1.2.3", "    variables: {PASSWORD: $PASSWORD}")),
	)
}

func TestImages(t *testing.T) {
	check(t,
		cicdtest.Finds("all steps", "image: alpine:latest\n", "1 unpinned-image - -"),
		cicdtest.Finds("step", step("image: alpine:latest"), "5 unpinned-image - -"),
		cicdtest.Finds("name", step("image: {name: alpine:latest}"), "5 unpinned-image - -"),
		cicdtest.Finds("password", "image:\n  name: a@sha256:"+strings.Repeat("0a", 32)+"\n  username: u\n"+
			"  password: tr0ub4dor&3xyz\n", "4 plaintext-secret - -"),
		cicdtest.Finds("service", "definitions:\n  services:\n    db:\n      image: mysql:latest\n"+
			"      variables: {MYSQL_ROOT_PASSWORD: tr0ub4dor&3xyz}\n", "4 unpinned-image - -", "5 plaintext-secret - -"),
	)
}

func TestWhereStepsStand(t *testing.T) {
	bad := "step: {image: alpine:latest}"
	check(t,
		cicdtest.Finds("branch", "pipelines:\n  branches:\n    main:\n      - "+bad+"\n", "4 unpinned-image - -"),
		cicdtest.Finds("parallel", "pipelines:\n  default:\n    - parallel:\n        - "+bad+"\n", "4 unpinned-image - -"),
		cicdtest.Finds("parallel steps", "pipelines:\n  default:\n    - parallel:\n        steps:\n          - "+bad+"\n",
			"5 unpinned-image - -"),
		cicdtest.Finds("stage", "pipelines:\n  custom:\n    a:\n      - stage:\n          steps:\n            - "+bad+"\n",
			"6 unpinned-image - -"),
		cicdtest.Finds("definition", "definitions:\n  steps:\n    - "+bad+"\n", "3 unpinned-image - -"),
		cicdtest.Finds("the same step twice", "definitions:\n  steps:\n    - step: &s {image: alpine:latest}\n"+
			"pipelines:\n  default:\n    - step: *s\n", "3 unpinned-image - -"),
		cicdtest.Finds("asked for", "pipelines:\n  custom:\n    a:\n      - variables:\n"+
			"          - {name: DB_PASSWORD, default: tr0ub4dor&3xyz}\n", "5 plaintext-secret - -"),
		cicdtest.Finds("no map", "- a\n"),
	)
}

func TestRunnersOfPullRequests(t *testing.T) {
	steps := "    '**':\n      - step:\n          runs-on: [self.hosted, linux]\n"
	check(t,
		cicdtest.Finds("pull request", "pipelines:\n  pull-requests:\n"+steps, "5 self-hosted-runner - -"),
		cicdtest.Finds("branch", "pipelines:\n  branches:\n"+steps),
		cicdtest.Finds("runner of others", "pipelines:\n  pull-requests:\n"+strings.Replace(steps, "self.hosted", "cloud", 1)),
	)
}
