package remedy

import (
	"slices"
	"strings"
	"testing"

	"merlon/internal/engine/iac/document"
	"merlon/internal/finding"
)

// applyEdits returns the text after the edits of a fix; "" without one.
func applyEdits(text string, fix *finding.Fix) string {
	if fix == nil {
		return ""
	}
	lines := strings.Split(text, "\n")
	for _, e := range slices.Backward(fix.Edits) {
		lines = slices.Replace(lines, e.StartLine-1, e.EndLine, e.Lines...)
	}
	return strings.Join(lines, "\n")
}

// readText returns the reader of a tree whose files have the text.
func readText(text string) func(string) ([]byte, error) {
	return func(string) ([]byte, error) { return []byte(text), nil }
}

// TestMergeTerraform merges arguments, and refuses where a person has to decide.
func TestMergeTerraform(t *testing.T) {
	const head, tail = "resource \"a_b\" \"c\" {\n", "}\n"
	tests := []struct {
		name, body, arguments, want string // want: the body; "" for no edit
	}{
		{"the first argument", "", "x = true", "  x = true\n"},
		{"behind the last argument", "  long_name = 1\n", "x = true", "  long_name = 1\n  x         = true\n"},
		{"before blocks", "  s {\n  }\n", "x = true", "  x = true\n\n  s {\n  }\n"},
		{"behind a here-document", "  d = <<EOT\ntext\nEOT\n", "x = true", "  d = <<EOT\ntext\nEOT\n  x = true\n"},
		{"a value with a comment", "  x = false # for now\n", "x = true", "  x = true # for now\n"},
		{"a text", "  x = \"old\"\n", `x = "new"`, "  x = \"new\"\n"},
		{"into a block", "  s {\n    y = 1\n  }\n", "s {\n  x = true\n}", "  s {\n    y = 1\n    x = true\n  }\n"},
		{"nothing to change", "  x = true\n", "x = true", ""},
		{"a higher number stays", "  x = 30\n", "x = 7", ""},
		{"a variable", "  x = var.x\n", "x = true", ""},
		{"a part of a variable", "  x = \"a-${var.x}\"\n", `x = "b"`, ""},
		{"a call", "  x = tobool(\"true\")\n", "x = false", ""},
		{"a dynamic block", "  dynamic \"s\" {\n    for_each = []\n    content {}\n  }\n", "s {\n  x = true\n}", ""},
		{"two blocks", "  s {\n  }\n  s {\n  }\n", "s {\n  x = true\n}", ""},
		{"a block in one line", "  s { y = 1 }\n", "s {\n  x = true\n}", ""},
		{"an argument instead of a block", "  s = []\n", "s {\n  x = true\n}", ""},
		{"a block that is not there", "  y = 1\n", "s {\n  x = true\n}", ""},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			text := head + test.body + tail
			at := finding.Location{Path: "main.tf", StartLine: 1}
			want := ""
			if test.want != "" {
				want = head + test.want + tail
			}
			if got := applyEdits(text, new(Editor).MergeTerraform(at, readText(text), "module.m.a_b.c[0]",
				test.arguments)); got != want {
				t.Errorf("got\n%s\nwant\n%s", got, want)
			}
		})
	}
	text := readText(head + tail)
	for name, fix := range map[string]*finding.Fix{
		"another resource": new(Editor).MergeTerraform(finding.Location{StartLine: 1}, text, "a_b.d", "x = 1"),
		"another line":     new(Editor).MergeTerraform(finding.Location{StartLine: 9}, text, "a_b.c", "x = 1"),
		"no arguments":     new(Editor).MergeTerraform(finding.Location{StartLine: 1}, text, "a_b.c", ""),
		"Windows lines": new(Editor).MergeTerraform(finding.Location{StartLine: 1}, readText("resource \"a_b\" \"c\" "+
			"{\r\n}\r\n"),
			"a_b.c", "x = 1"),
		"no Terraform": new(Editor).MergeTerraform(finding.Location{StartLine: 1}, readText("a: b\n"), "a_b.c",
			"x = 1"),
	} {
		if fix != nil {
			t.Errorf("%s: %v", name, fix)
		}
	}
}

// readDocument reads a manifest.
func readDocument(t *testing.T, platform document.Platform, text string) *document.Document {
	t.Helper()
	trees, err := document.DecodeYAML([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return &document.Document{Platform: platform, Format: document.YAML, Path: "x.yaml", Root: trees[0].Root,
		Lines: trees[0].Lines, Text: []byte(text)}
}

// TestProposeYAML merges fields into a container, and refuses what is not written in block style.
func TestProposeYAML(t *testing.T) {
	const head = "apiVersion: v1\nkind: Pod\nmetadata:\n  name: p\nspec:\n"
	const escalation = "iac/kubernetes/privilege-escalation-allowed"
	tests := []struct{ name, rule, body, want string }{
		{"behind the only field", escalation, "  containers:\n    - name: a\n",
			"  containers:\n    - name: a\n      securityContext:\n        allowPrivilegeEscalation: false\n"},
		{"above the comment of the second field", escalation, "  containers:\n    - name: a\n      # why\n      " +
			"image: b\n",
			"  containers:\n    - name: a\n      securityContext:\n        allowPrivilegeEscalation: false\n" +
				"      # why\n      image: b\n"},
		{"a value with a comment", escalation,
			"  containers:\n    - name: a\n      securityContext:\n        allowPrivilegeEscalation: true # why\n",
			"  containers:\n    - name: a\n      securityContext:\n        allowPrivilegeEscalation: false # why\n"},
		{"a list in one line", "iac/kubernetes/no-drop-capabilities-for-containers",
			"  containers:\n    - name: a\n      securityContext:\n        capabilities:\n          drop: [NET_RAW]\n",
			"  containers:\n    - name: a\n      securityContext:\n        capabilities:\n          drop: " +
				"[NET_RAW, ALL]\n"},
		{"an empty map", escalation, "  containers:\n    - name: a\n      securityContext: {}\n",
			"  containers:\n    - name: a\n      securityContext:\n        allowPrivilegeEscalation: false\n"},
		{"the pod", "iac/kubernetes/shared-host-pid-namespace", "  hostPID: true\n  containers:\n    - name: a\n",
			"  hostPID: false\n  containers:\n    - name: a\n"},
		{"a map in one line", escalation, "  containers:\n    - name: a\n      securityContext: {runAsUser: 1}\n", ""},
		{"a container in one line", escalation, "  containers:\n    - {name: a, image: b}\n", ""},
		{"an alias", escalation, "  x: &x\n    runAsUser: 1\n  containers:\n    - name: a\n      securityContext: *x\n",
			""},
		{"a merge key", "iac/kubernetes/image-pull-policy-of-container-is-not-always",
			"  x: &x\n    imagePullPolicy: Never\n  containers:\n    - name: a\n      <<: *x\n", ""},
		{"an anchor", escalation, "  x: &x\n    runAsUser: 1\n  containers:\n    - name: a\n      " +
			"securityContext: &y\n" +
			"        runAsUser: 1\n", ""},
		{"a template", escalation,
			"  containers:\n    - name: a\n      securityContext:\n        allowPrivilegeEscalation: \"{{ x }}\"\n",
			""},
		{"a statement of a template", escalation, "  containers:\n    - name: a\n      image: \"{% if x %}\"\n", ""},
		{"a rule without fixed code", "iac/kubernetes/cpu-limits-not-set", "  containers:\n    - name: a\n", ""},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			text := head + test.body
			target := Target{Rule: test.rule, Path: "x.yaml", Line: 7, Key: "spec.containers.name={{a}}"}
			want := ""
			if test.want != "" {
				want = head + test.want
			}
			if got := applyEdits(text,
				new(Editor).Propose(target, readDocument(t, document.Kubernetes, text))); got != want {
				t.Errorf("got\n%s\nwant\n%s", got, want)
			}
		})
	}
	text := head + "  containers:\n    - name: a\n"
	for _, format := range []document.Format{document.Helm, document.Kustomize, document.JSON} {
		d := readDocument(t, document.Kubernetes, text)
		d.Format = format
		if fix := new(Editor).Propose(Target{Rule: escalation, Path: "x.yaml", Line: 7}, d); fix != nil {
			t.Errorf("an edit of %s: %v", format, fix)
		}
	}
	d := readDocument(t, document.Kubernetes, text)
	if fix := new(Editor).Propose(Target{Rule: escalation, Path: "other.yaml", Line: 7}, d); fix != nil {
		t.Errorf("an edit of a file that brought in the value: %v", fix)
	}
}

// TestProposeDockerfile edits instructions, and refuses forms without a shell.
func TestProposeDockerfile(t *testing.T) {
	tests := []struct {
		name, rule string
		line       int
		text, want string
	}{
		{"an option", "apk-add-using-local-cache-path", 2, "FROM a\nRUN apk add b\n", "FROM a\nRUN apk add " +
			"--no-cache b\n"},
		{"a continued line", "apt-get-not-avoiding-additional-packages", 2, "FROM a\nRUN x && \\\n  apt-get " +
			"install -y b\n",
			"FROM a\nRUN x && \\\n  apt-get install --no-install-recommends -y b\n"},
		{"a command at the end", "apt-get-install-lists-were-not-deleted", 2, "FROM a\nRUN apt-get install b\nRUN c\n",
			"FROM a\nRUN apt-get install b \\\n    && rm -rf /var/lib/apt/lists/*\nRUN c\n"},
		{"a command that is there", "apt-get-install-lists-were-not-deleted", 2,
			"FROM a\nRUN apt-get install b && rm -rf /var/lib/apt/lists/* /tmp/*\n", ""},
		{"a list of words", "apk-add-using-local-cache-path", 2, "FROM a\nRUN [\"apk\", \"add\", \"b\"]\n", ""},
		{"a here-document", "apk-add-using-local-cache-path", 2, "FROM a\nRUN <<EOT\napk add b\nEOT\n", ""},
		{"another escape character", "apk-add-using-local-cache-path", 3, "# escape=`\nFROM a\nRUN apk add b\n", ""},
		{"a file", "add-instead-of-copy", 2, "FROM a\nADD --chown=1 b /b\n", "FROM a\nCOPY --chown=1 b /b\n"},
		{"an archive", "add-instead-of-copy", 2, "FROM a\nADD b.tar.gz /b\n", ""},
		{"an address", "add-instead-of-copy", 2, "FROM a\nADD https://b/c /b\n", ""},
		{"a created user", "missing-user-instruction", 1, "FROM a\nRUN useradd -r -g app app\nCMD [\"b\"]\n",
			"FROM a\nRUN useradd -r -g app app\nUSER app\nCMD [\"b\"]\n"},
		{"a user of the image", "missing-user-instruction", 1, "FROM docker.io/library/node:24\nCOPY a b\n",
			"FROM docker.io/library/node:24\nCOPY a b\nUSER node\n"},
		{"no user", "missing-user-instruction", 1, "FROM a\nCMD [\"b\"]\n", ""},
		{"a user of another stage", "missing-user-instruction", 1, "FROM a\nRUN adduser app\nFROM b\nCMD " +
			"[\"b\"]\n", ""},
		{"a user by a variable", "missing-user-instruction", 1, "FROM a\nRUN adduser $APP\nCMD [\"b\"]\n", ""},
		{"a user for a group", "missing-user-instruction", 1, "FROM a\nRUN adduser app docker\nCMD [\"b\"]\n", ""},
		{"a command in words", "not-using-json-in-cmd-and-entrypoint-arguments", 2, "FROM a\nCMD b --c\n",
			"FROM a\nCMD [\"b\", \"--c\"]\n"},
		{"a command with a variable", "not-using-json-in-cmd-and-entrypoint-arguments", 2, "FROM a\nCMD b $C\n", ""},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			d := &document.Document{Platform: document.Dockerfile, Format: document.Containers, Path: "Dockerfile",
				Text: []byte(test.text)}
			fix := new(Editor).Propose(Target{Rule: "iac/dockerfile/" + test.rule, Path: "Dockerfile", Line: test.line},
				d)
			if got := applyEdits(test.text, fix); got != test.want {
				t.Errorf("got\n%s\nwant\n%s", got, test.want)
			}
			if fix != nil && (fix.Description == "" || strings.Contains(fix.Description, ": ")) {
				t.Errorf("description %q", fix.Description)
			}
		})
	}
}
