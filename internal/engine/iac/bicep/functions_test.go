package bicep

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// testEnvironment has two parameters, a variable and a loop "copy" in its third turn.
type testEnvironment struct{}

func (testEnvironment) Parameter(name string) (any, bool) {
	switch name {
	case "on":
		return true, true
	case "name":
		return "web", true
	}
	return nil, false
}

func (testEnvironment) Variable(name string) (any, bool) {
	return map[string]any{"Size": int64(3), "list": []any{"a", "b"}}, name == "settings"
}

func (testEnvironment) Turn(loop string) (int64, bool) { return 2, loop == "" || loop == "copy" }

// TestCompute computes the functions of templates, and what they do not take is not
// known.
func TestCompute(t *testing.T) {
	type list = []any
	for expression, want := range map[string]any{
		// Values and names.
		"'it''s'": "it's", "-3": int64(-3), "true": true, "false": false, "null()": unknownResult{},
		"parameters('name')": "web", "parameters('other')": unknownResult{},
		"variables('settings').size": int64(3), "variables('settings')['list'][1]": "b",
		"variables('settings').list[2]": unknownResult{}, "variables('settings').none": unknownResult{},
		"copyIndex()": int64(2), "copyIndex('copy', 10)": int64(12), "copyIndex(1)": int64(3),
		"copyIndex('other')": unknownResult{}, "copyIndex('copy', 'x')": unknownResult{},

		// Logic: what decides is enough.
		"and(false, parameters('other'))": false, "and(true, parameters('other'))": unknownResult{},
		"or(true, parameters('other'))": true, "or(false, parameters('on'))": true, "not(parameters('on'))": false,
		"if(parameters('on'), 'a', parameters('other'))": "a", "if(false, 'a', 'b')": "b",
		"if(parameters('other'), 'a', 'a')": unknownResult{}, "if(true, 'a')": unknownResult{},
		"coalesce(null, 'a')": "a", "coalesce(parameters('other'), 'a')": unknownResult{},
		"equals(1, '1')": true, "equals('a', 'A')": false, "equals(1)": unknownResult{},
		"bool('True')": true, "bool('no')": false, "bool(1)": unknownResult{},

		// Numbers.
		"add(1, 2)": int64(3), "sub(1, 2)": int64(-1), "mul(3, 4)": int64(12), "div(7, 2)": int64(3),
		"mod(7, 2)": int64(1), "div(1, 0)": unknownResult{}, "mod(1, 0)": unknownResult{},
		"less(1, 2)": true, "lessOrEquals(2, 2)": true, "greater(1, 2)": false, "greaterOrEquals(1, 2)": false,
		"add('1', 2)": unknownResult{}, "add(1, 2, 3)": unknownResult{}, "int('42')": int64(42), "int(7)": int64(7),
		"int('x')": unknownResult{}, "range(5, 3)": list{int64(5), int64(6), int64(7)},
		"range(0, 1000000)": unknownResult{}, "range(0, -1)": unknownResult{},

		// Texts.
		"concat('a', 1, true)": "a1True", "toLower('AB')": "ab", "toUpper('ab')": "AB", "trim(' a ')": "a",
		"toLower(1)": unknownResult{}, "base64('a')": "YQ==", "string(12)": "12", "length('abc')": int64(3),
		"format('{0}-{1}-{0}', 'a', 2)": "a-2-a", "format(1, 2)": unknownResult{}, "format()": unknownResult{},
		"replace('aXbX', 'X', '.')": "a.b.", "replace('a', '', 'b')": unknownResult{},
		"replace('a', 'b')": unknownResult{}, "startsWith('Web-1', 'web')": true, "endsWith('Web-1', '2')": false,
		"startsWith('a', 1)": unknownResult{}, "split('a,b', ',')": list{"a", "b"}, "split('a', '')": unknownResult{},
		"join(createArray('a', 1), '-')": "a-1", "join('a', '-')": unknownResult{},
		"join(createArray('a'), 1)": unknownResult{},

		// Lists and objects.
		"createArray()": list{}, "createArray(1)": list{int64(1)}, "array('a')": list{"a"},
		"array(createArray('a'))": list{"a"}, "first(createArray(1, 2))": int64(1), "last(createArray(1, 2))": int64(2),
		"first(createArray())": unknownResult{}, "last('a')": unknownResult{},
		"empty(createArray())": true, "empty(null)": true, "empty(1)": unknownResult{},
		"concat(createArray(1), createArray(2))":   list{int64(1), int64(2)},
		"concat(createArray(1), 'a')":              unknownResult{},
		"concat()":                                 unknownResult{},
		"union(createArray(1), createArray(1, 2))": list{int64(1), int64(2)}, "union()": unknownResult{},
		"union(createObject('a', 1), createObject('a', 2, 'b', 3))": map[string]any{"a": int64(2), "b": int64(3)},
		"createObject('a', 1)": map[string]any{"a": int64(1)}, "createObject('a')": unknownResult{},
		"contains('abc', 'b')": true, "contains(createArray('a'), 'b')": false,
		"contains(createObject('Ab', 1), 'aB')": true, "contains(1, 2)": unknownResult{},
		"contains('a')": unknownResult{},

		// What is not computed.
		"resourceGroup().location": unknownResult{}, "unknown(1)": unknownResult{}, "unknown(1, 2)": unknownResult{},
		"a.b(1)": unknownResult{}, "az.concat('a', 'b')": "ab", "1 1": unknownResult{}, "(": unknownResult{},
		"'": unknownResult{},
	} {
		got, ok := Compute(expression, testEnvironment{})
		if !ok {
			got = unknownResult{}
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", expression, diff)
		}
	}
}

// unknownResult stands for a value that is not known.
type unknownResult struct{}

// TestComputeLimits refuses what would be larger than its expression by far.
func TestComputeLimits(t *testing.T) {
	double := "parameters('name')"
	for range 40 {
		double = "concat(" + double + ", " + double + ")"
		if len(double) > maxText {
			break
		}
	}
	for name, expression := range map[string]string{
		"size":     strings.Repeat(" ", maxText+1) + "1",
		"texts":    double,
		"depth":    strings.Repeat("not(", 2*maxDepth) + "true" + strings.Repeat(")", 2*maxDepth),
		"replaced": "replace('" + strings.Repeat("a", 1000) + "', 'a', '" + strings.Repeat("b", 1000) + "')",
		"joined":   "join(range(0, 1000), '" + strings.Repeat("-", 1000) + "')",
		"formats":  "format('" + strings.Repeat("{0}", 1000) + "', '" + strings.Repeat("b", 1000) + "')",
		"concat":   "concat(range(0, 1000), range(0, 1000))",
	} {
		if v, ok := Compute(expression, testEnvironment{}); ok {
			t.Errorf("%s: computed %.40v", name, v)
		}
	}
}

// TestTokens reads each form of a token with its position.
func TestTokens(t *testing.T) {
	l := &lexer{src: "ab 12 // c\n/* d\n */ 'x\\n\\u{41}${y}z' '''q'r''' => .? ?? #disable\n  end", line: 1,
		begins: true}
	type position struct {
		text         string
		line, column int
		begins       bool
	}
	var got []position
	for {
		tok, err := l.nextToken()
		if err != nil {
			t.Fatal(err)
		}
		if tok.kind == end {
			break
		}
		got = append(got, position{tok.text, tok.line, tok.column, tok.begins})
	}
	want := []position{{"ab", 1, 1, true}, {"12", 1, 4, false}, {"", 3, 5, true}, {"q'r", 3, 22, false},
		{"=>", 3, 32, false}, {".?", 3, 35, false}, {"??", 3, 38, false}, {"end", 4, 3, true}}
	for i := range got {
		if i < len(want) && i == 2 {
			got[i].text = "" // its text is in parts
		}
	}
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(position{})); diff != "" {
		t.Errorf("tokens (-want +got):\n%s", diff)
	}
}

// TestStatements reads the statements of the language; those without meaning for
// resources are skipped.
func TestStatements(t *testing.T) {
	d := decode(t, `
targetScope = 'subscription'
metadata author = 'x'
import { t } from 'types.bicep'
type size = 'a' | 'b'
func double(n int) int => n * 2
@description('d')
@minValue(1)
param count int = 2
param optional string?
var names = [ 'a', 'b' ]
resource old 'A@1' existing = { name: 'old' }
resource child 'A/b@1' = { parent: old, name: 'c' }
@batchSize(1)
resource many 'C@1' = [for (n, i) in names: if (i < count) { name: n }]
module m 'm.bicep' = [for n in names: { name: n, params: { n: n } }]
output o string = child.id
`)
	parameters := d.Root["parameters"].(map[string]any)
	want := map[string]any{
		"count": map[string]any{"type": "int", "defaultValue": int64(2), "minValue": int64(1),
			"metadata": map[string]any{"description": "d"}},
		"optional": map[string]any{"type": "string"},
	}
	if diff := cmp.Diff(want, parameters); diff != "" {
		t.Errorf("parameters (-want +got):\n%s", diff)
	}
	var identifiers []string
	for _, r := range d.Root["resources"].([]any) {
		m := r.(map[string]any)
		identifiers = append(identifiers, m["identifier"].(string)+" "+m["name"].(string))
	}
	if diff := cmp.Diff([]string{"child c", "many a", "many b"}, identifiers); diff != "" {
		t.Errorf("resources (-want +got):\n%s", diff)
	}
	var uses []any
	for _, use := range d.Deploys {
		uses = append(uses, use.Path, use.Given["n"])
	}
	if diff := cmp.Diff([]any{"m.bicep", "a", "m.bicep", "b"}, uses); diff != "" {
		t.Errorf("modules (-want +got):\n%s", diff)
	}
}
