package gitlab

import (
	"slices"
	"strings"
	"testing"

	"merlon/internal/engine/cicd/cicdtest"
)

func check(t *testing.T, cases ...cicdtest.Case) {
	t.Helper()
	cicdtest.CheckFiles(t, Analyzer, ".gitlab-ci.yml", cases)
}

func TestIncludes(t *testing.T) {
	sha := strings.Repeat("0a", 20)
	check(t,
		cicdtest.Finds("remote", "include:\n  - remote: https://a.example/ci.yml\n", "2 unpinned-dependency high high"),
		cicdtest.Finds("address", "include: https://a.example/ci.yml\n", "1 unpinned-dependency high high"),
		cicdtest.Finds("remote with its digest", "include:\n  - remote: https://a.example/ci.yml\n    integrity: sha256-x\n"),
		cicdtest.Finds("project", "include:\n  - project: a/b\n    file: x.yml\n", "2 unpinned-dependency - -"),
		cicdtest.Finds("project at a branch", "include:\n  - project: a/b\n    ref: main\n",
			"3 unpinned-dependency low medium"),
		cicdtest.Finds("project at a commit", "include:\n  - project: a/b\n    ref: "+sha+"\n"),
		cicdtest.Finds("component", "include:\n  - component: a.example/b/c@~latest\n", "2 unpinned-dependency - -"),
		cicdtest.Finds("component at a version", "include:\n  - component: a.example/b/c@1.2.3\n"),
		cicdtest.Finds("component at a commit", "include:\n  - component: a.example/b/c@"+sha+"\n"),
		cicdtest.Finds("file", "include: /ci/a.yml\n"),
	)
}

func TestVariables(t *testing.T) {
	check(t,
		cicdtest.Finds("trace", "variables: {CI_DEBUG_TRACE: \"true\"}\n", "1 debug-mode - -"),
		cicdtest.Finds("trace off", "variables: {CI_DEBUG_TRACE: \"false\"}\n"),
		cicdtest.Finds("services", "job:\n  variables: {CI_DEBUG_SERVICES: 1}\n", "2 debug-mode - -"),
		cicdtest.Finds("Git", "variables: {GIT_SSL_NO_VERIFY: \"1\"}\n", "1 no-verification - -"),
		cicdtest.Finds("Node.js", "variables: {NODE_TLS_REJECT_UNAUTHORIZED: 0}\n", "1 no-verification - -"),
		cicdtest.Finds("Node.js checks", "variables: {NODE_TLS_REJECT_UNAUTHORIZED: 1}\n"),
		cicdtest.Finds("Docker", "variables:\n  DOCKER_TLS_CERTDIR: \"\"\n", "2 privileged-container low medium"),
		cicdtest.Finds("member value", "variables:\n  CI_DEBUG_TRACE:\n    value: \"true\"\n    description: x\n",
			"2 debug-mode - -"),
		cicdtest.Finds("secret", "variables:\n  DB_PASSWORD: tr0ub4dor&3xyz\n", "2 plaintext-secret - -"),
	)
}

func TestImagesAndServices(t *testing.T) {
	digest := "@sha256:" + strings.Repeat("0a", 32)
	check(t,
		cicdtest.Finds("newest", "job:\n  image: alpine:latest\n", "2 unpinned-image - -"),
		cicdtest.Finds("digest", "job:\n  image: alpine"+digest+"\n"),
		cicdtest.Finds("name", "job:\n  image:\n    name: alpine:latest\n", "3 unpinned-image - -"),
		cicdtest.Finds("default", "default:\n  image: alpine:latest\n", "2 unpinned-image - -"),
		cicdtest.Finds("variable of the file", "variables: {TAG: latest}\njob:\n  image: alpine:$TAG\n",
			"3 unpinned-image - -"),
		cicdtest.Finds("variable of the job", "job:\n  variables: {TAG: latest}\n  image: alpine:${TAG}\n",
			"3 unpinned-image - -"),
		cicdtest.Finds("Docker in Docker", "job:\n  services: [docker"+digest+"-dind]\n",
			"2 privileged-container low medium"),
		cicdtest.Finds("Docker without root", "job:\n  services: [docker:dind-rootless"+digest+"]\n"),
		cicdtest.Finds("service by name", "job:\n  services:\n    - name: docker:dind"+digest+"\n      alias: d\n",
			"3 privileged-container low medium"),
	)
}

func TestScriptsOfWhatOthersChoose(t *testing.T) {
	check(t,
		cicdtest.Finds("evaluated", "job:\n  script: eval \"$CI_COMMIT_MESSAGE\"\n", "2 script-injection high high"),
		cicdtest.Finds("evaluated from a list", "job:\n  script:\n    - make\n    - sh -c \"x $CI_MERGE_REQUEST_TITLE\"\n",
			"4 script-injection high high"),
		cicdtest.Finds("through a variable",
			"variables: {A: $B, B: $CI_COMMIT_TITLE}\njob:\n  script: eval \"$A\"\n", "3 script-injection high high"),
		cicdtest.Finds("set anew", "variables: {A: $CI_COMMIT_TITLE}\njob:\n  variables: {A: fixed}\n  script: eval \"$A\"\n"),
		cicdtest.Finds("unquoted", "job:\n  script: tool $CI_COMMIT_MESSAGE\n", "2 script-injection low low"),
		cicdtest.Finds("quoted", "job:\n  script: tool \"$CI_COMMIT_MESSAGE\"\n"),
		cicdtest.Finds("unquoted name of a branch", "job:\n  script: tool $CI_COMMIT_BRANCH\n"),
		cicdtest.Finds("printed", "job:\n  script: echo $CI_COMMIT_MESSAGE\n"),
		cicdtest.Finds("compared", "job:\n  script: '[[ $CI_COMMIT_MESSAGE = x ]] && make'\n"),
		cicdtest.Finds("input", "job:\n  before_script: make $[[ inputs.target ]]\n", "2 script-injection low low"),
		cicdtest.Finds("old token", "job:\n  after_script: curl -H \"$CI_JOB_JWT\" https://a.example\n",
			"2 old-job-token - -"),
		cicdtest.Finds("default", "default:\n  before_script: [eval \"$CI_COMMIT_MESSAGE\"]\n", "2 script-injection high high"),
	)
}

func TestConditionsThatOthersDecide(t *testing.T) {
	condition := "  rules:\n    - if: $CI_COMMIT_MESSAGE =~ /deploy/\n"
	check(t,
		cicdtest.Finds("environment", "job:\n  environment: live\n  script: make\n"+condition, "5 untrusted-condition - -"),
		cicdtest.Finds("secrets", "job:\n  id_tokens: {A: {aud: b}}\n  script: make\n"+condition,
			"5 untrusted-condition - -"),
		cicdtest.Finds("names a secret", "job:\n  script: tool \"$DEPLOY_TOKEN\"\n"+condition, "4 untrusted-condition - -"),
		cicdtest.Finds("nothing to win", "job:\n  script: make\n"+condition),
		cicdtest.Finds("never", "job:\n  environment: live\n"+condition+"      when: never\n"),
		cicdtest.Finds("branch", "job:\n  environment: live\n  rules:\n    - if: $CI_COMMIT_BRANCH == \"main\"\n"),
	)
}

func TestArtifactsOfEverything(t *testing.T) {
	for path, found := range map[string]bool{".": true, "./": true, "*": true, "**/*": true, ".git/": true,
		"$CI_PROJECT_DIR": true, "dist": false, "./dist/": false, "*.log": false} {
		c := cicdtest.Finds(path, "job:\n  artifacts:\n    paths: [\""+path+"\"]\n")
		if found {
			c.Want = []string{"3 artifact-exposure - -"}
		}
		check(t, c)
	}
	check(t, cicdtest.Finds("untracked", "job:\n  artifacts: {untracked: true}\n", "2 artifact-exposure - -"))
}

func TestJobsExtendOthers(t *testing.T) {
	found, reasons := cicdtest.Analyze(t, Analyzer, map[string]string{
		".gitlab-ci.yml": "include: /ci/base.yml\njob:\n  extends: [.a, .b]\n  script: eval \"$A\"\n",
		"ci/base.yml": ".a:\n  extends: .c\n.b:\n  variables: {A: $CI_COMMIT_TITLE}\n" +
			".c:\n  extends: .a\n  variables: {B: x}\n",
		"other.yml": "job:\n  script: eval \"$CI_COMMIT_TITLE\"\n",
	})
	if want := []string{".gitlab-ci.yml:4 script-injection high high"}; !slices.Equal(found, want) || len(reasons) > 0 {
		t.Errorf("%q, %q", found, reasons)
	}
}

func TestPathsOfIncludes(t *testing.T) {
	for name, want := range map[string]string{".gitlab-ci.yml": "", "app/.gitlab-ci.yml": "/app",
		"app/.gitlab/ci/a.yml": "/app", "ci/a.yml": "ci"} {
		if got := repositoryRoot(name); got != want {
			t.Errorf("%s is of %q, want %q", name, got, want)
		}
	}
	for name, want := range map[string]bool{".gitlab-ci.yml": true, "a/b.gitlab-ci.yaml": true,
		".gitlab/ci/build.yml": true, "x/.gitlab-ci/build.yaml": true, "gitlab-ci.txt": false, "ci/build.yml": false} {
		if got := isPipelineName(name); got != want {
			t.Errorf("%s: %t", name, got)
		}
	}
}

func TestMalformedFilesDegrade(t *testing.T) {
	found, reasons := cicdtest.Analyze(t, Analyzer, map[string]string{".gitlab-ci.yml": "a: [\n"})
	if len(found) != 0 || len(reasons) != 1 || !strings.HasPrefix(reasons[0], "malformed .gitlab-ci.yml: ") {
		t.Errorf("%q, %q", found, reasons)
	}
}
