package template

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"merlon/internal/engine/iac/document"
)

// Loops are what they make, what is not deployed is gone, and what nobody knows is marked.
func TestCopies(t *testing.T) {
	tree := decode(t, `$schema: https://schema.management.azure.com/schemas/2019-04-01/deploymentTemplate.json#
parameters:
  open: {type: string}
  on: {type: bool, defaultValue: false}
  pw: {type: securestring, defaultValue: hunter22}
  rules: {type: array, defaultValue: [{port: 22, from: "*"}, {port: 443, from: office}]}
variables:
  copy:
  - name: made
    count: 2
    input: {n: "[copyIndex('made', 1)]"}
  disks: {copy: [{name: list, count: 2, input: "[concat('d', copyIndex('list'))]"}]}
resources:
- type: A
  name: "[concat('a', copyIndex())]"
  copy: {name: all, count: "[length(parameters('rules'))]"}
  properties:
    port: "[parameters('rules')[copyIndex()].port]"
    from: "[parameters('rules')[copyIndex('all')].from]"
- type: B
  name: b
  copy: {name: some, count: "[parameters('open')]"}
  properties:
    i: "[copyIndex()]"
    tls: "[parameters('open')]"
    pw: "[parameters('pw')]"
    id: "[reference('x').id]"
    choice: "[if(equals(parameters('open'), 'x'), 'a', 'b')]"
    plain: TLS1_0
    made: "[variables('made')]"
    disks: "[variables('disks').list]"
    partly: "[variables('none')]"
- type: C
  name: c
  condition: "[parameters('on')]"
- type: D
  name: d
  condition: "[parameters('open')]"
  properties:
    copy:
    - name: rules
      count: "[length(parameters('rules'))]"
      input: {port: "[parameters('rules')[copyIndex('rules')].port]", n: "[copyIndex('rules', 10)]"}
    - name: more
      count: "[parameters('open')]"
      input: {n: "[copyIndex('more')]"}
    kept: 1
- type: E
  name: e
  copy: {name: no, count: 0}
- type: F
  name: f
  copy: {name: many, count: 100}
`)
	before := fmt.Sprint(tree.Root)
	got := Evaluate(File{Platform: document.ARM, Path: "x.json", Tree: tree, Source: none}).Tree
	if fmt.Sprint(tree.Root) != before {
		t.Error("the given tree was changed")
	}
	count := map[string]int{}
	var show []string
	for i, r := range got.Root["resources"].([]any) {
		m := r.(map[string]any)
		count[m["type"].(string)]++
		n, found := got.Lines.Find("resources", fmt.Sprint(i), "properties")
		if properties, ok := m["properties"].(map[string]any); ok && found == 3 {
			show = append(show, fmt.Sprintf("%v %v", m["type"], marked(properties, n)))
		}
	}
	if diff := cmp.Diff(map[string]int{"A": 2, "B": 1, "D": 1, "F": maxTurns}, count); diff != "" {
		t.Errorf("resources (-want +got):\n%s", diff)
	}
	want := []string{
		"A map[from:* port:22]", "A map[from:office port:443]",
		"B map[choice:? disks:[d0 d1] i:? id:? made:[map[n:1] map[n:2]] partly:? plain:TLS1_0 " +
			"pw:[parameters('pw')] tls:?]",
		"D map[kept:1 more:[map[n:?]] rules:[map[n:10 port:22] map[n:11 port:443]]]",
	}
	if diff := cmp.Diff(want, show); diff != "" {
		t.Errorf("properties (-want +got):\n%s", diff)
	}
	for _, c := range []struct {
		path []string
		line int
	}{
		{[]string{"resources", "1", "properties", "from"}, 19},
		{[]string{"resources", "3", "properties", "rules", "1", "port"}, 43},
		{[]string{"resources", "3", "properties", "rules"}, 43},
	} {
		if n, found := got.Lines.Find(c.path...); found != len(c.path) || n.Line != c.line {
			t.Errorf("%v stands in line %d after %d steps, want %d", c.path, n.Line, found, c.line)
		}
	}
}

// marked shows "?" for what is not known.
func marked(v any, n *document.Node) any {
	if n == nil {
		return "no place"
	}
	if n.Unknown {
		return "?"
	}
	switch v := v.(type) {
	case map[string]any:
		out := map[string]any{}
		for key, e := range v {
			out[key] = marked(e, n.Fields[key])
		}
		return out
	case []any:
		var out []any
		for i, e := range v {
			out = append(out, marked(e, itemNode(n, i)))
		}
		return out
	}
	return v
}

// Loops in loops are bounded.
func TestCopiesGrow(t *testing.T) {
	text := "x"
	for i := range 12 {
		text = fmt.Sprintf("{type: T, name: n, copy: {name: l%d, count: 16}, resources: [%s]}", i, text)
	}
	evaluate(document.ARM, decode(t, "$schema: x\nresources: ["+text+"]\n"), "x", none)
}
