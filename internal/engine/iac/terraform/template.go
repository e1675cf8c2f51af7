package terraform

import (
	"fmt"
	"io/fs"
	"path"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/function"
)

// This file reads the files that expressions name: only those of the tree.

// readTreeFile returns the content of a file beside the root module. A path out of the
// scanned tree is an error: an expression must not read files of the machine (CWE-22).
func (l *loader) readTreeFile(s *scope, name string) (string, error) {
	name = path.Join(s.module.Root.Dir, name)
	if !fs.ValidPath(name) || !l.names[name] {
		return "", fmt.Errorf("%s is not part of the tree", name)
	}
	info, err := fs.Stat(l.fs, name)
	if err != nil {
		return "", err
	}
	// Before the file is read: its text goes into a value, and often into another one.
	if info.Size() > maxValue/2 {
		return "", fmt.Errorf("%s is too large to be followed", name)
	}
	b, err := fs.ReadFile(l.fs, name)
	l.countStep(cty.StringVal(string(b)))
	return string(b), err
}

// templateFunc makes templatefile: a text, evaluated with the given names only. It may not
// call itself, as in Terraform.
func (l *loader) templateFunc(s *scope, read func(string) (string, error)) function.Function {
	return function.New(&function.Spec{
		Params: []function.Parameter{{Name: "path", Type: cty.String},
			{Name: "names", Type: cty.DynamicPseudoType, AllowMarked: true, AllowUnknown: true,
				AllowDynamicType: true}},
		Type: function.StaticReturnType(cty.String),
		Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) {
			unknown := cty.UnknownVal(cty.String)
			text, err := read(args[0].AsString())
			if err != nil {
				return unknown, err
			}
			// A template is a text of the tree like any other file: its shape is checked before the
			// parser, which recurses, gets it.
			tokens, _ := hclsyntax.LexTemplate([]byte(text), "template", hcl.InitialPos)
			if p := checkComplexity(tokens); p != nil {
				return unknown, fmt.Errorf("%s", p.Message)
			}
			e, diags := hclsyntax.ParseTemplate([]byte(text), "template", hcl.InitialPos)
			if diags.HasErrors() {
				return unknown, diags
			}
			// the visitor finds no fault
			_ = hclsyntax.VisitAll(e, func(n hclsyntax.Node) hcl.Diagnostics { l.wrapForExpr(n); return nil })
			names, marks := args[1].Unmark()
			// Only an object or a map has names.
			if !names.IsKnown() || names.IsNull() || !names.CanIterateElements() || names.Type().IsTupleType() ||
				names.Type().IsListType() || names.Type().IsSetType() {
				return unknown.WithMarks(marks), nil
			}
			functions := map[string]function.Function{}
			for name, f := range s.functions {
				if name != "templatefile" && name != "templatestring" { // a template may not call itself
					functions[name] = f
				}
			}
			v, diags := e.Value(&hcl.EvalContext{Variables: names.AsValueMap(), Functions: functions})
			if diags.HasErrors() {
				return unknown.WithMarks(marks), diags
			}
			// What is sensitive in the names makes the whole text sensitive.
			return v.WithMarks(marks), nil
		}})
}
