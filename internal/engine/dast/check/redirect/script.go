package redirect

import (
	"strings"

	"github.com/tdewolff/parse/v2"
	"github.com/tdewolff/parse/v2/js"
)

// This file reads script for where it leads the browser when the page is loaded.

// scriptRedirectTarget returns the constant address that a script leads to at the top level or
// in a function that runs with it, by assigning location or calling one of its
// methods; empty: none. A string that only stands in the script leads nowhere.
func scriptRedirectTarget(script string) string {
	ast, err := js.Parse(parse.NewInputString(script), js.Options{})
	if err != nil || len(script) > 1<<20 {
		return ""
	}
	v := &visitor{}
	for _, s := range ast.List {
		js.Walk(v, s)
	}
	return v.to
}

type visitor struct{ to string }

// Enter implements js.IVisitor. Functions are entered only where they are called at
// once or when the page has loaded.
func (v *visitor) Enter(n js.INode) js.IVisitor {
	if v.to != "" {
		return nil
	}
	switch n := n.(type) {
	case *js.FuncDecl, *js.ClassDecl, *js.MethodDecl:
		return nil
	case *js.ArrowFunc:
		return nil
	case *js.CallExpr:
		return v.visitCall(n)
	case *js.BinaryExpr:
		if n.Op == js.EqToken && isLocation(n.X) {
			v.to = constantOf(n.Y)
			return nil
		}
		if n.Op == js.EqToken && strings.HasSuffix(sourceText(n.X), "onload") {
			v.visitBody(n.Y)
			return nil
		}
	}
	return v
}

// Exit implements js.IVisitor.
func (v *visitor) Exit(js.INode) {}

// visitCall handles location.replace and its like, and functions that run at once.
func (v *visitor) visitCall(c *js.CallExpr) js.IVisitor {
	name := sourceText(c.X)
	short := strings.TrimPrefix(strings.TrimPrefix(strings.TrimPrefix(name, "window."), "self."), "top.")
	switch short {
	case "location.assign", "location.replace", "document.location.assign", "document.location.replace", "navigate",
		"open":
		if len(c.Args.List) > 0 && short != "open" {
			v.to = constantOf(c.Args.List[0].Value)
		}
		return nil
	case "setTimeout", "addEventListener", "document.addEventListener", "$", "jQuery":
		for _, a := range c.Args.List {
			v.visitBody(a.Value)
		}
		return nil
	}
	v.visitBody(c.X)
	return v
}

// visitBody walks the body of a function.
func (v *visitor) visitBody(e js.IExpr) {
	switch f := e.(type) {
	case *js.GroupExpr:
		v.visitBody(f.X)
	case *js.FuncDecl:
		for _, s := range f.Body.List {
			js.Walk(v, s)
		}
	case *js.ArrowFunc:
		for _, s := range f.Body.List {
			js.Walk(v, s)
		}
	}
}

// sourceText is the source of an expression.
func sourceText(n js.INode) string {
	var b strings.Builder
	n.JS(&b)
	return b.String()
}

// isLocation reports whether the expression is the address of the page.
func isLocation(e js.IExpr) bool {
	name := sourceText(e)
	for _, prefix := range []string{"window.", "self.", "top.", "parent.", "document.", "this."} {
		name = strings.TrimPrefix(name, prefix)
	}
	return name == "location" || name == "location.href"
}

// constantOf returns the string that an expression is; of a sum its beginning, as far as
// that is constant.
func constantOf(e js.IExpr) string {
	switch l := e.(type) {
	case *js.LiteralExpr:
		if l.TokenType == js.StringToken && len(l.Data) >= 2 {
			return unescapeText(string(l.Data[1 : len(l.Data)-1]))
		}
	case *js.BinaryExpr:
		if l.Op == js.AddToken {
			return constantOf(l.X) + constantOf(l.Y)
		}
	case *js.GroupExpr:
		return constantOf(l.X)
	}
	return ""
}

// unescapeText removes the escapes that do not change an address.
func unescapeText(s string) string {
	return strings.NewReplacer(`\/`, "/", `\\`, `\`, `\'`, "'", `\"`, `"`, `\x2f`, "/", `\x2F`, "/", `\u002f`, "/",
		`\u002F`, "/", `\x3a`, ":", `\x3A`, ":", `\u003a`, ":", `\u003A`, ":").Replace(s)
}
