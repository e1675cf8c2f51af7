package terraform

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/function"

	"merlon/internal/scan"
)

// This file reads Terragrunt's files: a terragrunt.hcl names a module and gives values
// to its variables (https://terragrunt.gruntwork.io/docs/reference/hcl/). The module,
// when it is part of the tree, is evaluated as a root module with these inputs. What
// other units put out, the environment and what commands print is not known.

// terragruntUnit is a terragrunt.hcl under evaluation.
type terragruntUnit struct {
	loader *loader
	source *source
	dir    string // of the unit that is evaluated, also in files that it includes
}

// isTerragrunt reports whether a file is a unit of Terragrunt.
func isTerragrunt(name string) bool { return path.Base(name) == "terragrunt.hcl" }

// evaluateTerragrunt evaluates the modules that Terragrunt's files name.
func (l *loader) evaluateTerragrunt(files []*source) {
	// The order decides which problems are reported first.
	slices.SortFunc(files, func(a, b *source) int { return strings.Compare(a.name, b.name) })
	for _, f := range files {
		g := &terragruntUnit{loader: l, source: f, dir: path.Dir(f.name)}
		// Included files come first, so that the unit overrides their inputs and source.
		chain := append(g.includedFiles(f, g.evaluateLocals(f)), f)
		dir, at := "", hcl.Range{}
		inputs := map[string]cty.Value{}
		var made []*source
		for _, file := range chain {
			locals := g.evaluateLocals(file)
			if where, r := g.moduleFolder(file, locals); where != "" {
				dir, at = where, r
			}
			for _, b := range file.blocks {
				if a := b.attributeOf("inputs"); b.kind == "values" && a != nil {
					g.addMembers(inputs, g.evaluate(file, *a, locals))
				}
				if a := b.attributeOf("contents"); b.kind == "generate" && a != nil {
					made = append(made, g.generatedFile(file, *a, locals))
				}
			}
		}
		// No module of the tree: moduleFolder has reported why.
		to := l.dirs[dir]
		if dir == "" || to == nil || len(to.files) == 0 {
			continue
		}
		to.called = true
		m := &Module{Dir: dir, Calls: []Call{{Name: path.Base(g.dir), Place: f.locationOf(at)}}}
		m.Root = m
		s := l.newScope(to, m, nil)
		s.generated = made
		s.setValues(to)
		for name, v := range inputs {
			s.given[name] = v
		}
		s.evaluateRest()
	}
}

// addMembers adds the members of an object.
func (g *terragruntUnit) addMembers(to map[string]cty.Value, v cty.Value) {
	v, marks := v.Unmark()
	if v == cty.NilVal || !v.IsKnown() || v.IsNull() || !v.CanIterateElements() || !v.Type().IsObjectType() &&
		!v.Type().IsMapType() {
		return
	}
	for it := v.ElementIterator(); it.Next(); {
		k, e := it.Element()
		if k, _ = k.Unmark(); k.IsKnown() {
			to[k.AsString()] = e.WithMarks(marks)
		}
	}
}

// evaluateLocals evaluates the locals of a file. Four rounds resolve locals that refer to
// others.
func (g *terragruntUnit) evaluateLocals(f *source) map[string]cty.Value {
	out := map[string]cty.Value{}
	for range 4 {
		for _, b := range f.blocks {
			if b.kind != "locals" {
				continue
			}
			for _, a := range b.attributes {
				if v, ok := out[a.name]; !ok || !v.IsWhollyKnown() {
					out[a.name] = g.evaluate(f, a, out)
				}
			}
		}
	}
	return out
}

// evaluate evaluates an expression of a file.
func (g *terragruntUnit) evaluate(f *source, a attribute, locals map[string]cty.Value) (v cty.Value) {
	defer func() {
		// Counted expressions stop an evaluation beyond the limits by a panic with limitExceeded.
		if r := recover(); r != nil {
			if _, ok := r.(limitExceeded); !ok {
				panic(r)
			}
			g.loader.report(Problem{Code: "too-complex", Path: f.name, Line: a.where.Start.Line,
				Message: "the expressions take too many steps"})
			v = cty.DynamicVal
		}
	}()
	names := map[string]cty.Value{"local": cty.DynamicVal}
	if len(locals) > 0 {
		names["local"] = cty.ObjectVal(locals)
	}
	for _, t := range a.expr.Variables() {
		if root := t.RootName(); names[root] == cty.NilVal {
			names[root] = cty.DynamicVal // dependency, include, feature, values
		}
	}
	v, diags := a.expr.Value(&hcl.EvalContext{Variables: names, Functions: g.functionTable()})
	if diags.HasErrors() || estimateSize(v, maxValue) >= maxValue {
		return cty.DynamicVal
	}
	return v
}

// functionTable returns Terraform's functions and those of Terragrunt that depend on the
// tree alone. Folders are relative to the unit.
func (g *terragruntUnit) functionTable() map[string]function.Function {
	s := &scope{loader: g.loader, module: &Module{Dir: g.dir}}
	s.module.Root = s.module
	out := g.loader.functionTable(s)
	fixed := func(v string) function.Function {
		return function.New(&function.Spec{
			VarParam: &function.Parameter{Name: "args", Type: cty.DynamicPseudoType, AllowNull: true,
				AllowUnknown: true, AllowDynamicType: true},
			Type: function.StaticReturnType(cty.String),
			Impl: func([]cty.Value, cty.Type) (cty.Value, error) { return cty.StringVal(v), nil }})
	}
	// Paths of Terragrunt are relative to the unit: "../../" leads to the root of the tree.
	up := ""
	if g.dir != "." {
		up = strings.Repeat("../", 1+strings.Count(g.dir, "/"))
	}
	for _, name := range []string{"get_terragrunt_dir", "get_original_terragrunt_dir"} {
		out[name] = fixed(".")
	}
	for _, name := range []string{"get_repo_root", "get_path_to_repo_root"} {
		out[name] = fixed(path.Join(".", up))
	}
	out["path_relative_to_include"] = fixed(g.dir)
	out["get_path_from_repo_root"] = fixed(g.dir)
	parent := ""
	if f := g.parentFile(""); f != nil {
		parent = path.Dir(up + f.name)
	}
	out["get_parent_terragrunt_dir"] = fixed(parent)
	out["find_in_parent_folders"] = function.New(&function.Spec{
		VarParam: &function.Parameter{Name: "names", Type: cty.String}, Type: function.StaticReturnType(cty.String),
		Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) {
			name := ""
			if len(args) > 0 {
				name = args[0].AsString()
			}
			if f := g.parentFile(name); f != nil {
				return cty.StringVal(path.Join(up, f.name)), nil
			}
			return cty.DynamicVal, fmt.Errorf("no %s above", name)
		}})
	return out
}

// parentFile returns the nearest file above the unit.
func (g *terragruntUnit) parentFile(name string) *source {
	if name == "" {
		name = "terragrunt.hcl"
	}
	for dir := g.dir; dir != "."; {
		dir = path.Dir(dir)
		if f := g.loader.grunt[path.Join(dir, name)]; f != nil {
			return f
		}
	}
	return nil
}

// generatedFile reads a file that is put beside those of the module. A text that is not
// known is read as it is written: what of it is not known is then unknown.
func (g *terragruntUnit) generatedFile(f *source, a attribute, locals map[string]cty.Value) *source {
	text := ""
	if v, _ := g.evaluate(f, a, locals).Unmark(); v.IsKnown() && !v.IsNull() && v.Type() == cty.String {
		text = v.AsString()
	} else if _, body, ok := strings.Cut(f.textOf(a.expr.Range()), "\n"); ok {
		text = body[:max(0, strings.LastIndexByte(strings.TrimRight(body, " \t\r\n"), '\n'))]
	}
	// The lines of a text begin below the line of its name.
	whole := []byte(strings.Repeat("\n", a.where.Start.Line) + text)
	s := &source{name: f.name, text: whole, lines: scan.NewLines(whole)}
	if p := g.loader.parseNative(s); p != nil {
		p.Path, p.Line = f.name, a.where.Start.Line
		g.loader.report(*p)
	}
	return s
}

// includedFiles returns the files that a file includes.
func (g *terragruntUnit) includedFiles(f *source, locals map[string]cty.Value) []*source {
	var out []*source
	for _, b := range f.blocks {
		a := b.attributeOf("path")
		if b.kind != "include" || a == nil {
			continue
		}
		v, _ := g.evaluate(f, *a, locals).Unmark()
		if !v.IsKnown() || v.IsNull() || v.Type() != cty.String {
			continue
		}
		if other := g.loader.grunt[path.Join(g.dir, v.AsString())]; other != nil && other != f {
			out = append(out, other)
		}
	}
	return out
}

// moduleFolder returns the folder that the file's "terraform" block names, and where.
func (g *terragruntUnit) moduleFolder(f *source, locals map[string]cty.Value) (string, hcl.Range) {
	for _, b := range f.blocks {
		a := b.attributeOf("source")
		if b.kind != "terraform" || a == nil {
			continue
		}
		v, _ := g.evaluate(f, *a, locals).Unmark()
		if !v.IsKnown() || v.IsNull() || v.Type() != cty.String {
			g.loader.report(Problem{Code: "unavailable", Path: f.name, Line: a.where.Start.Line,
				Message: "it is not known which module is meant"})
			return "", b.header
		}
		where := v.AsString()
		// "git::https://…", "tfr:///…" and "owner/name" are remote.
		if strings.Contains(where, "://") || strings.Contains(where, "::") || !strings.HasPrefix(where, ".") {
			g.loader.report(Problem{Code: "unavailable", Path: f.name, Line: a.where.Start.Line,
				Message: "the module is not part of the tree, and nothing is fetched"})
			return "", b.header
		}
		// "//" separates the folder that Terragrunt copies from the module inside of it.
		dir := path.Join(g.dir, strings.ReplaceAll(where, "//", "/"))
		if d := g.loader.dirs[dir]; d == nil || len(d.files) == 0 {
			g.loader.report(Problem{Code: "unavailable", Path: f.name, Line: a.where.Start.Line,
				Message: "the folder " + dir + " contains no Terraform"})
			return "", b.header
		}
		return dir, b.header
	}
	return "", hcl.Range{}
}
