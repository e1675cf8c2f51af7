// Package rust lowers Rust to the generic tree.
//
// What the kinds leave open:
//   - An impl is a Class with the text "impl", whose Name is the Type and whose
//     Interface is the trait. Members of enums keep their names, and the types of what
//     they hold as a Type "()".
//   - A macro is a Call of its name with "!", and its arguments are lowered as
//     expressions if they are a list of those, else as Tokens.
//   - "if let p = e" has an Assign "let" as its condition. A pattern with a name is
//     written as a Call or, with braces, a New "{}", and is one.
//   - An if or a match with a value is a Conditional or a Switch there; the last
//     expression of a block is an ExpressionStatement.
//   - References are pointers: Type "*" and Unary "&". "a?" is a Unary "?".
//   - Type arguments of calls, lifetimes and where clauses are left out.
package rust

import (
	"merlon/internal/engine/sast/cst"
	"merlon/internal/engine/sast/lang"
	"merlon/internal/engine/sast/tree"
)

// Language is Rust.
var Language = &lang.Language{
	Name:      "rust",
	Spellings: []string{"rust", "rs"},
	Grammar:   cst.Rust,
	Lower:     table.Lower,
	Patterns:  lang.Patterns{Contexts: contexts, Prepare: preparePattern, Sigil: true},
	Semantics: lang.Semantics{BlockScope: true, Comment: "//"},
}

// table says how each kind of the grammar is lowered.
var table = lang.NewTable(cst.Rust, lang.Merge(items, statements, expressions, types, patterns))

// items are the rules for what has a name: functions, types, modules, imports.
var items = map[string]lang.Rule{
	"source_file":             lowerFile,
	"declaration_list":        lowerMembers,
	"function_item":           lowerFunction,
	"function_signature_item": lowerFunction,
	"struct_item":             classRule("struct"),
	"union_item":              classRule("struct"),
	"enum_item":               classRule("enum"),
	"trait_item":              classRule("trait"),
	"mod_item":                classRule("module"),
	"impl_item":               lowerImplementation,
	"foreign_mod_item":        lowerForeign,
	"field_declaration_list":  lowerMembers,
	"enum_variant_list":       lowerMembers,
	"enum_variant":            lowerVariant,
	"field_declaration": lang.Slots(tree.Field, "", lang.Slot{Role: tree.RoleType, Field: "type"},
		lang.Slot{Role: tree.RoleTarget, Field: "name"}),
	"const_item":               constantRule("const"),
	"static_item":              constantRule("static"),
	"type_item":                lowerTypeItem,
	"associated_type":          lowerTypeItem,
	"use_declaration":          lowerUse,
	"extern_crate_declaration": lowerExternCrate,
	"macro_definition":         lowerMacroDefinition,
	"visibility_modifier":      lang.Same(tree.Modifier),
	"empty_statement":          lang.Leaf(tree.Empty, ""),
	"inner_attribute_item":     lang.Around(tree.Annotation, "", tree.RoleValue),
	"attribute_item":           lang.Around(tree.Annotation, "", tree.RoleValue),
	"attribute":                lowerAttribute,
	"shebang":                  lang.Skip,
}

// statements are the rules for what is done, and where the flow goes.
var statements = map[string]lang.Rule{
	"block":                lowerBlock,
	"let_declaration":      lowerLetDeclaration,
	"expression_statement": lowerExpressionStatement,
	"if_expression":        lowerIfExpression,
	"else_clause":          lang.Inner,
	"let_condition": lang.Slots(tree.Assign, "let", lang.Slot{Role: tree.RoleTarget, Field: "pattern"},
		lang.Slot{Role: tree.RoleValue, Field: "value"}),
	"let_chain":           lowerLetChain,
	"while_expression":    labelledRule(lowerWhileLoop),
	"loop_expression":     labelledRule(lowerEndless),
	"for_expression":      labelledRule(lowerForLoop),
	"match_expression":    lowerMatch,
	"return_expression":   optionalValueRule(tree.Return),
	"yield_expression":    optionalValueRule(tree.Yield),
	"break_expression":    jumpRule(tree.Break),
	"continue_expression": jumpRule(tree.Continue),
	"unsafe_block":        withRule("unsafe"),
	"async_block":         withRule("async"),
	"gen_block":           withRule("gen"),
	"try_block":           withRule("try"),
	"const_block":         withRule("const"),
}

// expressions are the rules for what has a value.
var expressions = map[string]lang.Rule{
	"identifier":                 lang.Same(tree.Name),
	"field_identifier":           lang.Same(tree.Name),
	"shorthand_field_identifier": lang.Same(tree.Name),
	"metavariable":               lang.Same(tree.Name),
	"crate":                      lang.Same(tree.Name),
	"super":                      lang.Same(tree.Name),
	"self":                       lang.Leaf(tree.This, ""),
	"scoped_identifier":          lowerScoped,
	"generic_function": func(l *lang.Lowering, r tree.Role, i int32) {
		l.Need(r, i, l.Field(i, "function"))
	},
	"integer_literal":          lowerNumber,
	"float_literal":            lowerNumber,
	"negative_literal":         lowerNegative,
	"boolean_literal":          lang.Same(tree.Bool),
	"char_literal":             lowerCharacter,
	"string_literal":           lowerStringLiteral,
	"raw_string_literal":       lowerStringLiteral,
	"parenthesized_expression": lang.Inner,
	"tuple_expression":         lang.Around(tree.Tuple, "", tree.RoleElement),
	"unit_expression":          lang.Leaf(tree.Tuple, ""),
	"array_expression":         lowerArray,
	"binary_expression":        operationRule(tree.Binary, tree.RoleLeft, tree.RoleRight),
	"compound_assignment_expr": operationRule(tree.Assign, tree.RoleTarget, tree.RoleValue),
	"assignment_expression": lang.Slots(tree.Assign, "=", lang.Slot{Role: tree.RoleTarget, Field: "left"},
		lang.Slot{Role: tree.RoleValue, Field: "right"}),
	"unary_expression":     lowerUnary,
	"reference_expression": lang.Slots(tree.Unary, "&", lang.Slot{Role: tree.RoleValue, Field: "value"}),
	"try_expression":       lang.Around(tree.Unary, "?", tree.RoleValue),
	"await_expression":     lang.Around(tree.Await, "", tree.RoleValue),
	"range_expression":     lowerRangeOf,
	"type_cast_expression": lang.Slots(tree.Cast, "as", lang.Slot{Role: tree.RoleType, Field: "type"},
		lang.Slot{Role: tree.RoleValue, Field: "value"}),
	"call_expression": lowerCall,
	"field_expression": lang.Slots(tree.Member, ".", lang.Slot{Role: tree.RoleObject, Field: "value"},
		lang.Slot{Role: tree.RoleProperty, Field: "field"}),
	"index_expression":   lowerIndex,
	"closure_expression": lowerClosure,
	"macro_invocation":   lowerMacro,
	"struct_expression":  lowerStructure,
	"field_initializer": lang.Slots(tree.Keyword, "", lang.Slot{Role: tree.RoleName, Field: "field"},
		lang.Slot{Role: tree.RoleValue, Field: "value"}),
	"shorthand_field_initializer": lowerShorthand,
	"base_field_initializer":      lang.Around(tree.Spread, "..", tree.RoleValue),
}

// types are the rules for types.
var types = map[string]lang.Rule{
	"type_identifier":             lang.Same(tree.Type),
	"primitive_type":              lang.Same(tree.Type),
	"scoped_type_identifier":      lowerScopedType,
	"generic_type":                lowerGenericType,
	"generic_type_with_turbofish": lowerGenericType,
	"reference_type":              lang.Slots(tree.Type, "*", lang.Slot{Role: tree.RoleElement, Field: "type"}),
	"pointer_type":                lang.Slots(tree.Type, "*", lang.Slot{Role: tree.RoleElement, Field: "type"}),
	"array_type": lang.Slots(tree.Type, "[]", lang.Slot{Role: tree.RoleElement, Field: "element"},
		lang.Slot{Role: tree.RoleArgument, Field: "length", Optional: true}),
	"tuple_type":                lang.Around(tree.Type, "()", tree.RoleElement),
	"unit_type":                 lang.Leaf(tree.Type, "()"),
	"never_type":                lang.Leaf(tree.Type, "!"),
	"function_type":             lang.Leaf(tree.Type, "func"),
	"dynamic_type":              lang.Inner,
	"abstract_type":             lang.Slots(tree.Type, "impl", lang.Slot{Role: tree.RoleElement, Field: "trait"}),
	"bounded_type":              lang.Around(tree.Type, "+", tree.RoleElement),
	"higher_ranked_trait_bound": lang.Slots(tree.Type, "for", lang.Slot{Role: tree.RoleElement, Field: "type"}),
	"lifetime":                  lang.Skip,
	"where_clause":              lang.Skip,
}

// patterns are the rules for patterns of match and let, which are lowered as the
// expressions that they look like.
var patterns = map[string]lang.Rule{
	"match_pattern":        lowerAlternative,
	"tuple_struct_pattern": lowerTuplePattern,
	"struct_pattern":       lowerStructPattern,
	"field_pattern":        lowerFieldPattern,
	"tuple_pattern":        sequencePatternRule(tree.Tuple),
	"slice_pattern":        sequencePatternRule(tree.List),
	"or_pattern":           lowerOrPattern,
	"captured_pattern":     lowerCaptured,
	"range_pattern":        lowerRangeOf,
	"ref_pattern":          lowerAlternative,
	"mut_pattern":          lowerAlternative,
	"reference_pattern":    lowerAlternative,
	"mutable_specifier":    lang.Skip,
}
