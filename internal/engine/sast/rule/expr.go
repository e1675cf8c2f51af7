package rule

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"merlon/internal/engine/sast/pcre"
)

const (
	maxExpr      = 16 << 10 // bytes
	maxExprDepth = 100
)

// An Expr is the expression of a metavariable-comparison: a small part of Python's
// expressions (https://docs.python.org/3/reference/expressions.html) with
// metavariables as names. It is safe for concurrent use.
type Expr struct {
	text string
	root *exprNode
	base int
}

// An exprNode is a literal (value), a metavariable (op "$"), a list (op "["), a
// call (op "int", "re.match", …) or an operator.
type exprNode struct {
	op    string
	name  string // of the metavariable
	value Value
	regex *pcre.Regexp // of re.match and re.search
	args  []*exprNode
}

// An ExprOption changes how an expression reads its metavariables.
type ExprOption struct {
	Base  int  // of integers in text: 2 to 36; 0 as the literal says
	Strip bool // every metavariable counts as int of its text
}

// functions gives the number of arguments of what may be called.
var functions = map[string]int{
	"int": 1, "float": 1, "str": 1, "len": 1, "re.match": 2, "re.search": 2, "today": 0, "strptime": 1,
	"parse_promql_duration": 1,
}

// ParseExpr reads an expression. The whole text has to be one expression: what follows it is an
// error.
func ParseExpr(text string, options ExprOption) (*Expr, error) {
	if len(text) > maxExpr {
		return nil, fmt.Errorf("the comparison has %d bytes; the limit is %d", len(text), maxExpr)
	}
	if options.Base != 0 && (options.Base < 2 || options.Base > 36) {
		return nil, fmt.Errorf("base %d is not between 2 and 36", options.Base)
	}
	p := exprParser{in: text, strip: options.Strip}
	if err := p.nextToken(); err != nil {
		return nil, err
	}
	root, err := p.parseBinary(0, 0)
	if err == nil && p.tok.kind != tokEnd {
		err = fmt.Errorf("%q was not expected", p.tok.text)
	}
	if err != nil {
		return nil, fmt.Errorf("malformed comparison: %w", err)
	}
	return &Expr{text: text, root: root, base: options.Base}, nil
}

// String returns the text of the expression.
func (e *Expr) String() string { return e.text }

// Metavariables returns the names that the expression reads, sorted. The engine reads them to know
// which bindings a comparison needs.
func (e *Expr) Metavariables() []string {
	var out []string
	var walk func(n *exprNode)
	walk = func(n *exprNode) {
		if n.op == "$" && !slices.Contains(out, n.name) {
			out = append(out, n.name)
		}
		for _, a := range n.args {
			walk(a)
		}
	}
	walk(e.root)
	slices.Sort(out)
	return out
}

// A tokenKind says what an exprToken is.
type tokenKind uint8

const (
	tokEnd tokenKind = iota
	tokNumber
	tokString
	tokName
	tokMetavariable
	tokOperator
)

// An exprToken is a token of an expression.
type exprToken struct {
	kind tokenKind
	text string // of a string: what it stands for
}

// An exprParser reads an expression by precedence climbing: each level of operators is one call
// deeper, and the depth is bounded. Label expressions of taint rules use its tokens.
type exprParser struct {
	in    string
	pos   int
	tok   exprToken
	strip bool
}

// operators are all of them, longer ones first.
var operators = []string{
	"**", "//", "==", "!=", "<>", "<=", ">=", "<<", ">>", "&&", "||", "<", ">", "+", "-", "*", "/", "%", "&", "|", "^",
	"~",
	"!", "(", ")", "[", "]", "{", "}", ",",
}

// nextToken reads one token. Line breaks and backslashes in front of them count as white space,
// since rules write long comparisons in several lines.
func (p *exprParser) nextToken() error {
	for p.pos < len(p.in) && strings.IndexByte(" \t\r\n\\", p.in[p.pos]) >= 0 {
		p.pos++
	}
	rest := p.in[p.pos:]
	if rest == "" {
		p.tok = exprToken{}
		return nil
	}
	switch c := rest[0]; {
	case isDigit(c) || c == '.' && len(rest) > 1 && isDigit(rest[1]):
		return p.takeToken(tokNumber, numberLength(rest))
	case c == '$':
		return p.takeToken(tokMetavariable, sigilLength(rest))
	case c == '"' || c == '\'':
		return p.stringToken("")
	case isNameByte(c):
		return p.nameToken(rest)
	}
	for _, op := range operators {
		if strings.HasPrefix(rest, op) {
			return p.takeToken(tokOperator, len(op))
		}
	}
	r, _ := utf8.DecodeRuneInString(rest)
	return fmt.Errorf("character %q is not known", r)
}

// sigilLength returns the length of what begins like a metavariable. Whether it is one is
// checked later, where the error can name it.
func sigilLength(s string) int {
	n := 1
	if strings.HasPrefix(s[1:], "...") {
		n = 4
	}
	for n < len(s) && isNameByte(s[n]) {
		n++
	}
	return n
}

// nameToken reads a name, dots included, or a string whose prefix looks like one. Names with dots
// are functions of modules, such as re.match.
func (p *exprParser) nameToken(rest string) error {
	n := 1
	for n < len(rest) && (isNameByte(rest[n]) || rest[n] == '.') {
		n++
	}
	if n < len(rest) && n <= 2 && (rest[n] == '"' || rest[n] == '\'') {
		p.pos += n
		return p.stringToken(strings.ToLower(rest[:n]))
	}
	return p.takeToken(tokName, n)
}

// takeToken makes a token of the next bytes.
func (p *exprParser) takeToken(kind tokenKind, n int) error {
	p.tok = exprToken{kind, p.in[p.pos : p.pos+n]}
	p.pos += n
	return nil
}

// isDigit reports whether the byte is a decimal digit.
func isDigit(c byte) bool { return c >= '0' && c <= '9' }

// isNameByte reports whether the byte may stand in a name.
func isNameByte(c byte) bool {
	return c == '_' || isDigit(c) || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
}

// numberLength returns the length of the number at the start of s. It includes whatever looks like
// a number; parseNumber decides.
func numberLength(s string) int {
	n := 0
	for n < len(s) && (isNameByte(s[n]) || s[n] == '.' ||
		(s[n] == '-' || s[n] == '+') && n > 0 && (s[n-1] == 'e' || s[n-1] == 'E') && !strings.HasPrefix(s, "0x")) {
		n++
	}
	return n
}

// stringToken reads a string literal. Its prefix is "", "r", "b", "u" or two of them. A regular
// expression keeps the escapes that Python would not replace.
func (p *exprParser) stringToken(prefix string) error {
	if strings.Trim(prefix, "rbu") != "" {
		return fmt.Errorf("strings with the prefix %s are not supported", prefix)
	}
	raw := strings.Contains(prefix, "r")
	quote := p.in[p.pos]
	var out []byte
	for i := p.pos + 1; i < len(p.in); i++ {
		c := p.in[i]
		switch {
		case c == quote:
			p.pos = i + 1
			p.tok = exprToken{tokString, string(out)}
			return nil
		case c == '\\' && i+1 < len(p.in):
			i++
			if plain, ok := map[byte]byte{'\\': '\\', '"': '"', '\'': '\'', 'n': '\n', 't': '\t',
				'r': '\r'}[p.in[i]]; ok && !raw {
				out = append(out, plain)
			} else {
				out = append(out, '\\', p.in[i])
			}
		default:
			out = append(out, c)
		}
	}
	return fmt.Errorf("a string is not closed")
}

// precedence gives how tightly a binary operator binds.
var precedence = map[string]int{
	"or": 1, "||": 1, "and": 2, "&&": 2,
	"in": 4, "not in": 4, "is": 4, "is not": 4, "==": 4, "!=": 4, "<>": 4, "<": 4, "<=": 4, ">": 4, ">=": 4,
	"|": 5, "^": 6, "&": 7, "<<": 8, ">>": 8, "+": 9, "-": 9, "*": 10, "/": 10, "//": 10, "%": 10, "**": 12,
}

const (
	bindNot   = 3
	bindUnary = 11
)

// parseBinary reads operators that bind at least as tightly as min. "not in" and "is not" are
// operators of two words.
func (p *exprParser) parseBinary(min, depth int) (*exprNode, error) {
	left, err := p.parseUnary(depth + 1)
	for err == nil {
		op, ok := p.peekOperator()
		if !ok || precedence[op] < min {
			return left, nil
		}
		if err = p.nextToken(); err != nil {
			return nil, err
		}
		if second, two := map[string]string{"not in": "in", "is not": "not"}[op]; two {
			if p.tok.text == second {
				err = p.nextToken()
			} else if op == "is not" {
				op = "is"
			} else {
				err = fmt.Errorf("in was expected after not")
			}
			if err != nil {
				return nil, err
			}
		}
		tighter := precedence[op] + 1
		if op == "**" {
			tighter = precedence[op] // to the right
		}
		var right *exprNode
		if right, err = p.parseBinary(tighter, depth+1); err != nil {
			return nil, err
		}
		left = &exprNode{op: canonicalOp(op), args: []*exprNode{left, right}}
	}
	return nil, err
}

// peekOperator returns the binary operator that comes next. Of those with two words it
// sees the first.
func (p *exprParser) peekOperator() (string, bool) {
	op := p.tok.text
	if p.tok.kind == tokName {
		switch op {
		case "not":
			return "not in", true
		case "is":
			return "is not", true
		}
	} else if p.tok.kind != tokOperator {
		return "", false
	}
	_, ok := precedence[op]
	return op, ok
}

// canonicalOp returns the operator that the evaluator knows for one of several spellings. Rules
// use the operators of C and of Python.
func canonicalOp(op string) string {
	switch op {
	case "||":
		return "or"
	case "&&":
		return "and"
	case "<>", "is not":
		return "!="
	case "is":
		return "=="
	}
	return op
}

// parseUnary reads an operand with the operators before it. "not" binds looser than a comparison,
// the signs tighter than a product.
func (p *exprParser) parseUnary(depth int) (*exprNode, error) {
	if depth > maxExprDepth {
		return nil, fmt.Errorf("it is nested more than %d deep", maxExprDepth)
	}
	op, bind := p.tok.text, bindUnary
	switch {
	case p.tok.kind == tokName && op == "not", p.tok.kind == tokOperator && op == "!":
		op, bind = "not", bindNot
	case p.tok.kind == tokOperator && (op == "-" || op == "+" || op == "~"):
	default:
		return p.parseOperand(depth)
	}
	if err := p.nextToken(); err != nil {
		return nil, err
	}
	arg, err := p.parseBinary(bind, depth+1)
	return &exprNode{op: "unary " + op, args: []*exprNode{arg}}, err
}

// parseOperand reads a literal, a metavariable, a call, a list or a parenthesis. A parenthesis
// around one expression groups it, around several it is a tuple, which is a list here.
func (p *exprParser) parseOperand(depth int) (*exprNode, error) {
	tok := p.tok
	if err := p.nextToken(); err != nil {
		return nil, err
	}
	switch tok.kind {
	case tokNumber:
		v, ok := parseNumber(tok.text, 0)
		if !ok {
			return nil, fmt.Errorf("%q is no number", tok.text)
		}
		return &exprNode{value: v}, nil
	case tokString:
		return &exprNode{value: StringValue(tok.text)}, nil
	case tokMetavariable:
		return p.metavariableNode(tok.text)
	case tokName:
		return p.parseName(tok.text, depth)
	case tokEnd:
		return nil, fmt.Errorf("it ends too early")
	}
	switch tok.text {
	case "(":
		args, err := p.parseList(")", depth)
		if err == nil && len(args) == 1 {
			return args[0], nil
		}
		return &exprNode{op: "[", args: args}, err
	case "[":
		args, err := p.parseList("]", depth)
		return &exprNode{op: "[", args: args}, err
	}
	return nil, fmt.Errorf("%q was not expected", tok.text)
}

// metavariableNode returns the node of a metavariable, as an integer with the option strip. The
// option is that of the older format, in which text from code was compared with numbers.
func (p *exprParser) metavariableNode(name string) (*exprNode, error) {
	if !IsMetavariable(name) {
		return nil, fmt.Errorf("%q is no metavariable", name)
	}
	n := &exprNode{op: "$", name: name}
	if p.strip {
		n = &exprNode{op: "int", args: []*exprNode{n}}
	}
	return n, nil
}

// parseList reads what is between commas, and the closing token. A comma may stand behind the last
// one.
func (p *exprParser) parseList(shut string, depth int) ([]*exprNode, error) {
	var out []*exprNode
	for p.tok.kind != tokOperator || p.tok.text != shut {
		if p.tok.kind == tokEnd {
			return nil, fmt.Errorf("%s is missing", shut)
		}
		n, err := p.parseBinary(0, depth+1)
		if err != nil {
			return nil, err
		}
		out = append(out, n)
		if p.tok.kind == tokOperator && p.tok.text == "," {
			if err := p.nextToken(); err != nil {
				return nil, err
			}
		} else if p.tok.text != shut {
			return nil, fmt.Errorf("%s is missing before %q", shut, p.tok.text)
		}
	}
	return out, p.nextToken()
}

// parseName reads a constant or a call. Any name that is no constant has to be called: there are
// no variables but metavariables.
func (p *exprParser) parseName(name string, depth int) (*exprNode, error) {
	switch name {
	case "True", "true":
		return &exprNode{value: BoolValue(true)}, nil
	case "False", "false":
		return &exprNode{value: BoolValue(false)}, nil
	}
	want, ok := functions[name]
	if !ok || p.tok.kind != tokOperator || p.tok.text != "(" {
		return nil, fmt.Errorf("%s is not known", name)
	}
	if err := p.nextToken(); err != nil {
		return nil, err
	}
	args, err := p.parseList(")", depth)
	if err != nil {
		return nil, err
	}
	if len(args) != want && !(name == "strptime" && len(args) == 2) {
		return nil, fmt.Errorf("%s takes %d arguments", name, want)
	}
	n := &exprNode{op: name, args: args}
	if strings.HasPrefix(name, "re.") {
		return n, n.compileRegex()
	}
	return n, nil
}

// compileRegex compiles the expression of re.match and re.search once, which is why it has
// to be a literal. re.match matches at the start of the text only, as in Python.
func (n *exprNode) compileRegex() error {
	first := n.args[0]
	if first.op != "" || first.value.Kind != KindString {
		return fmt.Errorf("the first argument of %s must be a string literal", n.op)
	}
	var flags pcre.Flags
	if n.op == "re.match" {
		flags = pcre.Anchored
	}
	var err error
	n.regex, err = pcre.Compile(first.value.Str, flags)
	n.args = n.args[1:]
	return err
}

// parseNumber reads an integer or a float as Python, C and their like write it. A
// base other than 0 holds for integers without a prefix of their own.
func parseNumber(text string, base int) (Value, bool) {
	s := strings.ReplaceAll(strings.TrimSpace(text), "_", "")
	sign, digits := "", s
	if s != "" && (s[0] == '-' || s[0] == '+') {
		sign, digits = s[:1], s[1:]
	}
	lower := strings.ToLower(digits)
	if v, prefixed, ok := parsePrefixed(sign, lower); prefixed {
		return v, ok
	}
	if base == 0 {
		base = 10
	}
	if n, err := strconv.ParseInt(s, base, 64); err == nil {
		return IntValue(n), true
	}
	if trimmed := strings.TrimRight(lower, "lun"); trimmed != "" && trimmed != lower { // suffixes of C and JavaScript
		if n, err := strconv.ParseInt(sign+trimmed, base, 64); err == nil {
			return IntValue(n), true
		}
	}
	if lower == "" || lower[0] != '.' && !isDigit(lower[0]) {
		return Value{}, false // not "inf" and "nan"
	}
	f, err := strconv.ParseFloat(sign+lower, 64)
	return FloatValue(f), err == nil
}

// parsePrefixed reads an integer with the prefix of its base, such as "0x1f". Suffixes of C are
// dropped; a base of the condition does not apply.
func parsePrefixed(sign, lower string) (v Value, prefixed, ok bool) {
	for prefix, b := range map[string]int{"0x": 16, "0o": 8, "0b": 2} {
		if rest, found := strings.CutPrefix(lower, prefix); found {
			n, err := strconv.ParseInt(sign+strings.TrimRight(rest, "lun"), b, 64)
			return IntValue(n), true, err == nil
		}
	}
	return Value{}, false, false
}
