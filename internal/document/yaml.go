package document

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"merlon/internal/lazyregexp"

	"go.yaml.in/yaml/v3"
)

// An Error says where a text cannot be read.
type Error struct {
	Line    int // from 1; 0: it is not known
	Message string
	// Exceeded says that the text has more than its reader takes. Nothing else may be
	// wrong with it.
	Exceeded bool
}

// Error returns the message, with the line in front.
func (e *Error) Error() string {
	if e.Line == 0 {
		return e.Message
	}
	return "line " + strconv.Itoa(e.Line) + ": " + e.Message
}

// A Reader reads the YAML documents of a text (1.2.2, with the merge keys of 1.1), one
// after another. It catches what the library does not catch, says where a text is wrong, and
// follows aliases and merge keys within limits.
//
// Only what needs the library's own nodes uses it; all else calls ParseFirst or
// ParseAll. Depth and Values bound what Followed returns;
// Next does not look at them.
type Reader struct {
	Depth  int // how many values stand inside each other
	Values int // of all documents, each use of an alias counted anew

	library *yaml.Decoder
	total   int
	done    map[*yaml.Node]extent // what anchors name
}

// extent is how large a value is, with what its aliases lead to.
type extent struct {
	values int
	height int // values inside each other below it
}

// NewReader returns the reader of a text.
func NewReader(text []byte) *Reader {
	return &Reader{library: yaml.NewDecoder(bytes.NewReader(text)), done: map[*yaml.Node]extent{}}
}

// Next returns the root of the next document as it stands there, aliases included. An
// empty document is null. Its error is io.EOF or an *Error; after it comes nothing more.
func (r *Reader) Next() (*yaml.Node, error) {
	n, err := r.decodeNext()
	switch {
	case errors.Is(err, io.EOF):
		return nil, io.EOF
	case err != nil:
		return nil, yamlError(err)
	case n.Kind == yaml.DocumentNode && len(n.Content) == 1:
		return n.Content[0], nil
	}
	return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!null", Line: 1, Column: 1}, nil
}

// Followed returns the root of the next document without aliases and merge keys. What an
// anchor names is one node, however often it is used; a scalar that is used as a key
// stands where it is used. The pairs of a map that are merged come after its own, and give
// way to them. Its errors are those of Next, and an *Error for what exceeds the limits, and
// for aliases that lead into themselves.
func (r *Reader) Followed() (*yaml.Node, error) {
	n, err := r.Next()
	if err != nil {
		return nil, err
	}
	root := yaml.Node{Kind: yaml.SequenceNode, Content: []*yaml.Node{n}}
	if _, err := r.resolveAlias(&root.Content[0], 0); err != nil {
		return nil, err
	}
	return root.Content[0], nil
}

// decodeNext reads the next document. The library reports some errors by panics that it
// does not catch.
func (r *Reader) decodeNext() (n *yaml.Node, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("the reader gave up: %v", p)
		}
	}()
	n = &yaml.Node{}
	return n, r.library.Decode(n)
}

// atLine finds the line in an error of the library.
var atLine = lazyregexp.New(`line (\d+): `)

// yamlError makes an Error of what the library says.
func yamlError(err error) *Error {
	text := strings.TrimPrefix(err.Error(), "yaml: ")
	line := 0
	if m := atLine.FindStringSubmatchIndex(text); m != nil {
		line, _ = strconv.Atoi(text[m[2]:m[3]]) // digits; one too long for a line stays 0
		text = text[:m[0]] + text[m[1]:]
	}
	return &Error{Line: line, Message: "not valid YAML: " + strings.Join(strings.Fields(text), " ")}
}

// resolveAlias puts what an alias names into its place, and follows the value that is
// there. The size of what an anchor names is added anew for each alias, so that aliases of
// aliases cannot multiply without limit (CWE-776).
func (r *Reader) resolveAlias(at **yaml.Node, depth int) (extent, error) {
	n := *at
	if n.Kind != yaml.AliasNode {
		return r.followAliases(n, depth)
	}
	size, done := r.done[n.Alias]
	if !done {
		return size, &Error{Line: n.Line, Message: "the alias *" + n.Value + " stands inside of what it names"}
	}
	if depth+size.height > r.Depth {
		return size, r.depthError(n)
	}
	*at = n.Alias
	return size, r.countValues(n, size.values)
}

// followAliases follows the aliases below a node.
func (r *Reader) followAliases(n *yaml.Node, depth int) (extent, error) {
	if depth > r.Depth {
		return extent{}, r.depthError(n)
	}
	if err := r.countValues(n, 1); err != nil {
		return extent{}, err
	}
	size := extent{values: 1}
	for i := range n.Content {
		below, err := r.followChild(n, i, depth+1)
		if err != nil {
			return size, err
		}
		size.values += below.values
		size.height = max(size.height, 1+below.height)
	}
	if n.Kind == yaml.MappingNode {
		if err := r.mergeMaps(n); err != nil {
			return size, err
		}
	}
	if n.Anchor != "" {
		r.done[n] = size
	}
	return size, nil
}

// followChild follows a value of a list or a map, or a key. A key that is a scalar is not
// counted as a value.
func (r *Reader) followChild(n *yaml.Node, i, depth int) (extent, error) {
	at := &n.Content[i]
	if n.Kind != yaml.MappingNode || i%2 == 1 {
		return r.resolveAlias(at, depth)
	}
	key := *at
	if key.Kind == yaml.AliasNode && key.Alias.Kind == yaml.ScalarNode {
		own := *key.Alias
		own.Line, own.Column, own.Anchor = key.Line, key.Column, ""
		*at, key = &own, &own
	}
	if key.Kind != yaml.ScalarNode {
		return r.resolveAlias(at, depth)
	}
	if key.Anchor != "" {
		r.done[key] = extent{values: 1}
	}
	return extent{}, nil
}

// mergeMaps puts the pairs of merged maps into a map whose values were followed.
func (r *Reader) mergeMaps(n *yaml.Node) error {
	var own []*yaml.Node
	var merged []*yaml.Node
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, value := n.Content[i], n.Content[i+1]
		switch {
		case key.Kind != yaml.ScalarNode || key.ShortTag() != "!!merge":
			own = append(own, key, value)
		case value.Kind == yaml.SequenceNode:
			merged = append(merged, value.Content...)
		default:
			merged = append(merged, value)
		}
	}
	if len(own) == len(n.Content) {
		return nil
	}
	have := map[string]bool{}
	for i := 0; i < len(own); i += 2 {
		have[own[i].Value] = true
	}
	for _, m := range merged {
		if m.Kind != yaml.MappingNode {
			continue
		}
		for i := 0; i+1 < len(m.Content); i += 2 {
			if key := m.Content[i]; !have[key.Value] {
				have[key.Value] = true
				own = append(own, key, m.Content[i+1])
			}
		}
	}
	n.Content = own
	return r.countValues(n, len(own)/2)
}

// countValues adds to the number of values and compares it with the limit.
func (r *Reader) countValues(n *yaml.Node, values int) error {
	if r.total += values; r.total > r.Values {
		return tooMany(n.Line, r.Values)
	}
	return nil
}

// depthError is the error of a value that is too deep.
func (r *Reader) depthError(n *yaml.Node) error {
	return tooDeep(n.Line, r.Depth)
}
