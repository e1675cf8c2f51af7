package bicep

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"merlon/internal/engine/iac/document"
	"merlon/internal/errs"
)

func decode(t *testing.T, text string) *document.Document {
	t.Helper()
	d, err := Decode("main.bicep", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func TestDecode(t *testing.T) {
	text, err := os.ReadFile("testdata/all.bicep")
	if err != nil {
		t.Fatal(err)
	}
	d := decode(t, string(text))
	want := map[string]any{
		"parameters": map[string]any{
			"location": map[string]any{"type": "string", "defaultValue": "[resourceGroup().location]",
				"metadata": map[string]any{"description": "Where"}},
			"pw":    map[string]any{"type": "secureString"},
			"sizes": map[string]any{"type": "array", "defaultValue": []any{"a", "b"}, "minLength": int64(1)},
			"one":   map[string]any{"type": "string", "defaultValue": "x", "allowedValues": []any{"x", "y"}},
		},
		"variables": map[string]any{
			"tls": map[string]any{"value": "TLS1_0"},
			"obj": map[string]any{"value": map[string]any{"x": "TLS1_0", "y": "[parameters('location')]"}},
		},
		"resources": []any{
			map[string]any{"identifier": "sub", "type": "Microsoft.Network/virtualNetworks/subnets",
				"apiVersion": "2021-01-01", "name": "s"},
			map[string]any{
				"identifier": "st", "type": "Microsoft.Storage/storageAccounts", "apiVersion": "2021-01-01",
				"batchSize": []any{int64(1)},
				"name":      "['st${i}${parameters('location')}']",
				"properties": map[string]any{
					"minimumTlsVersion": "TLS1_0", "o": map[string]any{"x": "TLS1_0", "y": "[parameters('location')]"},
					"n": int64(-3), "on": "a", "tags": []any{"[parameters('location')]", "x"},
					"nothing": nil, "script": "a\n  b\n", "key": "[sub.listKeys().keys[0].value]",
				},
				"resources": []any{
					map[string]any{"identifier": "blob", "type": "blobServices", "apiVersion": "", "name": "default"},
					map[string]any{"identifier": "bs", "type": "queueServices", "apiVersion": "2021-01-01",
						"name": "default", "parent": "st", "condition": "[true]"},
				},
			},
		},
	}
	if diff := cmp.Diff(want, d.Root); diff != "" {
		t.Errorf("document (-want +got):\n%s", diff)
	}
	// Every place is the line on which its last word stands.
	lines := strings.Split(string(text), "\n")
	for _, path := range []string{
		"parameters pw", "parameters one defaultValue", "variables tls", "resources 0 name", "resources 1 properties",
		"resources 1 properties minimumTlsVersion",
		"resources 1 properties script", "resources 1 properties key", "resources 1 resources 0 name",
		"variables obj value y",
	} {
		steps := strings.Fields(path)
		n, found := d.Lines.Find(steps...)
		word := steps[len(steps)-1]
		if word == "defaultValue" {
			word = "one"
		}
		if found != len(steps) || !strings.Contains(lines[n.Line-1], word) {
			t.Errorf("%s is at line %d after %d steps: %q", path, n.Line, found, lines[n.Line-1])
		}
	}
}

func TestOperators(t *testing.T) {
	tests := []struct{ expression, want string }{
		{"1 + 2 * 3", "7"},
		{"x + 2 * 3", "[add(x, mul(2, 3))]"},
		{"(1 + x) * 3", "[mul(add(1, x), 3)]"},
		{"a == b && !c || d ?? e", "[coalesce(or(and(equals(a, b), not(c)), d), e)]"},
		{"a ? b : c ? d : e", "[if(a, b, if(c, d, e))]"},
		{"a\n  ? b\n  : c", "[if(a, b, c)]"},
		{"a[0].?b!.c::d", "[a[0].b.c.d]"},
		{"map(range(0, x), (i) => { x: i })", "[map(range(0, x), lambda(createObject()))]"},
		{"filter(l, x => x > 1)", "[filter(l, lambda(greater(x, 1)))]"},
		{"union(a,\n  b)", "[union(a, b)]"},
		{"'a${'b${c}'}d'", "['a${'b${c}'}d']"},
		{"'${a}'", "['${a}']"},
	}
	for _, tt := range tests {
		d := decode(t, "var v = "+tt.expression+"\nvar w = 1\n")
		n := d.Root["variables"].(map[string]any)
		if got := fmt.Sprint(n["v"].(map[string]any)["value"]); got != tt.want || n["w"] == nil {
			t.Errorf("%s is %q, want %q", tt.expression, got, tt.want)
		}
	}
}

func TestErrors(t *testing.T) {
	tests := []struct {
		name, text string
		line       int
	}{
		{"string", "\nvar a = 'x\n", 2},
		{"object", "var a = {\n b: 1\n", 3},
		{"comment", "/* x", 1},
		{"no type", "param a string\nresource a = {}\n", 2},
		{"interpolation", "var a = '${b'\n", 1},
		{"two on a line", "var a = { b: 1 c: 2 }\n", 1},
		{"stray", "\n\n}\n", 3},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := Decode("x.bicep", []byte(tt.text))
			var m *document.Malformed
			if !errors.As(err, &m) || m.Line != tt.line {
				t.Errorf("error %v, want one at line %d", err, tt.line)
			}
		})
	}
	d, err := Decode("x.bicep", []byte("param a string\nvar b = ]\n"))
	if err == nil || d == nil || d.Root["parameters"].(map[string]any)["a"] == nil {
		t.Errorf("document %v, error %v: want what stands before the mistake, and the mistake", d, err)
	}
}

func TestLimits(t *testing.T) {
	for name, text := range map[string]string{
		"depth":       "var a = " + strings.Repeat("[", 10_000),
		"unary":       "var a = " + strings.Repeat("!", 10_000) + "b",
		"parentheses": "var a = " + strings.Repeat("(", 10_000),
		"strings":     "var a = " + strings.Repeat("'${", 10_000),
		"sum":         "var a = 1" + strings.Repeat("+1", 300_000),
		"chain":       "var a = b" + strings.Repeat(".c", 300_000),
		"size":        strings.Repeat(" ", MaxSize+1),
	} {
		if _, err := Decode("x.bicep", []byte(text)); err == nil {
			t.Errorf("%s: no error", name)
		} else if name == "size" && errs.KindOf(err) != errs.TooLarge {
			t.Errorf("%s: %v", name, err)
		}
	}
	// Each variable holds the one before twice.
	var b strings.Builder
	b.WriteString("var v0 = [1]\n")
	for i := range 60 {
		b.WriteString("var v" + itoa(i+1) + " = [v" + itoa(i) + ", v" + itoa(i) + "]\n")
	}
	decode(t, b.String())
	decode(t, "var a = b\nvar b = a\nresource x 'T@1' = { parent: y, p: a }\nresource y 'T@1' = { parent: x }\n")
}

func itoa(i int) string { return string(rune('0'+i/10)) + string(rune('0'+i%10)) }

// FuzzDecode reads any text: what it makes has places as the values have.
func FuzzDecode(f *testing.F) {
	f.Add("param a string = 'x'\nresource b 'T@1' existing = if (a == 'x') { name: '${a}-b' }\n")
	f.Add("@secure()\nparam p object\nvar v = [for x in [1, 2]: { y: x }]\nresource c 'T@1' = [for (x, i) in v: {\n " +
		"resource d 'U' = {\n parent: c }\n}]\n")
	f.Add("type t = {\n a: 'b' | 'c'\n}\nfunc f(a string) string => '${a}'\nmodule m 'x.bicep' = { name: '''a''' " +
		"}\noutput o int = a.b(c)[0]\n")
	f.Fuzz(func(t *testing.T, text string) {
		d, _ := Decode("x.bicep", []byte(text))
		if d == nil {
			return
		}
		if got, want := len(d.Lines.Fields["resources"].Items), len(d.Root["resources"].([]any)); got != want {
			t.Fatalf("%d resources with %d places", want, got)
		}
	})
}

func TestKnown(t *testing.T) {
	d, err := DecodeGiven("a/main.bicep", []byte(`
param on bool = false
param tls string = 'TLS1_0'
param names array = [
  'a'
  'b'
]
param open string
@secure()
param pw string = 'hunter22'
param env string = 'dev'
var v = { x: on, y: [ '${tls}!' ] }
var rules = [for (n, i) in names: { name: n, priority: 100 + i }]
resource r 'T@1' = [for n in names: {
  name: 'r-${n}'
  properties: {
    a: on
    b: on ? 1 : 2
    c: v.y[0]
    d: concat(tls, '-', toLower('X'))
    e: open
    f: pw
    g: env == 'prod'
    h: open == 'x' ? 1 : 2
    i: filter(names, z => z != 'a')
    j: union({ p: 1 }, { q: { r: on } })
    k: contains(names, 'b') && !empty(names)
  }
}]
resource s 'T@1' = { name: 's', properties: { rules: rules, loop: [for i in range(0, 2): i * 10] } }
module m 'mod/m.bicep' = {
  name: 'm'
  params: { on: on, tls: open, list: names }
}
module far 'br/public:avm/x:1.0' = { name: 'f' }
`), map[string]any{"env": "prod"})
	if err != nil {
		t.Fatal(err)
	}
	list := d.Root["resources"].([]any)
	if len(list) != 3 {
		t.Fatalf("%d resources, want 3", len(list))
	}
	want := map[string]any{
		"a": false, "b": int64(2), "c": "TLS1_0!", "d": "TLS1_0-x", "e": "[parameters('open')]",
		"f": "[parameters('pw')]", "g": true,
		"h": "[if(equals(parameters('open'), x), 1, 2)]", "i": []any{"b"},
		"j": map[string]any{"p": int64(1), "q": map[string]any{"r": false}}, "k": true,
	}
	second := list[1].(map[string]any)
	if diff := cmp.Diff(want, second["properties"]); diff != "" || second["name"] != "r-b" {
		t.Errorf("properties of %v (-want +got):\n%s", second["name"], diff)
	}
	last := map[string]any{
		"rules": []any{map[string]any{"name": "a", "priority": int64(100)},
			map[string]any{"name": "b", "priority": int64(101)}}, "loop": []any{int64(0), int64(10)},
	}
	if diff := cmp.Diff(last, list[2].(map[string]any)["properties"]); diff != "" {
		t.Errorf("loops (-want +got):\n%s", diff)
	}
	uses := []document.Deployment{
		{Name: "m", Path: "a/mod/m.bicep", Line: 31, Given: map[string]any{"on": false, "tls": document.Unknown{},
			"list": []any{"a", "b"}}},
		{Name: "far", Line: 35, Given: map[string]any{}},
	}
	if diff := cmp.Diff(uses, d.Deploys); diff != "" {
		t.Errorf("modules (-want +got):\n%s", diff)
	}
	if n, _ := d.Lines.Find("resources", "1", "properties", "e"); !n.Unknown {
		t.Error("a parameter without value is known")
	}
}

func TestParameterFile(t *testing.T) {
	d := decode(t, "using './main.bicep'\nparam a = 'x'\nparam b = readEnvironmentVariable('B')\n")
	want := []document.Deployment{{Name: "main", Path: "main.bicep", Line: 1,
		Given: map[string]any{"a": "x", "b": document.Unknown{}}}}
	if diff := cmp.Diff(want, d.Deploys); diff != "" {
		t.Errorf("uses (-want +got):\n%s", diff)
	}
}
