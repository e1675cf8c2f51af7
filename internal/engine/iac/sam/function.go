package sam

import (
	"maps"
	"slices"
	"strings"

	"merlon/internal/engine/iac/document"
)

// This file shows what functions, state machines, tables and GraphQL APIs become.

// expandFunction makes a Lambda function with its role, its URL and what its events are.
func (x *expansion) expandFunction(o origin) {
	if o.values == nil {
		return
	}
	p := o.newProperties()
	// The properties that Lambda has under the same name.
	p.copySame(o, "FunctionName", "Description", "MemorySize", "Runtime", "Handler", "Timeout", "KmsKeyArn", "Layers",
		"ReservedConcurrentExecutions",
		"VpcConfig", "Environment", "Architectures", "EphemeralStorage", "FileSystemConfigs", "CodeSigningConfigArn",
		"ImageConfig", "PackageType",
		"SnapStart", "LoggingConfig", "RuntimeManagementConfig", "RecursiveLoop", "Role")
	p.copyTags(o)
	if v, at := o.property("Tracing"); at != nil {
		p.setWithin("TracingConfig", "Mode", v, at)
	}
	if v, at := o.property("InlineCode"); at != nil {
		p.setWithin("Code", "ZipFile", v, at)
	}
	if v, at := o.property("DeadLetterQueue", "TargetArn"); at != nil {
		p.setWithin("DeadLetterConfig", "TargetArn", v, at)
	}
	// Without a role the transform makes one, named after the function.
	if !o.hasProperty("Role") {
		x.addRole(o, "lambda.amazonaws.com")
		p.setTagged("Role", "!GetAtt", o.name+"Role.Arn")
	}
	// The mark keeps the name apart from those of the template: the serverless resource stays, as
	// rules for AWS::Serverless::Function apply to it.
	x.addResource(o.name+mark+"Function", "AWS::Lambda::Function", o, p)
	// A function URL is an HTTPS endpoint of its own; AuthType NONE makes it public.
	if _, at := o.property("FunctionUrlConfig"); at != nil {
		url := origin{o.name, o.whole, at, nil, at}
		url.values, _ = o.values["FunctionUrlConfig"].(map[string]any)
		q := url.newProperties()
		q.copySame(url, "AuthType", "Cors", "InvokeMode")
		q.setRef("TargetFunctionArn", o.name)
		x.addResource(o.name+"Url", "AWS::Lambda::Url", url, q)
	}
	for _, e := range o.listEvents() {
		x.addEvent(o, e)
	}
}

// addRole makes the role that a function or state machine has when none is named.
func (x *expansion) addRole(o origin, service string) {
	p := o.newProperties()
	p.copySame(o, "PermissionsBoundary")
	p.copyAs(o, "Path", "RolePath")
	p.copyTags(o)
	// The trust policy of the template, else the one that lets only the service assume the role.
	if v, at := o.property("AssumeRolePolicyDocument"); at != nil {
		p.setProperty("AssumeRolePolicyDocument", v, at)
	} else {
		statement := map[string]any{"Effect": "Allow", "Principal": map[string]any{"Service": service},
			"Action": "sts:AssumeRole"}
		p.setProperty("AssumeRolePolicyDocument",
			map[string]any{"Version": "2012-10-17", "Statement": []any{statement}}, nil)
	}
	p.addPolicies(o)
	x.addResource(o.name+"Role", "AWS::IAM::Role", o, p)
}

// policyAddress returns the address of a managed policy that may be given by its name alone.
func policyAddress(name string) string {
	// "AmazonS3ReadOnlyAccess" is a name; an ARN contains colons, a substitution "$".
	if name != "" && !strings.Contains(name, ":") && !strings.Contains(name, "$") {
		return "arn:aws:iam::aws:policy/" + name
	}
	return name
}

// addPolicies reads "Policies": names and addresses of managed policies, documents of
// one's own, and templates of the model.
func (p *properties) addPolicies(o origin) {
	v, at := o.property("Policies")
	if at == nil {
		return
	}
	// A single policy may stand in place of the list.
	list, ok := v.([]any)
	items := at.Items
	if !ok || at.Tag != "" {
		list, items = []any{v}, []*document.Node{at}
	}
	// Managed policies go to ManagedPolicyArns, inline documents to Policies. Policy templates
	// ({"S3ReadPolicy": {…}}) are limited by AWS to one resource and are left out.
	var managed, own []any
	here := func(n *document.Node) *document.Node {
		return &document.Node{Line: n.Line, Column: n.Column, Path: n.Path}
	}
	managedAt, ownAt := here(at), here(at)
	for i, one := range list {
		if i >= len(items) || items[i] == nil {
			break
		}
		n := items[i]
		if isComputed(one, n) {
			managed, managedAt.Items = append(managed, one), append(managedAt.Items, n)
			continue
		}
		switch v := one.(type) {
		case string:
			managed, managedAt.Items = append(managed, policyAddress(v)), append(managedAt.Items, n)
		case map[string]any:
			if v["Statement"] != nil {
				own = append(own, map[string]any{"PolicyName": o.name + "RolePolicy", "PolicyDocument": v})
				one := here(n)
				one.Fields = map[string]*document.Node{"PolicyName": here(n), "PolicyDocument": n}
				ownAt.Items = append(ownAt.Items, one)
			}
		}
	}
	if managed != nil {
		p.setProperty("ManagedPolicyArns", managed, managedAt)
	}
	if own != nil {
		p.setProperty("Policies", own, ownAt)
	}
}

// isComputed reports whether a value is made when the stack is.
func isComputed(v any, n *document.Node) bool {
	if n != nil && (n.Tag != "" || n.Unknown) {
		return true
	}
	m, _ := v.(map[string]any)
	for key := range m {
		if len(m) == 1 && (key == "Ref" || strings.HasPrefix(key, "Fn::")) {
			return true
		}
	}
	return false
}

// expandStateMachine makes a state machine of Step Functions, in its place, with its role.
func (x *expansion) expandStateMachine(o origin) {
	if o.values == nil {
		return
	}
	p := o.newProperties()
	p.copySame(o, "DefinitionSubstitutions")
	p.copyAs(o, "StateMachineName", "Name")
	p.copyAs(o, "StateMachineType", "Type")
	p.copyAs(o, "LoggingConfiguration", "Logging")
	p.copyAs(o, "TracingConfiguration", "Tracing")
	p.copyAs(o, "Definition", "Definition")
	p.copyAs(o, "RoleArn", "Role")
	p.copyTags(o)
	// A state machine has such a role too, which Step Functions assumes.
	if !o.hasProperty("Role") {
		x.addRole(o, "states.amazonaws.com")
		p.setTagged("RoleArn", "!GetAtt", o.name+"Role.Arn")
	}
	x.putResource(o.name, "AWS::StepFunctions::StateMachine", o, p)
}

// expandTable makes a table of DynamoDB, in its place.
func (x *expansion) expandTable(o origin) {
	p := o.newProperties()
	p.copySame(o, "TableName", "SSESpecification", "PointInTimeRecoverySpecification", "ProvisionedThroughput")
	p.copyTags(o)
	// The defaults of AWS::Serverless::SimpleTable: on-demand capacity and a key "id" of type S.
	if !o.hasProperty("ProvisionedThroughput") {
		p.setProperty("BillingMode", "PAY_PER_REQUEST", nil)
	}
	name, kind := o.textProperty("PrimaryKey", "Name"), o.textProperty("PrimaryKey", "Type")
	if name == "" && !o.hasProperty("PrimaryKey") {
		name = "id"
	}
	letter := map[string]string{"Number": "N", "Binary": "B"}[kind]
	if letter == "" {
		letter = "S"
	}
	p.setProperty("KeySchema", []any{map[string]any{"AttributeName": name, "KeyType": "HASH"}}, nil)
	p.setProperty("AttributeDefinitions", []any{map[string]any{"AttributeName": name, "AttributeType": letter}}, nil)
	x.putResource(o.name, "AWS::DynamoDB::Table", o, p)
}

// expandGraphQL makes an API of AppSync, in its place.
func (x *expansion) expandGraphQL(o origin) {
	if o.values == nil {
		return
	}
	p := o.newProperties()
	p.copySame(o, "Name", "XrayEnabled", "Visibility")
	p.copyAs(o, "AuthenticationType", "Auth", "Type")
	p.copyAs(o, "AdditionalAuthenticationProviders", "Auth", "Additional")
	p.copyAs(o, "LogConfig", "Logging")
	p.copyTags(o)
	x.putResource(o.name, "AWS::AppSync::GraphQLApi", o, p)
}

// An event is what calls a function: its properties are those of the origin.
type event struct {
	// its name, properties and position in the template
	origin
	// "Api", "S3", "Schedule", … as in the property Type
	kind string
}

// listEvents returns the events of a function, by their names.
func (o origin) listEvents() []event {
	v, at := o.property("Events")
	all, _ := v.(map[string]any)
	if at == nil || at.Tag != "" {
		return nil
	}
	var out []event
	for _, name := range slices.Sorted(maps.Keys(all)) {
		one, _ := all[name].(map[string]any)
		n := at.Fields[name]
		kind, _ := one["Type"].(string)
		if n == nil || kind == "" {
			continue
		}
		e := event{newOrigin(name, one, n), kind}
		if e.values == nil && !e.place.Unknown && e.place.Tag == "" {
			e.values = map[string]any{}
		}
		out = append(out, e)
	}
	return out
}

// A caller is the service that an event comes from.
type caller struct {
	// the principal of the permission
	service string
	guard   string // the property of the permission that names what may call
	from    string // the property of the event that says it; "" where the model does
}

// callers tells for each type of event which service calls the function, and what limits it to one
// source.
var callers = map[string]caller{
	"Api": {"apigateway.amazonaws.com", "SourceArn", ""}, "HttpApi": {"apigateway.amazonaws.com", "SourceArn", ""},
	"S3": {"s3.amazonaws.com", "SourceAccount", ""}, "SNS": {"sns.amazonaws.com", "SourceArn", "Topic"},
	"Schedule": {"events.amazonaws.com", "SourceArn", ""}, "CloudWatchEvent": {"events.amazonaws.com", "SourceArn", ""},
	"EventBridgeRule": {"events.amazonaws.com", "SourceArn", ""}, "CloudWatchLogs": {"logs.amazonaws.com", "SourceArn",
		""},
	"IoTRule": {"iot.amazonaws.com", "SourceArn", ""}, "Cognito": {"cognito-idp.amazonaws.com", "SourceArn",
		"UserPool"},
	"AlexaSkill": {"alexa-appkit.amazon.com", "EventSourceToken", "SkillId"},
}

// addEvent makes the permission to call the function, and the method of an API.
func (x *expansion) addEvent(o origin, e event) {
	if c, ok := callers[e.kind]; ok {
		p := e.newProperties()
		p.setRef("FunctionName", o.name)
		p.setProperty("Action", "lambda:InvokeFunction", nil)
		p.setProperty("Principal", c.service, nil)
		switch v, at := e.property(c.from); {
		case at != nil:
			p.setProperty(c.guard, v, at)
		// The name of a bucket does not contain the account: without this guard a bucket of that
		// name in another account could call the function (confused deputy).
		case c.guard == "SourceAccount":
			p.setRef(c.guard, "AWS::AccountId")
		case c.guard == "SourceArn":
			p.setTagged(c.guard, "!Sub", "arn:${AWS::Partition}:${AWS::Region}:${AWS::AccountId}:"+o.name+e.name)
		}
		x.addResource(o.name+alphanumeric(e.name)+"Permission", "AWS::Lambda::Permission", e.origin, p)
	}
	switch e.kind {
	case "Api":
		x.addMethod(o, e)
	case "HttpApi":
		x.addRoute(o, e)
	}
}
