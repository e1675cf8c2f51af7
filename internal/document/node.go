// Package document reads the YAML, JSON, TOML and XML of untrusted files: values with
// their line and column, within limits. Aliases and merge keys are followed, so that
// the reader of one kind of file sees maps, lists and scalars only. Nothing is thrown
// away that a tolerant reader can still use: of equal keys the first counts, what an
// alias names is shared.
package document

import (
	"strconv"
	"strings"
)

// A Kind is what a Node holds.
type Kind uint8

// The kinds of values.
const (
	Null Kind = iota
	Bool
	Int
	Float
	String
	Map
	List
)

// A Node is a value with its place. All methods accept nil, which stands for a
// value that is not there.
type Node struct {
	Kind    Kind
	Block   bool   // a scalar in literal or folded style
	Value   string // of a scalar, as it is written, unquoted
	Tag     string // of YAML, "" of JSON: "!!str", "!!null", "!reference", …
	Line    int    // from 1
	Column  int    // from 1, in characters
	Entries []Entry
	Items   []*Node

	index map[string]int // of large maps
}

// An Entry is a key and its value in a map, in the order of the file.
type Entry struct {
	Key    string
	Line   int // of the key, from 1
	Column int // of the key, from 1
	Value  *Node
}

// indexedSize is the number of entries from which on a map has an index: descriptions
// of APIs have maps of thousands of paths and schemas.
const indexedSize = 12

// indexKeys is called when a map is complete.
func (n *Node) indexKeys() {
	if len(n.Entries) < indexedSize {
		return
	}
	n.index = make(map[string]int, len(n.Entries))
	for i, e := range n.Entries {
		if _, twice := n.index[e.Key]; !twice {
			n.index[e.Key] = i
		}
	}
}

// entryOf returns the entry of the key, or nil.
func (n *Node) entryOf(key string) *Entry {
	if n == nil {
		return nil
	}
	if n.index != nil {
		if i, ok := n.index[key]; ok {
			return &n.Entries[i]
		}
		return nil
	}
	for i := range n.Entries {
		if n.Entries[i].Key == key {
			return &n.Entries[i]
		}
	}
	return nil
}

// KeyNode returns the key as a value, for its place.
func (e Entry) KeyNode() *Node {
	return &Node{Kind: String, Value: e.Key, Tag: "!!str", Line: e.Line, Column: e.Column}
}

// Key returns the key itself, for its place, or nil.
func (n *Node) Key(key string) *Node {
	if e := n.entryOf(key); e != nil {
		return e.KeyNode()
	}
	return nil
}

// Get returns the value of the key, or nil.
func (n *Node) Get(key string) *Node {
	if e := n.entryOf(key); e != nil {
		return e.Value
	}
	return nil
}

// At returns the value that the keys lead to, or nil.
func (n *Node) At(keys ...string) *Node {
	for _, k := range keys {
		n = n.Get(k)
	}
	return n
}

// Place returns the line and the column of the key, and those of the map itself when
// it has no such key. Of nil both are 0.
func (n *Node) Place(key string) (line, column int) {
	if n == nil {
		return 0, 0
	}
	if e := n.entryOf(key); e != nil {
		return e.Line, e.Column
	}
	return n.Line, n.Column
}

// Text returns the text of a scalar, and "" for anything else and for null.
func (n *Node) Text() string {
	if n == nil || n.Kind == Null || n.Kind == Map || n.Kind == List {
		return ""
	}
	return n.Value
}

// Scalars returns the scalar itself, or those of a list, lists inside included.
// A list that names a value elsewhere (GitLab's !reference) has none.
func (n *Node) Scalars() []*Node {
	switch {
	case n == nil || n.Kind == Map || n.Kind == Null || n.Tag == "!reference":
		return nil
	case n.Kind != List:
		return []*Node{n}
	}
	var out []*Node
	for _, item := range n.Items {
		out = append(out, item.Scalars()...)
	}
	return out
}

// Walk calls visit for the node and every value below it, keys left out, until
// visit says that it does not want what is below.
func (n *Node) Walk(visit func(*Node) bool) {
	if n == nil || !visit(n) {
		return
	}
	for _, e := range n.Entries {
		e.Value.Walk(visit)
	}
	for _, item := range n.Items {
		item.Walk(visit)
	}
}

// IsScalar reports whether the node is neither a map nor a list; null is a scalar.
func (n *Node) IsScalar() bool { return n != nil && n.Kind != Map && n.Kind != List }

// IsMap reports whether the node is a map.
func (n *Node) IsMap() bool { return n != nil && n.Kind == Map }

// IsList reports whether the node is a list.
func (n *Node) IsList() bool { return n != nil && n.Kind == List }

// True reports whether a scalar says yes.
func (n *Node) True() bool { return strings.EqualFold(n.Text(), "true") }

// False reports whether a scalar says no.
func (n *Node) False() bool { return strings.EqualFold(n.Text(), "false") }

// Pairs returns the entries of a map, and nothing of anything else.
func (n *Node) Pairs() []Entry {
	if n == nil {
		return nil
	}
	return n.Entries
}

// List returns the items of a list, and nothing of anything else.
func (n *Node) List() []*Node {
	if n == nil {
		return nil
	}
	return n.Items
}

// Number returns the number that a scalar is, also where it is written as a text.
func (n *Node) Number() (float64, bool) {
	if n == nil || n.Kind != Int && n.Kind != Float && n.Kind != String {
		return 0, false
	}
	v, err := strconv.ParseFloat(n.Value, 64)
	return v, err == nil
}

// Any returns the value in the form of encoding/json: nil, bool, int64 or float64,
// string, []any, map[string]any.
func (n *Node) Any() any {
	if n == nil {
		return nil
	}
	switch n.Kind {
	case Null:
		return nil
	case Bool:
		return n.True()
	case Int:
		if v, err := strconv.ParseInt(n.Value, 0, 64); err == nil {
			return v
		}
		fallthrough
	case Float:
		if v, err := strconv.ParseFloat(n.Value, 64); err == nil && v-v == 0 {
			return v
		}
		return n.Value
	case Map:
		m := make(map[string]any, len(n.Entries))
		for _, e := range n.Entries {
			if _, twice := m[e.Key]; !twice {
				m[e.Key] = e.Value.Any()
			}
		}
		return m
	case List:
		l := make([]any, len(n.Items))
		for i, item := range n.Items {
			l[i] = item.Any()
		}
		return l
	}
	return n.Value
}

// Find follows a JSON pointer (RFC 6901) in the form of a fragment, "/a/b~1c", with
// percent-encoded characters read too. It returns nil when it leads nowhere.
func (n *Node) Find(pointer string) *Node {
	if pointer == "" {
		return n
	}
	rest, ok := strings.CutPrefix(pointer, "/")
	if !ok {
		return nil
	}
	for step := range strings.SplitSeq(rest, "/") {
		step = unescapeStep(step)
		switch {
		case n.IsMap():
			n = n.Get(step)
		case n.IsList():
			i, err := strconv.Atoi(step)
			if err != nil || i < 0 || i >= len(n.Items) {
				return nil
			}
			n = n.Items[i]
		default:
			return nil
		}
	}
	return n
}

// unescaper turns a step of a JSON pointer into a key.
var unescaper = strings.NewReplacer("~1", "/", "~0", "~")

// unescapeStep resolves the escapes of a step of a pointer (RFC 6901, section 4).
func unescapeStep(step string) string {
	if strings.Contains(step, "%") {
		step = decodePercent(step)
	}
	return unescaper.Replace(step)
}

// decodePercent resolves percent-encoding where it is valid.
func decodePercent(s string) string {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] == '%' && i+2 < len(s) {
			if v, err := strconv.ParseUint(s[i+1:i+3], 16, 8); err == nil {
				b.WriteByte(byte(v))
				i += 2
				continue
			}
		}
		b.WriteByte(s[i])
	}
	return b.String()
}

// escaper turns a key into a step of a JSON pointer.
var escaper = strings.NewReplacer("~", "~0", "/", "~1")

// Join returns the pointer with more steps.
func Join(pointer string, steps ...string) string {
	for _, s := range steps {
		pointer += "/" + escaper.Replace(s)
	}
	return pointer
}
