package main

import (
	"slices"

	"github.com/open-policy-agent/opa/v1/ast"
)

// This file finds out what must be in a document before a rule of a query can hold,
// so that a scan compiles only what its files can trigger. It is a one-sided
// analysis: what it cannot follow is not needed. A rule's body is a list of
// expressions that must all hold, and a reference to a field that is not there
// makes its expression fail; so each constant field of a reference into the input,
// outside of "not" and of comprehensions, is needed, and so is each constant string
// that a value of the input is compared with.

// A need is a list of words of which the document must hold one, as a key or a
// string.
type need []string

// needsOf returns the needs of one rule; none means that it can always hold.
func needsOf(module *ast.Module, rule *ast.Rule) []need {
	a := analysis{derived: map[ast.Var]bool{}, constants: map[ast.Var]need{}}
	for _, r := range module.Rules {
		if r.Head.Value != nil && len(r.Head.Args) == 0 && r.Head.Key == nil && len(r.Body) == 1 && !r.Default {
			if words := constantStrings(r.Head.Value.Value); words != nil {
				a.constants[ast.Var(r.Head.Name)] = words
			}
		}
	}
	for before := -1; before != len(a.derived)+len(a.constants); {
		before = len(a.derived) + len(a.constants)
		for _, e := range rule.Body {
			a.learnVariables(e)
		}
	}
	for _, e := range rule.Body {
		if !e.Negated && len(e.With) == 0 {
			a.analyzeExpr(e)
		}
	}
	slices.SortFunc(a.needs, func(x, y need) int { return slices.Compare(x, y) })
	return slices.CompactFunc(a.needs, func(x, y need) bool { return slices.Equal(x, y) })
}

// An analysis is what is learnt of a rule's body.
type analysis struct {
	derived   map[ast.Var]bool // variables that hold parts of the input
	constants map[ast.Var]need // variables that hold a collection of strings
	needs     []need
}

// learnVariables finds variables that hold parts of the input, or constants.
func (a *analysis) learnVariables(e *ast.Expr) {
	terms, ok := e.Terms.([]*ast.Term)
	if !ok || e.Negated || len(e.With) > 0 {
		return
	}
	name := e.Operator().String()
	switch {
	case (name == "assign" || name == "eq") && len(terms) == 3:
		left, right := terms[1], terms[2]
		a.bindVariables(left, right)
		a.bindVariables(right, left)
	case name == "walk" && len(terms) == 3 && a.isDerived(terms[1]):
		a.deriveAll(terms[2])
	}
	// The variables that index a part of the input are its keys.
	walkTerms(terms, func(t *ast.Term) {
		if ref, ok := t.Value.(ast.Ref); ok && a.isDerived(t) {
			for _, step := range ref[1:] {
				a.deriveAll(step)
			}
		}
	})
}

// bindVariables says that the variables of one side hold what the other side is.
func (a *analysis) bindVariables(to, from *ast.Term) {
	if v, ok := to.Value.(ast.Var); ok {
		if words := constantStrings(from.Value); words != nil {
			a.constants[v] = words
		}
	}
	if call, ok := from.Value.(ast.Call); ok && call[0].String() == "walk" && len(call) == 2 && a.isDerived(call[1]) {
		a.deriveAll(to)
	}
	if a.isDerived(from) {
		a.deriveAll(to)
	}
}

// deriveAll marks the variable, or those of a pattern.
func (a *analysis) deriveAll(t *ast.Term) {
	switch v := t.Value.(type) {
	case ast.Var:
		a.derived[v] = true
	case *ast.Array:
		v.Foreach(a.deriveAll)
	case ast.Object:
		v.Foreach(func(_, value *ast.Term) { a.deriveAll(value) })
	}
}

// isDerived reports whether the term is a part of the input.
func (a *analysis) isDerived(t *ast.Term) bool {
	switch v := t.Value.(type) {
	case ast.Var:
		return a.derived[v]
	case ast.Ref:
		head, ok := v[0].Value.(ast.Var)
		return ok && (head == "input" || a.derived[head] || a.isTasks(v))
	}
	return false
}

// isTasks knows the one rule of the libraries that hands out parts of the input.
func (a *analysis) isTasks(ref ast.Ref) bool {
	return ref.HasPrefix(ast.MustParseRef("data.generic.ansible.tasks")) ||
		ref.HasPrefix(ast.MustParseRef("ansLib.tasks")) ||
		ref.HasPrefix(ast.MustParseRef("ansible_lib.tasks"))
}

// analyzeExpr notes what one expression needs.
func (a *analysis) analyzeExpr(e *ast.Expr) {
	var terms []*ast.Term
	switch t := e.Terms.(type) {
	case *ast.Term:
		terms = []*ast.Term{t}
	case []*ast.Term:
		terms = t
	default:
		return // "some", "every"
	}
	walkTerms(terms, func(t *ast.Term) {
		if ref, ok := t.Value.(ast.Ref); ok && a.isDerived(t) {
			a.needFields(ref)
		}
	})
	if len(terms) != 3 {
		return
	}
	switch e.Operator().String() {
	case "equal", "eq", "assign":
		a.needCompared(terms[1], terms[2])
		a.needCompared(terms[2], terms[1])
	}
}

// needFields needs the constant fields of a reference into the input.
func (a *analysis) needFields(ref ast.Ref) {
	steps := ref[1:]
	if head, _ := ref[0].Value.(ast.Var); head != "input" && !a.derived[head] {
		return // tasks of a library: its own fields are none of the document's
	} else if head == "input" {
		steps = steps[min(2, len(steps)):] // "document", and which
	}
	for _, step := range steps {
		switch v := step.Value.(type) {
		case ast.String:
			a.addNeed(need{string(v)})
		case ast.Var:
			// A variable that runs over a collection of the query's: collection[key].
		case ast.Ref:
			if words := a.chosenWords(v); words != nil {
				a.addNeed(words)
			}
		}
	}
}

// needCompared needs the string, or one of a collection, that a part of the input is
// compared with.
func (a *analysis) needCompared(part, with *ast.Term) {
	if !a.isDerived(part) {
		return
	}
	switch v := with.Value.(type) {
	case ast.String:
		a.addNeed(need{string(v)})
	case ast.Ref:
		if !a.isDerived(with) {
			if words := a.chosenWords(v); words != nil {
				a.addNeed(words)
			}
		}
	}
}

// chosenWords returns the words of a collection of which the reference takes one.
func (a *analysis) chosenWords(ref ast.Ref) need {
	if len(ref) != 2 {
		return nil
	}
	if head, ok := ref[0].Value.(ast.Var); ok {
		return a.constants[head]
	}
	return constantStrings(ref[0].Value)
}

// addNeed adds a need, unless every document meets it.
func (a *analysis) addNeed(n need) {
	for _, word := range n {
		if word == "id" || word == "file" || word == "" {
			return // every document has them
		}
	}
	a.needs = append(a.needs, n)
}

// constantStrings returns the strings of a constant set, array or object; nil when there
// is anything else in it.
func constantStrings(v ast.Value) need {
	var words need
	whole := true
	take := func(t *ast.Term) {
		s, ok := t.Value.(ast.String)
		whole = whole && ok
		words = append(words, string(s))
	}
	switch v := v.(type) {
	case *ast.Array:
		v.Foreach(take)
	case ast.Set:
		v.Foreach(take)
	case ast.Object:
		v.Foreach(func(_, value *ast.Term) { take(value) })
	default:
		return nil
	}
	if !whole {
		return nil
	}
	slices.Sort(words)
	return slices.Compact(words)
}

// walkTerms visits the terms that must be defined for an expression to hold: not
// those inside of comprehensions.
func walkTerms(terms []*ast.Term, visit func(*ast.Term)) {
	for _, t := range terms {
		visit(t)
		switch v := t.Value.(type) {
		case ast.Call:
			walkTerms(v, visit)
		case ast.Ref:
			walkTerms(v[1:], visit)
			if _, ok := v[0].Value.(ast.Var); !ok {
				walkTerms(v[:1], visit)
			}
		case *ast.Array:
			v.Foreach(func(t *ast.Term) { walkTerms([]*ast.Term{t}, visit) })
		case ast.Set:
			v.Foreach(func(t *ast.Term) { walkTerms([]*ast.Term{t}, visit) })
		case ast.Object:
			v.Foreach(func(k, t *ast.Term) { walkTerms([]*ast.Term{k, t}, visit) })
		}
	}
}
