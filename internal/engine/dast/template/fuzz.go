package template

import (
	"cmp"
	"fmt"
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"merlon/internal/engine/dast/activescan"
	"merlon/internal/engine/dast/message"
	"merlon/internal/engine/dast/sitemap"
	"merlon/internal/errs"
)

// This file puts payloads into the requests of operations that were found.

// A rule is a rule of a fuzzing section: which parameters get which payloads.
type rule struct {
	// Parts of the request: query, path, header, cookie, body, request for all; "" is path and
	// query.
	parts []string
	// How the payload joins the value: replace, prefix, postfix, infix, replace-regex.
	kind string
	// All parameters get the payload at once, in one request; otherwise each in one of its own.
	multiple bool
	// Names of parameters in small letters, and patterns of names; with neither all are taken.
	keys  []string
	names []*regexp.Regexp
	// Patterns of which the present value has to match one; empty: any value will do.
	values []*regexp.Regexp
	// What replace-regex replaces; nil for the other kinds.
	old *regexp.Regexp
	// Payloads for each parameter.
	list []string
	// Payloads by parameter, which is added where it is missing.
	pairs []pair
}

// compileRule checks a rule. Names of parameters are compared without their letter
// case.
func compileRule(f *fuzzing) (r rule, err error) {
	if err := r.compileTarget(f); err != nil {
		return r, err
	}
	for _, k := range f.Keys {
		r.keys = append(r.keys, strings.ToLower(k))
	}
	if r.names, err = compileRegexps(f.KeysRegex, true); err != nil {
		return r, err
	}
	if r.values, err = compileRegexps(f.Values, false); err != nil {
		return r, err
	}
	if r.kind == "replace-regex" {
		if r.old, err = compileRegexp(f.ReplaceRegex); err != nil {
			return r, err
		}
	}
	if f.Fuzz.Kind == yaml.MappingNode {
		r.pairs, err = readPairs(&f.Fuzz)
		return r, err
	}
	if err := f.Fuzz.Decode(&r.list); err != nil || len(r.list) == 0 {
		return r, fmt.Errorf("fuzz is neither a list nor a map of texts")
	}
	return r, nil
}

// compileTarget checks into which parts of a request the rule puts payloads, how, and
// whether into all parameters at once.
func (r *rule) compileTarget(f *fuzzing) error {
	r.parts = f.Parts
	if len(r.parts) == 0 {
		r.parts = []string{f.Part}
	}
	for _, p := range r.parts {
		if !slices.Contains([]string{"", "query", "header", "headers", "path", "cookie", "body", "request"}, p) {
			return unsupported(fmt.Sprintf("fuzzing of the part %.40q", p))
		}
	}
	r.kind = cmp.Or(f.Type, "replace")
	if !slices.Contains([]string{"replace", "prefix", "postfix", "infix", "replace-regex"}, r.kind) {
		return unsupported(fmt.Sprintf("fuzzing of the type %.40q", f.Type))
	}
	switch f.Mode {
	case "", "multiple":
		r.multiple = true
	case "single":
	default:
		return unsupported(fmt.Sprintf("fuzzing in the mode %.40q", f.Mode))
	}
	return nil
}

// payloadTexts returns the payloads of the rule before their names are filled in.
func (r *rule) payloadTexts() []string {
	out := slices.Clone(r.list)
	for _, p := range r.pairs {
		out = append(out, p.text)
	}
	return out
}

// acceptedPoints are the points of a request that the rule wants.
func (r *rule) acceptedPoints(req *message.Request) []message.Point {
	var out []message.Point
	for _, p := range req.Points() {
		if slices.ContainsFunc(r.parts, func(name string) bool { return isInPart(name, p.In) }) && r.acceptsPoint(p) {
			out = append(out, p)
		}
	}
	return out
}

// isInPart reports whether a point of a request belongs to a part by its name in templates.
// Without a name it is the path and the query.
func isInPart(name string, in message.In) bool {
	if name == "request" {
		name = partOf[in]
	}
	return name != "" && name == partOf[in] || name == "headers" && in == message.InHeader ||
		name == "" && (in == message.InQuery || in == message.InPath)
}

// partOf names the part of a request in which a point is.
var partOf = map[message.In]string{message.InQuery: "query", message.InPath: "path", message.InHeader: "header",
	message.InCookie: "cookie", message.InForm: "body", message.InMultipart: "body", message.InJSON: "body",
	message.InXML: "body"}

// acceptsPoint reports whether the rule takes a parameter by its name and by its value.
// Without names it takes all.
func (r *rule) acceptsPoint(p message.Point) bool {
	if len(r.keys)+len(r.names) > 0 && !slices.Contains(r.keys, strings.ToLower(p.Name)) &&
		!slices.ContainsFunc(r.names, func(re *regexp.Regexp) bool { return re.MatchString(p.Name) }) {
		return false
	}
	return len(r.values) == 0 || slices.ContainsFunc(r.values, func(re *regexp.Regexp) bool {
		return re.MatchString(p.Value)
	})
}

// applyPayload puts a payload to a value.
func (r *rule) applyPayload(value, payload string) string {
	switch r.kind {
	case "prefix":
		return payload + value
	case "postfix":
		return value + payload
	case "infix":
		if value == "" {
			return payload
		}
		half := len(value) / 2
		return value[:half] + payload + value[half:]
	case "replace-regex":
		return r.old.ReplaceAllLiteralString(value, payload)
	}
	return payload
}

// An injection is a request with a payload.
type injection struct {
	request *message.Request
	// Where the payload is; nil: at several points.
	point   *message.Point
	payload string
	// The values that the payload was made with, for its matchers.
	values values
	// The listener's token in it; empty: the template does not listen.
	token string
}

// injectionRequests are the requests that the rule makes of the operation. Where calls of the
// target are waited for, each has an address of its own.
func (r *run) injectionRequests(f *rule, payloads map[string]string) []injection {
	req := r.trial.Request
	var out []injection
	add := func(change func(payload string) (*message.Request, *message.Point), text string) {
		if r.template.Listens {
			r.values = r.initialValues(payloads)
		}
		payload, missing := fillExpressions(text, r.newEvaluation())
		// A name without a value: without it the payload would mean something else.
		if missing != "" {
			return
		}
		if changed, at := change(payload); changed != nil {
			out = append(out, injection{changed, at, payload, r.values, r.token})
		}
	}
	points := f.acceptedPoints(req)
	for _, text := range f.list {
		if f.multiple {
			add(func(payload string) (*message.Request, *message.Point) {
				return f.injectAll(req, points, payload), nil
			},
				text)
			continue
		}
		for _, p := range points {
			add(func(payload string) (*message.Request, *message.Point) {
				return req.With(p, f.applyPayload(p.Value, payload)), &p
			}, text)
		}
	}
	for _, p := range f.pairs {
		at, ok := f.pointOf(req, p.name)
		if !ok {
			continue
		}
		add(func(payload string) (*message.Request, *message.Point) {
			return req.With(at, f.applyPayload(at.Value, payload)), &at
		}, p.text)
	}
	return out
}

// injectAll puts a payload into all points; nil: there is none. Each parameter keeps
// its own value where the kind of the rule puts the payload beside it.
func (r *rule) injectAll(req *message.Request, points []message.Point, payload string) *message.Request {
	var out *message.Request
	for _, p := range points {
		if p.In == message.InJSON || p.In == message.InXML {
			continue // places in a text move when another one changes
		}
		if out == nil {
			out = req
		}
		out = out.With(p, r.applyPayload(p.Value, payload))
	}
	return out
}

// pointOf is where a parameter with the name is, or would be. A parameter that is not
// there is added at the end of the query, or as a header.
func (r *rule) pointOf(req *message.Request, name string) (message.Point, bool) {
	for _, have := range req.Points() {
		if have.Name == name &&
			slices.ContainsFunc(r.parts, func(part string) bool { return isInPart(part, have.In) }) {
			return have, true
		}
	}
	switch {
	case isInPart(r.parts[0], message.InQuery):
		return message.Point{In: message.InQuery, Name: name, Index: -1}, true
	case isInPart(r.parts[0], message.InHeader):
		return message.HeaderPoint(name), true
	}
	return message.Point{}, false
}

// fuzzOperation runs the templates that put payloads into operations on one of them.
func (s *Set) fuzzOperation(t *activescan.OperationScan, slow bool) error {
	for _, tpl := range s.runnable {
		if !tpl.Fuzzes || tpl.Slow != slow {
			continue
		}
		if err := s.fuzzWith(t, tpl); err != nil {
			return err
		}
	}
	return s.collectMatches(t)
}

// fuzzWith runs one template on an operation: each section whose conditions hold, with
// each set of payloads.
func (s *Set) fuzzWith(t *activescan.OperationScan, tpl *Template) error {
	for _, b := range tpl.sections {
		r := s.beginRun(t, tpl)
		if !r.matchesConditions(b) {
			continue
		}
		for _, payloads := range b.payloadSets() {
			r.values = r.initialValues(payloads)
			for i := range b.fuzz {
				hit, err := r.sendInjections(b, &b.fuzz[i], payloads)
				if err != nil {
					return err
				}
				if hit && b.stop {
					return nil
				}
			}
		}
	}
	return nil
}

// matchesConditions applies the conditions before fuzzing to the operation.
func (r *run) matchesConditions(b *block) bool {
	if len(b.pre.matchers) == 0 {
		return true
	}
	req := r.trial.Request
	content, _ := req.Content()
	v := values{"method": req.Method, "host": req.Host, "path": req.Path, "query": message.EncodeQuery(req.Query),
		"body": string(content), "request": req.Method + " " + req.Address(),
		"header": headerText(req), "scheme": req.Scheme}
	for _, h := range req.Header {
		v[strings.ToLower(strings.ReplaceAll(h.Name, "-", "_"))] = h.Value
	}
	ok, _ := b.pre.matchResponse(&evaluation{values: v, number: r.trial.RandomNumber})
	return ok
}

// headerText writes the headers of a request as they are sent.
func headerText(req *message.Request) string {
	h := http.Header{}
	for _, p := range req.Header {
		h.Add(p.Name, p.Value)
	}
	var b strings.Builder
	_ = h.Write(&b) // a builder takes everything
	return b.String()
}

// sendInjections sends what a rule makes of the operation.
func (r *run) sendInjections(b *block, f *rule, payloads map[string]string) (hit bool, err error) {
	for _, in := range r.injectionRequests(f, payloads) {
		if sitemap.ForbiddenReason(in.request) != "" {
			continue
		}
		h, err := r.sendInjection(b, in)
		if errs.Is(err, errs.Forbidden) || errs.Is(err, errs.Invalid) {
			continue // out of scope, or what no client sends
		}
		if err != nil {
			return hit, err
		}
		switch {
		case h == nil:
			continue
		case h.awaited != nil:
			r.set.awaitInteractions(*h)
			continue
		case !r.repeatInjection(b, in, h):
			continue
		}
		hit = true
		r.reportMatch(*h)
		if b.stop {
			return true, nil
		}
	}
	return hit, nil
}

// sendInjection sends one injection and matches its answer. The values of the run are
// those of the injection while it is matched.
func (r *run) sendInjection(b *block, in injection) (*hit, error) {
	before := r.values
	defer func() { r.values = before }()
	r.values, r.token = maps.Clone(in.values), in.token
	answers, err := r.sendFollowing(b, in.request)
	if err != nil {
		return nil, err
	}
	return r.matchInjection(b, answers, in)
}

// repeatInjection repeats an injection: a match that does not come back is none. The operation
// without the payload must not match.
func (r *run) repeatInjection(b *block, in injection, first *hit) bool {
	// First the injection again, then the plain request, which must not match.
	for _, c := range []struct {
		in   injection
		want bool
	}{{in, true}, {injection{request: r.trial.Request, values: in.values, token: in.token}, false}} {
		h, err := r.sendInjection(b, c.in)
		if err != nil || (h != nil && h.awaited == nil) != c.want {
			return false
		}
		if h != nil && h.awaited == nil {
			first.answers = append(first.answers, h.answers...)
		}
	}
	first.proof = append(first.proof, "The same request gives the same match again; without the payload there is none.")
	return true
}
