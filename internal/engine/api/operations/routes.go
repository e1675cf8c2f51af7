package operations

import (
	"encoding/json"
	"net/http"
	"strings"

	"merlon/internal/engine/api/apispec"
	"merlon/internal/engine/dast/livescan"
	"merlon/internal/finding"
	"merlon/internal/scan"
)

// This file takes the operations that the code declares for those that no description
// names.

// addDeclaredRoutes adds the routes of the source code whose method and path no description has.
// They are written as an OpenAPI document, so that one reader serves both. Their responses are not
// described, so conformance is not checked.
func (e *examination) addDeclaredRoutes() error {
	known := map[string]bool{}
	for _, c := range e.calls {
		known[c.operation.Method+" "+pathShape(c.operation.Path)] = true
	}
	paths := map[string]map[string]any{}
	for i := range e.Target.Routes {
		r := &e.Target.Routes[i]
		for _, method := range routeMethods(r) {
			at := e.pathBelowBase(r.Path)
			if k := method + " " + pathShape(at); known[k] {
				continue
			} else {
				known[k] = true
			}
			if paths[at] == nil {
				paths[at] = map[string]any{}
			}
			paths[at][strings.ToLower(method)] = routeOperation(r, method)
		}
	}
	if len(paths) == 0 {
		return nil
	}
	text, err := json.Marshal(map[string]any{"openapi": "3.0.3", "info": map[string]any{"title": "source code",
		"version": "1"}, "paths": paths})
	if err != nil {
		return err
	}
	api, err := apispec.Read(text)
	if err != nil {
		return err
	}
	base := e.Scope.Base()
	for _, o := range api.Operations {
		if len(e.calls) < livescan.MaxOperations {
			e.calls = append(e.calls,
				&call{operation: o, origin: "code", seen: finding.Operation{Method: o.Method, URL: o.Address(base),
					Origin:  "code",
					Outcome: finding.NotReached, Reason: "it was not requested", Parameters: describeParameters(o)}})
		}
	}
	return nil
}

// pathBelowBase returns the path below the base of the target, which descriptions leave out too.
func (e *examination) pathBelowBase(path string) string {
	if rest, ok := strings.CutPrefix(path, strings.TrimSuffix(e.Scope.Base().EscapedPath(), "/")+"/"); ok {
		return "/" + rest
	}
	return path
}

// pathShape returns the path without the names of its parameters: code and description name them
// differently.
func pathShape(path string) string {
	segments := strings.Split(strings.Trim(path, "/"), "/")
	for i, s := range segments {
		if strings.Contains(s, "{") {
			segments[i] = "{}"
		}
	}
	return strings.Join(segments, "/")
}

// routeMethods returns the methods of a route. One for any method is requested by GET, and by POST
// if it reads a body.
func routeMethods(r *scan.Route) []string {
	if r.Method != "" {
		return []string{r.Method}
	}
	for _, p := range r.Parameters {
		if strings.HasPrefix(p, "form:") || strings.HasPrefix(p, "json:") {
			return []string{http.MethodGet, http.MethodPost}
		}
	}
	return []string{http.MethodGet}
}

// routeOperation writes a route as an operation of OpenAPI. No type is known: every value is
// a text.
func routeOperation(r *scan.Route, method string) map[string]any {
	text := map[string]any{"type": "string"}
	parameters := []any{}
	form, object := map[string]any{}, map[string]any{}
	for _, p := range r.Parameters {
		in, name, _ := strings.Cut(p, ":")
		switch in {
		case "path", "query", "header", "cookie":
			parameters = append(parameters, map[string]any{"in": in, "name": name, "required": in == "path",
				"schema": text})
		case "form":
			form[name] = text
		case "json":
			object[strings.NewReplacer("~1", "/", "~0", "~").Replace(strings.TrimPrefix(name, "/"))] = text
		}
	}
	out := map[string]any{"parameters": parameters,
		"responses": map[string]any{"default": map[string]any{"description": "not known"}}}
	content := map[string]any{}
	for kind, properties := range map[string]map[string]any{"application/x-www-form-urlencoded": form,
		"application/json": object} {
		if len(properties) > 0 {
			content[kind] = map[string]any{"schema": map[string]any{"type": "object", "properties": properties}}
		}
	}
	if len(content) > 0 && method != http.MethodGet && method != http.MethodHead && method != http.MethodDelete {
		out["requestBody"] = map[string]any{"content": content}
	}
	return out
}
