package terraform

import (
	"context"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/google/go-cmp/cmp"

	"merlon/internal/finding"
)

// load evaluates files that are given as name and text in turn.
func load(t testing.TB, files ...string) *Project {
	t.Helper()
	tree := fstest.MapFS{}
	var names []string
	for i := 0; i < len(files); i += 2 {
		tree[files[i]] = &fstest.MapFile{Data: []byte(files[i+1])}
		names = append(names, files[i])
	}
	p, err := Load(context.Background(), tree, names)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// resources returns the resources by address.
func resources(p *Project) map[string]*Resource {
	out := map[string]*Resource{}
	for _, m := range p.Modules {
		for _, r := range m.Resources {
			out[r.Address] = r
		}
	}
	return out
}

func wantValues(t *testing.T, p *Project, want map[string]any) {
	t.Helper()
	if diff := cmp.Diff(want, argument(p, "x")); diff != "" {
		t.Errorf("values of x (-want +got):\n%s", diff)
	}
	for _, problem := range p.Problems {
		t.Errorf("problem: %+v", problem)
	}
}

func argument(p *Project, name string) map[string]any {
	out := map[string]any{}
	for address, r := range resources(p) {
		if a := r.Body.Attributes[name]; a != nil {
			out[address] = a.Value
		}
	}
	return out
}

func TestExpressions(t *testing.T) {
	p := load(t, "main.tf", `
variable "env" { default = "prod" }
variable "name" { type = string }
variable "list" { type = list(string) }
locals {
  a = "${var.env}-x"
  m = { for k in ["p", "q"] : k => upper(k) }
}
resource "t" "a" { x = local.a }
resource "t" "b" { x = local.m.q }
resource "t" "c" { x = var.env == "prod" ? 1 : 2 }
resource "t" "d" { x = "b-${var.name}" }
resource "t" "e" { x = var.list }
resource "t" "f" { x = var.name == "z" }
resource "t" "g" { x = jsonencode({ r = t.a.arn, v = true }) }
resource "t" "h" { x = try(local.none, "fallback") }
resource "t" "i" { x = cidrsubnet("10.0.0.0/8", 8, 2) }
resource "t" "j" { x = null }
resource "t" "k" { x = "$${literal}" }
resource "t" "l" { x = replace("a.b", "/[.]/", "-") }
resource "t" "m" { x = merge({ a = var.name }, { b = "c" }) }
resource "t" "n" { x = nosuch(1) }
resource "t" "o" { x = [for i, v in ["a", "b"] : "${i}${v}" if v != "a"] }
`)
	wantValues(t, p, map[string]any{
		"t.a": "prod-x", "t.b": "Q", "t.c": 1.0, "t.d": "b-${var.name}", "t.e": Unknown{}, "t.f": Unknown{},
		"t.g": `{"r":"${t.a.arn}","v":true}`, "t.h": Unknown{}, "t.i": "10.2.0.0/16", "t.j": nil, "t.k": "${literal}",
		"t.l": "a-b", "t.m": map[string]any{"a": "${var.name}", "b": "c"}, "t.n": Unknown{}, "t.o": []any{"1b"},
	})
}

func TestInstances(t *testing.T) {
	p := load(t, "main.tf", `
variable "unset" { type = bool }
resource "t" "none" {
  count = 0
  x     = 1
}
resource "t" "two" {
  count = 2
  x     = "n${count.index}"
}
resource "t" "each" {
  for_each = { a = "1", b = "2" }
  x        = "${each.key}=${each.value}"
}
resource "t" "set" {
  for_each = toset(["s"])
  x        = each.value
}
resource "t" "maybe" {
  count = var.unset ? 1 : 0
  x     = count.index
}
resource "t" "asks" { x = t.two[1].x }
resource "t" "splat" { x = t.two[*].x }
resource "t" "keyed" { x = t.each["a"].x }
`)
	wantValues(t, p, map[string]any{
		"t.two[0]": "n0", "t.two[1]": "n1", `t.each["a"]`: "a=1", `t.each["b"]`: "b=2", `t.set["s"]`: "s",
		"t.maybe": Unknown{},
		"t.asks":  "n1", "t.splat": []any{"n0", "n1"}, "t.keyed": "a=1",
	})
}

func TestDynamicBlocks(t *testing.T) {
	p := load(t, "main.tf", `
variable "rules" { type = list(any) }
resource "t" "a" {
  dynamic "ingress" {
    for_each = [80, 443]
    iterator = port
    content {
      from = port.value
      at   = port.key
    }
  }
}
resource "t" "b" {
  dynamic "ingress" {
    for_each = var.rules
    content { from = ingress.value.port }
  }
}
resource "t" "c" { ingress = [{ from = 1 }, { from = 2 }] }
`)
	got := map[string]string{}
	for address, r := range resources(p) {
		for _, b := range r.Body.All("ingress") {
			got[address] += fmt.Sprint(b.Value("from"), b.Value("at"), b.Unsure, ";")
		}
	}
	want := map[string]string{"t.a": "80 0 false;443 1 false;", "t.b": "{} <nil> true;",
		"t.c": "1 <nil> false;2 <nil> false;"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("blocks (-want +got):\n%s", diff)
	}
	if has, sure := resources(p)["t.b"].Body.Has("egress"); has || !sure {
		t.Error("a block that nothing makes may exist")
	}
}

func TestModules(t *testing.T) {
	p := load(t,
		"env/main.tf", `
module "a" {
  source = "../mod"
  name   = "one"
}
module "b" {
  source = "../mod"
  count  = 2
  name   = "two${count.index}"
}
resource "t" "asks" { x = module.a.out }
resource "t" "all" { x = module.b[*].out }
`,
		"mod/main.tf", `
variable "name" {}
variable "size" { default = 3 }
resource "t" "m" { x = "${var.name}/${var.size}" }
output "out" { value = t.m.x }
`)
	wantValues(t, p, map[string]any{
		"module.a.t.m": "one/3", "module.b[0].t.m": "two0/3", "module.b[1].t.m": "two1/3",
		"t.asks": "one/3", "t.all": []any{"two0/3", "two1/3"},
	})
	steps := resources(p)["module.a.t.m"].Module.Steps()
	if len(steps) != 1 || steps[0].Location.Path != "env/main.tf" || steps[0].Location.StartLine != 2 {
		t.Errorf("steps %+v, want the call in line 2", steps)
	}
	refs := resources(p)["t.asks"].Refs()
	if len(refs) != 1 || refs[0].Address != "module.a.t.m" {
		t.Errorf("references %v, want the resource in the module", refs)
	}
}

func TestValuesFromFiles(t *testing.T) {
	p := load(t,
		"main.tf", "variable \"a\" {}\nvariable \"b\" { default = 1 }\nvariable \"c\" {}\nresource \"t\" \"a\" { x = "+
			"[var.a, var.b, var.c] }\n",
		"terraform.tfvars", "a = \"first\"\nb = 2\n",
		"z.auto.tfvars", "b = 3\n",
		"other.tfvars", "c = \"not read\"\n")
	wantValues(t, p, map[string]any{"t.a": []any{"first", 3.0, "${var.c}"}})
}

func TestFiles(t *testing.T) {
	p := load(t,
		"m/main.tf", `
resource "t" "a" { x = file("${path.module}/p.json") }
resource "t" "b" { x = templatefile("t.tpl", { who = "you", list = [1, 2] }) }
resource "t" "c" { x = file("../../etc/passwd") }
resource "t" "d" { x = file("absent") }
`, "m/p.json", "{}", "m/t.tpl", "hello ${who}%{ for i in list } ${i}%{ endfor }")
	got := argument(p, "x")
	want := map[string]any{"t.a": "{}", "t.b": "hello you 1 2", "t.c": Unknown{}, "t.d": Unknown{}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("values (-want +got):\n%s", diff)
	}
}

func TestJSONSyntax(t *testing.T) {
	p := load(t, "main.tf.json", `{
  "variable": {"n": {"default": "v"}},
  "resource": {"t": {"a": {
    "x": "${var.n}-1",
    "nested": {"on": true},
    "dynamic": {"rule": {"for_each": [1, 2], "content": {"p": "${rule.value}"}}}
  }}}
}`)
	r := resources(p)["t.a"]
	if r == nil {
		t.Fatalf("no resource: %+v", p)
	}
	if got := r.Body.Value("x"); got != "v-1" {
		t.Errorf("x is %v, want v-1", got)
	}
	if hits := r.Body.Lookup("nested.on"); len(hits) != 1 || hits[0].Value != true {
		t.Errorf("nested.on: %+v", hits)
	}
	if rules := r.Body.All("rule"); len(rules) != 2 || rules[1].Value("p") != 2.0 {
		t.Errorf("rules: %+v", rules)
	}
	if at := r.Body.Attributes["x"].Place; at.StartLine != 4 || at.StartColumn != 5 {
		t.Errorf("x stands at %+v, want 4:5", at)
	}
}

func TestPlaces(t *testing.T) {
	p := load(t, "main.tf", "resource \"t\" \"a\" {\n  ä = 1\n  b {\n    c = 2\n  }\n}\n")
	b := resources(p)["t.a"].Body
	for _, c := range []struct {
		got, want finding.Location
	}{
		{b.Place, finding.Location{Path: "main.tf", StartLine: 1, StartColumn: 1, EndLine: 1, EndColumn: 17}},
		{b.Attributes["ä"].Place, finding.Location{Path: "main.tf", StartLine: 2, StartColumn: 3, EndLine: 2,
			EndColumn: 8}},
		{b.Lookup("b.c")[0].Place, finding.Location{Path: "main.tf", StartLine: 4, StartColumn: 5, EndLine: 4,
			EndColumn: 10}},
		{b.Lookup("b")[0].Place, finding.Location{Path: "main.tf", StartLine: 3, StartColumn: 3, EndLine: 3,
			EndColumn: 4}},
	} {
		if diff := cmp.Diff(c.want, c.got); diff != "" {
			t.Errorf("place (-want +got):\n%s", diff)
		}
	}
}

func TestPolicyDocument(t *testing.T) {
	p := load(t, "main.tf", `
resource "aws_s3_bucket" "b" {}
data "aws_iam_policy_document" "d" {
  statement {
    actions   = ["s3:*"]
    resources = ["${aws_s3_bucket.b.arn}/*"]
    principals {
      type        = "AWS"
      identifiers = ["*"]
    }
    condition {
      test     = "Bool"
      variable = "aws:SecureTransport"
      values   = ["true"]
    }
  }
}
resource "t" "a" { x = data.aws_iam_policy_document.d.json }
`)
	want := `{"Statement":[{"Action":["s3:*"],"Condition":{"Bool":{"aws:SecureTransport":["true"]}},"Effect":"Allow",` +
		`"Principal":{"AWS":["*"]},"Resource":["${aws_s3_bucket.b.arn}/*"]}],"Version":"2012-10-17"}`
	if got := resources(p)["t.a"].Body.Value("x"); got != want {
		t.Errorf("policy\n got %v\nwant %v", got, want)
	}
	var named []string
	for _, r := range resources(p)["t.a"].Refs() {
		named = append(named, r.Address)
	}
	if diff := cmp.Diff([]string{"aws_s3_bucket.b", "data.aws_iam_policy_document.d"}, named); diff != "" {
		t.Errorf("references (-want +got):\n%s", diff)
	}
}

func TestSensitive(t *testing.T) {
	p := load(t, "main.tf", `
variable "pw" {
  sensitive = true
  default   = "p"
}
resource "t" "a" { x = "u:${var.pw}" }
resource "t" "b" { x = nonsensitive(var.pw) }
`)
	if r := resources(p); !r["t.a"].Body.Attributes["x"].Sensitive || r["t.b"].Body.Attributes["x"].Sensitive {
		t.Error("the sensitive value is not followed")
	}
}

// What never ends, or would need all memory, is stopped and named.
func TestLimits(t *testing.T) {
	nested := strings.Repeat("[", 5000) + strings.Repeat("]", 5000)
	double := `resource "t" "a" { x = local.l39 }` + "\nlocals {\n  l0 = \"xxxxxxxx\"\n"
	for i := 1; i < 40; i++ {
		double += fmt.Sprintf("  l%d = \"${local.l%d}${local.l%d}\"\n", i, i-1, i-1)
	}
	double += "}\n"
	for name, c := range map[string]struct{ text, code string }{
		"count":     {`resource "t" "a" { count = 1000000000 }`, "too-complex"},
		"cycle":     {"locals {\n  a = local.b\n  b = local.a\n}\nresource \"t\" \"a\" { x = local.a }", "cycle"},
		"resources": {`resource "t" "a" { x = t.b.x }` + "\n" + `resource "t" "b" { x = t.a.x }`, "cycle"},
		"self":      {`module "m" { source = "./" }`, ""},
		"nesting":   {`resource "t" "a" { x = ` + nested + ` }`, "too-complex"},
		"operators": {`resource "t" "a" { x = ` + strings.Repeat("!", 50000) + `true }`, "too-complex"},
		"sum":       {`resource "t" "a" { x = 1` + strings.Repeat("+1", 50000) + ` }`, "too-complex"},
		"loops": {"locals {\n  r = range(1000)\n}\n" +
			`resource "t" "a" { x = [for a in local.r : [for b in local.r : [for c in local.r : c]]] }`, "too-complex"},
		"doubling": {double, "too-large"},
		"format":   {`resource "t" "a" { x = format("%0999999999d", 1) }`, ""},
		"product": {"locals {\n  r = range(1000)\n}\n" +
			`resource "t" "a" { x = setproduct(local.r, local.r, local.r) }`, ""},
		"broken":     {"resource \"t\" \"a\" {\n  x = \n}", "malformed"},
		"registry":   {`module "m" { source = "terraform-aws-modules/vpc/aws" }`, "unavailable"},
		"unread dir": {`module "m" { source = "./none" }`, "unavailable"},
	} {
		t.Run(name, func(t *testing.T) {
			began := time.Now()
			p := load(t, "main.tf", c.text)
			if took := time.Since(began); took > 20*time.Second {
				t.Errorf("took %v", took)
			}
			if c.code == "" {
				return
			}
			for _, problem := range p.Problems {
				if problem.Code == c.code && problem.Path == "main.tf" && problem.Line > 0 {
					return
				}
			}
			t.Errorf("no problem %q: %+v", c.code, p.Problems)
		})
	}
}

func TestInstalledModules(t *testing.T) {
	p := load(t,
		"main.tf", `module "vpc" { source = "registry/vpc/aws" }`,
		".terraform/modules/modules.json", `{"Modules":[{"Key":"vpc","Dir":".terraform/modules/vpc"}]}`,
		".terraform/modules/vpc/main.tf", `resource "t" "a" { x = 1 }`)
	wantValues(t, p, map[string]any{"module.vpc.t.a": 1.0})
}

// Folders that hold examples rather than one module say a name twice; each file
// means its own.
func TestTwiceDeclared(t *testing.T) {
	p := load(t,
		"one.tf", "locals {\n  v = 1\n}\nresource \"t\" \"a\" { x = local.v }\n",
		"two.tf", "locals {\n  v = 2\n}\nresource \"t\" \"a\" { x = local.v }\nresource \"t\" \"b\" { x = t.a.x }\n")
	got := map[string]any{}
	for _, r := range p.Modules[0].Resources {
		got[r.Body.Place.Path+" "+r.Address] = r.Body.Value("x")
	}
	want := map[string]any{"one.tf t.a": 1.0, "two.tf t.a": 2.0, "two.tf t.b": 2.0}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("values (-want +got):\n%s", diff)
	}
}

func TestDocuments(t *testing.T) {
	p := load(t, "main.tf", `
variable "acl" { default = "public-read" }
resource "aws_s3_bucket" "b" {
  acl    = var.acl
  bucket = "x"
}
resource "aws_s3_bucket_versioning" "v" {
  bucket = aws_s3_bucket.b.id
  versioning_configuration { status = "Enabled" }
}
resource "t" "r" {
  rule { p = 1 }
  rule { p = 2 }
  tags = {
    a = "b"
    c = unknown_thing.x
  }
}
resource "t" "gone" { count = 0 }
`)
	docs := p.Documents()
	if len(docs) != 1 {
		t.Fatalf("%d documents, want 1", len(docs))
	}
	want := map[string]any{
		"variable": map[string]any{"acl": map[string]any{"default": "public-read"}},
		"resource": map[string]any{
			"aws_s3_bucket": map[string]any{"b": map[string]any{"acl": "public-read", "bucket": "x"}},
			"aws_s3_bucket_versioning": map[string]any{"v": map[string]any{"bucket": "${aws_s3_bucket.b.id}",
				"versioning_configuration": map[string]any{"status": "Enabled"}}},
			"t": map[string]any{"r": map[string]any{"rule": []any{map[string]any{"p": int64(1)},
				map[string]any{"p": int64(2)}},
				"tags": map[string]any{"a": "b", "c": "${unknown_thing.x}"}}},
		},
	}
	if diff := cmp.Diff(want, docs[0].Root); diff != "" {
		t.Errorf("document (-want +got):\n%s", diff)
	}
	for path, line := range map[string]int{"resource aws_s3_bucket b acl": 4, "resource aws_s3_bucket b": 3,
		"resource aws_s3_bucket_versioning v versioning_configuration status": 9,
		"resource t r rule 1 p": 13, "resource t r tags c": 16} {
		if n, _ := docs[0].Lines.Find(strings.Fields(path)...); n == nil || n.Line != line {
			t.Errorf("%s is said to stand in line %+v, want %d", path, n, line)
		}
	}
}

func TestPlan(t *testing.T) {
	p := load(t, "plan.json", `{
  "format_version": "1.2",
  "planned_values": {"root_module": {
    "resources": [
      {"address": "aws_s3_bucket.b", "mode": "managed", "type": "aws_s3_bucket", "name": "b",
       "values": {"x": "${no template}",
                  "rule": [{"on": true}]}}
    ],
    "child_modules": [{"resources": [{"address": "module.m.t.a[0]", "mode": "managed", "type": "t", "name": "a", "values": {"x": 1}}]}]
  }},
  "resource_changes": [{"address": "aws_s3_bucket.b", "change": {"after_unknown": {"arn": true, "rule": [{"key": true}], "tags": {}}}}]
}`)
	got := argument(p, "x")
	want := map[string]any{"aws_s3_bucket.b": "${no template}", "module.m.t.a[0]": 1.0}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("values (-want +got):\n%s", diff)
	}
	b := resources(p)["aws_s3_bucket.b"].Body
	if b.Value("arn") != (Unknown{}) || b.Lookup("rule.key")[0].Value != (Unknown{}) ||
		b.Lookup("rule.on")[0].Value != true || b.Value("tags") != nil {
		t.Errorf("what is known after the apply: arn %v, rule %v, tags %v", b.Value("arn"), b.Value("rule"),
			b.Value("tags"))
	}
	if docs := p.Documents(); len(docs) != 0 {
		t.Errorf("%d documents of a plan, which is read with all JSON", len(docs))
	}
	if at := b.Attributes["x"].Place; at.StartLine != 6 {
		t.Errorf("x stands in line %d, want 6", at.StartLine)
	}
}

func TestCDKTF(t *testing.T) {
	p := load(t, "out/cdk.json",
		`{"//": {"metadata": {"stackName": "s"}}, "resource": {"t": {"a": {"x": "${1 + 1}"}}}}`, "package.json",
		`{"resource": 1}`)
	wantValues(t, p, map[string]any{"t.a": 2.0})
}

func FuzzLoad(f *testing.F) {
	f.Add("main.tf", "variable \"a\" { default = [1] }\nresource \"t\" \"a\" {\n  for_each = toset(var.a)\n  x = "+
		"jsonencode(each.value)\n  dynamic \"b\" {\n    for_each = var.a\n    content { y = b.value }\n  }\n}\n")
	f.Add("main.tf.json", `{"resource":{"t":{"a":[{"x":"${[for i in range(3): i]}","dynamic":{"b":{"for_each":[1],"content":{"y":1}}}}]}}}`)
	f.Add("main.tf", "module \"m\" { source = \"./\" }\ndata \"aws_iam_policy_document\" \"d\" { statement { actions "+
		"= [\"*\"] } }\noutput \"o\" { value = data.aws_iam_policy_document.d.json }\n")
	f.Add("plan.json", `{"format_version":"1","planned_values":{"root_module":{"resources":[{"address":"t.a","type":"t","values":{"x":[{"y":1}]}}]}},"resource_changes":[{"address":"t.a","change":{"after_unknown":{"x":[{"z":true}]}}}]}`)
	f.Add("x.tfvars", "a = {\n  b = \"${c}\"\n}\n")
	f.Fuzz(func(t *testing.T, name, text string) {
		if !Match(name) && name != "plan.json" || len(text) > 20_000 {
			return
		}
		tree := fstest.MapFS{name: &fstest.MapFile{Data: []byte(text)}}
		p, err := Load(context.Background(), tree, []string{name})
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range p.Modules {
			for _, r := range m.Resources {
				if r.Address == "" || r.Body == nil || r.Body.Place.StartLine < 1 {
					t.Errorf("a resource without place: %+v", r)
				}
				r.Refs()
			}
		}
		p.Documents()
	})
}

func TestOverride(t *testing.T) {
	p := load(t,
		"main.tf", "variable \"v\" { default = 1 }\nlocals {\n  a = 1\n  b = 2\n}\nresource \"t\" \"a\" {\n  x = "+
			"[local.a, local.b, var.v]\n  y = 1\n  rule { p = 1 }\n  keep { p = 1 }\n}\n",
		"z_override.tf", "locals {\n  b = 3\n}\nvariable \"v\" { default = 4 }\nresource \"t\" \"a\" {\n  y = 2\n  "+
			"rule { p = 2 }\n  rule { p = 3 }\n}\nresource \"t\" \"new\" { x = 1 }\n",
		"override.tf.json", `{"resource": {"t": {"a": {"z": true}}}}`)
	wantValues(t, p, map[string]any{"t.a": []any{1.0, 3.0, 4.0}, "t.new": 1.0})
	a := resources(p)["t.a"].Body
	if a.Value("y") != 2.0 || a.Value("z") != true || len(a.All("rule")) != 2 || len(a.All("keep")) != 1 {
		t.Errorf("y is %v, z is %v, %d rules, %d keep", a.Value("y"), a.Value("z"), len(a.All("rule")),
			len(a.All("keep")))
	}
	if at := a.Attributes["y"].Place; at.Path != "z_override.tf" || at.StartLine != 6 {
		t.Errorf("y stands at %+v, want line 6 of the override", at)
	}
	for _, d := range p.Documents() {
		if n, found := d.Lines.Find("resource", "t", "a", "y"); d.Path == "main.tf" &&
			(found != 4 || d.File(n) != "z_override.tf" || n.Line != 6) {
			t.Errorf("the document has y at %+v", n)
		}
	}
}

func TestTofuFiles(t *testing.T) {
	p := load(t, "a.tf", `resource "t" "a" { x = 1 }`, "a.tofu", `resource "t" "a" { x = 2 }`, "b.tofu.json",
		`{"resource": {"t": {"b": {"x": 3}}}}`)
	wantValues(t, p, map[string]any{"t.a": 2.0, "t.b": 3.0})
}

func TestTerragrunt(t *testing.T) {
	p := load(t,
		"root.hcl", "inputs = {\n  region = \"r\"\n  size = 1\n}\n",
		"live/prod/app/terragrunt.hcl", `
include "root" { path = find_in_parent_folders("root.hcl") }
locals {
  open = "0.0.0.0/0"
  all  = [local.open]
}
terraform { source = "${get_terragrunt_dir()}/../../../modules//app" }
inputs = {
  from = local.all
  size = 2
  vpc  = dependency.vpc.outputs.id
}
`,
		"live/prod/far/terragrunt.hcl", `terraform { source = "git::https://x.test/a.git" }`,
		"modules/app/main.tf", "variable \"from\" {}\nvariable \"size\" {}\nvariable \"region\" {}\nvariable \"vpc\" "+
			"{}\nresource \"t\" \"a\" { x = [var.from, var.size, var.region, var.vpc] }\n")
	got := argument(p, "x")
	want := map[string]any{"t.a": []any{[]any{"0.0.0.0/0"}, 2.0, "r", Unknown{}}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("values (-want +got):\n%s", diff)
	}
	if steps := resources(p)["t.a"].Module.Steps(); len(steps) != 1 ||
		steps[0].Location.Path != "live/prod/app/terragrunt.hcl" || steps[0].Location.StartLine != 7 {
		t.Errorf("steps %+v", steps)
	}
	if len(p.Problems) != 1 || p.Problems[0].Code != "unavailable" ||
		p.Problems[0].Path != "live/prod/far/terragrunt.hcl" {
		t.Errorf("problems %+v", p.Problems)
	}
}

func TestNullable(t *testing.T) {
	p := load(t, "main.tf", "module \"m\" {\n  source = \"./m\"\n  a = null\n  b = null\n}\n",
		"m/main.tf", "variable \"a\" {\n  default = 1\n  nullable = false\n}\nvariable \"b\" { default = 1 "+
			"}\nresource \"t\" \"a\" { x = [var.a, var.b] }\n")
	wantValues(t, p, map[string]any{"module.m.t.a": []any{1.0, nil}})
}

func TestFunctions(t *testing.T) {
	tests := []struct {
		expression string
		want       any
	}{
		{`lookup({ a = 1 }, "a")`, 1.0},
		{`lookup({ a = 1 }, "b", 2)`, 2.0},
		{`lookup(tomap({ a = "x" }), "a", "y")`, "x"},
		{`lookup({ a = 1 }, "b")`, Unknown{}},
		{`coalesce("", null, "x")`, "x"},
		{`coalesce(null, 0)`, 0.0},
		{`index(["a", "b"], "b")`, 1.0},
		{`matchkeys(["i-1", "i-2"], ["w", "e"], ["e"])`, []any{"i-2"}},
		{`transpose({ a = ["1", "2"], b = ["2"] })`, map[string]any{"1": []any{"a"}, "2": []any{"a", "b"}}},
		{`timecmp("2024-01-01T00:00:00Z", "2025-01-01T00:00:00Z")`, -1.0},
		{`cidrnetmask("10.0.0.0/20")`, "255.255.240.0"},
		{`cidrsubnets("10.0.0.0/8", 8, 8, 4)`, []any{"10.0.0.0/16", "10.1.0.0/16", "10.16.0.0/12"}},
		{`cidrcontains("10.0.0.0/8", "10.1.0.0/16")`, true},
		{`cidrcontains("10.0.0.0/8", "11.0.0.1")`, false},
		{`urldecode("a%2Fb")`, "a/b"},
		{`textencodebase64("hi", "UTF-16LE")`, "aABpAA=="},
		{`textdecodebase64("aABpAA==", "UTF-16LE")`, "hi"},
		{`issensitive(sensitive(1))`, true},
		{`sort(tolist(fileset("${path.module}/f", "**/*.{json,tpl}")))`, []any{"a.json", "d/e/b.tpl"}},
		{`sort(tolist(fileset("f", "*")))`, []any{"a.json", "c.txt"}},
		{`fileset("../", "*")`, Unknown{}},
		{`setproduct(["a"], ["b", "c"])`, []any{[]any{"a", "b"}, []any{"a", "c"}}},
		{`templatestring("$${a}!", { a = 1 })`, "1!"},
		{`yamldecode("a: [1, true]").a[1]`, true},
		{`jsondecode("{\"a\": 0}").a`, 0.0},
		{`provider::aws::arn_parse("arn:x").service`, Unknown{}},
		{`can(regex("^a", "abc")) ? "y" : "n"`, "y"},
		{`try({}.a, "none")`, "none"},
	}
	for _, tt := range tests {
		p := load(t, "main.tf", "resource \"t\" \"a\" { x = "+tt.expression+" }\n",
			"f/a.json", "", "f/d/e/b.tpl", "", "f/c.txt", "")
		if diff := cmp.Diff(tt.want, argument(p, "x")["t.a"]); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.expression, diff)
		}
	}
}

// A value that nobody gives is marked; a resource's name and a text with holes are not.
func TestUnknownPlaces(t *testing.T) {
	p := load(t, "main.tf", `
variable "v" {}
variable "l" { type = list(string) }
resource "t" "a" {
  a = var.v
  b = var.l
  c = "x-${var.v}"
  d = other.b.arn
  e = [var.v, 1]
  f = var.v == "" ? 1 : 2
}
`)
	d := p.Documents()[0]
	want := map[string]bool{"a": true, "b": true, "c": false, "d": false, "e": false, "f": true}
	for name, unknown := range want {
		if n, _ := d.Lines.Find("resource", "t", "a", name); n.Unknown != unknown {
			t.Errorf("%s unknown: %v, want %v", name, n.Unknown, unknown)
		}
	}
	if n, _ := d.Lines.Find("resource", "t", "a", "e", "0"); !n.Unknown {
		t.Error("the first of e is known")
	}
}

// TestIteratorsInDocuments shows the values that the iterator of a dynamic block has, with the defaults
// of optional attributes. What nobody knows is marked as such, and a resource stays a name.
func TestIteratorsInDocuments(t *testing.T) {
	const text = `
variable "known" {
  type    = list(object({ name = string, resources = optional(list(string), ["secrets"]) }))
  default = [{ name = "a" }]
}
variable "unknown" { type = list(object({ resources = list(string) })) }
resource "aws_kms_key" "k" {}
resource "aws_eks_cluster" "known" {
  dynamic "encryption_config" {
    for_each = var.known
    content { resources = encryption_config.value.resources }
  }
}
resource "aws_eks_cluster" "unknown" {
  dynamic "encryption_config" {
    for_each = var.unknown
    content { resources = encryption_config.value.resources }
  }
}
resource "aws_eks_cluster" "named" {
  dynamic "encryption_config" {
    for_each = [aws_kms_key.k.arn]
    content { resources = encryption_config.value }
  }
}
`
	p, err := Load(t.Context(), fstest.MapFS{"main.tf": {Data: []byte(text)}}, []string{"main.tf"})
	if err != nil {
		t.Fatal(err)
	}
	d := p.Documents()[0]
	for name, want := range map[string]any{
		"known":   []any{"secrets"},
		"unknown": "${encryption_config.value.resources}",
		"named":   "${encryption_config.value}",
	} {
		way := []string{"resource", "aws_eks_cluster", name, "encryption_config", "resources"}
		var got any = d.Root
		for _, step := range way {
			m, _ := got.(map[string]any)
			got = m[step]
		}
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %v, want %v", name, got, want)
		}
		if n, found := d.Lines.Find(way...); found != len(way) || n.Unknown != (name == "unknown") {
			t.Errorf("%s: the place %+v", name, n)
		}
	}
}
