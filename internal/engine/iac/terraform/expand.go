package terraform

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"merlon/internal/finding"
)

// This file makes instances: of resources by count and for_each, of modules, and
// of blocks by dynamic blocks.

// instance is one turn of count or for_each.
type instance struct {
	suffix string // "[0]"
	// a number of count, a text of for_each; NilVal for the only instance
	index cty.Value
	// the names "count" or "each"
	frame frame
}

// expandInstances evaluates count and for_each. known is false when their value is not:
// there is then one instance, which stands for all.
func (s *scope) expandInstances(b *block) (list []instance, kind string, known bool) {
	if a := b.attributeOf("count"); a != nil {
		v := s.evaluate(a.expr, a.fileIn(b), nil)
		n, ok := intOf(v)
		if !ok {
			unknown := cty.ObjectVal(map[string]cty.Value{"index": cty.UnknownVal(cty.Number)})
			return []instance{{frame: frame{"count": unknown}}}, "count", false
		}
		// The first instances show what the others do; "count = 1000000" must not take the memory.
		if n > maxInstances {
			s.loader.report(Problem{Code: "too-complex", Path: a.fileIn(b).name, Line: a.where.Start.Line,
				Message: fmt.Sprintf("count is %d: the first %d instances were analyzed", n, maxInstances)})
			n = maxInstances
		}
		for i := range n {
			index := cty.NumberIntVal(int64(i))
			list = append(list,
				instance{"[" + strconv.Itoa(i) + "]", index,
					frame{"count": cty.ObjectVal(map[string]cty.Value{"index": index})}})
		}
		return list, "count", true
	}
	if a := b.attributeOf("for_each"); a != nil {
		pairs, ok := s.forEachPairs(s.evaluate(a.expr, a.fileIn(b), nil), b)
		if !ok {
			return []instance{{frame: eachFrame(cty.UnknownVal(cty.String), cty.DynamicVal)}}, "for_each", false
		}
		for _, p := range pairs {
			list = append(list, instance{fmt.Sprintf("[%q]", p.name), cty.StringVal(p.name), eachFrame(p.key, p.value)})
		}
		return list, "for_each", true
	}
	return []instance{{frame: frame{}}}, "", true
}

// eachFrame returns the names that for_each defines for one element.
func eachFrame(key, value cty.Value) frame {
	return frame{"each": cty.ObjectVal(map[string]cty.Value{"key": key, "value": value})}
}

// pair is one element that for_each goes over.
type pair struct {
	// the key as in the address: aws_instance.web["name"]
	name       string
	key, value cty.Value
}

// forEachPairs returns the elements of the value of for_each, and false when they are not
// known.
func (s *scope) forEachPairs(v cty.Value, b *block) ([]pair, bool) {
	v, marks := v.Unmark()
	if !v.IsKnown() || v.IsNull() || !v.CanIterateElements() {
		return nil, false
	}
	if _, ok := marks[symbolicMark{}]; ok && !hasPlaceholder(plainOf(v).value) {
		return nil, false
	}
	delete(marks, symbolicMark{})
	var out []pair
	for it := v.ElementIterator(); it.Next(); {
		if len(out) == maxInstances {
			s.loader.report(Problem{Code: "too-complex", Path: b.source.name, Line: b.header.Start.Line,
				Message: fmt.Sprintf("for_each has more than %d elements: the first were analyzed", maxInstances)})
			break
		}
		k, e := it.Element()
		if v.Type().IsSetType() {
			// The key of an element of a set is the element itself.
			k = e
		}
		plainKey, _ := k.Unmark()
		// Terraform rejects such keys: they would be addresses of resources.
		if !plainKey.IsKnown() || plainKey.IsNull() {
			return nil, false
		}
		name := ""
		switch plainKey.Type() {
		case cty.String:
			name = plainKey.AsString()
		case cty.Number:
			name = plainKey.AsBigFloat().Text('f', -1)
		default:
			return nil, false
		}
		out = append(out, pair{name, k.WithMarks(marks), e.WithMarks(marks)})
	}
	return out, true
}

// resourceValue returns the value of a resource, all instances of it.
func (s *scope) resourceValue(key string, from *source) cty.Value {
	n, ok := pickDeclaration(s.nodes[key], func(n *node) *source { return n.block.source }, from)
	if !ok {
		return cty.DynamicVal
	}
	s.expandResource(n)
	return n.value
}

// expandResource evaluates a resource, at most once. A resource that refers to itself is
// reported as a cycle and is unknown.
func (s *scope) expandResource(n *node) {
	if n.busy {
		s.loader.report(Problem{Code: "cycle", Path: n.block.source.name, Line: n.block.header.Start.Line,
			Message: n.address + " needs itself"})
	}
	if n.busy || n.done {
		return
	}
	// The value is set before the body is evaluated: a reference to itself finds it unknown.
	n.busy, n.value = true, cty.DynamicVal
	list, kind, _ := s.expandInstances(n.block)
	var values []cty.Value
	objects := map[string]cty.Value{}
	for _, in := range list {
		if s.loader.resources++; s.loader.resources > maxResources || s.loader.ctx.Err() != nil {
			s.loader.report(Problem{Code: "too-complex", Path: n.block.source.name, Line: n.block.header.Start.Line,
				Message: fmt.Sprintf("there are more than %d resources", maxResources)})
			break
		}
		// "self" is only known in provisioners, after the resource exists.
		in.frame["self"] = cty.DynamicVal
		r := &Resource{Address: n.address + in.suffix, Type: n.block.labels[0], Name: n.block.labels[1], Data: n.data,
			Module: s.module, declaration: n}
		b := &blockBuilder{scope: s, values: map[string]cty.Value{}}
		r.Body = b.buildBlock(n.block, in.frame, true)
		n.instances = append(n.instances, r)
		v := s.resourceObject(n, r, b.values)
		values = append(values, v)
		if kind == "for_each" && in.index != cty.NilVal {
			objects[in.index.AsString()] = v
		}
	}
	n.busy, n.done = false, true
	switch {
	// count makes a list of the resource, for_each a map, and neither of them a single object.
	case kind == "" && len(values) == 1:
		n.value = values[0]
	case kind == "count":
		n.value = cty.TupleVal(values)
	case kind == "for_each" && len(objects) == len(values):
		n.value = cty.ObjectVal(objects)
	}
}

// secretNames lists the attributes that providers treat as secrets: their schemas mark
// them as sensitive.
var secretNames = map[string]bool{"password": true, "master_password": true, "admin_password": true,
	"administrator_login_password": true, "secret_string": true,
	"private_key": true, "private_key_pem": true, "private_key_openssh": true, "secret": true, "client_secret": true,
	"secret_access_key": true, "auth_token": true,
	"primary_access_key": true, "secondary_access_key": true, "primary_connection_string": true,
	"kube_config_raw": true, "secret_data": true, "ses_smtp_password_v4": true,
	"admin_pass": true, "root_password": true, "master_user_password": true, "authentication_token": true}

// resourceObject makes the value of an instance: its arguments, and placeholders for
// attributes that others read and only the provider knows.
func (s *scope) resourceObject(n *node, r *Resource, values map[string]cty.Value) cty.Value {
	if r.Data && r.Type == "aws_iam_policy_document" {
		values["json"] = policyDocument(r)
	}
	// Known after apply: the placeholder "${aws_s3_bucket.logs.arn}" still says what is meant, so
	// references can be followed.
	for _, name := range []string{"id", "arn", "name"} {
		if _, ok := values[name]; !ok {
			values[name] = placeholder(n.key + "." + name)
		}
	}
	for name, further := range s.deep[n.key] {
		if _, ok := values[name]; ok || name == "" {
			continue
		}
		// An attribute of which members are read is an object; a text as placeholder would be an
		// error.
		values[name] = cty.DynamicVal
		if !further {
			values[name] = placeholder(n.key + "." + name)
		}
	}
	for name, v := range values {
		// The mark travels with the value into everything that is made of it.
		if secretNames[name] || r.Type == "random_password" && (name == "result" || name == "bcrypt_hash") {
			values[name] = v.Mark(sensitiveMark{})
		}
	}
	return cty.ObjectVal(values).Mark(refMark{r})
}

// blockBuilder evaluates the body of a block.
type blockBuilder struct {
	scope  *scope
	values map[string]cty.Value // of the outermost block's attributes
}

// metaArguments lists the arguments that are Terraform's own.
var metaArguments = map[string]bool{"count": true, "for_each": true, "depends_on": true, "provider": true,
	"providers": true}

// buildBlock evaluates a block and its nested blocks. Arguments of Terraform's own (count,
// depends_on) have no value for rules.
func (b *blockBuilder) buildBlock(from *block, f frame, outer bool) *Block {
	out := &Block{Type: from.kind, Labels: from.labels, Place: from.source.locationOf(from.header),
		Attributes: map[string]*Attribute{}}
	for i := range from.attributes {
		a := &from.attributes[i]
		if outer && metaArguments[a.name] {
			out.Attributes[a.name] = &Attribute{Name: a.name, Value: Unknown{},
				Place: a.fileIn(from).locationOf(a.whole),
				expr:  &expression{a, a.fileIn(from), nil}}
			continue
		}
		v := b.scope.evaluate(a.expr, a.fileIn(from), f)
		// Large values, such as whole files by file(), are of no use to rules.
		if estimateSize(v, maxValue) >= maxValue {
			v = cty.DynamicVal
		}
		if outer {
			b.values[a.name] = v
		}
		out.Attributes[a.name] = b.buildAttribute(a, a.fileIn(from), v, f)
	}
	for _, inner := range from.blocks {
		if inner.kind == "dynamic" && len(inner.labels) == 1 {
			b.addDynamic(out, inner, f)
			continue
		}
		out.Blocks = append(out.Blocks, b.buildBlock(inner, f, false))
	}
	if outer {
		b.exposeBlocks(out)
	}
	return out
}

// exposeBlocks makes the nested blocks that other expressions read known by name. Their
// content is unknown: providers disagree on how they show it.
func (b *blockBuilder) exposeBlocks(out *Block) {
	for _, inner := range out.Blocks {
		if _, ok := b.values[inner.Type]; !ok {
			b.values[inner.Type] = cty.DynamicVal
		}
	}
}

// buildAttribute converts an evaluated argument.
func (b *blockBuilder) buildAttribute(a *attribute, from *source, v cty.Value, f frame) *Attribute {
	p := plainOf(v)
	return &Attribute{Name: a.name, Value: p.value, Refs: p.refs, Sensitive: p.sensitive,
		Place: from.locationOf(a.whole),
		expr:  &expression{a, from, f}}
}

// expression is where an attribute came from.
type expression struct {
	*attribute
	source *source
	frame  frame // the names of the instance, and of the dynamic blocks around it
}

// addDynamic adds the blocks that a dynamic block generates. When the number is not known,
// one block stands for them and is marked as unsure.
func (b *blockBuilder) addDynamic(to *Block, d *block, f frame) {
	var content *block
	for _, inner := range d.blocks {
		if inner.kind == "content" {
			content = inner
		}
	}
	each := d.attributeOf("for_each")
	if content == nil || each == nil {
		return
	}
	// The iterator is named after the block unless "iterator" says otherwise.
	iterator := d.labels[0]
	if a := d.attributeOf("iterator"); a != nil {
		if word := hcl.ExprAsKeyword(a.expr); word != "" {
			iterator = word
		}
	}
	made := &block{kind: d.labels[0], source: d.source, header: d.header, attributes: content.attributes,
		blocks: content.blocks}
	add := func(key, value cty.Value, unsure bool) {
		inner := frame{}
		for k, v := range f {
			inner[k] = v
		}
		inner[iterator] = cty.ObjectVal(map[string]cty.Value{"key": key, "value": value})
		one := b.buildBlock(made, inner, false)
		one.Unsure = unsure
		to.Blocks = append(to.Blocks, one)
	}
	pairs, ok := b.scope.dynamicElements(b.scope.evaluate(each.expr, d.source, f), d)
	if !ok {
		if to.Open == nil {
			to.Open = map[string]bool{}
		}
		to.Open[d.labels[0]] = true
		// One block shows what is the same in all: its constant arguments are checked.
		add(cty.DynamicVal, cty.DynamicVal, true)
		return
	}
	for _, p := range pairs {
		if b.scope.loader.blocks++; b.scope.loader.blocks > maxBodyBlocks {
			b.scope.loader.report(Problem{Code: "too-complex", Path: d.source.name, Line: d.header.Start.Line,
				Message: fmt.Sprintf("dynamic blocks make more than %d blocks", maxBodyBlocks)})
			return
		}
		add(p.key, p.value, false)
	}
}

// dynamicElements is forEachPairs for a dynamic block, whose elements need no names.
func (s *scope) dynamicElements(v cty.Value, b *block) ([]pair, bool) {
	v, marks := v.Unmark()
	if !v.IsKnown() || v.IsNull() || !v.CanIterateElements() {
		return nil, v.IsKnown() && v.IsNull()
	}
	if _, ok := marks[symbolicMark{}]; ok && !hasPlaceholder(plainOf(v).value) {
		return nil, false
	}
	delete(marks, symbolicMark{})
	var out []pair
	for it := v.ElementIterator(); it.Next() && len(out) < maxInstances; {
		k, e := it.Element()
		if v.Type().IsSetType() {
			k = e
		}
		out = append(out, pair{"", k.WithMarks(marks), e.WithMarks(marks)})
	}
	return out, true
}

// moduleOutputs returns the outputs of a module block, all instances of it.
func (s *scope) moduleOutputs(name string, from *source) cty.Value {
	b, ok := pickDeclaration(s.calls[name], blockFile, from)
	if !ok {
		return cty.DynamicVal
	}
	if v, ok := s.children[b]; ok {
		return v
	}
	s.children[b] = cty.DynamicVal // a module that needs its own outputs has none
	target := s.calledFolder(b)
	if target == nil {
		return cty.DynamicVal
	}
	list, kind, known := s.expandInstances(b)
	var values []cty.Value
	objects := map[string]cty.Value{}
	for _, in := range list {
		v := s.evaluateCall(target, b, in)
		values = append(values, v)
		if in.index != cty.NilVal && kind == "for_each" {
			objects[in.index.AsString()] = v
		}
	}
	switch {
	case kind == "" && len(values) == 1:
		s.children[b] = values[0]
	case kind == "count":
		s.children[b] = cty.TupleVal(values)
	case known:
		s.children[b] = cty.ObjectVal(objects)
	}
	return s.children[b]
}

// evaluateCall evaluates one instance of a module and returns its outputs. They are
// evaluated now, so that nothing of the caller is needed afterwards.
func (s *scope) evaluateCall(target *folder, b *block, in instance) cty.Value {
	if len(s.module.Calls) >= maxCalls || len(s.loader.project.Modules) >= maxModules {
		s.loader.report(Problem{Code: "too-complex", Path: b.source.name, Line: b.header.Start.Line,
			Message: "modules call each other too deeply or too often"})
		return cty.DynamicVal
	}
	m := &Module{Dir: target.dir, Address: "module." + b.labels[0] + in.suffix, Root: s.module.Root}
	if s.module.Address != "" {
		m.Address = s.module.Address + "." + m.Address
	}
	m.Calls = append(slices.Clone(s.module.Calls), Call{Name: b.labels[0], Place: b.source.locationOf(b.header)})
	child := s.loader.newScope(target, m, s)
	child.use = b
	for _, a := range b.attributes {
		if a.name != "source" && a.name != "version" && !metaArguments[a.name] {
			child.given[a.name] = s.evaluate(a.expr, a.fileIn(b), in.frame)
		}
	}
	outputs := map[string]cty.Value{}
	for _, name := range slices.Sorted(maps.Keys(child.outputs)) {
		list := child.outputs[name]
		if a := list[0].attributeOf("value"); a != nil {
			outputs[name] = child.evaluate(a.expr, a.fileIn(list[0]), nil)
			if estimateSize(outputs[name], maxValue) >= maxValue {
				outputs[name] = cty.DynamicVal
			}
		}
	}
	// Outputs were evaluated first, and with them what they need; now the rest.
	child.evaluateRest()
	return cty.ObjectVal(outputs)
}

// calledFolder returns the folder of a called module, or nil after it reported why there
// is none.
func (s *scope) calledFolder(b *block) *folder {
	where := localSource(s.folder.dir, b)
	if where == "" {
		where = s.loader.installedModule(s.module, b)
	}
	to := s.loader.dirs[where]
	switch {
	case to != nil && len(to.files) > 0:
		// A folder that is its own ancestor would be expanded without end.
		for p := s; p != nil; p = p.parent {
			if p.folder == to {
				s.loader.report(Problem{Code: "cycle", Path: b.source.name, Line: b.header.Start.Line,
					Message: "module " + b.labels[0] + " calls itself"})
				return nil
			}
		}
		return to
	case where != "":
		s.loader.report(Problem{Code: "unavailable", Path: b.source.name, Line: b.header.Start.Line,
			Message: "module " + b.labels[0] + ": the folder " + where + " contains no Terraform"})
	case b.attributeOf("source") != nil:
		s.loader.report(Problem{Code: "unavailable", Path: b.source.name, Line: b.header.Start.Line,
			Message: "module " + b.labels[0] + " is not part of the tree, and nothing is fetched"})
	}
	return nil
}

// evaluateRest evaluates everything that no expression referred to.
func (s *scope) evaluateRest() {
	m := s.module
	for _, f := range s.folder.files {
		for _, b := range f.blocks {
			switch b.kind {
			case "resource", "data", "ephemeral":
			case "module":
				if len(b.labels) > 0 {
					s.moduleOutputs(b.labels[0], b.source)
				}
				m.Others = append(m.Others, s.plainBlock(b))
			case "output":
				out := s.plainBlock(b)
				m.Others = append(m.Others, out)
				if len(b.labels) > 0 {
					o := &Output{Name: b.labels[0], Body: out, Value: out.Attributes["value"]}
					if a := out.Attributes["sensitive"]; a != nil {
						o.Sensitive = a.Value == true
					}
					m.Outputs = append(m.Outputs, o)
				}
			case "provider":
				out := s.evaluateProvider(b)
				m.Providers = append(m.Providers, out)
				m.Others = append(m.Others, out)
			default:
				m.Others = append(m.Others, s.plainBlock(b))
			}
		}
	}
	for _, n := range s.order {
		s.expandResource(n)
		s.addDefaultTags(n)
		m.Resources = append(m.Resources, n.instances...)
	}
	sortResources(m.Resources)
}

// plainBlock evaluates a block that is not a resource.
func (s *scope) plainBlock(b *block) *Block {
	build := &blockBuilder{scope: s, values: map[string]cty.Value{}}
	return build.buildBlock(b, frame{}, b.kind == "module")
}

// sortResources puts resources in the order of their places, then addresses.
func sortResources(list []*Resource) {
	slices.SortFunc(list, func(a, b *Resource) int {
		return cmp.Or(compareBlocks(a.Body, b.Body), cmp.Compare(a.Address, b.Address))
	})
}

// compareBlocks orders blocks by position.
func compareBlocks(a, b *Block) int {
	if a == nil || b == nil {
		return 0
	}
	return compareLocations(a.Place, b.Place)
}

// compareLocations orders locations by file, line and column.
func compareLocations(a, b finding.Location) int {
	return cmp.Or(cmp.Compare(a.Path, b.Path), cmp.Compare(a.StartLine, b.StartLine),
		cmp.Compare(a.StartColumn, b.StartColumn))
}
