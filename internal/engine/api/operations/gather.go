package operations

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"merlon/internal/engine/api/apispec"
	"merlon/internal/engine/api/graphql"
	"merlon/internal/engine/api/requestgen"
	"merlon/internal/engine/dast/livescan"
	"merlon/internal/engine/dast/message"
	"merlon/internal/engine/dast/traffic"
	"merlon/internal/finding"
	"merlon/internal/scan"
)

// This file finds and reads descriptions.

// usual are the places where frameworks put descriptions, below the base.
var usual = []string{"openapi.json", "swagger.json", "v3/api-docs", "swagger/v1/swagger.json", "openapi.yaml",
	"api-docs", "v2/api-docs", "api/openapi.json",
	"api/swagger.json", "docs/openapi.json", "api/docs/swagger.json", "openapi", "swagger.yaml",
	".well-known/openapi.json"}

// gatherSpecs reads the descriptions that the target names; without any that can be read,
// it looks where they usually are.
func (e *examination) gatherSpecs(ctx context.Context) error {
	for _, d := range e.Target.Descriptions {
		if err := e.gatherNamed(ctx, d); err != nil {
			return err
		}
	}
	if len(e.calls) > 0 {
		return e.gatherBeside(ctx)
	}
	return e.gatherUsual(ctx)
}

// gatherUsual reads the first description at one of the usual addresses, and else the
// schema of the first service of GraphQL.
func (e *examination) gatherUsual(ctx context.Context) error {
	for _, path := range usual {
		text, err := e.fetchBelowBase(ctx, path)
		if traffic.IsFinal(err) {
			return err
		}
		if err == nil && e.addSpec([]byte(text), path, "") == nil && len(e.calls) > 0 {
			return nil
		}
	}
	for _, path := range services {
		text, err := e.introspectService(ctx, path)
		if traffic.IsFinal(err) {
			return err
		}
		if err == nil && e.addSpec([]byte(text), path, path) == nil && len(e.calls) > 0 {
			return nil
		}
	}
	return nil
}

// gatherNamed reads one description that the target names: its text, or what its address
// responds with. One that cannot be read degrades the scan; the error ends it.
func (e *examination) gatherNamed(ctx context.Context, d scan.Description) error {
	text, where := d.Text, cmp.Or(d.Name, d.URL, "the description")
	if d.URL != "" && text == "" {
		var err error
		if d.Kind == string(apispec.GraphQL) {
			text, err = e.introspectService(ctx, d.URL)
		}
		if text == "" && !traffic.IsFinal(err) {
			text, err = e.fetchBelowBase(ctx, d.URL)
		}
		if traffic.IsFinal(err) {
			return err
		} else if err != nil {
			e.Degrade(scan.Reason{Code: "unavailable", Message: fmt.Sprintf("%.200s was not read: %v", where, err)})
			return nil
		}
	}
	if err := e.addSpec([]byte(text), where, graphQLService(d)); err != nil {
		e.Degrade(scan.Reason{Code: "malformed", Message: fmt.Sprintf("%.200s was not read: %v", where, err)})
	}
	return nil
}

// services are where services of GraphQL usually are, below the base; the first is
// where one is that a description says nothing of.
var services = []string{"graphql", "api/graphql", "v1/graphql", "query", "gql", "graphql/api"}

// gatherBeside looks for a service of GraphQL that the descriptions of an API leave out: at the two
// usual addresses, and at operations that they name so, whose schema they do not tell.
func (e *examination) gatherBeside(ctx context.Context) error {
	if !e.Target.Profile.Allows(scan.Standard) {
		return nil
	}
	paths := slices.Clone(services[:2])
	for _, c := range e.calls {
		if c.operation.Call != nil {
			return nil // they describe one
		}
		path := strings.Trim(c.operation.Path, "/")
		if isGraphQLPath(c.operation.Method, path) && !slices.Contains(paths, path) {
			paths = append(paths, path)
		}
	}
	for _, path := range paths {
		text, err := e.introspectService(ctx, path)
		if traffic.IsFinal(err) {
			return err
		}
		if err == nil && strings.Contains(text, `"__schema"`) && e.addSpec([]byte(text), path, path) == nil {
			return nil
		}
	}
	return nil
}

// isGraphQLPath reports whether an operation is by its path a service of GraphQL.
func isGraphQLPath(method, path string) bool {
	last := strings.ToLower(path[strings.LastIndexByte(path, '/')+1:])
	return method == http.MethodPost && (last == "graphql" || last == "gql") && !strings.Contains(path, "{")
}

// graphQLService is the address that a description of GraphQL was asked at; empty: none.
func graphQLService(d scan.Description) string {
	if d.Text != "" || strings.HasSuffix(strings.ToLower(d.URL), ".graphql") ||
		strings.HasSuffix(strings.ToLower(d.URL), ".json") {
		return ""
	}
	return d.URL
}

// introspectService asks a service of GraphQL below the base for its schema.
func (e *examination) introspectService(ctx context.Context, address string) (string, error) {
	r, err := e.requestBelowBase(address)
	if err != nil {
		return "", err
	}
	return e.loadResponse(ctx, graphql.Introspect(r))
}

// fetchBelowBase asks for an address below the base.
func (e *examination) fetchBelowBase(ctx context.Context, address string) (string, error) {
	r, err := e.requestBelowBase(address)
	if err != nil {
		return "", err
	}
	return e.loadResponse(ctx, r)
}

// requestBelowBase returns the request of an address below the base.
func (e *examination) requestBelowBase(address string) (*message.Request, error) {
	base := *e.Scope.Base()
	if !strings.HasSuffix(base.Path, "/") {
		base.Path += "/"
		base.RawPath = ""
	}
	u, err := base.Parse(address)
	if err != nil {
		return nil, fmt.Errorf("%.200q is no address", address)
	}
	return message.FromURL(u)
}

// loadResponse returns what the request is answered with.
func (e *examination) loadResponse(ctx context.Context, r *message.Request) (string, error) {
	resp, err := e.Client.Send(ctx, r, e.As)
	switch {
	case err != nil:
		return "", err
	case resp.Status != http.StatusOK:
		return "", fmt.Errorf("%s answers %d", r.Address(), resp.Status)
	case resp.Truncated:
		return "", fmt.Errorf("%s is too large", r.Address())
	}
	return string(resp.Body), nil
}

// addSpec adds the operations of a description. Those of GraphQL are at the address of the
// service, below the base, where it is known.
func (e *examination) addSpec(text []byte, where, service string) error {
	api, err := apispec.Read(text)
	if err != nil {
		return err
	}
	e.recordDefects(api, where)
	origin := string(api.Format)
	if api.Format == apispec.OpenAPI2 || api.Format == apispec.OpenAPI3 {
		origin = "openapi"
	}
	e.chooseTokenHeader(api.SecuritySchemes)
	known := map[string]bool{}
	for _, c := range e.calls {
		known[identifyOperations(c.operation)] = true
	}
	base := e.Scope.Base()
	operations := slices.Clone(api.Operations)
	for _, o := range api.Operations {
		operations = append(operations, parameterVariants(o)...)
	}
	for _, o := range operations {
		if o.Call != nil && o.Path == "" {
			e.placeGraphQL(o, service)
		}
		if known[identifyOperations(o)] || len(e.calls) == livescan.MaxOperations {
			continue
		}
		known[identifyOperations(o)] = true
		e.calls = append(e.calls, &call{operation: o, origin: origin, schemes: api.SecuritySchemes,
			seen: finding.Operation{Method: o.Method, URL: o.Address(base), ID: o.ID, Origin: origin,
				Outcome: finding.NotReached, Reason: "it was not requested", Parameters: describeParameters(o)}})
	}
	return nil
}

// maxDefects bounds the reasons about one description.
const maxDefects = 20

// recordDefects records the parts of a description that could not be read.
func (e *examination) recordDefects(api *apispec.API, where string) {
	for i, f := range api.Defects {
		if i == maxDefects {
			e.Degrade(scan.Reason{Code: "malformed", Message: fmt.Sprintf("%.200s: %d more parts could not "+
				"be used", where, len(api.Defects)-i+api.Omitted)})
			return
		}
		e.Degrade(scan.Reason{Code: "malformed", Line: f.Line, Message: fmt.Sprintf("%.200s: %s", where, f.Message)})
	}
}

// chooseTokenHeader keeps the header that the description names for a key, for accounts
// that the scan registers. With a bearer scheme it is the usual one.
func (e *examination) chooseTokenHeader(schemes map[string]apispec.SecurityScheme) {
	for _, name := range slices.Sorted(maps.Keys(schemes)) {
		if s := schemes[name]; s.Type == "apiKey" && s.In == "header" && s.Name != "" && e.header == "" {
			e.header = s.Name
		}
	}
	for _, s := range schemes {
		if s.Type == "http" && s.Scheme == "bearer" {
			e.header = ""
		}
	}
}

// maxVariants bounds the values of one parameter that are asked for.
const maxVariants = 8

// parameterVariants are operations that read, for the other values of a parameter of the path of which
// the description lists all: version v1 may show what v3 does not.
func parameterVariants(o *apispec.Operation) []*apispec.Operation {
	if o.Call != nil || o.Method != http.MethodGet {
		return nil
	}
	var out []*apispec.Operation
	usual := requestgen.ValidInput(o, requestgen.Options{}).Values
	for i, p := range o.Parameters {
		if p.In != "path" {
			continue
		}
		for _, v := range requestgen.Flat(p.Schema).Enum {
			if fmt.Sprint(v) == fmt.Sprint(usual[i]) || len(out) == maxVariants {
				continue
			}
			one := *o
			one.Path = strings.ReplaceAll(o.Path, "{"+p.Name+"}", url.PathEscape(fmt.Sprint(v)))
			one.Parameters = slices.Delete(slices.Clone(o.Parameters), i, i+1)
			out = append(out, &one)
		}
	}
	return out
}

// placeGraphQL gives an operation of GraphQL the path of its service.
func (e *examination) placeGraphQL(o *apispec.Operation, service string) {
	base := strings.TrimSuffix(e.Scope.Base().Path, "/")
	if r, err := e.requestBelowBase(service); err == nil && service != "" {
		if below, ok := strings.CutPrefix(r.Path, base+"/"); ok && below != "" {
			o.Path = "/" + below
			return
		}
	}
	if !strings.HasSuffix(base, "graphql") {
		o.Path = "/" + services[0]
	}
}

// graphQLEndpoints are the services of GraphQL with their operations.
func (e *examination) graphQLEndpoints() []*graphql.Endpoint {
	var out []*graphql.Endpoint
	byPath := map[string]*graphql.Endpoint{}
	for _, c := range e.calls {
		if c.operation.Call == nil || c.request == nil {
			continue
		}
		at := byPath[c.request.Path]
		if at == nil {
			r := &message.Request{Method: http.MethodPost, Scheme: c.request.Scheme, Host: c.request.Host,
				Path: c.request.Path, Origin: c.origin}
			at = &graphql.Endpoint{At: r}
			byPath[r.Path] = at
			out = append(out, at)
		}
		at.Operations = append(at.Operations, &graphql.Operation{Operation: c.operation, Request: c.request,
			Answer: c.answer, Late: c.late})
	}
	return out
}

// identifyOperations tells operations apart: of a collection, one address may be asked in several ways.
func identifyOperations(o *apispec.Operation) string {
	if o.Call != nil {
		return o.ID
	}
	k := o.Method + " " + o.Path
	for _, p := range o.Parameters {
		if p.In == "query" && p.Required {
			k += "&" + p.Name
		}
	}
	return k
}

// describeParameters lists what the description names.
func describeParameters(o *apispec.Operation) []string {
	out := []string{}
	for _, p := range o.Parameters {
		out = append(out, p.In+":"+p.Name)
	}
	return out
}
