package analyzer

import (
	"slices"

	"merlon/internal/engine/sast"
	"merlon/internal/engine/sast/route"
	"merlon/internal/finding"
)

// This file tells of the operations that the code declares, and through which of them
// the data of a finding comes in.

// operationOf makes an operation of a route. A parameter that is read at several places is listed
// once.
func operationOf(r route.Route) finding.Operation {
	op := finding.Operation{Method: r.Method, URL: r.Path, Origin: "code", Outcome: finding.Declared,
		Parameters: []string{},
		Code:       &finding.Location{Path: r.Handler.Path, StartLine: r.Handler.StartLine, EndLine: r.Handler.EndLine}}
	for _, p := range r.Parameters {
		if k := p.String(); !slices.Contains(op.Parameters, k) {
			op.Parameters = append(op.Parameters, k)
		}
	}
	return op
}

// maxEntries bounds the operations that are told of one finding.
const maxEntries = 16

// entryPoints returns the operations whose handler holds the place where the data of a
// match comes in, with the parameter that is read there.
func entryPoints(routes []route.Route, m *sast.Match) []finding.EntryPoint {
	if len(m.Steps) == 0 {
		return nil
	}
	var out []finding.EntryPoint
	source := m.Steps[0]
	for i := range routes {
		r := &routes[i]
		if len(out) == maxEntries || !r.Handler.Holds(source.Path, source.Start.Offset) {
			continue
		}
		e := finding.EntryPoint{Method: r.Method, Path: r.Path}
		found := 0
		for _, p := range r.Parameters {
			if p.At.Path == source.Path && p.At.Start < source.End.Offset && source.Start.Offset < p.At.End {
				e.Parameter = p.String()
				found++
			}
		}
		if found != 1 {
			e.Parameter = "" // none, or an object of several
		}
		out = append(out, e)
	}
	return out
}
