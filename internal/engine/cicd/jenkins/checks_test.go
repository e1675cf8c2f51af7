package jenkins

import (
	"strings"
	"testing"

	"merlon/internal/engine/cicd/cicdtest"
)

func check(t *testing.T, cases ...cicdtest.Case) {
	t.Helper()
	cicdtest.CheckFiles(t, Analyzer, "Jenkinsfile", cases)
}

func TestScriptsOfWhatOthersChoose(t *testing.T) {
	check(t,
		cicdtest.Finds("parameter", `sh "deploy ${params.TARGET}"`, "1 script-injection medium medium"),
		cicdtest.Finds("title of a change", `sh "echo ${env.CHANGE_TITLE}"`, "1 script-injection high high"),
		cicdtest.Finds("without braces", `bat "echo $BRANCH_NAME"`, "1 script-injection high high"),
		cicdtest.Finds("another variable", `sh "echo ${BUILD_NUMBER}"`),
		cicdtest.Finds("single quotes", `sh 'echo ${BRANCH_NAME}'`),
		cicdtest.Finds("named argument", `sh(script: "x ${params.A}", returnStdout: true)`,
			"1 script-injection medium medium"),
		cicdtest.Finds("label", `sh(label: "build ${params.A}", script: 'make')`),
		cicdtest.Finds("joined", `sh 'x ' + params.A`, "1 script-injection medium medium"),
		cicdtest.Finds("name alone", "def s = \"x ${params.A}\"\nsh s", "2 script-injection medium medium"),
		cicdtest.Finds("name in brackets", "def s = params.A\nsh(s)", "2 script-injection medium medium"),
		cicdtest.Finds("later assignment", "sh \"x ${s}\"\ns = env.GIT_BRANCH", "1 script-injection high high"),
		cicdtest.Finds("compared", "def s = params.A == 'a'\nsh \"x ${s}\""),
		cicdtest.Finds("choice", "def s = params.A ? 'a' : 'b'\nsh \"x ${s}\""),
		cicdtest.Finds("member of an object", `steps.sh "x ${params.A}"`),
		cicdtest.Finds("text behind the step", "sh 'make'\necho \"x ${params.A}\""),
		cicdtest.Finds("index", `sh "x ${params['A']}"`, "1 script-injection medium medium"),
		cicdtest.Finds("two lines", "sh \"\"\"\n  x\n  y ${params.A}\n\"\"\"", "3 script-injection medium medium"),
		cicdtest.Finds("PowerShell", `powershell "x ${params.A}"`, "1 script-injection medium medium"),
	)
}

func TestProgramsOfWhatOthersChoose(t *testing.T) {
	check(t,
		cicdtest.Finds("text", `evaluate("x = ${params.A}")`, "1 script-injection high high"),
		cicdtest.Finds("name", `evaluate(params.A)`, "1 script-injection medium medium"),
		cicdtest.Finds("Eval", `Eval.me("${env.TAG_NAME}")`, "1 script-injection high high"),
		cicdtest.Finds("another me", `Call.me("${env.TAG_NAME}")`),
		cicdtest.Finds("fixed", `evaluate('1 + 1')`),
	)
}

func TestCredentialsInScripts(t *testing.T) {
	check(t,
		cicdtest.Finds("environment", "environment { TOKEN = credentials('t') }\nsh \"curl -H ${TOKEN} https://a.example\"",
			"2 secret-interpolation - -"),
		cicdtest.Finds("by env", "environment { TOKEN = credentials('t') }\nsh \"x ${env.TOKEN}\"",
			"2 secret-interpolation - -"),
		cicdtest.Finds("withCredentials", "withCredentials([string(credentialsId: 'x', variable: 'KEY')]) { sh \"x $KEY\" }",
			"1 secret-interpolation - -"),
		cicdtest.Finds("name of the user",
			"withCredentials([usernamePassword(usernameVariable: 'WHO', passwordVariable: 'PW')]) { sh \"x $WHO\" }"),
		cicdtest.Finds("by the shell", "environment { TOKEN = credentials('t') }\nsh 'x $TOKEN'"),
	)
}

func TestLibraries(t *testing.T) {
	check(t,
		cicdtest.Finds("default version", `@Library('shared') _`, "1 unpinned-dependency low medium"),
		cicdtest.Finds("branch", `@Library('shared@main') _`, "1 unpinned-dependency - -"),
		cicdtest.Finds("tag", `@Library('shared@v1.2.3') _`, "1 unpinned-dependency low low"),
		cicdtest.Finds("commit", `@Library('shared@`+strings.Repeat("0a", 20)+`') _`),
		cicdtest.Finds("two", `@Library(['a@main', 'b@1.0']) _`,
			"1 unpinned-dependency - -", "1 unpinned-dependency low low"),
		cicdtest.Finds("step", `library identifier: 'a@dev', retriever: modernSCM([a: 'b'])`,
			"1 unpinned-dependency - -"),
		cicdtest.Finds("chosen at run time", `library "a@${version}"`),
		cicdtest.Finds("no annotation", `Library('shared@main')`),
	)
}

func TestContainers(t *testing.T) {
	check(t,
		cicdtest.Finds("privileged", `docker { args '--privileged' }`, "1 privileged-container - -"),
		cicdtest.Finds("socket", `docker.image('a:1').inside('-v /var/run/docker.sock:/var/run/docker.sock') { }`,
			"1 unpinned-image - low", "1 privileged-container - -"),
		cicdtest.Finds("other options", `docker { args '-u root' }`),
	)
}

func TestTransportAndCertificates(t *testing.T) {
	check(t,
		cicdtest.Finds("http", `git url: 'http://git.example.org/a.git'`, "1 insecure-transport - -"),
		cicdtest.Finds("git", `git url: 'git://git.example.org/a.git'`, "1 insecure-transport - -"),
		cicdtest.Finds("https", `git url: 'https://git.example.org/a.git'`),
		cicdtest.Finds("this machine", `git url: 'http://localhost:3000/a.git'`),
		cicdtest.Finds("certificates", `httpRequest ignoreSslErrors: true, consoleLogResponseBody: false`,
			"1 no-verification - -"),
		cicdtest.Finds("certificates checked", `httpRequest ignoreSslErrors: false`),
	)
}

func TestSecretsInPlainText(t *testing.T) {
	check(t,
		cicdtest.Finds("variable", `environment { DB_PASSWORD = 'tr0ub4dor&3xyz' }`,
			"1 plaintext-secret - -"),
		cicdtest.Finds("put together", `environment { DB_PASSWORD = "${x}tr0ub4dor" }`),
		cicdtest.Finds("default of a parameter",
			`parameters { string(name: 'API_TOKEN', defaultValue: 'k93jd82hs7fk20dk2', description: '') }`,
			"1 plaintext-secret - -"),
		cicdtest.Finds("compared", `if (DB_PASSWORD == 'tr0ub4dor&3xyz') { }`),
	)
}

func TestStagesAreNamed(t *testing.T) {
	j := &jenkinsfile{}
	if got := j.describeStage(); got != "in the pipeline" {
		t.Error(got)
	}
	tokens, err := tokenize(`stage('Deploy') { }`)
	if err != nil {
		t.Fatal(err)
	}
	j.tokens = tokens
	j.enterStage(0)
	if got := j.describeStage(); got != `in stage "Deploy"` {
		t.Error(got)
	}
}

func TestNamesOfFiles(t *testing.T) {
	for name, want := range map[string]bool{"Jenkinsfile": true, "ci/jenkinsfile": true, "Jenkinsfile.prod": true,
		"release.Jenkinsfile": true, "Jenkinsfile-ci": true, "MyJenkinsfile": false, "jenkins.yml": false,
		"Jenkinsfile/readme": false} {
		if got := Analyzer.Match(name); got != want {
			t.Errorf("%s: %t", name, got)
		}
	}
}

func TestMalformedFilesDegrade(t *testing.T) {
	found, reasons := cicdtest.Analyze(t, Analyzer, map[string]string{"Jenkinsfile": "sh 'a"})
	if len(found) != 0 || strings.Join(reasons, "|") != "malformed Jenkinsfile: the text does not end" {
		t.Errorf("%q, %q", found, reasons)
	}
}
