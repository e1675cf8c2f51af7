// Package c lowers C and C++, whose grammars share most names, to the generic tree.
//
// What the kinds leave open:
//   - "int *a[2], b" is two Variables, each with its whole Type: "[]" of "*" of int; the
//     length of an array is an Argument of its Type. References are as their values.
//   - A struct that is declared with a variable or a typedef is a Class before it.
//   - A prototype is a Function without a Body. Namespaces are Classes of "module".
//   - The text of a Type has dots for "::"; of "struct a" it is "a".
//   - Both branches of "#if" stand where it stands; macros are Others.
//   - sizeof and the like are Calls, casts of all kinds are Casts, "{1, 2}" is a List.
//   - Type arguments of calls and the captures of lambdas are left out.
package c

import (
	"merlon/internal/engine/sast/cst"
	"merlon/internal/engine/sast/lang"
	"merlon/internal/engine/sast/tree"
)

// Language is C.
var Language = &lang.Language{
	Name:      "c",
	Spellings: []string{"c"},
	Grammar:   cst.C,
	Lower:     table.Lower,
	Patterns:  patterns,
	Semantics: meaning,
}

// CPP is C++.
var CPP = &lang.Language{
	Name:      "cpp",
	Spellings: []string{"cpp", "c++", "cplusplus"},
	Grammar:   cst.CPP,
	Lower:     cppTable.Lower,
	Patterns:  patterns,
	Semantics: meaning,
}

var (
	table    = lang.NewTable(cst.C, rules)
	cppTable = lang.NewTable(cst.CPP, rules)
	meaning  = lang.Semantics{
		BlockScope: true, ImplicitThis: true, Comment: "//",
		// A string is a pointer to char; what asks for the type of a value looks through
		// pointers.
		Literals: map[tree.Kind]string{tree.String: "char", tree.Character: "char", tree.Bool: "bool"},
	}
	rules = lang.Merge(declarations, statements, expressions, types)
)

var declarations = map[string]lang.Rule{
	"translation_unit":           file,
	"declaration":                declaration,
	"field_declaration":          declaration,
	"function_definition":        functionDefinition,
	"template_declaration":       lastChild,
	"template_instantiation":     declaration,
	"linkage_specification":      linkage,
	"declaration_list":           inline,
	"namespace_definition":       namespace,
	"namespace_alias_definition": namespaceAlias,
	"struct_specifier":           class("struct"),
	"union_specifier":            class("struct"),
	"class_specifier":            class("class"),
	"enum_specifier":             class("enum"),
	"enumerator":                 enumerator,
	"access_specifier":           lang.Skip,
	"type_definition":            typeDefinition,
	"alias_declaration": lang.Slots(tree.TypeAlias, "", lang.Slot{Role: tree.RoleName, Field: "name"},
		lang.Slot{Role: tree.RoleType, Field: "type"}),
	"using_declaration": using,
	"static_assert_declaration": lang.Slots(tree.Assert, "", lang.Slot{Role: tree.RoleCondition, Field: "condition"},
		lang.Slot{Role: tree.RoleValue, Field: "message", Optional: true}),
	"preproc_include": include,
	"preproc_if":      branches,
	"preproc_ifdef":   branches,
	"preproc_elif":    branches,
	"preproc_elifdef": branches,
	"preproc_else":    branches,
}

var statements = map[string]lang.Rule{
	"compound_statement":   block,
	"expression_statement": expressionStatement,
	"attributed_statement": lastChild,
	"if_statement":         ifStatement,
	"else_clause":          lang.Inner,
	"while_statement":      whileStatement,
	"do_statement": lang.Slots(tree.DoWhile, "", lang.Slot{Role: tree.RoleBody, Field: "body"},
		lang.Slot{Role: tree.RoleCondition, Field: "condition"}),
	"for_statement":        forStatement,
	"for_range_loop":       forEach,
	"init_statement":       lang.Inner,
	"switch_statement":     switchStatement,
	"return_statement":     optionalValue(tree.Return),
	"co_return_statement":  optionalValue(tree.Return),
	"co_yield_statement":   optionalValue(tree.Yield),
	"throw_statement":      optionalValue(tree.Throw),
	"break_statement":      lang.Leaf(tree.Break, ""),
	"continue_statement":   lang.Leaf(tree.Continue, ""),
	"goto_statement":       lang.Slots(tree.Goto, "", lang.Slot{Role: tree.RoleLabel, Field: "label"}),
	"labeled_statement":    labeled,
	"try_statement":        tryStatement,
	"statement_identifier": lang.Same(tree.Name),
}

var expressions = map[string]lang.Rule{
	"identifier":                    lang.Same(tree.Name),
	"field_identifier":              lang.Same(tree.Name),
	"namespace_identifier":          lang.Same(tree.Name),
	"nested_namespace_specifier":    qualified,
	"operator_name":                 lang.Same(tree.Name),
	"destructor_name":               lang.Same(tree.Name),
	"qualified_identifier":          qualified,
	"dependent_name":                lang.Inner,
	"template_function":             templateName,
	"template_method":               templateName,
	"this":                          lang.Leaf(tree.This, ""),
	"number_literal":                number,
	"char_literal":                  character,
	"string_literal":                stringLiteral,
	"raw_string_literal":            stringLiteral,
	"system_lib_string":             stringLiteral,
	"concatenated_string":           concatenated,
	"true":                          lang.Leaf(tree.Bool, "true"),
	"false":                         lang.Leaf(tree.Bool, "false"),
	"null":                          lang.Same(tree.Null),
	"parenthesized_expression":      lang.Inner,
	"comma_expression":              comma,
	"assignment_expression":         operator(tree.Assign, tree.RoleTarget, tree.RoleValue),
	"binary_expression":             operator(tree.Binary, tree.RoleLeft, tree.RoleRight),
	"unary_expression":              unary,
	"pointer_expression":            unary,
	"update_expression":             update,
	"conditional_expression":        conditional,
	"cast_expression":               cast,
	"call_expression":               call,
	"field_expression":              member,
	"subscript_expression":          subscript,
	"sizeof_expression":             typeCall("sizeof"),
	"alignof_expression":            typeCall("alignof"),
	"offsetof_expression":           typeCall("offsetof"),
	"new_expression":                newExpression,
	"delete_expression":             lang.Around(tree.Delete, "", tree.RoleValue),
	"lambda_expression":             lambda,
	"compound_literal_expression":   compoundLiteral,
	"initializer_list":              lang.Around(tree.List, "", tree.RoleElement),
	"initializer_pair":              initializerPair,
	"field_designator":              lang.Inner,
	"subscript_designator":          lang.Inner,
	"parameter_pack_expansion":      lang.Slots(tree.Spread, "...", lang.Slot{Role: tree.RoleValue, Field: "pattern"}),
	"co_await_expression":           lang.Slots(tree.Await, "", lang.Slot{Role: tree.RoleValue, Field: "argument"}),
	"extension_expression":          lang.Inner,
	"condition_clause":              lang.Slots(tree.Sequence, "", lang.Slot{Role: tree.RoleElement, Field: "value"}),
	"structured_binding_declarator": lang.Around(tree.Tuple, "", tree.RoleElement),
}

var types = map[string]lang.Rule{
	"type_descriptor":             typeDescriptor,
	"primitive_type":              typeName,
	"type_identifier":             typeName,
	"sized_type_specifier":        typeName,
	"template_type":               typeName,
	"placeholder_type_specifier":  typeName,
	"auto":                        typeName,
	"decltype":                    typeName,
	"dependent_type":              lang.Inner,
	"type_qualifier":              modifierRule,
	"storage_class_specifier":     modifierRule,
	"virtual_specifier":           modifierRule,
	"explicit_function_specifier": modifierRule,
}
