package serverless

import (
	"path"
	"strconv"
	"strings"

	"merlon/internal/engine/iac/document"
	"merlon/internal/lazyregexp"
)

// This file reads variables: ${source:address, source:address, 'default'}.

// A state is what is known of a variable.
type state int

const (
	unknown state = iota
	known
	undefined // the next source counts
)

// A result is the value of a variable, with its place when one is written.
type result struct {
	value any
	node  *document.Node
	is    state
}

// evaluateText computes a text with variables. One that is nothing else has the type of
// its value.
func (e *evaluation) evaluateText(s string, n *document.Node) result {
	if e.depth++; e.depth > maxDepth {
		e.depth--
		return result{}
	}
	defer func() { e.depth-- }()
	var b strings.Builder
	for rest := s; ; {
		i := strings.Index(rest, "${")
		if i < 0 {
			b.WriteString(rest)
			break
		}
		end := closingBrace(rest[i:])
		if end < 0 {
			return result{is: unknown}
		}
		inside := rest[i+2 : i+end]
		b.WriteString(rest[:i])
		// "${AWS::Region}" of Fn::Sub stays for CloudFormation.
		if !isVariable(inside) {
			b.WriteString(rest[i : i+end+1])
			rest = rest[i+end+1:]
			continue
		}
		r := e.evaluateVariable(inside, n)
		// The whole text is one variable: it takes the type of the value, a map or list included.
		if i == 0 && end == len(rest)-1 && len(rest) == len(s) {
			return r
		}
		with, ok := scalarText(r.value)
		if r.is != known || !ok || b.Len()+len(with) > maxText {
			return result{is: unknown}
		}
		// Long texts count as several values: "${self:a}${self:a}…" doubles with each level.
		e.made += len(with) / 64
		b.WriteString(with)
		rest = rest[i+end+1:]
	}
	return result{value: b.String(), is: known}
}

// closingBrace returns the position of the brace that ends the variable which the text
// begins with, or -1.
func closingBrace(s string) int {
	depth := 0
	for i := range len(s) {
		switch {
		case s[i] == '{' && i > 0 && s[i-1] == '$':
			depth++
		case s[i] == '}':
			if depth--; depth == 0 {
				return i
			}
		}
	}
	return -1
}

// source matches the beginning of a source of a variable: "self:", "file(x.yml):". Two colons are
// CloudFormation's.
var source = lazyregexp.New(`^\s*([A-Za-z][\w-]*)(?:\(([^()]*)\))?(?::([^:].*|$))?$`)

// isVariable reports whether what stands between the braces is a variable of the framework
// and not one of CloudFormation.
func isVariable(inside string) bool {
	first := splitSources(inside)[0]
	if strings.Contains(first, "${") {
		return true
	}
	m := source.FindStringSubmatch(first)
	return m != nil && (strings.Contains(first, ":") || strings.Contains(first, "("))
}

// splitSources cuts a variable at its commas, outside of quotes and braces.
func splitSources(s string) []string {
	var out []string
	depth, from := 0, 0
	quote := byte(0)
	for i := range len(s) {
		switch c := s[i]; {
		case quote != 0:
			if c == quote {
				quote = 0
			}
		case c == '\'' || c == '"':
			quote = c
		case c == '{' || c == '(':
			depth++
		case c == '}' || c == ')':
			depth--
		case c == ',' && depth == 0:
			out, from = append(out, s[from:i]), i+1
		}
	}
	return append(out, s[from:])
}

// evaluateVariable returns the value of the first source that has one.
func (e *evaluation) evaluateVariable(inside string, n *document.Node) result {
	// A variable that refers to itself is not known.
	if e.made++; e.made > maxValues || e.open[inside] {
		return result{}
	}
	e.open[inside] = true
	defer delete(e.open, inside)
	all := splitSources(inside)
	for i, text := range all {
		if r := e.evaluateSource(strings.TrimSpace(text), n, i == len(all)-1); r.is != undefined {
			return r
		}
	}
	return result{}
}

// evaluateSource returns the value of one source.
func (e *evaluation) evaluateSource(text string, n *document.Node, last bool) result {
	if v, ok := parseLiteral(text); ok {
		return result{value: v, is: known}
	}
	if strings.Contains(text, "${") {
		r := e.evaluateText(text, n)
		if strings.HasPrefix(text, "${") && closingBrace(text) == len(text)-1 || r.is != known {
			return r
		}
		text, _ = r.value.(string)
	}
	m := source.FindStringSubmatch(text)
	if m == nil {
		return result{}
	}
	switch kind, argument, address := m[1], strings.TrimSpace(m[2]), strings.TrimSpace(m[3]); kind {
	case "self":
		return e.resolveAddress(e.self.Root, e.self.Lines, address)
	// Options come from the command line of the deployment: the next source, a default, counts.
	case "opt":
		return result{is: undefined}
	case "sls":
		if address == "stage" {
			return e.deployedStage()
		}
	case "param":
		return e.evaluateParam(address)
	case "strToBool":
		return stringToBool(argument)
	case "file":
		return e.valueOfFile(strings.Trim(argument, `'"`), address, n, last)
	}
	return result{} // the environment, the cloud, another service
}

// evaluateParam returns a parameter of the stage that is deployed, else the default one.
func (e *evaluation) evaluateParam(name string) result {
	stage, _ := scalarText(e.deployedStage().value)
	for _, from := range []string{stage, "default"} {
		if from == "" {
			continue
		}
		if r := e.resolveAddress(e.self.Root, e.self.Lines, "params."+from+"."+name); r.is != undefined {
			return r
		}
	}
	return result{is: undefined}
}

// stringToBool is "strToBool(…)"; what is neither true nor false is an error when the
// service is deployed, and not known here.
func stringToBool(argument string) result {
	v, ok := parseLiteral(argument)
	if !ok {
		v = argument
	}
	switch text, _ := scalarText(v); strings.ToLower(text) {
	case "true", "1":
		return result{value: true, is: known}
	case "false", "0":
		return result{value: false, is: known}
	}
	return result{}
}

// deployedStage is the stage that is deployed when no option says otherwise.
func (e *evaluation) deployedStage() result {
	if r := e.resolveAddress(e.self.Root, e.self.Lines, "provider.stage"); r.is != undefined {
		return r
	}
	return result{value: "dev", is: known}
}

// valueOfFile returns a value of a file of the tree.
func (e *evaluation) valueOfFile(name, address string, n *document.Node, last bool) result {
	switch path.Ext(name) {
	// Other files (.js, .ts) are programs, which are never run.
	case ".yml", ".yaml", ".json":
	default:
		e.addGap("unavailable", n, "the file %s is not followed: a program makes its values", name)
		return result{}
	}
	tree := e.readFile(name)
	if tree == nil {
		if last {
			e.addGap("unavailable", n, "the file %s is not analyzed: it is not part of the tree, or cannot "+
				"be read", name)
			return result{}
		}
		return result{is: undefined}
	}
	var v any = tree.Root
	at := tree.Lines
	if list, ok := tree.Root[document.Playbooks].([]any); ok && len(tree.Root) == 1 &&
		at.Fields[document.Playbooks] != nil {
		v, at = list, at.Fields[document.Playbooks]
	}
	return e.resolveAddress(v, at, address)
}

// parseLiteral reads a text in quotes, a number or a truth value.
func parseLiteral(s string) (any, bool) {
	if n := len(s); n > 1 && (s[0] == '\'' || s[0] == '"') && s[n-1] == s[0] {
		return s[1 : n-1], !strings.Contains(s, "${")
	}
	switch s {
	case "true":
		return true, true
	case "false":
		return false, true
	case "null":
		return nil, true
	}
	if i, err := strconv.ParseInt(s, 10, 64); err == nil {
		return i, true
	}
	return nil, false
}

// scalarText returns the text of a scalar.
func scalarText(v any) (string, bool) {
	switch v := v.(type) {
	case string:
		return v, true
	case bool:
		return strconv.FormatBool(v), true
	case int64:
		return strconv.FormatInt(v, 10), true
	case float64:
		return strconv.FormatFloat(v, 'f', -1, 64), true
	}
	return "", false
}
