package template

import (
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// This file reads and evaluates expressions: the language of matchers of the kind dsl
// and of what stands between {{ and }}. Values are float64, string, bool and []any.

// Limits of one expression. They keep it from taking more memory or stack than a scan can
// spare.
const (
	// maxExpression bounds the text in bytes.
	maxExpression = 64 << 10 // bytes
	// maxNesting bounds parentheses in parentheses; the parser and the evaluation recurse.
	maxNesting = 60
	// maxValue bounds the bytes of a string that a function makes.
	maxValue = 4 << 20 // bytes of a string that is made
)

// An expression is a parsed expression: its functions exist and take as many arguments.
type expression struct {
	root node
	// The variables that it names, to see which values it depends on.
	names []string
}

// values are what expressions may name.
type values map[string]any

// node is a part of an expression.
type node interface {
	eval(e *evaluation) (any, error)
}

type (
	// A text, a number or a truth value.
	literal struct{ value any }
	// A name of values.
	variable struct{ name string }
	// Several values in parentheses: (1, 2), the right side of in.
	list struct{ items []node }
	// A call of a function; f is nil for one of the flow (evaluation.extra).
	call struct {
		name string
		f    *function
		args []node
	}
	// A sign or a negation before a value.
	unary struct {
		op string
		x  node
	}
	// Two values with an operator of levels between them.
	binary struct {
		op   string
		x, y node
	}
	// test ? yes : no.
	choice struct{ test, yes, no node }
)

// evaluation is what an expression is evaluated with.
type evaluation struct {
	// What names stand for.
	values values
	// Random numbers of the scan, both limits included.
	number func(low, high int) int
	// Functions of a flow by name; nil: there is none.
	extra map[string]func([]any) (any, error)
}

// errUnknown names a variable that has no value.
type errUnknown struct{ name string }

// Error implements error.
func (e errUnknown) Error() string { return fmt.Sprintf("%q has no value", e.name) }

// parseExpression reads an expression. Functions beside the known ones may be given.
func parseExpression(text string, extra ...string) (*expression, error) {
	if len(text) > maxExpression {
		return nil, fmt.Errorf("an expression of %d bytes", len(text))
	}
	tokens, err := scanTokens(text)
	if err != nil {
		return nil, err
	}
	p := &parser{tokens: tokens, extra: extra}
	root, err := p.parseTernary()
	if err != nil {
		return nil, err
	}
	if p.at < len(p.tokens) {
		return nil, fmt.Errorf("%q stands where the expression should end", p.tokens[p.at].text)
	}
	return &expression{root: root, names: p.names}, nil
}

// A token is a word of an expression: a number, a string without its quotes, a name, or an
// operator.
type token struct {
	kind byte // 'n' number, 's' string, 'i' name, 'o' operator
	text string
}

// operators are all operators, the longer before those that they begin with.
var operators = []string{"&&", "||", "==", "!=", "<=", ">=", "=~", "!~", "**", "??", "<", ">", "!", "+", "-", "*", "/",
	"%", "(", ")", ",", "?", ":"}

// scanTokens divides an expression into its words.
func scanTokens(text string) ([]token, error) {
	var out []token
	for i := 0; i < len(text); {
		if c := text[i]; c == ' ' || c == '\t' || c == '\n' || c == '\r' {
			i++
			continue
		}
		t, n, err := scanToken(text[i:])
		if err != nil {
			return nil, err
		}
		out = append(out, t)
		i += n
	}
	return out, nil
}

// scanToken reads the word that begins the text, and returns how long it is.
func scanToken(text string) (t token, length int, err error) {
	switch c := text[0]; {
	case c == '\'' || c == '"':
		value, n, err := scanString(text)
		return token{'s', value}, n, err
	// [Content-Length] > 5: names of headers contain what no other name does.
	case c == '[': // a name with any characters
		end := strings.IndexByte(text, ']')
		if end < 2 {
			return token{}, 0, fmt.Errorf("a [ without a name and a ]")
		}
		return token{'i', text[1:end]}, end + 1, nil
	case isDigit(c):
		n := wordLength(text, func(c byte) bool { return isDigit(c) || c == '.' || isLetter(c) })
		return token{'n', text[:n]}, n, nil
	case isLetter(c):
		n := wordLength(text, func(c byte) bool { return isLetter(c) || isDigit(c) })
		return token{'i', text[:n]}, n, nil
	}
	at := slices.IndexFunc(operators, func(o string) bool { return strings.HasPrefix(text, o) })
	if at < 0 {
		r, _ := utf8.DecodeRuneInString(text)
		return token{}, 0, fmt.Errorf("%q is no part of an expression", r)
	}
	return token{'o', operators[at]}, len(operators[at]), nil
}

// wordLength returns how many bytes at the beginning of the text belong to a word, at least
// the first one.
func wordLength(text string, belongs func(byte) bool) int {
	n := 1
	for n < len(text) && belongs(text[n]) {
		n++
	}
	return n
}

// isDigit reports whether a character is a decimal digit.
func isDigit(c byte) bool { return c >= '0' && c <= '9' }

// isLetter reports whether a character begins a name.
func isLetter(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c == '_'
}

// scanString reads a quoted string: a backslash makes the next character an ordinary
// one, whatever it is.
func scanString(text string) (value string, length int, err error) {
	var b strings.Builder
	for i := 1; i < len(text); i++ {
		switch text[i] {
		case '\\':
			if i++; i < len(text) {
				b.WriteByte(text[i])
			}
		case text[0]:
			return b.String(), i + 1, nil
		default:
			b.WriteByte(text[i])
		}
	}
	return "", 0, fmt.Errorf("a string that does not end")
}

// parser reads the words of an expression from the left, with a function for each level
// of its grammar.
type parser struct {
	tokens []token
	at     int
	depth  int
	names  []string
	extra  []string
}

// takeOperator takes the next token if it is one of the operators.
func (p *parser) takeOperator(any ...string) string {
	if p.at < len(p.tokens) && (p.tokens[p.at].kind == 'o' || p.tokens[p.at].kind == 'i') &&
		slices.Contains(any, p.tokens[p.at].text) {
		p.at++
		return p.tokens[p.at-1].text
	}
	return ""
}

// parseTernary reads a whole expression: a value, or a choice between two by a third
// one.
func (p *parser) parseTernary() (node, error) {
	if p.depth++; p.depth > maxNesting {
		return nil, fmt.Errorf("an expression nested more than %d deep", maxNesting)
	}
	defer func() { p.depth-- }()
	x, err := p.parseLevel(0)
	if err != nil || p.takeOperator("?") == "" {
		return x, err
	}
	yes, err := p.parseTernary()
	if err != nil {
		return nil, err
	}
	if p.takeOperator(":") == "" {
		return nil, fmt.Errorf("a ? without its other side")
	}
	no, err := p.parseTernary()
	if err != nil {
		return nil, err
	}
	return choice{x, yes, no}, nil
}

// levels are operators with two sides by their precedence, the weakest first.
var levels = [][]string{{"||", "??"}, {"&&"}, {"==", "!=", "<=", ">=", "<", ">", "=~", "!~", "in"}, {"+", "-"},
	{"*", "/", "%"}, {"**"}}

// parseLevel reads operators of level n and what binds stronger; they group from the
// left. A pattern that is written out is compiled at once, so that a template with a
// wrong one is refused when it is loaded.
func (p *parser) parseLevel(n int) (node, error) {
	if n == len(levels) {
		return p.parseUnary()
	}
	x, err := p.parseLevel(n + 1)
	for err == nil {
		op := p.takeOperator(levels[n]...)
		if op == "" {
			return x, nil
		}
		var y node
		if y, err = p.parseLevel(n + 1); err == nil {
			if l, ok := y.(literal); ok && (op == "=~" || op == "!~") {
				if _, err := compileRegexp(textOf(l.value)); err != nil {
					return nil, err
				}
			}
			x = binary{op, x, y}
		}
	}
	return nil, err
}

// parseUnary reads a value with the signs before it.
func (p *parser) parseUnary() (node, error) {
	if p.depth++; p.depth > maxNesting {
		return nil, fmt.Errorf("an expression nested more than %d deep", maxNesting)
	}
	defer func() { p.depth-- }()
	if op := p.takeOperator("!", "-"); op != "" {
		x, err := p.parseUnary()
		return unary{op, x}, err
	}
	return p.parsePrimary()
}

// parsePrimary reads a single value: text, number, name, call, list, or an expression
// between parentheses.
func (p *parser) parsePrimary() (node, error) {
	if p.at == len(p.tokens) {
		return nil, fmt.Errorf("the expression ends too early")
	}
	t := p.tokens[p.at]
	p.at++
	switch {
	case t.kind == 's':
		return literal{t.text}, nil
	case t.kind == 'n':
		return parseLiteral(t.text)
	case t.kind == 'i' && (t.text == "true" || t.text == "false"):
		return literal{t.text == "true"}, nil
	case t.kind == 'i' && p.takeOperator("(") != "":
		return p.parseCall(t.text)
	case t.kind == 'i':
		p.names = append(p.names, t.text)
		return variable{t.text}, nil
	case t.text == "(":
		items, err := p.parseItems()
		if err != nil {
			return nil, err
		}
		// Parentheses around one value only group.
		if len(items) == 1 {
			return items[0], nil
		}
		return list{items}, nil
	}
	return nil, fmt.Errorf("%q stands where a value should", t.text)
}

// parseLiteral reads a number, also one with a prefix such as 0x.
func parseLiteral(text string) (node, error) {
	if v, err := strconv.ParseFloat(text, 64); err == nil {
		return literal{v}, nil
	}
	v, err := strconv.ParseInt(text, 0, 64)
	if err != nil {
		return nil, fmt.Errorf("%q is no number", text)
	}
	return literal{float64(v)}, nil
}

// parseCall reads the arguments of a call, and checks that the function is known and
// takes as many.
func (p *parser) parseCall(name string) (node, error) {
	f := functions[name]
	if f == nil && !slices.Contains(p.extra, name) {
		return nil, fmt.Errorf("the function %.40q is not known", name)
	}
	args, err := p.parseItems()
	if err != nil {
		return nil, err
	}
	if f != nil && (len(args) < f.min || f.max >= 0 && len(args) > f.max) {
		return nil, fmt.Errorf("the function %s does not take %d arguments", name, len(args))
	}
	if f != nil && f.pattern && len(args) > 0 {
		if l, ok := args[0].(literal); ok {
			if _, err := compileRegexp(textOf(l.value)); err != nil {
				return nil, err
			}
		}
	}
	return call{name, f, args}, nil
}

// parseItems reads values up to the closing parenthesis.
func (p *parser) parseItems() ([]node, error) {
	var out []node
	if p.takeOperator(")") != "" {
		return out, nil
	}
	for {
		x, err := p.parseTernary()
		if err != nil {
			return nil, err
		}
		out = append(out, x)
		if p.takeOperator(",") != "" {
			continue
		}
		if p.takeOperator(")") == "" {
			return nil, fmt.Errorf("a ( without a )")
		}
		return out, nil
	}
}

// eval returns the value that is written out.
func (l literal) eval(*evaluation) (any, error) { return l.value, nil }

// eval returns the value of the name; without one the whole expression fails.
func (v variable) eval(e *evaluation) (any, error) {
	if x, ok := e.values[v.name]; ok {
		return x, nil
	}
	return nil, errUnknown(v)
}

// eval returns the values of the items.
func (l list) eval(e *evaluation) (any, error) {
	out, err := evalAll(e, l.items)
	return out, err
}

// evalAll evaluates nodes from the left, up to the first that has no value.
func evalAll(e *evaluation, nodes []node) ([]any, error) {
	out := make([]any, len(nodes))
	for i, n := range nodes {
		var err error
		if out[i], err = n.eval(e); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// eval calls a function of the language, or of the flow. A value beyond the limit is an
// error, so that nested calls cannot fill the memory.
func (c call) eval(e *evaluation) (any, error) {
	args, err := evalAll(e, c.args)
	if err != nil {
		return nil, err
	}
	var out any
	if c.f == nil {
		own, ok := e.extra[c.name]
		if !ok {
			return nil, errUnknown{c.name}
		}
		return own(args)
	}
	if out, err = c.f.call(e, args); err != nil {
		return nil, fmt.Errorf("%s: %w", c.name, err)
	}
	if s, ok := out.(string); ok && len(s) > maxValue {
		return nil, fmt.Errorf("%s makes %d bytes", c.name, len(s))
	}
	return out, nil
}

// eval applies a sign to a number, or a negation to a truth value.
func (u unary) eval(e *evaluation) (any, error) {
	x, err := u.x.eval(e)
	if err != nil {
		return nil, err
	}
	switch v := x.(type) {
	case bool:
		if u.op == "!" {
			return !v, nil
		}
	case float64:
		if u.op == "-" {
			return -v, nil
		}
	}
	return nil, fmt.Errorf("%s before a %T", u.op, x)
}

// eval evaluates the side that the test chooses, and not the other one.
func (c choice) eval(e *evaluation) (any, error) {
	test, err := c.test.eval(e)
	if err != nil {
		return nil, err
	}
	if test == true {
		return c.yes.eval(e)
	}
	return c.no.eval(e)
}

// eval applies an operator. The right side is evaluated only where the left one does
// not decide: a matcher may ask for what only some answers have.
func (b binary) eval(e *evaluation) (any, error) {
	x, err := b.x.eval(e)
	if b.op == "??" {
		if err == nil {
			return x, nil
		}
		return b.y.eval(e)
	}
	if err != nil {
		return nil, err
	}
	if b.op == "&&" || b.op == "||" {
		// There is no truth of numbers and texts: a mistake of the author must not become a match.
		if left, ok := x.(bool); !ok {
			return nil, fmt.Errorf("%s behind a %T", b.op, x)
		} else if left == (b.op == "||") {
			return left, nil
		}
	}
	y, err := b.y.eval(e)
	if err != nil {
		return nil, err
	}
	return applyOperator(b.op, x, y)
}

// applyOperator applies an operator with two sides.
func applyOperator(op string, x, y any) (any, error) {
	switch op {
	case "&&", "||":
		if right, ok := y.(bool); ok {
			return right, nil
		}
	case "==":
		return equalValues(x, y), nil
	case "!=":
		return !equalValues(x, y), nil
	case "=~", "!~":
		re, err := compileRegexp(textOf(y))
		if err != nil {
			return nil, err
		}
		return re.MatchString(textOf(x)) == (op == "=~"), nil
	case "in":
		items, ok := y.([]any)
		if !ok {
			items = []any{y}
		}
		return slices.ContainsFunc(items, func(i any) bool { return equalValues(x, i) }), nil
	}
	a, ok := x.(float64)
	b, also := y.(float64)
	if ok && also {
		return computeNumber(op, a, b)
	}
	return computeText(op, x, y)
}

// computeText joins two values of which one is a text, or compares two texts.
func computeText(op string, x, y any) (any, error) {
	_, left := x.(string)
	_, right := y.(string)
	if op == "+" && (left || right) {
		if s := textOf(x) + textOf(y); len(s) <= maxValue {
			return s, nil
		}
		return nil, fmt.Errorf("a sum that is too long")
	}
	if left && right {
		switch c := strings.Compare(textOf(x), textOf(y)); op {
		case "<":
			return c < 0, nil
		case ">":
			return c > 0, nil
		case "<=":
			return c <= 0, nil
		case ">=":
			return c >= 0, nil
		}
	}
	return nil, fmt.Errorf("%s between a %T and a %T", op, x, y)
}

// computeNumber applies an operator to two numbers. Division by 0 gives what IEEE 754
// says, and fails nothing.
func computeNumber(op string, a, b float64) (any, error) {
	switch op {
	case "+":
		return a + b, nil
	case "-":
		return a - b, nil
	case "*":
		return a * b, nil
	case "/":
		return a / b, nil
	case "%":
		return math.Mod(a, b), nil
	case "**":
		return math.Pow(a, b), nil
	case "<":
		return a < b, nil
	case ">":
		return a > b, nil
	case "<=":
		return a <= b, nil
	case ">=":
		return a >= b, nil
	}
	return nil, fmt.Errorf("%s between numbers", op)
}

// equalValues compares values of the same kind; a text is never equal to a number.
// Lists are equal item by item.
func equalValues(x, y any) bool {
	a, ok := x.([]any)
	b, also := y.([]any)
	if ok || also {
		return ok && also && slices.EqualFunc(a, b, equalValues)
	}
	return x == y
}

// textOf is a value as it stands in a request. Numbers have no exponent, and lists
// commas. What has no value is the empty text.
func textOf(v any) string {
	switch v := v.(type) {
	case string:
		return v
	case float64:
		return strconv.FormatFloat(v, 'f', -1, 64)
	case bool:
		return strconv.FormatBool(v)
	case []any:
		parts := make([]string, len(v))
		for i, item := range v {
			parts[i] = textOf(item)
		}
		return strings.Join(parts, ",")
	}
	return ""
}

// maxPattern bounds a regular expression, in bytes.
const maxPattern = 16 << 10

// compileRegexp reads a regular expression (RE2, which takes time linear in the text).
// Templates bring the patterns and targets the texts, so both may be hostile.
func compileRegexp(pattern string) (*regexp.Regexp, error) {
	if len(pattern) > maxPattern {
		return nil, fmt.Errorf("a regular expression of %d bytes", len(pattern))
	}
	re, err := regexp.Compile(pattern)
	if err != nil {
		return nil, fmt.Errorf("regular expression %.60q: %w", pattern, err)
	}
	return re, nil
}
