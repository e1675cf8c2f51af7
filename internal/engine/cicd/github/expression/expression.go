// Package expression reads the expressions of GitHub Actions, ${{ … }}, with
// actionlint's parser, and tells which contexts' values they can become.
//
// The language: https://docs.github.com/en/actions/reference/workflows-and-actions/expressions
package expression

import (
	"fmt"
	"strings"

	"github.com/rhysd/actionlint"
)

// MaxLength bounds an expression: GitHub itself refuses longer ones.
const MaxLength = 21_000

// maxNesting bounds brackets and negations inside each other.
const maxNesting = 200

// An Expression is one ${{ … }} in a text.
type Expression struct {
	Text   string // between the braces
	Offset int    // of ${{ in the text
	Length int    // up to and with }}
	Root   actionlint.ExprNode
	Err    error // why Root is nil
}

// FindAll returns the expressions of a text, in order. An unfinished one at the end is
// left out: it is text for GitHub too.
func FindAll(text string) []Expression {
	var out []Expression
	for from := 0; ; {
		at := strings.Index(text[from:], "${{")
		if at < 0 {
			return out
		}
		at += from
		length := expressionEnd(text[at:])
		if length < 0 {
			return out
		}
		e := Expression{Text: text[at+3 : at+length-2], Offset: at, Length: length}
		e.Root, e.Err = Parse(e.Text)
		out = append(out, e)
		from = at + length
	}
}

// expressionEnd returns the length of the expression that begins the text, or -1. Braces in
// a quoted string do not end it.
func expressionEnd(text string) int {
	quoted := false
	for i := 3; i < len(text); i++ {
		switch {
		case text[i] == '\'':
			quoted = !quoted
		case !quoted && strings.HasPrefix(text[i:], "}}"):
			return i + 2
		}
	}
	if at := strings.Index(text, "}}"); at >= 0 { // a lone quote: take the first end
		return at + 2
	}
	return -1
}

// Parse reads one expression without its braces.
func Parse(text string) (actionlint.ExprNode, error) {
	if len(text) > MaxLength {
		return nil, fmt.Errorf("the expression is longer than %d characters", MaxLength)
	}
	if strings.Count(text, "(")+strings.Count(text, "[")+strings.Count(text, "!") > maxNesting {
		return nil, fmt.Errorf("the expression has more than %d brackets", maxNesting)
	}
	n, err := actionlint.NewExprParser().Parse(actionlint.NewExprLexer(text + "}}"))
	if err != nil {
		return nil, fmt.Errorf("read expression: %s", err.Message)
	}
	return n, nil
}

// ParseCondition reads the value of an if: one expression, with or without braces. A
// text around an expression, white space too, is nil: it is true whatever the
// expression is.
func ParseCondition(text string) actionlint.ExprNode {
	if strings.Contains(text, "${{") {
		if all := FindAll(text); len(all) == 1 && all[0].Offset == 0 && all[0].Length == len(text) {
			return all[0].Root
		}
		return nil
	}
	n, err := Parse(text)
	if err != nil {
		return nil
	}
	return n
}

// ContextPath returns the context that a node names, in lower case: "github.event.issue.title".
// An index that is not a string, and a filter, is "*". It returns "" for
// anything else.
func ContextPath(n actionlint.ExprNode) string {
	switch n := n.(type) {
	case *actionlint.VariableNode:
		return strings.ToLower(n.Name)
	case *actionlint.ObjectDerefNode:
		return joinPath(ContextPath(n.Receiver), strings.ToLower(n.Property))
	case *actionlint.ArrayDerefNode:
		return joinPath(ContextPath(n.Receiver), "*")
	case *actionlint.IndexAccessNode:
		if s, ok := n.Index.(*actionlint.StringNode); ok {
			return joinPath(ContextPath(n.Operand), strings.ToLower(s.Value))
		}
		return joinPath(ContextPath(n.Operand), "*")
	}
	return ""
}

// joinPath adds a name to the path of a context, or to nothing.
func joinPath(receiver, name string) string {
	if receiver == "" {
		return ""
	}
	return receiver + "." + name
}

// A Use is a context in an expression.
type Use struct {
	Path string // as Path gives it
	Node actionlint.ExprNode
	// Member is what is taken out of a call's result: fromJSON(x).head.sha has
	// "head.sha" with x.
	Member string
}

// Values returns the contexts whose text can become part of the expression's
// value. What only decides, such as the operands of ==, is left out.
func Values(n actionlint.ExprNode) []Use {
	if path := ContextPath(n); path != "" {
		return []Use{{Path: path, Node: n}}
	}
	switch n := n.(type) {
	case *actionlint.LogicalOpNode:
		// A left operand of && is the value only when it is false, zero or empty.
		if n.Kind == actionlint.LogicalOpNodeKindAnd {
			return Values(n.Right)
		}
		return append(Values(n.Left), Values(n.Right)...)
	case *actionlint.FuncCallNode:
		if decides[strings.ToLower(n.Callee)] {
			return nil
		}
		var out []Use
		for _, a := range n.Args {
			out = append(out, Values(a)...)
		}
		return out
	case *actionlint.ObjectDerefNode: // a member of a call's result
		return appendMember(Values(n.Receiver), n.Property)
	case *actionlint.ArrayDerefNode:
		return appendMember(Values(n.Receiver), "*")
	case *actionlint.IndexAccessNode:
		if list, index := literalIndex(n.Operand); list != nil {
			return index
		}
		if s, ok := n.Index.(*actionlint.StringNode); ok {
			return appendMember(Values(n.Operand), s.Value)
		}
		return appendMember(Values(n.Operand), "*")
	}
	return nil
}

// appendMember adds what is taken out of a call's result to each of the contexts in its
// arguments.
func appendMember(uses []Use, name string) []Use {
	for i := range uses {
		uses[i].Member = strings.TrimPrefix(uses[i].Member+"."+strings.ToLower(name), ".")
	}
	return uses
}

// literalIndex reports whether the node is a call whose arguments are all literals;
// then an index into it chooses among fixed texts.
func literalIndex(n actionlint.ExprNode) (actionlint.ExprNode, []Use) {
	if c, ok := n.(*actionlint.FuncCallNode); ok && len(Values(c)) == 0 {
		return c, nil
	}
	return nil, nil
}

// decides lists the functions whose result holds nothing of their arguments.
var decides = map[string]bool{
	"contains": true, "startswith": true, "endswith": true, "hashfiles": true,
	"success": true, "failure": true, "always": true, "cancelled": true,
}

// AllUses returns every context in the expression, the longest path of each. A context
// that only decides is among them.
func AllUses(n actionlint.ExprNode) []Use {
	if n == nil {
		return nil
	}
	var out []Use
	actionlint.VisitExprNode(n, func(n, parent actionlint.ExprNode, entering bool) {
		if !entering {
			return
		}
		path := ContextPath(n)
		if path == "" {
			return
		}
		switch p := parent.(type) {
		case *actionlint.ObjectDerefNode, *actionlint.ArrayDerefNode:
			return
		case *actionlint.IndexAccessNode:
			if p.Operand == n {
				return
			}
		}
		out = append(out, Use{Path: path, Node: n})
	})
	return out
}

// ConstantValue returns the value of an expression that needs no context, and whether
// there is one: a string, a bool, a float64 or nil. Calls are left out: the few that
// are constant are found by the check for obfuscation.
func ConstantValue(n actionlint.ExprNode) (any, bool) {
	switch n := n.(type) {
	case *actionlint.StringNode:
		return n.Value, true
	case *actionlint.BoolNode:
		return n.Value, true
	case *actionlint.IntNode:
		return float64(n.Value), true
	case *actionlint.FloatNode:
		return n.Value, true
	case *actionlint.NullNode:
		return nil, true
	case *actionlint.NotOpNode:
		if v, ok := ConstantValue(n.Operand); ok {
			return !IsTruthy(v), true
		}
	case *actionlint.LogicalOpNode:
		return logicalConstant(n)
	}
	return nil, false
}

// logicalConstant evaluates && and || as GitHub does: the result is an operand, not a
// boolean.
func logicalConstant(n *actionlint.LogicalOpNode) (any, bool) {
	l, lok := ConstantValue(n.Left)
	r, rok := ConstantValue(n.Right)
	and := n.Kind == actionlint.LogicalOpNodeKindAnd
	switch {
	case lok && IsTruthy(l) == and: // the right side decides
		return r, rok
	case lok:
		return l, true
	}
	return nil, false
}

// IsTruthy reports whether GitHub takes the value for true.
// https://docs.github.com/en/actions/reference/workflows-and-actions/expressions#literals
func IsTruthy(v any) bool {
	switch v := v.(type) {
	case nil:
		return false
	case bool:
		return v
	case string:
		return v != ""
	case float64:
		return v != 0
	}
	return true
}
