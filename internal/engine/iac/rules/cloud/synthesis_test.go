package cloud

import (
	"strings"
	"testing"

	"merlon/internal/engine/iac/terraform"
	"merlon/internal/finding"
)

// Each rule of the tables is asked about a resource that keeps it and about one
// that breaks it, both made from the rule: a rule that nothing can keep, or that
// nothing can break, says nothing.
func TestEveryRuleCanBeKeptAndBroken(t *testing.T) {
	lib, err := loadAll()
	if err != nil {
		t.Fatal(err)
	}
	asked, all := 0, 0
	seen := map[*check]bool{}
	for kind, checks := range lib.checks {
		for _, c := range checks {
			if seen[c] || strings.HasPrefix(kind, "provider.") {
				continue
			}
			seen[c] = true
			all++
			good, bad, ok := c.examples()
			if !ok {
				continue
			}
			asked++
			if found := ask(c, kind, good); found != 0 {
				t.Errorf("%s is broken by what keeps it", c.rule.ID)
			}
			if found := ask(c, kind, bad); found != 1 {
				t.Errorf("%s tells %d flaws of what breaks it, want 1", c.rule.ID, found)
			}
		}
	}
	if asked*10 < all*6 {
		t.Errorf("only %d of %d rules were asked", asked, all)
	}
}

// ask returns how often the rule tells of the body.
func ask(c *check, kind string, body *terraform.Block) int {
	m := &terraform.Module{Dir: "."}
	m.Root = m
	r := &terraform.Resource{Address: kind + ".x", Type: kind, Name: "x", Body: body, Module: m}
	m.Resources = []*terraform.Resource{r}
	run := &checkRun{graph: newGraph(&terraform.Project{Modules: []*terraform.Module{m}}), seen: map[string]bool{}}
	run.checkSubject(c, &subject{resource: r, module: m, body: body, address: r.Address})
	return len(run.matches)
}

func newBlock(kind string) *terraform.Block {
	return &terraform.Block{Type: kind, Place: finding.Location{Path: "x.tf", StartLine: 1},
		Attributes: map[string]*terraform.Attribute{}}
}

// examples makes a body that keeps the rule, and one that breaks its first line.
// ok is false for rules whose patterns cannot be turned into texts, or whose lines
// speak of the same argument.
func (c *check) examples() (good, bad *terraform.Block, ok bool) {
	if len(c.with) > 0 || len(c.must) == 0 {
		return nil, nil, false
	}
	good, bad = newBlock("resource"), newBlock("resource")
	inGood, inBad := good, bad
	if c.each != nil {
		inGood, inBad = below(good, c.each), below(bad, c.each)
	}
	used := map[string]bool{}
	for i, one := range append(append([]*condition(nil), c.when...), c.must...) {
		keep, spoil, can := one.values()
		path := ""
		for _, s := range one.path {
			path += s.name + s.wanted + "."
		}
		for other := range used {
			if strings.HasPrefix(path, other) || strings.HasPrefix(other, path) {
				return nil, nil, false
			}
		}
		used[path] = true
		if !can {
			return nil, nil, false
		}
		g, b := inGood, inBad
		if one.root {
			g, b = good, bad
		}
		set(g, one.path, keep)
		if i == len(c.when) {
			keep = spoil
		}
		set(b, one.path, keep)
	}
	return good, bad, true
}

// values returns a value with which the condition holds, and one with which not.
func (c *condition) values() (keep, spoil any, ok bool) {
	const other = "zz"
	var not any = other
	if b, is := c.value.(bool); is {
		not = !b
	}
	switch c.op {
	case "present":
		return other, nil, c.absent == nil
	case "absent":
		return nil, other, true
	case "==":
		return plain(c.value), not, true
	case "!=":
		return not, plain(c.value), true
	case "in":
		return plain(c.value.([]any)[0]), other, true
	case "notin":
		return other, plain(c.value.([]any)[0]), true
	case ">=", "<=":
		n, is := plain(c.value).(float64)
		if c.op == ">=" {
			return n, n - 1, is
		}
		return n, n + 1, is
	case "has":
		return []any{plain(c.value)}, []any{other}, true
	case "lacks":
		return []any{other}, []any{plain(c.value)}, true
	}
	return nil, nil, false
}

// plain gives numbers the type that the evaluator has.
func plain(v any) any {
	if n, ok := v.(int); ok {
		return float64(n)
	}
	return v
}

// below returns the block that the path leads to, made where it is absent.
func below(b *terraform.Block, path []step) *terraform.Block {
	for _, s := range path {
		var next *terraform.Block
		for _, inner := range b.Blocks {
			if inner.Type == s.name && (s.key == "" || inner.Value(s.key) == s.wanted) {
				next = inner
			}
		}
		if next == nil {
			next = newBlock(s.name)
			if s.key != "" {
				set(next, []step{{name: s.key}}, s.wanted)
			}
			b.Blocks = append(b.Blocks, next)
		}
		b = next
	}
	return b
}

// set writes a value; nil leaves the argument out.
func set(b *terraform.Block, path []step, v any) {
	if v == nil {
		if len(path) > 1 {
			below(b, path[:len(path)-1])
		}
		return
	}
	last := path[len(path)-1]
	b = below(b, path[:len(path)-1])
	b.Attributes[last.name] = &terraform.Attribute{Name: last.name, Value: v,
		Place: finding.Location{Path: "x.tf", StartLine: 2}}
}
