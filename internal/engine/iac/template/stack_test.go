package template

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"merlon/internal/engine/iac/document"
)

const stackText = `Transform: AWS::LanguageExtensions
Parameters:
  Env: {Type: String, Default: prod, AllowedValues: [dev, prod]}
  Open: {Type: String}
  Cidrs: {Type: CommaDelimitedList, Default: "10.0.0.0/8, 0.0.0.0/0"}
  Image: {Type: "AWS::SSM::Parameter::Value<String>", Default: /ami}
  DbPassword: {Type: String, Default: hunter22}
Mappings:
  Acl:
    prod: {value: PublicRead, same: x}
    dev: {value: Private, same: x}
Conditions:
  IsProd: !Equals [!Ref Env, prod]
  IsDev: !Not [{Condition: IsProd}]
  Both: !And [!Condition IsProd, !Equals [!Ref Open, "1"]]
  Either: {"Fn::Or": [{Condition: IsProd}, {"Fn::Equals": [{Ref: Open}, "1"]}]}
  Round: !Condition Round
Resources:
  R:
    Properties:
      A: !FindInMap [Acl, !Ref Env, value]
      B: !If [IsProd, false, true]
      C: !If [IsDev, {x: 1}, !Ref "AWS::NoValue"]
      D: !If [Both, 1, 2]
      E: {"Fn::If": [Either, {On: !Ref Env}, 2]}
      F: !Sub "${Env}-${!x}"
      G: !Sub "${Env}-${AWS::AccountId}"
      H: !Join ["/", [a, !Ref Env]]
      I: !Select [1, !Ref Cidrs]
      J: !Ref Image
      K: !Ref DbPassword
      L: {"Fn::ToJsonString": {a: [1, !Ref Env]}}
      M: !FindInMap [Acl, !Ref "AWS::Region", same]
      N: {"Fn::FindInMap": [Acl, none, value, {DefaultValue: d}]}
      O: !If [Round, 1, 2]
      P: !GetAtt R.Arn
      Q: !Sub ["${a}!", {a: !Ref Env}]
      S: [!If [IsDev, 1, !Ref "AWS::NoValue"], 2]
      T: {Ref: Open}
      U: !Cidr [10.0.0.0/16, 2, 8]
  Fn::ForEach::Buckets:
    - Name
    - [One, Two]
    - "B${Name}":
        Type: AWS::S3::Bucket
        Properties: {BucketName: !Sub "x-${Name}", Tag: !Ref Name}
`

func TestStackFunctions(t *testing.T) {
	tree := decode(t, stackText)
	got := evaluate(document.CloudFormation, tree, "x", none)
	resources := got.Root["Resources"].(map[string]any)
	want := map[string]any{
		"A": "PublicRead", "B": false, "D": []any{"Both", int64(1), int64(2)}, "E": map[string]any{"On": "prod"},
		"F": "prod-${x}",
		"G": "${Env}-${AWS::AccountId}", "H": "a/prod", "I": "0.0.0.0/0", "J": "Image", "K": "DbPassword",
		"L": `{"a":[1,"prod"]}`, "M": "x", "N": "d",
		"O": []any{"Round", int64(1), int64(2)}, "P": "R.Arn", "Q": "prod!", "S": []any{int64(2)},
		"T": map[string]any{"Ref": "Open"},
		"U": []any{"10.0.0.0/24", "10.0.1.0/24"},
	}
	if diff := cmp.Diff(want, resources["R"].(map[string]any)["Properties"]); diff != "" {
		t.Errorf("properties (-want +got):\n%s", diff)
	}
	loop := map[string]any{"Type": "AWS::S3::Bucket", "Properties": map[string]any{"BucketName": "x-One", "Tag": "One"}}
	if diff := cmp.Diff(loop, resources["BOne"]); diff != "" || resources["BTwo"] == nil {
		t.Errorf("loop (-want +got):\n%s", diff)
	}
	lines := strings.Split(stackText, "\n")
	for _, path := range []string{"A", "B", "D", "E", "E On", "I", "L"} {
		steps := append([]string{"Resources", "R", "Properties"}, strings.Fields(path)...)
		n, found := got.Lines.Find(steps...)
		if found != len(steps) || !strings.HasPrefix(strings.TrimSpace(lines[n.Line-1]), path[:1]+":") {
			t.Errorf("%s: %d steps to %+v", path, found, n)
		}
		if n.Unknown != (path == "D") {
			t.Errorf("%s unknown: %v", path, n.Unknown)
		}
	}
}

func TestNestedStacks(t *testing.T) {
	files := map[string]string{
		"a/sub/db.yaml": "Resources: {}\n", "a/part.yaml": "Encrypted: false\nKind: !Ref Env\n",
		"net/vpc.yaml": "Resources: {}\n", "a/whole.yaml": "Resources: {Whole: {Type: !Ref Env}}\nOutputs: {O: 1}\n",
	}
	source := func(name string) ([]byte, error) {
		if text, ok := files[name]; ok {
			return []byte(text), nil
		}
		return nil, errors.New("no file")
	}
	made := Evaluate(File{Platform: document.CloudFormation, Path: "a/main.yaml", Source: source, Tree: decode(t, `Transform:
- AWS::Serverless-2016-10-31
- Custom
- {Name: AWS::Include, Parameters: {Location: ./whole.yaml}}
Parameters:
  Env: {Type: String, Default: prod}
Resources:
  Db:
    Type: AWS::CloudFormation::Stack
    Properties:
      TemplateURL: ./sub/db.yaml
      Parameters: {Env: !Ref Env, Key: !GetAtt K.Arn}
  Far:
    Type: AWS::CloudFormation::Stack
    Properties: {TemplateURL: "https://x.test/db.yaml"}
  Near:
    Type: AWS::CloudFormation::Stack
    Properties: {TemplateURL: !Sub "https://${Bucket}.x.test/${Prefix}/net/vpc.yaml"}
  Joined:
    Type: AWS::CloudFormation::Stack
    Properties: {TemplateURL: !Join ["/", ["https://x.test", !Ref Bucket, "net/vpc.yaml"]]}
  Asked:
    Type: AWS::Serverless::Application
    Properties: {Location: !Ref Where}
  Tagged:
    Properties: !Transform {Name: AWS::Include, Parameters: {Location: s3://bucket/part.yaml}}
  Macro:
    Fn::Transform: {Name: Count, Parameters: {N: 2}}
  Gone:
    Fn::Transform: {Name: AWS::Include, Parameters: {Location: !Sub "s3://${Bucket}/gone.yaml"}}
  Part:
    Properties:
      Fn::Transform: {Name: AWS::Include, Parameters: {Location: part.yaml}}
      Size: 1
`)})
	tree, deploys := made.Tree, made.Deploys
	want := []document.Deployment{
		{Name: "Db", Path: "a/sub/db.yaml", Line: 8, Given: map[string]any{"Env": "prod", "Key": document.Unknown{}}},
		{Name: "Joined", Path: "net/vpc.yaml", Line: 19, Given: map[string]any{}},
		{Name: "Near", Path: "net/vpc.yaml", Line: 16, Given: map[string]any{}},
	}
	if diff := cmp.Diff(want, deploys); diff != "" {
		t.Errorf("deployments (-want +got):\n%s", diff)
	}
	part := tree.Root["Resources"].(map[string]any)["Part"].(map[string]any)["Properties"]
	if diff := cmp.Diff(map[string]any{"Encrypted": false, "Kind": "prod", "Size": int64(1)}, part); diff != "" {
		t.Errorf("included (-want +got):\n%s", diff)
	}
	tagged := tree.Root["Resources"].(map[string]any)["Tagged"].(map[string]any)["Properties"]
	if diff := cmp.Diff(map[string]any{"Encrypted": false, "Kind": "prod"}, tagged); diff != "" {
		t.Errorf("included by a tag (-want +got):\n%s", diff)
	}
	if n, found := tree.Lines.Find("Resources", "Whole", "Type"); found != 3 || n.Path != "a/whole.yaml" ||
		tree.Root["Outputs"] == nil {
		t.Errorf("what is put over the template stands at %+v", n)
	}
	if diff := cmp.Diff([]string{"a/whole.yaml", "a/part.yaml"}, made.Parts); diff != "" {
		t.Errorf("parts (-want +got):\n%s", diff)
	}
	var gaps []string
	for _, g := range made.Gaps {
		gaps = append(gaps, fmt.Sprintf("%d %s", g.Line, g.Message))
	}
	if diff := cmp.Diff([]string{
		"3 what the macro Custom makes of the template is not analyzed: it runs when the stack is made",
		"30 the included file s3://${Bucket}/gone.yaml is not analyzed: it is not part of the tree, and nothing is " +
			"fetched",
		"28 what the macro Count makes of the template is not analyzed: it runs when the stack is made",
		"24 the template of Asked is not analyzed: its address is not known, or it is not part of the tree, and " +
			"nothing is fetched",
		"15 the template of Far is not analyzed: https://x.test/db.yaml is not part of the tree, and nothing is " +
			"fetched",
	}, gaps); diff != "" {
		t.Errorf("gaps (-want +got):\n%s", diff)
	}
	if n, _ := tree.Lines.Find("Resources", "Part", "Properties", "Encrypted"); n.Path != "a/part.yaml" || n.Line != 1 {
		t.Errorf("what is included stands at %+v", n)
	}
}

// What was given to a nested stack counts, and not the default.
func TestGiven(t *testing.T) {
	tree := decode(t, "Parameters:\n  A: {Type: String, Default: x}\n  B: {Type: String, Default: y}\nResources: {R: "+
		"{A: !Ref A, B: !Ref B}}\n")
	got := Evaluate(File{Platform: document.CloudFormation, Path: "x", Tree: tree, Source: none,
		Given: map[string]any{"A": "z", "B": document.Unknown{}}}).Tree
	if diff := cmp.Diff(map[string]any{"A": "z", "B": "B"}, got.Root["Resources"].(map[string]any)["R"]); diff != "" {
		t.Errorf("resource (-want +got):\n%s", diff)
	}
}
