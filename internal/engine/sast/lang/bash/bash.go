// Package bash lowers shell code to the generic tree.
//
// A command is a Call of the implied Name "command", all of whose words are
// arguments, its own name the first: so a pattern can leave words out anywhere.
// Assignments before it and redirections are Keywords among its Modifiers, which a
// pattern can leave out, too.
//
//	FOO=1 ls -l > x
//
//	Call
//	  callee: Name "command" implied
//	  argument: String "ls"
//	  argument: String "-l"
//	  modifier: Keyword
//	    name: Name "FOO"
//	    value: String "1"
//	  modifier: Keyword
//	    name: Name ">"
//	    value: String "x"
//
// Words are Strings, whether they are quoted or not. Quotes with expansions in them
// are a Template; a word of several parts without quotes around all of them is an
// Other "concatenation". "$x" and "${x}" are a Unary "$" of the Name, and so
// is "${x%y}", whose operator only takes from the value or has a fixed default; other
// expansions are Others. "$(a)" and "<(a)" are Calls of "$(" and "<(", tests are
// Calls of "[", "[[" and "((". Pipelines and lists are Binary nodes, "a &" is a
// Spawn, "(a)" an Other "subshell" around a Block. Functions like return and break,
// which are commands, stay commands.
package bash

import (
	"regexp"

	"merlon/internal/engine/sast/cst"
	"merlon/internal/engine/sast/lang"
	"merlon/internal/engine/sast/tree"
)

// Language is Bash, and what it shares with other shells.
var Language = &lang.Language{
	Name:      "bash",
	Spellings: []string{"bash", "sh"},
	Grammar:   cst.Bash,
	Lower:     table.Lower,
	Patterns: lang.Patterns{
		Contexts: []lang.Context{{}, {Before: "", After: "\nqz; fi"}, {Before: "", After: "; done"}},
		Prepare:  preparePattern,
		Sigil:    true,
		Finish:   finishPattern,
	},
	Semantics: lang.Semantics{AssignDeclares: true, Pipes: true, Comment: "#"},
}

// table says how each kind of the grammar is lowered.
var table = lang.NewTable(cst.Bash, lang.Merge(statements, words, arithmetic))

// statements are the rules for commands, lists and compound commands.
var statements = map[string]lang.Rule{
	"program":               lowerProgram,
	"heredoc_body":          lang.Skip, // the redirection lowers it
	"compound_statement":    lowerBlock,
	"do_group":              lowerBlock,
	"else_clause":           lowerBlock,
	"if_statement":          lowerIfStatement,
	"while_statement":       lowerWhileStatement,
	"for_statement":         lowerForStatement,
	"c_style_for_statement": lowerCountingFor,
	"case_statement":        lowerCaseStatement,
	"function_definition":   lowerFunction,
	"command":               lowerChain,
	"declaration_command":   lowerDeclaration,
	"unset_command":         lowerDeclaration,
	"list":                  lowerChain,
	"pipeline":              lowerChain,
	"redirected_statement":  lowerChain,
	"negated_command":       lowerNegated,
	"test_command":          lowerTest,
	"subshell":              lowerSubshell,
	"variable_assignment":   lowerAssignment,
	"variable_assignments":  lang.Around(tree.Sequence, "", tree.RoleElement),
	"command_name":          lang.Inner,
}

// words are the rules for what a command is given: words, quotes, expansions.
var words = map[string]lang.Rule{
	"word":                  lowerWord,
	"extglob_pattern":       lowerWord,
	"regex":                 lowerWord,
	"number":                lowerNumberWord,
	"test_operator":         lowerWord,
	"variable_name":         lang.Same(tree.Name),
	"special_variable_name": lang.Same(tree.Name),
	"raw_string":            lowerRawString,
	"ansi_c_string":         lowerAnsiString,
	"string":                lowerQuoted,
	"string_content":        lowerWord,
	"translated_string":     lang.Inner,
	"concatenation":         lowerConcatenation,
	"simple_expansion":      lang.Around(tree.Unary, "$", tree.RoleValue),
	"expansion":             lowerExpansion,
	"command_substitution":  lowerSubstitution,
	"process_substitution":  lowerSubstitution,
	"array":                 lang.Around(tree.List, "", tree.RoleElement),
	"subscript": lang.Slots(tree.Index, "", lang.Slot{Role: tree.RoleObject, Field: "name"},
		lang.Slot{Role: tree.RoleIndex, Field: "index"}),
}

// arithmetic are the rules for "$(( … ))", "(( … ))" and the tests in brackets.
var arithmetic = map[string]lang.Rule{
	"binary_expression":  lowerBinary,
	"unary_expression":   lowerUnary,
	"postfix_expression": lowerPostfix,
	"ternary_expression": lang.Slots(tree.Conditional, "",
		lang.Slot{Role: tree.RoleCondition, Field: "condition"}, lang.Slot{Role: tree.RoleThen, Field: "consequence"},
		lang.Slot{Role: tree.RoleElse, Field: "alternative"}),
	"parenthesized_expression": lang.Inner,
}

// deep finds the sign for "anywhere inside", which no word can hold.
var deep = regexp.MustCompile(`<\.\.\.\s*((?s:.*?))\s*\.\.\.>`)

// preparePattern makes "<... a ...>" a substitution, which can stand wherever a word can.
func preparePattern(text string) []string {
	return []string{deep.ReplaceAllString(text, "$$("+lang.DeepName+" $1)")}
}

// finishPattern makes a command of one word that word, which is then looked for among all
// words; "word;" stays a command.
func finishPattern(f *tree.File) *tree.File {
	if !f.Is(tree.Root, tree.Call) || f.Text(f.Child(tree.Root, tree.RoleCallee)) != "command" ||
		f.Count(tree.Root, tree.RoleArgument) != 1 {
		return f
	}
	only := f.Child(tree.Root, tree.RoleArgument)
	if end := f.Nodes[tree.Root].End; f.Count(tree.Root, tree.RoleModifier) > 0 || f.Is(only, tree.Assign) ||
		int(end) < len(f.Source) && f.Source[end] == ';' {
		return f
	}
	b := &tree.Builder{File: &tree.File{Language: f.Language, Source: f.Source}}
	lang.Copy(b, f, only, tree.RoleNone)
	return b.Finish()
}
