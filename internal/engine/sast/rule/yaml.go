package rule

import (
	"errors"
	"fmt"
	"slices"
	"strconv"

	"go.yaml.in/yaml/v3"
)

// Limits of one file.
const (
	maxFile   = 8 << 20   // bytes
	maxNodes  = 1_000_000 // values, each use of an alias counted anew
	maxNested = 100       // values inside values
	maxFaults = 50        // that are reported
)

// An Error is a fault of a rule file.
type Error struct {
	Path string
	Line int    // from 1
	Rule string // id, "" if the fault is in no rule or before its id
	Text string
}

// Error returns "path:line: text", with the rule if there is one.
func (e *Error) Error() string {
	if e.Rule != "" {
		return fmt.Sprintf("%s:%d: rule %s: %s", e.Path, e.Line, e.Rule, e.Text)
	}
	return fmt.Sprintf("%s:%d: %s", e.Path, e.Line, e.Text)
}

// A reader takes values out of YAML nodes and collects the faults. All faults of a file are
// collected, since whoever writes rules wants to see them together.
type reader struct {
	path  string
	rule  string // id of the rule being read
	limit int    // nodes that may still be looked at
	depth int

	faults []*Error
	more   int // faults beyond maxFaults
}

// reportFault notes a fault. Beyond the limit faults are only counted.
func (r *reader) reportFault(line int, format string, args ...any) {
	if len(r.faults) >= maxFaults {
		r.more++
		return
	}
	r.faults = append(r.faults, &Error{Path: r.path, Line: line, Rule: r.rule, Text: fmt.Sprintf(format, args...)})
}

// joinFaults joins the faults, by line. The order in which keys are read is not that of the file.
// Of very many the first ones are kept, and the others are counted.
func (r *reader) joinFaults() error {
	slices.SortStableFunc(r.faults, func(a, b *Error) int { return a.Line - b.Line })
	all := make([]error, 0, len(r.faults)+1)
	for _, f := range r.faults {
		all = append(all, f)
	}
	if r.more > 0 {
		all = append(all, fmt.Errorf("%s: and %d more faults", r.path, r.more))
	}
	return errors.Join(all...)
}

// resolve follows aliases. It returns nil, with a fault, when the file has more values than a file
// may have. Each visit counts, so that aliases of aliases cannot expand without bound ("billion
// laughs").
func (r *reader) resolve(n *yaml.Node) *yaml.Node {
	for n != nil && n.Kind == yaml.AliasNode {
		n = n.Alias
	}
	if r.limit--; r.limit <= 0 {
		if r.limit == 0 {
			r.reportFault(n.Line, "the file has more than %d values, aliases counted", maxNodes)
		}
		return nil
	}
	return n
}

// enter counts the depth of what is read; leave ends it. YAML lets a short file nest aliases
// without end.
func (r *reader) enter(n *yaml.Node) bool {
	if r.depth++; r.depth > maxNested {
		r.reportFault(n.Line, "values are nested more than %d deep", maxNested)
		return false
	}
	return true
}

// leave ends what enter has begun.
func (r *reader) leave() { r.depth-- }

// A pair is a key of a mapping with its value.
type pair struct {
	key   *yaml.Node
	value *yaml.Node
	used  bool
}

// A dict is a mapping whose keys are taken one by one.
type dict struct {
	r     *reader
	line  int
	pairs []*pair
	byKey map[string]*pair
}

// readDict reads a mapping. what says in a fault what was to be one. It returns nil, with a fault,
// for anything else. Merge keys are expanded, and keys that are there twice are faults.
func (r *reader) readDict(n *yaml.Node, what string) *dict {
	line := n.Line
	if n = r.resolve(n); n == nil {
		return nil
	}
	if n.Kind != yaml.MappingNode {
		r.reportFault(line, "%s must be a mapping, not %s", what, describeNode(n))
		return nil
	}
	d := &dict{r: r, line: n.Line, byKey: map[string]*pair{}}
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, value := n.Content[i], n.Content[i+1]
		if key.Tag == "!!merge" {
			d.mergePairs(value)
			continue
		}
		if key.Kind != yaml.ScalarNode {
			r.reportFault(key.Line, "a key of %s must be a word", what)
			continue
		}
		if old := d.byKey[key.Value]; old != nil {
			r.reportFault(key.Line, "%s stands twice; the first is on line %d", key.Value, old.key.Line)
			continue
		}
		d.addPair(key, value)
	}
	return d
}

// addPair adds a key, which the mapping does not have yet.
func (d *dict) addPair(key, value *yaml.Node) {
	p := &pair{key: key, value: value}
	d.pairs = append(d.pairs, p)
	d.byKey[key.Value] = p
}

// mergePairs adds the pairs of "<<: *other" that the mapping does not have itself. They are the
// merge keys of YAML 1.1.
func (d *dict) mergePairs(value *yaml.Node) {
	n := d.r.resolve(value)
	if n == nil || n.Kind != yaml.MappingNode {
		d.r.reportFault(value.Line, "only a mapping can be merged")
		return
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		if key := n.Content[i]; d.byKey[key.Value] == nil && d.r.resolve(key) != nil {
			d.addPair(key, n.Content[i+1])
		}
	}
}

// take returns the value of a key, nil if there is none or it is null. The key counts as used
// then.
func (d *dict) take(key string) *yaml.Node {
	p := d.byKey[key]
	if p == nil {
		return nil
	}
	p.used = true
	if n := p.value; n.Kind == yaml.ScalarNode && n.Tag == "!!null" {
		d.r.reportFault(n.Line, "%s has no value", key)
		return nil
	}
	return p.value
}

// has reports whether the key is there, even without a value.
func (d *dict) has(key string) bool { return d.byKey[key] != nil }

// reportUnused reports the keys that nobody took. A misspelled key would otherwise change nothing,
// silently.
func (d *dict) reportUnused(what string) {
	for _, p := range d.pairs {
		if !p.used {
			d.r.reportFault(p.key.Line, "%s has no key %s", what, p.key.Value)
		}
	}
}

// require returns the value of a key that must be there.
func (d *dict) require(key, what string) *yaml.Node {
	if !d.has(key) {
		d.r.reportFault(d.line, "%s needs the key %s", what, key)
		return nil
	}
	return d.take(key)
}

// takeString returns a scalar as text, "" if the key is not there.
func (d *dict) takeString(key string) string {
	return d.r.readScalar(d.take(key), key)
}

// readScalar returns the text of a scalar, "" for nil. Numbers and truth values are text too: a
// pattern may be "1".
func (r *reader) readScalar(n *yaml.Node, what string) string {
	if n == nil {
		return ""
	}
	line := n.Line
	if n = r.resolve(n); n == nil {
		return ""
	}
	if n.Kind != yaml.ScalarNode || n.Tag == "!!null" {
		r.reportFault(line, "%s must be text, not %s", what, describeNode(n))
		return ""
	}
	return n.Value
}

// takeBool returns a truth value, otherwise if the key is not there. Words such as "yes" are text
// in YAML 1.2 and no truth value.
func (d *dict) takeBool(key string, otherwise bool) bool {
	n := d.take(key)
	if n == nil {
		return otherwise
	}
	line := n.Line
	if n = d.r.resolve(n); n == nil {
		return otherwise
	}
	if v, err := strconv.ParseBool(n.Value); err == nil && n.Tag == "!!bool" {
		return v
	}
	d.r.reportFault(line, "%s must be true or false, not %s", key, describeNode(n))
	return otherwise
}

// takeInt returns an integer from 0 to max, otherwise if the key is not there. Numbers outside of
// the range are faults and not cut.
func (d *dict) takeInt(key string, max, otherwise int) int {
	n := d.take(key)
	if n == nil {
		return otherwise
	}
	text := d.r.readScalar(n, key)
	v, err := strconv.Atoi(text)
	if err != nil || v < 0 || v > max {
		d.r.reportFault(n.Line, "%s must be an integer from 0 to %d, not %q", key, max, text)
		return otherwise
	}
	return v
}

// readList returns the elements of a sequence, with a fault for anything else. A missing node
// gives no elements and no fault: whether the key is needed is the caller's matter.
func (r *reader) readList(n *yaml.Node, what string) []*yaml.Node {
	if n == nil {
		return nil
	}
	line := n.Line
	if n = r.resolve(n); n == nil {
		return nil
	}
	if n.Kind != yaml.SequenceNode {
		r.reportFault(line, "%s must be a list, not %s", what, describeNode(n))
		return nil
	}
	return n.Content
}

// readStrings returns the elements of a list of texts. A single text is a list of one if single is
// set. An element that is no text is a fault, and counts as the empty text.
func (r *reader) readStrings(n *yaml.Node, what string, single bool) []string {
	if n == nil {
		return nil
	}
	if to := r.resolve(n); single && to != nil && to.Kind == yaml.ScalarNode {
		return []string{r.readScalar(to, what)}
	}
	var out []string
	for _, e := range r.readList(n, what) {
		out = append(out, r.readScalar(e, "an element of "+what))
	}
	return out
}

// readValue turns a node into JSON's kinds of values. Metadata is stored and printed as JSON, so
// that keys which are no words, and kinds of YAML that JSON has not, cannot stay.
func (r *reader) readValue(n *yaml.Node) any {
	if n = r.resolve(n); n == nil || !r.enter(n) {
		return nil
	}
	defer r.leave()
	switch n.Kind {
	case yaml.MappingNode:
		out := map[string]any{}
		for i := 0; i+1 < len(n.Content); i += 2 {
			if key := n.Content[i]; key.Kind == yaml.ScalarNode {
				out[key.Value] = r.readValue(n.Content[i+1])
			} else {
				r.reportFault(key.Line, "a key of metadata must be a word")
			}
		}
		return out
	case yaml.SequenceNode:
		out := make([]any, 0, len(n.Content))
		for _, e := range n.Content {
			out = append(out, r.readValue(e))
		}
		return out
	}
	return scalarValue(n)
}

// scalarValue turns a scalar into a value of JSON. Infinity is none, and stays text.
func scalarValue(n *yaml.Node) any {
	switch n.Tag {
	case "!!null":
		return nil
	case "!!bool":
		if v, err := strconv.ParseBool(n.Value); err == nil {
			return v
		}
	case "!!int", "!!float":
		if v, err := strconv.ParseFloat(n.Value, 64); err == nil && v-v == 0 { // not infinite
			return v
		}
	}
	return n.Value
}

// describeNode says what a node is, in a few words. Long texts are cut, since messages go into
// logs and reports.
func describeNode(n *yaml.Node) string {
	switch n.Kind {
	case yaml.MappingNode:
		return "a mapping"
	case yaml.SequenceNode:
		return "a list"
	}
	if n.Tag == "!!null" {
		return "nothing"
	}
	if len(n.Value) > 40 {
		return fmt.Sprintf("%.40q…", n.Value)
	}
	return strconv.Quote(n.Value)
}

// textLine returns the line on which the text of a scalar begins. The text of a block scalar
// begins on the line below its key.
func textLine(n *yaml.Node) int {
	if n.Style&(yaml.LiteralStyle|yaml.FoldedStyle) != 0 {
		return n.Line + 1
	}
	return n.Line
}
