package helm

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// renderOne renders one template with values, and returns its text.
func renderOne(t *testing.T, values, template string) (string, []Problem) {
	t.Helper()
	fsys, paths := tree(map[string]string{"c/Chart.yaml": chartYAML, "c/values.yaml": values,
		"c/templates/x.yaml": template})
	c, problems, err := Load(fsys, "c", paths)
	if err != nil {
		t.Fatal(err)
	}
	manifests, more := c.Render(Given{})
	var text strings.Builder
	for _, m := range manifests {
		text.Write(m.Text)
	}
	return text.String(), append(problems, more...)
}

// TestFunctions calls functions as charts do, and compares what Helm writes.
func TestFunctions(t *testing.T) {
	for _, c := range []struct{ values, template, want string }{
		{"", `{{ seq 3 }}|{{ seq 2 4 }}|{{ seq 0 2 6 }}|{{ seq 3 1 }}|{{ seq 6 -3 0 }}`, "1 2 3|2 3 4|0 2 4 6|3 2 1|6 3 0"},
		{"", `{{ until 3 }}|{{ until -2 }}|{{ until 0 }}|{{ untilStep 0 10 5 }}|{{ untilStep 5 0 1 }}`,
			"[0 1 2]|[0 -1]|[]|[0 5]|[]"},
		{"l: [a, 1, true]", `{{ join "," .Values.l }}|{{ join "," "one" }}|{{ join "-" (list) }}`, "a,1,true|one|"},
		{"", `{{ indent 2 "a\nb" | quote }}|{{ nindent 1 "a" | quote }}`, `"  a\n  b"|"\n a"`},
		{"", `{{ addf 1 2.5 "3" }}|{{ subf 5 1 1.5 }}|{{ mulf 2 1.5 }}|{{ divf 3 2 }}|{{ add1f "x" }}`, "6.5|2.5|3|1.5|1"},
		{"", `{{ regexReplaceAll "(a)(b)" "abab" "$2$1" }}|{{ regexReplaceAllLiteral "a" "aa" "$1" }}`, "baba|$1$1"},
		{"m: {z: 1, a: 2, k: 3}", `{{ keys .Values.m }}|{{ values .Values.m }}|{{ keys (dict "b" 1) (dict "a" 1) }}`,
			"[a k z]|[2 3 1]|[b a]"},
		{"n: 3\nf: 1.5\ns: x\nl: [1]\nm: {a: 1}\nb: true",
			`{{ range list .Values.n .Values.f .Values.s .Values.l .Values.m .Values.b nil }}{{ kindOf . }} {{ end }}`,
			"int64 float64 string slice map bool invalid "},
		{"n: 3\nf: 1.5", `{{ kindIs "int" .Values.n }} {{ kindIs "float64" .Values.f }} {{ kindIs "int" .Values.f }} ` +
			`{{ kindIs "invalid" .Values.none }} {{ typeIs "int64" .Values.n }}`, "true true false true true"},
		{"", `{{ fromYaml "a: {b: [1, x]}" | toJson }}|{{ fromYaml "" | toJson }}|{{ (fromYaml "a: [").Error | empty }}`,
			`{"a":{"b":[1,"x"]}}|{}|false`},
		{"", `{{ fromJson "{\"a\":1}" | toYaml }}|{{ (fromJson "[").Error | empty }}`, "a: 1|false"},
		{"", `{{ fromYamlArray "[1, {a: b}]" | toJson }}|{{ fromJsonArray "[1,\"x\"]" | toJson }}`,
			`[1,{"a":"b"}]|[1,"x"]`},
		{"", `{{ (fromToml "a = 1").a }}|{{ (fromToml "a =").Error | empty }}`, "1|false"},
		{"l: [{a: 1, b: [x]}, two]", `{{ toYaml .Values.l }}`, "- a: 1\n  b:\n  - x\n- two"},
		{"", `{{ randAlpha 4 }}|{{ randNumeric 3 }}|{{ randAscii 0 }}|{{ randInt 5 9 }}|{{ shuffle "abc" }}`,
			"xxxx|000||5|abc"},
		{"", `{{ htpasswd "jane" "s3cret" }}|{{ bcrypt "s3cret" }}|{{ genPrivateKey "rsa" }}`,
			"jane:htpasswd|bcrypt|generated"},
		{"", `{{ lookup "v1" "Secret" "ns" "name" | toJson }}|{{ (lookup "v1" "Secret" "ns" "").items | default "none" }}`,
			"{}|none"},
		{"", `{{ now | date "2006-01-02" }}|{{ ago now }}`, "2026-01-01|0s"},
		{"a: 0\nb: ''\nc: []\nd: {}\ne: false", `{{ range list .Values.a .Values.b .Values.c .Values.d .Values.e }}` +
			`{{ empty . }}{{ default "x" . }} {{ end }}`, "truex truex truex truex truex "},
		{"", `{{ ternary "y" "n" true }}{{ coalesce nil "" "c" }}{{ all 1 0 }}{{ any 1 0 }}`, "ycfalsetrue"},
		{"m: {a: {b: c}}", `{{ dig "a" "b" "none" .Values.m }}|{{ dig "a" "x" "none" .Values.m }}`, "c|none"},
		{"m: {a: 1}", `{{ merge (dict "b" 2) .Values.m | toJson }}|{{ omit (dict "a" 1 "b" 2) "a" | toJson }}`,
			`{"a":1,"b":2}|{"b":2}`},
		{"", `{{ "s3cret" | b64enc }}|{{ "czNjcmV0" | b64dec }}|{{ "a" | sha256sum | trunc 8 }}`, "czNjcmV0|s3cret|ca978112"},
		{"", `{{ printf "%s-%d" "a" 1 }}|{{ print 1 2 }}|{{ "a b" | urlquery }}|{{ "<" | html }}`, "a-1|1 2|a+b|&lt;"},
		{"", `{{ semverCompare "^1.2" "1.3.0" }} {{ semverCompare "<1.2" "1.3.0" }}`, "true false"},
		{"n: 1000000\nbig: 12345678901", `{{ .Values.n }} {{ .Values.big }} {{ int .Values.n }}`, "1000000 12345678901 1000000"},
		{"", `{{ tpl "{{ .Chart.Name }}-{{ .Chart.Version }}" . }}`, "web-1.2.3"},
		{"", `{{ .Chart.AppVersion }} {{ .Release.Name | empty }} {{ .Release.IsInstall }} {{ .Template.Name }}`,
			"2 false true web/templates/x.yaml"},
	} {
		got, problems := renderOne(t, c.values, c.template)
		if got != c.want || len(problems) > 0 {
			t.Errorf("%s:\n\tgot  %q\n\twant %q\n\tproblems %v", c.template, got, c.want, problems)
		}
	}
}

// TestRefusedArguments ends a template whose arguments no function takes; nothing is computed for it.
func TestRefusedArguments(t *testing.T) {
	for _, c := range []struct{ template, want string }{
		{`{{ randAlphaNum 100000 }}`, "random characters"},
		{`{{ randBytes -1 }}`, "random characters"},
		{`{{ repeat -1 "x" }}`, "more than"},
		{`{{ nindent 2000 "x" }}`, "indent by 2000"},
		{`{{ indent -1 "x" }}`, "indent by -1"},
		{`{{ untilStep 0 20000 1 }}`, "10000 numbers"},
		{`{{ seq 20000 }}`, "10000 numbers"},
		{`{{ regexReplaceAll "(" "x" "y" }}`, "regular expression"},
		{`{{ $x := repeat 3000000 "x" }}{{ join $x (list 1 2 3) }}`, "more than"},
		{`{{ $x := repeat 3000000 "x" }}{{ cat $x $x }}`, "more than"},
		{`{{ $l := list }}{{ range until 200 }}{{ $l = list $l }}{{ end }}{{ toJson $l }}`, "more than"},
		{`{{ expandenv "$HOME" }}`, `"expandenv" not defined`},
	} {
		got, problems := renderOne(t, "", c.template)
		if len(problems) != 1 || !strings.Contains(problems[0].Message, c.want) || strings.TrimSpace(got) != "" {
			t.Errorf("%s: %q, problems %v, want %q", c.template, got, problems, c.want)
		}
	}
}

// TestOverlay lays the values of a parent over those of a chart: null removes a default.
func TestOverlay(t *testing.T) {
	type m = map[string]any
	for _, c := range []struct {
		name                    string
		values, defaults        m
		overlaid, givenTogether m
	}{
		{"nothing", nil, nil, m{}, m{}},
		{"a scalar", m{"a": 1}, m{"a": 2, "b": 3}, m{"a": 1, "b": 3}, m{"a": 1, "b": 3}},
		{"maps are joined", m{"a": m{"x": 1}}, m{"a": m{"y": 2}}, m{"a": m{"x": 1, "y": 2}}, m{"a": m{"x": 1, "y": 2}}},
		{"lists are replaced", m{"a": []any{1}}, m{"a": []any{2, 3}}, m{"a": []any{1}}, m{"a": []any{1}}},
		{"a map over a scalar", m{"a": m{"x": 1}}, m{"a": 2}, m{"a": m{"x": 1}}, m{"a": m{"x": 1}}},
		{"a scalar over a map", m{"a": 2}, m{"a": m{"x": 1}}, m{"a": 2}, m{"a": 2}},
		{"null removes", m{"a": nil, "b": m{"x": nil}}, m{"a": 1, "b": m{"x": 1, "y": 2}}, m{"b": m{"y": 2}},
			m{"a": nil, "b": m{"x": nil, "y": 2}}},
		{"an empty map keeps the default", m{"a": m{}}, m{"a": m{"x": 1}}, m{"a": m{"x": 1}}, m{"a": m{"x": 1}}},
	} {
		before := fmt.Sprint(c.values, c.defaults)
		if diff := cmp.Diff(c.overlaid, overlayValues(c.values, c.defaults, 0)); diff != "" {
			t.Errorf("%s, over defaults (-want +got):\n%s", c.name, diff)
		}
		if diff := cmp.Diff(c.givenTogether, layerValues(c.values, c.defaults, 0)); diff != "" {
			t.Errorf("%s, given together (-want +got):\n%s", c.name, diff)
		}
		if after := fmt.Sprint(c.values, c.defaults); after != before {
			t.Errorf("%s: the values were changed to %s", c.name, after)
		}
	}
}

// TestEnabled asks the values of the parent whether a subchart is wanted.
func TestEnabled(t *testing.T) {
	type m = map[string]any
	for _, c := range []struct {
		name   string
		ask    dependency
		values m
		want   bool
	}{
		{"nothing is asked", dependency{}, m{}, true},
		{"a condition that holds", dependency{Condition: "db.enabled"}, m{"db": m{"enabled": true}}, true},
		{"one that does not", dependency{Condition: "db.enabled"}, m{"db": m{"enabled": false}}, false},
		{"one that is not set", dependency{Condition: "db.enabled"}, m{}, true},
		{"one that is no boolean", dependency{Condition: "db.enabled"}, m{"db": m{"enabled": "false"}}, true},
		{"the first that is set", dependency{Condition: "a.on, b.on"}, m{"b": m{"on": false}}, false},
		{"the first of two", dependency{Condition: "a.on,b.on"}, m{"a": m{"on": true}, "b": m{"on": false}}, true},
		{"a tag that is off", dependency{Tags: []string{"x"}}, m{"tags": m{"x": false}}, false},
		{"one of two tags is on", dependency{Tags: []string{"x", "y"}}, m{"tags": m{"x": false, "y": true}}, true},
		{"a tag that is not set", dependency{Tags: []string{"x"}}, m{"tags": m{}}, true},
		{"a condition goes before tags", dependency{Condition: "on", Tags: []string{"x"}},
			m{"on": true, "tags": m{"x": false}}, true},
	} {
		if got := (child{ask: c.ask}).isEnabled(c.values); got != c.want {
			t.Errorf("%s: %t", c.name, got)
		}
	}
}

// TestImports puts values of a subchart where the parent asks for them.
func TestImports(t *testing.T) {
	type m = map[string]any
	sub := &Chart{name: "db"}
	values := m{"own": 1, "db": m{"exports": m{"data": m{"port": 5, "own": 2}}, "conn": m{"host": "h"}}}
	for _, c := range []struct {
		name  string
		entry any
		want  m // beside what was there
	}{
		{"an export", "data", m{"port": 5, "own": 1}},
		{"an export that is not there", "none", m{"own": 1}},
		{"a place of its own", m{"child": "conn", "parent": "store.primary"},
			m{"own": 1, "store": m{"primary": m{"host": "h"}}}},
		{"the root", m{"child": "conn", "parent": "."}, m{"own": 1, "host": "h"}},
		{"no place", m{"parent": "x"}, m{"own": 1}},
		{"a number", 7, m{"own": 1}},
	} {
		got := child{chart: sub, ask: dependency{ImportValues: []any{c.entry}}}.importValues(values)
		c.want["db"] = values["db"]
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.name, diff)
		}
	}
}

// TestIgnorePatterns follows the patterns of a .helmignore.
func TestIgnorePatterns(t *testing.T) {
	for _, c := range []struct {
		patterns  string
		out, kept []string
	}{
		{"", []string{"templates/.hidden"}, []string{"templates/a.yaml", ".helmignore", "a/.b"}},
		{"*.bak", []string{"x.bak", "templates/x.bak"}, []string{"x.bak.yaml"}},
		{"/x.txt", []string{"x.txt"}, []string{"a/x.txt"}},
		{"docs/", []string{"docs/a", "docs/b/c", "a/docs/b"}, []string{"docs"}},
		{"a/b.yaml", []string{"a/b.yaml"}, []string{"b.yaml", "c/a/b.yaml"}},
		{"a/*", []string{"a/b", "a/b/c"}, []string{"b/a"}},
		{"file[0-9]", []string{"file1"}, []string{"filex"}},
		{"# *.yaml\n\n  *.txt  ", []string{"a.txt"}, []string{"a.yaml"}},
		{"\ufeff*.txt\r\n*.md\r\n", []string{"a.txt", "b.md"}, []string{"a.yaml"}},
	} {
		list, problems := parseIgnores("x", []byte(c.patterns))
		if len(problems) > 0 {
			t.Errorf("%q: %v", c.patterns, problems)
		}
		for _, name := range c.out {
			if !list.ignoresFile(name) {
				t.Errorf("%q keeps %s", c.patterns, name)
			}
		}
		for _, name := range c.kept {
			if list.ignoresFile(name) {
				t.Errorf("%q leaves out %s", c.patterns, name)
			}
		}
	}
}

// TestManyIgnorePatterns bounds the patterns of a file, and says at which line.
func TestManyIgnorePatterns(t *testing.T) {
	list, problems := parseIgnores("c/.helmignore", []byte(strings.Repeat("x\n", maxIgnores+10)))
	if len(list) != maxIgnores || len(problems) != 1 || problems[0].Line != maxIgnores ||
		!strings.Contains(problems[0].Message, "500") {
		t.Errorf("%d patterns, %v", len(list), problems)
	}
}

// TestPlainValues turns what YAML decodes into what templates of Helm work with.
func TestPlainValues(t *testing.T) {
	in := map[string]any{"n": 3, "big": uint64(1 << 63), "list": []any{1, map[any]any{1: "x", true: 2}}, "text": "t",
		"nothing": nil}
	want := map[string]any{"n": int64(3), "big": float64(1 << 63), "list": []any{int64(1),
		map[string]any{"1": "x", "true": int64(2)}}, "text": "t", "nothing": nil}
	if diff := cmp.Diff(want, plainMap(in)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if plainMap(nil) != nil {
		t.Error("nothing became a map")
	}
	var deep any = "bottom"
	for range 2 * maxDepth {
		deep = []any{deep}
	}
	if text := fmt.Sprint(plainValue(deep, 0)); strings.Contains(text, "bottom") {
		t.Error("values are read at any depth")
	}
}
