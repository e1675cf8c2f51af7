package analyzer

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// A service is asked about with its variables, and so is the template that it deploys, each
// flaw where it is written.
func TestServerlessFramework(t *testing.T) {
	found, reasons := scanned(t, map[string]string{
		"serverless.yml": `service: shop
provider:
  name: aws
  stage: ${opt:stage, 'prod'}
  endpointType: ${self:custom.endpoint}
  tracing:
    apiGateway: ${self:custom.tracing.${self:provider.stage}}
  iam: ${file(config/iam.yml):iam}
custom:
  endpoint: PRIVATE
  tracing: {dev: false, prod: true}
  encrypt: {prod: true, dev: false}
functions:
  list:
    handler: app.list
    tracing: ${env:TRACING}
resources:
  - ${file(resources/tables.yml)}
  - Resources:
      Disk:
        Type: AWS::EC2::Volume
        Properties:
          Encrypted: ${self:custom.encrypt.${self:provider.stage}}
          AvailabilityZone: eu-west-1a
  - ${file(resources/made.js)}
`,
		"config/iam.yml": `iam:
  role:
    name: shop
    statements:
      - Effect: Allow
        Action: '*'
        Resource: '*'
`,
		"resources/tables.yml": `Resources:
  Store:
    Type: AWS::EC2::Volume
    Properties:
      Encrypted: ${self:custom.encrypt.dev}
      AvailabilityZone: eu-west-1a
`,
	})
	for _, one := range []string{"config/iam.yml:5 serverless-role-with-full-privileges", "resources/tables.yml:5 " +
		"aws-ebs-volume-encryption-disabled"} {
		if !slices.Contains(found, one) {
			t.Errorf("%s is missing in %q", one, found)
		}
	}
	for _, one := range []string{
		"serverless.yml:5 serverless-api-endpoint-config-not-private",
		"serverless.yml:7 serverless-api-xray-tracing-disabled",
		"serverless.yml:16 serverless-function-without-xray-tracing",
		"serverless.yml:23 aws-ebs-volume-encryption-disabled",
	} {
		if slices.Contains(found, one) {
			t.Errorf("%s is told", one)
		}
	}
	if diff := cmp.Diff([]string{
		"serverless.yml:16 unknown-value: the value is unknown before deployment, and a rule depends on it: " +
			"Serverless function without X-Ray tracing",
		"serverless.yml:25 unavailable: the file resources/made.js is not followed: a program makes its values",
	}, reasons); diff != "" {
		t.Errorf("reasons (-want +got):\n%s", diff)
	}
}
