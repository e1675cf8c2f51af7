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

// restAPI makes a REST API with its stage, domain, authorizers and usage plan.
func (x *expansion) restAPI(o origin) {
	if o.values == nil {
		return
	}
	x.apis[o.name] = api{o, o.closed() || o.has("Auth", "ResourcePolicy")}
	name := o.name + mark + "RestApi"
	p := o.become()
	p.take(o, "Name", "Description", "BinaryMediaTypes", "MinimumCompressionSize", "ApiKeySourceType",
		"DisableExecuteApiEndpoint", "Mode", "Policy")
	p.tags(o)
	p.endpoint(o)
	x.add(name, "AWS::ApiGateway::RestApi", o, p)

	stage := o.text("StageName")
	p = o.become()
	p.take(o, "StageName", "AccessLogSetting", "TracingEnabled", "CacheClusterEnabled", "CacheClusterSize",
		"MethodSettings", "CanarySetting", "Variables")
	p.refer("RestApiId", o.name)
	p.tags(o)
	x.add(o.name+letters(stage)+"Stage", "AWS::ApiGateway::Stage", o, p)
	if plan := o.text("Auth", "UsagePlan", "CreateUsagePlan"); plan == "PER_API" || plan == "SHARED" {
		p = o.become()
		at := p.here()
		at.Items = []*document.Node{{Line: at.Line, Column: at.Column, Path: at.Path,
			Fields: map[string]*document.Node{"ApiId": {Line: at.Line, Column: at.Column, Path: at.Path, Tag: "!Ref"}}}}
		p.set("ApiStages", []any{map[string]any{"ApiId": o.name, "Stage": o.values["StageName"]}}, at)
		x.add(o.name+"UsagePlan", "AWS::ApiGateway::UsagePlan", o, p)
	}
	if domain, ok := o.inside("Domain"); ok {
		p = domain.become()
		p.take(domain, "DomainName", "SecurityPolicy", "MutualTlsAuthentication", "OwnershipVerificationCertificateArn")
		p.rename(domain, "RegionalCertificateArn", "CertificateArn")
		x.add(o.name+"Domain", "AWS::ApiGateway::DomainName", domain, p)
	}
	x.authorizers(o, "AWS::ApiGateway::Authorizer", "RestApiId", name)
}

// endpoint sets how a REST API is reached: {Type} of the model is a list of the service.
func (p *properties) endpoint(o origin) {
	v, at := o.field("EndpointConfiguration")
	if at == nil {
		return
	}
	kind, place := v, at
	if m, ok := v.(map[string]any); ok && at.Tag == "" {
		if kind, place = o.field("EndpointConfiguration", "Type"); place == nil {
			if _, has := m["Types"]; has {
				p.set("EndpointConfiguration", v, at)
			}
			return
		}
	}
	types := &document.Node{Line: place.Line, Column: place.Column, Path: place.Path, Items: []*document.Node{place}}
	p.within("EndpointConfiguration", "Types", []any{kind}, types)
}

// closed reports whether something besides the model's settings may decide who gets in.
func (o origin) closed() bool {
	private := o.text("EndpointConfiguration") == "PRIVATE" || o.text("EndpointConfiguration", "Type") == "PRIVATE"
	return private || o.has("DefinitionBody") || o.has("DefinitionUri") || o.has("Policy")
}

// inside returns a property that is a map as an origin of its own.
func (o origin) inside(key string) (origin, bool) {
	v, at := o.field(key)
	m, ok := v.(map[string]any)
	if at == nil || !ok || at.Tag != "" {
		return origin{}, false
	}
	return origin{o.name, o.whole, at, m, at}, true
}

// httpAPI makes an HTTP API with its stage, domain and authorizers.
func (x *expansion) httpAPI(o origin) {
	if o.values == nil {
		return
	}
	x.apis[o.name] = api{o, o.closed()}
	name := o.name + mark + "Api"
	p := o.become()
	p.take(o, "Name", "Description", "CorsConfiguration", "DisableExecuteApiEndpoint")
	p.set("ProtocolType", "HTTP", nil)
	x.add(name, "AWS::ApiGatewayV2::Api", o, p)

	stage := letters(o.text("StageName"))
	if !o.has("StageName") {
		stage = "ApiGatewayDefault"
	}
	p = o.become()
	p.refer("ApiId", o.name)
	p.set("StageName", "$default", nil)
	p.take(o, "StageName", "AccessLogSettings", "DefaultRouteSettings", "RouteSettings", "StageVariables")
	x.add(o.name+stage+"Stage", "AWS::ApiGatewayV2::Stage", o, p)
	if domain, ok := o.inside("Domain"); ok {
		p = domain.become()
		p.take(domain, "DomainName", "MutualTlsAuthentication")
		settings := domain.become()
		settings.take(domain, "CertificateArn", "SecurityPolicy")
		at := p.here()
		at.Items = []*document.Node{settings.node}
		p.set("DomainNameConfigurations", []any{settings.values}, at)
		x.add(o.name+"Domain", "AWS::ApiGatewayV2::DomainName", domain, p)
	}
	x.authorizers(o, "AWS::ApiGatewayV2::Authorizer", "ApiId", name)
}

// authorizers makes those that an API names.
func (x *expansion) authorizers(o origin, kind, property, name string) {
	v, at := o.field("Auth", "Authorizers")
	all, _ := v.(map[string]any)
	if at == nil {
		return
	}
	for _, key := range slices.Sorted(maps.Keys(all)) {
		if n := at.Fields[key]; n != nil {
			one := origin{o.name, o.whole, n, nil, n}
			p := one.become()
			p.set("Name", key, nil)
			p.refer(property, name)
			x.add(o.name+letters(key)+"Authorizer", kind, one, p)
		}
	}
}

// owner returns the API that an event belongs to, if it is one of the template.
func (x *expansion) owner(e event, property, otherwise string) (api, bool) {
	v, at := e.field(property)
	if at == nil {
		a, ok := x.apis[otherwise]
		return a, ok
	}
	if m, ok := v.(map[string]any); ok && len(m) == 1 {
		v = m["Ref"]
	}
	name, _ := v.(string)
	a, ok := x.apis[name]
	return a, ok
}

// authorizer says who lets callers of an event in: "NONE" is nobody.
func authorizer(a api, e event) string {
	for _, one := range []struct {
		origin origin
		key    string
	}{{e.origin, "Authorizer"}, {a.origin, "DefaultAuthorizer"}} {
		v, at := one.origin.field("Auth", one.key)
		if at == nil {
			if _, whole := one.origin.field("Auth"); whole != nil && whole.Tag != "" {
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

// method makes the method of a REST API that an event is.
func (x *expansion) method(o origin, e event) {
	a, ok := x.owner(e, "RestApiId", impliedRest)
	if !ok || a.own || e.values == nil || e.has("Auth", "ResourcePolicy") {
		return
	}
	p := e.become()
	p.refer("RestApiId", a.name)
	p.set("HttpMethod", upper(e.text("Method")), nil)
	p.set("AuthorizationType", authorizer(a, e), nil)
	for _, one := range []origin{a.origin, e.origin} {
		p.rename(one, "ApiKeyRequired", "Auth", "ApiKeyRequired")
	}
	x.add(o.name+letters(e.name)+"Method", "AWS::ApiGateway::Method", e.origin, p)
}

func upper(method string) string {
	if method = strings.ToUpper(method); method == "" || method == "X-AMAZON-APIGATEWAY-ANY-METHOD" {
		return "ANY"
	}
	return method
}

// route makes the route of an HTTP API that an event is.
func (x *expansion) route(o origin, e event) {
	a, ok := x.owner(e, "ApiId", impliedHTTP)
	if !ok || a.own || e.values == nil {
		return
	}
	p := e.become()
	p.refer("ApiId", a.name)
	key := "$default"
	if path := e.text("Path"); path != "" {
		key = upper(e.text("Method")) + " " + path
	}
	p.set("RouteKey", key, nil)
	kind := authorizer(a, e)
	if kind == "CUSTOM" {
		kind = "JWT"
	}
	p.set("AuthorizationType", kind, nil)
	x.add(o.name+letters(e.name)+"Route", "AWS::ApiGatewayV2::Route", e.origin, p)
}
