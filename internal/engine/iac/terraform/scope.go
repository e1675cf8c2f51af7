package terraform

import (
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/ext/typeexpr"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/convert"
	"github.com/zclconf/go-cty/cty/function"
)

// This file looks up what names stand for in one module. A name is evaluated when
// it is first asked for, once; one that needs itself is unknown.

// scope is one use of a module under evaluation.
type scope struct {
	loader *loader
	folder *folder
	module *Module
	parent *scope
	use    *block               // the call, nil for a root module
	given  map[string]cty.Value // values of variables, from the call or from files

	variables map[string][]*block
	locals    map[string][]local
	nodes     map[string][]*node // by "type.name", "data.type.name"
	order     []*node            // as they are written
	calls     map[string][]*block
	outputs   map[string][]*block
	children  map[*block]cty.Value
	providers map[*block]*Block // as far as they were asked for
	generated []*source         // files that Terragrunt puts beside the module's; their providers count

	// values of variables and locals that were evaluated
	memo      map[string]cty.Value
	busy      map[string]bool
	functions map[string]function.Function
	deep      map[string]map[string]bool // what is asked of each name: "var.x", "aws_s3_bucket.b"
}

// local is one value of a locals block.
type local struct {
	attribute
	source *source
}

// node is a resource as it is written, in one module instance.
type node struct {
	block *block
	// "aws_s3_bucket.logs", the name in expressions of the module
	key string
	// key with the address of the module before it
	address string
	data    bool
	// being expanded: a reference to it now is a cycle
	busy  bool
	done  bool
	value cty.Value
	// filled by expandResource
	instances []*Resource
}

// newScope prepares a use of a module: every name of its files is declared, none is
// evaluated.
func (l *loader) newScope(d *folder, m *Module, parent *scope) *scope {
	d.used = true
	l.project.Modules = append(l.project.Modules, m)
	s := &scope{loader: l, folder: d, module: m, parent: parent, given: map[string]cty.Value{},
		variables: map[string][]*block{}, locals: map[string][]local{},
		nodes: map[string][]*node{}, calls: map[string][]*block{}, outputs: map[string][]*block{},
		children: map[*block]cty.Value{},
		memo:     map[string]cty.Value{}, busy: map[string]bool{}, deep: map[string]map[string]bool{}}
	m.scope = s
	s.functions = l.functionTable(s)
	for _, f := range d.files {
		for _, b := range f.blocks {
			s.declareBlock(b)
		}
	}
	return s
}

// declareBlock makes a block known by its name.
func (s *scope) declareBlock(b *block) {
	s.noteReads(b)
	switch b.kind {
	case "locals":
		for _, a := range b.attributes {
			s.locals[a.name] = append(s.locals[a.name], local{a, a.fileIn(b)})
		}
		return
	// A check block may have a data source of its own.
	case "check":
		for _, inner := range b.blocks {
			if inner.kind == "data" {
				s.declareBlock(inner)
			}
		}
		return
	}
	if len(b.labels) == 0 {
		return
	}
	name := b.labels[0]
	switch b.kind {
	case "variable":
		s.variables[name] = append(s.variables[name], b)
	case "output":
		s.outputs[name] = append(s.outputs[name], b)
	case "module":
		s.calls[name] = append(s.calls[name], b)
	case "resource", "data", "ephemeral":
		if len(b.labels) > 1 {
			s.declareResource(b)
		}
	}
}

// declareResource makes a resource known by its address within the module.
func (s *scope) declareResource(b *block) {
	n := &node{block: b, data: b.kind != "resource", address: b.labels[0] + "." + b.labels[1]}
	if b.kind != "resource" {
		n.address = b.kind + "." + n.address
	}
	if isPlanned(b) {
		n.address = b.labels[1]
	}
	n.key = n.address
	if s.module.Address != "" {
		n.address = s.module.Address + "." + n.address
	}
	s.nodes[n.key] = append(s.nodes[n.key], n)
	s.order = append(s.order, n)
}

// noteReads records which attributes are read of each name, so that those that only the
// provider knows get a placeholder.
func (s *scope) noteReads(b *block) {
	for _, a := range b.attributes {
		for _, t := range a.expr.Variables() {
			words := rootWords(t)
			if len(words) == 0 {
				continue
			}
			name, rest := splitTraversal(words)
			if s.deep[name] == nil {
				s.deep[name] = map[string]bool{}
			}
			if len(rest) > 0 {
				s.deep[name][rest[0]] = s.deep[name][rest[0]] || len(rest) > 1
			} else if len(t) > len(words) {
				s.deep[name][""] = true
			}
		}
		// Walking every expression is expensive, so only those with a splat are walked.
		if strings.Contains(a.fileIn(b).textOf(a.whole), "*]") {
			s.noteSplats(a.expr)
		}
	}
	for _, inner := range b.blocks {
		s.noteReads(inner)
	}
}

// noteSplats records what is read of each element: aws_subnet.a[*].id.
func (s *scope) noteSplats(e hclsyntax.Expression) {
	_ = hclsyntax.VisitAll(e, func(n hclsyntax.Node) hcl.Diagnostics { // it finds no fault
		splat, ok := n.(*hclsyntax.SplatExpr)
		if !ok {
			return nil
		}
		each, ok := splat.Each.(*hclsyntax.RelativeTraversalExpr)
		if !ok || len(each.Traversal) == 0 {
			return nil
		}
		if attr, ok := each.Traversal[0].(hcl.TraverseAttr); ok {
			for _, t := range splat.Source.Variables() {
				if words := rootWords(t); len(words) > 0 {
					name, _ := splitTraversal(words)
					if s.deep[name] == nil {
						s.deep[name] = map[string]bool{}
					}
					s.deep[name][attr.Name] = s.deep[name][attr.Name] || len(each.Traversal) > 1
				}
			}
		}
		return nil
	})
}

// rootWords returns the names of a traversal, without its indexes.
func rootWords(t hcl.Traversal) []string {
	var out []string
	for _, step := range t {
		switch step := step.(type) {
		case hcl.TraverseRoot:
			out = append(out, step.Name)
		case hcl.TraverseAttr:
			out = append(out, step.Name)
		}
	}
	return out
}

// splitTraversal splits the names of a traversal into what is named and what is read of
// it.
func splitTraversal(words []string) (string, []string) {
	// "aws_s3_bucket.logs.arn": type and name, then what is read.
	n := 2
	switch words[0] {
	case "data", "ephemeral":
		n = 3
	case "path", "terraform", "each", "count", "self":
		n = 1
	}
	n = min(n, len(words))
	return strings.Join(words[:n], "."), words[n:]
}

// setValues takes the values that files beside the root module give, in the order
// in which Terraform reads them: terraform.tfvars, then *.auto.tfvars by name.
// Without any of these, a single other file of values is taken.
func (s *scope) setValues(d *folder) {
	var first, auto, other []*source
	for _, f := range d.values {
		switch base := path.Base(f.name); {
		case strings.HasPrefix(base, "terraform.tfvars"):
			first = append(first, f)
		case strings.Contains(base, ".auto.tfvars"):
			auto = append(auto, f)
		default:
			other = append(other, f)
		}
	}
	list := append(first, auto...)
	// prod.tfvars alone is surely meant by -var-file; of several it is not known which.
	if len(list) == 0 && len(other) == 1 {
		list = other
	}
	for _, f := range list {
		for _, b := range f.blocks {
			for _, a := range b.attributes {
				if v, diags := a.expr.Value(nil); !diags.HasErrors() {
					s.given[a.name] = v
				}
			}
		}
	}
}

// pickDeclaration returns the declaration that a file means: its own, if a folder that is
// not one module declares the name twice.
func pickDeclaration[T any](list []T, file func(T) *source, from *source) (T, bool) {
	var none T
	for _, item := range list {
		if file(item) == from {
			return item, true
		}
	}
	if len(list) == 0 {
		return none, false
	}
	return list[0], true
}

// blockFile returns the file of a block, for pickDeclaration.
func blockFile(b *block) *source { return b.source }

// variableValue returns the value of a variable, marked when it is sensitive.
func (s *scope) variableValue(name string, from *source) cty.Value {
	b, ok := pickDeclaration(s.variables[name], blockFile, from)
	if !ok {
		return cty.DynamicVal
	}
	return s.evaluateOnce("var."+name+"@"+b.source.name, b, func() cty.Value {
		v := s.evaluateVariable(name, b)
		if a := b.attributeOf("sensitive"); a != nil {
			if on, diags := a.expr.Value(nil); !diags.HasErrors() && on.IsKnown() && !on.IsNull() &&
				on.Type() == cty.Bool && on.True() {
				v = v.Mark(sensitiveMark{})
			}
		}
		return v
	})
}

// evaluateVariable returns the value that a variable was given, else its default,
// converted to its type. Without either it is a placeholder where a text is expected, else
// unknown.
func (s *scope) evaluateVariable(name string, b *block) cty.Value {
	want, defaults := variableType(b)
	v, ok := s.given[name]
	if ok && v.IsNull() && !isNullable(b) {
		ok = false // the default stands for null
	}
	if !ok {
		v, ok = variableDefault(b)
	}
	if !ok {
		return s.missingVariable(name, want)
	}
	// optional(string, "x") in the type of an object. Marked and unknown values stay as they are.
	if defaults != nil && !v.IsNull() && v.IsWhollyKnown() && !v.ContainsMarked() {
		v = defaults.Apply(v)
	}
	if c, err := convert.Convert(v, want); err == nil {
		return c
	}
	if v.ContainsMarked() {
		return cty.UnknownVal(want).WithSameMarks(v)
	}
	return v
}

// variableType returns the declared type, which is any without a declaration, and the
// defaults of its optional attributes.
func variableType(b *block) (cty.Type, *typeexpr.Defaults) {
	if a := b.attributeOf("type"); a != nil {
		if t, defaults, diags := typeexpr.TypeConstraintWithDefaults(a.expr); !diags.HasErrors() {
			return t, defaults
		}
	}
	return cty.DynamicPseudoType, nil
}

// variableDefault returns the default of a variable, which may refer to nothing.
func variableDefault(b *block) (cty.Value, bool) {
	if a := b.attributeOf("default"); a != nil {
		if v, diags := a.expr.Value(nil); !diags.HasErrors() {
			return v, true
		}
	}
	return cty.NilVal, false
}

// missingVariable stands for a variable that has no value: a placeholder where it is a
// text, or of any type and used as a whole.
func (s *scope) missingVariable(name string, want cty.Type) cty.Value {
	reads := s.deep["var."+name]
	if want == cty.String || want == cty.DynamicPseudoType && !anyTrue(reads) && len(reads) == 0 {
		return placeholder("var." + name)
	}
	return cty.UnknownVal(want)
}

// isNullable reports whether a variable may be null although it has a default.
func isNullable(b *block) bool {
	a := b.attributeOf("nullable")
	if a == nil {
		return true
	}
	v, diags := a.expr.Value(nil)
	return diags.HasErrors() || v.IsNull() || !v.IsKnown() || v.Type() != cty.Bool || v.True()
}

// anyTrue reports whether something below what is read is read.
func anyTrue(m map[string]bool) bool { return slices.Contains(slices.Collect(maps.Values(m)), true) }

// evaluateOnce evaluates a name at most once, and reports a name that refers to itself.
func (s *scope) evaluateOnce(name string, b *block, make func() cty.Value) cty.Value {
	if v, ok := s.memo[name]; ok {
		return v
	}
	if s.busy[name] {
		s.loader.report(Problem{Code: "cycle", Path: b.source.name, Line: b.header.Start.Line,
			Message: strings.Split(name, "@")[0] + " needs itself"})
		return cty.DynamicVal
	}
	s.busy[name] = true
	v := make()
	delete(s.busy, name)
	if estimateSize(v, maxValue) >= maxValue {
		s.loader.report(Problem{Code: "too-large", Path: b.source.name, Line: b.header.Start.Line,
			Message: strings.Split(name, "@")[0] + " is too large to be followed"})
		v = cty.DynamicVal
	}
	s.memo[name] = v
	return v
}

// localValue returns the value of a local.
func (s *scope) localValue(name string, from *source) cty.Value {
	l, ok := pickDeclaration(s.locals[name], func(l local) *source { return l.source }, from)
	if !ok {
		return cty.DynamicVal
	}
	return s.evaluateOnce("local."+name+"@"+l.source.name, &block{source: l.source, header: l.where}, func() cty.Value {
		return s.evaluate(l.expr, l.source, nil)
	})
}

// frame holds the names that hold inside of one instance: count, each, iterators.
type frame map[string]cty.Value

// evaluate evaluates an expression; what cannot be evaluated is unknown. Limits stop an
// evaluation by a panic, because the library has no other way out of a running for
// expression.
func (s *scope) evaluate(e hclsyntax.Expression, from *source, f frame) (v cty.Value) {
	defer func() {
		if r := recover(); r != nil {
			stop, ok := r.(limitExceeded)
			if !ok {
				stop.what = "an expression could not be evaluated"
			}
			s.loader.report(Problem{Code: "too-complex", Path: from.name, Line: e.Range().Start.Line,
				Message: stop.what})
			v = cty.DynamicVal
		}
	}()
	if literal, ok := e.(*hclsyntax.LiteralValueExpr); ok {
		return literal.Val
	}
	v, diags := e.Value(s.newContext(e, from, f))
	if diags.HasErrors() {
		return cty.DynamicVal.WithMarks(s.referenceMarks(e, from, f))
	}
	return v
}

// referenceMarks returns the marks of the resources that an expression refers to, for one
// that could not be evaluated.
func (s *scope) referenceMarks(e hclsyntax.Expression, from *source, f frame) cty.ValueMarks {
	out := cty.ValueMarks{}
	for _, v := range s.newContext(e, from, f).Variables {
		_, marks := v.UnmarkDeep()
		for m := range marks {
			if _, ok := m.(refMark); ok {
				out[m] = struct{}{}
			}
		}
	}
	return out
}

// newContext returns the values of the names that the expression needs, and only of these.
func (s *scope) newContext(e hclsyntax.Expression, from *source, f frame) *hcl.EvalContext {
	needs := map[string]map[string]bool{}
	for _, t := range e.Variables() {
		words := rootWords(t)
		if len(words) == 0 {
			continue
		}
		if needs[words[0]] == nil {
			needs[words[0]] = map[string]bool{}
		}
		if len(words) > 1 {
			needs[words[0]][strings.Join(words[1:min(len(words), 3)], ".")] = true
		}
	}
	out := &hcl.EvalContext{Variables: map[string]cty.Value{}, Functions: s.functions}
	// In a fixed order, so that the same name of a cycle is told each time.
	for _, root := range slices.Sorted(maps.Keys(needs)) {
		names := needs[root]
		// Names of the instance come first: an iterator may be called like a resource type.
		if v, ok := f[root]; ok {
			out.Variables[root] = v
			continue
		}
		out.Variables[root] = s.rootValue(root, names, from)
	}
	return out
}

// rootValue returns the object that a root name stands for, with the asked names
// in it.
func (s *scope) rootValue(root string, names map[string]bool, from *source) cty.Value {
	object := map[string]cty.Value{}
	for _, name := range slices.Sorted(maps.Keys(names)) {
		first, rest, _ := strings.Cut(name, ".")
		switch root {
		case "var":
			object[first] = s.variableValue(first, from)
		case "local":
			object[first] = s.localValue(first, from)
		case "module":
			object[first] = s.moduleOutputs(first, from)
		case "path":
			object[first] = s.pathValue(first)
		// terraform.workspace is "default" unless somebody selects another.
		case "terraform":
			object[first] = cty.StringVal("default")
		case "data", "ephemeral":
			inner := map[string]cty.Value{}
			if old, ok := object[first]; ok {
				inner = old.AsValueMap()
			}
			inner[rest] = s.resourceValue(root+"."+first+"."+rest, from)
			object[first] = cty.ObjectVal(inner)
		case "each", "count", "self":
			return cty.DynamicVal
		default:
			object[first] = s.resourceValue(root+"."+first, from)
		}
	}
	if len(object) == 0 {
		return cty.DynamicVal
	}
	return cty.ObjectVal(object)
}

// pathValue returns path.module and its like, relative to the root module, as
// Terraform has them.
func (s *scope) pathValue(name string) cty.Value {
	if name != "module" {
		return cty.StringVal(".")
	}
	root, here := s.module.Root.Dir, s.module.Dir
	up := ""
	for root != "." && here != root && !strings.HasPrefix(here, root+"/") {
		root, up = path.Dir(root), up+"../"
	}
	rel := strings.TrimPrefix(strings.TrimPrefix(here, root), "/")
	if root == "." {
		rel = here
	}
	if rel == "" {
		rel = "."
	}
	return cty.StringVal(path.Clean(up + rel))
}
