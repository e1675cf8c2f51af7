package serverless

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"merlon/internal/engine/iac/document"
)

func load(t *testing.T, files map[string]string) Service {
	t.Helper()
	trees, err := document.DecodeYAML([]byte(files["api/serverless.yml"]))
	if err != nil || len(trees) != 1 {
		t.Fatalf("%d trees, error %v", len(trees), err)
	}
	before := fmt.Sprint(trees[0].Root)
	s := Load("api/serverless.yml", trees[0], func(name string) ([]byte, error) {
		if text, ok := files[name]; ok {
			return []byte(text), nil
		}
		return nil, errors.New("no file")
	})
	if fmt.Sprint(trees[0].Root) != before {
		t.Error("the given tree was changed")
	}
	return s
}

// shown returns the values of a map, with "?" behind what is not known.
func shown(m map[string]any, n *document.Node) map[string]string {
	out := map[string]string{}
	for key, v := range m {
		out[key] = fmt.Sprint(v)
		if n.Fields[key].Unknown {
			out[key] += "?"
		}
	}
	return out
}

func TestVariables(t *testing.T) {
	s := load(t, map[string]string{
		"api/serverless.yml": `service: shop
provider:
  name: aws
  stage: ${opt:stage, 'qa'}
  tracing: {lambda: "${self:custom.tracing.${self:provider.stage}}"}
params:
  default: {size: small, kind: web}
  qa: {size: large}
custom:
  tracing: {qa: false, prod: true}
  table: orders-${sls:stage}
  loop: ${self:custom.loop}
  list: [a, "${self:custom.table}"]
  shared: ${file(../shared/common.yml)}
x:
  a: ${self:custom.table}
  b: ${self:custom.list.1}
  c: ${opt:region}
  d: ${opt:region, self:custom.none, "eu-west-1"}
  e: ${env:NAME, 'x'}
  f: ${ssm:/a/b}
  g: arn:aws:s3:::${AWS::AccountId}-${self:service}
  h: ${param:size}-${param:kind}
  i: ${self:custom.loop}
  j: ${strToBool(true)}
  k: ${file(../shared/common.yml):deep.key}
  l: ${file(gone.yml):x}
  m: ${file(gone.yml):x, 'here'}
  n: ${file(./config.js):x}
  o: ${self:custom.shared.deep}
  p: "${opt:none, ${self:custom.table}}"
  q: ${Name}
  r: ${self:custom.none}
  s: "${file(./${env:STAGE}.yml):x}"
  t: "${self:provider.stage"
`,
		"shared/common.yml": "deep: {key: \"of ${self:service}\", other: 2}\n",
	})
	want := map[string]string{
		"a": "orders-qa", "b": "orders-qa", "c": "${opt:region}?", "d": "eu-west-1", "e": "${env:NAME, 'x'}?",
		"f": "${ssm:/a/b}?",
		"g": "arn:aws:s3:::${AWS::AccountId}-shop", "h": "large-web", "i": "${self:custom.loop}?", "j": "true",
		"k": "of shop", "l": "${file(gone.yml):x}?", "m": "here",
		"n": "${file(./config.js):x}?", "o": "map[key:of shop other:2]", "p": "orders-qa", "q": "${Name}",
		"r": "${self:custom.none}?", "s": "${file(./${env:STAGE}.yml):x}?", "t": "${self:provider.stage?",
	}
	if diff := cmp.Diff(want, shown(s.Root["x"].(map[string]any), s.Lines.Fields["x"])); diff != "" {
		t.Errorf("values (-want +got):\n%s", diff)
	}
	if v := s.Root["provider"].(map[string]any)["tracing"].(map[string]any)["lambda"]; v != false {
		t.Errorf("a variable in a variable is %v", v)
	}
	if n, found := s.Lines.Find("x", "o", "other"); found != 3 || n.Path != "shared/common.yml" || n.Line != 1 {
		t.Errorf("a value of another file stands at %+v", n)
	}
	if n, _ := s.Lines.Find("x", "o"); n.Path != "" || n.Line != 30 {
		t.Errorf("a variable stands at %+v", n)
	}
	if diff := cmp.Diff([]string{"shared/common.yml"}, s.Parts); diff != "" {
		t.Errorf("parts (-want +got):\n%s", diff)
	}
	var gaps []string
	for _, g := range s.Gaps {
		gaps = append(gaps, fmt.Sprintf("%s:%d %s: %s", g.Path, g.Line, g.Code, g.Message))
	}
	if diff := cmp.Diff([]string{
		"api/serverless.yml:27 unavailable: the file gone.yml is not analyzed: it is not part of the tree, or " +
			"cannot be read",
		"api/serverless.yml:29 unavailable: the file ./config.js is not followed: a program makes its values",
	}, gaps); diff != "" {
		t.Errorf("gaps (-want +got):\n%s", diff)
	}
}

func TestParts(t *testing.T) {
	s := load(t, map[string]string{
		"api/serverless.yml": "service: shop\nprovider: {name: aws}\nfunctions:\n  - ${file(functions.yml)}\n  - " +
			"extra: {handler: x}\nresources:\n  - ${file(resources/bucket.yml)}\n  - Resources:\n      Table: {Type: " +
			"AWS::DynamoDB::Table}\n    Outputs: {A: b}\n",
		"api/functions.yml":        "list: {handler: \"${self:service}.list\"}\n",
		"api/resources/bucket.yml": "Resources:\n  Bucket:\n    Type: AWS::S3::Bucket\n",
	})
	if diff := cmp.Diff(map[string]any{"list": map[string]any{"handler": "shop.list"},
		"extra": map[string]any{"handler": "x"}}, s.Root["functions"]); diff != "" {
		t.Errorf("functions (-want +got):\n%s", diff)
	}
	want := map[string]any{
		"Resources": map[string]any{"Bucket": map[string]any{"Type": "AWS::S3::Bucket"},
			"Table": map[string]any{"Type": "AWS::DynamoDB::Table"}}, "Outputs": map[string]any{"A": "b"},
	}
	if diff := cmp.Diff(want, s.Resources.Root); diff != "" {
		t.Errorf("resources (-want +got):\n%s", diff)
	}
	if n, found := s.Resources.Lines.Find("Resources", "Bucket", "Type"); found != 3 ||
		n.Path != "api/resources/bucket.yml" || n.Line != 3 {
		t.Errorf("the bucket stands at %+v", n)
	}
	if s := load(t, map[string]string{"api/serverless.yml": "service: shop\nprovider: " +
		"{name: aws}\n"}); s.Resources.Root != nil || len(s.Gaps) > 0 {
		t.Errorf("a service without resources: %+v", s)
	}
}

// The role of the functions is one of the template, unless another is named.
func TestRole(t *testing.T) {
	for _, c := range []struct{ provider, want string }{
		{"{name: aws, iamRoleStatements: [{Action: a}]}",
			"map[Policies:[map[PolicyDocument:map[Statement:[map[Action:a]] Version:2012-10-17] PolicyName:service]]]"},
		{"{name: aws, iam: {role: {statements: [{Action: b}], managedPolicies: [m]}}}", "map[ManagedPolicyArns:[m] " +
			"Policies:[map[PolicyDocument:map[Statement:[map[Action:b]] Version:2012-10-17] PolicyName:service]]]"},
		{"{name: aws, iam: {role: arn}}", "<nil>"},
		{"{name: aws, iam: {role: {statements: '${env:X}'}}}", "<nil>"},
	} {
		s := load(t, map[string]string{"api/serverless.yml": "service: shop\nprovider: " + c.provider + "\n"})
		all, _ := s.Resources.Root["Resources"].(map[string]any)
		role, _ := all[roleName].(map[string]any)
		if got := fmt.Sprint(role["Properties"]); got != c.want {
			t.Errorf("%s: the role is %s, want %s", c.provider, got, c.want)
		}
		if role != nil {
			if n, found := s.Resources.Lines.Find("Resources", roleName, "Properties", "Policies", "0",
				"PolicyDocument", "Statement", "0"); found != 8 || n.Line != 2 {
				t.Errorf("%s: the statement stands at %+v", c.provider, n)
			}
		}
	}
}

// Each value holds the one before twice.
func TestGrows(t *testing.T) {
	var b strings.Builder
	b.WriteString("service: x\ncustom:\n  v0: [1]\n")
	for i := range 60 {
		fmt.Fprintf(&b, "  v%d: [\"${self:custom.v%d}\", \"${self:custom.v%d}\"]\n  t%d: \"${self:custom.t%d, "+
			"'xxxxxxxx'}${self:custom.t%d, 'xxxxxxxx'}\"\n", i+1, i, i, i+1, i, i)
	}
	s := load(t, map[string]string{"api/serverless.yml": b.String()})
	if len(s.Gaps) != 1 || s.Gaps[0].Code != "too-complex" {
		t.Errorf("gaps %+v", s.Gaps)
	}
}

func FuzzLoad(f *testing.F) {
	f.Add("service: x\ncustom: {a: '${self:custom.b, ''c''}', b: '${file(serverless.yml):custom.a}'}\nresources: " +
		"['${self:}', {Resources: {A: '${opt:x, ${env:y}}'}}]\n")
	f.Fuzz(func(t *testing.T, text string) {
		trees, err := document.DecodeYAML([]byte(text))
		if err != nil {
			return
		}
		for _, tree := range trees {
			s := Load("serverless.yml", tree, func(string) ([]byte, error) { return []byte(text), nil })
			if s.Root == nil || s.Lines == nil {
				t.Fatal("nothing is left")
			}
		}
	})
}
