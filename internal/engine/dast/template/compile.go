package template

import (
	"encoding/hex"
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"merlon/internal/finding"
	"merlon/internal/lazyregexp"
	"merlon/internal/scan"
)

// This file turns a template as it is written into one that can be run: whatever of it
// cannot be done is told now, by its name.

// Limits of one template. The largest of the public collections stay below them, but
// for those that try hundreds of passwords.
const (
	// maxSections bounds the sections.
	maxSections = 40
	// maxRequests bounds the requests of one run, with all combinations of payloads.
	maxRequests = 5000
	// maxMatchers bounds the matchers of one section.
	maxMatchers = 10_000
)

// A Template is a template that can be run. It is read-only after compileTemplate.
type Template struct {
	ID string
	// Rule is what its matches are reported as.
	Rule *finding.Rule
	// Needs is the least profile that its requests require.
	Needs scan.Profile
	// Why says for which reason, for the report.
	Why string
	// Listens: it waits for calls of the target to the listener.
	Listens bool
	// Fuzzes: it puts payloads into the operations that were found.
	Fuzzes bool
	// Slow: it measures time, and runs alone.
	Slow bool
	// Anonymous: it shows what somebody may do who is not signed in.
	Anonymous bool

	// The name of its file.
	name string
	// Constants and variables, in their order.
	variable []pair
	sections []*block
	// The order of the sections; nil: as they stand.
	flow *expression
}

// A block is a section that can be run: requests, payloads, and what is looked for in the
// responses.
type block struct {
	id       string
	shapes   []shape
	payloads []payload
	// How payloads of several names are combined: clusterbomb tries all combinations, pitchfork
	// takes the n-th of each, batteringram and sniper one after the other.
	attack     string
	judge      judge
	extractors []extractor
	// The first match ends the section.
	stop bool
	// How many redirects are followed.
	redirects int
	// Redirects to other hosts are followed too, as far as these are in scope.
	away bool
	// Requests share the cookies of those before them.
	cookies bool
	// Names without a value are sent as they stand.
	lenient bool
	// Paths of raw requests are below the target's path.
	merge bool
	// Matchers name responses by number: body_2.
	history bool
	// What is put where into the operations; empty: the section has requests of its own.
	fuzz []rule
	// Matchers that an operation has to meet before it is fuzzed.
	pre judge
}

// A shape is a request before its names are filled in.
type shape struct {
	// The whole request as text; empty: method, path, body and headers are set.
	raw     string
	method  string
	path    string
	body    string
	headers []pair
}

// payload are the values of a name.
type payload struct {
	name   string
	values []string
}

// A judge is a list of matchers; all says that each has to match, else one is enough.
type judge struct {
	matchers []*matcher
	all      bool
}

// A matcher is a matcher that can be run: the fields of its type are compiled, the others nil.
type matcher struct {
	match
	regex []*regexp.Regexp
	// An expression is nil where its text has names to fill in first.
	dsl []*expression
	// Decoded bytes.
	binary []string
}

// An extractor is an extractor that can be run, compiled like a matcher.
type extractor struct {
	extract
	regex []*regexp.Regexp
	dsl   []*expression
	json  [][]step
	xpath [][]place
}

// validID are names of templates.
var validID = lazyregexp.New(`^[A-Za-z0-9][A-Za-z0-9._-]{0,149}$`)

// compileTemplate checks a template. files are texts that payloads may name. It fails
// on the first thing that cannot be done, with its name: a template that is run in part
// may find what is not there.
func compileTemplate(d *document, name string, files map[string]string) (*Template, error) {
	switch {
	case !validID.MatchString(d.ID):
		return nil, fmt.Errorf("%.40q is no id of a template", d.ID)
	case strings.TrimSpace(d.Info.Name) == "":
		return nil, errors.New("info has no name")
	case d.SelfContained:
		return nil, unsupported(unsupportedMembers["self-contained"])
	}
	t := &Template{ID: d.ID, name: name, Rule: d.findingRule()}
	// With a session these would match for a user who may see the page anyway.
	t.Anonymous = slices.ContainsFunc(d.Info.Tags, func(tag string) bool {
		return slices.Contains([]string{"unauth", "unauthenticated", "default-login", "auth-bypass"}, tag)
	})
	for _, n := range []*yaml.Node{&d.Constants, &d.Variables} {
		more, err := readPairs(n)
		if err != nil {
			return nil, fmt.Errorf("variables: %w", err)
		}
		t.variable = append(t.variable, more...)
	}
	if err := t.compileSections(d, files); err != nil {
		return nil, err
	}
	if d.Flow != "" {
		if err := t.compileFlow(d.Flow); err != nil {
			return nil, err
		}
	}
	if err := t.surveyTexts(d.Info.Tags); err != nil {
		return nil, err
	}
	return t, nil
}

// compileSections checks the sections of a template, under the new name and the old one.
func (t *Template) compileSections(d *document, files map[string]string) error {
	sections := slices.Concat(d.HTTP, d.Requests)
	if len(sections) == 0 || len(sections) > maxSections {
		return fmt.Errorf("%d sections of http, not 1 to %d", len(sections), maxSections)
	}
	for i := range sections {
		b, err := compileBlock(&sections[i], files)
		if err != nil {
			return err
		}
		b.stop = b.stop || d.StopAtFirst
		t.sections = append(t.sections, b)
	}
	return nil
}

// compileFlow reads the order of sections: http(1) && http(2). Anything beyond that is
// a program. Calls of http may have one literal argument: the number or the id of a
// section.
func (t *Template) compileFlow(flow string) error {
	x, err := parseExpression(strings.TrimRight(strings.TrimSpace(flow), ";"), "http")
	if err != nil {
		return unsupported("a flow that is a program")
	}
	ok := true
	walkNodes(x.root, func(n node) {
		c, is := n.(call)
		ok = ok && (!is || c.name == "http" && len(c.args) <= 1)
		if is && len(c.args) == 1 {
			_, literal := c.args[0].(literal)
			ok = ok && literal
		}
	})
	// A flow with variables, loops or other functions is JavaScript, which is not run here.
	if !ok || len(x.names) > 0 {
		return unsupported("a flow that is a program")
	}
	t.flow = x
	return nil
}

// walkNodes calls f with every part of an expression.
func walkNodes(n node, f func(node)) {
	f(n)
	switch n := n.(type) {
	case call:
		for _, a := range n.args {
			walkNodes(a, f)
		}
	case list:
		for _, a := range n.items {
			walkNodes(a, f)
		}
	case unary:
		walkNodes(n.x, f)
	case binary:
		walkNodes(n.x, f)
		walkNodes(n.y, f)
	case choice:
		walkNodes(n.test, f)
		walkNodes(n.yes, f)
		walkNodes(n.no, f)
	}
}

// unsupportedFunctions are functions of the format that are not done here. They are
// looked for in texts, because a payload may call them inside of what is no expression
// otherwise.
var unsupportedFunctions = lazyregexp.New(`\b(generate_java_gadget|generate_dotnet_gadget|wait_for|aes_cbc|aes_gcm|zip|public_ip|llm_prompt|jarm|unpack|cookie_unsign|rsa_encrypt|resolve|ip_format|gzip_mtime)\s*\(`)

// surveyTexts looks at all texts of the template: what they need, and what they use
// that is not done. A template needs the least profile that its requests allow; the
// scan leaves it out where that is not given.
func (t *Template) surveyTexts(tags []string) error {
	t.Needs, t.Why = scan.Safe, ""
	for _, tag := range tags {
		// Authors mark with these what may change or stop the target.
		if tag == "intrusive" || tag == "dos" {
			t.raiseProfile(scan.Full, "its tags are "+tag)
		}
	}
	for _, b := range t.sections {
		t.Fuzzes = t.Fuzzes || len(b.fuzz) > 0
		if countCombinations(b)*max(len(b.shapes), 1) > maxRequests {
			return fmt.Errorf("makes more than %d requests", maxRequests)
		}
		t.surveyRequests(b)
	}
	if t.Fuzzes {
		t.raiseProfile(scan.Standard, "it puts payloads into requests")
	}
	for _, s := range t.allTexts() {
		t.Listens = t.Listens || strings.Contains(s, "interactsh")
		t.Slow = t.Slow || duration.MatchString(s)
		if m := unsupportedFunctions.FindStringSubmatch(s); m != nil {
			return unsupported("the function " + m[1])
		}
	}
	return nil
}

// raiseProfile records a profile that the template needs, when it is above what is known.
func (t *Template) raiseProfile(p scan.Profile, why string) {
	if !t.Needs.Allows(p) {
		t.Needs, t.Why = p, why
	}
}

// surveyRequests raises the profile by what the requests of a section do: methods that
// change something need the profile full, and more than one visit the profile standard.
func (t *Template) surveyRequests(b *block) {
	for _, s := range b.shapes {
		if m := s.requestMethod(); m == http.MethodDelete || m == http.MethodPut || m == http.MethodPatch {
			t.raiseProfile(scan.Full, "it sends "+m)
		}
		if !s.isHomeRequest() || len(b.payloads) > 0 {
			t.raiseProfile(scan.Standard, "it requests more than the base URL")
		}
	}
}

// duration matches conditions on the time that an answer takes. Such templates run
// alone, because other requests would slow the target down.
var duration = lazyregexp.New(`\bduration(_\d+)?\s*[<>=]`)

// allTexts are all texts of the template that are filled in or evaluated.
func (t *Template) allTexts() []string {
	var out []string
	for _, v := range t.variable {
		out = append(out, v.text)
	}
	for _, b := range t.sections {
		for _, s := range b.shapes {
			out = append(out, s.raw, s.path, s.body)
			for _, h := range s.headers {
				out = append(out, h.name, h.text)
			}
		}
		for _, p := range b.payloads {
			if len(p.values) <= 100 { // longer ones are lists of words
				out = append(out, p.values...)
			}
		}
		for _, r := range b.fuzz {
			out = append(out, r.payloadTexts()...)
		}
		for _, m := range slices.Concat(b.judge.matchers, b.pre.matchers) {
			out = append(append(append(out, m.Part), m.Words...), m.DSL...)
		}
		for _, x := range b.extractors {
			out = append(append(out, x.Part), x.DSL...)
		}
	}
	return out
}

// requestMethod is the method of the request.
func (s *shape) requestMethod() string {
	if s.raw == "" {
		return s.method
	}
	first, _, _ := strings.Cut(strings.TrimSpace(s.raw), " ")
	return strings.ToUpper(first)
}

// isHomeRequest reports whether the request asks for the base address alone, as a browser does.
func (s *shape) isHomeRequest() bool {
	return s.raw == "" && s.method == http.MethodGet && s.body == "" && len(s.headers) == 0 &&
		(s.path == "{{BaseURL}}" || s.path == "{{BaseURL}}/")
}

// compileBlock checks a section. Payloads, matchers, extractors and requests are
// checked in the order in which people look for mistakes.
func compileBlock(s *section, files map[string]string) (*block, error) {
	b := &block{id: s.ID, attack: s.Attack, stop: s.Stop, cookies: !s.NoCookie &&
		(s.CookieReuse == nil || *s.CookieReuse), lenient: s.SkipCheck, merge: !s.NoMerge,
		history: s.ReqCondition}
	// "host-redirects" stays at the host, "redirects" does not.
	if s.Redirects || s.Host {
		b.redirects, b.away = maxFollowed, s.Redirects && !s.Host
		if s.MaxRedirects > 0 {
			b.redirects = min(s.MaxRedirects, maxFollowed)
		}
	}
	var err error
	if b.payloads, err = readPayloads(s.Payloads, files); err != nil {
		return nil, err
	}
	if !slices.Contains([]string{"", "batteringram", "pitchfork", "clusterbomb", "sniper"}, s.Attack) {
		return nil, unsupported(fmt.Sprintf("the attack %.40q", s.Attack))
	}
	if b.judge, err = compileJudge(s.Matchers, s.Condition); err != nil {
		return nil, err
	}
	if b.pre, err = compileJudge(slices.Concat(s.Pre, s.Filters),
		strings.ToLower(s.PreOperator+s.FiltersAll)); err != nil {
		return nil, err
	}
	if err := b.compileExtractors(s); err != nil {
		return nil, err
	}
	for i := range s.Fuzzing {
		r, err := compileRule(&s.Fuzzing[i])
		if err != nil {
			return nil, err
		}
		b.fuzz = append(b.fuzz, r)
	}
	if err := b.compileShapes(s); err != nil {
		return nil, err
	}
	b.history = b.history || len(b.shapes) > 1 && b.usesNumbers()
	return b, nil
}

// maxFollowed bounds the redirects that are followed for one request.
const maxFollowed = 10

// compileExtractors checks the extractors of a section. One that cannot be done is left out
// where matchers decide alone and no later request needs its value.
func (b *block) compileExtractors(s *section) error {
	for i := range s.Extractors {
		x, err := compileExtractor(&s.Extractors[i])
		if err != nil {
			if s.Extractors[i].Internal || len(s.Matchers) == 0 {
				return err
			}
			continue // what it shows beside the match is left out
		}
		b.extractors = append(b.extractors, x)
	}
	return nil
}

// compileShapes checks the requests of a section.
func (b *block) compileShapes(s *section) error {
	for _, raw := range s.Raw {
		sh := shape{raw: raw}
		if err := sh.takeAnnotations(); err != nil {
			return err
		}
		b.shapes = append(b.shapes, sh)
	}
	method := strings.ToUpper(s.Method)
	if method == "" {
		method = http.MethodGet
	}
	for _, path := range s.Path {
		sh := shape{method: method, path: path, body: s.Body}
		// A map of YAML has no order; sorted headers make each scan send the same.
		for name, value := range s.Headers {
			sh.headers = append(sh.headers, pair{name, value})
		}
		slices.SortFunc(sh.headers, func(x, y pair) int { return strings.Compare(x.name, y.name) })
		b.shapes = append(b.shapes, sh)
	}
	if len(b.shapes) == 0 && len(b.fuzz) == 0 {
		return errors.New("a section without requests")
	}
	if len(b.fuzz) > 0 && len(b.shapes) > 0 {
		return unsupported("requests beside fuzzing")
	}
	return nil
}

// takeAnnotations takes lines that begin with @ off a raw request. Two of them change
// nothing here: how long the scan waits, and that a request is sent once. The others
// need a client that does not exist here.
func (s *shape) takeAnnotations() error {
	var kept []string
	head := true
	for line := range strings.Lines(s.raw) {
		trimmed := strings.TrimSpace(line)
		if head && strings.HasPrefix(trimmed, "@") {
			name, _, _ := strings.Cut(strings.ToLower(strings.TrimPrefix(trimmed, "@")), ":")
			if name != "timeout" && name != "once" && !strings.HasPrefix(name, "timeout ") {
				return unsupported(fmt.Sprintf("the annotation @%.20s", name))
			}
			continue
		}
		head = head && trimmed == ""
		if !head || trimmed != "" {
			kept = append(kept, line)
		}
	}
	s.raw = strings.Join(kept, "")
	if len(strings.Fields(s.raw)) < 2 {
		return errors.New("a raw request without a method and a path")
	}
	return nil
}

// readPayloads reads the values of names: lists, texts of many lines, or names of files
// that came with the templates.
func readPayloads(of map[string]yaml.Node, files map[string]string) ([]payload, error) {
	var out []payload
	for name, n := range of {
		p := payload{name: name}
		if n.Kind == yaml.MappingNode { // lists by how far one wants to go
			n = firstLevel(&n)
		}
		switch n.Kind {
		case yaml.SequenceNode:
			for _, v := range n.Content {
				var text string
				if err := v.Decode(&text); err != nil {
					return nil, fmt.Errorf("payload %.40q: a list of texts is needed", name)
				}
				p.values = append(p.values, text)
			}
		case yaml.ScalarNode:
			words, err := wordsOf(n.Value, files)
			if err != nil {
				return nil, err
			}
			p.values = words
		default:
			return nil, unsupported(fmt.Sprintf("the form of payload %.40q", name))
		}
		if len(p.values) == 0 {
			return nil, fmt.Errorf("payload %.40q has no values", name)
		}
		out = append(out, p)
	}
	slices.SortFunc(out, func(a, b payload) int { return strings.Compare(a.name, b.name) })
	return out, nil
}

// firstLevel is the first of the lists of a payload that are graded.
func firstLevel(n *yaml.Node) yaml.Node {
	for _, want := range []string{"low", "default", "medium"} {
		for i := 0; i+1 < len(n.Content); i += 2 {
			if n.Content[i].Value == want {
				return *n.Content[i+1]
			}
		}
	}
	return *n
}

// wordsOf are the lines of a text, or of the file that it names. Empty lines are left
// out.
func wordsOf(content string, files map[string]string) (words []string, err error) {
	if !strings.Contains(strings.TrimSpace(content), "\n") {
		file, ok := findFile(files, content)
		if !ok {
			return nil, unsupported(fmt.Sprintf("the file %.100q, which was not given", content))
		}
		content = file
	}
	for line := range strings.Lines(content) {
		if line = strings.TrimRight(line, "\r\n"); line != "" {
			words = append(words, line)
		}
	}
	return words, nil
}

// findFile finds a file by its name, or by the end of its path. Among several the first
// by name is taken, so that every scan takes the same one.
func findFile(files map[string]string, name string) (string, bool) {
	if content, ok := files[name]; ok {
		return content, true
	}
	best := ""
	for have := range files {
		if (strings.HasSuffix(have, "/"+name) || strings.HasSuffix(name, "/"+have)) && (best == "" || have < best) {
			best = have
		}
	}
	return files[best], best != ""
}

// readCondition reads "and" and "or"; without any it is or.
func readCondition(s string) (all bool, err error) {
	switch strings.ToLower(strings.TrimSpace(s)) {
	case "", "or":
		return false, nil
	case "and":
		return true, nil
	}
	return false, fmt.Errorf("the condition %.40q is neither and nor or", s)
}

// compileJudge checks a list of matchers and how they are joined.
func compileJudge(list []match, joined string) (j judge, err error) {
	if len(list) > maxMatchers {
		return j, fmt.Errorf("%d matchers, more than %d", len(list), maxMatchers)
	}
	if j.all, err = readCondition(joined); err != nil {
		return j, err
	}
	for i := range list {
		m, err := compileMatcher(list[i])
		if err != nil {
			return j, err
		}
		j.matchers = append(j.matchers, m)
	}
	return j, nil
}

// compileMatcher checks a matcher, and reads its expressions once. What it has to
// compare with is decoded here too.
func compileMatcher(raw match) (*matcher, error) {
	m := &matcher{match: raw}
	if _, err := readCondition(raw.Condition); err != nil {
		return nil, err
	}
	var err error
	switch raw.Type {
	case "word", "status", "size":
		m.decodeWords()
	case "regex":
		m.regex, err = compileRegexps(raw.Regex, raw.NoCase)
	case "binary":
		m.binary, err = readBinary(raw.Binary)
	case "dsl":
		m.dsl, err = compileExpressions(raw.DSL, true)
	default:
		return nil, unsupported(fmt.Sprintf("matchers of the type %.40q", raw.Type))
	}
	if err != nil {
		return nil, err
	}
	if len(m.Words)+len(m.Status)+len(m.Size)+len(m.regex)+len(m.binary)+len(m.dsl) == 0 {
		return nil, fmt.Errorf("a matcher of the type %s without values", raw.Type)
	}
	return m, nil
}

// decodeWords replaces words that are written as hexadecimal digits. One that is not stays.
func (m *matcher) decodeWords() {
	if m.Encoding != "hex" {
		return
	}
	for i, w := range m.Words {
		if b, err := hex.DecodeString(w); err == nil {
			m.Words[i] = string(b)
		}
	}
}

// readBinary reads bytes that are written as hexadecimal digits.
func readBinary(list []string) ([]string, error) {
	var out []string
	for _, text := range list {
		b, err := hex.DecodeString(text)
		if err != nil {
			return nil, fmt.Errorf("%.40q is not hexadecimal", text)
		}
		out = append(out, string(b))
	}
	return out, nil
}

// compileRegexps reads regular expressions, which may leave the letter case open.
func compileRegexps(list []string, noCase bool) ([]*regexp.Regexp, error) {
	var out []*regexp.Regexp
	for _, p := range list {
		if noCase {
			p = "(?i)" + p
		}
		re, err := compileRegexp(p)
		if err != nil {
			return nil, err
		}
		out = append(out, re)
	}
	return out, nil
}

// compileExpressions reads expressions. With marked, those with names to fill in are nil:
// they are parsed when they are filled in.
func compileExpressions(list []string, marked bool) ([]*expression, error) {
	var out []*expression
	for _, text := range list {
		if marked && strings.Contains(text, "{{") {
			out = append(out, nil)
			continue
		}
		x, err := parseExpression(text)
		if err != nil {
			return nil, fmt.Errorf("dsl: %w", err)
		}
		out = append(out, x)
	}
	return out, nil
}

// compileExtractor checks an extractor, and reads its expressions once.
func compileExtractor(raw *extract) (x extractor, err error) {
	x.extract = *raw
	switch raw.Type {
	case "regex":
		x.regex, err = compileRegexps(raw.Regex, raw.NoCase)
	case "kval":
	case "dsl":
		x.dsl, err = compileExpressions(raw.DSL, false)
	case "json":
		for _, text := range raw.JSON {
			steps, err := jsonPath(text)
			if err != nil {
				return x, err
			}
			x.json = append(x.json, steps)
		}
	case "xpath":
		for _, text := range raw.XPath {
			places, err := xmlPath(text)
			if err != nil {
				return x, err
			}
			x.xpath = append(x.xpath, places)
		}
	default:
		return x, unsupported(fmt.Sprintf("extractors of the type %.40q", raw.Type))
	}
	return x, err
}

// numberedPart is the name of a part of an answer with its number.
var numberedPart = lazyregexp.New(`_\d+$`)

// usesNumbers reports whether matchers or extractors name answers by number. Then the
// values of all requests of the section are kept, and matchers see them together.
func (b *block) usesNumbers() bool {
	for _, m := range b.judge.matchers {
		if numberedPart.MatchString(m.Part) {
			return true
		}
		for i, x := range m.dsl {
			if x == nil {
				if numberedText.MatchString(m.DSL[i]) {
					return true
				}
			} else if slices.ContainsFunc(x.names, numberedPart.MatchString) {
				return true
			}
		}
	}
	return slices.ContainsFunc(b.extractors, func(x extractor) bool {
		return numberedPart.MatchString(x.Part) || slices.ContainsFunc(x.dsl, func(e *expression) bool {
			return slices.ContainsFunc(e.names, numberedPart.MatchString)
		})
	})
}

// numberedText matches names of values of answers by number in expressions that are not
// read yet.
var numberedText = lazyregexp.New(`\b(status_code|body|header|all_headers|duration|content_length|content_type|response|location)_\d+\b`)

// countCombinations is how many sets of payloads a section has. It counts no further
// than one beyond what is refused.
func countCombinations(b *block) int {
	n := 1
	for i, p := range b.payloads {
		switch {
		case b.attack == "clusterbomb":
			n = min(n*len(p.values), maxRequests+1)
		case b.attack == "pitchfork" && i > 0:
			n = min(n, len(p.values))
		case b.attack == "pitchfork", i == 0:
			n = len(p.values)
		default:
			n += len(p.values)
		}
	}
	return n
}
