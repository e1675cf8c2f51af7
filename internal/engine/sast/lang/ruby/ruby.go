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
	Patterns:  lang.Patterns{Contexts: contexts, Prepare: preparePattern, Sigil: true},
	Semantics: lang.Semantics{AssignDeclares: true, Constructor: "initialize", LastIsReturned: true, BareCalls: true,
		BlocksApart: true, Comment: "#"},
}

// table says how each kind of the grammar is lowered.
var table = lang.NewTable(cst.Ruby, lang.Merge(statements, definitions, expressions, literals, cases))

// statements are the rules for what is done, and where the flow goes. Most have a value
// where one is wanted.
var statements = map[string]lang.Rule{
	"program":         lowerProgram,
	"empty_statement": lang.Skip,
	"uninterpreted":   lang.Skip,
	"comment":         lang.Skip,
	"heredoc_body":    lang.Skip, // its beginning lowers it
	"body_statement":  lowerBlock,
	"block_body":      lowerBlock,
	"then":            lowerBlock,
	"else":            lowerBlock,
	"do":              lowerBlock,
	"ensure":          lowerBlock,
	"begin":           lowerBegin,
	"begin_block":     lowerBlock,
	"end_block":       lowerBlock,
	"if":              conditionRule(false),
	"unless":          conditionRule(true),
	"if_modifier":     modifierRule(false),
	"unless_modifier": modifierRule(true),
	"while":           loopRule(false),
	"until":           loopRule(true),
	"while_modifier":  loopRule(false),
	"until_modifier":  loopRule(true),
	"for":             lowerForEach,
	"case":            lowerSwitchCase,
	"case_match":      lowerSwitchCase,
	"return":          jumpRule(tree.Return),
	"break":           jumpRule(tree.Break),
	"next":            jumpRule(tree.Continue),
	"yield":           jumpRule(tree.Yield),
	"rescue_modifier": lowerRescueModifier,
}

// definitions are the rules for methods, classes and modules.
var definitions = map[string]lang.Rule{
	"method":           lowerMethod,
	"singleton_method": lowerMethod,
	"class":            classRule("class"),
	"module":           classRule("module"),
	"singleton_class":  lowerSingletonClass,
	"superclass":       lang.Inner,
	"lambda":           lowerLambda,
	"block":            lowerBlockArgument,
	"do_block":         lowerBlockArgument,
	"setter":           lang.Same(tree.Name),
}

// expressions are the rules for what has a value.
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
	"call":              lowerCall,
	"argument_list":     lowerTuple,
	"element_reference": lowerElement,
	"scope_resolution":  lowerScopeResolution,
	"assignment": lang.Slots(tree.Assign, "=", lang.Slot{Role: tree.RoleTarget, Field: "left"},
		lang.Slot{Role: tree.RoleValue, Field: "right"}),
	"operator_assignment":   lowerOperatorAssignment,
	"left_assignment_list":  lowerTuple,
	"right_assignment_list": lowerTuple,
	"rest_assignment":       splatRule("*"),
	"binary":                lowerBinary,
	"unary":                 lowerUnary,
	"range":                 lowerRangeOf,
	"conditional": lang.Slots(tree.Conditional, "",
		lang.Slot{Role: tree.RoleCondition, Field: "condition"}, lang.Slot{Role: tree.RoleThen, Field: "consequence"},
		lang.Slot{Role: tree.RoleElse, Field: "alternative"}),
	"parenthesized_statements": lowerSequence,
	"interpolation":            lowerSequence,
	"splat_argument":           splatRule("*"),
	"hash_splat_argument":      splatRule("**"),
	"block_argument":           splatRule("&"),
	"forward_argument":         lowerForward,
	"match_pattern":            patternMatchRule("=>"),
	"test_pattern":             patternMatchRule("in"),
	"in":                       lang.Inner,
	"pattern":                  lang.Inner,
	"exception_variable":       lang.Inner,

	"destructured_left_assignment": lowerTuple,
}

// literals are the rules for values that are written down.
var literals = map[string]lang.Rule{
	"integer":           lowerNumber,
	"float":             lowerNumber,
	"rational":          lowerNumber,
	"complex":           lowerNumber,
	"true":              lang.Leaf(tree.Bool, "true"),
	"false":             lang.Leaf(tree.Bool, "false"),
	"nil":               lang.Leaf(tree.Null, "nil"),
	"string":            lowerStringLiteral,
	"bare_string":       lowerStringLiteral,
	"chained_string":    lowerChained,
	"heredoc_beginning": lowerHeredoc,
	"character":         lowerCharacter,
	"subshell":          lowerSubshell,
	"regex":             lowerRegex,
	"simple_symbol":     lowerSymbol,
	"delimited_symbol":  lowerSymbol,
	"bare_symbol":       lowerSymbol,
	"hash_key_symbol":   lowerSymbol,
	"array":             lang.Around(tree.List, "", tree.RoleElement),
	"string_array":      lang.Around(tree.List, "", tree.RoleElement),
	"symbol_array":      lang.Around(tree.List, "", tree.RoleElement),
	"hash":              lang.Around(tree.Map, "", tree.RoleElement),
	"pair":              lowerPair,
}

// cases are the patterns of "in" clauses.
var cases = map[string]lang.Rule{
	"array_pattern":   classPatternRule(tree.List),
	"find_pattern":    classPatternRule(tree.List),
	"hash_pattern":    classPatternRule(tree.Map),
	"keyword_pattern": lowerPair,
	"as_pattern": lang.Slots(tree.Assign, "as", lang.Slot{Role: tree.RoleTarget, Field: "name"},
		lang.Slot{Role: tree.RoleValue, Field: "value"}),
	"alternative_pattern":          lowerAlternatives,
	"parenthesized_pattern":        lang.Inner,
	"variable_reference_pattern":   lang.Around(tree.Unary, "^", tree.RoleValue),
	"expression_reference_pattern": lang.Around(tree.Unary, "^", tree.RoleValue),
	"splat_parameter":              splatRule("*"),
	"hash_splat_parameter":         splatRule("**"),
	"hash_splat_nil":               splatRule("**"),
}
