package script

import (
	"strings"

	"github.com/tdewolff/parse/v2/js"
)

// This file evaluates expressions as far as an address needs it: variables, objects,
// and the fields of classes, which is where clients of an API keep the addresses that
// they begin with.

const (
	maxEvaluated = 5_000_000
	maxDepth     = 12   // expressions within an expression
	maxText      = 2000 // bytes of a text
	maxAppended  = 100  // names that one form is given
)

// A class is what is known of a class: a declared one, or a function whose instances
// are given fields.
type class struct {
	fields map[string]js.IExpr
	parent *js.Var
}

// An environment is what a program assigns. Of several assignments the first counts.
type environment struct {
	values  map[*js.Var]js.IExpr
	classes map[*js.ClassDecl]*class
	named   map[*js.Var]*class              // classes by their names
	objects map[*js.Var]map[string]js.IExpr // members that are assigned one by one
	forms   map[*js.Var][]string            // names that are appended to FormData and the like
	fields  map[string]js.IExpr             // of all classes; nil: classes differ
	within  []*class                        // where the walk is
	busy    map[*js.BinaryExpr]bool         // sums that are put together
	depth   int
	budget  int // evaluations that are left: what refers to others twice, and they again, has no end
}

func newEnvironment() *environment {
	return &environment{values: map[*js.Var]js.IExpr{}, classes: map[*js.ClassDecl]*class{},
		named: map[*js.Var]*class{}, objects: map[*js.Var]map[string]js.IExpr{},
		forms: map[*js.Var][]string{}, fields: map[string]js.IExpr{}, busy: map[*js.BinaryExpr]bool{},
		budget: maxEvaluated}
}

// variableOf is the variable that an expression is, as it is declared; nil: it is none.
func variableOf(e js.INode) *js.Var {
	v, ok := e.(*js.Var)
	if !ok {
		return nil
	}
	for v.Link != nil {
		v = v.Link
	}
	return v
}

// Enter implements js.IVisitor: it collects assignments.
func (env *environment) Enter(n js.INode) js.IVisitor {
	switch n := n.(type) {
	case *js.ClassDecl:
		env.enterClass(n)
	case *js.BindingElement:
		if v := variableOf(n.Binding); v != nil && n.Default != nil {
			env.assignVariable(v, n.Default)
		}
	case *js.BinaryExpr:
		if n.Op == js.EqToken {
			env.recordAssignment(n)
		}
	case *js.CallExpr:
		env.recordFormData(n)
	}
	return env
}

// Exit implements js.IVisitor.
func (env *environment) Exit(n js.INode) {
	if _, ok := n.(*js.ClassDecl); ok {
		env.within = env.within[:len(env.within)-1]
	}
}

// enterClass collects what a class declares, once; the walk is in it then.
func (env *environment) enterClass(n *js.ClassDecl) {
	c := env.classes[n]
	if c == nil {
		c = &class{fields: map[string]js.IExpr{}, parent: variableOf(n.Extends)}
		for _, e := range n.List {
			if e.Method == nil && e.StaticBlock == nil && e.Init != nil {
				env.assignField(c, e.Field.Name.String(), e.Init)
			}
		}
		env.classes[n] = c
		if n.Name != nil {
			env.named[n.Name] = c
		}
	}
	env.within = append(env.within, c)
}

// assignVariable keeps the first value of a variable.
func (env *environment) assignVariable(v *js.Var, e js.IExpr) {
	if env.values[v] == nil {
		env.values[v] = e
	}
}

// assignField keeps a field of a class.
func (env *environment) assignField(c *class, name string, e js.IExpr) {
	if c != nil && c.fields[name] == nil {
		c.fields[name] = e
	}
	if known, ok := env.fields[name]; !ok {
		env.fields[name] = e
	} else if known != e {
		env.fields[name] = nil
	}
}

// recordAssignment keeps assignments to variables and to members of objects and of this.
func (env *environment) recordAssignment(n *js.BinaryExpr) {
	if v := variableOf(n.X); v != nil {
		env.assignVariable(v, n.Y)
		return
	}
	dot, ok := n.X.(*js.DotExpr)
	if !ok {
		return
	}
	name := memberName(dot)
	if isThis(dot.X) {
		env.assignField(env.currentClass(), name, n.Y)
	} else if v := variableOf(dot.X); v != nil {
		if env.objects[v] == nil {
			env.objects[v] = map[string]js.IExpr{}
		}
		if env.objects[v][name] == nil {
			env.objects[v][name] = n.Y
		}
	}
}

// recordFormData keeps the names that a form is given by append and set.
func (env *environment) recordFormData(n *js.CallExpr) {
	dot, ok := n.X.(*js.DotExpr)
	if !ok || len(n.Args.List) < 2 {
		return
	}
	v := variableOf(dot.X)
	if method := memberName(dot); v == nil || method != "append" && method != "set" ||
		len(env.forms[v]) >= maxAppended {
		return
	}
	if name, ok := literalValue(n.Args.List[0].Value); ok {
		env.forms[v] = append(env.forms[v], name)
	}
}

// currentClass is the class that the walk is in; nil: none.
func (env *environment) currentClass() *class {
	if len(env.within) == 0 {
		return nil
	}
	return env.within[len(env.within)-1]
}

// isThis reports whether the expression is this.
func isThis(e js.IExpr) bool {
	l, ok := e.(*js.LiteralExpr)
	return ok && l.TokenType == js.ThisToken
}

// resolveValue follows variables and members to the expression that they were given; nil: it
// is not known.
func (env *environment) resolveValue(e js.IExpr) js.IExpr {
	if env.depth > maxDepth {
		return nil
	}
	env.depth++
	defer func() { env.depth-- }()
	switch e := e.(type) {
	case *js.GroupExpr:
		return env.resolveValue(e.X)
	case *js.Var:
		if given := env.values[variableOf(e)]; given != nil {
			return env.resolveValue(given)
		}
		return nil
	case *js.DotExpr:
		if given := env.resolveMember(e.X, memberName(e)); given != nil {
			return env.resolveValue(given)
		}
		return nil
	case *js.CallExpr: // Object.freeze({…}) and the like
		if callee := nameOf(e.X); len(e.Args.List) == 1 && (callee == "Object.freeze" || callee == "Object.seal") {
			return env.resolveValue(e.Args.List[0].Value)
		}
	}
	return e
}

// resolveMember is a member of an object; nil: it is not known.
func (env *environment) resolveMember(of js.IExpr, name string) js.IExpr {
	if isThis(of) {
		for c, n := env.currentClass(), 0; c != nil && n < maxDepth; c, n = env.named[c.parent], n+1 {
			if e := c.fields[name]; e != nil {
				return e
			}
		}
		return env.fields[name]
	}
	if v := variableOf(of); v != nil && env.objects[v][name] != nil {
		return env.objects[v][name]
	}
	if object, ok := env.resolveValue(of).(*js.ObjectExpr); ok {
		for _, p := range object.List {
			if p.Name != nil && strings.Trim(p.Name.String(), `"'`) == name {
				return p.Value
			}
		}
	}
	return nil
}

// evaluateText is the value of an expression, with "1" for what is not constant; empty when
// nothing of it is.
func (env *environment) evaluateText(e js.IExpr) string {
	if env.budget--; e == nil || env.depth > maxDepth || env.budget < 0 {
		return ""
	}
	env.depth++
	defer func() { env.depth-- }()
	out := env.evaluate(e)
	return out[:min(len(out), maxText)]
}

func (env *environment) evaluate(e js.IExpr) string {
	switch e := e.(type) {
	case *js.LiteralExpr:
		s, _ := literalValue(e)
		return s
	case *js.GroupExpr:
		return env.evaluateText(e.X)
	case *js.Var, *js.DotExpr:
		if given := env.resolveValue(e); given != nil && given != e {
			return env.evaluateText(given)
		}
	case *js.BinaryExpr:
		switch e.Op {
		case js.AddToken:
			if env.busy[e] { // it is a part of itself
				return ""
			}
			env.busy[e] = true
			defer delete(env.busy, e)
			return joinTexts([]string{env.evaluateText(e.X), env.evaluateText(e.Y)})
		case js.OrToken, js.NullishToken:
			if s := env.evaluateText(e.X); s != "" {
				return s
			}
			return env.evaluateText(e.Y)
		}
	case *js.CondExpr:
		if s := env.evaluateText(e.X); s != "" {
			return s
		}
		return env.evaluateText(e.Y)
	case *js.TemplateExpr:
		return env.evaluateTemplate(e)
	case *js.CallExpr:
		return env.resolveResult(e)
	}
	return ""
}

// evaluateTemplate is the text of a template literal.
func (env *environment) evaluateTemplate(e *js.TemplateExpr) string {
	var parts []string
	for i, part := range e.List {
		if s := templateText(part.Value); s != "" || i > 0 {
			parts = append(parts, literally(s))
		}
		parts = append(parts, env.evaluateText(part.Expr))
	}
	if s := templateText(e.Tail); s != "" {
		parts = append(parts, s)
	}
	return joinTexts(parts)
}

// nothing is a text that is known to be empty, among the parts of another.
const nothing = "\x00"

func literally(s string) string {
	if s == "" {
		return nothing
	}
	return s
}

// joinTexts puts the parts of a text together, with "1" for those that are not known. What
// is not known in front of a path is where the API is: the path begins at the root.
func joinTexts(parts []string) string {
	known := false
	for _, p := range parts {
		known = known || p != ""
	}
	if !known {
		return ""
	}
	var b strings.Builder
	for i, p := range parts {
		switch {
		case p == nothing:
		case p != "":
			b.WriteString(p)
		case i == 0 && strings.HasPrefix(parts[1], "/"):
		default:
			b.WriteString("1")
		}
	}
	return b.String()
}

// resolveResult is the text that a call returns, of functions that put texts together.
func (env *environment) resolveResult(e *js.CallExpr) string {
	callee := nameOf(e.X)
	if !strings.HasSuffix(callee, ".concat") && !strings.HasSuffix(callee, "resolve") {
		return ""
	}
	var parts []string
	if d, ok := e.X.(*js.DotExpr); ok && strings.HasSuffix(callee, ".concat") {
		parts = append(parts, env.evaluateText(d.X))
	} else if ok {
		parts = append(parts, literally(env.evaluateText(d.X)))
	}
	for _, a := range e.Args.List {
		parts = append(parts, env.evaluateText(a.Value))
	}
	return joinTexts(parts)
}

// memberNames returns the names of an object, also of one that JSON.stringify is given, or
// that a variable holds, and how they are sent.
func (env *environment) memberNames(e js.IExpr) (names []string, kind Kind) {
	if c, ok := e.(*js.CallExpr); ok && len(c.Args.List) > 0 && strings.HasSuffix(nameOf(c.X), "stringify") {
		e = c.Args.List[0].Value
	}
	if v := variableOf(e); v != nil {
		for name := range env.objects[v] {
			names = append(names, name)
		}
		if forms := env.forms[v]; len(forms) > 0 {
			return append(names, forms...), formKind(env.values[v])
		}
	}
	switch given := env.resolveValue(e).(type) {
	case *js.ObjectExpr:
		return append(names, objectKeys(given)...), JSON
	case *js.NewExpr:
		if kind := formKind(given); kind != JSON {
			if given.Args != nil && len(given.Args.List) > 0 {
				more, _ := env.memberNames(given.Args.List[0].Value)
				names = append(names, more...)
			}
			return names, kind
		}
	}
	return names, JSON
}

// formKind is how what the expression makes is sent.
func formKind(e js.IExpr) Kind {
	n, ok := e.(*js.NewExpr)
	if !ok {
		return JSON
	}
	switch nameOf(n.X) {
	case "FormData", "window.FormData":
		return Multipart
	case "URLSearchParams", "HttpParams":
		return Form
	}
	return JSON
}

// objectKeys are the names of an object's members.
func objectKeys(object *js.ObjectExpr) []string {
	var out []string
	for _, p := range object.List {
		if p.Name != nil && !p.Name.IsComputed() {
			out = append(out, strings.Trim(p.Name.String(), `"'`))
		} else if v, isVar := p.Value.(*js.Var); isVar && !p.Spread {
			out = append(out, string(v.Data))
		}
	}
	return out
}
