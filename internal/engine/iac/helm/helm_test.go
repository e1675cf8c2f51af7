package helm

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"merlon/internal/engine/iac/document"
)

// tree makes a file system and its sorted paths.
func tree(files map[string]string) (fs.FS, []string) {
	t := fstest.MapFS{}
	for name, text := range files {
		t[name] = &fstest.MapFile{Data: []byte(text)}
	}
	return t, slices.Sorted(maps.Keys(files))
}

// render renders the chart in "c" and returns manifests by path, with the line of
// the template before each line.
func render(t *testing.T, files map[string]string) (map[string]string, []Problem) {
	t.Helper()
	fsys, paths := tree(files)
	c, problems, err := Load(fsys, "c", paths)
	if err != nil {
		t.Fatal(err)
	}
	manifests, more := c.Render(Given{})
	out := map[string]string{}
	for _, m := range manifests {
		var b strings.Builder
		for i, line := range strings.Split(strings.TrimRight(string(m.Text), "\n"), "\n") {
			if strings.TrimSpace(line) == "" {
				continue
			}
			fmt.Fprintf(&b, "%d %s\n", m.templateLine(i+1), line)
		}
		out[m.Path] = b.String()
	}
	return out, append(problems, more...)
}

const chartYAML = "apiVersion: v2\nname: web\nversion: 1.2.3\nappVersion: 2.0\n"

func TestRender(t *testing.T) {
	tests := []struct {
		name     string
		values   string
		template string
		want     string
	}{
		{"values and lines", "port: 80\n", "a: 1\nport: {{ .Values.port }}\nb: 2\n", "1 a: 1\n2 port: 80\n3 b: 2\n"},
		{"text after a condition", "on: true\n", "a: 1\n{{- if .Values.on }}\nb: 2\n{{- else }}\nc: 3\n{{- end " +
			"}}\nd: 4\n", "1 a: 1\n3 b: 2\n7 d: 4\n"},
		{"a loop repeats its lines", "list: [x, y]\n", "l:\n{{- range .Values.list }}\n  - {{ . }}\n{{- " +
			"end }}\n", "1 l:\n3   - x\n3   - y\n"},
		{"values of many lines stand at the action", "r: {b: 2, a: {c: d}}\n", "x: 1\nr:\n  {{- toYaml .Values.r | " +
			"nindent 2 }}\nz: 1\n",
			"1 x: 1\n2 r:\n3   a:\n3     c: d\n3   b: 2\n4 z: 1\n"},
		{"include stands at the caller", "", "{{- define \"l\" }}\na: {{ .Chart.Name }}\nb: {{ .Release.Service " +
			"}}\n{{- end }}\nm:\n  {{- include \"l\" . | nindent 2 }}\nn: 1\n",
			"5 m:\n6   a: web\n6   b: Helm\n7 n: 1\n"},
		{"template does, too", "", "{{ define \"l\" }}a: 1{{ end }}\n{{ template \"l\" . }}\nb: {{ template " +
			"\"l\" }}\n", "2 a: 1\n3 b: a: 1\n"},
		{"tpl", "t: '{{ .Values.u }}-x'\nu: v\n", "a: {{ tpl .Values.t . }}\n", "1 a: v-x\n"},
		{"what is missing is empty", "", "a: {{ .Values.none }}x\nb: {{ .Values.none | default \"d\" | " +
			"quote }}\n", "1 a: x\n2 b: \"d\"\n"},
		{"required does not stop", "", "a: {{ required \"give it\" .Values.x }}\n{{ fail \"no\" " +
			"}}\nb: 1\n", "1 a: value-to-be-given\n3 b: 1\n"},
		{"what cannot be a text is nothing", "", "{{ range required \"hosts\" .Values.x }}{{ . }}{{ end }}{{ with " +
			"required \"y\" .Values.y }}{{ .z }}{{ end }}a: 1\n", "1 a: 1\n"},
		{"nothing of this machine", "", "a: {{ now | date \"2006\" }} {{ uuidv4 }} {{ randAlphaNum 3 }} {{ " +
			"getHostByName \"localhost\" }}\n",
			"1 a: 2026 00000000-0000-4000-8000-000000000000 xxx \n"},
		{"lookup finds nothing", "", "{{ if (lookup \"v1\" \"Secret\" \"\" \"x\") }}a: 1{{ else }}b: 2{{ " +
			"end }}\n", "1 b: 2\n"},
		{"certificates", "", "{{ $ca := genCA \"x\" 365 }}{{ (genSignedCert \"a\" nil nil 1 $ca).Cert " +
			"}}: 1\n", "1 generated: 1\n"},
		{"capabilities", "", "{{ if .Capabilities.APIVersions.Has \"apps/v1/Deployment\" }}a: {{ " +
			".Capabilities.KubeVersion.Minor }}{{ end }}\n", "1 a: 34\n"},
		{"semver", "", "{{ if semverCompare \">=1.21-0\" .Capabilities.KubeVersion.GitVersion }}a: 1{{ " +
			"end }}\n", "1 a: 1\n"},
		{"files", "", "a: {{ .Files.Get \"f/x.txt\" }}\n{{ (.Files.Glob \"f/*\").AsConfig }}\n",
			"1 a: hello\n2 x.txt: hello\n"},
		{"whole numbers are of either kind", "n: 3\nf: 1.5\n", "a: {{ kindIs \"float64\" .Values.n }} {{ add " +
			".Values.n 1 }} {{ .Values.f }} {{ addf 1.5 1 }}\n", "1 a: true 4 1.5 2.5\n"},
		{"numbers", "", "{{ range until 2 }}{{ . }}{{ end }} {{ untilStep 4 0 -2 }} {{ seq 3 }} {{ join \"-\" (list " +
			"1 2) }} {{ repeat 2 \"ab\" }}\n", "1 01 [4 2] 1 2 3 1-2 abab\n"},
		{"keys in order", "m: {b: 1, a: 2}\n", "a: {{ keys .Values.m }} {{ values .Values.m }}\n",
			"1 a: [a b] [2 1]\n"},
		{"encodings", "j: {a: [1]}\n", "{{ toJson .Values.j }} {{ (fromYaml \"a: 1\").a }} {{ (fromJson " +
			"\"{}\").Error }} {{ toToml (dict \"x\" 1) }}\n", "1 {\"a\":[1]} 1  x = 1\n"},
		{"text", "", "{{ replace \"a\" \"b\" \"aa\" }} {{ regexReplaceAll \"a+\" \"xaay\" \"-\" }} {{ indent 2 " +
			"\"a\" }}\n", "1 bb x-y   a\n"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, problems := render(t, map[string]string{
				"c/Chart.yaml": chartYAML, "c/values.yaml": tt.values, "c/templates/x.yaml": tt.template,
				"c/f/x.txt": "hello",
			})
			if diff := cmp.Diff(map[string]string{"c/templates/x.yaml": tt.want}, got); diff != "" {
				t.Errorf("rendered (-want +got):\n%s", diff)
			}
			if told := strings.Contains(tt.template, "required \""); told != (len(problems) > 0) {
				t.Errorf("problems: %v", problems)
			}
		})
	}
}

// A hostile template ends in time, with what is wrong, and the others are rendered.
func TestRenderLimits(t *testing.T) {
	tests := []struct{ name, template, want string }{
		{"recursion", `{{ define "r" }}{{ include "r" . }}{{ end }}{{ include "r" . }}`, "256 times deep"},
		{"recursion by template", `{{ define "r" }}{{ template "r" . }}{{ end }}{{ template "r" . }}`,
			"256 times deep"},
		{"recursion by tpl", `{{ $t := "{{ tpl .t . }}" }}{{ tpl $t (dict "t" $t) }}`, "256 times deep"},
		{"empty loops", `{{ range until 9999 }}{{ range until 9999 }}{{ end }}{{ end }}`, "too long"},
		{"a great list", `{{ until 100000000 }}`, "10000 numbers"},
		{"repeat", `{{ repeat 1000000000 "xx" }}`, "more than"},
		{"doubling", `{{ $x := "0123456789" }}{{ range until 60 }}{{ $x = printf "%s%s" $x $x }}{{ end }}`,
			"more than"},
		{"doubling lists", `{{ $x := list 1 2 }}{{ range until 60 }}{{ $x = list $x $x }}{{ end }}{{ $x }}`,
			"more than"},
		{"a map in itself", `{{ $d := dict }}{{ $_ := set $d "d" $d }}{{ toYaml $d }}`, "more than"},
		{"a map in itself, printed", `{{ $d := dict }}{{ $_ := set $d "d" $d }}{{ $d }}`, "more than"},
		{"replace", `{{ $x := repeat 100000 "x" }}{{ replace "x" $x $x }}`, "more than"},
		{"indent", `{{ indent 100000000 "x" }}`, "indent by"},
		{"output", `{{ $x := repeat 1000000 "x" }}{{ range until 9999 }}{{ $x }}{{ end }}`, "writes too much"},
		{"unknown function", `{{ env "HOME" }}`, `"env" not defined`},
		{"nil", "\n{{ .Values.a.b.c }}", "nil pointer"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, problems := render(t, map[string]string{"c/Chart.yaml": chartYAML, "c/templates/x.yaml": tt.template})
			if len(problems) != 1 || !strings.Contains(problems[0].Message, tt.want) ||
				problems[0].Path != "c/templates/x.yaml" {
				t.Errorf("problems %v, want one that says %q", problems, tt.want)
			}
		})
	}
}

func TestProblemsLeaveTheRest(t *testing.T) {
	got, problems := render(t, map[string]string{
		"c/Chart.yaml":         chartYAML + "dependencies: [{name: far, repository: 'https://example.com'}]\n",
		"c/templates/bad.yaml": "a: 1\n{{ .Values.x.y }}\n", "c/templates/half.yaml": "a: 1\n---\nb: {{ " +
			".Values.x.y }}\n", "c/templates/good.yaml": "a: 1\n", "c/templates/NOTES.txt": "hello",
		"c/templates/_h.tpl": "x",
	})
	if diff := cmp.Diff(map[string]string{"c/templates/good.yaml": "1 a: 1\n", "c/templates/half.yaml": "1 a: 1\n"},
		got); diff != "" {
		t.Errorf("rendered (-want +got):\n%s", diff)
	}
	if len(problems) != 3 || problems[0].Path != "c/Chart.yaml" || problems[1].Line != 2 || problems[2].Line != 3 {
		t.Errorf("problems %v, want the subchart and line 2 of bad.yaml", problems)
	}
}

// pack makes an archive as "helm package" does.
func pack(t *testing.T, files map[string]string) string {
	t.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	w := tar.NewWriter(z)
	for _, name := range slices.Sorted(maps.Keys(files)) {
		if err := w.WriteHeader(&tar.Header{Name: name, Mode: 0o644, Size: int64(len(files[name])),
			Typeflag: tar.TypeReg}); err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write([]byte(files[name])); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestSubcharts(t *testing.T) {
	got, problems := render(t, map[string]string{
		"c/Chart.yaml": chartYAML + `dependencies:
  - {name: db, alias: store, condition: store.enabled}
  - {name: db, alias: off, condition: off.enabled}
  - {name: tagged, tags: [extra]}
  - {name: near, repository: 'file://../near', import-values: [data]}
`,
		"c/values.yaml": "store: {enabled: true, size: 5}\n'off': {enabled: false}\ntags: {extra: " +
			"false}\nglobal: {g: 7}\n",
		"c/templates/x.yaml": "a: {{ .Values.imported }}\nb: {{ .Values.store.size }} {{ include " +
			"\"packed.name\" . }}\n",
		"c/charts/db/Chart.yaml":  "name: db\nversion: 1\n",
		"c/charts/db/values.yaml": "size: 1\nuser: u\n",
		"c/charts/db/templates/s.yaml": "\nn: {{ .Chart.Name }} {{ .Values.size }} {{ .Values.user }} {{ " +
			".Values.global.g }}\n",
		"c/charts/tagged/Chart.yaml":       "name: tagged\n",
		"c/charts/tagged/templates/t.yaml": "t: 1\n",
		"c/charts/packed-1.tgz": pack(t, map[string]string{"packed/Chart.yaml": "name: packed\ntype: " +
			"application\n", "packed/templates/_n.tpl": `{{ define "packed.name" }}P{{ end }}`,
			"packed/templates/p.yaml": "\n\np: {{ .Template.Name }}\n", "../../evil.yaml": "x"}),
		"c/charts/broken.tgz":   "no archive",
		"near/Chart.yaml":       "name: near\n",
		"near/values.yaml":      "exports: {data: {imported: yes-it-is}}\n",
		"near/templates/n.yaml": "n: {{ .Values.global.g }}\n",
	})
	want := map[string]string{
		"c/templates/x.yaml":           "1 a: yes-it-is\n2 b: 5 P\n",
		"c/charts/db/templates/s.yaml": "2 n: store 5 u 7\n",
		"c/charts/packed-1.tgz":        "1 p: web/charts/packed/templates/p.yaml\n",
		"near/templates/n.yaml":        "1 n: 7\n",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("rendered (-want +got):\n%s", diff)
	}
	if len(problems) != 1 || problems[0].Path != "c/charts/broken.tgz" {
		t.Errorf("problems %v, want the broken archive", problems)
	}
}

func TestRoots(t *testing.T) {
	paths := []string{"a/Chart.yaml", "a/charts/b/Chart.yaml", "charts/x/Chart.yaml", "charts/y/Chart.yaml",
		"charts/y/charts/z/q/Chart.yaml"}
	if diff := cmp.Diff([]string{"a", "charts/x", "charts/y"}, Roots(paths)); diff != "" {
		t.Errorf("roots (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"."}, Roots([]string{"Chart.yaml", "charts/b/Chart.yaml"})); diff != "" {
		t.Errorf("roots (-want +got):\n%s", diff)
	}
}

func TestDocuments(t *testing.T) {
	fsys, paths := tree(map[string]string{
		"Chart.yaml": chartYAML,
		"templates/two.yaml": "{{/* a comment */}}\napiVersion: v1\nkind: Pod\nspec:\n  {{- if true }}\n  " +
			"hostPID: true\n  {{- end }}\n---\napiVersion: v1\nkind: Service\n",
		"templates/broken.yaml": "a: 1\n{{ \"b: [\" }}\n",
	})
	docs, problems := Documents(fsys, ".", paths)
	if len(docs) != 2 || docs[0].Platform != document.Kubernetes || docs[1].Index != 1 || docs[0].Unit != "." {
		t.Fatalf("documents %v", docs)
	}
	n, steps := docs[0].Lines.Find("spec", "hostPID")
	if n.Line != 6 || steps != 2 {
		t.Errorf("hostPID at line %d, want 6", n.Line)
	}
	if n, _ := docs[1].Lines.Find("kind"); n.Line != 10 {
		t.Errorf("the service's kind at line %d, want 10", n.Line)
	}
	if len(problems) != 1 || problems[0].Path != "templates/broken.yaml" || problems[0].Line != 2 {
		t.Errorf("problems %v, want line 2 of broken.yaml", problems)
	}
	if _, problems := Documents(fsys, "none", paths); len(problems) != 1 || problems[0].Path != "none/Chart.yaml" {
		t.Errorf("problems of no chart: %v", problems)
	}
}

// FuzzRender renders any template with any values: it ends, and lines fit the text.
func FuzzRender(f *testing.F) {
	f.Add("a: 1\n", "b: {{ .Values.a }}\n")
	f.Add("l: [1, 2]\n", "{{- range $i, $e := .Values.l }}\n- {{ $e }}\n{{- end }}{{ include \"c\" . }}{{ define "+
		"\"c\" }}{{ tpl \"{{ . }}\" 1 }}{{ end }}")
	f.Add("", "{{ toYaml . | nindent 4 }}{{ block \"x\" . }}y{{ end }}{{ with .Chart }}{{ .Name }}{{ break }}{{ end }}")
	f.Fuzz(func(t *testing.T, values, template string) {
		fsys, paths := tree(map[string]string{"c/Chart.yaml": chartYAML, "c/values.yaml": values,
			"c/templates/x.yaml": template})
		c, _, err := Load(fsys, "c", paths)
		if err != nil {
			t.Fatal(err)
		}
		manifests, _ := c.Render(Given{})
		lines := strings.Count(template, "\n") + 1
		for _, m := range manifests {
			if got := bytes.Count(m.Text, []byte("\n")) + 1; len(m.Lines) != got {
				t.Fatalf("%d lines of text, %d places", got, len(m.Lines))
			}
			for _, l := range m.Lines {
				if l < 1 || l > lines+1 {
					t.Fatalf("line %d of a template with %d", l, lines)
				}
			}
		}
	})
}

// What the person who installs must give, and what the chart refuses, is told with the
// line of the template that asks; what depends on it is unknown.
func TestRequired(t *testing.T) {
	const helper = "{{- define \"check\" }}{{ if not .Values.name }}{{ fail \"\\n  give a\\n  name\" }}{{ end }}{{ " +
		"end }}\n"
	fsys, paths := tree(map[string]string{
		"c/Chart.yaml": chartYAML, "c/templates/_h.tpl": helper,
		"c/templates/pod.yaml": "apiVersion: v1\nkind: Pod\nmetadata:\n  name: web\nspec:\n  {{- include \"check\" " +
			". }}\n  hostNetwork: {{ required \"say which network\" .Values.network }}\n  nodeName: {{ required " +
			"\"set\" .Values.set }}\n",
		"c/templates/NOTES.txt": "{{ include \"check\" . }}\n{{ .Values.a.b }}\n",
		"c/values.yaml":         "set: here\n",
	})
	docs, problems := Documents(fsys, "c", paths)
	want := []Problem{
		{"unknown-value", "c/templates/NOTES.txt", 1, "the chart refuses the values that it has: give a name"},
		{"unknown-value", "c/templates/pod.yaml", 6, "the chart refuses the values that it has: give a name"},
		{"unknown-value", "c/templates/pod.yaml", 7, "a value must be given to install the chart: say which network"},
	}
	slices.SortFunc(problems, func(a, b Problem) int { return strings.Compare(a.Path, b.Path) })
	if diff := cmp.Diff(want, problems); diff != "" {
		t.Errorf("problems (-want +got):\n%s", diff)
	}
	if len(docs) != 1 {
		t.Fatalf("%d documents", len(docs))
	}
	for field, unknown := range map[string]bool{"hostNetwork": true, "nodeName": false} {
		if n, _ := docs[0].Lines.Find("spec", field); n.Unknown != unknown || n.Line < 7 {
			t.Errorf("%s at line %d is unknown: %v", field, n.Line, n.Unknown)
		}
	}
}

// A chart is looked at with the files of values beside its own.
func TestVariants(t *testing.T) {
	files := map[string]string{
		"c/Chart.yaml":  chartYAML,
		"c/values.yaml": "image: {name: web, tag: 1}\n",
		"c/templates/pod.yaml": "apiVersion: v1\nkind: Pod\nmetadata: {name: {{ required \"a name\" .Values.name | " +
			"default \"x\" }}}\nspec:\n  image: {{ .Values.image.name }}:{{ .Values.image.tag }}\n" +
			"  {{- if .Values.network }}\n  hostNetwork: {{ .Values.network }}\n  {{- end }}\n  {{- $_ := set " +
			".Values.image \"tag\" 9 }}\n",
		"c/values-prod.yaml": "db: {host: x}\nimage: {tag: 2}\nnetwork: true\nname: prod\n",
		"c/templates/cm.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: {{ .Values.db.host " +
			"}}}\nspec: {image: {{ .Values.image.tag }}}\n",
		"c/values/dev.yml":              "image: {tag: 3}\nname: dev\n",
		"c/values-same.yaml":            "image: {tag: 1}\n",
		"c/values-other.yaml":           "nothing: of this\n",
		"c/ci/one-values.yaml":          "image: {tag: 4}\n",
		"c/values.example.yaml":         "image: {tag: 5}\n",
		"c/values-broken.yaml":          "a: [\n",
		"c/settings.yaml":               "image: {tag: 6}\n",
		"c/templates/values-false.yaml": "{{/* image: {tag: 7} */}}",
	}
	fsys, paths := tree(files)
	docs, problems := Documents(fsys, "c", paths)
	got := map[string]string{}
	for _, d := range docs {
		spec := d.Root["spec"].(map[string]any)
		got[d.Variant] = fmt.Sprintf("%v %v %v", spec["image"], spec["hostNetwork"], d.Unit != "c")
	}
	want := map[string]string{"": "web:1 <nil> false", "c/values-prod.yaml": "web:2 true true",
		"c/values/dev.yml": "web:3 <nil> true"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("documents (-want +got):\n%s", diff)
	}
	if len(problems) != 1 || problems[0].Path != "c/values-broken.yaml" {
		t.Errorf("problems %v, want the file that cannot be read: others give the rest", problems)
	}
}

// What .helmignore leaves out is not part of the chart.
func TestIgnore(t *testing.T) {
	got, problems := render(t, map[string]string{
		"c/Chart.yaml": chartYAML,
		"c/.helmignore": "# tests and what editors " +
			"leave\n*.bak.yaml\ntemplates/tests/\n/templates/off.yaml\nfile/\na/**/b\n[\n",
		"c/templates/on.yaml":         "a: {{ .Files.Get \"x.txt\" }}\n",
		"c/templates/file":            "a: 1\n",
		"c/templates/off.yaml":        "a: 1\n",
		"c/templates/x.bak.yaml":      "a: 1\n",
		"c/templates/.hidden.yaml":    "a: 1\n",
		"c/templates/tests/t.yaml":    "a: 1\n",
		"c/templates/sub/off.yaml":    "a: 2\n",
		"c/x.txt":                     "hello",
		"c/charts/s/Chart.yaml":       "name: s\n",
		"c/charts/s/.helmignore":      "*.yaml\n",
		"c/charts/s/templates/a.yaml": "a: 3\n",
	})
	if diff := cmp.Diff(map[string]string{"c/templates/on.yaml": "1 a: hello\n", "c/templates/sub/off.yaml": "1 a: 2\n",
		"c/charts/s/templates/a.yaml": "1 a: 3\n"}, got); diff != "" {
		t.Errorf("rendered (-want +got):\n%s", diff)
	}
	if len(problems) != 2 || problems[0].Line != 6 || problems[1].Line != 7 || problems[0].Path != "c/.helmignore" {
		t.Errorf("problems %v, want those of lines 6 and 7", problems)
	}
	list, _ := parseIgnores("x", []byte("!*.yaml\n"))
	for name, want := range map[string]bool{"a.yaml": false, "b.txt": true, "d/c.yaml": true} {
		if list.ignoresFile(name) != want {
			t.Errorf("%s is left out: %v", name, !want)
		}
	}
}

// A subchart that is not there is told with its line, unless the chart switches it off.
func TestMissingSubcharts(t *testing.T) {
	_, problems := render(t, map[string]string{
		"c/Chart.yaml": chartYAML + "dependencies:\n  - name: far\n    repository: https://example.com\n  - {name: " +
			"unused, condition: unused.enabled}\n",
		"c/values.yaml": "unused: {enabled: false}\n",
	})
	want := []Problem{{"unavailable", "c/Chart.yaml", 6, "the subchart far is not in charts/ and is not fetched"}}
	if diff := cmp.Diff(want, problems); diff != "" {
		t.Errorf("problems (-want +got):\n%s", diff)
	}
}

// TestSiblingCharts finds the subcharts of a repository of many charts by their names, and says once what
// is missing: templates that need it are no further problems.
func TestSiblingCharts(t *testing.T) {
	files := fstest.MapFS{
		"charts/app/Chart.yaml": {Data: []byte("name: app\nversion: 1.0.0\ndependencies:\n" +
			"- {name: common, version: 1.x.x, repository: 'https://charts.example'}\n")},
		"charts/app/templates/a.yaml": {Data: []byte("apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: " +
			"{{ include \"common.name\" . }}\n")},
		"charts/common/Chart.yaml":            {Data: []byte("name: common\ntype: library\nversion: 1.2.0\n")},
		"charts/common/templates/_names.tpl":  {Data: []byte("{{ define \"common.name\" }}from-common{{ end }}\n")},
		"charts/other/Chart.yaml":             {Data: []byte("name: other\nversion: 1.0.0\ndependencies: [{name: absent}]\n")},
		"charts/other/templates/b.yaml":       {Data: []byte("kind: ConfigMap\nname: {{ include \"absent.name\" . }}\n")},
		"mirror/absent/Chart.yaml":            {Data: []byte("name: something-else\nversion: 1.0.0\n")},
		"charts/off/Chart.yaml":               {Data: []byte("name: off\nversion: 1.0.0\n")},
		"charts/off/templates/malformed.yaml": {Data: []byte("kind: ConfigMap\nname: {{ include \"absent.name\" . }}\n")},
	}
	var paths []string
	for name := range files {
		paths = append(paths, name)
	}
	slices.Sort(paths)
	docs, problems := Documents(files, "charts/app", paths)
	if len(problems) != 0 || len(docs) != 1 || docs[0].Root["metadata"].(map[string]any)["name"] != "from-common" {
		t.Errorf("a chart with a sibling: %v, %v", docs, problems)
	}
	_, problems = Documents(files, "charts/other", paths)
	if len(problems) != 1 || problems[0].Code != "unavailable" || !strings.Contains(problems[0].Message, "absent") {
		t.Errorf("a chart without its subchart: %v", problems)
	}
	_, problems = Documents(files, "charts/off", paths)
	if len(problems) != 1 || problems[0].Code != "" {
		t.Errorf("a chart with a fault of its own: %v", problems)
	}
}
