package scan

import (
	"cmp"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"merlon/internal/finding"
)

// This file correlates static and dynamic analysis: a live finding is linked to the route in
// the source that handles the request, and to the static finding of the same vulnerability.

// Limits of the routes and sinks that a target carries. They bound the memory of the sandboxed
// scan, which receives the target as one JSON document.
const (
	MaxRoutes = 20_000
	MaxSinks  = 5_000
	maxPath   = 20 // steps of a sink
)

// Routes returns the routes that the operations of a source scan declare, with the findings
// whose data flow starts in their handlers. Rules are the rules of the findings by ID.
func Routes(operations []finding.Operation, findings []finding.Finding, rules map[string]*finding.Rule) []Route {
	var out []Route
	at := map[string][]int{} // indexes of routes, by method and path
	for _, op := range operations {
		if op.Outcome != finding.Declared || op.Code == nil || len(out) == MaxRoutes {
			continue
		}
		at[op.Method+" "+op.URL] = append(at[op.Method+" "+op.URL], len(out))
		out = append(out, Route{Method: op.Method, Path: op.URL, Parameters: op.Parameters, Location: *op.Code})
	}
	sinks := 0
	for i := range findings {
		f := &findings[i]
		rule := rules[f.RuleID]
		if rule == nil {
			continue
		}
		for _, e := range f.Entry {
			for _, n := range at[e.Method+" "+e.Path] {
				if sinks == MaxSinks || len(f.Steps) > 0 && f.Steps[0].Location.Path != out[n].Location.Path {
					continue
				}
				sinks++
				out[n].Sinks = append(out[n].Sinks, newSink(f, rule, e.Parameter))
			}
		}
	}
	return out
}

// newSink returns the sink of a static finding. A long data flow keeps both of its ends.
func newSink(f *finding.Finding, rule *finding.Rule, parameter string) Sink {
	steps := f.Steps
	if len(steps) > maxPath {
		steps = append(slices.Clip(steps[:maxPath/2]), steps[len(steps)-maxPath/2:]...)
	}
	return Sink{CWE: rule.CWE, RuleID: f.RuleID, Parameter: parameter, Location: f.Location,
		Fingerprint: f.Fingerprint, Steps: steps}
}

// A RouteCollector is a Handler that collects the declared operations of a source scan and the
// findings behind them. It forwards every message to the embedded Handler.
type RouteCollector struct {
	Handler
	operations []finding.Operation
	findings   []finding.Finding
	rules      map[string]*finding.Rule
}

// Rule records the rule.
func (d *RouteCollector) Rule(m *finding.Rule) error {
	if d.rules == nil {
		d.rules = map[string]*finding.Rule{}
	}
	d.rules[m.ID] = m
	return d.Handler.Rule(m)
}

// Finding records a finding whose data enters through an operation.
func (d *RouteCollector) Finding(m *finding.Finding) error {
	if len(m.Entry) > 0 && len(d.findings) < MaxSinks {
		d.findings = append(d.findings, *m)
	}
	return d.Handler.Finding(m)
}

// Operation records an operation.
func (d *RouteCollector) Operation(m *finding.Operation) error {
	if len(d.operations) < MaxRoutes {
		d.operations = append(d.operations, *m)
	}
	return d.Handler.Operation(m)
}

// Routes returns the routes that were collected.
func (d *RouteCollector) Routes() []Route { return Routes(d.operations, d.findings, d.rules) }

// routeMatcher finds the routes of live findings and operations.
type routeMatcher struct {
	base   string // path of the target, without a trailing slash
	routes []routePattern
}

// routePattern is a route with its path split into segments.
type routePattern struct {
	*Route
	segments []string
}

// newRouteMatcher returns the matcher for the routes of the target.
func newRouteMatcher(t *Target) *routeMatcher {
	b := &routeMatcher{}
	if u, err := url.Parse(t.URL); err == nil {
		b.base = strings.TrimSuffix(u.EscapedPath(), "/")
	}
	for i := range t.Routes {
		b.routes = append(b.routes, routePattern{&t.Routes[i], splitPath(t.Routes[i].Path)})
	}
	return b
}

// splitPath returns the segments of a path.
func splitPath(path string) []string { return strings.Split(strings.Trim(path, "/"), "/") }

// annotateOutcome links the findings and operations of the outcome to the source code.
func (b *routeMatcher) annotateOutcome(o *outcome) {
	if len(b.routes) == 0 {
		return
	}
	for i := range o.hits {
		h := &o.hits[i]
		if h.Live == nil || h.Live.Code != nil {
			continue
		}
		found := b.matchRoute(h.Live.Method, h.Live.URL)
		if found == nil {
			continue
		}
		live := *h.Live
		live.Code = &finding.Code{Handler: found.Location}
		if s := found.matchSink(h.rule, &live); s != nil {
			live.Code.Flaw = &finding.CodeFinding{RuleID: s.RuleID, Location: s.Location, Fingerprint: s.Fingerprint}
			if len(h.Steps) == 0 {
				h.Steps = slices.Clone(s.Steps)
			}
		}
		h.Live = &live
	}
	for i := range o.operations {
		op := &o.operations[i]
		if found := b.matchRoute(op.Method, op.URL); found != nil && op.Code == nil {
			at := found.Location
			op.Code = &at
		}
	}
}

// matchRoute returns the route of an operation: of the routes whose path matches, the one with
// the most literal segments, as routers of web frameworks choose. The target may be mounted
// below a path prefix that the source does not know, so the path is tried with and without it.
func (b *routeMatcher) matchRoute(method, address string) *routePattern {
	path, ok := pathOf(address)
	if !ok {
		return nil
	}
	candidates := [][]string{splitPath(path)}
	if below, ok := strings.CutPrefix(path, b.base+"/"); ok && b.base != "" {
		candidates = append(candidates, splitPath(below))
	}
	var best *routePattern
	score := -1
	for i := range b.routes {
		r := &b.routes[i]
		if r.Method != "" && !strings.EqualFold(r.Method, method) {
			continue
		}
		for _, segments := range candidates {
			n := countLiteralSegments(r.segments, segments)
			if n > score || n == score && n >= 0 && len(r.Sinks) > len(best.Sinks) {
				best, score = r, n
			}
		}
	}
	return best
}

// pathOf returns the escaped path of a URL or of a URI template such as
// "https://host/users/{id}", whose braces a URL parser would escape; false when it is neither.
func pathOf(address string) (path string, ok bool) {
	u, err := url.Parse(address)
	if err != nil {
		return "", false
	}
	path = u.EscapedPath()
	if _, after, ok := strings.Cut(address, "{"); !ok || after == "" {
		return path, true
	}
	if _, rest, ok := strings.Cut(address, "://"); ok {
		if slash := strings.IndexByte(rest, '/'); slash >= 0 {
			path, _, _ = strings.Cut(rest[slash:], "?")
		}
	}
	return path, true
}

// countLiteralSegments returns how many segments of the path equal those of the route; -1 when
// the path does not match.
func countLiteralSegments(route, path []string) int {
	if len(route) != len(path) {
		return -1
	}
	n := 0
	for i, s := range route {
		switch {
		case s == path[i]:
			n++
		case strings.HasPrefix(s, "{") && path[i] != "":
		default:
			return -1
		}
	}
	return n
}

// matchSink returns the sink of the route that a live finding confirms: of the same weakness
// class, and of the same parameter unless static analysis does not know the parameter.
func (r *routePattern) matchSink(rule *finding.Rule, live *finding.Live) *Sink {
	var best *Sink
	score := 0
	for i := range r.Sinks {
		s := &r.Sinks[i]
		if !sameClass(s.CWE, rule.CWE) {
			continue
		}
		n := 0
		switch {
		case s.Parameter == "":
			n = 1
		case r.isSameParameter(s.Parameter, live):
			n = 2
		}
		if n > score {
			best, score = s, n
		}
	}
	return best
}

// isSameParameter reports whether the parameter of a live finding is the one in the code.
// Frameworks often read query and form through one accessor, so these two locations are equal.
func (r *routePattern) isSameParameter(parameter string, live *finding.Live) bool {
	in, name, _ := strings.Cut(parameter, ":")
	switch {
	case live.In == "path":
		n, err := strconv.Atoi(live.Parameter)
		return in == "path" && (err != nil && live.Parameter == name ||
			err == nil && r.isPathSegment(name, n, live.URL))
	case in == "header":
		return live.In == "header" && strings.EqualFold(name, live.Parameter)
	case in == "json":
		return (live.In == "json" || live.In == "form") &&
			strings.TrimPrefix(name, "/") == strings.TrimPrefix(live.Parameter, "/")
	case in == "cookie":
		return live.In == "cookie" && live.Parameter == name
	}
	return (live.In == "query" || live.In == "form" || live.In == "multipart") && live.Parameter == name
}

// isPathSegment reports whether the path parameter is segment n of the URL, counted from 1. The
// URL may have the path prefix of the target before the path of the route.
func (r *routePattern) isPathSegment(name string, n int, address string) bool {
	at := slices.Index(r.segments, "{"+name+"}")
	u, err := url.Parse(address)
	return err == nil && at >= 0 && at+1+len(splitPath(u.EscapedPath()))-len(r.segments) == n
}

// classes maps weaknesses to the one that represents their class. Static and dynamic rules name
// a weakness at different levels of the CWE hierarchy, such as CWE-564 (Hibernate) for CWE-89.
var classes = map[string]string{
	"CWE-564": "CWE-89", "CWE-943": "CWE-89", "CWE-77": "CWE-78", "CWE-88": "CWE-78", "CWE-23": "CWE-22",
	"CWE-36": "CWE-22", "CWE-73": "CWE-22",
	"CWE-98": "CWE-22", "CWE-829": "CWE-22", "CWE-80": "CWE-79", "CWE-116": "CWE-79", "CWE-95": "CWE-94",
	"CWE-96": "CWE-94", "CWE-1336": "CWE-94",
	"CWE-917": "CWE-94", "CWE-776": "CWE-611", "CWE-827": "CWE-611", "CWE-93": "CWE-113", "CWE-644": "CWE-113",
	"CWE-91": "CWE-643",
}

// sameClass reports whether two lists of CWE IDs have a weakness class in common.
func sameClass(a, b []string) bool {
	class := func(c string) string { return cmp.Or(classes[c], c) }
	return slices.ContainsFunc(a, func(x string) bool {
		return slices.ContainsFunc(b, func(y string) bool { return class(x) == class(y) })
	})
}
