package ruby

import (
	"regexp"
	"strings"

	"merlon/internal/engine/sast/lang"
)

// contexts are what fragments that are no statements need around them.
var contexts = []lang.Context{
	{Before: "qzf(", After: ")", Only: keyword},
	{},
	{Before: "qzf(", After: ")"}, // ":$KEY => $V"
	{Before: "", After: "\nend"}, // "def $F(...)"
	{Before: "begin\n  qz\n", After: "\nend"}, // "rescue $E => $X"
	{Before: "case qz\n", After: "\nend"},     // "when $X"
}

// keyword finds fragments that are an argument, though the grammar reads "a => b" as
// the match of a pattern.
var keyword = regexp.MustCompile(`^:[\w$]+\s*=>`)

var (
	// blockOfArgument: the brace would belong to the ellipsis before it.
	blockOfArgument = regexp.MustCompile(`([\w$?!]+)[ \t]+\.\.\.[ \t]*\{`)
	// commandArgument: the grammar wants parentheses around the arguments of a call
	// that is itself an argument.
	commandArgument = regexp.MustCompile(`([\w$?!]+)[ \t]+\.\.\.[ \t]*\)`)
	// pairs: the grammar wants pairs or double stars in a hash.
	pairs = regexp.MustCompile(`([{,]\s*)(\.\.\.(?:\s*[,}])|\$\.\.\.[A-Z_][A-Z_0-9]*)`)
	// constant: names of classes and modules begin with a capital letter.
	constant = regexp.MustCompile(`((?:class|module)[ \t]+|<[ \t]*|::)\$([A-Z_][A-Z_0-9]*)`)
)

// preparePattern gives placeholders of constants a capital letter, and arguments that are
// an ellipsis parentheses, and an ellipsis in a hash stars.
func preparePattern(text string) []string {
	text = blockOfArgument.ReplaceAllString(text, "$1(...) {")
	alternatives := []string{text}
	capital := constant.ReplaceAllString(text, "${1}Q"+strings.TrimPrefix(lang.Placeholder(""), "q")+"$2")
	if capital != text {
		alternatives = append(alternatives, capital)
	}
	if command := commandArgument.ReplaceAllString(text, "$1(...))"); command != text {
		alternatives = append(alternatives, command)
	}
	if stars := pairs.ReplaceAllString(text, "$1**$2"); stars != text {
		alternatives = append(alternatives, stars)
	}
	return alternatives
}
