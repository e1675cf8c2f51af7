// Package cst parses source text into a concrete syntax tree: one flat array of
// nodes in pre-order, made by tree-sitter in one call into C. Everything above
// sees only the array, so the parser stays replaceable.
//
// The text is hostile: a parse has a deadline and a budget of native memory, and
// walks of the tree do not recurse in C. A grammar can still fault in its own
// scanner; that is why scans run in a child process.
package cst

/*
#cgo CFLAGS: -std=c11 -O2
#include "flatten.h"
*/
import "C"

import (
	"bytes"
	"errors"
	"runtime"
	"sync"
	"time"
	"unsafe"

	_ "github.com/tree-sitter/go-tree-sitter" // links the C runtime; its Go side is not used
)

// A Kind is the kind of a node within one language.
type Kind uint16

// A Field names the part that a node plays in its parent; 0 is none.
type Field uint16

// KindError is the kind of a node that holds text the grammar does not know.
const KindError Kind = 65535

// Flags of a node.
const (
	Named    = 1 << iota // has a name in the grammar, not a mere token
	Error                // KindError
	Missing              // inserted by the parser to go on
	Extra                // may stand anywhere, such as a comment
	HasError             // this node or one below
)

// A Node is one node. Its children are
//
//	for c := i + 1; c < nodes[i].SubtreeEnd; c = nodes[c].SubtreeEnd
type Node struct {
	Start, End uint32 // bytes of the text
	Row, Col   uint32 // of Start, from 0; Col in bytes
	Parent     int32  // -1 for the root
	SubtreeEnd int32  // index one past the last descendant
	Kind       Kind
	Field      Field
	Flags      uint8
	_          [3]uint8
}

// A Tree is a parsed file.
type Tree struct {
	Lang   *Language
	Source []byte
	Nodes  []Node
	Errors bool // some text was not understood
}

// Limits bound one parse.
type Limits struct {
	Steps  int64         // some hundred steps of the parser each; 0 is 500,000, about 10 s of a processor
	Time   time.Duration // of a processor, where the parser counts no steps; 0 is 2 minutes
	Memory int64         // native bytes; 0 is 64 MiB and 128 bytes for each byte of text
}

// Why a parse ended without a tree.
var (
	ErrDeadline = errors.New("parsing took too long")
	ErrSteps    = errors.New("parsing took too many steps")
	ErrMemory   = errors.New("parsing needed too much memory")
	ErrBinary   = errors.New("the file contains NUL bytes")
	ErrTooLarge = errors.New("the file is too large to parse")
)

// MaxSource is the largest text that is parsed, in bytes.
const MaxSource = 16 << 20

// Parse parses the text. The tree holds on to src.
func (l *Language) Parse(src []byte, limits Limits) (*Tree, error) {
	if len(src) > MaxSource {
		return nil, ErrTooLarge
	}
	if bytes.IndexByte(src, 0) >= 0 {
		return nil, ErrBinary // some scanners are quadratic on NUL
	}
	if l.grammar == nil {
		return &Tree{Lang: l, Source: src,
			Nodes: []Node{{End: uint32(len(src)), Parent: -1, SubtreeEnd: 1, Flags: Named}}}, nil
	}
	if limits.Time == 0 {
		limits.Time = 2 * time.Minute
	}
	if limits.Steps == 0 {
		limits.Steps = 500_000
	}
	if limits.Memory == 0 {
		limits.Memory = 64<<20 + 128*int64(len(src))
	}
	p := l.takeParser()
	defer l.parsers.Put(p)
	var text *C.char
	if len(src) > 0 {
		text = (*C.char)(unsafe.Pointer(&src[0]))
	}
	n := C.flat_parse(p.c, text, C.uint32_t(len(src)), C.uint64_t(limits.Time.Microseconds()), C.int64_t(limits.Memory),
		C.int64_t(limits.Steps))
	switch n {
	case C.FLAT_DEADLINE:
		return nil, ErrDeadline
	case C.FLAT_STEPS:
		return nil, ErrSteps
	case C.FLAT_MEMORY:
		return nil, ErrMemory
	}
	nodes := newNodes(int(n))
	copy(nodes, unsafe.Slice((*Node)(unsafe.Pointer(p.c.nodes)), int(n)))
	t := &Tree{Lang: l, Source: src, Nodes: nodes, Errors: bool(p.c.has_error)}
	C.flat_trim(p.c)
	return t, nil
}

// freeNodes has the arrays of trees that nobody uses any more.
var freeNodes sync.Pool

// maxFreeNodes bounds the arrays that are kept, in nodes.
const maxFreeNodes = 1 << 18

// newNodes returns an array for the nodes of a tree.
func newNodes(n int) []Node {
	if p, ok := freeNodes.Get().(*[]Node); ok && cap(*p) >= n {
		return (*p)[:n]
	}
	return make([]Node, n, n+n/4)
}

// Free gives the memory of the nodes to the next tree. Who calls it keeps none of them.
func (t *Tree) Free() {
	if nodes := t.Nodes; cap(nodes) <= maxFreeNodes {
		t.Nodes = nil
		freeNodes.Put(&nodes)
	}
}

// parser is a native parser; the garbage collector frees it.
type parser struct{ c *C.Flattener }

var initOnce = sync.OnceFunc(func() { C.flat_init() })

// takeParser returns a parser of the language that nobody uses.
func (l *Language) takeParser() *parser {
	if p, ok := l.parsers.Get().(*parser); ok {
		return p
	}
	initOnce()
	p := &parser{C.flat_new(l.grammar())}
	if p.c == nil {
		panic("cst: the grammar of " + l.Name + " has an ABI that the runtime does not know") // a pinned version cannot
	}
	runtime.AddCleanup(p, func(c *C.Flattener) { C.flat_free(c) }, p.c)
	return p
}

// grammarNames reads the names of the grammar's kinds and fields.
func grammarNames(grammar unsafe.Pointer) (kinds, fields []string) {
	kinds = make([]string, C.flat_symbol_count(grammar))
	for i := range kinds {
		kinds[i] = C.GoString(C.flat_symbol_name(grammar, C.uint16_t(i)))
	}
	fields = make([]string, C.flat_field_count(grammar)+1) // from 1
	for i := 1; i < len(fields); i++ {
		fields[i] = C.GoString(C.flat_field_name(grammar, C.uint16_t(i)))
	}
	return kinds, fields
}
