package sam

import (
	"maps"
	"slices"
	"strings"

	"merlon/internal/engine/iac/document"
)

// This file shows what APIs become, and which of their methods ask callers who they are.
// See
// https://docs.aws.amazon.com/serverless-application-model/latest/developerguide/serverless-controlling-access-to-apis.html.

// An api is what events need to know of the API that they belong to.
type api struct {
	origin
	own bool // it has a document of its own, or is not open to everybody
}

// expandRestAPI makes a REST API with its stage, domain, authorizers and usage plan.
func (x *expansion) expandRestAPI(o origin) {
	if o.values == nil {
		return
	}
	// A resource policy can restrict all methods, so they are not reported as open.
	x.apis[o.name] = api{o, o.isClosed() || o.hasProperty("Auth", "ResourcePolicy")}
	name := o.name + mark + "RestApi"
	p := o.newProperties()
	p.copySame(o, "Name", "Description", "BinaryMediaTypes", "MinimumCompressionSize", "ApiKeySourceType",
		"DisableExecuteApiEndpoint", "Mode", "Policy")
	p.copyTags(o)
	p.setEndpoint(o)
	x.addResource(name, "AWS::ApiGateway::RestApi", o, p)

	stage := o.textProperty("StageName")
	p = o.newProperties()
	p.copySame(o, "StageName", "AccessLogSetting", "TracingEnabled", "CacheClusterEnabled", "CacheClusterSize",
		"MethodSettings", "CanarySetting", "Variables")
	p.setRef("RestApiId", o.name)
	p.copyTags(o)
	x.addResource(o.name+alphanumeric(stage)+"Stage", "AWS::ApiGateway::Stage", o, p)
	// "NONE" is the third value: the API then has keys without a quota.
	if plan := o.textProperty("Auth", "UsagePlan", "CreateUsagePlan"); plan == "PER_API" || plan == "SHARED" {
		p = o.newProperties()
		at := p.newNode()
		at.Items = []*document.Node{{Line: at.Line, Column: at.Column, Path: at.Path,
			Fields: map[string]*document.Node{"ApiId": {Line: at.Line, Column: at.Column, Path: at.Path, Tag: "!Ref"}}}}
		p.setProperty("ApiStages", []any{map[string]any{"ApiId": o.name, "Stage": o.values["StageName"]}}, at)
		x.addResource(o.name+"UsagePlan", "AWS::ApiGateway::UsagePlan", o, p)
	}
	if domain, ok := o.mapProperty("Domain"); ok {
		p = domain.newProperties()
		p.copySame(domain, "DomainName", "SecurityPolicy", "MutualTlsAuthentication",
			"OwnershipVerificationCertificateArn")
		p.copyAs(domain, "RegionalCertificateArn", "CertificateArn")
		x.addResource(o.name+"Domain", "AWS::ApiGateway::DomainName", domain, p)
	}
	x.addAuthorizers(o, "AWS::ApiGateway::Authorizer", "RestApiId", name)
}

// setEndpoint sets how a REST API is reached: {Type} of the model is a list of the
// service.
func (p *properties) setEndpoint(o origin) {
	v, at := o.property("EndpointConfiguration")
	if at == nil {
		return
	}
	kind, place := v, at
	if m, ok := v.(map[string]any); ok && at.Tag == "" {
		if kind, place = o.property("EndpointConfiguration", "Type"); place == nil {
			if _, has := m["Types"]; has {
				p.setProperty("EndpointConfiguration", v, at)
			}
			return
		}
	}
	types := &document.Node{Line: place.Line, Column: place.Column, Path: place.Path, Items: []*document.Node{place}}
	p.setWithin("EndpointConfiguration", "Types", []any{kind}, types)
}

// isClosed reports whether something besides the model's settings may decide who gets in.
func (o origin) isClosed() bool {
	// The short form of the model and the long one.
	private := o.textProperty("EndpointConfiguration") == "PRIVATE" ||
		o.textProperty("EndpointConfiguration", "Type") == "PRIVATE"
	return private || o.hasProperty("DefinitionBody") || o.hasProperty("DefinitionUri") || o.hasProperty("Policy")
}

// mapProperty returns a property that is a map as an origin of its own.
func (o origin) mapProperty(key string) (origin, bool) {
	v, at := o.property(key)
	m, ok := v.(map[string]any)
	if at == nil || !ok || at.Tag != "" {
		return origin{}, false
	}
	return origin{o.name, o.whole, at, m, at}, true
}

// expandHTTPAPI makes an HTTP API with its stage, domain and authorizers.
func (x *expansion) expandHTTPAPI(o origin) {
	if o.values == nil {
		return
	}
	x.apis[o.name] = api{o, o.isClosed()}
	name := o.name + mark + "Api"
	p := o.newProperties()
	p.copySame(o, "Name", "Description", "CorsConfiguration", "DisableExecuteApiEndpoint")
	p.setProperty("ProtocolType", "HTTP", nil)
	x.addResource(name, "AWS::ApiGatewayV2::Api", o, p)

	stage := alphanumeric(o.textProperty("StageName"))
	if !o.hasProperty("StageName") {
		// The logical name that the transform gives to the stage "$default".
		stage = "ApiGatewayDefault"
	}
	p = o.newProperties()
	p.setRef("ApiId", o.name)
	p.setProperty("StageName", "$default", nil)
	p.copySame(o, "StageName", "AccessLogSettings", "DefaultRouteSettings", "RouteSettings", "StageVariables")
	x.addResource(o.name+stage+"Stage", "AWS::ApiGatewayV2::Stage", o, p)
	if domain, ok := o.mapProperty("Domain"); ok {
		p = domain.newProperties()
		p.copySame(domain, "DomainName", "MutualTlsAuthentication")
		settings := domain.newProperties()
		settings.copySame(domain, "CertificateArn", "SecurityPolicy")
		at := p.newNode()
		at.Items = []*document.Node{settings.node}
		p.setProperty("DomainNameConfigurations", []any{settings.values}, at)
		x.addResource(o.name+"Domain", "AWS::ApiGatewayV2::DomainName", domain, p)
	}
	x.addAuthorizers(o, "AWS::ApiGatewayV2::Authorizer", "ApiId", name)
}

// addAuthorizers makes those that an API names.
func (x *expansion) addAuthorizers(o origin, kind, property, name string) {
	v, at := o.property("Auth", "Authorizers")
	all, _ := v.(map[string]any)
	if at == nil {
		return
	}
	for _, key := range slices.Sorted(maps.Keys(all)) {
		if n := at.Fields[key]; n != nil {
			one := origin{o.name, o.whole, n, nil, n}
			p := one.newProperties()
			p.setProperty("Name", key, nil)
			p.setRef(property, name)
			x.addResource(o.name+alphanumeric(key)+"Authorizer", kind, one, p)
		}
	}
}

// ownerAPI returns the API that an event belongs to, if it is one of the template.
func (x *expansion) ownerAPI(e event, property, otherwise string) (api, bool) {
	v, at := e.property(property)
	if at == nil {
		a, ok := x.apis[otherwise]
		return a, ok
	}
	// An API of another template is named by Fn::ImportValue or a parameter: there is none here.
	if m, ok := v.(map[string]any); ok && len(m) == 1 {
		v = m["Ref"]
	}
	name, _ := v.(string)
	a, ok := x.apis[name]
	return a, ok
}

// authorizerOf says who lets callers of an event in: "NONE" is nobody.
func authorizerOf(a api, e event) string {
	for _, one := range []struct {
		origin origin
		key    string
	}{{e.origin, "Authorizer"}, {a.origin, "DefaultAuthorizer"}} {
		v, at := one.origin.property("Auth", one.key)
		if at == nil {
			if _, whole := one.origin.property("Auth"); whole != nil && whole.Tag != "" {
				return "CUSTOM" // computed
			}
			continue
		}
		if name, ok := v.(string); ok && at.Tag == "" {
			switch strings.ToUpper(name) {
			case "NONE", "AWS_IAM":
				return strings.ToUpper(name)
			}
		}
		return "CUSTOM"
	}
	return "NONE"
}

// addMethod makes the method of a REST API that an event is.
func (x *expansion) addMethod(o origin, e event) {
	a, ok := x.ownerAPI(e, "RestApiId", impliedRest)
	// A document of its own declares the security of each method; another reader evaluates it.
	if !ok || a.own || e.values == nil || e.hasProperty("Auth", "ResourcePolicy") {
		return
	}
	p := e.newProperties()
	p.setRef("RestApiId", a.name)
	p.setProperty("HttpMethod", httpMethod(e.textProperty("Method")), nil)
	p.setProperty("AuthorizationType", authorizerOf(a, e), nil)
	for _, one := range []origin{a.origin, e.origin} {
		p.copyAs(one, "ApiKeyRequired", "Auth", "ApiKeyRequired")
	}
	x.addResource(o.name+alphanumeric(e.name)+"Method", "AWS::ApiGateway::Method", e.origin, p)
}

// httpMethod is the method in upper case; any of them is ANY.
func httpMethod(method string) string {
	if method = strings.ToUpper(method); method == "" || method == "X-AMAZON-APIGATEWAY-ANY-METHOD" {
		return "ANY"
	}
	return method
}

// addRoute makes the route of an HTTP API that an event is.
func (x *expansion) addRoute(o origin, e event) {
	a, ok := x.ownerAPI(e, "ApiId", impliedHTTP)
	if !ok || a.own || e.values == nil {
		return
	}
	p := e.newProperties()
	p.setRef("ApiId", a.name)
	key := "$default"
	if path := e.textProperty("Path"); path != "" {
		key = httpMethod(e.textProperty("Method")) + " " + path
	}
	p.setProperty("RouteKey", key, nil)
	kind := authorizerOf(a, e)
	// Routes know NONE, AWS_IAM, JWT and CUSTOM; for the rules any authorizer is the same.
	if kind == "CUSTOM" {
		kind = "JWT"
	}
	p.setProperty("AuthorizationType", kind, nil)
	x.addResource(o.name+alphanumeric(e.name)+"Route", "AWS::ApiGatewayV2::Route", e.origin, p)
}
