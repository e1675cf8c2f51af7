package terraform

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// evaluateAll returns the values of expressions, evaluated in one module beside the files.
func evaluateAll(t *testing.T, expressions []string, files ...string) []any {
	t.Helper()
	var b strings.Builder
	b.WriteString("variable \"unset\" {}\nvariable \"flag\" { type = bool }\n" +
		"variable \"secret\" {\n  default = \"s\"\n  sensitive = true\n}\n")
	for i, e := range expressions {
		fmt.Fprintf(&b, "resource \"t\" \"e%d\" { x = %s }\n", i, e)
	}
	p := load(t, append([]string{"main.tf", b.String()}, files...)...)
	r := resources(p)
	out := make([]any, len(expressions))
	for i := range expressions {
		out[i] = r[fmt.Sprintf("t.e%d", i)].Body.Value("x")
	}
	return out
}

// TestFunctionTable calls each function that is ours with arguments that it takes, and with
// some that it does not: the value is unknown then, and nothing else of the module is.
func TestFunctionTable(t *testing.T) {
	type list = []any
	type object = map[string]any
	tests := []struct {
		expression string
		want       any
	}{
		// Maps and lists.
		{`lookup({ a = 1 }, "a", 2)`, 1.0}, {`lookup({ a = 1 }, "b", 2)`, 2.0}, {`lookup({ a = 1 }, "b")`, Unknown{}},
		{`lookup(tomap({ a = "x" }), "a", "y")`, "x"}, {`lookup(tomap({ a = "x" }), "b", "y")`, "y"},
		{`lookup("text", "a")`, Unknown{}},
		{`coalesce("", null, "a")`, "a"}, {`coalesce("", null)`, Unknown{}}, {`coalesce(var.flag, "a")`, Unknown{}},
		{`index(["a", "b"], "b")`, 1.0}, {`index(["a"], "c")`, Unknown{}}, {`index([1, 2], "2")`, 1.0},
		{`index("text", "t")`, Unknown{}},
		{`matchkeys(["a", "b", "c"], ["x", "y", "x"], ["x"])`, list{"a", "c"}},
		{`matchkeys(["a"], [], ["x"])`, Unknown{}},
		{`transpose({ a = ["1", "2"], b = ["2"] })`, object{"1": list{"a"}, "2": list{"a", "b"}}},
		{`transpose({})`, object{}},
		{`length("häuser")`, 6.0}, {`length([1, 2])`, 2.0}, {`length({ a = 1 })`, 1.0},
		{`length(var.unset)`, Unknown{}},
		{`length(true)`, Unknown{}}, {`one([])`, nil}, {`one(["a"])`, "a"}, {`one(["a", "b"])`, Unknown{}},
		{`sum([1, 2.5])`, 3.5}, {`sum(["1", 2])`, 3.0}, {`sum("1")`, Unknown{}}, {`sum([null])`, Unknown{}},
		{`alltrue([true, "true"])`, true}, {`alltrue([true, false])`, false}, {`alltrue([])`, true},
		{`anytrue([false, true])`, true}, {`anytrue([])`, false}, {`anytrue([var.flag])`, Unknown{}},

		// Texts and encodings.
		{`replace("a-b-c", "-", ".")`, "a.b.c"}, {`replace("a1b22", "/[0-9]+/", "#")`, "a#b#"},
		{`replace("a", "/(/", "b")`, Unknown{}}, {`startswith("abc", "ab")`, true}, {`endswith("abc", "ab")`, false},
		{`strcontains("abc", "b")`, true}, {`urlencode("a b&c")`, "a+b%26c"}, {`urldecode("a+b%26c")`, "a b&c"},
		{`urldecode("%zz")`, Unknown{}}, {`dirname("a/b/c")`, "a/b"}, {`basename("a/b/c")`, "c"},
		{`base64encode("hi")`, "aGk="}, {`base64decode("aGk=")`, "hi"}, {`base64decode("?")`, Unknown{}},
		{`textencodebase64("hi", "UTF-8")`, "aGk="}, {`textencodebase64("hi", "UTF-16LE")`, "aABpAA=="},
		{`textdecodebase64("aABpAA==", "UTF-16LE")`, "hi"}, {`textencodebase64("hi", "EBCDIC")`, Unknown{}},
		{`textdecodebase64("aGk=", "EBCDIC")`, Unknown{}}, {`textdecodebase64("?", "UTF-8")`, Unknown{}},
		{`md5("a")`, "0cc175b9c0f1b6a831c399e269772661"},
		{`sha1("a")`, "86f7e437faa5a7fce15d1ddcb9eaeaea377667b8"},
		{`base64sha256("a")`, "ypeBEsobvcr6wjGzmiPcTaeG7/gUfE5yuYB3ha/uSLs="},
		{`yamlencode({ a = [1, "b"] })`, "a:\n    - 1\n    - b\n"}, {`yamldecode("a: [1, x, true, null, 1.5]")`,
			object{"a": list{1.0, "x", true, nil, 1.5}}}, {`yamldecode("a: [")`, Unknown{}},
		{`format("%s-%03d", "a", 7)`, "a-007"}, {`format("%99999d", 1)`, Unknown{}},
		{`formatlist("%s!", ["a", "b"])`, list{"a!", "b!"}}, {`setproduct(["a"], ["x", "y"])`,
			list{list{"a", "x"}, list{"a", "y"}}},

		// Networks and times.
		{`cidrsubnet("10.0.0.0/16", 4, 15)`, "10.0.240.0/20"}, {`cidrsubnet("10.0.0.0/16", 4, 16)`, Unknown{}},
		{`cidrsubnet("x", 4, 1)`, Unknown{}}, {`cidrhost("10.0.0.0/8", 258)`, "10.0.1.2"},
		{`cidrhost("10.0.0.0/8", -1)`, Unknown{}}, {`cidrnetmask("10.0.0.0/12")`, "255.240.0.0"},
		{`cidrnetmask("fd00::/8")`, Unknown{}}, {`cidrsubnets("10.0.0.0/8", 8, 4, 4)`,
			list{"10.0.0.0/16", "10.16.0.0/12", "10.32.0.0/12"}}, {`cidrsubnets("10.0.0.0/30", 4)`, Unknown{}},
		{`cidrsubnets("10.0.0.0/8", 1, 1, 1)`, Unknown{}}, {`cidrcontains("10.0.0.0/8", "10.1.2.3")`, true},
		{`cidrcontains("10.0.0.0/8", "10.1.0.0/16")`, true}, {`cidrcontains("10.0.0.0/8", "0.0.0.0/0")`, false},
		{`cidrcontains("x", "10.1.2.3")`, false}, {`cidrsubnet("fd00:fd12::/32", 16, 2)`, "fd00:fd12:2::/48"},
		{`timecmp("2024-01-01T00:00:00Z", "2024-01-01T01:00:00+01:00")`, 0.0},
		{`timecmp("2024-01-01T00:00:00Z", "x")`, Unknown{}}, {`timestamp() == ""`, Unknown{}},
		{`"${uuid()}-a"`, "${uuid()}-a"},

		// Sensitivity.
		{`issensitive(var.secret)`, true}, {`issensitive(sensitive("a"))`, true}, {`issensitive("a")`, false},
		{`nonsensitive(var.secret)`, "s"}, {`issensitive(nonsensitive(var.secret))`, false},
		{`ephemeralasnull("a")`, "a"},

		// Files of the tree.
		{`file("data/a.txt")`, "hello"}, {`file("../x")`, Unknown{}}, {`fileexists("data/a.txt")`, true},
		{`fileexists("data/none")`, false}, {`filebase64("data/a.txt")`, "aGVsbG8="},
		{`filemd5("data/a.txt")`, "5d41402abc4b2a76b9719d911017c592"}, {`filesha256("data/none")`, Unknown{}},
		{`fileset("data", "*.txt")`, list{"a.txt", "b.txt"}}, {`fileset("data", "**/*.{txt,md}")`,
			list{"a.txt", "b.txt", "sub/c.md"}}, {`fileset("data", "*.none")`, list{}},
		{`fileset("..", "*")`, Unknown{}}, {`templatefile("data/t.tpl", { n = "x" })`, "x=1"},
		{`templatefile("data/t.tpl", {})`, Unknown{}}, {`templatefile("data/t.tpl", [1])`, Unknown{}},
		{`templatestring("$${a}!", { a = 1 })`, "1!"}, {`core::upper("a")`, "A"}, {`nosuch("a")`, Unknown{}},
	}
	expressions := make([]string, len(tests))
	for i, tt := range tests {
		expressions[i] = tt.expression
	}
	got := evaluateAll(t, expressions, "data/a.txt", "hello", "data/b.txt", "b", "data/sub/c.md", "c",
		"data/t.tpl", "${n}=1")
	for i, tt := range tests {
		if values, ok := got[i].([]any); ok && strings.HasPrefix(tt.expression, "fileset") {
			slices.SortFunc(values, func(a, b any) int { return strings.Compare(a.(string), b.(string)) })
		}
		if diff := cmp.Diff(tt.want, got[i]); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.expression, diff)
		}
	}
}

// TestGlobs matches paths by parts; "**" stands for any number of folders.
func TestGlobs(t *testing.T) {
	for _, c := range []struct {
		pattern, name string
		want          bool
	}{
		{"a/b", "a/b", true}, {"a/*", "a/b", true}, {"a/*", "a/b/c", false}, {"**", "a/b/c", true},
		{"**/c", "c", true}, {"**/c", "a/b/c", true}, {"a/**/c", "a/c", true}, {"a/**/c", "a/b/d", false},
		{"a/**/b/**/c", "a/x/b/y/z/c", true}, {"[", "[", false}, {"", "", true},
	} {
		if got := matchGlob(strings.Split(c.pattern, "/"), strings.Split(c.name, "/")); got != c.want {
			t.Errorf("%q matches %q: %v", c.pattern, c.name, got)
		}
	}
	// Each part is compared with each once, where a matcher that goes back takes forever.
	if matchGlob(strings.Split(strings.Repeat("**/a/", 100)+"b", "/"), strings.Split(strings.Repeat("a/", 2000), "/")) {
		t.Error("a path matched that does not end so")
	}
	for pattern, want := range map[string][]string{
		"a": {"a"}, "{a,b}c": {"ac", "bc"}, "{a,b}{c,d}": {"ac", "ad", "bc", "bd"}, "{a": {"{a"}, "}{": {"}{"},
	} {
		if got, err := expandBraces(pattern, 10); err != nil || !slices.Equal(got, want) {
			t.Errorf("%s: %v, %v, want %v", pattern, got, err, want)
		}
	}
	if _, err := expandBraces(strings.Repeat("{a,b}", 30), 64); err == nil {
		t.Error("a pattern that stands for a billion others was expanded")
	}
}

// TestPlaceholders tells what only the provider knows from what was computed of it.
func TestPlaceholders(t *testing.T) {
	p := load(t, "main.tf", `
variable "any" {}
variable "text" { type = string }
variable "number" { type = number }
variable "object" { type = object({ a = optional(string, "d"), b = string }) }
variable "read" {}
resource "t" "r" {}
resource "t" "id" { x = t.r.id }
resource "t" "deep" { x = t.r.list[0].name }
resource "t" "text" { x = "a-${t.r.arn}" }
resource "t" "upper" { x = upper(t.r.arn) }
resource "t" "any" { x = var.any }
resource "t" "string" { x = var.text }
resource "t" "number" { x = var.number }
resource "t" "read" { x = var.read.a }
resource "t" "less" { x = length(t.r.name) }
`)
	want := map[string]any{
		"t.id": "${t.r.id}", "t.deep": Unknown{}, "t.text": "a-${t.r.arn}", "t.upper": "${T.R.ARN}",
		"t.any": "${var.any}", "t.string": "${var.text}", "t.number": Unknown{}, "t.read": Unknown{},
		"t.less": Unknown{},
	}
	if diff := cmp.Diff(want, argument(p, "x")); diff != "" {
		t.Errorf("values (-want +got):\n%s", diff)
	}
}

// TestVariables takes a value, else the default, converted to the declared type.
func TestVariables(t *testing.T) {
	p := load(t, "main.tf", `
module "m" {
  source = "./m"
  text   = 5
  object = { b = "x" }
  null   = null
  kept   = null
  set    = ["a", "a"]
}
`, "m/main.tf", `
variable "text" { type = string }
variable "object" { type = object({ a = optional(string, "d"), b = string }) }
variable "null" {
  default  = "default"
  nullable = false
}
variable "kept" { default = "default" }
variable "set" { type = set(string) }
variable "bad" {
  type    = number
  default = "text"
}
resource "t" "a" { x = [var.text, var.object, var.null, var.kept, var.set, var.bad] }
`)
	want := map[string]any{"module.m.t.a": []any{"5", map[string]any{"a": "d", "b": "x"}, "default", nil, []any{"a"},
		"text"}}
	if diff := cmp.Diff(want, argument(p, "x")); diff != "" {
		t.Errorf("values (-want +got):\n%s", diff)
	}
}

// TestProblems names what was not evaluated, with its line.
func TestProblems(t *testing.T) {
	for name, c := range map[string]struct {
		files []string
		want  string
	}{
		"malformed":      {[]string{"a.tf", "resource \"t\" \"a\" {\n x = \n}\n"}, "malformed a.tf:2"},
		"malformed JSON": {[]string{"a.tf.json", "{\n\"a\": }"}, "malformed a.tf.json:2"},
		"local cycle": {[]string{"a.tf", "locals {\n a = local.b\n b = local.a\n}\nresource \"t\" \"a\" { x = " +
			"local.a }\n"}, "cycle a.tf:3"},
		"resource cycle": {[]string{"a.tf", "resource \"t\" \"a\" { x = t.b.x }\nresource \"t\" \"b\" { x = " +
			"t.a.x }\n"}, "cycle a.tf:1"},
		"module cycle":    {[]string{"m/a.tf", "module \"m\" { source = \"../m\" }\n"}, "cycle m/a.tf:1"},
		"registry module": {[]string{"a.tf", "module \"m\" { source = \"hashicorp/x/aws\" }\n"}, "unavailable a.tf:1"},
		"missing folder":  {[]string{"a.tf", "module \"m\" { source = \"./none\" }\n"}, "unavailable a.tf:1"},
		"instances":       {[]string{"a.tf", "resource \"t\" \"a\" { count = 100 }\n"}, "too-complex a.tf:1"},
		"elements": {[]string{"a.tf", "resource \"t\" \"a\" { for_each = toset([for i in range(100) : " +
			"tostring(i)]) }\n"}, "too-complex a.tf:1"},
		"installed list": {[]string{"a.tf", "module \"m\" { source = " +
			"\"x/y/z\" }\n", ".terraform/modules/modules.json", "{"}, "malformed .terraform/modules/modules.json:0"},
		"terragrunt": {[]string{"u/terragrunt.hcl", "terraform { source = \"git::https://x.example/m\" }\n"},
			"unavailable u/terragrunt.hcl:1"},
		"terragrunt other": {[]string{"u/terragrunt.hcl", "terraform { source = \"../none\" }\n"}, "unavailable " +
			"u/terragrunt.hcl:1"},
	} {
		var got []string
		for _, p := range load(t, c.files...).Problems {
			got = append(got, fmt.Sprintf("%s %s:%d", p.Code, p.Path, p.Line))
		}
		if !slices.Contains(got, c.want) {
			t.Errorf("%s: %v, want %s", name, got, c.want)
		}
	}
}

// TestMatch knows Terraform's files by their names.
func TestMatch(t *testing.T) {
	for name, want := range map[string]bool{
		"main.tf": true, "a/main.tf.json": true, "main.tofu": true, "x.tfvars": true, "x.auto.tfvars.json": true,
		"u/terragrunt.hcl": true, "root.hcl": true, "packer.hcl": false, "main.tf.bak": false, "plan.json": false,
	} {
		if got := Match(name); got != want {
			t.Errorf("%s: %v, want %v", name, got, want)
		}
	}
}

// TestPathValues are relative to the root module, as Terraform has them.
func TestPathValues(t *testing.T) {
	p := load(t, "env/prod/main.tf", "module \"m\" { source = \"../../mod/m\" }\nresource \"t\" \"root\" { x = "+
		"path.module }\n",
		"mod/m/main.tf", "resource \"t\" \"m\" { x = [path.module, path.root, path.cwd, terraform.workspace] }\n")
	want := map[string]any{"t.root": ".", "module.m.t.m": []any{"../../mod/m", ".", ".", "default"}}
	if diff := cmp.Diff(want, argument(p, "x")); diff != "" {
		t.Errorf("values (-want +got):\n%s", diff)
	}
}
