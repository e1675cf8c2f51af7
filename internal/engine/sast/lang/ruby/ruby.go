// Package ruby lowers Ruby to the generic tree.
//
// What the kinds leave open:
//   - A name alone is a Name, whether it is a variable or a call, and "a.b" is a
//     Member: without parentheses and arguments nobody can tell. "a.b()" and "a.b 1"
//     are Calls. "A.new(1)" is a Call too.
//   - The block of a call is a Lambda with the text "block".
//   - A symbol is an Other "symbol" around the Name. "a: 1" and ":a => 1" are the
//     same: a Keyword among arguments, a Pair with a symbol as key in a Map.
//   - Variables keep their signs: Name "@a", "@@b", "$c".
//   - "unless" and "until" are If and While whose condition is an implied Unary "!";
//     modifiers are as the statements. An if that is a value is a Conditional, whose
//     branches are expressions or Sequences.
//   - Backticks are a Call of the Name "`". A Regex with expressions in it has them
//     as Parts. "%w" and "%i" are Lists.
//   - A range is a Binary; an open end is an implied Null.
//   - "yield a, b" is a Yield of a Tuple, next is Continue. raise and require are
//     Calls, since they are methods. retry, redo, alias and undef are Others.
package ruby

import (
	"merlon/internal/engine/sast/cst"
	"merlon/internal/engine/sast/lang"
	"merlon/internal/engine/sast/tree"
)

// Language is Ruby.
var Language = &lang.Language{
	Name:      "ruby",
	Spellings: []string{"ruby", "rb"},
	Grammar:   cst.Ruby,
	Lower:     table.Lower,
	Patterns:  lang.Patterns{Contexts: contexts, Prepare: prepare, Sigil: true},
	Semantics: lang.Semantics{AssignDeclares: true, Constructor: "initialize", LastIsReturned: true, BareCalls: true,
		BlocksApart: true, Comment: "#"},
}

var table = lang.NewTable(cst.Ruby, lang.Merge(statements, definitions, expressions, literals, cases))

var statements = map[string]lang.Rule{
	"program":         program,
	"empty_statement": lang.Skip,
	"uninterpreted":   lang.Skip,
	"comment":         lang.Skip,
	"heredoc_body":    lang.Skip, // its beginning lowers it
	"body_statement":  block,
	"block_body":      block,
	"then":            block,
	"else":            block,
	"do":              block,
	"ensure":          block,
	"begin":           begin,
	"begin_block":     block,
	"end_block":       block,
	"if":              condition(false),
	"unless":          condition(true),
	"if_modifier":     modifier(false),
	"unless_modifier": modifier(true),
	"while":           loop(false),
	"until":           loop(true),
	"while_modifier":  loop(false),
	"until_modifier":  loop(true),
	"for":             forEach,
	"case":            switchCase,
	"case_match":      switchCase,
	"return":          jump(tree.Return),
	"break":           jump(tree.Break),
	"next":            jump(tree.Continue),
	"yield":           jump(tree.Yield),
	"rescue_modifier": rescueModifier,
}

var definitions = map[string]lang.Rule{
	"method":           method,
	"singleton_method": method,
	"class":            class("class"),
	"module":           class("module"),
	"singleton_class":  singletonClass,
	"superclass":       lang.Inner,
	"lambda":           lambda,
	"block":            blockArgument,
	"do_block":         blockArgument,
	"setter":           lang.Same(tree.Name),
}

var expressions = map[string]lang.Rule{
	"identifier":        lang.Same(tree.Name),
	"constant":          lang.Same(tree.Name),
	"instance_variable": lang.Same(tree.Name),
	"class_variable":    lang.Same(tree.Name),
	"global_variable":   lang.Same(tree.Name),
	"operator":          lang.Same(tree.Name),
	"file":              lang.Same(tree.Name),
	"line":              lang.Same(tree.Name),
	"encoding":          lang.Same(tree.Name),
	"self":              lang.Leaf(tree.This, ""),
	"super":             lang.Leaf(tree.Super, ""),
	"call":              call,
	"argument_list":     tuple,
	"element_reference": element,
	"scope_resolution":  scopeResolution,
	"assignment": lang.Slots(tree.Assign, "=", lang.Slot{Role: tree.RoleTarget, Field: "left"},
		lang.Slot{Role: tree.RoleValue, Field: "right"}),
	"operator_assignment":   operatorAssignment,
	"left_assignment_list":  tuple,
	"right_assignment_list": tuple,
	"rest_assignment":       splat("*"),
	"binary":                binary,
	"unary":                 unary,
	"range":                 rangeOf,
	"conditional": lang.Slots(tree.Conditional, "",
		lang.Slot{Role: tree.RoleCondition, Field: "condition"}, lang.Slot{Role: tree.RoleThen, Field: "consequence"},
		lang.Slot{Role: tree.RoleElse, Field: "alternative"}),
	"parenthesized_statements": sequence,
	"interpolation":            sequence,
	"splat_argument":           splat("*"),
	"hash_splat_argument":      splat("**"),
	"block_argument":           splat("&"),
	"forward_argument":         forward,
	"match_pattern":            patternMatch("=>"),
	"test_pattern":             patternMatch("in"),
	"in":                       lang.Inner,
	"pattern":                  lang.Inner,
	"exception_variable":       lang.Inner,

	"destructured_left_assignment": tuple,
}

var literals = map[string]lang.Rule{
	"integer":           number,
	"float":             number,
	"rational":          number,
	"complex":           number,
	"true":              lang.Leaf(tree.Bool, "true"),
	"false":             lang.Leaf(tree.Bool, "false"),
	"nil":               lang.Leaf(tree.Null, "nil"),
	"string":            stringLiteral,
	"bare_string":       stringLiteral,
	"chained_string":    chained,
	"heredoc_beginning": heredoc,
	"character":         character,
	"subshell":          subshell,
	"regex":             regex,
	"simple_symbol":     symbol,
	"delimited_symbol":  symbol,
	"bare_symbol":       symbol,
	"hash_key_symbol":   symbol,
	"array":             lang.Around(tree.List, "", tree.RoleElement),
	"string_array":      lang.Around(tree.List, "", tree.RoleElement),
	"symbol_array":      lang.Around(tree.List, "", tree.RoleElement),
	"hash":              lang.Around(tree.Map, "", tree.RoleElement),
	"pair":              pair,
}

// cases are the patterns of "in" clauses.
var cases = map[string]lang.Rule{
	"array_pattern":   classPattern(tree.List),
	"find_pattern":    classPattern(tree.List),
	"hash_pattern":    classPattern(tree.Map),
	"keyword_pattern": pair,
	"as_pattern": lang.Slots(tree.Assign, "as", lang.Slot{Role: tree.RoleTarget, Field: "name"},
		lang.Slot{Role: tree.RoleValue, Field: "value"}),
	"alternative_pattern":          alternatives,
	"parenthesized_pattern":        lang.Inner,
	"variable_reference_pattern":   lang.Around(tree.Unary, "^", tree.RoleValue),
	"expression_reference_pattern": lang.Around(tree.Unary, "^", tree.RoleValue),
	"splat_parameter":              splat("*"),
	"hash_splat_parameter":         splat("**"),
	"hash_splat_nil":               splat("**"),
}
