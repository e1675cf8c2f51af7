package cli

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/alecthomas/kong"
)

// documented finds commands in the documentation: in lines of code, and between
// backticks.
var documented = regexp.MustCompile("(?m)(?:^    (?:\\$ )?|`)(?:bin/)?merlon ([a-z][^`\n#|]*)")

// TestDocumentedCommandsExist checks every command line of the documentation against
// the commands and flags of the program.
func TestDocumentedCommandsExist(t *testing.T) {
	parser, err := kong.New(&commands{}, kong.Vars{"analyses": analysesText()}, kong.Bind(&settings{}))
	if err != nil {
		t.Fatal(err)
	}
	pages, err := filepath.Glob("../../docs/*.md")
	if err != nil {
		t.Fatal(err)
	}
	seen := 0
	for _, page := range append(pages, "../../README.md", "../../CONTRIBUTING.md", "../../examples/README.md") {
		if filepath.Base(page) == "benchmark-history.md" {
			continue // it names programs of their time
		}
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range documented.FindAllStringSubmatch(strings.ReplaceAll(string(text), "\\\n", " "), -1) {
			seen++
			if fault := checkCommand(parser.Model.Node, strings.Fields(m[1])); fault != "" {
				t.Errorf("%s: merlon %s: %s", filepath.Base(page), m[1], fault)
			}
		}
	}
	if seen < 50 {
		t.Errorf("%d commands were found in the documentation", seen)
	}
}

// checkCommand returns what is wrong with a command line: an unknown command, or a
// flag that the command does not have.
func checkCommand(node *kong.Node, words []string) string {
	for len(words) > 0 {
		child := childOf(node, strings.TrimRight(words[0], ".,:;)"))
		if child == nil {
			break
		}
		node, words = child, words[1:]
	}
	if node.Type == kong.ApplicationNode || len(node.Children) > 0 && len(words) > 0 {
		return "no such command"
	}
	known := map[string]bool{}
	for n := node; n != nil; n = n.Parent {
		for _, f := range n.Flags {
			for _, name := range optionNames(f) {
				known[name] = true
				known["no-"+name] = known["no-"+name] || f.Tag.Negatable != ""
			}
		}
	}
	for _, word := range words {
		if word == "&&" || word == ">" {
			break
		}
		name, _, _ := strings.Cut(strings.TrimLeft(strings.Trim(word, "[](),."), "-"), "=")
		if strings.HasPrefix(strings.TrimLeft(word, "[("), "--") && name != "" && !known[name] {
			return "no flag --" + name
		}
	}
	return ""
}

func childOf(node *kong.Node, name string) *kong.Node {
	for _, child := range node.Children {
		if child.Name == name {
			return child
		}
	}
	return nil
}

func TestCheckCommand(t *testing.T) {
	parser, err := kong.New(&commands{}, kong.Vars{"analyses": analysesText()}, kong.Bind(&settings{}))
	if err != nil {
		t.Fatal(err)
	}
	for line, want := range map[string]string{
		"scan . --fail-on high":                        "",
		"scan . --fail-on=high --no-wait":              "",
		"serve --sister eu,a,b":                        "", // an old spelling
		"scna .":                                       "no such command",
		"scan . --fail-at high":                        "no flag --fail-at",
		"admin user disable a@example.com --data data": "",
		"admin user remove":                            "no such command",
	} {
		if got := checkCommand(parser.Model.Node, strings.Fields(line)); got != want {
			t.Errorf("%q: %q, want %q", line, got, want)
		}
	}
}

// TestReadmeShowsRealOutput compares the output in the README with that of the command
// above it: each line, up to an ellipsis, in the same order.
func TestReadmeShowsRealOutput(t *testing.T) {
	text, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	_, shown, _ := strings.Cut(string(text), "    $ merlon scan examples/bookshop --advisories examples/advisories\n")
	shown, _, _ = strings.Cut(shown, "\nA scan never")
	t.Chdir("../..")
	var stdout, stderr strings.Builder
	host := Host{Stdout: &stdout, Stderr: &stderr, Getenv: func(string) string { return "" }}
	args := []string{"scan", "examples/bookshop", "--advisories", "examples/advisories"}
	if code := Run(t.Context(), args, host); code != ExitFindings {
		t.Fatalf("exit code %d: %s", code, stderr.String())
	}
	rest, lines := stdout.String(), 0
	for line := range strings.Lines(shown) {
		line = strings.TrimSuffix(strings.TrimPrefix(strings.TrimRight(line, "\n"), "    "), "…")
		line = strings.TrimRight(line, " ")
		if strings.TrimSpace(line) == "" {
			continue
		}
		_, after, found := strings.Cut("\n"+rest, "\n"+line)
		if !found {
			t.Errorf("the scan does not print %q behind the lines before it:\n%s", line, rest)
			continue
		}
		rest, lines = after, lines+1
	}
	if lines < 12 {
		t.Errorf("the README shows %d lines", lines)
	}
}
