package azure

import (
	"slices"
	"strings"
	"testing"

	"merlon/internal/engine/cicd/cicdtest"
	"merlon/internal/scan"
)

func check(t *testing.T, cases ...cicdtest.Case) {
	t.Helper()
	cicdtest.CheckFiles(t, Analyzer, "azure-pipelines.yml", cases)
}

func TestScriptsOfWhatOthersChoose(t *testing.T) {
	check(t,
		cicdtest.Finds("branch", "steps:\n  - script: echo $(Build.SourceBranchName)\n", "2 script-injection high high"),
		cicdtest.Finds("letter case", "steps:\n  - bash: echo $(BUILD.SOURCEBRANCH)\n", "2 script-injection high high"),
		cicdtest.Finds("author", "steps:\n  - pwsh: echo $(Build.RequestedFor)\n", "2 script-injection medium medium"),
		cicdtest.Finds("number of the build", "steps:\n  - script: echo $(Build.BuildId)\n"),
		cicdtest.Finds("compiled", "steps:\n  - script: echo ${{ variables['Build.SourceBranchName'] }}\n",
			"2 script-injection high high"),
		cicdtest.Finds("through a variable",
			"variables:\n  name: $(Build.SourceVersionMessage)\nsteps:\n  - script: echo $(name)\n",
			"4 script-injection high high"),
		cicdtest.Finds("through a list of variables",
			"variables:\n  - name: a\n    value: $(System.PullRequest.SourceBranch)\nsteps:\n  - script: echo $(a)\n",
			"5 script-injection high high"),
		cicdtest.Finds("set anew below", "variables: {a: $(Build.SourceBranch)}\njobs:\n  - job: b\n    variables: {a: c}\n"+
			"    steps:\n      - script: echo $(a)\n"),
		cicdtest.Finds("only in its stage", "stages:\n  - stage: a\n    variables: {v: $(Build.SourceBranch)}\n"+
			"  - stage: b\n    jobs:\n      - job: c\n        steps:\n          - script: echo $(v)\n"),
		cicdtest.Finds("deployment", "jobs:\n  - deployment: a\n    strategy:\n      runOnce:\n        deploy:\n          steps:\n"+
			"            - script: echo $(Build.SourceBranch)\n", "7 script-injection high high"),
		cicdtest.Finds("condition of the template", "steps:\n  - ${{ if true }}:\n    - script: echo $(Build.SourceBranch)\n",
			"3 script-injection high high"),
		cicdtest.Finds("environment", "steps:\n  - bash: eval \"$TITLE\"\n    env: {TITLE: $(Build.SourceVersionMessage)}\n",
			"2 script-injection high high"),
		cicdtest.Finds("variable of the agent", "steps:\n  - bash: eval \"$BUILD_SOURCEBRANCHNAME\"\n",
			"2 script-injection high high"),
	)
}

func TestParametersInScripts(t *testing.T) {
	use := "steps:\n  - script: make ${{ parameters.target }}\n"
	check(t,
		cicdtest.Finds("no type", "parameters:\n  - name: target\n"+use, "4 script-injection medium low"),
		cicdtest.Finds("text", "parameters:\n  - {name: Target, type: string}\n"+use, "4 script-injection medium low"),
		cicdtest.Finds("number", "parameters:\n  - {name: target, type: number}\n"+use),
		cicdtest.Finds("choice", "parameters:\n  - {name: target, type: string, values: [a, b]}\n"+use),
	)
}

func TestTasks(t *testing.T) {
	check(t,
		cicdtest.Finds("script", "steps:\n  - task: Bash@3\n    inputs:\n      script: echo $(Build.SourceBranch)\n",
			"4 script-injection high high"),
		cicdtest.Finds("arguments", "steps:\n  - task: PowerShell@2\n    inputs: {arguments: $(Build.SourceBranch)}\n",
			"3 script-injection high high"),
		cicdtest.Finds("another input", "steps:\n  - task: Npm@1\n    inputs: {workingDir: $(Build.SourceBranch)}\n"),
		cicdtest.Finds("command", "steps:\n  - task: DotNetCoreCLI@2\n    inputs: {command: $(Build.SourceBranch)}\n"),
		cicdtest.Finds("command over SSH", "steps:\n  - task: SSH@0\n    inputs: {command: $(Build.SourceBranch)}\n",
			"3 script-injection high high"),
		cicdtest.Finds("no version", "steps:\n  - task: Bash\n", "2 unpinned-dependency - -"),
		cicdtest.Finds("secret", "steps:\n  - task: Deploy@1\n    inputs:\n      password: tr0ub4dor&3xyz\n",
			"4 plaintext-secret - -"),
	)
}

func TestStepsAndVariables(t *testing.T) {
	check(t,
		cicdtest.Finds("token kept", "steps:\n  - checkout: self\n    persistCredentials: true\n",
			"3 persisted-credentials - -"),
		cicdtest.Finds("token not kept", "steps:\n  - checkout: self\n    persistCredentials: false\n"),
		cicdtest.Finds("debugging", "variables:\n  system.debug: true\nsteps: []\n", "2 debug-mode - -"),
		cicdtest.Finds("no debugging", "variables:\n  System.Debug: false\nsteps: []\n"),
		cicdtest.Finds("secret of a variable", "variables:\n  - name: DB_PASSWORD\n    value: tr0ub4dor&3xyz\nsteps: []\n",
			"3 plaintext-secret - -"),
		cicdtest.Finds("secret of a step", "steps:\n  - script: make\n    env: {API_TOKEN: k93jd82hs7fk20dk2}\n",
			"3 plaintext-secret - -"),
	)
}

func TestContainersAndRepositories(t *testing.T) {
	digest := "@sha256:" + strings.Repeat("0a", 32)
	repository := "resources:\n  repositories:\n    - repository: t\n      type: "
	check(t,
		cicdtest.Finds("image of a job", "jobs:\n  - job: a\n    container: alpine:latest\n", "3 unpinned-image - -"),
		cicdtest.Finds("named container", "resources:\n  containers:\n    - {container: c, image: alpine"+digest+"}\n"+
			"jobs:\n  - job: a\n    container: c\n"),
		cicdtest.Finds("rights of a job", "jobs:\n  - job: a\n    container: {image: alpine"+digest+", options: --privileged}\n",
			"3 privileged-container - -"),
		cicdtest.Finds("rights of a resource", "resources:\n  containers:\n    - container: c\n      image: alpine"+digest+
			"\n      options: -v /var/run/docker.sock:/var/run/docker.sock\n", "5 privileged-container - -"),
		cicdtest.Finds("other options", "jobs:\n  - job: a\n    container: {image: alpine"+digest+", options: -u 0}\n"),
		cicdtest.Finds("own repository", repository+"git\n", "3 unpinned-dependency low low"),
		cicdtest.Finds("repository of GitHub", repository+"github\n", "3 unpinned-dependency - -"),
		cicdtest.Finds("branch", repository+"github\n      ref: refs/heads/main\n", "5 unpinned-dependency low medium"),
		cicdtest.Finds("tag", repository+"github\n      ref: refs/tags/v1\n"),
		cicdtest.Finds("commit", repository+"github\n      ref: "+strings.Repeat("0a", 20)+"\n"),
	)
}

func TestTemplatesGetWhatTheirCallersPass(t *testing.T) {
	found, reasons := cicdtest.Analyze(t, Analyzer, map[string]string{
		"azure-pipelines.yml": "steps:\n  - template: t/a.yml\n    parameters: {title: $(Build.SourceBranchName)}\n" +
			"  - template: gone.yml\n  - template: b.yml@other\n",
		"t/a.yml": "parameters: [{name: title, type: number}]\nsteps:\n  - template: b.yml\n" +
			"    parameters: {text: '${{ parameters.title }}'}\n",
		"t/b.yml": "parameters: [{name: text, type: number}]\nsteps:\n  - script: echo ${{ parameters.text }}\n" +
			"  - template: b.yml\n",
		"unused.yml": "steps:\n  - script: echo $(Build.SourceBranch)\n",
	})
	if want := []string{"t/b.yml:3 script-injection high high"}; !slices.Equal(found, want) || len(reasons) > 0 {
		t.Errorf("%q, %q", found, reasons)
	}
}

func TestPathsOfTemplates(t *testing.T) {
	tree := map[string]scan.File{"a/t.yml": {}, "t.yml": {}, "a/b/ci.yml": {}}
	for _, tt := range []struct{ from, name, want string }{
		{"a/ci.yml", "t.yml", "a/t.yml"},
		{"a/b/ci.yml", "../t.yml", "a/t.yml"},
		{"a/b/ci.yml", "/t.yml", "a/t.yml"}, // from the nearest root
		{"ci.yml", "t.yml@self", "t.yml"},
		{"ci.yml", "t.yml@other", ""},
		{"ci.yml", "${{ parameters.x }}.yml", ""},
		{"ci.yml", "gone.yml", ""},
	} {
		if got := resolveTemplate(tree, tt.from, tt.name); got != tt.want {
			t.Errorf("%s of %s: %q, want %q", tt.name, tt.from, got, tt.want)
		}
	}
	for name, want := range map[string]bool{"azure-pipelines.yml": true, "ci/azure-pipelines-release.yaml": true,
		".azurepipelines.yml": true, "app.azure-pipelines.yml": true, ".azure-pipelines/build.yml": true,
		".pipelines/x.yaml": true, "vsts-ci.yml": true, "build.yml": false, ".pipelines/readme.md": false} {
		if got := isPipelineName(name); got != want {
			t.Errorf("%s: %t", name, got)
		}
	}
}

func TestMalformedFilesDegrade(t *testing.T) {
	found, reasons := cicdtest.Analyze(t, Analyzer, map[string]string{"azure-pipelines.yml": "a: [\n"})
	if len(found) != 0 || len(reasons) != 1 || !strings.HasPrefix(reasons[0], "malformed azure-pipelines.yml: ") {
		t.Errorf("%q, %q", found, reasons)
	}
}
