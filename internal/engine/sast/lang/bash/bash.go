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
		Prepare:  prepare,
		Sigil:    true,
		Finish:   finish,
	},
	Semantics: lang.Semantics{AssignDeclares: true, Pipes: true, Comment: "#"},
}

var table = lang.NewTable(cst.Bash, lang.Merge(statements, words, arithmetic))

var statements = map[string]lang.Rule{
	"program":               program,
	"heredoc_body":          lang.Skip, // the redirection lowers it
	"compound_statement":    block,
	"do_group":              block,
	"else_clause":           block,
	"if_statement":          ifStatement,
	"while_statement":       whileStatement,
	"for_statement":         forStatement,
	"c_style_for_statement": countingFor,
	"case_statement":        caseStatement,
	"function_definition":   function,
	"command":               chain,
	"declaration_command":   declaration,
	"unset_command":         declaration,
	"list":                  chain,
	"pipeline":              chain,
	"redirected_statement":  chain,
	"negated_command":       negated,
	"test_command":          test,
	"subshell":              subshell,
	"variable_assignment":   assignment,
	"variable_assignments":  lang.Around(tree.Sequence, "", tree.RoleElement),
	"command_name":          lang.Inner,
}

var words = map[string]lang.Rule{
	"word":                  word,
	"extglob_pattern":       word,
	"regex":                 word,
	"number":                numberWord,
	"test_operator":         word,
	"variable_name":         lang.Same(tree.Name),
	"special_variable_name": lang.Same(tree.Name),
	"raw_string":            rawString,
	"ansi_c_string":         ansiString,
	"string":                quoted,
	"string_content":        word,
	"translated_string":     lang.Inner,
	"concatenation":         concatenation,
	"simple_expansion":      lang.Around(tree.Unary, "$", tree.RoleValue),
	"expansion":             expansion,
	"command_substitution":  substitution,
	"process_substitution":  substitution,
	"array":                 lang.Around(tree.List, "", tree.RoleElement),
	"subscript": lang.Slots(tree.Index, "", lang.Slot{Role: tree.RoleObject, Field: "name"},
		lang.Slot{Role: tree.RoleIndex, Field: "index"}),
}

var arithmetic = map[string]lang.Rule{
	"binary_expression":  binary,
	"unary_expression":   unary,
	"postfix_expression": postfix,
	"ternary_expression": lang.Slots(tree.Conditional, "",
		lang.Slot{Role: tree.RoleCondition, Field: "condition"}, lang.Slot{Role: tree.RoleThen, Field: "consequence"},
		lang.Slot{Role: tree.RoleElse, Field: "alternative"}),
	"parenthesized_expression": lang.Inner,
}

// deep finds the sign for "anywhere inside", which no word can hold.
var deep = regexp.MustCompile(`<\.\.\.\s*((?s:.*?))\s*\.\.\.>`)

// prepare makes "<... a ...>" a substitution, which can stand wherever a word can.
func prepare(text string) []string {
	return []string{deep.ReplaceAllString(text, "$$("+lang.DeepName+" $1)")}
}

// finish makes a command of one word that word, which is then looked for among all
// words; "word;" stays a command.
func finish(f *tree.File) *tree.File {
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
