package operations

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"strings"

	"merlon/internal/engine/api/describe"
	"merlon/internal/engine/dast/message"
	"merlon/internal/engine/dast/traffic"
	"merlon/internal/finding"
	"merlon/internal/scan"
)

// This file finds and reads descriptions.

// usual are the places where frameworks put descriptions, below the base.
var usual = []string{"openapi.json", "swagger.json", "v3/api-docs", "swagger/v1/swagger.json", "openapi.yaml", "api-docs", "v2/api-docs", "api/openapi.json",
	"api/swagger.json", "docs/openapi.json", "api/docs/swagger.json", "openapi", "swagger.yaml", ".well-known/openapi.json"}

// gather reads the descriptions that the target names; without any that can be read,
// it looks where they usually are.
func (e *examination) gather(ctx context.Context) error {
	for _, d := range e.Target.Descriptions {
		text, where := d.Text, cmp.Or(d.Name, d.URL, "the description")
		if d.URL != "" && text == "" {
			var err error
			if text, err = e.fetch(ctx, d.URL); traffic.Over(err) {
				return err
			} else if err != nil {
				e.Degrade(scan.Reason{Code: "unavailable", Message: fmt.Sprintf("%.200s was not read: %v", where, err)})
				continue
			}
		}
		if err := e.read([]byte(text), where); err != nil {
			e.Degrade(scan.Reason{Code: "malformed", Message: fmt.Sprintf("%.200s was not read: %v", where, err)})
		}
	}
	if len(e.calls) > 0 {
		return nil
	}
	for _, path := range usual {
		text, err := e.fetch(ctx, path)
		if traffic.Over(err) {
			return err
		}
		if err == nil && e.read([]byte(text), path) == nil && len(e.calls) > 0 {
			return nil
		}
	}
	return nil
}

// fetch asks for an address below the base.
func (e *examination) fetch(ctx context.Context, address string) (string, error) {
	base := *e.scope.Base()
	if !strings.HasSuffix(base.Path, "/") {
		base.Path += "/"
		base.RawPath = ""
	}
	u, err := base.Parse(address)
	if err != nil {
		return "", fmt.Errorf("%.200q is no address", address)
	}
	r, err := message.Of(u)
	if err != nil {
		return "", err
	}
	resp, err := e.client.Send(ctx, r, e.as)
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

// read adds the operations of a description.
func (e *examination) read(text []byte, where string) error {
	api, err := describe.Read(text)
	if err != nil {
		return err
	}
	for i, f := range api.Faults {
		if i == 20 {
			e.Degrade(scan.Reason{Code: "malformed", Message: fmt.Sprintf("%.200s: %d more parts could not be used", where, len(api.Faults)-i+api.Omitted)})
			break
		}
		e.Degrade(scan.Reason{Code: "malformed", Line: f.Line, Message: fmt.Sprintf("%.200s: %s", where, f.Message)})
	}
	origin := string(api.Format)
	if api.Format == describe.OpenAPI2 || api.Format == describe.OpenAPI3 {
		origin = "openapi"
	}
	known := map[string]bool{}
	for _, c := range e.calls {
		known[key(c.operation)] = true
	}
	base := e.scope.Base()
	for _, o := range api.Operations {
		if o.Call != nil && o.Path == "" && !strings.HasSuffix(base.Path, "graphql") {
			o.Path = "/graphql"
		}
		if known[key(o)] || len(e.calls) == maxOperations {
			continue
		}
		known[key(o)] = true
		e.calls = append(e.calls, &call{operation: o, origin: origin, seen: finding.Operation{Method: o.Method, URL: o.Address(base), ID: o.ID, Origin: origin,
			Outcome: finding.NotReached, Reason: "it was not asked", Parameters: parameters(o)}})
	}
	return nil
}

// key tells operations apart: of a collection, one address may be asked in several ways.
func key(o *describe.Operation) string {
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

// parameters lists what the description names.
func parameters(o *describe.Operation) []string {
	out := []string{}
	for _, p := range o.Parameters {
		out = append(out, p.In+":"+p.Name)
	}
	return out
}
