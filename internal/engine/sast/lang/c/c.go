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

// declarations are the rules for what has a name: functions, variables, types, namespaces,
// and the preprocessor.
var declarations = map[string]lang.Rule{
	"translation_unit":           lowerFile,
	"declaration":                lowerDeclaration,
	"field_declaration":          lowerDeclaration,
	"function_definition":        lowerFunctionDefinition,
	"template_declaration":       lowerLastChild,
	"template_instantiation":     lowerDeclaration,
	"linkage_specification":      lowerLinkage,
	"declaration_list":           lowerInline,
	"namespace_definition":       lowerNamespace,
	"namespace_alias_definition": lowerNamespaceAlias,
	"struct_specifier":           classRule("struct"),
	"union_specifier":            classRule("struct"),
	"class_specifier":            classRule("class"),
	"enum_specifier":             classRule("enum"),
	"enumerator":                 lowerEnumerator,
	"access_specifier":           lang.Skip,
	"type_definition":            lowerTypeDefinition,
	"alias_declaration": lang.Slots(tree.TypeAlias, "", lang.Slot{Role: tree.RoleName, Field: "name"},
		lang.Slot{Role: tree.RoleType, Field: "type"}),
	"using_declaration": lowerUsing,
	"static_assert_declaration": lang.Slots(tree.Assert, "", lang.Slot{Role: tree.RoleCondition, Field: "condition"},
		lang.Slot{Role: tree.RoleValue, Field: "message", Optional: true}),
	"preproc_include": lowerInclude,
	"preproc_if":      lowerBranches,
	"preproc_ifdef":   lowerBranches,
	"preproc_elif":    lowerBranches,
	"preproc_elifdef": lowerBranches,
	"preproc_else":    lowerBranches,
}

// statements are the rules for what is done, and where the flow goes.
var statements = map[string]lang.Rule{
	"compound_statement":   lowerBlock,
	"expression_statement": lowerExpressionStatement,
	"attributed_statement": lowerLastChild,
	"if_statement":         lowerIfStatement,
	"else_clause":          lang.Inner,
	"while_statement":      lowerWhileStatement,
	"do_statement": lang.Slots(tree.DoWhile, "", lang.Slot{Role: tree.RoleBody, Field: "body"},
		lang.Slot{Role: tree.RoleCondition, Field: "condition"}),
	"for_statement":        lowerForStatement,
	"for_range_loop":       lowerForEach,
	"init_statement":       lang.Inner,
	"switch_statement":     lowerSwitchStatement,
	"return_statement":     optionalValueRule(tree.Return),
	"co_return_statement":  optionalValueRule(tree.Return),
	"co_yield_statement":   optionalValueRule(tree.Yield),
	"throw_statement":      optionalValueRule(tree.Throw),
	"break_statement":      lang.Leaf(tree.Break, ""),
	"continue_statement":   lang.Leaf(tree.Continue, ""),
	"goto_statement":       lang.Slots(tree.Goto, "", lang.Slot{Role: tree.RoleLabel, Field: "label"}),
	"labeled_statement":    lowerLabeled,
	"try_statement":        lowerTryStatement,
	"statement_identifier": lang.Same(tree.Name),
}

// expressions are the rules for what has a value.
var expressions = map[string]lang.Rule{
	"identifier":                    lang.Same(tree.Name),
	"field_identifier":              lang.Same(tree.Name),
	"namespace_identifier":          lang.Same(tree.Name),
	"nested_namespace_specifier":    lowerQualified,
	"operator_name":                 lang.Same(tree.Name),
	"destructor_name":               lang.Same(tree.Name),
	"qualified_identifier":          lowerQualified,
	"dependent_name":                lang.Inner,
	"template_function":             lowerTemplateName,
	"template_method":               lowerTemplateName,
	"this":                          lang.Leaf(tree.This, ""),
	"number_literal":                lowerNumber,
	"char_literal":                  lowerCharacter,
	"string_literal":                lowerStringLiteral,
	"raw_string_literal":            lowerStringLiteral,
	"system_lib_string":             lowerStringLiteral,
	"concatenated_string":           lowerConcatenated,
	"true":                          lang.Leaf(tree.Bool, "true"),
	"false":                         lang.Leaf(tree.Bool, "false"),
	"null":                          lang.Same(tree.Null),
	"parenthesized_expression":      lang.Inner,
	"comma_expression":              lowerComma,
	"assignment_expression":         operatorRule(tree.Assign, tree.RoleTarget, tree.RoleValue),
	"binary_expression":             operatorRule(tree.Binary, tree.RoleLeft, tree.RoleRight),
	"unary_expression":              lowerUnary,
	"pointer_expression":            lowerUnary,
	"update_expression":             lowerUpdate,
	"conditional_expression":        lowerConditional,
	"cast_expression":               lowerCast,
	"call_expression":               lowerCall,
	"field_expression":              lowerMember,
	"subscript_expression":          lowerSubscript,
	"sizeof_expression":             typeCallRule("sizeof"),
	"alignof_expression":            typeCallRule("alignof"),
	"offsetof_expression":           typeCallRule("offsetof"),
	"new_expression":                lowerNewExpression,
	"delete_expression":             lang.Around(tree.Delete, "", tree.RoleValue),
	"lambda_expression":             lowerLambda,
	"compound_literal_expression":   lowerCompoundLiteral,
	"initializer_list":              lang.Around(tree.List, "", tree.RoleElement),
	"initializer_pair":              lowerInitializerPair,
	"field_designator":              lang.Inner,
	"subscript_designator":          lang.Inner,
	"parameter_pack_expansion":      lang.Slots(tree.Spread, "...", lang.Slot{Role: tree.RoleValue, Field: "pattern"}),
	"co_await_expression":           lang.Slots(tree.Await, "", lang.Slot{Role: tree.RoleValue, Field: "argument"}),
	"extension_expression":          lang.Inner,
	"condition_clause":              lang.Slots(tree.Sequence, "", lang.Slot{Role: tree.RoleElement, Field: "value"}),
	"structured_binding_declarator": lang.Around(tree.Tuple, "", tree.RoleElement),
}

// types are the rules for the names of types and what stands around them.
var types = map[string]lang.Rule{
	"type_descriptor":             lowerTypeDescriptor,
	"primitive_type":              lowerTypeName,
	"type_identifier":             lowerTypeName,
	"sized_type_specifier":        lowerTypeName,
	"template_type":               lowerTypeName,
	"placeholder_type_specifier":  lowerTypeName,
	"auto":                        lowerTypeName,
	"decltype":                    lowerTypeName,
	"dependent_type":              lang.Inner,
	"type_qualifier":              lowerModifier,
	"storage_class_specifier":     lowerModifier,
	"virtual_specifier":           lowerModifier,
	"explicit_function_specifier": lowerModifier,
}
