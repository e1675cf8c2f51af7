package script

import (
	"strings"

	"github.com/tdewolff/parse/v2/js"
)

// This file evaluates expressions as far as an address needs it: variables, objects,
// and the fields of classes, which is where clients of an API keep the addresses that
// they begin with.

const (
	// maxEvaluated bounds the evaluations of one piece of code: a variable that refers twice to
	// another, which again does, takes exponential time.
	maxEvaluated = 5_000_000
	// maxDepth bounds expressions within an expression, and the parents of a class.
	maxDepth = 12
	// maxText bounds the bytes of one text; longer ones are data.
	maxText = 2000
	// maxAppended bounds the names that are appended to one form.
	maxAppended = 100
)

// A class is what is known of a class: its fields, by declarations and by assignments to this.
type class struct {
	fields map[string]js.IExpr
	// parent is the variable of the class that it extends; nil: none.
	parent *js.Var
}

// An environment is what a program assigns. Of several assignments to a name the first counts: it
// is mostly the constant, and a later one is computed.
type environment struct {
	// What variables are assigned, by their declaration.
	values map[*js.Var]js.IExpr
	// Classes by their node, so that the second walk finds what the first has collected.
	classes map[*js.ClassDecl]*class
	// Classes by the variable of their name, to find parents.
	named map[*js.Var]*class
	// Members that are assigned one by one: config.base = "/api".
	objects map[*js.Var]map[string]js.IExpr
	// Names that are appended to FormData and the like: f.append("email", x).
	forms map[*js.Var][]string
	// Fields of all classes by name; nil: classes differ, so the name alone says nothing.
	fields map[string]js.IExpr
	// The classes around the current node, the innermost last.
	within []*class
	// Sums that are being evaluated: x = x + "a" refers to itself.
	busy map[*js.BinaryExpr]bool
	// The current depth of nested expressions.
	depth int
	// Evaluations that are left; see maxEvaluated.
	budget int
}

// newEnvironment returns an environment in which nothing is assigned.
func newEnvironment() *environment {
	return &environment{values: map[*js.Var]js.IExpr{}, classes: map[*js.ClassDecl]*class{},
		named: map[*js.Var]*class{}, objects: map[*js.Var]map[string]js.IExpr{},
		forms: map[*js.Var][]string{}, fields: map[string]js.IExpr{}, busy: map[*js.BinaryExpr]bool{},
		budget: maxEvaluated}
}

// variableOf returns the variable that an expression is, as it is declared; nil: it is none. The
// parser links each use in an inner scope to the outer declaration.
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

// enterClass pushes a class, and collects the fields that it declares when it is entered for the
// first time.
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

// assignVariable records the value of a variable, if it is the first.
func (env *environment) assignVariable(v *js.Var, e js.IExpr) {
	if env.values[v] == nil {
		env.values[v] = e
	}
}

// assignField records a field of a class, and by its name alone as long as no other class has a
// different one: minified code assigns this in functions that are no classes.
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

// recordAssignment records assignments to variables, to members of objects, and to members of this.
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

// recordFormData records the names that calls of append and set give to a form, such as
// form.append("email", value).
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

// currentClass returns the innermost class around the current node; nil: none.
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

// resolveValue follows variables and members to the expression that they were assigned; nil: it is
// not known. Other expressions are returned as they are.
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

// resolveMember returns the value of a member; nil: it is not known. A member of this is searched
// in the class, its parents, and last in all classes, if these agree.
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

// evaluateText returns the text of an expression, with "1" for what is not constant; empty when
// nothing of it is constant.
func (env *environment) evaluateText(e js.IExpr) string {
	if env.budget--; e == nil || env.depth > maxDepth || env.budget < 0 {
		return ""
	}
	env.depth++
	defer func() { env.depth-- }()
	out := env.evaluate(e)
	return out[:min(len(out), maxText)]
}

// evaluate returns the text of one expression without a check of the limits.
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
		// window.API_URL || "/api": the constant is what the code falls back on.
		case js.OrToken, js.NullishToken:
			if s := env.evaluateText(e.X); s != "" {
				return s
			}
			return env.evaluateText(e.Y)
		}
	// production ? "/api" : "/test": the first alternative that is constant.
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

// evaluateTemplate returns the text of a template literal such as `/users/${id}`.
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

// literally marks an empty text as known, so that joinTexts does not put "1" for it.
func literally(s string) string {
	if s == "" {
		return nothing
	}
	return s
}

// joinTexts joins the parts of a text, with "1" for those that are not known. An unknown part
// before a path is the base of the API, as in `${environment.url}/users`: it is left out, and the
// path begins at the root.
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

// resolveResult returns the text that a call returns, for functions that join texts: "a".concat(b)
// and path.resolve(a, b).
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

// memberNames returns the names of the members of an object, also of one that JSON.stringify is
// given or that a variable refers to, and how they are sent.
func (env *environment) memberNames(e js.IExpr) (names []string, kind Kind) {
	if c, ok := e.(*js.CallExpr); ok && len(c.Args.List) > 0 && strings.HasSuffix(nameOf(c.X), "stringify") {
		e = c.Args.List[0].Value
	}
	if v := variableOf(e); v != nil {
		for name := range env.objects[v] {
			names = append(names, name)
		}
		// Appended names mean a form, whatever else is assigned to the variable.
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

// formKind returns the encoding of what a constructor makes; JSON for all others.
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

// objectKeys returns the names of an object's members, also of the shorthand {name}. Computed names
// and spreads are left out.
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
