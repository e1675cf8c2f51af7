package sam

import (
	"maps"
	"slices"
	"strings"

	"merlon/internal/engine/iac/document"
)

// This file shows what functions, state machines, tables and GraphQL APIs become.

// function makes a Lambda function with its role, its URL and what its events are.
func (x *expansion) function(o origin) {
	if o.values == nil {
		return
	}
	p := o.become()
	p.take(o, "FunctionName", "Description", "MemorySize", "Runtime", "Handler", "Timeout", "KmsKeyArn", "Layers",
		"ReservedConcurrentExecutions",
		"VpcConfig", "Environment", "Architectures", "EphemeralStorage", "FileSystemConfigs", "CodeSigningConfigArn",
		"ImageConfig", "PackageType",
		"SnapStart", "LoggingConfig", "RuntimeManagementConfig", "RecursiveLoop", "Role")
	p.tags(o)
	if v, at := o.field("Tracing"); at != nil {
		p.within("TracingConfig", "Mode", v, at)
	}
	if v, at := o.field("InlineCode"); at != nil {
		p.within("Code", "ZipFile", v, at)
	}
	if v, at := o.field("DeadLetterQueue", "TargetArn"); at != nil {
		p.within("DeadLetterConfig", "TargetArn", v, at)
	}
	if !o.has("Role") {
		x.role(o, "lambda.amazonaws.com")
		p.tagged("Role", "!GetAtt", o.name+"Role.Arn")
	}
	x.add(o.name+mark+"Function", "AWS::Lambda::Function", o, p)
	if _, at := o.field("FunctionUrlConfig"); at != nil {
		url := origin{o.name, o.whole, at, nil, at}
		url.values, _ = o.values["FunctionUrlConfig"].(map[string]any)
		q := url.become()
		q.take(url, "AuthType", "Cors", "InvokeMode")
		q.refer("TargetFunctionArn", o.name)
		x.add(o.name+"Url", "AWS::Lambda::Url", url, q)
	}
	for _, e := range o.events() {
		x.event(o, e)
	}
}

// role makes the role that a function or state machine has when none is named.
func (x *expansion) role(o origin, service string) {
	p := o.become()
	p.take(o, "PermissionsBoundary")
	p.rename(o, "Path", "RolePath")
	p.tags(o)
	if v, at := o.field("AssumeRolePolicyDocument"); at != nil {
		p.set("AssumeRolePolicyDocument", v, at)
	} else {
		statement := map[string]any{"Effect": "Allow", "Principal": map[string]any{"Service": service},
			"Action": "sts:AssumeRole"}
		p.set("AssumeRolePolicyDocument", map[string]any{"Version": "2012-10-17", "Statement": []any{statement}}, nil)
	}
	p.policies(o)
	x.add(o.name+"Role", "AWS::IAM::Role", o, p)
}

// policies reads "Policies": names and addresses of managed policies, documents of one's
// own, and templates of the model.
func (p *properties) policies(o origin) {
	v, at := o.field("Policies")
	if at == nil {
		return
	}
	list, ok := v.([]any)
	items := at.Items
	if !ok || at.Tag != "" {
		list, items = []any{v}, []*document.Node{at}
	}
	var managed, own []any
	managedAt := &document.Node{Line: at.Line, Column: at.Column, Path: at.Path}
	ownAt := &document.Node{Line: at.Line, Column: at.Column, Path: at.Path}
	for i, one := range list {
		if i >= len(items) || items[i] == nil {
			break
		}
		n := items[i]
		if computed(one, n) {
			managed, managedAt.Items = append(managed, one), append(managedAt.Items, n)
			continue
		}
		switch v := one.(type) {
		case string:
			if v != "" && !strings.Contains(v, ":") && !strings.Contains(v, "$") {
				v = "arn:aws:iam::aws:policy/" + v
			}
			managed, managedAt.Items = append(managed, v), append(managedAt.Items, n)
		case map[string]any:
			if v["Statement"] != nil {
				own = append(own, map[string]any{"PolicyName": o.name + "RolePolicy", "PolicyDocument": v})
				ownAt.Items = append(ownAt.Items, &document.Node{Line: n.Line, Column: n.Column, Path: n.Path,
					Fields: map[string]*document.Node{
						"PolicyName": {Line: n.Line, Column: n.Column, Path: n.Path}, "PolicyDocument": n,
					}})
			}
		}
	}
	if managed != nil {
		p.set("ManagedPolicyArns", managed, managedAt)
	}
	if own != nil {
		p.set("Policies", own, ownAt)
	}
}

// computed reports whether a value is made when the stack is.
func computed(v any, n *document.Node) bool {
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

// stateMachine makes a state machine of Step Functions, in its place, with its role.
func (x *expansion) stateMachine(o origin) {
	if o.values == nil {
		return
	}
	p := o.become()
	p.take(o, "DefinitionSubstitutions")
	p.rename(o, "StateMachineName", "Name")
	p.rename(o, "StateMachineType", "Type")
	p.rename(o, "LoggingConfiguration", "Logging")
	p.rename(o, "TracingConfiguration", "Tracing")
	p.rename(o, "Definition", "Definition")
	p.rename(o, "RoleArn", "Role")
	p.tags(o)
	if !o.has("Role") {
		x.role(o, "states.amazonaws.com")
		p.tagged("RoleArn", "!GetAtt", o.name+"Role.Arn")
	}
	x.put(o.name, "AWS::StepFunctions::StateMachine", o, p)
}

// table makes a table of DynamoDB, in its place.
func (x *expansion) table(o origin) {
	p := o.become()
	p.take(o, "TableName", "SSESpecification", "PointInTimeRecoverySpecification", "ProvisionedThroughput")
	p.tags(o)
	if !o.has("ProvisionedThroughput") {
		p.set("BillingMode", "PAY_PER_REQUEST", nil)
	}
	name, kind := o.text("PrimaryKey", "Name"), o.text("PrimaryKey", "Type")
	if name == "" && !o.has("PrimaryKey") {
		name = "id"
	}
	letter := map[string]string{"Number": "N", "Binary": "B"}[kind]
	if letter == "" {
		letter = "S"
	}
	p.set("KeySchema", []any{map[string]any{"AttributeName": name, "KeyType": "HASH"}}, nil)
	p.set("AttributeDefinitions", []any{map[string]any{"AttributeName": name, "AttributeType": letter}}, nil)
	x.put(o.name, "AWS::DynamoDB::Table", o, p)
}

// graphQL makes an API of AppSync, in its place.
func (x *expansion) graphQL(o origin) {
	if o.values == nil {
		return
	}
	p := o.become()
	p.take(o, "Name", "XrayEnabled", "Visibility")
	p.rename(o, "AuthenticationType", "Auth", "Type")
	p.rename(o, "AdditionalAuthenticationProviders", "Auth", "Additional")
	p.rename(o, "LogConfig", "Logging")
	p.tags(o)
	x.put(o.name, "AWS::AppSync::GraphQLApi", o, p)
}

// An event is what calls a function: its properties are those of the origin.
type event struct {
	origin
	kind string
}

// events returns the events of a function, by their names.
func (o origin) events() []event {
	v, at := o.field("Events")
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
	service string
	guard   string // the property of the permission that names what may call
	from    string // the property of the event that says it; "" where the model does
}

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

// event makes the permission to call the function, and the method of an API.
func (x *expansion) event(o origin, e event) {
	if c, ok := callers[e.kind]; ok {
		p := e.become()
		p.refer("FunctionName", o.name)
		p.set("Action", "lambda:InvokeFunction", nil)
		p.set("Principal", c.service, nil)
		switch v, at := e.field(c.from); {
		case at != nil:
			p.set(c.guard, v, at)
		case c.guard == "SourceAccount":
			p.refer(c.guard, "AWS::AccountId")
		case c.guard == "SourceArn":
			p.tagged(c.guard, "!Sub", "arn:${AWS::Partition}:${AWS::Region}:${AWS::AccountId}:"+o.name+e.name)
		}
		x.add(o.name+letters(e.name)+"Permission", "AWS::Lambda::Permission", e.origin, p)
	}
	switch e.kind {
	case "Api":
		x.method(o, e)
	case "HttpApi":
		x.route(o, e)
	}
}
