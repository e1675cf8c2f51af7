// Package python lowers Python, of version 3 and, as far as the grammar knows it,
// of version 2, to the generic tree.
//
// What the kinds leave open:
//   - A chained comparison "a < b < c" is a Binary of a Binary, to the left.
//   - The types of a Catch are expressions, a Tuple for several. "except*" gives the
//     Catch the text "*".
//   - An assignment without a type is an Assign, in a class too; with a type it is a
//     Variable.
//   - The expression of an f-string is a Part; what follows it in the braces, a
//     conversion or a format, is another Part, an Other. "{x=}" adds the String "x=".
//   - "print x" and "exec x" are Calls of those names; "print >>f, x" has the Keyword
//     file.
//   - "p as n" outside of with and except, and in a case, is an Assign with the text
//     "as".
//   - async for, with and comprehensions are as those without async.
//   - The literal "..." is the Name "...".
//   - super is a Name: it is a function.
package python

import (
	"merlon/internal/engine/sast/cst"
	"merlon/internal/engine/sast/lang"
	"merlon/internal/engine/sast/tree"
)

// Language is Python.
var Language = &lang.Language{
	Name:      "python",
	Spellings: []string{"python", "py", "python2", "python3"},
	Grammar:   cst.Python,
	Lower:     table.Lower,
	Patterns: lang.Patterns{
		Contexts: contexts,
		Prepare:  preparePattern,
		Sigil:    true,
	},
	Semantics: lang.Semantics{
		Flow: true, AssignDeclares: true, SelfParameter: true, Constructor: "__init__", FileModule: true,
		Getters: map[string]bool{
			"property": true, "functools.cached_property": true, "cached_property": true, "abc.abstractproperty": true,
		},
		OnItem: "__getitem__", OnCall: "__call__", OnMissing: "__getattr__",
		AfterFields: "__post_init__",
		IndexFile:   "__init__", Decorators: true,
		ImportBindsFirst: true, Literals: map[tree.Kind]string{tree.String: "str", tree.Template: "str",
			tree.List: "list", tree.Map: "dict", tree.Set: "set", tree.Tuple: "tuple", tree.Bool: "bool"},
		Comment: "#",
	},
}

// table says how each kind of the grammar is lowered.
var table = lang.NewTable(cst.Python, lang.Merge(statements, definitions, expressions, cases))

// statements are the rules for what is done, and where the flow goes, those of Python 2
// included.
var statements = map[string]lang.Rule{
	"module":                  lowerModule,
	"block":                   lang.Around(tree.Block, "", tree.RoleStatement),
	"expression_statement":    lowerExpressionStatement,
	"import_statement":        lowerImportStatement,
	"import_from_statement":   lowerImportStatement,
	"future_import_statement": lowerImportStatement,
	"print_statement":         lowerPrintStatement,
	"exec_statement":          lowerExecStatement,
	"assert_statement":        lowerAssertStatement,
	"delete_statement":        lowerDeleteStatement,
	"return_statement":        valueStatementRule(tree.Return),
	"raise_statement":         lowerRaiseStatement,
	"pass_statement":          lang.Leaf(tree.Empty, ""),
	"break_statement":         lang.Leaf(tree.Break, ""),
	"continue_statement":      lang.Leaf(tree.Continue, ""),
	"global_statement":        lang.Around(tree.Global, "global", tree.RoleName),
	"nonlocal_statement":      lang.Around(tree.Global, "nonlocal", tree.RoleName),
	"if_statement":            lowerIfStatement,
	"while_statement": lang.Slots(tree.While, "", lang.Slot{Role: tree.RoleCondition, Field: "condition"},
		lang.Slot{Role: tree.RoleBody, Field: "body"}, lang.Slot{Role: tree.RoleElse, Field: "alternative",
			Optional: true}),
	"for_statement": lang.Slots(tree.ForEach, "of", lang.Slot{Role: tree.RoleTarget, Field: "left"},
		lang.Slot{Role: tree.RoleIterable, Field: "right"}, lang.Slot{Role: tree.RoleBody, Field: "body"},
		lang.Slot{Role: tree.RoleElse, Field: "alternative", Optional: true}),
	"else_clause":     lang.Inner,
	"try_statement":   lowerTryStatement,
	"except_clause":   lowerExceptClause,
	"finally_clause":  lang.Inner,
	"with_statement":  lowerWithStatement,
	"match_statement": lowerMatchStatement,
	"case_clause":     lowerCaseClause,
}

// definitions are the rules for functions, classes, parameters and types.
var definitions = map[string]lang.Rule{
	"decorated_definition": lowerDecorated,
	"decorator":            lang.Around(tree.Annotation, "", tree.RoleValue),
	"function_definition":  func(l *lang.Lowering, r tree.Role, i int32) { lowerFunction(l, r, i, i) },
	"class_definition":     func(l *lang.Lowering, r tree.Role, i int32) { lowerClass(l, r, i, i) },
	"type_alias_statement": lowerTypeAlias,

	// These appear as parameters through parameter, elsewhere as they are here.
	"keyword_separator":        lang.Leaf(tree.Parameter, "*"),
	"positional_separator":     lang.Leaf(tree.Parameter, "/"),
	"list_splat_pattern":       lang.Around(tree.Spread, "*", tree.RoleValue),
	"dictionary_splat_pattern": lang.Around(tree.Spread, "**", tree.RoleValue),

	"type":             lowerTypeReference,
	"generic_type":     lowerTypeReference,
	"member_type":      lowerTypeReference,
	"union_type":       lowerTypeReference,
	"constrained_type": lowerTypeReference,
	"splat_type":       lowerSplatType,
}

// expressions are the rules for what has a value.
var expressions = map[string]lang.Rule{
	"identifier":               lang.Same(tree.Name),
	"dotted_name":              lowerDottedName,
	"integer":                  lowerNumber,
	"float":                    lowerNumber,
	"true":                     lang.Leaf(tree.Bool, "true"),
	"false":                    lang.Leaf(tree.Bool, "false"),
	"none":                     lang.Same(tree.Null),
	"ellipsis":                 lang.Leaf(tree.Name, "..."),
	"string":                   lowerStringLiteral,
	"concatenated_string":      lowerConcatenated,
	"parenthesized_expression": lang.Inner,
	"parenthesized_list_splat": lang.Inner,
	"list":                     lang.Around(tree.List, "", tree.RoleElement),
	"list_pattern":             lang.Around(tree.List, "", tree.RoleElement),
	"set":                      lang.Around(tree.Set, "", tree.RoleElement),
	"tuple":                    lang.Around(tree.Tuple, "", tree.RoleElement),
	"tuple_pattern":            lang.Around(tree.Tuple, "", tree.RoleElement),
	"expression_list":          lang.Around(tree.Tuple, "", tree.RoleElement),
	"pattern_list":             lang.Around(tree.Tuple, "", tree.RoleElement),
	"dictionary":               lang.Around(tree.Map, "", tree.RoleElement),
	"pair": lang.Slots(tree.Pair, "", lang.Slot{Role: tree.RoleKey, Field: "key"},
		lang.Slot{Role: tree.RoleValue, Field: "value"}),
	"list_splat":               lang.Around(tree.Spread, "*", tree.RoleValue),
	"dictionary_splat":         lang.Around(tree.Spread, "**", tree.RoleValue),
	"list_comprehension":       comprehensionRule("list"),
	"set_comprehension":        comprehensionRule("set"),
	"dictionary_comprehension": comprehensionRule("map"),
	"generator_expression":     comprehensionRule("generator"),
	"call":                     lowerCall,
	"keyword_argument": lang.Slots(tree.Keyword, "", lang.Slot{Role: tree.RoleName, Field: "name"},
		lang.Slot{Role: tree.RoleValue, Field: "value"}),
	"attribute": lang.Slots(tree.Member, ".", lang.Slot{Role: tree.RoleObject, Field: "object"},
		lang.Slot{Role: tree.RoleProperty, Field: "attribute"}),
	"subscript":            lowerSubscript,
	"slice":                lowerSlice,
	"assignment":           lowerAssignment,
	"augmented_assignment": lowerAugmented,
	"named_expression": lang.Slots(tree.Assign, ":=", lang.Slot{Role: tree.RoleTarget, Field: "name"},
		lang.Slot{Role: tree.RoleValue, Field: "value"}),
	"binary_operator":        lowerBinary,
	"boolean_operator":       lowerBinary,
	"comparison_operator":    lowerComparison,
	"not_operator":           lang.Slots(tree.Unary, "not", lang.Slot{Role: tree.RoleValue, Field: "argument"}),
	"unary_operator":         lowerUnary,
	"conditional_expression": lowerConditional,
	"lambda":                 lowerLambda,
	"await":                  lang.Around(tree.Await, "", tree.RoleValue),
	"yield":                  lowerYield,
	"as_pattern":             lowerAsPattern,
	"as_pattern_target":      lang.Inner,
}

// cases are the patterns of case clauses that are no expressions.
var cases = map[string]lang.Rule{
	"case_pattern":    lowerCasePattern,
	"class_pattern":   lowerClassPattern,
	"keyword_pattern": lowerKeywordPattern,
	"splat_pattern":   lowerSplatPattern,
	"union_pattern":   lowerUnionPattern,
	"dict_pattern":    lowerDictPattern,
	"complex_pattern": lowerComplexPattern,
}
