package analyzer

import (
	"slices"
	"testing"
)

const shop = `AWSTemplateFormatVersion: '2010-09-09'
Transform: AWS::Serverless-2016-10-31
Globals:
  Function:
    Runtime: python3.12
    Tracing: Active
Resources:
  Orders:
    Type: AWS::Serverless::Function
    Properties:
      Handler: app.handler
      DeadLetterQueue: {Type: SQS, TargetArn: !GetAtt Dead.Arn}
      Policies:
        - AdministratorAccess
        - DynamoDBCrudPolicy: {TableName: !Ref Table}
      Events:
        List:
          Type: Api
          Properties: {Path: /orders, Method: get, RestApiId: !Ref Front}
        Inner:
          Type: Api
          Properties: {Path: /inner, Method: get, RestApiId: !Ref Front, Auth: {Authorizer: NONE}}
        Up:
          Type: S3
          Properties: {Bucket: !Ref Uploads, Events: 's3:ObjectCreated:*'}
  Front:
    Type: AWS::Serverless::Api
    Properties:
      StageName: prod
      TracingEnabled: true
      Auth: {DefaultAuthorizer: AWS_IAM}
  Table:
    Type: AWS::Serverless::SimpleTable
`

// What a serverless application becomes is looked at where the template says it, and told
// once, whether a rule knows the application's resource, or what it becomes.
func TestServerlessApplication(t *testing.T) {
	all, reasons := scanned(t, map[string]string{"template.yaml": shop})
	if len(reasons) > 0 {
		t.Errorf("degraded: %v", reasons)
	}
	found := lines(all)
	for rule, want := range map[string][]string{
		"cfn-policy-administrator":                 {"13"},
		"aws-api-gateway-with-open-access":         {"22"},
		"aws-dynamodb-with-aws-owned-cmk":          {"32"},
		"aws-lambda-function-without-tags":         nil, // told with the next
		"cfn-service-concurrency":                  {"10"},
		"aws-sam-serverless-function-without-tags": {"10"},
		"aws-api-gateway-without-waf":              {"29"},

		"cfn-unauthenticated-apigateway-method":                 nil, // told as open access
		"aws-lambda-functions-without-x-ray-tracing":            nil,
		"aws-api-gateway-xray-disabled":                         nil,
		"aws-sam-serverless-function-without-dead-letter-queue": nil,
		"aws-lambda-function-without-dead-letter-queue":         nil,
		"aws-api-gateway-method-does-not-contains-an-api-key":   nil,
		"aws-api-gateway-without-configured-authorizer":         nil,
		"aws-api-gateway-without-ssl-certificate":               nil,
		"cfn-lambda-permission":                                 nil,
	} {
		if got := found["template.yaml:"+rule]; !slices.Equal(got, want) {
			t.Errorf("%s at lines %v, want %v", rule, got, want)
		}
	}
}
