package sam

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"merlon/internal/engine/iac/document"
)

// become returns the resources of a template with what they become, and where they stand.
func become(t *testing.T, text string) (map[string]any, *document.Node) {
	t.Helper()
	trees, err := document.DecodeYAML([]byte(text))
	if err != nil || len(trees) != 1 {
		t.Fatalf("%d trees, error %v", len(trees), err)
	}
	root, lines := trees[0].Root, trees[0].Lines
	before := fmt.Sprint(root)
	all, _ := root["Resources"].(map[string]any)
	resources, n := Globals(root["Globals"], lines.Fields["Globals"], all, lines.Fields["Resources"])
	resources, n = Expand(resources, n)
	if fmt.Sprint(root) != before {
		t.Error("the given tree was changed")
	}
	return resources, n
}

const shop = `Transform: AWS::Serverless-2016-10-31
Globals:
  Function:
    Runtime: python3.12
    Tracing: Active
  Api:
    TracingEnabled: true
Resources:
  Orders:
    Type: AWS::Serverless::Function
    Condition: Live
    Properties:
      Tags: {team: shop}
      DeadLetterQueue: {Type: SQS, TargetArn: "arn:aws:sqs:eu-west-1:1:dead"}
      FunctionUrlConfig:
        AuthType: NONE
      Policies:
        - AdministratorAccess
        - !Ref Extra
        - DynamoDBCrudPolicy: {TableName: !Ref Table}
        - Statement:
            - {Effect: Allow, Action: "s3:*", Resource: "*"}
      Events:
        List:
          Type: Api
          Properties: {Path: /orders, Method: get}
        Up:
          Type: S3
          Properties: {Bucket: !Ref Uploads}
        Voice:
          Type: AlexaSkill
  Worker:
    Type: AWS::Serverless::Function
    Properties:
      Role: arn:aws:iam::1:role/worker
      Events:
        Shut:
          Type: Api
          Properties: {RestApiId: !Ref Front, Path: /a, Method: post, Auth: {Authorizer: AWS_IAM}}
        Known:
          Type: Api
          Properties: {RestApiId: !Ref Front, Path: /b, Method: post}
        Open:
          Type: Api
          Properties: {RestApiId: !Ref Front, Path: /c, Method: any, Auth: {Authorizer: NONE}}
        Elsewhere:
          Type: Api
          Properties: {RestApiId: !Ref Imported, Path: /d, Method: post}
        Documented:
          Type: HttpApi
          Properties: {ApiId: !Ref Written, Path: /e, Method: post}
        Public:
          Type: HttpApi
  Front:
    Type: AWS::Serverless::Api
    Properties:
      StageName: v1
      EndpointConfiguration: {Type: REGIONAL}
      Auth:
        DefaultAuthorizer: Pool
        Authorizers: {Pool: {UserPoolArn: "arn:aws:cognito-idp:eu-west-1:1:userpool/x"}}
        UsagePlan: {CreateUsagePlan: PER_API}
      Domain: {DomainName: a.example, CertificateArn: arn, SecurityPolicy: TLS_1_2}
  Written:
    Type: AWS::Serverless::HttpApi
    Properties: {DefinitionUri: api.yaml}
  Table:
    Type: AWS::Serverless::SimpleTable
    Properties: {PrimaryKey: {Name: n, Type: Number}, SSESpecification: {SSEEnabled: true}}
  Flow:
    Type: AWS::Serverless::StateMachine
    Properties: {Logging: {Level: ALL}, Policies: AWSLambdaRole}
  Graph:
    Type: AWS::Serverless::GraphQLApi
    Properties: {Auth: {Type: API_KEY}}
  Uploads: {Type: AWS::S3::Bucket}
`

func TestExpand(t *testing.T) {
	got, at := become(t, shop)
	var names []string
	for name, r := range got {
		names = append(names, name+" "+r.(map[string]any)["Type"].(string))
	}
	slices.Sort(names)
	want := []string{
		"Flow AWS::StepFunctions::StateMachine", "FlowRole AWS::IAM::Role",
		"Front AWS::Serverless::Api", "Front:RestApi AWS::ApiGateway::RestApi",
		"FrontDomain AWS::ApiGateway::DomainName", "FrontPoolAuthorizer AWS::ApiGateway::Authorizer",
		"FrontUsagePlan AWS::ApiGateway::UsagePlan", "Frontv1Stage AWS::ApiGateway::Stage",
		"Graph AWS::AppSync::GraphQLApi",
		"Orders AWS::Serverless::Function", "Orders:Function AWS::Lambda::Function",
		"OrdersListMethod AWS::ApiGateway::Method", "OrdersListPermission AWS::Lambda::Permission",
		"OrdersRole AWS::IAM::Role", "OrdersUpPermission AWS::Lambda::Permission", "OrdersUrl AWS::Lambda::Url",
		"OrdersVoicePermission AWS::Lambda::Permission",
		"ServerlessHttpApi AWS::Serverless::HttpApi", "ServerlessHttpApi:Api AWS::ApiGatewayV2::Api",
		"ServerlessHttpApiApiGatewayDefaultStage AWS::ApiGatewayV2::Stage",
		"ServerlessRestApi AWS::Serverless::Api", "ServerlessRestApi:RestApi AWS::ApiGateway::RestApi",
		"ServerlessRestApiProdStage AWS::ApiGateway::Stage",
		"Table AWS::DynamoDB::Table", "Uploads AWS::S3::Bucket",
		"Worker AWS::Serverless::Function", "Worker:Function AWS::Lambda::Function", "WorkerDocumentedPermission " +
			"AWS::Lambda::Permission", "WorkerElsewherePermission AWS::Lambda::Permission",
		"WorkerKnownMethod AWS::ApiGateway::Method", "WorkerKnownPermission AWS::Lambda::Permission",
		"WorkerOpenMethod AWS::ApiGateway::Method", "WorkerOpenPermission AWS::Lambda::Permission",
		"WorkerPublicPermission AWS::Lambda::Permission", "WorkerPublicRoute AWS::ApiGatewayV2::Route",
		"WorkerShutMethod AWS::ApiGateway::Method", "WorkerShutPermission AWS::Lambda::Permission",
		"Written AWS::Serverless::HttpApi", "Written:Api AWS::ApiGatewayV2::Api", "WrittenApiGatewayDefaultStage " +
			"AWS::ApiGatewayV2::Stage",
	}
	if diff := cmp.Diff(want, names); diff != "" {
		t.Errorf("resources (-want +got):\n%s", diff)
	}
	for _, c := range []struct {
		name, path string
		want       any
		line       int
	}{
		{"Orders:Function", "Runtime", "python3.12", 4},
		{"Orders:Function", "TracingConfig Mode", "Active", 5},
		{"Orders:Function", "Tags 0 Key", "team", 13},
		{"Orders:Function", "DeadLetterConfig TargetArn", "arn:aws:sqs:eu-west-1:1:dead", 14},
		{"Orders:Function", "Role", "OrdersRole.Arn", 12},
		{"OrdersUrl", "AuthType", "NONE", 16},
		{"OrdersRole", "ManagedPolicyArns 0", "arn:aws:iam::aws:policy/AdministratorAccess", 18},
		{"OrdersRole", "ManagedPolicyArns 1", "Extra", 19},
		{"OrdersRole", "ManagedPolicyArns 2", nil, 0},
		{"OrdersRole", "Policies 0 PolicyDocument Statement 0 Action", "s3:*", 22},
		{"OrdersListMethod", "AuthorizationType", "NONE", 26},
		{"OrdersListMethod", "RestApiId", "ServerlessRestApi", 26},
		{"OrdersListMethod", "HttpMethod", "GET", 26},
		{"OrdersUpPermission", "SourceAccount", "AWS::AccountId", 29},
		{"OrdersVoicePermission", "EventSourceToken", nil, 0},
		{"WorkerShutMethod", "AuthorizationType", "AWS_IAM", 39},
		{"WorkerKnownMethod", "AuthorizationType", "CUSTOM", 42},
		{"WorkerOpenMethod", "AuthorizationType", "NONE", 45},
		{"WorkerPublicRoute", "AuthorizationType", "NONE", 52},
		{"WorkerPublicRoute", "RouteKey", "$default", 52},
		{"Front:RestApi", "EndpointConfiguration Types 0", "REGIONAL", 58},
		{"Frontv1Stage", "TracingEnabled", true, 7},
		{"FrontDomain", "SecurityPolicy", "TLS_1_2", 63},
		{"FrontUsagePlan", "ApiStages 0 Stage", "v1", 0},
		{"FrontPoolAuthorizer", "RestApiId", "Front:RestApi", 61},
		{"ServerlessRestApiProdStage", "StageName", "Prod", 24},
		{"ServerlessRestApiProdStage", "TracingEnabled", true, 7},
		{"ServerlessHttpApiApiGatewayDefaultStage", "StageName", "$default", 52},
		{"Table", "SSESpecification SSEEnabled", true, 69},
		{"Table", "AttributeDefinitions 0 AttributeType", "N", 0},
		{"Table", "BillingMode", "PAY_PER_REQUEST", 69},
		{"Flow", "LoggingConfiguration Level", "ALL", 72},
		{"FlowRole", "ManagedPolicyArns 0", "arn:aws:iam::aws:policy/AWSLambdaRole", 72},
		{"Graph", "AuthenticationType", "API_KEY", 75},
	} {
		v, n := find(got[c.name], at.Fields[c.name], "Properties "+c.path)
		if v != c.want || c.line > 0 && (n == nil || n.Line != c.line) {
			t.Errorf("%s %s is %v at %+v, want %v at line %d", c.name, c.path, v, n, c.want, c.line)
		}
	}
	if v := got["Orders:Function"].(map[string]any)["Condition"]; v != "Live" {
		t.Errorf("the condition of a function is %v", v)
	}
}

// find goes down keys and indexes.
func find(v any, n *document.Node, path string) (any, *document.Node) {
	for key := range strings.FieldsSeq(path) {
		switch below := v.(type) {
		case map[string]any:
			v = below[key]
		case []any:
			i := int(key[0] - '0')
			if i >= len(below) {
				return nil, nil
			}
			v = below[i]
		default:
			return nil, nil
		}
		n, _ = n.Find(key)
	}
	return v, n
}

func TestGlobals(t *testing.T) {
	all, at := become(t, `Globals:
  Function:
    Tracing: Active
    Environment: {Variables: {A: "1", B: "2"}}
    Layers: [x]
Resources:
  F:
    Type: AWS::Serverless::Function
    Properties:
      Environment: {Variables: {B: "3"}}
      Layers: [y]
  G: {Type: AWS::Serverless::Function}
  H: {Type: AWS::S3::Bucket}
`)
	got := map[string]any{}
	for _, name := range []string{"F", "G", "H"} {
		got[name] = all[name]
	}
	want := map[string]any{
		"F": map[string]any{"Type": "AWS::Serverless::Function", "Properties": map[string]any{
			"Tracing": "Active", "Environment": map[string]any{"Variables": map[string]any{"A": "1", "B": "3"}},
			"Layers": []any{"x", "y"}}},
		"G": map[string]any{"Type": "AWS::Serverless::Function", "Properties": map[string]any{
			"Tracing": "Active", "Environment": map[string]any{"Variables": map[string]any{"A": "1", "B": "2"}},
			"Layers": []any{"x"}}},
		"H": map[string]any{"Type": "AWS::S3::Bucket"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("resources (-want +got):\n%s", diff)
	}
	if n, found := at.Find("F", "Properties", "Tracing"); found != 3 || n.Line != 3 {
		t.Errorf("the global property stands at %+v", n)
	}
}

// What names no resource of the model is left alone, and so is what nobody can know.
func TestExpandLeaves(t *testing.T) {
	for _, text := range []string{
		"Resources: {B: {Type: 'AWS::S3::Bucket', Properties: {Policies: [AdministratorAccess]}}}",
		"Resources: {F: {Type: 'AWS::Serverless::Unknown'}, B: x, C: [1]}",
		"Resources: {F: {Type: 'AWS::Serverless::Application', Properties: {Location: x}}}",
	} {
		got, _ := become(t, text)
		for name := range got {
			if len(name) != 1 {
				t.Errorf("%s became %s", text, name)
			}
		}
	}
	got, _ := become(t, "Resources:\n  F:\n    Type: AWS::Serverless::Function\n    Properties: !Transform {Name: "+
		"Macro}\n  A:\n    Type: AWS::Serverless::Api\n    Properties: !If [Live, {StageName: a}, {StageName: b}]\n")
	if len(got) != 2 {
		t.Errorf("properties that are computed became %v", got)
	}
}

// Everything that an own resource has the name of stays as it is written.
func TestExpandTaken(t *testing.T) {
	got, _ := become(t, "Resources:\n  F: {Type: 'AWS::Serverless::Function', Properties: {Policies: "+
		"AdministratorAccess}}\n  FRole: {Type: 'AWS::IAM::Role', Properties: {Path: /mine/}}\n")
	if path := got["FRole"].(map[string]any)["Properties"].(map[string]any)["Path"]; path != "/mine/" {
		t.Errorf("the role that is written became %v", got["FRole"])
	}
}

func TestWritten(t *testing.T) {
	for text, want := range map[string]string{
		"Resources.Orders:Function.Properties":   "Resources.Orders.Properties",
		"Front:RestApi AWS::ApiGateway::RestApi": "Front AWS::ApiGateway::RestApi",
		"AWS::Lambda::Function":                  "AWS::Lambda::Function", "a:Apis": "a:Apis",
		"arn:aws:s3": "arn:aws:s3",
	} {
		if got := Written(text); got != want {
			t.Errorf("Written(%q) is %q, want %q", text, got, want)
		}
	}
}

func FuzzExpand(f *testing.F) {
	f.Add(shop)
	f.Add("Globals: {Function: {Events: {A: {Type: Api}}}}\nResources: {F: {Type: 'AWS::Serverless::Function'}, A: " +
		"{Type: 'AWS::Serverless::Api', Properties: {Auth: [1], Domain: x}}}\n")
	f.Fuzz(func(t *testing.T, text string) {
		trees, err := document.DecodeYAML([]byte(text))
		if err != nil {
			return
		}
		for _, tree := range trees {
			all, _ := tree.Root["Resources"].(map[string]any)
			resources, n := Globals(tree.Root["Globals"], tree.Lines.Fields["Globals"], all,
				tree.Lines.Fields["Resources"])
			if got, _ := Expand(resources, n); len(got) < len(all) {
				t.Fatal("a resource is lost")
			}
		}
	})
}
