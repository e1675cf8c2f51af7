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
	Patterns:  lang.Patterns{Contexts: contexts, Prepare: prepare, Sigil: true},
	Semantics: lang.Semantics{BlockScope: true, Comment: "//"},
}

var table = lang.NewTable(cst.Rust, lang.Merge(items, statements, expressions, types, patterns))

var items = map[string]lang.Rule{
	"source_file":             file,
	"declaration_list":        members,
	"function_item":           function,
	"function_signature_item": function,
	"struct_item":             class("struct"),
	"union_item":              class("struct"),
	"enum_item":               class("enum"),
	"trait_item":              class("trait"),
	"mod_item":                class("module"),
	"impl_item":               implementation,
	"foreign_mod_item":        foreign,
	"field_declaration_list":  members,
	"enum_variant_list":       members,
	"enum_variant":            variant,
	"field_declaration": lang.Slots(tree.Field, "", lang.Slot{Role: tree.RoleType, Field: "type"},
		lang.Slot{Role: tree.RoleTarget, Field: "name"}),
	"const_item":               constant("const"),
	"static_item":              constant("static"),
	"type_item":                typeItem,
	"associated_type":          typeItem,
	"use_declaration":          use,
	"extern_crate_declaration": externCrate,
	"macro_definition":         macroDefinition,
	"visibility_modifier":      lang.Same(tree.Modifier),
	"empty_statement":          lang.Leaf(tree.Empty, ""),
	"inner_attribute_item":     lang.Around(tree.Annotation, "", tree.RoleValue),
	"attribute_item":           lang.Around(tree.Annotation, "", tree.RoleValue),
	"attribute":                attribute,
	"shebang":                  lang.Skip,
}

var statements = map[string]lang.Rule{
	"block":                block,
	"let_declaration":      letDeclaration,
	"expression_statement": expressionStatement,
	"if_expression":        ifExpression,
	"else_clause":          lang.Inner,
	"let_condition": lang.Slots(tree.Assign, "let", lang.Slot{Role: tree.RoleTarget, Field: "pattern"},
		lang.Slot{Role: tree.RoleValue, Field: "value"}),
	"let_chain":           letChain,
	"while_expression":    labelled(whileLoop),
	"loop_expression":     labelled(endless),
	"for_expression":      labelled(forLoop),
	"match_expression":    match,
	"return_expression":   optionalValue(tree.Return),
	"yield_expression":    optionalValue(tree.Yield),
	"break_expression":    jump(tree.Break),
	"continue_expression": jump(tree.Continue),
	"unsafe_block":        with("unsafe"),
	"async_block":         with("async"),
	"gen_block":           with("gen"),
	"try_block":           with("try"),
	"const_block":         with("const"),
}

var expressions = map[string]lang.Rule{
	"identifier":                 lang.Same(tree.Name),
	"field_identifier":           lang.Same(tree.Name),
	"shorthand_field_identifier": lang.Same(tree.Name),
	"metavariable":               lang.Same(tree.Name),
	"crate":                      lang.Same(tree.Name),
	"super":                      lang.Same(tree.Name),
	"self":                       lang.Leaf(tree.This, ""),
	"scoped_identifier":          scoped,
	"generic_function": func(l *lang.Lowering, r tree.Role, i int32) {
		l.Need(r, i, l.Field(i, "function"))
	},
	"integer_literal":          number,
	"float_literal":            number,
	"negative_literal":         negative,
	"boolean_literal":          lang.Same(tree.Bool),
	"char_literal":             character,
	"string_literal":           stringLiteral,
	"raw_string_literal":       stringLiteral,
	"parenthesized_expression": lang.Inner,
	"tuple_expression":         lang.Around(tree.Tuple, "", tree.RoleElement),
	"unit_expression":          lang.Leaf(tree.Tuple, ""),
	"array_expression":         array,
	"binary_expression":        operation(tree.Binary, tree.RoleLeft, tree.RoleRight),
	"compound_assignment_expr": operation(tree.Assign, tree.RoleTarget, tree.RoleValue),
	"assignment_expression": lang.Slots(tree.Assign, "=", lang.Slot{Role: tree.RoleTarget, Field: "left"},
		lang.Slot{Role: tree.RoleValue, Field: "right"}),
	"unary_expression":     unary,
	"reference_expression": lang.Slots(tree.Unary, "&", lang.Slot{Role: tree.RoleValue, Field: "value"}),
	"try_expression":       lang.Around(tree.Unary, "?", tree.RoleValue),
	"await_expression":     lang.Around(tree.Await, "", tree.RoleValue),
	"range_expression":     rangeOf,
	"type_cast_expression": lang.Slots(tree.Cast, "as", lang.Slot{Role: tree.RoleType, Field: "type"},
		lang.Slot{Role: tree.RoleValue, Field: "value"}),
	"call_expression": call,
	"field_expression": lang.Slots(tree.Member, ".", lang.Slot{Role: tree.RoleObject, Field: "value"},
		lang.Slot{Role: tree.RoleProperty, Field: "field"}),
	"index_expression":   index,
	"closure_expression": closure,
	"macro_invocation":   macro,
	"struct_expression":  structure,
	"field_initializer": lang.Slots(tree.Keyword, "", lang.Slot{Role: tree.RoleName, Field: "field"},
		lang.Slot{Role: tree.RoleValue, Field: "value"}),
	"shorthand_field_initializer": shorthand,
	"base_field_initializer":      lang.Around(tree.Spread, "..", tree.RoleValue),
}

var types = map[string]lang.Rule{
	"type_identifier":             lang.Same(tree.Type),
	"primitive_type":              lang.Same(tree.Type),
	"scoped_type_identifier":      scopedType,
	"generic_type":                genericType,
	"generic_type_with_turbofish": genericType,
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

var patterns = map[string]lang.Rule{
	"match_pattern":        alternative,
	"tuple_struct_pattern": tuplePattern,
	"struct_pattern":       structPattern,
	"field_pattern":        fieldPattern,
	"tuple_pattern":        sequencePattern(tree.Tuple),
	"slice_pattern":        sequencePattern(tree.List),
	"or_pattern":           orPattern,
	"captured_pattern":     captured,
	"range_pattern":        rangeOf,
	"ref_pattern":          alternative,
	"mut_pattern":          alternative,
	"reference_pattern":    alternative,
	"mutable_specifier":    lang.Skip,
}
