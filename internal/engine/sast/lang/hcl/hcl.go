// Package hcl lowers HCL, the language of Terraform, to the generic tree.
//
// A block is a Call of its type: the labels are Strings, the body is a Map. So are
// the attributes of a body: Pairs, beside the Calls that are its inner blocks.
//
//	resource "aws_eip" "a" { vpc = true }
//
//	Call
//	  callee: Name "resource"
//	  argument: String "aws_eip"
//	  argument: String "a"
//	  argument: Map
//	    element: Pair
//	      key: String "vpc"
//	      value: Bool "true"
//
// The order of a Map's elements has no meaning. A key is a String whether it is
// written with quotes or without, as HCL defines; one in parentheses is an
// expression. A splat, "a[*].b", is the Member of an Index with the Name "*". A for
// expression is a Comprehension, over a list or a map; "..." after its value makes
// that a Spread. A here-document is a String or Template with the flag Raw. The
// directives of templates, "%{ if }" and "%{ for }", are Others.
package hcl

import (
	"merlon/internal/engine/sast/cst"
	"merlon/internal/engine/sast/lang"
	"merlon/internal/engine/sast/tree"
)

// Language is HCL.
var Language = &lang.Language{
	Name:      "hcl",
	Spellings: []string{"hcl", "terraform", "tf"},
	Grammar:   cst.HCL,
	Lower:     table.Lower,
	Patterns: lang.Patterns{
		Contexts: []lang.Context{{}, {Before: "qz = ", After: ""}, {Before: "qz = {\n", After: "\n}"}},
		Prepare:  preparePattern,
		Sigil:    true,
		Finish:   finishPattern,
	},
	Semantics: lang.Semantics{Comment: "#", OpenObjects: true, Values: resolveValues, LooseLiterals: true},
}

// table says how each kind of the grammar is lowered: a configuration is blocks, which
// become calls, and attributes, which become pairs.
var table = lang.NewTable(cst.HCL, map[string]lang.Rule{
	"config_file":      lowerFile,
	"body":             lang.Around(tree.Map, "", tree.RoleElement),
	"block":            lowerBlock,
	"attribute":        lowerAttribute,
	"expression":       lowerExpression,
	"literal_value":    lang.Inner,
	"numeric_lit":      lang.Same(tree.Number),
	"bool_lit":         lang.Same(tree.Bool),
	"null_lit":         lang.Same(tree.Null),
	"string_lit":       lowerStringLiteral,
	"template_expr":    lang.Inner,
	"quoted_template":  lowerStringLiteral,
	"heredoc_template": lowerHeredoc,
	"variable_expr":    lang.Inner,
	"identifier":       lang.Same(tree.Name),
	"collection_value": lang.Inner,
	"tuple":            lowerList,
	"object":           lowerObject,
	"object_elem":      lowerObjectElement,
	"function_call":    lowerCall,
	"operation":        lang.Inner,
	"binary_operation": lowerBinary,
	"unary_operation":  lowerUnary,
	"conditional":      lowerConditional,
	"for_expr":         lang.Inner,
	"for_tuple_expr":   lowerForTuple,
	"for_object_expr":  lowerForObject,

	"template_literal":       lowerLiteral,
	"template_interpolation": lowerInterpolation,
})

// lowerFile is the rule for the root: the parts of its body are the statements.
func lowerFile(l *lang.Lowering, r tree.Role, i int32) {
	l.Open(tree.FileKind, r, 0, uint32(len(l.File.Source)))
	for c := range l.Children(i) {
		if l.Kind(c) == "body" {
			l.Nodes(tree.RoleStatement, c)
		} else {
			l.Node(tree.RoleStatement, c)
		}
	}
	l.Close()
}

// lowerBlock lowers a block to the call of its type, with its labels and its body as
// arguments: rules match it like a call with a map.
func lowerBlock(l *lang.Lowering, r tree.Role, i int32) {
	l.Begin(tree.Call, r, i)
	head := l.First(i)
	l.Need(tree.RoleCallee, i, head)
	for c := range l.Children(i) {
		switch kind := l.Kind(c); {
		case c == head || kind == "block_end" || kind == "body":
		case kind == "identifier":
			lowerKey(l, tree.RoleArgument, c)
		case kind == "block_start":
			lowerBody(l, i, c)
		default:
			l.Node(tree.RoleArgument, c)
		}
	}
	l.Close()
}

// lowerBody adds the Map between the braces.
func lowerBody(l *lang.Lowering, i, brace int32) {
	start, _ := l.Range(brace)
	_, end := l.Range(i)
	l.Open(tree.Map, tree.RoleArgument, start, end)
	if inner := l.Find(i, "body"); inner >= 0 {
		l.Nodes(tree.RoleElement, inner)
	}
	l.Close()
}

// lowerKey adds a word that stands for its own text. A sign of a pattern stays a Name.
func lowerKey(l *lang.Lowering, r tree.Role, i int32) {
	if lang.Holder(l.Source(i)) {
		l.Same(tree.Name, r, i)
		return
	}
	l.Same(tree.String, r, i)
}

// lowerAttribute lowers "a = b" to a Pair.
func lowerAttribute(l *lang.Lowering, r tree.Role, i int32) {
	l.Begin(tree.Pair, r, i)
	if name := l.Find(i, "identifier"); name >= 0 {
		lowerKey(l, tree.RoleKey, name)
	} else {
		l.Lost(tree.RoleKey, i)
	}
	l.Need(tree.RoleValue, i, l.Find(i, "expression"))
	l.Close()
}

// lowerObject lowers "{ a = b }" to a Map.
func lowerObject(l *lang.Lowering, r tree.Role, i int32) {
	l.Begin(tree.Map, r, i)
	for c := range l.Children(i) {
		if kind := l.Kind(c); kind != "object_start" && kind != "object_end" {
			l.Node(tree.RoleElement, c)
		}
	}
	l.Close()
}

// lowerObjectElement lowers an entry of an object. A bare word is a key, one in parentheses
// an expression.
func lowerObjectElement(l *lang.Lowering, r tree.Role, i int32) {
	l.Begin(tree.Pair, r, i)
	k := l.Field(i, "key")
	if name := bareName(l, k); name >= 0 {
		lowerKey(l, tree.RoleKey, name)
	} else {
		l.Need(tree.RoleKey, i, k)
	}
	l.Need(tree.RoleValue, i, l.Field(i, "val"))
	l.Close()
}

// bareName returns the identifier that an expression consists of, -1 when it is more
// than that.
func bareName(l *lang.Lowering, i int32) int32 {
	if i < 0 || l.Kind(i) != "expression" {
		return -1
	}
	first := l.First(i)
	if l.Kind(first) != "variable_expr" || l.CST.Nodes[first].SubtreeEnd != l.CST.Nodes[i].SubtreeEnd {
		return -1
	}
	return l.First(first)
}

// lowerList lowers "[a, b]".
func lowerList(l *lang.Lowering, r tree.Role, i int32) {
	l.Begin(tree.List, r, i)
	for c := range l.Children(i) {
		if kind := l.Kind(c); kind != "tuple_start" && kind != "tuple_end" {
			l.Node(tree.RoleElement, c)
		}
	}
	l.Close()
}
