package ansible

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"merlon/internal/engine/iac/document"
)

// testScope returns a scope of a few variables of all types.
func testScope() *scope {
	return &scope{open: map[string]bool{}, budget: &budget{left: 10_000}, layers: []layer{
		{"maybe": {value: "a", maybe: true}, "same": {value: "s", maybe: true}},
		certainLayer(map[string]any{
			"text": " Word ", "n": int64(7), "f": 1.5, "yes": true, "no": false, "nothing": nil, "blank": "",
			"digits": "12", "list": []any{"a", "{{ n }}", map[string]any{"k": "v"}},
			"map":   map[string]any{"a": "{{ text }}", "b-c": int64(1), "deep": map[string]any{"x": []any{"y"}}},
			"maybe": "b", "same": "s", "self": "{{ self }}", "one": "{{ two }}", "two": "{{ one }}",
			"hidden": document.Unknown{}, "half": map[string]any{"known": "k", "not": document.Unknown{}},
			"password": "hunter2", "api_key": "k", "templated": map[string]any{"t": "{{ hidden }}"},
		}),
	}}
}

// TestExpressions computes literals, variables, their members and filters.
func TestExpressions(t *testing.T) {
	for text, want := range map[string]any{
		`'a'`: "a", `"a b"`: "a b", `5`: int64(5), `-3`: int64(-3), `1.50`: "1.50", `true`: true, `False`: false,
		`None`: nil, ` text `: " Word ", `n`: int64(7), `f`: 1.5, `nothing`: nil,
		`list[0]`: "a", `list[1]`: int64(7), `list[2].k`: "v", `list[2]['k']`: "v",
		`map.a`: " Word ", `map['b-c']`: int64(1), `map["deep"].x[0]`: "y",
		`same`:         "s",
		`text | lower`: " word ", `text | upper`: " WORD ", `text|trim`: "Word", `text | trim | lower`: "word",
		`n | string`: "7", `digits | int`: int64(12), `f | string`: "1.5", `yes | string`: "True",
		`no | upper`:   "FALSE",
		`'yes' | bool`: true, `'ON' | bool`: true, `'1' | bool`: true, `'no' | bool`: false, `'' | bool`: false,
		`0 | bool`: false, `text | mandatory`: " Word ",
		`absent | default('d')`: "d", `absent | d(5)`: int64(5), `absent | default(n)`: int64(7),
		`text | default('d')`: " Word ", `blank | default('d')`: "", `blank | default('d', true)`: "d",
		`no | default('d', True)`: "d", `nothing | default('d', true)`: "d", `text | default('d', true)`: " Word ",
		`map.absent | default('d')`: "d", `absent.field | default('d')`: "d", `absent | default('A') | lower`: "a",
	} {
		if got, ok := testScope().computeExpression(text); !ok || got != want {
			t.Errorf("%s is %#v (known: %v), want %#v", text, got, ok, want)
		}
	}
	for _, text := range []string{
		``, `absent`, `hidden`, `half`, `half.known`, `half.not`, `map . a`, `templated`, `templated.t`, `maybe`, `self`, `one`, `map.absent`,
		`list[9]`, `list[-1]`, `list.a`, `text.a`, `n[0]`, `map[0]`, `password`, `api_key`, `password | default('d')`,
		`hidden | default('d')`, `absent | default(omit)`, `absent | default(a + b)`, `absent | lower`,
		`absent | mandatory`, `text | int`, `'maybe' | bool`, `list | lower`, `map | string`, `text | length`,
		`text | lower('x')`, `text | replace('a', 'b')`, `n + 1`, `n if yes else 5`, `'open`, `"a\"b"`, `(n)`, `[n]`,
		`lookup('env', 'HOME')`, `text |`, `| lower`, `text lower`,
	} {
		if got, ok := testScope().computeExpression(text); ok {
			t.Errorf("%s is %#v, want not known", text, got)
		}
	}
}

// TestTexts puts values into texts; one that is all placeholder keeps its type.
func TestTexts(t *testing.T) {
	for text, want := range map[string]any{
		"plain": "plain", "a-{{ n }}-{{ f }}": "a-7-1.5", "{{ n }}": int64(7), " {{ yes }} ": true,
		"x{{ yes }}":   "xTrue",
		"{{- text -}}": " Word ", "{{ n }}{{ digits }}": "712", "{{ list[2] }}": map[string]any{"k": "v"},
		"{{ n\n }}": int64(7), "{{ 'a' }}{{ 'b' }}": "ab",
	} {
		got, ok := testScope().computeText(text)
		if diff := cmp.Diff(want, got); diff != "" || !ok {
			t.Errorf("%q (known: %v, -want +got):\n%s", text, ok, diff)
		}
	}
	for _, text := range []string{"{% if yes %}a{% endif %}", "{# note #}", "a{{ absent }}", "a{{ list }}",
		"a{{ map }}",
		"{{ hidden }}", "x{{ nothing }}"} {
		if got, ok := testScope().computeText(text); ok {
			t.Errorf("%q is %#v, want not known", text, got)
		}
	}
	long := &scope{open: map[string]bool{}, budget: &budget{left: 100}, layers: []layer{
		certainLayer(map[string]any{"x": strings.Repeat("a", 1<<16)})}}
	if _, ok := long.computeText("-" + strings.Repeat("{{ x }}", 100)); ok {
		t.Error("a text of 6 MB was made")
	}
}

// TestLimits ends values that hold each other and those that cost too much.
func TestLimits(t *testing.T) {
	values := map[string]any{"v0": "x"}
	for i := 1; i <= 40; i++ {
		values[fmt.Sprintf("v%d", i)] = fmt.Sprintf("{{ v%d }}", i-1)
	}
	s := &scope{open: map[string]bool{}, budget: &budget{left: 10_000}, layers: []layer{certainLayer(values)}}
	if got, ok := s.computeExpression("v10"); !ok || got != "x" {
		t.Errorf("ten variables made of others: %v, %v", got, ok)
	}
	if got, ok := s.computeExpression("v40"); ok {
		t.Errorf("forty variables made of others: %v", got)
	}
	if len(s.open) != 0 || s.budget.depth != 0 {
		t.Errorf("%d variables are open still, depth %d", len(s.open), s.budget.depth)
	}
	// Each variable names the one before it twice: 2^18 values.
	wide := map[string]any{"w0": "x"}
	for i := 1; i < 19; i++ {
		wide[fmt.Sprintf("w%d", i)] = fmt.Sprintf("{{ w%d }}{{ w%d }}", i-1, i-1)
	}
	s = &scope{open: map[string]bool{}, budget: &budget{left: 1000}, layers: []layer{certainLayer(wide)}}
	if _, ok := s.computeExpression("w18"); ok {
		t.Error("a value was computed that costs more than is left")
	}
}

// TestScopes takes the strongest layer that holds a variable.
func TestScopes(t *testing.T) {
	base := &scope{open: map[string]bool{}, budget: &budget{left: 1000},
		layers: []layer{certainLayer(map[string]any{"a": "base", "b": "base"})}}
	inner := base.withLayers(certainLayer(map[string]any{"a": "inner"}), nil)
	weak := inner.withDefaults(certainLayer(map[string]any{"a": "default", "c": "default"}))
	for _, c := range []struct {
		s    *scope
		name string
		want any
		is   state
	}{
		{base, "a", "base", known}, {inner, "a", "inner", known}, {inner, "b", "base", known},
		{weak, "a", "inner", known},
		{weak, "c", "default", known}, {base, "c", nil, undefined}, {inner, "token", nil, unknown},
		{&scope{hidden: true, open: map[string]bool{}, budget: base.budget}, "c", nil, unknown},
		{base.withLayers(layer{"a": {value: "other", maybe: true}}), "a", nil, unknown},
		{base.withLayers(layer{"a": {value: "base", maybe: true}}), "a", "base", known},
		{base.withLayers(layer{"z": {value: "other", maybe: true}}), "z", nil, unknown},
		{base.withLayers(layer{"a": {value: document.Unknown{}}}), "a", nil, unknown},
	} {
		if got, is := c.s.variableValue(c.name); got != c.want || is != c.is {
			t.Errorf("%s: %v in state %d, want %v in state %d", c.name, got, is, c.want, c.is)
		}
	}
}

// TestLoops makes a scope for each item of a list that is known.
func TestLoops(t *testing.T) {
	for text, want := range map[string][]any{
		"m: {x: '{{ item }}'}\nloop: [a, 5]":                                               {"a", int64(5)},
		"m: {x: '{{ item }}'}\nwith_items: '{{ list[0] }}'":                                {nil},
		"m: {x: '{{ item.k }}'}\nwith_list: [{k: v}]":                                      {map[string]any{"k": "v"}},
		"m: {x: '{{ item }}'}\nwith_dict: {a: b}":                                          {nil},
		"m: {x: '{{ item }}'}\nloop: []":                                                   {nil},
		"m: {x: '{{ item }}'}\nloop: [a, '{{ absent }}']":                                  {nil},
		"m: {x: y}\nloop: [a, b]":                                                          {nil},
		"m: {x: '{{ item }}'}":                                                             {nil},
		"m: {x: '{{ i }}', item: '{{ item }}'}\nloop: [a]\nloop_control: {loop_var: item}": {"a"},
	} {
		trees, err := document.DecodeYAML([]byte(text))
		if err != nil {
			t.Fatal(err)
		}
		var got []any
		for _, s := range loopScopes(trees[0].Root, trees[0].Lines, testScope()) {
			v, _ := s.variableValue("item")
			if n, ok := v.(float64); ok {
				v = int64(n)
			}
			got = append(got, v)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", text, diff)
		}
	}
}

// TestArguments reads the arguments of modules, given as a map or as one text.
func TestArguments(t *testing.T) {
	for _, c := range []struct {
		v    any
		keys []string
		want string
	}{
		{map[string]any{"file": "a.yml"}, []string{"file"}, "a.yml"},
		{map[string]any{"_raw_params": "b.yml"}, []string{"file", "_raw_params"}, "b.yml"},
		{map[string]any{"file": 5}, []string{"file"}, ""},
		{"a.yml", []string{"file"}, "a.yml"},
		{"file=a.yml name='b c'", []string{"file"}, "a.yml"},
		{`dest=/x src="t.j2"`, []string{"src"}, "t.j2"},
		{"dest=/x mode=1", []string{"src"}, ""},
		{"{{ a }}={{ b }}", []string{"src"}, "{{ a }}={{ b }}"},
		{nil, []string{"src"}, ""}, {[]any{"x"}, []string{"src"}, ""},
	} {
		if got := argumentText(c.v, c.keys...); got != c.want {
			t.Errorf("%v: %q, want %q", c.v, got, c.want)
		}
	}
	task := map[string]any{"ansible.builtin.template": map[string]any{"src": "x"}, "copy": "y"}
	n := &document.Node{Fields: map[string]*document.Node{"ansible.builtin.template": {Line: 2}, "copy": {Line: 3}}}
	if module, _, at := moduleCall(task, n, "file", "template"); module != "template" || at.Line != 2 {
		t.Errorf("the task calls %s at line %v", module, at)
	}
	if module, _, _ := moduleCall(task, n, "file"); module != "" {
		t.Errorf("the task calls %s, want nothing", module)
	}
}

// TestMark marks the values of a rendered template that blanks stand in.
func TestMark(t *testing.T) {
	trees, err := document.DecodeYAML([]byte("a: x-" + Blank + "\nb: [y, " + Blank + "]\nc: {d: z}\n"))
	if err != nil {
		t.Fatal(err)
	}
	n := Mark(trees[0].Root, trees[0].Lines)
	got := []bool{n.Fields["a"].Unknown, n.Fields["b"].Items[0].Unknown, n.Fields["b"].Items[1].Unknown,
		n.Fields["c"].Fields["d"].Unknown}
	if diff := cmp.Diff([]bool{true, false, true, false}, got); diff != "" {
		t.Errorf("marks (-want +got):\n%s", diff)
	}
	if trees[0].Lines.Fields["a"].Unknown || Mark("x", nil) != nil {
		t.Error("the given node was changed, or one was made of nothing")
	}
}

// TestInfrastructureNames tells templates that may be manifests, Compose files or Dockerfiles.
func TestInfrastructureNames(t *testing.T) {
	for name, want := range map[string]bool{"a.yml": true, "x/b.YAML": true, "c.json": true, "Dockerfile": true,
		"Dockerfile.prod": true, "app.dockerfile": true, "nginx.conf": false, "x.j2": false, "": false} {
		if got := isInfrastructureName(name); got != want {
			t.Errorf("%q: %v", name, got)
		}
	}
}
