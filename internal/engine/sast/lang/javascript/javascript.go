// Package javascript lowers JavaScript, TypeScript and TSX, whose grammars share
// most of their names. JSX is part of JavaScript and TSX.
//
// What the lowering makes equal: quotes of strings and templates without parts,
// parentheses, keys of objects with and without quotes, all names that one import
// statement binds. The non-null "x!" and type arguments of calls are left out.
package javascript

import (
	"merlon/internal/engine/sast/cst"
	"merlon/internal/engine/sast/lang"
	"merlon/internal/engine/sast/tree"
)

// Language is JavaScript with JSX.
var Language = &lang.Language{
	Name:      "javascript",
	Spellings: []string{"javascript", "js"},
	Grammar:   cst.JavaScript,
	Lower:     lang.NewTable(cst.JavaScript, rules).Lower,
	Patterns:  newPatterns(TSX),
	Semantics: meaning,
	Lenient:   TSX,
}

// TypeScript is TypeScript without JSX.
var TypeScript = &lang.Language{
	Name:      "typescript",
	Spellings: []string{"typescript", "ts"},
	Grammar:   cst.TypeScript,
	Lower:     lang.NewTable(cst.TypeScript, rules).Lower,
	Patterns:  newPatterns(TSX),
	Semantics: meaning,
}

// TSX is TypeScript with JSX. Rules for TypeScript are its rules.
var TSX = &lang.Language{
	Name:      "tsx",
	Spellings: []string{"tsx", "typescript", "ts"},
	Grammar:   cst.TSX,
	Lower:     lang.NewTable(cst.TSX, rules).Lower,
	Patterns:  newPatterns(),
	Semantics: meaning,
}

// Component is a single-file component of Vue, Svelte or Astro. Its scripts are read as
// TypeScript, of which JavaScript is a part; rules for TypeScript are its rules.
var Component = &lang.Language{
	Name:      "component",
	Spellings: []string{"component", "typescript", "ts"},
	Grammar:   cst.Component,
	Lower:     lang.NewTable(cst.Component, rules).Lower,
	Patterns:  newPatterns(TSX),
	Semantics: meaning,
	Embedded:  extractScripts,
	Lenient:   TSX,
}

// meaning is what the dialects have in common.
var meaning = lang.Semantics{
	Flow:             true,
	BlockScope:       true,
	VarHoists:        true,
	Constructor:      "constructor",
	FileModule:       true,
	OpenObjects:      true,
	OneNumber:        true,
	TextType:         "String",
	ImportFunction:   "require",
	ModulePrefix:     "node:",
	IndexFile:        "index",
	SlashModules:     true,
	Literals:         map[tree.Kind]string{tree.List: "Array", tree.Regex: "RegExp"},
	Promise:          "Promise",
	KeysAreFields:    true,
	Decorators:       true,
	Prototypes:       true,
	Arguments:        "arguments",
	Exports:          "exports",
	ModuleExtensions: []string{".js", ".mjs", ".cjs", ".jsx", ".ts", ".mts", ".cts", ".tsx"},
	Comment:          "//",
}

// rules are those of all dialects. A kind that one grammar does not have does no harm.
var rules = lang.Merge(statements, declarations, expressions, literals, modules, types, jsx)

// statements are the rules for what is done, and where the flow goes.
var statements = map[string]lang.Rule{
	"program":              lang.Around(tree.FileKind, "", tree.RoleStatement),
	"hash_bang_line":       lang.Skip,
	"statement_block":      lang.Around(tree.Block, "", tree.RoleStatement),
	"expression_statement": lowerExpressionStatement,
	"empty_statement":      lang.Leaf(tree.Empty, ""),
	"else_clause":          lang.Inner,
	"if_statement": lang.Slots(tree.If, "", lang.Slot{Role: tree.RoleCondition, Field: "condition"},
		lang.Slot{Role: tree.RoleThen, Field: "consequence"}, lang.Slot{Role: tree.RoleElse, Field: "alternative",
			Optional: true}),
	"while_statement": lang.Slots(tree.While, "", lang.Slot{Role: tree.RoleCondition, Field: "condition"},
		lang.Slot{Role: tree.RoleBody, Field: "body"}),
	"do_statement": lang.Slots(tree.DoWhile, "", lang.Slot{Role: tree.RoleBody, Field: "body"},
		lang.Slot{Role: tree.RoleCondition, Field: "condition"}),
	"for_statement":    lowerForStatement,
	"for_in_statement": lowerForEach,
	"switch_statement": lowerSwitchStatement,
	"switch_case":      lowerSwitchCase,
	"switch_default":   lowerSwitchCase,
	"try_statement": lang.Slots(tree.Try, "", lang.Slot{Role: tree.RoleBody, Field: "body"},
		lang.Slot{Role: tree.RoleHandler, Field: "handler", Optional: true},
		lang.Slot{Role: tree.RoleFinally, Field: "finalizer", Optional: true}),
	"catch_clause": lang.Slots(tree.Catch, "", lang.Slot{Role: tree.RoleType, Field: "type", Optional: true},
		lang.Slot{Role: tree.RoleTarget, Field: "parameter", Optional: true},
		lang.Slot{Role: tree.RoleBody, Field: "body"}),
	"finally_clause": lang.Inner,
	"with_statement": lang.Slots(tree.With, "with", lang.Slot{Role: tree.RoleResource, Field: "object"},
		lang.Slot{Role: tree.RoleBody, Field: "body"}),
	"return_statement":   lang.Around(tree.Return, "", tree.RoleValue),
	"throw_statement":    lang.Around(tree.Throw, "", tree.RoleValue),
	"break_statement":    lang.Around(tree.Break, "", tree.RoleLabel),
	"continue_statement": lang.Around(tree.Continue, "", tree.RoleLabel),
	"labeled_statement": lang.Slots(tree.Label, "", lang.Slot{Role: tree.RoleName, Field: "label"},
		lang.Slot{Role: tree.RoleBody, Field: "body"}),
	"statement_identifier": lang.Same(tree.Name),
}

// lowerExpressionStatement lowers a statement of an expression. The grammar of TypeScript
// reads a namespace as an expression.
func lowerExpressionStatement(l *lang.Lowering, r tree.Role, i int32) {
	first := l.First(i)
	if l.Kind(first) == "internal_module" {
		l.Node(r, first)
		return
	}
	l.Begin(tree.ExpressionStatement, r, i)
	l.Need(tree.RoleValue, i, first)
	l.Close()
}

// lowerForStatement lowers a loop that counts.
func lowerForStatement(l *lang.Lowering, r tree.Role, i int32) {
	l.Begin(tree.For, r, i)
	for c := range l.Fields(i, "initializer") {
		lowerParts(l, tree.RoleInit, c)
	}
	for c := range l.Fields(i, "condition") {
		if l.Named(c) && l.Kind(c) != "empty_statement" {
			l.Node(tree.RoleCondition, c)
		}
	}
	lowerParts(l, tree.RoleUpdate, l.Field(i, "increment"))
	l.Need(tree.RoleBody, i, l.Field(i, "body"))
	l.Close()
}

// lowerParts lowers the parts of a sequence beside each other.
func lowerParts(l *lang.Lowering, r tree.Role, i int32) {
	switch l.Kind(i) {
	case "", "empty_statement", ";":
	case "sequence_expression":
		for c := range l.Children(i) {
			lowerParts(l, r, c)
		}
	default:
		l.Node(r, i)
	}
}

// lowerForEach lowers "for (x of xs)" and "for (x in xs)".
func lowerForEach(l *lang.Lowering, r tree.Role, i int32) {
	l.BeginText(tree.ForEach, r, l.Source(l.Field(i, "operator")), i)
	left := l.Field(i, "left")
	if kind := l.Field(i, "kind"); kind >= 0 && left >= 0 {
		keyword := ""
		for c := range l.Fields(i, "kind") {
			keyword = joinWords(keyword, l.Source(c))
		}
		start, _ := l.Range(kind)
		_, end := l.Range(left)
		v := l.Open(tree.Variable, tree.RoleTarget, start, end)
		l.File.Nodes[v].Text = keyword
		l.Node(tree.RoleTarget, left)
		l.Part(tree.RoleValue, i, "value")
		l.Close()
	} else {
		l.Node(tree.RoleTarget, left)
	}
	l.Need(tree.RoleIterable, i, l.Field(i, "right"))
	l.Need(tree.RoleBody, i, l.Field(i, "body"))
	l.Close()
}

// joinWords joins words with a blank.
func joinWords(a, b string) string {
	if a == "" {
		return b
	}
	return a + " " + b
}

// lowerSwitchStatement lowers a switch, whose cases run into each other.
func lowerSwitchStatement(l *lang.Lowering, r tree.Role, i int32) {
	l.BeginText(tree.Switch, r, "fallthrough", i)
	l.Part(tree.RoleValue, i, "value")
	l.Nodes(tree.RoleCase, l.Field(i, "body"))
	l.Close()
}

// lowerSwitchCase lowers a case; its statements become a Block.
func lowerSwitchCase(l *lang.Lowering, r tree.Role, i int32) {
	text := ""
	if l.Kind(i) == "switch_default" {
		text = "default"
	}
	l.BeginText(tree.Case, r, text, i)
	l.Part(tree.RoleCondition, i, "value")
	_, end := l.Range(i)
	start := end
	if first := l.Field(i, "body"); first >= 0 {
		start, _ = l.Range(first)
	}
	l.Open(tree.Block, tree.RoleBody, start, end)
	l.Parts(tree.RoleStatement, i, "body")
	l.Close()
	l.Close()
}
